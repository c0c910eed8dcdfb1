//! The least time that a frame of a stream needs on lines and cables: what no network can do without.

use tautwire_units::{Bytes, Duration};

use super::{Network, Stream};
use crate::frame::frame_length;

/// Preamble and start-of-frame delimiter (IEEE Std 802.3-2022, 3.1.1).
const PREAMBLE: Bytes = Bytes::new(8);

impl Network {
    /// From the first bit that a stream's shortest frame sends to the last one that a listener receives, without
    /// queueing and delays in devices: lines, cables and the least delays of the PHYs. Rounded down.
    ///
    /// # Panics
    /// If the stream has no such listener.
    #[must_use]
    pub fn least_way(&self, stream: &Stream, listener: u32) -> Duration {
        let last = stream.hops.iter().position(|hop| hop.listener == Some(listener));
        let mut place = last.expect("a listener of the stream");
        let bits = (frame_length(stream.payload_min, stream.tagged) + PREAMBLE).bits();
        let mut least = Duration::ZERO;
        let mut is_stored = true;
        loop {
            let hop = &stream.hops[place];
            let links = self.ports[hop.port.index()].links.expect("a hop's port is connected");
            let link = &self.links[links.egress.index()];
            if is_stored {
                least += link.rate.duration_floor(bits);
            }
            least += link.propagation + link.phy_delay.min;
            // What is sent on while it is received has no time of its own on the line before.
            is_stored = self.cut_through(stream, place).is_none();
            let Some(before) = hop.previous else { return least };
            place = before as usize;
        }
    }
}
