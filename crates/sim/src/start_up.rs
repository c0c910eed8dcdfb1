//! The start-up of a TDMA network in a run: messages of RTcfg and of the calibration, in slots, before any stream begins.
//!
//! A message is a frame of its station's own stream and waits for a slot like any other; a host takes its two delays
//! between a message and what follows from it. Requests and replies of the calibration leave at once, for they are made
//! in their slots, and are stamped at the interface. When a station runs its streams begin, as if started then. A node that
//! stops stops its streams; when it is back its station starts up anew, and what ran before begins again at the end of that.

use std::collections::BTreeMap;

use tautwire_core::tdma::start_up::{Addressee, StartUp, StartUpMessage, StartUpPhase};
use tautwire_core::tdma::{CalibrationReply, CalibrationRequest};
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, NodeKind, Stream, StreamIndex};
use tautwire_model::tdma::start_up::StartUp as Settings;
use tautwire_units::{Bytes, Duration};

use crate::clock::{LocalClock, SimTime};
use crate::control::contents::Frame;
use crate::engine::Engine;
use crate::frame::{Aim, Slot};
use crate::plan::{NONE, index};
use crate::random::{Purpose, Random};
use crate::recorder::Recorder;
use crate::result::DropReason;
use crate::rtnet::{self, TdmaMessage};

/// The least payload of a frame.
const PAYLOAD_MIN: usize = 46;

/// What was observed of a station's start-up.
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
    /// How often it was heard to be declared dead, by the master that says so.
    pub declared_dead: u32,
}

/// The start-up of a run.
pub(crate) struct StartUps {
    stations: Vec<Station>,
    /// Messages that hosts have still to look at: station, from whom.
    inbox: BTreeMap<(SimTime, u64), (u32, u32, StartUpMessage)>,
    told: u64,
    random: Random,
}

struct Station {
    node: NodeIndex,
    machine: StartUp,
    calibrates: bool,
    running_at: Option<SimTime>,
    /// Whether it runs now; what ran when its node stopped.
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
            told: 0,
            random: Random::new(seed, Purpose::StartUp, 0),
        })
    }

    /// When something is to be done next.
    pub(crate) fn next(&self, living: impl Fn(usize) -> Option<LocalClock>) -> Option<SimTime> {
        let told = self.inbox.first_key_value().map(|((at, _), _)| *at);
        let due = |station: &Station| {
            let clock = living(station.node.index())?;
            station.machine.deadline().map(|at| clock.true_at(at))
        };
        self.stations.iter().filter_map(due).chain(told).min()
    }

    /// What was observed; `travel` tells the travel time that a node's station reckons with.
    pub(crate) fn observations(&self, travel: impl Fn(usize) -> Duration) -> Vec<StartUpObservation> {
        let of = |station: &Station| StartUpObservation {
            node: station.node,
            known: index(station.machine.known()),
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

/// Whether a stream begins only when its talker has started up.
pub(crate) fn awaits_start_up(network: &Network, stream: &Stream) -> bool {
    let starts_up = network.tdma.as_ref().is_some_and(|tdma| tdma.start_up.is_some());
    starts_up && !stream.traffic.is_control()
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    fn start_ups(&mut self) -> &mut StartUps {
        self.driven().start_up.as_mut().expect("a start-up")
    }

    fn start_up_settings(&self) -> &Settings {
        let tdma = self.network.tdma.as_ref().expect("a start-up is one of TDMA");
        tdma.start_up.as_ref().expect("a start-up")
    }

    /// Does all that the start-up has to do now.
    #[cold]
    pub(crate) fn drive_start_up(&mut self) {
        if self.driven().start_up.is_none() {
            return;
        }
        let now = self.now;
        while let Some(entry) = self.start_ups().inbox.first_entry().filter(|entry| entry.key().0 <= now) {
            let (station, from, message) = entry.remove();
            let node = self.start_ups().stations[station as usize].node;
            let local = self.nodes[node.index()].clock.local(now);
            if self.nodes[node.index()].up {
                self.start_ups().stations[station as usize].machine.hear(local, from, message);
            }
        }
        for station in 0..self.start_ups().stations.len() {
            self.drive_station_start(station);
        }
    }

    fn drive_station_start(&mut self, number: usize) {
        let (now, network) = (self.now, self.network);
        let node = self.start_ups().stations[number].node;
        let local = self.nodes[node.index()].clock.local(now);
        if !self.nodes[node.index()].up {
            return;
        }
        let rounds = self.start_up_settings().calibrations;
        let station = &mut self.start_ups().stations[number];
        station.machine.act(local);
        if station.machine.phase() == StartUpPhase::Calibrating && !station.calibrates {
            station.calibrates = true;
            self.driven().calibrate(node, rounds);
            self.end_calibration(number);
        }
        while let Some((to, message)) = self.start_ups().stations[number].machine.poll() {
            self.say(number, to, message);
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
                self.start_stream(stream, None);
            }
        }
    }

    /// The node of a station stops, with its streams, or is back and starts up anew.
    pub(crate) fn start_up_node(&mut self, node: NodeIndex, up: bool) {
        let network = self.network;
        let local = self.nodes[node.index()].clock.local(self.now);
        let Some(start_up) = &mut self.driven().start_up else { return };
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
            if stream.talker == node && awaits_start_up(network, stream) && self.talkers[place].running {
                self.talkers[place].running = false;
                stopped.push(StreamIndex::at(place));
            }
        }
        if !stopped.is_empty() {
            self.start_ups().stations[number].paused = stopped;
        }
    }

    /// A station that calibrates no more goes on.
    fn end_calibration(&mut self, number: usize) {
        let node = self.start_ups().stations[number].node;
        let local = self.nodes[node.index()].clock.local(self.now);
        if !self.driven().is_calibrating(node) {
            self.start_ups().stations[number].machine.calibrated(local);
        }
    }

    /// Gives a message to the station's slots.
    fn say(&mut self, number: usize, to: Addressee, message: StartUpMessage) {
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
        let frame = rtnet::start_up(self.network, settings, (number, to), message);
        let (place, aim) = self.start_up_frame(stream, frame);
        let Some(aim) = aim else { return self.drop_at_talker(place, DropReason::NoRoute) };
        let now = self.now;
        self.offer_to_station(place, own.node.index(), now, aim);
    }

    /// A frame of the start-up, and where its host sends it.
    fn start_up_frame(&mut self, stream: StreamIndex, frame: Frame) -> (u32, Option<Aim>) {
        let payload = Bytes::new(frame.octets.len().max(PAYLOAD_MIN) as u64);
        self.make_frame(stream.0, frame, payload)
    }

    /// A station asks the master how long frames travel, now.
    pub(crate) fn send_request(&mut self, node: usize, request: CalibrationRequest) {
        let number = self.start_ups().at_node(node).expect("who calibrates starts up");
        let (there, _) = self.start_up_settings().stations[number].with_master.expect("no master calibrates");
        self.send_calibration(there, rtnet::calibration_request(index(number), request));
    }

    /// The master replies, now.
    pub(crate) fn send_reply(&mut self, reply: CalibrationReply) {
        let station = self.start_up_settings().stations[reply.to as usize];
        let (_, back) = station.with_master.expect("the master does not ask");
        self.send_calibration(back, rtnet::calibration_reply(reply));
    }

    fn send_calibration(&mut self, stream: StreamIndex, frame: Frame) {
        let (place, aim) = self.start_up_frame(stream, frame);
        match aim {
            Some(aim) => self.take_aim(place, aim),
            None => self.drop_at_talker(place, DropReason::NoRoute),
        }
    }

    /// A message of the start-up was delivered: its station has it to look at, if it is for it.
    pub(crate) fn take_start_up(&mut self, slot: &Slot, listener: u32, frame: &Frame, time: SimTime) {
        let network = self.network;
        let node = network.streams[slot.stream as usize].listeners[listener as usize].index();
        let Some(station) = self.start_ups().at_node(node).map(index) else { return };
        let Some(message) = rtnet::read_start_up(self.start_up_settings(), frame) else { return };
        let NodeKind::EndStation { host } = &network.nodes[node].kind else { return };
        if frame.beside.to != NONE && frame.beside.to != station {
            return;
        }
        let host = &network.hosts[host.index()];
        let start_up = self.start_ups();
        let octets = u64::from(slot.payload);
        let taken =
            start_up.random.delay(&host.receive, octets) + start_up.random.delay(&host.transmit, octets);
        start_up.told += 1;
        let key = (time + taken, start_up.told);
        start_up.inbox.insert(key, (station, frame.beside.from, message));
        self.arm_timeline();
    }

    /// The master was asked, or its reply has come to who asked.
    pub(crate) fn take_calibration(&mut self, node: usize, from: u32, message: TdmaMessage, time: SimTime) {
        let local = self.nodes[node].clock.local(time);
        match message {
            TdmaMessage::Request(request) => self.driven().ask(node, local, from, request),
            TdmaMessage::Reply(reply) => {
                self.driven().hear_reply(node, local, reply);
                if let Some(station) = self.start_ups().at_node(node) {
                    self.end_calibration(station);
                }
            }
            TdmaMessage::Synchronisation(_) => {}
        }
        self.arm_timeline();
    }
}
