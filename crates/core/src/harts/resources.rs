//! What a switch derives from a Config_Msg: servers, memory pools, policing, and a place in the schedule.
//!
//! Of the attributes T (period, or least distance), C (size, octets of the wire) and D (deadline), with T' = T less what the
//! clocks of talker and switch may differ by in it:
//!
//! * server, at the port to each neighbour to which the stream goes: period p = the greatest number of elementary
//!   cycles within T', at least one; capacity C times the messages that come in p cycles, rounded up. Its place in the
//!   tree: below the shared server that the request names, with its priority;
//! * memory pool of an asynchronous stream: C (b + D / T'), b the messages that may come at once: no more are on their way while
//!   each keeps its deadline. Without a deadline or a number it waits in the memory of the port;
//! * memory pool of a synchronous stream behind its first switch: [`RELAYED_MAX`] messages;
//! * policing, where the stream enters: frames of C, T' apart; one waits if early ones are reshaped;
//! * schedule: period, offset and deadline in elementary cycles, and the time of C on the slowest of the links to its
//!   destinations, and, at the switch that polls it, from its source.
//!
//! Values stated in a request (`FttTerms`) replace these. Not here: how servers work (`servers.rs`), the policer, the scheduler.

use alloc::collections::{BTreeMap, BTreeSet};

use tautwire_units::{BitRate, Bytes, Duration};
use tautwire_wire::harts::{FttFurther, FttPolicing, FttServerKind, FttStream};

use super::schedule::SynchronousStream;
use super::servers::{ServerConfig, ServerKind, ServerWindow};
use crate::stream_policing::{StreamPolicer, Violator};

/// Messages of a synchronous stream that a switch behind the first may hold.
pub const RELAYED_MAX: u16 = 4;
/// Octets on the wire in addition to a frame: preamble and the least gap.
const OVERHEAD: u32 = 20;

/// A cable of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FttLink {
    /// Its speed.
    pub rate: BitRate,
}

/// The configuration of a switch's master.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SwitchConfig {
    /// Its identifier.
    pub switch: u16,
    /// The ACMaster to which requests go, a parameter of the network.
    pub acmaster: u16,
    /// Length of the elementary cycle.
    pub cycle: Duration,
    /// By how much a clock of the network may deviate, parts in 10⁹.
    pub tolerance_ppb: u32,
    /// The longest step of a clock's readings in the network; none of clocks that are exact.
    pub step: Duration,
    /// The time after which an unanswered message is repeated.
    pub patience: Duration,
    /// Its cables, by the station or switch at the other end.
    pub links: BTreeMap<u16, FttLink>,
}

/// The resources of a stream in a switch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Resources {
    /// Servers, by the neighbour at the other end of their ports; none where it is synchronous, or uses the background server.
    pub servers: BTreeMap<u16, ServerConfig>,
    /// Its memory pool at each of these ports, or, where it is synchronous and comes from another switch, before the schedule;
    /// octets of the wire. None: the memory of the port.
    pub pool: Option<u32>,
    /// The policing where it enters.
    pub policing: Option<Policing>,
    /// Its place in the schedule, where it is synchronous.
    pub schedule: Option<Scheduled>,
}

/// The limits that a stream is policed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policing {
    /// Longest frame, destination to FCS.
    pub frame_max: u32,
    /// Least distance of frames.
    pub distance: Duration,
    /// The action on early ones.
    pub violator: Violator,
    /// Memory pool of those that wait, octets of frames.
    pub pool: u32,
}

/// A place in the synchronous schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheduled {
    /// The switch polls its producer.
    Polled(SynchronousStream),
    /// Its messages come from another switch, and so many wait in its pool at most.
    Relayed(SynchronousStream, u32),
}

impl Policing {
    /// The machine.
    #[must_use]
    pub fn policer(&self) -> StreamPolicer {
        let frames = self.pool / self.frame_max.max(1);
        StreamPolicer::new(self.frame_max, self.distance, self.violator, frames)
    }
}

impl Resources {
    /// Of a stream that comes from one neighbour of the switch and goes to some. None if there is no cable to one of them.
    #[must_use]
    pub fn derive(stream: &FttStream, from: u16, to: &BTreeSet<u16>, switch: &SwitchConfig) -> Option<Self> {
        let rate = |neighbour: &u16| switch.links.get(neighbour).map(|link| link.rate);
        let (first, enters) = (rate(&from)?, from == stream.producer);
        let mut slowest: Option<BitRate> = None;
        for neighbour in to {
            let rate = rate(neighbour)?;
            slowest = Some(slowest.map_or(rate, |known| known.min(rate)));
        }
        let slowest = slowest?;
        let further = stream.terms.further;
        if stream.offset_ns.is_some() && (enters || further == FttFurther::Synchronous) {
            let slowest = if enters { slowest.min(first) } else { slowest };
            return Some(Self::synchronous(stream, enters, slowest, switch));
        }
        let distance = distance(stream, switch.tolerance_ppb);
        let server = server(stream, switch);
        let has_servers = stream.offset_ns.is_none() || further == FttFurther::Servers;
        Some(Self {
            servers: to.iter().filter(|_| has_servers).map(|neighbour| (*neighbour, server)).collect(),
            pool: pool(stream, distance),
            policing: policing(stream, policed(stream, distance, switch.step)).filter(|_| enters),
            schedule: None,
        })
    }

    fn synchronous(stream: &FttStream, enters: bool, slowest: BitRate, switch: &SwitchConfig) -> Self {
        let cycle = switch.cycle;
        let cycles = |ns: u32| {
            // A whole number of cycles may have been rounded down to nanoseconds.
            let cycles = (u64::from(ns) * 1_000).div_ceil(cycle.as_ps().max(1));
            u32::try_from(cycles).unwrap_or(u32::MAX)
        };
        let scheduled = SynchronousStream {
            id: stream.id,
            // A clock that is read in steps may hold the line a step longer.
            time: slowest
                .duration_ceil(Bytes::new(u64::from(stream.size)).bits())
                .saturating_add(switch.step),
            period: cycles(stream.period_ns),
            offset: cycles(stream.offset_ns.unwrap_or(0)),
            deadline: cycles(stream.deadline_ns),
            priority: stream.priority,
            budget: 1,
        };
        let messages = u32::from(stream.terms.pool.unwrap_or(RELAYED_MAX));
        let (pool, schedule) = if enters {
            (0, Scheduled::Polled(scheduled))
        } else {
            (messages.saturating_mul(u32::from(stream.size)), Scheduled::Relayed(scheduled, messages))
        };
        Self { servers: BTreeMap::new(), pool: Some(pool), policing: None, schedule: Some(schedule) }
    }
}

/// The period less what two clocks may differ by in it, or, if that is stated, the distance as it is; at least a picosecond.
fn distance(stream: &FttStream, tolerance_ppb: u32) -> Duration {
    let period = u64::from(stream.period_ns) * 1_000;
    let period = Duration::from_ps(period);
    let lost = if stream.terms.exact { Duration::ZERO } else { apart_by(period, tolerance_ppb.into()) };
    period.saturating_sub(lost).max(Duration::from_ps(1))
}

/// The greatest difference of two clocks of this tolerance in a span, one fast and one slow; rounded up, and once more
/// for the reading of each, so that a distance is never too long.
#[must_use]
pub fn apart_by(span: Duration, tolerance_ppb: u64) -> Duration {
    if tolerance_ppb == 0 {
        return Duration::ZERO;
    }
    let apart = (u128::from(span.as_ps()) * u128::from(tolerance_ppb) * 2).div_ceil(1_000_000_000);
    Duration::from_ps(u64::try_from(apart).unwrap_or(u64::MAX).saturating_add(2))
}

fn server(stream: &FttStream, switch: &SwitchConfig) -> ServerConfig {
    let (distance, cycle) = (distance(stream, switch.tolerance_ppb).as_ps(), switch.cycle.as_ps().max(1));
    // Rounded down, so that it is filled up rather too often; the messages that come meanwhile are rounded up.
    let cycles = (distance / cycle).max(1);
    let messages = (u128::from(cycles) * u128::from(cycle)).div_ceil(u128::from(distance));
    let messages = u32::try_from(messages).unwrap_or(u32::MAX);
    let messages = if planted!(ServerOfOneMessage) { 1 } else { messages };
    let derived =
        (u32::from(stream.size).saturating_mul(messages), u32::try_from(cycles).unwrap_or(u32::MAX));
    let (capacity, period) =
        stream.terms.server.map_or(derived, |(capacity, period)| (capacity, u32::from(period).max(1)));
    ServerConfig {
        parent: stream.terms.parent.map(u16::from),
        kind: match stream.terms.kind {
            FttServerKind::Deferrable => ServerKind::Deferrable,
            FttServerKind::Polling => ServerKind::Polling,
            FttServerKind::Sporadic => ServerKind::Sporadic,
        },
        capacity: Some(capacity),
        period,
        priority: stream.terms.server_priority.unwrap_or(stream.priority),
        window: ServerWindow::Asynchronous,
    }
}

fn pool(stream: &FttStream, distance: Duration) -> Option<u32> {
    let promises = stream.deadline_ns < u32::MAX && stream.terms.burst > 0;
    if !promises || stream.offset_ns.is_some() {
        return None;
    }
    // The deadline may have been rounded down to nanoseconds.
    let deadline = (u64::from(stream.deadline_ns) + 1) * 1_000;
    let messages = deadline.div_ceil(distance.as_ps()).saturating_add(u64::from(stream.terms.burst));
    let messages = if planted!(PoolOfOneMessage) { 1 } else { messages };
    Some(u32::try_from(messages.saturating_mul(u64::from(stream.size))).unwrap_or(u32::MAX))
}

/// The distance that is held to: talker and switch read their clocks in steps; a stated one is as it is.
fn policed(stream: &FttStream, distance: Duration, step: Duration) -> Duration {
    if stream.terms.exact {
        return distance;
    }
    distance.saturating_sub(step).saturating_sub(step).max(Duration::from_ps(1))
}

fn policing(stream: &FttStream, distance: Duration) -> Option<Policing> {
    let violator = match stream.terms.policing {
        FttPolicing::Open => return None,
        FttPolicing::Discard => Violator::Discard,
        FttPolicing::Reshape => Violator::Reshape,
    };
    let frame_max = stream.terms.frame_max.map_or(u32::from(stream.size).saturating_sub(OVERHEAD), u32::from);
    let pool = u32::from(stream.terms.pool.unwrap_or(1)).saturating_mul(frame_max);
    Some(Policing { frame_max, distance, violator, pool })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tautwire_wire::harts::FttTerms;

    const STREAM: FttStream = FttStream {
        id: 7,
        size: 100,
        period_ns: 300_000,
        deadline_ns: 1_000_000,
        priority: 3,
        producer: 1,
        offset_ns: None,
        terms: FttTerms { burst: 2, ..FttTerms::NONE },
    };

    fn switch(tolerance_ppb: u32) -> SwitchConfig {
        let links =
            [(1, 100), (2, 100), (3, 10)].map(|(to, mbps)| (to, FttLink { rate: BitRate::from_mbps(mbps) }));
        SwitchConfig {
            switch: 11,
            acmaster: 20,
            cycle: Duration::from_us(100),
            tolerance_ppb,
            step: Duration::ZERO,
            patience: Duration::from_ms(20),
            links: BTreeMap::from(links),
        }
    }

    fn of(stream: FttStream, from: u16, to: &[u16]) -> Resources {
        Resources::derive(&stream, from, &to.iter().copied().collect(), &switch(0))
            .expect("it has these cables")
    }

    #[test]
    fn a_server_gives_its_capacity_in_full_cycles() {
        let server = of(STREAM, 1, &[2, 3]).servers[&3];
        assert_eq!((server.capacity, server.period, server.priority), (Some(100), 3, 3));
        // Two clocks that differ: the period is now less than three cycles, and two messages may come in two.
        let drifts = Resources::derive(&STREAM, 1, &BTreeSet::from([2]), &switch(100_000)).expect("a cable");
        assert_eq!((drifts.servers[&2].capacity, drifts.servers[&2].period), (Some(100), 2));
        let fast = of(FttStream { period_ns: 40_000, ..STREAM }, 1, &[2]).servers[&2];
        assert_eq!((fast.capacity, fast.period), (Some(300), 1), "three in a cycle");
        let terms = FttTerms { server: Some((250, 5)), parent: Some(2), ..STREAM.terms };
        let stated = of(FttStream { terms, ..STREAM }, 1, &[2]).servers[&2];
        assert_eq!((stated.capacity, stated.period, stated.parent), (Some(250), 5, Some(2)));
    }

    #[test]
    fn a_pool_holds_what_is_on_its_way_within_the_deadline() {
        assert_eq!(of(STREAM, 1, &[2]).pool, Some(600), "two at once, and four in a millisecond");
        assert_eq!(of(FttStream { deadline_ns: u32::MAX, ..STREAM }, 1, &[2]).pool, None);
        assert_eq!(of(FttStream { terms: FttTerms::NONE, ..STREAM }, 1, &[2]).pool, None);
    }

    #[test]
    fn a_stream_is_policed_where_it_enters() {
        let terms = FttTerms { policing: FttPolicing::Reshape, pool: Some(3), ..STREAM.terms };
        let policed = FttStream { terms, ..STREAM };
        let policing = of(policed, 1, &[2]).policing.expect("it enters here");
        assert_eq!((policing.frame_max, policing.distance, policing.pool), (80, Duration::from_us(300), 240));
        assert_eq!(of(FttStream { producer: 9, ..policed }, 1, &[2]).policing, None);
        let drifts = |exact| {
            let stream = FttStream { terms: FttTerms { exact, ..terms }, ..STREAM };
            let resources =
                Resources::derive(&stream, 1, &BTreeSet::from([2]), &switch(1_000)).expect("a cable");
            resources.policing.expect("it enters here").distance
        };
        assert_eq!((drifts(false), drifts(true)), (Duration::from_ps(299_999_398), Duration::from_us(300)));
    }

    #[test]
    fn a_synchronous_stream_has_its_place_in_the_schedule() {
        let stream = FttStream { offset_ns: Some(200_000), ..STREAM };
        let first = of(FttStream { producer: 3, ..stream }, 3, &[2]);
        let Some(Scheduled::Polled(polled)) = first.schedule else { panic!("{first:?}") };
        assert_eq!(polled.time, Duration::from_us(80), "of the slow line that it comes by");
        assert_eq!((polled.period, polled.offset, polled.deadline), (3, 2, 10));
        assert!(first.servers.is_empty() && first.pool == Some(0));
        let further = of(FttStream { producer: 9, ..stream }, 3, &[2]);
        let Some(Scheduled::Relayed(relayed, 4)) = further.schedule else { panic!("{further:?}") };
        assert_eq!((relayed.time, further.pool), (Duration::from_us(8), Some(400)));
        let terms = FttTerms { further: FttFurther::Servers, ..FttTerms::NONE };
        let served = of(FttStream { producer: 9, terms, ..stream }, 3, &[2]);
        assert!(served.schedule.is_none() && served.servers.len() == 1);
    }

    #[test]
    fn there_is_nothing_where_there_is_no_cable() {
        let to = BTreeSet::from([2, 4]);
        assert_eq!(Resources::derive(&STREAM, 1, &to, &switch(0)), None);
        assert_eq!(Resources::derive(&STREAM, 4, &BTreeSet::from([2]), &switch(0)), None);
    }
}
