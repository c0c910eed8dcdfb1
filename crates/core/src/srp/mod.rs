//! Stream reservation (IEEE Std 802.1Q-2022, clauses 34 and 35): bridges and end stations of MSRP.
//!
//! ```text
//!  talker ─ TalkerAdvertise ─► bridge.rs ─ TalkerAdvertise, or TalkerFailed with a reason ─► listener
//!         ◄─ Ready, ReadyFailed, AskingFailed ─ merged, bandwidth locked ─ Ready, AskingFailed ─
//! ```
//!
//! `class.rs` computes the bandwidth of a stream and its latency at a port, `bandwidth.rs` what a port can still
//! reserve, `talkers.rs` which of a talker's values is valid, `table.rs` which streams a bridge accepts, `egress.rs`
//! which of them leave a port; `vlans.rs` is MVRP of a node, `node.rs` the full node, octets in and octets out.

pub mod bandwidth;
pub mod bridge;
#[cfg(test)]
mod bridge_tests;
pub mod class;
mod egress;
pub mod mrp;
pub mod node;
pub mod station;
mod table;
mod talkers;
pub mod vlans;

pub use bandwidth::PortBandwidth;
pub use bridge::{AddressTable, BridgeConfig, PortConfig, SrpBridge, VlanLimits};
pub use class::{SrClass, hop_latency_ns, idle_slope, slope_of};
pub use node::{SrpNode, SrpPart, TimerSteps};
pub use station::{Offer, SrpStation};
pub use vlans::{VlanNode, VlanReason};
