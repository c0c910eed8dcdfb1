//! Frames that a bridge holds instead of its ports: each stream in a pool of its own, until a mechanism releases a message.
//!
//! A message that has passed the stages of the bridge waits in its stream's pool, all its copies together; then they
//! go to their ports. It is discarded if its pool is full or there is none, and lost if the bridge stops. Not here:
//! frames that a mechanism takes instead of their talker's port (`handing_down.rs`).

use std::collections::{BTreeMap, VecDeque};

use tautwire_model::network::{NodeIndex, StreamIndex};
use tautwire_units::Instant;

use crate::control::controls::Deferred;
use crate::engine::Engine;
use crate::plan::HopFlags;
use crate::recorder::Recorder;
use crate::result::DropReason;

/// The actions of a mechanism on memory pools of bridges.
pub trait Pooling {
    /// Frames of a stream that reach ports of a bridge wait in a pool of so many messages there; none: there is no
    /// pool, and frames left in it have no destination. From now on no frame of the stream goes to those ports by
    /// itself.
    fn set_pool(&mut self, bridge: NodeIndex, stream: StreamIndex, messages: Option<u32>);

    /// Messages that wait in a pool.
    fn pooled(&self, bridge: NodeIndex, stream: StreamIndex) -> u32;

    /// Messages that a bridge has discarded because their pools were full.
    fn overflowed(&self, bridge: NodeIndex) -> u64;

    /// The first message of a pool goes to its ports, after the calling runner has acted.
    fn let_go(&mut self, bridge: NodeIndex, stream: StreamIndex);
}

/// The pools of all bridges.
#[derive(Debug, Default)]
pub(crate) struct Pools {
    /// By bridge and stream.
    pools: BTreeMap<(u32, u32), Pool>,
    /// By bridge.
    overflowed: BTreeMap<u32, u64>,
}

#[derive(Debug, Default)]
struct Pool {
    /// Messages that it may hold; none if there is no pool.
    size: Option<u32>,
    messages: VecDeque<Message>,
}

/// A message in a pool.
#[derive(Debug)]
struct Message {
    number: u32,
    /// Frames in the slab, and the hops that they are to go by.
    copies: Vec<(u32, u32)>,
}

impl Pools {
    /// Frames that wait, by their places in the slab.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = u32> + '_ {
        let messages = self.pools.values().flat_map(|pool| &pool.messages);
        messages.flat_map(|message| message.copies.iter().map(|(place, _)| *place))
    }

    /// Messages that a bridge has discarded.
    pub(crate) fn overflowed(&self, bridge: NodeIndex) -> u64 {
        self.overflowed.get(&bridge.0).copied().unwrap_or(0)
    }

    /// Takes a copy of a message; why it cannot stay.
    fn take(&mut self, key: (u32, u32), number: u32, copy: (u32, u32)) -> Result<(), DropReason> {
        let pool = self.pools.get_mut(&key).ok_or(DropReason::NoRoute)?;
        if let Some(message) = pool.messages.back_mut().filter(|message| message.number == number) {
            message.copies.push(copy);
            return Ok(());
        }
        if pool.messages.len() as u64 >= u64::from(pool.size.ok_or(DropReason::NoRoute)?) {
            *self.overflowed.entry(key.0).or_default() += 1;
            return Err(DropReason::QueueFull);
        }
        pool.messages.push_back(Message { number, copies: vec![copy] });
        Ok(())
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Pooling for Engine<'_, R, PLUGGED> {
    fn set_pool(&mut self, bridge: NodeIndex, stream: StreamIndex, messages: Option<u32>) {
        let network = self.network;
        let first = self.plan.first_hop[stream.index()] as usize;
        for (place, hop) in network.streams[stream.index()].hops.iter().enumerate() {
            let here = network.ports[hop.port.index()].node == bridge;
            self.plan.hops[first + place].flags.add(HopFlags::POOLED, here);
        }
        let pool = self.plugged().pools.pools.entry((bridge.0, stream.0)).or_default();
        pool.size = messages;
        let left = if messages.is_none() { std::mem::take(&mut pool.messages) } else { VecDeque::new() };
        for (place, _) in left.into_iter().flat_map(|message| message.copies) {
            self.drop_frame(place, DropReason::NoRoute);
        }
    }

    fn pooled(&self, bridge: NodeIndex, stream: StreamIndex) -> u32 {
        let pool = self.plugged.as_ref().and_then(|plugged| plugged.pools.pools.get(&(bridge.0, stream.0)));
        pool.map_or(0, |pool| u32::try_from(pool.messages.len()).unwrap_or(u32::MAX))
    }

    fn overflowed(&self, bridge: NodeIndex) -> u64 {
        self.plugged.as_ref().map_or(0, |plugged| plugged.pools.overflowed(bridge))
    }

    fn let_go(&mut self, bridge: NodeIndex, stream: StreamIndex) {
        let pool = self.plugged().pools.pools.get_mut(&(bridge.0, stream.0));
        if let Some(message) = pool.and_then(|pool| pool.messages.pop_front()) {
            self.plugged().controls.deferred.push_back(Deferred::LetGo(message.copies));
        }
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// A frame has come to the port of `hop` at a bridge that holds its stream.
    pub(crate) fn pool(&mut self, place: u32, hop_index: u32) {
        let port = self.plan.hops[hop_index as usize].port as usize;
        let node = self.ports[port].as_ref().expect("a hop's port is connected").node;
        let frame = self.slab.get_mut(place);
        (frame.hop, frame.queued) = (hop_index, self.now);
        let (stream, number) = (frame.stream, frame.number);
        if self.may_fail && !self.nodes[node as usize].up {
            return self.drop_frame(place, DropReason::NodeDown);
        }
        let taken = self.plugged().pools.take((node, stream), number, (place, hop_index));
        if let Err(reason) = taken {
            self.drop_frame(place, reason);
        }
    }

    /// Copies of a message that was held go to their ports.
    pub(in crate::control) fn put_pooled(&mut self, copies: Vec<(u32, u32)>) {
        for (place, hop) in copies {
            // While it waited, the last listener there may have left.
            if self.plan.hops[hop as usize].flags.has(HopFlags::PRUNED) {
                self.filter(place, hop);
            } else {
                self.put(place, hop, Instant::ZERO);
            }
        }
    }

    /// A bridge stops: what its pools hold is lost.
    pub(crate) fn lose_pooled(&mut self, node: usize) {
        let pools = self.plugged().pools.pools.iter_mut().filter(|((at, _), _)| *at as usize == node);
        let messages: Vec<Message> = pools.flat_map(|(_, pool)| std::mem::take(&mut pool.messages)).collect();
        for (place, _) in messages.into_iter().flat_map(|message| message.copies) {
            self.drop_frame(place, DropReason::NodeDown);
        }
    }
}
