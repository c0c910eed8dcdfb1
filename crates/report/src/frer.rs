//! Sequence numbers of streams with copies in captures (IEEE Std 802.1CB-2017, 7.8 to 7.10).
//!
//! A frame has the number that it has if no frame of its stream is lost before the node that numbers them, and that node does not begin
//! anew.

use tautwire_model::Network;
use tautwire_model::frer::Encapsulation;
use tautwire_wire::{HsrTag, PrpTrailer, RTag, SEQUENCE_TAG};

/// LAN A of PRP; the others follow.
const LAN_A: u8 = 10;

/// What carries the number of a frame behind a hop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbered {
    encapsulation: Encapsulation,
    sequence: u16,
    /// Which of the member streams it is of.
    path: u8,
}

impl Numbered {
    /// Of a frame of a stream behind a hop; none if it carries none there. A repeat has that of the frame that it repeats.
    pub(crate) fn of(network: &Network, stream: u32, hop: usize, number: u32) -> Option<Self> {
        let repeats = network.repeats.iter().find(|repeats| repeats.stream.0 == stream);
        let (stream, hop) = match repeats {
            Some(repeats) => (&network.streams[repeats.of.index()], repeats.hops[hop] as usize),
            None => (&network.streams[stream as usize], hop),
        };
        let replication = stream.replication.as_deref().filter(|_| stream.hops[hop].tagged.sequence)?;
        let [_, _, high, low] = number.to_be_bytes();
        let path = u8::try_from(replication.path[hop]).expect("few paths");
        Some(Self {
            encapsulation: replication.encapsulation,
            sequence: u16::from_be_bytes([high, low]),
            path,
        })
    }

    /// Octets that it takes at the end of the frame.
    pub(crate) fn behind(self) -> usize {
        let octets = usize::try_from(SEQUENCE_TAG).expect("a few octets");
        if self.encapsulation == Encapsulation::Prp { octets } else { 0 }
    }

    /// Puts a tag before the EtherType, with which the octets end so far; the frame will have `end` octets.
    pub(crate) fn before(self, frame: &mut Vec<u8>, end: usize) {
        let sequence = self.sequence;
        let ether_type = frame.split_off(frame.len() - 2);
        match self.encapsulation {
            Encapsulation::RTag => RTag { sequence }.emit(frame),
            Encapsulation::Hsr => {
                let size = size(end - frame.len() - 2);
                HsrTag { path: self.path, size, sequence }.emit(frame);
            }
            Encapsulation::Prp => {}
        }
        frame.extend(ether_type);
    }

    /// Puts a trailer behind octets that begin with a header of so many.
    pub(crate) fn after(self, frame: &mut Vec<u8>, header: usize) {
        if self.encapsulation == Encapsulation::Prp {
            let size = size(frame.len() - header + self.behind());
            PrpTrailer { sequence: self.sequence, lan: (LAN_A + self.path) & 0xf, size }.emit(frame);
        }
    }
}

/// A size in twelve bits.
fn size(octets: usize) -> u16 {
    u16::try_from(octets % 4_096).expect("twelve bits")
}
