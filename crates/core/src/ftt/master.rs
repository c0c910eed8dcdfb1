//! The master of a switch: relays requests to the ACMaster and keeps the streams that go through its switch, and to whom.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};

use tautwire_wire::ftt::{FttMessage, FttStream};

use super::survey::account_of;

/// A stream that a switch carries.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Carried {
    /// Its attributes.
    pub stream: FttStream,
    /// The consumers that it is carried to; at least one.
    pub consumers: BTreeSet<u16>,
}

/// The master of a switch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SwitchMaster {
    switch: u16,
    acmaster: u16,
    /// What is carried: memory pools and servers are made from this.
    streams: BTreeMap<u16, Carried>,
    /// Of streams and consumers the number under which it heard of them last.
    heard: BTreeMap<(u16, u16), u32>,
    out: VecDeque<(u16, FttMessage)>,
}

impl SwitchMaster {
    /// The master of `switch`; requests go to `acmaster`, a parameter of the whole network.
    #[must_use]
    pub fn new(switch: u16, acmaster: u16) -> Self {
        Self { switch, acmaster, streams: BTreeMap::new(), heard: BTreeMap::new(), out: VecDeque::new() }
    }

    /// A message comes in.
    pub fn receive(&mut self, message: &FttMessage) {
        match message {
            FttMessage::Add { .. } | FttMessage::Remove { .. } | FttMessage::Paused { .. } => {
                self.out.push_back((self.acmaster, message.clone()));
            }
            FttMessage::Config { stream, consumer, installed, number } => {
                // What is older than what it knows comes late. The same message twice changes nothing and is answered twice.
                let (id, whole) = (stream.id, stream.producer);
                let range = if *consumer == whole { 0..=u16::MAX } else { whole..=whole };
                let of_stream = self.heard.range((id, *range.start())..=(id, *range.end()));
                let own = self.heard.get(&(id, *consumer)).copied().unwrap_or(0);
                if of_stream.map(|(_, heard)| *heard).fold(own, u32::max) > *number {
                    return;
                }
                self.heard.insert((id, *consumer), *number);
                if *installed {
                    let carried = Carried { stream: *stream, consumers: BTreeSet::new() };
                    let carried = self.streams.entry(stream.id).or_insert(carried);
                    carried.stream = *stream;
                    carried.consumers.insert(*consumer);
                } else {
                    self.take_out(stream.id, *consumer);
                }
                let (stream, consumer, switch) = (stream.id, *consumer, self.switch);
                let (installed, number) = (*installed, *number);
                let reply = FttMessage::Reply { stream, consumer, switch, installed, number };
                self.out.push_back((self.acmaster, reply));
            }
            FttMessage::Alive { master, .. } => self.acmaster = *master,
            FttMessage::Survey { master, account } => {
                let carried = self
                    .streams
                    .values()
                    .flat_map(|carried| carried.consumers.iter().map(|consumer| (carried.stream, *consumer)));
                let said = account_of(self.switch, carried, *account);
                let (switch, account, to) = (self.switch, *account, *master);
                let number = self.heard.values().copied().max().unwrap_or(0);
                let digest = FttMessage::digest(said.iter().cloned());
                let all = FttMessage::Surveyed { switch, account, number, digest };
                self.out.extend(said.into_iter().chain([all]).map(|message| (to, message)));
            }
            _ => {}
        }
    }

    /// A stream is not carried to a consumer any more; to none, if that is the producer.
    fn take_out(&mut self, id: u16, consumer: u16) {
        let Some(carried) = self.streams.get_mut(&id) else { return };
        carried.consumers.remove(&consumer);
        if carried.consumers.is_empty() || carried.stream.producer == consumer {
            self.streams.remove(&id);
        }
    }

    /// What it sends next, and to whom.
    pub fn poll(&mut self) -> Option<(u16, FttMessage)> {
        self.out.pop_front()
    }

    /// The streams that its switch carries.
    #[must_use]
    pub const fn streams(&self) -> &BTreeMap<u16, Carried> {
        &self.streams
    }
}
