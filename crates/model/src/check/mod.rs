//! Faults that no single key shows: overload, paces that no run can carry out, flooding without end, events and keys that do nothing.

pub(crate) mod flooding;
pub(crate) mod granted;
pub(crate) mod idle_events;
pub(crate) mod loads;
pub(crate) mod pace;
pub(crate) mod without_effect;
