//! How the duration of an admission test grows with its input.
//!
//! A test examines every granted stream and the requested one, each at every link of its path. Steps are by the sum of
//! these links, with straight lines between; before the first and after the last the factor is theirs.

use tautwire_units::Duration;

/// Thousandths of the stated time, by links. Invariant: links rise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestGrowth(Vec<(u64, u64)>);

impl TestGrowth {
    /// Of steps (links, thousandths); `None` if links do not rise.
    #[must_use]
    pub fn new(steps: Vec<(u64, u64)>) -> Option<Self> {
        steps.is_sorted_by(|(one, _), (other, _)| one < other).then_some(Self(steps))
    }

    /// Thousandths of the stated time that a test of so many links takes, rounded up; 1000 by default.
    #[must_use]
    pub fn per_mille(&self, links: u64) -> u64 {
        let above = self.0.partition_point(|(at, _)| *at <= links);
        let Some((to, high)) = self.0.get(above).or(self.0.last()).copied() else { return 1_000 };
        let Some((from, low)) = above.checked_sub(1).and_then(|below| self.0.get(below)).copied() else {
            return high;
        };
        if to <= links {
            return high;
        }
        let (step, width) = (links - from, to - from);
        // Rounded up in both directions.
        let rise = (high.max(low) - low) * step;
        let fall = (low.max(high) - high) * step;
        low + rise.div_ceil(width) - fall / width
    }

    /// The most that it can be.
    #[must_use]
    pub fn per_mille_max(&self) -> u64 {
        self.0.iter().map(|(_, thousandths)| *thousandths).max().unwrap_or(1_000)
    }

    /// A time so many thousandths long, rounded up to the picosecond.
    #[must_use]
    pub fn scaled(time: Duration, per_mille: u64) -> Duration {
        let scaled = (u128::from(time.as_ps()) * u128::from(per_mille)).div_ceil(1_000);
        Duration::from_ps(u64::try_from(scaled).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_between_steps_and_flat_outside_them() {
        let growth = TestGrowth::new(vec![(4, 1_000), (12, 1_050), (20, 1_160)]).unwrap();
        let found: Vec<u64> = [0, 4, 5, 8, 12, 16, 20, 99].map(|links| growth.per_mille(links)).into();
        assert_eq!(found, [1_000, 1_000, 1_007, 1_025, 1_050, 1_105, 1_160, 1_160]);
        assert_eq!(growth.per_mille_max(), 1_160);
    }

    #[test]
    fn nothing_stated_is_the_time_itself_and_a_fall_is_rounded_up_too() {
        assert_eq!(
            (TestGrowth::default().per_mille(7), TestGrowth::default().per_mille_max()),
            (1_000, 1_000)
        );
        assert_eq!(TestGrowth::new(vec![(0, 1_000), (3, 999)]).unwrap().per_mille(1), 1_000);
        assert_eq!(TestGrowth::new(vec![(3, 1), (3, 2)]), None);
        assert_eq!(TestGrowth::scaled(Duration::from_ps(3), 1_001), Duration::from_ps(4));
    }
}
