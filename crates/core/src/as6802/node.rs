//! A node of one cluster that follows clusters of higher priority (SAE AS6802: synchronisation priority).
//!
//! Clusters of one synchronisation domain are ordered by their priority. A node takes part in its own cluster, as a
//! master or a client, and listens to frames of those above it. When a cluster above has enough members, the node
//! stops its own part and follows that cluster as a client; it has no network time until the other nodes of its own
//! cluster must have detected the same. When that cluster is gone, the node starts its own part anew. Frames of other
//! domains are ignored.
//!
//! Invariants: it follows the highest cluster that is present; a node that follows another cluster sends nothing;
//! between two network times there are [`HOLD`] cycles without one, so that no two nodes of a cluster use different
//! ones at one time.

use tautwire_units::{Duration, Instant};

use super::{
    CliquesDetected, CompressionConfig, CompressionMaster, MasterConfig, Outcome, ProtocolControlFrame,
    SynchronisationMaster,
};

/// Integration cycles without network time after it follows another cluster: one until a node that missed a frame has
/// detected that the masters of its cluster are silent, and one for the evaluation of that.
const HOLD: u64 = 2;

/// A node's part in its own cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PartConfig {
    /// A synchronisation master, or a client.
    Master(MasterConfig),
    /// A compression master.
    Compression(CompressionConfig),
}

/// The maker of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Maker {
    /// The synchronisation master of this bit of the membership.
    Master(u32),
    /// The compression master of this channel.
    Compression(u8),
}

/// A node's network time: whose it is, and what it counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Time {
    /// Place of the cluster among those above the node's own; none for that.
    pub above: Option<usize>,
    /// Start of the integration cycle, by the node's clock.
    pub start: Instant,
    /// Its number.
    pub cycle: u32,
}

/// A node of a synchronised network.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SyncNode {
    config: PartConfig,
    /// Its part in its own cluster; none while it follows another one.
    own: Option<Part>,
    /// A client of each cluster above, the highest first.
    above: alloc::vec::Vec<SynchronisationMaster>,
    /// The cluster that it follows, and when it has network time again.
    leader: Option<(usize, Instant)>,
    cycle: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Part {
    Master(SynchronisationMaster),
    Compression(CompressionMaster),
}

impl Part {
    fn new(config: PartConfig, now: Instant) -> Self {
        match config {
            PartConfig::Master(config) => Self::Master(SynchronisationMaster::new(config, now)),
            PartConfig::Compression(config) => Self::Compression(CompressionMaster::new(config)),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Master(master) => Some(master.deadline()),
            Self::Compression(master) => master.deadline(),
        }
    }

    fn poll(&mut self) -> Option<ProtocolControlFrame> {
        match self {
            Self::Master(master) => loop {
                match master.poll()? {
                    Outcome::Send(frame) => return Some(frame),
                    Outcome::Synchronised { .. } | Outcome::Cycle { .. } | Outcome::Lost => {}
                }
            },
            Self::Compression(master) => master.poll(),
        }
    }

    fn cycle(&self, now: Instant) -> Option<(Instant, u32)> {
        match self {
            Self::Master(master) => master.cycle(),
            Self::Compression(master) => master.cycle(now),
        }
    }
}

impl SyncNode {
    /// Starts at `now`. `above` are the settings of a client in the clusters of higher priority, the highest first.
    #[must_use]
    pub fn new(config: PartConfig, above: &[MasterConfig], now: Instant) -> Self {
        let cycle = match config {
            PartConfig::Master(config) => config.integration_cycle,
            PartConfig::Compression(config) => config.integration_cycle,
        };
        let client =
            |config: &MasterConfig| SynchronisationMaster::new(MasterConfig { member: None, ..*config }, now);
        Self {
            config,
            own: Some(Part::new(config, now)),
            above: above.iter().map(client).collect(),
            leader: None,
            cycle,
        }
    }

    /// Receives a frame; a frame for other nodes is ignored.
    pub fn receive(&mut self, now: Instant, maker: Maker, frame: ProtocolControlFrame) {
        self.advance(now);
        if let Maker::Compression(channel) = maker {
            self.above.iter_mut().for_each(|client| client.receive(now, channel, frame));
        }
        match (&mut self.own, maker) {
            (Some(Part::Master(master)), Maker::Compression(channel)) => master.receive(now, channel, frame),
            (Some(Part::Compression(master)), Maker::Master(bit)) => master.receive(now, bit, frame),
            _ => {}
        }
    }

    /// When there is something to do.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let own = self.own.as_ref().and_then(Part::deadline);
        let above = self.above.iter().map(SynchronisationMaster::deadline).min();
        let held = self.leader.map(|(_, until)| until).filter(|until| *until != Instant::ZERO);
        own.into_iter().chain(above).chain(held).min()
    }

    /// Does what is due, in order of time.
    pub fn advance(&mut self, now: Instant) {
        while let Some(at) = self.deadline().filter(|at| *at <= now) {
            for client in &mut self.above {
                client.advance(at);
                while client.poll().is_some() {}
            }
            match &mut self.own {
                Some(Part::Master(master)) => master.advance(at),
                Some(Part::Compression(master)) => master.advance(at),
                None => {}
            }
            self.settle(at);
        }
    }

    /// Follows the highest cluster that is there.
    fn settle(&mut self, at: Instant) {
        let leader = self.above.iter().position(SynchronisationMaster::is_synchronised);
        let leader = if planted!(NoWayGiven) { None } else { leader };
        match (leader, self.leader) {
            (Some(leader), Some((before, until))) if leader == before => {
                if at >= until {
                    self.leader = Some((leader, Instant::ZERO));
                }
            }
            (Some(leader), _) => {
                self.own = None;
                self.leader = Some((leader, at + self.cycle * HOLD));
            }
            (None, Some(_)) => {
                self.leader = None;
                self.own = Some(Part::new(self.config, at));
            }
            (None, None) => {}
        }
    }

    /// The next frame to be sent, with its transparent clock at zero.
    pub fn poll(&mut self) -> Option<ProtocolControlFrame> {
        self.own.as_mut()?.poll()
    }

    /// How often its own part found that it was in too small a clique, or not in the only one, since it began.
    #[must_use]
    pub const fn detected(&self) -> CliquesDetected {
        match &self.own {
            Some(Part::Master(master)) => master.detected(),
            _ => CliquesDetected { synchronous: 0, asynchronous: 0 },
        }
    }

    /// Whether it follows another cluster.
    #[must_use]
    pub const fn gives_way(&self) -> bool {
        self.leader.is_some()
    }

    /// Its network time; none without synchronisation.
    #[must_use]
    pub fn time(&self, now: Instant) -> Option<Time> {
        let (above, (start, cycle)) = match self.leader {
            Some((place, until)) if now >= until => (Some(place), self.above[place].cycle()?),
            Some(_) => return None,
            None => (None, self.own.as_ref()?.cycle(now)?),
        };
        Some(Time { above, start, cycle })
    }
}

#[cfg(test)]
#[path = "node_tests.rs"]
mod tests;
