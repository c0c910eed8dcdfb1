//! gPTP of a laboratory: configurations of ptp4l (linuxptp), a file of each node, and with them what `lldpctl -f json0` prints there, which has nodes
//! and cables.
//!
//! A key that a file does not state has the default of linuxptp 3.1, which is that of IEEE 1588 and not that of 802.1AS. What is no gPTP is refused.
//! Not here: clocks, stamps and residence times, which no configuration has.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

use crate::topology::{self, Node};
use crate::{Converted, Files, Import, Input, lldp, quoted, valid};

pub(crate) static IMPORT: Import = Import {
    name: "linuxptp",
    about: "configurations of ptp4l (linuxptp), a file of each node with the node's name; gPTP of the\nnodes becomes a description; with files of `lldpctl -f json0` of the same names, nodes\nand cables, too",
    example: "ssh bridge cat /etc/linuxptp/ptp4l.conf > ptp/bridge.cfg\ntautwire import linuxptp ptp/*.cfg lldp/*.json --to lab.yaml",
    has_configurations: false,
    of: read,
    of_octets: None,
    onto: None,
};

/// Keys that say nothing about what a description has of gPTP: they are as 802.1AS has them, or of logs and sockets.
const SILENT: [&str; 16] = [
    "assume_two_step",
    "follow_up_info",
    "path_trace_enabled",
    "ptp_dst_mac",
    "p2p_dst_mac",
    "logging_level",
    "verbose",
    "use_syslog",
    "summary_interval",
    "kernel_leap",
    "uds_address",
    "tx_timestamp_timeout",
    "twoStepFlag",
    "min_neighbor_prop_delay",
    "time_stamping",
    "clock_servo",
];

/// What makes it gPTP: the default, and what is needed.
const NEEDED: [(&str, &str, &[&str]); 3] = [
    ("delay_mechanism", "E2E", &["P2P"]),
    ("network_transport", "UDPv4", &["L2"]),
    ("transportSpecific", "0", &["0x1", "1", "0x01"]),
];

/// What an interface may have in place of the value for all of them, in addition to the needed keys.
const OF_INTERFACES: [&str; 5] = [
    "logSyncInterval",
    "logAnnounceInterval",
    "logMinPdelayReqInterval",
    "neighborPropDelayThresh",
    "allowedLostResponses",
];

/// Values with their lines.
type Values = BTreeMap<String, (String, usize)>;

/// A file.
struct Configuration {
    name: String,
    global: Values,
    /// By interface.
    ports: Vec<(String, Values)>,
}

impl Configuration {
    fn read(input: &Input, converted: &mut Converted) -> Self {
        let mut found = Self { name: valid(&input.name), global: BTreeMap::new(), ports: Vec::new() };
        let mut section = None;
        for (number, line) in input.text.trim_start_matches('\u{feff}').lines().enumerate() {
            let (line, number) = (line.trim(), number + 1);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                section = Some(name.trim().to_owned());
                let is_known = name == "global" || found.ports.iter().any(|(own, _)| own == name);
                if !is_known {
                    found.ports.push((name.trim().to_owned(), BTreeMap::new()));
                }
                continue;
            }
            let Some((key, value)) = line.split_once(char::is_whitespace) else {
                converted
                    .fault(format!("{}:{number}: `{line}`: a key and its value are expected", input.name));
                continue;
            };
            let Some(section) = &section else {
                converted.fault(format!("{}:{number}: `{key}` is before `[global]`", input.name));
                continue;
            };
            let values = match found.ports.iter_mut().find(|(own, _)| own == section) {
                Some((_, values)) => values,
                None => &mut found.global,
            };
            values.insert(key.to_owned(), (value.trim().to_owned(), number));
        }
        found
    }

    /// Takes what all interfaces have alike as the value for all of them, and what is needed of each.
    fn lift(&mut self, converted: &mut Converted) {
        for key in NEEDED.map(|(key, ..)| key).into_iter().chain(OF_INTERFACES) {
            let texts = self.ports.iter().map(|(_, values)| values.get(key).map(|(text, _)| text));
            let is_alike =
                texts.clone().all(|text| text.is_some()) && texts.collect::<BTreeSet<_>>().len() == 1;
            if is_alike {
                for (_, values) in self.ports.iter_mut().rev() {
                    self.global.extend(values.remove(key).map(|value| (key.to_owned(), value)));
                }
            }
        }
        for (_, values) in &mut self.ports {
            for (key, _, right) in NEEDED {
                if let Some((text, line)) = values.remove(key) {
                    needed(key, &text, right, &format!("{}:{line}", self.name), converted);
                }
            }
            for key in OF_INTERFACES {
                if let Some((text, line)) = values.get(key).filter(|(text, _)| text.parse::<i64>().is_err()) {
                    converted.fault(format!(
                        "{}:{line}: `{key}` is `{text}`: a whole number is expected",
                        self.name
                    ));
                    values.remove(key);
                }
            }
        }
    }

    /// Takes a number, or the default.
    fn number(&mut self, key: &str, default: i64, range: (i64, i64), converted: &mut Converted) -> i64 {
        let Some((text, line)) = self.global.remove(key) else { return default };
        match text.parse::<i64>().ok().filter(|number| (range.0..=range.1).contains(number)) {
            Some(number) => number,
            None => {
                let (least, most) = range;
                converted.fault(format!(
                    "{}:{line}: `{key}` is `{text}`: a whole number from {least} to {most} is expected",
                    self.name
                ));
                default
            }
        }
    }
}

fn read(files: &Files<'_>, converted: &mut Converted) -> Result<(), String> {
    let mut neighbours: Vec<(String, Value)> = Vec::new();
    let mut all: Vec<Configuration> = Vec::new();
    for input in files.inputs {
        let name = valid(&input.name);
        let is_twice = if input.text.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
            let value = serde_json::from_str(input.text.trim_start_matches('\u{feff}'))
                .map_err(|error| format!("{}: no JSON: {error}", input.name));
            let known = neighbours.iter().any(|(host, _)| *host == name);
            neighbours.extend(converted.keep(value).map(|value| (name, value)));
            known
        } else {
            let known = all.iter().any(|other| other.name == name);
            all.push(Configuration::read(input, converted));
            known
        };
        if is_twice {
            converted.fault(format!("there are two such files of the node `{}`", input.name));
        }
    }
    let (mut nodes, cables) = lldp::topology(&neighbours, converted);
    let mut settings = Vec::new();
    for mut one in all {
        // Of a node with several interfaces gPTP is that of a bridge, a boundary clock at the least.
        let bridges = (!one.ports.is_empty()).then_some(one.ports.len() > 1);
        match nodes.iter_mut().find(|node| node.name == one.name) {
            Some(node) => node.bridges = node.bridges.or(bridges),
            None => nodes.push(Node { name: one.name.clone(), bridges, settings: Vec::new() }),
        }
        settings.push(gptp(&mut one, converted));
    }
    let first =
        "# gPTP of nodes as configurations of ptp4l have it. Clocks, stamps and streams are to be added.";
    topology::describe(first, &nodes, &cables, converted);
    section(&settings, converted);
    Ok(())
}

/// The gPTP of a node.
struct Settings {
    name: String,
    /// Of the network: keys and values.
    common: [(&'static str, String); 3],
    servo: Vec<String>,
    own: Vec<String>,
}

/// Refuses a value that no gPTP has.
fn needed(key: &str, text: &str, right: &[&str], place: &str, converted: &mut Converted) {
    if !right.iter().any(|right| right.eq_ignore_ascii_case(text)) {
        converted.fault(format!(
            "{place}: `{key}` is `{text}`, so it is another profile of IEEE 1588 and no gPTP: `{}` would be",
            right[0]
        ));
    }
}

fn gptp(one: &mut Configuration, converted: &mut Converted) -> Settings {
    one.lift(converted);
    for (key, default, right) in NEEDED {
        let (text, place) = match one.global.remove(key) {
            Some((text, line)) => (text, format!("{}:{line}", one.name)),
            None => (default.to_owned(), one.name.clone()),
        };
        needed(key, &text, right, &place, converted);
    }
    let interval = (-7, 5);
    let common = [
        ("log-sync-interval", one.number("logSyncInterval", 0, interval, converted).to_string()),
        ("log-announce-interval", one.number("logAnnounceInterval", 1, interval, converted).to_string()),
        ("log-pdelay-interval", one.number("logMinPdelayReqInterval", 0, interval, converted).to_string()),
    ];
    let mut own = Vec::new();
    let domain = one.number("domainNumber", 0, (0, 127), converted);
    if domain != 0 {
        own.push(format!("domain: {domain}"));
    }
    let mut priority = one.number("priority1", 128, (0, 255), converted);
    let is_capable = one.number("gmCapable", 1, (0, 1), converted) == 1;
    // Of the two names that of linuxptp 4 is the newer.
    let is_slave = ["slaveOnly", "clientOnly"].map(|key| one.number(key, 0, (0, 1), converted)).contains(&1);
    if !is_capable || is_slave {
        priority = 255;
    }
    own.push(format!("priority1: {priority}"));
    own.push(format!("priority2: {}", one.number("priority2", 128, (0, 255), converted)));
    let threshold = one.number("neighborPropDelayThresh", 20_000_000, (0, i64::from(u32::MAX)), converted);
    own.push(format!("delay-max: {threshold} ns"));
    own.push(format!("lost-max: {}", one.number("allowedLostResponses", 3, (0, 255), converted)));
    let mut asymmetries = Vec::new();
    for (port, values) in &mut one.ports {
        if let Some((text, line)) = values.remove("delayAsymmetry") {
            match text.parse::<i64>() {
                Ok(0) => {}
                Ok(ns) => asymmetries.push(format!("{}: {ns} ns", quoted(&valid(port)))),
                Err(_) => converted.fault(format!(
                    "{}:{line}: `delayAsymmetry` is `{text}`: whole nanoseconds are expected",
                    one.name
                )),
            }
        }
    }
    if !asymmetries.is_empty() {
        own.push(format!("asymmetries: {{{}}}", asymmetries.join(", ")));
    }
    let servo = servo(one, converted);
    for (place, values) in
        [("", &one.global)].into_iter().chain(one.ports.iter().map(|(port, values)| (port.as_str(), values)))
    {
        for (key, (text, line)) in values.iter().filter(|(key, _)| !SILENT.contains(&key.as_str())) {
            let of = if place.is_empty() { String::new() } else { format!(" of {place}") };
            converted.lacks(format!("{}:{line}: `{key} {text}`{of}", one.name));
        }
    }
    Settings { name: one.name.clone(), common, servo, own }
}

/// How the clock is corrected; nothing if it runs free.
fn servo(one: &mut Configuration, converted: &mut Converted) -> Vec<String> {
    if one.number("free_running", 0, (0, 1), converted) == 1 {
        converted.lacks(format!(
            "{}: that its clock is not corrected: one servo is of all end stations",
            one.name
        ));
    }
    let mut found = Vec::new();
    if let Some((text, line)) = one.global.remove("step_threshold") {
        // Seconds; zero is never.
        match text.parse::<f64>().ok().filter(|seconds| (0.0..1_000.0).contains(seconds)) {
            Some(seconds) if seconds > 0.0 => found.push(format!("step-min: {:.0} ns", seconds * 1e9)),
            Some(_) => converted.lacks(format!("{}:{line}: that its clock is never stepped", one.name)),
            None => converted.fault(format!(
                "{}:{line}: `step_threshold` is `{text}`: seconds from 0 to 1000 are expected",
                one.name
            )),
        }
    }
    if let Some((text, line)) = one.global.remove("max_frequency") {
        match text.parse::<u32>() {
            Ok(ppb @ 1..=1_000_000) => found.push(format!("rate-max: {ppb} ppb")),
            Ok(ppb) => converted.lacks(format!(
                "{}:{line}: `max_frequency {ppb}`; the rate of a corrected clock differs by 1000000 ppb at most",
                one.name
            )),
            Err(_) => converted.fault(format!(
                "{}:{line}: `max_frequency` is `{text}`: parts of a billion are expected",
                one.name
            )),
        }
    }
    found
}

/// The section of the description. What is of the network is that of the first node.
fn section(all: &[Settings], converted: &mut Converted) {
    let Some(first) = all.first() else {
        converted.fault("no file is a configuration of ptp4l".to_owned());
        return;
    };
    for other in &all[1..] {
        for ((key, value), (_, own)) in first.common.iter().zip(&other.common) {
            if value != own {
                converted.lacks(format!(
                    "{}: `{key}` of {own}, as {} has {value} and a description has one",
                    other.name, first.name
                ));
            }
        }
        if other.servo != first.servo {
            converted.lacks(format!("{}: its servo, which differs from that of {}", other.name, first.name));
        }
    }
    let text = &mut converted.text;
    text.push_str("gptp:\n");
    for (key, value) in &first.common {
        let _ = writeln!(text, "  {key}: {value}");
    }
    let _ = writeln!(text, "  servo: {{{}}}", first.servo.join(", "));
    text.push_str("  nodes:\n");
    for one in all {
        let _ = writeln!(text, "    {}: {{{}}}", quoted(&one.name), one.own.join(", "));
    }
}
