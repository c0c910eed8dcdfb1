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
//! not free: states and functions are taken from publications about it, with names of their own. A node is of one
//! cluster, which is a domain and a priority, and gives way to clusters of a higher one. Not here: who carries the
//! frames.

mod compression;
mod compressor;
mod integrity;
mod master;
mod node;
mod permanence;
mod station;

pub use compression::{Compression, fault_tolerant_average};
pub use compressor::{CompressionConfig, CompressionMaster};
pub use integrity::CommandMonitor;
pub use master::{CliquesDetected, MasterConfig, MasterState, Outcome, SynchronisationMaster, Thresholds};
pub use node::{Maker, PartConfig, SyncNode, Time};
pub use permanence::{permanent_at, to_transparent_clock, transparent_time};
pub use station::{Station, output, pass};
pub use tautwire_wire::{PcfType, ProtocolControlFrame};

/// Whether a frame is of a cluster.
fn is_of(frame: &ProtocolControlFrame, domain: u8, priority: u8) -> bool {
    let domain = if planted!(DomainIgnored) { frame.sync_domain } else { domain };
    frame.domain_and_priority() == (domain, priority)
}
