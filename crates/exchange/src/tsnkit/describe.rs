//! The description of what tables of tsnkit say.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use tautwire_units::{BitRate, Duration};

use super::read::{Direction, Instance, Planned, Task};
use super::{OVERHEAD, gap};
use crate::{Converted, quoted};

/// What a frame takes of the line at least.
const LEAST: u64 = 64 + OVERHEAD;

/// MAC client data of the largest frame that ports take unless they say otherwise, and what a tagged frame has in addition.
const MTU: u64 = 1_500;
const TAGGED: u64 = 22;

/// The step of all times in tsnkit, to which a schedule for it must keep.
const TICK: &str = "gate-parameter-table: {tick-granularity: 100 ns}";

/// The class of streams that are not scheduled yet.
const UNPLANNED: u8 = 7;

/// A stream of the description: a task, or its frames with one number in turn.
struct Sent<'i> {
    task: &'i Task,
    name: String,
    /// Picoseconds.
    interval: u64,
    offset: Option<u64>,
    priority: u8,
    route: &'i [Direction],
}

/// Bridges that take equally long, or stations.
struct Models {
    /// `switch` or `station`.
    word: &'static str,
    /// Picoseconds.
    times: Vec<u64>,
}

impl Models {
    fn name(&mut self, time: u64) -> String {
        let at = self.times.iter().position(|known| *known == time).unwrap_or_else(|| {
            self.times.push(time);
            self.times.len() - 1
        });
        if at == 0 { self.word.to_owned() } else { format!("{}-{}", self.word, at + 1) }
    }
}

/// Classes of the priorities at each port, as far as streams need them.
type Tables = BTreeMap<Direction, [Option<u8>; 8]>;

pub(super) fn describe(instance: &Instance, found: &mut Converted) -> Result<(), String> {
    let mut tables = Tables::new();
    let streams = streams(instance, &mut tables, found)?;
    let names = names(instance)?;
    let (mut switches, mut stations) =
        (Models { word: "switch", times: Vec::new() }, Models { word: "station", times: Vec::new() });
    let mut nodes = String::new();
    // How long each bridge takes.
    let mut latencies = BTreeMap::new();
    for (node, name) in &names {
        let into = || instance.links.iter().filter(|(ends, _)| ends.1 == *node);
        let is_station = instance.neighbours(*node).len() == 1;
        let (kind, key, model, first) = if is_station {
            let receive = into().map(|(_, link)| link.processing).min().unwrap_or(0);
            ("end-station", "host", stations.name(receive), stations.word)
        } else {
            let latency = into().map(|(_, link)| link.processing + gap(link.rate)).min().unwrap_or(0);
            latencies.insert(*node, latency);
            ("bridge", "device", switches.name(latency), switches.word)
        };
        let _ = write!(nodes, "  {}:\n    type: {kind}\n", quoted(name));
        if model != first {
            let _ = writeln!(nodes, "    {key}: {model}");
        }
        // A node that lists ports has no others.
        let links = instance.links.range((*node, 0)..=(*node, u64::MAX));
        let ports: Vec<(u64, String)> = links
            .map(|((_, to), link)| (*to, port((*node, *to), instance, &tables, gap(link.rate))))
            .collect();
        if ports.iter().all(|(_, settings)| settings.is_empty()) {
            continue;
        }
        nodes.push_str("    ports:\n");
        let settings = |node| ports.iter().find(|(to, _)| *to == node).map_or("", |(_, settings)| settings);
        for to in instance.neighbours(*node) {
            let name = quoted(&names[&to]);
            match settings(to) {
                "" => writeln!(nodes, "      {name}: {{}}"),
                settings => write!(nodes, "      {name}:\n{settings}"),
            }
            .expect("a text takes what is written");
        }
    }
    let text = &mut found.text;
    text.push_str("# Tables of tsnkit. A frame takes `size` octets of the line: preamble and gap are 20 of them.\nnetwork-control: none\n");
    text.push_str("allow: [stream::deadline, gates::window, port::overload]\nvlans: {1: {tagged: all}}\n");
    let mut defaults = vec!["traffic-class-table: identity".to_owned()];
    if instance.planned.is_empty() {
        defaults.push(TICK.to_owned());
    }
    let largest = streams.iter().map(|stream| octets(stream.task) - TAGGED).max().unwrap_or(0);
    if largest > MTU {
        defaults.push(format!("mtu: {largest} B"));
    }
    if !switches.times.is_empty() {
        defaults.push("device: switch".to_owned());
        text.push_str("devices:\n");
        for latency in switches.times.clone() {
            let _ = writeln!(
                text,
                "  {}: {{stages: [{{name: forwarding, position: processing, latency: {}}}]}}",
                switches.name(latency),
                Duration::from_ps(latency)
            );
        }
    }
    if !stations.times.is_empty() {
        defaults.push("host: station".to_owned());
        text.push_str("hosts:\n");
        for receive in stations.times.clone() {
            let _ =
                writeln!(text, "  {}: {{receive: {}}}", stations.name(receive), Duration::from_ps(receive));
        }
    }
    let _ = writeln!(text, "defaults: {{{}}}", defaults.join(", "));
    text.push_str(if nodes.is_empty() { "nodes: {}\n" } else { "nodes:\n" });
    text.push_str(&nodes);
    links(instance, &names, &latencies, found);
    if !streams.is_empty() {
        found.text.push_str("streams:\n");
    }
    for stream in &streams {
        describe_stream(stream, &names, &mut found.text);
    }
    Ok(())
}

/// Octets from the destination address to the FCS of the frame that takes so much of the line.
fn octets(task: &Task) -> u64 {
    task.size.max(LEAST) - OVERHEAD
}

/// The names of all nodes.
fn names(instance: &Instance) -> Result<BTreeMap<u64, String>, String> {
    let numbers: BTreeSet<u64> = instance.links.keys().flat_map(|ends| [ends.0, ends.1]).collect();
    let name = |number: u64| {
        let kind = if instance.neighbours(number).len() == 1 { "station" } else { "switch" };
        instance.names[0].get(&number).cloned().unwrap_or_else(|| format!("{kind}-{number}"))
    };
    let names: BTreeMap<u64, String> = numbers.into_iter().map(|number| (number, name(number))).collect();
    let distinct: BTreeSet<&String> = names.values().collect();
    if distinct.len() < names.len() {
        return Err(
            "two nodes have one name: the table of names gives one that another node has by its number"
                .to_owned(),
        );
    }
    Ok(names)
}

/// The streams: a task whose frames differ is one for each of them.
fn streams<'i>(
    instance: &'i Instance,
    tables: &mut Tables,
    found: &mut Converted,
) -> Result<Vec<Sent<'i>>, String> {
    let mut streams: Vec<Sent<'i>> = Vec::new();
    for (number, task) in instance.tasks.iter().enumerate() {
        let name =
            instance.names[1].get(&task.number).cloned().unwrap_or_else(|| format!("stream-{}", task.number));
        remarks(task, found);
        let Some(Planned { route, frames }) = instance.planned.get(number) else {
            streams.push(Sent {
                task,
                name,
                interval: task.period,
                offset: None,
                priority: UNPLANNED,
                route: &[],
            });
            continue;
        };
        let alike = frames.iter().all(|frame| *frame == frames[0]);
        let count = if alike { 1 } else { frames.len() };
        if count > 1 {
            found.lacks(format!(
                "stream {}: its {count} frames have different offsets or queues; they are {count} streams",
                task.number
            ));
        }
        let interval = task.period.checked_mul(count as u64).filter(|interval| *interval <= super::DAY);
        let interval = interval
            .ok_or_else(|| format!("stream {}: all its frames together take more than a day", task.number))?;
        for (frame, (offset, queues)) in frames[..count].iter().enumerate() {
            let priority = priority(route, queues, tables).ok_or_else(|| {
                format!("stream {}: no priority of eight leads to its queues at all ports", task.number)
            })?;
            let name = if count == 1 { name.clone() } else { format!("{name}-frame-{frame}") };
            let offset = offset + frame as u64 * task.period;
            if offset > super::DAY {
                return Err(format!("stream {}: an offset of more than a day", task.number));
            }
            streams.push(Sent { task, name, interval, offset: Some(offset), priority, route });
        }
    }
    let mut names = BTreeSet::new();
    if let Some(twice) = streams.iter().find(|stream| !names.insert(&stream.name)) {
        return Err(format!("two streams have the name `{}`", twice.name));
    }
    Ok(streams)
}

/// What a description does not say of a task.
fn remarks(task: &Task, found: &mut Converted) {
    let stream = task.number;
    if task.size < LEAST {
        found.lacks(format!(
            "stream {stream}: its {} octets; the shortest frame takes {LEAST} of the line",
            task.size
        ));
    }
    if task.deadline == 0 {
        found.lacks(format!("stream {stream}: its deadline of 0"));
    }
    // Delays within the deadline differ by no more than that.
    if task.jitter < task.deadline {
        found.lacks(format!("stream {stream}: its delays may differ by {}", Duration::from_ps(task.jitter)));
    }
}

/// The priority of a stream with these queues on its route: that of its first queue, or the first that other streams do not need for others.
fn priority(route: &[Direction], queues: &[u8], tables: &mut Tables) -> Option<u8> {
    let first = queues.first().copied().unwrap_or(0);
    let fits = |priority: &u8, tables: &Tables| {
        route.iter().zip(queues).all(|(link, queue)| {
            let class = tables.get(link).and_then(|table| table[usize::from(*priority)]);
            class.is_none_or(|class| class == *queue)
        })
    };
    let found = std::iter::once(first).chain(0..8).find(|priority| fits(priority, tables))?;
    for (link, queue) in route.iter().zip(queues) {
        tables.entry(*link).or_default()[usize::from(found)] = Some(*queue);
    }
    Some(found)
}

/// What a port states: classes and gates.
fn port(at: Direction, instance: &Instance, tables: &Tables, gap: u64) -> String {
    let mut text = String::new();
    if let Some(table) = tables.get(&at) {
        let classes: Vec<u8> =
            (0..8_u8).map(|priority| table[usize::from(priority)].unwrap_or(priority)).collect();
        if !classes.iter().copied().eq(0..8) {
            let _ = writeln!(text, "        traffic-class-table: {classes:?}");
        }
    }
    let Some(windows) = instance.windows.get(&at).filter(|windows| !windows.are_open()) else { return text };
    let cycle = Duration::from_ps(windows.cycle);
    let _ = write!(
        text,
        "        gate-parameter-table:\n          gate-enabled: true\n          admin-base-time: 0 s\n          admin-cycle-time: {cycle}\n          admin-control-list:\n"
    );
    for (states, interval) in windows.list(gap) {
        let open: Vec<u8> = (0..8).filter(|queue| states & (1 << queue) != 0).collect();
        let interval = Duration::from_ps(interval);
        let _ = writeln!(text, "            - {{gate-states: {open:?}, time-interval: {interval}}}");
    }
    text
}

/// The cables. What frames of one direction take longer in a bridge than those of others is a delay of the cable.
fn links(
    instance: &Instance,
    names: &BTreeMap<u64, String>,
    latencies: &BTreeMap<u64, u64>,
    found: &mut Converted,
) {
    found.text.push_str(if instance.links.is_empty() { "links: []\n" } else { "links:\n" });
    for ((from, to), link) in &instance.links {
        let back = instance.links.get(&(*to, *from));
        if back.is_some() && from > to {
            continue;
        }
        if let Some(back) = back.filter(|back| back.rate != link.rate) {
            found.lacks(format!(
                "link ({to}, {from}): its rate of {}; that of ({from}, {to}) is written for both",
                BitRate::from_bps(back.rate)
            ));
        }
        let longer = |node: &u64, link: &super::read::Link| {
            latencies.get(node).map_or(0, |latency| link.processing + gap(link.rate) - latency)
        };
        let _ = write!(
            found.text,
            "  - {{between: [{}, {}], rate: {}",
            quoted(&format!("{}:{}", names[from], names[to])),
            quoted(&format!("{}:{}", names[to], names[from])),
            BitRate::from_bps(link.rate)
        );
        let ways = [("forward", Some((to, link))), ("backward", back.map(|back| (from, back)))];
        for (word, way) in ways.into_iter().filter_map(|(word, way)| Some((word, way?))) {
            let (node, link) = way;
            let mut keys = Vec::new();
            for (key, time) in [("propagation-delay", link.propagation), ("phy-delay", longer(node, link))] {
                if time > 0 {
                    keys.push(format!("{key}: {}", Duration::from_ps(time)));
                }
            }
            if !keys.is_empty() {
                let _ = write!(found.text, ", {word}: {{{}}}", keys.join(", "));
            }
        }
        found.text.push_str("}\n");
    }
}

fn describe_stream(stream: &Sent<'_>, names: &BTreeMap<u64, String>, text: &mut String) {
    let task = stream.task;
    let listeners: Vec<String> = task.listeners.iter().map(|node| quoted(&names[node])).collect();
    let _ = write!(
        text,
        "  - {{name: {}, talker: {}, listeners: [{}], priority: {}, frame: {} B",
        quoted(&stream.name),
        quoted(&names[&task.talker]),
        listeners.join(", "),
        stream.priority,
        octets(task)
    );
    if task.deadline > 0 {
        let _ = write!(text, ", deadline: {}", Duration::from_ps(task.deadline));
    }
    let _ = write!(text, ", traffic: {{type: periodic, interval: {}", Duration::from_ps(stream.interval));
    match stream.offset {
        Some(offset) => {
            let _ = write!(text, ", offset: {}}}", Duration::from_ps(offset));
        }
        None => text.push_str("}, time-aware: {}"),
    }
    if !stream.route.is_empty() {
        let links: Vec<String> =
            stream.route.iter().map(|(from, to)| quoted(&format!("{}:{}", names[from], names[to]))).collect();
        let _ = write!(text, ", route: [{}]", links.join(", "));
    }
    text.push_str("}\n");
}
