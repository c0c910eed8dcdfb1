//! Multiple Registration Protocol (IEEE Std 802.1Q-2022, clause 10): declarations and registrations of attributes.
//!
//! ```text
//!  join, leave ─► applicant.rs ─┐                     ┌─► registrar.rs ─► indications
//!                               ├─► participant.rs ◄──┤
//!  leave_all.rs (both timers) ──┘    one per port     └── MRPDUs received
//!                                        │
//!                                     relay.rs: a bridge passes on what its ports registered
//! ```
//!
//! The four machines are the standard's tables as functions; `participant.rs` keeps their states and timers for all
//! attributes of a port, `relay.rs` connects the ports of a bridge. Not here: the meaning of attributes.

pub mod applicant;
pub mod leave_all;
pub mod participant;
pub mod registrar;
pub mod relay;
mod timing;

pub use applicant::{Applicant, ApplicantEvent};
pub use leave_all::{LeaveAll, LeaveAllEvent, Periodic, PeriodicEvent};
pub use participant::{Indication, Notice, Participant};
pub use registrar::{Registrar, RegistrarAction, RegistrarEvent};
pub use relay::Relay;
pub use timing::{JoinRule, MrpTiming};
