//! Machines that make frames of their own or hold them: TDMA stations, applications that answer,
//! start-ups (`start_up.rs`), protocol stacks of hosts (`host_stacks.rs`), network time (`time_triggered.rs`).
//!
//! Only in networks that have any: the recorder of such a run says so in its type, so other runs hold
//! nothing of this. The machines' next deadline shares the timeline's place in the agenda, so at one
//! instant they act before frames arrive. A synchronisation frame leaves its station without its host's
//! delay, for it is made and stamped at the interface.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tautwire_core::tdma::{
    CalibrationReply, CalibrationRequest, Synchronisation, TdmaAction, TdmaStation, TdmaTraffic,
};
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, StreamIndex, Traffic};
use tautwire_units::{Duration, Instant};

use crate::as6802;
use crate::clock::{LocalClock, SimTime};
use crate::control::contents::{Contents, Frame};
use crate::control::{Attached, Controls, FirstCycles, Mechanism, Policers, Pools};
use crate::datagrams::Datagrams;
use crate::engine::Engine;
use crate::frame::{Aim, Slot, octets_of};
use crate::gptp;
use crate::harts::admission::Admission;
use crate::harts::ftt::Ftt;
use crate::host_stacks::HostStacks;
use crate::plan::{Plan, index};
use crate::random::{Purpose, Random};
use crate::recorder::Recorder;
use crate::result::DropReason;
use crate::rtnet::{self, TdmaMessage};
use crate::slot_use::SlotUse;
use crate::srp::{AdmissionControl, Srp};
use crate::start_up::StartUps;
use crate::time_triggered::Timed;

/// Whether a network has machines that make frames.
pub(crate) fn are_there(network: &Network) -> bool {
    network.tdma.is_some()
        || network.srp.is_some()
        || network.hosts.iter().any(|host| !host.stacks.stacks.is_empty())
        || network.gptp.is_some()
        || network.sections.keys().next().is_some()
        || network.harts.is_some()
        || network.time_triggered.is_some()
        || network.streams.iter().any(|stream| stream.datagrams.is_some())
        || network.streams.iter().any(|stream| matches!(stream.traffic, Traffic::Response { .. }))
        || network
            .streams
            .iter()
            .any(|stream| stream.listeners.iter().any(|node| network.reception(*node).is_some()))
}

/// The mechanisms of a network, in the order in which they act.
fn attached<'n>(network: &'n Network, mechanisms: &[&'static dyn Mechanism]) -> Vec<Attached<'n>> {
    for key in network.sections.keys() {
        let is_given = mechanisms.iter().any(|mechanism| mechanism.section() == key);
        assert!(is_given, "a run of a network with `{key}` is given its mechanism");
    }
    let further = mechanisms.iter().filter_map(|mechanism| mechanism.attach(network));
    as6802::attach(network).into_iter().chain(gptp::attach(network)).chain(further).collect()
}

/// The machines of a run.
pub(crate) struct Driven<'n> {
    /// Per node.
    stations: Vec<Option<Station>>,
    /// Per stream: the streams that answer it.
    answers: Vec<Vec<u32>>,
    /// Responses to come: when, of which stream, since when their requests are under way, and their numbers.
    due: BinaryHeap<Reverse<(SimTime, u32, SimTime, u32)>>,
    random: Random,
    /// What hosts without stacks take for what nobody answers.
    receptions: Random,
    /// What becomes of the slots of TDMA.
    pub(crate) slots: SlotUse,
    /// The start-up of TDMA stations, if there is one.
    pub(crate) start_up: Option<StartUps>,
    /// Stream reservation.
    pub(crate) srp: Option<Srp>,
    pub(crate) stacks: HostStacks,
    /// Datagrams that are put together.
    pub(crate) datagrams: Datagrams,
    /// What protocols' frames hold that are on their way.
    pub(crate) contents: Contents,
    /// Mechanisms that are plug-ins.
    pub(crate) controls: Controls<'n>,
    /// Policers of streams, where they enter.
    pub(crate) policers: Policers,
    /// Messages that bridges hold.
    pub(crate) pools: Pools,
    /// Frames of the first cycles of a period, if a mechanism wants them.
    pub(crate) cycles: Option<FirstCycles>,
    /// Time-triggered virtual links, if there are any.
    pub(crate) timed: Option<Timed>,
    /// Masters and nodes of HaRTES.
    pub(crate) ftt: Option<Ftt>,
    /// Central admission of HaRTES.
    pub(crate) harts_admission: Option<Admission>,
}

/// A TDMA station.
struct Station {
    machine: TdmaStation<(u32, Aim)>,
    /// The stream of its synchronisation frames.
    synchronisation: Option<u32>,
}

impl<'n> Driven<'n> {
    pub(crate) fn new(
        network: &'n Network,
        plan: &Plan,
        clocks: &[LocalClock],
        (seed, histograms): (u64, bool),
        admission: Option<Box<dyn AdmissionControl>>,
        mechanisms: &[&'static dyn Mechanism],
    ) -> Self {
        let streams = || network.streams.iter();
        let mut answers = vec![Vec::new(); network.streams.len()];
        for (number, stream) in streams().enumerate() {
            if let Traffic::Response { to, .. } = stream.traffic {
                answers[to.index()].push(index(number));
            }
        }
        let synchronises = |stream: &tautwire_model::network::Stream| {
            matches!(stream.traffic, Traffic::Synchronisation { .. })
        };
        let station = |node: usize| {
            let config = network.tdma_station(NodeIndex::at(node))?;
            let own = streams().position(|stream| stream.talker.index() == node && synchronises(stream));
            let machine = TdmaStation::new(config, clocks[node].local(SimTime::ZERO));
            Some(Station { machine, synchronisation: own.map(index) })
        };
        Self {
            stations: (0..network.nodes.len()).map(station).collect(),
            answers,
            due: BinaryHeap::new(),
            random: Random::new(seed, Purpose::Driven, 0),
            receptions: Random::new(seed, Purpose::Reception, 0),
            slots: SlotUse::new(network),
            start_up: StartUps::new(network, clocks, seed),
            srp: Srp::new(network, plan, clocks, seed, admission),
            stacks: HostStacks::new(network, seed, histograms),
            datagrams: Datagrams::new(network),
            contents: Contents::new(network),
            controls: Controls::new(attached(network, mechanisms), clocks, seed, network.streams.len()),
            policers: Policers::default(),
            pools: Pools::default(),
            cycles: None,
            timed: network.time_triggered.as_ref().map(|settings| Timed::new(network, settings, seed)),
            ftt: Ftt::new(network, clocks, seed),
            harts_admission: Admission::new(network, clocks, seed),
        }
    }

    /// Begins the calibration of a node's station.
    pub(crate) fn calibrate(&mut self, node: NodeIndex, rounds: u32) {
        if let Some(station) = &mut self.stations[node.index()] {
            station.machine.calibrate(rounds);
        }
    }

    /// Whether a node's station calibrates.
    pub(crate) fn is_calibrating(&self, node: NodeIndex) -> bool {
        self.stations[node.index()].as_ref().is_some_and(|station| station.machine.is_calibrating())
    }

    /// A node's station, the master, is asked how long frames travel.
    pub(crate) fn ask(&mut self, node: usize, now: Instant, from: u32, request: CalibrationRequest) {
        if let Some(station) = &mut self.stations[node] {
            station.machine.asked(now, from, request);
        }
    }

    /// A node's station hears the master's reply.
    pub(crate) fn hear_reply(&mut self, node: usize, now: Instant, reply: CalibrationReply) {
        if let Some(station) = &mut self.stations[node] {
            station.machine.hear_reply(now, reply);
        }
    }

    /// The travel time that a node's station reckons with.
    pub(crate) fn travel(&self, node: usize) -> Duration {
        self.stations[node].as_ref().map_or(Duration::ZERO, |station| station.machine.travel())
    }

    /// Frames that wait in the machines of their talkers, by their places in the slab.
    pub(crate) fn waiting_at_talkers(&self) -> impl Iterator<Item = u32> + '_ {
        let stations = self.stations.iter().flatten().flat_map(|station| station.machine.waiting());
        stations.map(|(place, _)| place).chain(self.stacks.waiting())
    }

    /// Frames that ports may cut, by their places in the slab.
    pub(crate) fn under_way(&self) -> impl Iterator<Item = u32> + '_ {
        self.timed.iter().flat_map(Timed::waiting)
    }
}

impl<'run, R: Recorder + ?Sized, const PLUGGED: bool> Engine<'run, R, PLUGGED> {
    pub(crate) fn driven(&mut self) -> &mut Driven<'run> {
        self.driven.as_mut().expect("a run that has machines")
    }

    /// When the machines act next.
    pub(crate) fn driven_next(&self) -> Option<SimTime> {
        let driven = self.driven.as_ref()?;
        let due = driven.due.peek().map(|Reverse((time, ..))| *time);
        let stations = driven.stations.iter().zip(&self.nodes);
        let deadlines = stations.filter_map(|(station, node)| {
            station.as_ref()?.machine.deadline().map(|at| node.clock.true_at(at))
        });
        let srp = driven.srp.as_ref().and_then(Srp::next);
        let stacks = driven.stacks.next_due();
        let controls = driven.controls.next();
        let corrected = driven.timed.as_ref().map(Timed::next);
        let clock = |node: usize| self.nodes[node].clock;
        let living = |node: usize| self.nodes[node].up.then(|| self.nodes[node].clock);
        let ftt = driven.ftt.as_ref().and_then(|ftt| ftt.next(clock, living));
        let admits = driven.harts_admission.as_ref().and_then(|admission| admission.next(living));
        let started = driven.start_up.as_ref();
        let started = started.and_then(|start_up| start_up.next(living));
        let protocols = ftt.into_iter().chain(srp).chain(controls).chain(stacks).chain(corrected);
        let protocols = protocols.chain(started).chain(admits);
        deadlines.chain(due).chain(protocols).min().map(|time| time.max(self.now))
    }

    /// Does all that the machines have to do now.
    #[cold]
    pub(crate) fn drive(&mut self) {
        self.correct_clocks();
        self.drive_stacks();
        while let Some(Reverse((_, stream, since, request))) =
            self.driven().due.peek().copied().filter(|Reverse((time, ..))| *time <= self.now)
        {
            self.driven().due.pop();
            let running = self.talkers[stream as usize].running;
            self.recorder.answering(stream, request, running);
            if running {
                self.create_next(stream, since);
            }
            self.drive_stacks();
        }
        self.drive_start_up();
        for node in 0..self.nodes.len() {
            let local = self.nodes[node].clock.local(self.now);
            while let Some(station) = &mut self.driven().stations[node]
                && let Some(action) = station.machine.act(local)
            {
                let stream = station.synchronisation;
                let slot = station.machine.slot_taken();
                match action {
                    TdmaAction::Pass => self.slot_passed(node, slot),
                    TdmaAction::Expire((place, _)) => self.give_up(place, node, DropReason::Expired),
                    TdmaAction::Transmit((place, aim)) => {
                        let now = self.now;
                        let frame = self.slab.get_mut(place);
                        frame.held_before += now.saturating_since(frame.queued);
                        let frame = (frame.stream, frame.number, frame.created);
                        self.slot_used(node, slot, Some(frame));
                        self.take_aim(place, aim);
                    }
                    TdmaAction::Calibrate(request) => {
                        self.slot_used(node, slot, None);
                        self.send_request(node, request);
                    }
                    TdmaAction::Reply(reply) => self.send_reply(reply),
                    TdmaAction::Synchronise(says) => {
                        self.synchronise(stream.expect("who opens cycles has a stream for it"), says);
                    }
                }
            }
        }
        self.drive_srp();
        self.drive_controls();
        self.drive_ftt();
        self.drive_harts_admission();
        self.arm_timeline();
    }

    fn synchronise(&mut self, stream: u32, says: Synchronisation) {
        let network = self.network;
        let (now, number) = (self.now, self.talkers[stream as usize].number);
        self.driven().slots.opened(network, says, (stream, now));
        self.recorder.synchronised(stream, number, says);
        let payload = network.streams[stream as usize].payload_min;
        self.send_frame(stream, rtnet::synchronisation(says), payload);
    }

    /// Whether a delivered frame of TDMA was for the node's station, which has it then.
    pub(crate) fn take_tdma(&mut self, slot: &Slot, listener: u32, frame: &Frame, time: SimTime) -> bool {
        let node = self.network.streams[slot.stream as usize].listeners[listener as usize].index();
        let local = self.nodes[node].clock.local(time);
        let Some(station) = &mut self.driven().stations[node] else { return false };
        match rtnet::read_tdma(frame) {
            Some(TdmaMessage::Synchronisation(heard)) => {
                station.machine.hear(local, heard);
                self.arm_timeline();
            }
            Some(message) => self.take_calibration(node, frame.beside.from, message, time),
            None => {}
        }
        true
    }

    /// Gives a frame that its host hands over at `ready` to the station of its node; false if there is none.
    pub(crate) fn offer_to_station(&mut self, place: u32, node: usize, ready: SimTime, aim: Aim) -> bool {
        let stream = StreamIndex(self.slab.get(place).stream);
        let local = self.nodes[node].clock.local(ready);
        let traffic = match self.network.streams[stream.index()].traffic {
            Traffic::Protocol => TdmaTraffic::Management,
            _ if self.network.is_real_time(stream) => TdmaTraffic::RealTime,
            _ => TdmaTraffic::Ordinary,
        };
        if self.driven().stations[node].is_none() {
            return false;
        }
        self.slab.get_mut(place).queued = ready;
        let station = self.driven().stations[node].as_mut().expect("just looked at");
        let taken = station.machine.enqueue(local, (place, aim), traffic);
        if !self.nodes[node].up {
            self.stop_station(node);
        } else if taken.is_err() {
            self.drop_at_talker(place, DropReason::HostQueueFull);
        } else if self.network.tdma.as_ref().is_some_and(|tdma| tdma.lifetime.is_some()) {
            self.arm_timeline();
        }
        true
    }

    /// A listener has received a frame.
    #[cold]
    pub(crate) fn driven_delivery(&mut self, slot: &Slot, listener: u32, time: SimTime) {
        if self.take_octets(slot, listener, time) || self.take_control(slot.stream, slot.number, time) {
            return;
        }
        let network = self.network;
        let node = network.streams[slot.stream as usize].listeners[listener as usize];
        if network.has_stacks(node) {
            self.take_into_stack(slot, node, listener);
            return self.arm_timeline();
        }
        let whole = self.reassemble(slot.stream, listener, slot.number, slot.created, time);
        let driven = self.driven.as_mut().expect("a run that has machines");
        let mut answers = driven.answers[slot.stream as usize].iter();
        let is_answered = whole && answers.any(|answer| network.streams[*answer as usize].talker == node);
        if let Some(receive) = network.reception(node) {
            let overhead = self.plan.hops[slot.hop as usize].overhead;
            let octets = u64::from(octets_of(slot.payload, overhead).get());
            let random = if is_answered { &mut driven.random } else { &mut driven.receptions };
            let at = time + random.delay(receive, octets);
            self.take_from_port(slot, (node, listener), at, is_answered);
            self.arm_timeline();
        } else if is_answered {
            self.answer(slot.stream, node, slot.created, slot.number);
            self.arm_timeline();
        }
    }

    /// An application has received a frame, or the last one of a datagram, that was created at `created`.
    pub(crate) fn answer(&mut self, stream: u32, node: NodeIndex, created: SimTime, number: u32) {
        let network = self.network;
        let now = self.now;
        let driven = self.driven();
        for answer in &driven.answers[stream as usize] {
            let answering = &network.streams[*answer as usize];
            let Traffic::Response { turn_around, .. } = answering.traffic else { continue };
            if answering.talker == node {
                driven.due.push(Reverse((now + turn_around, *answer, created, number)));
            }
        }
    }

    /// A master is back: nobody else opens cycles where no standby is.
    #[cold]
    pub(crate) fn reopen_cycles(&mut self, node: NodeIndex) {
        let network = self.network;
        let Some(tdma) = network.tdma.as_ref().filter(|tdma| tdma.standby.is_none()) else { return };
        let local = self.nodes[node.index()].clock.local(self.now);
        if network.streams[tdma.synchronisation.index()].talker == node
            && let Some(station) = &mut self.driven().stations[node.index()]
        {
            station.machine.reopen(local);
        }
    }

    /// A node has failed: what its station holds is lost.
    #[cold]
    pub(crate) fn stop_station(&mut self, node: usize) {
        self.driven().datagrams.forget(node);
        self.lose_held(node);
        let Some(station) = &mut self.driven().stations[node] else { return };
        let lost: Vec<u32> = station.machine.reset().map(|(place, _)| place).collect();
        for place in lost {
            self.give_up(place, node, DropReason::NodeDown);
        }
    }

    /// A frame that waits in a node's station never leaves it.
    fn give_up(&mut self, place: u32, node: usize, reason: DropReason) {
        let frame = self.slab.get(place);
        let frame = (frame.stream, frame.number, frame.created);
        self.slots_missed(node, frame, false);
        self.drop_at_talker(place, reason);
    }
}
