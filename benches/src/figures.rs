//! What was measured, kept in `bench.json`: an array of {name, value, unit, command, measured}, the last in seconds since 1970.
//!
//! A run of a part (`ONLY=`) replaces its own figures and keeps the others, each with the time at which it was measured; a
//! run of all begins anew, so that a figure that is measured no more does not stay.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

/// One measured figure.
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    pub(crate) measured: SystemTime,
}

impl Figure {
    fn json(&self, only: &str) -> Value {
        let command =
            if only.is_empty() { "make bench".to_owned() } else { format!("make bench ONLY={only}") };
        json!({
            "name": self.name.as_str(),
            "value": self.value,
            "unit": self.unit,
            "command": command,
            "measured": self.measured.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
        })
    }
}

/// Writes figures of a part, or of all if `only` is empty, and keeps the others of the file; a reader sees the old
/// file or the new one.
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
    let new_file = file.with_extension("json.new");
    std::fs::write(&new_file, text + "\n").expect("figures can be written here");
    std::fs::rename(&new_file, file).expect("a file beside it can be renamed");
}

/// Figures by name: new ones in the place of old ones, or behind all.
fn merged(mut known: Vec<Value>, figures: &[Figure], only: &str) -> Vec<Value> {
    for figure in figures {
        match known.iter_mut().find(|old| old["name"] == figure.name.as_str()) {
            Some(old) => *old = figure.json(only),
            None => known.push(figure.json(only)),
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn figure(name: &str, value: f64, second: u64) -> Figure {
        Figure {
            name: name.to_owned(),
            value,
            unit: "ms",
            measured: UNIX_EPOCH + Duration::from_secs(second),
        }
    }

    fn read(file: &Path) -> Vec<(String, f64, String, u64)> {
        let text = std::fs::read_to_string(file).expect("written");
        let list: Vec<Value> = serde_json::from_str(&text).expect("a list");
        let text = |entry: &Value, key: &str| entry[key].as_str().expect("a text").to_owned();
        let of = |entry: &Value| {
            let value = entry["value"].as_f64().expect("a number");
            (text(entry, "name"), value, text(entry, "command"), entry["measured"].as_u64().expect("seconds"))
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
        let at = |name: &str, value: f64, command: &str, measured: u64| {
            (name.to_owned(), value, command.to_owned(), measured)
        };
        assert_eq!(
            read(&file),
            [
                at("a_1", 1.0, "make bench", 0),
                at("b_1", 3.0, "make bench ONLY=b", 86_400),
                at("b_2", 4.0, "make bench ONLY=b", 86_401),
            ]
        );
        // All of it: what is measured no more goes.
        write(&file, &[figure("b_1", 5.0, 0)], "");
        assert_eq!(read(&file), [at("b_1", 5.0, "make bench", 0)]);
        // What is no list of figures is not overwritten by a part.
        std::fs::write(&file, "{").expect("written");
        let spoilt = std::panic::catch_unwind(|| write(&file, &[figure("b_1", 5.0, 0)], "b"));
        assert!(spoilt.is_err() && std::fs::read_to_string(&file).expect("there") == "{");
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
