//! Virtual links: regulator, overwriting, turns of sub-virtual-links, policing, redundancy.

use tautwire_sim::{DropReason, Observation};
use tautwire_workbench::{Network, Options, load_text, simulate};

use super::{answers, hold, two_talkers};

fn run(text: &str) -> (Network, Observation) {
    let loaded = load_text("knock-out", text);
    assert!(!loaded.has_errors(), "{:#?}\n{text}", loaded.diagnostics);
    let network = loaded.network.expect("no errors");
    let observation = simulate(&network, &mut Options::default());
    (network, observation)
}

/// Counts of a run: created, delivered, and copies dropped for a reason.
fn counts(text: &str, stream: usize, reason: DropReason) -> (u64, u64, u64) {
    let observed = &run(text).1.streams[stream];
    let dropped = observed.dropped.iter().find(|(other, _)| *other == reason).map_or(0, |(_, count)| *count);
    (observed.created, observed.delivered, dropped)
}

const CALM: &str = "priority: 1, payload: 200 B, traffic: {type: periodic, interval: 2 ms, offset: 200 us}, \
                    virtual-link: {id: 2, bag: 2 ms}, deadline: 300 us";

#[test]
fn the_regulator_of_the_end_system() {
    // A burst leaves a frame a BAG, so that the other talker's frames pass between.
    let text = two_talkers(
        "learning: {}",
        "priority: 1, payload: 1000 B, traffic: {type: periodic, interval: 40 ms, burst: 15}, \
         virtual-link: {id: 1, bag: 2 ms, policing: none, regulated: true}",
        CALM,
    )
    .replace("[one, bridge]", "[one, bridge], rate: 1 Gbit/s");
    hold(&text, "regulated: true", "regulated: false");
}

#[test]
fn policing_at_the_switch() {
    // A babbling talker, on a line of a gigabit, is cut down to its BAG.
    let text = two_talkers(
        "learning: {}",
        "priority: 1, payload: 1000 B, traffic: {type: periodic, interval: 60 us}, \
         virtual-link: {id: 1, bag: 2 ms, regulated: false, policing: frames}",
        CALM,
    )
    .replace("[one, bridge]", "[one, bridge], rate: 1 Gbit/s")
    .replace("name: knock-out", "name: knock-out\nallow: [port::overload]");
    hold(&text, "policing: frames", "policing: none");
    hold(&text.replace("policing: frames", "policing: octets"), "policing: octets", "policing: none");
    let (created, delivered, policed) = counts(&text, 0, DropReason::PolicedRate);
    assert_eq!((created, delivered, policed), (1_667, 51, 1_616), "one a BAG in 100 ms, and one early");
}

#[test]
fn only_the_last_message_of_a_bag_leaves() {
    // Messages every millisecond, a BAG of four: the newest is never older than that BAG. In a queue
    // they grow older and older.
    let text = two_talkers(
        "learning: {}",
        "priority: 1, payload: 200 B, traffic: {type: periodic, interval: 1 ms}, deadline: 5 ms, \
         virtual-link: {id: 1, bag: 4 ms, buffer: overwriting}",
        CALM,
    );
    let (network, observation) = run(&text);
    let bounds = tautwire_analysis::bounds(&network);
    let bound = bounds.streams[0].listeners[0].delay.clone().expect("a BAG and the way");
    assert!(bound <= network.streams[0].deadline.expect("stated"));
    assert_eq!(observation.streams[0].listeners[0].late, 0);
    let (created, delivered, overwritten) = counts(&text, 0, DropReason::Overwritten);
    assert_eq!((created, delivered), (101, 25), "one message a BAG leaves, and one is on its way");
    assert_eq!(overwritten, 75);
    let queueing = text.replace("buffer: overwriting", "buffer: queueing");
    let (network, observation) = run(&queueing);
    assert!(tautwire_analysis::bounds(&network).streams[0].listeners[0].delay.is_err());
    assert!(observation.streams[0].listeners[0].late > 10);
}

#[test]
fn sub_virtual_links_in_turn() {
    // The burst of the first sub-virtual-link does not delay the second, which would wait behind all of it in one
    // queue: then both are one stream's messages.
    let link = "virtual-link: {id: 1, bag: 1 ms, sub-link";
    let text = two_talkers(
        "learning: {}",
        &format!(
            "priority: 1, payload: 200 B, traffic: {{type: periodic, interval: 50 ms, burst: 20}}, {link}: 1}}"
        ),
        CALM,
    );
    let second = format!(
        "  - {{name: third, talker: one, listeners: sink, priority: 1, payload: 200 B, traffic: {{type: periodic, \
         interval: 25 ms, offset: 10 us}}, {link}: 2}}, deadline: 3 ms}}\nrun:"
    );
    let text = text.replace("run:", &second);
    let late = |text: &str| run(text).1.streams[2].listeners[0].late;
    assert_eq!(late(&text), 0, "its turn comes after one other");
    // One queue: the first sub-virtual-link sends the messages of both, in order of arrival.
    let alone = text.replace("burst: 20", "burst: 21").replace("deadline: 3 ms", "deadline: 1 s");
    let delays = run(&alone).1.streams[0].listeners[0].delay.max().expect("frames came");
    assert!(delays > tautwire_units::Duration::from_ms(20), "the last message of a queue waits for all");
}

/// Two stations with two networks, one of which fails for a while.
const BOTH: &str = "name: both
network-control: none
vlans:
  1:
    tagged: all
defaults: {rate: 100 Mbit/s}
nodes: {one: {type: end-station}, sink: {type: end-station}, a: {type: bridge}, b: {type: bridge}}
links:
  - {between: [one, a]}
  - {name: cable, between: [a, sink]}
  - {between: [one, b], length: 100 m}
  - {between: [b, sink], length: 100 m}
streams:
  - {name: first, talker: one, listeners: sink, payload: 200 B, traffic: {type: periodic, interval: 2 ms},
     virtual-link: {id: 7, bag: 2 ms, redundancy: true}}
events: [{at: 20 ms, cut-link: cable}, {at: 41 ms, mend-link: cable}]
run: {duration: 99 ms}
";

#[test]
fn redundancy_over_two_networks() {
    let (created, delivered, eliminated) = counts(BOTH, 0, DropReason::Eliminated);
    assert_eq!((created, delivered), (50, 50), "with one network failed nothing is lost, or comes twice");
    let (_, _, cut) = counts(BOTH, 0, DropReason::LinkDown);
    let (_, _, distrusted) = counts(BOTH, 0, DropReason::IntegrityCheck);
    assert_eq!((cut, distrusted, eliminated), (11, 1, 38));
    let (_, single, _) =
        counts(&BOTH.replace("redundancy: true", "redundancy: false"), 0, DropReason::LinkDown);
    assert_eq!(single, 39, "over one network they are lost");
    assert!(answers(&BOTH.replace("2 ms},\n", "2 ms}, deadline: 100 us,\n")).0, "either network is in time");
}

#[test]
fn what_both_networks_lose_is_lost() {
    let lost = |text: &str| run(text).1.streams[0].listeners[0].lost;
    assert_eq!(lost(BOTH), Some(0), "the other network brought what one lost, distrusted or brought again");
    assert_eq!(lost(&BOTH.replace("redundancy: true", "redundancy: false")), None, "there are no copies");
    // Both are cut from 30 ms to 41 ms: the frames of 30, 32 .. 40 ms do not arrive, and that of 42 ms is not valid on
    // either network, because of the missing numbers. That of 98 ms is still in transit.
    let both = BOTH
        .replace("length: 100 m}\nstreams", "length: 100 m, name: other}\nstreams")
        .replace("events: [", "events: [{at: 30 ms, cut-link: other}, {at: 41 ms, mend-link: other}, ")
        .replace("duration: 99 ms", "duration: 98.01 ms");
    let (network, observation) = run(&both);
    let seen = &observation.streams[0];
    assert_eq!((seen.created, seen.in_flight, seen.listeners[0].lost), (50, 2, Some(7)));
    let summary = tautwire_report::Summary::new(&network, None, Some(&observation));
    assert_eq!(summary.streams[0].frames.as_ref().map(|frames| frames.loss_ppm), Some(140_000));
}

#[test]
fn policing_discards_what_is_longer_than_lmax() {
    // A switch whose table knows the link by a shorter Lmax than its end system sends, as after a change of one of
    // the two alone: frames within it pass, longer ones are discarded for their length.
    let text = two_talkers(
        "learning: {}",
        "priority: 1, payload: {min: 100 B, max: 1000 B}, traffic: {type: periodic, interval: 4 ms}, \
         virtual-link: {id: 1, bag: 4 ms}",
        CALM,
    );
    let (network, intact) = run(&text);
    let dropped = |observation: &Observation| {
        let dropped = &observation.streams[0].dropped;
        dropped.iter().find(|(reason, _)| *reason == DropReason::PolicedLength).map_or(0, |(_, count)| *count)
    };
    assert_eq!(dropped(&intact), 0);
    let network = network.altered(|parts| {
        let link = parts.streams[0].virtual_link.as_mut().expect("a virtual link");
        link.frames.1 = tautwire_units::Bytes::new(518);
    });
    let observation = simulate(&network, &mut Options::default());
    let (observed, cut) = (&observation.streams[0], dropped(&observation));
    assert!(cut > 0 && observed.delivered > 0, "{cut} of {} are longer", observed.created);
    assert_eq!(observed.created, observed.delivered + cut + observed.in_flight);
    assert_eq!(observation.streams[1], intact.streams[1], "the other link does not notice");
}
