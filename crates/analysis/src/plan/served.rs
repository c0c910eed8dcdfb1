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
