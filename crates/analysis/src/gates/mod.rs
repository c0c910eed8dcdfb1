//! Gates of scheduled traffic (IEEE Std 802.1Q-2022, 8.6.8.4): what they leave to each class of a port.
//!
//! A class whose gate closes is served in its windows alone. `port.rs` computes these from the list, the frames that
//! pass and the device's behaviour at an edge; `windows.rs` computes bounds with them. Where clocks are corrected to a stated
//! precision, edges differ by it from those of the list in true time (`corrected.rs`). Gates of other clocks that are corrected
//! have no bound: a correction during a window shortens it by as much. Where a list changes, windows over the change count, too
//! (`changes.rs`, `times.rs`).
//! Frames that are larger than queueMaxSDU are lost (`loss`). Streams that true clocks release at stated offsets have a
//! bound by the instants of each frame, too (`instants`).

mod changes;
mod corrected;
mod credit;
mod cutting;
mod instants;
mod periodic;
mod port;
mod reasons;
mod times;

use tautwire_core::gates::{GateParameters, GuardPolicy};
use tautwire_model::gates::{GateClock, PortGates};
use tautwire_model::network::{NodeIndex, PortIndex, TimelineAction};
use tautwire_model::{Network, frame_length};
use tautwire_units::{Bytes, Duration};

use self::changes::Changes;
use self::corrected::{Corrected, Corrections};
use self::cutting::{Cutting, Holds};
use self::port::{Credit, Frames, Gated, Guard, Timing};
use self::reasons::{CHANGES, CORRECTED, NEVER, OVERLOAD};
use crate::analysis::Analysis;
use crate::clock::Deviation;
use crate::loss::{LimitKind, Overflow};
use crate::plan::{Plan, wire};
use crate::port_plan::{PortPlan, Selection};
use crate::preemption::precedence;
use crate::preemption::reasons::BEHIND_GATES;
use crate::service::{ByInstants, Carried, Served, Service, ServiceKind, Words};
use crate::windows::{ClassWindows, CreditWindows, SinceRun, Windows};

/// Octets of MAC client data that a class of a port with gates takes.
pub(crate) const MAX_SDU: LimitKind =
    LimitKind::new("queue-max-sdu", "octets", "queueMaxSDU of class {class} of {place}, MAC client data");

/// The mechanism.
pub(crate) struct Gates;

impl ServiceKind for Gates {
    fn why_not_stepwise(&self, network: &Network) -> Option<&'static str> {
        network
            .has_gates()
            .then_some("gates: the largest frame of each class decides how much of a window is usable")
    }

    fn serve<'network>(&self, plan: &Plan<'network>) -> Option<Box<dyn Service + 'network>> {
        plan.network.has_gates().then(|| -> Box<dyn Service> { Box::new(ScheduledPorts) })
    }
}

/// The ports that have gates.
#[derive(Debug)]
struct ScheduledPorts;

impl Service for ScheduledPorts {
    fn carries(&self, _plan: &Plan<'_>) -> Vec<(u32, Carried)> {
        Vec::new()
    }

    fn port(&self, plan: &Plan<'_>, port: u32) -> Option<Served> {
        let gates = plan.network.gates(PortIndex(port))?;
        let line = plan.ports[port as usize].as_ref()?;
        let windows = Some(Box::new(windows(plan, (port, line), gates)));
        Some(Served { windows, ..Served::default() })
    }

    fn by_instants(&self, analysis: &Analysis<'_>) -> Vec<(u32, ByInstants)> {
        instants::by_instants(analysis)
    }

    fn notes(&self, analysis: &Analysis<'_>, stream: u32) -> Vec<String> {
        let mut notes = instants::notes(analysis, stream);
        notes.extend(since_run_notes(analysis, stream));
        notes
    }

    fn overflows(&self, _plan: &Plan<'_>, _found: &mut Vec<Overflow>) {}

    fn words(&self, _plan: &Plan<'_>, _entry: u32) -> Words {
        unreachable!("gates carry no frames: classes do")
    }
}

/// Where the time since the run began bounds a stream, and not the sum of its hops.
fn since_run_notes(analysis: &Analysis<'_>, stream: u32) -> Vec<String> {
    let note = |number: u32| {
        let (entry, passage) = (&analysis.plan.entries[number as usize], &analysis.passages[number as usize]);
        let by_hops = passage.ready_max?.checked_add(passage.sending_max?)?;
        let end = passage.next_max.filter(|end| *end < by_hops)?;
        let is_here = !analysis.is_given_by_path(number as usize) && analysis.plan.carried(number).is_none();
        let network = analysis.plan.network;
        let port = &network.ports[entry.port as usize];
        let name = format!("{}.{}", network.nodes[port.node.index()].name, port.name);
        is_here.then(|| {
            let end = Duration::from_ps(end);
            format!("at most {end} up to the node behind {name}: what has waited for a first cycle before does not wait for all of the next one")
        })
    };
    analysis.plan.entries_of(stream).filter_map(note).collect()
}

/// The windows of the classes of a port.
fn windows(plan: &Plan<'_>, (number, port): (u32, &PortPlan), gates: &PortGates) -> Windows {
    let at = PortIndex(number);
    let changes = changes(plan, at, gates);
    let is_lost = changes.is_none() && plan.network.gates_change(at);
    let has_changes = changes.is_some();
    let corrections = if has_changes || is_lost { None } else { by_corrections(plan, (number, port), gates) };
    let gated = gated(plan, (number, port), gates, changes);
    let corrected = Corrected::of(plan.network, plan.network.ports[number as usize].node);
    let is_known = corrected.is_some() || plan.network.gate_clock() == GateClock::Free;
    let deviation = corrected.map_or_else(Deviation::default, |_| port.deviation);
    let is_credit = |class: usize| matches!(port.classes[class].0, Selection::CreditBased { .. });
    let class = |class: usize| {
        let (never, overload) = (NEVER.of_class(at, class), OVERLOAD.of_class(at, class));
        let mut windows = gated.windows((class, is_credit(class)), &never, &overload);
        if windows.pushed.is_some() && is_credit(class) {
            windows.unbounded = Some(BEHIND_GATES.at(at));
        }
        if !is_known {
            windows.unbounded = Some(CORRECTED.at(at));
        } else if is_lost {
            windows.unbounded = Some(CHANGES.at(at));
        }
        // Where open intervals are not known, they limit nothing that is behind the port either.
        if !is_known || is_lost {
            (windows.sent, windows.credit) = (None, CreditWindows::unknown());
        }
        windows.on_clock(deviation)
    };
    let later = |class: usize| {
        let (never, overload) = (NEVER.of_class(at, class), OVERLOAD.of_class(at, class));
        let is_sure = is_known && !has_changes && !is_lost && !is_credit(class);
        let windows = is_sure.then(|| gated.windows_later(class, &never, &overload)).flatten()?;
        Some(windows.on_clock(deviation))
    };
    let since_run = |class: usize| {
        let (never, overload) = (NEVER.of_class(at, class), OVERLOAD.of_class(at, class));
        let is_sure = is_known && !has_changes && !is_lost && !is_credit(class) && corrections.is_none();
        let is_once =
            gated.timing.first > 0 && !restarts(plan.network, plan.network.ports[number as usize].node);
        let windows =
            (is_sure && is_once).then(|| gated.windows_later(class, &never, &overload)).flatten()?;
        let lower =
            gated.below(class).map(|(_, frames)| gated.timing.time(frames.wire_max)).max().unwrap_or(0);
        let later = windows.later.saturating_add(lower);
        #[cfg(feature = "planted-faults")]
        let later = if plan.fault == Some(crate::PlantedFault::FirstCycleForgotten) { 0 } else { later };
        let windows = ClassWindows { later, ..windows }.on_clock(deviation);
        Some(SinceRun { windows, lower: deviation.stretch(lower) })
    };
    let since_run = std::array::from_fn(since_run);
    let mut again: [Vec<ClassWindows>; 8] = std::array::from_fn(|class| later(class).into_iter().collect());
    let (from_begin, from_later) = corrections.unzip();
    if let Some(all) = from_later {
        again.iter_mut().zip(all).for_each(|(again, windows)| again.extend(windows));
    }
    let classes = match from_begin {
        // Nothing is known of single edges.
        Some(mut classes) if !is_known => {
            let credit = classes.iter_mut().enumerate().filter(|(class, _)| is_credit(*class));
            credit.for_each(|(_, windows)| windows.unbounded = Some(CORRECTED.at(at)));
            classes
        }
        from_begin => {
            let all = from_begin.into_iter().flatten().enumerate();
            all.for_each(|(class, windows)| again[class].push(windows));
            std::array::from_fn(class)
        }
    };
    Windows {
        classes,
        again,
        since_run,
        name: "closed gates, guard and what is under way when they open",
        formula: "time outside of its open intervals, with the guard of its largest frame before each close, less what the last frame of each takes \
                  of that, a lower frame at each opening, and what each correction of the clock takes + (lower frame + higher classes, and what of them waited for their own gates + frames of the class before it) / \
                  line rate + own frame / line rate",
        credit_formula: "closed time of its gate + (greatest credit + frames of the class before it) / idleSlope while it is open + own \
                         frame / line rate",
        cut_formula: "time outside of its open intervals and in holds, with the guard of its largest frame before each close and the rest of a preemptable \
                      frame at each begin + (lower preemptable frame + express classes with 24 octets for a cut by each frame + higher preemptable classes + \
                      frames of the class before it) / line rate, and from its start on as much as cuts and holds keep it on the line + own frame / line rate",
        source: "802.1Q-2022 8.6.8.4 and 8.6.9; Zhao, Pop and Craciunas 2018, with any overlap of the open intervals",
    }
}

/// The windows of the classes of a port whose clock is corrected, correction by correction, and those that count later; none if it is not known how.
fn by_corrections(
    plan: &Plan<'_>,
    (number, port): (u32, &PortPlan),
    gates: &PortGates,
) -> Option<([ClassWindows; 8], [Option<ClassWindows>; 8])> {
    let at = PortIndex(number);
    let node = plan.network.ports[number as usize].node;
    if plan.network.preemption_config(at).is_some() {
        return None;
    }
    #[cfg(feature = "planted-faults")]
    if plan.fault == Some(crate::PlantedFault::PrecisionForgotten) {
        return None;
    }
    let corrections = Corrections::of(plan.network, node, gates, port.deviation)?;
    let gated = gated_by(plan, (number, port), gates, None, |timing| {
        let frames = (0..8).filter_map(|class| frames(plan, (number, port), gates, class));
        let largest = frames.map(|frames| timing.time(frames.wire_max)).max().unwrap_or(0);
        (corrections.timing(timing, largest), corrections.first)
    });
    let time = |class: usize| gated.frames[class].map_or(0, |frames| gated.timing.time(frames.wire_max));
    let largest = (0..8).map(time).max().unwrap_or(0);
    let each = corrections.by.saturating_add(2 * largest);
    #[cfg(feature = "planted-faults")]
    let each = if plan.fault == Some(crate::PlantedFault::CorrectionsForgotten) { 0 } else { each };
    let corrected = |windows: ClassWindows| {
        let each = corrections.rate.stretch(each);
        windows.on_clock(corrections.rate).corrected(corrections.every, each, each)
    };
    let words = |class: usize| (NEVER.of_class(at, class), OVERLOAD.of_class(at, class));
    let class = |class: usize| {
        let (never, overload) = words(class);
        corrected(gated.windows((class, false), &never, &overload))
    };
    let later = |class: usize| {
        let (never, overload) = words(class);
        let windows = corrected(gated.windows_later(class, &never, &overload)?);
        let is_first = gated.timing.first > 0;
        let later = if is_first { corrections.passed(windows.later)? } else { windows.later };
        Some(ClassWindows { later, ..windows })
    };
    Some((std::array::from_fn(class), std::array::from_fn(later)))
}

/// The lists of a port one after the other, if it is known when they change.
fn changes<'a>(plan: &Plan<'a>, port: PortIndex, gates: &'a PortGates) -> Option<Changes<'a>> {
    let changes = plan.network.gates_change(port).then(|| Changes::of(plan.network, port, gates))??;
    #[cfg(feature = "planted-faults")]
    let changes = match plan.fault {
        Some(crate::PlantedFault::ChangeForgotten) => changes.forgotten(),
        _ => changes,
    };
    Some(changes)
}

/// The gates of a port as its windows need them.
fn gated(
    plan: &Plan<'_>,
    (number, port): (u32, &PortPlan),
    gates: &PortGates,
    changes: Option<Changes<'_>>,
) -> Gated {
    let node = plan.network.ports[number as usize].node;
    let corrected = Corrected::of(plan.network, node);
    #[cfg(feature = "planted-faults")]
    let corrected = corrected.filter(|_| plan.fault != Some(crate::PlantedFault::PrecisionForgotten));
    gated_by(plan, (number, port), gates, changes, |timing| match corrected {
        Some(corrected) => (corrected.timing(timing, port.deviation), corrected.first_cycle(gates)),
        None => (timing, first_cycle(plan.network, node, gates)),
    })
}

/// The same with times of the port that are changed, and how long it may be until the first cycle starts.
fn gated_by(
    plan: &Plan<'_>,
    (number, port): (u32, &PortPlan),
    gates: &PortGates,
    changes: Option<Changes<'_>>,
    change: impl Fn(Timing) -> (Timing, u64),
) -> Gated {
    let open = |class: usize| match &changes {
        Some(changes) => changes.open(class),
        None => changes::open(&gates.parameters, class).into(),
    };
    let lists = changes.as_ref().map_or_else(|| vec![&gates.parameters], |changes| changes.lists.clone());
    // A cycle with a fraction of a picosecond is now and then longer by one.
    let uneven = u64::from(lists.iter().any(|list| list.cycle_time.denominator() > 1));
    let rounding = |list: &&GateParameters| gates.rounding_of(list).as_ps();
    let rounding = lists.iter().map(rounding).max().unwrap_or(0);
    let timing = Timing {
        rate: port.rate,
        lost: port.slack,
        error: rounding + port.slack + uneven,
        late: rounding,
        first: 0,
    };
    let (timing, first) = change(timing);
    let is_ticked =
        gates.rounding().is_zero() || gates.parameters.base_time.as_ps().is_multiple_of(gates.tick.as_ps());
    let is_late = first > 0 || !is_ticked;
    let timing = Timing { first: if is_late { first + timing.error } else { 0 }, ..timing };
    let gated = Gated {
        timing,
        open: std::array::from_fn(open),
        unforeseen: changes.as_ref().map(|changes| changes.unforeseen.clone()).unwrap_or_default(),
        at_first: gates.admin_gate_states,
        frames: std::array::from_fn(|class| frames(plan, (number, port), gates, class)),
        sizes: std::array::from_fn(|class| sizes(plan, (number, port), gates, class)),
        credit: Credit {
            frozen_when_closed: gates.credit.frozen_when_closed,
            frozen_in_guard: gates.credit.frozen_in_guard_band,
        },
        keeps_off_rests: false,
        cutting: None,
        #[cfg(feature = "planted-faults")]
        fault: plan.fault,
    };
    let Some(config) = plan.network.preemption_config(PortIndex(number)) else { return gated };
    let longest = config.advances.hold.max(config.advances.release).as_ps();
    let drift = port.deviation.stretch(longest) - longest;
    let holds = Holds { parameters: &gates.parameters, advances: config.advances, drift };
    // Where its list changes, a port that preempts has no bound.
    let cutting = Cutting::of(&gated, precedence(plan, &config), &holds);
    Gated { cutting: Some(cutting), ..gated }
}

/// The reading of a node's clock when the run begins.
fn reading(network: &Network, node: NodeIndex) -> u64 {
    network.first_reading(node).as_ps()
}

/// Whether a node stops or starts in the run.
fn restarts(network: &Network, node: NodeIndex) -> bool {
    network.events.iter().any(|event| match event.action {
        TimelineAction::StartNode(other) | TimelineAction::StopNode(other) => other == node,
        _ => false,
    })
}

/// How long it may be until the first cycle starts, on the clock of the node: from its first reading on, or from a restart.
fn first_cycle(network: &Network, node: NodeIndex, gates: &PortGates) -> u64 {
    let reading = reading(network, node);
    let parameters = &gates.parameters;
    let cycle = parameters.cycle_time.ceil().as_ps();
    let least = if restarts(network, node) { cycle } else { 0 };
    let first = match parameters.base_time.as_ps().checked_sub(reading) {
        Some(ahead) => ahead,
        // It is not determined which of the cycles is the next.
        None => cycle,
    };
    first.max(least)
}

/// Of each stream of a class of a port the smallest and the largest frame, bits of the wire.
fn sizes(
    plan: &Plan<'_>,
    (number, port): (u32, &PortPlan),
    gates: &PortGates,
    class: usize,
) -> Vec<(u64, u64)> {
    let mtu = plan.network.ports[number as usize].mtu;
    let limit = wire(frame_length(gates.payload_max(class, mtu), true));
    let entries = plan.of_class(number, class).iter().map(|entry| &plan.entries[*entry as usize]);
    let of_entries = entries.map(|entry| (entry.wire_min().min(limit), entry.wire_max().min(limit)));
    let control = port.control.filter(|(own, ..)| *own == class);
    let mut sizes: Vec<_> =
        of_entries.chain(control.map(|(_, _, bits)| (wire(Bytes::new(64)), bits))).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// The frames of a class of a port.
fn frames(
    plan: &Plan<'_>,
    (number, port): (u32, &PortPlan),
    gates: &PortGates,
    class: usize,
) -> Option<Frames> {
    let mtu = plan.network.ports[number as usize].mtu;
    let payload_max = gates.payload_max(class, mtu);
    let limit = wire(frame_length(payload_max, true));
    let entries = plan.of_class(number, class).iter();
    let largest = entries.map(|entry| plan.entries[*entry as usize].wire_max().min(limit)).max();
    let control = port.control.filter(|(own, ..)| *own == class).map(|(_, _, bits)| bits);
    let wire_max = largest.max(control)?;
    let guard = match gates.guard {
        GuardPolicy::LookAhead => Guard::Frame(None),
        GuardPolicy::MaxSdu => Guard::Frame(Some(limit.max(wire_max))),
        GuardPolicy::None => Guard::None,
    };
    Some(Frames { wire_max, guard })
}
