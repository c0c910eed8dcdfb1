//! The agenda: at most one entry per entity, in the total order (time, entity).
//!
//! Entities are numbered by phase and then in file order, so the order of events at one instant is
//! that of the phases and does not depend on how the loop is built.
//!
//! A tournament tree: the leaves are the entities in their order, an inner node holds the earlier of
//! its two children, the left one of equals. Setting an entry plays its matches up to the first that
//! ends as before, which for an entry far in the future is near the leaf.

use crate::clock::SimTime;

/// An entity and the time of its entry; [`SimTime::MAX`] for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Player {
    time: SimTime,
    entity: u32,
}

/// What is due, and when.
#[derive(Clone, Debug)]
pub(crate) struct Agenda {
    /// The matches: winners of 2·n and 2·n+1 meet in match *n*, the final is 1. The two players of a
    /// match stand together; in the last half of the matches entities meet.
    matches: Vec<[Player; 2]>,
    winner: Player,
}

impl Agenda {
    pub(crate) fn new(entities: usize) -> Self {
        let entities = entities.next_power_of_two().max(2);
        let player = |entity: usize| Player {
            time: SimTime::MAX,
            entity: u32::try_from(entity).expect("fewer than 2^32 entities"),
        };
        let mut matches = vec![[player(0); 2]; entities];
        for number in (1..entities).rev() {
            matches[number] = match (2 * number).checked_sub(entities) {
                Some(first) => [player(first), player(first + 1)],
                None => [matches[2 * number][0], matches[2 * number + 1][0]],
            };
        }
        Self { matches, winner: player(0) }
    }

    /// The next entry.
    #[inline]
    pub(crate) fn next(&self) -> Option<(SimTime, u32)> {
        let Player { time, entity } = self.winner;
        (time < SimTime::MAX).then_some((time, entity))
    }

    /// The time of the next entry; [`SimTime::MAX`] if there is none.
    #[inline]
    pub(crate) fn next_time(&self) -> SimTime {
        self.winner.time
    }

    /// Sets an entity's only entry.
    #[inline]
    pub(crate) fn set(&mut self, entity: u32, time: SimTime) {
        let mut player = Player { time, entity };
        let mut place = self.matches.len() + entity as usize;
        while place > 1 {
            let players = &mut self.matches[place / 2];
            let own = &mut players[place % 2];
            if *own == player {
                return;
            }
            *own = player;
            player = if players[1].time < players[0].time { players[1] } else { players[0] };
            place /= 2;
        }
        self.winner = player;
    }

    /// Removes an entity's entry, if it has one.
    #[inline]
    pub(crate) fn clear(&mut self, entity: u32) {
        self.set(entity, SimTime::MAX);
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
        for entities in [1, 2, 7, 50, 64] {
            let mut agenda = Agenda::new(entities as usize);
            let mut times: BTreeMap<u32, u64> = BTreeMap::new();
            for _ in 0..20_000 {
                let entity = random.next_u32() % entities;
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
}
