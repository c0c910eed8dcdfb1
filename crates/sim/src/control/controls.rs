//! The interface between the event loop and the runners of a run's mechanisms.
//!
//! While a runner acts it is out of the list, so nothing that would call it again is done meanwhile: frames that it
//! sends are processed when it is back.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;

use tautwire_core::TrafficClass;
use tautwire_core::gptp::DisciplinedClock;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};
use tautwire_units::{BitRate, Bytes, Instant};

use super::contents::{Arrived, Frame};
use super::runner::{Departure, Runner};
use super::{Fault, HandedDown, Passing};
use crate::clock::{LocalClock, SimTime};
use crate::engine::Engine;
use crate::frame::Aim;
use crate::plan::NONE;
use crate::protocols::Leaving;
use crate::recorder::Recorder;
use crate::result::DropReason;

/// Octets before the time-stamp point: preamble and start delimiter.
const PREAMBLE: Bytes = Bytes::new(8);

/// Actions that a runner requested while it acted.
pub(crate) enum Deferred {
    /// A frame of a stream is to be sent.
    Send(StreamIndex, Frame, Bytes),
    /// A frame that was handed down goes to its port.
    HandOn(HandedDown),
    /// A frame that was handed down is lost.
    GiveUp(HandedDown, DropReason),
    /// A note to the recorder about a frame of a stream; about the next one without a number.
    Note(StreamIndex, Option<u32>, Box<dyn Any>),
    /// Copies of a message that a bridge held go to the ports of these hops.
    LetGo(Vec<(u32, u32)>),
    /// The application of a stream sends a message, of which the delay counts from then.
    Message(StreamIndex, SimTime),
    /// The idleSlope of a class at a port becomes this, at most that.
    IdleSlope(PortIndex, TrafficClass, BitRate, BitRate),
}

/// The runners of a run.
pub(crate) struct Controls<'n> {
    /// One for each mechanism; taken out while it acts.
    runners: Vec<Option<Box<dyn Runner + 'n>>>,
    /// Per stream: the runner whose frames it carries, and none but them.
    carried: Vec<Option<u8>>,
    /// Per node: the runner that takes what its software hands down.
    takers: Vec<Option<u8>>,
    /// Requested actions of runners, in order, and whether they are being done.
    pub(crate) deferred: VecDeque<Deferred>,
    is_catching_up: bool,
    /// Per node: the corrected clock that its applications see.
    pub(crate) corrected: Vec<Option<DisciplinedClock>>,
}

impl<'n> Controls<'n> {
    pub(crate) fn new(
        attached: Vec<super::Attached<'n>>,
        clocks: &[LocalClock],
        (seed, is_held): (u64, bool),
        streams: usize,
    ) -> Self {
        let make = |attached: super::Attached<'n>| attached.0.make(clocks, seed, is_held);
        let runners: Vec<_> = attached.into_iter().map(make).collect();
        let mut carried = vec![None; streams];
        let mut corrected = vec![None; clocks.len()];
        let mut takers = vec![None; clocks.len()];
        for (number, runner) in (0_u8..).zip(&runners) {
            for stream in runner.streams() {
                carried[stream as usize] = Some(number);
            }
            for node in runner.takes_from() {
                takers[node.index()] = Some(number);
            }
            for (clock, own) in corrected.iter_mut().zip(runner.corrected(clocks)) {
                *clock = clock.or(own);
            }
        }
        let runners = runners.into_iter().map(Some).collect();
        Self { runners, carried, takers, deferred: VecDeque::new(), is_catching_up: false, corrected }
    }

    /// When something is to be done next.
    pub(crate) fn next(&self) -> Option<SimTime> {
        self.runners.iter().flatten().filter_map(|runner| runner.next()).min()
    }

    /// The streams that begin by a mechanism alone.
    pub(crate) fn begun(&self) -> impl Iterator<Item = StreamIndex> + '_ {
        self.runners.iter().flatten().flat_map(|runner| runner.begins())
    }

    /// Frames that runners have instead of their ports, by their places in the slab.
    pub(crate) fn held(&self) -> impl Iterator<Item = u32> + '_ {
        self.runners.iter().flatten().flat_map(|runner| runner.held()).map(|frame| frame.place())
    }

    /// The run has ended: the runners, whose observations are collected.
    pub(crate) fn into_runners(self) -> impl Iterator<Item = Box<dyn Runner + 'n>> {
        self.runners.into_iter().flatten()
    }
}

impl<'run, R: Recorder + ?Sized, const PLUGGED: bool> Engine<'run, R, PLUGGED> {
    /// Lets one runner act, while the data plane is there for it.
    fn with_runner<T>(
        &mut self,
        number: usize,
        act: impl FnOnce(&mut (dyn Runner + 'run), &mut Self) -> T,
    ) -> T {
        let mut runner =
            self.plugged().controls.runners[number].take().expect("a runner acts once at a time");
        let result = act(&mut *runner, self);
        self.plugged().controls.runners[number] = Some(runner);
        self.catch_up();
        result
    }

    /// Does the requested actions of runners.
    fn catch_up(&mut self) {
        if std::mem::replace(&mut self.plugged().controls.is_catching_up, true) {
            return;
        }
        while let Some(deferred) = self.plugged().controls.deferred.pop_front() {
            match deferred {
                Deferred::Send(stream, frame, payload) => self.send_frame(stream.0, frame, payload),
                Deferred::HandOn(frame) => self.put_handed_down(frame),
                Deferred::GiveUp(frame, reason) => self.drop_at_talker(frame.place(), reason),
                Deferred::Note(stream, number, note) => {
                    let number = number.unwrap_or(self.talkers[stream.index()].number);
                    self.recorder.noted(stream.0, number, &*note);
                }
                Deferred::Message(stream, since) => self.create_next(stream.0, since),
                Deferred::LetGo(copies) => self.put_pooled(copies),
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
        for number in 0..self.plugged().controls.runners.len() {
            while self.with_runner(number, |runner, engine| runner.drive(engine)) {}
        }
    }

    /// The run begins.
    pub(crate) fn begin_controls(&mut self) {
        for number in 0..self.plugged().controls.runners.len() {
            self.with_runner(number, |runner, engine| runner.begin(engine));
        }
    }

    /// The run ends.
    pub(crate) fn end_controls(&mut self) {
        for number in 0..self.plugged().controls.runners.len() {
            self.with_runner(number, |runner, engine| runner.end(engine));
        }
    }

    /// Whether a stream carries frames of a protocol.
    #[inline]
    pub(crate) fn carries_octets(&self, stream: u32) -> bool {
        let plugged = self.plugged.as_ref();
        plugged.is_some_and(|plugged| plugged.controls.carried[stream as usize].is_some())
    }

    /// A control frame begins to leave: what leaves, if its node writes into it.
    pub(crate) fn pass_control_frame(&mut self, leaving: Leaving) -> Option<Arc<Frame>> {
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
        let runner = plugged.controls.carried[stream as usize]?;
        let runner =
            plugged.controls.runners[usize::from(runner)].as_ref().expect("no frame leaves while it acts");
        let octets = runner.pass(&passing, self)?;
        self.plugged().contents.write(stream, number, hop, octets)
    }

    /// A control frame begins to leave: its stamps are known.
    pub(crate) fn control_frame_leaves(&mut self, leaving: Leaving, frame: Arc<Frame>) {
        let Leaving { stream, number, hop, link, start, flight, .. } = leaving;
        let Some(runner) = self.plugged().controls.carried[stream as usize] else { return };
        let left = start + self.network.links[link as usize].rate.duration_ceil(PREAMBLE.bits());
        self.plugged().contents.comes(stream, number, hop, left + flight);
        let port = PortIndex(self.plan.hops[hop as usize].port);
        let departure = Departure { port, stream, frame, start, left };
        if self.with_runner(runner.into(), |runner, engine| runner.left(departure, engine)) {
            self.arm_timeline();
        }
    }

    /// A control frame was delivered after a hop: its node is to process it.
    pub(crate) fn take_into_runner(&mut self, stream: u32, hop: u32, arrived: Arrived) {
        let Some(runner) = self.plugged().controls.carried[stream as usize] else { return };
        let sender = PortIndex(self.plan.hops[hop as usize].port);
        let links = self.network.ports[sender.index()].links.expect("a hop's port is connected");
        let port = self.network.links[links.egress.index()].to;
        self.with_runner(runner.into(), |runner, engine| runner.received(stream, port, arrived, engine));
        self.arm_timeline();
    }

    /// Gives a frame that a node's software hands down at `ready` to the runner that takes it; false if there is none.
    pub(crate) fn hand_to_runner(&mut self, place: u32, node: usize, ready: SimTime, aim: Aim) -> bool {
        let Some(runner) = self.plugged().controls.takers[node] else { return false };
        let (frame, node) = (self.handed_down(place, aim, ready), NodeIndex::at(node));
        if self.with_runner(runner.into(), |runner, engine| runner.handed_down(frame, node, ready, engine)) {
            self.arm_timeline();
        }
        true
    }

    /// The runner that takes frames which a node's software hands down learns of an answer to the last frame of `to`,
    /// before the answer comes.
    pub(crate) fn announce_answer(&mut self, stream: StreamIndex, number: u32, to: StreamIndex) {
        let node = self.network.streams[stream.index()].talker;
        if let Some(runner) = self.plugged().controls.takers[node.index()] {
            self.with_runner(runner.into(), |runner, _| runner.answers(stream, number, to));
        }
    }

    /// A node becomes faulty, or is repaired.
    #[cold]
    pub(crate) fn controls_fault(&mut self, node: NodeIndex, fault: Fault) {
        for number in 0..self.plugged().controls.runners.len() {
            self.with_runner(number, |runner, engine| runner.fail(node, fault, engine));
        }
        self.arm_timeline();
    }

    /// A cable fails or is repaired.
    #[cold]
    pub(crate) fn controls_link(&mut self, cable: u32) {
        for number in 0..self.plugged().controls.runners.len() {
            let ends = [cable * 2, cable * 2 + 1].map(|link| self.network.links[link as usize].from);
            self.with_runner(number, |runner, engine| runner.links(ends, engine));
            while self.with_runner(number, |runner, engine| runner.carry_out(engine)) {}
        }
        self.arm_timeline();
    }

    /// A node stops, or comes back anew.
    #[cold]
    pub(crate) fn controls_node(&mut self, node: NodeIndex, up: bool) {
        for number in 0..self.plugged().controls.runners.len() {
            self.with_runner(number, |runner, engine| runner.node(node, up, engine));
            while self.with_runner(number, |runner, engine| runner.carry_out(engine)) {}
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
