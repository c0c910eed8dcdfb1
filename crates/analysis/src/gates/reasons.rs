//! Why a class with a gate has no bound.

use crate::unbounded::Why;

/// Its frames fit into no interval, or its gate never opens.
pub(super) static NEVER: Why = Why {
    name: "no-window",
    text: "no open interval of the gate of class {class} at port {port} is sure to take its largest frame and what may be under way when it opens",
};

/// More comes than the intervals take.
pub(super) static OVERLOAD: Why = Why {
    name: "windows-overloaded",
    text: "more may come to class {class}, with what is sent before it, than the open intervals of the gates of port {port} carry",
};

/// Its clock is corrected, and it is not known what that does.
pub(super) static CORRECTED: Why = Why {
    name: "corrected-gates",
    text: "the gates of port {port} follow a clock that a protocol corrects, and that is AS6802, or credit, preemption, another list or a restart is behind it",
};

/// Its list changes, and it is not known when, or what that does.
pub(super) static CHANGES: Why = Why {
    name: "gates-change",
    text: "the list of the gates of port {port} changes in the run, and either the change has no certain place in the list before, or the port preempts",
};
