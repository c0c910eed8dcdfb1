//! Fragments of datagrams that are larger than a frame, and their reassembly (RFC 791, 3.2).
//!
//! A datagram's contents are cut into pieces whose lengths are multiples of eight octets, except the last; pieces are
//! put together in any order. Invariants: the number of datagrams under reassembly is fixed; a new one replaces the
//! last one of its own source, or else the oldest; pieces that overlap others are not taken. Only lengths are kept:
//! the octets themselves stay with the driver.

use alloc::vec::Vec;

#[cfg(feature = "planted-faults")]
use crate::fault::{PlantedFault, is_planted};

/// A piece of a datagram's contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fragment {
    /// The sender and flow of its datagram.
    pub source: u32,
    /// Number of the datagram.
    pub datagram: u32,
    /// Its offset in the datagram, octets.
    pub offset: u32,
    /// Octets, at least one.
    pub length: u32,
    /// Whether others follow it.
    pub more: bool,
}

/// The piece number `place` of a datagram of `length` octets, if a frame takes `most`; none after the last.
///
/// # Panics
/// If a frame takes less than eight octets.
#[must_use]
pub const fn fragment(datagram: u32, length: u32, most: u32, place: u32) -> Option<Fragment> {
    assert!(most >= 8, "a frame that takes a piece");
    let count = fragment_count(length, most);
    if place >= count {
        return None;
    }
    let step = most & !7;
    let offset = place * step;
    let more = place + 1 < count;
    Some(Fragment { source: 0, datagram, offset, length: if more { step } else { length - offset }, more })
}

/// How many pieces a datagram of `length` octets makes, if a frame takes `most`, at least eight.
#[must_use]
pub const fn fragment_count(length: u32, most: u32) -> u32 {
    if length <= most { 1 } else { (length - most).div_ceil(most & !7) + 1 }
}

/// The pieces of a datagram of `length` octets, of which a frame takes `most`.
///
/// # Panics
/// If a frame takes less than eight octets.
pub fn fragments(datagram: u32, length: u32, most: u32) -> impl Iterator<Item = Fragment> {
    (0..fragment_count(length, most)).filter_map(move |place| fragment(datagram, length, most, place))
}

/// Datagrams of a receiver that are put together.
#[derive(Clone, Debug)]
pub struct Reassembly {
    /// Oldest first.
    open: Vec<Open>,
    limit: usize,
    discarded: u64,
}

/// The result of a piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reassembled {
    /// The length of the datagram that it completes.
    pub complete: Option<u32>,
    /// Source and number of the incomplete datagram that this one replaced.
    pub given_up: Option<(u32, u32)>,
}

#[derive(Clone, Debug)]
struct Open {
    source: u32,
    datagram: u32,
    /// Pieces that came, apart from one another.
    pieces: Vec<(u32, u32)>,
    length: Option<u32>,
}

/// Most pieces of a datagram of 65 535 octets.
const PIECES_MAX: usize = 8_192;

impl Reassembly {
    /// With room for so many datagrams at a time, at least one.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { open: Vec::new(), limit: limit.max(1), discarded: 0 }
    }

    /// Takes a piece, and gives the state of its datagram.
    pub fn take(&mut self, piece: Fragment) -> Reassembled {
        let mut taken = Reassembled::default();
        let known =
            self.open.iter().position(|open| (open.source, open.datagram) == (piece.source, piece.datagram));
        let place = known.unwrap_or_else(|| {
            taken.given_up = self.make_room(piece.source);
            let Fragment { source, datagram, .. } = piece;
            self.open.push(Open { source, datagram, pieces: Vec::new(), length: None });
            self.open.len() - 1
        });
        let open = &mut self.open[place];
        let Some(end) = piece.offset.checked_add(piece.length) else { return taken };
        let overlaps = |(from, to): &(u32, u32)| piece.offset < *to && *from < end;
        if open.pieces.len() == PIECES_MAX || open.pieces.iter().any(overlaps) {
            return taken;
        }
        open.pieces.push((piece.offset, end));
        if !piece.more {
            open.length = Some(end);
        }
        let here: u64 = open.pieces.iter().map(|(from, to)| u64::from(to - from)).sum();
        #[cfg(feature = "planted-faults")]
        if (is_planted(PlantedFault::PieceForgotten) && !piece.more)
            || (is_planted(PlantedFault::FirstFragmentComplete) && piece.offset == 0)
        {
            self.open.remove(place);
            taken.complete = Some(end);
            return taken;
        }
        let Some(length) = open.length else { return taken };
        if here != u64::from(length) || open.pieces.iter().any(|(_, to)| *to > length) {
            return taken;
        }
        self.open.remove(place);
        taken.complete = Some(length);
        taken
    }

    /// The datagram that a new one of a source replaces: the source's own last one, of which a piece was lost, because
    /// frames of a source keep their order; else the oldest one if there is no room.
    fn make_room(&mut self, source: u32) -> Option<(u32, u32)> {
        let own = self.open.iter().position(|open| open.source == source);
        let place = own.or((self.open.len() == self.limit).then_some(0))?;
        let given_up = self.open.remove(place);
        self.discarded += 1;
        Some((given_up.source, given_up.datagram))
    }

    /// Removes all incomplete datagrams.
    pub fn clear(&mut self) {
        self.open.clear();
    }

    /// Incomplete datagrams that were replaced by new ones.
    #[must_use]
    pub const fn discarded(&self) -> u64 {
        self.discarded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_in_any_order_make_the_datagram_once(length in 1_u32..20_000, most in 8_u32..1_481, turn: usize) {
            let mut pieces: Vec<_> = fragments(3, length, most).collect();
            prop_assert!(pieces.iter().all(|piece| piece.length <= most && piece.offset % 8 == 0));
            prop_assert_eq!(pieces.iter().map(|piece| piece.length).sum::<u32>(), length);
            let count = pieces.len();
            pieces.rotate_left(turn % count);
            let mut reassembly = Reassembly::new(2);
            let complete: Vec<_> = pieces.iter().map(|piece| reassembly.take(*piece)).collect();
            prop_assert!(complete[..count - 1].iter().all(|taken| taken.complete.is_none()));
            prop_assert_eq!(complete[count - 1].complete, Some(length));
        }

        #[test]
        fn any_pieces_are_taken_or_not_and_the_room_is_kept(
            pieces in proptest::collection::vec((0_u32..5, 0_u32..3, any::<u32>(), 1_u32..3_000, any::<bool>()), 0..60),
        ) {
            let mut reassembly = Reassembly::new(3);
            for (source, datagram, offset, length, more) in pieces {
                let _ = reassembly.take(Fragment { source, datagram, offset, length, more });
                prop_assert!(reassembly.open.len() <= 3);
            }
        }
    }

    #[test]
    fn a_lost_piece_costs_its_datagram_and_no_other() {
        let mut reassembly = Reassembly::new(2);
        let first: Vec<_> = fragments(1, 2_000, 1_480).collect();
        assert_eq!(first.len(), 2);
        assert_eq!(reassembly.take(first[0]), Reassembled::default());
        assert_eq!(reassembly.take(first[0]), Reassembled::default(), "a piece that came twice");
        // Another source's is under way meanwhile, and older than the next of the first.
        let other = Fragment { source: 1, ..first[0] };
        assert_eq!(reassembly.take(other), Reassembled::default());
        let complete: Vec<_> = fragments(2, 1_480, 1_480).map(|piece| reassembly.take(piece)).collect();
        assert_eq!(complete, [Reassembled { complete: Some(1_480), given_up: Some((0, 1)) }]);
        assert_eq!(reassembly.discarded(), 1);
        assert_eq!(reassembly.take(Fragment { source: 1, ..first[1] }).complete, Some(2_000));
    }

    #[test]
    fn without_room_the_oldest_gives_way() {
        let mut reassembly = Reassembly::new(1);
        let first = fragment(1, 2_000, 1_480, 0).expect("a piece");
        assert_eq!(reassembly.take(first), Reassembled::default());
        let other = Fragment { source: 1, ..first };
        assert_eq!(reassembly.take(other).given_up, Some((0, 1)));
        let last = fragment(1, 2_000, 1_480, 1).expect("a piece");
        assert_eq!(reassembly.take(last), Reassembled { complete: None, given_up: Some((1, 1)) });
        assert_eq!(fragment(1, 2_000, 1_480, 2), None);
    }
}
