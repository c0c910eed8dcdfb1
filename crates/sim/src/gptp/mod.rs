//! gPTP in a run: the error of every node's grandmaster time, and the clocks that it corrects.
//!
//! A message is a frame of its port's own stream. It is stamped where the bit after its start delimiter passes the
//! interface: by the sender's clock when it leaves, by the receiver's when it comes, rounded down to the node's
//! quantum and late by its error. Between a message's arrival and its effects lies the node's processing time; in a
//! bridge that is the residence time. True time only samples the result: a node's time of the grandmaster, less the
//! reading of the grandmaster's clock at that moment.
//!
//! Not here: the machines (`core`), the delivery of messages to them (`control/runner.rs`).

mod discipline;

use tautwire_core::gptp::peer_delay::reading_ps;
use tautwire_core::gptp::{DisciplinedClock, GptpNode};
use tautwire_model::Network;
use tautwire_model::gptp::Gptp as Settings;
use tautwire_model::network::{Delay, NodeIndex, PortIndex, StreamIndex};
use tautwire_observe::SignedMoments;
use tautwire_units::{Duration, Instant};

use crate::clock::SimTime;
use crate::control::{Attached, Attachment, Machines, Plane, Seen, Stamping};
use crate::plan::index;
use crate::random::Purpose;
use crate::result::Observation;

use discipline::Discipline;

/// Observations of a node's time.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockObservation {
    /// The node.
    pub node: NodeIndex,
    /// The node that it follows at the end of the run, itself perhaps; none without a grandmaster.
    pub grandmaster: Option<NodeIndex>,
    /// Ports that are capable (asCapable) at the end.
    pub capable_ports: u32,
    /// Its time of the grandmaster, less the reading of that grandmaster's clock, in samples after the warm-up.
    pub offset: SignedMoments,
    /// Samples in which it had no time.
    pub without: u64,
    /// When it first had the time of a grandmaster, true time since the start.
    pub synchronised_at: Option<Duration>,
    /// Its corrected clock, of an end station in a network with a servo.
    pub corrected: Option<CorrectedObservation>,
}

/// Observations of a corrected clock.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CorrectedObservation {
    /// Its reading, less that of its grandmaster's clock, in samples after the warm-up.
    pub offset: SignedMoments,
    /// How often it was stepped.
    pub steps: u64,
}

/// gPTP of a run.
struct Gptp<'n> {
    network: &'n Network,
    settings: &'n Settings,
    nodes: Vec<Node>,
    next_sample: SimTime,
}

/// The observed state of a node.
#[derive(Default)]
struct Node {
    offset: SignedMoments,
    without: u64,
    synchronised_at: Option<Duration>,
    /// Of an end station in a network with a servo.
    discipline: Option<Discipline>,
}

/// gPTP's part in a run; none in a network without it.
pub(crate) fn attach(network: &Network) -> Option<Attached<'_>> {
    let settings = network.gptp.as_ref()?;
    let gptp = Gptp {
        network,
        settings,
        nodes: network.nodes.iter().map(|_| Node::default()).collect(),
        next_sample: SimTime::ZERO + network.run.warm_up.max(settings.sample_interval),
    };
    Some(Attached::drawing(network, Purpose::Gptp as u16, gptp))
}

/// The node whose clock a machine follows.
fn grandmaster(network: &Network, machine: &GptpNode) -> Option<NodeIndex> {
    let identity = machine.grandmaster()?.identity;
    (0..network.nodes.len()).map(NodeIndex::at).find(|node| network.gptp_identity(*node) == identity)
}

impl Attachment for Gptp<'_> {
    type Machine = GptpNode;

    fn machine(&mut self, node: NodeIndex, now: Instant, is_back: bool) -> Option<GptpNode> {
        if !is_back {
            self.nodes[node.index()].discipline = Discipline::new(self.network, node, now);
        }
        Some(GptpNode::new(self.network.gptp_node(node), now))
    }

    fn ports(&self, node: NodeIndex) -> Vec<PortIndex> {
        self.network.gptp_ports(node)
    }

    fn stream(&self, port: PortIndex) -> Option<StreamIndex> {
        self.settings.messages[port.index()]
    }

    fn processing(
        &mut self,
        came: &Seen<'_>,
        draw: &mut dyn FnMut(&Delay, u64) -> Duration,
    ) -> Option<Duration> {
        let node = self.network.ports[came.port.index()].node;
        Some(draw(&self.settings.nodes[node.index()].processing, 0))
    }

    fn stamping(&self, node: NodeIndex) -> Stamping {
        let settings = &self.settings.nodes[node.index()];
        Stamping { error: settings.stamp_error, quantum: settings.stamp_quantum }
    }

    fn corrected(&self, node: NodeIndex, _: Instant) -> Option<DisciplinedClock> {
        self.nodes[node.index()].discipline.as_ref().map(|discipline| discipline.clock)
    }

    fn settle(&mut self, node: NodeIndex, machine: &mut GptpNode, plane: &mut dyn Plane) {
        let now = plane.now();
        let local = plane.reading(node, now);
        let Some(time) = machine.grandmaster_time(local) else { return };
        let seen = &mut self.nodes[node.index()];
        seen.synchronised_at.get_or_insert(now.since_start());
        if let Some(discipline) = &mut seen.discipline
            && let Some(adjustment) = discipline.correct(local, time)
        {
            plane.correct_clock(node, discipline.clock, adjustment);
        }
    }

    fn next_look(&self) -> Option<SimTime> {
        Some(self.next_sample)
    }

    /// How far every node's time is off.
    fn look(&mut self, machines: &Machines<'_, GptpNode>, plane: &mut dyn Plane) {
        let now = plane.now();
        self.next_sample = now + self.settings.sample_interval;
        for (number, seen) in self.nodes.iter_mut().enumerate() {
            let node = NodeIndex::at(number);
            let local = plane.reading(node, now);
            let known = machines.of(node).and_then(|machine| {
                Some((machine.grandmaster_time(local)?, grandmaster(self.network, machine)?))
            });
            let Some((time, master)) = known else {
                seen.without += 1;
                continue;
            };
            let reading = plane.reading(master, now);
            let offset = i64::try_from(time - reading_ps(reading)).unwrap_or(i64::MAX);
            if let Some(discipline) = &mut seen.discipline {
                let ahead = discipline.clock.reading(local) - time + i128::from(offset);
                discipline.observed.offset.add(i64::try_from(ahead).unwrap_or(i64::MAX));
            }
            seen.offset.add(offset);
        }
    }

    fn finish(self, machines: &Machines<'_, GptpNode>, observation: &mut Observation) {
        let of = |(number, seen): (usize, Node)| {
            let node = NodeIndex::at(number);
            let machine = machines.of(node);
            let ports = 0..self.network.gptp_ports(node).len();
            let capable =
                machine.map(|machine| ports.filter(|port| machine.peer_delay(*port).is_capable()).count());
            ClockObservation {
                node,
                grandmaster: machine.and_then(|machine| grandmaster(self.network, machine)),
                capable_ports: index(capable.unwrap_or(0)),
                offset: seen.offset,
                without: seen.without,
                synchronised_at: seen.synchronised_at,
                corrected: seen.discipline.map(|discipline| discipline.observed),
            }
        };
        observation.clocks = self.nodes.into_iter().enumerate().map(of).collect();
    }
}
