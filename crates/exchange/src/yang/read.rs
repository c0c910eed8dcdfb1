//! Reads instance data of bridges, in JSON: ports with priorities, classes, selection, gates and preemption; VLANs and ageing.
//!
//! Cables are in no document, so the description has bridges alone. Of each part every leaf is taken or listed. Not here: XML; streams, filters,
//! schedulers and replication, which are listed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Map, Value};
use tautwire_units::BitRate;

use crate::{Converted, Import, Input, quoted, valid};

pub(crate) static IMPORT: Import = Import {
    name: "yang",
    about: "IEEE 802.1Q YANG instance data in JSON, a document of each bridge; ports, classes, gates\nand VLANs become a description, to which cables are to be added",
    example: "tautwire import yang front.json rear.json --to bridges.yaml",
    read,
};

/// The greatest number of a VLAN.
const VLANS: u64 = 4_094;

/// What is left of an object of a document.
struct Object {
    place: String,
    left: Map<String, Value>,
}

impl Object {
    fn new(place: impl Into<String>, value: Value) -> Result<Self, String> {
        let place = place.into();
        match value {
            Value::Object(left) => Ok(Self { place, left }),
            _ => Err(format!("{place}: it is no object")),
        }
    }

    /// Takes a leaf or more, by its name without the module.
    fn take(&mut self, name: &str) -> Option<Value> {
        let is = |key: &&String| key.rsplit(':').next() == Some(name);
        let key = self.left.keys().find(is)?.clone();
        self.left.remove(&key)
    }

    fn object(&mut self, name: &str) -> Result<Option<Self>, String> {
        let place = format!("{}/{name}", self.place);
        self.take(name).map(|value| Self::new(place, value)).transpose()
    }

    fn list(&mut self, name: &str) -> Result<Vec<Self>, String> {
        let place = format!("{}/{name}", self.place);
        match self.take(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(list)) => {
                let numbered = list.into_iter().enumerate();
                numbered.map(|(number, value)| Self::new(format!("{place}[{number}]"), value)).collect()
            }
            Some(_) => Err(format!("{place}: it is no list")),
        }
    }

    /// A number, which is a text if it has 64 bits.
    fn number(&mut self, name: &str) -> Result<Option<u64>, String> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let number = value.as_u64().or_else(|| value.as_str().and_then(|text| text.parse().ok()));
        number.map(Some).ok_or_else(|| format!("{}/{name}: it is no whole number", self.place))
    }

    /// A number that must be at most a limit.
    fn at_most(&mut self, name: &str, most: u64) -> Result<Option<u64>, String> {
        match self.number(name)? {
            Some(number) if number > most => Err(format!("{}/{name}: {number} is above {most}", self.place)),
            number => Ok(number),
        }
    }

    fn bool(&mut self, name: &str) -> Result<Option<bool>, String> {
        let Some(value) = self.take(name) else { return Ok(None) };
        value
            .as_bool()
            .map(Some)
            .ok_or_else(|| format!("{}/{name}: `true` or `false` is expected", self.place))
    }

    /// A text; of the name of an identity what is behind the module.
    fn text(&mut self, name: &str) -> Result<Option<String>, String> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.rsplit(':').next().unwrap_or("").to_owned())),
            Some(_) => Err(format!("{}/{name}: a text is expected", self.place)),
        }
    }

    /// Numbers of the eight priorities; none if there are none.
    fn by_priority(&mut self, most: u64) -> Result<Option<[u64; 8]>, String> {
        let mut found = [0; 8];
        let mut count = 0;
        for (priority, own) in found.iter_mut().enumerate() {
            if let Some(number) = self.at_most(&format!("priority{priority}"), most)? {
                *own = number;
                count += 1;
            }
        }
        match count {
            0 => Ok(None),
            8 => Ok(Some(found)),
            _ => Err(format!("{}: some of the eight priorities", self.place)),
        }
    }

    /// Lists what nobody took.
    fn end(self, converted: &mut Converted) {
        for key in self.left.keys() {
            converted.lacks(format!("{}: `{key}`", self.place));
        }
    }
}

/// VLANs with their members: a port as `node:port`, and whether frames leave it with a tag.
type Members = BTreeMap<u64, Vec<(String, bool)>>;

fn read(inputs: &[Input]) -> Result<Converted, String> {
    let mut converted = Converted::default();
    let mut nodes = String::new();
    let mut members = Members::new();
    let mut names = BTreeSet::new();
    for input in inputs {
        let document: Value = serde_json::from_str(input.text.trim_start_matches('\u{feff}'))
            .map_err(|error| format!("{}: no JSON: {error}", input.name))?;
        let mut document = Object::new(input.name.clone(), document)?;
        let mut bridges = document
            .object("bridges")?
            .ok_or_else(|| format!("{}: no `ieee802-dot1q-bridge:bridges`", input.name))?;
        let all = bridges.list("bridge")?;
        let [own] = <[Object; 1]>::try_from(all)
            .map_err(|all| format!("{}: {} bridges; a document of each is read", input.name, all.len()))?;
        bridges.end(&mut converted);
        let (name, text) = bridge(own, &mut document, &mut members, &mut converted)?;
        if !names.insert(name.clone()) {
            return Err(format!("{}: a second bridge `{name}`", input.name));
        }
        nodes.push_str(&text);
        document.end(&mut converted);
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
    Ok(converted)
}

/// A bridge: its name, and its lines of the description.
fn bridge(
    mut own: Object,
    document: &mut Object,
    members: &mut Members,
    converted: &mut Converted,
) -> Result<(String, String), String> {
    let name = own.text("name")?.ok_or_else(|| format!("{}: no name", own.place))?;
    let name = valid(&name);
    // The kind of a bridge and its address say nothing about its frames.
    own.take("address");
    own.take("bridge-type");
    let mut interfaces =
        document.object("interfaces")?.ok_or_else(|| format!("{}: no interfaces", document.place))?;
    let mut text = format!("  {}:\n    type: bridge\n", quoted(&name));
    let mut ports = Vec::new();
    let mut lines = String::new();
    for interface in interfaces.list("interface")? {
        let (port, settings) = port(interface, converted)?;
        if ports.contains(&port) {
            return Err(format!("{}: two interfaces `{port}`", interfaces.place));
        }
        let _ = writeln!(lines, "      {}: {{{}}}", quoted(&port), settings.join(", "));
        ports.push(port);
    }
    interfaces.end(converted);
    let mut learning = "off".to_owned();
    for mut component in own.list("component")? {
        for known in ["name", "id", "type", "traffic-class-enabled"] {
            component.take(known);
        }
        let Some(mut database) = component.object("filtering-database")? else {
            component.end(converted);
            continue;
        };
        if let Some(seconds) = database.number("aging-time")? {
            learning = format!("{{ageing-time: {seconds} s}}");
        }
        registrations(&mut database, &name, &ports, members, converted)?;
        database.end(converted);
        if let Some(mut vlans) = component.object("bridge-vlan")? {
            vlans.take("vlan");
            vlans.take("vid-to-fid");
            vlans.end(converted);
        }
        component.end(converted);
    }
    own.end(converted);
    let _ = writeln!(text, "    learning: {learning}");
    text.push_str(if ports.is_empty() { "    ports: {}\n" } else { "    ports:\n" });
    Ok((name, text + &lines))
}

/// Member ports of VLANs.
fn registrations(
    database: &mut Object,
    node: &str,
    ports: &[String],
    members: &mut Members,
    converted: &mut Converted,
) -> Result<(), String> {
    for mut entry in database.list("vlan-registration-entry")? {
        entry.take("database-id");
        entry.take("entry-type");
        let vids = entry.text("vids")?.unwrap_or_default();
        let mut own = Vec::new();
        for part in vids.split(',').filter(|part| !part.is_empty()) {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            let numbers = from.trim().parse::<u64>().ok().zip(to.trim().parse::<u64>().ok());
            let (from, to) = numbers
                .filter(|(from, to)| (1..=VLANS).contains(from) && *to <= VLANS)
                .ok_or_else(|| format!("{}: the VLANs `{vids}`", entry.place))?;
            own.extend(from..=to);
        }
        for mut map in entry.list("port-map")? {
            let number = map.number("port-ref")?.unwrap_or(0);
            let port = usize::try_from(number).ok().and_then(|number| ports.get(number.checked_sub(1)?));
            let port = port.ok_or_else(|| format!("{}: no port {number}", map.place))?;
            if let Some(mut entries) = map.object("static-vlan-registration-entries")? {
                let control = entries.text("registrar-admin-control")?;
                if control.as_deref().is_some_and(|control| !control.starts_with("fixed")) {
                    converted.lacks(format!("{}: a port that is no fixed member", map.place));
                } else {
                    let tagged = entries.text("vlan-transmitted")?.as_deref() == Some("tagged");
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
    Ok(())
}

/// An interface: the name of the port, and its settings.
fn port(mut interface: Object, converted: &mut Converted) -> Result<(String, Vec<String>), String> {
    let name = match interface.take("name") {
        Some(Value::String(name)) => name,
        _ => return Err(format!("{}: no name", interface.place)),
    };
    interface.take("type");
    let own = valid(&name);
    let mut found = Vec::new();
    if own != name {
        converted.lacks(format!("{}: its name `{name}`; the port is `{own}`", interface.place));
    }
    let Some(mut port) = interface.object("bridge-port")? else {
        converted.lacks(format!("{}: it is no port of a bridge", interface.place));
        return Ok((own, found));
    };
    interface.end(converted);
    port.take("bridge-name");
    port.take("component-name");
    if let Some(pvid) = port.at_most("pvid", VLANS)? {
        found.push(format!("pvid: {pvid}"));
    }
    if let Some(priority) = port.at_most("default-priority", 7)? {
        found.push(format!("default-priority: {priority}"));
    }
    if let Some(filtering) = port.bool("enable-ingress-filtering")? {
        found.push(format!("ingress-filtering: {filtering}"));
    }
    let listed = |values: [u64; 8]| values.map(|value| value.to_string()).join(", ");
    if let Some(mut map) = port.object("priority-regeneration")? {
        found.extend(map.by_priority(7)?.map(|map| format!("priority-regeneration: [{}]", listed(map))));
        map.end(converted);
    }
    if let Some(mut outer) = port.object("traffic-class")? {
        if let Some(mut map) = outer.object("traffic-class-table")? {
            map.take("number-of-traffic-classes");
            found.extend(map.by_priority(7)?.map(|map| format!("traffic-class-table: [{}]", listed(map))));
            map.end(converted);
        }
        outer.end(converted);
    }
    classes(&mut port, &mut found, converted)?;
    if let Some(table) = port.object("gate-parameter-table")? {
        found.push(format!("gate-parameter-table: {{{}}}", gates(table, converted)?.join(", ")));
    }
    if let Some(mut outer) = port.object("frame-preemption-parameters")? {
        if let Some(mut map) = outer.object("frame-preemption-status-table")? {
            let mut words = Vec::new();
            for priority in 0..8 {
                let key = format!("priority{priority}");
                words.extend(map.text(&key)?.map(|word| format!("{key}: {word}")));
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
    Ok((own, found))
}

/// Selection and idle slopes of classes.
fn classes(port: &mut Object, found: &mut Vec<String>, converted: &mut Converted) -> Result<(), String> {
    let mut slopes = BTreeMap::new();
    if let Some(mut outer) = port.object("cbsa")? {
        for mut row in outer.list("cbsa-parameter-table")? {
            let class = row.at_most("traffic-class", 7)?.unwrap_or(0);
            slopes.extend(row.number("admin-idle-slope")?.map(|slope| (class, slope)));
            row.end(converted);
        }
        outer.end(converted);
    }
    let mut keys: BTreeMap<u64, String> = BTreeMap::new();
    if let Some(mut outer) = port.object("transmission-selection-algorithm-table")? {
        for mut row in outer.list("transmission-selection-algorithm-map")? {
            let class = row.at_most("traffic-class", 7)?.unwrap_or(0);
            let algorithm = row.text("transmission-selection-algorithm")?;
            let key = match algorithm.as_deref() {
                Some("strict-priority") | None => "strict-priority".to_owned(),
                Some("credit-based-shaper") => {
                    let slope = slopes.remove(&class).ok_or_else(|| {
                        format!("{}: class {class} is credit-based, and has no idle slope", port.place)
                    })?;
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
    Ok(())
}

/// A cycle as a fraction of a second; none if it is zero.
fn cycle(table: &mut Object, name: &str, converted: &mut Converted) -> Result<Option<String>, String> {
    let Some(mut cycle) = table.object(name)? else { return Ok(None) };
    let numerator = cycle.at_most("numerator", u64::from(u32::MAX))?.unwrap_or(0);
    let denominator = cycle.at_most("denominator", u64::from(u32::MAX))?.unwrap_or(1);
    cycle.end(converted);
    Ok((numerator > 0).then(|| format!("{numerator}/{denominator} s")))
}

/// The keys of a table of gates.
fn gates(mut table: Object, converted: &mut Converted) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    // That a change is wanted is no state.
    table.take("config-change");
    let is_enabled = table.bool("gate-enabled")?.unwrap_or(false);
    found.push(format!("gate-enabled: {is_enabled}"));
    if let Some(states) = table.at_most("admin-gate-states", 255)? {
        found.push(format!("admin-gate-states: {states}"));
    }
    let mut sizes = Vec::new();
    for mut row in table.list("queue-max-sdu-table")? {
        let class = row.at_most("traffic-class", 7)?.unwrap_or(0);
        sizes.extend(row.number("queue-max-sdu")?.map(|octets| format!("{class}: {octets} B")));
        row.end(converted);
    }
    if !sizes.is_empty() {
        found.push(format!("queue-max-sdu-table: {{{}}}", sizes.join(", ")));
    }
    for (name, unit) in [("supported-list-max", ""), ("supported-interval-max", " ns")] {
        found
            .extend(table.number(name)?.filter(|most| *most > 0).map(|most| format!("{name}: {most}{unit}")));
    }
    found.extend(
        cycle(&mut table, "supported-cycle-max", converted)?
            .map(|most| format!("supported-cycle-max: {most}")),
    );
    found.extend(
        cycle(&mut table, "admin-cycle-time", converted)?.map(|time| format!("admin-cycle-time: {time}")),
    );
    if let Some(extension) = table.number("admin-cycle-time-extension")? {
        found.push(format!("admin-cycle-time-extension: {extension} ns"));
    }
    if let Some(mut base) = table.object("admin-base-time")? {
        let seconds = base.at_most("seconds", 86_400)?.unwrap_or(0);
        let part = base.at_most("nanoseconds", 999_999_999)?.unwrap_or(0);
        base.end(converted);
        found.push(format!("admin-base-time: {} ns", seconds * 1_000_000_000 + part));
    }
    let mut entries = Vec::new();
    if let Some(mut list) = table.object("admin-control-list")? {
        let mut rows = Vec::new();
        for mut row in list.list("gate-control-entry")? {
            let index = row.number("index")?.unwrap_or(0);
            let operation = row.text("operation-name")?.unwrap_or_else(|| "set-gate-states".to_owned());
            let interval = row.number("time-interval-value")?.unwrap_or(0);
            let states = row.at_most("gate-states-value", 255)?.unwrap_or(0);
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
    Ok(found)
}
