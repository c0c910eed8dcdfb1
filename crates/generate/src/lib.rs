//! Generated networks: seeded descriptions, as text, for benches and property tests.
//!
//! What comes out is a description as a user would write it, so that a generated case passes through
//! the same reader, can be kept as a file, and can be run by the command. Same arguments, same text,
//! on every machine. Which seeds a search tries, the environment may say ([`seeds()`]).

mod backbone;
mod grain;
mod kinds;
mod mutation;
mod random_admission;
mod random_answers;
mod random_avionics;
mod random_clusters;
mod random_gptp;
mod random_halves;
mod random_harts;
mod random_harts_admission;
mod random_host_stacks;
mod random_network;
mod random_reserved;
mod random_servo;
mod random_slot_pairs;
mod random_tdma;
mod random_thirds;
mod random_time_triggered;
mod random_traffic;
mod random_vlans;
mod seeds;
mod time_triggered;

pub use backbone::{Backbone, Topology};
pub use kinds::{KINDS, Kind};
pub use mutation::{Grammar, KeyIndex, Mutant, Mutation, Mutator, Path, Step, Tree, with};
pub use random_admission::random_admission;
pub use random_answers::random_answers;
pub use random_avionics::random_avionics;
pub use random_clusters::{Relation, random_clusters};
pub use random_gptp::random_gptp;
pub use random_halves::random_halves;
pub use random_harts::random_harts;
pub use random_harts_admission::random_harts_admission;
pub use random_host_stacks::random_host_stacks;
pub use random_network::random_network;
pub use random_reserved::random_reserved;
pub use random_servo::random_servo;
pub use random_slot_pairs::random_slot_pairs;
pub use random_tdma::{TdmaFailure, random_tdma};
pub use random_thirds::random_thirds;
pub use random_time_triggered::{Failures, random_as6802, random_resets, random_time_triggered};
pub use random_traffic::{random_trace, random_traffic};
pub use random_vlans::random_vlans;
pub use seeds::{cases, number, seeds};
pub use time_triggered::TimeTriggeredNetwork;

/// A small seeded generator (SplitMix64): the texts must not change when a library does.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// A generator of its own for every seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0xd1b5_4a32_d192_ed03)
    }

    /// The next 64 bits.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `least` to `most`.
    ///
    /// # Panics
    /// If `least` is above `most`.
    pub const fn between(&mut self, least: u64, most: u64) -> u64 {
        assert!(least <= most, "an empty range");
        least + self.next() % (most - least + 1)
    }

    /// True in `percent` of a hundred draws.
    pub const fn chance(&mut self, percent: u64) -> bool {
        self.between(0, 99) < percent
    }

    /// One of a list.
    ///
    /// # Panics
    /// If the list is empty.
    pub fn one_of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        let last = u64::try_from(list.len()).expect("a list fits the memory") - 1;
        &list[usize::try_from(self.between(0, last)).expect("an index")]
    }
}
