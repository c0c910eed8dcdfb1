//! Why a class that is cut has no bound.

use crate::unbounded::Why;

/// It is credit-based, and has gates.
pub(crate) static BEHIND_GATES: Why = Why {
    name: "preemption-behind-gates",
    text: "port {port} cuts frames of a credit-based class behind gates, for which no bound is known",
};
