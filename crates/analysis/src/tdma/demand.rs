//! What a planner of slots must know: times of every stream from the start of its slot, whatever slots there are.
//!
//! In: a network with TDMA. Out: passages of ports, lengths of slots, the time until a response is ready. They are
//! those of the bounds, so the bounds prove a plan that keeps them. Errors of a slot's start are those of the
//! network's own cycle, and hold for a shorter one.

use tautwire_model::Network;
use tautwire_model::network::{PortIndex, StreamIndex, Traffic};
use tautwire_model::wire_bits;
use tautwire_units::Duration;

use super::Cycle;

/// The requirements of slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotDemand {
    /// By how much the starts of two slots may err against each other.
    pub error: Duration,
    /// Per stream.
    pub streams: Vec<StreamDemand>,
}

/// The requirements of a stream's slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamDemand {
    /// Per port: from when its frame may be in the queue, and when the port is free of it.
    pub passages: Vec<(PortIndex, Duration, Duration)>,
    /// The greatest frame on the talker's line, gap included.
    pub length: Duration,
    /// When its talker has received the opening of a cycle, at the latest.
    pub heard: Duration,
    /// How far apart its slots may be, so that a frame alone at its station keeps the deadline and is gone before the next.
    pub apart_max: Option<Duration>,
    /// For a response: what it answers.
    pub answer: Option<AnswerDemand>,
}

/// The request of a response, and its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerDemand {
    /// The request.
    pub to: StreamIndex,
    /// From the start of the request's slot until the response may be sent, at the latest.
    pub ready: Duration,
    /// From the start of the response's slot to the last bit at the requester, at most.
    pub way: Duration,
}

/// What slots of a network with TDMA must hold; none without TDMA.
#[must_use]
pub fn slot_demand(network: &Network) -> Option<SlotDemand> {
    let mut cycle = Cycle::new(network, network.tdma.as_ref()?);
    cycle.settle_waits();
    let streams = (0..network.streams.len()).map(|number| cycle.demand(StreamIndex::at(number))).collect();
    Some(SlotDemand { error: Duration::from_ps(cycle.early + cycle.late), streams })
}

impl Cycle<'_> {
    fn demand(&self, number: StreamIndex) -> StreamDemand {
        let stream = &self.network.streams[number.index()];
        let passage = |place: usize| {
            let (queued, gone) = self.at_hop(stream, place);
            (stream.hops[place].port, Duration::from_ps(queued.min), Duration::from_ps(gone))
        };
        let line = stream.hops.first().and_then(|hop| self.network.ports[hop.port.index()].links);
        let bits = wire_bits(stream.payload_max, stream.tagged);
        let length = line.map(|links| self.network.links[links.egress.index()].rate.duration_ceil(bits));
        StreamDemand {
            passages: (0..stream.hops.len()).map(passage).collect(),
            length: length.unwrap_or_default(),
            heard: self.heard(stream.talker),
            apart_max: self.apart_max(number),
            answer: self.answer_demand(number),
        }
    }

    /// Rounded down; none without a deadline or with traffic that is not one frame an interval.
    fn apart_max(&self, number: StreamIndex) -> Option<Duration> {
        let stream = &self.network.streams[number.index()];
        let (interval, jitter, burst) = self.handed_over(number)?;
        if burst > 1 {
            return None;
        }
        let ways = (0..stream.listeners.len()).filter_map(|listener| self.way(stream, listener));
        let way = ways.map(|(_, way)| way.max).max()?;
        let transmit = self.transmit(number)?;
        let errors = self.early + self.late;
        let left = stream.deadline?.as_ps().checked_sub(transmit.max + way + errors)?;
        let before_next = interval.checked_sub(jitter + transmit.spread() + errors)?;
        // A failing master costs a slot.
        Some(Duration::from_ps(self.deviation.shrink(left.min(before_next)) / (1 + self.lost)))
    }

    fn answer_demand(&self, number: StreamIndex) -> Option<AnswerDemand> {
        let response = &self.network.streams[number.index()];
        let Traffic::Response { to, turn_around } = response.traffic else { return None };
        let ready = self.ready(number, to, turn_around)?;
        let ways = (0..response.listeners.len()).filter_map(|listener| self.way(response, listener));
        Some(AnswerDemand {
            to,
            ready: Duration::from_ps(self.deviation.stretch(ready.max) + self.early + self.late),
            way: Duration::from_ps(ways.map(|(_, way)| way.max).max()?),
        })
    }
}
