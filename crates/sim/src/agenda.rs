//! The agenda: at most one entry per entity, in the total order (time, entity).
//!
//! Entities are numbered by phase and then in file order, so the order of events at one instant is
//! that of the phases and does not depend on how the loop is built.
//!
//! Entries that are due soon are in a wheel of buckets: an entry is a link of the chain of its bucket, the chains are
//! ordered, and a bit map of the filled buckets gives the next one. Entries beyond the reach of the wheel are in a
//! tournament tree, and stay there until they are due: sources, mostly. Neither allocates after construction.

use tautwire_units::Duration;

use crate::clock::SimTime;
use crate::plan::NONE;
use crate::tournament::Tournament;

/// Buckets of the wheel: as many as a word of words has bits.
const BUCKETS: usize = 64 * 64;

/// An entity's entry and its place.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// When it is due; [`SimTime::MAX`] for none.
    time: SimTime,
    /// The entry behind it in its chain, of the last one the first; [`NONE`] outside the wheel.
    next: u32,
    /// The entry before it, of the first one the last.
    previous: u32,
}

impl Entry {
    const NONE: Self = Self { time: SimTime::MAX, next: NONE, previous: NONE };
}

/// The pending entries, with their times.
#[derive(Clone, Debug)]
pub(crate) struct Agenda {
    entries: Vec<Entry>,
    /// First entry of each bucket, or [`NONE`].
    buckets: Box<[u32; BUCKETS]>,
    /// Bit *n* of word *m*: bucket 64·*m* + *n* is filled.
    filled: [u64; 64],
    /// Bit *m*: word *m* has a bit.
    filled_words: u64,
    /// A bucket lasts 2 to this power picoseconds.
    shift: u32,
    /// How far from now the wheel reaches.
    reach: Duration,
    now: SimTime,
    /// The later entries.
    later: Tournament,
}

impl Agenda {
    /// An agenda of so many entities whose wheel reaches about `reach` from now.
    pub(crate) fn new(entities: usize, reach: Duration) -> Self {
        let shift = (reach.as_ps() / BUCKETS as u64).max(1).ilog2();
        Self {
            entries: vec![Entry::NONE; entities],
            buckets: Box::new([NONE; BUCKETS]),
            filled: [0; 64],
            filled_words: 0,
            shift,
            // The bucket of now is not filled a second time.
            reach: Duration::from_ps((BUCKETS as u64 - 1) << shift),
            now: SimTime::ZERO,
            later: Tournament::new(entities),
        }
    }

    /// The next entry; the agenda's time becomes that of the entry.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(SimTime, u32)> {
        let mut winner = self.later.winner();
        if let Some(bucket) = self.first_filled() {
            let entity = self.buckets[bucket];
            winner = winner.min((self.entries[entity as usize].time, entity));
        }
        if winner.0 == SimTime::MAX {
            return None;
        }
        self.now = winner.0;
        Some(winner)
    }

    /// The time of the next entry; [`SimTime::MAX`] if there is none.
    #[inline]
    pub(crate) fn next_time(&self) -> SimTime {
        let later = self.later.winner().0;
        match self.first_filled() {
            Some(bucket) => self.entries[self.buckets[bucket] as usize].time.min(later),
            None => later,
        }
    }

    /// Sets an entity's only entry, to a time that is not before the agenda's.
    #[inline]
    pub(crate) fn set(&mut self, entity: u32, time: SimTime) {
        debug_assert!(time >= self.now, "time never goes back");
        let is_near = time.since(self.now) < self.reach;
        let entry = &mut self.entries[entity as usize];
        let old = std::mem::replace(entry, Entry { time, ..Entry::NONE });
        if old.next != NONE {
            self.unlink(entity, &old);
        } else if old.time < SimTime::MAX && is_near {
            self.later.set(entity, SimTime::MAX);
        }
        if is_near {
            self.link(entity, time);
        } else {
            self.later.set(entity, time);
        }
    }

    /// Removes an entity's entry, if it has one.
    #[inline]
    pub(crate) fn clear(&mut self, entity: u32) {
        let old = std::mem::replace(&mut self.entries[entity as usize], Entry::NONE);
        if old.next != NONE {
            self.unlink(entity, &old);
        } else if old.time < SimTime::MAX {
            self.later.set(entity, SimTime::MAX);
        }
    }

    /// The bucket of a time.
    #[inline]
    fn bucket(&self, time: SimTime) -> usize {
        (time.as_ps() >> self.shift) as usize % BUCKETS
    }

    /// The first filled bucket from now on.
    #[inline]
    fn first_filled(&self) -> Option<usize> {
        let from = self.bucket(self.now);
        let (word, bit) = (from / 64, from % 64);
        let here = self.filled[word] >> bit;
        if here != 0 {
            return Some(from + here.trailing_zeros() as usize);
        }
        // The words behind, then from the first word round to this one.
        let rotated = self.filled_words.rotate_right(word as u32 + 1);
        if rotated == 0 {
            return None;
        }
        let word = (word + 1 + rotated.trailing_zeros() as usize) % 64;
        Some(word * 64 + self.filled[word].trailing_zeros() as usize)
    }

    /// Puts an entry into the chain of its bucket.
    #[inline]
    fn link(&mut self, entity: u32, time: SimTime) {
        let bucket = self.bucket(time);
        let first = self.buckets[bucket];
        if first == NONE {
            self.buckets[bucket] = entity;
            self.filled[bucket / 64] |= 1 << (bucket % 64);
            self.filled_words |= 1 << (bucket / 64);
            let entry = &mut self.entries[entity as usize];
            (entry.next, entry.previous) = (entity, entity);
            return;
        }
        // From the last one on: what is set later is mostly due later.
        let last = self.entries[first as usize].previous;
        let mut before = last;
        let is_first = loop {
            let other = &self.entries[before as usize];
            if (other.time, before) < (time, entity) {
                break false;
            }
            if before == first {
                break true;
            }
            before = other.previous;
        };
        if is_first {
            before = last;
            self.buckets[bucket] = entity;
        }
        let next = std::mem::replace(&mut self.entries[before as usize].next, entity);
        self.entries[next as usize].previous = entity;
        let entry = &mut self.entries[entity as usize];
        (entry.next, entry.previous) = (next, before);
    }

    /// Takes an entry out of the chain of its bucket.
    #[inline]
    fn unlink(&mut self, entity: u32, old: &Entry) {
        let Entry { time, next, previous } = *old;
        let bucket = self.bucket(time);
        if next == entity {
            self.buckets[bucket] = NONE;
            let word = &mut self.filled[bucket / 64];
            *word &= !(1 << (bucket % 64));
            if *word == 0 {
                self.filled_words &= !(1 << (bucket / 64));
            }
            return;
        }
        self.entries[previous as usize].next = next;
        self.entries[next as usize].previous = previous;
        if self.buckets[bucket] == entity {
            self.buckets[bucket] = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::rand_core::{Rng, SeedableRng};
    use std::collections::BTreeMap;

    /// Sets, clears and takes entries near and far, many of them at one time, and compares with a
    /// sorted list.
    #[test]
    fn it_agrees_with_a_sorted_list() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        for (entities, span) in [(1, 50_000), (2, 3), (7, 9_000), (50, 20_000), (64, 400), (300, 5_000)] {
            // Buckets of 2 ps: the wheel reaches 8190 ps.
            let mut agenda = Agenda::new(entities as usize, Duration::from_ps(2 * BUCKETS as u64));
            let mut times: BTreeMap<u32, u64> = BTreeMap::new();
            let mut now = 0;
            for _ in 0..40_000 {
                let entity = random.next_u32() % entities;
                match random.next_u32() % 4 {
                    0 => {
                        agenda.clear(entity);
                        times.remove(&entity);
                    }
                    1 | 2 => {
                        let time = now + u64::from(random.next_u32() % span);
                        agenda.set(entity, SimTime::from_ps(time));
                        times.insert(entity, time);
                    }
                    _ => {
                        let next = times.iter().map(|(entity, time)| (*time, *entity)).min();
                        assert_eq!(agenda.next().map(|(time, entity)| (time.as_ps(), entity)), next);
                        if let Some((time, entity)) = next {
                            now = time;
                            agenda.clear(entity);
                            times.remove(&entity);
                        }
                    }
                }
                let next = times.values().min().copied().unwrap_or(u64::MAX);
                assert_eq!(agenda.next_time().as_ps(), next);
            }
        }
    }
}
