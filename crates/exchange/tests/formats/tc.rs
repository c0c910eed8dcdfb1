//! `tc`: the commands, read back, hold what the network has; and what they do not hold is named.

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
