//! Runs of whole networks, one module for each concern: one program, for each that is linked alone takes as long again.

mod central_octets;
mod drivers;
mod parts;
mod precision_time;
mod reservation;
mod stamps;
mod vlan_registration;
