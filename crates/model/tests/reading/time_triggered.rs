//! Time-triggered virtual links as they are resolved: addresses, points, windows, and what a schedule must hold.

use tautwire_core::time_triggered::{EmptySlot, Integration};
use tautwire_model::network::{Network, PortIndex, StreamIndex};
use tautwire_model::time_triggered::{Release, ScheduleFault, Timing};
use tautwire_units::Duration;
use tautwire_wire::MacAddress;

fn network(settings: &str, links: &[&str]) -> Network {
    let mut text = format!(
        "defaults: {{rate: 100 Mbit/s, device: store-and-forward, clock: {{tolerance: 50 ppm}}}}
time-triggered: {{precision: 2 us{settings}}}
nodes:
  a: {{type: end-station}}
  b: {{type: end-station}}
  c: {{type: end-station}}
  s: {{type: bridge}}
  t: {{type: bridge}}
links:
  - {{between: [a, s]}}
  - {{between: [s, t]}}
  - {{between: [t, b]}}
  - {{between: [s, c]}}
streams:
  - {{name: other, talker: a, listeners: b, payload: 1500 B, traffic: {{type: periodic, interval: 1 ms}}}}\n"
    );
    for (number, link) in links.iter().enumerate() {
        text += &format!(
            "  - {{name: l{number}, talker: a, listeners: [b, c], payload: 100 B, \
             traffic: {{type: periodic, interval: 4 ms}}, time-triggered: {{{link}}}}}\n"
        );
    }
    let loaded = tautwire_model::load_text("links", &text);
    assert!(!loaded.has_errors(), "{:#?}", loaded.diagnostics);
    loaded.network.expect("a whole network")
}

fn offsets(network: &Network, stream: usize) -> Vec<u64> {
    let link = network.streams[stream].time_triggered.as_ref().expect("a link");
    link.points.iter().map(|point| point.offset.as_ps() / 1_000).collect()
}

#[test]
fn a_link_has_its_address_its_class_and_a_point_for_every_hop() {
    let network = network("", &["id: 4660, period: 4 ms, offset: 100 us"]);
    let stream = &network.streams[1];
    assert_eq!(stream.destination, MacAddress([3, 4, 5, 6, 0x12, 0x34]));
    assert!(stream.hops.iter().all(|hop| !hop.tagged.vlan && hop.class.number() == 7));
    let settings = network.time_triggered.expect("settings");
    assert_eq!((settings.integration, settings.empty_slot), (Integration::TimelyBlock, EmptySlot::Kept));
    assert_eq!(settings.integration_cycle, Duration::from_ms(10));
    let link = stream.time_triggered.as_ref().expect("a link");
    assert_eq!((link.release, link.points.len(), stream.hops.len()), (Release::Free, 4, 4));
    assert_eq!(network.time_triggered_class(stream.hops[0].port), Some(stream.hops[0].class));
    assert_eq!(network.time_triggered_class(PortIndex(2)), None, "the listener's port sends nothing");
    // 118 octets and the preamble at 100 Mbit/s, the device's 3 us, and the precision twice: the correction of
    // a clock, and two clocks; with the tolerance of the clock.
    let reach = Timing::new(&network).expect("timing").reach(stream, 0).as_ps();
    let wire = (118 + 8) * 80_000;
    assert!((7_000_000 + wire..7_001_000 + wire).contains(&reach), "{reach}");
    let first = 100_000;
    let step = reach.div_ceil(1_000);
    let found = offsets(&network, 1);
    assert_eq!(found[0], first);
    assert!(found[1..].contains(&(first + step)), "{found:?}");
    assert!(network.schedule_faults().is_empty());
}

#[test]
fn what_others_may_delay_a_frame_depends_on_the_integration() {
    let lateness = |settings| {
        let network = network(settings, &["period: 4 ms, offset: 0 us"]);
        let timing = Timing::new(&network).expect("timing");
        timing.lateness_max(network.streams[1].hops[0].port).as_ps() / 1_000
    };
    assert_eq!(lateness(", integration: timely-block"), 2_000, "a correction of the clock");
    assert_eq!(lateness(", integration: preemption"), 13 * 80, "a gap, and the octet under way");
    assert_eq!(lateness(", integration: shuffling"), 123_366, "1542 octets by a slow clock");
}

#[test]
fn windows_hold_what_can_come_and_nothing_else() {
    let network = network(", integration: shuffling", &["period: 4 ms, offset: 0 us"]);
    let stream = &network.streams[1];
    let point = stream.time_triggered.as_ref().expect("a link").points[0];
    let end = Timing::new(&network).expect("timing").to_end(stream, 0);
    let at = |span: Duration| tautwire_units::Instant::ZERO + Duration::from_ms(4) + span;
    let two = Duration::from_us(2);
    assert!(point.window.is_open(at(end.max + two)) && point.window.is_open(at(end.min.saturating_sub(two))));
    assert!(!point.window.is_open(at(end.max + two * 3)));
    assert!(!point.window.is_open(tautwire_units::Instant::ZERO + Duration::from_us(3_990)));
}

#[test]
fn other_points_are_all_taken_or_all_refused() {
    let network = network("", &["period: 4 ms, offset: 0 us", "id: 9, period: 2 ms, offset: 700 us"]);
    let (first, second) = (StreamIndex(1), StreamIndex(2));
    let us = |all: [u64; 4]| all.map(Duration::from_us).to_vec();
    let moved = network.with_dispatch_offsets(&[(first, us([1_000, 1_100, 1_200, 1_100]))]);
    assert_eq!(offsets(&moved.expect("a schedule"), 1)[0], 1_000_000);
    let early = network.with_dispatch_offsets(&[(first, us([1_000, 1_001, 1_200, 1_100]))]);
    let is_early = |fault: &ScheduleFault| matches!(fault, ScheduleFault::TooEarly { hop: 1, .. });
    assert!(early.expect_err("too early").iter().any(is_early));
    let late = network.with_dispatch_offsets(&[(first, us([1_000, 5_100, 5_200, 1_100]))]);
    let is_late = |fault: &ScheduleFault| matches!(fault, ScheduleFault::TooLate { hop: 1, .. });
    assert!(late.expect_err("too late").iter().any(is_late));
    let same = network.with_dispatch_offsets(&[(second, us([4, 100, 200, 100]))]);
    let collides = |fault: &ScheduleFault| matches!(fault, ScheduleFault::Collision { stream, hop: 0, other, .. } if (*stream, *other) == (second, first));
    assert!(same.expect_err("a collision").iter().any(collides));
    let few = network.with_dispatch_offsets(&[(first, us([0, 100, 200, 100])[..2].to_vec())]);
    assert_eq!(few.expect_err("too few"), [ScheduleFault::Points { stream: first }]);
}

#[test]
fn a_raster_holds_every_slot() {
    let settings = ", raster: {cycle: 500 us, window: 200 us}";
    let network = network(settings, &["period: 4 ms, offset: 0 us"]);
    let us = |all: [u64; 4]| all.map(Duration::from_us).to_vec();
    let inside = network.with_dispatch_offsets(&[(StreamIndex(1), us([500, 600, 1_100, 600]))]);
    assert!(inside.is_ok(), "{:?}", inside.err());
    let outside = network.with_dispatch_offsets(&[(StreamIndex(1), us([500, 700, 1_100, 600]))]);
    let is_outside = |fault: &ScheduleFault| matches!(fault, ScheduleFault::TooLong { hop: 1, .. });
    assert!(outside.expect_err("outside").iter().any(is_outside));
}

#[test]
fn an_overload_that_is_allowed_leaves_links_their_points() {
    let text = "allow: [port::overload]
defaults: {rate: 100 Mbit/s, device: store-and-forward}
time-triggered: {precision: 2 us}
nodes: {a: {type: end-station}, b: {type: end-station}, s: {type: bridge}}
links: [{between: [a, s]}, {between: [s, b]}]
streams:
  - {name: l, talker: a, listeners: b, payload: 100 B, traffic: {type: periodic, interval: 4 ms},
     time-triggered: {id: 1, period: 4 ms, offset: 100 us}}
  - {name: flood, talker: a, listeners: b, tagged: false, payload: 1500 B,
     traffic: {type: periodic, interval: 100 us}}\n";
    let loaded = tautwire_model::load_text("overload", text);
    assert!(!loaded.has_errors(), "{:#?}", loaded.diagnostics);
    assert!(loaded.diagnostics.iter().any(|one| one.code == "port::overload"), "{:#?}", loaded.diagnostics);
    assert_eq!(offsets(&loaded.network.expect("allowed"), 0).len(), 2);
}
