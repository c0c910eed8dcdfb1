//! Reads stream filters, stream gates and flow meters (ieee802-dot1q-psfp) of a bridge.
//!
//! A document knows streams by handles, and has none of them: where there is no base, filters of streams are comments in the description, to which
//! only streams are missing.
//! A gate that is not enabled is always open, as a filter without a gate has it.

use std::fmt::Write as _;

use tautwire_units::BitRate;

use super::object::Object;
use super::ports::{base_time, cycle, seconds};
use super::settings::Settings;
use crate::Converted;

/// The module whose tables these are; that of ATS has tables of the same names.
const MODULE: &str = "ieee802-dot1q-psfp-bridge";

/// Words for priorities.
const WORDS: [&str; 8] = ["zero", "one", "two", "three", "four", "five", "six", "seven"];

/// The tables of a bridge.
#[derive(Debug, Default)]
pub(in crate::yang) struct Tables {
    /// How many filters there may be.
    pub(in crate::yang) filters_max: Option<u64>,
    pub(in crate::yang) filters: Vec<Filter>,
    /// Limits of gates.
    pub(in crate::yang) limits: Settings,
    /// Those that are enabled, with their numbers.
    pub(in crate::yang) gates: Vec<(u64, Settings)>,
    pub(in crate::yang) meters: Vec<(u64, Settings)>,
}

/// A stream filter.
#[derive(Clone, Debug)]
pub(in crate::yang) struct Filter {
    pub(in crate::yang) number: u64,
    /// Of the stream; none: of all.
    pub(in crate::yang) handle: Option<u64>,
    /// All but the stream.
    pub(in crate::yang) settings: Settings,
    /// Where it is in the document.
    pub(in crate::yang) place: String,
}

impl Tables {
    /// Takes the tables of a component.
    pub(super) fn read(component: &mut Object, converted: &mut Converted) -> Self {
        let mut tables = Self::default();
        let always_open = tables.read_gates(component, converted);
        let used = tables.read_filters(component, &always_open, converted);
        for (number, place) in always_open.iter().filter(|(number, _)| !used.contains(number)) {
            converted.lacks(format!("{place}: gate {number}, which is not enabled and which no filter uses"));
        }
        tables.read_meters(component, converted);
        tables
    }

    /// The lines of a node. Filters of streams are comments.
    pub(super) fn text(&self, converted: &mut Converted) -> String {
        let mut text = String::new();
        if !self.filters.is_empty() {
            let is_stated = self.filters.iter().any(|filter| filter.handle.is_none());
            let before = if is_stated { "    " } else { "    # " };
            let _ = writeln!(text, "{before}stream-filters:");
            if let Some(most) = self.filters_max {
                let _ = writeln!(text, "{before}  max-stream-filter-instances: {most}");
            }
            let _ = writeln!(text, "{before}  stream-filter-instance-table:");
            for Filter { number, handle, settings, place } in &self.filters {
                let mut all = Settings::default();
                if let Some(handle) = handle {
                    all.add("stream-handle", format_args!("handle-{handle}"));
                    converted.lacks(format!(
                        "{place}: filter {number} of the stream with handle {handle}, which is a comment until the stream is there"
                    ));
                }
                all.0.extend(settings.0.iter().cloned());
                let mark = if is_stated && handle.is_some() { "# " } else { "" };
                let _ = writeln!(text, "{before}    {mark}{number}: {}", all.text());
            }
        }
        if !self.gates.is_empty() {
            text.push_str("    stream-gates:\n");
            for (key, value) in &self.limits.0 {
                let _ = writeln!(text, "      {key}: {value}");
            }
            text.push_str("      stream-gate-instance-table:\n");
            for (number, settings) in &self.gates {
                let _ = writeln!(text, "        {number}: {}", settings.text());
            }
        }
        if !self.meters.is_empty() {
            text.push_str("    flow-meters:\n      flow-meter-instance-table:\n");
            for (number, settings) in &self.meters {
                let _ = writeln!(text, "        {number}: {}", settings.text());
            }
        }
        text
    }
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

impl Tables {
    /// Adds the filters; gives the numbers of the gates that are not enabled and that they use.
    fn read_filters(
        &mut self,
        component: &mut Object,
        always_open: &[(u64, String)],
        converted: &mut Converted,
    ) -> Vec<u64> {
        let mut used = Vec::new();
        let Some(mut outer) = component.object_of(MODULE, "stream-filters") else { return used };
        self.filters_max = outer.number("max-stream-filter-instances").filter(|most| *most > 0);
        for mut row in outer.list("stream-filter-instance-table") {
            let number = id(&mut row, "stream-filter-instance-id");
            let handle = row.number("stream-handle");
            row.take("wildcard");
            let mut settings = Settings::default();
            settings.maybe("priority-spec", priority(&mut row, "priority-spec", "wildcard"));
            let size = row.number("max-sdu-size").filter(|size| *size > 0);
            settings.maybe("max-sdu-size", size.map(|size| format!("{size} B")));
            let blocks = "stream-blocked-due-to-oversize-frame-enabled";
            settings.maybe(blocks, row.bool(blocks).filter(|blocks| *blocks));
            match row.number("stream-gate-ref") {
                Some(gate) if always_open.iter().any(|(number, _)| *number == gate) => used.push(gate),
                gate => settings.maybe("stream-gate-ref", gate),
            }
            if let Some(meter) = row.number("flow-meter-ref") {
                settings.add("flow-meter-ref", meter);
                let is_enabled = row.bool("flow-meter-enable");
                settings.maybe("flow-meter-enable", is_enabled.filter(|is_enabled| !is_enabled));
            }
            let place = row.place.clone();
            self.filters.push(Filter { number, handle, settings, place });
            row.end(converted);
        }
        outer.end(converted);
        used
    }

    /// Adds the gates that are enabled; gives the numbers of the others, and where they are.
    fn read_gates(&mut self, component: &mut Object, converted: &mut Converted) -> Vec<(u64, String)> {
        let mut always_open = Vec::new();
        let Some(mut outer) = component.object_of(MODULE, "stream-gates") else { return always_open };
        for (name, unit) in
            [("max-stream-gate-instances", ""), ("supported-list-max", ""), ("supported-interval-max", " ns")]
        {
            let most = outer.number(name).filter(|most| *most > 0);
            self.limits.maybe(name, most.map(|most| format!("{most}{unit}")));
        }
        let most = cycle(&mut outer, "supported-cycle-max", converted);
        self.limits.maybe("supported-cycle-max", most.map(seconds));
        for mut row in outer.list("stream-gate-instance-table") {
            let number = id(&mut row, "stream-gate-instance-id");
            if row.bool("gate-enable") == Some(true) {
                let settings = gate(&mut row, converted);
                self.gates.push((number, settings));
            } else {
                always_open.push((number, row.place.clone()));
                // What it would do if it were enabled.
                row.take("admin-cycle-time");
            }
            row.end(converted);
        }
        outer.end(converted);
        always_open
    }

    fn read_meters(&mut self, component: &mut Object, converted: &mut Converted) {
        let Some(mut outer) = component.object_of(MODULE, "flow-meters") else { return };
        // How many there may be is what the device has, which is written as the number of meters.
        outer.take("max-flow-meter-instances");
        for mut row in outer.list("flow-meter-instance-table") {
            let number = id(&mut row, "flow-meter-instance-id");
            let mut settings = Settings::default();
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
                match is_rate {
                    true => settings.add(name, BitRate::from_bps(value)),
                    false => settings.add(name, format_args!("{value} B")),
                }
            }
            for (name, words) in
                [("coupling-flag", ["zero", "one"]), ("color-mode", ["color-blind", "color-aware"])]
            {
                settings.maybe(name, row.word(name, &words));
            }
            for name in ["drop-on-yellow", "mark-all-frames-red-enable"] {
                settings.maybe(name, row.bool(name));
            }
            self.meters.push((number, settings));
            row.end(converted);
        }
        outer.end(converted);
    }
}

/// The keys of a gate.
fn gate(row: &mut Object, converted: &mut Converted) -> Settings {
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
            let mut keys = Settings::default();
            keys.add("gate-state", entry.word("gate-state-value", &["open", "closed"]).unwrap_or("open"));
            let interval = entry.number("time-interval-value").unwrap_or(0);
            keys.add("time-interval", format_args!("{interval} ns"));
            keys.maybe("ipv-spec", priority(&mut entry, "ipv-spec", "null"));
            let most = entry.number("interval-octet-max");
            keys.maybe("interval-octet-max", most.map(|most| format!("{most} B")));
            entry.end(converted);
            entries.push((index, keys.text()));
        }
        list.end(converted);
    }
    entries.sort();
    let base = base_time(row, own, converted);
    let closes = ["gate-closed-due-to-invalid-rx-enable", "gate-closed-due-octets-exceeded-enable"]
        .map(|name| (name, row.bool(name).unwrap_or(false)));
    let mut keys = Settings::default();
    keys.maybe("admin-gate-states", state);
    keys.maybe("admin-ipv", internal);
    if !entries.is_empty() {
        keys.add("gate-enable", true);
        keys.maybe("admin-base-time", base);
        keys.maybe("admin-cycle-time", own.map(seconds));
        keys.maybe("admin-cycle-time-extension", extension.map(|extension| format!("{extension} ns")));
        let entries: Vec<String> = entries.into_iter().map(|(_, entry)| entry).collect();
        keys.add("admin-control-list", format_args!("[{}]", entries.join(", ")));
    }
    for (name, closes) in closes {
        keys.maybe(name, closes.then_some(true));
    }
    keys
}
