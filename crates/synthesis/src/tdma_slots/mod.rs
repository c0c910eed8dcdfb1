//! Slots of a TDMA cycle that make the worst round trip least.
//!
//! `problem.rs` defines the senders, messages and responses, `round.rs` places a request's slots and those of its
//! responses, `plan.rs` puts rounds into the cycle, `share.rs` lets streams take turns in one slot. Invariant: every
//! response is ready before its slot, in the cycle of its request. Not here: the bounds of a network with these slots
//! (`tautwire-analysis`), which prove the plan once more.

mod plan;
mod problem;
mod round;
mod share;

pub use plan::{Answer, PlannedSlot, Rounds, SlotFault, SlotPlan, plan, plan_as};
pub use problem::{Alone, Opening, Pair, SlotPassage, SlotProblem, Transfer};
