//! 1 000 time-triggered links over 12 switches beside rate-constrained and best-effort traffic, clocks of 100 ppm
//! kept together by protocol control frames: how long its schedule takes, how long a run of two simulated
//! seconds, and what that observes.

use tautwire_analysis::bounds;
use tautwire_generate::TimeTriggeredNetwork;
use tautwire_model::Network;
use tautwire_report::{Verdict, verify};
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
    assert!(ms < 1_000.0, "a schedule is found in less than a second of CPU time: {ms} ms");
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

/// Runs it once and verifies it: no observation above its bound, every link proven, rate-constrained and best-effort traffic on,
/// clocks of 100 ppm, and no link's jitter above what the clocks were seen apart.
pub(crate) fn run() -> Run {
    let network = scheduled();
    let bounds = bounds(&network);
    let start = cpu();
    let observation = tautwire_sim::run_with(&network, &mut Options::default(), &mut NoRecorder);
    let ms = (cpu() - start).as_secs_f64() * 1e3;
    assert!(network.nodes.iter().all(|node| node.clock.tolerance_ppb == 100_000), "clocks of 100 ppm");
    let verification = verify(&network, &bounds, &observation);
    assert!(verification.contradictions.is_empty(), "{:?}", verification.contradictions);
    let (mut jitter_max, mut others) = (0, [0; 2]);
    for (number, stream) in network.streams.iter().enumerate() {
        let seen = &observation.streams[number].listeners;
        if stream.time_triggered.is_none() {
            let delivered = seen.iter().all(|listener| listener.delay.count() > 0);
            others[usize::from(stream.virtual_link.is_none())] += u32::from(delivered);
            continue;
        }
        assert_eq!(verification.streams[number].verdict, Verdict::Proven, "{}", stream.name);
        for (proven, seen) in bounds.streams[number].listeners.iter().zip(seen) {
            let (most, least) = seen.delay.max().zip(seen.delay.min()).expect("it saw frames");
            let bound = proven.delay.as_ref().expect("a scheduled link");
            assert!(most <= *bound, "{}: {most} above {bound}", stream.name);
            jitter_max = jitter_max.max((most - least).as_ps());
        }
    }
    let precision = observation.network_time.expect("a time-triggered network").precision;
    assert!(
        others.iter().all(|count| *count > 0),
        "rate-constrained and best-effort traffic is on: {others:?}"
    );
    assert!(jitter_max <= precision.as_ps(), "jitter of {jitter_max} ps, clocks {precision} apart");
    Run { ms, jitter_ns: jitter_max as f64 / 1e3, precision_ns: precision.as_ps() as f64 / 1e3 }
}
