//! A run of virtual links, watched for what overwriting promises: only an older message is lost to a newer one.

use tautwire_sim::{DropReason, NoRecorder, Observation, Recorder, SimTime};
use tautwire_workbench::{Network, Options};

/// The newest message of each stream, and each that was overwritten though it was the newest.
struct Newest<'network> {
    network: &'network Network,
    created: Vec<u32>,
    found: Vec<String>,
}

impl Recorder for Newest<'_> {
    const TAKES_TRANSMISSIONS: bool = NoRecorder::TAKES_TRANSMISSIONS;

    fn created(&mut self, _: SimTime, stream: u32, number: u32, _: u32) {
        self.created[stream as usize] = number;
    }

    fn dropped(&mut self, _: SimTime, stream: u32, number: u32, _: u32, reason: DropReason) {
        if reason == DropReason::Overwritten && number == self.created[stream as usize] {
            let name = &self.network.streams[stream as usize].name;
            self.found.push(format!("{name}: its newest message, {number}, was overwritten"));
        }
    }
}

/// A run by the network's own settings, and the newest messages that it overwrote, each a sentence.
pub(crate) fn run_links(network: &Network) -> (Observation, Vec<String>) {
    let mut newest = Newest { network, created: vec![0; network.streams.len()], found: Vec::new() };
    let observation = tautwire_sim::run_with(network, &mut Options::default(), &mut newest);
    (observation, newest.found)
}
