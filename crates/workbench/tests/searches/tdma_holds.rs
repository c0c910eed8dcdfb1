//! No frame of a random TDMA network is later than its bound, and slots keep frames apart.
//!
//! `TAUTWIRE_CASES` sets the number of networks, `TAUTWIRE_SEED` draws one; each is run without a failure and with
//! every failure: the master, a cable, a bridge, lost synchronisation frames, a babbling talker. Clocks drift, hosts
//! and sources jitter, slots are as short as possible or longer, of every cycle or every n-th; combinations that do
//! not fit together are unbounded and counted, so that the search is seen to have found bounds.

use tautwire_generate::{TdmaFailure, random_tdma, retagged, seeds};
use tautwire_sim::DropReason;
use tautwire_workbench::{Options, bounds, simulate};

use crate::common::{described as network, run_slots, without_cause};

/// Streams of a network that have a bound, frames that were lost because no slot took them in their lifetime, datagrams
/// that were put together, and that were not, and stations that came back and run again.
fn hold(seed: u64, failure: TdmaFailure) -> [u64; 5] {
    hold_of(&random_tdma(seed, failure), seed, failure)
}

fn hold_of(text: &str, seed: u64, failure: TdmaFailure) -> [u64; 5] {
    let network = network(text);
    let bounds = bounds(&network);
    let run = run_slots(&network, &bounds, seed);
    assert!(run.wrong.is_empty(), "TAUTWIRE_SEED={seed} ({failure:?}): {:#?}\n{text}", run.wrong);
    let untold = without_cause(&network, &bounds, &run.observation);
    assert!(untold.is_empty(), "TAUTWIRE_SEED={seed} ({failure:?}): {untold:#?}\n{text}");
    let dropped = run.observation.streams.iter().flat_map(|stream| &stream.dropped);
    let lost = dropped.filter(|(reason, _)| *reason == DropReason::Expired).map(|(_, count)| count).sum();
    let proven = bounds.streams.iter().flat_map(|stream| &stream.listeners);
    let listeners = run.observation.streams.iter().flat_map(|stream| &stream.listeners);
    let datagrams = listeners.filter_map(|listener| listener.datagrams.as_ref());
    let (reassembled, broken) = datagrams
        .fold((0, 0), |(reassembled, broken), seen| (reassembled + seen.reassembled, broken + seen.given_up));
    let returns = run.observation.start_up.iter().map(|station| u64::from(station.returns)).sum();
    [proven.filter(|listener| listener.delay.is_ok()).count() as u64, lost, reassembled, broken, returns]
}

#[test]
fn no_frame_is_later_than_its_bound() {
    let seeds = seeds(60);
    for failure in TdmaFailure::ALL {
        let held = seeds.iter().map(|seed| hold(*seed, failure));
        let [bounded, expired, reassembled, broken, returns] =
            held.fold([0; 5], |sum, one| std::array::from_fn(|place| sum[place] + one[place]));
        if seeds.len() > 1 {
            assert!(
                2 * bounded >= seeds.len() as u64,
                "{failure:?}: the search has bounds to hold: {bounded}"
            );
            assert!(reassembled > 0, "{failure:?}: datagrams are put together");
        }
        let loses = matches!(failure, TdmaFailure::BitErrors | TdmaFailure::BitErrorsDerivedLifetime);
        assert!(!loses || broken > 0 || seeds.len() < 20, "a lost piece costs its datagram");
        let comes_back = failure == TdmaFailure::SlaveReturns;
        assert!(!comes_back || returns > 0 || seeds.len() < 20, "stations start up anew: {returns}");
        let keeps = [
            TdmaFailure::Nothing,
            TdmaFailure::MasterStops,
            TdmaFailure::SlaveReturns,
            TdmaFailure::DividedForGood,
            TdmaFailure::MasterReturns,
        ];
        let may_expire = !keeps.contains(&failure);
        assert!(may_expire || expired == 0, "{failure:?}: nothing has a lifetime");
        assert!(
            !may_expire || expired > 0 || seeds.len() < 20 || failure == TdmaFailure::BitErrorsWithStandby,
            "{failure:?}: what could not be sent is lost"
        );
    }
}

/// Tags come and go on the way, and stages take time for each octet.
#[test]
fn no_frame_is_beyond_its_bounds_whatever_its_tag() {
    let seeds = seeds(60);
    let held = seeds.iter().map(|seed| {
        let text = retagged(&random_tdma(*seed, TdmaFailure::Nothing), *seed);
        hold_of(&text, *seed, TdmaFailure::Nothing)[0]
    });
    let bounded: u64 = held.sum();
    assert!(seeds.len() < 20 || bounded >= seeds.len() as u64, "there are bounds to hold: {bounded}");
}

/// Two stations with one thread each for all that they receive and send: `a` sends requests to `b`, which also
/// receives frames of four others.
fn with_threads(service: u64, interval: u64) -> tautwire_workbench::Network {
    let others = ["p", "q", "r", "t"];
    let all = |line: &dyn Fn(&str, usize) -> String| -> String {
        others.iter().enumerate().map(|(place, other)| line(other, place)).collect()
    };
    let nodes = all(&|other, _| format!("  {other}: {{type: end-station}}\n"));
    let cables = all(&|other, _| format!("  - {{between: [{other}, s]}}\n"));
    let slots = all(&|other, place| {
        format!("    - {{owner: {other}, offset: {} us, length: 20 us}}\n", 200 + 25 * place)
    });
    let streams = all(&|other, _| {
        format!(
            "  - {{name: of-{other}, talker: {other}, listeners: b, payload: 46 B, traffic: {{type: periodic, interval: 1100 us}}}}\n"
        )
    });
    network(&format!(
        "name: threads\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\nallow: [port::overload]\nhosts:
  pc: {{threads: {{all: {{service: {service} us}}}}, interfaces: {{card: {{}}}}, stacks: {{one: {{interface: card, thread: all}}}}}}
defaults: {{rate: 100 Mbit/s}}\nnodes:
  a: {{type: end-station, host: pc}}\n  b: {{type: end-station, host: pc}}\n{nodes}  s: {{type: bridge}}
links:\n  - {{between: [a, s]}}\n  - {{between: [b, s]}}\n{cables}run: {{duration: 100 ms}}
tdma:\n  cycle: 1 ms\n  synchronisation: opening\n  slots:\n{slots}    - {{owner: a, offset: 310 us, length: 20 us}}
    - {{owner: b, offset: 350 us, length: 20 us}}\nstreams:
  - {{name: opening, talker: p, listeners: all, payload: 46 B, traffic: {{type: synchronisation}}}}\n{streams}
  - {{name: question, talker: a, listeners: b, payload: 46 B, traffic: {{type: periodic, interval: {interval} us}}}}
  - {{name: answer, talker: b, listeners: a, payload: 46 B, traffic: {{type: response, to: question, turn-around: 1 us}}}}
"
    ))
}

/// Equations 1 and 2 of the published evaluation, part by part and by hand; together they are the delay between the
/// applications.
#[test]
fn a_delay_has_the_parts_of_its_equation() {
    let text = "name: parts\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\nhosts: {pc: {transmit: 10 us, receive: 15 us}}
defaults: {rate: 100 Mbit/s, host: pc}\nnodes:\n  master: {type: end-station}\n  slave: {type: end-station}
  s: {type: bridge}\nlinks:\n  - {between: [master, s]}\n  - {between: [slave, s]}\nrun: {duration: 100 ms}
tdma:\n  cycle: 1 ms\n  synchronisation: opening\n  slots:
    - {owner: master, offset: 200 us, length: 100 us}\n    - {owner: slave, offset: 400 us, length: 100 us}\nstreams:
  - {name: opening, talker: master, listeners: all, payload: 46 B, traffic: {type: synchronisation}}
  - {name: order, talker: master, listeners: slave, priority: 5, tagged: false, frame: 512 B,
     traffic: {type: periodic, interval: 10 ms, offset: 50 us}}
";
    let network = network(text);
    let seen = simulate(&network, &mut Options::default());
    let order = &seen.streams[1];
    let application = order.listeners[0].application.as_ref().expect("its host takes time");
    let count = application.delay.count();
    assert!(count > 5);
    // To the nanosecond: stations compute slots from frames whose travel time is known.
    let ns = |sum: tautwire_units::Duration| (sum.as_ps() / count + 500) / 1_000;
    let [source, switch] = [order.hops[0].sums, order.hops[1].sums];
    let (line, tag) = ((512 + 8) * 80, 4 * 80);
    let own = [source.processing, source.shaping, source.queueing, source.transmission];
    assert_eq!(own.map(ns), [10_000, 140_000, 0, line], "the source: stack, wait for the slot, sending");
    assert_eq!(ns(switch.shaping + switch.queueing), 0, "no queue in the switch");
    assert_eq!(ns(switch.transmission), line + tag, "the switch adds a tag");
    assert_eq!(ns(application.processing), 15_000, "the sink's stack");
    let parts = order.hops.iter().map(|hop| hop.sums.total()).sum::<tautwire_units::Duration>();
    assert_eq!(u128::from((parts + application.processing).as_ps()), application.delay.sum_ps());
    let bound = bounds(&network).streams[1].listeners[0].application.clone().expect("its host takes time");
    assert!(application.max <= bound.1.expect("a bound"));
}

/// What each waits for depends on what the other waits for: at most a request and a response are before the second slot.
#[test]
fn two_stations_that_ask_each_other_have_bounds() {
    let periodic = "payload: 200 B, traffic: {type: periodic, interval: 10 ms}";
    let network = network(&format!(
        "name: both\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\ndefaults: {{rate: 100 Mbit/s}}\nnodes:\n  m: {{type: end-station}}
  a: {{type: end-station}}\n  s: {{type: bridge}}\nlinks:\n  - {{between: [m, s]}}\n  - {{between: [a, s]}}
tdma:\n  cycle: 1 ms\n  synchronisation: op\n  slots:\n    - {{owner: m, offset: 200 us, length: 120 us}}
    - {{owner: a, offset: 400 us, length: 120 us}}\nrun: {{duration: 100 ms}}\nstreams:
  - {{name: op, talker: m, listeners: all, tagged: false, payload: 46 B, traffic: {{type: synchronisation}}}}
  - {{name: ask-a, talker: m, listeners: a, tagged: false, {periodic}}}
  - {{name: of-a, talker: a, listeners: m, tagged: false, payload: 200 B, traffic: {{type: response, to: ask-a}}}}
  - {{name: ask-m, talker: a, listeners: m, tagged: false, {periodic}}}
  - {{name: of-m, talker: m, listeners: a, tagged: false, payload: 200 B, traffic: {{type: response, to: ask-m}}}}
"
    ));
    let found = bounds(&network);
    let most =
        |stream: usize| found.streams[stream].listeners[0].delay.clone().expect("a bound").as_ps() / 1_000;
    // Two cycles, and two lines with preamble, the second with a tag; a response the same once more.
    let way = (218 + 8) * 80 * 2 + 4 * 80;
    assert_eq!(
        [1, 2, 3, 4].map(most),
        [2_000_000 + way, 2 * (2_000_000 + way), 2_000_000 + way, 2 * (2_000_000 + way)]
    );
    let run = run_slots(&network, &found, 1);
    assert!(run.wrong.is_empty(), "{:#?}", run.wrong);
}

/// A thread that serves both ways has a bound, at ports and at applications, and none if it has more to do than it can.
#[test]
fn threads_that_receive_and_send_have_bounds() {
    let delays = |network: &tautwire_workbench::Network| {
        let found = bounds(network);
        let run = run_slots(network, &found, 1);
        assert!(run.wrong.is_empty(), "{:#?}", run.wrong);
        let last = &found.streams.last().expect("streams").listeners[0];
        let at_application = last.application.as_ref().map(|(_, most)| most.clone());
        let seen =
            run.observation.streams.last().expect("streams").listeners[0].worst.expect("answers").delay;
        (last.delay.clone(), at_application.expect("it has stacks"), seen)
    };
    let (port, application, seen) = delays(&with_threads(10, 3_700));
    let (port, application) = (port.expect("a bound"), application.expect("a bound"));
    assert!(seen <= port && port < application, "{seen}, {port}, {application}");
    // The request waits for its slot, and the answer, which may have to wait for all others in the thread, for a later one.
    assert!(port < tautwire_units::Duration::from_us(3_200), "{port}");
    // Four frames of others each 1.1 ms, a question and an answer each 3.7 ms, with 250 us each: more than all time.
    let (port, ..) = delays(&with_threads(250, 3_700));
    assert!(matches!(port, Err(tautwire_analysis::Unbounded::Host { .. })), "{port:?}");
}

#[test]
fn a_slot_that_begins_before_the_cycle_is_heard_is_never_used_and_proves_nothing() {
    let text = |offset: &str| {
        format!(
            "name: early\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\ndefaults: {{rate: 100 Mbit/s}}\nnodes:
  a: {{type: end-station}}\n  b: {{type: end-station}}\n  s: {{type: bridge}}\nlinks:
  - {{between: [a, s]}}\n  - {{between: [b, s]}}\nrun: {{duration: 20 ms}}\nstreams:
  - {{name: opening, talker: a, listeners: all, payload: 46 B, traffic: {{type: synchronisation}}}}
  - {{name: y, talker: b, listeners: a, payload: 100 B, traffic: {{type: periodic, interval: 2 ms}}}}
tdma:\n  cycle: 1 ms\n  synchronisation: opening\n  slots:
    - {{owner: b, offset: {offset}, length: 100 us}}\n"
        )
    };
    // Two frames of 68 octets with preamble take 12.16 us.
    for (offset, is_used) in [("12 us", false), ("13 us", true)] {
        let network = network(&text(offset));
        let observation = simulate(&network, &mut Options::default());
        assert_eq!(observation.streams[1].listeners[0].delay.count() > 0, is_used, "{offset}");
        assert_eq!(bounds(&network).streams[1].listeners[0].delay.is_ok(), is_used, "{offset}");
    }
}

/// Most frames at a time at any port.
fn backlog(text: &str) -> u64 {
    let observation = simulate(&network(text), &mut Options::default());
    let classes = observation.ports.iter().flat_map(|port| &port.classes);
    classes.map(|class| u64::from(class.backlog_frames_max)).max().expect("a port")
}

#[test]
fn without_its_slots_frames_of_two_talkers_meet() {
    let stations = "name: knock-out\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\ndefaults: {rate: 100 Mbit/s}\nnodes:
  a: {type: end-station}\n  b: {type: end-station}\n  c: {type: end-station}\n  s: {type: bridge}\nlinks:
  - {between: [a, s]}\n  - {between: [b, s]}\n  - {between: [c, s]}\nrun: {duration: 20 ms}\nstreams:
  - {name: x, talker: a, listeners: c, payload: 1000 B, traffic: {type: periodic, interval: 2 ms}}
  - {name: y, talker: b, listeners: c, payload: 1000 B, traffic: {type: periodic, interval: 2 ms}}\n";
    let slots =
        "  - {name: opening, talker: a, listeners: all, payload: 46 B, traffic: {type: synchronisation}}
tdma:\n  cycle: 1 ms\n  synchronisation: opening\n  slots:
    - {owner: a, offset: 100 us, length: 200 us}\n    - {owner: b, offset: 300 us, length: 200 us}\n";
    assert_eq!(backlog(&format!("{stations}{slots}")), 1);
    assert!(backlog(stations) > 1);
}

/// A network of a seed, and how many cycles a standby opens simultaneously with a living master.
fn opened_by_both(seed: u64) -> (tautwire_workbench::Network, u64) {
    let network = network(&random_tdma(seed, TdmaFailure::BitErrorsWithStandby));
    let observation = simulate(&network, &mut Options { seed: Some(seed), ..Options::default() });
    let standby = network.tdma.as_ref().and_then(|tdma| tdma.standby).expect("a standby");
    let opened = observation.streams[standby.synchronisation.index()].created;
    (network, opened)
}

#[test]
fn a_standby_that_misses_frames_opens_cycles_with_the_master_and_has_bounds_if_their_number_is_stated() {
    let runs: Vec<_> = (0..24).map(opened_by_both).collect();
    assert!(runs.iter().map(|(_, opened)| opened).sum::<u64>() > 0, "frames are lost to the standby");
    let bounded = |network: &tautwire_workbench::Network| {
        let bounds = bounds(network);
        let all = bounds.streams.iter().flat_map(|stream| &stream.listeners);
        all.filter(|listener| listener.delay.is_ok()).count()
    };
    let with: usize = runs.iter().map(|(network, _)| bounded(network)).sum();
    let without = runs.iter().map(|(network, _)| {
        let unsaid = network.clone().altered(|parts| {
            let tdma = parts.tdma.as_mut().expect("slots");
            tdma.standby.as_mut().expect("a standby").lost_in_a_row = None;
        });
        bounded(&unsaid)
    });
    assert!(with > 0 && without.sum::<usize>() == 0, "{with}");
}

#[test]
fn a_derived_lifetime_is_enough_while_nothing_fails() {
    let mut derived = 0;
    for seed in seeds(40) {
        let network = network(&random_tdma(seed, TdmaFailure::Nothing));
        let bounds = bounds(&network);
        let lifetime = network.derived_lifetime();
        let network = network.altered(|parts| {
            let tdma = parts.tdma.as_mut().expect("slots");
            assert_eq!(tdma.lifetime, None, "nothing fails, so nothing is lost");
            tdma.lifetime = lifetime;
        });
        derived += u32::from(lifetime.is_some());
        let observation = simulate(&network, &mut Options { seed: Some(seed), ..Options::default() });
        for (stream, seen) in bounds.streams.iter().zip(&observation.streams) {
            let proven = stream.listeners.iter().all(|listener| listener.delay.is_ok());
            let expired = seen.dropped.iter().any(|(reason, _)| *reason == DropReason::Expired);
            assert!(!(proven && expired), "TAUTWIRE_SEED={seed}: {lifetime:?}");
        }
    }
    assert!(derived > 0, "lifetimes are derived");
}

/// A master, a standby and two slaves on one bridge, whose clocks drift, and the events that are given.
fn with_standby(events: &str) -> tautwire_workbench::Network {
    with_standby_and_payload(1_400, events)
}

/// The same with so many octets in every frame.
fn with_standby_and_payload(payload: u64, events: &str) -> tautwire_workbench::Network {
    network(&format!(
        "name: beside\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\ndefaults: {{rate: 100 Mbit/s, clock: {{tolerance: 100 ppm}}}}\nnodes:
  master: {{type: end-station}}\n  standby: {{type: end-station}}\n  a: {{type: end-station}}
  b: {{type: end-station}}\n  s: {{type: bridge}}\nlinks:
  - {{name: to-master, between: [master, s]}}\n  - {{name: to-standby, between: [standby, s]}}\n  - {{name: to-a, between: [a, s]}}
  - {{between: [b, s]}}\nrun: {{duration: 1600 ms}}\n{events}tdma:\n  cycle: 1 ms\n  synchronisation: opening
  standby: {{synchronisation: watching, offset: 160 us}}\n  slots:
    - {{owner: master, offset: 300 us, length: 130 us}}\n    - {{owner: a, offset: 500 us, length: 130 us}}
    - {{owner: standby, offset: 700 us, length: 130 us}}\nstreams:
  - {{name: opening, talker: master, listeners: all, payload: 46 B, traffic: {{type: synchronisation}}}}
  - {{name: watching, talker: standby, listeners: all, payload: 46 B, traffic: {{type: synchronisation}}}}
  - {{name: x, talker: master, listeners: b, payload: {payload} B, traffic: {{type: periodic, interval: 1100 us}}}}
  - {{name: y, talker: a, listeners: b, payload: {payload} B, traffic: {{type: periodic, interval: 1100 us}}}}
  - {{name: z, talker: standby, listeners: b, payload: {payload} B, traffic: {{type: periodic, interval: 1100 us}}}}
"
    ))
}

#[test]
fn what_is_divided_for_good_has_bounds() {
    let intact = bounds(&with_standby(""));
    let proven = |bounds: &tautwire_workbench::Bounds, stream: usize| {
        bounds.streams[stream].listeners[0].delay.clone().ok()
    };
    assert!((2..5).all(|stream| proven(&intact, stream).is_some()), "nothing fails");
    for gone in ["cut-link: to-master", "stop-node: s", "cut-link: to-a"] {
        let network = with_standby(&format!("events:\n  - {{at: 500 ms, {gone}}}\n"));
        let found = bounds(&network);
        for stream in 2..5 {
            let more = proven(&found, stream)
                .expect(gone)
                .saturating_sub(proven(&intact, stream).expect("nothing fails"));
            // A slot of waiting, and the error of the standby's own clock.
            assert!((900..1_200).contains(&(more.as_ps() / 1_000_000)), "{gone}: {more}");
        }
        assert!(run_slots(&network, &found, 1).wrong.is_empty());
    }
}

/// The network of the test before, with clocks at their worst, in which the standby's cable is cut for so long.
fn cut_for(apart: u64, mended: u64) -> tautwire_workbench::Network {
    let cut = mended - apart;
    let network = with_standby_and_payload(
        1_000,
        &format!(
            "events:\n  - {{at: {cut} us, cut-link: to-standby}}\n  - {{at: {mended} us, mend-link: to-standby}}\n"
        ),
    );
    let standby = network.tdma.as_ref().and_then(|tdma| tdma.standby).expect("a standby");
    let standby = network.streams[standby.synchronisation.index()].talker;
    network.altered(|parts| {
        for (number, node) in parts.nodes.iter_mut().enumerate() {
            let fast = number == standby.index();
            node.clock.drift_ppb = Some(if fast { 100_000 } else { -100_000 });
        }
    })
}

#[test]
fn a_node_that_comes_back_has_bounds_while_slots_cover_the_drift() {
    let network = cut_for(20_000, 520_000);
    let found = bounds(&network);
    let intact = bounds(&with_standby_and_payload(400, ""));
    for stream in 2..5 {
        let delay = |bounds: &tautwire_workbench::Bounds| bounds.streams[stream].listeners[0].delay.clone();
        let (with, without) = (delay(&found).expect("it comes back"), delay(&intact).expect("nothing fails"));
        // The lifetime: a lost cycle, and another one for the frame before.
        let more = with.saturating_sub(without).as_ps() / 1_000_000;
        assert!((900..2_400).contains(&more), "{with} and {without}");
    }
    assert!(run_slots(&network, &found, 1).wrong.is_empty());
    // After a second the rasters are a slot apart, and frames of both are at one port.
    let found = bounds(&cut_for(1_000_000, 1_200_000));
    let meet = |listener: &tautwire_analysis::ListenerBounds| {
        listener.delay.as_ref().is_err_and(|why| why.name() == "slots-meet")
    };
    assert!((2..5).all(|stream| meet(&found.streams[stream].listeners[0])));
}

/// Bounds that forget how far the rasters drift apart, as if they were so for a short time, are found wrong by a run.
#[test]
fn rasters_that_meet_are_found() {
    let wrong = bounds(&cut_for(20_000, 520_000));
    let found = (0..40).any(|step| {
        let network = cut_for(1_000_000, 1_200_000 + 50 * step);
        !run_slots(&network, &wrong, 1).wrong.is_empty()
    });
    assert!(found);
}

#[test]
fn one_run_counts_the_misses_of_several_deadlines() {
    let text = random_tdma(3, TdmaFailure::Nothing);
    let spans = ["400 us", "1 ms", "2 ms"];
    let master = "name: of-master-slave-0, talker";
    let late = |key: String| {
        let changed = text.replace(master, &format!("name: of-master-slave-0, {key}, talker"));
        assert_ne!(changed, text, "the stream is there");
        let network = network(&changed);
        let observation = simulate(&network, &mut Options { seed: Some(3), ..Options::default() });
        let stream =
            network.streams.iter().position(|stream| stream.name == "of-master-slave-0").expect("there");
        observation.streams[stream].listeners[0].clone()
    };
    let alone: Vec<u64> = spans.iter().map(|span| late(format!("deadline: {span}")).late).collect();
    let together = late("deadline: 1 ms, count-late: [2 ms, 400 us, 1 ms]".to_owned());
    let counted: Vec<u64> = together.late_at.iter().map(|(_, count)| *count).collect();
    assert_eq!(counted, alone, "the least span first");
    assert_eq!(together.late, alone[1], "the deadline is counted as ever");
    assert!(alone[0] > 0 && alone[0] >= alone[2], "{alone:?}");
}
