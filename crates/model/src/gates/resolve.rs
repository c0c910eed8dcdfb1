//! From the keys of a port to its gates.
//!
//! A key that the port does not state comes from its node, its device or the defaults, each key by itself. Not here:
//! faults that only the resolved network shows (`check.rs`).

use tautwire_units::{Bytes, Duration, Instant};

use super::{
    CycleTime, Entry, GateLimits, GateParameters, GatedCredit, GuardPolicy, Operation, PortGates, TimeAware,
};
use crate::gates::codes;
use crate::network::{TimelineAction, Traffic};
use crate::resolve::layered;
use crate::resolve::topology::Topology;
use crate::text::faults::Faults;
use crate::text::scalar;
use crate::text::tree::{Node, Place, Value};

/// Octets of the EtherType, which an MSDU begins with.
const ETHER_TYPE: u64 = 2;

/// The tables of the layers, the port's first.
fn tables<'t, 'a>(layers: &[&'a Node<'t>]) -> Vec<&'a Node<'t>> {
    layers.iter().filter_map(|layer| layer.get("gate-parameter-table")).collect()
}

/// The gates that the layers make, and the place of their list; none if none are enabled.
pub(crate) fn gates(layers: &[&Node<'_>], faults: &mut Faults) -> Option<(PortGates, Place)> {
    let tables = tables(layers);
    let enabled = layered(&tables, "gate-enabled")?;
    if !enabled.text().and_then(scalar::flag)? {
        return None;
    }
    let Some(list) = layered(&tables, "admin-control-list") else {
        let message = "gates that are enabled need a list".to_owned();
        faults.error(codes::GATES, enabled.place, message, "add `admin-control-list`");
        return None;
    };
    let place = list.anchor();
    let gates = without_list(&tables);
    let parameters = parameters(&tables, gates.tick)?;
    gates.limits.check_list(&parameters, place, faults);
    Some((PortGates { parameters, ..gates }, place))
}

/// What the layers state of gates that are not enabled; none if they state nothing.
pub(crate) fn gates_off(layers: &[&Node<'_>]) -> Option<PortGates> {
    let tables = tables(layers);
    (!tables.is_empty()).then(|| without_list(&tables))
}

/// All but the list.
fn without_list(tables: &[&Node<'_>]) -> PortGates {
    let text = |key: &str| layered(tables, key).and_then(Node::text);
    let tick = text("tick-granularity").and_then(|text| text.parse::<Duration>().ok());
    PortGates {
        admin_gate_states: layered(tables, "admin-gate-states").and_then(states).unwrap_or(u8::MAX),
        parameters: PortGates::default().parameters,
        limits: GateLimits::of(tables),
        payload_max: payload_max(tables),
        guard: match text("guard") {
            Some("max-sdu") => GuardPolicy::MaxSdu,
            Some("none") => GuardPolicy::None,
            _ => GuardPolicy::LookAhead,
        },
        tick: tick.filter(|tick| tick.as_ps() > 1).unwrap_or(Duration::ZERO),
        credit: GatedCredit {
            frozen_when_closed: text("credit-at-closed-gate") != Some("rises"),
            frozen_in_guard_band: text("credit-in-guard-band") == Some("frozen"),
            slope_is_average: text("idle-slope-is") != Some("while-open"),
        },
    }
}

/// The requirements on the offset of a stream.
pub(crate) fn time_aware(
    stream: &Node<'_>,
    traffic: &Traffic,
    name_place: Place,
    faults: &mut Faults,
) -> Option<TimeAware> {
    let stated = stream.get("time-aware")?;
    let mut refuse = |place: Place, message: String, help: &'static str| {
        faults.error(codes::TIME_AWARE, place, message, help);
        None
    };
    let Traffic::Periodic { interval, offset, drawn: false, .. } = *traffic else {
        let message = "only periodic traffic without a drawn phase is released at an offset".to_owned();
        return refuse(stated.anchor(), message, "remove `time-aware`, or make its traffic periodic");
    };
    for key in ["virtual-link", "time-triggered", "reservation", "datagram", "frer"] {
        if let Some(other) = stream.get(key) {
            let message = format!("a stream with `{key}` has no offset that a schedule of gates may choose");
            return refuse(other.anchor(), message, "remove one of the keys");
        }
    }
    if stream.get("route").and_then(Node::text) == Some("learned") {
        let message = "gates need the path of a stream, and this one is learned".to_owned();
        return refuse(stated.anchor(), message, "remove `route: learned`, or `time-aware`");
    }
    let earliest: Duration = stated.parsed("earliest-transmit-offset").unwrap_or_default();
    let latest: Duration = stated.parsed("latest-transmit-offset").unwrap_or(interval - Duration::from_ps(1));
    if earliest > latest || latest >= interval {
        let message = format!("no offset below the interval of {interval} is from {earliest} to {latest}");
        return refuse(stated.anchor(), message, "let them be in order, and below the interval");
    }
    let has_offset = stream.get("traffic").is_some_and(|traffic| traffic.get("offset").is_some());
    if has_offset && !(earliest..=latest).contains(&offset) {
        let message = format!("the offset of {offset} is not from {earliest} to {latest}");
        let place = stream.get("traffic").map_or(name_place, Node::anchor);
        return refuse(place, message, "change it, or have `tautwire schedule` find another");
    }
    Some(TimeAware { earliest, latest })
}

/// Gate states: a list of open classes, or an octet.
fn states(node: &Node<'_>) -> Option<u8> {
    match &node.value {
        Value::Scalar(text) => text.parse().ok(),
        _ => {
            let classes = node.items().iter().filter_map(|item| item.text()?.parse::<u8>().ok());
            Some(classes.filter(|class| *class < 8).fold(0, |all, class| all | 1 << class))
        }
    }
}

fn entry(node: &Node<'_>, tick: Duration) -> Option<Entry> {
    let least = tick.max(Duration::from_ns(1));
    let interval: Duration = node.parsed("time-interval")?;
    Some(Entry {
        operation: match node.get("operation").and_then(Node::text) {
            Some("set-and-hold-mac") => Operation::SetAndHoldMac,
            Some("set-and-release-mac") => Operation::SetAndReleaseMac,
            _ => Operation::SetGateStates,
        },
        gate_states: states(node.get("gate-states")?)?,
        time_interval: if interval.is_zero() { least } else { interval },
    })
}

/// The largest MAC client data of each class.
fn payload_max(tables: &[&Node<'_>]) -> [Option<Bytes>; 8] {
    let tables_of_classes: Vec<&Node<'_>> =
        tables.iter().filter_map(|table| table.get("queue-max-sdu-table")).collect();
    let is_payload = layered(tables, "sdu").and_then(Node::text) == Some("payload");
    let beside = if is_payload { 0 } else { ETHER_TYPE };
    std::array::from_fn(|class| {
        let stated = layered(&tables_of_classes, &class.to_string()).and_then(Node::text)?;
        let octets: Bytes = stated.parse().ok()?;
        (octets > Bytes::ZERO).then(|| Bytes::new(octets.get().saturating_sub(beside)))
    })
}

impl GateLimits {
    /// The limits of the device.
    pub(crate) fn of(tables: &[&Node<'_>]) -> Self {
        let text = |key: &str| layered(tables, key).and_then(Node::text);
        Self {
            list: text("supported-list-max").and_then(|text| text.parse().ok()),
            interval: text("supported-interval-max").and_then(|text| text.parse().ok()),
            cycle: text("supported-cycle-max").and_then(|text| scalar::period(text).ok()),
        }
    }

    /// Holds a list of a port's gates against it.
    fn check_list(&self, parameters: &GateParameters, place: Place, faults: &mut Faults) {
        let intervals: Vec<Duration> =
            parameters.control_list.iter().map(|entry| entry.time_interval).collect();
        self.check((&intervals, parameters.cycle_time), (codes::GATES, place), faults);
    }

    /// Holds a list against it, of these intervals.
    pub(crate) fn check(
        &self,
        (intervals, cycle): (&[Duration], CycleTime),
        (code, place): (&'static str, Place),
        faults: &mut Faults,
    ) {
        let mut refuse = |message: String, help: &'static str| faults.error(code, place, message, help);
        if let Some(most) = self.list.filter(|most| intervals.len() as u64 > *most) {
            let message = format!("the list has {} entries, and the device takes {most}", intervals.len());
            refuse(message, "join entries, or correct `supported-list-max`");
        }
        let longest = intervals.iter().copied().max().unwrap_or_default();
        if let Some(most) = self.interval.filter(|most| longest > *most) {
            let message =
                format!("an interval of the list is {longest}, and the device takes {most} at most");
            refuse(message, "split the entry, or correct `supported-interval-max`");
        }
        if let Some(most) = self.cycle.filter(|most| cycle.is_longer_than(*most)) {
            let message = format!("the cycle is {cycle}, and the device takes {most} at most");
            refuse(message, "shorten the cycle, or correct `supported-cycle-max`");
        }
    }
}

/// The list, and all that a change sets with it; none if it is not there, or faulty.
fn parameters(tables: &[&Node<'_>], tick: Duration) -> Option<GateParameters> {
    let span = |key: &str| layered(tables, key).and_then(|node| node.text()?.parse::<Duration>().ok());
    let list = layered(tables, "admin-control-list")?;
    let control_list: Vec<Entry> = list.items().iter().filter_map(|item| entry(item, tick)).collect();
    let sum = control_list.iter().fold(Duration::ZERO, |sum, one| sum.saturating_add(one.time_interval));
    let cycle_time = match layered(tables, "admin-cycle-time") {
        Some(stated) => scalar::period(stated.text()?).ok()?,
        None => CycleTime::new(sum.as_ps(), 1)?,
    };
    Some(GateParameters {
        control_list,
        base_time: Instant::ZERO + span("admin-base-time").unwrap_or_default(),
        cycle_time,
        cycle_time_extension: span("admin-cycle-time-extension").unwrap_or_default(),
    })
}

/// A change of a port's list.
pub(crate) fn change(
    value: &Node<'_>,
    topology: &Topology<'_>,
    faults: &mut Faults,
) -> Option<TimelineAction> {
    let named = value.get("port")?;
    let (_, port) = topology.reference(named, faults)?;
    let Some(port) = port else {
        let message = format!("`{}` is a node, and a port is needed", named.text().unwrap_or_default());
        faults.error(codes::EVENT, named.place, message, "write `node:port`");
        return None;
    };
    let Some(gates) = &topology.ports[port.index()].gates else {
        let message = format!("{} has no gates", topology.port_name(port));
        faults.error(
            codes::EVENT,
            named.place,
            message,
            "give it a `gate-parameter-table` with `gate-enabled: true`",
        );
        return None;
    };
    let parameters = parameters(&[value], gates.tick)?;
    gates.limits.check_list(&parameters, value.anchor(), faults);
    Some(TimelineAction::ChangeGates(port, Box::new(parameters)))
}
