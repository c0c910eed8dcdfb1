//! The search for a tuned description that differs from the report about it: random networks with deadlines a little
//! below their bounds.
//!
//! The written description is proven by bounds, and differs from the given one in the reported values, and in nothing
//! else. What was proven stays proven, and what had a bound keeps one.
//!
//! `TAUTWIRE_CASES` sets how many are drawn, `TAUTWIRE_SEED` draws one.

use std::fmt::Write as _;

use tautwire_generate::{Dice, random_network, seeds};
use tautwire_workbench::{TuneKind, TuneOptions, Tuned, Verdict, bounds, judge, load_text, tune};

/// A network in which streams with a bound have deadlines: some between 0.7 of it and it, others the bound itself. None if none has one.
fn drawn(seed: u64) -> Option<String> {
    let mut text = random_network(seed);
    let network = load_text("drawn", &text).network.expect("no faults");
    let bounds = bounds(&network);
    let mut dice = Dice::new(seed ^ 0x7475_6e65);
    let mut deadlines = 0;
    for (stream, found) in network.streams.iter().zip(&bounds.streams) {
        let bound = found.listeners.iter().map(|one| one.delay.as_ref().ok().map(|delay| delay.as_ps()));
        let Some(bound) = bound.collect::<Option<Vec<u64>>>().and_then(|each| each.into_iter().max()) else {
            continue;
        };
        let part = if dice.chance(40) { dice.between(700, 999) } else { 1_000 };
        let deadline = (u128::from(bound) * u128::from(part)).div_ceil(1_000);
        let name = format!("{{name: {},", stream.name);
        let stated = text.replace(&name, &format!("{name} deadline: {deadline} ps,"));
        // The wire alone may take longer than that.
        if load_text("drawn", &stated).network.is_some() {
            (text, deadlines) = (stated, deadlines + 1);
        }
    }
    (deadlines > 0).then_some(text)
}

/// Differences from the report, in words.
fn faults(text: &str, tuned: &Tuned) -> String {
    let mut faults = String::new();
    let Some(found) = &tuned.text else { return faults };
    let network = load_text("drawn", found).network.expect("what is written has no faults");
    let before = load_text("drawn", text).network.expect("no faults");
    let bounds_before = bounds(&before);
    let bounds = bounds(&network);
    let verification = judge(&network, Some(&bounds), None);
    for (stream, judged) in network.streams.iter().zip(&verification.streams) {
        if stream.deadline.is_some() && judged.verdict != Verdict::Proven {
            let _ = writeln!(faults, "{}: {:?}", stream.name, judged.verdict);
        }
    }
    for (was, is) in bounds_before.streams.iter().zip(&bounds.streams) {
        if was.listeners.iter().zip(&is.listeners).any(|(was, is)| was.delay.is_ok() && is.delay.is_err()) {
            faults.push_str("a bound is lost\n");
        }
    }
    // Put back, the reported values make the text as it was.
    let mut back = found.clone();
    let settings = tautwire_workbench::grammar().settings("drawn", &back).expect("well formed");
    let mut old = std::collections::BTreeMap::new();
    for change in &tuned.changes {
        let number = settings.list.iter().position(|setting| setting.path == change.path);
        let (Some(number), Some(value)) = (number, &change.old) else {
            let _ = writeln!(faults, "{} was not stated, and {number:?}", change.path);
            continue;
        };
        old.insert(number, value.clone());
    }
    back = settings.with(&old);
    if back != text {
        let _ = writeln!(faults, "more has changed: {:?}\n{found}", tuned.changes);
    }
    faults
}

#[test]
fn tuned_descriptions_are_proven_and_differ_in_nothing_else() {
    let seeds = seeds(12);
    let (mut found, mut changed, mut conflicts) = (0, 0, 0);
    for seed in &seeds {
        let Some(text) = drawn(*seed) else { continue };
        let kinds = TuneKind::ALL.to_vec();
        let mut options = TuneOptions { kinds, least: seed % 4 == 0, runs: 120, stop: &mut || false };
        let tuned = tune("drawn", &text, &mut options).expect("deadlines");
        let contradictions = faults(&text, &tuned);
        assert!(contradictions.is_empty(), "seed {seed}: {contradictions}{}", tuned.to_text());
        assert!(tuned.text.is_none() == tuned.conflict.is_some(), "seed {seed}");
        found += usize::from(tuned.text.is_some());
        changed += usize::from(tuned.text.is_some() && !tuned.changes.is_empty());
        conflicts += usize::from(tuned.conflict.is_some_and(|conflict| !conflict.rows.is_empty()));
    }
    assert!(
        seeds.len() == 1 || (changed > 3 && conflicts > 3),
        "{found} found, {changed} changed, {conflicts} conflicts"
    );
}
