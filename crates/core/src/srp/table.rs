//! The table of talkers of a bridge: at which port each stream comes in, in the order of arrival, and which the bridge takes on at no
//! port (IEEE Std 802.1Q-2022, 35.2.2.8.7).
//!
//! Streams that came first keep their places. So a new stream is compared with those that are there; only if an
//! accepted one leaves or changes, and another was refused, are all examined again.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use tautwire_wire::MacAddress;
use tautwire_wire::srp::{FailureCode, StreamId};

use super::bridge::BridgeConfig;
use super::talkers::{TalkerRegistration, Talkers};

/// The figures by which a stream is accepted or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Figures {
    destination: (MacAddress, u16),
    priority: u8,
    changed: Option<FailureCode>,
}

impl Figures {
    fn of(registration: &TalkerRegistration) -> Self {
        Self {
            destination: (registration.talker.destination, registration.talker.vlan),
            priority: registration.talker.priority,
            changed: registration.changed,
        }
    }
}

/// A talker in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    pub(super) port: usize,
    /// Its place in the order of arrival.
    pub(super) arrived: u64,
    figures: Figures,
}

/// The resources of accepted streams.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Taken {
    streams: usize,
    /// Streams by the port on which they are registered.
    ports: BTreeMap<usize, usize>,
    destinations: BTreeSet<(MacAddress, u16)>,
    /// Destinations by their bucket.
    buckets: BTreeMap<u32, usize>,
}

impl Taken {
    /// Why one more is not taken on, if it is not.
    fn refusal(&self, config: &BridgeConfig, entry: &Entry) -> Option<FailureCode> {
        let figures = &entry.figures;
        let addresses = &config.addresses;
        let bucket = addresses.bucket(figures.destination);
        let is_class = config.classes.iter().any(|class| class.domain.priority == figures.priority);
        if self.streams == config.streams_max {
            Some(FailureCode::MSRP_RESOURCES)
        } else if !self.ports.contains_key(&entry.port) && self.ports.len() == config.fan_in_max {
            Some(FailureCode::FAN_IN)
        } else if self.destinations.contains(&figures.destination) {
            Some(FailureCode::DESTINATION_IN_USE)
        } else if self.destinations.len() >= addresses.addresses_max {
            Some(FailureCode::DESTINATION_NOT_STORED)
        } else if self.buckets.get(&bucket).is_some_and(|held| *held >= addresses.depth) {
            Some(FailureCode::OTHER_DESTINATION)
        } else if figures.changed.is_some() {
            figures.changed
        } else if !is_class {
            Some(FailureCode::NOT_A_CLASS_PRIORITY)
        } else {
            None
        }
    }

    fn take(&mut self, config: &BridgeConfig, entry: &Entry) {
        *self.buckets.entry(config.addresses.bucket(entry.figures.destination)).or_insert(0) += 1;
        self.streams += 1;
        *self.ports.entry(entry.port).or_insert(0) += 1;
        self.destinations.insert(entry.figures.destination);
    }

    fn give_back(&mut self, config: &BridgeConfig, entry: &Entry) {
        if let Some(held) = self.buckets.get_mut(&config.addresses.bucket(entry.figures.destination)) {
            *held -= 1;
        }
        self.streams -= 1;
        let left = self.ports.get_mut(&entry.port).expect("it brings the stream");
        *left -= 1;
        if *left == 0 {
            self.ports.remove(&entry.port);
        }
        self.destinations.remove(&entry.figures.destination);
    }
}

/// The table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Table {
    entries: BTreeMap<StreamId, Entry>,
    order: BTreeMap<u64, StreamId>,
    arrivals: u64,
    refused: BTreeMap<StreamId, FailureCode>,
    taken: Taken,
}

impl Table {
    pub(super) fn get(&self, stream: &StreamId) -> Option<&Entry> {
        self.entries.get(stream)
    }

    pub(super) fn streams(&self) -> impl Iterator<Item = &StreamId> {
        self.entries.keys()
    }

    /// Why the bridge takes a stream on at no port, if it does not.
    pub(super) fn refusal(&self, stream: &StreamId) -> Option<FailureCode> {
        self.refused.get(stream).copied()
    }

    /// Updates the entries of streams whose talkers changed to the registrations of the ports; gives the streams whose
    /// entry or refusal changed, and those that left their place.
    pub(super) fn update(
        &mut self,
        config: &BridgeConfig,
        talkers: &[Talkers],
        touched: &BTreeSet<StreamId>,
    ) -> (BTreeSet<StreamId>, Vec<StreamId>) {
        let mut gone = Vec::new();
        let mut changed = BTreeSet::new();
        let mut all_again = false;
        for stream in touched {
            let Some(entry) = self.entries.get_mut(stream) else { continue };
            match talkers[entry.port].get(stream).map(Figures::of) {
                // Its resources are counted again below.
                Some(figures) => all_again |= core::mem::replace(&mut entry.figures, figures) != figures,
                None => {
                    all_again |= self.remove(config, stream);
                    gone.push(*stream);
                }
            }
        }
        let mut new: Vec<(usize, StreamId)> = Vec::new();
        for stream in touched.iter().filter(|stream| !self.entries.contains_key(stream)) {
            changed.insert(*stream);
            new.extend(
                talkers.iter().position(|talkers| talkers.get(stream).is_some()).map(|port| (port, *stream)),
            );
        }
        new.sort_unstable();
        for (port, stream) in &new {
            let figures = Figures::of(talkers[*port].get(stream).expect("it was found there"));
            self.entries.insert(*stream, Entry { port: *port, arrived: self.arrivals, figures });
            self.order.insert(self.arrivals, *stream);
            self.arrivals += 1;
        }
        if all_again {
            changed.extend(self.refuse_all(config));
        } else {
            for (_, stream) in &new {
                self.refuse(config, *stream);
            }
        }
        (changed, gone)
    }

    /// Removes an entry; gives whether others may have its place.
    fn remove(&mut self, config: &BridgeConfig, stream: &StreamId) -> bool {
        let entry = self.entries.remove(stream).expect("it is there");
        self.order.remove(&entry.arrived);
        if self.refused.remove(stream).is_some() {
            return false;
        }
        self.taken.give_back(config, &entry);
        !self.refused.is_empty()
    }

    /// Holds the last that came against the limits.
    fn refuse(&mut self, config: &BridgeConfig, stream: StreamId) {
        let entry = &self.entries[&stream];
        match self.taken.refusal(config, entry) {
            Some(code) => {
                self.refused.insert(stream, code);
            }
            None => self.taken.take(config, entry),
        }
    }

    /// Holds all against the limits; gives those for which the answer is another one.
    fn refuse_all(&mut self, config: &BridgeConfig) -> Vec<StreamId> {
        let before = core::mem::take(&mut self.refused);
        self.taken = Taken::default();
        let arrived: Vec<StreamId> = self.order.values().copied().collect();
        for stream in &arrived {
            self.refuse(config, *stream);
        }
        arrived.into_iter().filter(|stream| before.get(stream) != self.refused.get(stream)).collect()
    }
}
