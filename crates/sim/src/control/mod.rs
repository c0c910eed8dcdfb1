//! Control mechanisms in a run: the one runner that drives their machines, and the interface of a mechanism.
//!
//! ```text
//!  machine (core::control) ◄── events ── runner ── octets ──► frames of the mechanism's streams ──► runners of their listeners
//!                          ── octets ──►   │
//!  attachment ── effects ──► plane (clocks, talkers, ports)
//! ```
//! A mechanism is one [`Attachment`]: it makes the machine of every node and defines which streams carry its frames,
//! how long a node takes for one, and how its ports stamp. The runner does the rest for all of them alike: received
//! frames wait for the processor, one after the other; deadlines follow the node's clock; a node that stops loses its
//! machine and its unprocessed frames, and restarts; its neighbours see their links go down and up. The attachment
//! carries out the effects of a machine's state on the data plane through [`Plane`], which knows no mechanism.
//!
//! `contents.rs` keeps the contents of protocols' frames in transit; `hosted.rs` drives the runners of a node on real interfaces.
//!
//! Order at one instant: mechanisms in the order of the list in `mechanisms.rs`, then nodes.

pub(crate) mod contents;
mod contract;
mod controls;
mod hosted;
mod plane;
mod runner;

use tautwire_core::control::{Machine, Output};
use tautwire_core::gptp::DisciplinedClock;
use tautwire_model::Network;
use tautwire_model::network::{Delay, NodeIndex, PortIndex, StreamIndex};
use tautwire_observe::Table;
use tautwire_units::{Bytes, Duration, Instant};
use tautwire_wire::EtherType;

use crate::clock::SimTime;
use crate::random::of_mechanism;
use crate::result::Observation;

pub use contents::{Frame, Metadata};
pub(crate) use controls::Controls;
pub use hosted::{Hosted, InCommon, Wish};
pub use plane::{
    CYCLES, CycleFrame, Cycles, Filtering, HandedDown, HandingDown, NetworkTime, Notes, Plane, Policing,
    Pooling, Servers, Shaping, Shut, Talkers,
};
pub(crate) use plane::{Filters, FirstCycles, Policers, Pools};
pub(crate) use runner::{Departure, Make, Runner};
use runner::{Parts, Seat};

/// The interface of a mechanism that is a plug-in.
pub trait PlugIn: Sync {
    /// The key of its section in the description.
    fn section(&self) -> &'static str;

    /// Whether its machines can be driven on real interfaces: frames of known types that go to the neighbour, and effects that a
    /// [`Wish`] has.
    fn runs_live(&self) -> bool {
        false
    }

    /// Its part in the runs of a network; none if the network does not have it.
    fn attach<'n>(&self, network: &'n Network) -> Option<Attached<'n>>;
}

/// A mechanism in a run of one network.
pub trait Attachment: Send {
    /// One node's part.
    type Machine: Machine + Clone + Send;

    /// Whether a restarted machine may be the earlier one ([`Self::keep`]): it is notified of all links then.
    const KEEPS: bool = false;
    /// Whether what a node sends is handed to its ports before what follows from its state is done; else that is when all have acted.
    const FRAMES_FIRST: bool = false;

    /// The machine of a node that begins when its clock reads `now`: at the start of the run, or when it is back. None if the node
    /// has no part.
    fn machine(&mut self, node: NodeIndex, now: Instant, is_back: bool) -> Option<Self::Machine>;

    /// The ports of a node that its machine counts, in this order.
    fn ports(&self, node: NodeIndex) -> Vec<PortIndex>;

    /// The stream that carries what a port sends to its neighbour, of a mechanism whose frames go no further.
    fn stream(&self, port: PortIndex) -> Option<StreamIndex> {
        let _ = port;
        None
    }

    /// All streams that carry frames of a node's machine.
    fn streams(&self, node: NodeIndex) -> Vec<StreamIndex> {
        self.ports(node).into_iter().filter_map(|port| self.stream(port)).collect()
    }

    /// The types of its frames, if it can run on real interfaces.
    fn ether_types(&self) -> Vec<EtherType> {
        Vec::new()
    }

    /// The stream that carries a frame.
    fn carrier(&self, node: NodeIndex, output: &Output) -> StreamIndex {
        self.stream(self.ports(node)[output.port]).expect("a port of a machine has a stream")
    }

    /// Octets behind a frame's type, with what pads it.
    fn payload(&self, output: &Output) -> Bytes {
        Bytes::new(output.octets.len() as u64)
    }

    /// A frame was received: its node's processing time, one frame after the other; none if its machine gets it at
    /// once, whatever the node is doing. `draw` draws a delay for so many octets.
    fn processing(
        &mut self,
        came: &Seen<'_>,
        draw: &mut dyn FnMut(&Delay, u64) -> Duration,
    ) -> Option<Duration> {
        let _ = (came, draw);
        Some(Duration::ZERO)
    }

    /// A frame of a node's machine begins to leave; true if the machine is notified.
    fn departs(&mut self, leaving: &Seen<'_>) -> bool {
        let _ = leaving;
        true
    }

    /// How the ports of a node stamp.
    fn stamping(&self, node: NodeIndex) -> Stamping {
        let _ = node;
        Stamping::default()
    }

    /// The corrected clock that a node's applications see, if the mechanism corrects it, when its oscillator reads `now` at the start.
    fn corrected(&self, node: NodeIndex, now: Instant) -> Option<DisciplinedClock> {
        let _ = (node, now);
        None
    }

    /// What a node lets out of what its machine sends now: all of it, unless it is faulty or watches itself.
    fn let_out(&mut self, node: NodeIndex, made: Vec<Output>, now: SimTime) -> Vec<Output> {
        let _ = (node, now);
        made
    }

    /// When a node has something to let out or to do whatever its machine does, true time.
    fn acts_next(&self, node: NodeIndex) -> Option<SimTime> {
        let _ = node;
        None
    }

    /// A node becomes faulty in a way that the timeline states, or is repaired.
    fn fail(&mut self, node: NodeIndex, fault: Fault, now: SimTime) {
        let _ = (node, fault, now);
    }

    /// A frame of the mechanism leaves a node: what leaves, if the node writes into it.
    fn pass(&self, passing: &Passing<'_>, plane: &dyn Plane) -> Option<Vec<u8>> {
        let _ = (passing, plane);
        None
    }

    /// The run begins, and no machine has acted: what holds for the data plane.
    fn begin(&mut self, plane: &mut dyn Plane) {
        let _ = plane;
    }

    /// When an application wants something next, and of which node's machine.
    fn next_request(&self) -> Option<(SimTime, NodeIndex)> {
        None
    }

    /// The application makes its request; it has no effect if the node is stopped.
    fn request(&mut self, node: NodeIndex, machine: Option<&mut Self::Machine>, plane: &mut dyn Plane) {
        let _ = (node, machine, plane);
    }

    /// A machine has processed a received frame: further work of its node, when it is due ([`Self::acts_next`]).
    fn work(&mut self, node: NodeIndex, machine: &mut Self::Machine, plane: &mut dyn Plane) {
        let _ = (node, machine, plane);
    }

    /// A machine was notified of a link: the immediate effects.
    fn linked(&mut self, port: PortIndex, up: bool, machine: &mut Self::Machine, plane: &mut dyn Plane) {
        let _ = (port, up, machine, plane);
    }

    /// A machine has acted: what follows from it for the data plane.
    fn settle(&mut self, node: NodeIndex, machine: &mut Self::Machine, plane: &mut dyn Plane) {
        let _ = (node, machine, plane);
    }

    /// A node has stopped: its machine, from which the one of the node that is back may be made.
    fn keep(&mut self, node: NodeIndex, machine: Self::Machine) {
        let _ = (node, machine);
    }

    /// A node has stopped, and its machine is gone: what follows from that for the data plane.
    fn stopped(&mut self, node: NodeIndex, plane: &mut dyn Plane) {
        let _ = (node, plane);
    }

    /// All machines have acted, or were notified of a link or of a node: carries out postponed effects. True if more
    /// is left, which is done after the frames that may leave because of these have left.
    fn carry_out(&mut self, plane: &mut dyn Plane) -> bool {
        let _ = plane;
        false
    }

    /// When the mechanism itself looks at all of its machines next.
    fn next_look(&self) -> Option<SimTime> {
        None
    }

    /// It looks at all of its machines.
    fn look(&mut self, machines: &Machines<'_, Self::Machine>, plane: &mut dyn Plane) {
        let _ = (machines, plane);
    }

    /// The run ends: what the data plane has counted.
    fn end(&mut self, plane: &dyn Plane) {
        let _ = plane;
    }

    /// What its machines know now.
    fn tables(&self, machines: &Machines<'_, Self::Machine>) -> Vec<Table> {
        let _ = machines;
        Vec::new()
    }

    /// What was only observed until now is wanted no more: the machines run without end.
    fn forget(&mut self) {}

    /// The run has ended: what was observed.
    fn finish(self, machines: &Machines<'_, Self::Machine>, observation: &mut Observation);
}

/// A frame of a mechanism at a port.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The port.
    pub port: PortIndex,
    /// Its type.
    pub ether_type: EtherType,
    /// The octets after the type, without padding.
    pub octets: &'a [u8],
    /// When its first bit leaves, or its last one has come.
    pub at: SimTime,
}

/// A fault of a node that sends frames of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It sends frames of its own in addition to those of its machine, at this interval; none: it stops.
    Babble(Option<Duration>),
    /// Its frames leave so much later.
    Mistime(Duration),
}

/// A frame of a mechanism that begins to leave a node.
#[derive(Clone, Copy, Debug)]
pub struct Passing<'a> {
    /// The port that it leaves by.
    pub port: PortIndex,
    /// The port of the hop before, from which it came; none at its talker.
    pub from: Option<PortIndex>,
    /// When it came; at its talker, when it was made.
    pub came: SimTime,
    /// When its first bit leaves.
    pub start: SimTime,
    /// Its octets behind the type, as they came.
    pub octets: &'a [u8],
}

/// How ports stamp frames: late by an error, in steps that are rounded down.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stamping {
    /// By how much a stamp is late.
    pub error: Delay,
    /// Its step; none if zero.
    pub quantum: Duration,
}

/// The machines of all nodes.
pub struct Machines<'h, M>(&'h [Seat<M>]);

impl<M> core::fmt::Debug for Machines<'_, M> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Machines of {} nodes", self.0.len())
    }
}

impl<'h, M> Machines<'h, M> {
    /// That of a node; none while it is stopped.
    #[must_use]
    pub fn of(&self, node: NodeIndex) -> Option<&'h M> {
        self.0[node.index()].machine.as_ref()
    }
}

/// A mechanism's part in a run, whatever its machines are.
pub struct Attached<'n>(pub(crate) Box<dyn Make<'n> + 'n>);

impl core::fmt::Debug for Attached<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Attached")
    }
}

impl<'n> Attached<'n> {
    /// That of an attachment; random numbers of its nodes are those of `name`.
    #[must_use]
    pub fn new<A: Attachment + 'n>(network: &'n Network, name: &'static str, attachment: A) -> Self {
        Self::drawing(network, of_mechanism(name), attachment)
    }

    /// As [`Attached::new`], with random numbers of a purpose.
    pub(crate) fn drawing<A: Attachment + 'n>(network: &'n Network, purpose: u16, attachment: A) -> Self {
        Self(Box::new(Parts { network, purpose, attachment }))
    }
}
