//! The record of a run for a search: when frames are created, and when they reach the ports on the path of a victim.

use tautwire_model::Network;
use tautwire_sim::{Recorder, SimTime, Transmission};

/// Frames of a run at some ports.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// Per port whether it is on the way.
    wanted: Vec<bool>,
    first_hop: Vec<usize>,
    /// Per stream, by number.
    created: Vec<Vec<u64>>,
    /// Per hop of all streams: number, when it came to those that wait for the line, and when it was selected.
    arrived: Vec<Vec<(u32, u64, u64)>>,
}

/// Frames of a stream that were created at one instant, at a hop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bunch {
    /// When they were created.
    pub(crate) created: u64,
    /// When the first reached the port.
    pub(crate) first: u64,
    /// When the last did.
    pub(crate) last: u64,
}

impl Record {
    pub(crate) fn new(network: &Network, wanted: Vec<bool>) -> Self {
        let mut first_hop = Vec::with_capacity(network.streams.len());
        let mut hops = 0;
        for stream in &network.streams {
            first_hop.push(hops);
            hops += stream.hops.len();
        }
        Self {
            wanted,
            first_hop,
            created: vec![Vec::new(); network.streams.len()],
            arrived: vec![Vec::new(); hops],
        }
    }

    /// When a frame reached the port of a hop.
    pub(crate) fn arrived(&self, stream: usize, hop: usize, number: u32) -> Option<u64> {
        let list = &self.arrived[self.first_hop[stream] + hop];
        list.iter().find(|(one, ..)| *one == number).map(|(_, at, _)| *at)
    }

    /// When a frame was selected at the port of a hop.
    pub(crate) fn selected(&self, stream: usize, hop: usize, number: u32) -> Option<u64> {
        let list = &self.arrived[self.first_hop[stream] + hop];
        list.iter().find(|(one, ..)| *one == number).map(|(.., at)| *at)
    }

    /// The first frame that was created at `time` or later, or the last one.
    pub(crate) fn frame_from(&self, stream: usize, time: u64) -> Option<u32> {
        let list = &self.created[stream];
        let found = list.iter().position(|at| *at >= time).or_else(|| list.len().checked_sub(1));
        found.and_then(|number| u32::try_from(number).ok())
    }

    /// The bunch of a stream with the frame that reaches a hop nearest to `time`.
    pub(crate) fn nearest(&self, stream: usize, hop: usize, time: u64) -> Option<Bunch> {
        let list = &self.arrived[self.first_hop[stream] + hop];
        let created = |number: u32| self.created[stream].get(number as usize).copied();
        let (number, ..) = list.iter().min_by_key(|(_, at, _)| at.abs_diff(time))?;
        let of = created(*number)?;
        let near = list.iter().filter(|(one, ..)| created(*one) == Some(of)).map(|(_, at, _)| *at);
        Some(Bunch { created: of, first: near.clone().min()?, last: near.max()? })
    }
}

impl Recorder for Record {
    fn created(&mut self, time: SimTime, stream: u32, number: u32, _octets: u32) {
        let list = &mut self.created[stream as usize];
        // A repeat of a stuck sender has the number of the frame that it repeats.
        if list.len() > number as usize {
            return;
        }
        list.resize(number as usize, 0);
        list.push(time.as_ps());
    }

    fn transmitted(&mut self, transmission: &Transmission) {
        if self.wanted[transmission.port as usize] {
            let hop = self.first_hop[transmission.stream as usize] + transmission.hop as usize;
            let (released, selected) = (transmission.released.as_ps(), transmission.selected.as_ps());
            self.arrived[hop].push((transmission.number, released, selected));
        }
    }
}
