//! The master of a switch: relays requests to the ACMaster and keeps the streams through its switch, and their consumers.
//!
//! Its databases: the links of its switch, with their state and reservations (`links.rs`), and of each stream its
//! attributes, its source and destinations (Config_Msg), and the servers and memory pools derived from these
//! (`resources.rs`). Invariants: a stream that it reports as carried has its resources; a stream that it carries over
//! a failed link it reports as broken until it is notified that the stream is gone.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};

use tautwire_units::Instant;
use tautwire_wire::harts::{FttMessage, FttStream};

use super::links::Lines;
use super::resources::{Resources, SwitchConfig};
use super::survey::account_of;

/// A stream that a switch carries.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Carried {
    /// Its attributes.
    pub stream: FttStream,
    /// The neighbour of the switch that it comes from.
    pub from: u16,
    /// The consumers that it is carried to, at least one, and the neighbour of the switch towards each.
    pub consumers: BTreeMap<u16, u16>,
    /// Its resources here.
    pub resources: Resources,
}

/// The master of a switch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SwitchMaster {
    pub(super) config: SwitchConfig,
    /// The ACMaster to which requests go now.
    pub(super) acmaster: u16,
    /// The carried streams.
    pub(super) streams: BTreeMap<u16, Carried>,
    /// Of each stream and consumer the number of the last message about it.
    pub(super) heard: BTreeMap<(u16, u16), u32>,
    /// The state of its links.
    pub(super) lines: Lines,
    pub(super) out: VecDeque<(u16, FttMessage)>,
}

impl SwitchMaster {
    /// The master of a switch; all links are up.
    #[must_use]
    pub fn new(config: SwitchConfig) -> Self {
        Self {
            acmaster: config.acmaster,
            config,
            streams: BTreeMap::new(),
            heard: BTreeMap::new(),
            lines: Lines::default(),
            out: VecDeque::new(),
        }
    }

    /// A message comes in.
    pub fn receive(&mut self, now: Instant, message: &FttMessage) {
        match message {
            FttMessage::Add { .. } | FttMessage::Remove { .. } | FttMessage::Paused { .. } => {
                self.out.push_back((self.acmaster, message.clone()));
            }
            FttMessage::Config { stream, consumer, between, number } => {
                self.configure(stream, *consumer, *between, *number);
            }
            FttMessage::Alive { master, .. } if self.acmaster != *master => {
                self.acmaster = *master;
                self.send_links(now);
            }
            FttMessage::Linked { neighbour, number } => self.linked(*neighbour, *number),
            FttMessage::Survey { master, account } => {
                self.send_links(now);
                let carried = self.streams.values().flat_map(|carried| {
                    let part = |consumer: &u16| {
                        (carried.stream, *consumer, self.is_broken(carried.stream.id, *consumer))
                    };
                    carried.consumers.keys().map(part)
                });
                let messages = account_of(self.config.switch, carried, *account);
                let (switch, account, to) = (self.config.switch, *account, *master);
                let number = self.heard.values().copied().max().unwrap_or(0);
                let digest = FttMessage::digest(messages.iter().cloned());
                let all = FttMessage::Surveyed { switch, account, number, digest };
                self.out.extend(messages.into_iter().chain([all]).map(|message| (to, message)));
            }
            _ => {}
        }
    }

    /// A stream is to be carried to a consumer, or no more.
    fn configure(&mut self, stream: &FttStream, consumer: u16, between: Option<[u16; 2]>, number: u32) {
        // What is older than what it knows comes late. The same message twice changes nothing and is answered twice.
        let (id, producer) = (stream.id, stream.producer);
        let range = if consumer == producer { 0..=u16::MAX } else { producer..=producer };
        let of_stream = self.heard.range((id, *range.start())..=(id, *range.end()));
        let own = self.heard.get(&(id, consumer)).copied().unwrap_or(0);
        if of_stream.map(|(_, heard)| *heard).fold(own, u32::max) > number {
            return;
        }
        match between {
            Some([from, to]) => {
                if let Some((neighbour, link)) = self.lacks([from, to]) {
                    self.heard.insert((id, consumer), number);
                    let switch = self.config.switch;
                    let refusal =
                        FttMessage::Unable { stream: id, consumer, switch, neighbour, link, number };
                    self.out.push_back((self.acmaster, refusal));
                    return;
                }
                self.install(stream, consumer, from, to);
            }
            None => self.take_out(id, consumer),
        }
        self.is_new(id, consumer, consumer == producer);
        self.heard.insert((id, consumer), number);
        let (switch, installed) = (self.config.switch, between.is_some());
        let reply = FttMessage::Reply { stream: id, consumer, switch, installed, number };
        self.out.push_back((self.acmaster, reply));
    }

    /// Derives what a stream has when it goes to that consumer, too.
    fn install(&mut self, stream: &FttStream, consumer: u16, from: u16, to: u16) {
        let known = self.streams.get(&stream.id);
        let mut consumers = known.map_or_else(BTreeMap::new, |carried| carried.consumers.clone());
        consumers.insert(consumer, to);
        let resources = self.derive(stream, from, &consumers).expect("it has these cables");
        self.streams.insert(stream.id, Carried { stream: *stream, from, consumers, resources });
    }

    fn derive(&self, stream: &FttStream, from: u16, consumers: &BTreeMap<u16, u16>) -> Option<Resources> {
        let to: BTreeSet<u16> = consumers.values().copied().collect();
        Resources::derive(stream, from, &to, &self.config)
    }

    /// A stream is not carried to a consumer any more; to none, if that is the producer.
    fn take_out(&mut self, id: u16, consumer: u16) {
        let Some(mut carried) = self.streams.remove(&id) else { return };
        carried.consumers.remove(&consumer);
        if carried.consumers.is_empty() || carried.stream.producer == consumer {
            return;
        }
        if let Some(resources) = self.derive(&carried.stream, carried.from, &carried.consumers) {
            carried.resources = resources;
            self.streams.insert(id, carried);
        }
    }

    /// The next message to send, and its recipient.
    pub fn poll(&mut self) -> Option<(u16, FttMessage)> {
        self.out.pop_front()
    }

    /// The streams that its switch carries.
    #[must_use]
    pub const fn streams(&self) -> &BTreeMap<u16, Carried> {
        &self.streams
    }
}
