//! Why a cyclic stream has no bound.

use crate::unbounded::Why;

/// The clocks of its bridges are corrected, and their difference is stated alone.
pub(super) static CORRECTED: Why = Why {
    name: "corrected-cycles",
    text: "cycles at port {port} follow a clock that gPTP corrects, and their phase error is stated and not proven",
};
