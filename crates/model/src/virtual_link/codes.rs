//! The catalogue of faults of virtual links.

pub(crate) use crate::text::codes::*;

codes! {
    /// A bandwidth allocation gap that the profile of its virtual link does not have.
    BAG = "virtual-link::bag";
    /// Two virtual links with one identifier, or one sub-virtual-link twice.
    LINK_DOUBLED = "virtual-link::doubled";
    /// Sub-virtual-links of one virtual link that differ in more than their traffic.
    LINK_DIFFERS = "virtual-link::differs";
    /// Virtual links of an end system that are granted more than its line carries.
    LINK_BANDWIDTH = "virtual-link::bandwidth";
    /// An end system whose virtual links give it more jitter than the standard allows.
    LINK_JITTER = "virtual-link::jitter";
    /// A virtual link of priority 1, whose class is below that of priority 0.
    LINK_PRIORITY = "virtual-link::priority";
    /// A virtual link that is policed by a switch which does not wait for the whole frame.
    LINK_POLICING = "virtual-link::policing";
    /// A virtual link over two networks that do not exist, or that have a bridge in common.
    LINK_REDUNDANCY = "virtual-link::redundancy";
}
