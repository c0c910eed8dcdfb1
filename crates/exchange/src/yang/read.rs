//! Reads instance data of bridges, in JSON and in XML: ports with priorities, classes, selection, gates and preemption; VLANs and ageing.
//!
//! `filters.rs` reads stream filters, gates and meters. Cables and streams are in no document, so the description has bridges alone. Of each part
//! every leaf is taken, a fault, or listed. Not here: static filtering entries, stream identification, schedulers and replication, which are listed.

mod filters;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Map, Value};
use tautwire_units::BitRate;

use crate::xml::Element;
use crate::{Converted, Files, Import, Input, quoted, valid};

pub(crate) static IMPORT: Import = Import {
    name: "yang",
    about: "IEEE 802.1Q YANG instance data in JSON or XML, a document of each bridge; ports, classes,\ngates, VLANs, stream gates and meters become a description, to which cables are to be added",
    example: "tautwire import yang front.json rear.xml --to bridges.yaml",
    has_configurations: false,
    of: read,
};

/// The greatest number of a VLAN.
const VLANS: u64 = 4_094;

/// What is left of an object of a document, and what was wrong in it.
struct Object {
    place: String,
    left: Map<String, Value>,
    faults: Vec<String>,
}

impl Object {
    fn new(place: impl Into<String>, value: Value) -> Self {
        let place = place.into();
        match value {
            Value::Object(left) => Self { place, left, faults: Vec::new() },
            // An element of XML without content.
            Value::String(text) if text.is_empty() => Self { place, left: Map::new(), faults: Vec::new() },
            _ => Self { faults: vec![format!("{place}: it is no object")], place, left: Map::new() },
        }
    }

    fn fault(&mut self, why: impl std::fmt::Display) {
        self.faults.push(format!("{}{why}", self.place));
    }

    /// Takes a leaf or more, by its name without the module.
    fn take(&mut self, name: &str) -> Option<Value> {
        let is = |key: &&String| key.rsplit(':').next() == Some(name);
        let key = self.left.keys().find(is)?.clone();
        self.left.remove(&key)
    }

    fn object(&mut self, name: &str) -> Option<Self> {
        let place = format!("{}/{name}", self.place);
        self.take(name).map(|value| Self::new(place, value))
    }

    /// An object of a module; other modules have one of the same name.
    fn object_of(&mut self, module: &str, name: &str) -> Option<Self> {
        let place = format!("{}/{name}", self.place);
        let key = [format!("{module}:{name}"), name.to_owned()]
            .into_iter()
            .find(|key| self.left.contains_key(key))?;
        self.left.remove(&key).map(|value| Self::new(place, value))
    }

    fn list(&mut self, name: &str) -> Vec<Self> {
        let place = format!("{}/{name}", self.place);
        match self.take(name) {
            None => Vec::new(),
            Some(Value::Array(list)) => {
                let numbered = list.into_iter().enumerate();
                numbered.map(|(number, value)| Self::new(format!("{place}[{number}]"), value)).collect()
            }
            // An entry by itself, in XML.
            Some(Value::Object(one)) => vec![Self::new(format!("{place}[0]"), Value::Object(one))],
            Some(_) => {
                self.fault(format_args!("/{name}: it is no list"));
                Vec::new()
            }
        }
    }

    /// A number, which is a text if it has 64 bits, and in XML.
    fn number(&mut self, name: &str) -> Option<u64> {
        let value = self.take(name)?;
        let number = value.as_u64().or_else(|| value.as_str().and_then(|text| text.parse().ok()));
        if number.is_none() {
            self.fault(format_args!("/{name}: it is no whole number"));
        }
        number
    }

    /// A number that must be at most a limit.
    fn at_most(&mut self, name: &str, most: u64) -> Option<u64> {
        let number = self.number(name)?;
        if number > most {
            self.fault(format_args!("/{name}: {number} is above {most}"));
        }
        (number <= most).then_some(number)
    }

    fn bool(&mut self, name: &str) -> Option<bool> {
        match self.take(name)? {
            Value::Bool(is) => Some(is),
            Value::String(text) if text == "true" || text == "false" => Some(text == "true"),
            _ => {
                self.fault(format_args!("/{name}: `true` or `false` is expected"));
                None
            }
        }
    }

    /// A text; of the name of an identity what is behind the module.
    fn text(&mut self, name: &str) -> Option<String> {
        match self.take(name)? {
            Value::String(text) => Some(text.rsplit(':').next().unwrap_or("").to_owned()),
            _ => {
                self.fault(format_args!("/{name}: a text is expected"));
                None
            }
        }
    }

    /// One of some words.
    fn word(&mut self, name: &str, words: &[&'static str]) -> Option<&'static str> {
        let text = self.text(name)?;
        let found = words.iter().copied().find(|word| *word == text);
        if found.is_none() {
            self.fault(format_args!("/{name}: `{text}`: it must be {}", words.join(" or ")));
        }
        found
    }

    /// Numbers of the eight priorities; none if there are none.
    fn by_priority(&mut self, most: u64) -> Option<[u64; 8]> {
        let before = self.faults.len();
        let mut found = [0; 8];
        let mut count = 0;
        for (priority, own) in found.iter_mut().enumerate() {
            if let Some(number) = self.at_most(&format!("priority{priority}"), most) {
                *own = number;
                count += 1;
            }
        }
        if count > 0 && count < 8 && self.faults.len() == before {
            self.fault(": some of the eight priorities");
        }
        (count == 8).then_some(found)
    }

    /// Lists what nobody took, and notes what was wrong.
    fn end(self, converted: &mut Converted) {
        for fault in self.faults {
            converted.fault(fault);
        }
        for key in self.left.keys() {
            converted.lacks(format!("{}: `{key}`", self.place));
        }
    }
}

/// The tree of a document in XML, as JSON has it: texts for all leaves, and lists for elements of one name. An element whose namespace differs from
/// that around it has the name of its module before its own: namespaces of the modules end with it.
fn tree<'e>(element: &'e Element, around: &[(&'e str, &'e str)]) -> Value {
    if element.children.is_empty() {
        return Value::String(element.text.trim().to_owned());
    }
    let mut found = Map::new();
    for child in &element.children {
        let mut scope = around.to_vec();
        let stated = child.attributes.iter().filter_map(|(key, namespace)| {
            let prefix = key.strip_prefix("xmlns:").or_else(|| (key == "xmlns").then_some(""))?;
            Some((prefix, namespace.as_str()))
        });
        scope.extend(stated);
        let prefix = child.name.split_once(':').map_or("", |(prefix, _)| prefix);
        let module = |scope: &[(&'e str, &'e str)], prefix: &str| {
            let own = scope.iter().rev().find(|(own, _)| *own == prefix);
            own.map_or("", |(_, namespace)| namespace.rsplit([':', '/']).next().unwrap_or(""))
        };
        let own = module(&scope, prefix);
        // What is below has the same module without a prefix.
        let parent = module(around, "");
        if !prefix.is_empty() {
            let namespace = scope.iter().rev().find(|(own, _)| *own == prefix).map_or("", |own| own.1);
            scope.push(("", namespace));
        }
        let name = if own == parent { child.local().to_owned() } else { format!("{own}:{}", child.local()) };
        let value = tree(child, &scope);
        match found.get_mut(&name) {
            None => {
                found.insert(name, value);
            }
            Some(Value::Array(list)) => list.push(value),
            Some(one) => {
                let first = one.take();
                *one = Value::Array(vec![first, value]);
            }
        }
    }
    Value::Object(found)
}

/// The data of a document, without what is around it: a message of NETCONF, or the wrapper of RFC 9195.
fn document(input: &Input) -> Result<Object, String> {
    let name = &input.name;
    let text = input.text.trim_start_matches('\u{feff}').trim_start();
    let mut value = if text.starts_with('<') {
        // A document of several elements has no root of its own.
        let body = match text.strip_prefix("<?") {
            Some(rest) => rest.split_once("?>").map_or("", |(_, body)| body),
            None => text,
        };
        let all = Element::read(&format!("<all>{body}</all>")).map_err(|why| format!("{name}: {why}"))?;
        tree(&all, &[])
    } else {
        serde_json::from_str(text).map_err(|error| format!("{name}: no JSON: {error}"))?
    };
    const AROUND: [&str; 5] = ["rpc-reply", "data", "config", "instance-data-set", "content-data"];
    while let Value::Object(members) = &mut value {
        let inner =
            members.iter_mut().find(|(key, _)| AROUND.contains(&key.rsplit(':').next().unwrap_or("")));
        match inner {
            Some((_, inner)) => value = inner.take(),
            None => break,
        }
    }
    Ok(Object::new(name.clone(), value))
}

/// VLANs with their members: a port as `node:port`, and whether frames leave it with a tag.
type Members = BTreeMap<u64, Vec<(String, bool)>>;

fn read(files: &Files<'_>, converted: &mut Converted) -> Result<(), String> {
    let mut nodes = String::new();
    let mut members = Members::new();
    let mut names = BTreeSet::new();
    for input in files.inputs {
        let Some(mut document) = converted.keep(document(input)) else { continue };
        let Some(mut bridges) = document.object("bridges") else {
            converted.fault(format!("{}: no `ieee802-dot1q-bridge:bridges`", input.name));
            continue;
        };
        let all = bridges.list("bridge");
        bridges.end(converted);
        let count = all.len();
        let Ok([own]) = <[Object; 1]>::try_from(all) else {
            converted.fault(format!("{}: {count} bridges; a document of each is read", input.name));
            continue;
        };
        let (name, text) = bridge(own, &mut document, &mut members, converted);
        if !names.insert(name.clone()) {
            converted.fault(format!("{}: a second bridge `{name}`", input.name));
        }
        nodes.push_str(&text);
        document.end(converted);
    }
    converted.text = "# Bridges as their YANG instance data have them. Cables, end stations and streams are to be added.\n".to_owned();
    if !members.is_empty() {
        converted.text.push_str("vlans:\n");
    }
    for (vlan, ports) in &members {
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
        let _ = writeln!(converted.text, "  {vlan}: {{{}}}", lists.join(", "));
    }
    converted.text.push_str("nodes:\n");
    converted.text.push_str(&nodes);
    Ok(())
}

/// A bridge: its name, and its lines of the description.
fn bridge(
    mut own: Object,
    document: &mut Object,
    members: &mut Members,
    converted: &mut Converted,
) -> (String, String) {
    let name = own.text("name").unwrap_or_else(|| {
        own.fault(": no name");
        String::new()
    });
    let name = valid(&name);
    // The kind of a bridge and its address say nothing about its frames.
    own.take("address");
    own.take("bridge-type");
    let mut interfaces = document.object("interfaces").unwrap_or_else(|| {
        document.fault(": no interfaces");
        Object::new(document.place.clone(), Value::Object(Map::new()))
    });
    let mut text = format!("  {}:\n    type: bridge\n", quoted(&name));
    let mut ports = Vec::new();
    let mut lines = String::new();
    for interface in interfaces.list("interface") {
        let (port, settings) = port(interface, converted);
        if ports.contains(&port) {
            interfaces.fault(format_args!(": two interfaces `{port}`"));
        }
        let _ = writeln!(lines, "      {}: {{{}}}", quoted(&port), settings.join(", "));
        ports.push(port);
    }
    interfaces.end(converted);
    let mut learning = "off".to_owned();
    let mut tables = String::new();
    for mut component in own.list("component") {
        for known in ["name", "id", "type", "traffic-class-enabled"] {
            component.take(known);
        }
        tables.push_str(&filters::tables(&mut component, converted));
        let Some(mut database) = component.object("filtering-database") else {
            component.end(converted);
            continue;
        };
        if let Some(seconds) = database.number("aging-time") {
            learning = format!("{{ageing-time: {seconds} s}}");
        }
        registrations(&mut database, &name, &ports, members, converted);
        database.end(converted);
        if let Some(mut vlans) = component.object("bridge-vlan") {
            vlans.take("vlan");
            vlans.take("vid-to-fid");
            vlans.end(converted);
        }
        component.end(converted);
    }
    own.end(converted);
    let _ = writeln!(text, "    learning: {learning}");
    text.push_str(&tables);
    text.push_str(if ports.is_empty() { "    ports: {}\n" } else { "    ports:\n" });
    (name, text + &lines)
}

/// Member ports of VLANs.
fn registrations(
    database: &mut Object,
    node: &str,
    ports: &[String],
    members: &mut Members,
    converted: &mut Converted,
) {
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
            let number = map.number("port-ref").unwrap_or(0);
            let port = usize::try_from(number).ok().and_then(|number| ports.get(number.checked_sub(1)?));
            let Some(port) = port else {
                map.fault(format_args!(": no port {number}"));
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
                        members.entry(*vlan).or_default().push((format!("{node}:{port}"), tagged));
                    }
                }
                entries.end(converted);
            }
            map.end(converted);
        }
        entry.end(converted);
    }
}

/// An interface: the name of the port, and its settings.
fn port(mut interface: Object, converted: &mut Converted) -> (String, Vec<String>) {
    let name = match interface.take("name") {
        Some(Value::String(name)) => name,
        _ => {
            interface.fault(": no name");
            String::new()
        }
    };
    interface.take("type");
    let own = valid(&name);
    let mut found = Vec::new();
    if own != name {
        converted.lacks(format!("{}: its name `{name}`; the port is `{own}`", interface.place));
    }
    let Some(mut port) = interface.object("bridge-port") else {
        converted.lacks(format!("{}: it is no port of a bridge", interface.place));
        interface.end(converted);
        return (own, found);
    };
    interface.end(converted);
    port.take("bridge-name");
    port.take("component-name");
    if let Some(pvid) = port.at_most("pvid", VLANS) {
        found.push(format!("pvid: {pvid}"));
    }
    if let Some(priority) = port.at_most("default-priority", 7) {
        found.push(format!("default-priority: {priority}"));
    }
    if let Some(filtering) = port.bool("enable-ingress-filtering") {
        found.push(format!("ingress-filtering: {filtering}"));
    }
    let listed = |values: [u64; 8]| values.map(|value| value.to_string()).join(", ");
    if let Some(mut map) = port.object("priority-regeneration") {
        found.extend(map.by_priority(7).map(|map| format!("priority-regeneration: [{}]", listed(map))));
        map.end(converted);
    }
    if let Some(mut outer) = port.object("traffic-class") {
        if let Some(mut map) = outer.object("traffic-class-table") {
            map.take("number-of-traffic-classes");
            found.extend(map.by_priority(7).map(|map| format!("traffic-class-table: [{}]", listed(map))));
            map.end(converted);
        }
        outer.end(converted);
    }
    classes(&mut port, &mut found, converted);
    if let Some(table) = port.object("gate-parameter-table") {
        found.push(format!("gate-parameter-table: {{{}}}", gates(table, converted).join(", ")));
    }
    if let Some(mut outer) = port.object("frame-preemption-parameters") {
        if let Some(mut map) = outer.object("frame-preemption-status-table") {
            let mut words = Vec::new();
            for priority in 0..8 {
                let key = format!("priority{priority}");
                words.extend(map.text(&key).map(|word| format!("{key}: {word}")));
            }
            found.push(format!(
                "frame-preemption-parameters: {{frame-preemption-status-table: {{{}}}}}",
                words.join(", ")
            ));
            map.end(converted);
        }
        outer.end(converted);
    }
    port.end(converted);
    (own, found)
}

/// Selection and idle slopes of classes.
fn classes(port: &mut Object, found: &mut Vec<String>, converted: &mut Converted) {
    let mut slopes = BTreeMap::new();
    if let Some(mut outer) = port.object("cbsa") {
        for mut row in outer.list("cbsa-parameter-table") {
            let class = row.at_most("traffic-class", 7).unwrap_or(0);
            slopes.extend(row.number("admin-idle-slope").map(|slope| (class, slope)));
            row.end(converted);
        }
        outer.end(converted);
    }
    let mut keys: BTreeMap<u64, String> = BTreeMap::new();
    if let Some(mut outer) = port.object("transmission-selection-algorithm-table") {
        for mut row in outer.list("transmission-selection-algorithm-map") {
            let class = row.at_most("traffic-class", 7).unwrap_or(0);
            let algorithm = row.text("transmission-selection-algorithm");
            let key = match algorithm.as_deref() {
                Some("strict-priority") | None => "strict-priority".to_owned(),
                Some("credit-based-shaper") => {
                    let slope = slopes.remove(&class).unwrap_or_else(|| {
                        port.fault(format_args!(": class {class} is credit-based, and has no idle slope"));
                        0
                    });
                    format!("credit-based, idle-slope: {}", BitRate::from_bps(slope))
                }
                Some("asynchronous-traffic-shaping") => "ats".to_owned(),
                Some(other) => {
                    converted.lacks(format!("{}: class {class} is served by {other}", port.place));
                    continue;
                }
            };
            keys.insert(class, key);
            row.end(converted);
        }
        outer.end(converted);
    }
    for class in slopes.keys() {
        converted
            .lacks(format!("{}: the idle slope of class {class}, which is not credit-based", port.place));
    }
    let keys: Vec<String> =
        keys.iter().map(|(class, key)| format!("{class}: {{transmission-selection: {key}}}")).collect();
    if !keys.is_empty() {
        found.push(format!("classes: {{{}}}", keys.join(", ")));
    }
}

/// A cycle as a fraction of a second; none if it is zero.
fn cycle(table: &mut Object, name: &str, converted: &mut Converted) -> Option<(u64, u64)> {
    let mut cycle = table.object(name)?;
    let numerator = cycle.at_most("numerator", u64::from(u32::MAX)).unwrap_or(0);
    let denominator = cycle.at_most("denominator", u64::from(u32::MAX)).unwrap_or(1);
    cycle.end(converted);
    (numerator > 0 && denominator > 0).then_some((numerator, denominator))
}

/// The start of a cycle, nanoseconds: of a time of day long ago the place in the cycle, where it is now, too.
fn base_time(table: &mut Object, cycle: Option<(u64, u64)>, converted: &mut Converted) -> Option<String> {
    let mut base = table.object("admin-base-time")?;
    let seconds = base.number("seconds").unwrap_or(0);
    let part = base.at_most("nanoseconds", 999_999_999).unwrap_or(0);
    let place = base.place.clone();
    base.end(converted);
    let ns = u128::from(seconds) * 1_000_000_000 + u128::from(part);
    if seconds < 86_400 {
        return Some(format!("{ns} ns"));
    }
    let (numerator, denominator) = cycle?;
    // In parts of a nanosecond of which the cycle is a whole number; rounded down to picoseconds.
    let denominator = u128::from(denominator);
    let phase = (ns * denominator) % (u128::from(numerator) * 1_000_000_000);
    let ps = phase * 1_000 / denominator;
    converted.lacks(format!("{place}: {ns} ns; its place in the cycle, {ps} ps, is written"));
    Some(format!("{ps} ps"))
}

/// A cycle as a fraction of a second.
fn seconds((numerator, denominator): (u64, u64)) -> String {
    format!("{numerator}/{denominator} s")
}

/// The keys of a table of gates.
fn gates(mut table: Object, converted: &mut Converted) -> Vec<String> {
    let mut found = Vec::new();
    // That a change is wanted is no state.
    table.take("config-change");
    let is_enabled = table.bool("gate-enabled").unwrap_or(false);
    found.push(format!("gate-enabled: {is_enabled}"));
    if let Some(states) = table.at_most("admin-gate-states", 255) {
        found.push(format!("admin-gate-states: {states}"));
    }
    let mut sizes = Vec::new();
    for mut row in table.list("queue-max-sdu-table") {
        let class = row.at_most("traffic-class", 7).unwrap_or(0);
        sizes.extend(row.number("queue-max-sdu").map(|octets| format!("{class}: {octets} B")));
        row.end(converted);
    }
    if !sizes.is_empty() {
        found.push(format!("queue-max-sdu-table: {{{}}}", sizes.join(", ")));
    }
    for (name, unit) in [("supported-list-max", ""), ("supported-interval-max", " ns")] {
        found.extend(table.number(name).filter(|most| *most > 0).map(|most| format!("{name}: {most}{unit}")));
    }
    found.extend(
        cycle(&mut table, "supported-cycle-max", converted)
            .map(|most| format!("supported-cycle-max: {}", seconds(most))),
    );
    let own = cycle(&mut table, "admin-cycle-time", converted);
    found.extend(own.map(|time| format!("admin-cycle-time: {}", seconds(time))));
    if let Some(extension) = table.number("admin-cycle-time-extension") {
        found.push(format!("admin-cycle-time-extension: {extension} ns"));
    }
    found.extend(base_time(&mut table, own, converted).map(|base| format!("admin-base-time: {base}")));
    let mut entries = Vec::new();
    if let Some(mut list) = table.object("admin-control-list") {
        let mut rows = Vec::new();
        for mut row in list.list("gate-control-entry") {
            let index = row.number("index").unwrap_or(0);
            let operation = row.text("operation-name").unwrap_or_else(|| "set-gate-states".to_owned());
            let interval = row.number("time-interval-value").unwrap_or(0);
            let states = row.at_most("gate-states-value", 255).unwrap_or(0);
            row.end(converted);
            rows.push((
                index,
                format!(
                    "{{operation: {}, gate-states: {states}, time-interval: {interval} ns}}",
                    valid(&operation)
                ),
            ));
        }
        rows.sort();
        entries.extend(rows.into_iter().map(|(_, row)| row));
        list.end(converted);
    }
    if !entries.is_empty() {
        found.push(format!("admin-control-list: [{}]", entries.join(", ")));
    }
    table.end(converted);
    found
}
