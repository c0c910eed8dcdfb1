//! Networks of SAE AS6802 that fall into three parts, each of which is enough for network time and counts on alone. When the cables are
//! mended three cliques meet: one keeps its time, the stations of the others give up theirs and join it within the stated time.
//!
//! `TAUTWIRE_CASES` sets how many are drawn, `TAUTWIRE_SEED` draws one.

mod common;

use std::sync::{Mutex, PoisonError};

use common::{network_time, synchronised};
use tautwire_generate::{random_thirds, seeds};
use tautwire_sim::Observation;
use tautwire_workbench::{Network, Options, simulate};

/// Held by each test: a fault of the machines is planted in the whole process.
static PROCESS: Mutex<()> = Mutex::new(());

/// The network of a seed; none if its clocks are worse than its precision.
fn network(seed: u64) -> Option<Network> {
    synchronised(seed, &random_thirds(seed))
}

/// How often the stations of a part lost network time.
fn losses(network: &Network, observation: &Observation, part: &str) -> Vec<u64> {
    let nodes = network.nodes.iter().zip(&network_time(observation).nodes);
    nodes.filter(|(node, _)| node.name.starts_with(part)).map(|(_, time)| time.lost).collect()
}

/// Parts of which no station lost network time.
fn kept(network: &Network, observation: &Observation) -> usize {
    let keeps = |part: &&str| losses(network, observation, part).iter().all(|lost| *lost == 0);
    ["a", "b", "c"].iter().filter(|part| keeps(part)).count()
}

/// Whether anyone found another clique; parts that happened to count alike did not.
fn met(observation: &Observation) -> bool {
    network_time(observation).nodes.iter().any(|node| node.cliques.asynchronous > 0)
}

/// What a run breaks.
fn broken(network: &Network, observation: &Observation) -> Vec<String> {
    let again = network.resynchronisation_max().expect("it is synchronised");
    let mut broken = Vec::new();
    for (node, time) in network.nodes.iter().zip(&network_time(observation).nodes) {
        if time.synchronised_at.is_none() || time.without_since.is_some() {
            broken.push(format!("{} is not synchronised at the end", node.name));
        }
        if time.without_max > again {
            broken.push(format!("{} was without for {}, {again} is stated", node.name, time.without_max));
        }
    }
    let kept = kept(network, observation);
    if met(observation) && kept != 1 {
        let all = ["a", "b", "c"].map(|part| losses(network, observation, part));
        broken.push(format!("{kept} parts keep their time: {all:?}"));
    }
    broken
}

#[test]
fn of_three_cliques_that_meet_one_keeps_its_time() {
    let _process = PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut seeds = seeds(60);
    seeds.truncate(10_000);
    let (mut held, mut three) = (0, 0);
    for seed in &seeds {
        let Some(network) = network(*seed) else { continue };
        let observation = simulate(&network, &mut Options::default());
        let found = broken(&network, &observation);
        assert!(found.is_empty(), "TAUTWIRE_SEED={seed}:\n  {}", found.join("\n  "));
        held += 1;
        let lost =
            ["b", "c", "a"].map(|part| losses(&network, &observation, part).iter().any(|lost| *lost > 0));
        three += u32::from(lost.into_iter().filter(|lost| *lost).count() == 2);
    }
    if seeds.len() > 1 {
        assert!(held * 2 > seeds.len(), "{held} held");
        assert!(three > 10, "of {three} two parts gave way");
    }
}

/// Counted together, the other two cliques are more than any one: all may give way, and the search finds that.
#[cfg(feature = "planted-faults")]
#[test]
fn cliques_that_are_counted_together_are_found() {
    use tautwire_core::fault::{PlantedFault, plant};
    let _process = PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
    plant(Some(PlantedFault::CliquesSummed));
    let found = (0..200).find(|seed| {
        let Some(network) = network(*seed) else { return false };
        !broken(&network, &simulate(&network, &mut Options::default())).is_empty()
    });
    plant(None);
    assert!(found.is_some());
}
