//! HaRTES in a run: masters and nodes of the elementary cycles (`ftt.rs`), messages that wait in switches (`relayed.rs`), central
//! admission (`admission.rs`), what was observed (`observed.rs`).

pub(crate) mod admission;
pub(crate) mod ftt;
mod observed;
mod relayed;

pub use observed::{
    AdmissionEvent, AdmissionRung, HartsObservation, ListeningObservation, MasterObservation, MasterState,
    RequestObservation, SwitchLink,
};
