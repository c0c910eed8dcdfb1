//! Stream identification (ieee802-dot1cb-stream-identification, -mask-and-match), and stream filters, gates and meters (ieee802-dot1q-psfp).
//!
//! The handle of a stream is its number in the network, from one. A filter of several streams is one for each, in the same order.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use tautwire_core::identification::{StreamIdentification, Tagged};
use tautwire_model::network::{IdentificationFunction, Identified, Layer, PortIndex, StreamIndex, Traffic};
use tautwire_model::psfp::{BridgeFilters, ColourMode, FlowMeter, StreamFilter, StreamGate};
use tautwire_wire::{Ipv4Address, MacAddress, VlanId};

use super::gates::{Supported, cycle};
use super::names::{self, Fraction, ns_ceil, ptp_time};
use super::{Bridge, interface};
use crate::{Converted, times};

/// Lengths of masks that the module takes, octets.
const MASK_LENGTHS: std::ops::RangeInclusive<usize> = 2..=1_984;

/// Streams that the data of a bridge name.
#[derive(Default)]
pub(super) struct Identities {
    streams: BTreeSet<StreamIndex>,
    /// Ports behind the relay at which functions know frames of a stream.
    behind_relay: BTreeSet<(StreamIndex, u32)>,
}

/// What identifies frames of a stream where they come in: the name of the function, and its parameters.
pub(super) type Frames = (&'static str, Value);

impl Identities {
    /// The handle of a stream.
    pub(super) fn handle(&mut self, stream: StreamIndex) -> u32 {
        self.streams.insert(stream);
        stream.0 + 1
    }

    /// A port where frames of a stream are known, too, as the relay brings them.
    pub(super) fn behind_relay(&mut self, stream: StreamIndex, port: u32) {
        self.behind_relay.insert((stream, port));
    }

    /// The table: the functions at the ports where frames come in, by default null stream identification.
    pub(super) fn list(self, bridge: &Bridge<'_>, written: &mut Converted) -> Vec<Value> {
        let mut found: Vec<(StreamIndex, Frames, BTreeSet<u32>)> = Vec::new();
        for number in self.streams {
            for (frames, port) in arrivals(bridge, number, written) {
                if let Some((other, ..)) = found.iter().find(|(other, known, ports)| {
                    *other != number && *known == frames && ports.contains(&port)
                }) {
                    let name = |stream: StreamIndex| &bridge.network.streams[stream.index()].name;
                    written.lacks(format!(
                        "bridge {}: what distinguishes {} and {}, whose frames have one address and VLAN",
                        bridge.node.name,
                        name(*other),
                        name(number)
                    ));
                }
                match found.iter_mut().find(|(other, known, _)| *other == number && *known == frames) {
                    Some((.., ports)) => {
                        ports.insert(port);
                    }
                    None => found.push((number, frames, BTreeSet::from([port]))),
                }
            }
        }
        let is_other = |function: &IdentificationFunction| *function != IdentificationFunction::NullStream;
        let is_looked_up = |port: u32| bridge.network.identities(PortIndex(port), Layer::Relay).is_some();
        if !bridge.node.ports.clone().any(is_looked_up)
            && bridge.device.stream_identification.iter().any(is_other)
        {
            written.lacks(format!(
                "device model {}: its functions of stream identification; here they are by address and VLAN",
                bridge.device.name
            ));
        }
        let entry = |(index, (stream, frames, ports)): (usize, (StreamIndex, Frames, BTreeSet<u32>))| {
            let interface = |port: u32| interface(&bridge.network.ports[port as usize]);
            let (name, parameters) = frames;
            json!({
                "index": index + 1,
                "handle": stream.0 + 1,
                "out-facing": { "input-port": ports.into_iter().map(interface).collect::<Vec<_>>() },
                name: parameters,
            })
        };
        let mut entries: Vec<Value> = found.into_iter().enumerate().map(entry).collect();
        for (number, port) in self.behind_relay {
            let stream = &bridge.network.streams[number.index()];
            let is_tagged = stream.hops.iter().any(|hop| hop.port.0 == port && hop.tagged.vlan);
            entries.push(json!({
                "index": entries.len() + 1,
                "handle": number.0 + 1,
                "in-facing": { "input-port": [interface(&bridge.network.ports[port as usize])] },
                "null-stream-identification": {
                    "destination-mac": names::address(stream.destination),
                    "tagged": if is_tagged { "tagged" } else { "priority" },
                    "vlan": if is_tagged { stream.vlan.number() } else { 0 },
                },
            }));
        }
        entries
    }
}

/// How and where frames of a stream come to a bridge.
pub(super) fn arrivals(
    bridge: &Bridge<'_>,
    number: StreamIndex,
    written: &mut Converted,
) -> Vec<(Frames, u32)> {
    let stream = &bridge.network.streams[number.index()];
    let mut found = Vec::new();
    for hop in stream.hops.iter().filter(|_| stream.traffic != Traffic::Protocol) {
        let (node, port) = bridge.network.far_end(hop);
        if node != bridge.number {
            continue;
        }
        let list = bridge.network.identities(port, Layer::Relay).unwrap_or_default();
        let stated = list.iter().find(|row| row.stream == number).and_then(|row| row.function.as_ref());
        match stated.map(parameters) {
            Some(Some(frames)) => found.push((frames, port.0)),
            Some(None) => written.lacks(format!(
                "bridge {}: mask-and-match identification of {}: the module takes masks of 2 to 1984 octets",
                bridge.node.name, stream.name
            )),
            // Its frames are those of another, or of none.
            None if hop.identified != Identified::Own => {}
            None => {
                let tagged = if hop.tagged.vlan { Tagged::Tagged } else { Tagged::Priority };
                // A frame without a tag has no VLAN identifier.
                let vlan = hop.tagged.vlan.then(|| stream.vlan_at(hop));
                let null =
                    StreamIdentification::Null { destination: stream.destination_at(hop), tagged, vlan };
                found.extend(parameters(&null).map(|frames| (frames, port.0)));
            }
        }
    }
    found
}

/// A function as it is written; none if its module does not take it.
fn parameters(function: &StreamIdentification) -> Option<Frames> {
    let tags = |tagged: &Tagged| match tagged {
        Tagged::Tagged => "tagged",
        Tagged::Priority => "priority",
        Tagged::All => "all",
    };
    let number = |vlan: &Option<VlanId>| vlan.map_or(0, VlanId::number);
    match function {
        StreamIdentification::Null { destination, tagged, vlan } => Some((
            "null-stream-identification",
            json!({ "destination-mac": names::address(*destination), "tagged": tags(tagged), "vlan": number(vlan) }),
        )),
        StreamIdentification::Source { source, tagged, vlan } => Some((
            "smac-vlan-stream-identification",
            json!({ "source-mac": names::address(*source), "tagged": tags(tagged), "vlan": number(vlan) }),
        )),
        StreamIdentification::Ip {
            destination,
            vlan,
            ip_source,
            ip_destination,
            dscp,
            protocol,
            source_port,
            destination_port,
        } => {
            let mut leaves = Map::new();
            let mut add =
                |name: &str, value: Option<Value>| value.map(|value| leaves.insert(name.into(), value));
            add("destination-mac", destination.map(|address| names::address(address).into()));
            add("tagged", Some(if vlan.is_some() { "tagged" } else { "all" }.into()));
            add("vlan", vlan.map(|vlan| vlan.number().into()));
            // An address of zeros, 64 and a port of 0 match any.
            let address = |address: &Option<(Ipv4Address, Ipv4Address)>| {
                address.map_or(Ipv4Address::new(0, 0, 0, 0), |(address, _)| address).to_string()
            };
            add("ip-source", Some(address(ip_source).into()));
            add("ip-destination", ip_destination.map(|(address, _)| address.to_string().into()));
            add("dscp", dscp.map(Value::from));
            add("next-protocol", Some(if protocol.is_some() { "udp" } else { "none" }.into()));
            add("source-port", protocol.map(|_| source_port.unwrap_or(0).into()));
            add("destination-port", protocol.map(|_| destination_port.unwrap_or(0).into()));
            Some(("ip-stream-identification", leaves.into()))
        }
        StreamIdentification::MaskAndMatch { destination, source, data } => {
            let pair = |(mask, value): &([u8; 6], [u8; 6])| {
                (names::address(MacAddress(*mask)), names::address(MacAddress(*value)))
            };
            let (destination, source) = (pair(destination), pair(source));
            let mut leaves = json!({
                "destination-mac-mask": destination.0,
                "destination-mac-match": destination.1,
                "source-mac-mask": source.0,
                "source-mac-match": source.1,
            });
            if !data.is_empty() {
                if !MASK_LENGTHS.contains(&data.len()) {
                    return None;
                }
                let octets = |octets: &mut dyn Iterator<Item = u8>| {
                    octets.map(|octet| format!("{octet:02X}")).collect::<Vec<_>>().join("-")
                };
                leaves["msdu-mask-length"] = data.len().into();
                leaves["msdu-mask"] = octets(&mut data.iter().map(|octet| octet.0)).into();
                leaves["msdu-match"] = octets(&mut data.iter().map(|octet| octet.1)).into();
            }
            Some(("ieee802-dot1cb-mask-and-match:mask-and-match-stream-identification", leaves))
        }
    }
}

/// Adds the filters, gates and meters of a bridge.
pub(super) fn filters(
    bridge: &Bridge<'_>,
    component: &mut Map<String, Value>,
    identities: &mut Identities,
    written: &mut Converted,
) {
    let Some(own) = bridge.network.filters_of(bridge.number) else { return };
    let mut needed = Supported::default();
    let mut gates: Vec<Value> = own.gates.iter().map(|one| gate(bridge, one, &mut needed, written)).collect();
    // A filter must name a gate.
    let mut open = None;
    let mut entries: Vec<Map<String, Value>> = Vec::new();
    let mut is_split = false;
    for one in &own.filters {
        let matched = matched(bridge, one, written);
        is_split |= matched.len() > 1;
        if matched.len() > 1 && one.config.blocks_on_oversize {
            written.lacks(format!(
                "bridge {} filter {}: a frame that is too large blocks its own stream alone",
                bridge.node.name, one.id
            ));
        }
        let gate = one.config.gate.map(|gate| own.gates[gate].id);
        let gate = gate.unwrap_or_else(|| *open.get_or_insert_with(|| free_id(own)));
        for stream in matched {
            entries.push(filter(own, one, stream.map(|stream| identities.handle(stream)), gate));
        }
    }
    if let Some(id) = open {
        let cycle = Fraction::ZERO.value();
        gates.push(json!({ "stream-gate-instance-id": id, "gate-enable": false, "admin-cycle-time": cycle }));
    }
    if is_split {
        written.lacks(format!(
            "bridge {}: numbers of its filters, one of which has several streams",
            bridge.node.name
        ));
        for (number, entry) in entries.iter_mut().enumerate() {
            entry.insert("stream-filter-instance-id".into(), number.into());
        }
    }
    let module = "ieee802-dot1q-psfp-bridge";
    component.insert(format!("{module}:stream-filters"), json!({ "stream-filter-instance-table": entries }));
    component.insert(
        format!("{module}:stream-gates"),
        json!({
            "stream-gate-instance-table": gates,
            "supported-list-max": needed.list,
            "supported-cycle-max": needed.cycle.value(),
            "supported-interval-max": needed.interval,
        }),
    );
    if !own.meters.is_empty() {
        let meters: Vec<Value> = own.meters.iter().map(meter).collect();
        component.insert(
            format!("{module}:flow-meters"),
            json!({ "flow-meter-instance-table": meters, "max-flow-meter-instances": own.meters.len() }),
        );
    }
}

/// A number that no gate has.
fn free_id(own: &BridgeFilters) -> u32 {
    (0..).find(|id| own.gates.iter().all(|gate| gate.id != *id)).expect("there are fewer gates than numbers")
}

/// The streams of a filter whose frames come to the bridge; a filter of all has one entry without a stream.
fn matched(bridge: &Bridge<'_>, filter: &StreamFilter, written: &mut Converted) -> Vec<Option<StreamIndex>> {
    let Some(streams) = &filter.streams else { return vec![None] };
    let (here, elsewhere): (Vec<StreamIndex>, Vec<StreamIndex>) =
        streams.iter().partition(|stream| comes(bridge, **stream));
    for stream in elsewhere {
        written.lacks(format!(
            "bridge {} filter {}: stream {}, whose frames do not come there",
            bridge.node.name,
            filter.id,
            bridge.network.streams[stream.index()].name
        ));
    }
    here.into_iter().map(Some).collect()
}

/// Whether frames of a stream come to a bridge.
fn comes(bridge: &Bridge<'_>, number: StreamIndex) -> bool {
    let stream = &bridge.network.streams[number.index()];
    stream.traffic != Traffic::Protocol
        && stream.hops.iter().any(|hop| bridge.network.far_end(hop).0 == bridge.number)
}

fn filter(own: &BridgeFilters, filter: &StreamFilter, handle: Option<u32>, gate: u32) -> Map<String, Value> {
    let mut entry = Map::new();
    let mut add = |name: &str, value: Value| entry.insert(name.into(), value);
    add("stream-filter-instance-id", filter.id.into());
    match handle {
        Some(handle) => add("stream-handle", handle.into()),
        None => add("wildcard", json!([null])),
    };
    add("priority-spec", names::priority(filter.priority, "wildcard").into());
    // Zero: any size.
    add("max-sdu-size", filter.config.max_sdu.unwrap_or(0).into());
    add("stream-blocked-due-to-oversize-frame-enabled", filter.config.blocks_on_oversize.into());
    add("stream-gate-ref", gate.into());
    if let Some(meter) = filter.config.meter {
        add("flow-meter-ref", own.meters[meter].id.into());
        add("flow-meter-enable", true.into());
    }
    entry
}

fn gate(bridge: &Bridge<'_>, gate: &StreamGate, needed: &mut Supported, written: &mut Converted) -> Value {
    let config = &gate.config;
    let of = format!("bridge {} stream gate {}", bridge.node.name, gate.id);
    let state = |is_open| if is_open { "open" } else { "closed" };
    let mut entry = Map::new();
    let mut add = |name: &str, value: Value| entry.insert(name.into(), value);
    add("stream-gate-instance-id", gate.id.into());
    // Without a list its state is the stated one as long as it is enabled.
    add("gate-enable", true.into());
    add("admin-gate-states", state(config.admin.open).into());
    add("admin-ipv", names::priority(config.admin.internal_priority, "null").into());
    if let Some(parameters) = &config.parameters {
        let entries = parameters
            .control_list
            .iter()
            .map(|entry| ((entry.state, entry.octets_max), entry.time_interval));
        let list = times::list(entries, parameters.cycle_time);
        let (extension, is_whole) = ns_ceil(parameters.cycle_time_extension);
        let is_rounded = list.is_rounded || !is_whole || !parameters.base_time.as_ps().is_multiple_of(1_000);
        let cycle = cycle(parameters.cycle_time, is_rounded, &of, written);
        needed.needs(list.entries.len(), list.entries.iter().map(|(_, ns)| *ns).max().unwrap_or(0), cycle);
        let entries: Vec<Value> = (list.entries.into_iter().enumerate())
            .map(|(index, ((open, octets), ns))| {
                let mut entry = json!({
                    "index": index,
                    "operation-name": "ieee802-dot1q-psfp:set-gate-and-ipv",
                    "time-interval-value": ns,
                    "gate-state-value": state(open.open),
                    "ipv-spec": names::priority(open.internal_priority, "null"),
                });
                if let Some(octets) = octets {
                    entry["interval-octet-max"] = octets.into();
                    if !config.counts_ether_type {
                        written.lacks(format!("{of}: that octets of intervals are without EtherType"));
                    }
                }
                entry
            })
            .collect();
        add("admin-control-list", json!({ "gate-control-entry": entries }));
        add("admin-cycle-time", cycle.value());
        add("admin-cycle-time-extension", extension.into());
        add("admin-base-time", ptp_time(parameters.base_time));
        add("config-change", true.into());
    } else {
        add("admin-cycle-time", Fraction::ZERO.value());
    }
    add("gate-closed-due-to-invalid-rx-enable", config.closes_on_invalid_rx.into());
    add("gate-closed-due-octets-exceeded-enable", config.closes_on_octets_exceeded.into());
    if !config.tick.is_zero() {
        written.lacks(format!("{of}: `tick-granularity`, which is no configuration"));
    }
    entry.into()
}

fn meter(meter: &FlowMeter) -> Value {
    let config = &meter.config;
    json!({
        "flow-meter-instance-id": meter.id,
        "committed-information-rate": config.committed_information_rate.as_bps().to_string(),
        "committed-burst-size": config.committed_burst_size,
        "excess-information-rate": config.excess_information_rate.as_bps().to_string(),
        "excess-burst-size": config.excess_burst_size,
        "coupling-flag": if config.coupling_flag { "one" } else { "zero" },
        "color-mode": match config.color_mode {
            ColourMode::Blind => "color-blind",
            ColourMode::Aware => "color-aware",
        },
        "drop-on-yellow": config.drop_on_yellow,
        "mark-all-frames-red-enable": config.mark_all_frames_red_enable,
    })
}
