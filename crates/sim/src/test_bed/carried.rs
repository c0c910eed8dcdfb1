//! The message of every frame of a route.
//!
//! A route's messages have places, in the order in which they are sent: a frame's number, or that of a datagram's
//! frames over how many they are. The first route of a message sends them in the order of their sequence numbers; one
//! that relays sends what comes. Invariant: of a message that is right, no more is kept than its length and its
//! sequence number. Not here: what becomes of it (`track.rs`).

use std::collections::{BTreeMap, BTreeSet};

use tautwire_model::Network;
use tautwire_model::network::{StreamIndex, Test, Traffic};
use tautwire_wire::TestMessage;

use crate::plan::index;
use crate::statistics::is_redundant;

/// Wrong bits in the octets of a message: places and masks.
pub(super) type WrongBits = Vec<(u16, u8)>;

/// The message that a frame carries.
#[derive(Clone, Debug)]
pub(super) struct Carried {
    pub(super) message: TestMessage,
    /// Octets of the message.
    pub(super) length: u32,
    pub(super) wrong: WrongBits,
}

/// A route that carries messages.
pub(super) struct Route {
    id: u32,
    /// Whether it relays the messages of another route.
    pub(super) is_relayed: bool,
    /// That other route.
    pub(super) answers: Option<StreamIndex>,
    /// Frames of a message.
    pub(super) frames: u32,
    /// Octets of a message of several frames.
    datagram: Option<u32>,
    /// Whether two copies are sent, by two networks.
    pub(super) is_redundant: bool,
    /// Per hop: the listeners behind it.
    behind: Vec<Vec<u32>>,
    listeners: Vec<u32>,
    /// By place: octets of the message.
    lengths: Vec<u32>,
    /// By place: the sequence number that is relayed; none if that is no message.
    sequences: Vec<Option<u32>>,
    /// By place: its wrong bits.
    pub(super) wrong: BTreeMap<u32, WrongBits>,
    /// Listeners behind their ports, and frames on their way through their hosts.
    pub(super) in_host: BTreeSet<(u32, u32)>,
    /// By listener: the piece of a datagram that its port received last.
    pub(super) last_piece: BTreeMap<u32, u32>,
    /// Listeners, and frames with which a complete datagram comes to the application.
    pub(super) to_hand_over: BTreeSet<(u32, u32)>,
}

impl Route {
    pub(super) fn new(network: &Network, route: StreamIndex, id: u32, is_relayed: bool) -> Self {
        let stream = &network.streams[route.index()];
        let mut behind = vec![Vec::new(); stream.hops.len()];
        for hop in &stream.hops {
            let Some(listener) = hop.listener else { continue };
            let mut at = Some(hop);
            while let Some(hop) = at {
                let number = stream.hops.iter().position(|other| std::ptr::eq(other, hop));
                behind[number.expect("a hop of the stream")].push(listener);
                at = hop.previous.map(|previous| &stream.hops[previous as usize]);
            }
        }
        Self {
            id,
            is_relayed,
            answers: match stream.traffic {
                Traffic::Response { to, .. } if is_relayed => Some(to),
                _ => None,
            },
            frames: network.frames_a_message(route),
            datagram: stream.datagrams.map(|datagrams| datagrams.data()),
            is_redundant: is_redundant(stream),
            behind,
            listeners: (0..index(stream.listeners.len())).collect(),
            lengths: Vec::new(),
            sequences: Vec::new(),
            wrong: BTreeMap::new(),
            in_host: BTreeSet::new(),
            last_piece: BTreeMap::new(),
            to_hand_over: BTreeSet::new(),
        }
    }

    /// The place of the message that a frame carries.
    pub(super) const fn place_of(&self, number: u32) -> u32 {
        number / self.frames
    }

    /// Whether a frame is the first of a message.
    pub(super) const fn begins(&self, number: u32) -> bool {
        number.is_multiple_of(self.frames)
    }

    /// The message in this place has a frame of so many octets of payload, and is that which is relayed, if it is.
    pub(super) fn add(&mut self, place: u32, octets: u32, relayed: Option<Carried>) {
        let place = place as usize;
        let headers = u32::try_from(Test::HEADERS.get()).expect("two headers");
        let length = self.datagram.unwrap_or_else(|| octets.saturating_sub(headers));
        self.lengths.resize(place + 1, 0);
        self.lengths[place] = length.max(index(TestMessage::OCTETS));
        if self.is_relayed {
            self.sequences.resize(place + 1, None);
            if let Some(relayed) = relayed {
                self.sequences[place] = Some(relayed.message.sequence);
                if !relayed.wrong.is_empty() {
                    self.wrong.insert(index(place), relayed.wrong);
                }
            }
        }
    }

    /// The message in this place.
    pub(super) fn carried(&self, place: u32) -> Option<Carried> {
        let length = *self.lengths.get(place as usize)?;
        let sequence = if self.is_relayed { (*self.sequences.get(place as usize)?)? } else { place };
        let wrong = self.wrong.get(&place).cloned().unwrap_or_default();
        Some(Carried { message: TestMessage { id: self.id, sequence }, length, wrong })
    }

    /// The listeners behind a hop; all of a route that leads nowhere.
    pub(super) fn listeners_behind(&self, hop: u32) -> &[u32] {
        self.behind.get(hop as usize).unwrap_or(&self.listeners)
    }
}
