//! Combinations of mechanisms for which no bound is known: a run shows what they do, and nothing proves it.
//!
//! Each is a warning at its gates or cycles, once for each place and reason. What depends on the amount of traffic, such as overload, is
//! not here, nor are streams without an arrival curve. A search holds these warnings against the bounds.

use std::collections::BTreeSet;

use crate::cqf;
use crate::network::{NodeIndex, Port, PortIndex, TimelineAction, TransmissionSelection};
use crate::preemption::{is_verified, keeps_order, verification};
use crate::resolve::Resolved;
use crate::text::codes;
use crate::text::faults::Faults;
use crate::text::tree::{Node, Place};

/// The clock that gates follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clock {
    /// The node's own.
    Own,
    /// One that is corrected to a stated precision.
    Stated,
    As6802,
    Gptp,
}

/// Why there is no bound, and what would have one.
type Reason = (&'static str, &'static str);

const AS6802: Reason = (
    "its gates follow network time, which the protocol of AS6802 corrects",
    "remove `synchronisation` (clocks of a stated precision have bounds), or open the gates by `gate-enabled: false`",
);
const RESTARTS: Reason = (
    "its gates follow a corrected clock, and its node stops or starts in the run",
    "remove the event, or what corrects the clock",
);
const PREEMPTS: Reason = (
    "its gates follow a clock that gPTP corrects, and it preempts frames",
    "remove one of the three: `servo` of gPTP, the gates, or frame preemption",
);
const CHANGES: Reason = (
    "its gates follow a clock that gPTP corrects, and their list changes in the run",
    "remove `servo` of gPTP, or the event",
);
const CUT_AT_CHANGE: Reason = (
    "it preempts frames, and the list of its gates changes in the run",
    "set `enable-tx: false` of `frame-preemption-parameters` there, or remove the event",
);
const CREDIT: Reason = (
    "it is credit-based, and its gates follow a clock that is corrected by gPTP",
    "select strict priority or ATS for the class, or remove `servo` of gPTP",
);
const CUT_CREDIT: Reason = (
    "it is credit-based and preemptable, and it has gates",
    "make its priorities express, or select strict priority or ATS for the class",
);
const UNVERIFIED_GATES: Reason = (
    "it has gates, and preempts frames only after a verification in the run",
    "set `verify-disable-tx: true`; or remove `verify-at-start` and the events that bring up the link or its nodes",
);
const UNVERIFIED_ORDER: Reason = (
    "it preempts frames only after a verification in the run, and has a preemptable class above an express one",
    "make the priorities of the lower classes the preemptable ones; or set `verify-disable-tx: true`",
);
const CYCLES: Reason = (
    "their cycles follow clocks that gPTP corrects, whose difference is stated and not proven",
    "remove `servo` of gPTP, and state offsets and tolerances of the clocks",
);

/// Reports combinations without a bound.
pub(super) fn check(of: &Resolved<'_, '_>, faults: &mut Faults) {
    let clock = clock(of);
    let cycles = of.draft.root.get(cqf::resolve::KEY).map(Node::anchor);
    let mut reported: BTreeSet<(Place, Reason)> = BTreeSet::new();
    let mut report = |place: Place, of_what: String, reason: Reason| {
        if reported.insert((place, reason)) {
            let (why, help) = reason;
            let message = format!("no bound is known for {of_what}: {why}");
            faults.warning(codes::NO_BOUND, place, message, help);
        }
    };
    if let (Some(_), Some(place), Clock::Gptp) = (&of.mechanisms.cyclic, cycles, clock) {
        report(place, "cyclic streams".to_owned(), CYCLES);
    }
    for (number, port) in of.topology.ports.iter().enumerate() {
        let (places, at) = (&of.topology.extras[number].places, PortIndex::at(number));
        if let (Some(place), Some(reason)) = (places.preemption, unverified(of, (at, port))) {
            report(place, format!("streams at {}", of.topology.port_name(at)), reason);
        }
        let (Some(_), Some(place)) = (&port.gates, places.gates.or(cycles)) else { continue };
        for class in classes(of, at) {
            let Some(reason) = reason(of, clock, (at, port), class) else { continue };
            let name = of.topology.port_name(at);
            let is_of_class = reason == CREDIT || reason == CUT_CREDIT;
            let what =
                if is_of_class { format!("class {class} of {name}") } else { format!("streams at {name}") };
            report(place, what, reason);
        }
    }
}

fn clock(of: &Resolved<'_, '_>) -> Clock {
    let found = &of.mechanisms;
    let has_servo = found.gptp.as_ref().is_some_and(|gptp| gptp.servo.is_some());
    match (&found.time_triggered, &found.as6802) {
        (Some(_), Some(_)) => Clock::As6802,
        (Some(_), None) => Clock::Stated,
        (None, _) if has_servo => Clock::Gptp,
        (None, _) => Clock::Own,
    }
}

/// The classes of a port that streams have.
fn classes(of: &Resolved<'_, '_>, port: PortIndex) -> BTreeSet<usize> {
    let cyclic = of.mechanisms.cyclic.as_ref();
    let streams = of.streams.list.iter().map(|draft| &draft.stream);
    let hops = streams.flat_map(|stream| &stream.hops).filter(|hop| hop.port == port);
    // Those of cycles have bounds by these.
    let settings = &of.topology.ports[port.index()];
    let is_cyclic = |class: usize| {
        let of_cycles = cyclic.filter(|cyclic| cyclic.bridges.contains(&settings.node));
        of_cycles.is_some_and(|cyclic| cyclic.classes(settings).iter().any(|one| one.index() == class))
    };
    hops.map(|hop| hop.class.index()).filter(|class| !is_cyclic(*class)).collect()
}

/// Bit *n*: frames of class *n* may be cut at a port.
fn preemptable(of: &Resolved<'_, '_>, (number, port): (PortIndex, &Port)) -> u8 {
    let is_verified = is_verified(&of.topology.ports, &of.topology.links, number);
    if is_verified { port.preemptable_classes() } else { 0 }
}

/// Why a port has no bound because preemption is not active before it is verified in the run.
fn unverified(of: &Resolved<'_, '_>, (number, port): (PortIndex, &Port)) -> Option<Reason> {
    let preemptable = preemptable(of, (number, port));
    let events = of.events.iter().map(|event| &event.timeline.action);
    let in_run = verification((&of.topology.ports, &of.topology.links), events, number)?;
    if preemptable == 0 || in_run.verifies.is_none() {
        return None;
    }
    let streams = of.streams.list.iter().map(|draft| &draft.stream).chain(&of.streams.protocol);
    let hops = streams.flat_map(|stream| &stream.hops).filter(|hop| hop.port == number);
    let control = of.network_control.map(|control| port.class_table.class_of(control.priority, true));
    let all = hops.map(|hop| hop.class).chain(control);
    let used = all.fold(0, |all, class| all | 1 << class.number());
    let reason = match port.gates {
        Some(_) => UNVERIFIED_GATES,
        None if !keeps_order(preemptable, used) => UNVERIFIED_ORDER,
        None => return None,
    };
    (!classes(of, number).is_empty()).then_some(reason)
}

/// Why a class of a port with gates has no bound, whatever comes.
fn reason(
    of: &Resolved<'_, '_>,
    clock: Clock,
    (number, port): (PortIndex, &Port),
    class: usize,
) -> Option<Reason> {
    let is_credit = matches!(port.classes[class].selection, TransmissionSelection::CreditBased { .. });
    let preemptable = preemptable(of, (number, port));
    match clock {
        Clock::As6802 => return Some(AS6802),
        Clock::Stated | Clock::Gptp if restarts(of, port.node) => return Some(RESTARTS),
        Clock::Gptp if preemptable != 0 => return Some(PREEMPTS),
        Clock::Gptp if changes(of, number) => return Some(CHANGES),
        Clock::Gptp if is_credit => return Some(CREDIT),
        _ if preemptable != 0 && changes(of, number) => return Some(CUT_AT_CHANGE),
        Clock::Own | Clock::Stated | Clock::Gptp => {}
    }
    (is_credit && preemptable & (1 << class) != 0).then_some(CUT_CREDIT)
}

fn restarts(of: &Resolved<'_, '_>, node: NodeIndex) -> bool {
    of.events.iter().any(|event| match event.timeline.action {
        TimelineAction::StartNode(other) | TimelineAction::StopNode(other) => other == node,
        _ => false,
    })
}

fn changes(of: &Resolved<'_, '_>, port: PortIndex) -> bool {
    let at = |action: &TimelineAction| matches!(action, TimelineAction::ChangeGates(at, _) if *at == port);
    of.events.iter().any(|event| at(&event.timeline.action))
}
