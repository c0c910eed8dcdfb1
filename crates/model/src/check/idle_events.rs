//! Events without effect, because their state exists already or the run ends before them: a warning.
//!
//! Not here: a stream that starts its own traffic again, which restarts it, and impossible events (`events.rs`, `granted.rs`).

use std::collections::BTreeSet;

use tautwire_units::Duration;

use crate::harts::Harts;
use crate::network::{NodeIndex, StreamIndex, TimelineAction, Traffic};
use crate::resolve::events::Event;
use crate::resolve::streams::Streams;
use crate::resolve::topology::Topology;
use crate::srp::StreamReservation;
use crate::text::codes;
use crate::text::faults::Faults;

/// The state of streams, cables and nodes between the events.
struct State {
    /// Whether a stream runs; none where only the run determines it.
    runs: Vec<Option<bool>>,
    cable_up: Vec<bool>,
    node_up: Vec<bool>,
    babbles: Vec<bool>,
    is_late: Vec<bool>,
    /// Nodes that repeat frames, with their streams.
    repeating: BTreeSet<(NodeIndex, StreamIndex)>,
}

/// Warns of events of which nothing comes. `starts_up`: the streams of stations begin when these have started up.
pub(crate) fn check(
    events: &[Event],
    (topology, streams): (&Topology<'_>, &Streams<'_, '_>),
    (reservation, harts): (Option<&StreamReservation>, Option<&Harts>),
    (duration, starts_up): (Option<Duration>, bool),
    faults: &mut Faults,
) {
    let granted = |number: StreamIndex| {
        let requested = harts.and_then(|harts| harts.admission.as_ref()?.request(number)).is_some();
        requested || reservation.is_some_and(|known| known.streams.iter().any(|one| one.stream == number))
    };
    let runs = streams.list.iter().enumerate().map(|(number, draft)| {
        let is_granted = granted(StreamIndex::at(number)) || starts_up && draft.stream.started;
        (!is_granted).then_some(draft.stream.started)
    });
    let mut state = State {
        runs: runs.collect(),
        cable_up: topology.links.iter().step_by(2).map(|link| link.up).collect(),
        node_up: vec![true; topology.nodes.len()],
        babbles: vec![false; topology.nodes.len()],
        is_late: vec![false; topology.nodes.len()],
        repeating: BTreeSet::new(),
    };
    for event in events {
        if let Some(duration) = duration.filter(|duration| event.timeline.at > *duration) {
            let message = format!("the run ends at {duration}, before this event");
            let help = "make `at` earlier, or raise `run.duration`";
            faults.warning(codes::EVENT, event.place, message, help);
        } else if let Some(what) = state.take(&event.timeline.action, topology, streams) {
            let help = "remove the event, or correct its name or its time";
            faults.warning(codes::EVENT, event.place, what, help);
        }
    }
}

impl State {
    /// Takes an event; what is so already, if it finds what it would make.
    fn take(
        &mut self,
        action: &TimelineAction,
        topology: &Topology<'_>,
        streams: &Streams<'_, '_>,
    ) -> Option<String> {
        let node_name = |node: &NodeIndex| &topology.nodes[node.index()].name;
        match action {
            TimelineAction::StartStream(number) | TimelineAction::StopStream(number) => {
                let stream = &streams.list[number.index()].stream;
                let starts = matches!(action, TimelineAction::StartStream(_));
                let was = self.runs[number.index()]?;
                self.runs[number.index()] = Some(starts);
                match (was, starts) {
                    (false, false) => Some(format!("`{}` does not run at that time", stream.name)),
                    // Other traffic begins anew.
                    (true, true) if matches!(stream.traffic, Traffic::Response { .. }) => {
                        Some(format!("`{}` already runs at that time", stream.name))
                    }
                    _ => None,
                }
            }
            TimelineAction::CutCable(cable) => {
                let is_down = !std::mem::replace(&mut self.cable_up[*cable as usize], false);
                is_down.then(|| "this link is already down at that time".to_owned())
            }
            TimelineAction::MendCable(cable) => {
                let is_up = std::mem::replace(&mut self.cable_up[*cable as usize], true);
                is_up.then(|| "this link is already up at that time".to_owned())
            }
            TimelineAction::StopNode(node) => {
                let is_down = !std::mem::replace(&mut self.node_up[node.index()], false);
                is_down.then(|| format!("`{}` is already stopped at that time", node_name(node)))
            }
            TimelineAction::StartNode(node) => {
                let is_up = std::mem::replace(&mut self.node_up[node.index()], true);
                is_up.then(|| format!("`{}` is not stopped at that time", node_name(node)))
            }
            TimelineAction::Babble(node, _) => {
                self.babbles[node.index()] = true;
                None
            }
            TimelineAction::StopBabbling(node) => {
                let babbled = std::mem::replace(&mut self.babbles[node.index()], false);
                (!babbled).then(|| format!("`{}` does not babble at that time", node_name(node)))
            }
            TimelineAction::RepeatFrame(node, stream, _) => {
                self.repeating.insert((*node, *stream));
                None
            }
            TimelineAction::StopRepeating(node, stream) => {
                let repeated = self.repeating.remove(&(*node, *stream));
                let name = &streams.list[stream.index()].stream.name;
                (!repeated).then(|| format!("`{}` does not repeat `{name}` at that time", node_name(node)))
            }
            TimelineAction::Mistime(node, by) => {
                let was_late = std::mem::replace(&mut self.is_late[node.index()], !by.is_zero());
                (!was_late && by.is_zero())
                    .then(|| format!("`{}` is not at the wrong time at that time", node_name(node)))
            }
            TimelineAction::ChangeTraffic(..)
            | TimelineAction::ChangeIdleSlope(..)
            | TimelineAction::ChangeGates(..)
            | TimelineAction::ChangeFilters(..)
            | TimelineAction::ChangeShaper(..)
            | TimelineAction::ChangeBitErrorRate(..) => None,
        }
    }
}
