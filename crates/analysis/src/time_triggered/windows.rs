//! The time that slots take from other traffic of a port, as an arrival curve.
//!
//! [`blocked`] is the most of such time in any window: for each of some rates the greatest excess over it, found by one
//! pass over twice the time after which all slots come again. Sources: Zhao, Xiong and Li, timing analysis of
//! rate-constrained traffic in TTEthernet (timely block, shuffling); Boyer et al., network calculus with
//! windows; the pass is that of a leaky bucket. Not here: links' own times (`ways.rs`).

use tautwire_core::time_triggered::{EmptySlot, Integration};
use tautwire_model::network::{Network, PortIndex, Stream};
use tautwire_model::time_triggered::TimeTriggered;

use super::ways::has_network_time;
use super::{CUT, Timed, line_ps};
use crate::clock::PS_PER_S;
use crate::curve::{Curve, Line, MICRO};
use crate::plan::Plan;
use crate::port_plan::PortPlan;

/// Most slots of a port until they come again; beyond, every link counts for itself.
const SLOTS_MAX: u128 = 200_000;
/// Rates for which the greatest excess is computed, in parts of the rate that the slots leave.
const RATES: [u64; 11] = [0, 1, 2, 4, 8, 16, 24, 32, 40, 48, 56];
const PARTS: u64 = 64;

/// What each class cannot use of a port's line; those that are not below the links' wait for nothing of it. None of a port without
/// a cable.
pub(super) fn taken(plan: &Plan<'_>, timed: &Timed, number: u32, class: usize) -> Option<[Curve; 8]> {
    let network = plan.network;
    let (at, settings) = (PortIndex(number), &timed.settings);
    let port = plan.ports[number as usize].as_ref()?;
    let contained = has_network_time(plan, network.ports[at.index()].node).is_ok();
    let lateness = timed.lateness(plan, number);
    let slots = slots(network, at, port);
    Some(std::array::from_fn(|least| {
        let wire = timed.largest_other(plan, number, least);
        if least >= class || wire == 0 {
            return Curve::zero();
        }
        // The times of slots are not known: no time is guaranteed to be left.
        if !contained {
            return Curve::least_of([Line { burst: 0, rate: port.rate }]);
        }
        let guard = match settings.integration {
            _ if !is_guarded(plan) => 0,
            Integration::Shuffling => 0,
            Integration::TimelyBlock => line_ps(port, wire),
            Integration::Preemption => line_ps(port, wire + CUT.bits().get()),
        };
        let curve = blocked(port, &slots, guard, settings.precision.as_ps() + lateness);
        let is_kept = guard > 0 || settings.empty_slot == EmptySlot::Kept || settings.raster.is_some();
        if is_kept { curve.plus(&repeated(port, settings)) } else { curve }
    }))
}

/// What corrections of the clock add: one that sets it back lets a slot, or the time that is kept idle before one, last
/// longer by as much, at most the precision. There is one in every integration cycle.
fn repeated(port: &PortPlan, settings: &TimeTriggered) -> Curve {
    #[cfg(feature = "planted-faults")]
    if port.fault == Some(crate::PlantedFault::SetBackForgotten) {
        return Curve::zero();
    }
    let cycle = port.deviation.shrink(settings.integration_cycle.as_ps()).max(1);
    let bits = (u128::from(settings.precision.as_ps()) * u128::from(port.rate)).div_ceil(PS_PER_S);
    let rate = u64::try_from((bits * PS_PER_S).div_ceil(u128::from(cycle))).unwrap_or(u64::MAX);
    Curve::least_of([Line { burst: bits * MICRO, rate }])
}

/// Whether something is kept idle before slots; else it is a fault.
fn is_guarded(_plan: &Plan<'_>) -> bool {
    #[cfg(feature = "planted-faults")]
    return _plan.fault != Some(crate::PlantedFault::GuardForgotten);
    #[cfg(not(feature = "planted-faults"))]
    true
}

/// A slot of a port as other traffic sees it.
#[derive(Clone, Copy, Debug)]
struct Slot {
    period: u64,
    offset: u64,
    length: u64,
}

/// The slots of a port, those of the raster included.
fn slots(network: &Network, at: PortIndex, port: &PortPlan) -> Vec<Slot> {
    let slot = |(stream, hop): (&Stream, usize)| {
        let link = stream.time_triggered.as_ref()?;
        let bits = tautwire_model::wire_bits(stream.payload_max, stream.hops[hop].tagged).get();
        Some(Slot {
            period: link.period.as_ps(),
            offset: link.points.get(hop)?.offset.as_ps() % link.period.as_ps(),
            length: line_ps(port, bits),
        })
    };
    let raster = network.time_triggered.and_then(|settings| settings.raster).map(|raster| Slot {
        period: raster.cycle.as_ps(),
        offset: 0,
        length: port.deviation.stretch(raster.window.as_ps()),
    });
    network.time_triggered_links(at).filter_map(slot).chain(raster).collect()
}

/// The most that slots and what they keep idle before them (`guard`) take of the line in any window, when
/// they may come nearer to one another by `jitter`.
fn blocked(port: &PortPlan, slots: &[Slot], guard: u64, jitter: u64) -> Curve {
    let common = slots.iter().try_fold(1_u128, |all, slot| {
        let period = u128::from(slot.period);
        let lcm = all / gcd(all, period) * period;
        (lcm < u128::from(u64::MAX)).then_some(lcm)
    });
    let count =
        common.map_or(u128::MAX, |common| slots.iter().map(|slot| common / u128::from(slot.period)).sum());
    let lines: Vec<Line> = match common {
        Some(common) if count <= SLOTS_MAX => {
            let common = u64::try_from(common).expect("below 2^64");
            let busy = intervals(slots, guard, common);
            let taken: u64 = busy.iter().map(|(from, to)| to - from).sum();
            // Rounded up: the rate that the slots take in the long run.
            let least = (u128::from(taken) * u128::from(port.rate)).div_ceil(u128::from(common));
            let least = u64::try_from(least).unwrap_or(u64::MAX).min(port.rate);
            let rate = |part: &u64| least + (port.rate - least) / PARTS * part;
            RATES.iter().map(rate).map(|rate| excess(&busy, common, port.rate, rate)).collect()
        }
        _ => vec![slots.iter().fold(Line::default(), |sum, slot| {
            let bits = (u128::from(slot.length + guard) * u128::from(port.rate)).div_ceil(PS_PER_S);
            let rate = (bits * PS_PER_S).div_ceil(u128::from(slot.period));
            sum.and(Line { burst: bits * MICRO, rate: u64::try_from(rate).unwrap_or(u64::MAX) })
        })],
    };
    let late = |line: Line| {
        let rate = port.deviation.fastest(line.rate);
        Line { rate, ..line.after_jitter(rate, jitter + port.slack) }
    };
    Curve::least_of(lines.into_iter().map(late))
}

/// When the line is not free for others within a common period, without overlaps, in order; what begins
/// before its end and lasts beyond it is not cut.
fn intervals(slots: &[Slot], guard: u64, common: u64) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = Vec::new();
    for slot in slots {
        // Shifted by the guard, so that nothing begins below zero.
        let points = (0..common / slot.period).map(|number| slot.offset + number * slot.period);
        all.extend(points.map(|point| (point, point + guard + slot.length)));
    }
    all.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::with_capacity(all.len());
    for (from, to) in all {
        match merged.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => merged.push((from, to)),
        }
    }
    merged
}

/// The greatest excess of what the intervals take of a line over `rate`, over two common periods; `rate` is
/// at least what they take in the long run.
fn excess(busy: &[(u64, u64)], common: u64, line: u64, rate: u64) -> Line {
    let (mut taken, mut end) = (0_i128, 0_u64);
    // Bits times 10¹²: what was taken before an interval, less what the rate earned, at the least.
    let (mut least, mut most) = (i128::MAX, 0_i128);
    for (from, to) in busy.iter().copied().chain(busy.iter().map(|(from, to)| (from + common, to + common))) {
        let from = from.max(end);
        if to <= from {
            continue;
        }
        end = to;
        least = least.min(taken - i128::from(rate) * i128::from(from));
        taken += i128::from(line) * i128::from(to - from);
        most = most.max(taken - i128::from(rate) * i128::from(to) - least);
    }
    let burst = most.unsigned_abs().div_ceil(PS_PER_S / MICRO);
    Line { burst, rate }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000_000;

    fn slot(period: u64, offset: u64, length: u64) -> Slot {
        Slot { period: period * US, offset: offset * US, length: length * US }
    }

    #[test]
    fn idle_time_before_slots_is_theirs_too_and_counted_once() {
        let slots = [slot(100, 10, 5), slot(100, 17, 5), slot(200, 150, 10)];
        let busy = intervals(&slots, 4 * US, 200 * US);
        let us: Vec<(u64, u64)> = busy.iter().map(|(from, to)| (from / US, to / US)).collect();
        assert_eq!(us, [(10, 26), (110, 126), (150, 164)], "nine microseconds each, twice together");
    }

    /// Compares with every window between integer microseconds over two periods.
    #[test]
    fn no_window_holds_more_than_its_line() {
        let slots = [slot(20, 3, 2), slot(30, 9, 4), slot(60, 17, 1)];
        let line = 1_000_000_000;
        for guard in [0, 3] {
            let busy = intervals(&slots, guard * US, 60 * US);
            let taken: Vec<bool> = (0..180)
                .map(|at| {
                    let inside = |from: u64, to: u64| (from..to).contains(&(at * US));
                    busy.iter().any(|(from, to)| {
                        (0..3).any(|round| inside(from + round * 60 * US, to + round * 60 * US))
                    })
                })
                .collect();
            // What is taken in the long run, of 60 parts of the line: below it no burst holds.
            let least = taken[..60].iter().filter(|taken| **taken).count() as u64 * line / 60;
            for rate in [350_000_000, 600_000_000, 900_000_000].into_iter().filter(|rate| *rate >= least) {
                let found = excess(&busy, 60 * US, line, rate);
                let mut worst = 0;
                for from in 60..120 {
                    let mut bits: i64 = 0;
                    for taken in &taken[from..from + 60] {
                        bits += if *taken { 1_000 } else { 0 } - i64::try_from(rate / US).expect("small");
                        worst = worst.max(bits);
                    }
                }
                let burst = i64::try_from(found.burst / MICRO).expect("small");
                assert!(burst >= worst, "{rate}: {burst} below {worst}");
                assert!(burst <= worst + 1, "{rate}: {burst} far above {worst}");
            }
        }
    }
}
