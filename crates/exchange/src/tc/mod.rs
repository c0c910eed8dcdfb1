//! Queueing disciplines and filters of Linux, as commands of `tc` (iproute2): what each node needs, in one shell script.
//!
//! `taprio` for gates, `mqprio` for classes, `cbs` for the credit-based shaper, `etf` for talkers at stated offsets (`classes.rs`); filters with
//! `skbedit`, `gate` and `police` for priorities, stream filters, gates and meters of bridges (`filters.rs`). Traffic class *n* of the k classes of a
//! port is the n-th from below, as in Linux 6.3 and later. What Linux does not have, or does in another way, is a line of its own.
//! `read.rs` reads what `tc -j qdisc show` prints. Not here: VLANs and forwarding (`bridge`), MAC merge (`ethtool`), gPTP (`ptp4l`).

mod classes;
mod filters;
mod read;

use std::fmt::Write as _;

use tautwire_model::Network;
use tautwire_model::network::{Node, NodeKind, Port};

use crate::{Converted, Export, Import, Scope, mechanisms};

pub(crate) static EXPORT: Export = Export {
    name: "tc",
    about: "Commands of tc (iproute2) for each node, as a shell script",
    scope: Scope::Network(write),
};

pub(crate) static IMPORT: Import = Import {
    name: "tc",
    about: "queueing disciplines as `tc -j qdisc show` prints them, a file of each node with the\nnode's name; with files of `lldpctl -f json0` of the same names, nodes and cables, too",
    example: "ssh bridge tc -j qdisc show > tc/bridge.json\nssh bridge lldpctl -f json0 > lldp/bridge.json\ntautwire import tc tc/*.json lldp/*.json --to lab.yaml",
    has_configurations: false,
    of: read::read,
    of_octets: None,
    onto: None,
};

/// Keys whose mechanisms are what `tc` is for no part of, and who is.
const ELSEWHERE: [(&str, &str); 3] = [
    ("gptp", "set up by ptp4l and phc2sys (linuxptp)"),
    ("lldp", "set up by lldpd"),
    ("events", "commands set up a network as it is at the start"),
];

fn write(network: &Network) -> Converted {
    let mut written = Converted::default();
    let mut text = format!(
        "#!/bin/sh
# tc (iproute2) for the network {}: run `sh FILE NODE` as root on each node.
# Linux 6.3 or later: there the traffic class with the greater number goes first. mqprio leaves the order of
# its queues to the device. Times are of CLOCK_TAI; base times are those of the description.
set -e
case \"$1\" in
",
        // A line of a comment, whatever the name is.
        network.name.escape_default()
    );
    for node in &network.nodes {
        let commands = of_node(network, node, &mut written);
        if commands.is_empty() {
            continue;
        }
        let _ = writeln!(text, "'{}')", node.name);
        for command in commands {
            let _ = writeln!(text, "  {command}");
        }
        text.push_str("  ;;\n");
    }
    text.push_str("*)\n  echo \"no commands for '$1'\" >&2\n  ;;\nesac\n");
    written.text = text;
    if network.nodes.iter().any(|node| matches!(node.kind, NodeKind::Bridge { .. })) {
        for vlan in &network.vlans {
            written.lacks(format!("VLAN {}: its members are set up by `bridge vlan`", vlan.id.number()));
        }
    }
    for key in mechanisms(network) {
        let why =
            ELSEWHERE.iter().find(|(known, _)| *known == key).map_or("tc has no such thing", |(_, why)| why);
        written.lacks(format!("`{key}`: {why}"));
    }
    written
}

/// The commands of a node.
fn of_node(network: &Network, node: &Node, written: &mut Converted) -> Vec<String> {
    let mut commands = Vec::new();
    let is_bridge = matches!(node.kind, NodeKind::Bridge { .. });
    for number in node.ports.clone() {
        let port = &network.ports[number as usize];
        // A port without a cable sends and receives nothing.
        if port.links.is_none() {
            continue;
        }
        let place = Place { text: format!("{}.{}", node.name, port.name), device: device(port) };
        if !is_interface(place.device) {
            written.lacks(format!(
                "port {}: `{}` is no name of a Linux interface; state `interface`",
                place.text, place.device
            ));
            continue;
        }
        classes::write(network, number as usize, &place, &mut commands, written);
    }
    if is_bridge {
        filters::write(network, node, &mut commands, written);
    }
    commands
}

/// A port, as lines and commands name it.
struct Place<'n> {
    text: String,
    device: &'n str,
}

/// The interface of a port; without a statement that of its name.
fn device(port: &Port) -> &str {
    port.interface.as_deref().unwrap_or(&port.name)
}

/// Whether Linux takes it as the name of an interface.
fn is_interface(name: &str) -> bool {
    let bad = |letter: char| letter == '/' || letter == ':' || letter.is_whitespace() || letter.is_control();
    !name.is_empty()
        && name.len() < 16
        && name != "."
        && name != ".."
        && !name.contains(bad)
        && !name.starts_with('-')
}
