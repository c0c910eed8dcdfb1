//! The catalogue of faults of filtering and policing.

pub(crate) use crate::text::codes::*;

codes! {
    /// Stream filters, stream gates or flow meters that cannot be so, or that do not go together with other mechanisms.
    STREAM_FILTERS = "filters::impossible";
    /// Frames that are larger than the maximum SDU size of their stream filter.
    FILTER_SDU = "filters::max-sdu";
    /// Frames that fit into no bucket of their flow meter.
    FILTER_BURST = "filters::burst";
}
