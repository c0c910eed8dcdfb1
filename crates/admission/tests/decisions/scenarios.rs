//! The tests of admission on the scenarios: the test by bounds decides on all streams together as the bounds of the
//! network by curves, with the frames of its protocols.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::PathBuf;

use tautwire_admission::{AdmissionTest, Controller, EndToEndBounds, Mode, Operation, Outcome, Request};
use tautwire_analysis::{Accuracy, ListenerBounds, bounds_by, losses};
use tautwire_generate::{
    As6802Failures, Dice, TdmaFailure, random_as6802, random_gptp, random_gptp_servo, random_harts_admission,
    random_stream_reservation, random_tdma, random_vlan_registration, seeds,
};
use tautwire_model::Network;
use tautwire_model::network::{StreamIndex, Traffic};
use tautwire_units::Duration;

/// The kept scenarios, by name.
fn scenarios() -> Vec<(String, Network)> {
    let folder = PathBuf::from("../../scenarios");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == "yaml")).collect();
    files.sort();
    let read = |path: &PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        Some((name, tautwire_model::load(path).unwrap().network?))
    };
    files.iter().filter_map(read).collect()
}

/// The description of a seed.
type Described = fn(u64) -> String;

/// Streams that may be requested.
fn asking(network: &Network) -> Vec<StreamIndex> {
    let all = (0..network.streams.len()).map(StreamIndex::at);
    all.filter(|stream| !network.streams[stream.index()].traffic.is_control()).collect()
}

/// Whether all requested streams are proven together, on which the test and the bounds of the network must agree.
fn judged(name: &str, network: &Network) -> bool {
    let all = bounds_by(network, Accuracy::Curves);
    let losses = losses(network, &all);
    let is_late = |stream: &StreamIndex| {
        let (described, bounds) = (&network.streams[stream.index()], &all.streams[stream.index()]);
        let wanted = described.deadline;
        let holds = |listener: &ListenerBounds| {
            listener.delay.as_ref().is_ok_and(|most| wanted.is_none_or(|wanted| *most <= wanted))
        };
        let asks = wanted.is_some() || described.traffic == Traffic::Polled;
        let lost = |listener| losses.may_be_lost(*stream, listener);
        asks && (!bounds.listeners.iter().all(holds) || (0..bounds.listeners.len()).any(lost))
    };
    let streams = asking(network);
    let late: Vec<&StreamIndex> = streams.iter().filter(|stream| is_late(stream)).collect();
    let refusal = EndToEndBounds.refuse(network, &streams);
    assert_eq!(refusal.is_some(), !late.is_empty(), "{name}: {late:?}, {refusal:?}");
    // The same by a test that goes on from what it knows.
    let names = streams.iter().map(|stream| network.streams[stream.index()].name.clone()).collect();
    let mut controller = Controller::new(network, Box::new(EndToEndBounds));
    let request = Request { mode: Mode::AllOrNothing, ..Request::of(Operation::Reserve, names) };
    let decision = controller.answer(&request).unwrap();
    assert_eq!(decision.outcome == Outcome::Granted, late.is_empty(), "{name}: {:?}", decision.refused);
    late.is_empty()
}

#[test]
fn all_together_are_judged_as_by_the_bounds_of_the_network() {
    let judged: Vec<bool> = scenarios().iter().map(|(name, network)| judged(name, network)).collect();
    let proven = judged.iter().filter(|proven| **proven).count();
    assert!(proven > 20 && judged.len() - proven > 2, "{proven} of {} proven", judged.len());
}

/// In random networks with protocols, with deadlines of somewhat less or more than is proven.
#[test]
fn random_networks_with_protocols_are_judged_alike() {
    let kinds: [(&str, Described); 7] = [
        ("reserved", random_stream_reservation),
        ("gptp", |seed| random_gptp(seed).0),
        ("servo", |seed| random_gptp_servo(seed, false)),
        ("harts", random_harts_admission),
        ("vlans", random_vlan_registration),
        ("as6802", |seed| random_as6802(seed, As6802Failures::None)),
        ("tdma", |seed| random_tdma(seed, TdmaFailure::Nothing)),
    ];
    let (mut proven, mut missed) = (0, 0);
    for seed in seeds(40) {
        for (kind, describe) in kinds {
            // Some request more than a line has.
            let Some(network) = tautwire_model::load_text(kind, &describe(seed)).network else {
                continue;
            };
            let mut dice = Dice::new(seed);
            let before = bounds_by(&network, Accuracy::Curves);
            let network = network.altered(|parts| {
                for (stream, bounds) in parts.streams.iter_mut().zip(&before.streams) {
                    let worst = bounds.listeners.iter().filter_map(|one| one.delay.as_ref().ok()).max();
                    let percent = dice.between(98, 140);
                    let deadline = worst.map(|worst| Duration::from_ps(worst.as_ps() / 100 * percent));
                    stream.deadline = deadline.filter(|_| !stream.traffic.is_control());
                }
            });
            let held = judged(&format!("{kind}, seed {seed}"), &network);
            *(if held { &mut proven } else { &mut missed }) += 1;
        }
    }
    println!("{proven} proven, {missed} not");
    assert!(proven > 20 && missed > 20, "{proven} proven, {missed} not");
}
