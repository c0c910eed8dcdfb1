//! The resolved network: what every other crate computes with.
//!
//! Names are resolved to indices, defaults are filled in, routes are found, shapers are assigned;
//! nothing here can be invalid. Only [`crate::load`] makes one. Indices are in file order.
//!
//! A cable is two [`Link`]s, one for each direction. A stream's route is a tree of [`Hop`]s, each
//! the passage through one egress port and the link behind it, the talker's own port included.

use tautwire_core::{Priority, TrafficClass, TrafficClassTable};
use tautwire_units::{BitRate, Bits, Bytes, ClockOffset, Duration};
use tautwire_wire::{Ipv4Address, MacAddress, VlanId};

pub use crate::frame::{frame_length, wire_bits};
pub use crate::identification::IdentificationFunction;
pub use crate::virtual_link::VirtualLink;

macro_rules! index {
    ($(#[doc = $doc:literal] $name:ident)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);
        impl $name {
            /// As an index of the network's list.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
            /// The element at `index` of the network's list.
            ///
            /// # Panics
            /// If there are more than 2³² elements.
            #[must_use]
            pub fn at(index: usize) -> Self {
                Self(u32::try_from(index).expect("fewer than 2^32 elements"))
            }
        }
    )*};
}

index! {
    /// A node: [`Network::nodes`].
    NodeIndex
    /// A port: [`Network::ports`].
    PortIndex
    /// One direction of a cable: [`Network::links`].
    LinkIndex
    /// A stream: [`Network::streams`].
    StreamIndex
    /// A device model: [`Network::devices`].
    DeviceIndex
    /// A host model: [`Network::hosts`].
    HostIndex
    /// An ATS scheduler instance: [`Network::schedulers`].
    SchedulerIndex
    /// An ATS scheduler group: [`Network::scheduler_groups`].
    SchedulerGroupIndex
}

/// A whole network, its traffic, and how a run of it is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Its name, for people and for the run folder.
    pub name: String,
    /// End stations and bridges.
    pub nodes: Vec<Node>,
    /// All ports; those of one node stand together.
    pub ports: Vec<Port>,
    /// All link directions; those of cable *n* are 2*n* and 2*n*+1.
    pub links: Vec<Link>,
    /// VLANs.
    pub vlans: Vec<Vlan>,
    /// Streams.
    pub streams: Vec<Stream>,
    /// Device models in use.
    pub devices: Vec<DeviceModel>,
    /// Host models in use.
    pub hosts: Vec<HostModel>,
    /// ATS scheduler instances of all bridges.
    pub schedulers: Vec<Scheduler>,
    /// ATS scheduler groups of all bridges.
    pub scheduler_groups: Vec<SchedulerGroup>,
    /// The run's timeline, in order of time.
    pub events: Vec<TimelineEvent>,
    /// How a run is made.
    pub run: RunSettings,
    /// Network control traffic that bounds reckon with at every port, beside the streams.
    pub network_control: Option<NetworkControl>,
    /// Time division multiple access of all talkers; none: they send when they can.
    pub tdma: Option<crate::tdma::Tdma>,
}

/// An end station or a bridge.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Unique name.
    pub name: String,
    /// What it is.
    pub kind: NodeKind,
    /// Its ports: `first..end` of [`Network::ports`].
    pub ports: core::ops::Range<u32>,
    /// Its clock.
    pub clock: Clock,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// A talker and listener, which never forwards.
    EndStation {
        /// How its host hands frames to the port and takes them from it.
        host: HostIndex,
    },
    /// A VLAN bridge.
    Bridge {
        /// Its delays and choices.
        device: DeviceIndex,
        /// Its learned addresses; none if all its forwarding is static.
        learning: Option<Learning>,
    },
}

/// Learning of source addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Learning {
    /// Most addresses in the table; a further one is not learned.
    pub table_size: u32,
    /// After how long an address that is not heard of is forgotten.
    pub ageing_time: Duration,
}

/// A node's clock, as bounds (tolerance) and simulation (the rest) see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Largest deviation of its rate from true time, parts in 10⁹.
    pub tolerance_ppb: u32,
    /// Its rate's deviation in a run, parts in 10⁹, within the tolerance; none: drawn by the seed.
    pub drift_ppb: Option<i32>,
    /// Its reading at the start of the run.
    pub offset: ClockOffset,
    /// Step of its readings; zero for a picosecond.
    pub granularity: Duration,
}

/// A port of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// The node.
    pub node: NodeIndex,
    /// Unique within the node.
    pub name: String,
    /// The link that leaves here and the one that arrives here; none if nothing is connected.
    pub links: Option<PortLinks>,
    /// MAC address.
    pub address: MacAddress,
    /// Largest MAC client data that is taken; a larger frame is dropped.
    pub mtu: Bytes,
    /// VLAN of an untagged frame.
    pub pvid: VlanId,
    /// Whether a frame of a VLAN that this port is no member of is dropped on reception.
    pub ingress_filtering: bool,
    /// Priority of an untagged frame.
    pub default_priority: Priority,
    /// What a received priority becomes.
    pub priority_regeneration: [Priority; 8],
    /// Priority to class, at egress.
    pub class_table: TrafficClassTable,
    /// The classes 0 to 7.
    pub classes: [ClassSettings; 8],
    /// Buffer shared by the classes of this port; none: the limits of the queues alone.
    pub shared_buffer: Option<SharedBuffer>,
}

/// The two directions of the cable at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortLinks {
    /// From this port.
    pub egress: LinkIndex,
    /// To this port.
    pub ingress: LinkIndex,
}

/// One direction of a cable.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Sending port.
    pub from: PortIndex,
    /// Receiving port.
    pub to: PortIndex,
    /// Bits of the wire per second, at a perfect clock.
    pub rate: BitRate,
    /// Delay on the cable.
    pub propagation: Duration,
    /// Delay of the two PHYs, least and most, drawn per frame; keeps the order of frames.
    pub phy_delay: DelayRange,
    /// Chance of a bit to be received wrong, in 10⁻¹⁸.
    pub bit_error_rate: u64,
    /// Whether the link is up at the start.
    pub up: bool,
}

/// A least and a most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DelayRange {
    /// Least.
    pub min: Duration,
    /// Most.
    pub max: Duration,
}

/// How a traffic class of a port selects and stores its frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassSettings {
    /// Transmission selection algorithm (802.1Q-2022 8.6.8).
    pub selection: TransmissionSelection,
    /// Most frames in the queue of the class.
    pub limit_frames: u32,
    /// Most octets (destination to FCS) in the queue of the class.
    pub limit_octets: Bytes,
}

/// Transmission selection algorithms (802.1Q-2022 Table 8-6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransmissionSelection {
    /// Strict priority (8.6.8.1).
    StrictPriority,
    /// Credit-based shaper (8.6.8.2).
    CreditBased {
        /// idleSlope, in bits of the wire per second.
        idle_slope: BitRate,
    },
    /// Asynchronous traffic shaping (8.6.8.5).
    Ats,
}

/// A port's buffer in cells, shared by its classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedBuffer {
    /// Octets of a cell; a frame takes whole cells.
    pub cell: Bytes,
    /// Cells in all.
    pub cells: u32,
    /// Cells set aside for each class.
    pub reserved: [u32; 8],
}

/// A VLAN.
#[derive(Clone, Debug, PartialEq)]
pub struct Vlan {
    /// Identifier.
    pub id: VlanId,
    /// Member ports, in order.
    pub members: Vec<VlanMember>,
    /// Cables of its active topology (cable *n* is links 2*n* and 2*n*+1), in order.
    pub active_cables: Vec<u32>,
}

/// A member port of a VLAN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VlanMember {
    /// The port.
    pub port: PortIndex,
    /// Whether frames leave it with a tag.
    pub tagged: bool,
}

/// A stream: one talker, its listeners, its traffic and its way.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// Unique name.
    pub name: String,
    /// The talker.
    pub talker: NodeIndex,
    /// The listeners, in order.
    pub listeners: Vec<NodeIndex>,
    /// Destination address.
    pub destination: MacAddress,
    /// Source address: that of the talker's port.
    pub source: MacAddress,
    /// VLAN in which it travels.
    pub vlan: VlanId,
    /// Whether the talker tags it.
    pub tagged: bool,
    /// Priority given by the talker.
    pub priority: Priority,
    /// IPv4 and UDP header, if it has one.
    pub udp: Option<UdpFlow>,
    /// Smallest MAC client data, before padding.
    pub payload_min: Bytes,
    /// Largest MAC client data. A run draws each frame's uniformly between the two.
    pub payload_max: Bytes,
    /// When its frames come.
    pub traffic: Traffic,
    /// What its talker promises at most, from its traffic or as stated; none: nothing is promised.
    pub arrival: Option<ArrivalCurve>,
    /// Deadline from talker MAC to listener MAC, last bit; none: no requirement.
    pub deadline: Option<Duration>,
    /// What the ATS schedulers and the talker's own shaper hold it to.
    pub shaper: Option<ShaperSettings>,
    /// Whether the talker shapes it, by [`Stream::shaper`], before its class (802.1Q-2022 34.6.1).
    pub shaped_at_talker: bool,
    /// Whether it runs from the start.
    pub started: bool,
    /// Its tree; a hop stands behind the hop before it. For learned forwarding: its VLAN flooded.
    pub hops: Vec<Hop>,
    /// Whether bridges find its way by learning instead of by this tree.
    pub learned: bool,
    /// What it is held to as a virtual link of ARINC 664 part 7, if it is one. Over both networks its
    /// tree has two roots: the talker's first port, and its second.
    pub virtual_link: Option<VirtualLink>,
}

/// IPv4 and UDP addresses of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpFlow {
    /// Source address.
    pub source: Ipv4Address,
    /// Destination address.
    pub destination: Ipv4Address,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
}

/// The passage of a stream through one egress port and the link behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Egress port.
    pub port: PortIndex,
    /// The hop before, as an index of the stream's hops; none at the talker.
    pub previous: Option<u32>,
    /// Traffic class at this port.
    pub class: TrafficClass,
    /// Priority on the wire behind this port.
    pub priority: Priority,
    /// Whether the frame is tagged on the wire behind this port.
    pub tagged: bool,
    /// Which listener (index of the stream's listeners) is at the end of the link, if one is.
    pub listener: Option<u32>,
    /// The ATS scheduler instance before this port, if its class is ATS.
    pub scheduler: Option<SchedulerIndex>,
}

/// When a talker's frames come.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// `burst` frames back to back every `interval`; the *k*-th comes at `offset + k·interval` plus
    /// a delay drawn uniformly up to `jitter`.
    Periodic {
        /// Period.
        interval: Duration,
        /// Time of the first.
        offset: Duration,
        /// Most delay.
        jitter: Duration,
        /// Frames at once.
        burst: u32,
    },
    /// Frames spaced so that their wire bits make `rate`, whatever their sizes.
    ConstantRate {
        /// Wire bits per second.
        rate: BitRate,
        /// Time of the first.
        offset: Duration,
    },
    /// Frames at exponentially distributed distances.
    Poisson {
        /// Mean distance.
        mean_interval: Duration,
    },
    /// Periodic frames during `on`, none during `off`, again and again.
    OnOff {
        /// Time with frames.
        on: Duration,
        /// Time without.
        off: Duration,
        /// Period while on.
        interval: Duration,
        /// Start of the first `on`.
        offset: Duration,
    },
    /// All that [`Stream::arrival`] allows, as early as it allows: the adversary of the bounds.
    Greedy {
        /// Time of the first.
        offset: Duration,
    },
    /// Frames at given times.
    Replay {
        /// Time since the start and MAC client data of each frame, in order of time.
        frames: Vec<(Duration, Bytes)>,
    },
    /// The synchronisation frames of a TDMA cycle, when its machine sends them.
    Synchronisation {
        /// Length of the cycle.
        cycle: Duration,
    },
    /// A frame for every frame of another stream that the talker receives. Delay, bound and deadline of such
    /// a stream count from the request's hand-over: they are those of the whole round trip.
    Response {
        /// The requests.
        to: StreamIndex,
        /// From the request at the application to the response's hand-over.
        turn_around: Duration,
    },
    /// A file, in frames as large as they may be, as fast as the line of the talker's port takes them.
    File {
        /// Octets of MAC client data in all.
        octets: Bytes,
        /// When.
        at: Duration,
    },
}

/// A token bucket over bits of the wire (media overhead included), as the talker's host hands
/// frames to its port, at a perfect clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivalCurve {
    /// Rate.
    pub rate: BitRate,
    /// Burst.
    pub burst: Bits,
}

/// Parameters of a stream's shapers, in charged bits (see [`AtsDevice::charged_overhead`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShaperSettings {
    /// CommittedInformationRate.
    pub committed_information_rate: BitRate,
    /// CommittedBurstSize.
    pub committed_burst_size: Bits,
}

/// An ATS scheduler instance of a bridge (802.1Q-2022 8.6.5.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduler {
    /// Its group.
    pub group: SchedulerGroupIndex,
    /// CommittedInformationRate, in charged bits per second.
    pub committed_information_rate: BitRate,
    /// CommittedBurstSize, in charged bits.
    pub committed_burst_size: Bits,
    /// The first of the ports to which its frames go.
    pub transmission_port: PortIndex,
    /// ClockRateDeviationMax, parts in 10⁹: the greatest of its pairs of reception and transmission port.
    pub clock_rate_deviation_max_ppb: u32,
}

/// An ATS scheduler group of a bridge (802.1Q-2022 8.6.5.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchedulerGroup {
    /// The reception port.
    pub reception_port: PortIndex,
    /// The class that its frames had at the port before, or have at this bridge: [`Grouping`].
    pub class: TrafficClass,
    /// MaxResidenceTime; none: no frame is discarded for it.
    pub max_residence_time: Option<Duration>,
}

/// Delays and choices of a bridge, a set of named values.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceModel {
    /// Unique name.
    pub name: String,
    /// When forwarding may begin.
    pub switching: Switching,
    /// What a frame passes between the last bit received (the header, for cut-through) and the first
    /// bit sent, in order. Each keeps the order of the frames of one reception port and class.
    pub stages: Vec<Stage>,
    /// Order between frames of one class from several reception ports.
    pub tie_rule: TieRule,
    /// Whether a class commits one frame before the classes compete.
    pub two_stage: bool,
    /// Octets beside the frame (destination to FCS) that the credit-based shaper charges.
    pub credit_charged_overhead: Bytes,
    /// ATS.
    pub ats: AtsDevice,
    /// Functions by which a frame finds its ATS scheduler, in order of preference; none: every stream is
    /// told apart, as if its frames carried its name.
    pub stream_identification: Vec<IdentificationFunction>,
    /// Pairs of ports that differ from the rest.
    pub port_pairs: Vec<PortPair>,
}

/// When a bridge may begin to forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switching {
    /// When the last bit is received.
    StoreAndForward,
    /// When `header` octets are received, if both ports have the same rate and the class is not ATS.
    CutThrough {
        /// Octets of the frame that must be in.
        header: Bytes,
    },
}

/// A part of a device, with the time that a frame takes to pass it and keeps it to itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Unique in the device.
    pub name: String,
    /// Where it stands.
    pub position: StagePosition,
    /// Only for classes of this selection; none: for all.
    pub only_for: Option<Mechanism>,
    /// From in to out.
    pub latency: Delay,
    /// How long the next frame of the same reception port (of the same egress port, behind the
    /// selection) must wait to enter.
    pub occupancy: Delay,
}

/// Where a stage stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StagePosition {
    /// Before the arrival of the frame is recognised: the ATS arrival time is read behind it.
    Reception,
    /// Between arrival and the queues of the egress port: ATS's processing delay.
    Processing,
    /// Between the selection and the wire.
    Transmission,
}

/// Names of the transmission selection algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// [`TransmissionSelection::StrictPriority`].
    StrictPriority,
    /// [`TransmissionSelection::CreditBased`].
    CreditBased,
    /// [`TransmissionSelection::Ats`].
    Ats,
}

/// A delay: a constant, a term per octet of the frame (destination to FCS), and a random part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    /// Constant part.
    pub constant: Duration,
    /// Taken off the constant and per-octet parts, to write `per_octet · (length − n)`.
    pub less: Duration,
    /// Per octet of the frame.
    pub per_octet: Duration,
    /// Random part.
    pub random: Distribution,
}

/// The random part of a delay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distribution {
    /// None.
    #[default]
    Zero,
    /// Any value between, equally likely.
    Uniform {
        /// Least.
        min: Duration,
        /// Most.
        max: Duration,
    },
    /// Normal, cut at least and most.
    Normal {
        /// Mean.
        mean: Duration,
        /// Standard deviation.
        deviation: Duration,
        /// Least.
        min: Duration,
        /// Most.
        max: Duration,
    },
}

/// How frames of one class that come by several reception ports are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TieRule {
    /// One queue: in the order in which they reach it; at the same instant, by port number.
    ArrivalOrder,
    /// A queue per reception port, served in turn.
    RoundRobin,
    /// A queue per reception port, the lowest port number first.
    LowestPort,
}

/// What a bridge's ATS is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtsDevice {
    /// How its queues are built.
    pub organisation: AtsOrganisation,
    /// What makes a scheduler group.
    pub grouping: Grouping,
    /// Octets beside the frame (destination to FCS) that a scheduler charges: 20 by the standard.
    pub charged_overhead: Bytes,
    /// Step of the scheduler's times; a picosecond at the finest.
    pub time_quantum: Duration,
    /// ProcessingDelayMax, added to every eligibility time.
    pub processing_delay_max: Duration,
    /// Most schedulers of one group beside the default one, which streams above it share. None: no limit.
    pub schedulers_per_group: Option<u32>,
    /// ArrivalRecognitionDelayMax: how much later than the last bit the arrival time may be read.
    pub arrival_recognition_delay_max: Duration,
    /// ClockOffsetVariationMax between the clocks of a reception and a transmission port.
    pub clock_offset_variation_max: Duration,
    /// ClockRateDeviationMax between them, parts in 10⁹, of the pairs of ports that are not in
    /// [`DeviceModel::port_pairs`].
    pub clock_rate_deviation_max_ppb: u32,
}

/// What a pair of ports has of its own (scheduler timing characteristics, 802.1Q-2022 clause 12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortPair {
    /// Reception port, by its number in the node from zero.
    pub reception: u32,
    /// Transmission port, by its number in the node from zero.
    pub transmission: u32,
    /// ClockRateDeviationMax between them, parts in 10⁹.
    pub clock_rate_deviation_max_ppb: u32,
}

impl DeviceModel {
    /// ClockRateDeviationMax of two ports, by their numbers in the node from zero, in parts in 10⁹.
    #[must_use]
    pub fn clock_rate_deviation_max_ppb(&self, reception: u32, transmission: u32) -> u32 {
        let pair = self
            .port_pairs
            .iter()
            .find(|pair| (pair.reception, pair.transmission) == (reception, transmission));
        pair.map_or(self.ats.clock_rate_deviation_max_ppb, |pair| pair.clock_rate_deviation_max_ppb)
    }
}

/// How an ATS class stores its frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtsOrganisation {
    /// One queue, in order of assigned eligibility time (802.1Q-2022 8.6.8.5).
    EligibilityOrdered,
    /// A FIFO queue per scheduler group (interleaved regulators).
    InterleavedRegulators,
}

/// What makes an ATS scheduler group, beside the reception port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// The class that a frame had at the port before.
    UpstreamClass,
    /// The class that a frame has at this bridge.
    OwnClass,
}

/// How an end station hands frames to its port and takes them from it.
#[derive(Clone, Debug, PartialEq)]
pub struct HostModel {
    /// Unique name.
    pub name: String,
    /// From the application to the port's queue; keeps order.
    pub transmit: Delay,
    /// From the last bit received to the application; not part of a stream's delay.
    pub receive: Delay,
    /// Most frames between application and port.
    pub queue_limit: u32,
    /// Octets beside the frame that the port's credit-based shapers charge.
    pub credit_charged_overhead: Bytes,
    /// How frames are stamped; none if they are not.
    pub time_stamp: Option<TimeStamp>,
}

/// How a station stamps frames, by its own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeStamp {
    /// What is stamped.
    pub point: StampPoint,
    /// Step of the stamps, which are rounded down; zero for none.
    pub quantum: Duration,
    /// By how much a stamp is late.
    pub jitter: Delay,
}

/// The instant that a time stamp tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StampPoint {
    /// The first bit behind the start delimiter (the message timestamp point of IEEE Std 802.1AS).
    StartOfFrame,
    /// The last bit of the frame.
    EndOfFrame,
    /// The application's hand-over of the frame, or the hand-over to it.
    Software,
}

/// A step of the run's timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelineEvent {
    /// When, in true time since the start.
    pub at: Duration,
    /// What.
    pub action: TimelineAction,
}

/// What happens on the timeline.
#[derive(Clone, Debug, PartialEq)]
pub enum TimelineAction {
    /// A stream begins (its traffic's times count from here).
    StartStream(StreamIndex),
    /// A stream ends; frames on their way go on.
    StopStream(StreamIndex),
    /// A cable (links 2*n* and 2*n*+1) is cut; frames on it are lost.
    CutCable(u32),
    /// A cable is mended.
    MendCable(u32),
    /// A node stops; its frames are lost.
    StopNode(NodeIndex),
    /// A node comes back, empty.
    StartNode(NodeIndex),
    /// A stream's traffic and arrival curve change.
    ChangeTraffic(StreamIndex, Traffic, Option<ArrivalCurve>),
    /// A class of a port gets another idleSlope.
    ChangeIdleSlope(PortIndex, TrafficClass, BitRate),
    /// An ATS scheduler gets other parameters.
    ChangeShaper(StreamIndex, ShaperSettings),
    /// Both directions of a cable get another bit error rate, in 10⁻¹⁸.
    ChangeBitErrorRate(u32, u64),
}

impl TimelineAction {
    /// The stream that it is about, if it is about one.
    pub(crate) const fn stream_mut(&mut self) -> Option<&mut StreamIndex> {
        match self {
            Self::StartStream(stream)
            | Self::StopStream(stream)
            | Self::ChangeTraffic(stream, ..)
            | Self::ChangeShaper(stream, _) => Some(stream),
            Self::CutCable(_)
            | Self::MendCable(_)
            | Self::StopNode(_)
            | Self::StartNode(_)
            | Self::ChangeIdleSlope(..)
            | Self::ChangeBitErrorRate(..) => None,
        }
    }
}

/// How a run is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunSettings {
    /// Simulated true time.
    pub duration: Duration,
    /// Frames created before it are checked but left out of statistics.
    pub warm_up: Duration,
    /// End after this many delivered frames, if earlier.
    pub stop_after_frames: Option<u64>,
    /// Seed of every random stream.
    pub seed: u64,
}

/// Network control traffic (gPTP, MRP, LLDP and the like), as interference in every bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkControl {
    /// Its priority.
    pub priority: Priority,
    /// What of it leaves a port at most.
    pub arrival: ArrivalCurve,
    /// Its largest frame, destination to FCS.
    pub frame_max: Bytes,
}
