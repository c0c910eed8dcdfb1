//! The services of mechanisms in this network: created once, when all streams are known and before the analysis.
//!
//! Least times of an entry that a service carries are those of the service from then on.

use super::{NONE, Plan, index};
use crate::service::{Carried, Service};
use crate::services::KINDS;

impl<'network> Plan<'network> {
    /// What a service carries at an entry, if one does.
    pub(crate) fn carried(&self, entry: u32) -> Option<&Carried> {
        self.carried.get(entry as usize)?.as_ref().map(|(_, carried)| carried)
    }

    /// The service that carries an entry, if one does.
    pub(crate) fn service(&self, entry: u32) -> Option<&(dyn Service + 'network)> {
        let (service, _) = self.carried.get(entry as usize)?.as_ref()?;
        Some(&*self.services[*service])
    }

    /// Creates the services of all mechanisms.
    pub(super) fn take_services(&mut self) {
        for kind in KINDS {
            if let Some(service) = kind.serve(self) {
                self.take_service(service);
            }
        }
    }

    /// Takes in what a service carries, and what it means to ports and hosts.
    fn take_service(&mut self, service: Box<dyn Service + 'network>) {
        let carries = service.carries(self);
        let ports: Vec<_> = (0..index(self.ports.len())).map(|port| service.port(self, port)).collect();
        self.take(self.services.len(), carries);
        for (port, served) in self.ports.iter_mut().zip(ports) {
            if let (Some(port), Some(served)) = (port, served) {
                let both = match port.served.take() {
                    Some(known) => known.and(served),
                    None => served,
                };
                port.served = Some(Box::new(both));
            }
        }
        if let Some(hosts) = service.hosts() {
            self.sending = hosts.sending;
        }
        self.services.push(service);
    }

    fn take(&mut self, service: usize, carries: Vec<(u32, Carried)>) {
        self.carried.resize(self.entries.len(), None);
        for (number, carried) in carries {
            let place = &mut self.carried[number as usize];
            if place.is_some() {
                continue;
            }
            let time = |ps: u64| i64::try_from(ps).unwrap_or(i64::MAX);
            let here_min = match self.entries[number as usize].previous {
                NONE => 0,
                previous => self.entries[previous as usize].next_min,
            };
            let entry = &mut self.entries[number as usize];
            (entry.here_min, entry.next_min) = (here_min, time(carried.end_min));
            entry.hop_min = time(carried.hop_min);
            *place = Some((service, carried));
        }
    }
}

#[cfg(test)]
mod tests {
    use tautwire_model::Network;
    use tautwire_units::Duration;

    use super::*;
    use crate::analysis::Analysis;
    use crate::answers::Learned;
    use crate::curve::{Curve, Line, MICRO};
    use crate::loss::Overflow;
    use crate::result::Bounds;
    use crate::service::{Served, Words};

    const MICROSECOND: u64 = 1_000_000;

    /// A gate that is closed to a class for a part of each period, at every port: nothing but this knows of it.
    #[derive(Debug)]
    struct Gate {
        class: usize,
        closed: u64,
        period: u64,
    }

    impl Service for Gate {
        fn carries(&self, _plan: &Plan<'_>) -> Vec<(u32, Carried)> {
            Vec::new()
        }

        fn port(&self, plan: &Plan<'_>, port: u32) -> Option<Served> {
            let line = plan.ports[port as usize].as_ref()?.rate;
            let bits = |rate: u64| u128::from(self.closed) * u128::from(rate) / 1_000_000_000_000;
            let rate = line / self.period * self.closed;
            let closed = Line { burst: bits(line) * MICRO, rate };
            let of = |class| if class == self.class { Curve::least_of([closed]) } else { Curve::zero() };
            let taken = vec![("a closed gate", core::array::from_fn(of))];
            Some(Served { taken, ..Served::default() })
        }

        fn overflows(&self, _plan: &Plan<'_>, _found: &mut Vec<Overflow>) {}

        fn words(&self, _plan: &Plan<'_>, _entry: u32) -> Words {
            unreachable!("it carries nothing")
        }
    }

    fn bounds(network: &Network, gate: Option<Gate>) -> Bounds {
        let mut plan = Plan::new(network, Learned::default());
        if let Some(gate) = gate {
            plan.take_service(Box::new(gate));
        }
        plan.serve();
        Analysis::run(plan, crate::accuracy::Accuracy::Curves).bounds()
    }

    #[test]
    fn a_gate_needs_nothing_but_a_service() {
        let text = "
defaults: {rate: 100 Mbit/s}
nodes: {a: {type: end-station}, b: {type: end-station}, s: {type: bridge}}
links: [{between: [a, s]}, {between: [s, b]}]
vlans: {1: {tagged: all}}
streams:
  - {name: gated, talker: a, listeners: b, priority: 5, payload: 250 B, traffic: {type: periodic, interval: 4 ms}}
  - {name: open, talker: a, listeners: b, priority: 6, payload: 250 B, traffic: {type: periodic, interval: 4 ms}}
";
        let network = tautwire_model::load_text("gate", text).network.expect("no errors");
        let gate = Gate { class: 5, closed: 300 * MICROSECOND, period: 1_000 * MICROSECOND };
        let (without, with) = (bounds(&network, None), bounds(&network, Some(gate)));
        let delay = |bounds: &Bounds, stream: usize| {
            bounds.streams[stream].listeners[0].delay.clone().expect("a bound")
        };
        let more = delay(&with, 0) - delay(&without, 0);
        // Closed at both ports, and what of the line is left meanwhile is less by as much.
        let (least, most) = (Duration::from_us(600), Duration::from_us(1_000));
        assert!(more >= least && more <= most, "{more}");
        assert_eq!(delay(&with, 1), delay(&without, 1), "the gate of its class is open");
        let backlog = |bounds: &Bounds| bounds.ports.iter().filter_map(|port| port[5].backlog).max();
        assert!(backlog(&with) >= backlog(&without), "its frames wait at closed gates");
    }
}
