//! Requirements on streams of SR classes and on the shapers of these (802.1Q-2022 clauses 34 and 35).

use std::collections::BTreeSet;

use tautwire_model::network::{Stream, StreamIndex, TransmissionSelection};
use tautwire_units::{BitRate, Duration};

use super::look::Look;
use super::paths;
use super::requirement::{Found, SrClass, Subject};

const NO_SR_STREAM: &str = "no stream is of an SR class";
const NO_RESERVATION: &str = "the network has no stream reservation";

impl Look<'_> {
    pub(super) fn class_priorities(&self, priorities: &[(SrClass, u8)]) -> Found {
        if let Some(srp) = &self.network.srp {
            let breaches = srp.classes.iter().filter_map(|own| {
                let (class, right) =
                    priorities.iter().find(|(class, _)| class.number() == own.domain.class)?;
                let message = format!("SR class {class:?} has priority {}", own.domain.priority);
                (own.domain.priority != *right)
                    .then_some((Subject::Section(&["stream-reservation", "classes"]), message))
            });
            return Found::Breaches(breaches.collect());
        }
        let mut is_any = false;
        let breaches: Vec<_> = self
            .streams()
            .filter(|(_, stream)| {
                let shaped = stream.hops.iter().any(|hop| self.is_credit_based(hop.port, hop.class));
                is_any |= shaped;
                shaped && priorities.iter().all(|(_, right)| *right != stream.priority.number())
            })
            .map(|(index, stream)| {
                let message = format!(
                    "`{}` has priority {}, and its class is shaped by credit",
                    stream.name,
                    stream.priority.number()
                );
                (Subject::Stream(index, "priority"), message)
            })
            .collect();
        if is_any { Found::Breaches(breaches) } else { Found::Nothing(NO_SR_STREAM) }
    }

    pub(super) fn intervals(&self, intervals: &[(SrClass, Duration)]) -> Found {
        let Some(srp) = &self.network.srp else { return Found::Nothing(NO_RESERVATION) };
        let breaches = srp.classes.iter().filter_map(|own| {
            let (class, right) = intervals.iter().find(|(class, _)| class.number() == own.domain.class)?;
            let message = format!("SR class {class:?} is measured in {}", own.interval);
            (own.interval != *right)
                .then_some((Subject::Section(&["stream-reservation", "classes"]), message))
        });
        Found::Breaches(breaches.collect())
    }

    pub(super) fn credit_based(&self) -> Found {
        let mut seen = BTreeSet::new();
        let mut breaches = Vec::new();
        for (_, stream) in self.sr_streams() {
            for hop in stream.hops.iter().filter(|hop| self.is_bridge(hop.port)) {
                if seen.insert((hop.port, hop.class)) && !self.is_credit_based(hop.port, hop.class) {
                    let selection = self.network.ports[hop.port.index()].classes[hop.class.index()].selection;
                    let message = format!(
                        "class {} of {}, which carries `{}`, is {}",
                        hop.class.number(),
                        self.port_name(hop.port),
                        stream.name,
                        match selection {
                            TransmissionSelection::StrictPriority => "of strict priority",
                            TransmissionSelection::CreditBased { .. } => "credit-based",
                            TransmissionSelection::Ats => "shaped asynchronously",
                        }
                    );
                    breaches.push((Subject::Port(hop.port, "classes"), message));
                }
            }
        }
        if seen.is_empty() { Found::Nothing(NO_SR_STREAM) } else { Found::Breaches(breaches) }
    }

    pub(super) fn reserved_share(&self, percent: u64) -> Found {
        if let Some(srp) = &self.network.srp {
            let all: u64 = srp.classes.iter().map(|class| u64::from(class.delta_percent)).sum();
            let message = format!("SR classes may use {all} % of a port's rate");
            let breach = (Subject::Section(&["stream-reservation", "classes"]), message);
            return Found::Breaches(if all > percent { vec![breach] } else { Vec::new() });
        }
        let mut is_any = false;
        let mut breaches = Vec::new();
        for (index, port) in self.ports() {
            let Some(rate) = self.rate(port) else { continue };
            let slopes = port.classes.iter().filter_map(|class| match class.selection {
                TransmissionSelection::CreditBased { idle_slope } => Some(u128::from(idle_slope.as_bps())),
                _ => None,
            });
            let (count, all) = slopes.fold((0, 0), |(count, all), slope| (count + 1, all + slope));
            is_any |= count > 0;
            if all * 100 > u128::from(rate.as_bps()) * u128::from(percent) {
                let sum = BitRate::from_bps(u64::try_from(all).unwrap_or(u64::MAX));
                let message = format!("the idle slopes of {} are {sum} of {rate}", self.port_name(index));
                breaches.push((Subject::Port(index, "classes"), message));
            }
        }
        if is_any { Found::Breaches(breaches) } else { Found::Nothing("no class is shaped by credit") }
    }

    pub(super) fn reserved_alone(&self) -> Found {
        let Some(srp) = &self.network.srp else { return Found::Nothing(NO_RESERVATION) };
        let reserved: BTreeSet<StreamIndex> = srp.streams.iter().map(|one| one.stream).collect();
        let of_sr = |stream: &Stream| {
            srp.classes.iter().any(|class| class.domain.priority == stream.priority.number())
        };
        let breaches = self
            .streams()
            .filter(|(index, stream)| !reserved.contains(index) && of_sr(stream))
            .map(|(index, stream)| {
                let priority = stream.priority.number();
                let message = format!("`{}` has priority {priority} without a reservation", stream.name);
                (Subject::Stream(index, "priority"), message)
            });
        Found::Breaches(breaches.collect())
    }

    pub(super) fn path_links(&self, most: usize) -> Found {
        let of_class: Vec<_> = self.sr_streams().collect();
        if of_class.is_empty() {
            return Found::Nothing(NO_SR_STREAM);
        }
        let breaches = of_class.into_iter().filter_map(|(index, stream)| {
            let links = paths::links_max(stream);
            let message = format!("the path of `{}` has {links} links", stream.name);
            (links > most).then_some((Subject::Stream(index, "listeners"), message))
        });
        Found::Breaches(breaches.collect())
    }

    pub(super) fn latency(&self, class: SrClass, most: Duration) -> Found {
        let of_class: Vec<_> =
            self.sr_streams().filter(|(_, stream)| self.class_of(stream) == Some(class)).collect();
        if of_class.is_empty() {
            return Found::Nothing("no stream is of this SR class");
        }
        let breaches = of_class.into_iter().filter_map(|(index, stream)| {
            let listeners = &self.bounds.streams[index.index()].listeners;
            let unbounded = listeners.iter().find_map(|bound| bound.delay.as_ref().err());
            let greatest = listeners.iter().filter_map(|bound| bound.delay.as_ref().ok()).max();
            let message = match (unbounded, greatest) {
                (Some(why), _) => {
                    format!("the delay of `{}` has no bound: {}", stream.name, why.text(self.network))
                }
                (None, Some(delay)) if *delay > most => {
                    format!("the bound of the delay of `{}` is {delay}", stream.name)
                }
                _ => return None,
            };
            Some((Subject::Stream(index, "name"), message))
        });
        Found::Breaches(breaches.collect())
    }
}
