//! Results: verdicts, tables, JSON, Arrow and Parquet, pcapng, run folders and the HTML report.
//!
//! ```text
//!  Network ─┐                 ┌─► table      for the terminal
//!  Bounds ──┼─► Summary ──────┼─► summary.json
//!  run ─────┘   (verdicts)    └─► html       one self-contained file
//! ```
//!
//! [`Summary::new`] sums up bounds, an observation, or both; everything else is made from it.
//! Nothing is computed here that would change a verdict elsewhere: [`verify`] is the only judge.

mod contradiction;
mod name;
mod summarise;
pub mod summary;
pub mod table;
mod verdict;

#[cfg(test)]
mod fixture;

pub use contradiction::{Contradiction, Place, Quantity};
pub use summary::Summary;
pub use verdict::{
    ListenerVerification, ObservedDelay, StreamVerification, Verdict, Verification, judge, verify,
};
