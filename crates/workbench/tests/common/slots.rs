//! Runs of networks with TDMA, and what is wrong with one.

use std::collections::HashSet;

use tautwire_sim::{Observation, Recorder, SimTime};
use tautwire_units::Duration;
use tautwire_workbench::{Bounds, Network, Options, simulate_with, verify};

/// A run, and what is wrong with it.
pub(crate) struct Slots {
    pub(crate) observation: Observation,
    /// Each a sentence.
    pub(crate) wrong: Vec<String>,
}

/// Received frames of listeners, and the datagrams that they report as complete.
struct Datagrams<'network> {
    network: &'network Network,
    came: HashSet<(u32, u32, u32)>,
    wrong: Vec<String>,
}

impl Recorder for Datagrams<'_> {
    fn takes_transmissions(&self) -> bool {
        false
    }

    fn delivered(&mut self, _: SimTime, stream: u32, listener: u32, number: u32, _: Duration) {
        if self.network.streams[stream as usize].datagrams.is_some() {
            self.came.insert((stream, listener, number));
        }
    }

    fn reassembled(&mut self, _: SimTime, stream: u32, listener: u32, datagram: u32, _: Duration) {
        let of = &self.network.streams[stream as usize];
        let count = of.datagrams.expect("a stream of datagrams").fragments();
        let missing =
            (0..count).filter(|place| !self.came.contains(&(stream, listener, datagram * count + place)));
        if missing.count() > 0 {
            self.wrong.push(format!("datagram {datagram} of {} is not whole", of.name));
        }
    }
}

/// Runs a network and compares the run with its bounds: no frame too late, no incomplete datagram reported as complete.
pub(crate) fn run_slots(network: &Network, bounds: &Bounds, seed: u64) -> Slots {
    let mut datagrams = Datagrams { network, came: HashSet::new(), wrong: Vec::new() };
    let mut options = Options { seed: Some(seed), ..Options::default() };
    let observation = simulate_with(network, &mut options, &mut datagrams);
    let mut wrong = datagrams.wrong;
    wrong.extend(verify(network, bounds, &observation).contradictions.iter().map(ToString::to_string));
    for (stream, observed) in network.streams.iter().zip(&observation.streams) {
        for seen in observed.listeners.iter().filter_map(|listener| listener.datagrams.as_ref()) {
            if seen.reassembled + seen.given_up > seen.sent {
                wrong.push(format!(
                    "{}: {} datagrams of {}",
                    stream.name,
                    seen.reassembled + seen.given_up,
                    seen.sent
                ));
            }
        }
    }
    Slots { observation, wrong }
}
