//! The test of bandwidth agrees with bridges that reserve in a run: where all streams fit none of them fails for
//! bandwidth, and the reservations at the end are admitted together.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::BTreeSet;

use tautwire_admission::{AdmissionTest, Bandwidth, Controller, Mode, Operation, Outcome, Request};
use tautwire_generate::{random_stream_reservation, seeds};
use tautwire_model::Network;
use tautwire_model::network::{NodeKind, PortIndex, StreamIndex};
use tautwire_sim::{
    Declaration, NoRecorder, Observation, Options, ReservationObservation, RungEvent, run_with,
};

/// Whether a port on a stream's way has no bandwidth for it: codes 1 and 3.
fn fails(network: &Network, seen: &ReservationObservation) -> bool {
    let hops = &network.streams[seen.stream.index()].hops;
    let is_granted = |event| match event {
        RungEvent::Sent(port, Declaration::TalkerFailed(1 | 3)) => hops.iter().any(|hop| hop.port == port),
        _ => false,
    };
    seen.ladder.iter().any(|rung| is_granted(rung.event))
}

/// The streams that are reserved at all ports of bridges on their way at the end of a run.
fn granted(network: &Network, seen: &Observation) -> Vec<StreamIndex> {
    let held = |seen: &ReservationObservation| {
        let mut held: BTreeSet<PortIndex> = BTreeSet::new();
        for rung in &seen.ladder {
            match rung.event {
                RungEvent::Reserved(port) => drop(held.insert(port)),
                RungEvent::Released(port) => drop(held.remove(&port)),
                _ => {}
            }
        }
        let is_bridge = |port: PortIndex| {
            let node = network.ports[port.index()].node;
            matches!(network.nodes[node.index()].kind, NodeKind::Bridge { .. })
        };
        let hops = &network.streams[seen.stream.index()].hops;
        hops.iter().all(|hop| !is_bridge(hop.port) || held.contains(&hop.port))
    };
    seen.reservations.iter().filter(|seen| held(seen)).map(|seen| seen.stream).collect()
}

/// Whether all fit, and whether reservations exist at the end.
fn compared(name: &str, network: &Network) -> (bool, bool) {
    let seen = run_with(network, &mut Options::default(), &mut NoRecorder);
    let all: Vec<StreamIndex> = seen.reservations.iter().map(|seen| seen.stream).collect();
    let fit = |streams: &[StreamIndex]| {
        (1..=streams.len()).find_map(|count| Bandwidth::default().refuse(network, &streams[..count]))
    };
    let all_fit = fit(&all).is_none();
    if all_fit {
        let failed: Vec<StreamIndex> =
            seen.reservations.iter().filter(|seen| fails(network, seen)).map(|seen| seen.stream).collect();
        assert!(failed.is_empty(), "{name}: {failed:?} fail, and all fit");
    }
    let standing = granted(network, &seen);
    assert_eq!(fit(&standing), None, "{name}: {standing:?} stand together");
    (all_fit, !standing.is_empty())
}

#[test]
fn random_networks_reserve_what_the_test_admits() {
    let (mut fitting, mut standing) = (0, 0);
    let seeds = seeds(150);
    for seed in &seeds {
        let network =
            tautwire_model::load_text("reserved", &random_stream_reservation(*seed)).network.unwrap();
        let (all_fit, all_granted) = compared(&format!("TAUTWIRE_SEED={seed}"), &network);
        fitting += usize::from(all_fit);
        standing += usize::from(all_granted);
    }
    println!("{fitting} of {} fit, in {standing} something stands", seeds.len());
    let both = fitting * 5 > seeds.len() && fitting < seeds.len() && standing * 3 > seeds.len();
    assert!(seeds.len() < 150 || both, "{fitting} of {} fit, in {standing} something stands", seeds.len());
}

/// The scenarios of which all streams are granted in their runs: the result of the test for all of them together.
#[test]
fn scenarios_are_admitted_as_they_are_reserved() {
    for (name, together) in [("avb", true), ("reserved-slopes", true), ("stream-reservation", false)] {
        let path = format!("../../scenarios/{name}.yaml");
        let network = tautwire_model::load(path.as_ref()).unwrap().network.unwrap();
        assert_eq!(compared(name, &network), (together, true), "{name}");
        let asks = network.srp.iter().flat_map(|reservation| &reservation.streams);
        let names = asks.map(|one| network.streams[one.stream.index()].name.clone()).collect();
        let mut controller = Controller::new(&network, Box::new(Bandwidth::default()));
        let request = Request { mode: Mode::BestEffort, ..Request::of(Operation::Reserve, names) };
        let outcome = controller.answer(&request).unwrap().outcome;
        assert_eq!(outcome == Outcome::Granted, together, "{name}: {outcome:?}");
    }
}
