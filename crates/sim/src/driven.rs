//! Machines that make frames of their own or hold them: hosts of mechanisms (`control/`), applications that answer,
//! protocol stacks of hosts (`host_stacks.rs`), network time (`time_triggered.rs`).
//!
//! Only in networks that have any: the recorder of such a run says so in its type, so other runs hold
//! nothing of this. The machines' next deadline shares the timeline's place in the agenda, so at one
//! instant they act before frames arrive.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, Traffic};

use crate::as6802;
use crate::clock::{LocalClock, SimTime};
use crate::control::contents::Contents;
use crate::control::{Attached, Controls, FirstCycles, Mechanism, Policers, Pools};
use crate::datagrams::Datagrams;
use crate::engine::Engine;
use crate::frame::{Slot, octets_of};
use crate::gptp;
use crate::harts::admission::Admission;
use crate::harts::ftt::Ftt;
use crate::host_stacks::HostStacks;
use crate::plan::{Plan, index};
use crate::random::{Purpose, Random};
use crate::recorder::Recorder;
use crate::srp::{AdmissionControl, Srp};
use crate::tdma;
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
    tdma::attach(network)
        .into_iter()
        .chain(as6802::attach(network))
        .chain(gptp::attach(network))
        .chain(further)
        .collect()
}

/// The machines of a run.
pub(crate) struct Driven<'n> {
    /// Per stream: the streams that answer it.
    answers: Vec<Vec<u32>>,
    /// Responses to come: when, of which stream, since when their requests are under way, and their numbers.
    due: BinaryHeap<Reverse<(SimTime, u32, SimTime, u32)>>,
    random: Random,
    /// What hosts without stacks take for what nobody answers.
    receptions: Random,
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
        Self {
            answers,
            due: BinaryHeap::new(),
            random: Random::new(seed, Purpose::Driven, 0),
            receptions: Random::new(seed, Purpose::Reception, 0),
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

    /// Frames that wait in the machines of their talkers, by their places in the slab.
    pub(crate) fn waiting_at_talkers(&self) -> impl Iterator<Item = u32> + '_ {
        self.controls.held().chain(self.stacks.waiting())
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
        let srp = driven.srp.as_ref().and_then(Srp::next);
        let stacks = driven.stacks.next_due();
        let controls = driven.controls.next();
        let corrected = driven.timed.as_ref().map(Timed::next);
        let clock = |node: usize| self.nodes[node].clock;
        let living = |node: usize| self.nodes[node].up.then(|| self.nodes[node].clock);
        let ftt = driven.ftt.as_ref().and_then(|ftt| ftt.next(clock, living));
        let admits = driven.harts_admission.as_ref().and_then(|admission| admission.next(living));
        let protocols = ftt.into_iter().chain(srp).chain(controls).chain(stacks).chain(corrected);
        let protocols = protocols.chain(admits);
        due.into_iter().chain(protocols).min().map(|time| time.max(self.now))
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
        self.drive_srp();
        self.drive_controls();
        self.drive_ftt();
        self.drive_harts_admission();
        self.arm_timeline();
    }

    /// A listener has received a frame.
    #[cold]
    pub(crate) fn driven_delivery(&mut self, slot: &Slot, listener: u32, time: SimTime) {
        if self.take_octets(slot, time) || self.take_control(slot.stream, slot.number, time) {
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

    /// A node has failed: what is put together there is forgotten, and what it holds lost.
    #[cold]
    pub(crate) fn forget_at(&mut self, node: usize) {
        self.driven().datagrams.forget(node);
        self.lose_held(node);
    }
}
