//! The fate of every message of a test, from the logs of its stations alone.
//!
//! A message's history is a tree of links: every route that carries it, to each of its receivers. A message that a
//! link should have carried and did not is lost, one that came where no task was to receive it is misdirected, one
//! that fails its CRC is corrupted. A message with a latency above the limit on any link is an outlier and in no
//! statistics. Invariant: a history is kept until all its links have carried the message, and no longer. Logs may be
//! of a run or of real stations; the difference of two clocks' times may be negative. Not here: how a run makes logs
//! (`test_bed/`).

use std::collections::BTreeMap;

use tautwire_model::network::{NodeIndex, StreamIndex, Test};
use tautwire_observe::{Moments, SignedMoments};
use tautwire_wire::{TestMessage, WireError};

/// A line of a station's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// When, by the log's time, in picoseconds; below zero if its clock was behind at the start.
    pub time_ps: i64,
    /// The station that logged it.
    pub station: NodeIndex,
    /// The route.
    pub route: StreamIndex,
    /// Whether the message was sent; else it was received.
    pub sent: bool,
    /// Octets of the message.
    pub octets: u32,
    /// Its header, or why it was none.
    pub header: Result<TestMessage, WireError>,
}

/// Observations of a test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestObservation {
    /// Per transmit task.
    pub messages: Vec<MessageObservation>,
    /// Per capture task and stream that passed there: of the taps' stamps.
    pub captures: Vec<CaptureObservation>,
    /// Per station with a task: how far its system clock was off, once an interval, where clocks are disciplined.
    pub clocks: Vec<ClockOffsets>,
}

/// How far a station's system clock was off the time that all follow.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockOffsets {
    /// The station.
    pub station: NodeIndex,
    /// Offsets without their signs, at each correction of the run.
    pub offset: Moments,
}

/// The fates of the messages of one transmit task.
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
    /// Receptions without a receiving task.
    pub misdirected: u64,
    /// Receptions that failed the CRC.
    pub corrupted: u64,
    /// Receptions of what had come before.
    pub repeated: u64,
    /// Messages with a latency above the limit of the test on any of their links, in no statistics.
    pub outliers: u64,
    /// From the sender to the sender, of messages that come back, by all ways back.
    pub round_trip: SignedMoments,
    /// Per route of their way and receiver.
    pub links: Vec<LinkObservation>,
}

/// Observations of messages on one link of their path.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkObservation {
    /// The route.
    pub route: StreamIndex,
    /// The receiver.
    pub to: NodeIndex,
    /// Messages received.
    pub received: u64,
    /// From sender to receiver, by their clocks.
    pub one_way: SignedMoments,
    /// Octets of the messages in `one_way`.
    pub octets: u64,
    /// From the message's first sender to this receiver, where they are one.
    pub round_trip: SignedMoments,
    /// Distances between messages sent.
    pub transmit_period: SignedMoments,
    /// Distances between messages received.
    pub receive_period: SignedMoments,
}

/// Observations of a stream at a tap.
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

/// Why a message did not come to a receiver of a route, where that is known.
pub type Reasons = BTreeMap<(TestMessage, StreamIndex, NodeIndex), &'static str>;

/// Compares logs with a test. `reasons` gives the known reasons of lost messages.
#[must_use]
pub fn track(
    test: &Test,
    talker_of: impl Fn(StreamIndex) -> NodeIndex,
    log: &[LogEntry],
    reasons: &Reasons,
) -> Vec<MessageObservation> {
    let mut tracker = Tracker::new(test, talker_of);
    log.iter().for_each(|entry| tracker.take(entry));
    tracker.finish(|message, route, to| reasons.get(&(message, route, to)).copied())
}

/// Takes logs line by line.
pub(super) struct Tracker {
    messages: Vec<Tracked>,
    outliers_above_ps: i64,
}

/// The messages of one identifier.
struct Tracked {
    talker: NodeIndex,
    /// The routes of their way, each behind the one that it relays.
    routes: Vec<StreamIndex>,
    /// Per link, the place of its route.
    route_of: Vec<usize>,
    /// Messages of which something may still come, by sequence number.
    open: BTreeMap<u32, History>,
    /// The others: whether they are in the statistics.
    settled: BTreeMap<u32, bool>,
    /// Per link, what was sent and received last.
    last: Vec<[Option<(u32, i64)>; 2]>,
    /// Messages before this one are in no statistics.
    first: u32,
    seen: MessageObservation,
}

/// The history of one message: when and in how many octets each route sent it, when each link delivered it, and the
/// distances that begin or end with it, while it is not known whether both their messages are in the statistics.
struct History {
    sent: Vec<Option<(i64, u32)>>,
    received: Vec<Option<i64>>,
    distances: Vec<Distance>,
}

/// Between two messages that were sent, or received, one behind the other.
struct Distance {
    link: usize,
    sent: bool,
    /// The other message.
    other: u32,
    ps: i64,
}

impl Tracker {
    pub(super) fn new(test: &Test, talker_of: impl Fn(StreamIndex) -> NodeIndex) -> Self {
        let limit = test.outliers_above.map(|most| i64::try_from(most.as_ps()).unwrap_or(i64::MAX));
        Self {
            messages: test
                .messages()
                .map(|(id, route)| Tracked::new(test, id, route, talker_of(route)))
                .collect(),
            outliers_above_ps: limit.unwrap_or(i64::MAX),
        }
    }

    /// Messages of `id` before `first` are in no statistics.
    pub(super) fn begin_with(&mut self, id: u32, first: u32) {
        for tracked in self.messages.iter_mut().filter(|tracked| tracked.seen.id == id) {
            tracked.first = first;
        }
    }

    /// Takes a line of a log.
    pub(super) fn take(&mut self, entry: &LogEntry) {
        let limit = self.outliers_above_ps;
        match entry.header {
            Ok(message) => {
                let mut known = self.messages.iter_mut();
                if let Some(tracked) = known.find(|tracked| tracked.seen.id == message.id) {
                    tracked.take(entry, message.sequence, limit);
                }
            }
            Err(_) => {
                for tracked in self.messages.iter_mut().filter(|one| one.routes.contains(&entry.route)) {
                    tracked.take_corrupted(entry);
                }
            }
        }
    }

    /// What became of all; what did not come is lost if `reason` knows why.
    pub(super) fn finish(
        self,
        reason: impl Fn(TestMessage, StreamIndex, NodeIndex) -> Option<&'static str>,
    ) -> Vec<MessageObservation> {
        let limit = self.outliers_above_ps;
        let finish = |mut tracked: Tracked| {
            while let Some((sequence, history)) = tracked.open.pop_first() {
                let message = TestMessage { id: tracked.seen.id, sequence };
                tracked.settle(sequence, history, limit, |route, to| reason(message, route, to));
            }
            tracked.seen
        };
        self.messages.into_iter().map(finish).collect()
    }
}

impl Tracked {
    fn new(test: &Test, id: u32, route: StreamIndex, talker: NodeIndex) -> Self {
        let routes = test.way(route);
        let mut seen = MessageObservation { id, ..MessageObservation::default() };
        let mut route_of = Vec::new();
        for (place, route) in routes.iter().enumerate() {
            for to in test.receivers(*route) {
                route_of.push(place);
                seen.links.push(LinkObservation {
                    route: *route,
                    to,
                    received: 0,
                    one_way: SignedMoments::default(),
                    octets: 0,
                    round_trip: SignedMoments::default(),
                    transmit_period: SignedMoments::default(),
                    receive_period: SignedMoments::default(),
                });
            }
        }
        Self {
            talker,
            routes,
            last: vec![[None; 2]; route_of.len()],
            route_of,
            open: BTreeMap::new(),
            settled: BTreeMap::new(),
            first: 0,
            seen,
        }
    }

    /// The link that ends at `to`.
    fn link(&self, route: StreamIndex, to: NodeIndex) -> Option<usize> {
        self.seen.links.iter().position(|link| (link.route, link.to) == (route, to))
    }

    /// A message that could be read.
    fn take(&mut self, entry: &LogEntry, sequence: u32, limit: i64) {
        let link = self.link(entry.route, entry.station);
        let route = self.routes.iter().position(|route| *route == entry.route);
        if !entry.sent && link.is_none() {
            self.seen.misdirected += 1;
            return;
        }
        let (routes, links) = (self.routes.len(), self.route_of.len());
        let history = match self.settled.get(&sequence) {
            Some(_) => None,
            None => Some(self.open.entry(sequence).or_insert_with(|| History {
                sent: vec![None; routes],
                received: vec![None; links],
                distances: Vec::new(),
            })),
        };
        let is_new = match (history, route, link) {
            (Some(history), Some(route), _) if entry.sent => {
                let is_new = history.sent[route].is_none();
                history.sent[route].get_or_insert((entry.time_ps, entry.octets));
                self.seen.sent += u64::from(is_new && route == 0);
                is_new
            }
            (Some(history), _, Some(link)) if !entry.sent => {
                let is_new = history.received[link].is_none();
                history.received[link].get_or_insert(entry.time_ps);
                is_new
            }
            _ => false,
        };
        if !is_new {
            self.seen.repeated += u64::from(!entry.sent);
            return;
        }
        self.measure(entry, sequence);
        let history = &self.open[&sequence];
        if history.received.iter().all(Option::is_some) && history.sent.iter().all(Option::is_some) {
            let history = self.open.remove(&sequence).expect("just looked at");
            self.settle(sequence, history, limit, |_, _| None);
        }
    }

    /// A message that failed its CRC. Which one it was is not known: no distance begins or ends with it.
    fn take_corrupted(&mut self, entry: &LogEntry) {
        self.seen.corrupted += u64::from(!entry.sent);
        for (link, last) in self.seen.links.iter().zip(&mut self.last) {
            if link.route == entry.route && (entry.sent || link.to == entry.station) {
                last[usize::from(entry.sent)] = None;
            }
        }
    }

    /// The distances from what was sent, or received, before.
    fn measure(&mut self, entry: &LogEntry, sequence: u32) {
        for (number, (link, last)) in self.seen.links.iter().zip(&mut self.last).enumerate() {
            if link.route != entry.route || !entry.sent && link.to != entry.station {
                continue;
            }
            let before = last[usize::from(entry.sent)].replace((sequence, entry.time_ps));
            let Some((other, time_ps)) = before else { continue };
            let ps = entry.time_ps.saturating_sub(time_ps);
            let history = self.open.get_mut(&sequence).expect("it is being taken");
            history.distances.push(Distance { link: number, sent: entry.sent, other, ps });
        }
    }

    /// Nothing of a message can change any more: it goes into the statistics.
    fn settle(
        &mut self,
        sequence: u32,
        history: History,
        limit: i64,
        reason: impl Fn(StreamIndex, NodeIndex) -> Option<&'static str>,
    ) {
        let one_way = |link: usize| {
            let (sent, octets) = history.sent[self.route_of[link]]?;
            Some((history.received[link]?.saturating_sub(sent), octets))
        };
        let spans: Vec<Option<(i64, u32)>> = (0..self.route_of.len()).map(one_way).collect();
        let is_outlier = spans.iter().flatten().any(|(span, _)| *span > limit);
        let counts = !is_outlier && sequence >= self.first;
        self.seen.outliers += u64::from(is_outlier);
        let mut lost = None;
        let mut is_complete = true;
        let begun = history.sent[0];
        for (number, (link, span)) in self.seen.links.iter_mut().zip(&spans).enumerate() {
            let Some(received) = history.received[number] else {
                is_complete = false;
                lost = lost.or_else(|| reason(link.route, link.to));
                continue;
            };
            link.received += 1;
            if let Some((span, octets)) = span.filter(|_| counts) {
                link.one_way.add(span);
                link.octets += u64::from(octets);
            }
            let back = link.to == self.talker && self.route_of[number] > 0;
            if let Some((sent, _)) = begun.filter(|_| back && counts) {
                link.round_trip.add(received.saturating_sub(sent));
                self.seen.round_trip.add(received.saturating_sub(sent));
            }
        }
        match lost {
            _ if is_complete => self.seen.complete += 1,
            Some(reason) => *self.seen.lost.entry(reason).or_default() += 1,
            None => self.seen.open += 1,
        }
        self.settled.insert(sequence, counts);
        for distance in history.distances {
            match self.settled.get(&distance.other) {
                Some(other) => {
                    let link = &mut self.seen.links[distance.link];
                    let moments =
                        if distance.sent { &mut link.transmit_period } else { &mut link.receive_period };
                    if counts && *other {
                        moments.add(distance.ps);
                    }
                }
                None => {
                    let other = self.open.get_mut(&distance.other).expect("settled or not");
                    other.distances.push(Distance { other: sequence, ..distance });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tautwire_model::network::{Task, TaskKind};
    use tautwire_wire::PayloadType;

    const ROUTES: [StreamIndex; 2] = [StreamIndex(0), StreamIndex(1)];
    const STATIONS: [NodeIndex; 2] = [NodeIndex(0), NodeIndex(1)];

    /// There and back.
    fn test() -> Test {
        let [there, back] = ROUTES;
        let kinds = [
            TaskKind::Transmit { route: there, payload_type: PayloadType::Sequential },
            TaskKind::Relay { route: there, by: back },
            TaskKind::Receive { route: back },
        ];
        let stations = [STATIONS[0], STATIONS[1], STATIONS[0]];
        let tasks = stations.into_iter().zip(kinds).map(|(station, kind)| Task { station, kind });
        Test { tasks: tasks.collect(), outliers_above: None, clocks: None }
    }

    /// The four lines of a message, 10 ps a link.
    fn lines(sequence: u32, at: i64) -> [LogEntry; 4] {
        let [there, back] = ROUTES;
        [(0, 0, there, true), (10, 1, there, false), (10, 1, back, true), (20, 0, back, false)].map(
            |(ps, station, route, sent)| LogEntry {
                time_ps: at + ps,
                station: STATIONS[station],
                route,
                sent,
                octets: 12,
                header: Ok(TestMessage { id: 0, sequence }),
            },
        )
    }

    #[test]
    fn complete_messages_are_not_kept() {
        let mut tracker = Tracker::new(&test(), |route| STATIONS[route.index()]);
        for sequence in 0..1_000 {
            let lines = lines(sequence, i64::from(sequence) * 100 - 5_000);
            // Every tenth message is lost on its way back.
            let come = if sequence % 10 == 9 { &lines[..3] } else { &lines[..] };
            come.iter().for_each(|entry| tracker.take(entry));
        }
        assert_eq!(tracker.messages[0].open.len(), 100);
        let [seen] = &tracker.finish(|_, route, _| (route == ROUTES[1]).then_some("why"))[..] else {
            panic!("one task")
        };
        assert_eq!((seen.sent, seen.complete, seen.lost["why"], seen.open), (1_000, 900, 100, 0));
        assert_eq!((seen.round_trip.count(), seen.round_trip.mean_ps()), (900, Some(20)));
        assert_eq!(seen.links[0].receive_period.count(), 999, "also of those that are lost later");
        assert_eq!(seen.links[1].receive_period.max_ps(), Some(200));
    }

    #[test]
    fn logs_may_follow_one_another() {
        let mut log: Vec<LogEntry> =
            (0..50).flat_map(|sequence| lines(sequence, i64::from(sequence) * 100)).collect();
        let talker = |route: StreamIndex| STATIONS[route.index()];
        let as_they_come = track(&test(), talker, &log, &Reasons::new());
        log.sort_by_key(|entry| std::cmp::Reverse(entry.station));
        assert_eq!(track(&test(), talker, &log, &Reasons::new()), as_they_come);
    }

    #[test]
    fn records_before_the_warm_up_ends_are_only_checked() {
        let mut tracker = Tracker::new(&test(), |route| STATIONS[route.index()]);
        tracker.begin_with(0, 3);
        (0..5)
            .flat_map(|sequence| lines(sequence, i64::from(sequence) * 100))
            .for_each(|line| tracker.take(&line));
        let seen = &tracker.finish(|_, _, _| None)[0];
        assert_eq!((seen.complete, seen.links[0].received), (5, 5));
        assert_eq!((seen.round_trip.count(), seen.links[0].transmit_period.count()), (2, 1));
    }
}
