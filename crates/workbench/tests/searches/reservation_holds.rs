//! Reserved streams against their bounds: bounds count all of them and their MRPDUs. And as many streams as MRP can
//! declare again after a leave-all: `check` warns of one more, and they are kept in a run.

use std::path::Path;

use tautwire_sim::RungEvent;
use tautwire_workbench as tautwire;

/// Streams of one talker of which no two share a vector: their frames differ in turn.
fn sparse(streams: usize) -> String {
    use std::fmt::Write as _;
    let mut text = String::from(
        "vlans: {1: {tagged: all}}\ndefaults: {rate: 10 Gbit/s, traffic-class-table: stream-reservation}\nnodes:\n  talker: {type: end-station}\n  \
         listener: {type: end-station}\n  bridge: {type: bridge}\nlinks: [{between: [talker, bridge]}, {between: [bridge, listener]}]\n\
         stream-reservation: {}\nstreams:\n",
    );
    for stream in 0..streams {
        let _ = writeln!(
            text,
            "  - {{name: s{stream}, talker: talker, listeners: listener, priority: 3, payload: {} B, \
             traffic: {{type: periodic, interval: 1 s}}, reservation: {{frames-per-interval: 1}}}}",
            46 + stream % 2
        );
    }
    text + "run: {duration: 34 s}\n"
}

fn warnings(streams: usize) -> usize {
    tautwire::load_text("sparse.yaml", &sparse(streams)).diagnostics.len()
}

/// Streams that were granted, and how often one stopped or was released.
fn kept(streams: usize) -> (usize, usize) {
    let network = tautwire::load_text("sparse.yaml", &sparse(streams)).network.expect("no errors");
    let seen = tautwire::simulate(&network, &mut tautwire::Options::default());
    let rungs = |wanted: fn(&RungEvent) -> bool| {
        let ladders = seen.reservations.iter().map(move |seen| &seen.ladder);
        ladders.map(move |ladder| ladder.iter().filter(|rung| wanted(&rung.event)).count())
    };
    let granted = rungs(|event| *event == RungEvent::Started).filter(|count| *count > 0).count();
    (granted, rungs(|event| matches!(event, RungEvent::Stopped | RungEvent::Released(_))).sum())
}

#[test]
fn as_many_streams_as_mrp_can_declare_are_kept_and_check_warns_of_more() {
    // Nine MRPDUs in a LeaveTime, 1436 octets of each for certain, 28 a talker.
    let limit = 9 * 1_436 / 28;
    assert_eq!((warnings(limit), warnings(limit + 1)), (0, 1));
    assert_eq!(kept(limit), (limit, 0), "two leave-alls of every port");
    let (granted, stopped) = kept(3 * limit);
    assert!(granted > 0 && stopped > 0, "{granted} granted, {stopped} lapses");
}

#[test]
fn no_reserved_stream_and_no_mrpdu_is_later_than_its_bound() {
    let path = Path::new("../../scenarios/stream-reservation.yaml");
    let scenario = tautwire::Scenario::new(path, tautwire::load(path).expect("a file")).expect("no errors");
    let bounds = tautwire::bounds(&scenario.network);
    let seen = tautwire::simulate(&scenario.network, &mut tautwire::Options::default());
    let verification = tautwire::verify(&scenario.network, &bounds, &seen);
    assert!(verification.contradictions.is_empty(), "{:?}", verification.contradictions);
    let streams = scenario.network.streams.iter().zip(&bounds.streams);
    let (mut mrpdus, mut others) = (0, 0);
    for (stream, bounds) in streams {
        assert!(bounds.listeners.iter().all(|listener| listener.delay.is_ok()), "{}", stream.name);
        if stream.name.starts_with("msrp:") { mrpdus += 1 } else { others += 1 }
    }
    assert_eq!((mrpdus, others), (14, 4), "a stream of MRPDUs for each end of seven cables");
    // The bounds are of use: every deadline is proven.
    assert_eq!(verification.verdict, tautwire::Verdict::Proven);
}
