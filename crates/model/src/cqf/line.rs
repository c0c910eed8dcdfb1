//! How a bridge receives the cycles of a line.
//!
//! With two buffers a bridge receives by its own cycles: a frame is queued in the cycle in which it was sent. With more, the stream gate of
//! a line begins its cycles later by the least time of a frame on it, so all frames of a cycle are received as one, however long the line
//! is, and are sent in the first cycle that begins when all are queued. Their buffer is not sent while they come.

use tautwire_units::{Bytes, Duration};

use super::CyclicForwarding;
use crate::network::{DelayRange, DeviceModel, Distribution, Link, SelectionAlgorithm, Stage, StagePosition};

/// Octets of preamble and start delimiter.
const PREAMBLE: u64 = 8;

/// A nanosecond: a list begins at a whole number of them, and a frame is received before the next cycle begins.
const NANOSECOND: Duration = Duration::from_ns(1);

/// How the cycles of a line are received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reception {
    /// By how much later than its own cycles those of the line begin.
    pub offset: Duration,
    /// How many cycles after the one in which it came a frame is sent on.
    pub cycles: u64,
}

/// Times between the line's time of a frame and the queue of the bridge behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineTimes {
    /// From the first bit of the smallest frame to its last one at the bridge, least.
    pub(crate) first_min: Duration,
    /// From the last bit of a frame to the same at the bridge, greatest.
    pub(crate) last_max: Duration,
    /// From there to its queue.
    stages_min: Duration,
    stages_max: Duration,
}

impl LineTimes {
    /// Those of a line with frames of these octets.
    pub(crate) fn new(link: &Link, device: &DeviceModel, least: Bytes, largest: Bytes) -> Self {
        let passes = |only: Option<SelectionAlgorithm>| {
            only.is_none_or(|only| only == SelectionAlgorithm::StrictPriority)
        };
        let before = device.stages.iter();
        let before =
            before.filter(|stage| stage.position != StagePosition::Transmission && passes(stage.only_for));
        let of = |stage: &Stage, octets: u64, random: Duration| {
            let latency = &stage.latency;
            let fixed = (latency.constant + latency.per_octet * octets).saturating_sub(latency.less);
            fixed.saturating_add(random)
        };
        let (mut stages_min, mut stages_max) = (Duration::ZERO, Duration::ZERO);
        for stage in before {
            let (min, max) = match stage.latency.random {
                Distribution::Zero => (Duration::ZERO, Duration::ZERO),
                Distribution::Uniform { min, max } | Distribution::Normal { min, max, .. } => (min, max),
            };
            stages_min = stages_min.saturating_add(of(stage, least.get(), min));
            stages_max = stages_max.saturating_add(of(stage, largest.get(), max));
        }
        let DelayRange { min, max } = link.phy_delay;
        let sent = link.rate.duration_floor((least + Bytes::new(PREAMBLE)).bits());
        Self {
            first_min: sent.saturating_add(link.propagation).saturating_add(min),
            last_max: link.propagation.saturating_add(max),
            stages_min,
            stages_max,
        }
    }
}

impl CyclicForwarding {
    /// How a line is received.
    pub(crate) fn reception(&self, line: &LineTimes) -> Reception {
        if self.takes_turns() {
            return Reception { offset: Duration::ZERO, cycles: 1 };
        }
        let latest = line.last_max.saturating_add(line.stages_max).saturating_add(self.precision);
        let beyond = latest.saturating_sub(self.dead_time);
        Reception { offset: self.offset(line), cycles: 1 + beyond.as_ps().div_ceil(self.cycle_time.as_ps()) }
    }

    /// In whole nanoseconds the latest at which no frame of a cycle can have come, by any two clocks.
    fn offset(&self, line: &LineTimes) -> Duration {
        let earliest = line.first_min.saturating_sub(self.precision);
        NANOSECOND * (earliest.as_ps() / NANOSECOND.as_ps())
    }

    /// The dead time that a line requires: with two buffers its frames are received and queued before the next cycle begins, with more
    /// they are received before the next cycle of the line begins.
    pub(crate) fn dead_time_min(&self, line: &LineTimes) -> Duration {
        let received = line.last_max.saturating_add(self.precision);
        if self.takes_turns() {
            return received.saturating_add(line.stages_max.max(NANOSECOND));
        }
        let beyond = received.saturating_add(NANOSECOND).saturating_sub(self.offset(line));
        NANOSECOND * beyond.as_ps().div_ceil(NANOSECOND.as_ps())
    }

    /// How many buffers a line requires: one is sent, and none is sent in which frames of a cycle may come meanwhile.
    pub(crate) fn buffers_min(&self, line: &LineTimes) -> u64 {
        let queued = line.first_min.saturating_add(line.stages_min).saturating_add(self.dead_time);
        let whole = queued.saturating_sub(self.precision).as_ps() / self.cycle_time.as_ps();
        (self.reception(line).cycles + 1).saturating_sub(whole).max(2)
    }
}
