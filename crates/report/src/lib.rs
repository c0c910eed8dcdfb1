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
//! What a mechanism adds is in the folder or file with its name: `as6802`, `gptp`, `harts`, `srp`, `tdma`, `test_bed`,
//! `time_triggered`, `virtual_link`.
//!
//! Nothing is computed here that would change a verdict elsewhere: [`verify`] is the only judge.

mod admission;
mod adversary;
pub mod arrow;
pub mod as6802;
pub mod captured;
mod cause;
mod contradiction;
mod control_losses;
pub mod datagrams;
mod difference;
mod first_frame;
mod frame_trace;
mod frer;
pub mod gptp;
mod grid;
pub mod harts;
pub mod histogram;
mod html;
mod json;
pub mod listener_frames;
pub mod live;
pub mod loss;
mod manifest;
pub mod measured;
pub mod mechanism_tables;
mod mpackets;
mod name;
pub mod network_control;
pub mod parquet;
mod partial;
mod pcapng;
pub mod proviso;
mod run_folder;
mod run_list;
mod schedule;
pub mod served;
mod sha256;
pub mod srp;
mod summarise;
pub mod summary;
pub mod table;
pub mod tdma;
pub mod test_bed;
mod time_triggered;
mod topology;
mod trace;
mod verdict;
pub mod virtual_link;

#[cfg(test)]
mod fixture;

pub use admission::refusal;
pub use adversary::{AdversaryRow, AdversarySearch, AdversarySummary};
pub use contradiction::{Contradiction, Place, Quantity, find as contradictions};
pub use difference::{
    Change, Compared, ComparedRow, ComparedSide, Difference, ListenerChange, RowSide, Side, SideBySide,
    ValueChange,
};
pub use frame_trace::FrameTraceWriter;
pub use html::{Page, content_security_policy, html, page, served_html};
pub use manifest::Manifest;
pub use name::{port as port_name, unbounded_text};
pub use pcapng::PcapngWriter;
pub use proviso::Proviso;
pub use run_folder::{RunFolder, RunFolderWriter};
pub use run_list::{Brief, FolderList, ListedBridge, ListedRun, RunList, RunningRun};
pub use schedule::{ScheduleDocument, ScheduleRow, ScheduleSlot};
pub use sha256::sha256;
pub use summary::Summary;
pub use topology::{CableDocument, NetworkDocument, NodeDocument, StreamDocument};
pub use trace::TraceRecorder;
pub use verdict::{
    ListenerVerification, ObservedDelay, StreamVerification, Verdict, Verification, judge, verify,
};
