//! Time-triggered virtual links over two networks: while one of them fails, no message is missed, none is taken
//! twice, and none is later than its bound; without redundancy the same failures lose messages.
//!
//! `TAUTWIRE_CASES` sets how many times and cables of the failures are drawn, `TAUTWIRE_SEED` draws one.

use tautwire_generate::seeds;
use tautwire_sim::{DropReason, Observation};
use tautwire_units::Duration;
use tautwire_workbench::{Network, Options, ScheduleVerdict, Scheduled, load_text, simulate, verify};

const SCENARIO: &str = include_str!("../../../../scenarios/time-triggered-redundant.yaml");

fn network(text: &str) -> Network {
    let loaded = load_text("redundant.yaml", text);
    assert!(!loaded.has_errors(), "{:#?}\n{text}", loaded.diagnostics);
    loaded.network.expect("no errors")
}

/// A run without contradictions.
fn run(text: &str) -> (Network, Observation) {
    let network = network(text);
    let observation = simulate(&network, &mut Options::default());
    let bounds = tautwire_analysis::bounds(&network);
    let found = verify(&network, &bounds, &observation).contradictions;
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{}\n{text}", found.join("\n"));
    (network, observation)
}

/// Per time-triggered link: whether every listener got one message every interval, and how many copies were
/// eliminated.
fn received(network: &Network, observation: &Observation) -> Vec<(bool, u64)> {
    let links = network.streams.iter().zip(&observation.streams);
    links
        .filter_map(|(stream, seen)| {
            let period = stream.time_triggered.as_ref()?.period;
            // Copies come by ways of different length, and clocks differ.
            let most = period + Duration::from_us(200);
            let least = period.saturating_sub(Duration::from_us(200));
            let is_complete = seen.listeners.iter().all(|listener| {
                listener.interval.count() > 100
                    && listener.interval.max().is_some_and(|one| one <= most)
                    && listener.interval.min().is_some_and(|one| one >= least)
            });
            let eliminated = seen.dropped.iter().find(|(reason, _)| *reason == DropReason::Eliminated);
            Some((is_complete, eliminated.map_or(0, |(_, count)| *count)))
        })
        .collect()
}

#[test]
fn one_network_that_fails_is_not_missed() {
    let (network, observation) = run(SCENARIO);
    let time = observation.network_time.as_ref().expect("it is synchronised");
    let end_stations = ["controller", "sensor", "monitor", "actuator"];
    for (node, seen) in network.nodes.iter().zip(&time.nodes) {
        assert!(seen.lost == 0 || !end_stations.contains(&node.name.as_str()), "{}: {seen:?}", node.name);
    }
    for (is_complete, eliminated) in received(&network, &observation) {
        assert!(is_complete && eliminated > 100, "{eliminated} second copies");
    }
    let alone = SCENARIO.replace(", redundancy: true}\n    deadline: 1 ms", "}\n    deadline: 1 ms");
    let (network, observation) = run(&alone);
    let [(order, _), (measurement, eliminated)] = received(&network, &observation)[..] else {
        panic!("two links")
    };
    assert!(order && !measurement, "the link over one network misses what is sent while its cable is cut");
    assert_eq!(eliminated, 0);
}

/// One cable, or one switch, at a time.
#[test]
fn wherever_one_network_fails_no_message_is_missed() {
    let stations = ["controller", "sensor", "monitor", "actuator"];
    for seed in seeds(12).into_iter().take(3_000) {
        // Some odd numbers of one number: what fails, and when.
        let draw =
            |salt: u64, most: u64| seed.wrapping_mul(2_654_435_761).wrapping_add(salt * 40_503) / 7 % most;
        let station = stations[usize::try_from(draw(1, 4)).expect("few")];
        let channel = ["a", "b"][usize::try_from(draw(2, 2)).expect("few")];
        let at = 120_000 + draw(3, 50_000);
        let mended = at + 1_000 + draw(4, 60_000);
        let fails = match draw(5, 2) {
            0 => format!(
                "events:\n  - {{at: {at} us, cut-link: {station}-{channel}}}\n  - {{at: {mended} us, mend-link: {station}-{channel}}}\n"
            ),
            _ => format!(
                "events:\n  - {{at: {at} us, stop-node: switch-{channel}}}\n  - {{at: {mended} us, start-node: switch-{channel}}}\n"
            ),
        };
        let mut text = SCENARIO.replace("name: sensor-a, ", "");
        for station in stations {
            for channel in ["a", "b"] {
                let plain = format!("{{between: [{station}, switch-{channel}]");
                text = text.replace(&plain, &format!("{{name: {station}-{channel}, {}", &plain[1..]));
            }
        }
        let (head, _) = text.split_once("events:").expect("it has events");
        let text = format!("{head}{fails}run: {{duration: 400 ms, warm-up: 100 ms, seed: {seed}}}\n");
        let (network, observation) = run(&text);
        for (is_complete, _) in received(&network, &observation) {
            assert!(is_complete, "seed {seed}: a message is missed, or taken twice\n{text}");
        }
    }
}

#[test]
fn redundant_links_are_scheduled_at_one_point_for_both_networks() {
    let text = SCENARIO.replace("offset: 150 us, ", "").replace("offset: 400 us, ", "");
    let found =
        Scheduled::find(&network(&text)).expect("time-triggered links").expect("the network takes it");
    assert_eq!(found.verdict, ScheduleVerdict::Scheduled);
    for stream in &found.network.streams {
        let Some(link) = &stream.time_triggered else { continue };
        let roots: Vec<Duration> = (0..stream.hops.len())
            .filter(|hop| stream.hops[*hop].previous.is_none())
            .map(|hop| link.points[hop].offset)
            .collect();
        assert!(roots.len() == 2 && roots[0] == roots[1], "{roots:?}");
    }
}

#[test]
fn a_talker_without_a_second_port_is_refused() {
    let text = SCENARIO
        .replace("  - {between: [sensor, switch-b], length: 10 m}\n", "")
        .replace("[sensor, monitor]", "[monitor]");
    let loaded = load_text("redundant.yaml", &text);
    assert!(
        loaded.diagnostics.iter().any(|one| one.code == "virtual-link::redundancy"),
        "{:#?}",
        loaded.diagnostics
    );
}

#[test]
fn copies_that_are_both_accepted_are_found() {
    use tautwire_core::fault::{PlantedFault, plant};
    plant(Some(PlantedFault::CopyAccepted));
    let network = network(SCENARIO);
    let observation = simulate(&network, &mut Options::default());
    plant(None);
    assert!(received(&network, &observation).iter().all(|(is_complete, _)| !is_complete));
}
