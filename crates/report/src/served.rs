//! Listeners that were not served: the network refused them, or their stream was never sent, or nothing of it came.
//!
//! Such a row is not proven, whatever its bound is. Streams that no run sends are known without a run, too
//! (`first_frame.rs`). If the description itself ends a stream, its verdict stays: a talker that an event stops, an
//! offer that is withdrawn, a listener that ends its request, a cable that is cut before the first frame; but not a
//! stream whose first frame is after the end of the run. Not here: frames that were lost among others that came
//! (`listener_frames.rs`).

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tautwire_model::network::{Network, Stream, StreamIndex, TimelineAction, Traffic};
use tautwire_sim::{Observation, RequestOutcome, RungEvent};
use tautwire_units::Duration;

use crate::cause::{Cause, Causes};
use crate::first_frame::{self, Ahead};
use crate::listener_frames::discarded;
use crate::summary::Summary;
use crate::table::described;

/// Why a listener got nothing of a stream, or gets nothing of it any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotServed {
    /// The network refused it, with this failure code if it gave one.
    Refused(Option<u8>),
    /// No frame of the stream was created.
    NeverSent,
    /// Nothing of the description starts the stream, so no run sends it.
    NeverStarted,
    /// The description states that its first frame is sent after the end of the run.
    SentLater,
    /// Frames were created, and none of them came.
    NothingDelivered,
}

/// The same in results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotServedSummary {
    /// `refused`, `never-sent` or `nothing-delivered`.
    pub reason: String,
    /// The failure code that the listener got (802.1Q-2022 Table 46-15).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_code: Option<u8>,
    /// The same for people.
    pub text: String,
}

impl NotServed {
    /// In words: `no frame was sent`.
    #[must_use]
    pub fn text(self) -> String {
        self.summary().text
    }

    pub(crate) fn summary(self) -> NotServedSummary {
        let (reason, failure_code, text) = match self {
            Self::Refused(None) => ("refused", None, "refused".to_owned()),
            Self::Refused(Some(code)) => {
                ("refused", Some(code), format!("refused with failure code {code}, {}", failure(code)))
            }
            Self::NeverSent => ("never-sent", None, "no frame was sent".to_owned()),
            Self::NeverStarted => {
                ("never-sent", None, "no frame is sent, as nothing starts the stream".to_owned())
            }
            Self::SentLater => ("never-sent", None, "no frame is sent before the run ends".to_owned()),
            Self::NothingDelivered => ("nothing-delivered", None, "no frame arrived".to_owned()),
        };
        NotServedSummary { reason: reason.to_owned(), failure_code, text }
    }
}

/// Why no run sends anything of a stream with a deadline to a listener within `end`, by what the description states. What is sent when it
/// is granted is another matter.
pub(crate) fn never_sent(
    network: &Network,
    ahead: Ahead,
    end: Duration,
    number: StreamIndex,
    listener: usize,
) -> Option<NotServed> {
    let stream = &network.streams[number.index()];
    if stream.traffic.is_control() || stream.deadline.is_none() {
        return None;
    }
    match first_frame::earliest(network, ahead, number, listener) {
        None => Some(NotServed::NeverStarted),
        Some(first) if first > end => Some(NotServed::SentLater),
        Some(_) => None,
    }
}

/// Why a listener was not served, if it was not.
pub(crate) fn not_served(
    network: &Network,
    ahead: Ahead,
    observation: &Observation,
    (stream, listener): (StreamIndex, usize),
    causes: Causes,
) -> Option<NotServed> {
    let described = &network.streams[stream.index()];
    if described.traffic.is_control() {
        return None;
    }
    let answer = answer(observation, described, stream, listener);
    if answer.refused {
        return Some(NotServed::Refused(answer.failure));
    }
    let observed = &observation.streams[stream.index()];
    let seen = &observed.listeners[listener];
    if seen.delivered > 0 || described.deadline.is_none() {
        return None;
    }
    if observed.created == 0 {
        let never = never_sent(network, ahead, observation.end, stream, listener).is_some();
        return (never || !is_ended(network, observation, stream, listener)).then_some(NotServed::NeverSent);
    }
    // All frames that did not come were lost to failures, or the listener ended its request.
    let failed = causes.count(&seen.dropped, Cause::Failure) > 0 && discarded(seen, causes) == 0;
    let left = answer.asked && !answer.asks;
    (!failed && !left).then_some(NotServed::NothingDelivered)
}

fn answer(
    observation: &Observation,
    described: &Stream,
    stream: StreamIndex,
    listener: usize,
) -> RequestOutcome {
    let node = described.listeners[listener];
    let reserved = observation.reservations.iter().find(|seen| seen.stream == stream);
    let harts = observation.harts.as_ref();
    let answer =
        reserved.map(|seen| seen.outcome(node)).or_else(|| harts.and_then(|seen| seen.outcome(stream, node)));
    answer.unwrap_or_default()
}

/// Whether the description ends the talker, or the listener's request.
fn is_ended(network: &Network, observation: &Observation, stream: StreamIndex, listener: usize) -> bool {
    let described = &network.streams[stream.index()];
    let answer = answer(observation, described, stream, listener);
    let reserved = observation.reservations.iter().filter(|seen| seen.stream == stream);
    let mut rungs = reserved.flat_map(|seen| &seen.ladder);
    let withdrawn = rungs.any(|rung| rung.event == RungEvent::Withdrawn);
    let admission = network.harts.as_ref().and_then(|harts| harts.admission.as_ref());
    let given_back = admission.and_then(|admission| admission.request(stream)).and_then(|one| one.release_at);
    let answers = match described.traffic {
        Traffic::Response { to, .. } => (0..network.streams[to.index()].listeners.len())
            .any(|listener| is_ended(network, observation, to, listener)),
        _ => false,
    };
    let stopped = network.events.iter().take_while(|event| event.at <= observation.end).any(|event| {
        matches!(event.action, TimelineAction::StopStream(stopped) if stopped == stream)
            || matches!(event.action, TimelineAction::StopNode(node) if node == described.talker)
    });
    stopped
        || withdrawn
        || answers
        || (answer.asked && !answer.asks)
        || given_back.is_some_and(|at| at <= observation.end)
}

/// A failure code in words (802.1Q-2022 Table 46-15).
const fn failure(code: u8) -> &'static str {
    match code {
        1 => "insufficient bandwidth",
        2 => "insufficient resources of a bridge",
        3 => "insufficient bandwidth of the class",
        4 => "the stream identifier is in use by another talker",
        5 => "the destination is in use by another stream",
        6 => "preempted by a stream of higher rank",
        7 => "the latency has changed",
        8 => "a port is not able to carry the class",
        9 => "another destination is needed",
        10 => "insufficient room for streams in a bridge",
        11 => "insufficient room for addresses in a bridge",
        12 => "insufficient room for destinations in a bridge",
        13 => "the priority is not that of a class",
        14 => "the frame is too long for a medium",
        15 => "too many ports bring streams",
        16 => "the stream's values have changed",
        17 => "the VLAN cannot be registered at a port",
        18 => "a port sends the VLAN without a tag",
        19 => "a neighbour has another priority for the class",
        20 => "an enhanced feature cannot be passed on",
        21 => "the greatest latency is exceeded",
        22 => "the nearest bridge cannot transform streams of this network",
        23 => "streams cannot be transformed",
        24 => "the kind of stream identification is not supported",
        25 => "an enhanced feature needs a central entity",
        _ => "which no standard has",
    }
}

/// A line for each listener that was not served; nothing if there is none.
#[must_use]
pub fn table(summary: &Summary) -> String {
    let mut text = String::new();
    for stream in described(summary) {
        for listener in &stream.listeners {
            let Some(why) = &listener.not_served else { continue };
            writeln!(text, "{} at {}: {}", stream.name, listener.listener, why.text)
                .expect("a string can be written");
        }
    }
    text
}
