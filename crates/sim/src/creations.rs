//! The frames that a stream's talker creates in a run, without a run: what a network in real time sends.

use tautwire_model::Network;
use tautwire_model::network::StreamIndex;
use tautwire_units::{Bytes, Duration, Instant};

use crate::random::{Purpose, Random};
use crate::source::Source;

/// A frame that an application creates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Creation {
    /// When, from the start of the run on the talker's clock.
    pub at: Duration,
    /// Octets of MAC client data.
    pub payload: Bytes,
}

/// The frames of one stream, in order of time: those of a run with this seed whose talker has a perfect clock.
#[derive(Clone, Debug)]
pub struct Creations {
    source: Source,
}

impl Creations {
    /// Those of a stream.
    #[must_use]
    pub fn new(network: &Network, stream: StreamIndex, seed: u64) -> Self {
        let described = &network.streams[stream.index()];
        let line = described.hops.first().and_then(|hop| network.ports[hop.port.index()].links);
        let line = line.map(|links| network.links[links.egress.index()].rate).unwrap_or_default();
        let random = || Random::new(seed, Purpose::Source, stream.index());
        Self { source: Source::new(described, line, Instant::ZERO, random) }
    }

    /// They begin again when the talker's clock reads `start`, as if for the first time.
    pub fn restart(&mut self, start: Instant) {
        self.source.restart(start);
    }

    /// When the next one comes.
    #[must_use]
    pub fn next_at(&self) -> Option<Duration> {
        self.source.peek().map(|(at, _)| at.since(Instant::ZERO))
    }
}

impl Iterator for Creations {
    type Item = Creation;

    fn next(&mut self) -> Option<Creation> {
        let (at, payload) = self.source.peek()?;
        self.source.advance();
        Some(Creation { at: at.since(Instant::ZERO), payload })
    }
}
