//! Why a time-triggered link has no bound.

use crate::unbounded::Why;

/// Its time-triggered virtual link has no dispatch points.
pub(super) static UNSCHEDULED: Why =
    Why { name: "unscheduled", text: "it has no dispatch point at port {port}" };

/// A fault of the synchronisation that its nodes follow is not contained.
pub(super) static NOT_CONTAINED: Why = Why {
    name: "not-contained",
    text: "a fault of the synchronisation that port {port} follows is not contained",
};

/// Protocol control frames of the synchronisation that its nodes follow may be under way for longer than is allowed.
pub(super) static CONTROL_FRAMES_LATE: Why = Why {
    name: "control-frames-late",
    text: "control frames of the synchronisation that port {port} follows may take longer than `max-transmission-delay`",
};
