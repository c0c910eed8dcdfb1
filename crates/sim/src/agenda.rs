//! The agenda: at most one entry per entity, in the total order (time, entity).
//!
//! Entities are numbered by phase and then in file order, so the order of events at one instant is
//! that of the phases and does not depend on how the loop is built. An indexed 4-ary heap; replacing
//! an entity's time is the common operation.

use crate::clock::SimTime;

/// Entries of a node's children.
const ARITY: usize = 4;
/// An entity that has no entry.
const ABSENT: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    time: SimTime,
    entity: u32,
}

/// What is due, and when.
#[derive(Clone, Debug)]
pub(crate) struct Agenda {
    heap: Vec<Entry>,
    places: Vec<u32>,
}

impl Agenda {
    pub(crate) fn new(entities: usize) -> Self {
        Self { heap: Vec::with_capacity(entities), places: vec![ABSENT; entities] }
    }

    /// The next entry.
    #[inline]
    pub(crate) fn next(&self) -> Option<(SimTime, u32)> {
        self.heap.first().map(|entry| (entry.time, entry.entity))
    }

    /// The time of the next entry.
    #[inline]
    pub(crate) fn next_time(&self) -> SimTime {
        self.heap.first().map_or(SimTime::MAX, |entry| entry.time)
    }

    /// Sets an entity's only entry.
    #[inline]
    pub(crate) fn set(&mut self, entity: u32, time: SimTime) {
        let entry = Entry { time, entity };
        let place = self.places[entity as usize];
        if place == ABSENT {
            self.heap.push(entry);
            self.rise(self.heap.len() - 1, entry);
            return;
        }
        let place = place as usize;
        let old = self.heap[place].time;
        if time < old {
            self.rise(place, entry);
        } else if time > old {
            self.sink(place, entry);
        }
    }

    /// Removes an entity's entry, if it has one.
    #[inline]
    pub(crate) fn clear(&mut self, entity: u32) {
        let place = self.places[entity as usize];
        if place == ABSENT {
            return;
        }
        self.places[entity as usize] = ABSENT;
        let last = self.heap.pop().expect("the entity has an entry");
        let place = place as usize;
        if place < self.heap.len() {
            if place > 0 && last < self.heap[(place - 1) / ARITY] {
                self.rise(place, last);
            } else {
                self.sink(place, last);
            }
        }
    }

    /// Moves an entry from `place` towards the top until it is in order.
    #[inline]
    fn rise(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let parent = (place - 1) / ARITY;
            let above = self.heap[parent];
            if above <= entry {
                break;
            }
            self.put(place, above);
            place = parent;
        }
        self.put(place, entry);
    }

    /// Moves an entry from `place` towards the bottom until it is in order.
    #[inline]
    fn sink(&mut self, mut place: usize, entry: Entry) {
        let len = self.heap.len();
        loop {
            let first = place * ARITY + 1;
            if first >= len {
                break;
            }
            let mut least = first;
            let mut below = self.heap[first];
            for child in first + 1..len.min(first + ARITY) {
                let other = self.heap[child];
                if other < below {
                    below = other;
                    least = child;
                }
            }
            if entry <= below {
                break;
            }
            self.put(place, below);
            place = least;
        }
        self.put(place, entry);
    }

    #[inline]
    fn put(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.places[entry.entity as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::rand_core::{Rng, SeedableRng};
    use std::collections::BTreeMap;

    #[test]
    fn it_agrees_with_a_sorted_list() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        let mut agenda = Agenda::new(50);
        let mut times: BTreeMap<u32, u64> = BTreeMap::new();
        for _ in 0..20_000 {
            let entity = random.next_u32() % 50;
            if random.next_u32().is_multiple_of(3) {
                agenda.clear(entity);
                times.remove(&entity);
            } else {
                let time = u64::from(random.next_u32() % 1_000);
                agenda.set(entity, SimTime::from_ps(time));
                times.insert(entity, time);
            }
            let next = times.iter().map(|(entity, time)| (*time, *entity)).min();
            assert_eq!(agenda.next().map(|(time, entity)| (time.as_ps(), entity)), next);
        }
    }
}
