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
//! A synchronous message waits for the trigger message that polls it (`synchronous.rs`) and is through its first switch when
//! the synchronous window ends; further switches schedule it into windows of their own (`relayed.rs`); the description is
//! refused if what a window takes is not through when it ends. A policed stream comes no closer behind its
//! policer than that lets it, whatever its talker sends.
//!
//! Invariants: nothing is assumed of the phases of ECs, periods and sources; all clocks are wrong by their tolerance.
//! What the background server carries has no bound. Not here: equation 3 (`tautwire-admission`), which reckons without
//! drift, jitter and phases.

mod admission;
mod arrivals;
mod overflows;
mod port;
mod relayed;
mod synchronous;

use tautwire_core::harts::Violator;
use tautwire_model::Network;
use tautwire_model::harts::polled::Police;
use tautwire_model::network::{
    Mechanism, NodeKind, StagePosition, Stream, StreamIndex, TimelineAction, Traffic,
};
use tautwire_model::{frame_length, wire_bits};
use tautwire_units::{Bytes, Duration};

pub(crate) use self::admission::bounds as admission_bounds;

use self::arrivals::Arrivals;
use self::port::Port;
use self::relayed::Schedule;
use crate::clock::{Deviation, PS_PER_S, slack_ps};
use crate::delay::{Row, delay_max, delay_min};
use crate::host;
use crate::result::{Bounds, ClassBounds, HopBounds, ListenerBounds, Method, StreamBounds, Unbounded};

/// Most frames of a busy period that are looked at.
const FRAMES_MAX: u64 = 10_000;
/// Bits of the wire of the shortest frame.
const SHORTEST: u128 = 84 * 8;

/// What is known of a stream's frames at the end of a hop.
struct End {
    /// From the application to the last bit, at most.
    most: Result<u64, Unbounded>,
    /// At least.
    least: u64,
    /// Who policed them, and how long that was ago.
    behind: Option<(Police, Range)>,
}

/// The network and its worst clock.
struct Analysis<'network> {
    network: &'network Network,
    deviation: Deviation,
    slack: u64,
    /// When schedules take synchronous messages.
    schedule: Schedule,
    /// Per node: the longest that a frame takes through a host.
    slowest: Vec<u64>,
}

/// Least and greatest time, picoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Range {
    min: u64,
    max: u64,
}

/// The bounds of a network with HaRTES.
pub(crate) fn bounds(network: &Network) -> Bounds {
    let worst = network.nodes.iter().map(|node| &node.clock).max_by_key(|clock| clock.tolerance_ppb);
    let slack = network.nodes.iter().map(|node| slack_ps(&node.clock)).max().unwrap_or(0);
    let deviation = worst.map(Deviation::of).unwrap_or_default();
    let slowest = host::slowest(network);
    let mut analysis = Analysis { network, deviation, slack, schedule: Schedule::default(), slowest };
    analysis.schedule = analysis.schedule();
    let streams: Vec<_> =
        (0..network.streams.len()).map(|number| analysis.stream(StreamIndex::at(number))).collect();
    let overflows = analysis.overflows(&streams);
    Bounds { streams, ports: analysis.ports(), overflows }
}

impl Analysis<'_> {
    fn stream(&self, number: StreamIndex) -> StreamBounds {
        let stream = &self.network.streams[number.index()];
        let mut ends: Vec<End> = Vec::with_capacity(stream.hops.len());
        let mut hops = Vec::with_capacity(stream.hops.len());
        for (place, hop) in stream.hops.iter().enumerate() {
            let (rest, end) = match hop.previous {
                None => self.first_hop(number, place),
                Some(previous) => self.hop(number, place, &ends[previous as usize]),
            };
            let method = if rest.is_ok() { Method::Servers } else { Method::None };
            let least = end.least - hop.previous.map_or(0, |previous| ends[previous as usize].least);
            // What came later to its first switch waits less there for the synchronous window.
            let is_polled = hop.previous == Some(0) && self.is_synchronous(number, place);
            let least = if is_polled { least.min(self.passage_min(stream, place)) } else { least };
            let reached = hop.previous.is_none_or(|previous| ends[previous as usize].most.is_ok());
            let delay = match (&end.most, rest) {
                (Err(reason), _) if !reached => Err(reason.clone()),
                (_, rest) => rest.map(Duration::from_ps),
            };
            hops.push(HopBounds { delay, delay_min: Duration::from_ps(least), method });
            ends.push(end);
        }
        let listener = |listener: usize| {
            let place =
                stream.hops.iter().position(|hop| hop.listener.is_some_and(|one| one as usize == listener));
            let (delay, least) =
                place.map_or((Ok(0), 0), |place| (ends[place].most.clone(), ends[place].least));
            ListenerBounds {
                delay: delay.map(Duration::from_ps),
                delay_min: Duration::from_ps(least),
                skew: None,
                application: None,
            }
        };
        let listeners = (0..stream.listeners.len()).map(listener).collect();
        let mut bounds = StreamBounds { listeners, hops };
        bounds.add_receptions(self.network, stream);
        bounds
    }

    /// Greatest time from the application to the last bit at the next node; that of the hop, and what is known there.
    fn first_hop(&self, number: StreamIndex, place: usize) -> (Result<u64, Unbounded>, End) {
        let stream = &self.network.streams[number.index()];
        let hop = &stream.hops[place];
        let line = self.line(stream, place);
        let harts = self.network.harts.as_ref().expect("a network with HaRTES");
        if harts.ftt.is_trigger(number, hop.port) {
            // Nothing else is under way when the cycle begins.
            let links = self.network.ports[hop.port.index()].links.expect("a hop's port has a cable");
            let rate = self.network.links[links.egress.index()].rate;
            let frame = rate.duration_ceil(Bytes::new(wire_octets(stream, hop.tagged)).bits()).as_ps();
            let most = self.late(frame).saturating_add(line.max);
            return (Ok(most), End { most: Ok(most), least: line.min, behind: None });
        }
        let transmit = self.transmit(stream);
        let least = transmit.min + line.min;
        // A synchronous message waits for the cycle that polls it, and is decoded before the synchronous window begins.
        let waits = match harts.ftt.polled(number) {
            None => Ok(0),
            Some(polled) => self
                .schedule
                .response(number, polled.switch)
                .map(|cycles| {
                    self.late((cycles - 1).saturating_mul(harts.cycle.as_ps()) + harts.synchronous.as_ps())
                })
                .ok_or(Unbounded::Unpolled { port: hop.port }),
        };
        let most = waits.and_then(|waits| {
            let busy = self.talker_port(stream, place)?;
            Ok(waits.saturating_add(transmit.max).saturating_add(busy).saturating_add(line.max))
        });
        (most.clone(), End { most, least, behind: None })
    }

    /// Greatest time from the last bit at this node to that at the next, and what is known there.
    fn hop(&self, number: StreamIndex, place: usize, before: &End) -> (Result<u64, Unbounded>, End) {
        let stream = &self.network.streams[number.index()];
        let hop = &stream.hops[place];
        let line = self.line(stream, place);
        let (stages, queues) = self.stages(stream, place);
        let least = before.least + stages.min + line.min;
        if let Some(found) = self.synchronous_hop(number, place, before) {
            return found;
        }
        let fault = |reason: Unbounded| (Err(reason.clone()), End { most: Err(reason), least, behind: None });
        let reached = match &before.most {
            Err(reason) => return fault(reason.clone()),
            Ok(_) if queues => return fault(Unbounded::StageTooSlow { port: hop.port }),
            Ok(reached) => *reached,
        };
        let police = self.police(number).filter(|_| hop.previous == Some(0));
        let jitter = reached.saturating_sub(before.least);
        let come = self.releases(number).or_else(|| self.arrivals(number));
        let come = come.map(|arrivals| arrivals.with_jitter(jitter));
        let held = police.map_or(0, |police| self.held(&police, come));
        // Behind the policer, frames are as far apart as it lets them be.
        let behind = match police {
            Some(police) => Some((police, Range::default())),
            None => before.behind,
        };
        let shaken = held.saturating_add(stages.max - stages.min);
        let own = come.map(|arrivals| arrivals.with_jitter(shaken));
        let policed = behind.map(|(police, since)| Arrivals::Periodic {
            interval: self.deviation.shrink(police.distance.as_ps()).max(1),
            jitter: since.max - since.min + (stages.max - stages.min) + self.slack + 2,
            burst: 1,
            extra: 0,
        });
        let served: Vec<Result<u64, Unbounded>> =
            own.into_iter().chain(policed).map(|arrivals| self.server(number, place, arrivals)).collect();
        let best = served.iter().filter_map(|one| one.as_ref().ok()).min().copied();
        let reason = served.into_iter().find_map(Result::err);
        let Some(best) = best else {
            return fault(reason.unwrap_or(Unbounded::NoArrivalCurve { stream: number, port: hop.port }));
        };
        let rest = held.saturating_add(stages.max).saturating_add(best).saturating_add(line.max);
        let behind = behind.map(|(police, since)| {
            let max = since.max.saturating_add(rest - held);
            (police, Range { min: since.min + stages.min + line.min, max })
        });
        (Ok(rest), End { most: Ok(reached.saturating_add(rest)), least, behind })
    }

    fn is_synchronous(&self, number: StreamIndex, place: usize) -> bool {
        let hop = &self.network.streams[number.index()].hops[place];
        let switch = self.network.ports[hop.port.index()].node;
        self.network.harts.as_ref().is_some_and(|harts| harts.ftt.is_synchronous_at(number, switch))
    }

    /// Stages and line alone.
    fn passage_min(&self, stream: &Stream, place: usize) -> u64 {
        self.stages(stream, place).0.min + self.line(stream, place).min
    }

    /// A synchronous message at a switch that schedules it: it is through when a synchronous window ends. The hop's bound, and
    /// what is known at its end; none of other streams, and at other switches.
    fn synchronous_hop(
        &self,
        number: StreamIndex,
        place: usize,
        before: &End,
    ) -> Option<(Result<u64, Unbounded>, End)> {
        let stream = &self.network.streams[number.index()];
        let harts = self.network.harts.as_ref()?;
        let hop = &stream.hops[place];
        let switch = self.network.ports[hop.port.index()].node;
        if !self.is_synchronous(number, place) {
            return None;
        }
        let (stages, queues) = self.stages(stream, place);
        let line = self.line(stream, place);
        let is_first = harts.ftt.relayed(number, switch).is_none();
        let fault = |reason: Unbounded| {
            let least = before.least + stages.min + line.min;
            Some((Err(reason.clone()), End { most: Err(reason), least, behind: None }))
        };
        let reached = match &before.most {
            Err(reason) => return fault(reason.clone()),
            Ok(_) if queues && !is_first => return fault(Unbounded::StageTooSlow { port: hop.port }),
            Ok(reached) => *reached,
        };
        let left = self.left(number, place, &self.schedule);
        let response = self.schedule.response(number, switch);
        let (Some(left), Some(response)) = (left, response) else {
            return fault(Unbounded::Unpolled { port: hop.port });
        };
        let open = harts.open.as_ps();
        let rest = if is_first {
            self.late(open).saturating_add(line.max)
        } else {
            let cycles = response.saturating_mul(harts.cycle.as_ps());
            stages.max.saturating_add(self.late(cycles.saturating_add(open))).saturating_add(line.max)
        };
        let most = left.max.min(reached.saturating_add(rest));
        // Not before the window begins, nor before it came: over a slow line it may come behind that.
        let least = left.min.max(before.least + stages.min + line.min);
        Some((Ok(rest), End { most: Ok(most), least, behind: None }))
    }

    /// A span of a node's clock, in true time at most.
    fn late(&self, span: u64) -> u64 {
        self.deviation.stretch(span).saturating_add(self.slack + 2)
    }

    fn police(&self, number: StreamIndex) -> Option<Police> {
        let harts = self.network.harts.as_ref()?;
        harts.reservations.iter().find(|reservation| reservation.stream == number)?.police
    }

    /// How long a policer holds a frame back at most.
    fn held(&self, police: &Police, come: Option<Arrivals>) -> u64 {
        if police.violator == Violator::Discard {
            return 0;
        }
        let distance = self.deviation.stretch(police.distance.as_ps()).saturating_add(self.slack + 2);
        let full = distance.saturating_mul(u64::from(police.pool));
        let Some((come, repeats)) = come.and_then(|come| Some((come, come.repeats(distance, 1)?))) else {
            return full;
        };
        if repeats >= FRAMES_MAX {
            return full;
        }
        let early = |frames: u64| (frames - 1).saturating_mul(distance).saturating_sub(come.distance(frames));
        (1..=FRAMES_MAX.min(repeats + FRAMES_MAX / 2)).map(early).max().unwrap_or(0).min(full)
    }

    /// How messages of a synchronous stream are released; none of others.
    fn releases(&self, number: StreamIndex) -> Option<Arrivals> {
        let harts = self.network.harts.as_ref()?;
        let polled = harts.ftt.polled(number)?;
        let period = harts.cycle.as_ps().saturating_mul(u64::from(polled.config.period));
        let interval = self.deviation.shrink(period).max(1);
        Some(Arrivals::Periodic { interval, jitter: self.slack + 2, burst: 1, extra: 0 })
    }

    /// From the queue of a server to the last bit of the frame out of the port.
    fn server(&self, number: StreamIndex, place: usize, arrivals: Arrivals) -> Result<u64, Unbounded> {
        let hop = &self.network.streams[number.index()].hops[place];
        let port =
            Port::of(self.network, hop.port, self.slack).ok_or(Unbounded::NoServer { port: hop.port })?;
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
        let line = |octets: u64| {
            self.deviation.stretch(rate.duration_ceil(Bytes::new(octets).bits()).as_ps()) + self.slack + 1
        };
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
                let frames = u64::try_from(bits.div_ceil(SHORTEST)).unwrap_or(u64::MAX);
                let time = self.deviation.stretch(u64::try_from(time).unwrap_or(u64::MAX));
                time.saturating_add(frames.saturating_mul(self.slack))
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
        // The port reads its clock when it begins, and is told the end by it.
        let least = self.deviation.shrink(whole.as_ps()).saturating_sub(self.slack);
        let mut line = Range {
            min: (least + cable + link.phy_delay.min.as_ps()).saturating_sub(2),
            max: cable + link.phy_delay.max.as_ps() + 2,
        };
        if let Some(device) = self.network.device(port.node) {
            let row = Row::of_transmission(&device.stages);
            line.min += row.latency_min(frame_length(stream.payload_min, hop.tagged));
            line.max += row.latency_max(frame_length(stream.payload_max, hop.tagged) + tautwire_model::TAG);
            if !row.is_empty() {
                // The line behind the stages is told by the clock once more, for the frame and the one before it.
                line.max += 3 * self.slack;
            }
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

    /// From the application to the port's queue; frames of protocols are made at the interface.
    fn transmit(&self, stream: &Stream) -> Range {
        if stream.traffic == Traffic::Protocol {
            return Range::default();
        }
        let NodeKind::EndStation { host } = &self.network.nodes[stream.talker.index()].kind else {
            return Range::default();
        };
        let host = &self.network.hosts[host.index()];
        let octets = |payload| frame_length(payload, stream.tagged);
        Range {
            min: delay_min(&host.transmit, octets(stream.payload_min)),
            max: delay_max(&host.transmit, octets(stream.payload_max))
                .max(self.slowest[stream.talker.index()]),
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
            Traffic::Polled => {
                let harts = self.network.harts.as_ref()?;
                let start = harts.synchronous.as_ps();
                Some(match self.schedule.response(number, harts.ftt.polled(number)?.switch) {
                    Some(cycles) => {
                        let waits = (cycles - 1).saturating_mul(harts.cycle.as_ps()) + start;
                        self.releases(number)?.with_jitter(self.late(waits).saturating_add(spread))
                    }
                    // Whenever it is polled, it is once in a cycle.
                    None => Arrivals::Periodic {
                        interval: self.deviation.shrink(harts.cycle.as_ps()).max(1),
                        jitter: self.late(start).saturating_add(spread),
                        burst: 1,
                        extra: 0,
                    },
                })
            }
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
