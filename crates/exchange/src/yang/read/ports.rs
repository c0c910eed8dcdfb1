//! Ports of a document: priorities, classes, selection, gates and preemption, by the keys of a description.

use std::collections::BTreeMap;

use serde_json::Value;
use tautwire_units::BitRate;

use super::VLANS;
use super::object::Object;
use super::settings::Settings;
use crate::{Converted, valid};

/// Where preemptable priorities are, and where gates.
pub(in crate::yang) const STATUS: &str = "frame-preemption-parameters.frame-preemption-status-table";
pub(in crate::yang) const GATES: &str = "gate-parameter-table";

/// A port of a document.
pub(in crate::yang) struct Port {
    /// Its name as a description takes it.
    pub(in crate::yang) name: String,
    /// What it has.
    pub(in crate::yang) settings: Settings,
}

/// An interface with its settings.
pub(super) fn port(mut interface: Object, converted: &mut Converted) -> Port {
    let name = match interface.take("name") {
        Some(Value::String(name)) => name,
        _ => {
            interface.fault(": no name");
            String::new()
        }
    };
    interface.take("type");
    let own = valid(&name);
    let mut found = Settings::default();
    if own != name {
        converted.lacks(format!("{}: its name `{name}`; the port is `{own}`", interface.place));
    }
    let Some(mut port) = interface.object("bridge-port") else {
        converted.lacks(format!("{}: it is no port of a bridge", interface.place));
        interface.end(converted);
        return Port { name: own, settings: found };
    };
    interface.end(converted);
    port.take("bridge-name");
    port.take("component-name");
    if let Some(pvid) = port.at_most("pvid", VLANS) {
        found.add("pvid", pvid);
    }
    if let Some(priority) = port.at_most("default-priority", 7) {
        found.add("default-priority", priority);
    }
    if let Some(filtering) = port.bool("enable-ingress-filtering") {
        found.add("ingress-filtering", filtering);
    }
    let listed = |values: [u64; 8]| format!("[{}]", values.map(|value| value.to_string()).join(", "));
    if let Some(mut map) = port.object("priority-regeneration") {
        found.maybe("priority-regeneration", map.by_priority(7).map(listed));
        map.end(converted);
    }
    if let Some(mut outer) = port.object("traffic-class") {
        if let Some(mut map) = outer.object("traffic-class-table") {
            map.take("number-of-traffic-classes");
            found.maybe("traffic-class-table", map.by_priority(7).map(listed));
            map.end(converted);
        }
        outer.end(converted);
    }
    classes(&mut port, &mut found, converted);
    if let Some(table) = port.object("gate-parameter-table") {
        gates(table, &mut found, converted);
    }
    if let Some(mut outer) = port.object("frame-preemption-parameters") {
        if let Some(mut map) = outer.object("frame-preemption-status-table") {
            for priority in 0..8 {
                let key = format!("priority{priority}");
                let word = map.text(&key);
                found.maybe(format!("{STATUS}.{key}"), word);
            }
            map.end(converted);
        }
        outer.end(converted);
    }
    port.end(converted);
    Port { name: own, settings: found }
}

/// Selection and idle slopes of classes.
fn classes(port: &mut Object, found: &mut Settings, converted: &mut Converted) {
    let mut slopes = BTreeMap::new();
    if let Some(mut outer) = port.object("cbsa") {
        for mut row in outer.list("cbsa-parameter-table") {
            let class = row.at_most("traffic-class", 7).unwrap_or(0);
            slopes.extend(row.number("admin-idle-slope").map(|slope| (class, slope)));
            row.end(converted);
        }
        outer.end(converted);
    }
    let mut keys: BTreeMap<u64, (&str, Option<BitRate>)> = BTreeMap::new();
    if let Some(mut outer) = port.object("transmission-selection-algorithm-table") {
        for mut row in outer.list("transmission-selection-algorithm-map") {
            let class = row.at_most("traffic-class", 7).unwrap_or(0);
            let algorithm = row.text("transmission-selection-algorithm");
            let key = match algorithm.as_deref() {
                Some("strict-priority") | None => ("strict-priority", None),
                Some("credit-based-shaper") => {
                    let slope = slopes.remove(&class).unwrap_or_else(|| {
                        port.fault(format_args!(": class {class} is credit-based, and has no idle slope"));
                        0
                    });
                    ("credit-based", Some(BitRate::from_bps(slope)))
                }
                Some("asynchronous-traffic-shaping") => ("ats", None),
                Some(other) => {
                    converted.lacks(format!("{}: class {class} is served by {other}", port.place));
                    continue;
                }
            };
            keys.insert(class, key);
            row.end(converted);
        }
        outer.end(converted);
    }
    for class in slopes.keys() {
        converted
            .lacks(format!("{}: the idle slope of class {class}, which is not credit-based", port.place));
    }
    for (class, (selection, slope)) in keys {
        found.add(format!("classes.{class}.transmission-selection"), selection);
        found.maybe(format!("classes.{class}.idle-slope"), slope);
    }
}

/// A cycle as a fraction of a second; none if it is zero.
pub(super) fn cycle(table: &mut Object, name: &str, converted: &mut Converted) -> Option<(u64, u64)> {
    let mut cycle = table.object(name)?;
    let numerator = cycle.at_most("numerator", u64::from(u32::MAX)).unwrap_or(0);
    let denominator = cycle.at_most("denominator", u64::from(u32::MAX)).unwrap_or(1);
    cycle.end(converted);
    (numerator > 0 && denominator > 0).then_some((numerator, denominator))
}

/// The start of a cycle, nanoseconds: of a time of day long ago the place in the cycle, where it is now, too.
pub(super) fn base_time(
    table: &mut Object,
    cycle: Option<(u64, u64)>,
    converted: &mut Converted,
) -> Option<String> {
    let mut base = table.object("admin-base-time")?;
    let seconds = base.number("seconds").unwrap_or(0);
    let part = base.at_most("nanoseconds", 999_999_999).unwrap_or(0);
    let place = base.place.clone();
    base.end(converted);
    let ns = u128::from(seconds) * 1_000_000_000 + u128::from(part);
    if seconds < 86_400 {
        return Some(format!("{ns} ns"));
    }
    let (numerator, denominator) = cycle?;
    // In parts of a nanosecond of which the cycle is a whole number; rounded down to picoseconds.
    let denominator = u128::from(denominator);
    let phase = (ns * denominator) % (u128::from(numerator) * 1_000_000_000);
    let ps = phase * 1_000 / denominator;
    converted.lacks(format!("{place}: {ns} ns; its place in the cycle, {ps} ps, is written"));
    Some(format!("{ps} ps"))
}

/// A cycle as a fraction of a second.
pub(super) fn seconds((numerator, denominator): (u64, u64)) -> String {
    format!("{numerator}/{denominator} s")
}

/// Takes a table of gates.
fn gates(mut table: Object, found: &mut Settings, converted: &mut Converted) {
    let mut add = |key: &str, value: Option<String>| found.maybe(format!("{GATES}.{key}"), value);
    // That a change is wanted is no state.
    table.take("config-change");
    let is_enabled = table.bool("gate-enabled").unwrap_or(false);
    add("gate-enabled", Some(is_enabled.to_string()));
    add("admin-gate-states", table.at_most("admin-gate-states", 255).map(|states| states.to_string()));
    let mut sizes = Vec::new();
    for mut row in table.list("queue-max-sdu-table") {
        let class = row.at_most("traffic-class", 7).unwrap_or(0);
        sizes.extend(row.number("queue-max-sdu").map(|octets| format!("{class}: {octets} B")));
        row.end(converted);
    }
    add("queue-max-sdu-table", (!sizes.is_empty()).then(|| format!("{{{}}}", sizes.join(", "))));
    for (name, unit) in [("supported-list-max", ""), ("supported-interval-max", " ns")] {
        add(name, table.number(name).filter(|most| *most > 0).map(|most| format!("{most}{unit}")));
    }
    add("supported-cycle-max", cycle(&mut table, "supported-cycle-max", converted).map(seconds));
    let own = cycle(&mut table, "admin-cycle-time", converted);
    add("admin-cycle-time", own.map(seconds));
    let extension = table.number("admin-cycle-time-extension");
    add("admin-cycle-time-extension", extension.map(|extension| format!("{extension} ns")));
    add("admin-base-time", base_time(&mut table, own, converted));
    let mut entries = Vec::new();
    if let Some(mut list) = table.object("admin-control-list") {
        let mut rows = Vec::new();
        for mut row in list.list("gate-control-entry") {
            let index = row.number("index").unwrap_or(0);
            let operation = row.text("operation-name").unwrap_or_else(|| "set-gate-states".to_owned());
            let interval = row.number("time-interval-value").unwrap_or(0);
            let states = row.at_most("gate-states-value", 255).unwrap_or(0);
            row.end(converted);
            rows.push((
                index,
                format!(
                    "{{operation: {}, gate-states: {states}, time-interval: {interval} ns}}",
                    valid(&operation)
                ),
            ));
        }
        rows.sort();
        entries.extend(rows.into_iter().map(|(_, row)| row));
        list.end(converted);
    }
    add("admin-control-list", (!entries.is_empty()).then(|| format!("[{}]", entries.join(", "))));
    table.end(converted);
}
