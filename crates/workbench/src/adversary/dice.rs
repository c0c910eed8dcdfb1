//! A small seeded generator (SplitMix64) for the moves of a search.

/// The random numbers of a search.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) const fn new(seed: u64, row: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ row.wrapping_mul(0xd1b5_4a32_d192_ed03))
    }

    /// The next 64 bits.
    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; zero if that is zero.
    pub(crate) const fn below(&mut self, end: u64) -> u64 {
        if end == 0 { 0 } else { self.next() % end }
    }

    /// One of a list.
    pub(crate) fn one_of<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        let place = self.below(list.len() as u64);
        list.get(usize::try_from(place).ok()?)
    }
}
