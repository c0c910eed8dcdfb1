//! Bounds of classes that come by one link are counted together: against runs and the adversary, with faults that are planted in them.
//!
//! Talkers that each send in several classes, over a line of bridges under strict priority. `TAUTWIRE_CASES` sets how many are drawn,
//! `TAUTWIRE_SEED` draws one.

use std::fmt::Write;

use tautwire_analysis::{Method, PlantedFault, bounds_with_fault};
use tautwire_generate::{cases, seeds};
use tautwire_workbench::bounds_in_run;

use crate::common::{described, run};
use crate::held::beyond;

/// Runs of the adversary for a row.
const RUNS: u64 = 12;

fn line(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let (mut nodes, mut links, mut streams) = (String::new(), String::new(), String::new());
    let bridges = 1 + draw(3);
    for bridge in 0..bridges {
        let _ = writeln!(nodes, "  b{bridge}: {{type: bridge}}");
        let next = if bridge + 1 == bridges { "z".to_owned() } else { format!("b{}", bridge + 1) };
        let rate = [100, 100, 1_000][draw(3) as usize];
        let _ = writeln!(links, "  - {{between: [b{bridge}, {next}], rate: {rate} Mbit/s}}");
    }
    let sizes = draw(3);
    let (mut number, mut all) = (0, 0);
    for talker in 0..1 + draw(3) {
        let rate = [100, 100, 1_000][draw(3) as usize];
        let _ = writeln!(nodes, "  t{talker}: {{type: end-station}}");
        let _ = writeln!(links, "  - {{between: [t{talker}, b{}], rate: {rate} Mbit/s}}", draw(bridges));
        for _ in 0..2 + draw(5) {
            let (least, most) = match sizes {
                0 => (1_500, 1_500),
                1 => (46 + draw(1_455), 0),
                _ => (46 + draw(200), 300 + draw(1_200)),
            };
            let most = most.max(least);
            let payload = format!("{{min: {least} B, max: {most} B}}");
            let interval = [2_000, 4_000, 8_000][draw(3) as usize];
            let burst = 1 + draw(3);
            // Bits in a millisecond, with tag, header, preamble and gap.
            let rate = burst * (most + 42) * 8_000 / interval;
            if all + rate > 90_000 {
                continue;
            }
            all += rate;
            let _ = writeln!(
                streams,
                "  - {{name: s{number}, talker: t{talker}, listeners: z, priority: {}, payload: {payload}, traffic: {{type: periodic, \
                 interval: {interval} us, burst: {burst}}}}}",
                draw(8)
            );
            number += 1;
        }
    }
    let stages = [
        "[]",
        "[{name: forwarding, position: processing, latency: 3 us}]",
        "[{name: forwarding, position: processing, latency: {min: 500 ns, max: 900 ns, per-octet: 2 ns}}]",
    ][draw(3) as usize];
    let tolerance = [0, 0, 100][draw(3) as usize];
    format!(
        "network-control: none
devices: {{drawn: {{stages: {stages}}}}}
defaults: {{device: drawn, traffic-class-table: identity, clock: {{tolerance: {tolerance} ppm}}}}
run: {{duration: 30 ms}}
vlans: {{1: {{tagged: all}}}}
nodes:
  z: {{type: end-station}}
{nodes}links:
{links}streams:
{streams}"
    )
}

#[test]
fn no_frame_is_later_than_what_classes_by_one_link_allow() {
    let (mut hops, mut by_links) = (0, 0);
    for seed in seeds(60) {
        let network = described(&line(seed));
        let bounds = bounds_in_run(&network, &run(&network));
        let found = beyond(&network, &bounds, RUNS);
        assert!(found.is_empty(), "TAUTWIRE_SEED={seed}: {found:?}\n{}", line(seed));
        let all = bounds.streams.iter().flat_map(|stream| &stream.hops);
        hops += all.clone().count();
        by_links += all.filter(|hop| hop.method == Method::StrictPriorityByLinks).count();
    }
    assert!(by_links * 6 > hops || hops < 100, "{by_links} of {hops} by links");
}

#[test]
fn faults_in_classes_by_one_link_are_found() {
    for fault in PlantedFault::OF_LINKS {
        let is_found = |seed: &u64| {
            let network = described(&line(*seed));
            !beyond(&network, &bounds_with_fault(&network, Some(fault)), RUNS).is_empty()
        };
        let limit = cases(200);
        assert!((0..limit).any(|seed| is_found(&seed)), "{fault:?} is not found in {limit} networks");
    }
}
