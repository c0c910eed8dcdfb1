//! Frames on their way: slots in a slab, handles in the queues, entries in the rings.

use std::collections::VecDeque;

use tautwire_core::{QueuedFrame, TrafficClass};

use crate::clock::SimTime;

/// One frame, or one copy of it: a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Slot {
    /// When the application created it.
    pub(crate) created: SimTime,
    /// When its last bit reached this node; at the talker, its creation.
    pub(crate) received: SimTime,
    /// When its arrival was recognised here: what ATS reckons from.
    pub(crate) arrival: SimTime,
    /// When it reached the queue of the egress port.
    pub(crate) queued: SimTime,
    pub(crate) stream: u32,
    pub(crate) number: u32,
    /// The hop that it is about to pass, or has passed.
    pub(crate) hop: u32,
    pub(crate) payload: u16,
    /// Whether a bit was received wrong.
    pub(crate) corrupted: bool,
}

/// Octets of a frame, destination to FCS.
#[inline]
pub(crate) fn octets_of(payload: u16, overhead: u8) -> u16 {
    (payload + u16::from(overhead)).max(64)
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

    #[inline]
    pub(crate) fn get_mut(&mut self, place: u32) -> &mut Slot {
        &mut self.slots[place as usize]
    }
}

/// What a port's queue holds of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handle {
    pub(crate) slot: u32,
    pub(crate) octets: u16,
    pub(crate) class: TrafficClass,
}

impl QueuedFrame for Handle {
    #[inline]
    fn octets(self) -> u32 {
        u32::from(self.octets)
    }

    #[inline]
    fn class(self) -> TrafficClass {
        self.class
    }
}

/// A frame between two nodes' queues, due at `ready`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    pub(crate) ready: SimTime,
    pub(crate) slot: u32,
    /// Branch to be taken at the next node; or the only hop behind it and [`InFlight::HOP`]; or
    /// [`InFlight::DELIVERY`].
    pub(crate) branch: u32,
}

impl InFlight {
    /// The far end is an end station.
    pub(crate) const DELIVERY: u32 = u32::MAX;
    /// Marks a hop.
    pub(crate) const HOP: u32 = 1 << 31;
}

/// Frames between two nodes' queues, in the order in which they are due; among equals, as they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ring {
    frames: VecDeque<InFlight>,
}

impl Ring {
    /// Adds a frame; true if it is the first to be due.
    #[inline]
    pub(crate) fn insert(&mut self, frame: InFlight) -> bool {
        match self.frames.back() {
            Some(last) if last.ready > frame.ready => {
                let later = self.frames.iter().rev().take_while(|other| other.ready > frame.ready);
                let place = self.frames.len() - later.count();
                self.frames.insert(place, frame);
                place == 0
            }
            last => {
                let first = last.is_none();
                self.frames.push_back(frame);
                first
            }
        }
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<InFlight> {
        self.frames.pop_front()
    }

    #[inline]
    pub(crate) fn next_ready(&self) -> Option<SimTime> {
        self.frames.front().map(|frame| frame.ready)
    }

    pub(crate) fn len(&self) -> usize {
        self.frames.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &InFlight> {
        self.frames.iter()
    }

    /// Removes the frames for which `lost` holds and gives them back.
    pub(crate) fn remove_if(&mut self, mut lost: impl FnMut(&InFlight) -> bool) -> Vec<InFlight> {
        let mut removed = Vec::new();
        self.frames.retain(|frame| {
            let is_lost = lost(frame);
            if is_lost {
                removed.push(*frame);
            }
            !is_lost
        });
        removed
    }
}
