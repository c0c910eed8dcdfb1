//! LLDP: every topology, told by its hosts in both forms of `lldpctl`, comes back.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tautwire_exchange::{Converted, Input};
use tautwire_generate::Dice;
use tautwire_model::network::{Network, NodeKind, PortIndex};

use crate::common::{network, networks};

fn read(inputs: &[Input]) -> Result<Converted, String> {
    tautwire_exchange::import("lldp").unwrap().read(inputs, None).map_err(|faults| faults.join("\n"))
}

fn input(name: &str, text: impl ToString) -> Input {
    Input { name: name.to_owned(), text: text.to_string() }
}

/// The far end of a port's cable, and the cable's rate.
fn far(network: &Network, port: PortIndex) -> Option<(PortIndex, u64)> {
    let link = &network.links[network.ports[port.index()].links?.egress.index()];
    Some((link.to, link.rate.as_bps() / 1_000_000))
}

/// What a host's `lldpctl -f json0` prints, or `-f json`.
pub(crate) fn told(network: &Network, node: usize, is_json0: bool, medium: bool) -> Value {
    let mut interfaces = Vec::new();
    for number in network.nodes[node].ports.clone() {
        let Some((far, rate)) = far(network, PortIndex(number)) else { continue };
        let port = &network.ports[far.index()];
        let node = &network.nodes[port.node.index()];
        let own = &network.ports[number as usize].name;
        let bridges = matches!(node.kind, NodeKind::Bridge { .. });
        let current = format!("{rate}BaseTFD - Four-pair Category 5 UTP, full duplex mode");
        let capability =
            json!([{"type": "Bridge", "enabled": bridges}, {"type": "Router", "enabled": false}]);
        let address = port.address.to_string();
        interfaces.push(if is_json0 {
            let mut port = json!({
                "id": [{"type": "mac", "value": address}], "descr": [{"value": port.name}], "ttl": [{"value": "120"}]
            });
            if medium {
                port["auto-negotiation"] = json!([{"supported": true, "current": [{"value": current}]}]);
            }
            json!({
                "name": own, "via": "LLDP", "rid": "1", "age": "0 day, 00:00:01",
                "chassis": [{
                    "id": [{"type": "mac", "value": address}], "name": [{"value": node.name}], "capability": capability
                }],
                "port": [port],
            })
        } else {
            let mut port = json!({"id": {"type": "ifname", "value": port.name}, "descr": "uplink", "ttl": "120"});
            if medium {
                port["auto-negotiation"] = json!({"supported": true, "current": current});
            }
            let chassis = json!({&node.name: {"id": {"type": "mac", "value": address}, "capability": capability}});
            json!({own: {"via": "LLDP", "rid": "1", "age": "0 day, 00:00:01", "chassis": chassis, "port": port}})
        });
    }
    match is_json0 {
        true => json!({"lldp": [{"interface": interfaces}]}),
        // One interface is an object, several are a list of them.
        false if interfaces.len() == 1 => json!({"lldp": {"interface": interfaces[0]}}),
        false => json!({"lldp": {"interface": interfaces}}),
    }
}

type Cables = BTreeSet<([(String, String); 2], u64)>;

/// The cables of a network by the names of their ends, in no order.
fn cables(network: &Network) -> Cables {
    let name = |port: PortIndex| {
        let port = &network.ports[port.index()];
        (network.nodes[port.node.index()].name.clone(), port.name.clone())
    };
    let ends = network.links.iter().step_by(2).map(|link| {
        let mut ends = [name(link.from), name(link.to)];
        ends.sort();
        (ends, link.rate.as_bps() / 1_000_000)
    });
    ends.collect()
}

#[test]
fn every_topology_comes_back() {
    let mut found = 0;
    for (number, (name, network)) in networks(2).into_iter().enumerate() {
        // Hosts without a cable have no neighbours, and rates of less than a Mbit/s no medium.
        let joined = |node: usize| {
            network.nodes[node].ports.clone().any(|port| far(&network, PortIndex(port)).is_some())
        };
        if network.links.is_empty() || network.links.iter().any(|link| link.rate.as_bps() % 1_000_000 != 0) {
            continue;
        }
        let mut dice = Dice::new(number as u64);
        let is_json0 = dice.chance(50);
        let hosts: Vec<usize> = (0..network.nodes.len()).filter(|node| joined(*node)).collect();
        // Hosts without the daemon: both ends of a cable may not be.
        let bridges =
            hosts.iter().copied().filter(|node| matches!(network.nodes[*node].kind, NodeKind::Bridge { .. }));
        let all = dice.chance(50)
            || network.links.iter().any(|link| {
                let is_bridge = |port: PortIndex| {
                    let node = network.ports[port.index()].node;
                    matches!(network.nodes[node.index()].kind, NodeKind::Bridge { .. })
                };
                !is_bridge(link.from) && !is_bridge(link.to)
            });
        let told_by: Vec<usize> = if all { hosts.clone() } else { bridges.collect() };
        let inputs: Vec<Input> = told_by
            .iter()
            .map(|node| input(&network.nodes[*node].name, told(&network, *node, is_json0, true)))
            .collect();
        let read = read(&inputs).unwrap_or_else(|error| panic!("{name}: {error}"));
        let back = crate::common::network(&read.text);
        assert_eq!(cables(&back), cables(&network), "{name}\n{}", read.text);
        let kinds = |network: &Network| -> BTreeSet<(String, bool)> {
            let kind = |node: &tautwire_model::network::Node| matches!(node.kind, NodeKind::Bridge { .. });
            let joined = network
                .nodes
                .iter()
                .filter(|node| node.ports.clone().any(|port| network.ports[port as usize].links.is_some()));
            joined.map(|node| (node.name.clone(), kind(node))).collect()
        };
        // Who is seen by nobody may be anything.
        if all {
            assert_eq!(kinds(&back), kinds(&network), "{name}\n{}", read.text);
            assert_eq!(read.left_out, [] as [&str; 0], "{name}");
        }
        found += 1;
    }
    assert!(found > 80, "{found}");
}

#[test]
fn what_is_not_known_or_left_out_is_listed() {
    let text = json!({"lldp": {"interface": {
        "eth0": {"via": "LLDP", "chassis": {"switch.example.com": {
            "id": {"type": "mac", "value": "02:00:00:00:00:01"}, "mgmt-ip": "192.0.2.1", "descr": "a switch",
            "capability": [{"type": "Bridge", "enabled": true}]}},
            "port": {"id": {"type": "mac", "value": "02:00:00:00:00:02"}, "mfs": "9192",
                     "auto-negotiation": {"current": "100BaseTXHD - 2 pair category 5 UTP, half duplex mode"}},
            "vlan": {"vlan-id": "3", "pvid": true}},
        "eth1": {"via": "LLDP", "chassis": {"id": {"type": "mac", "value": "02:00:00:00:00:09"}},
            "port": {"id": {"type": "ifname", "value": "x y"}}},
    }}});
    let found = read(&[input("control", text)]).unwrap();
    let network = network(&found.text);
    let names: Vec<&str> = network.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["control", "switch.example.com", "02-00-00-00-00-09"]);
    assert_eq!(
        found.left_out,
        [
            "control.eth0: half duplex",
            "control.eth0: vlan",
            "switch.example.com: mgmt-ip",
            "switch.example.com: descr",
            "the port of switch.example.com at control.eth0: mfs",
            "control: whether it bridges is not known; with 2 cables it becomes a bridge",
            "02-00-00-00-00-09: whether it bridges is not known; with 1 cable it becomes an end-station",
            "\"control:eth1\" to \"02-00-00-00-00-09:x-y\": its rate is not known; 1 Gbit/s is written",
        ]
    );
}

#[test]
fn files_that_are_none_are_refused() {
    for (text, expected) in
        [("{", "a: no JSON"), ("{}", "a: it has no `lldp`"), ("[1]", "a: it has no `lldp`")]
    {
        assert!(read(&[input("a", text)]).unwrap_err().starts_with(expected), "{text}");
    }
    // All at once.
    let why = read(&[input("a", "{"), input("b", "[]"), input("c", "{}")]).unwrap_err();
    assert_eq!(why.lines().count(), 3, "{why}");
    let none = || input("a", "{\"lldp\": {}}");
    assert_eq!(read(&[none(), none()]).unwrap_err(), "there are two files of the host `a`");
    assert_eq!(network(&read(&[none()]).unwrap().text).nodes.len(), 1);
    // A hub: an interface with two neighbours.
    let neighbour = |name: &str| json!({"eth0": {"chassis": {name: {"id": {"value": name}}}, "port": {}}});
    let hub = json!({"lldp": {"interface": [neighbour("b"), neighbour("c")]}});
    let found = read(&[input("a", hub)]).unwrap();
    assert!(found.left_out[0].contains("a cable has two ends"), "{:?}", found.left_out);
    assert_eq!(network(&found.text).links.len(), 2);
}

/// Any document gives a description or an error, and what it gives can be loaded.
#[test]
fn any_document_is_read_or_refused() {
    let mut loaded = 0;
    for seed in 0..400 {
        let mut dice = Dice::new(seed);
        let value = value(&mut dice, 6, "lldp");
        let text = json!({"lldp": value});
        if let Ok(found) = read(&[input("a", &text), input("b", &text)]) {
            let read = tautwire_workbench::load_text("net.yaml", &found.text);
            assert!(read.network.is_some(), "{seed}: {:?}\n{}\n{text}", read.diagnostics, found.text);
            loaded += usize::from(found.text.contains("between"));
        }
    }
    assert!(loaded > 20, "{loaded}");
}

/// A value that may be at the place of this key.
fn value(dice: &mut Dice, depth: u64, key: &str) -> Value {
    let inner: &[&str] = match key {
        "lldp" => &["interface"],
        "interface" => &["name", "chassis", "port", "eth0", "eth1"],
        "eth0" | "eth1" => &["chassis", "port"],
        "chassis" => &["id", "name", "capability", "b", "c"],
        "b" | "c" => &["id", "capability"],
        "port" => &["id", "descr", "auto-negotiation"],
        "auto-negotiation" => &["current"],
        "capability" => &["type", "enabled"],
        "id" => &["type", "value"],
        _ => &[],
    };
    if depth == 0 || inner.is_empty() || dice.chance(8) {
        let texts = ["a", "b", "eth0", "eth1", "x:y", "\"", "é", "", "1000BaseT", "Bridge", "ifname", "on"];
        return match dice.between(0, 9) {
            0 => Value::Null,
            1 => json!(dice.chance(50)),
            2 => json!(7),
            _ => json!(dice.one_of(&texts)),
        };
    }
    if dice.chance(25) {
        return (0..dice.between(0, 3)).map(|_| value(dice, depth - 1, key)).collect();
    }
    let mut map = serde_json::Map::new();
    for key in inner {
        if dice.chance(75) {
            map.insert((*key).to_owned(), value(dice, depth - 1, key));
        }
    }
    Value::Object(map)
}
