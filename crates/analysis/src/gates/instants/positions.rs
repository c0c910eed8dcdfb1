//! Positions of instants in a cycle: how many of a set have passed, and the first of it after so many of them.

use super::super::periodic::Periodic;

/// A set of instants, with the sums for both functions.
#[derive(Clone, Debug)]
pub(super) struct Positions {
    period: u64,
    /// Within the cycle, in order.
    parts: Vec<(u64, u64)>,
    /// Per part, how many instants are before it.
    before: Vec<u64>,
    total: u64,
}

impl Positions {
    pub(super) fn of(set: &Periodic) -> Self {
        let (parts, mut total) = (set.parts().to_vec(), 0);
        let before = parts.iter().map(|(from, to)| {
            total += to - from;
            total - (to - from)
        });
        Self { period: set.period(), before: before.collect(), total, parts }
    }

    /// The first instant of the set, at or after `at`, up to which `amount` others of it have passed since `at`.
    pub(super) fn first(&self, at: u64, amount: u64) -> Option<u64> {
        if self.total == 0 {
            return None;
        }
        let behind = if amount == 0 { at } else { self.passed(self.count(at).checked_add(amount)?)? };
        let within = behind % self.period;
        let place = self.parts.partition_point(|(_, to)| *to <= within);
        match self.parts.get(place) {
            Some((from, _)) => behind.checked_add(from.saturating_sub(within)),
            None => behind.checked_add(self.period - within + self.parts[0].0),
        }
    }

    /// Instants before one, from zero on.
    fn count(&self, instant: u64) -> u64 {
        let (rounds, within) = (instant / self.period, instant % self.period);
        let place = self.parts.partition_point(|(from, _)| *from < within);
        let of_round = place.checked_sub(1).map_or(0, |last| {
            let (from, to) = self.parts[last];
            self.before[last] + to.min(within) - from
        });
        rounds.saturating_mul(self.total).saturating_add(of_round)
    }

    /// The instant by which so many of the set have passed, at least one.
    fn passed(&self, count: u64) -> Option<u64> {
        let (rounds, rest) = ((count - 1) / self.total, (count - 1) % self.total + 1);
        let place = self.before.partition_point(|before| *before < rest) - 1;
        rounds.checked_mul(self.period)?.checked_add(self.parts[place].0 + rest - self.before[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compared with a count of instants one by one.
    #[test]
    fn the_first_instant_is_that_of_a_count() {
        let sets: [&[(u64, u64)]; 4] = [&[(0, 3), (5, 6)], &[(2, 4), (9, 13)], &[(0, 10)], &[(7, 8)]];
        for parts in sets {
            let set = Periodic::of(10, parts.iter().copied());
            let positions = Positions::of(&set);
            for at in 0..25 {
                for amount in 0..30 {
                    let mut left = amount;
                    let counted = (at..400).find(|instant| {
                        let is_in = set.end_of(*instant).is_some();
                        let found = is_in && left == 0;
                        left -= u64::from(is_in && left > 0);
                        found
                    });
                    assert_eq!(positions.first(at, amount), counted, "{parts:?} {at} {amount}");
                }
            }
        }
        assert_eq!(Positions::of(&Periodic::none(10)).first(3, 0), None);
    }
}
