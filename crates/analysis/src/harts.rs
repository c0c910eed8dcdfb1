//! Bounds of a network whose bridges send by elementary cycles (EC) and servers (HaRTES).
//!
//! A stream with a server of its own is bounded at each port by that server alone: others can take no more than
//! their capacities, whatever they send. Where a server's period begins with frames in it, it lets as many pass as
//! its capacity holds before the period ends, if what goes before it in those ECs leaves the time: per EC the window
//! less one longest frame, for a frame that would run over its end waits, and others with it. Frames of one server
//! are first in, first out; so the n-th of a busy period is through `ceil(n / k)` periods behind the first boundary
//! that it meets (k frames a period), and it came at least the distance of n frames behind the first.
//!
//! At the talker's port, which has no servers, a frame is through when a busy period of its class and those above ends.
//! Invariants: nothing is assumed of the phases of ECs, periods and sources; all clocks are wrong by their tolerance.
//! What the background server carries has no bound. Not here: equation 3 (`tautwire-admission`), which reckons without
//! drift, jitter and phases.

use tautwire_core::servers::{ServerConfig, ServerKind, ServersConfig};
use tautwire_model::Network;
use tautwire_model::network::{
    Mechanism, NodeKind, PortIndex, StagePosition, Stream, StreamIndex, TimelineAction, Traffic,
};
use tautwire_model::{frame_length, wire_bits};
use tautwire_units::{Bytes, Duration};

use crate::clock::{Deviation, PS_PER_S, slack_ps};
use crate::delay::{Row, delay_max, delay_min};
use crate::result::{Bounds, ClassBounds, HopBounds, ListenerBounds, Method, StreamBounds, Unbounded};

/// Most frames of a busy period that are looked at.
const FRAMES_MAX: u64 = 10_000;

/// The network and its worst clock.
struct Analysis<'network> {
    network: &'network Network,
    deviation: Deviation,
    slack: u64,
}

/// Least and greatest time, picoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Range {
    min: u64,
    max: u64,
}

/// How frames of a stream come: at most `burst` at once every `interval`, and by `jitter` nearer.
#[derive(Clone, Copy, Debug)]
enum Arrivals {
    Periodic {
        interval: u64,
        jitter: u64,
        burst: u64,
        extra: u64,
    },
    /// As many frames of `least` bits as a token bucket holds.
    Bucket {
        bps: u64,
        burst: u64,
        least: u64,
        jitter: u64,
    },
}

impl Arrivals {
    /// Most frames in a closed window.
    fn frames(self, span: u64) -> u64 {
        match self {
            Self::Periodic { interval, jitter, burst, extra } => {
                burst.saturating_mul(span.saturating_add(jitter) / interval + 1).saturating_add(extra)
            }
            Self::Bucket { bps, burst, least, jitter } => {
                let span = u128::from(span) + u128::from(jitter);
                let earned = (u128::from(bps) * span).div_ceil(PS_PER_S);
                u64::try_from((u128::from(burst) + earned) / u128::from(least)).unwrap_or(u64::MAX)
            }
        }
    }

    /// The least window in which so many frames come.
    fn distance(self, frames: u64) -> u64 {
        match self {
            Self::Periodic { interval, jitter, burst, extra } => {
                let periods = frames.saturating_sub(extra).saturating_sub(1) / burst;
                periods.saturating_mul(interval).saturating_sub(jitter)
            }
            Self::Bucket { bps, burst, least, jitter } => {
                let missing = (u128::from(frames) * u128::from(least)).saturating_sub(u128::from(burst));
                let span = missing.saturating_sub(1) * PS_PER_S / u128::from(bps.max(1));
                u64::try_from(span).unwrap_or(u64::MAX).saturating_sub(jitter)
            }
        }
    }

    /// After how many frames the distance to a server that lets `frames` pass every `period` is as it was, or
    /// greater; none if the server is slower.
    fn repeats(self, period: u64, frames: u64) -> Option<u64> {
        match self {
            Self::Periodic { interval, burst, .. } => {
                let enough =
                    u128::from(period) * u128::from(burst) <= u128::from(interval) * u128::from(frames);
                enough.then_some(burst * frames)
            }
            Self::Bucket { bps, least, .. } => {
                let enough =
                    u128::from(period) * u128::from(bps) <= u128::from(frames) * u128::from(least) * PS_PER_S;
                enough.then_some(frames + 1)
            }
        }
    }

    fn with_jitter(self, more: u64) -> Self {
        match self {
            Self::Periodic { interval, jitter, burst, extra } => {
                Self::Periodic { interval, jitter: jitter.saturating_add(more), burst, extra }
            }
            Self::Bucket { bps, burst, least, jitter } => {
                Self::Bucket { bps, burst, least, jitter: jitter.saturating_add(more) }
            }
        }
    }
}

/// The bounds of a network with HaRTES.
pub(crate) fn bounds(network: &Network) -> Bounds {
    let worst = network.nodes.iter().map(|node| &node.clock).max_by_key(|clock| clock.tolerance_ppb);
    let slack = network.nodes.iter().map(|node| slack_ps(&node.clock)).max().unwrap_or(0);
    let deviation = worst.map(Deviation::of).unwrap_or_default();
    let analysis = Analysis { network, deviation, slack };
    let streams = (0..network.streams.len()).map(|number| analysis.stream(StreamIndex::at(number))).collect();
    Bounds { streams, ports: analysis.ports() }
}

impl Analysis<'_> {
    fn stream(&self, number: StreamIndex) -> StreamBounds {
        let stream = &self.network.streams[number.index()];
        // Per hop: from the application to the last bit at the next node, its bound and its least.
        let mut ends: Vec<(Result<u64, Unbounded>, u64)> = Vec::with_capacity(stream.hops.len());
        let mut hops = Vec::with_capacity(stream.hops.len());
        for (place, hop) in stream.hops.iter().enumerate() {
            let before = hop.previous.map_or((Ok(0), 0), |previous| ends[previous as usize].clone());
            let (rest, least) = self.hop(number, place, &before);
            let end = match (&before.0, &rest) {
                (Ok(before), Ok(rest)) => Ok(before.saturating_add(*rest)),
                (Err(reason), _) | (_, Err(reason)) => Err(reason.clone()),
            };
            let method = if rest.is_ok() { Method::Servers } else { Method::None };
            let delay = rest.and_then(|rest| before.0.map(|_| Duration::from_ps(rest)));
            hops.push(HopBounds { delay, delay_min: Duration::from_ps(least), method });
            ends.push((end, before.1 + least));
        }
        let listener = |listener: usize| {
            let place =
                stream.hops.iter().position(|hop| hop.listener.is_some_and(|one| one as usize == listener));
            let (delay, least) = place.map_or((Ok(0), 0), |place| ends[place].clone());
            ListenerBounds {
                delay: delay.map(Duration::from_ps),
                delay_min: Duration::from_ps(least),
                skew: None,
                application: None,
            }
        };
        StreamBounds { listeners: (0..stream.listeners.len()).map(listener).collect(), hops }
    }

    /// Greatest and least time from the last bit at this node (the application, at the talker) to that at the next.
    fn hop(
        &self,
        number: StreamIndex,
        place: usize,
        before: &(Result<u64, Unbounded>, u64),
    ) -> (Result<u64, Unbounded>, u64) {
        let stream = &self.network.streams[number.index()];
        let hop = &stream.hops[place];
        let line = self.line(stream, place);
        if hop.previous.is_none() {
            let transmit = self.transmit(stream);
            let least = transmit.min + line.min;
            let most = self
                .talker_port(stream, place)
                .map(|busy| transmit.max.saturating_add(busy).saturating_add(line.max));
            return (most, least);
        }
        let (stages, queues) = self.stages(stream, place);
        let least = stages.min + line.min;
        let reached = before.0.as_ref().map(|before| before.saturating_add(stages.max));
        let most = match reached {
            Err(reason) => Err(reason.clone()),
            Ok(_) if queues => Err(Unbounded::StageTooSlow { port: hop.port }),
            Ok(reached) => {
                let jitter = reached.saturating_sub(before.1 + stages.min);
                let arrivals = self.arrivals(number).map(|arrivals| arrivals.with_jitter(jitter));
                arrivals
                    .ok_or(Unbounded::NoArrivalCurve { stream: number, port: hop.port })
                    .and_then(|arrivals| self.server(number, place, arrivals))
                    .map(|served| stages.max.saturating_add(served).saturating_add(line.max))
            }
        };
        (most, least)
    }

    /// From the queue of a server to the last bit of the frame out of the port.
    fn server(&self, number: StreamIndex, place: usize, arrivals: Arrivals) -> Result<u64, Unbounded> {
        let hop = &self.network.streams[number.index()].hops[place];
        let port = Port::of(self.network, hop.port).ok_or(Unbounded::NoServer { port: hop.port })?;
        let lane = self.network.server_of(number, hop.port).ok_or(Unbounded::NoServer { port: hop.port })?;
        let wire = wire_octets(&self.network.streams[number.index()], hop.tagged);
        let (period, through, frames) = port.guarantee(lane, wire)?;
        // Where the server is as fast as the stream, its frames repeat after so many.
        let long =
            self.deviation.stretch(period).saturating_add(u64::from(self.deviation != Deviation::default()));
        let repeats = arrivals.repeats(long, frames);
        let mut apart = 0;
        let mut most = 0;
        for count in 1..=FRAMES_MAX {
            let done = period.saturating_mul(count.div_ceil(frames)).saturating_add(through);
            let done = self.deviation.stretch(done).saturating_add(self.slack + 2);
            most = most.max(done.saturating_sub(arrivals.distance(count)));
            apart += u64::from(arrivals.distance(count) > 0);
            if arrivals.distance(count + 1) >= done || repeats.is_some_and(|repeats| apart > repeats) {
                return Ok(most);
            }
        }
        Err(Unbounded::Overload { port: hop.port, class: hop.class })
    }

    /// The longest busy period of a talker's port, for a frame's class and those above it.
    fn talker_port(&self, stream: &Stream, place: usize) -> Result<u64, Unbounded> {
        let hop = &stream.hops[place];
        let links = self.network.ports[hop.port.index()].links.expect("a hop's port has a cable");
        let rate = self.network.links[links.egress.index()].rate;
        let line =
            |octets: u64| self.deviation.stretch(rate.duration_ceil(Bytes::new(octets).bits()).as_ps()) + 1;
        let control = self.network.network_control;
        let mut blocking = control.map_or(0, |control| line(control.frame_max.get() + 20));
        let mut before = Vec::new();
        for (other, described) in self.network.streams.iter().enumerate() {
            for passage in described.hops.iter().filter(|passage| passage.port == hop.port) {
                let time = line(wire_octets(described, passage.tagged));
                if passage.class < hop.class {
                    blocking = blocking.max(time);
                    continue;
                }
                let missing = Unbounded::NoArrivalCurve { stream: StreamIndex::at(other), port: hop.port };
                before.push((self.arrivals(StreamIndex::at(other)).ok_or(missing)?, time));
            }
        }
        let of_control = |span: u64| {
            control.map_or(0, |control| {
                let bps = u128::from(self.deviation.fastest(control.arrival.rate.as_bps()));
                let earned = (bps * u128::from(span)).div_ceil(PS_PER_S);
                let bits = u128::from(control.arrival.burst.get()) + earned;
                let time = (bits * PS_PER_S).div_ceil(u128::from(rate.as_bps()));
                self.deviation.stretch(u64::try_from(time).unwrap_or(u64::MAX))
            })
        };
        let mut busy = blocking + 1;
        for _ in 0..FRAMES_MAX {
            let of_streams = before.iter().fold(0_u64, |all, (arrivals, time)| {
                all.saturating_add(arrivals.frames(busy).saturating_mul(*time))
            });
            let next = blocking
                .saturating_add(of_streams)
                .saturating_add(of_control(busy))
                .saturating_add(self.slack + 2);
            if next <= busy {
                return Ok(busy);
            }
            busy = next;
        }
        Err(Unbounded::Overload { port: hop.port, class: hop.class })
    }

    /// From a frame's last bit out of a port to that at the next node, with the stages behind the selection.
    fn line(&self, stream: &Stream, place: usize) -> Range {
        let hop = &stream.hops[place];
        let port = &self.network.ports[hop.port.index()];
        let link = &self.network.links[port.links.expect("a hop's port has a cable").egress.index()];
        let cable = link.propagation.as_ps();
        let whole =
            link.rate.duration_floor((frame_length(stream.payload_min, hop.tagged) + Bytes::new(8)).bits());
        let mut line = Range {
            min: (self.deviation.shrink(whole.as_ps()) + cable + link.phy_delay.min.as_ps())
                .saturating_sub(2),
            max: cable + link.phy_delay.max.as_ps() + 2,
        };
        if let Some(device) = self.network.device(port.node) {
            let row = Row::of_transmission(&device.stages);
            line.min += row.latency_min(frame_length(stream.payload_min, hop.tagged));
            line.max += row.latency_max(frame_length(stream.payload_max, hop.tagged) + tautwire_model::TAG);
        }
        line
    }

    /// Latencies of the stages before a bridge's queues, and whether frames may queue in any of its stages.
    fn stages(&self, stream: &Stream, place: usize) -> (Range, bool) {
        let hop = &stream.hops[place];
        let node = self.network.ports[hop.port.index()].node;
        let Some(device) = self.network.device(node) else { return (Range::default(), false) };
        let row = Row::of(
            &device.stages,
            Mechanism::StrictPriority,
            &[StagePosition::Reception, StagePosition::Processing],
        );
        let octets = |payload| frame_length(payload, hop.tagged);
        let most = octets(stream.payload_max) + tautwire_model::TAG;
        let queues = device.stages.iter().any(|stage| delay_max(&stage.occupancy, most) > 0);
        (Range { min: row.latency_min(octets(stream.payload_min)), max: row.latency_max(most) }, queues)
    }

    /// From the application to the port's queue.
    fn transmit(&self, stream: &Stream) -> Range {
        let NodeKind::EndStation { host } = &self.network.nodes[stream.talker.index()].kind else {
            return Range::default();
        };
        let host = &self.network.hosts[host.index()];
        let octets = |payload| frame_length(payload, stream.tagged);
        Range {
            min: delay_min(&host.transmit, octets(stream.payload_min)),
            max: delay_max(&host.transmit, octets(stream.payload_max)),
        }
    }

    /// How a stream's frames come to the queue of its talker's port; none if nothing is promised.
    fn arrivals(&self, number: StreamIndex) -> Option<Arrivals> {
        let stream = &self.network.streams[number.index()];
        let transmit = self.transmit(stream);
        let spread = transmit.max - transmit.min + 2 + self.slack;
        let mut starts = 0;
        for event in &self.network.events {
            match &event.action {
                TimelineAction::ChangeTraffic(changed, ..) if *changed == number => return None,
                TimelineAction::StartStream(started) if *started == number => starts += 1,
                _ => {}
            }
        }
        match &stream.traffic {
            Traffic::Response { .. } | Traffic::Synchronisation { .. } => None,
            Traffic::Periodic { interval, jitter, burst, .. } => {
                let burst = u64::from(*burst).max(1);
                let restarts = u64::from(stream.started) + starts;
                Some(Arrivals::Periodic {
                    interval: self.deviation.shrink(interval.as_ps()).max(1),
                    jitter: self.deviation.stretch(jitter.as_ps()).saturating_add(spread),
                    burst,
                    extra: restarts.saturating_sub(1) * burst,
                })
            }
            _ => {
                let curve = stream.arrival?;
                Some(Arrivals::Bucket {
                    bps: self.deviation.fastest(curve.rate.as_bps()),
                    burst: curve.burst.get().saturating_mul(1 + starts),
                    least: wire_bits(stream.payload_min, stream.tagged).get().max(1),
                    jitter: spread,
                })
            }
        }
    }

    fn ports(&self) -> Vec<[ClassBounds; 8]> {
        let mut ports = vec![<[ClassBounds; 8]>::default(); self.network.ports.len()];
        for hop in self.network.streams.iter().flat_map(|stream| &stream.hops) {
            ports[hop.port.index()][hop.class.index()].used = true;
        }
        ports
    }
}

/// Octets of the wire of a stream's longest frame.
fn wire_octets(stream: &Stream, tagged: bool) -> u64 {
    wire_bits(stream.payload_max, tagged).bytes_ceil().get()
}

/// The servers of a bridge's port, with times on the clock of its node.
struct Port {
    index: PortIndex,
    config: ServersConfig,
    /// Picoseconds of an octet, as a fraction: bits per second.
    bps: u64,
    /// What of a window frames find for certain.
    window: u64,
}

impl Port {
    fn of(network: &Network, index: PortIndex) -> Option<Self> {
        let config = network.port_servers(index)?;
        let bps = network.links[network.ports[index.index()].links?.egress.index()].rate.as_bps();
        let longest = network.streams.iter().flat_map(|stream| {
            let here = stream.hops.iter().filter(move |hop| hop.port == index);
            here.map(|hop| wire_octets(stream, hop.tagged))
        });
        let control = network.network_control.map_or(0, |control| control.frame_max.get() + 20);
        let mut port = Self { index, config, bps, window: 0 };
        let longest = port.line(longest.max().unwrap_or(0).max(control));
        port.window = (port.config.close - port.config.open).as_ps().saturating_sub(longest);
        Some(port)
    }

    /// What a server is sure of, if frames wait in it when its period begins: the length of the period, how long after its
    /// start the last of them is through at most, and how many that are.
    fn guarantee(&self, lane: u16, wire: u64) -> Result<(u64, u64, u64), Unbounded> {
        let place = usize::from(lane);
        let own = &self.config.servers[place];
        let is_background = place + 1 == self.config.servers.len();
        let Some(capacity) = own.capacity.filter(|_| !is_background) else {
            return Err(Unbounded::NoServer { port: self.index });
        };
        let too_small = || Unbounded::ServerTooSmall { port: self.index };
        let frames = u64::from(capacity) / wire;
        if frames == 0 || !self.above_suffice(place) {
            return Err(too_small());
        }
        let cycle = self.config.cycle.as_ps();
        let period = cycle * u64::from(own.period);
        // What a sporadic server lacks may come back in the last cycle of its period alone.
        let cycles = if own.kind == ServerKind::Sporadic { 1 } else { u64::from(own.period) };
        let before = self.before(place, cycles);
        let work = self.line(before.saturating_add(frames * wire)).saturating_add(u64::from(own.period) * 2);
        let needed = work.div_ceil(self.window.max(1));
        if needed > cycles {
            return Err(too_small());
        }
        let inside = (needed - 1) * cycle + self.config.open.as_ps() + (work - (needed - 1) * self.window);
        let through = (u64::from(own.period) - cycles) * cycle + inside;
        Ok((period, through, frames))
    }

    /// Whether the servers above one never run out: each holds what all in it may take in a period.
    fn above_suffice(&self, place: usize) -> bool {
        let own = &self.config.servers[place];
        let mut next = own.parent;
        while let Some(above) = next {
            let above = usize::from(above);
            let server = &self.config.servers[above];
            let Some(capacity) = server.capacity else { return false };
            let polled = server.kind == ServerKind::Polling && !own.period.is_multiple_of(server.period);
            let slides = server.kind == ServerKind::Sporadic;
            let inside = |other: usize| self.is_leaf(other) && self.is_inside(other, above);
            let taken = (0..self.config.servers.len()).filter(|other| inside(*other)).map(|other| {
                let child = &self.config.servers[other];
                u64::from(child.capacity.unwrap_or(u32::MAX)).saturating_mul(periods(
                    child,
                    u64::from(server.period),
                    slides,
                ))
            });
            if polled || taken.sum::<u64>() > u64::from(capacity) {
                return false;
            }
            next = server.parent;
        }
        true
    }

    /// Octets of the wire that go before a server in so many cycles from the start of one of its periods.
    fn before(&self, place: usize, cycles: u64) -> u64 {
        let own = self.way(place);
        let earlier = |other: &usize| *other != place && self.is_leaf(*other) && self.way(*other) < own;
        let count = self.config.servers.len();
        let mut taken = vec![0_u64; count];
        let mut sum = 0_u64;
        for other in (0..count).rev() {
            let server = &self.config.servers[other];
            let mut out = taken[other];
            if earlier(&other) {
                out = u64::MAX;
            }
            if let Some(capacity) = server.capacity {
                // A period of any place against those of the server.
                out = out.min(u64::from(capacity).saturating_mul(periods(server, cycles, true)));
            }
            match server.parent {
                Some(parent) => taken[usize::from(parent)] = taken[usize::from(parent)].saturating_add(out),
                None => sum = sum.saturating_add(out),
            }
        }
        sum
    }

    /// The way from the root: what is asked first is smaller.
    fn way(&self, place: usize) -> Vec<(u8, usize)> {
        let server = &self.config.servers[place];
        let mut way = server.parent.map(|above| self.way(usize::from(above))).unwrap_or_default();
        way.push((7_u8.saturating_sub(server.priority), place));
        way
    }

    fn is_leaf(&self, place: usize) -> bool {
        !self
            .config
            .servers
            .iter()
            .any(|server| server.parent.is_some_and(|above| usize::from(above) == place))
    }

    fn is_inside(&self, place: usize, above: usize) -> bool {
        let mut next = self.config.servers[place].parent;
        while let Some(parent) = next {
            if usize::from(parent) == above {
                return true;
            }
            next = self.config.servers[usize::from(parent)].parent;
        }
        false
    }

    /// Time on the line, rounded up.
    fn line(&self, octets: u64) -> u64 {
        let time = (u128::from(octets) * 8 * PS_PER_S).div_ceil(u128::from(self.bps.max(1)));
        u64::try_from(time).unwrap_or(u64::MAX)
    }
}

/// How often a server may spend its capacity in a span of `cycles`: from the start of a period of that length, or, if
/// the span `slides`, from any cycle on. What a sporadic server gave is back a period later at the earliest.
fn periods(server: &ServerConfig, cycles: u64, slides: bool) -> u64 {
    let period = u64::from(server.period);
    match server.kind {
        ServerKind::Sporadic => cycles.div_ceil(period),
        _ if !slides && cycles.is_multiple_of(period) => cycles / period,
        _ if !slides && period.is_multiple_of(cycles) => 1,
        _ => (cycles - 1).div_ceil(period) + 1,
    }
}
