//! `tc`: the commands, read back, hold what the network has; and what they do not hold is named.

use serde_json::{Value, json};
use tautwire_core::Priority;
use tautwire_exchange::Converted;
use tautwire_model::gates::GateParameters;
use tautwire_model::network::{Network, NodeKind, Port, TransmissionSelection};

use crate::common::{network, networks, written};

/// The words of the commands of a node.
fn commands<'t>(text: &'t str, node: &str) -> Vec<Vec<&'t str>> {
    let Some(rest) = text.split(&format!("\n'{node}')\n")).nth(1) else { return Vec::new() };
    let lines = rest.lines().take_while(|line| *line != "  ;;");
    lines.map(|line| line.split_whitespace().collect()).collect()
}

/// The word behind another one.
fn after<'t>(words: &[&'t str], key: &str) -> Option<&'t str> {
    words.iter().position(|word| *word == key).and_then(|at| words.get(at + 1).copied())
}

/// The commands for queues of a port: at the root, and below its classes.
fn queues<'t>(text: &'t str, network: &Network, port: &Port) -> (Vec<Vec<&'t str>>, Vec<Vec<&'t str>>) {
    let node = &network.nodes[port.node.index()];
    let device = port.interface.as_deref().unwrap_or(&port.name);
    let of_port = commands(text, &node.name).into_iter();
    let of_port = of_port.filter(|words| words[1] == "qdisc" && after(words, "dev") == Some(device));
    of_port.filter(|words| words.contains(&"parent")).partition(|words| words.contains(&"root"))
}

/// States of the gates so long after a cycle began, in the terms of the standard.
fn states(parameters: &GateParameters, ps: u64) -> u8 {
    let mut end = 0;
    for entry in &parameters.control_list {
        end += entry.time_interval.as_ps();
        if ps < end {
            return entry.gate_states;
        }
    }
    parameters.control_list.last().unwrap().gate_states
}

#[test]
fn commands_read_back_hold_classes_gates_and_shapers() {
    let (mut gated, mut shaped, mut mapped) = (0, 0, 0);
    for (name, network) in networks(6) {
        let text = written("tc", &network).text;
        for port in network.ports.iter().filter(|port| port.links.is_some()) {
            let (roots, children) = queues(&text, &network, port);
            let place = format!("{name}: {}.{}", network.nodes[port.node.index()].name, port.name);
            assert!(roots.len() <= 1, "{place}");
            let Some(root) = roots.first() else {
                assert!(port.gates.is_none() && children.is_empty(), "{place}");
                continue;
            };
            let at = root.iter().position(|word| *word == "map").unwrap() + 1;
            let map: Vec<usize> = root[at..at + 16].iter().map(|word| word.parse().unwrap()).collect();
            let classes: usize = after(root, "num_tc").unwrap().parse().unwrap();
            for one in Priority::all() {
                for other in Priority::all() {
                    // The order of Linux is that of the classes.
                    let order = |a: usize, b: usize| a.cmp(&b);
                    let of = |priority| port.class_table.class_of(priority, true).index();
                    let linux = order(map[one.index()], map[other.index()]);
                    assert_eq!(linux, order(of(one), of(other)), "{place}");
                }
                assert!(map[one.index()] < classes, "{place}");
                mapped += 1;
            }
            gated += holds_gates(port, root, &map, &place);
            shaped += holds_shapers(&network, port, &children, &map, &place);
        }
    }
    assert!(gated > 100 && shaped > 50 && mapped > 1_000, "{gated} {shaped} {mapped}");
}

/// A port's list against that of the command, at many times of the cycle; how many ports that are.
fn holds_gates(port: &Port, root: &[&str], map: &[usize], place: &str) -> usize {
    let Some(gates) = &port.gates else {
        assert!(root.contains(&"mqprio"), "{place}");
        return 0;
    };
    assert!(root.windows(3).any(|words| words == ["mpu", "84", "taprio"]), "{place}");
    let cycle: u64 = after(root, "cycle-time").unwrap().parse().unwrap();
    assert_eq!(cycle, gates.parameters.cycle_time.floor().as_ps() / 1_000, "{place}");
    let mut at = 0_u64;
    for entry in root.windows(4).filter(|words| words[0] == "sched-entry") {
        let mask = u8::from_str_radix(entry[2], 16).unwrap();
        let interval: u64 = entry[3].parse().unwrap();
        assert!(interval > 0 && u32::try_from(interval).is_ok(), "{place}");
        // At both ends and within, but for a nanosecond that may be rounded.
        for ns in [at + 1, at + interval / 2, (at + interval).saturating_sub(2)] {
            if ns <= at || ns + 1 >= at + interval {
                continue;
            }
            for priority in Priority::all() {
                let class = port.class_table.class_of(priority, true).index();
                let is_open = states(&gates.parameters, ns * 1_000) >> class & 1 == 1;
                assert_eq!(
                    mask >> map[priority.index()] & 1 == 1,
                    is_open,
                    "{place}: {ns} ns, class {class}"
                );
            }
        }
        at += interval;
    }
    assert_eq!(at, cycle, "{place}: entries fill the cycle");
    1
}

/// The shapers of a port against those of the commands; how many that are.
fn holds_shapers(
    network: &Network,
    port: &Port,
    children: &[Vec<&str>],
    map: &[usize],
    place: &str,
) -> usize {
    let rate = network.links[port.links.unwrap().egress.index()].rate.as_bps();
    let mut found = 0;
    for priority in Priority::all() {
        let class = port.class_table.class_of(priority, true).index();
        let parent = format!("100:{}", map[priority.index()] + 1);
        let child = children.iter().find(|words| after(words, "parent") == Some(&parent));
        let TransmissionSelection::CreditBased { idle_slope } = port.classes[class].selection else {
            assert!(child.is_none_or(|words| !words.contains(&"cbs")), "{place}");
            continue;
        };
        let words = child.unwrap_or_else(|| panic!("{place}: no cbs"));
        let number = |key| after(words, key).unwrap().parse::<i64>().unwrap();
        let idle = number("idleslope");
        assert!(idle * 1_000 >= idle_slope.as_bps().cast_signed(), "{place}");
        assert!((idle - 1) * 1_000 < idle_slope.as_bps().cast_signed(), "{place}");
        assert_eq!(number("sendslope"), idle - (rate / 1_000).cast_signed(), "{place}");
        // Either the shaper itself or the discipline above it charges the wire's octets.
        assert_eq!(words.contains(&"stab"), port.gates.is_none(), "{place}");
        assert!(number("hicredit") > 0 && number("locredit") <= 0, "{place}");
        found += 1;
    }
    found
}

/// Whether a line names all of `parts`.
fn says(written: &Converted, parts: &[&str]) -> bool {
    written.left_out.iter().any(|line| parts.iter().all(|part| line.contains(part)))
}

#[test]
fn nothing_is_left_out_unsaid() {
    for (name, network) in networks(6) {
        let found = written("tc", &network);
        let mut lines = found.left_out.clone();
        lines.dedup();
        assert_eq!(lines, found.left_out);
        for port in network.ports.iter().filter(|port| port.links.is_some()) {
            let node = &network.nodes[port.node.index()].name;
            let place = format!("port {node}.{}", port.name);
            for priority in Priority::all() {
                let class = port.class_table.class_of(priority, true).index();
                let of_class = format!("{place} class {class}:");
                if port.classes[class].selection == TransmissionSelection::Ats {
                    assert!(says(&found, &[&of_class, "asynchronous"]), "{name} {of_class}");
                }
            }
            if port.preemption.is_some() {
                assert!(says(&found, &[&place, "preemption"]), "{name} {place}");
            }
            if port.shared_buffer.is_some() {
                assert!(says(&found, &[&place, "buffer"]), "{name} {place}");
            }
        }
        let mechanisms = [
            ("tdma", network.tdma.is_some()),
            ("harts", network.harts.is_some()),
            ("gptp", network.gptp.is_some()),
            ("stream-reservation", network.srp.is_some()),
            ("time-triggered", network.time_triggered.is_some()),
            ("frer", network.streams.iter().any(|stream| stream.replication.is_some())),
            ("virtual-link", network.streams.iter().any(|stream| stream.virtual_link.is_some())),
            ("events", !network.events.is_empty()),
        ];
        for (key, is_in) in mechanisms {
            assert_eq!(says(&found, &[&format!("`{key}`:")]), is_in, "{name}: {key}");
        }
    }
}

/// Every stream filter that frames of a stream match is in the commands, with its gate and its meter, or named.
#[test]
fn stream_filters_are_there_or_named() {
    let (mut gates, mut meters) = (0, 0);
    for (name, network) in networks(10) {
        let found = written("tc", &network);
        for filters in &network.stream_filters {
            let node = &network.nodes[filters.node.index()];
            assert!(matches!(node.kind, NodeKind::Bridge { .. }));
            let all = commands(&found.text, &node.name);
            for (number, stream) in network.streams.iter().enumerate() {
                for hop in &stream.hops {
                    let index = tautwire_model::network::StreamIndex::at(number);
                    let Some((own, filter)) = network.filter_behind(index, stream, hop) else { continue };
                    if own.node != filters.node
                        || says(&found, &[&format!("stream {} in filter", stream.name)])
                    {
                        continue;
                    }
                    let destination = stream.destination.to_string();
                    let device = &network.ports[network.far_end(hop).1.index()];
                    let device = device.interface.as_deref().unwrap_or(&device.name);
                    let preference = (2 * filter + 2 - usize::from(hop.tagged.vlan)).to_string();
                    let words = all.iter().find(|words| {
                        after(words, "pref") == Some(&preference)
                            && after(words, "dst_mac") == Some(&destination)
                            && after(words, "dev") == Some(device)
                    });
                    let words = words.unwrap_or_else(|| {
                        panic!("{name}: {} at {}\n{}", stream.name, node.name, found.text)
                    });
                    let config = &filters.filters[filter].config;
                    if let Some(gate) = config.gate.map(|gate| &filters.gates[gate]) {
                        let is_there = words
                            .windows(2)
                            .any(|pair| pair == ["action", "gate"] || pair == ["action", "drop"]);
                        let always_open = gate.config.parameters.is_none() && gate.config.admin.open;
                        assert_eq!(is_there, !always_open, "{name}: gate {}", gate.id);
                        gates += usize::from(is_there);
                    }
                    if let Some(meter) = config.meter.map(|meter| &filters.meters[meter]) {
                        let index = words.contains(&"index");
                        let is_named = says(
                            &found,
                            &[
                                &format!("bridge {} flow meter {}:", node.name, meter.id),
                                "nothing is policed",
                            ],
                        );
                        let is_there = index && words.windows(2).any(|pair| pair == ["action", "police"]);
                        assert!(is_there || is_named, "{name}: meter {}", meter.id);
                        meters += usize::from(!is_named);
                    }
                }
            }
        }
    }
    assert!(gates > 20 && meters > 20, "{gates} {meters}");
}

#[test]
fn a_small_network_gives_these_commands() {
    let network = network(
        "name: cell
defaults: {rate: 1 Gbit/s, traffic-class-table: identity}
vlans: {1: {tagged: all}}
nodes:
  drive: {type: end-station, ports: {eth0: {}}}
  control: {type: end-station}
  bridge:
    type: bridge
    classes: {5: {transmission-selection: credit-based, idle-slope: 20 Mbit/s}}
    ports:
      swp0: {priority-regeneration: [0, 1, 2, 4, 4, 5, 6, 7]}
      swp1:
        gate-parameter-table:
          gate-enabled: true
          admin-base-time: 0 s
          admin-cycle-time: 1 ms
          admin-control-list:
            - {gate-states: [7], time-interval: 300 us}
            - {gate-states: [0, 1, 2, 3, 4, 5, 6], time-interval: 600 us}
links:
  - {between: [drive, bridge]}
  - {between: [bridge, control]}
streams:
  - {name: x, talker: drive, listeners: control, priority: 7, payload: 100 B, traffic: {type: periodic, interval: 1 ms}}",
    );
    let found = written("tc", &network);
    insta::assert_snapshot!("cell", format!("{}\n{}\n", found.text, found.left_out.join("\n")));
}

fn imported(inputs: &[(&str, Value)]) -> Result<Converted, String> {
    let inputs: Vec<tautwire_exchange::Input> = inputs
        .iter()
        .map(|(name, value)| tautwire_exchange::Input { name: (*name).to_owned(), text: value.to_string() })
        .collect();
    tautwire_exchange::import("tc").unwrap().read(&inputs, None).map_err(|faults| faults.join("\n"))
}

/// What `tc -j qdisc show` prints after the commands of a node: the keys are those of iproute2's sources.
fn shown(text: &str, network: &Network, node: &tautwire_model::network::Node) -> Value {
    let number = |word: &str| word.parse::<i64>().unwrap();
    let mut found = Vec::new();
    for words in commands(text, &node.name) {
        let Some(at) = words.iter().position(|word| *word == "handle").filter(|_| words[1] == "qdisc") else {
            continue;
        };
        // Sizes of frames are no part of what is printed without details.
        let mut rest = &words[at + 2..];
        if rest[0] == "stab" {
            rest = &rest[5..];
        }
        let (kind, rest) = (rest[0], &rest[1..]);
        let mut own =
            json!({"kind": kind, "handle": words[at + 1], "dev": after(&words, "dev").unwrap(), "refcnt": 2});
        match after(&words, "parent").unwrap() {
            "root" => own["root"] = true.into(),
            parent => own["parent"] = parent.into(),
        }
        let list = |key: &str, count: usize| -> Vec<&str> {
            let at = rest.iter().position(|word| *word == key).map_or(rest.len(), |at| at + 1);
            rest[at..].iter().take(count).copied().collect()
        };
        own["options"] = match kind {
            "mqprio" | "taprio" => {
                let classes = number(after(rest, "num_tc").unwrap()) as usize;
                let map: Vec<i64> = list("map", 16).into_iter().map(number).collect();
                let queues = list("queues", classes).into_iter().map(|range| {
                    let (count, first) = range.split_once('@').unwrap();
                    let (count, first) = (number(count), number(first));
                    if kind == "mqprio" {
                        json!([first, first + count - 1])
                    } else {
                        json!({"offset": first, "count": count})
                    }
                });
                let mut options = json!({"tc": classes, "map": map, "queues": queues.collect::<Vec<_>>()});
                if kind == "taprio" {
                    let entries =
                        rest.iter().enumerate().filter(|(_, word)| **word == "sched-entry").enumerate();
                    let entries = entries.map(|(index, (at, _))| {
                        json!({"index": index, "cmd": rest[at + 1], "gatemask": format!("0x{}", rest[at + 2].trim_start_matches('0')), "interval": number(rest[at + 3])})
                    });
                    options["schedule"] = entries
                        .map(|mut entry| {
                            if entry["gatemask"] == "0x" {
                                entry["gatemask"] = "0x0".into();
                            }
                            entry
                        })
                        .collect();
                    for (key, word) in [
                        ("base_time", "base-time"),
                        ("cycle_time", "cycle-time"),
                        ("cycle_time_extension", "cycle-time-extension"),
                    ] {
                        options[key] = after(rest, word).map_or(0, number).into();
                    }
                    options["clockid"] = "TAI".into();
                    if rest.contains(&"max-sdu") {
                        let mut sizes: Vec<i64> = list("max-sdu", classes).into_iter().map(number).collect();
                        sizes.resize(16, 0);
                        options["max-sdu"] = json!(sizes);
                    }
                }
                options
            }
            "cbs" => json!({"idleslope": number(after(rest, "idleslope").unwrap()), "offload": 0}),
            "etf" => json!({"clockid": "TAI", "delta": 200_000, "offload": "off"}),
            _ => json!({"limit": number(after(rest, "limit").unwrap())}),
        };
        found.push(own);
    }
    // What Linux has by itself.
    for number in node.ports.clone() {
        let port = &network.ports[number as usize];
        if port.links.is_some() && found.iter().all(|own: &Value| own["dev"] != port.name.as_str()) {
            found.push(json!({"kind": "pfifo", "handle": "0:", "dev": port.name, "root": true, "options": {"limit": 1000}}));
        }
    }
    found.into()
}

/// Nodes by LLDP with what `tc` shows of them give a network with the same commands.
#[test]
fn what_tc_shows_gives_the_same_commands_again() {
    let (mut compared, mut gated, mut shaped, mut limited) = (0, 0, 0, 0);
    for (name, own) in networks(3) {
        // What its neighbours say of a rate is whole Mbit/s.
        if own.links.is_empty() || own.links.iter().any(|link| link.rate.as_bps() % 1_000_000 != 0) {
            continue;
        }
        let text = written("tc", &own).text;
        let mut inputs = Vec::new();
        for (number, node) in own.nodes.iter().enumerate() {
            let is_joined = node.ports.clone().any(|port| own.ports[port as usize].links.is_some());
            // An interface of another name than its port would have two names here.
            let is_named = node.ports.clone().all(|port| own.ports[port as usize].interface.is_none());
            if is_joined && is_named {
                inputs.push((node.name.as_str(), shown(&text, &own, node)));
                inputs.push((node.name.as_str(), crate::lldp::told(&own, number, true, true)));
            }
        }
        let found = imported(&inputs).unwrap_or_else(|why| panic!("{name}: {why}"));
        let loaded = tautwire_workbench::load_text("net.yaml", &found.text);
        let back =
            loaded.network.unwrap_or_else(|| panic!("{name}: {:?}\n{}", loaded.diagnostics, found.text));
        let again = written("tc", &back).text;
        for (node, _) in inputs.iter().step_by(2) {
            let of = |text: &str| -> Vec<String> {
                let lines = commands(text, node)
                    .into_iter()
                    .filter(|words| words[1] == "qdisc" && words.contains(&"handle"));
                // Credits depend on streams, launch times are those of streams.
                let lines = lines.filter(|words| !words.contains(&"etf")).map(|words| {
                    let end = words.iter().position(|word| *word == "sendslope").unwrap_or(words.len());
                    words[..end].join(" ")
                });
                lines.collect()
            };
            let (first, second) = (of(&text), of(&again));
            assert_eq!(first, second, "{name}: {node}\n{}", found.text);
            compared += first.len();
            gated += first.iter().filter(|line| line.contains("taprio")).count();
            shaped += first.iter().filter(|line| line.contains("cbs")).count();
            limited += first.iter().filter(|line| line.contains("limit")).count();
        }
    }
    assert!(
        compared > 300 && gated > 50 && shaped > 20 && limited > 10,
        "{compared} {gated} {shaped} {limited}"
    );
}

#[test]
fn disciplines_are_read_as_a_node_shows_them() {
    let bridge = json!([
        {"kind": "noqueue", "handle": "0:", "dev": "lo", "root": true, "options": {}},
        {"kind": "taprio", "handle": "100:", "dev": "swp0", "root": true, "options": {
            "tc": 2, "map": [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
            "queues": [{"offset": 0, "count": 2}, {"offset": 2, "count": 1}], "clockid": "TAI", "flags": "0x2",
            "base_time": 1_700_000_000_000_000_123_u64, "cycle_time": 1_000_000, "cycle_time_extension": 0,
            "schedule": [{"index": 0, "cmd": "S", "gatemask": "0x2", "interval": 250_000},
                         {"index": 1, "cmd": "S", "gatemask": "0x1", "interval": 750_000}],
            "max-sdu": [0, 504], "fp": ["E", "P"]}},
        {"kind": "pfifo", "handle": "0:", "dev": "swp0", "parent": "100:1", "options": {"limit": 1000}},
        {"kind": "cbs", "handle": "201:", "dev": "swp0", "parent": "100:3",
         "options": {"hicredit": 1, "locredit": -1, "sendslope": -1, "idleslope": 20_000, "offload": 1}},
        {"kind": "pfifo", "handle": "301:", "dev": "swp0", "parent": "201:1", "options": {"limit": 7}},
        {"kind": "clsact", "handle": "ffff:", "dev": "swp0", "parent": "ffff:fff1", "options": {}},
        {"kind": "pfifo_fast", "handle": "0:", "dev": "swp1", "root": true,
         "options": {"bands": 3, "priomap": [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1], "multiqueue": false}},
        {"kind": "prio", "handle": "1:", "dev": "swp2", "root": true,
         "options": {"bands": 3, "priomap": [2, 2, 2, 2, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1], "multiqueue": false}},
        {"kind": "bfifo", "handle": "2:", "dev": "swp2", "parent": "1:1", "options": {"limit": 3000}},
        {"kind": "fq_codel", "handle": "0:", "dev": "eth0", "root": true, "options": {}},
    ]);
    let found = imported(&[("bridge", bridge)]).unwrap();
    insta::assert_snapshot!("shown", format!("{}\n{}\n", found.text, found.left_out.join("\n")));
    let back = network(&found.text);
    assert_eq!(back.ports.len(), 4);
    // Several faults at once.
    let wrong = json!([
        {"kind": "taprio", "handle": "1:", "dev": "a", "root": true, "options": {"tc": 9}},
        {"kind": "mqprio", "handle": "1:", "dev": "b", "root": true, "options": {"tc": 2, "map": [0, 2]}},
        {"kind": "cbs", "handle": "1:", "dev": "c", "root": true, "options": {}},
        {"dev": "d"},
    ]);
    assert_eq!(
        imported(&[("n", wrong), ("m", json!({}))]).unwrap_err(),
        "m: it is no list of `tc -j qdisc show`, and nothing of `lldpctl -f json0`
n: entry 4: a discipline has `kind` and `dev`
n.a: `tc` of taprio: there are 1 to 8 classes
n.b: `map` of mqprio: the classes below 2 of 16 priorities
n.c: cbs without `idleslope`, a whole number"
    );
}
