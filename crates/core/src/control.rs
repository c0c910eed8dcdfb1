//! What a control machine is to whoever drives it, in a run or on an interface.
//!
//! A machine is one node's part in a protocol. It is told events at the readings of its node's clock, gives octets that ports are to
//! send, and says when time alone has something for it. It knows neither who drives it nor what carries its frames; frames are the
//! octets behind their type, as a capture shows them. Ports are counted among those of the node that the protocol uses.
//!
//! Not here: processing times, stamps, links and nodes that fail (the runner of machines); what a result means to the data
//! plane (the mechanism's attachment).

use alloc::vec::Vec;

use tautwire_units::Instant;
use tautwire_wire::{EtherType, MacAddress};

/// What a machine is told.
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
        /// What stands behind the type; padding may follow.
        octets: &'a [u8],
        /// When its time-stamp point passed, as the port says.
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
        /// When its time-stamp point passed, as the port says.
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
    /// What stands behind the type, without padding.
    pub octets: Vec<u8>,
    /// Its addresses, if they are not those of all frames that the port sends of the protocol.
    pub addresses: Option<Addresses>,
}

/// Between whom a frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Whom it is for.
    pub destination: MacAddress,
    /// Who made it.
    pub source: MacAddress,
}

/// One node's part in a protocol.
pub trait Machine {
    /// Something happens when the node's clock reads `now`. Octets that cannot be read are no frame of the protocol: they are ignored.
    fn handle(&mut self, now: Instant, event: Event<'_>);

    /// The next frame to send; asked behind every event and when the machine begins, until there is none.
    fn poll(&mut self) -> Option<Output>;

    /// When [`Event::Due`] is to be told; none: never, as things stand.
    fn deadline(&self) -> Option<Instant>;
}
