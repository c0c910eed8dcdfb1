//! Stream reservation in results: reservations of streams (`reservation.rs`) and registration of VLANs (`vlan_registration.rs`).

pub mod reservation;
pub mod vlan_registration;
