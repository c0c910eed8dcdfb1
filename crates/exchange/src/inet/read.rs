//! What NED and INI say of a network: nodes and their ports, cables, sources, classes, gates, meters.
//!
//! Every parameter that counts is asked for by its full name; what nobody asked for is listed in the end. Not here: the description of it.

mod packets;
mod queues;
mod traffic;

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use super::ini::{Entry, Parameters};
use super::ned::{Connection, Parameter, Type};
use super::value::{Number, Unit, Value};
use super::{LIBRARY, library};
use crate::Converted;

/// A channel's rate, bits per second, and delay, picoseconds.
type Channel = (Option<u64>, u64);

/// Propagation on cables, picoseconds in a millimetre.
const PS_PER_MM: u64 = 5;

/// Millimetres of an `EthernetLink` that states no length.
const LENGTH: u64 = 10_000;

/// A node.
pub(super) struct Node {
    pub(super) name: String,
    pub(super) is_switch: bool,
    /// By their numbers.
    pub(super) ports: Vec<Port>,
    /// How long a switch keeps a frame, picoseconds: least and most.
    pub(super) delay: (u64, u64),
    /// Whether a switch takes tags off.
    pub(super) untags: bool,
}

/// A port of a node.
#[derive(Default)]
pub(super) struct Port {
    /// The class of each priority.
    pub(super) table: [u64; 8],
    /// The class of frames without a tag.
    pub(super) untagged: u64,
    pub(super) classes: BTreeMap<u64, Class>,
    /// Gates by class.
    pub(super) gates: BTreeMap<u64, Gate>,
    pub(super) guard: bool,
}

#[derive(Clone, Default)]
pub(super) struct Class {
    /// Bits per second of a credit-based class.
    pub(super) idle_slope: Option<u64>,
    pub(super) is_ats: bool,
    /// Frames, and whether the oldest is lost.
    pub(super) limit: Option<(u64, bool)>,
}

/// A gate: whether it is open at first, the times until it changes, where in the list it is at the start. Picoseconds.
#[derive(Clone, PartialEq)]
pub(super) struct Gate {
    pub(super) is_open: bool,
    pub(super) durations: Vec<u64>,
    pub(super) offset: u64,
}

pub(super) struct Cable {
    pub(super) ends: [(usize, usize); 2],
    pub(super) rate: u64,
    /// Picoseconds.
    pub(super) delay: u64,
}

/// A stream of a talker: its name, its UDP port or none for all packets, and its priority.
type Identified = (String, Option<u64>, Option<u64>);

/// When a source's packets come. Picoseconds.
#[derive(PartialEq)]
pub(super) enum Interval {
    Constant(u64),
    Exponential(u64),
    /// Times since the first, with octets of UDP data, of a run of the stated length.
    Trace(Vec<(u64, u64)>),
}

pub(super) struct Source {
    pub(super) place: String,
    pub(super) name: String,
    pub(super) talker: usize,
    /// One, or those of a group.
    pub(super) listeners: Vec<usize>,
    pub(super) group: Option<Ipv4Addr>,
    pub(super) interval: Interval,
    pub(super) offset: u64,
    /// Whether the first packet comes at a drawn time, less than an interval behind `offset`.
    pub(super) is_phase_drawn: bool,
    /// Packets at once: sources that are alike.
    pub(super) burst: u64,
    /// Octets of UDP data, least and most.
    pub(super) least: u64,
    pub(super) octets: u64,
    /// Priority in the tag, if frames have one.
    pub(super) priority: Option<u64>,
    /// The name by which the talker's filters know it.
    pub(super) stream: Option<String>,
}

impl Source {
    /// Whether packets of two sources come at the same times and are of one stream.
    fn is_alike(&self, other: &Self) -> bool {
        let of = |one: &Self| (one.talker, one.offset, one.least, one.octets, one.priority);
        of(self) == of(other)
            && (&self.name, &self.stream, &self.listeners) == (&other.name, &other.stream, &other.listeners)
            && self.group == other.group
            && self.interval == other.interval
            && matches!(self.interval, Interval::Constant(_))
            && !self.is_phase_drawn
    }
}

/// A meter of eligibility times.
pub(super) struct Meter {
    pub(super) place: String,
    /// Bits per second, bits; picoseconds.
    pub(super) rate: Number,
    pub(super) burst: Number,
    pub(super) overhead: u64,
    pub(super) residence: Option<u64>,
}

/// Filters of a node: which stream has which meter.
#[derive(Default)]
pub(super) struct Filters {
    pub(super) streams: BTreeMap<String, u64>,
    pub(super) meters: BTreeMap<u64, Meter>,
    /// Priority, source and destination, by which streams are known, with their names.
    pub(super) decoder: Vec<Decoded>,
}

#[derive(Default)]
pub(super) struct Decoded {
    pub(super) stream: String,
    pub(super) priority: Option<u64>,
    pub(super) source: Option<String>,
    pub(super) destination: Option<String>,
}

/// All that is read.
pub(super) struct Found {
    pub(super) name: String,
    /// Picoseconds.
    pub(super) duration: Option<u64>,
    pub(super) nodes: Vec<Node>,
    pub(super) cables: Vec<Cable>,
    pub(super) sources: Vec<Source>,
    /// Filters before frames are sent, and of received frames, by node.
    pub(super) egress: Vec<Filters>,
    pub(super) ingress: Vec<Filters>,
}

/// The network with its parameters.
struct Reader<'c> {
    name: String,
    parameters: Parameters,
    types: BTreeMap<String, Type>,
    /// Of a run, picoseconds.
    duration: Option<u64>,
    /// The nodes whose sinks have joined a group's address, and at which UDP port.
    groups: BTreeMap<Ipv4Addr, Vec<(usize, Option<u64>)>>,
    converted: &'c mut Converted,
}

pub(super) fn read(types: Vec<Type>, ini: Vec<Entry>, converted: &mut Converted) -> Result<Found, String> {
    let stated = ini.iter().find(|entry| entry.pattern == "network");
    let networks: Vec<&Type> = types.iter().filter(|own| own.kind == "network").collect();
    let network = match (stated, &networks[..]) {
        (Some(entry), _) => {
            let name = entry.value.trim_matches('"').rsplit('.').next().unwrap_or("").to_owned();
            let own = networks.iter().find(|own| own.name == name).map(|own| (*own).clone());
            own.or_else(|| library(&name)).ok_or_else(|| {
                format!(
                    "{}: the network `{name}` is in no file; of INET's own ones {} are known",
                    entry.place,
                    LIBRARY.join(" and ")
                )
            })?
        }
        (None, [one]) => (*one).clone(),
        (None, []) => return Err("no file has a network, and none is named by `network = `".to_owned()),
        (None, several) => {
            let names: Vec<&str> = several.iter().map(|own| own.name.as_str()).collect();
            return Err(format!(
                "several networks, {}: an INI file names one by `network = `",
                names.join(", ")
            ));
        }
    };
    let duration = ini.iter().find(|entry| entry.pattern == "sim-time-limit");
    let duration = duration.map(|entry| {
        let value = Value::read(&entry.value, 0).ok().and_then(|value| value.whole(Unit::Time));
        value.ok_or_else(|| format!("{}: a limit is a time such as `1s`", entry.place))
    });
    let duration = duration.transpose()?;
    let types: BTreeMap<String, Type> = types.into_iter().map(|own| (own.name.clone(), own)).collect();
    let mut reader = Reader {
        name: network.name.clone(),
        parameters: Parameters::default(),
        types,
        duration,
        groups: BTreeMap::new(),
        converted,
    };
    reader.read(&network, ini)
}

impl Reader<'_> {
    fn read(&mut self, network: &Type, ini: Vec<Entry>) -> Result<Found, String> {
        let chain = self.chain(network);
        let connected: BTreeSet<&str> = chain
            .iter()
            .flat_map(|own| &own.connections)
            .flat_map(|cable| &cable.ends)
            .map(|end| end.0.as_str())
            .collect();
        let (mut first, mut defaults) = (Vec::new(), Vec::new());
        for own in &chain {
            split(&own.parameters, "*.", &mut first, &mut defaults);
            for module in own.submodules.iter().filter(|module| connected.contains(module.name.as_str())) {
                split(&module.parameters, &format!("*.{}.", module.name), &mut first, &mut defaults);
            }
            for line in &own.not_understood {
                self.converted.lacks(line.clone());
            }
        }
        const OF_RUNS: [&str; 6] =
            ["network", "sim-time-limit", "abstract", "extends", "description", "ned-path"];
        let of_network = |entry: &Entry| !OF_RUNS.contains(&entry.pattern.as_str());
        first.extend(ini.into_iter().filter(of_network));
        self.parameters = Parameters::new(first).with(Vec::new(), defaults);
        let mut nodes = Vec::new();
        let mut places = BTreeMap::new();
        for module in chain.iter().flat_map(|own| &own.submodules) {
            if !connected.contains(module.name.as_str()) {
                self.converted
                    .lacks(format!("{}: module {} of type {}", module.place, module.name, module.kind));
                continue;
            }
            let path = format!("{}.typename", module.name);
            let kind = self.text(&path).map(|kind| kind.unwrap_or_else(|| module.kind.clone()));
            let is_switch = kind.and_then(|kind| self.node_kind(&kind, &module.name, &module.place));
            // With a fault the node is there, so that what is connected to it has none.
            let is_switch = self.converted.keep(is_switch).unwrap_or(false);
            places.insert(module.name.clone(), nodes.len());
            nodes.push(Node {
                name: module.name.clone(),
                is_switch,
                ports: Vec::new(),
                delay: (0, 0),
                untags: false,
            });
        }
        let mut cables = Vec::new();
        for connection in chain.iter().flat_map(|own| &own.connections) {
            let cable = self.cable(connection, &places, &mut nodes);
            cables.extend(self.converted.keep(cable));
        }
        let mut sources = Vec::new();
        let (mut egress, mut ingress) = (Vec::new(), Vec::new());
        let names: Vec<String> = nodes.iter().map(|node| node.name.clone()).collect();
        self.join(&names);
        for (number, node) in nodes.iter_mut().enumerate() {
            self.node(node);
            let streams = self.streams(&node.name);
            let streams = self.converted.keep(streams).unwrap_or_default();
            self.sources(number, node, &names, &streams, &mut sources);
            for (way, word, all) in [("egress", "Egress", &mut egress), ("ingress", "Ingress", &mut ingress)]
            {
                let filters = self.filters(&node.name, way, word);
                all.push(self.converted.keep(filters).unwrap_or_default());
            }
        }
        let unused: Vec<String> = self
            .parameters
            .unused()
            .map(|entry| format!("{}: `{} = {}`", entry.place, entry.pattern, shortened(&entry.value)))
            .collect();
        for line in unused {
            self.converted.lacks(line);
        }
        Ok(Found {
            name: self.name.clone(),
            duration: self.duration,
            nodes,
            cables,
            sources,
            egress,
            ingress,
        })
    }

    /// A cable, with the ports at its ends.
    fn cable(
        &self,
        connection: &Connection,
        places: &BTreeMap<String, usize>,
        nodes: &mut [Node],
    ) -> Result<Cable, String> {
        let mut ends = [(0, 0); 2];
        for (end, (module, gate)) in ends.iter_mut().zip(&connection.ends) {
            let node = *places
                .get(module)
                .ok_or_else(|| format!("{}: `{module}` is no module of the network", connection.place))?;
            let count = nodes[node].ports.len();
            let number = gate.strip_prefix("ethg[").and_then(|rest| rest.strip_suffix(']'));
            let is_next = gate == "ethg++" || number.is_some_and(|number| number.parse() == Ok(count));
            if !is_next {
                return Err(format!(
                    "{}: `{module}.{gate}`: the gates of cables are `ethg++`, or `ethg[number]` in their order",
                    connection.place
                ));
            }
            nodes[node].ports.push(Port { guard: true, ..Port::default() });
            *end = (node, count);
        }
        let (rate, delay) = self.channel(connection)?;
        let mut rates: Vec<u64> = rate.into_iter().collect();
        for (node, port) in ends {
            let path = format!("{}.eth[{port}].bitrate", nodes[node].name);
            rates.extend(self.whole(&path, Unit::Rate)?);
        }
        let [node, port] = [ends[0].0, ends[0].1];
        let rate = *rates.first().ok_or_else(|| {
            format!(
                "{}: no rate: neither the channel nor `*.{}.eth[{port}].bitrate` has one",
                connection.place, nodes[node].name
            )
        })?;
        if rates.iter().any(|other| *other != rate) {
            return Err(format!("{}: the rates of the channel and of its ports differ", connection.place));
        }
        Ok(Cable { ends, rate, delay })
    }

    /// A network and those that it extends, the first one first.
    fn chain(&self, network: &Type) -> Vec<Type> {
        let mut chain = vec![network.clone()];
        let mut next = network.extends.clone();
        while let Some(own) =
            next.take().and_then(|name| self.types.get(&name).cloned().or_else(|| library(&name)))
        {
            if chain.len() > 16 {
                break;
            }
            next.clone_from(&own.extends);
            chain.push(own);
        }
        chain.reverse();
        chain
    }

    /// Whether a type is that of a switch; its own parameters become those of the node.
    fn node_kind(&mut self, kind: &str, node: &str, place: &str) -> Result<bool, String> {
        let mut name = kind.to_owned();
        for _ in 0..16 {
            match name.as_str() {
                "TsnSwitch" | "EthernetSwitch" => return Ok(true),
                "TsnDevice" | "StandardHost" | "TsnClock" => return Ok(false),
                _ => {}
            }
            let Some(own) = self.types.get(&name) else { break };
            let (mut first, mut defaults) = (Vec::new(), Vec::new());
            split(&own.parameters, &format!("*.{node}."), &mut first, &mut defaults);
            let Some(base) = own.extends.clone() else { break };
            self.parameters = std::mem::take(&mut self.parameters).with(first, defaults);
            name = base;
        }
        Err(format!(
            "{place}: `{node}` has the type {kind}; nodes with cables are TsnDevice, StandardHost, TsnSwitch, EthernetSwitch, or extend one of them"
        ))
    }

    fn channel(&self, connection: &super::ned::Connection) -> Result<Channel, String> {
        let Some((kind, own)) = &connection.channel else { return Ok((None, 0)) };
        let mut parameters: Vec<Parameter> = own.clone();
        let mut name = kind.clone();
        let mut known = None;
        for _ in 0..16 {
            known = match name.as_str() {
                "EthernetLink" | "Cable" => Some(None),
                "DatarateChannel" | "IdealChannel" | "DelayChannel" => Some(None),
                "Eth10M" => Some(Some(10_000_000)),
                "Eth100M" => Some(Some(100_000_000)),
                "Eth1G" => Some(Some(1_000_000_000)),
                "Eth10G" => Some(Some(10_000_000_000)),
                "Eth40G" => Some(Some(40_000_000_000)),
                "Eth100G" => Some(Some(100_000_000_000)),
                _ => None,
            };
            let Some(own) = self.types.get(&name) else { break };
            if known.is_some() {
                break;
            }
            parameters.extend(own.parameters.clone());
            let Some(base) = own.extends.clone() else { break };
            name = base;
        }
        let mut rate =
            known.ok_or_else(|| format!("{}: the channel `{kind}` is not known", connection.place))?;
        let mut delay = None;
        let length = (!name.ends_with("Channel")).then_some(LENGTH);
        let mut stated = BTreeSet::new();
        for parameter in &parameters {
            if !stated.insert(parameter.name.clone()) {
                continue;
            }
            let read = |unit| -> Result<u64, String> {
                let value = Value::read(parameter.value().0, 0)
                    .map_err(|why| format!("{}: {why}", parameter.place))?;
                value.whole(unit).ok_or_else(|| {
                    format!(
                        "{}: `{}` is no whole number of its smallest unit",
                        parameter.place, parameter.value
                    )
                })
            };
            match parameter.name.as_str() {
                "datarate" => rate = Some(read(Unit::Rate)?),
                "delay" => delay = Some(read(Unit::Time)?),
                "length" => {
                    let value = Value::read(parameter.value().0, 0)
                        .map_err(|why| format!("{}: {why}", parameter.place))?;
                    let time = value.number(Unit::Length).and_then(|length| length.scaled_ceil(PS_PER_MM, 1));
                    delay = delay
                        .or(Some(time.ok_or_else(|| format!("{}: a length has its unit", parameter.place))?));
                }
                name => {
                    return Err(format!("{}: `{name}` of a channel is not supported", parameter.place));
                }
            }
        }
        Ok((rate, delay.unwrap_or(length.unwrap_or(0).saturating_mul(PS_PER_MM))))
    }

    /// A value and its place, by the name of a parameter within the network.
    fn value(&self, path: &str, index: u64) -> Result<Option<(Value, String)>, String> {
        let Some(entry) = self.parameters.get(&format!("{}.{path}", self.name)) else { return Ok(None) };
        let value = Value::read(&entry.value, index).map_err(|why| format!("{}: {why}", entry.place))?;
        Ok(Some((value, entry.place.clone())))
    }

    fn whole(&self, path: &str, unit: Unit) -> Result<Option<u64>, String> {
        let Some((value, place)) = self.value(path, 0)? else { return Ok(None) };
        let number = value.whole(unit);
        number
            .map(Some)
            .ok_or_else(|| format!("{place}: a whole number is expected, with the unit of {path}"))
    }

    fn text(&self, path: &str) -> Result<Option<String>, String> {
        let Some((value, place)) = self.value(path, 0)? else { return Ok(None) };
        let text = value.text().ok_or_else(|| format!("{place}: a text in quotes is expected"))?;
        // The namespace of a type, and its package.
        Ok(Some(text.rsplit(['.', ':']).next().unwrap_or("").to_owned()))
    }

    fn bool(&self, path: &str) -> Result<Option<bool>, String> {
        match self.value(path, 0)? {
            None => Ok(None),
            Some((Value::Bool(is), _)) => Ok(Some(is)),
            Some((_, place)) => Err(format!("{place}: `true` or `false` is expected")),
        }
    }

    fn flag(&self, path: &str) -> Result<bool, String> {
        Ok(self.bool(path)?.unwrap_or(false))
    }
}

/// Parameters of NED: those with a value count before an INI file, those with a default behind it.
fn split(parameters: &[Parameter], prefix: &str, first: &mut Vec<Entry>, defaults: &mut Vec<Entry>) {
    for parameter in parameters {
        let (value, is_default) = parameter.value();
        let pattern = format!("{prefix}{}", parameter.name);
        let entry = Entry::new(parameter.place.clone(), &pattern, value);
        if is_default { defaults.push(entry) } else { first.push(entry) }
    }
}

fn get<'m>(map: &'m [(String, Value)], key: &str) -> Option<&'m Value> {
    map.iter().find(|(own, _)| own == key).map(|(_, value)| value)
}

/// The beginning of a long value.
fn shortened(value: &str) -> String {
    let short: String = value.chars().take(60).collect();
    if short.len() < value.len() { short + " ..." } else { short }
}
