//! Puts requests into a description: those of its streams where they differ, others as new streams.

use std::collections::{BTreeMap, BTreeSet};

use tautwire_model::Network;
use tautwire_model::network::{Stream, StreamIndex};
use tautwire_model::settings::{shared_at, value_at, with_element, with_value};
use tautwire_units::Duration;
use tautwire_wire::MacAddress;

use super::super::names::Fraction;
use super::super::read::document;
use super::document::{Read, all};
use super::{Interface, Ipv4, Request, around, identified, station, write};
use crate::{Base, Converted, Files, quoted, valid};

/// Picoseconds of a day, the longest interval.
const DAY: u128 = 86_400_000_000_000_000;

/// Picoseconds of a second.
const SECOND: u128 = 1_000_000_000_000;

pub(super) fn update(files: &Files<'_>, base: &Base<'_>, converted: &mut Converted) -> Result<(), String> {
    let mut requests = Vec::new();
    for input in files.inputs {
        if let Some(document) = converted.keep(document(input)) {
            all(document, &mut requests, converted);
        }
    }
    let mut ids = BTreeSet::new();
    for one in &requests {
        if !ids.insert(one.id.to_uppercase()) {
            converted.fault(format!("{}: a second request {}", one.place, one.id));
        }
    }
    let network = base.network;
    let known: BTreeMap<String, StreamIndex> = identified(network).into_iter().collect();
    let mut edits = Edits { text: base.text.to_owned() };
    let mut names: BTreeSet<String> = network.streams.iter().map(|stream| stream.name.clone()).collect();
    for one in &requests {
        let Some(stations) = stations(network, one, converted) else { continue };
        match known.get(&one.id.to_uppercase()) {
            Some(number) => edits.change(network, *number, one, &stations, converted),
            None => {
                let name = name(&stations.0, &one.id, &mut names);
                converted.lacks(format!(
                    "{}: {} is no stream of the base: it is added as {name}",
                    one.place, one.id
                ));
                edits.add(network, &name, one, &stations, converted);
            }
        }
    }
    for (id, number) in identified(network) {
        if !ids.contains(&id.to_uppercase()) {
            let name = &network.streams[number.index()].name;
            converted.lacks(format!(
                "stream {name} of the base: no request has its identifier, {id}; it stays as it is"
            ));
        }
    }
    converted.text = edits.text;
    Ok(())
}

/// A name for a new stream: its talker's, and the number in its identifier.
fn name(talker: &str, id: &str, names: &mut BTreeSet<String>) -> String {
    let number =
        id.rsplit(':').next().and_then(|unique| u16::from_str_radix(&unique.replace('-', ""), 16).ok());
    let first = format!("{talker}-{}", number.unwrap_or_default());
    let others = (2..).map(|number| format!("{first}-{number}"));
    let mut all = std::iter::once(first.clone()).chain(others);
    let found = all.find(|name| !names.contains(name)).expect("numbers do not end");
    names.insert(found.clone());
    found
}

/// The end stations of a request: the talker, and the listeners in order.
type Stations = (String, Vec<String>);

fn stations(network: &Network, one: &Read, converted: &mut Converted) -> Option<Stations> {
    let mut of = |interface: &Interface, role: &str| {
        let found = station(network, interface.address);
        let Some((node, port)) = found else {
            converted.fault(format!(
                "{}: {role}: the base has no interface with the address {}: state it as the `address` of a port",
                one.place, interface.address
            ));
            return None;
        };
        let own = super::super::interface(&network.ports[port.index()]);
        if own != interface.name {
            converted.lacks(format!(
                "{}: {role}: the name {} of its interface, which is {own} in the base",
                one.place, interface.name
            ));
        }
        Some(network.nodes[node.index()].name.clone())
    };
    let talker = of(&one.request.talker, "talker");
    let listeners: Vec<Option<String>> = one
        .request
        .listeners
        .iter()
        .enumerate()
        .map(|(number, own)| of(own, &format!("listener[{number}]")))
        .collect();
    Some((talker?, listeners.into_iter().collect::<Option<Vec<String>>>()?))
}

/// The description, as far as it is changed.
struct Edits {
    text: String,
}

impl Edits {
    /// Changes a value of a stream.
    fn set(&mut self, stream: &str, key: &str, value: &str, converted: &mut Converted) {
        let key = format!("streams.{stream}.{key}");
        if let Some(place) = shared_at(&self.text, &key) {
            converted.fault(format!(
                "the base: `{place}` has an anchor or an alias, so `{key}` is at other places, too: write it out there first"
            ));
            return;
        }
        match with_value(&self.text, &key, value) {
            Ok(text) => self.text = text,
            Err(why) => converted.fault(format!("the base: {why}")),
        }
    }

    fn has(&self, stream: &str, key: &str) -> bool {
        value_at(&self.text, &format!("streams.{stream}.{key}")).is_some()
    }

    /// Changes a stream of the base where its request says something else.
    fn change(
        &mut self,
        network: &Network,
        number: StreamIndex,
        one: &Read,
        (talker, listeners): &Stations,
        converted: &mut Converted,
    ) {
        let stream = &network.streams[number.index()];
        let name = stream.name.clone();
        let theirs = &one.request;
        let ours = write::request(network, number, &mut Converted::default());
        if ours.as_ref() == Some(theirs) {
            return;
        }
        let differs = |of: &dyn Fn(&Request) -> String| ours.as_ref().map(of) != Some(of(theirs));
        if differs(&|one| format!("{:?}", one.talker.address)) {
            self.set(&name, "talker", &quoted(talker), converted);
        }
        if differs(&|one| one.listeners.iter().map(|of| of.address.to_string()).collect()) {
            self.set(&name, "listeners", &list(listeners), converted);
        }
        if let Some(destination) = theirs.destination.filter(|own| *own != stream.destination) {
            self.set(&name, "destination", &format!("\"{destination}\""), converted);
        }
        let tag = stream.tagged.then(|| (stream.priority.number().into(), stream.vlan.number().into()));
        if theirs.tag != tag {
            if theirs.tag.is_some() != tag.is_some() {
                self.set(&name, "tagged", &theirs.tag.is_some().to_string(), converted);
            }
            if let Some((priority, vlan)) = theirs.tag {
                if tag.is_none_or(|(own, _)| own != priority) {
                    self.set(&name, "priority", &priority.to_string(), converted);
                }
                if tag.is_none_or(|(_, own)| own != vlan) {
                    self.set(&name, "vlan", &vlan.to_string(), converted);
                }
            }
        }
        if differs(&|one| format!("{:?}", one.ipv4)) {
            match &theirs.ipv4 {
                Some(ipv4) => self.set(&name, "udp", &udp(ipv4), converted),
                None => converted.lacks(format!(
                    "{}: that it has no addresses of IPv4, as stream {name} of the base has",
                    one.place
                )),
            }
        }
        if differs(&|one| one.size.to_string()) {
            self.size(stream, &name, theirs, one, converted);
        }
        self.traffic(&name, ours.as_ref(), one, converted);
        // The latest offset that is not stated follows the interval.
        let is_moved = theirs.offsets.is_some() && differs(&|one| format!("{:?}", one.interval));
        if is_moved || differs(&|one| format!("{:?}", one.offsets)) {
            match theirs.offsets {
                Some((earliest, latest)) => self.set(
                    &name,
                    "time-aware",
                    &format!(
                        "{{earliest-transmit-offset: {earliest} ns, latest-transmit-offset: {latest} ns}}"
                    ),
                    converted,
                ),
                None => converted.lacks(format!(
                    "{}: that it is not time-aware, as stream {name} of the base is",
                    one.place
                )),
            }
        }
        let moved = differs(&|one| {
            format!("{:?}{:?}{:?}", one.latencies, one.offsets.map(|offsets| offsets.0), one.listeners)
        });
        if moved || differs(&|one| one.size.to_string()) {
            let deadline = deadline(network, Some(stream), one, converted);
            match (deadline, stream.deadline) {
                (Some(deadline), own) if own != Some(deadline) => {
                    self.set(&name, "deadline", &deadline.to_string(), converted);
                }
                (None, Some(own)) => converted.lacks(format!(
                    "{}: that it has no latency, as stream {name} of the base has the deadline {own}",
                    one.place
                )),
                _ => {}
            }
        }
    }

    /// The size of frames, by the key that the base has.
    fn size(&mut self, stream: &Stream, name: &str, theirs: &Request, one: &Read, converted: &mut Converted) {
        if self.has(name, "datagram") {
            converted.lacks(format!(
                "{}: the size of its frames: stream {name} of the base has datagrams",
                one.place
            ));
        } else if self.has(name, "frame") {
            let around = if stream.tagged { 22 } else { 18 };
            self.set(name, "frame", &format!("{} B", (theirs.size + around).max(64)), converted);
        } else {
            self.set(name, "payload", &format!("{} B", theirs.size), converted);
        }
    }

    /// Interval and frames in it.
    fn traffic(&mut self, name: &str, ours: Option<&Request>, one: &Read, converted: &mut Converted) {
        let theirs = &one.request;
        let Some(interval) = interval(theirs.interval) else { return };
        let Some(ours) = ours else {
            let traffic = format!("{{type: periodic, interval: {interval}, burst: {}}}", theirs.frames);
            converted.lacks(format!(
                "{}: stream {name} of the base has other traffic, which is replaced",
                one.place
            ));
            self.set(name, "traffic", &traffic, converted);
            return;
        };
        if ours.interval != theirs.interval {
            self.set(name, "traffic.interval", &interval.to_string(), converted);
        }
        if ours.frames != theirs.frames {
            if self.has(name, "traffic.jitter") {
                converted.lacks(format!(
                    "{}: {} frames in an interval: stream {name} of the base has jitter, and {} may come in one",
                    one.place, theirs.frames, ours.frames
                ));
            } else {
                self.set(name, "traffic.burst", &theirs.frames.to_string(), converted);
            }
        }
    }

    /// Adds a stream.
    fn add(
        &mut self,
        network: &Network,
        name: &str,
        one: &Read,
        (talker, listeners): &Stations,
        converted: &mut Converted,
    ) {
        let theirs = &one.request;
        let Some(interval) = interval(theirs.interval) else { return };
        let mut keys = vec![
            format!("name: {}", quoted(&valid(name))),
            format!("talker: {}", quoted(talker)),
            format!("listeners: {}", list(listeners)),
        ];
        if let Some(destination) = theirs.destination {
            keys.push(format!("destination: \"{destination}\""));
        }
        match theirs.tag {
            Some((priority, vlan)) => keys.push(format!("priority: {priority}, vlan: {vlan}")),
            None => keys.push("tagged: false".to_owned()),
        }
        keys.push(format!("payload: {} B", theirs.size));
        if let Some(ipv4) = &theirs.ipv4 {
            keys.push(format!("udp: {}", udp(ipv4)));
        }
        let burst = if theirs.frames == 1 { String::new() } else { format!(", burst: {}", theirs.frames) };
        keys.push(format!("traffic: {{type: periodic, interval: {interval}{burst}}}"));
        if let Some((earliest, latest)) = theirs.offsets {
            keys.push(format!(
                "time-aware: {{earliest-transmit-offset: {earliest} ns, latest-transmit-offset: {latest} ns}}"
            ));
        }
        if let Some(deadline) = deadline(network, None, one, converted) {
            keys.push(format!("deadline: {deadline}"));
        }
        match with_element(&self.text, "streams", &format!("{{{}}}", keys.join(", "))) {
            Ok(text) => self.text = text,
            Err(why) => converted.fault(format!("the base: {why}")),
        }
    }
}

fn list(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    format!("[{}]", names.join(", "))
}

fn udp(own: &Ipv4) -> String {
    let dscp = if own.dscp == 0 { String::new() } else { format!(", dscp: {}", own.dscp) };
    format!(
        "{{source: {}, destination: {}, source-port: {}, destination-port: {}{dscp}}}",
        own.source, own.destination, own.ports.0, own.ports.1
    )
}

/// An interval in picoseconds, rounded down.
pub(super) fn interval(fraction: Fraction) -> Option<Duration> {
    let ps = u128::from(fraction.numerator) * SECOND / u128::from(fraction.denominator);
    (1..=DAY).contains(&ps).then(|| Duration::from_ps(ps as u64))
}

/// The deadline that keeps the latency at all listeners, and the lines that others would have.
fn deadline(
    network: &Network,
    stream: Option<&Stream>,
    one: &Read,
    converted: &mut Converted,
) -> Option<Duration> {
    let theirs = &one.request;
    // Where the listeners of a stream of the base are as its ways lead; else at the port of their addresses.
    let own = stream.filter(|stream| stream.listeners.len() == theirs.listeners.len());
    let around: Vec<Option<u64>> = match own {
        Some(stream) => around(network, stream, theirs.size),
        None => at_ports(network, theirs),
    };
    let earliest = theirs.offsets.map_or(0, |(earliest, _)| earliest);
    let all = theirs.latencies.iter().zip(around).map(|(latency, around)| {
        let ns = (*latency)?.checked_sub(earliest)?;
        Some(Duration::from_ps(ns * 1_000 + around?))
    });
    let all: Vec<Option<Duration>> = all.collect();
    let least = all.iter().flatten().min().copied()?;
    // As other listeners write the same deadline.
    let latency = |own: Duration| own.as_ps().div_ceil(1_000_000);
    if all.iter().any(|own| own.is_none_or(|own| latency(own) > latency(least) + 1)) {
        converted.lacks(format!(
            "{}: latencies that differ by listener: the deadline of the least one is written",
            one.place
        ));
    }
    Some(least)
}

/// What a deadline has in addition to a latency, at ports that listeners have: their cables, and that of the talker.
fn at_ports(network: &Network, request: &Request) -> Vec<Option<u64>> {
    let time = |address: MacAddress, octets: u64| {
        let (_, port) = station(network, address)?;
        let link = network.ports[port.index()].links?.ingress;
        let bits = tautwire_units::Bits::new(8 * octets);
        Some(network.links[link.index()].rate.duration_ceil(bits).as_ps())
    };
    let (around, least) = if request.tag.is_some() { (22, 68) } else { (18, 64) };
    let octets = (request.size + around).max(least);
    let first = time(request.talker.address, 8);
    request.listeners.iter().map(|own| Some(first? + time(own.address, octets)?)).collect()
}
