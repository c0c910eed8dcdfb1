//! Documents with requests: each leaf is taken, a fault, or listed.

use tautwire_wire::MacAddress;

use super::super::names::Fraction;
use super::super::read::Object;
use super::{Interface, Ipv4, Request, UDP};
use crate::Converted;

/// A request as it is read: where it is, its identifier.
pub(super) struct Read {
    pub(super) place: String,
    pub(super) id: String,
    pub(super) request: Request,
}

/// All requests of a document.
pub(super) fn all(mut document: Object, requests: &mut Vec<Read>, converted: &mut Converted) {
    let Some(mut root) = document.object("cnc-config") else {
        converted.fault(format!("{}: no `ieee802-dot1q-cnc-config:cnc-config`", document.place));
        return;
    };
    document.end(converted);
    for mut domain in root.list("domain") {
        domain.words("domain-id");
        domain.bool("cnc-enabled");
        for mut cuc in domain.list("cuc") {
            cuc.words("cuc-id");
            for stream in cuc.list("stream") {
                requests.extend(one(stream, converted));
            }
            cuc.end(converted);
        }
        domain.end(converted);
    }
    root.end(converted);
}

fn one(mut stream: Object, converted: &mut Converted) -> Option<Read> {
    let place = stream.place.clone();
    let id = stream.words("stream-id");
    let is_id = |id: &String| {
        let unique = id.split_once(':').and_then(|(_, unique)| unique.split_once('-'));
        unique.is_some_and(|(high, low)| {
            u8::from_str_radix(high, 16).is_ok() && u8::from_str_radix(low, 16).is_ok()
        })
    };
    let id = id.filter(is_id);
    if id.is_none() {
        stream.fault("/stream-id: an address and a number, as in 02-00-00-00-00-01:00-01, are expected");
    }
    // Of state, which no request has.
    stream.take("stream-status");
    let mut talker = stream.object("talker");
    if talker.is_none() {
        stream.fault(": no talker");
    }
    let listeners = stream.list("listener");
    if listeners.is_empty() {
        stream.fault(": no listener");
    }
    let mut found = talker.as_mut().map(read_talker);
    if let Some(talker) = talker {
        talker.end(converted);
    }
    let mut ends = Vec::new();
    for mut listener in listeners {
        listener.number("index");
        let interface = interface(&mut listener);
        let latency = requirements(&mut listener);
        capabilities(&mut listener);
        listener.end(converted);
        ends.push(interface.map(|interface| (interface, latency)));
    }
    stream.end(converted);
    let ends: Vec<(Interface, Option<u64>)> = ends.into_iter().collect::<Option<_>>()?;
    let (request, of_talker) = found.as_mut().and_then(Option::take)?;
    let latencies = ends.iter().map(|(_, latency)| latency.or(of_talker)).collect();
    let listeners = ends.into_iter().map(|(interface, _)| interface).collect();
    Some(Read { place, id: id?, request: Request { listeners, latencies, ..request } })
}

/// A request without its listeners, and the latency that its talker states.
fn read_talker(talker: &mut Object) -> Option<(Request, Option<u64>)> {
    if let Some(mut rank) = talker.object("stream-rank") {
        if rank.at_most("rank", 1) == Some(0) {
            talker.left("stream-rank: rank 0, of emergency traffic");
        }
        talker.absorb(rank);
    }
    let own = interface(talker);
    let (mut destination, mut tag, mut ipv4) = (None, None, None);
    for mut frame in talker.list("data-frame-specification") {
        frame.number("index");
        if let Some(mut addresses) = frame.object("ieee802-mac-addresses") {
            destination = address(&mut addresses, "destination-mac-address")
                .filter(|own| *own != MacAddress([0xff; 6]));
            // It is that of the talker's port.
            address(&mut addresses, "source-mac-address");
            frame.absorb(addresses);
        }
        if let Some(mut tags) = frame.object("ieee802-vlan-tag") {
            let priority = tags.at_most("priority-code-point", 7);
            let vlan = tags.at_most("vlan-id", 4_094);
            tag = Some((priority.unwrap_or(0), vlan.filter(|vlan| *vlan > 0).unwrap_or(1)));
            frame.absorb(tags);
        }
        if let Some(mut tuple) = frame.object("ipv4-tuple") {
            ipv4 = read_ipv4(&mut tuple);
            frame.absorb(tuple);
        }
        talker.absorb(frame);
    }
    let Some(mut traffic) = talker.object("traffic-specification") else {
        talker.fault(": no traffic-specification");
        return None;
    };
    let fraction = traffic.object("interval").and_then(|mut interval| {
        let numerator = interval.at_most("numerator", u32::MAX.into());
        let denominator = interval.at_most("denominator", u32::MAX.into());
        let found =
            numerator.zip(denominator).filter(|(numerator, denominator)| *numerator > 0 && *denominator > 0);
        traffic.absorb(interval);
        Some(Fraction { numerator: found?.0 as u32, denominator: found?.1 as u32 })
    });
    let fraction = fraction.filter(|fraction| super::read::interval(*fraction).is_some());
    if fraction.is_none() {
        traffic.fault("/interval: a fraction of a second from 1 ps to a day is expected");
    }
    let frames = traffic.at_most("max-frames-per-interval", 65_535).filter(|frames| *frames > 0);
    let size = traffic.at_most("max-frame-size", 65_535).filter(|size| *size > 0);
    for (name, is_there) in
        [("max-frames-per-interval", frames.is_some()), ("max-frame-size", size.is_some())]
    {
        if !is_there {
            traffic.fault(format_args!("/{name}: a number from 1 to 65535 is expected"));
        }
    }
    // What of it the talker's class has is said by its node.
    traffic.number("transmission-selection");
    let offsets = traffic.object("time-aware").map(|mut aware| {
        let earliest = aware.at_most("earliest-transmit-offset", u32::MAX.into());
        let latest = aware.at_most("latest-transmit-offset", u32::MAX.into());
        if let Some(jitter) = aware.number("jitter").filter(|jitter| *jitter > 0) {
            aware.left(format!("jitter: {jitter} ns"));
        }
        traffic.absorb(aware);
        let earliest = earliest.unwrap_or(0);
        (earliest, latest.unwrap_or(earliest))
    });
    talker.absorb(traffic);
    let latency = requirements(talker);
    capabilities(talker);
    let request = Request {
        talker: own?,
        listeners: Vec::new(),
        destination,
        tag,
        ipv4,
        interval: fraction?,
        frames: frames?,
        size: size?,
        offsets,
        latencies: Vec::new(),
    };
    Some((request, latency))
}

fn read_ipv4(tuple: &mut Object) -> Option<Ipv4> {
    let mut ip = |name: &str| {
        let text = tuple.words(name)?;
        let found = text.parse().ok();
        if found.is_none() {
            tuple.fault(format_args!("/{name}: `{text}` is no address of IPv4"));
        }
        found
    };
    let (source, destination) = (ip("source-ip-address"), ip("destination-ip-address"));
    let dscp = tuple.at_most("dscp", 64);
    let protocol = tuple.at_most("protocol", 65_535);
    let ports = (tuple.at_most("source-port", 65_535), tuple.at_most("destination-port", 65_535));
    let is_udp = protocol == Some(UDP);
    let found = source.zip(destination).zip(ports.0.zip(ports.1)).filter(|_| is_udp);
    let Some(((source, destination), ports)) = found else {
        tuple.left("addresses of IPv4 that are not all of UDP: two addresses, protocol 17, two ports");
        return None;
    };
    // 64: any.
    Some(Ipv4 { source, destination, dscp: dscp.filter(|dscp| *dscp < 64).unwrap_or(0), ports })
}

/// The interface of an end station; of several the first one.
fn interface(of: &mut Object) -> Option<Interface> {
    let mut all = of.list("end-station-interfaces").into_iter();
    let Some(mut own) = all.next() else {
        of.fault("/end-station-interfaces: one is expected");
        return None;
    };
    let address = address(&mut own, "mac-address");
    let name = own.words("interface-name").unwrap_or_default();
    if address.is_none() {
        own.fault("/mac-address: an address is expected");
    }
    of.absorb(own);
    for mut other in all {
        let address = other.words("mac-address").unwrap_or_default();
        other.take("interface-name");
        of.left(format!("end-station-interfaces: {address}, another interface of the station"));
        of.absorb(other);
    }
    Some(Interface { address: address?, name })
}

/// The greatest latency, nanoseconds.
fn requirements(of: &mut Object) -> Option<u64> {
    let mut own = of.object("user-to-network-requirements")?;
    if let Some(trees) = own.number("num-seamless-trees").filter(|trees| *trees > 1) {
        own.left(format!("num-seamless-trees: {trees}; state `frer` of the stream"));
    }
    let latency = own.at_most("max-latency", u32::MAX.into()).filter(|latency| *latency > 0);
    of.absorb(own);
    latency
}

/// What a station is able to do, which its stream shows.
fn capabilities(of: &mut Object) {
    let Some(mut own) = of.object("interface-capabilities") else { return };
    own.bool("vlan-tag-capable");
    own.take("cb-stream-iden-type-list");
    own.take("cb-sequence-type-list");
    of.absorb(own);
}

fn address(of: &mut Object, name: &str) -> Option<MacAddress> {
    let text = of.words(name)?;
    let found = text.replace('-', ":").parse().ok();
    if found.is_none() {
        of.fault(format_args!("/{name}: `{text}` is no address"));
    }
    found
}
