//! TDMA networks that start up: what stations know, when streams begin, and what calibration is good for.

use tautwire_workbench::{Network, Observation, Options, Verdict, bounds, load_text, simulate, verify};

fn scenario() -> String {
    let path = "../../scenarios/tdma-start-up.yaml";
    std::fs::read_to_string(path).expect("the scenario is there")
}

fn network(text: &str) -> Network {
    let loaded = load_text("start-up.yaml", text);
    loaded.network.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics))
}

fn run(network: &Network) -> Observation {
    simulate(network, &mut Options::default())
}

/// When the last station's streams began, in milliseconds.
fn running_ms(observation: &Observation) -> Option<u64> {
    let at =
        observation.start_up.iter().map(|station| station.running_at.map(|at| at.as_ps() / 1_000_000_000));
    at.collect::<Option<Vec<u64>>>()?.into_iter().max()
}

#[test]
fn streams_begin_when_all_know_all_and_keep_their_bounds() {
    let network = network(&scenario());
    let observation = run(&network);
    assert_eq!(observation.start_up.len(), 3);
    assert!(observation.start_up.iter().all(|station| station.known == 3));
    let running = running_ms(&observation).expect("all run");
    assert!((20..60).contains(&running), "{running} ms");
    // Questions every 3.3 ms for the rest of the run.
    let questions = observation.streams[1].created;
    let expected = (300 - running) * 10 / 33;
    assert!(questions.abs_diff(expected) <= 1, "{questions} of {expected}");
    let bounds = bounds(&network);
    let verification = verify(&network, &bounds, &observation);
    assert!(verification.contradictions.is_empty(), "{:?}", verification.contradictions);
    let proven = |stream: usize| verification.streams[stream].listeners[0].verdict == Verdict::Proven;
    assert!((1..4).all(proven), "every stream with a deadline");
}

#[test]
fn calibration_finds_what_a_frame_travels_and_without_it_slots_are_late() {
    let with = network(&scenario());
    let without = network(&scenario().replace("calibrations: 10", "calibrations: 0"));
    let least = &with.tdma.as_ref().expect("it has TDMA").travel;
    let seen = run(&with);
    for station in &seen.start_up[1..] {
        let known = least[station.node.index()];
        let off = station.travel.as_ps().abs_diff(known.as_ps());
        assert!(off < 200_000, "{off} ps off {known}");
    }
    let blind = run(&without);
    assert!(blind.start_up[1..].iter().all(|station| station.travel.is_zero()));
    let answer = |network: &Network| bounds(network).streams[2].listeners[0].delay.clone().expect("a bound");
    let more = answer(&without).as_ps() - answer(&with).as_ps();
    assert!(more > 10_000_000, "a slot is late by the way of a synchronisation frame: {more} ps");
    assert!(verify(&without, &bounds(&without), &blind).contradictions.is_empty());
}

#[test]
fn lost_messages_delay_a_start_up_and_never_hinder_it() {
    let faulty = "between: [slave-a, switch], length: 90 m, bit-error-rate: 2e-4";
    let text =
        scenario().replace("between: [slave-a, switch], length: 90 m", faulty).replace("300 ms", "5 s");
    let observation = run(&network(&text));
    let dropped: u64 =
        observation.streams.iter().flat_map(|stream| stream.dropped.iter()).map(|(_, n)| n).sum();
    assert!(dropped > 50, "{dropped} frames were lost");
    assert!(observation.start_up.iter().all(|station| station.known == 3));
    let running = running_ms(&observation).expect("all run");
    assert!(running > running_ms(&run(&network(&scenario()))).expect("all run"));
}

#[test]
fn nothing_is_sent_while_a_station_is_missing() {
    let text = scenario().replace(
        "run: {duration: 300 ms}",
        "events:\n  - {at: 0 us, stop-node: slave-b}\nrun: {duration: 300 ms}",
    );
    let observation = run(&network(&text));
    assert_eq!(running_ms(&observation), None);
    assert!(observation.streams[1..4].iter().all(|stream| stream.created == 0));
    assert!(observation.start_up[0].known < 3);
}

fn returning() -> String {
    let path = "../../scenarios/tdma-node-returns.yaml";
    std::fs::read_to_string(path).expect("the scenario is there")
}

#[test]
fn a_node_that_comes_back_starts_up_anew_and_delays_nobody() {
    let network = network(&returning());
    let observation = run(&network);
    let back = &observation.start_up[2];
    assert_eq!((back.returns, back.declared_dead), (1, 1), "{back:?}");
    let again = back.running_at.expect("it runs again").as_ps() / 1_000_000_000;
    assert!((170..280).contains(&again), "{again} ms");
    assert!(observation.start_up.iter().all(|station| station.known == 3));
    assert!(observation.start_up[..2].iter().all(|station| station.returns == 0));
    let bounds = bounds(&network);
    assert!(verify(&network, &bounds, &observation).contradictions.is_empty());
}

#[test]
fn without_heartbeats_a_node_that_comes_back_stays_out() {
    let network = network(&returning().replace(", heartbeat: 5 ms, silent-heartbeats: 2", ""));
    let observation = run(&network);
    let back = &observation.start_up[2];
    assert_eq!((back.returns, back.declared_dead), (0, 0), "{back:?}");
    let with = run(&self::network(&returning()));
    assert!(observation.streams[3].created < with.streams[3].created, "its stream does not begin again");
}
