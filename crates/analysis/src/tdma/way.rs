//! Paths of frames of a TDMA network: from the start of a slot to the end of a hop, without queueing.
//!
//! In: the network. Out: ranges of times, greatest rounded up, least down, each end by the worst clock, and by the step of its readings
//! (`T_source^send`, `T_switch^basic`, `T_switch^send`, `T_prop` and the processing of equations 1 and 2).
//! Not here: the wait for a slot (`wait.rs`), whether two frames meet (`meeting.rs`).

use tautwire_model::frame_length;
use tautwire_model::network::{
    HostModel, NodeIndex, NodeKind, SelectionAlgorithm, StagePosition, Stream, StreamIndex, Traffic,
};
use tautwire_units::{Bytes, Duration};

use super::Cycle;
use crate::delay::{Row, delay_max, delay_min};
use crate::plan::frame::{frames_before, frames_behind};

/// Greatest and least of a time, picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) min: u64,
    pub(super) max: u64,
}

impl Range {
    pub(super) fn plus(self, other: Self) -> Self {
        Self { min: self.min + other.min, max: self.max.saturating_add(other.max) }
    }

    pub(super) fn spread(self) -> u64 {
        self.max - self.min
    }
}

impl Cycle<'_> {
    /// From the start of its slot until a frame is in the queue of a hop's port, and until the port is free.
    pub(super) fn at_hop(&self, stream: &Stream, place: usize) -> (Range, u64) {
        let mut queued = Range::default();
        let mut occupied = 0;
        if let Some(previous) = stream.hops[place].previous {
            queued = self.at_hop(stream, previous as usize).0.plus(self.line(stream, previous as usize));
            let (latency, occupancy) =
                self.stages(stream, place, &[StagePosition::Reception, StagePosition::Processing]);
            (queued, occupied) = (queued.plus(latency), occupancy);
        }
        let (latency, occupancy) = self.stages(stream, place, &[StagePosition::Transmission]);
        let hop = &stream.hops[place];
        let links = self.network.ports[hop.port.index()].links.expect("a hop's port has a cable");
        let rate = self.network.links[links.egress.index()].rate;
        let octets = frame_length(stream.payload_max, hop.tagged) + Bytes::MEDIA_OVERHEAD;
        let line = self.deviation.stretch(rate.duration_ceil(octets.bits()).as_ps()) + self.grain + 1;
        let wait = self.wait_for_second_master(stream);
        (queued, queued.max.saturating_add(latency.max + line + occupancy + occupied + wait))
    }

    /// From the queue of a hop's port to the last bit at the next node.
    pub(super) fn line(&self, stream: &Stream, place: usize) -> Range {
        let hop = &stream.hops[place];
        let links = self.network.ports[hop.port.index()].links.expect("a hop's port has a cable");
        let link = &self.network.links[links.egress.index()];
        let time =
            |payload| link.rate.duration_ceil((frame_length(payload, hop.tagged) + Bytes::new(8)).bits());
        let cable = link.propagation.as_ps();
        // The port reads its clock at the start of a frame, and finds its end by that clock.
        let shortest = self.deviation.shrink(time(stream.payload_min).as_ps());
        let least = shortest.saturating_sub(self.grain) + cable + link.phy_delay.min.as_ps();
        let line = Range {
            min: least.saturating_sub(2),
            max: self.deviation.stretch(time(stream.payload_max).as_ps())
                + self.grain
                + cable
                + link.phy_delay.max.as_ps()
                + 2,
        };
        let line = line.plus(self.stages(stream, place, &[StagePosition::Transmission]).0);
        Range { max: line.max + self.wait_for_second_master(stream), ..line }
    }

    /// How long a synchronisation frame waits at a port at most: for that of a standby, or of the master, of the same time.
    fn wait_for_second_master(&self, stream: &Stream) -> u64 {
        if self.doubled == 0 || !matches!(stream.traffic, Traffic::Synchronisation { .. }) {
            return 0;
        }
        let both =
            self.network.streams.iter().filter(|one| matches!(one.traffic, Traffic::Synchronisation { .. }));
        let slowest = self.network.links.iter().map(|link| link.rate).min();
        let line = |one: &Stream| {
            let octets = frame_length(one.payload_max, true) + Bytes::MEDIA_OVERHEAD;
            slowest.map_or(0, |rate| {
                self.deviation.stretch(rate.duration_ceil(octets.bits()).as_ps()) + self.grain + 1
            })
        };
        both.map(line).max().unwrap_or(0)
    }

    /// Latencies of the stages before a hop's queues, or behind the selection, and what all their occupancies are at most.
    pub(super) fn stages(&self, stream: &Stream, place: usize, positions: &[StagePosition]) -> (Range, u64) {
        let hop = &stream.hops[place];
        let node = self.network.ports[hop.port.index()].node;
        let Some(device) = self.network.device(node) else { return (Range::default(), 0) };
        let row = Row::of(&device.stages, SelectionAlgorithm::StrictPriority, positions);
        let is_behind = positions.contains(&StagePosition::Transmission);
        let (least, most) = if is_behind { frames_behind(stream, hop) } else { frames_before(stream, hop) };
        let occupancy = device.stages.iter().filter(|stage| positions.contains(&stage.position));
        let occupancy = occupancy.map(|stage| delay_max(&stage.occupancy, most)).sum();
        (Range { min: row.latency_min(least), max: row.latency_max(most) }, occupancy)
    }

    /// From the start of its slot to the last bit at a listener, and the hop that leads there.
    pub(super) fn way(&self, stream: &Stream, listener: usize) -> Option<(usize, Range)> {
        let place =
            stream.hops.iter().position(|hop| hop.listener.is_some_and(|one| one as usize == listener))?;
        Some((place, self.to_end_of(stream, place)))
    }

    pub(super) fn to_end_of(&self, stream: &Stream, place: usize) -> Range {
        self.at_hop(stream, place).0.plus(self.line(stream, place))
    }

    /// From the last bit at a hop's node to its queue, and from there to the last bit at the next node.
    pub(super) fn passage(&self, stream: &Stream, place: usize) -> (Range, Range) {
        let stages = [StagePosition::Reception, StagePosition::Processing];
        let passed = match stream.hops[place].previous {
            Some(_) => self.stages(stream, place, &stages).0,
            None => Range::default(),
        };
        (passed, self.line(stream, place))
    }

    pub(super) fn host(&self, node: NodeIndex) -> &HostModel {
        match &self.network.nodes[node.index()].kind {
            NodeKind::EndStation { host } => &self.network.hosts[host.index()],
            NodeKind::Bridge { .. } => unreachable!("talkers and listeners are end stations"),
        }
    }

    /// From the application to the station's queue; none if its host's stacks have no bound.
    pub(super) fn transmit(&self, number: StreamIndex) -> Option<Range> {
        let stream = &self.network.streams[number.index()];
        if self.network.has_stacks(stream.talker) {
            let sending = self.stacks.sending.get(number.index()).copied().flatten()?;
            return Some(Range { min: sending.min, max: sending.max? });
        }
        let octets = |payload| frame_length(payload, stream.tagged);
        let host = self.host(stream.talker);
        Some(Range {
            min: delay_min(&host.transmit, octets(stream.payload_min)),
            max: delay_max(&host.transmit, octets(stream.payload_max))
                .max(self.slowest[stream.talker.index()]),
        })
    }

    /// From the last bit of a request at a responder to the response's hand-over; none as above.
    pub(super) fn turn(&self, to: StreamIndex, listener: usize, turn_around: Duration) -> Option<Range> {
        let request = &self.network.streams[to.index()];
        let node = request.listeners[listener];
        let turn = Range { min: turn_around.as_ps(), max: turn_around.as_ps() };
        if self.network.has_stacks(node) {
            return Some(self.stacks.receiving.get(to.index())?.get(listener).copied().flatten()?.plus(turn));
        }
        let host = self.host(node);
        let last =
            request.hops.iter().find(|hop| hop.listener.is_some_and(|one| one as usize == listener))?;
        let (least, most) = frames_behind(request, last);
        let received = Range { min: delay_min(&host.receive, least), max: delay_max(&host.receive, most) };
        Some(received.plus(turn))
    }

    /// From the start of a request's slot to its response in the responder's queue; none as above.
    pub(super) fn ready(&self, number: StreamIndex, to: StreamIndex, turn_around: Duration) -> Option<Range> {
        let (request, response) = (&self.network.streams[to.index()], &self.network.streams[number.index()]);
        let listener = request.listeners.iter().position(|node| *node == response.talker)?;
        let turned = self.way(request, listener)?.1.plus(self.turn(to, listener, turn_around)?);
        Some(turned.plus(self.transmit(number)?))
    }
}
