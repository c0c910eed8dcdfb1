//! Bounds of a network in which some streams are not granted, or at some of their listeners alone.
//!
//! A stream without a grant sends nothing and has no bound; the others are bounded as if it were not there. The caller
//! is responsible for the list of grants: the bounds hold for runs in which nothing else is sent.

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, Stream, StreamIndex};
use tautwire_units::Duration;

use crate::result::{Bounds, HopBounds, ListenerBounds, Method, StreamBounds};
use crate::unbounded::Unbounded;

/// The bounds of a network in which each of these streams goes only to the listeners listed with it; a stream without
/// any is left out. The lists of the result have the order of the full network.
///
/// # Panics
/// If a stream occurs twice in `granted`.
#[must_use]
pub fn bounds_where_granted(network: &Network, granted: &[(StreamIndex, Vec<NodeIndex>)]) -> Bounds {
    let all = |stream: &StreamIndex| network.streams[stream.index()].listeners.len();
    if granted.iter().all(|(stream, listeners)| listeners.len() == all(stream)) {
        return crate::bounds(network);
    }
    let (only, streams) = only(network, granted);
    let parts: Vec<_> = granted.iter().filter(|(_, listeners)| !listeners.is_empty()).cloned().collect();
    let mut found = crate::bounds(&only);
    found.number_anew(&streams);
    let mut of_stream: Vec<Option<StreamBounds>> = vec![None; network.streams.len()];
    for (stream, bounds) in streams.iter().zip(found.streams) {
        of_stream[stream.index()] = Some(bounds);
    }
    for overflow in &mut found.overflows {
        overflow.spread(|stream| {
            let (_, listeners) = parts.iter().find(|(part, _)| *part == stream)?;
            let described = &network.streams[stream.index()];
            let places = |on: Vec<bool>| (0..on.len()).filter(|place| on[*place]).collect();
            let at = described.listeners.iter().map(|node| listeners.contains(node)).collect();
            Some((places(at), places(ways(described, listeners))))
        });
    }
    let with_hops = |(place, bounds): (usize, Option<StreamBounds>)| {
        let (number, described) = (StreamIndex::at(place), &network.streams[place]);
        let listeners =
            parts.iter().find(|(stream, _)| *stream == number).map(|(_, listeners)| &listeners[..]);
        match (bounds, listeners) {
            (Some(bounds), None) => bounds,
            (Some(bounds), Some(listeners)) => spread(described, listeners, bounds),
            (None, _) => spread(described, &[], StreamBounds { listeners: Vec::new(), hops: Vec::new() }),
        }
    };
    let streams = of_stream.into_iter().enumerate().map(with_hops).collect();
    Bounds {
        streams,
        ports: found.ports,
        overflows: found.overflows,
        recoveries: found.recoveries,
        accuracy: found.accuracy,
    }
}

/// The granted part of a network, and the numbers of its streams in the full one.
fn only(network: &Network, granted: &[(StreamIndex, Vec<NodeIndex>)]) -> (Network, Vec<StreamIndex>) {
    let out = |stream: StreamIndex| granted.iter().any(|(known, at)| *known == stream && at.is_empty());
    let streams: Vec<StreamIndex> =
        (0..network.streams.len()).map(StreamIndex::at).filter(|stream| !out(*stream)).collect();
    let parts: Vec<_> = granted.iter().filter(|(_, listeners)| !listeners.is_empty()).cloned().collect();
    (network.with_listeners(&parts).with_only(&streams), streams)
}

/// The part of a network that these bounds count as granted, and the numbers of its streams in the full one; none if all is.
pub(crate) fn granted_by(network: &Network, bounds: &Bounds) -> Option<(Network, Vec<StreamIndex>)> {
    let is_refused = |listener: &ListenerBounds| matches!(listener.delay, Err(Unbounded::NotGranted { .. }));
    let part = |(number, (stream, bounds)): (u32, (&Stream, &StreamBounds))| {
        let pairs = stream.listeners.iter().zip(&bounds.listeners);
        let granted: Vec<NodeIndex> =
            pairs.filter(|(_, bounds)| !is_refused(bounds)).map(|(node, _)| *node).collect();
        (granted.len() < stream.listeners.len()).then_some((StreamIndex(number), granted))
    };
    let parts: Vec<_> = (0..).zip(network.streams.iter().zip(&bounds.streams)).filter_map(part).collect();
    (!parts.is_empty()).then(|| only(network, &parts))
}

/// The bounds of a stream that goes to some of its listeners alone, at the places of all of them and of all hops.
fn spread(described: &Stream, granted: &[NodeIndex], bounds: StreamBounds) -> StreamBounds {
    let port = described.hops.first().map_or(PortIndex(0), |hop| hop.port);
    let reason = |port| Unbounded::NotGranted { port };
    let (mut listeners, mut hops) = (bounds.listeners.into_iter(), bounds.hops.into_iter());
    let is_on_way = ways(described, granted);
    let listener = |node: &NodeIndex| match granted.contains(node) {
        true => listeners.next().expect("bounds of each listener"),
        false => ListenerBounds {
            delay: Err(reason(port)),
            delay_min: Duration::ZERO,
            skew: None,
            application: None,
            method: Method::None,
        },
    };
    let listeners = described.listeners.iter().map(listener).collect();
    let hop = |(hop, on_way): (&tautwire_model::network::Hop, bool)| match on_way {
        true => hops.next().expect("bounds of each hop"),
        false => HopBounds { delay: Err(reason(hop.port)), delay_min: Duration::ZERO, method: Method::None },
    };
    StreamBounds { listeners, hops: described.hops.iter().zip(is_on_way).map(hop).collect() }
}

/// Which hops lead to these listeners.
fn ways(described: &Stream, granted: &[NodeIndex]) -> Vec<bool> {
    let mut on_way = vec![false; described.hops.len()];
    for place in (0..described.hops.len()).rev() {
        let hop = &described.hops[place];
        let wanted = hop.listener.is_some_and(|of| granted.contains(&described.listeners[of as usize]));
        on_way[place] |= wanted;
        if let (true, Some(previous)) = (on_way[place], hop.previous) {
            on_way[previous as usize] = true;
        }
    }
    on_way
}
