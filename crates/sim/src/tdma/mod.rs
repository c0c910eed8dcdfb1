//! RTnet in a run: stations that send in slots (TDMA), and their start-up (RTcfg).
//!
//! A station takes the frames that its host hands down and sends each in a slot. A frame that opens a cycle leaves
//! without its host's delay, because it is made and stamped at the interface; so do requests and replies of the
//! calibration. At one instant start-ups act before slots.
//!
//! Octets are in `frames.rs`, the start-up in `start_up.rs`, what becomes of slots in `slot_use.rs`, cycles that are kept in
//! `cycles.rs`. Not here: what is sent when (`core`).

mod cycles;
mod frames;
mod slot_use;
mod start_up;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tautwire_core::gptp::DisciplinedClock;
use tautwire_core::tdma::{CalibrationRequest, Synchronisation, TdmaAction, TdmaStation, TdmaTraffic};
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex, Traffic};
use tautwire_model::tdma::start_up::StartUpStation;
use tautwire_units::Duration;
use tautwire_wire::EtherType;

use crate::clock::{LocalClock, SimTime};
use crate::control::contents::{Arrived, Frame, Metadata};
use crate::control::{Attached, Departure, Fault, HandedDown, InCommon, Make, Passing, Plane, Runner};
use crate::plan::{NONE, index};
use crate::result::{DropReason, Observation};

pub use cycles::{CycleObservation, CyclesObservation, SlotFate};
use frames::TdmaMessage;
pub use slot_use::MissedSlot;
pub(crate) use slot_use::SlotUse;
pub use start_up::StartUpObservation;
use start_up::{StartUps, awaits_start_up};

/// RTnet's part in a run; none in a network without it.
pub(crate) fn attach(network: &Network) -> Option<Attached<'_>> {
    network.tdma.as_ref()?;
    Some(Attached(Box::new(Parts { network })))
}

/// Makes it from a run's clocks and seed.
struct Parts<'n> {
    network: &'n Network,
}

impl<'n> Make<'n> for Parts<'n> {
    fn make(self: Box<Self>, clocks: &[LocalClock], seed: u64, _: bool) -> Box<dyn Runner + 'n> {
        Box::new(Tdma::new(self.network, clocks, seed, None, Arc::default()))
    }

    fn make_one(
        self: Box<Self>,
        clocks: &[LocalClock],
        seed: u64,
        node: NodeIndex,
        common: &InCommon,
    ) -> Option<Box<dyn Runner + 'n>> {
        Some(Box::new(Tdma::new(self.network, clocks, seed, Some(node), common.of())))
    }
}

/// RTnet of a run.
struct Tdma<'n> {
    network: &'n Network,
    clocks: Vec<LocalClock>,
    /// Per node: whether it runs here.
    up: Vec<bool>,
    /// The node that is here, if not all are.
    only: Option<NodeIndex>,
    /// Per node.
    stations: Vec<Option<Station>>,
    /// Of all nodes, whether they are here or not.
    slots: Arc<Mutex<Option<SlotUse>>>,
    /// None in a network without a start-up.
    start_up: Option<StartUps>,
}

/// A node's station.
struct Station {
    machine: TdmaStation<HandedDown>,
    /// The stream of the frames by which it opens cycles.
    synchronisation: Option<StreamIndex>,
    /// Picoseconds after the nanoseconds of its last request's departure, by which it knows the reply.
    asked_below_ns: u16,
}

impl<'n> Tdma<'n> {
    /// `only`: the node that is here, if not all are; `slots`: what is observed of the slots of all of them.
    fn new(
        network: &'n Network,
        clocks: &[LocalClock],
        seed: u64,
        only: Option<NodeIndex>,
        slots: Arc<Mutex<Option<SlotUse>>>,
    ) -> Self {
        let is_here = |node: usize| only.is_none_or(|only| only.index() == node);
        let synchronises = |stream: &tautwire_model::network::Stream| {
            matches!(stream.traffic, Traffic::Synchronisation { .. })
        };
        let station = |node: usize| {
            let config = network.tdma_station(NodeIndex::at(node)).filter(|_| is_here(node))?;
            let mut streams = network.streams.iter();
            let own = streams.position(|stream| stream.talker.index() == node && synchronises(stream));
            let machine = TdmaStation::new(config, clocks[node].local(SimTime::ZERO));
            Some(Station { machine, synchronisation: own.map(StreamIndex::at), asked_below_ns: 0 })
        };
        slots.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| SlotUse::new(network));
        Self {
            network,
            clocks: clocks.to_vec(),
            up: (0..clocks.len()).map(is_here).collect(),
            only,
            stations: (0..network.nodes.len()).map(station).collect(),
            slots,
            start_up: StartUps::new(network, clocks, seed),
        }
    }

    fn slots(&self) -> Slots<'_> {
        Slots(self.slots.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The stations act.
    fn drive_stations(&mut self, plane: &mut dyn Plane) {
        let (network, now) = (self.network, plane.now());
        for node in 0..self.stations.len() {
            let local = self.clocks[node].local(now);
            while let Some(station) = &mut self.stations[node]
                && let Some(action) = station.machine.act(local)
            {
                let stream = station.synchronisation;
                let slot = station.machine.slot_taken();
                match action {
                    TdmaAction::Pass => self.slots().get().passed(node, slot, now),
                    TdmaAction::Expire(frame) => self.give_up(frame, node, DropReason::Expired, plane),
                    TdmaAction::Transmit(frame) => {
                        let mut slots = self.slots();
                        slots.get().used(node, slot, now);
                        slots.get().left(frame, (network, node), plane);
                        drop(slots);
                        plane.hand_on(frame);
                    }
                    TdmaAction::Calibrate(request) => {
                        self.slots().get().used(node, slot, now);
                        station_asked(&mut self.stations[node], request);
                        self.send_request(node, request, plane);
                    }
                    TdmaAction::Reply(reply) => self.send_reply(reply, plane),
                    TdmaAction::Synchronise(opening) => {
                        let stream = stream.expect("who opens cycles has a stream for it");
                        self.synchronise(stream, opening, plane);
                    }
                }
            }
        }
    }

    /// The streams of frames that open cycles, wherever their stations are.
    fn openers(&self) -> Vec<StreamIndex> {
        let tdma = self.network.tdma.iter();
        tdma.flat_map(|tdma| {
            [tdma.synchronisation].into_iter().chain(tdma.standby.map(|standby| standby.synchronisation))
        })
        .collect()
    }

    /// Adds to a frame from a real interface its sender and its recipients, by stream and addresses; false if it is for no station.
    fn complete_from_interface(&self, stream: StreamIndex, frame: &mut Frame) -> bool {
        let start_up = self.network.tdma.as_ref().and_then(|tdma| tdma.start_up.as_ref());
        let Some(start_up) = start_up.filter(|_| !self.openers().contains(&stream)) else { return true };
        let own = &self.network.streams[stream.index()];
        let number =
            |node: NodeIndex| start_up.stations.iter().position(|station| station.node == node).map(index);
        let Some(from) = number(own.talker) else { return false };
        let back = start_up
            .stations
            .iter()
            .position(|station| station.with_master.is_some_and(|(_, back)| back == stream));
        let is_to_all = start_up.stations.iter().any(|station| station.to_all == stream);
        let destination = frame.addresses.map_or(own.destination, |addresses| addresses.destination);
        let to = if !is_to_all {
            Some(back.map_or(0, index))
        } else if destination == own.destination {
            Some(NONE)
        } else {
            let physical = |station: &StartUpStation| self.network.streams[station.to_all.index()].source;
            start_up.stations.iter().position(|station| physical(station) == destination).map(index)
        };
        let Some(to) = to else { return false };
        let asked = self.only.and_then(|node| self.stations[node.index()].as_ref());
        frame.metadata = Metadata { from, to, below_ns: [0; 3] };
        if frame.ether_type == EtherType::RTMAC && to != 0 {
            frame.metadata.below_ns[0] = asked.map_or(0, |station| station.asked_below_ns);
        }
        true
    }

    fn synchronise(&mut self, stream: StreamIndex, opening: Synchronisation, plane: &mut dyn Plane) {
        self.slots().get().opened(self.network, opening, (stream.0, plane.now()));
        plane.note(stream, None, Box::new(opening));
        let payload = self.network.streams[stream.index()].payload_min;
        plane.send(stream, frames::synchronisation(opening), payload);
    }

    /// The kind of a frame that a station takes.
    fn traffic(&self, stream: StreamIndex) -> TdmaTraffic {
        match self.network.streams[stream.index()].traffic {
            Traffic::Protocol => TdmaTraffic::Management,
            _ if self.network.is_real_time(stream) => TdmaTraffic::RealTime,
            _ => TdmaTraffic::Ordinary,
        }
    }

    /// Gives a frame to the station of a node.
    fn offer(&mut self, frame: HandedDown, node: usize, ready: SimTime, plane: &mut dyn Plane) {
        let (local, traffic) = (self.clocks[node].local(ready), self.traffic(frame.stream));
        let station = self.stations[node].as_mut().expect("a node with a station");
        let taken = station.machine.enqueue(local, frame, traffic);
        if !self.up[node] {
            self.stop(node, plane);
        } else if taken.is_err() {
            plane.give_up(frame, DropReason::HostQueueFull);
        }
    }

    /// A node does not run: what its station holds is lost.
    fn stop(&mut self, node: usize, plane: &mut dyn Plane) {
        let Some(station) = &mut self.stations[node] else { return };
        let lost: Vec<HandedDown> = station.machine.reset().collect();
        for frame in lost {
            self.give_up(frame, node, DropReason::NodeDown, plane);
        }
    }

    /// A frame that waits in a node's station never leaves it.
    fn give_up(&mut self, frame: HandedDown, node: usize, reason: DropReason, plane: &mut dyn Plane) {
        self.slots().get().given_up(frame, (self.network, node), plane);
        plane.give_up(frame, reason);
    }

    /// A master is back: without a standby no other station opens cycles.
    fn reopen_cycles(&mut self, node: NodeIndex, now: SimTime) {
        let network = self.network;
        let Some(tdma) = network.tdma.as_ref().filter(|tdma| tdma.standby.is_none()) else { return };
        if network.streams[tdma.synchronisation.index()].talker == node
            && let Some(station) = &mut self.stations[node.index()]
        {
            station.machine.reopen(self.clocks[node.index()].local(now));
        }
    }

    /// A node's station has received a frame of TDMA.
    fn take_tdma(&mut self, node: usize, frame: &Frame, now: SimTime) {
        let local = self.clocks[node].local(now);
        let Some(station) = &mut self.stations[node] else { return };
        match frames::read_tdma(frame) {
            Some(TdmaMessage::Synchronisation(heard)) => station.machine.hear(local, heard),
            Some(TdmaMessage::Request(request)) => station.machine.asked(local, frame.metadata.from, request),
            Some(TdmaMessage::Reply(reply)) => {
                station.machine.hear_reply(local, reply);
                self.take_reply(node, now);
            }
            None => {}
        }
    }
}

impl Runner for Tdma<'_> {
    fn streams(&self) -> Vec<u32> {
        let of_start_up = self.network.tdma.iter().filter_map(|tdma| tdma.start_up.as_ref());
        let started = of_start_up.flat_map(|start_up| start_up.streams());
        self.openers().into_iter().chain(started).map(|stream| stream.0).collect()
    }

    fn carried(&self) -> Vec<(u32, EtherType)> {
        let mut carried: Vec<(StreamIndex, EtherType)> =
            self.openers().into_iter().map(|stream| (stream, EtherType::RTMAC)).collect();
        let of_start_up = self.network.tdma.iter().filter_map(|tdma| tdma.start_up.as_ref());
        for station in of_start_up.flat_map(|start_up| &start_up.stations) {
            carried.push((station.to_all, EtherType::RTCFG));
            for stream in station.with_master.into_iter().flat_map(|(there, back)| [there, back]) {
                carried.extend([EtherType::RTCFG, EtherType::RTMAC].map(|of_frame| (stream, of_frame)));
            }
        }
        carried.into_iter().map(|(stream, of_frame)| (stream.0, of_frame)).collect()
    }

    fn ether_types(&self) -> Vec<EtherType> {
        vec![EtherType::RTMAC, EtherType::RTCFG]
    }

    fn complete(&self, stream: u32, frame: &mut Frame) -> bool {
        self.complete_from_interface(StreamIndex(stream), frame)
    }

    fn leaves_late(&mut self, port: PortIndex, octets: &mut [u8], late: Duration) {
        let station = self.stations[self.network.ports[port.index()].node.index()].as_mut();
        frames::delay_departure(octets, late, |late| {
            if let Some(station) = station {
                station.machine.asked_late(late);
            }
        });
    }

    fn corrected(&self, clocks: &[LocalClock]) -> Vec<Option<DisciplinedClock>> {
        vec![None; clocks.len()]
    }

    fn takes_from(&self) -> Vec<NodeIndex> {
        let stations = self.stations.iter().enumerate();
        stations.filter_map(|(node, station)| station.as_ref().map(|_| NodeIndex::at(node))).collect()
    }

    fn begins(&self) -> Vec<StreamIndex> {
        let network = self.network;
        let awaits = |(number, stream)| awaits_start_up(network, stream).then(|| StreamIndex::at(number));
        network.streams.iter().enumerate().filter_map(awaits).collect()
    }

    fn next(&self) -> Option<SimTime> {
        let deadlines =
            self.stations.iter().zip(&self.clocks).filter_map(|(station, clock)| {
                station.as_ref()?.machine.deadline().map(|at| clock.true_at(at))
            });
        let living = |node: usize| self.up[node].then(|| self.clocks[node]);
        let started = self.start_up.as_ref().and_then(|start_up| start_up.next(living));
        deadlines.chain(started).min()
    }

    fn drive(&mut self, plane: &mut dyn Plane) -> bool {
        self.drive_start_up(plane);
        self.drive_stations(plane);
        false
    }

    fn left(&mut self, _: Departure, _: &dyn Plane) -> bool {
        true
    }

    fn pass(&self, _: &Passing<'_>, _: &dyn Plane) -> Option<Vec<u8>> {
        None
    }

    fn received(&mut self, _: u32, port: PortIndex, arrived: Arrived, plane: &dyn Plane) {
        let node = self.network.ports[port.index()].node.index();
        match arrived.frame.ether_type {
            EtherType::RTMAC => self.take_tdma(node, &arrived.frame, plane.now()),
            EtherType::RTCFG => self.take_start_up(node, &arrived.frame, plane.now()),
            _ => {}
        }
    }

    fn fail(&mut self, _: NodeIndex, _: Fault, _: &dyn Plane) {}

    fn links(&mut self, _: [PortIndex; 2], _: &mut dyn Plane) {}

    fn node(&mut self, node: NodeIndex, up: bool, plane: &mut dyn Plane) {
        self.up[node.index()] = up;
        if up {
            self.reopen_cycles(node, plane.now());
        } else {
            self.stop(node.index(), plane);
        }
        self.start_up_node(node, up, plane);
    }

    fn handed_down(
        &mut self,
        frame: HandedDown,
        node: NodeIndex,
        ready: SimTime,
        plane: &mut dyn Plane,
    ) -> bool {
        self.offer(frame, node.index(), ready, plane);
        // A frame that waits without end changes no deadline.
        self.network.tdma.as_ref().is_some_and(|tdma| tdma.lifetime.is_some())
    }

    fn answers(&mut self, stream: StreamIndex, number: u32, to: StreamIndex) {
        self.slots().get().answers(stream.0, number, to.0);
    }

    fn held(&self) -> Vec<HandedDown> {
        self.stations.iter().flatten().flat_map(|station| station.machine.waiting()).collect()
    }

    fn finish(self: Box<Self>, observation: &mut Observation) {
        let travel = |node: usize| {
            self.stations[node].as_ref().map(|station| station.machine.travel()).unwrap_or_default()
        };
        let start_up = self.start_up.as_ref().map(|start_up| start_up.observations(self.only, travel));
        observation.start_up = start_up.unwrap_or_default();
        // The first of several nodes gives what was seen of all.
        if let Some(mut slots) = self.slots.lock().unwrap_or_else(PoisonError::into_inner).take() {
            observation.takeover = slots.takeover;
            (observation.slots, observation.cycles) = slots.finish();
        }
    }
}

/// What is observed of slots, for one who adds to it.
struct Slots<'s>(MutexGuard<'s, Option<SlotUse>>);

impl Slots<'_> {
    fn get(&mut self) -> &mut SlotUse {
        self.0.as_mut().expect("it is given away at the end alone")
    }
}

/// A station has made a request of the calibration.
fn station_asked(station: &mut Option<Station>, request: CalibrationRequest) {
    if let Some(station) = station {
        station.asked_below_ns = frames::below_ns(request.transmitted);
    }
}
