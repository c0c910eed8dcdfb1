//! The test bed: its scenario, what a test's tasks say of damaged logs, and any logs at all.

use std::collections::BTreeMap;
use std::path::Path;

use tautwire_analysis::Unbounded;
use tautwire_model::network::{NodeIndex, StreamIndex, Test};
use tautwire_sim::{LogEntry, TestMessage, TestObservation, WireError, track};
use tautwire_workbench::{Duration, Network, Options, load, load_text, simulate};

/// Picoseconds of a microsecond.
const US: i64 = 1_000_000;

fn scenario() -> Network {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/test-bed.yaml");
    let loaded = load(&path).expect("a file");
    loaded.network.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

fn observed(network: &Network) -> TestObservation {
    *simulate(network, &mut Options::default()).test.expect("a test")
}

#[test]
fn every_message_of_the_star_has_its_history() {
    let network = scenario();
    let seen = observed(&network);
    assert_eq!(seen.messages.len(), 3);
    for one in &seen.messages {
        let lost: u64 = one.lost.values().sum();
        assert_eq!(one.sent, one.complete + lost + one.open, "{one:?}");
        assert_eq!((one.misdirected, one.repeated), (0, 0));
        let corrupted = one.lost.get("corrupted").copied().unwrap_or(0);
        assert_eq!(one.corrupted, corrupted, "each is found by its CRC");
        assert!(one.complete + corrupted + 2 >= one.sent && one.sent > 200, "{one:?}");
    }
    assert!(
        seen.messages[2].corrupted > 3 && seen.messages[0].corrupted == 0,
        "one counter-measure's memory"
    );
    let [asked, flooded, command] = &seen.messages[..] else { panic!("three messages") };
    assert_eq!((asked.links.len(), command.links.len()), (2, 2), "there and back; to two receivers");
    assert!(command.round_trip.count() == 0 && asked.round_trip.count() > 400);
    // There and back is no shorter than each way.
    let mean = |one: &tautwire_sim::LinkObservation| one.one_way.mean_ps().expect("messages");
    assert!(asked.round_trip.mean_ps().expect("messages") > mean(&asked.links[0]).max(mean(&asked.links[1])));
    assert!(mean(&flooded.links[0]) > mean(&flooded.links[1]), "the flood is on the way there");
    // The tap sees what leaves the controller and what comes to it.
    assert!(seen.captures.iter().any(|one| network.streams[one.stream.index()].name == "ask-1"));
    assert!(seen.captures.iter().any(|one| network.streams[one.stream.index()].name == "tell-1"));
}

/// One thread of a host sends and receives; answers wait for questions. Every link has a bound all the same, until a thread has
/// more to do than it can.
#[test]
fn the_star_has_bounds_and_keeps_them() {
    let network = scenario();
    let bounds = tautwire_analysis::bounds(&network);
    let observation = simulate(&network, &mut Options::default());
    let found = tautwire_workbench::verify(&network, &bounds, &observation).contradictions;
    assert!(found.is_empty(), "{found:?}");
    for (stream, bounds) in network.streams.iter().zip(&bounds.streams) {
        for listener in &bounds.listeners {
            let application = listener.application.as_ref().map(|(_, most)| most);
            assert!(
                listener.delay.is_ok() && application.is_none_or(Result::is_ok),
                "{}: {listener:?}",
                stream.name
            );
        }
    }
    let text = include_str!("../../../scenarios/test-bed.yaml");
    let slow = text.replace("udp: {service: 3 us,", "udp: {service: 30 us,");
    let network = load_text("test-bed.yaml", &slow).network.expect("no errors");
    let bounds = tautwire_analysis::bounds(&network);
    let delay = |name: &str| {
        let number = network.streams.iter().position(|stream| stream.name == name).expect("a stream");
        bounds.streams[number].listeners[0].delay.clone()
    };
    assert!(matches!(delay("tell-2"), Err(Unbounded::Host { .. })), "{:?}", delay("tell-2"));
    assert!(delay("command").is_ok(), "by the other thread");
}

#[test]
fn context_switches_are_left_out() {
    let mut network = scenario();
    let filtered = observed(&network);
    assert!(filtered.messages[0].outliers > 0);
    network.test.as_mut().expect("a test").outliers_above = None;
    let all = observed(&network);
    assert_eq!(all.messages[0].outliers, 0);
    let worst = |seen: &TestObservation| seen.messages[0].links[0].one_way.max_ps().expect("messages");
    assert!(worst(&filtered) <= US * 250 && worst(&all) > US * 250);
}

#[test]
fn logs_are_as_wrong_as_the_clocks_that_they_are_by() {
    let mut network = scenario();
    let kept = observed(&network);
    assert_eq!(kept.clocks.len(), 6, "each station with a task");
    let worst = |seen: &TestObservation| seen.clocks.iter().filter_map(|one| one.offset.max()).max();
    assert!(
        worst(&kept).is_some_and(|most| most > Duration::ZERO && most < Duration::from_us(20)),
        "{kept:?}"
    );
    let test = network.test.as_mut().expect("a test");
    let clocks = test.clocks.as_mut().expect("disciplined");
    (clocks.proportional, clocks.integral) = (0, 0);
    let free = observed(&network);
    assert!(worst(&free) > Some(Duration::from_us(100)), "up to 50 ppm over seven seconds");
    network.test.as_mut().expect("a test").clocks = None;
    let exact = observed(&network);
    assert!(exact.clocks.is_empty());
    // A round trip is by one clock, and is not wrong.
    let mean = |seen: &TestObservation| seen.messages[0].round_trip.mean_ps().expect("messages");
    let apart = mean(&exact).abs_diff(mean(&kept));
    assert!(apart < 100_000, "{apart} ps");
}

#[test]
fn a_bit_that_a_station_turns_goes_on_with_what_it_sends() {
    let text = PAIR.replace(
        "    - {type: receive, station: a, route: y}",
        "    - {type: receive, station: a, route: y}\n    - {type: corrupt, station: b, route: x, chance: 0.2}",
    );
    let loaded = load_text("corrupt", &text);
    let network = loaded.network.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let one = &observed(&network).messages[0];
    let lost = one.lost.get("corrupted").copied().expect("some");
    assert!(lost > 5 && one.complete + lost + one.open == one.sent, "{one:?}");
    assert_eq!(one.corrupted, 2 * lost, "at the relay, and where it sends them on to");
}

#[test]
fn a_test_changes_nothing_of_the_run() {
    let mut network = scenario();
    let with = simulate(&network, &mut Options::default());
    network.test = None;
    let without = simulate(&network, &mut Options::default());
    assert_eq!(with.trace_hash, without.trace_hash);
    assert_eq!(with.streams, without.streams);
}

const PAIR: &str = "
name: pair
network-control: none
nodes: {a: {type: end-station}, b: {type: end-station}, c: {type: end-station}, s: {type: bridge}}
links: [{between: [a, s], rate: 100 Mbit/s}, {between: [b, s], rate: 100 Mbit/s}, {between: [c, s], rate: 100 Mbit/s}]
streams:
  - {name: x, talker: a, listeners: [b, c], payload: 128 B, traffic: {type: periodic, interval: 1 ms}}
  - {name: y, talker: b, listeners: a, payload: 128 B, traffic: {type: response, to: x}}
test:
  tasks:
    - {type: transmit, station: a, route: x, payload: 100 B}
    - {type: relay, station: b, route: x, by: y}
    - {type: receive, station: a, route: y}
run: {duration: 100 ms}
";

fn pair() -> Network {
    let loaded = load_text("pair", PAIR);
    loaded.network.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

/// The log of five messages that went there and back, 10 us a link.
fn log() -> Vec<LogEntry> {
    let mut log = Vec::new();
    for sequence in 0..5 {
        let start = i64::from(sequence) * 1_000;
        for (us, station, route, sent) in
            [(0, 0, 0, true), (10, 1, 0, false), (12, 1, 1, true), (22, 0, 1, false)]
        {
            log.push(LogEntry {
                time_ps: (start + us) * US,
                octets: 100,
                station: NodeIndex(station),
                route: StreamIndex(route),
                sent,
                header: Ok(TestMessage { id: 0, sequence }),
            });
        }
    }
    log
}

fn tracked(test: &Test, log: &[LogEntry]) -> tautwire_sim::MessageObservation {
    let talker = |stream: StreamIndex| NodeIndex(u32::from(stream == StreamIndex(1)));
    track(test, talker, log, &BTreeMap::new()).remove(0)
}

#[test]
fn what_is_wrong_in_a_log_is_found() {
    let test = pair().test.expect("a test");
    let whole = tracked(&test, &log());
    assert_eq!((whole.sent, whole.complete, whole.open), (5, 5, 0));
    assert_eq!(whole.round_trip.mean_ps(), Some(22 * US));
    assert_eq!(whole.links[1].one_way.mean_ps(), Some(10 * US));
    assert_eq!(whole.links[0].transmit_period.mean_ps(), Some(1_000 * US));
    // The second message is lost on its way there.
    let mut lost = log();
    lost.drain(5..8);
    let lost = tracked(&test, &lost);
    assert_eq!((lost.sent, lost.complete, lost.open, lost.links[0].received), (5, 4, 1, 4));
    // The third comes to a station that no task names.
    let mut astray = log();
    astray[9].station = NodeIndex(2);
    let astray = tracked(&test, &astray);
    assert_eq!((astray.complete, astray.misdirected), (4, 1));
    // The fourth is damaged.
    let mut damaged = log();
    damaged[13].header = Err(WireError::Checksum);
    let damaged = tracked(&test, &damaged);
    assert_eq!((damaged.complete, damaged.corrupted, damaged.open), (4, 1, 1));
    // The fifth comes twice.
    let mut twice = log();
    let again = twice[17];
    twice.push(again);
    assert_eq!(tracked(&test, &twice).repeated, 1);
    // Messages of another test are none of ours.
    let mut other = log();
    other.iter_mut().for_each(|entry| entry.header = Ok(TestMessage { id: 7, sequence: 0 }));
    assert_eq!(tracked(&test, &other).sent, 0);
}

#[test]
fn any_log_is_tracked() {
    let test = pair().test.expect("a test");
    let mut state = 1_u64;
    let mut draw = |most: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(state >> 33).expect("31 bits") % (most + 1)
    };
    for _ in 0..500 {
        let log: Vec<LogEntry> = (0..draw(40))
            .map(|_| LogEntry {
                time_ps: i64::from(draw(1_000)) * US - 100 * US,
                octets: 100,
                station: NodeIndex(draw(3)),
                route: StreamIndex(draw(1)),
                sent: draw(1) == 0,
                header: match draw(4) {
                    0 => Err(WireError::Checksum),
                    _ => Ok(TestMessage { id: draw(1), sequence: draw(5) }),
                },
            })
            .collect();
        let seen = tracked(&test, &log);
        let received: u64 = seen.links.iter().map(|link| link.received).sum();
        let lost: u64 = seen.lost.values().sum();
        let noted = log.iter().filter(|entry| !entry.sent).count() as u64;
        assert!(received + seen.repeated + seen.misdirected + seen.corrupted <= noted, "{seen:?}");
        assert!(seen.complete + lost + seen.open <= 6, "six sequence numbers: {seen:?}");
    }
}

#[test]
fn losses_in_a_run_have_their_reason() {
    let text = PAIR.replace(
        "{between: [b, s], rate: 100 Mbit/s}",
        "{between: [b, s], rate: 100 Mbit/s, bit-error-rate: 1e-4}",
    );
    let loaded = load_text("errors", &text);
    let network = loaded.network.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let seen = observed(&network);
    let one = &seen.messages[0];
    assert!(one.lost.get("bit-error").is_some_and(|count| *count > 5), "{one:?}");
    assert!(one.complete > 20 && one.complete < one.sent, "{one:?}");
    // An answer keeps its message's number, whatever was lost before it.
    assert_eq!(one.round_trip.count(), one.complete);
    let (least, most) = (one.round_trip.min_ps().expect("some"), one.round_trip.max_ps().expect("some"));
    assert!(most < least + 100 * US, "{least} to {most}");
}
