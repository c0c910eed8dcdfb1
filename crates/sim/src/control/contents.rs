//! The octets of protocols' frames that are on their way: what a machine wrote is what captures show and receivers read.
//!
//! A frame is put here when it is made. Every transmission tells the recorder of the octets that leave; what is delivered is given to
//! its protocol, which reads them, and as a device does ignores what it cannot read. A bridge that writes into a frame on its way
//! (transparent clocks) leaves a copy for what is behind it.
//!
//! Invariant: octets live until the last copy is delivered or lost. Of a stream with one hop a frame lives until it or a later one is
//! delivered: a link keeps the order of frames, so those before it were lost. Copies of other streams go several ways, so the last
//! [`FLYING`] frames live (of one way over several links, [`FLYING_ONE_WAY`] that were not delivered); an older one counts as lost. Not
//! here: what octets say.

use std::collections::VecDeque;
use std::rc::Rc;

use tautwire_core::control::Addresses;
use tautwire_model::Network;
use tautwire_model::network::{Hop, Stream};
use tautwire_units::Bytes;
use tautwire_wire::EtherType;

use crate::clock::SimTime;
use crate::engine::Engine;
use crate::frame::Aim;
use crate::recorder::Recorder;
use crate::result::DropReason;

/// Frames that live of a stream with several hops.
const FLYING: usize = 256;
/// Those of one whose frames one listener takes, and nobody on their way.
const FLYING_ONE_WAY: usize = 4_096;

/// A frame of a protocol.
#[derive(Debug)]
pub struct Frame {
    /// Its type.
    pub ether_type: EtherType,
    /// All behind the type, without padding.
    pub octets: Vec<u8>,
    /// What else its receivers know.
    pub beside: Beside,
    /// Its addresses, if they are not its stream's.
    pub addresses: Option<Addresses>,
}

/// What stands beside the octets behind the type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// Between whom it goes, by the numbers of the protocol: Ethernet addresses of protocols that send frames of several nodes in one
    /// stream, which has one destination address.
    pub from: u32,
    /// The number of the receiver.
    pub to: u32,
    /// Picoseconds behind the whole nanoseconds in which it tells times, in their order: clocks of a run are finer than the format. Captures,
    /// and stations on real interfaces, have whole nanoseconds alone. Only `tdma/frames.rs` writes and reads it.
    pub below_ns: [u16; 3],
}

impl Frame {
    /// One with nothing beside its octets.
    #[must_use]
    pub const fn new(ether_type: EtherType, octets: Vec<u8>) -> Self {
        Self { ether_type, octets, beside: Beside { from: 0, to: 0, below_ns: [0; 3] }, addresses: None }
    }
}

/// A frame that was delivered.
#[derive(Debug)]
pub(crate) struct Arrived {
    pub(crate) frame: Rc<Frame>,
    /// When its time-stamp point passed the receiver, as [`Contents::comes`] was told.
    pub(crate) comes: SimTime,
}

/// The contents of all frames on their way.
#[derive(Debug)]
pub(crate) struct Contents(Vec<OfStream>);

#[derive(Debug, Default)]
struct OfStream {
    /// Whether a protocol's frames go by it.
    carries: bool,
    /// Whether all of its frames go over one link.
    has_one_hop: bool,
    /// Whether nobody but its one listener takes its frames.
    has_one_way: bool,
    flying: VecDeque<Flying>,
}

#[derive(Debug)]
struct Flying {
    number: u32,
    frame: Rc<Frame>,
    /// What left by hops at which a bridge wrote into it.
    written: Vec<(u32, Rc<Frame>)>,
    comes: SimTime,
}

impl Flying {
    fn behind(&self, hop: u32) -> &Rc<Frame> {
        let written = self.written.iter().find(|(by, _)| *by == hop);
        written.map_or(&self.frame, |(_, frame)| frame)
    }
}

impl Contents {
    pub(crate) fn new(network: &Network) -> Self {
        let of = |stream: &Stream| {
            let last = stream.hops.len().saturating_sub(1);
            let goes_on = |(place, hop): (usize, &Hop)| {
                let before = place.checked_sub(1).and_then(|before| u32::try_from(before).ok());
                hop.previous == before && (place == last || hop.listener.is_none())
            };
            let has_one_way = stream.hops.iter().enumerate().all(goes_on);
            OfStream { has_one_hop: last == 0, has_one_way, ..OfStream::default() }
        };
        Self(network.streams.iter().map(of).collect())
    }

    /// Whether a protocol's frames go by a stream.
    #[inline]
    pub(crate) fn carries(&self, stream: u32) -> bool {
        self.0[stream as usize].carries
    }

    fn put(&mut self, stream: u32, number: u32, frame: Rc<Frame>) {
        let of = &mut self.0[stream as usize];
        of.carries = true;
        let most = if of.has_one_way { FLYING_ONE_WAY } else { FLYING };
        if !of.has_one_hop && of.flying.len() == most {
            of.flying.pop_front();
        }
        of.flying.push_back(Flying { number, frame, written: Vec::new(), comes: SimTime::ZERO });
    }

    fn flying(&mut self, stream: u32, number: u32) -> Option<&mut Flying> {
        self.0[stream as usize].flying.iter_mut().find(|flying| flying.number == number)
    }

    /// A frame as it left by a hop; as it was made, if none wrote into it there.
    pub(crate) fn behind(&mut self, stream: u32, number: u32, hop: u32) -> Option<Rc<Frame>> {
        self.flying(stream, number).map(|flying| Rc::clone(flying.behind(hop)))
    }

    /// A bridge writes into a frame that leaves by a hop: what leaves.
    pub(crate) fn write(&mut self, stream: u32, number: u32, hop: u32, octets: Vec<u8>) -> Option<Rc<Frame>> {
        let flying = self.flying(stream, number)?;
        let frame = Rc::new(Frame {
            octets,
            ether_type: flying.frame.ether_type,
            beside: flying.frame.beside,
            addresses: flying.frame.addresses,
        });
        flying.written.retain(|(by, _)| *by != hop);
        flying.written.push((hop, Rc::clone(&frame)));
        Some(frame)
    }

    /// When the time-stamp point of a frame that has left will pass the receiver.
    pub(crate) fn comes(&mut self, stream: u32, number: u32, comes: SimTime) {
        if let Some(flying) = self.flying(stream, number) {
            flying.comes = comes;
        }
    }

    /// What a frame holds that is delivered behind a hop; none if nothing is known of it any more.
    pub(crate) fn take(&mut self, stream: u32, number: u32, hop: u32) -> Option<Arrived> {
        let of = &mut self.0[stream as usize];
        let place = of.flying.iter().position(|flying| flying.number == number)?;
        let flying = &of.flying[place];
        let arrived = Arrived { comes: flying.comes, frame: Rc::clone(flying.behind(hop)) };
        if of.has_one_hop {
            // Those before it were lost.
            of.flying.drain(..=place);
        } else if of.has_one_way {
            of.flying.remove(place);
        }
        Some(arrived)
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// Makes the next frame of a stream: its place, and where its host sends it.
    pub(crate) fn make_frame(
        &mut self,
        stream: u32,
        frame: impl Into<Rc<Frame>>,
        payload: Bytes,
    ) -> (u32, Option<Aim>) {
        let talker = &mut self.talkers[stream as usize];
        let number = talker.number;
        talker.number += 1;
        self.plugged().contents.put(stream, number, frame.into());
        self.insert(stream, number, payload, self.now)
    }

    /// Makes the next frame of a stream, and hands it to its port at once.
    pub(crate) fn send_frame(&mut self, stream: u32, frame: impl Into<Rc<Frame>>, payload: Bytes) {
        let (place, aim) = self.make_frame(stream, frame, payload);
        match aim {
            Some(aim) => self.take_aim(place, aim),
            None => self.drop_at_talker(place, DropReason::NoRoute),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(has_one_hop: bool) -> Contents {
        Contents(vec![OfStream { has_one_hop, ..OfStream::default() }])
    }

    fn frame(octet: u8) -> Rc<Frame> {
        Rc::new(Frame::new(EtherType::PCF, vec![octet]))
    }

    fn taken(contents: &mut Contents, number: u32, hop: u32) -> Option<u8> {
        contents.take(0, number, hop).map(|arrived| arrived.frame.octets[0])
    }

    #[test]
    fn over_one_link_those_before_a_delivered_frame_were_lost() {
        let mut contents = contents(true);
        assert!(!contents.carries(0));
        for number in 0..1_000 {
            contents.put(0, number, frame(u8::try_from(number % 256).unwrap()));
        }
        assert!(contents.carries(0));
        assert_eq!(taken(&mut contents, 998, 0), Some(230));
        assert_eq!(contents.0[0].flying.len(), 1);
        assert_eq!(taken(&mut contents, 999, 0), Some(231));
        assert_eq!(taken(&mut contents, 999, 0), None);
    }

    #[test]
    fn copies_are_read_as_they_left_by_their_hops() {
        let mut contents = contents(false);
        for number in 0..300 {
            contents.put(0, number, frame(1));
        }
        contents.write(0, 299, 4, vec![7]);
        contents.write(0, 299, 4, vec![2]);
        let all = [3, 4, 4, 5].map(|hop| taken(&mut contents, 299, hop));
        assert_eq!(all, [Some(1), Some(2), Some(2), Some(1)]);
        assert_eq!(taken(&mut contents, 300 - 257, 0), None, "too old");
        assert_eq!(taken(&mut contents, 300 - 256, 0), Some(1));
    }
}
