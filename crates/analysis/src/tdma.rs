//! Bounds of a network in which every talker sends in slots of a TDMA cycle (RTnet).
//!
//! A frame's delay is the wait for a slot of its station, with what waits before it, and its way. The wait
//! holds for any send instant: between two slots of a station at most their greatest distance passes, by
//! the true length of the cycle and with the error of a slot's start on either side (travel of the
//! synchronisation frame beyond its least, drift of the clocks over a cycle, steps of their readings). The
//! way has no queue in it if at no port the times meet in which frames of different slots may be there:
//! that is checked for all ports and all cycles until the slots repeat. By induction over the first frame
//! that would wait for another none does, so the times hold (with `T_switch^wait = 0`, equation 2 of the
//! published evaluation of RTnet). Where the times meet nothing is proven.
//!
//! A response's time counts from the request's hand-over (equations 3 and 4 there, with the middle case
//! corrected): wait and slot of the request, from there to the first slot of the responder that begins
//! after the response is ready for certain, and the response's way. Invariant: what a failing master
//! costs is one more slot of waiting, for the standby opens that cycle or the next.

use std::collections::BTreeMap;

use tautwire_core::tdma::Carries;
use tautwire_model::Network;
use tautwire_model::network::{
    HostModel, Mechanism, NodeIndex, NodeKind, PortIndex, StagePosition, Stream, StreamIndex, TimelineAction,
    Traffic,
};
use tautwire_model::tdma::{OwnedSlot, Tdma};
use tautwire_units::{Bits, Bytes, Duration};

use crate::clock::{Deviation, PS_PER_S, slack_ps};
use crate::delay::{Row, delay_max, delay_min};
use crate::result::{Bounds, ClassBounds, HopBounds, ListenerBounds, Method, StreamBounds, Unbounded};
use tautwire_model::frame_length;

/// Most cycles until the slots repeat.
const CYCLES_MAX: u64 = 1_000;
/// Most frames of a busy period.
const FRAMES_MAX: u64 = 10_000;

/// What holds for the whole network.
struct Cycle<'network> {
    network: &'network Network,
    tdma: &'network Tdma,
    /// Cycles until the slots repeat.
    cycles: u64,
    deviation: Deviation,
    /// By how much a slot may begin too early, and too late.
    early: u64,
    late: u64,
    /// Slots that a failing master may cost.
    lost: u64,
    /// Why nothing holds, if so.
    reason: Option<Unbounded>,
}

/// Greatest and least of a time, picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Range {
    min: u64,
    max: u64,
}

impl Range {
    fn plus(self, other: Self) -> Self {
        Self { min: self.min + other.min, max: self.max.saturating_add(other.max) }
    }

    fn spread(self) -> u64 {
        self.max - self.min
    }
}

/// How frames come to a station's queue.
#[derive(Clone, Copy, Debug)]
enum Arrivals {
    /// `burst` at once, `interval` apart at least but for `jitter`.
    Periodic { interval: u64, jitter: u64, burst: u64 },
    /// As many of `least` bits as a token bucket holds.
    Bucket { bps: u64, burst: u64, least: u64 },
}

impl Arrivals {
    /// Most frames in a closed window of `span`.
    fn frames(self, span: u64) -> u64 {
        match self {
            Self::Periodic { interval, jitter, burst } => {
                burst.saturating_mul((span.saturating_add(jitter)) / interval + 1)
            }
            Self::Bucket { bps, burst, least } => {
                let earned = (u128::from(bps) * u128::from(span)).div_ceil(PS_PER_S);
                u64::try_from((u128::from(burst) + earned) / u128::from(least)).unwrap_or(u64::MAX)
            }
        }
    }

    /// The least window that may hold more frames than one of `span`.
    fn next(self, span: u64) -> u64 {
        match self {
            Self::Periodic { interval, jitter, .. } => {
                let number = span.saturating_add(jitter) / interval + 1;
                number.saturating_mul(interval).saturating_sub(jitter).max(span + 1)
            }
            Self::Bucket { bps: 0, .. } => u64::MAX,
            Self::Bucket { bps, burst, least } => {
                let wanted = u128::from(self.frames(span) + 1) * u128::from(least);
                let missing = wanted.saturating_sub(u128::from(burst));
                // Rounded down: an earlier look costs nothing.
                let at = missing.saturating_sub(1) * PS_PER_S / u128::from(bps);
                u64::try_from(at).unwrap_or(u64::MAX).max(span + 1)
            }
        }
    }
}

/// The bounds of a network with TDMA.
pub(crate) fn bounds(network: &Network, tdma: &Tdma) -> Bounds {
    let cycle = Cycle::new(network, tdma);
    let streams = (0..network.streams.len()).map(|number| cycle.stream(StreamIndex::at(number))).collect();
    Bounds { streams, ports: cycle.ports() }
}

impl<'network> Cycle<'network> {
    fn new(network: &'network Network, tdma: &'network Tdma) -> Self {
        let stations = || network.nodes.iter().map(|node| &node.clock);
        let worst = stations().max_by_key(|clock| clock.tolerance_ppb).copied().unwrap_or_default();
        let deviation = Deviation::of(&worst);
        let slack: u64 = stations().map(slack_ps).max().unwrap_or(0);
        let mut cycle = Self {
            network,
            tdma,
            cycles: tdma.slots.iter().fold(1, |all, slot| lcm(all, u64::from(slot.slot.period))),
            deviation,
            early: 0,
            late: 0,
            lost: 0,
            reason: None,
        };
        // Both clocks, the sender's and the listener's, over a cycle and the watch of a standby.
        let span = 2 * tdma.cycle.as_ps();
        let drift = 2 * (deviation.stretch(span) - span) + 2 * slack + 2;
        let sender = tdma.synchronisation;
        let synchronisation = &network.streams[sender.index()];
        let travelled = |listener: usize| {
            let way = cycle.way(synchronisation, listener)?.1;
            let known = tdma.travel[synchronisation.listeners[listener].index()].as_ps();
            Some((known.saturating_sub(way.min), way.max.saturating_sub(known)))
        };
        let (mut early, mut late) = (0, 0);
        for (one, other) in (0..synchronisation.listeners.len()).filter_map(travelled) {
            (early, late) = (early.max(one), late.max(other));
        }
        (cycle.early, cycle.late) = (early + drift, late + drift);
        cycle.reason = cycle.what_fails();
        cycle.reason = cycle.reason.take().or_else(|| cycle.meeting());
        cycle
    }

    /// Events that cost slots, or all that is proven.
    fn what_fails(&mut self) -> Option<Unbounded> {
        let network = self.network;
        let master = network.streams[self.tdma.synchronisation.index()].talker;
        let port = network.streams[self.tdma.synchronisation.index()].hops.first()?.port;
        let fails = Unbounded::SynchronisationLost { port };
        if self.cycles > CYCLES_MAX || network.links.iter().any(|link| link.bit_error_rate > 0 || !link.up) {
            return Some(fails);
        }
        // What stands between an application and its station's queue is reckoned without servers.
        if (0..network.nodes.len()).any(|node| network.has_stacks(NodeIndex::at(node))) {
            return Some(Unbounded::Host { port });
        }
        for event in &network.events {
            match &event.action {
                TimelineAction::StopNode(node) if *node == master && self.tdma.standby.is_some() => {
                    // The standby reckons by its own clock, one more error of a slot's start.
                    self.lost += 1;
                    self.early *= 2;
                    self.late *= 2;
                }
                TimelineAction::StopNode(node) => {
                    let bridge = matches!(network.nodes[node.index()].kind, NodeKind::Bridge { .. });
                    let standby = self.tdma.standby.map(|standby| standby.synchronisation);
                    let opens = standby.is_some_and(|stream| network.streams[stream.index()].talker == *node);
                    if bridge || opens || *node == master {
                        return Some(fails);
                    }
                }
                TimelineAction::CutCable(_) | TimelineAction::ChangeBitErrorRate(..) => return Some(fails),
                _ => {}
            }
        }
        None
    }

    /// A port at which frames of different slots may meet.
    fn meeting(&self) -> Option<Unbounded> {
        // Per port and slot, whose streams have it in turn: from when to when its frame may be there.
        let mut times: BTreeMap<(u32, u64, bool), (u64, u64)> = BTreeMap::new();
        for number in 0..self.network.streams.len() {
            let stream = &self.network.streams[number];
            let opens = matches!(stream.traffic, Traffic::Synchronisation { .. });
            for start in self.starts(StreamIndex::at(number), self.cycles + 1) {
                for (place, hop) in stream.hops.iter().enumerate() {
                    let (queued, gone) = self.at_hop(stream, place);
                    let begin = (start + queued.min).saturating_sub(self.early);
                    let end = start.saturating_add(gone).saturating_add(self.late);
                    let known = times.entry((hop.port.0, start, opens)).or_insert((begin, end));
                    *known = (known.0.min(begin), known.1.max(end));
                }
            }
        }
        let (mut port, mut taken) = (u32::MAX, 0);
        for ((next, ..), (begin, end)) in times {
            if next == port && begin < taken {
                return Some(Unbounded::SlotsMeet { port: PortIndex(port) });
            }
            taken = if next == port { end.max(taken) } else { end };
            port = next;
        }
        None
    }

    /// Starts of the slots that carry a stream, in order, in the first `cycles`.
    fn starts(&self, stream: StreamIndex, cycles: u64) -> Vec<u64> {
        let whole = self.tdma.cycle.as_ps();
        let standby = self.tdma.standby.filter(|standby| standby.synchronisation == stream);
        let mut starts = Vec::new();
        for cycle in 0..cycles {
            if matches!(self.network.streams[stream.index()].traffic, Traffic::Synchronisation { .. }) {
                starts.push(cycle * whole);
                starts.extend(standby.map(|standby| cycle * whole + standby.offset.as_ps()));
                continue;
            }
            let carries = self.tdma.slots.iter().filter(|slot| self.carries(slot, stream));
            let here =
                carries.filter(|slot| cycle % u64::from(slot.slot.period) == u64::from(slot.slot.phase));
            starts.extend(here.map(|slot| cycle * whole + slot.slot.offset.as_ps()));
        }
        starts
    }

    fn carries(&self, slot: &OwnedSlot, stream: StreamIndex) -> bool {
        let other = if self.network.is_real_time(stream) { Carries::Ordinary } else { Carries::RealTime };
        slot.owner == self.network.streams[stream.index()].talker && slot.slot.carries != other
    }

    /// From the start of its slot until a frame is in the queue of a hop's port, and until the port is free.
    fn at_hop(&self, stream: &Stream, place: usize) -> (Range, u64) {
        let mut queued = Range::default();
        let mut occupied = 0;
        if let Some(previous) = stream.hops[place].previous {
            queued = self.at_hop(stream, previous as usize).0.plus(self.line(stream, previous as usize));
            let (latency, occupancy) =
                self.stages(stream, place, &[StagePosition::Reception, StagePosition::Processing]);
            (queued, occupied) = (queued.plus(latency), occupancy);
        }
        let (latency, occupancy) = self.stages(stream, place, &[StagePosition::Transmission]);
        let hop = &stream.hops[place];
        let links = self.network.ports[hop.port.index()].links.expect("a hop's port has a cable");
        let rate = self.network.links[links.egress.index()].rate;
        let octets = frame_length(stream.payload_max, hop.tagged) + Bytes::MEDIA_OVERHEAD;
        let line = self.deviation.stretch(rate.duration_ceil(octets.bits()).as_ps()) + 1;
        (queued, queued.max.saturating_add(latency.max + line + occupancy + occupied))
    }

    /// From the queue of a hop's port to the last bit at the next node.
    fn line(&self, stream: &Stream, place: usize) -> Range {
        let hop = &stream.hops[place];
        let links = self.network.ports[hop.port.index()].links.expect("a hop's port has a cable");
        let link = &self.network.links[links.egress.index()];
        let time =
            |payload| link.rate.duration_ceil((frame_length(payload, hop.tagged) + Bytes::new(8)).bits());
        let cable = link.propagation.as_ps();
        let line = Range {
            min: (self.deviation.shrink(time(stream.payload_min).as_ps())
                + cable
                + link.phy_delay.min.as_ps())
            .saturating_sub(2),
            max: self.deviation.stretch(time(stream.payload_max).as_ps())
                + cable
                + link.phy_delay.max.as_ps()
                + 2,
        };
        line.plus(self.stages(stream, place, &[StagePosition::Transmission]).0)
    }

    /// Latencies of the stages before a hop's port, and what all their occupancies are at most.
    fn stages(&self, stream: &Stream, place: usize, positions: &[StagePosition]) -> (Range, u64) {
        let hop = &stream.hops[place];
        let node = self.network.ports[hop.port.index()].node;
        let Some(device) = self.network.device(node) else { return (Range::default(), 0) };
        let row = Row::of(&device.stages, Mechanism::StrictPriority, positions);
        let octets = |payload| frame_length(payload, hop.tagged);
        let (least, most) = (octets(stream.payload_min), octets(stream.payload_max) + tautwire_model::TAG);
        let occupancy = device.stages.iter().filter(|stage| positions.contains(&stage.position));
        let occupancy = occupancy.map(|stage| delay_max(&stage.occupancy, most)).sum();
        (Range { min: row.latency_min(least), max: row.latency_max(most) }, occupancy)
    }

    /// From the start of its slot to the last bit at a listener, and the hop that leads there.
    fn way(&self, stream: &Stream, listener: usize) -> Option<(usize, Range)> {
        let place =
            stream.hops.iter().position(|hop| hop.listener.is_some_and(|one| one as usize == listener))?;
        Some((place, self.to_end_of(stream, place)))
    }

    fn to_end_of(&self, stream: &Stream, place: usize) -> Range {
        self.at_hop(stream, place).0.plus(self.line(stream, place))
    }

    fn host(&self, node: NodeIndex) -> &HostModel {
        match &self.network.nodes[node.index()].kind {
            NodeKind::EndStation { host } => &self.network.hosts[host.index()],
            NodeKind::Bridge { .. } => unreachable!("talkers and listeners are end stations"),
        }
    }

    /// From the application to the station's queue.
    fn transmit(&self, stream: &Stream) -> Range {
        let octets = |payload| frame_length(payload, stream.tagged);
        let host = self.host(stream.talker);
        Range {
            min: delay_min(&host.transmit, octets(stream.payload_min)),
            max: delay_max(&host.transmit, octets(stream.payload_max)),
        }
    }

    /// From the last bit of a request at the responder to the response in its station's queue.
    fn answer(&self, request: &Stream, response: &Stream, turn_around: Duration) -> Range {
        let octets = |payload| frame_length(payload, request.tagged);
        let host = self.host(response.talker);
        let turn = turn_around.as_ps();
        let received = Range {
            min: delay_min(&host.receive, octets(request.payload_min)) + turn,
            max: delay_max(&host.receive, octets(request.payload_max) + tautwire_model::TAG) + turn,
        };
        received.plus(self.transmit(response))
    }

    /// How a stream's frames come to its station's queue.
    fn arrivals(&self, number: StreamIndex) -> Option<Arrivals> {
        let stream = &self.network.streams[number.index()];
        let interval = |span: Duration| self.deviation.shrink(span.as_ps()).max(1);
        match &stream.traffic {
            Traffic::Periodic { interval: span, jitter, burst, .. } if self.keeps(number) => {
                Some(Arrivals::Periodic {
                    interval: interval(*span),
                    jitter: self.deviation.stretch(jitter.as_ps()) + self.transmit(stream).spread() + 2,
                    burst: u64::from(*burst),
                })
            }
            Traffic::Response { to, turn_around } => {
                let request = &self.network.streams[to.index()];
                let Some(Arrivals::Periodic { interval, jitter, burst }) = self.arrivals(*to) else {
                    return None;
                };
                let wait = self.wait(*to)?;
                let listener = request.listeners.iter().position(|node| *node == stream.talker)?;
                let spread =
                    self.way(request, listener)?.1.plus(self.answer(request, stream, *turn_around)).spread();
                Some(Arrivals::Periodic {
                    interval,
                    jitter: jitter.checked_add(wait)?.checked_add(spread)?,
                    burst,
                })
            }
            _ => {
                let curve = stream.arrival?;
                let bits =
                    |payload| (frame_length(payload, stream.tagged) + Bytes::MEDIA_OVERHEAD).bits().get();
                let bps = self.deviation.fastest(curve.rate.as_bps());
                let spread = self.transmit(stream).spread() + 2;
                let earned = (u128::from(bps) * u128::from(spread)).div_ceil(PS_PER_S);
                Some(Arrivals::Bucket {
                    bps,
                    burst: curve.burst.get() + u64::try_from(earned).unwrap_or(u64::MAX),
                    least: bits(stream.payload_min).max(1),
                })
            }
        }
    }

    /// Whether a stream keeps its first traffic for the whole run, begun once.
    fn keeps(&self, number: StreamIndex) -> bool {
        self.network.events.iter().all(|event| match &event.action {
            TimelineAction::StartStream(stream) | TimelineAction::ChangeTraffic(stream, ..) => {
                *stream != number
            }
            _ => true,
        })
    }

    /// Greatest wait of a stream's frame in its station's queue until its slot begins, true time.
    fn wait(&self, number: StreamIndex) -> Option<u64> {
        let streams = || (0..self.network.streams.len()).map(StreamIndex::at);
        let talker = self.network.streams[number.index()].talker;
        let real_time = self.network.is_real_time(number);
        let beside = |other: &StreamIndex| {
            let stream = &self.network.streams[other.index()];
            let own = matches!(stream.traffic, Traffic::Synchronisation { .. });
            stream.talker == talker && !own
        };
        let arrivals = |wanted: bool| -> Option<Vec<Arrivals>> {
            let same = streams().filter(beside).filter(|other| self.network.is_real_time(*other) == wanted);
            same.map(|other| self.arrivals(other)).collect()
        };
        let same = arrivals(real_time)?;
        let before = if real_time { Vec::new() } else { arrivals(true)? };
        let frames = |of: &[Arrivals], span: u64| {
            of.iter().fold(0_u64, |all, one| all.saturating_add(one.frames(span)))
        };
        let starts = self.starts(number, self.cycles);
        let (mut span, mut wait) = (0, 0);
        loop {
            // Real-time frames that come meanwhile go first where a slot carries both.
            let mut gone = self.service(&starts, frames(&same, span) + frames(&before, span))?;
            loop {
                let count = frames(&same, span).saturating_add(frames(&before, gone));
                let longer = self.service(&starts, count)?;
                if longer <= gone {
                    break;
                }
                gone = longer;
            }
            wait = wait.max(gone.saturating_sub(span));
            span = same.iter().map(|one| one.next(span)).min()?;
            if span >= gone {
                return Some(wait);
            }
        }
    }

    /// The longest that `count` slots are waited for, from any instant; true time.
    fn service(&self, starts: &[u64], count: u64) -> Option<u64> {
        let count = count.checked_add(self.lost)?;
        if starts.is_empty() || count > FRAMES_MAX {
            return None;
        }
        let whole = self.tdma.cycle.as_ps() * self.cycles;
        let of = u64::try_from(starts.len()).ok()?;
        let from = |first: usize| {
            let last = u64::try_from(first).ok()? + count;
            let place = usize::try_from(last % of).ok()?;
            Some((last / of) * whole + starts[place] - starts[first])
        };
        let longest = (0..starts.len()).map(from).try_fold(0, |most, one| Some(one?.max(most)))?;
        Some(self.deviation.stretch(longest) + self.early + self.late)
    }

    /// The bounds of a stream.
    fn stream(&self, number: StreamIndex) -> StreamBounds {
        let stream = &self.network.streams[number.index()];
        let begin = self.begin(number);
        let reason = self.reason.clone().or_else(|| begin.is_none().then(|| self.promises_nothing(number)));
        let begin = begin.unwrap_or_default();
        let bound = |most: u64| match &reason {
            Some(reason) => Err(reason.clone()),
            None => Ok(Duration::from_ps(most)),
        };
        let method = if reason.is_some() { Method::None } else { Method::Slots };
        let hop = |place: usize| {
            let end = self.to_end_of(stream, place);
            let before =
                stream.hops[place].previous.map(|previous| self.to_end_of(stream, previous as usize));
            let way = match before {
                Some(before) => Range { min: end.min - before.min, max: end.max - before.max },
                None => end.plus(begin),
            };
            HopBounds { delay: bound(way.max), delay_min: Duration::from_ps(way.min), method }
        };
        let listener = |listener: usize| match self.way(stream, listener) {
            Some((_, way)) => {
                let way = way.plus(begin);
                ListenerBounds {
                    delay: bound(way.max),
                    delay_min: Duration::from_ps(way.min),
                    skew: None,
                    application: None,
                }
            }
            None => ListenerBounds {
                delay: Ok(Duration::ZERO),
                delay_min: Duration::ZERO,
                skew: None,
                application: None,
            },
        };
        StreamBounds {
            listeners: (0..stream.listeners.len()).map(listener).collect(),
            hops: (0..stream.hops.len()).map(hop).collect(),
        }
    }

    fn promises_nothing(&self, number: StreamIndex) -> Unbounded {
        let stream = &self.network.streams[number.index()];
        let port = stream.hops.first().map_or(PortIndex(0), |hop| hop.port);
        let of = match stream.traffic {
            Traffic::Response { to, .. } => to,
            _ => number,
        };
        if self.arrivals(of).is_some() {
            let class = stream.hops.first().map(|hop| hop.class).unwrap_or_default();
            return Unbounded::Overload { port, class };
        }
        Unbounded::NoArrivalCurve { stream: of, port }
    }

    /// From where a stream's delay counts to the start of its slot; none if there is no bound.
    fn begin(&self, number: StreamIndex) -> Option<Range> {
        let stream = &self.network.streams[number.index()];
        match stream.traffic {
            Traffic::Synchronisation { .. } => Some(Range::default()),
            Traffic::Response { to, turn_around } => self.response(number, to, turn_around),
            _ => {
                let transmit = self.transmit(stream);
                Some(Range { max: transmit.max.checked_add(self.wait(number)?)?, ..transmit })
            }
        }
    }

    /// From the hand-over of a request to the start of its response's slot.
    fn response(&self, number: StreamIndex, to: StreamIndex, turn_around: Duration) -> Option<Range> {
        let (request, response) = (&self.network.streams[to.index()], &self.network.streams[number.index()]);
        let listener = request.listeners.iter().position(|node| *node == response.talker)?;
        let ready = self.way(request, listener)?.1.plus(self.answer(request, response, turn_around));
        let begin = self.begin(to)?;
        let apart = match self.same_cycle(number, to, ready) {
            Some(apart) => apart,
            None => ready.max.checked_add(self.wait(number)?)?,
        };
        Some(Range { min: begin.min + ready.min, max: begin.max.checked_add(apart)? })
    }

    /// From the slot of a request to that of its response at most, if every request finds a slot for its
    /// response that no other needs; the slots' own places then say how far they are apart.
    fn same_cycle(&self, number: StreamIndex, to: StreamIndex, ready: Range) -> Option<u64> {
        let response = &self.network.streams[number.index()];
        let alone = self.network.streams.iter().enumerate().all(|(other, stream)| {
            other == number.index()
                || stream.talker != response.talker
                || matches!(stream.traffic, Traffic::Synchronisation { .. })
        });
        if !alone || self.lost > 0 {
            return None;
        }
        let requests = self.starts(to, self.cycles);
        let slots = self.starts(number, 2 * self.cycles + self.cycles_of(ready.max) + 1);
        let (mut first, mut before, mut most) = (None, None, 0);
        for request in requests {
            let latest = request + self.deviation.stretch(ready.max) + self.early + self.late;
            let slot = *slots.iter().find(|slot| **slot >= latest)?;
            if before == Some(slot) {
                return None;
            }
            before = Some(slot);
            first = first.or(before);
            most = most.max(slot - request);
        }
        // The first request of the next round finds its slot behind the last one's.
        if before? >= first? + self.cycles * self.tdma.cycle.as_ps() {
            return None;
        }
        Some(self.deviation.stretch(most) + self.early + self.late)
    }

    /// Whole cycles that a span may take, and one more.
    fn cycles_of(&self, span: u64) -> u64 {
        (self.deviation.stretch(span) + self.early + self.late) / self.tdma.cycle.as_ps().max(1) + 1
    }

    /// One frame at a time is at a port; at a station those of its queue are before it.
    fn ports(&self) -> Vec<[ClassBounds; 8]> {
        let mut ports = vec![<[ClassBounds; 8]>::default(); self.network.ports.len()];
        for stream in &self.network.streams {
            for hop in &stream.hops {
                let class = &mut ports[hop.port.index()][hop.class.index()];
                class.used = true;
                let bits: Bits = frame_length(stream.payload_max, hop.tagged).bits();
                let most = class.backlog.map_or(bits, |known| known.max(bits));
                class.backlog = self.reason.is_none().then_some(most);
            }
        }
        ports
    }
}

fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    (a / x.max(1)).saturating_mul(b)
}
