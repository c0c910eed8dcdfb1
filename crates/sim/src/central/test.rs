//! The test of a CNC: the bandwidth of every port on the way, as bridges with MSRP test it; or the bounds, which are not this crate's.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use tautwire_core::central::Pair;
use tautwire_core::srp::PortBandwidth;
use tautwire_model::Network;
use tautwire_model::central::CentralTest;
use tautwire_model::network::{PortIndex, StreamIndex};
use tautwire_units::BitRate;
use tautwire_wire::srp::FailureCode;

use super::{MAX_LATENCY_EXCEEDED, NO_RESOURCES, paths};
use crate::refusal::{Late, Limit};

/// Decides for a CNC in a run whether a stream may join those that it admitted: all deadlines hold then, and no frame
/// is lost. The run begins with no reserved stream admitted.
pub trait AdmissionControl: Send {
    /// Whether a stream may join; then it has joined.
    ///
    /// # Errors
    /// What would be late, or could be lost.
    fn admit(&mut self, stream: StreamIndex) -> Result<(), Late>;

    /// A stream that joined leaves.
    fn release(&mut self, stream: StreamIndex);
}

/// The reserved resources in a CNC.
pub(super) struct Test {
    /// By port and stream: for which listeners, in which class, bits in a second.
    held: BTreeMap<(PortIndex, u32), (BTreeSet<u32>, usize, u64)>,
    bounds: Option<Box<dyn AdmissionControl>>,
    /// Listeners of every stream that is admitted.
    admitted: BTreeMap<u32, BTreeSet<u32>>,
}

impl fmt::Debug for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Test").field("held", &self.held).finish_non_exhaustive()
    }
}

impl Test {
    /// # Panics
    /// If the CNC tests bounds and no test is given.
    pub(super) fn new(
        network: &Network,
        test: CentralTest,
        bounds: Option<Box<dyn AdmissionControl>>,
    ) -> Self {
        debug_assert!(network.srp.is_some());
        let bounds = match test {
            CentralTest::Bandwidth => None,
            CentralTest::Bounds => Some(bounds.expect("a run whose CNC tests bounds is given `admission`")),
        };
        Self { held: BTreeMap::new(), bounds, admitted: BTreeMap::new() }
    }

    /// Whether a listener can be served; if so, its reservation is made.
    ///
    /// # Errors
    /// The failure code for the listener, and the limit that was reached.
    pub(super) fn admit(&mut self, network: &Network, pair: Pair) -> Result<(), (FailureCode, Limit)> {
        let stream = paths::stream(network, pair);
        let shares = paths::shares(network, pair);
        match &mut self.bounds {
            // What is proven for a stream is proven for all of its listeners.
            Some(bounds) => {
                if !self.admitted.contains_key(&pair.stream) {
                    let code =
                        |late: &Late| if late.may_be_lost { NO_RESOURCES } else { MAX_LATENCY_EXCEEDED };
                    bounds.admit(stream).map_err(|late| (code(&late), Limit::Late(late)))?;
                }
            }
            None => {
                for (port, class, slope) in &shares {
                    if !self.held.contains_key(&(*port, pair.stream)) {
                        let bandwidth = self.bandwidth(network, *port);
                        let limit = || Limit::Bandwidth {
                            port: *port,
                            wanted: BitRate::from_bps(*slope),
                            left: BitRate::from_bps(bandwidth.room(*class)),
                        };
                        bandwidth.test(*class, *slope).map_err(|code| (code, limit()))?;
                    }
                }
            }
        }
        for (port, class, slope) in shares {
            let held = self.held.entry((port, pair.stream)).or_insert((BTreeSet::new(), class, slope));
            held.0.insert(pair.listener);
        }
        self.admitted.entry(pair.stream).or_default().insert(pair.listener);
        Ok(())
    }

    /// The resources of a listener are released.
    pub(super) fn release(&mut self, network: &Network, pair: Pair) {
        self.held.retain(|(_, stream), (listeners, ..)| {
            if *stream == pair.stream {
                listeners.remove(&pair.listener);
            }
            !listeners.is_empty()
        });
        let Some(listeners) = self.admitted.get_mut(&pair.stream) else { return };
        listeners.remove(&pair.listener);
        if listeners.is_empty() {
            self.admitted.remove(&pair.stream);
            if let Some(bounds) = &mut self.bounds {
                bounds.release(paths::stream(network, pair));
            }
        }
    }

    /// Forgets all: the CNC has restarted.
    pub(super) fn clear(&mut self, network: &Network) {
        let pairs: Vec<Pair> = self
            .admitted
            .iter()
            .flat_map(|(stream, listeners)| {
                listeners.iter().map(|listener| Pair { stream: *stream, listener: *listener })
            })
            .collect();
        for pair in pairs {
            self.release(network, pair);
        }
    }

    /// The reserved bandwidth of a port's classes.
    fn bandwidth(&self, network: &Network, port: PortIndex) -> PortBandwidth {
        let reservation = network.srp.as_ref().expect("stream reservation");
        let links = network.ports[port.index()].links.expect("a port on the way of a stream");
        let rate = network.links[links.egress.index()].rate;
        let mut bandwidth = PortBandwidth::new(rate, &reservation.classes);
        for (_, (_, class, slope)) in self.held.range((port, 0)..=(port, u32::MAX)) {
            // Every part of what fits together fits.
            bandwidth.reserve(*class, *slope).expect("it was tested");
        }
        bandwidth
    }
}
