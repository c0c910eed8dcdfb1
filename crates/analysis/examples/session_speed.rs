//! Time of a step on a generated tree, all streams but one running: `session_speed 1000 64 2000`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::time::{Duration, Instant};

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
    let begin = Instant::now();
    session.start_all(&all);
    let whole = begin.elapsed();
    let (mut times, mut ports) = (Vec::with_capacity(steps), 0);
    for step in 0..steps {
        let stream = all[step * 7_919 % streams];
        session.stop(stream);
        let begin = Instant::now();
        session.start(stream);
        times.push(begin.elapsed());
        ports += session.evaluated_ports();
    }
    times.sort();
    let mean = times.iter().sum::<Duration>() / u32::try_from(steps).expect("few");
    let at = |percent: usize| times[(steps - 1) * percent / 100].as_nanos() / 1_000;
    println!(
        "{streams} streams, {bridges} bridges: whole {} us; step mean {} us, median {} us, 95 % {} us, {} ports",
        whole.as_micros(),
        mean.as_micros(),
        at(50),
        at(95),
        ports / steps
    );
}
