//! Credit-based and asynchronous shapers.

use tautwire_workbench::{
    Duration, Network, Options, StreamIndex, bounds, explain, simulate, stories, story,
};

use super::{answer, codes, network, text};

/// A description holds in a run and by its bounds, whatever the seed.
fn holds(text: &str) -> (Network, tautwire_workbench::Bounds) {
    let (network, bounds, _, verification) = answer(text);
    assert!(verification.contradictions.is_empty(), "{:#?}\n{text}", verification.contradictions);
    (network, bounds)
}

/// Every listener's bound.
fn delays(network: &Network) -> Vec<Option<Duration>> {
    let bounds = bounds(network);
    bounds.streams.iter().flat_map(|stream| &stream.listeners).map(|one| one.delay.clone().ok()).collect()
}

/// Kept credit made the burst of class 5 run 4 octets longer than what it had saved: the class below was late.
#[test]
fn a_charge_that_outlasts_the_line_keeps_no_credit() {
    let text = text("cbs-charged-overhead.yaml");
    for overhead in [0, 8, 19, 20, 21, 24, 40, 200, 1_000] {
        holds(&text.replace("overhead: 24 B", &format!("overhead: {overhead} B")));
        // The same at an end station, whose host charges.
        let host = text
            .replace(
                "devices:\n  d: {credit-charged-overhead: 24 B}",
                &format!("hosts:\n  d: {{credit-charged-overhead: {overhead} B}}"),
            )
            .replace("device: d, ", "");
        holds(&host.replace(
            "  k: {type: end-station}",
            "  k: {type: end-station, host: d, classes: {5: {transmission-selection: credit-based, idle-slope: 5849481 bit/s}}}",
        ));
    }
}

/// Frames of one stream left as 1, 2, 0: a head that was overtaken went behind those of the same eligibility time. The order of
/// every stream and scheduler group is asserted at every port while tests run.
#[test]
fn frames_of_equal_eligibility_times_keep_their_order() {
    let text = text("ats-order.yaml");
    for (organisation, burst) in
        [("eligibility-ordered", 3), ("interleaved-regulators", 3), ("eligibility-ordered", 5)]
    {
        let text = text
            .replace(
                "defaults:",
                &format!("devices: {{d: {{ats: {{organisation: {organisation}}}}}}}\ndefaults:"),
            )
            .replace("{type: bridge,", "{type: bridge, device: d,")
            .replace("burst: 3, offset", &format!("burst: {burst}, offset"));
        holds(&text);
    }
}

/// The wait of a frame for its own eligibility time is shaping, whatever is queued before it meanwhile.
#[test]
fn a_frame_that_its_scheduler_holds_is_shaped_and_not_queued() {
    let network = network(&text("ats-held-or-queued.yaml"));
    let observation = simulate(&network, &mut Options::default());
    let story = story(&network, &observation, StreamIndex(0)).expect("it arrives");
    let parts = story.hops[1].parts;
    // The second frame comes 81.6 us behind the first, is eligible 1020 us behind it, and finds the line free then.
    assert_eq!(parts.shaping, Duration::from_us(1_020) - Duration::from_ns(81_600), "{story}");
    assert_eq!(parts.queueing, Duration::ZERO, "{story}");
    assert!(story.hops[1].waited_for.is_empty(), "{story}");
}

/// A bucket knows since when it fills: at a rate 40 times lower it holds a fortieth, and the next burst waits for the rest.
#[test]
fn a_bucket_holds_less_when_its_rate_is_changed() {
    let changed = text("ats-held-or-queued.yaml")
        .replace("8 Mbit/s, committed-burst-size: 8160 bit", "80 Mbit/s, committed-burst-size: 65280 bit")
        .replace(
            "run:",
            "events:
  - {at: 10050 us, change-shaper: {stream: a, committed-information-rate: 2 Mbit/s, committed-burst-size: 65280 bit}}
  - {at: 10100 us, change-traffic: {stream: a, traffic: {type: periodic, interval: 10 ms, burst: 2}}}
run:",
        );
    let (network, bounds) = holds(&changed);
    let observed = simulate(&network, &mut Options::default()).streams[0].listeners[0].delay.max();
    assert!(observed > Some(Duration::from_ms(5)), "{observed:?}");
    assert!(bounds.streams[0].listeners[0].delay.is_ok());
}

/// Stories and explanations of what once ended in a panic, and of the same with other devices, clocks and talkers.
#[test]
fn cut_through_and_drifting_shapers_are_explained() {
    for (name, from, to) in [
        ("explain-cut-through.yaml", "", ""),
        (
            "explain-cut-through.yaml",
            "cut-through}",
            "cut-through, stages: [{name: p, position: processing, latency: 3 us}]}",
        ),
        (
            "explain-cut-through.yaml",
            "rate: 100 Mbit/s}",
            "rate: 100 Mbit/s, clock: {tolerance: 100 ppm, granularity: 40 ns}}",
        ),
        ("explain-ats-tolerance.yaml", "", ""),
        ("explain-ats-tolerance.yaml", "tolerance: 100 ppm", "tolerance: 1000 ppm, granularity: 100 ns"),
        ("explain-ats-tolerance.yaml", "9000 bit}", "9000 bit, shape-at-talker: true}"),
        ("ats-held-or-queued.yaml", "defaults: {", "defaults: {clock: {tolerance: 100 ppm}, "),
        ("ats-order.yaml", "defaults: {", "defaults: {clock: {tolerance: 100 ppm}, "),
    ] {
        let text = text(name);
        assert!(text.contains(from), "{name}: {from}");
        every_stream_is_explained(&network(&text.replacen(from, to, 1)));
    }
}

/// The parts of the story of each stream's worst frame add up to its delay, and its bound can be explained.
fn every_stream_is_explained(network: &Network) {
    let bounds = bounds(network);
    let observation = simulate(network, &mut Options::default());
    for (number, story) in stories(network, &observation).into_iter().enumerate() {
        assert!(!explain(network, &bounds, StreamIndex::at(number)).hops.is_empty());
        let story = story.expect("a frame of each stream arrives");
        let total: Duration = story.hops.iter().map(|hop| hop.parts.total()).sum();
        assert_eq!(total, story.delay, "{story}");
    }
}

/// A scheduler at exactly the rate of its stream delayed each frame by the roundings of its octet times, and had no bound.
#[test]
fn a_scheduler_at_exactly_the_rate_of_its_stream_holds_nothing_up() {
    // Octets of the frame, of its overhead, interval in ns, bits a second: exact, and rounded up.
    let streams = [
        (1_492, 8, 1_000_000, 12_000_000),
        (1_492, 8, 20_000_000, 600_000),
        (1_514, 8, 1_522_000, 8_000_000),
        (64, 20, 96_000, 7_000_000),
        (997, 20, 678_000, 12_000_000),
        (1_000, 0, 700_000, 11_428_572),
    ];
    for name in ["ats-exact-rate.yaml", "ats-drift.yaml"] {
        let text = text(name);
        assert!(delays(&holds(&text).0).iter().all(Option::is_some), "{name}");
        assert_eq!(codes(&text), [] as [&str; 0], "{name}");
        for (frame, overhead, interval, rate) in streams {
            let text = text
                .replace("charged-overhead: 8 B", &format!("charged-overhead: {overhead} B"))
                .replace("frame: 1492 B", &format!("frame: {frame} B"))
                .replace("interval: 20000 us", &format!("interval: {interval} ns"))
                .replace("interval: 1000 us", &format!("interval: {interval} ns"))
                .replace("rate: 600000 bit/s", &format!("rate: {rate} bit/s"))
                .replace("rate: 12000000 bit/s", &format!("rate: {rate} bit/s"))
                .replace("size: 1500 B", &format!("size: {} B", frame + overhead));
            let (network, bounds) = holds(&text);
            assert!(delays(&network).iter().all(Option::is_some), "{text}\n{bounds:?}");
            let delay = &simulate(&network, &mut Options::default()).streams[0].listeners[0].delay;
            assert_eq!(delay.min(), delay.max(), "no frame waits longer than another\n{text}");
        }
    }
}

/// A tolerance of the clocks makes a scheduler at the stream's rate too slow: that is reported, with the least sufficient rate.
#[test]
fn a_clock_that_makes_a_shaper_too_slow_is_diagnosed_with_the_rate_that_is_enough() {
    for (name, rate) in [("ats-exact-rate.yaml", "600000 bit/s"), ("ats-drift.yaml", "12000000 bit/s")] {
        for clocks in ["clock: {tolerance: 100 ppm}, ", "clock: {tolerance: 1 ppm, granularity: 100 ns}, "] {
            for bridges in [1, 3] {
                let text =
                    in_a_row(&text(name), bridges).replace("defaults: {", &format!("defaults: {{{clocks}"));
                assert_eq!(codes(&text), ["shaper::rate"], "{text}");
                assert!(delays(&network(&text)).iter().all(Option::is_none), "{text}");
                let least = least_rate(&text);
                let enough = text.replace(rate, &least);
                assert_eq!(codes(&enough), [] as [&str; 0], "{enough}");
                assert!(delays(&network(&enough)).iter().all(Option::is_some), "{enough}");
                holds(&enough);
                let number: u64 = least.trim_end_matches(" bit/s").parse().expect("a number");
                let less = text.replace(rate, &format!("{} bit/s", number - 1));
                assert_eq!(codes(&less), ["shaper::rate"], "{less}");
                let covering = text.replace(rate, "covering");
                assert_eq!(codes(&covering), [] as [&str; 0], "{covering}");
                assert!(delays(&holds(&covering).0).iter().all(Option::is_some), "{covering}");
            }
        }
    }
}

/// `covering` covers streams of one group over bridges that drift, ticks, other charges and shaping talkers.
#[test]
fn a_covering_rate_bounds_groups_of_streams() {
    let two = |text: &str| {
        let line = text.lines().find(|line| line.contains("name: a0")).expect("a stream").to_owned();
        let other = line.replace("name: a0", "name: a1").replace("frame: 1492 B", "frame: 300 B");
        text.replace(&line, &format!("{line}\n{other}"))
    };
    let base = two(&in_a_row(&text("ats-exact-rate.yaml"), 3)).replace("600000 bit/s", "covering");
    for (from, to) in [
        ("", ""),
        ("rate: 100 Mbit/s,", "rate: 100 Mbit/s, clock: {tolerance: 100 ppm},"),
        ("overhead: 8 B", "overhead: 8 B, time-quantum: 8 ns"),
        ("overhead: 8 B", "overhead: 8 B, clock-rate-deviation-max: 50 ppm"),
        ("size: 1500 B", "size: 1512 B, shape-at-talker: true"),
        ("20000 us}", "20000 us, jitter: 100 us}"),
        (
            "{type: periodic, interval: 20000 us}",
            "{type: greedy}, arrival-curve: {rate: 700 kbit/s, burst: 12096 bit}",
        ),
    ] {
        assert!(base.contains(from), "{from}");
        // A promise that is jittered has more than a frame of burst.
        let size = if to.contains("jitter") { "size: 1600 B" } else { "size: 1500 B" };
        let text = base.replace("size: 1500 B", size).replace(from, to);
        let (network, bounds) = holds(&text);
        assert!(delays(&network).iter().all(Option::is_some), "{text}\n{bounds:#?}");
    }
    let poisson =
        base.replace("{type: periodic, interval: 20000 us}", "{type: poisson, mean-interval: 20 ms}");
    assert!(codes(&poisson).contains(&"shaper::rate"), "no rate covers it");
}

/// With a tick that takes more than the line leaves, `check` named rates of 672 Tbit/s, and `covering` took one.
#[test]
fn a_tick_that_no_rate_makes_up_for_is_diagnosed_with_one_that_does() {
    let base = text("ats-exact-rate.yaml");
    let with = |tick: &str, rate: &str| {
        base.replace("overhead: 8 B", &format!("overhead: 8 B, time-quantum: {tick}"))
            .replace("rate: 600000 bit/s", &format!("rate: {rate}"))
    };
    for rate in ["600000 bit/s", "covering", "100 Gbit/s"] {
        for tick in ["20 ms", "1 s"] {
            let text = with(tick, rate);
            let loaded = tautwire_workbench::load_text("case", &text);
            let [diagnosed] = &loaded.diagnostics[..] else { panic!("{:#?}", loaded.diagnostics) };
            assert_eq!(
                (diagnosed.code, loaded.has_errors()),
                ("shaper::rate", rate == "covering"),
                "{diagnosed:#?}"
            );
            assert!(
                diagnosed.message.contains("up to the ") && diagnosed.message.contains(tick),
                "{diagnosed:#?}"
            );
            let help = diagnosed.help.as_deref().expect("a tick that would do");
            let (_, finer) = help.split_once("`time-quantum` of ").expect("a tick");
            let finer = finer.split_once(" at most").expect("its end").0;
            let covering = with(finer, "covering");
            assert_eq!(codes(&covering), [] as [&str; 0], "{covering}");
            let delays = delays(&holds(&covering).0);
            assert!(delays.iter().all(Option::is_some), "{covering}");
            if rate == "600000 bit/s" {
                // There is a rate that is enough now, within what the line carries.
                let least = least_rate(&with(finer, rate));
                let number: u64 = least.trim_end_matches(" bit/s").parse().expect("a number");
                assert!(number <= 100_000_000, "{least}");
                assert_eq!(codes(&with(finer, &least)), [] as [&str; 0]);
            }
        }
    }
    // A small loss to ticks is compensated; at a rate with a whole number of ticks an octet nothing is lost.
    let diagnosed = tautwire_workbench::load_text("case", &with("1 us", "600000 bit/s")).diagnostics;
    assert!(
        diagnosed[0].message.starts_with("the shaper's 600000 bit/s are less than the stream's 6"),
        "{diagnosed:#?}"
    );
    let integral = with("4 us", "500000 bit/s").replace("interval: 20000 us", "interval: 24000 us");
    assert_eq!(codes(&integral), [] as [&str; 0], "{integral}");
    assert!(delays(&holds(&integral).0).iter().all(Option::is_some));
}

/// Two talkers, whose streams share a scheduler each, had no bound behind their first bridge.
#[test]
fn streams_that_share_schedulers_are_bounded_as_one_flow() {
    let text = format!("{}vlans: {{1: {{tagged: trunks}}}}\n", text("ats-shared-schedulers.yaml"));
    for (from, to) in [
        ("", ""),
        (", rate-step: 10 ppm", ""),
        ("talker: N4", "talker: N2"),
        ("charged-overhead: 0 B", "charged-overhead: 20 B, time-quantum: 1 ps"),
        ("smac-vlan", "null"),
        ("tagged: trunks", "tagged: all"),
        ("vlans: {1: {tagged: trunks}}", ""),
    ] {
        assert!(text.contains(from), "{from}");
        let text =
            text.replace(from, to).replace("8181 bit", "8344 bit").replace("818144 bit/s", "834000 bit/s");
        let (network, bounds) = holds(&text);
        assert!(delays(&network).iter().all(Option::is_some), "{text}\n{bounds:#?}");
    }
    let (network, _) = holds(&text);
    assert!(delays(&network).iter().all(Option::is_some));
    // Their common arrivals are more than the scheduler passes: each of those that share it is named.
    let less = text.replacen("818144 bit/s", "600000 bit/s", 1);
    let network = self::network(&less);
    let diagnosed = explain(&network, &bounds(&network), StreamIndex(0)).to_string();
    assert!(diagnosed.contains("share it: a2-0, a2-1"), "{diagnosed}");
    assert!(delays(&network)[2..].iter().all(Option::is_some), "the other talker's are bounded\n{diagnosed}");
}

/// The rate that `check` names as enough.
fn least_rate(text: &str) -> String {
    let loaded = tautwire_workbench::load_text("case", text);
    let help = loaded.diagnostics.iter().find(|one| one.code == "shaper::rate").expect("a warning");
    let help = help.help.as_deref().expect("what would be enough");
    let (_, behind) = help.split_once("rate: ").expect("a rate");
    behind.split_once('`').expect("its end").0.to_owned()
}

/// The bridge of a description, so many times in a row; their frames carry their priorities.
fn in_a_row(text: &str, bridges: usize) -> String {
    let nodes: String = (0..bridges)
        .map(|bridge| {
            format!(
                "  S{bridge}: {{type: bridge, device: sw, classes: {{5: {{transmission-selection: ats}}}}}}\n"
            )
        })
        .collect();
    let links: String =
        (1..bridges).map(|bridge| format!("  - {{between: [S{}, S{bridge}]}}\n", bridge - 1)).collect();
    text.replace("devices:", "vlans: {1: {tagged: all}}\ndevices:")
        .replace("  S0: {type: bridge, device: sw, classes: {5: {transmission-selection: ats}}}\n", &nodes)
        .replace("  - {between: [S0, L]}\n", &format!("{links}  - {{between: [S{}, L]}}\n", bridges - 1))
}

/// A station whose port shapes the class of HaRTES's control messages: they were bounded as if no shaper held them.
#[test]
fn control_messages_of_harts_are_not_shaped_at_a_station() {
    let text = "
defaults: {rate: 100 Mbit/s}
nodes:
  n1: {type: end-station}
  n2: {type: end-station, classes: {6: {transmission-selection: credit-based, idle-slope: 12067249 bit/s}}}
  sw1: {type: bridge}
  sw2: {type: bridge}
links: [{between: [n1, sw1]}, {between: [n2, sw2]}, {between: [sw1, sw2]}]
harts:
  elementary-cycle: 125 us
  trigger: 10 us
  turn-around: 10 us
  reserve: [{stream: f2}]
  admission: {master: sw2, requests: [{stream: f2, at: 5 ms}]}
streams:
  - {name: f2, talker: n1, listeners: n2, payload: 64 B, traffic: {type: periodic, interval: 500 us}}
";
    assert!(codes(text).contains(&"form::conflict"), "{:?}", codes(text));
    let free = text.replace("credit-based, idle-slope: 12067249 bit/s", "strict-priority");
    assert!(!codes(&free).contains(&"form::conflict"), "{:?}", codes(&free));
}

/// An eligibility time beyond all instants ended the run.
#[test]
fn a_frame_that_is_eligible_after_all_times_is_never_sent() {
    let (_, _, seen, found) = answer(&text("ats-ticks-of-a-day.yaml"));
    assert!(found.contradictions.is_empty(), "{:#?}", found.contradictions);
    assert!(seen.streams[0].created > 240, "frames for more than 213 ticks: {}", seen.streams[0].created);
}
