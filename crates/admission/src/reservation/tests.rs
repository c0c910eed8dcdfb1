//! Small runs with round times.

use super::*;

fn spread(us: u64) -> Spread {
    Spread { mean_ns: us * 1_000, deviation_ns: 0, min_ns: us * 1_000, max_ns: us * 1_000 }
}

/// Three switches in line, five nodes, round times.
fn scenario(architecture: Architecture, requests: Vec<StreamRequest>) -> Scenario {
    let places = [("N1", 0), ("N3", 0), ("N4", 1), ("N2", 2), ("N5", 2)];
    Scenario {
        seed: 1,
        architecture,
        switches: 3,
        links: vec![(0, 1), (1, 2)],
        nodes: places
            .iter()
            .map(|(name, switch)| Place { name: (*name).to_owned(), switch: *switch })
            .collect(),
        installed: Vec::new(),
        requests,
        load: None,
        harts: HartsTimes {
            cycle_ns: 125_000,
            before_ns: 20_000,
            control_octets: 200,
            control_first: true,
            handling: spread(50),
            relay: spread(100),
            configure: spread(200),
            node: spread(50),
            test: TestTime {
                table: vec![(0, 5_000_000), (4, 9_000_000)],
                links: 0,
                slow_permille: 0,
                slow_factor_permille: 1_000,
                noise_permille: 0,
                noise_lasts: false,
            },
            acmaster_switch: 1,
            replicated: false,
        },
        avb: AvbTimes {
            join_ns: 100_000_000,
            join: JoinKind::After,
            tick_ns: 20_000_000,
            listener_waits: true,
            talker: spread(2_500),
            listener: spread(7_000),
            other: spread(500),
            station: spread(1_000),
            packet_ns: 20_000,
            limited: true,
            bridge_join_ns: 200_000_000,
            bridge_repeat_ns: 0,
            reservations_max: 8,
            warm_up_ns: 2_000_000_000,
        },
    }
}

fn request(name: &str, talker: &str, listener: &str) -> StreamRequest {
    StreamRequest {
        name: name.to_owned(),
        talker: talker.to_owned(),
        listener: listener.to_owned(),
        payload: 32,
        interval_ns: 125_000,
        deadline_ns: 2_000_000,
        priority: 3,
        at_ns: 0,
        jitter_ns: 0,
    }
}

fn latencies(outcome: &Outcome) -> Vec<u64> {
    outcome.requests.iter().map(|request| request.latency_ns.expect("it is answered") / 1_000).collect()
}

#[test]
fn one_request_takes_its_way_its_test_and_its_configuration() {
    let outcome = run(&scenario(Architecture::Harts, vec![request("F7", "N1", "N3")])).expect("a scenario");
    assert!(outcome.requests[0].granted);
    let [latency] = latencies(&outcome)[..] else { panic!("one request") };
    // Relay 100, the second of two requests behind the first's 50 at the ACMaster, test 5000, configure
    // 200, reply 50, node 50; seven lines and four ports, each with a window that may be shut for 20.
    assert!((5_500..5_900).contains(&latency), "{latency} us");
    assert_eq!(outcome.tests, 1, "one test for the whole way");
}

#[test]
fn replies_wait_behind_all_requests() {
    let requests = ["F2", "F3", "F4"].map(|name| request(name, "N1", "N2")).to_vec();
    let outcome = run(&scenario(Architecture::Harts, requests)).expect("a scenario");
    let all = latencies(&outcome);
    // Tests with 0, 1 and 2 streams installed: 5 + 6 + 7 ms.
    assert!(all.iter().all(|latency| (18_000..20_000).contains(latency)), "the first too: {all:?}");
    let places: Vec<_> = outcome.requests.iter().map(|request| request.place).collect();
    assert_eq!(places, [Some(0), Some(1), Some(2)]);
}

/// The test's time goes by links if the table says so: a table of streams of four links, of which one takes a millisecond.
#[test]
fn the_test_takes_the_longer_the_more_links_it_looks_at() {
    let times = |links: u64, installed: usize| {
        ["N3", "N4", "N5"].map(|to| {
            let mut scenario = scenario(Architecture::Harts, vec![request("F7", "N1", to)]);
            scenario.harts.test.links = links;
            scenario.installed = (0..installed).map(|n| request(&format!("P{n}"), "N1", "N2")).collect();
            run(&scenario).expect("a scenario").requests[0].test_ns.expect("tested")
        })
    };
    // Two, three and four links; the new one's own are all that differs: a quarter of a millisecond each.
    let [two, three, four] = times(4, 0);
    assert_eq!((three - two, four - three), (250_000, 250_000));
    let [two, three, four] = times(4, 2);
    assert_eq!((three - two, four - three), (250_000, 250_000));
    let [two, three, four] = times(0, 2);
    assert!(two == three && three == four, "by streams the way is nothing");
}

/// Requests of two talkers, or of two listeners, that come together say more than three things in 300 ms at a port; those of one
/// talker and one listener share their messages.
#[test]
fn requests_of_different_nodes_meet_the_limit_of_mrpdus() {
    let greatest = |talker: &str, listener: &str, limited: bool| {
        let paths = [(talker, listener), ("N3", "N2"), ("N3", "N2")];
        let requests = (1..).zip(paths).map(|(number, (from, to))| request(&format!("F{number}"), from, to));
        let mut group = scenario(Architecture::Avb, requests.collect());
        group.avb.limited = limited;
        latencies(&run(&group).expect("a scenario")).into_iter().max().expect("three")
    };
    for (talker, listener) in [("N1", "N2"), ("N3", "N5"), ("N1", "N5")] {
        let (limited, free) = (greatest(talker, listener, true), greatest(talker, listener, false));
        assert!(limited > 400_000 && free < 300_000, "{talker} to {listener}: {limited} and {free} us");
    }
    let same = greatest("N3", "N2", true);
    assert!(same < 300_000, "{same} us");
}

#[test]
fn a_run_is_its_scenario() {
    for architecture in [Architecture::Harts, Architecture::Avb] {
        let scenario = scenario(architecture, vec![request("F7", "N1", "N5"), request("F6", "N3", "N2")]);
        assert_eq!(run(&scenario), run(&scenario));
    }
}

#[test]
fn more_than_the_window_holds_is_refused_and_told() {
    let fat = |number: usize| StreamRequest {
        payload: 200,
        at_ns: number as u64 * 100_000_000,
        ..request(&format!("S{number}"), "N1", "N2")
    };
    let outcome = run(&scenario(Architecture::Harts, (0..12).map(fat).collect())).expect("a scenario");
    let granted = outcome.requests.iter().filter(|request| request.granted).count();
    assert!(granted > 1 && granted < 12, "{granted}");
    assert_eq!(latencies(&outcome).len(), 12, "all are answered");
}

#[test]
fn a_standby_knows_before_the_producer() {
    let mut replicated = scenario(Architecture::Harts, vec![request("F7", "N1", "N5")]);
    let alone = latencies(&run(&replicated).expect("a scenario"))[0];
    replicated.harts.replicated = true;
    let outcome = run(&replicated).expect("a scenario");
    assert!(outcome.requests[0].granted && outcome.replicated == 1);
    assert!(latencies(&outcome)[0] >= alone);
}

#[test]
fn avb_is_seen_on_the_grid_of_its_talker() {
    let outcome = run(&scenario(Architecture::Avb, vec![request("F7", "N1", "N5")])).expect("a scenario");
    let request = &outcome.requests[0];
    // 100 ms of the talker, 3 * 2.5, 100 ms of the listener, 3 * 7, two stations: 230.5 and lines, on a grid of 20.
    assert_eq!(request.latency_ns, Some(240_000_000));
    let bridge = request.bridges[0];
    let span = |from: Option<u64>, to: Option<u64>| (to.expect("seen") - from.expect("seen")) / 1_000;
    assert_eq!(span(bridge.talker_in_ns, bridge.talker_out_ns), 2_500);
    assert_eq!(span(bridge.listener_in_ns, bridge.listener_out_ns), 7_000);
    assert!((119_000..122_000).contains(&span(bridge.talker_out_ns, bridge.listener_in_ns)));
    assert_eq!(outcome.tests, 6, "twice at each of three bridges");
    assert!(outcome.pdus_in_300_ms <= 3);
}

#[test]
fn a_listener_that_asks_before_its_talker_spends_opportunities_of_the_bridges() {
    let mut early = scenario(Architecture::Avb, vec![request("F7", "N1", "N5")]);
    early.avb.listener_waits = false;
    let latency = run(&early).expect("a scenario").requests[0].latency_ns.expect("granted");
    assert!(
        latency > 300_000_000,
        "asking failed, twice, and then ready: the fourth in 300 ms waits: {latency}"
    );
}

/// Six requests as the network starts.
fn six_at_the_start() -> Scenario {
    let paths = [("N1", "N2"), ("N3", "N2"), ("N3", "N2"), ("N1", "N5"), ("N1", "N2"), ("N1", "N2")];
    let requests = (2..).zip(paths).map(|(number, (from, to))| request(&format!("F{number}"), from, to));
    let mut start = scenario(Architecture::Avb, requests.collect());
    start.avb.warm_up_ns = 0;
    start
}

/// Mean of some runs, microseconds.
fn mean(of: &Scenario) -> u64 {
    let mut sum = 0;
    for seed in 1..=30 {
        let one = Scenario { seed, ..of.clone() };
        sum += latencies(&run(&one).expect("a scenario")).iter().sum::<u64>();
    }
    sum / (30 * of.requests.len() as u64)
}

/// A bridge that says a new declaration three times at once uses the limit up by one talker; one that says it again 100 ms later does
/// not, but for what the start itself needs.
#[test]
fn repetitions_at_once_use_the_limit_of_mrpdus_up() {
    let mut six = six_at_the_start();
    let at_once = mean(&six);
    six.avb.bridge_repeat_ns = 100_000_000;
    let later = mean(&six);
    six.requests.iter_mut().for_each(|request| request.at_ns = 500_000_000);
    let behind_the_start = mean(&six);
    six.avb.bridge_repeat_ns = 0;
    let behind_the_start_at_once = mean(&six);
    assert!(later * 5 < at_once * 4, "{later} and {at_once} us");
    assert!(behind_the_start * 4 < later * 3, "the start's declarations: {behind_the_start} and {later} us");
    assert!(
        behind_the_start_at_once * 10 > at_once * 8,
        "no start: {behind_the_start_at_once} and {at_once} us"
    );
    let outcome = run(&six).expect("a scenario");
    assert!(outcome.pdus_in_300_ms <= 3);
}

/// The limit of MRPDUs goes by the bridges' JoinTime: requests that come as the network starts take the longer, the longer it is.
#[test]
fn the_window_of_mrpdus_makes_simultaneous_requests_slow() {
    let means = [1, 100, 150, 200].map(|join_ms: u64| {
        let mut start = six_at_the_start();
        start.avb.bridge_join_ns = join_ms * 1_000_000;
        mean(&start)
    });
    assert!(means.is_sorted() && means[3] > means[0] * 2, "{means:?} us");
}

#[test]
fn avb_has_as_many_reservations_as_its_bridges() {
    let mut full = scenario(Architecture::Avb, vec![request("F7", "N1", "N2")]);
    full.installed = (0..7).map(|number| request(&format!("P{number}"), "N1", "N2")).collect();
    assert!(run(&full).expect("a scenario").requests[0].granted);
    full.installed.push(request("P7", "N3", "N2"));
    assert!(!run(&full).expect("a scenario").requests[0].granted, "seven and the new one are all");
}

#[test]
fn packets_take_the_time_of_bridges_that_handle_them() {
    let bridge_time = |packets_per_second| {
        let mut loaded = scenario(Architecture::Avb, vec![request("F7", "N1", "N5")]);
        loaded.load = Some(Load { packets_per_second, frame_ns: 24_000 });
        let bridge = run(&loaded).expect("a scenario").requests[0].bridges[0];
        bridge.listener_out_ns.expect("seen") - bridge.listener_in_ns.expect("seen")
    };
    let (loaded, free) = (bridge_time(25_000), bridge_time(0));
    assert!(loaded.abs_diff(2 * free) < 20_000, "20 us each take half of the processor: {loaded} and {free}");
}

#[test]
fn what_is_wrong_is_said() {
    let mut wrong = scenario(Architecture::Harts, vec![request("F7", "N1", "N9")]);
    assert!(run(&wrong).expect_err("no such node").contains("`N9`"));
    wrong.requests.clear();
    wrong.links.pop();
    assert!(run(&wrong).expect_err("no tree").contains("tree"));
    assert!(run_json("{}").is_err());
}
