//! The catalogue of faults of gates.

pub(crate) use crate::text::codes::*;

codes! {
    /// Impossible gates: without a list, beyond what the device can do, beside another schedule of the port, or shut to frames of a stream.
    GATES = "gates::impossible";
    /// A gate control list longer than its cycle.
    GATE_LIST = "gates::list";
    /// A class whose gate is never open for long enough for its frames.
    GATE_WINDOW = "gates::window";
    /// Frames that are longer than queueMaxSDU of their class.
    GATE_SDU = "gates::max-sdu";
    /// Requirements on an offset that its traffic cannot meet, or of a stream whose offset no schedule chooses.
    TIME_AWARE = "stream::time-aware";
}
