//! Faulty masters of AS6802 in random networks: high-integrity ones (command/monitor pairs) that babble or are at the
//! wrong time, and standard-integrity synchronisation masters that averages leave out. No frame is later than its
//! bound, clocks stay together as proven, no wrong frame of a pair leaves it, and of three masters and more no other
//! node loses network time. Faults that are not contained have no bound: a faulty standard-integrity compression
//! master, and two cliques.
//!
//! `TAUTWIRE_CASES` sets how many are drawn, `TAUTWIRE_SEED` draws one.

use crate::common::{network_time, synchronised};
use tautwire_generate::{As6802Failures, random_as6802, seeds};
use tautwire_model::as6802::SyncRole;
use tautwire_sim::{DropReason, Observation};
use tautwire_units::Duration;
use tautwire_workbench::{Network, Options, load_text, simulate, verify};

/// The network of a seed; none if its clocks are worse than its precision.
fn network(seed: u64) -> Option<Network> {
    synchronised(seed, &random_as6802(seed, As6802Failures::Integrity))
}

/// What a run of the network breaks.
fn broken(network: &Network, observation: &Observation) -> Vec<String> {
    let bounds = tautwire_analysis::bounds(network);
    let found = verify(network, &bounds, observation).contradictions;
    let mut broken: Vec<String> = found.iter().map(ToString::to_string).collect();
    let made = network.as6802.as_ref().expect("it is synchronised");
    let faulty = network.faulty_nodes()[0];
    // Policing has nothing to do behind a pair.
    let stream = made.frames[faulty.index()].expect("a master makes frames");
    let policed = &observation.streams[stream.index()].dropped;
    let policed = policed.iter().find(|(reason, _)| *reason == DropReason::PolicedRate);
    if network.is_high_integrity(faulty) && policed.is_some() {
        broken.push(format!("{policed:?} of a pair"));
    }
    let deadline = network.transmission_deadline().expect("it is synchronised");
    let others = made.frames.iter().enumerate().filter(|(node, _)| *node != faulty.index());
    let sure = others.filter_map(|(_, stream)| *stream).all(|stream| {
        let listeners = &bounds.streams[stream.index()].listeners;
        listeners.iter().all(|one| one.delay.as_ref().is_ok_and(|delay| *delay <= deadline))
    });
    let cluster = &made.clusters[0];
    let missed = match made.roles[faulty.index()] {
        SyncRole::CompressionMaster(_) => cluster.compression_masters < 2,
        _ => cluster.masters < 3,
    };
    for (number, node) in network_time(observation).nodes.iter().enumerate().filter(|_| sure) {
        let name = &network.nodes[number].name;
        if node.synchronised_at.is_none() || node.without_since.is_some() {
            broken.push(format!("{name} is not synchronised at the end"));
        }
        if !missed && number != faulty.index() && node.lost > 0 {
            broken.push(format!("{name} lost network time"));
        }
    }
    broken
}

#[test]
fn faulty_pairs_are_silent_and_averages_leave_out_who_is_wrong() {
    let mut seeds = seeds(30);
    seeds.truncate(10_000);
    let (mut held, mut bounded) = (0, 0);
    for seed in &seeds {
        let Some(network) = network(*seed) else { continue };
        assert_eq!(network.uncontained(0), None, "seed {seed}");
        let observation = simulate(&network, &mut Options::default());
        let found = broken(&network, &observation);
        assert!(found.is_empty(), "seed {seed}:\n  {}", found.join("\n  "));
        held += 1;
        let bounds = tautwire_analysis::bounds(&network);
        bounded += usize::from(bounds.streams.iter().any(|one| one.listeners[0].delay.is_ok()));
    }
    if seeds.len() > 1 {
        assert!(held * 2 > seeds.len() && bounded * 2 > held, "{held} held, {bounded} with bounds");
    }
}

/// The babbling scenario, with a change.
fn scenario(from: &str, to: &str) -> (Network, Vec<tautwire_workbench::Diagnostic>, Observation) {
    let text = include_str!("../../../../scenarios/as6802-faulty.yaml");
    assert!(text.contains(from), "{from}");
    let loaded = load_text("as6802-faulty.yaml", &text.replace(from, to));
    assert!(!loaded.has_errors(), "{:#?}", loaded.diagnostics);
    let network = loaded.network.expect("no errors");
    let observation = simulate(&network, &mut Options::default());
    (network, loaded.diagnostics, observation)
}

#[test]
fn the_scenario_holds_and_not_without_its_pair() {
    let (network, diagnostics, observation) = scenario("name:", "name:");
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    assert!(network_time(&observation).nodes.iter().all(|node| node.lost == 0));
    let bounds = tautwire_analysis::bounds(&network);
    let orders = network.streams.iter().position(|stream| stream.name == "order").expect("it is there");
    assert!(bounds.streams[orders].listeners[0].delay.is_ok());

    // The same compression master without a monitor: nothing contains it, no link has a bound, and nodes behind it
    // receive too few frames of the other one between its frames: network time is lost.
    let (network, diagnostics, observation) = scenario("high-integrity: switch-b", "faulty-masters: 1");
    assert!(diagnostics.iter().any(|one| one.code == "time-triggered::not-contained"), "{diagnostics:#?}");
    assert_eq!(network.precision_bound(), None);
    let bounds = tautwire_analysis::bounds(&network);
    assert!(bounds.streams[orders].listeners.iter().all(|one| one.delay.is_err()));
    assert!(verify(&network, &bounds, &observation).contradictions.is_empty());
    assert!(network_time(&observation).nodes.iter().any(|node| node.lost > 0), "it does no harm");
}

/// The two-cliques scenario with so many members needed; what a run of it gives.
fn cliques(members: u32) -> (Network, Observation) {
    let text = include_str!("../../../../scenarios/as6802-two-cliques.yaml");
    let loaded =
        load_text("two-cliques", &text.replace("members-min: 2", &format!("members-min: {members}")));
    let warned = loaded.diagnostics.iter().any(|one| one.code == "time-triggered::not-contained");
    assert_eq!(warned, members == 2, "half is not contained");
    let network = loaded.network.expect("no errors");
    let observation = simulate(&network, &mut Options::default());
    (network, observation)
}

/// When the cable is repaired, and how long the evaluation of a cycle, and all of two cycles, takes.
const MENDED: Duration = Duration::from_ms(350);
const FOUND: Duration = Duration::from_ms(10);

/// Messages of the talker's own half are never later than without failures.
fn none_is_late(network: &Network, observation: &Observation) {
    let intact = network.clone().altered(|parts| parts.events.clear());
    let bounds = tautwire_analysis::bounds(&intact);
    let proven = bounds.streams[0].listeners[0].delay.clone().expect("it has a bound");
    let seen = &observation.streams[0].listeners[0];
    let worst = seen.worst.map(|worst| worst.delay).expect("messages came");
    assert!(worst <= proven, "{worst}, and {proven} is proven");
}

/// Two halves of a network that count on alone, and merge again: the one with the higher numbers detects that the
/// other is as large, gives up its time and joins it.
#[test]
fn two_running_cliques_meet_and_become_one() {
    let (network, observation) = cliques(2);
    let seen = network_time(&observation);
    let stated = network.time_triggered.expect("time-triggered").precision;
    assert!(seen.precision > stated, "the halves drift apart: {}", seen.precision);
    let most = network.resynchronisation_max().expect("it is synchronised");
    for (node, time) in network.nodes.iter().zip(&seen.nodes) {
        let gives_way = node.name.starts_with("right");
        assert_eq!(time.lost, u64::from(gives_way), "{}", node.name);
        assert!(time.without_since.is_none() && time.without_max <= most, "{}: {time:?}", node.name);
        let station = node.name.contains('-');
        let by = (time.cliques.synchronous, time.cliques.asynchronous);
        assert_eq!(by, (0, u32::from(gives_way && station)), "{} finds the other clique", node.name);
        if let Some(at) = time.clique_at {
            assert!(at >= MENDED && at <= MENDED + FOUND, "{} finds it at {at}", node.name);
        }
    }
    none_is_late(&network, &observation);
}

/// The same halves where more than half is needed: they have no time while they are apart, as they find by too few members,
/// try alone, and find one another, by frames out of schedule, when they meet.
#[test]
fn two_halves_that_try_alone_meet_and_become_one() {
    let (network, observation) = cliques(3);
    let seen = network_time(&observation);
    assert!(seen.precision <= network.precision_bound().expect("it is proven"));
    let again = network.resynchronisation_max().expect("it is synchronised");
    let apart = MENDED.saturating_sub(Duration::from_ms(150));
    for (node, time) in network.nodes.iter().zip(&seen.nodes) {
        assert_eq!((time.lost, time.without_since), (1, None), "{}", node.name);
        let without = time.without_max;
        assert!(without >= apart && without <= apart + again, "{} was without for {without}", node.name);
        let station = node.name.contains('-');
        assert_eq!(time.cliques.synchronous > 0, station, "{}: {:?}", node.name, time.cliques);
    }
    let finds = |node: &&tautwire_sim::NodeTime| node.clique_at.is_some();
    let found: Vec<Duration> = seen.nodes.iter().filter(finds).filter_map(|node| node.clique_at).collect();
    assert!(!found.is_empty(), "the halves are of different phases");
    assert!(found.iter().all(|at| *at >= MENDED && *at <= MENDED + again), "{found:?}");
    none_is_late(&network, &observation);
    assert!(verify(&network, &tautwire_analysis::bounds(&network), &observation).contradictions.is_empty());
}

#[test]
fn a_sleeping_monitor_and_outermost_points_are_found() {
    use tautwire_core::fault::{PlantedFault, plant};
    for planted in [PlantedFault::MonitorAsleep, PlantedFault::OutermostKept] {
        plant(Some(planted));
        let found = (0..100).find(|seed| {
            let Some(network) = network(*seed) else { return false };
            !broken(&network, &simulate(&network, &mut Options::default())).is_empty()
        });
        plant(None);
        assert!(found.is_some(), "{planted:?}");
    }
}

/// A babbler that uses the full line rate, and a link that shares the cable between the switches with its frames.
#[test]
fn babbling_that_is_not_policed_is_found() {
    use tautwire_core::fault::{PlantedFault, plant};
    let link = "streams:
  - {name: steering, talker: controller, listeners: display, priority: 4, payload: 200 B,
     traffic: {type: periodic, interval: 1 ms, jitter: 100 us}, virtual-link: {id: 21, bag: 1 ms}}
";
    let text = include_str!("../../../../scenarios/as6802-faulty.yaml");
    let text = text.replace("{node: sensor, interval: 20 us}", "{node: sensor, interval: 7 us}");
    let network = load_text("babbling", &text.replace("streams:\n", link)).network.expect("no errors");
    let bounds = tautwire_analysis::bounds(&network);
    let is_late = |fault: Option<PlantedFault>| {
        plant(fault);
        let observation = simulate(&network, &mut Options::default());
        plant(None);
        !verify(&network, &bounds, &observation).contradictions.is_empty()
    };
    assert!(!is_late(None));
    assert!(is_late(Some(PlantedFault::PolicingOpen)));
}

/// A compression master without a monitor that babbles: what it claims is not contained, but the next switch polices how
/// much it sends, so traffic that meets its frames behind that has bounds, and keeps them.
#[test]
fn a_babbling_compression_master_is_policed_by_the_next_switch() {
    let (network, late) = behind_a_babbling_switch();
    assert!(network.uncontained(0).is_some());
    let link = network.streams.iter().position(|stream| stream.name == "steering").expect("it is there");
    assert!(tautwire_analysis::bounds(&network).streams[link].listeners[0].delay.is_ok());
    assert_eq!(late, Vec::<String>::new());
    let observation = simulate(&network, &mut Options::default());
    let switch = network.faulty_nodes()[0];
    let frames = network.as6802.as_ref().expect("it is synchronised").frames[switch.index()];
    let dropped = &observation.streams[frames.expect("it makes frames").index()].dropped;
    assert!(dropped.iter().any(|(reason, count)| *reason == DropReason::PolicedRate && *count > 1_000));
}

#[test]
fn a_babbling_compression_master_that_is_not_policed_is_found() {
    use tautwire_core::fault::{PlantedFault, plant};
    plant(Some(PlantedFault::PolicingOpen));
    let (_, late) = behind_a_babbling_switch();
    plant(None);
    assert!(!late.is_empty());
}

/// The scenario with the other switch, which is no pair, babbling as fast as its line lets it, and a virtual link behind the
/// next one; what contradicts its bounds.
fn behind_a_babbling_switch() -> (Network, Vec<String>) {
    let link = "streams:
  - {name: steering, talker: display, listeners: camera, priority: 4, payload: 200 B,
     traffic: {type: periodic, interval: 1 ms, jitter: 100 us}, virtual-link: {id: 21, bag: 1 ms}}
";
    let text = include_str!("../../../../scenarios/as6802-faulty.yaml");
    let events = text.find("events:").expect("it has events");
    let run = text.find("run:").expect("it is run");
    let babble = "events:\n  - {at: 120 ms, babble: {node: switch-a, interval: 7 us}}\n";
    let text = format!("{}{babble}{}", &text[..events], &text[run..]).replace("streams:\n", link);
    let loaded = load_text("babbling", &text);
    assert!(!loaded.has_errors(), "{:#?}", loaded.diagnostics);
    let network = loaded.network.expect("no errors");
    let bounds = tautwire_analysis::bounds(&network);
    let found = verify(&network, &bounds, &simulate(&network, &mut Options::default())).contradictions;
    (network, found.iter().map(ToString::to_string).collect())
}
