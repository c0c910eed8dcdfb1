//! Random networks of stream reservation (`reservation.rs`), also with MVRP (`vlan_registration.rs`).

mod reservation;
mod vlan_registration;

pub use reservation::random_stream_reservation;
pub use vlan_registration::random_vlan_registration;
