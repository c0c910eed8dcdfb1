//! Gates of scheduled traffic (IEEE Std 802.1Q-2022, 8.6.8.4): ports that have them have no bound yet.
//!
//! What leaves such a port is carried without a bound, and all limits of its queues may be too small. Least times stay: a gate only adds to
//! them.

use tautwire_core::TrafficClass;
use tautwire_model::Network;
use tautwire_model::network::PortIndex;

use crate::loss::{Limit, LimitKind, Overflow, Whose, buffer_limits};
use crate::plan::{Plan, index};
use crate::result::{ClassBounds, Method};
use crate::service::{Carried, Served, Service, ServiceKind, Words};
use crate::unbounded::Why;

/// The mechanism.
pub(crate) struct Gates;

/// Ports with gates.
#[derive(Debug)]
struct Gated {
    /// Per port.
    ports: Vec<bool>,
}

static NO_BOUND: Why = Why { name: "gates", text: "there is no bound yet for the gates of port {port}" };

impl ServiceKind for Gates {
    fn why_not_stepwise(&self, network: &Network) -> Option<&'static str> {
        network.has_gates().then_some("gates: ports that have them have no bound")
    }

    fn serve<'network>(&self, plan: &Plan<'network>) -> Option<Box<dyn Service + 'network>> {
        let ports = plan.network.ports.iter().map(|port| port.gates.is_some()).collect();
        plan.network.has_gates().then(|| -> Box<dyn Service> { Box::new(Gated { ports }) })
    }
}

impl Service for Gated {
    fn carries(&self, plan: &Plan<'_>) -> Vec<(u32, Carried)> {
        let time = |ps: i64| u64::try_from(ps).unwrap_or(0);
        let gated = plan.entries.iter().enumerate().filter(|(_, entry)| self.ports[entry.port as usize]);
        let carried = gated.map(|(number, entry)| {
            let reason = NO_BOUND.at(PortIndex(entry.port));
            let carried = Carried {
                hop_min: time(entry.hop_min),
                hop: Err(reason.clone()),
                end_min: time(entry.next_min),
                end: Err(reason),
                method: Method::Carried("gates"),
            };
            (index(number), carried)
        });
        carried.collect()
    }

    fn port(&self, plan: &Plan<'_>, port: u32) -> Option<Served> {
        let used = |class: usize| !plan.of_class(port, class).is_empty();
        let classes =
            std::array::from_fn(|class| ClassBounds { used: used(class), ..ClassBounds::default() });
        self.ports[port as usize].then(|| Served::all_carried(classes))
    }

    fn overflows(&self, plan: &Plan<'_>, found: &mut Vec<Overflow>) {
        for port in (0..index(self.ports.len())).filter(|port| self.ports[*port as usize]) {
            let (at, settings) = (PortIndex(port), &plan.network.ports[port as usize]);
            let used: Vec<u8> =
                (0..8).filter(|class| !plan.of_class(port, usize::from(*class)).is_empty()).collect();
            for number in &used {
                let limits = &settings.classes[usize::from(*number)];
                let class = TrafficClass::new(*number).expect("below eight");
                let mut may = |kind, limit| {
                    let limit = Limit { kind, limit, needed: None };
                    found.push(Overflow { whose: Whose::Class(at, class), limit });
                };
                may(LimitKind::QueueFrames(at, class), u64::from(limits.limit_frames));
                may(LimitKind::QueueOctets(at, class), limits.limit_octets.get());
            }
            if let Some(buffer) = &settings.shared_buffer {
                let needs = std::array::from_fn(|class| {
                    let is_used = used.iter().any(|number| usize::from(*number) == class);
                    if is_used { None } else { Some(0) }
                });
                found.extend(buffer_limits(plan.network, at, buffer, needs).map(|(_, overflow)| overflow));
            }
        }
    }

    fn words(&self, _plan: &Plan<'_>, _entry: u32) -> Words {
        Words { formula: "none yet", source: "gates of scheduled traffic", same: Vec::new() }
    }
}
