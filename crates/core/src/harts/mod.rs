//! HaRTES and FTT: the masters of the switches, the ACMaster, the nodes, and the synchronous schedule.
//!
//! `node.rs` requests streams; `master.rs` is in every switch, relays requests and keeps the streams through it,
//! `station.rs` joins all entities of a node, `resources.rs` derives a stream's resources in a switch; `acmaster.rs`
//! is the one master that decides, `asking.rs` how it processes requests, `leaving.rs` how it removes streams,
//! `ending.rs` how grants end because of a failed link (`links.rs`), `standby.rs` how two of it replicate, `survey.rs`
//! how one without a standby comes back; `schedule.rs` computes what a trigger message polls; `stream_policing.rs`,
//! outside of this folder, polices frames. All of them receive the time as input and give messages to send. Not here:
//! the test itself (the driver of the machine does it), the messages (`tautwire-wire`), the servers (`servers.rs`).

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
