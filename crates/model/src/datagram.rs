//! Streams of datagrams that are larger than a frame: what each of their frames carries.
//!
//! A datagram's contents (UDP header and data) are cut as `tautwire_core::fragment` cuts them, each piece after an
//! IPv4 header of its own. Invariant: all datagrams of a stream have one length, so the number of a frame determines
//! its datagram and offset. Not here: reassembly (`core`), the slots in which they leave (`tdma/`).

use tautwire_core::fragment::{Fragment, Reassembly, fragment, fragment_count};
use tautwire_units::Bytes;

use crate::network::{Network, NodeIndex, NodeKind, StreamIndex};

/// Octets of a UDP header.
pub(crate) const UDP_HEADER: u32 = 8;

/// How a stream's datagrams are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagrams {
    /// Octets of a datagram behind its IPv4 header.
    pub(crate) contents: u32,
    /// Most of them in a frame, at least eight.
    pub(crate) most: u32,
    /// Octets before them in each frame: IPv4 header, and RTmac's of a tunnelled frame.
    pub(crate) headers: u32,
}

impl Datagrams {
    /// Octets of application data of a datagram.
    #[must_use]
    pub const fn data(&self) -> u32 {
        self.contents - UDP_HEADER
    }

    /// Frames of a datagram.
    #[must_use]
    pub const fn fragments(&self) -> u32 {
        fragment_count(self.contents, self.most)
    }

    /// The piece that a stream's frame carries.
    ///
    /// # Panics
    /// Never: every place has a piece.
    #[must_use]
    pub fn piece(&self, stream: StreamIndex, number: u32) -> Fragment {
        let count = self.fragments();
        let piece = fragment(number / count, self.contents, self.most, number % count);
        Fragment { source: stream.0, ..piece.expect("a place below their number") }
    }

    /// MAC client data of a frame, before padding.
    #[must_use]
    pub fn payload(&self, number: u32) -> Bytes {
        Bytes::new(u64::from(self.headers + self.piece(StreamIndex(0), number).length))
    }

    /// Least and most MAC client data of a frame.
    pub(crate) fn payloads(&self) -> (Bytes, Bytes) {
        let (first, last) = (self.payload(0), self.payload(self.fragments() - 1));
        (first.min(last), first.max(last))
    }
}

impl Network {
    /// Frames that one message of a stream makes: one, or the fragments of its datagrams.
    #[must_use]
    pub fn frames_a_message(&self, stream: StreamIndex) -> u32 {
        self.streams[stream.index()].datagrams.map_or(1, |datagrams| datagrams.fragments())
    }

    /// Where an end station puts datagrams together; none for a bridge.
    #[must_use]
    pub fn reassembly(&self, node: NodeIndex) -> Option<Reassembly> {
        let NodeKind::EndStation { host } = &self.nodes[node.index()].kind else { return None };
        Some(Reassembly::new(self.hosts[host.index()].reassembly_buffers as usize))
    }
}
