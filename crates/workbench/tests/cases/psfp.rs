//! Stream filters, stream gates and flow meters, from the description to what each frame became.
//!
//! Stations send single frames over cables of no length at 1 Gbit/s to one bridge: the last bit of a frame of 1500 octets is in
//! 12.064 us after its offset.

use tautwire_sim::{DropReason, StreamFiltersObservation};
use tautwire_workbench::network::StreamIndex;
use tautwire_workbench::{Driver, Network, Observation, Options, bounds, limits, losses, simulate, verify};

use super::{codes, network};

/// Stations `a0`, `a1`... that each send one frame at a time (microseconds) of so many octets, over `s` (with `keys`) and `t` (with more)
/// to `b`. Frames of priority 3, tagged everywhere.
fn description(frames: &[(f64, u32)], keys: &str, more: &str) -> String {
    let stations = |what: &dyn Fn(usize) -> String| (0..frames.len()).map(what).collect::<String>();
    let names: Vec<String> = (0..frames.len()).map(|number| format!("f{number}")).collect();
    let all = names.join(", ");
    format!(
        "vlans: {{1: {{tagged: all}}}}
defaults: {{rate: 1 Gbit/s, traffic-class-table: identity}}
nodes:
{}  b: {{type: end-station}}
  s: {{type: bridge, {}}}
  t: {{type: bridge, {}}}
links: [{}{{between: [s, t]}}, {{between: [t, b]}}]
run: {{duration: 30 ms}}
streams:
{}",
        stations(&|number| format!("  a{number}: {{type: end-station}}\n")),
        keys.replace("ALL", &all),
        more.replace("ALL", &all),
        stations(&|number| format!("{{between: [a{number}, s]}}, ")),
        stations(&|number| {
            let (at, octets) = frames[number];
            format!(
                "  - {{name: f{number}, talker: a{number}, listeners: b, priority: 3, frame: {octets} B, traffic: {{type: periodic, interval: 1 s, offset: {} ns}}}}\n",
                (at * 1_000.0).round()
            )
        }),
    )
}

fn run(text: &str) -> (Network, Observation) {
    let network = network(text);
    let observation = simulate(&network, &mut Options::default());
    for driver in [Driver::Plain, Driver::Spurious] {
        let again = simulate(&network, &mut Options { driver, ..Options::default() });
        assert_eq!(again, observation, "{text}");
    }
    let all = bounds(&network);
    assert_eq!(verify(&network, &all, &observation).contradictions, [], "{text}");
    // What is lost to a filter is told as a limit.
    let limits = losses(&network, &all);
    for (number, stream) in observation.streams.iter().enumerate() {
        let lost = stream.dropped.iter().any(|(_, count)| *count > 0);
        assert!(!lost || limits.may_be_lost(StreamIndex::at(number), 0), "{number}: {text}");
    }
    (network, observation)
}

fn filters(observation: &Observation) -> &StreamFiltersObservation {
    observation.mechanisms.of().expect("stream filters")
}

/// Which frames arrived.
fn passed(observation: &Observation) -> Vec<bool> {
    observation.streams.iter().map(|stream| stream.delivered == 1).collect()
}

const METER: &str = "stream-filters: {stream-filter-instance-table: {1: {stream-handle: [ALL], flow-meter-ref: 7}}},
    flow-meters: {flow-meter-instance-table: {7: {committed-information-rate: 8 Mbit/s, committed-burst-size: 3000 B,
      excess-information-rate: 4 Mbit/s, excess-burst-size: 2000 B, color-mode: color-blind";

/// Case O7: colours G G Y R R G R Y. A second meter that sees colours, and passes no yellow, tells them apart.
#[test]
fn two_rates_give_three_colours() {
    let times = [0.0, 0.0, 0.0, 0.0, 1_000.0, 1_600.0, 1_700.0, 2_000.0].map(|at| (at, 1_500));
    let (_, seen) = run(&description(&times, &format!("{METER}}}}}}}"), "ports: [s, b]"));
    assert_eq!(passed(&seen), [true, true, true, false, false, true, false, true]);
    let counters = filters(&seen).bridges[0].filters[0].1;
    assert_eq!((counters.matching, counters.passing, counters.red), (8, 8, 3));
    assert_eq!(seen.streams[3].dropped, [(DropReason::Red, 1)]);
    // At the end both buckets are full again.
    assert_eq!(filters(&seen).bridges[0].meters, [(7, (3_000, 2_000), false)]);
    let strict = description(&times, &format!("{METER}, drop-on-yellow: true}}}}}}"), "ports: [s, b]");
    let (_, seen) = run(&strict);
    assert_eq!(passed(&seen), [true, true, false, false, false, true, false, false]);
    assert_eq!(filters(&seen).bridges[0].filters[0].1.red, 5);
    let aware = "stream-filters: {stream-filter-instance-table: {1: {flow-meter-ref: 1}}}, flow-meters: {flow-meter-instance-table: {1:
      {committed-information-rate: 1 Gbit/s, committed-burst-size: 1 MB, color-mode: color-aware}}}";
    let (_, seen) = run(&description(&times, &format!("{METER}}}}}}}"), aware));
    assert_eq!(passed(&seen), [true, true, false, false, false, true, false, false]);
    // A frame that loses its tag loses its colour.
    let untagged = description(&times, &format!("{METER}}}}}}}"), aware)
        .replace("vlans: {1: {tagged: all}}", "vlans: {1: {untagged: all}}");
    let (_, seen) = run(&untagged.replace("priority: 3", "priority: 0"));
    assert_eq!(passed(&seen).iter().filter(|passes| **passes).count(), 5);
}

/// Frames of four stations meet at one gate: the first whose last bit is in takes of the interval's octets.
#[test]
fn an_interval_takes_frames_in_the_order_of_their_last_bits() {
    // Of the same instant of the first bit, the shorter is in first.
    let frames = [(0.0, 1_000), (0.0, 500), (0.0, 600), (200.0, 1_000)];
    let gate = |most: u32, more: &str| {
        format!(
            "stream-filters: {{stream-filter-instance-table: {{4: {{stream-handle: [ALL], stream-gate-ref: 1}}}}}},
    stream-gates: {{stream-gate-instance-table: {{1: {{gate-enable: true, {more}admin-control-list: [
      {{gate-state: open, time-interval: 100 us, interval-octet-max: {most} B}}]}}}}}}"
        )
    };
    // Tagged frames of 500 and 600 octets have MSDUs of 480 and 580.
    let (_, seen) = run(&description(&frames, &gate(1_060, ""), "ports: [s, b]"));
    assert_eq!(passed(&seen), [false, true, true, true]);
    assert_eq!(seen.streams[0].dropped, [(DropReason::IntervalOctets, 1)]);
    let (_, seen) = run(&description(&frames, &gate(1_059, ""), "ports: [s, b]"));
    assert_eq!(passed(&seen), [false, true, false, true]);
    let closing = gate(1_060, "gate-closed-due-octets-exceeded-enable: true, ");
    let (_, seen) = run(&description(&frames, &closing, "ports: [s, b]"));
    assert_eq!(passed(&seen), [false, true, true, false]);
    assert_eq!(filters(&seen).bridges[0].gates[0].closed_for, [false, true]);
    assert_eq!(seen.streams[3].dropped, [(DropReason::StreamGateClosed, 1)]);
    let cleared = "events: [{at: 150 us, change-stream-gate: {node: s, stream-gate-instance-id: 1, gate-closed-due-octets-exceeded: false}}]\n";
    let (_, seen) = run(&(description(&frames, &closing, "ports: [s, b]") + cleared));
    assert_eq!(passed(&seen), [false, true, true, true]);
    // Nothing is lost, and it is proven, if an interval takes all that may come.
    let (network, seen) = run(&description(&frames, &gate(60_000, ""), "ports: [s, b]"));
    assert_eq!(passed(&seen), [true; 4]);
    let limits = losses(&network, &bounds(&network));
    assert!(!limits.may_be_lost(StreamIndex::at(0), 0));
}

/// A gate is asked when the last bit is in, and its internal priority chooses the class at the next port and nothing else.
#[test]
fn a_gate_passes_by_the_last_bit_and_chooses_the_class() {
    let keys = "stream-filters: {stream-filter-instance-table: {1: {priority-spec: 3, stream-gate-ref: 0}}},
    stream-gates: {stream-gate-instance-table: {0: {gate-enable: true, admin-control-list: [
      {gate-state: closed, time-interval: 100 us}, {gate-state: open, ipv-spec: IPV, time-interval: 100 us}]}}}";
    let fixed = keys.replace("IPV", "6");
    // 1000 octets take 8.064 us.
    for (at, passes) in [(91.935, false), (91.936, true), (191.935, true), (191.936, false)] {
        let (network, seen) = run(&description(&[(at, 1_000)], &fixed, "ports: [s, b]"));
        assert_eq!(passed(&seen), [passes], "{at}");
        let hops = &network.streams[0].hops;
        let classes: Vec<u8> = hops.iter().map(|hop| hop.class.number()).collect();
        assert_eq!(
            classes,
            [3, 3, 3],
            "before the first cycle, and so whenever it is open, its own priority holds"
        );
        let ports = hops.iter().map(|hop| &seen.ports[hop.port.index()].classes);
        let used: Vec<usize> =
            ports.filter_map(|classes| classes.iter().position(|class| class.frames > 0)).collect();
        assert_eq!(used, if passes { vec![3, 6, 3] } else { vec![3] });
    }
    // If the gate is closed until then, there is one internal priority, and it has bounds.
    let one = fixed.replace("gate-enable: true,", "gate-enable: true, admin-gate-states: closed,");
    let (network, _) = run(&description(&[(100.0, 1_000)], &one, "ports: [s, b]"));
    let classes: Vec<u8> = network.streams[0].hops.iter().map(|hop| hop.class.number()).collect();
    assert_eq!(classes, [3, 6, 3]);
    assert!(bounds(&network).streams[0].listeners[0].delay.is_ok());
    assert_eq!(network.streams[0].hops[1].priority.number(), 3, "what its tag says");
    let (network, _) = run(&description(&[(100.0, 1_000)], &fixed, "ports: [s, b]"));
    let reason = bounds(&network).streams[0].listeners[0].delay.clone().expect_err("it varies");
    assert_eq!(reason.name(), "internal-priority-varies");
}

/// Of several filters the first that matches counts; none lets a frame pass. A larger SDU may block its filter.
#[test]
fn the_first_filter_that_matches_counts() {
    let frames = [(0.0, 1_000), (0.0, 800), (50.0, 700), (100.0, 64)];
    let keys = "stream-filters: {stream-filter-instance-table: {
      9: {stream-handle: [f1, f2, f3], stream-gate-ref: 1},
      2: {stream-handle: [f1, f3], max-sdu-size: 779 B, stream-blocked-due-to-oversize-frame-enabled: true}}},
    stream-gates: {stream-gate-instance-table: {1: {admin-gate-states: closed}}}";
    let (_, seen) = run(&description(&frames, keys, "ports: [s, b]"));
    assert_eq!(passed(&seen), [true, false, false, false]);
    assert_eq!(seen.streams[1].dropped, [(DropReason::FilterMaxSdu, 1)], "780 octets");
    assert_eq!(seen.streams[2].dropped, [(DropReason::StreamGateClosed, 1)]);
    assert_eq!(seen.streams[3].dropped, [(DropReason::FilterMaxSdu, 1)], "its filter is blocked");
    let blocked: Vec<(u32, bool)> =
        filters(&seen).bridges[0].filters.iter().map(|(id, _, blocked)| (*id, *blocked)).collect();
    assert_eq!(blocked, [(2, true), (9, false)]);
    let event = "events: [{at: 90 us, change-stream-filter: {node: s, stream-filter-instance-id: 2, stream-blocked-due-to-oversize-frame: false}}]\n";
    let (_, seen) = run(&(description(&frames, keys, "ports: [s, b]") + event));
    assert_eq!(passed(&seen), [true, false, false, true]);
}

/// What does not go together is refused, in one sentence each.
#[test]
fn what_filters_do_not_go_with_is_refused() {
    let keys = "stream-filters: {stream-filter-instance-table: {1: {max-sdu-size: 1 kB}}}";
    let good = description(&[(0.0, 800)], keys, "ports: [s, b]");
    assert_eq!(codes(&good), Vec::<&str>::new());
    let cut = good.replace("defaults: {", "devices: {c: {switching: cut-through}}\ndefaults: {device: c, ");
    assert_eq!(codes(&cut), ["filters::impossible"]);
    let missing = good.replace("max-sdu-size: 1 kB", "flow-meter-ref: 3");
    assert_eq!(codes(&missing), ["filters::impossible"]);
    let station = good.replace("b: {type: end-station}", &format!("b: {{type: end-station, {keys}}}"));
    assert!(codes(&station).contains(&"node::type"));
    let unused = good.replace("max-sdu-size: 1 kB", "priority-spec: 5");
    assert_eq!(codes(&unused), ["form::no-effect"]);
}

/// A meter contains a stream that sends more than it promised: of others the bound holds, and of it alone frames may be lost.
#[test]
fn a_meter_contains_a_stream_that_promises_nothing() {
    let text = "vlans: {1: {tagged: all}}
defaults: {rate: 100 Mbit/s, traffic-class-table: identity}
nodes:
  good: {type: end-station}
  bad: {type: end-station}
  b: {type: end-station}
  s: {type: bridge, FILTERS}
links: [{between: [good, s]}, {between: [bad, s]}, {between: [s, b]}]
run: {duration: 50 ms}
streams:
  - {name: good, talker: good, listeners: b, priority: 3, frame: 500 B, deadline: 2 ms, traffic: {type: periodic, interval: 1 ms}}
  - {name: bad, talker: bad, listeners: b, priority: 3, frame: 1000 B, traffic: {type: periodic, interval: 1 ms}}
events:
  - {at: 10 ms, change-traffic: {stream: bad, traffic: {type: poisson, mean-interval: 90 us}}}
";
    let met = "stream-filters: {stream-filter-instance-table: {1: {stream-handle: bad, flow-meter-ref: 1}}}, flow-meters: {
      flow-meter-instance-table: {1: {committed-information-rate: 9 Mbit/s, committed-burst-size: 2000 B, drop-on-yellow: true}}}";
    let (network, seen) = run(&text.replace("FILTERS", met));
    let all = bounds(&network);
    let bound = all.streams[0].listeners[0].delay.clone().expect("the meter bounds what it meets");
    assert!(seen.streams[0].listeners[0].delay.max().expect("frames") <= bound);
    let limits = losses(&network, &all);
    assert!(!limits.may_be_lost(StreamIndex::at(0), 0));
    let of_bad = limits.at(StreamIndex::at(1), 0);
    assert!(of_bad.iter().any(|limit| limit.kind == limits::METER_BURST), "{of_bad:?}");
    assert!(seen.streams[1].dropped[0].1 > 100);
    // Its part is that of the meter.
    let told = tautwire_analysis::explain(&network, &all, StreamIndex::at(0));
    let last = told.hops.last().expect("two hops");
    assert!(last.same.iter().any(|part| part.name == "bad, as policed"), "{last:?}");
    // Without the meter nobody knows how much comes.
    let (network, _) = run(&text.replace(", FILTERS", ""));
    assert!(bounds(&network).streams[0].listeners[0].delay.is_err());
}

/// With `sdu: payload` each frame takes its data behind the EtherType from the octets of the interval, and not the interval two octets more.
#[test]
fn intervals_count_the_octets_that_are_meant() {
    // The data of a tagged frame of 500 octets are 478 octets, its MSDU 480.
    let frames = [(0.0, 500); 3];
    let passes = |sdu: &str, most: u32| {
        let keys = format!(
            "stream-filters: {{stream-filter-instance-table: {{4: {{stream-gate-ref: 1}}}}}},
    stream-gates: {{sdu: {sdu}, stream-gate-instance-table: {{1: {{gate-enable: true, admin-control-list: [
      {{gate-state: open, time-interval: 1 ms, interval-octet-max: {most} B}}]}}}}}}"
        );
        let (network, seen) = run(&description(&frames, &keys, "ports: [s, b]"));
        let limits = losses(&network, &bounds(&network));
        let is_proven = (0..3).all(|stream| !limits.may_be_lost(StreamIndex::at(stream), 0));
        (passed(&seen).into_iter().filter(|passes| *passes).count(), is_proven)
    };
    assert_eq!(passes("payload", 3 * 478).0, 3);
    assert_eq!(passes("payload", 3 * 478 - 1).0, 2);
    assert_eq!(passes("msdu", 3 * 480).0, 3);
    assert_eq!(passes("msdu", 3 * 480 - 1).0, 2);
    assert_eq!(passes("msdu", 60_000), (3, true));
}

/// A meter that discards all frames, or all but the first ones, is told with what it lacks; so is what no filter leads to.
#[test]
fn filters_that_discard_or_do_nothing_are_told() {
    let frames = [(0.0, 1_000), (100.0, 1_000), (200.0, 1_000)];
    let of = |meter: &str| {
        let keys = format!(
            "stream-filters: {{stream-filter-instance-table: {{1: {{flow-meter-ref: 1}}}}}},
    flow-meters: {{flow-meter-instance-table: {{1: {{{meter}}}}}}}"
        );
        description(&frames, &keys, "ports: [s, b]")
    };
    let told = |meter: &str| {
        let loaded = tautwire_workbench::load_text("case", &of(meter));
        loaded.diagnostics.iter().map(|diagnostic| diagnostic.message.clone()).collect::<Vec<_>>().join("\n")
    };
    let green = "committed-information-rate: 8 Mbit/s, committed-burst-size: 1 kB";
    assert_eq!(told(green), "");
    let small = "committed-information-rate: 8 Mbit/s, committed-burst-size: 999 B";
    assert!(told(small).contains("which fit into no bucket"));
    let yellow = format!("{small}, excess-information-rate: 8 Mbit/s, excess-burst-size: 1 kB");
    assert_eq!(told(&yellow), "");
    let (_, seen) = run(&of(&format!("{yellow}, drop-on-yellow: true")));
    assert_eq!(passed(&seen), [false; 3]);
    assert!(told(&format!("{yellow}, drop-on-yellow: true")).contains("which are yellow"));
    // The bucket is full at the start, and two frames pass.
    let once = "committed-information-rate: 0 bit/s, committed-burst-size: 2 kB";
    let (_, seen) = run(&of(once));
    assert_eq!(passed(&seen), [true, true, false]);
    assert!(told(once).contains("for nothing fills it"));
    let coupled = format!("{small}, excess-burst-size: 1 kB, coupling-flag: one");
    assert_eq!(told(&coupled), "");
    let idle = of(green).replace("{flow-meter-ref: 1}", "{}");
    assert_eq!(codes(&idle), ["form::no-effect"]);
    let list = "admin-control-list: [{gate-state: closed, time-interval: 1 ms}]";
    let gate = |keys: &str| {
        let keys = format!(
            "stream-filters: {{stream-filter-instance-table: {{1: {{stream-gate-ref: 1}}}}}}, stream-gates: {{stream-gate-instance-table: {{1: {{{keys}}}}}}}"
        );
        codes(&description(&frames, &keys, "ports: [s, b]"))
    };
    assert_eq!(gate(list), ["form::no-effect"]);
    assert_eq!(gate(&format!("gate-enable: false, {list}")), Vec::<&str>::new());
    // Sizes are told as MAC client data, whatever `sdu` says: 998 - 20 octets of the frame.
    let sized = |sdu: &str, most: u32| {
        let keys = format!(
            "stream-filters: {{sdu: {sdu}, stream-filter-instance-table: {{1: {{max-sdu-size: {most} B}}}}}}"
        );
        let loaded = tautwire_workbench::load_text("case", &description(&frames, &keys, "ports: [s, b]"));
        loaded.diagnostics.first().map(|diagnostic| diagnostic.message.clone())
    };
    assert_eq!(sized("payload", 978), None);
    assert!(sized("payload", 977).is_some_and(|told| told.contains("more than 977 B of MAC client data")));
    assert!(sized("msdu", 979).is_some_and(|told| told.contains("more than 977 B of MAC client data")));
}

/// A flag whose function is not enabled does nothing, takes no proof away, and is told.
#[test]
fn flags_without_their_function_do_nothing() {
    let keys = "stream-filters: {stream-filter-instance-table: {1: {stream-gate-ref: 1, flow-meter-ref: 1 BLOCKS}}},
    stream-gates: {stream-gate-instance-table: {1: {admin-gate-states: open CLOSES}}},
    flow-meters: {flow-meter-instance-table: {1: {committed-information-rate: 1 Gbit/s, committed-burst-size: 1 MB REDDENS}}}";
    let changes = [
        (
            "BLOCKS",
            "stream-blocked-due-to-oversize-frame-enabled",
            "change-stream-filter: {node: s, stream-filter-instance-id: 1, stream-blocked-due-to-oversize-frame: true}",
        ),
        (
            "CLOSES",
            "gate-closed-due-to-invalid-rx-enable",
            "change-stream-gate: {node: s, stream-gate-instance-id: 1, gate-closed-due-to-invalid-rx: true}",
        ),
        (
            "CLOSES",
            "gate-closed-due-octets-exceeded-enable",
            "change-stream-gate: {node: s, stream-gate-instance-id: 1, gate-closed-due-octets-exceeded: true}",
        ),
        (
            "REDDENS",
            "mark-all-frames-red-enable",
            "change-flow-meter: {node: s, flow-meter-instance-id: 1, mark-all-frames-red: true}",
        ),
    ];
    for (place, enabling, change) in changes {
        for enables in [false, true] {
            let stated = if enables { format!(", {enabling}: true") } else { String::new() };
            let keys = keys
                .replace(place, &stated)
                .replace("BLOCKS", "")
                .replace("CLOSES", "")
                .replace("REDDENS", "");
            let text = description(&[(0.0, 500), (200.0, 500)], &keys, "ports: [s, b]")
                + &format!("events: [{{at: 100 us, {change}}}]\n");
            assert_eq!(codes(&text), if enables { vec![] } else { vec!["form::no-effect"] }, "{change}");
            let (network, seen) = run(&text);
            assert_eq!(passed(&seen), [true, !enables], "{change}");
            let limits = losses(&network, &bounds(&network));
            assert_eq!(limits.may_be_lost(StreamIndex::at(1), 0), enables, "{change}");
        }
    }
}

/// INET's showcase of policing by token buckets: a client that sends 110 instead of 40 Mbit/s delays another one by tens of milliseconds; behind
/// its meter it gets 40 Mbit/s, and the other one loses nothing and keeps a millisecond, which is proven.
#[test]
fn a_token_bucket_protects_normal_traffic_as_in_the_showcase_of_inet() {
    let text = "allow: [port::overload, class::overload]
vlans: {1: {tagged: all}}
defaults: {rate: 100 Mbit/s, traffic-class-table: identity}
nodes:
  client1: {type: end-station}
  client2: {type: end-station}
  server: {type: end-station}
  switch:
    type: bridge
    stream-filters: {stream-filter-instance-table: {0: {stream-handle: misbehaving, flow-meter-ref: 0}, 1: {stream-handle: normal, flow-meter-ref: 1}}}
    flow-meters:
      flow-meter-instance-table:
        0: {committed-information-rate: 40 Mbit/s, committed-burst-size: 10 kB}
        1: {committed-information-rate: 20 Mbit/s, committed-burst-size: 5 kB}
links: [{between: [client1, switch]}, {between: [client2, switch]}, {between: [switch, server]}]
run: {duration: 200 ms}
streams:
  - {name: misbehaving, talker: client1, listeners: server, priority: 0, payload: 1028 B, traffic: {type: poisson, mean-interval: 76 us}}
  - {name: normal, talker: client2, listeners: server, priority: 0, payload: 528 B, deadline: 1 ms, traffic: {type: periodic, interval: 250 us}}
";
    let most = |seen: &Observation| seen.streams[1].listeners[0].delay.max().expect("frames").as_ps();
    let (policed, seen) = run(text);
    let bound = bounds(&policed).streams[1].listeners[0].delay.clone().expect("a bound");
    assert!(most(&seen) <= bound.as_ps() && bound.as_ps() < 1_000_000_000, "{bound}");
    assert!(!losses(&policed, &bounds(&policed)).may_be_lost(StreamIndex::at(1), 0));
    assert_eq!(seen.streams[1].dropped, []);
    // 10 kB and 5 octets a microsecond, in tagged frames of 1050 octets.
    let passing = 10_000 + 5 * 200_000;
    let delivered = seen.streams[0].delivered * 1_050;
    assert!(delivered <= passing && delivered * 100 > passing * 97, "{delivered}");
    let without = text.replace("flow-meter-ref: 0", "").replace(", flow-meter-ref: 1", "");
    let seen = simulate(&network(&without), &mut Options::default());
    assert!(most(&seen) > 10_000_000_000, "{}", most(&seen));
}

/// A meter whose bucket is smaller than a frame passes none, so behind it frames that wait for a gate have no instants: no bound is below the other.
#[test]
fn what_a_meter_never_passes_comes_at_no_instant() {
    let text = "name: never
network-control: none
vlans: {1: {tagged: all}}
defaults: {rate: 100 Mbit/s}
nodes:
  a: {type: end-station}
  b: {type: end-station}
  s1:
    type: bridge
    stream-filters: {stream-filter-instance-table: {1: {stream-handle: x, flow-meter-ref: 1}}}
    flow-meters: {flow-meter-instance-table: {1: {committed-information-rate: 50 Mbit/s, committed-burst-size: 100 B, drop-on-yellow: true}}}
    gate-parameter-table: {gate-enabled: true, admin-control-list: [{gate-states: [0, 1, 2, 3, 4, 5, 6, 7], time-interval: 500 us}, {gate-states: [7], time-interval: 500 us}]}
  s2: {type: bridge}
links: [{between: [a, s1]}, {between: [s1, s2]}, {between: [s2, b]}]
streams:
  - {name: x, talker: a, listeners: b, frame: 1000 B, traffic: {type: periodic, interval: 1 ms, offset: 350 us}}
run: {duration: 20 ms}
";
    let network = network(text);
    let all = bounds(&network);
    assert!(losses(&network, &all).may_be_lost(StreamIndex(0), 0));
    let seen = simulate(&network, &mut Options::default());
    assert_eq!(seen.streams[0].delivered, 0);
}
