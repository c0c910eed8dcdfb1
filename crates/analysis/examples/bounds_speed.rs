//! Bounds a generated tree again and again: `bounds_speed 1000 64 100`, a target for a profiler. With a `1` behind it, by curves alone.
#![allow(clippy::print_stdout, reason = "an example prints")]

use tautwire_analysis::Accuracy;
use tautwire_generate::{Backbone, Topology};

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let mut next = |default: usize| arguments.next().unwrap_or(default);
    let (streams, bridges, rounds) = (next(1_000), next(64), next(1));
    let tree = Backbone {
        topology: Topology::Tree { branching: 3 },
        bridges,
        stations: 2,
        streams,
        distance: 6,
        load: 30,
        duration_ms: 2,
        seed: 1,
    };
    let loaded = tautwire_model::load_text("generated", &tree.describe());
    let network = loaded.network.expect("a generated network is right");
    let accuracy = if next(0) == 1 { Accuracy::Curves } else { Accuracy::Frames };
    for _ in 0..rounds {
        std::hint::black_box(tautwire_analysis::bounds_by(&network, accuracy));
    }
    println!("{} hops", network.streams.iter().map(|stream| stream.hops.len()).sum::<usize>());
}
