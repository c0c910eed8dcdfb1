//! Reads tables of tsnkit: what they say, checked against each other. The description of it is in `describe.rs`.

use std::collections::{BTreeMap, BTreeSet};

use super::describe;
use super::table::{Kind, Row, Table};
use super::windows::Windows;
use crate::{Converted, Files, valid};

/// A direction of a cable, by the numbers of its nodes.
pub(super) type Direction = (u64, u64);

/// A row of the topology. Times are picoseconds.
pub(super) struct Link {
    pub(super) rate: u64,
    /// Of the node behind it.
    pub(super) processing: u64,
    pub(super) propagation: u64,
}

/// A row of the tasks.
pub(super) struct Task {
    pub(super) number: u64,
    pub(super) talker: u64,
    pub(super) listeners: Vec<u64>,
    /// Octets of the line.
    pub(super) size: u64,
    pub(super) period: u64,
    pub(super) deadline: u64,
    pub(super) jitter: u64,
}

/// What a schedule says of a stream.
pub(super) struct Planned {
    /// The directions of its tree, each after the one before it.
    pub(super) route: Vec<Direction>,
    /// The frames that it sends in turn, one a period: offset, and the queue in each direction of the route.
    pub(super) frames: Vec<(u64, Vec<u8>)>,
}

/// What the tables say.
pub(super) struct Instance {
    pub(super) links: BTreeMap<Direction, Link>,
    pub(super) tasks: Vec<Task>,
    /// For each task; empty without a schedule.
    pub(super) planned: Vec<Planned>,
    pub(super) windows: BTreeMap<Direction, Windows>,
    /// Names of nodes, and of streams, by their numbers.
    pub(super) names: [BTreeMap<u64, String>; 2],
}

impl Instance {
    /// The other ends of a node's cables.
    pub(super) fn neighbours(&self, node: u64) -> BTreeSet<u64> {
        let ends = self.links.keys();
        ends.filter_map(|(from, to)| if *from == node { Some(*to) } else { (*to == node).then_some(*from) })
            .collect()
    }
}

pub(super) fn read(files: &Files<'_>, found: &mut Converted) -> Result<(), String> {
    let mut tables: BTreeMap<Kind, Table> = BTreeMap::new();
    for input in files.inputs {
        let table = Table::read(&input.name, &input.text, found);
        let Some((kind, table)) = found.keep(table) else { continue };
        if tables.insert(kind, table).is_some() {
            found.fault(format!("{}: there is another table with this heading", input.name));
        }
    }
    let Some(topology) = tables.get(&Kind::Topology) else {
        // It may be one of the tables that are not read.
        if found.faults.is_empty() {
            found.fault("there is no topology: a table with `link,q_num,rate,t_proc,t_prop`");
        }
        return Ok(());
    };
    let links = topology_of(topology, found);
    let tasks = tables.get(&Kind::Tasks).map_or_else(Vec::new, |table| tasks_of(table, found));
    let names = tables.get(&Kind::Names).map_or_else(Default::default, |table| names_of(table, found));
    let mut instance = Instance { links, tasks, planned: Vec::new(), windows: BTreeMap::new(), names };
    // What follows counts on whole tables: faults of rows would make others.
    if found.faults.is_empty() {
        check(&instance, found);
    }
    let schedule = [Kind::Gates, Kind::Offsets, Kind::Routes, Kind::Queues].map(|kind| tables.get(&kind));
    match schedule {
        [Some(gates), Some(offsets), Some(routes), Some(queues)] => {
            instance.windows = windows_of(gates, &instance, found);
            instance.planned = planned_of([offsets, routes, queues], &instance, found);
        }
        [None, None, None, None] => {}
        _ => return Err("a schedule has four tables: gates, offsets, routes and queues".to_owned()),
    }
    if let Some(delays) = tables.get(&Kind::Delays) {
        found.lacks(format!("delays of {} frames: bounds and runs have their own", delays.rows().count()));
    }
    if found.faults.is_empty() {
        describe::describe(&instance, found)?;
    }
    Ok(())
}

/// What a function reads of each row; a row with a fault has none.
fn each<T>(
    table: &Table,
    found: &mut Converted,
    mut read: impl FnMut(Row<'_>, &mut Converted) -> Result<T, String>,
) -> Vec<T> {
    let mut all = Vec::new();
    for row in table.rows() {
        let one = read(row, found);
        all.extend(found.keep(one));
    }
    all
}

fn topology_of(table: &Table, found: &mut Converted) -> BTreeMap<Direction, Link> {
    let mut links = BTreeMap::new();
    each(table, found, |row, found| {
        let (from, to) = row.link()?;
        if from == to {
            return Err(row.fault("a link from a node to itself"));
        }
        let (processing, propagation) = (row.time("t_proc")?, row.time("t_prop")?);
        let link = Link { rate: row.rate()?, processing, propagation };
        let queues = row.number("q_num")?;
        if queues != 8 {
            found.lacks(format!("link ({from}, {to}): its {queues} queues; a port has 8"));
        }
        if links.insert((from, to), link).is_some() {
            return Err(row.fault("this link has a row already"));
        }
        Ok(())
    });
    let alone: Vec<Direction> =
        links.keys().filter(|(from, to)| !links.contains_key(&(*to, *from))).copied().collect();
    for (from, to) in alone {
        found.lacks(format!("link ({from}, {to}) has no link back; a cable has both directions"));
    }
    links
}

fn tasks_of(table: &Table, found: &mut Converted) -> Vec<Task> {
    let mut numbers = BTreeSet::new();
    each(table, found, |row, _| {
        let task = Task {
            number: row.number("stream")?,
            talker: row.number("src")?,
            listeners: row.numbers("dst")?,
            size: row.number("size")?,
            period: row.time("period")?,
            deadline: row.time("deadline")?,
            jitter: row.time("jitter")?,
        };
        // A frame of 65 535 octets is the longest.
        if task.size > 65_555 {
            return Err(row.fault("`size`: a frame takes at most 65555 octets of the line"));
        }
        if task.period == 0 {
            return Err(row.fault("`period` is 0"));
        }
        let distinct: BTreeSet<u64> = task.listeners.iter().copied().collect();
        if distinct.len() != task.listeners.len() || distinct.contains(&task.talker) {
            return Err(row.fault("`dst` has a node twice, or the talker"));
        }
        if !numbers.insert(task.number) {
            return Err(row.fault(format_args!("stream {} has a row already", task.number)));
        }
        Ok(task)
    })
}

fn names_of(table: &Table, found: &mut Converted) -> [BTreeMap<u64, String>; 2] {
    let mut names: [BTreeMap<u64, String>; 2] = Default::default();
    each(table, found, |row, _| {
        let of = match row.text("kind") {
            "node" => 0,
            "stream" => 1,
            other => {
                return Err(row.fault(format_args!("`kind` is `{other}`: it must be `node` or `stream`")));
            }
        };
        let name = row.text("name");
        if valid(name) != name || names[of].values().any(|known| known == name) {
            return Err(row.fault(format_args!("`{name}` is no name, or that of another one")));
        }
        if names[of].insert(row.number("number")?, name.to_owned()).is_some() {
            return Err(row.fault("this number has a name already"));
        }
        Ok(())
    });
    names
}

/// Whether talkers and listeners are ends of cables, which a way connects.
fn check(instance: &Instance, found: &mut Converted) {
    for task in &instance.tasks {
        let before = found.faults.len();
        for node in std::iter::once(task.talker).chain(task.listeners.iter().copied()) {
            let cables = instance.neighbours(node).len();
            if cables != 1 {
                found.fault(format!(
                    "stream {}: node {node} has {cables} cables: talkers and listeners are end stations, with one",
                    task.number
                ));
            }
        }
        if found.faults.len() > before {
            continue;
        }
        let mut reached = BTreeSet::from([task.talker]);
        let mut next = vec![task.talker];
        while let Some(node) = next.pop() {
            next.extend(instance.neighbours(node).into_iter().filter(|node| reached.insert(*node)));
        }
        if let Some(listener) = task.listeners.iter().find(|listener| !reached.contains(listener)) {
            found.fault(format!("stream {}: no way leads from {} to {listener}", task.number, task.talker));
        }
    }
}

/// The direction of a row, which the topology has.
fn direction(row: Row<'_>, instance: &Instance) -> Result<Direction, String> {
    let link = row.link()?;
    if instance.links.contains_key(&link) {
        return Ok(link);
    }
    Err(row.fault(format_args!("the topology has no link ({}, {})", link.0, link.1)))
}

fn queue(row: Row<'_>) -> Result<u8, String> {
    let found = u8::try_from(row.number("queue")?).ok().filter(|queue| *queue < 8);
    found.ok_or_else(|| row.fault("`queue`: a port has the queues 0 to 7"))
}

fn windows_of(table: &Table, instance: &Instance, found: &mut Converted) -> BTreeMap<Direction, Windows> {
    let mut windows: BTreeMap<Direction, Windows> = BTreeMap::new();
    each(table, found, |row, _| {
        let (start, end, cycle) = (row.time("start")?, row.time("end")?, row.time("cycle")?);
        // A cycle of a description is a microsecond at least, and its entries are whole picoseconds.
        if end < start || !(1_000_000..=super::CYCLE_MAX).contains(&cycle) {
            return Err(row.fault("a window ends after its start, in a cycle of 1 us to 1000 s"));
        }
        let own =
            windows.entry(direction(row, instance)?).or_insert_with(|| Windows { cycle, rows: Vec::new() });
        if own.cycle != cycle {
            return Err(row.fault("another row of this link has another cycle"));
        }
        own.rows.push((queue(row)?, start, end));
        Ok(())
    });
    windows
}

fn planned_of(
    [offsets, routes, queues]: [&Table; 3],
    instance: &Instance,
    found: &mut Converted,
) -> Vec<Planned> {
    let mut of_offsets: BTreeMap<u64, BTreeMap<u64, u64>> = BTreeMap::new();
    each(offsets, found, |row, _| {
        let (stream, frame) = (row.number("stream")?, row.number("frame")?);
        if of_offsets.entry(stream).or_default().insert(frame, row.time("offset")?).is_some() {
            return Err(row.fault("this frame has an offset already"));
        }
        Ok(())
    });
    let mut of_routes: BTreeMap<u64, BTreeSet<Direction>> = BTreeMap::new();
    each(routes, found, |row, _| {
        of_routes.entry(row.number("stream")?).or_default().insert(direction(row, instance)?);
        Ok(())
    });
    let mut of_queues: BTreeMap<(u64, u64), BTreeMap<Direction, u8>> = BTreeMap::new();
    each(queues, found, |row, _| {
        let frame = (row.number("stream")?, row.number("frame")?);
        if of_queues.entry(frame).or_default().insert(direction(row, instance)?, queue(row)?).is_some() {
            return Err(row.fault("this frame has a queue at this link already"));
        }
        Ok(())
    });
    if !found.faults.is_empty() {
        return Vec::new();
    }
    let mut plan = |task: &Task, found: &mut Converted| {
        let stream = task.number;
        let all = of_routes.remove(&stream).unwrap_or_default();
        let route = tree(task, &all)?;
        for (from, to) in all.iter().filter(|link| !route.contains(link)) {
            found.lacks(format!(
                "stream {stream}: link ({from}, {to}) of its route, which leads to no listener"
            ));
        }
        let offsets = of_offsets.remove(&stream).unwrap_or_default();
        if offsets.is_empty() || offsets.keys().copied().ne(0..offsets.len() as u64) {
            return Err(format!("stream {stream}: its offsets are not those of the frames from 0"));
        }
        let frames: Result<Vec<_>, String> = offsets
            .into_iter()
            .map(|(frame, offset)| {
                let own = of_queues.remove(&(stream, frame)).unwrap_or_default();
                let queue = |link: &Direction| {
                    own.get(link).copied().ok_or_else(|| {
                        format!("stream {stream}, frame {frame}: no queue at link ({}, {})", link.0, link.1)
                    })
                };
                Ok((offset, route.iter().map(queue).collect::<Result<Vec<u8>, String>>()?))
            })
            .collect();
        Ok(Planned { route, frames: frames? })
    };
    let mut planned = Vec::new();
    for task in &instance.tasks {
        let own = plan(task, found);
        planned.extend(found.keep(own));
    }
    let others: BTreeSet<u64> = of_offsets
        .into_keys()
        .chain(of_routes.into_keys())
        .chain(of_queues.into_keys().map(|key| key.0))
        .collect();
    for stream in others.into_iter().filter(|stream| instance.tasks.iter().all(|task| task.number != *stream))
    {
        found.lacks(format!("the schedule of stream {stream}, which is no task"));
    }
    planned
}

/// The directions of a route that lead to listeners, each after the one before it.
fn tree(task: &Task, all: &BTreeSet<Direction>) -> Result<Vec<Direction>, String> {
    let wrong = || {
        format!("stream {}: its route is no tree from {} to {:?}", task.number, task.talker, task.listeners)
    };
    let mut before: BTreeMap<u64, u64> = BTreeMap::new();
    let mut order = vec![task.talker];
    let mut at = 0;
    while let Some(node) = order.get(at).copied() {
        for (_, to) in all.range((node, 0)..=(node, u64::MAX)) {
            if *to == task.talker || before.insert(*to, node).is_some() {
                return Err(wrong());
            }
            order.push(*to);
        }
        at += 1;
    }
    let mut used = BTreeSet::new();
    for listener in &task.listeners {
        let mut node = *listener;
        while node != task.talker && used.insert(node) {
            node = *before.get(&node).ok_or_else(wrong)?;
        }
    }
    let reached = order.into_iter().filter(|node| used.contains(node));
    Ok(reached.map(|node| (before[&node], node)).collect())
}
