//! Central admission of HaRTES in the engine: when it acts, what messages do where they are taken, and their frames.

use std::collections::BTreeSet;
use std::rc::Rc;

use tautwire_core::harts::{AcAction, Carried, RequestState};
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};
use tautwire_units::Bytes;
use tautwire_wire::harts::{FTT, FttMessage, FttStream};

use super::{Admission, Asking, MASTER, Master, STANDBY, Work, short};
use crate::control::Policing;
use crate::control::contents::{Beside, Frame};
use crate::engine::Engine;
use crate::harts::{AdmissionEvent, AdmissionRung};
use crate::options::StreamPart;
use crate::plan::{Manners, NONE, index};
use crate::recorder::Recorder;
use crate::refusal::{Limit, Refusal};

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// Does all that central admission has to do now.
    pub(crate) fn drive_harts_admission(&mut self) {
        let Some(mut admission) = self.driven().harts_admission.take() else { return };
        self.ask_harts(&mut admission);
        loop {
            let due = admission
                .entities
                .iter()
                .find(|(_, entity)| entity.work.as_ref().is_some_and(|(at, _)| *at <= self.now));
            let Some(id) = due.map(|(id, _)| *id) else { break };
            self.finish_work(&mut admission, id);
        }
        for place in 0..admission.masters.len() {
            let node = admission.masters[place].node as usize;
            let local = self.nodes[node].clock.local(self.now);
            let up = self.nodes[node].up;
            let master = &mut admission.masters[place];
            if up && master.machine.deadline().is_some_and(|at| at <= local) {
                master.machine.advance(local);
                if master.machine.is_active() && !master.was_active {
                    master.was_active = true;
                    let now = self.now;
                    admission.ladder.push(AdmissionRung {
                        at: now.since_start(),
                        node: NodeIndex(index(node)),
                        stream: StreamIndex(NONE),
                        event: AdmissionEvent::TookOver,
                    });
                }
            }
        }
        for node in 0..self.nodes.len() {
            let (local, up) = (self.nodes[node].clock.local(self.now), self.nodes[node].up);
            if let Some(switch) = admission.switches[node].as_mut().filter(|_| up) {
                switch.advance(local);
            }
            if let Some(machine) = self.ftt_node(node).filter(|_| up) {
                machine.advance(local);
            }
        }
        self.say_harts(&mut admission);
        self.driven().harts_admission = Some(admission);
    }

    /// Applications ask, and give back.
    fn ask_harts(&mut self, admission: &mut Admission) {
        while let Some((_, node, stream, asking)) =
            admission.agenda.get(admission.asked).copied().filter(|(at, ..)| *at <= self.now)
        {
            admission.asked += 1;
            let (now, local) = (self.now, self.nodes[node as usize].clock.local(self.now));
            if !self.nodes[node as usize].up {
                continue;
            }
            let id = short(stream.index());
            let asked =
                self.network.harts_request(stream).expect("what is asked for is reserved or synchronous");
            let Some(machine) = self.ftt_node(node as usize) else { continue };
            match asking {
                Asking::Request => {
                    machine.request(local, asked);
                    admission.rung(now, node, id, AdmissionEvent::Asked);
                    let request = admission.requests.iter_mut().find(|request| {
                        request.stream == stream && request.node.0 == node && request.asked_at.is_none()
                    });
                    if let Some(request) = request {
                        request.asked_at = Some(now.since_start());
                    }
                }
                Asking::Release => {
                    machine.release(local, id);
                    if self.network.streams[stream.index()].talker.0 == node {
                        self.talkers[stream.index()].running = false;
                    }
                    admission.rung(now, node, id, AdmissionEvent::Released);
                }
            }
        }
    }

    /// An entity is through with what it worked at.
    fn finish_work(&mut self, admission: &mut Admission, id: u16) {
        let now = self.now;
        let Some(entity) = admission.entities.get_mut(&id) else { return };
        let node = entity.node as usize;
        let Some((_, work)) = entity.work.take() else { return };
        if !self.nodes[node].up {
            return;
        }
        let local = self.nodes[node].clock.local(now);
        match work {
            Work::Test(stream, consumer) => self.test_harts(admission, id, stream, consumer),
            Work::Message(message) if id >= MASTER => {
                let master = &mut admission.masters[usize::from(id - MASTER)];
                master.machine.receive(local, &message);
                master.was_active = master.machine.is_active();
            }
            Work::Message(message) if admission.switches[node].is_some() => {
                let Some(switch) = &mut admission.switches[node] else { return };
                switch.receive(local, &message);
                if let FttMessage::Config { stream, .. } = &message {
                    let carried = switch.streams().get(&stream.id).cloned();
                    self.configure_harts(node, stream.id, carried.as_ref());
                    let event = match carried {
                        Some(_) => AdmissionEvent::Configured,
                        None => AdmissionEvent::Removed,
                    };
                    admission.rung(now, index(node), stream.id, event);
                }
            }
            Work::Message(message) => self.answered_harts(admission, node, &message),
        }
        self.say_harts(admission);
        admission.begin(id, now);
    }

    /// The ACMaster's test of a stream ends: beside those that passed it before.
    fn test_harts(&mut self, admission: &mut Admission, id: u16, stream: FttStream, consumer: u16) {
        let (now, network) = (self.now, self.network);
        let master = &mut admission.masters[usize::from(id - MASTER)];
        let node = master.node;
        let local = self.nodes[node as usize].clock.local(now);
        let new = StreamIndex(u32::from(stream.id));
        let mut admitted = master.machine.admitted();
        let node_of = |consumer: u16| NodeIndex(u32::from(consumer));
        let part = |consumers: &BTreeSet<u16>| consumers.iter().copied().map(node_of).collect();
        let mut listeners: Vec<NodeIndex> =
            admitted.remove(&stream.id).as_ref().map(part).unwrap_or_default();
        let listener = node_of(consumer);
        listeners.push(listener);
        // What stands from the start has its servers whatever is admitted.
        let standing = network.standing_from_the_start();
        let standing = standing.map(|stream| (stream, network.streams[stream.index()].listeners.clone()));
        let others = admitted.iter().map(|(id, consumers)| (StreamIndex(u32::from(*id)), part(consumers)));
        let others: Vec<StreamPart> = standing.chain(others).collect();
        let result = match self.harts_test {
            Some(test) => test(network, &(new, listeners), &others),
            None => Ok(()),
        };
        master.tests += 1;
        let said = result.map_err(|late| short(late.stream.index()));
        master.machine.tested(local, stream.id, said);
        admission.rung(now, node, stream.id, AdmissionEvent::Tested { passed: result.is_ok() });
        admission.refusals.extend(result.err().map(|late| Refusal {
            at: now.since_start(),
            node: NodeIndex(node),
            stream: new,
            listener,
            limit: Limit::Late(late),
        }));
    }

    /// A switch carries a stream, or does no more: its ports have the servers and memory pools that its master has derived, those
    /// that lead to no consumer carry nothing of it, and where it enters it is policed.
    fn configure_harts(&mut self, node: usize, id: u16, carried: Option<&Carried>) {
        let network = self.network;
        let stream = StreamIndex(u32::from(id));
        let described = &network.streams[stream.index()];
        let first = self.plan.first_hop[stream.index()];
        let local = self.nodes[node].clock.local(self.now);
        // Hops on the way to one of the consumers.
        let mut wanted = vec![false; described.hops.len()];
        for (place, hop) in described.hops.iter().enumerate() {
            let listener = hop.listener.map(|listener| described.listeners[listener as usize].index());
            let is_carried =
                |node: &usize| carried.is_some_and(|carried| carried.consumers.contains_key(&short(*node)));
            let mut next = listener.filter(is_carried).map(|_| place);
            while let Some(here) = next {
                wanted[here] = true;
                next = described.hops[here].previous.map(|before| before as usize);
            }
        }
        let mut withdrawn = Vec::new();
        for (place, hop) in described.hops.iter().enumerate() {
            if network.ports[hop.port.index()].node.index() != node {
                continue;
            }
            let plan = &mut self.plan.hops[first as usize + place];
            // Frames go where a consumer was granted. Of a stream that was given back, or whose talker has not heard that its way failed,
            // nothing goes on: what it had is free for others.
            plan.manners.set(Manners::PRUNED, !wanted[place]);
            let Some(lane) = network.server_of(stream, hop.port) else { continue };
            let Some(carried) = carried.filter(|_| wanted[place]) else {
                withdrawn.push((hop.port, plan.lane));
                continue;
            };
            plan.lane = lane;
            let resources = &carried.resources;
            let links = network.ports[hop.port.index()].links.expect("a hop's port has a cable");
            let far = network.ports[network.links[links.egress.index()].to.index()].node;
            let server = resources.servers.get(&short(far.index()));
            if let (Some(server), Some(port)) = (server, &mut self.ports[hop.port.index()]) {
                port.egress.install_server(local, lane, *server, resources.pool);
            }
        }
        for (port, lane) in withdrawn {
            self.withdraw_stream(stream, port, lane);
        }
        let enters = described
            .hops
            .iter()
            .any(|hop| hop.previous == Some(0) && network.ports[hop.port.index()].node.index() == node);
        let resources = carried.map(|carried| &carried.resources);
        if enters {
            let policing = resources.and_then(|resources| resources.policing);
            self.police(stream, policing.map(|policing| policing.policer()));
        }
        self.schedule_stream(stream, node, resources.and_then(|resources| resources.schedule));
    }

    /// What waits of a stream at a port goes nowhere any more.
    fn withdraw_stream(&mut self, stream: StreamIndex, port: PortIndex, lane: u16) {
        let Some(state) = &mut self.ports[port.index()] else { return };
        let (local, slab) = (state.clock.local(self.now), &self.slab);
        let withdrawn = state.egress.withdraw(local, lane, |frame| slab.get(frame.slot).stream == stream.0);
        for frame in withdrawn {
            let hop = self.slab.get(frame.slot).hop;
            self.filter(frame.slot, hop);
        }
    }

    /// A node has an answer: its talker begins, or knows why not.
    fn answered_harts(&mut self, admission: &mut Admission, node: usize, message: &FttMessage) {
        let local = self.nodes[node].clock.local(self.now);
        let now = self.now;
        let (id, subject) = match message {
            FttMessage::Ack { stream, subject, .. } => (stream, subject),
            FttMessage::Pause { stream, .. } => (stream, stream),
            _ => {
                // That a stream is out, or that somebody asks for it.
                if let Some(machine) = self.ftt_node(node) {
                    machine.receive(local, message);
                }
                return;
            }
        };
        let stream = StreamIndex(u32::from(*id));
        let Some(machine) = self.ftt_node(node) else { return };
        let before = machine.state(*id);
        machine.receive(local, message);
        let state = machine.state(*id);
        if state.is_none() || before == state {
            return;
        }
        if state == Some(RequestState::Offered) {
            self.talkers[stream.index()].running = false;
            return admission.rung(now, index(node), *id, AdmissionEvent::Paused);
        }
        if state == Some(RequestState::Asked) {
            return;
        }
        let cut = match state {
            Some(RequestState::Cut(link)) => Some(link.map(|node| NodeIndex(u32::from(node)))),
            _ => None,
        };
        if cut.is_some() && self.network.streams[stream.index()].talker.index() == node {
            self.talkers[stream.index()].running = false;
        }
        let granted = state == Some(RequestState::Granted);
        let request = admission
            .requests
            .iter_mut()
            .find(|request| request.stream == stream && request.node.index() == node);
        let Some(request) = request else { return };
        request.answers += 1;
        request.granted = granted;
        request.answered_at.get_or_insert(now.since_start());
        request.subject = (!granted && cut.is_none()).then_some(StreamIndex(u32::from(*subject)));
        request.cut = cut;
        let produces = request.is_talker;
        let event = match (granted, cut) {
            (true, _) => AdmissionEvent::Acknowledged,
            (_, Some(_)) => AdmissionEvent::CutOff,
            _ => AdmissionEvent::Refused,
        };
        admission.rung(now, index(node), *id, event);
        if granted && produces && !self.talkers[stream.index()].running {
            self.start_stream(stream, None);
        }
    }

    /// Sends all that the machines have to say, and gives ACMasters their tests.
    fn say_harts(&mut self, admission: &mut Admission) {
        let mut sent = Vec::new();
        for node in 0..self.nodes.len() {
            if !self.nodes[node].up {
                continue;
            }
            let from = short(node);
            if let Some(machine) = self.ftt_node(node) {
                while let Some((to, message)) = machine.poll() {
                    sent.push((from, to, message));
                }
            }
            if let Some(switch) = &mut admission.switches[node] {
                while let Some((to, message)) = switch.poll() {
                    sent.push((from, to, message));
                }
            }
        }
        for (place, from) in (0..admission.masters.len()).zip([MASTER, STANDBY]) {
            if !self.nodes[admission.masters[place].node as usize].up {
                continue;
            }
            while let Some(action) = admission.masters[place].machine.poll() {
                match action {
                    AcAction::Send { to, message } => sent.push((from, to, message)),
                    AcAction::Test { stream, consumer } => {
                        if let Some(entity) = admission.entities.get_mut(&from) {
                            entity.tests.push_back((stream, consumer));
                        }
                        admission.begin(from, self.now);
                    }
                }
            }
        }
        for (from, to, message) in sent {
            let Some(at) = admission.entities.get(&from).map(|entity| entity.node) else { continue };
            let beside = Beside { from: at, to: u32::from(to), ..Beside::default() };
            admission.note(self.now, beside, &message, true);
            let mut octets = Vec::new();
            message.emit(&mut octets);
            let frame = Rc::new(Frame { beside, ..Frame::new(FTT, octets) });
            self.send_ftt(admission, at as usize, &frame);
        }
    }

    /// Sends a control message from a node towards the one whom it is for; there it is read.
    fn send_ftt(&mut self, admission: &mut Admission, node: usize, frame: &Rc<Frame>) {
        let Some(there) = admission.entity(frame.beside.to).map(|entity| entity.node as usize) else {
            return;
        };
        if there == node {
            let Ok((message, _)) = FttMessage::parse(&frame.octets) else { return };
            admission.note(self.now, frame.beside, &message, false);
            let to = u16::try_from(frame.beside.to).expect("an entity");
            return admission.arrive(to, message, self.now);
        }
        let port = admission.towards[there][node];
        let stream = admission.settings.control.get(port as usize).copied().flatten();
        let Some(StreamIndex(stream)) = stream else { return };
        let octets = Bytes::new(frame.octets.len() as u64);
        let payload = octets.max(self.network.streams[stream as usize].payload_min);
        self.send_frame(stream, Rc::clone(frame), payload);
    }

    /// A control message was delivered: it is taken, or sent on.
    pub(crate) fn take_ftt_message(&mut self, stream: u32, frame: &Rc<Frame>) {
        let Some(mut admission) = self.driven().harts_admission.take() else { return };
        let here = self.network.streams[stream as usize].listeners[0].index();
        self.send_ftt(&mut admission, here, frame);
        self.driven().harts_admission = Some(admission);
        self.arm_timeline();
    }

    /// A cable is cut or mended: the switches at its ends see it.
    #[cold]
    pub(crate) fn harts_link(&mut self, cable: u32) {
        let link = &self.network.links[cable as usize * 2];
        let ends = [link.from, link.to].map(|port| self.network.ports[port.index()].node.index());
        // As long as both nodes run; a switch that is down sees nothing.
        let is_up = self.links[cable as usize * 2].up && ends.iter().all(|end| self.nodes[*end].up);
        let Some(mut admission) = self.driven().harts_admission.take() else { return };
        for [here, there] in [ends, [ends[1], ends[0]]] {
            if !self.nodes[here].up {
                continue;
            }
            let local = self.nodes[here].clock.local(self.now);
            let Some(switch) = &mut admission.switches[here] else { continue };
            let was_up = switch.links().any(|link| link.neighbour == short(there) && link.up);
            switch.link(local, short(there), is_up);
            if was_up != is_up {
                let event = AdmissionEvent::Link { up: is_up, to: NodeIndex::at(there) };
                admission.ladder.push(AdmissionRung {
                    at: self.now.since_start(),
                    node: NodeIndex::at(here),
                    stream: StreamIndex(NONE),
                    event,
                });
            }
        }
        self.driven().harts_admission = Some(admission);
        self.drive_harts_admission();
        self.arm_timeline();
    }

    /// A node stops, or comes back: what it worked at is lost, and an ACMaster that comes back asks the other one for what stands.
    #[cold]
    pub(crate) fn harts_admission_node(&mut self, number: usize, up: bool) {
        if let Some(ftt) = self.ftt().filter(|_| !up) {
            ftt.empty_pools(number);
        }
        let now = self.nodes[number].clock.local(self.now);
        let Some(admission) = &mut self.driven().harts_admission else { return };
        for entity in admission.entities.values_mut().filter(|entity| entity.node as usize == number) {
            entity.inbox.clear();
            entity.tests.clear();
            entity.work = None;
        }
        if up {
            for (place, me) in (0..admission.masters.len()).zip([MASTER, STANDBY]) {
                if admission.masters[place].node as usize == number {
                    let (node, life) = (admission.masters[place].node, admission.masters[place].life + 1);
                    let master = Master::new(me, node, &admission.settings, &admission.topology, now, life);
                    admission.masters[place] = master;
                }
            }
        }
        for port in self.network.nodes[number].ports.clone() {
            let Some(links) = self.network.ports[port as usize].links else { continue };
            self.harts_link(links.egress.0 / 2);
        }
        self.arm_timeline();
    }
}
