//! Bounds of a network in which every talker sends in slots of a TDMA cycle (RTnet).
//!
//! A frame's delay is the wait for a slot of its station, with the frames that wait before it, and its path. The wait
//! holds for any send instant: between two slots of a station at most their greatest distance passes, by the true
//! length of the cycle and with the error of a slot's start on either side (travel of the synchronisation frame beyond
//! its least, drift of the clocks over a cycle, steps of their readings). The path has no queueing if at no port the
//! times overlap in which frames of different slots may be there: that is checked for all ports and all cycles until
//! the slots repeat. By induction over the first frame that would wait for another none does, so the times hold (with
//! `T_switch^wait = 0`, equation 2 of the published evaluation of RTnet). Where the times overlap nothing is proven.
//!
//! A response's time counts from the request's hand-over (equations 3 and 4 there, with the middle case corrected):
//! wait and slot of the request, from there to the first slot of the responder that begins after the response is
//! certainly ready, and the response's path. Invariant: a failing master costs a station its slots of one cycle that
//! may begin before it has received the standby's frame, one at least.

mod arrivals;
mod demand;
mod failures;
mod meeting;
mod overflows;
mod reasons;
mod round_trip;
mod service;
mod stacks;
mod takeover;
mod wait;
mod way;

use tautwire_model::Network;
use tautwire_model::frame_length;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex, TimelineAction, Traffic};
use tautwire_model::tdma::{OwnedSlot, Tdma};
use tautwire_units::{Bits, Bytes, Duration};

pub use self::demand::{AnswerDemand, SlotDemand, StreamDemand, slot_demand};
pub use self::overflows::LIFETIME;
use self::reasons::SYNCHRONISATION_LOST;
pub use self::service::CYCLES;
pub(crate) use self::service::Slots;
use self::stacks::Stacks;
pub use self::takeover::{CostRule, Failure, FailureCost, FailureCosts, Takeover, failure_costs, takeover};
use crate::answers::Learned;
use crate::clock::{Deviation, slack_ps};
#[cfg(feature = "planted-faults")]
use crate::fault::PlantedFault;
use crate::host_stacks;
use crate::result::{ClassBounds, Method};
use crate::service::{Carried, Terms};
use crate::timeline::Timeline;
use crate::unbounded::Unbounded;

/// The payload of the shortest frame.
const PAYLOAD_MIN: Bytes = Bytes::new(46);
/// Most cycles until the slots repeat.
const CYCLES_MAX: u64 = 1_000;

/// Values of the network.
#[derive(Debug)]
struct Cycle<'network> {
    network: &'network Network,
    tdma: &'network Tdma,
    /// Cycles until the slots repeat.
    cycles: u64,
    deviation: Deviation,
    /// What one timed step may come early or late by the step of a clock's readings.
    grain: u64,
    /// The difference of two clocks after a cycle and a watch.
    drift: u64,
    /// By how much a slot may begin too early, and too late.
    early: u64,
    late: u64,
    /// Cycles of which a failing master, or a node that comes back, may cost the slots before the standby's frame, or all.
    lost: u64,
    /// How many of them a station may lose completely.
    lost_entirely: u64,
    /// From the start of a cycle that the standby opens until all have received its opening, at most.
    taken_over: u64,
    /// Cycles in a row that a standby may open simultaneously with the master; zero if it opens none.
    doubled: u32,
    /// How long a frame waits at most whatever fails, if something does that costs any number of slots.
    lifetime: Option<u64>,
    /// Why nothing holds, if so.
    reason: Option<Unbounded>,
    /// Waits of streams that others answer, taken as known; none: without end.
    waits: Vec<Option<u64>>,
    /// Times through the stacks of hosts, if any has such.
    stacks: Stacks,
    /// Per node: the longest that a frame takes through a host without stacks.
    slowest: Vec<u64>,
    #[cfg(feature = "planted-faults")]
    fault: Option<PlantedFault>,
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
            grain: slack,
            drift: 0,
            early: 0,
            late: 0,
            lost: 0,
            lost_entirely: 0,
            taken_over: 0,
            doubled: 0,
            lifetime: None,
            reason: None,
            waits: Vec::new(),
            stacks: Stacks::default(),
            slowest: host_stacks::slowest(network),
            #[cfg(feature = "planted-faults")]
            fault: None,
        };
        if (0..network.nodes.len()).any(|node| network.has_stacks(NodeIndex::at(node))) {
            cycle.stacks.sending = host_stacks::sending(network, &Timeline::of(network), &Learned::default());
        }
        cycle.reason = cycle.what_fails();
        // Both clocks, the sender's and the listener's, over a cycle and the watch of a standby; a standby that misses
        // the master's frames is not corrected meanwhile.
        let span = (2 + u64::from(cycle.doubled)) * tdma.cycle.as_ps();
        let drift = 2 * (deviation.stretch(span) - span) + 2 * slack + 2;
        cycle.drift = drift;
        let (early, late) = cycle.travel_errors(tdma.synchronisation);
        (cycle.early, cycle.late) = (early + drift, late + drift);
        if let Some(standby) = tdma.standby.filter(|_| cycle.lost > 0 || cycle.doubled > 0) {
            // The standby counts by its own clock, and the others from its frames.
            let (early, late) = cycle.travel_errors(standby.synchronisation);
            (cycle.early, cycle.late) = (cycle.early + early + drift, cycle.late + late + drift);
        }
        if let Some(standby) = tdma.standby {
            let frames = &network.streams[standby.synchronisation.index()];
            let ways = (0..frames.listeners.len()).filter_map(|listener| cycle.way(frames, listener));
            let way = ways.map(|(_, way)| way.max).max().unwrap_or(0);
            cycle.taken_over = standby.offset.as_ps() + way + cycle.early + cycle.late;
        }
        cycle.reason = cycle.reason.take().or_else(|| cycle.unheard()).or_else(|| cycle.meeting());
        cycle
    }

    /// By how much stations may assume the start of a cycle too early, and too late, when they receive these frames.
    fn travel_errors(&self, synchronisation: StreamIndex) -> (u64, u64) {
        let stream = &self.network.streams[synchronisation.index()];
        let master = self.network.streams[self.tdma.synchronisation.index()].talker;
        let error = |listener: usize| {
            let way = self.way(stream, listener)?.1;
            if self.tdma.start_up.is_some() && stream.listeners[listener] == master {
                // The master measures no travel; if it comes back it follows the standby all the same.
                let back = |event: &tautwire_model::network::TimelineEvent| {
                    event.action == TimelineAction::StartNode(master)
                };
                return Some((0, if self.network.events.iter().any(back) { way.max } else { 0 }));
            }
            if self.tdma.start_up.as_ref().is_some_and(|start_up| start_up.calibrations == 0) {
                return Some((0, way.max));
            }
            if self.tdma.start_up.is_some() {
                // Calibration measures half of the shortest frame's round trip, with clocks that drift over the cycles
                // between and are read in steps.
                let span = self.cycles * self.tdma.cycle.as_ps();
                let drift = 2 * (self.deviation.stretch(span) - span) + 2 * self.grain + 2;
                let mut shortest = stream.clone();
                (shortest.payload_min, shortest.payload_max) = (PAYLOAD_MIN, PAYLOAD_MIN);
                let found = self.way(&shortest, listener)?.1;
                let early = found.max.saturating_sub(way.min) + drift;
                return Some((early, way.max.saturating_sub(found.min) + drift));
            }
            let known = self.tdma.travel[stream.listeners[listener].index()].as_ps();
            Some((known.saturating_sub(way.min), way.max.saturating_sub(known)))
        };
        let errors = (0..stream.listeners.len()).filter_map(error);
        errors.fold((0, 0), |(early, late), (one, other)| (early.max(one), late.max(other)))
    }

    /// From the start of a cycle until a station has received its opening, at most.
    fn heard(&self, node: NodeIndex) -> Duration {
        let streams = [Some(self.tdma.synchronisation), self.tdma.standby.map(|one| one.synchronisation)];
        let way = |number: StreamIndex| {
            let stream = &self.network.streams[number.index()];
            let listener = stream.listeners.iter().position(|listener| *listener == node)?;
            Some(self.way(stream, listener)?.1.max + self.early + self.late)
        };
        Duration::from_ps(streams.into_iter().flatten().filter_map(way).max().unwrap_or(0))
    }

    /// A slot that has begun when its owner receives the opening of the cycle is never used.
    fn unheard(&self) -> Option<Unbounded> {
        let synchronisation = &self.network.streams[self.tdma.synchronisation.index()];
        let hears = |slot: &&OwnedSlot| synchronisation.listeners.contains(&slot.owner);
        let missed = |slot: &OwnedSlot| slot.slot.offset < self.tdma.travel[slot.owner.index()];
        let port = synchronisation.hops.first()?.port;
        let any = self.tdma.slots.iter().filter(hears).any(missed);
        any.then_some(SYNCHRONISATION_LOST.at(port))
    }

    fn promises_nothing(&self, number: StreamIndex) -> Unbounded {
        let stream = &self.network.streams[number.index()];
        let port = stream.hops.first().map_or(PortIndex(0), |hop| hop.port);
        let of = match stream.traffic {
            Traffic::Response { to, .. } => to,
            _ => number,
        };
        if self.is_stopped_by_stacks(number) || self.is_stopped_by_stacks(of) {
            return Unbounded::Host { port };
        }
        if self.arrivals(of).is_some() {
            let class = stream.hops.first().map(|hop| hop.class).unwrap_or_default();
            return Unbounded::Overload { port, class };
        }
        Unbounded::NoArrivalCurve { stream: of, port }
    }

    /// Whether the delay between an application and its station's queue has no bound.
    fn is_stopped_by_stacks(&self, number: StreamIndex) -> bool {
        let stream = &self.network.streams[number.index()];
        let turns = match stream.traffic {
            Traffic::Response { to, turn_around } => self.ready(number, to, turn_around).is_some(),
            _ => true,
        };
        self.network.has_stacks(stream.talker) && !(turns && self.transmit(number).is_some())
    }

    /// From where a stream's delay counts to the start of its slot: least, and what the greatest is made of; none if there is no
    /// bound.
    fn begin(&self, number: StreamIndex) -> Option<(u64, Terms)> {
        let stream = &self.network.streams[number.index()];
        match stream.traffic {
            Traffic::Synchronisation { .. } => Some((0, Terms::default())),
            Traffic::Response { to, turn_around } => self.response(number, to, turn_around),
            // Messages of a start-up wait for slots, for answers and for their repetition.
            Traffic::Protocol => None,
            _ => {
                let (transmit, wait) = (self.transmit(number)?, self.wait(number)?);
                transmit.max.checked_add(wait)?;
                let most = Terms::of("host", transmit.max).and("slots, and what waits before it", wait);
                Some((transmit.min, most))
            }
        }
    }

    /// A stream hop by hop.
    fn carried(&self, number: StreamIndex) -> Vec<Carried> {
        let stream = &self.network.streams[number.index()];
        let begin = self.begin(number);
        let reason = self.reason.clone().or_else(|| begin.is_none().then(|| self.promises_nothing(number)));
        let (begin_min, begin) = begin.unwrap_or_default();
        let hop = |place: usize| {
            let (passed, line) = self.passage(stream, place);
            let end = self.to_end_of(stream, place);
            let before = match stream.hops[place].previous {
                Some(_) => Terms::of("processing", passed.max),
                None => begin.clone(),
            };
            let hop = before.and("transmission and cable", line.max);
            let end_max = end.max.saturating_add(begin.total());
            let least = if stream.hops[place].previous.is_some() { passed.min } else { begin_min };
            Carried {
                hop_min: least + line.min,
                end_min: end.min + begin_min,
                hop: reason.clone().map_or(Ok(hop), Err),
                end: reason.clone().map_or(Ok(end_max), Err),
                method: if reason.is_some() { Method::None } else { Method::Carried("slots") },
            }
        };
        (0..stream.hops.len()).map(hop).collect()
    }

    /// One frame at a time is at a port; at a station those of its queue are before it.
    fn classes(&self, port: PortIndex) -> [ClassBounds; 8] {
        let mut classes = <[ClassBounds; 8]>::default();
        let hops =
            self.network.streams.iter().flat_map(|stream| stream.hops.iter().map(move |hop| (stream, hop)));
        for (stream, hop) in hops.filter(|(_, hop)| hop.port == port) {
            let class = &mut classes[hop.class.index()];
            class.used = true;
            let opens = matches!(stream.traffic, Traffic::Synchronisation { .. });
            let frames = if self.doubled > 0 && opens { 2 } else { 1 };
            let bits: Bits = frame_length(stream.payload_max, hop.tagged).bits() * frames;
            let most = class.backlog.map_or(bits, |known| known.max(bits));
            class.backlog = self.reason.is_none().then_some(most);
        }
        classes
    }
}

fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    (a / x.max(1)).saturating_mul(b)
}
