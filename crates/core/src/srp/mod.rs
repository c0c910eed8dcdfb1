//! Stream reservation (IEEE Std 802.1Q-2022, clauses 34 and 35): bridges and end stations of MSRP.
//!
//! ```text
//!  talker ─ TalkerAdvertise ─► bridge.rs ─ TalkerAdvertise, or TalkerFailed with a reason ─► listener
//!         ◄─ Ready, ReadyFailed, AskingFailed ─ merged, bandwidth locked ─ Ready, AskingFailed ─
//! ```
//!
//! `class.rs` says what a stream costs and how late a port makes it, `bandwidth.rs` what a port may still
//! promise, `talkers.rs` which of a talker's values counts. What is declared is computed anew from what is registered
//! after every change, so it does not depend on the order in which things were heard; ages alone are remembered.

pub mod bandwidth;
pub mod bridge;
pub mod class;
pub mod station;
mod talkers;

pub use bandwidth::PortBandwidth;
pub use bridge::{BridgeConfig, PortConfig, SrpBridge, VlanLimits};
pub use class::{SrClass, hop_latency_ns, idle_slope};
pub use station::{Offer, SrpStation};
