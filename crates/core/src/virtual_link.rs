//! Traffic regulator of a virtual link in its end system (ARINC 664 part 7, 3.2.1 and 3.2.4).
//!
//! In: frames of the link's sub-virtual-links. Out: at most one frame a BAG, the sub-virtual-links taken in turn, and
//! its sequence number. The place of a sub-virtual-link either queues its frames or keeps only the newest. Invariants:
//! two releases are a BAG apart; a sub-virtual-link with a frame waits for at most one frame of each of the others; a
//! released frame has the number that follows the one before it. Not here: the port after it, where frames of several
//! links cause jitter (`port.rs`), the receiver (`redundancy.rs`). Scenario: `scenarios/avionics.yaml`.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use tautwire_units::{Duration, Instant};

/// What becomes of a frame that comes while others of its sub-virtual-link wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkBuffer {
    /// It waits behind them; up to so many wait.
    Queueing(u32),
    /// It takes the place of the one that waits: only the last message of a BAG leaves.
    Overwriting,
}

/// The result for a frame that was handed to a virtual link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept<F> {
    /// It waits for its turn.
    Queued,
    /// It waits for its turn in place of this one, which is lost.
    Overwrote(F),
    /// No place was left: it is lost.
    Full,
}

/// The sequence number of the first frame after a reset.
pub const SEQUENCE_RESET: u8 = 0;

/// The next number: after 255 comes 1, since 0 marks a reset.
#[must_use]
pub const fn sequence_after(sequence: u8) -> u8 {
    if sequence == u8::MAX { 1 } else { sequence + 1 }
}

/// The regulator of one virtual link.
#[derive(Clone, Debug)]
pub struct VirtualLink<F> {
    bag: Duration,
    buffer: LinkBuffer,
    /// The waiting frames of each sub-virtual-link.
    sub_links: Vec<VecDeque<F>>,
    /// The sub-virtual-link whose turn is next.
    turn: usize,
    /// When the next frame may leave; of an idle link, not before the next one comes.
    free_at: Instant,
    sequence: u8,
}

impl<F: Copy> VirtualLink<F> {
    /// An idle link.
    ///
    /// # Panics
    /// If it has no sub-virtual-link, or queues no frame.
    #[must_use]
    pub fn new(bag: Duration, buffer: LinkBuffer, sub_links: usize) -> Self {
        assert!(sub_links > 0 && buffer != LinkBuffer::Queueing(0), "a link takes frames");
        let places = match buffer {
            LinkBuffer::Queueing(limit) => limit as usize,
            LinkBuffer::Overwriting => 1,
        };
        Self {
            bag,
            buffer,
            sub_links: (0..sub_links).map(|_| VecDeque::with_capacity(places.min(64))).collect(),
            turn: 0,
            free_at: Instant::ZERO,
            sequence: SEQUENCE_RESET,
        }
    }

    /// Takes a frame of a sub-virtual-link.
    pub fn offer(&mut self, now: Instant, sub_link: usize, frame: F) -> Kept<F> {
        if self.sub_links.iter().all(VecDeque::is_empty) {
            self.free_at = self.free_at.max(now);
        }
        let waiting = &mut self.sub_links[sub_link];
        match self.buffer {
            LinkBuffer::Queueing(limit) => {
                if waiting.len() >= limit as usize {
                    return Kept::Full;
                }
                waiting.push_back(frame);
                Kept::Queued
            }
            LinkBuffer::Overwriting => {
                if planted!(OlderKept) && !waiting.is_empty() {
                    return Kept::Overwrote(frame);
                }
                let old = waiting.pop_front();
                waiting.push_back(frame);
                old.map_or(Kept::Queued, Kept::Overwrote)
            }
        }
    }

    /// When the next frame leaves, if one waits: not before this time, and at it if polled then.
    #[must_use]
    pub fn release_at(&self) -> Option<Instant> {
        self.sub_links.iter().any(|waiting| !waiting.is_empty()).then_some(self.free_at)
    }

    /// Lets a frame go, with its sequence number; none before its time, or if none waits.
    pub fn release(&mut self, now: Instant) -> Option<(F, u8)> {
        if now < self.free_at {
            return None;
        }
        let count = self.sub_links.len();
        let sub_link =
            (0..count).map(|step| (self.turn + step) % count).find(|one| !self.sub_links[*one].is_empty())?;
        let frame = self.sub_links[sub_link].pop_front()?;
        self.turn = if planted!(NoTurns) { 0 } else { (sub_link + 1) % count };
        // From when it might have left: a late call delays none of the frames behind it.
        let bag = self.bag.as_ps();
        self.free_at += if planted!(HalfBag) { Duration::from_ps(bag / 2) } else { self.bag };
        Some((frame, self.number()))
    }

    /// The sequence number of a frame that leaves.
    pub fn number(&mut self) -> u8 {
        let number = self.sequence;
        self.sequence = sequence_after(number);
        number
    }

    /// The frames that wait.
    pub fn waiting(&self) -> impl Iterator<Item = F> + '_ {
        self.sub_links.iter().flatten().copied()
    }

    /// Forgets its frames, and begins anew with its sequence numbers. Keeps the BAG.
    pub fn reset(&mut self) {
        self.sub_links.iter_mut().for_each(VecDeque::clear);
        self.sequence = SEQUENCE_RESET;
        self.turn = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_ms(ms)
    }

    fn link(buffer: LinkBuffer, sub_links: usize) -> VirtualLink<u32> {
        VirtualLink::new(Duration::from_ms(4), buffer, sub_links)
    }

    #[test]
    fn frames_leave_a_bag_apart() {
        let mut link = link(LinkBuffer::Queueing(8), 1);
        assert_eq!(link.release_at(), None);
        for frame in 1..=3 {
            assert_eq!(link.offer(at(10), 0, frame), Kept::Queued);
        }
        assert_eq!(link.release(at(10)), Some((1, 0)));
        assert_eq!(link.release_at(), Some(at(14)));
        assert_eq!(link.release(at(13)), None, "early calls change nothing");
        assert_eq!(link.release(at(14)), Some((2, 1)));
        assert_eq!(link.release(at(19)), Some((3, 2)), "called late");
        assert_eq!(link.release_at(), None);
        assert_eq!(link.offer(at(20), 0, 4), Kept::Queued);
        assert_eq!(link.release(at(21)), None, "the BAG counts from when the last one was due");
        assert_eq!(link.release(at(22)), Some((4, 3)));
        assert_eq!(link.offer(at(40), 0, 5), Kept::Queued);
        assert_eq!(link.release(at(40)), Some((5, 4)), "an idle link takes it at once");
    }

    #[test]
    fn only_the_last_message_of_a_bag_leaves() {
        let mut link = link(LinkBuffer::Overwriting, 1);
        assert_eq!(link.offer(at(0), 0, 1), Kept::Queued);
        assert_eq!(link.release(at(0)), Some((1, 0)));
        assert_eq!(link.offer(at(1), 0, 2), Kept::Queued);
        assert_eq!(link.offer(at(1), 0, 3), Kept::Overwrote(2));
        assert_eq!(link.offer(at(1), 0, 4), Kept::Overwrote(3));
        assert_eq!(link.release(at(4)), Some((4, 1)), "what was lost took no number");
        assert_eq!(link.release(at(8)), None);
    }

    #[test]
    fn a_full_queue_loses_the_newest() {
        let mut link = link(LinkBuffer::Queueing(2), 1);
        let kept = [1, 2, 3].map(|frame| link.offer(at(0), 0, frame));
        assert_eq!(kept, [Kept::Queued, Kept::Queued, Kept::Full]);
        assert_eq!(link.waiting().collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn sub_virtual_links_take_turns() {
        let mut link = link(LinkBuffer::Queueing(8), 3);
        for frame in [10, 11, 12] {
            link.offer(at(0), 0, frame);
        }
        link.offer(at(0), 2, 30);
        link.offer(at(0), 2, 31);
        let order: Vec<u32> =
            (0..5).filter_map(|step| link.release(at(4 * step))).map(|(frame, _)| frame).collect();
        assert_eq!(order, [10, 30, 11, 31, 12]);
    }

    #[test]
    fn numbers_begin_at_nought_and_never_come_back_to_it() {
        let mut link = link(LinkBuffer::Overwriting, 1);
        let numbers: Vec<u8> = (0..512).map(|_| link.number()).collect();
        assert_eq!(numbers[..3], [0, 1, 2]);
        assert_eq!(numbers[254..258], [254, 255, 1, 2]);
        assert!(!numbers[1..].contains(&0));
        link.offer(at(0), 0, 1);
        link.reset();
        assert_eq!((link.release_at(), link.number()), (None, 0));
    }
}
