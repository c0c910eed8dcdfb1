//! The catalogue of faults of TDMA.

pub(crate) use crate::text::codes::*;

codes! {
    /// A slot beyond the cycle, or in the time of another.
    TDMA_SLOT = "tdma::slot";
    /// A talker without a slot for its frames, or a network that cannot have slots.
    TDMA_STATION = "tdma::station";
    /// A response to a stream that the talker does not receive, or that is a response itself.
    RESPONSE = "stream::response";
}
