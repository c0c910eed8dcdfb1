//! Entries: the passage of a stream through a port, as far as it does not depend on other streams.

use tautwire_model::network::{Clock, NodeKind, SelectionAlgorithm, Stream, Traffic, frame_length};
use tautwire_model::{Tags, tag_ratio};
use tautwire_units::Bytes;

use super::frame::{frames, frames_before, frames_behind, ps_ceil, ps_floor, wire};
use super::{NONE, Plan, index, signed};
use crate::clock::{Deviation, PS_PER_S, servo, slack_ps};
use crate::curve::Line;
use crate::delay::delay_min;
use crate::psfp::payload_max;
use crate::virtual_link::policer;

/// A stream's passage through a port.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) stream: u32,
    /// The entry before, or [`NONE`] at the talker.
    pub(crate) previous: u32,
    pub(crate) port: u32,
    pub(crate) class: u8,
    pub(crate) lane: u16,
    /// With what tags its frames are on the wire behind the port.
    pub(crate) tagged: Tags,
    /// Reception port, or [`NONE`].
    pub(crate) reception: u32,
    pub(crate) scheduler: u32,
    pub(crate) group: u32,
    /// Whether it is the one that counts where several entries are one frame (multicast).
    pub(crate) primary: bool,
    pub(crate) frame_min: Bytes,
    pub(crate) frame_max: Bytes,
    /// The promise of its talker, in bits on the wire here and true time, except for roundings of its clock.
    pub(crate) promise: Option<Line>,
    /// How much later a frame may come than its talker's clock should have it.
    pub(crate) talker_slack: u64,
    /// From the last bit received to the ATS arrival time and to the queue, least.
    pub(crate) arrival_min: i64,
    pub(crate) queue_min: i64,
    /// Latencies of its own stages up to there, greatest (true time).
    pub(crate) own_latency: (u64, u64),
    /// How its frames are forwarded before their last bit, if they are.
    pub(crate) cut: Option<Cut>,
    /// From the start of transmission to the last bit at the next node: smallest and largest frame, greatest.
    pub(crate) transmission_max: (u64, u64),
    /// From the application: least times to the last bit here, to the queue, and to the next node.
    pub(crate) here_min: i64,
    pub(crate) ready_min: i64,
    pub(crate) next_min: i64,
    /// From the last bit here to the last bit at the next node, least.
    pub(crate) hop_min: i64,
}

/// Frames that are sent on when their header is in: that is before their last bit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// Octets of the header.
    pub(crate) header: Bytes,
    /// How long before its last bit a frame's header is in, at least: smallest and largest frame.
    pub(crate) before_min: (u64, u64),
    /// The same at most, of the largest frame.
    before_max: u64,
    /// The same of the smallest frame, and with a clock before it that is as fast as it may be.
    before_slow: u64,
    before_fast: u64,
    /// Latencies of its own stages, least.
    pub(crate) latency_min: u64,
    /// The rounding of a run in the time at which the header is complete.
    pub(crate) rounding: u64,
}

impl Cut {
    /// Of frames between two sizes that come at `rate` from a node with this clock.
    fn of(header: Bytes, (least, most): (Bytes, Bytes), rate: u64, clock: &Clock, latency_min: u64) -> Self {
        let (deviation, slack) = (Deviation::of(clock), slack_ps(clock));
        let left = |frame: Bytes| frame.get().saturating_sub(header.get()) * 8;
        // The time of an octet is a whole number of picoseconds.
        let exact = slack == 0 && (PS_PER_S * 8).is_multiple_of(u128::from(rate));
        let (rounding, inexact) = if exact { (0, 0) } else { (slack + most.get(), 2) };
        let before = |frame| deviation.shrink(ps_floor(left(frame), rate)).saturating_sub(rounding);
        Self {
            header,
            before_min: (before(least), before(most)),
            before_max: deviation.stretch(ps_ceil(left(most), rate)) + slack,
            before_slow: deviation.stretch(ps_ceil(left(least), rate)) + slack,
            before_fast: deviation.shrink(ps_ceil(left(least), rate)) + slack + inexact,
            latency_min,
            rounding,
        }
    }
}

impl Entry {
    /// From the header of its frames to the queue, greatest, of so much from their last bit on.
    pub(crate) fn since_header(&self, queue_max: i64) -> Option<u64> {
        let before = signed(self.cut?.before_min.0);
        Some(u64::try_from(queue_max + before).unwrap_or(0))
    }

    /// Bits of the wire of its smallest frame.
    pub(crate) fn wire_min(&self) -> u64 {
        wire(self.frame_min)
    }

    /// Bits of the wire of its largest frame.
    pub(crate) fn wire_max(&self) -> u64 {
        wire(self.frame_max)
    }
}

impl Plan<'_> {
    /// Upper bound of the bits that the scheduler of an entry charges, with `overhead` octets in addition to the frame
    /// as it came, per bit on the wire as it leaves.
    pub(crate) fn charged_per_wire(&self, entry: &Entry, overhead: u64) -> (u64, u64) {
        tautwire_model::charged_per_wire(self.stream(entry.stream), self.tags(entry), Bytes::new(overhead))
    }

    /// Bits of the wire as a frame leaves to one that the scheduler of an entry charges: at most.
    pub(crate) fn wire_per_charged(&self, entry: &Entry, overhead: u64) -> (u64, u64) {
        tautwire_model::wire_per_charged(self.stream(entry.stream), self.tags(entry), Bytes::new(overhead))
    }

    /// With what tags the frames of an entry came, and leave.
    fn tags(&self, entry: &Entry) -> (Tags, Tags) {
        (self.entries.get(entry.previous as usize).map_or(entry.tagged, |before| before.tagged), entry.tagged)
    }

    /// Makes the entries of the next stream, with all that does not depend on which other streams run.
    pub(super) fn make_known(&mut self, number: u32, policed: bool) {
        let network = self.network;
        let stream = self.stream(number);
        let first = index(self.entries.len());
        let talker = Deviation::of(&network.nodes[stream.talker.index()].clock);
        let sending = self.sending(number);
        let held_up = self.is_held_up(number);
        let promise = self.timeline.arrival(stream, number).filter(|_| !held_up);
        // A servo may run the talker's clock faster yet.
        let faster = servo(network);
        let promise = promise
            .map(|curve| Line::new(curve.burst.get(), talker.fastest(curve.rate.fastest(faster).as_bps())));
        let shaper = stream.shaper.filter(|_| stream.shaped_at_talker).map(|shaper| {
            let rate = shaper.committed_information_rate.as_bps();
            self.timeline.shaper(number, stream.talker, rate, shaper.committed_burst_size.get())
        });
        self.talker_shapers.push(shaper);
        for position in 0..self.stream(number).hops.len() {
            let stream = self.stream(number);
            let hop = &stream.hops[position];
            let twin = stream.hops[..position].iter().any(|other| {
                other.previous == hop.previous && other.class == hop.class && other.scheduler == hop.scheduler
            });
            let previous = hop.previous.map_or(NONE, |previous| first + previous);
            let mut entry =
                Entry { primary: !twin, previous, ..self.entry(number, stream, position, promise) };
            if let (Some(sending), None) = (sending, hop.previous) {
                entry.queue_min = signed(sending.min);
            }
            self.add_least(&mut entry);
            if policed {
                let before = self.entries.get(previous as usize);
                let granted = before
                    .zip(hop.previous)
                    .and_then(|(before, hop)| policer(network, stream, hop as usize, before));
                self.policers.push(granted);
            }
            self.entries.push(entry);
        }
        self.first_entry.push(index(self.entries.len()));
    }

    /// The least times to an entry and behind it.
    fn add_least(&self, entry: &mut Entry) {
        let plan = self.port(entry.port);
        let link = self.network.ports[entry.port as usize].links.expect("a planned port is connected");
        let link = &self.network.links[link.egress.index()];
        let node = self.network.ports[entry.port as usize].node;
        let row = self.rows.transmission(self.network, node);
        let stages = row.map_or(0, |row| row.latency_min(entry.frame_min));
        let sent = plan.deviation.shrink(ps_floor((entry.frame_min.get() + 8) * 8, plan.rate));
        let sent = sent.saturating_sub(plan.slack) + stages + link.propagation.as_ps();
        entry.here_min = self.entries.get(entry.previous as usize).map_or(0, |before| before.next_min);
        let sending = signed(sent + link.phy_delay.min.as_ps());
        entry.ready_min = entry.here_min + entry.queue_min;
        entry.hop_min = entry.queue_min + sending;
        if let Some(cut) = &entry.cut {
            // From the smallest frame's header on; the hop of a larger one is as long, except for clocks that differ.
            let header_min = entry.here_min - signed(cut.before_fast);
            entry.ready_min = entry.ready_min.max(header_min + signed(cut.latency_min));
            let longer = ps_floor((entry.frame_max.get() - entry.frame_min.get()) * 8, plan.rate);
            let largest = sending + signed(plan.deviation.shrink(longer)) - signed(cut.before_max + 1);
            let smallest = sending - signed(cut.before_slow);
            entry.hop_min = signed(cut.latency_min) + smallest.min(largest);
        }
        entry.next_min = entry.ready_min + sending;
    }

    /// All of an entry but its place among the others.
    fn entry(&self, number: u32, stream: &Stream, position: usize, promise: Option<Line>) -> Entry {
        let network = self.network;
        let hop = &stream.hops[position];
        let port = &network.ports[hop.port.index()];
        let plan = self.port(hop.port.0);
        let (frame_min, frame_max) = frames_behind(stream, hop);
        let passes = payload_max(network, number, stream, position);
        let frame_max = frame_max.min(frame_length(passes, hop.tagged));
        let ratio = tag_ratio(stream, stream.tagged, hop.tagged);
        let promise = promise.map(|line| line.in_bits(ratio));
        let mut entry = Entry {
            stream: number,
            previous: NONE,
            port: hop.port.0,
            class: hop.class.number(),
            lane: network.lane(stream, position),
            tagged: hop.tagged,
            reception: NONE,
            scheduler: hop.scheduler.map_or(NONE, |scheduler| scheduler.0),
            group: hop.scheduler.map_or(NONE, |scheduler| self.scheduler(scheduler.0).group.0),
            primary: true,
            frame_min,
            frame_max,
            promise,
            talker_slack: slack_ps(&network.nodes[stream.talker.index()].clock),
            arrival_min: 0,
            queue_min: 0,
            own_latency: (0, 0),
            cut: None,
            transmission_max: (0, 0),
            here_min: 0,
            ready_min: 0,
            next_min: 0,
            hop_min: 0,
        };
        match (&network.nodes[port.node.index()].kind, hop.previous) {
            (NodeKind::Bridge { device, .. }, Some(previous)) => {
                let rows = *device;
                let device = &network.devices[device.index()];
                let before = &stream.hops[previous as usize];
                let link = network.ports[before.port.index()].links.expect("connected").egress;
                let to = network.links[link.index()].to;
                entry.reception = to.0;
                let (received_min, received_max) = frames_before(stream, hop);
                let algorithm = port.classes[hop.class.index()].selection.algorithm();
                let (reception, both) = self.rows.before(rows.index(), algorithm);
                entry.own_latency = (reception.latency_max(received_max), both.latency_max(received_max));
                entry.arrival_min = signed(reception.latency_min(received_min));
                entry.queue_min = signed(both.latency_min(received_min));
                if let Some(header) = network.cut_through(stream, position) {
                    let upstream = &network.nodes[network.ports[before.port.index()].node.index()].clock;
                    let rate = network.links[link.index()].rate.as_bps();
                    let frames = (received_min, received_max);
                    let cut = Cut::of(header, frames, rate, upstream, both.latency_min(received_min));
                    entry.queue_min -= signed(cut.before_max);
                    entry.arrival_min -= signed(cut.before_max);
                    entry.cut = Some(cut);
                }
                if algorithm == SelectionAlgorithm::Ats && hop.scheduler.is_some() {
                    let hold = plan.deviation.shrink(device.ats.processing_delay_max.as_ps());
                    let held = entry.arrival_min + signed(hold.saturating_sub(plan.slack));
                    entry.queue_min = entry.queue_min.max(held);
                }
            }
            // Frames of control protocols are made at the interface.
            (NodeKind::EndStation { .. }, _) if stream.traffic == Traffic::Protocol => {}
            (NodeKind::EndStation { host }, _) => {
                let host = &network.hosts[host.index()];
                entry.queue_min = signed(delay_min(&host.transmit, frames(stream, stream.tagged).0));
            }
            (NodeKind::Bridge { .. }, None) => {}
        }
        entry
    }
}
