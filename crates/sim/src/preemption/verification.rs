//! Verification of links in a run (IEEE Std 802.3-2022, 99.4.3): ports ask the other end whether it takes mPackets, and respond.
//!
//! The machine is `core`'s. A link is up while its cable is whole and both of its nodes run. When it goes down its ports lose what they have queued, and
//! preempt nothing until the other end has responded anew. mPackets of verification are damaged and delayed as frames are; a port without a MAC merge
//! sublayer drops them.

use std::collections::VecDeque;

use tautwire_core::preemption::{MPacket, VERIFY_OCTETS, Verification, VerifyStatus};
use tautwire_model::Network;
use tautwire_model::network::PortIndex;

use crate::SimTime;
use crate::engine::Engine;
use crate::recorder::{Recorder, SentVerification};
use crate::result::DropReason;

/// The ports that verify or respond in a run, by their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verifiers {
    ports: Vec<Verifier>,
    /// When any of them has something to do.
    due: Option<SimTime>,
}

#[derive(Clone, Debug)]
struct Verifier {
    port: PortIndex,
    other: PortIndex,
    /// Of a port that verifies.
    machine: Option<Verification>,
    at_start: bool,
    responds: bool,
    is_up: bool,
    /// What is on its way to the port.
    coming: VecDeque<(SimTime, MPacket)>,
    /// When the attempt is over.
    deadline: Option<SimTime>,
}

impl Verifiers {
    pub(crate) fn new(network: &Network) -> Self {
        let verifier = |port: PortIndex| {
            let found = network.verification(port)?;
            let links = network.ports[port.index()].links?;
            Some(Verifier {
                port,
                other: network.links[links.egress.index()].to,
                machine: found.verifies.map(|time| Verification::new(false, time)),
                at_start: found.at_start,
                responds: found.responds,
                is_up: false,
                coming: VecDeque::new(),
                deadline: None,
            })
        };
        Self { ports: (0..network.ports.len()).map(PortIndex::at).filter_map(verifier).collect(), due: None }
    }

    /// When any port has something to do next.
    pub(crate) const fn next(&self) -> Option<SimTime> {
        self.due
    }

    /// How far the verification of a port is, if it verifies in the run.
    pub(super) fn status(&self, port: PortIndex) -> Option<VerifyStatus> {
        let place = self.ports.binary_search_by_key(&port, |one| one.port).ok()?;
        self.ports[place].machine.map(|machine| machine.status())
    }

    fn find(&mut self, port: PortIndex) -> Option<&mut Verifier> {
        let place = self.ports.binary_search_by_key(&port, |one| one.port).ok()?;
        self.ports.get_mut(place)
    }

    fn settle(&mut self) {
        let due =
            |one: &Verifier| one.deadline.into_iter().chain(one.coming.front().map(|(at, _)| *at)).min();
        self.due = self.ports.iter().filter_map(due).min();
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// The run begins: links that are up are verified now, or have been before.
    pub(crate) fn begin_verifications(&mut self) {
        for number in 0..self.plugged().verifiers.ports.len() {
            let Verifier { port, other, at_start, .. } = self.plugged().verifiers.ports[number];
            let (is_up, responds) = (self.is_up(port, other), self.network.preemptable(port) != 0);
            let verifier = &mut self.plugged().verifiers.ports[number];
            verifier.is_up = is_up;
            if !is_up {
                self.preempts(port, false);
            } else if at_start {
                self.begin_verification(number);
            } else if let Some(machine) = &mut verifier.machine {
                *machine = machine.settled(responds);
            }
        }
    }

    /// Links or nodes have failed or come back.
    pub(crate) fn links_verify(&mut self) {
        for number in 0..self.plugged().verifiers.ports.len() {
            let Verifier { port, other, is_up: was_up, .. } = self.plugged().verifiers.ports[number];
            let is_up = self.is_up(port, other);
            if is_up == was_up {
                continue;
            }
            let verifier = &mut self.plugged().verifiers.ports[number];
            verifier.is_up = is_up;
            if is_up {
                self.begin_verification(number);
                continue;
            }
            verifier.coming.clear();
            verifier.deadline = None;
            let verifies = verifier.machine.as_mut().map(Verification::reset).is_some();
            self.flush_port(port.0, DropReason::LinkDown);
            if verifies {
                self.preempts(port, false);
            }
        }
        self.plugged().verifiers.settle();
    }

    /// What is due of verifications: mPackets that have come, and attempts that are over.
    pub(crate) fn verify_due(&mut self) {
        let now = self.now;
        if self.plugged().verifiers.due.is_none_or(|due| due > now) {
            return;
        }
        for number in 0..self.plugged().verifiers.ports.len() {
            let port = self.plugged().verifiers.ports[number].port;
            let Some(clock) = self.ports[port.index()].as_ref().map(|state| state.clock) else { continue };
            let verifier = &mut self.plugged().verifiers.ports[number];
            let (mut to_send, mut is_verified) = (Vec::new(), false);
            while verifier.coming.front().is_some_and(|(at, _)| *at <= now) {
                let Some((_, mpacket)) = verifier.coming.pop_front() else { break };
                match (mpacket, &mut verifier.machine) {
                    (MPacket::Verify, _) if verifier.responds => to_send.push(MPacket::Respond),
                    (MPacket::Respond, Some(machine)) => {
                        machine.respond();
                        is_verified |= machine.is_active();
                    }
                    _ => {}
                }
            }
            if let Some(machine) = &mut verifier.machine {
                to_send.extend(machine.expire(clock.local(now)).then_some(MPacket::Verify));
                verifier.deadline = machine.deadline().map(|at| clock.true_at(at));
            }
            if is_verified {
                self.preempts(port, true);
            }
            to_send.into_iter().for_each(|mpacket| self.send_verification(port, mpacket));
        }
        self.plugged().verifiers.settle();
    }

    /// If a port has just begun an mPacket of verification: it comes to the other end.
    pub(crate) fn verification_sent(&mut self, port_index: u32) {
        let now = self.now;
        let Some(state) = self.ports[port_index as usize].as_mut() else { return };
        let Some(mpacket) = state.egress.verification_sent() else { return };
        let (clock, end) = (state.clock, state.clock.true_at(state.egress.busy_until()));
        let last = SimTime::from_ps(end.as_ps() - state.gap.as_ps()).max(now);
        let link = &mut self.links[state.link as usize];
        let received = link.reception(now, last);
        let is_damaged = link.errs && link.corrupts(VERIFY_OCTETS * 8);
        self.recorder.verification_sent(&SentVerification { start: now, end, port: port_index, mpacket });
        let verifiers = &mut self.plugged().verifiers;
        let Some(verifier) = verifiers.find(PortIndex(port_index)) else { return };
        if let (MPacket::Verify, Some(machine)) = (mpacket, &mut verifier.machine) {
            machine.sent(clock.local(now));
            verifier.deadline = machine.deadline().map(|at| clock.true_at(at));
        }
        let other = verifier.other;
        if let Some(other) = verifiers.find(other).filter(|_| !is_damaged) {
            other.coming.push_back((received, mpacket));
        }
        verifiers.settle();
        self.arm_timeline();
    }

    /// Whether the link of a port is up.
    fn is_up(&self, port: PortIndex, other: PortIndex) -> bool {
        let ends = [port, other].map(|port| &self.network.ports[port.index()]);
        let links = ends[0].links.into_iter().flat_map(|links| [links.egress, links.ingress]);
        let nodes = ends.into_iter().all(|port| self.nodes[port.node.index()].up);
        nodes && links.into_iter().all(|link| self.links[link.index()].up)
    }

    fn begin_verification(&mut self, number: usize) {
        let verifier = &mut self.plugged().verifiers.ports[number];
        let port = verifier.port;
        if verifier.machine.as_mut().is_some_and(Verification::begin) {
            self.preempts(port, false);
            self.send_verification(port, MPacket::Verify);
        }
    }

    fn send_verification(&mut self, port: PortIndex, mpacket: MPacket) {
        if let Some(state) = self.ports[port.index()].as_mut() {
            state.egress.send_verification(mpacket);
            self.ask(port.0);
        }
    }

    /// Preemption of a port is active from now on, or is not.
    fn preempts(&mut self, port: PortIndex, active: bool) {
        if let Some(state) = self.ports[port.index()].as_mut() {
            state.egress.set_preempting(state.clock.local(self.now), active);
            self.ask(port.0);
        }
    }
}
