//! A described network in real time: bridges and end stations that send real frames over interfaces of Linux.
//!
//! ```text
//!  clock, sockets ─► worker ─► Node::receive ─► events in order of time ─► core's ports ─► Node::emit ─► sockets
//! ```
//! A `node` is a machine without clock or socket: it drives `core`'s forwarding, schedulers and ports, which are those of the
//! simulator, by the instants at which frames came. A frame leaves when its last bit would on a link of the described rate, so a
//! link of 100 Mbit/s is one on any interface. A worker carries frames and readings of the clock. The result is an
//! observation of the simulator's type. Not here: system calls (`tautwire-linux`), comparison and tables (`report`).

#![cfg(target_os = "linux")]

mod agent;
mod attach;
mod bridge;
mod bridge_frame;
mod bridge_run;
mod bridge_status;
mod control;
mod counters;
mod floor;
mod frames;
mod gptp;
mod identification;
mod message;
mod node;
mod plan;
mod plane;
mod program;
mod record;
mod run;
mod support;
#[cfg(test)]
mod tdma_tests;
mod watch;
mod worker;

pub use agent::{Go, Progress, gathered, run_node};
pub use attach::{Attachment, PROGRAM_INTERFACE};
pub use bridge_run::{BridgeSettings, Sockets, run_bridge};
pub use bridge_status::{BridgeStatus, ClassStatus, Drops, PortStatus, StreamStatus, TimePort, TimeStatus};
pub use floor::{Floor, Spread};
pub use program::{ProgramStream, StationPrograms};
pub use record::{NodeRecord, RECEPTIONS_MAX};
pub use run::{Cannot, LiveRun, Onlooker, Publish, Settings, run, run_watched};
pub use support::{differences, refusals, refusals_but};
pub use tautwire_linux::{Priority, monotonic};
pub use tautwire_sim::BridgeFiltersObservation;
pub use watch::{ClockNow, DelaysNow, ListenerNow, LiveStatus, PortNow};
pub use worker::ReceivedFrame;
