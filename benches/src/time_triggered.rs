//! 1 000 time-triggered links over 12 switches with rate-constrained and best-effort traffic, clocks of 100 ppm that
//! protocol control frames keep together: how long its schedule takes, how long a run of two simulated seconds, and
//! what that observes.

use std::sync::OnceLock;

use tautwire_analysis::bounds;
use tautwire_generate::TimeTriggeredNetwork;
use tautwire_model::network::NodeKind;
use tautwire_model::{Network, wire_bits};
use tautwire_report::{Verdict, verify};
use tautwire_sim::{NoRecorder, Options};
use tautwire_synthesis::{Described, check, first_fit};
use tautwire_units::Duration;

use crate::{cpu, median_ms};

fn network() -> Network {
    let text = TimeTriggeredNetwork::LARGE.describe_synchronised();
    let loaded = tautwire_model::load_text("generated", &text);
    assert!(!loaded.has_errors(), "{:#?}", loaded.diagnostics.first());
    loaded.network.expect("no errors")
}

/// Dispatch points of all links, with their margins; checked apart, and in a run of the network with them (`run`).
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
    let run = run();
    assert!(
        run.jitter_ns <= run.precision_ns,
        "{} ns of jitter, clocks {} ns apart",
        run.jitter_ns,
        run.precision_ns
    );
    ms
}

/// What the figure is of: 1 000 links over 12 switches, periods of 1 to 128 ms, the busiest line at least half full with them.
fn has_the_stated_size(network: &Network) {
    let links =
        || network.streams.iter().filter_map(|stream| Some((stream, stream.time_triggered.as_ref()?)));
    let bridges = network.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Bridge { .. }));
    assert_eq!((links().count(), bridges.count()), (1_000, 12));
    let periods = || links().map(|(_, link)| link.period);
    assert_eq!(
        (periods().min(), periods().max()),
        (Some(Duration::from_ms(1)), Some(Duration::from_ms(128)))
    );
    let mut share = vec![0.0; network.ports.len()];
    for (stream, link) in links() {
        for hop in &stream.hops {
            let ends = network.ports[hop.port.index()].links.expect("a hop's port has a cable");
            let rate = network.links[ends.egress.index()].rate;
            let line = rate.duration_ceil(wire_bits(stream.payload_max, hop.tagged));
            share[hop.port.index()] += line.as_ps() as f64 / link.period.as_ps() as f64;
        }
    }
    let busiest = share.into_iter().fold(0.0, f64::max);
    assert!(busiest >= 0.5, "the busiest line is {:.1} % full", 100.0 * busiest);
}

fn scheduled() -> Network {
    let network = network();
    let described = Described::new(&network).expect("time-triggered links");
    let placement = first_fit(&described.problem);
    network.with_dispatch_offsets(&described.offsets(&placement.schedule)).expect("the network takes it")
}

/// What a run of two simulated seconds takes and shows.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    /// CPU time.
    pub(crate) ms: f64,
    /// The greatest jitter of a link at a listener.
    pub(crate) jitter_ns: f64,
    /// How far clocks were apart.
    pub(crate) precision_ns: f64,
}

/// The run, which is made once.
pub(crate) fn run() -> Run {
    static MADE: OnceLock<Run> = OnceLock::new();
    *MADE.get_or_init(verified_run)
}

/// Runs it once and verifies it: no observation above its bound, every link proven, rate-constrained and best-effort traffic on,
/// clocks of 100 ppm, and no link's jitter above what the clocks were seen apart.
fn verified_run() -> Run {
    let network = scheduled();
    has_the_stated_size(&network);
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
