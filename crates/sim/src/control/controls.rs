//! Where the event loop meets the hosts of a run's mechanisms.
//!
//! While a host acts it is out of its place, so nothing that would lead back to it is done meanwhile: frames that it sends go their way
//! when it is back.

use std::collections::VecDeque;
use std::rc::Rc;

use tautwire_core::TrafficClass;
use tautwire_core::gptp::DisciplinedClock;
use tautwire_core::tdma::Synchronisation;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};
use tautwire_units::{BitRate, Bytes, Instant};

use super::contents::{Arrived, Frame};
use super::host::{Departure, Hosted};
use super::{Fault, HandedDown, Passing};
use crate::clock::{LocalClock, SimTime};
use crate::engine::Engine;
use crate::frame::Aim;
use crate::plan::NONE;
use crate::protocols::Leaving;
use crate::recorder::{MissedSlot, Recorder};
use crate::result::DropReason;

/// Octets before the time-stamp point: preamble and start delimiter.
const PREAMBLE: Bytes = Bytes::new(8);

/// What a host asked for while it acted.
pub(crate) enum Deferred {
    /// A frame of a stream is to be sent.
    Send(StreamIndex, Frame, Bytes),
    /// A frame that was handed down goes to its port.
    HandOn(HandedDown),
    /// A frame that was handed down is lost.
    GiveUp(HandedDown, DropReason),
    /// The recorder is told that the next frame of a stream opens a cycle.
    OpensCycle(StreamIndex, Synchronisation),
    /// The recorder is told of a slot that a frame missed.
    SlotMissed(MissedSlot),
    /// Copies of a message that a bridge held go to the ports of these hops.
    LetGo(Vec<(u32, u32)>),
    /// The application of a stream sends a message, of which the delay counts from then.
    Message(StreamIndex, SimTime),
    /// The idleSlope of a class at a port becomes this, at most that.
    IdleSlope(PortIndex, TrafficClass, BitRate, BitRate),
}

/// The hosts of a run.
pub(crate) struct Controls<'n> {
    /// One for each mechanism; taken out while it acts.
    hosts: Vec<Option<Box<dyn Hosted + 'n>>>,
    /// Per stream: the host whose frames it carries, and none but them.
    carried: Vec<Option<u8>>,
    /// Per node: the host that takes what its software hands down.
    takers: Vec<Option<u8>>,
    /// What hosts asked for, in order, and whether it is being done.
    pub(crate) deferred: VecDeque<Deferred>,
    is_catching_up: bool,
    /// Per node: the corrected clock that its applications see.
    pub(crate) corrected: Vec<Option<DisciplinedClock>>,
}

impl<'n> Controls<'n> {
    pub(crate) fn new(
        attached: Vec<super::Attached<'n>>,
        clocks: &[LocalClock],
        seed: u64,
        streams: usize,
    ) -> Self {
        let hosts: Vec<_> = attached.into_iter().map(|attached| attached.0.make(clocks, seed)).collect();
        let mut carried = vec![None; streams];
        let mut corrected = vec![None; clocks.len()];
        let mut takers = vec![None; clocks.len()];
        for (number, host) in (0_u8..).zip(&hosts) {
            for stream in host.streams() {
                carried[stream as usize] = Some(number);
            }
            for node in host.takes_from() {
                takers[node.index()] = Some(number);
            }
            for (clock, own) in corrected.iter_mut().zip(host.corrected(clocks)) {
                *clock = clock.or(own);
            }
        }
        let hosts = hosts.into_iter().map(Some).collect();
        Self { hosts, carried, takers, deferred: VecDeque::new(), is_catching_up: false, corrected }
    }

    /// When something is to be done next.
    pub(crate) fn next(&self) -> Option<SimTime> {
        self.hosts.iter().flatten().filter_map(|host| host.next()).min()
    }

    /// The streams that begin by a mechanism alone.
    pub(crate) fn begun(&self) -> impl Iterator<Item = StreamIndex> + '_ {
        self.hosts.iter().flatten().flat_map(|host| host.begins())
    }

    /// Frames that hosts have instead of their ports, by their places in the slab.
    pub(crate) fn held(&self) -> impl Iterator<Item = u32> + '_ {
        self.hosts.iter().flatten().flat_map(|host| host.held()).map(|frame| frame.place())
    }

    /// The run has ended: the hosts, to tell what was observed.
    pub(crate) fn into_hosts(self) -> impl Iterator<Item = Box<dyn Hosted + 'n>> {
        self.hosts.into_iter().flatten()
    }
}

impl<'run, R: Recorder + ?Sized, const PLUGGED: bool> Engine<'run, R, PLUGGED> {
    /// Lets one host act, while the data plane is there for it.
    fn with_host<T>(
        &mut self,
        number: usize,
        act: impl FnOnce(&mut (dyn Hosted + 'run), &mut Self) -> T,
    ) -> T {
        let mut host = self.plugged().controls.hosts[number].take().expect("a host acts once at a time");
        let result = act(&mut *host, self);
        self.plugged().controls.hosts[number] = Some(host);
        self.catch_up();
        result
    }

    /// Does what hosts asked for.
    fn catch_up(&mut self) {
        if std::mem::replace(&mut self.plugged().controls.is_catching_up, true) {
            return;
        }
        while let Some(deferred) = self.plugged().controls.deferred.pop_front() {
            match deferred {
                Deferred::Send(stream, frame, payload) => self.send_frame(stream.0, frame, payload),
                Deferred::HandOn(frame) => self.put_handed_down(frame),
                Deferred::GiveUp(frame, reason) => self.drop_at_talker(frame.place(), reason),
                Deferred::OpensCycle(stream, says) => {
                    let number = self.talkers[stream.index()].number;
                    self.recorder.synchronised(stream.0, number, says);
                }
                Deferred::SlotMissed(missed) => self.recorder.slot_missed(&missed),
                Deferred::Message(stream, since) => self.create_next(stream.0, since),
                Deferred::LetGo(copies) => self.put_held(copies),
                Deferred::IdleSlope(port, class, slope, ceiling) => {
                    self.change_reserved_slope(port, class, slope, ceiling);
                }
            }
        }
        self.plugged().controls.is_catching_up = false;
    }

    /// Does all that the mechanisms have to do now.
    #[cold]
    pub(crate) fn drive_controls(&mut self) {
        for number in 0..self.plugged().controls.hosts.len() {
            while self.with_host(number, |host, engine| host.drive(engine)) {}
        }
    }

    /// The run begins.
    pub(crate) fn begin_controls(&mut self) {
        for number in 0..self.plugged().controls.hosts.len() {
            self.with_host(number, |host, engine| host.begin(engine));
        }
    }

    /// The run ends.
    pub(crate) fn end_controls(&mut self) {
        for number in 0..self.plugged().controls.hosts.len() {
            self.with_host(number, |host, engine| host.end(engine));
        }
    }

    /// Whether a stream carries frames of a protocol.
    #[inline]
    pub(crate) fn carries_octets(&self, stream: u32) -> bool {
        let plugged = self.plugged.as_ref();
        plugged.is_some_and(|plugged| plugged.controls.carried[stream as usize].is_some())
    }

    /// A control frame begins to leave: what leaves, if its node writes into it.
    pub(crate) fn pass_control_frame(&mut self, leaving: Leaving) -> Option<Rc<Frame>> {
        let Leaving { stream, number, hop, came, start, .. } = leaving;
        let network = self.network;
        let first = self.plan.first_hop[stream as usize];
        let hops = &network.streams[stream as usize].hops;
        let at = &hops[(hop - first) as usize];
        let before = at.previous.map_or(NONE, |previous| first + previous);
        let from = at.previous.map(|previous| hops[previous as usize].port);
        let as_it_came = self.plugged().contents.behind(stream, number, before)?;
        let passing = Passing { port: at.port, from, came, start, octets: &as_it_came.octets };
        let plugged = self.plugged.as_ref()?;
        let host = plugged.controls.carried[stream as usize]?;
        let host = plugged.controls.hosts[usize::from(host)].as_ref().expect("no frame leaves while it acts");
        let octets = host.pass(&passing, self)?;
        self.plugged().contents.write(stream, number, hop, octets)
    }

    /// A control frame begins to leave: its stamps are known.
    pub(crate) fn control_frame_leaves(&mut self, leaving: Leaving, frame: Rc<Frame>) {
        let Leaving { stream, number, hop, link, start, flight, .. } = leaving;
        let Some(host) = self.plugged().controls.carried[stream as usize] else { return };
        let left = start + self.network.links[link as usize].rate.duration_ceil(PREAMBLE.bits());
        self.plugged().contents.comes(stream, number, hop, left + flight);
        let port = PortIndex(self.plan.hops[hop as usize].port);
        let departure = Departure { port, stream, frame, start, left };
        if self.with_host(host.into(), |host, engine| host.left(departure, engine)) {
            self.arm_timeline();
        }
    }

    /// A control frame was delivered behind a hop: its node has it to process.
    pub(crate) fn take_into_host(&mut self, stream: u32, hop: u32, arrived: Arrived) {
        let Some(host) = self.plugged().controls.carried[stream as usize] else { return };
        let sender = PortIndex(self.plan.hops[hop as usize].port);
        let links = self.network.ports[sender.index()].links.expect("a hop's port is connected");
        let port = self.network.links[links.egress.index()].to;
        self.with_host(host.into(), |host, engine| host.received(stream, port, arrived, engine));
        self.arm_timeline();
    }

    /// Gives a frame that a node's software hands down at `ready` to the host that takes it; false if there is none.
    pub(crate) fn hand_to_host(&mut self, place: u32, node: usize, ready: SimTime, aim: Aim) -> bool {
        let Some(host) = self.plugged().controls.takers[node] else { return false };
        let (frame, node) = (self.handed_down(place, aim, ready), NodeIndex::at(node));
        if self.with_host(host.into(), |host, engine| host.handed_down(frame, node, ready, engine)) {
            self.arm_timeline();
        }
        true
    }

    /// The host that takes what a node's software hands down is told of an answer to the last frame of `to`, before that comes.
    pub(crate) fn tell_answer(&mut self, stream: StreamIndex, number: u32, to: StreamIndex) {
        let node = self.network.streams[stream.index()].talker;
        if let Some(host) = self.plugged().controls.takers[node.index()] {
            self.with_host(host.into(), |host, _| host.answers(stream, number, to));
        }
    }

    /// A node becomes faulty, or is repaired.
    #[cold]
    pub(crate) fn controls_fault(&mut self, node: NodeIndex, fault: Fault) {
        for number in 0..self.plugged().controls.hosts.len() {
            self.with_host(number, |host, engine| host.fail(node, fault, engine));
        }
        self.arm_timeline();
    }

    /// A cable is cut or mended.
    #[cold]
    pub(crate) fn controls_link(&mut self, cable: u32) {
        for number in 0..self.plugged().controls.hosts.len() {
            let ends = [cable * 2, cable * 2 + 1].map(|link| self.network.links[link as usize].from);
            self.with_host(number, |host, engine| host.links(ends, engine));
            while self.with_host(number, |host, engine| host.carry_out(engine)) {}
        }
        self.arm_timeline();
    }

    /// A node stops, or comes back anew.
    #[cold]
    pub(crate) fn controls_node(&mut self, node: NodeIndex, up: bool) {
        for number in 0..self.plugged().controls.hosts.len() {
            self.with_host(number, |host, engine| host.node(node, up, engine));
            while self.with_host(number, |host, engine| host.carry_out(engine)) {}
        }
        self.arm_timeline();
    }

    /// What a node's oscillator reads when its corrected clock first reads `wanted`; none without one.
    pub(crate) fn oscillator_at(&self, node: usize, wanted: Instant) -> Option<Instant> {
        Some(self.corrected_clock(node)?.first_at(wanted))
    }

    /// A node's corrected clock, if it has one.
    pub(crate) fn corrected_clock(&self, node: usize) -> Option<DisciplinedClock> {
        self.plugged.as_ref()?.controls.corrected[node]
    }
}
