//! What became of every message of a test, from the logs of its stations alone.
//!
//! A message's history is a series of links, one for each route of its way; what a link should have brought and
//! did not is lost, what came where nobody was to receive it is misdirected, what fails its CRC is corrupted.
//! Logs may be of a run or of stations that are real. Not here: how a run makes them (`test_bed.rs`).

use std::collections::BTreeMap;

use tautwire_model::network::{NodeIndex, StreamIndex, Test};
use tautwire_observe::Moments;
use tautwire_units::Duration;
use tautwire_wire::{TestMessage, WireError};

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
