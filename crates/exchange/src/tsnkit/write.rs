//! Writes tables of tsnkit: nodes, directions of cables and streams by their numbers in the description; the schedule if a port has gates.

use std::collections::{BTreeMap, BTreeSet};

use tautwire_model::gates::Openings;
use tautwire_model::network::{
    Delay, Distribution, Hop, Network, NodeKind, PortIndex, Stream, Switching, Traffic, TransmissionSelection,
};
use tautwire_model::wire_bits;
use tautwire_units::Duration;

use super::{OVERHEAD, gap};
use crate::{Converted, Text, mechanisms, node_of};

/// A stream that tsnkit can express. Times are picoseconds.
struct Task<'n> {
    number: usize,
    stream: &'n Stream,
    interval: u64,
    offset: u64,
    /// Octets of the line.
    size: u64,
}

/// The tables as they are written.
struct Tables {
    files: Vec<(&'static str, String)>,
    lacks: Converted,
}

impl Tables {
    fn begin(&mut self, file: &'static str, heading: &str) {
        self.files.push((file, format!("{heading}\n")));
    }

    fn row(&mut self, row: &str) {
        let text = &mut self.files.last_mut().expect("a table has begun").1;
        text.push_str(row);
        text.push('\n');
    }

    /// A time in whole nanoseconds, rounded down.
    fn ns(&mut self, ps: u64) -> u64 {
        if !ps.is_multiple_of(1_000) {
            self.lacks.lacks("parts of nanoseconds: times are rounded down");
        }
        ps / 1_000
    }
}

pub(super) fn write(network: &Network) -> Vec<Text> {
    let mut tables = Tables { files: Vec::new(), lacks: Converted::default() };
    let tasks = tasks(network, &mut tables.lacks);
    write_tasks(&tasks, &mut tables);
    write_topology(network, &tasks, &mut tables);
    tables.begin("names.csv", "kind,number,name");
    for (number, node) in network.nodes.iter().enumerate() {
        tables.row(&format!("node,{number},{}", node.name));
    }
    for task in &tasks {
        tables.row(&format!("stream,{},{}", task.number, task.stream.name));
    }
    if network.has_gates() {
        write_schedule(network, &tasks, &mut tables);
    }
    lacks(network, &mut tables.lacks);
    let mut left_out = Some(tables.lacks.left_out);
    let text = |(file, text): (&str, String)| {
        // What is left out is of all files: the first has it.
        let converted =
            Converted { text, left_out: left_out.take().unwrap_or_default(), ..Converted::default() };
        Text { file: Some(file.to_owned()), converted }
    };
    tables.files.into_iter().map(text).collect()
}

/// The streams with periodic frames, one at a time; the others are listed.
fn tasks<'n>(network: &'n Network, lacks: &mut Converted) -> Vec<Task<'n>> {
    let mut tasks: Vec<Task<'n>> = Vec::new();
    for stream in network.streams.iter().filter(|stream| stream.traffic != Traffic::Protocol) {
        let name = &stream.name;
        let Traffic::Periodic { interval, offset, jitter, burst, .. } = stream.traffic else {
            lacks.lacks(format!("stream {name}: its traffic is not periodic"));
            continue;
        };
        let without = [
            (burst != 1, "several frames at once"),
            (stream.learned, "a way that bridges learn"),
            (stream.replication.is_some(), "copies over several paths"),
            (stream.virtual_link.is_some(), "a virtual link"),
            (stream.time_triggered.is_some(), "dispatch points"),
            (stream.datagrams.is_some(), "datagrams of several frames"),
        ];
        if let Some((_, what)) = without.into_iter().find(|(is, _)| *is) {
            lacks.lacks(format!("stream {name}: {what}"));
            continue;
        }
        if !jitter.is_zero() {
            lacks.lacks(format!("stream {name}: its jitter of {jitter}"));
        }
        if stream.payload_min != stream.payload_max {
            lacks.lacks(format!("stream {name}: frames below the largest size"));
        }
        if stream.open_phase && stream.time_aware.is_none() {
            lacks.lacks(format!("stream {name}: its phase is not stated"));
        }
        if stream.listeners.len() > 1 {
            lacks.lacks(format!("stream {name}: tsnkit 0.3 takes streams with one listener alone"));
        }
        let bits = stream.hops.iter().map(|hop| wire_bits(stream.payload_max, hop.tagged)).max();
        let size = bits.map_or(0, |bits| bits.bytes_ceil().get());
        // The phase in the period, whatever periods pass before the first frame.
        if offset >= interval {
            lacks.lacks(format!("stream {name}: no frames before {offset}"));
        }
        let (interval, offset) = (interval.as_ps(), offset.as_ps() % interval.as_ps());
        tasks.push(Task { number: tasks.len(), stream, interval, offset, size });
    }
    tasks
}

fn write_tasks(tasks: &[Task<'_>], tables: &mut Tables) {
    tables.begin("task.csv", "stream,src,dst,size,period,deadline,jitter");
    for task in tasks {
        let stream = task.stream;
        let listeners: Vec<String> = stream.listeners.iter().map(|node| node.0.to_string()).collect();
        let listeners = match &listeners[..] {
            [one] => format!("[{one}]"),
            several => format!("\"[{}]\"", several.join(", ")),
        };
        // tsnkit takes no deadline beyond the period, and none without one.
        let deadline = stream.deadline.map_or(task.interval, Duration::as_ps);
        if deadline > task.interval {
            tables
                .lacks
                .lacks(format!("stream {}: a deadline beyond its period, which is written", stream.name));
        }
        let (period, deadline) = (tables.ns(task.interval), tables.ns(deadline.min(task.interval)));
        tables.row(&format!(
            "{},{},{listeners},{},{period},{deadline},{deadline}",
            task.number, stream.talker.0, task.size
        ));
    }
}

fn write_topology(network: &Network, tasks: &[Task<'_>], tables: &mut Tables) {
    tables.begin("topo.csv", "link,q_num,rate,t_proc,t_prop");
    let largest = tasks.iter().map(|task| task.size - OVERHEAD).max().unwrap_or(64);
    let mut cabled = BTreeSet::new();
    for link in &network.links {
        let [from, to] = [link.from, link.to].map(|port| network.ports[port.index()].node.index());
        if !cabled.insert((from, to)) {
            tables.lacks.lacks(format!(
                "a second cable between {} and {}",
                network.nodes[from.min(to)].name,
                network.nodes[from.max(to)].name
            ));
            continue;
        }
        let rate = link.rate.as_bps();
        let processing = match network.nodes[to].kind {
            NodeKind::EndStation { host } => network.hosts[host.index()].receive.longest(largest).as_ps(),
            NodeKind::Bridge { device, .. } => {
                let device = &network.devices[device.index()];
                let stages = device.stages.iter().filter(|stage| {
                    stage.only_for.is_none_or(|algorithm| {
                        algorithm == TransmissionSelection::StrictPriority.algorithm()
                    })
                });
                let all = stages.map(|stage| stage.latency.longest(largest).as_ps()).sum::<u64>();
                if all < gap(rate) {
                    tables.lacks.lacks(format!(
                        "device {}: it takes {}, less than the gap at {}; frames are in its queues later",
                        device.name,
                        Duration::from_ps(all),
                        link.rate
                    ));
                }
                all.saturating_sub(gap(rate))
            }
        };
        if !rate.is_multiple_of(1_000_000_000) {
            tables.lacks.lacks(format!("the rate of {}: tsnkit 0.3 takes whole Gbit/s", link.rate));
        }
        let propagation = link.propagation + link.phy_delay.max;
        if link.phy_delay.min != link.phy_delay.max {
            tables.lacks.lacks(format!("link {from} to {to}: its PHYs vary; the greatest delay is written"));
        }
        let (processing, propagation) = (tables.ns(processing), tables.ns(propagation.as_ps()));
        tables.row(&format!("\"({from}, {to})\",8,{},{processing},{propagation}", decimal(rate)));
    }
}

/// A rate in bits per nanosecond.
fn decimal(rate: u64) -> String {
    let text = format!("{}.{:09}", rate / 1_000_000_000, rate % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn write_schedule(network: &Network, tasks: &[Task<'_>], tables: &mut Tables) {
    let direction = |hop: &Hop| {
        let link =
            &network.links[network.ports[hop.port.index()].links.expect("a route has cables").egress.index()];
        let [from, to] = [link.from, link.to].map(|port| network.ports[port.index()].node.0);
        format!("\"({from}, {to})\"")
    };
    tables.begin("schedule-OFFSET.csv", "stream,frame,offset");
    for task in tasks {
        let offset = tables.ns(task.offset);
        tables.row(&format!("{},0,{offset}", task.number));
    }
    tables.begin("schedule-ROUTE.csv", "stream,link");
    for task in tasks {
        for hop in &task.stream.hops {
            tables.row(&format!("{},{}", task.number, direction(hop)));
        }
    }
    tables.begin("schedule-QUEUE.csv", "stream,frame,link,queue");
    for task in tasks {
        for hop in &task.stream.hops {
            tables.row(&format!("{},0,{},{}", task.number, direction(hop), hop.class.index()));
        }
    }
    tables.begin("schedule-GCL.csv", "link,queue,start,end,cycle");
    // The classes that tasks use, by port, and the common period of these tasks.
    let mut used: BTreeMap<PortIndex, (&Hop, BTreeSet<usize>, u64)> = BTreeMap::new();
    for task in tasks {
        for hop in &task.stream.hops {
            let of = used.entry(hop.port).or_insert_with(|| (hop, BTreeSet::new(), 1));
            of.1.insert(hop.class.index());
            of.2 = common(of.2, task.interval);
        }
    }
    for (port, (hop, classes, period)) in used {
        let rows = windows(network, port, &classes, period, tables);
        let link = direction(hop);
        for (class, start, end, cycle) in rows {
            let (start, end, cycle) = (tables.ns(start), tables.ns(end), tables.ns(cycle));
            tables.row(&format!("{link},{class},{start},{end},{cycle}"));
        }
    }
}

/// The windows of classes of a port in true time: class, opening, end of the gap behind the last frame, cycle.
fn windows(
    network: &Network,
    port: PortIndex,
    classes: &BTreeSet<usize>,
    period: u64,
    tables: &mut Tables,
) -> Vec<(usize, u64, u64, u64)> {
    let own = &network.ports[port.index()];
    let place = format!("{}.{}", node_of(network, own), own.name);
    let Some(gates) = &own.gates else {
        return classes.iter().map(|class| (*class, 0, period, period)).collect();
    };
    if gates.parameters.cycle_time.denominator() != 1 {
        tables.lacks.lacks(format!("port {place}: its cycle is no whole number of picoseconds"));
    }
    let cycle = gates.parameters.cycle_time.floor().as_ps();
    let rate = network.links[own.links.expect("a route has cables").egress.index()].rate;
    // Where a cycle begins when the run does, by the reading of the node's clock there.
    let reading = i128::from(network.nodes[own.node.index()].clock.offset.as_ps());
    let base = i128::from(gates.parameters.base_time.as_ps()) - reading;
    let base = u64::try_from(base.rem_euclid(i128::from(cycle))).expect("it is within a cycle");
    let mut found = Vec::new();
    for class in classes {
        match gates.parameters.openings(*class) {
            Openings::Always => found.push((*class, 0, cycle, cycle)),
            Openings::Never => {
                tables.lacks.lacks(format!("port {place}: the gate of class {class} never opens"))
            }
            Openings::In(intervals) => {
                let mut own = Vec::new();
                for interval in intervals {
                    let length = interval.close.as_ps() - interval.open.as_ps() + gap(rate.as_bps());
                    let start = (base + interval.open.as_ps()) % cycle;
                    own.push((*class, start, start + length, cycle));
                    // What is beyond the end of the cycle is at its start, too.
                    if start + length > cycle + gap(rate.as_bps()) {
                        own.push((*class, 0, start + length - cycle, cycle));
                    }
                }
                own.sort_unstable();
                found.extend(own);
            }
        }
    }
    found
}

/// Whether a delay is not the same for all frames.
fn varies(delay: &Delay) -> bool {
    let is_random = match delay.random {
        Distribution::Zero => false,
        Distribution::Uniform { min, max } | Distribution::Normal { min, max, .. } => min != max,
    };
    is_random || !delay.per_octet.is_zero()
}

/// The least common multiple, at most the longest cycle: that of open gates means nothing.
fn common(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    (a / x).saturating_mul(b).min(super::CYCLE_MAX)
}

/// What the tables do not say.
fn lacks(network: &Network, lacks: &mut Converted) {
    for key in mechanisms(network) {
        lacks.lacks(format!("`{key}`"));
    }
    for node in &network.nodes {
        let cables = node.ports.clone().filter(|port| network.ports[*port as usize].links.is_some()).count();
        let is_station = matches!(node.kind, NodeKind::EndStation { .. });
        if cables == 0 {
            lacks.lacks(format!("node {}: it has no cable", node.name));
        } else if is_station != (cables == 1) {
            let kind = if is_station { "an end station" } else { "a bridge" };
            lacks.lacks(format!(
                "node {}: that it is {kind}, with {cables} cable{}",
                node.name,
                if cables == 1 { "" } else { "s" }
            ));
        }
        if node.clock.tolerance_ppb > 0 {
            lacks.lacks(format!("node {}: its clock's tolerance", node.name));
        }
    }
    for device in &network.devices {
        if device.switching != Switching::StoreAndForward {
            lacks.lacks(format!("device {}: cut-through", device.name));
        }
        if device
            .stages
            .iter()
            .any(|stage| varies(&stage.latency) || !stage.occupancy.longest(1_522).is_zero())
        {
            lacks.lacks(format!(
                "device {}: its delays vary, or frames wait in a stage; the greatest delays are written",
                device.name
            ));
        }
    }
    for host in &network.hosts {
        if !host.transmit.longest(1_522).is_zero() {
            lacks.lacks(format!("host {}: its delay before it sends", host.name));
        }
    }
    for port in &network.ports {
        let place = format!("{}.{}", node_of(network, port), port.name);
        for (class, settings) in port.classes.iter().enumerate() {
            if settings.selection != TransmissionSelection::StrictPriority {
                lacks.lacks(format!("port {place} class {class}: its shaper"));
            }
        }
        if port.preemption.is_some() {
            lacks.lacks(format!("port {place}: frame preemption"));
        }
    }
}
