//! The catalogue of faults of frame preemption.

pub(crate) use crate::text::codes::*;

codes! {
    /// Frame preemption that cannot be: classes of two services, a link whose end takes no fragments, or beside another mechanism of the port.
    PREEMPTION = "preemption::impossible";
    /// A port that is to preempt frames and does not.
    PREEMPTION_INACTIVE = "preemption::inactive";
    /// Frames that are cut, and go on behind the close of their gate.
    PREEMPTION_OVERRUN = "preemption::overrun";
}
