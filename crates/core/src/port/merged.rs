//! An egress port with a MAC merge sublayer: express frames cut preemptable ones (IEEE Std 802.1Q-2022, 6.7.2 and 8.6.8; IEEE Std 802.3-2022, clause 99).
//!
//! With the line free an express frame goes before all preemptable ones, whatever its class; then the frame that was interrupted goes on;
//! then the highest class of preemptable frames sends. None of these begins or goes on while the list of the gates holds them. An express frame cuts the
//! preemptable one on the line when its class may send and, behind the cut, it still fits before its gate shuts; a hold cuts by itself. mPackets that verify
//! or respond go when the line is free and no frame is interrupted, before all frames and whatever the gates: so a verification ends under any load.
//! Invariant: one preemptable frame at most has begun and is not out. Not here: where a frame may be cut (`preemption/`).

use tautwire_units::{Duration, Instant};

use super::gated::Gated;
use super::{Arbiter, EgressPort, QueuedFrame, Selection};
use crate::preemption::{GAP, HEAD, MPacket, Merge, MergeCounters, Started, VERIFY_OCTETS};

impl<F: QueuedFrame> EgressPort<F> {
    /// Its MAC merge sublayer.
    pub(super) fn merge(&self) -> Option<&Merge<F>> {
        self.gated()?.merge.as_deref()
    }

    /// Whether it has a MAC merge sublayer.
    #[must_use]
    pub fn is_merging(&self) -> bool {
        self.merge().is_some()
    }

    /// Whether preemption is active.
    #[must_use]
    pub fn is_preempting(&self) -> bool {
        self.merge().is_some_and(Merge::is_active)
    }

    /// Preemption is active from now on, or is not. The port is then asked what to do.
    pub fn set_preempting(&mut self, now: Instant, active: bool) {
        self.settle_gates(now);
        if let Some(merge) = self.gated_mut().and_then(|gated| gated.merge.as_mut()) {
            merge.set_active(active);
        }
    }

    /// An mPacket that verifies or responds is to be sent. The port is then asked what to do.
    pub fn send_verification(&mut self, mpacket: MPacket) {
        if let Some(merge) = self.gated_mut().and_then(|gated| gated.merge.as_mut()) {
            merge.request(mpacket);
        }
    }

    /// The mPacket that verifies or responds on which the line was last taken, until [`EgressPort::busy_until`]; once.
    pub fn verification_sent(&mut self) -> Option<MPacket> {
        self.gated_mut()?.merge.as_mut()?.take_sent()
    }

    /// Whether it has something to send by itself: a rest of a frame, or an mPacket of verification.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.merge().is_some_and(|merge| merge.interrupted().is_some() || merge.has_request())
    }

    /// What its MAC merge sublayer has counted.
    #[must_use]
    pub fn merge_counters(&self) -> MergeCounters {
        self.merge().map_or(MergeCounters::default(), Merge::counters)
    }

    /// How often the list of its gates asked its MAC to hold preemptable frames.
    #[must_use]
    pub fn hold_count(&self) -> u64 {
        self.gated().map_or(0, |gated| gated.gates.hold_count())
    }

    /// Octets of the interrupted frame in its last mPacket.
    #[must_use]
    pub fn part_octets(&self) -> u64 {
        self.merge().map_or(0, |merge| u64::from(merge.part()))
    }

    /// How what was given out last begins on the line.
    #[must_use]
    pub fn mpacket(&self) -> MPacket {
        self.merge().map_or(MPacket::Express, Merge::last)
    }

    /// The preemptable frame that has begun and is not out.
    #[must_use]
    pub fn started(&self) -> Option<&Started<F>> {
        self.merge()?.started()
    }

    /// What to do at `now`, with the line free and gates settled.
    pub(super) fn select_merged(&mut self, gated: &mut Gated<F>, now: Instant) -> Selection<F> {
        let Some(mut merge) = gated.merge.take() else { return Selection::Idle };
        merge.line_is_free();
        let selection = self.select_of_both(gated, &mut merge, now);
        gated.merge = Some(merge);
        selection
    }

    fn select_of_both(&mut self, gated: &mut Gated<F>, merge: &mut Merge<F>, now: Instant) -> Selection<F> {
        if merge.begin_request() {
            let wire = self.wire_time(HEAD + VERIFY_OCTETS + GAP);
            self.busy_until = now.saturating_add(wire);
            self.busy += wire;
            return Selection::Wait(self.busy_until);
        }
        let preemptable = merge.preemptable();
        let express = match self.select_of(gated, !preemptable, now) {
            Ok((_, selection)) => {
                merge.express();
                return selection;
            }
            Err(wake) => wake,
        };
        let is_interrupted = merge.interrupted().is_some();
        let waits = is_interrupted || self.occupied & preemptable != 0;
        let (held, until) = gated.gates.hold(now, merge.config().advances);
        let wake = if !waits {
            None
        } else if held {
            Some(until)
        } else if let Some(selection) =
            is_interrupted.then(|| self.resume(gated, merge, (now, until))).flatten()
        {
            return selection;
        } else {
            match self.select_of(gated, preemptable, now) {
                Ok((class, selection)) => {
                    if let Selection::Transmit { frame, .. } = selection {
                        merge.begin(now, frame, (class, frame.octets()));
                    }
                    return selection;
                }
                Err(wake) => wake,
            }
        };
        let wake = express.into_iter().chain(wake).min().filter(|wake| *wake < Instant::MAX);
        wake.map_or(Selection::Idle, Selection::Wait)
    }

    /// The interrupted frame goes on, at `now`. Its MAC holds from `hold` on: what is cut by then is not on the line when the gate shuts.
    fn resume(
        &mut self,
        gated: &mut Gated<F>,
        merge: &mut Merge<F>,
        (now, hold): (Instant, Instant),
    ) -> Option<Selection<F>> {
        let (frame, octets) = merge.resume(now, self.octet_time)?;
        let class = frame.class().index();
        let wire = self.wire_time(octets);
        self.busy_until = now.saturating_add(wire);
        self.busy += wire;
        let end = now.saturating_add(self.wire_time(octets - GAP));
        let close = gated.gates.close_by(class, end);
        let uncut = self.wire_time(merge.config().add_frag_size.blocking(u32::MAX));
        let is_shut = !gated.gates.is_open(class) || close < end && close < hold.saturating_add(uncut);
        gated.counters[class].transmission_overrun += u64::from(merge.overruns(is_shut));
        Some(Selection::Transmit { frame, held: Duration::ZERO })
    }

    /// When something may want the line of the frame under way that may have it: now, or later if nothing comes.
    pub(super) fn wants_line(&mut self, now: Instant) -> Option<Instant> {
        let mut arbiter = self.arbiter.take()?;
        let wants = match &mut *arbiter {
            Arbiter::Gates(gated) => {
                self.settle_gated(gated, now);
                self.wants_line_behind(gated, now)
            }
            Arbiter::Servers(_) => None,
        };
        self.arbiter = Some(arbiter);
        wants
    }

    fn wants_line_behind(&mut self, gated: &Gated<F>, now: Instant) -> Option<Instant> {
        let merge = gated.merge.as_deref()?;
        let sent = merge.cut_at(now, self.octet_time)?;
        let start = merge.free_at(sent, self.octet_time);
        let (held, until) = gated.gates.hold(now, merge.config().advances);
        if held {
            return Some(now);
        }
        let mut look = until;
        let mut left = self.occupied & !merge.preemptable();
        while left != 0 {
            let class = (7 - left.leading_zeros()) as usize;
            left &= !(1 << class);
            match self.starts(gated, class, (now, start)) {
                Ok(_) => return Some(now),
                Err(Some(at)) => look = look.min(at),
                Err(None) => {}
            }
        }
        // What comes later than the last place to cut it waits for its end.
        merge.cut_at(look, self.octet_time).map(|_| look)
    }

    /// Interrupts the frame under way if something wants the line now.
    pub(super) fn interrupt(&mut self, now: Instant) -> Option<F> {
        if self.wants_line(now)? > now {
            return None;
        }
        let octet_time = self.octet_time;
        let shaped = self.shaped;
        let merge = self.merge()?;
        let sent = merge.cut_at(now, octet_time)?;
        let free = merge.free_at(sent, octet_time);
        let class = merge.started()?.class();
        let is_shaped = shaped & (1 << class) != 0;
        let charged = is_shaped.then(|| self.classes[class].shaper().0.charged_until());
        let merge = self.gated_mut()?.merge.as_mut()?;
        let (frame, end) = merge.cut(sent, octet_time, charged)?;
        if is_shaped {
            self.classes[class].shaper().0.interrupt(end);
        }
        self.take_line_until(if planted!(CutForNothing) { end } else { free });
        Some(frame)
    }
}

#[cfg(test)]
#[path = "merged_tests.rs"]
mod tests;
