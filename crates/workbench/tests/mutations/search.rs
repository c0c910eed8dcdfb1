//! The search: mutants of every scenario, each tried.
//!
//! A broken mutant is made small and shown with its seed:
//! `TAUTWIRE_SEED=n cargo test -p tautwire-workbench --test mutations no_mutant` tries it again.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use tautwire_generate::{Mutator, seeds};

use crate::exempt::Known;
use crate::material::mutator;
use crate::shrink::shrink;
use crate::trial::{Outcome, attempt};

/// No trial takes nearly as long: one that does not end is reported rather than waited for.
const HANGS: Duration = Duration::from_secs(300);

/// How many broken kinds are shown.
const SHOWN: usize = 5;

#[test]
fn no_mutant_breaks_a_promise() {
    let seeds = seeds(1_000);
    let count = seeds.len();
    let (progress, outcomes) = channel();
    // In a thread of its own, so that a trial that never ends is found.
    let worker = std::thread::spawn(move || {
        let mutator = mutator();
        for seed in seeds {
            let mutant = mutator.mutant(seed);
            let text = mutant.tree().write();
            // A test that is over does not listen.
            let _ = progress.send((seed, text.clone(), None));
            let outcome = attempt(&mutant.origin, &text, seed);
            let _ = progress.send((seed, mutant.origin, Some(outcome)));
        }
    });
    let known = Known::read();
    let mut last = None;
    let (mut passed, mut broken) = (0, Vec::new());
    loop {
        match outcomes.recv_timeout(HANGS) {
            Ok((seed, text, None)) => last = Some((seed, text)),
            Ok((_, _, Some(Outcome::Refused))) => {}
            Ok((_, _, Some(Outcome::Held))) => passed += 1,
            Ok((seed, origin, Some(Outcome::Broken(fault)))) => {
                passed += 1;
                if !known.is(&origin, &fault) && broken.iter().all(|(_, other)| *other != fault) {
                    broken.push((seed, fault));
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                let (seed, text) = last.expect("a trial began");
                panic!("seed {seed} does not end:\n{text}");
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    assert!(worker.join().is_ok(), "the search itself failed");
    broken.sort_by(|(_, one), (_, other)| one.kind.cmp(&other.kind));
    broken.dedup_by(|(_, one), (_, other)| one.kind == other.kind);
    let mutator = mutator();
    let shown: Vec<String> = broken.iter().take(SHOWN).map(|(seed, _)| show(&mutator, *seed)).collect();
    assert!(broken.is_empty(), "{} of {count} are broken\n{}", broken.len(), shown.join("\n"));
    assert!(count == 1 || passed * 4 > count, "only {passed} of {count} pass the check");
}

/// A broken mutant, small.
fn show(mutator: &Mutator, seed: u64) -> String {
    let mutant = mutator.mutant(seed);
    let Outcome::Broken(fault) = attempt(&mutant.origin, &mutant.tree().write(), seed) else {
        return format!("seed {seed} is broken now and then");
    };
    let (tree, fault) = shrink(&mutant, seed, &fault);
    let mutations: Vec<String> = mutant.mutations.iter().map(ToString::to_string).collect();
    format!(
        "=== seed {seed}, {}\n{}\n{}: {}\n---\n{}",
        mutant.origin,
        mutations.join("\n"),
        fault.kind,
        fault.message,
        tree.write()
    )
}
