//! A change of gate lists in a run: streams are added to those that run, whose offsets and windows stay.
//!
//! It has three steps. First all ports are given their new lists, then all of these begin at one instant, a whole number of the
//! common period of all lists old and new, and last the talkers of the new streams start. Whether that order is safe is not
//! assumed: the bounds of the network with these events hold before, during and after the change, and prove each deadline, or the change is refused.

use serde_json::{Value, json};
use tautwire_model::Network;
use tautwire_model::gates::{CycleTime, GateChange, GateParameters};
use tautwire_model::network::{PortIndex, Traffic};
use tautwire_synthesis::{GateOptions, Verdict, schedule_gates};
use tautwire_units::{Duration, Instant};

use crate::ScheduledGates;

/// The longest common period, picoseconds: 100 s.
const PERIOD_MAX: u64 = 100_000_000_000_000;

/// A change of lists, and what it proves.
#[derive(Clone, Debug)]
pub struct ScheduledChange {
    /// The change.
    pub change: GateChange,
    /// The description with the change in its events.
    pub text: String,
    /// When the new lists begin.
    pub begin: Duration,
    /// The streams by bounds that hold before, during and after the change; the ports with their new lists.
    pub gates: ScheduledGates,
}

impl ScheduledChange {
    /// Adds the time-aware streams of a description `text` (whose path is `name`) that state no offset to those that do, by a change
    /// whose lists are set at an instant of the run; none if there are no time-aware streams, or the description has faults.
    ///
    /// # Errors
    /// Why there is no such change, each a sentence.
    pub fn find(
        name: &str,
        text: &str,
        options: &GateOptions,
        at: Duration,
    ) -> Option<Result<Self, Vec<String>>> {
        let network = crate::load_text(name, text).network?;
        let found = match schedule_gates(&network, &GateOptions { keep: true, ..*options })? {
            Ok(found) => found,
            Err(reasons) => return Some(Err(reasons)),
        };
        let mut reasons = Vec::new();
        if found.verdict != Verdict::Scheduled {
            let left_out = found.offsets().into_iter().filter(|(_, offset)| offset.is_none());
            let names = left_out.map(|(stream, _)| network.streams[stream.index()].name.clone());
            reasons.push(format!(
                "no place is found for {} behind what stays",
                names.collect::<Vec<_>>().join(", ")
            ));
            return Some(Err(reasons));
        }
        let is_new =
            |stream: &tautwire_model::network::StreamIndex| network.streams[stream.index()].open_phase;
        let streams: Vec<_> =
            found.offsets().into_iter().filter_map(|(stream, offset)| Some((stream, offset?))).collect();
        let streams: Vec<_> = streams.into_iter().filter(|(stream, _)| is_new(stream)).collect();
        if streams.is_empty() {
            reasons.push("each time-aware stream states an offset, so none is to be added".to_owned());
        }
        let changed = changed(&network, &found.network, &mut reasons);
        let intervals =
            streams.iter().filter_map(|(stream, _)| match network.streams[stream.index()].traffic {
                Traffic::Periodic { interval, .. } => Some(interval.as_ps()),
                _ => None,
            });
        let cycles = changed.iter().flat_map(|(_, old, new)| [old.cycle_time, new.cycle_time]);
        let cycles =
            cycles.map(|cycle: CycleTime| if cycle.denominator() == 1 { cycle.numerator() } else { 0 });
        let period = cycles.chain(intervals).try_fold(1, common);
        let Some(period) = period else {
            reasons.push("the cycles of the lists and the intervals of the streams have no common multiple up to 100 s".to_owned());
            return Some(Err(reasons));
        };
        // A whole period at least lies between the steps.
        let begin = Duration::from_ps((at.as_ps() / period + 2) * period);
        let start = begin.saturating_add(Duration::from_ps(period));
        if start >= network.run.duration {
            reasons.push(format!(
                "the run ends before the new streams start, at {start}: set `duration` of `run` to more"
            ));
        }
        if !reasons.is_empty() {
            return Some(Err(reasons));
        }
        let later = |new: GateParameters| GateParameters { base_time: new.base_time + begin, ..new };
        let lists = changed.into_iter().map(|(port, _, new)| (port, later(new))).collect();
        let change = GateChange { at, lists, start, streams };
        let written = crate::grammar().with_change(name, text, &network, &change);
        let Some((text, network)) =
            written.and_then(|text| Some((text.clone(), crate::load_text(name, &text).network?)))
        else {
            reasons.push("the description cannot be rewritten: streams are in a table or behind an alias, or devices do not take the lists".to_owned());
            return Some(Err(reasons));
        };
        let gates = ScheduledGates::of(&found, &network, true);
        Some(Ok(Self { change, text, begin, gates }))
    }

    /// Whether no stream is lost or late before, during and after the change.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.gates.holds()
    }

    /// The change as JSON: that of the schedule, and its instants.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut all = self.gates.to_json();
        let ports = self.change.lists.iter().map(|(port, _)| self.gates.port_name(*port));
        let streams =
            self.change.streams.iter().map(|(stream, _)| &self.gates.network.streams[stream.index()].name);
        all["change"] = json!({
            "at_ps": self.change.at.as_ps(),
            "begin_ps": self.begin.as_ps(),
            "start_ps": self.change.start.as_ps(),
            "ports": ports.collect::<Vec<_>>(),
            "streams": streams.collect::<Vec<_>>(),
            "safe": self.holds(),
        });
        all
    }
}

/// The ports whose lists are other ones, with both.
fn changed(
    network: &Network,
    after: &Network,
    reasons: &mut Vec<String>,
) -> Vec<(PortIndex, GateParameters, GateParameters)> {
    let mut changed = Vec::new();
    for number in 0..network.ports.len() {
        let port = PortIndex::at(number);
        let Some(new) = after.gates(port) else { continue };
        let Some(old) = network.gates(port) else {
            let settings = &network.ports[number];
            reasons.push(format!(
                "{}:{} needs gates, which a run cannot enable: give it a `gate-parameter-table` that is always open",
                network.nodes[settings.node.index()].name, settings.name
            ));
            continue;
        };
        let (old, new) = (old.parameters.clone(), new.parameters.clone());
        // When a cycle begins.
        let phase = |one: &GateParameters| one.base_time.since(Instant::ZERO) % one.cycle_time.floor();
        let is_same = old.control_list == new.control_list
            && old.cycle_time == new.cycle_time
            && phase(&old) == phase(&new);
        if !is_same {
            changed.push((port, old, new));
        }
    }
    changed
}

/// The least common multiple, if there is one that is not too long.
fn common(one: u64, other: u64) -> Option<u64> {
    let (mut a, mut b) = (one, other);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    (one / a).checked_mul(other).filter(|common| (1..=PERIOD_MAX).contains(common))
}
