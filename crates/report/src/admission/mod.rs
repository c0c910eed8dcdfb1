//! Admission in a run, by any mechanism: how long it took, with its bound (`bounds.rs`), and refusals (`refusal.rs`).
//!
//! Not here: reservations (`srp/`), requests of HaRTES (`harts/admission.rs`).

pub(crate) mod bounds;
pub mod refusal;
