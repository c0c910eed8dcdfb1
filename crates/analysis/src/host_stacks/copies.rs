//! When frames come to the ports of listeners, and whether both copies of one are taken there.

use std::collections::BTreeSet;

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, Stream, TimelineAction};

use crate::answers::Span;
use crate::frer;
use crate::result::{Bounds, ListenerBounds};

/// Times at the ports of all listeners.
pub(crate) fn ports(network: &Network, bounds: &Bounds) -> Vec<Vec<Span>> {
    let span = |(listener, twice): (&ListenerBounds, bool)| {
        let max = listener.delay.as_ref().ok().map(|delay| delay.as_ps());
        Span { min: listener.delay_min.as_ps(), max, twice }
    };
    let pairs = bounds.streams.iter().zip(copies(network, bounds));
    pairs.map(|(stream, twice)| stream.listeners.iter().zip(twice).map(span).collect()).collect()
}

/// Per stream and listener: whether both copies of a frame over two networks may be taken there, because they may come
/// further apart than SkewMax, or the listener may forget the first one between them. Sub-virtual-links have their
/// numbers in common: a late frame of one counts for all.
pub(crate) fn copies(network: &Network, bounds: &Bounds) -> Vec<Vec<bool>> {
    let returns = |node: NodeIndex| {
        let starts = |action: &TimelineAction| *action == TimelineAction::StartNode(node);
        network.events.iter().any(|event| starts(&event.action))
    };
    let is_wide = |stream: usize, listener: usize| {
        let link = network.streams[stream].virtual_link?;
        let skew = bounds.streams[stream].listeners[listener].skew;
        let is_wide = skew.is_none_or(|skew| link.skew_max.is_some_and(|most| skew > most));
        link.skew_max.map(|_| (link.id, is_wide))
    };
    let mut late = BTreeSet::new();
    for (number, stream) in network.streams.iter().enumerate() {
        for (listener, node) in stream.listeners.iter().enumerate() {
            if let Some((link, wide)) = is_wide(number, listener)
                && (wide || returns(*node))
            {
                late.insert((link, node.0));
            }
        }
    }
    let twice = |number: usize, listener: usize| {
        let stream = &network.streams[number];
        let node = stream.listeners[listener];
        stream.virtual_link.is_some_and(|link| late.contains(&(link.id, node.0)))
            || frer::taken_twice(network, bounds, number, listener)
    };
    let of = |(number, stream): (usize, &Stream)| {
        (0..stream.listeners.len()).map(|listener| twice(number, listener)).collect()
    };
    network.streams.iter().enumerate().map(of).collect()
}
