//! Count, extremes and sums of spans of time that may be below zero: differences of two clocks.
//!
//! Sums are kept from the first observation on, so that a common offset costs no digits.

/// Moments of a series of signed spans in picoseconds, exact while the spans stay within about
/// 10^15 ps (a quarter of an hour) of the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignedMoments {
    count: u64,
    first_ps: i64,
    min_ps: i64,
    max_ps: i64,
    sum_ps: i128,
    sum_squares_ps2: i128,
}

impl SignedMoments {
    /// Adds one observation.
    pub fn add(&mut self, ps: i64) {
        if self.count == 0 {
            (self.first_ps, self.min_ps, self.max_ps) = (ps, ps, ps);
        }
        let apart = i128::from(ps) - i128::from(self.first_ps);
        self.count += 1;
        self.min_ps = self.min_ps.min(ps);
        self.max_ps = self.max_ps.max(ps);
        self.sum_ps += apart;
        self.sum_squares_ps2 += apart * apart;
    }

    /// What it consists of, in words: count, first, least and greatest span, sums.
    #[must_use]
    pub fn words(&self) -> [u64; 8] {
        let [first, min, max] = [self.first_ps, self.min_ps, self.max_ps].map(i64::cast_unsigned);
        let [sum, squares] = [self.sum_ps, self.sum_squares_ps2].map(i128::cast_unsigned);
        let halves = |of: u128| [(of >> 64) as u64, of as u64];
        let ([sum, sum_low], [squares, squares_low]) = (halves(sum), halves(squares));
        [self.count, first, min, max, sum, sum_low, squares, squares_low]
    }

    /// Of such words; none if they are not those of spans whose moments are exact.
    #[must_use]
    pub fn of_words(words: [u64; 8]) -> Option<Self> {
        let [count, first, min, max, sum, sum_low, squares, squares_low] = words;
        let [first_ps, min_ps, max_ps] = [first, min, max].map(u64::cast_signed);
        let whole = |high: u64, low: u64| (u128::from(high) << 64 | u128::from(low)).cast_signed();
        let (sum_ps, sum_squares_ps2) = (whole(sum, sum_low), whole(squares, squares_low));
        let [first, min, max] = [first_ps, min_ps, max_ps].map(i128::from);
        let number = i128::from(count);
        let range = max - min;
        // Four times the greatest sum of squares: nothing that is computed of them overflows.
        let most = range.checked_mul(range)?.checked_mul(number)?;
        most.checked_mul(4)?;
        let is_within = (min..=max).contains(&first)
            && ((min - first) * number..=(max - first) * number).contains(&sum_ps)
            && (0..=most).contains(&sum_squares_ps2);
        let is_whole = is_within && (count > 0 || words == [0; 8]);
        is_whole.then_some(Self { count, first_ps, min_ps, max_ps, sum_ps, sum_squares_ps2 })
    }

    /// How many were observed.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The least; none if nothing was observed.
    #[must_use]
    pub fn min_ps(&self) -> Option<i64> {
        (self.count > 0).then_some(self.min_ps)
    }

    /// The greatest; none if nothing was observed.
    #[must_use]
    pub fn max_ps(&self) -> Option<i64> {
        (self.count > 0).then_some(self.max_ps)
    }

    /// The mean, rounded to the nearest picosecond, a half up; none if nothing was observed.
    #[must_use]
    pub fn mean_ps(&self) -> Option<i64> {
        let count = i128::from(self.count);
        (count > 0).then(|| {
            let apart = (self.sum_ps + count / 2).div_euclid(count);
            i64::try_from(i128::from(self.first_ps) + apart).expect("a mean is between the extremes")
        })
    }

    /// The sample standard deviation, rounded down to a picosecond; none below two observations.
    #[must_use]
    pub fn standard_deviation_ps(&self) -> Option<u64> {
        let count = i128::from(self.count);
        if count < 2 {
            return None;
        }
        // As in `Moments`: with Σx = q·n + r, (Σx)²/n = q²n + 2qr + r²/n.
        let (quotient, rest) = (self.sum_ps.div_euclid(count), self.sum_ps.rem_euclid(count));
        let square = quotient * quotient * count + 2 * quotient * rest + rest * rest / count;
        let variance = (self.sum_squares_ps2 - square).max(0) / (count - 1);
        Some(u64::try_from(variance.isqrt()).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_do_not_depend_on_a_common_offset() {
        for offset in [0, -1_000_000, 3_600_000_000_000_000] {
            let mut m = SignedMoments::default();
            for ps in [2_000, 4_000, 4_000, 4_000, 5_000, 5_000, 7_000, 9_000] {
                m.add(ps + offset);
            }
            assert_eq!(m.mean_ps(), Some(5_000 + offset));
            // Σ(x−m)² = 32·10⁶, over 7.
            assert_eq!(m.standard_deviation_ps(), Some(2_138));
            assert_eq!((m.min_ps(), m.max_ps()), (Some(2_000 + offset), Some(9_000 + offset)));
        }
    }

    #[test]
    fn moments_are_read_as_they_were_written_or_not_at_all() {
        let mut m = SignedMoments::default();
        assert_eq!(SignedMoments::of_words(m.words()), Some(m));
        for ps in [-700, 300, 1_000_000_000_000_000, 5] {
            m.add(ps);
        }
        assert_eq!(SignedMoments::of_words(m.words()), Some(m));
        // Whatever word has whatever value: it is none, or its moments can be computed.
        let mut read = 0;
        for at in 0..8 {
            for value in [0, 1, 1 << 40, 1 << 62, 1 << 63, u64::MAX, u64::MAX - 700] {
                let mut words = m.words();
                words[at] = value;
                let Some(m) = SignedMoments::of_words(words) else { continue };
                read += 1;
                let mean = m.mean_ps();
                assert!(mean >= m.min_ps() && mean <= m.max_ps());
                let _ = m.standard_deviation_ps();
            }
        }
        assert!((1..50).contains(&read), "{read}");
    }

    #[test]
    fn a_mean_below_zero_is_rounded_to_the_nearest() {
        let mut m = SignedMoments::default();
        for ps in [-3, -3, -2] {
            m.add(ps);
        }
        assert_eq!((m.mean_ps(), m.count()), (Some(-3), 3));
    }

    #[test]
    fn nothing_observed_has_no_moments() {
        let m = SignedMoments::default();
        assert_eq!(
            (m.min_ps(), m.max_ps(), m.mean_ps(), m.standard_deviation_ps()),
            (None, None, None, None)
        );
    }
}
