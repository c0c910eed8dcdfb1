//! Reads instance data of bridges, in JSON and in XML: ports with priorities, classes, selection, gates and preemption; VLANs and ageing.
//!
//! `object.rs`: documents; `ports.rs`; `filters.rs`: stream filters, gates and meters; `streams.rs`: what streams are needed for. Cables and streams
//! are in no document: without a base the description has bridges alone, and what streams are needed for is listed; with one, `update` puts all of it
//! there. Of each part every leaf is taken, a fault, or listed.

mod filters;
mod object;
mod ports;
mod settings;
mod streams;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::{Converted, Files, Import, Input, quoted, valid};

pub(super) use filters::{Filter, Tables};
pub(super) use object::{Object, document};
pub(super) use ports::{GATES, Port, STATUS};
pub(super) use settings::Settings;
pub(super) use streams::{Identity, Scheduler, Side, StreamParts};

pub(crate) static IMPORT: Import = Import {
    name: "yang",
    about: "IEEE 802.1Q YANG instance data in JSON or XML, a document of each bridge; ports, classes,\ngates, VLANs, stream gates and meters become a description, to which cables are to be\nadded; with --base, streams' filters, schedulers, identification and replication, too",
    example: "tautwire import yang front.json rear.xml --to bridges.yaml\ntautwire import yang front.json --base car.yaml --to as-configured.yaml",
    has_configurations: false,
    of: read,
    of_octets: None,
    onto: Some(super::update::update),
};

/// The greatest number of a VLAN.
const VLANS: u64 = 4_094;

/// VLANs with their members: a port, and whether frames leave it with a tag.
pub(super) type Members = BTreeMap<u64, Vec<(String, bool)>>;

/// A bridge as its document has it.
pub(super) struct Bridge {
    pub(super) name: String,
    pub(super) ports: Vec<Port>,
    /// Seconds after which addresses are forgotten.
    pub(super) ageing: Option<u64>,
    /// Its ports in VLANs.
    pub(super) members: Members,
    pub(super) filters: Tables,
    pub(super) streams: StreamParts,
}

fn read(files: &Files<'_>, converted: &mut Converted) -> Result<(), String> {
    let mut nodes = String::new();
    let mut members = Members::new();
    let mut names = BTreeSet::new();
    for input in files.inputs {
        let Some(bridge) = Bridge::read(input, false, converted) else { continue };
        if !names.insert(bridge.name.clone()) {
            converted.fault(format!("{}: a second bridge `{}`", input.name, bridge.name));
        }
        nodes.push_str(&bridge.text(converted));
        for (vlan, ports) in bridge.members {
            let of_node = ports.into_iter().map(|(port, tagged)| (format!("{}:{port}", bridge.name), tagged));
            members.entry(vlan).or_default().extend(of_node);
        }
    }
    converted.text = "# Bridges as their YANG instance data have them. Cables, end stations and streams are to be added.\n".to_owned();
    if !members.is_empty() {
        converted.text.push_str("vlans:\n");
    }
    for (vlan, ports) in &members {
        let _ = writeln!(converted.text, "  {vlan}: {}", members_text(ports));
    }
    converted.text.push_str("nodes:\n");
    converted.text.push_str(&nodes);
    Ok(())
}

/// Members of a VLAN, as a description has them.
pub(super) fn members_text(ports: &[(String, bool)]) -> String {
    let of = |tagged: bool| {
        let own: Vec<String> =
            ports.iter().filter(|(_, is)| *is == tagged).map(|(port, _)| quoted(port)).collect();
        own.join(", ")
    };
    let lists = [("tagged", of(true)), ("untagged", of(false))];
    let lists: Vec<String> = lists
        .iter()
        .filter(|(_, ports)| !ports.is_empty())
        .map(|(key, ports)| format!("{key}: [{ports}]"))
        .collect();
    format!("{{{}}}", lists.join(", "))
}

impl Bridge {
    /// The bridge of a file; what streams are needed for is listed, or read too. None if there is a fault behind which nothing can be read.
    pub(super) fn read(input: &Input, with_streams: bool, converted: &mut Converted) -> Option<Self> {
        let document = converted.keep(object::document(input))?;
        Self::of(document, with_streams, converted)
    }

    /// The bridge of a document.
    pub(super) fn of(mut document: Object, with_streams: bool, converted: &mut Converted) -> Option<Self> {
        let place = document.place.clone();
        let Some(mut bridges) = document.object("bridges") else {
            converted.fault(format!("{place}: no `ieee802-dot1q-bridge:bridges`"));
            return None;
        };
        let all = bridges.list("bridge");
        bridges.end(converted);
        let count = all.len();
        let Ok([own]) = <[Object; 1]>::try_from(all) else {
            converted.fault(format!("{place}: {count} bridges; a document of each is read"));
            return None;
        };
        let found = Self::read_bridge(own, &mut document, with_streams, converted);
        document.end(converted);
        Some(found)
    }

    fn read_bridge(
        mut own: Object,
        document: &mut Object,
        with_streams: bool,
        converted: &mut Converted,
    ) -> Self {
        let name = own.words("name").unwrap_or_else(|| {
            own.fault(": no name");
            String::new()
        });
        // The kind of a bridge and its address say nothing about its frames.
        own.take("address");
        own.take("bridge-type");
        let mut bridge = Self {
            name: valid(&name),
            ports: Vec::new(),
            ageing: None,
            members: Members::new(),
            filters: Tables::default(),
            streams: StreamParts::default(),
        };
        match document.object("interfaces") {
            None => document.fault(": no interfaces"),
            Some(mut interfaces) => {
                for interface in interfaces.list("interface") {
                    let port = ports::port(interface, converted);
                    if bridge.ports.iter().any(|other| other.name == port.name) {
                        interfaces.fault(format_args!(": two interfaces `{}`", port.name));
                    }
                    bridge.ports.push(port);
                }
                interfaces.end(converted);
            }
        }
        for mut component in own.list("component") {
            for known in ["name", "id", "type", "traffic-class-enabled"] {
                component.take(known);
            }
            bridge.filters = Tables::read(&mut component, converted);
            if with_streams {
                bridge.streams.read_schedulers(&mut component, converted);
            }
            let Some(mut database) = component.object("filtering-database") else {
                component.end(converted);
                continue;
            };
            bridge.ageing = database.number("aging-time");
            registrations(&mut database, &bridge.ports, &mut bridge.members, converted);
            if with_streams {
                bridge.streams.read_ways(&mut database, &bridge.ports, converted);
            }
            database.end(converted);
            if let Some(mut vlans) = component.object("bridge-vlan") {
                vlans.take("vlan");
                vlans.take("vid-to-fid");
                vlans.end(converted);
            }
            component.end(converted);
        }
        own.end(converted);
        if with_streams {
            bridge.streams.read_document(document, converted);
        }
        bridge
    }

    /// Its lines of a description.
    fn text(&self, converted: &mut Converted) -> String {
        let learning =
            self.ageing.map_or_else(|| "off".to_owned(), |seconds| format!("{{ageing-time: {seconds} s}}"));
        let mut text = format!("  {}:\n    type: bridge\n    learning: {learning}\n", quoted(&self.name));
        text.push_str(&self.filters.text(converted));
        text.push_str(if self.ports.is_empty() { "    ports: {}\n" } else { "    ports:\n" });
        for port in &self.ports {
            let _ = writeln!(text, "      {}: {}", quoted(&port.name), port.settings.text());
        }
        text
    }
}

/// Member ports of VLANs.
fn registrations(database: &mut Object, ports: &[Port], members: &mut Members, converted: &mut Converted) {
    for mut entry in database.list("vlan-registration-entry") {
        entry.take("database-id");
        entry.take("entry-type");
        let vids = entry.text("vids").unwrap_or_default();
        let mut own = Vec::new();
        for part in vids.split(',').filter(|part| !part.is_empty()) {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            let numbers = from.trim().parse::<u64>().ok().zip(to.trim().parse::<u64>().ok());
            match numbers.filter(|(from, to)| (1..=VLANS).contains(from) && *to <= VLANS) {
                Some((from, to)) => own.extend(from..=to),
                None => entry.fault(format_args!(": the VLANs `{vids}`")),
            }
        }
        for mut map in entry.list("port-map") {
            let Some(port) = port_of(&mut map, ports) else {
                map.end(converted);
                continue;
            };
            if let Some(mut entries) = map.object("static-vlan-registration-entries") {
                let control = entries.text("registrar-admin-control");
                if control.as_deref().is_some_and(|control| !control.starts_with("fixed")) {
                    converted.lacks(format!("{}: a port that is no fixed member", map.place));
                } else {
                    let tagged = entries.text("vlan-transmitted").as_deref() == Some("tagged");
                    for vlan in &own {
                        members.entry(*vlan).or_default().push((port.to_owned(), tagged));
                    }
                }
                entries.end(converted);
            }
            map.end(converted);
        }
        entry.end(converted);
    }
}

/// The port of a row, by its number from one.
fn port_of<'p>(map: &mut Object, ports: &'p [Port]) -> Option<&'p str> {
    let number = map.number("port-ref").unwrap_or(0);
    let port = usize::try_from(number).ok().and_then(|number| ports.get(number.checked_sub(1)?));
    if port.is_none() {
        map.fault(format_args!(": no port {number}"));
    }
    port.map(|port| port.name.as_str())
}
