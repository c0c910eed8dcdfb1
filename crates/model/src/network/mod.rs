//! The resolved network: what every other crate computes with.
//!
//! Names are resolved to indices, defaults are filled in, routes are found, shapers are assigned;
//! nothing here can be invalid. Only [`crate::load`] makes one. Indices are in file order.
//!
//! A cable is two [`Link`]s, one for each direction. A stream's route is a tree of [`Hop`]s, each
//! the passage through one egress port and the link behind it, the talker's own port included.

use tautwire_core::Priority;
use tautwire_units::{Bytes, Duration};

mod cut_through;
mod delay;
mod device;
mod host;
mod least_way;
mod link;
mod node;
mod port;
mod run;
mod scheduler;
mod stream;
mod timeline;
mod traffic;
mod vlan;

pub use self::delay::{Delay, Distribution};
pub use self::device::{
    AtsDevice, AtsOrganisation, CutThroughFrames, DeviceModel, Grouping, PortPair, SelectionAlgorithm, Stage,
    StagePosition, Switching, TieRule,
};
pub use self::host::{HostModel, StampPoint, TimeStamp};
pub use self::link::{DelayRange, Link};
pub use self::node::{Clock, Learning, Node, NodeKind};
pub use self::port::{ClassSettings, Port, PortLinks, SharedBuffer, TransmissionSelection};
pub use self::run::RunSettings;
pub use self::scheduler::{Scheduler, SchedulerGroup};
pub use self::stream::{ArrivalCurve, Hop, ShaperSettings, Stream, UdpFlow, Written};
pub use self::timeline::{TimelineAction, TimelineEvent};
pub use self::traffic::Traffic;
pub use self::vlan::{Vlan, VlanMember};
pub use crate::frame::{frame_length, wire_bits};
pub use crate::host_stacks::{
    BulkPace, HostInterface, HostStacks, Moderation, Pace, ProtocolStack, ReceptionOrder, ServicingThread,
    StackPart, Tail,
};
pub use crate::identification::{
    IdentificationFunction, Identified, Identity, Layer, PortIdentities, SeenFrames,
};
pub use crate::test_bed::{Task, TaskKind, Test, TestClocks};
pub use crate::time_triggered::TimeTriggeredLink;
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
    /// A node: [`Parts::nodes`].
    NodeIndex
    /// A port: [`Parts::ports`].
    PortIndex
    /// One direction of a cable: [`Parts::links`].
    LinkIndex
    /// A stream: [`Parts::streams`].
    StreamIndex
    /// A device model: [`Parts::devices`].
    DeviceIndex
    /// A host model: [`Parts::hosts`].
    HostIndex
    /// An ATS scheduler instance: [`Parts::schedulers`].
    SchedulerIndex
    /// An ATS scheduler group: [`Parts::scheduler_groups`].
    SchedulerGroupIndex
}

/// A network, its traffic, and the settings of a run. Only a description makes one ([`crate::load`]), and its parts
/// are read through it, never written: so none is invalid.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    pub(crate) parts: Parts,
}

impl std::ops::Deref for Network {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.parts
    }
}

impl Network {
    /// Sets the seed of a run.
    pub fn set_seed(&mut self, seed: u64) {
        self.parts.run.seed = seed;
    }

    /// Sets the duration of a run.
    pub fn set_duration(&mut self, duration: Duration) {
        self.parts.run.duration = duration;
    }

    /// Replaces a stream: the same network if the stream had other parameters.
    pub fn replace_stream(&mut self, number: StreamIndex, stream: Stream) {
        self.parts.streams[number.index()] = stream;
    }

    /// A network that no description gave. It is for tests, planted faults and measurements, which need parts that are seldom
    /// described, and for the question what would be without a failure that is described. Nothing checks it.
    #[must_use]
    pub fn altered(mut self, change: impl FnOnce(&mut Parts)) -> Self {
        change(&mut self.parts);
        self
    }
}

/// What a [`Network`] consists of.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// Its name, for people and for the run folder.
    pub name: String,
    /// End stations and bridges.
    pub nodes: Vec<Node>,
    /// All ports; those of one node are consecutive.
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
    /// The tasks of a test bed, if it is one.
    pub test_bed: Option<Test>,
    /// Frames of protocols that are not described, which bounds count at every port; none unless stated.
    pub network_control: Option<NetworkControl>,
    /// Time division multiple access of all talkers; none: they send when they can.
    pub tdma: Option<crate::tdma::Tdma>,
    /// What its time-triggered virtual links have in common, if it has any.
    pub time_triggered: Option<crate::time_triggered::TimeTriggered>,
    /// Protocol control frames that keep the network time; none: clocks are corrected as stated.
    pub as6802: Option<crate::as6802::Synchronisation>,
    /// Stream reservation; none: streams are sent without requests.
    pub srp: Option<crate::srp::StreamReservation>,
    /// Classes of ports that reservations shape, by port and class; none if the description states all shapers.
    pub reserved_classes: Vec<crate::srp::reserved_class::ReservedClass>,
    /// gPTP; none: clocks run as they are.
    pub gptp: Option<crate::gptp::Gptp>,
    /// HaRTES in all bridges; none: they select by class.
    pub harts: Option<crate::harts::Harts>,
    /// What bridges filter and police, by stream.
    pub stream_filters: Vec<crate::psfp::BridgeFilters>,
    /// By which functions ports identify the streams of frames, in order of the ports; of others every stream is identified by itself.
    pub identities: Vec<PortIdentities>,
    /// Frames that nodes repeat in a run, as streams of their own.
    pub repeats: Vec<crate::frer::Repeats>,
    /// Cyclic queuing and forwarding; none: bridges send as soon as they can.
    pub cyclic: Option<crate::cqf::CyclicForwarding>,
    /// The values of mechanisms that have a section of their own.
    pub sections: crate::section::Sections,
}

/// Network control traffic of protocols that are not described, as interference in every bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkControl {
    /// Its priority.
    pub priority: Priority,
    /// What of it leaves a port at most.
    pub arrival: ArrivalCurve,
    /// Its largest frame, destination to FCS.
    pub frame_max: Bytes,
}
