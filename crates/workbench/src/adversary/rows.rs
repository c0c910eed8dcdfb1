//! A row of the search: a stream at a listener, its way, and what meets it there.

use tautwire_model::Network;
use tautwire_model::network::{Stream, StreamIndex};
use tautwire_units::Duration;

use super::freedom::Freedom;
use crate::Bounds;

/// A stream at a listener.
#[derive(Clone, Debug)]
pub(crate) struct Victim {
    pub(crate) stream: usize,
    pub(crate) listener: usize,
    /// Its hops, from the talker.
    pub(crate) way: Vec<usize>,
    /// Streams that meet it, each where it first does.
    pub(crate) met: Vec<Met>,
    pub(crate) bound: Duration,
}

/// A stream that meets a victim.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    pub(crate) stream: usize,
    /// Place on the victim's way.
    pub(crate) place: usize,
    /// Its own hop there.
    pub(crate) hop: usize,
    /// Its port before, if it has one: streams with the same port come by one line.
    pub(crate) line: Option<u32>,
    pub(crate) rank: Rank,
    /// Whether its phase or its clock's is open.
    pub(crate) moves: bool,
}

/// The relation of its class to the victim's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rank {
    Lower,
    Same,
    Higher,
}

/// The hops to a listener, from the talker.
pub(crate) fn way(stream: &Stream, listener: usize) -> Vec<usize> {
    let last = stream.hops.iter().position(|hop| hop.listener.is_some_and(|one| one as usize == listener));
    let before = |hop: &usize| stream.hops[*hop].previous.map(|before| before as usize);
    let mut way: Vec<usize> = std::iter::successors(last, before).collect();
    way.reverse();
    way
}

impl Victim {
    /// The row of a stream at a listener; none without a bound or a way.
    pub(crate) fn of(
        network: &Network,
        bounds: &Bounds,
        freedom: &Freedom,
        stream: usize,
        listener: usize,
    ) -> Option<Self> {
        let described = &network.streams[stream];
        let bound = *bounds.streams[stream].listeners[listener].delay.as_ref().ok()?;
        if described.traffic.is_control() {
            return None;
        }
        let way = way(described, listener);
        if way.is_empty() {
            return None;
        }
        let others = (0..network.streams.len()).filter(|other| *other != stream);
        let met = others.filter_map(|other| met(network, freedom, (stream, &way), other)).collect();
        Some(Self { stream, listener, way, met, bound })
    }

    /// Whether something that may make it later is open.
    pub(crate) fn is_free(&self, network: &Network, freedom: &Freedom) -> bool {
        let open = |stream: usize| {
            freedom.moves(network, StreamIndex::at(stream)) || freedom.streams[stream].is_any()
        };
        let own = freedom.streams[self.stream];
        let own = !own.jitter.is_zero()
            || own.payload.is_some()
            || !self.met.is_empty() && freedom.moves(network, StreamIndex::at(self.stream));
        own || freedom.delays || freedom.seed || self.met.iter().any(|met| open(met.stream))
    }
}

fn met(network: &Network, freedom: &Freedom, (victim, way): (usize, &[usize]), other: usize) -> Option<Met> {
    let (own, stream) = (&network.streams[victim], &network.streams[other]);
    way.iter().enumerate().find_map(|(place, hop)| {
        let at = &own.hops[*hop];
        let hop = stream.hops.iter().position(|one| one.port == at.port)?;
        let rank = match stream.hops[hop].class.cmp(&at.class) {
            std::cmp::Ordering::Less => Rank::Lower,
            std::cmp::Ordering::Equal => Rank::Same,
            std::cmp::Ordering::Greater => Rank::Higher,
        };
        let line = stream.hops[hop].previous.map(|before| stream.hops[before as usize].port.0);
        let moves = freedom.moves(network, StreamIndex::at(other));
        Some(Met { stream: other, place, hop, line, rank, moves })
    })
}
