//! The admission test of HaRTES: response times over several switches, with hierarchical servers.
//!
//! `response_time.rs` is equation 3 of the published evaluation on streams as they are (periods, octets, links);
//! `test.rs` applies it to the streams of a description, and tests synchronous ones against the windows of their
//! switches (`synchronous.rs`). Not here: bounds that hold for a run with drifting clocks (`tautwire-analysis`), and
//! the protocol that uses the test.

mod response_time;
mod synchronous;
mod test;

pub use response_time::{
    ElementaryCycle, HartsSet, Reserved, ResponseTime, Server, Terms, Verdict, Violation,
};
pub use test::HartsResponseTime;
