//! No frame of a random TDMA network is later than its bound, and slots keep frames apart.
//!
//! `TAUTWIRE_CASES` sets the number of networks, `TAUTWIRE_SEED` draws one; each is run whole and
//! with every failure: the master, a cable, a bridge, lost synchronisation frames, a babbling talker. Clocks drift, hosts and sources jitter, slots are as short as may be or longer, of every
//! cycle or every n-th; what does not fit together is unbounded and counted, so that the search is seen
//! to have found bounds.

mod common;

use tautwire_generate::{TdmaFailure, random_tdma, seeds};
use tautwire_sim::DropReason;
use tautwire_workbench::{Options, bounds, simulate};

use common::{described as network, run_slots};

/// Streams of a network that have a bound, frames that were lost because no slot took them in their lifetime, datagrams
/// that were put together, and that were not, and stations that came back and run again.
fn hold(seed: u64, failure: TdmaFailure) -> [u64; 5] {
    let text = random_tdma(seed, failure);
    let network = network(&text);
    let bounds = bounds(&network);
    let run = run_slots(&network, &bounds, seed);
    assert!(run.wrong.is_empty(), "TAUTWIRE_SEED={seed} ({failure:?}): {:#?}\n{text}", run.wrong);
    let dropped = run.observation.streams.iter().flat_map(|stream| &stream.dropped);
    let lost = dropped.filter(|(reason, _)| *reason == DropReason::Expired).map(|(_, count)| count).sum();
    let proven = bounds.streams.iter().flat_map(|stream| &stream.listeners);
    let listeners = run.observation.streams.iter().flat_map(|stream| &stream.listeners);
    let datagrams = listeners.filter_map(|listener| listener.datagrams.as_ref());
    let (whole, broken) =
        datagrams.fold((0, 0), |(whole, broken), seen| (whole + seen.whole, broken + seen.given_up));
    let returns = run.observation.start_up.iter().map(|station| u64::from(station.returns)).sum();
    [proven.filter(|listener| listener.delay.is_ok()).count() as u64, lost, whole, broken, returns]
}

#[test]
fn no_frame_is_later_than_its_bound() {
    let seeds = seeds(40);
    for failure in TdmaFailure::ALL {
        let held = seeds.iter().map(|seed| hold(*seed, failure));
        let [bounded, expired, whole, broken, returns] =
            held.fold([0; 5], |sum, one| std::array::from_fn(|place| sum[place] + one[place]));
        if seeds.len() > 1 {
            assert!(
                2 * bounded >= seeds.len() as u64,
                "{failure:?}: the search has bounds to hold: {bounded}"
            );
            assert!(whole > 0, "{failure:?}: datagrams are put together");
        }
        let loses = failure == TdmaFailure::BitErrors;
        assert!(!loses || broken > 0 || seeds.len() < 20, "a lost piece costs its datagram");
        let comes_back = failure == TdmaFailure::SlaveReturns;
        assert!(!comes_back || returns > 0 || seeds.len() < 20, "stations start up anew: {returns}");
        let may_expire = !comes_back
            && !matches!(failure, TdmaFailure::Nothing | TdmaFailure::MasterStops | TdmaFailure::Babbling);
        assert!(may_expire || expired == 0, "{failure:?}: nothing has a lifetime");
        assert!(
            !may_expire || expired > 0 || seeds.len() < 20 || failure == TdmaFailure::BitErrorsBesideStandby,
            "{failure:?}: what could not be sent is lost"
        );
    }
}

#[test]
fn a_slot_that_begins_before_the_cycle_is_heard_is_never_used_and_proves_nothing() {
    let text = |offset: &str| {
        format!(
            "name: early\nnetwork-control: none\ndefaults: {{rate: 100 Mbit/s}}\nnodes:
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
    let stations = "name: knock-out\nnetwork-control: none\ndefaults: {rate: 100 Mbit/s}\nnodes:
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

/// A network of a seed, and how many cycles a standby opens beside a master that lives.
fn opened_beside(seed: u64) -> (tautwire_workbench::Network, u64) {
    let network = network(&random_tdma(seed, TdmaFailure::BitErrorsBesideStandby));
    let observation = simulate(&network, &mut Options { seed: Some(seed), ..Options::default() });
    let standby = network.tdma.as_ref().and_then(|tdma| tdma.standby).expect("a standby");
    let opened = observation.streams[standby.synchronisation.index()].created;
    (network, opened)
}

#[test]
fn a_standby_that_misses_frames_opens_cycles_beside_the_master_and_has_bounds_if_it_is_said_how_many() {
    let runs: Vec<_> = (0..24).map(opened_beside).collect();
    assert!(runs.iter().map(|(_, opened)| opened).sum::<u64>() > 0, "frames are lost to the standby");
    let bounded = |network: &tautwire_workbench::Network| {
        let bounds = bounds(network);
        let all = bounds.streams.iter().flat_map(|stream| &stream.listeners);
        all.filter(|listener| listener.delay.is_ok()).count()
    };
    let with: usize = runs.iter().map(|(network, _)| bounded(network)).sum();
    let without = runs.iter().map(|(network, _)| {
        let mut unsaid = network.clone();
        let tdma = unsaid.tdma.as_mut().expect("slots");
        tdma.standby.as_mut().expect("a standby").lost_in_a_row = None;
        bounded(&unsaid)
    });
    assert!(with > 0 && without.sum::<usize>() == 0, "{with}");
}
