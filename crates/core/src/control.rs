//! The interface between a control machine and its driver, in a run or on an interface.
//!
//! A machine is one node's part in a protocol. It handles events at the readings of its node's clock, gives octets
//! that ports are to send, and has a deadline for actions that only depend on time. It knows neither its driver nor
//! the transport of its frames; frames are the octets after their type, as a capture shows them. Ports are counted
//! among those of the node that the protocol uses.
//!
//! Not here: processing times, stamps, links and nodes that fail (the runner of machines); the effect of a result on
//! the data plane (the mechanism's attachment).

use alloc::vec::Vec;

use tautwire_units::Instant;
use tautwire_wire::{EtherType, MacAddress};

/// What happens to a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The node's processor has a frame that came in.
    Received {
        /// Where it came in.
        port: usize,
        /// Its source address.
        source: MacAddress,
        /// Its destination address.
        destination: MacAddress,
        /// Its type.
        ether_type: EtherType,
        /// What follows the type; padding may follow.
        octets: &'a [u8],
        /// When its time-stamp point passed, as stamped by the port.
        stamp: Instant,
    },
    /// A frame of the machine's own has left.
    Sent {
        /// Where it left.
        port: usize,
        /// Its type.
        ether_type: EtherType,
        /// What the machine gave.
        octets: &'a [u8],
        /// When its time-stamp point passed, as stamped by the port.
        stamp: Instant,
    },
    /// The link of a port came up or went down; all are up when a machine begins.
    Link {
        /// The port.
        port: usize,
        /// Whether it is up.
        up: bool,
    },
    /// The deadline has come.
    Due,
}

/// A frame that the node is to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The port; the first of them, of a frame that leaves by several.
    pub port: usize,
    /// The frame's type.
    pub ether_type: EtherType,
    /// What follows the type, without padding.
    pub octets: Vec<u8>,
    /// Its addresses, if they are not those of all frames that the port sends of the protocol.
    pub addresses: Option<Addresses>,
}

/// Source and destination of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Destination address.
    pub destination: MacAddress,
    /// Source address.
    pub source: MacAddress,
}

/// One node's part in a protocol.
///
/// # What the machine promises
///
/// - *Input decides.* Its output and its deadline are functions of its construction, the events and their readings
///   alone: equal machines with equal input behave alike. It has no clock, no random numbers of its own and no state
///   outside.
/// - *Octets are not trusted.* A frame that it cannot parse, or whose sender or contents are unknown, changes nothing
///   but counters. It ignores frames of other types. Its own octets ([`Event::Sent`]) are those that it gave.
/// - *Output waits.* [`Self::poll`] gives what earlier events produced, oldest first, and none when all is given; the
///   next event may produce more. Polling needs no reading, and polling again gives none again.
/// - *The deadline is the next reading at which time alone makes it act*, in its present state: every event, and any
///   call of the type's own methods, may move it. It may be now, or past, until [`Event::Due`] is handled. After that
///   it is not past; it is the same reading again only if there is more to do at once (a second MRPDU, say), finitely
///   often.
/// - *A needless [`Event::Due`] changes nothing*: before its deadline a machine sends nothing for it and keeps its
///   deadline. A late one does at once what was due: nothing is lost, but several ticks may become one.
/// - *Any order of events is taken.* A link that went down may go down again, and frames may come in by a link that is down.
///
/// # What its driver promises
///
/// - Readings never decrease, and ports are those that the machine counts.
/// - It polls after construction and after every event, until there is none, before time passes. It may handle all
///   events of one instant first.
/// - It reads the deadline after that, and when that is not later than now it gives [`Event::Due`] before time passes.
/// - [`Event::Sent`] comes once for a frame that leaves, if the protocol stamps or follows its frames; never for one
///   that is lost before that.
/// - A node that stops loses its machine; a node that restarts gets a new one, which takes all links as up until an [`Event::Link`].
/// - Between events it may call methods of the type that it knows (a mechanism's attachment does), and polls after them, too.
///
/// Runs with needless wake-ups (`sim`, `Driver::Spurious`) check every machine for this at each event.
pub trait Machine {
    /// Something happens when the node's clock reads `now`.
    fn handle(&mut self, now: Instant, event: Event<'_>);

    /// The next frame to send; none if there is none until the next event.
    fn poll(&mut self) -> Option<Output>;

    /// When [`Event::Due`] is to come; none: never, in the present state.
    fn deadline(&self) -> Option<Instant>;
}
