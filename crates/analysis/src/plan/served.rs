//! What mechanisms serve in this network: asked once, when all streams are known and nothing is analysed yet.
//!
//! Least times of an entry that is carried are those of its service from then on.

use super::{NONE, Plan};
use crate::service::{Carried, Served, Service};
use crate::services::MECHANISMS;

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

    /// Asks all mechanisms.
    pub(super) fn take_services(&mut self) {
        for mechanism in MECHANISMS {
            let Some(service) = mechanism.serve(self) else { continue };
            let carries = service.carries(self);
            let ports: Vec<_> =
                (0..super::index(self.ports.len())).map(|port| service.port(self, port)).collect();
            self.take(self.services.len(), carries);
            for (port, served) in self.ports.iter_mut().zip(ports) {
                if let (Some(port), Some(served)) = (port, served) {
                    let known: Option<Box<Served>> = port.served.take();
                    port.served = Some(Box::new(known.map_or(served.clone(), |known| known.and(served))));
                }
            }
            if let Some(hosts) = service.hosts() {
                self.sending = hosts.sending;
            }
            self.services.push(service);
        }
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
