//! What TDMA serves: all streams of the network, at every port.
//!
//! Not here: what holds of a cycle (`mod.rs`), the wait (`wait.rs`), the way (`way.rs`).

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};

use super::Cycle;
use crate::explain::at_talker;
#[cfg(feature = "planted-faults")]
use crate::fault::PlantedFault;
use crate::loss::{Overflow, StatedFailure};
use crate::plan::Plan;
use crate::service::{Carried, Hosts, Misses, Served, Service, ServiceKind, Silence, Words};

/// What a station misses whose failures keep away the frames that open cycles: no slot takes its frames meanwhile.
pub const CYCLES: &str = "TDMA cycles";

/// The mechanism.
pub(crate) struct Slots;

impl ServiceKind for Slots {
    fn why_not_stepwise(&self, network: &Network) -> Option<&'static str> {
        network.tdma.as_ref().map(|_| "TDMA: all streams share its slots")
    }

    fn settles_answers(&self, network: &Network) -> bool {
        network.tdma.is_some()
    }

    /// Stations whose frames may wait for longer than their lifetime, because they receive no cycles.
    fn silences(&self, network: &Network, misses: Misses<'_>) -> Vec<Silence> {
        let Some(tdma) = network.tdma.as_ref().filter(|tdma| tdma.lifetime.is_some()) else {
            return Vec::new();
        };
        // Failures that a standby covers cost a known number of slots, with which the lifetime is compared.
        let any = Cycle::new(network, tdma).lifetime.is_some();
        let opens = [Some(tdma.synchronisation), tdma.standby.map(|standby| standby.synchronisation)];
        let is_silent = |node: &NodeIndex| {
            let mut missed = opens.iter().flatten().filter_map(|frames| misses(*frames, *node));
            let first = missed.next();
            first.is_some_and(|first| match any {
                true => first || missed.any(|misses| misses),
                false => first && missed.all(|misses| misses),
            })
        };
        let silence = |node| Silence {
            failure: StatedFailure::Misses(node, CYCLES),
            node,
            on_way: false,
            takes: |stream| !stream.traffic.is_control(),
        };
        (0..network.nodes.len()).map(NodeIndex::at).filter(is_silent).map(silence).collect()
    }

    fn serve<'network>(&self, plan: &Plan<'network>) -> Option<Box<dyn Service + 'network>> {
        let mut cycle = Cycle::new(plan.network, plan.network.tdma.as_ref()?);
        #[cfg(feature = "planted-faults")]
        cycle.plant(plan.fault);
        cycle.settle();
        Some(Box::new(cycle))
    }
}

impl Cycle<'_> {
    #[cfg(feature = "planted-faults")]
    fn plant(&mut self, fault: Option<PlantedFault>) {
        self.fault = fault;
        if fault == Some(PlantedFault::SlotErrorForgotten) {
            (self.early, self.late) = (0, 0);
        }
    }

    /// Settles what depends on itself: waits, and what hosts do.
    fn settle(&mut self) {
        if self.stacks.sending.is_empty() {
            self.settle_waits();
        } else {
            self.settle_stacks();
        }
    }

    fn streams(&self) -> impl Iterator<Item = StreamIndex> + use<> {
        (0..self.network.streams.len()).map(StreamIndex::at)
    }
}

impl Service for Cycle<'_> {
    fn carries(&self, plan: &Plan<'_>) -> Vec<(u32, Carried)> {
        self.streams().flat_map(|stream| plan.entries_of(stream.0).zip(self.carried(stream))).collect()
    }

    fn port(&self, _plan: &Plan<'_>, port: u32) -> Option<Served> {
        Some(Served::all_carried(self.classes(PortIndex(port))))
    }

    fn hosts(&self) -> Option<Hosts> {
        let responses = self.streams().map(|stream| self.response_handed(stream)).collect();
        Some(Hosts { sending: self.stacks.sending.clone(), responses })
    }

    fn overflows(&self, _plan: &Plan<'_>, found: &mut Vec<Overflow>) {
        self.add_overflows(found);
    }

    fn words(&self, plan: &Plan<'_>, entry: u32) -> Words {
        Words {
            formula: "longest wait for as many slots as frames wait + error of a slot's start + stages and lines of the way",
            source: "Zhou, end-to-end delay of switched Ethernet with TDMA, eq. 2 to 4 (the middle case of 4 corrected); \
                     no queue behind the talker",
            same: at_talker(plan, entry),
        }
    }
}
