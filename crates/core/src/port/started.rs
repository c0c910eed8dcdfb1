//! Frames that have begun and may still change: one door for all that cuts them.
//!
//! A port that is *watched* is asked again while it sends: [`EgressPort::next_look`] says when, [`EgressPort::cut`] what happens then. A frame that
//! is given up goes back to the head of its lane (`integrated.rs`); one that is interrupted is given out again for its rest, before any other that may be
//! interrupted (`merged.rs`). Its transmission is over when its last octet is out, and not known before.

use tautwire_units::{Bytes, Duration, Instant};

use super::{EgressPort, QueuedFrame};

/// Octets of the gap behind a frame, and the octet that is being sent.
const CUT: Bytes = Bytes::new(13);

/// What became of the frame on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut<F> {
    /// It goes on.
    No,
    /// What of it is out is in vain: it waits again at the head of its lane.
    GivenUp(F),
    /// Its rest follows later; the line is taken for what ends this part of it, until [`EgressPort::busy_until`].
    Interrupted(F),
}

impl<F: QueuedFrame> EgressPort<F> {
    /// Whether it is to be asked while it sends.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.integrated.is_some() || self.merge().is_some()
    }

    /// Whether the frame that was given out last may still change.
    #[must_use]
    pub fn may_change(&self) -> bool {
        let integrated = self.integrated.as_ref().is_some_and(|integrated| integrated.may_cut());
        integrated || self.merge().is_some_and(|merge| merge.may_cut())
    }

    /// When a port with a frame under way that may change is to be asked again at the earliest, if that is before its end.
    #[must_use]
    pub fn next_look(&mut self, now: Instant) -> Option<Instant> {
        match &self.integrated {
            Some(integrated) => integrated.next_look(),
            None => self.wants_line(now),
        }
    }

    /// The last instant at which the frame under way may change, if that is known to be before its last octet.
    #[must_use]
    pub fn changes_until(&self) -> Option<Instant> {
        let merge = self.merge()?;
        merge.changes_until(self.octet_time)
    }

    /// Cuts the frame under way if something wants the line that may have it.
    pub fn cut(&mut self, now: Instant) -> Cut<F> {
        if self.integrated.is_some() {
            return self.cut_integrated(now).map_or(Cut::No, Cut::GivenUp);
        }
        self.interrupt(now).map_or(Cut::No, Cut::Interrupted)
    }

    /// The frame under way is lost with all that waits: the line is free as behind a cut.
    pub(super) fn lose_under_way(&mut self, now: Instant) {
        let integrated = self.integrated.as_mut().is_some_and(|integrated| integrated.forget());
        let merged = self.gated_mut().and_then(|gated| gated.merge.as_mut());
        let lost = integrated || merged.is_some_and(|merge| merge.forget());
        if lost && now < self.busy_until {
            self.free_line(now);
        }
    }

    /// The frame under way ends with the octet that is being sent, and the gap.
    pub(super) fn free_line(&mut self, now: Instant) {
        let free = now.saturating_add(self.octet_time.duration_ceil(CUT)).min(self.busy_until);
        self.take_line_until(free);
    }

    /// The line is taken until then and not for longer.
    pub(super) fn take_line_until(&mut self, free: Instant) {
        let free = free.min(self.busy_until);
        self.busy = Duration::from_ps(self.busy.as_ps() - self.busy_until.since(free).as_ps());
        self.busy_until = free;
    }
}
