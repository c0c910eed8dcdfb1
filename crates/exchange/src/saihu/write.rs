//! Writes output ports and flows: a server for each port that a stream passes, with its line's rate.
//!
//! A server serves all of its flows in order of arrival. So the streams of the highest class of a port are those of its server, and what they wait for
//! a lower class's frame that is being sent is in the latency, as are stages, cables and PHYs. Streams of a class below another have no server.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tautwire_model::network::{
    Network, NodeKind, PortIndex, Stream, Switching, Traffic, TransmissionSelection,
};
use tautwire_model::wire_bits;
use tautwire_units::{BitRate, Bits, Duration};

use crate::{Converted, mechanisms, node_of};

/// What a server needs of the streams at its port.
#[derive(Default)]
struct Shared {
    /// The highest class.
    class: usize,
    /// Bits of the line of the largest frame of a lower class, and of the server's own.
    lower: u64,
    own: u64,
}

pub(super) fn write(network: &Network) -> Converted {
    let mut written = Converted::default();
    for key in mechanisms(network) {
        written.lacks(format!("`{key}`"));
    }
    let shared = shared(network);
    let mut flows = Vec::new();
    let mut used: BTreeMap<PortIndex, ()> = BTreeMap::new();
    for stream in network.streams.iter().filter(|stream| stream.traffic != Traffic::Protocol) {
        if let Some(flow) = flow(network, stream, &shared, &mut written) {
            used.extend(stream.hops.iter().map(|hop| (hop.port, ())));
            flows.push(flow);
        }
    }
    let servers: Vec<Value> =
        used.keys().map(|port| server(network, *port, &shared[port], &mut written)).collect();
    let file = json!({
        "network": {
            "name": network.name, "multiplexing": "FIFO", "packetizer": true, "analysis_option": ["IS"],
            "time_unit": "us", "data_unit": "b", "rate_unit": "Mbps",
        },
        "flows": flows,
        "servers": servers,
    });
    written.text = format!("{file:#}\n");
    written
}

/// The ports that streams pass.
fn shared(network: &Network) -> BTreeMap<PortIndex, Shared> {
    let mut shared: BTreeMap<PortIndex, Shared> = BTreeMap::new();
    let hops = || network.streams.iter().flat_map(|stream| stream.hops.iter().map(move |hop| (stream, hop)));
    for (_, hop) in hops() {
        let own = shared.entry(hop.port).or_default();
        own.class = own.class.max(hop.class.index());
    }
    for (stream, hop) in hops() {
        let own = shared.get_mut(&hop.port).expect("it has an entry");
        let bits = wire_bits(stream.payload_max, hop.tagged).get();
        let size = if hop.class.index() < own.class { &mut own.lower } else { &mut own.own };
        *size = bits.max(*size);
    }
    shared
}

fn name(network: &Network, port: PortIndex) -> String {
    let port = &network.ports[port.index()];
    format!("{}-{}", node_of(network, port), port.name)
}

fn flow(
    network: &Network,
    stream: &Stream,
    shared: &BTreeMap<PortIndex, Shared>,
    written: &mut Converted,
) -> Option<Value> {
    let place = format!("stream {}", stream.name);
    let below = stream.hops.iter().find(|hop| hop.class.index() < shared[&hop.port].class);
    let without = [
        (stream.learned, "a way that bridges learn".to_owned()),
        (stream.replication.is_some(), "copies over several paths".to_owned()),
        (stream.virtual_link.is_some(), "a virtual link".to_owned()),
        (stream.time_triggered.is_some(), "dispatch points".to_owned()),
    ];
    if let Some((_, what)) = without.into_iter().find(|(is, _)| *is) {
        written.lacks(format!("{place}: {what}"));
        return None;
    }
    if let Some(hop) = below {
        written.lacks(format!("{place}: at {} it waits for a higher class", name(network, hop.port)));
        return None;
    }
    let Some(arrival) = stream.arrival else {
        written.lacks(format!("{place}: it promises no arrival curve"));
        return None;
    };
    let mut paths = (0..stream.hops.len()).filter(|hop| stream.hops[*hop].listener.is_some()).map(|last| {
        let mut path = Vec::new();
        let mut next = Some(last);
        while let Some(hop) = next {
            path.push(name(network, stream.hops[hop].port));
            next = stream.hops[hop].previous.map(|hop| hop as usize);
        }
        path.reverse();
        (stream.listeners[stream.hops[last].listener.expect("it is one") as usize], path)
    });
    let listener = |node: tautwire_model::network::NodeIndex| network.nodes[node.index()].name.clone();
    let (first, path) = paths.next()?;
    let others: Vec<Value> =
        paths.map(|(node, path)| json!({"name": listener(node), "path": path})).collect();
    let packet = stream.hops.iter().map(|hop| wire_bits(stream.payload_max, hop.tagged).get()).max()?;
    let mut flow = json!({
        "name": stream.name,
        "path": path,
        "path_name": listener(first),
        "arrival_curve": {"bursts": [arrival.burst.get()], "rates": [megabits(arrival.rate)]},
        "max_packet_length": packet,
    });
    if !others.is_empty() {
        flow["multicast"] = others.into();
    }
    if let Some(deadline) = stream.deadline {
        written.lacks(format!("{place}: its deadline of {deadline}"));
    }
    Some(flow)
}

fn server(network: &Network, at: PortIndex, shared: &Shared, written: &mut Converted) -> Value {
    let port = &network.ports[at.index()];
    let name = name(network, at);
    let link = &network.links[port.links.expect("a way has cables").egress.index()];
    if port.gates.is_some() {
        written.lacks(format!("server {name}: gates"));
    }
    if port.preemption.is_some() {
        written.lacks(format!("server {name}: frame preemption"));
    }
    for (class, settings) in port.classes.iter().enumerate() {
        if settings.selection != TransmissionSelection::StrictPriority {
            written.lacks(format!("server {name}: the shaper of class {class}"));
        }
    }
    let octets = shared.own / 8;
    let before = match network.nodes[port.node.index()].kind {
        NodeKind::EndStation { .. } => Duration::ZERO,
        NodeKind::Bridge { device, .. } => {
            let device = &network.devices[device.index()];
            if device.switching != Switching::StoreAndForward {
                written.lacks(format!("device {}: cut-through", device.name));
            }
            device
                .stages
                .iter()
                .map(|stage| stage.latency.longest(octets))
                .fold(Duration::ZERO, |sum, one| sum + one)
        }
    };
    let lower = link.rate.duration_ceil(Bits::new(shared.lower));
    let latency = before + lower + link.propagation + link.phy_delay.max;
    let rate = megabits(link.rate);
    // Saihu takes away curves whose latency is zero.
    let latency = latency.max(Duration::from_ps(1));
    json!({"name": name, "service_curve": {"latencies": [decimal(latency.as_ps(), 6) + "us"], "rates": [rate]}, "capacity": rate})
}

/// A rate in Mbit/s.
fn megabits(rate: BitRate) -> String {
    decimal(rate.as_bps(), 6) + "Mbps"
}

/// A number over a power of ten, exactly.
fn decimal(number: u64, digits: u32) -> String {
    let unit = 10_u64.pow(digits);
    let text = format!("{}.{:0width$}", number / unit, number % unit, width = digits as usize);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
