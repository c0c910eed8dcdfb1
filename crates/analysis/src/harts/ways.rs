//! The times that do not depend on others, and the talker's port: lines, stages, hosts, arrivals at the talker's queue.
//!
//! At the talker's port, which has no servers, a frame is complete when a busy period of its class and those above ends.

use tautwire_model::network::{
    Network, NodeKind, PortIndex, SelectionAlgorithm, StagePosition, Stream, StreamIndex, TimelineAction,
    Traffic,
};
use tautwire_model::{frame_length, wire_bits};
use tautwire_units::Bytes;

use super::arrivals::Arrivals;
use super::{FRAMES_MAX, Range, SHORTEST, Servers, wire_octets};
use crate::clock::PS_PER_S;
use crate::delay::{Row, delay_max, delay_min};
use crate::plan::frame::{frames_before, frames_behind};
use crate::unbounded::Unbounded;

/// Per port: the largest frame that leaves by it, of streams and of protocols.
pub(super) fn largest_frames(network: &Network) -> Vec<Bytes> {
    let control = network.network_control.map_or(Bytes::ZERO, |control| control.frame_max);
    let mut largest = vec![control; network.ports.len()];
    for stream in &network.streams {
        for hop in &stream.hops {
            let at_port = &mut largest[hop.port.index()];
            *at_port = frames_behind(stream, hop).1.max(*at_port);
        }
    }
    largest
}

impl Servers<'_> {
    /// A span of a node's clock, in true time at most.
    pub(super) fn late(&self, span: u64) -> u64 {
        self.deviation.stretch(span).saturating_add(self.slack + 2)
    }

    /// The longest busy period of a talker's port, for a frame's class and those above it.
    pub(super) fn talker_port(&self, stream: &Stream, place: usize) -> Result<u64, Unbounded> {
        let hop = &stream.hops[place];
        let links = self.network.ports[hop.port.index()].links.expect("a hop's port has a cable");
        let rate = self.network.links[links.egress.index()].rate;
        let line = |octets: u64| {
            self.deviation.stretch(rate.duration_ceil(Bytes::new(octets).bits()).as_ps()) + self.slack + 1
        };
        let control = self.network.network_control;
        let mut blocking = control.map_or(0, |control| line(control.frame_max.get() + 20));
        let mut before = Vec::new();
        for (other, described) in self.network.streams.iter().enumerate() {
            for passage in described.hops.iter().filter(|passage| passage.port == hop.port) {
                let time = line(wire_octets(described, passage.tagged));
                if passage.class < hop.class {
                    blocking = blocking.max(time);
                    continue;
                }
                let missing = Unbounded::NoArrivalCurve { stream: StreamIndex::at(other), port: hop.port };
                before.push((self.arrivals(StreamIndex::at(other)).ok_or(missing)?, time));
            }
        }
        let of_control = |span: u64| {
            control.map_or(0, |control| {
                let bps = u128::from(self.deviation.fastest(control.arrival.rate.as_bps()));
                let earned = (bps * u128::from(span)).div_ceil(PS_PER_S);
                let bits = u128::from(control.arrival.burst.get()) + earned;
                let time = (bits * PS_PER_S).div_ceil(u128::from(rate.as_bps()));
                let frames = u64::try_from(bits.div_ceil(SHORTEST)).unwrap_or(u64::MAX);
                let time = self.deviation.stretch(u64::try_from(time).unwrap_or(u64::MAX));
                time.saturating_add(frames.saturating_mul(self.slack))
            })
        };
        let mut busy = blocking + 1;
        for _ in 0..FRAMES_MAX {
            let of_streams = before.iter().fold(0_u64, |all, (arrivals, time)| {
                all.saturating_add(arrivals.frames(busy).saturating_mul(*time))
            });
            let next = blocking
                .saturating_add(of_streams)
                .saturating_add(of_control(busy))
                .saturating_add(self.slack + 2);
            if next <= busy {
                return Ok(busy);
            }
            busy = next;
        }
        Err(Unbounded::Overload { port: hop.port, class: hop.class })
    }

    /// From a frame's last bit out of a port to that at the next node, with the stages behind the selection. There it may
    /// meet the one that was selected before it, and none takes longer than the largest: as the line is busy for no longer
    /// than the port, a frame is complete by the latency of the largest after the port has sent it.
    pub(super) fn line(&self, stream: &Stream, place: usize) -> Range {
        let hop = &stream.hops[place];
        let port = &self.network.ports[hop.port.index()];
        let link = &self.network.links[port.links.expect("a hop's port has a cable").egress.index()];
        let cable = link.propagation.as_ps();
        let transfer =
            link.rate.duration_floor((frame_length(stream.payload_min, hop.tagged) + Bytes::new(8)).bits());
        // The port reads its clock at the start of a frame, and finds its end by that clock.
        let least = self.deviation.shrink(transfer.as_ps()).saturating_sub(self.slack);
        let mut line = Range {
            min: (least + cable + link.phy_delay.min.as_ps()).saturating_sub(2),
            max: cable + link.phy_delay.max.as_ps() + 2,
        };
        if let Some(device) = self.network.device(port.node) {
            let row = Row::of_transmission(&device.stages);
            line.min += row.latency_min(frames_behind(stream, hop).0);
            line.max += row.latency_max(self.largest[hop.port.index()]);
            if !row.is_empty() {
                // After the stages the clock measures the line once more, for the frame and the one before it.
                line.max += 3 * self.slack;
            }
        }
        line
    }

    /// Latencies of the stages before a bridge's queues, and whether frames may queue in any of its stages.
    ///
    /// A frame comes out no earlier than the one before it, which may be larger, but began at least the frame's own time
    /// on the line earlier.
    pub(super) fn stages(&self, stream: &Stream, place: usize) -> (Range, bool) {
        let hop = &stream.hops[place];
        let node = self.network.ports[hop.port.index()].node;
        let Some(device) = self.network.device(node) else { return (Range::default(), false) };
        let row = Row::of(
            &device.stages,
            SelectionAlgorithm::StrictPriority,
            &[StagePosition::Reception, StagePosition::Processing],
        );
        let (least, most) = frames_before(stream, hop);
        let before = hop.previous.map(|before| stream.hops[before as usize].port);
        let received = before.map_or(most, |port| self.largest[port.index()].max(most));
        let apart = before.map_or(0, |port| self.line_min(port, least));
        let larger = row.latency_max(received).saturating_sub(apart);
        let largest = received.max(self.largest[hop.port.index()]);
        let queues = device.stages.iter().any(|stage| delay_max(&stage.occupancy, largest) > 0);
        (Range { min: row.latency_min(least), max: row.latency_max(most).max(larger) }, queues)
    }

    /// The least time of a frame on the line behind a port, with what precedes and follows it.
    fn line_min(&self, port: PortIndex, frame: Bytes) -> u64 {
        let links = self.network.ports[port.index()].links.expect("a hop's port has a cable");
        let rate = self.network.links[links.egress.index()].rate;
        let bits = (frame + Bytes::MEDIA_OVERHEAD).bits();
        self.deviation.shrink(rate.duration_floor(bits).as_ps()).saturating_sub(self.slack)
    }

    /// From the application to the port's queue; frames of protocols are made at the interface.
    pub(super) fn transmit(&self, stream: &Stream) -> Range {
        if stream.traffic == Traffic::Protocol {
            return Range::default();
        }
        let NodeKind::EndStation { host } = &self.network.nodes[stream.talker.index()].kind else {
            return Range::default();
        };
        let host = &self.network.hosts[host.index()];
        let octets = |payload| frame_length(payload, stream.tagged);
        Range {
            min: delay_min(&host.transmit, octets(stream.payload_min)),
            max: delay_max(&host.transmit, octets(stream.payload_max))
                .max(self.slowest[stream.talker.index()]),
        }
    }

    /// How a stream's frames come to the queue of its talker's port; none if nothing is promised.
    pub(super) fn arrivals(&self, number: StreamIndex) -> Option<Arrivals> {
        let stream = &self.network.streams[number.index()];
        let transmit = self.transmit(stream);
        let spread = transmit.max - transmit.min + 2 + self.slack;
        let mut starts = 0;
        for event in &self.network.events {
            match &event.action {
                TimelineAction::ChangeTraffic(changed, ..) if *changed == number => return None,
                TimelineAction::StartStream(started) if *started == number => starts += 1,
                _ => {}
            }
        }
        match &stream.traffic {
            Traffic::Response { .. } | Traffic::Synchronisation { .. } => None,
            Traffic::Polled => {
                let harts = self.network.harts.as_ref()?;
                let start = harts.synchronous.as_ps();
                Some(match self.schedule.response(number, harts.ftt.polled(number)?.switch) {
                    Some(cycles) => {
                        let waits = (cycles - 1).saturating_mul(harts.cycle.as_ps()) + start;
                        self.releases(number)?.with_jitter(self.late(waits).saturating_add(spread))
                    }
                    // Whenever it is polled, it is once in a cycle.
                    None => Arrivals::Periodic {
                        interval: self.deviation.shrink(harts.cycle.as_ps()).max(1),
                        jitter: self.late(start).saturating_add(spread),
                        burst: 1,
                        extra: 0,
                    },
                })
            }
            Traffic::Periodic { interval, jitter, burst, .. } => {
                let burst = u64::from(*burst).max(1);
                let restarts = u64::from(stream.started) + starts;
                Some(Arrivals::Periodic {
                    interval: self.deviation.shrink(interval.as_ps()).max(1),
                    jitter: self.deviation.stretch(jitter.as_ps()).saturating_add(spread),
                    burst,
                    extra: restarts.saturating_sub(1) * burst,
                })
            }
            _ => {
                let curve = stream.arrival?;
                Some(Arrivals::Bucket {
                    bps: self.deviation.fastest(curve.rate.as_bps()),
                    burst: curve.burst.get().saturating_mul(1 + starts),
                    least: wire_bits(stream.payload_min, stream.tagged).get().max(1),
                    jitter: spread,
                })
            }
        }
    }

    /// How messages of a synchronous stream are released; none of others.
    pub(super) fn releases(&self, number: StreamIndex) -> Option<Arrivals> {
        let harts = self.network.harts.as_ref()?;
        let polled = harts.ftt.polled(number)?;
        let period = harts.cycle.as_ps().saturating_mul(u64::from(polled.config.period));
        let interval = self.deviation.shrink(period).max(1);
        Some(Arrivals::Periodic { interval, jitter: self.slack + 2, burst: 1, extra: 0 })
    }
}
