//! What the searches for a late frame share: their seeds, drawn networks, and what is wrong with a run of one.

#![allow(dead_code, unused_imports, reason = "each search uses a part")]

mod admitted;
mod causes;
mod crossed;
mod gated;
mod limits;
mod merged;
mod newest;
mod policed;
mod slots;
mod synchronised;

pub(crate) use admitted::broken_admissions;
pub(crate) use causes::without_cause;
pub(crate) use crossed::was_crossed;
pub(crate) use gated::broken_gates;
pub(crate) use limits::{limit, untold_losses};
pub(crate) use merged::broken_parts;
pub(crate) use newest::run_links;
pub(crate) use policed::misjudged;
pub(crate) use slots::{Slots, run_slots};
pub(crate) use synchronised::{network_time, synchronised};

use tautwire_analysis::StreamBounds;
use tautwire_generate::{random_network, random_virtual_links};
use tautwire_sim::{DropReason, Observation, StreamObservation};
use tautwire_workbench::network::{Stream, TimelineAction};
use tautwire_workbench::{Bounds, Network, Options, Verdict, load_text, simulate, verify};

/// A network of all shapers, by its seed.
pub(crate) fn network(seed: u64) -> Network {
    loaded(seed, &random_network(seed))
}

/// A network of virtual links, by its seed.
pub(crate) fn avionics(seed: u64) -> Network {
    loaded(seed, &random_virtual_links(seed))
}

/// A network of a description that has no errors.
pub(crate) fn described(text: &str) -> Network {
    let loaded = load_text("described.yaml", text);
    assert!(!loaded.has_errors(), "{:#?}\n{text}", loaded.diagnostics);
    loaded.network.expect("no errors")
}

fn loaded(seed: u64, text: &str) -> Network {
    let loaded = load_text("random", text);
    assert!(!loaded.has_errors(), "seed {seed}: {:#?}\n{text}", loaded.diagnostics);
    loaded.network.expect("no errors")
}

/// A run by the network's own settings.
pub(crate) fn run(network: &Network) -> Observation {
    simulate(network, &mut Options::default())
}

/// Observations that the bounds exclude, each a sentence.
pub(crate) fn contradictions(network: &Network, bounds: &Bounds, observation: &Observation) -> Vec<String> {
    verify(network, bounds, observation).contradictions.iter().map(ToString::to_string).collect()
}

/// How many listeners there are, and how many of them have a bound.
pub(crate) fn bounded(bounds: &Bounds) -> (usize, usize) {
    let listeners = bounds.streams.iter().flat_map(|stream| &stream.listeners);
    (listeners.clone().count(), listeners.filter(|listener| listener.delay.is_ok()).count())
}

/// Copies of a stream that were dropped for a reason.
pub(crate) fn dropped(observed: &StreamObservation, reason: DropReason) -> u64 {
    observed.dropped.iter().find(|(other, _)| *other == reason).map_or(0, |(_, count)| *count)
}

/// Promises that a run of virtual links breaks, each a sentence: a frame later than its bound, a frame of a bounded
/// link policed, a frame that its listeners do not get once and all over two networks.
pub(crate) fn broken_promises(network: &Network, all: &Bounds, observation: &Observation) -> Vec<String> {
    let verified = verify(network, all, observation);
    let mut found: Vec<String> = verified.contradictions.iter().map(ToString::to_string).collect();
    for (number, stream) in network.streams.iter().enumerate() {
        let (observed, bounds) = (&observation.streams[number], &all.streams[number]);
        if verified.streams[number].verdict == Verdict::Proven
            && observed.delivered > observed.created * stream.listeners.len() as u64
        {
            found.push(format!("{}: proven, and taken twice", stream.name));
        }
        let Some(link) = stream.virtual_link else { continue };
        if observed.in_flight > 0 {
            found.push(format!("{}: has neither come nor is lost", stream.name));
        }
        if dropped(observed, DropReason::PolicedLength) > 0 {
            found.push(format!("{}: discarded for its length", stream.name));
        }
        let is_policed = dropped(observed, DropReason::PolicedRate) > 0;
        // A listener over two networks loses only what both do: limits of one alone are not reported.
        let mut limits = verified.streams[number].listeners.iter().flat_map(|listener| &listener.may_be_lost);
        let is_reported = link.skew_max.is_some() || limits.any(|limit| limit.kind.name == "policed-jitter");
        if is_policed && !is_reported {
            found.push(format!("{}: policing discarded frames of a link that keeps its jitter", stream.name));
        }
        if bounds.listeners.iter().any(|listener| listener.delay.is_err()) {
            continue;
        }
        if is_policed {
            found.push(format!("{}: policing discarded frames of a bounded link", stream.name));
        }
        // Links that share its numbers come within SkewMax, too, and no listener forgets received numbers.
        let mut sisters = network
            .streams
            .iter()
            .zip(&all.streams)
            .filter(|(sister, _)| sister.virtual_link.is_some_and(|other| other.id == link.id));
        let within = |(sister, bounds): (&Stream, &StreamBounds)| {
            let most = sister.virtual_link.and_then(|link| link.skew_max);
            bounds
                .listeners
                .iter()
                .all(|listener| listener.skew.is_some_and(|skew| most.is_some_and(|most| skew <= most)))
        };
        let begins_anew = network.events.iter().any(|event| {
            matches!(event.action, TimelineAction::StartNode(node) if stream.listeners.contains(&node))
        });
        if link.skew_max.is_some() && !begins_anew && sisters.all(within) {
            let kept = [DropReason::Overwritten, DropReason::LinkQueueFull];
            let left = observed.created - kept.map(|reason| dropped(observed, reason)).iter().sum::<u64>();
            if observed.delivered != left * stream.listeners.len() as u64 {
                found.push(format!("{}: not once and all", stream.name));
            }
        }
    }
    found
}
