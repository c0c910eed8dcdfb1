//! Links and nodes that fail and come back, as stream reservation sees them.

use tautwire_model::network::{NodeIndex, PortIndex};

use super::node::{Machine, Node};
use super::vlans::VlanNode;
use crate::engine::Engine;
use crate::plan::index;
use crate::recorder::Recorder;
use crate::reservation::RungEvent;

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// A cable is cut or mended: the ports at its ends forget, or declare anew.
    #[cold]
    pub(crate) fn srp_link(&mut self, cable: u32, up: bool) {
        if !self.has_srp() {
            return;
        }
        let link = &self.network.links[cable as usize * 2];
        for port in [link.from, link.to] {
            self.srp_port(port, up);
        }
        self.shape();
        self.arm_timeline();
    }

    pub(super) fn srp_port(&mut self, port: PortIndex, up: bool) {
        let number = self.network.ports[port.index()].node.index();
        let local = self.nodes[number].clock.local(self.now);
        let node = &mut self.srp().nodes[number];
        let place = node.ports.iter().position(|own| *own == port.0).expect("a port with a cable");
        let mut changed = false;
        node.vlans.link(local, place, up);
        match &mut node.machine {
            Machine::Bridge(bridge) if up => bridge.link_up(local, place),
            Machine::Bridge(bridge) => changed = bridge.link_down(local, place),
            Machine::Station(station) if up && place == 0 => station.link_up(local),
            Machine::Station(station) if place == 0 => changed = station.link_down(local),
            Machine::Edge(edge) if up => edge.link_up(local, place),
            Machine::Edge(edge) => {
                edge.link_down(local, place);
                changed = true;
            }
            Machine::Station(_) | Machine::None => {}
        }
        self.settle_srp(number, changed);
        self.tell_cable(number, port, up);
    }

    /// A node stops, or comes back and asks for all that it had asked for; its neighbours see their links go and come.
    #[cold]
    pub(crate) fn srp_node(&mut self, number: usize, up: bool) {
        if !self.has_srp() {
            return;
        }
        let (now, network, seed) = (self.now, self.network, self.seed);
        let clock = self.nodes[number].clock;
        let sends = self.srp().nodes[number].sends.clone();
        let reserved = &network.srp.as_ref().expect("stream reservation").streams;
        for stream in sends {
            self.talkers[reserved[stream as usize].stream.index()].running = false;
            self.srp().rung(stream, now, index(number), RungEvent::Stopped);
        }
        self.ungrant_node(number);
        let due = self.srp().nodes[number].due;
        let mut node = Node::new(network, number, clock.local(now), seed);
        if !up {
            node.machine = Machine::None;
            node.vlans = VlanNode::stopped();
        }
        node.due = due;
        self.srp().nodes[number] = node;
        self.restart_central(number, up);
        if up {
            let srp = self.srp();
            let again = srp.requests[..srp.requested].to_vec();
            for request in again.into_iter().filter(|request| request.node as usize == number) {
                self.ask(request);
            }
        }
        self.settle_srp(number, false);
        for port in network.srp_ports(NodeIndex::at(number)) {
            let links = network.ports[port.index()].links.expect("it has a cable");
            self.srp_port(network.links[links.egress.index()].to, up);
        }
        self.shape();
        self.arm_timeline();
    }
}
