//! The test bed: its scenario, tests whose logs are damaged, and arbitrary logs.

use std::collections::BTreeMap;
use std::path::Path;

use tautwire_analysis::Unbounded;
use tautwire_model::network::{NodeIndex, StreamIndex, Test};
use tautwire_sim::{LogEntry, TestMessage, TestObservation, WireError, track};
use tautwire_workbench::{Duration, Network, Options, Summary, load, load_text, simulate, test_bed};

/// Picoseconds of a microsecond.
const US: i64 = 1_000_000;

fn scenario() -> Network {
    let path = Path::new("../../scenarios/test-bed.yaml");
    let loaded = load(path).expect("a file");
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
    let text = include_str!("../../../../scenarios/test-bed.yaml");
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
    let network = scenario();
    let filtered = observed(&network);
    assert!(filtered.messages[0].outliers > 0);
    let network = network.altered(|parts| parts.test_bed.as_mut().expect("a test").outliers_above = None);
    let all = observed(&network);
    assert_eq!(all.messages[0].outliers, 0);
    let worst = |seen: &TestObservation| seen.messages[0].links[0].one_way.max_ps().expect("messages");
    assert!(worst(&filtered) <= US * 250 && worst(&all) > US * 250);
}

#[test]
fn logs_are_as_wrong_as_the_clocks_that_they_are_by() {
    let network = scenario();
    let kept = observed(&network);
    assert_eq!(kept.clocks.len(), 6, "each station with a task");
    let worst = |seen: &TestObservation| seen.clocks.iter().filter_map(|one| one.offset.max()).max();
    assert!(
        worst(&kept).is_some_and(|most| most > Duration::ZERO && most < Duration::from_us(20)),
        "{kept:?}"
    );
    let network = network.altered(|parts| {
        let clocks = parts.test_bed.as_mut().and_then(|test| test.clocks.as_mut()).expect("disciplined");
        (clocks.proportional, clocks.integral) = (0, 0);
    });
    let free = observed(&network);
    assert!(worst(&free) > Some(Duration::from_us(100)), "up to 50 ppm over seven seconds");
    let network = network.altered(|parts| parts.test_bed.as_mut().expect("a test").clocks = None);
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
    let network = scenario();
    let with = simulate(&network, &mut Options::default());
    let network = network.altered(|parts| parts.test_bed = None);
    let without = simulate(&network, &mut Options::default());
    assert_eq!(with.trace_hash, without.trace_hash);
    assert_eq!(with.streams, without.streams);
}

const PAIR: &str = "
name: pair
network-control: none
vlans:
  1:
    tagged: all
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
    let test = pair().test_bed.clone().expect("a test");
    let full = tracked(&test, &log());
    assert_eq!((full.sent, full.complete, full.open), (5, 5, 0));
    assert_eq!(full.round_trip.mean_ps(), Some(22 * US));
    assert_eq!(full.links[1].one_way.mean_ps(), Some(10 * US));
    assert_eq!(full.links[0].transmit_period.mean_ps(), Some(1_000 * US));
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
    let test = pair().test_bed.clone().expect("a test");
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

fn network(text: &str) -> Network {
    let loaded = load_text("bed", text);
    loaded.network.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

/// What becomes of the messages of [`PAIR`], with parts of its text replaced and more behind it.
fn message(replaced: &[(&str, &str)], more: &str) -> tautwire_sim::MessageObservation {
    let mut text = PAIR.to_owned();
    for (one, other) in replaced {
        assert!(text.contains(one), "{one}");
        text = text.replace(one, other);
    }
    let network = network(&(text + more));
    let one = observed(&network).messages.remove(0);
    assert_eq!(one.sent, one.complete + one.lost.values().sum::<u64>() + one.open, "{one:?}");
    one
}

#[test]
fn an_answer_that_is_not_sent_is_lost_and_shifts_no_other() {
    let stopped = message(&[], "events: [{at: 3200 us, stop-stream: y}, {at: 5500 us, start-stream: y}]");
    assert_eq!(stopped.lost.get("not-relayed"), Some(&2), "those of 4 ms and 5 ms");
    assert_eq!(stopped.complete + 3, stopped.sent, "the last is under way");
    let late = message(&[("to: x}}", "to: x}, started: false}")], "events: [{at: 5500 us, start-stream: y}]");
    assert_eq!(late.lost.get("not-relayed"), Some(&6));
    for one in [&stopped, &late] {
        assert_eq!(one.round_trip.min_ps(), one.round_trip.max_ps(), "each is its own: {one:?}");
        assert_eq!(one.links[1].one_way.min_ps(), one.links[1].one_way.max_ps());
    }
}

/// Two networks, one a kilometre longer, so that copies come 5 us apart; the relay takes both and answers twice.
const TWO_NETWORKS: &str = "
network-control: none
vlans:
  1:
    tagged: all
nodes: {a: {type: end-station}, b: {type: end-station}, s: {type: bridge}, u: {type: bridge}}
defaults: {rate: 100 Mbit/s}
links: [{between: [a, s]}, {between: [a, u], length: 1 km}, {between: [b, s]}, {between: [b, u], length: 1 km}]
streams:
  - {name: x, talker: a, listeners: b, priority: 1, payload: 128 B, traffic: {type: periodic, interval: 1 ms}, virtual-link: {id: 1, bag: 1 ms, redundancy: true}}
  - {name: y, talker: b, listeners: a, priority: 1, payload: 128 B, traffic: {type: response, to: x, turn-around: 300 us}, virtual-link: {id: 2, bag: 1 ms, redundancy: true}}
test:
  tasks:
    - {type: transmit, station: a, route: x}
    - {type: relay, station: b, route: x, by: y}
    - {type: receive, station: a, route: y}
";

#[test]
fn a_second_copy_gives_no_reason() {
    let corrupted = format!(
        "{TWO_NETWORKS}    - {{type: corrupt, station: b, route: x, chance: 0.3}}\nrun: {{duration: 20 ms}}"
    );
    let one = &observed(&network(&corrupted)).messages[0];
    let reasons: Vec<&&str> = one.lost.keys().collect();
    assert_eq!(reasons, [&"corrupted"], "{one:?}");
    assert_eq!(one.corrupted, 2 * one.lost["corrupted"]);
    // A message is under way at the end, when both its copies have come to the relay.
    let open = TWO_NETWORKS.replace("300 us", "900 us") + "run: {duration: 4200 us}";
    let one = &observed(&network(&open)).messages[0];
    assert_eq!((one.sent, one.complete, one.open), (5, 4, 1), "{one:?}");
}

#[test]
fn a_lost_copy_is_no_lost_message() {
    let errors = TWO_NETWORKS.replace("{between: [b, s]}", "{between: [b, s], bit-error-rate: 1e-3}");
    let one = &observed(&network(&(errors + "run: {duration: 20250 us}"))).messages[0];
    assert_eq!((one.lost.len(), one.complete, one.open), (0, 20, 1), "{one:?}");
    // The copy by the longer way is still to come when the other one is lost.
    let one_way = TWO_NETWORKS.replace("{between: [b, s]}", "{between: [b, s], bit-error-rate: 0.1}");
    let one = &observed(&network(&(one_way + "run: {duration: 4030 us}"))).messages[0];
    assert_eq!((one.lost.len(), one.complete, one.open), (0, 4, 1), "{one:?}");
    // One copy is lost before or behind the other, which is on its way through the host.
    for link in ["{between: [b, s]", "{between: [b, u]"] {
        let slow = TWO_NETWORKS
            .replace(link, &format!("{link}, bit-error-rate: 0.1"))
            .replace("nodes: {", "hosts: {h: {receive: {constant: 100 us}}}\nnodes: {")
            .replace("b: {type: end-station}", "b: {type: end-station, host: h}");
        let one = &observed(&network(&(slow + "run: {duration: 4060 us}"))).messages[0];
        assert_eq!((one.lost.len(), one.complete, one.open), (0, 4, 1), "{one:?}");
    }
    let both = TWO_NETWORKS
        .replace("{between: [b, s]}", "{between: [b, s], bit-error-rate: 1e-3}")
        .replace("[b, u], ", "[b, u], bit-error-rate: 1e-3, ");
    let one = &observed(&network(&(both + "run: {duration: 100 ms}"))).messages[0];
    assert!(one.lost.get("bit-error").is_some_and(|count| *count > 10), "{one:?}");
}

#[test]
fn answers_to_both_copies_are_of_the_message_that_came_twice() {
    let twice = TWO_NETWORKS.replace("redundancy: true", "redundancy: true, skew-max: 1 us");
    let one = &observed(&network(&(twice + "run: {duration: 20 ms}"))).messages[0];
    // Each message is sent back twice, one a BAG: what comes back is half of what was sent.
    assert!(one.links[0].received == 20 && one.complete == 10 && one.repeated >= 30, "{one:?}");
    let round_trip = &one.round_trip;
    assert!(
        round_trip.max_ps().expect("some") > round_trip.min_ps().expect("some") + 8_000 * US,
        "they queue"
    );
}

#[test]
fn a_datagram_is_one_message() {
    let cut = [("payload: 128 B", "datagram: 4000 B"), ("payload: 100 B", "payload: 4000 B")];
    let one = message(&cut, "");
    assert_eq!((one.sent, one.complete, one.corrupted), (101, 100, 0), "{one:?}");
    assert_eq!(one.links[0].octets, 100 * 4_000);
    // Three frames of 1 544, 1 544 and 1 102 octets on the wire, of which the last is stored once: more than 400 us.
    assert!(one.links[0].one_way.min_ps().is_some_and(|ps| ps > 400 * US));
    let ideal = one.links[0].one_way.min_ps().expect("some");
    let receive = [
        cut[0],
        cut[1],
        ("nodes: {", "hosts: {h: {receive: {constant: 10 us}}}\nnodes: {"),
        ("b: {type: end-station}", "b: {type: end-station, host: h}"),
    ];
    let later = message(&receive, "");
    assert_eq!(later.links[0].one_way.min_ps(), Some(ideal + 10 * US), "behind its port");
    assert_eq!(later.complete, 100);
    let bits = (
        "    - {type: receive, station: a, route: y}",
        "    - {type: receive, station: a, route: y}\n    - {type: corrupt, station: b, route: x, chance: 0.2}",
    );
    let damaged = message(&[cut[0], cut[1], bits], "");
    assert!(
        damaged.lost["corrupted"] > 5 && damaged.corrupted == 2 * damaged.lost["corrupted"],
        "{damaged:?}"
    );
    let lossy = message(
        &[cut[0], cut[1], ("[b, s], rate: 100 Mbit/s", "[b, s], rate: 100 Mbit/s, bit-error-rate: 1e-5")],
        "",
    );
    assert!(lossy.lost["bit-error"] > 5 && lossy.lost.len() == 1, "one piece is lost: {lossy:?}");
}

/// Hosts of one thread that is held up for 400 us now and then.
const TAIL: (&str, &str) = (
    "nodes: {",
    "hosts: {h: {clock-read: 500 ns, threads: {t: {service: 1 us, wake-up: 1 us, tail: {chance: 0.05, delay: 400 us}}}, stacks: {k: {thread: t}}}}\ndefaults: {host: h}\nnodes: {",
);

#[test]
fn an_outlier_is_a_message_and_in_no_statistics() {
    // A round trip is not compared with the limit of one direction.
    let round = message(&[("test:\n", "test:\n  outliers-above: 40 us\n")], "");
    assert_eq!((round.outliers, round.round_trip.count()), (0, round.complete), "{round:?}");
    let all = message(&[TAIL], "");
    let filtered = message(&[TAIL, ("test:\n", "test:\n  outliers-above: 200 us\n")], "");
    assert_eq!(filtered.complete, all.complete, "they came");
    assert!(filtered.outliers > 5, "{filtered:?}");
    let kept = filtered.complete - filtered.outliers;
    assert_eq!(filtered.round_trip.count(), kept);
    for (link, unfiltered) in filtered.links.iter().zip(&all.links) {
        assert_eq!(link.one_way.count(), kept, "by either link");
        let (most, period) = (link.one_way.max_ps().expect("some"), 1_000 * US);
        let apart = link.receive_period.max_ps().expect("some") - period;
        assert!(most < 200 * US && apart < 170 * US, "{link:?}");
        assert!(unfiltered.receive_period.max_ps().expect("some") > period + 390 * US);
        assert!(link.receive_period.count() < unfiltered.receive_period.count());
    }
}

#[test]
fn an_outlier_is_one_by_all_its_links() {
    let mut test = pair().test_bed.clone().expect("a test");
    test.outliers_above = Some(Duration::from_us(11));
    let mut late = log();
    // The second message comes back late, the first and the third are its neighbours.
    late[7].time_ps += 5 * US;
    let late = tracked(&test, &late);
    assert_eq!((late.complete, late.outliers, late.round_trip.count()), (5, 1, 4));
    for link in &late.links {
        assert_eq!((link.received, link.one_way.count()), (5, 4));
        assert_eq!((link.receive_period.count(), link.transmit_period.count()), (2, 2), "{link:?}");
        assert_eq!(link.receive_period.max_ps(), Some(1_000 * US));
    }
}

#[test]
fn a_warm_up_is_checked_and_not_measured() {
    let errors =
        ("{between: [b, s], rate: 100 Mbit/s}", "{between: [b, s], rate: 100 Mbit/s, bit-error-rate: 1e-4}");
    let (full, warm) =
        (message(&[errors], ""), message(&[errors, ("100 ms}", "100 ms, warm-up: 50 ms}")], ""));
    assert_eq!((full.sent, full.complete, &full.lost), (warm.sent, warm.complete, &warm.lost));
    assert_eq!(full.links[0].received, warm.links[0].received);
    let counts = |one: &tautwire_sim::MessageObservation| {
        let link = &one.links[0];
        [
            one.round_trip.count(),
            link.one_way.count(),
            link.receive_period.count(),
            link.transmit_period.count(),
        ]
    };
    for (warm, full) in counts(&warm).into_iter().zip(counts(&full)) {
        assert!(warm > 10 && warm <= 50 && full > warm + 10, "{warm} and {full}");
    }
    let taps = ("test:\n  tasks:\n", "test:\n  tasks:\n    - {type: capture, station: a}\n");
    let text = PAIR.replace(taps.0, taps.1).replace("100 ms}", "100 ms, warm-up: 50 ms}");
    let tap = &observed(&network(&text)).captures[0];
    assert!(tap.frames >= 100 && tap.period.count() <= 50, "{tap:?}");
}

#[test]
fn two_clocks_may_differ_by_more_than_a_message_takes() {
    let clocks = "test:\n  clocks: {tolerance: 0 ppm, readings: 1, reading: {min: 4 us, max: 200 us}}\n";
    let one = message(&[("test:\n", clocks), ("100 ms}", "3 s}")], "");
    let least = one.links.iter().filter_map(|link| link.one_way.min_ps()).min().expect("messages");
    assert!(least < 0, "{one:?}");
    // A round trip is of one clock, from the first message on, when clocks read less than nothing.
    let (least, most) = (one.round_trip.min_ps().expect("some"), one.round_trip.max_ps().expect("some"));
    assert!(most - least < 100_000 && least > 50 * US, "{least} to {most}");
    // What two clocks add to one way they take from the other.
    let mean = |link: usize| one.links[link].one_way.mean_ps().expect("messages");
    let both = mean(0) + mean(1);
    assert!((both - one.round_trip.mean_ps().expect("some")).abs() < 1_000, "no turn-around: {both}");
}

#[test]
fn messages_have_the_lengths_of_their_frames() {
    let text = PAIR
        .replace(
            "payload: 128 B, traffic: {type: periodic",
            "payload: {min: 64 B, max: 1500 B}, traffic: {type: periodic",
        )
        .replace(", payload: 100 B", "")
        .replace("relay, station: b, route: x, by: y", "receive, station: b, route: x")
        .replace("    - {type: receive, station: a, route: y}\n", "");
    let one = &observed(&network(&text)).messages[0];
    assert_eq!((one.complete, one.corrupted), (100, 0));
    let mean = one.links[0].octets / one.links[0].one_way.count();
    assert!(mean > 600 && mean < 900, "uniform from 36 B to 1472 B: {mean}");
}

/// A command to two stations that both acknowledge it.
#[test]
fn every_relay_of_a_route_is_followed() {
    let fork = [
        (
            "test:\n",
            "  - {name: z, talker: c, listeners: a, payload: 128 B, traffic: {type: response, to: x}}\ntest:\n",
        ),
        (
            "    - {type: receive, station: a, route: y}",
            "    - {type: receive, station: a, route: y}\n    - {type: relay, station: c, route: x, by: z}\n    - {type: receive, station: a, route: z}",
        ),
    ];
    let one = message(&fork, "");
    assert_eq!((one.links.len(), one.complete, one.misdirected), (4, 100, 0), "{one:?}");
    let back: Vec<u64> = one.links.iter().map(|link| link.round_trip.count()).collect();
    assert_eq!(back, [0, 0, 100, 100], "each way back");
    assert_eq!(one.round_trip.count(), 200);
    let stopped = message(&fork, "events: [{at: 50500 us, stop-stream: z}]");
    assert!(stopped.lost["not-relayed"] > 40 && stopped.links[2].round_trip.count() == 100, "{stopped:?}");
}

/// Time-triggered links answer in turn.
#[test]
fn a_way_may_be_long() {
    let text = "
network-control: none
vlans:
  1:
    tagged: all
nodes: {a: {type: end-station}, b: {type: end-station}, c: {type: end-station}, s: {type: bridge, device: store-and-forward}}
defaults: {rate: 100 Mbit/s}
links: [{between: [a, s]}, {between: [b, s]}, {between: [c, s]}]
time-triggered: {precision: 1 us}
streams:
  - {name: x, talker: a, listeners: b, payload: 128 B, traffic: {type: periodic, interval: 4 ms}, time-triggered: {id: 1, period: 1 ms, offset: 100 us}}
  - {name: y, talker: b, listeners: c, payload: 128 B, traffic: {type: response, to: x}, time-triggered: {id: 2, period: 1 ms, offset: 300 us}}
  - {name: z, talker: c, listeners: a, payload: 128 B, traffic: {type: response, to: y}, time-triggered: {id: 3, period: 1 ms, offset: 600 us}}
test:
  tasks:
    - {type: transmit, station: a, route: x}
    - {type: relay, station: b, route: x, by: y}
    - {type: relay, station: c, route: y, by: z}
    - {type: receive, station: a, route: z}
run: {duration: 100 ms}
";
    let one = &observed(&network(text)).messages[0];
    assert_eq!((one.links.len(), one.sent), (3, 26), "{one:?}");
    assert!(one.complete >= 25 && one.round_trip.count() == one.complete);
}

#[test]
fn a_broadcast_is_received() {
    let one = message(&[("listeners: [b, c]", "listeners: all")], "");
    assert_eq!((one.complete, one.misdirected), (100, 100), "c has no task for it: {one:?}");
}

#[test]
fn the_table_and_the_summary_have_the_counts() {
    let twice = TWO_NETWORKS.replace("redundancy: true", "redundancy: true, skew-max: 1 us");
    let clocks = "test:\n  clocks: {tolerance: 0 ppm, readings: 1, reading: {min: 4 us, max: 200 us}}\n";
    let twice = twice.replace("test:\n", clocks) + "run: {duration: 3 s}";
    let network = network(&twice);
    let observation = simulate(&network, &mut Options::default());
    let summary = Summary::new(&network, None, Some(&observation));
    let seen = &observation.test.as_ref().expect("a test").messages[0];
    let table = test_bed::table(&summary);
    assert!(table.contains(&format!("{} repeated", seen.repeated)) && seen.repeated > 0, "{table}");
    assert!(table.contains("transmit period"), "{table}");
    let link = &summary.test.as_ref().expect("a test").messages[0].links[0];
    let span = link.one_way.expect("messages");
    assert!(span.min_ps < 0 && table.contains("(-"), "{table}");
    // 100 octets a message over the sum of the latencies.
    let bits = i128::from(span.count) * 800 * 1_000_000_000_000;
    let least = bits / (i128::from(span.count) * i128::from(span.mean_ps)) - 1;
    assert!(link.throughput_bps.is_some_and(|bps| (i128::from(bps) - least).abs() <= 1), "{link:?}");
}
