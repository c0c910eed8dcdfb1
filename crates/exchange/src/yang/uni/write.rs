//! Requests for the streams of a network.

use serde_json::{Map, Value, json};
use tautwire_model::Network;
use tautwire_model::gates::CycleTime;
use tautwire_model::network::{PortIndex, Stream, StreamIndex, Traffic, TransmissionSelection};
use tautwire_units::Duration;

use super::super::interface;
use super::super::names::{self, Fraction};
use super::{Interface, Ipv4, Request, UDP, around, identified, port_of};
use crate::{Converted, mechanisms};

pub(super) fn write(network: &Network) -> (Value, Converted) {
    let mut written = Converted::default();
    let mut streams = Vec::new();
    for (id, number) in identified(network) {
        let stream = &network.streams[number.index()];
        let Some(request) = request(network, number, &mut written) else { continue };
        written.lacks(format!("stream {}: its name; its request is {id}", stream.name));
        streams.push(entry(network, stream, &id, &request));
    }
    written.lacks("nodes, cables and all that is configured in them");
    for key in mechanisms(network).into_iter().filter(|key| !["frer", "virtual-link"].contains(key)) {
        written.lacks(format!("`{key}`"));
    }
    let tree = json!({ "ieee802-dot1q-cnc-config:cnc-config": { "domain": [{
        "domain-id": network.name,
        "cnc-enabled": true,
        "cuc": [{ "cuc-id": network.name, "stream": streams }],
    }] } });
    (tree, written)
}

/// The request for a stream, and what it leaves out; none if it is left out as a whole.
pub(super) fn request(network: &Network, number: StreamIndex, written: &mut Converted) -> Option<Request> {
    let stream = &network.streams[number.index()];
    let mut lacks = |what: &str| written.lacks(format!("stream {}: {what}", stream.name));
    let Traffic::Periodic { interval, offset, jitter, drawn, .. } = stream.traffic else {
        lacks("its traffic: a request has frames in an interval; it is left out");
        return None;
    };
    let frames = stream.interval_frames(interval).and_then(|frames| u16::try_from(frames).ok());
    let size = u16::try_from(stream.payload_max.get());
    let (Some(frames), Ok(size)) = (frames, size) else {
        lacks("more than 65535 frames in an interval, or octets of a frame; it is left out");
        return None;
    };
    let left_out = [
        (stream.datagrams.is_some(), "datagrams of several frames"),
        (stream.virtual_link.is_some(), "a virtual link"),
        (stream.time_triggered.is_some(), "dispatch points"),
        (!stream.started, "that it starts later"),
        (stream.listeners.is_empty(), "it has no listener"),
    ];
    if let Some((_, what)) = left_out.into_iter().find(|(is, _)| *is) {
        lacks(&format!("{what}; it is left out"));
        return None;
    }
    let (fraction, exact) = Fraction::of(CycleTime::new(interval.as_ps(), 1)?);
    if fraction.numerator == 0 {
        lacks("an interval of less than a nanosecond; it is left out");
        return None;
    }
    for (is, what) in [
        (!exact, "its interval, which is no fraction of 32 bits, is rounded down"),
        (!jitter.is_zero(), "its jitter; the request has as many frames as may come in an interval"),
        (drawn, "that its phase is drawn"),
        (!offset.is_zero(), "its offset"),
        (stream.payload_min != stream.payload_max, "frames below the largest size"),
        (stream.replication.is_some(), "its replication: how its copies are recovered"),
        (stream.shaper.is_some(), "its shaper"),
        (!stream.count_late.is_empty(), "`count-late`"),
        (stream.learned, "that its way is learned"),
    ] {
        if is {
            lacks(what);
        }
    }
    let ns = |time: Duration| u32::try_from(time.as_ps() / 1_000).ok().map(u64::from);
    let offsets = match stream.time_aware {
        None => None,
        Some(aware) => {
            let found = ns(aware.earliest).zip(ns(aware.latest));
            if found.is_none() {
                lacks("its offsets, beyond 4.29 s");
            }
            found
        }
    };
    let earliest = offsets.map_or(0, |(earliest, _)| earliest);
    let latencies: Vec<Option<u64>> = around(network, stream, stream.payload_max.get())
        .into_iter()
        .map(|around| latency(stream.deadline?, around?, earliest))
        .collect();
    if stream.deadline.is_some() {
        lacks("what of its deadline frames wait in their talker: `max-latency` begins when they leave it");
        if latencies.contains(&None) {
            lacks("its deadline, which is no latency from 1 ns to 4.29 s");
        }
    }
    let of = |port: PortIndex| {
        let port = &network.ports[port.index()];
        Interface { address: port.address, name: interface(port).to_owned() }
    };
    let listener = |number: usize| {
        let hop = stream.hops.iter().find(|hop| hop.listener == u32::try_from(number).ok());
        let own = network.nodes[stream.listeners[number].index()].ports.start;
        of(hop.map_or(PortIndex(own), |hop| network.far_end(hop).1))
    };
    Some(Request {
        talker: of(port_of(network, stream)?),
        listeners: (0..stream.listeners.len()).map(listener).collect(),
        destination: Some(stream.destination),
        tag: stream.tagged.then(|| (stream.priority.number().into(), stream.vlan.number().into())),
        ipv4: stream.udp.map(|udp| Ipv4 {
            source: udp.source,
            destination: udp.destination,
            dscp: udp.dscp.into(),
            ports: (udp.source_port.into(), udp.destination_port.into()),
        }),
        interval: fraction,
        frames: frames.into(),
        size: size.into(),
        offsets,
        latencies,
    })
}

/// The latency of a deadline, nanoseconds, rounded down.
fn latency(deadline: Duration, around: u64, earliest: u64) -> Option<u64> {
    let ns = deadline.as_ps().checked_sub(around)? / 1_000 + earliest;
    u32::try_from(ns).ok().filter(|ns| *ns > 0).map(u64::from)
}

fn entry(network: &Network, stream: &Stream, id: &str, request: &Request) -> Value {
    let interface =
        |of: &Interface| json!([{ "mac-address": names::address(of.address), "interface-name": of.name }]);
    let mut frames = vec![json!({ "index": 0, "ieee802-mac-addresses": {
        "destination-mac-address": names::address(stream.destination),
        "source-mac-address": names::address(stream.source),
    } })];
    let mut add = |key: &str, value: Value| {
        let mut specification = Map::from_iter([("index".to_owned(), frames.len().into())]);
        specification.insert(key.to_owned(), value);
        frames.push(specification.into());
    };
    if let Some((priority, vlan)) = request.tag {
        add("ieee802-vlan-tag", json!({ "priority-code-point": priority, "vlan-id": vlan }));
    }
    if let Some(ipv4) = request.ipv4 {
        add(
            "ipv4-tuple",
            json!({
                "source-ip-address": ipv4.source.to_string(),
                "destination-ip-address": ipv4.destination.to_string(),
                "dscp": ipv4.dscp,
                "protocol": UDP,
                "source-port": ipv4.ports.0,
                "destination-port": ipv4.ports.1,
            }),
        );
    }
    let mut traffic = json!({
        "interval": request.interval.value(),
        "max-frames-per-interval": request.frames,
        "max-frame-size": request.size,
        "transmission-selection": selection(network, stream),
    });
    if let Some((earliest, latest)) = request.offsets {
        traffic["time-aware"] =
            json!({ "earliest-transmit-offset": earliest, "latest-transmit-offset": latest, "jitter": 0 });
    }
    let requirements = |latency: Option<u64>| {
        let mut found = json!({ "num-seamless-trees": 1 });
        if let Some(latency) = latency {
            found["max-latency"] = latency.into();
        }
        found
    };
    // What the talker states must hold at all listeners.
    let weakest = request.latencies.iter().copied().collect::<Option<Vec<u64>>>();
    let weakest = weakest.and_then(|all| all.into_iter().max());
    let listeners: Vec<Value> = request
        .listeners
        .iter()
        .zip(&request.latencies)
        .enumerate()
        .map(|(index, (of, latency))| {
            json!({
                "index": index,
                "end-station-interfaces": interface(of),
                "user-to-network-requirements": requirements(*latency),
            })
        })
        .collect();
    json!({
        "stream-id": id,
        "talker": {
            "stream-rank": { "rank": 1 },
            "end-station-interfaces": interface(&request.talker),
            "data-frame-specification": frames,
            "traffic-specification": traffic,
            "user-to-network-requirements": requirements(weakest),
            "interface-capabilities": { "vlan-tag-capable": request.tag.is_some() },
        },
        "listener": listeners,
    })
}

/// The talker's transmission selection algorithm, by its number (802.1Q-2022, Table 8-5).
fn selection(network: &Network, stream: &Stream) -> u64 {
    let hop = stream.hops.iter().find(|hop| hop.previous.is_none());
    let class = hop.and_then(|hop| network.ports[hop.port.index()].classes.get(hop.class.index()));
    match class.map(|class| &class.selection) {
        Some(TransmissionSelection::CreditBased { .. }) => 1,
        Some(TransmissionSelection::Ats) => 3,
        Some(TransmissionSelection::StrictPriority) | None => 0,
    }
}
