//! Nodes in virtual time, without sockets, and that they do as the simulator.

use std::collections::BTreeMap;

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};
use tautwire_observe::Moments;
use tautwire_sim::{DropReason, InCommon, Observation, PortObservation, StreamObservation};
use tautwire_units::{Duration, Instant};

use super::Node;
use crate::counters::Counters;
use crate::plan::Plan;

pub(crate) fn scenario(name: &str) -> Network {
    let path = std::path::Path::new("../../scenarios").join(name);
    tautwire_workbench::load(&path).expect("it is there").network.expect("it has no errors")
}

/// The network as it is run live: with one clock, and the least of every random delay.
pub(crate) fn without_chance(network: Network) -> Network {
    network.altered(|parts| {
        for node in &mut parts.nodes {
            node.clock = tautwire_model::network::Clock::default();
        }
        for stage in parts.devices.iter_mut().flat_map(|device| &mut device.stages) {
            stage.latency.random = tautwire_model::network::Distribution::Zero;
            stage.occupancy = tautwire_model::network::Delay::default();
        }
        for host in &mut parts.hosts {
            host.transmit.random = tautwire_model::network::Distribution::Zero;
            host.receive.random = tautwire_model::network::Distribution::Zero;
        }
        for link in &mut parts.links {
            link.phy_delay.max = link.phy_delay.min;
        }
    })
}

/// The nodes of a network, and the frames between them: each is received at the instant at which it is due.
pub(crate) struct Together<'n> {
    network: &'n Network,
    pub(crate) nodes: Vec<Node<'n>>,
    /// A node that does nothing from an instant on.
    pub(crate) stopped: Option<(NodeIndex, Instant)>,
}

impl<'n> Together<'n> {
    pub(crate) fn new(network: &'n Network, plan: &'n Plan) -> Self {
        let common = InCommon::default();
        let nodes = (0..network.nodes.len())
            .map(|node| {
                let (node, seed) = (NodeIndex::at(node), network.run.seed);
                let machines = (node, seed, tautwire_workbench::in_runs());
                Node::new(network, plan, node, seed).controlled(machines, &common)
            })
            .collect();
        Self { network, nodes, stopped: None }
    }

    /// Calls each node when it asks for it, until `end`.
    pub(crate) fn run_until(&mut self, end: Instant) {
        while let Some(now) = self.deadline().filter(|deadline| *deadline <= end) {
            self.at(now);
        }
        self.at(end);
    }

    fn is_stopped(&self, node: usize, now: Instant) -> bool {
        self.stopped.is_some_and(|(stopped, since)| stopped.index() == node && now >= since)
    }

    fn deadline(&self) -> Option<Instant> {
        let asked = self.nodes.iter().enumerate().filter_map(|(node, own)| Some((node, own.deadline()?)));
        asked.filter(|(node, at)| !self.is_stopped(*node, *at)).map(|(_, at)| at).min()
    }

    /// Does what is due now, and gives the frames that were sent.
    pub(crate) fn at(&mut self, now: Instant) -> Vec<(PortIndex, Vec<u8>)> {
        let mut sent = Vec::new();
        for number in 0..self.nodes.len() {
            if self.is_stopped(number, now) {
                continue;
            }
            let node = &mut self.nodes[number];
            node.settle(now);
            node.emit(now, |port, frame| {
                sent.push((port, frame.to_vec()));
                None
            });
        }
        // What comes at one instant comes in the order of the links, as in a run.
        sent.sort_by_key(|(port, _)| self.network.ports[port.index()].links.expect("it sends").egress);
        for (port, frame) in &sent {
            let link = self.network.ports[port.index()].links.expect("it sends").egress;
            let to = self.network.links[link.index()].to;
            self.nodes[self.network.ports[to.index()].node.index()].receive(now, to, frame);
        }
        for number in 0..self.nodes.len() {
            if !self.is_stopped(number, now) {
                self.nodes[number].settle(now);
            }
        }
        sent
    }

    /// What control machines and filters of all nodes observed.
    pub(crate) fn control(&mut self) -> Observation {
        let mut control = Observation::default();
        for node in &mut self.nodes {
            let mut own = Observation::default();
            node.observe_control(&mut own);
            control.join_control(own);
        }
        control
    }

    /// Counters of all nodes, and the observations of streams and ports.
    pub(crate) fn observed(self) -> (Counters, Vec<StreamObservation>, Vec<PortObservation>) {
        let mut in_flight: BTreeMap<u32, BTreeMap<u32, u64>> = BTreeMap::new();
        let mut ports = vec![PortObservation::default(); self.network.ports.len()];
        let mut counters = Counters::default();
        for node in self.nodes {
            for (stream, hop) in node.in_flight() {
                *in_flight.entry(stream).or_default().entry(hop).or_default() += 1;
            }
            node.port_observations().for_each(|(port, seen)| ports[port.index()] = seen);
            counters.merge(node.counters);
        }
        let none = BTreeMap::new();
        let streams = (0..self.network.streams.len())
            .map(|stream| StreamIndex::at(stream).0)
            .map(|stream| {
                counters.stream(
                    self.network,
                    stream,
                    in_flight.get(&stream).unwrap_or(&none),
                    DropReason::SocketBufferFull,
                )
            })
            .collect();
        (counters, streams, ports)
    }
}

/// That each of these delays is at most a nanosecond longer: a frame carries its creation in whole nanoseconds, rounded down.
/// Those of a run are longer by what the host takes `behind` its interface.
fn agree(live: &Moments, simulated: &Moments, behind: Duration, what: &str) {
    let count = u128::from(simulated.count());
    assert_eq!(u128::from(live.count()), count, "{what}");
    if count == 0 {
        return;
    }
    let longer = (live.sum_ps() + count * u128::from(behind.as_ps())).checked_sub(simulated.sum_ps());
    assert!(longer.is_some_and(|longer| longer < count * 1_000), "{what}: {longer:?} ps of {count} frames");
    for of in [Moments::min, Moments::max] {
        let [live, simulated] = [live, simulated].map(|delays| of(delays).expect("there are some").as_ps());
        let live = live + behind.as_ps();
        assert!((simulated..simulated + 1_000).contains(&live), "{what}: {live} and {simulated} ps");
    }
}

/// That nodes in virtual time do as a run of the simulator: counts, parts of hops, counters of ports and filters, and delays to a nanosecond.
pub(crate) fn does_as_in_a_run(what: &str, network: &Network) -> Observation {
    let plan = Plan::new(network);
    let mut together = Together::new(network, &plan);
    together.run_until(Instant::ZERO + network.run.duration);
    let control = together.control();
    let (counters, streams, ports) = together.observed();
    let simulated: Observation =
        tautwire_workbench::simulate(network, &mut tautwire_workbench::Options::default());
    for ((live, simulated), stream) in streams.iter().zip(&simulated.streams).zip(&network.streams) {
        let name = format!("{what}: {}", stream.name);
        assert_eq!(live.dropped, simulated.dropped, "{name}");
        let counts = |seen: &StreamObservation| {
            (seen.created, seen.replicated, seen.delivered, seen.consumed, seen.in_flight)
        };
        assert_eq!(counts(live), counts(simulated), "{name}");
        for (number, (live, simulated)) in live.listeners.iter().zip(&simulated.listeners).enumerate() {
            assert_eq!(live.dropped, simulated.dropped, "{name}");
            // When a frame of a control machine was created is not known where it comes.
            if stream.traffic.is_control() {
                continue;
            }
            let receive = network.reception(stream.listeners[number]);
            let behind = receive.map_or(Duration::ZERO, |receive| crate::plane::least(receive, 0));
            agree(&live.delay, &simulated.delay, behind, &name);
            assert_eq!(live.late, simulated.late, "{name}");
        }
        for (live, simulated) in live.hops.iter().zip(&simulated.hops) {
            assert_eq!((live.frames, live.max), (simulated.frames, simulated.max), "{name}");
            assert_eq!(live.sums, simulated.sums, "{name}");
        }
    }
    assert_eq!(ports, simulated.ports, "{what}");
    assert_eq!(control.slots, simulated.slots, "{what}");
    assert_eq!(control.cycles, simulated.cycles, "{what}");
    assert_eq!(control.start_up, simulated.start_up, "{what}");
    assert_eq!(control.takeover, simulated.takeover, "{what}");
    // Lists of gates of ports have a table in a run alone.
    for own in control.mechanisms.tables() {
        let known = simulated.mechanisms.tables().into_iter().find(|table| table.name == own.name);
        assert_eq!(Some(own), known, "{what}");
    }
    // No node asked too late for its call.
    assert_eq!(counters.lateness_max, Duration::ZERO, "{what}");
    assert_eq!((counters.foreign, counters.out_of_order, counters.duplicates), (0, 0, 0), "{what}");
    simulated
}
