//! The cycles of a TDMA network in a run: when each began, which station opened it, and the use of every slot in it.
//!
//! The first [`FIRST`] cycles are kept, and after them those with an irregularity, up to [`MOST`] in all; the last one
//! of the run is among them. Others are counted. The use of a slot may be known late (a frame that leaves cycles
//! afterwards missed it), so the last [`RECENT`] cycles are not judged yet. Invariant: a run behaves the same without
//! them. Not here: the use of a slot (`slot_use.rs`).

use std::collections::VecDeque;

use tautwire_units::Duration;

use crate::clock::SimTime;

/// Cycles that are kept whatever they are.
pub(crate) const FIRST: u64 = 500;
/// Most cycles that are kept.
pub(crate) const MOST: usize = 1_000;
/// Cycles of which it is not yet known whether they are kept: as many passings of a station are remembered.
pub(crate) const RECENT: usize = 256;

/// The use of a slot in one cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotFate {
    /// It is not of this cycle.
    Elsewhere,
    /// It is not known: of the last cycle of the run alone.
    Unknown,
    /// Something left in it.
    Used,
    /// It passed empty.
    Empty,
    /// It passed empty, and a frame missed it.
    EmptyMissed,
    /// Its owner was silent, because it had not received the opening of the cycle.
    Unheard,
    /// The same, and a frame missed it.
    UnheardMissed,
}

impl SlotFate {
    /// Whether something is out of the ordinary.
    #[must_use]
    pub const fn is_odd(self) -> bool {
        matches!(self, Self::EmptyMissed | Self::Unheard | Self::UnheardMissed)
    }

    /// The same slot, missed by a frame.
    const fn missed(self) -> Self {
        match self {
            Self::Empty => Self::EmptyMissed,
            Self::Unheard => Self::UnheardMissed,
            other => other,
        }
    }
}

/// A cycle of TDMA in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleObservation {
    /// How many were opened before it.
    pub turn: u64,
    /// Its number in the frames that open it.
    pub number: u32,
    /// When it began, by its first opener, in true time.
    pub began: Duration,
    /// How long there was no cycle before: from the end of the cycle before, or the start of the run; zero if they touch.
    pub gap: Duration,
    /// When the master's synchronisation frame left, if it opened it, in true time.
    pub by_master: Option<Duration>,
    /// The same of the standby.
    pub by_standby: Option<Duration>,
    /// Per slot, in the order of the network's.
    pub slots: Vec<SlotFate>,
}

impl CycleObservation {
    /// The time without a cycle before it, of cycles of this length; none below half of one, for clocks differ.
    #[must_use]
    pub fn gap_before(&self, length: Duration) -> Option<Duration> {
        Some(self.gap).filter(|gap| gap.as_ps() > length.as_ps() / 2)
    }
}

/// The cycles of a run that are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CyclesObservation {
    /// In the order in which they were opened.
    pub kept: Vec<CycleObservation>,
    /// How many were opened and are not kept.
    pub left_out: u64,
}

/// The cycles of a run that goes on.
#[derive(Debug)]
pub(crate) struct Cycles {
    seen: CyclesObservation,
    recent: VecDeque<CycleObservation>,
    /// How many were opened.
    turns: u64,
    /// The openers of the last one that was judged: master, standby.
    openers: (bool, bool),
    /// The length of a cycle.
    length: Duration,
}

impl Cycles {
    pub(crate) fn new(length: Duration) -> Self {
        let recent = VecDeque::new();
        Self { seen: CyclesObservation::default(), recent, turns: 0, openers: (true, false), length }
    }

    /// The cycle that was opened last.
    pub(crate) fn last(&mut self) -> Option<&mut CycleObservation> {
        self.recent.back_mut()
    }

    /// Whether this is the number of the cycle that was opened last; a master that is back counts from zero again, after two
    /// cycles at least.
    pub(crate) fn is_open(&self, number: u32, now: SimTime) -> bool {
        let open = self.recent.back().filter(|open| open.number == number);
        open.is_some_and(|open| now.since_start() < open.began + self.length * 2)
    }

    /// A cycle begins; its slots are those of `of`.
    pub(crate) fn open(&mut self, number: u32, began: SimTime, of: impl Iterator<Item = SlotFate>) {
        let began = began.since_start();
        let end = self.recent.back().map_or(Duration::ZERO, |before| before.began + self.length);
        let oldest = if self.recent.len() == RECENT { self.recent.pop_front() } else { None };
        let mut slots = oldest.and_then(|cycle| self.judge(cycle, false)).unwrap_or_default();
        slots.clear();
        slots.extend(of);
        let (turn, gap) = (self.turns, began.saturating_sub(end));
        let cycle = CycleObservation { turn, number, began, gap, by_master: None, by_standby: None, slots };
        self.turns += 1;
        self.recent.push_back(cycle);
    }

    /// Writes down what became of a slot at `at` and gives what was written before; nothing of a cycle that is not kept.
    pub(crate) fn put(
        &mut self,
        (number, at): (u32, SimTime),
        slot: usize,
        fate: SlotFate,
    ) -> Option<SlotFate> {
        let place = &mut self.find(number, at)?.slots[slot];
        Some(std::mem::replace(place, fate))
    }

    /// A frame missed a slot that passed at `at`.
    pub(crate) fn miss(&mut self, (number, at): (u32, SimTime), slot: usize) {
        if let Some(cycle) = self.find(number, at) {
            cycle.slots[slot] = cycle.slots[slot].missed();
        }
    }

    /// All that are kept, when the run is over.
    pub(crate) fn finish(&mut self) -> CyclesObservation {
        while let Some(cycle) = self.recent.pop_front() {
            let is_last = self.recent.is_empty();
            self.judge(cycle, is_last);
        }
        std::mem::take(&mut self.seen)
    }

    /// A cycle by its number. A master that is back counts from zero again, cycles apart, so the time distinguishes them.
    fn find(&mut self, number: u32, at: SimTime) -> Option<&mut CycleObservation> {
        let until = at.since_start() + self.length;
        let all = self.seen.kept.iter_mut().chain(&mut self.recent).rev();
        let mut of_number = all.filter(|cycle| cycle.number == number);
        of_number.find(|cycle| cycle.began <= until)
    }

    /// Keeps a cycle, or leaves it out and gives its slots back.
    fn judge(&mut self, cycle: CycleObservation, is_last: bool) -> Option<Vec<SlotFate>> {
        let openers = (cycle.by_master.is_some(), cycle.by_standby.is_some());
        let is_taken_over = openers != std::mem::replace(&mut self.openers, openers);
        let is_late = cycle.gap_before(self.length).is_some();
        let is_odd = is_taken_over || is_late || cycle.slots.iter().any(|fate| fate.is_odd());
        // A place is left for the last one.
        if is_last || cycle.turn < FIRST || is_odd && self.seen.kept.len() + 1 < MOST {
            self.seen.kept.push(cycle);
            return None;
        }
        self.seen.left_out += 1;
        Some(cycle.slots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: Duration = Duration::from_us(1_000);

    fn open(cycles: &mut Cycles, turn: u64, fate: SlotFate) {
        let began = SimTime::ZERO + LENGTH * turn;
        cycles.open(u32::try_from(turn).unwrap(), began, [fate, SlotFate::Elsewhere].into_iter());
        cycles.last().unwrap().by_master = Some(began.since_start());
    }

    #[test]
    fn cycles_out_of_the_ordinary_are_kept_behind_the_first() {
        let mut cycles = Cycles::new(LENGTH);
        for turn in 0..2_000 {
            open(&mut cycles, turn, if turn == 700 { SlotFate::Unheard } else { SlotFate::Used });
        }
        // Known late: a frame missed a slot of a cycle that is past, one that is judged already and one that is not.
        cycles.put((1_900, SimTime::ZERO + LENGTH * 1_900), 0, SlotFate::Empty);
        cycles.miss((1_900, SimTime::ZERO + LENGTH * 1_900), 0);
        cycles.miss((700, SimTime::ZERO + LENGTH * 700), 0);
        cycles.miss((800, SimTime::ZERO + LENGTH * 800), 0);
        let seen = cycles.finish();
        let behind: Vec<_> = seen.kept[500..].iter().map(|cycle| (cycle.turn, cycle.slots[0])).collect();
        let expected =
            [(700, SlotFate::UnheardMissed), (1_900, SlotFate::EmptyMissed), (1_999, SlotFate::Used)];
        assert_eq!((seen.left_out, behind.as_slice()), (2_000 - 503, expected.as_slice()));
        assert!(seen.kept.iter().take(500).enumerate().all(|(place, cycle)| cycle.turn == place as u64));
    }

    #[test]
    fn no_more_are_kept_than_the_most() {
        let mut cycles = Cycles::new(LENGTH);
        for turn in 0..3_000 {
            open(&mut cycles, turn, SlotFate::Unheard);
        }
        let seen = cycles.finish();
        assert_eq!((seen.kept.len(), seen.left_out), (MOST, 2_000));
        assert_eq!(seen.kept.last().map(|cycle| cycle.turn), Some(2_999));
    }

    #[test]
    fn equal_numbers_are_distinguished_by_time() {
        let mut cycles = Cycles::new(LENGTH);
        for turn in [0, 1, 10] {
            open(&mut cycles, turn, SlotFate::Empty);
        }
        cycles.last().unwrap().number = 0;
        cycles.miss((0, SimTime::ZERO + Duration::from_us(300)), 0);
        let seen = cycles.finish();
        let fates: Vec<_> = seen.kept.iter().map(|cycle| cycle.slots[0]).collect();
        assert_eq!(fates, [SlotFate::EmptyMissed, SlotFate::Empty, SlotFate::Empty]);
        assert_eq!(seen.kept[2].gap, LENGTH * 8);
    }
}
