//! Streams on their way through a host, as token buckets with the time that has passed.
//!
//! The delay of a part increases the burst at the next by r (most − least). Not here: where flows wait for each other (`server.rs`).

use tautwire_model::network::{Delay, HostStacks, NodeIndex, Stream, Tail};
use tautwire_model::{Network, frame_length};
use tautwire_units::Bytes;

use super::{Handed, bucket_of};
use crate::answers::Span;
use crate::clock::{Deviation, PS_PER_S, servo, slack_ps};
use crate::delay::{delay_max, delay_min};
use crate::plan::frame::frames_behind;
use crate::timeline::Timeline;

/// A stream on its way through a host.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) stream: usize,
    pub(super) listener: usize,
    pub(super) stack: usize,
    pub(super) class: u8,
    /// Token bucket over bits of the wire; none: nothing is known.
    pub(super) bucket: Option<(u64, u64)>,
    pub(super) least_bits: u64,
    pub(super) octets: (Bytes, Bytes),
    pub(super) min: u64,
    pub(super) max: u64,
    /// Most of its frames that wait for the thread, and octets that wait for the interface that sends them; none: no bound.
    pub(super) waiting: Option<u64>,
    pub(super) sending: Option<u64>,
    /// Octets that all which wait with it for the receiving interface take beyond the ring; none: no bound.
    pub(super) beyond_ring: Option<u64>,
    /// Whether what comes later to a server that is busy is not looked at: a fault.
    #[cfg(feature = "planted-faults")]
    pub(super) is_hasty: bool,
}

impl Flow {
    /// Octets of so many of its frames.
    pub(super) fn octets_of(&self, frames: Option<u64>) -> Option<u64> {
        frames.map(|frames| frames.saturating_mul(self.octets.1.get()))
    }
}

pub(super) fn flow(
    network: &Network,
    timeline: &Timeline,
    stacks: &HostStacks,
    number: usize,
    listener: usize,
) -> Flow {
    let stream: &Stream = &network.streams[number];
    let clock = &network.nodes[stream.talker.index()].clock;
    let bucket = timeline.arrival(stream, crate::plan::index(number)).map(|curve| {
        // A servo may run the talker's clock faster yet.
        let rate = Deviation::of(clock).fastest(curve.rate.fastest(servo(network)).as_bps());
        (rate, grown(curve.burst.get(), rate, slack_ps(clock)))
    });
    let octets = |payload| frame_length(payload, stream.tagged);
    Flow {
        stream: number,
        listener,
        stack: stacks.stack_of(stream).expect("a host with stacks") as usize,
        class: stream.hops.first().map_or(0, |hop| hop.class.number()),
        bucket,
        least_bits: (octets(stream.payload_min) + Bytes::MEDIA_OVERHEAD).bits().get(),
        octets: (octets(stream.payload_min), octets(stream.payload_max) + tautwire_model::TAG),
        min: 0,
        max: 0,
        waiting: Some(0),
        sending: Some(0),
        beyond_ring: Some(0),
        #[cfg(feature = "planted-faults")]
        is_hasty: false,
    }
}

/// The streams that a node's ports receive, as they come to its interfaces.
pub(super) fn received(
    network: &Network,
    timeline: &Timeline,
    stacks: &HostStacks,
    (node, responses): (NodeIndex, &[Option<Handed>]),
    ports: &[Vec<Span>],
) -> Vec<Flow> {
    let mut flows = Vec::new();
    for (number, stream) in network.streams.iter().enumerate() {
        for listener in (0..stream.listeners.len()).filter(|listener| stream.listeners[*listener] == node) {
            let at_port = ports[number][listener];
            let mut flow = flow(network, timeline, stacks, number, listener);
            let last =
                stream.hops.iter().find(|hop| hop.listener.is_some_and(|one| one as usize == listener));
            flow.class = last.map_or(0, |hop| hop.class.number());
            // It may come without the tag with which it was sent.
            flow.octets.0 = last.map_or(flow.octets.0, |hop| frames_behind(stream, hop).0);
            // Over two networks the second copy may let a frame through that was lost on the first: as late.
            let copies = 1 + u64::from(at_port.twice);
            let bucket = flow.bucket.or_else(|| bucket_of(responses, number));
            let bucket =
                bucket.map(|(rate, burst)| (rate.saturating_mul(copies), burst.saturating_mul(copies)));
            // The bucket of a response has the spread of its request in it already.
            let known = responses.get(number).copied().flatten();
            let before = known.map_or(0, |handed| handed.since.1 - handed.since.0);
            flow.bucket = at_port.max.zip(bucket).map(|(most, (rate, burst))| {
                let spread = most.saturating_sub(at_port.min).saturating_sub(before);
                (rate, grown(burst, rate, spread))
            });
            flows.push(flow);
        }
    }
    flows
}

/// A burst behind a jitter, rounded up.
pub(super) fn grown(burst: u64, rate: u64, jitter: u64) -> u64 {
    let earned = (u128::from(rate) * u128::from(jitter)).div_ceil(PS_PER_S);
    burst.saturating_add(u64::try_from(earned).unwrap_or(u64::MAX))
}

pub(super) fn group(flows: &[Flow], is_in: impl Fn(&Flow) -> bool) -> Vec<usize> {
    (0..flows.len()).filter(|flow| is_in(&flows[*flow])).collect()
}

pub(super) fn interface_of(stacks: &HostStacks, flow: &Flow) -> Option<usize> {
    stacks.stacks[flow.stack].interface.map(|interface| interface as usize)
}

pub(super) fn span(time: &Delay, flow: &Flow) -> (u64, u64) {
    (delay_min(time, flow.octets.0), delay_max(time, flow.octets.1))
}

pub(super) fn tail_max(tail: Option<Tail>, flow: &Flow) -> u64 {
    tail.map_or(0, |tail| span(&tail.delay, flow).1)
}

/// Flows pass something that delays each by a time of its own.
pub(super) fn delay(flows: &mut [Flow], group: &[usize], time: impl Fn(&Flow) -> (u64, u64)) {
    for number in group {
        let flow = &mut flows[*number];
        let (least, most) = time(flow);
        flow.min += least;
        flow.max = flow.max.saturating_add(most);
        flow.bucket = flow.bucket.map(|(rate, burst)| (rate, grown(burst, rate, most - least)));
    }
}
