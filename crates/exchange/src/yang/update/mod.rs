//! Puts what documents of bridges say into a description that has these bridges: what streams are needed for is in such a description alone.
//!
//! The document that the description itself would have is read next to that of the bridge, and the text changes only where the two differ: its comments
//! and order stay, and what is exported and read back is the same text. `identities.rs`: which stream a handle is, and how its frames are identified;
//! `filters.rs`: stream filters, gates and meters; `schedulers.rs`: ATS; `replication.rs`: recovery functions. What a description cannot express, and
//! what a document does not state, is a line of its own.

mod filters;
mod identities;
mod replication;
mod schedulers;

use std::collections::{BTreeMap, BTreeSet};

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, NodeKind, PortIndex, StreamIndex};
use tautwire_model::settings::{shared_at, with_value};

use super::names::NAME_MAX;
use super::read::{Bridge, GATES, Object, STATUS, members_text};
use crate::{Base, Converted, Files, node_of};

/// The description, as far as it is changed.
struct Edits {
    text: String,
    /// What names all ports of a bridge, by its name: a description that names one of them has no others.
    ports: BTreeMap<String, String>,
}

impl Edits {
    fn of(base: &Base<'_>) -> Self {
        let mut ports = BTreeMap::<String, Vec<String>>::new();
        for port in &base.network.ports {
            let node = &base.network.nodes[port.node.index()].name;
            ports.entry(node.clone()).or_default().push(format!("{}: {{}}", port.name));
        }
        let ports =
            ports.into_iter().map(|(node, ports)| (node, format!("{{{}}}", ports.join(", ")))).collect();
        Self { text: base.text.to_owned(), ports }
    }

    /// The text with names of all ports of a node, if it has none of them.
    fn with_ports(&self, node: &str) -> Option<String> {
        let key = format!("nodes.{node}.ports");
        // A mapping that is there has two letters at least, in place of which these are.
        let is_added = with_value(&self.text, &key, "{}").ok()?.len() >= self.text.len() + "ports: {}".len();
        with_value(&self.text, &key, self.ports.get(node).filter(|_| is_added)?).ok()
    }

    /// Changes or adds a value at the keys of a mapping.
    fn set(&mut self, keys: &[&str], value: &str, converted: &mut Converted) {
        let key = keys.join(".");
        // A new key with points would be several.
        let is_there = |name: &str| {
            self.text.contains(&format!("{name}:")) || self.text.contains(&format!("\"{name}\""))
        };
        if let Some(name) = keys.iter().find(|name| name.contains('.') && !is_there(name) && !is_keys(name)) {
            converted.fault(format!("the base: `{name}` has a point in its name: write `{key}` in it first"));
            return;
        }
        if let Some(place) = shared_at(&self.text, &key) {
            converted.fault(format!(
                "the base: `{place}` has an anchor or an alias, so `{key}` is at other places, too: write it out there first"
            ));
            return;
        }
        if let ["nodes", node, "ports", ..] = keys
            && let Some(named) = self.with_ports(node)
        {
            self.text = named;
        }
        // `key:` without a value is a mapping to which the first key is written.
        let empty = match keys {
            ["nodes", _, "ports", _, rest] => {
                with_value(&self.text, &keys[..4].join("."), &nested(rest, value))
            }
            _ => Err(String::new()),
        };
        match with_value(&self.text, &key, value) {
            Ok(text) => self.text = text,
            Err(why) => match empty.ok().filter(|_| why.contains("is no mapping that takes")) {
                Some(text) => self.text = text,
                None => converted.fault(format!("the base: {why}")),
            },
        }
    }

    /// Lets sizes in a table be those of a document, which count the EtherType.
    fn set_sdu(&mut self, keys: &[&str], converted: &mut Converted) {
        if self.text.contains("sdu: payload") {
            self.set(&[keys, &["sdu"]].concat(), "msdu", converted);
        }
    }
}

/// A value below keys with points between them.
fn nested(keys: &str, value: &str) -> String {
    let keys: Vec<&str> = keys.split('.').collect();
    let before: String = keys.iter().map(|key| format!("{{{key}: ")).collect();
    format!("{before}{value}{}", "}".repeat(keys.len()))
}

/// Whether a part of keys is several by itself, as settings are.
fn is_keys(part: &str) -> bool {
    [GATES, "frame-preemption-parameters", "classes."].iter().any(|first| part.starts_with(first))
}

/// A bridge with both documents: its own, and that of the base.
struct Sides<'b> {
    network: &'b Network,
    number: NodeIndex,
    name: &'b str,
    theirs: Bridge,
    ours: Bridge,
    /// The streams of their handles, and of ours.
    their_streams: BTreeMap<u64, StreamIndex>,
    our_streams: BTreeMap<u64, StreamIndex>,
}

impl<'b> Sides<'b> {
    /// The port of an interface.
    fn port(&self, interface: &str) -> Option<PortIndex> {
        let first = self.network.nodes[self.number.index()].ports.start;
        let place = self.ours.ports.iter().position(|port| port.name == interface)?;
        Some(PortIndex(first + u32::try_from(place).ok()?))
    }

    fn port_name(&self, port: PortIndex) -> &'b str {
        &self.network.ports[port.index()].name
    }

    fn stream(&self, stream: StreamIndex) -> &'b str {
        &self.network.streams[stream.index()].name
    }
}

pub(super) fn update(files: &Files<'_>, base: &Base<'_>, converted: &mut Converted) -> Result<(), String> {
    let mut edits = Edits::of(base);
    let mut done = BTreeSet::new();
    let mut vlans = Vlans::of(base.network);
    let mut identified = identities::Identified::default();
    let mut shapers = schedulers::Shapers::default();
    let mut copies = replication::Copies::default();
    for input in files.inputs {
        let Some(theirs) = Bridge::read(input, true, converted) else { continue };
        let Some(number) = find(base.network, &theirs.name) else {
            let known: Vec<&str> = bridges(base.network).map(|(_, name)| name).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            converted.fault(format!(
                "{}: the base has no bridge `{}`; its bridges: {known}",
                input.name, theirs.name
            ));
            continue;
        };
        if !done.insert(number) {
            converted.fault(format!("{}: a second document of bridge `{}`", input.name, theirs.name));
            continue;
        }
        let (tree, _) = super::write(base.network, number);
        let own = Object::new(theirs.name.clone(), tree);
        let ours = Bridge::of(own, true, &mut Converted::default()).expect("a document has a bridge");
        let mut sides = Sides {
            network: base.network,
            number,
            name: &base.network.nodes[number.index()].name,
            theirs,
            ours,
            their_streams: BTreeMap::new(),
            our_streams: BTreeMap::new(),
        };
        sides.our_streams = identities::streams(&sides, &sides.ours.streams, &mut Converted::default());
        sides.their_streams = identities::streams(&sides, &sides.theirs.streams, converted);
        ports(&sides, &mut edits, converted);
        learning(&sides, &mut edits, converted);
        vlans.change(&sides);
        filters::change(&sides, &mut edits, converted);
        ways(&sides, converted);
        identified.add(&sides, converted);
        shapers.add(&sides, &mut edits, converted);
        copies.add(&sides, converted);
    }
    vlans.write(&mut edits, converted);
    identified.write(base.network, &mut edits, converted);
    shapers.write(base.network, &mut edits, converted);
    copies.write(base.network, &mut edits, converted);
    for (number, name) in bridges(base.network) {
        if !done.contains(&number) {
            converted.lacks(format!("bridge {name}: it has no document, and stays as the base has it"));
        }
    }
    converted.text = edits.text;
    Ok(())
}

fn bridges(network: &Network) -> impl Iterator<Item = (NodeIndex, &str)> {
    let all = network.nodes.iter().enumerate();
    let bridges = all.filter(|(_, node)| matches!(node.kind, NodeKind::Bridge { .. }));
    bridges.map(|(number, node)| (NodeIndex::at(number), node.name.as_str()))
}

/// The bridge of a name, which documents have as far as they take it.
fn find(network: &Network, name: &str) -> Option<NodeIndex> {
    let cut = |own: &str| own.chars().take(NAME_MAX).eq(name.chars());
    let exact = bridges(network).find(|(_, own)| *own == name);
    exact.or_else(|| bridges(network).find(|(_, own)| cut(own))).map(|(number, _)| number)
}

fn ports(sides: &Sides<'_>, edits: &mut Edits, converted: &mut Converted) {
    for port in &sides.theirs.ports {
        let Some(number) = sides.port(&port.name) else {
            converted.lacks(format!(
                "bridge {}: interface `{}`, a port that the base has not",
                sides.name, port.name
            ));
            continue;
        };
        let name = sides.port_name(number);
        let ours = &sides.ours.ports.iter().find(|own| own.name == port.name).expect("found above").settings;
        // Cyclic queuing makes the gates of its ports, and a list of their own would be no part of it.
        let is_made = |key: &str| sides.network.cyclic.is_some() && key.starts_with(GATES);
        for (key, value) in &port.settings.0 {
            if ours.get(key) != Some(value) && is_made(key) {
                converted.lacks(format!(
                    "port {}.{name}: `{key}` {value}; cyclic queuing makes the gates of the base",
                    sides.name
                ));
            } else if ours.get(key) != Some(value) {
                edits.set(&["nodes", sides.name, "ports", name, key], value, converted);
                if key.ends_with("queue-max-sdu-table") {
                    edits.set_sdu(&["nodes", sides.name, "ports", name, GATES], converted);
                }
            }
        }
        let mut set = |key: &str, value: &str, converted: &mut Converted| {
            edits.set(&["nodes", sides.name, "ports", name, key], value, converted);
        };
        for (key, value) in ours.0.iter().filter(|(key, _)| port.settings.get(key).is_none()) {
            let selection =
                key.strip_suffix("idle-slope").map(|class| format!("{class}transmission-selection"));
            // A class that is not credit-based has no slope; gates that are off have no list.
            if selection.is_some_and(|selection| port.settings.get(&selection).is_some()) {
                continue;
            }
            if is_made(key) {
                converted.lacks(format!(
                    "port {}.{name}: `{key}` is {value} by the cyclic queuing of the base, and its document does not state it",
                    sides.name
                ));
                continue;
            }
            let enabled = format!("{GATES}.gate-enabled");
            let has_gates = port.settings.get(&enabled).is_some_and(|is| is == "true");
            if key.starts_with(GATES) && !has_gates {
                if *key == enabled && value == "true" {
                    set(key, "false", converted);
                }
            } else if key.ends_with("admin-cycle-time-extension") || key.ends_with("admin-base-time") {
                if value != "0 ns" {
                    set(key, "0 ns", converted);
                }
            } else if key.starts_with(STATUS) {
                if value != "express" {
                    set(key, "express", converted);
                }
            } else {
                converted.lacks(format!(
                    "port {}.{name}: `{key}`, which its document does not state; it stays {value}",
                    sides.name
                ));
            }
        }
    }
    for own in &sides.ours.ports {
        if sides.theirs.ports.iter().all(|port| port.name != own.name) {
            let name = sides.port(&own.name).map_or("", |port| sides.port_name(port));
            converted.lacks(format!(
                "port {}.{name}: its document has no interface `{}`; it stays as the base has it",
                sides.name, own.name
            ));
        }
    }
}

fn learning(sides: &Sides<'_>, edits: &mut Edits, converted: &mut Converted) {
    match (sides.theirs.ageing, sides.ours.ageing) {
        (Some(seconds), Some(own)) if seconds != own => {
            let value = format!("{{ageing-time: {seconds} s}}");
            edits.set(&["nodes", sides.name, "learning"], &value, converted);
        }
        (Some(_), None) => {
            converted.lacks(format!("bridge {}: `aging-time`, as it does not learn in the base", sides.name))
        }
        (None, Some(own)) => converted.lacks(format!(
            "bridge {}: an ageing time, which its document does not state; it stays {own} s",
            sides.name
        )),
        _ => {}
    }
}

/// The static ways of frames; the ways of streams are those of the description.
fn ways(sides: &Sides<'_>, converted: &mut Converted) {
    let (theirs, ours) = (&sides.theirs.streams.ways, &sides.ours.streams.ways);
    let ports = |set: Option<&BTreeSet<String>>| match set {
        None => "none".to_owned(),
        Some(set) if set.is_empty() => "no port".to_owned(),
        Some(set) => set.iter().cloned().collect::<Vec<_>>().join(", "),
    };
    let both: BTreeSet<_> = theirs.keys().chain(ours.keys()).collect();
    for way in both {
        if theirs.get(way) != ours.get(way) {
            converted.lacks(format!(
                "bridge {}: the static entry of {} in VLAN {}: {}; that of the base stays: {}",
                sides.name,
                way.1,
                way.0,
                ports(theirs.get(way)),
                ports(ours.get(way))
            ));
        }
    }
}

/// Members of all VLANs, with those that change.
struct Vlans {
    /// Ports by their names, and whether frames leave them with a tag.
    members: BTreeMap<u64, Vec<(String, bool)>>,
    changed: BTreeSet<u64>,
}

impl Vlans {
    fn of(network: &Network) -> Self {
        let mut members = BTreeMap::new();
        for vlan in &network.vlans {
            let name = |port: PortIndex| {
                let port = &network.ports[port.index()];
                format!("{}:{}", node_of(network, port), port.name)
            };
            let own = vlan.members.iter().map(|member| (name(member.port), member.tagged)).collect();
            members.insert(u64::from(vlan.id.number()), own);
        }
        Self { members, changed: BTreeSet::new() }
    }

    fn change(&mut self, sides: &Sides<'_>) {
        let (theirs, ours) = (&sides.theirs.members, &sides.ours.members);
        let both: BTreeSet<u64> = theirs.keys().chain(ours.keys()).copied().collect();
        let sorted = |list: Option<&Vec<(String, bool)>>| {
            let mut list: Vec<_> = list.into_iter().flatten().cloned().collect();
            list.sort();
            list
        };
        for vlan in both {
            let (own, other) = (sorted(ours.get(&vlan)), sorted(theirs.get(&vlan)));
            if own == other {
                continue;
            }
            self.changed.insert(vlan);
            let all = self.members.entry(vlan).or_default();
            let before = format!("{}:", sides.name);
            all.retain(|(port, _)| !port.starts_with(&before));
            for (interface, tagged) in other {
                if let Some(port) = sides.port(&interface) {
                    all.push((format!("{before}{}", sides.port_name(port)), tagged));
                }
            }
        }
    }

    fn write(&self, edits: &mut Edits, converted: &mut Converted) {
        for vlan in &self.changed {
            let number = vlan.to_string();
            edits.set(&["vlans", &number], &members_text(&self.members[vlan]), converted);
        }
    }
}
