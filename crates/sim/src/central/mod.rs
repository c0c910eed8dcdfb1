//! Central configuration in a run: CUC, CNC and the bridges that they configure.
//!
//! Every node processes received messages one after the other, each for its time, in the same queue as its MRPDUs; a
//! test of the CNC goes before waiting messages, with a time of its own. `roles.rs` has the effects of a message,
//! `paths.rs` what a stream needs at each node, `test.rs` the CNC's test of bandwidth; starting streams, opening ports
//! and ladders are those of stream reservation (`../srp`).

mod note;
mod paths;
mod roles;
mod test;

use std::collections::{BTreeMap, BTreeSet};

use tautwire_core::central::{CentralNode, ControlFrame, Pair, Work};
use tautwire_core::control::Output;
use tautwire_model::Network;
use tautwire_model::central::CentralConfiguration;
use tautwire_model::network::{Delay, NodeIndex, NodeKind, PortIndex, StreamIndex};
use tautwire_units::{Bytes, Duration, Instant};
use tautwire_wire::srp::FailureCode;

use crate::clock::SimTime;
use crate::control::{Attached, Attachment, Machines, Plane, Seen};
use crate::control_loss::{ControlLoss, LossPlace, LossReason};
use crate::random::{Purpose, Random};
use crate::refusal::Refusal;
use crate::result::Observation;
use crate::srp::{RungEvent, Srp};

use test::Test;

pub use note::ControlNote;
pub use test::AdmissionControl;

/// Payload of a frame that only acknowledges.
const ACKNOWLEDGEMENT: Bytes = Bytes::new(46);

/// Central configuration of a run.
struct Central<'n> {
    network: &'n Network,
    settings: &'n CentralConfiguration,
    srp: Srp<'n>,
    seed: u64,
    nodes: Vec<Node>,
    /// The stream of each channel's direction.
    streams: BTreeMap<(u32, u32), StreamIndex>,
    test: Test,
    refusals: Vec<Refusal>,
    /// Frames that nodes refused, those of machines that are gone too.
    refused: BTreeMap<NodeIndex, u64>,
}

/// State of a node in addition to its machine.
struct Node {
    /// Its present work, and until when.
    doing: Option<(SimTime, Work)>,
    /// It is idle while work waits, since this time.
    idle: Option<SimTime>,
    /// Of a bridge: the listeners for which it holds a reservation, by port and stream.
    held: BTreeMap<(u16, u32), BTreeSet<u32>>,
    /// Of an end station: streams that it requests as soon as they are offered, and streams that are offered.
    waits_for: BTreeSet<Pair>,
    available: BTreeSet<Pair>,
    random: Random,
    session: u16,
}

/// Central configuration's part in a run, stream reservation with it; none in a network without it.
pub(crate) fn attach(
    network: &Network,
    seed: u64,
    bounds: Option<Box<dyn AdmissionControl>>,
) -> Option<Attached<'_>> {
    let reservation = network.srp.as_ref()?;
    let settings = reservation.central.as_ref()?;
    let streams = settings.channels.iter();
    let run = Central {
        network,
        settings,
        srp: Srp::new(network, reservation, seed),
        seed,
        nodes: (0..network.nodes.len()).map(|number| Node::new(number, 0, seed)).collect(),
        streams: streams.map(|channel| ((channel.from.0, channel.to.0), channel.stream)).collect(),
        test: Test::new(network, settings.test, bounds),
        refusals: Vec::new(),
        refused: BTreeMap::new(),
    };
    Some(Attached::new(network, "central", run))
}

impl Node {
    /// A node that begins a session.
    fn new(number: usize, session: u16, seed: u64) -> Self {
        Self {
            doing: None,
            idle: None,
            held: BTreeMap::new(),
            waits_for: BTreeSet::new(),
            available: BTreeSet::new(),
            random: Random::new(seed, Purpose::Central, number + (usize::from(session) << 24)),
            session,
        }
    }
}

impl Central<'_> {
    fn is_bridge(&self, node: NodeIndex) -> bool {
        is_bridge(self.network, node.index())
    }

    fn is_cnc(&self, node: NodeIndex) -> bool {
        self.settings.cnc == node
    }

    /// A node has stopped: what it knew is lost, and its next session has another number.
    fn restart(&mut self, node: NodeIndex) {
        let session = self.nodes[node.index()].session.saturating_add(1);
        self.nodes[node.index()] = Node::new(node.index(), session, self.seed);
        if self.is_cnc(node) {
            self.test.clear(self.network);
        }
    }

    /// Frames that a node's machine has refused since it began.
    fn note_refused(&mut self, node: NodeIndex, machine: &CentralNode) {
        if machine.refused() > 0 {
            *self.refused.entry(node).or_default() += machine.refused();
        }
    }

    /// Records what a node has received.
    fn report_heard(&mut self, node: NodeIndex, machine: &mut CentralNode, now: SimTime) {
        while let Some((from, message)) = machine.poll_heard() {
            if let Some(stream) = message.stream() {
                let event = RungEvent::ControlReceived(NodeIndex(from), ControlNote::of(&message));
                self.srp.rung(stream, now, node, event);
            }
        }
    }

    /// The effects of what a node has received by MSRP.
    fn follow(&mut self, node: NodeIndex, machine: &mut CentralNode, changed: bool, plane: &mut dyn Plane) {
        let changed = machine.srp_mut().take_changed() || changed;
        self.srp.follow(node, machine.srp_mut(), changed, plane);
        if changed {
            self.pass_notes(node, machine);
        }
    }
}

impl Attachment for Central<'_> {
    type Machine = CentralNode;

    const FRAMES_FIRST: bool = true;

    fn machine(&mut self, node: NodeIndex, now: Instant, is_back: bool) -> Option<CentralNode> {
        let srp = self.srp.node(node, now, is_back);
        let mut machine = CentralNode::new(node.0, srp, paths::listeners(self.network));
        // What the other end sends comes with the addresses of the stream of that direction.
        let channels = self.settings.channels.iter().filter(|channel| channel.to == node);
        let address = |stream: StreamIndex| self.network.streams[stream.index()].source;
        let peers = channels.map(|channel| (channel.from.0, address(channel.stream)));
        let session = self.nodes[node.index()].session;
        machine.connect(peers, self.settings.timing, session, now);
        if self.is_cnc(node) {
            machine.control(paths::controller(self.network));
        }
        if self.settings.cuc == Some(node) {
            machine.configure_users(paths::users(self.network));
        }
        if is_back && self.settings.cuc.is_some() {
            for request in self.srp.requests.done_at(node) {
                self.ask_cuc(&mut machine, request);
            }
        }
        Some(machine)
    }

    fn ports(&self, node: NodeIndex) -> Vec<PortIndex> {
        self.srp.ports(node)
    }

    fn streams(&self, node: NodeIndex) -> Vec<StreamIndex> {
        let channels = self.settings.channels.iter().filter(|channel| channel.from == node);
        self.srp.streams(node).into_iter().chain(channels.map(|channel| channel.stream)).collect()
    }

    fn carrier(&self, node: NodeIndex, output: &Output) -> StreamIndex {
        match read(output) {
            Some(frame) => self.streams[&(frame.from, frame.to)],
            None => self.srp.carrier(node, output),
        }
    }

    fn payload(&self, output: &Output) -> Bytes {
        match read(output) {
            Some(frame) if frame.message.is_some() => self.settings.message_size,
            Some(_) => ACKNOWLEDGEMENT,
            None => self.srp.payload(output),
        }
    }

    fn processing(
        &mut self,
        came: &Seen<'_>,
        draw: &mut dyn FnMut(&Delay, u64) -> Duration,
    ) -> Option<Duration> {
        if came.ether_type == ControlFrame::ETHER_TYPE { None } else { self.srp.processing(came, draw) }
    }

    fn departs(&mut self, leaving: &Seen<'_>) -> bool {
        self.srp.departs(leaving)
    }

    fn let_out(&mut self, node: NodeIndex, made: Vec<Output>, now: SimTime) -> Vec<Output> {
        for (to, message) in
            made.iter().filter_map(read).filter_map(|frame| Some((frame.to, frame.message?.1)))
        {
            if let Some(stream) = message.stream() {
                let event = RungEvent::ControlSent(NodeIndex(to), ControlNote::of(&message));
                self.srp.rung(stream, now, node, event);
            }
        }
        made
    }

    fn acts_next(&self, node: NodeIndex) -> Option<SimTime> {
        let node = &self.nodes[node.index()];
        node.doing.as_ref().map(|(until, _)| *until).or(node.idle)
    }

    fn begin(&mut self, plane: &mut dyn Plane) {
        self.srp.begin(plane);
    }

    fn next_request(&self) -> Option<(SimTime, NodeIndex)> {
        self.srp.next_request()
    }

    fn request(&mut self, node: NodeIndex, machine: Option<&mut CentralNode>, plane: &mut dyn Plane) {
        if self.settings.cuc.is_none() {
            return self.srp.request(node, machine.map(CentralNode::srp_mut), plane);
        }
        let request = self.srp.requests.take();
        let Some(machine) = machine else { return };
        self.srp.rung(request.stream, plane.now(), node, request.event);
        if request.event == RungEvent::Withdrawn {
            self.srp.switch_stream(node, request.stream, false, plane);
        }
        self.ask_cuc(machine, request);
    }

    /// A node's processor: it is done with something, and begins with the next.
    fn work(&mut self, node: NodeIndex, machine: &mut CentralNode, plane: &mut dyn Plane) {
        let now = plane.now();
        self.report_heard(node, machine, now);
        let done = self.nodes[node.index()].doing.take_if(|(until, _)| *until <= now);
        if let Some((_, work)) = done {
            self.perform(node, machine, work, plane);
        }
        self.nodes[node.index()].idle = None;
        if self.nodes[node.index()].doing.is_none()
            && let Some(work) = machine.take_work()
        {
            let taken = self.time_of(node, &work);
            self.nodes[node.index()].doing = Some((now + taken, work));
        }
    }

    fn linked(&mut self, port: PortIndex, up: bool, machine: &mut CentralNode, plane: &mut dyn Plane) {
        let node = self.network.ports[port.index()].node;
        self.follow(node, machine, false, plane);
        self.report_cable(node, machine, port, up);
    }

    fn settle(&mut self, node: NodeIndex, machine: &mut CentralNode, plane: &mut dyn Plane) {
        self.follow(node, machine, false, plane);
        let state = &mut self.nodes[node.index()];
        state.idle = (state.doing.is_none() && machine.has_work()).then(|| plane.now());
    }

    fn keep(&mut self, node: NodeIndex, machine: CentralNode) {
        self.note_refused(node, &machine);
    }

    fn stopped(&mut self, node: NodeIndex, plane: &mut dyn Plane) {
        self.srp.stopped(node, plane);
        self.restart(node);
    }

    fn carry_out(&mut self, plane: &mut dyn Plane) -> bool {
        self.srp.carry_out(plane)
    }

    fn end(&mut self, plane: &dyn Plane) {
        self.srp.end(plane);
    }

    fn finish(mut self, machines: &Machines<'_, CentralNode>, observation: &mut Observation) {
        for node in (0..self.network.nodes.len()).map(NodeIndex::at) {
            if let Some(machine) = machines.of(node) {
                self.note_refused(node, machine);
            }
        }
        observation.control_losses.extend(refused_frames(&self.refused));
        self.srp.write_to(observation);
        observation.refusals.extend(self.refusals);
    }
}

/// The frames that nodes refused, as losses.
fn refused_frames(refused: &BTreeMap<NodeIndex, u64>) -> impl Iterator<Item = ControlLoss> {
    refused.iter().map(|(node, frames)| ControlLoss {
        stream: None,
        place: LossPlace::Node(*node),
        reason: LossReason::Refused("control"),
        frames: *frames,
    })
}

/// The message of a node; none of an MRPDU.
fn read(output: &Output) -> Option<ControlFrame> {
    let is_own = output.ether_type == ControlFrame::ETHER_TYPE;
    is_own.then(|| ControlFrame::parse(&output.octets).expect("a node's own frame").0)
}

/// Whether a node is a bridge.
fn is_bridge(network: &Network, node: usize) -> bool {
    matches!(network.nodes[node].kind, NodeKind::Bridge { .. })
}

/// The verdict of a CNC whose bounds do not hold: the latency would be too long (802.1Q-2022 Table 46-15).
const MAX_LATENCY_EXCEEDED: FailureCode = FailureCode(21);
/// The verdict of a CNC where a frame could be lost: a bridge has not the resources.
const NO_RESOURCES: FailureCode = FailureCode(2);
