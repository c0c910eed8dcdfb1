//! Synchronisation by protocol control frames in a run (SAE AS6802): the machines of all nodes, and their network time.
//!
//! A frame belongs to its maker's own stream and takes the route of that stream. Every node adds to the transparent
//! clock the time that it held the frame, by its own clock, from the last bit received (from the machine, where it is
//! made) to the first bit sent; the receiver adds the delay of the cable and the least delay of the PHYs. A bridge on
//! the path processes a frame and forwards it.
//!
//! Every cluster has a time of its own. A machine gives start and number of a cycle, from which network time counts.
//! The number restarts with every cluster cycle: of the possible times the one nearest to the node's own, or to that
//! of other nodes, is taken; after all nodes have lost synchronisation it is the next one that is not in the past.
//! True time is only used to compare.

mod faults;

use std::collections::BTreeMap;

use tautwire_core::as6802::{CliquesDetected, Maker, Station, SyncNode, pass};
use tautwire_core::control::Output;
use tautwire_model::Network;
use tautwire_model::as6802::{PCF_PAYLOAD, SyncRole, Synchronisation};
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};
use tautwire_units::{Bytes, Duration, Instant};
use tautwire_wire::MacAddress;

use crate::clock::SimTime;
use crate::control::{Attached, Attachment, Fault, Machines, Passing, Plane};
use crate::network_time::NodeTime;
use crate::result::Observation;

use faults::{Gate, Identity};

/// Octets on the line before the padding and check: preamble, header, data, check.
const PCF_ON_LINE: Bytes = Bytes::new(8 + 14 + PCF_PAYLOAD.get() + 4);

/// Cluster, start and number of the cycle that a node's network time counts from.
type Cycle = (u16, Instant, u32);

/// Synchronisation of a run.
struct As6802<'n> {
    network: &'n Network,
    settings: &'n Synchronisation,
    /// The makers of frames, by their source addresses.
    makers: BTreeMap<MacAddress, Maker>,
    nodes: Vec<Node>,
    /// Per cluster: the latest network time of any node, and when that was.
    latest: Vec<(Instant, SimTime)>,
}

/// The observed state of a node, and the faults between its machine and its ports.
struct Node {
    gate: Gate,
    cycle: Option<Cycle>,
    /// Indices of the clusters that its own one follows, the highest first.
    above: Vec<u16>,
    /// The cliques that its machine has detected.
    detected: CliquesDetected,
    seen: NodeTime,
}

/// AS6802's part in a run; none in a network without it.
pub(crate) fn attach(network: &Network) -> Option<Attached<'_>> {
    let settings = network.as6802.as_ref()?;
    let node = |number: usize| Node {
        gate: Gate::new(network.is_high_integrity(NodeIndex::at(number))),
        cycle: None,
        above: settings.above(settings.cluster_of[number]),
        detected: CliquesDetected::default(),
        seen: NodeTime::default(),
    };
    let maker = |(node, stream): (usize, &Option<StreamIndex>)| {
        let maker = match settings.roles[node] {
            SyncRole::Master(number) => Maker::Master(1 << number),
            SyncRole::CompressionMaster(channel) => Maker::Compression(channel),
            SyncRole::Client => return None,
        };
        Some((network.streams[stream.as_ref()?.index()].source, maker))
    };
    let run = As6802 {
        network,
        settings,
        makers: settings.frames.iter().enumerate().filter_map(maker).collect(),
        nodes: (0..network.nodes.len()).map(node).collect(),
        latest: vec![(Instant::ZERO, SimTime::ZERO); settings.clusters.len()],
    };
    Some(Attached::new(network, "as6802", run))
}

impl As6802<'_> {
    /// The delay that the line before a port adds to a transparent clock.
    fn line_before(&self, port: PortIndex) -> Duration {
        let links = self.network.ports[port.index()].links.expect("a port with a cable");
        let link = &self.network.links[links.ingress.index()];
        link.rate.duration_floor(PCF_ON_LINE.bits()) + link.propagation + link.phy_delay.min
    }

    /// The time of a cluster whose cycle of this number a node began when its clock read `start`.
    fn time_of(&self, node: NodeIndex, (cluster, start, cycle): Cycle, plane: &dyn Plane) -> Instant {
        let network = self.network;
        let settings = network.time_triggered.expect("a time-triggered network");
        let cluster_cycle = network.cluster_cycle().expect("it is synchronised").as_ps();
        let since = plane.reading(node, plane.now()).saturating_since(start);
        let within = settings.integration_cycle.as_ps() * u64::from(cycle) + since.as_ps();
        let all = core::iter::once(node).chain((0..network.nodes.len()).map(NodeIndex::at));
        let near = all.into_iter().find(|node| plane.follows(*node) == Some(cluster));
        Instant::from_ps(match near {
            Some(node) => {
                // The nearest that is the same time of a cluster cycle.
                let near = plane.network_time(node).as_ps() + cluster_cycle / 2;
                let behind = (near + cluster_cycle - within % cluster_cycle) % cluster_cycle;
                near.saturating_sub(behind)
            }
            None => {
                let (latest, at) = self.latest[usize::from(cluster)];
                let latest = latest.as_ps() + plane.now().since(at).as_ps();
                latest + (within % cluster_cycle + cluster_cycle - latest % cluster_cycle) % cluster_cycle
            }
        })
    }

    /// A node's machine gives the cycle from which network time counts, or none.
    fn follow(&mut self, node: NodeIndex, cycle: Option<Cycle>, gives_way: bool, plane: &mut dyn Plane) {
        let before = std::mem::replace(&mut self.nodes[node.index()].cycle, cycle);
        if before == cycle {
            return;
        }
        let had = plane.follows(node).is_some();
        let moves = before.zip(cycle).is_some_and(|((before, ..), (after, ..))| before != after);
        if had && (cycle.is_none() || moves) {
            plane.lose_network_time(node);
        }
        if let Some(cycle) = cycle {
            let time = self.time_of(node, cycle, plane);
            self.latest[usize::from(cycle.0)] = (time, plane.now());
            plane.set_network_time(node, cycle.0, time);
        }
        let follows = plane.follows(node);
        self.nodes[node.index()].seen.note(plane.now().since_start(), had, follows, gives_way);
    }
}

impl NodeTime {
    /// Notes since when a node has network time, or is without.
    fn note(&mut self, now: Duration, had: bool, follows: Option<u16>, gives_way: bool) {
        self.cluster = follows;
        if follows.is_some() && !had {
            self.synchronised_at.get_or_insert(now);
            if let Some(since) = self.without_since.take() {
                self.without_max = self.without_max.max(now.saturating_sub(since));
            }
        } else if had && follows.is_none() {
            if gives_way {
                self.gave_way += 1;
            } else {
                self.lost += 1;
            }
            self.without_since = Some(now);
        }
    }

    /// Notes what a node's machine has found of cliques.
    fn note_cliques(&mut self, now: Duration, before: CliquesDetected, after: CliquesDetected) {
        self.cliques.synchronous += after.synchronous.saturating_sub(before.synchronous);
        self.cliques.asynchronous += after.asynchronous.saturating_sub(before.asynchronous);
        if after.asynchronous > before.asynchronous {
            self.clique_at = Some(now);
        }
    }
}

impl Attachment for As6802<'_> {
    type Machine = Station;

    fn machine(&mut self, node: NodeIndex, now: Instant, _: bool) -> Option<Station> {
        let (part, above) = self.network.synchronised_node(node).expect("every node has a part");
        let lines = self.ports(node).into_iter().map(|port| self.line_before(port));
        Some(Station::new(SyncNode::new(part, &above, now), self.makers.clone(), lines.collect()))
    }

    fn ports(&self, node: NodeIndex) -> Vec<PortIndex> {
        let ports = self.network.nodes[node.index()].ports.clone().map(PortIndex);
        ports.filter(|port| self.network.ports[port.index()].links.is_some()).collect()
    }

    fn streams(&self, node: NodeIndex) -> Vec<StreamIndex> {
        self.settings.frames[node.index()].into_iter().collect()
    }

    fn carrier(&self, node: NodeIndex, _: &Output) -> StreamIndex {
        self.settings.frames[node.index()].expect("clients make no frames")
    }

    fn payload(&self, _: &Output) -> Bytes {
        PCF_PAYLOAD
    }

    fn let_out(&mut self, node: NodeIndex, made: Vec<Output>, now: SimTime) -> Vec<Output> {
        let identity = Identity {
            cluster: self.settings.cluster(node),
            cycles: self.settings.cycles,
            role: self.settings.roles[node.index()],
        };
        self.nodes[node.index()].gate.let_out(identity, made, now)
    }

    fn acts_next(&self, node: NodeIndex) -> Option<SimTime> {
        self.nodes[node.index()].gate.next()
    }

    fn fail(&mut self, node: NodeIndex, fault: Fault, now: SimTime) {
        self.nodes[node.index()].gate.fail(fault, now);
    }

    fn pass(&self, passing: &Passing<'_>, plane: &dyn Plane) -> Option<Vec<u8>> {
        let node = self.network.ports[passing.port.index()].node;
        let had = plane.reading(node, passing.start).saturating_since(plane.reading(node, passing.came));
        let line = passing.from.map_or(Duration::ZERO, |from| {
            let links = self.network.ports[from.index()].links.expect("a hop's port is connected");
            self.line_before(self.network.links[links.egress.index()].to)
        });
        pass(passing.octets, line, had)
    }

    fn settle(&mut self, node: NodeIndex, machine: &mut Station, plane: &mut dyn Plane) {
        let now = plane.now();
        let machine = machine.node();
        let seen = &mut self.nodes[node.index()];
        let before = std::mem::replace(&mut seen.detected, machine.detected());
        seen.seen.note_cliques(now.since_start(), before, machine.detected());
        let own = self.settings.cluster_of[node.index()];
        let cycle = machine.time(plane.reading(node, now)).map(|time| {
            let cluster = time.above.map_or(own, |place| seen.above[place]);
            (cluster, time.start, time.cycle)
        });
        self.follow(node, cycle, machine.gives_way(), plane);
    }

    fn stopped(&mut self, node: NodeIndex, plane: &mut dyn Plane) {
        // A machine that begins anew has found nothing.
        self.nodes[node.index()].detected = CliquesDetected::default();
        self.follow(node, None, false, plane);
    }

    fn finish(self, _: &Machines<'_, Station>, observation: &mut Observation) {
        if let Some(observed) = &mut observation.network_time {
            observed.nodes = self.nodes.into_iter().map(|node| node.seen).collect();
        }
    }
}
