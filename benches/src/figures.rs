//! What was measured, kept in `bench.json`: an array of {name, value, unit, command, measured}.
//!
//! A run of a part (`ONLY=`) replaces its own figures and keeps the others, each with the time at which it was measured; a
//! run of all begins anew, so that a figure that is measured no more does not stay.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

/// One measured figure.
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    pub(crate) measured: SystemTime,
}

impl Figure {
    fn json(&self, only: &str) -> Value {
        let command =
            if only.is_empty() { "make bench".to_owned() } else { format!("make bench ONLY={only}") };
        json!({
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "command": command,
            "measured": utc(self.measured.duration_since(UNIX_EPOCH).unwrap_or_default()),
        })
    }
}

/// Writes figures of a part, or of all if `only` is empty, beside those that the file has; a reader sees the old file or the new one.
///
/// # Panics
/// If the file is there and no list of figures, or cannot be written.
pub(crate) fn write(file: &Path, figures: &[Figure], only: &str) {
    let known = std::fs::read_to_string(file).ok().filter(|_| !only.is_empty());
    let known = known.map_or_else(Vec::new, |text| {
        let parsed = serde_json::from_str::<Vec<Value>>(&text);
        parsed.unwrap_or_else(|fault| panic!("{}: no list of figures ({fault}); remove it", file.display()))
    });
    let text = serde_json::to_string_pretty(&merged(known, figures, only)).expect("figures are JSON");
    let beside = file.with_extension("json.new");
    std::fs::write(&beside, text + "\n").expect("figures can be written here");
    std::fs::rename(&beside, file).expect("a file beside it can be renamed");
}

/// Figures by name: new ones in the place of old ones, or behind all.
fn merged(mut known: Vec<Value>, figures: &[Figure], only: &str) -> Vec<Value> {
    for figure in figures {
        match known.iter_mut().find(|old| old["name"] == figure.name) {
            Some(old) => *old = figure.json(only),
            None => known.push(figure.json(only)),
        }
    }
    known
}

/// A time since 1970 in UTC, as RFC 3339 has it, to the second.
fn utc(since: Duration) -> String {
    let (mut day, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    loop {
        let days = if is_leap(year) { 366 } else { 365 };
        if day < days {
            break;
        }
        (day, year) = (day - days, year + 1);
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < days {
            break;
        }
        (day, month) = (day - days, month + 1);
    }
    let mut text = format!("{year:04}-{month:02}-{:02}", day + 1);
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    write!(text, "T{hour:02}:{minute:02}:{:02}Z", second % 60).expect("a string can be written");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(name: &'static str, value: f64, second: u64) -> Figure {
        Figure { name, value, unit: "ms", measured: UNIX_EPOCH + Duration::from_secs(second) }
    }

    fn read(file: &Path) -> Vec<(String, f64, String, String)> {
        let text = std::fs::read_to_string(file).expect("written");
        let list: Vec<Value> = serde_json::from_str(&text).expect("a list");
        let text = |entry: &Value, key: &str| entry[key].as_str().expect("a text").to_owned();
        let of = |entry: &Value| {
            let value = entry["value"].as_f64().expect("a number");
            (text(entry, "name"), value, text(entry, "command"), text(entry, "measured"))
        };
        list.iter().map(of).collect()
    }

    #[test]
    fn a_part_keeps_what_other_parts_wrote() {
        let folder = std::env::temp_dir().join(format!("tautwire-figures-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("bench.json");
        write(&file, &[figure("a_1", 1.0, 0), figure("b_1", 2.0, 60)], "");
        write(&file, &[figure("b_1", 3.0, 86_400), figure("b_2", 4.0, 86_401)], "b");
        let at = |name: &str, value: f64, command: &str, measured: &str| {
            (name.to_owned(), value, command.to_owned(), measured.to_owned())
        };
        assert_eq!(
            read(&file),
            [
                at("a_1", 1.0, "make bench", "1970-01-01T00:00:00Z"),
                at("b_1", 3.0, "make bench ONLY=b", "1970-01-02T00:00:00Z"),
                at("b_2", 4.0, "make bench ONLY=b", "1970-01-02T00:00:01Z"),
            ]
        );
        // All of it: what is measured no more goes.
        write(&file, &[figure("b_1", 5.0, 0)], "");
        assert_eq!(read(&file), [at("b_1", 5.0, "make bench", "1970-01-01T00:00:00Z")]);
        // What is no list of figures is not overwritten by a part.
        std::fs::write(&file, "{").expect("written");
        let spoilt = std::panic::catch_unwind(|| write(&file, &[figure("b_1", 5.0, 0)], "b"));
        assert!(spoilt.is_err() && std::fs::read_to_string(&file).expect("there") == "{");
        std::fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        for (second, text) in [
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (1_767_225_599, "2025-12-31T23:59:59Z"),
        ] {
            assert_eq!(utc(Duration::from_secs(second)), text);
        }
    }
}
