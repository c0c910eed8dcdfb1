//! The ways of streams through nodes, looked up by stream and port of reception.

use std::collections::HashMap;

use tautwire_model::Network;
use tautwire_model::network::{PortIndex, StreamIndex};

/// The hop by which a stream comes to a port, and the hops behind its node.
#[derive(Debug)]
pub(crate) struct Plan {
    /// By stream and port of reception.
    by: HashMap<(u32, u32), u32>,
    /// By stream: first of its hops in `behind`; behind it, for the talker, the hops without one before.
    first: Vec<usize>,
    behind: Vec<Vec<u32>>,
}

impl Plan {
    pub(crate) fn new(network: &Network) -> Self {
        let mut plan = Self { by: HashMap::new(), first: Vec::new(), behind: Vec::new() };
        for (number, stream) in network.streams.iter().enumerate() {
            plan.first.push(plan.behind.len());
            let mut behind = vec![Vec::new(); stream.hops.len() + 1];
            for (place, hop) in stream.hops.iter().enumerate() {
                let place = u32::try_from(place).expect("hops are counted in u32");
                behind[hop.previous.map_or(0, |previous| previous as usize + 1)].push(place);
                let link = network.ports[hop.port.index()].links.expect("a hop's port is connected").egress;
                let to = network.links[link.index()].to;
                plan.by.insert((StreamIndex::at(number).0, to.0), place);
            }
            plan.behind.append(&mut behind);
        }
        plan
    }

    /// By which of its hops a stream comes to a port.
    pub(crate) fn hop_to(&self, stream: u32, port: PortIndex) -> Option<u32> {
        self.by.get(&(stream, port.0)).copied()
    }

    /// The hops behind a hop; behind the talker, if none.
    pub(crate) fn behind(&self, stream: u32, hop: Option<u32>) -> &[u32] {
        &self.behind[self.first[stream as usize] + hop.map_or(0, |hop| hop as usize + 1)]
    }
}
