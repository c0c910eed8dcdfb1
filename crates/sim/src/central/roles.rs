//! What nodes do with messages: CUC, CNC, bridges, edge bridges and end stations.

use tautwire_core::central::{CentralNode, EdgeNote, Message, Pair, Role, Share, Work};
use tautwire_core::srp::SrpPart;
use tautwire_model::network::{NodeIndex, PortIndex};
use tautwire_units::Duration;
use tautwire_wire::srp::{FailureInformation, ListenerDeclaration};

use super::{Central, paths};
use crate::clock::SimTime;
use crate::control::Plane;
use crate::refusal::Refusal;
use crate::srp::{Request, RungEvent};

impl Central<'_> {
    /// Processing time of a node for a piece of work.
    pub(super) fn time_of(&mut self, node: NodeIndex, work: &Work) -> Duration {
        let settings = self.settings;
        let delay = match work {
            Work::Restarted(_) => return Duration::ZERO,
            Work::Test(_) => &settings.computation,
            Work::Heard(_, _, Role::Network) => &settings.cnc_processing,
            Work::Heard(_, _, Role::Users) => &settings.cuc_processing,
            Work::Heard(_, Message::Configure { .. }, _) => &settings.configuration[node.index()],
            Work::Heard(..) => &self.srp.settings.nodes[node.index()].processing,
        };
        let octets = settings.message_size.get() + 22;
        self.nodes[node.index()].random.delay(delay, octets)
    }

    /// A node is done with a piece of work: what follows from it.
    pub(super) fn perform(
        &mut self,
        node: NodeIndex,
        machine: &mut CentralNode,
        work: Work,
        plane: &mut dyn Plane,
    ) {
        match work {
            Work::Heard(from, message, Role::Node) => {
                self.hear_as_node(node, machine, (from, &message), plane);
            }
            Work::Heard(from, message, role) => machine.hear(from, &message, role),
            Work::Test(pair) => self.test(node, machine, pair, plane.now()),
            Work::Restarted(peer) => {
                machine.restarted(peer);
                self.report_anew(node, machine, peer, plane);
            }
        }
        for pair in machine.settle() {
            self.test.release(self.network, pair);
        }
    }

    fn test(&mut self, node: NodeIndex, machine: &mut CentralNode, pair: Pair, now: SimTime) {
        let verdict = self.test.admit(self.network, pair);
        self.refusals.extend(verdict.as_ref().err().map(|(_, limit)| Refusal {
            at: now.since_start(),
            node,
            stream: paths::stream(self.network, pair),
            listener: paths::listener(self.network, pair),
            limit: *limit,
        }));
        machine.tested(pair, verdict.map_err(|(code, _)| code));
    }

    /// A bridge or an end station processes a message.
    fn hear_as_node(
        &mut self,
        node: NodeIndex,
        machine: &mut CentralNode,
        (from, message): (u32, &Message),
        plane: &mut dyn Plane,
    ) {
        match message {
            Message::Configure { pair, reserve, shares } => {
                for share in shares {
                    self.configure(node, *pair, *reserve, *share, plane.now());
                }
                let done = Message::Configured { pair: *pair, reserve: *reserve };
                machine.send(from, done, Role::Network);
            }
            Message::Send(stream, sends) if self.srp.is_talker(node, *stream) => {
                self.srp.switch_stream(node, *stream, *sends, plane);
            }
            _ if self.is_bridge(node) => self.declare_at_edge(node, machine, message, plane),
            Message::Available(pair, true) => {
                let state = &mut self.nodes[node.index()];
                state.available.insert(*pair);
                if state.waits_for.remove(pair) {
                    self.send_to_cuc(machine, Message::Ask(*pair));
                }
            }
            Message::Available(pair, false) => {
                self.nodes[node.index()].available.remove(pair);
            }
            _ => {}
        }
    }

    /// A bridge reserves on one of its ports, or releases.
    fn configure(&mut self, node: NodeIndex, pair: Pair, reserve: bool, share: Share, now: SimTime) {
        let ports = self.network.srp_ports(node);
        let Some(at) = ports.get(usize::from(share.port)).copied() else { return };
        let held = &mut self.nodes[node.index()].held;
        let key = (share.port, pair.stream);
        let event = if reserve {
            let listeners = held.entry(key).or_default();
            let new = listeners.is_empty();
            listeners.insert(pair.listener);
            new.then_some(RungEvent::Reserved(at))
        } else {
            let listeners = held.get_mut(&key);
            let empty =
                listeners.is_some_and(|listeners| listeners.remove(&pair.listener) && listeners.is_empty());
            if empty {
                held.remove(&key);
            }
            empty.then_some(RungEvent::Released(at))
        };
        if let Some(event) = event {
            self.srp.rung(pair.stream, now, node, event);
        }
    }

    /// An edge bridge declares what the CNC has decided.
    fn declare_at_edge(
        &mut self,
        node: NodeIndex,
        machine: &mut CentralNode,
        message: &Message,
        plane: &mut dyn Plane,
    ) {
        let network = self.network;
        let local = plane.reading(node, plane.now());
        let reserved = &self.srp.settings.streams;
        let bridge = network.srp_bridge(node).0.id;
        let SrpPart::Edge(edge) = machine.srp_mut().part_mut() else { return };
        let declared = match message {
            Message::Available(pair, true) => Some((*pair, Some(None))),
            Message::Available(pair, false) => Some((*pair, None)),
            Message::Verdict(pair, verdict) => {
                let failure = verdict.err().map(|code| FailureInformation { bridge, code });
                Some((*pair, Some(failure)))
            }
            _ => None,
        };
        // A message about a port of another bridge is of no account.
        let own =
            |(bridge, port): (NodeIndex, PortIndex)| (bridge == node).then(|| paths::place(network, port));
        if let Some((pair, said)) = declared {
            let id = reserved[pair.stream as usize].talker.stream;
            let Some(place) = own(paths::listener_edge(network, pair)) else { return };
            let talker = said.map(|failure| (paths::talker(network, pair), failure));
            edge.declare_talker(local, place, id, talker);
        } else if let Message::Listeners(stream, said) = message {
            let id = reserved[*stream as usize].talker.stream;
            let Some(place) = own(paths::talker_edge(network, *stream)) else { return };
            edge.declare_listeners(local, place, id, *said);
        }
        self.follow(node, machine, true, plane);
    }

    /// Forwards to the CNC what the users of an edge bridge declare.
    pub(super) fn pass_notes(&self, node: NodeIndex, machine: &mut CentralNode) {
        let network = self.network;
        loop {
            let SrpPart::Edge(edge) = machine.srp_mut().part_mut() else { return };
            let Some((port, note)) = edge.poll_note() else { return };
            let at =
                |found: (NodeIndex, PortIndex)| found.0 == node && paths::place(network, found.1) == port;
            let message = match note {
                EdgeNote::Talker(id, offers) => {
                    let stream = self.srp.known(id);
                    let own = stream.filter(|stream| at(paths::talker_edge(network, *stream)));
                    own.map(|stream| if offers { Message::Offer(stream) } else { Message::Withdraw(stream) })
                }
                EdgeNote::Listener(id, said) => {
                    let asks = match said {
                        Some(ListenerDeclaration::Ready | ListenerDeclaration::ReadyFailed) => true,
                        // It requests the stream; not if it received that the stream is available and declares asking
                        // failed all the same.
                        Some(ListenerDeclaration::AskingFailed) => edge.declares(port, id) != Some(true),
                        Some(ListenerDeclaration::Ignore) | None => false,
                    };
                    let stream = self.srp.known(id);
                    let own = paths::pairs(network)
                        .into_iter()
                        .find(|pair| Some(pair.stream) == stream && at(paths::listener_edge(network, *pair)));
                    own.map(|pair| if asks { Message::Ask(pair) } else { Message::Detach(pair) })
                }
            };
            if let Some(message) = message {
                machine.send(self.settings.cnc.0, message, Role::Node);
            }
        }
    }

    /// An application of an end station sends a request to its CUC.
    pub(super) fn ask_cuc(&mut self, machine: &mut CentralNode, request: Request) {
        let network = self.network;
        let when_offered = self.srp.settings.streams[request.stream as usize].when_offered;
        let pairs = paths::pairs(network)
            .into_iter()
            .filter(|pair| pair.stream == request.stream && paths::listener(network, *pair) == request.node);
        match request.event {
            RungEvent::Offered => self.send_to_cuc(machine, Message::Offer(request.stream)),
            RungEvent::Withdrawn => self.send_to_cuc(machine, Message::Withdraw(request.stream)),
            RungEvent::Asked => {
                for pair in pairs {
                    let state = &mut self.nodes[request.node.index()];
                    if when_offered && !state.available.contains(&pair) {
                        state.waits_for.insert(pair);
                    } else {
                        self.send_to_cuc(machine, Message::Ask(pair));
                    }
                }
            }
            RungEvent::Detached => {
                for pair in pairs {
                    self.nodes[request.node.index()].waits_for.remove(&pair);
                    self.send_to_cuc(machine, Message::Detach(pair));
                }
            }
            _ => {}
        }
    }

    fn send_to_cuc(&self, machine: &mut CentralNode, message: Message) {
        machine.send(self.settings.cuc.expect("a CUC").0, message, Role::Users);
    }

    /// A bridge sees a cable at one of its ports go or come.
    pub(super) fn report_cable(&self, node: NodeIndex, machine: &mut CentralNode, port: PortIndex, up: bool) {
        if self.is_bridge(node) {
            let links = self.network.ports[port.index()].links.expect("it has a cable");
            machine.send(self.settings.cnc.0, Message::Cable(links.egress.0 / 2, up), Role::Node);
        }
    }

    /// The other end of a channel has restarted: it is sent what it lost.
    fn report_anew(&self, node: NodeIndex, machine: &mut CentralNode, peer: u32, plane: &dyn Plane) {
        if peer != self.settings.cnc.0 || !self.is_bridge(node) {
            return;
        }
        if let SrpPart::Edge(edge) = machine.srp_mut().part_mut() {
            edge.repeat_notes();
            self.pass_notes(node, machine);
        }
        for port in self.network.srp_ports(node) {
            if !plane.is_up(port) {
                self.report_cable(node, machine, port, false);
            }
        }
    }
}
