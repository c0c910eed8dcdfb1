//! The ACMaster: the one master that admits streams of the whole network, and its standby.
//!
//! A stream is tested to one consumer after the other, each by its own way, when its producer and that consumer have asked;
//! attributes that cannot be are refused at once. The test is another's: the machine asks for it and is told the result. A consumer
//! that passes is told to every switch on its way (Config_Msg); when all have replied, and the standby knows it, it is
//! told, and before it the producer, if it is the first (Ack). One that fails is told alone; when none that asked has
//! passed, the producer is told, too. Its offer stays with it (`node.rs`): when another consumer asks, it is invited. A refusal
//! of a consumer stands until something is given back. Messages may be lost: a Config_Msg is repeated until it is
//! answered, and who asks for what is decided already is answered again.
//!
//! Replication: the active one tells the standby of a stream before it is acknowledged, and that it lives. When it
//! falls silent the standby takes over, with every stream that was ever acknowledged; requests that were not are asked again by the
//! nodes. Who took over waits for no answer of the one that fell silent; when that comes back, empty, it is told all, and becomes the
//! standby (`standby.rs`). Invariants: one test at a time per stream; no stream is acknowledged that a switch on its way, or a
//! standby that answers, does not know.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};

use tautwire_units::{Duration, Instant};
use tautwire_wire::harts::{FttMessage, FttStream};

use super::ending::Ending;
use super::leaving::Leaving;
use super::survey::Survey;
use super::topology::Topology;

/// What the ACMaster wants done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AcAction {
    /// The admission test of a stream to a consumer; the result goes to [`AcMaster::tested`].
    Test {
        /// The stream.
        stream: FttStream,
        /// The consumer that is new; those that stand beside it are among [`AcMaster::admitted`].
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
    /// nothing of what stands, and asks the other one, or, if there is none, the switches.
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
    /// Number of the producer's request, if it has asked.
    pub(super) produced: Option<u16>,
    /// Consumers that have asked and are not decided, and the numbers of their requests.
    pub(super) asking: BTreeMap<u16, u16>,
    /// The consumer that is being tested or configured, and the number of its request.
    pub(super) current: Option<(u16, u16)>,
    /// Under which number that one passed its test.
    pub(super) number: u32,
    /// Switches that have not replied.
    pub(super) missing: BTreeSet<u16>,
    /// The standby has not replied.
    pub(super) unknown: bool,
    /// How often it was told.
    pub(super) notices: u8,
    pub(super) again: Option<Instant>,
    /// Consumers that stand, and the numbers of their requests, where they are known.
    pub(super) granted: BTreeMap<u16, Option<u16>>,
}

/// What a producer was told when nothing of its stream was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Offer {
    /// The producer.
    pub(super) producer: u16,
    /// To which of its requests.
    pub(super) number: u16,
    /// That it is refused, and what is in the way; none: that the last consumer leaves.
    pub(super) refused: Option<Refusal>,
}

/// Why somebody is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Refusal {
    /// This stream is in its way, or it itself.
    Stream(u16),
    /// A link on its way is down: the switch that says so, and its neighbour.
    Cut([u16; 2]),
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
    /// What others asked of the active one, as far as it said so: the standby's, by stream and node, with the number of the request.
    pub(super) pending: BTreeMap<(u16, u16), (FttStream, u16)>,
    /// The account by which the other one is, or was, told of that.
    pub(super) account: u16,
    /// How often it was told amiss when it came back, and began anew; the other one's count is behind its life.
    pub(super) attempt: u16,
    pub(super) other_attempt: u16,
    /// What switches carry, while they are asked.
    pub(super) survey: Survey,
    /// The last account did not agree with what it holds.
    pub(super) doubted: bool,
    /// Streams of whose requests the other one was told.
    pub(super) related: BTreeSet<u16>,
    /// The other one fell silent and was not heard since.
    pub(super) alone: bool,
    /// It took over from the other one, or from an earlier life of its own, whose unfinished work it does not know.
    pub(super) heir: bool,
    /// When the standby takes over, or the active one says that it lives.
    pub(super) alive_at: Option<Instant>,
    pub(super) entries: BTreeMap<u16, Entry>,
    /// Streams and consumers of which the other one has not said that it knows, and under which number they came.
    pub(super) unnotified: BTreeMap<(u16, u16), u32>,
    /// Streams that are taken out, and who gave them back.
    pub(super) leaving: BTreeMap<(u16, u16), Leaving>,
    /// Grants that end for a link that failed, by stream and consumer.
    pub(super) endings: BTreeMap<(u16, u16), Ending>,
    /// Of streams and consumers the number under which they were granted here last, or ended.
    pub(super) facts: BTreeMap<(u16, u16), u32>,
    /// Consumers that were refused for a link that is down.
    pub(super) cut: BTreeMap<(u16, u16), (FttStream, [u16; 2])>,
    /// Consumers of streams that were refused since something was given back last, and what was in their way: who asks meanwhile is told so.
    pub(super) refused: BTreeMap<(u16, u16), (FttStream, u16)>,
    /// Streams whose producers were told that nothing of them is left, and may be invited.
    pub(super) offers: BTreeMap<u16, Offer>,
    pub(super) out: VecDeque<AcAction>,
    pub(super) tests: u64,
}

impl AcMaster {
    /// An ACMaster that begins at `now`.
    #[must_use]
    pub fn new(config: AcConfig, now: Instant) -> Self {
        let active = config.active;
        let in_step = config.life == 0 || (active && config.other.is_some());
        let wait = match (active, in_step) {
            (true, true) => config.alive,
            (false, true) => config.alive * 3,
            (_, false) => config.patience,
        };
        let alive_at = (config.other.is_some() || !in_step).then_some(now + wait);
        let mut master = Self {
            config,
            active,
            in_step,
            other_life: 0,
            recalled: false,
            number: 0,
            heard: BTreeMap::new(),
            pending: BTreeMap::new(),
            account: 0,
            attempt: 0,
            other_attempt: 0,
            doubted: false,
            survey: Survey::default(),
            related: BTreeSet::new(),
            alone: false,
            heir: false,
            alive_at,
            entries: BTreeMap::new(),
            unnotified: BTreeMap::new(),
            leaving: BTreeMap::new(),
            endings: BTreeMap::new(),
            facts: BTreeMap::new(),
            cut: BTreeMap::new(),
            refused: BTreeMap::new(),
            offers: BTreeMap::new(),
            out: VecDeque::new(),
            tests: 0,
        };
        master.config.topology.forget_links();
        if !in_step {
            master.survey.missing = master.config.topology.all_switches();
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
            FttMessage::Add { stream, node, number } if self.decides() => {
                self.add(now, *stream, *node, *number);
            }
            FttMessage::Remove { stream, node, number } if self.decides() => {
                self.remove(now, *stream, *node, *number);
            }
            FttMessage::Paused { stream, node, number } => self.paused(now, (*stream, *node), *number),
            FttMessage::Link { switch, neighbour, up, number } if self.decides() => {
                self.link(now, [*switch, *neighbour], *up, *number);
            }
            FttMessage::Broken { switch, neighbour, stream, consumer, number } if self.decides() => {
                self.broken(now, [*switch, *neighbour], (*stream, *consumer), *number);
            }
            FttMessage::Unable { stream, consumer, switch, neighbour, link, number } if self.decides() => {
                self.unable(now, [*switch, *neighbour], (*stream, *consumer), [*link, *number]);
            }
            FttMessage::Reply { stream, consumer, switch, installed: true, number } => {
                let entry = self.entries.get_mut(stream);
                let answers = |entry: &&mut Entry| entry.is_current(*consumer) && *number >= entry.number;
                let Some(entry) = entry.filter(answers) else { return };
                let last = entry.missing.remove(switch) && entry.missing.is_empty();
                if planted!(ReplyWaits) {
                    return;
                }
                if last && entry.unknown {
                    self.configure(now, *stream);
                }
                self.go_on(*stream);
            }
            FttMessage::Reply { stream, consumer, switch, installed: false, number } => {
                self.taken_out(now, (*stream, *consumer), *switch, *number);
            }
            FttMessage::Replicated { stream, consumer, installed, number } => {
                self.known(*stream, *consumer, *installed, *number);
            }
            FttMessage::Replicate { stream, consumer, installed, number, life, asked, by }
                if *life >= self.other_life =>
            {
                self.learn(*stream, *consumer, installed.then_some([*asked, *by]), *number);
            }
            FttMessage::Alive { master, life, number } if Some(*master) == self.config.other => {
                self.number = self.number.max(*number);
                self.lives(now, *master, *life);
            }
            FttMessage::Recall { master, life, attempt } if Some(*master) == self.config.other => {
                self.recalled(now, *life, *attempt);
            }
            FttMessage::Record { stream, node, number, account, refused } if !self.active => {
                self.record(*stream, (*node, *number), *account, *refused);
            }
            FttMessage::Carries { switch, stream, consumer, account, broken } => {
                self.carries(*switch, (*stream, *consumer, *broken), *account);
            }
            FttMessage::Surveyed { switch, account, number, digest } => {
                self.surveyed(now, (*switch, *account), *number, *digest);
            }
            FttMessage::Complete { life, to, number, account, digest, .. } => {
                self.complete(now, [*life, *to, *number], *account, *digest);
            }
            _ => {}
        }
    }

    /// The result of a test: whether the stream may join, and if not, which stream would be late.
    pub fn tested(&mut self, now: Instant, stream: u16, result: Result<(), u16>) {
        let Some(entry) = self.entries.get_mut(&stream) else { return };
        let (Some((consumer, _)), Some(asked)) = (entry.current, entry.stream) else { return };
        if let Some(link) = self.no_way(&asked, consumer) {
            return self.refuse(stream, consumer, Refusal::Cut(link));
        }
        match result {
            Ok(()) => self.set_up(now, stream),
            Err(subject) => self.refuse(stream, consumer, Refusal::Stream(subject)),
        }
    }

    /// Tells the switches on the way of a consumer that passed its test.
    pub(super) fn set_up(&mut self, now: Instant, stream: u16) {
        let Some(entry) = self.entries.get_mut(&stream) else { return };
        let (Some((consumer, _)), Some(asked)) = (entry.current, entry.stream) else { return };
        let way = self.config.topology.switches(asked.producer, consumer).unwrap_or_default();
        entry.missing = way.into_iter().collect();
        self.number += 1;
        entry.number = self.number;
        if self.config.other.is_some() {
            self.unnotified.insert((stream, consumer), self.number);
        }
        entry.unknown = self.config.other.is_some() && !self.alone;
        entry.notices = 0;
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
                entry.unknown &= entry.notices < 3;
            }
            self.configure(now, stream);
        }
        let due = self.leaving.iter().filter(|(_, leaving)| leaving.again.is_some_and(|at| at <= now));
        let due: alloc::vec::Vec<(u16, u16)> = due.map(|(of, _)| *of).collect();
        for (stream, node) in due {
            self.take_out(now, stream, node);
        }
        let due = self.endings.iter().filter(|(_, ending)| ending.again.is_some_and(|at| at <= now));
        let due: alloc::vec::Vec<(u16, u16)> = due.map(|(of, _)| *of).collect();
        for of in due {
            self.end_on(now, of);
        }
    }

    /// When it acts next.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let leaving = self.leaving.values().filter_map(|leaving| leaving.again);
        let ending = self.endings.values().filter_map(|ending| ending.again);
        let entries = self.entries.values().filter_map(|entry| entry.again);
        entries.chain(leaving).chain(ending).chain(self.alive_at).min()
    }

    /// What it wants done next.
    pub fn poll(&mut self) -> Option<AcAction> {
        self.out.pop_front()
    }

    /// The streams that stand, with their consumers.
    pub fn standing(&self) -> impl Iterator<Item = (&FttStream, BTreeSet<u16>)> {
        let standing = self.entries.values().filter(|entry| !entry.granted.is_empty());
        let consumers = |entry: &Entry| entry.granted.keys().copied().collect();
        standing.filter_map(move |entry| entry.stream.as_ref().map(|stream| (stream, consumers(entry))))
    }

    /// What a test must count: streams with their consumers that stand, passed the test and are being set up, or are not out yet.
    #[must_use]
    pub fn admitted(&self) -> BTreeMap<u16, BTreeSet<u16>> {
        let mut all: BTreeMap<u16, BTreeSet<u16>> = BTreeMap::new();
        for (id, entry) in &self.entries {
            let set_up = entry.current.filter(|_| entry.again.is_some()).map(|(consumer, _)| consumer);
            let consumers: BTreeSet<u16> = entry.granted.keys().copied().chain(set_up).collect();
            if !consumers.is_empty() {
                all.insert(*id, consumers);
            }
        }
        for ((id, _), leaving) in self.leaving.iter().filter(|(_, leaving)| !leaving.confirmed) {
            if !leaving.gone.is_empty() {
                all.entry(*id).or_default().extend(leaving.gone.iter().copied());
            }
        }
        for ((id, consumer), _) in self.endings.iter().filter(|(_, ending)| !ending.freed) {
            all.entry(*id).or_default().insert(*consumer);
        }
        all
    }

    /// Whether it knows all that stands: one that came back does when the other one has told it.
    #[must_use]
    pub const fn is_in_step(&self) -> bool {
        self.in_step
    }

    /// Whether the other one has said that it knows all that stands here.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        self.unnotified.is_empty()
    }

    /// Whether it decides about requests.
    const fn decides(&self) -> bool {
        self.active && self.in_step
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

    /// Tells the switches that have not replied, and the standby.
    fn configure(&mut self, now: Instant, id: u16) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        let (Some(stream), Some((consumer, by))) = (entry.stream, entry.current) else {
            entry.again = None;
            return self.ask_producer(now, id);
        };
        entry.again = Some(now + self.config.patience);
        for to in &entry.missing {
            let between = self.config.topology.between(stream.producer, consumer, *to);
            let message = FttMessage::Config { stream, consumer, between, number: self.number };
            self.out.push_back(AcAction::Send { to: *to, message });
        }
        // The standby hears of it when all switches carry it: what it knows stands everywhere.
        if let Some(to) = self.config.other.filter(|_| entry.unknown && entry.missing.is_empty()) {
            let asked = [entry.produced.unwrap_or_default(), by];
            let message = replicate(stream, consumer, (self.number, self.config.life), asked);
            self.out.push_back(AcAction::Send { to, message });
            entry.notices += 1;
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
        let (Some((consumer, number)), Some(stream)) = (entry.current.take(), entry.stream) else { return };
        entry.again = None;
        // The one that it took over from may have told the producer to pause, for one that still stands here.
        let first = entry.granted.is_empty() || (self.heir && self.config.other.is_some());
        entry.granted.insert(consumer, Some(number));
        self.facts.insert((id, consumer), entry.number);
        if let Some(produced) = entry.produced.filter(|_| first) {
            self.answer(id, (stream.producer, produced), Ok(()));
        }
        self.answer(id, (consumer, number), Ok(()));
        self.test_next(id);
    }

    /// The answer to a node's request of that number.
    pub(super) fn answer(&mut self, stream: u16, (to, number): (u16, u16), result: Result<(), Refusal>) {
        let (subject, cut) = match result {
            Err(Refusal::Stream(subject)) => (subject, None),
            Err(Refusal::Cut(link)) => (stream, Some(link)),
            Ok(()) => (stream, None),
        };
        let message = FttMessage::Ack { stream, granted: result.is_ok(), subject, number, cut };
        self.out.push_back(AcAction::Send { to, message });
    }
}

/// What the standby is told of a consumer that stands, with the numbers of the producer's and its own request.
pub(super) fn replicate(
    stream: FttStream,
    consumer: u16,
    (number, life): (u32, u32),
    [asked, by]: [u16; 2],
) -> FttMessage {
    FttMessage::Replicate { stream, consumer, installed: true, number, life, asked, by }
}

impl Entry {
    /// Number of a consumer's request.
    pub(super) fn number_of(&self, node: u16) -> Option<u16> {
        let current = self.current.filter(|(consumer, _)| *consumer == node).map(|(_, number)| number);
        current
            .or_else(|| self.granted.get(&node).copied().flatten())
            .or_else(|| self.asking.get(&node).copied())
    }

    /// Whether that consumer is being tested or configured.
    pub(super) fn is_current(&self, node: u16) -> bool {
        self.current.is_some_and(|(consumer, _)| consumer == node)
    }

    /// Whether all switches carry it to that consumer, so that the standby is told, and has not replied.
    pub(super) fn is_notified_of(&self, consumer: u16) -> bool {
        self.is_current(consumer) && self.again.is_some() && self.missing.is_empty()
    }

    /// Whether nobody asks for anything of it and nothing stands.
    pub(super) fn is_empty(&self) -> bool {
        self.produced.is_none() && self.asking.is_empty() && self.current.is_none() && self.granted.is_empty()
    }
}

#[cfg(test)]
#[path = "acmaster_tests/mod.rs"]
mod tests;
