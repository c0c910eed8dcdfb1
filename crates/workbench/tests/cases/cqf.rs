//! Cyclic queuing and forwarding, from the description to each delay and its bound.
//!
//! Three bridges in a row, cycles of 500 us with a dead time of 20 us, cables of 100 m at 100 Mbit/s (0.5 us), processing 10 us. A frame of
//! 500 octets takes 40.64 us.

use tautwire_units::Duration;
use tautwire_workbench::network::StreamIndex;
use tautwire_workbench::{Bounds, Driver, Network, Observation, Options, bounds, losses, simulate, verify};

use super::{codes, network};

/// The section of the network.
const CYCLES: &str = "cyclic-queuing-and-forwarding: {cycle-time: 500 us, priorities: [6, 7], dead-time: 20 us, precision: 1 us}";

/// Talkers `a0`, `a1`... that each hand over a frame of 500 octets in every cycle at one of these offsets, to `b`; with more streams.
fn description(offsets: &[f64], section: &str, more: &str) -> String {
    let all = |what: &dyn Fn(usize) -> String| (0..offsets.len()).map(what).collect::<String>();
    format!(
        "vlans: {{1: {{tagged: all}}}}
devices: {{switch: {{stages: [{{name: forwarding, position: processing, latency: 10 us}}]}}}}
defaults: {{rate: 100 Mbit/s, traffic-class-table: identity, device: switch}}
{section}
nodes:
{}  b: {{type: end-station}}
  d: {{type: end-station}}
  s1: {{type: bridge}}
  s2: {{type: bridge}}
  s3: {{type: bridge}}
links: [{}{{between: [d, s1], length: 100 m}}, {{between: [s1, s2], length: 100 m}}, {{between: [s2, s3], length: 100 m}}, {{between: [s3, b], length: 100 m}}]
run: {{duration: 60 ms}}
streams:
{}{more}",
        all(&|number| format!("  a{number}: {{type: end-station}}\n")),
        all(&|number| format!("{{between: [a{number}, s1], length: 100 m}}, ")),
        all(&|number| format!(
            "  - {{name: f{number}, talker: a{number}, listeners: b, priority: 7, frame: 500 B, traffic: {{type: periodic, interval: 500 us, offset: {} ns}}}}\n",
            (offsets[number] * 1_000.0).round()
        )),
    )
}

fn us(hundredths: u64) -> Duration {
    Duration::from_ns(hundredths * 10)
}

/// A run by all drivers, and bounds that it keeps.
fn run(text: &str) -> (Network, Bounds, Observation) {
    let network = network(text);
    let observation = simulate(&network, &mut Options::default());
    for driver in [Driver::Plain, Driver::Spurious] {
        assert_eq!(simulate(&network, &mut Options { driver, ..Options::default() }), observation, "{text}");
    }
    let all = bounds(&network);
    assert_eq!(verify(&network, &all, &observation).contradictions, [], "{text}");
    (network, all, observation)
}

fn bound(all: &Bounds, stream: usize) -> (Duration, Duration) {
    let listener = &all.streams[stream].listeners[0];
    (listener.delay_min, listener.delay.clone().expect("a bound"))
}

fn seen(observation: &Observation, stream: usize) -> (Duration, Duration) {
    let delay = &observation.streams[stream].listeners[0].delay;
    (delay.min().expect("a frame"), delay.max().expect("a frame"))
}

/// Case O9: the interval of three bridges, and a frame that is handed over as late as it may be.
#[test]
fn the_interval_of_three_bridges() {
    let (network, all, observation) = run(&description(&[439.36], CYCLES, ""));
    assert_eq!(bound(&all, 0), (us(110_178), us(198_050)));
    assert_eq!(seen(&observation, 0), (us(110_178), us(110_178)));
    assert_eq!(all.streams[0].listeners[0].jitter(), Some(us(87_872)));
    assert!(!losses(&network, &all).may_be_lost(StreamIndex(0), 0));
    // At the start of a cycle: it leaves the last bridge three cycles later.
    let (_, all, observation) = run(&description(&[0.0], CYCLES, ""));
    assert_eq!(bound(&all, 0), (us(110_178), us(198_050)));
    assert_eq!(seen(&observation, 0), (us(154_114), us(154_114)));
    // A tenth of a nanosecond later it leaves its cycle.
    let late = description(&[0.0], CYCLES, "").replace("offset: 0 ns", "offset: 439360001 ps");
    assert_eq!(codes(&late), ["cyclic::talker"]);
}

/// Eleven frames are a cycle's, and the last one waits for ten at every bridge; a twelfth is too much. Behind a lower frame of 1522 octets
/// eight are.
#[test]
fn a_cycle_takes_eleven_frames() {
    let (_, all, observation) = run(&description(&[0.0; 11], CYCLES, ""));
    // 11 * 41.6 - 0.96 behind the start of the third cycle.
    let latest = (0..11).map(|stream| seen(&observation, stream).1).max();
    assert_eq!(latest, Some(us(150_000 + 45_664 + 50)));
    assert_eq!(bound(&all, 10), (us(110_178), us(198_050)));
    assert_eq!(codes(&description(&[0.0; 12], CYCLES, "")), ["cyclic::load"]);
    let lower = "  - {name: lower, talker: d, listeners: b, priority: 0, payload: 1500 B, traffic: {type: periodic, interval: 1 ms}}\n";
    let (_, all, observation) = run(&description(&[0.0; 8], CYCLES, lower));
    assert_eq!(bound(&all, 7), (us(110_178), us(198_050)));
    assert!(all.streams[8].listeners[0].delay.is_ok(), "{:?}", all.streams[8].listeners[0].delay);
    assert!(seen(&observation, 7).1 <= us(198_050));
    assert_eq!(codes(&description(&[0.0; 9], CYCLES, lower)), ["cyclic::load"]);
}

/// A lower frame of 1522 octets that is cut keeps a cycle from 143 octets, or from 335 with the largest fragments: 480 us take 11 frames behind the one,
/// and 10 behind the other.
#[test]
fn a_cycle_takes_more_frames_behind_one_that_is_cut() {
    let lower = "  - {name: lower, talker: d, listeners: b, priority: 0, payload: 1500 B, traffic: {type: periodic, interval: 20 ms}}\n";
    let cut = |size: u64, status: &str| {
        let table = format!("frame-preemption-status-table: {{{status}}}");
        let key =
            format!("device: switch, frame-preemption-parameters: {{{table}, add-frag-size: {size}}}}}");
        move |frames: usize| description(&vec![0.0; frames], CYCLES, lower).replace("device: switch}", &key)
    };
    for (size, most) in [(0, 11), (3, 10)] {
        let of = cut(size, "priority0: preemptable");
        let (network, all, observation) = run(&of(most));
        assert_eq!(bound(&all, most - 1), (us(110_178), us(198_050)));
        assert!(seen(&observation, most - 1).1 <= us(198_050));
        assert!(!losses(&network, &all).may_be_lost(StreamIndex(0), 0));
        assert!(all.streams[most].listeners[0].delay.is_ok(), "{:?}", all.streams[most].listeners[0].delay);
        assert!(codes(&of(most + 1)).contains(&"cyclic::load"));
    }
    // Cyclic frames are never cut.
    assert_eq!(
        codes(&cut(0, "priority6: preemptable, priority7: preemptable")(1)),
        ["cyclic::impossible", "cyclic::talker"]
    );
}

/// The dead time is what the longest line needs: cable, processing and the phase error of the clocks.
#[test]
fn the_dead_time_is_computed() {
    let least = CYCLES.replace("20 us", "11500 ns");
    run(&description(&[0.0], &least, ""));
    assert_eq!(codes(&description(&[0.0], &CYCLES.replace("20 us", "11499 ns"), "")), ["cyclic::dead-time"]);
    let (network, all, _) = run(&description(&[0.0], &CYCLES.replace("dead-time: 20 us, ", ""), ""));
    assert_eq!(network.cyclic.as_ref().map(|cyclic| cyclic.dead_time), Some(Duration::from_ns(11_500)));
    assert_eq!(bound(&all, 0).1, us(200_050) - Duration::from_ns(11_500));
}

/// A frame that ends with the cycle is received before the next one begins, even where a bridge takes no time: a nanosecond of dead time.
#[test]
fn a_frame_that_ends_with_its_cycle_is_received_in_it() {
    let quick = |dead: &str, offset: f64| {
        let section = CYCLES.replace("dead-time: 20 us, precision: 1 us", dead);
        description(&[offset], &section, "").replace("latency: 10 us", "latency: 0 ns")
    };
    // Cycle less a dead time of 501 ns and a frame of 40.64 us.
    let (network, all, observation) = run(&quick("precision: 0 s", 458.859));
    assert_eq!(network.cyclic.as_ref().map(|cyclic| cyclic.dead_time), Some(Duration::from_ns(501)));
    assert_eq!(bound(&all, 0).0, us(100_000 + 8_128 + 50) + Duration::from_ns(501));
    assert_eq!(seen(&observation, 0).0, bound(&all, 0).0);
    assert_eq!(codes(&quick("precision: 0 s, dead-time: 500 ns", 0.0)), ["cyclic::dead-time"]);
}

/// Three buffers and cables of 30 km between bridges, 150 us, in cycles of 100 us. A bridge sends what comes by such a line three cycles
/// later: 150 us, 10 us of processing and 1 us of clocks reach into the second one. What comes by 100 m goes on two cycles later. So the three bridges are 8 cycles
/// behind the talker, and the delay is between 8 * 100 - 100 + 2 * 40.64 + 0.5 and 9 * 100 + 0.5.
#[test]
fn three_buffers_behind_lines_longer_than_a_cycle() {
    const SECTION: &str =
        "cyclic-queuing-and-forwarding: {cycle-time: 100 us, priorities: [5, 6, 7], precision: 1 us}";
    let long = |offset: f64, section: &str, more: &str| {
        let text = description(&[offset], section, more).replace("interval: 500 us", "interval: 100 us");
        let text = text.replace("[s1, s2], length: 100 m", "[s1, s2], length: 30 km");
        text.replace("[s2, s3], length: 100 m", "[s2, s3], length: 30 km")
    };
    // At the start of a cycle (the fourth, when all bridges have begun and their clocks may differ), and as late as it may be.
    for (offset, delay) in [(400.0, 80_000 + 4_064 + 50), (459.36, 78_178)] {
        let (network, all, observation) = run(&long(offset, SECTION, ""));
        let cyclic = network.cyclic.as_ref().expect("cycles");
        assert_eq!(cyclic.dead_time, Duration::ZERO);
        let lines: Vec<_> = cyclic.lines.values().map(|line| (line.offset, line.cycles)).collect();
        // A frame of 500 octets takes 40.64 us, and clocks may differ by 1 us.
        let (short, far) = (us(4_064 + 50 - 100), us(4_064 + 15_000 - 100));
        assert_eq!(lines, [(short, 2), (far, 3), (far, 3)]);
        assert_eq!(bound(&all, 0), (us(78_178), us(90_050)));
        assert_eq!(seen(&observation, 0), (us(delay), us(delay)));
        assert_eq!(all.streams[0].listeners[0].jitter(), Some(us(11_872)));
        assert!(!losses(&network, &all).may_be_lost(StreamIndex(0), 0));
    }
    // 0.96 us for the gap behind the last frame of the cycle before, as nothing is dead: two frames of 41.6 us fit, less a gap at the end.
    let burst = |frames: u64| long(400.0, SECTION, "").replace("offset", &format!("burst: {frames}, offset"));
    let (_, all, observation) = run(&burst(2));
    assert_eq!(bound(&all, 0), (us(78_178), us(90_050)));
    assert_eq!(seen(&observation, 0).1, us(80_000 + 8_224 + 50));
    let found = codes(&burst(3));
    assert!(["cyclic::talker", "cyclic::load"].iter().all(|code| found.contains(code)), "{found:?}");
    // Two buffers have no dead time for such lines; a bridge that takes up to 70 us more needs a fourth, and sends a cycle later.
    let two = SECTION
        .replace("5, 6, 7", "6, 7")
        .replace("cycle-time: 100 us", "cycle-time: 100 us, dead-time: 20 us");
    assert_eq!(codes(&long(400.0, &two, "")), ["cyclic::dead-time"]);
    let varied = |section: &str| {
        long(400.0, section, "").replace("latency: 10 us", "latency: {min: 10 us, max: 80 us}")
    };
    assert_eq!(codes(&varied(SECTION)), ["cyclic::buffers"]);
    let four = SECTION.replace("5, 6, 7", "4, 5, 6, 7");
    let (_, all, _) = run(&varied(&four));
    assert_eq!(bound(&all, 0), (us(98_178), us(110_050)));
    // Before the lists of all bridges have begun, by any clock, nothing is sent: the base time, and the difference of clocks.
    let late = SECTION.replace("cycle-time", "base-time: 1 ms, cycle-time");
    assert_eq!(codes(&long(1_000.0, &late, "")), ["cyclic::talker"]);
    run(&long(1_001.0, &late, ""));
}

/// A talker whose clock is ahead of that of the last bridge sees longer delays by the difference.
#[test]
fn the_phase_of_clocks_is_part_of_the_delay() {
    let ahead = |node: &str| {
        let text = description(&[0.0], CYCLES, "").replace("offset: 0 ns", "offset: 2 ms");
        let kind = if node == "a0" { "end-station" } else { "bridge" };
        text.replace(
            &format!("  {node}: {{type: {kind}}}"),
            &format!("  {node}: {{type: {kind}, clock: {{offset: 800 ns}}}}"),
        )
    };
    let (_, all, _) = run(&ahead("a0"));
    assert_eq!(bound(&all, 0), (us(110_178 + 80), us(198_050 + 80)));
    let (_, all, observation) = run(&ahead("s3"));
    assert_eq!(bound(&all, 0), (us(110_178 - 80), us(198_050 - 80)));
    assert_eq!(seen(&observation, 0), (us(154_114 - 80), us(154_114 - 80)));
    // It begins before the cycles of a clock that is past the base time.
    assert_eq!(codes(&ahead("s3").replace("offset: 2 ms", "offset: 0 ms")), ["cyclic::talker"]);
    assert_eq!(codes(&ahead("s3").replace("precision: 1 us", "precision: 700 ns")), ["cyclic::clocks"]);
}

/// A queue that does not take the frames of a cycle may lose some.
#[test]
fn queues_hold_the_frames_of_a_cycle() {
    let limited = |frames: u64| {
        description(&[0.0; 5], CYCLES, "").replace(
            "device: switch}",
            &format!(
                "device: switch, classes: {{6: {{queue-limit: {{frames: {frames}}}}}, 7: {{queue-limit: {{frames: {frames}}}}}}}}}"
            ),
        )
    };
    for (frames, may_be_lost) in [(5, false), (4, true)] {
        let network = network(&limited(frames));
        let all = bounds(&network);
        assert_eq!(losses(&network, &all).may_be_lost(StreamIndex(0), 0), may_be_lost, "{frames}");
    }
}

/// What is wrong is told in the words of cycles, and what is switched off is no obstacle.
#[test]
fn faults_are_told_in_the_words_of_cycles() {
    let good = description(&[0.0], CYCLES, "");
    let short = good
        .replace("cycle-time: 500 us", "cycle-time: 60 us")
        .replace("interval: 500 us", "interval: 600 us");
    let found = codes(&short);
    assert!(!found.is_empty() && found.iter().all(|code| code.starts_with("cyclic::")), "{found:?}");
    let cut = good.replace("switch: {", "switch: {switching: cut-through, ");
    let found = codes(&cut);
    assert!(!found.is_empty() && found.iter().all(|code| *code == "cyclic::impossible"), "{found:?}");
    assert_eq!(codes(&good.replace("priorities: [6, 7]", "priorities: [7]")), ["form::count"]);
    let (_, _, plain) = run(&good);
    for idle in [
        "enable-tx: false",
        "add-frag-size: 1",
        "support: false, frame-preemption-status-table: {priority0: preemptable}",
    ] {
        let text =
            good.replace("defaults: {", &format!("defaults: {{frame-preemption-parameters: {{{idle}}}, "));
        let (_, _, observation) = run(&text);
        assert_eq!(observation.streams, plain.streams, "{idle}");
    }
    let cuts =
        "defaults: {frame-preemption-parameters: {frame-preemption-status-table: {priority6: preemptable}}, ";
    let found = codes(&good.replace("defaults: {", cuts));
    assert!(found.contains(&"cyclic::impossible"), "{found:?}");
}
