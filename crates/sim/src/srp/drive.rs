//! What makes a node act: requests of applications, its timers, and what its processor is done with.

use std::collections::BTreeSet;

use tautwire_model::network::PortIndex;
use tautwire_wire::srp::StreamId;

use super::Srp;
use super::node::Machine;
use super::request::Request;
use crate::engine::Engine;
use crate::plan::index;
use crate::recorder::Recorder;
use crate::reservation::RungEvent;

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    pub(super) fn srp(&mut self) -> &mut Srp {
        self.driven.as_mut().and_then(|driven| driven.srp.as_mut()).expect("stream reservation")
    }

    pub(super) fn has_srp(&self) -> bool {
        self.network.srp.is_some()
    }

    /// Does all that stream reservation has to do now.
    #[cold]
    pub(crate) fn drive_srp(&mut self) {
        if !self.has_srp() {
            return;
        }
        let now = self.now;
        while let Some(request) = self.srp().take_request(now) {
            if self.nodes[request.node as usize].up {
                self.srp().rung(request.stream, now, request.node, request.event);
                self.ask(request);
                self.settle_srp(request.node as usize, true);
            }
        }
        while let Some((_, node)) = self.srp().agenda.first().copied().filter(|(time, _)| *time <= now) {
            self.act_srp(node as usize);
        }
        self.drive_central();
        self.shape();
    }

    /// An application asks its station.
    pub(super) fn ask(&mut self, request: Request) {
        if self.has_cuc() {
            return self.ask_cuc(request);
        }
        let local = self.nodes[request.node as usize].clock.local(self.now);
        let reservation = self.network.srp.as_ref().expect("stream reservation");
        let reserved = &reservation.streams[request.stream as usize];
        let id = reserved.talker.stream;
        let node = &mut self.srp().nodes[request.node as usize];
        let Machine::Station(station) = &mut node.machine else { return };
        match request.event {
            RungEvent::Offered => station.advertise(local, reserved.talker),
            RungEvent::Withdrawn => station.withdraw(local, id),
            RungEvent::Asked if reserved.when_offered => return node.waits_for.push(request.stream),
            RungEvent::Asked => station.attach(local, id, reserved.latency_max_ns),
            RungEvent::Detached => {
                node.waits_for.retain(|stream| *stream != request.stream);
                station.detach(local, id);
            }
            _ => return,
        }
        let talks = matches!(request.event, RungEvent::Offered | RungEvent::Withdrawn);
        let wants = matches!(request.event, RungEvent::Offered | RungEvent::Asked);
        self.want_vlan(request.node as usize, local, request.stream, talks, wants);
        if request.event == RungEvent::Withdrawn {
            self.heed_listeners(request.node as usize, local);
        }
    }

    /// A node hears what its processor is done with, and looks at its timers.
    pub(super) fn act_srp(&mut self, number: usize) {
        let (now, network) = (self.now, self.network);
        let clock = self.nodes[number].clock;
        let local = clock.local(now);
        let settings = &network.srp.as_ref().expect("stream reservation").nodes[number];
        let node = &mut self.srp().nodes[number];
        let mut changed = false;
        while let Some((_, port, pdu)) = node.inbox.pop_front_if(|(at, ..)| *at <= now) {
            changed |= node.receive(local, port, &pdu);
            if settings.tick.is_some_and(|tick| tick.restarts) {
                node.step_from = local;
            }
        }
        let mut pdus = Vec::new();
        if node.timers(settings).is_some_and(|at| at <= local) {
            changed |= node.advance(local);
            for port in 0..node.ports.len() {
                let own = node.ports[port];
                pdus.extend(node.poll_transmit(local, port).map(|pdu| (own, pdu)));
            }
        }
        for (port, pdu) in pdus {
            self.send_pdu(port, &pdu);
        }
        self.settle_srp(number, changed);
    }

    /// After something happened at a node: talkers start and stop, waiting listeners ask, the ladder tells of reservations.
    pub(super) fn settle_srp(&mut self, number: usize, changed: bool) {
        let (now, network) = (self.now, self.network);
        let clock = self.nodes[number].clock;
        if changed {
            match self.srp().nodes[number].machine {
                Machine::Bridge(_) => self.tell_reserved(number),
                Machine::Station(_) => self.heed_listeners(number, clock.local(now)),
                Machine::Edge(_) => self.pass_notes(number),
                Machine::None => {}
            }
        }
        self.settle_vlans(number);
        self.srp().schedule(network, number, clock, now);
    }

    /// Tells what a bridge reserved and gave back.
    pub(super) fn tell_reserved(&mut self, number: usize) {
        let now = self.now;
        let srp = self.srp();
        let node = &mut srp.nodes[number];
        let Machine::Bridge(bridge) = &node.machine else { return };
        let held: BTreeSet<(usize, StreamId)> =
            bridge.reservations().map(|(port, stream, _)| (port, stream)).collect();
        let before = std::mem::replace(&mut node.reserved, held.clone());
        let ports = node.ports.clone();
        for (port, stream) in held.symmetric_difference(&before) {
            let Some(known) = srp.known.get(stream).copied() else { continue };
            let at = PortIndex(ports[*port]);
            let event = if held.contains(&(*port, *stream)) {
                RungEvent::Reserved(at)
            } else {
                RungEvent::Released(at)
            };
            srp.rung(known, now, index(number), event);
        }
    }
}
