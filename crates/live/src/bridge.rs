//! A bridge by itself, between any other nodes: frames with their octets and stamps in, frames out; without clock and socket.
//!
//! A frame of a described stream (`identification.rs`) goes the stream's way, through its scheduler. Every other frame is forwarded as by
//! IEEE Std 802.1Q-2022, 8.6: VLAN, filtering on reception, learning, active topology, class of its priority. Stream filters come before
//! either.

use std::collections::BTreeMap;

use tautwire_core::control::Addresses;
use tautwire_core::forwarding::FilteringDatabase;
use tautwire_core::{Priority, TrafficClass, psfp};
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, NodeKind, Port, PortIndex, StreamIndex};
use tautwire_observe::{DelayParts, Histogram, Moments, Shown};
use tautwire_sim::{DropReason, Frame, InCommon, NodeFilters, StreamFiltersObservation, Wish};
use tautwire_units::{BitRate, Bytes, Duration, Instant};
use tautwire_wire::gptp::PTP_ETHER_TYPE;
use tautwire_wire::{VlanId, VlanTag};

use crate::bridge_frame::{FCS, FRAME_MIN, Passing, TYPE, octets, read, tagged, write};
use crate::bridge_status::{BridgeStatus, ClassStatus, Drops, PortStatus, StreamStatus};
use crate::control::{Control, PlugIns, typed, with_type};
use crate::floor::Spread;
use crate::frames::{Handle, Marks, Slot};
use crate::identification::Streams;
use crate::plan::Plan;
use crate::plane::{Due, Plane, Schedulers, least_delays};

/// What happens to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// Its last bit is in.
    Arrival,
    /// It reaches the queue of its port, to be sent at this instant at the earliest.
    Queue(Instant),
}

/// Why a port takes no frame of a stream: nothing is reserved there, or its VLAN is not registered.
const NOT_RESERVED: &str = "not-reserved";

/// A way that a frame takes from here.
#[derive(Clone, Copy, Debug)]
struct Way {
    to: usize,
    /// Of a stream.
    hop: Option<u32>,
    class: TrafficClass,
    tag: Option<VlanTag>,
    lane: u16,
    scheduler: Option<u32>,
}

/// Counters of a port.
#[derive(Clone, Debug, Default)]
struct Counts {
    received: (u64, u64),
    /// Frames of protocols that run in it.
    consumed: u64,
    /// Frames that it made itself.
    made: u64,
    sent: (u64, u64),
    /// By class: residence times.
    residence: [(Moments, Histogram); 8],
}

/// A bridge.
#[derive(Debug)]
pub(crate) struct Bridge<'n> {
    network: &'n Network,
    plan: &'n Plan,
    plane: Plane<Event, Passing>,
    schedulers: Schedulers,
    database: Option<FilteringDatabase>,
    control: Option<Control<'n>>,
    filters: Option<NodeFilters>,
    streams: Streams<'n>,
    /// What the interface of each port takes for a second's bits; none: it is not known, and taken for no time.
    rates: Vec<Option<BitRate>>,
    counts: Vec<Counts>,
    /// By port, class and reason.
    drops: BTreeMap<(usize, Option<u8>, &'static str), u64>,
    of_streams: BTreeMap<u32, StreamStatus>,
    lateness: (Histogram, Duration),
    frame: Vec<u8>,
}

impl<'n> Bridge<'n> {
    /// `rates`: of the interfaces of its connected ports, in order.
    pub(crate) fn new(
        network: &'n Network,
        plan: &'n Plan,
        node: NodeIndex,
        rates: Vec<Option<BitRate>>,
    ) -> Self {
        let mut plane: Plane<Event, Passing> = Plane::new(network, node);
        // Its cables are real.
        plane.ports.iter_mut().for_each(|port| port.propagation = Duration::ZERO);
        let learning = match &network.nodes[node.index()].kind {
            NodeKind::Bridge { learning, .. } => *learning,
            NodeKind::EndStation { .. } => None,
        };
        Self {
            network,
            plan,
            schedulers: Schedulers::new(network, node),
            database: learning
                .map(|learning| FilteringDatabase::new(learning.table_size as usize, learning.ageing_time)),
            control: None,
            filters: NodeFilters::new(network, node),
            streams: Streams::new(network, plan, plane.ports.iter().map(|port| port.index)),
            rates,
            counts: vec![Counts::default(); plane.ports.len()],
            drops: BTreeMap::new(),
            of_streams: BTreeMap::new(),
            lateness: (Histogram::default(), Duration::ZERO),
            frame: Vec::new(),
            plane,
        }
    }

    /// The same with its control machines, which begin now.
    pub(crate) fn controlled(mut self, node: NodeIndex, plug_ins: PlugIns) -> Self {
        let seed = self.network.run.seed;
        self.control = Control::new(self.network, self.plan, (node, seed, plug_ins), &InCommon::default());
        self.fulfil();
        self
    }

    /// The link of the port at this place went down or came up.
    pub(crate) fn link(&mut self, place: usize, up: bool) {
        if let Some(control) = &mut self.control {
            control.hosted.link(self.plane.now, self.plane.ports[place].index, up);
        }
        self.fulfil();
    }

    /// A frame has come to the port at this place at `stamp`.
    pub(crate) fn receive(&mut self, stamp: Instant, from: usize, octets: &[u8]) {
        let counts = &mut self.counts[from].received;
        *counts = (counts.0 + 1, counts.1 + (octets.len().max(FRAME_MIN) + FCS) as u64);
        let Some((passing, data)) = read(from, octets) else {
            return self.count(from, None, "malformed");
        };
        let mut room = self.plane.slab.room();
        room.extend_from_slice(data);
        let drop_eligible = passing.tag.is_some_and(|tag| tag.drop_eligible);
        let marks = Marks { drop_eligible, internal_priority: None };
        let slot = Slot {
            message: passing,
            received: stamp,
            queued: stamp,
            held: Duration::ZERO,
            hop: 0,
            marks,
            to: None,
            data: room,
        };
        let place = self.plane.slab.insert(slot);
        self.plane.put(stamp, Event::Arrival, place);
    }

    /// Does everything that happens until `now`.
    pub(crate) fn settle(&mut self, now: Instant) {
        loop {
            // At one instant they act before frames come and leave, as in a run.
            let acts = self.acts_next().filter(|at| *at <= now);
            match self.plane.next(acts.unwrap_or(now), acts.is_none()) {
                Some(Due::Event(Event::Arrival, place)) => self.arrive(place),
                Some(Due::Event(Event::Queue(eligible), place)) => self.enqueue(place, eligible),
                Some(Due::Selection(port)) => self.select(port),
                None => match acts {
                    Some(at) => self.act(at),
                    None => return,
                },
            }
        }
    }

    /// When its control machines act next.
    fn acts_next(&self) -> Option<Instant> {
        self.control.as_ref().and_then(|control| control.hosted.next())
    }

    fn act(&mut self, at: Instant) {
        self.plane.now = self.plane.now.max(at);
        if let Some(control) = &mut self.control {
            control.hosted.drive(self.plane.now);
        }
        self.fulfil();
    }

    /// Does what the control machines want.
    fn fulfil(&mut self) {
        while let Some(wish) = self.control.as_mut().and_then(|control| control.hosted.wish()) {
            match wish {
                Wish::Send(stream, frame, payload) => self.send_control(stream, &frame, payload),
                Wish::IdleSlope(port, class, slope, ceiling) => {
                    self.plane.reserve_idle_slope(port, class, slope, ceiling);
                }
                Wish::Scheduler(scheduler, settings) => {
                    self.schedulers.set(self.network, scheduler, settings);
                }
                // Of talkers, which a bridge is not.
                Wish::Start(..) | Wish::Stop(_) | Wish::Make(..) | Wish::HandOn(_) | Wish::GiveUp(..) => {}
            }
        }
    }

    /// Hands a frame of a control machine to the port of its stream.
    fn send_control(&mut self, stream: StreamIndex, frame: &Frame, payload: Bytes) {
        let described = &self.network.streams[stream.index()];
        let Some(hop) = described.hops.first() else { return };
        let to = self.plane.place(hop.port);
        self.counts[to].made += 1;
        let mut data = self.plane.slab.room();
        with_type(frame, payload, &mut data);
        let message = Passing {
            destination: described.destination,
            source: described.source,
            tag: None,
            from: to,
            to,
            class: hop.class,
            lane: self.network.lane(described, 0),
            stream: Some(stream.0),
        };
        let now = self.plane.now;
        let (held, marks) = (Duration::ZERO, Marks::default());
        let slot = Slot { message, received: now, queued: now, held, hop: 0, marks, to: None, data };
        let place = self.plane.slab.insert(slot);
        self.enqueue(place, Instant::ZERO);
    }

    /// A frame is in: where to.
    fn arrive(&mut self, place: u32) {
        let slot = self.plane.slab.get(place);
        let (passing, payload) = (slot.message, slot.data.len() - TYPE);
        let port = self.plane.ports[passing.from].index;
        if let Some(control) = &mut self.control
            && let Some((ether_type, _)) = typed(&slot.data)
            && control.is_theirs(passing.destination, ether_type)
        {
            let Passing { destination, source, from, .. } = passing;
            let stream = control.stream(port, Addresses { destination, source }, ether_type);
            let stream = stream.map(|(stream, _)| stream);
            control.received(self.plane.now, (port, stream), &slot.data, Addresses { destination, source });
            self.plane.slab.remove(place);
            self.counts[from].consumed += 1;
            return;
        }
        // Of protocols between neighbours, which no bridge forwards (Table 8-1).
        if let [0x01, 0x80, 0xc2, 0, 0, 0..=0x0f] = passing.destination.0 {
            if self.network.gptp.is_some() && slot.data.starts_with(&PTP_ETHER_TYPE.0.to_be_bytes()) {
                self.plane.slab.remove(place);
                self.counts[passing.from].consumed += 1;
                return;
            }
            return self.lose(place, passing.from, None, "reserved-address");
        }
        if payload > usize::from(self.plane.ports[passing.from].mtu) {
            return self.lose(place, passing.from, None, DropReason::Oversize.name());
        }
        let described = &self.network.ports[port.index()];
        let vlan = passing.tag.and_then(|tag| tag.vlan).unwrap_or(described.pvid);
        let is_member = |port: PortIndex| self.member(vlan, port).is_some();
        if described.ingress_filtering && !is_member(port) {
            return self.lose(place, passing.from, None, DropReason::IngressFiltering.name());
        }
        let now = self.plane.now;
        if let Some(database) = &mut self.database {
            database.learn(now, vlan, passing.source, passing.from as u32);
        }
        let slot = self.plane.slab.get(place);
        let known = self.streams.of(port, &passing, vlan, &slot.data);
        if let Err(reason) = self.judge(place, known) {
            return self.lose(place, passing.from, None, reason.name());
        }
        let marks = self.plane.slab.get(place).marks;
        let ways = match known {
            Some((stream, hop)) => {
                let control = self.control.as_ref();
                if control.is_some_and(|own| !own.hosted.lets_in(StreamIndex(stream), hop as usize)) {
                    return self.lose(place, passing.from, None, DropReason::IngressFiltering.name());
                }
                self.ways_of(stream, hop, marks)
            }
            None => match self.ways_by_address(vlan, passing, marks) {
                Ok(ways) => ways,
                Err(reason) => return self.lose(place, passing.from, None, reason),
            },
        };
        self.pass_on(place, &ways);
    }

    /// The stream filters pass a frame, or not; `known`: its stream, and the hop by which that comes.
    fn judge(&mut self, place: u32, known: Option<(u32, u32)>) -> Result<(), DropReason> {
        let slot = self.plane.slab.get_mut(place);
        if let Some((stream, _)) = known {
            slot.message.stream = Some(stream);
            self.of_streams.entry(stream).or_default().received += 1;
        }
        let Some(filters) = &mut self.filters else { return Ok(()) };
        let port = self.plane.ports[slot.message.from].index;
        let handle = self.streams.handle(port, &slot.message, known.map(|(stream, _)| stream), &slot.data);
        let priority = match known {
            Some((stream, hop)) => {
                let described = &self.network.streams[stream as usize];
                self.network.received_priority(described, &described.hops[hop as usize])
            }
            None => regenerated(&self.network.ports[port.index()], slot.message.tag),
        };
        let Some(filter) = filters.filter_of(handle, priority) else { return Ok(()) };
        let is_tagged = slot.message.tag.is_some();
        let octets = octets(is_tagged, slot.data.len()) as u32;
        let seen = psfp::Frame {
            msdu: octets - beside_msdu(is_tagged) + TYPE as u32,
            octets,
            drop_eligible: slot.marks.drop_eligible,
        };
        let passed = filters.judge(self.plane.now, filter, seen)?;
        slot.marks =
            Marks { drop_eligible: passed.drop_eligible, internal_priority: passed.internal_priority };
        Ok(())
    }

    /// How a port is a member of a VLAN; none if it is not, or not in its active topology.
    fn member(&self, vlan: VlanId, port: PortIndex) -> Option<bool> {
        let vlan = self.network.vlans.iter().find(|known| known.id == vlan)?;
        let cable = self.network.ports[port.index()].links?.egress.0 / 2;
        let member = vlan.members.iter().find(|member| member.port == port)?;
        vlan.active_cables.binary_search(&cable).is_ok().then_some(member.tagged)
    }

    fn ways_of(&self, stream: u32, hop: u32, marks: Marks) -> Vec<Way> {
        let described = &self.network.streams[stream as usize];
        let behind = self.plan.behind(stream, Some(hop)).iter();
        behind
            .map(|next| {
                let way = &described.hops[*next as usize];
                let tag = tagged(way.priority, described.vlan, marks.drop_eligible);
                Way {
                    to: self.plane.place(way.port),
                    hop: Some(*next),
                    class: way.class,
                    tag: tag.filter(|_| way.tagged.vlan),
                    lane: self.network.lane(described, *next as usize),
                    scheduler: self.schedulers.of(self.network, stream, *next),
                }
            })
            .collect()
    }

    /// The ports to which a frame goes that is of no described stream.
    fn ways_by_address(
        &self,
        vlan: VlanId,
        passing: Passing,
        marks: Marks,
    ) -> Result<Vec<Way>, &'static str> {
        let learned =
            self.database.as_ref().and_then(|own| own.lookup(self.plane.now, vlan, passing.destination));
        if learned == Some(passing.from as u32) {
            return Err("same-port");
        }
        let reception = &self.network.ports[self.plane.ports[passing.from].index.index()];
        let priority = regenerated(reception, passing.tag);
        let number = self.network.port_number(self.plane.ports[passing.from].index);
        let mut ways = Vec::new();
        for (to, port) in self.plane.ports.iter().enumerate().filter(|(to, _)| *to != passing.from) {
            let Some(is_tagged) = self.member(vlan, port.index) else { continue };
            if learned.is_some_and(|learned| learned != to as u32) {
                continue;
            }
            let class =
                self.network.ports[port.index.index()].class_table.class_of(priority, passing.tag.is_some());
            let tag = tagged(priority, vlan, marks.drop_eligible).filter(|_| is_tagged);
            let lane = self.network.lane_from(port.index, class, number, class);
            ways.push(Way { to, hop: None, class, tag, lane, scheduler: None });
        }
        if ways.is_empty() { Err(DropReason::NoRoute.name()) } else { Ok(ways) }
    }

    /// Hands copies of a frame to ports, through the scheduler of their stream: one scheduler charges it once.
    fn pass_on(&mut self, place: u32, ways: &[Way]) {
        let Some((last, others)) = ways.split_last() else {
            let from = self.plane.slab.get(place).message.from;
            return self.lose(place, from, None, DropReason::NoRoute.name());
        };
        let mut charged = None;
        for way in others {
            let copy = self.plane.slab.copy(place);
            self.hand_to(copy, *way, &mut charged);
        }
        self.hand_to(place, *last, &mut charged);
    }

    fn hand_to(&mut self, place: u32, way: Way, charged: &mut Option<(u32, Option<Instant>)>) {
        let slot = self.plane.slab.get(place);
        let octets = octets(slot.message.tag.is_some(), slot.data.len()) as u64;
        let port = self.plane.ports[way.to].index;
        let [before, behind] = least_delays(self.network, (port, way.class), octets);
        let arrival = slot.received + before;
        let mut eligible = Instant::ZERO;
        if let Some(scheduler) = way.scheduler {
            let known = charged.filter(|(of, _)| *of == scheduler);
            let (_, at) = *charged.insert(
                known.unwrap_or_else(|| (scheduler, self.schedulers.process(scheduler, arrival, octets))),
            );
            let Some(at) = at else {
                let class = Some(way.class.number());
                let (stream, hop) = (slot.message.stream.unwrap_or(0), way.hop.unwrap_or(0));
                let control = self.control.as_ref();
                let is_shut =
                    control.is_some_and(|own| own.hosted.is_not_reserved(StreamIndex(stream), hop as usize));
                let reason = if is_shut { NOT_RESERVED } else { DropReason::ResidenceTime.name() };
                return self.lose(place, way.to, class, reason);
            };
            eligible = at;
        }
        let queued = arrival + behind;
        let slot = self.plane.slab.get_mut(place);
        (slot.queued, slot.held) = (queued, eligible.saturating_since(queued));
        slot.hop = way.hop.unwrap_or(0);
        let class = slot.marks.class(&self.network.ports[port.index()], way.class, way.scheduler.is_some());
        let passing = &mut slot.message;
        (passing.to, passing.class, passing.lane, passing.tag) = (way.to, class, way.lane, way.tag);
        if queued <= self.plane.now {
            return self.enqueue(place, eligible);
        }
        self.plane.put(queued, Event::Queue(eligible), place);
    }

    /// Puts a frame into the queue of its port.
    fn enqueue(&mut self, place: u32, eligible: Instant) {
        let slot = self.plane.slab.get(place);
        let (passing, data, hop) = (slot.message, slot.data.len(), slot.hop as usize);
        let class = Some(passing.class.number());
        if let (Some(control), Some(stream)) = (&mut self.control, passing.stream)
            && !control.hosted.lets_out(StreamIndex(stream), hop)
        {
            return self.lose(place, passing.to, class, NOT_RESERVED);
        }
        let port = &mut self.plane.ports[passing.to];
        if data - TYPE > usize::from(port.mtu) {
            return self.lose(place, passing.to, class, DropReason::Oversize.name());
        }
        // The greatest MTU of an interface leaves no room for a header in what the machines count.
        let Ok(octets) = u16::try_from(octets(passing.tag.is_some(), data)) else {
            return self.lose(place, passing.to, class, DropReason::Oversize.name());
        };
        let handle = Handle { slot: place, octets, class: passing.class };
        if port.egress.is_gated() {
            let sdu = u32::from(handle.octets) - beside_msdu(passing.tag.is_some());
            if port.egress.exceeds_max_sdu(passing.class, sdu) {
                return self.lose(place, passing.to, class, DropReason::MaxSdu.name());
            }
        }
        for place in self.plane.enqueue(passing.to, passing.lane, eligible, handle) {
            let class = self.plane.slab.get(place).message.class.number();
            self.lose(place, passing.to, Some(class), DropReason::QueueFull.name());
        }
    }

    fn select(&mut self, port: usize) {
        let selected: Option<(u32, DelayParts)> = self.plane.select(port, self.rates[port]);
        if let (Some((place, _)), Some(control)) = (selected, &mut self.control) {
            let slot = self.plane.slab.get(place);
            if let Some(stream) = slot.message.stream.filter(|stream| control.carries(*stream)) {
                control.left(self.plane.now, stream, self.plane.ports[port].index, &slot.data);
            }
        }
    }

    fn lose(&mut self, place: u32, port: usize, class: Option<u8>, reason: &'static str) {
        let slot = self.plane.slab.remove(place);
        if let Some(stream) = slot.message.stream {
            self.of_streams.entry(stream).or_default().dropped += 1;
        }
        self.count(port, class, reason);
    }

    fn count(&mut self, port: usize, class: Option<u8>, reason: &'static str) {
        *self.drops.entry((port, class, reason)).or_default() += 1;
    }

    /// Gives every frame to `send` that is due, with its port's place; that gives why the interface did not take it, if it did not.
    pub(crate) fn emit(&mut self, now: Instant, mut send: impl FnMut(usize, &[u8]) -> Option<DropReason>) {
        for port in 0..self.plane.ports.len() {
            while let Some((due, place)) = self.plane.leaving(port, now) {
                let slot = self.plane.slab.get(place);
                let (passing, residence) = (slot.message, now.saturating_since(slot.received));
                write(&passing, &slot.data, &mut self.frame);
                let refused = send(port, &self.frame);
                let late = now.since(due);
                self.lateness.0.add(late);
                self.lateness.1 = self.lateness.1.max(late);
                if let Some(reason) = refused {
                    self.lose(place, port, Some(passing.class.number()), reason.name());
                    continue;
                }
                self.plane.slab.remove(place);
                let counts = &mut self.counts[port];
                counts.sent = (counts.sent.0 + 1, counts.sent.1 + (self.frame.len() + FCS) as u64);
                let (moments, histogram) = &mut counts.residence[passing.class.index()];
                moments.add(residence);
                histogram.add(residence);
                if let Some(stream) = passing.stream {
                    self.of_streams.entry(stream).or_default().sent += 1;
                }
            }
        }
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.plane.deadline().into_iter().chain(self.acts_next()).min()
    }

    /// What its control machines have only observed is not collected: it runs without end.
    pub(crate) fn forget(&mut self) {
        if let Some(control) = &mut self.control {
            control.hosted.forget();
        }
    }

    /// What it has counted, at an instant; what it does not know is left empty.
    pub(crate) fn status(&self, now: Instant) -> BridgeStatus {
        let ports = self.plane.ports.iter().zip(&self.counts).enumerate().map(|(place, (port, counts))| {
            let own = self.drops.iter().filter(|((at, ..), _)| *at == place);
            let classes = TrafficClass::all().map(|class| {
                let (of_queue, (moments, histogram)) =
                    (port.egress.counters(class), &counts.residence[class.index()]);
                let max = moments.max().unwrap_or(Duration::ZERO);
                ClassStatus {
                    class: class.number(),
                    waiting: port.egress.frames(class),
                    waiting_max: of_queue.frames_max,
                    waiting_octets_max: of_queue.octets_max,
                    sent: moments.count(),
                    residence_sum_ps: moments.sum_ps(),
                    residence: Spread::of(histogram, max),
                }
            });
            PortStatus {
                port: port.index,
                received: counts.received.0,
                received_octets: counts.received.1,
                consumed: counts.consumed,
                made: counts.made,
                sent: counts.sent.0,
                sent_octets: counts.sent.1,
                busy: port.egress.busy(),
                socket_lost: 0,
                classes: classes.collect(),
                drops: own
                    .map(|((_, class, reason), frames)| Drops { class: *class, reason, frames: *frames })
                    .collect(),
            }
        });
        let mut tables = self.control.as_ref().map(|control| control.hosted.tables()).unwrap_or_default();
        let filters = self.filters.as_ref().map(|filters| filters.observed(now.max(self.plane.now)));
        let bridges: Vec<_> = filters.iter().cloned().collect();
        tables.extend(StreamFiltersObservation { bridges }.tables());
        BridgeStatus {
            uptime: now.since(Instant::ZERO),
            inside: self.plane.slab.iter().count() as u64,
            ports: ports.collect(),
            streams: self.of_streams.iter().map(|(stream, seen)| (StreamIndex(*stream), *seen)).collect(),
            lateness: Spread::of(&self.lateness.0, self.lateness.1),
            time: None,
            filters,
            tables,
        }
    }
}

/// The priority of a frame that came with this tag to a port (6.9.4).
fn regenerated(port: &Port, tag: Option<VlanTag>) -> Priority {
    let received = tag.and_then(|tag| Priority::new(tag.priority_code_point()));
    port.priority_regeneration[received.unwrap_or(port.default_priority).index()]
}

/// Octets of a frame besides its MAC client data: addresses, tag, type and FCS.
fn beside_msdu(is_tagged: bool) -> u32 {
    if is_tagged { 22 } else { 18 }
}

#[cfg(test)]
#[path = "bridge_tests.rs"]
mod tests;
