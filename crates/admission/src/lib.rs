//! Online admission: which of the described streams may run, decided one request after the other.
//!
//! ```text
//!  request ─► Controller ─► test (test.rs: bounds.rs, bandwidth.rs) ─► decision, with its reason
//!  request.rs controller.rs       knows the admitted streams            decision.rs
//!                │
//!                └─► log (log.rs): on disk before the decision is given
//! ```
//!
//! The candidates are the streams of the description, by name. Invariants: a refused request changes
//! nothing; what was acknowledged is in the log; a request with an id that the log knows is answered as
//! it was the first time and not done again. Not here: the protocols that carry requests over a network.

mod bandwidth;
mod bounds;
mod controller;
mod decision;
mod harts;
mod log;
mod request;
pub mod reservation;
mod test;

pub use bandwidth::Bandwidth;
pub use bounds::EndToEndBounds;
pub use controller::Controller;
pub use decision::{Decision, Outcome, Refusal, RefusalReason};
pub use harts::{
    Deadlines, ElementaryCycle, HartsResponseTime, HartsSet, Reserved, ResponseTime, Server, Verdict,
    Violation,
};
pub use log::{Log, LogError};
pub use request::{Mode, Operation, Request, RequestError};
pub use test::{AdmissionTest, Standing};
