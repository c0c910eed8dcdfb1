//! Networks of INET (OMNeT++): NED files and the configuration in an INI file, as its TSN networks have them.
//!
//! `value.rs`, `formula.rs`, `ini.rs` and `ned.rs` read the files; `read.rs` what they say of a network, `describe.rs` its description; `write.rs` writes both
//! files. Sizes differ: INET counts UDP data, and meters of eligibility times the IP packet; a description has the payload of the frame, and
//! counts frames with their gaps.

mod describe;
mod formula;
mod ini;
mod ned;
mod read;
mod value;
mod write;

use std::net::Ipv4Addr;

use crate::{Converted, Export, Files, Import, Scope};

pub(crate) static EXPORT: Export = Export {
    name: "inet",
    about: "Network and configuration for INET 4.5 or later (OMNeT++), as NED and INI",
    scope: Scope::Files(write::write),
};

pub(crate) static IMPORT: Import = Import {
    name: "inet",
    about: "a network of INET (OMNeT++): NED files and the INI file, of which one configuration\nis read: the only one, or that of --configuration",
    example: "tautwire import inet Network.ned omnetpp.ini --configuration Shaped --to network.yaml",
    has_configurations: true,
    of: read,
    of_octets: None,
    onto: None,
};

/// Octets of the headers of IP and UDP.
const HEADERS: u64 = 28;

/// Classes of the priorities 0 to 7 for one to eight classes (802.1Q-2022, Table 8-5).
const CLASSES: [[u64; 8]; 8] = [
    [0, 0, 0, 0, 0, 1, 1, 1],
    [0, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 1, 1, 2, 2, 2],
    [0, 0, 0, 1, 1, 2, 3, 3],
    [0, 1, 1, 2, 2, 3, 4, 4],
    [0, 1, 1, 2, 2, 3, 4, 5],
    [0, 1, 2, 3, 3, 4, 5, 6],
    [0, 1, 2, 3, 4, 5, 6, 7],
];

/// Networks that INET has in its library.
const LIBRARY: [&str; 2] = ["TsnLinearNetwork", "TsnDumbbellNetwork"];

/// The MAC address of a group (RFC 1112), as INET has it in texts.
fn group_address(group: Ipv4Addr) -> String {
    let [_, high, middle, low] = group.octets();
    format!("01-00-5E-{:02X}-{middle:02X}-{low:02X}", high & 0x7f)
}

/// Two words: a node and its type, or the ends of a cable.
type Pair = (&'static str, &'static str);

/// A network of the library: cables of 100 Mbit/s unless stated.
fn library(name: &str) -> Option<ned::Type> {
    let (nodes, cables): (&[Pair], &[Pair]) = match name {
        "TsnLinearNetwork" => (
            &[("client", "TsnDevice"), ("switch", "TsnSwitch"), ("server", "TsnDevice")],
            &[("client", "switch"), ("switch", "server")],
        ),
        "TsnDumbbellNetwork" => (
            &[
                ("client1", "TsnDevice"),
                ("client2", "TsnDevice"),
                ("switch1", "TsnSwitch"),
                ("switch2", "TsnSwitch"),
                ("server1", "TsnDevice"),
                ("server2", "TsnDevice"),
            ],
            &[
                ("client1", "switch1"),
                ("client2", "switch1"),
                ("switch2", "server1"),
                ("switch2", "server2"),
                ("switch1", "switch2"),
            ],
        ),
        _ => return None,
    };
    let place = format!("{name}.ned");
    Some(ned::Type {
        kind: "network".to_owned(),
        name: name.to_owned(),
        parameters: vec![ned::Parameter {
            place: place.clone(),
            name: "*.eth[*].bitrate".to_owned(),
            value: "default(100Mbps)".to_owned(),
        }],
        submodules: nodes
            .iter()
            .map(|(node, kind)| ned::Submodule {
                place: place.clone(),
                name: (*node).to_owned(),
                kind: (*kind).to_owned(),
                parameters: Vec::new(),
            })
            .collect(),
        connections: cables
            .iter()
            .map(|(from, to)| ned::Connection {
                place: place.clone(),
                ends: [from, to].map(|node| ((*node).to_owned(), "ethg++".to_owned())),
                channel: Some(("EthernetLink".to_owned(), Vec::new())),
            })
            .collect(),
        ..ned::Type::default()
    })
}

fn read(files: &Files<'_>, converted: &mut Converted) -> Result<(), String> {
    let mut types = Vec::new();
    let mut ini = None;
    for input in files.inputs {
        if is_ned(&input.text) {
            types.extend(converted.keep(ned::read(&input.name, &input.text)).unwrap_or_default());
        } else if ini.is_some() {
            converted.fault(format!("{}: a second INI file: one configuration is read", input.name));
        } else {
            ini = Some(ini::read(&input.name, &input.text, files.configuration, converted)?);
        }
    }
    // A network with parts that are not read would lack others.
    if !converted.faults.is_empty() {
        return Ok(());
    }
    let found = read::read(types, ini.unwrap_or_default(), converted)?;
    if !converted.faults.is_empty() {
        return Ok(());
    }
    describe::describe(&found, converted)
}

/// Whether a text is NED: its first word is one of those that begin its statements.
fn is_ned(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}');
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("//"));
    let word = first.and_then(|line| line.split_whitespace().next()).unwrap_or("");
    ["package", "import", "network", "module", "channel", "simple"].contains(&word) || word.starts_with('@')
}
