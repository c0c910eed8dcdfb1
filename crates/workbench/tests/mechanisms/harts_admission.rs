//! Central admission in the simulation of frames: answers, latencies, a standby that takes over, lost messages, and others
//! that are not disturbed.

#![allow(clippy::unwrap_used, reason = "what a run must have is there")]

use tautwire_analysis::bounds;
use tautwire_sim::{AdmissionEvent, HartsObservation};
use tautwire_units::Duration;
use tautwire_workbench::{Network, Observation, Options, StreamIndex, load_text, simulate};

pub(super) fn scenario() -> String {
    let path = "../../scenarios/harts-admission.yaml";
    std::fs::read_to_string(path).unwrap()
}

pub(super) fn network(text: &str) -> Network {
    let loaded = load_text("admission.yaml", text);
    loaded.network.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics))
}

pub(super) fn run(text: &str) -> (Network, Observation) {
    let network = network(text);
    let observation = simulate(&network, &mut Options::default());
    (network, observation)
}

pub(super) fn harts(observation: &Observation) -> &HartsObservation {
    observation.harts.as_ref().unwrap()
}

/// Of a stream: frames sent and delivered.
pub(super) fn frames(network: &Network, observation: &Observation, name: &str) -> (u64, u64) {
    let place = network.streams.iter().position(|stream| stream.name == name).unwrap();
    (observation.streams[place].created, observation.streams[place].delivered)
}

/// Streams that were granted to their talkers, by name.
pub(super) fn granted(network: &Network, observation: &Observation) -> Vec<String> {
    let requests = harts(observation).requests.iter().filter(|request| request.is_talker && request.granted);
    requests.map(|request| network.streams[request.stream.index()].name.clone()).collect()
}

/// The scenario with its ACMaster in a switch of its own, so that its death cuts no stream.
pub(super) fn with_a_switch_for_the_acmaster() -> String {
    scenario()
        .replace("  sw3: {type: bridge}\n", "  sw3: {type: bridge}\n  sw4: {type: bridge}\n")
        .replace(
            "  - {between: [sw2, sw3], length: 5 m}\n",
            "  - {between: [sw2, sw3]}\n  - {between: [sw2, sw4]}\n",
        )
        .replace("master: sw2", "master: sw4")
}

#[test]
fn what_fits_is_granted_and_what_would_be_late_is_refused() {
    let (network, observation) = run(&scenario());
    assert_eq!(granted(&network, &observation), ["f2", "f3", "f4", "f5", "f6"]);
    let seen = harts(&observation);
    for request in &seen.requests {
        let name = &network.streams[request.stream.index()].name;
        assert!(request.asked_at.is_some() && request.answered_at.is_some(), "{name}");
        assert_eq!(request.answers, 1, "{name} is answered once");
        assert_eq!(request.subject.is_some(), name == "late", "all who asked are told of a refusal");
        // Five tests of 4 to 6 ms one after the other, and what is about them.
        assert!(request.latency().unwrap() < Duration::from_ms(60), "{name} {:?}", request.latency());
    }
    // Nothing of a stream is sent before it is granted, nor behind its release.
    for (stream, described) in network.streams.iter().enumerate().filter(|(_, one)| one.name.starts_with('f'))
    {
        let Some(request) = seen.requests.iter().find(|one| one.is_talker && one.stream.index() == stream)
        else {
            continue;
        };
        let until = if described.name == "f4" { Duration::from_ms(300) } else { Duration::from_ms(500) };
        let interval = if ["f2", "f3"].contains(&described.name.as_str()) { 500 } else { 250 };
        let sent = (until - request.answered_at.unwrap()).as_ps() / Duration::from_us(interval).as_ps();
        let created = observation.streams[stream].created;
        assert!(created.abs_diff(sent) <= 2, "{}: {created} frames, {sent} periods", described.name);
        assert_eq!(observation.streams[stream].listeners[0].late, 0, "{}", described.name);
    }
    assert_eq!(observation.streams[5].created, 0, "`late` never sends");
    // Both ACMasters hold the same at the end, and the released one no more.
    let standing: Vec<Vec<&str>> = seen
        .acmasters
        .iter()
        .map(|master| master.standing.iter().map(|one| network.streams[one.index()].name.as_str()).collect())
        .collect();
    assert_eq!(standing, [["f2", "f3", "f5", "f6"], ["f2", "f3", "f5", "f6"]]);
    let removed = seen.ladder.iter().filter(|rung| rung.event == AdmissionEvent::Removed).count();
    assert_eq!(removed, 3, "at three switches");
}

#[test]
fn a_standby_takes_over_and_repeats_nothing() {
    let text = with_a_switch_for_the_acmaster()
        // After the repeated requests: it would lock those out.
        .replace("{stream: late, at: 100 ms}", "{stream: late, at: 250 ms}")
        .replace("run: {duration: 500 ms}", "run: {duration: 350 ms}");
    for at in [6_000, 12_000, 14_500, 17_000, 21_000, 30_000] {
        let text = text.replace(
            "streams:\n  - {name: f2",
            &format!("events:\n  - {{at: {at} us, stop-node: sw4}}\nstreams:\n  - {{name: f2"),
        );
        let (network, observation) = run(&text);
        let seen = harts(&observation);
        assert_eq!(granted(&network, &observation), ["f2", "f3", "f4", "f5", "f6"], "death at {at} us");
        assert!(seen.ladder.iter().any(|rung| rung.event == AdmissionEvent::TookOver), "{at}");
        let standby = &seen.acmasters[1];
        assert!(standby.active, "{at}");
        let names: Vec<&str> =
            standby.standing.iter().map(|one| network.streams[one.index()].name.as_str()).collect();
        assert_eq!(names, ["f2", "f3", "f5", "f6"], "death at {at} us: nothing lost, nothing twice");
        let late: u64 = observation.streams.iter().flat_map(|one| &one.listeners).map(|one| one.late).sum();
        assert_eq!(late, 0, "{at}");
    }
    // Without a standby no request is answered.
    let alone = text.replace("    standby: sw1\n", "");
    let alone = alone.replace(
        "streams:\n  - {name: f2",
        "events:\n  - {at: 6 ms, stop-node: sw4}\nstreams:\n  - {name: f2",
    );
    let (network, observation) = run(&alone);
    assert!(granted(&network, &observation).is_empty());
}

/// Both ACMasters in switches of their own fail, the second when the first is back and has received all grants.
#[test]
fn two_failures_lose_nothing_and_repeat_nothing() {
    let text = scenario()
        .replace(
            "  sw3: {type: bridge}\n",
            "  sw3: {type: bridge}\n  sw4: {type: bridge}\n  sw5: {type: bridge}\n",
        )
        .replace(
            "  - {between: [sw2, sw3], length: 5 m}\n",
            "  - {between: [sw2, sw3]}\n  - {between: [sw2, sw4]}\n  - {between: [sw2, sw5]}\n",
        )
        .replace("master: sw2", "master: sw4")
        .replace("standby: sw1", "standby: sw5")
        // One is requested while the second is away, and `late` between the failures.
        .replace("{stream: f6, at: 5 ms}", "{stream: f6, at: 280 ms}")
        .replace("{stream: late, at: 100 ms}", "{stream: late, at: 160 ms}")
        .replace("release-at: 300 ms", "release-at: 400 ms");
    let events = |first: u64, back: u64, second: u64| {
        let stop = |at: u64, what: &str| format!("  - {{at: {at} us, {what}}}\n");
        let all =
            [stop(first, "stop-node: sw4"), stop(back, "start-node: sw4"), stop(second, "stop-node: sw5")];
        text.replace("streams:\n  - {name: f2", &format!("events:\n{}streams:\n  - {{name: f2", all.concat()))
    };
    for (first, back, second) in
        [(40_000, 120_000, 250_000), (40_000, 41_000, 250_000), (12_000, 150_000, 250_000)]
    {
        let (network, observation) = run(&events(first, back, second));
        let seen = harts(&observation);
        let at = format!("failures at {first} us and {second} us, back at {back} us");
        assert_eq!(granted(&network, &observation), ["f2", "f3", "f4", "f5", "f6"], "{at}");
        let master = &seen.acmasters[0];
        assert!(master.active, "{at}");
        let names: Vec<&str> =
            master.standing.iter().map(|one| network.streams[one.index()].name.as_str()).collect();
        assert_eq!(names, ["f2", "f3", "f5", "f6"], "{at}: nothing lost, nothing twice");
        // Existing grants are not tested again: of this life one test, that of `f6`.
        assert_eq!(master.tests, 1, "{at}");
        for request in &seen.requests {
            let name = &network.streams[request.stream.index()].name;
            assert_eq!(request.answers, 1, "{name}, {at}");
        }
        let late: u64 = observation.streams.iter().flat_map(|one| &one.listeners).map(|one| one.late).sum();
        assert_eq!(late, 0, "{at}");
    }
    // One that is not back when the second fails decides nothing, and what runs goes on.
    let (network, observation) = run(&events(40_000, 251_000, 250_000));
    assert!(!granted(&network, &observation).contains(&"f6".to_owned()));
    assert!(harts(&observation).acmasters.iter().all(|master| !master.active || master.switch.index() != 8));
    let (created, delivered) = frames(&network, &observation, "f2");
    assert!(created > 900 && created - delivered <= 2, "{created} {delivered}");
}

#[test]
fn lost_messages_are_repeated() {
    let text = scenario()
        .replace("{between: [n1, sw1], length: 5 m}", "{between: [n1, sw1], bit-error-rate: 0.0003}");
    let text =
        text.replace("{between: [sw2, sw3], length: 5 m}", "{between: [sw2, sw3], bit-error-rate: 0.0003}");
    let text = text
        .replace("run: {duration: 500 ms}", "run: {duration: 1500 ms}")
        .replace("release-at: 300 ms", "release-at: 1 s");
    let (network, observation) = run(&text);
    assert_eq!(granted(&network, &observation).len(), 5);
    let lost: u64 = network
        .streams
        .iter()
        .zip(&observation.streams)
        .filter(|(stream, _)| stream.name.starts_with("control:"))
        .map(|(_, seen)| seen.dropped.iter().map(|(_, count)| count).sum::<u64>())
        .sum();
    assert!(lost > 0, "some control messages are damaged");
}

#[test]
fn the_channel_protects_requests_from_a_load() {
    let longest = |text: &str| {
        let (_, observation) = run(text);
        let latencies =
            harts(&observation).requests.iter().filter(|one| one.is_talker).map(|one| one.latency());
        latencies.flatten().max().unwrap()
    };
    // Without the time of tests, a flood together with the requests.
    let text = scenario().replace("test: {min: 4 ms, max: 6 ms}", "test: {min: 1 us, max: 1 us}");
    let busy = text
        .replace("talker: n4, listeners: n5", "talker: n4, listeners: all")
        .replace("rate: 30 Mbit/s", "rate: 80 Mbit/s")
        .replace("network-control: none", "network-control: none\nallow: [port::overload]");
    let open = busy.replace("    channel: channel\n", "");
    let (free, first, behind) = (longest(&text), longest(&busy), longest(&open));
    assert!(first < free + Duration::from_us(500), "by blocking alone: {free} and {first}");
    assert!(behind > first + Duration::from_ms(1), "in the background: {behind} against {first}");
}

#[test]
fn streams_that_come_and_go_disturb_no_other() {
    // f5 is granted from the start; the rest come, and f4 goes.
    let with = scenario().replace("      - {stream: f5, at: 5 ms}\n", "");
    let without = {
        let start = with.find("    requests:\n").unwrap() + "    requests:\n".len();
        let end = with.find("streams:\n  - {name: f2").unwrap();
        format!(
            "{}      - {{stream: f2, at: 400 s}}\n      - {{stream: f3, at: 400 s}}\n      - {{stream: f4, at: 400 s}}\n      - {{stream: f6, at: 400 s}}\n      - {{stream: late, at: 400 s}}\n{}",
            &with[..start],
            &with[end..]
        )
    };
    let seen = |text: &str| {
        let (network, observation) = run(text);
        let bound = *bounds(&network).streams[3].listeners[0].delay.as_ref().unwrap();
        let one = &observation.streams[3];
        let greatest = one.listeners[0].delay.max().unwrap();
        assert!(greatest <= bound, "{greatest} of {bound}");
        (one.created, one.delivered, bound)
    };
    let ((created, delivered, bound), (created_alone, delivered_alone, bound_alone)) =
        (seen(&with), seen(&without));
    assert_eq!((created, bound), (created_alone, bound_alone), "the bound does not look at the others");
    assert!(
        created > 1990 && created - delivered <= 2 && created_alone - delivered_alone <= 2,
        "nothing is lost"
    );
}

#[test]
fn every_message_is_a_frame_on_the_links() {
    let (network, observation) = run(&scenario());
    let sent = |node: &str| -> u64 {
        let all = network.streams.iter().zip(&observation.streams);
        let own = all.filter(|(stream, _)| {
            stream.name.starts_with("control:") && network.nodes[stream.talker.index()].name == node
        });
        own.map(|(_, seen)| seen.created).sum()
    };
    // The talkers n1 and n3 request four and two streams, and n3 releases one; the listeners request five and one.
    let asked = ["n1", "n3", "n2", "n5", "n4"].map(sent);
    assert_eq!(asked, [4, 3, 5, 1, 0]);
    // The master of sw3 relays six requests, replies that five streams are set up and one is gone; six nodes are notified.
    assert_eq!(sent("sw3"), 18);
    assert!(sent("sw2") > 60, "to both sides, and to the standby that it lives: {}", sent("sw2"));
}

#[test]
fn a_refused_request_changes_nothing() {
    // Processing times that are constants: the runs differ by the refused request alone.
    let mut text = scenario();
    for (drawn, constant) in
        [("min: 40 us, max: 60", "min: 50 us, max: 50"), ("min: 4 ms, max: 6", "min: 5 ms, max: 5")]
    {
        text = text.replace(drawn, constant);
    }
    let (network, with) = run(&text);
    let (_, without) = run(&text.replace("late, at: 100 ms", "late, at: 400 s"));
    for (one, other) in harts(&with).acmasters.iter().zip(&harts(&without).acmasters) {
        assert_eq!(one.standing, other.standing);
    }
    assert_eq!(harts(&with).acmasters[0].tests, harts(&without).acmasters[0].tests + 1);
    for name in ["f2", "f3", "f4", "f5", "f6"] {
        assert_eq!(frames(&network, &with, name).0, frames(&network, &without, name).0, "{name}");
    }
    let late = network.streams.iter().position(|stream| stream.name == "late").unwrap();
    let configured = harts(&with).ladder.iter().filter(|rung| rung.stream.index() == late);
    assert!(configured.clone().count() > 4, "it was asked for");
    assert!(configured.map(|rung| rung.event).all(|event| event != AdmissionEvent::Configured));
    assert_eq!(frames(&network, &with, "late"), (0, 0));
}

#[test]
fn by_proven_bounds_all_that_are_proven_are_granted() {
    let text = scenario().replace("    channel: channel\n", "    channel: channel\n    decide-by: bounds\n");
    let (network, observation) = run(&text);
    // A deadline that is not proven keeps its own stream out.
    assert_eq!(granted(&network, &observation), ["f2", "f3", "f4", "f5", "f6"]);
    let place = |name: &str| network.streams.iter().position(|stream| stream.name == name).unwrap();
    let of = |names: &[&str]| -> Vec<StreamIndex> {
        names.iter().map(|name| StreamIndex::at(place(name))).collect()
    };
    // Without `late`, whose server would not fit with the others, all deadlines are proven; with it they are not.
    let holds = |names: &[&str]| {
        let part = network.with_only(&of(names));
        part.streams.iter().zip(&bounds(&part).streams).all(|(stream, proven)| {
            let deadline = stream.deadline.unwrap();
            proven.listeners[0].delay.as_ref().is_ok_and(|bound| *bound <= deadline)
        })
    };
    assert!(holds(&["f2", "f3", "f4", "f5", "f6"]));
    assert!(!holds(&["f2", "f3", "f4", "f5", "f6", "late"]));
}
