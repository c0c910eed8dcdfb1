//! Topologies of laboratories: what `lldpctl -f json0` or `-f json` (lldpd) of their hosts knows of its neighbours, a file of each host.
//!
//! A neighbour is named by its system, or by its chassis; a cable is seen from one end, or from both. Ports of a host whose file is there have
//! the names of their interfaces. Rates are those of the negotiated medium. Not here: where streams go, VLANs, lengths.

use serde_json::Value;
use tautwire_units::BitRate;

use crate::topology::{self, Cable, Node};
use crate::{Converted, Files, Import, valid};

pub(crate) static IMPORT: Import = Import {
    name: "lldp",
    about: "neighbours as lldpctl (lldpd) prints them with -f json0 or -f json, a file of each host\nwith the host's name; nodes, cables and rates become a description",
    example: "ssh bridge lldpctl -f json0 > bridge.json\nssh control lldpctl -f json0 > control.json\ntautwire import lldp bridge.json control.json --to lab.yaml",
    has_configurations: false,
    of: read,
    of_octets: None,
    onto: None,
};

/// Keys that are taken over, or say nothing about the network.
const OF_INTERFACE: [&str; 7] = ["name", "via", "rid", "age", "chassis", "port", "ttl"];
const OF_CHASSIS: [&str; 4] = ["id", "name", "capability", "ttl"];
const OF_PORT: [&str; 4] = ["id", "descr", "ttl", "auto-negotiation"];

/// A neighbour, as a host sees it.
struct Seen {
    /// The host and its interface.
    near: (usize, String),
    /// The neighbour.
    far: usize,
    /// By what its port may be known, the likeliest name first.
    ports: Vec<String>,
    /// Mbit/s.
    rate: Option<u64>,
}

fn read(files: &Files<'_>, found: &mut Converted) -> Result<(), String> {
    let mut hosts: Vec<(String, Value)> = Vec::new();
    for input in files.inputs {
        let name = valid(&input.name);
        if hosts.iter().any(|(host, _)| *host == name) {
            found.fault(format!("there are two files of the host `{name}`"));
        }
        let value = serde_json::from_str(input.text.trim_start_matches('\u{feff}'))
            .map_err(|error| format!("{}: no JSON: {error}", input.name));
        if let Some(value) = found.keep(value) {
            hosts.push((name, value));
        }
    }
    let (nodes, cables) = topology(&hosts, found);
    let count = hosts.len();
    let first = format!(
        "# Nodes and cables by LLDP of {count} host{}. Device models, lengths of cables and streams are to be added.",
        if count == 1 { "" } else { "s" }
    );
    topology::describe(&first, &nodes, &cables, found);
    Ok(())
}

/// Nodes, those of the hosts first, and cables between them.
pub(crate) fn topology(hosts: &[(String, Value)], found: &mut Converted) -> (Vec<Node>, Vec<Cable>) {
    let node = |(name, _): &(String, Value)| Node { name: name.clone(), ..Node::default() };
    let mut nodes: Vec<Node> = hosts.iter().map(node).collect();
    let mut seen: Vec<Seen> = Vec::new();
    for (host, (name, value)) in hosts.iter().enumerate() {
        let Some(lldp) = value.get("lldp") else {
            found.fault(format!("{name}: it has no `lldp`: write it by `lldpctl -f json0`"));
            continue;
        };
        for (interface, value) in interfaces(lldp) {
            let Some(one) = neighbour(host, interface, value, &mut nodes, hosts.len(), found) else {
                continue;
            };
            if one.far == host {
                found.lacks(format!(
                    "{}.{}: its neighbour, which is the host itself",
                    nodes[host].name, one.near.1
                ));
                continue;
            }
            match seen.iter().find(|other| other.near == one.near) {
                Some(first) => found.lacks(format!(
                    "{}.{}: its neighbour `{}`; it has `{}` already, and a cable has two ends",
                    nodes[host].name, one.near.1, nodes[one.far].name, nodes[first.far].name
                )),
                None => seen.push(one),
            }
        }
    }
    let cables = cables(seen, &nodes, hosts.len(), found);
    (nodes, cables)
}

/// The elements of a list, or a value by itself: json0 has lists where json has them only for several.
fn items(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Null => Vec::new(),
        other => vec![other],
    }
}

/// The value of a key, of lists that of their first element.
fn first<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    items(value).into_iter().find_map(|item| item.get(key)).and_then(|found| items(found).into_iter().next())
}

/// A text, or the one in `value`.
fn text(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.get("value").and_then(Value::as_str)).filter(|text| !text.is_empty())
}

/// The interfaces of a host with what they see: with names in them, or as keys.
fn interfaces(lldp: &Value) -> Vec<(&str, &Value)> {
    let mut found = Vec::new();
    for interface in items(lldp).into_iter().filter_map(|lldp| lldp.get("interface")).flat_map(items) {
        match (interface.get("name").and_then(Value::as_str), interface) {
            (Some(name), _) => found.push((name, interface)),
            (None, Value::Object(named)) => {
                let each = named
                    .iter()
                    .flat_map(|(name, value)| items(value).into_iter().map(move |one| (name, one)));
                found.extend(each.map(|(name, value)| (name.as_str(), value)));
            }
            _ => {}
        }
    }
    found
}

/// What an interface sees, if that is a neighbour with a name.
fn neighbour(
    host: usize,
    interface: &str,
    value: &Value,
    nodes: &mut Vec<Node>,
    hosts: usize,
    found: &mut Converted,
) -> Option<Seen> {
    let place = format!("{}.{interface}", nodes[host].name);
    let near = (host, valid(interface));
    let chassis = first(value, "chassis")?;
    // In json the name of the system is the key; a chassis without a name has none.
    let (name, chassis) = match (chassis.get("id"), chassis) {
        (None, Value::Object(named)) => {
            let (name, chassis) = named.iter().next()?;
            (Some(name.as_str()), items(chassis).into_iter().next()?)
        }
        _ => (first(chassis, "name").and_then(text), chassis),
    };
    let Some(name) = name.or_else(|| first(chassis, "id").and_then(text)) else {
        found.lacks(format!("{place}: a neighbour without a name and a chassis"));
        return None;
    };
    let far = node(name, nodes, hosts);
    for capability in chassis.get("capability").map_or_else(Vec::new, items) {
        if capability.get("type").and_then(Value::as_str) == Some("Bridge") {
            let enabled = capability.get("enabled");
            let is = enabled
                .and_then(Value::as_bool)
                .unwrap_or_else(|| enabled.and_then(Value::as_str) == Some("on"));
            nodes[far].bridges = Some(nodes[far].bridges.unwrap_or(false) || is);
        }
    }
    let port = first(value, "port").unwrap_or(&Value::Null);
    let id = first(port, "id");
    let by_name = id.and_then(|id| id.get("type")).and_then(Value::as_str) == Some("ifname");
    let mut ports: Vec<String> =
        [first(port, "descr"), id].into_iter().flatten().filter_map(text).map(valid).collect();
    if by_name {
        ports.reverse();
    }
    let medium = first(port, "auto-negotiation").and_then(|found| first(found, "current")).and_then(text);
    if medium.is_some_and(is_half_duplex) {
        found.lacks(format!("{place}: half duplex"));
    }
    lacks(value, &OF_INTERFACE, &place, found);
    lacks(chassis, &OF_CHASSIS, &nodes[far].name, found);
    lacks(port, &OF_PORT, &format!("the port of {} at {place}", nodes[far].name), found);
    Some(Seen { near, far, ports, rate: medium.and_then(rate) })
}

/// Notes all keys of a part but those of a list.
fn lacks(value: &Value, known: &[&str], place: &str, found: &mut Converted) {
    for key in value.as_object().into_iter().flat_map(|keys| keys.keys()) {
        if !known.contains(&key.as_str()) {
            found.lacks(format!("{place}: {key}"));
        }
    }
}

/// The node of a system's name. The name of a file may be the part of it before the first point.
fn node(name: &str, nodes: &mut Vec<Node>, hosts: usize) -> usize {
    let name = valid(name);
    let short = name.split('.').next().unwrap_or_default();
    let known = nodes.iter().position(|node| node.name == name);
    known.or_else(|| nodes[..hosts].iter().position(|node| node.name == short)).unwrap_or_else(|| {
        nodes.push(Node { name, ..Node::default() });
        nodes.len() - 1
    })
}

/// The rate of a medium by its name, Mbit/s: `100BaseTXFD`, `1000Base-T`, `2p5GigT`, `10GigBaseCX4`.
fn rate(medium: &str) -> Option<u64> {
    let digits = medium.len() - medium.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let whole: u64 = medium[..digits].parse().ok()?;
    let rest = medium[digits..].to_ascii_lowercase();
    if let Some(rest) = rest.strip_prefix("p5g") {
        return rest.starts_with("ig").then_some(whole * 1_000 + 500);
    }
    let is_base = |rest: &str| rest.starts_with("base") || rest.starts_with('t');
    if is_base(&rest) {
        return Some(whole);
    }
    let rest = rest.strip_prefix("gig").or_else(|| rest.strip_prefix('g'))?;
    whole.checked_mul(1_000).filter(|_| is_base(rest))
}

/// Whether a medium is used in one direction at a time: `100BaseTXHD - 2 pair category 5 UTP, half duplex mode`.
fn is_half_duplex(medium: &str) -> bool {
    medium.contains("half duplex") || medium.split(' ').next().is_some_and(|name| name.ends_with("HD"))
}

/// The cables: what both ends see is one.
fn cables(seen: Vec<Seen>, nodes: &[Node], hosts: usize, found: &mut Converted) -> Vec<Cable> {
    // What the other end sees of the same cable, by the names of both ports.
    let other = |number: usize| {
        let one = &seen[number];
        let back = |other: &Seen| other.near.0 == one.far && other.far == one.near.0;
        let exact = seen.iter().position(|other| {
            back(other) && one.ports.contains(&other.near.1) && other.ports.contains(&one.near.1)
        });
        let all = || seen.iter().enumerate().filter(|(_, other)| back(other));
        let alike = seen.iter().filter(|other| other.near.0 == one.near.0 && other.far == one.far).count();
        // Ports that are known by addresses alone: clear if there is only one cable between the two.
        exact.or_else(|| all().next().map(|(at, _)| at).filter(|_| all().count() == 1 && alike == 1))
    };
    let mut cables = Vec::new();
    for (number, one) in seen.iter().enumerate() {
        let back = other(number);
        if back.is_some_and(|back| back < number) {
            continue;
        }
        let port = match back {
            Some(back) => seen[back].near.1.clone(),
            None => one.ports.first().cloned().unwrap_or_else(|| format!("to-{}", nodes[one.near.0].name)),
        };
        let name = |end: &(usize, String)| format!("{}.{}", nodes[end.0].name, end.1);
        let ends = [one.near.clone(), (one.far, port)];
        let place = format!("{} to {}", name(&ends[0]), name(&ends[1]));
        if back.is_none() && one.far < hosts {
            found.lacks(format!("{place}: the file of {} does not have this cable", nodes[one.far].name));
        }
        let taken = |end: &(usize, String)| cables.iter().any(|cable: &Cable| cable.ends.contains(end));
        if ends[0] == ends[1] || ends.iter().any(taken) {
            found.lacks(format!("{place}: a port at its ends has another cable already"));
            continue;
        }
        let rates = (one.rate, back.and_then(|back| seen[back].rate));
        if let (Some(near), Some(far)) = rates
            && near != far
        {
            found.lacks(format!("{place}: the rate of {far} Mbit/s of one end; the other has {near} Mbit/s"));
        }
        // Each end reports the medium of the other.
        let rate = rates.0.or(rates.1).map(|rate| BitRate::from_bps(rate.saturating_mul(1_000_000)));
        cables.push(Cable { ends, rate, propagation: None, others: String::new() });
    }
    cables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_media() {
        for (medium, expected) in [
            ("100BaseTXFD - 2 pair category 5 UTP, full duplex mode", Some(100)),
            ("1000Base-T", Some(1_000)),
            ("1000BaseTFD - Four-pair Category 5 UTP, full duplex mode", Some(1_000)),
            ("10GigBaseCX4 - X copper over 8 pair 100-Ohm balanced cable", Some(10_000)),
            ("2p5GigT", Some(2_500)),
            ("5GigT", Some(5_000)),
            ("25GbaseCR", Some(25_000)),
            ("unknown", None),
            ("10", None),
            ("1é", None),
            ("", None),
        ] {
            assert_eq!(rate(medium), expected, "{medium}");
        }
        assert!(is_half_duplex("100BaseTXHD - 2 pair category 5 UTP, half duplex mode"));
        assert!(!is_half_duplex("100BaseTXFD - 2 pair category 5 UTP, full duplex mode"));
    }
}
