//! From the section to the stream gates and gates of its bridges.
//!
//! The list of both has a cycle for each buffer. Ports send one buffer in each, and the stream gate of a line fills the one that is sent so
//! many cycles later as the line requires. Ports close all these classes in the dead time at the end of each cycle; all others stay open.
//! The stream gates are known once routes are, for these tell which streams come by which line.

use std::collections::{BTreeMap, BTreeSet};

use tautwire_core::Priority;
use tautwire_core::psfp::GateState;
use tautwire_units::{Bytes, Duration, Instant};

use super::CyclicForwarding;
use super::line::{LineTimes, Reception};
use crate::cqf::codes;
use crate::frame::frame_length;
use crate::gates::{CycleTime, Entry, GateParameters, Operation, PortGates};
use crate::network::{DeviceModel, NodeIndex, NodeKind, PortIndex, StreamIndex};
use crate::psfp::{
    BridgeFilters, FilterConfig, StreamFilter, StreamGate, StreamGateConfig, StreamGateEntry,
    StreamGateParameters,
};
use crate::resolve::models::Models;
use crate::resolve::streams::Streams;
use crate::resolve::topology::Topology;
use crate::text::faults::Faults;
use crate::text::tree::Node;

/// The key of the section.
pub(crate) const KEY: &str = "cyclic-queuing-and-forwarding";

/// Reads the section, gives its bridges their gates, and holds its streams to their offsets.
pub(crate) fn expand(
    root: &Node<'_>,
    topology: &mut Topology<'_>,
    models: &Models<'_, '_>,
    streams: &mut Streams<'_, '_>,
    faults: &mut Faults,
) -> Option<CyclicForwarding> {
    let section = root.get(KEY)?;
    let cyclic = settings(section, topology, models, streams, faults)?;
    for bridge in &cyclic.bridges {
        let name = &topology.nodes[bridge.index()].name;
        let has_filters = topology.filters.bridges.iter().any(|filters| filters.node == *bridge);
        let has_gates = topology.ports_of(*bridge).any(|port| topology.ports[port.index()].gates.is_some());
        if has_filters || has_gates {
            let what = if has_filters { "stream filters" } else { "gates" };
            let message = format!("`{name}` has {what} of its own, and forwards in cycles");
            let help = "remove them, or leave the bridge out of `bridges`";
            faults.error(codes::CYCLIC, section.anchor(), message, help);
            return None;
        }
    }
    for bridge in cyclic.bridges.clone() {
        for port in topology.ports_of(bridge) {
            if topology.ports[port.index()].links.is_some() {
                let gates = cyclic
                    .gates(topology.ports[port.index()].class_table.of_priority.map(|class| class.number()));
                topology.ports[port.index()].gates = Some(Box::new(gates));
                topology.extras[port.index()].places.gates = Some(section.anchor());
            }
        }
    }
    // The place of its frames in a cycle is part of what a talker promises, and what `check.rs` counts them by.
    for stream in &cyclic.streams {
        streams.list[stream.index()].stream.open_phase = false;
    }
    Some(cyclic)
}

/// Gives the bridges their stream gates, one for each line.
pub(crate) fn receive(
    root: &Node<'_>,
    cyclic: &mut CyclicForwarding,
    topology: &mut Topology<'_>,
    models: &Models<'_, '_>,
    streams: &Streams<'_, '_>,
) {
    let Some(section) = root.get(KEY) else { return };
    let mut lines: BTreeMap<PortIndex, Line> = BTreeMap::new();
    for number in &cyclic.streams {
        let stream = &streams.list[number.index()].stream;
        for hop in &stream.hops {
            let line = lines.entry(hop.port).or_default();
            let (least, largest) = (stream.payload_min, stream.payload_max);
            let (least, largest) = (frame_length(least, hop.tagged), frame_length(largest, hop.tagged));
            line.streams.insert(*number);
            line.least = line.least.map_or(Some(least), |other| Some(other.min(least)));
            line.largest = line.largest.max(largest);
        }
    }
    let mut gates: BTreeMap<NodeIndex, Vec<(Reception, BTreeSet<StreamIndex>)>> = BTreeMap::new();
    for (port, line) in lines {
        let Some(links) = topology.ports[port.index()].links else { continue };
        let link = &topology.links[links.egress.index()];
        let to = topology.ports[link.to.index()].node;
        let Some(device) = device(topology, models, to) else { continue };
        if !cyclic.bridges.contains(&to) {
            continue;
        }
        let times = LineTimes::new(link, device, line.least.unwrap_or_default(), line.largest);
        let reception = cyclic.reception(&times);
        cyclic.lines.insert(port, reception);
        let all = gates.entry(to).or_default();
        match all.iter_mut().find(|(own, _)| *own == reception) {
            Some((_, own)) => own.extend(line.streams),
            None => all.push((reception, line.streams)),
        }
    }
    for bridge in &cyclic.bridges {
        let filters = cyclic.filters(*bridge, gates.remove(bridge).unwrap_or_default());
        topology.filters.add(filters, section.anchor());
    }
}

/// What comes by a line.
#[derive(Default)]
struct Line {
    streams: BTreeSet<StreamIndex>,
    /// Octets of its smallest frame, and of its largest one.
    least: Option<Bytes>,
    largest: Bytes,
}

/// The device of a bridge.
fn device<'m>(
    topology: &Topology<'_>,
    models: &'m Models<'_, '_>,
    node: NodeIndex,
) -> Option<&'m DeviceModel> {
    match topology.nodes[node.index()].kind {
        NodeKind::Bridge { device, .. } => Some(models.device_at(device)),
        NodeKind::EndStation { .. } => None,
    }
}

/// The section, with what it leaves open.
fn settings(
    section: &Node<'_>,
    topology: &Topology<'_>,
    models: &Models<'_, '_>,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) -> Option<CyclicForwarding> {
    let cycle_time: Duration = section.parsed("cycle-time")?;
    let stated = section.get("priorities")?;
    let priorities: Vec<Priority> =
        stated.items().iter().filter_map(|one| Priority::new(one.text()?.parse().ok()?)).collect();
    // Fewer are a fault of the form.
    if priorities.len() < 2 {
        return None;
    }
    let all = (0..topology.nodes.len()).map(NodeIndex::at);
    let bridges = match section.get("bridges") {
        None => all.filter(|node| topology.is_bridge(*node)).collect(),
        Some(named) => {
            let node = |item: &Node<'_>| topology.node(item.text()?, item.place, faults);
            let nodes: Vec<NodeIndex> = named.items_or_self().iter().filter_map(node).collect();
            if let Some(station) = nodes.iter().find(|node| !topology.is_bridge(**node)) {
                let message = format!("`{}` is no bridge", topology.nodes[station.index()].name);
                faults.error(codes::CYCLIC, named.anchor(), message, "name bridges alone");
                return None;
            }
            nodes
        }
    };
    let precision = section.parsed("precision").unwrap_or_else(|| apart(topology));
    let number = |number: usize| StreamIndex::at(number);
    let is_cyclic = |place: &usize| priorities.contains(&streams.list[*place].stream.priority);
    let cyclic: BTreeSet<StreamIndex> = (0..streams.list.len()).filter(is_cyclic).map(number).collect();
    let mut settings = CyclicForwarding {
        cycle_time,
        base_time: section.parsed("base-time").unwrap_or_default(),
        dead_time: Duration::ZERO,
        precision,
        priorities,
        bridges,
        streams: cyclic,
        lines: BTreeMap::new(),
    };
    let all = || settings.streams.iter().map(|stream| &streams.list[stream.index()].stream);
    let largest = frame_length(all().map(|one| one.payload_max).max().unwrap_or_default(), true);
    let least = frame_length(all().map(|one| one.payload_min).min().unwrap_or_default(), false);
    let needed = topology.links.iter().filter_map(|link| {
        let to = topology.ports[link.to.index()].node;
        let device = device(topology, models, to).filter(|_| settings.bridges.contains(&to))?;
        Some(settings.dead_time_min(&LineTimes::new(link, device, least, largest)))
    });
    let needed = needed.max().unwrap_or_default();
    settings.dead_time = section.parsed("dead-time").unwrap_or(needed);
    if settings.dead_time >= cycle_time {
        let message =
            format!("a dead time of {} leaves nothing of a cycle of {cycle_time}", settings.dead_time);
        let place = section.get("dead-time").map_or(section.anchor(), Node::anchor);
        faults.error(codes::CYCLIC_DEAD_TIME, place, message, "lengthen the cycle");
        return None;
    }
    Some(settings)
}

/// By how much the clocks of two nodes differ, if they run alike.
pub(super) fn apart(topology: &Topology<'_>) -> Duration {
    let offsets = || topology.nodes.iter().map(|node| i128::from(node.clock.offset.as_ps()));
    let apart = offsets().max().unwrap_or(0) - offsets().min().unwrap_or(0);
    let step = topology.nodes.iter().map(|node| node.clock.step()).max().unwrap_or_default();
    Duration::from_ps(u64::try_from(apart).unwrap_or(u64::MAX)).saturating_add(step * 2)
}

impl CyclicForwarding {
    fn base(&self) -> Instant {
        Instant::ZERO + self.base_time
    }

    /// A cycle for each buffer.
    fn list_time(&self) -> CycleTime {
        CycleTime::new(self.list_length().as_ps(), 1).expect("a cycle lasts a microsecond at least")
    }

    /// How long the lists are.
    pub(super) fn list_length(&self) -> Duration {
        self.cycle_time * self.buffers() as u64
    }

    fn buffers(&self) -> usize {
        self.priorities.len()
    }

    /// The priority of the buffer that ports send in a cycle.
    fn sent_in(&self, cycle: u64) -> Priority {
        let place = (cycle + 1) % self.buffers() as u64;
        self.priorities[usize::try_from(place).expect("few buffers")]
    }

    /// The stream gates of a bridge.
    fn filters(&self, node: NodeIndex, lines: Vec<(Reception, BTreeSet<StreamIndex>)>) -> BridgeFilters {
        let mut bridge = BridgeFilters { node, filters: Vec::new(), gates: Vec::new(), meters: Vec::new() };
        for (number, (reception, streams)) in lines.into_iter().enumerate() {
            let id = u32::try_from(number).expect("few lines");
            bridge.gates.push(StreamGate { id, config: self.stream_gate(reception) });
            bridge.filters.push(StreamFilter {
                id,
                streams: Some(streams),
                priority: None,
                config: FilterConfig {
                    max_sdu: None,
                    blocks_on_oversize: false,
                    gate: Some(number),
                    meter: None,
                },
                internal: bridge.internal(number, std::iter::empty()),
            });
        }
        bridge
    }

    /// The stream gate of a line.
    fn stream_gate(&self, reception: Reception) -> StreamGateConfig {
        let state =
            |cycle| GateState { open: true, internal_priority: Some(self.sent_in(cycle + reception.cycles)) };
        let entry =
            |cycle| StreamGateEntry { state: state(cycle), time_interval: self.cycle_time, octets_max: None };
        StreamGateConfig {
            admin: state(0),
            parameters: Some(StreamGateParameters {
                control_list: (0..self.buffers() as u64).map(entry).collect(),
                base_time: self.base() + reception.offset,
                cycle_time: self.list_time(),
                cycle_time_extension: Duration::ZERO,
            }),
            tick: Duration::ZERO,
            closes_on_invalid_rx: false,
            closes_on_octets_exceeded: false,
            counts_ether_type: true,
        }
    }

    /// The gates of a port with these classes of priorities.
    fn gates(&self, classes: [u8; 8]) -> PortGates {
        let bit = |priority: Priority| 1_u8 << classes[priority.index()];
        let others = !self.priorities.iter().fold(0, |all, priority| all | bit(*priority));
        let entry = |gate_states, time_interval| Entry {
            operation: Operation::SetGateStates,
            gate_states,
            time_interval,
        };
        let cycle = |sent: u8| [entry(others | sent, self.open_time()), entry(others, self.dead_time)];
        let entries = (0..self.buffers() as u64).flat_map(|number| cycle(bit(self.sent_in(number))));
        PortGates {
            admin_gate_states: others,
            parameters: GateParameters {
                control_list: entries.filter(|entry| !entry.time_interval.is_zero()).collect(),
                base_time: self.base(),
                cycle_time: self.list_time(),
                cycle_time_extension: Duration::ZERO,
            },
            ..PortGates::default()
        }
    }
}
