//! Entries: the passage of a stream through a port, as far as it does not depend on other streams.

use tautwire_model::network::{Mechanism, NodeKind, StagePosition};
use tautwire_units::Bytes;

use super::frame::{cut_through, frames, greatest_ratio, mechanism, ps_ceil, ps_floor, tag_ratio, wire};
use super::{NONE, Plan, index, signed};
use crate::clock::{Deviation, slack_ps};
use crate::curve::Line;
use crate::delay::{Row, delay_min};

/// A stream's passage through a port.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) stream: u32,
    /// The entry before, or [`NONE`] at the talker.
    pub(crate) previous: u32,
    pub(crate) port: u32,
    pub(crate) class: u8,
    pub(crate) lane: u16,
    /// Whether its frames are tagged on the wire behind the port.
    pub(crate) tagged: bool,
    /// Reception port, or [`NONE`].
    pub(crate) reception: u32,
    pub(crate) scheduler: u32,
    pub(crate) group: u32,
    /// Whether it is the one that counts where several entries are one frame (multicast).
    pub(crate) primary: bool,
    pub(crate) frame_min: Bytes,
    pub(crate) frame_max: Bytes,
    /// What its talker promises, in bits of the wire here and true time, but for roundings of its clock.
    pub(crate) promise: Option<Line>,
    /// How much later a frame may come than its talker's clock should have it.
    pub(crate) talker_slack: u64,
    /// From the last bit received to the ATS arrival time and to the queue, least.
    pub(crate) arrival_min: i64,
    pub(crate) queue_min: i64,
    /// Latencies of its own stages up to there, greatest (true time).
    pub(crate) own_latency: (u64, u64),
    /// What cut-through saves at least.
    pub(crate) saved_min: u64,
    /// From the start of transmission to the last bit at the next node: smallest and largest frame, greatest.
    pub(crate) transmission_max: (u64, u64),
    /// From the application: least times to the last bit here, to the queue, and to the next node.
    pub(crate) here_min: i64,
    pub(crate) ready_min: i64,
    pub(crate) next_min: i64,
}

impl Entry {
    /// Bits of the wire of its smallest frame.
    pub(crate) fn wire_min(&self) -> u64 {
        wire(self.frame_min)
    }

    /// Bits of the wire of its largest frame.
    pub(crate) fn wire_max(&self) -> u64 {
        wire(self.frame_max)
    }

    /// Bits that are charged, with `overhead` octets beside the frame, to one of the wire: at most.
    pub(crate) fn charged_per_wire(&self, overhead: u64) -> (u64, u64) {
        greatest_ratio(self.frame_min, self.frame_max, overhead, Bytes::MEDIA_OVERHEAD.get())
    }

    /// Bits of the wire to one that is charged: at most.
    pub(crate) fn wire_per_charged(&self, overhead: u64) -> (u64, u64) {
        greatest_ratio(self.frame_min, self.frame_max, Bytes::MEDIA_OVERHEAD.get(), overhead)
    }
}

impl Plan<'_> {
    /// All of an entry but its place among the others.
    pub(super) fn entry(
        &self,
        number: usize,
        position: usize,
        promise: Option<Line>,
        hosts: &[u64],
    ) -> Entry {
        let network = self.network;
        let stream = &network.streams[number];
        let hop = &stream.hops[position];
        let port = &network.ports[hop.port.index()];
        let plan = self.port(hop.port.0);
        let (frame_min, frame_max) = frames(stream, hop.tagged);
        let ratio = tag_ratio(stream, stream.tagged, hop.tagged);
        let promise = promise.map(|line| line.in_bits(ratio));
        let mut entry = Entry {
            stream: index(number),
            previous: NONE,
            port: hop.port.0,
            class: hop.class.number(),
            lane: network.lane(stream, position),
            tagged: hop.tagged,
            reception: NONE,
            scheduler: hop.scheduler.map_or(NONE, |scheduler| scheduler.0),
            group: hop.scheduler.map_or(NONE, |scheduler| network.schedulers[scheduler.index()].group.0),
            primary: true,
            frame_min,
            frame_max,
            promise,
            talker_slack: slack_ps(&network.nodes[stream.talker.index()].clock),
            arrival_min: 0,
            queue_min: 0,
            own_latency: (0, 0),
            saved_min: 0,
            transmission_max: (0, 0),
            here_min: 0,
            ready_min: 0,
            next_min: 0,
        };
        match (&network.nodes[port.node.index()].kind, hop.previous) {
            (NodeKind::Bridge { device, .. }, Some(previous)) => {
                let device = &network.devices[device.index()];
                let before = &stream.hops[previous as usize];
                let link = network.ports[before.port.index()].links.expect("connected").egress;
                let to = network.links[link.index()].to;
                entry.reception = to.0;
                let (received_min, received_max) = frames(stream, before.tagged);
                let mechanism = mechanism(port.classes[hop.class.index()].selection);
                let reception = Row::of(&device.stages, mechanism, &[StagePosition::Reception]);
                let both = [StagePosition::Reception, StagePosition::Processing];
                let both = Row::of(&device.stages, mechanism, &both);
                entry.own_latency = (reception.latency_max(received_max), both.latency_max(received_max));
                entry.arrival_min = signed(reception.latency_min(received_min));
                entry.queue_min = signed(both.latency_min(received_min));
                if let Some(header) = cut_through(network, stream, position) {
                    let upstream = &network.nodes[network.ports[before.port.index()].node.index()].clock;
                    let rate = network.links[link.index()].rate.as_bps();
                    let left = |frame: Bytes| frame.get().saturating_sub(header) * 8;
                    let deviation = Deviation::of(upstream);
                    let saved_max = deviation.stretch(ps_ceil(left(received_max), rate)) + slack_ps(upstream);
                    entry.saved_min = deviation
                        .shrink(ps_floor(left(received_min), rate))
                        .saturating_sub(slack_ps(upstream) + received_min.get());
                    entry.queue_min -= signed(saved_max);
                    entry.arrival_min -= signed(saved_max);
                }
                if mechanism == Mechanism::Ats && hop.scheduler.is_some() {
                    let hold = plan.deviation.shrink(device.ats.processing_delay_max.as_ps());
                    let held = entry.arrival_min + signed(hold.saturating_sub(plan.slack));
                    entry.queue_min = entry.queue_min.max(held);
                }
            }
            (NodeKind::EndStation { host }, _) => {
                let host = &network.hosts[host.index()];
                entry.own_latency = (hosts[port.node.index()], hosts[port.node.index()]);
                entry.queue_min = signed(delay_min(&host.transmit, frames(stream, stream.tagged).0));
            }
            (NodeKind::Bridge { .. }, None) => {}
        }
        entry
    }
}
