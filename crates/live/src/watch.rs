//! What a live run has counted up to now, while it goes on: for those that look on.
//!
//! The threads that carry frames never wait for it. Once in a while each is asked; it then takes its counts by value in small
//! parts, and only where the next event leaves time for a part. What it has taken goes to the thread
//! that asked, which puts it together and publishes it (writes files) at its own pace. Counts of different nodes are of slightly different
//! instants, so sums over nodes may be off by frames that were on their way.

use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time;

use tautwire_core::TrafficClass;
use tautwire_linux::Clock;
use tautwire_model::network::PortIndex;
use tautwire_sim::{ClockObservation, DropReason, PortObservation};
use tautwire_units::Duration;

use crate::counters::Counters;
use crate::worker::Station;

/// Distance of two looks.
const EVERY: time::Duration = time::Duration::from_secs(1);
/// How often the end of the run, and what was asked for, is looked for.
const STEP: time::Duration = time::Duration::from_millis(10);
/// How long the threads may take; the counts of one that took longer are those of the look before.
const PATIENCE: time::Duration = time::Duration::from_millis(500);
/// Listeners of a part.
const PART: usize = 8;
/// Nanoseconds that the next event must be away for a part to be taken.
const ROOM: u64 = 150_000;
/// A thread that never has so much room takes a part each time that these nanoseconds have passed.
const HURRY: u64 = 20_000_000;

/// What a run has counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveStatus {
    /// Time since its start.
    pub elapsed: Duration,
    /// Ports with links, in order.
    pub ports: Vec<PortNow>,
    /// Streams of which a talker has created frames, in order, and how many.
    pub created: Vec<(u32, u64)>,
    /// Listeners of which a frame came, in order of stream and listener.
    pub listeners: Vec<ListenerNow>,
    /// Frames that were dropped, by stream, hop and reason.
    pub drops: Vec<((u32, u32, DropReason), u64)>,
    /// gPTP of nodes, in order.
    pub clocks: Vec<ClockNow>,
    /// Frames that a listener received after one with a greater number.
    pub out_of_order: u64,
    /// Frames that a listener received twice.
    pub duplicates: u64,
    /// Frames that are none of the description's.
    pub foreign: u64,
}

/// A port.
#[derive(Clone, Debug, PartialEq)]
pub struct PortNow {
    /// The port.
    pub port: PortIndex,
    /// What it has counted.
    pub seen: PortObservation,
    /// Frames that wait in the queue of each class.
    pub waiting: [u32; 8],
}

/// A stream at a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenerNow {
    /// Stream.
    pub stream: u32,
    /// Listener, by its place in the stream.
    pub listener: u32,
    /// Frames that came.
    pub received: u64,
    /// Frames with numbers below the greatest one that came which have not come, whether lost, withheld or overtaken.
    pub missing: u64,
    /// Those that came later than the deadline.
    pub late: u64,
    /// Delays of frames created behind the warm-up; none before the first of them.
    pub delays: Option<DelaysNow>,
}

/// Delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelaysNow {
    /// Mean.
    pub mean: Duration,
    /// 99 of 100 are at most this, to within 1/128.
    pub p99: Duration,
    /// Greatest.
    pub max: Duration,
}

/// gPTP of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockNow {
    /// What was observed.
    pub seen: ClockObservation,
    /// The last offset from the grandmaster's time, in picoseconds; none before the first.
    pub last_ps: Option<i64>,
}

/// How a thread that carries frames is asked.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    wanted: AtomicBool,
    given: Mutex<Option<Vec<NodeNow>>>,
}

/// What a node has counted, by value.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeNow {
    ports: Vec<PortNow>,
    created: Vec<(u32, u64)>,
    listeners: Vec<ListenerNow>,
    drops: Vec<((u32, u32, DropReason), u64)>,
    others: [u64; 3],
}

/// What a thread has taken of its counts for a look.
#[derive(Debug, Default)]
pub(crate) struct Taker {
    taken: Vec<NodeNow>,
    /// The last listener that was taken of the last node, if there are more.
    after: Option<(u32, u32)>,
    /// When the last part was taken.
    last: u64,
}

impl Taker {
    /// Takes a part of what is asked for, if there is time until `next`; gives all of it when it is complete.
    pub(crate) fn take(&mut self, asked: Option<&Asked>, stations: &[Station<'_>], clock: Clock, next: u64) {
        let Some(asked) = asked.filter(|asked| asked.wanted.load(Ordering::Relaxed)) else { return };
        let now = clock.now();
        if next < now + ROOM && now < self.last + HURRY {
            return;
        }
        self.last = now;
        let number = self.taken.len();
        if let (Some(after), Some(node)) = (self.after, self.taken.last_mut()) {
            self.after = node.take(&stations[number - 1].node.counters, after);
            return;
        }
        if let Some(station) = stations.get(number) {
            self.taken.push(NodeNow::of(station));
            self.after = Some((0, 0));
            return;
        }
        // Somebody who reads it now gets it in the next turn.
        if let Ok(mut room) = asked.given.try_lock() {
            *room = Some(std::mem::take(&mut self.taken));
            asked.wanted.store(false, Ordering::Relaxed);
        }
    }
}

impl NodeNow {
    /// All but its listeners.
    fn of(station: &Station<'_>) -> Self {
        let counters = &station.node.counters;
        Self {
            ports: station.node.ports_now(),
            created: counters.created.iter().map(|(stream, count)| (*stream, *count)).collect(),
            listeners: Vec::new(),
            drops: counters.dropped.iter().map(|(of, count)| (*of, *count)).collect(),
            others: [counters.out_of_order, counters.duplicates, counters.foreign],
        }
    }

    /// Listeners from this one on, as many as a part has; the one behind the last, if there is one.
    fn take(&mut self, counters: &Counters, from: (u32, u32)) -> Option<(u32, u32)> {
        let mut rest = counters.listeners.range((Bound::Included(from), Bound::Unbounded));
        for ((stream, listener), own) in rest.by_ref().take(PART) {
            let (seen, delays) = (&own.seen, &own.seen.delay);
            let delays = delays.mean().zip(delays.max()).map(|(mean, max)| DelaysNow {
                mean,
                p99: seen.histogram.as_ref().and_then(|all| all.quantile(990_000)).unwrap_or(max).min(max),
                max,
            });
            self.listeners.push(ListenerNow {
                stream: *stream,
                listener: *listener,
                received: seen.delivered,
                missing: own.next.saturating_sub(seen.delivered),
                late: seen.late,
                delays,
            });
        }
        rest.next().map(|(of, _)| *of)
    }
}

/// What one thread has counted, asked for once in a while by somebody who looks on and does other things meanwhile.
pub(crate) struct Looking<'a> {
    asked: &'a Asked,
    clock: Clock,
    room: &'a Mutex<Option<ClockNow>>,
    next: time::Instant,
}

impl<'a> Looking<'a> {
    pub(crate) fn new(asked: &'a Asked, clock: Clock, room: &'a Mutex<Option<ClockNow>>) -> Self {
        Self { asked, clock, room, next: time::Instant::now() }
    }

    /// What was counted, if it is there and was not given before.
    pub(crate) fn look(&mut self) -> Option<LiveStatus> {
        let now = time::Instant::now();
        if now >= self.next {
            self.next = now + EVERY;
            self.asked.wanted.store(true, Ordering::Relaxed);
        }
        let given = self.asked.given.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let clock = self.room.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Some(together(self.clock.now(), &[given], clock.into_iter().collect()))
    }
}

/// Asks the threads again and again, and publishes what they have counted, until the run is over.
pub(crate) fn look_on(
    asked: &[Asked],
    clocks: &[Mutex<Option<ClockNow>>],
    clock: Clock,
    is_over: &AtomicBool,
    publish: &(dyn Fn(&LiveStatus) + Sync),
) {
    let mut known: Vec<Vec<NodeNow>> = asked.iter().map(|_| Vec::new()).collect();
    let mut next = time::Instant::now();
    while !is_over.load(Ordering::Relaxed) {
        let now = time::Instant::now();
        if now < next {
            std::thread::sleep(STEP.min(next - now));
            continue;
        }
        // A look that took long is followed by a pause, not by those that were missed.
        next = now + EVERY;
        asked.iter().for_each(|thread| thread.wanted.store(true, Ordering::Relaxed));
        let is_open = || asked.iter().any(|thread| thread.wanted.load(Ordering::Relaxed));
        while is_open() && now.elapsed() < PATIENCE && !is_over.load(Ordering::Relaxed) {
            std::thread::sleep(STEP);
        }
        for (known, thread) in known.iter_mut().zip(asked) {
            let given = thread.given.lock().unwrap_or_else(PoisonError::into_inner).take();
            *known = given.unwrap_or(std::mem::take(known));
        }
        let clocks =
            clocks.iter().filter_map(|room| room.lock().unwrap_or_else(PoisonError::into_inner).clone());
        publish(&together(clock.now(), &known, clocks.collect()));
    }
}

/// What all threads have counted.
fn together(now: u64, known: &[Vec<NodeNow>], mut clocks: Vec<ClockNow>) -> LiveStatus {
    clocks.sort_by_key(|clock| clock.seen.node);
    let mut all = LiveStatus { elapsed: Duration::from_ns(now), clocks, ..LiveStatus::default() };
    for node in known.iter().flatten() {
        all.ports.extend(node.ports.iter().cloned());
        all.created.extend(&node.created);
        all.listeners.extend(&node.listeners);
        all.drops.extend(&node.drops);
        let [out_of_order, duplicates, foreign] = node.others;
        all.out_of_order += out_of_order;
        all.duplicates += duplicates;
        all.foreign += foreign;
    }
    all.ports.sort_by_key(|port| port.port);
    // Each stream has one talker, each listener one node; but nodes of a way may drop for the same reason.
    all.created.sort_unstable();
    all.listeners.sort_by_key(|one| (one.stream, one.listener));
    all.drops.sort_unstable();
    all.drops.dedup_by(|other, one| {
        let is_same = other.0 == one.0;
        one.1 += if is_same { other.1 } else { 0 };
        is_same
    });
    all
}

/// Gives what gPTP of a node has observed, if nobody reads it.
pub(crate) fn give_clock(
    room: Option<&Mutex<Option<ClockNow>>>,
    seen: &ClockObservation,
    last_ps: Option<i64>,
) {
    if let Some(Ok(mut room)) = room.map(Mutex::try_lock) {
        *room = Some(ClockNow { seen: seen.clone(), last_ps });
    }
}

/// Frames that wait in each class of a port.
pub(crate) fn waiting(frames: impl Fn(TrafficClass) -> u32) -> [u32; 8] {
    let mut waiting = [0; 8];
    TrafficClass::all().for_each(|class| waiting[class.index()] = frames(class));
    waiting
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
