//! What rules of profiles require of a network, with the values of the rule: each decides its breaches, with their subjects.
//!
//! A requirement knows no profile. It reads the resolved network and what is proven of it, never the text of the description.

use std::collections::BTreeSet;

use tautwire_analysis::Bounds;
use tautwire_core::{Priority, TrafficClass};
use tautwire_model::Network;
use tautwire_model::gates::GateClock;
use tautwire_model::gptp::Gptp;
use tautwire_model::network::{
    Delay, Distribution, NodeIndex, NodeKind, Port, PortIndex, Stream, StreamIndex, TransmissionSelection,
};
use tautwire_units::{BitRate, Duration};

use super::paths;

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
    const fn number(self) -> u8 {
        match self {
            Self::A => 6,
            Self::B => 5,
        }
    }

    /// The priority that it has by default (802.1Q-2022 Table 6-5).
    const fn priority(self) -> u8 {
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
    Breaches(Vec<(Subject, String)>),
    /// The network has nothing that it is about: what is missing.
    Nothing(&'static str),
    /// It is not known.
    Unknown(&'static str),
}

type Breach = (Subject, String);

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

const NO_GPTP: &str = "the network has no gPTP";
const NO_SR_STREAM: &str = "no stream is of an SR class";
const NO_RESERVATION: &str = "the network has no stream reservation";

/// A network under examination.
struct Look<'a> {
    network: &'a Network,
    bounds: &'a Bounds,
}

impl Look<'_> {
    fn cables(&self, is_wrong: impl Fn(BitRate) -> bool) -> Found {
        let links = self.network.links.iter().step_by(2).enumerate();
        let wrong = links.filter(|(_, link)| is_wrong(link.rate));
        let breaches = wrong.map(|(number, link)| {
            let ends = [link.from, link.to].map(|port| self.port_name(port));
            (Subject::Cable(number), format!("the link of {} and {} has {}", ends[0], ends[1], link.rate))
        });
        Found::Breaches(breaches.collect())
    }

    fn bridged(&self) -> Found {
        let has_bridge = self.network.nodes.iter().any(|node| matches!(node.kind, NodeKind::Bridge { .. }));
        let breach = (Subject::Network, "the network has no bridge".to_owned());
        Found::Breaches(if has_bridge { Vec::new() } else { vec![breach] })
    }

    fn bounded(&self) -> Found {
        let required: Vec<_> = self.streams().filter(|(_, stream)| stream.deadline.is_some()).collect();
        if required.is_empty() {
            return Found::Nothing("no stream has a deadline");
        }
        let breaches = required.into_iter().filter_map(|(index, stream)| {
            let listeners = &self.bounds.streams[index.index()].listeners;
            let why = listeners.iter().find_map(|bound| bound.delay.as_ref().err())?;
            let message = format!("the delay of `{}` has no bound: {}", stream.name, why.text(self.network));
            Some((Subject::Stream(index, "deadline"), message))
        });
        Found::Breaches(breaches.collect())
    }

    fn class_priorities(&self, priorities: &[(SrClass, u8)]) -> Found {
        if let Some(srp) = &self.network.srp {
            let breaches = srp.classes.iter().filter_map(|own| {
                let (class, right) =
                    priorities.iter().find(|(class, _)| class.number() == own.domain.class)?;
                let message = format!("SR class {class:?} has priority {}", own.domain.priority);
                (own.domain.priority != *right)
                    .then_some((Subject::Section(&["stream-reservation", "classes"]), message))
            });
            return Found::Breaches(breaches.collect());
        }
        let mut is_any = false;
        let breaches: Vec<_> = self
            .streams()
            .filter(|(_, stream)| {
                let shaped = stream.hops.iter().any(|hop| self.is_credit_based(hop.port, hop.class));
                is_any |= shaped;
                shaped && priorities.iter().all(|(_, right)| *right != stream.priority.number())
            })
            .map(|(index, stream)| {
                let message = format!(
                    "`{}` has priority {}, and its class is shaped by credit",
                    stream.name,
                    stream.priority.number()
                );
                (Subject::Stream(index, "priority"), message)
            })
            .collect();
        if is_any { Found::Breaches(breaches) } else { Found::Nothing(NO_SR_STREAM) }
    }

    fn intervals(&self, intervals: &[(SrClass, Duration)]) -> Found {
        let Some(srp) = &self.network.srp else { return Found::Nothing(NO_RESERVATION) };
        let breaches = srp.classes.iter().filter_map(|own| {
            let (class, right) = intervals.iter().find(|(class, _)| class.number() == own.domain.class)?;
            let message = format!("SR class {class:?} is measured in {}", own.interval);
            (own.interval != *right)
                .then_some((Subject::Section(&["stream-reservation", "classes"]), message))
        });
        Found::Breaches(breaches.collect())
    }

    fn credit_based(&self) -> Found {
        let mut seen = BTreeSet::new();
        let mut breaches = Vec::new();
        for (_, stream) in self.sr_streams() {
            for hop in stream.hops.iter().filter(|hop| self.is_bridge(hop.port)) {
                if seen.insert((hop.port, hop.class)) && !self.is_credit_based(hop.port, hop.class) {
                    let selection = self.network.ports[hop.port.index()].classes[hop.class.index()].selection;
                    let message = format!(
                        "class {} of {}, which carries `{}`, is {}",
                        hop.class.number(),
                        self.port_name(hop.port),
                        stream.name,
                        match selection {
                            TransmissionSelection::StrictPriority => "of strict priority",
                            TransmissionSelection::CreditBased { .. } => "credit-based",
                            TransmissionSelection::Ats => "shaped asynchronously",
                        }
                    );
                    breaches.push((Subject::Port(hop.port, "classes"), message));
                }
            }
        }
        if seen.is_empty() { Found::Nothing(NO_SR_STREAM) } else { Found::Breaches(breaches) }
    }

    fn reserved_share(&self, percent: u64) -> Found {
        if let Some(srp) = &self.network.srp {
            let all: u64 = srp.classes.iter().map(|class| u64::from(class.delta_percent)).sum();
            let message = format!("SR classes may use {all} % of a port's rate");
            let breach = (Subject::Section(&["stream-reservation", "classes"]), message);
            return Found::Breaches(if all > percent { vec![breach] } else { Vec::new() });
        }
        let mut is_any = false;
        let mut breaches = Vec::new();
        for (index, port) in self.ports() {
            let Some(rate) = self.rate(port) else { continue };
            let slopes = port.classes.iter().filter_map(|class| match class.selection {
                TransmissionSelection::CreditBased { idle_slope } => Some(u128::from(idle_slope.as_bps())),
                _ => None,
            });
            let (count, all) = slopes.fold((0, 0), |(count, all), slope| (count + 1, all + slope));
            is_any |= count > 0;
            if all * 100 > u128::from(rate.as_bps()) * u128::from(percent) {
                let sum = BitRate::from_bps(u64::try_from(all).unwrap_or(u64::MAX));
                let message = format!("the idle slopes of {} are {sum} of {rate}", self.port_name(index));
                breaches.push((Subject::Port(index, "classes"), message));
            }
        }
        if is_any { Found::Breaches(breaches) } else { Found::Nothing("no class is shaped by credit") }
    }

    fn reserved_alone(&self) -> Found {
        let Some(srp) = &self.network.srp else { return Found::Nothing(NO_RESERVATION) };
        let reserved: BTreeSet<StreamIndex> = srp.streams.iter().map(|one| one.stream).collect();
        let of_sr = |stream: &Stream| {
            srp.classes.iter().any(|class| class.domain.priority == stream.priority.number())
        };
        let breaches = self
            .streams()
            .filter(|(index, stream)| !reserved.contains(index) && of_sr(stream))
            .map(|(index, stream)| {
                let priority = stream.priority.number();
                let message = format!("`{}` has priority {priority} without a reservation", stream.name);
                (Subject::Stream(index, "priority"), message)
            });
        Found::Breaches(breaches.collect())
    }

    fn path_links(&self, most: usize) -> Found {
        let of_class: Vec<_> = self.sr_streams().collect();
        if of_class.is_empty() {
            return Found::Nothing(NO_SR_STREAM);
        }
        let breaches = of_class.into_iter().filter_map(|(index, stream)| {
            let links = paths::links_max(stream);
            let message = format!("the path of `{}` has {links} links", stream.name);
            (links > most).then_some((Subject::Stream(index, "listeners"), message))
        });
        Found::Breaches(breaches.collect())
    }

    fn latency(&self, class: SrClass, most: Duration) -> Found {
        let of_class: Vec<_> =
            self.sr_streams().filter(|(_, stream)| self.class_of(stream) == Some(class)).collect();
        if of_class.is_empty() {
            return Found::Nothing("no stream is of this SR class");
        }
        let breaches = of_class.into_iter().filter_map(|(index, stream)| {
            let listeners = &self.bounds.streams[index.index()].listeners;
            let unbounded = listeners.iter().find_map(|bound| bound.delay.as_ref().err());
            let greatest = listeners.iter().filter_map(|bound| bound.delay.as_ref().ok()).max();
            let message = match (unbounded, greatest) {
                (Some(why), _) => {
                    format!("the delay of `{}` has no bound: {}", stream.name, why.text(self.network))
                }
                (None, Some(delay)) if *delay > most => {
                    format!("the bound of the delay of `{}` is {delay}", stream.name)
                }
                _ => return None,
            };
            Some((Subject::Stream(index, "name"), message))
        });
        Found::Breaches(breaches.collect())
    }

    fn has_gptp(&self) -> Found {
        let breach = (Subject::Network, "no gPTP synchronises the network".to_owned());
        Found::Breaches(if self.network.gptp.is_some() { Vec::new() } else { vec![breach] })
    }

    fn one_domain(&self) -> Found {
        let Some(gptp) = &self.network.gptp else { return Found::Nothing(NO_GPTP) };
        let links = self.network.links.iter().step_by(2).enumerate();
        let breaches = links.filter_map(|(number, link)| {
            let domain = |port: PortIndex| gptp.nodes[self.network.ports[port.index()].node.index()].domain;
            let (one, other) = (domain(link.from), domain(link.to));
            let message = format!(
                "the ends {} and {} of a link are in the gPTP domains {one} and {other}",
                self.port_name(link.from),
                self.port_name(link.to)
            );
            (one != other).then_some((Subject::Cable(number), message))
        });
        Found::Breaches(breaches.collect())
    }

    fn link_delay(&self, most: Duration) -> Found {
        if self.network.gptp.is_none() {
            return Found::Nothing(NO_GPTP);
        }
        let breaches = self.network.links.chunks_exact(2).enumerate().filter_map(|(number, both)| {
            let way = |link: &tautwire_model::network::Link| link.propagation + link.phy_delay.max;
            let mean = Duration::from_ps((way(&both[0]) + way(&both[1])).as_ps() / 2);
            let ends = [both[0].from, both[0].to].map(|port| self.port_name(port));
            let message =
                format!("the mean delay of the link of {} and {} is up to {mean}", ends[0], ends[1]);
            (mean > most).then_some((Subject::Cable(number), message))
        });
        Found::Breaches(breaches.collect())
    }

    fn processing(&self, most: Duration, bridges_alone: bool) -> Found {
        let what = if bridges_alone { "residence time" } else { "answer to a peer delay request" };
        self.gptp_nodes(|gptp, index| {
            let is_bridge = matches!(self.network.nodes[index].kind, NodeKind::Bridge { .. });
            let time = greatest(&gptp.nodes[index].processing);
            let message = format!("the {what} of `{}` is up to {time}", self.network.nodes[index].name);
            (time > most && (is_bridge || !bridges_alone)).then_some((Subject::Section(&["gptp"]), message))
        })
    }

    fn clock_tolerance(&self, most: u32) -> Found {
        self.gptp_nodes(|_, index| {
            let node = &self.network.nodes[index];
            let deviation = node.clock.tolerance_ppb;
            let message = format!(
                "the clock of `{}` deviates by up to {}.{:03} ppm",
                node.name,
                deviation / 1_000,
                deviation % 1_000
            );
            (deviation > most).then_some((Subject::Node(NodeIndex::at(index), "clock"), message))
        })
    }

    fn stamp_step(&self, most: Duration) -> Found {
        self.gptp_nodes(|gptp, index| {
            let step = gptp.nodes[index].stamp_quantum;
            let message = format!("the stamps of `{}` have steps of {step}", self.network.nodes[index].name);
            (step > most).then_some((Subject::Section(&["gptp"]), message))
        })
    }

    fn synchronised_links(&self, most: usize) -> Found {
        if self.network.gptp.is_none() {
            return Found::Nothing(NO_GPTP);
        }
        let breaches = paths::farthest(self.network).filter(|(links, ..)| *links > most);
        let breaches = breaches.map(|(links, from, to)| {
            let name = |node: NodeIndex| &self.network.nodes[node.index()].name;
            let message = format!("`{}` and `{}` are {links} links apart", name(from), name(to));
            (Subject::Node(to, "type"), message)
        });
        Found::Breaches(breaches.into_iter().collect())
    }

    fn traffic_classes(&self, least: usize, with_preemption: bool) -> Found {
        let (mut is_any, mut breaches) = (false, Vec::new());
        for (index, port) in self.ports().filter(|(index, _)| self.is_bridge(*index)) {
            if with_preemption && port.preemptable_classes() == 0 {
                continue;
            }
            is_any = true;
            let classes: BTreeSet<u8> =
                Priority::all().map(|priority| port.class_table.class_of(priority, true).number()).collect();
            if classes.len() < least {
                let message = format!("{} has {} traffic classes", self.port_name(index), classes.len());
                breaches.push((Subject::Port(index, "traffic-class-table"), message));
            }
        }
        match (is_any, with_preemption) {
            (true, _) => Found::Breaches(breaches),
            (false, true) => Found::Nothing("no port of a bridge preempts"),
            (false, false) => Found::Nothing("the network has no bridge"),
        }
    }

    fn fragments(&self, most: u32) -> Found {
        let (mut is_any, mut breaches) = (false, Vec::new());
        for (index, port) in self.ports() {
            let Some(stated) = port.preemption.filter(|stated| stated.enabled && stated.supported) else {
                continue;
            };
            is_any = true;
            let least = 64 * (1 + u32::from(stated.add_frag_size.get()));
            if least > most {
                let message = format!("{} sends no fragment below {least} octets", self.port_name(index));
                breaches.push((Subject::Port(index, "frame-preemption-parameters"), message));
            }
        }
        if is_any { Found::Breaches(breaches) } else { Found::Nothing("no port preempts") }
    }

    fn list_room(&self, slow: u64, fast: u64) -> Found {
        let (mut is_any, mut breaches) = (false, Vec::new());
        for (index, port) in self.ports().filter(|(index, _)| self.is_bridge(*index)) {
            let gates = port.gates.as_ref().or(port.gates_off.as_ref());
            let (Some(room), Some(rate)) = (gates.and_then(|gates| gates.limits.list), self.rate(port))
            else {
                continue;
            };
            is_any = true;
            let least = if rate < BitRate::from_gbps(1) { slow } else { fast };
            if room < least {
                let message = format!("{} has room for {room} entries at {rate}", self.port_name(index));
                breaches.push((Subject::Port(index, "gate-parameter-table"), message));
            }
        }
        if is_any {
            Found::Breaches(breaches)
        } else {
            Found::Nothing("no port of a bridge states `supported-list-max`")
        }
    }

    fn gates_synchronised(&self) -> Found {
        if !self.network.has_gates() {
            return Found::Nothing("the network has no gates");
        }
        if self.network.gate_clock() != GateClock::Free {
            return Found::Breaches(Vec::new());
        }
        let breaches = self.ports().filter(|(_, port)| port.gates.is_some()).filter_map(|(index, port)| {
            let node = &self.network.nodes[port.node.index()];
            let message = format!(
                "the gates of {} follow the clock of `{}`, which nothing synchronises",
                self.port_name(index),
                node.name
            );
            (node.clock.tolerance_ppb > 0).then_some((Subject::Node(port.node, "clock"), message))
        });
        Found::Breaches(breaches.collect())
    }

    fn vlans(&self, most: usize) -> Found {
        let used: BTreeSet<_> = self.streams().map(|(_, stream)| stream.vlan).collect();
        let message = format!("streams use {} VLANs", used.len());
        Found::Breaches(if used.len() > most {
            vec![(Subject::Section(&["vlans"]), message)]
        } else {
            Vec::new()
        })
    }

    fn section(&self, key: &str, what: &str) -> Found {
        let has = self.network.sections.keys().any(|own| own == key);
        let breach = (Subject::Network, format!("the network has no {what} (`{key}`)"));
        Found::Breaches(if has { Vec::new() } else { vec![breach] })
    }

    fn gptp_nodes(&self, breach: impl Fn(&Gptp, usize) -> Option<Breach>) -> Found {
        let Some(gptp) = &self.network.gptp else { return Found::Nothing(NO_GPTP) };
        Found::Breaches((0..self.network.nodes.len()).filter_map(|index| breach(gptp, index)).collect())
    }

    /// Streams of the description: not those of protocols.
    fn streams(&self) -> impl Iterator<Item = (StreamIndex, &Stream)> {
        let all = self.network.streams.iter().enumerate();
        all.filter(|(_, stream)| !stream.traffic.is_control())
            .map(|(index, stream)| (StreamIndex::at(index), stream))
    }

    /// Streams of SR classes: reserved ones, or without reservation those with the priority of one.
    fn sr_streams(&self) -> impl Iterator<Item = (StreamIndex, &Stream)> {
        self.streams().filter(|(index, stream)| match &self.network.srp {
            Some(srp) => srp.streams.iter().any(|reserved| reserved.stream == *index),
            None => self.class_of(stream).is_some(),
        })
    }

    /// The SR class of a stream, by its priority.
    fn class_of(&self, stream: &Stream) -> Option<SrClass> {
        let priority = stream.priority.number();
        let named = |class: &SrClass| match &self.network.srp {
            Some(srp) => srp
                .classes
                .iter()
                .any(|own| own.domain.class == class.number() && own.domain.priority == priority),
            None => class.priority() == priority,
        };
        [SrClass::A, SrClass::B].into_iter().find(named)
    }

    fn ports(&self) -> impl Iterator<Item = (PortIndex, &Port)> {
        let with_cable = self.network.ports.iter().enumerate().filter(|(_, port)| port.links.is_some());
        with_cable.map(|(index, port)| (PortIndex::at(index), port))
    }

    fn is_bridge(&self, port: PortIndex) -> bool {
        let node = self.network.ports[port.index()].node;
        matches!(self.network.nodes[node.index()].kind, NodeKind::Bridge { .. })
    }

    fn is_credit_based(&self, port: PortIndex, class: TrafficClass) -> bool {
        let selection = self.network.ports[port.index()].classes[class.index()].selection;
        matches!(selection, TransmissionSelection::CreditBased { .. })
    }

    fn rate(&self, port: &Port) -> Option<BitRate> {
        Some(self.network.links[port.links?.egress.index()].rate)
    }

    fn port_name(&self, index: PortIndex) -> String {
        let port = &self.network.ports[index.index()];
        format!("{}.{}", self.network.nodes[port.node.index()].name, port.name)
    }
}

/// The greatest value of a delay for the longest message of gPTP that a link without options has (Follow_Up, 90 octets).
fn greatest(delay: &Delay) -> Duration {
    let random = match delay.random {
        Distribution::Zero => Duration::ZERO,
        Distribution::Uniform { max, .. } | Distribution::Normal { max, .. } => max,
    };
    let fixed = delay.constant.as_ps() + 90 * delay.per_octet.as_ps();
    Duration::from_ps(fixed).saturating_sub(delay.less).saturating_add(random)
}
