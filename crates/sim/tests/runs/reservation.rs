//! Stream reservation in a run: requests, waiting, refusals, and the effect of a lost link.

use tautwire_model::Network;
use tautwire_model::network::NodeIndex;
use tautwire_sim::{
    Declaration, Driver, NoRecorder, Observation, Options, ReservationObservation, RungEvent, run_with,
};
use tautwire_units::Duration;

const SCENARIO: &str = include_str!("../../../../scenarios/stream-reservation.yaml");

fn network(text: &str) -> Network {
    let loaded = tautwire_model::load_text("reservation.yaml", text);
    loaded.network.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics))
}

fn run(network: &Network) -> Observation {
    run_with(network, &mut Options::default(), &mut NoRecorder)
}

fn of<'o>(network: &Network, seen: &'o Observation, name: &str) -> &'o ReservationObservation {
    let found = seen.reservations.iter().find(|seen| network.streams[seen.stream.index()].name == name);
    found.expect("a reserved stream")
}

fn node(network: &Network, name: &str) -> NodeIndex {
    NodeIndex::at(network.nodes.iter().position(|node| node.name == name).expect("a node"))
}

fn started(seen: &ReservationObservation) -> Vec<Duration> {
    seen.ladder.iter().filter(|rung| rung.event == RungEvent::Started).map(|rung| rung.at).collect()
}

#[test]
fn a_talker_sends_when_a_listener_is_ready_and_not_before() {
    let network = network(SCENARIO);
    let seen = run(&network);
    for reserved in &seen.reservations {
        let stream = &network.streams[reserved.stream.index()];
        let ready = reserved.first(|rung| {
            rung.node == stream.talker
                && matches!(rung.event, RungEvent::Received(_, Declaration::ListenerReady))
        });
        let begun = started(reserved)[0];
        assert!(begun > ready.expect("every stream is served in the end"), "{}", stream.name);
        let frames = &seen.streams[reserved.stream.index()];
        assert!(frames.created > 0 && frames.dropped.is_empty());
        // Its frames are those of the time in which it was sent.
        let stopped = reserved.first(|rung| rung.event == RungEvent::Stopped).unwrap_or(seen.end);
        let interval = network.srp.as_ref().expect("reservation").classes
            [usize::from(stream.priority.number() == 2)]
        .interval;
        let most = (stopped - begun).as_ps() / interval.as_ps() + 1;
        assert!(frames.created <= most, "{}: {} frames", stream.name, frames.created);
        assert_eq!(reserved.lapses(), 0);
    }
}

#[test]
fn what_does_not_fit_waits_for_a_withdrawal() {
    let network = network(SCENARIO);
    let seen = run(&network);
    let record = of(&network, &seen, "record");
    // Code 3: the class has no room, declared at the first bridge whose port is full.
    let failed =
        record.first(|rung| matches!(rung.event, RungEvent::Received(_, Declaration::TalkerFailed(3))));
    assert!(failed.expect("refused") > Duration::from_s(4));
    let control = of(&network, &seen, "control");
    let released = control.first(|rung| matches!(rung.event, RungEvent::Released(_))).expect("given back");
    assert!(released > Duration::from_s(7), "LeaveTime after the withdrawal");
    assert!(started(record)[0] > released);
}

#[test]
fn bridges_take_their_processing_times() {
    let network = network(SCENARIO);
    let seen = run(&network);
    let is_bridge = |node: NodeIndex| network.nodes[node.index()].name.starts_with("Sw");
    let bridges = of(&network, &seen, "audio").bridges(is_bridge);
    let names: Vec<&str> =
        bridges.iter().map(|delays| network.nodes[delays.bridge.index()].name.as_str()).collect();
    assert_eq!(names, ["Sw1", "Sw2", "Sw3"]);
    // An MRPDU may wait for the one before it, and one that declares both kinds takes both times.
    let ms = Duration::from_ms;
    for delays in &bridges {
        let talker = delays.talker.expect("passed on");
        let listener = delays.listener.expect("passed on");
        assert!(talker >= ms(2) && talker < ms(14), "{talker}");
        assert!(listener >= ms(6) && listener < ms(22), "{listener}");
    }
    let behind: Vec<_> = bridges.iter().map(|delays| delays.behind.expect("answered")).collect();
    assert!(behind.is_sorted_by(|one, next| one > next), "each bridge waits for those behind it");
}

#[test]
fn the_listener_s_join_delay_is_in_the_set_up_time() {
    let slow = network(SCENARIO);
    let text = SCENARIO.replace("join-delay: 100 ms", "join-delay: 1 ms");
    let quick = network(&text);
    let set_up = |network: &Network| {
        let seen = run(network);
        of(network, &seen, "audio").set_up(node(network, "N3")).expect("served")
    };
    let difference = set_up(&slow) - set_up(&quick);
    assert!(difference > Duration::from_ms(95) && difference < Duration::from_ms(105), "{difference}");
}

/// The second of two talkers at a station, a tenth of a join time after the first: sent three times at once, the first
/// one takes the complete limit, and the second waits; where a repetition waits for the repeat time, it does not.
#[test]
fn new_declarations_do_not_wait_behind_repeated_ones() {
    const TEXT: &str = "name: repeat
vlans: {1: {tagged: all}}
defaults: {rate: 100 Mbit/s, traffic-class-table: stream-reservation}
nodes: {a: {type: end-station}, b: {type: end-station}, sw: {type: bridge}}
links: [{between: [a, sw]}, {between: [b, sw]}]
stream-reservation:
  bridges: {processing: 20 us}
  end-stations: {processing: 20 us}
streams:
  - {name: one, talker: a, listeners: b, priority: 3, payload: 100 B, traffic: {type: periodic, interval: 125 us}, reservation: {advertise-at: 1 s, ask: when-offered}}
  - {name: two, talker: a, listeners: b, priority: 3, payload: 100 B, traffic: {type: periodic, interval: 125 us}, reservation: {advertise-at: 1020 ms, ask: when-offered}}
run: {duration: 2 s}
";
    let set_up = |repeat: &str| {
        let text = TEXT.replace("processing: 20 us}", &format!("processing: 20 us{repeat}}}"));
        let network = network(&text);
        let seen = run(&network);
        started(of(&network, &seen, "two"))[0] - Duration::from_ms(1_020)
    };
    let (at_once, behind) = (set_up(""), set_up(", repeat-time: 100 ms"));
    assert!(at_once > Duration::from_ms(200), "{at_once}");
    assert!(behind < Duration::from_ms(20), "{behind}");
}

#[test]
fn a_tick_makes_a_grid_of_the_set_up_times() {
    let tick = "join-delay: 100 ms\n    tick: 20 ms";
    let network = network(&SCENARIO.replace("join-delay: 100 ms", tick));
    let seen = run(&network);
    let sent = |rung: &&tautwire_sim::Rung| {
        rung.node == node(&network, "N5") && matches!(rung.event, RungEvent::Sent(..))
    };
    let ladders = seen.reservations.iter().flat_map(|reserved| &reserved.ladder);
    let times: Vec<_> = ladders.filter(sent).map(|rung| rung.at).collect();
    assert!(times.len() > 2);
    for time in &times {
        let apart = time.saturating_sub(times[0]).max(times[0].saturating_sub(*time));
        assert_eq!(apart.as_ps() % Duration::from_ms(20).as_ps(), 0, "{apart}");
    }
}

#[test]
fn a_reservation_lapses_with_its_link_and_comes_back() {
    let events =
        "events:\n  - {at: 4 s, cut-link: \"Sw2:p3\"}\n  - {at: 6500 ms, mend-link: \"Sw2:p3\"}\nrun:";
    let network = network(&SCENARIO.replace("run:", events));
    let seen = run(&network);
    let audio = of(&network, &seen, "audio");
    assert_eq!(audio.lapses(), 1);
    assert_eq!(started(audio).len(), 2);
    let again = started(audio)[1];
    assert!(again > Duration::from_ms(6_500) && again < Duration::from_ms(7_500), "{again}");
    // One of two listeners is left to the camera.
    assert_eq!(of(&network, &seen, "control").lapses(), 0, "it does not pass that link");
}

#[test]
fn a_device_that_comes_back_asks_again() {
    for name in ["Sw2", "N3", "N2"] {
        let events =
            format!("events:\n  - {{at: 4 s, stop-node: {name}}}\n  - {{at: 9 s, start-node: {name}}}\nrun:");
        let text = SCENARIO.replace("run:", &events).replace("duration: 8 s", "duration: 12 s");
        let network = network(&text);
        let seen = run(&network);
        let audio = of(&network, &seen, "audio");
        let stopped = audio.first(|rung| rung.event == RungEvent::Stopped).expect("the device is lost");
        // Every bridge between waits for a LeaveTime of its own.
        assert!(stopped >= Duration::from_s(4) && stopped < Duration::from_s(8), "{name}: {stopped}");
        let again = started(audio)[1];
        assert!(again > Duration::from_s(9) && again < Duration::from_s(10), "{name}: {again}");
    }
}

#[test]
fn lost_mrpdus_are_made_up_for() {
    for seed in 1..=5 {
        let text = SCENARIO
            .replace("{between: [Sw1, Sw2]}", "{between: [Sw1, Sw2], bit-error-rate: 2e-4}")
            .replace("{between: [Sw2, Sw3]}", "{between: [Sw2, Sw3], bit-error-rate: 2e-4}")
            .replace("duration: 8 s, seed: 1", &format!("duration: 40 s, seed: {seed}"));
        let network = network(&text);
        let seen = run(&network);
        let lost: u64 = network
            .streams
            .iter()
            .zip(&seen.streams)
            .filter(|(stream, _)| stream.name.starts_with("msrp:"))
            .flat_map(|(_, seen)| seen.dropped.iter().map(|(_, count)| *count))
            .sum();
        assert!(lost > 0, "the lines are bad");
        let audio = of(&network, &seen, "audio");
        assert!(!started(audio).is_empty(), "seed {seed}: {lost} MRPDUs lost");
    }
}

#[test]
fn every_event_loop_gives_the_same_ladders() {
    let network = network(SCENARIO);
    let with = |driver| run_with(&network, &mut Options { driver, ..Options::default() }, &mut NoRecorder);
    let eliding = with(Driver::Eliding);
    for driver in [Driver::Plain, Driver::Spurious] {
        assert_eq!(with(driver), eliding);
    }
}

#[test]
fn a_bridge_without_room_for_a_destination_refuses_the_stream() {
    for (limit, code) in [("addresses-max: 2", 12), ("address-depth: 2", 9)] {
        let text = SCENARIO
            .replace("  end-stations:\n", &format!("  nodes: {{Sw2: {{{limit}}}}}\n  end-stations:\n"));
        let network = network(&text);
        let seen = run(&network);
        let refused = of(&network, &seen, "control")
            .first(|rung| rung.event.declaration() == Some(Declaration::TalkerFailed(code)));
        assert!(refused.is_some(), "{limit}");
    }
}

/// `captions` has two listeners, of which one leaves at 3 s; a call preempts `conference` while it lasts.
#[test]
fn an_emergency_takes_a_place_for_a_while_and_a_listener_leaves_alone() {
    let network = network(include_str!("../../../../scenarios/reserved-emergency.yaml"));
    let seen = run(&network);
    let (conference, call) = (of(&network, &seen, "conference"), of(&network, &seen, "emergency-call"));
    let (begun, ended) =
        (started(call)[0], call.first(|rung| rung.event == RungEvent::Stopped).expect("over"));
    let stopped = conference.first(|rung| rung.event == RungEvent::Stopped).expect("it gives way");
    assert!(stopped > Duration::from_s(2) && stopped <= begun);
    assert_eq!(ended, Duration::from_s(4), "a talker that offers no more sends no more");
    let is_expected = |rung: &tautwire_sim::Rung| {
        matches!(rung.event, RungEvent::Received(_, Declaration::TalkerFailed(6)))
    };
    assert!(conference.first(is_expected).is_some());
    let [first, again] = started(conference)[..] else { panic!("it starts twice") };
    assert!(first < stopped && again > ended);

    let captions = of(&network, &seen, "captions");
    assert_eq!((started(captions).len(), captions.lapses()), (1, 0));
    let [desk, screen] = &seen.streams[captions.stream.index()].listeners[..] else {
        panic!("two listeners")
    };
    // A frame each 250 us from 0.6 s on: until a LeaveTime behind 3 s, and until the end at 6 s.
    let [desk, screen] = [desk, screen].map(|listener| listener.delay.count());
    assert!((13_500..13_700).contains(&desk), "{desk}");
    assert!((21_500..21_700).contains(&screen), "{screen}");
}
