//! The story of one frame: at each hop its waiting times, and the frames that caused them, by name.
//!
//! A run keeps no frames; it is repeated, once to find when the frame was at which place, and once more to record what
//! the ports did meanwhile. Runs are deterministic, so all three are the same run. The parts of a hop add up exactly,
//! and so do the hops: to the delay of the frame.

use std::collections::BTreeMap;
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
    /// The parts of its delay here.
    pub parts: DelayParts,
    /// The frames on the line while the frame waited, in order of time.
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
    /// It was being sent when the frame came, or when its own scheduler or slot let it go.
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
/// `observation` is that of a run of `network`; the run is repeated twice.
#[must_use]
pub fn story(network: &Network, observation: &Observation, stream: StreamIndex) -> Option<Story> {
    stories_of(network, observation, &[stream]).pop()?
}

/// The same of every stream, by two runs in all.
#[must_use]
pub fn stories(network: &Network, observation: &Observation) -> Vec<Option<Story>> {
    let all: Vec<StreamIndex> = (0..network.streams.len()).map(StreamIndex::at).collect();
    stories_of(network, observation, &all)
}

fn stories_of(network: &Network, observation: &Observation, streams: &[StreamIndex]) -> Vec<Option<Story>> {
    let worst: Vec<_> = streams.iter().map(|stream| worst(network, observation, *stream)).collect();
    let ways = worst.iter().flatten().map(|worst| (worst.stream.0, worst.clone()));
    let mut passage = Passage { ways: ways.collect(), found: Vec::new() };
    let _ = crate::simulate_with(network, &mut repeated(observation), &mut passage);
    let found: Vec<Transmission> = worst.iter().flatten().flat_map(|worst| passage.way(worst)).collect();
    let mut at_port = vec![Vec::new(); network.ports.len()];
    for (place, own) in found.iter().enumerate() {
        at_port[own.port as usize].push(place);
    }
    let mut around = Around { frames: &found, at_port, others: vec![Vec::new(); found.len()] };
    let _ = crate::simulate_with(network, &mut repeated(observation), &mut around);
    let others = around.others;
    let reason = |worst: Option<Worst>| {
        let worst = worst?;
        let own: Vec<usize> =
            (0..found.len()).filter(|place| found[*place].stream == worst.stream.0).collect();
        Some(describe(network, &worst, own.iter().map(|place| (&found[*place], others[*place].as_slice()))))
    };
    worst.into_iter().map(reason).collect()
}

/// A stream's frame with the greatest delay.
#[derive(Clone, Debug)]
struct Worst {
    stream: StreamIndex,
    listener: usize,
    number: u32,
    created: Duration,
    delay: Duration,
    /// Its hops, of each way on which a copy may have come.
    paths: Vec<Vec<u32>>,
}

fn worst(network: &Network, observation: &Observation, stream: StreamIndex) -> Option<Worst> {
    let seen = &observation.streams[stream.index()].listeners;
    // Of equal delays the first listener's.
    let (listener, worst) = seen
        .iter()
        .enumerate()
        .filter_map(|(index, listener)| listener.worst.map(|worst| (index, worst)))
        .max_by_key(|(index, worst)| (worst.delay, std::cmp::Reverse(*index)))?;
    let paths = paths(network, stream, listener);
    Some(Worst { stream, listener, number: worst.number, created: worst.created, delay: worst.delay, paths })
}

fn describe<'a>(
    network: &Network,
    worst: &Worst,
    found: impl Iterator<Item = (&'a Transmission, &'a [Transmission])>,
) -> Story {
    let described = &network.streams[worst.stream.index()];
    let mut arrived = SimTime::ZERO + worst.created;
    let mut hops = Vec::new();
    for (transmission, others) in found {
        hops.push(hop(network, transmission, arrived, others));
        arrived = transmission.received;
    }
    Story {
        stream: described.name.clone(),
        number: worst.number,
        listener: network.nodes[described.listeners[worst.listener].index()].name.clone(),
        created: worst.created,
        delay: worst.delay,
        deadline: described.deadline,
        hops,
    }
}

/// The same run again.
fn repeated(observation: &Observation) -> Options<'static> {
    let duration = Some(observation.end);
    Options { seed: Some(observation.seed), duration, histograms: Some(false), ..Options::default() }
}

/// The ways to a listener, as indices of the stream's hops: several where copies are sent over two networks.
fn paths(network: &Network, stream: StreamIndex, listener: usize) -> Vec<Vec<u32>> {
    let hops = &network.streams[stream.index()].hops;
    let path = |last: u32| {
        let mut path = vec![last];
        while let Some(previous) = hops[path[path.len() - 1] as usize].previous {
            path.push(previous);
        }
        path.reverse();
        path
    };
    let reaches = |index: u32| hops[index as usize].listener.is_some_and(|one| one as usize == listener);
    (0..).take(hops.len()).filter(|hop| reaches(*hop)).map(path).collect()
}

/// Finds the transmissions of frames on their way.
struct Passage {
    /// By stream.
    ways: BTreeMap<u32, Worst>,
    found: Vec<Transmission>,
}

impl Passage {
    /// The transmissions of a frame on the way of the copy that was delivered, in order.
    fn way(&self, worst: &Worst) -> Vec<Transmission> {
        let on = |path: &Vec<u32>| {
            let found =
                self.found.iter().filter(|one| one.stream == worst.stream.0 && path.contains(&one.hop));
            let mut found: Vec<Transmission> = found.copied().collect();
            found.sort_by_key(|one| one.selected);
            found
        };
        let delivered = SimTime::ZERO + (worst.created + worst.delay);
        let mut ways: Vec<Vec<Transmission>> = worst.paths.iter().map(on).collect();
        let came = ways.iter().position(|way| way.last().is_some_and(|last| last.received == delivered));
        if ways.is_empty() { Vec::new() } else { ways.swap_remove(came.unwrap_or(0)) }
    }
}

impl Recorder for Passage {
    fn transmitted(&mut self, transmission: &Transmission) {
        if let Some(worst) = self.ways.get(&transmission.stream)
            && worst.number == transmission.number
        {
            self.found.push(*transmission);
        }
    }
}

/// Finds what the ports on the path did while frames were there.
struct Around<'a> {
    frames: &'a [Transmission],
    /// Places of the frames at each port.
    at_port: Vec<Vec<usize>>,
    others: Vec<Vec<Transmission>>,
}

impl Recorder for Around<'_> {
    fn transmitted(&mut self, transmission: &Transmission) {
        for place in &self.at_port[transmission.port as usize] {
            let own = &self.frames[*place];
            if transmission.end > own.released && transmission.start < own.start {
                self.others[*place].push(*transmission);
            }
        }
    }
}

fn hop(network: &Network, own: &Transmission, arrived: SimTime, others: &[Transmission]) -> StoryHop {
    // What only a slot, a BAG or its own shaper held up waited for no frame that went before it.
    let queues = !own.parts.queueing.is_zero();
    let goes_before = |other: &Transmission| other.start >= own.released && other.class >= own.class;
    let waited_for = others
        .iter()
        .filter(|other| queues || !goes_before(other))
        .map(|other| WaitedFor {
            stream: network.streams[other.stream as usize].name.clone(),
            number: other.number,
            class: other.class,
            octets: other.octets,
            time: other.end.min(own.start).since(other.start.max(own.released)),
            reason: match other.class.cmp(&own.class) {
                _ if other.start < own.released => Reason::AlreadySent,
                std::cmp::Ordering::Greater => Reason::HigherClass,
                std::cmp::Ordering::Equal => Reason::SameClass,
                std::cmp::Ordering::Less => Reason::WhileHeld,
            },
        })
        .collect();
    StoryHop {
        port: port_name(network, PortIndex(own.port)),
        class: own.class,
        arrived: arrived.since_start(),
        parts: own.parts,
        waited_for,
    }
}

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
