//! Sums of periodic frames up to an instant.

/// Periodic times, with a weight each.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    period: u64,
    /// Times within the period in order, and the sum of the weights up to each.
    sums: Vec<(u64, i128)>,
    /// Weights, each multiplied by the number of complete periods before its time.
    ahead: i128,
}

impl Counts {
    /// Of times, which may lie after the first period, and weights.
    pub(super) fn of(period: u64, times: impl Iterator<Item = (u64, u64)>) -> Self {
        let mut ahead = 0;
        let mut sums: Vec<(u64, i128)> = times
            .map(|(time, weight)| {
                ahead += i128::from(time / period) * i128::from(weight);
                (time % period, i128::from(weight))
            })
            .collect();
        sums.sort_unstable();
        let mut sum = 0;
        for (_, weight) in &mut sums {
            sum += *weight;
            *weight = sum;
        }
        Self { period, sums, ahead }
    }

    /// The sum of the weights up to an instant; only differences of two such sums are meaningful, also between counts
    /// of other times of the same frames.
    pub(super) fn up_to(&self, instant: u64) -> i128 {
        let total = self.sums.last().map_or(0, |(_, sum)| *sum);
        let place = self.sums.partition_point(|(time, _)| *time <= instant % self.period);
        let of_round = place.checked_sub(1).map_or(0, |last| self.sums[last].1);
        i128::from(instant / self.period) * total + of_round - self.ahead
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_begun_and_not_ended_is_the_difference_of_two_counts() {
        // Begin, end, weight; every ten.
        let things = [(1, 4, 5), (3, 27, 7), (12, 12, 2), (9, 11, 1)];
        let begins = Counts::of(10, things.iter().map(|(begin, _, weight)| (*begin, *weight)));
        let ends = Counts::of(10, things.iter().map(|(_, end, weight)| (*end, *weight)));
        for (from, to) in [(0, 0), (4, 4), (3, 9), (11, 12), (40, 47), (103, 103)] {
            // Begun at `to` at the latest, and ended after `from`.
            let of = |(begin, end, weight): &(u64, u64, u64)| {
                let rounds = -20..30_i64;
                let holds = |round: &i64| {
                    let later = round * 10;
                    *begin as i64 + later <= to && *end as i64 + later > from
                };
                rounds.filter(holds).count() as i128 * i128::from(*weight)
            };
            let counted: i128 = things.iter().map(of).sum();
            let (from, to) = (from as u64, to as u64);
            assert_eq!(begins.up_to(to) - ends.up_to(from), counted, "{from} {to}");
        }
    }
}
