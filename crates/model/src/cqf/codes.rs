//! The catalogue of faults of cyclic queuing and forwarding.

pub(crate) use crate::text::codes::*;

codes! {
    /// Cyclic queuing and forwarding that cannot be so, or that does not go together with other mechanisms.
    CYCLIC = "cyclic::impossible";
    /// A dead time that is too short for cables, stages and clocks, or as long as the cycle.
    CYCLIC_DEAD_TIME = "cyclic::dead-time";
    /// Fewer buffers than a line needs.
    CYCLIC_BUFFERS = "cyclic::buffers";
    /// Clocks whose phase error is not known, or too large for cycles.
    CYCLIC_CLOCKS = "cyclic::clocks";
    /// A talker whose frames may leave their cycle.
    CYCLIC_TALKER = "cyclic::talker";
    /// More frames in a cycle than it has time for.
    CYCLIC_LOAD = "cyclic::load";
}
