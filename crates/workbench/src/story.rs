//! The story of one frame: at each hop what it waited for, which frames by name, and how long.
//!
//! A run keeps no frames; it is repeated, once to find when the frame stood where, and once more to
//! see what the ports did meanwhile. Runs are deterministic, so all three are the same run.
//! The parts of a hop add up exactly, and so do the hops: to the delay of the frame.

use std::fmt;

use tautwire_model::Network;
use tautwire_model::network::{PortIndex, StreamIndex};
use tautwire_observe::{DelayParts, Part};
use tautwire_sim::{Observation, Options, Recorder, SimTime, Transmission};
use tautwire_units::Duration;

/// A frame's way from its talker's application to a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Story {
    /// Name of the stream.
    pub stream: String,
    /// Number of the frame, from 0.
    pub number: u32,
    /// Name of the listener.
    pub listener: String,
    /// When it was created, since the start of the run.
    pub created: Duration,
    /// Its delay.
    pub delay: Duration,
    /// The deadline of the stream.
    pub deadline: Option<Duration>,
    /// From the talker on.
    pub hops: Vec<StoryHop>,
}

/// The passage of the frame through one egress port and the link behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryHop {
    /// The egress port: node, point, name.
    pub port: String,
    /// Traffic class of the frame there.
    pub class: u8,
    /// When its last bit was received by the node, or the application created it.
    pub arrived: Duration,
    /// What its delay here is made of.
    pub parts: DelayParts,
    /// What the line did while the frame waited, in order of time.
    pub waited_for: Vec<WaitedFor>,
}

/// A frame that had the line meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitedFor {
    /// Its stream.
    pub stream: String,
    /// Its number.
    pub number: u32,
    /// Its class.
    pub class: u8,
    /// Its length, destination to FCS.
    pub octets: u32,
    /// How long it had the line while the frame waited, gap between frames included.
    pub time: Duration,
    /// Why it could go first.
    pub reason: Reason,
}

/// Why another frame had the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It was being sent when the frame came.
    AlreadySent,
    /// Its class comes first.
    HigherClass,
    /// It is of the same class and was before it, or came by another reception port.
    SameClass,
    /// Its class comes after, and the frame was held by its own shaper when it started.
    WhileHeld,
}

impl Reason {
    /// For people.
    const fn text(self) -> &'static str {
        match self {
            Self::AlreadySent => "on the line when it came",
            Self::HigherClass => "higher class",
            Self::SameClass => "same class, before it",
            Self::WhileHeld => "lower class, sent while its shaper held it",
        }
    }
}

/// The story of the stream's frame with the greatest delay; none if no frame was delivered.
///
/// `observation` is that of a run of `network` with its own settings; the run is repeated twice.
#[must_use]
pub fn story(network: &Network, observation: &Observation, stream: StreamIndex) -> Option<Story> {
    let seen = &observation.streams[stream.index()].listeners;
    // Of equal delays the first listener's.
    let (listener, worst) = seen
        .iter()
        .enumerate()
        .filter_map(|(index, listener)| listener.worst.map(|worst| (index, worst)))
        .max_by_key(|(index, worst)| (worst.delay, std::cmp::Reverse(*index)))?;
    let described = &network.streams[stream.index()];
    let mut passage = Passage {
        stream: stream.0,
        number: worst.number,
        path: path(network, stream, listener)?,
        found: Vec::new(),
    };
    let _ = crate::simulate_with(network, &mut repeated(observation), &mut passage);
    passage.found.sort_by_key(|transmission| transmission.selected);
    let mut around = Around { frame: &passage.found, others: vec![Vec::new(); passage.found.len()] };
    let _ = crate::simulate_with(network, &mut repeated(observation), &mut around);
    let others = around.others;
    let mut arrived = SimTime::ZERO + worst.created;
    let mut hops = Vec::with_capacity(others.len());
    for (transmission, others) in passage.found.iter().zip(others) {
        hops.push(hop(network, transmission, arrived, &others));
        arrived = transmission.received;
    }
    Some(Story {
        stream: described.name.clone(),
        number: worst.number,
        listener: network.nodes[described.listeners[listener].index()].name.clone(),
        created: worst.created,
        delay: worst.delay,
        deadline: described.deadline,
        hops,
    })
}

/// The same run again.
fn repeated(observation: &Observation) -> Options<'static> {
    Options { seed: Some(observation.seed), histograms: Some(false), ..Options::default() }
}

/// The hops to a listener, as indices of the stream's hops.
fn path(network: &Network, stream: StreamIndex, listener: usize) -> Option<Vec<u32>> {
    let hops = &network.streams[stream.index()].hops;
    let last = hops.iter().position(|hop| hop.listener.is_some_and(|index| index as usize == listener))?;
    let mut path = vec![u32::try_from(last).ok()?];
    while let Some(previous) = hops[path[path.len() - 1] as usize].previous {
        path.push(previous);
    }
    path.reverse();
    Some(path)
}

/// Finds the transmissions of one frame on its way.
struct Passage {
    stream: u32,
    number: u32,
    path: Vec<u32>,
    found: Vec<Transmission>,
}

impl Recorder for Passage {
    fn transmitted(&mut self, transmission: &Transmission) {
        if (transmission.stream, transmission.number) == (self.stream, self.number)
            && self.path.contains(&transmission.hop)
        {
            self.found.push(*transmission);
        }
    }
}

/// Finds what the ports on the way did while the frame stood there.
struct Around<'a> {
    frame: &'a [Transmission],
    others: Vec<Vec<Transmission>>,
}

impl Recorder for Around<'_> {
    fn transmitted(&mut self, transmission: &Transmission) {
        for (own, others) in self.frame.iter().zip(&mut self.others) {
            let meanwhile = transmission.end > own.queued && transmission.start < own.start;
            if transmission.port == own.port && meanwhile {
                others.push(*transmission);
            }
        }
    }
}

fn hop(network: &Network, own: &Transmission, arrived: SimTime, others: &[Transmission]) -> StoryHop {
    // What only a slot, a BAG or its own shaper held up waited for no frame that went before it.
    let queues = own.selected.since(own.queued) > own.held;
    let goes_before = |other: &Transmission| other.start >= own.queued && other.class >= own.class;
    let waited_for = others
        .iter()
        .filter(|other| queues || !goes_before(other))
        .map(|other| WaitedFor {
            stream: network.streams[other.stream as usize].name.clone(),
            number: other.number,
            class: other.class,
            octets: other.octets,
            time: other.end.min(own.start).since(other.start.max(own.queued)),
            reason: match other.class.cmp(&own.class) {
                _ if other.start < own.queued => Reason::AlreadySent,
                std::cmp::Ordering::Greater => Reason::HigherClass,
                std::cmp::Ordering::Equal => Reason::SameClass,
                std::cmp::Ordering::Less => Reason::WhileHeld,
            },
        })
        .collect();
    let link = network.ports[own.port as usize].links.map(|links| &network.links[links.egress.index()]);
    let flight = own.received.since(own.start);
    // On the wire: the propagation is the link's, and what PHYs and clocks add is with it.
    let bits = tautwire_units::Bytes::new(u64::from(own.octets) + PREAMBLE).bits();
    let transmission = link.map_or(flight, |link| link.rate.duration_ceil(bits)).min(flight);
    StoryHop {
        port: port_name(network, PortIndex(own.port)),
        class: own.class,
        arrived: arrived.since_start(),
        parts: DelayParts {
            processing: own.queued.since(arrived) + own.start.since(own.selected),
            shaping: own.held,
            queueing: own.selected.since(own.queued) - own.held,
            transmission,
            propagation: flight - transmission,
        },
        waited_for,
    }
}

/// Octets before a frame on the wire: preamble and start delimiter.
const PREAMBLE: u64 = 8;

fn port_name(network: &Network, port: PortIndex) -> String {
    let port = &network.ports[port.index()];
    format!("{}.{}", network.nodes[port.node.index()].name, port.name)
}

impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, frame {}: {} to {}", self.stream, self.number, self.delay, self.listener)?;
        match self.deadline {
            Some(deadline) if self.delay <= deadline => {
                writeln!(f, ", {} before its deadline of {deadline}", deadline - self.delay)?;
            }
            Some(deadline) => writeln!(f, ", {} after its deadline of {deadline}", self.delay - deadline)?,
            None => writeln!(f)?,
        }
        writeln!(f, "created {} after the start of the run", self.created)?;
        self.hops.iter().try_for_each(|hop| write!(f, "\n{hop}"))
    }
}

impl fmt::Display for StoryHop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, class {}: {}", self.port, self.class, self.parts.total())?;
        for part in Part::ALL {
            let time = self.parts.part(part);
            if !time.is_zero() {
                writeln!(f, "  {:<14}{time}", part.name())?;
            }
            if part == Part::Queueing {
                for other in &self.waited_for {
                    let WaitedFor { stream, number, class, octets, time, reason } = other;
                    let reason = reason.text();
                    writeln!(f, "    {time} for {stream} {number} (class {class}, {octets} B): {reason}")?;
                }
            }
        }
        Ok(())
    }
}
