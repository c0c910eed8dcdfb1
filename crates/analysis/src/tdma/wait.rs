//! The wait for a slot, from any instant.
//!
//! In: slots of a stream, arrivals of all of its station. Out: the greatest wait of a frame: over a busy period, the
//! n-th slot after any instant, where n counts the frames that may wait before the frame and itself. The answers of a
//! station wait together with its requests, so waits may depend on themselves, where two stations send requests to
//! each other: they are assumed, starting from zero, until they reproduce themselves. That holds: the first frame that
//! waited longer would contradict those before it. Waits that do not converge have no bound. Not here: how frames come
//! (`arrivals.rs`), the wait of a response for its request (`round_trip.rs`).

use std::cell::Cell;

use tautwire_core::tdma::Carries;
use tautwire_model::network::{StreamIndex, Traffic};
use tautwire_model::tdma::OwnedSlot;

use super::Cycle;
use super::arrivals::Arrivals;

/// Most frames of a busy period.
const FRAMES_MAX: u64 = 10_000;

/// Rates are compared as frames in so many picoseconds.
const RATE_UNIT: u128 = 1 << 62;

/// Rounds until waits that still grow are given up.
const ROUNDS_MAX: u32 = 1_000;

impl Cycle<'_> {
    /// Takes waits as known that reproduce themselves.
    pub(super) fn settle_waits(&mut self) {
        let count = self.network.streams.len();
        let mut asked = vec![false; count];
        for stream in &self.network.streams {
            if let Traffic::Response { to, .. } = stream.traffic {
                asked[to.index()] = true;
            }
        }
        self.waits = vec![Some(0); count];
        for round in 0..2 * ROUNDS_MAX {
            let wait =
                |number: usize| if asked[number] { self.wait(StreamIndex::at(number)) } else { Some(0) };
            let mut found: Vec<Option<u64>> = (0..count).map(wait).collect();
            // What still grows, or was given up, has none; what rests on it neither.
            if round >= ROUNDS_MAX {
                for (found, known) in found.iter_mut().zip(&self.waits) {
                    *found = found.filter(|found| Some(*found) == *known);
                }
            }
            if found == self.waits {
                return;
            }
            self.waits = found;
        }
        self.waits = vec![None; count];
    }

    /// Greatest wait of a stream's frame in its station's queue until its slot begins, true time.
    pub(super) fn wait(&self, number: StreamIndex) -> Option<u64> {
        if let Some(lifetime) = self.lifetime {
            // A frame that waits longer is lost.
            return Some(self.lived(lifetime));
        }
        // So are the frames that a station gets beyond the capacity of its slots.
        self.queued(number).or_else(|| self.tdma.lifetime.map(|lifetime| self.lived(lifetime.as_ps())))
    }

    /// The wait of what a station keeps for so long, until its slot begins.
    fn lived(&self, lifetime: u64) -> u64 {
        self.deviation.stretch(lifetime) + self.early + self.late
    }

    /// Whether a stream's frames find slots only because others, or some of them, are lost behind their lifetime.
    pub(super) fn is_crowded_out(&self, number: StreamIndex) -> bool {
        self.lifetime.is_none() && self.queued(number).is_none() && self.wait(number).is_some()
    }

    /// The wait behind all frames that may be queued before; none if that is without end.
    pub(super) fn queued(&self, number: StreamIndex) -> Option<u64> {
        let streams = || (0..self.network.streams.len()).map(StreamIndex::at);
        let talker = self.network.streams[number.index()].talker;
        let real_time = self.network.is_real_time(number);
        let competes = |other: &StreamIndex| {
            let stream = &self.network.streams[other.index()];
            // A start-up is over before any stream begins.
            let own = stream.traffic.is_control();
            stream.talker == talker && !own
        };
        let arrivals = |wanted: bool| -> Option<Vec<Arrivals>> {
            let same = streams().filter(competes).filter(|other| self.network.is_real_time(*other) == wanted);
            same.map(|other| self.arrivals(other)).collect()
        };
        let same = arrivals(real_time)?;
        // Slots for ordinary frames alone are never taken by others.
        let both =
            |slot: &OwnedSlot| slot.slot.carries == Carries::Both && self.network.is_carried(slot, number);
        let may_be_taken = !real_time && self.tdma.slots.iter().any(both);
        let before = if may_be_taken { arrivals(true)? } else { Vec::new() };
        let frames = |of: &[Arrivals], span: u64| {
            of.iter().fold(0_u64, |all, one| all.saturating_add(one.frames(span)))
        };
        let starts = self.starts(number, self.cycles);
        let slots = self.slots(&starts)?;
        if slots.are_overloaded(same.iter().chain(&before)) {
            return None;
        }
        let (mut span, mut wait) = (0, 0);
        loop {
            // Real-time frames that come meanwhile go first where a slot carries both.
            let mut gone = slots.service(frames(&same, span) + frames(&before, span))?;
            loop {
                let count = frames(&same, span).saturating_add(frames(&before, gone));
                let longer = slots.service(count)?;
                if longer <= gone {
                    break;
                }
                gone = longer;
            }
            wait = wait.max(gone.saturating_sub(span));
            span = same.iter().map(|one| one.next(span)).min()?;
            if span >= gone {
                return Some(wait);
            }
        }
    }

    /// How many of a station's slots failures without a lifetime cost: of a cycle that the standby opens those that
    /// may begin before its opening is received, one at least.
    fn slots_lost(&self, starts: &[u64]) -> u64 {
        let cycle = self.tdma.cycle.as_ps().max(1);
        let most_before = |end: u64| {
            let in_one = |number: u64| {
                starts.iter().filter(move |start| *start / cycle == number && *start % cycle < end)
            };
            let most = (0..self.cycles).map(|number| in_one(number).count()).max().unwrap_or(0);
            u64::try_from(most).unwrap_or(u64::MAX).max(1)
        };
        let taken_over = (self.lost - self.lost_entirely).saturating_mul(most_before(self.taken_over));
        taken_over.saturating_add(self.lost_entirely.saturating_mul(most_before(cycle)))
    }

    /// The slots of a stream, and how long they are waited for; none if it has no slot.
    fn slots<'a>(&'a self, starts: &'a [u64]) -> Option<Slots<'a>> {
        let repetition = self.tdma.cycle.as_ps().checked_mul(self.cycles)?;
        let lost = self.slots_lost(starts);
        (!starts.is_empty()).then(|| Slots {
            cycle: self,
            starts,
            repetition,
            lost,
            longest: vec![Cell::new(None); starts.len()],
        })
    }
}

/// The slots that carry a stream's frames, again in every repetition.
struct Slots<'a> {
    cycle: &'a Cycle<'a>,
    /// In order, from the start of a repetition.
    starts: &'a [u64],
    /// Picoseconds of the station's clock.
    repetition: u64,
    /// How many of them failures cost.
    lost: u64,
    /// The longest from a slot to the so-manieth after it, within a repetition, where that was asked before.
    longest: Vec<Cell<Option<u64>>>,
}

impl Slots<'_> {
    /// The longest that `count` slots are waited for, from any instant; true time.
    fn service(&self, count: u64) -> Option<u64> {
        let count = count.checked_add(self.lost)?;
        #[cfg(feature = "planted-faults")]
        let count = match self.cycle.fault {
            Some(crate::fault::PlantedFault::SlotsBeforeForgotten) => count.min(1),
            _ => count,
        };
        if count > FRAMES_MAX {
            return None;
        }
        let of = u64::try_from(self.starts.len()).ok()?;
        let rest = usize::try_from(count % of).ok()?;
        let longest = (count / of).checked_mul(self.repetition)?.checked_add(self.longest(rest))?;
        Some(self.cycle.deviation.stretch(longest) + self.cycle.early + self.cycle.late)
    }

    /// The longest from any slot to the one `places` after it; `places` is below the number of slots.
    fn longest(&self, places: usize) -> u64 {
        if let Some(known) = self.longest[places].get() {
            return known;
        }
        let next = self.starts.iter().map(|start| start + self.repetition);
        let ends = self.starts.iter().copied().chain(next).skip(places);
        let longest = self.starts.iter().zip(ends).map(|(start, end)| end - start).max().unwrap_or(0);
        self.longest[places].set(Some(longest));
        longest
    }

    /// Whether more frames come in the long run than there are slots: then a wait has no end. Parts are rounded down, so not
    /// every overload is seen.
    fn are_overloaded<'b>(&self, mut frames: impl Iterator<Item = &'b Arrivals>) -> bool {
        let slots = (self.starts.len() as u128)
            .saturating_mul(RATE_UNIT)
            .div_ceil(u128::from(self.repetition.max(1)));
        let rate = frames.try_fold(0_u128, |all, one| all.checked_add(one.rate(RATE_UNIT)));
        rate.is_none_or(|rate| rate > slots)
    }
}
