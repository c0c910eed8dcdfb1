//! One bridge or end station, without clock and socket: frames and readings of the clock in, frames out.
//!
//! Everything happens at its own instant (`plane.rs`): a frame came when its stamp says. So a call that is late makes a
//! transmission late, and changes no decision; a frame with a stamp before what has happened counts as come now.

use std::collections::BTreeMap;

use tautwire_core::control::Addresses;
use tautwire_core::psfp;
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex, frame_length};
use tautwire_sim::{
    Creations, DropReason, Frame, NodeFilters, Observation, PortObservation, StreamFiltersObservation, Wish,
    filter_behind,
};
use tautwire_units::{BitRate, Bytes, Duration, Instant};
use tautwire_wire::gptp::PTP_ETHER_TYPE;
use tautwire_wire::{EtherType, EthernetHeader, LiveMessage};

use crate::control::{Control, PlugIns, typed, with_type};
use crate::counters::Counters;
use crate::frames::{Handle, Marks, Slot};
use crate::message;
use crate::plan::Plan;
use crate::plane::{Due, Plane, Port, Schedulers, least_delays};
use crate::program::{Pace, Programs};
use crate::watch::{PortNow, waiting};

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
}

/// An application that sends a stream.
#[derive(Debug)]
struct Source {
    creations: Creations,
    /// The number of its next frame.
    number: u32,
    /// How often it began or stopped.
    start: u32,
    /// Since when it sends, if it does.
    since: Option<Instant>,
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

    /// The same with its control machines, which begin now.
    pub(crate) fn controlled(mut self, node: NodeIndex, seed: u64, plug_ins: PlugIns) -> Self {
        self.control = Control::new(self.network, self.plan, (node, seed, plug_ins));
        self.fulfil();
        self
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

    fn add_sources(&mut self, node: NodeIndex, seed: u64) {
        for (number, stream) in self.network.streams.iter().enumerate() {
            if stream.talker != node {
                continue;
            }
            let is_started = stream.started;
            let stream = StreamIndex::at(number);
            let creations = Creations::new(self.network, stream, seed);
            let since = is_started.then_some(Instant::ZERO);
            self.sources.insert(stream.0, Source { creations, number: 0, start: 0, since });
            if is_started {
                self.offer(stream.0);
            }
        }
    }

    /// Puts the next frame of a stream among the events, if it comes before the end or at it, as in a simulated run.
    fn offer(&mut self, stream: u32) {
        let source = &self.sources[&stream];
        let next = source.creations.next_at().map(|at| Instant::ZERO + at);
        if let Some(at) = next.filter(|at| *at <= self.end) {
            self.plane.put_behind(at, Event::Creation(source.start), stream);
        }
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
        if header.ether_type == message::PROBE {
            return;
        }
        if let Some(control) = &self.control
            && control.hosted.takes(header.ether_type)
        {
            return self.receive_control(stamp, port, (header, data));
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
        let mut room = self.plane.slab.room();
        room.extend_from_slice(own);
        let drop_eligible = header.tag.is_some_and(|tag| tag.drop_eligible);
        let marks = Marks { drop_eligible, internal_priority: None };
        let zero = Duration::ZERO;
        let slot = Slot { message, received: stamp, queued: stamp, held: zero, hop, marks, data: room };
        let place = self.plane.slab.insert(slot);
        self.plane.put(stamp, Event::Arrival, place);
    }

    /// A frame has come that is for the control machines.
    fn receive_control(&mut self, stamp: Instant, port: PortIndex, (header, data): (EthernetHeader, &[u8])) {
        let known = self.control.as_ref().and_then(|control| {
            let known = control.stream(port, header.destination, header.ether_type)?;
            (self.network.streams[known.0 as usize].source == header.source).then_some(known)
        });
        let Some((stream, hop)) = known else {
            self.counters.foreign += 1;
            return;
        };
        let mut room = self.plane.slab.room();
        room.extend_from_slice(&header.ether_type.0.to_be_bytes());
        room.extend_from_slice(data);
        let payload = u16::try_from(data.len()).unwrap_or(u16::MAX);
        let created = stamp.as_ps() / 1000;
        let message = LiveMessage { stream, number: 0, created, payload, is_of_program: false };
        let zero = Duration::ZERO;
        let slot = Slot {
            message,
            received: stamp,
            queued: stamp,
            held: zero,
            hop,
            marks: Marks::default(),
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
                Some(Due::Event(event, of)) => self.happen(event, of),
                Some(Due::Selection(port)) => self.select(port),
                None => match acts {
                    Some(at) => self.act(at),
                    None => return,
                },
            }
        }
    }

    /// When its control machines act next; never behind the end of the run.
    fn acts_next(&self) -> Option<Instant> {
        let next = self.control.as_ref().and_then(|control| control.hosted.next());
        next.filter(|at| *at <= self.end)
    }

    /// The control machines act.
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
                Wish::Start(stream, at) => {
                    if let Some(source) = self.sources.get_mut(&stream.0) {
                        source.start += 1;
                        source.since = Some(at);
                        source.creations.restart(at);
                        self.offer(stream.0);
                        self.offer_packet(stream.0);
                    }
                }
                Wish::Stop(stream) => {
                    if let Some(source) = self.sources.get_mut(&stream.0) {
                        source.start += 1;
                        source.since = None;
                    }
                }
            }
        }
    }

    /// Hands a frame of a control machine to the port of its stream.
    fn send_control(&mut self, stream: StreamIndex, frame: &Frame, payload: Bytes) {
        let number = self.sources.get_mut(&stream.0).map_or(0, |source| {
            source.number += 1;
            source.number - 1
        });
        let mut data = self.plane.slab.room();
        with_type(frame, payload, &mut data);
        let now = self.plane.now;
        let message = LiveMessage {
            stream: stream.0,
            number,
            created: now.as_ps() / 1000,
            payload: u16::try_from(data.len() - 2).unwrap_or(u16::MAX),
            is_of_program: false,
        };
        *self.counters.created.entry(stream.0).or_default() += 1;
        let zero = Duration::ZERO;
        let slot =
            Slot { message, received: now, queued: now, held: zero, hop: 0, marks: Marks::default(), data };
        let place = self.plane.slab.insert(slot);
        match self.plan.behind(stream.0, None) {
            [hop] => {
                self.plane.slab.get_mut(place).hop = *hop;
                self.enqueue(place, Instant::ZERO);
            }
            _ => self.lose(place, 0, DropReason::NoRoute),
        }
    }

    /// What its control machines and its stream filters observed.
    pub(crate) fn observe_control(&mut self, observation: &mut Observation) {
        if let Some(control) = self.control.take() {
            control.hosted.finish(observation);
        }
        if let Some(filters) = &self.filters {
            let bridges = vec![filters.observed(self.end)];
            observation.mechanisms.add(StreamFiltersObservation { bridges });
        }
    }

    fn happen(&mut self, event: Event, of: u32) {
        match event {
            Event::Creation(start) => self.create(of, start),
            Event::Packet => self.send_packet(of),
            Event::Arrival => self.arrive(of),
            Event::Queue(eligible) => self.enqueue(of, eligible),
        }
    }

    /// A talker creates the next frame of a stream.
    fn create(&mut self, stream: u32, start: u32) {
        let source = self.sources.get_mut(&stream).expect("a source of this node");
        if source.start != start {
            return;
        }
        let Some(creation) = source.creations.next() else { return };
        let at = Instant::ZERO + creation.at;
        match self.programs.as_mut().and_then(|programs| programs.feeds.get_mut(&stream)) {
            Some(feed) => {
                if matches!(feed.pace, Pace::Places) {
                    self.send_packet(stream);
                    self.offer(stream);
                }
            }
            None => {
                self.offer(stream);
                let payload = u16::try_from(creation.payload.get()).expect("a checked payload");
                self.send(stream, at, payload, None);
            }
        }
    }

    /// A program has sent a packet, which goes as soon as its stream promises.
    pub(crate) fn take_packet(&mut self, now: Instant, packet: &[u8]) {
        let taken = self.programs.as_mut().and_then(|programs| programs.take(now, packet));
        let Some((stream, discarded)) = taken else { return };
        let Some(reason) = discarded else { return self.offer_packet(stream) };
        *self.counters.created.entry(stream).or_default() += 1;
        let hop = self.plan.behind(stream, None).first().copied().unwrap_or(0);
        self.counters.dropped(stream, hop, reason);
    }

    /// Puts the next packet of a program among the events, if its stream is sent and it may go before the end.
    fn offer_packet(&mut self, stream: u32) {
        let Some(since) = self.sources.get(&stream).and_then(|source| source.since) else { return };
        let Some(feed) = self.programs.as_mut().and_then(|programs| programs.feeds.get_mut(&stream)) else {
            return;
        };
        let at = feed.next(self.plane.now.max(since)).filter(|at| *at <= self.end && !feed.is_put);
        if let Some(at) = at {
            feed.is_put = true;
            self.plane.put(at, Event::Packet, stream);
        }
    }

    /// The next packet of a program goes.
    fn send_packet(&mut self, stream: u32) {
        let now = self.plane.now;
        let is_sent = self.sources.get(&stream).is_some_and(|source| source.since.is_some());
        let Some(feed) = self.programs.as_mut().and_then(|programs| programs.feeds.get_mut(&stream)) else {
            return;
        };
        feed.is_put = false;
        if let Some((packet, payload)) = is_sent.then(|| feed.take(now)).flatten() {
            self.send(stream, now, payload, Some(&packet));
            self.offer_packet(stream);
        }
    }

    /// Creates a frame of a stream, with a program's packet in it, if there is one.
    fn send(&mut self, stream: u32, created: Instant, payload: u16, packet: Option<&[u8]>) {
        let source = self.sources.get_mut(&stream).expect("a source of this node");
        let message = LiveMessage {
            stream,
            number: source.number,
            created: created.as_ps() / 1000,
            payload,
            is_of_program: packet.is_some(),
        };
        source.number += 1;
        *self.counters.created.entry(stream).or_default() += 1;
        let mut data = self.plane.slab.room();
        message.emit(packet.unwrap_or_default(), &mut data);
        let zero = Duration::ZERO;
        let slot = Slot {
            message,
            received: created,
            queued: created,
            held: zero,
            hop: 0,
            marks: Marks::default(),
            data,
        };
        let place = self.plane.slab.insert(slot);
        self.pass_on(place, None);
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
        if let Some(control) = self.control.as_mut().filter(|control| control.carries(stream)) {
            let addresses = Addresses { destination: described.destination, source: described.source };
            control.received(self.plane.now, to, &slot.data, addresses);
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
                    let _ = self.counters.received(self.network, &slot.message, listener, received);
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
        let (stream, received, payload) =
            (slot.message.stream, slot.received, Bytes::new(slot.message.payload.into()));
        let described = &self.network.streams[stream as usize];
        let next = &described.hops[hop as usize];
        let tagged = described.hops[from.unwrap_or(hop) as usize].tagged;
        let octets = frame_length(payload, tagged).get();
        let [before, behind] = least_delays(self.network, (next.port, next.class), octets);
        let arrival = received + before;
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
                let is_control = self.control.as_ref().is_some_and(|control| control.carries(stream));
                let (ether_type, data) = match typed(&slot.data) {
                    Some(typed) if is_control => typed,
                    _ => (EtherType::LOCAL_EXPERIMENTAL, slot.data.as_slice()),
                };
                let hop_of = &described.hops[hop as usize];
                message::frame(
                    (described, hop_of),
                    slot.marks.drop_eligible,
                    (ether_type, data),
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

    /// Whether no frame is here, and none will be created.
    pub(crate) fn is_done(&self) -> bool {
        self.plane.is_done()
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
#[path = "node_tests.rs"]
pub(crate) mod tests;
