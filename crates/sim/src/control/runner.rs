//! The runner of a mechanism's machines: the part of a run that every protocol needs.
//!
//! Invariant: a machine receives nothing that is later than now, and everything in the order of time. Not here: the
//! contents of frames in transit (`contents.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tautwire_core::control::{Addresses, Event, Machine, Output};
use tautwire_core::gptp::DisciplinedClock;
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};
use tautwire_observe::Table;
use tautwire_units::{Duration, Instant};
use tautwire_wire::EtherType;

use super::contents::{Arrived, Frame};
use super::contract;
use super::{Attachment, Fault, HandedDown, InCommon, Machines, Passing, Plane, Seen, Stamping};
use crate::clock::{LocalClock, SimTime};
use crate::plan::index;
use crate::random::Random;
use crate::result::Observation;

/// An attachment before a run has clocks and a seed.
pub(crate) struct Parts<'n, A> {
    pub(super) network: &'n Network,
    pub(super) purpose: u16,
    pub(super) attachment: A,
}

/// Makes a runner of a mechanism.
pub(crate) trait Make<'n> {
    /// `is_held`: each machine is held to its contract.
    fn make(self: Box<Self>, clocks: &[LocalClock], seed: u64, is_held: bool) -> Box<dyn Runner + 'n>;

    /// With the machine of one node alone; none if its machines are driven in runs alone.
    fn make_one(
        self: Box<Self>,
        clocks: &[LocalClock],
        seed: u64,
        node: NodeIndex,
        common: &InCommon,
    ) -> Option<Box<dyn Runner + 'n>> {
        let _ = (clocks, seed, node, common);
        None
    }
}

impl<'n, A: Attachment + 'n> Make<'n> for Parts<'n, A> {
    fn make(self: Box<Self>, clocks: &[LocalClock], seed: u64, is_held: bool) -> Box<dyn Runner + 'n> {
        Box::new(MachineRunner::new(*self, clocks, seed, (is_held, None)))
    }

    fn make_one(
        self: Box<Self>,
        clocks: &[LocalClock],
        seed: u64,
        node: NodeIndex,
        _: &InCommon,
    ) -> Option<Box<dyn Runner + 'n>> {
        Some(Box::new(MachineRunner::new(*self, clocks, seed, (false, Some(node)))))
    }
}

/// A frame that begins to leave.
#[derive(Debug)]
pub(crate) struct Departure {
    /// By this port.
    pub(crate) port: PortIndex,
    pub(crate) stream: u32,
    pub(crate) frame: Arc<Frame>,
    /// When its first bit leaves.
    pub(crate) start: SimTime,
    /// When its time-stamp point passes the sender.
    pub(crate) left: SimTime,
}

/// The interface of a runner to the event loop, whatever its machines are.
pub(crate) trait Runner: Send {
    /// The streams that carry its frames.
    fn streams(&self) -> Vec<u32>;

    /// The types of its frames, if it can run on real interfaces.
    fn ether_types(&self) -> Vec<EtherType> {
        Vec::new()
    }

    /// The streams that carry its frames on real interfaces, each with a type of them; some have several.
    fn carried(&self) -> Vec<(u32, EtherType)> {
        let (streams, types) = (self.streams(), self.ether_types());
        let of = |stream: u32| types.clone().into_iter().map(move |of_frame| (stream, of_frame));
        streams.into_iter().flat_map(of).collect()
    }

    /// A frame of a stream has come from a real interface: adds what its receivers are to know and its octets do not say; false if it
    /// is for none of them.
    fn complete(&self, stream: u32, frame: &mut Frame) -> bool {
        let _ = (stream, frame);
        true
    }

    /// A frame leaves a port of a real node so much later than it was to: stamps in its octets can be those of its departure.
    fn leaves_late(&mut self, port: PortIndex, octets: &mut [u8], late: Duration) {
        let _ = (port, octets, late);
    }

    /// What its machines know now.
    fn tables(&self) -> Vec<Table> {
        Vec::new()
    }

    /// What was only observed until now is wanted no more.
    fn forget(&mut self) {}

    /// The corrected clocks of nodes at the start.
    fn corrected(&self, clocks: &[LocalClock]) -> Vec<Option<DisciplinedClock>>;

    /// When something is to be done next.
    fn next(&self) -> Option<SimTime>;

    /// The run begins.
    fn begin(&mut self, plane: &mut dyn Plane) {
        let _ = plane;
    }

    /// Does all that is to be done now; whether it goes on when what it sent has gone its way.
    fn drive(&mut self, plane: &mut dyn Plane) -> bool;

    /// A frame begins to leave: its stamps are known; whether something is to be done for it.
    fn left(&mut self, departure: Departure, plane: &dyn Plane) -> bool;

    /// A frame begins to leave a node: what leaves, if that writes into it.
    fn pass(&self, passing: &Passing<'_>, plane: &dyn Plane) -> Option<Vec<u8>>;

    /// A frame of a stream was delivered at a port: its node is to process it.
    fn received(&mut self, stream: u32, port: PortIndex, arrived: Arrived, plane: &dyn Plane);

    /// A node becomes faulty, or is repaired.
    fn fail(&mut self, node: NodeIndex, fault: Fault, plane: &dyn Plane);

    /// The links of ports may have gone down or come up.
    fn links(&mut self, ports: [PortIndex; 2], plane: &mut dyn Plane);

    /// A node stops, or begins anew; its neighbours see their links go and come.
    fn node(&mut self, node: NodeIndex, up: bool, plane: &mut dyn Plane);

    /// The nodes from which it takes what their software hands down, instead of the port.
    fn takes_from(&self) -> Vec<NodeIndex> {
        Vec::new()
    }

    /// It takes a frame that the software of such a node hands down at `ready`, now or later; whether it may act earlier for it.
    fn handed_down(
        &mut self,
        frame: HandedDown,
        node: NodeIndex,
        ready: SimTime,
        plane: &mut dyn Plane,
    ) -> bool {
        let _ = (node, ready);
        plane.hand_on(frame);
        false
    }

    /// The application of such a node creates a frame that answers the last one of `to`.
    fn answers(&mut self, stream: StreamIndex, number: u32, to: StreamIndex) {
        let _ = (stream, number, to);
    }

    /// The frames that it has taken, at the end.
    fn held(&self) -> Vec<HandedDown> {
        Vec::new()
    }

    /// The streams that it begins, instead of the run.
    fn begins(&self) -> Vec<StreamIndex> {
        Vec::new()
    }

    /// Carries out effects that were postponed until all were notified of links or of a node; true if more is left.
    fn carry_out(&mut self, plane: &mut dyn Plane) -> bool {
        let _ = plane;
        false
    }

    /// The run ends.
    fn end(&mut self, plane: &dyn Plane) {
        let _ = plane;
    }

    /// Writes the observations.
    fn finish(self: Box<Self>, observation: &mut Observation);
}

/// A node's machine, and the input that it has not received yet.
pub(crate) struct Seat<M> {
    /// None while the node is stopped.
    pub(crate) machine: Option<M>,
    ports: Vec<PortIndex>,
    /// Items, by the time at which the machine receives them.
    inbox: BTreeMap<(SimTime, u64), Item>,
    busy_until: SimTime,
    random: Random,
    due: Option<SimTime>,
}

/// Input of a machine at its time.
struct Item {
    port: usize,
    frame: Arc<Frame>,
    stamp: Instant,
    /// Its addresses; none of a frame that the machine sent.
    source: Option<Addresses>,
}

/// The runner of all mechanisms whose machines are of `core::control`.
struct MachineRunner<'n, A: Attachment> {
    network: &'n Network,
    attachment: A,
    seats: Vec<Seat<A::Machine>>,
    agenda: BTreeSet<(SimTime, u32)>,
    /// A node that has acted and is to be settled when its frames have gone their way.
    unsettled: Option<usize>,
    /// The streams that carry its frames.
    streams: Vec<u32>,
    queued: u64,
    /// Whether each machine is held to its contract.
    is_held: bool,
}

impl<'n, A: Attachment> MachineRunner<'n, A> {
    /// `is_held`: see [`Make::make`]; `only`: the node that has a machine, if not all of them have one.
    fn new(
        parts: Parts<'n, A>,
        clocks: &[LocalClock],
        seed: u64,
        (is_held, only): (bool, Option<NodeIndex>),
    ) -> Self {
        let Parts { network, purpose, attachment } = parts;
        let mut runner = Self {
            network,
            attachment,
            seats: Vec::with_capacity(clocks.len()),
            agenda: BTreeSet::new(),
            unsettled: None,
            streams: Vec::new(),
            queued: 0,
            is_held,
        };
        for (number, clock) in clocks.iter().enumerate() {
            let node = NodeIndex::at(number);
            let ports = runner.attachment.ports(node);
            let is_here = only.is_none_or(|only| only == node);
            let now = clock.local(SimTime::ZERO);
            runner.streams.extend(runner.attachment.streams(node).into_iter().map(|stream| stream.0));
            runner.seats.push(Seat {
                machine: is_here.then(|| runner.attachment.machine(node, now, false)).flatten(),
                ports,
                inbox: BTreeMap::new(),
                busy_until: SimTime::ZERO,
                random: Random::numbered(seed, purpose, number),
                due: None,
            });
            if is_here {
                runner.wake(number, SimTime::ZERO);
            }
        }
        runner
    }

    /// Has a node's machine act now: it may have something to send.
    fn wake(&mut self, number: usize, now: SimTime) {
        self.set_due(number, Some(now));
    }

    /// Puts a node into the agenda, where it is due next.
    fn schedule(&mut self, number: usize, plane: &dyn Plane) {
        let seat = &mut self.seats[number];
        let node = NodeIndex::at(number);
        let timers = seat.machine.as_ref().and_then(Machine::deadline);
        let queued = seat.inbox.first_key_value().map(|((at, _), _)| *at);
        let timers = timers.map(|reading| plane.true_at(node, reading));
        let own = self.attachment.acts_next(node).filter(|_| seat.machine.is_some());
        self.set_due(
            number,
            timers.into_iter().chain(queued).chain(own).min().map(|due| due.max(plane.now())),
        );
    }

    fn set_due(&mut self, number: usize, due: Option<SimTime>) {
        let seat = &mut self.seats[number];
        if due != seat.due {
            let before = std::mem::replace(&mut seat.due, due);
            if let Some(before) = before {
                self.agenda.remove(&(before, index(number)));
            }
            self.agenda.extend(due.map(|due| (due, index(number))));
        }
    }

    fn enqueue(&mut self, number: usize, at: SimTime, item: Item) {
        self.queued += 1;
        self.seats[number].inbox.insert((at, self.queued), item);
    }

    /// A node's machine acts, and sends what it has to send; whether that was anything.
    fn act(&mut self, number: usize, plane: &mut dyn Plane) -> bool {
        let (now, node) = (plane.now(), NodeIndex::at(number));
        let local = plane.reading(node, now);
        let handle = if self.is_held { contract::handle } else { A::Machine::handle };
        let seat = &mut self.seats[number];
        let mut outputs = Vec::new();
        if let Some(machine) = &mut seat.machine {
            if self.is_held {
                let before = std::iter::from_fn(|| machine.poll());
                outputs.extend(before);
                contract::wake(machine, local);
            }
            while let Some(entry) = seat.inbox.first_entry().filter(|entry| entry.key().0 <= now) {
                let Item { port, frame, stamp, source } = entry.remove();
                let (ether_type, octets) = (frame.ether_type, &*frame.octets);
                handle(
                    machine,
                    local,
                    match source {
                        None => Event::Sent { port, ether_type, octets, stamp },
                        Some(Addresses { source, destination }) => {
                            Event::Received { port, source, destination, ether_type, octets, stamp }
                        }
                    },
                );
            }
            self.attachment.work(node, machine, plane);
            if machine.deadline().is_some_and(|deadline| deadline <= local) {
                handle(machine, local, Event::Due);
            }
            outputs.extend(std::iter::from_fn(|| machine.poll()));
            outputs = self.attachment.let_out(node, outputs, now);
        }
        let sends = !outputs.is_empty();
        for output in outputs {
            self.send(number, output, plane);
        }
        sends
    }

    /// A node has acted: what follows, and when it acts next.
    fn settle(&mut self, number: usize, plane: &mut dyn Plane) {
        if let Some(machine) = &mut self.seats[number].machine {
            self.attachment.settle(NodeIndex::at(number), machine, plane);
        }
        self.schedule(number, plane);
    }

    /// The link of a port may have gone down or come up.
    fn link(&mut self, port: PortIndex, plane: &mut dyn Plane) {
        let Some((number, place)) = self.place(port) else { return };
        let local = plane.reading(NodeIndex::at(number), plane.now());
        let up = plane.is_up(port);
        if let Some(machine) = &mut self.seats[number].machine {
            let handle = if self.is_held { contract::handle } else { A::Machine::handle };
            handle(machine, local, Event::Link { port: place, up });
            self.attachment.linked(port, up, machine, plane);
        }
        self.wake(number, plane.now());
    }

    fn send(&self, number: usize, output: Output, plane: &mut dyn Plane) {
        let stream = self.attachment.carrier(NodeIndex::at(number), &output);
        let payload = self.attachment.payload(&output);
        plane.send(stream, output.into(), payload);
    }

    /// The node and the number of one of its ports to its machine; none if it has no machine, or that does not count the port.
    fn place(&self, port: PortIndex) -> Option<(usize, usize)> {
        let number = self.network.ports[port.index()].node.index();
        let seat = &self.seats[number];
        seat.machine.as_ref()?;
        Some((number, seat.ports.iter().position(|own| *own == port)?))
    }

    /// A stamp of what passes a node's ports at a true time.
    fn stamp(&mut self, number: usize, at: SimTime, plane: &dyn Plane) -> Instant {
        let node = NodeIndex::at(number);
        let Stamping { error, quantum } = self.attachment.stamping(node);
        let late = self.seats[number].random.delay(&error, 0);
        let reading = plane.reading(node, at + late).as_ps();
        let quantum = quantum.as_ps().max(1);
        Instant::from_ps(reading / quantum * quantum)
    }
}

impl<A: Attachment> Runner for MachineRunner<'_, A> {
    fn streams(&self) -> Vec<u32> {
        self.streams.clone()
    }

    fn ether_types(&self) -> Vec<EtherType> {
        self.attachment.ether_types()
    }

    fn tables(&self) -> Vec<Table> {
        self.attachment.tables(&Machines(&self.seats))
    }

    fn forget(&mut self) {
        self.attachment.forget();
    }

    fn corrected(&self, clocks: &[LocalClock]) -> Vec<Option<DisciplinedClock>> {
        let of = |(number, clock): (usize, &LocalClock)| {
            self.attachment.corrected(NodeIndex::at(number), clock.local(SimTime::ZERO))
        };
        clocks.iter().enumerate().map(of).collect()
    }

    fn next(&self) -> Option<SimTime> {
        let first = self.agenda.first().map(|(time, _)| *time);
        let request = self.attachment.next_request().map(|(time, _)| time);
        first.into_iter().chain(request).chain(self.attachment.next_look()).min()
    }

    fn begin(&mut self, plane: &mut dyn Plane) {
        self.attachment.begin(plane);
    }

    fn drive(&mut self, plane: &mut dyn Plane) -> bool {
        let now = plane.now();
        if let Some(number) = self.unsettled.take() {
            self.settle(number, plane);
        }
        while let Some((_, node)) = self.attachment.next_request().filter(|(time, _)| *time <= now) {
            self.attachment.request(node, self.seats[node.index()].machine.as_mut(), plane);
            self.wake(node.index(), now);
        }
        while let Some((_, number)) = self.agenda.first().copied().filter(|(time, _)| *time <= now) {
            if self.act(number as usize, plane) && A::FRAMES_FIRST {
                self.unsettled = Some(number as usize);
                return true;
            }
            self.settle(number as usize, plane);
        }
        if self.attachment.carry_out(plane) {
            return true;
        }
        if self.attachment.next_look().is_some_and(|at| at <= now) {
            self.attachment.look(&Machines(&self.seats), plane);
        }
        false
    }

    fn left(&mut self, departure: Departure, plane: &dyn Plane) -> bool {
        let Departure { port: own, stream, frame, start, left } = departure;
        let maker = self.network.streams[stream as usize].talker;
        let Some((number, port)) = self.place(own).filter(|(node, _)| *node == maker.index()) else {
            return false;
        };
        let Frame { ether_type, octets, .. } = &*frame;
        if !self.attachment.departs(&Seen { port: own, ether_type: *ether_type, octets, at: start }) {
            return false;
        }
        let stamp = self.stamp(number, left, plane);
        self.enqueue(number, left, Item { port, frame, stamp, source: None });
        self.schedule(number, plane);
        true
    }

    fn pass(&self, passing: &Passing<'_>, plane: &dyn Plane) -> Option<Vec<u8>> {
        self.attachment.pass(passing, plane)
    }

    fn received(&mut self, stream: u32, port: PortIndex, arrived: Arrived, plane: &dyn Plane) {
        let Arrived { frame, comes } = arrived;
        let Some((number, place)) = self.place(port) else { return };
        let stamp = self.stamp(number, comes, plane);
        let seat = &mut self.seats[number];
        let mut draw = |delay: &_, octets| seat.random.delay(delay, octets);
        let now = plane.now();
        let came = Seen { port, ether_type: frame.ether_type, octets: &frame.octets, at: now };
        let done = match self.attachment.processing(&came, &mut draw) {
            Some(taken) => {
                seat.busy_until = seat.busy_until.max(now) + taken;
                seat.busy_until
            }
            None => now,
        };
        let own = &self.network.streams[stream as usize];
        let own = Addresses { destination: own.destination, source: own.source };
        let source = Some(frame.addresses.unwrap_or(own));
        self.enqueue(number, done, Item { port: place, frame, stamp, source });
        self.schedule(number, plane);
    }

    fn fail(&mut self, node: NodeIndex, fault: Fault, plane: &dyn Plane) {
        self.attachment.fail(node, fault, plane.now());
        self.schedule(node.index(), plane);
    }

    fn links(&mut self, ports: [PortIndex; 2], plane: &mut dyn Plane) {
        for port in ports {
            self.link(port, plane);
        }
    }

    fn carry_out(&mut self, plane: &mut dyn Plane) -> bool {
        self.attachment.carry_out(plane)
    }

    fn node(&mut self, node: NodeIndex, up: bool, plane: &mut dyn Plane) {
        let local = plane.reading(node, plane.now());
        let seat = &mut self.seats[node.index()];
        let was_running = seat.machine.is_some();
        if let Some(machine) = seat.machine.take() {
            self.attachment.keep(node, machine);
        }
        seat.inbox.clear();
        seat.busy_until = SimTime::ZERO;
        if was_running || !up {
            self.attachment.stopped(node, plane);
        }
        if up {
            self.seats[node.index()].machine = self.attachment.machine(node, local, true);
            self.wake(node.index(), plane.now());
        } else {
            self.set_due(node.index(), None);
        }
        for port in self.network.nodes[node.index()].ports.clone().map(PortIndex) {
            let Some(links) = self.network.ports[port.index()].links else { continue };
            if up && (A::KEEPS || !plane.is_up(port)) {
                self.link(port, plane);
            }
            self.link(self.network.links[links.egress.index()].to, plane);
        }
    }

    fn end(&mut self, plane: &dyn Plane) {
        self.attachment.end(plane);
    }

    fn finish(self: Box<Self>, observation: &mut Observation) {
        self.attachment.finish(&Machines(&self.seats), observation);
    }
}
