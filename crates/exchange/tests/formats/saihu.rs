//! Networks of Saihu: servers and flows come back as they are, and bounds are those of the curves.

use serde_json::{Value, json};
use tautwire_exchange::{Converted, Input};
use tautwire_generate::{Dice, seeds};
use tautwire_workbench::{Network, bounds};

use crate::common::{network, networks, written};

fn read(text: &str) -> Result<Converted, String> {
    tautwire_exchange::import("saihu")
        .unwrap()
        .read(&[Input { name: "net".to_owned(), text: text.to_owned() }], None)
        .map_err(|faults| faults.join("\n"))
}

/// Ways over the ports of a tree of switches, each server with a rate and a latency of its own.
fn drawn(seed: u64) -> Value {
    let mut dice = Dice::new(seed ^ 0x73_6169_6875);
    let switches = dice.between(2, 5);
    // The server of switch n leads to switch n - 1, or the one before; those of switch 0 lead out.
    let next: Vec<u64> = (0..switches)
        .map(|switch| dice.between(switch.saturating_sub(2), switch.saturating_sub(1)))
        .collect();
    let out = dice.between(1, 3);
    let mut servers: Vec<String> = (1..switches).map(|switch| format!("s{switch}-o")).collect();
    servers.extend((0..out).map(|port| format!("s0-o{port}")));
    let flows: Vec<Value> = (0..dice.between(1, 8))
        .map(|number| {
            let mut at = dice.between(0, switches - 1);
            let mut path = Vec::new();
            while at > 0 {
                path.push(format!("s{at}-o"));
                at = next[at as usize];
            }
            let mut ports: Vec<u64> = (0..out).filter(|_| dice.chance(40)).collect();
            // A flow ends at a port of switch 0, or within the network.
            if path.is_empty() && ports.is_empty() {
                ports.push(0);
            }
            let mut ways = ports.iter().map(|port| [path.clone(), vec![format!("s0-o{port}")]].concat());
            let packet = dice.between(84, 1_542) * 8;
            let mut flow = json!({
                "name": format!("f{number}"), "path": ways.next().unwrap_or_else(|| path.clone()),
                "arrival_curve": {"bursts": [packet * dice.between(1, 4)], "rates": [dice.between(1, 40) * 100_000]},
                "max_packet_length": packet,
            });
            let others: Vec<Value> = ways.enumerate().map(|(way, path)| json!({"name": format!("w{way}"), "path": path})).collect();
            if !others.is_empty() {
                flow["multicast"] = others.into();
            }
            flow
        })
        .collect();
    let servers: Vec<Value> = servers
        .into_iter()
        .map(|name| {
            let rate = dice.one_of(&["100Mbps", "1Gbps", "2.5Gbps"]);
            let latency = format!("{}.{}us", dice.between(1, 20), dice.between(0, 999));
            json!({"name": name, "service_curve": {"latencies": [latency], "rates": [rate]}, "capacity": rate})
        })
        .collect();
    json!({"network": {"name": "drawn", "multiplexing": "FIFO"}, "flows": flows, "servers": servers})
}

/// The ways of all flows: of each its arrival curve, packet, and the rate and latency of each server but the talker's line.
fn ways(file: &Value, skip: usize) -> Vec<(String, String)> {
    let number = |value: &Value, unit: &str| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let (text, factor) = match text.strip_suffix(unit).unwrap_or(&text) {
            text if text.ends_with("Gbps") => (text.trim_end_matches("Gbps").to_owned(), 1_000.0),
            text => (text.to_owned(), 1.0),
        };
        (text.parse::<f64>().unwrap() * factor * 1e6).round()
    };
    let server = |name: &Value| {
        let found =
            file["servers"].as_array().unwrap().iter().find(|server| server["name"] == *name).unwrap();
        let curve = &found["service_curve"];
        (number(&curve["rates"][0], "Mbps"), number(&curve["latencies"][0], "us"))
    };
    let mut found: Vec<(String, String)> = Vec::new();
    for flow in file["flows"].as_array().unwrap() {
        let curve = &flow["arrival_curve"];
        let rate = match &curve["rates"][0] {
            Value::Number(number) => number.to_string(),
            text => format!("{}", number(text, "Mbps")),
        };
        let of = format!("{} {} {} {rate}", flow["name"], flow["max_packet_length"], curve["bursts"][0]);
        let paths = std::iter::once(flow).chain(flow["multicast"].as_array().into_iter().flatten());
        let mut paths: Vec<String> = paths
            .map(|way| {
                let path = &way["path"].as_array().unwrap()[skip..];
                format!("{:?}", path.iter().map(server).collect::<Vec<_>>())
            })
            .collect();
        paths.sort();
        found.extend(paths.into_iter().map(|path| (of.clone(), path)));
    }
    found
}

#[test]
fn ports_and_flows_come_back() {
    for seed in seeds(60) {
        let file = drawn(seed);
        let found =
            read(&file.to_string()).unwrap_or_else(|why| panic!("TAUTWIRE_SEED={seed}: {why}\n{file:#}"));
        assert_eq!(found.left_out, [] as [&str; 0], "TAUTWIRE_SEED={seed}");
        let back = written("saihu", &network(&found.text));
        assert_eq!(back.left_out, [] as [&str; 0], "TAUTWIRE_SEED={seed}");
        let back: Value = serde_json::from_str(&back.text).unwrap();
        let (mut expected, mut ways_back) = (ways(&file, 0), ways(&back, 1));
        // A flow that ends within the network has a listener behind the node.
        for (way, back) in expected.iter_mut().zip(&mut ways_back) {
            if back.1.len() > way.1.len() {
                back.1.truncate(way.1.len() - 1);
                way.1.pop();
            }
        }
        assert_eq!(ways_back, expected, "TAUTWIRE_SEED={seed}\n{}", found.text);
    }
}

/// What networks of every kind have of it can be read, and has the same promises.
#[test]
fn all_networks_are_written() {
    let (mut flows, mut listed) = (0, 0);
    for (name, own) in networks(1) {
        let found = written("saihu", &own);
        listed += found.left_out.len();
        let back = read(&found.text).unwrap_or_else(|why| panic!("{name}: {why}\n{}", found.text));
        let back = network(&back.text);
        for stream in &back.streams {
            let of = |network: &Network| network.streams.iter().find(|own| own.name == stream.name).cloned();
            let own = of(&own).unwrap_or_else(|| panic!("{name}: {}", stream.name));
            assert_eq!(stream.listeners.len(), own.listeners.len(), "{name}: {}", stream.name);
            let (promised, arrival) = (stream.arrival.unwrap(), own.arrival.unwrap());
            assert!(
                promised.rate == arrival.rate && promised.burst >= arrival.burst,
                "{name}: {}",
                stream.name
            );
            flows += 1;
        }
    }
    assert!(flows > 100 && listed > 100, "{flows} {listed}");
}

/// Two flows over a server of 100 Mbit/s after 10 us, which one of them shares with a second one.
const PORTS: &str = r#"{
  "network": {"name": "two", "multiplexing": "FIFO", "packetizer": true, "analysis_option": ["IS"],
              "time_unit": "us", "data_unit": "B", "rate_unit": "Mbps"},
  "flows": [
    {"name": "a", "path": ["s1-p", "s2-p"], "arrival_curve": {"bursts": [1000], "rates": [2]}, "max_packet_length": 500},
    {"name": "b", "path": ["s1-p"], "arrival_curve": {"bursts": ["2kB", 500], "rates": ["500kbps", 10]}, "max_packet_length": 500}
  ],
  "servers": [
    {"name": "s1-p", "service_curve": {"latencies": [10], "rates": [100]}, "capacity": 1000},
    {"name": "s2-p", "service_curve": {"latencies": ["0.02ms", "1ms"], "rates": ["100Mbps", "90Mbps"]}, "room": 1}
  ]
}"#;

#[test]
fn ports_are_read() {
    let found = read(PORTS).unwrap();
    insta::assert_snapshot!("ports", found.text);
    assert_eq!(
        found.left_out,
        [
            "server s1-p: its capacity; the line has the rate of its service",
            "server s2-p: room",
            "server s2-p: 1 of its service curve's 2 parts",
            "flow b: 1 of its arrival curve's 2 parts",
        ]
    );
    // At s1-p both bursts, 3000 octets in 240 us, and 10 us of latency; without the gap behind the last frame, which is 960 ns, and with 80 ns for
    // a talker's line. At s2-p flow a is alone, and no faster than the line before it: its packet and the latency, and what the first
    // latency lets come at once.
    let network = network(&found.text);
    let found = bounds(&network);
    let of = |number: usize| found.streams[number].listeners[0].delay.as_ref().unwrap().as_ps() / 1_000;
    assert!((249_000..249_200).contains(&of(1)), "{}", of(1));
    assert!((318_000..318_100).contains(&of(0)), "{}", of(0));
}

const TOPOLOGY: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<elements>
  <network name="small" technology="FIFO+IS+PK" transmission-capacity="100Mbps" colour="red"/>
  <station name="a"/> <station name="b"/> <station name="c"/>
  <switch name="s" service-latency="16us" service-rate="100Mbps"/>
  <link from="a" to="s" fromPort="0" toPort="0"/>
  <link from="s" to="a" fromPort="0" toPort="0"/>
  <link from="b" to="s" fromPort="0" toPort="1"/>
  <link from="s" to="c" fromPort="2" toPort="0"/>
  <flow name="f" arrival-curve="leaky-bucket" lb-burst="500B" lb-rate="1Mbps" maximum-packet-size="500B" source="a" priority="1">
    <target><path node="s"/><path node="c"/></target>
  </flow>
  <flow name="g" arrival-curve="leaky-bucket" lb-burst="50B" lb-rate="1Mbps" maximum-packet-size="50B" source="b">
    <target><path node="s"/><path node="c"/></target>
    <target><path node="s"/><path node="a"/></target>
  </flow>
</elements>"#;

#[test]
fn nodes_and_links_are_read() {
    let found = read(TOPOLOGY).unwrap();
    insta::assert_snapshot!("topology", found.text);
    assert_eq!(
        found.left_out,
        [
            "network: colour",
            "flow f: its priority",
            "flow g: packets of 50 octets; the shortest frame takes 84 of the line",
            "flow g: a burst of 400 bits; a packet's 672 are written",
        ]
    );
    assert_eq!(network(&found.text).streams[1].listeners.len(), 2);
}

#[test]
fn what_is_no_network_is_refused() {
    let ports = |from: &str, to: &str| read(&PORTS.replacen(from, to, 1)).unwrap_err();
    for (from, to, expected) in [
        ("\"s2-p\"]", "\"s9\"]", "net: line 5: flows: a: there is no server s9"),
        ("\"s1-p\", \"s2-p\"]", "]", "net: line 5: flows: a: it has no `path`"),
        ("[100]", "[\"100Mb\"]", "net: line 9: servers: s1-p: `100Mb` is no rate, such as 100Mbps"),
        ("[100]", "[1]", "net: \"s1:s1-p\": a rate of 1 Mbit/s: lines have 10 Mbit/s to 100 Gbit/s"),
        ("[2]", "[0]", "net: flow a: its rate is 0"),
        ("[2]", "[2, 3]", "net: line 5: flows: a: its curve has 2 `rates` and 1 `bursts`"),
        ("[100]", "[]", "net: line 9: servers: s1-p: its curve has 0 `rates` and 1 `latencies`"),
        ("\"b\"", "\"a\"", "net: two flows have the name `a`"),
        (
            "\"s1-p\", \"s2-p\"]",
            "\"s1-p\", \"s2-p\", \"s1-p\"]",
            "net: line 5: flows: a: its ways are no tree",
        ),
    ] {
        assert_eq!(ports(from, to), expected);
    }
    let topology = |from: &str, to: &str| read(&TOPOLOGY.replacen(from, to, 1)).unwrap_err();
    for (from, to, expected) in [
        ("elements", "network", "net: XML, line 17: the end of an element that is not open"),
        ("<path node=\"c\"/>", "", "net: line 10: flow f: it begins or ends at s, which is no station"),
        ("source=\"a\"", "", "net: line 10: flow f: it has no `source`"),
        ("leaky-bucket", "stairs", "net: line 10: flow f: its arrival curve must be a `leaky-bucket`"),
        ("from=\"a\"", "from=\"x\"", "net: line 6: a link begins at x, which is no node"),
        ("name=\"b\"", "name=\"a\"", "net: line 8: a link begins at b, which is no node"),
        ("to=\"s\"", "to=\"x\"", "net: line 6: a link ends at x, which is no node"),
    ] {
        assert_eq!(topology(from, to), expected);
    }
    // All at once, each with its place.
    let several = PORTS.replacen("[100]", "[\"100Mb\"]", 1).replacen("[2]", "[2, 3]", 1);
    assert_eq!(
        read(&several).unwrap_err(),
        "net: line 9: servers: s1-p: `100Mb` is no rate, such as 100Mbps
net: line 5: flows: a: its curve has 2 `rates` and 1 `bursts`"
    );
    for nothing in ["", "\u{feff}", " \n"] {
        assert_eq!(read(nothing).unwrap_err(), "net: it is empty: it must be a JSON object or XML");
    }
    assert_eq!(read(&format!("\u{feff}{PORTS}")), read(PORTS));
    assert_eq!(read(&format!("\u{feff}{TOPOLOGY}")), read(TOPOLOGY));
    assert_eq!(read("{}").unwrap_err(), "net: it has no list `servers`");
}

/// Visits all leaves of a file with their paths; the one of a number gets another value.
fn mutated(value: &mut Value, left: &mut usize, to: &Value) -> bool {
    match value {
        Value::Object(members) => members.values_mut().any(|member| mutated(member, left, to)),
        Value::Array(list) => list.iter_mut().any(|entry| mutated(entry, left, to)),
        leaf if *left == 0 => {
            *leaf = to.clone();
            true
        }
        _ => {
            *left -= 1;
            false
        }
    }
}

/// A value in the place of another one is a fault with its line, or is listed, or gives a network without a fault.
#[test]
fn mutated_files_give_networks_or_faults_with_lines() {
    let (mut faults, mut networks) = (0, 0);
    let values =
        [json!(null), json!("x"), json!(-1), json!([]), json!({}), json!(1e300), json!("5 us"), json!(true)];
    for seed in 1..=6 {
        let file = drawn(seed);
        for leaf in 0.. {
            let mut count = leaf;
            let mut other = file.clone();
            if !mutated(&mut other, &mut count, &values[(leaf + seed as usize) % values.len()]) {
                break;
            }
            let text = serde_json::to_string_pretty(&other).unwrap();
            match read(&text) {
                Ok(found) => {
                    let loaded = tautwire_workbench::load_text("net.yaml", &found.text);
                    assert!(loaded.network.is_some(), "{text}\n{:?}\n{}", loaded.diagnostics, found.text);
                    networks += 1;
                }
                Err(why) => {
                    for line in why.lines() {
                        assert!(line.starts_with("net: "), "{line}");
                        let is_of_entry = line.contains("flows: ") || line.contains("servers: ");
                        let number = line["net: ".len()..]
                            .strip_prefix("line ")
                            .and_then(|rest| rest.split(':').next());
                        let number = number.map(|number| number.parse::<usize>().unwrap());
                        assert!(
                            !is_of_entry || number.is_some_and(|number| number <= text.lines().count()),
                            "{line}"
                        );
                    }
                    faults += 1;
                }
            }
        }
    }
    assert!(faults > 50 && networks > 20, "{faults} {networks}");
}
