//! One bridge or end station, without clock and socket: frames and readings of the clock in, frames out.
//!
//! Everything happens at its own instant (`plane.rs`): a frame came when its stamp says. So a call that is late makes a
//! transmission late, and changes no decision; a frame with a stamp before what has happened counts as come now.

mod machines;
#[cfg(test)]
mod program_tests;
mod talker;

use std::collections::BTreeMap;

use tautwire_core::control::Addresses;
use tautwire_core::psfp;
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex, frame_length};
use tautwire_sim::{DropReason, NodeFilters, PortObservation, filter_behind};
use tautwire_units::{BitRate, Bytes, Duration, Instant};
use tautwire_wire::gptp::PTP_ETHER_TYPE;
use tautwire_wire::{EtherType, EthernetHeader, LiveMessage};

use crate::control::{Control, typed};
use crate::counters::Counters;
use crate::frames::{Handle, Marks, Slot};
use crate::message;
use crate::plan::Plan;
use crate::plane::{Due, Plane, Port, Schedulers, least_delays};
use crate::program::Programs;
use crate::watch::{PortNow, waiting};

use talker::{Source, answers};

/// What happens to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// It has come over its hop.
    Arrival,
    /// It reaches the queue of the port of its hop, to be sent at this instant at the earliest.
    Queue(Instant),
    /// The next frame of this stream is created, unless its application has begun anew or stopped since this start.
    Creation(u32),
    /// The next packet that a program has sent in this stream may go.
    Packet,
    /// The application answers in this stream a request that was created then.
    Answer(Instant),
}

/// Octets of addresses, type and FCS.
const HEADER_AND_FCS: u64 = 18;

/// A node.
#[derive(Debug)]
pub(crate) struct Node<'n> {
    network: &'n Network,
    plan: &'n Plan,
    end: Instant,
    plane: Plane<Event, LiveMessage>,
    schedulers: Schedulers,
    sources: BTreeMap<u32, Source>,
    /// By stream of requests: the streams in which applications of this node answer, and their turn-around.
    answers: BTreeMap<u32, Vec<(u32, Duration)>>,
    control: Option<Control<'n>>,
    filters: Option<NodeFilters>,
    /// By stream and hop by which it comes: the filter that its frames find, and octets of their MSDU besides MAC client data.
    filtered: BTreeMap<(u32, u32), (usize, u32)>,
    pub(crate) programs: Option<Programs>,
    frame: Vec<u8>,
    /// Rates of the interfaces of its ports, if its cables are real: see `Plane::select`.
    rates: Vec<Option<BitRate>>,
    pub(crate) counters: Counters,
}

impl<'n> Node<'n> {
    pub(crate) fn new(network: &'n Network, plan: &'n Plan, node: NodeIndex, seed: u64) -> Self {
        let mut made = Self {
            network,
            plan,
            end: Instant::ZERO + network.run.duration,
            plane: Plane::new(network, node),
            schedulers: Schedulers::new(network, node),
            sources: BTreeMap::new(),
            answers: answers(network, node),
            control: None,
            filters: NodeFilters::new(network, node),
            filtered: filtered(network, node),
            programs: None,
            frame: Vec::new(),
            rates: Vec::new(),
            counters: Counters::default(),
        };
        made.add_sources(node, seed);
        made
    }

    /// The same with programs that feed its streams.
    pub(crate) fn with_programs(mut self, node: NodeIndex) -> Self {
        self.programs = Some(Programs::new(self.network, node));
        self
    }

    /// The same on real cables; `rates` are those of the interfaces of its connected ports.
    pub(crate) fn on_cables(mut self, rates: Vec<Option<BitRate>>) -> Self {
        self.plane.ports.iter_mut().for_each(|port| port.propagation = Duration::ZERO);
        self.rates = rates;
        self
    }

    /// Whether a frame that comes is of gPTP, which reads it by itself and counts it nowhere.
    pub(crate) fn is_of_time(&self, octets: &[u8]) -> bool {
        self.network.gptp.is_some() && octets.get(12..14) == Some(&PTP_ETHER_TYPE.0.to_be_bytes())
    }

    /// A frame has come to a port at `stamp`.
    pub(crate) fn receive(&mut self, stamp: Instant, port: PortIndex, octets: &[u8]) {
        let Ok((header, data)) = EthernetHeader::parse(octets) else {
            self.counters.foreign += 1;
            return;
        };
        let (ether_type, data) = message::carried(header.ether_type, data);
        if ether_type == message::PROBE {
            return;
        }
        if let Some(control) = &self.control
            && control.hosted.reads(ether_type)
        {
            return self.receive_control(stamp, port, (header, data));
        }
        let parsed =
            LiveMessage::parse(data, false).ok().filter(|_| ether_type == EtherType::LOCAL_EXPERIMENTAL);
        let known = parsed.and_then(|(message, own)| {
            let stream = self.network.streams.get(message.stream as usize)?;
            let fits = stream.destination == header.destination && stream.source == header.source;
            Some((message, own, self.plan.hop_to(message.stream, port).filter(|_| fits)?))
        });
        let Some((message, own, hop)) = known else {
            self.counters.foreign += 1;
            return;
        };
        let mut room = self.plane.slab.room();
        room.extend_from_slice(own);
        let drop_eligible = header.tag.is_some_and(|tag| tag.drop_eligible);
        let marks = Marks { drop_eligible, internal_priority: None };
        let zero = Duration::ZERO;
        let to = None;
        let slot = Slot { message, received: stamp, queued: stamp, held: zero, hop, marks, to, data: room };
        let place = self.plane.slab.insert(slot);
        self.plane.put(stamp, Event::Arrival, place);
    }

    /// Does everything that happens until `now`.
    pub(crate) fn settle(&mut self, now: Instant) {
        loop {
            // At one instant they act before frames come and leave, as in a run.
            let acts = self.acts_next().filter(|at| *at <= now);
            match self.plane.next(acts.unwrap_or(now), acts.is_none()) {
                Some(Due::Event(event, of)) => self.happen(event, of),
                Some(Due::Selection(port)) => self.select(port),
                None => match acts {
                    Some(at) => self.act(at),
                    None => return,
                },
            }
        }
    }

    fn happen(&mut self, event: Event, of: u32) {
        match event {
            Event::Creation(start) => self.create(of, start),
            Event::Packet => self.send_packet(of),
            Event::Answer(asked) => self.answer(of, asked),
            Event::Arrival => self.arrive(of),
            Event::Queue(eligible) => self.enqueue(of, eligible),
        }
    }

    /// A frame has come over its hop: to a listener, or on.
    fn arrive(&mut self, place: u32) {
        let slot = self.plane.slab.get(place);
        let (stream, hop, received) = (slot.message.stream, slot.hop, slot.received);
        let described = &self.network.streams[stream as usize];
        let came_by = &described.hops[hop as usize];
        let link = self.network.ports[came_by.port.index()].links.expect("a hop's port is connected").egress;
        let to = self.network.links[link.index()].to;
        let at = &self.network.ports[to.index()];
        let is_bridge = self.network.device(at.node).is_some();
        // Bridges pass on what goes to stations.
        let ends_here = self.plan.behind(stream, Some(hop)).is_empty();
        if let Some(control) = self.control.as_mut().filter(|control| ends_here && control.carries(stream)) {
            let destination = slot.to.unwrap_or(described.destination);
            let addresses = Addresses { destination, source: described.source };
            control.received(self.plane.now, (to, Some(stream)), &slot.data, addresses);
            self.plane.slab.remove(place);
            return match came_by.listener {
                Some(listener) => self.counters.taken(stream, listener),
                None => self.counters.consumed(stream),
            };
        }
        if is_bridge
            && self.control.as_ref().is_some_and(|own| !own.hosted.lets_in(StreamIndex(stream), hop as usize))
        {
            return self.lose(place, hop, DropReason::IngressFiltering);
        }
        if !is_bridge {
            let is_whole = LiveMessage::parse(&slot.data, true).is_ok();
            let is_theirs = is_whole && slot.message.is_of_program && came_by.listener.is_some();
            if let Some(programs) = self.programs.as_mut().filter(|_| is_theirs) {
                programs.give(&slot.data);
            }
            let slot = self.plane.slab.remove(place);
            return match came_by.listener {
                _ if !is_whole => self.counters.dropped(stream, hop, DropReason::BitError),
                Some(listener) => {
                    // Its sums have room for every delay that this machine's clock can show.
                    let first = self.counters.received(self.network, &slot.message, listener, received);
                    if first == Some(true) {
                        self.asked(&slot.message, (hop, to), received);
                    }
                }
                None => self.counters.consumed(stream),
            };
        }
        if u64::from(slot.message.payload) > at.mtu.get() {
            return self.lose(place, hop, DropReason::Oversize);
        }
        if let Err(reason) = self.judge(place, hop) {
            return self.lose(place, hop, reason);
        }
        self.pass_on(place, Some(hop));
    }

    /// The stream filters of a bridge pass a frame that came over a hop, or not.
    fn judge(&mut self, place: u32, hop: u32) -> Result<(), DropReason> {
        let slot = self.plane.slab.get_mut(place);
        let stream = slot.message.stream;
        let (Some(filters), Some((filter, beside))) =
            (&mut self.filters, self.filtered.get(&(stream, hop)).copied())
        else {
            return Ok(());
        };
        let came_by = &self.network.streams[stream as usize].hops[hop as usize];
        let octets = frame_length(Bytes::new(slot.message.payload.into()), came_by.tagged);
        let client_data = octets - Bytes::new(HEADER_AND_FCS) - came_by.tagged.octets();
        let seen = psfp::Frame {
            msdu: u32::try_from(client_data.get()).expect("a frame is short") + beside,
            octets: u32::try_from(octets.get()).expect("a frame is short"),
            drop_eligible: slot.marks.drop_eligible,
        };
        let passed = filters.judge(self.plane.now, filter, seen)?;
        slot.marks =
            Marks { drop_eligible: passed.drop_eligible, internal_priority: passed.internal_priority };
        Ok(())
    }

    /// Hands copies of a frame to the ports of the hops behind one.
    fn pass_on(&mut self, place: u32, hop: Option<u32>) {
        let stream = self.plane.slab.get(place).message.stream;
        let behind = self.plan.behind(stream, hop).to_vec();
        let Some((last, others)) = behind.split_last() else {
            return self.lose(place, hop.unwrap_or(0), DropReason::NoRoute);
        };
        let mut charged = None;
        for next in others {
            let copy = self.plane.slab.copy(place);
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
        let slot = self.plane.slab.get_mut(place);
        slot.hop = hop;
        // At a talker it may count from before it was created.
        let came = if from.is_none() { slot.queued } else { slot.received };
        let (stream, payload) = (slot.message.stream, Bytes::new(slot.message.payload.into()));
        let described = &self.network.streams[stream as usize];
        let next = &described.hops[hop as usize];
        let tagged = described.hops[from.unwrap_or(hop) as usize].tagged;
        let octets = frame_length(payload, tagged).get();
        let [before, behind] = least_delays(self.network, (next.port, next.class), octets);
        let arrival = came + before;
        let mut eligible = Instant::ZERO;
        if let Some(scheduler) = self.schedulers.of(self.network, stream, hop) {
            let known = charged.filter(|(of, _)| *of == scheduler);
            let (_, at) = *charged.insert(
                known.unwrap_or_else(|| (scheduler, self.schedulers.process(scheduler, arrival, octets))),
            );
            let Some(at) = at else {
                let control = self.control.as_ref();
                if control.is_some_and(|own| own.hosted.is_not_reserved(StreamIndex(stream), hop as usize)) {
                    self.plane.slab.remove(place);
                    return self.counters.withheld(stream, hop);
                }
                return self.lose(place, hop, DropReason::ResidenceTime);
            };
            eligible = at;
        }
        let queued = arrival + behind;
        // A talker's shaper holds a frame before its port, a bridge's in the queue.
        let ready = if from.is_none() { queued.max(eligible) } else { queued };
        let slot = self.plane.slab.get_mut(place);
        (slot.queued, slot.held) = (queued, eligible.saturating_since(queued));
        if from.is_none()
            && let Some(control) = self.control.as_mut().filter(|control| control.hosted.takes())
        {
            let LiveMessage { stream, number, .. } = slot.message;
            let times = (slot.received, ready);
            control.held += 1;
            control.hosted.hand_down(self.plane.now, (StreamIndex(stream), number), times, place);
            return self.fulfil();
        }
        if ready <= self.plane.now {
            return self.enqueue(place, eligible);
        }
        self.plane.put(ready, Event::Queue(eligible), place);
    }

    /// Puts a frame into the queue of the port of its hop.
    fn enqueue(&mut self, place: u32, eligible: Instant) {
        let slot = self.plane.slab.get(place);
        let (stream, hop, payload) = (slot.message.stream, slot.hop, slot.message.payload);
        let described = &self.network.streams[stream as usize];
        let next = &described.hops[hop as usize];
        if self.control.as_mut().is_some_and(|own| !own.hosted.lets_out(StreamIndex(stream), hop as usize)) {
            self.plane.slab.remove(place);
            return self.counters.withheld(stream, hop);
        }
        let octets = frame_length(Bytes::new(payload.into()), next.tagged).get();
        let is_scheduled = next.previous.is_some() && next.scheduler.is_some();
        let handle = Handle {
            slot: place,
            octets: u16::try_from(octets).expect("a frame is short"),
            class: slot.marks.class(&self.network.ports[next.port.index()], next.class, is_scheduled),
        };
        let lane = self.network.lane(described, hop as usize);
        let at = self.plane.place(next.port);
        let port = &mut self.plane.ports[at];
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
        for place in self.plane.enqueue(at, lane, eligible, handle) {
            let hop = self.plane.slab.get(place).hop;
            self.lose(place, hop, DropReason::QueueFull);
        }
    }

    /// A port selects.
    fn select(&mut self, number: usize) {
        let rate = self.rates.get(number).copied().flatten();
        if let Some((place, parts)) = self.plane.select(number, rate) {
            let slot = self.plane.slab.get(place);
            let is_counted = Duration::from_ns(slot.message.created) >= self.network.run.warm_up;
            self.counters.passed((slot.message.stream, slot.hop), &parts, is_counted);
            let stream = slot.message.stream;
            if let Some(control) = self.control.as_mut().filter(|control| control.carries(stream)) {
                control.left(self.plane.now, stream, self.plane.ports[number].index, &slot.data);
            }
        }
    }

    fn lose(&mut self, place: u32, hop: u32, reason: DropReason) {
        let slot = self.plane.slab.remove(place);
        self.counters.dropped(slot.message.stream, hop, reason);
    }

    /// Gives every frame to `send` whose last bit is due; that says why the interface did not take it.
    pub(crate) fn emit(
        &mut self,
        now: Instant,
        mut send: impl FnMut(PortIndex, &[u8]) -> Option<DropReason>,
    ) {
        for number in 0..self.plane.ports.len() {
            while let Some((due, place)) = self.plane.leaving(number, now) {
                let index = self.plane.ports[number].index;
                let slot = self.plane.slab.get(place);
                let (stream, hop) = (slot.message.stream, slot.hop);
                let described = &self.network.streams[stream as usize];
                let hop_of = &described.hops[hop as usize];
                if let Some(control) = self.control.as_mut().filter(|control| control.carries(stream))
                    && hop_of.previous.is_none()
                    && now > due
                {
                    control.leaves_late(index, &mut self.plane.slab.get_mut(place).data, now.since(due));
                }
                let is_control = self.control.as_ref().is_some_and(|control| control.carries(stream));
                let slot = self.plane.slab.get(place);
                let (ether_type, data) = match typed(&slot.data) {
                    Some(typed) if is_control => typed,
                    _ => (EtherType::LOCAL_EXPERIMENTAL, slot.data.as_slice()),
                };
                message::frame(
                    (described, hop_of),
                    (slot.to, slot.marks.drop_eligible),
                    (ether_type, data),
                    !is_control
                        && self.network.tdma.is_some()
                        && !self.network.is_real_time(StreamIndex(stream)),
                    &mut self.frame,
                );
                let octets = self.frame.len() as u64 + 4;
                let not_taken = send(index, &self.frame);
                self.plane.slab.remove(place);
                self.counters.late(now.since(due));
                self.counters.octets += octets;
                if let Some(reason) = not_taken {
                    self.counters.dropped(stream, hop, reason);
                }
            }
        }
    }

    /// A port by its node and name, for words about it.
    pub(crate) fn name_of(&self, port: PortIndex) -> String {
        let port = &self.network.ports[port.index()];
        let interface = port.interface.as_ref().map(|name| format!(" on {name}")).unwrap_or_default();
        format!("port `{}` of `{}`{interface}", port.name, self.network.nodes[port.node.index()].name)
    }

    /// When it must be called next: the exact instant of a transmission, or early enough for one.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.plane.deadline().into_iter().chain(self.acts_next()).min()
    }

    /// Whether no frame is here that goes on, and none will be created.
    pub(crate) fn is_done(&self) -> bool {
        // What waits for a slot behind the end waits in vain.
        let in_vain = self.control.as_ref().filter(|_| self.acts_next().is_none());
        self.plane.is_done(in_vain.map_or(0, |control| control.held))
    }

    /// Frames that are here, by stream and hop.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = (u32, u32)> {
        self.plane.slab.iter().map(|slot| (slot.message.stream, slot.hop))
    }

    /// Its ports as they are now.
    pub(crate) fn ports_now(&self) -> Vec<PortNow> {
        let now = |port: &Port| PortNow {
            port: port.index,
            seen: PortObservation::of(&port.egress),
            waiting: waiting(|class| port.egress.frames(class)),
        };
        self.plane.ports.iter().map(now).collect()
    }

    /// The counters of its ports, each with its index.
    pub(crate) fn port_observations(&self) -> impl Iterator<Item = (PortIndex, PortObservation)> {
        self.plane.ports.iter().map(|port| (port.index, PortObservation::of(&port.egress)))
    }
}

/// Of frames that come to a node: their filters.
fn filtered(network: &Network, node: NodeIndex) -> BTreeMap<(u32, u32), (usize, u32)> {
    let mut found = BTreeMap::new();
    for (number, stream) in network.streams.iter().enumerate() {
        let number = StreamIndex::at(number);
        for (place, hop) in (0..).zip(&stream.hops).filter(|(_, hop)| network.far_end(hop).0 == node) {
            found.extend(filter_behind(network, number, hop).map(|filter| ((number.0, place), filter)));
        }
    }
    found
}

#[cfg(test)]
pub(crate) mod together;

#[cfg(test)]
#[path = "node_tests.rs"]
pub(crate) mod tests;
