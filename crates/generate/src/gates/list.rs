//! Drawn gate control lists.

use std::fmt::Write as _;

use super::Class;
use crate::Dice;

/// A list, in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct List {
    /// Bits of open classes, and how long.
    entries: Vec<(u64, u64)>,
    /// Of the cycle; none: the sum of the list.
    cycle: Option<(u64, u64)>,
    /// Length of the cycle, nanoseconds rounded down.
    length: u64,
    tick: u64,
    guard: &'static str,
}

impl List {
    /// A list in which every class has an interval for its largest frame, at a line of so many megabits per second.
    pub(super) fn draw(dice: &mut Dice, classes: &[Class], rate: u64, tick: u64) -> Self {
        let guard = *dice.one_of(&["", "", "", "look-ahead", "max-sdu", "none"]);
        let all: u64 = classes.iter().map(|class| 1 << class.number).sum();
        let (style, aligned) = (dice.between(0, 3), dice.chance(50));
        let grid = if aligned { tick.max(1_000) } else { 1 };
        let round = |span: u64| span.div_ceil(grid) * grid;
        let mut entries = Vec::new();
        for class in classes {
            let own: u64 = 1 << class.number;
            // Preamble, frame with tag, and what ticks may take.
            let need = ((class.payload + 22).max(64) + 8) * 8_000 / rate + 1 + 2 * tick;
            let span = round(need * dice.between(100, 400) / 100);
            let others = match style {
                0 => 0,
                1 => dice.between(0, 255) & all,
                2 => 1 << classes[2].number,
                _ => all,
            };
            entries.push((own | others, span));
            if dice.chance(30) {
                let open = dice.between(0, 255) & all;
                entries.push((open, round(dice.between(1, 60_000))));
            }
        }
        // The place of a class in the list is arbitrary.
        let first = usize::try_from(dice.between(0, entries.len() as u64 - 1)).expect("few");
        entries.rotate_left(first);
        let sum: u64 = entries.iter().map(|(_, span)| span).sum();
        let (cycle, length) = match dice.between(0, 5) {
            0 => {
                let longer = sum + round(dice.between(1, 100_000));
                (Some((longer, 1)), longer)
            }
            1 => (Some((sum * 3 + 1, 3)), sum),
            2 => {
                // Entries after the end of the cycle are cut off.
                entries.push((all, round(5_000)));
                (Some((sum, 1)), sum)
            }
            _ => (None, sum),
        };
        Self { entries, cycle, length, tick, guard }
    }

    /// For how much of the cycle the gate of a class is open at least, in thousandths.
    pub(super) fn share(&self, class: u64) -> u64 {
        let mut at = 0;
        let mut open = 0;
        for (states, span) in &self.entries {
            let until = (at + span).min(self.length);
            open += if states >> class & 1 == 1 { until - at } else { 0 };
            at = until;
        }
        open * 1_000 / self.length
    }

    /// Writes the table.
    pub(super) fn write(&self, text: &mut String, dice: &mut Dice, indent: &str, classes: &[Class]) {
        let _ = writeln!(text, "{indent}gate-parameter-table:\n{indent}  gate-enabled: true");
        if let Some((numerator, denominator)) = self.cycle {
            let fraction = if denominator == 1 { String::new() } else { format!("/{denominator}") };
            let _ = writeln!(text, "{indent}  admin-cycle-time: {numerator}{fraction} ns");
        }
        if dice.chance(30) {
            let base = dice.between(0, 3_000);
            let _ = writeln!(text, "{indent}  admin-base-time: {base} us");
        }
        if dice.chance(30) {
            let states = dice.one_of(&["[]", "255", "[7]", "[0, 1, 2]", "15"]);
            let _ = writeln!(text, "{indent}  admin-gate-states: {states}");
        }
        if self.tick > 0 {
            let _ = writeln!(text, "{indent}  tick-granularity: {} ns", self.tick);
        }
        if dice.chance(20) {
            let _ = writeln!(text, "{indent}  admin-cycle-time-extension: {} us", dice.between(0, 300));
        }
        if !self.guard.is_empty() {
            let _ = writeln!(text, "{indent}  guard: {}", self.guard);
        }
        // The guard of the largest frame needs to know it.
        if self.guard == "max-sdu" || dice.chance(30) {
            let (basis, more) = *dice.one_of(&[("msdu", 2), ("payload", 0)]);
            let each: Vec<String> = classes
                .iter()
                .map(|class| format!("{}: {} B", class.number, class.payload.max(46) + more))
                .collect();
            let _ = writeln!(
                text,
                "{indent}  sdu: {basis}\n{indent}  queue-max-sdu-table: {{{}}}",
                each.join(", ")
            );
        }
        for (key, values) in [
            ("credit-at-closed-gate", ["frozen", "frozen", "rises"]),
            ("credit-in-guard-band", ["rises", "rises", "frozen"]),
            ("idle-slope-is", ["average", "average", "while-open"]),
        ] {
            if dice.chance(30) {
                let _ = writeln!(text, "{indent}  {key}: {}", dice.one_of(&values));
            }
        }
        self.write_entries(text, dice, indent);
    }

    /// Writes a change to it at some time.
    pub(super) fn write_change(&self, text: &mut String, dice: &mut Dice, port: &str) {
        let at = dice.between(1_000, 20_000);
        let later = at + dice.between(0, 5_000);
        let base = *dice.one_of(&[0, later]);
        text.push_str("events:\n");
        self.write_event(text, dice, (at, base), port);
    }

    /// Writes the event of a change to it: when, and its base time, microseconds.
    pub(super) fn write_event(&self, text: &mut String, dice: &mut Dice, (at, base): (u64, u64), port: &str) {
        let _ = writeln!(text, "  - at: {at} us\n    change-gates:\n      port: {port}");
        if let Some((numerator, denominator)) = self.cycle {
            let fraction = if denominator == 1 { String::new() } else { format!("/{denominator}") };
            let _ = writeln!(text, "      admin-cycle-time: {numerator}{fraction} ns");
        }
        let _ = writeln!(text, "      admin-base-time: {base} us");
        if dice.chance(30) {
            let _ = writeln!(text, "      admin-cycle-time-extension: {} us", dice.between(0, 100));
        }
        self.write_entries(text, dice, "    ");
    }

    fn write_entries(&self, text: &mut String, dice: &mut Dice, indent: &str) {
        let _ = writeln!(text, "{indent}  admin-control-list:");
        for (states, span) in &self.entries {
            let operation = dice.one_of(&[
                "",
                "",
                "",
                "operation: set-and-hold-mac, ",
                "operation: set-and-release-mac, ",
            ]);
            let open: Vec<String> =
                (0..8).filter(|class| states >> class & 1 == 1).map(|class: u64| class.to_string()).collect();
            let states = if dice.chance(50) { states.to_string() } else { format!("[{}]", open.join(", ")) };
            let _ = writeln!(
                text,
                "{indent}    - {{{operation}gate-states: {states}, time-interval: {span} ns}}"
            );
        }
    }
}
