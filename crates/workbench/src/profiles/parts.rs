//! Requirements on links, ports, VLANs and sections of the description, and that deadlines have bounds.

use std::collections::BTreeSet;

use tautwire_core::Priority;
use tautwire_model::network::{NodeKind, Stream};
use tautwire_units::BitRate;

use super::look::Look;
use super::requirement::{Found, Subject};

impl Look<'_> {
    pub(super) fn cables(&self, is_wrong: impl Fn(BitRate) -> bool) -> Found {
        let links = self.network.links.iter().step_by(2).enumerate();
        let wrong = links.filter(|(_, link)| is_wrong(link.rate));
        let breaches = wrong.map(|(number, link)| {
            let ends = [link.from, link.to].map(|port| self.port_name(port));
            (Subject::Cable(number), format!("the link of {} and {} has {}", ends[0], ends[1], link.rate))
        });
        Found::Breaches(breaches.collect())
    }

    pub(super) fn bridged(&self) -> Found {
        let has_bridge = self.network.nodes.iter().any(|node| matches!(node.kind, NodeKind::Bridge { .. }));
        let breach = (Subject::Network, "the network has no bridge".to_owned());
        Found::Breaches(if has_bridge { Vec::new() } else { vec![breach] })
    }

    pub(super) fn bounded(&self) -> Found {
        let required: Vec<_> = self.streams().filter(|(_, stream)| stream.deadline.is_some()).collect();
        if required.is_empty() {
            return Found::Nothing("no stream has a deadline");
        }
        let breaches = required.into_iter().filter_map(|(index, stream)| {
            let listeners = &self.bounds.streams[index.index()].listeners;
            let why = listeners.iter().find_map(|bound| bound.delay.as_ref().err())?;
            let message = format!("the delay of `{}` has no bound: {}", stream.name, why.text(self.network));
            Some((Subject::Stream(index, "deadline"), message))
        });
        Found::Breaches(breaches.collect())
    }

    pub(super) fn traffic_classes(&self, least: usize, with_preemption: bool) -> Found {
        let (mut is_any, mut breaches) = (false, Vec::new());
        for (index, port) in self.ports().filter(|(index, _)| self.is_bridge(*index)) {
            if with_preemption && port.preemptable_classes() == 0 {
                continue;
            }
            is_any = true;
            let classes: BTreeSet<u8> =
                Priority::all().map(|priority| port.class_table.class_of(priority, true).number()).collect();
            if classes.len() < least {
                let message = format!("{} has {} traffic classes", self.port_name(index), classes.len());
                breaches.push((Subject::Port(index, "traffic-class-table"), message));
            }
        }
        match (is_any, with_preemption) {
            (true, _) => Found::Breaches(breaches),
            (false, true) => Found::Nothing("no port of a bridge preempts"),
            (false, false) => Found::Nothing("the network has no bridge"),
        }
    }

    pub(super) fn fragments(&self, most: u32) -> Found {
        let (mut is_any, mut breaches) = (false, Vec::new());
        for (index, port) in self.ports() {
            let Some(stated) = port.preemption.filter(|stated| stated.enabled && stated.supported) else {
                continue;
            };
            is_any = true;
            let least = 64 * (1 + u32::from(stated.add_frag_size.get()));
            if least > most {
                let message = format!("{} sends no fragment below {least} octets", self.port_name(index));
                breaches.push((Subject::Port(index, "frame-preemption-parameters"), message));
            }
        }
        if is_any { Found::Breaches(breaches) } else { Found::Nothing("no port preempts") }
    }

    pub(super) fn list_room(&self, slow: u64, fast: u64) -> Found {
        let (mut is_any, mut breaches) = (false, Vec::new());
        for (index, port) in self.ports().filter(|(index, _)| self.is_bridge(*index)) {
            let gates = port.gates.as_ref().or(port.gates_off.as_ref());
            let (Some(room), Some(rate)) = (gates.and_then(|gates| gates.limits.list), self.rate(port))
            else {
                continue;
            };
            is_any = true;
            let least = if rate < BitRate::from_gbps(1) { slow } else { fast };
            if room < least {
                let message = format!("{} has room for {room} entries at {rate}", self.port_name(index));
                breaches.push((Subject::Port(index, "gate-parameter-table"), message));
            }
        }
        if is_any {
            Found::Breaches(breaches)
        } else {
            Found::Nothing("no port of a bridge states `supported-list-max`")
        }
    }

    pub(super) fn vlans(&self, most: usize) -> Found {
        let of = |stream: &Stream| {
            let behind: Vec<_> = stream.hops.iter().map(|hop| stream.vlan_at(hop)).collect();
            std::iter::once(stream.vlan).chain(behind)
        };
        let used: BTreeSet<_> = self.streams().flat_map(|(_, stream)| of(stream)).collect();
        let message = format!("streams use {} VLANs", used.len());
        Found::Breaches(if used.len() > most {
            vec![(Subject::Section(&["vlans"]), message)]
        } else {
            Vec::new()
        })
    }

    pub(super) fn section(&self, key: &str, what: &str) -> Found {
        let has = self.network.sections.keys().any(|own| own == key);
        let breach = (Subject::Network, format!("the network has no {what} (`{key}`)"));
        Found::Breaches(if has { Vec::new() } else { vec![breach] })
    }
}
