//! From the section to the stream gates and gates of its bridges.
//!
//! The list of both has two cycles. In the first one frames get the first priority, and ports send the class of the second one. Ports
//! close both classes in the dead time at the end of each cycle; all others stay open.

use std::collections::BTreeSet;

use tautwire_core::Priority;
use tautwire_core::psfp::GateState;
use tautwire_units::{Duration, Instant};

use super::CyclicForwarding;
use crate::cqf::codes;
use crate::frame::frame_length;
use crate::gates::{CycleTime, Entry, GateParameters, Operation, PortGates};
use crate::network::{
    DelayRange, DeviceModel, Link, NodeIndex, NodeKind, SelectionAlgorithm, StagePosition, StreamIndex,
};
use crate::psfp::{
    BridgeFilters, FilterConfig, Internal, StreamFilter, StreamGate, StreamGateConfig, StreamGateEntry,
    StreamGateParameters,
};
use crate::resolve::models::{Models, delay_max};
use crate::resolve::streams::Streams;
use crate::resolve::topology::Topology;
use crate::text::faults::Faults;
use crate::text::tree::Node;

/// The key of the section.
pub(crate) const KEY: &str = "cyclic-queuing-and-forwarding";

/// Reads the section, gives its bridges their stream gates and gates, and holds its streams to their offsets.
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
        topology.filters.add(cyclic.filters(bridge), section.anchor());
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
    let &[one, other] = &priorities[..] else {
        // Fewer are a fault of the form.
        if priorities.len() > 2 {
            let message = format!("{} buffers in turn are not supported", priorities.len());
            faults.error(codes::CYCLIC, stated.anchor(), message, "name two priorities");
        }
        return None;
    };
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
        priorities: [one, other],
        bridges,
        streams: cyclic,
    };
    let sizes = settings.streams.iter().map(|stream| streams.list[stream.index()].stream.payload_max);
    let largest = frame_length(sizes.max().unwrap_or_default(), true);
    let needed = topology.links.iter().filter_map(|link| {
        let to = topology.ports[link.to.index()].node;
        let NodeKind::Bridge { device, .. } = topology.nodes[to.index()].kind else { return None };
        let is_there = settings.bridges.contains(&to);
        is_there.then(|| settings.dead_time_min(link, models.device_at(device), largest.get()))
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
    /// The dead time that the line before a bridge requires.
    pub(crate) fn dead_time_min(&self, link: &Link, device: &DeviceModel, octets: u64) -> Duration {
        let passes = |only: Option<SelectionAlgorithm>| {
            only.is_none_or(|only| only == SelectionAlgorithm::StrictPriority)
        };
        let stages = device.stages.iter();
        let before =
            stages.filter(|stage| stage.position != StagePosition::Transmission && passes(stage.only_for));
        let processing = before.fold(Duration::ZERO, |sum, stage| {
            let latency = &stage.latency;
            let fixed = (latency.constant + latency.per_octet * octets).saturating_sub(latency.less);
            sum.saturating_add(fixed).saturating_add(delay_max(latency.random))
        });
        let DelayRange { max, .. } = link.phy_delay;
        let way = link.propagation.saturating_add(max);
        way.saturating_add(processing).saturating_add(self.precision)
    }

    fn base(&self) -> Instant {
        Instant::ZERO + self.base_time
    }

    /// Two cycles.
    fn list_time(&self) -> CycleTime {
        CycleTime::new(2 * self.cycle_time.as_ps(), 1).expect("a cycle lasts a microsecond at least")
    }

    /// The stream gate of a bridge.
    fn filters(&self, node: NodeIndex) -> BridgeFilters {
        let state = |priority| GateState { open: true, internal_priority: Some(priority) };
        let entry = |priority| StreamGateEntry {
            state: state(priority),
            time_interval: self.cycle_time,
            octets_max: None,
        };
        let config = StreamGateConfig {
            admin: state(self.priorities[0]),
            parameters: Some(StreamGateParameters {
                control_list: self.priorities.map(entry).to_vec(),
                base_time: self.base(),
                cycle_time: self.list_time(),
                cycle_time_extension: Duration::ZERO,
            }),
            tick: Duration::ZERO,
            closes_on_invalid_rx: false,
            closes_on_octets_exceeded: false,
            counts_ether_type: true,
        };
        let filter = StreamFilter {
            id: 0,
            streams: Some(self.streams.clone()),
            priority: None,
            config: FilterConfig { max_sdu: None, blocks_on_oversize: false, gate: Some(0), meter: None },
            internal: Internal::Own,
        };
        let gate = StreamGate { id: 0, config };
        BridgeFilters { node, filters: vec![filter], gates: vec![gate], meters: Vec::new() }
    }

    /// The gates of a port with these classes of priorities.
    fn gates(&self, classes: [u8; 8]) -> PortGates {
        let bits = self.priorities.map(|priority| 1_u8 << classes[priority.index()]);
        let others = !(bits[0] | bits[1]);
        let entry = |gate_states, time_interval| Entry {
            operation: Operation::SetGateStates,
            gate_states,
            time_interval,
        };
        let cycle = |sent: u8| [entry(others | sent, self.open_time()), entry(others, self.dead_time)];
        let entries = cycle(bits[1]).into_iter().chain(cycle(bits[0]));
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
