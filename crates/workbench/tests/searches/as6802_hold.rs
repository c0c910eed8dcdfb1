//! Random time-triggered networks that keep their time by protocol control frames: no frame is later than its
//! bound and no two clocks are further apart than is proven, whatever fails; what cannot be sent is lost, not
//! late; and once all works again, all are synchronised within the stated time. Where control frames may be late, nothing is
//! proven.
//!
//! `TAUTWIRE_CASES` sets how many are drawn, `TAUTWIRE_SEED` draws one.

use crate::common::{network_time, synchronised, without_cause};
use tautwire_analysis::{late_control_frames, proven_precision};
use tautwire_generate::{As6802Failures, random_as6802, seeds};
use tautwire_sim::{DropReason, Observation};
use tautwire_units::Duration;
use tautwire_workbench::{Network, Options, load_text, simulate, verify};

/// When the last failure is over.
const HEALED: Duration = Duration::from_ms(330);

/// The network of a seed; none if its clocks are worse than its precision.
fn network(seed: u64, failures: As6802Failures) -> Option<Network> {
    synchronised(seed, &random_as6802(seed, failures))
}

/// Holds a run against its bounds; how close its clocks came to theirs, in percent.
fn hold(seed: u64, network: &Network, observation: &Observation) -> u64 {
    let bounds = tautwire_analysis::bounds(network);
    let found = verify(network, &bounds, observation).contradictions;
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "seed {seed}:\n  {}", found.join("\n  "));
    let untold = without_cause(network, &bounds, observation);
    assert!(untold.is_empty(), "seed {seed}:\n  {}", untold.join("\n  "));
    let Some(proven) = network.precision_bound() else {
        // A babbling master of two is not contained.
        assert!(network.uncontained(0).is_some(), "seed {seed}");
        return 0;
    };
    assert!(proven <= network.time_triggered.expect("time-triggered").precision, "seed {seed}");
    network_time(observation).precision.as_ps() * 100 / proven.as_ps()
}

/// Whether protocol control frames certainly come in time.
fn is_sure(network: &Network) -> bool {
    late_control_frames(network, &tautwire_analysis::bounds(network)).next().is_none()
}

/// With a greatest transmission delay that control frames exceed, or might: nothing rests on a network time that is not sure.
#[test]
fn where_control_frames_may_be_late_nothing_rests_on_them() {
    let mut seeds = seeds(120);
    seeds.truncate(10_000);
    let (mut late, mut lost, mut sure) = (0, 0, 0);
    for seed in &seeds {
        let text = random_as6802(*seed, As6802Failures::None);
        let delay = format!("max-transmission-delay: {} us", 20 + seed % 13 * 30);
        let text = text.replace("max-transmission-delay: 2 ms", &delay);
        let Some(network) = load_text("late", &text).network else { continue };
        let bounds = tautwire_analysis::bounds(&network);
        let observation = simulate(&network, &mut Options::default());
        let found = verify(&network, &bounds, &observation).contradictions;
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(found.is_empty(), "seed {seed}:\n  {}", found.join("\n  "));
        let seen = network_time(&observation);
        let never = seen.nodes.iter().any(|node| node.synchronised_at.is_none() || node.lost > 0);
        if is_sure(&network) {
            assert!(!never, "seed {seed}: {:?}", seen.nodes);
            assert!(proven_precision(&network, &bounds, 0).is_some(), "seed {seed}");
            sure += 1;
            continue;
        }
        assert_eq!(proven_precision(&network, &bounds, 0), None, "seed {seed}");
        let links =
            network.streams.iter().zip(&bounds.streams).filter(|(stream, _)| stream.time_triggered.is_some());
        for (stream, bounds) in links {
            assert!(bounds.listeners.iter().all(|one| one.delay.is_err()), "seed {seed}: {}", stream.name);
        }
        late += 1;
        lost += usize::from(never);
    }
    let cases = seeds.len();
    assert!(cases == 1 || late * 4 > cases && lost * 10 > cases && sure * 10 > cases, "{late} {lost} {sure}");
}

#[test]
fn clocks_stay_together_and_nothing_is_lost_once_they_are() {
    let mut seeds = seeds(30);
    seeds.truncate(10_000);
    let (mut held, mut sure, mut close) = (0, 0, 0);
    for seed in &seeds {
        let Some(network) = network(*seed, As6802Failures::None) else { continue };
        let observation = simulate(&network, &mut Options::default());
        close = close.max(hold(*seed, &network, &observation));
        held += 1;
        if !is_sure(&network) {
            continue;
        }
        sure += 1;
        let seen = network_time(&observation);
        let at = seen.synchronised_at().expect("all nodes are synchronised");
        let most = network.resynchronisation_max().expect("it is synchronised");
        assert!(at <= most, "seed {seed}: synchronised after {at}, and {most} is stated");
        assert!(seen.nodes.iter().all(|node| node.lost == 0), "seed {seed}: {:?}", seen.nodes);
    }
    if seeds.len() > 1 {
        let cases = seeds.len();
        assert!(held * 2 > cases && sure * 2 > held, "{held} of {cases} held, {sure} of them sure");
        assert!(close > 15, "clocks come to {close} % of what is proven");
    }
}

#[test]
fn what_fails_loses_frames_and_delays_none() {
    let mut seeds = seeds(30);
    seeds.truncate(10_000);
    let (mut held, mut lost, mut unsent) = (0, 0, 0);
    for seed in &seeds {
        let Some(network) = network(*seed, As6802Failures::Some) else { continue };
        let observation = simulate(&network, &mut Options::default());
        hold(*seed, &network, &observation);
        let late = later_than_intact(&network, &observation);
        assert!(late.is_empty(), "seed {seed}: {late:?}");
        held += 1;
        let seen = network_time(&observation);
        lost += seen.nodes.iter().map(|node| node.lost).sum::<u64>();
        for (number, stream) in network.streams.iter().enumerate() {
            let dropped = &observation.streams[number].dropped;
            unsent += dropped
                .iter()
                .filter(|(reason, _)| *reason == DropReason::Unsynchronised)
                .map(|(_, count)| count)
                .sum::<u64>();
            let scheduled = stream.time_triggered.as_ref().is_some_and(|link| link.acceptance.is_none());
            let meant = |reason| {
                use DropReason::{BitError, LinkDown, NodeDown, Overwritten, Unsynchronised};
                matches!(reason, BitError | LinkDown | NodeDown | Overwritten | Unsynchronised)
            };
            let other = dropped.iter().find(|(reason, _)| !meant(*reason));
            assert!(!scheduled || other.is_none(), "seed {seed}: {} lost {other:?}", stream.name);
        }
        if is_sure(&network) {
            let healed = HEALED + network.resynchronisation_max().expect("it is synchronised");
            for (node, seen) in seen.nodes.iter().enumerate() {
                let name = &network.nodes[node].name;
                assert!(
                    seen.without_since.is_none() && seen.synchronised_at.is_some(),
                    "seed {seed}: {name}"
                );
                let most = healed.saturating_sub(Duration::from_ms(120));
                assert!(seen.without_max <= most, "seed {seed}: {name} was without for {}", seen.without_max);
            }
        }
    }
    if seeds.len() > 1 {
        assert!(held * 2 > seeds.len(), "{held} held");
        assert!(lost > 0 && unsent > 0, "network time is lost {lost} times, {unsent} frames were not sent");
    }
}

/// Time-triggered frames that were later than the bound of the same network in which nothing fails.
fn later_than_intact(network: &Network, observation: &Observation) -> Vec<String> {
    let intact = network.clone().altered(|parts| parts.events.clear());
    let bounds = tautwire_analysis::bounds(&intact);
    let links = network.streams.iter().enumerate().filter(|(_, stream)| stream.time_triggered.is_some());
    let mut late = Vec::new();
    for (number, stream) in links {
        let listeners = observation.streams[number].listeners.iter().zip(&bounds.streams[number].listeners);
        for (seen, proven) in listeners {
            let worst = seen.worst.map(|worst| worst.delay);
            if let (Some(worst), Ok(bound)) = (worst, &proven.delay)
                && worst > *bound
            {
                late.push(format!("{}: {worst} and {bound} is proven", stream.name));
            }
        }
    }
    late
}

/// A master that makes protocol control frames without end is policed: no frame that has a bound is later, clocks
/// stay together, and of three masters and more the others lose nothing.
#[test]
fn a_babbling_master_is_policed() {
    let mut seeds = seeds(30);
    seeds.truncate(10_000);
    let (mut held, mut policed) = (0, 0);
    for seed in &seeds {
        let Some(network) = network(*seed, As6802Failures::Babble) else { continue };
        let observation = simulate(&network, &mut Options::default());
        hold(*seed, &network, &observation);
        policed += policed_frames(&network, &observation);
        if babbled_without_loss(&network, &observation) {
            held += 1;
        } else {
            let found = lost_by_others(&network, &observation);
            assert!(found.is_empty(), "seed {seed}: {found:?}");
        }
    }
    if seeds.len() > 1 {
        assert!(held * 4 > seeds.len() && policed > 1_000, "{held} held, {policed} frames were policed");
    }
}

/// Protocol control frames that switches policed.
fn policed_frames(network: &Network, observation: &Observation) -> u64 {
    let frames = network.as6802.as_ref().expect("it is synchronised").frames.iter().flatten();
    let dropped = frames.flat_map(|stream| &observation.streams[stream.index()].dropped);
    dropped.filter(|(reason, _)| *reason == DropReason::PolicedRate).map(|(_, count)| count).sum()
}

/// Whether no node lost network time.
fn babbled_without_loss(_: &Network, observation: &Observation) -> bool {
    network_time(observation).nodes.iter().all(|node| node.lost == 0 && node.synchronised_at.is_some())
}

/// Nodes that lost network time although three masters and more were there, and the frames of the others sure.
fn lost_by_others(network: &Network, observation: &Observation) -> Vec<String> {
    let synchronisation = network.as6802.as_ref().expect("it is synchronised");
    if synchronisation.clusters[0].masters < 3 || !is_sure(network) {
        return Vec::new();
    }
    let nodes = network_time(observation).nodes.iter().enumerate();
    let lost = nodes.filter(|(_, node)| node.lost > 0 || node.synchronised_at.is_none());
    lost.map(|(node, _)| network.nodes[node].name.clone()).collect()
}

/// A compression master that takes what babbles is found.
#[test]
fn babbling_that_is_taken_is_found() {
    use tautwire_core::fault::{PlantedFault, plant};
    plant(Some(PlantedFault::BabbleTaken));
    let found = (0..300).find(|seed| {
        let Some(network) = network(*seed, As6802Failures::Babble) else { return false };
        let observation = simulate(&network, &mut Options::default());
        let bounds = tautwire_analysis::bounds(&network);
        let apart = !verify(&network, &bounds, &observation).contradictions.is_empty();
        let loses = || {
            !babbled_without_loss(&network, &observation)
                && !lost_by_others(&network, &observation).is_empty()
        };
        apart || loses()
    });
    plant(None);
    assert!(found.is_some());
}

/// A bound that forgets that clocks drift is contradicted.
#[test]
fn a_bound_without_drift_is_found_wrong() {
    let found = (0..200).find(|seed| {
        let Some(network) = network(*seed, As6802Failures::None) else { return false };
        let seen = network_time(&simulate(&network, &mut Options::default())).precision;
        let still =
            network.altered(|parts| parts.nodes.iter_mut().for_each(|node| node.clock.tolerance_ppb = 0));
        seen > still.precision_bound().expect("it is synchronised")
    });
    assert!(found.is_some());
}

#[test]
fn a_forgotten_permanence_is_found() {
    use tautwire_core::fault::{PlantedFault, plant};
    plant(Some(PlantedFault::PermanenceForgotten));
    let found = (0..200).find(|seed| {
        let Some(network) = network(*seed, As6802Failures::None) else { return false };
        let observation = simulate(&network, &mut Options::default());
        let apart =
            network_time(&observation).precision > network.precision_bound().expect("it is synchronised");
        apart || network_time(&observation).synchronised_at().is_none()
    });
    plant(None);
    assert!(found.is_some());
}
