//! Drawn numbers of a run: SplitMix64, and a normal distribution from twelve of them.

use super::scenario::Spread;

/// A stream of drawn numbers.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From zero to `most`.
    pub(super) fn up_to(&mut self, most: u64) -> u64 {
        u64::try_from((u128::from(self.next()) * (u128::from(most) + 1)) >> 64).expect("below 2^64")
    }

    /// A standard normal number in thousandths, within six deviations.
    pub(super) fn normal_milli(&mut self) -> i64 {
        let sum: u64 = (0..12).map(|_| self.up_to(1_000)).sum();
        i64::try_from(sum).expect("at most 12 000") - 6_000
    }

    /// A time in nanoseconds.
    pub(super) fn spread(&mut self, spread: &Spread) -> u64 {
        let off = i128::from(self.normal_milli()) * i128::from(spread.deviation_ns) / 1_000;
        let time = i128::from(spread.mean_ns) + off;
        u64::try_from(time.clamp(i128::from(spread.min_ns), i128::from(spread.max_ns))).unwrap_or(0)
    }
}
