//! Reads what `tc -j qdisc show` prints, a file of each node, and with it what `lldpctl -f json0` prints there, which has nodes and cables.
//!
//! | discipline | of a description |
//! |---|---|
//! | `mqprio`, `taprio`, `prio`, `pfifo_fast` | classes: a greater traffic class is the higher one |
//! | `taprio` | gates, largest sizes |
//! | `cbs` | `credit-based`, `idle-slope` |
//! | `pfifo`, `bfifo`, `pfifo_head_drop` | `queue-limit` |
//!
//! Not here: filters and actions, which `tc -j filter show` prints; what has no class of 802.1Q is listed.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::topology::{self, Node};
use crate::{Converted, Files, lldp, quoted, valid};

/// Classes of `pfifo_fast` by priority: its band 0 goes first.
const PFIFO_FAST: [u64; 8] = [1, 0, 0, 0, 1, 0, 2, 2];

/// Nanoseconds of a day: the longest base time of a description.
const DAY: u64 = 86_400_000_000_000;

/// Octets of the tag, which Linux counts to the largest size of a class.
const TAG: u64 = 4;

pub(super) fn read(files: &Files<'_>, converted: &mut Converted) -> Result<(), String> {
    let mut hosts: Vec<(String, Vec<Value>)> = Vec::new();
    let mut neighbours: Vec<(String, Value)> = Vec::new();
    for input in files.inputs {
        let value = serde_json::from_str(input.text.trim_start_matches('\u{feff}'))
            .map_err(|error| format!("{}: no JSON: {error}", input.name));
        let name = valid(&input.name);
        let mut twice = false;
        match converted.keep(value) {
            None => {}
            Some(Value::Array(list)) => {
                twice = hosts.iter().any(|(host, _)| *host == name);
                hosts.push((name, list));
            }
            Some(value) if value.get("lldp").is_some() => {
                twice = neighbours.iter().any(|(host, _)| *host == name);
                neighbours.push((name, value));
            }
            Some(_) => converted.fault(format!(
                "{}: it is no list of `tc -j qdisc show`, and nothing of `lldpctl -f json0`",
                input.name
            )),
        }
        if twice {
            converted.fault(format!("there are two such files of the node `{}`", input.name));
        }
    }
    let (mut nodes, cables) = lldp::topology(&neighbours, converted);
    for (name, list) in &hosts {
        let ports = ports(name, list, converted);
        let at = nodes.iter().position(|node| node.name == *name).unwrap_or_else(|| {
            nodes.push(Node { name: name.clone(), ..Node::default() });
            nodes.len() - 1
        });
        let node = &mut nodes[at];
        if node.bridges.is_none() && cables.is_empty() {
            let bridges = ports.len() > 1;
            converted.lacks(format!(
                "{name}: whether it bridges is not known; with {} interface{} it becomes {}",
                ports.len(),
                if bridges { "s" } else { "" },
                if bridges { "a bridge" } else { "an end-station" }
            ));
            node.bridges = Some(bridges);
        }
        if !ports.is_empty() {
            node.settings.push("ports:".to_owned());
            node.settings.extend(
                ports.iter().map(|(port, keys)| format!("  {}: {{{}}}", quoted(port), keys.join(", "))),
            );
        }
    }
    if converted.faults.is_empty() {
        let first = if cables.is_empty() {
            "# Queues and gates of nodes by tc. Cables, device models and streams are to be added."
        } else {
            "# Queues and gates of nodes by tc, cables by LLDP. Device models, lengths of cables and streams are to be added."
        };
        topology::describe(first, &nodes, &cables, converted);
    }
    Ok(())
}

/// A discipline of an interface.
struct Qdisc<'v> {
    kind: &'v str,
    handle: &'v str,
    /// None at the root.
    parent: Option<&'v str>,
    options: &'v Value,
}

/// The interfaces of a node in the order of its file, with the keys of their ports.
fn ports(node: &str, list: &[Value], converted: &mut Converted) -> Vec<(String, Vec<String>)> {
    let mut devices: Vec<(&str, Vec<Qdisc<'_>>)> = Vec::new();
    for (number, value) in list.iter().enumerate() {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let (Some(kind), Some(device)) = (text("kind"), text("dev")) else {
            converted.fault(format!("{node}: entry {}: a discipline has `kind` and `dev`", number + 1));
            continue;
        };
        let parent = text("parent").filter(|_| value.get("root").is_none());
        let own = Qdisc {
            kind,
            handle: text("handle").unwrap_or(""),
            parent,
            options: value.get("options").unwrap_or(&Value::Null),
        };
        match devices.iter_mut().find(|(known, _)| *known == device) {
            Some((_, all)) => all.push(own),
            None => devices.push((device, vec![own])),
        }
    }
    let mut found = Vec::new();
    for (device, all) in devices {
        // The loopback interface has no cable, nor have others without a queue.
        if device == "lo" || all.iter().all(|own| own.kind == "noqueue") {
            continue;
        }
        let place = format!("{node}.{device}");
        let keys = port(&place, &all, converted);
        found.push((valid(device), converted.keep(keys).unwrap_or_default()));
    }
    found
}

/// What is known of a class.
#[derive(Default)]
struct Class {
    idle_slope: Option<u64>,
    limit: Option<String>,
}

/// The keys of a port.
fn port(place: &str, all: &[Qdisc<'_>], converted: &mut Converted) -> Result<Vec<String>, String> {
    let mut keys = Vec::new();
    let mut classes: BTreeMap<u64, Class> = BTreeMap::new();
    let roots: Vec<&Qdisc<'_>> = all.iter().filter(|own| own.parent.is_none()).collect();
    let [root] = roots[..] else { return Err(format!("{place}: {} disciplines at its root", roots.len())) };
    let queues = queues(place, root, &mut keys, classes.entry(0).or_default(), converted)?;
    below(place, all, root, &queues, &mut classes, converted)?;
    let classes = classes.iter().filter_map(|(class, own)| {
        let slope = own
            .idle_slope
            .map(|slope| format!("transmission-selection: credit-based, idle-slope: {slope} kbit/s"));
        let limit = own.limit.as_ref().map(|limit| format!("queue-limit: {{{limit}}}"));
        let keys: Vec<String> = slope.into_iter().chain(limit).collect();
        (!keys.is_empty()).then(|| format!("{class}: {{{}}}", keys.join(", ")))
    });
    let classes: Vec<String> = classes.collect();
    if !classes.is_empty() {
        keys.push(format!("classes: {{{}}}", classes.join(", ")));
    }
    Ok(keys)
}

/// The traffic classes of the device's queues, from 0, by the discipline at the root, whose keys it adds.
fn queues(
    place: &str,
    root: &Qdisc<'_>,
    keys: &mut Vec<String>,
    alone: &mut Class,
    converted: &mut Converted,
) -> Result<Vec<u64>, String> {
    let mut queues: Vec<u64> = Vec::new();
    let options = root.options;
    match root.kind {
        "mqprio" | "taprio" => {
            let count = number(options, "tc").filter(|count| (1..=8).contains(count));
            let count =
                count.ok_or_else(|| format!("{place}: `tc` of {}: there are 1 to 8 classes", root.kind))?;
            let table = map(options, "map", count).ok_or_else(|| {
                format!("{place}: `map` of {}: the classes below {count} of 16 priorities", root.kind)
            })?;
            keys.push(table_key(&table));
            for (class, range) in list(options, "queues").iter().enumerate() {
                let wrong = || format!("{place}: `queues` of {}: a range for each class", root.kind);
                let (first, count) = match range {
                    Value::Array(ends) => {
                        let ends =
                            ends.first().and_then(Value::as_u64).zip(ends.get(1).and_then(Value::as_u64));
                        ends.and_then(|(first, last)| Some((first, last.checked_sub(first)? + 1)))
                    }
                    object => number(object, "offset").zip(number(object, "count")),
                }
                .filter(|(first, count)| *first < 65_536 && *count < 65_536)
                .ok_or_else(wrong)?;
                let end = usize::try_from(first + count).expect("it is small");
                queues.resize(queues.len().max(end), 0);
                queues[end - usize::try_from(count).expect("it is small")..end].fill(class as u64);
            }
            if root.kind == "mqprio" {
                for key in ["shaper", "min_rate", "max_rate"].iter().filter(|key| {
                    options.get(**key).is_some_and(|value| {
                        value.as_str() != Some("dcb") && !list(options, key).iter().all(|rate| rate == 0)
                    })
                }) {
                    converted.lacks(format!("{place}: `{key}` of mqprio"));
                }
                converted.lacks(format!(
                    "{place}: the device decides the order of the classes of mqprio; the greater goes first"
                ));
            } else {
                keys.push(format!(
                    "gate-parameter-table: {{{}}}",
                    gates(place, options, count, converted)?.join(", ")
                ));
            }
        }
        "prio" => {
            let bands = number(options, "bands").filter(|bands| (1..=8).contains(bands));
            let bands = bands.ok_or_else(|| format!("{place}: `bands` of prio: 1 to 8 are read"))?;
            let table = map(options, "priomap", bands).ok_or_else(|| {
                format!("{place}: `priomap` of prio: the bands below {bands} of 16 priorities")
            })?;
            keys.push(table_key(&table.map(|band| bands - 1 - band)));
            queues.extend((0..bands).rev());
        }
        "pfifo_fast" => keys.push(table_key(&PFIFO_FAST)),
        kind => {
            // One queue.
            keys.push(table_key(&[0; 8]));
            queues.push(0);
            if kind == "mq" {
                converted
                    .lacks(format!("{place}: the queues of mq, which have no order; one class is written"));
            } else {
                class(place, root, alone, converted)?;
            }
        }
    }
    Ok(queues)
}

/// Takes over what the disciplines below the root do for their classes.
fn below(
    place: &str,
    all: &[Qdisc<'_>],
    root: &Qdisc<'_>,
    queues: &[u64],
    classes: &mut BTreeMap<u64, Class>,
    converted: &mut Converted,
) -> Result<(), String> {
    // The classes of disciplines by their handles, for those below them.
    let mut by_handle: BTreeMap<&str, u64> = BTreeMap::new();
    if queues == [0] {
        by_handle.insert(root.handle, 0);
    }
    let mut waiting: Vec<&Qdisc<'_>> = all.iter().filter(|own| own.parent.is_some()).collect();
    while !waiting.is_empty() {
        let before = waiting.len();
        let mut wrong = None;
        waiting.retain(|own| {
            let Some((major, minor)) = own.parent.and_then(|parent| parent.split_once(':')) else {
                // `clsact` and `ingress` are at places of their own.
                converted.lacks(format!("{place}: {}", own.kind));
                return false;
            };
            let at = format!("{major}:");
            let of = if at == root.handle && queues != [0] {
                let queue = u64::from_str_radix(minor, 16).ok().and_then(|queue| queue.checked_sub(1));
                queue.and_then(|queue| queues.get(usize::try_from(queue).ok()?)).copied()
            } else {
                by_handle.get(at.as_str()).copied()
            };
            let Some(of) = of else { return true };
            if own.handle != "0:" && !own.handle.is_empty() {
                by_handle.insert(own.handle, of);
            }
            if let Err(why) = class(place, own, classes.entry(of).or_default(), converted) {
                wrong = Some(why);
            }
            false
        });
        if let Some(why) = wrong {
            return Err(why);
        }
        if waiting.len() == before {
            for own in waiting.drain(..) {
                converted.lacks(format!("{place}: {} below {}", own.kind, own.parent.unwrap_or("")));
            }
        }
    }
    Ok(())
}

/// Takes over what a discipline does for a class.
fn class(place: &str, own: &Qdisc<'_>, class: &mut Class, converted: &mut Converted) -> Result<(), String> {
    let need = |key: &str| {
        number(own.options, key)
            .ok_or_else(|| format!("{place}: {} without `{key}`, a whole number", own.kind))
    };
    match own.kind {
        "cbs" => class.idle_slope = Some(need("idleslope")?),
        // By default they are as long as the queue of the device, of which nothing is known.
        "pfifo" | "pfifo_head_drop" | "bfifo" if own.handle == "0:" => {}
        "pfifo" => class.limit = Some(format!("frames: {}", need("limit")?.max(1))),
        "bfifo" => class.limit = Some(format!("octets: {} B", need("limit")?.max(1))),
        "pfifo_head_drop" => {
            class.limit = Some(format!("frames: {}, discard: oldest", need("limit")?.max(1)))
        }
        "etf" => converted.lacks(format!(
            "{place}: launch times of etf, which the streams of a talker have as `time-aware`"
        )),
        "fq_codel" | "fq" | "sfq" | "noqueue" | "pfifo_fast" => {
            converted.lacks(format!("{place}: the order of {}; its frames are in one queue", own.kind));
        }
        kind => converted.lacks(format!("{place}: {kind}")),
    }
    Ok(())
}

/// The keys of a table of gates.
fn gates(
    place: &str,
    options: &Value,
    classes: u64,
    converted: &mut Converted,
) -> Result<Vec<String>, String> {
    let wrong = |key: &str, what: &str| format!("{place}: `{key}` of taprio: {what}");
    let mut table = vec!["gate-enabled: true".to_owned()];
    let pending = options.get("admin").filter(|admin| !list(admin, "schedule").is_empty());
    let running = Some(options).filter(|options| !list(options, "schedule").is_empty());
    if running.is_some() && pending.is_some() {
        converted.lacks(format!("{place}: the list of gates that is to come"));
    }
    let schedule = running.or(pending).ok_or_else(|| wrong("schedule", "it has no entries"))?;
    let sizes = list(options, "max-sdu").iter().enumerate().take(usize::try_from(classes).unwrap_or(8));
    let sizes = sizes.filter_map(|(class, size)| {
        // 0 is no limit.
        let size = size.as_u64().filter(|size| *size > 0)?;
        Some(format!("{class}: {} B", size.saturating_sub(TAG).max(1)))
    });
    let sizes: Vec<String> = sizes.collect();
    if !sizes.is_empty() {
        table.push(format!("queue-max-sdu-table: {{{}}}, sdu: payload", sizes.join(", ")));
    }
    if list(options, "fp").iter().any(|word| !matches!(word.as_str(), Some("E" | "express"))) {
        converted.lacks(format!("{place}: preemptable classes; `fp` of taprio"));
    }
    let clock = options.get("clockid").and_then(Value::as_str).unwrap_or("TAI");
    if !clock.ends_with("TAI") {
        converted.lacks(format!("{place}: its gates follow the clock {clock}"));
    }
    let mut entries = Vec::new();
    let mut sum = 0_u64;
    for (index, entry) in list(schedule, "schedule").iter().enumerate() {
        let word = entry.get("cmd").and_then(Value::as_str).unwrap_or("S");
        let operation = match word {
            "S" | "SET" => "",
            "H" | "HOLD" => "operation: set-and-hold-mac, ",
            "R" | "RELEASE" => "operation: set-and-release-mac, ",
            _ => return Err(wrong("schedule", &format!("entry {index}: the command `{word}`"))),
        };
        let mask = entry.get("gatemask").and_then(Value::as_str).and_then(|mask| mask.strip_prefix("0x"));
        let mask =
            mask.and_then(|mask| u64::from_str_radix(mask, 16).ok()).or_else(|| number(entry, "gatemask"));
        let interval =
            number(entry, "interval").filter(|interval| (1..=u64::from(u32::MAX)).contains(interval));
        let (mask, interval) = mask.filter(|mask| *mask < 256).zip(interval).ok_or_else(|| {
            wrong("schedule", &format!("entry {index}: an octet of gates, and nanoseconds of 32 bits"))
        })?;
        sum += interval;
        entries.push(format!("{{{operation}gate-states: {mask}, time-interval: {interval} ns}}"));
    }
    let cycle = number(schedule, "cycle_time").filter(|cycle| *cycle > 0).unwrap_or(sum);
    let base = number(schedule, "base_time").ok_or_else(|| wrong("base_time", "nanoseconds are expected"))?;
    // A cycle that began at a time of day long ago is at the same place now.
    let phase = if base < DAY { base } else { base % cycle };
    if phase != base {
        converted.lacks(format!(
            "{place}: the base time {base} ns of its gates; its place in the cycle, {phase} ns, is written"
        ));
    }
    table.push(format!("admin-base-time: {phase} ns, admin-cycle-time: {cycle} ns"));
    if let Some(extension) = number(schedule, "cycle_time_extension").filter(|extension| *extension > 0) {
        table.push(format!("admin-cycle-time-extension: {extension} ns"));
    }
    table.push(format!("admin-control-list: [{}]", entries.join(", ")));
    Ok(table)
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A number, which may be a text.
fn number(value: &Value, key: &str) -> Option<u64> {
    let found = value.get(key)?;
    found.as_u64().or_else(|| found.as_str()?.parse().ok())
}

/// The classes of the priorities 0 to 7, of a list for 16, each below a number.
fn map(options: &Value, key: &str, below: u64) -> Option<[u64; 8]> {
    let found: Option<Vec<u64>> = list(options, key)
        .iter()
        .take(8)
        .map(|class| class.as_u64().filter(|class| *class < below))
        .collect();
    found?.try_into().ok()
}

fn table_key(classes: &[u64; 8]) -> String {
    format!("traffic-class-table: [{}]", classes.map(|class| class.to_string()).join(", "))
}
