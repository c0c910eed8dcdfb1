//! The network in the form of the analysis: flat tables, made once, in the order in which they are read.
//!
//! An [`Entry`] is the passage of a stream through a port: all that does not depend on other streams' delays is
//! computed here, least times included. Entries of a stream are consecutive, in the order of its hops; those of a
//! port, of a reception port and of a scheduler group are lists of their numbers. All streams of the network are
//! known, and some of them run (`running.rs`): only these are in the lists, and in the common values of all streams of
//! a port, a host or a scheduler (`shared.rs`). Not here: what depends on the traffic of others (`port.rs`,
//! `regulator.rs`).

use std::collections::BTreeMap;

use tautwire_model::network::{Network, Scheduler, Stream};

use self::rows::DeviceRows;
use self::users::Users;
use crate::answers::Learned;
use crate::delay::Reception;
use crate::host_stacks::{self, Sending};
use crate::order::{Component, components};
use crate::port_plan::{PortPlan, port_plan};
use crate::service::{Carried, Service};
use crate::timeline::{ShaperRange, Timeline};
use crate::virtual_link::{LinkPlan, PolicerPlan, may_police};

mod entry;
pub(crate) mod frame;
mod reception;
mod rows;
mod running;
mod served;
mod shared;
mod users;

pub(crate) use self::entry::Entry;
pub(crate) use self::frame::wire;
pub(crate) use self::running::Touched;
pub(crate) use tautwire_model::tag_ratio;

/// "None" for the indices of this module.
pub(crate) const NONE: u32 = u32::MAX;
/// The lane of what a node sends of its own.
pub(crate) const OWN_LANE: u16 = u16::MAX;

/// A scheduler group.
#[derive(Clone, Debug)]
pub(crate) struct GroupPlan {
    /// Its entries, one for each frame.
    pub(crate) entries: Vec<u32>,
    pub(crate) residence_max: Option<u64>,
}

/// The tables.
#[derive(Debug)]
pub(crate) struct Plan<'network> {
    pub(crate) network: &'network Network,
    timeline: Timeline,
    /// The assumed times of responses and hosts.
    pub(crate) learned: Learned,
    rows: DeviceRows,
    pub(crate) entries: Vec<Entry>,
    /// First entry of each stream, and the end.
    pub(crate) first_entry: Vec<u32>,
    pub(crate) ports: Vec<Option<PortPlan>>,
    /// Whether some stream has several ways that are one passage.
    pub(crate) has_ways: bool,
    /// Per port, the entries that pass it.
    users: Vec<Users>,
    pub(crate) receptions: Vec<Option<Reception>>,
    /// All entries that come by a reception port; those that are one frame each are the primary ones.
    pub(crate) received: Vec<Vec<u32>>,
    pub(crate) groups: Vec<GroupPlan>,
    /// Over the run, per scheduler, the widest of its streams.
    pub(crate) schedulers: Vec<ShaperRange>,
    /// Entries of each scheduler that are one frame each.
    pub(crate) scheduler_users: Vec<u32>,
    pub(crate) components: Vec<Component>,
    /// What a stream's talker shapes it to, in true time, bits of the wire.
    pub(crate) talker_shapers: Vec<Option<ShaperRange>>,
    /// Virtual links, per stream.
    pub(crate) links: Vec<Option<LinkPlan>>,
    /// The streams of each virtual link.
    sub_links: BTreeMap<u16, Vec<u32>>,
    /// Per entry, what the switch polices before it; empty without virtual links.
    pub(crate) policers: Vec<Option<PolicerPlan>>,
    /// Of mechanisms that serve ports in their own way; none where streams come and go.
    pub(crate) services: Vec<Box<dyn Service + 'network>>,
    /// Per entry, what one of these carries, and its place among them; empty without any.
    carried: Vec<Option<(usize, Carried)>>,
    /// Per stream, from its application to its port, of a talker with protocol stacks.
    sending: Vec<Option<Sending>>,
    /// Per node, the streams that it sends, and the longest that a frame may take through its host.
    talks: Vec<Vec<u32>>,
    hosts: Vec<u64>,
    #[cfg(feature = "planted-faults")]
    pub(crate) fault: Option<crate::PlantedFault>,
}

impl<'network> Plan<'network> {
    /// Of a network with all its streams, and without its services yet ([`Self::serve`]).
    pub(crate) fn new(network: &'network Network, learned: Learned) -> Self {
        let mut plan = Self::of(network, learned);
        let all: Vec<u32> = (0..network.streams.len()).map(index).collect();
        plan.take_in(&all);
        plan
    }

    /// Takes in what mechanisms serve, and orders the ports.
    pub(crate) fn serve(&mut self) {
        self.take_services();
        let edges: Vec<_> = (0..self.entries.len()).filter_map(|entry| self.edge(index(entry))).collect();
        self.components = components(self.ports.len(), &edges);
        for port in self.components.iter().filter(|component| component.cyclic).flat_map(|one| &one.ports) {
            if let Some(plan) = &mut self.ports[*port as usize] {
                plan.is_in_cycle = true;
            }
        }
    }

    /// Of a network with known streams, none of which runs.
    pub(crate) fn empty(network: &'network Network) -> Self {
        Self::of(network, Learned::default())
    }

    fn of(network: &'network Network, learned: Learned) -> Self {
        let mut timeline = Timeline::of(network);
        timeline.take_responses(&learned.responses);
        let hops = network.streams.iter().map(|stream| stream.hops.len()).sum();
        let (nodes, ports) = (network.nodes.len(), network.ports.len());
        let mut plan = Self {
            network,
            rows: DeviceRows::of(network),
            entries: Vec::with_capacity(hops),
            first_entry: Vec::with_capacity(network.streams.len() + 1),
            ports: (0..ports).map(|port| port_plan(network, &timeline, port)).collect(),
            has_ways: network.streams.iter().any(|stream| stream.replication.is_some()),
            users: vec![Users::default(); ports],
            receptions: vec![None; ports],
            received: vec![Vec::new(); ports],
            groups: Vec::new(),
            schedulers: network.schedulers.iter().map(shared::constant).collect(),
            scheduler_users: vec![0; network.schedulers.len()],
            components: Vec::new(),
            talker_shapers: Vec::with_capacity(network.streams.len()),
            links: vec![None; network.streams.len()],
            sub_links: BTreeMap::new(),
            policers: Vec::new(),
            services: Vec::new(),
            carried: Vec::new(),
            sending: host_stacks::sending(network, &timeline, &learned),
            talks: vec![Vec::new(); nodes],
            hosts: vec![0; nodes],
            timeline,
            learned,
            #[cfg(feature = "planted-faults")]
            fault: None,
        };
        plan.groups = network.scheduler_groups.iter().map(shared::group).collect();
        let policed = may_police(network);
        plan.first_entry.push(0);
        for number in 0..network.streams.len() {
            plan.make_known(index(number), policed);
        }
        plan
    }

    /// Plants a fault of the tables.
    #[cfg(feature = "planted-faults")]
    pub(crate) fn plant(&mut self, fault: Option<crate::PlantedFault>) {
        use crate::PlantedFault;
        self.fault = fault;
        for port in self.ports.iter_mut().flatten() {
            port.fault = fault;
        }
        self.plant_in_links(fault);
        if fault == Some(PlantedFault::LeastSlopeForgotten) {
            for (selection, _) in self.ports.iter_mut().flatten().flat_map(|port| &mut port.classes) {
                if let crate::port_plan::Selection::CreditBased { slope_min, slope_max } = selection {
                    *slope_min = *slope_max;
                }
            }
        }
        if fault == Some(PlantedFault::MediaOverheadForgotten) {
            for entry in &mut self.entries {
                let frame = entry.frame_max.get();
                let ratio = (frame, frame + tautwire_units::Bytes::MEDIA_OVERHEAD.get());
                entry.promise = entry.promise.map(|line| line.in_bits(ratio));
            }
        }
    }

    /// A stream.
    pub(crate) fn stream(&self, number: u32) -> &'network Stream {
        &self.network.streams[number as usize]
    }

    /// From the application of a stream to its port, if its talker has protocol stacks.
    pub(crate) fn sending(&self, stream: u32) -> Option<Sending> {
        self.sending.get(stream as usize).copied().flatten()
    }

    /// The same of all streams.
    pub(crate) fn sendings(&self) -> &[Option<Sending>] {
        &self.sending
    }

    /// Whether the host of a stream holds it up for longer than is known.
    pub(crate) fn is_held_up(&self, stream: u32) -> bool {
        self.sending(stream).is_some_and(|sending| sending.max.is_none())
    }

    /// The running streams that a node sends, by their numbers.
    pub(crate) fn talks(&self, node: u32) -> &[u32] {
        &self.talks[node as usize]
    }

    /// How many streams are known.
    pub(crate) fn stream_count(&self) -> usize {
        self.network.streams.len()
    }

    fn scheduler(&self, number: u32) -> &Scheduler {
        &self.network.schedulers[number as usize]
    }

    /// The entries of a stream.
    pub(crate) fn entries_of(&self, stream: u32) -> core::ops::Range<u32> {
        self.first_entry[stream as usize]..self.first_entry[stream as usize + 1]
    }

    /// The ports between which a stream goes at an entry, if one comes before it and decides how it comes.
    pub(crate) fn edge(&self, entry: u32) -> Option<(u32, u32)> {
        if self.carried(entry).is_some() {
            return None;
        }
        let entry = &self.entries[entry as usize];
        Some((self.entries.get(entry.previous as usize)?.port, entry.port))
    }

    /// The entries at a port, the highest class first.
    pub(crate) fn at_port(&self, port: u32) -> &[u32] {
        self.users[port as usize].all()
    }

    /// The entries of a class at a port, by their numbers.
    pub(crate) fn of_class(&self, port: u32, class: usize) -> &[u32] {
        self.users[port as usize].of_class(class)
    }

    /// The entries of a group, one for each frame.
    pub(crate) fn in_group(&self, group: u32) -> &[u32] {
        &self.groups[group as usize].entries
    }

    /// A connected port.
    pub(crate) fn port(&self, port: u32) -> &PortPlan {
        self.ports[port as usize].as_ref().expect("a stream passes connected ports only")
    }
}

/// A span as a signed one.
pub(crate) fn signed(ps: u64) -> i64 {
    i64::try_from(ps).expect("a span of at most 106 days")
}

/// An index as it is stored.
pub(crate) fn index(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 elements")
}
