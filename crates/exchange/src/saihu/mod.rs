//! Networks of Saihu, a common interface of tools that prove delays: output ports as servers (JSON), and nodes with links (XML, as WoPANets has
//! them).
//!
//! A server serves in order of arrival, at a rate after a latency. Here it is the port at the head of a cable: the rate is that of the line, and
//! the latency the greatest delay behind the port; delays over several servers are the same sums. Flows are token buckets: `greedy` traffic.

mod describe;
mod places;
mod ports;
mod quantity;
mod topology;
mod write;

use crate::{Converted, Export, Files, Import, Scope};

pub(crate) static EXPORT: Export = Export {
    name: "saihu",
    about: "output ports and flows of Saihu (JSON), of the class that goes first at each port",
    scope: Scope::Network(write::write),
};

pub(crate) static IMPORT: Import = Import {
    name: "saihu",
    about: "a network of Saihu, as output ports (JSON) or as nodes and links (XML, as of WoPANets)",
    example: "tautwire import saihu network.json --to network.yaml",
    has_configurations: false,
    of: read,
    of_octets: None,
    onto: None,
};

/// Octets of the line around a frame, and what the shortest frame takes of it.
const OVERHEAD: u64 = 20;
const LEAST: u64 = 84;

/// The rate of lines that have none, bits per second.
const FAST: u64 = 100_000_000_000;

/// A node and one of its ports.
type Place = (String, String);

/// A cable, with the greatest delays from the first end to the second and back. Rates are bits per second, times picoseconds.
struct Cable {
    ends: [Place; 2],
    rate: u64,
    latencies: [u64; 2],
}

/// A flow: its ways begin at its talker. Sizes are bits of the line.
struct Flow {
    name: String,
    talker: String,
    listeners: Vec<String>,
    packet: Option<u64>,
    burst: u64,
    rate: u64,
    /// The ports of its tree, each after the one before it.
    route: Vec<Place>,
}

/// What a file says.
#[derive(Default)]
struct Found {
    stations: Vec<String>,
    bridges: Vec<String>,
    cables: Vec<Cable>,
    flows: Vec<Flow>,
}

fn read(files: &Files<'_>, converted: &mut Converted) -> Result<(), String> {
    let [input] = files.inputs else { return Err("a network of Saihu is one file".to_owned()) };
    let found = match input.text.trim_start_matches('\u{feff}').trim_start().chars().next() {
        Some('{') => ports::read(input.text.trim_start_matches('\u{feff}'), converted),
        None => Err("it is empty: it must be a JSON object or XML".to_owned()),
        _ => topology::read(&input.text, converted),
    };
    // Of a file with faults in its parts nothing more is said: others would follow from them.
    match converted.keep(found) {
        Some(found) if converted.faults.is_empty() => {
            let described = describe::describe(&found, converted);
            converted.keep(described);
        }
        _ => {}
    }
    for fault in &mut converted.faults {
        *fault = format!("{}: {fault}", input.name);
    }
    Ok(())
}
