//! CPU time of a step on a generated tree, all streams but one running: `session_speed 1000 64 2000`; with a
//! fourth number, with slack of so many shifts. Then the same for a network that fills up from nothing.
#![allow(clippy::print_stdout, reason = "an example prints")]

use tautwire_analysis::Session;
use tautwire_generate::{Backbone, Topology};
use tautwire_model::Network;
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
    let slack = next(usize::MAX);
    let slack = u32::try_from(slack).ok();
    let mut session = Session::new(&network);
    session.allow_slack(slack);
    let begin = cpu_ns();
    session.start_all(&all);
    let complete = cpu_ns() - begin;
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
        complete / 1_000,
        bounds / 1_000
    );
    fill_up(&network, &all, slack);
}

/// One stream after the other, until all run.
fn fill_up(network: &Network, all: &[StreamIndex], slack: Option<u32>) {
    let mut session = Session::new(network);
    session.allow_slack(slack);
    let mut times: Vec<u64> = Vec::new();
    let mut ports: Vec<usize> = Vec::new();
    for stream in all {
        let begin = cpu_ns();
        session.start(*stream);
        times.push(cpu_ns() - begin);
        ports.push(session.evaluated_ports());
    }
    let tenth = ports.len().div_ceil(10);
    let ports: Vec<usize> = ports.chunks(tenth).map(|part| part.iter().sum::<usize>() / part.len()).collect();
    println!("ports by tenths {ports:?}");
    let mean = times.iter().sum::<u64>() / times.len() as u64;
    times.sort_unstable();
    let at = |permille: usize| times[(times.len() - 1) * permille / 1_000] / 1_000;
    println!(
        "filling up: mean {} us, median {}, 99 % {}, most {} us",
        mean / 1_000,
        at(500),
        at(990),
        at(1_000)
    );
}

/// Time that this thread has had a processor, nanoseconds, as Linux tells.
fn cpu_ns() -> u64 {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells");
    schedstat.split_whitespace().next().and_then(|ns| ns.parse().ok()).expect("a number")
}
