//! Bounds worked out by hand, one network each: devices without delay, perfect clocks.

use tautwire_analysis::{Accuracy, Bounds, Method, Unbounded, bounds, bounds_by, explain};
use tautwire_model::Network;
use tautwire_model::network::StreamIndex;
use tautwire_units::{Bits, Duration};

fn network(body: &str) -> Network {
    let text = format!(
        "name: by-hand\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\ndefaults:\n  rate: 1 Gbit/s\n  device: ideal\n  \
         traffic-class-table: identity\n{body}\nrun: {{duration: 10 ms}}\n"
    );
    let loaded = tautwire_model::load_text("by-hand", &text);
    assert!(!loaded.has_errors(), "{:#?}\n{text}", loaded.diagnostics);
    loaded.network.expect("a network without errors")
}

/// One bridge with end stations a, b, c, d; `defaults` of the bridge's classes.
fn star(classes: &str, streams: &str) -> Network {
    network(&format!(
        "nodes:\n  s: {{type: bridge{classes}}}\n  a: {{type: end-station}}\n  b: {{type: end-station}}\n  \
         c: {{type: end-station}}\n  d: {{type: end-station}}\nlinks:\n  - {{between: [a, s]}}\n  \
         - {{between: [b, s]}}\n  - {{between: [c, s]}}\n  - {{between: [d, s]}}\nstreams:\n{streams}"
    ))
}

/// A stream of frames of 1500 octets of data, tagged: 12.336 us on a line of 1 Gbit/s.
fn stream(name: &str, talker: &str, priority: u8, more: &str) -> String {
    format!(
        "  - {{name: {name}, talker: {talker}, listeners: d, priority: {priority}, payload: 1500 B, {more}}}\n"
    )
}

const EVERY_MS: &str = "traffic: {type: periodic, interval: 1 ms}";

fn delay_ns(bounds: &Bounds, stream: usize) -> u64 {
    let delay = bounds.streams[stream].listeners[0].delay.as_ref().expect("a bound");
    (delay.as_ps() + 500) / 1_000
}

fn hop_ns(bounds: &Bounds, stream: usize, hop: usize) -> u64 {
    bounds.streams[stream].hops[hop].delay.as_ref().expect("a bound").as_ps() / 1_000
}

/// Last bit of a frame behind its first: preamble and 1522 octets.
const SENT_NS: u64 = 12_240;

#[test]
fn a_lone_stream_takes_its_transmissions() {
    let network = star("", &stream("one", "a", 0, EVERY_MS));
    let bounds = bounds(&network);
    assert_eq!(delay_ns(&bounds, 0), 2 * SENT_NS);
    let listener = &bounds.streams[0].listeners[0];
    assert_eq!(listener.delay_min, Duration::from_ns(2 * SENT_NS));
    assert_eq!(listener.jitter(), Some(Duration::ZERO));
    assert_eq!(bounds.streams[0].hops[1].method, Method::StrictPriorityTokenBucket);
}

#[test]
fn a_lower_frame_blocks_once_at_every_port_that_both_pass() {
    let streams = stream("high", "a", 6, EVERY_MS) + &stream("low", "b", 2, EVERY_MS);
    let bounds = bounds(&star("", &streams));
    assert_eq!(delay_ns(&bounds, 0), 2 * SENT_NS + 12_336);
    // Below: one higher frame before it; the next comes a millisecond later.
    assert_eq!(delay_ns(&bounds, 1), 2 * SENT_NS + 12_336);
}

/// Four higher streams come by the link of the observed one. What they send before it has been sent on when it comes, and what they send
/// behind it comes one behind the other.
#[test]
fn classes_that_come_by_one_link_are_counted_together() {
    let higher: String = (0..4).map(|n| stream(&format!("high{n}"), "a", 6, EVERY_MS)).collect();
    let one_link = higher + &stream("low", "a", 2, EVERY_MS);
    let at_bridge = |more: &str| {
        let network = star("", &(one_link.clone() + more));
        let bounds = bounds(&network);
        assert_eq!(hop_ns(&bounds, 4, 0), SENT_NS + 4 * 12_336, "at the talker all four go first");
        let hop = &bounds.streams[4].hops[1];
        let text = explain(&network, &bounds, StreamIndex(4)).to_string();
        assert_eq!(
            text.contains("of all classes by one link no more than that carries"),
            hop.method == Method::StrictPriorityByLinks
        );
        (hop_ns(&bounds, 4, 1) - SENT_NS, hop.method)
    };
    assert_eq!(at_bridge(""), (0, Method::StrictPriorityByLinks), "nothing is there that holds it up");
    let short = stream("short", "b", 0, EVERY_MS).replace("1500 B", "500 B");
    assert_eq!(
        at_bridge(&short),
        (4_336, Method::StrictPriorityByLinks),
        "when the lower frame is sent, no higher one is there completely"
    );
    let long = stream("long", "b", 0, EVERY_MS);
    assert_eq!(at_bridge(&long).0, 5 * 12_336, "each higher frame is there when the one before it is sent");
    let of_b = short + &stream("other", "b", 6, EVERY_MS);
    assert_eq!(
        at_bridge(&of_b).0,
        4_336 + 5 * 12_336,
        "during the other link's frame the first of its own link comes, and so on"
    );
}

/// Equations 2 to 4 of the published switch: queueing at the second hop, 12.336 and 27.413 us.
#[test]
fn the_published_switch_under_ats() {
    let shaped = "shaper: {committed-information-rate: 100 Mbit/s, committed-burst-size: 1542 B}";
    let greedy = "traffic: {type: greedy}, arrival-curve: {rate: 100 Mbit/s, burst: 12336 bit}, ";
    let ats = ", classes: {7: {transmission-selection: ats}, 6: {transmission-selection: ats}}";
    let of = |accuracy: Accuracy, streams: &[(&str, &str, u8)]| {
        let text: String = streams
            .iter()
            .map(|(name, talker, priority)| stream(name, talker, *priority, &format!("{greedy}{shaped}")))
            .collect();
        bounds_by(&star(ats, &text), accuracy)
    };
    let against_best_effort = of(Accuracy::Frames, &[("f", "a", 7), ("rest", "b", 5)]);
    assert_eq!(delay_ns(&against_best_effort, 0), 2 * SENT_NS + 12_336);
    assert_eq!(against_best_effort.streams[0].hops[1].method, Method::AtsContention);
    let two_of_a_class = of(Accuracy::Frames, &[("f", "a", 7), ("g", "b", 7)]);
    assert_eq!(delay_ns(&two_of_a_class, 0), 2 * SENT_NS + 12_336);
    let below = of(Accuracy::Curves, &[("f", "a", 7), ("g", "b", 6), ("rest", "c", 5)]);
    assert_eq!(delay_ns(&below, 1), 2 * SENT_NS + 27_413);
    // The next frame above comes 123 us later: of its rate nothing counts.
    let below = of(Accuracy::Frames, &[("f", "a", 7), ("g", "b", 6), ("rest", "c", 5)]);
    assert_eq!(delay_ns(&below, 1), 2 * SENT_NS + 2 * 12_336);
    assert_eq!(below.streams[1].hops[1].method, Method::AtsFrameByFrame);
}

#[test]
fn a_burst_of_its_own_waits_at_the_talker_and_comes_spaced() {
    let network = star("", &stream("four", "a", 0, "traffic: {type: periodic, interval: 1 ms, burst: 4}"));
    let bounds = bounds(&network);
    assert_eq!(hop_ns(&bounds, 0, 0), 3 * 12_336 + SENT_NS);
    // The line spaces the burst: behind the bridge no frame waits for another.
    assert_eq!(hop_ns(&bounds, 0, 1), SENT_NS);
    assert_eq!(bounds.streams[0].hops[1].method, Method::StrictPriorityLineShaping);
}

#[test]
fn two_bursts_that_meet_wait_for_what_both_lines_bring() {
    let burst = "traffic: {type: periodic, interval: 10 ms, burst: 4}";
    let streams = stream("one", "a", 0, burst) + &stream("other", "b", 0, burst);
    let bounds = bounds(&star("", &streams));
    // Eight frames, the first two at once and the last two 3 line times later: four times 12.336 us.
    // In addition only what the streams' rate adds while the burst comes (4.9 Mbit/s for 37 us, twice).
    let wait = hop_ns(&bounds, 0, 1) - SENT_NS;
    assert!((4 * 12_336..4 * 12_336 + 2 * 184).contains(&wait), "{wait}");
}

#[test]
fn a_credit_based_class_waits_for_its_credit() {
    let classes = ", classes: {5: {transmission-selection: credit-based, idle-slope: 500 Mbit/s}}";
    let streams = stream("shaped", "a", 5, EVERY_MS) + &stream("low", "b", 0, EVERY_MS);
    let bounds = bounds(&star(classes, &streams));
    // V_max/I is one lower frame; a picosecond for the shaper's wake-up.
    assert_eq!(hop_ns(&bounds, 0, 1), 12_336 + SENT_NS);
    assert_eq!(bounds.streams[0].hops[1].method, Method::CreditBased);
    let port = &bounds.ports[3][5];
    assert_eq!(port.hi_credit_bits, Some(6_169), "half of 12336, and a picosecond");
    assert_eq!(port.lo_credit_bits, Some(-6_169));
    // The class below: what its debt lets it send at once, and half the line.
    assert_eq!(hop_ns(&bounds, 1, 1), 12_336 + SENT_NS);
}

#[test]
fn a_multicast_frame_counts_once_at_a_port() {
    let one = "  - {name: many, talker: a, listeners: [c, d], priority: 3, payload: 1500 B, traffic: {type: periodic, interval: 1 ms}}\n";
    let streams = one.to_owned() + &stream("other", "b", 3, EVERY_MS);
    let bounds = bounds(&star("", &streams));
    assert_eq!(hop_ns(&bounds, 1, 1), 12_336 + SENT_NS);
    let many = &bounds.streams[0];
    let alone = many.hops.iter().filter(|hop| hop.delay == Ok(Duration::from_ns(SENT_NS))).count();
    assert_eq!(alone, 2, "at the talker and at the port to c");
}

#[test]
fn lanes_in_turn_bring_one_frame_each() {
    let devices = "devices:\n  turns: {based-on: ideal, tie-rule: round-robin}\n";
    let nodes = "nodes:\n  s: {type: bridge, device: turns}\n  a: {type: end-station}\n  b: {type: end-station}\n  c: {type: end-station}\n  d: {type: end-station}\nlinks:\n  - {between: [a, s]}\n  - {between: [b, s]}\n  - {between: [c, s]}\n  - {between: [d, s]}\nstreams:\n";
    let burst = "traffic: {type: periodic, interval: 10 ms, burst: 20}";
    let streams =
        stream("one", "a", 0, EVERY_MS) + &stream("burst", "b", 0, burst) + &stream("more", "c", 0, burst);
    let bounds = bounds(&network(&format!("{devices}{nodes}{streams}")));
    assert_eq!(hop_ns(&bounds, 0, 1), 2 * 12_336 + SENT_NS, "one frame of each other port");
    assert_eq!(bounds.streams[0].hops[1].method, Method::BusyPeriod);
}

#[test]
fn overload_of_a_port_is_reported_with_port_and_class() {
    let half = "traffic: {type: constant-rate, rate: 600 Mbit/s}";
    let text = format!(
        "name: by-hand\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\ndefaults: {{rate: 1 Gbit/s, device: ideal, traffic-class-table: identity}}\n\
         nodes:\n  s: {{type: bridge}}\n  a: {{type: end-station}}\n  b: {{type: end-station}}\n  d: {{type: end-station}}\n\
         links:\n  - {{between: [a, s]}}\n  - {{between: [b, s]}}\n  - {{between: [d, s]}}\nstreams:\n{}{}{}run: {{duration: 1 ms}}\n",
        stream("one", "a", 3, half),
        stream("other", "b", 3, half),
        stream("above", "a", 6, EVERY_MS),
    );
    // An overloaded link is an error of the description; the bounds must know it all the same.
    let loaded = tautwire_model::load_text("by-hand", &text);
    let Some(network) = loaded.network else { return assert!(loaded.has_errors()) };
    let bounds = bounds(&network);
    assert!(
        matches!(bounds.streams[0].listeners[0].delay, Err(Unbounded::Overload { class, .. }) if class.number() == 3)
    );
    assert!(bounds.streams[2].listeners[0].delay.is_ok(), "a class above is not touched");
}

#[test]
fn traffic_without_a_promise_spoils_its_class_and_those_below() {
    let poisson = "traffic: {type: poisson, mean-interval: 1 ms}";
    let streams = stream("wild", "a", 3, poisson)
        + &stream("below", "a", 2, EVERY_MS)
        + &stream("above", "a", 6, EVERY_MS);
    let bounds = bounds(&star("", &streams));
    for stream in [0, 1] {
        let reason = &bounds.streams[stream].listeners[0].delay;
        assert!(
            matches!(reason, Err(Unbounded::NoArrivalCurve { stream: StreamIndex(0), .. })),
            "{reason:?}"
        );
    }
    assert_eq!(delay_ns(&bounds, 2), 2 * SENT_NS + 2 * 12_336);
}

#[test]
fn a_shaper_that_does_not_cover_its_stream_is_reported() {
    let slow = "traffic: {type: periodic, interval: 1 ms}, shaper: {committed-information-rate: 12 Mbit/s, committed-burst-size: 1542 B}";
    let ats = ", classes: {6: {transmission-selection: ats}}";
    let text = stream("held", "a", 6, slow) + &stream("other", "b", 2, EVERY_MS);
    let network = star(ats, &text);
    let bounds = bounds(&network);
    assert!(matches!(bounds.streams[0].listeners[0].delay, Err(Unbounded::ShaperTooSlow { .. })));
    assert!(bounds.streams[1].listeners[0].delay.is_ok(), "what the shaper lets through is bounded");
}

/// Three bridges in a ring, every stream two bridges far: each port waits for the one before it.
fn ring(load_mbps: u64) -> Bounds {
    let mut text = String::from("nodes:\n");
    for number in 0..3 {
        text += &format!("  s{number}: {{type: bridge}}\n  e{number}: {{type: end-station}}\n");
    }
    text += "links:\n";
    for number in 0..3 {
        text += &format!(
            "  - {{name: r{number}, between: [s{number}, s{}]}}\n  - {{between: [e{number}, s{number}]}}\n",
            (number + 1) % 3
        );
    }
    text += "streams:\n";
    for number in 0..3 {
        let route: Vec<String> =
            [number, number + 1, number + 2].iter().map(|node| format!("s{}", node % 3)).collect();
        text += &format!(
            "  - {{name: f{number}, talker: e{number}, listeners: e{}, payload: 1500 B, route: [e{number}, {}, e{}], traffic: {{type: constant-rate, rate: {load_mbps} Mbit/s}}}}\n",
            (number + 2) % 3,
            route.join(", "),
            (number + 2) % 3,
        );
    }
    bounds(&network(&text))
}

#[test]
fn a_ring_comes_to_rest() {
    let light = ring(100);
    let heavy = ring(490);
    for stream in 0..3 {
        let (light, heavy) = (delay_ns(&light, stream), delay_ns(&heavy, stream));
        assert!(light >= 4 * SENT_NS + 2 * 12_336, "{light}");
        assert!(heavy >= light, "{heavy} and {light}");
    }
    // All three streams are alike.
    assert_eq!(light.streams[0].listeners, light.streams[1].listeners);
}

#[test]
fn an_explanation_names_what_goes_first_and_adds_up() {
    let streams = stream("mine", "a", 5, EVERY_MS)
        + &stream("above", "b", 6, EVERY_MS)
        + &stream("beside", "c", 5, EVERY_MS)
        + &stream("below", "b", 1, EVERY_MS);
    let network = star("", &streams);
    let bounds = bounds(&network);
    let story = explain(&network, &bounds, StreamIndex(0));
    let hop = &story.hops[1];
    let names =
        |parts: &[tautwire_analysis::Part]| parts.iter().map(|part| part.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&hop.higher), ["above"]);
    assert_eq!(names(&hop.same), ["mine", "beside"]);
    assert_eq!(
        hop.blocking.as_ref().map(|part| (part.name.as_str(), part.bits)),
        Some(("below", Some(Bits::new(12_336))))
    );
    for hop in &story.hops {
        let sum = hop.times.iter().fold(Duration::ZERO, |sum, (_, time)| sum + *time);
        assert_eq!(Ok(sum), hop.bounds.delay, "{hop}");
    }
    let text = story.to_string();
    for word in ["stream mine", "s.", "above", "beside", "below", "Specht and Samii"] {
        assert!(text.contains(word), "{word} in\n{text}");
    }
}

/// Of three sub-virtual-links, one regulator lets a frame go a BAG: another link waits for one of them, not for three.
#[test]
fn sub_virtual_links_bring_one_frame_a_bag_together() {
    let link = |name: &str, more: &str| {
        format!(
            "  - {{name: {name}, talker: a, listeners: d, priority: 3, payload: 1500 B, traffic: {{type: periodic, \
             interval: 16 ms}}, virtual-link: {{bag: 4 ms, {more}}}}}\n"
        )
    };
    let shared: String =
        (1..=3).map(|sub| link(&format!("s{sub}"), &format!("id: 1, sub-link: {sub}"))).collect();
    let apart: String = (1..=3).map(|id| link(&format!("s{id}"), &format!("id: {id}"))).collect();
    let other = link("other", "id: 9");
    // Without a tag: 1538 octets of the wire.
    let (frame, sent) = (12_304, 12_208);
    let of = |streams: &str| hop_ns(&bounds(&star("", streams)), 3, 0);
    assert_eq!(of(&(apart + &other)), 3 * frame + sent);
    assert_eq!(of(&(shared + &other)), frame + sent);
}

/// Gates of two bridges shut until their first cycles, 2 ms ahead, and are open in these. A frame that has waited for that of the first bridge finds the
/// other's under way.
#[test]
fn a_first_cycle_is_waited_for_once() {
    let gates = |base: &str| {
        format!(
            "{{type: bridge, gate-parameter-table: {{gate-enabled: true, admin-base-time: {base}, admin-gate-states: [], \
             admin-control-list: [{{gate-states: 255, time-interval: 1 ms}}]}}}}"
        )
    };
    let line = |first: &str, second: &str| {
        network(&format!(
            "nodes:\n  s: {}\n  t: {}\n  a: {{type: end-station}}\n  d: {{type: end-station}}\nlinks:\n  - {{between: [a, s]}}\n  \
             - {{between: [s, t]}}\n  - {{between: [t, d]}}\nstreams:\n{}",
            gates(first),
            gates(second),
            stream("one", "a", 0, "traffic: {type: periodic, interval: 10 ms}"),
        ))
    };
    let network = line("2 ms", "2 ms");
    let both = bounds(&network);
    // It is at the first bridge within a transmission, and leaves it 2 ms later; the second starts it at once.
    let expected = SENT_NS + 2_000_000 + 2 * SENT_NS;
    assert_eq!(delay_ns(&both, 0), expected);
    assert_eq!(hop_ns(&both, 0, 2), 2_000_000 + SENT_NS, "of another that comes when the run begins");
    let text = explain(&network, &both, StreamIndex(0)).to_string();
    assert!(text.contains("what has waited for a first cycle before"), "{text}");
    // The second begins 3 ms later than the first: behind a frame that may have begun before it, and then one transmission.
    let later = bounds(&line("2 ms", "5 ms"));
    assert_eq!(delay_ns(&later, 0), 5_000_000 + 12_336 + SENT_NS);
    let earlier = bounds(&line("5 ms", "2 ms"));
    assert_eq!(delay_ns(&earlier, 0), SENT_NS + 5_000_000 + 2 * SENT_NS);
}
