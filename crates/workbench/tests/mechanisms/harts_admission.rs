//! Central admission in the simulation of frames: answers, latencies, a standby that takes over, lost messages, and others
//! that are not disturbed.

#![allow(clippy::unwrap_used, reason = "what a run must have is there")]

// As if all were granted.
use tautwire_analysis::bounds;
use tautwire_sim::{AdmissionEvent, HartsObservation, Limit};
use tautwire_units::Duration;
use tautwire_workbench::{Network, Observation, Options, StreamIndex, load_text, simulate};

fn scenario() -> String {
    let path = format!("{}/../../scenarios/harts-admission.yaml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

fn network(text: &str) -> Network {
    let loaded = load_text("admission.yaml", text);
    loaded.network.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics))
}

fn run(text: &str) -> (Network, Observation) {
    let network = network(text);
    let observation = simulate(&network, &mut Options::default());
    (network, observation)
}

fn harts(observation: &Observation) -> &HartsObservation {
    observation.harts.as_ref().unwrap()
}

/// Of a stream: frames sent and delivered.
fn frames(network: &Network, observation: &Observation, name: &str) -> (u64, u64) {
    let place = network.streams.iter().position(|stream| stream.name == name).unwrap();
    (observation.streams[place].created, observation.streams[place].delivered)
}

/// Streams that were granted to their talkers, by name.
fn granted(network: &Network, observation: &Observation) -> Vec<String> {
    let requests = harts(observation).requests.iter().filter(|request| request.is_talker && request.granted);
    requests.map(|request| network.streams[request.stream.index()].name.clone()).collect()
}

/// The scenario with its ACMaster in a switch of its own, so that its death cuts no stream.
fn with_a_switch_for_the_acmaster() -> String {
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
        // Behind what is asked again: it would keep that out.
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
    // Without a standby nobody is answered.
    let alone = text.replace("    standby: sw1\n", "");
    let alone = alone.replace(
        "streams:\n  - {name: f2",
        "events:\n  - {at: 6 ms, stop-node: sw4}\nstreams:\n  - {name: f2",
    );
    let (network, observation) = run(&alone);
    assert!(granted(&network, &observation).is_empty());
}

/// Both ACMasters in switches of their own fail, the second when the first is back and has been told all.
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
        // One is asked for while the second is away, and `late` between the failures.
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
        // What stood is not tested again: of this life one test, that of `f6`.
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
    // Without the time of tests, a flood beside the requests.
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
    // f5 stands from the start; the rest come, and f4 goes.
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
    // The talkers n1 and n3 ask for four and two streams, and n3 gives one back; the listeners ask for five and one.
    let asked = ["n1", "n3", "n2", "n5", "n4"].map(sent);
    assert_eq!(asked, [4, 3, 5, 1, 0]);
    // The master of sw3 relays six requests, replies that five streams are set up and one is gone; six nodes are told.
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
    // Without `late`, whose server would not fit beside the others, all deadlines are proven; with it they are not.
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

/// Of a stream: what became of the request of each listener, and the frames that it received.
fn parts(network: &Network, observation: &Observation, name: &str) -> Vec<(bool, u64)> {
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
    // `f2` with a deadline that is proven beside `f6` to the nearer one.
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
    // The third switch never heard of it.
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

/// An ACMaster without a standby, in a switch of its own, stops at any time and comes back: what stands it hears of the switches.
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

/// `scenarios/harts-consumers.yaml` as it says of itself.
#[test]
fn the_scenario_of_consumers_decides_each_alone() {
    let path = format!("{}/../../scenarios/harts-consumers.yaml", env!("CARGO_MANIFEST_DIR"));
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
    // Of its second life: spare and near stood, and late-comer was tested.
    assert_eq!(master.tests, 1);
    assert!(observation.streams[0].listeners.iter().all(|listener| listener.late == 0));
}

/// `scenarios/harts-links.yaml` as it says of itself: a cable that is cut ends what goes over it, and nothing else.
#[test]
fn the_scenario_of_links_ends_what_goes_over_a_cable_that_is_cut() {
    let path = format!("{}/../../scenarios/harts-links.yaml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let (network, observation) = run(&text);
    let seen = harts(&observation);
    let at = |stream: &str, node: &str, event: AdmissionEvent| -> Vec<Duration> {
        let rungs = seen.ladder.iter().filter(|rung| {
            network.streams.get(rung.stream.index()).is_some_and(|one| one.name == stream)
                && network.nodes[rung.node.index()].name == node
                && rung.event == event
        });
        rungs.map(|rung| rung.at).collect()
    };
    let (cut, mended, ms) = (Duration::from_ms(100), Duration::from_ms(200), Duration::from_ms);
    // Who can be reached is told within a few messages; who cannot when the cable is back.
    for (stream, node) in [("solo", "camera"), ("feed", "near")] {
        let notified = at(stream, node, AdmissionEvent::CutOff);
        assert!(
            notified.len() == 1 && cut < notified[0] && notified[0] < cut + ms(5),
            "{stream} {node} {notified:?}"
        );
    }
    for (stream, node) in [("view", "far"), ("solo", "far"), ("feed", "sensor")] {
        let notified = at(stream, node, AdmissionEvent::CutOff);
        assert!(
            notified.len() == 1 && mended < notified[0] && notified[0] < mended + ms(5),
            "{stream} {node} {notified:?}"
        );
    }
    // And the near switches have nothing of it, long before.
    for (stream, switch) in [("solo", "sw1"), ("feed", "sw2")] {
        let gone = at(stream, switch, AdmissionEvent::Removed);
        assert!(cut < gone[0] && gone[0] < cut + ms(5), "{stream} {switch} {gone:?}");
    }
    // What asks meanwhile is refused without a test, with the cable as the reason.
    let refused = at("asked", "near", AdmissionEvent::CutOff);
    assert!(refused.len() == 1 && ms(150) < refused[0] && refused[0] < mended, "{refused:?}");
    assert_eq!(
        at("asked", "sw2", AdmissionEvent::Tested { passed: true }).len(),
        1,
        "when the cable is back"
    );
    // Nobody else is told anything.
    for (stream, node) in [("view", "camera"), ("view", "near"), ("local", "camera"), ("local", "near")] {
        assert_eq!(at(stream, node, AdmissionEvent::Acknowledged).len(), 1, "{stream} {node}");
        assert_eq!(at(stream, node, AdmissionEvent::CutOff), [], "{stream} {node}");
    }
    // At the end all stand, at both ACMasters, and all were answered again.
    assert!(
        seen.requests.iter().all(|request| request.granted && request.cut.is_none()),
        "{:?}",
        seen.requests
    );
    assert!(seen.acmasters.iter().all(|master| master.standing.len() == 5), "{:?}", seen.acmasters);
    let (created, delivered) = frames(&network, &observation, "local");
    assert!(created > 570 && created - delivered <= 2, "{created} {delivered}");
    let places = ["view", "solo"].map(|name| parts(&network, &observation, name));
    let [near, far] = places[0][..] else { panic!() };
    // Of the far one until 100 ms, and from 200 ms on, when it has asked again, a patience of 20 ms behind that.
    assert!(near.1 > 570 && (310..350).contains(&far.1), "{near:?} {far:?}");
    let (created, delivered) = frames(&network, &observation, "solo");
    assert!(created < 420 && created - delivered <= 15, "it pauses within 5 ms: {created} {delivered}");
    let late: u64 = observation.streams.iter().flat_map(|one| &one.listeners).map(|one| one.late).sum();
    assert_eq!(late, 0);
}

/// What the links databases say at the end: the state, and what servers have reserved.
#[test]
fn the_links_are_known_with_what_is_reserved() {
    let path = format!("{}/../../scenarios/harts-links.yaml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let state = |text: &str| {
        let (network, observation) = run(text);
        let link = |from: &str, to: &str| {
            let name =
                |node: tautwire_workbench::network::NodeIndex| network.nodes[node.index()].name.as_str();
            let mut links = harts(&observation).links.iter();
            let link = links.find(|link| name(link.switch) == from && name(link.neighbour) == to).unwrap();
            (link.up, link.reserved.as_bps())
        };
        [("sw1", "sw2"), ("sw2", "near"), ("sw2", "sw3"), ("sw3", "sw2"), ("sw3", "sensor")]
            .map(|(from, to)| link(from, to))
    };
    // Periods of 500 us less what clocks differ by: three cycles of 125 us, with one message each. Octets of the wire: payload,
    // header with a tag or not, FCS, preamble and gap.
    let rate = |octets: &[u64]| octets.iter().map(|octets| (octets * 8 * 8_000).div_ceil(3)).sum::<u64>();
    let end = state(&text);
    let of_server = |payload: u64| payload + 14 + 4 + 4 + 20;
    let [view, solo, feed, local, asked] = [100, 64, 64, 46, 46].map(of_server);
    assert_eq!(
        end,
        [
            (true, rate(&[view, solo, local])),
            (true, rate(&[view, feed, local, asked])),
            (true, rate(&[view, solo])),
            (true, rate(&[feed, asked])),
            (true, 0),
        ]
    );
    let during = state(&text.replace("run: {duration: 300 ms}", "run: {duration: 190 ms}"));
    assert_eq!(during[0], (true, rate(&[view, local])), "what ended is free");
    assert_eq!(during[1], (true, rate(&[view, local])));
    assert!(!during[2].0 && !during[3].0, "down: {during:?}");
}

/// A node that stops is a link that goes down, and the ACMaster that dies while it is told leaves nothing behind.
#[test]
fn a_node_that_is_gone_and_an_acmaster_that_dies_leave_nothing_behind() {
    let path = format!("{}/../../scenarios/harts-links.yaml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    // The ACMaster in a switch of its own.
    let text = text
        .replace("  sw3: {type: bridge}\n", "  sw3: {type: bridge}\n  sw4: {type: bridge}\n")
        .replace(
            "harts:
",
            "  - {between: [sw2, sw4]}
harts:
",
        )
        .replace("master: sw2", "master: sw4")
        .replace("run: {duration: 300 ms}", "run: {duration: 450 ms}");
    let (head, tail) = text.split_once("events:\n").unwrap();
    let (_, tail) = tail.split_once("streams:\n").unwrap();
    let with = |events: &str| run(&format!("{head}events:\n{events}streams:\n{tail}"));
    for dies in [100_500, 101_000, 102_000, 201_000] {
        for (down, up) in [("cut-link: trunk", "mend-link: trunk"), ("stop-node: far", "start-node: far")] {
            let mut events = [
                (100_000, format!("  - {{at: 100 ms, {down}}}\n")),
                (200_000, format!("  - {{at: 200 ms, {up}}}\n")),
                (dies, format!("  - {{at: {dies} us, stop-node: sw4}}\n")),
            ];
            events.sort();
            let (network, observation) = with(&events.map(|(_, event)| event).concat());
            let seen = harts(&observation);
            let context = format!("{down}, death at {dies} us");
            for request in &seen.requests {
                let name = &network.streams[request.stream.index()].name;
                assert!(request.granted, "{name} to {:?}, {context}", request.node);
            }
            let standby = &seen.acmasters[1];
            assert!(standby.active && standby.standing.len() == 5, "{context}");
            let late: u64 =
                observation.streams.iter().flat_map(|one| &one.listeners).map(|one| one.late).sum();
            assert_eq!(late, 0, "{context}");
        }
    }
}
