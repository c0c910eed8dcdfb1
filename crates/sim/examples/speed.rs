//! Runs a generated line or mesh for so many milliseconds: `speed mesh 20`, a target for a profiler.
#![allow(clippy::print_stdout, reason = "an example prints")]

use tautwire_generate::{Backbone, Topology};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mesh = arguments.next().is_some_and(|name| name == "mesh");
    let duration_ms = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(100);
    let line = Backbone {
        topology: Topology::Line,
        bridges: 20,
        stations: 5,
        streams: 1_000,
        distance: 4,
        load: 50,
        duration_ms,
        seed: 1,
    };
    let backbone = if mesh {
        let topology = Topology::Mesh { width: 10 };
        Backbone { topology, bridges: 100, stations: 2, streams: 2_000, distance: 5, ..line }
    } else {
        line
    };
    let loaded = tautwire_model::load_text("generated", &backbone.describe());
    let network = loaded.network.expect("a generated network is right");
    let observation = tautwire_sim::run(&network, &mut tautwire_sim::Options::default());
    println!("{} frame-hops, hash {:016x}", observation.frame_hops, observation.trace_hash);
}
