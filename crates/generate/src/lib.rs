//! Generated networks: seeded descriptions, as text, for benches and property tests.
//!
//! The result is a description as a user would write it, so that a generated case passes through the same reader, can
//! be kept as a file, and can be run by the command. Same arguments, same text, on every machine. The environment may
//! set the seeds of a search ([`seeds()`]).
//!
//! The networks of a mechanism are in its folder (`tdma/`, `srp/`, ...), those of several in a file: data plane
//! (`network.rs`, `backbone.rs`), traffic (`traffic.rs`), messages that answer others (`responses.rs`), stream identification (`identification.rs`), streams and clocks that
//! several kinds draw alike (`shaped_stream.rs`), admission in a run (`admission.rs`).

mod admission;
mod as6802;
mod backbone;
mod cqf;
mod frer;
mod gates;
mod gptp;
mod grain;
mod harts;
mod host_stacks;
mod identification;
mod kinds;
mod mutation;
mod network;
mod paths;
mod preemption;
mod psfp;
mod responses;
mod seeds;
mod shaped_stream;
mod srp;
mod tags;
mod tdma;
mod time_triggered;
mod traffic;
mod virtual_link;

pub use admission::random_admission;
pub use as6802::{
    As6802Failures, ClusterRelation, random_as6802_clusters, random_as6802_halves, random_as6802_thirds,
};
pub use backbone::{Backbone, Topology};
pub use cqf::random_cycles;
pub use frer::{random_policed_replication, random_replication};
pub use gates::{
    random_corrected_gates, random_gate_changes, random_gates, random_scheduled, random_scheduled_changes,
    random_scheduled_rings, random_time_aware,
};
pub use gptp::{random_gptp, random_gptp_servo};
pub use harts::{random_harts, random_harts_admission};
pub use host_stacks::random_host_stacks;
pub use kinds::{KINDS, Kind};
pub use mutation::{Grammar, KeyIndex, Mutant, Mutation, Mutator, Path, Step, Tree, with};
pub use network::random_network;
pub use paths::random_paths;
pub use preemption::{random_preemption, random_preemption_behind_gates, random_verification};
pub use psfp::random_stream_filters;
pub use responses::random_responses;
pub use seeds::{cases, number, seeds};
pub use srp::{random_stream_reservation, random_vlan_registration};
pub use tags::retagged;
pub use tdma::{TdmaFailure, random_tdma, random_tdma_slot_pairs};
pub use time_triggered::{
    TimeTriggeredNetwork, random_as6802, random_time_triggered, random_time_triggered_resets,
};
pub use traffic::{random_trace, random_traffic};
pub use virtual_link::random_virtual_links;

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
