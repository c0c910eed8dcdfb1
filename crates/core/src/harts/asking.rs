//! How the ACMaster takes requests: attributes first, then the test of one consumer after the other, and refusals.

use tautwire_units::Instant;
use tautwire_wire::harts::{FttMessage, FttStream};

use super::acmaster::{AcAction, AcMaster, Offer, Refusal};

impl AcMaster {
    pub(super) fn add(&mut self, now: Instant, stream: FttStream, node: u16, number: u16) {
        let id = stream.id;
        let wrong = stream.size == 0
            || stream.size > self.config.size_max
            || stream.period_ns == 0
            || stream.deadline_ns == 0
            || stream.offset_ns.is_some_and(|offset| offset >= stream.period_ns)
            || self.config.topology.switches(stream.producer, node).is_none()
            || !self.agrees(&stream, node);
        if wrong {
            return self.answer(id, (node, number), Err(Refusal::Stream(id)));
        }
        if let Some(link) =
            self.config.topology.cut(stream.producer, node).filter(|_| node != stream.producer)
        {
            return self.refuse_for(stream, (node, number), link);
        }
        if self.is_leaving(&stream, node) {
            return;
        }
        if node == stream.producer {
            self.add_producer(stream, number);
        } else {
            self.add_consumer(now, stream, node, number);
        }
    }

    /// Whether attributes agree with those known of a stream. The producer's attributes are decisive: earlier requests
    /// of consumers with others are refused.
    fn agrees(&mut self, stream: &FttStream, node: u16) -> bool {
        let Some(entry) = self.entries.get(&stream.id) else { return true };
        if entry.stream.as_ref().is_none_or(|known| known == stream) {
            return true;
        }
        let decides = node == stream.producer && entry.produced.is_none() && entry.granted.is_empty();
        if decides && let Some(other) = self.entries.remove(&stream.id) {
            for (consumer, number) in other.asking {
                self.answer(stream.id, (consumer, number), Err(Refusal::Stream(stream.id)));
            }
        }
        decides
    }

    fn add_producer(&mut self, stream: FttStream, number: u16) {
        let id = stream.id;
        let entry = self.entries.entry(id).or_default();
        if !entry.granted.is_empty() {
            if entry.produced.is_none() {
                entry.again = None;
            }
            // The standby is to know it, too: a Pause is that of the last one.
            if entry.produced.replace(number) != Some(number) && self.config.other.is_some() {
                self.number += 1;
                self.unnotified.extend(entry.granted.keys().map(|consumer| ((id, *consumer), self.number)));
            }
            self.answer(id, (stream.producer, number), Ok(()));
            return self.test_next(id);
        }
        let asks = entry.current.is_some() || !entry.asking.is_empty();
        match self.offers.get(&id).filter(|offer| offer.number == number) {
            // It came late, or was repeated before the answer arrived.
            Some(offer) => {
                let refused = offer.refused;
                if entry.stream.is_none() {
                    self.entries.remove(&id);
                }
                if asks {
                    self.invite(id, stream.producer);
                } else if let Some(subject) = refused {
                    self.answer(id, (stream.producer, number), Err(subject));
                }
            }
            None => {
                self.offers.remove(&id);
                (entry.stream, entry.produced) = (Some(stream), Some(number));
                if !asks {
                    self.refuse_producer(id);
                }
                self.test_next(id);
            }
        }
    }

    fn add_consumer(&mut self, now: Instant, stream: FttStream, node: u16, number: u16) {
        let id = stream.id;
        if let Some(entry) = self.entries.get_mut(&id).filter(|entry| entry.granted.contains_key(&node)) {
            let known = entry.granted.get(&node).copied().flatten();
            if known.is_some_and(|known| number.wrapping_sub(known) > u16::MAX / 2) {
                return;
            }
            if known.is_some_and(|known| known != number) && self.heir {
                // The earlier grant may have begun to end: the consumer is notified when all switches have reported
                // that they carry it.
                if entry.current.is_none() {
                    entry.granted.remove(&node);
                    entry.current = Some((node, number));
                    self.set_up(now, id);
                }
                return;
            }
        }
        if let Some(known) = self.entries.get_mut(&id).and_then(|entry| entry.granted.get_mut(&node)) {
            // The standby needs the new number, too: by it, it distinguishes an end of this request from an end of an earlier one.
            if known.replace(number) != Some(number) && self.config.other.is_some() {
                self.number += 1;
                self.unnotified.insert((id, node), self.number);
            }
            return self.answer(id, (node, number), Ok(()));
        }
        // Grants are only removed by a release: until then a test would give the same result.
        if let Some((_, subject)) = self.refused.get(&(id, node)).filter(|(known, _)| *known == stream) {
            return self.answer(id, (node, number), Err(Refusal::Stream(*subject)));
        }
        let entry = self.entries.entry(id).or_default();
        entry.stream = Some(stream);
        if entry.is_current(node) {
            entry.current = Some((node, number));
            return;
        }
        let is_repeated = entry.asking.insert(node, number).is_some();
        // A refused producer sends its request when it is invited; this ACMaster does not know the refusals of an earlier one.
        let forgot = self.heir || self.config.life > 0;
        if entry.produced.is_none() && (is_repeated || forgot || self.offers.contains_key(&id)) {
            return self.invite(id, stream.producer);
        }
        self.test_next(id);
    }

    fn invite(&mut self, stream: u16, to: u16) {
        self.out.push_back(AcAction::Send { to, message: FttMessage::Invite { stream } });
    }

    /// Begins the test of the next consumer of a stream, if none is under way.
    pub(super) fn test_next(&mut self, id: u16) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        let ready = entry.produced.is_some() && entry.current.is_none();
        let Some(stream) = entry.stream.filter(|_| ready) else { return };
        entry.current = entry.asking.pop_first();
        if let Some((consumer, _)) = entry.current {
            self.tests += 1;
            self.out.push_back(AcAction::Test { stream, consumer });
        }
    }

    /// Refuses the consumer that is tested, or set up.
    pub(super) fn refuse(&mut self, id: u16, consumer: u16, refusal: Refusal) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        let (Some((_, number)), Some(stream)) = (entry.current.take(), entry.stream) else { return };
        match refusal {
            Refusal::Stream(subject) => {
                self.refused.insert((id, consumer), (stream, subject));
                self.relate_refusal(id, consumer);
            }
            Refusal::Cut(link) => drop(self.cut.insert((id, consumer), (stream, link))),
        }
        self.answer(id, (consumer, number), Err(refusal));
        self.test_next(id);
        self.refuse_producer(id);
    }

    /// Refuses a consumer's request over a link that is down.
    fn refuse_for(&mut self, stream: FttStream, (node, number): (u16, u16), link: [u16; 2]) {
        let id = stream.id;
        self.cut.insert((id, node), (stream, link));
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.asking.remove(&node);
            if entry.is_empty() {
                self.entries.remove(&id);
            }
        }
        self.answer(id, (node, number), Err(Refusal::Cut(link)));
        self.refuse_producer(id);
    }

    /// Sends a refusal to a producer, if all requests of consumers are refused.
    pub(super) fn refuse_producer(&mut self, id: u16) {
        let Some(entry) = self.entries.get(&id) else { return };
        let (Some(stream), Some(number)) = (entry.stream, entry.produced) else { return };
        if !entry.granted.is_empty() || entry.current.is_some() || !entry.asking.is_empty() {
            return;
        }
        let of_stream = (id, 0)..=(id, u16::MAX);
        let refused = self.refused.range(of_stream.clone()).rev();
        let refused = refused.map(|(_, (known, subject))| (known, Refusal::Stream(*subject)));
        let cut = self.cut.range(of_stream).rev().map(|(_, (known, link))| (known, Refusal::Cut(*link)));
        let Some((_, refusal)) = refused.chain(cut).find(|(known, _)| **known == stream) else { return };
        self.entries.remove(&id);
        self.offers.insert(id, Offer { producer: stream.producer, number, refused: Some(refusal) });
        self.answer(id, (stream.producer, number), Err(refusal));
    }
}
