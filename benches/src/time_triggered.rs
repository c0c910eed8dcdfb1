//! 1 000 time-triggered links over 12 switches beside rate-constrained and best-effort traffic, clocks of 100 ppm
//! kept together by protocol control frames: how long its schedule takes, how long a run of two simulated
//! seconds, and what that observes.

use tautwire_analysis::bounds;
use tautwire_generate::TimeTriggeredNetwork;
use tautwire_model::Network;
use tautwire_sim::{NoRecorder, Options};
use tautwire_synthesis::{Described, check, first_fit};

use crate::{cpu, median_ms};

fn network() -> Network {
    let text = TimeTriggeredNetwork::LARGE.describe_synchronised();
    let loaded = tautwire_model::load_text("generated", &text);
    assert!(!loaded.has_errors(), "{:#?}", loaded.diagnostics.first());
    loaded.network.expect("no errors")
}

/// Dispatch points of all links, with their margins; checked apart.
pub(crate) fn schedule_ms() -> f64 {
    let network = network();
    let solve = || {
        let described = Described::new(&network).expect("time-triggered links");
        let placement = first_fit(&described.problem);
        (described, placement)
    };
    let ms = median_ms(9, || {
        std::hint::black_box(solve());
    });
    let (described, placement) = solve();
    assert!(placement.left_out.is_empty(), "{} links are left out", placement.left_out.len());
    assert_eq!(check(&described.problem, &placement.schedule), []);
    ms
}

fn scheduled() -> Network {
    let network = network();
    let described = Described::new(&network).expect("time-triggered links");
    let placement = first_fit(&described.problem);
    network.with_dispatch_offsets(&described.offsets(&placement.schedule)).expect("the network takes it")
}

/// What a run of two simulated seconds takes and shows.
pub(crate) struct Run {
    /// CPU time.
    pub(crate) ms: f64,
    /// The greatest jitter of a link at a listener.
    pub(crate) jitter_ns: f64,
    /// How far clocks were apart.
    pub(crate) precision_ns: f64,
}

/// Runs it once; every link is within its bound.
pub(crate) fn run() -> Run {
    let network = scheduled();
    let bounds = bounds(&network);
    let start = cpu();
    let observation = tautwire_sim::run_with(&network, &mut Options::default(), &mut NoRecorder);
    let ms = (cpu() - start).as_secs_f64() * 1e3;
    let mut jitter_max = 0;
    for (number, stream) in network.streams.iter().enumerate() {
        if stream.time_triggered.is_none() {
            continue;
        }
        let seen = &observation.streams[number].listeners;
        for (proven, seen) in bounds.streams[number].listeners.iter().zip(seen) {
            let (most, least) = seen.delay.max().zip(seen.delay.min()).expect("it saw frames");
            let bound = proven.delay.as_ref().expect("a scheduled link");
            assert!(most <= *bound, "{}: {most} above {bound}", stream.name);
            jitter_max = jitter_max.max((most - least).as_ps());
        }
    }
    let precision = observation.network_time.expect("a time-triggered network").precision;
    Run { ms, jitter_ns: jitter_max as f64 / 1e3, precision_ns: precision.as_ps() as f64 / 1e3 }
}
