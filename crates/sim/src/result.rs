//! What a run observed.
//!
//! Lists have the order of the network's: `streams[i]` is stream *i*, `ports[i]` port *i*.

use tautwire_core::{EgressPort, QueuedFrame, TrafficClass};
use tautwire_observe::{DelayParts, Histogram, Moments, Observed, SignedMoments};
use tautwire_units::{Bytes, Duration};

use crate::control::CycleFrame;
use crate::gptp::ClockObservation;
use crate::harts::HartsObservation;
use crate::network_time::NetworkTimeObservation;
use crate::tdma::CyclesObservation;
use crate::tdma::StartUpObservation;
use crate::test_bed::TestObservation;

use crate::control_loss::ControlLoss;
use crate::refusal::Refusal;
use crate::srp::{ReservationObservation, VlanObservation};

/// Why a frame, or a copy of it, was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The queue of its class, or the port's shared buffer, was full.
    QueueFull,
    /// The host's queue was full.
    HostQueueFull,
    /// Its eligibility time was later than MaxResidenceTime allows, or it was larger than its CommittedBurstSize.
    ResidenceTime,
    /// It was larger than the port's MTU.
    Oversize,
    /// A bit was received wrong.
    BitError,
    /// The link was cut, or went down under it.
    LinkDown,
    /// The node was stopped.
    NodeDown,
    /// The reception port is no member of its VLAN.
    IngressFiltering,
    /// No port was left to send it to.
    NoRoute,
    /// A newer message of its virtual link took its place before its BAG was over.
    Overwritten,
    /// The queue of its virtual link was full.
    LinkQueueFull,
    /// Policing: it was shorter or longer than the frames of its virtual link; in a live run, longer than its stream promises.
    PolicedLength,
    /// Policing: it came before its virtual link's bucket held enough; in a live run, too many packets of its stream waited before it.
    PolicedRate,
    /// Its sequence number did not follow that of the frame before it on its network.
    IntegrityCheck,
    /// Its other copy had come before: nothing is lost.
    Eliminated,
    /// As many frames of its stream waited for the servicing thread as may.
    TaskQueueFull,
    /// The buffer of its socket was full.
    SocketBufferFull,
    /// Ring and FIFO of the receiving interface were full.
    InterfaceFull,
    /// It came outside of the acceptance window of its time-triggered virtual link.
    AcceptanceWindow,
    /// Its node had no network time.
    Unsynchronised,
    /// Its time-triggered virtual link has no dispatch points.
    Unscheduled,
    /// No slot of its TDMA station took it in its lifetime.
    Expired,
    /// It was larger than queueMaxSDU of its class at a port with gates.
    MaxSdu,
    /// It was larger than the maximum SDU size of its stream filter, or that was blocked for such a frame.
    FilterMaxSdu,
    /// Its stream gate was closed when its last bit was in.
    StreamGateClosed,
    /// The interval of its stream gate had too few octets left.
    IntervalOctets,
    /// Its flow meter discarded it.
    Red,
    /// Not known: captures of a real network show that it was lost.
    Unknown,
}

impl DropReason {
    /// All reasons.
    pub const ALL: [Self; 28] = [
        Self::QueueFull,
        Self::HostQueueFull,
        Self::ResidenceTime,
        Self::Oversize,
        Self::BitError,
        Self::LinkDown,
        Self::NodeDown,
        Self::IngressFiltering,
        Self::NoRoute,
        Self::Overwritten,
        Self::LinkQueueFull,
        Self::PolicedLength,
        Self::PolicedRate,
        Self::IntegrityCheck,
        Self::Eliminated,
        Self::TaskQueueFull,
        Self::SocketBufferFull,
        Self::InterfaceFull,
        Self::AcceptanceWindow,
        Self::Unsynchronised,
        Self::Unscheduled,
        Self::Expired,
        Self::MaxSdu,
        Self::FilterMaxSdu,
        Self::StreamGateClosed,
        Self::IntervalOctets,
        Self::Red,
        Self::Unknown,
    ];

    /// Its name in tables and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::QueueFull => "queue-full",
            Self::HostQueueFull => "host-queue-full",
            Self::ResidenceTime => "residence-time",
            Self::Oversize => "oversize",
            Self::BitError => "bit-error",
            Self::LinkDown => "link-down",
            Self::NodeDown => "node-down",
            Self::IngressFiltering => "ingress-filtering",
            Self::NoRoute => "no-route",
            Self::Overwritten => "overwritten",
            Self::LinkQueueFull => "link-queue-full",
            Self::PolicedLength => "policed-length",
            Self::PolicedRate => "policed-rate",
            Self::IntegrityCheck => "integrity-check",
            Self::Eliminated => "eliminated",
            Self::TaskQueueFull => "task-queue-full",
            Self::SocketBufferFull => "socket-buffer-full",
            Self::InterfaceFull => "interface-full",
            Self::AcceptanceWindow => "acceptance-window",
            Self::Unsynchronised => "unsynchronised",
            Self::Unscheduled => "unscheduled",
            Self::Expired => "expired",
            Self::MaxSdu => "max-sdu",
            Self::FilterMaxSdu => "filter-max-sdu",
            Self::StreamGateClosed => "stream-gate-closed",
            Self::IntervalOctets => "interval-octets-exceeded",
            Self::Red => "red",
            Self::Unknown => "unknown",
        }
    }
}

/// Everything that one run observed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// The seed it was made with.
    pub seed: u64,
    /// True time at its end.
    pub end: Duration,
    /// Transmissions of a frame over a link.
    pub frame_hops: u64,
    /// Per stream.
    pub streams: Vec<StreamObservation>,
    /// Per port.
    pub ports: Vec<PortObservation>,
    /// Per reserved stream, in the order of the network's reservation.
    pub reservations: Vec<ReservationObservation>,
    /// Refusals of a CNC or an ACMaster, in order of time.
    pub refusals: Vec<Refusal>,
    /// Frames of protocols that were lost, by stream, hop and reason; those that their receivers refused behind them.
    pub control_losses: Vec<ControlLoss>,
    /// VLANs at ports of bridges, by port and VLAN, in a network with MVRP.
    pub vlan_registrations: Vec<VlanObservation>,
    /// Per node, in a network with gPTP.
    pub clocks: Vec<ClockObservation>,
    /// Observations of mechanisms that are plug-ins, each by its type.
    pub mechanisms: Observed,
    /// Frames of the first cycles behind the warm-up, if a mechanism wants them noted.
    pub cycle_frames: Vec<CycleFrame>,
    /// Masters and nodes of HaRTES, in a network with HaRTES.
    pub harts: Option<Box<HartsObservation>>,
    /// Per virtual link, in the order of their first streams.
    pub virtual_links: Vec<VirtualLinkObservation>,
    /// Per slot, in the order of the network's, in a network with TDMA.
    pub slots: Vec<SlotObservation>,
    /// The cycles of TDMA, the first ones and those out of the ordinary.
    pub cycles: CyclesObservation,
    /// The longest time from the last cycle that a master of TDMA opened to the first one of its standby; none if it opened
    /// none behind the master's.
    pub takeover: Option<Duration>,
    /// Per station of a TDMA network that starts up.
    pub start_up: Vec<StartUpObservation>,
    /// Network time, in a time-triggered network.
    pub network_time: Option<NetworkTimeObservation>,
    /// Observations of its test, if it has one.
    pub test: Option<Box<TestObservation>>,
    /// Over every transmission (time, link, stream, number): equal runs have equal hashes.
    pub trace_hash: u64,
}

impl Observation {
    /// Adds what the control machines of other nodes observed.
    pub fn join_control(&mut self, other: Self) {
        if self.reservations.is_empty() {
            self.reservations = other.reservations;
        } else {
            for (own, more) in self.reservations.iter_mut().zip(other.reservations) {
                own.ladder.extend(more.ladder);
                own.ladder.sort_by_key(|rung| rung.at);
            }
        }
        self.vlan_registrations.extend(other.vlan_registrations);
        self.vlan_registrations.sort_by_key(|seen| (seen.port, seen.vlan));
        self.mechanisms.join(other.mechanisms);
        if self.slots.is_empty() {
            (self.slots, self.cycles) = (other.slots, other.cycles);
            self.takeover = other.takeover;
        }
        if self.start_up.is_empty() {
            self.start_up = other.start_up;
        } else {
            for (own, more) in self.start_up.iter_mut().zip(&other.start_up) {
                own.join(more);
            }
        }
    }
}

/// Frames that the end system of a virtual link sent, each frame over both networks once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VirtualLinkObservation {
    /// Identifier.
    pub id: u16,
    /// Frames, of all its sub-virtual-links, those of the warm-up too.
    pub frames: u64,
    /// From the first to the last of them.
    pub span: Duration,
}

/// The use of a slot of a TDMA cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotObservation {
    /// Cycles in which it was due and it is known what became of it: in the last one it may not be.
    pub opened: u64,
    /// Times that something left in it.
    pub used: u64,
    /// Times that it passed empty.
    pub empty: u64,
    /// Times that it passed without use, empty or unheard, and a frame came too late for it, though it was created, or the
    /// request that it answers had left.
    pub missed: u64,
}

/// Observations of one stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamObservation {
    /// Frames that the talker's application created.
    pub created: u64,
    /// Copies made by bridges beyond the first.
    pub replicated: u64,
    /// Copies that reached a listener.
    pub delivered: u64,
    /// Copies that reached an end station that is no listener, or a port at which their stream is not reserved or
    /// their VLAN not registered.
    pub consumed: u64,
    /// Copies on their way at the end of the run.
    pub in_flight: u64,
    /// Copies lost, by reason: only reasons that occurred, in the order of [`DropReason::ALL`].
    pub dropped: Vec<(DropReason, u64)>,
    /// Per listener.
    pub listeners: Vec<ListenerObservation>,
    /// Per hop, over all frames that passed it after the warm-up: sums of the parts of the delay.
    pub hops: Vec<HopObservation>,
}

/// What one listener observed of a stream: after the warm-up, except for the counts and `worst`.
///
/// delivered + dropped + withheld + in flight = created, of a listener that is reached over two networks twice that.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListenerObservation {
    /// Copies that it received, those of the warm-up too.
    pub delivered: u64,
    /// Copies lost on their way to it, by reason: only reasons that occurred, in the order of [`DropReason::ALL`]. A copy that is
    /// lost before it was replicated counts for each listener that it was for. Those of the warm-up too.
    pub dropped: Vec<(DropReason, u64)>,
    /// Copies that a bridge did not forward to it: nothing is reserved or registered there, or another listener has the address.
    pub withheld: u64,
    /// Copies on their way to it at the end of the run.
    pub in_flight: u64,
    /// Delays from the talker's application to the last bit at the listener's MAC.
    pub delay: Moments,
    /// The same as a histogram; none above 100 000 streams unless requested.
    pub histogram: Option<Histogram>,
    /// Distances between arrivals.
    pub interval: Moments,
    /// The greatest delay of all frames, those of the warm-up too.
    pub worst: Option<WorstFrame>,
    /// Frames later than the stream's deadline, those of the warm-up too.
    pub late: u64,
    /// For each further span that the stream counts: how many frames took longer, those of the warm-up too.
    pub late_at: Vec<(Duration, u64)>,
    /// Of a redundant virtual link, or a stream with recovery functions: frames of which no copy was taken, and none is on its way any more. Those of the warm-up too.
    pub lost: Option<u64>,
    /// Results by the stations' time stamps; none if the listener does not stamp.
    pub stamped: Option<Box<StampedObservation>>,
    /// What the application behind the port observed; none of a host that takes no time there.
    pub application: Option<Box<ApplicationObservation>>,
    /// Datagrams that it put together; none if a message of the stream is one frame.
    pub datagrams: Option<Box<DatagramObservation>>,
}

/// What a listener observed of a stream's datagrams: after the warm-up, except for the counts and `max`. Delays are
/// from the talker's application to the last bit of the last piece; at the listener's application, if it has protocol
/// stacks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DatagramObservation {
    /// Datagrams that the talker's application created.
    pub sent: u64,
    /// Datagrams that were put together.
    pub reassembled: u64,
    /// Incomplete datagrams that others replaced.
    pub given_up: u64,
    /// Delays of the complete ones.
    pub delay: Moments,
    /// The greatest of them, those of the warm-up too.
    pub max: Duration,
}

/// What an application behind a listener's port observed of a stream, at the end of a protocol stack or of the host's
/// `receive`: after the warm-up, except for the counts and `max`. delivered = received + dropped + in flight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ApplicationObservation {
    /// Frames that it received.
    pub received: u64,
    /// Frames in its host at the end of the run.
    pub in_flight: u64,
    /// Frames lost in its host, by reason: only reasons that occurred, in the order of [`DropReason::ALL`].
    pub dropped: Vec<(DropReason, u64)>,
    /// Delays from the talker's application to this one.
    pub delay: Moments,
    /// The same as a histogram; as that of the listener.
    pub histogram: Option<Histogram>,
    /// Distances between receptions.
    pub interval: Moments,
    /// The greatest delay, those of the warm-up too.
    pub max: Duration,
    /// Sum of what the host took from the last bit received to the application.
    pub processing: Duration,
    /// The greatest such time of a frame.
    pub processing_max: Duration,
}

/// The time stamps of a stream at one listener, after the warm-up. Each station stamps by its own clock, so an offset
/// or drift between the two is part of the latency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StampedObservation {
    /// Listener's stamp less talker's; nothing if the talker does not stamp.
    pub latency: SignedMoments,
    /// Distances of the listener's stamps.
    pub interval: SignedMoments,
}

/// The frame with the greatest delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorstFrame {
    /// Its number, from 0.
    pub number: u32,
    /// When it was created, true time since the start.
    pub created: Duration,
    /// Its delay.
    pub delay: Duration,
}

/// Observations of a stream at one hop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopObservation {
    /// Frames that passed it.
    pub frames: u64,
    /// Sums of the parts of their delays here: from the last bit at this node's reception (the
    /// application, at the talker) to the last bit at the next node.
    pub sums: DelayParts,
    /// The greatest delay of one frame here.
    pub max: Duration,
}

/// Observations of an egress port.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PortObservation {
    /// Frames sent.
    pub frames: u64,
    /// Octets sent, destination to FCS.
    pub octets: Bytes,
    /// Time with the line taken, media overhead included.
    pub busy: Duration,
    /// Frames received here that the ATS schedulers discarded (DiscardedFramesCount, 802.1Q-2022
    /// 8.6.11.3): each once, whatever number of ports it was meant for.
    pub scheduler_discarded: u64,
    /// Per class.
    pub classes: [ClassObservation; 8],
}

impl PortObservation {
    /// The counters of a port.
    #[must_use]
    pub fn of<F: QueuedFrame>(egress: &EgressPort<F>) -> Self {
        let mut classes = [ClassObservation::default(); 8];
        for class in TrafficClass::all() {
            let counters = egress.counters(class);
            let credit = egress.credit_range(class);
            classes[class.index()] = ClassObservation {
                frames: counters.sent,
                backlog_frames_max: counters.frames_max,
                backlog_octets_max: Bytes::new(counters.octets_max),
                dropped: counters.discarded,
                hi_credit_bits: credit.map_or(0, |(hi, _)| hi.bits_away_from_zero()),
                lo_credit_bits: credit.map_or(0, |(_, lo)| lo.bits_away_from_zero()),
            };
        }
        Self {
            frames: classes.iter().map(|class| class.frames).sum(),
            octets: Bytes::new(egress.octets()),
            busy: egress.busy(),
            scheduler_discarded: 0,
            classes,
        }
    }
}

/// Observations of a class of an egress port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassObservation {
    /// Frames sent.
    pub frames: u64,
    /// Most frames that waited.
    pub backlog_frames_max: u32,
    /// Most octets that waited, destination to FCS.
    pub backlog_octets_max: Bytes,
    /// Frames discarded here.
    pub dropped: u64,
    /// Greatest credit of a credit-based shaper, in bits, rounded away from zero.
    pub hi_credit_bits: i64,
    /// Least credit of a credit-based shaper, in bits, rounded away from zero.
    pub lo_credit_bits: i64,
}
