//! Results: verdicts, tables, JSON, Arrow and Parquet, pcapng, run folders and the HTML report.
//!
//! ```text
//!  Network ─┐                 ┌─► table      for the terminal
//!  Bounds ──┼─► Summary ──────┼─► summary.json
//!  run ─────┘   (verdicts)    └─► html       one self-contained file
//! ```
//!
//! [`Summary::new`] sums up bounds, an observation, or both; everything else is made from it.
//! [`RunFolderWriter`] keeps results, [`RunFolder::read`] reads them back, and [`html`] makes the
//! report of what was read.
//!
//! [`TraceRecorder`] follows a run and writes frame by frame: [`FrameTraceWriter`] Parquet,
//! [`PcapngWriter`] a capture for Wireshark.
//!
//! Nothing is computed here that would change a verdict elsewhere: [`verify`] is the only judge.

mod admission_bounds;
pub mod arrow;
mod cause;
pub mod clocks;
mod contradiction;
pub mod cycles;
pub mod datagrams;
mod frame_trace;
mod grid;
pub mod harts;
pub mod harts_admission;
pub mod histogram;
mod html;
mod json;
pub mod listener_frames;
pub mod loss;
mod manifest;
pub mod mechanism_tables;
mod name;
pub mod network_control;
pub mod network_time;
pub mod parquet;
mod partial;
mod pcapng;
pub mod proviso;
pub mod refusal;
pub mod reservation;
mod run_folder;
mod schedule;
pub mod served;
mod sha256;
pub mod slots;
pub mod start_up;
mod summarise;
pub mod summary;
pub mod table;
pub mod takeover;
pub mod test_bed;
mod topology;
mod trace;
mod verdict;
pub mod virtual_links;
pub mod vlan_registration;

#[cfg(test)]
mod fixture;

pub use contradiction::{Contradiction, Place, Quantity};
pub use frame_trace::FrameTraceWriter;
pub use html::html;
pub use manifest::Manifest;
pub use name::{port as port_name, unbounded_text};
pub use pcapng::PcapngWriter;
pub use proviso::Proviso;
pub use run_folder::{RunFolder, RunFolderWriter};
pub use schedule::{ScheduleDocument, ScheduleRow, ScheduleSlot};
pub use sha256::sha256;
pub use summary::Summary;
pub use topology::{CableDocument, NetworkDocument, NodeDocument, StreamDocument};
pub use trace::TraceRecorder;
pub use verdict::{
    ListenerVerification, ObservedDelay, StreamVerification, Verdict, Verification, judge, verify,
};
