//! What the control machines of a node hear, and what they want of its data plane.

use tautwire_core::control::Addresses;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};
use tautwire_sim::{DropReason, Frame, InCommon, Observation, StreamFiltersObservation, Wish};
use tautwire_units::{Bytes, Duration, Instant};
use tautwire_wire::{EthernetHeader, LiveMessage};

use super::{Event, Node};
use crate::control::{Control, PlugIns, with_type};
use crate::frames::{Marks, Slot};

impl Node<'_> {
    /// The same with its control machines, which begin now.
    pub(crate) fn controlled(
        mut self,
        (node, seed, plug_ins): (NodeIndex, u64, PlugIns),
        common: &InCommon,
    ) -> Self {
        self.control = Control::new(self.network, self.plan, (node, seed, plug_ins), common);
        for stream in self.control.iter().flat_map(|control| control.hosted.begins()) {
            if let Some(source) = self.sources.get_mut(&stream.0) {
                source.start += 1;
                source.since = None;
            }
        }
        self.fulfil();
        self
    }

    /// A frame has come that is for the control machines.
    pub(super) fn receive_control(
        &mut self,
        stamp: Instant,
        port: PortIndex,
        (header, data): (EthernetHeader, &[u8]),
    ) {
        let EthernetHeader { source, destination, ether_type, .. } = header;
        let addresses = Addresses { source, destination };
        let known = self.control.as_ref().and_then(|control| control.stream(port, addresses, ether_type));
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
            to: Some(destination).filter(|to| *to != self.network.streams[stream as usize].destination),
            data: room,
        };
        let place = self.plane.slab.insert(slot);
        self.plane.put(stamp, Event::Arrival, place);
    }

    /// When its control machines act next; never behind the end of the run.
    pub(crate) fn acts_next(&self) -> Option<Instant> {
        let next = self.control.as_ref().and_then(|control| control.hosted.next());
        next.filter(|at| *at <= self.end)
    }

    /// The control machines act.
    pub(super) fn act(&mut self, at: Instant) {
        self.plane.now = self.plane.now.max(at);
        if let Some(control) = &mut self.control {
            control.hosted.drive(self.plane.now);
        }
        self.fulfil();
    }

    /// Does what the control machines want.
    pub(super) fn fulfil(&mut self) {
        while let Some(wish) = self.control.as_mut().and_then(|control| control.hosted.wish()) {
            match wish {
                Wish::Send(stream, frame, payload) => {
                    if let Some(place) = self.make_control(stream, &frame, payload) {
                        self.enqueue(place, Instant::ZERO);
                    }
                }
                Wish::Make(number, stream, frame, payload) => {
                    let place = self.make_control(stream, &frame, payload);
                    if let Some((place, control)) = place.zip(self.control.as_mut()) {
                        control.hold(number, place);
                    }
                }
                Wish::HandOn(number) => {
                    if let Some(place) = self.control.as_mut().map(|control| control.let_go(number)) {
                        let now = self.plane.now;
                        let slot = self.plane.slab.get_mut(place);
                        slot.held = now.saturating_since(slot.queued);
                        self.enqueue(place, Instant::ZERO);
                    }
                }
                Wish::GiveUp(number, reason) => {
                    if let Some(place) = self.control.as_mut().map(|control| control.let_go(number)) {
                        let hop = self.plane.slab.get(place).hop;
                        self.lose(place, hop, reason);
                    }
                }
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

    /// Makes a frame of a control machine, for the port of its stream; none if that has no way, where it is lost.
    pub(super) fn make_control(&mut self, stream: StreamIndex, frame: &Frame, payload: Bytes) -> Option<u32> {
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
        let (marks, to) = (Marks::default(), frame.addresses.map(|addresses| addresses.destination));
        let to = to.filter(|to| *to != self.network.streams[stream.index()].destination);
        let slot = Slot { message, received: now, queued: now, held: zero, hop: 0, marks, to, data };
        let place = self.plane.slab.insert(slot);
        let [hop] = self.plan.behind(stream.0, None) else {
            self.lose(place, 0, DropReason::NoRoute);
            return None;
        };
        self.plane.slab.get_mut(place).hop = *hop;
        Some(place)
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
}
