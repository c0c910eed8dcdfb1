//! Clocks that are read coarsely, several cables to a switch, and protocols at the limits of their values.

use std::path::Path;

use tautwire_workbench::{Options, simulate};

use super::{answer, codes, network, text};

/// A scenario whose run is shortened.
fn scenario(name: &str, duration: &str) -> String {
    let path = Path::new("../../scenarios").join(name);
    let text = std::fs::read_to_string(path).expect("a scenario");
    let lines = text.lines().map(|line| {
        let is_run = line.starts_with("run:");
        if is_run { format!("run: {{duration: {duration}}}\n") } else { format!("{line}\n") }
    });
    lines.collect()
}

/// The same with clocks that are read in steps.
fn grained(text: &str, step: &str) -> String {
    assert!(text.contains("clock: {tolerance"), "it describes its clocks");
    text.replacen("clock: {tolerance", &format!("clock: {{granularity: {step}, tolerance"), 1)
}

/// Bounds and a run of a description that agree; how many bounds of listeners there are.
fn agree(text: &str) -> usize {
    let (_, bounds, _, found) = answer(text);
    assert!(found.contradictions.is_empty(), "{:#?}\n{text}", found.contradictions);
    let listeners = bounds.streams.iter().flat_map(|stream| &stream.listeners);
    listeners.filter(|listener| listener.delay.is_ok()).count()
}

/// Two end stations by a bridge, with these keys of the talker and of its cable.
fn plain(talker: &str, cable: &str) -> String {
    format!(
        "network-control: none
nodes:
  a: {{type: end-station{talker}}}
  b: {{type: bridge}}
  c: {{type: end-station}}
links:
  - {{between: [a, b], rate: 100 Mbit/s{cable}}}
  - {{between: [b, c], rate: 100 Mbit/s}}
streams:
  - {{name: s, talker: a, listeners: c, payload: 100 B, traffic: {{type: periodic, interval: 1 ms}}}}
run: {{duration: 20 ms}}
"
    )
}

/// A line that a clock slows down, or a cable that is too long for bounds, was reported to carry less than its arrivals.
#[test]
fn a_coarse_clock_and_a_long_way_are_named_as_the_reason() {
    let diagnosed = |text: &str| {
        let network = network(text);
        let bounds = tautwire_workbench::bounds(&network);
        tautwire_workbench::explain(&network, &bounds, tautwire_workbench::StreamIndex(0)).to_string()
    };
    for step in ["3 ms", "24 h"] {
        let text = plain(&format!(", clock: {{granularity: {step}}}"), "");
        let diagnosed = diagnosed(&text);
        let step = if step == "24 h" { "86400 s" } else { step };
        let reason = format!("each frame waits for a clock step of {step}");
        assert!(diagnosed.contains(&reason), "{diagnosed}");
    }
    assert_eq!(
        agree(&plain(", clock: {granularity: 100 us}", "")),
        1,
        "a step for every frame does not hold it up"
    );
    for cable in [", propagation-delay: 24 h", ", phy-delay: 1001 s"] {
        let diagnosed = diagnosed(&plain("", cable));
        assert!(diagnosed.contains("may exceed 1000 s"), "{diagnosed}");
        assert!(!diagnosed.contains("can leave"), "{diagnosed}");
    }
    assert_eq!(agree(&plain("", ", propagation-delay: 999 s")), 1);
    // Where the line is too slow whatever the clock, that is the reason.
    let slow = plain(", clock: {granularity: 100 us}", "").replace("interval: 1 ms", "interval: 2 us");
    let slow = format!("{slow}allow: [port::overload]\n");
    assert!(diagnosed(&slow).contains("class 1 of port a.p1 is overloaded"));
}

/// Parts in 10⁹ are read like those in 10⁶, and a fault shows what was written.
#[test]
fn deviations_are_read_and_written_in_either_unit() {
    let with = |clock: &str| plain(&format!(", clock: {{{clock}}}"), "");
    assert_eq!(codes(&with("tolerance: 100 ppm, drift: -99999 ppb")), [] as [&str; 0]);
    let one = |clock: &str| {
        let loaded = tautwire_workbench::load_text("case", &with(clock));
        let [diagnosed] = &loaded.diagnostics[..] else { panic!("{:#?}", loaded.diagnostics) };
        format!("{}; {}", diagnosed.message, diagnosed.help.as_deref().unwrap_or_default())
    };
    let diagnosed = one("tolerance: 100 ppm, drift: 200 ppm");
    assert!(diagnosed.starts_with("a drift of 200 ppm is beyond the tolerance of 100 ppm;"), "{diagnosed}");
    let diagnosed = one("tolerance: 100 ppb, drift: -101 ppb");
    assert!(diagnosed.starts_with("a drift of -101 ppb is beyond the tolerance of 100 ppb;"), "{diagnosed}");
    for clock in ["tolerance: 0.5 ppb", "tolerance: 100000 ppm", "tolerance: 1 ppm, drift: 0.0001 ppm"] {
        let diagnosed = one(clock);
        assert!(diagnosed.contains("ppb`: an integral number of ppb, below 100000 ppm"), "{diagnosed}");
    }
}

#[test]
fn tdma_and_harts_keep_their_bounds_by_clocks_that_are_read_in_steps() {
    let scenarios = [
        ("tdma.yaml", "60 ms"),
        ("tdma-both-stacks.yaml", "60 ms"),
        ("tdma-failures.yaml", "120 ms"),
        ("harts.yaml", "60 ms"),
        ("harts-servers.yaml", "60 ms"),
        ("harts-synchronous.yaml", "60 ms"),
        ("harts-multi-switch.yaml", "60 ms"),
    ];
    for (name, duration) in scenarios {
        let exact = scenario(name, duration);
        let proven = agree(&exact);
        assert!(proven > 0, "{name}");
        assert_eq!(agree(&grained(&exact, "100 ns")), proven, "{name}: none is lost by fine steps");
        agree(&grained(&exact, "1333 ns"));
    }
    for name in ["tdma-granularity-greatest.yaml", "tdma-granularity-least2.yaml"] {
        let given = text(name);
        agree(&given);
        for step in ["1 ps", "8 ns", "40 ns", "1 us", "7777 ns", "100 us", "1 ms", "1 s"] {
            let step = format!("granularity: {step}");
            agree(&given.replace("granularity: 100 ns", &step).replace("granularity: 8 ns", &step));
        }
    }
}

/// A cut-through frame leaves after it came, whatever ends its clocks, which are read in steps, compute.
#[test]
fn a_frame_that_is_cut_through_leaves_after_it_came() {
    let exact = scenario("cut-through.yaml", "20 ms");
    for step in ["8 ns", "1 us", "37300 ns", "1 ms"] {
        agree(&exact.replacen("defaults: {", &format!("defaults: {{clock: {{granularity: {step}}}, "), 1));
    }
}

#[test]
fn elementary_cycles_below_a_clocks_resolution_are_refused() {
    let coarse = text("harts-granularity-greatest.yaml");
    assert!(codes(&coarse).contains(&"harts::window"));
    for (step, is_refused) in [("3 us", false), ("3279 ns", false), ("3281 ns", true), ("125 us", true)] {
        let text = coarse.replace("granularity: 1 ms", &format!("granularity: {step}"));
        assert_eq!(!codes(&text).is_empty(), is_refused, "a trigger message has 6.72 of 10 us, {step}");
        if !is_refused {
            agree(&text);
        }
    }
}

#[test]
fn a_station_with_several_cables_to_its_switch_is_polled_once() {
    let two = text("harts-two-ports-unsound.yaml");
    let one = two.replacen("- between:\n  - controller\n  - sw1\n", "", 1);
    let (_, _, seen, found) = answer(&two);
    assert!(found.contradictions.is_empty(), "{:#?}", found.contradictions);
    let (_, _, with_one, _) = answer(&one);
    for (stream, other) in seen.streams.iter().zip(&with_one.streams).take(4) {
        assert_eq!(stream.delivered, other.delivered);
    }
    agree(&two.replacen(
        "- between:\n  - sensor",
        "- between:\n  - controller\n  - sw1\n- between:\n  - sensor",
        1,
    ));
    agree(&two.replace(
        "- between:\n  - sensor\n  - sw3\n",
        "- between:\n  - sensor\n  - sw3\n- between:\n  - sensor\n  - sw3\n  rate: 1 Gbit/s\n",
    ));
    agree(&two.replace(
        "- between:\n  - sensor\n  - sw3\n",
        "- between:\n  - sensor\n  - sw3\n- between:\n  - sensor\n  - sw2\n",
    ));
}

#[test]
fn a_message_over_lines_of_several_rates_has_bounds() {
    let given = text("harts-subtract-panic.yaml");
    agree(&given);
    for rate in ["10 Gbit/s", "100 Gbit/s", "100 Mbit/s"] {
        agree(&given.replace("rate: 1 Gbit/s", &format!("rate: {rate}")));
    }
    agree(&given.replace("payload: 300 B", "payload: 700 B"));
}

#[test]
fn gptp_is_sent_and_received_at_the_interface() {
    let given = text("gptp-stack-least.yaml");
    agree(&given);
    agree(&given.replace("service: 3 us", "service: 3 us\n        wake-up: 100 us"));
    agree(
        &given.replace("rate: 1 Gbit/s", "rate: 1 Gbit/s\n  clock: {granularity: 8 ns, tolerance: 100 ppm}"),
    );
    let interface = "    interfaces: {card: {transmit: 7 us, receive: 9 us}}\n    stacks:\n      udp:\n        interface: card\n";
    agree(&given.replace("    stacks:\n      udp:\n", interface));
}

#[test]
fn a_newer_message_takes_the_place_of_the_older_one() {
    let given = text("tt-burst-backlog-contradiction.yaml");
    for seed in [1, 2, 313] {
        agree(&format!("{given}run: {{duration: 1 s, seed: {seed}}}\n"));
    }
    agree(&given.replace("burst: 2", "burst: 7"));
}

#[test]
fn a_time_triggered_frame_above_the_limit_of_its_queue_is_lost() {
    let refused = text("tt-queue-limit-panic.yaml");
    assert_eq!(codes(&refused), ["port::queue-limit"], "no frame fits");
    let given = format!("{refused}allow: [port::queue-limit]\n");
    let sent = |text: &str| {
        let seen = simulate(&network(text), &mut Options::default());
        let stream = &seen.streams[0];
        (stream.created, stream.delivered)
    };
    let (created, delivered) = sent(&given);
    assert!(created > 0);
    assert_eq!(delivered, 0, "1018 octets in a queue of 1000");
    let (created, delivered) = sent(&given.replace("octets: 1000 B", "octets: 1018 B"));
    assert!(
        delivered > 0 && created - delivered <= 1,
        "its tag is not in the queue's octets of untagged frames"
    );
    for limit in ["octets: 0 B", "frames: 1", "frames: 2", "octets: 2000 B"] {
        agree(&given.replace("octets: 1000 B", limit));
    }
}

#[test]
fn who_configures_reaches_whom_it_configures() {
    let given = text("cnc-unconnected-panic.yaml");
    assert_eq!(codes(&given), ["reservation::network"]);
    let connected = given.replacen("links:\n", "links:\n- between:\n  - controller\n  - cell\n", 1);
    assert!(codes(&connected).is_empty(), "{:?}", codes(&connected));
    agree(&connected);
    // A bridge of its own, and a CUC without a cable.
    let lone = connected.replacen("nodes:\n", "nodes:\n  loft:\n    type: bridge\n", 1);
    assert_eq!(codes(&lone), ["reservation::network"]);
    let users = connected
        .replacen("nodes:\n", "nodes:\n  user:\n    type: end-station\n", 1)
        .replace("centralized-network-distributed-user\n", "fully-centralized\n  cuc:\n    node: user\n");
    assert_eq!(codes(&users), ["reservation::network"]);
    agree(&users.replacen("links:\n", "links:\n- between:\n  - user\n  - hall\n", 1));
    // A message that is repeated before its processing ends is repeated without end.
    let retry = |span: &str| {
        connected.replace("  cnc:", &format!("  management: {{pace: 1 us, retry: {span}}}\n  cnc:"))
    };
    assert_eq!(codes(&retry("1 us")), ["reservation::network"]);
    assert!(codes(&retry("1 ms")).is_empty());
    agree(&retry("1 ms"));
}

#[test]
fn a_configuration_has_as_many_octets_as_its_field_can_hold() {
    let given = text("startup-configuration-panic.yaml");
    assert_eq!(codes(&given), ["value::range"]);
    for octets in ["0 B", "1 B", "4294967295 B"] {
        let text = given.replace("100 GiB", octets);
        assert!(codes(&text).is_empty(), "{octets}");
        agree(&text);
    }
    assert_eq!(codes(&given.replace("100 GiB", "4294967296 B")), ["value::range"]);
}

#[test]
fn frames_have_at_most_65535_octets() {
    let given = text("payload-65535-panic.yaml");
    assert!(codes(&given).contains(&"value::range"));
    for payload in ["65513 B", "65000 B"] {
        let text = given.replace("65535 B", payload);
        assert!(!codes(&text).contains(&"value::range"), "{payload}");
        agree(&text);
    }
    assert!(codes(&given.replace("65535 B", "65514 B")).contains(&"value::range"));
    assert!(codes(&given.replace("payload: 65535 B", "frame: 65536 B")).contains(&"value::range"));
    let header = |octets: &str| {
        let device = format!(
            "devices: {{quick: {{switching: cut-through, cut-through-header: {octets}}}}}\ndefaults:\n  device: quick\n"
        );
        given.replace("65535 B", "65513 B").replace("defaults:\n", &device)
    };
    agree(&header("65535 B"));
    for octets in ["0 B", "5 B", "65536 B"] {
        assert!(codes(&header(octets)).contains(&"value::range"), "{octets}");
    }
}

#[test]
fn paces_that_no_run_carries_out_are_refused() {
    let given = text("bag-of-7-ps.yaml");
    assert_eq!(codes(&given), ["stream::traffic"]);
    for interval in ["1 ps", "1 ns", "100 ns"] {
        assert_eq!(
            codes(&given.replace("interval: 7 ps", &format!("interval: {interval}"))),
            ["stream::traffic"]
        );
    }
    for traffic in [
        "{type: constant-rate, rate: 100 Gbit/s}",
        "{type: poisson, mean-interval: 1 ps}",
        "{type: on-off, on: 1 ms, off: 1 ms, interval: 5 ps}",
    ] {
        let text = given.replace("{type: periodic, interval: 7 ps, burst: 3}", traffic);
        assert!(codes(&text).contains(&"stream::traffic"), "{traffic}: {:?}", codes(&text));
    }
    let usual = given.replace("interval: 7 ps", "interval: 20 ms");
    assert!(!codes(&usual).contains(&"run::pace"));
    let long = given
        .replace("interval: 7 ps, burst: 3", "interval: 5 us")
        .replace("duration: 2 s", "duration: 86400 s");
    assert_eq!(codes(&long), ["run::pace"]);
    let changed = "events: [{at: 1 s, change-traffic: {stream: telemetry, traffic: {type: periodic, interval: 7 ps}}}]\nrun:";
    assert!(codes(&usual.replace("run:", changed)).contains(&"stream::traffic"));
    let tdma = text("tdma-granularity-least2.yaml");
    let tiny = tdma
        .replace("cycle: 1 ms", "cycle: 40 ps")
        .replace("offset: 250 us, length: 100 us", "offset: 10 ps, length: 10 ps");
    assert!(!codes(&tiny).is_empty());
}

/// Nothing synchronises the clocks of a network without a protocol for it.
#[test]
fn clocks_that_begin_further_apart_than_the_precision_are_refused() {
    let text = |offset: &str| {
        format!(
            "name: apart
defaults: {{rate: 100 Mbit/s}}
time-triggered: {{precision: 1 us}}
nodes: {{a: {{type: end-station, clock: {{offset: {offset}}}}}, b: {{type: end-station}}}}
links: [{{between: [a, b]}}]
run: {{duration: 1 ms}}
"
        )
    };
    assert!(codes(&text("3 us")).contains(&"time-triggered::network"));
    assert!(codes(&text("900 ns")).is_empty());
}
