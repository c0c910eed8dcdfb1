//! Admission in a run, whatever mechanism admits: how long it took, with its bound (`bounds.rs`), and what was refused (`refusal.rs`).
//!
//! Not here: reservations (`srp/`), requests of HaRTES (`harts/admission.rs`).

pub(crate) mod bounds;
pub mod refusal;
