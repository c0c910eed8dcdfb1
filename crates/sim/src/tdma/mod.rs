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

use tautwire_core::gptp::DisciplinedClock;
use tautwire_core::tdma::{Synchronisation, TdmaAction, TdmaStation, TdmaTraffic};
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex, Traffic};
use tautwire_wire::EtherType;

use crate::clock::{LocalClock, SimTime};
use crate::control::contents::{Arrived, Frame};
use crate::control::{Attached, Departure, Fault, HandedDown, Make, Passing, Plane, Runner};
use crate::result::{DropReason, Observation};

pub use cycles::{CycleObservation, CyclesObservation, SlotFate};
use frames::TdmaMessage;
pub use slot_use::MissedSlot;
use slot_use::SlotUse;
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
        Box::new(Tdma::new(self.network, clocks, seed))
    }
}

/// RTnet of a run.
struct Tdma<'n> {
    network: &'n Network,
    clocks: Vec<LocalClock>,
    /// Per node: whether it runs.
    up: Vec<bool>,
    /// Per node.
    stations: Vec<Option<Station>>,
    slots: SlotUse,
    /// None in a network without a start-up.
    start_up: Option<StartUps>,
}

/// A node's station.
struct Station {
    machine: TdmaStation<HandedDown>,
    /// The stream of the frames by which it opens cycles.
    synchronisation: Option<StreamIndex>,
}

impl<'n> Tdma<'n> {
    fn new(network: &'n Network, clocks: &[LocalClock], seed: u64) -> Self {
        let synchronises = |stream: &tautwire_model::network::Stream| {
            matches!(stream.traffic, Traffic::Synchronisation { .. })
        };
        let station = |node: usize| {
            let config = network.tdma_station(NodeIndex::at(node))?;
            let mut streams = network.streams.iter();
            let own = streams.position(|stream| stream.talker.index() == node && synchronises(stream));
            let machine = TdmaStation::new(config, clocks[node].local(SimTime::ZERO));
            Some(Station { machine, synchronisation: own.map(StreamIndex::at) })
        };
        Self {
            network,
            clocks: clocks.to_vec(),
            up: vec![true; clocks.len()],
            stations: (0..network.nodes.len()).map(station).collect(),
            slots: SlotUse::new(network),
            start_up: StartUps::new(network, clocks, seed),
        }
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
                    TdmaAction::Pass => self.slots.passed(node, slot, now),
                    TdmaAction::Expire(frame) => self.give_up(frame, node, DropReason::Expired, plane),
                    TdmaAction::Transmit(frame) => {
                        self.slots.used(node, slot, now);
                        self.slots.left(frame, (network, node), plane);
                        plane.hand_on(frame);
                    }
                    TdmaAction::Calibrate(request) => {
                        self.slots.used(node, slot, now);
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

    fn synchronise(&mut self, stream: StreamIndex, opening: Synchronisation, plane: &mut dyn Plane) {
        self.slots.opened(self.network, opening, (stream.0, plane.now()));
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
        self.slots.given_up(frame, (self.network, node), plane);
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
                self.end_calibration(node, local);
            }
            None => {}
        }
    }
}

impl Runner for Tdma<'_> {
    fn streams(&self) -> Vec<u32> {
        let openers = self.stations.iter().flatten().filter_map(|station| station.synchronisation);
        let started = self.network.tdma.iter().filter_map(|tdma| tdma.start_up.as_ref());
        openers.chain(started.flat_map(|start_up| start_up.streams())).map(|stream| stream.0).collect()
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
        self.slots.answers(stream.0, number, to.0);
    }

    fn held(&self) -> Vec<HandedDown> {
        self.stations.iter().flatten().flat_map(|station| station.machine.waiting()).collect()
    }

    fn finish(mut self: Box<Self>, observation: &mut Observation) {
        let travel = |node: usize| {
            self.stations[node].as_ref().map(|station| station.machine.travel()).unwrap_or_default()
        };
        let start_up = self.start_up.as_ref().map(|start_up| start_up.observations(travel));
        observation.start_up = start_up.unwrap_or_default();
        observation.takeover = self.slots.takeover;
        (observation.slots, observation.cycles) = self.slots.finish();
    }
}
