//! Mechanisms: files of the kernel, of bounds and of the event loop that name none.

use std::collections::BTreeSet;

use crate::{assert_none, files, folders};

#[test]
fn the_kernel_names_no_mechanism_that_is_a_plug_in() {
    let kernel =
        ["units", "wire", "core", "observe", "model", "analysis", "sim", "report", "admission", "cli"];
    let mut faults = Vec::new();
    for (path, text) in files(&[".rs"]) {
        if !kernel.iter().any(|name| path.starts_with(&format!("crates/{name}/src/"))) {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            let line = line.to_lowercase();
            for name in folders("mechanisms").iter().filter(|name| line.contains(name.as_str())) {
                faults.push(format!("{path}:{}: names `{name}`", number + 1));
            }
        }
    }
    assert_none(&faults);
}

/// The flow of bounds, and what it may not name: mechanisms give it services.
const FLOW: [&str; 12] = [
    "analysis.rs",
    "arrival.rs",
    "answers.rs",
    "contribution.rs",
    "explain",
    "outcome.rs",
    "passage.rs",
    "plan",
    "port",
    "service.rs",
    "session.rs",
    "slack.rs",
];
const SERVED: [&str; 8] =
    ["tdma", "harts", "time_triggered", "time-triggered", "timed", "as6802", "elementary", "standby"];

#[test]
fn the_flow_of_bounds_names_no_mechanism_that_serves() {
    let mut faults = Vec::new();
    for (path, text) in files(&[".rs"]) {
        let Some(name) = path.strip_prefix("crates/analysis/src/") else { continue };
        if !FLOW.iter().any(|flow| name.starts_with(flow)) {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            for name in SERVED.iter().filter(|name| line.to_lowercase().contains(**name)) {
                faults.push(format!("{path}:{}: names `{name}`", number + 1));
            }
        }
    }
    assert_none(&faults);
}

/// The event loop of a run and the door of mechanisms, which may not name these: `mechanisms.rs` lists them.
const LOOP: [&str; 27] = [
    "agenda.rs",
    "applications/",
    "clock.rs",
    "control/",
    "control_loss.rs",
    "egress.rs",
    "engine.rs",
    "fates.rs",
    "frame.rs",
    "node.rs",
    "options.rs",
    "order.rs",
    "plan.rs",
    "plugged.rs",
    "protocols.rs",
    "random.rs",
    "reception.rs",
    "recorder.rs",
    "relay.rs",
    "request_outcome.rs",
    "run.rs",
    "source.rs",
    "stages.rs",
    "stamps.rs",
    "statistics.rs",
    "talker.rs",
    "timeline.rs",
];
const RUN: [&str; 8] = ["as6802", "central", "gptp", "harts", "psfp", "srp", "tdma", "test_bed"];

/// Names of mechanisms that stay there, and why (`docs/adr/0008-one-door-for-a-mechanism.md`).
const STAYING: [(&str, &str, &str); 14] = [
    ("control/controls.rs", "gptp", "DisciplinedClock, the clock that applications see"),
    ("control/hosted.rs", "gptp", "DisciplinedClock and how it is adjusted"),
    ("control/hosted.rs", "harts", "ServerConfig, servers of a port"),
    ("control/mod.rs", "gptp", "DisciplinedClock"),
    ("control/plane/mod.rs", "gptp", "DisciplinedClock and how it is adjusted"),
    ("control/runner.rs", "gptp", "DisciplinedClock"),
    ("recorder.rs", "gptp", "DisciplinedClock"),
    ("stamps.rs", "gptp", "DisciplinedClock"),
    ("control/plane/servers.rs", "harts", "ServerConfig, servers of a port"),
    ("options.rs", "central", "AdmissionControl, which callers give"),
    ("options.rs", "harts", "HartsTest, which callers give"),
    ("engine.rs", "harts", "what callers give, and the typed field of Observation"),
    ("random.rs", "central", "a purpose of random numbers, by which draws stay as they were"),
    ("random.rs", "gptp", "a purpose of random numbers"),
];

/// The words of all identifiers and path segments of a line of Rust, without its comment and its texts: `HartsTest` is `harts_test`.
fn identifiers(line: &str) -> Vec<String> {
    let code = line.split("//").next().unwrap_or_default();
    // Every second part between quotes is a text.
    let code: String = code.split('"').step_by(2).collect::<Vec<_>>().join(" ");
    let parts = code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|part| !part.is_empty());
    let snake = |part: &str| {
        let mut snake = String::new();
        let mut before = '_';
        for letter in part.chars() {
            if letter.is_ascii_uppercase() && before.is_ascii_lowercase() {
                snake.push('_');
            }
            snake.push(letter.to_ascii_lowercase());
            before = letter;
        }
        snake
    };
    parts.map(snake).collect()
}

/// Whether an identifier has the name of a mechanism among its words.
fn names(identifier: &str, mechanism: &str) -> bool {
    format!("_{identifier}_").contains(&format!("_{mechanism}_"))
}

#[test]
fn the_event_loop_names_no_mechanism() {
    let mut faults = Vec::new();
    let mut found = BTreeSet::new();
    for (path, text) in files(&[".rs"]) {
        let Some(name) = path.strip_prefix("crates/sim/src/") else { continue };
        if !LOOP.iter().any(|of_loop| name.starts_with(of_loop)) {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            let identifiers = identifiers(line);
            for mechanism in RUN.iter().filter(|name| identifiers.iter().any(|word| names(word, name))) {
                let stays = |(file, staying, _): &&(&str, &str, &str)| *file == name && staying == mechanism;
                match STAYING.iter().find(stays) {
                    Some((file, staying, _)) => drop(found.insert((*file, *staying))),
                    None => faults.push(format!("{path}:{}: names `{mechanism}`", number + 1)),
                }
            }
        }
    }
    for (file, mechanism, why) in STAYING.iter().filter(|(file, name, _)| !found.contains(&(*file, *name))) {
        faults.push(format!("{file}: does not name `{mechanism}` any more ({why})"));
    }
    assert_none(&faults);
}

#[test]
fn identifiers_are_found_as_words() {
    let line = "use tautwire_core::gptp::{A}; fn f(x: HartsTest) { \"tdma\" } // srp";
    let words = identifiers(line);
    assert_eq!(words, ["use", "tautwire_core", "gptp", "a", "fn", "f", "x", "harts_test"]);
    assert!(
        names("harts_test", "harts") && names("of_test_bed", "test_bed") && !names("centrally", "central")
    );
}
