//! Filters at the reception of bridges: the priority of each frame by `skbedit`, stream filters with `police` for sizes and meters and
//! `gate` for stream gates. The first filter that a frame matches counts, so each ends with the frame's priority.

use std::fmt::Write as _;

use tautwire_core::Priority;
use tautwire_model::network::{Hop, Network, Node, NodeIndex, Port, PortIndex, Stream, StreamIndex, Traffic};
use tautwire_model::psfp::{BridgeFilters, ColourMode, Internal, StreamFilter, StreamGate};

use super::{Place, device, is_interface};
use crate::{Converted, times};

/// Octets of the EtherType, which is part of a service data unit and not of what Linux counts at reception.
const ETHER_TYPE: u32 = 2;

/// Octets of a frame that Linux does not count there: addresses, EtherType and FCS; and a tag.
const HEADER: u64 = 18;
const TAG: u64 = 4;

/// The preference of the filter of priority 0: behind all stream filters.
const PRIORITIES: usize = 60_000;

/// Adds the commands of a bridge.
pub(super) fn write(network: &Network, node: &Node, commands: &mut Vec<String>, written: &mut Converted) {
    let number = network.nodes.iter().position(|other| other.name == node.name).map(NodeIndex::at);
    let filters = number.and_then(|number| network.filters_of(number));
    let mut known = Known::default();
    let mut added = Vec::new();
    for number in node.ports.clone() {
        let port = &network.ports[number as usize];
        if port.links.is_none() || !is_interface(device(port)) {
            continue;
        }
        let place = Place { text: format!("{}.{}", node.name, port.name), device: device(port) };
        let mut lines = Vec::new();
        if let Some(filters) = filters {
            for matched in matches(network, filters, PortIndex(number), &place, written) {
                let actions = actions(filters, &matched, node, &mut known, written);
                // All filters of a preference are of one protocol and match the same fields.
                let (preference, keys) = (2 * matched.filter + 2 - usize::from(matched.tagged), matched.keys);
                lines.push(format!("pref {preference} {keys}{actions}"));
            }
        }
        lines.extend(priorities(port));
        if lines.is_empty() {
            continue;
        }
        let device = place.device;
        commands.push(format!("tc qdisc del dev {device} clsact 2>/dev/null || true"));
        commands.push(format!("tc qdisc add dev {device} clsact"));
        added.extend(lines.into_iter().map(|line| format!("tc filter add dev {device} ingress {line}")));
    }
    // After all ports have lost their filters: a gate or policer that another port still has would keep its former parameters.
    commands.extend(added);
}

/// The regenerated priority of every tag, and the default priority of untagged frames; without filters it is 0.
fn priorities(port: &Port) -> Vec<String> {
    let own = port.default_priority.number();
    let mut lines = Vec::new();
    for (received, regenerated) in port.priority_regeneration.iter().enumerate() {
        if regenerated.number() != 0 || own != 0 {
            lines.push(format!(
                "pref {} protocol 802.1Q flower vlan_prio {received} action skbedit priority {}",
                PRIORITIES + received,
                regenerated.number()
            ));
        }
    }
    if own != 0 {
        lines.push(format!("pref {} protocol all matchall action skbedit priority {own}", PRIORITIES + 8));
    }
    lines
}

/// Frames of a stream at a port, and the filter that takes them.
struct Matched {
    filter: usize,
    /// What `tc` knows them by.
    keys: String,
    /// Their regenerated priority.
    priority: Priority,
    tagged: bool,
}

/// What frames that come in at a port match, the first filters first.
fn matches(
    network: &Network,
    filters: &BridgeFilters,
    port: PortIndex,
    place: &Place<'_>,
    written: &mut Converted,
) -> Vec<Matched> {
    let mut found: Vec<Matched> = Vec::new();
    let settings = &network.ports[port.index()];
    for (number, stream) in network.streams.iter().enumerate() {
        if stream.traffic == Traffic::Protocol {
            continue;
        }
        for hop in stream.hops.iter().filter(|hop| network.far_end(hop).1 == port) {
            let priority = received(stream, hop, settings);
            let Some(filter) = filters.filter_of(hop.identified.handle(StreamIndex::at(number)), priority)
            else {
                continue;
            };
            let keys = keys(stream, hop);
            match found.iter().find(|other| other.keys == keys) {
                Some(other) if other.filter != filter => written.lacks(format!(
                    "port {}: stream {} in filter {}, as its addresses, VLAN and priority are those of another stream",
                    place.text, stream.name, filters.filters[filter].id
                )),
                Some(_) => {}
                None => found.push(Matched { filter, keys, priority, tagged: hop.tagged.vlan }),
            }
        }
    }
    found.sort_by_key(|matched| matched.filter);
    found
}

/// The regenerated priority of a stream's frames behind a hop.
fn received(stream: &Stream, hop: &Hop, port: &Port) -> Priority {
    if stream.virtual_link.is_some() || stream.time_triggered.is_some() {
        stream.priority
    } else if hop.tagged.vlan {
        port.priority_regeneration[hop.priority.index()]
    } else {
        port.default_priority
    }
}

/// What the frames of a stream behind a hop are known by.
fn keys(stream: &Stream, hop: &Hop) -> String {
    let destination = stream.destination;
    if hop.tagged.vlan {
        let (vlan, priority) = (stream.vlan.number(), hop.priority.number());
        format!("protocol 802.1Q flower dst_mac {destination} vlan_id {vlan} vlan_prio {priority}")
    } else {
        format!("protocol all flower dst_mac {destination}")
    }
}

/// Gates and meters of a node that are written already: others refer to them.
#[derive(Default)]
struct Known {
    gates: Vec<usize>,
    /// Meters with the octets of their overhead: a meter is one policer for frames of both kinds.
    meters: Vec<usize>,
}

/// What is done with frames that match.
fn actions(
    filters: &BridgeFilters,
    matched: &Matched,
    node: &Node,
    known: &mut Known,
    written: &mut Converted,
) -> String {
    let filter = &filters.filters[matched.filter];
    let of_filter = format!("bridge {} filter {}", node.name, filter.id);
    let mut text = String::new();
    if let Some(most) = filter.config.max_sdu {
        let most = most.saturating_sub(ETHER_TYPE);
        let _ = write!(text, " action police mtu {most} conform-exceed drop/pipe");
    }
    if filter.config.blocks_on_oversize {
        written.lacks(format!("{of_filter}: a frame that is too large does not block it"));
    }
    if let Some(gate) = filter.config.gate {
        gate_action(&filters.gates[gate], gate, node, known, &mut text, written);
    }
    if let Some(meter) = filter.config.meter {
        meter_action(filters, meter, matched, node, known, &mut text, written);
    }
    let _ =
        write!(text, " action skbedit priority {}", priority(filter, matched, &of_filter, written).number());
    text
}

/// The priority by which frames that pass are queued.
fn priority(filter: &StreamFilter, matched: &Matched, of_filter: &str, written: &mut Converted) -> Priority {
    match &filter.internal {
        Internal::Own => matched.priority,
        Internal::Fixed(priority) => *priority,
        Internal::Varies(_) => {
            written.lacks(format!(
                "{of_filter}: internal priorities that change; a device that offloads the gate may have them"
            ));
            matched.priority
        }
    }
}

fn gate_action(
    gate: &StreamGate,
    number: usize,
    node: &Node,
    known: &mut Known,
    text: &mut String,
    written: &mut Converted,
) {
    let of_gate = format!("bridge {} stream gate {}", node.name, gate.id);
    let config = &gate.config;
    let Some(parameters) = &config.parameters else {
        if !config.admin.open {
            text.push_str(" action drop");
        }
        return;
    };
    let index = number + 1;
    if known.gates.contains(&number) {
        let _ = write!(text, " action gate index {index}");
        return;
    }
    known.gates.push(number);
    if config.closes_on_invalid_rx || config.closes_on_octets_exceeded {
        written.lacks(format!("{of_gate}: a wrong frame does not close it"));
    }
    if !config.admin.open {
        written.lacks(format!("{of_gate}: it is open until its first cycle starts"));
    }
    let entries =
        parameters.control_list.iter().map(|entry| ((entry.state, entry.octets_max), entry.time_interval));
    let list = times::list(entries, parameters.cycle_time);
    let base = parameters.base_time.as_ps();
    if list.is_rounded || !base.is_multiple_of(1_000) {
        written.lacks(format!("{of_gate}: times below a nanosecond"));
    }
    let _ = write!(
        text,
        " action gate index {index} clockid CLOCK_TAI base-time {} cycle-time {}",
        base / 1_000,
        list.cycle
    );
    let extension = parameters.cycle_time_extension.as_ps() / 1_000;
    if extension > 0 {
        let _ = write!(text, " cycle-time-ext {extension}");
    }
    for ((state, octets), ns) in list.entries {
        if !state.open {
            let _ = write!(text, " sched-entry close {ns} -1 -1");
            continue;
        }
        let priority = state.internal_priority.map_or(-1, |priority| i32::from(priority.number()));
        let octets = octets.map_or(-1, i64::from);
        if octets >= 0 {
            written.lacks(format!(
                "{of_gate}: octets of an interval; Linux counts frames without header and EtherType"
            ));
        }
        let _ = write!(text, " sched-entry open {ns} {priority} {octets}");
    }
}

/// A meter whose yellow frames are none or discarded is a policer of one bucket.
fn meter_action(
    filters: &BridgeFilters,
    number: usize,
    matched: &Matched,
    node: &Node,
    known: &mut Known,
    text: &mut String,
    written: &mut Converted,
) {
    let meter = &filters.meters[number];
    let of_meter = format!("bridge {} flow meter {}", node.name, meter.id);
    let config = &meter.config;
    let has_excess = config.excess_information_rate.as_bps() > 0 || config.excess_burst_size > 0;
    if has_excess && !config.drop_on_yellow {
        written.lacks(format!("{of_meter}: it has two rates, and police has one bucket; nothing is policed"));
        return;
    }
    if config.committed_information_rate.as_bps() == 0 {
        written.lacks(format!("{of_meter}: a rate of zero, which police does not take; nothing is policed"));
        return;
    }
    if config.color_mode == ColourMode::Aware {
        written.lacks(format!("{of_meter}: colours of received frames"));
    }
    if config.mark_all_frames_red_enable {
        written.lacks(format!("{of_meter}: a red frame does not make all later ones red"));
    }
    let index = number + 1;
    if known.meters.contains(&number) {
        let _ = write!(text, " action police index {index}");
        return;
    }
    known.meters.push(number);
    // With the octets that Linux does not count the bucket is charged as the meter is.
    let overhead = HEADER + if matched.tagged { TAG } else { 0 };
    let _ = write!(
        text,
        " action police rate {}bit burst {}b mtu 64kb overhead {overhead} conform-exceed drop/pipe index {index}",
        config.committed_information_rate.as_bps(),
        config.committed_burst_size
    );
}
