//! A test bed in a run: what the tasks of a test log, and what became of every message.
//!
//! [`track`] takes logs alone, of a run or of stations that are real, and holds them against the test: a
//! message's history is a series of links, one for each route of its way; what a link should have brought and
//! did not is lost, what came where nobody was to receive it is misdirected, what fails its CRC is corrupted.
//! Times in a run are true times: stations' clocks are not in them. In a run a wrong bit is found by the frame
//! check sequence before, so that a message is lost, never corrupted. Not here: the message itself (`wire`).

use std::collections::{BTreeMap, VecDeque};

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex, TaskKind, Test};
use tautwire_observe::Moments;
use tautwire_units::Duration;
use tautwire_wire::{TestMessage, WireError};

use crate::clock::SimTime;
use crate::recorder::{Recorder, Transmission};
use crate::result::{DropReason, Observation};

/// A line of a station's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// When, by the log's time.
    pub time: Duration,
    /// The station that logged it.
    pub station: NodeIndex,
    /// The route.
    pub route: StreamIndex,
    /// Whether the message was sent; else it was received.
    pub sent: bool,
    /// Its header, or why it was none.
    pub header: Result<TestMessage, WireError>,
}

/// What a test observed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestObservation {
    /// Per transmit task.
    pub messages: Vec<MessageObservation>,
    /// Per capture task and stream that passed there: of the taps' stamps.
    pub captures: Vec<CaptureObservation>,
}

/// What became of the messages of one transmit task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageObservation {
    /// Number of the task, which is their identifier.
    pub id: u32,
    /// Messages sent.
    pub sent: u64,
    /// Messages that came to all their receivers, over all links.
    pub complete: u64,
    /// Messages that a link lost, by reason, where a reason is known.
    pub lost: BTreeMap<&'static str, u64>,
    /// Messages that did not come and of which nothing is known: lost, or under way at the end.
    pub open: u64,
    /// Receptions where nobody was to receive.
    pub misdirected: u64,
    /// Receptions that failed the CRC.
    pub corrupted: u64,
    /// Receptions of what had come before.
    pub repeated: u64,
    /// Latencies above the limit of the test, in no statistics.
    pub outliers: u64,
    /// From the sender to the sender, of messages that come back.
    pub round_trip: Moments,
    /// Per route of their way and receiver.
    pub links: Vec<LinkObservation>,
}

/// What was observed of messages on one link of their way.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkObservation {
    /// The route.
    pub route: StreamIndex,
    /// The receiver.
    pub to: NodeIndex,
    /// Messages received.
    pub received: u64,
    /// From sender to receiver.
    pub one_way: Moments,
    /// Distances between messages sent.
    pub transmit_period: Moments,
    /// Distances between messages received.
    pub receive_period: Moments,
}

/// What a tap saw of a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct CaptureObservation {
    /// Number of the task.
    pub task: u32,
    /// The stream.
    pub stream: StreamIndex,
    /// Frames that passed.
    pub frames: u64,
    /// Distances of their stamps: first bit of what leaves the station, last bit of what comes to it.
    pub period: Moments,
}

/// Holds logs against a test. `reasons` tells why messages were lost, where that is known.
///
/// # Panics
/// If an entry is before another of the same station that stands before it.
#[must_use]
pub fn track(
    test: &Test,
    talker_of: impl Fn(StreamIndex) -> NodeIndex,
    log: &[LogEntry],
    reasons: &BTreeMap<TestMessage, &'static str>,
) -> Vec<MessageObservation> {
    let mut all: Vec<MessageObservation> = Vec::new();
    for (id, route) in test.messages() {
        let way = test.way(route);
        let mut seen = MessageObservation { id, ..MessageObservation::default() };
        for route in &way {
            seen.links.extend(test.receivers(*route).map(|to| LinkObservation {
                route: *route,
                to,
                received: 0,
                one_way: Moments::default(),
                transmit_period: Moments::default(),
                receive_period: Moments::default(),
            }));
        }
        let histories = histories(id, &way, log, &mut seen);
        for (sequence, history) in &histories {
            settle(
                TestMessage { id, sequence: *sequence },
                history,
                test,
                talker_of(route),
                &mut seen,
                reasons,
            );
        }
        periods(id, log, &mut seen);
        all.push(seen);
    }
    all
}

/// Of one message: when each route sent it, and when each link brought it.
#[derive(Default)]
struct History {
    sent: BTreeMap<StreamIndex, Duration>,
    received: BTreeMap<(StreamIndex, NodeIndex), Duration>,
}

/// The histories of all messages of an identifier; counts what belongs to none.
fn histories(
    id: u32,
    way: &[StreamIndex],
    log: &[LogEntry],
    seen: &mut MessageObservation,
) -> BTreeMap<u32, History> {
    let mut all: BTreeMap<u32, History> = BTreeMap::new();
    for entry in log {
        let message = match entry.header {
            Ok(message) if message.id == id => message,
            Ok(_) => continue,
            Err(_) => {
                seen.corrupted += u64::from(!entry.sent && way.contains(&entry.route));
                continue;
            }
        };
        if entry.sent {
            seen.sent += u64::from(entry.route == way[0]);
            all.entry(message.sequence).or_default().sent.insert(entry.route, entry.time);
        } else if seen.links.iter().any(|link| (link.route, link.to) == (entry.route, entry.station)) {
            let received = &mut all.entry(message.sequence).or_default().received;
            let before = received.contains_key(&(entry.route, entry.station));
            seen.repeated += u64::from(before);
            received.entry((entry.route, entry.station)).or_insert(entry.time);
        } else {
            seen.misdirected += 1;
        }
    }
    all
}

/// Puts a history into the statistics.
fn settle(
    message: TestMessage,
    history: &History,
    test: &Test,
    talker: NodeIndex,
    seen: &mut MessageObservation,
    reasons: &BTreeMap<TestMessage, &'static str>,
) {
    let is_outlier = |span: Duration| test.outliers_above.is_some_and(|most| span > most);
    let mut whole = true;
    for link in &mut seen.links {
        let Some(received) = history.received.get(&(link.route, link.to)) else {
            whole = false;
            continue;
        };
        link.received += 1;
        let Some(sent) = history.sent.get(&link.route) else { continue };
        let span = received.saturating_sub(*sent);
        if is_outlier(span) {
            seen.outliers += 1;
        } else {
            link.one_way.add(span);
        }
    }
    if !whole {
        match reasons.get(&message) {
            Some(reason) => *seen.lost.entry(reason).or_default() += 1,
            None => seen.open += 1,
        }
        return;
    }
    seen.complete += 1;
    let back = seen.links.last().filter(|link| link.to == talker && seen.links.len() > 1);
    let ends = back.and_then(|link| {
        Some((history.sent.get(&seen.links[0].route)?, history.received.get(&(link.route, link.to))?))
    });
    if let Some((sent, received)) = ends {
        let span = received.saturating_sub(*sent);
        if !is_outlier(span) {
            seen.round_trip.add(span);
        }
    }
}

/// Distances of what was sent and received, link by link.
fn periods(id: u32, log: &[LogEntry], seen: &mut MessageObservation) {
    for link in &mut seen.links {
        let (mut sent, mut received): (Option<Duration>, Option<Duration>) = (None, None);
        for entry in log.iter().filter(|entry| entry.route == link.route) {
            if entry.header.is_ok_and(|message| message.id != id) {
                continue;
            }
            let (last, moments) = if entry.sent {
                (&mut sent, &mut link.transmit_period)
            } else if entry.station == link.to {
                (&mut received, &mut link.receive_period)
            } else {
                continue;
            };
            if let Some(last) = last.replace(entry.time) {
                moments.add(entry.time.saturating_sub(last));
            }
        }
    }
}

/// The recorder of a run with a test: logs, and tells all to another.
pub(crate) struct TestBed<'run, R> {
    network: &'run Network,
    test: &'run Test,
    /// Per stream: identifier of its messages, and where in their way it stands; none if it has none.
    carries: Vec<Option<(u32, usize)>>,
    /// Per stream: sequence numbers of its frames on their way, by number, and of those to be answered.
    sequences: Vec<BTreeMap<u32, u32>>,
    to_answer: Vec<VecDeque<u32>>,
    log: Vec<LogEntry>,
    reasons: BTreeMap<TestMessage, &'static str>,
    captures: BTreeMap<(u32, StreamIndex), (u64, Option<u64>, Moments)>,
    recorder: &'run mut R,
}

impl<'run, R: Recorder> TestBed<'run, R> {
    pub(crate) fn new(network: &'run Network, test: &'run Test, recorder: &'run mut R) -> Self {
        let mut carries = vec![None; network.streams.len()];
        for (id, route) in test.messages() {
            for (place, route) in test.way(route).into_iter().enumerate() {
                carries[route.index()] = Some((id, place));
            }
        }
        let count = network.streams.len();
        Self {
            network,
            test,
            carries,
            sequences: vec![BTreeMap::new(); count],
            to_answer: vec![VecDeque::new(); count],
            log: Vec::new(),
            reasons: BTreeMap::new(),
            captures: BTreeMap::new(),
            recorder,
        }
    }

    /// Puts what the test observed to the rest.
    pub(crate) fn finish(self, observation: &mut Observation) {
        let talker = |stream: StreamIndex| self.network.streams[stream.index()].talker;
        let messages = track(self.test, talker, &self.log, &self.reasons);
        let captures = self
            .captures
            .into_iter()
            .map(|((task, stream), (frames, _, period))| CaptureObservation { task, stream, frames, period });
        observation.test = Some(Box::new(TestObservation { messages, captures: captures.collect() }));
    }

    fn message(&self, stream: u32, number: u32) -> Option<TestMessage> {
        let (id, place) = self.carries[stream as usize]?;
        let sequence = if place == 0 { number } else { *self.sequences[stream as usize].get(&number)? };
        Some(TestMessage { id, sequence })
    }

    fn enter(&mut self, time: SimTime, station: NodeIndex, stream: u32, number: u32, sent: bool) {
        let Some(message) = self.message(stream, number) else { return };
        let route = StreamIndex(stream);
        self.log.push(LogEntry { time: time.since_start(), station, route, sent, header: Ok(message) });
    }

    /// A task has received a frame.
    fn receive(&mut self, time: SimTime, stream: u32, listener: u32, number: u32) {
        let station = self.network.streams[stream as usize].listeners[listener as usize];
        self.enter(time, station, stream, number, false);
        let Some(message) = self.message(stream, number) else { return };
        for task in &self.test.tasks {
            if let TaskKind::Relay { route, by } = task.kind
                && (route, task.station) == (StreamIndex(stream), station)
            {
                self.to_answer[by.index()].push_back(message.sequence);
            }
        }
    }

    fn lose(&mut self, stream: u32, number: u32, reason: DropReason) {
        if let Some(message) = self.message(stream, number) {
            self.reasons.insert(message, reason.name());
        }
    }

    fn has_stacks(&self, stream: u32, listener: u32) -> bool {
        self.network.has_stacks(self.network.streams[stream as usize].listeners[listener as usize])
    }

    /// What the taps see of a transmission.
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
            if let Some(last) = last.replace(stamp) {
                period.add(Duration::from_ps(stamp.saturating_sub(last)));
            }
        }
    }
}

impl<R: Recorder> Recorder for TestBed<'_, R> {
    const DRIVES_MACHINES: bool = R::DRIVES_MACHINES;

    fn created(&mut self, time: SimTime, stream: u32, number: u32, octets: u32) {
        if let Some((_, place)) = self.carries[stream as usize] {
            if place > 0
                && let Some(sequence) = self.to_answer[stream as usize].pop_front()
            {
                self.sequences[stream as usize].insert(number, sequence);
            }
            let talker = self.network.streams[stream as usize].talker;
            self.enter(time, talker, stream, number, true);
        }
        self.recorder.created(time, stream, number, octets);
    }

    fn transmitted(&mut self, sent: &Transmission) {
        self.capture(sent);
        self.recorder.transmitted(sent);
    }

    fn delivered(&mut self, time: SimTime, stream: u32, listener: u32, number: u32, delay: Duration) {
        if !self.has_stacks(stream, listener) {
            self.receive(time, stream, listener, number);
        }
        self.recorder.delivered(time, stream, listener, number, delay);
    }

    fn handed_over(&mut self, time: SimTime, stream: u32, listener: u32, number: u32, delay: Duration) {
        self.receive(time, stream, listener, number);
        self.recorder.handed_over(time, stream, listener, number, delay);
    }

    fn lost_in_host(&mut self, time: SimTime, stream: u32, listener: u32, number: u32, reason: DropReason) {
        self.lose(stream, number, reason);
        self.recorder.lost_in_host(time, stream, listener, number, reason);
    }

    fn dropped(&mut self, time: SimTime, stream: u32, number: u32, hop: u32, reason: DropReason) {
        self.lose(stream, number, reason);
        self.recorder.dropped(time, stream, number, hop, reason);
    }
}
