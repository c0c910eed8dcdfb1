//! Why a class that is cut, or a port that cuts, has no bound.

use crate::unbounded::Why;

/// It is credit-based, and has gates.
pub(crate) static BEHIND_GATES: Why = Why {
    name: "preemption-behind-gates",
    text: "port {port} cuts frames of a credit-based class behind gates, for which no bound is known",
};

/// The port verifies in the run, and has gates or another order of classes until then.
pub(crate) static UNVERIFIED: Why = Why {
    name: "preemption-unverified",
    text: "port {port} preempts only after a verification in the run, and has gates, or a preemptable class above an express one: no bound is known for that",
};
