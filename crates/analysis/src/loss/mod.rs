//! Where frames of a stream may be lost without a failure, and which limit would be enough.
//!
//! In: bounds, and the limits of the description: places in queues, hosts and buffers, and parts that discard by
//! design. Out: per stream and listener the limits that are not proven to be enough ([`losses`]). Stated failures
//! (links that are cut, nodes that stop, bit errors) are not included: proofs hold in their absence, and
//! [`stated_failures`] lists them.
//!
//! The backlog at each place is computed together with the bounds: by `queues.rs` at the ports of a network, by
//! `hosts.rs` before them; the results are in [`Bounds::overflows`]. Not here: late frames (`bounds`), copies that are
//! taken twice ([`taken_twice`](crate::taken_twice)).

mod failures;
mod fill;
mod hosts;
mod kind;
mod newest;
mod queues;
mod stacks;

use self::failures::works;
pub use self::failures::{StatedFailure, stated_failures};
pub(crate) use self::fill::Fill;
pub use self::kind::{Limit, LimitKind, LimitPlace};
pub use self::newest::NEWEST_MESSAGE;
pub(crate) use self::queues::buffer_limits;
pub(crate) use self::stacks::{reception_overflows, sending_overflows};

use tautwire_core::TrafficClass;
use tautwire_model::Network;
use tautwire_model::network::{Hop, NodeIndex, PortIndex, Stream, StreamIndex, TimelineAction};
use tautwire_units::Bytes;

use crate::gates;

use crate::result::Bounds;

/// The frames that pass a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// All streams of a class of an egress port.
    Class(PortIndex, TrafficClass),
    /// Those of one lane of it.
    Lane(PortIndex, TrafficClass, u16),
    /// All streams that a node sends.
    Talker(NodeIndex),
    /// One stream, to whichever listener.
    Stream(StreamIndex),
    /// One stream at one of its listeners.
    Listener(StreamIndex, usize),
    /// One stream at a hop and behind it.
    Hop(StreamIndex, u32),
}

/// A limit that what waits does not surely fit into, and what passes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Overflow {
    pub(crate) whose: Whose,
    pub(crate) limit: Limit,
}

impl Overflow {
    /// Numbers streams as in a network of which this one has only `streams`, in this order.
    pub(crate) fn number_anew(&mut self, streams: &[StreamIndex]) {
        match &mut self.whose {
            Whose::Stream(stream) | Whose::Listener(stream, _) | Whose::Hop(stream, _) => {
                *stream = streams[stream.index()];
            }
            Whose::Class(..) | Whose::Lane(..) | Whose::Talker(_) => {}
        }
        if let LimitPlace::Stream(stream) | LimitPlace::StreamAt(stream, _) = &mut self.limit.at {
            *stream = streams[stream.index()];
        }
    }

    /// Numbers listener and hop as in a network in which the stream has more of both: `places` gives their numbers
    /// there, for a stream with more of them.
    pub(crate) fn spread(&mut self, places: impl Fn(StreamIndex) -> Option<(Vec<usize>, Vec<usize>)>) {
        match &mut self.whose {
            Whose::Listener(stream, listener) => {
                if let Some((listeners, _)) = places(*stream) {
                    *listener = listeners[*listener];
                }
            }
            Whose::Hop(stream, hop) => {
                if let Some((_, hops)) = places(*stream) {
                    *hop = u32::try_from(hops[*hop as usize]).expect("as many hops as ports");
                }
            }
            Whose::Class(..) | Whose::Lane(..) | Whose::Talker(_) | Whose::Stream(_) => {}
        }
    }
}

/// Where frames of each stream may be lost on the way to each listener.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Losses {
    /// Per stream, per listener.
    pub streams: Vec<Vec<Vec<Limit>>>,
}

impl Losses {
    /// The limits that a stream meets on the way to a listener and that may be too small, first those that it meets first.
    #[must_use]
    pub fn at(&self, stream: StreamIndex, listener: usize) -> &[Limit] {
        self.streams.get(stream.index()).and_then(|each| each.get(listener)).map_or(&[], Vec::as_slice)
    }

    /// Whether a frame may be lost there that is not meant to be.
    #[must_use]
    pub fn may_be_lost(&self, stream: StreamIndex, listener: usize) -> bool {
        self.at(stream, listener).iter().any(|limit| !limit.is_meant())
    }
}

/// Where frames may be lost without a failure.
///
/// Of a stream over two networks whose copies a listener takes once, a frame is lost where both copies may be; with a
/// stated failure, which may affect either network, where either may be.
///
/// # Panics
/// If `bounds` are not those of `network`.
#[must_use]
pub fn losses(network: &Network, bounds: &Bounds) -> Losses {
    assert_eq!(network.streams.len(), bounds.streams.len(), "bounds of another network");
    let of_stream = |number: usize| {
        let stream = &network.streams[number];
        let listeners = 0..stream.listeners.len();
        let of =
            |listener| at_listener(network, &bounds.overflows, (StreamIndex::at(number), stream), listener);
        listeners.map(of).collect()
    };
    if bounds.overflows.is_empty() && !network.streams.iter().any(|stream| is_oversized(network, stream)) {
        let nothing = |stream: &Stream| vec![Vec::new(); stream.listeners.len()];
        return Losses { streams: network.streams.iter().map(nothing).collect() };
    }
    Losses { streams: (0..network.streams.len()).map(of_stream).collect() }
}

/// The limits on the way of a stream to one listener.
pub(crate) fn at_listener(
    network: &Network,
    overflows: &[Overflow],
    (number, stream): (StreamIndex, &Stream),
    listener: usize,
) -> Vec<Limit> {
    let ends = (0..stream.hops.len())
        .filter(|hop| stream.hops[*hop].listener.is_some_and(|one| one as usize == listener));
    let chains: Vec<Vec<usize>> = ends.map(|end| way(stream, end)).collect();
    let ways: Vec<Vec<Limit>> = chains
        .iter()
        .map(|way| {
            let on_way = |overflow: &&Overflow| match overflow.whose {
                Whose::Listener(one, at) => one == number && at == listener,
                whose => is_on_way(network, (number, stream), way, whose),
            };
            let mut found: Vec<(usize, &Limit)> = overflows
                .iter()
                .filter(on_way)
                .map(|overflow| (place_on_way(stream, way, overflow.whose), &overflow.limit))
                .collect();
            let oversize = too_large(network, stream, way);
            found.extend(oversize.iter().map(|(place, limit)| (*place, limit)));
            found.sort_by_key(|(place, _)| *place);
            found.into_iter().map(|(_, limit)| limit.clone()).collect()
        })
        .collect();
    let is_redundant = stream.virtual_link.is_some_and(|link| link.skew_max.is_some());
    let once = (is_redundant || stream.replication.is_some()) && ways.len() > 1;
    let is_safe = |way: &Vec<Limit>| way.iter().all(Limit::is_meant);
    let mut all = Vec::new();
    // Where one network fails, as stated, what is lost on the other is lost; of copies one way must be whole.
    let spared = if stream.replication.is_some() {
        let works = works(network, stream);
        once && ways.iter().zip(&chains).any(|(limits, chain)| is_safe(limits) && works(chain))
    } else {
        once && !something_fails(network) && ways.iter().any(is_safe)
    };
    for limit in ways.into_iter().flatten().filter(|limit| !spared || limit.is_meant()) {
        if !all.contains(&limit) {
            all.push(limit);
        }
    }
    all
}

/// Whether frames of a stream may be lost to limits up to the far end of a hop.
pub(crate) fn loses_on(
    network: &Network,
    overflows: &[&Overflow],
    (number, stream): (StreamIndex, &Stream),
    hop: usize,
) -> bool {
    let way = way(stream, hop);
    let on_way = |overflow: &&Overflow| is_on_way(network, (number, stream), &way, overflow.whose);
    overflows.iter().any(on_way) || is_oversized(network, stream)
}

/// Whether no stated failure takes frames of a stream up to the far end of a hop.
pub(crate) fn works_on(network: &Network, stream: &Stream, hop: usize) -> bool {
    works(network, stream)(&way(stream, hop))
}

/// Whether a port on a way of the stream takes no frames as large as its largest, which `allow: [stream::mtu]` lets pass the check.
pub(crate) fn is_oversized(network: &Network, stream: &Stream) -> bool {
    stream.hops.iter().any(|hop| payload_limit(network, hop).0 < stream.payload_max)
}

/// The most MAC client data that a port takes of a class, and whether that is the MTU.
fn payload_limit(network: &Network, hop: &Hop) -> (Bytes, bool) {
    let mtu = network.ports[hop.port.index()].mtu;
    let most = network.gates(hop.port).map_or(mtu, |gates| gates.payload_max(hop.class.index(), mtu));
    (most, most == mtu)
}

/// Ports on a way that take no frames as large as the stream's largest.
fn too_large(network: &Network, stream: &Stream, way: &[usize]) -> Vec<(usize, Limit)> {
    let needed = stream.payload_max.get();
    let small = |(place, hop): (usize, &usize)| {
        let hop = &stream.hops[*hop];
        let (limit, is_mtu) = payload_limit(network, hop);
        let (kind, at) = match is_mtu {
            true => (LimitKind::MTU, LimitPlace::Port(hop.port)),
            false => (gates::MAX_SDU, LimitPlace::Class(hop.port, hop.class)),
        };
        let limit = Limit { kind, at, limit: limit.get(), needed: Some(needed) };
        (limit.limit < needed).then_some((place + 1, limit))
    };
    way.iter().enumerate().filter_map(small).collect()
}

/// Whether the description states a failure that may take frames of one network.
fn something_fails(network: &Network) -> bool {
    let fails = |action: &TimelineAction| {
        matches!(
            action,
            TimelineAction::CutCable(_)
                | TimelineAction::StopNode(_)
                | TimelineAction::Babble(..)
                | TimelineAction::Mistime(..)
                | TimelineAction::ChangeBitErrorRate(..)
        )
    };
    network.events.iter().any(|event| fails(&event.action))
        || network.links.iter().any(|link| link.bit_error_rate > 0)
}

/// The first hop that is the same passage, for frames of another copy.
fn passage(stream: &Stream, hop: usize) -> usize {
    stream.replication.as_deref().map_or(hop, |replication| replication.merged[hop] as usize)
}

/// The hops to an end, first the talker's.
fn way(stream: &Stream, end: usize) -> Vec<usize> {
    let mut way = vec![end];
    while let Some(previous) = stream.hops[way[way.len() - 1]].previous {
        way.push(previous as usize);
    }
    way.reverse();
    way
}

fn is_on_way(
    network: &Network,
    (number, stream): (StreamIndex, &Stream),
    way: &[usize],
    whose: Whose,
) -> bool {
    let passes = |port: PortIndex, class: TrafficClass, lane: Option<u16>| {
        way.iter().any(|hop| {
            let at = &stream.hops[*hop];
            at.port == port
                && at.class == class
                && stream.time_triggered.is_none()
                && lane.is_none_or(|lane| network.lane(stream, *hop) == lane)
        })
    };
    match whose {
        Whose::Class(port, class) => passes(port, class, None),
        Whose::Lane(port, class, lane) => passes(port, class, Some(lane)),
        Whose::Talker(node) => stream.talker == node && !stream.traffic.is_control(),
        Whose::Stream(one) => one == number,
        Whose::Listener(..) => false,
        // A frame that passed a recovery function goes on as the copy that it is, and its others are eliminated.
        Whose::Hop(one, hop) => {
            one == number && way.iter().any(|at| passage(stream, *at) == passage(stream, hop as usize))
        }
    }
}

/// How many hops come before a limit.
fn place_on_way(stream: &Stream, way: &[usize], whose: Whose) -> usize {
    let at = |is_there: &dyn Fn(usize) -> bool| way.iter().position(|hop| is_there(*hop)).unwrap_or(0);
    match whose {
        Whose::Class(port, _) | Whose::Lane(port, ..) => at(&|hop| stream.hops[hop].port == port) + 1,
        Whose::Hop(_, place) => at(&|hop| passage(stream, hop) == passage(stream, place as usize)) + 1,
        Whose::Talker(_) | Whose::Stream(_) => 0,
        Whose::Listener(..) => way.len() + 1,
    }
}
