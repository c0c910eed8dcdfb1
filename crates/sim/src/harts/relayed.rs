//! Synchronous streams at switches behind their first: their messages wait in pools, from which the switch's own schedule takes them.
//!
//! A message waits until the master opens a cycle whose schedule has room for it; then its copies go to the synchronous lanes of their
//! ports. Not here: the pools (`control/plane/holding.rs`), the schedule (`core`), the first switch (`ftt.rs`).

use tautwire_core::harts::SynchronousScheduler;
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, StreamIndex};

use crate::control::Holding;
use crate::engine::Engine;
use crate::recorder::Recorder;

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
    /// A master is told which messages have come to its pools since its last cycle.
    pub(super) fn count_held(&mut self, node: usize) {
        let network = self.network;
        let relayed = network.harts.iter().flat_map(|harts| &harts.ftt.relayed);
        for relayed in relayed.filter(|relayed| relayed.switch.index() == node) {
            let pooled = self.pooled(relayed.switch, relayed.stream);
            let id = u16::try_from(relayed.stream.index()).unwrap_or(u16::MAX);
            let Some(master) = self.ftt().and_then(|ftt| ftt.masters[node].as_mut()) else { continue };
            while master.scheduler.held(id) < pooled && master.scheduler.hold(id) {}
        }
    }

    /// A master's schedule takes a message of each of these streams, in order.
    pub(super) fn send_relayed(&mut self, node: usize, streams: &[u16]) {
        for id in streams {
            self.let_go(NodeIndex::at(node), StreamIndex(u32::from(*id)));
        }
        self.catch_up();
    }
}
