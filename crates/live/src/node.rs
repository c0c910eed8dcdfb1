//! One bridge or end station, without clock and socket: frames and readings of the clock in, frames out.
//!
//! Everything happens at its own instant, in order of time, however late it is called: a frame came when its stamp says, a port
//! selects when its line is free. So a call that is late makes a transmission late, and changes no decision. Invariant:
//! the instants of events never decrease; a frame with an earlier stamp counts as come now.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use tautwire_core::ats::{AtsParameters, AtsSchedulers};
use tautwire_core::{EgressPort, Selection};
use tautwire_model::Network;
use tautwire_model::network::{
    Delay, NodeIndex, NodeKind, PortIndex, SchedulerIndex, ShaperSettings, StagePosition, StreamIndex,
    frame_length,
};
use tautwire_observe::DelayParts;
use tautwire_sim::{Creations, DropReason, PortObservation};
use tautwire_units::{Bytes, Duration, Instant};
use tautwire_wire::{EtherType, EthernetHeader, LiveMessage};

use crate::counters::Counters;
use crate::frames::{Handle, Slab, Slot};
use crate::message;
use crate::plan::Plan;

/// Octets of the gap behind a frame (IEEE Std 802.3, 4.4.2).
const INTER_PACKET_GAP: u64 = 12;

/// What happens to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// It has come over its hop.
    Arrival,
    /// It reaches the queue of the port of its hop, to be sent at this instant at the earliest.
    Queue(Instant),
    /// The next frame of this stream is created.
    Creation,
}

/// A port that is connected.
#[derive(Debug)]
struct Port {
    egress: EgressPort<Handle>,
    index: PortIndex,
    /// When to select next.
    wake: Option<Instant>,
    /// Frames on the line, each with the instant at which its last bit is received.
    line: VecDeque<(Instant, u32)>,
    gap: Duration,
    propagation: Duration,
    mtu: u16,
}

/// A node.
#[derive(Debug)]
pub(crate) struct Node<'n> {
    network: &'n Network,
    plan: &'n Plan,
    now: Instant,
    end: Instant,
    ports: Vec<Port>,
    events: BinaryHeap<Reverse<(Instant, u64, Event, u32)>>,
    order: u64,
    slab: Slab,
    ats: AtsSchedulers,
    /// Schedulers of the network's that are here, and of streams that are shaped here, as numbers in the bank.
    schedulers: BTreeMap<SchedulerIndex, u32>,
    shapers: BTreeMap<u32, u32>,
    sources: BTreeMap<u32, (Creations, u32)>,
    /// The shortest time that a frame takes on a line: what is selected late by less is not sent late.
    slack: Duration,
    frame: Vec<u8>,
    pub(crate) counters: Counters,
}

impl<'n> Node<'n> {
    pub(crate) fn new(network: &'n Network, plan: &'n Plan, node: NodeIndex, seed: u64) -> Self {
        let ports: Vec<Port> = network.nodes[node.index()]
            .ports
            .clone()
            .filter_map(|port| connected(network, PortIndex(port)))
            .collect();
        let slack = ports.iter().map(|port| port.egress.wire_time(64)).min().unwrap_or(Duration::ZERO);
        let device = network.device(node);
        let ats = device.map_or_else(
            || AtsSchedulers::new(None, Bytes::MEDIA_OVERHEAD.get(), Duration::ZERO),
            |device| {
                let ats = &device.ats;
                AtsSchedulers::new(ats.time_quantum, ats.charged_overhead.get(), ats.processing_delay_max)
            },
        );
        let mut made = Self {
            network,
            plan,
            now: Instant::ZERO,
            end: Instant::ZERO + network.run.duration,
            ports,
            events: BinaryHeap::new(),
            order: 0,
            slab: Slab::default(),
            ats,
            schedulers: BTreeMap::new(),
            shapers: BTreeMap::new(),
            sources: BTreeMap::new(),
            slack,
            frame: Vec::new(),
            counters: Counters::default(),
        };
        made.add_schedulers(node, device.and_then(|device| device.ats.time_quantum));
        made.add_sources(node, seed);
        made
    }

    fn add_schedulers(&mut self, node: NodeIndex, quantum: Option<Duration>) {
        let parameters = |settings: ShaperSettings| {
            let (rate, burst) = (settings.committed_information_rate, settings.committed_burst_size);
            AtsParameters::new(rate, burst, quantum).expect("the description's rates were checked")
        };
        for (number, group) in self.network.scheduler_groups.iter().enumerate() {
            if self.network.ports[group.reception_port.index()].node != node {
                continue;
            }
            let own = self.ats.add_group(group.max_residence_time);
            let of_group =
                self.network.schedulers.iter().enumerate().filter(|(_, one)| one.group.index() == number);
            for (place, scheduler) in of_group {
                let settings = ShaperSettings {
                    committed_information_rate: scheduler.committed_information_rate,
                    committed_burst_size: scheduler.committed_burst_size,
                };
                let added = self.ats.add_scheduler(own, parameters(settings));
                self.schedulers.insert(SchedulerIndex::at(place), added);
            }
        }
        for (number, stream) in self.network.streams.iter().enumerate() {
            if let (true, true, Some(shaper)) =
                (stream.talker == node, stream.shaped_at_talker, stream.shaper)
            {
                let own = self.ats.add_group(None);
                self.shapers
                    .insert(StreamIndex::at(number).0, self.ats.add_scheduler(own, parameters(shaper)));
            }
        }
    }

    fn add_sources(&mut self, node: NodeIndex, seed: u64) {
        for (number, stream) in self.network.streams.iter().enumerate() {
            if stream.talker == node && stream.started {
                let stream = StreamIndex::at(number);
                self.sources.insert(stream.0, (Creations::new(self.network, stream, seed), 0));
                self.offer(stream.0);
            }
        }
    }

    /// Puts the next frame of a stream among the events, if it comes before the end or at it, as in a simulated run.
    fn offer(&mut self, stream: u32) {
        let next = self.sources[&stream].0.next_at().map(|at| Instant::ZERO + at);
        if let Some(at) = next.filter(|at| *at <= self.end) {
            self.put(at, Event::Creation, stream);
        }
    }

    fn put(&mut self, at: Instant, event: Event, of: u32) {
        self.order += 1;
        self.events.push(Reverse((at, self.order, event, of)));
    }

    /// A frame has come to a port at `stamp`.
    pub(crate) fn receive(&mut self, stamp: Instant, port: PortIndex, octets: &[u8]) {
        let Ok((header, data)) = EthernetHeader::parse(octets) else {
            self.counters.foreign += 1;
            return;
        };
        if header.ether_type == message::PROBE {
            return;
        }
        let parsed = LiveMessage::parse(data, false)
            .ok()
            .filter(|_| header.ether_type == EtherType::LOCAL_EXPERIMENTAL);
        let known = parsed.and_then(|(message, own)| {
            let stream = self.network.streams.get(message.stream as usize)?;
            let fits = stream.destination == header.destination && stream.source == header.source;
            Some((message, own, self.plan.hop_to(message.stream, port).filter(|_| fits)?))
        });
        let Some((message, own, hop)) = known else {
            self.counters.foreign += 1;
            return;
        };
        let mut room = self.slab.room();
        room.extend_from_slice(own);
        let zero = Duration::ZERO;
        let place =
            self.slab.insert(Slot { message, received: stamp, queued: stamp, held: zero, hop, data: room });
        self.put(stamp, Event::Arrival, place);
    }

    /// Does everything that happens until `now`.
    pub(crate) fn settle(&mut self, now: Instant) {
        loop {
            let event = self.events.peek().map(|Reverse((at, ..))| *at);
            let wake = (0..self.ports.len()).filter_map(|port| Some((self.ports[port].wake?, port))).min();
            // Frames that come at an instant come before the selections of that instant.
            match (event, wake) {
                (Some(at), wake) if at <= now && wake.is_none_or(|(wake, _)| at <= wake) => {
                    let Reverse((at, _, event, of)) = self.events.pop().expect("it was looked at");
                    self.now = self.now.max(at);
                    self.happen(event, of);
                }
                (_, Some((wake, port))) if wake <= now => {
                    self.now = self.now.max(wake);
                    self.select(port);
                }
                _ => break,
            }
        }
    }

    fn happen(&mut self, event: Event, of: u32) {
        match event {
            Event::Creation => self.create(of),
            Event::Arrival => self.arrive(of),
            Event::Queue(eligible) => self.enqueue(of, eligible),
        }
    }

    /// A talker creates the next frame of a stream.
    fn create(&mut self, stream: u32) {
        let (creations, number) = self.sources.get_mut(&stream).expect("a source of this node");
        let Some(creation) = creations.next() else { return };
        let message = LiveMessage {
            stream,
            number: *number,
            created: creation.at.as_ps() / 1000,
            payload: u16::try_from(creation.payload.get()).expect("a checked payload"),
        };
        *number += 1;
        *self.counters.created.entry(stream).or_default() += 1;
        let mut data = self.slab.room();
        message.emit(&mut data);
        let created = Instant::ZERO + creation.at;
        let zero = Duration::ZERO;
        let place =
            self.slab.insert(Slot { message, received: created, queued: created, held: zero, hop: 0, data });
        self.offer(stream);
        self.pass_on(place, None);
    }

    /// A frame has come over its hop: to a listener, or on.
    fn arrive(&mut self, place: u32) {
        let slot = self.slab.get(place);
        let (stream, hop, received) = (slot.message.stream, slot.hop, slot.received);
        let described = &self.network.streams[stream as usize];
        let came_by = &described.hops[hop as usize];
        let link = self.network.ports[came_by.port.index()].links.expect("a hop's port is connected").egress;
        let to = self.network.links[link.index()].to;
        let at = &self.network.ports[to.index()];
        let is_bridge = self.network.device(at.node).is_some();
        if !is_bridge {
            let is_whole = LiveMessage::parse(&slot.data, true).is_ok();
            let slot = self.slab.remove(place);
            return match came_by.listener {
                _ if !is_whole => self.counters.dropped(stream, hop, DropReason::BitError),
                Some(listener) => self.counters.received(self.network, &slot.message, listener, received),
                None => self.counters.consumed(stream),
            };
        }
        if u64::from(slot.message.payload) > at.mtu.get() {
            return self.lose(place, hop, DropReason::Oversize);
        }
        self.pass_on(place, Some(hop));
    }

    /// Hands copies of a frame to the ports of the hops behind one.
    fn pass_on(&mut self, place: u32, hop: Option<u32>) {
        let stream = self.slab.get(place).message.stream;
        let behind = self.plan.behind(stream, hop).to_vec();
        let Some((last, others)) = behind.split_last() else {
            return self.lose(place, hop.unwrap_or(0), DropReason::NoRoute);
        };
        let mut charged = None;
        for next in others {
            let copy = self.slab.copy(place);
            self.counters.replicated(stream);
            self.hand_to(copy, hop, *next, &mut charged);
        }
        self.hand_to(place, hop, *last, &mut charged);
    }

    /// Hands a frame to the port of a hop, through its scheduler: one scheduler charges it once.
    fn hand_to(
        &mut self,
        place: u32,
        from: Option<u32>,
        hop: u32,
        charged: &mut Option<(u32, Option<Instant>)>,
    ) {
        let slot = self.slab.get_mut(place);
        slot.hop = hop;
        let (stream, received, payload) =
            (slot.message.stream, slot.received, Bytes::new(slot.message.payload.into()));
        let described = &self.network.streams[stream as usize];
        let next = &described.hops[hop as usize];
        let tagged = described.hops[from.unwrap_or(hop) as usize].tagged;
        let octets = frame_length(payload, tagged).get();
        let [before, behind] =
            self.delays(NodeIndex(self.network.ports[next.port.index()].node.0), stream, hop, octets);
        let arrival = received + before;
        let scheduler = match from {
            Some(_) => next.scheduler.and_then(|scheduler| self.schedulers.get(&scheduler)),
            None => self.shapers.get(&stream),
        };
        let mut eligible = Instant::ZERO;
        if let Some(scheduler) = scheduler.copied() {
            let known = charged.filter(|(of, _)| *of == scheduler);
            let (_, at) = *charged.insert(
                known.unwrap_or_else(|| (scheduler, self.ats.process(scheduler, arrival, octets).ok())),
            );
            let Some(at) = at else { return self.lose(place, hop, DropReason::ResidenceTime) };
            eligible = at;
        }
        let queued = arrival + behind;
        // A talker's shaper holds a frame before its port, a bridge's in the queue.
        let ready = if from.is_none() { queued.max(eligible) } else { queued };
        let slot = self.slab.get_mut(place);
        (slot.queued, slot.held) = (queued, eligible.saturating_since(queued));
        if ready <= self.now {
            return self.enqueue(place, eligible);
        }
        self.put(ready, Event::Queue(eligible), place);
    }

    /// What the host or the device takes before a frame's arrival is recognised, and behind that before it is queued: the least of it.
    fn delays(&self, node: NodeIndex, stream: u32, hop: u32, octets: u64) -> [Duration; 2] {
        let least = |delay: &Delay| (delay.constant + delay.per_octet * octets).saturating_sub(delay.less);
        let described = &self.network.nodes[node.index()].kind;
        match described {
            NodeKind::EndStation { host } => {
                [Duration::ZERO, least(&self.network.hosts[host.index()].transmit)]
            }
            NodeKind::Bridge { device, .. } => {
                let next = &self.network.streams[stream as usize].hops[hop as usize];
                let port = &self.network.ports[next.port.index()];
                let algorithm = port.classes[next.class.index()].selection.algorithm();
                let stages = &self.network.devices[device.index()].stages;
                [StagePosition::Reception, StagePosition::Processing].map(|position| {
                    let own = stages.iter().filter(|stage| stage.position == position);
                    let own = own.filter(|stage| stage.only_for.is_none_or(|only| only == algorithm));
                    own.map(|stage| least(&stage.latency)).sum()
                })
            }
        }
    }

    /// Puts a frame into the queue of the port of its hop.
    fn enqueue(&mut self, place: u32, eligible: Instant) {
        let slot = self.slab.get(place);
        let (stream, hop, payload) = (slot.message.stream, slot.hop, slot.message.payload);
        let described = &self.network.streams[stream as usize];
        let next = &described.hops[hop as usize];
        let octets = frame_length(Bytes::new(payload.into()), next.tagged).get();
        let handle = Handle {
            slot: place,
            octets: u16::try_from(octets).expect("a frame is short"),
            class: next.class,
        };
        let lane = self.network.lane(described, hop as usize);
        let now = self.now;
        let at = self.ports.iter().position(|port| port.index == next.port).expect("a hop's port is here");
        let port = &mut self.ports[at];
        if payload > port.mtu {
            return self.lose(place, hop, DropReason::Oversize);
        }
        if port.egress.is_gated() {
            let sdu = u32::from(handle.octets) - if next.tagged.vlan { 22 } else { 18 };
            if port.egress.exceeds_max_sdu(handle.class, sdu) {
                return self.lose(place, hop, DropReason::MaxSdu);
            }
        }
        // A talker's shaper has held it before.
        let eligible = if next.previous.is_none() { Instant::ZERO } else { eligible };
        let mut lost = Vec::new();
        let mut taken = port.egress.enqueue(now, lane, eligible, handle);
        if taken.is_err() {
            taken = port.egress.enqueue_over(now, lane, eligible, handle, |oldest| lost.push(oldest.slot));
        }
        if taken.is_ok() {
            let free = port.egress.busy_until().max(now);
            port.wake = Some(port.wake.map_or(free, |wake| wake.min(free)));
        }
        for place in lost.into_iter().chain(taken.is_err().then_some(place)) {
            let hop = self.slab.get(place).hop;
            self.lose(place, hop, DropReason::QueueFull);
        }
    }

    /// A port selects.
    fn select(&mut self, number: usize) {
        let now = self.now;
        let port = &mut self.ports[number];
        match port.egress.select(now) {
            Selection::Transmit { frame, held } => {
                let end = port.egress.busy_until();
                port.wake = (!port.egress.is_empty()).then_some(end);
                let last = Instant::from_ps(end.as_ps() - port.gap.as_ps());
                let received = last + port.propagation;
                port.line.push_back((received, frame.slot));
                let slot = self.slab.get(frame.slot);
                let waited = now.saturating_since(slot.queued);
                let shaping = (held + slot.held).min(waited);
                let parts = DelayParts {
                    processing: slot.queued.saturating_since(slot.received),
                    shaping,
                    queueing: waited - shaping,
                    transmission: last.saturating_since(now),
                    propagation: received.since(last),
                };
                let is_counted = Duration::from_ns(slot.message.created) >= self.network.run.warm_up;
                self.counters.passed((slot.message.stream, slot.hop), &parts, is_counted);
            }
            Selection::Wait(at) => port.wake = Some(at.max(now + Duration::from_ps(1))),
            Selection::Idle => port.wake = None,
        }
    }

    fn lose(&mut self, place: u32, hop: u32, reason: DropReason) {
        let slot = self.slab.remove(place);
        self.counters.dropped(slot.message.stream, hop, reason);
    }

    /// Gives every frame to `send` whose last bit is due; that says whether the interface took it.
    pub(crate) fn emit(&mut self, now: Instant, mut send: impl FnMut(PortIndex, &[u8]) -> bool) {
        for number in 0..self.ports.len() {
            while let Some((due, place)) = self.ports[number].line.pop_front_if(|(due, _)| *due <= now) {
                let index = self.ports[number].index;
                let slot = self.slab.get(place);
                let (stream, hop) = (slot.message.stream, slot.hop);
                let described = &self.network.streams[stream as usize];
                message::frame(described, &described.hops[hop as usize], &slot.data, &mut self.frame);
                let octets = self.frame.len() as u64 + 4;
                let taken = send(index, &self.frame);
                self.slab.remove(place);
                self.counters.late(now.since(due));
                self.counters.octets += octets;
                if !taken {
                    self.counters.dropped(stream, hop, DropReason::InterfaceFull);
                }
            }
        }
    }

    /// When it must be called next: the exact instant of a transmission, or early enough for one.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let line = self.ports.iter().filter_map(|port| port.line.front().map(|(due, _)| *due));
        let wakes = self.ports.iter().filter_map(|port| port.wake);
        let event = self.events.peek().map(|Reverse((at, ..))| *at);
        line.chain(wakes.chain(event).map(|at| at + self.slack)).min()
    }

    /// Whether no frame is here, and none will be created.
    pub(crate) fn is_done(&self) -> bool {
        self.slab.is_empty() && self.events.is_empty()
    }

    /// Frames that are here, by stream and hop.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = (u32, u32)> {
        self.slab.iter().map(|slot| (slot.message.stream, slot.hop))
    }

    /// The counters of its ports, each with its index.
    pub(crate) fn port_observations(&self) -> impl Iterator<Item = (PortIndex, PortObservation)> {
        self.ports.iter().map(|port| (port.index, PortObservation::of(&port.egress)))
    }
}

/// A port of the network, if it is connected.
fn connected(network: &Network, index: PortIndex) -> Option<Port> {
    let port = &network.ports[index.index()];
    let mut egress = EgressPort::new(network.port_config(index)?);
    egress.start_gates(Instant::ZERO);
    let link = &network.links[port.links?.egress.index()];
    Some(Port {
        gap: egress.wire_time(INTER_PACKET_GAP),
        egress,
        index,
        wake: None,
        line: VecDeque::new(),
        propagation: link.propagation + link.phy_delay.min,
        mtu: u16::try_from(port.mtu.get()).unwrap_or(u16::MAX),
    })
}

#[cfg(test)]
#[path = "node_tests.rs"]
mod tests;
