//! Random networks of two clusters of SAE AS6802: of two domains, which ignore one another's frames, and of one, of
//! which the lower follows the higher. No frame is later than its bound, clocks that follow one cluster differ by no
//! more than is proven, and all follow their cluster within the stated time of a failure. A node that followed other
//! domains, or did not follow the higher cluster, would be found.
//!
//! `TAUTWIRE_CASES` sets how many are drawn, `TAUTWIRE_SEED` draws one.

use crate::common::{network_time, synchronised};
use tautwire_generate::{ClusterRelation, random_as6802_clusters, seeds};
use tautwire_sim::{DropReason, Observation};
use tautwire_units::Duration;
use tautwire_workbench::{Network, Options, simulate, verify};

/// The network of a seed; none if its clocks are worse than its precision.
fn network(seed: u64, relation: ClusterRelation, failures: bool) -> Option<Network> {
    synchronised(seed, &random_as6802_clusters(seed, relation, failures))
}

/// What a run of the network breaks.
fn broken(network: &Network, relation: ClusterRelation, observation: &Observation) -> Vec<String> {
    let bounds = tautwire_analysis::bounds(network);
    let found = verify(network, &bounds, observation).contradictions;
    let mut broken: Vec<String> = found.iter().map(ToString::to_string).collect();
    let made = network.as6802.as_ref().expect("it is synchronised");
    let deadline = |cluster| network.transmission_deadline_of(cluster).expect("it is synchronised");
    let sure = made.frames.iter().zip(&made.cluster_of).all(|(stream, cluster)| {
        let listeners = stream.map_or(&[][..], |stream| &bounds.streams[stream.index()].listeners);
        listeners.iter().all(|one| one.delay.as_ref().is_ok_and(|delay| *delay <= deadline(*cluster)))
    });
    if !sure {
        return broken;
    }
    let fails = network.may_lose_frames();
    for (number, node) in network_time(observation).nodes.iter().enumerate() {
        let name = &network.nodes[number].name;
        let own = made.cluster_of[number];
        let end = if relation == ClusterRelation::Priorities { 0 } else { own };
        let most = network.resynchronisation_max_of(own).expect("it is synchronised");
        if node.cluster != Some(end) {
            broken.push(format!("{name} follows {:?} at the end", node.cluster));
        }
        if node.synchronised_at.is_none_or(|at| at > most) {
            broken.push(format!("{name} is synchronised at {:?}, not within {most}", node.synchronised_at));
        }
        if node.without_max > most + Duration::from_ms(if fails { 150 } else { 0 }) {
            broken.push(format!("{name} was without for {}", node.without_max));
        }
        // A cluster with a master behind the other one's switch needs the cable too.
        let heard_by_others = made.frames.iter().zip(&made.cluster_of).any(|(stream, of)| {
            let listeners = stream.map_or(&[][..], |stream| &network.streams[stream.index()].listeners);
            *of == own && listeners.iter().any(|node| made.cluster_of[node.index()] != own)
        });
        let independent = relation == ClusterRelation::Domains && !heard_by_others;
        if node.lost > 0 && (independent || !fails) || node.gave_way > 0 && end == own {
            broken.push(format!("{name} lost network time {} times, gave way {}", node.lost, node.gave_way));
        }
    }
    broken.extend(lost_otherwise(network, observation));
    broken
}

/// Time-triggered frames that were lost by something other than what fails, and by nodes without network time.
fn lost_otherwise(network: &Network, observation: &Observation) -> Vec<String> {
    let meant = |reason| {
        use DropReason::{LinkDown, NodeDown, Overwritten, Unsynchronised};
        matches!(reason, LinkDown | NodeDown | Overwritten | Unsynchronised)
    };
    let mut lost = Vec::new();
    for (stream, seen) in network.streams.iter().zip(&observation.streams) {
        let other = seen.dropped.iter().find(|(reason, _)| !meant(*reason));
        if stream.time_triggered.is_some() && other.is_some() {
            lost.push(format!("{} lost {other:?}", stream.name));
        }
    }
    lost
}

fn hold(relation: ClusterRelation, failures: bool) -> (usize, u64, usize) {
    let mut seeds = seeds(12);
    seeds.truncate(3_000);
    let (mut held, mut gave_way, cases) = (0, 0, seeds.len());
    for seed in seeds {
        let Some(network) = network(seed, relation, failures) else { continue };
        let observation = simulate(&network, &mut Options::default());
        let found = broken(&network, relation, &observation);
        assert!(found.is_empty(), "seed {seed}:\n  {}", found.join("\n  "));
        gave_way += network_time(&observation).nodes.iter().map(|node| node.gave_way).sum::<u64>();
        held += 1;
    }
    (held, gave_way, cases)
}

#[test]
fn clusters_of_two_domains_do_not_hear_one_another() {
    for failures in [false, true] {
        let (held, gave_way, cases) = hold(ClusterRelation::Domains, failures);
        assert!(held * 2 > cases || cases == 1, "{held} held");
        assert_eq!(gave_way, 0);
    }
}

#[test]
fn a_lower_priority_joins_the_higher_and_comes_back() {
    for failures in [false, true] {
        let (held, gave_way, cases) = hold(ClusterRelation::Priorities, failures);
        assert!((held * 2 > cases && gave_way > 0) || cases == 1, "{held} held, {gave_way} gave way");
    }
}

#[test]
fn who_hears_other_domains_or_gives_no_way_is_found() {
    use tautwire_core::fault::{PlantedFault, plant};
    for (fault, relation) in [
        (PlantedFault::DomainIgnored, ClusterRelation::Domains),
        (PlantedFault::NoWayGiven, ClusterRelation::Priorities),
    ] {
        plant(Some(fault));
        let found = (0..50).find(|seed| {
            let Some(network) = network(*seed, relation, true) else { return false };
            !broken(&network, relation, &simulate(&network, &mut Options::default())).is_empty()
        });
        plant(None);
        assert!(found.is_some(), "{fault:?}");
    }
}
