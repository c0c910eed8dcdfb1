//! Schedules of time-triggered traffic: when each frame leaves each port, found, proven impossible, and checked.
//!
//! ```text
//!  Network ─► network.rs ─► Problem, and back: dispatch points of every hop
//!         └─► gates/     ─► Problem, and back: offsets of talkers, lists of gates
//!
//!  Problem ─┬─► first_fit.rs  large sets: quick, may leave flows out ──┬─► Schedule ─► check.rs
//!  problem.rs│   (occupancy.rs)                                         │   schedule.rs  (other code)
//!            ├─► exact.rs     small sets: a schedule, or the proof that there is none
//!            │   (differences.rs)
//!            └─► outside.rs   searches of others, as a solver that the Python package calls
//! ```
//!
//! Times are readings of the synchronised clocks, in picoseconds; two clocks differ by at most the
//! problem's precision. What a frame needs on a link and between two links is part of the problem: it
//! holds the margins. Not here: how clocks are synchronised, what a port does with its schedule (`core`),
//! bounds of the traffic in between (`analysis`). Slots of a TDMA cycle are planned apart: [`tdma_slots`].

mod check;
mod conflict;
mod differences;
mod exact;
mod first_fit;
mod gates;
mod intervals;
mod network;
mod occupancy;
mod outside;
mod problem;
mod schedule;
pub mod tdma_slots;

pub use check::{Fault, check};
pub use conflict::FlowConflict;
pub use exact::{Outcome, exact, exact_with};
pub use first_fit::{Placement, first_fit, first_fit_with};
pub use gates::{GateOptions, GateSchedule, Gated, schedule_gates, schedule_gates_by};
pub use network::{Described, NetworkSchedule, Verdict, schedule, schedule_by};
pub use outside::{Answer, Question, Search};
pub use problem::{Flow, Hop, InQueue, Link, Problem, Room};
pub use schedule::{AcceptanceWindow, Kept, Schedule};
