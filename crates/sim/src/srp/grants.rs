//! Effects of reservations in a run: idleSlopes, ATS parameters, and the filtering of ports (IEEE Std 802.1Q-2022,
//! 34.3, 35.2.4, 8.8.7).
//!
//! A bridge's port forwards frames of a stream while the stream is reserved there, a talker's port while the stream is
//! sent. idleSlope of a class follows (`core`, `cbs.rs`): it is raised before the first frame can come, and lowered
//! when none is left. An ATS scheduler has committed rate and burst while a stream that passes it is reserved behind
//! it, whatever entity granted that, and none before and after; one that several streams share has the sum of all of
//! them. In a network whose description states the shapers, none of this happens.

use std::collections::{BTreeSet, VecDeque};

use tautwire_model::Network;
use tautwire_model::network::{Hop, NodeIndex, PortIndex, SchedulerIndex, ShaperSettings, StreamIndex};
use tautwire_model::srp::ReservedStream;
use tautwire_units::BitRate;

use super::Srp;
use super::reservation::RungEvent;
use crate::control::{Plane, Shut};
use crate::plan::index;

/// The effects of reserved classes in a run.
pub(super) struct Grants {
    /// Per reserved class of the network: the streams that are granted.
    granted: Vec<BTreeSet<StreamIndex>>,
    /// Per reserved stream: the ports of its talker.
    talker_ports: Vec<Vec<PortIndex>>,
    /// Per ATS scheduler of the network: streams with reservations behind it; none if others than reserved streams pass it.
    regulated: Vec<Option<BTreeSet<(StreamIndex, PortIndex)>>>,
    /// Pending changes.
    changes: VecDeque<Change>,
}

/// A port grants a reserved stream, or releases it.
#[derive(Clone, Copy)]
struct Change {
    node: NodeIndex,
    port: PortIndex,
    stream: u32,
    granted: bool,
}

impl Grants {
    /// Nothing is granted; none if the description shapes.
    pub(super) fn new(network: &Network) -> Option<Self> {
        let classes = &network.reserved_classes;
        let reservation = network.srp.as_ref().filter(|_| !classes.is_empty())?;
        let talker_ports = |reserved: &ReservedStream| {
            let hops = network.streams[reserved.stream.index()].hops.iter();
            hops.filter(|hop| hop.previous.is_none()).map(|hop| hop.port).collect()
        };
        Some(Self {
            granted: vec![BTreeSet::new(); classes.len()],
            talker_ports: reservation.streams.iter().map(talker_ports).collect(),
            regulated: regulated(network),
            changes: VecDeque::new(),
        })
    }

    /// Before anything is reserved no port takes frames of reserved classes, and no ATS scheduler of reserved streams has parameters.
    pub(super) fn begin(&self, network: &Network, plane: &mut dyn Plane) {
        for (number, stream) in network.streams.iter().enumerate() {
            for place in (0..stream.hops.len()).filter(|place| is_reserved(network, &stream.hops[*place])) {
                plane.shut(StreamIndex::at(number), place, Shut::NotReserved, true);
            }
        }
        for (scheduler, _) in self.regulated.iter().enumerate().filter(|(_, users)| users.is_some()) {
            plane.set_scheduler(SchedulerIndex::at(scheduler), None);
        }
    }

    /// Notes what a rung of a ladder means for the ports.
    pub(super) fn note(&mut self, stream: u32, node: NodeIndex, event: RungEvent) {
        let (ports, granted) = match event {
            RungEvent::Reserved(port) => (vec![port], true),
            RungEvent::Released(port) => (vec![port], false),
            RungEvent::Started => (self.talker_ports[stream as usize].clone(), true),
            RungEvent::Stopped => (self.talker_ports[stream as usize].clone(), false),
            _ => return,
        };
        self.changes.extend(ports.into_iter().map(|port| Change { node, port, stream, granted }));
    }
}

/// Whether the class of a hop at its port takes reserved streams alone.
fn is_reserved(network: &Network, hop: &Hop) -> bool {
    network.reserved_classes_at(hop.port).any(|reserved| reserved.class == hop.class)
}

/// The ATS schedulers that streams of reserved classes alone pass.
fn regulated(network: &Network) -> Vec<Option<BTreeSet<(StreamIndex, PortIndex)>>> {
    let mut regulated = vec![Some(BTreeSet::new()); network.schedulers.len()];
    for (number, stream) in network.streams.iter().enumerate() {
        for hop in &stream.hops {
            let mut classes = network.reserved_classes_at(hop.port);
            let is_own = classes.any(|class| {
                let streams = &class.streams;
                class.class == hop.class
                    && streams.binary_search_by_key(&StreamIndex::at(number), |(known, _)| *known).is_ok()
            });
            if let Some(scheduler) = hop.scheduler.filter(|_| !is_own) {
                regulated[scheduler.index()] = None;
            }
        }
    }
    regulated
}

impl Srp<'_> {
    /// A node stops: its ports grant nothing any more.
    pub(super) fn ungrant_node(&mut self, node: NodeIndex) {
        let network = self.network;
        let Some(grants) = &mut self.grants else { return };
        for (class, reserved) in network.reserved_classes.iter().enumerate() {
            if network.ports[reserved.port.index()].node != node {
                continue;
            }
            for stream in &grants.granted[class] {
                let known = self.settings.streams.iter().position(|known| known.stream == *stream);
                let stream = index(known.expect("only reserved streams are granted"));
                grants.changes.push_back(Change { node, port: reserved.port, stream, granted: false });
            }
        }
    }

    /// Does the first of what reservations changed; gives whether more is left.
    pub(super) fn shape(&mut self, plane: &mut dyn Plane) -> bool {
        let change = self.grants.as_mut().and_then(|grants| grants.changes.pop_front());
        if let Some(change) = change {
            self.open(change, plane);
            self.change_slopes(change, plane);
            self.regulate(change, plane);
        }
        self.grants.as_ref().is_some_and(|grants| !grants.changes.is_empty())
    }

    /// A port takes the frames of a stream from now on, or takes them no more.
    fn open(&self, Change { port, stream, granted, .. }: Change, plane: &mut dyn Plane) {
        let stream = self.settings.streams[stream as usize].stream;
        for (place, hop) in self.network.streams[stream.index()].hops.iter().enumerate() {
            if hop.port == port && is_reserved(self.network, hop) {
                plane.shut(stream, place, Shut::NotReserved, !granted);
            }
        }
    }

    /// idleSlope of a stream's class at a port becomes what all its streams need that are granted.
    fn change_slopes(&mut self, change: Change, plane: &mut dyn Plane) {
        let Change { node, port, stream: number, granted } = change;
        let stream = self.settings.streams[number as usize].stream;
        for (class, reserved) in self.network.reserved_classes.iter().enumerate() {
            let is_member = || reserved.streams.binary_search_by_key(&stream, |(known, _)| *known).is_ok();
            if reserved.port != port || !is_member() {
                continue;
            }
            let members = &mut self.grants.as_mut().expect("something is granted").granted[class];
            let changed = if granted { members.insert(stream) } else { members.remove(&stream) };
            let Some(ceiling) = reserved.idle_slope_max.filter(|_| changed) else { continue };
            let slopes = reserved.streams.iter().filter(|(known, _)| members.contains(known));
            let sum = slopes.fold(BitRate::ZERO, |sum, (_, slope)| sum.saturating_add(*slope)).min(ceiling);
            self.rung(number, plane.now(), node, RungEvent::Shaped(port, sum));
            plane.reserve_idle_slope(port, reserved.class, sum, ceiling);
        }
    }

    /// A stream is reserved behind its ATS scheduler, or is not any more.
    fn regulate(&mut self, change: Change, plane: &mut dyn Plane) {
        let Change { node, port, stream: number, granted } = change;
        let network = self.network;
        let stream = self.settings.streams[number as usize].stream;
        let hops = network.streams[stream.index()].hops.iter().filter(|hop| hop.port == port);
        for scheduler in hops.filter_map(|hop| hop.scheduler) {
            let grants = self.grants.as_mut().expect("something is granted");
            let Some(users) = &mut grants.regulated[scheduler.index()] else { continue };
            let had = !users.is_empty();
            if granted {
                users.insert((stream, port));
            } else {
                users.remove(&(stream, port));
            }
            let has = !users.is_empty();
            if had == has {
                continue;
            }
            let described = &network.schedulers[scheduler.index()];
            let settings = has.then_some(ShaperSettings {
                committed_information_rate: described.committed_information_rate,
                committed_burst_size: described.committed_burst_size,
            });
            plane.set_scheduler(scheduler, settings);
            let registered =
                settings.map(|settings| (settings.committed_information_rate, settings.committed_burst_size));
            self.rung(number, plane.now(), node, RungEvent::Regulated(port, registered));
        }
    }
}
