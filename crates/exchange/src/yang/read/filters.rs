//! Reads stream filters, stream gates and flow meters (ieee802-dot1q-psfp) of a bridge.
//!
//! A document knows streams by handles, and has none of them: filters of streams are comments in the description, to which only streams are missing.
//! A gate that is not enabled is always open, as a filter without a gate has it.

use std::fmt::Write as _;

use tautwire_units::BitRate;

use super::{Object, base_time, cycle, seconds};
use crate::Converted;

/// The module whose tables these are; that of ATS has tables of the same names.
const MODULE: &str = "ieee802-dot1q-psfp-bridge";

/// Words for priorities.
const WORDS: [&str; 8] = ["zero", "one", "two", "three", "four", "five", "six", "seven"];

/// The lines of a node.
pub(super) fn tables(component: &mut Object, converted: &mut Converted) -> String {
    let mut text = String::new();
    let mut of_gates = String::new();
    let always_open = gates(component, &mut of_gates, converted);
    filters(component, &always_open, &mut text, converted);
    text.push_str(&of_gates);
    meters(component, &mut text, converted);
    text
}

/// A priority by its word, or `none`.
fn priority(row: &mut Object, name: &str, otherwise: &str) -> Option<String> {
    let word = row.text(name)?;
    if word == otherwise || word == "null" {
        return None;
    }
    let found = WORDS.iter().position(|known| *known == word);
    if found.is_none() {
        row.fault(format_args!("/{name}: `{word}` is no priority in words"));
    }
    found.map(|number| number.to_string())
}

/// The number of an instance.
fn id(row: &mut Object, name: &str) -> u64 {
    row.at_most(name, u64::from(u32::MAX)).unwrap_or_else(|| {
        row.fault(format_args!(": no `{name}`"));
        0
    })
}

fn filters(component: &mut Object, always_open: &[u64], text: &mut String, converted: &mut Converted) {
    let Some(mut outer) = component.object_of(MODULE, "stream-filters") else { return };
    let most = outer.number("max-stream-filter-instances").filter(|most| *most > 0);
    let mut lines: Vec<(u64, Option<u64>, String)> = Vec::new();
    for mut row in outer.list("stream-filter-instance-table") {
        let number = id(&mut row, "stream-filter-instance-id");
        let handle = row.number("stream-handle");
        row.take("wildcard");
        let mut keys = Vec::new();
        keys.extend(
            priority(&mut row, "priority-spec", "wildcard").map(|own| format!("priority-spec: {own}")),
        );
        let size = row.number("max-sdu-size").filter(|size| *size > 0);
        keys.extend(size.map(|size| format!("max-sdu-size: {size} B")));
        if row.bool("stream-blocked-due-to-oversize-frame-enabled") == Some(true) {
            keys.push("stream-blocked-due-to-oversize-frame-enabled: true".to_owned());
        }
        let gate = row.number("stream-gate-ref").filter(|gate| !always_open.contains(gate));
        keys.extend(gate.map(|gate| format!("stream-gate-ref: {gate}")));
        if let Some(meter) = row.number("flow-meter-ref") {
            keys.push(format!("flow-meter-ref: {meter}"));
            if row.bool("flow-meter-enable") == Some(false) {
                keys.push("flow-meter-enable: false".to_owned());
            }
        }
        if let Some(handle) = handle {
            keys.insert(0, format!("stream-handle: handle-{handle}"));
            converted.lacks(format!(
                "{}: filter {number} of the stream with handle {handle}, which is a comment until the stream is there",
                row.place
            ));
        }
        lines.push((number, handle, keys.join(", ")));
        row.end(converted);
    }
    outer.end(converted);
    if lines.is_empty() {
        return;
    }
    let is_stated = lines.iter().any(|(_, handle, _)| handle.is_none());
    let before = if is_stated { "    " } else { "    # " };
    let _ = writeln!(text, "{before}stream-filters:");
    if let Some(most) = most {
        let _ = writeln!(text, "{before}  max-stream-filter-instances: {most}");
    }
    let _ = writeln!(text, "{before}  stream-filter-instance-table:");
    for (number, handle, keys) in lines {
        let mark = if is_stated && handle.is_some() { "# " } else { "" };
        let _ = writeln!(text, "{before}    {mark}{number}: {{{keys}}}");
    }
}

/// Adds the gates that are enabled; gives the numbers of the others.
fn gates(component: &mut Object, text: &mut String, converted: &mut Converted) -> Vec<u64> {
    let mut always_open = Vec::new();
    let Some(mut outer) = component.object_of(MODULE, "stream-gates") else { return always_open };
    let mut lines = Vec::new();
    for (name, unit) in
        [("max-stream-gate-instances", ""), ("supported-list-max", ""), ("supported-interval-max", " ns")]
    {
        let most = outer.number(name).filter(|most| *most > 0);
        lines.extend(most.map(|most| format!("{name}: {most}{unit}")));
    }
    let most = cycle(&mut outer, "supported-cycle-max", converted);
    lines.extend(most.map(|most| format!("supported-cycle-max: {}", seconds(most))));
    let mut rows = Vec::new();
    for mut row in outer.list("stream-gate-instance-table") {
        let number = id(&mut row, "stream-gate-instance-id");
        if row.bool("gate-enable") == Some(true) {
            let keys = gate(&mut row, converted);
            rows.push(format!("  {number}: {{{}}}", keys.join(", ")));
        } else {
            always_open.push(number);
            // What it would do if it were enabled.
            row.take("admin-cycle-time");
        }
        row.end(converted);
    }
    outer.end(converted);
    if rows.is_empty() {
        return always_open;
    }
    text.push_str("    stream-gates:\n");
    lines.push("stream-gate-instance-table:".to_owned());
    for line in lines.into_iter().chain(rows) {
        let _ = writeln!(text, "      {line}");
    }
    always_open
}

/// The keys of a gate.
fn gate(row: &mut Object, converted: &mut Converted) -> Vec<String> {
    // That a change is wanted is no state.
    row.take("config-change");
    let state = row.word("admin-gate-states", &["open", "closed"]);
    let internal = priority(row, "admin-ipv", "null");
    let own = cycle(row, "admin-cycle-time", converted);
    let extension = row.number("admin-cycle-time-extension").filter(|extension| *extension > 0);
    let mut entries = Vec::new();
    if let Some(mut list) = row.object("admin-control-list") {
        for mut entry in list.list("gate-control-entry") {
            let index = entry.number("index").unwrap_or(0);
            entry.text("operation-name");
            let mut keys = vec![
                format!(
                    "gate-state: {}",
                    entry.word("gate-state-value", &["open", "closed"]).unwrap_or("open")
                ),
                format!("time-interval: {} ns", entry.number("time-interval-value").unwrap_or(0)),
            ];
            keys.extend(priority(&mut entry, "ipv-spec", "null").map(|own| format!("ipv-spec: {own}")));
            keys.extend(
                entry.number("interval-octet-max").map(|most| format!("interval-octet-max: {most} B")),
            );
            entry.end(converted);
            entries.push((index, format!("{{{}}}", keys.join(", "))));
        }
        list.end(converted);
    }
    entries.sort();
    let base = base_time(row, own, converted);
    let closes = ["gate-closed-due-to-invalid-rx-enable", "gate-closed-due-octets-exceeded-enable"]
        .map(|name| (name, row.bool(name).unwrap_or(false)));
    let mut keys = Vec::new();
    keys.extend(state.map(|state| format!("admin-gate-states: {state}")));
    keys.extend(internal.map(|own| format!("admin-ipv: {own}")));
    if !entries.is_empty() {
        keys.push("gate-enable: true".to_owned());
        keys.extend(base.map(|base| format!("admin-base-time: {base}")));
        keys.extend(own.map(|own| format!("admin-cycle-time: {}", seconds(own))));
        keys.extend(extension.map(|extension| format!("admin-cycle-time-extension: {extension} ns")));
        let entries: Vec<String> = entries.into_iter().map(|(_, entry)| entry).collect();
        keys.push(format!("admin-control-list: [{}]", entries.join(", ")));
    }
    keys.extend(closes.into_iter().filter(|(_, is)| *is).map(|(name, _)| format!("{name}: true")));
    keys
}

fn meters(component: &mut Object, text: &mut String, converted: &mut Converted) {
    let Some(mut outer) = component.object_of(MODULE, "flow-meters") else { return };
    // How many there may be is what the device has, which is written as the number of meters.
    outer.take("max-flow-meter-instances");
    let mut rows = Vec::new();
    for mut row in outer.list("flow-meter-instance-table") {
        let number = id(&mut row, "flow-meter-instance-id");
        let mut keys = Vec::new();
        for (name, is_rate) in [
            ("committed-information-rate", true),
            ("committed-burst-size", false),
            ("excess-information-rate", true),
            ("excess-burst-size", false),
        ] {
            let Some(value) = row.number(name) else { continue };
            if name.starts_with("excess") && value == 0 {
                continue;
            }
            keys.push(match is_rate {
                true => format!("{name}: {}", BitRate::from_bps(value)),
                false => format!("{name}: {value} B"),
            });
        }
        for (name, words) in
            [("coupling-flag", ["zero", "one"]), ("color-mode", ["color-blind", "color-aware"])]
        {
            keys.extend(row.word(name, &words).map(|word| format!("{name}: {word}")));
        }
        for name in ["drop-on-yellow", "mark-all-frames-red-enable"] {
            keys.extend(row.bool(name).map(|is| format!("{name}: {is}")));
        }
        rows.push(format!("        {number}: {{{}}}", keys.join(", ")));
        row.end(converted);
    }
    outer.end(converted);
    if rows.is_empty() {
        return;
    }
    text.push_str("    flow-meters:\n      flow-meter-instance-table:\n");
    for row in rows {
        let _ = writeln!(text, "{row}");
    }
}
