//! Devices whose frames may come to the queue of an ATS class behind their eligibility times, which ProcessingDelayMax covers too little for (IEEE Std
//! 802.1Q-2022, 8.6.11).
//!
//! A frame takes the latencies of the processing stages, and waits where a stage is still occupied by a frame that came by the same port before. Frames come
//! no faster than the line, so of those before only the first counts whole; each other one adds what it occupies a stage for longer than the line takes for it.
//! All streams may send their bursts one behind the other; one without an arrival curve counts with a frame.

use tautwire_units::{BitRate, Bytes, Duration};

use crate::frame::frame_length;
use crate::network::{
    Delay, DeviceIndex, DeviceModel, Distribution, Hop, NodeKind, SelectionAlgorithm, Stage, StagePosition,
    Stream,
};
use crate::resolve::covering::Covering;
use crate::resolve::streams::Streams;
use crate::text::codes;
use crate::text::faults::Faults;

/// The processing stages that frames of ATS classes pass.
fn stages(device: &DeviceModel) -> impl Iterator<Item = &Stage> {
    device.stages.iter().filter(|stage| {
        stage.position == StagePosition::Processing
            && stage.only_for.is_none_or(|only| only == SelectionAlgorithm::Ats)
    })
}

/// The shortest that a frame takes.
fn shortest(latency: &Delay, octets: u64) -> Duration {
    let random = match latency.random {
        Distribution::Zero => Duration::ZERO,
        Distribution::Uniform { min, max } | Distribution::Normal { min, max, .. } => max.saturating_sub(min),
    };
    latency.longest(octets).saturating_sub(random)
}

/// Warns of each such device once.
pub(super) fn check(covering: &Covering<'_, '_, '_>, streams: &Streams<'_, '_>, faults: &mut Faults) {
    let topology = covering.topology;
    let mut reported: Vec<DeviceIndex> = Vec::new();
    let is_shaped = |stream: &Stream| stream.hops.iter().any(|hop| hop.scheduler.is_some());
    if !streams.list.iter().any(|draft| is_shaped(&draft.stream)) {
        return;
    }
    let sent = sent_by_port(topology.ports.len(), streams);
    for draft in &streams.list {
        let stream = &draft.stream;
        for hop in stream.hops.iter().filter(|hop| hop.scheduler.is_some()) {
            let (NodeKind::Bridge { device: index, .. }, Some(before)) =
                (&topology.nodes[topology.ports[hop.port.index()].node.index()].kind, hop.previous)
            else {
                continue;
            };
            let device = covering.models.device_at(*index);
            let stated = device.ats.processing_delay_max;
            if reported.contains(index) {
                continue;
            }
            let before = &stream.hops[before as usize];
            let here = Here { covering, received: &sent[before.port.index()], device, before };
            let (taken, waited) = here.taken(stream, hop);
            if taken <= stated {
                continue;
            }
            reported.push(*index);
            let of_waiting = if waited.is_zero() {
                String::new()
            } else {
                format!(", {waited} of them behind frames that come by the same port and occupy a stage")
            };
            let message = format!(
                "the stages of device `{}` may take a frame of `{}` {taken} to its queue{of_waiting}, and its `processing-delay-max` is {stated}: frames may come behind their eligibility time",
                device.name, stream.name
            );
            let help = "raise `processing-delay-max` under `ats` of the device";
            faults.warning(codes::PROCESSING_DELAY, draft.name_place, message, help);
        }
    }
}

/// A stream, and one of its hops.
type Sent<'a> = (&'a Stream, usize);

/// By port, the streams that it sends.
fn sent_by_port<'a>(ports: usize, streams: &'a Streams<'_, '_>) -> Vec<Vec<Sent<'a>>> {
    let mut sent = vec![Vec::new(); ports];
    let own = streams.list.iter().map(|draft| &draft.stream);
    for stream in own.chain(&streams.protocol) {
        for (number, hop) in stream.hops.iter().enumerate() {
            sent[hop.port.index()].push((stream, number));
        }
    }
    sent
}

/// Where a frame comes in.
struct Here<'a, 'd, 't> {
    covering: &'a Covering<'a, 'd, 't>,
    /// All streams that are received here, with the hop behind which they are.
    received: &'a [Sent<'a>],
    device: &'a DeviceModel,
    /// The hop behind which it is received.
    before: &'a Hop,
}

impl Here<'_, '_, '_> {
    /// How long a frame of a stream may take to the queue of a hop, and how much of that it waits.
    fn taken(&self, stream: &Stream, hop: &Hop) -> (Duration, Duration) {
        let before = self.before(stream, hop);
        let sizes = [stream.payload_min, stream.payload_max].map(|size| self.octets(size, self.before));
        let of_size = |octets: u64| {
            let latency: Duration = stages(self.device)
                .map(|stage| stage.latency.longest(octets))
                .fold(Duration::ZERO, Duration::saturating_add);
            let apart = self.wire(octets).saturating_sub(self.closer(octets));
            let waited = before.saturating_sub(apart);
            (latency.saturating_add(waited), waited)
        };
        sizes.into_iter().map(of_size).max().unwrap_or_default()
    }

    fn octets(&self, payload: Bytes, hop: &Hop) -> u64 {
        frame_length(payload, hop.tagged).get()
    }

    /// The time of the line for a frame.
    fn wire(&self, octets: u64) -> Duration {
        let port = &self.covering.topology.ports[self.before.port.index()];
        let rate = port.links.map(|links| self.covering.topology.links[links.egress.index()].rate);
        let bits = (Bytes::new(octets) + Bytes::MEDIA_OVERHEAD).bits();
        rate.map_or(Duration::ZERO, |rate: BitRate| rate.duration_floor(bits))
    }

    /// By how much closer than on the line a frame may come behind another one: receptions of others take longer than its own.
    fn closer(&self, octets: u64) -> Duration {
        let port = &self.covering.topology.ports[self.before.port.index()];
        let phy = port.links.map_or(Duration::ZERO, |links| {
            let delay = &self.covering.topology.links[links.egress.index()].phy_delay;
            delay.max.saturating_sub(delay.min)
        });
        let is_reception = |stage: &&Stage| stage.position == StagePosition::Reception;
        let largest = self.largest();
        let varies = self.device.stages.iter().filter(is_reception).map(|stage| {
            let is_passed = stage.only_for.is_none_or(|only| only == SelectionAlgorithm::Ats);
            let least = if is_passed { shortest(&stage.latency, octets) } else { Duration::ZERO };
            stage.latency.longest(largest).saturating_sub(least)
        });
        varies.fold(phy, Duration::saturating_add)
    }

    /// Octets of the largest frame that is received here.
    fn largest(&self) -> u64 {
        let all = self.received.iter();
        all.map(|(stream, hop)| self.octets(stream.payload_max, &stream.hops[*hop])).max().unwrap_or(0)
    }

    /// How long frames that come at once may occupy stages before a frame of a stream.
    fn before(&self, own: &Stream, to: &Hop) -> Duration {
        let (mut first, mut more) = (Duration::ZERO, Duration::ZERO);
        for (stream, hop) in self.received.iter().copied() {
            // A frame passes the stages once for each class to which it goes.
            let next = stream.hops.iter().filter(|next| next.previous.is_some_and(|at| at as usize == hop));
            let mut ways: Vec<(u8, SelectionAlgorithm)> = next
                .map(|next| {
                    let port = &self.covering.topology.ports[next.port.index()];
                    (next.class.number(), port.classes[next.class.index()].selection.algorithm())
                })
                .collect();
            ways.sort_unstable_by_key(|way| way.0);
            ways.dedup();
            for (class, algorithm) in ways {
                let is_own = stream.name == own.name && class == to.class.number();
                let (least, added) = self.of_stream(stream, &stream.hops[hop], algorithm, is_own);
                first = first.max(least);
                more = more.saturating_add(added);
            }
        }
        first.saturating_add(more)
    }

    /// What the first of a stream's frames, which go to classes of a selection, counts, and what all of them do in addition.
    fn of_stream(
        &self,
        stream: &Stream,
        hop: &Hop,
        algorithm: SelectionAlgorithm,
        is_own: bool,
    ) -> (Duration, Duration) {
        let of_size = |payload: Bytes| {
            let octets = self.octets(payload, hop);
            let wire = self.wire(octets);
            let burst = stream.arrival.map_or(0, |curve| {
                curve.burst.get() / (Bytes::new(octets) + Bytes::MEDIA_OVERHEAD).bits().get()
            });
            let frames = burst.max(1) - u64::from(is_own);
            let passed =
                stages(self.device).filter(|stage| stage.only_for.is_none_or(|only| only == algorithm));
            let occupied = passed.map(|stage| stage.occupancy.longest(octets)).max().unwrap_or_default();
            if frames == 0 {
                return (Duration::ZERO, Duration::ZERO);
            }
            let longer = occupied.saturating_sub(wire).as_ps().saturating_mul(frames);
            (occupied.min(wire), Duration::from_ps(longer))
        };
        let (small, large) = (of_size(stream.payload_min), of_size(stream.payload_max));
        (small.0.max(large.0), small.1.max(large.1))
    }
}
