//! How grants end whose path includes a failed link.
//!
//! The switch at the failed link reports each grant that it carried over it until it is notified that the grant is
//! gone (`links.rs`). That ends with:
//!
//! ```text
//! switch: Broken → producer, if no consumer is left: Pause, Paused; consumer: Pause, Paused
//!   → other switches on the way: Config (gone), Reply → standby: Replicate (gone), Replicated
//!   → the switch that said so: Config (gone), Reply, when the consumer knows
//! ```
//!
//! A node that cannot be reached, because a link between is down, is not waited for: when the others are notified, the
//! resources are free, and the node is notified when the link is back. The reporting switch is notified last, so it is
//! the memory of the ACMaster: after an ACMaster dies, the next one receives every report. Until all are notified,
//! only this consumer has to wait with a new request for this stream. A node that is notified by mistake requests
//! again and is answered.
//!
//! Requests over a link that is known to be down are refused for it, without a test, and so are those that a switch
//! cannot set up because it has no such link (Unable). Invariant: if a consumer believes that it has a grant which
//! some switch on its path does not carry, it is behind a switch that reports it broken.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use tautwire_units::Instant;
use tautwire_wire::harts::{FttMessage, FttStream};

use super::acmaster::{AcAction, AcMaster, Offer, Refusal};
use super::leaving::gone;

/// A producer that does not answer so often holds nothing up.
const PAUSES_MAX: u8 = 4;
/// A standby that does not answer so often is given up.
const NOTICES_MAX: u8 = 3;

/// A stream to one consumer that ends for a link that failed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ending {
    pub(super) stream: FttStream,
    link: [u16; 2],
    /// Switches that report it until they are notified.
    holders: BTreeSet<u16>,
    /// Under which number it ends.
    number: u32,
    /// The producer has not acknowledged the pause; number of its request, if known. Then how often it was notified.
    pausing: Option<Option<u16>>,
    pauses: u8,
    /// The consumer has not acknowledged the end; number of its request, if known.
    telling: Option<Option<u16>>,
    /// Switches that have not replied.
    missing: BTreeSet<u16>,
    /// The standby has not replied; and how often it was notified.
    pub(super) unknown: bool,
    notices: u8,
    /// No reachable node has it, so tests do not count it any more.
    pub(super) freed: bool,
    /// The consumer gave it back meanwhile.
    given_back: bool,
    pub(super) again: Option<Instant>,
}

impl AcMaster {
    /// A switch reports whether a link of it is up.
    pub(super) fn link(&mut self, now: Instant, [switch, neighbour]: [u16; 2], up: bool, number: u32) {
        let message = FttMessage::Linked { neighbour, number };
        self.out.push_back(AcAction::Send { to: switch, message });
        if self.config.topology.report(switch, neighbour, up, number) && up {
            let is_it = |link: &[u16; 2]| *link == [switch, neighbour] || *link == [neighbour, switch];
            self.cut.retain(|_, (_, link)| !is_it(link));
            // Nodes that were unreachable may be reachable now.
            let all: Vec<(u16, u16)> = self.endings.keys().copied().collect();
            all.into_iter().for_each(|of| self.end_on(now, of));
        }
    }

    /// The link that blocks, or blocked, the path of a stream to a consumer; none once the end was notified to all.
    pub(super) fn no_way(&self, stream: &FttStream, consumer: u16) -> Option<[u16; 2]> {
        let ending = self.endings.get(&(stream.id, consumer)).filter(|ending| !ending.is_done());
        let cut = self.config.topology.cut(stream.producer, consumer);
        cut.or_else(|| ending.map(|ending| ending.link))
    }

    /// A switch carries a stream to a consumer over a link that failed.
    pub(super) fn broken(
        &mut self,
        now: Instant,
        [switch, neighbour]: [u16; 2],
        (stream, consumer): (FttStream, u16),
        number: u32,
    ) {
        let key = (stream.id, consumer);
        if planted!(BrokenIgnored) {
            return;
        }
        if let Some(ending) = self.endings.get_mut(&key).filter(|ending| !ending.is_done()) {
            if ending.missing.contains(&switch) {
                ending.holders.insert(switch);
            }
            return;
        }
        // A released grant is removed there, too.
        let goes = |node| self.leaving.get(&(stream.id, node)).is_some_and(|leaving| !leaving.confirmed);
        if goes(consumer) || goes(stream.producer) {
            return;
        }
        // A message from before the last grant or end.
        if self.facts.get(&key).is_some_and(|since| number < *since) {
            return;
        }
        let entry = self.entries.get_mut(&stream.id);
        let current = entry.as_ref().and_then(|entry| entry.current).filter(|(node, _)| *node == consumer);
        if let Some(entry) = entry
            && current.is_some()
        {
            // A grant that is being set up anew may be older than the failure; nobody is notified yet of a request in test.
            if entry.again.is_some() && number >= entry.number {
                // The standby may have it, and the consumer may miss the refusal: the switch remembers it.
                self.abort(now, [switch, neighbour], key, Some(switch));
            }
            return;
        }
        let granted = self.entries.get_mut(&stream.id).and_then(|entry| entry.granted.remove(&consumer));
        let way = self.config.topology.switches(stream.producer, consumer).unwrap_or_default();
        let mut ending = Ending::of(stream, [switch, neighbour], way.into_iter().collect());
        ending.telling = Some(granted.flatten());
        ending.holders.insert(switch);
        let stood = granted.is_some();
        if let Some(entry) = self.entries.get_mut(&stream.id).filter(|_| stood)
            && entry.granted.is_empty()
            && entry.current.is_none()
            && entry.asking.is_empty()
        {
            ending.pausing = Some(entry.produced);
            if let Some(number) = entry.produced {
                let (producer, refused) = (stream.producer, Some(Refusal::Cut([switch, neighbour])));
                self.offers.insert(stream.id, Offer { producer, number, refused });
            }
            self.entries.remove(&stream.id);
        }
        self.end(now, key, ending);
    }

    /// A grant that only some switches carry, some of them over a failed link, ends, and its consumer is notified.
    pub(super) fn end_rest(
        &mut self,
        now: Instant,
        (stream, consumer): (FttStream, u16),
        missing: BTreeSet<u16>,
        holders: BTreeSet<u16>,
    ) {
        let link = holders.first().map_or([0; 2], |switch| [*switch, *switch]);
        let ending = Ending { telling: Some(None), holders, ..Ending::of(stream, link, missing) };
        self.end(now, (stream.id, consumer), ending);
    }

    /// A switch cannot carry a configured grant: it is not set up, and its request is refused.
    pub(super) fn unable(
        &mut self,
        now: Instant,
        [switch, neighbour]: [u16; 2],
        (id, consumer): (u16, u16),
        [link, number]: [u32; 2],
    ) {
        self.config.topology.report(switch, neighbour, false, link);
        let entry = self.entries.get(&id);
        let is_meant = entry.is_some_and(|entry| {
            entry.is_current(consumer)
                && entry.again.is_some()
                && entry.missing.contains(&switch)
                && number >= entry.number
        });
        if is_meant {
            self.abort(now, [switch, neighbour], (id, consumer), None);
        }
    }

    /// What is being set up to a consumer is not: it is taken out, and the consumer refused.
    fn abort(&mut self, now: Instant, link: [u16; 2], (id, consumer): (u16, u16), holder: Option<u16>) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        let Some(stream) = entry.stream else { return };
        let number = entry.current.map(|(_, number)| number);
        entry.again = None;
        (entry.unknown, entry.notices) = (false, 0);
        let way = self.config.topology.switches(stream.producer, consumer).unwrap_or_default();
        let mut ending = Ending::of(stream, link, way.into_iter().collect());
        if let Some(switch) = holder {
            ending.telling = Some(number);
            ending.holders.insert(switch);
        }
        // Before others are tested: it counts until it is out.
        self.end(now, (id, consumer), ending);
        self.refuse(id, consumer, Refusal::Cut(link));
    }

    fn end(&mut self, now: Instant, key: (u16, u16), mut ending: Ending) {
        self.number += 1;
        ending.number = self.number;
        ending.unknown = self.config.other.is_some();
        self.facts.insert(key, self.number);
        self.unnotified.remove(&key);
        self.endings.insert(key, ending);
        self.end_on(now, key);
    }

    /// Sends, again, all unanswered messages, to all that can be reached.
    pub(super) fn end_on(&mut self, now: Instant, key: (u16, u16)) {
        let (id, consumer) = key;
        let (me, topology) = (self.config.me, &self.config.topology);
        let Some(ending) = self.endings.get_mut(&key) else { return };
        if ending.is_done() {
            return self.is_ended(key);
        }
        ending.again = Some(now + self.config.patience);
        let reached = |to: u16| topology.cut(me, to).is_none();
        let (stream, cut) = (ending.stream, Some(ending.link));
        let mut messages = Vec::new();
        if let Some(number) = ending.pausing.filter(|_| reached(stream.producer)) {
            messages.push((stream.producer, FttMessage::Pause { stream: id, number, cut }));
            ending.pauses = ending.pauses.saturating_add(1);
        }
        if let Some(number) = ending.telling.filter(|_| reached(consumer)) {
            messages.push((consumer, FttMessage::Pause { stream: id, number, cut }));
        }
        let waits = ending.waits_for_the_producer(reached);
        for to in ending.missing.iter().filter(|to| !waits && reached(**to) && !ending.is_held_by(**to)) {
            let (between, number) = (None, self.number);
            messages.push((*to, FttMessage::Config { stream, consumer, between, number }));
        }
        let is_off = !waits && !ending.waits_for_switches(reached);
        if let Some(to) = self.config.other.filter(|_| is_off && ending.unknown) {
            messages.push((to, gone(stream, consumer, self.number, self.config.life)));
            ending.notices = ending.notices.saturating_add(1);
        }
        self.out.extend(messages.into_iter().map(|(to, message)| AcAction::Send { to, message }));
        self.is_ended(key);
    }

    /// Its resources are free when all reachable nodes are notified, and it is complete when all are.
    fn is_ended(&mut self, key: (u16, u16)) {
        let (me, topology, alone) = (self.config.me, &self.config.topology, self.alone);
        let Some(ending) = self.endings.get_mut(&key) else { return };
        let reached = |to: u16| topology.cut(me, to).is_none();
        let is_off = !ending.waits_for_the_producer(reached) && !ending.waits_for_switches(reached);
        let is_free = !ending.freed && is_off && (!ending.unknown || ending.notices >= NOTICES_MAX || alone);
        ending.freed |= is_free;
        if !ending.freed {
            return;
        }
        let is_done = ending.is_done();
        let (given_back, unknown) = (core::mem::take(&mut ending.given_back) && is_done, ending.unknown);
        if is_done {
            ending.again = None;
        }
        if is_free {
            self.refused.clear();
        }
        if given_back {
            self.confirm(key.0, key.1);
        }
        // An absent standby is notified when it is back.
        if is_done && !unknown {
            self.endings.remove(&key);
        }
        self.send_complete();
    }

    /// A node does not use a grant that ends.
    pub(super) fn knows_that_it_ends(&mut self, now: Instant, (id, node): (u16, u16), number: Option<u16>) {
        let mut heard = Vec::new();
        for ((_, consumer), ending) in self.endings.range_mut((id, 0)..=(id, u16::MAX)) {
            let before = (ending.telling, ending.pausing);
            if *consumer == node && ending.telling == Some(number) {
                ending.telling = None;
            }
            if ending.stream.producer == node && ending.pausing == Some(number) {
                ending.pausing = None;
            }
            if before != (ending.telling, ending.pausing) {
                heard.push((id, *consumer));
            }
        }
        // A producer that was notified when the stream was granted again is invited: it waits for that.
        let granted_entry = self.entries.get(&id).filter(|entry| !entry.granted.is_empty());
        let producer = granted_entry.and_then(|entry| entry.stream).map(|stream| stream.producer);
        if number.is_none() && heard.is_empty() && producer == Some(node) {
            self.out.push_back(AcAction::Send { to: node, message: FttMessage::Invite { stream: id } });
        }
        heard.into_iter().for_each(|of| self.end_on(now, of));
    }

    /// A switch no longer carries what ends.
    pub(super) fn ended_at(&mut self, now: Instant, key: (u16, u16), switch: u16, number: u32) {
        let (me, topology) = (self.config.me, &self.config.topology);
        let Some(ending) = self.endings.get_mut(&key).filter(|ending| number >= ending.number) else {
            return;
        };
        let reached = |to: u16| topology.cut(me, to).is_none();
        if ending.missing.remove(&switch) && !ending.waits_for_switches(reached) {
            self.end_on(now, key);
            self.is_ended(key);
        }
    }

    /// The standby knows that it ended.
    pub(super) fn known_to_end(&mut self, id: u16, consumer: u16, number: u32) {
        let ending = self.endings.get_mut(&(id, consumer)).filter(|ending| number >= ending.number);
        if let Some(ending) = ending {
            ending.unknown = false;
            self.is_ended((id, consumer));
        }
    }

    /// The other ACMaster has forgotten all, also what does not end.
    pub(super) fn nobody_knows_what_ends(&mut self) {
        let all: Vec<(u16, u16)> = self.endings.keys().copied().collect();
        for key in all {
            if let Some(ending) = self.endings.get_mut(&key) {
                ending.unknown = false;
            }
            self.is_ended(key);
        }
    }

    /// Whether a node must wait with a request for a stream: it is the consumer of a grant that ends, or requests other attributes.
    pub(super) fn is_ending(&mut self, stream: &FttStream, node: u16) -> bool {
        let id = stream.id;
        self.endings.retain(|key, ending| *key != (id, node) || !ending.is_done());
        let mut of_stream = self.endings.range((id, 0)..=(id, u16::MAX));
        of_stream.any(|((_, consumer), ending)| {
            !ending.is_done() && (*consumer == node || ending.stream != *stream)
        })
    }

    /// Whether a consumer releases a grant that ends already: it is notified when that is done.
    pub(super) fn gives_back_what_ends(&mut self, id: u16, node: u16) -> bool {
        let ending = self.endings.get_mut(&(id, node)).filter(|ending| !ending.is_done());
        let Some(ending) = ending else { return false };
        ending.given_back = true;
        self.cut.remove(&(id, node));
        true
    }

    /// Whether a reachable node has a grant of the producer's stream that ends.
    pub(super) fn ends_below(&self, id: u16, producer: u16) -> bool {
        let (me, topology) = (self.config.me, &self.config.topology);
        let reached = |to: u16| topology.cut(me, to).is_none();
        let mut of_stream = self.endings.range((id, 0)..=(id, u16::MAX));
        of_stream.any(|((_, consumer), ending)| {
            let is_notified = ending.telling.is_some() && reached(*consumer);
            ending.stream.producer == producer
                && (!ending.freed || is_notified || ending.waits_for_switches(reached))
                && !planted!(GoneTooEarly)
        })
    }

    /// Grants that end because of a failed link, and whose end is not notified to all.
    #[must_use]
    pub fn ending(&self) -> usize {
        self.endings.values().filter(|ending| !ending.is_done()).count()
    }
}

impl Ending {
    /// One of which only these switches have to be notified.
    const fn of(stream: FttStream, link: [u16; 2], missing: BTreeSet<u16>) -> Self {
        Self {
            stream,
            link,
            holders: BTreeSet::new(),
            number: 0,
            pausing: None,
            pauses: 0,
            telling: None,
            missing,
            unknown: false,
            notices: 0,
            freed: false,
            given_back: false,
            again: None,
        }
    }

    /// Whether that switch is to remember it still.
    fn is_held_by(&self, switch: u16) -> bool {
        self.telling.is_some() && self.holders.contains(&switch)
    }

    fn waits_for_the_producer(&self, reached: impl Fn(u16) -> bool) -> bool {
        self.pausing.is_some() && self.pauses < PAUSES_MAX && reached(self.stream.producer)
    }

    fn waits_for_switches(&self, reached: impl Fn(u16) -> bool) -> bool {
        self.missing.iter().any(|to| reached(*to) && !self.is_held_by(*to))
    }

    /// Whether a notice of it to the standby is outstanding.
    pub(super) fn is_notified(&self) -> bool {
        self.unknown && !self.freed && self.notices > 0
    }

    /// Whether all know but a standby that is not there.
    fn is_done(&self) -> bool {
        self.freed && self.pausing.is_none() && self.telling.is_none() && self.missing.is_empty()
    }
}
