//! Central configuration of streams (IEEE Std 802.1Q-2022, 46.1.3): the two models beside the fully distributed one of MSRP.
//!
//! ```text
//!  fully centralised                        user ─► CUC ─► CNC ─► bridges
//!  centralised network, distributed user    user ─MSRP─► edge bridge ─► CNC ─► bridges
//! ```
//!
//! The central network configuration (`controller.rs`) hears who offers and who asks, has each reservation tested, configures the
//! bridges on its way, and tells the users when all have confirmed. The central user configuration (`users.rs`) speaks for
//! end stations; an edge bridge (`edge.rs`) hears them by MSRP. Messages pass a channel that makes up for losses (`channel.rs`). The
//! standard leaves the test, the messages' form (`wire`, `central`) and the channel open: these are ours. `node.rs` is what a node has of
//! all this, octets in and octets out. Tests are the driver's, as is how long a node takes.

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
