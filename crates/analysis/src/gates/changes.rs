//! The lists of a port one after the other: when each begins, and the states of the gates up to then.
//!
//! All lists follow one clock, so the distance from the cycles of one to those of the next is known, whatever the clock does: a new list begins
//! at its base time, or a whole number of its cycles later, and the cycle before it is cut or extended (IEEE Std 802.1Q-2022, 8.6.9.1.1 and
//! 8.6.9.3.1). What the clock reads when an event happens is known up to its tolerance. A change that depends on more than that, or that meets
//! another one that has not begun, has no place. A frame that starts before the event looks ahead along the old list alone ([`Unforeseen`]).

use tautwire_core::gates::{GateParameters, Openings};
use tautwire_model::Network;
use tautwire_model::gates::{GateClock, PortGates};
use tautwire_model::network::{NodeIndex, PortIndex, TimelineAction};

use super::corrected::Corrected;
use super::periodic::Periodic;
use super::times::{ORIGIN, Times};
use super::{reading, restarts};
use crate::clock::{Deviation, slack_ps};

/// Entries between the first list and the last.
const ENTRIES_MAX: usize = 65_536;

/// The lists of a port that changes them.
#[derive(Clone, Debug)]
pub(super) struct Changes<'a> {
    pub(super) lists: Vec<&'a GateParameters>,
    /// From the begin of the last cycle of the first list to that of the first cycle of the last one: states, and until when, counted from
    /// [`ORIGIN`].
    entries: Vec<(u8, u64)>,
    /// What the clock reads there.
    begin: u64,
    pub(super) unforeseen: Vec<Unforeseen>,
    #[cfg(feature = "planted-faults")]
    is_forgotten: bool,
}

/// Gates that may be otherwise than a frame expects that starts before a change is set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unforeseen {
    /// When gates may first be otherwise than in the list before.
    pub(super) differs: u64,
    /// The latest instant at which the change is set.
    pub(super) set: u64,
}

/// What the clock of a port's gates reads at an instant, at least and at most.
#[derive(Clone, Copy, Debug)]
struct Readings {
    begin: u64,
    deviation: Deviation,
    error: u64,
}

/// A list that runs, and the cycle with which it began.
struct Running<'a> {
    list: &'a GateParameters,
    cycle: u64,
}

impl Readings {
    fn of(network: &Network, node: NodeIndex) -> Option<Self> {
        let clock = &network.nodes[node.index()].clock;
        match network.gate_clock() {
            GateClock::Free => Some(Self {
                begin: reading(network, node),
                deviation: Deviation::of(clock),
                error: slack_ps(clock),
            }),
            GateClock::NetworkTime => Corrected::of(network, node).map(|corrected| Self {
                begin: 0,
                deviation: Deviation::default(),
                error: corrected.error(),
            }),
            GateClock::Gptp => None,
        }
    }

    fn at(self, instant: u64) -> (u64, u64) {
        let least = self.begin.saturating_add(self.deviation.shrink(instant));
        let most = self.begin.saturating_add(self.deviation.stretch(instant));
        (least.saturating_sub(self.error), most.saturating_add(self.error))
    }
}

/// When a cycle of a list begins.
fn start(list: &GateParameters, cycle: u64) -> u64 {
    list.base_time.as_ps().saturating_add(list.cycle_time.times(cycle).as_ps())
}

/// The first cycle of a list that begins at a time or later.
fn first_cycle_from(list: &GateParameters, time: u64) -> u64 {
    let Some(since) = time.checked_sub(list.base_time.as_ps()) else { return 0 };
    let begun = list.cycle_time.within(tautwire_units::Duration::from_ps(since));
    begun + u64::from(start(list, begun) < time)
}

impl Running<'_> {
    /// Its last cycle, if a change to `at` is set when the clock reads `set`: the one that runs then is not extended.
    fn last_cycle(&self, set: u64, at: u64) -> Option<u64> {
        let since = set.checked_sub(self.list.base_time.as_ps())?;
        let runs = self.list.cycle_time.within(tautwire_units::Duration::from_ps(since));
        if at <= start(self.list, runs + 1) {
            return Some(runs);
        }
        let extension = self.list.cycle_time_extension.as_ps();
        let ends = first_cycle_from(self.list, at.saturating_sub(extension));
        Some(ends.saturating_sub(1).max(runs + 1))
    }
}

impl<'a> Changes<'a> {
    /// Of a port whose list changes; none if it is not known when.
    pub(super) fn of(network: &'a Network, port: PortIndex, gates: &'a PortGates) -> Option<Self> {
        let node = network.ports[port.index()].node;
        let readings = Readings::of(network, node)?;
        if restarts(network, node) || network.preemption_config(port).is_some() {
            return None;
        }
        let mut running = Running { list: &gates.parameters, cycle: 0 };
        // From here on it surely runs.
        let begins = readings.at(0).1.saturating_add(running.list.cycle_time.ceil().as_ps());
        let mut since = begins.max(running.list.base_time.as_ps());
        let mut changes = Self {
            lists: vec![running.list],
            entries: Vec::new(),
            begin: 0,
            unforeseen: Vec::new(),
            #[cfg(feature = "planted-faults")]
            is_forgotten: false,
        };
        for event in &network.events {
            let list = match &event.action {
                TimelineAction::ChangeGates(of, list) if *of == port => &**list,
                _ => continue,
            };
            let (least, most) = readings.at(event.at.as_ps());
            let cycle = first_cycle_from(list, least);
            let at = start(list, cycle);
            let last = running.last_cycle(least, at)?;
            let is_known = least >= since
                && first_cycle_from(list, most) == cycle
                && running.last_cycle(most, at) == Some(last);
            if !is_known {
                return None;
            }
            if changes.entries.is_empty() {
                (running.cycle, changes.begin) = (last, start(running.list, last));
            }
            changes.add(&running, (last, at))?;
            let differs = at.min(start(running.list, last + 1));
            let on_axis = |time: u64| (ORIGIN + time).saturating_sub(changes.begin);
            changes.unforeseen.push(Unforeseen { differs: on_axis(differs), set: on_axis(most) });
            changes.lists.push(list);
            (running, since) = (Running { list, cycle }, at);
        }
        Some(changes)
    }

    /// The same, without what windows over a change hold.
    #[cfg(feature = "planted-faults")]
    pub(super) fn forgotten(self) -> Self {
        Self { is_forgotten: true, ..self }
    }

    /// The cycles of a list up to its last one, which ends `at`.
    fn add(&mut self, running: &Running<'_>, (last, at): (u64, u64)) -> Option<()> {
        for cycle in running.cycle..=last {
            let mut now = start(running.list, cycle);
            let end = if cycle == last { at } else { start(running.list, cycle + 1) };
            let count = running.list.control_list.len();
            for (number, entry) in running.list.control_list.iter().enumerate() {
                let until =
                    if number + 1 == count { end } else { end.min(now + entry.time_interval.as_ps()) };
                self.entries.push((entry.gate_states, ORIGIN + (until - self.begin)));
                now = until;
                if now >= end {
                    break;
                }
            }
            if self.entries.len() > ENTRIES_MAX {
                return None;
            }
        }
        Some(())
    }

    /// From when to when it is neither the first list nor the last alone that runs, by a clock that is true except for its reading.
    pub(super) fn true_span(&self, network: &Network, port: PortIndex) -> (u64, u64) {
        let reading = reading(network, network.ports[port.index()].node);
        let end = self.entries.last().map_or(ORIGIN, |(_, until)| *until) - ORIGIN + self.begin;
        (self.begin.saturating_sub(reading), end.saturating_sub(reading))
    }

    /// Where an instant lies from [`ORIGIN`] on, by such a clock.
    pub(super) fn place(&self, network: &Network, port: PortIndex, instant: i128) -> Option<u64> {
        let reading = reading(network, network.ports[port.index()].node);
        u64::try_from(i128::from(ORIGIN) + i128::from(reading) + instant - i128::from(self.begin)).ok()
    }

    /// When the gate of a class is open.
    pub(super) fn open(&self, class: usize) -> Times {
        let (mut at, mut parts) = (ORIGIN, Vec::new());
        for (states, until) in &self.entries {
            if states >> class & 1 == 1 {
                parts.push((at, *until));
            }
            at = *until;
        }
        let [first, .., last] = self.lists[..] else { unreachable!("a change has two lists") };
        let times = Times::changed(open(first, class), (ORIGIN, at), parts, open(last, class));
        #[cfg(feature = "planted-faults")]
        let times = if self.is_forgotten { times.forgotten() } else { times };
        times
    }
}

/// When the gate of a class is open in a cycle of a list.
pub(super) fn open(list: &GateParameters, class: usize) -> Periodic {
    let period = list.cycle_time.floor().as_ps();
    match list.openings(class) {
        Openings::Always => Periodic::all(period),
        Openings::Never => Periodic::none(period),
        Openings::In(open) => {
            Periodic::of(period, open.iter().map(|one| (one.open.as_ps(), one.close.as_ps())))
        }
    }
}
