//! Copies serve no port in a way of their own; a session analyses a network with them as a whole.

use tautwire_model::Network;

use super::repeats;
use crate::plan::Plan;
use crate::result::Bounds;
use crate::service::{Service, ServiceKind};

/// Streams with copies.
#[derive(Debug)]
pub(crate) struct Copies;

impl ServiceKind for Copies {
    fn why_not_stepwise(&self, network: &Network) -> Option<&'static str> {
        let has_copies = network.streams.iter().any(|stream| stream.replication.is_some());
        has_copies.then_some("ways of copies depend on one another")
    }

    fn doubts(&self, network: &Network, bounds: &Bounds) -> Vec<u16> {
        repeats::doubts(network, bounds)
    }

    fn serve<'network>(&self, _: &Plan<'network>) -> Option<Box<dyn Service + 'network>> {
        None
    }
}
