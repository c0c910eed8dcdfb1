//! Best master selection (IEEE Std 802.1AS-2020, 10.3): every node compares what its neighbours announce with itself.
//!
//! Smaller is better: system identity, steps removed, source port, receiving port. Announces of the node's own,
//! announces that passed the node, and those 255 steps away are ignored. An announce that is not repeated within three
//! intervals expires.

use alloc::vec::Vec;

use tautwire_units::{Duration, Instant};
use tautwire_wire::gptp::{
    AnnounceBody, ClockIdentity, ClockQuality, PortIdentity, PtpBody, PtpMessage, PtpTlv,
};

use super::peer_delay::interval;

/// Announce intervals that a neighbour may be quiet.
const RECEIPT_TIMEOUT: u64 = 3;
const STEPS_MAX: u16 = 255;

/// A clock as others see it, in the order of comparison (10.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SystemIdentity {
    /// First priority; 255 for a clock that cannot be grandmaster.
    pub priority1: u8,
    /// How good it is.
    pub quality: ClockQuality,
    /// Second priority.
    pub priority2: u8,
    /// Its identity.
    pub identity: ClockIdentity,
}

/// What a port knows of a grandmaster, in the order of comparison (10.3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct PriorityVector {
    grandmaster: SystemIdentity,
    steps_removed: u16,
    source: PortIdentity,
    port: u16,
}

/// What a port does for its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PortRole {
    /// Sends the time to its neighbour.
    Master,
    /// Has the time from its neighbour.
    Slave,
    /// Neither: the time would go in a circle.
    Passive,
    /// The neighbour does not run gPTP.
    Disabled,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Heard {
    vector: PriorityVector,
    path: Vec<ClockIdentity>,
    utc_offset: i16,
    time_source: u8,
    until: Instant,
}

/// Best master selection of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BestMaster {
    own: SystemIdentity,
    domain: u8,
    ports: Vec<Option<Heard>>,
    capable: Vec<bool>,
}

impl BestMaster {
    /// A node of so many ports, none of which is capable yet.
    #[must_use]
    pub fn new(own: SystemIdentity, domain: u8, ports: usize) -> Self {
        Self { own, domain, ports: alloc::vec![None; ports], capable: alloc::vec![false; ports] }
    }

    /// asCapable of a port changed. Announces received on a port that is not capable any more are removed.
    pub fn set_capable(&mut self, port: usize, capable: bool) {
        self.capable[port] = capable;
        if !capable {
            self.ports[port] = None;
        }
    }

    /// An announce came in.
    pub fn receive(&mut self, now: Instant, port: usize, message: &PtpMessage) {
        let PtpBody::Announce(body) = &message.body else { return };
        let header = &message.header;
        let no_path = Vec::new();
        let path = message
            .tlvs
            .iter()
            .find_map(|tlv| match tlv {
                PtpTlv::PathTrace(path) => Some(path),
                _ => None,
            })
            .unwrap_or(&no_path);
        let circles = header.source.clock == self.own.identity || path.contains(&self.own.identity);
        if !self.capable[port] || header.domain != self.domain || circles || body.steps_removed >= STEPS_MAX {
            return;
        }
        let vector = PriorityVector {
            grandmaster: SystemIdentity {
                priority1: body.priority1,
                quality: body.quality,
                priority2: body.priority2,
                identity: body.grandmaster,
            },
            steps_removed: body.steps_removed + 1,
            source: header.source,
            port: number(port),
        };
        // The neighbour that is followed may also announce a worse vector.
        let replaces = |old: &Heard| vector < old.vector || vector.source == old.vector.source;
        if self.ports[port].as_ref().is_none_or(replaces) {
            let until = now + timeout(header.log_interval);
            let (utc_offset, time_source) = (body.utc_offset, body.time_source);
            self.ports[port] = Some(Heard { vector, path: path.clone(), utc_offset, time_source, until });
        }
    }

    /// The announce received on a port is removed: its master sends no syncs.
    pub fn lose(&mut self, port: usize) {
        self.ports[port] = None;
    }

    /// Forgets neighbours that have been quiet for too long.
    pub fn advance(&mut self, now: Instant) {
        for heard in &mut self.ports {
            if heard.as_ref().is_some_and(|heard| heard.until <= now) {
                *heard = None;
            }
        }
    }

    /// When a neighbour has been quiet for too long.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.ports.iter().flatten().map(|heard| heard.until).min()
    }

    /// The grandmaster; none if there is none that could be one.
    #[must_use]
    pub fn grandmaster(&self) -> Option<SystemIdentity> {
        let best = self.best().0.grandmaster;
        (best.priority1 < 255).then_some(best)
    }

    /// What the ports do.
    #[must_use]
    pub fn roles(&self) -> Vec<PortRole> {
        let (best, heard) = self.best();
        let role = |port: usize| {
            if !self.capable[port] {
                return PortRole::Disabled;
            }
            if heard.is_some_and(|heard| heard.vector.port == number(port)) {
                return PortRole::Slave;
            }
            // What this node would announce there.
            let source = PortIdentity { clock: self.own.identity, port: number(port) };
            let master = PriorityVector { source, port: number(port), ..best };
            let other = self.ports[port].as_ref().map(|heard| PriorityVector {
                steps_removed: heard.vector.steps_removed - 1,
                ..heard.vector
            });
            if other.is_some_and(|other| other < master) { PortRole::Passive } else { PortRole::Master }
        };
        (0..self.ports.len()).map(role).collect()
    }

    /// What the node announces on its master ports: body and path trace.
    #[must_use]
    pub fn announce(&self) -> (AnnounceBody, PtpTlv) {
        let (best, heard) = self.best();
        let mut path = heard.map_or_else(Vec::new, |heard| heard.path.clone());
        path.push(self.own.identity);
        let system = best.grandmaster;
        let body = AnnounceBody {
            origin: tautwire_wire::gptp::PtpTimestamp::default(),
            utc_offset: heard.map_or(37, |heard| heard.utc_offset),
            priority1: system.priority1,
            quality: system.quality,
            priority2: system.priority2,
            grandmaster: system.identity,
            steps_removed: best.steps_removed,
            time_source: heard.map_or(0xa0, |heard| heard.time_source),
        };
        (body, PtpTlv::PathTrace(path))
    }

    fn best(&self) -> (PriorityVector, Option<&Heard>) {
        let source = PortIdentity { clock: self.own.identity, port: 0 };
        let own = PriorityVector { grandmaster: self.own, steps_removed: 0, source, port: 0 };
        let heard = self.ports.iter().flatten().min_by_key(|heard| heard.vector);
        match heard {
            Some(heard) if heard.vector < own => (heard.vector, Some(heard)),
            _ => (own, None),
        }
    }
}

fn number(port: usize) -> u16 {
    u16::try_from(port + 1).expect("few ports")
}

fn timeout(log_interval: i8) -> Duration {
    interval(log_interval) * RECEIPT_TIMEOUT
}
