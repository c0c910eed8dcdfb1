//! Frame replication and elimination (IEEE Std 802.1CB-2017), from the description to what a listener gets: cases worked out by hand.

use tautwire_analysis::{Limit, limits, losses, stated_failures, taken_twice};
use tautwire_model::network::StreamIndex;
use tautwire_sim::{FunctionObservation, RecoveryObservation};
use tautwire_workbench::mechanism_tables::{self, TableCell};
use tautwire_workbench::table::TableOptions;
use tautwire_workbench::{
    Duration, Network, Observation, Options, Summary, adversary, bounds, simulate, verify,
};

use super::{codes, network};

fn run(text: &str) -> (Network, Observation) {
    let network = network(text);
    let seen = simulate(&network, &mut Options::default());
    assert_eq!(verify(&network, &bounds(&network), &seen).contradictions, [], "{text}");
    (network, seen)
}

fn functions(seen: &Observation) -> &[FunctionObservation] {
    &seen.mechanisms.of::<RecoveryObservation>().expect("recovery functions").functions
}

/// Two ways from s1 to s4, the one by s3 longer by this.
fn two_ways(apart: &str, recovery: &str, more: &str) -> String {
    format!(
        "name: two-ways
network-control: none
vlans: {{1: {{tagged: all}}}}
defaults: {{rate: 100 Mbit/s}}
nodes:
  a: {{type: end-station}}
  b: {{type: end-station}}
  s1: {{type: bridge}}
  s2: {{type: bridge}}
  s3: {{type: bridge}}
  s4: {{type: bridge}}
links:
  - {{between: [a, s1]}}
  - {{name: short, between: [s1, s2]}}
  - {{between: [s2, s4]}}
  - {{name: long, between: [s1, s3], propagation-delay: {apart}}}
  - {{between: [s3, s4]}}
  - {{between: [s4, b]}}
streams:
  - name: x
    talker: a
    listeners: b
    frame: 1000 B
    deadline: 50 ms
    traffic: {{type: periodic, interval: 1 ms}}
    frer:
      sequence-recovery:
        - {{{recovery}}}
{more}run: {{duration: 50 ms}}
"
    )
}

/// The short way is cut. At 160 us two frames of class 1 come to s3, of which one is sent up to 241.6 us; at 161.76 us the copy comes, of class 0 by the
/// priority of its stream, or of class 7 by that of its path.
#[test]
fn the_priority_of_a_path_is_that_of_its_copies() {
    let other = |station: &str| {
        format!(
            "  - {{name: {station}, talker: {station}, listeners: e, priority: 1, frame: 1000 B, traffic: {{type: periodic, interval: 1 ms, offset: 79360 ns}}}}\n"
        )
    };
    let more = other("c") + &other("d") + "events: [{at: 0 s, cut-link: short}]\n";
    let text = two_ways("0 us", "reset-timeout: 20 ms, history-length: 8", &more)
        .replace("defaults: {", "defaults: {traffic-class-table: identity, ")
        .replace(
            "  s1: {type",
            "  c: {type: end-station}\n  d: {type: end-station}\n  e: {type: end-station}\n  s1: {type",
        )
        .replace(
            "streams:\n",
            "  - {between: [c, s3]}\n  - {between: [d, s3]}\n  - {between: [s4, e]}\nstreams:\n",
        );
    let written = "    frer:\n      dmac-vlan-stream-identification: [{}, {priority: 7}]\n";
    // From s3 on: 1014 octets to s4 and 1008 to the listener, 80 ns each.
    for (text, starts) in [(text.clone(), 323_200), (text.replace("    frer:\n", written), 241_600)] {
        let (network, seen) = run(&text);
        let delay = Duration::from_ns(starts + (1_014 + 1_008) * 80);
        let listener = &seen.streams[0].listeners[0];
        assert_eq!((listener.delay.min(), listener.delay.max()), (Some(delay), Some(delay)));
        let bound = bounds(&network).streams[0].listeners[0].delay.clone().expect("a bound");
        assert!(bound >= delay && bound < delay + Duration::from_us(90), "{bound}");
    }
}

/// Two ways meet at s4, share the link to s5, and part again there; s8 eliminates.
fn shared_link(identification: &str, cut: &str) -> String {
    let names = ["s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"];
    let bridges: String = names.iter().map(|name| format!("  {name}: {{type: bridge}}\n")).collect();
    format!(
        "network-control: none\nvlans: {{1: {{tagged: all}}, 2: {{tagged: all}}}}\ndefaults: {{rate: 100 Mbit/s}}\nnodes:\n  a: {{type: end-station}}\n  b: {{type: end-station}}\n{bridges}\
         links: [{{between: [a, s1]}}, {{between: [s1, s2]}}, {{between: [s1, s3]}}, {{between: [s2, s4]}}, {{between: [s3, s4]}}, {{between: [s4, s5]}}, {{name: upper, between: [s5, s6]}}, {{name: lower, between: [s5, s7]}}, {{between: [s6, s8]}}, {{between: [s7, s8]}}, {{between: [s8, b]}}]\n\
         streams:\n  - name: x\n    talker: a\n    listeners: b\n    frame: 1000 B\n    deadline: 1 ms\n    traffic: {{type: periodic, interval: 1 ms}}\n    frer:\n      paths: [[s1, s2, s4, s5, s6, s8], [s1, s3, s4, s5, s7, s8]]\n\
         {identification}      sequence-recovery: [{{node: s8, reset-timeout: 20 ms, history-length: 8}}]\nevents: [{{at: 0 s, cut-link: {cut}}}]\nrun: {{duration: 50 ms}}\n"
    )
}

/// Both copies come to s4 at 242.88 us, that of the upper way by the first port. Each takes 81.12 us on each link with its tag, 82.08 us with the gap between
/// frames; the first and the last link take 80.64 us.
#[test]
fn copies_that_share_a_link_part_by_their_identification() {
    let identified =
        "      dmac-vlan-stream-identification: [{vlan: 2}, {destination-mac: \"03:00:00:00:00:01\"}]\n";
    for (cut, delay) in [("lower", 566_880), ("upper", 566_880 + 82_080)] {
        let (network, seen) = run(&shared_link(identified, cut));
        let (listener, delay) = (&seen.streams[0].listeners[0], Duration::from_ns(delay));
        assert_eq!((listener.delay.min(), listener.delay.max()), (Some(delay), Some(delay)), "{cut}");
        assert_eq!(listener.lost, Some(0));
        assert!(!losses(&network, &bounds(&network)).may_be_lost(StreamIndex(0), 0));
        // Each copy may be the later one on the shared link.
        let bound = bounds(&network).streams[0].listeners[0].delay.clone().expect("a bound");
        assert!(bound >= Duration::from_ns(566_880 + 82_080) && bound < Duration::from_us(760), "{bound}");
    }
    // Each of two member streams by one link has an individual function of its own, with a name of its own.
    let individual = "[{node: s5, reset-timeout: 20 ms, history-length: 8}, {node: s5, individual-recovery: true, reset-timeout: 20 ms, history-length: 8}, ";
    let text = shared_link(identified, "lower")
        .replace("sequence-recovery: [", &format!("sequence-recovery: {individual}"));
    let (_, seen) = run(&text);
    let at_s5 = &functions(&seen)[..3];
    let found = at_s5.iter().map(|one| (one.is_individual, one.members.join(", "), one.counters.passed));
    let member = |path: u32| format!("p1 (path {path})");
    let both = format!("{}, {}", member(1), member(2));
    assert_eq!(found.collect::<Vec<_>>(), [(false, both, 50), (true, member(1), 50), (true, member(2), 50)]);
    for alike in ["", "      dmac-vlan-stream-identification: [{priority: 3}, {priority: 2}]\n"] {
        assert_eq!(codes(&shared_link(alike, "upper")), ["frer::impossible"], "{alike}");
    }
}

#[test]
fn the_first_copy_passes_and_frames_are_six_octets_longer_between() {
    let text = two_ways("3 us", "reset-timeout: 20 ms, history-length: 8", "");
    let (network, seen) = run(&text);
    // 1008 octets on the first and last line, 1014 on the two between, 80 ns each.
    let delay = Duration::from_ps((2 * 1_008 + 2 * 1_014) * 80_000);
    let listener = &seen.streams[0].listeners[0];
    assert_eq!((listener.delay.min(), listener.delay.max()), (Some(delay), Some(delay)));
    assert_eq!((listener.lost, listener.delivered), (Some(0), 50));
    let all = bounds(&network);
    let bound = &all.streams[0].listeners[0];
    assert_eq!(bound.delay_min, delay);
    // Either copy may be the only one.
    assert_eq!(bound.delay, Ok(delay + Duration::from_us(3)));
    let [function] = functions(&seen) else { panic!("one function") };
    let counters = &function.counters;
    assert_eq!((counters.passed, counters.discarded, counters.out_of_order), (50, 50, 0));
    let [recovery] = &all.recoveries[..] else { panic!("one function") };
    assert_eq!((recovery.skew, recovery.history), (Some(Duration::from_us(3)), Some(2)));
    assert_eq!((recovery.reordering, recovery.passes_once), (Some(Duration::ZERO), true));
}

/// Results name the member streams of each function. From 20 ms on the short way brings nothing; each test from 25 ms on, every 5 ms, finds that more
/// than 4 copies lack. Numbers before the first are lost, 7 in a history of 8.
#[test]
fn the_table_of_functions_names_member_streams_and_is_no_wider_than_a_terminal() {
    let latent = "latent-error-detection: true, latent-error-detection-parameters: {difference: 4, period: 5 ms, reset-period: 1 s}";
    let recovery = format!(
        "reset-timeout: 20 ms, history-length: 8, {latent}}}\n        - {{individual-recovery: true, reset-timeout: 20 ms, history-length: 8"
    );
    let (network, seen) = run(&two_ways("3 us", &recovery, "events: [{at: 20 ms, cut-link: short}]\n"));
    let summary = Summary::new(&network, None, Some(&seen));
    let [table] = &summary.mechanisms[..] else { panic!("one table: {:?}", summary.mechanisms) };
    let cell = |cell: &TableCell| match cell {
        TableCell::Text(text) => text.clone(),
        TableCell::Number(number) => number.to_string(),
        TableCell::None(()) => "-".to_owned(),
    };
    let row = |row: &Vec<TableCell>| row.iter().map(cell).collect::<Vec<_>>().join(" ");
    let expected = [
        "x s4 sequence p1, p2 50 20 0 0 7 0 1 6 0",
        "x s4 individual p1 20 0 0 0 7 0 2 - -",
        "x s4 individual p2 50 0 0 0 7 0 1 - -",
    ];
    assert_eq!(table.rows.iter().map(row).collect::<Vec<_>>(), expected);
    // What is nowhere counted goes before names are cut short.
    let options = TableOptions::default();
    let printed = mechanism_tables::tables(&summary, options);
    let lines: Vec<&str> = printed.lines().skip(1).collect();
    assert!(lines.iter().all(|line| line.chars().count() <= options.width), "{printed}");
    assert!(lines[2].starts_with("x       s4    sequence    p1, p2 "), "{printed}");
    assert!(lines[3].starts_with("x       s4    individual  p1 "), "{printed}");
    assert!(lines[0].contains("latent errors") && !lines[0].contains("latent resets"), "{printed}");
}

/// Two listeners at one bridge share its function; listeners around a ring have functions of their own.
#[test]
fn each_of_several_listeners_gets_every_frame_once() {
    let cut = "events: [{at: 10 ms, cut-link: short}, {at: 20 ms, mend-link: short}]\n";
    let text = two_ways("3 us", "reset-timeout: 20 ms, history-length: 8", cut);
    let both = text
        .replace("  s1: {", "  c: {type: end-station}\n  s1: {")
        .replace("[s4, b]}\n", "[s4, b]}\n  - {between: [LAST, c]}\n")
        .replace("listeners: b", "listeners: [b, c]");
    let (network, seen) = run(&both.replace("LAST", "s4"));
    let delay =
        |later: u64| Ok(Duration::from_ps((2 * 1_008 + 2 * 1_014) * 80_000) + Duration::from_us(later));
    let all = bounds(&network);
    for (bound, listener) in all.streams[0].listeners.iter().zip(&seen.streams[0].listeners) {
        assert_eq!((&bound.delay, listener.lost, listener.delivered), (&delay(3), Some(0), 50));
    }
    assert_eq!(all.recoveries.len(), 1);
    // c is at s3: its shorter way is the longer one of b.
    let around = both.replace("LAST", "s3");
    assert!(codes(&around).contains(&"frer::impossible"), "s4 would pass on to s3 what came from there");
    let at = |node: &str| format!("        - {{node: {node}, reset-timeout: 20 ms, history-length: 8}}\n");
    let around =
        around.replace("        - {reset-timeout: 20 ms, history-length: 8}\n", &(at("b") + &at("c")));
    let (network, seen) = run(&around);
    let all = bounds(&network);
    for (bound, listener) in all.streams[0].listeners.iter().zip(&seen.streams[0].listeners) {
        assert_eq!((listener.lost, listener.delivered), (Some(0), 50));
        assert!(bound.delay.is_ok() && listener.delay.max() <= bound.delay.clone().ok());
    }
    assert_eq!(stated_failures(&network)[0], [[], []]);
    let at_ends: Vec<(bool, u64)> =
        functions(&seen).iter().map(|one| (one.counters.rogue == 0, one.counters.passed)).collect();
    assert_eq!(at_ends, [(true, 50), (true, 50)]);
}

/// A listener with one path has no function before it, and no copy that could come twice.
#[test]
fn a_listener_with_one_path_gets_each_frame_once() {
    let text = two_ways("3 us", "reset-timeout: 20 ms, history-length: 8", "")
        .replace("  s1: {", "  c: {type: end-station}\n  s1: {")
        .replace("[s4, b]}\n", "[s4, b]}\n  - {between: [s2, c]}\n")
        .replace("listeners: b", "listeners: [b, c]")
        .replace("frer:\n", "frer:\n      paths: [[s1, s2, s4, b], [s1, s3, s4, b], [s1, s2, c]]\n");
    let (network, seen) = run(&text);
    let all = bounds(&network);
    assert_eq!(taken_twice(&network, &all)[0], [false, false]);
    // The numbers end at s2 on this way, where no function needs them.
    let delay = Duration::from_ps((2 * 1_008 + 1_014) * 80_000);
    assert_eq!(all.streams[0].listeners[1].delay, Ok(delay));
    assert_eq!(seen.streams[0].listeners[1].delay.max(), Some(delay));
    assert_eq!(seen.streams[0].listeners[1].delivered, 50);
}

/// Numbers 5, 6, 5, 9, 7, 8, 8, 15, 8, 6, 24, 16 come in this order: over six ways that differ in length and lose all else.
#[test]
fn twelve_numbers_at_a_history_of_eight() {
    // Milliseconds that a way is longer, and the frames that it does not lose.
    let ways: [(u64, &[u64]); 6] =
        [(0, &[5, 6, 9, 15, 24]), (3, &[5, 7, 8]), (4, &[8]), (8, &[8]), (11, &[6]), (9, &[16])];
    let mut text = "name: twelve
network-control: none
vlans: {1: {tagged: all}}
defaults: {rate: 100 Mbit/s}
nodes:
  a: {type: end-station}
  b: {type: end-station}
  s: {type: bridge}
  t: {type: bridge}
  p0: {type: bridge}
  p1: {type: bridge}
  p2: {type: bridge}
  p3: {type: bridge}
  p4: {type: bridge}
  p5: {type: bridge}
links:
  - {between: [a, s]}
  - {between: [t, b]}
"
    .to_owned();
    let mut events: Vec<(u64, String)> = Vec::new();
    for (way, (later, frames)) in ways.iter().enumerate() {
        text += &format!(
            "  - {{name: l{way}, between: [s, p{way}]}}\n  - {{between: [p{way}, t], propagation-delay: {later} ms}}\n"
        );
        events.push((1, format!("cut-link: l{way}")));
        for frame in *frames {
            // Frame n is made at n + 1 ms.
            events.push(((frame + 1) * 1_000 - 100, format!("mend-link: l{way}")));
            events.push(((frame + 1) * 1_000 + 200, format!("cut-link: l{way}")));
        }
    }
    events.sort();
    text += "streams:
  - name: x
    talker: a
    listeners: b
    frame: 100 B
    traffic: {type: periodic, interval: 1 ms, offset: 1 ms}
    frer:
      paths: [[s, p0, t], [s, p1, t], [s, p2, t], [s, p3, t], [s, p4, t], [s, p5, t]]
      sequence-recovery: [{reset-timeout: 100 ms, history-length: 8}]
events:
";
    for (at, action) in &events {
        text += &format!("  - {{at: {at} us, {action}}}\n");
    }
    text += "run: {duration: 40 ms}\n";
    let (_, seen) = run(&text);
    let [function] = functions(&seen) else { panic!("one function") };
    let counters = &function.counters;
    assert_eq!((counters.passed, counters.discarded, counters.rogue, counters.out_of_order), (7, 3, 2, 4));
    assert_eq!(seen.streams[0].delivered, 7);
}

/// The shortest history: one frame that is lost on all paths stops the stream until the timeout.
#[test]
fn a_history_of_two_is_a_trap() {
    let more = "events: [{at: 9900 us, cut-link: short}, {at: 9900 us, cut-link: long}, {at: 10900 us, mend-link: short}, {at: 10900 us, mend-link: long}]\n";
    let lost = |history: u64| {
        let text = two_ways("3 us", &format!("reset-timeout: 20 ms, history-length: {history}"), more);
        run(&text).1.streams[0].listeners[0].lost.expect("counted")
    };
    // Frame 10 alone; or 10 to 28, for frame 9 passes at 9.24288 ms, and the timer runs out 20 ms later, just before frame 29.
    assert_eq!(lost(3), 1);
    assert_eq!(lost(2), 19);
    let text = two_ways("3 us", "reset-timeout: 20 ms", more);
    assert!(codes(&text).contains(&"frer::history"), "{:?}", codes(&text));
}

/// Copies that come further apart than the history and the timer allow are reported.
#[test]
fn a_history_or_a_timer_that_is_too_short_is_reported() {
    let limits = |apart: &str, recovery: &str| {
        let (network, seen) = run(&two_ways(apart, recovery, ""));
        let all = bounds(&network);
        let found = losses(&network, &all).at(StreamIndex(0), 0).to_vec();
        (found, taken_twice(&network, &all)[0][0], seen)
    };
    // 5 us less than 10 ms apart: ten frames are made in that time.
    let (found, twice, _) = limits("9995 us", "reset-timeout: 100 ms, history-length: 11");
    assert_eq!((found.len(), twice), (0, false));
    let (found, twice, _) = limits("9995 us", "reset-timeout: 100 ms, history-length: 10");
    let [limit] = &found[..] else { panic!("{found:?}") };
    assert!(limit.kind == limits::HISTORY && limit.needed == Some(11), "{limit:?}");
    assert!(!twice);
    let (_, twice, _) = limits("9995 us", "reset-timeout: 9 ms, history-length: 16");
    assert!(twice, "second copies may come behind the timeout");
    let (_, twice, seen) = limits("9995 us", "algorithm: match, reset-timeout: 100 ms");
    assert!(twice && seen.streams[0].delivered > 80, "copies that cross pass the match algorithm");
}

/// Of two paths one may fail: nothing is lost, and that is proven.
#[test]
fn a_path_that_fails_is_no_failure_of_the_stream() {
    let events = "events: [{at: 10 ms, cut-link: short}, {at: 20 ms, mend-link: short}]\n";
    let (network, seen) = run(&two_ways("3 us", "reset-timeout: 20 ms, history-length: 64", events));
    assert_eq!(seen.streams[0].listeners[0].lost, Some(0));
    assert_eq!(stated_failures(&network)[0][0], []);
    let events = "events: [{at: 10 ms, cut-link: short}, {at: 11 ms, cut-link: long}]\n";
    let (network, seen) = run(&two_ways("3 us", "reset-timeout: 20 ms, history-length: 64", events));
    assert!(seen.streams[0].listeners[0].lost > Some(30));
    assert_eq!(stated_failures(&network)[0][0].len(), 2);
}

/// No interleaved regulator behind an elimination.
#[test]
fn schedulers_behind_an_elimination_have_no_bound() {
    let text = two_ways("3 us", "reset-timeout: 20 ms, history-length: 64", "")
        .replace("  s4: {type: bridge}", "  s4: {type: bridge, classes: {5: {transmission-selection: ats}}}")
        .replace("    deadline: 50 ms\n", "    priority: 5\n    shaper: {committed-information-rate: 20 Mbit/s, committed-burst-size: 1100 B}\n");
    let (network, _) = run(&text);
    let all = bounds(&network);
    let reason = all.streams[0].listeners[0].delay.as_ref().expect_err("no bound");
    assert_eq!(reason.name(), "reordered");
}

/// Keys of a bridge: a filter for x with these parts, and a meter.
fn filtered(bridge: &str, row: &str, meter: &str) -> (String, String) {
    let plain = format!("  {bridge}: {{type: bridge}}");
    let table = "stream-filter-instance-table";
    let meters = "flow-meter-instance-table";
    let keys = format!(
        "  {bridge}: {{type: bridge, stream-filters: {{{table}: {{1: {{stream-handle: x{row}}}}}}}, flow-meters: {{{meters}: {{1: {{{meter}, drop-on-yellow: true}}}}}}}}"
    );
    (plain, keys)
}

/// While the short way is cut, frames are 3 ms later. When it works again, at 20 ms, frames 17 and 20 come at once to s4, and so do 18 and 21, 19 and 22.
/// One frame of 1006 octets a millisecond fills the bucket: after these three pairs it lacks four frames.
#[test]
fn a_meter_behind_an_elimination_meets_the_gap_of_copies() {
    let events = "events: [{at: 10 ms, cut-link: short}, {at: 20 ms, mend-link: short}]\n";
    let lost = |burst: u32| {
        let text = two_ways("3 ms", "reset-timeout: 20 ms, history-length: 8", events);
        let meter = format!("committed-information-rate: 8048 kbit/s, committed-burst-size: {burst} B");
        let (plain, keys) = filtered("s4", ", flow-meter-ref: 1", &meter);
        let (network, seen) = run(&text.replace(&plain, &keys));
        let limits = losses(&network, &bounds(&network)).at(StreamIndex(0), 0).to_vec();
        (limits, seen.streams[0].listeners[0].lost.expect("counted"))
    };
    assert_eq!(lost(4 * 1_006), (vec![], 0));
    let (limits, lost) = lost(4 * 1_006 - 1);
    // Once, though copies come in at two ports.
    let is_told = |limit: &Limit| limit.kind == limits::METER_BURST && limit.needed == Some(4 * 1_006);
    assert!(limits.len() == 1 && limits.iter().all(is_told), "{limits:?}");
    assert_eq!(lost, 1, "the second frame of the third pair");
}

/// A copy that a filter discards on its way is no loss; that of the other way comes. Both are lost if the other way fails.
#[test]
fn a_copy_that_a_filter_discards_is_no_loss_where_another_comes() {
    let limits = |octets: u32, more: &str| {
        let text = two_ways("3 us", "reset-timeout: 20 ms, history-length: 8", more);
        let row = format!(", max-sdu-size: {octets} B, flow-meter-ref: 1");
        let meter = "committed-information-rate: 90 Mbit/s, committed-burst-size: 9000 B";
        let (plain, keys) = filtered("s2", &row, meter);
        let (network, seen) = run(&text.replace(&plain, &keys));
        let limits = losses(&network, &bounds(&network)).at(StreamIndex(0), 0).to_vec();
        (limits, seen.streams[0].listeners[0].clone())
    };
    // 1006 octets less addresses, VLAN tag and FCS: the R-TAG counts.
    let short = Duration::from_ps((2 * 1_008 + 2 * 1_014) * 80_000);
    let (found, listener) = limits(986, "");
    assert_eq!((found, listener.lost, listener.delay.max()), (vec![], Some(0), Some(short)));
    let (found, listener) = limits(985, "");
    let long = short + Duration::from_us(3);
    assert_eq!((found, listener.lost, listener.delay.min()), (vec![], Some(0), Some(long)));
    let (found, listener) = limits(985, "events: [{at: 10 ms, cut-link: long}]\n");
    let [limit] = &found[..] else { panic!("{found:?}") };
    assert!(limit.kind.name == "filter-max-sdu" && limit.needed == Some(986), "{limit:?}");
    assert_eq!(listener.lost, Some(40));
}

/// Behind the elimination a filter takes frames by the priority of the port where they came in: what it discards has no other copy.
#[test]
fn a_filter_behind_an_elimination_discards_the_only_copy() {
    let text = two_ways("3 us", "reset-timeout: 20 ms, history-length: 8", "");
    let (plain, keys) = filtered(
        "s4",
        ", priority-spec: 3, max-sdu-size: 985 B, flow-meter-ref: 1",
        "committed-information-rate: 90 Mbit/s, committed-burst-size: 9000 B",
    );
    let by = |way: &str| {
        let regenerated = format!("{way}: {{priority-regeneration: [3, 1, 2, 3, 4, 5, 6, 7]}}");
        let ports = "ports: {s2: {}, s3: {}, b: {}}".replace(&format!("{way}: {{}}"), &regenerated);
        let text = text
            .replace(&plain, &keys.replace("type: bridge,", &format!("type: bridge, {ports},")))
            .replace("[s2, s4]", "[s2, \"s4:s2\"]")
            .replace("[s3, s4]", "[s3, \"s4:s3\"]")
            .replace("[s4, b]", "[\"s4:b\", b]");
        let (network, seen) = run(&text);
        let limits = losses(&network, &bounds(&network)).at(StreamIndex(0), 0).len();
        (limits, seen.streams[0].listeners[0].lost)
    };
    // The copy of the short way is first, and the one of the long way would be if the other failed.
    assert_eq!(by("s2"), (1, Some(50)));
    assert_eq!(by("s3"), (1, Some(0)));
}

/// What has no arrival curve is bounded by the meter behind its elimination, once for both ways.
#[test]
fn a_meter_behind_an_elimination_passes_one_burst() {
    let text = two_ways("3 us", "reset-timeout: 20 ms, history-length: 8", "")
        .replace("type: periodic, interval: 1 ms", "type: poisson, mean-interval: 1 ms")
        .replace("    deadline: 50 ms\n", "")
        .replace("  s1: {", "  c: {type: end-station}\n  s1: {")
        .replace("[s4, b]}\n", "[s4, b]}\n  - {between: [c, s4]}\n")
        .replace(
            "streams:\n",
            "streams:\n  - {name: y, talker: c, listeners: b, frame: 1000 B, traffic: {type: periodic, interval: 10 ms}}\n",
        );
    let (plain, keys) = filtered(
        "s4",
        ", flow-meter-ref: 1",
        "committed-information-rate: 1 Mbit/s, committed-burst-size: 2012 B",
    );
    let (network, _) = run(&text.replace(&plain, &keys));
    let bound = bounds(&network).streams[0].listeners[0].delay.clone().expect("a bound");
    // Both lines of y, and before it two frames of x, of 1020 octets with their gaps.
    let expected = Duration::from_ps((1_008 + 2 * 1_020 + 1_008) * 80_000);
    assert_eq!(bound, expected);
}

/// What listeners got of the repeats, and sent, of a network.
fn repeated(seen: &Observation) -> Vec<(u64, u64, u64)> {
    let all = &seen.mechanisms.of::<RecoveryObservation>().expect("recovery functions").repeats;
    all.iter().map(|one| (one.sent, one.discarded, one.taken)).collect()
}

const STUCK: &str = "{at: 10200 us, repeat-frame: {node: s2, stream: x, interval: 300 us}}";

/// The functions of s4 know what s2 repeats, and the bound counts it up to there.
#[test]
fn repeats_of_a_stuck_sender_are_discarded() {
    let plain = two_ways("3 us", "reset-timeout: 20 ms, history-length: 8", "");
    let before = bounds(&run(&plain).0).streams[0].listeners[0].delay.clone().expect("a bound");
    let (network, seen) = run(&(plain + &format!("events: [{STUCK}]\n")));
    // From 10.5 ms to 49.8 ms.
    assert_eq!(repeated(&seen), [(132, 132, 0)]);
    let listener = &seen.streams[0].listeners[0];
    assert_eq!((listener.delivered, listener.lost), (50, Some(0)));
    let all = bounds(&network);
    assert_eq!(
        (losses(&network, &all).at(StreamIndex(0), 0), taken_twice(&network, &all)[0][0]),
        (&[][..], false)
    );
    // At s2 a repeat of 1006 octets goes before a frame; behind s4 there is none.
    let after = all.streams[0].listeners[0].delay.clone().expect("a bound");
    let short = before - Duration::from_us(3);
    assert_eq!(after, before.max(short + Duration::from_ps((1_006 + 20) * 80_000)));
}

/// Frames of a constant rate are apart by what the largest takes of it: 1 ms for 1020 octets. A repeat holds the copy of the short way up for 82.08 us.
#[test]
fn repeats_of_a_stream_of_constant_rate_are_known() {
    let stuck = |timeout: u32, rate: &str| {
        let recovery = format!("reset-timeout: {timeout} ms, history-length: 8");
        let text = two_ways("3 us", &recovery, &format!("events: [{STUCK}]\n"))
            .replace("type: periodic, interval: 1 ms", &format!("type: constant-rate, rate: {rate}"));
        let (network, seen) = run(&text);
        let all = bounds(&network);
        let limits = losses(&network, &all).at(StreamIndex(0), 0).to_vec();
        let needed: Vec<_> = limits.iter().map(|limit| (limit.kind.name, limit.needed)).collect();
        (needed, taken_twice(&network, &all)[0][0], repeated(&seen)[0])
    };
    assert_eq!(stuck(2, "8160 kbit/s"), (vec![], false, (132, 132, 0)));
    // Half the rate makes frames 2 ms apart: one repeat of each passes when the timer has run out.
    let (needed, twice, (sent, discarded, taken)) = stuck(1, "4080 kbit/s");
    assert_eq!((needed, twice), (vec![("recovery-timeout", Some(2_082_080_001))], true));
    assert!(taken > 10 && discarded + taken == sent, "{sent} {discarded} {taken}");
}

/// What the sender repeats when its stream has stopped is new for a function that has begun anew; an individual recovery function does not.
#[test]
fn repeats_of_a_stream_that_stopped_pass_behind_the_timeout() {
    let events =
        format!("events: [{STUCK}, {{at: 20 ms, stop-stream: x}}, {{at: 30 ms, start-stream: x}}]\n");
    let stuck = |recovery: &str| {
        let (network, seen) = run(&two_ways("3 us", recovery, &events));
        let all = bounds(&network);
        let lost = losses(&network, &all);
        let [.., limit] = lost.at(StreamIndex(0), 0) else { panic!("a limit") };
        assert!(limit.kind.name == "recovery-timeout" && limit.needed.is_none(), "{limit:?}");
        assert!(taken_twice(&network, &all)[0][0]);
        (repeated(&seen)[0], seen.streams[0].listeners[0].lost)
    };
    // The last frame passes at 19.327 ms; from then on one repeat in each 3 ms, the first that comes behind their end, up to 30 ms. Of these
    // 22.5 ms, 25.5 ms and 28.5 ms are the instants of repeats; the third one starts the timer until 31.5 ms.
    let (counts, lost) = stuck("reset-timeout: 3 ms, history-length: 8");
    assert_eq!((counts, lost), ((132, 129, 3), Some(0)));
    let both = "reset-timeout: 3 ms, history-length: 8}\n        - {individual-recovery: true, reset-timeout: 3 ms, history-length: 8";
    assert_eq!(stuck(both), ((132, 132, 0), Some(0)));
}

/// Behind the last function nothing knows repeats: the listener takes them all, in time or not.
#[test]
fn repeats_behind_the_last_function_are_taken() {
    let stuck = STUCK.replace("s2", "s4");
    let plain = two_ways("3 us", "reset-timeout: 20 ms, history-length: 8", "");
    let (network, seen) = run(&(plain + &format!("events: [{stuck}]\n")));
    let (sent, discarded, taken) = repeated(&seen)[0];
    assert!(sent > 100 && discarded == 0 && taken >= sent - 1, "{sent} {discarded} {taken}");
    assert!(taken_twice(&network, &bounds(&network))[0][0]);
}

/// Where an individual function discards all repeats, the match algorithm behind it meets none.
#[test]
fn an_individual_function_keeps_repeats_from_the_match_algorithm() {
    let recovery = "algorithm: match, reset-timeout: 20 ms}\n        - {individual-recovery: true, reset-timeout: 20 ms, history-length: 8";
    let (network, seen) = run(&(two_ways("3 us", recovery, "") + &format!("events: [{STUCK}]\n")));
    let (sent, discarded, taken) = repeated(&seen)[0];
    assert_eq!((sent, taken), (discarded, 0));
    assert!(!taken_twice(&network, &bounds(&network))[0][0]);
}

/// The match algorithm knows the last number alone: a repeat that comes between copies of others passes.
#[test]
fn repeats_pass_the_match_algorithm() {
    let events = format!("events: [{STUCK}, {{at: 20 ms, cut-link: short}}]\n");
    let (network, seen) = run(&two_ways("3 us", "algorithm: match, reset-timeout: 20 ms", &events));
    // From 20 ms on s2 repeats frame 19, while frames come by the long way, each of which makes the next repeat new.
    let (sent, discarded, taken) = repeated(&seen)[0];
    assert_eq!((sent, discarded + taken), (132, 132));
    assert_eq!(taken, 30, "one behind each of the frames 20 to 49, the last of which comes at 49.245 ms");
    assert!(taken_twice(&network, &bounds(&network))[0][0]);
}

/// An adversary chooses phases and sizes beside a stuck sender, and finds nothing beyond a bound.
#[test]
fn an_adversary_beside_a_stuck_sender_finds_nothing() {
    let (network, seen) =
        run(&(two_ways("3 us", "reset-timeout: 20 ms, history-length: 8", "")
            + &format!("events: [{STUCK}]\n")));
    let all = bounds(&network);
    let chosen = adversary(&network, &all, &seen, 4, |_, _| {});
    assert_eq!(chosen.contradictions, []);
}
