//! The catalogue of faults of HaRTES.

pub(crate) use crate::text::codes::*;

codes! {
    /// Windows that do not fit into an elementary cycle, or are too short for their frames.
    HARTS_WINDOW = "harts::window";
    /// A server that does not exist, exists twice, or is too small for a frame.
    HARTS_SERVER = "harts::server";
    /// Policing that discards frames of a talker that keeps its promise.
    HARTS_POLICING = "harts::policing";
    /// A stream that a network with servers cannot carry, or impossible central admission.
    HARTS_STREAM = "harts::stream";
}
