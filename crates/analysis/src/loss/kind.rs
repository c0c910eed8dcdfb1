//! A limit that may be too small: its place, its kind, and the sufficient value.

use tautwire_core::TrafficClass;
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};
use tautwire_units::Duration;

/// A limit that may be too small for what comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Its kind, and its place.
    pub kind: LimitKind,
    /// The limit, in the unit of its kind.
    pub limit: u64,
    /// What would do, in the same unit; none: no limit is known that does.
    pub needed: Option<u64>,
}

/// The kind of a limit, and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitKind {
    /// Frames that wait in the queue of a class of an egress port.
    QueueFrames(PortIndex, TrafficClass),
    /// Octets of them.
    QueueOctets(PortIndex, TrafficClass),
    /// Frames of one reception port that wait there.
    LaneFrames(PortIndex, TrafficClass, PortIndex),
    /// Cells of a port's shared buffer, which leave too few for a class when the other classes have theirs.
    BufferCells(PortIndex, TrafficClass),
    /// Frames between application and port.
    HostQueue(NodeIndex),
    /// Messages that wait for their turn in a virtual link.
    LinkQueue(StreamIndex),
    /// Messages of a virtual link that keeps the newest alone. Older ones are meant to be lost.
    NewestMessage(StreamIndex),
    /// Frames of a stream that wait for the servicing thread of its talker.
    TaskQueue(NodeIndex),
    /// Octets of a stream that wait for the interface of its talker.
    SendBuffer(NodeIndex),
    /// Octets of received frames that wait before the descriptors of an interface.
    ReceiveFifo(NodeIndex),
    /// Octets of a stream that wait for the thread of its listener.
    ReceiveBuffer(NodeIndex),
    /// Picoseconds that a frame may wait for a slot of its TDMA station.
    Lifetime(NodeIndex),
    /// Picoseconds that a stream's policer of HaRTES wants between frames: frames that come closer are discarded.
    PolicedDistance(StreamIndex),
    /// Early frames of a stream that its policer of HaRTES keeps.
    ReshapePool(StreamIndex),
    /// Picoseconds of jitter that the policer behind a reception port grants.
    PolicedJitter(PortIndex),
    /// Picoseconds that a frame may stay before its eligibility time, at an egress port.
    ResidenceTime(PortIndex),
    /// Charged bits of the shaper's CommittedBurstSize before a port, which a frame must fit into.
    ShaperBurst(PortIndex),
    /// Numbers that the recovery functions of a stream at a node keep.
    History(StreamIndex, NodeIndex),
    /// Octets of MAC client data that a port takes.
    Mtu(PortIndex),
    /// Octets of MAC client data that a class of a port with gates takes (queueMaxSDU).
    MaxSdu(PortIndex, TrafficClass),
    /// Octets of the largest MSDU that a stream filter behind a reception port takes.
    FilterMaxSdu(PortIndex),
    /// A stream filter behind a reception port, or its gate or meter, that an event has discard everything.
    FilterShut(PortIndex),
    /// Picoseconds of each cycle in which the stream gate behind a reception port is open.
    StreamGate(PortIndex),
    /// Octets of MSDUs that an interval of the stream gate behind a reception port takes.
    IntervalOctets(PortIndex),
    /// Octets of the committed bucket of the flow meter behind a reception port.
    MeterBurst(PortIndex),
}

impl Limit {
    /// Whether frames that are lost to it are meant to be.
    #[must_use]
    pub const fn is_meant(&self) -> bool {
        matches!(self.kind, LimitKind::NewestMessage(_))
    }

    /// Its place: a port, a node or a stream.
    #[must_use]
    pub fn place(&self, network: &Network) -> String {
        let port = |at: PortIndex| {
            let port = &network.ports[at.index()];
            format!("{}.{}", network.nodes[port.node.index()].name, port.name)
        };
        match self.kind {
            LimitKind::QueueFrames(at, _)
            | LimitKind::QueueOctets(at, _)
            | LimitKind::LaneFrames(at, ..)
            | LimitKind::BufferCells(at, _)
            | LimitKind::PolicedJitter(at)
            | LimitKind::ResidenceTime(at)
            | LimitKind::ShaperBurst(at)
            | LimitKind::Mtu(at)
            | LimitKind::FilterMaxSdu(at)
            | LimitKind::FilterShut(at)
            | LimitKind::StreamGate(at)
            | LimitKind::IntervalOctets(at)
            | LimitKind::MeterBurst(at)
            | LimitKind::MaxSdu(at, _) => port(at),
            LimitKind::HostQueue(node)
            | LimitKind::TaskQueue(node)
            | LimitKind::SendBuffer(node)
            | LimitKind::ReceiveFifo(node)
            | LimitKind::ReceiveBuffer(node)
            | LimitKind::Lifetime(node)
            | LimitKind::History(_, node) => network.nodes[node.index()].name.clone(),
            LimitKind::LinkQueue(stream)
            | LimitKind::NewestMessage(stream)
            | LimitKind::PolicedDistance(stream)
            | LimitKind::ReshapePool(stream) => network.streams[stream.index()].name.clone(),
        }
    }

    /// The class of the port, if it is one of a class.
    #[must_use]
    pub const fn class(&self) -> Option<TrafficClass> {
        match self.kind {
            LimitKind::QueueFrames(_, class)
            | LimitKind::QueueOctets(_, class)
            | LimitKind::LaneFrames(_, class, _)
            | LimitKind::BufferCells(_, class)
            | LimitKind::MaxSdu(_, class) => Some(class),
            _ => None,
        }
    }

    /// Its name in results.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self.kind {
            LimitKind::QueueFrames(..) => "queue-frames",
            LimitKind::QueueOctets(..) => "queue-octets",
            LimitKind::LaneFrames(..) => "reception-queue-frames",
            LimitKind::BufferCells(..) => "buffer-cells",
            LimitKind::HostQueue(_) => "host-queue-frames",
            LimitKind::TaskQueue(_) => "task-queue-frames",
            LimitKind::SendBuffer(_) => "send-buffer-octets",
            LimitKind::ReceiveFifo(_) => "receive-fifo-octets",
            LimitKind::ReceiveBuffer(_) => "receive-buffer-octets",
            LimitKind::Lifetime(_) => "lifetime",
            LimitKind::PolicedDistance(_) => "policed-distance",
            LimitKind::ReshapePool(_) => "reshape-pool-frames",
            LimitKind::LinkQueue(_) => "link-queue-messages",
            LimitKind::NewestMessage(_) => "newest-message",
            LimitKind::PolicedJitter(_) => "policed-jitter",
            LimitKind::ResidenceTime(_) => "residence-time",
            LimitKind::ShaperBurst(_) => "shaper-burst",
            LimitKind::History(..) => "recovery-history",
            LimitKind::Mtu(_) => "mtu",
            LimitKind::MaxSdu(..) => "queue-max-sdu",
            LimitKind::FilterMaxSdu(_) => "filter-max-sdu",
            LimitKind::FilterShut(_) => "filter-shut",
            LimitKind::StreamGate(_) => "stream-gate",
            LimitKind::IntervalOctets(_) => "interval-octets",
            LimitKind::MeterBurst(_) => "meter-burst",
        }
    }

    /// Its unit.
    #[must_use]
    pub const fn unit(&self) -> &'static str {
        match self.kind {
            LimitKind::QueueFrames(..)
            | LimitKind::LaneFrames(..)
            | LimitKind::HostQueue(_)
            | LimitKind::TaskQueue(_)
            | LimitKind::ReshapePool(_) => "frames",
            LimitKind::LinkQueue(_) | LimitKind::NewestMessage(_) => "messages",
            LimitKind::QueueOctets(..)
            | LimitKind::SendBuffer(_)
            | LimitKind::ReceiveFifo(_)
            | LimitKind::ReceiveBuffer(_)
            | LimitKind::Mtu(_)
            | LimitKind::FilterMaxSdu(_)
            | LimitKind::IntervalOctets(_)
            | LimitKind::MeterBurst(_)
            | LimitKind::MaxSdu(..) => "octets",
            LimitKind::BufferCells(..) => "cells",
            LimitKind::PolicedJitter(_)
            | LimitKind::PolicedDistance(_)
            | LimitKind::Lifetime(_)
            | LimitKind::StreamGate(_)
            | LimitKind::ResidenceTime(_) => "ps",
            LimitKind::FilterShut(_) => "frames",
            LimitKind::ShaperBurst(_) => "bits",
            LimitKind::History(..) => "numbers",
        }
    }

    /// In words: `queue of class 3 of b1.p2: limit 64 frames, 91 needed`.
    #[must_use]
    pub fn text(&self, network: &Network) -> String {
        let place = self.place(network);
        let what = match self.kind {
            LimitKind::QueueFrames(_, class) | LimitKind::QueueOctets(_, class) => {
                format!("queue of class {class} of {place}")
            }
            LimitKind::LaneFrames(_, class, from) => {
                let from = &network.ports[from.index()].name;
                format!("queue of class {class} of {place} for frames from port {from}")
            }
            LimitKind::BufferCells(_, class) => {
                format!("shared buffer of {place}, too small for class {class}")
            }
            LimitKind::HostQueue(_) => format!("queue of host {place}"),
            LimitKind::TaskQueue(_) => format!("task queue of host {place}"),
            LimitKind::SendBuffer(_) => format!("socket buffer of sending host {place}"),
            LimitKind::ReceiveFifo(_) => format!("receive FIFO of host {place}"),
            LimitKind::ReceiveBuffer(_) => format!("socket buffer of receiving host {place}"),
            LimitKind::Lifetime(_) => format!("lifetime of frames of TDMA station {place}"),
            LimitKind::PolicedDistance(_) => format!("policing at {place}, distance of frames"),
            LimitKind::ReshapePool(_) => format!("pool of early frames of {place}"),
            LimitKind::LinkQueue(_) => format!("queue of the virtual link of {place}"),
            LimitKind::NewestMessage(_) => {
                format!("virtual link of {place}, which keeps only the newest message")
            }
            LimitKind::PolicedJitter(_) => format!("policing at {place}, jitter"),
            LimitKind::ResidenceTime(_) => format!("max-residence-time before {place}"),
            LimitKind::ShaperBurst(_) => format!("committed-burst-size before {place}"),
            LimitKind::History(stream, _) => {
                format!("history of {} at {place}", network.streams[stream.index()].name)
            }
            LimitKind::Mtu(_) => format!("mtu of {place}"),
            LimitKind::FilterMaxSdu(_) => format!("max-sdu-size of the stream filter behind {place}"),
            LimitKind::FilterShut(_) => format!("stream filter behind {place}, which an event shuts"),
            LimitKind::StreamGate(_) => format!("stream gate behind {place}, open time a cycle"),
            LimitKind::IntervalOctets(_) => format!("interval-octet-max of the stream gate behind {place}"),
            LimitKind::MeterBurst(_) => format!("committed-burst-size of the flow meter behind {place}"),
            LimitKind::MaxSdu(_, class) => {
                format!("queueMaxSDU of class {class} of {place}, MAC client data")
            }
        };
        let amount = |value: u64| match self.unit() {
            "ps" => Duration::from_ps(value).to_string(),
            unit => format!("{value} {unit}"),
        };
        let needed = match (self.needed, self.unit()) {
            (Some(needed), _) if matches!(self.kind, LimitKind::PolicedDistance(_)) => {
                format!("{} at most needed", Duration::from_ps(needed))
            }
            (Some(needed), "cells") => format!("`cells: {needed}` would do for all classes"),
            (Some(needed), "ps") => format!("{} needed", Duration::from_ps(needed)),
            (Some(needed), _) => format!("{needed} needed"),
            (None, _) => "no sufficient limit is known".to_owned(),
        };
        format!("{what}: limit {}, {needed}", amount(self.limit))
    }
}
