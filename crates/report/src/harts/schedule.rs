//! The windows of HaRTES' elementary cycle in the timetable, a row for each port at a cable of a switch.

use tautwire_model::harts::Harts;
use tautwire_model::network::{Network, NodeKind, PortIndex};
use tautwire_units::Duration;

use crate::name;
use crate::schedule::{self, ScheduleDocument, ScheduleRow, ScheduleSlot};

/// The windows of an elementary cycle with their names, empty ones left out.
pub(crate) fn windows(harts: &Harts) -> Vec<(&'static str, Duration, Duration)> {
    let all = [
        ("trigger", Duration::ZERO, harts.trigger),
        ("turn-around", harts.trigger, harts.synchronous),
        ("synchronous", harts.synchronous, harts.open),
        ("asynchronous", harts.open, harts.close),
        ("guard", harts.close, harts.cycle),
    ];
    all.into_iter().filter(|(_, from, to)| from < to).collect()
}

/// The cycle of HaRTES at both ends of every cable of a switch: the windows are the switch's.
pub(crate) fn document(network: &Network) -> Option<ScheduleDocument> {
    let harts = network.harts.as_ref()?;
    let slot = |(window, from, to): (&str, Duration, Duration)| ScheduleSlot {
        label: window.replace('-', " "),
        kind: window.to_owned(),
        offset_ps: from.as_ps(),
        length_ps: (to - from).as_ps(),
        period_ps: harts.cycle.as_ps(),
    };
    let is_switch = |port: PortIndex| {
        let node = network.ports[port.index()].node;
        matches!(network.nodes[node.index()].kind, NodeKind::Bridge { .. })
    };
    let has_cycle = |port: &PortIndex| {
        let links = network.ports[port.index()].links;
        links.is_some_and(|links| is_switch(*port) || is_switch(network.links[links.egress.index()].to))
    };
    let ports = (0..network.ports.len()).map(PortIndex::at).filter(has_cycle);
    let row = |port: PortIndex| ScheduleRow {
        name: name::port(network, port),
        slots: windows(harts).into_iter().map(slot).collect(),
    };
    Some(schedule::document(
        "harts",
        harts.cycle * tautwire_sim::CYCLES,
        harts.cycle,
        ports.map(row).collect(),
    ))
}
