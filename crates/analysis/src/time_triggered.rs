//! Time-triggered virtual links (SAE AS6802): their own times, which the schedule fixes, and the time that
//! they take from all other traffic of a port.
//!
//! *A link.* A frame waits for its talker's dispatch point: up to a period if its application runs by its own
//! clock, or what the schedule says if that follows network time. From there the points say when it is where:
//! `offset(hop) − offset(talker)`, by two clocks that differ by at most the precision. It begins at its
//! point, or later by what the integration costs: the frame under way (shuffling), a correction that brings
//! the point nearer (timely block), the octet under way and a gap (preemption). That no two links meet, and
//! that every frame is there before its point, is the description's to show. Of k links of which each answers
//! the one before, every one waits for a point of its own: the bound has k such waits.
//!
//! *Other traffic.* Beside one lower frame and what goes before it, a frame of a class waits while the line
//! is not its own: in slots, and before them for as long as one frame of its class or above takes, which may
//! not begin there (timely block) or is cut there and sent again (preemption). [`blocked`] is the most of such
//! time in any window, as an arrival curve: for each of some rates the greatest excess over it, found by one
//! pass over twice the time after which all slots come again. Sources: Zhao, Xiong and Li, timing analysis of
//! rate-constrained traffic in TTEthernet (timely block, shuffling); Boyer et al., network calculus with
//! windows; the pass is that of a leaky bucket.

use tautwire_core::time_triggered::{Integration, Window};
use tautwire_model::network::{
    Network, NodeIndex, NodeKind, PortIndex, Stream, StreamIndex, TimelineAction, Traffic,
};
use tautwire_model::time_triggered::{Release, TimeTriggered, TimeTriggeredLink};
use tautwire_units::{Bytes, Duration};

use crate::clock::{Deviation, PS_PER_S, slack_ps};
use crate::curve::{Curve, Line, MICRO};
use crate::delay::{delay_max, delay_min};
use crate::passage::{Brought, NO_REASON, Passage};
use crate::plan::{Entry, NONE, Plan, index, signed};
use crate::port_plan::PortPlan;
use crate::result::{Method, Unbounded};

/// Most slots of a port until they come again; beyond, every link counts for itself.
const SLOTS_MAX: u128 = 200_000;
/// Rates for which the greatest excess is sought, in parts of what the slots leave.
const RATES: [u64; 11] = [0, 1, 2, 4, 8, 16, 24, 32, 40, 48, 56];
const PARTS: u64 = 64;
/// Octets of a gap, and the one that is being sent when a frame is cut.
const CUT: Bytes = Bytes::new(13);

/// What time-triggered traffic means to a port.
#[derive(Clone, Debug)]
pub(crate) struct TimedPort {
    /// Its class.
    pub(crate) class: usize,
    /// What each lower class cannot use of the line, in bits of it, on the node's clock.
    pub(crate) blocked: [Curve; 8],
    /// Bits of frames that may wait for their points, and the one that is sent.
    pub(crate) backlog: u64,
}

/// A link at a hop: times from the application, true time.
#[derive(Clone, Debug)]
pub(crate) struct TimedEntry {
    ready: (i64, u64),
    next_max: u64,
    hop_max: u64,
    /// From the last bit here to the last bit at the next node, least.
    pub(crate) hop_min: i64,
    reason: Option<Unbounded>,
}

/// Least and greatest of a time.
#[derive(Clone, Copy, Debug)]
struct Range {
    min: i64,
    max: u64,
}

/// What a proven network time wants for.
#[derive(Clone, Copy, Debug)]
enum Without {
    /// Its faults are not contained.
    Contained,
    /// Control frames are not sure to come in time.
    ControlFrames,
}

impl Plan<'_> {
    /// Settles the time-triggered links, and what they mean to their ports.
    pub(crate) fn add_timed(&mut self) {
        let Some(settings) = self.network.time_triggered else { return };
        self.add_timed_ports(true);
        self.timed = vec![None; self.entries.len()];
        let mut waits = vec![None; self.network.streams.len()];
        for stream in 0..self.network.streams.len() {
            self.add_timed_stream(stream, &settings, &mut waits);
        }
        for entry in 0..self.entries.len() {
            self.finish_timed_minima(entry);
        }
    }

    /// Whether a node that works has a proven network time, or needs none.
    fn has_network_time(&self, node: NodeIndex) -> Result<(), Without> {
        let made = self.network.as6802.as_ref();
        let late = |cluster: u16| self.learned.late_clusters.contains(&cluster);
        if !self.network.is_contained_at(node) {
            return Err(Without::Contained);
        }
        if made.is_some_and(|made| late(made.cluster_of[node.index()])) {
            return Err(Without::ControlFrames);
        }
        Ok(())
    }

    /// What the links mean to their ports; without `guarded` nothing is kept idle before slots, a fault.
    pub(crate) fn add_timed_ports(&mut self, guarded: bool) {
        let Some(settings) = self.network.time_triggered else { return };
        for port in 0..self.ports.len() {
            self.timed_port(port, &settings, guarded);
        }
    }

    fn timed_port(&mut self, number: usize, settings: &TimeTriggered, guarded: bool) {
        let network = self.network;
        let at = PortIndex::at(number);
        let Some(class) = network.time_triggered_class(at).map(|class| class.index()) else { return };
        let Some(port) = &self.ports[number] else { return };
        let entries = || self.at_port(index(number)).iter().map(|entry| &self.entries[*entry as usize]);
        let others = || entries().filter(|entry| usize::from(entry.class) != class);
        // The largest frame of a class and those above it, which may keep the line idle before a slot.
        let largest = |least: usize| {
            let control = port.control.filter(|(class, ..)| *class >= least).map_or(0, |(_, _, bits)| bits);
            let above = others().filter(|entry| usize::from(entry.class) >= least);
            above.map(Entry::wire_max).max().unwrap_or(0).max(control)
        };
        let contained = self.has_network_time(network.ports[number].node).is_ok();
        let lateness = lateness_max(port, settings, largest(0));
        let slots = slots(network, at, port);
        let blocked = std::array::from_fn(|least| {
            let wire = largest(least);
            if least >= class || wire == 0 {
                return Curve::zero();
            }
            // When slots are is not known: nothing is sure to be left.
            if !contained {
                return Curve::least_of([Line { burst: 0, rate: port.rate }]);
            }
            let guard = match settings.integration {
                _ if !guarded => 0,
                Integration::Shuffling => 0,
                Integration::TimelyBlock => line_ps(port, wire),
                Integration::Preemption => line_ps(port, wire + CUT.bits().get()),
            };
            blocked(port, &slots, guard, settings.precision.as_ps() + lateness)
        });
        let held = entries().filter(|entry| usize::from(entry.class) == class);
        let backlog = held.clone().map(|entry| entry.frame_max.bits().get()).sum::<u64>()
            + held.map(|entry| entry.frame_max.bits().get()).max().unwrap_or(0);
        if let Some(port) = &mut self.ports[number] {
            port.timed = Some(Box::new(TimedPort { class, blocked, backlog }));
        }
    }

    /// From the application of a stream's talker (of the first one's, in a chain) to its dispatch point.
    fn wait(
        &self,
        number: usize,
        settings: &TimeTriggered,
        waits: &mut [Option<Result<Range, Unbounded>>],
    ) -> Result<Range, Unbounded> {
        if let Some(known) = &waits[number] {
            return known.clone();
        }
        let stream = &self.network.streams[number];
        let link = stream.time_triggered.as_ref().expect("a time-triggered link");
        let talker = &self.network.nodes[stream.talker.index()].clock;
        let slack = slack_ps(talker);
        let deviation = self.worst_clock();
        let entry = &self.entries[self.first_entry[number] as usize];
        let (host_min, host_max) = (entry.queue_min, entry.own_latency.1);
        let precision = settings.precision.as_ps();
        let period = deviation.stretch(link.period.as_ps()) + precision + slack;
        let free = Range { min: host_min, max: host_max + period };
        let wait = match &stream.traffic {
            _ if self.is_held_up(index(number)) => Err(Unbounded::Host { port: PortIndex(entry.port) }),
            Traffic::Response { to, turn_around } => {
                self.heard(to.index(), stream, settings, waits).map(|heard| Range {
                    min: heard.min + signed(deviation.shrink(turn_around.as_ps())) + free.min,
                    max: heard.max + deviation.stretch(turn_around.as_ps()) + free.max,
                })
            }
            Traffic::Periodic { offset, jitter, drawn: false, .. }
                if link.release == Release::Locked && !is_restarted(self.network, number) =>
            {
                let error = precision + slack;
                let latest = offset.as_ps() + jitter.as_ps() + deviation.stretch(host_max) + error;
                let released = offset.as_ps();
                let most = deviation.stretch(point_from(link, latest) - released) + error;
                let earliest = (released + u64::try_from(host_min).unwrap_or(0)).saturating_sub(error);
                let least = point_from(link, earliest).saturating_sub(released + jitter.as_ps() + error);
                Ok(Range { min: host_min.max(signed(deviation.shrink(least))), max: most })
            }
            _ => Ok(free),
        };
        waits[number] = Some(wait.clone());
        wait
    }

    /// From the application of a request to that of its responder, which gets it at the end of its way.
    fn heard(
        &self,
        request: usize,
        response: &Stream,
        settings: &TimeTriggered,
        waits: &mut [Option<Result<Range, Unbounded>>],
    ) -> Result<Range, Unbounded> {
        let stream = &self.network.streams[request];
        let port = response.hops.first().map_or(PortIndex(0), |hop| hop.port);
        let unknown = Unbounded::NoArrivalCurve { stream: StreamIndex::at(request), port };
        let has_stacks = self.network.has_stacks(response.talker);
        let Some(link) = stream.time_triggered.as_ref().filter(|_| !has_stacks) else {
            return self.learned_of(request, response).ok_or(if has_stacks {
                Unbounded::Host { port }
            } else {
                unknown
            });
        };
        if link.points.is_empty() {
            return Err(Unbounded::Unscheduled { port });
        }
        let listener = stream.listeners.iter().position(|node| *node == response.talker);
        let hop = stream
            .hops
            .iter()
            .position(|hop| hop.listener.map(|one| one as usize) == listener && listener.is_some());
        let Some(hop) = hop else { return Err(unknown) };
        let wait = self.wait(request, settings, waits)?;
        let times = self.timed_times(request, hop, link, settings, wait);
        let NodeKind::EndStation { host } = &self.network.nodes[response.talker.index()].kind else {
            return Err(unknown);
        };
        let receive = &self.network.hosts[host.index()].receive;
        let entry = &self.entries[self.first_entry[request] as usize + hop];
        let least = times.ready.0 + sending_min(entry) + signed(delay_min(receive, entry.frame_min));
        Ok(Range { min: least, max: times.next_max + delay_max(receive, entry.frame_max) })
    }

    /// The same as it is known from without: of a request that no schedule fixes, or of a responder with stacks.
    fn learned_of(&self, request: usize, response: &Stream) -> Option<Range> {
        let stream = &self.network.streams[request];
        let listener = stream.listeners.iter().position(|node| *node == response.talker)?;
        let known = self.learned.applications.get(request)?.get(listener)?;
        Some(Range { min: signed(known.min), max: known.max? })
    }

    fn add_timed_stream(
        &mut self,
        number: usize,
        settings: &TimeTriggered,
        waits: &mut [Option<Result<Range, Unbounded>>],
    ) {
        let network = self.network;
        let Some(link) = &network.streams[number].time_triggered else { return };
        let first = self.first_entry[number] as usize;
        let unscheduled = link.points.is_empty();
        let port = PortIndex(self.entries[first].port);
        let without = network.streams[number].hops.iter().find_map(|hop| {
            let links = network.ports[hop.port.index()].links.expect("a hop's port is connected");
            let to = network.ports[network.links[links.egress.index()].to.index()].node;
            let has = |node| self.has_network_time(node);
            has(network.ports[hop.port.index()].node).and_then(|()| has(to)).err()
        });
        let wait = if let Some(without) = without {
            Err(match without {
                Without::Contained => Unbounded::NotContained { port },
                Without::ControlFrames => Unbounded::ControlFramesLate { port },
            })
        } else if unscheduled {
            Err(Unbounded::Unscheduled { port })
        } else {
            self.wait(number, settings, waits)
        };
        let mut discarded: Vec<Option<Unbounded>> = Vec::new();
        for hop in 0..network.streams[number].hops.len() {
            let previous = network.streams[number].hops[hop].previous;
            let before = previous.and_then(|previous| discarded[previous as usize].clone());
            let mut times = match &wait {
                Ok(wait) => self.timed_times(number, hop, link, settings, *wait),
                Err(reason) => TimedEntry {
                    ready: (0, 0),
                    next_max: 0,
                    hop_max: 0,
                    hop_min: 0,
                    reason: Some(reason.clone()),
                },
            };
            let narrow = !unscheduled
                && !self.is_accepted(
                    first + hop,
                    &link.points[hop].window,
                    link.points[hop].offset,
                    settings,
                );
            let port = PortIndex(self.entries[first + hop].port);
            let own = narrow.then_some(Unbounded::MayBeDiscarded { port });
            times.reason = times.reason.or(before).or(own.clone());
            discarded.push(times.reason.clone());
            self.timed[first + hop] = Some(times);
        }
    }

    /// The times of a link at a hop. Entries still hold the least times of their ways alone.
    fn timed_times(
        &self,
        number: usize,
        hop: usize,
        link: &TimeTriggeredLink,
        settings: &TimeTriggered,
        wait: Range,
    ) -> TimedEntry {
        let entry = &self.entries[self.first_entry[number] as usize + hop];
        let clock = |port: u32| &self.network.nodes[self.network.ports[port as usize].node.index()].clock;
        let error = settings.precision.as_ps() + slack_ps(clock(entry.port)) + 2;
        let deviation = self.worst_clock();
        let apart = link.points[hop].offset.as_ps() - link.points[0].offset.as_ps();
        let (mut least, mut most) = (wait.min, wait.max);
        if hop > 0 {
            least += signed(deviation.shrink(apart).saturating_sub(error));
            most += deviation.stretch(apart) + error;
        }
        let sending = self.lateness(entry.port, settings) + entry.transmission_max.1;
        let hop_max = match entry.previous {
            NONE => most + sending,
            previous => {
                let before = &self.entries[previous as usize];
                let place = (previous - self.first_entry[number]) as usize;
                let residence = link.points[hop].offset.as_ps() - link.points[place].offset.as_ps();
                let least = u64::try_from(sending_min(before)).unwrap_or(0);
                (deviation.stretch(residence) + error + sending).saturating_sub(least)
            }
        };
        let hop_min = entry.next_min - entry.here_min;
        TimedEntry { ready: (least, most), next_max: most + sending, hop_max, hop_min, reason: None }
    }

    /// Whether all frames of an entry come within the acceptance window behind it.
    fn is_accepted(&self, entry: usize, window: &Window, offset: Duration, settings: &TimeTriggered) -> bool {
        let entry = &self.entries[entry];
        let period = u128::from(window.period.as_ps());
        let error = u128::from(settings.precision.as_ps()) + 1_000;
        let latest = u128::from(self.lateness(entry.port, settings) + entry.transmission_max.1);
        let earliest = u128::from(u64::try_from(sending_min(entry)).unwrap_or(0));
        let opens = u128::from(window.opens.as_ps()) % period;
        let begin = u128::from(offset.as_ps()) + earliest + period * (error.div_ceil(period)) - error;
        let since = (begin + period - opens) % period;
        since + (latest + error - earliest) + error <= u128::from(window.length.as_ps())
            || window.length >= window.period
    }

    /// How much later than its point a frame may begin at a port.
    fn lateness(&self, port: u32, settings: &TimeTriggered) -> u64 {
        let plan = self.port(port);
        let class = plan.timed.as_ref().map_or(8, |timed| timed.class);
        let others = self.at_port(port).iter().map(|entry| &self.entries[*entry as usize]);
        let others = others.filter(|entry| usize::from(entry.class) != class).map(Entry::wire_max).max();
        let control = plan.control.map_or(0, |(_, _, bits)| bits);
        lateness_max(plan, settings, others.unwrap_or(0).max(control))
    }

    /// By how much spans of network time and true time differ: network time is that of some clocks.
    fn worst_clock(&self) -> Deviation {
        let clocks = self.network.nodes.iter().map(|node| &node.clock);
        clocks.max_by_key(|clock| clock.tolerance_ppb).map_or_else(Deviation::default, Deviation::of)
    }

    /// Sets the least times of the links' entries: their points say more than their ways.
    fn finish_timed_minima(&mut self, number: usize) {
        let Some(Some(timed)) = self.timed.get(number) else { return };
        let before =
            self.entries.get(self.entries[number].previous as usize).map_or(0, |entry| entry.next_min);
        if timed.reason.is_none() {
            let entry = &mut self.entries[number];
            let sending = sending_min(entry);
            entry.here_min = before;
            entry.ready_min = timed.ready.0.max(0);
            entry.next_min = entry.ready_min + sending;
        }
    }
}

impl TimedEntry {
    /// As a passage; `reason` is the number of why there is no bound.
    pub(crate) fn passage(&self, reason: u32) -> Passage {
        let known = |ps: u64| (reason == NO_REASON).then_some(ps);
        Passage {
            ready_max: known(self.ready.1),
            start_max: known(self.next_max),
            next_max: known(self.next_max),
            hop_max: known(self.hop_max),
            sending_max: known(self.next_max.saturating_sub(self.ready.1)),
            queued: Brought::default(),
            shaped: None,
            reason,
            hop_reason: reason,
            method: if reason == NO_REASON { Method::TimeTriggered } else { Method::None },
        }
    }

    pub(crate) fn reason(&self) -> Option<&Unbounded> {
        self.reason.as_ref()
    }
}

/// From the start of transmission to the last bit at the next node, least.
fn sending_min(entry: &Entry) -> i64 {
    entry.next_min - entry.ready_min
}

/// Whether a stream begins anew or changes in the run: then its application keeps no place in the period.
fn is_restarted(network: &Network, number: usize) -> bool {
    network.events.iter().any(|event| match &event.action {
        TimelineAction::StartStream(stream) | TimelineAction::ChangeTraffic(stream, ..) => {
            stream.index() == number
        }
        _ => false,
    })
}

/// The talker's first dispatch point at `network` time or behind it.
pub(crate) fn point_from(link: &TimeTriggeredLink, network: u64) -> u64 {
    let (period, offset) = (link.period.as_ps(), link.points[0].offset.as_ps() % link.period.as_ps());
    offset + network.saturating_sub(offset).div_ceil(period) * period
}

/// How much later than its point a frame may begin, beside other frames of `wire` bits at most.
fn lateness_max(port: &PortPlan, settings: &TimeTriggered, wire: u64) -> u64 {
    let wait = match settings.integration {
        Integration::Shuffling => line_ps(port, wire),
        Integration::TimelyBlock => settings.precision.as_ps(),
        Integration::Preemption => line_ps(port, CUT.bits().get()),
    };
    wait + port.slack + 4
}

/// Time of the line for so many bits, true time, rounded up.
fn line_ps(port: &PortPlan, bits: u64) -> u64 {
    let ps = (u128::from(bits) * PS_PER_S).div_ceil(u128::from(port.rate));
    port.deviation.stretch(u64::try_from(ps).unwrap_or(u64::MAX)) + port.slack
}

/// A slot of a port as other traffic sees it.
#[derive(Clone, Copy, Debug)]
struct Slot {
    period: u64,
    offset: u64,
    length: u64,
}

/// The slots of a port, those of the raster included.
fn slots(network: &Network, at: PortIndex, port: &PortPlan) -> Vec<Slot> {
    let slot = |(stream, hop): (&Stream, usize)| {
        let link = stream.time_triggered.as_ref()?;
        let bits = tautwire_model::wire_bits(stream.payload_max, stream.hops[hop].tagged).get();
        Some(Slot {
            period: link.period.as_ps(),
            offset: link.points.get(hop)?.offset.as_ps() % link.period.as_ps(),
            length: line_ps(port, bits),
        })
    };
    let raster = network.time_triggered.and_then(|settings| settings.raster).map(|raster| Slot {
        period: raster.cycle.as_ps(),
        offset: 0,
        length: port.deviation.stretch(raster.window.as_ps()),
    });
    network.time_triggered_links(at).filter_map(slot).chain(raster).collect()
}

/// The most that slots and what they keep idle before them (`guard`) take of the line in any window, when
/// they may come nearer to one another by `jitter`.
fn blocked(port: &PortPlan, slots: &[Slot], guard: u64, jitter: u64) -> Curve {
    let common = slots.iter().try_fold(1_u128, |all, slot| {
        let period = u128::from(slot.period);
        let lcm = all / gcd(all, period) * period;
        (lcm < u128::from(u64::MAX)).then_some(lcm)
    });
    let count =
        common.map_or(u128::MAX, |common| slots.iter().map(|slot| common / u128::from(slot.period)).sum());
    let lines: Vec<Line> = match common {
        Some(common) if count <= SLOTS_MAX => {
            let common = u64::try_from(common).expect("below 2^64");
            let busy = intervals(slots, guard, common);
            let taken: u64 = busy.iter().map(|(from, to)| to - from).sum();
            // Rounded up: the rate that the slots take in the long run.
            let least = (u128::from(taken) * u128::from(port.rate)).div_ceil(u128::from(common));
            let least = u64::try_from(least).unwrap_or(u64::MAX).min(port.rate);
            let rate = |part: &u64| least + (port.rate - least) / PARTS * part;
            RATES.iter().map(rate).map(|rate| excess(&busy, common, port.rate, rate)).collect()
        }
        _ => vec![slots.iter().fold(Line::default(), |sum, slot| {
            let bits = (u128::from(slot.length + guard) * u128::from(port.rate)).div_ceil(PS_PER_S);
            let rate = (bits * PS_PER_S).div_ceil(u128::from(slot.period));
            sum.and(Line { burst: bits * MICRO, rate: u64::try_from(rate).unwrap_or(u64::MAX) })
        })],
    };
    let late = |line: Line| {
        let rate = port.deviation.fastest(line.rate);
        Line { rate, ..line.after_jitter(rate, jitter + port.slack) }
    };
    Curve::least_of(lines.into_iter().map(late))
}

/// When the line is not free for others within a common period, without overlaps, in order; what begins
/// before its end and lasts beyond it is not cut.
fn intervals(slots: &[Slot], guard: u64, common: u64) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = Vec::new();
    for slot in slots {
        // Shifted by the guard, so that nothing begins below zero.
        let points = (0..common / slot.period).map(|number| slot.offset + number * slot.period);
        all.extend(points.map(|point| (point, point + guard + slot.length)));
    }
    all.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::with_capacity(all.len());
    for (from, to) in all {
        match merged.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => merged.push((from, to)),
        }
    }
    merged
}

/// The greatest excess of what the intervals take of a line over `rate`, over two common periods; `rate` is
/// at least what they take in the long run.
fn excess(busy: &[(u64, u64)], common: u64, line: u64, rate: u64) -> Line {
    let (mut taken, mut end) = (0_i128, 0_u64);
    // Bits times 10¹²: what was taken before an interval, less what the rate earned, at the least.
    let (mut least, mut most) = (i128::MAX, 0_i128);
    for (from, to) in busy.iter().copied().chain(busy.iter().map(|(from, to)| (from + common, to + common))) {
        let from = from.max(end);
        if to <= from {
            continue;
        }
        end = to;
        least = least.min(taken - i128::from(rate) * i128::from(from));
        taken += i128::from(line) * i128::from(to - from);
        most = most.max(taken - i128::from(rate) * i128::from(to) - least);
    }
    let burst = most.unsigned_abs().div_ceil(PS_PER_S / MICRO);
    Line { burst, rate }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000_000;

    fn slot(period: u64, offset: u64, length: u64) -> Slot {
        Slot { period: period * US, offset: offset * US, length: length * US }
    }

    #[test]
    fn idle_time_before_slots_is_theirs_too_and_counted_once() {
        let slots = [slot(100, 10, 5), slot(100, 17, 5), slot(200, 150, 10)];
        let busy = intervals(&slots, 4 * US, 200 * US);
        let us: Vec<(u64, u64)> = busy.iter().map(|(from, to)| (from / US, to / US)).collect();
        assert_eq!(us, [(10, 26), (110, 126), (150, 164)], "nine microseconds each, twice together");
    }

    /// Against every window of whole microseconds over two periods.
    #[test]
    fn no_window_holds_more_than_its_line() {
        let slots = [slot(20, 3, 2), slot(30, 9, 4), slot(60, 17, 1)];
        let line = 1_000_000_000;
        for guard in [0, 3] {
            let busy = intervals(&slots, guard * US, 60 * US);
            let taken: Vec<bool> = (0..180)
                .map(|at| {
                    let inside = |from: u64, to: u64| (from..to).contains(&(at * US));
                    busy.iter().any(|(from, to)| {
                        (0..3).any(|round| inside(from + round * 60 * US, to + round * 60 * US))
                    })
                })
                .collect();
            // What is taken in the long run, of 60 parts of the line: below it no burst holds.
            let least = taken[..60].iter().filter(|taken| **taken).count() as u64 * line / 60;
            for rate in [350_000_000, 600_000_000, 900_000_000].into_iter().filter(|rate| *rate >= least) {
                let found = excess(&busy, 60 * US, line, rate);
                let mut worst = 0;
                for from in 60..120 {
                    let mut bits: i64 = 0;
                    for taken in &taken[from..from + 60] {
                        bits += if *taken { 1_000 } else { 0 } - i64::try_from(rate / US).expect("small");
                        worst = worst.max(bits);
                    }
                }
                let burst = i64::try_from(found.burst / MICRO).expect("small");
                assert!(burst >= worst, "{rate}: {burst} below {worst}");
                assert!(burst <= worst + 1, "{rate}: {burst} far above {worst}");
            }
        }
    }
}
