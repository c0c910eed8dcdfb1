//! How long admissions take at most, and that none takes longer: in the scenarios of all ways to admit, and in random networks.
//!
//! `TAUTWIRE_CASES` sets the number of networks, `TAUTWIRE_SEED` draws one.

use crate::common::{contradictions, described};
use tautwire_analysis::{AdmissionBound, NoAdmissionBound, admission_bounds};
use tautwire_generate::{random_admission, seeds};
use tautwire_units::Duration;
use tautwire_workbench::{Network, Observation, Options, bounds, simulate};

/// How long the admission of a stream took.
fn observed(seen: &Observation, bound: &AdmissionBound) -> Option<Duration> {
    let reserved = seen.reservations.iter().find(|one| one.stream == bound.stream);
    let own = seen.harts.iter().flat_map(|harts| &harts.requests);
    let own = || own.clone().filter(|request| request.stream == bound.stream);
    // By its talker and the first of its listeners.
    let first = |talks: bool| {
        own().filter(move |request| request.is_talker == talks).filter_map(|request| request.asked_at).min()
    };
    let asked = first(true).zip(first(false)).map(|(talker, listener)| talker.max(listener));
    let answered = own().filter(|request| request.is_talker).find_map(|request| request.answered_at);
    reserved.and_then(|one| one.admission()).or(answered.zip(asked).map(|(until, since)| until - since))
}

/// What a run finds wrong, how many admissions there were, and how many of them have a bound.
fn held(network: &Network, seed: u64) -> (Vec<String>, usize, usize) {
    let bounds = bounds(network);
    let admissions = admission_bounds(network, &bounds);
    let seen = simulate(network, &mut Options { seed: Some(seed), ..Options::default() });
    let bounded = admissions.iter().filter(|bound| bound.delay.is_ok() && observed(&seen, bound).is_some());
    (contradictions(network, &bounds, &seen), admissions.len(), bounded.count())
}

#[test]
fn no_admission_takes_longer_than_its_bound() {
    let (mut all, mut bounded) = (0, 0);
    let seeds = seeds(90);
    for &seed in &seeds {
        let text = random_admission(seed);
        let (wrong, streams, with_bound) = held(&described(&text), seed);
        assert!(wrong.is_empty(), "TAUTWIRE_SEED={seed}: {wrong:#?}\n{text}");
        all += streams;
        bounded += with_bound;
    }
    println!("{bounded} of {all} have a bound and were admitted");
    assert!(seeds.len() < 90 || bounded * 2 > all, "{bounded} of {all} have a bound and were admitted");
}

/// The scenarios of stream reservation, of a CNC and of HaRTES.
#[test]
fn the_scenarios_have_bounds_of_their_admissions() {
    for name in ["stream-reservation", "reserved-slopes", "central-configuration", "harts-admission"] {
        let path = format!("../../scenarios/{name}.yaml");
        let network = described(&std::fs::read_to_string(path).expect("a scenario"));
        let admissions = admission_bounds(&network, &bounds(&network));
        assert!(admissions.iter().all(|bound| bound.delay.is_ok()), "{name}: {admissions:#?}");
        let (wrong, _, bounded) = held(&network, 1);
        assert!(wrong.is_empty() && bounded > 0, "{name}: {wrong:#?}");
    }
}

/// The figures of docs/mechanisms/harts.md: the longest admission of the scenario, its bound, and the longest if every
/// processor always takes its
/// longest.
#[test]
fn the_longest_admission_of_the_scenario_is_as_documented() {
    let path = "../../scenarios/harts-admission.yaml";
    let text = std::fs::read_to_string(path).expect("a scenario");
    let longest = |text: &str| {
        let network = described(text);
        let admissions = admission_bounds(&network, &bounds(&network));
        let seen = simulate(&network, &mut Options::default());
        let taken = admissions.iter().filter_map(|bound| Some((observed(&seen, bound)?, bound)));
        let (observed, bound) = taken.max_by_key(|(observed, _)| *observed).expect("admissions");
        // Tenths of a millisecond, to the nearest.
        [observed, bound.delay.expect("a bound")].map(|span| (span.as_ps() + 50_000_000) / 100_000_000)
    };
    let slow = [("40 us", "60 us"), ("80 us", "120 us"), ("200 us", "300 us"), ("4 ms", "6 ms")];
    let always = slow.iter().fold(text.clone(), |text, (min, max)| {
        text.replace(&format!("{{min: {min}, max: {max}}}"), &format!("{{min: {max}, max: {max}}}"))
    });
    assert_eq!([longest(&text), longest(&always)], [[241, 456], [320, 456]]);
}

/// A network that may lose frames, or repeats messages before they can be answered, has no bound, with a reason.
#[test]
fn an_admission_without_a_bound_has_a_reason() {
    let path = "../../scenarios/harts-admission.yaml";
    let text = std::fs::read_to_string(path).expect("a scenario");
    let reason = |text: &str| {
        let network = described(text);
        let found = admission_bounds(&network, &bounds(&network));
        found.first().expect("a request").delay.expect_err("no bound")
    };
    assert_eq!(
        reason(&text.replacen("length: 5 m", "length: 5 m, bit-error-rate: 1e-9", 1)),
        NoAdmissionBound::Losses
    );
    let patience = Duration::from_ms(10);
    assert_eq!(
        reason(&text.replace("patience: 100 ms", "patience: 10 ms")),
        NoAdmissionBound::Repeated(patience)
    );
    let without = text.replace("    channel: channel\n", "");
    assert!(matches!(reason(&without), NoAdmissionBound::Frames(_)));
}

/// Faults that make admissions late are found.
#[test]
fn every_fault_that_delays_admissions_is_found() {
    use tautwire_core::fault::{PlantedFault, plant};
    let mut missed = Vec::new();
    for planted in PlantedFault::OF_ADMISSION_TIME {
        plant(Some(planted));
        let late = |seed: &u64| !held(&described(&random_admission(*seed)), *seed).0.is_empty();
        let found = (0..tautwire_generate::cases(120)).find(late);
        plant(None);
        match found {
            Some(seed) => println!("{planted:?}: seed {seed}"),
            None => missed.push(planted),
        }
    }
    assert!(missed.is_empty(), "not found: {missed:?}");
}
