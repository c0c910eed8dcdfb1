//! Machines that make frames of their own or hold them: hosts of mechanisms (`control/`), applications that answer (`applications/`),
//! protocol stacks of hosts (`host_stacks.rs`), network time (`time_triggered.rs`).
//!
//! Only in networks that have any: the recorder of such a run says so in its type, so other runs hold
//! nothing of this. The machines' next deadline shares the timeline's place in the agenda, so at one
//! instant they act before frames arrive.

use tautwire_model::Network;
use tautwire_model::network::Traffic;

use crate::applications::Applications;
use crate::as6802;
use crate::central::{self, AdmissionControl};
use crate::clock::{LocalClock, SimTime};
use crate::control::contents::Contents;
use crate::control::{Attached, Controls, FirstCycles, Mechanism, Policers, Pools};
use crate::engine::Engine;
use crate::frame::Slot;
use crate::gptp;
use crate::harts;
use crate::host_stacks::HostStacks;
use crate::options::HartsTest;
use crate::recorder::Recorder;
use crate::srp;
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
fn attached<'n>(
    network: &'n Network,
    seed: u64,
    admission: Option<Box<dyn AdmissionControl>>,
    (mechanisms, test): (&[&'static dyn Mechanism], Option<HartsTest>),
) -> Vec<Attached<'n>> {
    for key in network.sections.keys() {
        let is_given = mechanisms.iter().any(|mechanism| mechanism.section() == key);
        assert!(is_given, "a run of a network with `{key}` is given its mechanism");
    }
    let further = mechanisms.iter().filter_map(|mechanism| mechanism.attach(network));
    let reserves = srp::attach(network, seed).or_else(|| central::attach(network, seed, admission));
    let first = tdma::attach(network).into_iter().chain(as6802::attach(network)).chain(reserves);
    let first = first.chain(gptp::attach(network)).chain(further);
    first.chain(harts::attach(network, seed, test)).collect()
}

/// The machines of a run.
pub(crate) struct Driven<'n> {
    pub(crate) stacks: HostStacks,
    /// Applications that hear what comes.
    pub(crate) applications: Applications,
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
}

impl<'n> Driven<'n> {
    pub(crate) fn new(
        network: &'n Network,
        clocks: &[LocalClock],
        (seed, histograms): (u64, bool),
        admission: Option<Box<dyn AdmissionControl>>,
        mechanisms: (&[&'static dyn Mechanism], Option<HartsTest>),
    ) -> Self {
        let attached = attached(network, seed, admission, mechanisms);
        Self {
            stacks: HostStacks::new(network, seed, histograms),
            applications: Applications::new(network, seed),
            contents: Contents::new(network),
            controls: Controls::new(attached, clocks, seed, network.streams.len()),
            policers: Policers::default(),
            pools: Pools::default(),
            cycles: None,
            timed: network.time_triggered.as_ref().map(|settings| Timed::new(network, settings, seed)),
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
        let due = driven.applications.next();
        let stacks = driven.stacks.next_due();
        let controls = driven.controls.next();
        let corrected = driven.timed.as_ref().map(Timed::next);
        let protocols = controls.into_iter().chain(stacks).chain(corrected);
        due.into_iter().chain(protocols).min().map(|time| time.max(self.now))
    }

    /// Does all that the machines have to do now.
    #[cold]
    pub(crate) fn drive(&mut self) {
        self.correct_clocks();
        self.drive_stacks();
        self.answer_due();
        self.drive_controls();
        self.arm_timeline();
    }

    /// A listener has received a frame.
    #[cold]
    pub(crate) fn driven_delivery(&mut self, slot: &Slot, listener: u32, time: SimTime) {
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
        self.driven().applications.forget(node);
        self.lose_held(node);
    }
}
