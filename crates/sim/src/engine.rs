//! The event loop: takes the next entry of the agenda and carries frames between the machines.
//!
//! Order of events: true time, then phase, then entity in file order. Phases: 0 timeline,
//! 2 arrivals, 3 sources, 4 selections. An entity has at most one entry: the timeline, a link
//! direction or host (its first frame), a host's sources (their first), a port (its wake-up).
//!
//! When a transmission starts its whole future up to the next queue is computed: the frame enters
//! the ring of its link at once with the instant at which it reaches that queue. An idle port selects
//! at once if nothing else is due at this instant.

use std::cmp::Reverse;

use tautwire_core::Selection;
use tautwire_core::ats::AtsDiscard;
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, NodeKind, PortIndex, frame_length};
use tautwire_observe::DelayParts;
use tautwire_units::{Bytes, Duration, Instant};

use crate::agenda::Agenda;
use crate::clock::{LocalClock, SimTime};
use crate::frame::{Handle, InFlight, Ring, Slab, Slot};
use crate::node::{HostState, LinkState, NodeState, PortState, add_schedulers, add_talker_schedulers};
use crate::options::{Driver, Options, Progress};
use crate::plan::{NONE, Plan, index};
use crate::random::{Purpose, Random};
use crate::recorder::{Recorder, Transmission};
use crate::result::{ClassObservation, DropReason, Observation, PortObservation};
use crate::source::Source;
use crate::stages::{Passage, Stages};
use crate::statistics::Statistics;

/// Events between two reports of progress.
const PROGRESS_EVENTS: u64 = 1 << 18;

/// Octets of the gap behind a frame (IEEE Std 802.3, 4.4.2).
const INTER_PACKET_GAP: u64 = 12;

/// The talker of a stream.
#[derive(Clone, Debug)]
pub(crate) struct Talker {
    pub(crate) source: Source,
    pub(crate) running: bool,
    /// Grows when the source starts anew: entries of an older epoch are void.
    pub(crate) epoch: u32,
    pub(crate) node: u32,
    pub(crate) scheduler: u32,
    /// Number of its next frame.
    pub(crate) number: u32,
}

pub(crate) struct Engine<'run, R> {
    pub(crate) network: &'run Network,
    pub(crate) plan: Plan,
    pub(crate) now: SimTime,
    end: SimTime,
    pub(crate) seed: u64,
    driver: Driver,
    stop_after: u64,
    /// Whether links and nodes may fail.
    may_fail: bool,
    /// Whether a delivery may be counted when its transmission starts: nothing can hinder it.
    counts_early: bool,
    pub(crate) agenda: Agenda,
    /// Numbers of entities: links and host rings, then sources, then ports, behind the timeline.
    first_source: u32,
    first_port: u32,
    /// Rings of the links, then of the nodes' hosts.
    pub(crate) rings: Vec<Ring>,
    pub(crate) links: Vec<LinkState>,
    pub(crate) ports: Vec<Option<PortState>>,
    pub(crate) nodes: Vec<NodeState>,
    /// Per node; bridges have none.
    pub(crate) hosts: Vec<Option<HostState>>,
    pub(crate) talkers: Vec<Talker>,
    pub(crate) schedulers: Vec<u32>,
    pub(crate) slab: Slab,
    pub(crate) statistics: Statistics,
    /// The next step of the network's timeline.
    pub(crate) next_event: usize,
    spurious: Random,
    events: u64,
    progress: Option<&'run mut dyn FnMut(Progress)>,
    recorder: &'run mut R,
}

impl<'run, R: Recorder> Engine<'run, R> {
    pub(crate) fn new(network: &'run Network, options: &'run mut Options<'_>, recorder: &'run mut R) -> Self {
        let seed = options.seed.unwrap_or(network.run.seed);
        let plan = Plan::new(network);
        let clocks = clocks(network, seed);
        let mut nodes: Vec<NodeState> = clocks
            .iter()
            .enumerate()
            .map(|(number, clock)| NodeState::new(network, number, *clock, seed))
            .collect();
        let schedulers = add_schedulers(network, &mut nodes);
        let talker_schedulers = add_talker_schedulers(network, &mut nodes);
        let links = network.links.iter().enumerate().map(|(number, link)| {
            let stages = plan.stage_count[network.ports[link.to.index()].node.index()];
            LinkState::new(network, link, number, stages, seed)
        });
        let links: Vec<LinkState> = links.collect();
        let rings = links.len() + nodes.len();
        let first_source = index(1 + rings);
        let first_port = first_source + index(nodes.len());
        let histograms = options.histograms.unwrap_or(network.streams.len() <= 100_000);
        let statistics = Statistics::new(network, plan.first_hop.clone(), histograms);
        Self {
            end: SimTime::ZERO + options.duration.unwrap_or(network.run.duration),
            now: SimTime::ZERO,
            seed,
            driver: options.driver,
            stop_after: network.run.stop_after_frames.unwrap_or(u64::MAX),
            may_fail: !network.events.is_empty() || network.links.iter().any(|link| !link.up),
            counts_early: options.driver == Driver::Eliding
                && network.events.is_empty()
                && network.run.stop_after_frames.is_none(),
            agenda: Agenda::new(first_port as usize + network.ports.len()),
            first_source,
            first_port,
            rings: vec![Ring::default(); rings],
            links,
            ports: port_states(network, &plan, &clocks),
            hosts: host_states(network, seed),
            talkers: talkers(network, &clocks, &talker_schedulers, seed),
            nodes,
            schedulers,
            slab: Slab::default(),
            statistics,
            next_event: 0,
            spurious: Random::new(seed, Purpose::Spurious, 0),
            events: 0,
            progress: match &mut options.progress {
                Some(progress) => Some(&mut **progress),
                None => None,
            },
            plan,
            network,
            recorder,
        }
    }

    pub(crate) fn run(mut self) -> Observation {
        for (number, stream) in self.network.streams.iter().enumerate() {
            if stream.started {
                self.offer_source(index(number));
            }
        }
        for node in 0..self.nodes.len() {
            self.arm_sources(index(node));
        }
        self.arm_timeline();
        while let Some((time, entity)) = self.agenda.next() {
            if time > self.end || self.statistics.delivered >= self.stop_after {
                break;
            }
            debug_assert!(time >= self.now, "time never goes back");
            self.now = time;
            if entity >= self.first_port {
                self.service(entity - self.first_port);
            } else if entity >= self.first_source {
                self.take_source(entity - self.first_source);
            } else if entity > 0 {
                self.take_arrival(entity - 1);
            } else {
                self.take_timeline();
            }
            self.events += 1;
            if self.events.is_multiple_of(PROGRESS_EVENTS) {
                self.report_progress();
            }
        }
        if self.statistics.delivered < self.stop_after {
            self.now = self.end;
        }
        self.observation()
    }

    fn report_progress(&mut self) {
        if let Some(progress) = &mut self.progress {
            progress(Progress {
                now: self.now.since_start(),
                end: self.end.since_start(),
                frame_hops: self.statistics.frame_hops,
            });
        }
    }

    // Arrivals.

    /// The first frame of a link's or host's ring is due.
    fn take_arrival(&mut self, ring: u32) {
        let frame = self.rings[ring as usize].pop().expect("an armed ring has a frame");
        match self.rings[ring as usize].next_ready() {
            Some(ready) => self.agenda.set(1 + ring, ready),
            None => self.agenda.clear(1 + ring),
        }
        if (ring as usize) < self.links.len() {
            self.receive(ring, frame);
        } else {
            self.take_branch(frame.slot, frame.branch, None);
        }
    }

    /// A frame has passed a link and the stages behind it.
    #[inline]
    fn receive(&mut self, link: u32, frame: InFlight) {
        let slot = self.slab.get(frame.slot);
        if self.may_fail {
            let node = &self.nodes[self.links[link as usize].to_node as usize];
            if !node.up || slot.received < node.up_since {
                return self.drop_frame(frame.slot, DropReason::NodeDown);
            }
        }
        if frame.branch == InFlight::DELIVERY {
            let (corrupted, slot) = (slot.corrupted, *slot);
            if corrupted {
                return self.drop_frame(frame.slot, DropReason::BitError);
            }
            self.slab.remove(frame.slot);
            return self.deliver(&slot, self.now);
        }
        if slot.corrupted && self.plan.branches[frame.branch as usize].cut_through == 0 {
            return self.drop_frame(frame.slot, DropReason::BitError);
        }
        let link = &self.links[link as usize];
        if slot.payload > link.to_mtu {
            return self.drop_frame(frame.slot, DropReason::Oversize);
        }
        let mut only_port = None;
        if link.to_learning {
            let (node, port) = (link.to_node, link.to_port);
            only_port = self.consult_database(frame.slot, node, port);
        }
        self.take_branch(frame.slot, frame.branch, only_port);
    }

    /// A frame has reached an end station.
    #[inline]
    fn deliver(&mut self, slot: &Slot, time: SimTime) {
        let listener = self.plan.hops[slot.hop as usize].listener;
        if listener == NONE {
            self.statistics.streams[slot.stream as usize].consumed += 1;
            return;
        }
        self.recorder.delivered(time, slot.stream, listener, slot.number, time.since(slot.created));
        self.statistics.received(slot.stream, listener, slot.number, slot.created, time);
    }

    /// Hands a frame to the queues of the ports of a branch; of `only_port` if its address is known.
    fn take_branch(&mut self, place: u32, branch: u32, only_port: Option<u32>) {
        let (first, end) = self.plan.branches[branch as usize].children;
        if end - first == 1 && only_port.is_none() {
            let hop_index = self.plan.children[first as usize];
            let hop = &self.plan.hops[hop_index as usize];
            let mut eligible = Instant::ZERO;
            if hop.scheduler != NONE {
                let (scheduler, port) = (hop.scheduler, hop.port);
                match self.schedule(scheduler, place, port) {
                    Ok(at) => eligible = at,
                    Err(_) => return self.drop_frame(place, DropReason::ResidenceTime),
                }
            }
            return self.enqueue(place, hop_index, eligible);
        }
        self.replicate(place, (first, end), only_port);
    }

    /// Hands copies of a frame to the queues of several ports.
    fn replicate(&mut self, place: u32, (first, end): (u32, u32), only_port: Option<u32>) {
        let slot = *self.slab.get(place);
        let mut scheduler = NONE;
        let mut eligible = Ok(Instant::ZERO);
        let mut used = false;
        let mut discarded = false;
        for child in first..end {
            let hop_index = self.plan.children[child as usize];
            let (port, own_scheduler) = {
                let hop = &self.plan.hops[hop_index as usize];
                (hop.port, hop.scheduler)
            };
            if only_port.is_some_and(|only| only != port) {
                continue;
            }
            if own_scheduler == NONE {
                eligible = Ok(Instant::ZERO);
            } else if own_scheduler != scheduler {
                // A frame is charged once, however many ports it goes to.
                eligible = self.schedule(own_scheduler, place, port);
            }
            scheduler = own_scheduler;
            let Ok(at) = eligible else {
                discarded = true;
                continue;
            };
            let copy = if used {
                self.statistics.streams[slot.stream as usize].replicated += 1;
                self.slab.insert(slot)
            } else {
                place
            };
            used = true;
            self.enqueue(copy, hop_index, at);
        }
        match (used, discarded) {
            (true, false) => {}
            (true, true) => {
                self.statistics.streams[slot.stream as usize].replicated += 1;
                self.lose(&slot, DropReason::ResidenceTime);
            }
            (false, true) => self.drop_frame(place, DropReason::ResidenceTime),
            (false, false) => {
                // A learned address behind the port of reception, or behind another branch.
                self.statistics.streams[slot.stream as usize].consumed += 1;
                self.slab.remove(place);
            }
        }
    }

    /// Learns a frame's source, and tells behind which port its destination was heard.
    fn consult_database(&mut self, place: u32, node: u32, port: u32) -> Option<u32> {
        let slot = self.slab.get(place);
        let state = &mut self.nodes[node as usize];
        let database = state.database.as_mut()?;
        let stream = &self.network.streams[slot.stream as usize];
        let now = state.clock.local(self.now);
        database.learn(now, stream.vlan, stream.source, port);
        if !self.plan.learned[slot.stream as usize] {
            return None;
        }
        database.lookup(now, stream.vlan, stream.destination)
    }

    /// The assigned eligibility time of a frame at a bridge.
    #[inline]
    fn schedule(&mut self, scheduler: u32, place: u32, port: u32) -> Result<Instant, AtsDiscard> {
        let slot = self.slab.get(place);
        let upstream = &self.plan.hops[slot.hop as usize];
        let node = self.ports[port as usize].as_ref().expect("a hop's port").node;
        let octets = u64::from(octets_of(slot.payload, upstream.overhead));
        let state = &mut self.nodes[node as usize];
        let arrival = state.clock.local(slot.arrival);
        state.ats.process(self.schedulers[scheduler as usize], arrival, octets)
    }

    // Queues and selection.

    /// Puts a frame into the queue of the port of `hop`.
    #[inline]
    fn enqueue(&mut self, place: u32, hop_index: u32, eligible: Instant) {
        let hop = &self.plan.hops[hop_index as usize];
        let port_index = hop.port;
        let slot = self.slab.get_mut(place);
        slot.hop = hop_index;
        slot.queued = self.now;
        let octets = octets_of(slot.payload, hop.overhead);
        let payload = slot.payload;
        let handle = Handle {
            slot: place,
            octets,
            class: tautwire_core::TrafficClass::new(hop.class).expect("a class"),
        };
        let port = self.ports[port_index as usize].as_mut().expect("a hop's port is connected");
        if payload > port.mtu {
            return self.drop_frame(place, DropReason::Oversize);
        }
        if self.may_fail {
            if !self.nodes[port.node as usize].up {
                return self.drop_frame(place, DropReason::NodeDown);
            }
            if !self.links[port.link as usize].up {
                return self.drop_frame(place, DropReason::LinkDown);
            }
        }
        let local = port.clock.local(self.now);
        let armed = !port.egress.is_empty();
        if port.egress.enqueue(local, hop.lane, eligible, handle).is_err() {
            return self.drop_frame(place, DropReason::QueueFull);
        }
        let entity = self.first_port + port_index;
        if port.egress.busy_until() > local {
            if !armed {
                self.agenda.set(entity, port.clock.true_at(port.egress.busy_until()));
            }
        } else if self.driver == Driver::Eliding && self.agenda.next_time() > self.now {
            self.service(port_index);
        } else {
            self.agenda.set(entity, self.now);
        }
    }

    /// Asks a port what to send, and arms its next wake-up.
    #[inline]
    pub(crate) fn service(&mut self, port_index: u32) {
        let entity = self.first_port + port_index;
        let port = self.ports[port_index as usize].as_mut().expect("an armed port is connected");
        let local = port.clock.local(self.now);
        match port.egress.select(local) {
            Selection::Transmit { frame, held } => {
                let busy_until = port.clock.true_at(port.egress.busy_until());
                let waits = !port.egress.is_empty();
                self.transmit(port_index, frame, held, busy_until);
                if waits || self.driver != Driver::Eliding {
                    self.agenda.set(entity, busy_until);
                } else {
                    self.agenda.clear(entity);
                }
            }
            Selection::Wait(at) => {
                let mut time = port.clock.true_at(at);
                if self.driver == Driver::Spurious {
                    let early = self.spurious.up_to(time.since(self.now).as_ps() - 1);
                    time = self.now + Duration::from_ps(early + 1);
                }
                self.agenda.set(entity, time);
            }
            Selection::Idle => self.agenda.clear(entity),
        }
    }

    /// Sends a frame: computes when the next node has it, and puts it into the ring of the link.
    #[inline]
    fn transmit(&mut self, port_index: u32, frame: Handle, held: Duration, busy_until: SimTime) {
        let port = self.ports[port_index as usize].as_mut().expect("it was just served");
        let slot = self.slab.get_mut(frame.slot);
        let octets = u64::from(frame.octets);
        let link = &mut self.links[port.link as usize];
        let (start, end) = if port.staged {
            let stages = &self.plan.transmission[port.node as usize];
            let passage = Passage { octets, class: frame.class.number(), cut_through: false };
            let ready = port.stages.pass(stages, self.now, passage, &mut link.random);
            let start = ready.max(port.line_free);
            let whole = port.egress.wire_time(octets + Bytes::MEDIA_OVERHEAD.get());
            port.line_free = port.clock.true_at(port.clock.local(start) + whole);
            (start, port.line_free)
        } else {
            (self.now, busy_until)
        };
        // The last bit leaves before the gap.
        let last = SimTime::from_ps(end.as_ps() - port.gap.as_ps()).max(start);
        port.octets += octets;
        let received = link.reception(last);
        if link.errs {
            slot.corrupted |= link.corrupts(octets * 8);
        }
        self.statistics.transmitted(start, port.link, slot.stream, slot.number);
        let parts = delay_parts(slot, self.now, held, start, last, received);
        self.statistics.passed(slot.hop, slot.created, received.since(slot.received), &parts);
        self.recorder.transmitted(&Transmission {
            queued: slot.queued,
            selected: self.now,
            held,
            start,
            end,
            received,
            port: port_index,
            class: frame.class.number(),
            stream: slot.stream,
            number: slot.number,
            hop: slot.hop - self.plan.first_hop[slot.stream as usize],
            octets: u32::from(frame.octets),
        });
        slot.received = received;
        let ring = port.link;
        if !link.to_bridge {
            if self.counts_early && received <= self.end && !slot.corrupted {
                let slot = self.slab.remove(frame.slot);
                return self.deliver(&slot, received);
            }
            let frame = InFlight { ready: received, slot: frame.slot, branch: InFlight::DELIVERY };
            return self.fly(ring, frame);
        }
        let line = LineTimes { start, last, received };
        self.branch_out(ring, frame.slot, frame.octets, &line);
    }

    /// Sends a frame on through the stages of the bridge at the far end, once per branch.
    #[inline]
    fn branch_out(&mut self, ring: u32, place: u32, octets: u16, line: &LineTimes) {
        let slot = *self.slab.get(place);
        let hop = &self.plan.hops[slot.hop as usize];
        let (first, end) = hop.branches;
        if hop.filtered {
            return self.drop_frame(place, DropReason::IngressFiltering);
        }
        if first == end {
            return self.drop_frame(place, DropReason::NoRoute);
        }
        for branch_index in first..end {
            let branch = &self.plan.branches[branch_index as usize];
            let link = &mut self.links[ring as usize];
            let begin = if branch.cut_through > 0 && branch.cut_through < octets {
                // The rest of the frame is still to come: that much earlier than its last bit.
                let octet = line.last.since(line.start).as_ps() / (u64::from(octets) + 8);
                let left = octet * u64::from(octets - branch.cut_through);
                SimTime::from_ps(line.received.as_ps() - left)
            } else {
                line.received
            };
            let profile = &self.plan.profiles[branch.profile as usize];
            let passage = Passage {
                octets: u64::from(octets),
                class: branch.class,
                cut_through: branch.cut_through > 0,
            };
            let mut arrival = link.stages.pass(&profile.reception, begin, passage, &mut link.random);
            let recognition = self.nodes[link.to_node as usize].recognition_max;
            let ready = link.stages.pass(&profile.processing, arrival, passage, &mut link.random);
            if !recognition.is_zero() {
                arrival = arrival + link.random.span_up_to(recognition);
            }
            let slot = Slot { arrival, ..slot };
            let place = if branch_index == first {
                *self.slab.get_mut(place) = slot;
                place
            } else {
                self.statistics.streams[slot.stream as usize].replicated += 1;
                self.slab.insert(slot)
            };
            self.fly(ring, InFlight { ready, slot: place, branch: branch_index });
        }
    }

    /// Puts a frame into a ring.
    #[inline]
    fn fly(&mut self, ring: u32, frame: InFlight) {
        if self.rings[ring as usize].insert(frame) {
            self.agenda.set(1 + ring, frame.ready);
        }
    }

    // Sources.

    /// Puts the coming frame of a stream into its host's list.
    pub(crate) fn offer_source(&mut self, stream: u32) {
        let talker = &self.talkers[stream as usize];
        if let Some((time, _)) = talker.source.peek() {
            let time = self.nodes[talker.node as usize].clock.true_at(time).max(self.now);
            let host = self.hosts[talker.node as usize].as_mut().expect("a talker is an end station");
            host.sources.push(Reverse((time, stream, talker.epoch)));
        }
    }

    /// Arms a host's sources with their first frame.
    pub(crate) fn arm_sources(&mut self, node: u32) {
        let Some(host) = &self.hosts[node as usize] else { return };
        let entity = self.first_source + node;
        match host.sources.peek() {
            Some(Reverse((time, _, _))) => self.agenda.set(entity, *time),
            None => self.agenda.clear(entity),
        }
    }

    /// The first frame of a host's sources is due.
    fn take_source(&mut self, node: u32) {
        let host = self.hosts[node as usize].as_mut().expect("an armed host");
        let Reverse((_, stream, epoch)) = host.sources.pop().expect("an armed host has a frame");
        let talker = &mut self.talkers[stream as usize];
        if !talker.running || talker.epoch != epoch {
            return self.arm_sources(node);
        }
        let (_, payload) = talker.source.peek().expect("a frame that was offered");
        talker.source.advance();
        let number = talker.number;
        talker.number += 1;
        self.offer_source(stream);
        self.arm_sources(node);
        self.create(stream, number, payload);
    }

    /// An application creates a frame.
    fn create(&mut self, stream: u32, number: u32, payload: Bytes) {
        let now = self.now;
        let payload = u16::try_from(payload.get()).expect("a checked payload");
        self.statistics.streams[stream as usize].created += 1;
        self.recorder.created(now, stream, number, u32::from(payload));
        let place = self.slab.insert(Slot {
            created: now,
            received: now,
            arrival: now,
            queued: now,
            stream,
            number,
            hop: self.plan.first_hop[stream as usize],
            payload,
            corrupted: false,
        });
        let talker = &self.talkers[stream as usize];
        let node = talker.node as usize;
        let branch = self.plan.talker_branch[stream as usize];
        if self.plan.branches.get(branch as usize).is_none_or(|branch| branch.children.0 == branch.children.1)
        {
            return self.drop_frame(place, DropReason::NoRoute);
        }
        let ring = index(self.links.len() + node);
        let host = self.hosts[node].as_mut().expect("a talker is an end station");
        if self.rings[ring as usize].len() >= host.queue_limit as usize {
            return self.drop_frame(place, DropReason::HostQueueFull);
        }
        let hop = &self.plan.hops[self.plan.first_hop[stream as usize] as usize];
        let octets = u64::from(octets_of(payload, hop.overhead));
        let mut ready = (now + host.random.delay(&host.transmit, octets)).max(host.last_out);
        host.last_out = ready;
        if talker.scheduler != NONE {
            let state = &mut self.nodes[node];
            let arrival = state.clock.local(ready);
            match state.ats.process(talker.scheduler, arrival, octets) {
                Ok(eligible) => ready = state.clock.true_at(eligible).max(ready),
                Err(_) => return self.drop_frame(place, DropReason::ResidenceTime),
            }
        }
        if ready == now {
            self.take_branch(place, branch, None);
        } else {
            self.fly(ring, InFlight { ready, slot: place, branch });
        }
    }

    // Losses and the end.

    #[cold]
    pub(crate) fn drop_frame(&mut self, place: u32, reason: DropReason) {
        let slot = self.slab.remove(place);
        self.lose(&slot, reason);
    }

    /// Counts a lost copy of a frame.
    fn lose(&mut self, slot: &Slot, reason: DropReason) {
        self.statistics.dropped(slot.stream, reason);
        let hop = slot.hop - self.plan.first_hop[slot.stream as usize];
        self.recorder.dropped(self.now, slot.stream, slot.number, hop, reason);
    }

    fn observation(mut self) -> Observation {
        self.report_progress();
        for ring in &self.rings {
            for frame in ring.iter() {
                let stream = self.slab.get(frame.slot).stream;
                self.statistics.streams[stream as usize].in_flight += 1;
            }
        }
        for port in self.ports.iter().flatten() {
            for frame in port.egress.waiting() {
                let stream = self.slab.get(frame.slot).stream;
                self.statistics.streams[stream as usize].in_flight += 1;
            }
        }
        Observation {
            seed: self.seed,
            end: self.now.since_start(),
            frame_hops: self.statistics.frame_hops,
            trace_hash: self.statistics.trace_hash,
            ports: self.ports.iter().map(port_observation).collect(),
            streams: self.statistics.into_streams(),
        }
    }
}

/// When a frame is on the line.
struct LineTimes {
    /// First bit of the preamble leaves.
    start: SimTime,
    /// Last bit leaves.
    last: SimTime,
    /// Last bit is received.
    received: SimTime,
}

/// Octets of a frame, destination to FCS.
#[inline]
pub(crate) fn octets_of(payload: u16, overhead: u8) -> u16 {
    (payload + u16::from(overhead)).max(64)
}

/// The parts of a delay at one hop. A frame that is cut through is selected before its last bit is
/// in: what it saves is taken off its waiting, then off its transmission.
#[inline]
fn delay_parts(
    slot: &Slot,
    selected: SimTime,
    held: Duration,
    start: SimTime,
    last: SimTime,
    received: SimTime,
) -> DelayParts {
    let saved = slot.received.saturating_since(slot.queued);
    let waited = selected.since(slot.queued);
    let waiting = waited.saturating_sub(saved);
    let shaping = held.min(waiting);
    let behind = start.since(selected);
    let overlap = saved.saturating_sub(waited);
    DelayParts {
        processing: slot.queued.saturating_since(slot.received) + behind.saturating_sub(overlap),
        shaping,
        queueing: waiting - shaping,
        transmission: last.since(start).saturating_sub(overlap.saturating_sub(behind)),
        propagation: received.since(last),
    }
}

/// The clocks of all nodes. All readings are shifted alike if one would begin below zero.
fn clocks(network: &Network, seed: u64) -> Vec<LocalClock> {
    let least = network.nodes.iter().map(|node| node.clock.offset.as_ps()).min().unwrap_or(0).min(0);
    let clock = |(number, node): (usize, &tautwire_model::network::Node)| {
        let ppb = node.clock.drift_ppb.unwrap_or_else(|| {
            let most = u64::from(node.clock.tolerance_ppb);
            let drawn = Random::new(seed, Purpose::Clock, number).up_to(2 * most);
            i32::try_from(drawn).expect("a tolerance is below one") - node.clock.tolerance_ppb as i32
        });
        let offset = u64::try_from(node.clock.offset.as_ps() - least).expect("the least is taken off");
        LocalClock::new(Duration::from_ps(offset), ppb, node.clock.granularity)
    };
    network.nodes.iter().enumerate().map(clock).collect()
}

fn port_states(network: &Network, plan: &Plan, clocks: &[LocalClock]) -> Vec<Option<PortState>> {
    let state = |(number, port): (usize, &tautwire_model::network::Port)| {
        let config = network.port_config(PortIndex::at(number))?;
        let node = port.node.index();
        let egress = tautwire_core::EgressPort::new(config);
        Some(PortState {
            gap: clocks[node].true_span(egress.wire_time(INTER_PACKET_GAP)),
            egress,
            clock: clocks[node],
            node: port.node.0,
            link: port.links?.egress.0,
            mtu: u16::try_from(port.mtu.get()).unwrap_or(u16::MAX),
            staged: !plan.transmission[node].is_empty(),
            line_free: SimTime::ZERO,
            stages: Stages::new(plan.stage_count[node]),
            octets: 0,
        })
    };
    network.ports.iter().enumerate().map(state).collect()
}

fn host_states(network: &Network, seed: u64) -> Vec<Option<HostState>> {
    let state = |(number, node): (usize, &tautwire_model::network::Node)| {
        let NodeKind::EndStation { host } = &node.kind else { return None };
        let host = &network.hosts[host.index()];
        Some(HostState {
            sources: std::collections::BinaryHeap::new(),
            transmit: host.transmit,
            queue_limit: host.queue_limit,
            last_out: SimTime::ZERO,
            random: Random::new(seed, Purpose::Host, number),
        })
    };
    network.nodes.iter().enumerate().map(state).collect()
}

fn talkers(network: &Network, clocks: &[LocalClock], schedulers: &[u32], seed: u64) -> Vec<Talker> {
    let talker = |(number, stream): (usize, &tautwire_model::network::Stream)| {
        let NodeIndex(node) = stream.talker;
        let start = clocks[node as usize].local(SimTime::ZERO);
        let line = stream.hops.first().and_then(|hop| network.ports[hop.port.index()].links);
        let line = line.map(|links| network.links[links.egress.index()].rate).unwrap_or_default();
        debug_assert!(frame_length(stream.payload_max, stream.tagged).get() <= u64::from(u16::MAX));
        Talker {
            source: Source::new(stream, line, start, || Random::new(seed, Purpose::Source, number)),
            running: stream.started,
            epoch: 0,
            node,
            scheduler: schedulers[number],
            number: 0,
        }
    };
    network.streams.iter().enumerate().map(talker).collect()
}

fn port_observation(port: &Option<PortState>) -> PortObservation {
    let Some(port) = port else { return PortObservation::default() };
    let class = |class: tautwire_core::TrafficClass| {
        let counters = port.egress.counters(class);
        let credit = port.egress.credit_range(class);
        ClassObservation {
            frames: counters.sent,
            backlog_frames_max: counters.frames_max,
            backlog_octets_max: Bytes::new(counters.octets_max),
            dropped: counters.discarded,
            hi_credit_bits: credit.map_or(0, |(hi, _)| hi.bits_away_from_zero()),
            lo_credit_bits: credit.map_or(0, |(_, lo)| lo.bits_away_from_zero()),
        }
    };
    let mut classes = [ClassObservation::default(); 8];
    for number in tautwire_core::TrafficClass::all() {
        classes[number.index()] = class(number);
    }
    PortObservation {
        frames: classes.iter().map(|class| class.frames).sum(),
        octets: Bytes::new(port.octets),
        busy: port.egress.busy(),
        classes,
    }
}
