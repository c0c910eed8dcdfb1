//! Output ports: servers with names, and flows over them. Nodes are made: the servers that follow one server are ports of one node, and talkers
//! and listeners are stations at lines that are fast.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::places;
use super::quantity::Kind;
use super::{Cable, FAST, Flow, Found};
use crate::{Converted, valid};

/// What is taken over, or says how tools analyse.
const OF_NETWORK: [&str; 9] = [
    "name",
    "time_unit",
    "data_unit",
    "rate_unit",
    "multiplexing",
    "packetizer",
    "analysis_option",
    "max_packet_length",
    "capacity",
];
const OF_FLOW: [&str; 9] = [
    "name",
    "path",
    "path_name",
    "multicast",
    "arrival_curve",
    "max_packet_length",
    "time_unit",
    "data_unit",
    "rate_unit",
];
const OF_SERVER: [&str; 6] = ["name", "service_curve", "capacity", "time_unit", "data_unit", "rate_unit"];

/// Two numbers, each rounded down and up.
type Pair = ((u64, u64), (u64, u64));

struct Server {
    name: String,
    rate: u64,
    latency: u64,
}

/// Units by kind, where an entry states none.
struct Units<'v> {
    own: &'v Value,
    network: &'v Value,
}

impl Units<'_> {
    fn read(&self, value: &Value, kind: Kind) -> Result<(u64, u64), String> {
        let (key, default) = match kind {
            Kind::Time => ("time_unit", "s"),
            Kind::Data => ("data_unit", "b"),
            Kind::Rate => ("rate_unit", "bps"),
        };
        let unit =
            [self.own, self.network].into_iter().find_map(|of| of.get(key)?.as_str()).unwrap_or(default);
        match value {
            Value::String(text) => kind.read(text, unit),
            Value::Number(number) => kind.read(&number.to_string(), unit),
            other => Err(format!("`{other}` is no number")),
        }
    }

    fn list(&self, value: Option<&Value>, key: &str, kind: Kind) -> Result<Vec<(u64, u64)>, String> {
        let list = value
            .and_then(|value| value.get(key))
            .and_then(Value::as_array)
            .ok_or_else(|| format!("it has no list `{key}`"))?;
        list.iter().map(|value| self.read(value, kind)).collect()
    }

    /// Pairs of two lists of a curve, which are as long as each other.
    fn pairs(
        &self,
        curve: Option<&Value>,
        (one, of_one): (&str, Kind),
        (other, of_other): (&str, Kind),
    ) -> Result<Vec<Pair>, String> {
        let (ones, others) = (self.list(curve, one, of_one)?, self.list(curve, other, of_other)?);
        if ones.len() != others.len() {
            return Err(format!("its curve has {} `{one}` and {} `{other}`", ones.len(), others.len()));
        }
        Ok(ones.into_iter().zip(others).collect())
    }
}

pub(super) fn read(text: &str, converted: &mut Converted) -> Result<Found, String> {
    let file: Value = serde_json::from_str(text).map_err(|error| format!("no JSON: {error}"))?;
    let network = file.get("network").unwrap_or(&Value::Null);
    lacks(network, &OF_NETWORK, "network", converted);
    lacks(&file, &["network", "flows", "servers"], "the file", converted);
    if network.get("multiplexing").is_some_and(|found| found != "FIFO") {
        converted.lacks("multiplexing: servers serve in any order; ports serve a class in order of arrival");
    }
    let servers: Vec<Server> = entries(text, &file, "servers", converted, |value, name, converted| {
        server(value, name, network, converted)
    })?;
    let distinct: BTreeSet<&String> = servers.iter().map(|server| &server.name).collect();
    if distinct.len() < servers.len() {
        converted.fault("two servers have one name");
    }
    let is_whole = converted.faults.is_empty();
    let mut paths: Vec<Vec<Vec<usize>>> = Vec::new();
    let mut flows: Vec<Flow> = entries(text, &file, "flows", converted, |value, name, converted| {
        lacks(value, &OF_FLOW, &format!("flow {name}"), converted);
        // A server that is not there may be one with a fault.
        if is_whole {
            paths.push(paths_of(value, &servers)?);
        }
        flow(value, name, network, converted)
    })?;
    if !converted.faults.is_empty() {
        return Ok(Found::default());
    }
    let nodes = nodes(&servers, &paths)?;
    let mut found = Found { bridges: distinct_names(&nodes), ..Found::default() };
    lines(&servers, &paths, &nodes, &mut flows, &mut found).map_err(|(flow, why)| {
        let line =
            places::lines(text, "flows").get(flow).map_or(String::new(), |line| format!("line {line}: "));
        format!("{line}{why}")
    })?;
    found.flows = flows;
    Ok(found)
}

/// The entries of a list, each with its name; a fault has the line of its entry.
fn entries<T>(
    text: &str,
    file: &Value,
    key: &str,
    converted: &mut Converted,
    mut read: impl FnMut(&Value, &str, &mut Converted) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let list = file.get(key).and_then(Value::as_array).ok_or_else(|| format!("it has no list `{key}`"))?;
    let lines = places::lines(text, key);
    let mut of = |(number, value): (usize, &Value), converted: &mut Converted| {
        let line = lines.get(number).map_or(String::new(), |line| format!("line {line}: "));
        let name = value
            .get("name")
            .and_then(Value::as_str)
            .ok_or_else(|| format!("{line}{key}: entry {number} has no name"))?;
        read(value, name, converted).map_err(|why| format!("{line}{key}: {name}: {why}"))
    };
    let mut all = Vec::new();
    for entry in list.iter().enumerate() {
        let one = of(entry, converted);
        all.extend(converted.keep(one));
    }
    Ok(all)
}

fn lacks(value: &Value, known: &[&str], place: &str, converted: &mut Converted) {
    for key in value.as_object().into_iter().flat_map(|keys| keys.keys()) {
        if !known.contains(&key.as_str()) {
            converted.lacks(format!("{place}: {key}"));
        }
    }
}

fn server(value: &Value, name: &str, network: &Value, converted: &mut Converted) -> Result<Server, String> {
    lacks(value, &OF_SERVER, &format!("server {name}"), converted);
    let units = Units { own: value, network };
    let curve = value.get("service_curve").or_else(|| network.get("service_curve"));
    let parts = units.pairs(curve, ("rates", Kind::Rate), ("latencies", Kind::Time))?;
    // Any of the lines below the curve is a service, too: the one with the greatest rate is taken.
    let all: Vec<(u64, u64)> = parts.iter().map(|(rate, latency)| (rate.0, latency.1)).collect();
    let (rate, latency) = all.iter().copied().max().ok_or("its service curve is empty")?;
    if all.len() > 1 {
        converted.lacks(format!(
            "server {name}: {} of its service curve's {} parts",
            all.len() - 1,
            all.len()
        ));
    }
    if let Some(capacity) = value.get("capacity").or_else(|| network.get("capacity"))
        && units.read(capacity, Kind::Rate)?.1 > rate
    {
        converted.lacks(format!("server {name}: its capacity; the line has the rate of its service"));
    }
    Ok(Server { name: name.to_owned(), rate, latency })
}

fn flow(value: &Value, name: &str, network: &Value, converted: &mut Converted) -> Result<Flow, String> {
    let units = Units { own: value, network };
    let curve = value.get("arrival_curve");
    let parts = units.pairs(curve, ("rates", Kind::Rate), ("bursts", Kind::Data))?;
    // Each line above the curve is an arrival curve, too: the one with the least rate is taken.
    let all: Vec<(u64, u64)> = parts.iter().map(|(rate, burst)| (rate.1, burst.1)).collect();
    let (rate, burst) = all.iter().copied().min().ok_or("its arrival curve is empty")?;
    if all.len() > 1 {
        converted.lacks(format!("flow {name}: {} of its arrival curve's {} parts", all.len() - 1, all.len()));
    }
    let packet = value.get("max_packet_length").or_else(|| network.get("max_packet_length"));
    let packet = packet.map(|packet| units.read(packet, Kind::Data)).transpose()?.map(|packet| packet.1);
    Ok(Flow {
        name: name.to_owned(),
        talker: String::new(),
        listeners: Vec::new(),
        packet,
        burst,
        rate,
        route: Vec::new(),
    })
}

/// The ways of a flow, as servers.
fn paths_of(value: &Value, servers: &[Server]) -> Result<Vec<Vec<usize>>, String> {
    let others = value.get("multicast").and_then(Value::as_array).into_iter().flatten();
    let path = |of: &Value| {
        let path = of
            .get("path")
            .and_then(Value::as_array)
            .filter(|path| !path.is_empty())
            .ok_or("it has no `path`")?;
        path.iter()
            .map(|name| {
                let at = servers.iter().position(|server| name == server.name.as_str());
                at.ok_or_else(|| format!("there is no server {}", name.as_str().unwrap_or_default()))
            })
            .collect::<Result<Vec<usize>, String>>()
    };
    std::iter::once(value).chain(others).map(path).collect()
}

/// The name of each server's node: servers that follow one server, or begin the ways of one flow, have the same.
fn nodes(servers: &[Server], paths: &[Vec<Vec<usize>>]) -> Result<Vec<String>, String> {
    let mut group: Vec<usize> = (0..servers.len()).collect();
    let mut join = |a: usize, b: usize| {
        let (old, new) = (group[a].max(group[b]), group[a].min(group[b]));
        group.iter_mut().filter(|own| **own == old).for_each(|own| *own = new);
    };
    let mut follows: BTreeMap<usize, usize> = BTreeMap::new();
    for ways in paths {
        for way in ways {
            join(ways[0][0], way[0]);
            for pair in way.windows(2) {
                join(*follows.entry(pair[0]).or_insert(pair[1]), pair[1]);
            }
        }
    }
    if let Some((from, to)) = follows.iter().find(|(from, to)| group[**from] == group[**to]) {
        return Err(format!(
            "servers {} and {} follow each other and would be ports of one node: no topology has these ways",
            servers[*from].name, servers[*to].name
        ));
    }
    // Servers of a node are often named `node-port`.
    let members =
        |number: usize| group.iter().enumerate().filter(move |own| *own.1 == number).map(|own| own.0);
    let mut names: BTreeMap<usize, String> = BTreeMap::new();
    for number in group.iter().copied().collect::<BTreeSet<_>>() {
        let prefix = |server: usize| servers[server].name.rsplit_once('-').map(|parts| parts.0);
        let shared = prefix(number).filter(|own| members(number).all(|server| prefix(server) == Some(*own)));
        let mut name = valid(shared.unwrap_or(&servers[number].name));
        while names.values().any(|known| *known == name) {
            name.push_str("-node");
        }
        names.insert(number, name);
    }
    Ok(group.iter().map(|number| names[number].clone()).collect())
}

fn distinct_names(nodes: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for node in nodes {
        if !found.contains(node) {
            found.push(node.clone());
        }
    }
    found
}

/// Cables of servers, talkers and listeners, and the routes of flows.
fn lines(
    servers: &[Server],
    paths: &[Vec<Vec<usize>>],
    nodes: &[String],
    flows: &mut [Flow],
    found: &mut Found,
) -> Result<(), (usize, String)> {
    let mut follows: BTreeMap<usize, usize> = BTreeMap::new();
    for pair in paths.iter().flatten().flat_map(|way| way.windows(2)) {
        follows.insert(pair[0], pair[1]);
    }
    // The node behind each server: the next one's, or a station.
    let mut behind = Vec::with_capacity(servers.len());
    for (number, server) in servers.iter().enumerate() {
        let far = match follows.get(&number) {
            Some(next) => nodes[*next].clone(),
            None => station(format!("sink-{}", valid(&server.name)), found),
        };
        let near = (nodes[number].clone(), valid(&server.name));
        let end = (far.clone(), format!("from-{}", valid(&server.name)));
        found.cables.push(Cable { ends: [near, end], rate: server.rate, latencies: [server.latency, 0] });
        behind.push(far);
    }
    for (place, (flow, ways)) in flows.iter_mut().zip(paths).enumerate() {
        let name = valid(&flow.name);
        let talker = station(format!("talker-{name}"), found);
        let entry = nodes[ways[0][0]].clone();
        found.cables.push(Cable {
            ends: [(talker.clone(), "out".to_owned()), (entry, format!("from-{name}"))],
            rate: FAST,
            latencies: [0, 0],
        });
        flow.route.push((talker.clone(), "out".to_owned()));
        flow.talker = talker;
        let mut before: BTreeMap<usize, Option<usize>> = BTreeMap::new();
        for (number, way) in ways.iter().enumerate() {
            let mut last = None;
            for server in way {
                match before.get(server) {
                    Some(known) if *known == last => {}
                    Some(_) => return Err((place, format!("flows: {}: its ways are no tree", flow.name))),
                    None => {
                        flow.route.push((nodes[*server].clone(), valid(&servers[*server].name)));
                        before.insert(*server, last);
                    }
                }
                last = Some(*server);
            }
            let end = *way.last().expect("a way has servers");
            if follows.contains_key(&end) {
                // It ends within the network: a station at the node behind the server.
                let listener = station(format!("listener-{name}-{number}"), found);
                let port = format!("to-{listener}");
                found.cables.push(Cable {
                    ends: [(behind[end].clone(), port.clone()), (listener.clone(), "in".to_owned())],
                    rate: FAST,
                    latencies: [0, 0],
                });
                flow.route.push((behind[end].clone(), port));
                flow.listeners.push(listener);
            } else if flow.listeners.contains(&behind[end]) {
                return Err((place, format!("flows: {}: two of its ways end at one server", flow.name)));
            } else {
                flow.listeners.push(behind[end].clone());
            }
        }
    }
    Ok(())
}

/// A station with a name that no other node has.
fn station(name: String, found: &mut Found) -> String {
    let mut name = name;
    while found.stations.contains(&name) || found.bridges.contains(&name) {
        name.push_str("-station");
    }
    found.stations.push(name.clone());
    name
}
