//! The bridge and its component: VLANs, static forwarding, ageing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use tautwire_model::network::{NodeKind, Traffic};
use tautwire_wire::{MacAddress, VlanId};

use super::{Bridge, names};
use crate::Converted;

/// The name of the component.
pub(super) const COMPONENT: &str = "c-vlan";

/// The ageing times that the module takes, seconds.
const AGEING: std::ops::RangeInclusive<u64> = 10..=1_000_000;

/// A destination in a VLAN.
type Destination = (u16, [u8; 6]);

/// The component, to which streams add theirs.
pub(super) fn component(bridge: &Bridge<'_>, written: &mut Converted) -> Map<String, Value> {
    let mut component = Map::new();
    let mut add = |name: &str, value: Value| component.insert(name.into(), value);
    add("name", COMPONENT.into());
    add("id", 1.into());
    add("type", "ieee802-dot1q-bridge:c-vlan-component".into());
    add("traffic-class-enabled", true.into());
    add("filtering-database", database(bridge, written));
    let members = members(bridge);
    let vlans: Vec<Value> = members.keys().map(|vid| json!({ "vid": vid })).collect();
    let filtered: Vec<Value> = members.keys().map(|vid| json!({ "vid": vid, "fid": vid })).collect();
    add("bridge-vlan", json!({ "vlan": vlans, "vid-to-fid": filtered }));
    component
}

/// The bridge around its component. Its address is that of its first port.
pub(super) fn bridges(bridge: &Bridge<'_>, component: Map<String, Value>) -> Value {
    let address = bridge.ports().next().map_or(MacAddress([2, 0, 0, 0, 0, 1]), |(_, port)| port.address);
    json!({ "bridge": [{
        "name": bridge.name,
        "address": names::address(address),
        "bridge-type": "ieee802-dot1q-bridge:customer-vlan-bridge",
        "component": [component],
    }] })
}

/// Member ports of each VLAN by their numbers, and whether frames leave them with a tag.
fn members(bridge: &Bridge<'_>) -> BTreeMap<u16, Vec<(u32, bool)>> {
    let mut found = BTreeMap::new();
    for vlan in &bridge.network.vlans {
        let own = vlan.members.iter().filter(|member| bridge.node.ports.contains(&member.port.0));
        let own: Vec<_> = own.map(|member| (bridge.port_number(member.port), member.tagged)).collect();
        if !own.is_empty() {
            found.insert(vlan.id.number(), own);
        }
    }
    found
}

fn database(bridge: &Bridge<'_>, written: &mut Converted) -> Value {
    let mut database = Map::new();
    if let NodeKind::Bridge { learning: Some(learning), .. } = bridge.node.kind {
        let name = &bridge.node.name;
        written.lacks(format!("bridge {name}: the size of its table of addresses"));
        let ps = learning.ageing_time.as_ps();
        // Rounded up to whole seconds.
        let seconds = ps.div_ceil(1_000_000_000_000).clamp(*AGEING.start(), *AGEING.end());
        if seconds.checked_mul(1_000_000_000_000) != Some(ps) {
            written
                .lacks(format!("bridge {name}: an ageing time that is not whole seconds from 10 to 1000000"));
        }
        database.insert("aging-time".into(), seconds.into());
    }
    let forwarded = forwarded(bridge, written);
    if !forwarded.is_empty() {
        database.insert("filtering-entry".into(), forwarded.into());
    }
    let registered: Vec<Value> = (members(bridge).iter())
        .map(|(vid, members)| {
            let ports: Vec<Value> = (members.iter())
                .map(|(port, tagged)| {
                    json!({ "port-ref": port, "static-vlan-registration-entries": {
                        "registrar-admin-control": "fixed-new-ignored",
                        "vlan-transmitted": if *tagged { "tagged" } else { "untagged" },
                    } })
                })
                .collect();
            json!({ "database-id": vid, "vids": vid.to_string(), "entry-type": "static", "port-map": ports })
        })
        .collect();
    if !registered.is_empty() {
        database.insert("vlan-registration-entry".into(), registered.into());
    }
    database.into()
}

/// The ways of streams that are not learned, by the address and VLAN with which their frames come in.
fn forwarded(bridge: &Bridge<'_>, written: &mut Converted) -> Vec<Value> {
    let network = bridge.network;
    let mut found: BTreeMap<Destination, (BTreeSet<u32>, &str)> = BTreeMap::new();
    for stream in network.streams.iter().filter(|stream| stream.traffic != Traffic::Protocol) {
        let mut own: BTreeMap<Destination, BTreeSet<u32>> = BTreeMap::new();
        for hop in stream.hops.iter().filter(|hop| bridge.node.ports.contains(&hop.port.0)) {
            let Some(previous) = hop.previous else { continue };
            let before = stream.hops[previous as usize].written;
            let (vlan, destination) = before.map_or((stream.vlan, stream.destination), |other| {
                (other.vlan, other.destination.unwrap_or(stream.destination))
            });
            own.entry(key(vlan, destination)).or_default().insert(bridge.port_number(hop.port));
        }
        if stream.learned {
            continue;
        }
        for (destination, ports) in own {
            match found.get_mut(&destination) {
                None => {
                    found.insert(destination, (ports, &stream.name));
                }
                Some((others, of)) if *others != ports => {
                    written.lacks(format!(
                        "bridge {}: ways of their own of {of} and {}, which have one address and VLAN; frames take both",
                        bridge.node.name, stream.name
                    ));
                    others.extend(ports);
                }
                Some(_) => {}
            }
        }
    }
    let entry = |((vid, address), (ports, _)): (Destination, (BTreeSet<u32>, &str))| {
        let forward =
            |port| json!({ "port-ref": port, "static-filtering-entries": { "control-element": "forward" } });
        let ports: Vec<Value> = ports.into_iter().map(forward).collect();
        json!({
            "database-id": vid,
            "vids": vid.to_string(),
            "address": names::address(MacAddress(address)),
            "entry-type": "static",
            "port-map": ports,
        })
    };
    found.into_iter().map(entry).collect()
}

fn key(vlan: VlanId, destination: MacAddress) -> Destination {
    (vlan.number(), destination.0)
}
