//! Protocol stacks of an end station: the path of a frame between an application and a port.
//!
//! ```text
//!  application ─► clock read ─► task queue ─► servicing thread ─► parts ─► socket buffer ─► interface ─► port
//!  application ◄─ clock read ◄─ servicing thread ◄─ socket buffer ◄─ parts ◄─ interrupt ◄─ interface ◄─ port
//! ```
//! A host model without stacks has its two delays alone ([`HostModel`](crate::network::HostModel)). Not here: the
//! simulation of stacks (`tautwire-sim`), their bounds (`tautwire-analysis`).

pub(crate) mod codes;
pub(crate) mod language;
pub(crate) mod resolve;
pub(crate) mod without_effect;

use tautwire_units::{Bytes, Duration};

use crate::network::{Delay, HostModel, Network, NodeIndex, NodeKind, Stream};

/// The stacks of a host model and what they share; none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostStacks {
    /// What a reading of the clock costs an application, before it sends and when it has received.
    pub clock_read: Delay,
    /// Servicing threads.
    pub threads: Vec<ServicingThread>,
    /// Network interfaces, as software sees them.
    pub interfaces: Vec<HostInterface>,
    /// Stacks; the first is that of streams which name none that the host has.
    pub stacks: Vec<ProtocolStack>,
}

/// One thread that serves the frames of all its tasks, sent and received, in the order in which they come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServicingThread {
    /// Unique in the host model.
    pub name: String,
    /// Time for a frame.
    pub service: Delay,
    /// Time until it runs when a frame finds it asleep.
    pub wake_up: Delay,
    /// The occasional delay of the scheduler at a wake-up.
    pub tail: Option<Tail>,
}

/// A rare delay of its own size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    /// Chance of it, in 10⁻¹⁸.
    pub chance: u64,
    /// The delay.
    pub delay: Delay,
}

/// A network interface between memory and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostInterface {
    /// Unique in the host model.
    pub name: String,
    /// Time to hand a frame to the port; the next waits.
    pub transmit: Delay,
    /// Time to transfer a received frame into memory; the next waits.
    pub receive: Delay,
    /// Which received frame comes next.
    pub reception_order: ReceptionOrder,
    /// Received frames that wait in descriptors, in addition to the one being transferred.
    pub receive_ring: u32,
    /// Octets of received frames that wait before the descriptors; a further frame is lost.
    pub receive_fifo: Bytes,
    /// When software is notified of a frame in memory.
    pub moderation: Moderation,
    /// What is added to an interrupt now and then, before software runs.
    pub tail: Option<Tail>,
}

/// Order of received frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceptionOrder {
    /// As they came, whatever their class; ring and FIFO are one for all.
    Fifo,
    /// A queue with ring and FIFO per traffic class, the highest first; what is begun is finished.
    Classes,
}

/// When software is notified of received frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moderation {
    /// At once.
    None,
    /// An interrupt at an interval after the first frame that it signals.
    Delayed(Pace),
    /// An interrupt at once, but at an interval from the last at least.
    Throttled(Pace),
    /// Software looks at every interval of the host's clock; the phase is drawn by the seed.
    Polled {
        /// The interval.
        interval: Duration,
    },
    /// An interrupt within an interval after the first frame that it signals, evenly drawn for each.
    Drawn {
        /// The interval.
        interval: Duration,
    },
}

/// The interval of interrupts, and how it adapts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The interval, at first.
    pub interval: Duration,
    /// Another one for much traffic.
    pub bulk: Option<BulkPace>,
}

/// The interval while much comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BulkPace {
    /// The interval.
    pub interval: Duration,
    /// More octets than this at one interrupt enable it.
    pub above: Bytes,
    /// Fewer end it.
    pub below: Bytes,
}

/// A protocol stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtocolStack {
    /// Unique in the host model.
    pub name: String,
    /// Its interface, an index of [`HostStacks::interfaces`]; none: frames pass without one.
    pub interface: Option<u32>,
    /// Its servicing thread, an index of [`HostStacks::threads`]; none: tasks call the stack themselves.
    pub thread: Option<u32>,
    /// Parts on the way out, in order: API, protocols, driver.
    pub transmit: Vec<StackPart>,
    /// Parts on the way in, in order: driver, protocols, API.
    pub receive: Vec<StackPart>,
    /// Most frames of one stream that wait for the servicing thread.
    pub task_queue: u32,
    /// Most octets of one stream that wait for the interface on the way out, and for the thread (or the
    /// application) on the way in.
    pub socket_buffer: Bytes,
}

/// A part of a stack. It keeps the order of its frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackPart {
    /// Unique in its direction.
    pub name: String,
    /// From in to out.
    pub latency: Delay,
    /// How long the next frame must wait to enter.
    pub occupancy: Delay,
}

impl HostStacks {
    /// The place of the stack that a stream uses here; none if there are none.
    #[must_use]
    pub fn stack_of(&self, stream: &Stream) -> Option<u32> {
        let named = stream.stack.as_ref();
        let found = named.and_then(|name| self.stacks.iter().position(|stack| stack.name == *name));
        let place = found.unwrap_or(0);
        (place < self.stacks.len()).then(|| u32::try_from(place).expect("a host has few stacks"))
    }
}

impl Network {
    /// The host model of an end station; none for a bridge.
    #[must_use]
    pub fn host(&self, node: NodeIndex) -> Option<&HostModel> {
        match &self.nodes[node.index()].kind {
            NodeKind::EndStation { host } => Some(&self.hosts[host.index()]),
            NodeKind::Bridge { .. } => None,
        }
    }

    /// Whether an end station has protocol stacks.
    #[must_use]
    pub fn has_stacks(&self, node: NodeIndex) -> bool {
        self.host(node).is_some_and(|host| !host.stacks.stacks.is_empty())
    }

    /// What a host without stacks takes from the last bit received to the application; none if that is no time.
    #[must_use]
    pub fn reception(&self, node: NodeIndex) -> Option<&Delay> {
        let host = self.host(node).filter(|host| host.stacks.stacks.is_empty())?;
        Some(&host.receive).filter(|receive| **receive != Delay::default())
    }

    /// Whether a station's application receives a frame later than its port.
    #[must_use]
    pub fn receives_behind_port(&self, node: NodeIndex) -> bool {
        self.has_stacks(node) || self.reception(node).is_some()
    }
}
