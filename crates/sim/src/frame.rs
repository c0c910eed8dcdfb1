//! Frames on their way: slots in a slab, handles in the queues, chains of slots in the rings.

use std::num::NonZeroU16;

use tautwire_core::{Priority, QueuedFrame, TrafficClass};
use tautwire_units::Duration;

use crate::clock::SimTime;
use crate::plan::NONE;

/// One frame, or one copy of it: a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Slot {
    /// When the application created it.
    pub(crate) created: SimTime,
    /// When its last bit reached this node; at the talker, its creation.
    pub(crate) received: SimTime,
    /// When its arrival was recognised here: the input of ATS.
    pub(crate) arrival: SimTime,
    /// When it reached the queue of the egress port, or of what lets it go to that at the talker; on its way there, when it
    /// will.
    pub(crate) queued: SimTime,
    /// How long the talker's ATS scheduler, a TDMA station or the regulator of a virtual link held it before its port.
    pub(crate) held_before: Duration,
    pub(crate) stream: u32,
    pub(crate) number: u32,
    /// The hop that it is about to pass, or has passed.
    pub(crate) hop: u32,
    /// The next step of the frame when it is due.
    pub(crate) aim: Aim,
    /// The frame behind it in its ring, or [`NONE`].
    pub(crate) behind: u32,
    pub(crate) payload: u16,
    pub(crate) marks: Marks,
    /// Sequence number of a virtual link's frame.
    pub(crate) sequence: u8,
}

/// Marks of a frame outside of its contents, in an octet: whether a bit was received wrong, whether it is
/// drop-eligible (802.1Q-2022, 6.6), and the internal priority that its node gave it (8.6.5.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks(u8);

impl Marks {
    const CORRUPTED: u8 = 1;
    const DROP_ELIGIBLE: u8 = 2;
    /// Whether there is an internal priority; its value is in the bits above.
    const INTERNAL: u8 = 4;
    const PRIORITY: u8 = 7 << 3;

    /// A bit was received wrong, if so.
    #[inline]
    pub(crate) fn corrupt(&mut self, so: bool) {
        self.0 |= u8::from(so);
    }

    /// Whether a bit was received wrong.
    #[inline]
    pub(crate) const fn is_corrupted(self) -> bool {
        self.0 & Self::CORRUPTED != 0
    }

    /// The frame may be discarded before others, or may not any more.
    pub(crate) const fn set_drop_eligible(&mut self, so: bool) {
        self.0 = if so { self.0 | Self::DROP_ELIGIBLE } else { self.0 & !Self::DROP_ELIGIBLE };
    }

    /// Whether it may be discarded before others.
    pub(crate) const fn is_drop_eligible(self) -> bool {
        self.0 & Self::DROP_ELIGIBLE != 0
    }

    /// Its node chooses its class by this priority; by its own, if by none.
    pub(crate) fn set_internal_priority(&mut self, priority: Option<Priority>) {
        let octet = priority.map_or(0, |priority| Self::INTERNAL | priority.number() << 3);
        self.0 = self.0 & !(Self::INTERNAL | Self::PRIORITY) | octet;
    }

    /// The priority by which its node chooses its class, if it is not its own.
    pub(crate) fn internal_priority(self) -> Option<Priority> {
        if self.0 & Self::INTERNAL == 0 {
            return None;
        }
        Priority::new((self.0 & Self::PRIORITY) >> 3)
    }
}

/// Octets of a frame, destination to FCS.
#[inline]
pub(crate) fn octets_of(payload: u16, overhead: u8) -> NonZeroU16 {
    NonZeroU16::MIN.saturating_add((payload + u16::from(overhead)).max(64) - 1)
}

/// All frames on their way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slab {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

impl Slab {
    #[inline]
    pub(crate) fn insert(&mut self, slot: Slot) -> u32 {
        if let Some(place) = self.free.pop() {
            self.slots[place as usize] = slot;
            return place;
        }
        self.slots.push(slot);
        u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 frames on their way")
    }

    #[inline]
    pub(crate) fn remove(&mut self, place: u32) -> Slot {
        self.free.push(place);
        self.slots[place as usize]
    }

    #[inline]
    pub(crate) fn get(&self, place: u32) -> &Slot {
        &self.slots[place as usize]
    }

    /// All frames, and some that were removed.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter()
    }

    /// The most frames that have been on their way at once.
    #[cfg(feature = "planted-faults")]
    pub(crate) fn places(&self) -> usize {
        self.slots.len()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, place: u32) -> &mut Slot {
        &mut self.slots[place as usize]
    }
}

/// A frame in a port's queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handle {
    pub(crate) slot: u32,
    pub(crate) octets: NonZeroU16,
    pub(crate) class: TrafficClass,
}

impl QueuedFrame for Handle {
    #[inline]
    fn octets(self) -> u32 {
        u32::from(self.octets.get())
    }

    #[inline]
    fn class(self) -> TrafficClass {
        self.class
    }
}

/// The next step of a frame in transit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Aim(u32);

impl Aim {
    /// It has reached an end station.
    pub(crate) const DELIVERY: Self = Self(u32::MAX);
    /// Its last bit is in at a node that is asked what becomes of it (`reception.rs`).
    pub(crate) const RECEPTION: Self = Self(u32::MAX - 1);
    const HOP: u32 = 1 << 31;

    /// It goes to the queue of the port of a hop, the only one behind.
    #[inline]
    pub(crate) fn hop(hop: u32) -> Self {
        debug_assert!(hop < Self::HOP - 2, "fewer than 2^31 hops");
        Self(hop | Self::HOP)
    }

    /// It goes to the queues of the ports of a branch.
    #[inline]
    pub(crate) fn branch(branch: u32) -> Self {
        debug_assert!(branch < Self::HOP, "fewer than 2^31 branches");
        Self(branch)
    }

    /// The only hop behind, or the branch.
    #[inline]
    pub(crate) fn hop_or_branch(self) -> Result<u32, u32> {
        if self.0 & Self::HOP == 0 { Err(self.0) } else { Ok(self.0 ^ Self::HOP) }
    }
}

/// Frames between two nodes' queues, in the order in which they are due; among equals, as they came.
/// A chain of slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ring {
    first: u32,
    last: u32,
    len: u32,
}

impl Ring {
    pub(crate) const EMPTY: Self = Self { first: NONE, last: NONE, len: 0 };

    /// Adds a frame that is due at `queued`; true if it is the first to be.
    #[inline]
    pub(crate) fn insert(&mut self, slab: &mut Slab, place: u32) -> bool {
        self.len += 1;
        let due = slab.get(place).queued;
        if self.first == NONE {
            slab.get_mut(place).behind = NONE;
            (self.first, self.last) = (place, place);
            return true;
        }
        let last = slab.get_mut(self.last);
        if last.queued <= due {
            last.behind = place;
            slab.get_mut(place).behind = NONE;
            self.last = place;
            return false;
        }
        self.overtake(slab, place, due)
    }

    /// Adds a frame that is due before the last one.
    #[cold]
    fn overtake(&mut self, slab: &mut Slab, place: u32, due: SimTime) -> bool {
        let mut before = NONE;
        let mut behind = self.first;
        while slab.get(behind).queued <= due {
            before = behind;
            behind = slab.get(behind).behind;
        }
        slab.get_mut(place).behind = behind;
        match before {
            NONE => self.first = place,
            before => slab.get_mut(before).behind = place,
        }
        before == NONE
    }

    /// Takes the first frame.
    #[inline]
    pub(crate) fn pop(&mut self, slab: &Slab) -> Option<u32> {
        let place = self.first;
        if place == NONE {
            return None;
        }
        self.len -= 1;
        self.first = slab.get(place).behind;
        Some(place)
    }

    /// When the first frame is due.
    #[inline]
    pub(crate) fn next_due(&self, slab: &Slab) -> Option<SimTime> {
        (self.first != NONE).then(|| slab.get(self.first).queued)
    }

    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// The places of the frames in order.
    pub(crate) fn iter(self, slab: &Slab) -> impl Iterator<Item = u32> {
        let behind = |place: &u32| Some(slab.get(*place).behind).filter(|place| *place != NONE);
        std::iter::successors((self.first != NONE).then_some(self.first), behind)
    }

    /// Removes the frames for which `lost` holds and gives their places back.
    pub(crate) fn remove_if(&mut self, slab: &mut Slab, lost: impl Fn(&Slot) -> bool) -> Vec<u32> {
        let all: Vec<u32> = self.iter(slab).collect();
        let (removed, kept): (Vec<u32>, Vec<u32>) = all.into_iter().partition(|place| lost(slab.get(*place)));
        *self = Self::EMPTY;
        for place in kept {
            self.insert(slab, place);
        }
        removed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_a_frame_do_not_touch_one_another() {
        let mut marks = Marks::default();
        marks.set_drop_eligible(true);
        for priority in (0..8).map(Priority::new) {
            marks.set_internal_priority(priority);
            assert_eq!((marks.internal_priority(), marks.is_drop_eligible()), (priority, true));
            assert!(!marks.is_corrupted());
        }
        marks.corrupt(false);
        assert!(!marks.is_corrupted());
        marks.corrupt(true);
        marks.set_drop_eligible(false);
        marks.set_internal_priority(None);
        assert_eq!((marks.internal_priority(), marks.is_drop_eligible()), (None, false));
        assert!(marks.is_corrupted());
    }
}
