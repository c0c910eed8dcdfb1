//! The adversary comes near bounds that are exact, repeats what it found, and finds bounds that are wrong.

use tautwire_analysis::{PlantedFault, bounds_with_fault};
use tautwire_generate::{random_time_triggered, random_traffic};
use tautwire_units::Duration;
use tautwire_workbench::{
    Adversary, Bounds, Choices, ChoicesDocument, Network, Options, Summary, Verdict, adversary, bounds,
    simulate,
};

use crate::{network, text};

/// The example of tightness without the offsets that make its own run the worst.
fn without_offsets() -> Network {
    let text = text("periodic-strict-priority.yaml");
    let lines = text.lines().map(|line| match line.find(", offset:") {
        Some(at) => line[..at].to_owned() + &line[at + line[at..].find('}').expect("a mapping")..],
        None => line.to_owned(),
    });
    network(&lines.collect::<Vec<_>>().join("\n"))
}

fn two_bridges() -> Network {
    network(&text("adversary-two-bridges.yaml"))
}

fn found(network: &Network, bounds: &Bounds, runs: u64) -> Adversary {
    let observation = simulate(network, &mut Options::default());
    adversary(network, bounds, &observation, runs, |_, _| {})
}

/// Every row of a stream whose name begins so is within so many per cent of its bound, and none is above it.
fn comes_near(network: &Network, begins: &str, per_cent: u64) {
    let bounds = bounds(network);
    let found = found(network, &bounds, 60);
    assert_eq!(found.contradictions, []);
    for row in &found.rows {
        let name = &network.streams[row.stream.index()].name;
        let bound =
            bounds.streams[row.stream.index()].listeners[row.listener].delay.clone().expect("a bound");
        let worst = row.worst.expect("frames came");
        assert!(row.is_free && worst <= bound, "{name}: {worst} and {bound}");
        if !name.starts_with(begins) {
            continue;
        }
        let near = Duration::from_ps(bound.as_ps() * (100 - per_cent) / 100);
        assert!(worst >= near, "{name}: {worst}, bound {bound}");
    }
}

/// A clock that is set back in a slot makes it last longer; a network that a larger search found.
#[test]
fn slots_last_longer_where_clocks_are_set_back() {
    let network = network(&random_time_triggered(41, false));
    assert_eq!(found(&network, &bounds(&network), 12).contradictions, []);
    let wrong = bounds_with_fault(&network, Some(PlantedFault::SetBackForgotten));
    assert!(!found(&network, &wrong, 12).contradictions.is_empty());
}

/// A file is cut into its largest frames, whatever sizes the adversary would like; a network that a larger search found.
#[test]
fn a_file_is_sent_in_its_largest_frames() {
    let network = network(&random_traffic(124, &[]));
    assert_eq!(found(&network, &bounds(&network), 12).contradictions, []);
}

/// A start begins the traffic that the stream has then, here with a burst of eight frames a second time.
#[test]
fn a_start_after_a_change_begins_what_was_changed() {
    let text = "
defaults: {rate: 100 Mbit/s}
nodes: {t: {type: end-station}, s: {type: bridge}, l: {type: end-station}}
links: [{between: [t, s], rate: 1 Gbit/s}, {between: [s, l]}]
streams:
  - {name: x, talker: t, listeners: l, payload: 1000 B, traffic: {type: periodic, interval: 10 ms, burst: 1}}
events:
  - {at: 12 ms, change-traffic: {stream: x, traffic: {type: periodic, interval: 10 ms, burst: 8}}}
  - {at: 22010 us, stop-stream: x}
  - {at: 22020 us, start-stream: x}
network-control: none
run: {duration: 40 ms}
";
    let network = network(text);
    let observed = simulate(&network, &mut Options::default()).streams[0].listeners[0].delay.max();
    // Sixteen frames of 1 038 octets, each 83.04 us.
    assert!(observed > Some(Duration::from_us(1_200)), "{observed:?}");
    assert_eq!(found(&network, &bounds(&network), 4).contradictions, []);
}

#[test]
fn what_is_aligned_at_the_port_reaches_exact_bounds() {
    comes_near(&without_offsets(), "", 1);
}

#[test]
fn two_bridges_need_phases_jitter_and_sizes() {
    let network = two_bridges();
    comes_near(&network, "late-", 1);
    comes_near(&network, "victim", 3);
    comes_near(&network, "", 10);
}

#[test]
fn the_same_seed_finds_the_same() {
    let network = two_bridges();
    let bounds = bounds(&network);
    assert_eq!(found(&network, &bounds, 12), found(&network, &bounds, 12));
}

#[test]
fn every_row_is_repeated_from_its_choices() {
    let network = two_bridges();
    let bounds = bounds(&network);
    let found = found(&network, &bounds, 12);
    let document = found.document(&network, &bounds);
    let document = ChoicesDocument::from_json(&document.to_json()).expect("its own text");
    for row in &found.rows {
        let name = &network.streams[row.stream.index()].name;
        let choices = document.choices(Some(name)).expect("something was chosen");
        let chosen = choices.apply(&network).expect("it was open");
        let again = simulate(&chosen, &mut Options::default());
        let worst = again.streams[row.stream.index()].listeners[row.listener].worst;
        assert_eq!(worst.map(|worst| worst.delay), row.worst, "{name}");
    }
}

#[test]
fn no_file_may_choose_more_than_is_open() {
    let stated = network(&text("periodic-strict-priority.yaml"));
    let refused = |network: &Network, streams: &str| {
        let text = format!(r#"{{"seed": 1, "duration_ps": 1000000000, "streams": [{streams}]}}"#);
        let choices: Choices = serde_json::from_str(&text).expect("choices");
        choices.apply(network).expect_err("more than is open")
    };
    assert_eq!(refused(&stated, r#"{"stream": "v21", "later_ps": 1}"#), "when `v21` begins is stated");
    assert_eq!(refused(&stated, r#"{"stream": "none"}"#), "there is no stream `none`");
    let open = two_bridges();
    for (choice, words) in [
        (r#"{"stream": "victim", "later_ps": 3000000000}"#, "by less than 3 ms"),
        (r#"{"stream": "victim", "late_until_ps": 5}"#, "no jitter"),
        (r#"{"stream": "victim", "payload_octets": 64}"#, "is stated"),
        (r#"{"stream": "above", "payload_octets": 1400}"#, "and not"),
    ] {
        let reasons = refused(&open, choice);
        assert!(reasons.contains(words), "{reasons}");
    }
}

#[test]
fn what_is_stated_stays_and_is_reported() {
    let network = network(&text("periodic-strict-priority.yaml"));
    let bounds = bounds(&network);
    let found = found(&network, &bounds, 12);
    assert_eq!(found.runs, 0, "all begins as stated, with perfect clocks: one run shows all");
    assert!(found.rows.iter().all(|row| !row.is_free && row.choices.is_none()));
}

#[test]
fn bounds_with_planted_faults_are_contradicted() {
    let faults = [
        PlantedFault::BlockingFrameForgotten,
        PlantedFault::LaterFramesForgotten,
        PlantedFault::MediaOverheadForgotten,
        PlantedFault::SameClassBurstForgotten,
    ];
    let missed: Vec<_> = faults
        .into_iter()
        .filter(|fault| {
            let later = network(&text("later-frame-waits-longest.yaml"));
            [without_offsets(), two_bridges(), later].iter().all(|network| {
                let wrong = bounds_with_fault(network, Some(*fault));
                let found = found(network, &wrong, 30);
                let observation = simulate(network, &mut Options::default());
                let mut summary = Summary::new(network, Some(&wrong), Some(&observation));
                found.add_to(&mut summary);
                let verdict = summary.verification.expect("bounds").verdict;
                assert_eq!(verdict == Verdict::Contradiction, !found.contradictions.is_empty());
                found.contradictions.is_empty()
            })
        })
        .collect();
    assert_eq!(missed, [], "not found");
}
