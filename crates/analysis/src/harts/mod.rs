//! Bounds of a network whose bridges send by elementary cycles (EC) and servers (HaRTES).
//!
//! A stream with a server of its own is bounded at each port by that server alone: others can take no more than their
//! capacities, whatever they send. If a server's period begins while frames wait in it, it serves as many as its
//! capacity holds before the period ends, if the servers before it in those ECs leave the time: per EC the window less
//! one longest frame, since a frame that would run over its end waits, and others with it. Frames of one server are
//! first in, first out; so the n-th of a busy period is complete `ceil(n / k)` periods after the first boundary that
//! it meets (k frames a period), and it came at least the distance of n frames after the first.
//!
//! At the talker's port, which has no servers, a frame is complete when a busy period of its class and those above
//! ends. A synchronous message waits for the trigger message that polls it (`synchronous.rs`) and is through its first
//! switch when the synchronous window ends; further switches schedule it into windows of their own (`relayed.rs`); the
//! description is refused if the messages of a window are not complete when it ends. A policed stream keeps its
//! policer's distance after it, whatever its talker sends.
//!
//! Invariants: nothing is assumed of the phases of ECs, periods and sources; all clocks are wrong by their tolerance.
//! Streams of the background server have no bound. Not here: equation 3 (`tautwire-admission`), which ignores drift,
//! jitter and phases.

mod admission;
mod arrivals;
mod hops;
mod overflows;
mod port;
mod reasons;
mod relayed;
mod service;
mod synchronous;
mod ways;

use tautwire_model::Network;
use tautwire_model::harts::polled::Police;
use tautwire_model::network::{Stream, StreamIndex};
use tautwire_model::wire_bits;
use tautwire_units::Bytes;

pub(crate) use self::admission::bounds as admission_bounds;
use self::relayed::Schedule;
pub(crate) use self::service::Harts;
use crate::clock::{Deviation, slack_ps};
use crate::host_stacks;
use crate::result::Method;
use crate::service::Carried;
use crate::unbounded::Unbounded;

/// Most frames of a busy period that are looked at.
const FRAMES_MAX: u64 = 10_000;
/// Bits of the wire of the shortest frame.
const SHORTEST: u128 = 84 * 8;

/// Facts about a stream's frames at the end of a hop.
struct End {
    /// From the application to the last bit, at most.
    most: Result<u64, Unbounded>,
    /// At least.
    least: u64,
    /// The policer that they passed, and the time since then.
    behind: Option<(Police, Range)>,
}

/// The network, its worst clock, and when its schedules take messages.
#[derive(Debug)]
struct Servers<'network> {
    network: &'network Network,
    deviation: Deviation,
    slack: u64,
    /// When schedules take synchronous messages.
    schedule: Schedule,
    /// Per node: the longest that a frame takes through a host.
    slowest: Vec<u64>,
    /// Per port: the largest frame that leaves by it.
    largest: Vec<Bytes>,
}

/// Least and greatest time, picoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Range {
    min: u64,
    max: u64,
}

impl<'network> Servers<'network> {
    fn new(network: &'network Network) -> Self {
        let worst = network.nodes.iter().map(|node| &node.clock).max_by_key(|clock| clock.tolerance_ppb);
        let slack = network.nodes.iter().map(|node| slack_ps(&node.clock)).max().unwrap_or(0);
        let deviation = worst.map(Deviation::of).unwrap_or_default();
        let slowest = host_stacks::slowest(network);
        let largest = ways::largest_frames(network);
        let mut servers = Self { network, deviation, slack, schedule: Schedule::default(), slowest, largest };
        servers.schedule = servers.schedule();
        servers
    }

    /// A stream hop by hop.
    fn carried(&self, number: StreamIndex) -> Vec<Carried> {
        let stream = &self.network.streams[number.index()];
        let mut ends: Vec<End> = Vec::with_capacity(stream.hops.len());
        let mut hops = Vec::with_capacity(stream.hops.len());
        for (place, hop) in stream.hops.iter().enumerate() {
            let (rest, end) = match hop.previous {
                None => self.first_hop(number, place),
                Some(previous) => self.hop(number, place, &ends[previous as usize]),
            };
            let method = if rest.is_ok() { Method::Carried("servers") } else { Method::None };
            let least = end.least - hop.previous.map_or(0, |previous| ends[previous as usize].least);
            // What came later to its first switch waits less there for the synchronous window.
            let is_polled = hop.previous == Some(0) && self.is_synchronous(number, place);
            let least = if is_polled { least.min(self.passage_min(stream, place)) } else { least };
            let reached = hop.previous.is_none_or(|previous| ends[previous as usize].most.is_ok());
            let rest = match &end.most {
                Err(reason) if !reached => Err(reason.clone()),
                _ => rest,
            };
            let (end_min, most) = (end.least, end.most.clone());
            hops.push(Carried { hop_min: least, hop: rest, end_min, end: most, method });
            ends.push(end);
        }
        hops
    }
}

/// Octets of the wire of a stream's longest frame.
fn wire_octets(stream: &Stream, tagged: impl Into<tautwire_model::Tags>) -> u64 {
    wire_bits(stream.payload_max, tagged).bytes_ceil().get()
}
