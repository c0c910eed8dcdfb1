//! Records of nodes as words: read as they were written, or refused.

use std::collections::BTreeMap;

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, StreamIndex};
use tautwire_sim::DropReason;
use tautwire_units::{Duration, Instant};
use tautwire_workbench::live::{LiveSummary, MachineSummary};
use tautwire_workbench::table::TableOptions;
use tautwire_workbench::{Manifest, Options, RunFolder};

use crate::counters::Counters;
use crate::node::Node;
use crate::node::together::{Together, scenario, without_chance};
use crate::plan::Plan;
use crate::record::NodeRecord;

/// What is read of a node's words is counted as in the node.
#[test]
fn a_record_is_read_as_it_was_written_or_not_at_all() {
    let network = without_chance(scenario("shaped-line.yaml"));
    let plan = Plan::new(&network);
    let (mut first, mut second) = (Counters::default(), Counters::default());
    for (index, record) in records(&network, &plan) {
        let words = record.words();
        let read = NodeRecord::read(&words, &network, index).expect("as it was written");
        assert_eq!((&read.ports, &read.in_flight, read.socket_lost), (&record.ports, &record.in_flight, 3));
        // Neither a part of it, nor more, nor that of a node elsewhere.
        for end in 0..words.len().min(400) {
            assert!(NodeRecord::read(&words[..end], &network, index).is_none(), "{end} words");
        }
        assert!(NodeRecord::read(&[&words[..], &[0]].concat(), &network, index).is_none());
        let other = NodeIndex::at((index.index() + 1) % network.nodes.len());
        assert!(NodeRecord::read(&words, &network, other).is_none());
        first.merge(record.counters);
        second.merge(read.counters);
    }
    let none = BTreeMap::new();
    for stream in (0..network.streams.len()).map(|stream| StreamIndex::at(stream).0) {
        let [first, second] =
            [&first, &second].map(|own| own.stream(&network, stream, &none, DropReason::Unknown));
        assert!(first.delivered > 0 && first == second, "{first:?} {second:?}");
    }
    assert_eq!((first.lateness, first.transmissions), (second.lateness, second.transmissions));
}

/// Records of the nodes of a run of 20 ms, each with its node.
fn records(network: &Network, plan: &Plan) -> Vec<(NodeIndex, NodeRecord)> {
    let mut together = Together::new(network, plan);
    for node in &mut together.nodes {
        (node.counters.receptions, node.counters.receptions_max) = (Some(Vec::new()), usize::MAX);
    }
    together.run_until(Instant::ZERO + Duration::from_ms(20));
    let record = |(number, node): (usize, Node<'_>)| {
        let (ports, in_flight) = (node.port_observations().collect(), node.in_flight().collect());
        let record = NodeRecord { ports, in_flight, socket_lost: 3, counters: node.counters, clock: None };
        (NodeIndex::at(number), record)
    };
    together.nodes.into_iter().enumerate().map(record).collect()
}

/// Whatever number is in a record: it is refused, or all that a master makes of it can be made.
#[test]
fn a_record_with_any_number_is_refused_or_adds_up() {
    let network = without_chance(scenario("shaped-line.yaml"));
    let plan = Plan::new(&network);
    let records = records(&network, &plan);
    let simulated = tautwire_workbench::simulate(&network, &mut Options::default());
    let bounds = tautwire_workbench::bounds_in_run(&network, &simulated);
    let manifest = Manifest::new("shaped-line", "", None, &[]);
    let (mut refused, mut taken) = (0, 0);
    for (place, (node, record)) in records.iter().enumerate() {
        let words = record.words();
        let receptions = record.counters.receptions.as_ref().map_or(0, Vec::len);
        for at in (0..words.len()).filter(|at| *at < 60 || receptions < 20 || at % 23 == 0) {
            for number in [u64::MAX, u64::MAX / 2, 1 << 62] {
                // The word itself, and with the one behind it.
                for end in [at + 1, (at + 2).min(words.len())] {
                    let mut changed = words.clone();
                    changed[at..end].fill(number);
                    let Some(read) = NodeRecord::read(&changed, &network, *node) else {
                        refused += 1;
                        continue;
                    };
                    taken += 1;
                    let mut all: Vec<_> = records.iter().map(|(_, record)| record.clone()).collect();
                    all[place] = read;
                    let floor = crate::floor::Floor {
                        clock_read: Duration::ZERO,
                        timer_lateness: crate::floor::Spread::default(),
                        round_trip: crate::floor::Spread::default(),
                        threads: 1,
                        priority: tautwire_linux::Priority::Ordinary,
                    };
                    let lived = crate::run::observed(&network, all, floor, DropReason::Unknown);
                    let live = &lived.observation;
                    let summary =
                        LiveSummary::new(&network, &bounds, &simulated, live, MachineSummary::default());
                    assert!(
                        summary.faults() < u64::MAX && !summary.table(TableOptions::default()).is_empty()
                    );
                    let _ = RunFolder::new(&manifest, &network, "", None, Some(live));
                }
            }
        }
    }
    assert!(refused > 500 && taken > 100, "{refused} refused, {taken} taken");
}

/// What gPTP of an agent observed goes with its record; how far it is off from a grandmaster without an agent is not known.
#[test]
fn a_record_has_the_clock_of_its_node() {
    let network = scenario("precision-time.yaml");
    let node = NodeIndex(1);
    let mut offset = tautwire_observe::SignedMoments::default();
    for ps in [-40, 7, 1_000_000] {
        offset.add(ps);
    }
    let clock = tautwire_sim::ClockObservation {
        node,
        grandmaster: Some(NodeIndex(0)),
        capable_ports: 2,
        offset,
        without: 3,
        synchronised_at: Some(Duration::from_ms(7)),
        corrected: None,
    };
    let counters = Counters::default();
    let record =
        NodeRecord { ports: vec![], in_flight: vec![], socket_lost: 0, counters, clock: Some(clock.clone()) };
    let words = record.words();
    let read = NodeRecord::read(&words, &network, node).expect("as it was written");
    assert_eq!(read.clock, record.clock);
    let without = NodeRecord { clock: None, ..record.clone() };
    assert!(NodeRecord::read(&without.words(), &network, node).is_none(), "the network has gPTP");
    assert!(
        words.iter().enumerate().all(|(end, _)| NodeRecord::read(&words[..end], &network, node).is_none())
    );
    // A node that there is not.
    let at = words.len() - 13;
    assert_eq!(words[at..][..4], [1, 2, 3, 1]);
    let mut changed = words.clone();
    changed[at] = network.nodes.len() as u64 + 1;
    assert!(NodeRecord::read(&changed, &network, node).is_none());
    let of = |nodes: &[NodeIndex]| {
        let records = nodes.iter().map(|node| (*node, record.clone())).collect();
        let lived = crate::agent::gathered(&network, records, tautwire_linux::Priority::Ordinary);
        lived.expect("a floor").observation.clocks[0].clone()
    };
    assert_eq!(of(&[node, NodeIndex(0)]), clock);
    assert_eq!(of(&[node]), tautwire_sim::ClockObservation { offset: Default::default(), ..clock });
}
