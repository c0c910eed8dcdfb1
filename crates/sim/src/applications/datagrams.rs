//! Datagrams of several frames in a run: put together where they are received, and observed.
//!
//! Every end station has a machine for all that it receives, which forgets everything when the station fails.
//! Invariant: a reassembled datagram has the length of the sent one. Not here: how datagrams are cut
//! (`tautwire-model`, `datagram.rs`), the path of their frames.

use tautwire_core::fragment::Reassembly;
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, StreamIndex};

use crate::clock::SimTime;
use crate::engine::Engine;
use crate::recorder::Recorder;
use crate::result::{DatagramObservation, Observation};

/// All that is put together in a run.
pub(super) struct Datagrams {
    /// Per node; none of a bridge.
    rooms: Vec<Option<Reassembly>>,
    /// Per stream, if it has datagrams, per listener.
    seen: Vec<Option<Vec<DatagramObservation>>>,
    warm_up: SimTime,
}

impl Datagrams {
    pub(crate) fn new(network: &Network) -> Self {
        let seen = network.streams.iter().map(|stream| {
            let each = stream.listeners.iter().map(|_| DatagramObservation::default());
            stream.datagrams.map(|_| each.collect())
        });
        Self {
            rooms: (0..network.nodes.len()).map(|node| network.reassembly(NodeIndex::at(node))).collect(),
            seen: seen.collect(),
            warm_up: SimTime::ZERO + network.run.warm_up,
        }
    }

    /// A node has failed, or is back.
    pub(crate) fn forget(&mut self, node: usize) {
        if let Some(room) = &mut self.rooms[node] {
            room.clear();
        }
    }

    /// Puts what was observed to the rest.
    pub(crate) fn finish(self, network: &Network, observation: &mut Observation) {
        for (number, seen) in self.seen.into_iter().enumerate() {
            let observed = &mut observation.streams[number];
            let frames = u64::from(network.frames_a_message(StreamIndex::at(number)));
            let sent = observed.created.div_ceil(frames);
            for (listener, seen) in observed.listeners.iter_mut().zip(seen.into_iter().flatten()) {
                listener.datagrams = Some(Box::new(DatagramObservation { sent, ..seen }));
            }
        }
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// A listener has received a frame: whether its message is complete now.
    pub(crate) fn reassemble(
        &mut self,
        stream: u32,
        listener: u32,
        number: u32,
        created: SimTime,
        time: SimTime,
    ) -> bool {
        let (index, network) = (StreamIndex(stream), self.network);
        let of = &network.streams[index.index()];
        let Some(cut) = of.datagrams else { return true };
        let node = of.listeners[listener as usize];
        let datagrams = &mut self.plugged().applications.datagrams;
        let room = datagrams.rooms[node.index()].as_mut().expect("a listener is an end station");
        let piece = cut.piece(index, number);
        let taken = room.take(piece);
        if let Some((source, _)) = taken.given_up {
            let of_source = datagrams.seen[source as usize].as_mut().expect("pieces of datagrams");
            let place = network.streams[source as usize].listeners.iter().position(|one| *one == node);
            of_source[place.expect("who holds pieces of it listens")].given_up += 1;
        }
        if taken.complete.is_none() {
            return false;
        }
        let delay = time.since(created);
        let datagrams = &mut self.plugged().applications.datagrams;
        let warm_up = datagrams.warm_up;
        let seen = datagrams.seen[index.index()].as_mut().expect("pieces of datagrams");
        let seen = &mut seen[listener as usize];
        seen.reassembled += 1;
        seen.max = seen.max.max(delay);
        if created >= warm_up {
            seen.delay.add(delay);
        }
        self.recorder.reassembled(time, stream, listener, piece.datagram, delay);
        true
    }
}
