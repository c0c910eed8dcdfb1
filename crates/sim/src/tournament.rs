//! A tournament tree: the earliest of the times of all entities, by matches of two.
//!
//! The leaves are the entities in their order, an inner node holds the earlier of its two children,
//! the left one of equals. Setting a time plays its matches up to the first that ends as before.

use crate::clock::SimTime;

/// An entity and its time; [`SimTime::MAX`] for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Player {
    time: SimTime,
    entity: u32,
}

/// The times of all entities.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    /// The matches: winners of 2·n and 2·n+1 meet in match *n*, the final is 1. The two players of a match are
    /// adjacent; in the last half of the matches entities meet.
    matches: Vec<[Player; 2]>,
    winner: Player,
}

impl Tournament {
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

    /// The earliest time and the first entity with that time.
    #[inline]
    pub(crate) fn winner(&self) -> (SimTime, u32) {
        (self.winner.time, self.winner.entity)
    }

    /// Sets an entity's time.
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
}
