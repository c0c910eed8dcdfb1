//! Synchronisation of clocks as in SAE AS6802: synchronisation masters and clients, compression masters.
//!
//! ```text
//!  master ── integration frame at the start of each cycle ──► compression master
//!  client                                                     permanence, compression
//!    ▲                                                              │
//!    └───────────── compressed frame: correct the clock ◄───────────┘
//! ```
//!
//! Frames are made permanent: a frame is delayed until the delay in its transparent clock reaches the greatest
//! transmission delay, so that frames sent at one time become permanent at one time. The text of the standard is not
//! freely available: states and functions are taken from publications about it, and have names of their own. A node
//! belongs to one cluster, which is a domain and a priority, and follows clusters of higher priority. Not here: the
//! transport of frames.

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
