//! Central admission of HaRTES with several listeners: each is decided alone, they come and go, and an ACMaster that
//! comes back gets their grants.

#![allow(clippy::unwrap_used, reason = "what a run must have is there")]

use tautwire_analysis::bounds;
use tautwire_sim::{AdmissionEvent, Limit};
use tautwire_units::Duration;
use tautwire_workbench::{Network, Observation};

use crate::harts_admission::{granted, harts, network, run, scenario, with_a_switch_for_the_acmaster};

/// Of a stream: what became of the request of each listener, and the frames that it received.
pub(super) fn parts(network: &Network, observation: &Observation, name: &str) -> Vec<(bool, u64)> {
    let place = network.streams.iter().position(|stream| stream.name == name).unwrap();
    let part = |(number, node): (usize, tautwire_workbench::network::NodeIndex)| {
        let of_node = |request: &&tautwire_sim::RequestObservation| {
            request.stream.index() == place && request.node == node && !request.is_talker
        };
        let granted = harts(observation).requests.iter().find(of_node).unwrap().granted;
        (granted, observation.streams[place].listeners[number].delay.count())
    };
    network.streams[place].listeners.iter().copied().enumerate().map(part).collect()
}

/// `f6` has a listener behind two switches and one behind three; there is no `late`.
fn two_listeners(text: &str) -> String {
    let kept = text.lines().filter(|line| !line.contains("{stream: late,") && !line.contains("{name: late,"));
    let text = kept.fold(String::new(), |all, line| all + line + "\n");
    text.replace("name: f6, talker: n1, listeners: n2,", "name: f6, talker: n1, listeners: [n2, n4],")
}

#[test]
fn a_listener_that_would_be_late_is_refused_alone() {
    // `f2` with a deadline that is proven together with `f6` to the nearer one.
    let text = two_listeners(&scenario())
        .replace("deadline: 4 ms", "deadline: 5 ms")
        .replace("    channel: channel\n", "    channel: channel\n    decide-by: bounds\n");
    let place = 4;
    let proven = bounds(&network(&text));
    let [far, near] =
        [0, 1].map(|listener| *proven.streams[place].listeners[listener].delay.as_ref().unwrap());
    assert!(near < far, "{near} {far}");
    let between = (near + far).as_ps() / 2_000_000;
    let (head, tail) = text.split_once("{name: f6,").unwrap();
    let text = format!(
        "{head}{{name: f6,{}",
        tail.replacen("deadline: 2 ms", &format!("deadline: {between} us"), 1)
    );
    let (network, observation) = run(&text);
    assert_eq!(granted(&network, &observation), ["f2", "f3", "f4", "f5", "f6"], "`f6` for the nearer one");
    let [(far, far_frames), (near, near_frames)] = parts(&network, &observation, "f6")[..] else { panic!() };
    assert!(!far && near);
    assert_eq!(far_frames, 0, "no frame goes where nobody was granted it");
    assert!(near_frames > 1_800, "{near_frames}");
    assert_eq!(observation.streams[place].listeners[1].late, 0);
    // The third switch never received it.
    let configured = |rung: &&tautwire_sim::AdmissionRung| {
        rung.event == AdmissionEvent::Configured
            && rung.stream.index() == place
            && network.nodes[rung.node.index()].name == "sw3"
    };
    assert_eq!(harts(&observation).ladder.iter().find(configured), None);
}

#[test]
fn listeners_come_and_go_and_the_last_one_has_the_talker_pause() {
    let text = two_listeners(&scenario()).replace(
        "{stream: f6, at: 5 ms}",
        "{stream: f6, at: 5 ms, listeners: [{node: n2, at: 60 ms, release-at: 200 ms}, {node: n4, release-at: 300 ms}]}",
    );
    let (network, observation) = run(&text);
    let [(_, far), (_, near)] = parts(&network, &observation, "f6")[..] else { panic!() };
    // Periods of 250 us: of the far one from 60 to 200 ms, an admission and a removal more or less; of the near one until 300 ms, behind
    // the tests of five streams, of 4 to 6 ms each.
    assert!((490..=562).contains(&far), "{far}");
    assert!((1_040..=1_104).contains(&near), "{near}");
    let created = observation.streams[4].created;
    assert!(created - near <= 2, "nothing is sent when nobody is left: {created} {near}");
    let of = |event: AdmissionEvent| {
        let rungs = harts(&observation)
            .ladder
            .iter()
            .filter(move |rung| rung.stream.index() == 4 && rung.event == event);
        rungs.map(|rung| (network.nodes[rung.node.index()].name.as_str(), rung.at)).collect::<Vec<_>>()
    };
    let paused = of(AdmissionEvent::Paused);
    let [("n1", paused)] = paused[..] else { panic!("{paused:?}") };
    let removed = of(AdmissionEvent::Removed);
    let [("sw3", first), (_, second), (_, third)] = removed[..] else { panic!("{removed:?}") };
    let ms = Duration::from_ms;
    assert!(ms(200) < first && first < ms(210) && ms(300) < paused, "{removed:?}");
    assert!(paused < second && paused < third && third < ms(310), "the talker first: {removed:?}");
    for master in &harts(&observation).acmasters {
        assert_eq!(master.standing.len(), 3, "f2, f3 and f5");
    }
    let late: u64 = observation.streams.iter().flat_map(|one| &one.listeners).map(|one| one.late).sum();
    assert_eq!(late, 0);
}

/// An ACMaster without a standby, in a switch of its own, stops at any time and comes back: it gets the grants from the switches.
#[test]
fn an_acmaster_that_is_alone_comes_back_and_keeps_granted_streams() {
    let text = with_a_switch_for_the_acmaster()
        .replace("    standby: sw1\n", "")
        .replace("{stream: f6, at: 5 ms}", "{stream: f6, at: 280 ms}")
        .replace("{stream: late, at: 100 ms}", "{stream: late, at: 290 ms}")
        .replace("release-at: 300 ms", "release-at: 400 ms");
    for (stops, back) in
        [(6_000, 20_000), (12_000, 30_000), (14_500, 150_000), (17_000, 18_000), (60_000, 61_000)]
    {
        let events = format!(
            "events:\n  - {{at: {stops} us, stop-node: sw4}}\n  - {{at: {back} us, start-node: sw4}}\nstreams:\n  - {{name: f2"
        );
        let (network, observation) = run(&text.replace("streams:\n  - {name: f2", &events));
        let at = format!("from {stops} us to {back} us");
        assert_eq!(granted(&network, &observation), ["f2", "f3", "f4", "f5", "f6"], "{at}");
        let [master] = &harts(&observation).acmasters[..] else { panic!() };
        let names: Vec<&str> =
            master.standing.iter().map(|one| network.streams[one.index()].name.as_str()).collect();
        assert!(master.active, "{at}");
        assert_eq!(names, ["f2", "f3", "f5", "f6"], "{at}: nothing lost, nothing twice");
        if stops == 60_000 {
            assert_eq!(master.tests, 2, "of its second life: f6 and late, and not what stood");
        }
        for request in &harts(&observation).requests {
            let name = &network.streams[request.stream.index()].name;
            assert_eq!(request.answers, 1, "{name}, {at}");
        }
        let late: u64 = observation.streams.iter().flat_map(|one| &one.listeners).map(|one| one.late).sum();
        assert_eq!(late, 0, "{at}");
    }
}

/// `scenarios/harts-consumers.yaml` behaves as its comment states.
#[test]
fn the_scenario_of_consumers_decides_each_alone() {
    let path = "../../scenarios/harts-consumers.yaml";
    let (network, observation) = run(&std::fs::read_to_string(path).unwrap());
    let proven = bounds(&network);
    let view = &network.streams[0];
    let late: Vec<bool> = proven.streams[0]
        .listeners
        .iter()
        .map(|listener| *listener.delay.as_ref().unwrap() > view.deadline.unwrap())
        .collect();
    assert_eq!(late, [false, true, false, false], "remote alone would be late");
    let parts = parts(&network, &observation, "view");
    let of: Vec<bool> = parts.iter().map(|(granted, _)| *granted).collect();
    assert_eq!(of, [true, false, true, true]);
    let [refusal] = &observation.refusals[..] else { panic!("one is refused") };
    let Limit::Late(late) = refusal.limit else { panic!("it would be late") };
    assert_eq!((late.stream, late.listener), (refusal.stream, refusal.listener));
    assert_eq!(late.listener, view.listeners[1]);
    assert_eq!(late.deadline, view.deadline);
    assert!(late.delay_max > view.deadline && late.port.is_some());
    let frames: Vec<u64> = parts.iter().map(|(_, frames)| *frames).collect();
    // 4 a millisecond: from 5 to 120 ms, never, from 60 to 160, from 220 to 300, an admission or a removal of up to 10 ms more or less.
    for (frames, ms) in frames.iter().zip([115, 0, 100, 80]) {
        assert!(frames.abs_diff(4 * ms) <= if ms == 0 { 0 } else { 40 }, "{frames} in {ms} ms");
    }
    let created = observation.streams[0].created;
    assert!(created < 4 * (155 + 80) + 40, "nothing is sent while nobody is left: {created}");
    let of = |event: AdmissionEvent| {
        let rungs = harts(&observation).ladder.iter().filter(move |rung| rung.event == event);
        rungs.map(|rung| network.nodes[rung.node.index()].name.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(of(AdmissionEvent::Paused), ["camera"]);
    let [master] = &harts(&observation).acmasters[..] else { panic!() };
    assert!(master.active);
    assert_eq!(master.standing.len(), 1);
    // Of its second life: spare and near were granted, and late-comer was tested.
    assert_eq!(master.tests, 1);
    assert!(observation.streams[0].listeners.iter().all(|listener| listener.late == 0));
}
