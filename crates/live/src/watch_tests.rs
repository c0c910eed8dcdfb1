//! Counts that are taken part by part, only where there is time, and put together.

use tautwire_model::Network;
use tautwire_model::network::NodeIndex;
use tautwire_sim::DropReason;
use tautwire_units::Instant;
use tautwire_wire::LiveMessage;

use super::*;
use crate::node::Node;
use crate::plan::Plan;

const STREAMS: u32 = 3 * PART as u32 + 1;

fn network() -> Network {
    let stream = |number: u32| {
        format!(
            "  - {{name: s{number}, talker: a, listeners: x, payload: 100 B, deadline: 100 us, traffic: {{type: periodic, interval: 10 ms}}}}\n"
        )
    };
    let streams: String = (0..STREAMS).map(stream).collect();
    let text = format!(
        "name: two\nnodes: {{a: {{type: end-station}}, x: {{type: end-station}}}}\n\
         links: [{{between: [a, x], rate: 100 Mbit/s}}]\nstreams:\n{streams}run: {{duration: 100 ms}}\n"
    );
    let loaded = tautwire_workbench::load_text("two.yaml", &text);
    loaded.network.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

/// The two nodes, after listener x has received frames 0 and 2 of each stream: one in time, one late.
fn stations<'n>(network: &'n Network, plan: &'n Plan) -> Vec<Station<'n>> {
    let node = |number| Node::new(network, plan, NodeIndex(number), 1);
    let mut nodes = [node(0), node(1)];
    for stream in 0..STREAMS {
        nodes[0].counters.created.insert(stream, 3);
        for (number, delay) in [(0, 50_000), (2, 150_000)] {
            let created = u64::from(number) * 10_000_000;
            let message = LiveMessage { stream, number, created, payload: 100, is_of_program: false };
            let now = Instant::ZERO + Duration::from_ns(created + delay);
            nodes[1].counters.received(network, &message, 0, now).expect("its sums have room");
        }
    }
    nodes[0].counters.dropped(5, 0, DropReason::QueueFull);
    nodes[1].counters.dropped(5, 0, DropReason::QueueFull);
    nodes[1].counters.foreign = 7;
    let station = |node| Station { node, ports: Vec::new(), device: None, capture: None };
    nodes.map(station).into()
}

#[test]
fn counts_are_taken_in_parts_and_put_together() {
    let network = network();
    let plan = Plan::new(&network);
    let stations = stations(&network, &plan);
    let (asked, clock) = (Asked::default(), Clock::starting_in(0));
    let mut taker = Taker::default();
    let given = || asked.given.lock().expect("no panic").is_some();
    // Nobody asks, and nothing is taken.
    taker.take(Some(&asked), &stations, clock, u64::MAX);
    taker.take(None, &stations, clock, u64::MAX);
    assert!(taker.taken.is_empty());
    asked.wanted.store(true, Ordering::Relaxed);
    let mut turns = 0;
    while !given() {
        let before = taker.taken.last().map_or(0, |node| node.listeners.len());
        taker.take(Some(&asked), &stations, clock, u64::MAX);
        turns += 1;
        assert!(taker.taken.last().map_or(0, |node| node.listeners.len()) <= before + PART && turns < 100);
    }
    // Each node, its listeners (none at the first), and the last turn.
    assert_eq!(turns, 2 + 1 + STREAMS.div_ceil(PART as u32) + 1);
    assert!(!asked.wanted.load(Ordering::Relaxed) && taker.taken.is_empty());
    let known = [asked.given.lock().expect("no panic").take().expect("given")];
    let all = together(1_000, &known, Vec::new());
    assert_eq!((all.elapsed, all.foreign, all.ports.len()), (Duration::from_us(1), 7, 2));
    assert_eq!(all.created, (0..STREAMS).map(|stream| (stream, 3)).collect::<Vec<_>>());
    assert_eq!(all.drops, [((5, 0, DropReason::QueueFull), 2)]);
    assert_eq!(all.listeners.len(), STREAMS as usize);
    for (stream, listener) in (0..).zip(&all.listeners) {
        let [mean, max] = [100, 150].map(Duration::from_us);
        let p99 = listener.delays.expect("delays").p99;
        assert!(p99 <= max && p99 > mean, "{p99}");
        let expected = ListenerNow {
            stream,
            listener: 0,
            received: 2,
            missing: 1,
            late: 1,
            delays: Some(DelaysNow { mean, p99, max }),
        };
        assert_eq!(*listener, expected);
    }
}

#[test]
fn a_thread_that_has_no_time_takes_a_part_now_and_then() {
    let network = network();
    let plan = Plan::new(&network);
    let stations = stations(&network, &plan);
    let (asked, clock) = (Asked::default(), Clock::starting_in(0));
    asked.wanted.store(true, Ordering::Relaxed);
    let mut taker = Taker { last: clock.now(), ..Taker::default() };
    taker.take(Some(&asked), &stations, clock, 0);
    assert!(taker.taken.is_empty());
    // As if it had had no time for so long.
    let clock = Clock::starting_at(tautwire_linux::monotonic() - HURRY - taker.last);
    let before = taker.last;
    taker.take(Some(&asked), &stations, clock, 0);
    assert!(taker.taken.len() == 1 && taker.last >= before + HURRY);
}

#[test]
fn what_was_counted_last_counts_for_a_thread_that_is_late() {
    let clock = Clock::starting_in(0);
    let (asked, is_over) = ([Asked::default()], AtomicBool::new(false));
    let node = |received| NodeNow { created: vec![(0, received)], ..NodeNow::default() };
    *asked[0].given.lock().expect("no panic") = Some(vec![node(5)]);
    let seen = Mutex::new(Vec::new());
    let publish = |status: &LiveStatus| {
        let mut seen = seen.lock().expect("no panic");
        seen.push(status.created.clone());
        // Nobody ever answers: the second look has what the first one had.
        is_over.store(seen.len() == 2, Ordering::Relaxed);
    };
    look_on(&asked, &[], clock, &is_over, &publish);
    assert_eq!(*seen.lock().expect("no panic"), [vec![(0, 5)], vec![(0, 5)]]);
}
