//! A change of gate lists in a run: streams are added to those that run, whose offsets and windows stay, and windows of streams that have ended
//! are given back. What runs are the lists that changes before have left ([`Running`]).
//!
//! It has three steps. First all ports are given their new lists, then all of these begin at one instant, a whole number of the
//! common period of all lists old and new, and last the talkers of the new streams start. Whether that order is safe is not
//! assumed: the bounds of the network with these events hold before, during and after the change, and prove each deadline, or the change is refused.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tautwire_model::Network;
use tautwire_model::gates::{CycleTime, Entry, GateChange, GateParameters, Operation};
use tautwire_model::network::{PortIndex, StreamIndex, TimelineAction, Traffic};
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
    /// Streams that ended before, whose windows are given back.
    pub ended: Vec<StreamIndex>,
    /// The streams by bounds that hold before, during and after the change; the ports with their new lists.
    pub gates: ScheduledGates,
}

impl ScheduledChange {
    /// Adds the time-aware streams of a description `text` (whose path is `name`) that state no offset to those that do and that have not
    /// ended, by a change whose lists are set at an instant of the run; none if there are no time-aware streams, or the description has
    /// faults.
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
        let Running { network: before, ended } = match Running::at(&network, at) {
            Ok(running) => running,
            Err(reasons) => return Some(Err(reasons)),
        };
        let found = match schedule_gates(&before, &GateOptions { keep: true, ..*options }) {
            Some(Ok(found)) => found,
            Some(Err(reasons)) => return Some(Err(reasons)),
            None if ended.is_empty() => return None,
            None => return Some(Err(vec!["all time-aware streams have ended".to_owned()])),
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
        let is_new = |stream: &StreamIndex| network.streams[stream.index()].open_phase;
        let streams: Vec<_> =
            found.offsets().into_iter().filter_map(|(stream, offset)| Some((stream, offset?))).collect();
        let streams: Vec<_> = streams.into_iter().filter(|(stream, _)| is_new(stream)).collect();
        let mut changed = changed(&before, &found.network, &mut reasons);
        changed.extend(given_back(&network, &before, &ended, &found.described.ports));
        if streams.is_empty() && (ended.is_empty() || changed.is_empty()) {
            reasons.push("each time-aware stream states an offset, so none is to be added, and no window of one that has ended is there".to_owned());
        }
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
        let (last, what) = if streams.is_empty() { (begin, "lists begin") } else { (start, "streams start") };
        if last >= network.run.duration {
            reasons.push(format!(
                "the run ends before the new {what}, at {last}: set `duration` of `run` to more"
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
        Some(Ok(Self { change, text, begin, ended, gates }))
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
        let name = |stream: &StreamIndex| &self.gates.network.streams[stream.index()].name;
        let streams = self.change.streams.iter().map(|(stream, _)| name(stream));
        let ended = self.ended.iter().map(name);
        all["change"] = json!({
            "at_ps": self.change.at.as_ps(),
            "begin_ps": self.begin.as_ps(),
            "start_ps": self.change.start.as_ps(),
            "ports": ports.collect::<Vec<_>>(),
            "streams": streams.collect::<Vec<_>>(),
            "ended": ended.collect::<Vec<_>>(),
            "safe": self.holds(),
        });
        all
    }
}

/// What runs at an instant.
struct Running {
    /// With the lists that run then, and without hops of streams that have ended.
    network: Network,
    /// Time-aware streams that have been stopped, and are not started again.
    ended: Vec<StreamIndex>,
}

impl Running {
    /// By the events of a network.
    ///
    /// # Errors
    /// Why that is not known, each a sentence.
    fn at(network: &Network, at: Duration) -> Result<Self, Vec<String>> {
        let mut reasons = Vec::new();
        let mut lists: BTreeMap<PortIndex, &GateParameters> = BTreeMap::new();
        // Whether an event that starts or stops a stream last stops it, before that instant.
        let mut stopped: BTreeMap<StreamIndex, bool> = BTreeMap::new();
        for event in &network.events {
            match &event.action {
                TimelineAction::ChangeGates(port, list) => {
                    let begin = begin(network, *port, list, event.at);
                    if begin > at {
                        reasons.push(format!(
                            "the list that {} gets at {} begins at {begin}: the next change must be set behind that",
                            port_name(network, *port),
                            event.at
                        ));
                    }
                    lists.insert(*port, list);
                }
                TimelineAction::StopStream(stream) => drop(stopped.insert(*stream, event.at <= at)),
                TimelineAction::StartStream(number) => {
                    stopped.insert(*number, false);
                    let stream = &network.streams[number.index()];
                    let Traffic::Periodic { interval, .. } = stream.traffic else { continue };
                    if stream.time_aware.is_none() {
                        continue;
                    }
                    if stream.open_phase {
                        reasons.push(format!(
                            "an event starts `{}` at {}, which is left to the change: take it out",
                            stream.name, event.at
                        ));
                    } else if !event.at.as_ps().is_multiple_of(interval.as_ps()) {
                        reasons.push(format!(
                            "`{}` starts at {}, which is no multiple of its interval {interval}",
                            stream.name, event.at
                        ));
                    }
                }
                _ => (),
            }
        }
        if !reasons.is_empty() {
            return Err(reasons);
        }
        let is_planned = |stream: &StreamIndex| {
            let stream = &network.streams[stream.index()];
            stream.time_aware.is_some() && !stream.open_phase
        };
        let ended = stopped.into_iter().filter(|(_, is_stopped)| *is_stopped).map(|(stream, _)| stream);
        let ended: Vec<StreamIndex> = ended.filter(is_planned).collect();
        let network = network.clone().altered(|parts| {
            for (port, list) in lists {
                if let Some(gates) = &mut parts.ports[port.index()].gates {
                    gates.parameters = list.clone();
                }
            }
            for stream in &ended {
                let stream = &mut parts.streams[stream.index()];
                (stream.time_aware, stream.hops) = (None, Vec::new());
            }
        });
        Ok(Self { network, ended })
    }
}

/// When a list that is set at an instant begins, true time (802.1Q-2022, 8.6.9.3.1).
fn begin(network: &Network, port: PortIndex, list: &GateParameters, set: Duration) -> Duration {
    let reading = network.first_reading(network.ports[port.index()].node);
    let base = list.base_time.since(Instant::ZERO);
    let since = (reading + set).saturating_sub(base);
    let cycles = list.cycle_time.within(since);
    let over = u64::from(list.cycle_time.times(cycles) < since);
    (base + list.cycle_time.times(cycles + over)).saturating_sub(reading)
}

/// The ports that no scheduled stream passes any more, with lists without windows.
fn given_back(
    network: &Network,
    before: &Network,
    ended: &[StreamIndex],
    scheduled: &[PortIndex],
) -> Vec<(PortIndex, GateParameters, GateParameters)> {
    let hops = ended.iter().flat_map(|stream| &network.streams[stream.index()].hops);
    let mut ports: Vec<PortIndex> =
        hops.map(|hop| hop.port).filter(|port| !scheduled.contains(port)).collect();
    ports.sort_unstable();
    ports.dedup();
    let open = |entry: &Entry| Entry { operation: Operation::SetGateStates, gate_states: u8::MAX, ..*entry };
    let with_list = ports.into_iter().filter_map(|port| {
        let old = before.gates(port)?.parameters.clone();
        let new = GateParameters {
            control_list: old.control_list.iter().map(open).collect(),
            base_time: Instant::ZERO + network.first_reading(network.ports[port.index()].node),
            ..old.clone()
        };
        (old.control_list != new.control_list).then_some((port, old, new))
    });
    with_list.collect()
}

fn port_name(network: &Network, port: PortIndex) -> String {
    let port = &network.ports[port.index()];
    format!("{}:{}", network.nodes[port.node.index()].name, port.name)
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
            reasons.push(format!(
                "{} needs gates, which a run cannot enable: give it a `gate-parameter-table` that is always open",
                port_name(network, port)
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
