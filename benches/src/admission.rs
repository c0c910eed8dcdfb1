//! Time of an admission decision and its growth: streams by switches, for each test, as a table.
//!
//! `cargo run --release --package tautwire-benches -- --admission` (with a test's name behind it, that one). One
//! decision is that of a stream with all others admitted; of the bounds, also the mean of all decisions by which the
//! network fills up from nothing.

use std::time::Duration;

use tautwire_admission::{Standing, Test};
use tautwire_model::Network;
use tautwire_model::network::StreamIndex;

use crate::{cpu, network, tree};

/// CPU time that one figure may take.
const BUDGET: Duration = Duration::from_secs(3);
/// Decisions of a figure at most.
const DECISIONS: usize = 2_000;

/// Prints the tables.
pub(crate) fn print_curves(only: Option<&str>) {
    for name in Test::NAMES.iter().filter(|name| only.is_none_or(|only| only == **name)) {
        let test = Test::from_name(name).expect("it is one of them");
        for fill in [false, true] {
            if fill && test != Test::Bounds {
                continue;
            }
            println!("\n{name}{}, microseconds a decision", if fill { ", filling up" } else { "" });
            println!("| streams | 3 switches | 16 | 100 | 1 000 |\n|---|---|---|---|---|");
            for streams in [1, 10, 100, 1_000, 10_000] {
                let mut row = format!("| {streams} |");
                for bridges in [3, 16, 100, 1_000] {
                    let network = of(test, streams, bridges);
                    let us = if fill { filling_up(test, &network) } else { decision(test, &network) };
                    row += &format!(" {us:.1} |");
                }
                println!("{row}");
            }
        }
    }
}

/// A tree; for the test of HaRTES with the cycle of its scenario.
fn of(test: Test, streams: usize, bridges: usize) -> Network {
    let mut network = network(&tree(streams, bridges));
    if test == Test::ResponseTime {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios/harts.yaml");
        let scenario = tautwire_model::load(path.as_ref()).expect("a kept scenario");
        let mut harts = scenario.network.expect("no errors").harts.expect("it has cycles");
        harts.reservations.clear();
        network.harts = Some(harts);
    }
    network
}

/// Mean of decisions, each with all other streams admitted.
fn decision(test: Test, network: &Network) -> f64 {
    let all: Vec<StreamIndex> = (0..network.streams.len()).map(StreamIndex::at).collect();
    let mut standing = test.with_usual_parameters().begin(network);
    standing.rejoin(network, &all);
    let (mut total, mut count) = (Duration::ZERO, 0);
    while count < DECISIONS && total < BUDGET {
        let stream = all[count * 7_919 % all.len()];
        standing.leave(network, stream);
        let (time, joined) = join(&mut *standing, network, stream);
        total += time;
        if !joined {
            standing.rejoin(network, &[stream]);
        }
        count += 1;
    }
    total.as_secs_f64() * 1e6 / count as f64
}

/// Mean of the decisions on all streams, one after the other.
fn filling_up(test: Test, network: &Network) -> f64 {
    let mut standing = test.with_usual_parameters().begin(network);
    let streams = (0..network.streams.len()).map(StreamIndex::at);
    let total: Duration = streams.map(|stream| join(&mut *standing, network, stream).0).sum();
    total.as_secs_f64() * 1e6 / network.streams.len() as f64
}

/// The time of a decision, and whether the stream may join.
fn join(standing: &mut dyn Standing, network: &Network, stream: StreamIndex) -> (Duration, bool) {
    let start = cpu();
    let refused = standing.join(network, stream);
    (cpu() - start, refused.is_none())
}
