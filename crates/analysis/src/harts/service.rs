//! The service of HaRTES: all streams of the network, by windows and servers of bridges, and at the ports of talkers.
//!
//! Not here: the bounds at a hop (`hops.rs`).

use tautwire_model::Network;
use tautwire_model::network::{PortIndex, StreamIndex};

use super::Servers;
use crate::explain::at_talker;
use crate::loss::Overflow;
use crate::plan::Plan;
use crate::result::ClassBounds;
use crate::service::{Carried, Hosts, Served, Service, ServiceKind, Words};

/// The mechanism.
pub(crate) struct Harts;

impl ServiceKind for Harts {
    fn why_not_stepwise(&self, network: &Network) -> Option<&'static str> {
        network.harts.as_ref().map(|_| "elementary cycles: their servers are analysed together")
    }

    fn settles_answers(&self, network: &Network) -> bool {
        network.harts.is_some()
    }

    fn serve<'network>(&self, plan: &Plan<'network>) -> Option<Box<dyn Service + 'network>> {
        plan.network.harts.as_ref()?;
        Some(Box::new(Servers::new(plan.network)))
    }
}

impl Service for Servers<'_> {
    fn carries(&self, plan: &Plan<'_>) -> Vec<(u32, Carried)> {
        let streams = (0..self.network.streams.len()).map(StreamIndex::at);
        streams.flat_map(|stream| plan.entries_of(stream.0).zip(self.carried(stream))).collect()
    }

    fn port(&self, _plan: &Plan<'_>, port: u32) -> Option<Served> {
        let mut classes = <[ClassBounds; 8]>::default();
        let hops = self.network.streams.iter().flat_map(|stream| &stream.hops);
        for hop in hops.filter(|hop| hop.port == PortIndex(port)) {
            classes[hop.class.index()].used = true;
        }
        Some(Served::all_carried(classes))
    }

    fn hosts(&self) -> Option<Hosts> {
        Some(Hosts::default())
    }

    fn overflows(&self, plan: &Plan<'_>, found: &mut Vec<Overflow>) {
        let of = |stream: u32| plan.entries_of(stream).filter_map(|entry| plan.carried(entry)).collect();
        let hops: Vec<Vec<&Carried>> =
            (0..self.network.streams.len()).map(|at| of(crate::plan::index(at))).collect();
        self.add_overflows(&hops, found);
    }

    fn words(&self, plan: &Plan<'_>, entry: u32) -> Words {
        Words {
            formula: "periods of its server until as many frames are through as wait + what goes before it in the last period",
            source: "periodic servers in elementary cycles: capacity once a period; every window less one longest frame",
            same: at_talker(plan, entry),
        }
    }
}
