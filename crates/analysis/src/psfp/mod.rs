//! Stream filters, stream gates and flow meters (IEEE Std 802.1Q-2022, 8.6.5): their output, and when they discard nothing.
//!
//! - A discarded frame takes no time of any line, so every bound of a network without filters holds with them. They
//!   add: after a flow meter the arrivals of a stream are at most the output of the meter ([`passing`]), after a
//!   maximum SDU size there are no larger frames, and a frame whose gate has an internal priority has the class of
//!   that priority (`tautwire-model`).
//! - Frames may be discarded unless it is proven that they are not: that is a limit like a queue's (`loss`).
//! - Internal priorities that change in a cycle have no bound, and nothing has one at a port after them.
//!
//! Not here: the machine of a bridge (`tautwire-core`).

mod losses;
mod passing;
mod reasons;

use tautwire_model::Network;
use tautwire_model::network::{PortIndex, StreamIndex};
use tautwire_model::psfp::Internal;

pub use self::losses::METER_BURST;
pub(crate) use self::passing::payload_max;
use self::reasons::VARIES;
use crate::loss::Overflow;
use crate::plan::Plan;
use crate::service::{Carried, Served, Service, ServiceKind, Words};

/// The mechanism.
pub(crate) struct StreamFilters;

impl ServiceKind for StreamFilters {
    fn why_not_stepwise(&self, network: &Network) -> Option<&'static str> {
        (!network.stream_filters.is_empty()).then_some(
            "stream-filters: streams that share a meter or a gate decide together what it discards",
        )
    }

    fn serve<'network>(&self, plan: &Plan<'network>) -> Option<Box<dyn Service + 'network>> {
        let network = plan.network;
        if network.stream_filters.is_empty() {
            return None;
        }
        let mut varying = vec![false; network.ports.len()];
        for (number, stream) in network.streams.iter().enumerate() {
            for hop in &stream.hops {
                let Some(before) = hop.previous.map(|before| &stream.hops[before as usize]) else { continue };
                let internal = network.internal_behind(StreamIndex::at(number), stream, before);
                // Where frames are forwarded in cycles, these bound them.
                let is_cyclic = network.cyclic_at(hop.port).is_some();
                varying[hop.port.index()] |= matches!(internal, Internal::Varies(_)) && !is_cyclic;
            }
        }
        varying.contains(&true).then(|| -> Box<dyn Service> { Box::new(Varying(varying)) })
    }
}

/// Ports at which the class of some frames changes in a cycle.
#[derive(Debug)]
struct Varying(Vec<bool>);

impl Service for Varying {
    fn carries(&self, _plan: &Plan<'_>) -> Vec<(u32, Carried)> {
        Vec::new()
    }

    fn port(&self, plan: &Plan<'_>, port: u32) -> Option<Served> {
        plan.ports[port as usize].as_ref().filter(|_| self.0[port as usize])?;
        let why = VARIES.at(PortIndex(port));
        Some(Served { unbounded: Some(why), ..Served::default() })
    }

    fn overflows(&self, _plan: &Plan<'_>, _found: &mut Vec<Overflow>) {}

    fn words(&self, _plan: &Plan<'_>, _entry: u32) -> Words {
        unreachable!("filters carry no frames: classes do")
    }
}
