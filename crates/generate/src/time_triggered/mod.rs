//! Time-triggered networks: random ones with a schedule (`network.rs`), and large ones whose schedule is to be found
//! (`to_be_scheduled.rs`).

mod network;
mod to_be_scheduled;

pub use network::{random_as6802, random_time_triggered, random_time_triggered_resets};
pub use to_be_scheduled::TimeTriggeredNetwork;
