//! What nodes do with messages: CUC, CNC, bridges, edge bridges and end stations.

use std::collections::BTreeSet;

use tautwire_core::central::{ControllerAction, EdgeNote, Message, Pair};
use tautwire_model::network::{NodeIndex, PortIndex};
use tautwire_units::Duration;
use tautwire_wire::srp::{FailureInformation, ListenerDeclaration};

use super::super::node::Machine;
use super::super::request::Request;
use super::{Central, CentralNode, Role, Work, is_bridge, paths, settings};
use crate::engine::Engine;
use crate::plan::index;
use crate::recorder::Recorder;
use crate::refusal::Refusal;
use crate::reservation::RungEvent;

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    pub(super) fn central(&mut self) -> &mut Central {
        self.srp().central.as_mut().expect("central configuration")
    }

    pub(in crate::srp) fn has_central(&self) -> bool {
        self.network.srp.as_ref().is_some_and(|reservation| reservation.central.is_some())
    }

    /// Whether end stations speak with a CUC, and not MSRP.
    pub(in crate::srp) fn has_cuc(&self) -> bool {
        self.has_central() && settings(self.network).cuc.is_some()
    }

    /// Does all that central configuration has to do now.
    pub(in crate::srp) fn drive_central(&mut self) {
        if !self.has_central() {
            return;
        }
        let now = self.now;
        while let Some((_, node)) = self.central().agenda.first().copied().filter(|(time, _)| *time <= now) {
            self.act_central(node as usize);
        }
    }

    fn act_central(&mut self, number: usize) {
        let now = self.now;
        let node = &mut self.central().nodes[number];
        if let Some((_, work)) = node.doing.take_if(|(until, _)| *until <= now) {
            self.perform(number, work);
        }
        let node = &mut self.central().nodes[number];
        if node.doing.is_none()
            && let Some(work) = node.inbox.pop_front()
        {
            let taken = self.time_of(number, &work);
            self.central().nodes[number].doing = Some((now + taken, work));
        }
        self.send_control_frames(number);
        let clock = self.nodes[number].clock;
        self.central().schedule(number, clock, now);
    }

    /// What a node takes for a piece of work.
    fn time_of(&mut self, number: usize, work: &Work) -> Duration {
        let network = self.network;
        let settings = settings(network);
        let delay = match work {
            Work::Restarted(_) => return Duration::ZERO,
            Work::Test(_) => &settings.computation,
            Work::Heard(_, _, Role::Cnc) => &settings.cnc_processing,
            Work::Heard(_, _, Role::Cuc) => &settings.cuc_processing,
            Work::Heard(_, Message::Configure { .. }, _) => &settings.configuration[number],
            Work::Heard(..) => &network.srp.as_ref().expect("stream reservation").nodes[number].processing,
        };
        let octets = settings.message_size.get() + 22;
        self.central().nodes[number].random.delay(delay, octets)
    }

    fn perform(&mut self, number: usize, work: Work) {
        let network = self.network;
        match work {
            Work::Heard(from, message, Role::Cnc) => {
                if let Some(controller) = &mut self.central().nodes[number].controller {
                    controller.hear(from, &message);
                }
            }
            Work::Heard(_, message, Role::Cuc) => {
                if let Some(users) = &mut self.central().nodes[number].users {
                    users.hear(&message);
                }
            }
            Work::Heard(from, message, Role::Node) => self.hear_as_node(number, from, &message),
            Work::Test(pair) => {
                let at = self.now.since_start();
                let central = self.central();
                let verdict = central.test.admit(network, pair);
                central.refusals.extend(verdict.as_ref().err().map(|(_, limit)| Refusal {
                    at,
                    node: NodeIndex::at(number),
                    stream: paths::stream(network, pair),
                    listener: Central::listener_of(network, pair),
                    limit: *limit,
                }));
                if let Some(controller) = &mut central.nodes[number].controller {
                    controller.tested(pair, verdict.map_err(|(code, _)| code));
                }
            }
            Work::Restarted(peer) => {
                let node = &mut self.central().nodes[number];
                if let Some(controller) = &mut node.controller {
                    controller.restarted(peer);
                }
                if let Some(users) = &mut node.users {
                    users.restarted(peer);
                }
                self.tell_anew(number, peer);
            }
        }
        self.carry_out(number);
    }

    /// Does what the CNC and the CUC of a node want done.
    fn carry_out(&mut self, number: usize) {
        let network = self.network;
        loop {
            let node = &mut self.central().nodes[number];
            if let Some((to, message)) = node.users.as_mut().and_then(|users| users.poll()) {
                let user =
                    matches!(message, Message::Available(..) | Message::Send(..) | Message::Verdict(..));
                self.send_control(number, to, message, if user { Role::Node } else { Role::Cnc });
                continue;
            }
            match node.controller.as_mut().and_then(|controller| controller.poll()) {
                Some(ControllerAction::Send(to, message)) => {
                    self.send_control(number, to, message, Role::Cuc);
                }
                Some(ControllerAction::Test(pair)) => {
                    // Behind the tests that wait already, before all else.
                    let inbox = &mut self.central().nodes[number].inbox;
                    let place = inbox.iter().take_while(|work| matches!(work, Work::Test(_))).count();
                    inbox.insert(place, Work::Test(pair));
                }
                Some(ControllerAction::Free(pair)) => self.central().test.release(network, pair),
                None => return,
            }
        }
    }

    /// A bridge or an end station hears a message.
    fn hear_as_node(&mut self, number: usize, from: u32, message: &Message) {
        match message {
            Message::Configure { pair, reserve, shares } => {
                for (port, class, slope) in shares {
                    self.configure(number, *pair, *reserve, (*port, *class, *slope));
                }
                let done = Message::Configured { pair: *pair, reserve: *reserve };
                self.send_control(number, from, done, Role::Cnc);
            }
            Message::Send(stream, sends) => self.switch_stream(number, *stream, *sends),
            _ if is_bridge(self.network, number) => self.declare_at_edge(number, message),
            Message::Available(pair, available) => {
                let node = &mut self.central().nodes[number];
                if *available {
                    node.available.insert(*pair);
                    if node.waits_for.remove(pair) {
                        self.tell_cuc(number, Message::Ask(*pair));
                    }
                } else {
                    node.available.remove(pair);
                }
            }
            _ => {}
        }
    }

    /// A bridge reserves on one of its ports, or gives back.
    fn configure(&mut self, number: usize, pair: Pair, reserve: bool, share: (usize, usize, u64)) {
        let (port, class, slope) = share;
        let at = PortIndex(self.srp().nodes[number].ports[port]);
        let held = &mut self.central().nodes[number].held;
        let event = if reserve {
            let entry = held.entry((port, pair.stream)).or_insert((BTreeSet::new(), class, slope));
            let new = entry.0.is_empty();
            entry.0.insert(pair.listener);
            new.then_some(RungEvent::Reserved(at))
        } else {
            let entry = held.get_mut(&(port, pair.stream));
            let empty =
                entry.is_some_and(|(listeners, ..)| listeners.remove(&pair.listener) && listeners.is_empty());
            if empty {
                held.remove(&(port, pair.stream));
            }
            empty.then_some(RungEvent::Released(at))
        };
        if let Some(event) = event {
            let now = self.now;
            self.srp().rung(pair.stream, now, index(number), event);
        }
    }

    /// An edge bridge declares what the CNC says.
    fn declare_at_edge(&mut self, number: usize, message: &Message) {
        let (now, network) = (self.now, self.network);
        let clock = self.nodes[number].clock;
        let local = clock.local(now);
        let reserved = &network.srp.as_ref().expect("stream reservation").streams;
        let bridge = network.srp_bridge(NodeIndex::at(number)).0.id;
        let srp = self.srp();
        let Machine::Edge(edge) = &mut srp.nodes[number].machine else { return };
        let declared = match message {
            Message::Available(pair, true) => Some((*pair, Some(None))),
            Message::Available(pair, false) => Some((*pair, None)),
            Message::Verdict(pair, verdict) => {
                let failure = verdict.err().map(|code| FailureInformation { bridge, code });
                Some((*pair, Some(failure)))
            }
            _ => None,
        };
        if let Some((pair, said)) = declared {
            let id = reserved[pair.stream as usize].talker.stream;
            let place = paths::place(network, paths::listener_edge(network, pair).1);
            let talker = said.map(|failure| (paths::talker(network, pair), failure));
            edge.declare_talker(local, place, id, talker);
        } else if let Message::Listeners(stream, said) = message {
            let id = reserved[*stream as usize].talker.stream;
            let place = paths::place(network, paths::talker_edge(network, *stream).1);
            edge.declare_listeners(local, place, id, *said);
        }
        self.settle_srp(number, true);
    }

    /// Passes on to the CNC what the users of an edge bridge say.
    pub(in crate::srp) fn pass_notes(&mut self, number: usize) {
        let network = self.network;
        let cnc = settings(network).cnc.0;
        loop {
            let srp = self.srp();
            let Machine::Edge(edge) = &mut srp.nodes[number].machine else { return };
            let Some((port, note)) = edge.poll_note() else { return };
            let at = |found: (NodeIndex, PortIndex)| {
                found.0.index() == number && paths::place(network, found.1) == port
            };
            let message = match note {
                EdgeNote::Talker(id, offers) => {
                    let stream = srp.known.get(&id).copied();
                    let own = stream.filter(|stream| at(paths::talker_edge(network, *stream)));
                    own.map(|stream| if offers { Message::Offer(stream) } else { Message::Withdraw(stream) })
                }
                EdgeNote::Listener(id, said) => {
                    let asks = match said {
                        Some(ListenerDeclaration::Ready | ListenerDeclaration::ReadyFailed) => true,
                        // It would take it; not if it was told that it can be had and still will not.
                        Some(ListenerDeclaration::AskingFailed) => edge.declares(port, id) != Some(true),
                        Some(ListenerDeclaration::Ignore) | None => false,
                    };
                    let stream = srp.known.get(&id).copied();
                    let own = paths::pairs(network)
                        .into_iter()
                        .find(|pair| Some(pair.stream) == stream && at(paths::listener_edge(network, *pair)));
                    own.map(|pair| if asks { Message::Ask(pair) } else { Message::Detach(pair) })
                }
            };
            if let Some(message) = message {
                self.send_control(number, cnc, message, Role::Node);
            }
        }
    }

    /// An application of an end station asks its CUC.
    pub(in crate::srp) fn ask_cuc(&mut self, request: Request) {
        let network = self.network;
        let number = request.node as usize;
        let reserved = &network.srp.as_ref().expect("stream reservation").streams;
        let when_offered = reserved[request.stream as usize].when_offered;
        let pairs = paths::pairs(network).into_iter().filter(|pair| {
            pair.stream == request.stream && Central::listener_of(network, *pair).index() == number
        });
        match request.event {
            RungEvent::Offered => self.tell_cuc(number, Message::Offer(request.stream)),
            RungEvent::Withdrawn => {
                self.switch_stream(number, request.stream, false);
                self.tell_cuc(number, Message::Withdraw(request.stream));
            }
            RungEvent::Asked => {
                for pair in pairs {
                    let node = &mut self.central().nodes[number];
                    if when_offered && !node.available.contains(&pair) {
                        node.waits_for.insert(pair);
                    } else {
                        self.tell_cuc(number, Message::Ask(pair));
                    }
                }
            }
            RungEvent::Detached => {
                for pair in pairs {
                    self.central().nodes[number].waits_for.remove(&pair);
                    self.tell_cuc(number, Message::Detach(pair));
                }
            }
            _ => {}
        }
    }

    fn tell_cuc(&mut self, number: usize, message: Message) {
        let cuc = settings(self.network).cuc.expect("a CUC").0;
        self.send_control(number, cuc, message, Role::Cuc);
    }

    /// A bridge sees a cable at one of its ports go or come.
    pub(in crate::srp) fn tell_cable(&mut self, number: usize, port: PortIndex, up: bool) {
        if self.has_central() && is_bridge(self.network, number) && self.nodes[number].up {
            let links = self.network.ports[port.index()].links.expect("it has a cable");
            let cnc = settings(self.network).cnc.0;
            self.send_control(number, cnc, Message::Cable(links.egress.0 / 2, up), Role::Node);
        }
    }

    /// The other end of a channel has restarted: it is told what it cannot know.
    fn tell_anew(&mut self, number: usize, peer: u32) {
        let network = self.network;
        if peer != settings(network).cnc.0 || !is_bridge(network, number) {
            return;
        }
        if let Machine::Edge(edge) = &mut self.srp().nodes[number].machine {
            edge.repeat_notes();
            self.pass_notes(number);
        }
        for port in network.srp_ports(NodeIndex::at(number)) {
            let links = network.ports[port.index()].links.expect("it has a cable");
            if !self.links[links.egress.index()].up {
                self.tell_cable(number, port, false);
            }
        }
    }

    /// A node stops, or comes back and knows nothing.
    pub(in crate::srp) fn restart_central(&mut self, number: usize, up: bool) {
        if !self.has_central() {
            return;
        }
        let (now, network, seed) = (self.now, self.network, self.seed);
        let clock = self.nodes[number].clock;
        let central = self.central();
        let (session, due) = (central.nodes[number].session + 1, central.nodes[number].due);
        let was_controller = central.nodes[number].controller.is_some();
        let mut node = CentralNode::new(network, number, session, clock.local(now), seed);
        node.due = due;
        if !up {
            node.channels.clear();
        }
        central.nodes[number] = node;
        if was_controller {
            central.test.clear(network);
        }
        central.schedule(number, clock, now);
    }
}
