//! Clocks that a servo corrects, against their bound: a search through random networks for one that exceeds it.
//!
//! `TAUTWIRE_CASES` sets the number of networks, `TAUTWIRE_SEED` draws one. Clocks drift, stamps come in steps and
//! late, delays differ by direction, PHYs take longer for some frames; where cables have bit errors the runs count
//! that lost one message.

use tautwire_analysis::{SyncLosses, corrected_precision};
use tautwire_generate::{random_gptp_servo, seeds};
use tautwire_workbench::{Network, Observation, Options, bounds, simulate};

use crate::common::described;

/// What was found of some clocks.
#[derive(Default)]
struct Found {
    /// The first clock beyond its bound.
    wrong: Option<String>,
    /// Clocks with a bound, and those without one.
    bounded: u64,
    unbounded: u64,
    /// Of its bound, the most that a clock was off, in percent.
    nearest: u64,
}

impl Found {
    /// Holds all clocks of a run against their bounds.
    fn hold(&mut self, seed: u64, network: &Network, seen: &Observation, losses: SyncLosses) {
        let bounds = bounds(network);
        for clock in &seen.clocks {
            let (Some(corrected), Some(master)) = (&clock.corrected, clock.grandmaster) else { continue };
            let (Some(least), Some(most)) = (corrected.offset.min_ps(), corrected.offset.max_ps()) else {
                continue;
            };
            if master == clock.node {
                continue;
            }
            let Some(bound) = corrected_precision(network, &bounds, master, clock.node, losses) else {
                self.unbounded += 1;
                continue;
            };
            self.bounded += 1;
            let off = least.unsigned_abs().max(most.unsigned_abs());
            self.nearest = self.nearest.max(off * 100 / bound.as_ps());
            if off > bound.as_ps() {
                let name = &network.nodes[clock.node.index()].name;
                self.wrong
                    .get_or_insert(format!("TAUTWIRE_SEED={seed}: {name} is {off} ps off, bound {bound}"));
            }
        }
    }
}

fn run(seed: u64, lossy: bool) -> (Network, Observation) {
    let network = described(&random_gptp_servo(seed, lossy));
    let seen = simulate(&network, &mut Options { seed: Some(seed), ..Options::default() });
    (network, seen)
}

#[test]
fn no_corrected_clock_is_beyond_its_bound() {
    let mut found = Found::default();
    let seeds = seeds(24);
    for &seed in &seeds {
        let (network, seen) = run(seed, false);
        found.hold(seed, &network, &seen, SyncLosses::None);
        assert_eq!(found.wrong, None, "{}", random_gptp_servo(seed, false));
    }
    println!("{} bounded, {} not, {} %", found.bounded, found.unbounded, found.nearest);
    if seeds.len() >= 24 {
        assert!(found.bounded > 30 && found.bounded > 4 * found.unbounded, "{} bounded", found.bounded);
        assert!(found.nearest > 5, "bounds are near what is seen: {} %", found.nearest);
    }
}

#[test]
fn nor_where_a_message_is_lost() {
    let mut found = Found::default();
    let seeds = seeds(24);
    let mut runs = 0;
    for &seed in &seeds {
        let (network, seen) = run(seed, true);
        let lost: u64 = seen.streams.iter().flat_map(|stream| &stream.dropped).map(|(_, count)| count).sum();
        if lost == 1 {
            runs += 1;
            found.hold(seed, &network, &seen, SyncLosses::OneOf(30));
            assert_eq!(found.wrong, None, "{}", random_gptp_servo(seed, true));
        }
    }
    println!("{runs} runs, {} bounded, {} not, {} %", found.bounded, found.unbounded, found.nearest);
    assert!(seeds.len() < 24 || (runs > 3 && found.bounded > 0), "{runs} runs, {} bounded", found.bounded);
}

/// Without its integral part a servo leaves an offset that makes the rate.
#[test]
fn a_servo_without_its_integral_part_is_found() {
    use tautwire_core::fault::{PlantedFault, plant};
    let cases = tautwire_generate::cases(100);
    plant(Some(PlantedFault::IntegralForgotten));
    let found = (0..cases).find(|seed| {
        let (network, seen) = run(*seed, false);
        let mut found = Found::default();
        found.hold(*seed, &network, &seen, SyncLosses::None);
        found.wrong.is_some()
    });
    plant(None);
    assert!(found.is_some(), "not found in {cases} networks");
}
