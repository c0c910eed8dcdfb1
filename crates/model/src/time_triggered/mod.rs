//! Time-triggered virtual links (SAE AS6802): their settings, and the conditions of their schedule.
//!
//! Every hop of a link has a [`DispatchPoint`] in network time, the time that all nodes share within the precision.
//! [`Timing`] gives the least distance between two points of a link and between two links on one line;
//! [`Network::schedule_faults`] checks a network's points with it. A network without faults loses no frame by its
//! schedule: every frame is there before its point, within its acceptance window, and alone on the line. Not here: the
//! machines (`tautwire-core`), finding points.

pub(crate) mod codes;
pub(crate) mod language;
pub(crate) mod resolve;
mod scheduled_text;

pub use scheduled_text::with_dispatch_points;

use std::cmp::Ordering;

use tautwire_core::TrafficClass;
use tautwire_core::time_triggered::{EmptySlot, Integration, Window};
use tautwire_units::{Bytes, Duration};

use crate::check::pace::Recurring;
use crate::frame::frame_length;
use crate::network::{
    Clock, Delay, Distribution, Link, Network, NodeIndex, PortIndex, SelectionAlgorithm, StagePosition,
    Stream, StreamIndex,
};

/// What all time-triggered virtual links of a network have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeTriggered {
    /// Greatest difference of the network time that two nodes read at one instant.
    pub precision: Duration,
    /// Time between two corrections of the clocks.
    pub integration_cycle: Duration,
    /// How other traffic makes room.
    pub integration: Integration,
    /// The use of a slot without a frame.
    pub empty_slot: EmptySlot,
    /// Time at the beginning of every raster cycle in which no other traffic begins.
    pub raster: Option<Raster>,
}

impl TimeTriggered {
    /// Its recurring events in a run.
    pub(crate) fn recurring(self, nodes: usize, ports: usize) -> Vec<Recurring> {
        let mut all = vec![Recurring::new("a clock is corrected", self.integration_cycle, nodes)];
        let cycle = |raster: Raster| Recurring::new("a cycle of the raster begins", raster.cycle, ports);
        all.extend(self.raster.map(cycle));
        all
    }
}

/// A raster: every cycle begins with time for time-triggered traffic alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raster {
    /// Length of the cycle.
    pub cycle: Duration,
    /// How much of it is for time-triggered traffic.
    pub window: Duration,
}

/// The clock that the application of a talker follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// Its own clock: a frame waits up to a period for its dispatch point.
    Free,
    /// The network time: a frame is released at the same place of every period.
    Locked,
}

/// When a stream is sent as a time-triggered virtual link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeTriggeredLink {
    /// Critical traffic identifier.
    pub id: u16,
    /// Distance of its dispatch points.
    pub period: Duration,
    /// The clock that its application follows.
    pub release: Release,
    /// Whether it goes over two networks; the listener takes the first copy of each period.
    pub redundant: bool,
    /// How long a receiver takes its frames, if that is stated.
    pub acceptance: Option<Duration>,
    /// One for each hop of the stream; empty while it is not scheduled, and then it is never sent.
    pub points: Vec<DispatchPoint>,
}

/// When a hop of a time-triggered virtual link is sent, and when it is received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DispatchPoint {
    /// From the beginning of the talker's period; may be beyond its end.
    pub offset: Duration,
    /// When the node at the end of the hop's link takes its last bit.
    pub window: Window,
}

/// A least and a greatest time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Least.
    pub min: Duration,
    /// Greatest.
    pub max: Duration,
}

/// Why a schedule cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleFault {
    /// A link has another number of points than hops.
    Points {
        /// The link.
        stream: StreamIndex,
    },
    /// A frame takes the line longer than its period lasts, or than what the raster leaves it.
    TooLong {
        /// The link.
        stream: StreamIndex,
        /// Its hop.
        hop: u32,
        /// How long the line is taken.
        length: Duration,
    },
    /// A frame may not be there at its point.
    TooEarly {
        /// The link.
        stream: StreamIndex,
        /// Its hop.
        hop: u32,
        /// The earliest that the point may be.
        earliest: Duration,
    },
    /// The next frame may come before this one is sent, and take its place.
    TooLate {
        /// The link.
        stream: StreamIndex,
        /// Its hop.
        hop: u32,
        /// The latest that the point may be.
        latest: Duration,
    },
    /// Two links would be on one line at one time.
    Collision {
        /// One link.
        stream: StreamIndex,
        /// Its hop.
        hop: u32,
        /// The other link.
        other: StreamIndex,
        /// Its hop.
        other_hop: u32,
    },
}

impl ScheduleFault {
    /// The fault as a sentence, with the names of links, nodes and ports.
    #[must_use]
    pub fn words(&self, network: &Network) -> String {
        let name = |stream: StreamIndex| &network.streams[stream.index()].name;
        let port = |stream: StreamIndex, hop: u32| {
            let port = network.streams[stream.index()].hops[hop as usize].port;
            let port = &network.ports[port.index()];
            format!("{}:{}", network.nodes[port.node.index()].name, port.name)
        };
        match *self {
            Self::Points { stream } => {
                format!("the number of dispatch points of `{}` is not that of its hops", name(stream))
            }
            Self::TooLong { stream, hop, length } => format!(
                "a frame of `{}` occupies {} for {length}, which does not fit the period or the raster's window there",
                name(stream),
                port(stream, hop)
            ),
            Self::TooEarly { stream, hop, .. } => {
                format!(
                    "a frame of `{}` may arrive at {} after its dispatch point",
                    name(stream),
                    port(stream, hop)
                )
            }
            Self::TooLate { stream, hop, .. } => format!(
                "the next frame of `{}` may arrive at {} before this one leaves",
                name(stream),
                port(stream, hop)
            ),
            Self::Collision { stream, hop, other, .. } => {
                format!(
                    "frames of `{}` and `{}` occupy {} at the same time",
                    name(stream),
                    name(other),
                    port(stream, hop)
                )
            }
        }
    }
}

/// What a schedule has to leave, in network time: computed once for a network.
#[derive(Clone, Debug)]
pub struct Timing<'network> {
    network: &'network Network,
    settings: TimeTriggered,
    /// Whether gates keep the line free of other traffic, and not its integration.
    is_gated: bool,
    /// Per port, the largest frame of other traffic that leaves it.
    others: Vec<Bytes>,
    /// Per port, the largest frame that comes by it.
    received: Vec<Bytes>,
}

/// Octets of the gap behind a frame (IEEE Std 802.3, 4.4.2).
const GAP: Bytes = Bytes::new(12);

/// Octets of that gap, and the one that is being sent when a frame is cut.
const CUT: Bytes = Bytes::new(13);

impl<'network> Timing<'network> {
    /// Of a network; none if it has no time-triggered traffic.
    #[must_use]
    pub fn new(network: &'network Network) -> Option<Self> {
        Some(Self::of(network, network.time_triggered?, false))
    }

    /// Of streams whose talkers are time-aware, and whose classes have gates that follow clocks of this precision.
    #[must_use]
    pub fn of_gates(network: &'network Network, precision: Duration) -> Self {
        let settings = TimeTriggered {
            precision,
            integration_cycle: Duration::ZERO,
            integration: Integration::TimelyBlock,
            empty_slot: EmptySlot::Kept,
            raster: None,
        };
        Self::of(network, settings, true)
    }

    fn of(network: &'network Network, settings: TimeTriggered, is_gated: bool) -> Self {
        let is_scheduled = |stream: &Stream| match is_gated {
            true => stream.time_aware.is_some(),
            false => stream.time_triggered.is_some(),
        };
        let mut others = vec![Bytes::ZERO; network.ports.len()];
        let mut received = vec![Bytes::ZERO; network.ports.len()];
        for stream in &network.streams {
            for hop in &stream.hops {
                let frame = frame_length(stream.payload_max, hop.tagged);
                let own = &mut others[hop.port.index()];
                if !is_scheduled(stream) {
                    *own = frame.max(*own);
                }
                let to = &mut received[network.link_behind(hop.port).to.index()];
                *to = frame.max(*to);
            }
        }
        if let Some(control) = &network.network_control {
            others.iter_mut().chain(&mut received).for_each(|frame| *frame = control.frame_max.max(*frame));
        }
        Self { network, settings, is_gated, others, received }
    }

    /// The largest frame of other traffic that leaves a port; none if there is no other.
    #[must_use]
    pub fn others(&self, port: PortIndex) -> Option<Bytes> {
        Some(self.others[port.index()]).filter(|frame| *frame > Bytes::ZERO)
    }

    /// How much later than its point a frame may begin, alone on the line except for other traffic.
    #[must_use]
    pub fn lateness_max(&self, port: PortIndex) -> Duration {
        let node = self.network.ports[port.index()].node;
        let others = self.others[port.index()];
        let wait = match self.settings.integration {
            // Frames of other classes end when their gates close, and the gap follows.
            _ if self.is_gated && others.get() == 0 => Duration::ZERO,
            _ if self.is_gated => self.line_time(port, GAP),
            Integration::Shuffling if others.get() == 0 => Duration::ZERO,
            Integration::Shuffling => self.line_time(port, others + Bytes::MEDIA_OVERHEAD),
            // A correction may bring the point nearer after another frame has begun.
            Integration::TimelyBlock => self.settings.precision,
            Integration::Preemption => self.line_time(port, CUT),
        };
        wait + slack(&self.network.nodes[node.index()].clock)
    }

    /// From the point of a hop until its line is free again, greatest: what no other slot may meet.
    #[must_use]
    pub fn slot_length(&self, stream: &Stream, hop: usize) -> Duration {
        let at = &stream.hops[hop];
        let frame = frame_length(stream.payload_max, at.tagged);
        self.lateness_max(at.port) + self.line_time(at.port, frame + Bytes::MEDIA_OVERHEAD)
    }

    /// From the point of a hop to the last bit at the end of its link.
    #[must_use]
    pub fn to_end(&self, stream: &Stream, hop: usize) -> Span {
        let at = &stream.hops[hop];
        let link = self.network.link_behind(at.port);
        let node = self.network.ports[at.port.index()].node;
        let octets = |payload| frame_length(payload, at.tagged) + Bytes::new(8);
        let shortest = link.rate.duration_floor(octets(stream.payload_min).bits()).as_ps();
        let slack = slack(&self.network.nodes[node.index()].clock);
        let least = shrunk(shortest, self.tolerance(node)) + link.propagation + link.phy_delay.min;
        Span {
            min: least.saturating_sub(slack),
            max: self.lateness_max(at.port)
                + self.line_time(at.port, octets(stream.payload_max))
                + link.propagation
                + link.phy_delay.max
                + slack,
        }
    }

    /// From the point of a hop until the bridge behind it has the frame ready to be sent.
    #[must_use]
    pub fn to_buffer(&self, stream: &Stream, hop: usize) -> Span {
        let end = self.to_end(stream, hop);
        let link: &Link = self.network.link_behind(stream.hops[hop].port);
        let Some(device) = self.network.device(self.network.ports[link.to.index()].node) else { return end };
        let least = frame_length(stream.payload_min, stream.hops[hop].tagged);
        // The stages keep the order of frames: one may be behind the largest that comes there.
        let most = self.received[link.to.index()];
        let mut span = end;
        for stage in &device.stages {
            let passes = stage.only_for.is_none_or(|only| only == SelectionAlgorithm::StrictPriority);
            if stage.position != StagePosition::Transmission {
                if passes {
                    span.min += delay_min(&stage.latency, least);
                }
                span.max += delay_max(&stage.latency, most) + delay_max(&stage.occupancy, most);
            }
        }
        span
    }

    /// How much later than the point of a hop those of the hops behind it must be at least.
    #[must_use]
    pub fn reach(&self, stream: &Stream, hop: usize) -> Duration {
        self.to_buffer(stream, hop).max + self.settings.precision
    }

    /// How much later than the point of a hop those of the hops behind it may be at most, so that no frame
    /// takes the place of the one before.
    #[must_use]
    pub fn patience(&self, stream: &Stream, hop: usize, period: Duration) -> Duration {
        (period + self.to_buffer(stream, hop).min).saturating_sub(self.settings.precision)
    }

    /// The acceptance window at the end of a hop that begins at `offset`: as long as its frames can come, or
    /// `length` around the middle of that.
    #[must_use]
    pub fn window(&self, stream: &Stream, hop: usize, offset: Duration, length: Option<Duration>) -> Window {
        let link = stream.time_triggered.as_ref().expect("a time-triggered link");
        let end = self.to_end(stream, hop);
        // Two clocks, and a correction between reception and the look at the clock.
        let margin = self.settings.precision * 2;
        let needed = end.max.saturating_sub(end.min) + margin * 2;
        let length = length.unwrap_or(needed);
        let middle = (end.min + end.max).as_ps() / 2;
        let period = link.period.as_ps();
        // It may open before the period begins.
        let opens = u128::from(offset.as_ps()) + u128::from(middle) + u128::from(period)
            - u128::from(length.as_ps() / 2) % u128::from(period);
        let opens = u64::try_from(opens % u128::from(period)).expect("within a period");
        Window { period: link.period, opens: Duration::from_ps(opens), length: length + Duration::from_ps(1) }
    }

    /// The points of a link whose hops are sent at these offsets.
    ///
    /// # Panics
    /// If the stream is no time-triggered virtual link.
    #[must_use]
    pub fn points(&self, stream: &Stream, offsets: &[Duration]) -> Vec<DispatchPoint> {
        let link = stream.time_triggered.as_ref().expect("a time-triggered link");
        let point = |(hop, offset): (usize, &Duration)| DispatchPoint {
            offset: *offset,
            window: self.window(stream, hop, *offset, link.acceptance),
        };
        offsets.iter().take(stream.hops.len()).enumerate().map(point).collect()
    }

    /// Whether all frames of a hop certainly come within its window.
    #[must_use]
    pub fn is_wide_enough(&self, stream: &Stream, hop: usize, window: &Window) -> bool {
        let end = self.to_end(stream, hop);
        window.length >= end.max.saturating_sub(end.min) + self.settings.precision * 4
    }

    /// Time of the line for `octets`, on the port's slowest clock, rounded up.
    #[must_use]
    pub fn line_time(&self, port: PortIndex, octets: Bytes) -> Duration {
        let node = self.network.ports[port.index()].node;
        let time = self.network.link_behind(port).rate.duration_ceil(octets.bits());
        stretched(time.as_ps(), self.tolerance(node))
    }

    fn tolerance(&self, node: NodeIndex) -> u64 {
        u64::from(self.network.nodes[node.index()].clock.tolerance_ppb)
    }
}

impl Network {
    /// The link behind a connected port.
    fn link_behind(&self, port: PortIndex) -> &Link {
        let links = self.ports[port.index()].links.expect("a hop's port is connected");
        &self.links[links.egress.index()]
    }

    /// The class of time-triggered frames at a port, if any are sent there.
    #[must_use]
    pub fn time_triggered_class(&self, port: PortIndex) -> Option<TrafficClass> {
        self.time_triggered_links(port).next().map(|(stream, hop)| stream.hops[hop].class)
    }

    /// The time-triggered links that are sent from a port, and at which of their hops; in order.
    pub fn time_triggered_links(&self, port: PortIndex) -> impl Iterator<Item = (&Stream, usize)> {
        let timed = self.streams.iter().filter(|stream| stream.time_triggered.is_some());
        timed.flat_map(move |stream| {
            let here = (0..stream.hops.len()).filter(move |hop| stream.hops[*hop].port == port);
            here.map(move |hop| (stream, hop))
        })
    }

    /// The network with other dispatch points: for each stream named, one offset for each of its hops, from
    /// the beginning of its talker's period. Acceptance windows follow.
    ///
    /// # Errors
    /// The faults of the schedule.
    ///
    /// # Panics
    /// If a stream is no time-triggered virtual link.
    pub fn with_dispatch_offsets(
        &self,
        offsets: &[(StreamIndex, Vec<Duration>)],
    ) -> Result<Self, Vec<ScheduleFault>> {
        let mut network = self.clone();
        let points: Vec<_> = {
            let timing = Timing::new(self).expect("a network with time-triggered traffic");
            let points = |stream: StreamIndex, offsets: &[Duration]| {
                (stream, timing.points(&self.streams[stream.index()], offsets))
            };
            offsets.iter().map(|(stream, offsets)| points(*stream, offsets)).collect()
        };
        network.set_points(points);
        let faults = network.schedule_faults();
        if faults.is_empty() { Ok(network) } else { Err(faults) }
    }

    /// The same network without any dispatch points: its time-triggered links are never sent.
    #[must_use]
    pub fn without_dispatch_points(&self) -> Self {
        let mut bare = self.clone();
        for stream in &mut bare.parts.streams {
            if let Some(link) = &mut stream.time_triggered {
                link.points.clear();
            }
        }
        bare
    }

    pub(crate) fn set_points(&mut self, points: Vec<(StreamIndex, Vec<DispatchPoint>)>) {
        for (stream, points) in points {
            if let Some(link) = &mut self.parts.streams[stream.index()].time_triggered {
                link.points = points;
            }
        }
    }

    /// What is wrong with the dispatch points of the links that have any.
    #[must_use]
    pub fn schedule_faults(&self) -> Vec<ScheduleFault> {
        let Some(timing) = Timing::new(self) else { return Vec::new() };
        let mut faults = Vec::new();
        let mut lines: Vec<Vec<(StreamIndex, u32, Window)>> = vec![Vec::new(); self.ports.len()];
        for (number, stream) in self.streams.iter().enumerate() {
            let number = StreamIndex::at(number);
            let Some(link) = stream.time_triggered.as_ref().filter(|link| !link.points.is_empty()) else {
                continue;
            };
            if link.points.len() != stream.hops.len() {
                faults.push(ScheduleFault::Points { stream: number });
                continue;
            }
            for hop in 0..stream.hops.len() {
                let place = u32::try_from(hop).expect("hops are counted in u32");
                let length = timing.slot_length(stream, hop);
                let slot = Window { period: link.period, opens: link.points[hop].offset, length };
                if length > link.period || self.is_outside_raster(&slot) {
                    faults.push(ScheduleFault::TooLong { stream: number, hop: place, length });
                } else {
                    lines[stream.hops[hop].port.index()].push((number, place, slot));
                }
                faults.extend(point_fault(&timing, number, stream, link, hop));
            }
        }
        lines.iter().for_each(|line| collisions(line, &mut faults));
        faults
    }

    /// Whether a slot is partly outside of the raster's time for time-triggered traffic.
    fn is_outside_raster(&self, slot: &Window) -> bool {
        let Some(raster) = self.time_triggered.and_then(|settings| settings.raster) else { return false };
        let cycle = raster.cycle.as_ps();
        let is_multiple = slot.period.as_ps().is_multiple_of(cycle);
        !is_multiple || slot.opens.as_ps() % cycle + slot.length.as_ps() > raster.window.as_ps()
    }
}

/// Whether the point of a hop comes too early or too late after that of the hop before.
fn point_fault(
    timing: &Timing<'_>,
    number: StreamIndex,
    stream: &Stream,
    link: &TimeTriggeredLink,
    hop: usize,
) -> Option<ScheduleFault> {
    let place = u32::try_from(hop).expect("hops are counted in u32");
    let Some(previous) = stream.hops[hop].previous.map(|previous| previous as usize) else {
        // A talker sends by all its ports at one point.
        let (first, own) = (link.points[0].offset, link.points[hop].offset);
        return match own.cmp(&first) {
            Ordering::Less => Some(ScheduleFault::TooEarly { stream: number, hop: place, earliest: first }),
            Ordering::Equal => None,
            Ordering::Greater => Some(ScheduleFault::TooLate { stream: number, hop: place, latest: first }),
        };
    };
    let (before, offset) = (link.points[previous].offset, link.points[hop].offset);
    let earliest = before + timing.reach(stream, previous);
    let latest = before + timing.patience(stream, previous, link.period);
    if offset < earliest {
        return Some(ScheduleFault::TooEarly { stream: number, hop: place, earliest });
    }
    (offset > latest).then_some(ScheduleFault::TooLate { stream: number, hop: place, latest })
}

/// Slots of one line that are ever taken at once.
fn collisions(line: &[(StreamIndex, u32, Window)], faults: &mut Vec<ScheduleFault>) {
    for (place, (stream, hop, slot)) in line.iter().enumerate() {
        let met = line[..place].iter().find(|(_, _, other)| slot.meets(other));
        faults.extend(met.map(|(other, other_hop, _)| ScheduleFault::Collision {
            stream: *stream,
            hop: *hop,
            other: *other,
            other_hop: *other_hop,
        }));
    }
}

/// By how much a step of a clock's readings may delay.
fn slack(clock: &Clock) -> Duration {
    if clock.tolerance_ppb == 0 && clock.granularity.as_ps() <= 1 {
        return Duration::from_ps(1);
    }
    clock.granularity.max(Duration::from_ps(1)) + Duration::from_ps(3)
}

/// The longest that a span may last on a clock that is off by `ppb`, rounded up.
fn stretched(ps: u64, ppb: u64) -> Duration {
    let left = u128::from(1_000_000_000_u64.saturating_sub(ppb).max(1));
    let longest = (u128::from(ps) * 1_000_000_000).div_ceil(left);
    Duration::from_ps(u64::try_from(longest).unwrap_or(u64::MAX))
}

/// The shortest, rounded down.
fn shrunk(ps: u64, ppb: u64) -> Duration {
    let shortest = u128::from(ps) * 1_000_000_000 / (1_000_000_000 + u128::from(ppb));
    Duration::from_ps(u64::try_from(shortest).expect("not longer than it was"))
}

fn delay_min(delay: &Delay, octets: Bytes) -> Duration {
    let random = match delay.random {
        Distribution::Zero => Duration::ZERO,
        Distribution::Uniform { min, .. } | Distribution::Normal { min, .. } => min,
    };
    fixed(delay, octets) + random
}

fn delay_max(delay: &Delay, octets: Bytes) -> Duration {
    let random = match delay.random {
        Distribution::Zero => Duration::ZERO,
        Distribution::Uniform { max, .. } | Distribution::Normal { max, .. } => max,
    };
    fixed(delay, octets) + random
}

fn fixed(delay: &Delay, octets: Bytes) -> Duration {
    (delay.constant + delay.per_octet * octets.get()).saturating_sub(delay.less)
}
