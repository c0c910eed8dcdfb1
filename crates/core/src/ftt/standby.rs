//! Two ACMasters: what the standby is told, when it takes over, and how one that comes back empty learns what stands.
//!
//! One that comes back asks (Recall) until it knows all, and takes over from nobody before. The active one then tells it of
//! every stream that stands as of a new one, and waits for the answers; when none is missing it sends what is asked and not
//! decided, the refusals that stand (Record), and at last that this was all (Complete). From the Recall on nothing is acknowledged
//! that the other one does not know, so what is decided meanwhile is not missing either. A standby that hears a Recall takes over
//! at once: who asks has forgotten everything. Each grant and each end has a number, the same count at both: what comes
//! late, under a number below that under which a stream was heard of last, is not taken and not answered.
//!
//! Not survived: a second failure before the first to come back knows all. Nobody then decides, and what runs goes on.

use alloc::vec::Vec;

use tautwire_units::Instant;
use tautwire_wire::ftt::{FttMessage, FttStream};

use super::acmaster::{AcAction, AcMaster};

impl AcMaster {
    /// Acts on, or begins to act, as the active one, and says so.
    pub(super) fn take_over(&mut self, now: Instant) {
        let is_heir = !self.active;
        self.alone |= is_heir;
        self.heir |= is_heir;
        self.active = true;
        self.alive_at = Some(now + self.config.alive);
        let message = FttMessage::Alive { master: self.config.me, life: self.config.life };
        let switches = self.config.topology.all_switches();
        for to in self.config.other.into_iter().chain(switches) {
            self.out.push_back(AcAction::Send { to, message: message.clone() });
        }
        self.tell_again();
        if is_heir {
            for ((_, node), stream) in core::mem::take(&mut self.pending) {
                self.add(stream, node);
            }
        }
    }

    /// The other one lives, and is active or was.
    pub(super) fn lives(&mut self, now: Instant, master: u16, life: u32) {
        if life < self.other_life {
            return;
        }
        self.other_life = life;
        // Of two active ones that with the lower identifier stays so.
        if self.active && self.config.me < master {
            self.alive_at = Some(now);
        } else {
            self.active = false;
            let wait = if self.in_step { self.config.alive * 3 } else { self.config.patience };
            self.alive_at = Some(now + wait);
            if !self.in_step {
                self.recall();
            }
        }
        self.tell_again();
    }

    /// Asks the other one for all that stands.
    pub(super) fn recall(&mut self) {
        let message = FttMessage::Recall { master: self.config.me, life: self.config.life };
        self.say_to_other(message);
    }

    /// The other one came back and asks for all that stands.
    pub(super) fn recalled(&mut self, now: Instant, life: u32) {
        if life < self.other_life || !self.in_step {
            return;
        }
        let is_new = life > self.other_life;
        if !self.active {
            if !is_new {
                return;
            }
            self.take_over(now);
        }
        self.other_life = life;
        self.alone = false;
        self.recalled = true;
        if is_new {
            self.all_is_untold();
        }
        self.tell_again();
        self.tell_complete();
    }

    /// The other one knows nothing any more: all that stands is to be told, under a number that it has not answered.
    fn all_is_untold(&mut self) {
        self.number += 1;
        self.related.clear();
        for (id, entry) in &mut self.entries {
            self.untold.extend(entry.granted.iter().map(|consumer| ((*id, *consumer), self.number)));
            // What is being set up is acknowledged when the other one knows it.
            if let Some(consumer) = entry.current.filter(|_| entry.again.is_some()) {
                self.untold.insert((*id, consumer), self.number);
                entry.unknown = true;
                entry.told = 0;
            }
        }
        // Of what goes it knows nothing.
        let going: Vec<(u16, u16)> = self.leaving.keys().copied().collect();
        for (id, node) in going {
            if let Some(leaving) = self.leaving.get_mut(&(id, node)) {
                leaving.unknown = false;
            }
            self.is_out(id, node);
        }
    }

    /// Tells the other one of what stands and was never confirmed.
    pub(super) fn tell_again(&mut self) {
        self.tell_gone();
        let Some(to) = self.config.other else { return };
        for (id, consumer) in self.untold.keys() {
            let Some(entry) = self.entries.get(id).filter(|entry| entry.granted.contains(consumer)) else {
                continue;
            };
            if let Some(stream) = entry.stream {
                let (consumer, number, life) = (*consumer, self.number, self.config.life);
                let message = FttMessage::Replicate { stream, consumer, installed: true, number, life };
                self.out.push_back(AcAction::Send { to, message });
            }
        }
    }

    /// Tells one that came back, and has said that it knows all that stands, of what is asked and refused, and that this is all.
    fn tell_complete(&mut self) {
        let stands = |(id, consumer): &(u16, u16)| {
            self.entries.get(id).is_some_and(|entry| entry.granted.contains(consumer))
        };
        if !self.recalled || !self.active || self.untold.keys().any(stands) {
            return;
        }
        self.recalled = false;
        let mut records = Vec::new();
        for entry in self.entries.values() {
            let Some(stream) = entry.stream else { continue };
            let producer = (entry.produced && entry.granted.is_empty()).then_some(stream.producer);
            let nodes = producer.into_iter().chain(entry.asking.iter().copied()).chain(entry.current);
            records.extend(nodes.map(|node| FttMessage::Record { stream, node, refused: None }));
            self.related.insert(stream.id);
        }
        let refused = self.refused.values().map(|(stream, subject)| (*stream, *subject));
        records.extend(refused.map(|(stream, subject)| FttMessage::Record {
            stream,
            node: stream.producer,
            refused: Some(subject),
        }));
        let count = u16::try_from(records.len()).unwrap_or(u16::MAX);
        records.into_iter().for_each(|message| self.say_to_other(message));
        let (master, life) = (self.config.me, self.config.life);
        let (to, number) = (self.other_life, self.number);
        self.say_to_other(FttMessage::Complete { master, life, to, number, records: count });
    }

    /// The other one was told of a request that is refused now.
    pub(super) fn relate_refusal(&mut self, id: u16) {
        if self.related.remove(&id)
            && let Some((stream, subject)) = self.refused.get(&id).copied()
        {
            let (node, refused) = (stream.producer, Some(subject));
            self.say_to_other(FttMessage::Record { stream, node, refused });
        }
    }

    /// A request that the active one has not decided, or one that it refused.
    pub(super) fn record(&mut self, stream: FttStream, node: u16, refused: Option<u16>) {
        if let Some(subject) = refused {
            self.pending.retain(|(id, _), _| *id != stream.id);
            self.refused.insert(stream.id, (stream, subject));
        } else {
            self.pending.insert((stream.id, node), stream);
        }
    }

    /// The active one has told all, if no record was lost on the way; if one was it is asked again.
    pub(super) fn complete(&mut self, now: Instant, [life, to]: [u32; 2], number: u32, records: u16) {
        let held = self.pending.len() + self.refused.len();
        if self.in_step || to != self.config.life || life < self.other_life || held < usize::from(records) {
            return;
        }
        self.in_step = true;
        self.other_life = life;
        self.number = self.number.max(number);
        self.alive_at = Some(now + self.config.alive * 3);
    }

    /// The other one says that it knows of a stream, or that it stands no more.
    pub(super) fn known(&mut self, id: u16, consumer: u16, installed: bool, number: u32) {
        if !installed {
            return self.forgotten(id, consumer, number);
        }
        if self.untold.get(&(id, consumer)).is_some_and(|since| number >= *since) {
            self.untold.remove(&(id, consumer));
            if let Some(entry) = self.entries.get_mut(&id) {
                entry.unknown &= entry.current != Some(consumer);
            }
            self.go_on(id);
            self.tell_complete();
        }
    }

    /// The standby hears of a stream.
    pub(super) fn learn(&mut self, stream: FttStream, consumer: u16, installed: bool, number: u32) {
        self.number = self.number.max(number);
        let heard = self.heard.entry(stream.id).or_default();
        if number < *heard {
            return;
        }
        *heard = number;
        if installed {
            let entry = self.entries.entry(stream.id).or_default();
            entry.stream = Some(stream);
            entry.produced = true;
            entry.granted.insert(consumer);
            if self.in_step {
                self.pending.retain(|(id, node), _| {
                    *id != stream.id || (*node != consumer && *node != stream.producer)
                });
            }
        } else {
            self.refused.clear();
            let whole = consumer == stream.producer;
            self.pending.retain(|(id, node), _| *id != stream.id || !(whole || *node == consumer));
            if let Some(entry) = self.entries.get_mut(&stream.id) {
                entry.granted.remove(&consumer);
                if whole || entry.granted.is_empty() {
                    self.entries.remove(&stream.id);
                }
            }
        }
        let stream = stream.id;
        self.say_to_other(FttMessage::Replicated { stream, consumer, installed, number });
    }

    fn say_to_other(&mut self, message: FttMessage) {
        self.out.extend(self.config.other.map(|to| AcAction::Send { to, message }));
    }
}
