//! The entities of each node of HaRTES at the start: the machines, and their configuration.

use std::collections::VecDeque;

use tautwire_core::harts::{
    AcConfig, AcMaster, CycleMaster, FttNode, Ports, Station, SwitchMaster, SynchronousScheduler, Topology,
};
use tautwire_model::Network;
use tautwire_model::harts::Harts;
use tautwire_model::harts::admission::HartsAdmission;
use tautwire_model::network::{NodeIndex, NodeKind, PortIndex, StreamIndex};
use tautwire_units::{Duration, Instant};

use crate::plan::{NONE, index};

/// Identifiers of the ACMaster and its standby; all others have those of their nodes.
pub(super) const MASTER: u16 = 0xfff0;
pub(super) const STANDBY: u16 = 0xfff1;

/// How long a node waits for an answer before it repeats a request, where admission is not described.
const PATIENCE: Duration = Duration::from_ms(100);

/// A node or stream as messages name it.
pub(super) fn short(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

/// Whether a stream is requested during the run.
pub(super) fn is_asked(harts: &Harts, stream: StreamIndex) -> bool {
    harts.admission.as_ref().is_some_and(|admission| admission.request(stream).is_some())
}

/// The nodes of ACMasters, by their identifiers.
pub(super) fn acmasters(admission: &HartsAdmission) -> impl Iterator<Item = (u16, NodeIndex)> {
    [(MASTER, Some(admission.master)), (STANDBY, admission.standby)]
        .into_iter()
        .filter_map(|(id, node)| Some((id, node?)))
}

/// The ports of a node that have a cable.
pub(super) fn ports(network: &Network, node: NodeIndex) -> Vec<PortIndex> {
    let ports = network.nodes[node.index()].ports.clone().map(PortIndex);
    ports.filter(|port| network.ports[port.index()].links.is_some()).collect()
}

/// The node at the other end of a port's cable.
pub(super) fn neighbour(network: &Network, port: PortIndex) -> NodeIndex {
    let links = network.ports[port.index()].links.expect("a port with a cable");
    network.ports[network.links[links.egress.index()].to.index()].node
}

/// A node whose clock reads `now` at the start; none if it has no entity of HaRTES.
pub(super) fn station(network: &Network, harts: &Harts, node: NodeIndex, now: Instant) -> Option<Station> {
    let mut station = Station::new(short(node.index()), known_ports(network, harts, node));
    station.cycles =
        scheduler(network, harts, node).map(|scheduler| CycleMaster::new(scheduler, harts.cycle, now));
    station.node = asking(network, harts, node);
    let is_bridge = matches!(network.nodes[node.index()].kind, NodeKind::Bridge { .. });
    if harts.admission.is_some() && is_bridge {
        station.switch = network.switch_config(node, MASTER).map(SwitchMaster::new);
    }
    let has_part = harts.admission.is_some() || station.cycles.is_some() || station.node.is_some();
    has_part.then_some(station)
}

fn known_ports(network: &Network, harts: &Harts, node: NodeIndex) -> Ports {
    let ports = ports(network, node);
    let sends = |port: &PortIndex| harts.ftt.triggers.get(port.index()).copied().flatten().is_some();
    let mut known = Ports {
        neighbours: ports.iter().map(|port| short(neighbour(network, *port).index())).collect(),
        triggers: ports.iter().enumerate().filter(|(_, port)| sends(port)).map(|(place, _)| place).collect(),
        ..Ports::default()
    };
    let Some(admission) = &harts.admission else { return known };
    let nodes = (0..network.nodes.len()).map(|other| (short(other), NodeIndex::at(other)));
    for (entity, at) in nodes.chain(acmasters(admission)).filter(|(_, at)| *at != node) {
        let port = PortIndex(towards(network, at.index())[node.index()]);
        if admission.control.get(port.index()).copied().flatten().is_some() {
            let place = ports.iter().position(|own| *own == port).expect("a port with a cable");
            known.towards.insert(entity, place);
        }
    }
    known
}

/// The schedule of a switch's master, with the streams that exist from the start.
fn scheduler(network: &Network, harts: &Harts, node: NodeIndex) -> Option<SynchronousScheduler> {
    let NodeKind::Bridge { .. } = network.nodes[node.index()].kind else { return None };
    let sends = |port: usize| harts.ftt.triggers.get(port).copied().flatten().is_some();
    let relays = harts.ftt.relayed.iter().any(|relayed| relayed.switch == node);
    if !relays && !network.nodes[node.index()].ports.clone().any(|port| sends(port as usize)) {
        return None;
    }
    let window = harts.ftt.windows[node.index()].unwrap_or_default();
    let mut scheduler = SynchronousScheduler::new(harts.ftt.policy, window);
    let here = harts.ftt.polled.iter().filter(|polled| polled.switch == node);
    for polled in here.filter(|polled| !is_asked(harts, polled.stream)) {
        assert!(scheduler.add(polled.config), "a checked message fits its window");
    }
    let here = harts.ftt.relayed.iter().filter(|relayed| relayed.switch == node);
    for relayed in here.filter(|relayed| !is_asked(harts, relayed.stream)) {
        assert!(scheduler.relay(relayed.config, relayed.pool), "a checked message fits its window");
    }
    Some(scheduler)
}

/// The entity of an end station that requests streams and follows trigger messages; it holds the streams that exist from the start.
fn asking(network: &Network, harts: &Harts, node: NodeIndex) -> Option<FttNode> {
    let NodeKind::EndStation { .. } = network.nodes[node.index()].kind else { return None };
    let triggered = harts.ftt.triggers.iter().flatten();
    let master = triggered
        .map(|stream| &network.streams[stream.index()])
        .find(|stream| stream.listeners.contains(&node))?
        .talker;
    let patience = harts.admission.as_ref().map_or(PATIENCE, |admission| admission.patience);
    let mut machine = FttNode::new(short(node.index()), short(master.index()), patience);
    for polled in harts.ftt.polled.iter().filter(|polled| !is_asked(harts, polled.stream)) {
        if network.streams[polled.stream.index()].talker == node
            && let Some(held) = network.harts_request(polled.stream)
        {
            machine.hold(held);
        }
    }
    Some(machine)
}

/// An ACMaster whose switch came back so often.
pub(super) fn acmaster(
    network: &Network,
    admission: &HartsAdmission,
    me: u16,
    life: u32,
    now: Instant,
) -> AcMaster {
    let other = if me == MASTER { STANDBY } else { MASTER };
    let config = AcConfig {
        me,
        other: admission.standby.map(|_| other),
        // One without a standby surveys the switches.
        active: me == MASTER && (life == 0 || admission.standby.is_none()),
        life,
        patience: admission.patience,
        alive: admission.alive,
        topology: topology(network, admission),
        size_max: 1_542,
    };
    AcMaster::new(config, now)
}

/// The ACMaster's picture of the network.
fn topology(network: &Network, admission: &HartsAdmission) -> Topology {
    let mut topology = Topology::default();
    let is_bridge = |node: usize| matches!(network.nodes[node].kind, NodeKind::Bridge { .. });
    for link in network.links.iter().step_by(2) {
        let end = |port: PortIndex| network.ports[port.index()].node.index();
        let (one, other) = (end(link.from), end(link.to));
        match (is_bridge(one), is_bridge(other)) {
            (true, true) => topology.link(short(one), short(other)),
            (true, false) => topology.attach(short(other), short(one)),
            (false, true) => topology.attach(short(one), short(other)),
            (false, false) => {}
        }
    }
    for (id, node) in acmasters(admission) {
        topology.attach(id, short(node.index()));
    }
    topology
}

/// The port of every node towards one of them, or [`NONE`].
fn towards(network: &Network, to: usize) -> Vec<u32> {
    let mut found = vec![NONE; network.nodes.len()];
    let mut next = VecDeque::from([index(to)]);
    while let Some(here) = next.pop_front() {
        for port in network.nodes[here as usize].ports.clone() {
            let Some(links) = network.ports[port as usize].links else { continue };
            // The port at the other end of the cable leads here.
            let far = network.links[links.egress.index()].to;
            let node = network.ports[far.index()].node;
            if node.index() != to && found[node.index()] == NONE {
                found[node.index()] = far.0;
                next.push_back(node.0);
            }
        }
    }
    found
}
