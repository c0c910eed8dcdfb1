//! What rules of profiles require of a network, with the values of the rule: each decides its breaches, with their subjects.
//!
//! A requirement knows no profile. It reads the resolved network and what is proven of it, never the text of the description. The checks are
//! in `sr_classes.rs` (streams of SR classes), `clocks.rs` (synchronisation) and `parts.rs` (the rest).

use tautwire_analysis::Bounds;
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};
use tautwire_units::{BitRate, Duration};

use super::look::Look;

/// A requirement, with its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Requirement {
    /// Links have at least, and at most, this rate.
    LinkRate { min: BitRate, max: Option<BitRate> },
    /// There is a bridge.
    Bridged,
    /// Every stream with a deadline has a bound.
    Bounded,
    /// SR classes have these priorities.
    ClassPriorities(&'static [(SrClass, u8)]),
    /// SR classes have these measurement intervals.
    MeasurementIntervals(&'static [(SrClass, Duration)]),
    /// Bridges shape SR classes by credit.
    CreditBased,
    /// What credit-based classes of a port have of its rate together, in percent.
    ReservedShare(u64),
    /// Only reserved streams use priorities of SR classes.
    ReservedAlone,
    /// Links on the path of a stream of an SR class.
    PathLinks(usize),
    /// The proven delay of a class's streams.
    Latency(SrClass, Duration),
    /// gPTP runs.
    Gptp,
    /// Both ends of every link are in one gPTP domain.
    OneDomain,
    /// Mean delay of every link that gPTP measures.
    LinkDelay(Duration),
    /// Time that a bridge takes for a message of gPTP.
    ResidenceTime(Duration),
    /// Time that a node takes to answer a request of peer delay.
    TurnaroundTime(Duration),
    /// Deviation of the rates of clocks, in parts in 10⁹.
    ClockTolerance(u32),
    /// Step of time stamps.
    StampStep(Duration),
    /// Links between the two nodes that are farthest apart.
    SynchronisedLinks(usize),
    /// Traffic classes of every port of a bridge.
    TrafficClasses(usize),
    /// Traffic classes of every port of a bridge that preempts.
    TrafficClassesWithPreemption(usize),
    /// Octets of the least fragments.
    FragmentOctets(u32),
    /// Entries of gate control lists that a port has room for: below 1 Gbit/s, and from there on.
    ControlListRoom { slow: u64, fast: u64 },
    /// Gates follow a common clock.
    GatesSynchronised,
    /// VLANs that streams use.
    Vlans(usize),
    /// A section of the description.
    Section(&'static str, &'static str),
    /// No public text states it; what is missing.
    Unknown(&'static str),
}

/// The SR classes that profiles name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SrClass {
    /// Class A.
    A,
    /// Class B.
    B,
}

impl SrClass {
    /// Its number in MSRP (802.1Q-2022 35.2.2.9.2).
    pub(super) const fn number(self) -> u8 {
        match self {
            Self::A => 6,
            Self::B => 5,
        }
    }

    /// The priority that it has by default (802.1Q-2022 Table 6-5).
    pub(super) const fn priority(self) -> u8 {
        match self {
            Self::A => 3,
            Self::B => 2,
        }
    }
}

/// The part of a network that breaks a rule, and the key of it that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// All of it.
    Network,
    /// What these keys lead to.
    Section(&'static [&'static str]),
    /// A node.
    Node(NodeIndex, &'static str),
    /// A port, which has keys of its node.
    Port(PortIndex, &'static str),
    /// A cable, by its number.
    Cable(usize),
    /// A stream.
    Stream(StreamIndex, &'static str),
}

/// What a requirement finds.
pub(super) enum Found {
    /// Its breaches: what is wrong, and of what.
    Breaches(Vec<Breach>),
    /// The network has nothing that it is about: what is missing.
    Nothing(&'static str),
    /// It is not known.
    Unknown(&'static str),
}

/// What breaks a requirement, and the words for it.
pub(super) type Breach = (Subject, String);

impl Requirement {
    /// Its breaches in a network.
    pub(super) fn examine(self, network: &Network, bounds: &Bounds) -> Found {
        let look = Look { network, bounds };
        match self {
            Self::LinkRate { min, max } => {
                look.cables(|rate| rate < min || max.is_some_and(|max| rate > max))
            }
            Self::Bridged => look.bridged(),
            Self::Bounded => look.bounded(),
            Self::ClassPriorities(priorities) => look.class_priorities(priorities),
            Self::MeasurementIntervals(intervals) => look.intervals(intervals),
            Self::CreditBased => look.credit_based(),
            Self::ReservedShare(percent) => look.reserved_share(percent),
            Self::ReservedAlone => look.reserved_alone(),
            Self::PathLinks(most) => look.path_links(most),
            Self::Latency(class, most) => look.latency(class, most),
            Self::Gptp => look.has_gptp(),
            Self::OneDomain => look.one_domain(),
            Self::LinkDelay(most) => look.link_delay(most),
            Self::ResidenceTime(most) => look.processing(most, true),
            Self::TurnaroundTime(most) => look.processing(most, false),
            Self::ClockTolerance(most) => look.clock_tolerance(most),
            Self::StampStep(most) => look.stamp_step(most),
            Self::SynchronisedLinks(most) => look.synchronised_links(most),
            Self::TrafficClasses(least) => look.traffic_classes(least, false),
            Self::TrafficClassesWithPreemption(least) => look.traffic_classes(least, true),
            Self::FragmentOctets(most) => look.fragments(most),
            Self::ControlListRoom { slow, fast } => look.list_room(slow, fast),
            Self::GatesSynchronised => look.gates_synchronised(),
            Self::Vlans(most) => look.vlans(most),
            Self::Section(key, what) => look.section(key, what),
            Self::Unknown(why) => Found::Unknown(why),
        }
    }
}
