//! Random networks of gPTP: with free clocks (`network.rs`) and with clocks that a servo corrects (`servo.rs`).

mod network;
mod servo;

pub use network::random_gptp;
pub use servo::random_gptp_servo;
