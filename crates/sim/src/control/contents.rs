//! The octets of protocols' frames in transit: captures show and receivers read what a machine wrote.
//!
//! A frame is put here when it is made. Every transmission passes the octets that leave to the recorder; a delivered
//! frame is given to its protocol, which reads the octets and ignores what it cannot parse, as a device does. A bridge
//! that writes into a frame on its way (transparent clocks) leaves a copy for the nodes after it.
//!
//! Invariant: octets live as long as a copy of their frame is in transit. Those of a frame with a single listener end
//! with its delivery. The others, of lost frames and of those with several listeners, end when a stream has so many of
//! them that a search for those still in transit is worthwhile ([`Contents::sweep`]): then at most half of them are of
//! no use. Not here: the meaning of octets; which streams carry frames of protocols (`controls.rs`).

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use tautwire_core::control::{Addresses, Output};
use tautwire_model::Network;
use tautwire_model::network::{Hop, Stream};
use tautwire_units::Bytes;
use tautwire_wire::EtherType;

use crate::clock::SimTime;
use crate::engine::Engine;
use crate::frame::Aim;
use crate::recorder::Recorder;
use crate::result::DropReason;

/// Frames of a stream that are kept here before the first search for those in transit.
const STANDING: usize = 256;

/// A frame of a protocol.
#[derive(Debug)]
pub struct Frame {
    /// Its type.
    pub ether_type: EtherType,
    /// All behind the type, without padding.
    pub octets: Vec<u8>,
    /// Further information for its receivers.
    pub metadata: Metadata,
    /// Its addresses, if they are not its stream's.
    pub addresses: Option<Addresses>,
}

/// Information for receivers of a frame that its octets do not contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Source and destination, by the numbers of the protocol: Ethernet addresses of protocols that send frames of
    /// several nodes in one stream, which has one destination address.
    pub from: u32,
    /// The number of the receiver.
    pub to: u32,
    /// Picoseconds after the nanoseconds of its times, in their order: clocks of a run are finer than the format.
    /// Captures, and stations on real interfaces, have nanoseconds alone. Only `tdma/frames.rs` writes and reads it.
    pub below_ns: [u16; 3],
}

impl Frame {
    /// One without metadata.
    #[must_use]
    pub const fn new(ether_type: EtherType, octets: Vec<u8>) -> Self {
        Self { ether_type, octets, metadata: Metadata { from: 0, to: 0, below_ns: [0; 3] }, addresses: None }
    }
}

impl From<Output> for Frame {
    fn from(Output { ether_type, octets, addresses, .. }: Output) -> Self {
        Self { addresses, ..Self::new(ether_type, octets) }
    }
}

/// A frame that was delivered.
#[derive(Debug)]
pub(crate) struct Arrived {
    pub(crate) frame: Arc<Frame>,
    /// When its time-stamp point passed the receiver, from [`Contents::comes`] of the hop.
    pub(crate) comes: SimTime,
}

/// The contents of all frames on their way.
#[derive(Debug)]
pub(crate) struct Contents(Vec<OfStream>);

#[derive(Debug)]
struct OfStream {
    /// Whether only its single listener takes its frames.
    has_one_way: bool,
    /// In the order of their numbers.
    standing: VecDeque<Standing>,
    /// The number of frames at which the next search for unused ones starts.
    most: usize,
}

/// The contents of a frame.
#[derive(Debug)]
struct Standing {
    number: u32,
    frame: Arc<Frame>,
    /// The copies that left by hops.
    left: Vec<Left>,
}

/// A copy that left by a hop.
#[derive(Debug)]
struct Left {
    hop: u32,
    /// The transmitted contents, if the bridge wrote into them.
    written: Option<Arc<Frame>>,
    /// When its time-stamp point passes the receiver.
    comes: SimTime,
}

impl Standing {
    fn behind(&self, hop: u32) -> &Arc<Frame> {
        let left = self.left.iter().find(|left| left.hop == hop);
        left.and_then(|left| left.written.as_ref()).unwrap_or(&self.frame)
    }

    fn left(&mut self, hop: u32) -> &mut Left {
        let place = self.left.iter().position(|left| left.hop == hop).unwrap_or(self.left.len());
        if place == self.left.len() {
            self.left.push(Left { hop, written: None, comes: SimTime::ZERO });
        }
        &mut self.left[place]
    }
}

impl OfStream {
    const fn new(has_one_way: bool) -> Self {
        Self { has_one_way, standing: VecDeque::new(), most: STANDING }
    }

    fn place(&self, number: u32) -> Option<usize> {
        self.standing.binary_search_by_key(&number, |standing| standing.number).ok()
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
            OfStream::new(stream.hops.iter().enumerate().all(goes_on))
        };
        Self(network.streams.iter().map(of).collect())
    }

    /// Puts what a stream's next frame holds; `on_their_way` are stream and number of all frames that may be delivered yet.
    fn put(
        &mut self,
        stream: u32,
        number: u32,
        frame: Arc<Frame>,
        on_their_way: impl Iterator<Item = (u32, u32)>,
    ) {
        let of = &mut self.0[stream as usize];
        if of.standing.len() >= of.most {
            Self::sweep(of, on_their_way.filter(|(its, _)| *its == stream).map(|(_, number)| number));
        }
        of.standing.push_back(Standing { number, frame, left: Vec::new() });
    }

    /// Forgets what no frame on its way needs.
    #[cold]
    fn sweep(of: &mut OfStream, on_their_way: impl Iterator<Item = u32>) {
        let needed: BTreeSet<u32> = on_their_way.collect();
        of.standing.retain(|standing| needed.contains(&standing.number));
        of.most = STANDING.max(2 * of.standing.len());
    }

    fn standing(&mut self, stream: u32, number: u32) -> Option<&mut Standing> {
        let of = &mut self.0[stream as usize];
        let place = of.place(number)?;
        of.standing.get_mut(place)
    }

    /// A frame as it left by a hop; as it was made, if none wrote into it there.
    pub(crate) fn behind(&mut self, stream: u32, number: u32, hop: u32) -> Option<Arc<Frame>> {
        self.standing(stream, number).map(|standing| Arc::clone(standing.behind(hop)))
    }

    /// A bridge writes into a frame that leaves by a hop: what leaves.
    pub(crate) fn write(
        &mut self,
        stream: u32,
        number: u32,
        hop: u32,
        octets: Vec<u8>,
    ) -> Option<Arc<Frame>> {
        let standing = self.standing(stream, number)?;
        let frame = Arc::new(Frame {
            octets,
            ether_type: standing.frame.ether_type,
            metadata: standing.frame.metadata,
            addresses: standing.frame.addresses,
        });
        standing.left(hop).written = Some(Arc::clone(&frame));
        Some(frame)
    }

    /// When the time-stamp point of a frame that has left by a hop will pass the receiver.
    pub(crate) fn comes(&mut self, stream: u32, number: u32, hop: u32, comes: SimTime) {
        if let Some(standing) = self.standing(stream, number) {
            standing.left(hop).comes = comes;
        }
    }

    /// What a frame holds that is delivered behind a hop; none of a stream that carries none.
    pub(crate) fn take(&mut self, stream: u32, number: u32, hop: u32) -> Option<Arrived> {
        let of = &mut self.0[stream as usize];
        let place = of.place(number)?;
        let standing = &of.standing[place];
        let comes =
            standing.left.iter().find(|left| left.hop == hop).map_or(SimTime::ZERO, |left| left.comes);
        let arrived = Arrived { comes, frame: Arc::clone(standing.behind(hop)) };
        if of.has_one_way {
            of.standing.remove(place);
        }
        Some(arrived)
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// Makes the next frame of a stream: its place, and where its host sends it.
    pub(crate) fn make_frame(
        &mut self,
        stream: u32,
        frame: impl Into<Arc<Frame>>,
        payload: Bytes,
    ) -> (u32, Option<Aim>) {
        let talker = &mut self.talkers[stream as usize];
        let number = talker.number;
        talker.number += 1;
        let on_their_way = self.slab.iter().map(|slot| (slot.stream, slot.number));
        let plugged = self.plugged.as_mut().expect("a run that has machines");
        plugged.contents.put(stream, number, frame.into(), on_their_way);
        self.insert(stream, number, payload, self.now)
    }

    /// Makes the next frame of a stream, and hands it to its port at once.
    pub(crate) fn send_frame(&mut self, stream: u32, frame: impl Into<Arc<Frame>>, payload: Bytes) {
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

    fn contents(has_one_way: bool) -> Contents {
        Contents(vec![OfStream::new(has_one_way)])
    }

    fn frame(octet: u8) -> Arc<Frame> {
        Arc::new(Frame::new(EtherType::PCF, vec![octet]))
    }

    /// Puts frames of these numbers, while those of `flying` are on their way.
    fn put(contents: &mut Contents, numbers: std::ops::Range<u32>, flying: &[u32]) {
        for number in numbers {
            let on_their_way = flying.iter().map(|number| (0, *number)).chain([(1, number)]);
            contents.put(0, number, frame(u8::try_from(number % 256).unwrap()), on_their_way);
        }
    }

    fn taken(contents: &mut Contents, number: u32, hop: u32) -> Option<u8> {
        contents.take(0, number, hop).map(|arrived| arrived.frame.octets[0])
    }

    #[test]
    fn what_is_lost_does_not_stay_and_what_is_on_its_way_does_however_old() {
        for has_one_way in [true, false] {
            let mut contents = contents(has_one_way);
            put(&mut contents, 0..10_000, &[3, 700]);
            assert!(contents.0[0].standing.len() <= STANDING);
            assert_eq!(taken(&mut contents, 700, 0), Some(188), "behind later ones");
            assert_eq!(taken(&mut contents, 3, 0), Some(3));
            assert_eq!(taken(&mut contents, 9_999, 0), Some(15));
            assert_eq!(taken(&mut contents, 3, 0).is_some(), !has_one_way, "taken once, or by several");
        }
        let mut contents = contents(false);
        let all: Vec<u32> = (0..5_000).collect();
        put(&mut contents, 0..5_000, &all);
        assert!(all.iter().all(|number| taken(&mut contents, *number, 0).is_some()), "all are on their way");
    }

    #[test]
    fn copies_are_read_as_they_left_by_their_hops() {
        let mut contents = contents(false);
        put(&mut contents, 1..2, &[]);
        contents.write(0, 1, 4, vec![7]);
        contents.write(0, 1, 4, vec![2]);
        let all = [3, 4, 4, 5].map(|hop| taken(&mut contents, 1, hop));
        assert_eq!(all, [Some(1), Some(2), Some(2), Some(1)]);
    }

    #[test]
    fn each_copy_comes_when_it_left_by_its_own_hop() {
        let mut contents = contents(false);
        put(&mut contents, 0..1, &[]);
        let [early, late] = [SimTime::from_ps(5), SimTime::from_ps(9)];
        contents.comes(0, 0, 1, early);
        contents.comes(0, 0, 2, late);
        let comes = [1, 2].map(|hop| contents.take(0, 0, hop).map(|arrived| arrived.comes));
        assert_eq!(comes, [Some(early), Some(late)]);
    }
}
