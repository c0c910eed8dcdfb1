//! A port whose gates switch at known instants: its sets of instants, in true time, and the frame in transmission at one.
//!
//! Only a port with a true clock has them, if nothing else takes its line. Where its list changes, they are those of all periods that are
//! looked at (`course.rs`). Before its first cycle begins, and for a frame longer, its gates have other states: nothing is known of frames that come by
//! then ([`KnownLine::settled`]). A port without gates counts as one with open gates.

use tautwire_core::gates::{CycleTime, GateParameters, Openings};
use tautwire_model::Network;
use tautwire_model::gates::{GateClock, PortGates};
use tautwire_model::network::{PortIndex, StagePosition};

use super::super::changes::Changes;
use super::super::periodic::{PARTS_MAX, Periodic};
use super::super::port::{Credit, Frames, GAP, Gated, Guard, Timing};
use super::super::reading;
use super::course::Course;
use super::positions::Positions;
use super::releases::is_true;
use crate::clock::PS_PER_S;
use crate::curve::span;
use crate::plan::Plan;
use crate::port_plan::PortPlan;

/// Fractions of a cycle after which a list repeats on an integer picosecond.
const UNROLLED_MAX: usize = 4_096;
/// Entries of lists that are looked at one by one over changes.
const ENTRIES_MAX: u64 = 1 << 18;
/// Steps of the search for a start among the frames of classes above.
const STEPS_MAX: u32 = 10_000;

/// A port at known instants.
#[derive(Debug)]
pub(super) struct KnownLine {
    gated: Gated,
    /// The difference between the time of a cycle and true time.
    shift: u64,
    /// From here on the list runs, and no frame that began before it is in transmission, true time.
    pub(super) settled: u64,
    /// Whether it has gates whose cycles are alike.
    has_gates: bool,
    /// Bits per second, less the roundings of every frame.
    rate_served: u64,
}

/// When frames of a class start whose gate closes so long after them.
#[derive(Clone, Debug)]
pub(super) struct Starts {
    /// Where only classes above with known frames go before them.
    beside_known: Positions,
    /// Where no class above may send.
    alone: Positions,
}

impl KnownLine {
    /// Of a port, if everything there repeats with `period`.
    pub(super) fn of(plan: &Plan<'_>, number: u32, course: Course) -> Option<Self> {
        let port = plan.ports[number as usize].as_ref()?;
        let network = plan.network;
        let node = network.ports[number as usize].node;
        let is_shared = port
            .served
            .as_deref()
            .is_some_and(|served| !served.taken.is_empty() || served.carried.iter().any(Option::is_some));
        let has_stages = network.device(node).is_some_and(|device| {
            device.two_stage
                || device.stages.iter().any(|stage| stage.position == StagePosition::Transmission)
        });
        if is_shared || has_stages || !is_true(&network.nodes[node.index()].clock) {
            return None;
        }
        match network.gates(PortIndex(number)) {
            Some(gates) if network.gates_change(PortIndex(number)) => {
                Self::with_changes(plan, (number, port), gates, course)
            }
            Some(gates) => Self::with_gates(plan, (number, port), gates, course.all()?),
            None => Some(Self {
                gated: always_open(plan, number, port),
                shift: 0,
                settled: 0,
                has_gates: false,
                rate_served: port.rate_served,
            }),
        }
    }

    fn with_gates(
        plan: &Plan<'_>,
        (number, port): (u32, &PortPlan),
        gates: &PortGates,
        period: u64,
    ) -> Option<Self> {
        let network = plan.network;
        let cycles = gates.parameters.cycle_time;
        if network.gate_clock() != GateClock::Free || !period.is_multiple_of(cycles.numerator()) {
            return None;
        }
        let mut gated = super::super::gated(plan, (number, port), gates, None);
        for class in 0..8 {
            gated.open[class] = open(gates, class)?.into();
        }
        let settled = settled(network, number, gates, &gated)?;
        gated.timing.first = 0;
        let base = gates.parameters.base_time.as_ps() % cycles.numerator();
        let reading = reading(network, network.ports[number as usize].node);
        let shift = (reading % cycles.numerator() + cycles.numerator() - base) % cycles.numerator();
        Some(Self { gated, shift, settled, has_gates: true, rate_served: port.rate_served })
    }

    /// Of a port whose list changes, over all periods that are looked at.
    fn with_changes(
        plan: &Plan<'_>,
        (number, port): (u32, &PortPlan),
        gates: &PortGates,
        course: Course,
    ) -> Option<Self> {
        let network = plan.network;
        let changes = Changes::of(network, PortIndex(number), gates)?;
        let is_even = |list: &&GateParameters| {
            let cycle = list.cycle_time;
            cycle.denominator() == 1 && course.period.is_multiple_of(cycle.numerator())
        };
        let is_known = network.gate_clock() == GateClock::Free && course.count > 1;
        // Entries of all cycles that are looked at.
        let entries = |list: &&GateParameters| {
            let cycles = course.all()? / list.cycle_time.floor().as_ps();
            cycles.checked_mul(list.control_list.len() as u64)
        };
        let is_short = |list| entries(list).is_some_and(|entries| entries <= ENTRIES_MAX);
        if !is_known || !changes.lists.iter().all(is_even) || !changes.lists.iter().all(is_short) {
            return None;
        }
        let begin = changes.place(network, PortIndex(number), course.begin())?;
        let mut gated = super::super::gated(plan, (number, port), gates, Some(changes));
        let frame = gated.frames.iter().flatten().map(|frames| gated.timing.time(frames.wire_max)).max()?;
        // A frame that may not look ahead along the new list has no known instants.
        let late = frame + 2 * gated.timing.error;
        if gated.unforeseen.iter().any(|change| change.differs < change.set + late) {
            return None;
        }
        gated.unforeseen.clear();
        let settled = settled(network, number, gates, &gated)?;
        gated.timing.first = 0;
        for class in 0..8 {
            gated.open[class] = gated.open[class].within(begin, course.all()?).into();
        }
        Some(Self { gated, shift: 0, settled, has_gates: false, rate_served: port.rate_served })
    }

    /// The time of a frame of so many bits on the wire, with the gap after it.
    pub(super) fn time(&self, wire: u64) -> u64 {
        self.gated.timing.time(wire)
    }

    /// The time of so many micro-bits on the wire.
    pub(super) fn time_of(&self, micro_bits: u128) -> u64 {
        span(micro_bits, self.rate_served).unwrap_or(u64::MAX)
    }

    /// Bits on the wire of the largest frame of a class.
    pub(super) fn largest(&self, class: usize) -> Option<u64> {
        self.gated.frames[class].map(|frames| frames.wire_max)
    }

    /// When frames of a class up to a size may start; classes of `unknown`, bits, may send whenever their gates are open.
    pub(super) fn starts(&self, class: usize, wire_max: u64, unknown: u8) -> Starts {
        let gated = &self.gated;
        let usable = gated.usable_before(class, gated.guard_of(class, wire_max));
        let without = |which: &dyn Fn(usize) -> bool| {
            let above = (class + 1..8).filter(|higher| gated.frames[*higher].is_some() && which(*higher));
            above.fold(usable.clone(), |left, higher| left.and(&gated.busy(higher).others()))
        };
        Starts {
            beside_known: Positions::of(without(&|higher| unknown & (1 << higher) != 0).last()),
            alone: Positions::of(without(&|_| true).last()),
        }
    }

    /// Classes above one that may be on the line when it may send, a bit each.
    pub(super) fn above(&self, class: usize) -> u8 {
        let open = self.gated.busy(class);
        let meets = |higher: &usize| {
            self.gated.frames[*higher].is_some() && self.gated.busy(*higher).and(&open).is_any()
        };
        (class + 1..8).filter(meets).fold(0, |all, higher| all | 1 << higher)
    }

    /// The latest instant at which the line is free of a lower frame that is in transmission when a frame comes.
    pub(super) fn free_from(&self, class: usize, instant: u64) -> u64 {
        let at = instant + self.shift;
        let free = self.gated.below(class).map(|(lower, frames)| {
            let busy = self.gated.busy(lower);
            let whole = self.gated.timing.time(frames.wire_max);
            match busy.end_of(at) {
                None => 0,
                Some(_) if busy.is_all() => whole,
                Some(end) => whole.min(end - at),
            }
        });
        instant + free.max().unwrap_or(0)
    }

    /// The earliest start of a frame of at least so many bits on the wire that comes at an instant.
    pub(super) fn earliest(&self, class: usize, wire_min: u64) -> Positions {
        let gated = &self.gated;
        let (open, error) = (gated.open[class].last(), gated.timing.error);
        let need = match gated.frames[class].map(|frames| frames.guard) {
            Some(Guard::Frame(_)) => {
                let ps = u128::from(wire_min - GAP) * PS_PER_S / u128::from(gated.timing.rate);
                u64::try_from(ps).unwrap_or(0).saturating_sub(gated.timing.lost)
            }
            Some(Guard::None) | None => 0,
        };
        if open.is_all() {
            return Positions::of(open);
        }
        let starts = open.grown(error, error).whole_parts().into_iter().filter_map(|(from, to)| {
            // At the last instant from which it ends with the gate it may start, and with the gate none.
            let last = (to + u64::from(need > 0)).checked_sub(need)?;
            (from < last).then_some((from, last))
        });
        Positions::of(&Periodic::of(open.period(), starts))
    }

    /// The first instant of a set, at or after one in true time.
    pub(super) fn first(&self, set: &Positions, instant: u64) -> Option<u64> {
        Some(set.first(instant.checked_add(self.shift)?, 0)? - self.shift)
    }

    /// The latest start of a frame that has the line from an instant on, with a given amount of its own class before
    /// it, and the frames of classes above that come by its start.
    pub(super) fn latest(
        &self,
        starts: &Starts,
        free: u64,
        own: u64,
        above: impl Fn(u64) -> u64,
    ) -> Option<u64> {
        let first = |set: &Positions, work: u64| Some(set.first(free + self.shift, work)? - self.shift);
        let alone = first(&starts.alone, own);
        let beside = || {
            let mut start = first(&starts.beside_known, own)?;
            for _ in 0..STEPS_MAX {
                let next = first(&starts.beside_known, own.checked_add(above(start))?)?;
                if next <= start {
                    return Some(start);
                }
                start = next;
            }
            None
        };
        [alone, beside()].into_iter().flatten().min()
    }

    /// The open interval of a class in which an instant lies, from the begin of its cycles on.
    pub(super) fn window(&self, class: usize, instant: u64) -> Option<(u64, u64)> {
        let open = self.gated.open[class].last();
        if !self.has_gates || open.is_all() {
            return None;
        }
        let at = (instant + self.shift) % open.period();
        let around = |(from, to): &(u64, u64)| {
            (*from <= at && at < *to) || (*from <= at + open.period() && at + open.period() < *to)
        };
        open.whole_parts().into_iter().find(around)
    }
}

/// From when on the first list of a port runs, and no frame that began before it is in transmission.
fn settled(network: &Network, number: u32, gates: &PortGates, gated: &Gated) -> Option<u64> {
    let reading = reading(network, network.ports[number as usize].node);
    let first = first_cycle(gates, reading);
    // Ticks and steps may make it later.
    let frame = gated.frames.iter().flatten().map(|frames| gated.timing.time(frames.wire_max)).max();
    let late = if first == 0 && gated.timing.error == 0 { 0 } else { frame? + gated.timing.error };
    Some(first + late)
}

/// How long after the begin of the run the first cycle begins.
fn first_cycle(gates: &PortGates, reading: u64) -> u64 {
    let parameters = &gates.parameters;
    let base = parameters.base_time.as_ps();
    let Some(since) = reading.checked_sub(base) else { return base - reading };
    let cycles: CycleTime = parameters.cycle_time;
    let begun = cycles.within(tautwire_units::Duration::from_ps(since));
    let at = cycles.times(begun).as_ps();
    if at == since { 0 } else { cycles.times(begun + 1).as_ps() - since }
}

/// When the gate of a class is open, over the least number of cycles that is an integer number of picoseconds.
fn open(gates: &PortGates, class: usize) -> Option<Periodic> {
    let cycles = gates.parameters.cycle_time;
    let period = cycles.numerator();
    let open = match gates.parameters.openings(class) {
        Openings::Always => return Some(Periodic::all(period)),
        Openings::Never => return Some(Periodic::none(period)),
        Openings::In(open) => open,
    };
    let most = if cycles.denominator() > 1 { UNROLLED_MAX } else { PARTS_MAX * UNROLLED_MAX };
    let count = usize::try_from(cycles.denominator()).ok()?.checked_mul(open.len())?;
    let starts = (0..cycles.denominator()).map(|cycle| cycles.times(cycle).as_ps());
    let all = starts
        .flat_map(|start| open.iter().map(move |one| (start + one.open.as_ps(), start + one.close.as_ps())));
    (count <= most).then(|| Periodic::of(period, all))
}

/// A port without gates.
fn always_open(plan: &Plan<'_>, number: u32, port: &PortPlan) -> Gated {
    let largest = |class: usize| {
        let entries = plan.of_class(number, class).iter();
        let largest = entries.map(|entry| plan.entries[*entry as usize].wire_max()).max();
        let control = port.control.filter(|(own, ..)| *own == class).map(|(_, _, bits)| bits);
        Some(Frames { wire_max: largest.max(control)?, guard: Guard::None })
    };
    Gated {
        timing: Timing { rate: port.rate, lost: port.slack, error: port.slack, late: 0, first: 0 },
        open: std::array::from_fn(|_| Periodic::all(1).into()),
        unforeseen: Vec::new(),
        at_first: u8::MAX,
        frames: std::array::from_fn(largest),
        sizes: Default::default(),
        credit: Credit { frozen_when_closed: true, frozen_in_guard: false },
        keeps_off_rests: false,
        cutting: None,
        #[cfg(feature = "planted-faults")]
        fault: plan.fault,
    }
}
