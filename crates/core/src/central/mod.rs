//! Central configuration of streams (IEEE Std 802.1Q-2022, 46.1.3): the two models other than the fully distributed one of MSRP.
//!
//! ```text
//!  fully centralised                        user ─► CUC ─► CNC ─► bridges
//!  centralised network, distributed user    user ─MSRP─► edge bridge ─► CNC ─► bridges
//! ```
//!
//! The central network configuration (`controller.rs`) receives offers and requests, has each reservation tested,
//! configures the bridges on its path, and notifies the users when all have confirmed. The central user configuration
//! (`users.rs`) acts for end stations; an edge bridge (`edge.rs`) exchanges MSRP with them. Messages pass a channel
//! that repeats lost ones (`channel.rs`). The standard leaves the test, the form of messages (`wire`, `central`) and
//! the channel open: these are ours. `node.rs` joins these parts in one node, octets in and octets out. The driver
//! does the tests and determines how long a node takes.

pub mod channel;
pub mod controller;
pub mod edge;
pub mod node;
pub mod users;

pub use channel::{Channel, ChannelTiming, Segment};
pub use controller::{Controller, ControllerAction, Path, PathShare, StreamPaths, UserSide};
pub use edge::{EdgeBridge, EdgeNote};
pub use node::{CentralNode, Role, Work};
pub use tautwire_wire::central::{ControlFrame, Message, Pair, Share};
pub use users::{UserConfiguration, UserStream};
