//! Networks of SAE AS6802 that separate into two equal halves: half of the masters are enough for network time, or
//! not. When the cable is repaired the halves merge by clique detection, and all have one network time within the
//! stated time. Nothing is late meanwhile.
//!
//! `TAUTWIRE_CASES` sets how many are drawn, `TAUTWIRE_SEED` draws one.

use crate::common::{network_time, synchronised};
use tautwire_generate::{random_as6802_halves, seeds};
use tautwire_sim::Observation;
use tautwire_units::Duration;
use tautwire_workbench::network::TimelineAction;
use tautwire_workbench::{Network, Options, simulate, verify};

/// The network of a seed; none if its clocks are worse than its precision.
fn network(seed: u64) -> Option<Network> {
    synchronised(seed, &random_as6802_halves(seed))
}

/// When the cable is cut, and when it is repaired.
fn apart(network: &Network) -> (Duration, Duration) {
    let at = |wanted: fn(&TimelineAction) -> bool| {
        let event = network.events.iter().find(|event| wanted(&event.action)).expect("it is there");
        Duration::from_ps(event.at.as_ps())
    };
    (
        at(|action| matches!(action, TimelineAction::CutCable(_))),
        at(|action| matches!(action, TimelineAction::MendCable(_))),
    )
}

/// Whether the halves have no network time while they are apart.
fn needs_more_than_half(network: &Network) -> bool {
    let cluster = &network.as6802.as_ref().expect("it is synchronised").clusters[0];
    cluster.members_min * 2 > cluster.masters
}

/// What a run of the network breaks.
fn broken(network: &Network, observation: &Observation) -> Vec<String> {
    // The bound of each link is that without failures; what cannot be sent is lost.
    let intact = network.clone().altered(|parts| parts.events.clear());
    let bounds = tautwire_analysis::bounds(&intact);
    let mut broken = Vec::new();
    let seen = network_time(observation);
    if needs_more_than_half(network) {
        let found = verify(network, &tautwire_analysis::bounds(network), observation).contradictions;
        broken.extend(found.iter().map(ToString::to_string));
        for (link, proven) in observation.streams.iter().zip(&bounds.streams) {
            for (listener, proven) in link.listeners.iter().zip(&proven.listeners) {
                if let (Some(worst), Ok(bound)) = (listener.worst.map(|worst| worst.delay), &proven.delay)
                    && worst > *bound
                {
                    broken.push(format!("{worst}, and {bound} is proven"));
                }
            }
        }
        if seen.precision > network.precision_bound().expect("it is proven") {
            broken.push(format!("clocks are {} apart", seen.precision));
        }
    }
    let (cut, mended) = apart(network);
    let again = network.resynchronisation_max().expect("it is synchronised");
    let most = if needs_more_than_half(network) { mended.saturating_sub(cut) + again } else { again };
    for (number, node) in seen.nodes.iter().enumerate() {
        let name = &network.nodes[number].name;
        if node.synchronised_at.is_none() || node.without_since.is_some() {
            broken.push(format!("{name} is not synchronised at the end"));
        }
        if node.without_max > most {
            broken.push(format!("{name} was without for {}, {most} is stated", node.without_max));
        }
        if node.clique_at.is_some_and(|at| at > mended + again) {
            broken.push(format!("{name} finds another clique at {:?}", node.clique_at));
        }
    }
    broken
}

/// Halves that are enough each count on; the stations of one of them, and those alone, give up their time. Compression masters
/// lose it where no frame comes that sets their clocks.
fn one_half_gives_way(network: &Network, observation: &Observation) -> bool {
    let lost = |side: &str| {
        let nodes = network.nodes.iter().zip(&network_time(observation).nodes);
        let half = nodes.filter(|(node, _)| node.name.starts_with(side));
        half.map(|(_, time)| time.lost).collect::<Vec<u64>>()
    };
    let (a, b) = (lost("a"), lost("b"));
    let none = |half: &[u64]| half.iter().all(|lost| *lost == 0);
    let all = |half: &[u64]| half.iter().all(|lost| *lost == 1);
    none(&a) && all(&b) || all(&a) && none(&b)
}

/// Per node how often it lost network time, what it found of cliques, and when.
fn losses(network: &Network, observation: &Observation) -> Vec<String> {
    let nodes = network.nodes.iter().zip(&network_time(observation).nodes);
    nodes
        .map(|(node, time)| format!("{} {} {:?} {:?}", node.name, time.lost, time.cliques, time.clique_at))
        .collect()
}

#[test]
fn halves_that_meet_become_one() {
    let mut seeds = seeds(60);
    seeds.truncate(10_000);
    let (mut held, mut majority, mut asynchronous, mut gave_way) = (0, 0, 0, 0);
    for seed in &seeds {
        let Some(network) = network(*seed) else { continue };
        let observation = simulate(&network, &mut Options::default());
        let found = broken(&network, &observation);
        assert!(found.is_empty(), "seed {seed}:\n  {}", found.join("\n  "));
        held += 1;
        let cliques =
            network_time(&observation).nodes.iter().map(|node| node.cliques.asynchronous).sum::<u32>();
        asynchronous += u32::from(cliques > 0);
        if needs_more_than_half(&network) {
            majority += 1;
        } else if cliques > 0 {
            gave_way += 1;
            let one = one_half_gives_way(&network, &observation);
            assert!(one, "seed {seed}: {:?}", losses(&network, &observation));
        }
    }
    if seeds.len() > 1 {
        assert!(held * 2 > seeds.len() && majority * 4 > held, "{held} held, {majority} need more than half");
        assert!(asynchronous > 10 && gave_way > 5, "{asynchronous} found a clique, {gave_way} running ones");
    }
}

/// Clique detection that sees only frames that come while a cycle is evaluated is found, and masters that stay
/// tentative during a start of others.
#[test]
fn cliques_that_do_not_meet_are_found() {
    use tautwire_core::fault::{PlantedFault, plant};
    for fault in [PlantedFault::CliqueForgotten, PlantedFault::AcknowledgementIgnored] {
        plant(Some(fault));
        let found = (0..200).find(|seed| {
            let Some(network) = network(*seed) else { return false };
            !broken(&network, &simulate(&network, &mut Options::default())).is_empty()
        });
        plant(None);
        assert!(found.is_some(), "{fault:?}");
    }
}
