//! The start-up of a TDMA network in a run: messages of RTcfg and of the calibration, in slots, before any stream begins.
//!
//! A message is a frame of its station's own stream and waits for a slot like any other; a host takes its two delays
//! between a message and its effects. Requests and replies of the calibration leave at once, because they are made in
//! their slots, and are stamped at the interface. When a station runs its streams begin, as if started then. A node
//! that stops stops its streams; when it is back its station starts up anew, and its earlier streams begin again at
//! the end of that.

use std::collections::BTreeMap;

use tautwire_core::control::Addresses;
use tautwire_core::tdma::start_up::{Addressee, StartUp, StartUpMessage, StartUpPhase};
use tautwire_core::tdma::{CalibrationReply, CalibrationRequest};
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, NodeKind, Stream, StreamIndex};
use tautwire_model::tdma::start_up::StartUp as Settings;
use tautwire_units::{Bytes, Duration, Instant};

use super::{Tdma, frames};
use crate::clock::{LocalClock, SimTime};
use crate::control::contents::Frame;
use crate::control::{HandedDown, Plane};
use crate::plan::{NONE, index};
use crate::random::{Purpose, Random};

/// The least payload of a frame.
const PAYLOAD_MIN: usize = 46;

/// Observations of a station's start-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartUpObservation {
    /// The node.
    pub node: NodeIndex,
    /// How many stations its table of addresses holds at the end of the run, its own among them.
    pub known: u32,
    /// How long a synchronisation frame travels to it, as calibration found; zero of the master.
    pub travel: Duration,
    /// When its streams began, the last time if it came back; true time since the start; none if they did not.
    pub running_at: Option<Duration>,
    /// How often it has come back and run again.
    pub returns: u32,
    /// How often it was declared dead, by the master's messages.
    pub declared_dead: u32,
}

/// The start-up of a run.
pub(crate) struct StartUps {
    stations: Vec<Station>,
    /// Messages that hosts have not processed yet: station, sender.
    inbox: BTreeMap<(SimTime, u64), (u32, u32, StartUpMessage)>,
    received: u64,
    /// When a station ended its calibration and has not been asked yet what it says then: it waits for no other event.
    calibrated_at: Option<SimTime>,
    random: Random,
}

struct Station {
    node: NodeIndex,
    machine: StartUp,
    calibrates: bool,
    running_at: Option<SimTime>,
    /// Whether it runs now; and the streams that ran when its node stopped.
    runs: bool,
    paused: Vec<StreamIndex>,
    returns: u32,
    declared_dead: u32,
}

impl StartUps {
    /// None in a network without a start-up.
    pub(crate) fn new(network: &Network, clocks: &[LocalClock], seed: u64) -> Option<Self> {
        let settings = network.tdma.as_ref()?.start_up.as_ref()?;
        let station = |(number, config)| {
            let node = settings.stations[number as usize].node;
            let machine = StartUp::new(config, clocks[node.index()].local(SimTime::ZERO));
            Station {
                node,
                machine,
                calibrates: false,
                running_at: None,
                runs: false,
                paused: Vec::new(),
                returns: 0,
                declared_dead: 0,
            }
        };
        Some(Self {
            stations: (0_u32..).zip(network.start_up_stations()).map(station).collect(),
            inbox: BTreeMap::new(),
            received: 0,
            calibrated_at: None,
            random: Random::new(seed, Purpose::StartUp, 0),
        })
    }

    /// When something is to be done next.
    pub(crate) fn next(&self, living: impl Fn(usize) -> Option<LocalClock>) -> Option<SimTime> {
        let received = self.inbox.first_key_value().map(|((at, _), _)| *at);
        let due = |station: &Station| {
            let clock = living(station.node.index())?;
            station.machine.deadline().map(|at| clock.true_at(at))
        };
        self.stations.iter().filter_map(due).chain(received).chain(self.calibrated_at).min()
    }

    /// The observations; `travel` gives the travel time that a node's station uses. If only one node is here, those of other stations
    /// have what it observed of them.
    pub(crate) fn observations(
        &self,
        only: Option<NodeIndex>,
        travel: impl Fn(usize) -> Duration,
    ) -> Vec<StartUpObservation> {
        let is_here = |station: &Station| only.is_none_or(|only| only == station.node);
        let of = |station: &Station| StartUpObservation {
            node: station.node,
            known: if is_here(station) { index(station.machine.known()) } else { 0 },
            travel: travel(station.node.index()),
            running_at: station.running_at.map(SimTime::since_start),
            returns: station.returns,
            declared_dead: station.declared_dead,
        };
        self.stations.iter().map(of).collect()
    }

    fn at_node(&self, node: usize) -> Option<usize> {
        self.stations.iter().position(|station| station.node.index() == node)
    }
}

impl StartUpObservation {
    /// Adds what another station observed of this one, or this one of itself.
    pub(crate) fn join(&mut self, other: &Self) {
        self.known = self.known.max(other.known);
        self.travel = self.travel.max(other.travel);
        self.running_at = self.running_at.max(other.running_at);
        self.returns += other.returns;
        self.declared_dead += other.declared_dead;
    }
}

/// Whether a stream begins only when its talker has started up.
pub(crate) fn awaits_start_up(network: &Network, stream: &Stream) -> bool {
    let starts_up = network.tdma.as_ref().is_some_and(|tdma| tdma.start_up.is_some());
    starts_up && !stream.traffic.is_control()
}

impl Tdma<'_> {
    fn start_ups(&mut self) -> &mut StartUps {
        self.start_up.as_mut().expect("a start-up")
    }

    fn start_up_settings(&self) -> &Settings {
        let tdma = self.network.tdma.as_ref().expect("a start-up is one of TDMA");
        tdma.start_up.as_ref().expect("a start-up")
    }

    /// Does all that the start-up has to do now.
    pub(super) fn drive_start_up(&mut self, plane: &mut dyn Plane) {
        let Some(start_up) = &mut self.start_up else { return };
        let now = plane.now();
        start_up.calibrated_at = None;
        while let Some(entry) = start_up.inbox.first_entry().filter(|entry| entry.key().0 <= now) {
            let (station, from, message) = entry.remove();
            let station = &mut start_up.stations[station as usize];
            let node = station.node.index();
            if self.up[node] {
                station.machine.hear(self.clocks[node].local(now), from, message);
            }
        }
        for station in 0..start_up.stations.len() {
            self.drive_station_start(station, plane);
        }
    }

    fn drive_station_start(&mut self, number: usize, plane: &mut dyn Plane) {
        let (now, network) = (plane.now(), self.network);
        let node = self.start_ups().stations[number].node;
        let local = self.clocks[node.index()].local(now);
        if !self.up[node.index()] {
            return;
        }
        let rounds = self.start_up_settings().calibrations;
        let station = &mut self.start_ups().stations[number];
        station.machine.act(local);
        if station.machine.phase() == StartUpPhase::Calibrating && !station.calibrates {
            station.calibrates = true;
            if let Some(station) = &mut self.stations[node.index()] {
                station.machine.calibrate(rounds);
            }
            self.end_calibration(node.index(), local);
        }
        while let Some((to, message)) = self.start_ups().stations[number].machine.poll() {
            self.send_message(number, to, message, plane);
        }
        let station = &mut self.start_ups().stations[number];
        if station.machine.phase() == StartUpPhase::Running && !station.runs {
            let again = station.running_at.replace(now).is_some();
            (station.runs, station.returns) = (true, station.returns + u32::from(again));
            let own = |(place, stream): (usize, &Stream)| {
                let begins = stream.talker == node && stream.started && awaits_start_up(network, stream);
                begins.then(|| StreamIndex::at(place))
            };
            let begin = match again {
                true => std::mem::take(&mut station.paused),
                false => network.streams.iter().enumerate().filter_map(own).collect(),
            };
            for stream in begin {
                plane.start_stream(stream, None);
            }
        }
    }

    /// The node of a station stops, with its streams, or is back and starts up anew.
    pub(super) fn start_up_node(&mut self, node: NodeIndex, up: bool, plane: &mut dyn Plane) {
        let network = self.network;
        let local = self.clocks[node.index()].local(plane.now());
        let Some(start_up) = &mut self.start_up else { return };
        let Some(number) = start_up.at_node(node.index()) else { return };
        let station = &mut start_up.stations[number];
        station.runs = false;
        if up {
            station.machine.restart(local);
            station.calibrates = false;
            return;
        }
        let mut stopped = Vec::new();
        for (place, stream) in network.streams.iter().enumerate() {
            let own = StreamIndex::at(place);
            if stream.talker == node && awaits_start_up(network, stream) && plane.is_sending(own) {
                plane.stop_stream(own);
                stopped.push(own);
            }
        }
        if !stopped.is_empty() {
            station.paused = stopped;
        }
    }

    /// The station of a node has a reply of the calibration: if that was the last one, it goes on at once.
    pub(super) fn take_reply(&mut self, node: usize, now: SimTime) {
        self.end_calibration(node, self.clocks[node].local(now));
        if let Some(start_up) = &mut self.start_up {
            start_up.calibrated_at = Some(now);
        }
    }

    /// The station of a node goes on if it calibrates no more.
    fn end_calibration(&mut self, node: usize, local: Instant) {
        let calibrates = self.stations[node].as_ref().is_some_and(|station| station.machine.is_calibrating());
        let number = self.start_up.as_ref().and_then(|start_up| start_up.at_node(node));
        if let Some(number) = number.filter(|_| !calibrates) {
            self.start_ups().stations[number].machine.calibrated(local);
        }
    }

    /// Gives a message to the station's slots.
    fn send_message(&mut self, number: usize, to: Addressee, message: StartUpMessage, plane: &mut dyn Plane) {
        if let StartUpMessage::Dead { station } = message
            && to == Addressee::All
        {
            self.start_ups().stations[station as usize].declared_dead += 1;
        }
        let settings = self.start_up_settings();
        let own = settings.stations[number];
        // Answers to the new station go to all: stations have a stream to all and one to the master.
        let stream = match (to, own.with_master) {
            (Addressee::Station(0), Some((there, _))) => there,
            (Addressee::Station(other), None) => {
                settings.stations[other as usize].with_master.map_or(own.to_all, |(_, back)| back)
            }
            _ => own.to_all,
        };
        let mut frame = frames::start_up(self.network, settings, (number, to), message);
        if let Addressee::Station(other) = to
            && stream == own.to_all
        {
            let physical = |stream: StreamIndex| self.network.streams[stream.index()].source;
            let destination = physical(settings.stations[other as usize].to_all);
            frame.addresses = Some(Addresses { destination, source: physical(stream) });
        }
        let payload = payload_of(&frame);
        let made: Option<HandedDown> = plane.make_handed_down(stream, frame, payload);
        if let Some(frame) = made {
            self.offer(frame, own.node.index(), plane.now(), plane);
        }
    }

    /// A station sends the master a request to measure the travel time of frames, now.
    pub(super) fn send_request(&mut self, node: usize, request: CalibrationRequest, plane: &mut dyn Plane) {
        let number = self.start_ups().at_node(node).expect("who calibrates starts up");
        let (there, _) = self.start_up_settings().stations[number].with_master.expect("no master calibrates");
        let frame = frames::calibration_request(index(number), request);
        let payload = payload_of(&frame);
        plane.send(there, frame, payload);
    }

    /// The master replies, now.
    pub(super) fn send_reply(&self, reply: CalibrationReply, plane: &mut dyn Plane) {
        let station = self.start_up_settings().stations[reply.to as usize];
        let (_, back) = station.with_master.expect("the master does not ask");
        let frame = frames::calibration_reply(reply);
        let payload = payload_of(&frame);
        plane.send(back, frame, payload);
    }

    /// A message of the start-up was delivered: its station is to process it, if it is the recipient.
    pub(super) fn take_start_up(&mut self, node: usize, frame: &Frame, now: SimTime) {
        let network = self.network;
        let Some(station) = self.start_ups().at_node(node).map(index) else { return };
        let Some(message) = frames::read_start_up(self.start_up_settings(), frame) else { return };
        let NodeKind::EndStation { host } = &network.nodes[node].kind else { return };
        if frame.metadata.to != NONE && frame.metadata.to != station {
            return;
        }
        let host = &network.hosts[host.index()];
        let start_up = self.start_ups();
        let octets = payload_of(frame).get();
        let taken =
            start_up.random.delay(&host.receive, octets) + start_up.random.delay(&host.transmit, octets);
        start_up.received += 1;
        let key = (now + taken, start_up.received);
        start_up.inbox.insert(key, (station, frame.metadata.from, message));
    }
}

/// Octets behind a frame's type, with what pads it.
fn payload_of(frame: &Frame) -> Bytes {
    Bytes::new(frame.octets.len().max(PAYLOAD_MIN) as u64)
}
