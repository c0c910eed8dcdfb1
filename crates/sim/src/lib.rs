//! Frame-exact discrete-event simulation: picosecond time, total event order, same seed, same bytes.

mod result;

pub use result::{
    ClassObservation, DropReason, HopObservation, ListenerObservation, Observation, PortObservation,
    StreamObservation, WorstFrame,
};
