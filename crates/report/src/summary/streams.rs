//! Streams and their listeners in `summary.json`: verdicts, bounds, limits, counts of frames, applications, time stamps.
//!
//! Not here: delays and hops (`delays.rs`).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DelayMoments, DelaySummary, HopSummary};
use crate::datagrams::DatagramSummary;
use crate::listener_frames::ListenerFrames;
use crate::proviso::{Proviso, ProvisoSummary};
use crate::served::NotServedSummary;
use crate::verdict::Verdict;

/// One stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StreamSummary {
    /// Name.
    pub name: String,
    /// Talker.
    pub talker: String,
    /// Traffic class at the talker's port.
    pub traffic_class: u8,
    /// Deadline from talker to listener.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_ps: Option<u64>,
    /// SkewMax, of a virtual link that goes over two networks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skew_max_ps: Option<u64>,
    /// The worst verdict of its listeners.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// What it is proven but for, if it is proven with a proviso: the worst of its listeners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proviso: Option<Proviso>,
    /// Its frames in the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<FrameCounts>,
    /// Per listener.
    pub listeners: Vec<ListenerSummary>,
    /// Per hop; each hop follows the hop before it.
    pub hops: Vec<HopSummary>,
}

/// What became of a stream's frames: created + replicated = delivered + consumed + dropped + in flight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FrameCounts {
    /// Created by the talker's application.
    pub created: u64,
    /// Copies made by bridges beyond the first.
    pub replicated: u64,
    /// Copies that reached a listener.
    pub delivered: u64,
    /// Copies that reached an end station that is no listener.
    pub consumed: u64,
    /// Copies on their way at the end of the run.
    pub in_flight: u64,
    /// Copies lost, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Copies lost for any reason, parts per million of created + replicated, rounded up. Of a redundant virtual link, or
    /// a stream with recovery functions: frames lost at its listeners, of those created for each.
    pub loss_ppm: u64,
}

/// A stream at one listener.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListenerSummary {
    /// Listener.
    pub listener: String,
    /// Verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// What is proven.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<BoundSummary>,
    /// The method that gave the greatest delay, if that is one of its path and not of its hops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Deadline less bound; below zero the bound is above the deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin_ps: Option<i64>,
    /// Greatest distance of the two copies of a frame of a redundant virtual link, on the listener's clock,
    /// as proven. Above `skew_max_ps` of the stream a frame may be delivered twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skew_bound_ps: Option<u64>,
    /// A frame may be taken twice, and a deadline is not proven then. Of a redundant virtual link: both copies may come further apart than
    /// SkewMax, or the listener may begin anew between them; copies of all sub-virtual-links count. Of a stream with recovery functions: the
    /// last one on a way may pass another copy of a frame that it has passed, or what a stuck sender repeats.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub taken_twice: bool,
    /// What it is proven but for, if it is proven with a proviso.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proviso: Option<Proviso>,
    /// The reasons for that, and for any other proviso.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart_from: Vec<ProvisoSummary>,
    /// Limits on its way that are not proven to be enough: where frames may be lost although nothing fails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may_be_lost: Vec<LimitSummary>,
    /// Of a redundant virtual link, or a stream with recovery functions: frames of which no copy was taken, and none is on its way any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<u64>,
    /// What became of the copies for it, those of the warm-up too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<ListenerFrames>,
    /// Why it was not served; absent if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_served: Option<NotServedSummary>,
    /// What was observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<DelaySummary>,
    /// The worst that a search found, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adversary: Option<crate::adversary::AdversarySummary>,
    /// What the stations' time stamps say of the same frames; the verdict does not look at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stamped: Option<StampedSummary>,
    /// The same stream at the application of the listener; absent if its host takes no time there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application: Option<ApplicationSummary>,
    /// Its datagrams, if each makes several frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datagrams: Option<DatagramSummary>,
}

/// A limit that may be too small for what comes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LimitSummary {
    /// What it limits: `queue-frames`, `queue-octets`, `buffer-cells` and the like.
    pub kind: String,
    /// Where: a port, a node or a stream.
    pub place: String,
    /// The traffic class, of a port's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic_class: Option<u8>,
    /// The limit.
    pub limit: u64,
    /// What would do; absent if no limit is known that does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed: Option<u64>,
    /// The unit of both: `frames`, `octets`, `cells`, `messages`, `bits` or `ps`.
    pub unit: String,
    /// Whether what it discards is meant to be discarded; no verdict hangs on it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub meant: bool,
    /// In words.
    pub text: String,
}

/// A stream at the application above a listener's protocol stack, or its host's `receive`: from application to
/// application. The verdict does not look at it, but for contradictions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApplicationSummary {
    /// What is proven.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<BoundSummary>,
    /// What was observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<ApplicationDelays>,
}

/// What an application observed: delivered = received + dropped + in flight; the rest after the warm-up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApplicationDelays {
    /// Frames received.
    pub received: u64,
    /// Frames in the host at the end of the run.
    pub in_flight: u64,
    /// Frames lost in the host, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Greatest delay of all frames, those of the warm-up too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_max_ps: Option<u64>,
    /// Their delays.
    #[serde(flatten)]
    pub delays: DelayMoments,
    /// What of these the listener's host took.
    #[serde(default)]
    pub processing: ReceptionSummary,
}

/// What a listener's host takes of a delay, from the last bit received to the application: with the parts of the hops
/// on the way it adds up to the delay between applications, exactly.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceptionSummary {
    /// Of all frames.
    pub sum_ps: u64,
    /// Mean, to the nearest.
    pub mean_ps: u64,
    /// Greatest.
    pub max_ps: u64,
}

/// Latencies and intervals by the stations' time stamps, after the warm-up; each station stamps by its
/// own clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StampedSummary {
    /// Frames with a stamp of the talker and one of the listener.
    pub count: u64,
    /// Least difference, listener's stamp less talker's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_min_ps: Option<i64>,
    /// Mean difference, to the nearest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_mean_ps: Option<i64>,
    /// Greatest difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_max_ps: Option<i64>,
    /// Sample standard deviation of the differences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_sd_ps: Option<u64>,
    /// Distances of the listener's stamps.
    pub interval_count: u64,
    /// Least distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_min_ps: Option<i64>,
    /// Mean distance, to the nearest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_mean_ps: Option<i64>,
    /// Greatest distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_max_ps: Option<i64>,
    /// Sample standard deviation of the distances.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_sd_ps: Option<u64>,
}

/// A proven range of delays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BoundSummary {
    /// Greatest, rounded up; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_max_ps: Option<u64>,
    /// Least, rounded down.
    pub delay_min_ps: u64,
    /// Greatest difference of two delays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter_ps: Option<u64>,
    /// Why there is no greatest delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unbounded: Option<UnboundedSummary>,
}

/// Why there is no bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnboundedSummary {
    /// Stable name: `overload`.
    pub reason: String,
    /// The port that causes it.
    pub port: String,
    /// The same for people.
    pub text: String,
}
