//! How the ACMaster removes a stream: from the switches first, then from the standby; then it notifies the node that released it.
//!
//! A producer releases the stream for all consumers, a consumer its own part. When the last consumer leaves, the
//! producer is notified to stop sending before the switches are; its offer stays valid, so that another consumer may
//! request the stream. If it does not answer four notices, it is not waited for: its frames have no server any more,
//! and disturb none that has one.
//!
//! As for a stream that joins, every message is repeated until it is answered. The standby is notified when no switch
//! carries the stream any more: if it takes over before, it still has the stream, and the node requests the release
//! again. Invariant: a node that released a stream gets the confirmation when no switch on its path carries it.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use tautwire_units::Instant;
use tautwire_wire::harts::{FttMessage, FttStream, FttTerms};

use super::acmaster::{AcAction, AcMaster, Offer};

/// A stream, or one consumer of it, that is taken out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Leaving {
    stream: FttStream,
    /// Consumers that go.
    pub(super) gone: BTreeSet<u16>,
    /// Number of the request by which the producer sends, until it has confirmed that it stopped; and how often it was notified.
    pausing: Option<u16>,
    pauses: u8,
    /// Switches that have not replied.
    missing: BTreeSet<u16>,
    /// The standby has not replied.
    pub(super) unknown: bool,
    /// Under which number it went.
    number: u32,
    /// How often the standby was notified.
    notices: u8,
    /// The node that released it has the confirmation.
    pub(super) confirmed: bool,
    pub(super) again: Option<Instant>,
}

impl AcMaster {
    /// A node releases a stream: its producer for all consumers, a consumer its own part.
    pub(super) fn remove(&mut self, now: Instant, id: u16, node: u16, number: u16) {
        if self.leaving.get(&(id, node)).is_some_and(|leaving| !leaving.confirmed) {
            return;
        }
        // The node gets the confirmation when the grants that end because of a failed link are removed; its producer
        // repeats the release.
        if self.gives_back_what_ends(id, node) || self.ends_below(id, node) {
            return;
        }
        let (other, heir) = (self.config.other, self.heir);
        let known = self.entries.get_mut(&id).and_then(|entry| Some((entry.stream?, entry)));
        let Some((stream, entry)) = known else { return self.remove_unknown(now, id, node) };
        let by_producer = node == stream.producer;
        // A late end of an earlier request.
        let own = if by_producer { entry.produced } else { entry.number_of(node) };
        if own.is_some_and(|own| number != own && number.wrapping_sub(own) > u16::MAX / 2) {
            return;
        }
        let (is_granted, alone) = (entry.granted.contains_key(&node), entry.granted.len() == 1);
        // A request in progress is decided first, and the node repeats the release. So does the last granted consumer
        // while another one is being decided.
        if entry.current.is_some() && (by_producer || entry.is_current(node) || (is_granted && alone)) {
            return;
        }
        // The last consumer is not removed while its producer cannot be notified: an ACMaster that came back may not
        // know the producer.
        if entry.produced.is_none() && !by_producer && is_granted && alone {
            return;
        }
        let gone: BTreeSet<u16> = if by_producer {
            // Including those that leave already: the producer gets the confirmation when none of them is left either.
            let leaving = self.leaving.range((id, 0)..=(id, u16::MAX)).map(|(_, leaving)| leaving);
            let leaving = leaving.filter(|leaving| !leaving.confirmed).flat_map(|leaving| &leaving.gone);
            core::mem::take(&mut entry.granted).into_keys().chain(leaving.copied()).collect()
        } else {
            entry.asking.remove(&node);
            entry.granted.remove(&node).map(|_| node).or(heir.then_some(node)).into_iter().collect()
        };
        let pausing = entry.produced.filter(|_| !by_producer && is_granted && alone);
        if by_producer || pausing.is_some() || entry.is_empty() {
            self.entries.remove(&id);
        }
        if by_producer {
            self.offers.remove(&id);
        } else if let Some(number) = pausing {
            self.offers.insert(id, Offer { producer: stream.producer, number, refused: None });
        }
        self.refused.retain(|(known, consumer), _| *known != id || !(by_producer || *consumer == node));
        self.cut.retain(|(known, consumer), _| *known != id || !(by_producer || *consumer == node));
        self.unnotified.retain(|(known, consumer), _| *known != id || !(by_producer || *consumer == node));
        let topology = &self.config.topology;
        let way = |consumer: &u16| topology.switches(stream.producer, *consumer).unwrap_or_default();
        let missing: BTreeSet<u16> = gone.iter().flat_map(way).collect();
        // One that it took over from may have begun to set it up.
        let missing = if by_producer && heir { topology.all_switches() } else { missing };
        let missing = if planted!(NotTakenOut) { BTreeSet::new() } else { missing };
        let unknown = other.is_some();
        self.number += 1;
        let number = self.number;
        let leaving = Leaving { pausing, missing, unknown, number, ..Leaving::of(stream, gone) };
        self.leaving.insert((id, node), leaving);
        self.take_out(now, id, node);
        // If no other request is left, all were refused.
        self.refuse_producer(id);
    }

    /// A stream that it does not know is out, unless one that it took over from had begun to set it up.
    fn remove_unknown(&mut self, now: Instant, id: u16, node: u16) {
        // Nor before the leaving ones are removed: the node repeats the release.
        if self.leaving.iter().any(|((known, _), leaving)| *known == id && !leaving.confirmed) {
            return;
        }
        let by_producer = self.offers.get(&id).is_some_and(|offer| offer.producer == node);
        self.refused.retain(|(known, consumer), _| *known != id || !(by_producer || *consumer == node));
        self.cut.retain(|(known, consumer), _| *known != id || !(by_producer || *consumer == node));
        if by_producer {
            self.offers.remove(&id);
        }
        if !self.heir {
            return self.confirm(id, node);
        }
        let stream = FttStream {
            id,
            size: 0,
            period_ns: 0,
            deadline_ns: 0,
            priority: 0,
            producer: node,
            offset_ns: None,
            terms: FttTerms::NONE,
        };
        let missing = self.config.topology.all_switches();
        self.number += 1;
        let leaving = Leaving { missing, number: self.number, ..Leaving::of(stream, BTreeSet::new()) };
        self.leaving.insert((id, node), leaving);
        self.take_out(now, id, node);
    }

    /// Removes a grant that only some switches on a path carry: it was being set up, or released.
    pub(super) fn remove_rest(
        &mut self,
        now: Instant,
        stream: FttStream,
        consumer: u16,
        missing: BTreeSet<u16>,
    ) {
        self.number += 1;
        let gone = BTreeSet::from([consumer]);
        let leaving = Leaving { missing, number: self.number, ..Leaving::of(stream, gone) };
        self.leaving.insert((stream.id, consumer), leaving);
        self.take_out(now, stream.id, consumer);
    }

    /// Repeats unanswered messages; a recipient that did not answer twice is not waited for.
    pub(super) fn take_out(&mut self, now: Instant, id: u16, node: u16) {
        let patience = self.config.patience;
        let Some(leaving) = self.leaving.get_mut(&(id, node)) else { return };
        let stream = leaving.stream;
        leaving.again = Some(now + patience);
        if let Some(number) = leaving.pausing.filter(|_| leaving.pauses < 4) {
            leaving.pauses += 1;
            let message = FttMessage::Pause { stream: id, number: Some(number), cut: None };
            return self.out.push_back(AcAction::Send { to: stream.producer, message });
        }
        let mut messages = Vec::new();
        for to in &leaving.missing {
            let (between, number) = (None, self.number);
            messages.push((*to, FttMessage::Config { stream, consumer: node, between, number }));
        }
        if let Some(to) = self.config.other.filter(|_| leaving.unknown && leaving.missing.is_empty()) {
            messages.push((to, gone(stream, node, self.number, self.config.life)));
            leaving.notices = leaving.notices.saturating_add(1);
        }
        self.out.extend(messages.into_iter().map(|(to, message)| AcAction::Send { to, message }));
        self.is_out(id, node);
    }

    /// A producer does not send by that grant any more; or a consumer does not use its own, which ends.
    pub(super) fn paused(&mut self, now: Instant, (id, from): (u16, u16), number: Option<u16>) {
        self.knows_that_it_ends(now, (id, from), number);
        let of_stream = self.leaving.range_mut((id, 0)..=(id, u16::MAX));
        let waits = |leaving: &mut Leaving| {
            leaving.stream.producer == from
                && leaving.pausing.is_some()
                && leaving.pausing == number
                && leaving.pauses > 0
        };
        let Some((node, leaving)) =
            of_stream.filter_map(|((_, node), leaving)| waits(leaving).then_some((*node, leaving))).next()
        else {
            return;
        };
        leaving.pausing = None;
        if !leaving.confirmed {
            self.take_out(now, id, node);
        }
    }

    /// Notifies the node that released a stream that it is removed, if it is.
    pub(super) fn is_out(&mut self, id: u16, node: u16) {
        let Some(leaving) = self.leaving.get_mut(&(id, node)) else { return };
        if !leaving.missing.is_empty() || (leaving.unknown && leaving.notices < 3 && !self.alone) {
            return;
        }
        leaving.again = None;
        if !core::mem::replace(&mut leaving.confirmed, true) {
            self.refused.clear();
            self.confirm(id, node);
        }
        // An absent standby is notified when it is back.
        if self.leaving.get(&(id, node)).is_some_and(|leaving| !leaving.unknown) {
            self.leaving.remove(&(id, node));
        }
        self.send_complete();
    }

    pub(super) fn confirm(&mut self, stream: u16, to: u16) {
        let (consumer, switch, installed, number) = (to, self.config.me, false, self.number);
        let message = FttMessage::Reply { stream, consumer, switch, installed, number };
        self.out.push_back(AcAction::Send { to, message });
    }

    /// A switch no longer carries a stream to a consumer, or to none.
    pub(super) fn taken_out(&mut self, now: Instant, of: (u16, u16), switch: u16, number: u32) {
        self.ended_at(now, of, switch, number);
        let leaving = self.leaving.get_mut(&of).filter(|leaving| number >= leaving.number);
        let Some(leaving) = leaving else { return };
        if leaving.missing.remove(&switch) && leaving.missing.is_empty() {
            self.take_out(now, of.0, of.1);
        }
    }

    /// The standby knows that a stream is out.
    pub(super) fn forgotten(&mut self, id: u16, node: u16, number: u32) {
        if let Some(leaving) = self.leaving.get_mut(&(id, node)).filter(|leaving| number >= leaving.number) {
            leaving.unknown = false;
            self.is_out(id, node);
        }
        self.known_to_end(id, node, number);
    }

    /// Whether a stream is being removed, so that new requests for it must wait; a removal of which only an absent
    /// standby is not notified is dropped. An end because of a failed link does not make others wait.
    pub(super) fn is_leaving(&mut self, stream: &FttStream, node: u16) -> bool {
        let id = stream.id;
        self.leaving.retain(|(known, _), leaving| *known != id || !leaving.confirmed);
        self.leaving.keys().any(|(known, _)| *known == id) || self.is_ending(stream, node)
    }

    /// Notifies a standby that is back of the removals in the meantime.
    pub(super) fn send_gone(&mut self) {
        let Some(to) = self.config.other else { return };
        let leaving = self.leaving.iter().filter(|(_, leaving)| leaving.confirmed);
        let leaving = leaving.map(|((_, node), leaving)| (leaving.stream, *node));
        let ending = self.endings.iter().filter(|(_, ending)| ending.freed && ending.unknown);
        let ending = ending.map(|((_, consumer), ending)| (ending.stream, *consumer));
        for (stream, node) in leaving.chain(ending) {
            let message = gone(stream, node, self.number, self.config.life);
            self.out.push_back(AcAction::Send { to, message });
        }
    }
}

impl Leaving {
    /// Whether no switch carries it any more.
    pub(super) fn is_off(&self) -> bool {
        self.missing.is_empty()
    }

    /// One of which no node has to be notified.
    fn of(stream: FttStream, gone: BTreeSet<u16>) -> Self {
        Self {
            stream,
            gone,
            pausing: None,
            pauses: 0,
            missing: BTreeSet::new(),
            unknown: false,
            number: 0,
            notices: 0,
            confirmed: false,
            again: None,
        }
    }
}

/// The message to the standby that a stream, or a consumer of it, is gone.
pub(super) fn gone(stream: FttStream, consumer: u16, number: u32, life: u32) -> FttMessage {
    FttMessage::Replicate { stream, consumer, installed: false, number, life, asked: 0, by: 0 }
}
