//! Gates whose clock is corrected, in two ways that both hold.
//!
//! *Edge by edge*, where the precision is stated. At every instant network time differs from true time by the precision at most. So each edge of a list
//! happens within so much of its time, whatever is corrected meanwhile: it happens once, when network time is there first. A frame that started because
//! it would end before its gate closes ends before the latest instant at which that gate may close. Windows are computed in true time, in which the line
//! may be slower by the tolerance of its clock, and taken on the node's clock after that (`ClassWindows::on_clock`).
//!
//! *Correction by correction*. Between two of them network time runs as the node's clock does, or by the rate that a servo gives it, so all edges of a port drift
//! together. A correction sets it forward by `f` or back by `b`. If forward, gates skip `f` of the list. If back, gates keep their states until the clock is there
//! again, so `b` passes in addition to the list; after a step of more than a cycle they take the states of the new time, which is the same as a step forward of
//! less than a cycle. Let a frame start when the list has passed for `n`, what was skipped included: `n` is the least with `n = work + taken(n) + Σf`, where work is
//! what goes before the frame. That is at the time `n - Σf + Σb`, and so not later than the least `z` with `z = work + taken(z) + Σ(f + b)`. Besides, each correction
//! may cut an interval in two: a frame of another class that is on the line then goes on, and the last frame of the interval does not count to its end.
//! So each correction takes its length and two frames.
//!
//! The *servo* of gPTP corrects once in a sync interval. Until it is settled it may step by any time; the longest that matters is that for which gates may keep their
//! states, two cycles. So bounds hold from the start of the run on, and whether the servo settles or not. Not here: clocks that AS6802 corrects.

use tautwire_model::Network;
use tautwire_model::gates::{GateClock, PortGates};
use tautwire_model::network::NodeIndex;

use super::port::Timing;
use super::{first_cycle, restarts};
use crate::clock::{Deviation, slack_ps};
use crate::clock_precision::interval;

/// Numbers of corrections that are tried.
const STEPS_MAX: usize = 64;
/// Roundings of a reading of network time, picoseconds.
const ROUNDINGS: u64 = 4;

/// Corrections of a clock, on the clock of its node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corrections {
    /// How far apart they are at least.
    pub(super) every: u64,
    /// How long one is at most, in the time of the gates.
    pub(super) by: u64,
    /// By how much the time of the gates may run faster or slower than the clock between two of them.
    pub(super) rate: Deviation,
    /// How long it may be until the first cycle starts, in the time of the gates.
    pub(super) first: u64,
}

impl Corrections {
    /// Of the clock that the gates of a node follow, if it is known how it is corrected; `deviation` is that of the node's oscillator.
    pub(super) fn of(
        network: &Network,
        node: NodeIndex,
        gates: &PortGates,
        deviation: Deviation,
    ) -> Option<Self> {
        let clock = &network.nodes[node.index()].clock;
        let late = clock.step().as_ps() + slack_ps(clock);
        let cycle = gates.parameters.cycle_time.ceil().as_ps();
        let longest = cycle.saturating_mul(2).saturating_add(gates.tick.as_ps());
        match network.gate_clock() {
            GateClock::NetworkTime => {
                let corrected = Corrected::of(network, node)?;
                let settings = network.time_triggered.as_ref()?;
                let every = deviation.shrink(settings.integration_cycle.as_ps()).checked_sub(late)?;
                let by = corrected.error().saturating_mul(2).min(longest);
                let first = deviation.stretch(corrected.first_cycle(gates));
                (every > 0).then_some(Self { every, by, rate: Deviation::default(), first })
            }
            GateClock::Gptp if !restarts(network, node) => {
                let gptp = network.gptp.as_ref()?;
                let servo = gptp.servo?;
                let sync = u64::try_from(interval(gptp.log_sync)).ok()?;
                // A sample is taken with the first message behind nine tenths of an interval.
                let every = (sync / 10 * 9).checked_sub(late)?;
                let first = match gates.parameters.base_time.as_ps() {
                    0 => first_cycle(network, node, gates),
                    // Steps may set the clock back before the base time, but never before the time that has passed, by more than the error of an estimate.
                    base => base.saturating_add(sync).saturating_add(cycle).saturating_mul(101).div_ceil(100),
                };
                let rate = Deviation::of_ppb(servo.rate_max_ppb);
                (every > 0).then_some(Self { every, by: longest, rate, first })
            }
            GateClock::Gptp | GateClock::Free => None,
        }
    }

    /// How long it may be on the clock of the node until so much has passed in the time of the gates; none if that is not known to end.
    pub(super) fn passed(self, span: u64) -> Option<u64> {
        let by = self.rate.stretch(self.by);
        let mut passed = span;
        for _ in 0..STEPS_MAX {
            let next = span.checked_add(by.checked_mul(1 + passed / self.every)?)?;
            if next == passed {
                return Some(passed);
            }
            passed = next;
        }
        None
    }

    /// The times of a port in the time of its gates, of those on its clock, if its largest frame takes so long.
    pub(super) fn timing(self, timing: Timing, largest: u64) -> Timing {
        // A rate that changes while a frame is sent moves the edge behind it.
        let moved = 2 * (self.rate.stretch(largest) - largest);
        Timing {
            rate: self.rate.shrink(timing.rate),
            lost: self.rate.stretch(timing.lost),
            error: self.rate.stretch(timing.error).saturating_add(ROUNDINGS).saturating_add(moved),
            ..timing
        }
    }
}

/// A clock that is corrected to a stated precision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corrected {
    precision: u64,
}

impl Corrected {
    /// Of a node, if its precision is stated and holds from the start of the run to its end.
    pub(super) fn of(network: &Network, node: NodeIndex) -> Option<Self> {
        let settings = network.time_triggered.as_ref().filter(|_| network.as6802.is_none())?;
        (!restarts(network, node)).then(|| Self { precision: settings.precision.as_ps() })
    }

    /// By how much network time may differ from true time.
    pub(super) fn error(self) -> u64 {
        self.precision + ROUNDINGS
    }

    /// The times of a port in true time, of those on its clock.
    pub(super) fn timing(self, timing: Timing, deviation: Deviation) -> Timing {
        Timing {
            rate: deviation.shrink(timing.rate),
            lost: deviation.stretch(timing.lost),
            error: deviation.stretch(timing.error).saturating_add(self.error()),
            ..timing
        }
    }

    /// How long it may be until the first cycle starts, by network time that begins within the precision of zero.
    pub(super) fn first_cycle(self, gates: &PortGates) -> u64 {
        let parameters = &gates.parameters;
        let base = parameters.base_time.as_ps();
        // Where it may be past when the run begins, it is not determined which of the cycles is the next.
        let next = if base <= self.precision { parameters.cycle_time.ceil().as_ps() } else { 0 };
        base.saturating_add(next).saturating_add(self.precision)
    }
}
