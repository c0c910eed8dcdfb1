//! Gates of scheduled traffic, from the description to the picosecond at which each frame starts.
//!
//! Times are those of cases worked out by hand (IEEE Std 802.1Q-2022, 8.6.8.2, 8.6.8.4, 8.6.9). One station sends over one cable of no
//! length at 100 Mbit/s, an octet in 80 ns; its port has the gates.

use tautwire_sim::{DropReason, GatesObservation, Recorder, Transmission};
use tautwire_workbench::{
    Driver, Duration, Network, Observation, Options, bounds, simulate, simulate_with, verify,
};

use super::{codes, network};

/// What each frame did: stream, and picosecond of its start.
#[derive(Default)]
struct Starts(Vec<(u32, u64)>);

impl Recorder for Starts {
    fn transmitted(&mut self, transmission: &Transmission) {
        assert_eq!(transmission.start, transmission.selected, "nothing stands behind the gates");
        self.0.push((transmission.stream, transmission.start.as_ps()));
    }
}

/// A station whose port has this table, and streams each of one frame: class, octets, microsecond at which it comes.
fn station(table: &str, classes: &str, frames: &[(u8, u32, f64)]) -> String {
    let mut text = format!(
        "allow: [gates::window, gates::max-sdu, class::overload]
defaults: {{rate: 100 Mbit/s, traffic-class-table: identity}}
nodes:
  a: {{type: end-station, classes: {{{classes}}}, gate-parameter-table: {{gate-enabled: true, {table}}}}}
  b: {{type: end-station}}
links: [{{between: [a, b]}}]
run: {{duration: 30 ms}}
streams:
"
    );
    for (number, (class, octets, at)) in frames.iter().enumerate() {
        text += &format!(
            "  - {{name: f{number}, talker: a, listeners: b, priority: {class}, frame: {octets} B, traffic: {{type: periodic, interval: 1 s, offset: {} ns}}}}\n",
            (at * 1_000.0).round()
        );
    }
    text
}

fn run(text: &str) -> (Network, Observation, Vec<(u32, u64)>) {
    let network = network(text);
    let mut starts = Starts::default();
    let observation = simulate_with(&network, &mut Options::default(), &mut starts);
    // Needless polls change nothing.
    for driver in [Driver::Plain, Driver::Spurious] {
        let mut other = Starts::default();
        let options = &mut Options { driver, ..Options::default() };
        let again = simulate_with(&network, options, &mut other);
        assert_eq!((other.0, again.trace_hash), (starts.0.clone(), observation.trace_hash), "{text}");
    }
    let all = bounds(&network);
    assert_eq!(verify(&network, &all, &observation).contradictions, [], "{text}");
    (network, observation, starts.0)
}

/// Microseconds at which frames start, in order.
fn starts(table: &str, classes: &str, frames: &[(u8, u32, f64)]) -> Vec<f64> {
    let (_, _, starts) = run(&station(table, classes, frames));
    starts.into_iter().map(|(_, ps)| ps as f64 / 1e6).collect()
}

/// Case O1: entries that meet are one interval, over the end of the cycle too.
#[test]
fn a_frame_starts_if_it_ends_by_the_close_of_merged_entries() {
    let list = "admin-cycle-time: 500 us, admin-control-list: [
      {gate-states: [7, 2], time-interval: 100 us}, {gate-states: [0], time-interval: 150 us},
      {gate-states: [0, 1], time-interval: 150 us}, {gate-states: 0x05, time-interval: 100 us}]";
    let list = list.replace("0x05", "5");
    for (class, arrives, start) in
        [(0, 378.0, 600.0), (0, 377.92, 377.92), (0, 200.0, 200.0), (1, 290.0, 750.0), (2, 450.0, 450.0)]
    {
        assert_eq!(starts(&list, "", &[(class, 1_518, arrives)]), [start], "class {class} at {arrives}");
    }
}

/// Case O2: the first frame behind the opening is tested as all others; only queueMaxSDU helps a queue whose head fits nowhere.
#[test]
fn a_head_that_fits_nowhere_blocks_its_queue_until_max_sdu_discards_it() {
    let list = "admin-cycle-time: 200 us, admin-control-list: [
      {gate-states: [5, 0], time-interval: 50 us}, {gate-states: [0], time-interval: 150 us}]";
    let both = [(5, 1_000, 10.0), (5, 200, 11.0), (0, 300, 12.0)];
    assert_eq!(starts(list, "", &both), [12.0]);
    assert_eq!(starts(list, "", &[(5, 200, 33.36)]), [33.36]);
    assert_eq!(starts(list, "", &[(5, 200, 33.44)]), [200.0]);
    let limited = format!("{list}, queue-max-sdu-table: {{5: 500 B}}");
    let (_, observation, sent) = run(&station(&limited, "", &both[..2]));
    assert_eq!(sent, [(1, 11_000_000)]);
    assert_eq!(observation.streams[0].dropped, [(DropReason::MaxSdu, 1)]);
    let seen = observation.mechanisms.of::<GatesObservation>().expect("gates");
    assert_eq!(seen.ports[0].max_sdu_exceeded, [0, 0, 0, 0, 0, 1, 0, 0]);
    // The description without the limit is an error unless it is allowed.
    let told = station(list, "", &both).replace("gates::window, ", "");
    assert_eq!(codes(&told), ["gates::window"]);
    // An MSDU begins with the EtherType: 980 B of a tagged frame of 1000 B, and 978 B behind it.
    for (table, passes) in [
        ("{5: 980 B}", 1),
        ("{5: 979 B}", 0),
        ("{5: 978 B}, sdu: payload", 1),
        ("{5: 977 B}, sdu: payload", 0),
    ] {
        let wide = list.replace("time-interval: 50 us", "time-interval: 100 us");
        let limited = format!("{wide}, queue-max-sdu-table: {table}");
        assert_eq!(starts(&limited, "", &[(5, 1_000, 10.0)]).len(), passes, "{table}");
    }
}

/// Case O10: credit behind a closed gate, by the standard and by devices.
#[test]
fn credit_stands_still_while_the_gate_is_closed() {
    let list = "admin-cycle-time: 1 ms, admin-control-list: [
      {gate-states: [], time-interval: 300 us}, {gate-states: [5], time-interval: 700 us}]";
    let start = |more: &str, slope: &str| {
        let classes = format!("5: {{transmission-selection: credit-based, idle-slope: {slope}}}");
        let both = starts(&format!("{list}{more}"), &classes, &[(5, 1_000, 900.0), (5, 1_000, 900.0)]);
        assert_eq!(both[0], 900.0);
        both[1]
    };
    assert_eq!(start("", "28 Mbit/s"), 1_404.0);
    assert_eq!(start(", idle-slope-is: while-open", "40 Mbit/s"), 1_404.0);
    assert_eq!(start(", credit-at-closed-gate: rises", "28 Mbit/s"), 1_300.0);
    assert_eq!(start(", credit-in-guard-band: frozen", "28 Mbit/s"), 1_422.4);
    let unscaled = start(", idle-slope-is: while-open", "28 Mbit/s");
    assert_eq!((unscaled * 100.0).round() / 100.0, 1_491.43);
    let host = station(
        list,
        "5: {transmission-selection: credit-based, idle-slope: 28 Mbit/s}",
        &[(5, 1_000, 900.0); 2],
    )
    .replace("defaults:", "hosts: {h: {credit-charged-overhead: 8 B}}\ndefaults:")
    .replace("a: {type: end-station,", "a: {type: end-station, host: h,");
    assert_eq!(run(&host).2[1], (1, 1_401_600_000), "the gap is not charged");
}

/// A base time that is still to come: all gates have their first states until then, and cycles count from it.
#[test]
fn the_first_cycle_starts_at_the_base_time() {
    let list =
        "admin-base-time: 450 us, admin-gate-states: [3], admin-cycle-time: 1/3 ms, admin-control-list: [
      {gate-states: [5], time-interval: 100 us}, {gate-states: [3], time-interval: 100 us}]";
    // Cycles start at 450 us, 783.333 333 us, 1116.666 666 us.
    assert_eq!(starts(list, "", &[(3, 1_000, 10.0)]), [10.0]);
    assert_eq!(starts(list, "", &[(5, 1_000, 10.0)]), [450.0]);
    assert_eq!(starts(list, "", &[(5, 1_000, 600.0)]), [783.333333]);
    assert_eq!(starts(list, "", &[(5, 1_000, 1_000.0)]), [1_116.666666]);
    assert_eq!(starts(list, "", &[(3, 1_000, 500.0)]), [550.0], "the last states stay until the next cycle");
    assert_eq!(starts(list, "", &[(3, 1_000, 702.69)]), [702.69]);
    assert_eq!(starts(list, "", &[(3, 1_000, 702.7)]), [883.333333], "its last bit would be out 7 ns late");
    let (_, observation, _) = run(&station(list, "", &[(3, 1_000, 500.0)]));
    let seen = observation.mechanisms.of::<GatesObservation>().expect("gates");
    assert_eq!(seen.ports[0].config_change_time.map(|at| at.as_ps()), Some(450_000_000));
    assert_eq!(seen.ports[0].config_change_error, 0);
}

/// Case O3: the last cycle before a change is extended or cut; a base time in the past is an error and starts at the
/// begin of a later cycle.
#[test]
fn a_change_of_the_list_extends_or_cuts_the_last_cycle() {
    let change = |extension: u64, base: u64, frames: &[(u8, u32, f64)]| {
        let list = format!(
            "admin-cycle-time: 1 ms, admin-cycle-time-extension: {extension} us, admin-control-list: [
      {{gate-states: [7], time-interval: 600 us}}, {{gate-states: [0], time-interval: 400 us}}]"
        );
        let event = format!(
            "events:
  - at: 10400 us
    change-gates:
      port: a:p1
      admin-base-time: {base} us
      admin-control-list: [{{gate-states: [0], time-interval: 200 us}}, {{gate-states: [7], time-interval: 800 us}}]
"
        );
        let (_, observation, starts) = run(&(station(&list, "", frames) + &event));
        let seen = observation.mechanisms.of::<GatesObservation>().expect("gates").ports[0].clone();
        let since = seen.config_change_time.map(|at| at.as_ps() / 1_000_000);
        let starts: Vec<f64> = starts.into_iter().map(|(_, ps)| ps as f64 / 1e6).collect();
        (starts, since, seen.config_change_error)
    };
    let alone = |extension, base, class| {
        let (starts, since, errors) = change(extension, base, &[(class, 1_000, 14_100.0)]);
        assert_eq!((since, errors), (Some(base), 0));
        starts[0]
    };
    // Extended: the last states stay until the new list begins, with the same gate open.
    assert_eq!((alone(300, 14_250, 7), alone(300, 14_250, 0)), (14_450.0, 14_100.0));
    // Beyond the extension: another cycle begins, and is cut.
    assert_eq!((alone(300, 14_350, 7), alone(300, 14_350, 0)), (14_100.0, 14_350.0));
    // Without an extension.
    assert_eq!((alone(0, 14_250, 7), alone(0, 14_250, 0)), (14_100.0, 14_250.0));
    // The close that the change makes is heeded.
    let (starts, ..) = change(0, 14_250, &[(7, 1_000, 14_170.0)]);
    assert_eq!(starts, [14_450.0]);
    let (starts, since, errors) = change(0, 5_000, &[(7, 1_000, 11_100.0)]);
    assert_eq!((starts[0], since, errors), (11_200.0, Some(11_000), 1));
}

/// The new list of a change is checked with device, frames and idleSlopes like the first one.
#[test]
fn a_change_is_checked_as_the_list_is() {
    let list = "supported-list-max: 2, admin-control-list: [{gate-states: [5], time-interval: 600 us}]";
    let text = |port: &str, entries: &str| {
        station(list, "", &[(5, 1_000, 10.0)]).replace("gates::window, ", "")
            + &format!(
                "events: [{{at: 5 ms, change-gates: {{port: {port}, admin-control-list: [{entries}]}}}}]\n"
            )
    };
    let wide = "{gate-states: [5], time-interval: 600 us}";
    assert_eq!(codes(&text("a:p1", wide)), Vec::<&str>::new());
    assert_eq!(codes(&text("b:p1", wide)), ["event::impossible"]);
    assert_eq!(codes(&text("a", wide)), ["event::impossible"]);
    assert_eq!(codes(&text("a:p1", &format!("{wide}, {wide}, {wide}"))), ["gates::impossible"]);
    assert_eq!(
        codes(&text(
            "a:p1",
            &format!("{}, {{gate-states: [0], time-interval: 1 ms}}", wide.replace("600", "60"))
        )),
        ["gates::window"]
    );
}

/// A station whose high class has a window: its delay is the same for every frame, whatever else is sent (64 octets over two links of
/// 10 m at 100 Mbit/s: 2 x (5.76 + 0.05) us).
#[test]
fn a_window_makes_the_delay_of_a_class_constant() {
    let text = "
defaults: {rate: 100 Mbit/s, traffic-class-table: identity}
vlans: {1: {tagged: all}}
nodes:
  client: {type: end-station}
  other: {type: end-station}
  switch:
    type: bridge
    gate-parameter-table:
      gate-enabled: true
      admin-cycle-time: 1 ms
      admin-control-list:
        - {gate-states: [0], time-interval: 490 us}
        - {gate-states: [7], time-interval: 510 us}
  server: {type: end-station}
links:
  - {between: [client, switch], length: 10 m}
  - {between: [other, switch], length: 10 m}
  - {between: [switch, server], length: 10 m}
streams:
  - {name: high, talker: client, listeners: server, priority: 7, frame: 64 B, traffic: {type: periodic, interval: 1 ms, offset: 500 us}}
  - {name: best-effort, talker: other, listeners: server, priority: 0, payload: 1500 B, traffic: {type: greedy}, arrival-curve: {rate: 40 Mbit/s, burst: 20000 B}}
run: {duration: 50 ms}
";
    let delays = |text: &str| {
        let network = network(text);
        let observation = simulate(&network, &mut Options::default());
        let delay = &observation.streams[0].listeners[0].delay;
        (delay.min(), delay.max())
    };
    let constant = Some(Duration::from_ns(11_620));
    assert_eq!(delays(text), (constant, constant));
    let without = delays(&text.replace("gate-enabled: true", "gate-enabled: false"));
    assert!(without.1 > constant, "{without:?}");
}

/// What a frame waits at its gate is shaping; what it waits for the line before that is queueing. With ATS the wait for its eligibility
/// time is not counted twice.
#[test]
fn the_wait_at_a_gate_is_shaping() {
    let list = "admin-control-list: [{gate-states: [0], time-interval: 500 us}, {gate-states: [5], time-interval: 500 us}]";
    let parts = |text: &str| {
        struct Parts(Vec<(u32, u64, u64)>);
        impl Recorder for Parts {
            fn transmitted(&mut self, transmission: &Transmission) {
                let parts = &transmission.parts;
                let ns = |span: Duration| span.as_ps() / 1_000;
                self.0.push((transmission.stream, ns(parts.shaping), ns(parts.queueing)));
            }
        }
        let mut seen = Parts(Vec::new());
        let _ = simulate_with(&network(text), &mut Options::default(), &mut seen);
        seen.0
    };
    // The second of class 5 waits for the first on the line, which it cannot have before the gate opens.
    let both = station(list, "", &[(5, 1_000, 100.0), (5, 1_000, 100.0), (0, 1_000, 200.0)]);
    assert_eq!(parts(&both), [(2, 0, 0), (0, 400_000 - 81_600, 81_600), (1, 0, 400_000 + 81_600)]);
    let shaped = both
        .replace("a: {type: end-station, classes: {}", "a: {type: end-station, classes: {5: {transmission-selection: ats}}")
        .replace("traffic:", "shaper: {committed-information-rate: 10 Mbit/s, committed-burst-size: 9000 bit, shape-at-talker: true}, traffic:");
    let seen = parts(&shaped);
    let of = |stream| *seen.iter().find(|one| one.0 == stream).expect("it is sent");
    assert_eq!(of(0).1 + of(0).2, 400_000);
}

/// A bridge that cuts through forwards a frame if the full frame fits before its gate closes.
#[test]
fn a_frame_that_is_cut_through_fits_whole() {
    let at = |window: &str| {
        let text = format!(
            "
devices: {{cutting: {{switching: cut-through}}}}
defaults: {{rate: 100 Mbit/s, device: cutting, traffic-class-table: identity}}
vlans: {{1: {{tagged: all}}}}
nodes:
  a: {{type: end-station}}
  b: {{type: end-station}}
  s: {{type: bridge, gate-parameter-table: {{gate-enabled: true, admin-cycle-time: 200 us, admin-control-list: [{{gate-states: [5], time-interval: {window}}}, {{gate-states: [0], time-interval: 100 us}}]}}}}
links: [{{between: [a, s]}}, {{between: [s, b]}}]
streams: [{{name: x, talker: a, listeners: b, priority: 5, frame: 1000 B, traffic: {{type: periodic, interval: 1 s}}}}]
run: {{duration: 10 ms}}
"
        );
        run(&text).2.iter().map(|(_, ps)| *ps).max()
    };
    // The header of 64 octets is in at 5.76 us, and the frame takes 80.64 us.
    assert_eq!(at("86400 ns"), Some(5_760_000));
    assert_eq!(at("86399 ns"), Some(200_000_000));
}

/// A node that comes back begins with its first states, and with the next cycle of its clock.
#[test]
fn a_node_that_comes_back_begins_its_list_anew() {
    let list = "admin-gate-states: [3], admin-control-list: [{gate-states: [5], time-interval: 300 us}, {gate-states: [], time-interval: 700 us}]";
    let events = "events: [{at: 5100 us, stop-node: a}, {at: 5200 us, start-node: a}]\n";
    let (_, observation, starts) =
        run(&(station(list, "", &[(3, 1_000, 5_400.0), (5, 1_000, 5_410.0)]) + events));
    assert_eq!(starts, [(0, 5_400_000_000), (1, 6_000_000_000)]);
    let seen = observation.mechanisms.of::<GatesObservation>().expect("gates");
    assert_eq!(seen.ports[0].config_change_time.map(|at| at.as_ps()), Some(6_000_000_000));
    assert_eq!(seen.ports[0].config_change_error, 0);
}

/// A device without look-ahead sends frames over the close, and counts them.
#[test]
fn transmissions_that_overrun_are_counted() {
    let list = "guard: none, admin-control-list: [{gate-states: [5], time-interval: 100 us}, {gate-states: [0], time-interval: 100 us}]";
    let (_, observation, starts) =
        run(&station(list, "", &[(5, 1_000, 50.0), (5, 200, 270.0), (5, 200, 410.0)]));
    assert_eq!(starts, [(0, 50_000_000), (1, 270_000_000), (2, 410_000_000)]);
    let seen = observation.mechanisms.of::<GatesObservation>().expect("gates");
    assert_eq!(seen.ports[0].transmission_overrun, [0, 0, 0, 0, 0, 1, 0, 0]);
}

/// A talker and a bridge whose clocks drift apart, each with gates; frames are sent for the bridge's window.
fn drifting(sections: &str) -> String {
    format!(
        "
defaults: {{rate: 100 Mbit/s, traffic-class-table: identity}}
vlans: {{1: {{tagged: all}}}}
nodes:
  client: {{type: end-station, clock: {{tolerance: 50 ppm, drift: -50 ppm}}}}
  switch:
    type: bridge
    clock: {{tolerance: 50 ppm, drift: 50 ppm}}
    gate-parameter-table:
      gate-enabled: true
      admin-control-list:
        - {{gate-states: [0, 6, 7], time-interval: 500 us}}
        - {{gate-states: [5], time-interval: 60 us}}
        - {{gate-states: [0, 6, 7], time-interval: 440 us}}
  server: {{type: end-station, clock: {{tolerance: 50 ppm, drift: 20 ppm}}}}
links: [{{between: [client, switch]}}, {{between: [switch, server]}}]
{sections}
run: {{duration: 6 s, warm-up: 3 s}}
"
    )
}

fn spread(text: &str) -> u64 {
    let network = network(text);
    let observation = simulate(&network, &mut Options::default());
    let delay = &observation.streams[0].listeners[0].delay;
    (delay.max().expect("frames") - delay.min().expect("frames")).as_ps() / 1_000_000
}

/// Gates follow the clock that gPTP corrects, in a bridge too, so frames of a corrected talker meet their window; on clocks of
/// their own they drift through the cycle.
#[test]
fn gates_follow_the_clock_that_gptp_corrects() {
    let streams = "streams: [{name: x, talker: client, listeners: server, priority: 5, payload: 100 B, traffic: {type: periodic, interval: 1 ms, offset: 500 us}}]";
    let gptp = "gptp: {servo: {}, nodes: {server: {priority1: 100}}}";
    let with = spread(&drifting(&format!("{gptp}\n{streams}")));
    assert!(with <= 3, "{with} us");
    let without = spread(&drifting(streams));
    assert!(without > 250, "{without} us");
}

/// Network time of clocks that are corrected to a stated precision moves the gates within it.
#[test]
fn gates_follow_network_time() {
    let streams = "time-triggered: {precision: 4 us}
streams: [{name: x, talker: client, listeners: server, priority: 5, payload: 1000 B, traffic: {type: greedy}, arrival-curve: {rate: 30 Mbit/s, burst: 3000 B}}]";
    let text = drifting(streams)
        .replace("duration: 6 s, warm-up: 3 s", "duration: 300 ms")
        .replace("60 us}", "100 us}")
        .replace("440 us}", "400 us}");
    let network = network(&text);
    let mut seen = AtSwitch(Vec::new());
    let _ = simulate_with(&network, &mut Options::default(), &mut seen);
    assert!(seen.0.len() > 200, "{}", seen.0.len());
    // Frames wait for the window, which opens within half of the precision of true time, now before it and now behind it.
    let (first, last) = (seen.0.iter().min().expect("frames"), seen.0.iter().max().expect("frames"));
    assert!((498_000..499_000).contains(first) && (501_000..502_000).contains(last), "{first} to {last} ns");
}

/// Nanoseconds of the cycle at which frames start at the switch.
struct AtSwitch(Vec<u64>);

impl Recorder for AtSwitch {
    fn transmitted(&mut self, transmission: &Transmission) {
        if transmission.hop == 1 {
            self.0.push(transmission.start.as_ps() / 1_000 % 1_000_000);
        }
    }
}

/// A cycle as long as the device's longest one is within its limit, a fraction too.
#[test]
fn a_limit_of_cycles_is_a_fraction() {
    let list = "admin-control-list: [{gate-states: [5], time-interval: 100 us}]";
    let found = |cycle: &str, most: &str| {
        codes(&station(
            &format!("admin-cycle-time: {cycle}, supported-cycle-max: {most}, {list}"),
            "",
            &[(5, 64, 1.0)],
        ))
    };
    assert_eq!(found("1/3 ms", "1/3 ms"), Vec::<&str>::new());
    assert_eq!(found("1/3 ms", "1000/3 us"), Vec::<&str>::new());
    assert_eq!(found("1/3 ms", "333333334 ps"), Vec::<&str>::new());
    assert_eq!(found("1/3 ms", "333333333 ps"), ["gates::impossible"]);
}

/// A list that nothing enables is told, and a list that is switched off on purpose is not.
#[test]
fn lists_that_do_not_run_are_told() {
    let list = "admin-control-list: [{gate-states: [5], time-interval: 1 ms}]";
    let at = |enabled: &str, table: &str| {
        let text = station(table, "", &[(0, 64, 1.0)]);
        codes(&text.replace("gate-enabled: true, ", enabled))
    };
    assert_eq!(at("", list), ["form::no-effect"]);
    assert_eq!(at("gate-enabled: false, ", list), Vec::<&str>::new());
    assert_eq!(
        at("gate-enabled: false, ", &format!("{list}, queue-max-sdu-table: {{0: 100 B}}")),
        ["form::no-effect"]
    );
    // A list of the defaults runs where a port enables it.
    let shared = station("", "", &[(5, 64, 1.0)])
        .replace(
            "gate-parameter-table: {gate-enabled: true, }",
            "ports: {p1: {gate-parameter-table: {gate-enabled: true}}}",
        )
        .replace("between: [a, b]", "between: ['a:p1', b]")
        .replace("defaults: {", &format!("defaults: {{gate-parameter-table: {{{list}}}, "));
    assert_eq!(codes(&shared), Vec::<&str>::new());
    assert_eq!(codes(&shared.replace("{gate-enabled: true}", "{}")), ["form::no-effect"]);
    // A schedule that is to come enables gates with these sizes.
    let awaited = "streams:
  - {name: timed, talker: a, listeners: b, priority: 7, frame: 64 B, traffic: {type: periodic, interval: 1 ms}, time-aware: {}}
";
    let text =
        station("queue-max-sdu-table: {0: 100 B}", "", &[(0, 64, 1.0)]).replace("gate-enabled: true, ", "");
    assert_eq!(codes(&text), ["form::no-effect"]);
    assert_eq!(codes(&text.replace("streams:\n", awaited)), Vec::<&str>::new());
}
