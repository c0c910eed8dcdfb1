//! The Link Layer Discovery Protocol (IEEE Std 802.1AB-2016): every port sends its identity to its neighbour, and
//! learns the neighbour's.
//!
//! | face | file |
//! |---|---|
//! | octets | `pdu.rs` |
//! | machine of a node | `agent.rs` |
//! | keys of the description, streams of the frames | `section.rs` |
//! | part in a run, what was observed | `run.rs` |
//! | networks for the searches | `draw.rs` |
//!
//! The frames of a port are a stream like any other, so bounds and runs count them and captures show them. Frames go
//! to the nearest bridge (01-80-C2-00-00-0E), which does not forward them.
//!
//! Not here: management addresses and the TLVs of other organisations, which are skipped; statuses that change in a
//! run, and with them `reinit-delay` and shutdown frames; notifications.

mod agent;
mod draw;
mod pdu;
mod run;
mod section;

pub use agent::{AdminStatus, Agent, Neighbour, PortConfig, Settings, Statistics};
pub use pdu::{ETHER_TYPE, Identifier, Lldpdu, NEAREST_BRIDGE};
pub use run::{LldpObservation, NeighbourObservation, PortObservation};
pub use section::{LldpPort, LldpSection};

/// The mechanism.
#[derive(Clone, Copy, Debug)]
pub struct Lldp;
