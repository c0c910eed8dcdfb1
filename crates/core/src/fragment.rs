//! Fragments of datagrams that are larger than a frame, and their reassembly (RFC 791, 3.2).
//!
//! A datagram's contents are cut into pieces of whole multiples of eight octets, but for the last; they are
//! put together in any order. Invariants: the number of datagrams under reassembly is fixed, and the oldest
//! gives way to a new one; pieces that overlap others are not taken. Only lengths are reckoned with: the
//! octets themselves stay with the driver.

use alloc::vec::Vec;

/// A piece of a datagram's contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fragment {
    /// Number of the datagram.
    pub datagram: u32,
    /// Where it stands, octets.
    pub offset: u32,
    /// Octets, at least one.
    pub length: u32,
    /// Whether others follow it.
    pub more: bool,
}

/// The pieces of a datagram of `length` octets, of which a frame takes `most`.
///
/// # Panics
/// If a frame takes less than eight octets.
pub fn fragments(datagram: u32, length: u32, most: u32) -> impl Iterator<Item = Fragment> {
    assert!(most >= 8, "a frame that takes a piece");
    let step = most & !7;
    let mut offset = 0;
    let mut done = false;
    core::iter::from_fn(move || {
        if done {
            return None;
        }
        let left = length - offset;
        let more = left > most;
        let piece = Fragment { datagram, offset, length: if more { step } else { left }, more };
        done = !more;
        offset += piece.length;
        Some(piece)
    })
}

/// Datagrams of one sender that are put together.
#[derive(Clone, Debug)]
pub struct Reassembly {
    open: Vec<Open>,
    limit: usize,
    discarded: u64,
}

#[derive(Clone, Debug)]
struct Open {
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

    /// Takes a piece; gives the length of the datagram that it completes.
    pub fn take(&mut self, piece: Fragment) -> Option<u32> {
        let place = match self.open.iter().position(|open| open.datagram == piece.datagram) {
            Some(place) => place,
            None => {
                if self.open.len() == self.limit {
                    self.open.remove(0);
                    self.discarded += 1;
                }
                self.open.push(Open { datagram: piece.datagram, pieces: Vec::new(), length: None });
                self.open.len() - 1
            }
        };
        let open = &mut self.open[place];
        let end = piece.offset.checked_add(piece.length)?;
        let overlaps = |(from, to): &(u32, u32)| piece.offset < *to && *from < end;
        if open.pieces.len() == PIECES_MAX || open.pieces.iter().any(overlaps) {
            return None;
        }
        open.pieces.push((piece.offset, end));
        if !piece.more {
            open.length = Some(end);
        }
        let length = open.length?;
        let here: u64 = open.pieces.iter().map(|(from, to)| u64::from(to - from)).sum();
        if here != u64::from(length) || open.pieces.iter().any(|(_, to)| *to > length) {
            return None;
        }
        self.open.remove(place);
        Some(length)
    }

    /// Datagrams that gave way before they were whole.
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
            let whole: Vec<_> = pieces.iter().map(|piece| reassembly.take(*piece)).collect();
            prop_assert!(whole[..count - 1].iter().all(Option::is_none));
            prop_assert_eq!(whole[count - 1], Some(length));
        }

        #[test]
        fn any_pieces_are_taken_or_not_and_the_room_is_kept(
            pieces in proptest::collection::vec((0_u32..5, any::<u32>(), 1_u32..3_000, any::<bool>()), 0..60),
        ) {
            let mut reassembly = Reassembly::new(3);
            for (datagram, offset, length, more) in pieces {
                let _ = reassembly.take(Fragment { datagram, offset, length, more });
                prop_assert!(reassembly.open.len() <= 3);
            }
        }
    }

    #[test]
    fn a_lost_piece_costs_its_datagram_and_no_other() {
        let mut reassembly = Reassembly::new(1);
        let first: Vec<_> = fragments(1, 2_000, 1_480).collect();
        assert_eq!(first.len(), 2);
        assert_eq!(reassembly.take(first[0]), None);
        assert_eq!(reassembly.take(first[0]), None, "a piece that came twice");
        let whole: Vec<_> = fragments(2, 1_480, 1_480).map(|piece| reassembly.take(piece)).collect();
        assert_eq!(whole, [Some(1_480)]);
        assert_eq!(reassembly.discarded(), 1);
    }
}
