//! Online admission: which streams may run, decided one request after the other.
//!
//! ```text
//!  request ─► Controller ─► test (test.rs: bounds.rs, srp.rs, harts/) ─► decision, with its reason
//!  request.rs controller.rs       knows the admitted streams                   decision.rs, suggest.rs
//!                │
//!                └─► log (state.rs, log/): on disk before the decision is given
//!  AdmissionServer (server.rs): the same, with streams that requests bring along
//! ```
//!
//! The candidates are the streams of the description, by name, and for a [`AdmissionServer`] those that a request
//! describes. Invariants: a refused request changes nothing; every acknowledged change is in the log; a request with
//! an id that the log knows gets the same answer again and is not done again. Not here: the protocols that carry
//! requests over a network.

mod bounds;
mod choice;
mod controller;
mod decision;
mod harts;
mod log;
mod request;
mod server;
mod srp;
mod state;
mod suggest;
mod test;
mod unique_keys;

pub use bounds::{EndToEndBounds, first_lost, may_be_lost, missed, wanted};
pub use choice::Test;
pub use controller::Controller;
pub use decision::{Decision, Fits, Outcome, Refusal, RefusalReason};
pub use harts::{
    ElementaryCycle, HartsResponseTime, HartsSet, Reserved, ResponseTime, Server, Terms, Verdict, Violation,
};
pub use log::{Log, LogError};
pub use request::{Mode, Operation, Request, RequestError};
pub use server::{AdmissionServer, Channel};
pub use srp::Bandwidth;
pub use test::{AdmissionTest, TestSession};
