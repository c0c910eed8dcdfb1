//! A test bed in a run: tasks send, receive and relay messages, and log them.
//!
//! A message is made in octets when it is sent, and read from them when it is received, with the bits that a corrupt
//! task has flipped, between the frame's check and the task, as a card's memory might. Frames with errors that the
//! frame check sequence finds are lost before, and never corrupted. A log's times are true times, or those of the
//! station's system clock (`test_bed/clock.rs`). A datagram of several frames is one message, which is received when
//! it is complete. `test_bed/track.rs` finds the fate of every message from the logs. Not here: which frame carries
//! which message (`test_bed/carried.rs`), the message itself (`wire`).

mod carried;
mod clock;
mod track;

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tautwire_core::gptp::DisciplinedClock;
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex, TaskKind, Test};
use tautwire_observe::Moments;
use tautwire_units::Duration;
use tautwire_wire::{PayloadType, TestMessage, WireError};

use crate::clock::SimTime;
use crate::random::{Purpose, Random};
use crate::recorder::{Contents, Recorder, SentPart, Transmission, Watching, Wrap};
use crate::result::{DropReason, Observation};
use carried::{Carried, Route, WrongBits};
use clock::SystemClock;
use track::Tracker;
pub use track::{
    CaptureObservation, ClockOffsets, LinkObservation, LogEntry, MessageObservation, Reasons,
    TestObservation, track,
};

/// A chance of one.
const CERTAIN: u64 = 1_000_000_000_000_000_000;

/// Why a message is lost that fails its CRC.
const CORRUPTED: &str = "corrupted";
/// Why one is lost whose relay is stopped when it would send it on.
const NOT_RELAYED: &str = "not-relayed";

/// A test watches runs of networks that have one.
pub(crate) const WRAP: Wrap = Wrap {
    is_wanted: |network| network.test_bed.is_some(),
    around: |network, seed, recorder| {
        let test = network.test_bed.as_ref().expect("a network with a test");
        Box::new(TestBed::new(network, test, seed, recorder))
    },
};

/// The recorder of a run with a test: logs, and passes all events to another recorder.
struct TestBed<'run> {
    network: &'run Network,
    test: &'run Test,
    warm_up: SimTime,
    /// Per stream, if it carries messages.
    routes: Vec<Option<Route>>,
    /// Per stream: how many frames were created before the warm-up was over.
    before: Vec<u32>,
    /// Per task: what its messages hold; none of tasks that send none.
    contents: Vec<Option<PayloadType>>,
    /// Messages that relays have received and not answered yet, by the route of the answer and the message's place on
    /// the other route: the bits that are wrong then, once for each reception.
    to_answer: BTreeMap<(StreamIndex, u32), VecDeque<WrongBits>>,
    /// The message that is about to be sent on.
    answering: Option<Carried>,
    /// Per task: faults of a corrupt task.
    faults: Vec<Random>,
    /// Per node, the clock of its log.
    clocks: Vec<Option<SystemClock>>,
    octets: Vec<u8>,
    tracker: Tracker,
    reasons: Reasons,
    /// Messages of redundant routes with a copy on its way at the end.
    under_way: BTreeSet<(u32, TestMessage)>,
    captures: BTreeMap<(u32, StreamIndex), (u64, Option<u64>, Moments)>,
    recorder: &'run mut dyn Recorder,
}

impl<'run> TestBed<'run> {
    fn new(network: &'run Network, test: &'run Test, seed: u64, recorder: &'run mut dyn Recorder) -> Self {
        let mut routes: Vec<Option<Route>> = network.streams.iter().map(|_| None).collect();
        for (id, first) in test.messages() {
            for route in test.way(first) {
                routes[route.index()] = Some(Route::new(network, route, id, route != first));
            }
        }
        let contents = test.tasks.iter().map(|task| match task.kind {
            TaskKind::Transmit { payload_type, .. } => Some(payload_type),
            _ => None,
        });
        Self {
            network,
            test,
            warm_up: SimTime::ZERO + network.run.warm_up,
            routes,
            before: vec![0; network.streams.len()],
            contents: contents.collect(),
            to_answer: BTreeMap::new(),
            answering: None,
            faults: (0..test.tasks.len()).map(|task| Random::new(seed, Purpose::TestFault, task)).collect(),
            clocks: (0..network.nodes.len())
                .map(|node| {
                    let discipline = test.clocks.as_ref()?;
                    let any = test.tasks.iter().any(|task| task.station.index() == node);
                    any.then(|| SystemClock::new(discipline, Random::new(seed, Purpose::TestClock, node)))
                })
                .collect(),
            octets: Vec::new(),
            tracker: Tracker::new(test, |stream| network.streams[stream.index()].talker),
            reasons: Reasons::new(),
            under_way: BTreeSet::new(),
            captures: BTreeMap::new(),
            recorder,
        }
    }

    fn route(&self, stream: u32) -> Option<&Route> {
        self.routes[stream as usize].as_ref()
    }

    /// What a frame carries, or a part of; none if its stream has no messages.
    fn carried(&self, stream: u32, number: u32) -> Option<Carried> {
        let route = self.route(stream)?;
        route.carried(route.place_of(number))
    }

    /// A line of a station's log: the octets as they are there, read.
    fn enter(&mut self, time: SimTime, station: NodeIndex, stream: u32, sent: bool, carried: &Carried) {
        let route = StreamIndex(stream);
        let header = self.read(carried);
        let time_ps = match &mut self.clocks[station.index()] {
            Some(clock) => clock.reading(time),
            None => i64::try_from(time.as_ps()).unwrap_or(i64::MAX),
        };
        let octets = carried.length;
        self.tracker.take(&LogEntry { time_ps, station, route, sent, octets, header });
    }

    /// Reads a message as its receiver does: all octets, with what went wrong in them.
    fn read(&mut self, carried: &Carried) -> Result<TestMessage, WireError> {
        self.write(carried);
        TestMessage::parse(&self.octets).map(|(message, _)| message)
    }

    /// Makes the octets of a message, with what went wrong in them.
    fn write(&mut self, carried: &Carried) {
        let kind = self.contents[carried.message.id as usize].expect("the number of a transmit task");
        self.octets.clear();
        carried.message.emit(kind, carried.length as usize, &mut self.octets);
        for (place, mask) in &carried.wrong {
            if let Some(octet) = self.octets.get_mut(usize::from(*place)) {
                *octet ^= mask;
            }
        }
    }

    /// The effect of a station's corrupt tasks on a message.
    fn corrupt(&mut self, station: NodeIndex, stream: u32, carried: &mut Carried) {
        for (task, random) in self.test.tasks.iter().zip(&mut self.faults) {
            let TaskKind::Corrupt { route, chance } = task.kind else { continue };
            if (task.station, route) == (station, StreamIndex(stream)) && random.up_to(CERTAIN - 1) < chance {
                let bit = random.up_to(8 * u64::from(carried.length) - 1);
                let place = u16::try_from(bit / 8).expect("a datagram is short");
                carried.wrong.push((place, 1 << (bit % 8)));
            }
        }
    }

    /// A task has received a frame, or the last one of a datagram.
    fn receive(&mut self, time: SimTime, stream: u32, listener: u32, number: u32) {
        let station = self.network.streams[stream as usize].listeners[listener as usize];
        let Some(mut carried) = self.carried(stream, number) else { return };
        self.corrupt(station, stream, &mut carried);
        self.enter(time, station, stream, false, &carried);
        if !carried.wrong.is_empty() {
            self.reasons.insert((carried.message, StreamIndex(stream), station), CORRUPTED);
        }
        let place = self.route(stream).map_or(0, |route| route.place_of(number));
        for task in &self.test.tasks {
            if let TaskKind::Relay { route, by } = task.kind
                && (route, task.station) == (StreamIndex(stream), station)
            {
                self.to_answer.entry((by, place)).or_default().push_back(carried.wrong.clone());
            }
        }
    }

    /// A copy of a frame did not come to these listeners of its stream.
    fn lose(&mut self, stream: u32, number: u32, listeners: &[u32], reason: DropReason) {
        // The loss of a second copy is no loss.
        if reason == DropReason::Eliminated {
            return;
        }
        let Some(carried) = self.carried(stream, number) else { return };
        let Some(route) = &mut self.routes[stream as usize] else { return };
        for listener in listeners {
            if !route.in_host.contains(&(*listener, number)) {
                let station = self.network.streams[stream as usize].listeners[*listener as usize];
                self.reasons.insert((carried.message, StreamIndex(stream), station), reason.name());
            }
        }
    }

    fn receives_behind_port(&self, stream: u32, listener: u32) -> bool {
        self.network.receives_behind_port(self.network.streams[stream as usize].listeners[listener as usize])
    }

    /// Records a transmission at the taps.
    fn capture(&mut self, sent: &Transmission) {
        let egress = PortIndex(sent.port);
        let link = self.network.ports[egress.index()].links.map(|links| links.egress);
        let ingress = link.map(|link| self.network.links[link.index()].to);
        for (task, number) in self.test.tasks.iter().zip(0_u32..) {
            let TaskKind::Capture { port, quantum } = task.kind else { continue };
            let at = match () {
                () if port == egress => sent.start,
                () if Some(port) == ingress => sent.received,
                () => continue,
            };
            let stamp = at.as_ps() - at.as_ps() % quantum.as_ps().max(1);
            let (frames, last, period) = self.captures.entry((number, StreamIndex(sent.stream))).or_default();
            *frames += 1;
            if sent.number < self.before[sent.stream as usize] {
                continue;
            }
            if let Some(last) = last.replace(stamp) {
                period.add(Duration::from_ps(stamp.saturating_sub(last)));
            }
        }
    }

    /// A frame is created that carries a message, or the first part of one.
    fn send(&mut self, time: SimTime, stream: u32, number: u32, octets: u32) {
        let answered = self.answering.take();
        let Some(route) = &mut self.routes[stream as usize] else { return };
        if !route.begins(number) {
            return;
        }
        let place = route.place_of(number);
        route.add(place, octets, answered);
        let Some(mut carried) = route.carried(place) else { return };
        if !route.is_relayed && time < self.warm_up {
            self.tracker.begin_with(carried.message.id, carried.message.sequence + 1);
        }
        let talker = self.network.streams[stream as usize].talker;
        self.enter(time, talker, stream, true, &carried);
        self.corrupt(talker, stream, &mut carried);
        if let Some(route) = &mut self.routes[stream as usize]
            && !carried.wrong.is_empty()
        {
            route.wrong.insert(place, carried.wrong);
        }
    }
}

impl Watching for TestBed<'_> {
    fn finish(self: Box<Self>, observation: &mut Observation) {
        let (reasons, under_way) = (self.reasons, self.under_way);
        let messages = self.tracker.finish(|message, route, to| {
            let reason = reasons.get(&(message, route, to)).copied()?;
            let may_come = reason != CORRUPTED && under_way.contains(&(route.0, message));
            (!may_come).then_some(reason)
        });
        let captures = self
            .captures
            .into_iter()
            .map(|((task, stream), (frames, _, period))| CaptureObservation { task, stream, frames, period });
        let clocks = self.clocks.into_iter().enumerate().filter_map(|(node, clock)| {
            Some(ClockOffsets { station: NodeIndex::at(node), offset: clock?.offsets })
        });
        let (captures, clocks) = (captures.collect(), clocks.collect());
        observation.test = Some(Box::new(TestObservation { messages, captures, clocks }));
    }
}

impl Recorder for TestBed<'_> {
    fn created(&mut self, time: SimTime, stream: u32, number: u32, octets: u32) {
        if time < self.warm_up {
            self.before[stream as usize] = number + 1;
        }
        self.send(time, stream, number, octets);
        self.recorder.created(time, stream, number, octets);
    }

    fn disciplined(&mut self, node: u32, clock: DisciplinedClock) {
        self.recorder.disciplined(node, clock);
    }

    fn noted(&mut self, stream: u32, number: u32, note: &dyn Any) {
        self.recorder.noted(stream, number, note);
    }

    fn contents(&mut self, stream: u32, number: u32, contents: Contents<'_>) {
        self.recorder.contents(stream, number, contents);
    }

    fn reassembled(&mut self, time: SimTime, stream: u32, listener: u32, datagram: u32, delay: Duration) {
        let behind = self.receives_behind_port(stream, listener);
        let node = self.network.streams[stream as usize].listeners[listener as usize];
        if let Some(route) = self.routes[stream as usize].as_mut().filter(|route| route.frames > 1) {
            let number = datagram * route.frames;
            if behind && !self.network.has_stacks(node) {
                // It is complete at the port; its last piece takes it to the application.
                route.to_hand_over.extend(route.last_piece.get(&listener).map(|last| (listener, *last)));
            } else {
                self.receive(time, stream, listener, number);
            }
        }
        self.recorder.reassembled(time, stream, listener, datagram, delay);
    }

    fn part_sent(&mut self, part: &SentPart) {
        self.recorder.part_sent(part);
    }

    fn transmitted(&mut self, sent: &Transmission) {
        self.capture(sent);
        if self.recorder.takes_messages()
            && let Some(carried) = self.carried(sent.stream, sent.number)
        {
            self.write(&carried);
            self.recorder.message(sent.stream, sent.number, &self.octets);
        }
        self.recorder.transmitted(sent);
    }

    fn delivered(&mut self, time: SimTime, stream: u32, listener: u32, number: u32, delay: Duration) {
        let behind = self.receives_behind_port(stream, listener);
        if let Some(route) = &mut self.routes[stream as usize] {
            if route.frames > 1 {
                route.last_piece.insert(listener, number);
            } else if behind {
                route.in_host.insert((listener, number));
                if route.is_redundant {
                    let station = self.network.streams[stream as usize].listeners[listener as usize];
                    if let Some(carried) = route.carried(number) {
                        self.reasons.remove(&(carried.message, StreamIndex(stream), station));
                    }
                }
            } else {
                self.receive(time, stream, listener, number);
            }
        }
        self.recorder.delivered(time, stream, listener, number, delay);
    }

    fn handed_over(&mut self, time: SimTime, stream: u32, listener: u32, number: u32, delay: Duration) {
        if let Some(route) = &mut self.routes[stream as usize] {
            route.in_host.remove(&(listener, number));
            if route.frames == 1 || route.to_hand_over.remove(&(listener, number)) {
                self.receive(time, stream, listener, number);
            }
        }
        self.recorder.handed_over(time, stream, listener, number, delay);
    }

    fn lost_in_host(&mut self, time: SimTime, stream: u32, listener: u32, number: u32, reason: DropReason) {
        if let Some(route) = &mut self.routes[stream as usize] {
            route.in_host.remove(&(listener, number));
            route.to_hand_over.remove(&(listener, number));
        }
        self.lose(stream, number, &[listener], reason);
        self.recorder.lost_in_host(time, stream, listener, number, reason);
    }

    fn dropped(&mut self, time: SimTime, stream: u32, number: u32, hop: u32, reason: DropReason) {
        if let Some(route) = self.route(stream) {
            let listeners = route.listeners_behind(hop).to_vec();
            self.lose(stream, number, &listeners, reason);
        }
        self.recorder.dropped(time, stream, number, hop, reason);
    }

    fn answering(&mut self, stream: u32, request: u32, is_sent: bool) {
        self.answering = None;
        if let Some(to) = self.route(stream).and_then(|route| route.answers)
            && let Some(place) = self.route(to.0).map(|route| route.place_of(request))
            && let Some(carried) = self.carried(to.0, request)
        {
            let key = (StreamIndex(stream), place);
            let wrong = self.to_answer.get_mut(&key).and_then(VecDeque::pop_front).unwrap_or_default();
            if self.to_answer.get(&key).is_some_and(VecDeque::is_empty) {
                self.to_answer.remove(&key);
            }
            if is_sent {
                self.answering = Some(Carried { wrong, ..carried });
            } else {
                for to in self.test.receivers(StreamIndex(stream)) {
                    self.reasons.insert((carried.message, StreamIndex(stream), to), NOT_RELAYED);
                }
            }
        }
        self.recorder.answering(stream, request, is_sent);
    }

    fn in_flight(&mut self, stream: u32, number: u32) {
        if self.route(stream).is_some_and(|route| route.is_redundant)
            && let Some(carried) = self.carried(stream, number)
        {
            self.under_way.insert((stream, carried.message));
        }
        self.recorder.in_flight(stream, number);
    }
}
