//! Why nothing after a stream gate has a bound.

use crate::unbounded::Why;

/// The class of frames changes with the list of their gate.
pub(super) static VARIES: Why = Why {
    name: "internal-priority-varies",
    text: "stream gates give frames that leave port {port} internal priorities that change, and so classes that do",
};
