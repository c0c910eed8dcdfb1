//! A link's own times: the wait for its talker's dispatch point, and the times at the hops after it, which the points determine.
//!
//! In: the schedule, and least times of paths from the plan. Out: per hop its bound in terms, and whether every
//! acceptance window accepts all its frames. Not here: what the slots take from others (`windows.rs`).

use tautwire_core::time_triggered::Window;
use tautwire_model::network::{
    Network, NodeIndex, NodeKind, PortIndex, Stream, StreamIndex, TimelineAction, Traffic,
};
use tautwire_model::time_triggered::{Release, TimeTriggered, TimeTriggeredLink};
use tautwire_units::Duration;

use super::Timed;
use super::reasons::{CONTROL_FRAMES_LATE, NOT_CONTAINED, UNSCHEDULED};
use crate::clock::{Deviation, slack_ps};
use crate::delay::{delay_max, delay_min};
use crate::plan::{Entry, NONE, Plan, index, signed};
use crate::result::Method;
use crate::service::{Carried, Terms};
use crate::unbounded::Unbounded;

/// Least of a time, and what the greatest is made of.
#[derive(Clone, Debug)]
struct Range {
    min: i64,
    max: Terms,
}

/// Times of a link at a hop, true time.
struct Times {
    /// From the application to the point, least.
    ready_min: i64,
    /// From the application to the last bit at the next node, greatest.
    end: u64,
    hop: Terms,
}

/// The reason why network time is not proven.
#[derive(Clone, Copy, Debug)]
pub(super) enum Without {
    /// Its faults are not contained.
    Contained,
    /// Control frames may come too late.
    ControlFrames,
}

/// The ways of all links.
pub(super) struct Ways<'a, 'network> {
    plan: &'a Plan<'network>,
    timed: &'a Timed,
    settings: &'a TimeTriggered,
    /// From the application of a stream's talker (of the first one's, in a chain) to its dispatch point, once it is known.
    waits: Vec<Option<Result<Range, Unbounded>>>,
}

impl<'a, 'network> Ways<'a, 'network> {
    pub(super) fn new(plan: &'a Plan<'network>, timed: &'a Timed) -> Self {
        let waits = vec![None; plan.network.streams.len()];
        Self { plan, timed, settings: &timed.settings, waits }
    }

    fn entry(&self, stream: usize, hop: usize) -> &'a Entry {
        &self.plan.entries[self.plan.first_entry[stream] as usize + hop]
    }

    /// A link hop by hop, by the numbers of its entries; nothing of another stream.
    pub(super) fn carried(&mut self, number: usize) -> Vec<(u32, Carried)> {
        let network = self.plan.network;
        let stream = &network.streams[number];
        let Some(link) = &stream.time_triggered else { return Vec::new() };
        let wait = self.dispatched(number, link);
        let (first, mut ends) = (self.plan.first_entry[number], Vec::<Carried>::new());
        for (hop, described) in stream.hops.iter().enumerate() {
            let entry = self.entry(number, hop);
            let before = described.previous.map(|previous| &ends[previous as usize]);
            let times = wait.as_ref().map(|wait| self.times(number, hop, link, wait));
            let accepted =
                link.points.get(hop).is_none_or(|point| self.is_accepted(entry, &point.window, point.offset));
            let port = PortIndex(entry.port);
            let reason = wait.as_ref().err().cloned();
            let reason = reason.or_else(|| before.and_then(|before| before.end.clone().err()));
            let reason = reason.or((!accepted).then_some(Unbounded::MayBeDiscarded { port }));
            ends.push(match (times, reason) {
                (Ok(times), None) => bounded(entry, times),
                (times, reason) => {
                    let reason = reason.expect("why there are no times");
                    unbounded(entry, times.is_ok(), &reason)
                }
            });
        }
        (first..).zip(ends).collect()
    }

    /// The wait of a link, or why it has none.
    fn dispatched(&mut self, number: usize, link: &TimeTriggeredLink) -> Result<Range, Unbounded> {
        let network = self.plan.network;
        let stream = &network.streams[number];
        let Some(first) = stream.hops.first() else {
            return Err(UNSCHEDULED.at(PortIndex(0)));
        };
        let without = stream.hops.iter().find_map(|hop| {
            let links = network.ports[hop.port.index()].links.expect("a hop's port is connected");
            let to = network.ports[network.links[links.egress.index()].to.index()].node;
            let has = |node| has_network_time(self.plan, node);
            has(network.ports[hop.port.index()].node).and_then(|()| has(to)).err()
        });
        match without {
            Some(Without::Contained) => Err(NOT_CONTAINED.at(first.port)),
            Some(Without::ControlFrames) => Err(CONTROL_FRAMES_LATE.at(first.port)),
            None if link.points.is_empty() => Err(UNSCHEDULED.at(first.port)),
            None => self.wait(number),
        }
    }

    /// From the application of a stream's talker (of the first one's, in a chain) to its dispatch point.
    fn wait(&mut self, number: usize) -> Result<Range, Unbounded> {
        if let Some(known) = &self.waits[number] {
            return known.clone();
        }
        let stream = &self.plan.network.streams[number];
        let link = stream.time_triggered.as_ref().expect("a time-triggered link");
        let slack = slack_ps(&self.plan.network.nodes[stream.talker.index()].clock);
        let deviation = self.worst_clock();
        let entry = self.entry(number, 0);
        let (host_min, host_max) = (entry.queue_min, entry.own_latency.1);
        let precision = self.settings.precision.as_ps();
        let period = deviation.stretch(link.period.as_ps()) + precision + slack;
        let free = Terms::of("host", host_max).and("wait for its dispatch point", period);
        let wait = match &stream.traffic {
            _ if self.plan.is_held_up(index(number)) => Err(Unbounded::Host { port: PortIndex(entry.port) }),
            Traffic::Response { to, turn_around } => self.heard(to.index(), stream).map(|heard| {
                let turn = turn_around.as_ps();
                let asked = heard.max.total().saturating_add(deviation.stretch(turn));
                Range {
                    min: heard.min + signed(deviation.shrink(turn)) + host_min,
                    max: Terms::of("request and turn-around", asked).then(&free),
                }
            }),
            Traffic::Periodic { offset, jitter, drawn: false, .. }
                if link.release == Release::Locked && !is_restarted(self.plan.network, number) =>
            {
                let error = precision + slack;
                let latest = offset.as_ps() + jitter.as_ps() + deviation.stretch(host_max) + error;
                let released = offset.as_ps();
                let most = deviation.stretch(point_from(link, latest) - released) + error;
                let earliest = (released + u64::try_from(host_min).unwrap_or(0)).saturating_sub(error);
                let least = point_from(link, earliest).saturating_sub(released + jitter.as_ps() + error);
                let max = Terms::of("host and wait for its dispatch point", most);
                Ok(Range { min: host_min.max(signed(deviation.shrink(least))), max })
            }
            _ => Ok(Range { min: host_min, max: free }),
        };
        self.waits[number] = Some(wait.clone());
        wait
    }

    /// From the application of a request to that of its responder, which gets it at the end of its way.
    fn heard(&mut self, request: usize, response: &Stream) -> Result<Range, Unbounded> {
        let network = self.plan.network;
        let stream = &network.streams[request];
        let port = response.hops.first().map_or(PortIndex(0), |hop| hop.port);
        let unknown = Unbounded::NoArrivalCurve { stream: StreamIndex::at(request), port };
        let has_stacks = network.has_stacks(response.talker);
        let Some(link) = stream.time_triggered.as_ref().filter(|_| !has_stacks) else {
            let known = self.learned_of(request, response);
            return known.ok_or(if has_stacks { Unbounded::Host { port } } else { unknown });
        };
        if link.points.is_empty() {
            return Err(UNSCHEDULED.at(port));
        }
        let listener = stream.listeners.iter().position(|node| *node == response.talker);
        let hop = stream
            .hops
            .iter()
            .position(|hop| hop.listener.map(|one| one as usize) == listener && listener.is_some());
        let Some(hop) = hop else { return Err(unknown) };
        let wait = self.wait(request)?;
        let times = self.times(request, hop, link, &wait);
        let NodeKind::EndStation { host } = &network.nodes[response.talker.index()].kind else {
            return Err(unknown);
        };
        let receive = &network.hosts[host.index()].receive;
        let entry = self.entry(request, hop);
        let min = times.ready_min + sending_min(entry) + signed(delay_min(receive, entry.frame_min));
        Ok(Range { min, max: Terms::of("request", times.end + delay_max(receive, entry.frame_max)) })
    }

    /// The same as it is known from without: of a request that no schedule fixes, or of a responder with stacks.
    fn learned_of(&self, request: usize, response: &Stream) -> Option<Range> {
        let stream = &self.plan.network.streams[request];
        let listener = stream.listeners.iter().position(|node| *node == response.talker)?;
        let known = self.plan.learned.applications.get(request)?.get(listener)?;
        Some(Range { min: signed(known.min), max: Terms::of("request", known.max?) })
    }

    /// The times of a link at a hop.
    fn times(&self, number: usize, hop: usize, link: &TimeTriggeredLink, wait: &Range) -> Times {
        let (network, entry) = (self.plan.network, self.entry(number, hop));
        let clock = &network.nodes[network.ports[entry.port as usize].node.index()].clock;
        let error = self.settings.precision.as_ps() + slack_ps(clock) + 2;
        let deviation = self.worst_clock();
        let apart = link.points[hop].offset.as_ps() - link.points[0].offset.as_ps();
        // From the talker's first point to the one here.
        let (mut apart_min, mut apart_max) = (0, 0);
        if hop > 0 {
            apart_min = signed(deviation.shrink(apart).saturating_sub(error));
            apart_max = deviation.stretch(apart) + error;
        }
        let (lateness, sent) = (self.timed.lateness(self.plan, entry.port), entry.transmission_max.1);
        let waits = match entry.previous {
            NONE => wait.max.clone().and("distance of its points", apart_max),
            previous => {
                let before = &self.plan.entries[previous as usize];
                let place = (previous - self.plan.first_entry[number]) as usize;
                let residence = link.points[hop].offset.as_ps() - link.points[place].offset.as_ps();
                let least = u64::try_from(sending_min(before)).unwrap_or(0);
                // Its last bit comes so long after the point before, at least.
                let waits = (deviation.stretch(residence) + error).saturating_sub(least);
                Terms::of("from its last bit to its point", waits)
            }
        };
        let hop = waits.and("other traffic, and precision", lateness).and("transmission and cable", sent);
        let end = wait.max.total() + apart_max + lateness + sent;
        Times { ready_min: wait.min + apart_min, end, hop }
    }

    /// Whether all frames of an entry come within the acceptance window behind it.
    fn is_accepted(&self, entry: &Entry, window: &Window, offset: Duration) -> bool {
        let period = u128::from(window.period.as_ps());
        let error = u128::from(self.settings.precision.as_ps()) + 1_000;
        let latest = u128::from(self.timed.lateness(self.plan, entry.port) + entry.transmission_max.1);
        let earliest = u128::from(u64::try_from(sending_min(entry)).unwrap_or(0));
        let opens = u128::from(window.opens.as_ps()) % period;
        let begin = u128::from(offset.as_ps()) + earliest + period * (error.div_ceil(period)) - error;
        let since = (begin + period - opens) % period;
        since + (latest + error - earliest) + error <= u128::from(window.length.as_ps())
            || window.length >= window.period
    }

    /// By how much spans of network time and true time differ: network time is that of some clocks.
    fn worst_clock(&self) -> Deviation {
        let clocks = self.plan.network.nodes.iter().map(|node| &node.clock);
        clocks.max_by_key(|clock| clock.tolerance_ppb).map_or_else(Deviation::default, Deviation::of)
    }
}

/// An entry with its times: the points give greater least times than its path.
fn bounded(entry: &Entry, times: Times) -> Carried {
    Carried {
        hop_min: passage_min(entry),
        end_min: u64::try_from(times.ready_min.max(0) + sending_min(entry)).unwrap_or(0),
        hop: Ok(times.hop),
        end: Ok(times.end),
        method: Method::Carried("time-triggered"),
    }
}

/// An entry without; `is_timed` if its points are known, though.
fn unbounded(entry: &Entry, is_timed: bool, reason: &Unbounded) -> Carried {
    Carried {
        hop_min: if is_timed { passage_min(entry) } else { 0 },
        end_min: u64::try_from(entry.next_min).unwrap_or(0),
        hop: Err(reason.clone()),
        end: Err(reason.clone()),
        method: Method::None,
    }
}

/// From the last bit here to the last bit at the next node, least.
fn passage_min(entry: &Entry) -> u64 {
    u64::try_from(entry.next_min - entry.here_min).unwrap_or(0)
}

/// From the start of transmission to the last bit at the next node, least.
fn sending_min(entry: &Entry) -> i64 {
    entry.next_min - entry.ready_min
}

/// Whether a node that works has a proven network time, or needs none.
pub(super) fn has_network_time(plan: &Plan<'_>, node: NodeIndex) -> Result<(), Without> {
    let made = plan.network.as6802.as_ref();
    let late = |cluster: u16| plan.learned.doubted.contains(&cluster);
    if !plan.network.is_contained_at(node) {
        return Err(Without::Contained);
    }
    if made.is_some_and(|made| late(made.cluster_of[node.index()])) {
        return Err(Without::ControlFrames);
    }
    Ok(())
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
pub(super) fn point_from(link: &TimeTriggeredLink, network: u64) -> u64 {
    let (period, offset) = (link.period.as_ps(), link.points[0].offset.as_ps() % link.period.as_ps());
    offset + network.saturating_sub(offset).div_ceil(period) * period
}
