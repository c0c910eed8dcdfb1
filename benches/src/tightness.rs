//! How far bounds are from the worst that an adversary finds, over drawn networks of each kind.
//!
//! `NETWORKS` sets how many are drawn of each kind, `KIND` draws of one kind alone, `RUNS` sets how many runs the adversary has for each
//! stream and listener. `METHOD=tight` adds the linear programs of paths to the bounds.

use std::collections::BTreeMap;

use tautwire_generate::KINDS;
use tautwire_sim::Options;
use tautwire_workbench::{Accuracy, adversary, bounds_in_run_by, load_text, simulate};

/// Ratios of bound over worst by kind, in order, and of all kinds together as `all`. Control frames do not count.
pub(crate) fn ratios() -> BTreeMap<&'static str, Vec<f64>> {
    let (networks, runs) = (number("NETWORKS", 10), number("RUNS", 30));
    let mut ratios: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
    let asked = std::env::var("KIND").unwrap_or_default();
    for (kind, draw) in KINDS.into_iter().filter(|(kind, _)| asked.is_empty() || *kind == asked) {
        let of_kind: Vec<f64> = (0..networks).flat_map(|seed| of_network(&draw(seed), runs)).collect();
        ratios.entry("all").or_default().extend(&of_kind);
        ratios.insert(kind, of_kind);
    }
    ratios.values_mut().for_each(|list| list.sort_by(f64::total_cmp));
    ratios
}

/// Nothing of a description that `check` refuses: some kinds draw such.
fn of_network(text: &str, runs: u64) -> Vec<f64> {
    let Some(network) = load_text("drawn", text).network else { return Vec::new() };
    let observation = simulate(&network, &mut Options::default());
    let bounds = bounds_in_run_by(&network, &observation, accuracy());
    let found = adversary(&network, &bounds, &observation, runs, |_, _| {});
    assert!(found.contradictions.is_empty(), "{:?}\n{text}", found.contradictions);
    let ratio = |row: &tautwire_workbench::FoundRow| {
        let stream = row.stream.index();
        let bound = bounds.streams[stream].listeners[row.listener].delay.as_ref().ok()?;
        let worst = row.worst.filter(|worst| !worst.is_zero())?;
        (!network.streams[stream].traffic.is_control()).then(|| bound.as_ps() as f64 / worst.as_ps() as f64)
    };
    found.rows.iter().filter_map(ratio).collect()
}

fn accuracy() -> Accuracy {
    match std::env::var("METHOD").as_deref() {
        Err(_) | Ok("" | "fast") => Accuracy::Frames,
        Ok("tight") => Accuracy::Paths,
        Ok(other) => panic!("no method `{other}`: there are fast, tight"),
    }
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}
