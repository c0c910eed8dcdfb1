//! Synchronous streams at switches behind their first: memory pools, from which the switch's own schedule takes messages.
//!
//! A message that has passed the stages of such a switch waits in the pool of its stream, all its copies together, until the
//! master opens a cycle whose schedule has room for it; then its copies go to the synchronous lanes of their ports. It is
//! discarded if its pool is full, and lost if the switch stops. Not here: the schedule (`core`), the first switch (`ftt.rs`).

use std::collections::{BTreeMap, VecDeque};

use tautwire_core::harts::SynchronousScheduler;
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, StreamIndex};
use tautwire_units::Instant;

use super::ftt::Ftt;
use crate::engine::Engine;
use crate::plan::{Manners, Plan};
use crate::recorder::Recorder;
use crate::result::DropReason;

/// The pools of all switches, by node and stream.
#[derive(Default)]
pub(crate) struct Pools {
    held: BTreeMap<(u32, u32), VecDeque<Message>>,
}

/// A message in a pool.
struct Message {
    number: u32,
    /// Frames in the slab, and the hops that they are to go by.
    copies: Vec<(u32, u32)>,
}

impl Pools {
    /// Frames that wait, by their places in the slab.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = u32> + '_ {
        let messages = self.held.values().flatten();
        messages.flat_map(|message| message.copies.iter().map(|(place, _)| *place))
    }
}

/// Has frames wait in pools where their streams are relayed.
pub(crate) fn mark_relayed(network: &Network, plan: &mut Plan) {
    let Some(harts) = &network.harts else { return };
    for relayed in &harts.ftt.relayed {
        let first = plan.first_hop[relayed.stream.index()] as usize;
        for (place, hop) in network.streams[relayed.stream.index()].hops.iter().enumerate() {
            let here = network.ports[hop.port.index()].node == relayed.switch;
            plan.hops[first + place].manners.add(Manners::RELAYED, here);
        }
    }
}

/// Tells the scheduler of a switch which streams it relays from the start.
pub(crate) fn relay(network: &Network, node: usize, scheduler: &mut SynchronousScheduler) {
    let Some(harts) = &network.harts else { return };
    let stands =
        |stream| harts.admission.as_ref().is_none_or(|admission| admission.request(stream).is_none());
    let here = harts.ftt.relayed.iter().filter(|relayed| relayed.switch.index() == node);
    for relayed in here.filter(|relayed| stands(relayed.stream)) {
        assert!(scheduler.relay(relayed.config, relayed.pool), "a checked message fits its window");
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// A frame has come to the port of `hop` at a switch that relays its stream.
    pub(crate) fn hold_relayed(&mut self, place: u32, hop_index: u32) {
        let node = self.ports[self.plan.hops[hop_index as usize].port as usize]
            .as_ref()
            .expect("a hop's port is connected")
            .node;
        let frame = self.slab.get_mut(place);
        (frame.hop, frame.queued) = (hop_index, self.now);
        let (stream, number) = (frame.stream, frame.number);
        if self.may_fail && !self.nodes[node as usize].up {
            return self.drop_frame(place, DropReason::NodeDown);
        }
        let Some(ftt) = self.ftt() else { return };
        let last = pool_of(ftt, node, stream).back_mut();
        if let Some(message) = last.filter(|message| message.number == number) {
            return message.copies.push((place, hop_index));
        }
        if let Err(reason) = ftt.hold(node as usize, u16::try_from(stream).unwrap_or(u16::MAX)) {
            return self.drop_frame(place, reason);
        }
        pool_of(ftt, node, stream).push_back(Message { number, copies: vec![(place, hop_index)] });
    }

    /// A master's schedule takes a message of each of these streams, in order.
    pub(crate) fn send_relayed(&mut self, node: usize, streams: &[u16]) {
        let number = NodeIndex::at(node);
        for id in streams {
            let Some(ftt) = self.ftt() else { continue };
            let message = pool_of(ftt, number.0, u32::from(*id)).pop_front();
            for (place, hop) in message.into_iter().flat_map(|message| message.copies) {
                // While it waited, the last consumer there may have left: the schedule has no time for it at that port.
                if self.plan.hops[hop as usize].manners.has(Manners::PRUNED) {
                    self.filter(place, hop);
                } else {
                    self.put(place, hop, Instant::ZERO);
                }
            }
        }
    }

    /// A stream was given back: what is left of it at a switch has nowhere to go.
    pub(crate) fn drop_relayed(&mut self, node: usize, stream: StreamIndex) {
        let key = (NodeIndex::at(node).0, stream.0);
        let left = self.ftt().and_then(|ftt| ftt.pools.held.remove(&key)).unwrap_or_default();
        for (place, _) in left.into_iter().flat_map(|message| message.copies) {
            self.drop_frame(place, DropReason::NoRoute);
        }
    }

    /// A switch stops: what its pools hold is lost.
    pub(crate) fn lose_relayed(&mut self, node: usize) {
        let Some(ftt) = self.ftt() else { return };
        ftt.empty_pools(node);
        let held = ftt.pools.held.iter_mut().filter(|((at, _), _)| *at as usize == node);
        let messages: Vec<Message> = held.flat_map(|(_, pool)| std::mem::take(pool)).collect();
        for (place, _) in messages.into_iter().flat_map(|message| message.copies) {
            self.drop_frame(place, DropReason::NodeDown);
        }
    }
}

fn pool_of(ftt: &mut Ftt, node: u32, stream: u32) -> &mut VecDeque<Message> {
    ftt.pools.held.entry((node, stream)).or_default()
}
