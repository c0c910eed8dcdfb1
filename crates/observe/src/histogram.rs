//! A log-linear histogram of spans of time: 128 steps an octave.
//!
//! The octaves between the least and the greatest hit are kept, so a stream whose delays vary little costs little. A
//! quantile is accurate to within 1/128 of its value.

use tautwire_units::Duration;

/// Steps of an octave, as a power of two.
const STEP_BITS: u32 = 7;
/// Steps of an octave.
const STEPS: usize = 1 << STEP_BITS;

/// Counts of spans by size; counters saturate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// The counts of complete octaves.
    counts: Vec<u32>,
    /// Octave of the first count.
    first_octave: usize,
}

impl Histogram {
    /// Adds one observation.
    #[inline]
    pub fn add(&mut self, span: Duration) {
        let (octave, step) = place(span.as_ps());
        let index = (octave.wrapping_sub(self.first_octave)).wrapping_mul(STEPS).wrapping_add(step);
        match self.counts.get_mut(index) {
            Some(count) if octave >= self.first_octave => *count = count.saturating_add(1),
            _ => self.add_to_new_octave(octave, step, 1),
        }
    }

    /// Adds so many equal observations.
    pub fn add_equal(&mut self, span: Duration, count: u32) {
        let (octave, step) = place(span.as_ps());
        self.add_to_new_octave(octave, step, count);
    }

    /// Adds all that another histogram holds.
    pub fn merge(&mut self, other: &Self) {
        for (index, count) in other.counts.iter().enumerate() {
            if *count > 0 {
                self.add_to_new_octave(other.first_octave + index / STEPS, index % STEPS, *count);
            }
        }
    }

    /// The filled steps in order of size: least and greatest span of the step, and its count.
    pub fn steps(&self) -> impl Iterator<Item = (Duration, Duration, u32)> + '_ {
        self.counts.iter().enumerate().filter_map(|(index, count)| {
            let (least, greatest) = span_of(self.first_octave + index / STEPS, index % STEPS);
            (*count > 0).then_some((Duration::from_ps(least), Duration::from_ps(greatest), *count))
        })
    }

    /// The least span that at least `part_per_million` of the observations do not exceed, to within
    /// a step, towards the greater; none if nothing was observed.
    #[must_use]
    pub fn quantile(&self, part_per_million: u32) -> Option<Duration> {
        let count: u64 = self.steps().map(|(_, _, count)| u64::from(count)).sum();
        let rank = (u128::from(count) * u128::from(part_per_million)).div_ceil(1_000_000).max(1);
        let mut seen = 0_u128;
        self.steps()
            .find(|(_, _, count)| {
                seen += u128::from(*count);
                seen >= rank
            })
            .map(|(_, greatest, _)| greatest)
    }

    #[cold]
    fn add_to_new_octave(&mut self, octave: usize, step: usize, count: u32) {
        if self.counts.is_empty() {
            self.first_octave = octave;
        }
        let missing = self.first_octave.saturating_sub(octave);
        self.counts.splice(..0, std::iter::repeat_n(0, missing * STEPS));
        self.first_octave -= missing;
        let octaves = octave - self.first_octave + 1;
        if self.counts.len() < octaves * STEPS {
            self.counts.reserve_exact(octaves * STEPS - self.counts.len());
            self.counts.resize(octaves * STEPS, 0);
        }
        let place = &mut self.counts[(octaves - 1) * STEPS + step];
        *place = place.saturating_add(count);
    }
}

/// The octave and step of a span: below 128 ps a step a picosecond, then 128 steps an octave.
#[inline]
fn place(ps: u64) -> (usize, usize) {
    let bits = u64::BITS - ps.leading_zeros();
    if bits <= STEP_BITS {
        return (0, ps as usize);
    }
    let octave = bits - STEP_BITS;
    (octave as usize, (ps >> (octave - 1)) as usize & (STEPS - 1))
}

/// The least and greatest span of a step.
fn span_of(octave: usize, step: usize) -> (u64, u64) {
    if octave == 0 {
        return (step as u64, step as u64);
    }
    let least = (STEPS + step) as u64;
    (least << (octave - 1), ((least + 1) << (octave - 1)).wrapping_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_span_lies_in_its_step() {
        for shift in 0..64 {
            for ps in [1_u64 << shift, (1_u64 << shift) + 1, u64::MAX >> shift] {
                let (octave, step) = place(ps);
                let (least, greatest) = span_of(octave, step);
                assert!(least <= ps && ps <= greatest, "{ps}: {least}..{greatest}");
                assert!(greatest - least <= ps / 128, "{ps}: a step is at most 1/128");
            }
        }
    }

    #[test]
    fn quantiles_are_within_a_step() {
        let mut histogram = Histogram::default();
        for ps in 1..=10_000_u64 {
            histogram.add(Duration::from_ps(ps));
        }
        let median = histogram.quantile(500_000).expect("observed").as_ps();
        assert!((5_000..5_000 + 5_000 / 64).contains(&median), "{median}");
        assert_eq!(histogram.quantile(1_000_000).map(|q| q.as_ps() >= 10_000), Some(true));
        assert_eq!(Histogram::default().quantile(1), None);
    }

    #[test]
    fn merging_is_adding() {
        let (mut left, mut right, mut both) = <(Histogram, Histogram, Histogram)>::default();
        for ps in [3, 700, 700, 1 << 40] {
            left.add(Duration::from_ps(ps));
            both.add(Duration::from_ps(ps));
        }
        for ps in [4, 700, 1 << 20] {
            right.add(Duration::from_ps(ps));
            both.add(Duration::from_ps(ps));
        }
        left.merge(&right);
        assert!(left.steps().eq(both.steps()));
    }
}
