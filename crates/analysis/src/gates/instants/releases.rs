//! Streams whose frames come to their hosts at known instants, and the common period of these.
//!
//! Such a stream is periodic with a stated offset, its talker's clock is true (no drift, no tolerance, readings of
//! picoseconds), and nothing changes it. Events may start it, if all its starts are whole intervals apart, and stop it:
//! it is taken to come all the time, since the earliest instants of others rest on no frame of it, and the latest count
//! all. Where lists change and each frame has its place in true time, none of a stream that an event starts comes before
//! that, and none is created behind the event that stops it for good. All of them together repeat with the least common multiple of
//! their intervals and of the cycles of the gates on their paths. A stream that would make this period hold too many
//! frames is left to its curve. Not here: the further path of the frames.

use std::ops::Range;

use tautwire_model::Network;
use tautwire_model::gates::GateClock;
use tautwire_model::network::{Clock, Stream, StreamIndex, TimelineAction, Traffic};
use tautwire_model::psfp::Internal;
use tautwire_units::Duration;

use super::Span;
use super::course::Course;
use crate::plan::Plan;

/// Limit of frames of all streams that are examined one by one, each at every port.
const FRAMES_MAX: u64 = 8_192;
/// The longest common period: 100 s.
const PERIOD_MAX: u64 = 100_000_000_000_000;

/// When the frames of streams come to their hosts.
#[derive(Clone, Debug)]
pub(super) struct Releases {
    /// The common period, or several in a row.
    pub(super) course: Course,
    /// Per stream.
    pub(super) streams: Vec<Result<Release, Unknown>>,
}

/// When the frames of a stream come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Release {
    /// When it starts.
    start: u64,
    /// When its first frame comes.
    pub(super) offset: u64,
    pub(super) interval: u64,
    burst: u64,
    jitter: u64,
    /// When it is stopped for good, if it is.
    pub(super) end: Option<u64>,
}

/// The reason why that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unknown {
    /// Frames without a stated instant.
    Open,
    Clock,
    Corrected,
    Changes,
    Failures,
    Host,
    TooMany,
}

impl Unknown {
    /// As a part of a sentence.
    pub(super) fn text(self) -> String {
        match self {
            Self::Open => "its frames are not periodic with a stated offset".to_owned(),
            Self::Clock => "the clock of its talker is not true, so its instants drift".to_owned(),
            Self::Corrected => "gates follow clocks that are corrected".to_owned(),
            Self::Changes => {
                "it changes in the run, never starts, or starts again in another phase".to_owned()
            }
            Self::Failures => "nodes or cables fail or come back in the run".to_owned(),
            Self::Host => "its host or another mechanism decides when its frames leave".to_owned(),
            Self::TooMany => format!(
                "the cycles and intervals on its way have more than {FRAMES_MAX} frames, or no common multiple up to {}",
                Duration::from_ps(PERIOD_MAX)
            ),
        }
    }
}

impl Releases {
    pub(super) fn of(plan: &Plan<'_>) -> Self {
        let network = plan.network;
        let known = |(number, stream): (usize, &Stream)| release(plan, StreamIndex::at(number), stream);
        let mut streams: Vec<_> = network.streams.iter().enumerate().map(known).collect();
        let (mut period, mut kept): (u64, Vec<Release>) = (1, Vec::new());
        for (stream, release) in network.streams.iter().zip(&mut streams) {
            let Ok(one) = *release else { continue };
            let gates = stream.hops.iter().filter_map(|hop| network.gates(hop.port));
            let cycles = gates.map(|gates| gates.parameters.cycle_time.numerator());
            let common = cycles.chain([one.interval]).try_fold(period, common);
            kept.push(one);
            let all = |period: u64| kept.iter().map(|one| one.count(period)).sum::<u64>();
            match common.filter(|period| all(*period) <= FRAMES_MAX) {
                Some(common) => period = common,
                None => {
                    kept.pop();
                    *release = Err(Unknown::TooMany);
                }
            }
        }
        Self { course: Course::of(period), streams }
    }

    /// Whether no more frames than are examined come in a time.
    pub(super) fn is_within(&self, time: u64) -> bool {
        self.streams.iter().flatten().map(|one| one.count(time)).sum::<u64>() <= FRAMES_MAX
    }

    /// The same streams, taken to come for ever once they have started.
    pub(super) fn endless(&self) -> Self {
        let streams = self.streams.iter().map(|one| one.map(|one| Release { end: None, ..one }));
        Self { streams: streams.collect(), ..*self }
    }

    /// Those of the frames of a stream in the time that is looked at that come: not before the event that first starts it, and not behind
    /// the one that stops it for good.
    pub(super) fn present(&self, stream: u32) -> Range<usize> {
        let all = 0..usize::MAX;
        let Ok(release) = self.streams[stream as usize] else { return all };
        if self.course.count == 1 || (release.start, release.end) == (0, None) {
            return all;
        }
        let frames = self.frames(stream);
        let begin = self.course.begin();
        let place = |frame: &Span| begin + i128::from(frame.earliest);
        let first = match release.start {
            0 => 0,
            _ => frames.partition_point(|frame| place(frame) < i128::from(release.offset)),
        };
        let is_created = |frame: &Span| release.end.is_none_or(|end| place(frame) <= i128::from(end));
        first..frames.partition_point(is_created).max(first)
    }

    /// When the frames of a stream in the time that is looked at come; none if it is not known.
    pub(super) fn frames(&self, stream: u32) -> Vec<Span> {
        let Ok(release) = self.streams[stream as usize] else { return Vec::new() };
        let Course { period, count, .. } = self.course;
        // Over changes each frame has its place in true time.
        let offset = if count > 1 { release.offset % period } else { release.offset };
        let frame = |number: u64| {
            let earliest = offset + number / release.burst * release.interval;
            Span { earliest, latest: earliest + release.jitter }
        };
        (0..release.count(period * count)).map(frame).collect()
    }
}

impl Release {
    /// Frames in a time that is a multiple of the interval.
    fn count(&self, period: u64) -> u64 {
        (period / self.interval).saturating_mul(self.burst)
    }
}

/// Whether a clock keeps true time, except for its offset.
pub(super) fn is_true(clock: &Clock) -> bool {
    clock.tolerance_ppb == 0 && clock.drift_ppb.unwrap_or(0) == 0 && clock.granularity.as_ps() <= 1
}

/// The least common multiple, if it is not too long.
pub(super) fn common(one: u64, other: u64) -> Option<u64> {
    let (mut a, mut b) = (one, other);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    (one / a).checked_mul(other).filter(|common| *common <= PERIOD_MAX)
}

fn release(plan: &Plan<'_>, number: StreamIndex, stream: &Stream) -> Result<Release, Unknown> {
    let Traffic::Periodic { interval, offset, jitter, burst, drawn: false } = stream.traffic else {
        return Err(Unknown::Open);
    };
    if stream.open_phase || interval.is_zero() {
        return Err(Unknown::Open);
    }
    let network = plan.network;
    if network.gate_clock() != GateClock::Free {
        return Err(Unknown::Corrected);
    }
    if !is_true(&network.nodes[stream.talker.index()].clock) {
        return Err(Unknown::Clock);
    }
    if network.events.iter().any(|event| changes(&event.action, number)) {
        return Err(Unknown::Changes);
    }
    let start = start(plan, number, interval).ok_or(Unknown::Changes)?;
    if network.events.iter().any(|event| is_failure(&event.action)) {
        return Err(Unknown::Failures);
    }
    let is_held = stream.virtual_link.is_some()
        || stream.time_triggered.is_some()
        || stream.datagrams.is_some()
        || stream.learned
        || plan.sending(number.0).is_some()
        || is_served(network);
    if is_held {
        return Err(Unknown::Host);
    }
    let offset = start.saturating_add(offset);
    let end = end(network, number);
    #[cfg(feature = "planted-faults")]
    let end = match plan.fault {
        Some(crate::PlantedFault::EndOfStreamTooEarly) => end.map(|end| end.saturating_sub(interval * 4)),
        _ => end,
    };
    let end = end.map(Duration::as_ps);
    let (start, interval, offset, jitter) = (start.as_ps(), interval.as_ps(), offset.as_ps(), jitter.as_ps());
    Ok(Release { start, offset, interval, burst: u64::from(burst), jitter, end })
}

/// When a stream is stopped for good.
fn end(network: &Network, stream: StreamIndex) -> Option<Duration> {
    let mut of_stream = network.events.iter().filter_map(|event| match event.action {
        TimelineAction::StartStream(of) if of == stream => Some((event.at, false)),
        TimelineAction::StopStream(of) if of == stream => Some((event.at, true)),
        _ => None,
    });
    of_stream.next_back().filter(|(_, is_stop)| *is_stop).map(|(at, _)| at)
}

/// Whether mechanisms decide which streams run, hold their frames, or change their classes in a cycle.
fn is_served(network: &Network) -> bool {
    network.srp.is_some()
        || network.tdma.is_some()
        || network.harts.is_some()
        || network.as6802.is_some()
        || network.test_bed.is_some()
        || network
            .stream_filters
            .iter()
            .any(|bridge| bridge.filters.iter().any(|filter| matches!(filter.internal, Internal::Varies(_))))
}

/// When a stream first starts; none if it never does, or not always in one phase.
fn start(plan: &Plan<'_>, stream: StreamIndex, interval: Duration) -> Option<Duration> {
    let network = plan.network;
    #[cfg(feature = "planted-faults")]
    if plan.fault == Some(crate::PlantedFault::StartOfStreamForgotten) {
        return Some(Duration::ZERO);
    }
    let by_event = network
        .events
        .iter()
        .filter(|event| event.action == TimelineAction::StartStream(stream))
        .map(|event| event.at);
    let at_first = network.streams[stream.index()].started.then_some(Duration::ZERO);
    let mut starts = at_first.into_iter().chain(by_event);
    let first = starts.next()?;
    let in_phase = |start: Duration| (start.as_ps() - first.as_ps()).is_multiple_of(interval.as_ps());
    starts.all(in_phase).then_some(first)
}

fn changes(action: &TimelineAction, stream: StreamIndex) -> bool {
    match action {
        TimelineAction::ChangeTraffic(of, ..) | TimelineAction::ChangeShaper(of, _) => *of == stream,
        _ => false,
    }
}

fn is_failure(action: &TimelineAction) -> bool {
    match action {
        TimelineAction::StartStream(_)
        | TimelineAction::StopStream(_)
        | TimelineAction::RepeatFrame(..)
        | TimelineAction::StopRepeating(..)
        | TimelineAction::ChangeTraffic(..)
        | TimelineAction::ChangeShaper(..)
        | TimelineAction::ChangeIdleSlope(..)
        | TimelineAction::ChangeGates(..)
        | TimelineAction::ChangeFilters(..)
        | TimelineAction::ChangeBitErrorRate(..) => false,
        TimelineAction::CutCable(_)
        | TimelineAction::MendCable(_)
        | TimelineAction::StopNode(_)
        | TimelineAction::StartNode(_)
        | TimelineAction::Babble(..)
        | TimelineAction::StopBabbling(_)
        | TimelineAction::Mistime(..) => true,
    }
}
