//! The description of a network: text, spans, grammar, and the resolved [`Network`].
//!
//! [`load`] reads a description and gives the network or all its faults at once, each with its place and a remedy; a
//! [`Grammar`] knows sections of mechanisms too. Only this crate reads descriptions and makes a [`Network`], so every
//! `Network` is valid.
//!
//! ```text
//!  text ──► parse ──► Draft ──► resolve ──► Resolved ──► check, complete ──► Network
//!  text/    parse.rs: trees     resolve/: names, topology,  check/           network/
//!           and their form      streams, routes, shapers    and the folders of mechanisms
//! ```
//!
//! ```
//! let text = "
//! nodes: {a: {type: end-station}, b: {type: end-station}}
//! links: [{between: [a, b], rate: 100 Mbit/s}]
//! streams:
//!   - {name: x, talker: a, listeners: b, payload: 100, traffic: {type: periodic, interval: 1 ms}}
//! ";
//! let loaded = tautwire_model::load_text("net.yaml", text);
//! let fault = &loaded.diagnostics[0];
//! assert_eq!(fault.code, "value::unit-missing");
//! assert_eq!(loaded.sources[0].line_and_column(fault.labels[0].span.start), (5, 49));
//!
//! let mended = tautwire_model::load_text("net.yaml", &text.replace("payload: 100", "payload: 100 B"));
//! assert_eq!(mended.network.expect("no fault").streams[0].hops.len(), 1);
//! ```

pub mod as6802;
mod blocks;
pub mod central;
mod check;
mod configuration;
pub mod cqf;
pub mod datagram;
mod diagnostic;
mod frame;
pub mod frer;
pub mod gates;
pub mod gptp;
mod grammar;
pub mod harts;
mod host_stacks;
mod identification;
mod load;
pub mod network;
mod parse;
mod places;
pub mod preemption;
pub mod psfp;
mod resolve;
pub mod section;
pub mod settings;
pub mod srp;
mod subset;
mod tag_change;
pub mod tdma;
mod test_bed;
pub mod test_growth;
mod text;
pub mod time_triggered;
mod trace;
pub mod virtual_link;

pub use blocks::building_blocks;
pub use diagnostic::{Diagnostic, Label, Loaded, Severity, Source};
pub use frame::{FRAME_MIN, HEADER_AND_FCS, TAG, Tags, frame_length, wire_bits};
pub use grammar::Grammar;
pub use load::{document, load, load_text, well_formed_document};
pub use network::Network;
pub use places::Places;
pub use tag_change::{charged_per_wire, tag_ratio, wire_per_charged};
pub use time_triggered::with_dispatch_points;

/// Files of captured frames, as they are: interfaces, stamps, octets.
pub mod capture {
    pub use crate::trace::{Capture, CaptureInterface, LINK_TYPE_ETHERNET, Packet, octets_of, read_capture};
}
