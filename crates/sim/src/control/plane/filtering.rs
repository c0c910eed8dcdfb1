//! Filtering that changes during a run: which hops of a stream are closed, and why.
//!
//! A frame that reaches the port of a closed hop is not forwarded there, and is no loss. The engine keeps the tables
//! and looks each frame of a hop up that was ever closed; a flag of the plan marks these hops. Several reasons may
//! hold at once; the first of [`Shut`] counts.

use std::collections::BTreeMap;

use tautwire_model::network::StreamIndex;

use crate::engine::Engine;
use crate::fates::{Fate, Whereabouts};
use crate::plan::HopFlags;
use crate::recorder::Recorder;

/// Why the port of a hop takes no frames of its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shut {
    /// No listener behind it has a reservation.
    NotReserved,
    /// The stream's VLAN is not registered there.
    NotRegistered,
}

/// What a mechanism may do to filters. A hop is a stream's, by its place among those of the stream.
pub trait Filtering {
    /// The port of a hop takes no frames of the stream for a reason, or does not for this one any more.
    fn shut(&mut self, stream: StreamIndex, hop: usize, why: Shut, so: bool);

    /// The port at the far end of a hop lets no frames of the stream in, or does again.
    fn shut_far_end(&mut self, stream: StreamIndex, hop: usize, so: bool);

    /// Frames that a hop did not take for a reason.
    fn filtered(&self, stream: StreamIndex, hop: usize, why: Shut) -> u64;
}

/// Filters of a run; empty until a mechanism shuts something.
#[derive(Debug, Default)]
pub(crate) struct Filters {
    /// Per hop of the plan: the reasons for which it is shut, a bit each.
    shut: Vec<u8>,
    /// Per hop: whether its far end is.
    far_end: Vec<bool>,
    filtered: BTreeMap<(u32, Shut), u64>,
}

impl Filters {
    /// Why a hop is shut.
    #[inline]
    fn why(&self, hop: u32) -> Option<Shut> {
        match self.shut.get(hop as usize) {
            None | Some(0) => None,
            Some(_) if self.is_shut(hop, Shut::NotReserved) => Some(Shut::NotReserved),
            Some(_) => Some(Shut::NotRegistered),
        }
    }

    /// Whether a hop is shut for a reason.
    #[inline]
    pub(crate) fn is_shut(&self, hop: u32, why: Shut) -> bool {
        self.shut.get(hop as usize).is_some_and(|shut| shut & why.bit() != 0)
    }

    /// Whether the far end of a hop is shut.
    #[inline]
    pub(crate) fn is_far_end_shut(&self, hop: usize) -> bool {
        self.far_end.get(hop).is_some_and(|shut| *shut)
    }
}

impl Shut {
    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Filtering for Engine<'_, R, PLUGGED> {
    fn shut(&mut self, stream: StreamIndex, hop: usize, why: Shut, so: bool) {
        let hop = self.plan.first_hop[stream.index()] as usize + hop;
        self.filters.shut.resize(self.plan.hops.len(), 0);
        self.plan.hops[hop].flags.add(HopFlags::SHUT, so);
        let shut = &mut self.filters.shut[hop];
        *shut = if so { *shut | why.bit() } else { *shut & !why.bit() };
    }

    fn shut_far_end(&mut self, stream: StreamIndex, hop: usize, so: bool) {
        let hop = self.plan.first_hop[stream.index()] as usize + hop;
        self.filters.far_end.resize(self.plan.hops.len(), false);
        self.plan.hops[hop].flags.add(HopFlags::INSPECTED, so);
        self.filters.far_end[hop] = so;
    }

    fn filtered(&self, stream: StreamIndex, hop: usize, why: Shut) -> u64 {
        let hop = self.plan.first_hop[stream.index()] + u32::try_from(hop).expect("a place of a hop");
        self.filters.filtered.get(&(hop, why)).copied().unwrap_or(0)
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// Whether a hop is shut: the frame goes no further then.
    #[inline]
    pub(crate) fn is_shut_out(&mut self, place: u32, hop: u32) -> bool {
        let Some(why) = self.filters.why(hop) else { return false };
        self.count_filtered(place, hop, why);
        true
    }

    #[cold]
    fn count_filtered(&mut self, place: u32, hop: u32, why: Shut) {
        *self.filters.filtered.entry((hop, why)).or_default() += 1;
        self.filter(place, hop);
    }

    /// The port of a hop does not take a frame, and that is no loss.
    #[cold]
    pub(crate) fn filter(&mut self, place: u32, hop: u32) {
        let slot = self.slab.remove(place);
        self.statistics.fates.note(slot.stream, Fate::Withheld, Whereabouts::Hop(hop));
        self.statistics.streams[slot.stream as usize].consumed += 1;
    }
}
