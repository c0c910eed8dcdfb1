//! Random networks of TDMA: for the search for a late frame (`network.rs`, `failure.rs`) and for the planner of slots
//! (`slot_pairs.rs`).

mod failure;
mod network;
mod slot_pairs;

pub use failure::TdmaFailure;
pub use network::random_tdma;
pub use slot_pairs::random_tdma_slot_pairs;
