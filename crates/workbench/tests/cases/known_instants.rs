//! Bounds of scheduled streams by lists and offsets alone, worked out by hand to the picosecond.
//!
//! A station sends over a switch, which takes 4 us; the switch's port to the listener has gates, with a cycle of 500 us. 200 octets of
//! payload are 18.4 us on a line of 100 Mbit/s with their preamble, and a gap of 0.96 us is behind them. Released at 10 us, a frame is queued
//! behind the gates at 32.4 us.

use tautwire_workbench::{Bounds, Network, Verdict, explain};

use super::answer;

const NS: u64 = 1_000;

/// The network with this list and these streams: name, talker, class, octets, traffic.
fn text(list: &str, gates: &str, streams: &[(&str, &str, u8, u32, &str)]) -> String {
    let mut text = format!(
        "vlans: {{1: {{tagged: all}}}}
devices: {{switch: {{stages: [{{name: forwarding, position: processing, latency: 4 us}}]}}}}
defaults: {{rate: 100 Mbit/s, device: switch, traffic-class-table: identity}}
nodes:
  a: {{type: end-station}}
  c: {{type: end-station}}
  d: {{type: end-station}}
  s: {{type: bridge, ports: {{a: {{}}, c: {{}}, d: {{}}, b: {{gate-parameter-table: {{gate-enabled: true, {gates} admin-control-list: [{list}]}}}}}}}}
  b: {{type: end-station}}
links: [{{between: [a, \"s:a\"]}}, {{between: [c, \"s:c\"]}}, {{between: [d, \"s:d\"]}}, {{between: [\"s:b\", b]}}]
run: {{duration: 30 ms}}
streams:
"
    );
    for (name, talker, class, octets, traffic) in streams {
        text += &format!(
            "  - {{name: {name}, talker: {talker}, listeners: b, priority: {class}, payload: {octets} B, traffic: {{type: periodic, {traffic}}}}}\n"
        );
    }
    text
}

fn entry(states: &str, ns: u64) -> String {
    format!("{{gate-states: {states}, time-interval: {ns} ns}}")
}

/// A window of class 7, with class 0 in the rest of the cycle.
fn window(from: u64, to: u64) -> String {
    [entry("[0]", from), entry("[7]", to - from), entry("[0]", 500 * NS - to)].join(", ")
}

const ORDER: (&str, &str, u8, u32, &str) = ("order", "a", 7, 200, "interval: 500 us, offset: 10 us");
const FILL: (&str, &str, u8, u32, &str) = ("fill", "d", 0, 1_500, "interval: 400 us");

/// Least and greatest delay of a stream, nanoseconds, and those of a run that nothing contradicts.
fn spans(text: &str, stream: usize) -> ((u64, u64), (u64, u64)) {
    let (network, bounds, seen, verification) = answer(text);
    assert!(verification.contradictions.is_empty(), "{:?}", verification.contradictions);
    let (proven, seen) = (&bounds.streams[stream].listeners[0], &seen.streams[stream].listeners[0].delay);
    let most = proven.delay.clone().unwrap_or_else(|why| panic!("{}", why.text(&network)));
    let ns = |time: tautwire_workbench::Duration| time.as_ps() / 1_000;
    ((ns(proven.delay_min), ns(most)), (ns(seen.min().expect("frames")), ns(seen.max().expect("frames"))))
}

#[test]
fn a_frame_that_meets_its_window_takes_the_same_time_whatever_others_send() {
    // Its last bit is out as the gate shuts, and the gap behind what was under way before its gate opened is over.
    let met = spans(&text(&window(31_440, 50_800), "", &[ORDER, FILL]), 0);
    assert_eq!(met, ((40_800, 40_800), (40_800, 40_800)));
    // It waits for a gate that opens behind it, and at worst for a gap.
    let (late, (_, seen)) = spans(&text(&window(40_000, 60_000), "", &[ORDER, FILL]), 0);
    assert_eq!(late, (48_400, 48_400 + 960));
    assert!(seen <= late.1);
}

#[test]
fn a_window_that_shuts_a_nanosecond_early_costs_a_cycle() {
    let (missed, (least, _)) = spans(&text(&window(20_000, 50_799), "", &[ORDER, FILL]), 0);
    assert_eq!(missed, (528_400, 528_400 + 960), "the one before it is under way when it comes");
    assert!(least >= missed.0);
}

#[test]
fn a_lower_frame_blocks_where_its_gate_is_open_across_the_opening() {
    // Class 0 is open all the time: its frame of 1522 octets, 123.36 us with preamble and gap, runs from just before 40 us on, at worst.
    let open = [entry("[0]", 40_000), entry("[7, 0]", 200_000), entry("[0]", 260_000)].join(", ");
    let ((least, most), (_, seen)) = spans(&text(&open, "", &[ORDER, FILL]), 0);
    assert_eq!((least, most), (48_400, 48_400 + 123_360), "up to a frame behind the opening");
    assert!(seen <= most);
}

#[test]
fn frames_of_one_window_wait_for_each_other() {
    let list = window(30_000, 90_000);
    let second = ("second", "c", 7, 200, "interval: 500 us, offset: 10 us");
    let text = text(&list, "", &[ORDER, second, FILL]);
    // Both are queued at one instant: either may be first.
    for stream in [0, 1] {
        let (proven, _) = spans(&text, stream);
        assert_eq!(proven, (40_800, 40_800 + 19_360));
    }
}

#[test]
fn a_stream_of_the_class_that_is_not_scheduled_is_before_it_with_all_that_it_may_have() {
    let list = window(30_000, 200_000);
    let other = ("other", "c", 7, 200, "interval: 10 ms");
    let ((least, most), _) = spans(&text(&list, "", &[ORDER, other]), 0);
    assert_eq!(least, 40_800);
    assert!((40_800 + 19_360..40_800 + 2 * 19_360).contains(&most), "one frame of it: {most}");
}

#[test]
fn a_period_of_two_cycles_and_thirds_of_a_millisecond_are_counted() {
    let thirds = [entry("[7]", 60_000), entry("[0]", 273_333)].join(", ");
    let order = ("order", "a", 7, 200, "interval: 1 ms, offset: 10 us");
    let (proven, seen) = spans(&text(&thirds, "admin-cycle-time: 1/3 ms,", &[order]), 0);
    assert_eq!((proven, seen), ((40_800, 40_800), (40_800, 40_800)));
}

fn told(network: &Network, bounds: &Bounds) -> String {
    explain(network, bounds, tautwire_workbench::network::StreamIndex(0)).to_string()
}

#[test]
fn what_is_not_known_is_told() {
    let list = window(30_000, 120_000);
    let plain = text(&list, "", &[ORDER, FILL]);
    let (network, bounds, ..) = answer(&plain);
    let all = told(&network, &bounds);
    assert!(all.contains("in its window from 30 us to 120 us of the cycle"), "{all}");
    for (from, to, why) in [
        ("offset: 10 us", "jitter: 1 us", "not periodic with a stated offset"),
        ("a: {type: end-station}", "a: {type: end-station, clock: {tolerance: 1 ppm}}", "not true"),
        ("interval: 500 us, offset", "interval: 499999 ns, offset", "common multiple"),
        ("run:", "events: [{at: 5100 us, start-stream: order}]\nrun:", "starts again in another phase"),
        (
            "identity}",
            "identity, frame-preemption-parameters: {frame-preemption-status-table: {priority0: preemptable}}}",
            "by curves, frames may be cut there",
        ),
    ] {
        let changed = plain.replacen(from, to, 1);
        assert_ne!(changed, plain, "{from}");
        let (network, bounds, ..) = answer(&changed);
        let all = told(&network, &bounds);
        assert!(all.contains(why), "{why}: {all}");
        let most = bounds.streams[0].listeners[0].delay.clone().expect("curves bound it");
        assert!(most.as_ps() > 400_000_000, "any phase: {most}");
    }
}

#[test]
fn frames_before_the_first_cycle_are_bounded_by_curves() {
    let ((least, most), _) =
        spans(&text(&window(30_000, 120_000), "admin-base-time: 2 ms,", &[ORDER, FILL]), 0);
    assert!(least <= 40_800 && most > 500_000, "{most}");
}

/// A schedule that another tool made runs in its windows, and its delays are the bounds. A lower frame that ends when a window opens
/// leaves its gap in it, and nothing more.
#[test]
fn a_schedule_of_tsnkit_meets_its_windows() {
    let alone = super::text("tsnkit-line.yaml");
    let fill = "
  - {name: disk, talker: e4, listeners: e5, priority: 0, payload: 1500 B, traffic: {type: periodic, interval: 37 us}}
  - {name: log, talker: e5, listeners: e3, priority: 0, payload: 900 B, traffic: {type: periodic, interval: 41 us}}
run:";
    for (text, gap) in [(alone.clone(), 0), (alone.replace("\nrun:", fill), 96)] {
        let (network, bounds, seen, verification) = answer(&text);
        assert!(verification.contradictions.is_empty(), "{:?}", verification.contradictions);
        for (number, stream) in network.streams.iter().enumerate().take(6) {
            let planned = stream.deadline.expect("each has one").as_ps();
            let listener = &bounds.streams[number].listeners[0];
            let most = listener.delay.clone().unwrap_or_else(|why| panic!("{}", why.text(&network)));
            assert_eq!(most.as_ps(), planned + gap * NS, "{}", stream.name);
            let delay = &seen.streams[number].listeners[0].delay;
            let most = delay.max().expect("frames").as_ps();
            assert!(planned <= most && most <= planned + gap * NS, "{}", stream.name);
            let is_proven = verification.streams[number].verdict == Verdict::Proven;
            assert_eq!(is_proven, gap == 0, "{}", stream.name);
        }
        let gates = seen.mechanisms.of::<tautwire_sim::GatesObservation>().expect("gates");
        assert!(gates.ports.iter().all(|port| port.transmission_overrun == [0; 8]));
    }
}

/// An offset counts from the event that starts the stream: released at 3050 us and every 500 us, a frame is queued 72.4 us behind the begin of a cycle.
#[test]
fn a_stream_that_an_event_starts_has_known_instants() {
    let started = |window: &str, events: &str| {
        let text = text(window, "", &[ORDER]).replace("name: order,", "name: order, started: false,");
        spans(&(text + &format!("events: [{{at: 3040 us, start-stream: order}}{events}]\n")), 0)
    };
    let fits = window(72_400, 172_400);
    assert_eq!(started(&fits, ""), ((40_800, 40_800), (40_800, 40_800)));
    // It stops, and starts again a whole number of intervals later.
    let again = ", {at: 9 ms, stop-stream: order}, {at: 12040 us, start-stream: order}";
    assert_eq!(started(&fits, again), ((40_800, 40_800), (40_800, 40_800)));
    // A window for the offset alone is 460 us later.
    let ((least, most), _) = started(&window(32_400, 52_000), "");
    assert_eq!((least, most), (500_800, 500_800));
    // In another phase nothing is known, and the bound contains the wait for a window.
    let other = ", {at: 9 ms, stop-stream: order}, {at: 12140 us, start-stream: order}";
    let ((_, most), _) = started(&fits, other);
    assert!(most > 400_000, "{most}");
}

/// Three bridges in a ring: each stream goes over all of them from its station to that of the bridge before, so every cable of the ring comes behind
/// another. Without waiting a frame takes four times 18.4 us and three times 4 us.
#[test]
fn a_ring_of_bridges_is_proven_by_its_lists_and_offsets() {
    let list = [entry("[0]", 20_000), entry("[7]", 120_000), entry("[0]", 360_000)].join(", ");
    let gated = |next: &str, before: &str| {
        format!(
            "{before}: {{}}, {next}: {{gate-parameter-table: {{gate-enabled: true, admin-control-list: [{list}]}}}}"
        )
    };
    let text = |offset: &str| {
        let mut text = "vlans: {1: {tagged: all}}
devices: {switch: {stages: [{name: forwarding, position: processing, latency: 4 us}]}}
defaults: {rate: 100 Mbit/s, device: switch, traffic-class-table: identity}
run: {duration: 30 ms}
nodes:
"
        .to_owned();
        for (bridge, station, next, before) in
            [("x", "a", "y", "z"), ("y", "b", "z", "x"), ("z", "c", "x", "y")]
        {
            text += &format!("  {station}: {{type: end-station}}\n");
            text += &format!(
                "  {bridge}: {{type: bridge, ports: {{{station}: {{}}, {}}}}}\n",
                gated(next, before)
            );
        }
        text += "links: [{between: [a, \"x:a\"]}, {between: [b, \"y:b\"]}, {between: [c, \"z:c\"]},
  {between: [\"x:y\", \"y:x\"]}, {between: [\"y:z\", \"z:y\"]}, {between: [\"z:x\", \"x:z\"]}]
streams:
";
        for (name, talker, listener, route, offset) in [
            ("one", "a", "c", "x, y, z", offset),
            ("two", "b", "a", "y, z, x", "0 us"),
            ("three", "c", "b", "z, x, y", "0 us"),
        ] {
            text += &format!(
                "  - {{name: {name}, talker: {talker}, listeners: {listener}, route: [{route}], priority: 7, payload: 200 B, \
                 traffic: {{type: periodic, interval: 500 us, offset: {offset}}}}}\n"
            );
        }
        text
    };
    let least = 4 * 18_400 + 3 * 4_000;
    for stream in 0..3 {
        assert_eq!(spans(&text("0 us"), stream), ((least, least), (least, least)), "{stream}");
    }
    // Released 22.4 us later, the first frame comes to the port to y at the same instant as the third: either may wait for the other.
    let other = 18_400 + 960;
    for (stream, most) in [(0, least + other), (1, least), (2, least + other)] {
        let (proven, (_, seen)) = spans(&text("22.4 us"), stream);
        assert_eq!(proven, (least, most), "{stream}");
        assert!(seen <= most);
    }
    let seen = [0, 2].map(|stream| spans(&text("22.4 us"), stream).1.1);
    assert!(seen.contains(&(least + other)), "{seen:?}");
}
