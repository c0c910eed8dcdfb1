//! CPU time of a step on a generated tree, all streams but one running: `session_speed 1000 64 2000`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use tautwire_analysis::Session;
use tautwire_generate::{Backbone, Topology};
use tautwire_model::network::StreamIndex;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let mut next = |default: usize| arguments.next().unwrap_or(default);
    let (streams, bridges, steps) = (next(1_000), next(64), next(1_000));
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
    let all: Vec<StreamIndex> = (0..streams).map(StreamIndex::at).collect();
    let mut session = Session::new(&network);
    let begin = cpu_ns();
    session.start_all(&all);
    let whole = cpu_ns() - begin;
    let begin = cpu_ns();
    let mut ports = 0;
    for step in 0..steps {
        let stream = all[step * 7_919 % streams];
        session.stop(stream);
        session.start(stream);
        ports += session.evaluated_ports();
    }
    let step = (cpu_ns() - begin) / (2 * steps as u64);
    let begin = cpu_ns();
    std::hint::black_box(tautwire_analysis::bounds(&network));
    let bounds = cpu_ns() - begin;
    println!(
        "{streams} streams, {bridges} bridges: step {} us, {} ports; session {} us, bounds {} us",
        step / 1_000,
        ports / steps,
        whole / 1_000,
        bounds / 1_000
    );
}

/// Time that this thread has had a processor, nanoseconds, as Linux tells.
fn cpu_ns() -> u64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells");
    told.split_whitespace().next().and_then(|ns| ns.parse().ok()).expect("a number")
}
