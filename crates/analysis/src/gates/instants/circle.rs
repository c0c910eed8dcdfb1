//! Ports that frames reach in a circle: each one's instants depend on those of the others.
//!
//! The circle begins with every frame as early as it can be, and passes all of its ports again and again. What a port finds is added to what
//! was assumed of its frames, so that spans only grow, until all that the ports find lies within what was assumed. Then it holds: take
//! the first frame of a run that is at some place later, or earlier, than its span says. What the port computed for it depends on
//! frames at this port up to that instant, and on the frame's own start at the port before, which was a transmission earlier. All
//! of these are within their spans, and so is what follows from them.
//!
//! If the spans do not come to rest, frames from the circle are known by curves alone.

use super::{Frame, Instants, Span};
use crate::order::Component;

/// Most times that the ports of a circle are passed.
const ROUNDS_MAX: usize = 64;

impl Span {
    /// Later by the least time alone.
    fn at_least(self, least: i64) -> Self {
        self.later(least, Some(least))
    }

    fn has(self, other: Self) -> bool {
        self.earliest <= other.earliest && other.latest <= self.latest
    }

    fn with(self, other: Self) -> Self {
        Self { earliest: self.earliest.min(other.earliest), latest: self.latest.max(other.latest) }
    }
}

impl Frame {
    fn spans(&self) -> [Span; 5] {
        [self.released, self.here, self.queued, self.start, self.next]
    }

    /// Whether all spans of another view of the frame lie within these.
    fn has(&self, other: &Self) -> bool {
        self.spans().into_iter().zip(other.spans()).all(|(own, other)| own.has(other))
    }

    fn with(&self, other: &Self) -> Self {
        Self {
            released: self.released.with(other.released),
            here: self.here.with(other.here),
            queued: self.queued.with(other.queued),
            start: self.start.with(other.start),
            next: self.next.with(other.next),
        }
    }
}

impl Instants<'_, '_> {
    /// All frames at the ports of a circle.
    pub(super) fn go_round(&mut self, component: &Component) {
        let plan = &self.analysis.plan;
        let entries = || component.ports.iter().flat_map(|port| plan.at_port(*port));
        for entry in entries() {
            self.frames[*entry as usize] = self.earliest(*entry);
        }
        if (0..ROUNDS_MAX).any(|_| self.is_at_rest(component)) {
            return;
        }
        for entry in entries() {
            self.frames[*entry as usize].clear();
        }
        component.ports.iter().for_each(|port| self.pass(*port));
    }

    /// The frames of an entry, as early as they can be.
    fn earliest(&self, number: u32) -> Vec<Frame> {
        let entry = &self.analysis.plan.entries[number as usize];
        let frame = |released: Span| Frame {
            released,
            here: released.at_least(entry.here_min),
            queued: released.at_least(entry.ready_min),
            start: released.at_least(entry.ready_min),
            next: released.at_least(entry.next_min),
        };
        self.releases.frames(entry.stream).into_iter().map(frame).collect()
    }

    /// Passes all ports once. Whether all that they found was within what was assumed.
    fn is_at_rest(&mut self, component: &Component) -> bool {
        let mut is_at_rest = true;
        for port in &component.ports {
            let assumed: Vec<(u32, Vec<Frame>)> = {
                let entries = self.analysis.plan.at_port(*port).iter();
                entries.map(|entry| (*entry, self.frames[*entry as usize].clone())).collect()
            };
            self.pass(*port);
            for (entry, assumed) in assumed {
                for (found, assumed) in self.frames[entry as usize].iter_mut().zip(assumed) {
                    is_at_rest &= assumed.has(found);
                    *found = found.with(&assumed);
                }
            }
        }
        #[cfg(feature = "planted-faults")]
        if self.analysis.plan.fault == Some(crate::PlantedFault::CircleNotClosed) {
            return true;
        }
        is_at_rest
    }
}
