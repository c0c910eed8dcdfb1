//! The event loop: takes the next entry of the agenda and carries frames between the machines.
//!
//! Order of events: true time, then phase, then entity in file order. Phases: 0 timeline,
//! 2 arrivals, 3 sources, 4 selections. An entity has at most one entry: the timeline, a link
//! direction or host (its first frame), a host's sources (their first), a port (its wake-up).
//!
//! When a transmission starts, its future up to the next queue is computed: the frame enters the ring of its link at
//! once with the instant at which it reaches that queue. An idle port selects at once if nothing else is due at this
//! instant.

use tautwire_model::Network;
use tautwire_model::network::StreamIndex;
use tautwire_observe::Observed;
use tautwire_units::{BitRate, Bytes, Duration};

use crate::agenda::Agenda;
use crate::clock::SimTime;
use crate::control::{Filters, FirstCycles};
use crate::fates::{Fate, Whereabouts};
use crate::frame::{Ring, Slab, Slot};
use crate::mechanisms::Given;
use crate::node::{
    HostState, LinkState, NodeState, PortState, add_schedulers, add_talker_schedulers, clocks, host_states,
    port_states,
};
use crate::options::{Driver, Options, Progress};
use crate::order::Order;
use crate::plan::{Plan, index};
use crate::plugged::Plugged;
use crate::ports::ByPorts;
use crate::random::{Purpose, Random};
use crate::recorder::Recorder;
use crate::result::{DropReason, Observation, PortObservation, VirtualLinkObservation};
use crate::statistics::Statistics;
use crate::talker::{Talker, talkers};
use crate::virtual_links::VirtualLinks;

/// Events between two reports of progress.
const PROGRESS_EVENTS: u64 = 1 << 18;

/// The state of a run.
///
/// `PLUGGED`: the network has machines that make frames or hold them (`plugged.rs`); without it the loop has no code for them.
pub(crate) struct Engine<'run, R: ?Sized, const PLUGGED: bool> {
    pub(crate) network: &'run Network,
    pub(crate) plan: Plan,
    pub(crate) now: SimTime,
    pub(crate) end: SimTime,
    pub(crate) seed: u64,
    pub(crate) driver: Driver,
    stop_after: u64,
    /// Whether links and nodes may fail.
    pub(crate) may_fail: bool,
    /// Whether a delivery may be counted when its transmission starts: nothing can hinder it.
    pub(crate) counts_early: bool,
    pub(crate) agenda: Agenda,
    /// Numbers of entities: links and host rings, then sources, then ports, behind the timeline.
    pub(crate) first_source: u32,
    pub(crate) first_port: u32,
    /// Rings of the links, then of the nodes' hosts.
    pub(crate) rings: Vec<Ring>,
    pub(crate) links: Vec<LinkState>,
    pub(crate) ports: Vec<Option<PortState>>,
    pub(crate) nodes: Vec<NodeState>,
    /// Per node; bridges have none.
    pub(crate) hosts: Vec<Option<HostState>>,
    pub(crate) talkers: Vec<Talker>,
    pub(crate) schedulers: Vec<u32>,
    pub(crate) virtual_links: VirtualLinks,
    /// Hops that a mechanism shut.
    pub(crate) filters: Filters,
    pub(crate) slab: Slab,
    pub(crate) statistics: Statistics,
    /// The record by which tests check the order of frames.
    pub(crate) order: Order,
    /// The next step of the network's timeline.
    pub(crate) next_event: usize,
    pub(crate) spurious: Random,
    /// Machines that make frames, if there are any.
    pub(crate) plugged: Option<Box<Plugged<'run>>>,
    /// The state of a run by ports (`ports/`); none in a run by instants.
    pub(crate) by_ports: Option<Box<ByPorts>>,
    /// How far ahead most events are.
    pub(crate) reach: Duration,
    events: u64,
    progress: Option<&'run mut dyn FnMut(Progress)>,
    pub(crate) recorder: &'run mut R,
}

impl<'run, R: Recorder + ?Sized, const PLUGGED: bool> Engine<'run, R, PLUGGED> {
    pub(crate) fn new(network: &'run Network, options: &'run mut Options<'_>, recorder: &'run mut R) -> Self {
        let seed = options.seed.unwrap_or(network.run.seed);
        let mut plan = Plan::new(network);
        let clocks = clocks(network, seed);
        let mut nodes: Vec<NodeState> = clocks
            .iter()
            .enumerate()
            .map(|(number, clock)| NodeState::new(network, number, *clock, seed))
            .collect();
        let schedulers = add_schedulers(network, &mut nodes, seed);
        let mut talker_shapers = add_talker_schedulers(network, &mut nodes);
        let virtual_links = VirtualLinks::new(network, &mut plan, &mut talker_shapers);
        let ports = port_states(network, &plan, &clocks);
        // Addresses are only learned if a stream uses them.
        let learns = network.streams.iter().any(|stream| stream.learned);
        let links = network.links.iter().enumerate().map(|(number, link)| {
            let stages = plan.stage_count[network.ports[link.to.index()].node.index()];
            let mut state = LinkState::new(network, link, number, stages, seed);
            state.to_learning &= learns;
            state
        });
        let links: Vec<LinkState> = links.collect();
        let rings = links.len() + nodes.len();
        let first_source = index(1 + rings);
        let first_port = first_source + index(nodes.len());
        let driver = options.driver.of_instants();
        let histograms = options.histograms.unwrap_or(network.streams.len() <= 100_000);
        let statistics = Statistics::new(network, plan.first_hop.clone(), histograms);
        let mut engine = Self {
            end: SimTime::ZERO + options.duration.unwrap_or(network.run.duration),
            now: SimTime::ZERO,
            seed,
            driver,
            stop_after: network.run.stop_after_frames.unwrap_or(u64::MAX),
            may_fail: !network.events.is_empty() || network.links.iter().any(|link| !link.up),
            counts_early: !PLUGGED
                && driver == Driver::Eliding
                && network.events.is_empty()
                && network.run.stop_after_frames.is_none()
                && !virtual_links.are_redundant(),
            agenda: Agenda::new(first_port as usize + network.ports.len(), reach(network)),
            reach: reach(network),
            by_ports: None,
            first_source,
            first_port,
            rings: vec![Ring::EMPTY; rings],
            links,
            ports,
            hosts: host_states(network, seed),
            talkers: talkers(network, &plan, &clocks, &talker_shapers, seed),
            nodes,
            schedulers,
            virtual_links,
            filters: Filters::default(),
            slab: Slab::default(),
            statistics,
            order: Order::new(&plan),
            next_event: 0,
            spurious: Random::new(seed, Purpose::Spurious, 0),
            plugged: PLUGGED.then(|| {
                let is_held = driver == Driver::Spurious;
                let given = Given {
                    plug_ins: options.mechanisms,
                    admission: options.admission.take(),
                    harts_test: options.harts_test,
                };
                Box::new(Plugged::new(network, &clocks, (seed, histograms, is_held), given))
            }),
            events: 0,
            progress: match &mut options.progress {
                Some(progress) => Some(&mut **progress),
                None => None,
            },
            plan,
            network,
            recorder,
        };
        let begun: Vec<StreamIndex> =
            engine.plugged.iter().flat_map(|plugged| plugged.controls.begun()).collect();
        for stream in begun {
            engine.talkers[stream.index()].running = false;
        }
        if PLUGGED {
            engine.begin_receptions();
            engine.begin_repeaters();
            engine.begin_verifications();
            engine.begin_controls();
        }
        engine
    }

    pub(crate) fn run(mut self) -> Observation {
        self.offer_sources();
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

    /// Puts the first frame of every stream into its host's list.
    pub(crate) fn offer_sources(&mut self) {
        for (number, stream) in self.network.streams.iter().enumerate() {
            if stream.started && self.talkers[number].running {
                self.offer_source(index(number));
            }
        }
    }

    pub(crate) fn report_progress(&mut self) {
        let sent = self.statistics.frame_hops + self.sent_by_others();
        if let Some(progress) = &mut self.progress {
            progress(Progress { now: self.now.since_start(), end: self.end.since_start(), frame_hops: sent });
        }
    }

    // Arrivals.

    /// The first frame of a link's or host's ring is due.
    fn take_arrival(&mut self, ring: u32) {
        let place = self.rings[ring as usize].pop(&self.slab).expect("an armed ring has a frame");
        self.arm_ring(ring);
        if (ring as usize) < self.links.len() {
            self.receive(ring, place);
        } else {
            self.leave_host(place);
        }
    }

    /// Arms a ring with its first frame.
    #[inline]
    pub(crate) fn arm_ring(&mut self, ring: u32) {
        match self.rings[ring as usize].next_due(&self.slab) {
            Some(due) => self.agenda.set(1 + ring, due),
            None => self.agenda.clear(1 + ring),
        }
    }

    // Losses and the end.

    /// A frame is lost at the port of its hop, or before a bridge has replicated it behind that.
    #[cold]
    pub(crate) fn drop_frame(&mut self, place: u32, reason: DropReason) {
        let slot = self.slab.remove(place);
        self.lose(&slot, reason, Whereabouts::at_port(&slot));
    }

    /// A frame is lost in its talker's host.
    #[cold]
    pub(crate) fn drop_at_talker(&mut self, place: u32, reason: DropReason) {
        let slot = self.slab.remove(place);
        self.lose(&slot, reason, Whereabouts::Talker);
    }

    /// A frame is lost on a line, or in the stages behind it.
    #[cold]
    pub(crate) fn drop_on_line(&mut self, place: u32, reason: DropReason) {
        let slot = self.slab.remove(place);
        self.lose(&slot, reason, Whereabouts::on_line(&slot));
    }

    /// Counts a lost copy of a frame, once for each listener behind its place.
    pub(crate) fn lose(&mut self, slot: &Slot, reason: DropReason, whereabouts: Whereabouts) {
        self.statistics.fates.note(slot.stream, Fate::Lost(reason), whereabouts);
        self.count_loss(slot, reason);
    }

    /// Counts a lost copy of a frame, without its listeners.
    pub(crate) fn count_loss(&mut self, slot: &Slot, reason: DropReason) {
        self.statistics.dropped(slot.stream, reason);
        let hop = slot.hop - self.plan.first_hop[slot.stream as usize];
        if PLUGGED && self.network.streams[slot.stream as usize].traffic.is_control() {
            self.statistics.control_dropped(slot.stream, hop, reason);
        }
        self.recorder.dropped(self.now, slot.stream, slot.number, hop, reason);
    }

    pub(crate) fn port_observations(&self) -> Vec<PortObservation> {
        let counters = |port: &Option<PortState>| {
            port.as_ref().map_or_else(PortObservation::default, |port| PortObservation::of(&port.egress))
        };
        let mut ports: Vec<_> = self.ports.iter().map(counters).collect();
        // The groups of a bank have the numbers in which they were added.
        let mut groups = vec![0; self.nodes.len()];
        for group in &self.network.scheduler_groups {
            let node = self.network.ports[group.reception_port.index()].node.index();
            ports[group.reception_port.index()].scheduler_discarded +=
                self.nodes[node].ats.discarded(groups[node]);
            groups[node] += 1;
        }
        ports
    }

    /// Counts the frames that are on their way at the end.
    pub(crate) fn count_under_way(&mut self) {
        let (on_lines, in_hosts) = self.rings.split_at(self.links.len());
        let on_lines = on_lines.iter().flat_map(|ring| ring.iter(&self.slab));
        let in_hosts = in_hosts.iter().flat_map(|ring| ring.iter(&self.slab));
        let in_stations = self.plugged.iter().flat_map(|plugged| plugged.waiting_at_talkers());
        let at_talkers = in_hosts.chain(self.virtual_links.waiting()).chain(in_stations);
        let queued = self.ports.iter().flatten().flat_map(|port| port.egress.waiting());
        let under_way = self.plugged.iter().flat_map(|plugged| plugged.under_way());
        let held = self.plugged.iter().flat_map(|plugged| plugged.pools.waiting());
        let at_ports = queued.map(|frame| frame.slot).chain(under_way).chain(held);
        let on_lines = on_lines.map(|place| (place, Whereabouts::on_line(self.slab.get(place))));
        let at_talkers = at_talkers.map(|place| (place, Whereabouts::Talker));
        let at_ports = at_ports.map(|place| (place, Whereabouts::at_port(self.slab.get(place))));
        for (place, whereabouts) in on_lines.chain(at_talkers).chain(at_ports) {
            let slot = self.slab.get(place);
            self.statistics.is_in_flight(slot.stream, slot.number, whereabouts);
            self.recorder.in_flight(slot.stream, slot.number);
        }
    }

    pub(crate) fn observation(self) -> Observation {
        self.observation_with(Vec::new())
    }

    /// What was observed, by this engine and in other parts of a run by ports: each with its own ports.
    pub(crate) fn observation_with(mut self, shares: Vec<(Share, &[u32])>) -> Observation {
        if PLUGGED {
            self.end_controls();
        }
        self.observe_network_time();
        let network_time = self.network_time_observation();
        let gates = if PLUGGED { self.gates_observation() } else { None };
        let preemption = if PLUGGED { self.preemption_observation() } else { None };
        self.count_under_way();
        let mut ports = self.port_observations();
        let mut virtual_links = self.virtual_links.observations();
        for (share, own) in shares {
            share.add_to(&mut self, (&mut ports, own), &mut virtual_links);
        }
        self.report_progress();
        let cycles_seen = self.plugged.as_mut().and_then(|plugged| plugged.cycles.take());
        let cycle_frames = cycles_seen.map(FirstCycles::finish).unwrap_or_default();
        let machines = self
            .plugged
            .take()
            .map(|plugged| (plugged.stacks, plugged.applications, plugged.controls, plugged.receptions));
        let talkers = &self.talkers;
        let mut observation = Observation {
            seed: self.seed,
            end: self.now.since_start(),
            frame_hops: self.statistics.frame_hops,
            trace_hash: self.statistics.trace_hash,
            test: None,
            harts: None,
            cycle_frames,
            reservations: Vec::new(),
            refusals: Vec::new(),
            control_losses: self.statistics.control_losses(self.network),
            vlan_registrations: Vec::new(),
            clocks: Vec::new(),
            mechanisms: Observed::default(),
            virtual_links,
            slots: Vec::new(),
            cycles: Default::default(),
            takeover: None,
            start_up: Vec::new(),
            network_time,
            ports,
            streams: self
                .statistics
                .into_streams(self.network, &self.plan, |stream| u64::from(talkers[stream].number)),
        };
        if let Some(gates) = gates {
            observation.mechanisms.add(gates);
        }
        if let Some(preemption) = preemption {
            observation.mechanisms.add(preemption);
        }
        if let Some((stacks, applications, controls, receptions)) = machines {
            receptions.finish(self.now, &self.nodes, &mut observation);
            for runner in controls.into_runners() {
                runner.finish(&mut observation);
            }
            stacks.finish(&mut observation);
            applications.finish(self.network, &mut observation);
        }
        observation
    }
}

/// What one part of a run by ports has counted.
#[derive(Debug)]
pub(crate) struct Share {
    pub(crate) statistics: Statistics,
    pub(crate) ports: Vec<PortObservation>,
    /// Per stream the frames that its talker created.
    pub(crate) created: Vec<u32>,
    pub(crate) virtual_links: Vec<VirtualLinkObservation>,
}

impl Share {
    /// Adds it to what another part has counted. A port and a virtual link have counters in one part.
    fn add_to<R: Recorder + ?Sized, const PLUGGED: bool>(
        self,
        engine: &mut Engine<'_, R, PLUGGED>,
        (ports, own): (&mut [PortObservation], &[u32]),
        virtual_links: &mut [VirtualLinkObservation],
    ) {
        for port in own.iter().map(|port| *port as usize) {
            let scheduler_discarded = ports[port].scheduler_discarded;
            ports[port] = PortObservation { scheduler_discarded, ..self.ports[port] };
        }
        for (port, share) in ports.iter_mut().zip(&self.ports) {
            port.scheduler_discarded += share.scheduler_discarded;
        }
        for (talker, created) in engine.talkers.iter_mut().zip(&self.created) {
            talker.number += created;
        }
        for (link, share) in virtual_links.iter_mut().zip(self.virtual_links) {
            if share.frames > 0 {
                *link = share;
            }
        }
        engine.statistics.add(self.statistics);
    }
}

/// How far ahead most events are: some frames of full length on the fastest link.
fn reach(network: &Network) -> Duration {
    let rate = network.links.iter().map(|link| link.rate).max().unwrap_or(BitRate::from_gbps(1));
    rate.duration_ceil(Bytes::new(8_000).bits())
}
