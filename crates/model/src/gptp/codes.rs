//! The catalogue of faults of gPTP.

pub(crate) use crate::text::codes::*;

codes! {
    /// Impossible gPTP: shaped messages, too many samples, no possible grandmaster, or TDMA slots in the network.
    GPTP = "gptp::network";
}
