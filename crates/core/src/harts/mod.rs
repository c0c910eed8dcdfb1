//! HaRTES and FTT: the masters of the switches, the one that admits, the nodes, and the synchronous schedule.
//!
//! `node.rs` asks for streams; `master.rs` stands in every switch, relays requests and keeps what goes through
//! it, `station.rs` is all that stands in a node, `resources.rs` what a stream has there; `acmaster.rs` is the one master that decides, `asking.rs` how it takes requests, `leaving.rs` what it takes out, `ending.rs` what ends for a link that failed (`links.rs`), `standby.rs` how there are two of it, `survey.rs` how one that is alone comes back; `schedule.rs` says what a trigger message polls;
//! `stream_policing.rs`, beside this folder, holds frames to what was promised. All of them are told the time and say what to send. Not here:
//! the test itself (who drives the machine makes it), the messages (`tautwire-wire`), the servers (`servers.rs`).

mod acmaster;
mod asking;
mod ending;
mod leaving;
mod links;
mod master;
mod node;
mod resources;
mod schedule;
pub mod servers;
mod standby;
mod station;
mod survey;
mod topology;

pub use crate::stream_policing::{Policed, StreamPolicer, Violator};
pub use acmaster::{AcAction, AcConfig, AcMaster};
pub use links::LinkState;
pub use master::{Carried, SwitchMaster};
pub use node::{FttNode, RequestState};
pub use resources::{FttLink, Policing, RELAYED_MAX, Resources, Scheduled, SwitchConfig, apart_by};
pub use schedule::{SchedulerPolicy, SynchronousScheduler, SynchronousStream};
pub use station::{Came, CycleMaster, Happened, Opened, Ports, Station, address_of, entity_of};
pub use topology::Topology;
