//! The parts of a run outside of the plain data plane: runners of mechanisms (`control/`), applications that answer
//! (`applications/`), protocol stacks of hosts (`host_stacks/`), network time (`time_triggered.rs`), policing and
//! holding in bridges.
//!
//! Only in networks that have any of it: the type of the engine says so, and other runs hold nothing of this. The next instant
//! at which any of these acts shares the timeline's place in the agenda, so at one instant they act before frames arrive.

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, Traffic};

use crate::applications::Applications;
use crate::clock::{LocalClock, SimTime};
use crate::control::contents::Contents;
use crate::control::{Controls, FirstCycles, Policers, Pools};
use crate::engine::Engine;
use crate::frame::Slot;
use crate::frer::Repeaters;
use crate::host_stacks::HostStacks;
use crate::mechanisms::{self, Given};
use crate::preemption::{Receivers, Verifiers};
use crate::reception::Receptions;
use crate::recorder::Recorder;
use crate::started::StartedFrames;
use crate::time_triggered::Timed;

/// Whether a network has anything of this.
pub(crate) fn is_wanted(network: &Network) -> bool {
    let hears = |node: &NodeIndex| network.reception(*node).is_some();
    mechanisms::are_there(network)
        || network.time_triggered.is_some()
        || network.has_gates()
        || network.has_merging()
        || network.hosts.iter().any(|host| !host.stacks.stacks.is_empty())
        || network.streams.iter().any(|stream| {
            stream.datagrams.is_some()
                || matches!(stream.traffic, Traffic::Response { .. })
                || stream.listeners.iter().any(hears)
        })
}

/// The parts of a run outside of the plain data plane.
pub(crate) struct Plugged<'n> {
    pub(crate) stacks: HostStacks,
    /// Applications that react to received frames.
    pub(crate) applications: Applications,
    /// The contents of protocols' frames in transit.
    pub(crate) contents: Contents,
    /// The runners of mechanisms.
    pub(crate) controls: Controls<'n>,
    /// Policers of streams, where they enter.
    pub(crate) policers: Policers,
    /// Messages that bridges hold.
    pub(crate) pools: Pools,
    /// Frames of the first cycles of a period, if a mechanism wants them.
    pub(crate) cycles: Option<FirstCycles>,
    /// What nodes ask when the last bit of a frame is in.
    pub(crate) receptions: Receptions,
    /// Nodes that send frames of streams with copies again.
    pub(crate) repeaters: Repeaters,
    /// Time-triggered virtual links, if there are any.
    pub(crate) timed: Option<Timed>,
    /// Frames that ports have begun and may still cut.
    pub(crate) started: StartedFrames,
    /// The receiving sides of links whose frames may come in parts.
    pub(crate) receivers: Receivers,
    /// Ports that verify the other end of their link, or respond.
    pub(crate) verifiers: Verifiers,
}

impl<'n> Plugged<'n> {
    pub(crate) fn new(
        network: &'n Network,
        clocks: &[LocalClock],
        (seed, histograms, is_held): (u64, bool, bool),
        given: Given<'_>,
    ) -> Self {
        let attached = mechanisms::attached(network, seed, given);
        Self {
            stacks: HostStacks::new(network, seed, histograms),
            applications: Applications::new(network, seed),
            contents: Contents::new(network),
            controls: Controls::new(attached, clocks, (seed, is_held), network.streams.len()),
            policers: Policers::default(),
            pools: Pools::default(),
            cycles: None,
            receptions: mechanisms::at_receptions(network),
            repeaters: Repeaters::new(network),
            timed: network.time_triggered.as_ref().map(|settings| Timed::new(network, settings, seed)),
            started: StartedFrames::new(network.ports.len()),
            receivers: Receivers::new(network),
            verifiers: Verifiers::new(network),
        }
    }

    /// Frames that wait in the machines of their talkers, by their places in the slab.
    pub(crate) fn waiting_at_talkers(&self) -> impl Iterator<Item = u32> + '_ {
        self.controls.held().chain(self.stacks.waiting())
    }

    /// Frames that ports may cut, by their places in the slab.
    pub(crate) fn under_way(&self) -> impl Iterator<Item = u32> + '_ {
        self.started.places()
    }
}

impl<'run, R: Recorder + ?Sized, const PLUGGED: bool> Engine<'run, R, PLUGGED> {
    pub(crate) fn plugged(&mut self) -> &mut Plugged<'run> {
        self.plugged.as_mut().expect("a run that has machines")
    }

    /// When any of this acts next.
    pub(crate) fn plugged_next(&self) -> Option<SimTime> {
        let plugged = self.plugged.as_ref()?;
        let due = plugged.applications.next();
        let stacks = plugged.stacks.next_due();
        let controls = plugged.controls.next();
        let corrected = plugged.timed.as_ref().map(Timed::next);
        let repeats = plugged.repeaters.next();
        let verified = plugged.verifiers.next();
        let protocols = controls.into_iter().chain(stacks).chain(corrected).chain(repeats).chain(verified);
        due.into_iter().chain(protocols).min().map(|time| time.max(self.now))
    }

    /// Does all that is due now: network time, protocol stacks, applications, stuck senders, verification of links, and then mechanisms in the order of their list.
    #[cold]
    pub(crate) fn act_plugged(&mut self) {
        self.correct_clocks();
        self.drive_stacks();
        self.answer_due();
        self.repeat_due();
        self.verify_due();
        self.drive_controls();
        self.arm_timeline();
    }

    /// A listener has received a frame.
    #[cold]
    pub(crate) fn plugged_delivery(&mut self, slot: &Slot, listener: u32, time: SimTime) {
        if self.network.streams[slot.stream as usize].replication.is_some() {
            self.statistics.is_taken(slot.stream, listener, slot.number);
        }
        if let Some((stream, listener)) = self.repeated_to(slot.stream, listener) {
            return self.statistics.is_taken(stream, listener, slot.number);
        }
        if self.take_octets(slot) {
            return;
        }
        let network = self.network;
        let node = network.streams[slot.stream as usize].listeners[listener as usize];
        if network.has_stacks(node) {
            self.take_into_stack(slot, node, listener);
            return self.arm_timeline();
        }
        self.take_into_application(slot, node, listener, time);
    }

    /// A node has failed: what is put together there is forgotten, and what it holds lost.
    #[cold]
    pub(crate) fn forget_at(&mut self, node: usize) {
        self.plugged().applications.forget(node);
        self.lose_pooled(node);
    }
}
