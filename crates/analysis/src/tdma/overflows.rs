//! Compares the backlog of a TDMA station with the limits of its host, and finds frames that no slot takes in their lifetime.
//!
//! A station has a queue for real-time frames and one for ordinary ones, each first in, first out, with the limit of
//! its host. So the frames in one came within the longest wait of any of its frames. After its slot a frame waits for
//! no other: one is at a port, or two where a standby opens cycles simultaneously with the master. Not here: start-up,
//! which is over before any stream begins.

use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};

use super::Cycle;
use crate::loss::{Limit, LimitKind, LimitPlace, Overflow, Whose};

/// Picoseconds that a frame may wait for a slot of its TDMA station.
pub const LIFETIME: LimitKind =
    LimitKind::new("lifetime", "ps", "lifetime of frames of TDMA station {place}");

impl Cycle<'_> {
    /// Adds limits that may be too small.
    pub(super) fn add_overflows(&self, found: &mut Vec<Overflow>) {
        if self.reason.is_some() {
            return;
        }
        for node in (0..self.network.nodes.len()).map(NodeIndex::at) {
            self.at_station(node, found);
        }
        for port in (0..self.network.ports.len()).map(PortIndex::at) {
            self.at_port(port, found);
        }
        crate::loss::sending_overflows(self.network, &self.stacks.sending, found);
    }

    /// The queues of a station.
    fn at_station(&self, node: NodeIndex, found: &mut Vec<Overflow>) {
        let Some(host) = self.network.host(node) else { return };
        let of_node = |number: &StreamIndex| {
            let stream = &self.network.streams[number.index()];
            stream.talker == node && !stream.traffic.is_control()
        };
        let all: Vec<StreamIndex> =
            (0..self.network.streams.len()).map(StreamIndex::at).filter(of_node).collect();
        let limit = u64::from(host.queue_limit);
        for real_time in [true, false] {
            let here = || all.iter().copied().filter(|one| self.network.is_real_time(*one) == real_time);
            let wait = here().try_fold(0_u64, |most, one| Some(most.max(self.wait(one)?)));
            let frames = |one: StreamIndex| Some(self.arrivals(one)?.frames(wait?));
            let needed = here().try_fold(0_u64, |sum, one| Some(sum.saturating_add(frames(one)?)));
            let fits = needed.is_some_and(|needed| needed <= limit);
            for stream in here().filter(|_| !fits) {
                let limit = Limit { kind: LimitKind::HOST_QUEUE, at: LimitPlace::Node(node), limit, needed };
                found.push(Overflow { whose: Whose::Stream(stream), limit });
            }
        }
        if !self.network.has_stacks(node) {
            self.before_station(node, &all, limit, found);
        }
        for stream in all {
            self.lifetime(node, stream, found);
        }
    }

    /// The delays between applications and the station.
    fn before_station(&self, node: NodeIndex, all: &[StreamIndex], limit: u64, found: &mut Vec<Overflow>) {
        let frames = |one: &StreamIndex| match self.transmit(*one)?.max {
            0 => Some(1),
            most => Some(self.arrivals(*one)?.frames(most)),
        };
        let needed = all.iter().try_fold(0_u64, |sum, one| Some(sum.saturating_add(frames(one)?)));
        if needed.is_none_or(|needed| needed > limit) {
            let limit = Limit { kind: LimitKind::HOST_QUEUE, at: LimitPlace::Node(node), limit, needed };
            found.push(Overflow { whose: Whose::Talker(node), limit });
        }
    }

    /// Whether frames of a stream may wait for longer than they live, whatever does not fail.
    fn lifetime(&self, node: NodeIndex, stream: StreamIndex, found: &mut Vec<Overflow>) {
        let Some(lifetime) = self.tdma.lifetime else { return };
        let needed = self.queued(stream).map(|wait| self.deviation.stretch(wait));
        if needed.is_none_or(|needed| needed > lifetime.as_ps()) {
            let limit = Limit { kind: LIFETIME, at: LimitPlace::Node(node), limit: lifetime.as_ps(), needed };
            found.push(Overflow { whose: Whose::Stream(stream), limit });
        }
    }

    /// The queues of a port, of a station or a bridge.
    fn at_port(&self, port: PortIndex, found: &mut Vec<Overflow>) {
        let hops =
            self.network.streams.iter().flat_map(|stream| stream.hops.iter().map(move |hop| (stream, hop)));
        let mut most = [0_u64; 8];
        for (stream, hop) in hops.filter(|(_, hop)| hop.port == port) {
            let octets = tautwire_model::frame_length(stream.payload_max, hop.tagged).get();
            most[hop.class.index()] = most[hop.class.index()].max(octets);
        }
        let frames = if self.doubled > 0 { 2 } else { 1 };
        let settings = &self.network.ports[port.index()];
        // Of the shared buffer: one class at a time has frames there, in addition to the cells reserved for the others.
        let cells = settings.shared_buffer.as_ref().map(|buffer| {
            let reserved: u64 = buffer.reserved.iter().map(|cells| u64::from(*cells)).sum();
            let needs: [u64; 8] = std::array::from_fn(|class| {
                let cells = most[class].div_ceil(buffer.cell.get()) * frames;
                reserved + cells.saturating_sub(u64::from(buffer.reserved[class]))
            });
            (u64::from(buffer.cells), needs)
        });
        for class in 0..8_u8 {
            let number = usize::from(class);
            let octets = most[number] * frames;
            let Some(at) = tautwire_core::TrafficClass::new(class).filter(|_| octets > 0) else { continue };
            let limits = &settings.classes[number];
            let mut hold = |kind, limit, needed| {
                if needed > limit {
                    let limit = Limit { kind, at: LimitPlace::Class(port, at), limit, needed: Some(needed) };
                    found.push(Overflow { whose: Whose::Class(port, at), limit });
                }
            };
            hold(LimitKind::QUEUE_FRAMES, u64::from(limits.limit_frames), frames);
            hold(LimitKind::QUEUE_OCTETS, limits.limit_octets.get(), octets);
            if let Some((cells, needs)) = &cells
                && needs[number] > *cells
            {
                let needed = needs.iter().copied().max().unwrap_or_default();
                hold(LimitKind::BUFFER_CELLS, *cells, needed);
            }
        }
    }
}
