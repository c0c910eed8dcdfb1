//! Planned slots hold: round trips are proven, no run contradicts the proof, and every response is in its
//! request's cycle.
//!
//! Random pairs with jittering hosts, drifting clocks and one or two bridges. `TAUTWIRE_CASES` sets the number of
//! networks, `TAUTWIRE_SEED` draws one.

use tautwire_generate::{random_tdma_slot_pairs, seeds};
use tautwire_workbench::{Options, PlannedSlots, Verdict, bounds, plan_slots, simulate, verify};

#[test]
fn planned_slots_are_proven_and_keep_their_proof() {
    let (mut rounds, mut interleaved, mut turns) = (0, 0, 0);
    for seed in seeds(40) {
        let text = random_tdma_slot_pairs(seed);
        let given = crate::common::described(&text);
        let cycle = given.tdma.as_ref().expect("slots").cycle;
        for cycle in [Some(cycle), None] {
            let again = format!("TAUTWIRE_SEED={seed} (cycle: {cycle:?})\n{text}");
            let planned = plan_slots(&given, cycle).expect("room for a round in 3 ms");
            rounds = rounds.max(planned.plan.rounds);
            interleaved += u32::from(is_interleaved(&planned));
            turns += u32::from(planned.plan.slots.iter().any(|slot| slot.every > 1));
            let (before, proven) = (bounds(&given), bounds(&planned.network));
            for (_, response) in &planned.pairs {
                let delay = |bounds: &tautwire_workbench::Bounds| {
                    bounds.streams[response.index()].listeners[0].delay.clone().ok()
                };
                let found = delay(&proven).unwrap_or_else(|| panic!("{again}"));
                // One slot a cycle, wherever it is, is no better.
                assert!(delay(&before).is_none_or(|before| found < before), "{again}");
            }
            for answer in &planned.plan.answers {
                assert!(answer.ready <= answer.response && answer.response < planned.plan.cycle, "{again}");
            }
            let observation =
                simulate(&planned.network, &mut Options { seed: Some(seed), ..Options::default() });
            let verification = verify(&planned.network, &proven, &observation);
            for judged in verification.streams.iter().flat_map(|stream| &stream.listeners) {
                assert_ne!(judged.verdict, Verdict::Contradiction, "{judged:?} {again}");
            }
        }
    }
    assert!(rounds > 1, "several rounds in a cycle");
    assert!(
        seeds(40).len() == 1 || interleaved > 0 && turns > 0,
        "rounds interleave and streams take turns at times: {interleaved} {turns}"
    );
}

/// Whether a request's slot is before the answer to the one before.
fn is_interleaved(planned: &PlannedSlots) -> bool {
    let answers = &planned.plan.answers;
    let between = |one: &tautwire_synthesis::tdma_slots::Answer| {
        answers.iter().any(|other| {
            one.pair == other.pair && one.request < other.request && other.request < one.response
        })
    };
    answers.iter().any(between)
}
