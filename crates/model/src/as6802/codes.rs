//! The catalogue of faults of the synchronisation of AS6802.

pub(crate) use crate::text::codes::*;

codes! {
    /// Impossible synchronisation: too few masters, nodes that no frame reaches, a precision that it does not keep.
    SYNCHRONISATION = "time-triggered::synchronisation";
    /// A faulty device, or a split of the network, that its synchronisation does not contain: no precision is proven.
    NOT_CONTAINED = "time-triggered::not-contained";
}
