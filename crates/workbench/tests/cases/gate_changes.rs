//! A stream that is added in a run, worked out by hand: `schedule-to-be-changed` of the scenarios.
//!
//! Lines have 100 Mbit/s, an octet in 80 ns, cables take 100 ns, and a switch 4 us. 100 octets of payload are 130 on a line with header,
//! tag, FCS and preamble, 10.4 us, so a node has such a frame 10.5 us after its start, and a switch has it in its queue 14.5 us after that.

use tautwire_sim::{GatesObservation, Recorder, Transmission};
use tautwire_workbench::network::TimelineAction;
use tautwire_workbench::{
    Duration, GateOptions, Options, ScheduledChange, ScheduledGates, bounds_in_run, simulate_with, verify,
};

use super::{answer, network};

/// Nanoseconds at which frames of a stream start at each hop: number of the frame, hop, start.
struct Starts(u32, Vec<(u32, u32, u64)>);

impl Recorder for Starts {
    fn transmitted(&mut self, sent: &Transmission) {
        if sent.stream == self.0 {
            assert_eq!(sent.start.as_ps() % 1_000, 0);
            self.1.push((sent.number, sent.hop, sent.start.as_ps() / 1_000));
        }
    }
}

/// The common period of lists and streams is 1 ms. Set at 10 ms, all lists begin two periods later, and the talker one period behind that.
#[test]
fn a_stream_is_added_at_instants_that_are_known() {
    let text = std::fs::read_to_string("../../scenarios/schedule-to-be-changed.yaml").expect("a scenario");
    for (at_us, begin_us) in [(10_000, 12_000), (10_400, 12_000), (10_999, 12_000), (11_000, 13_000)] {
        let at = Duration::from_us(at_us);
        let found = ScheduledChange::find("case", &text, &GateOptions::default(), at).expect("a new stream");
        let found = found.expect("a change");
        assert!(found.holds(), "{:?}", found.gates.unproven);
        let (begin, start) = (Duration::from_us(begin_us), Duration::from_us(begin_us + 1_000));
        assert_eq!((found.change.at, found.begin, found.change.start), (at, begin, start));
        let network = network(&found.text);
        let new = network.streams.iter().position(|stream| stream.name == "grip").expect("it is there");
        let events: Vec<(Duration, bool)> = network
            .events
            .iter()
            .map(|event| (event.at, matches!(event.action, TimelineAction::ChangeGates(..))))
            .collect();
        assert_eq!(events, [(at, true), (at, true), (start, false)]);

        let mut starts = Starts(u32::try_from(new).expect("few"), Vec::new());
        let seen = simulate_with(&network, &mut Options::default(), &mut starts);
        let gates = seen.mechanisms.of::<GatesObservation>().expect("gates");
        let began = gates.ports.iter().map(|port| port.config_change_time.expect("a list runs").as_ps());
        assert_eq!(began.collect::<Vec<_>>(), [begin.as_ps(); 2]);
        assert!(gates.ports.iter().all(|port| port.config_change_error == 0 && !port.config_pending));
        let first = start.as_ps() / 1_000;
        // A gate opens a nanosecond behind the latest instant at which the frame is there, for what is rounded; at the second switch a gap of
        // 960 ns counts, for a lower frame may have been before it at the first.
        let (left, right) = (first + 14_501, first + 14_501 + 14_500 + 960 + 1);
        let by_hand = [(0, 0, first), (0, 1, left), (0, 2, right)];
        assert_eq!(starts.1[..3], by_hand);
        assert_eq!(starts.1[3], (1, 0, first + 1_000_000));
        let all = bounds_in_run(&network, &seen);
        assert_eq!(verify(&network, &all, &seen).contradictions, []);
    }
}

/// A class that waits behind a gate for most of a cycle, and a change that lets all of it go at once. At a port that preempts the place
/// of a change is not known, so no list limits what is behind it: neither the old one, which gives the class 10 us in 10 ms, nor one
/// that never opens for it.
#[test]
fn no_window_limits_what_comes_behind_a_change_whose_place_is_not_known() {
    for first in ["{gate-states: [7], time-interval: 10 us}, ", ""] {
        let text = format!(
            "network-control: none
vlans: {{1: {{tagged: all}}}}
allow: [gates::window]
defaults: {{rate: 100 Mbit/s, traffic-class-table: identity}}
nodes:
  a: {{type: end-station}}
  s:
    type: bridge
    frame-preemption-parameters: {{frame-preemption-status-table: {{priority3: preemptable}}}}
    ports:
      a: {{}}
      t: {{gate-parameter-table: {{gate-enabled: true, admin-control-list: [{first}{{gate-states: [3], time-interval: 9990 us}}]}}}}
  t: {{type: bridge}}
  b: {{type: end-station}}
links:
  - {{between: [\"a:p1\", \"s:a\"]}}
  - {{between: [\"s:t\", \"t:s\"], rate: 1 Gbit/s}}
  - {{between: [\"t:b\", \"b:p1\"]}}
streams:
  - {{name: x, talker: a, listeners: b, priority: 7, payload: 60 B, traffic: {{type: periodic, interval: 50 us}}}}
events:
  - at: 8 ms
    change-gates: {{port: \"s:t\", admin-base-time: 9 ms, admin-control-list: [{{gate-states: [7], time-interval: 1 ms}}]}}
run: {{duration: 12 ms}}
"
        );
        let (.., seen, found) = answer(&text);
        assert_eq!(found.contradictions, [], "{first}");
        assert!(seen.streams[0].hops[2].max > Duration::from_ms(1), "{first}: {:?}", seen.streams[0].hops[2]);
    }
}

/// When the lists of all ports last began, nanoseconds, and that no frame is late or lost.
fn last_lists(found: &ScheduledChange) -> Vec<u64> {
    let network = network(&found.text);
    let seen = simulate_with(&network, &mut Options::default(), &mut Starts(u32::MAX, Vec::new()));
    let all = bounds_in_run(&network, &seen);
    assert_eq!(verify(&network, &all, &seen).contradictions, []);
    assert!(seen.streams[0].dropped.iter().all(|(_, count)| *count == 0));
    let gates = seen.mechanisms.of::<GatesObservation>().expect("gates");
    gates.ports.iter().map(|port| port.config_change_time.expect("a list runs").as_ps() / 1_000).collect()
}

/// The gripper is added at 10 ms, its lists begin at 12 ms, and it ends at 20 ms. A second change, at 21 ms, gives its windows back at 23 ms, two
/// periods of 1 ms behind the one before: both lists then have the order alone, every 500 us. Or a gripper with another name has its place.
#[test]
fn a_stream_that_ends_gives_its_windows_back() {
    let text = std::fs::read_to_string("../../scenarios/schedule-to-be-changed.yaml").expect("a scenario");
    let find = |text: &str, at: u64| {
        let found = ScheduledChange::find("case", text, &GateOptions::default(), Duration::from_ms(at));
        found.expect("time-aware streams")
    };
    let added = find(&text, 10).expect("a change");
    let ended = added.text.replacen("events:\n", "events:\n  - {at: 20 ms, stop-stream: grip}\n", 1);

    // It has not begun, or has not ended.
    let begins = "the list that s1:s2 gets at 10 ms begins at 12 ms: the next change must be set behind that";
    let nothing = "each time-aware stream states an offset";
    for (at, reason) in [(9, begins), (11, begins), (12, nothing), (19, nothing)] {
        let reasons = find(&ended, at).expect_err("no change");
        assert!(reasons[0].starts_with(reason), "{at} ms: {reasons:?}");
    }

    let given_back = find(&ended, 21).expect("a change");
    assert!(given_back.holds(), "{:?}", given_back.gates.unproven);
    let names = |found: &ScheduledChange| -> Vec<String> {
        found.ended.iter().map(|stream| found.gates.network.streams[stream.index()].name.clone()).collect()
    };
    assert_eq!((given_back.begin, names(&given_back)), (Duration::from_ms(23), vec!["grip".to_owned()]));
    assert!(given_back.change.streams.is_empty());
    for (_, list) in &given_back.change.lists {
        // A window in 500 us, and the time before and behind it.
        assert_eq!((list.cycle_time.floor(), list.control_list.len()), (Duration::from_us(500), 3));
    }
    assert_eq!(last_lists(&given_back), [23_000_000; 2]);

    let grip = text.split("  - name: grip\n").nth(1).and_then(|rest| rest.split("  - name: video\n").next());
    let grip = grip.expect("a stream of the scenario");
    let again = ended.replacen("streams:\n", &format!("streams:\n  - name: again\n{grip}"), 1);
    let replaced = find(&again, 21).expect("a change");
    assert!(replaced.holds(), "{:?}", replaced.gates.unproven);
    assert_eq!((replaced.begin, replaced.change.start), (Duration::from_ms(23), Duration::from_ms(24)));
    assert_eq!(names(&replaced), ["grip"]);
}

/// A stream that stays, of a talker whose port has no gates yet: it is open all the time, so the stream has its place there. With gates in
/// the other places, a second stream of the talker is added behind it, and the port gets its first list.
#[test]
fn a_stream_that_stays_holds_at_ports_that_get_their_first_gates() {
    let text = "network-control: none
vlans: {1: {tagged: all}}
defaults: {rate: 100 Mbit/s, traffic-class-table: identity}
nodes: {a: {type: end-station}, s: {type: bridge}, b: {type: end-station}}
links:
  - {between: [a, s]}
  - {between: [s, b]}
streams:
  - {name: stays, talker: a, listeners: b, priority: 6, payload: 300 B, deadline: 200 us, traffic: {type: periodic, offset: 0 s, interval: 800 us}, time-aware: {}}
  - {name: new, talker: a, listeners: b, priority: 7, payload: 46 B, deadline: 200 us, traffic: {type: periodic, interval: 800 us, burst: 2}, time-aware: {}}
";
    let options = GateOptions { keep: true, ..GateOptions::default() };
    let found = ScheduledGates::find(&network(text), &options).expect("time-aware streams");
    let found = found.unwrap_or_else(|reasons| panic!("{reasons:?}"));
    assert!(found.holds(), "{:?}", found.unproven);
    assert_eq!(found.streams[0].offset, Some(Duration::ZERO));
}
