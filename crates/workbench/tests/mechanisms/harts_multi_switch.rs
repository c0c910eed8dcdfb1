//! Synchronous streams of HaRTES over several switches, each of which schedules them into windows of its own.
//!
//! Random networks are searched in `harts_holds.rs`; here the mechanism is taken away, pushed against its limits, and broken.

use tautwire_sim::{DropReason, Observation};
use tautwire_workbench::{Duration, Network, Options, bounds, simulate};

use crate::common::described as network;

fn scenario() -> String {
    let path = "../../scenarios/harts-multi-switch.yaml";
    std::fs::read_to_string(path).expect("a scenario")
}

fn run(network: &Network) -> Observation {
    simulate(network, &mut Options::default())
}

fn of(network: &Network, name: &str) -> usize {
    network.streams.iter().position(|stream| stream.name == name).expect("a stream")
}

#[test]
fn every_switch_keeps_the_stream_to_its_own_window() {
    let network = network(&scenario());
    let (bounds, observation) = (bounds(&network), run(&network));
    for name in ["position", "setpoint", "broadcast", "local"] {
        let stream = of(&network, name);
        let listeners = bounds.streams[stream].listeners.iter().zip(&observation.streams[stream].listeners);
        for (proven, seen) in listeners {
            let bound = proven.delay.clone().expect("a bound");
            let most = seen.delay.max().expect("frames");
            assert!(
                most <= bound && Some(bound) <= network.streams[stream].deadline,
                "{name}: {most} of {bound}"
            );
        }
    }
    let masters = observation.harts.expect("masters").masters;
    // Two streams cross the middle switch in 2 ms, and one in 4 ms.
    let relayed: Vec<u64> = masters.iter().map(|master| master.relayed).collect();
    assert!((1_240..=1_251).contains(&relayed[1]), "{relayed:?}");
    assert!(masters.iter().all(|master| master.overflowed == 0 && master.dropped == 0));
}

#[test]
fn wherever_cycles_begin_the_bound_holds_and_some_beginnings_come_near_it() {
    let mut most = Duration::ZERO;
    let mut bound = Duration::ZERO;
    for (sw2, sw3) in (0..8).flat_map(|one| (0..8).map(move |other| (one * 61, other * 61))) {
        let text = scenario()
            .replace("{offset: 170 us}", &format!("{{offset: {sw2} us}}"))
            .replace("{offset: 390 us}", &format!("{{offset: {sw3} us}}"))
            .replace("duration: 1 s", "duration: 20 ms");
        let network = network(&text);
        let stream = of(&network, "position");
        bound = bounds(&network).streams[stream].listeners[0].delay.clone().expect("a bound");
        most = most.max(run(&network).streams[stream].listeners[0].delay.max().expect("frames"));
    }
    assert!(most <= bound && most * 3 >= bound * 2, "{most} of {bound}");
}

#[test]
fn without_it_servers_carry_the_stream_and_nothing_is_promised() {
    let text = scenario();
    let plain = network(&text.replace("within: 2}", "within: 2, further-switches: servers}"));
    let with = network(&text);
    let flooded = |network: &Network| {
        let stream = of(network, "setpoint");
        let proven = bounds(network).streams[stream].listeners[0].delay.is_ok();
        let through: Duration = run(network).streams[stream].hops[1].max;
        (proven, through)
    };
    let (proven, kept) = flooded(&with);
    let (unproven, _) = flooded(&plain);
    assert!(proven && !unproven, "by the background server there is no bound");
    assert!(kept < Duration::from_us(200), "it is through its first switch within the window: {kept}");
}

#[test]
fn a_pool_that_is_too_small_loses_messages_and_has_no_bound() {
    // Two messages a cycle come from a switch that is faster by a tenth of a percent; the next has room for one a cycle.
    let text = scenario()
        .replace("position, every: 4, within: 2", "position, every: 1, within: 1, pool: 1")
        .replace("synchronous: 150 us", "synchronous: 60 us")
        .replace("broadcast, every: 8, within: 3", "broadcast, every: 64, within: 3");
    let text = text.replace("payload: 200 B", "payload: 60 B");
    let text = text.replace("{offset: 390 us}", "{offset: 390 us, tolerance: 1000 ppm, drift: 1000 ppm}");
    let network = network(&text);
    let stream = of(&network, "position");
    assert!(bounds(&network).streams[stream].listeners[0].delay.is_err());
    let observation = run(&network);
    let dropped = &observation.streams[stream].dropped;
    let full =
        dropped.iter().find(|(reason, _)| *reason == DropReason::QueueFull).map_or(0, |(_, count)| *count);
    let counted: u64 =
        observation.harts.expect("masters").masters.iter().map(|master| master.overflowed).sum();
    assert!(full > 0 && full == counted, "{full} lost, {counted} told");
}

#[test]
fn a_switch_that_stops_loses_what_its_pools_hold() {
    let text = scenario().replace(
        "run: {duration: 1 s}",
        "events: [{at: 300300 us, stop-node: sw2}, {at: 500 ms, start-node: sw2}]\nrun: {duration: 1 s}",
    );
    let network = network(&text);
    let observation = run(&network);
    for name in ["position", "setpoint"] {
        let seen = &observation.streams[of(&network, name)];
        let lost: u64 = seen.dropped.iter().map(|(_, count)| count).sum();
        assert!((95..=105).contains(&lost), "{name}: a message in 2 ms is lost for 200 ms: {lost}");
        assert!(seen.delivered >= 390, "{name}: and none behind it: {}", seen.delivered);
        assert_eq!(seen.listeners[0].late, 0);
    }
}
