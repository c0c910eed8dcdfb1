//! Time stamps: their values for known delays, and that nothing else depends on them.

use tautwire_generate::random_network;
use tautwire_model::Network;
use tautwire_model::network::{Delay, Distribution, StampPoint, TimeStamp};
use tautwire_sim::{Driver, NoRecorder, Observation, Options, StampedObservation, run_with};
use tautwire_units::Duration;

fn network(name: &str, text: &str) -> Network {
    let loaded = tautwire_model::load_text(name, text);
    assert!(!loaded.has_errors(), "{name}: {:#?}", loaded.diagnostics);
    loaded.network.expect("no errors")
}

/// A cable of 40 ns between two stations of a host model, a frame of 1000 B every millisecond.
fn cable(host: &str, listener: &str) -> Network {
    let text = format!(
        "
hosts:
  card: {{{host}}}
nodes:
  a: {{type: end-station, host: card}}
  b: {{type: end-station, host: card{listener}}}
links:
  - {{between: [a, b], rate: 1 Gbit/s, propagation-delay: 40 ns}}
network-control: none
streams:
  - {{name: x, talker: a, listeners: b, frame: 1000 B, traffic: {{type: periodic, interval: 1 ms}}}}
run: {{duration: 1 s}}
"
    );
    network("cable", &text)
}

fn observe(network: &Network, driver: Driver) -> Observation {
    run_with(network, &mut Options { driver, ..Options::default() }, &mut NoRecorder)
}

fn stamped(network: &Network) -> StampedObservation {
    *observe(network, Driver::Eliding).streams[0].listeners[0].stamped.clone().expect("stamps were asked for")
}

#[test]
fn stations_that_do_not_stamp_have_no_stamps() {
    let observation = observe(&cable("transmit: 1 us", ""), Driver::Eliding);
    assert_eq!(observation.streams[0].listeners[0].stamped, None);
}

#[test]
fn each_point_has_its_latency() {
    // The application hands over at 0; the frame's start delimiter has left 64 ns after 1 us, its last
    // bit 8 us later; it is received 40 ns after that, and handed over another 2 us later.
    for (point, latency_ps) in [
        ("start-of-frame", 40_000),
        ("end-of-frame", 40_000),
        ("software", 1_000_000 + 64_000 + 8_000_000 + 40_000 + 2_000_000),
    ] {
        let seen =
            stamped(&cable(&format!("transmit: 1 us, receive: 2 us, time-stamp: {{point: {point}}}"), ""));
        assert_eq!(seen.latency.count(), 1_000, "{point}");
        assert_eq!(seen.latency.min_ps(), Some(latency_ps), "{point}");
        assert_eq!(seen.latency.max_ps(), Some(latency_ps), "{point}");
        assert_eq!(seen.interval.standard_deviation_ps(), Some(0), "{point}");
    }
}

#[test]
fn a_quantum_rounds_down() {
    let seen = stamped(&cable("time-stamp: {quantum: 7 us}", ""));
    for ps in [seen.latency.min_ps(), seen.latency.max_ps(), seen.interval.min_ps(), seen.interval.max_ps()] {
        assert_eq!(ps.expect("frames came") % 7_000_000, 0);
    }
    // 1 ms is 142.857 steps.
    assert_eq!(seen.interval.min_ps(), Some(142 * 7_000_000));
    assert_eq!(seen.interval.max_ps(), Some(143 * 7_000_000));
}

#[test]
fn jitter_of_both_ends_is_in_the_latency_and_errs_both_ways() {
    let seen = stamped(&cable("time-stamp: {jitter: {mean: 1 us, deviation: 153 ns}}", ""));
    let deviation = seen.latency.standard_deviation_ps().expect("frames came");
    assert!((200_000..235_000).contains(&deviation), "153 ns times the root of two: {deviation}");
    let mean = seen.latency.mean_ps().expect("frames came");
    assert!((20_000..60_000).contains(&mean), "equal means cancel: {mean}");
    assert!(seen.latency.min_ps() < Some(-300_000), "{seen:?}");
}

#[test]
fn stamps_are_by_the_stations_own_clocks() {
    let clock = ", clock: {tolerance: 100 ppm, drift: 100 ppm, offset: 3 us}";
    let seen = stamped(&cable("time-stamp: {}", clock));
    // The offset, and 100 ppm of what has passed: from nothing up to 999 ms.
    let (least, most) = (seen.latency.min_ps().expect("frames"), seen.latency.max_ps().expect("frames"));
    assert!((least - 3_040_000).abs() < 100, "{least}");
    assert!((most - 3_040_000 - 99_900_000).abs() < 100, "{most}");
    let interval = seen.interval.mean_ps().expect("frames");
    assert!((interval - 1_000_100_000).abs() <= 1, "{interval}");
}

/// Every station stamps, one way or another.
fn with_stamps(network: Network, seed: u64) -> Network {
    let points = [StampPoint::StartOfFrame, StampPoint::EndOfFrame, StampPoint::Software];
    let random = Distribution::Uniform { min: Duration::ZERO, max: Duration::from_ns(500) };
    network.altered(|parts| {
        for (number, host) in parts.hosts.iter_mut().enumerate() {
            host.time_stamp = Some(TimeStamp {
                point: points[(seed as usize + number) % 3],
                quantum: Duration::from_ns(8),
                jitter: Delay { random, ..Delay::default() },
            });
        }
    })
}

#[test]
fn stamps_change_nothing_and_do_not_depend_on_the_driver() {
    let mut stamps = 0;
    for seed in 0..60 {
        let name = format!("random network {seed}");
        let plain = network(&name, &random_network(seed));
        let network = with_stamps(plain.clone(), seed);
        let seen = observe(&network, Driver::Eliding);
        for driver in [Driver::Plain, Driver::Spurious] {
            assert_eq!(observe(&network, driver), seen, "{name}: {driver:?}");
        }
        let mut without = seen.clone();
        for listener in without.streams.iter_mut().flat_map(|stream| &mut stream.listeners) {
            let stamped = listener.stamped.take().expect("every station stamps");
            assert_eq!(
                stamped.latency.count(),
                listener.delay.count(),
                "{name}: lost frames confuse nothing"
            );
            stamps += stamped.latency.count();
        }
        assert_eq!(without, observe(&plain, Driver::Eliding), "{name}");
    }
    assert!(stamps > 10_000, "{stamps} stamps were compared");
}

#[test]
fn lost_frames_are_forgotten() {
    let network = cable("time-stamp: {point: software}", "").altered(|parts| {
        for link in &mut parts.links {
            link.bit_error_rate = 50_000_000_000_000;
        }
    });
    let observation = observe(&network, Driver::Eliding);
    let stream = &observation.streams[0];
    assert!(stream.delivered > 100 && stream.delivered < 900, "{stream:?}");
    let stamped = stream.listeners[0].stamped.clone().expect("stamps were asked for");
    assert_eq!(stamped.latency.count(), stream.delivered);
    assert_eq!((stamped.latency.min_ps(), stamped.latency.max_ps()), (Some(8_104_000), Some(8_104_000)));
}
