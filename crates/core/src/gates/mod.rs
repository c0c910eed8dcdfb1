//! Scheduled traffic: the gates of an egress port and the list that opens and shuts them (IEEE Std 802.1Q-2022, 8.6.8.4, 8.6.9, 12.29).
//!
//! Times of lists are readings of the clock that the gates follow. Invariant: the start of cycle n is the base time
//! plus n cycle times, rounded down once; rounded cycles are never added up. Page:
//! `docs/mechanisms/scheduled-traffic.md`.

mod machine;
mod time;

use alloc::vec::Vec;
use core::fmt;

use tautwire_units::{BitRate, Duration, Instant};

pub use machine::{Fit, Gates, HoldAdvances};
pub use time::GateTime;

/// A cycle time: a fraction of a picosecond's multiples, above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CycleTime {
    /// Picoseconds.
    numerator: u64,
    /// Their divisor.
    denominator: u64,
}

impl CycleTime {
    /// `numerator` picoseconds over `denominator`, in lowest terms; none if that is less than a picosecond.
    #[must_use]
    pub const fn new(numerator: u64, denominator: u64) -> Option<Self> {
        if denominator == 0 || numerator < denominator {
            return None;
        }
        let (mut a, mut b) = (numerator, denominator);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        Some(Self { numerator: numerator / a, denominator: denominator / a })
    }

    /// Picoseconds of as many cycles as [`CycleTime::denominator`] says.
    #[must_use]
    pub const fn numerator(self) -> u64 {
        self.numerator
    }

    /// How many cycles are a whole number of picoseconds.
    #[must_use]
    pub const fn denominator(self) -> u64 {
        self.denominator
    }

    /// Whether it is longer than another one, by less than a picosecond too.
    #[must_use]
    pub const fn is_longer_than(self, other: Self) -> bool {
        self.numerator as u128 * other.denominator as u128
            > other.numerator as u128 * self.denominator as u128
    }

    /// The time of so many cycles, rounded down.
    #[must_use]
    pub fn times(self, cycles: u64) -> Duration {
        let ps = u128::from(self.numerator) * u128::from(cycles) / u128::from(self.denominator);
        Duration::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// The number of cycles that begin within a time, so that `times` of one more is later.
    #[must_use]
    pub fn within(self, time: Duration) -> u64 {
        // The greatest n with floor(n * numerator / denominator) <= time.
        let all = (u128::from(time.as_ps()) + 1) * u128::from(self.denominator) - 1;
        u64::try_from(all / u128::from(self.numerator)).unwrap_or(u64::MAX)
    }

    /// One cycle, rounded down: no cycle is shorter, and none longer by more than a picosecond.
    #[must_use]
    pub fn floor(self) -> Duration {
        self.times(1)
    }

    /// One cycle, rounded up.
    #[must_use]
    pub const fn ceil(self) -> Duration {
        Duration::from_ps(self.numerator.div_ceil(self.denominator))
    }
}

impl fmt::Display for CycleTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.denominator == 1 {
            return write!(f, "{}", Duration::from_ps(self.numerator));
        }
        write!(f, "{}/{} ps", self.numerator, self.denominator)
    }
}

/// What an entry of a list does in addition to setting the gates (802.1Q-2022, 12.29.1.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Nothing.
    #[default]
    SetGateStates,
    /// It requests the MAC to hold preemptable frames.
    SetAndHoldMac,
    /// It requests the MAC to release them.
    SetAndReleaseMac,
}

/// An entry of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Its operation.
    pub operation: Operation,
    /// Bit *n*: the gate of class *n* is open.
    pub gate_states: u8,
    /// How long it lasts, above zero.
    pub time_interval: Duration,
}

/// A schedule as management sets it, or as it runs (the Admin and the Oper parameters of 802.1Q-2022, 8.6.9.4).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GateParameters {
    /// The list, one entry at least. What is beyond the cycle is cut off; the last states stay until the cycle ends.
    pub control_list: Vec<Entry>,
    /// When a cycle begins.
    pub base_time: Instant,
    /// How long one is.
    pub cycle_time: CycleTime,
    /// By how much the last cycle before a change may be longer.
    pub cycle_time_extension: Duration,
}

/// How a device keeps a frame from being sent while its gate shuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GuardPolicy {
    /// A frame starts if its last bit is out when the gate shuts (8.6.8.4).
    LookAhead,
    /// A frame starts if the largest one that its class takes would be out.
    MaxSdu,
    /// A frame starts while the gate is open, and may be sent beyond that.
    None,
}

/// What a device does to the credit of a credit-based class at its gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GatedCredit {
    /// Whether the credit is constant while the gate is closed, as in the standard (8.6.8.2).
    pub frozen_when_closed: bool,
    /// Whether it also does while the gate is open and the head of the queue does not fit before it shuts. Not in the standard.
    pub frozen_in_guard_band: bool,
    /// Whether idleSlope is an average, which is earned in the open time alone (operIdleSlope, 8.6.8.2 d).
    pub slope_is_average: bool,
}

impl GatedCredit {
    /// That of the standard.
    pub const STANDARD: Self =
        Self { frozen_when_closed: true, frozen_in_guard_band: false, slope_is_average: true };
}

impl Default for GatedCredit {
    fn default() -> Self {
        Self::STANDARD
    }
}

/// A part of a cycle in which a gate is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OpenInterval {
    /// From the start of the cycle: a frame may start from here on.
    pub open: Duration,
    /// From the start of the same cycle, before the end of the next one: no frame starts from here on. Cycles that are no whole number of
    /// picoseconds are taken as rounded down.
    pub close: Duration,
}

/// When the gate of a class is open in every cycle: intervals that meet are one, over the end of the cycle too.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Openings {
    /// It never shuts.
    Always,
    /// It never opens.
    Never,
    /// It is open in these, in order, which do not meet.
    In(Vec<OpenInterval>),
}

/// How a port is built that has gates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatesConfig {
    /// Bit *n*: the gate of class *n* is open before the first cycle.
    pub admin_gate_states: u8,
    /// The list.
    pub parameters: GateParameters,
    /// How frames are kept from being sent while their gates shut.
    pub guard: GuardPolicy,
    /// Octets of the largest frame of each class, for the guard that holds all of them back.
    pub frame_max: [u32; 8],
    /// Largest MAC client data of each class.
    pub payload_max: [u32; 8],
    /// The device's tick; zero for none.
    pub tick: Duration,
    /// The behaviour of credit.
    pub credit: GatedCredit,
}

impl GateParameters {
    /// When the gate of a class is open, cycle by cycle, without changes of the list.
    #[must_use]
    pub fn openings(&self, class: usize) -> Openings {
        let end = self.cycle_time.floor();
        let mut found: Vec<OpenInterval> = Vec::new();
        let mut at = Duration::ZERO;
        for (number, entry) in self.control_list.iter().enumerate() {
            if at >= end {
                break;
            }
            let is_last = number + 1 == self.control_list.len();
            let until = if is_last { end } else { end.min(at + entry.time_interval) };
            if entry.gate_states & (1 << class) != 0 {
                match found.last_mut().filter(|last| last.close == at) {
                    Some(last) => last.close = until,
                    None => found.push(OpenInterval { open: at, close: until }),
                }
            }
            at = until;
        }
        match found[..] {
            [] => Openings::Never,
            [OpenInterval { open: Duration::ZERO, close }] if close == end => Openings::Always,
            [first, .., last] if first.open == Duration::ZERO && last.close == end => {
                found.remove(0);
                let last = found.last_mut().expect("two at least");
                last.close = end + first.close;
                Openings::In(found)
            }
            _ => Openings::In(found),
        }
    }

    /// Whether all its times are multiples of a tick, above zero, so that all cycles are alike.
    #[must_use]
    pub fn is_multiple_of(&self, tick: u64) -> bool {
        let whole = |ps: u64| ps.is_multiple_of(tick);
        whole(self.base_time.as_ps())
            && self.cycle_time.denominator == 1
            && whole(self.cycle_time.numerator)
            && self.control_list.iter().all(|entry| whole(entry.time_interval.as_ps()))
    }

    /// The idleSlope while the gate of a class is open, of one that is reserved on average (operIdleSlope), rounded down; none if the gate
    /// never opens.
    #[must_use]
    pub fn oper_idle_slope(&self, class: usize, idle_slope: BitRate) -> Option<BitRate> {
        let open = match self.openings(class) {
            Openings::Always => return Some(idle_slope),
            Openings::Never => return None,
            Openings::In(open) => open,
        };
        let sum: u128 = open.iter().map(|one| u128::from((one.close - one.open).as_ps())).sum();
        let cycle = u128::from(self.cycle_time.numerator) / u128::from(self.cycle_time.denominator);
        let scaled = u128::from(idle_slope.as_bps()) * cycle / sum;
        Some(BitRate::from_bps(u64::try_from(scaled).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(cycle: CycleTime, list: &[(&[u8], u64)]) -> GateParameters {
        let entry = |&(open, us): &(&[u8], u64)| Entry {
            operation: Operation::SetGateStates,
            gate_states: open.iter().fold(0, |all, class| all | 1 << class),
            time_interval: Duration::from_us(us),
        };
        GateParameters {
            control_list: list.iter().map(entry).collect(),
            base_time: Instant::ZERO,
            cycle_time: cycle,
            cycle_time_extension: Duration::ZERO,
        }
    }

    fn open(parameters: &GateParameters, class: usize) -> Vec<(u64, u64)> {
        match parameters.openings(class) {
            Openings::Always => [(0, u64::MAX)].to_vec(),
            Openings::Never => Vec::new(),
            Openings::In(open) => {
                open.iter().map(|one| (one.open.as_ps() / 1_000_000, one.close.as_ps() / 1_000_000)).collect()
            }
        }
    }

    #[test]
    fn entries_that_meet_are_one_interval_over_the_end_of_the_cycle_too() {
        let cycle = CycleTime::new(500_000_000, 1).expect("a cycle");
        let list: &[(&[u8], u64)] = &[(&[7, 2], 100), (&[0], 150), (&[0, 1], 150), (&[0, 2], 100)];
        let one = parameters(cycle, list);
        assert_eq!(open(&one, 0), [(100, 500)]);
        assert_eq!(open(&one, 1), [(250, 400)]);
        assert_eq!(open(&one, 2), [(400, 600)]);
        assert_eq!(open(&one, 3), []);
        // The last states stay, and what is beyond the cycle is cut off.
        let long = parameters(CycleTime::new(700_000_000, 1).expect("a cycle"), list);
        assert_eq!((open(&long, 0), open(&long, 2)), ([(100, 700)].to_vec(), [(400, 800)].to_vec()));
        let cut = parameters(CycleTime::new(300_000_000, 1).expect("a cycle"), list);
        assert_eq!((open(&cut, 1), open(&cut, 2)), ([(250, 300)].to_vec(), [(0, 100)].to_vec()));
        assert_eq!(open(&parameters(cycle, &[(&[4], 100), (&[4], 10)]), 4), [(0, u64::MAX)]);
    }

    #[test]
    fn cycles_are_counted_and_never_added_up() {
        let third = CycleTime::new(3_000_000_000, 9).expect("a cycle");
        assert_eq!((third.numerator(), third.denominator()), (1_000_000_000, 3));
        let starts: Vec<u64> = (0..4).map(|cycle| third.times(cycle).as_ps()).collect();
        assert_eq!(starts, [0, 333_333_333, 666_666_666, 1_000_000_000]);
        for cycle in 0..200 {
            let start = third.times(cycle);
            assert_eq!(third.within(start), cycle);
            let before = Duration::from_ps(start.as_ps().saturating_sub(1));
            assert_eq!(third.within(before), cycle.saturating_sub(1));
        }
        assert_eq!(CycleTime::new(2, 3), None);
    }

    #[test]
    fn a_slope_on_average_is_higher_while_the_gate_is_open() {
        let one = parameters(CycleTime::new(1_000_000_000, 1).expect("a cycle"), &[(&[0], 300), (&[5], 700)]);
        assert_eq!(one.oper_idle_slope(5, BitRate::from_mbps(28)), Some(BitRate::from_mbps(40)));
        assert_eq!(one.oper_idle_slope(4, BitRate::from_mbps(28)), None);
    }
}
