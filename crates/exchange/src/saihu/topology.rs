//! Nodes and links in XML, as WoPANets has them: stations, switches with a service, links of one direction, flows with targets.

use super::quantity::Kind;
use super::{Cable, FAST, Flow, Found};
use crate::xml::Element;
use crate::{Converted, valid};

/// What is taken over, or says how tools analyse.
const OF_NETWORK: [&str; 8] = [
    "name",
    "technology",
    "transmission-capacity",
    "service-latency",
    "service-rate",
    "maximum-packet-size",
    "minimum-packet-size",
    "overhead",
];
const OF_NODE: [&str; 3] = ["name", "service-latency", "service-rate"];
const OF_LINK: [&str; 8] =
    ["name", "from", "to", "fromPort", "toPort", "transmission-capacity", "service-latency", "service-rate"];
const OF_FLOW: [&str; 8] = [
    "name",
    "source",
    "arrival-curve",
    "lb-burst",
    "lb-rate",
    "maximum-packet-size",
    "minimum-packet-size",
    "priority",
];

/// What is wrong with an element, with its line.
fn at(element: &Element, why: &str) -> String {
    format!("line {}: {why}", element.line)
}

pub(super) fn read(text: &str, converted: &mut Converted) -> Result<Found, String> {
    let root = Element::read(text)?;
    if root.name != "elements" {
        return Err(format!("its root is `{}`: it must be `elements`, or the file a JSON object", root.name));
    }
    let mut found = Found::default();
    let nothing = Element::default();
    let network = root.children.iter().find(|child| child.name == "network").unwrap_or(&nothing);
    lacks(network, &OF_NETWORK, "network", converted);
    if network.get("overhead").is_some_and(|octets| octets != "20") {
        converted.lacks("network: its overhead; a frame takes 20 octets of the line in addition");
    }
    for node in &root.children {
        let kind = match node.name.as_str() {
            "station" => &mut found.stations,
            "switch" => &mut found.bridges,
            "network" | "link" | "flow" => continue,
            other => {
                converted.lacks(format!("element {other}"));
                continue;
            }
        };
        let Some(name) = converted.keep(name(node).map_err(|why| at(node, &why))) else { continue };
        lacks(node, &OF_NODE, &name, converted);
        kind.push(name);
    }
    for link in root.children.iter().filter(|child| child.name == "link") {
        let cable = cable(link, &root, network, converted).map_err(|why| at(link, &why));
        let Some(cable) = converted.keep(cable) else { continue };
        let back = |known: &&mut Cable| known.ends[0] == cable.ends[1] && known.ends[1] == cable.ends[0];
        match found.cables.iter_mut().find(back) {
            Some(known) => {
                known.latencies[1] = cable.latencies[0];
                if known.rate != cable.rate {
                    let [from, to] = &cable.ends;
                    converted.lacks(format!(
                        "link {} to {}: its rate, which differs from that of the other direction",
                        from.0, to.0
                    ));
                }
            }
            None => found.cables.push(cable),
        }
    }
    let is_whole = converted.faults.is_empty();
    for flow in root.children.iter().filter(|child| child.name == "flow") {
        let Some(name) = converted.keep(name(flow).map_err(|why| at(flow, &why))) else { continue };
        lacks(flow, &OF_FLOW, &format!("flow {name}"), converted);
        if flow.get("priority").is_some() {
            converted.lacks(format!("flow {name}: its priority"));
        }
        let read = flow_of(flow, &name, network, &found, is_whole)
            .map_err(|why| at(flow, &format!("flow {name}: {why}")));
        found.flows.extend(converted.keep(read));
    }
    Ok(found)
}

fn name(element: &Element) -> Result<String, String> {
    element.get("name").map(valid).ok_or_else(|| format!("a {} has no name", element.name))
}

fn lacks(element: &Element, known: &[&str], place: &str, converted: &mut Converted) {
    for (key, _) in element.attributes.iter().filter(|(key, _)| !known.contains(&key.as_str())) {
        converted.lacks(format!("{place}: {key}"));
    }
}

/// A value of the first element that has it; rounded down and up.
fn value(of: &[&Element], key: &str, kind: Kind) -> Result<Option<(u64, u64)>, String> {
    let unit = match kind {
        Kind::Time => "s",
        Kind::Data => "b",
        Kind::Rate => "bps",
    };
    let text = of.iter().find_map(|element| element.get(key));
    text.map(|text| kind.read(text, unit)).transpose()
}

fn cable(
    link: &Element,
    root: &Element,
    network: &Element,
    converted: &mut Converted,
) -> Result<Cable, String> {
    let end = |node: &str, port: &str| {
        let node = link.get(node).ok_or_else(|| format!("a link has no `{node}`"))?;
        let port = link.get(port).ok_or_else(|| format!("a link of {node} has no `{port}`"))?;
        Ok::<_, String>((valid(node), valid(port)))
    };
    let ends = [end("from", "fromPort")?, end("to", "toPort")?];
    lacks(link, &OF_LINK, &format!("link {} to {}", ends[0].0, ends[1].0), converted);
    let node_of = |end: &super::Place| {
        root.children.iter().find(|node| {
            matches!(node.name.as_str(), "station" | "switch")
                && node.get("name").is_some_and(|name| valid(name) == end.0)
        })
    };
    let node =
        node_of(&ends[0]).ok_or_else(|| format!("a link begins at {}, which is no node", ends[0].0))?;
    if node_of(&ends[1]).is_none() {
        return Err(format!("a link ends at {}, which is no node", ends[1].0));
    }
    // A station without a service is no server, whatever its links carry.
    let serves = |of: &&Element| node.get("service-rate").is_some() || of.name != "network";
    let all: Vec<&Element> = [link, node, network].into_iter().filter(serves).collect();
    let capacity = value(&[link, network], "transmission-capacity", Kind::Rate)?.map(|rate| rate.0);
    let service = value(&all, "service-rate", Kind::Rate)?.map(|rate| rate.0);
    let latency = value(&all, "service-latency", Kind::Time)?.map_or(0, |latency| latency.1);
    let rate = match (capacity, service) {
        (Some(capacity), Some(service)) if service < capacity => {
            converted.lacks(format!(
                "link {} to {}: its capacity; the line has the rate of its service",
                ends[0].0, ends[1].0
            ));
            service
        }
        (Some(rate), _) | (None, Some(rate)) => rate,
        (None, None) => {
            converted
                .lacks(format!("link {} to {}: it has no rate; 100 Gbit/s is written", ends[0].0, ends[1].0));
            FAST
        }
    };
    Ok(Cable { ends, rate, latencies: [latency, 0] })
}

/// A flow; its ways are followed only over links that are whole.
fn flow_of(
    flow: &Element,
    name: &str,
    network: &Element,
    found: &Found,
    is_whole: bool,
) -> Result<Flow, String> {
    if flow.get("arrival-curve").is_some_and(|curve| curve != "leaky-bucket") {
        return Err("its arrival curve must be a `leaky-bucket`".to_owned());
    }
    let need = |key: &str, kind| value(&[flow], key, kind)?.ok_or_else(|| format!("it has no `{key}`"));
    let (burst, rate) = (need("lb-burst", Kind::Data)?.1, need("lb-rate", Kind::Rate)?.1);
    let packet = value(&[flow, network], "maximum-packet-size", Kind::Data)?.map(|packet| packet.1);
    let source = flow.get("source").map(valid).ok_or("it has no `source`")?;
    let mut read = Flow {
        name: name.to_owned(),
        talker: source.clone(),
        listeners: Vec::new(),
        packet,
        burst,
        rate,
        route: Vec::new(),
    };
    if !is_whole {
        return Ok(read);
    }
    for target in flow.children.iter().filter(|child| child.name == "target") {
        let mut at = source.clone();
        for step in target.children.iter().filter(|child| child.name == "path") {
            let next = step.get("node").map(valid).ok_or("a `path` has no `node`")?;
            let leads = |ends: [&super::Place; 2]| ends[0].0 == at && ends[1].0 == next;
            let port = found.cables.iter().find_map(|cable| {
                let [a, b] = &cable.ends;
                if leads([a, b]) { Some(a) } else { leads([b, a]).then_some(b) }
            });
            let port = port.ok_or_else(|| format!("no link leads from {at} to {next}"))?;
            if !read.route.contains(port) {
                read.route.push(port.clone());
            }
            at = next;
        }
        if at == source || read.listeners.contains(&at) {
            return Err("it has two targets at one node, or one without a way".to_owned());
        }
        read.listeners.push(at);
    }
    if read.listeners.is_empty() {
        return Err("it has no `target`".to_owned());
    }
    let stations = std::iter::once(&read.talker).chain(&read.listeners);
    if let Some(node) = stations.into_iter().find(|node| !found.stations.contains(node)) {
        return Err(format!("it begins or ends at {node}, which is no station"));
    }
    Ok(read)
}
