//! Frame preemption, from the description to the picosecond at which each frame starts and ends.
//!
//! Times are those of cases worked out by hand (IEEE Std 802.3-2022, clause 99). One station sends over one cable of no length at 100 Mbit/s, an octet
//! in 80 ns; its priorities 0 to 3 are preemptable, where the case says nothing else.

use tautwire_core::preemption::VerifyStatus;
use tautwire_sim::{DropReason, PreemptionObservation, Recorder, Transmission};
use tautwire_workbench::{Driver, Network, Observation, Options, bounds, simulate_with, verify};

use super::{codes, network};

/// What each frame did, by its stream: picoseconds of its start and of its last bit.
#[derive(Default)]
struct Sent(Vec<(u32, u64, u64)>);

impl Recorder for Sent {
    fn transmitted(&mut self, sent: &Transmission) {
        let parts = sent.parts;
        let sum = parts.processing + parts.shaping + parts.queueing + parts.transmission + parts.propagation;
        assert_eq!(sum, sent.received.since(sent.queued), "the parts are the whole");
        self.0.push((sent.stream, sent.start.as_ps(), sent.received.as_ps()));
    }
}

const TABLE: &str = "frame-preemption-status-table: {priority0: preemptable, priority1: preemptable, priority2: preemptable, priority3: preemptable}";

/// A station with this beside its table, and streams each of one frame: class, octets, nanosecond at which it comes.
fn station(keys: &str, port: &str, frames: &[(u8, u32, u64)]) -> String {
    let mut text = format!(
        "allow: [class::overload]
defaults: {{rate: 100 Mbit/s, traffic-class-table: identity}}
nodes:
  a: {{type: end-station, frame-preemption-parameters: {{{TABLE}{keys}}}{port}}}
  b: {{type: end-station}}
links: [{{name: cable, between: [a, b]}}]
run: {{duration: 30 ms}}
streams:
"
    );
    for (number, (class, octets, at)) in frames.iter().enumerate() {
        text += &format!(
            "  - {{name: f{number}, talker: a, listeners: b, priority: {class}, frame: {octets} B, traffic: {{type: periodic, interval: 1 s, offset: {at} ns}}}}\n",
        );
    }
    text
}

fn run(text: &str) -> (Network, Observation, Vec<(u32, u64, u64)>) {
    let network = network(text);
    let mut sent = Sent::default();
    let observation = simulate_with(&network, &mut Options::default(), &mut sent);
    // Whatever the run does not need to be asked changes nothing.
    for driver in [Driver::Plain, Driver::Spurious] {
        let mut other = Sent::default();
        let options = &mut Options { driver, ..Options::default() };
        let again = simulate_with(&network, options, &mut other);
        assert_eq!((other.0, again.trace_hash), (sent.0.clone(), observation.trace_hash), "{text}");
    }
    let all = bounds(&network);
    assert_eq!(verify(&network, &all, &observation).contradictions, [], "{text}");
    sent.0.sort_unstable();
    (network, observation, sent.0)
}

/// Per frame, microseconds of its start and of its last bit.
fn times(keys: &str, port: &str, frames: &[(u8, u32, u64)]) -> Vec<(f64, f64)> {
    let (_, _, sent) = run(&station(keys, port, frames));
    sent.into_iter().map(|(_, start, end)| (start as f64 / 1e6, end as f64 / 1e6)).collect()
}

/// Case O5: where a frame is cut, and what it costs.
#[test]
fn a_frame_is_cut_where_the_standard_lets_it_be() {
    for (at, express, ends) in [
        (10_000, 11.28, 130.72),
        (3_000, 6.72, 130.72),
        (117_600, 123.04, 122.08),
        (116_960, 118.24, 130.72),
        (117_000, 123.04, 122.08),
    ] {
        let seen = times("", "", &[(0, 1_518, 0), (7, 64, at)]);
        assert_eq!((seen[0], seen[1].0), ((0.0, ends), express), "at {at} ns");
    }
    let (_, observation, _) = run(&station("", "", &[(0, 1_518, 0), (7, 64, 10_000)]));
    let seen = observation.mechanisms.of::<PreemptionObservation>().expect("counters");
    let [sender, receiver] = &seen.ports[..] else { panic!("{seen:?}") };
    assert_eq!((sender.preemption_active, sender.preemptable, sender.frag_count_tx), (true, 1, 1));
    assert_eq!(
        (receiver.frag_count_rx, receiver.frame_ass_ok_count, receiver.frame_ass_error_count),
        (1, 1, 0)
    );
    // 1562 octets of the frame, and 84 of the express one.
    assert_eq!(observation.ports[0].busy.as_ps(), (1_562 + 84) * 80_000);
}

/// Case O6: the longest blocking is that of the largest frame that is not cut.
#[test]
fn only_what_cannot_be_cut_blocks_for_long() {
    for (size, octets, blocking) in
        [(0, 123, 11.44), (0, 124, 6.72), (0, 1_518, 6.72), (3, 315, 26.8), (3, 316, 22.08)]
    {
        let keys = format!(", add-frag-size: {size}");
        let seen = times(&keys, "", &[(0, octets, 0), (7, 64, 1)]);
        assert_eq!(seen[1].0, blocking, "{size} {octets}");
    }
}

/// A frame of the highest priority is preempted by one of the lowest; and nothing is where preemption is off, or the other end takes no fragments.
#[test]
fn express_frames_preempt_whatever_their_priority() {
    let frames = [(7, 1_518, 0), (0, 64, 10_000)];
    let swapped = station("", "", &frames).replace("priority0: p", "priority7: p");
    assert_eq!(run(&swapped).2, [(0, 0, 130_720_000), (1, 11_280_000, 11_280_000 + 72 * 80_000)]);
    let off = station(", enable-tx: false", "", &[(0, 1_518, 0), (7, 64, 10_000)]);
    assert_eq!(run(&off).2[1].1, 123_040_000);
    let alone = station("", "", &[(0, 1_518, 0), (7, 64, 10_000)]).replace(
        "b: {type: end-station}",
        "b: {type: end-station, frame-preemption-parameters: {support: false}}",
    );
    assert_eq!(run(&alone).2[1].1, 123_040_000);
    assert_eq!(codes(&alone), ["preemption::inactive"]);
    let deaf = alone.replace(TABLE, &format!("{TABLE}, verify-disable-tx: true"));
    assert_eq!(codes(&deaf), ["preemption::impossible"]);
}

/// The other end is asked at the start: until its response is in, frames are sent whole. An mPacket of verification takes 84 octets of the line.
#[test]
fn nothing_is_cut_before_the_other_end_has_responded() {
    let seen = |keys: &str, text: &dyn Fn(&str) -> String, frames: &[(u8, u32, u64)]| {
        let text = text(&station(&format!(", verify-at-start: true{keys}"), "", frames));
        let (_, observation, sent) = run(&text);
        let ports = observation.mechanisms.of::<PreemptionObservation>().expect("counters").ports.clone();
        let starts: Vec<f64> = sent.iter().map(|(_, start, _)| *start as f64 / 1e6).collect();
        (ports, starts)
    };
    let plain = |text: &str| text.to_owned();
    // Asked until 5.76 us, and responded until 11.52 us: what comes before is sent whole.
    let (ports, starts) = seen("", &plain, &[(0, 1_518, 0), (7, 64, 10_000)]);
    assert_eq!(starts, [6.72, 129.76]);
    let [sender, receiver] = &ports[..] else { panic!("{ports:?}") };
    assert_eq!((sender.verify_count, sender.respond_count, sender.preemptable), (1, 0, 0));
    assert_eq!((receiver.verify_count, receiver.respond_count, receiver.verify_status), (0, 1, None));
    assert_eq!((sender.verify_status, sender.preemption_active), (Some(VerifyStatus::Succeeded), true));
    let begun = |at: u64| seen("", &plain, &[(0, 1_518, at), (7, 64, at + 10_000)]).1;
    assert_eq!(begun(11_520), [11.52, 22.8]);
    assert_eq!(begun(11_519), [11.519, 11.519 + 123.04]);
    // An end that takes no fragments does not respond: three attempts.
    let deaf = |text: &str| {
        text.replace(
            "b: {type: end-station}",
            "b: {type: end-station, frame-preemption-parameters: {support: false}}",
        )
    };
    let (ports, starts) = seen(", verify-time: 2 ms", &deaf, &[(0, 1_518, 8_000_000), (7, 64, 8_010_000)]);
    assert_eq!(starts, [8_000.0, 8_123.04]);
    let sender = &ports[0];
    assert_eq!((sender.verify_count, sender.preemption_active), (3, false));
    assert_eq!(sender.verify_status, Some(VerifyStatus::Failed));
}

/// A link that comes back is verified again, unless the port is not to verify; a node that stops takes the link down, too.
#[test]
fn a_link_that_comes_back_is_verified_again() {
    for (down, up) in [("cut-link: cable", "mend-link: cable"), ("stop-node: b", "start-node: b")] {
        let run_with = |keys: &str| {
            let text = station(
                keys,
                "",
                &[(0, 1_518, 2_000_000), (7, 64, 2_010_000), (0, 1_518, 3_000_000), (7, 64, 3_010_000)],
            ) + &format!("events: [{{at: 1 ms, {down}}}, {{at: 2 ms, {up}}}]\n");
            let (_, observation, sent) = run(&text);
            let ports = observation.mechanisms.of::<PreemptionObservation>().expect("counters").ports.clone();
            let starts: Vec<f64> = sent.iter().map(|(_, start, _)| *start as f64 / 1e6).collect();
            (ports[0].verify_count, ports[0].verify_status, starts)
        };
        let verified = [2_006.72, 2_006.72 + 123.04, 3_000.0, 3_011.28];
        assert_eq!(run_with(""), (1, Some(VerifyStatus::Succeeded), verified.to_vec()), "{down}");
        let at_once = [2_000.0, 2_011.28, 3_000.0, 3_011.28];
        let disabled = Some(VerifyStatus::Disabled);
        assert_eq!(run_with(", verify-disable-tx: true"), (0, disabled, at_once.to_vec()), "{down}");
    }
}

/// A hold cuts before its window, and its release lets go on; an express frame that would not fit behind the cut cuts nothing.
#[test]
fn gates_hold_and_release() {
    let list = |operation: &str| {
        format!(
            ", gate-parameter-table: {{gate-enabled: true, guard: none, admin-control-list: [
      {{operation: set-and-release-mac, gate-states: 255, time-interval: 80 us}},
      {{operation: {operation}, gate-states: [7, 6, 5, 4], time-interval: 80 us}}]}}"
        )
    };
    let frames = [(0, 1_518, 0), (7, 64, 96_000)];
    // Held at 916 octets and cut there; released at 2000, and on behind 100 octets.
    let keys = ", hold-advance: 6720 ns, release-advance: 8 us";
    let seen = times(keys, &list("set-and-hold-mac"), &frames);
    assert_eq!(seen, [(0.0, 168.0 + 618.0 * 0.08), (96.0, 101.76)]);
    // Without a hold the express frame cuts it itself, in the window.
    let seen = times(keys, &list("set-gate-states"), &frames);
    assert_eq!((seen[0].1, seen[1].0), (130.72, 97.28));
    let (_, observation, _) = run(&station(keys, &list("set-and-hold-mac"), &frames));
    let seen = observation.mechanisms.of::<PreemptionObservation>().expect("counters");
    assert_eq!(seen.ports[0].hold_count, 30_000 / 160 + 1);
}

/// Fragments of several hops, and what a damaged one does.
#[test]
fn a_damaged_fragment_loses_its_frame() {
    let text = "
defaults: {rate: 100 Mbit/s, traffic-class-table: identity, frame-preemption-parameters: {frame-preemption-status-table: {priority0: preemptable}}}
nodes: {a: {type: end-station}, s: {type: bridge}, b: {type: end-station}}
links: [{between: [a, s], bit-error-rate: 1e-5}, {between: [s, b]}]
vlans: {1: {tagged: all}}
run: {duration: 1 s}
streams:
  - {name: long, talker: a, listeners: b, priority: 0, frame: 1518 B, traffic: {type: periodic, interval: 1 ms}}
  - {name: express, talker: a, listeners: b, priority: 7, frame: 64 B, traffic: {type: periodic, interval: 93 us}}
";
    let (_, observation, _) = run(text);
    let seen = observation.mechanisms.of::<PreemptionObservation>().expect("counters");
    let at = |node: usize| &seen.ports[node];
    let lost: u64 = observation.streams[0].dropped.iter().map(|(_, count)| count).sum();
    assert_eq!(observation.streams[0].dropped, [(DropReason::BitError, lost)]);
    assert!(lost > 80, "{lost}");
    let (sender, receiver) = (at(0), at(1));
    assert_eq!(sender.frag_count_tx, receiver.frag_count_rx + receiver.frame_smd_error_count, "{seen:?}");
    assert!(receiver.frame_smd_error_count > 20 && receiver.frame_ass_error_count == 0, "{seen:?}");
    assert!(receiver.frame_ass_ok_count > 800, "{seen:?}");
}

/// A link that fails under a frame loses it, interrupted or not.
#[test]
fn a_link_that_fails_loses_what_was_begun() {
    for at in [5, 12, 14, 20] {
        let text = station("", "", &[(0, 1_518, 0), (7, 64, 10_000), (1, 200, 1_000)])
            + &format!("events: [{{at: {at} us, cut-link: cable}}, {{at: 1 ms, mend-link: cable}}]\n");
        let (_, observation, _) = run(&text);
        let lost = |stream: usize| observation.streams[stream].dropped.clone();
        assert_eq!(lost(0), [(DropReason::LinkDown, 1)], "at {at} us");
        assert_eq!(lost(2), [(DropReason::LinkDown, 1)], "at {at} us");
    }
}

/// A description that Tautwire does not know how to run is refused.
#[test]
fn what_does_not_go_together_is_refused() {
    let good = station("", "", &[(0, 1_518, 0), (7, 64, 10_000)]);
    assert!(codes(&good).is_empty(), "{:?}", codes(&good));
    let mixed =
        good.replace("traffic-class-table: identity", "traffic-class-table: [0, 0, 0, 0, 0, 0, 0, 0]");
    assert_eq!(codes(&mixed), ["preemption::impossible"]);
}

/// INET's showcase of frame preemption, with its packets of 120 octets among those of 1200: the delay of time-sensitive frames is little more than their
/// time on the line, however long the others are; without preemption they wait for whole ones.
#[test]
fn express_frames_wait_for_a_fragment_as_in_the_showcase_of_inet() {
    let text = |octets: u32, table: &str| {
        format!(
            "vlans: {{1: {{tagged: all}}}}
defaults: {{rate: 100 Mbit/s, traffic-class-table: identity}}
nodes: {{host1: {{type: end-station{table}}}, host2: {{type: end-station}}}}
links: [{{between: [host1, host2]}}]
run: {{duration: 200 ms}}
streams:
  - {{name: background, talker: host1, listeners: host2, priority: 0, payload: {octets} B, traffic: {{type: greedy}}, arrival-curve: {{rate: 96 Mbit/s, burst: 6 kB}}}}
  - {{name: ts, talker: host1, listeners: host2, priority: 7, payload: 148 B, traffic: {{type: periodic, interval: 1 ms, jitter: 900 us}}}}
"
        )
    };
    let delays = |text: &str| {
        let network = network(text);
        let seen = simulate_with(&network, &mut Options::default(), &mut Sent::default());
        let bound = bounds(&network).streams[1].listeners[0].delay.clone().expect("a bound");
        (seen.streams[1].listeners[0].delay.max().expect("frames").as_ps() / 1_000, bound.as_ps() / 1_000)
    };
    let table = format!(", frame-preemption-parameters: {{{TABLE}}}");
    // 170 octets with their tag are 14.24 us behind their preamble; a fragment takes 84 octets or 143, the largest frame 1270.
    for octets in [1_228, 1_500] {
        let (seen, bound) = delays(&text(octets, &table));
        assert_eq!(bound, 14_240 + 11_440);
        assert!((14_240..=14_240 + 6_720).contains(&seen), "{seen}");
    }
    let (seen, bound) = delays(&text(1_228, ""));
    assert_eq!(bound, 14_240 + 101_600);
    assert!(seen > 100_000, "{seen}");
}

/// Network control in a class whose gates never open waits for ever, and may be sent in the first cycle: a class below has no bound by that.
#[test]
fn the_reason_names_the_class_that_has_no_window() {
    let scenario = include_str!("../../../../scenarios/scheduled-preemption.yaml");
    let control = "network-control: {priority: 6, rate: 100 kbit/s, burst: 2000 bit, frame-max: 200 B}";
    let network = network(&scenario.replace("network-control: none", control));
    let all = bounds(&network);
    let reason = all.streams[3].listeners[0].delay.as_ref().expect_err("no bound");
    assert_eq!(reason.name(), "no-window");
    let text = reason.text(&network);
    assert!(text.contains("the gate of class 6 at port s2.motor"), "{text}");
}
