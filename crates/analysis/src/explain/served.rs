//! The hops of networks whose ports serve by slots of a TDMA cycle or by servers of elementary cycles.
//!
//! Their figures are those of the bounds; what a frame waits for is told from what the line and the host take. Not here: hops
//! of ports that select by class (`explain.rs`).

use tautwire_model::network::{NodeKind, Stream, StreamIndex};
use tautwire_model::{Network, frame_length};
use tautwire_units::{BitRate, Bits, Bytes, Duration};

use super::{HopExplanation, Part, formula, told, wire_bits};
use crate::delay::delay_max;
use crate::result::{HopBounds, Method, StreamBounds};

/// Hop by hop.
pub(super) fn hops(network: &Network, stream: StreamIndex, bounds: &StreamBounds) -> Vec<HopExplanation> {
    let described = &network.streams[stream.index()];
    let hop = |place: usize| hop(network, described, place, bounds.hops[place].clone());
    (0..described.hops.len()).map(hop).collect()
}

fn hop(network: &Network, stream: &Stream, place: usize, bounds: HopBounds) -> HopExplanation {
    let hop = &stream.hops[place];
    let port = &network.ports[hop.port.index()];
    let (formula, source) = formula(bounds.method);
    HopExplanation {
        previous: hop.previous,
        port: format!("{}.{}", network.nodes[port.node.index()].name, port.name),
        class: hop.class,
        formula,
        source,
        line_rate: line_rate(network, stream, place),
        rate_left: None,
        blocking: None,
        higher: Vec::new(),
        same: if hop.previous.is_none() { of_talker(network, stream) } else { Vec::new() },
        reckoned: None,
        credit_max: None,
        times: times(network, stream, place, &bounds),
        reason: bounds.delay.as_ref().err().map(|why| told(network, why)),
        bounds,
    }
}

/// The streams that wait at the same talker, and its own.
fn of_talker(network: &Network, own: &Stream) -> Vec<Part> {
    let waits = |stream: &&Stream| stream.talker == own.talker && !stream.hops.is_empty();
    let part = |stream: &Stream| Part {
        name: stream.name.clone(),
        bits: Some(Bits::new(wire_bits(frame_length(stream.payload_max, stream.hops[0].tagged)))),
        rate: stream.arrival.map(|curve| curve.rate),
    };
    network.streams.iter().filter(waits).map(part).collect()
}

fn line_rate(network: &Network, stream: &Stream, place: usize) -> BitRate {
    let links = network.ports[stream.hops[place].port.index()].links.expect("a hop's port has a cable");
    network.links[links.egress.index()].rate
}

/// The times of a hop, in the order in which a frame meets them; their sum is the bound.
fn times(
    network: &Network,
    stream: &Stream,
    place: usize,
    bounds: &HopBounds,
) -> Vec<(&'static str, Duration)> {
    let Ok(mut left) = bounds.delay else { return Vec::new() };
    let hop = &stream.hops[place];
    let port = &network.ports[hop.port.index()];
    let links = port.links.expect("a hop's port has a cable");
    let link = &network.links[links.egress.index()];
    let frame = frame_length(stream.payload_max, hop.tagged);
    let line =
        link.rate.duration_ceil((frame + Bytes::new(8)).bits()) + link.propagation + link.phy_delay.max;
    let sent = line.min(left);
    left -= sent;
    let host = match &network.nodes[port.node.index()].kind {
        NodeKind::EndStation { host } if hop.previous.is_none() => {
            Duration::from_ps(delay_max(&network.hosts[host.index()].transmit, frame))
        }
        _ => Duration::ZERO,
    };
    let host = host.min(left);
    left -= host;
    let waiting = match (bounds.method, hop.previous) {
        (Method::Slots, None) => "slots, and what waits before it",
        (Method::Slots, Some(_)) => "processing",
        (_, None) => "cycle that polls it, and what waits before it",
        (_, Some(_)) => "processing, server, and what waits before it",
    };
    let times = [("host", host), (waiting, left), ("transmission and cable", sent)];
    times.into_iter().filter(|(_, time)| !time.is_zero()).collect()
}
