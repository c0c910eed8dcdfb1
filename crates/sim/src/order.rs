//! Order at every port, asserted in every run of a build with debug assertions (all tests and searches).
//!
//! - Frames of a stream leave a port in the order in which they were created (IEEE Std 802.1Q-2022, 6.5.3). Each path
//!   of a copy has hops of its own, so copies of a redundant link, of a flood and of a replication are compared with
//!   their own kind. A frame that is lost, filtered, overwritten by a newer one or cut and sent again leaves a gap at
//!   most. Frames of protocols (`Traffic::Protocol`) are no stream: each kind of message has its own priority.
//!   Nor are frames whose class a bridge chooses one by one.
//! - Frames of an ATS scheduler group leave a port in the order in which the group has assigned their eligibility times (8.6.11.3).
//!
//! A release build has none of it.

use tautwire_model::Network;

use crate::frame::Slot;
use crate::plan::Plan;

#[cfg(debug_assertions)]
use std::collections::{BTreeMap, BTreeSet};

#[cfg(debug_assertions)]
use tautwire_model::network::Traffic;

#[cfg(debug_assertions)]
use crate::plan::NONE;

/// The last frame that left each port.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    /// Per hop the number behind that of its last frame.
    #[cfg(debug_assertions)]
    next: Vec<u32>,
    /// Per frame on its way, by its place: how many were scheduled before it.
    #[cfg(debug_assertions)]
    scheduled: Vec<u64>,
    /// How many were scheduled.
    #[cfg(debug_assertions)]
    count: u64,
    /// Per port and group, of the last frame.
    #[cfg(debug_assertions)]
    groups: BTreeMap<(u32, u32), u64>,
    /// Streams of whose frames a bridge has chosen the class.
    #[cfg(debug_assertions)]
    chosen: BTreeSet<u32>,
}

/// How many frames were scheduled before one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scheduled(#[cfg(debug_assertions)] u64);

#[cfg(debug_assertions)]
impl Order {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self { next: vec![0; plan.hops.len()], ..Self::default() }
    }

    /// A scheduler has given a frame its eligibility time, and it goes to its queue now.
    pub(crate) fn schedule(&mut self, place: u32) {
        let place = place as usize;
        if self.scheduled.len() <= place {
            self.scheduled.resize(place + 1, 0);
        }
        self.count += 1;
        self.scheduled[place] = self.count;
    }

    /// How many were scheduled before a frame, to be restored where another engine has the frame.
    pub(crate) fn scheduled(&self, place: u32) -> Scheduled {
        Scheduled(self.scheduled.get(place as usize).copied().unwrap_or(0))
    }

    /// A frame comes from another engine.
    pub(crate) fn restore(&mut self, place: u32, scheduled: Scheduled) {
        let place = place as usize;
        if self.scheduled.len() <= place {
            self.scheduled.resize(place + 1, 0);
        }
        self.scheduled[place] = scheduled.0;
    }

    /// A bridge chooses the class of a stream's frames one by one from here on.
    pub(crate) fn choose(&mut self, stream: u32) {
        self.chosen.insert(stream);
    }

    /// A frame is sent.
    ///
    /// # Panics
    /// If one of its stream or of its scheduler group that came after it was sent before it.
    pub(crate) fn leave(&mut self, network: &Network, plan: &Plan, slot: &Slot, place: u32) {
        let hop = &plan.hops[slot.hop as usize];
        let stream = &network.streams[slot.stream as usize];
        if stream.traffic != Traffic::Protocol && !self.chosen.contains(&slot.stream) {
            let next = &mut self.next[slot.hop as usize];
            assert!(
                *next <= slot.number,
                "frame {} of {} leaves port {} behind frame {}",
                slot.number,
                stream.name,
                hop.port,
                *next - 1
            );
            *next = slot.number + 1;
        }
        if hop.scheduler != NONE {
            let group = network.schedulers[hop.scheduler as usize].group.0;
            let (last, own) =
                (self.groups.entry((hop.port, group)).or_default(), self.scheduled[place as usize]);
            assert!(
                *last < own,
                "frame {} of {} leaves port {} behind one that came after it to its scheduler group",
                slot.number,
                stream.name,
                hop.port
            );
            *last = own;
        }
    }
}

#[cfg(not(debug_assertions))]
impl Order {
    #[inline]
    pub(crate) fn new(_: &Plan) -> Self {
        Self::default()
    }

    #[inline]
    pub(crate) fn schedule(&mut self, _: u32) {}

    #[inline]
    pub(crate) fn scheduled(&self, _: u32) -> Scheduled {
        Scheduled()
    }

    #[inline]
    pub(crate) fn restore(&mut self, _: u32, _: Scheduled) {}

    #[inline]
    pub(crate) fn choose(&mut self, _: u32) {}

    #[inline]
    pub(crate) fn leave(&mut self, _: &Network, _: &Plan, _: &Slot, _: u32) {}
}
