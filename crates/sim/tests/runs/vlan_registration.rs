//! MVRP in a run: the declarations of a VLAN, its registrations, and the frames that pass without one.

use tautwire_model::Network;
use tautwire_sim::{
    Declaration, Driver, DropReason, NoRecorder, Observation, Options, RungEvent, VlanObservation, run_with,
};
use tautwire_units::Duration;

const SCENARIO: &str = include_str!("../../../../scenarios/vlan-registration.yaml");

fn network(text: &str) -> Network {
    let loaded = tautwire_model::load_text("vlans.yaml", text);
    loaded.network.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics))
}

fn run(network: &Network) -> Observation {
    run_with(network, &mut Options::default(), &mut NoRecorder)
}

/// The VLAN at the port of `bridge` towards `node`.
fn at<'o>(network: &Network, seen: &'o Observation, bridge: &str, node: &str) -> &'o VlanObservation {
    let found = seen.vlan_registrations.iter().find(|seen| {
        let port = &network.ports[seen.port.index()];
        let to = network.links[port.links.expect("connected").egress.index()].to;
        network.nodes[port.node.index()].name == bridge
            && network.nodes[network.ports[to.index()].node.index()].name == node
    });
    found.unwrap_or_else(|| panic!("{bridge} to {node}: {:?}", seen.vlan_registrations))
}

fn stream<'o>(network: &Network, seen: &'o Observation, name: &str) -> &'o tautwire_sim::StreamObservation {
    &seen.streams[network.streams.iter().position(|stream| stream.name == name).expect("a stream")]
}

fn ms(ms: u64) -> Duration {
    Duration::from_ms(ms)
}

#[test]
fn a_vlan_is_registered_where_it_is_declared_and_frames_leave_there_alone() {
    let network = network(SCENARIO);
    let seen = run(&network);
    let screen = at(&network, &seen, "back", "screen");
    let recorder = at(&network, &seen, "back", "recorder");
    // Each requested at its time; a station declares it at once, and the MRPDU takes some microseconds.
    for (port, asked) in [(screen, ms(1_000)), (recorder, ms(2_000))] {
        let (registered, begins) = port.changes[0];
        assert!(begins && registered > asked && registered < asked + ms(1), "{registered}");
    }
    // Both end at 5 s; the registrations a LeaveTime later, that of the bridge in front one more.
    let left = |port: &VlanObservation| port.changes[1].0;
    assert!(left(screen) >= ms(6_000) && left(screen) < ms(6_400), "{}", left(screen));
    let front = at(&network, &seen, "front", "back");
    assert!(front.changes.len() == 1 || left(front) > left(screen), "{front:?}");
    // For the recorder frames were there a second before its request; none went out.
    assert!(recorder.filtered > 3_000, "{}", recorder.filtered);
    let picture = stream(&network, &seen, "picture");
    let [to_screen, to_recorder] = &picture.listeners[..] else { panic!("two listeners") };
    assert!(to_screen.delay.count() > to_recorder.delay.count() + 3_900, "{picture:?}");
    assert!(to_recorder.delay.count() > 10_000);
    assert!(picture.dropped.is_empty());
    // What is of the default VLAN is not touched.
    let office = stream(&network, &seen, "office");
    assert!(office.listeners[0].delay.count() + office.in_flight == office.created && office.in_flight <= 1);
}

#[test]
fn a_port_that_forbids_the_vlan_refuses_the_stream() {
    let network = network(SCENARIO);
    let seen = run(&network);
    let guest = at(&network, &seen, "back", "guest");
    assert!(guest.changes.is_empty());
    let sound = &seen.reservations[1];
    let refused =
        sound.first(|rung| matches!(rung.event, RungEvent::Received(_, Declaration::TalkerFailed(17))));
    assert!(refused.expect("told") < ms(1_000));
    assert_eq!(stream(&network, &seen, "sound").created, 0);
}

#[test]
fn a_vlan_without_a_tag_refuses_the_stream() {
    let text = SCENARIO
        .replace("  mvrp: {forbidden: \"back:p4\"}\n", "  mvrp: {}\n")
        .replace("vlans: {1: {tagged: all}}\n", "");
    let with_members = format!("vlans:\n  1: {{}}\n  2: {{untagged: \"back:p4\"}}\n{text}");
    let network = network(&with_members);
    let seen = run(&network);
    let refused = seen.reservations[1]
        .first(|rung| matches!(rung.event, RungEvent::Received(_, Declaration::TalkerFailed(18))));
    assert!(refused.is_some());
    assert_eq!(stream(&network, &seen, "sound").created, 0);
}

#[test]
fn with_the_registration_forbidden_between_the_bridges_nothing_passes() {
    // MSRP would refuse it as well: the reservation is of the port's own other VLAN then. Here the frames are not reserved.
    let plain = "  - {name: plain, talker: camera-unit, listeners: screen, vlan: 2, payload: 100 B, traffic: {type: periodic, interval: 1 ms}}\n";
    let text = SCENARIO.replace("  - name: office\n", &format!("{plain}  - name: office\n"));
    let open = network(&text);
    let seen = run(&open);
    let passed = &stream(&open, &seen, "plain");
    // The screen declares it from the start on, as it listens to a stream of it.
    assert!(passed.listeners[0].delay.count() + 2 >= passed.created, "{passed:?}");
    let shut = network(&text.replace("forbidden: \"back:p4\"", "forbidden: [\"back:p4\", \"front:p3\"]"));
    let seen = run(&shut);
    assert_eq!(stream(&shut, &seen, "plain").listeners[0].delay.count(), 0);
    assert!(at(&shut, &seen, "front", "back").filtered > 7_000);
}

#[test]
fn ingress_filtering_asks_talkers_for_the_vlan_too() {
    let text = SCENARIO.replace(
        "front: {type: bridge}",
        "front: {type: bridge, ports: {p1: {ingress-filtering: true}, p2: {}, p3: {}}}",
    );
    let open = network(&text);
    let seen = run(&open);
    let picture = stream(&open, &seen, "picture");
    assert!(
        picture.dropped.is_empty() && picture.listeners[0].delay.count() > 0,
        "the talker declares its VLAN"
    );
    let shut = network(&text.replace("forbidden: \"back:p4\"", "forbidden: [\"back:p4\", \"front:p1\"]"));
    let seen = run(&shut);
    let picture = stream(&shut, &seen, "picture");
    assert_eq!(picture.listeners[0].delay.count(), 0);
    assert!(
        picture.created > 0 && picture.dropped == [(DropReason::IngressFiltering, picture.created)],
        "{picture:?}"
    );
}

#[test]
fn a_lost_link_takes_its_registrations_along_and_they_come_back() {
    let events = "events:\n  - {at: 3 s, cut-link: \"back:p2\"}\n  - {at: 4 s, mend-link: \"back:p2\"}\nrun:";
    let network = network(&SCENARIO.replace("run:", events));
    let seen = run(&network);
    let changes = &at(&network, &seen, "back", "screen").changes;
    assert_eq!(changes[1], (ms(3_000), false));
    assert!(changes[2].1 && changes[2].0 > ms(4_000) && changes[2].0 < ms(4_400), "{changes:?}");
}

#[test]
fn a_bridge_that_comes_back_registers_anew() {
    let events = "events:\n  - {at: 3 s, stop-node: back}\n  - {at: 4 s, start-node: back}\nrun:";
    let network = network(&SCENARIO.replace("run:", events));
    let seen = run(&network);
    let changes = &at(&network, &seen, "back", "screen").changes;
    assert_eq!(changes[1], (ms(3_000), false));
    assert!(changes[2].1 && changes[2].0 > ms(4_000) && changes[2].0 < ms(4_400), "{changes:?}");
}

#[test]
fn lost_mrpdus_of_mvrp_are_made_up_for() {
    let mut lost = 0;
    for seed in 1..=5 {
        let text = SCENARIO
            .replace("{between: [front, back]}", "{between: [front, back], bit-error-rate: 5e-4}")
            .replace("detach-at: 5 s", "detach-at: 60 s")
            .replace("interval: 250 us", "interval: 50 ms")
            .replace("interval: 500 us", "interval: 50 ms")
            .replace("duration: 8 s, seed: 1", &format!("duration: 40 s, seed: {seed}"));
        let network = network(&text);
        let seen = run(&network);
        let streams = network.streams.iter().zip(&seen.streams);
        lost += streams
            .filter(|(stream, _)| stream.name.starts_with("mvrp:"))
            .flat_map(|(_, seen)| seen.dropped.iter().map(|(_, count)| *count))
            .sum::<u64>();
        assert!(at(&network, &seen, "front", "back").is_registered(), "seed {seed}");
    }
    assert!(lost > 5, "the line is bad: {lost} lost");
}

#[test]
fn every_event_loop_gives_the_same() {
    let network = network(SCENARIO);
    let with = |driver| run_with(&network, &mut Options { driver, ..Options::default() }, &mut NoRecorder);
    let eliding = with(Driver::Eliding);
    for driver in [Driver::Plain, Driver::Spurious] {
        assert_eq!(with(driver), eliding);
    }
}
