//! Bounds of admissions against a run: how long the admission of each reserved stream may take, and how long it took.
//!
//! An observation is compared with its bound only if the bound applies: the stream was not refused before (with HaRTES
//! a refusal counts as an answer), no frame of the protocol was lost, and nothing was released meanwhile. A stream
//! that was not answered within its bound counts as one that took until the end of the run.

use tautwire_analysis::{AdmissionBound, NoAdmissionBound};
use tautwire_model::network::{Network, StreamIndex, Traffic};
use tautwire_sim::{
    AdmissionEvent, ControlNote, Declaration, HartsObservation, Observation, ReservationObservation,
    RungEvent,
};
use tautwire_units::Duration;

use crate::name;

/// How long an admission took, or has taken when the run ended, and what its bound allows then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) stream: StreamIndex,
    pub(crate) observed: Duration,
    pub(crate) bound: Duration,
}

/// All admissions of a run that their bounds speak of.
pub(crate) fn taken(network: &Network, bounds: &[AdmissionBound], observation: &Observation) -> Vec<Taken> {
    if lost(network, observation) {
        return Vec::new();
    }
    let one = |bound: &AdmissionBound| {
        let most = bound.delay.ok()?;
        let own = |seen: &&ReservationObservation| seen.stream == bound.stream;
        let (since, until) = match observation.reservations.iter().find(own) {
            Some(seen) => reserved(seen)?,
            None => asked(observation.harts.as_ref()?, bound.stream)?,
        };
        let allowed = most + bound.ready.saturating_sub(since);
        let observed = match until {
            Some(until) => until.saturating_sub(since),
            None => observation.end.saturating_sub(since),
        };
        (until.is_some() || observed > allowed).then_some(Taken {
            stream: bound.stream,
            observed,
            bound: allowed,
        })
    };
    bounds.iter().filter_map(one).collect()
}

/// The time that a bound allows a stream in a run: longer, if it is requested before the protocol has converged.
pub(crate) fn allowed(
    bound: &AdmissionBound,
    observation: &Observation,
) -> Result<Duration, NoAdmissionBound> {
    let own = |seen: &&ReservationObservation| seen.stream == bound.stream;
    let since = observation.reservations.iter().find(own).and_then(since);
    let early = since.map_or(Duration::ZERO, |since| bound.ready.saturating_sub(since));
    bound.delay.map(|most| most + early)
}

/// When a stream of stream reservation is both offered and requested.
fn since(seen: &ReservationObservation) -> Option<Duration> {
    let offered = seen.first(|rung| rung.event == RungEvent::Offered)?;
    let asked = seen.first(|rung| rung.event == RungEvent::Asked)?;
    Some(offered.max(asked))
}

/// Whether a frame of a protocol was lost.
fn lost(network: &Network, observation: &Observation) -> bool {
    let protocols = network.streams.iter().zip(&observation.streams);
    let mut protocols = protocols.filter(|(stream, _)| stream.traffic == Traffic::Protocol);
    protocols.any(|(_, seen)| seen.dropped.iter().any(|(_, count)| *count > 0))
}

/// From when to when a stream was admitted by bridges or a CNC; none if it was refused, or released.
fn reserved(seen: &ReservationObservation) -> Option<(Duration, Option<Duration>)> {
    let since = since(seen)?;
    let started = seen.first(|rung| rung.event == RungEvent::Started);
    for rung in seen.ladder.iter().filter(|rung| started.is_none_or(|started| rung.at <= started)) {
        let refuses = match rung.event {
            RungEvent::Withdrawn | RungEvent::Detached => true,
            // Code 8: the neighbour's domain is not known yet.
            RungEvent::Sent(_, declared) | RungEvent::Received(_, declared) => match declared {
                Declaration::TalkerFailed(code) => code != 8 || started.is_none(),
                Declaration::ListenerReadyFailed => true,
                Declaration::ListenerAskingFailed => started.is_none(),
                _ => false,
            },
            RungEvent::ControlSent(_, note) | RungEvent::ControlReceived(_, note) => {
                matches!(note, ControlNote::Refused(code) if code > 0)
            }
            _ => false,
        };
        if refuses {
            return None;
        }
    }
    Some((since, started))
}

/// From when to when the ACMaster decided on a stream; none if it was released before.
fn asked(seen: &HartsObservation, stream: StreamIndex) -> Option<(Duration, Option<Duration>)> {
    let of = |talker: bool| {
        let own = seen.requests.iter().filter(|request| request.stream == stream);
        own.filter(move |request| request.is_talker == talker)
    };
    let talker = of(true).next()?;
    let listener = of(false).filter_map(|request| request.asked_at).min()?;
    let since = talker.asked_at?.max(listener);
    let released =
        |rung: &&tautwire_sim::AdmissionRung| rung.stream == stream && rung.event == AdmissionEvent::Released;
    match (talker.answered_at, seen.ladder.iter().find(released)) {
        (None, Some(_)) => None,
        (Some(at), Some(rung)) if rung.at < at => None,
        (answered, _) => Some((since, answered)),
    }
}

/// Why an admission has no bound.
pub(crate) fn reason(network: &Network, reason: NoAdmissionBound) -> String {
    match reason {
        NoAdmissionBound::Losses => "frames may be lost".to_owned(),
        NoAdmissionBound::Frames(stream) => {
            format!("{} has no bound", network.streams[stream.index()].name)
        }
        NoAdmissionBound::Processor(node) => {
            format!("{} may get more messages than it can process", name::node(network, node))
        }
        NoAdmissionBound::Repeated(patience) => {
            format!("messages without an answer within {patience} are repeated")
        }
        NoAdmissionBound::NoLimit(node) => {
            format!("the messages of {} have no least distance", name::node(network, node))
        }
    }
}
