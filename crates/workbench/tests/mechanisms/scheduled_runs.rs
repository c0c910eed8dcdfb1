//! Large time-triggered networks: scheduled, written out, read back, their clocks kept together by protocol control
//! frames, run with rate-constrained and best-effort traffic, and verified.
//!
//! More cases than usual (`make test-slow`) add the network of 1 000 links over 12 switches.

use tautwire_generate::{TimeTriggeredNetwork, cases};
use tautwire_sim::DropReason;
use tautwire_units::Duration;
use tautwire_workbench::{
    Network, Options, ScheduleVerdict, Scheduled, Verdict, load_text, simulate, verify, with_dispatch_points,
};

/// The network of a description that has no errors.
fn network(text: &str) -> Network {
    let loaded = load_text("scheduled.yaml", text);
    assert!(!loaded.has_errors(), "{:#?}", loaded.diagnostics.first());
    loaded.network.expect("no errors")
}

/// The description with the schedule that was found; a line is at least half full of frames.
fn scheduled(shape: &TimeTriggeredNetwork) -> Network {
    let text = shape.describe_synchronised();
    let bare = network(&text);
    let found = Scheduled::find(&bare).expect("time-triggered links").expect("the network takes it");
    assert_eq!(found.verdict, ScheduleVerdict::Scheduled);
    assert!(busiest_line(&found.network) >= 500_000, "{} ppm", busiest_line(&found.network));
    let written =
        with_dispatch_points("scheduled.yaml", &text, &found.network).expect("it has places for them");
    let network = network(&written);
    assert_eq!(network.streams, found.network.streams);
    network
}

/// The share of its time that time-triggered frames, with preamble and gap, take of a line, parts per million.
fn busiest_line(network: &Network) -> u64 {
    let mut taken = vec![0_u64; network.ports.len()];
    for stream in &network.streams {
        let Some(link) = &stream.time_triggered else { continue };
        for hop in &stream.hops {
            let links = network.ports[hop.port.index()].links.expect("a hop's port is connected");
            let rate = network.links[links.egress.index()].rate;
            let wire = rate.duration_floor(tautwire_model::wire_bits(stream.payload_max, hop.tagged));
            taken[hop.port.index()] += wire.as_ps() * 1_000_000 / link.period.as_ps();
        }
    }
    taken.into_iter().max().unwrap_or(0)
}

/// Runs and verifies a network: every bound holds, every deadline is proven, nothing is lost but at the start,
/// and no link's jitter exceeds what the clocks were seen apart.
fn hold(shape: &TimeTriggeredNetwork) {
    let network = scheduled(shape);
    let bounds = tautwire_analysis::bounds(&network);
    let observation = simulate(&network, &mut Options::default());
    let verification = verify(&network, &bounds, &observation);
    let found: Vec<String> = verification.contradictions.iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));

    let time = observation.network_time.as_ref().expect("a time-triggered network");
    let proven = network.precision_bound().expect("it is synchronised");
    let stated = network.time_triggered.expect("time-triggered").precision;
    assert!(time.precision <= proven && proven <= stated, "{} of {proven}", time.precision);
    assert!(time.precision > Duration::from_ns(100), "clocks of 100 ppm drift: {}", time.precision);
    assert!(time.nodes.iter().all(|node| node.lost == 0), "network time is lost");
    let most = network.resynchronisation_max().expect("it is synchronised");
    assert!(time.synchronised_at().is_some_and(|at| at <= most));

    let (mut jitter_max, mut counts) = (Duration::ZERO, [0_usize; 3]);
    for (number, stream) in network.streams.iter().enumerate() {
        let (seen, proven) = (&observation.streams[number], &bounds.streams[number]);
        assert!(seen.listeners.iter().all(|listener| listener.delay.max().is_some()), "{}", stream.name);
        let kind = match (&stream.time_triggered, &stream.virtual_link, stream.deadline) {
            (Some(_), ..) => 0,
            (None, Some(_), _) => 1,
            (None, None, Some(_)) => 2,
            (None, None, None) => continue,
        };
        counts[kind] += 1;
        assert!(proven.listeners.iter().all(|listener| listener.delay.is_ok()), "{}", stream.name);
        let verdicts = &verification.streams[number].listeners;
        assert!(verdicts.iter().all(|one| one.verdict == Verdict::Proven), "{}", stream.name);
        let other = seen.dropped.iter().find(|(reason, _)| *reason != DropReason::Unsynchronised);
        assert_eq!(other, None, "{}", stream.name);
        for listener in seen.listeners.iter().filter(|_| kind == 0) {
            let jitter = listener.delay.max().zip(listener.delay.min()).map(|(most, least)| most - least);
            jitter_max = jitter_max.max(jitter.expect("it saw frames"));
        }
    }
    assert!(
        !jitter_max.is_zero() && jitter_max <= time.precision,
        "jitter of {jitter_max}, clocks {} apart",
        time.precision
    );
    let masters = network.as6802.as_ref().expect("it is synchronised").frames.iter().flatten().count();
    assert_eq!(counts, [shape.links, shape.others, masters]);
}

#[test]
fn links_over_six_switches_are_scheduled_run_and_verified() {
    hold(&TimeTriggeredNetwork::MIDDLE);
}

#[test]
fn a_thousand_links_over_twelve_switches_are_scheduled_and_those_of_a_slow_test_verified() {
    if cases(1) > 1 {
        hold(&TimeTriggeredNetwork::LARGE);
    } else {
        scheduled(&TimeTriggeredNetwork::LARGE);
    }
}

/// A raster without room for others proves nothing of them: what the check above would find.
#[test]
fn a_raster_that_leaves_too_little_leaves_frames_unproven() {
    let text = TimeTriggeredNetwork::MIDDLE.describe_synchronised();
    let full = network(&text.replace("window: 95 us", "window: 122 us"));
    let found = Scheduled::find(&full).expect("time-triggered links").expect("the network takes it");
    let bounds = tautwire_analysis::bounds(&found.network);
    let links =
        found.network.streams.iter().zip(&bounds.streams).filter(|(one, _)| one.virtual_link.is_some());
    let unbounded = links.filter(|(_, bounds)| bounds.listeners.iter().any(|one| one.delay.is_err()));
    assert!(unbounded.count() > 0);
}
