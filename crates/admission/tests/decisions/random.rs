//! What is admitted keeps its deadlines, on random networks; what is refused changes nothing.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::PathBuf;

use tautwire_admission::{
    AdmissionTest, Bandwidth, Controller, Decision, EndToEndBounds, Mode, Operation, Outcome, Request,
};
use tautwire_generate::{Dice, random_network};
use tautwire_model::Network;
use tautwire_model::network::StreamIndex;
use tautwire_sim::Options;
use tautwire_units::Duration;

/// A random network whose streams have deadlines somewhat below, or above, the proven bounds of all of them.
fn network(seed: u64) -> Network {
    let network = tautwire_model::load_text("random", &random_network(seed)).network.unwrap();
    let mut dice = Dice::new(seed);
    let bounds = tautwire_analysis::bounds_by(&network, tautwire_analysis::Accuracy::Curves);
    network.altered(|parts| {
        for (stream, proven) in parts.streams.iter_mut().zip(&bounds.streams) {
            let worst = proven.listeners.iter().filter_map(|listener| listener.delay.as_ref().ok()).max();
            let percent = dice.between(60, 120);
            stream.deadline = worst.map(|worst| Duration::from_ps(worst.as_ps() / 100 * percent));
        }
        // A timeline changes streams behind the admission's back.
        parts.events.clear();
    })
}

fn request(op: Operation, streams: &[&str], mode: Mode) -> Request {
    let streams = streams.iter().map(|name| (*name).to_owned()).collect();
    Request { mode, ..Request::of(op, streams) }
}

fn cases() -> u64 {
    tautwire_generate::cases(2_000) / 5
}

#[test]
fn no_admitted_stream_is_late() {
    let (mut admitted, mut refused) = (0, 0);
    for seed in 0..cases() {
        let network = network(seed);
        let mut controller = Controller::new(&network, Box::new(EndToEndBounds));
        for stream in &network.streams {
            let reserve = request(Operation::Reserve, &[&stream.name], Mode::AllOrNothing);
            let before = controller.admitted().to_vec();
            let foreseen = controller.answer(&Request { op: Operation::WhatIf, ..reserve.clone() }).unwrap();
            assert_eq!(controller.admitted(), before, "what-if changes nothing");
            let decision = controller.answer(&reserve).unwrap();
            assert_eq!(decision, foreseen);
            if decision.outcome == Outcome::Refused {
                assert_eq!(controller.admitted(), before, "a refusal changes nothing");
                refused += 1;
            } else {
                admitted += 1;
            }
        }
        let running = network.with_only(controller.admitted());
        let observation = tautwire_sim::run(&running, &mut Options::default());
        for (stream, observed) in running.streams.iter().zip(&observation.streams) {
            let late: u64 = observed.listeners.iter().map(|listener| listener.late).sum();
            assert_eq!(late, 0, "seed {seed}: {}", stream.name);
        }
    }
    assert!(admitted * 10 > refused && refused * 10 > admitted, "{admitted} admitted, {refused} refused");
}

/// Streams come, go and replace each other: each decision is the one of the complete analysis of the network without
/// slack, and nothing is ever admitted with a deadline that it does not prove.
#[test]
fn decisions_are_those_of_the_complete_analysis() {
    let (mut granted, mut refused) = (0, 0);
    for seed in 0..cases() / 4 {
        let network = network(seed);
        let mut dice = Dice::new(seed);
        let mut controller = Controller::new(&network, Box::new(EndToEndBounds));
        for _ in 0..40 {
            let draw = |dice: &mut Dice| dice.between(0, network.streams.len() as u64 - 1) as usize;
            let (one, other) = (draw(&mut dice), draw(&mut dice));
            let before = controller.admitted().to_vec();
            let is_admitted = |place: usize| before.contains(&StreamIndex::at(place));
            let name = |place: usize| network.streams[place].name.as_str();
            let asked = match (is_admitted(one), is_admitted(other)) {
                (true, _) if dice.chance(60) => {
                    request(Operation::Withdraw, &[name(one)], Mode::AllOrNothing)
                }
                (true, false) => Request {
                    instead_of: vec![name(one).to_owned()],
                    ..request(Operation::Replace, &[name(other)], Mode::AllOrNothing)
                },
                (false, _) => request(Operation::Reserve, &[name(one)], Mode::AllOrNothing),
                (true, true) => continue,
            };
            let decision = controller.answer(&asked).unwrap();
            if asked.op == Operation::Withdraw {
                assert_eq!(decision.outcome, Outcome::Granted);
                continue;
            }
            let new = if asked.op == Operation::Replace { other } else { one };
            let gone = (asked.op == Operation::Replace).then_some(StreamIndex::at(one));
            let mut streams: Vec<_> = before.iter().copied().filter(|stream| Some(*stream) != gone).collect();
            streams.push(StreamIndex::at(new));
            let exact = EndToEndBounds.refuse(&network, &streams);
            assert_eq!(
                decision.outcome == Outcome::Granted,
                exact.is_none(),
                "seed {seed}: {asked:?}, {exact:?}"
            );
            if exact.is_none() {
                granted += 1;
            } else {
                assert_eq!(controller.admitted(), before, "a refusal changes nothing");
                refused += 1;
            }
        }
    }
    assert!(granted * 10 > refused && refused * 10 > granted, "{granted} granted, {refused} refused");
}

#[test]
fn a_controller_that_starts_again_goes_on() {
    for seed in 0..20 {
        let network = network(seed);
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("admission-{seed}"));
        let _ = std::fs::remove_dir_all(&folder);
        let mut dice = Dice::new(seed);
        let mut anew = Controller::new(&network, Box::new(EndToEndBounds));
        for number in 0..12 {
            // Opened anew for every request.
            let test = Box::new(EndToEndBounds);
            let mut kept = Controller::with_log(&network, test, &folder).unwrap();
            let name = &network.streams[dice.between(0, network.streams.len() as u64 - 1) as usize].name;
            let op = if dice.chance(30) { Operation::Withdraw } else { Operation::Reserve };
            let id = Some(format!("r{}", number / 2));
            let asked = Request { id, ..request(op, &[name], Mode::AllOrNothing) };
            assert_eq!(kept.answer(&asked).unwrap(), anew.answer(&asked).unwrap());
            assert_eq!(kept.admitted(), anew.admitted());
        }
    }
}

/// Largest frames of 250 octets of payload every 125 us are 18.752 Mbit/s; 40 Mbit/s hold two of them.
#[test]
fn bandwidth_is_that_of_stream_reservation() {
    let text = "
allow: [class::overload]
vlans: {1: {tagged: all}}
defaults: {rate: 100 Mbit/s, traffic-class-table: identity, classes: {5: {transmission-selection: credit-based, idle-slope: 40 Mbit/s}}}
nodes: {a: {type: end-station}, b: {type: end-station}, s: {type: bridge}}
links: [{between: [a, s]}, {between: [b, s]}]
streams:
  - {name: x, talker: a, listeners: b, priority: 5, payload: 250 B, traffic: {type: periodic, interval: 125 us}}
  - {name: y, talker: a, listeners: b, priority: 5, payload: 250 B, traffic: {type: periodic, interval: 125 us}}
  - {name: z, talker: a, listeners: b, priority: 5, payload: 250 B, traffic: {type: periodic, interval: 125 us}}
  - {name: plain, talker: a, listeners: b, priority: 3, payload: 250 B, traffic: {type: periodic, interval: 125 us}}
";
    let network = tautwire_model::load_text("bandwidth", text).network.unwrap();
    let mut controller = Controller::new(&network, Box::new(Bandwidth::default()));
    let mut ask = |name| -> Decision {
        controller.answer(&request(Operation::Reserve, &[name], Mode::AllOrNothing)).unwrap()
    };
    assert_eq!([ask("x").outcome, ask("y").outcome], [Outcome::Granted; 2]);
    let json = ask("z").to_json();
    assert!(json.contains(r#""port":"a."#) && json.contains(r#""wanted_bps":18752000"#), "{json}");
    assert!(json.contains(r#""left_bps":2496000"#), "{json}");
    assert!(ask("plain").to_json().contains("no-reservation"));
    let test: &dyn AdmissionTest = &Bandwidth { reservable_percent: 10, ..Bandwidth::default() };
    assert!(test.refuse(&network, &[StreamIndex::at(0)]).is_some());
}
