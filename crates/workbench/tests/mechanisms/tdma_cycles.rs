//! The cycles of a TDMA run that are kept: they agree with the sums over all, and show the opener of each, and gaps without one.

use tautwire_generate::{TdmaFailure, random_tdma, seeds};
use tautwire_report::tdma::cycles::{CycleSummary, CyclesSummary};
use tautwire_workbench::{Network, Options, Summary, simulate};

use crate::common::described as network;

fn run(network: &Network, seed: Option<u64>) -> Summary {
    let mut options = Options { seed, ..Options::default() };
    Summary::new(network, None, Some(&simulate(network, &mut options)))
}

fn cycles(summary: &Summary) -> &CyclesSummary {
    summary.tdma_cycles.as_ref().expect("cycles were opened")
}

/// How often one of these characters occurs for a slot in all cycles.
fn count(cycles: &CyclesSummary, slot: usize, of: &str) -> u64 {
    let fates = cycles.cycles.iter().map(|cycle| cycle.slots.as_bytes()[slot]);
    fates.filter(|fate| of.as_bytes().contains(fate)).count() as u64
}

/// With no cycle left out, each slot's characters are its sums.
fn assert_agrees(summary: &Summary, written: &str) {
    let Some(cycles) = &summary.tdma_cycles else { return };
    assert_eq!(cycles.left_out, 0, "{written}");
    assert!(cycles.cycles.iter().all(|cycle| cycle.slots.len() == summary.slots.len()), "{written}");
    for (place, slot) in summary.slots.iter().enumerate() {
        let counted = ["u", "eE", "EX", "xX", "ueExX"].map(|of| count(cycles, place, of));
        let sums = [slot.used, slot.empty, slot.missed, slot.unheard, slot.opened];
        assert_eq!(counted, sums, "slot {place} of {}: {written}", slot.owner);
    }
}

#[test]
fn the_failures_of_the_scenario_are_seen_in_their_cycles() {
    let summary = run(&network(include_str!("../../../../scenarios/tdma-failures.yaml")), None);
    assert_agrees(&summary, "tdma-failures");
    let cycles = &cycles(&summary).cycles;
    let last = cycles.iter().rposition(|cycle| cycle.master_opened_ps.is_some()).expect("a master");
    let (before, first) = (&cycles[last], &cycles[last + 1]);
    assert!(
        (69_000_000_000..70_000_000_000).contains(&before.begin_ps),
        "the master stops at 70 ms: {before:?}"
    );
    assert_eq!((first.opened_by.as_str(), first.number), ("standby", before.number + 1));
    assert!(cycles[last + 1..].iter().all(|cycle| cycle.opened_by == "standby"));
    // The standby watches for 100 us, and then opens the cycle that should have begun.
    let watched = first.standby_opened_ps.expect("it opened it") - first.begin_ps;
    assert!((99_900_000..100_100_000).contains(&watched), "{watched}");
    let silence =
        first.standby_opened_ps.expect("it opened it") - before.master_opened_ps.expect("it opened it");
    assert_eq!(summary.takeover.as_ref().and_then(|takeover| takeover.silence_observed_ps), Some(silence));
    // The cable of slave-a is cut from 30 to 38 ms.
    let unheard = |cycle: &&CycleSummary| cycle.slots.as_bytes()[2].eq_ignore_ascii_case(&b'x');
    let cut = |cycle: &&CycleSummary| (30_000_000_000..37_000_000_000).contains(&cycle.begin_ps);
    assert!(cycles.iter().filter(cut).all(|cycle| unheard(&cycle)));
}

/// A master without a standby, whose clock is perfect.
fn lone(duration: &str, events: &str) -> Network {
    network(&format!(
        "name: lone\nnetwork-control: none\ndefaults: {{rate: 100 Mbit/s}}\nnodes: {{master: {{type: end-station}}, a: {{type: end-station}}}}
links: [{{between: [master, a]}}]\nevents: [{events}]\ntdma:\n  cycle: 1 ms\n  synchronisation: opening
  slots:\n    - {{owner: a, offset: 250 us, length: 60 us}}\n    - {{owner: a, offset: 400 us, length: 60 us, every: 2, phase: 1}}
streams:\n  - {{name: opening, talker: master, listeners: all, payload: 46 B, traffic: {{type: synchronisation}}}}
  - {{name: x, talker: a, listeners: master, payload: 200 B, traffic: {{type: periodic, interval: 5 ms}}}}
run: {{duration: {duration}}}\n"
    ))
}

#[test]
fn time_without_a_cycle_is_reported() {
    let network = lone("20500 us", "{at: 5500 us, stop-node: master}, {at: 8500 us, start-node: master}");
    let summary = run(&network, None);
    assert_agrees(&summary, "a master that is back");
    let cycles = &cycles(&summary).cycles;
    let written = |cycle: &CycleSummary| (cycle.number, cycle.begin_ps / 1_000_000, cycle.gap_ps);
    let around: Vec<_> = cycles[5..8].iter().map(written).collect();
    assert_eq!(around, [(5, 5_000, None), (0, 10_500, Some(4_500_000_000)), (1, 11_500, None)]);
    assert_eq!(
        cycles.last().map(|cycle| cycle.slots.as_str()),
        Some("?-"),
        "the run ends within the last cycle"
    );
    assert_eq!([&cycles[6].slots, &cycles[7].slots].map(|slots| &slots[1..]), ["-", "e"]);
}

#[test]
fn the_first_cycles_are_kept_and_those_out_of_the_ordinary() {
    let network = lone("3 s", "{at: 1999500 us, stop-node: a}, {at: 2010500 us, start-node: a}");
    let summary = run(&network, None);
    let cycles = cycles(&summary);
    let turns: Vec<u64> = cycles.cycles.iter().map(|cycle| cycle.turn).collect();
    let expected: Vec<u64> = (0..500).chain(2_000..2_011).chain([3_000]).collect();
    assert_eq!((turns, cycles.left_out), (expected, 3_001 - 512));
    assert!(cycles.cycles[500..511].iter().all(|cycle| cycle.slots.starts_with(['x', 'X'])));
}

#[test]
fn cycles_of_random_networks_agree_with_the_sums() {
    let mut opened = 0;
    for failure in TdmaFailure::ALL {
        for seed in seeds(6) {
            let text = random_tdma(seed, failure);
            let summary = run(&network(&text), Some(seed));
            assert_agrees(&summary, &format!("TAUTWIRE_SEED={seed} ({failure:?})\n{text}"));
            opened += summary.tdma_cycles.map_or(0, |cycles| cycles.cycles.len());
        }
    }
    assert!(opened > 500, "cycles are opened: {opened}");
}
