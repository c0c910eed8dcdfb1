//! Reads GraphML: nodes and edges with the data that programs give them, by the names of the data.
//!
//! | of a description | data, or attribute |
//! |---|---|
//! | name of a node | `name` or `label`, or a label of yEd, if all nodes have another one; else the identifier |
//! | type of a node | `kind` or `type`: `bridge`, `switch`, `end-station`, `host` ... |
//! | `rate` | `rate_bps`, `LinkSpeedRaw`; `rate`, `bandwidth`, `capacity`, `speed` with a unit |
//! | `propagation-delay` | `propagation_ps`; `propagation-delay`, `delay`, `latency` with a unit |
//! | `length`, `up` | `length` with a unit; `up` |
//! | ports | `source_port` and `target_port`; `sourceport` and `targetport` of an edge |

use std::collections::{BTreeMap, BTreeSet};

use tautwire_units::{BitRate, Duration};

use crate::topology::{self, Cable, Node};
use crate::xml::Element;
use crate::{Converted, Files, valid};

/// Words for what bridges, and for what does not.
const BRIDGES: [&str; 5] = ["bridge", "switch", "router", "relay", "tsnswitch"];
const STATIONS: [&str; 9] =
    ["endstation", "host", "station", "endsystem", "enddevice", "computer", "server", "client", "tsndevice"];

/// The data of a node or an edge by name.
type Data = BTreeMap<String, String>;

pub(super) fn read(files: &Files<'_>, converted: &mut Converted) -> Result<(), String> {
    let [input] = files.inputs else { return Err("a topology in GraphML is one file".to_owned()) };
    let name = &input.name;
    let root =
        Element::read(input.text.trim_start_matches('\u{feff}')).map_err(|why| format!("{name}: {why}"))?;
    let graph = root.children.iter().find(|child| child.local() == "graph");
    let graph = graph.filter(|_| root.local() == "graphml");
    let graph = graph.ok_or_else(|| format!("{name}: its root is `graphml` with a `graph` in it"))?;
    if root.children.iter().filter(|child| child.local() == "graph").count() > 1 {
        converted.lacks(format!("{name}: graphs behind the first one"));
    }
    let keys = keys(&root);
    let elements =
        |kind: &str| graph.children.iter().filter(|child| child.local() == kind).collect::<Vec<_>>();
    let many = elements("hyperedge").len();
    if many > 0 {
        converted.lacks(format!("{name}: {many} edges with more than two ends"));
    }
    let mut left = BTreeMap::new();
    let (nodes, places) = nodes(name, &elements("node"), &keys, &mut left, converted);
    let is_directed = |edge: &Element| {
        let stated = edge.get("directed").map(|word| word == "true");
        stated.unwrap_or(graph.get("edgedefault") == Some("directed"))
    };
    let mut edges = Vec::new();
    for (number, edge) in elements("edge").into_iter().enumerate() {
        let end = |key: &str| {
            let of =
                edge.get(key).ok_or_else(|| format!("{name}: edge {}: it has no `{key}`", number + 1))?;
            places
                .get(of)
                .copied()
                .ok_or_else(|| format!("{name}: edge {}: there is no node `{of}`", number + 1))
        };
        let ends = [converted.keep(end("source")), converted.keep(end("target"))];
        let [Some(from), Some(to)] = ends else { continue };
        if from == to {
            converted.lacks(format!(
                "{name}: edge {}: it is from {} to itself",
                number + 1,
                nodes[from].name
            ));
            continue;
        }
        edges.push(Edge {
            number: number + 1,
            ends: [from, to],
            is_directed: is_directed(edge),
            data: data(edge, &keys),
        });
    }
    let cables = cables(name, edges, &nodes, &mut left, converted);
    for (data, count) in left {
        converted.lacks(format!("{name}: {count} times {data}"));
    }
    if converted.faults.is_empty() {
        let first = "# Nodes and cables of a graph. Device models and streams are to be added.";
        topology::describe(first, &nodes, &cables, converted);
    }
    Ok(())
}

/// The names of data by their keys.
fn keys(root: &Element) -> BTreeMap<&str, &str> {
    let keys = root.children.iter().filter(|child| child.local() == "key");
    keys.filter_map(|key| Some((key.get("id")?, key.get("attr.name").or_else(|| key.get("id"))?))).collect()
}

/// The data of an element: those of its keys, the label that yEd draws, and the ports that are its attributes.
fn data(element: &Element, keys: &BTreeMap<&str, &str>) -> Data {
    let mut found = Data::new();
    for own in element.children.iter().filter(|child| child.local() == "data") {
        let key = own.get("key").unwrap_or("");
        let (name, text) = match label(own) {
            Some(label) => ("label", label),
            None => (keys.get(key).copied().unwrap_or(key), own.text.trim()),
        };
        if !name.is_empty() && !text.is_empty() {
            found.insert(name.to_owned(), text.to_owned());
        }
    }
    for (attribute, name) in [("sourceport", "source_port"), ("targetport", "target_port")] {
        if let Some(port) = element.get(attribute) {
            found.entry(name.to_owned()).or_insert_with(|| port.to_owned());
        }
    }
    found
}

/// The text of a label that yEd draws in a node.
fn label(element: &Element) -> Option<&str> {
    let own = Some(element.text.trim()).filter(|text| element.local() == "NodeLabel" && !text.is_empty());
    own.or_else(|| element.children.iter().find_map(label))
}

/// Nodes, and their places by their identifiers.
fn nodes<'e>(
    file: &str,
    elements: &[&'e Element],
    keys: &BTreeMap<&str, &str>,
    left: &mut BTreeMap<String, usize>,
    converted: &mut Converted,
) -> (Vec<Node>, BTreeMap<&'e str, usize>) {
    let (mut nodes, mut places) = (Vec::new(), BTreeMap::new());
    let mut all: Vec<(&str, Data)> = Vec::new();
    for (number, element) in elements.iter().enumerate() {
        match element.get("id") {
            None => converted.fault(format!("{file}: node {}: it has no `id`", number + 1)),
            Some(id) if places.contains_key(id) => converted.fault(format!("{file}: two nodes `{id}`")),
            Some(id) => {
                places.insert(id, all.len());
                all.push((id, data(element, keys)));
            }
        }
        if element.children.iter().any(|child| child.local() == "graph") {
            converted.lacks(format!("{file}: the graph in node {}", number + 1));
        }
    }
    // By labels only if each node has its own.
    let named = ["name", "label"].into_iter().find(|key| {
        let names: BTreeSet<String> =
            all.iter().filter_map(|(_, data)| data.get(*key).map(|name| valid(name))).collect();
        names.len() == all.len()
    });
    let mut names = BTreeSet::new();
    for (id, mut data) in all {
        let label = named.and_then(|key| data.remove(key));
        data.retain(|key, label| !(["name", "label"].contains(&key.as_str()) && label == id));
        let mut node = Node { name: valid(label.as_deref().unwrap_or(id)), ..Node::default() };
        for key in ["kind", "type"] {
            let word = data.get(key).map(|word| word.to_ascii_lowercase().replace(['-', '_', ' '], ""));
            let Some(word) = word.filter(|_| node.bridges.is_none()) else { continue };
            node.bridges = match word.as_str() {
                word if BRIDGES.contains(&word) => Some(true),
                word => STATIONS.contains(&word).then_some(false),
            };
            if node.bridges.is_some() {
                data.remove(key);
            }
        }
        count(data, "nodes", left);
        if !names.insert(node.name.clone()) {
            converted.fault(format!("{file}: two nodes have the name `{}`", node.name));
        }
        nodes.push(node);
    }
    (nodes, places)
}

/// Counts data that nobody took.
fn count(data: Data, of: &str, left: &mut BTreeMap<String, usize>) {
    for key in data.into_keys() {
        *left.entry(format!("`{key}` of {of}")).or_default() += 1;
    }
}

/// An edge: its number in the file, its nodes, its data.
struct Edge {
    number: usize,
    ends: [usize; 2],
    is_directed: bool,
    data: Data,
}

/// The cables: an edge, or two directed ones against each other.
fn cables(
    file: &str,
    edges: Vec<Edge>,
    nodes: &[Node],
    left: &mut BTreeMap<String, usize>,
    converted: &mut Converted,
) -> Vec<Cable> {
    let mut cables: Vec<Cable> = Vec::new();
    // Directed edges without one against them, by their cables.
    let mut open: Vec<([usize; 2], usize)> = Vec::new();
    let mut used: BTreeSet<(usize, String)> = BTreeSet::new();
    for mut edge in edges {
        let [from, to] = edge.ends;
        let place = format!("{file}: edge {} ({} to {})", edge.number, nodes[from].name, nodes[to].name);
        let rate = rate(&place, &mut edge.data, converted);
        let propagation = propagation(&place, &mut edge.data, converted);
        let ports = ["source_port", "target_port"].map(|key| edge.data.remove(key).map(|port| valid(&port)));
        if edge.is_directed {
            if let Some(at) = open.iter().position(|(ends, _)| *ends == [to, from]) {
                let back = &cables[open.remove(at).1];
                if (back.rate, back.propagation) != (rate, propagation) {
                    converted.lacks(format!(
                        "{place}: its rate or delay, which differs from that of the way back"
                    ));
                }
                continue;
            }
            open.push(([from, to], cables.len()));
        }
        let mut others = String::new();
        if let Some(length) = edge.data.remove("length") {
            match length
                .split_once(' ')
                .filter(|(number, unit)| is_decimal(number) && ["m", "km"].contains(unit))
            {
                Some(_) if propagation.is_none() => others.push_str(&format!(", length: {length}")),
                _ => converted
                    .lacks(format!("{place}: `length`, which is `{length}`: it must be such as `10 m`")),
            }
        }
        match edge.data.remove("up").as_deref() {
            None | Some("true") => {}
            Some("false") => others.push_str(", up: false"),
            Some(other) => converted.fault(format!("{place}: `up` is `{other}`: it must be true or false")),
        }
        count(edge.data, "edges", left);
        let mut ends = [(from, String::new()), (to, String::new())];
        for ((node, name), port) in ends.iter_mut().zip(ports) {
            let next = || {
                (1..).map(|number| format!("p{number}")).find(|name| !used.contains(&(*node, name.clone())))
            };
            *name = port.or_else(next).expect("numbers go on");
            if !used.insert((*node, name.clone())) {
                converted
                    .fault(format!("{place}: the port `{name}` of {} has another edge", nodes[*node].name));
            }
        }
        cables.push(Cable { ends, rate, propagation, others });
    }
    for (ends, _) in open {
        converted.lacks(format!(
            "the edge from {} to {} has none back; a cable has both directions",
            nodes[ends[0]].name, nodes[ends[1]].name
        ));
    }
    cables
}

fn is_decimal(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// The rate of an edge: a number of bits per second, or a text with a unit.
fn rate(place: &str, data: &mut Data, converted: &mut Converted) -> Option<BitRate> {
    let mut found = None;
    for key in ["rate_bps", "LinkSpeedRaw"] {
        let Some(text) = data.remove(key) else { continue };
        // Programs write whole numbers as decimals, too.
        let whole = text.strip_suffix(".0").unwrap_or(&text).parse().ok().filter(|bps| *bps > 0);
        let wrong = || format!("{place}: `{key}` is `{text}`: it must be bits per second");
        found = found.or(converted.keep(whole.ok_or_else(wrong)).map(BitRate::from_bps));
    }
    for key in ["rate", "bandwidth", "capacity", "speed"] {
        let Some(text) = data.get(key) else { continue };
        match text.parse::<BitRate>() {
            Ok(rate) if rate.as_bps() > 0 => {
                found = found.or(Some(rate));
                data.remove(key);
            }
            _ => {
                converted.lacks(format!("{place}: `{key}`, which is `{text}`: it has no unit such as Mbit/s"))
            }
        }
    }
    found
}

/// The delay of an edge: a number of picoseconds, or a text with a unit.
fn propagation(place: &str, data: &mut Data, converted: &mut Converted) -> Option<Duration> {
    let mut found = None;
    if let Some(text) = data.remove("propagation_ps") {
        let wrong = || format!("{place}: `propagation_ps` is `{text}`: it must be picoseconds");
        found = converted.keep(text.parse().map_err(|_| wrong())).map(Duration::from_ps);
    }
    for key in ["propagation-delay", "delay", "latency"] {
        let Some(text) = data.get(key) else { continue };
        match text.parse::<Duration>() {
            Ok(delay) => {
                found = found.or(Some(delay));
                data.remove(key);
            }
            Err(_) => {
                converted.lacks(format!("{place}: `{key}`, which is `{text}`: it has no unit such as ns"))
            }
        }
    }
    found
}
