//! The ACMaster: the one master that admits streams of the whole network, and its standby.
//!
//! A stream is tested when its producer and at least one consumer have asked for it; attributes that cannot be are
//! refused at once. The test is another's: the machine asks for it and is told the result. A stream that passes is
//! told to every switch on its way (Config_Msg); when all have replied, and the standby knows it, producer and
//! consumers are told (Ack). A refusal is told to all who asked, and stands until something is given back. Messages may be
//! lost: a Config_Msg is repeated until it is answered, and who asks for what is decided already is answered again.
//!
//! Replication: the active one tells the standby of a stream before it is acknowledged, and that it lives. When it
//! falls silent the standby takes over, with every stream that was ever acknowledged; requests that were not are asked again by the
//! nodes. Who took over waits for no answer of the one that fell silent; when that comes back, empty, it is told all, and becomes the
//! standby (`standby.rs`). Invariants: one test at a time per stream; no stream is acknowledged that a switch on its way, or a
//! standby that answers, does not know.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};

use tautwire_units::{Duration, Instant};
use tautwire_wire::ftt::{FttMessage, FttStream};

use super::leaving::Leaving;
use super::topology::Topology;

/// What the ACMaster wants done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AcAction {
    /// The admission test of a stream to a consumer; the result goes to [`AcMaster::tested`].
    Test {
        /// The stream.
        stream: FttStream,
        /// The consumer that is new.
        consumer: u16,
    },
    /// A message to a node, a switch or the other ACMaster.
    Send {
        /// To whom.
        to: u16,
        /// What.
        message: FttMessage,
    },
}

/// An ACMaster's settings.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AcConfig {
    /// Its identifier.
    pub me: u16,
    /// The other one, if there are two.
    pub other: Option<u16>,
    /// Whether it begins as the active one.
    pub active: bool,
    /// Zero if it begins with the network; if it comes back, empty, more than in every life that it had before: it then knows
    /// nothing of what stands, and asks the other one.
    pub life: u32,
    /// After how long a message without an answer is sent again.
    pub patience: Duration,
    /// How often the active one says that it lives; a standby takes over after three times that.
    pub alive: Duration,
    /// Where nodes and switches are.
    pub topology: Topology,
    /// Longest frame that is taken, octets of the wire.
    pub size_max: u16,
}

/// A stream that stands or is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    /// What was asked; of all the same.
    pub(super) stream: Option<FttStream>,
    /// Whether the producer has asked.
    pub(super) produced: bool,
    /// Consumers that have asked and are not decided.
    pub(super) asking: BTreeSet<u16>,
    /// The consumer that is being tested or configured.
    pub(super) current: Option<u16>,
    /// Switches that have not replied.
    missing: BTreeSet<u16>,
    /// The standby has not replied.
    pub(super) unknown: bool,
    /// How often it was told.
    pub(super) told: u8,
    pub(super) again: Option<Instant>,
    /// Consumers that stand.
    pub(super) granted: BTreeSet<u16>,
}

/// The ACMaster, or its standby.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AcMaster {
    pub(super) config: AcConfig,
    pub(super) active: bool,
    /// It knows all that stands, so that it may take over.
    pub(super) in_step: bool,
    /// The last life of the other one that it heard of.
    pub(super) other_life: u32,
    /// The other one came back and asked for what stands.
    pub(super) recalled: bool,
    /// How many streams, with a consumer each, were granted or given back in the network.
    pub(super) number: u32,
    /// Of each stream the number under which it heard of it last.
    pub(super) heard: BTreeMap<u16, u32>,
    /// What others asked of the active one, as far as it said so: the standby's, by stream and node.
    pub(super) pending: BTreeMap<(u16, u16), FttStream>,
    /// Streams of whose requests the other one was told.
    pub(super) related: BTreeSet<u16>,
    /// The other one fell silent and was not heard since.
    pub(super) alone: bool,
    /// It took over from the other one, whose unfinished work it does not know.
    pub(super) heir: bool,
    /// When the standby takes over, or the active one says that it lives.
    pub(super) alive_at: Option<Instant>,
    pub(super) entries: BTreeMap<u16, Entry>,
    /// Streams and consumers of which the other one has not said that it knows, and under which number they came.
    pub(super) untold: BTreeMap<(u16, u16), u32>,
    /// Streams that are taken out, and who gave them back.
    pub(super) leaving: BTreeMap<(u16, u16), Leaving>,
    /// Streams that were refused since something was given back last, and what was in their way: who asks meanwhile is told so.
    pub(super) refused: BTreeMap<u16, (FttStream, u16)>,
    pub(super) out: VecDeque<AcAction>,
    tests: u64,
}

impl AcMaster {
    /// An ACMaster that begins at `now`.
    #[must_use]
    pub fn new(config: AcConfig, now: Instant) -> Self {
        let active = config.active;
        let in_step = active || config.life == 0;
        let wait = match (active, in_step) {
            (true, _) => config.alive,
            (false, true) => config.alive * 3,
            (false, false) => config.patience,
        };
        let alive_at = config.other.map(|_| now + wait);
        let mut master = Self {
            config,
            active,
            in_step,
            other_life: 0,
            recalled: false,
            number: 0,
            heard: BTreeMap::new(),
            pending: BTreeMap::new(),
            related: BTreeSet::new(),
            alone: false,
            heir: false,
            alive_at,
            entries: BTreeMap::new(),
            untold: BTreeMap::new(),
            leaving: BTreeMap::new(),
            refused: BTreeMap::new(),
            out: VecDeque::new(),
            tests: 0,
        };
        if !in_step {
            master.recall();
        }
        master
    }

    /// A message comes in.
    pub fn receive(&mut self, now: Instant, message: &FttMessage) {
        use FttMessage::{Alive, Replicate, Replicated};
        if matches!(message, Alive { .. } | Replicate { .. } | Replicated { .. }) {
            self.alone = false;
        }
        match message {
            FttMessage::Add { stream, node } if self.active => self.add(*stream, *node),
            FttMessage::Remove { stream, node } if self.active => self.remove(now, *stream, *node),
            FttMessage::Reply { stream, switch, installed: true } => {
                let Some(entry) = self.entries.get_mut(stream) else { return };
                let last = entry.missing.remove(switch) && entry.missing.is_empty();
                if planted!(ReplyWaits) {
                    return;
                }
                if last && entry.unknown {
                    self.configure(now, *stream);
                }
                self.go_on(*stream);
            }
            FttMessage::Reply { stream, switch, installed: false } => self.taken_out(now, *stream, *switch),
            FttMessage::Replicated { stream, consumer, installed, number } => {
                self.known(*stream, *consumer, *installed, *number);
            }
            FttMessage::Replicate { stream, consumer, installed, number, life }
                if *life >= self.other_life =>
            {
                self.learn(*stream, *consumer, *installed, *number);
            }
            FttMessage::Alive { master, life } if Some(*master) == self.config.other => {
                self.lives(now, *master, *life);
            }
            FttMessage::Recall { master, life } if Some(*master) == self.config.other => {
                self.recalled(now, *life);
            }
            FttMessage::Record { stream, node, refused } if !self.active => {
                self.record(*stream, *node, *refused);
            }
            FttMessage::Complete { life, to, number, records, .. } => {
                self.complete(now, [*life, *to], *number, *records);
            }
            _ => {}
        }
    }

    /// The result of a test: whether the stream may join, and if not, which stream would be late.
    pub fn tested(&mut self, now: Instant, stream: u16, result: Result<(), u16>) {
        let Some(entry) = self.entries.get_mut(&stream) else { return };
        let (Some(consumer), Some(asked)) = (entry.current, entry.stream) else { return };
        if let Err(subject) = result {
            return self.refuse(stream, consumer, subject);
        }
        let way = self.config.topology.switches(asked.producer, consumer).unwrap_or_default();
        entry.missing = way.into_iter().collect();
        if self.config.other.is_some() {
            self.number += 1;
            self.untold.insert((stream, consumer), self.number);
        }
        entry.unknown = self.config.other.is_some() && !self.alone;
        entry.told = 0;
        self.configure(now, stream);
    }

    /// Lets time pass.
    pub fn advance(&mut self, now: Instant) {
        if self.alive_at.is_some_and(|at| at <= now) {
            if self.in_step {
                self.take_over(now);
            } else {
                self.alive_at = Some(now + self.config.patience);
                self.recall();
            }
        }
        let due: alloc::vec::Vec<u16> = self
            .entries
            .iter()
            .filter(|(_, entry)| entry.again.is_some_and(|at| at <= now))
            .map(|(stream, _)| *stream)
            .collect();
        for stream in due {
            // A standby that did not answer three times is gone: it holds nothing up, and is told when it is back.
            if let Some(entry) = self.entries.get_mut(&stream) {
                entry.unknown &= entry.told < 3;
            }
            self.configure(now, stream);
        }
        let due = self.leaving.iter().filter(|(_, leaving)| leaving.again.is_some_and(|at| at <= now));
        let due: alloc::vec::Vec<(u16, u16)> = due.map(|(of, _)| *of).collect();
        for (stream, node) in due {
            self.take_out(now, stream, node);
        }
    }

    /// When it acts next.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let leaving = self.leaving.values().filter_map(|leaving| leaving.again);
        self.entries.values().filter_map(|entry| entry.again).chain(leaving).chain(self.alive_at).min()
    }

    /// What it wants done next.
    pub fn poll(&mut self) -> Option<AcAction> {
        self.out.pop_front()
    }

    /// The streams that stand, with their consumers.
    pub fn standing(&self) -> impl Iterator<Item = (&FttStream, &BTreeSet<u16>)> {
        let standing = self.entries.values().filter(|entry| !entry.granted.is_empty());
        standing.filter_map(|entry| entry.stream.as_ref().map(|stream| (stream, &entry.granted)))
    }

    /// The streams that a test must count: those that stand, passed the test and are being set up, or are not out yet.
    pub fn admitted(&self) -> impl Iterator<Item = u16> + '_ {
        let stands = |entry: &Entry| !entry.granted.is_empty() || entry.again.is_some();
        let standing = self.entries.iter().filter(move |(_, entry)| stands(entry)).map(|(id, _)| *id);
        let leaving = self.leaving.iter().filter(|(_, leaving)| !leaving.confirmed).map(|((id, _), _)| *id);
        let all: BTreeSet<u16> = standing.chain(leaving).collect();
        all.into_iter()
    }

    /// Whether it knows all that stands: one that came back does when the other one has told it.
    #[must_use]
    pub const fn is_in_step(&self) -> bool {
        self.in_step
    }

    /// Whether the other one has said that it knows all that stands here.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        self.untold.is_empty()
    }

    /// Whether it is the active one.
    #[must_use]
    pub const fn is_active(&self) -> bool {
        self.active
    }

    /// Tests that it has asked for.
    #[must_use]
    pub const fn tests(&self) -> u64 {
        self.tests
    }

    pub(super) fn add(&mut self, stream: FttStream, node: u16) {
        let id = stream.id;
        let known = self.entries.get(&id).and_then(|entry| entry.stream);
        let wrong = stream.size == 0
            || stream.size > self.config.size_max
            || stream.period_ns == 0
            || stream.deadline_ns == 0
            || stream.offset_ns.is_some_and(|offset| offset >= stream.period_ns)
            || known.is_some_and(|known| known != stream)
            || self.config.topology.switches(stream.producer, node).is_none();
        if wrong {
            return self.answer(id, node, false, id);
        }
        if self.is_leaving(id) {
            return;
        }
        // Less stands only when something is given back: until then a test would come out as it did.
        if let Some((_, subject)) = self.refused.get(&id).filter(|(known, _)| *known == stream) {
            return self.answer(id, node, false, *subject);
        }
        let entry = self.entries.entry(id).or_default();
        entry.stream = Some(stream);
        if node == stream.producer {
            entry.produced = true;
            if !entry.granted.is_empty() {
                return self.answer(id, node, true, id);
            }
        } else if entry.granted.contains(&node) {
            return self.answer(id, node, true, id);
        } else if entry.current != Some(node) {
            entry.asking.insert(node);
        }
        self.test_next(id);
    }

    /// Begins the test of the next consumer of a stream, if none is under way.
    fn test_next(&mut self, id: u16) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        let Some(stream) = entry.stream.filter(|_| entry.produced && entry.current.is_none()) else { return };
        if let Some(consumer) = entry.asking.pop_first() {
            entry.current = Some(consumer);
            self.tests += 1;
            self.out.push_back(AcAction::Test { stream, consumer });
        }
    }

    fn refuse(&mut self, id: u16, consumer: u16, subject: u16) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        entry.current = None;
        let alone = entry.granted.is_empty();
        let producer = entry.stream.map(|stream| stream.producer);
        self.answer(id, consumer, false, subject);
        if alone {
            // All who asked are told, and who has asked and was not heard yet.
            let entry = self.entries.remove(&id);
            let stream = entry.as_ref().and_then(|entry| entry.stream);
            self.refused.extend(stream.map(|stream| (id, (stream, subject))));
            self.relate_refusal(id);
            let asking: BTreeSet<u16> = entry.map(|entry| entry.asking).unwrap_or_default();
            for node in producer.into_iter().chain(asking) {
                self.answer(id, node, false, subject);
            }
        } else {
            self.test_next(id);
        }
    }

    /// Tells the switches that have not replied, and the standby.
    fn configure(&mut self, now: Instant, id: u16) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        let (Some(stream), Some(consumer)) = (entry.stream, entry.current) else {
            entry.again = None;
            return;
        };
        entry.again = Some(now + self.config.patience);
        for to in &entry.missing {
            let message = FttMessage::Config { stream, installed: true };
            self.out.push_back(AcAction::Send { to: *to, message });
        }
        // The standby hears of it when all switches carry it: what it knows stands everywhere.
        if let Some(to) = self.config.other.filter(|_| entry.unknown && entry.missing.is_empty()) {
            let (number, life) = (self.number, self.config.life);
            let message = FttMessage::Replicate { stream, consumer, installed: true, number, life };
            self.out.push_back(AcAction::Send { to, message });
            entry.told += 1;
        }
        self.go_on(id);
    }

    /// Acknowledges a stream that all know.
    pub(super) fn go_on(&mut self, id: u16) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        let waits = !entry.missing.is_empty() || entry.unknown;
        if entry.again.is_none() || (waits && !planted!(AcknowledgedEarly)) {
            return;
        }
        let (Some(consumer), Some(stream)) = (entry.current.take(), entry.stream) else { return };
        entry.again = None;
        let first = entry.granted.is_empty();
        entry.granted.insert(consumer);
        if first {
            self.answer(id, stream.producer, true, id);
        }
        self.answer(id, consumer, true, id);
        self.test_next(id);
    }

    fn answer(&mut self, stream: u16, to: u16, granted: bool, subject: u16) {
        self.out.push_back(AcAction::Send { to, message: FttMessage::Ack { stream, granted, subject } });
    }
}

#[cfg(test)]
#[path = "acmaster_tests.rs"]
mod tests;
