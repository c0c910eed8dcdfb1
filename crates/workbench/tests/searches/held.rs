//! Draws networks, compares their runs with their bounds, and looks for networks that show a fault in bounds.

use tautwire_analysis::{PlantedFault, bounds_with_fault};
use tautwire_generate::seeds;
use tautwire_workbench::{Bounds, Network, adversary, bounds};

use crate::common::{bounded, contradictions, described, run, untold_losses};

/// What was drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    networks: usize,
    listeners: usize,
    bounded: usize,
}

/// So many networks, of which no frame is beyond its bound, or lost where that is proven not to be.
pub(crate) fn held(count: u64, draw: fn(u64) -> String) -> Held {
    let seeds = seeds(count);
    let mut held = Held { networks: seeds.len(), listeners: 0, bounded: 0 };
    for seed in seeds {
        let text = draw(seed);
        let network = described(&text);
        let (all, seen) = (bounds(&network), run(&network));
        let mut found = contradictions(&network, &all, &seen);
        found.extend(untold_losses(&network, &all, &seen).0);
        assert!(found.is_empty(), "TAUTWIRE_SEED={seed}: {:#?}\n{text}", &found[..found.len().min(5)]);
        let (listeners, with_bound) = bounded(&all);
        (held.listeners, held.bounded) = (held.listeners + listeners, held.bounded + with_bound);
    }
    held
}

impl Held {
    /// Asserts that more than a share of the listeners, in per cent, have a bound.
    pub(crate) fn assert_bounded(self, share: usize) {
        let enough = self.networks == 1 || self.bounded * 100 > self.listeners * share;
        assert!(enough, "{} of {} listeners have a bound", self.bounded, self.listeners);
    }

    /// Asserts that all listeners have a bound.
    pub(crate) fn assert_all_bounded(self) {
        assert_eq!(self.bounded, self.listeners, "all have a bound");
    }
}

/// What a run, or one of so many of the adversary for a row, shows that the bounds exclude.
pub(crate) fn beyond(network: &Network, bounds: &Bounds, runs: u64) -> Vec<String> {
    let observation = run(network);
    let found = contradictions(network, bounds, &observation);
    if !found.is_empty() {
        return found;
    }
    let worst = adversary(network, bounds, &observation, runs, |_, _| {});
    worst.contradictions.iter().map(ToString::to_string).collect()
}

/// The first seed whose network has a frame beyond a bound with this fault in it.
pub(crate) fn shows(
    fault: PlantedFault,
    seeds: impl IntoIterator<Item = u64>,
    draw: fn(u64) -> String,
) -> Option<u64> {
    seeds.into_iter().find(|seed| {
        let network = described(&draw(*seed));
        !contradictions(&network, &bounds_with_fault(&network, Some(fault)), &run(&network)).is_empty()
    })
}
