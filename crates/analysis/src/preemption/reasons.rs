//! Why a class of a port that preempts has no bound.

use crate::unbounded::Why;

/// It has gates, too.
pub(super) static BEHIND_GATES: Why = Why {
    name: "preemption-behind-gates",
    text: "port {port} preempts frames behind gates, for which no bound is known",
};
