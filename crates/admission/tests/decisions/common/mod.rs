//! Random networks with deadlines, and the sets of streams that a test admits in them.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test uses its part, and may stop at the first surprise"
)]

use tautwire_admission::{AdmissionTest, Controller, Operation, Request};
use tautwire_generate::Dice;
use tautwire_model::Network;
use tautwire_sim::{NoRecorder, Options};
use tautwire_units::Duration;

pub fn cases() -> u64 {
    tautwire_generate::cases(2_000) / 25
}

/// A network whose streams have deadlines of `percent` of the proven bounds of all together.
pub fn with_deadlines(text: &str, seed: u64, percent: (u64, u64)) -> Network {
    let network = tautwire_model::load_text("random", text).network.unwrap();
    let mut dice = Dice::new(seed);
    let bounds = tautwire_analysis::bounds(&network);
    network.altered(|parts| {
        for (stream, proven) in parts.streams.iter_mut().zip(&bounds.streams) {
            let worst = proven.listeners.iter().filter_map(|listener| listener.delay.as_ref().ok()).max();
            let part = dice.between(percent.0, percent.1);
            stream.deadline = worst.map(|worst| Duration::from_ps(worst.as_ps() / 100 * part));
        }
        parts.events.clear();
    })
}

/// Frames that come later than their deadlines in a run.
pub fn late(network: &Network) -> u64 {
    let observation = if tautwire_sim::is_plain(network) {
        tautwire_sim::run(network, &mut Options::default())
    } else {
        tautwire_sim::run_with(network, &mut Options::default(), &mut NoRecorder)
    };
    observation.streams.iter().flat_map(|stream| &stream.listeners).map(|listener| listener.late).sum()
}

/// Sets that a test admits one stream after the other, and of them those that miss a deadline in a run.
pub fn counterexamples(
    test: impl Fn() -> Box<dyn AdmissionTest>,
    network: impl Fn(u64) -> Network,
) -> (usize, Vec<u64>) {
    let (mut sets, mut found) = (0, Vec::new());
    for seed in 0..cases() {
        let network = network(seed);
        let mut controller = Controller::new(&network, test());
        for stream in &network.streams {
            controller.answer(&Request::of(Operation::Reserve, vec![stream.name.clone()])).unwrap();
        }
        if controller.admitted().is_empty() {
            continue;
        }
        sets += 1;
        if late(&network.with_only(controller.admitted())) > 0 {
            found.push(seed);
        }
    }
    (sets, found)
}
