//! Nothing is proven that may be lost.

use tautwire_admission::{AdmissionTest, EndToEndBounds, RefusalReason};
use tautwire_workbench::{Limit, Network, StreamIndex, Verdict, Verification, bounds, judge};

use super::{answer, network, text};

/// The verdict by bounds alone, and the limits that may be too small, in words.
fn proven(text: &str) -> (Network, Verification, Vec<String>) {
    let network = network(text);
    let bounds = bounds(&network);
    let verification = judge(&network, Some(&bounds), None);
    let limits_found: Vec<String> = limits(&verification).map(|limit| limit.text(&network)).collect();
    (network, verification, limits_found)
}

fn limits(verification: &Verification) -> impl Iterator<Item = &Limit> {
    verification.streams.iter().flat_map(|stream| &stream.listeners).flat_map(|one| &one.may_be_lost)
}

/// The description may lose frames at a limit of this kind, and does; with the sufficient limit it is proven and loses nothing.
fn the_limit_that_would_do_does(text: &str, kind: &str, written: impl Fn(u64) -> String) {
    let (network, bounds, observation, verification) = answer(text);
    let limit = limits(&verification).find(|limit| limit.kind.name == kind);
    let limit = limit.unwrap_or_else(|| panic!("no {kind}: {verification:#?}")).clone();
    let alone = judge(&network, Some(&bounds), None);
    assert_eq!(alone.verdict, Verdict::MayBeLost, "{}", limit.text(&network));
    let lost: u64 = observation.streams.iter().flat_map(|seen| &seen.dropped).map(|(_, count)| count).sum();
    assert!(lost > 0, "{}: the limit that may be too small is", limit.text(&network));
    let of_kind = limits(&verification).filter(|limit| limit.kind.name == kind);
    let needed =
        of_kind.map(|limit| limit.needed.expect("some limit does")).max().expect("it is one of them");
    assert!(needed > limit.limit, "{}", limit.text(&network));
    let (_, _, observation, verification) = answer(&written(needed));
    assert_eq!(verification.verdict, Verdict::Proven, "{verification:#?}");
    assert!(observation.streams.iter().all(|seen| seen.dropped.is_empty()));
}

#[test]
fn a_burst_above_the_queue_is_not_proven() {
    let text = text("proven-but-lost.yaml");
    let (_, verification, limits_found) = proven(&text);
    assert_eq!(verification.verdict, Verdict::MayBeLost);
    assert!(
        limits_found
            .iter()
            .all(|limits_found| limits_found.starts_with("queue of class 5 of b.p3: limit 1024 frames, ")),
        "{limits_found:?}"
    );
    the_limit_that_would_do_does(&text, "queue-frames", |needed| {
        text.replace("b: {type: bridge}", &format!("b: {{type: bridge, queue-limit: {{frames: {needed}}}}}"))
    });
}

/// Two talkers on faster lines send a burst each at once to one listener.
fn two_bursts(devices: &str, bridge: &str, frames: u32) -> String {
    format!(
        "name: bursts
network-control: none
devices:
  d: {{based-on: store-and-forward{devices}}}
nodes:
  a: {{type: end-station}}
  c: {{type: end-station}}
  b: {{type: bridge, device: d{bridge}}}
  z: {{type: end-station}}
links:
  - {{between: [a, b], rate: 1 Gbit/s}}
  - {{between: [c, b], rate: 1 Gbit/s}}
  - {{between: [b, z], rate: 100 Mbit/s}}
streams:
  - {{name: x, talker: a, listeners: z, priority: 5, frame: 500 B, traffic: {{type: periodic, interval: 100 ms, burst: {frames}}}, deadline: 50 ms}}
  - {{name: y, talker: c, listeners: z, priority: 3, frame: 500 B, traffic: {{type: periodic, interval: 100 ms, burst: {frames}}}, deadline: 50 ms}}
run: {{duration: 300 ms}}
"
    )
}

#[test]
fn octets_of_a_queue_are_a_limit() {
    let limited = |octets: u64| two_bursts("", &format!(", queue-limit: {{octets: {octets} B}}"), 20);
    the_limit_that_would_do_does(&limited(5_000), "queue-octets", limited);
}

#[test]
fn the_queue_of_a_reception_port_is_a_limit() {
    let limited = |frames: u64| {
        two_bursts(&format!(", tie-rule: round-robin, reception-queue-limit: {frames}"), "", 20)
    };
    the_limit_that_would_do_does(&limited(4), "reception-queue-frames", limited);
}

/// A device with two stages dropped frames because of that limit, although one queue held the frames of all reception
/// ports and `check` reported that it has no effect; bounds named `queue-limit` for it.
#[test]
fn a_limit_of_reception_queues_limits_nothing_where_there_are_none() {
    for ats in ["", ", ats: {organisation: eligibility-ordered}"] {
        let text = two_bursts(&format!(", two-stage: true, reception-queue-limit: 4{ats}"), "", 20);
        assert_eq!(super::codes(&text), ["form::no-effect"], "{text}");
        let (_, _, observation, verification) = answer(&text);
        assert!(observation.streams.iter().all(|seen| seen.dropped.is_empty()), "{text}");
        assert_eq!(verification.verdict, Verdict::Proven, "{verification:#?}");
    }
    let lanes = |limit: u64| {
        two_bursts(
            &format!(", two-stage: true, tie-rule: round-robin, reception-queue-limit: {limit}"),
            "",
            20,
        )
    };
    assert_eq!(super::codes(&lanes(4)), [] as [&str; 0]);
    the_limit_that_would_do_does(&lanes(4), "reception-queue-frames", lanes);
}

#[test]
fn a_shared_buffer_is_a_limit_and_a_reservation_is_kept() {
    // Class 5 has what it needs of its own, whatever class 3 takes.
    let reserved = |own: u64, cells: u64| {
        let buffer = format!(", shared-buffer: {{cell: 100 B, cells: {cells}, reserved: {{5: {own}}}}}");
        two_bursts("", &buffer, 20)
    };
    let (_, verification, limits_found) = proven(&reserved(100, 120));
    assert_eq!(verification.streams[0].verdict, Verdict::Proven, "{limits_found:?}");
    assert_eq!(verification.streams[1].verdict, Verdict::MayBeLost, "{limits_found:?}");
    let advice = "shared buffer of b.p3, too small for class 3: limit 120 cells, `cells: ";
    assert!(
        limits_found[0].starts_with(advice) && limits_found[0].ends_with("` would do for all classes"),
        "{limits_found:?}"
    );
    let (_, verification, limits_found) = proven(&reserved(100, 300));
    assert_eq!(verification.verdict, Verdict::Proven, "{limits_found:?}");
}

/// The reported need was the cells of one class, which is no value of a key: written, it was not enough.
#[test]
fn the_advised_cells_are_those_to_write() {
    let reserved = |cells: u64| {
        two_bursts(
            "",
            &format!(", shared-buffer: {{cell: 64 B, cells: {cells}, reserved: {{0: 10, 5: 3}}}}"),
            20,
        )
    };
    the_limit_that_would_do_does(&reserved(30), "buffer-cells", reserved);
    let at_a_station = text("shared-buffer-reserved.yaml");
    let cells = |cells: u64| at_a_station.replace("cells: 22", &format!("cells: {cells}"));
    the_limit_that_would_do_does(&at_a_station, "buffer-cells", cells);
}

#[test]
fn the_queue_of_a_host_is_a_limit() {
    let limited = |frames: u64| {
        format!(
            "name: host
network-control: none
hosts:
  slow: {{transmit: 20 us, queue-limit: {frames}}}
nodes:
  a: {{type: end-station, host: slow}}
  z: {{type: end-station}}
links:
  - {{between: [a, z], rate: 100 Mbit/s}}
streams:
  - {{name: x, talker: a, listeners: z, frame: 100 B, traffic: {{type: periodic, interval: 10 ms, burst: 6}}, deadline: 5 ms}}
run: {{duration: 100 ms}}
"
        )
    };
    the_limit_that_would_do_does(&limited(3), "host-queue-frames", limited);
}

/// A virtual link with a BAG of 2 ms.
fn link(traffic: &str, link: &str) -> String {
    format!(
        "name: link
network-control: none
nodes:
  a: {{type: end-station}}
  b: {{type: bridge}}
  z: {{type: end-station}}
links:
  - {{between: [a, b], rate: 100 Mbit/s}}
  - {{between: [b, z], rate: 100 Mbit/s}}
streams:
  - {{name: x, talker: a, listeners: z, payload: 100 B, traffic: {{type: periodic, {traffic}}}, virtual-link: {{id: 1, bag: 2 ms{link}}}, deadline: 40 ms}}
run: {{duration: 200 ms}}
"
    )
}

/// Messages that never wait for one another were reported to need places, and a talker that keeps the BAG by itself to be policed.
#[test]
fn what_virtual_links_never_lose_is_proven() {
    for (traffic, keys) in [
        ("interval: 20 ms, jitter: 5 ms", ", buffer-frames: 1"),
        ("interval: 2 ms, jitter: 1900 us", ", buffer-frames: 1"),
        ("interval: 2 ms, jitter: 3900 us", ", buffer-frames: 2"),
        ("interval: 8 ms, jitter: 1 ms, burst: 3", ", buffer-frames: 3"),
        ("interval: 2 ms", ", regulated: false"),
        ("interval: 3 ms, jitter: 200 us", ", regulated: false"),
    ] {
        for clock in ["", "defaults: {clock: {tolerance: 100 ppm, granularity: 40 ns}}\n"] {
            let text = format!("{clock}{}", link(traffic, keys));
            let (_, _, observation, verification) = answer(&text);
            assert_eq!(verification.verdict, Verdict::Proven, "{text}\n{verification:#?}");
            assert!(observation.streams.iter().all(|seen| seen.dropped.is_empty()), "{text}");
        }
    }
    // One place less is too few, and more before or behind the BAG than the switch grants is policed.
    for (traffic, keys, name) in [
        ("interval: 2 ms, jitter: 3900 us", ", buffer-frames: 1", "link-queue-messages"),
        ("interval: 8 ms, jitter: 1 ms, burst: 4", ", buffer-frames: 2", "link-queue-messages"),
        ("interval: 4 ms, burst: 2", ", regulated: false", "policed-jitter"),
    ] {
        let (_, bounds, observation, verification) = answer(&link(traffic, keys));
        assert_ne!(verification.verdict, Verdict::Proven, "{traffic}{keys}");
        assert!(limits(&verification).any(|limit| limit.kind.name == name), "{traffic}{keys}");
        assert!(observation.streams.iter().any(|seen| !seen.dropped.is_empty()), "{traffic}{keys}");
        // What a queue takes leaves it no later for what it does not take.
        let is_bounded = bounds.streams[0].listeners[0].delay.is_ok();
        assert_eq!(is_bounded, name == "link-queue-messages", "{traffic}{keys}");
        assert!(verification.contradictions.is_empty(), "{:#?}", verification.contradictions);
    }
    // However many messages come, a regulator lets them out as the switch grants.
    let (_, verification, limits_found) = proven(&link("interval: 1 ms", ", buffer-frames: 2"));
    assert!(limits(&verification).all(|limit| limit.kind.name == "link-queue-messages"), "{limits_found:?}");
}

#[test]
fn discards_of_virtual_links_are_reported() {
    let queue = |limit: u64| link("interval: 20 ms, burst: 4", &format!(", buffer-frames: {limit}"));
    let (_, verification, limits_found) = proven(&queue(2));
    assert_ne!(verification.verdict, Verdict::Proven);
    assert!(
        limits_found
            .iter()
            .any(|limits_found| limits_found
                .starts_with("queue of the virtual link of x: limit 2 messages, 4")),
        "{limits_found:?}"
    );
    // Older messages of one that keeps the newest are meant to be lost.
    let (network, verification, limits_found) = proven(&link("interval: 1 ms", ", buffer: overwriting"));
    let first = limits(&verification).next().unwrap_or_else(|| panic!("{limits_found:?}"));
    assert!(first.is_meant(), "{}", first.text(&network));
    assert_eq!(verification.verdict, Verdict::Proven, "{limits_found:?}");
}

#[test]
fn messages_without_a_slot_are_reported() {
    let scenario = |burst: u32, limit: u32, lifetime: &str| {
        format!(
            "name: slots
network-control: none
hosts:
  rtnet: {{queue-limit: {limit}}}
defaults: {{rate: 100 Mbit/s, host: rtnet}}
nodes:
  m: {{type: end-station}}
  s: {{type: end-station}}
  b: {{type: bridge}}
links:
  - {{between: [m, b]}}
  - {{between: [s, b]}}
tdma:
  cycle: 1 ms
  synchronisation: opening{lifetime}
  slots:
    - {{owner: s, offset: 300 us, length: 200 us}}
streams:
  - {{name: opening, talker: m, listeners: all, priority: 7, tagged: false, payload: 46 B, traffic: {{type: synchronisation}}}}
  - {{name: x, talker: s, listeners: m, priority: 5, tagged: false, payload: 200 B, traffic: {{type: periodic, interval: 20 ms, burst: {burst}}}, deadline: 15 ms}}
run: {{duration: 200 ms}}
"
        )
    };
    let queue = |limit: u64| scenario(6, u32::try_from(limit).expect("few"), "");
    the_limit_that_would_do_does(&queue(3), "host-queue-frames", queue);
    let (_, verification, limits_found) = proven(&scenario(6, 100, "\n  lifetime: 3 ms"));
    assert_eq!(verification.verdict, Verdict::MayBeLost, "{limits_found:?}");
    assert!(
        limits_found
            .iter()
            .any(|limits_found| limits_found.starts_with("lifetime of frames of TDMA station s: limit 3 ms")),
        "{limits_found:?}"
    );
}

#[test]
fn the_policer_and_the_pool_of_a_server_are_limits() {
    let harts = |police: &str| {
        format!(
            "name: servers
network-control: none
defaults: {{rate: 100 Mbit/s}}
nodes:
  a: {{type: end-station}}
  b: {{type: bridge}}
  z: {{type: end-station}}
links:
  - {{between: [a, b]}}
  - {{between: [b, z]}}
harts:
  elementary-cycle: 1 ms
  trigger: 20 us
  turn-around: 20 us
  reserve:
    - {{stream: x, priority: 7, capacity: 1000 B, every: 1, police: {{{police}}}}}
streams:
  - {{name: x, talker: a, listeners: z, priority: 5, payload: 100 B, traffic: {{type: periodic, interval: 4 ms, jitter: 3 ms}}, deadline: 30 ms}}
run: {{duration: 400 ms}}
"
        )
    };
    let (_, verification, limits_found) = proven(&harts("distance: 3 ms, early: discard"));
    assert_ne!(verification.verdict, Verdict::Proven, "{limits_found:?}");
    assert!(
        limits_found
            .iter()
            .any(|limits_found| limits_found.starts_with("policing at x, distance of frames: limit 3 ms")),
        "{limits_found:?}"
    );
    let (_, verification, limits_found) = proven(&harts("distance: 4 ms, early: reshape, pool: 1"));
    assert_eq!(verification.verdict, Verdict::Proven, "{limits_found:?}");
}

#[test]
fn overflows_of_stacks_are_reported() {
    let host = |queue: u64| {
        format!(
            "name: stack
network-control: none
hosts:
  pc:
    threads:
      worker: {{service: 50 us}}
    stacks:
      main: {{thread: worker, task-queue: {queue}}}
nodes:
  a: {{type: end-station, host: pc}}
  z: {{type: end-station}}
links:
  - {{between: [a, z], rate: 100 Mbit/s}}
streams:
  - {{name: x, talker: a, listeners: z, frame: 100 B, traffic: {{type: periodic, interval: 10 ms, burst: 6}}, deadline: 5 ms}}
run: {{duration: 100 ms}}
"
        )
    };
    the_limit_that_would_do_does(&host(2), "task-queue-frames", host);
}

#[test]
fn a_request_that_may_cost_frames_is_refused() {
    let network = network(&text("proven-but-lost.yaml"));
    let both = [StreamIndex::at(0), StreamIndex::at(1)];
    let refused = EndToEndBounds.refuse(&network, &both).expect("a third is lost");
    let RefusalReason::MayBeLost { stream, place, allowed, needed, .. } = &refused else {
        panic!("{refused:?}");
    };
    assert_eq!((stream.as_str(), place.as_str(), *allowed), ("x", "b.p3", 1_024));
    assert!(needed.is_some_and(|needed| (1_025..=2_100).contains(&needed)), "{needed:?}");
    assert_eq!(EndToEndBounds.refuse(&network, &both[..1]), None);
    // Repeated requests get the same answer, and a refused stream is gone.
    let mut standing = Box::new(EndToEndBounds).begin(&network);
    assert_eq!(standing.join(&network, both[0]), None);
    assert_eq!(standing.join(&network, both[1]), Some(refused));
    standing.leave(&network, both[0]);
    assert_eq!(standing.join(&network, both[1]), None);
}

/// Streams that a run refuses because their frames could be lost, and the ports.
fn refused_for_losses(text: &str) -> Vec<(String, String, Option<String>)> {
    let (network, _, seen, _) = answer(text);
    let summary = tautwire_workbench::Summary::new(&network, None, Some(&seen));
    let of = |refusal: &tautwire_workbench::refusal::RefusalSummary| match &refusal.limit {
        tautwire_workbench::refusal::LimitSummary::MayBeLost { stream, port, .. } => {
            Some((refusal.stream.clone(), stream.clone(), port.clone()))
        }
        _ => None,
    };
    summary.refusals.iter().filter_map(of).collect()
}

#[test]
fn a_central_entity_that_tests_bounds_refuses_what_may_be_lost() {
    let path = "../../scenarios/central-requests.yaml";
    let text = std::fs::read_to_string(path).expect("a scenario");
    let limited = |frames: u32| {
        let limit = format!("hall: {{type: bridge, queue-limit: {{frames: {frames}}}}}");
        text.replace("hall: {type: bridge}", &limit)
    };
    assert_eq!(refused_for_losses(&limited(64)), []);
    let [vision, stroke] = &refused_for_losses(&limited(3))[..] else { panic!("two of three") };
    let at = |port: &str| ("motion".to_owned(), Some(format!("hall.{port}")));
    assert_eq!((vision.0.as_str(), (vision.1.clone(), vision.2.clone())), ("vision", at("p3")));
    assert_eq!((stroke.0.as_str(), (stroke.1.clone(), stroke.2.clone())), ("stroke", at("p2")));
}

#[test]
fn a_master_that_tests_bounds_refuses_what_may_be_lost() {
    let path = "../../scenarios/harts-admission.yaml";
    let text = std::fs::read_to_string(path).expect("a scenario");
    let text = text.replace("    channel: channel\n", "    channel: channel\n    decide-by: bounds\n");
    let limited = |cells: u32| {
        let buffer = format!("sw3: {{type: bridge, shared-buffer: {{cell: 64 B, cells: {cells}}}}}");
        text.replace("sw3: {type: bridge}", &buffer)
    };
    let roomy = refused_for_losses(&limited(100_000));
    let tight = refused_for_losses(&limited(6));
    assert!(roomy.iter().all(|(_, _, port)| port.as_deref() != Some("sw3.p1")), "{roomy:?}");
    assert!(tight.iter().any(|(_, _, port)| port.as_deref() == Some("sw3.p1")), "{tight:?}");
}

/// Two streams of a HaRTES switch whose buffer holds one of them.
const HARTES_BUFFER: &str = "network-control: none
allow: [\"port::queue-limit\"]
defaults: {rate: 100 Mbit/s}
nodes: {a: {type: end-station}, c: {type: end-station}, w: {type: bridge, shared-buffer: {cell: 64 B, cells: 6}}, z: {type: end-station}}
links: [{between: [a, w]}, {between: [c, w]}, {between: [w, z]}]
vlans: {1: {tagged: all}}
harts: {elementary-cycle: 250 us, trigger: 10 us, turn-around: 10 us, reserve: [{stream: x}, {stream: y}]}
streams:
  - {name: x, talker: a, listeners: z, priority: 7, payload: 400 B, traffic: {type: periodic, interval: 1 ms}, deadline: 5 ms}
  - {name: y, talker: c, listeners: z, priority: 5, payload: 100 B, traffic: {type: periodic, interval: 1 ms}, deadline: 5 ms}
run: {duration: 50 ms}
";

#[test]
fn a_buffer_of_a_switch_with_servers_is_a_limit() {
    for (cells, holds) in [(6, false), (64, true)] {
        let text = HARTES_BUFFER.replace("cells: 6", &format!("cells: {cells}"));
        let network = network(&text);
        let found = judge(&network, Some(&bounds(&network)), None);
        let of =
            |name: &str| network.streams.iter().position(|stream| stream.name == name).expect("a stream");
        let verdicts = [of("x"), of("y")].map(|place| found.streams[place].verdict);
        assert_eq!(verdicts == [Verdict::Proven; 2], holds, "{cells} cells: {verdicts:?}");
        let (_, _, seen, _) = answer(&text);
        let lost = seen.streams.iter().any(|stream| !stream.dropped.is_empty());
        assert_eq!(lost, !holds, "{cells} cells");
    }
}

#[test]
fn frames_that_a_port_does_not_take_are_lost_at_the_listeners_behind_it() {
    let text = "network-control: none
allow: [\"stream::mtu\"]
defaults: {rate: 1 Gbit/s}
nodes: {a: {type: end-station}, w: {type: bridge, ports: {p1: {}, p2: {}, p3: {mtu: 500 B}}}, z: {type: end-station}, y: {type: end-station}}
links: [{between: [a, w]}, {between: [w, z]}, {between: [w, y], rate: 10 Mbit/s}]
streams: [{name: x, talker: a, listeners: [z, y], payload: {min: 400 B, max: 600 B}, traffic: {type: periodic, interval: 10 ms}, deadline: 5 ms}]
run: {duration: 100 ms}
";
    let network = network(text);
    let losses = tautwire_workbench::losses(&network, &bounds(&network));
    let x = StreamIndex(0);
    assert!(!losses.may_be_lost(x, 0));
    let limits_found: Vec<_> = losses.at(x, 1).iter().map(|limit| limit.text(&network)).collect();
    assert_eq!(limits_found, ["mtu of w.p3: limit 500 octets, 600 needed"]);
}
