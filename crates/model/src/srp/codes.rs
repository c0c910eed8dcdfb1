//! The catalogue of faults of stream reservation.

pub(crate) use crate::text::codes::*;

codes! {
    /// Impossible stream reservation: a loop, times out of order, classes with more bandwidth than the port.
    RESERVATION = "reservation::network";
    /// A class of which nothing can be reserved.
    RESERVATION_EMPTY = "reservation::no-bandwidth";
    /// More declarations than MRP can repeat within a LeaveTime.
    RESERVATION_PACE = "reservation::pace";
    /// A deviation from the AVB profile (802.1BA), if the description requests it.
    AVB_PROFILE = "reservation::profile";
    /// Registration of VLANs without a VLAN to register, or without a node that can declare it.
    VLAN_REGISTRATION = "reservation::vlans";
    /// A reservation of a stream that cannot be reserved, with times out of order, or in a network without stream
    /// reservation.
    RESERVED_STREAM = "reservation::stream";
}
