//! Synchronisation of clocks as in SAE AS6802: synchronisation masters and clients, compression masters.
//!
//! ```text
//!  master ── integration frame at the start of each cycle ──► compression master
//!  client                                                     permanence, compression
//!    ▲                                                              │
//!    └───────────── compressed frame: correct the clock ◄───────────┘
//! ```
//!
//! Frames are made permanent: what the transparent clock says that they took is filled up to the greatest
//! transmission delay, so that what was sent at one time is permanent at one time. The standard's text is
//! not free: states and functions are taken from publications about it, with names of their own. Kept to: one
//! priority and domain a node, one synchronisation domain; not here: priorities that give way to one
//! another, high-integrity devices, who carries the frames and the transparent clock.

mod compression;
mod compressor;
mod master;
mod permanence;

pub use compression::{Compression, fault_tolerant_average};
pub use compressor::{CompressionConfig, CompressionMaster};
pub use master::{MasterConfig, MasterState, Outcome, SynchronisationMaster, Thresholds};
pub use permanence::{permanent_at, to_transparent_clock, transparent_time};
pub use tautwire_wire::{PcfType, ProtocolControlFrame};
