//! The description of a network of INET.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

use tautwire_units::{BitRate, Duration};

use super::read::{Filters, Found, Gate, Interval, Meter, Node, Port, Source};
use super::{CLASSES, HEADERS};
use crate::{Converted, quoted, valid};

/// MAC client data of the largest frame.
const MTU: u64 = 1_500;

/// Octets of a frame around its payload: with a tag, without one; and of the line around a frame.
const TAGGED: u64 = 22;
const UNTAGGED: u64 = 18;
const LINE: u64 = 20;

/// Longest cycle of a list of gates, picoseconds.
const CYCLE_MAX: u64 = 1_000_000_000_000_000;

/// Most entries of a list of gates.
const ENTRIES: usize = 100_000;

pub(super) fn describe(found: &Found, converted: &mut Converted) -> Result<(), String> {
    let names = names(found);
    let streams = streams(found, &names, converted)?;
    let mut text = format!(
        "# The network {} of INET. Cables and bridges have its delays; priorities are classes as its ports have them.\n",
        found.name.escape_default()
    );
    let _ = writeln!(text, "name: {}", quoted(&valid(&found.name)));
    text.push_str("network-control: none\nallow: [port::overload, class::overload]\n");
    if let Some(duration) = found.duration {
        let _ = writeln!(text, "run: {{duration: {}}}", Duration::from_ps(duration));
    }
    vlans(found, &mut text, converted);
    devices(found, &mut text, converted);
    text.push_str("nodes:\n");
    for node in &found.nodes {
        describe_node(found, node, &mut text, converted)?;
    }
    text.push_str(if found.cables.is_empty() { "links: []\n" } else { "links:\n" });
    for cable in &found.cables {
        let [from, to] =
            cable.ends.map(|(node, port)| quoted(&format!("{}:eth{port}", valid(&found.nodes[node].name))));
        if !(10_000_000..=100_000_000_000).contains(&cable.rate) {
            return Err(format!(
                "{from}: a rate of {}: lines have 10 Mbit/s to 100 Gbit/s",
                BitRate::from_bps(cable.rate)
            ));
        }
        let _ = write!(text, "  - {{between: [{from}, {to}], rate: {}", BitRate::from_bps(cable.rate));
        if cable.delay > 0 {
            let _ = write!(text, ", propagation-delay: {}", Duration::from_ps(cable.delay));
        }
        text.push_str("}\n");
    }
    if !streams.is_empty() {
        text.push_str("streams:\n");
        text.push_str(&streams);
    }
    converted.text = text;
    Ok(())
}

/// Names of streams, each once: that which is shown, with the talker before it or a number behind it if others have it.
fn names(found: &Found) -> Vec<String> {
    let count = |names: &[String], name: &str| names.iter().filter(|own| *own == name).count();
    let shown: Vec<String> = found.sources.iter().map(|source| valid(&source.name)).collect();
    let of_talker: Vec<String> = found
        .sources
        .iter()
        .zip(&shown)
        .map(|(source, name)| match count(&shown, name) {
            1 => name.clone(),
            _ => format!("{}-{name}", valid(&found.nodes[source.talker].name)),
        })
        .collect();
    let mut known = BTreeSet::new();
    of_talker
        .iter()
        .map(|name| {
            let mut own = name.clone();
            let mut number = 1;
            while !known.insert(own.clone()) {
                number += 1;
                own = format!("{name}-{number}");
            }
            own
        })
        .collect()
}

/// Whether frames without tags are in a VLAN of their own: they stay without tags, and those with tags keep them.
fn is_mixed(found: &Found) -> bool {
    let tagged = found.sources.iter().filter(|source| source.priority.is_some()).count();
    tagged > 0 && tagged < found.sources.len()
}

fn vlans(found: &Found, text: &mut String, converted: &mut Converted) {
    let is_tagged = found.sources.iter().any(|source| source.priority.is_some());
    let switches = || found.nodes.iter().filter(|node| node.is_switch);
    let keep: Vec<String> =
        switches().filter(|node| !node.untags).map(|node| quoted(&valid(&node.name))).collect();
    if !is_tagged || (keep.is_empty() && !is_mixed(found)) {
        return;
    }
    if !keep.is_empty() && switches().any(|node| node.untags) && found.nodes.len() > 2 {
        converted.lacks(
            "switches that take tags off before others that keep them: behind the former the class is that of untagged frames",
        );
    }
    let vlan = if is_mixed(found) { 2 } else { 1 };
    let members = if switches().all(|node| !node.untags) {
        "tagged: all".to_owned()
    } else {
        let drop: Vec<String> =
            switches().filter(|node| node.untags).map(|node| quoted(&valid(&node.name))).collect();
        format!("tagged: [{}], untagged: [{}]", keep.join(", "), drop.join(", "))
    };
    let first = if is_mixed(found) { "1: {}, " } else { "" };
    let _ = writeln!(text, "vlans: {{{first}{vlan}: {{{members}}}}}");
}

/// The name of the device model of a switch; none without a delay.
fn device(node: &Node) -> Option<String> {
    (node.is_switch && node.delay != (0, 0)).then(|| format!("delay-{}-{}", node.delay.0, node.delay.1))
}

fn devices(found: &Found, text: &mut String, converted: &mut Converted) {
    let models: BTreeMap<String, (u64, u64)> =
        found.nodes.iter().filter_map(|node| device(node).map(|name| (name, node.delay))).collect();
    if !models.is_empty() {
        text.push_str("devices:\n");
    }
    for (name, (least, most)) in &models {
        let latency = if least == most {
            Duration::from_ps(*most).to_string()
        } else {
            converted
                .lacks("delays of switches that vary: INET lets frames overtake each other, bridges do not");
            format!("{{min: {}, max: {}}}", Duration::from_ps(*least), Duration::from_ps(*most))
        };
        let _ = writeln!(
            text,
            "  {}: {{stages: [{{name: delayer, position: processing, latency: {latency}}}]}}",
            quoted(name)
        );
    }
}

fn describe_node(
    found: &Found,
    node: &Node,
    text: &mut String,
    converted: &mut Converted,
) -> Result<(), String> {
    let kind = if node.is_switch { "bridge" } else { "end-station" };
    let _ = writeln!(text, "  {}:\n    type: {kind}", quoted(&valid(&node.name)));
    if node.is_switch {
        text.push_str("    learning: off\n");
        if let Some(name) = device(node) {
            let _ = writeln!(text, "    device: {}", quoted(&name));
        }
        let number = found.nodes.iter().position(|own| own.name == node.name).expect("it is one of them");
        let residences: BTreeSet<Option<u64>> =
            found.ingress[number].meters.values().map(|meter| meter.residence).collect();
        match residences.iter().collect::<Vec<_>>()[..] {
            [] | [None] => {}
            [Some(time)] => {
                let _ = writeln!(text, "    max-residence-time: {}", Duration::from_ps(*time));
            }
            _ => converted.lacks(format!("node {}: meters with different `maxResidenceTime`", node.name)),
        }
    }
    text.push_str(if node.ports.is_empty() { "    ports: {}\n" } else { "    ports:\n" });
    for (number, port) in node.ports.iter().enumerate() {
        let place = format!("{}.eth[{number}]", node.name);
        let settings = port_settings(port, node.is_switch, &place, converted)?;
        let _ = writeln!(text, "      eth{number}: {{{}}}", settings.join(", "));
    }
    Ok(())
}

fn port_settings(
    port: &Port,
    is_switch: bool,
    place: &str,
    converted: &mut Converted,
) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    if port.table != CLASSES.map(|row| row[7]) {
        let table = port.table.map(|class| class.to_string());
        found.push(format!("traffic-class-table: [{}]", table.join(", ")));
    }
    if port.table[0] != port.untagged {
        found.push(format!("untagged-class: {}", port.untagged));
    }
    let mut classes = Vec::new();
    for (class, own) in &port.classes {
        let mut keys = Vec::new();
        if let Some(slope) = own.idle_slope {
            keys.push(format!(
                "transmission-selection: credit-based, idle-slope: {}",
                BitRate::from_bps(slope)
            ));
        }
        // A talker shapes by its streams.
        if own.is_ats && is_switch {
            keys.push("transmission-selection: ats".to_owned());
        }
        match own.limit {
            Some((frames, is_oldest)) => {
                let discard = if is_oldest { ", discard: oldest" } else { "" };
                keys.push(format!("queue-limit: {{frames: {}{discard}}}", frames.max(1)));
            }
            None => converted.lacks("queues without a limit: those of 1024 frames and 2 MiB are written"),
        }
        if !keys.is_empty() {
            classes.push(format!("{class}: {{{}}}", keys.join(", ")));
        }
    }
    if !classes.is_empty() {
        found.push(format!("classes: {{{}}}", classes.join(", ")));
    }
    if !port.gates.is_empty() {
        let mut keys = vec!["gate-enabled: true".to_owned()];
        if !port.guard {
            keys.push("guard: none".to_owned());
        }
        if port.classes.values().any(|class| class.idle_slope.is_some()) {
            keys.push("idle-slope-is: while-open, credit-in-guard-band: frozen".to_owned());
        }
        let entries: Vec<String> = entries(&port.gates, place)?
            .iter()
            .map(|(states, time)| {
                format!("{{gate-states: {states}, time-interval: {}}}", Duration::from_ps(*time))
            })
            .collect();
        keys.push(format!("admin-control-list: [{}]", entries.join(", ")));
        found.push(format!("gate-parameter-table: {{{}}}", keys.join(", ")));
    }
    Ok(found)
}

/// The entries of a list: the states of all gates, and how long. Gates that are not there are open.
fn entries(gates: &BTreeMap<u64, Gate>, place: &str) -> Result<Vec<(u8, u64)>, String> {
    let mut cycle = 1_u64;
    for gate in gates.values().filter(|gate| !gate.durations.is_empty()) {
        let own: u64 =
            gate.durations.iter().try_fold(0_u64, |sum, one| sum.checked_add(*one)).unwrap_or(u64::MAX);
        cycle = least_common(cycle, own).filter(|cycle| *cycle <= CYCLE_MAX).ok_or_else(|| {
            format!("{place}: the common cycle of its gates is longer than {}", Duration::from_ps(CYCLE_MAX))
        })?;
    }
    // Gates that never change have any cycle.
    let cycle = if cycle == 1 { 1_000_000_000 } else { cycle };
    // When gates change, and to what.
    let mut changes: BTreeMap<u64, Vec<(u64, bool)>> = BTreeMap::from([(0, Vec::new())]);
    for (class, gate) in gates {
        let own: u64 = gate.durations.iter().sum();
        let mut at = if own == 0 { 0 } else { gate.offset % own };
        let mut is_open = gate.is_open;
        let mut number = 0;
        while number < gate.durations.len() && at >= gate.durations[number] {
            at -= gate.durations[number];
            number += 1;
            is_open = !is_open;
        }
        changes.entry(0).or_default().push((*class, is_open));
        let mut time = 0;
        while let Some(duration) = gate.durations.get(number) {
            time += duration - at;
            at = 0;
            if time >= cycle {
                break;
            }
            number = (number + 1) % gate.durations.len();
            is_open = !is_open;
            changes.entry(time).or_default().push((*class, is_open));
            if changes.len() > ENTRIES {
                return Err(format!(
                    "{place}: the common cycle of its gates has more than {ENTRIES} entries"
                ));
            }
        }
    }
    let mut states = u8::MAX;
    let times: Vec<u64> = changes.keys().copied().chain([cycle]).collect();
    let mut found = Vec::new();
    for (number, changes) in changes.values().enumerate() {
        for (class, is_open) in changes {
            states = if *is_open { states | 1 << class } else { states & !(1 << class) };
        }
        found.push((states, times[number + 1] - times[number]));
    }
    Ok(found)
}

fn least_common(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    (a / x).checked_mul(b)
}

fn streams(found: &Found, names: &[String], converted: &mut Converted) -> Result<String, String> {
    let shapers = shapers(found, names, converted)?;
    let mut text = String::new();
    for ((source, name), shaper) in found.sources.iter().zip(names).zip(shapers) {
        let node = |number: usize| quoted(&valid(&found.nodes[number].name));
        let _ = write!(
            text,
            "  - {{name: {}, talker: {}, listeners: [{}], ",
            quoted(name),
            node(source.talker),
            source.listeners.iter().copied().map(node).collect::<Vec<_>>().join(", ")
        );
        match source.priority {
            Some(0) if !is_mixed(found) => {}
            Some(priority) if is_mixed(found) => {
                let _ = write!(text, "priority: {priority}, vlan: 2, ");
            }
            Some(priority) => {
                let _ = write!(text, "priority: {priority}, ");
            }
            None => text.push_str("tagged: false, "),
        }
        if source.octets + HEADERS > MTU {
            let _ = write!(text, "datagram: {} B, ", source.octets);
        } else if matches!(source.interval, Interval::Trace(_)) {
        } else if source.least != source.octets {
            let _ = write!(
                text,
                "payload: {{min: {} B, max: {} B}}, ",
                source.least + HEADERS,
                source.octets + HEADERS
            );
        } else {
            let _ = write!(text, "payload: {} B, ", source.octets + HEADERS);
        }
        match &source.interval {
            Interval::Constant(time) => {
                let _ = write!(text, "traffic: {{type: periodic, interval: {}", Duration::from_ps(*time));
                if source.offset > 0 {
                    let _ = write!(text, ", offset: {}", Duration::from_ps(source.offset));
                }
                if source.burst > 1 {
                    let _ = write!(text, ", burst: {}", source.burst);
                }
                text.push_str(if source.is_phase_drawn { ", phase: random}" } else { "}" });
            }
            Interval::Exponential(mean) => {
                let _ =
                    write!(text, "traffic: {{type: poisson, mean-interval: {}}}", Duration::from_ps(*mean));
                if source.offset > 0 {
                    converted
                        .lacks(format!("{}: the offset of {name}, whose intervals are drawn", source.place));
                }
            }
            Interval::Trace(frames) => {
                let file = file(name, converted);
                let _ = write!(text, "traffic: {{type: replay, file: {}}}", quoted(&file));
                let mut trace = "time,payload\n".to_owned();
                for (time, octets) in frames {
                    let _ = writeln!(trace, "{time} ps,{} B", octets + HEADERS);
                }
                converted.files.push((file, trace));
            }
        }
        text.push_str(&shaper);
        text.push_str("}\n");
    }
    Ok(text)
}

/// A name for the file of a stream that no other file has.
fn file(name: &str, converted: &Converted) -> String {
    let own: String = name.chars().map(|letter| if letter == '/' { '-' } else { letter }).collect();
    let own = own.trim_start_matches('.').to_owned();
    let numbered = (2..).map(|number| format!("{own}-{number}.csv"));
    let mut names = std::iter::once(format!("{own}.csv")).chain(numbered);
    let is_free = |name: &String| converted.files.iter().all(|(own, _)| !own.eq_ignore_ascii_case(name));
    names.find(is_free).expect("numbers do not end")
}

/// A meter of a stream, and the node whose it is.
struct Metered<'f> {
    node: usize,
    number: u64,
    meter: &'f Meter,
}

/// The shaper of each stream, as its keys.
fn shapers(found: &Found, names: &[String], converted: &mut Converted) -> Result<Vec<String>, String> {
    let metered: Vec<(Option<Metered<'_>>, Vec<Metered<'_>>)> =
        found.sources.iter().map(|source| meters(found, source)).collect();
    let mut shared: BTreeMap<(usize, u64), usize> = BTreeMap::new();
    for one in metered.iter().flat_map(|(_, ways)| ways) {
        *shared.entry((one.node, one.number)).or_default() += 1;
    }
    let mut texts = Vec::new();
    for ((source, name), (own, ways)) in found.sources.iter().zip(names).zip(&metered) {
        let is_own = |one: &&Metered<'_>| shared[&(one.node, one.number)] == 1;
        let Some(chosen) = own.as_ref().or_else(|| ways.iter().find(is_own)) else {
            if let Some(one) = ways.first() {
                return Err(format!(
                    "{}: a meter for {} streams, none of which has one of its own: bridges have a scheduler for each stream",
                    one.meter.place,
                    shared[&(one.node, one.number)]
                ));
            }
            texts.push(String::new());
            continue;
        };
        for one in ways {
            let of = &found.nodes[one.node].name;
            if shared[&(one.node, one.number)] > 1 {
                converted.lacks(format!(
                    "{}: meter {} of {of} is one for {} streams; each has a scheduler with the rate and burst of its talker's",
                    one.meter.place, one.number, shared[&(one.node, one.number)]
                ));
            } else if (one.meter.rate, one.meter.burst, one.meter.overhead)
                != (chosen.meter.rate, chosen.meter.burst, chosen.meter.overhead)
            {
                converted.lacks(format!(
                    "{}: meter {} of {of} differs from the one of {name} that comes first; that one is written",
                    one.meter.place, one.number
                ));
            }
        }
        texts.push(shaper(source, name, chosen, own.is_some(), converted)?);
    }
    Ok(texts)
}

fn shaper(
    source: &Source,
    name: &str,
    chosen: &Metered<'_>,
    is_talkers: bool,
    converted: &mut Converted,
) -> Result<String, String> {
    let meter = chosen.meter;
    let payload = source.octets + HEADERS;
    let around = if source.priority.is_some() { TAGGED } else { UNTAGGED };
    // What a scheduler counts, and what the meter does.
    let (here, there) = (8 * ((payload + around).max(64) + LINE), 8 * payload + meter.overhead);
    if here != there {
        converted.lacks(format!(
            "{}: the meter of {name} counts {there} bits a frame, a scheduler {here}: rate and burst are converted",
            meter.place
        ));
    }
    let scaled = |number: super::value::Number, what: &str| {
        number
            .scaled_ceil(here, there)
            .filter(|found| *found > 0)
            .ok_or_else(|| format!("{}: a {what} out of range", meter.place))
    };
    let (rate, burst) = (scaled(meter.rate, "rate")?, scaled(meter.burst, "burst")?);
    if let Interval::Constant(interval) = source.interval
        && u128::from(rate) * u128::from(interval)
            <= u128::from(here) * u128::from(source.burst) * 1_000_000_000_000
    {
        converted.lacks(format!(
            "{}: the rate of {name} is no more than its traffic has; with clocks that deviate there is no bound",
            meter.place
        ));
    }
    let at_talker = if is_talkers { ", shape-at-talker: true" } else { "" };
    Ok(format!(
        ", shaper: {{committed-information-rate: {}, committed-burst-size: {burst} bit{at_talker}}}",
        BitRate::from_bps(rate)
    ))
}

/// The meter of a stream at its talker, and those of the switches on its way in order.
fn meters<'f>(found: &'f Found, source: &Source) -> (Option<Metered<'f>>, Vec<Metered<'f>>) {
    let metered = |filters: &'f Filters, node: usize, stream: &str| {
        let number = *filters.streams.get(stream)?;
        filters.meters.get(&number).map(|meter| Metered { node, number, meter })
    };
    let own = source
        .stream
        .as_deref()
        .and_then(|stream| metered(&found.egress[source.talker], source.talker, stream));
    let mut ways = Vec::new();
    for node in way(found, source) {
        let filters = &found.ingress[node];
        let name = |number: usize| found.nodes[number].name.as_str();
        let decoded = filters.decoder.iter().find(|one| {
            one.priority.is_none_or(|priority| source.priority == Some(priority))
                && one.source.as_deref().is_none_or(|node| node == name(source.talker))
                && one.destination.as_deref().is_none_or(|node| is_destination(source, node, &name))
        });
        ways.extend(decoded.and_then(|one| metered(filters, node, &one.stream)));
    }
    (own, ways)
}

/// Whether a stream's frames go to an address as a decoder has it: a node's name, or a group's MAC address.
fn is_destination<'f>(source: &Source, address: &str, name: &impl Fn(usize) -> &'f str) -> bool {
    match source.group {
        Some(group) => address.replace(':', "-").eq_ignore_ascii_case(&super::group_address(group)),
        None => source.listeners.iter().any(|number| address == name(*number)),
    }
}

/// The switches on the shortest ways of a stream, in order, each once.
fn way(found: &Found, source: &Source) -> Vec<usize> {
    let mut before: BTreeMap<usize, usize> = BTreeMap::from([(source.talker, source.talker)]);
    let mut next = VecDeque::from([source.talker]);
    while let Some(node) = next.pop_front() {
        if node != source.talker && !found.nodes[node].is_switch {
            continue;
        }
        for cable in &found.cables {
            for [from, to] in [[0, 1], [1, 0]] {
                let (from, to) = (cable.ends[from].0, cable.ends[to].0);
                if from == node && !before.contains_key(&to) {
                    before.insert(to, node);
                    next.push_back(to);
                }
            }
        }
    }
    let mut nodes = Vec::new();
    for listener in &source.listeners {
        let (mut own, mut at) = (Vec::new(), *listener);
        while let Some(node) = before.get(&at).copied().filter(|node| *node != at) {
            if node != source.talker && !nodes.contains(&node) {
                own.push(node);
            }
            at = node;
        }
        nodes.extend(own.into_iter().rev());
    }
    nodes
}
