//! Bounds of one port with periodic streams are those of a run: of every class under strict priority, and of a credit-based class
//! between others.
//!
//! `TAUTWIRE_CASES` sets how many are drawn, `TAUTWIRE_SEED` draws one.

use std::fmt::Write;

use tautwire_generate::seeds;
use tautwire_workbench::{adversary, bounds_in_run};

use crate::common::{described, run};

/// Runs for a row; and where its worst run is not among them.
const RUNS: u64 = 60;
const MORE_RUNS: u64 = 1_000;

/// Talkers with a cable each to a bridge, and a listener: no more than `load` per cent of the last cable; frames of
/// priority 5 are credit-based if there is a `slope` in per cent of their rate.
fn port(seed: u64, (priorities, load): (&[u64], u64), slope: Option<u64>) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let (mut nodes, mut links, mut streams) = (String::new(), String::new(), String::new());
    let (mut all, mut of_credit) = (0, 100_000);
    for number in 0..3 + draw(4) {
        let (payload, interval) = (46 + draw(1_455), [250, 500, 1_000, 2_000, 4_000][draw(5) as usize]);
        let priority = priorities[draw(priorities.len() as u64) as usize];
        // Bits a second, with tag, header, preamble and gap.
        let rate = (payload + 42) * 8 * 1_000_000 / interval;
        if all + rate > load * 1_000_000 {
            continue;
        }
        all += rate;
        of_credit += if priority == 5 { rate } else { 0 };
        let _ = writeln!(nodes, "  t{number}: {{type: end-station}}");
        let _ = writeln!(links, "  - {{between: [t{number}, b]}}");
        let traffic = format!("{{type: periodic, interval: {interval} us}}");
        let _ = writeln!(
            streams,
            "  - {{name: s{number}, talker: t{number}, listeners: z, priority: {priority}, payload: {payload} B, traffic: {traffic}}}"
        );
    }
    let classes = slope.map_or_else(String::new, |slope| {
        let slope = of_credit * slope / 100;
        format!(", classes: {{5: {{transmission-selection: credit-based, idle-slope: {slope} bit/s}}}}")
    });
    format!(
        "network-control: none
defaults: {{rate: 100 Mbit/s, traffic-class-table: identity}}
run: {{duration: 40 ms}}
vlans: {{1: {{tagged: all}}}}
nodes:
  b: {{type: bridge{classes}}}
  z: {{type: end-station}}
{nodes}links:
  - {{between: [b, z]}}
{links}streams:
{streams}"
    )
}

/// A bound, the worst run that is found, and of which stream and seed.
type Row = (u64, u64, String);

/// Rows of the selected classes, by so many runs each.
fn rows(seed: u64, text: &str, runs: u64, asked: impl Fn(usize) -> bool) -> Vec<Row> {
    let network = described(text);
    let observation = run(&network);
    let bounds = bounds_in_run(&network, &observation);
    let found = adversary(&network, &bounds, &observation, runs, |_, _| {});
    let rows =
        found.rows.iter().filter(|row| asked(network.streams[row.stream.index()].hops[0].class.index()));
    rows.map(|row| {
        let bound = &bounds.streams[row.stream.index()].listeners[row.listener].delay;
        let bound = bound.as_ref().expect("a bound").as_ps();
        let worst = row.worst.expect("frames came").as_ps();
        let name = &network.streams[row.stream.index()].name;
        (bound, worst, format!("TAUTWIRE_SEED={seed}, {name}: {bound} ps and {worst} ps\n{text}"))
    })
    .collect()
}

/// Those whose bound is above what was found by more than so many parts of 10 000.
fn loose(rows: &[Row], parts: u64) -> Vec<&Row> {
    rows.iter().filter(|(bound, worst, _)| *bound > worst + worst * parts / 10_000).collect()
}

#[test]
fn under_strict_priority() {
    let all = seeds(40);
    let of_seed = |seed: u64| {
        let text = port(seed, (&[0, 3, 5, 6], 90), None);
        let found = rows(seed, &text, RUNS, |_| true);
        if loose(&found, 2).is_empty() { found } else { rows(seed, &text, MORE_RUNS, |_| true) }
    };
    let rows: Vec<Row> = all.iter().flat_map(|seed| of_seed(*seed)).collect();
    assert!(all.len() == 1 || rows.len() > 2 * all.len(), "{} rows", rows.len());
    assert!(loose(&rows, 2).is_empty(), "{}", loose(&rows, 2)[0].2);
}

/// The adversary does not find the worst run of each within its runs.
#[test]
fn of_a_credit_based_class() {
    let all = seeds(40);
    let text = |seed: u64| port(seed, (&[0, 5, 5, 6, 7], 70), Some(115));
    let rows: Vec<Row> =
        all.iter().flat_map(|seed| rows(*seed, &text(*seed), RUNS, |class| class == 5)).collect();
    assert!(all.len() == 1 || rows.len() > all.len(), "{} rows", rows.len());
    let loose = loose(&rows, 500);
    assert!(loose.len() * 20 <= rows.len(), "{} of {}, {}", loose.len(), rows.len(), loose[0].2);
}
