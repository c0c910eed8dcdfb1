//! `summary.json`: everything that was proven and observed, in numbers.
//!
//! It holds no time, host, path or version: equal runs give equal bytes. A key names its unit;
//! a part that was not computed is absent. `bounds` gives the bounds alone, `simulate` the
//! observation alone, `verify` both and the verdicts. Schema: `docs/schema/summary.schema.json`.
//!
//! Not here: how it is computed (`summarise.rs`).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::as6802::NetworkTimeSummary;
use crate::datagrams::DatagramSummary;
use crate::gptp::ClockSummary;
use crate::listener_frames::ListenerFrames;
use crate::proviso::{Proviso, ProvisoSummary};
use crate::served::NotServedSummary;
use crate::srp::reservation::ReservationSummary;
use crate::tdma::slots::SlotSummary;
use crate::tdma::start_up::StartUpSummary;
use crate::verdict::Verdict;

/// The version of this format: raised when a key changes its meaning or goes.
pub const FORMAT: u32 = 1;

/// The results of one command on one network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Version of the format, 1.
    pub format: u32,
    /// Name of the network.
    pub network: String,
    /// The run, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunSummary>,
    /// The verdict, if there are bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification: Option<VerificationSummary>,
    /// The search for the worst runs, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adversary: Option<crate::adversary::AdversarySearch>,
    /// What became of the messages of the test, if there is one and it was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<crate::test_bed::TestSummary>,
    /// Per stream, in the order of the description.
    pub streams: Vec<StreamSummary>,
    /// Per port that a link leaves from, in the order of the description.
    pub ports: Vec<PortSummary>,
    /// Per reserved stream, if there was a run of a network with stream reservation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reservations: Vec<ReservationSummary>,
    /// What a CNC or an ACMaster refused, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<crate::admission::refusal::RefusalSummary>,
    /// VLANs at ports of bridges, if there was a run of a network with MVRP.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vlan_registrations: Vec<crate::srp::vlan_registration::VlanRegistrationSummary>,
    /// Per node, if there was a run of a network with gPTP.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<ClockSummary>,
    /// Masters and nodes, if there was a run of a network with HaRTES.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harts: Option<crate::harts::HartsSummary>,
    /// Per slot, if there was a run of a network with TDMA.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<SlotSummary>,
    /// Cycle by cycle what became of the slots, if there was a run of a network with TDMA.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tdma_cycles: Option<crate::tdma::cycles::CyclesSummary>,
    /// What the takeover of the standby takes, in a network with TDMA that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takeover: Option<crate::tdma::takeover::TakeoverSummary>,
    /// What failures of the description add to bounds, by kind, in a network with TDMA; of several kinds all together last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<crate::tdma::takeover::FailureSummary>,
    /// Per station, if there was a run of a TDMA network that starts up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub start_up: Vec<StartUpSummary>,
    /// Per virtual link.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub virtual_links: Vec<crate::virtual_link::VirtualLinkSummary>,
    /// Network time, of a time-triggered network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_time: Option<NetworkTimeSummary>,
    /// Tables of what mechanisms observed, of requests that were refused and of frames of protocols that were lost, if there was a run with such.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mechanisms: Vec<crate::mechanism_tables::MechanismTable>,
}

/// A run as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunSummary {
    /// Seed.
    pub seed: u64,
    /// Simulated time.
    pub duration_ps: u64,
    /// Frames created before it count in checks and not in statistics.
    pub warm_up_ps: u64,
    /// Transmissions of a frame over a link.
    pub frame_hops: u64,
    /// Hash over all transmissions, 16 hexadecimal digits: equal runs have equal hashes.
    pub trace_hash: String,
}

/// The verdicts of all streams.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerificationSummary {
    /// The worst verdict.
    pub verdict: Verdict,
    /// Streams of each verdict.
    pub streams: BTreeMap<String, u64>,
    /// Observations above their bounds, each a sentence.
    pub contradictions: Vec<String>,
}

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
    /// Per hop; a hop stands behind the hop before it.
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
    /// Copies lost for any reason, parts per million of created + replicated, rounded up. Of a redundant virtual link:
    /// frames lost at its listeners, of those created for each.
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
    /// Deadline less bound; below zero the bound is above the deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin_ps: Option<i64>,
    /// Greatest distance of the two copies of a frame of a redundant virtual link, on the listener's clock,
    /// as proven. Above `skew_max_ps` of the stream a frame may be delivered twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skew_bound_ps: Option<u64>,
    /// Of a redundant virtual link: both copies of a frame may be taken, for they may come further apart than SkewMax or the
    /// listener may begin anew between them; copies of all sub-virtual-links count. A deadline is not proven then.
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
    /// Of a redundant virtual link: frames of which no copy was taken, and none is on its way any more.
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
    /// The same stream at the application behind the listener's port; absent if its host takes no time there.
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

/// A stream at the application behind a listener's protocol stack, or its host's `receive`: from application to
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

/// Delays of frames, and the distances of their arrivals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DelayMoments {
    /// Frames that count here: those after the warm-up.
    pub count: u64,
    /// Least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_min_ps: Option<u64>,
    /// Mean, to the nearest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_mean_ps: Option<u64>,
    /// Greatest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_max_ps: Option<u64>,
    /// Sample standard deviation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_sd_ps: Option<u64>,
    /// Quantiles, each rounded up to within 1/128 and never above the greatest; absent without histogram.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantiles: Option<Quantiles>,
    /// Distances between arrivals; absent below two frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<IntervalSummary>,
}

/// Delays seen by a listener, from the talker's application to the last bit at the listener's MAC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DelaySummary {
    /// After the warm-up.
    #[serde(flatten)]
    pub delays: DelayMoments,
    /// Half the width of the 95 % confidence interval of the mean, frames taken for independent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_mean_ci95_ps: Option<u64>,
    /// Greatest less least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter_ps: Option<u64>,
    /// Sum of the delays, in decimal digits (it may exceed 64 bits).
    pub delay_sum_ps: String,
    /// Sum of their squares, in decimal digits.
    pub delay_sum_squares_ps2: String,
    /// Greatest delay of all frames, those of the warm-up too: what tables and page call the observed max.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_max_ps: Option<u64>,
    /// Frames later than the deadline, those of the warm-up too.
    pub late: u64,
    /// For each further span that the stream counts (`count-late`): frames that took longer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late_at: Vec<LateSummary>,
    /// The frame with the greatest delay, those of the warm-up too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<WorstFrameSummary>,
}

/// How many frames took longer than a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LateSummary {
    /// The span.
    pub deadline_ps: u64,
    /// Frames that took longer, those of the warm-up too.
    pub late: u64,
}

/// Delays that a share of the frames does not exceed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Quantiles {
    /// Half of them.
    pub delay_p50_ps: u64,
    /// 90 %.
    pub delay_p90_ps: u64,
    /// 99 %.
    pub delay_p99_ps: u64,
    /// 99.9 %.
    pub delay_p99_9_ps: u64,
    /// 99.99 %.
    pub delay_p99_99_ps: u64,
}

/// Distances between the arrivals of a stream's frames at a listener.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalSummary {
    /// Distances.
    pub count: u64,
    /// Least.
    pub interval_min_ps: u64,
    /// Mean.
    pub interval_mean_ps: u64,
    /// Greatest.
    pub interval_max_ps: u64,
    /// Sample standard deviation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_sd_ps: Option<u64>,
}

/// The frame with the greatest delay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorstFrameSummary {
    /// Its number in the stream, from 0.
    pub number: u32,
    /// When it was created, since the start of the run.
    pub created_ps: u64,
    /// Its delay.
    pub delay_ps: u64,
}

/// A stream at one egress port and the link behind it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HopSummary {
    /// Egress port: node, point, name.
    pub port: String,
    /// The node at the other end of the link.
    pub to: String,
    /// The hop before, as an index of this list; absent at the talker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<u32>,
    /// Traffic class at this port.
    pub traffic_class: u8,
    /// What was observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<HopDelaySummary>,
    /// What is proven.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<BoundSummary>,
    /// The method that gave the greatest delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
}

/// Delays of a stream at one hop, from the last bit received (the application, at the talker) to the
/// last bit at the next node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HopDelaySummary {
    /// Frames that passed it.
    pub count: u64,
    /// The greatest delay.
    pub delay_max_ps: u64,
    /// Sums of the parts of the delays; they add up exactly.
    pub sum: PartsSummary,
    /// Means of the parts, each to the nearest.
    pub mean: PartsSummary,
}

/// The parts of a delay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartsSummary {
    /// In the stages of the device or host.
    pub processing_ps: u64,
    /// Held by its own shaper, by the wait for a slot, or by the BAG of its virtual link.
    pub shaping_ps: u64,
    /// The rest of the waiting.
    pub queueing_ps: u64,
    /// Onto the wire, first bit to last.
    pub transmission_ps: u64,
    /// On the wire and in the PHYs.
    pub propagation_ps: u64,
}

/// An egress port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PortSummary {
    /// Node, point, name.
    pub port: String,
    /// The node at the other end of the link.
    pub to: String,
    /// Rate of the link.
    pub rate_bps: u64,
    /// What was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<PortTrafficSummary>,
    /// Classes that are used, the highest first.
    pub classes: Vec<ClassSummary>,
}

/// What an egress port sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PortTrafficSummary {
    /// Frames sent.
    pub frames: u64,
    /// Octets sent, destination to FCS.
    pub octets: u64,
    /// Time with the line taken, media overhead included.
    pub busy_ps: u64,
    /// Share of the run with the line taken, parts per million, to the nearest.
    pub utilisation_ppm: u64,
    /// Frames discarded by its queues.
    pub dropped: u64,
    /// Frames received here that the ATS schedulers behind it discarded; absent if none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub scheduler_discarded: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A traffic class of an egress port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClassSummary {
    /// Number, 0 to 7; a higher one is served first.
    pub traffic_class: u8,
    /// Transmission selection algorithm.
    pub selection: String,
    /// idleSlope of a credit-based shaper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_slope_bps: Option<u64>,
    /// What was observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<ClassTrafficSummary>,
    /// What is proven.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<ClassBoundSummary>,
}

/// What was observed of a class of a port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClassTrafficSummary {
    /// Frames sent.
    pub frames: u64,
    /// Frames discarded.
    pub dropped: u64,
    /// Most frames that waited.
    pub backlog_max_frames: u32,
    /// Most octets that waited, destination to FCS.
    pub backlog_max_octets: u64,
    /// Greatest credit of a credit-based shaper, away from zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hi_credit_bits: Option<i64>,
    /// Least credit of a credit-based shaper, away from zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lo_credit_bits: Option<i64>,
}

/// What is proven of a class of a port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClassBoundSummary {
    /// Most octets that wait or are being sent, destination to FCS, rounded up; absent if there is no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backlog_max_octets: Option<u64>,
    /// Greatest credit, rounded up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hi_credit_bits: Option<i64>,
    /// Least credit, rounded down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lo_credit_bits: Option<i64>,
    /// Sustained rate, parts per million of the line's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilisation_ppm: Option<u32>,
}

impl Summary {
    /// As the text of `summary.json`: keys in the order of this file, a line feed at the end.
    #[must_use]
    pub fn to_json(&self) -> String {
        crate::json::rows(self)
    }

    /// Reads `summary.json`.
    ///
    /// # Errors
    /// If it is no JSON, or not of this format.
    pub fn from_json(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// The schema of `summary.json` (JSON Schema 2020-12), a line feed at the end.
    #[must_use]
    pub fn schema() -> String {
        let mut schema = schemars::schema_for!(Self);
        schema.insert("$id".to_owned(), serde_json::json!("urn:tautwire:schema:summary"));
        let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
        text.push('\n');
        text
    }
}
