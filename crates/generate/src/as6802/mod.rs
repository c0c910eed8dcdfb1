//! Random networks that SAE AS6802 synchronises: two clusters (`clusters.rs`), and one that falls into two parts (`halves.rs`)
//! or three (`thirds.rs`).
//!
//! One cluster with failures (`failure.rs`) is a random time-triggered network with synchronisation: `time_triggered/network.rs`.

mod clusters;
pub(crate) mod failure;
mod halves;
mod thirds;

pub use clusters::{ClusterRelation, random_as6802_clusters};
pub use failure::As6802Failures;
pub use halves::random_as6802_halves;
pub use thirds::random_as6802_thirds;
