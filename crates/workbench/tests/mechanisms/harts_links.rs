//! Central admission of HaRTES and links that fail: what goes over a cable that is cut ends, and nothing else.

#![allow(clippy::unwrap_used, reason = "what a run must have is there")]

use tautwire_sim::AdmissionEvent;
use tautwire_units::Duration;

use crate::harts_admission::{frames, harts, run};
use crate::harts_consumers::parts;

/// `scenarios/harts-links.yaml` behaves as its comment states: a cable that is cut ends the grants over it, and no others.
#[test]
fn the_scenario_of_links_ends_what_goes_over_a_cable_that_is_cut() {
    let path = "../../scenarios/harts-links.yaml";
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
    // Nodes that can be reached are notified within a few messages; others when the cable is back.
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
    // Requests in the meantime are refused without a test, with the cable as the reason.
    let refused = at("asked", "near", AdmissionEvent::CutOff);
    assert!(refused.len() == 1 && ms(150) < refused[0] && refused[0] < mended, "{refused:?}");
    assert_eq!(
        at("asked", "sw2", AdmissionEvent::Tested { passed: true }).len(),
        1,
        "when the cable is back"
    );
    // No other node is notified.
    for (stream, node) in [("view", "camera"), ("view", "near"), ("local", "camera"), ("local", "near")] {
        assert_eq!(at(stream, node, AdmissionEvent::Acknowledged).len(), 1, "{stream} {node}");
        assert_eq!(at(stream, node, AdmissionEvent::CutOff), [], "{stream} {node}");
    }
    // At the end all are granted, at both ACMasters, and all were answered again.
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
    // Of the far one until 100 ms, and from 200 ms on, after its repeated request, a patience of 20 ms after that.
    assert!(near.1 > 570 && (310..350).contains(&far.1), "{near:?} {far:?}");
    let (created, delivered) = frames(&network, &observation, "solo");
    assert!(created < 420 && created - delivered <= 15, "it pauses within 5 ms: {created} {delivered}");
    let late: u64 = observation.streams.iter().flat_map(|one| &one.listeners).map(|one| one.late).sum();
    assert_eq!(late, 0);
}

/// The contents of the links databases at the end: the state, and the reservations of servers.
#[test]
fn the_links_are_known_with_what_is_reserved() {
    let path = "../../scenarios/harts-links.yaml";
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

/// A node that stops is a link that goes down, and an ACMaster that dies during the notifications leaves nothing behind.
#[test]
fn a_node_that_is_gone_and_an_acmaster_that_dies_leave_nothing_behind() {
    let path = "../../scenarios/harts-links.yaml";
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
