//! The ACMaster: the one master that admits streams of the whole network, and its standby.
//!
//! A stream is tested to one consumer after the other, each by its own path, when its producer and that consumer have
//! requested it; requests with impossible attributes are refused at once. Another part does the test: the machine
//! requests it and receives the result. A grant to a consumer is configured at every switch on its path (Config_Msg);
//! when all have replied, and the standby has acknowledged it, the consumer is notified (Ack), and before it the
//! producer, if this consumer is the first. A refused consumer alone is notified; when all requests of consumers are
//! refused, the producer is notified, too. Its offer stays valid (`node.rs`): when another consumer requests the
//! stream, the producer is invited. A refusal of a consumer stays until a reservation is released. Messages may be
//! lost: a Config_Msg is repeated until it is answered, and a repeated request that is decided already is answered
//! again.
//!
//! Replication: the active ACMaster notifies the standby of a stream before the stream is acknowledged, and sends it
//! keep-alive messages. When they stop, the standby takes over, with every stream that was ever acknowledged; the
//! nodes repeat requests that were not. An ACMaster that took over waits for no reply of the silent one; when that
//! comes back, empty, it receives all grants and becomes the standby (`standby.rs`). Invariants: one test at a time
//! per stream; no stream is acknowledged unless all switches on its path, and a standby that answers, have it.

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
        /// The new consumer; those already granted are among [`AcMaster::admitted`].
        consumer: u16,
    },
    /// A message to a node, a switch or the other ACMaster.
    Send {
        /// The recipient.
        to: u16,
        /// The message.
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
    /// Zero if it starts with the network; if it comes back, empty, greater than in all its earlier lives: it then
    /// knows no grant, and requests them from the other ACMaster, or, if there is none, from the switches.
    pub life: u32,
    /// After how long a message without an answer is sent again.
    pub patience: Duration,
    /// The interval of the active ACMaster's keep-alive messages; a standby takes over after three intervals without one.
    pub alive: Duration,
    /// Where nodes and switches are.
    pub topology: Topology,
    /// Longest frame that is taken, octets of the wire.
    pub size_max: u16,
}

/// A stream that is granted or requested.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    /// The requested attributes, the same in all requests.
    pub(super) stream: Option<FttStream>,
    /// Number of the producer's request, if there is one.
    pub(super) produced: Option<u16>,
    /// Consumers whose requests are not decided, and the numbers of their requests.
    pub(super) asking: BTreeMap<u16, u16>,
    /// The consumer that is being tested or configured, and the number of its request.
    pub(super) current: Option<(u16, u16)>,
    /// Under which number that one passed its test.
    pub(super) number: u32,
    /// Switches that have not replied.
    pub(super) missing: BTreeSet<u16>,
    /// The standby has not replied.
    pub(super) unknown: bool,
    /// How often the standby was notified.
    pub(super) notices: u8,
    pub(super) again: Option<Instant>,
    /// Consumers with a grant, and the numbers of their requests, if known.
    pub(super) granted: BTreeMap<u16, Option<u16>>,
}

/// The answer to a producer when no grant of its stream was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Offer {
    /// The producer.
    pub(super) producer: u16,
    /// To which of its requests.
    pub(super) number: u16,
    /// That it is refused, with the cause; none: that the last consumer left.
    pub(super) refused: Option<Refusal>,
}

/// The cause of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Refusal {
    /// This stream is in its way, or it itself.
    Stream(u16),
    /// A link on its path is down: the switch that reported it, and its neighbour.
    Cut([u16; 2]),
}

/// The ACMaster, or its standby.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AcMaster {
    pub(super) config: AcConfig,
    pub(super) active: bool,
    /// It has all grants, so that it may take over.
    pub(super) in_step: bool,
    /// The last life of the other ACMaster of which it received a message.
    pub(super) other_life: u32,
    /// The other ACMaster came back and requested all grants.
    pub(super) recalled: bool,
    /// How many streams, with a consumer each, were granted or released in the network.
    pub(super) number: u32,
    /// Of each stream the number of the last message about it.
    pub(super) heard: BTreeMap<u16, u32>,
    /// Requests to the active ACMaster that it has reported: held by the standby, by stream and node, with the number of the request.
    pub(super) pending: BTreeMap<(u16, u16), (FttStream, u16)>,
    /// The number of the account in which the other ACMaster is, or was, sent these requests.
    pub(super) account: u16,
    /// How often the contents that it received when it came back were wrong, and it started anew; the other one counts
    /// attempts after lives.
    pub(super) attempt: u16,
    pub(super) other_attempt: u16,
    /// What switches carry, while they are surveyed.
    pub(super) survey: Survey,
    /// The last account did not agree with what it holds.
    pub(super) doubted: bool,
    /// Streams whose requests were sent to the other ACMaster.
    pub(super) related: BTreeSet<u16>,
    /// The other ACMaster fell silent and has sent nothing since.
    pub(super) alone: bool,
    /// It took over from the other one, or from an earlier life of its own, whose unfinished work it does not know.
    pub(super) heir: bool,
    /// When the standby takes over, or the active one sends its keep-alive message.
    pub(super) alive_at: Option<Instant>,
    pub(super) entries: BTreeMap<u16, Entry>,
    /// Streams and consumers that the other ACMaster has not acknowledged, and the numbers of their notices.
    pub(super) unnotified: BTreeMap<(u16, u16), u32>,
    /// Streams that are being removed, and the nodes that released them.
    pub(super) leaving: BTreeMap<(u16, u16), Leaving>,
    /// Grants that end for a link that failed, by stream and consumer.
    pub(super) endings: BTreeMap<(u16, u16), Ending>,
    /// Of streams and consumers the number under which they were granted here last, or ended.
    pub(super) facts: BTreeMap<(u16, u16), u32>,
    /// Consumers that were refused for a link that is down.
    pub(super) cut: BTreeMap<(u16, u16), (FttStream, [u16; 2])>,
    /// Consumers of streams refused since the last release, and the cause: a repeated request gets the same answer.
    pub(super) refused: BTreeMap<(u16, u16), (FttStream, u16)>,
    /// Streams whose producers were notified that no grant is left, and may be invited.
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

    /// Configures the switches on the path of a consumer that passed its test.
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
            // A standby that did not answer three times counts as gone: nothing waits for it, and it is notified when it is back.
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

    /// The granted streams, with their consumers.
    pub fn standing(&self) -> impl Iterator<Item = (&FttStream, BTreeSet<u16>)> {
        let standing = self.entries.values().filter(|entry| !entry.granted.is_empty());
        let consumers = |entry: &Entry| entry.granted.keys().copied().collect();
        standing.filter_map(move |entry| entry.stream.as_ref().map(|stream| (stream, consumers(entry))))
    }

    /// The streams that a test must count, with their consumers: granted, passed and being set up, or not released yet.
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

    /// Whether it has all grants: one that came back has them when the other ACMaster has sent them.
    #[must_use]
    pub const fn is_in_step(&self) -> bool {
        self.in_step
    }

    /// Whether the other ACMaster has acknowledged all grants of this one.
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

    /// Tests that it has requested.
    #[must_use]
    pub const fn tests(&self) -> u64 {
        self.tests
    }

    /// Sends the configuration to switches that have not replied, and to the standby.
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
        // The standby is notified when all switches carry the stream: every grant that it has is set up everywhere.
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
        // The one that it took over from may have paused the producer, for a grant that still exists here.
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

/// The message to the standby about a granted consumer, with the numbers of the producer's and the consumer's request.
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

    /// Whether all switches carry the stream to that consumer, so that the standby is notified, and the standby has not replied.
    pub(super) fn is_notified_of(&self, consumer: u16) -> bool {
        self.is_current(consumer) && self.again.is_some() && self.missing.is_empty()
    }

    /// Whether it has neither a request nor a grant.
    pub(super) fn is_empty(&self) -> bool {
        self.produced.is_none() && self.asking.is_empty() && self.current.is_none() && self.granted.is_empty()
    }
}

#[cfg(test)]
#[path = "acmaster_tests/mod.rs"]
mod tests;
