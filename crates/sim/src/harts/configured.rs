//! The resources of a stream at a switch of HaRTES: after the switch is configured, frames use the server and the
//! memory pool that its master derives, and are policed; before, they use the background server. After the switch is
//! notified that the stream is gone, its frames are not forwarded, waiting ones neither.

use tautwire_core::harts::servers::{ServerConfig, ServerKind, ServerWindow};
use tautwire_core::harts::{Carried, Scheduled, Station};
use tautwire_model::network::{NodeIndex, StreamIndex};

use super::Run;
use super::observed::AdmissionEvent;
use super::stations::{is_asked, neighbour, short};
use crate::control::Plane;

impl Run<'_> {
    /// The state at the start. A requested stream has no server before a switch has derived it: those of its ports
    /// that it may get are closed.
    pub(super) fn prepare(&self, plane: &mut dyn Plane) {
        let harts = self.harts;
        plane.note_cycles(harts.cycle);
        for reservation in harts.reservations.iter().filter(|known| !is_asked(harts, known.stream)) {
            if let Some(police) = reservation.police {
                plane.police(reservation.stream, Some(police.policer()));
            }
        }
        for relayed in &harts.ftt.relayed {
            let pool = Some(relayed.pool).filter(|_| !is_asked(harts, relayed.stream));
            plane.set_pool(relayed.switch, relayed.stream, pool);
        }
        for request in harts.admission.iter().flat_map(|admission| &admission.requests) {
            self.close_servers(request.stream, plane);
        }
    }

    fn close_servers(&self, stream: StreamIndex, plane: &mut dyn Plane) {
        let (network, harts) = (self.network, self.harts);
        let closed = ServerConfig {
            parent: None,
            kind: ServerKind::Deferrable,
            capacity: Some(0),
            period: 1,
            priority: 0,
            window: ServerWindow::Asynchronous,
        };
        let is_reserved = harts.reservations.iter().any(|known| known.stream == stream);
        for (place, hop) in network.streams[stream.index()].hops.iter().enumerate() {
            let Some(lane) = network.server_of(stream, hop.port) else { continue };
            let background = network.background_server(hop.port);
            if let Some(background) = background.and_then(|lane| u16::try_from(lane).ok()) {
                plane.set_lane(stream, place, background);
            }
            let node = network.ports[hop.port.index()].node;
            if is_reserved && !harts.ftt.is_synchronous_at(stream, node) {
                plane.install_server(hop.port, lane, closed, None);
            }
        }
    }

    /// A switch was configured: it carries a stream, or does no more.
    pub(super) fn configured(
        &mut self,
        node: NodeIndex,
        id: u16,
        station: &mut Station,
        plane: &mut dyn Plane,
    ) {
        let network = self.network;
        let stream = StreamIndex(u32::from(id));
        let carried = station.switch.as_ref().and_then(|switch| switch.streams().get(&id)).cloned();
        self.equip(node, stream, carried.as_ref(), plane);
        let here = |place: u32| {
            let hop = &network.streams[stream.index()].hops[place as usize];
            network.ports[hop.port.index()].node == node
        };
        let hops = &network.streams[stream.index()].hops;
        let enters = (0_u32..).zip(hops).any(|(place, hop)| hop.previous == Some(0) && here(place));
        let resources = carried.as_ref().map(|carried| &carried.resources);
        if enters {
            let policing = resources.and_then(|resources| resources.policing);
            plane.police(stream, policing.map(|policing| policing.policer()));
        }
        self.schedule(node, stream, station, resources.and_then(|resources| resources.schedule), plane);
        let event = if carried.is_some() { AdmissionEvent::Configured } else { AdmissionEvent::Removed };
        self.rung(plane.now(), node, stream.0, event);
    }

    /// Ports of a switch have the servers and memory pools that its master has derived; those that lead to no consumer carry nothing of
    /// the stream.
    fn equip(&self, node: NodeIndex, stream: StreamIndex, carried: Option<&Carried>, plane: &mut dyn Plane) {
        let network = self.network;
        let wanted = self.wanted(stream, carried);
        let mut withdrawn = Vec::new();
        for (place, hop) in network.streams[stream.index()].hops.iter().enumerate() {
            if network.ports[hop.port.index()].node != node {
                continue;
            }
            // Frames are forwarded where a consumer has a grant. Nothing is forwarded of a stream that was released,
            // or whose talker is not yet notified that its path failed: its resources are free for others.
            plane.prune(stream, place, !wanted[place]);
            let Some(lane) = network.server_of(stream, hop.port) else { continue };
            let Some(carried) = carried.filter(|_| wanted[place]) else {
                withdrawn.push((hop.port, plane.lane(stream, place)));
                continue;
            };
            plane.set_lane(stream, place, lane);
            let far = short(neighbour(network, hop.port).index());
            if let Some(server) = carried.resources.servers.get(&far) {
                plane.install_server(hop.port, lane, *server, carried.resources.pool);
            }
        }
        for (port, lane) in withdrawn {
            plane.withdraw(stream, port, lane);
        }
    }

    /// Per hop of a stream: whether it is on the way to a consumer that it is carried to.
    fn wanted(&self, stream: StreamIndex, carried: Option<&Carried>) -> Vec<bool> {
        let described = &self.network.streams[stream.index()];
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
        wanted
    }

    /// The master of a switch takes a synchronous stream into its schedule, or out of it; what its pool still holds is lost.
    fn schedule(
        &self,
        node: NodeIndex,
        stream: StreamIndex,
        station: &mut Station,
        schedule: Option<Scheduled>,
        plane: &mut dyn Plane,
    ) {
        if !self.harts.ftt.is_synchronous_at(stream, node) {
            return;
        }
        let Some(scheduler) = station.cycles.as_mut().map(|master| &mut master.scheduler) else { return };
        match schedule {
            // Not new: another consumer, at a slower line, or one that left.
            Some(Scheduled::Polled(config)) => {
                let _ = scheduler.add(config) || scheduler.change(config);
            }
            Some(Scheduled::Relayed(config, pool)) => {
                if scheduler.relay(config, pool) {
                    plane.set_pool(node, stream, Some(pool));
                } else {
                    scheduler.change(config);
                }
            }
            None => {
                scheduler.remove(short(stream.index()));
                if self.harts.ftt.relayed(stream, node).is_some() {
                    plane.set_pool(node, stream, None);
                }
            }
        }
    }
}
