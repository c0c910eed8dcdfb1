//! gPTP (802.1AS) as instance data of `ieee1588-ptp-tt` and `ieee802-dot1as-gptp`, a document for each node: priorities, domain, intervals, thresholds of
//! links. Documents are read into the description of their network.
//!
//! Times are in nanoseconds times 2^16. What a description has of clocks, stamps and residence times is in no leaf.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex};
use tautwire_model::settings::{shared_at, value_at, with_value};
use tautwire_units::Duration;

use super::interface;
use super::read::{Object, document};
use crate::{Base, Converted, Export, Files, Import, Input, Scope, Text};

pub(crate) static JSON: Export = Export {
    name: "gptp",
    about: "gPTP (802.1AS) YANG instance data of each node, in JSON",
    scope: Scope::Files(|network| {
        texts(network, "json", |tree| serde_json::to_string_pretty(tree).expect("all keys are texts") + "\n")
    }),
};

pub(crate) static XML: Export = Export {
    name: "gptp-xml",
    about: "the same in XML",
    scope: Scope::Files(|network| texts(network, "xml", super::xml::text)),
};

pub(crate) static IMPORT: Import = Import {
    name: "gptp",
    about: "gPTP (802.1AS) YANG instance data in JSON or XML, a document of each node with the node's\nname; the network is named by --base",
    example: "tautwire import gptp gptp/*.json --base plant.yaml --to synchronised.yaml",
    has_configurations: false,
    of: |_, _| Err("gPTP has no cables: name the description of the network with --base".to_owned()),
    of_octets: None,
    onto: Some(update),
};

/// Parts of a nanosecond.
const PARTS: i128 = 65_536;

/// The `sdoId` of gPTP: 0x100.
const SDO: u64 = 256;

/// The settings of a node, in the numbers of its document.
#[derive(Clone, Debug, Default, PartialEq)]
struct Settings {
    domain: Option<u64>,
    priorities: [Option<u64>; 2],
    ports: Vec<Port>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Port {
    place: String,
    /// Its name in the description.
    name: String,
    interface: String,
    /// Of syncs, announces, and peer delay.
    intervals: [Option<i64>; 3],
    /// Picoseconds.
    delay_max: Option<i128>,
    asymmetry: Option<i128>,
    lost_max: Option<u64>,
}

/// Keys of the intervals in a description, and their leaves.
const INTERVALS: [(&str, &str); 3] = [
    ("log-sync-interval", "log-sync-interval"),
    ("log-announce-interval", "log-announce-interval"),
    ("log-pdelay-interval", "log-min-pdelay-req-interval"),
];

/// The documents of all nodes; none of a network without gPTP.
fn texts(network: &Network, ending: &str, text: impl Fn(&Value) -> String) -> Vec<Text> {
    if network.gptp.is_none() {
        return Vec::new();
    }
    let nodes = network.nodes.iter().enumerate();
    nodes
        .map(|(number, node)| {
            let (tree, mut converted) = write(network, NodeIndex::at(number));
            converted.text = text(&tree);
            Text { file: Some(format!("{}.{ending}", node.name)), converted }
        })
        .collect()
}

fn write(network: &Network, node: NodeIndex) -> (Value, Converted) {
    let mut written = Converted::default();
    let gptp = network.gptp.as_ref().expect("it is asked for");
    let (own, name) = (&gptp.nodes[node.index()], &network.nodes[node.index()].name);
    let settings = settings(network, node);
    let mut ports = Vec::new();
    let mut interfaces = Vec::new();
    for (port, number) in settings.ports.iter().zip(network.gptp_ports(node)) {
        let mut leaves = Map::new();
        for ((_, leaf), value) in INTERVALS.iter().zip(port.intervals) {
            leaves.insert((*leaf).to_owned(), json!(value));
        }
        leaves.insert("delay-mechanism".into(), "p2p".into());
        if let Some(asymmetry) = port.asymmetry.filter(|asymmetry| *asymmetry != 0) {
            leaves.insert("delay-asymmetry".into(), scaled(asymmetry).into());
        }
        let module = "ieee802-dot1as-gptp";
        let delay = scaled(port.delay_max.unwrap_or_default());
        leaves.insert(format!("{module}:mean-link-delay-thresh"), delay.into());
        leaves.insert(format!("{module}:allowed-lost-responses"), json!(port.lost_max));
        ports.push(json!({
            "port-index": number.0 - network.nodes[node.index()].ports.start + 1,
            "underlying-interface": port.interface,
            "port-ds": leaves,
        }));
        interfaces.push(json!({ "name": port.interface, "type": "iana-if-type:ethernetCsmacd" }));
    }
    let tree = json!({
        "ietf-interfaces:interfaces": { "interface": interfaces },
        "ieee1588-ptp-tt:ptp": { "instances": { "instance": [{
            "instance-index": 0,
            "default-ds": {
                "priority1": own.priority1,
                "priority2": own.priority2,
                "domain-number": own.domain,
                "time-receiver-only": own.priority1 == 255,
                "sdo-id": SDO,
                "instance-enable": true,
            },
            "ports": { "port": ports },
        }] } },
    });
    for (is, what) in [
        (own.stamp_quantum != Duration::default(), "`stamp-quantum`"),
        (!own.stamp_error.longest(0).is_zero(), "`stamp-error`"),
        (!own.processing.longest(0).is_zero(), "`processing`"),
    ] {
        if is {
            written.lacks(format!("node {name}: {what} of its gPTP"));
        }
    }
    if gptp.servo.is_some() {
        written.lacks("`servo` of gPTP");
    }
    if gptp.priority.number() != 7 {
        written.lacks("`priority` of messages of gPTP");
    }
    written.lacks("`sample-interval` of gPTP");
    written.lacks("clocks, and all that is no gPTP");
    (tree, written)
}

/// The settings of a node of the network; without gPTP its ports alone.
fn settings(network: &Network, node: NodeIndex) -> Settings {
    let gptp = network.gptp.as_ref();
    let own = gptp.map(|gptp| &gptp.nodes[node.index()]);
    let port = |number: &PortIndex| Port {
        place: String::new(),
        name: network.ports[number.index()].name.clone(),
        interface: interface(&network.ports[number.index()]).to_owned(),
        intervals: gptp.map_or([None; 3], |gptp| {
            [gptp.log_sync, gptp.log_announce, gptp.log_pdelay].map(|log| Some(log.into()))
        }),
        delay_max: own.map(|own| own.delay_max.as_ps().into()),
        asymmetry: gptp.map(|gptp| gptp.asymmetries[number.index()].into()),
        lost_max: own.map(|own| own.lost_max.into()),
    };
    Settings {
        domain: own.map(|own| own.domain.into()),
        priorities: [own.map(|own| own.priority1.into()), own.map(|own| own.priority2.into())],
        ports: network.gptp_ports(node).iter().map(port).collect(),
    }
}

/// Picoseconds in parts of a nanosecond, to the nearest, as a text.
fn scaled(ps: i128) -> String {
    (ps * PARTS + 500).div_euclid(1_000).to_string()
}

fn update(files: &Files<'_>, base: &Base<'_>, converted: &mut Converted) -> Result<(), String> {
    let network = base.network;
    let mut text = base.text.to_owned();
    if network.gptp.is_none() {
        set(&mut text, "gptp", "{}", converted);
    }
    // What of all nodes is one value in a description, with the places that state it.
    let mut shared: [BTreeMap<i64, Vec<String>>; 3] = Default::default();
    let mut done = Vec::new();
    for input in files.inputs {
        let Some(node) = network.nodes.iter().position(|node| node.name == input.name) else {
            let known: Vec<&str> = network.nodes.iter().map(|node| &*node.name).collect();
            converted.fault(format!(
                "{}: the base has no node of this name, which is the file's; its nodes: {}",
                input.name,
                known.join(", ")
            ));
            continue;
        };
        if done.contains(&node) {
            converted.fault(format!("{}: a second document of the node", input.name));
            continue;
        }
        done.push(node);
        let Some(theirs) = read(input, converted) else { continue };
        let ours = settings(network, NodeIndex::at(node));
        change(&mut text, &input.name, (&ours, &theirs), converted);
        for port in &theirs.ports {
            for (values, own) in shared.iter_mut().zip(port.intervals) {
                if let Some(own) = own {
                    values.entry(own).or_default().push(port.place.clone());
                }
            }
        }
    }
    for (number, ((key, _), values)) in INTERVALS.iter().zip(shared).enumerate() {
        let ours =
            network.gptp.as_ref().map(|gptp| [gptp.log_sync, gptp.log_announce, gptp.log_pdelay][number]);
        let defaults = [-3, 0, 0][number];
        // Of several the one that the most ports have.
        let Some((value, _)) = values.iter().max_by_key(|(_, places)| places.len()) else { continue };
        if i64::from(ours.unwrap_or(defaults)) != *value {
            set(&mut text, &format!("gptp.{key}"), &value.to_string(), converted);
        }
        for (other, places) in values.iter().filter(|(other, _)| *other != value) {
            for place in places {
                converted.lacks(format!("{place}/{key}: {other}; a description has one for all, {value}"));
            }
        }
    }
    for (number, node) in network.nodes.iter().enumerate() {
        if !done.contains(&number) {
            converted.lacks(format!("node {}: it has no document", node.name));
        }
    }
    converted.text = text;
    Ok(())
}

/// Puts what a document of a node says into the text, where it differs.
fn change(text: &mut String, name: &str, (ours, theirs): (&Settings, &Settings), converted: &mut Converted) {
    let mut of_node = |key: &str, value: String, converted: &mut Converted| {
        let key = format!("gptp.nodes.{name}.{key}");
        // A new key with points would be several.
        let is_new = value_at(text, &key).is_none();
        let parts = if key.contains("asymmetries") { 5 } else { 4 };
        if is_new && key.split('.').count() > parts && value_at(text, &format!("gptp.nodes.{name}")).is_none()
        {
            converted.fault(format!("the base: `{key}` has a name with a point: write it in it first"));
            return;
        }
        set(text, &key, &value, converted);
    };
    let defaults = [246, 248];
    for (number, key) in ["priority1", "priority2"].into_iter().enumerate() {
        let own = ours.priorities[number].unwrap_or(defaults[number]);
        if let Some(value) = theirs.priorities[number].filter(|value| *value != own) {
            of_node(key, value.to_string(), converted);
        }
    }
    if let Some(domain) = theirs.domain.filter(|domain| *domain != ours.domain.unwrap_or(0)) {
        of_node("domain", domain.to_string(), converted);
    }
    // Thresholds are of the node: those of its first port.
    let first = theirs.ports.first();
    let own = ours.ports.first();
    if let Some(delay) = first.and_then(|port| port.delay_max)
        && own.and_then(|port| port.delay_max).unwrap_or(800_000) != delay
    {
        of_node("delay-max", time(delay), converted);
    }
    if let Some(lost) = first.and_then(|port| port.lost_max)
        && own.and_then(|port| port.lost_max).unwrap_or(9) != lost
    {
        of_node("lost-max", lost.to_string(), converted);
    }
    for port in &theirs.ports {
        let unlike = [
            ("mean-link-delay-thresh", port.delay_max != first.and_then(|first| first.delay_max)),
            ("allowed-lost-responses", port.lost_max != first.and_then(|first| first.lost_max)),
        ];
        for (leaf, _) in unlike.into_iter().filter(|(_, is)| *is) {
            converted.lacks(format!("{}/{leaf}: that of the first port is taken for the node", port.place));
        }
        let Some(known) = ours.ports.iter().find(|own| own.interface == port.interface) else {
            converted.fault(format!(
                "{}: the node has no port with a cable and the interface `{}`",
                port.place, port.interface
            ));
            continue;
        };
        let asymmetry = port.asymmetry.unwrap_or(0);
        if known.asymmetry.unwrap_or(0) != asymmetry {
            of_node(&format!("asymmetries.{}", known.name), time(asymmetry), converted);
        }
    }
}

/// Picoseconds, as a description has them.
fn time(ps: i128) -> String {
    let size = Duration::from_ps(u64::try_from(ps.unsigned_abs()).unwrap_or(u64::MAX));
    if ps < 0 { format!("-{size}") } else { size.to_string() }
}

fn set(text: &mut String, key: &str, value: &str, converted: &mut Converted) {
    if let Some(place) = shared_at(text, key) {
        converted.fault(format!("the base: `{place}` has an anchor or an alias: write it out there first"));
        return;
    }
    match with_value(text, key, value) {
        Ok(changed) => *text = changed,
        Err(why) => converted.fault(format!("the base: {why}")),
    }
}

/// The settings of a document.
fn read(input: &Input, converted: &mut Converted) -> Option<Settings> {
    let mut document = converted.keep(document(input))?;
    let place = document.place.clone();
    // Names of interfaces, which ports have, too.
    document.take("interfaces");
    let root = document.object("ptp");
    document.end(converted);
    let Some(mut root) = root else {
        converted.fault(format!("{place}: no `ieee1588-ptp-tt:ptp`"));
        return None;
    };
    let instances = root.object("instances").map(|mut instances| {
        let all = instances.list("instance");
        root.absorb(instances);
        all
    });
    let mut instances = instances.unwrap_or_default().into_iter();
    let first = instances.next();
    for mut other in instances {
        other.number("instance-index");
        root.left(format!(
            "instances: instance {}, a second one: a node has one",
            other.place.rsplit('/').next().unwrap_or("")
        ));
    }
    let found = first.map(|mut instance| {
        let found = read_instance(&mut instance);
        root.absorb(instance);
        found
    });
    if found.is_none() {
        root.fault(": no instance");
    }
    root.end(converted);
    found
}

fn read_instance(instance: &mut Object) -> Settings {
    let mut found = Settings::default();
    instance.number("instance-index");
    if let Some(mut own) = instance.object("default-ds") {
        found.domain = own.at_most("domain-number", 127);
        found.priorities = ["priority1", "priority2"].map(|leaf| own.at_most(leaf, 255));
        if own.bool("time-receiver-only") == Some(true) {
            found.priorities[0] = Some(255);
        }
        if let Some(other) = own.number("sdo-id").filter(|sdo| *sdo != SDO) {
            own.fault(format_args!("/sdo-id: {other}: that of gPTP is {SDO}"));
        }
        if own.bool("instance-enable") == Some(false) {
            own.left("instance-enable: false");
        }
        instance.absorb(own);
    }
    if let Some(mut ports) = instance.object("ports") {
        for mut port in ports.list("port") {
            port.number("port-index");
            let interface = port.words("underlying-interface").unwrap_or_default();
            let place = port.place.clone();
            if let Some(mut own) = port.object("port-ds") {
                found.ports.push(read_port(&mut own, place, interface));
                port.absorb(own);
            }
            ports.absorb(port);
        }
        instance.absorb(ports);
    }
    found
}

fn read_port(own: &mut Object, place: String, interface: String) -> Port {
    let mut signed = |leaf: &str, least: i128, most: i128| {
        let text = own.words(leaf)?;
        let found = text.parse::<i128>().ok().filter(|value| (least..=most).contains(value));
        if found.is_none() {
            own.fault(format_args!("/{leaf}: `{text}`: a number from {least} to {most} is expected"));
        }
        found
    };
    let intervals =
        INTERVALS.map(|(_, leaf)| signed(leaf, -7, 5).and_then(|value| i64::try_from(value).ok()));
    // A day, which nothing is longer than.
    let most = 86_400_000_000_000 * PARTS;
    let ps = |parts: i128| (parts * 1_000 + PARTS / 2).div_euclid(PARTS);
    let delay_max = signed("mean-link-delay-thresh", 0, most).map(ps);
    let asymmetry = signed("delay-asymmetry", -most, most).map(ps);
    let lost_max = own.at_most("allowed-lost-responses", 255);
    // What a network of another mechanism would have is none of gPTP.
    if let Some(other) = own.text("delay-mechanism").filter(|own| own != "p2p" && own != "common-p2p") {
        own.fault(format_args!("/delay-mechanism: `{other}`: that of gPTP is p2p or common-p2p"));
    }
    Port { place, name: String::new(), interface, intervals, delay_max, asymmetry, lost_max }
}
