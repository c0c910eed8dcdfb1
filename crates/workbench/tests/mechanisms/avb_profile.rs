//! The AVB profile (IEEE Std 802.1BA) is kept, MSRP grants every stream, and yet a frame takes longer through a bridge
//! than MSRP's accumulated latency: the profile is no proof.
//!
//! Eight bridges bring a stream each to a ninth. Where a long frame of best effort went before, two frames of a stream
//! come back to back; when all eight do so at once, sixteen are before the frame of a ninth stream, and the published
//! estimate counts eight.

use std::fmt::Write as _;

use tautwire_core::srp::{SrClass, hop_latency_ns};
use tautwire_sim::RungEvent;
use tautwire_units::{BitRate, Duration};
use tautwire_workbench::{Network, Options, bounds, load_text, simulate};

const LANES: u32 = 8;

/// The network: reserved by MSRP, or with the idleSlopes that these reservations give, at phases of our choice.
fn text(reserved: bool) -> String {
    let slope = |rate: &str| match reserved {
        true => String::new(),
        false => {
            format!(", classes: {{7: {{transmission-selection: credit-based, idle-slope: {rate} Mbit/s}}}}")
        }
    };
    let mut text = String::from(
        "name: profile\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\ndefaults: {rate: 100 Mbit/s, traffic-class-table: stream-reservation}\nnodes:\n",
    );
    let _ = writeln!(text, "  talker: {{type: end-station}}\n  listener: {{type: end-station}}");
    let _ = writeln!(text, "  noise: {{type: end-station}}\n  sink: {{type: end-station}}");
    let _ = writeln!(text, "  middle: {{type: bridge{}}}", slope("73.728"));
    for lane in 0..LANES {
        let _ = writeln!(text, "  x{lane}: {{type: end-station}}\n  y{lane}: {{type: end-station}}");
        let _ = writeln!(text, "  s{lane}: {{type: bridge{}}}", slope("8.192"));
    }
    text.push_str("links:\n");
    for station in ["talker", "listener", "noise", "sink"] {
        let _ = writeln!(text, "  - {{between: [{station}, middle]}}");
    }
    for lane in 0..LANES {
        let _ = writeln!(
            text,
            "  - {{between: [x{lane}, s{lane}]}}\n  - {{between: [y{lane}, s{lane}]}}\n  - {{between: [s{lane}, middle]}}"
        );
    }
    if reserved {
        text.push_str("gptp: {}\nstream-reservation: {profile: avb, shaping: reserved}\n");
    }
    text.push_str("streams:\n");
    let reservation = if reserved { ", reservation: {}" } else { "" };
    // Times in nanoseconds within the period of class A. Best effort comes to a bridge half a microsecond before what it is to delay.
    let mut stream = |name: &str,
                      talker: &str,
                      listener: &str,
                      payload: u32,
                      priority: u8,
                      every: u32,
                      at: u32| {
        let own = if priority == 3 { reservation } else { "" };
        let _ = writeln!(
            text,
            "  - {{name: {name}, talker: {talker}, listeners: {listener}, priority: {priority}, payload: {payload} B, \
             traffic: {{type: periodic, interval: {every} us, offset: {at} ns}}{own}}}"
        );
    };
    stream("told", "talker", "listener", 85, 3, 125, 1_000_000 + 143_900);
    for lane in 0..LANES {
        stream(&format!("a{lane}"), &format!("x{lane}"), "listener", 85, 3, 125, 1_000_000);
        stream(&format!("b{lane}"), &format!("y{lane}"), "sink", 1_500, 0, 12_500, 1_000_000 - 113_600);
    }
    stream("c", "noise", "listener", 1_500, 0, 12_500, 1_000_000 + 18_600);
    text.push_str("run: {duration: 3 s}\n");
    text
}

fn network(text: &str, warnings: usize) -> Network {
    let loaded = load_text("profile.yaml", text);
    assert_eq!(loaded.diagnostics.len(), warnings, "{:#?}\n{text}", loaded.diagnostics);
    loaded.network.expect("a network")
}

#[test]
fn a_network_that_keeps_the_profile_exceeds_the_accumulated_latency() {
    // The profile is kept: not a word of `check`. And every stream is granted.
    let asked = network(&text(true), 0);
    let seen = simulate(&asked, &mut Options::default());
    assert_eq!(seen.reservations.len(), 9);
    for observed in &seen.reservations {
        assert!(observed.ladder.iter().any(|rung| rung.event == RungEvent::Started), "granted");
        assert!(observed.ladder.iter().all(|rung| rung.event != RungEvent::Stopped), "for good");
    }
    let reservation = asked.srp.as_ref().expect("stream reservation");
    let rate = BitRate::from_mbps(100);
    let accumulated = hop_latency_ns(Duration::ZERO, rate, &SrClass::a(), 75, &reservation.streams[0].talker);
    // With what was granted, at these phases: from the bridge's reception to the listener's.
    let granted = network(&text(false), 0);
    let options = &mut Options { duration: Some(Duration::from_ms(100)), ..Options::default() };
    let seen = simulate(&granted, options);
    let observed = seen.streams[0].hops[1].max;
    assert!(
        observed > Duration::from_ns(u64::from(accumulated)) + Duration::from_us(20),
        "{observed}, told {accumulated} ns"
    );
    // The bound holds.
    let bound = bounds(&granted).streams[0].listeners[0].delay.clone().expect("a bound");
    assert!(seen.streams[0].listeners[0].delay.max().expect("frames") <= bound);
}

#[test]
fn without_the_bridges_before_it_the_accumulated_latency_holds() {
    // Without best effort at the eight bridges no two frames of a stream come together.
    let quiet = text(false).replace(
        "payload: 1500 B, traffic: {type: periodic, interval: 12500 us, offset: 886400 ns}",
        "payload: 46 B, traffic: {type: periodic, interval: 12500 us, offset: 886400 ns}",
    );
    assert_ne!(quiet, text(false));
    let network = network(&quiet, 0);
    let options = &mut Options { duration: Some(Duration::from_ms(100)), ..Options::default() };
    let observed = simulate(&network, options).streams[0].hops[1].max;
    assert!(observed < Duration::from_us(244), "{observed}");
}
