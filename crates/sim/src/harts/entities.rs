//! The work of entities of HaRTES: messages one after the other, tests before them, each for its processing time.
//!
//! Times are drawn when work begins, from one random stream for all. Not here: the effects of the work (`admission.rs`).

use std::collections::{BTreeMap, VecDeque};

use tautwire_model::network::Delay;
use tautwire_units::Duration;
use tautwire_wire::harts::{FttMessage, FttStream};

use crate::clock::SimTime;

/// All entities, by their identifiers.
#[derive(Default)]
pub(super) struct Entities(BTreeMap<u16, Entity>);

struct Entity {
    node: u32,
    inbox: VecDeque<FttMessage>,
    /// Streams that are to be tested, with the consumer that is new.
    tests: VecDeque<(FttStream, u16)>,
    /// Its present work, until this time.
    work: Option<(SimTime, Work)>,
}

/// The work of an entity.
pub(super) enum Work {
    Message(FttMessage),
    Test(FttStream, u16),
}

impl Entities {
    /// Adds an entity to a node.
    pub(super) fn add(&mut self, id: u16, node: u32) {
        let entity = Entity { node, inbox: VecDeque::new(), tests: VecDeque::new(), work: None };
        self.0.insert(id, entity);
    }

    /// The node of an entity.
    pub(super) fn node_of(&self, id: u16) -> Option<u32> {
        self.0.get(&id).map(|entity| entity.node)
    }

    /// A message has come for an entity.
    pub(super) fn arrive(&mut self, id: u16, message: FttMessage) {
        if let Some(entity) = self.0.get_mut(&id) {
            entity.inbox.push_back(message);
        }
    }

    /// An entity is to test a stream to a consumer.
    pub(super) fn test(&mut self, id: u16, stream: FttStream, consumer: u16) {
        if let Some(entity) = self.0.get_mut(&id) {
            entity.tests.push_back((stream, consumer));
        }
    }

    /// Starts the next work of an entity, if it is idle; `taken` gives the time that the work takes.
    pub(super) fn begin(&mut self, id: u16, now: SimTime, taken: impl FnOnce(&Work) -> Duration) {
        let Some(entity) = self.0.get_mut(&id).filter(|entity| entity.work.is_none()) else { return };
        let test = entity.tests.pop_front().map(|(stream, consumer)| Work::Test(stream, consumer));
        let work = test.or_else(|| entity.inbox.pop_front().map(Work::Message));
        entity.work = work.map(|work| (now + taken(&work), work));
    }

    /// When an entity of a node is through with its work.
    pub(super) fn next(&self, node: u32) -> Option<SimTime> {
        let here = self.0.values().filter(|entity| entity.node == node);
        here.filter_map(|entity| entity.work.as_ref().map(|(at, _)| *at)).min()
    }

    /// An entity of a node that is through with its work, and that work.
    pub(super) fn take_done(&mut self, node: u32, now: SimTime) -> Option<(u16, Work)> {
        let is_done = |entity: &&mut Entity| {
            entity.node == node && entity.work.as_ref().is_some_and(|(at, _)| *at <= now)
        };
        let (id, entity) =
            self.0.iter_mut().map(|(id, entity)| (*id, entity)).find(|(_, entity)| is_done(entity))?;
        entity.work.take().map(|(_, work)| (id, work))
    }

    /// A node stops: what its entities have is lost.
    pub(super) fn forget(&mut self, node: u32) {
        for entity in self.0.values_mut().filter(|entity| entity.node == node) {
            entity.inbox.clear();
            entity.tests.clear();
            entity.work = None;
        }
    }
}

/// Octets that a delay of a message counts.
pub(super) const OCTETS: u64 = 64;

/// The processing time of an entity of this kind.
pub(super) fn delay_of<'s>(
    settings: &'s tautwire_model::harts::admission::HartsAdmission,
    is_acmaster: bool,
    is_switch: bool,
    work: &Work,
) -> &'s Delay {
    match work {
        Work::Test(..) => &settings.test,
        Work::Message(_) if is_acmaster => &settings.handling,
        Work::Message(FttMessage::Config { .. }) => &settings.configure,
        Work::Message(_) if is_switch => &settings.relay,
        Work::Message(_) => &settings.node,
    }
}
