//! Two ACMasters: what the standby receives, when it takes over, and how one that comes back empty gets all grants.
//!
//! An ACMaster that comes back sends Recall until it has all grants, and takes over from no other before. The active
//! one then notifies it of every granted stream as of a new one, and waits for the acknowledgements; when none is
//! missing, it sends the undecided requests and the refusals (Record), and at last the end mark (Complete), with a
//! digest of every entry. If the other one has anything else, less, more or different, it was misinformed: it requests
//! the records again, and if its entries still differ, it forgets all and starts anew (a further attempt of the same
//! life). From the Recall on nothing is acknowledged that the other one does not have, so new decisions are not
//! missing either. A standby that receives a Recall takes over at once: the sender has forgotten everything. Each
//! grant and each end has a number, counted in common by both: a late message, with a number below that of the last
//! message about its stream, is not processed and not answered.
//!
//! Not survived: a second failure before the first ACMaster to come back has all grants. Then neither decides, and
//! existing streams continue.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use tautwire_units::Instant;
use tautwire_wire::harts::{FttMessage, FttStream};

use super::acmaster::{AcAction, AcMaster, replicate};
use super::ending::Ending;
use super::leaving::Leaving;

/// Streams and consumers that an ACMaster may be setting up or removing at a time, whose numbers only it knows.
pub(super) const UNNOTIFIED_MAX: u32 = 1 << 16;

impl AcMaster {
    /// Becomes, or stays, the active one, and announces it.
    pub(super) fn take_over(&mut self, now: Instant) {
        let is_heir = !self.active;
        self.alone |= is_heir;
        self.heir |= is_heir;
        self.active = true;
        self.alive_at = Some(now + self.config.alive);
        if is_heir {
            // Above all numbers that the other one may have sent to switches alone.
            self.number = self.number.saturating_add(UNNOTIFIED_MAX);
        }
        let (master, life, number) = (self.config.me, self.config.life, self.number);
        let message = FttMessage::Alive { master, life, number };
        let switches = self.config.topology.all_switches();
        for to in self.config.other.into_iter().chain(switches) {
            self.out.push_back(AcAction::Send { to, message: message.clone() });
        }
        self.repeat_to_other();
        if is_heir {
            for ((_, node), (stream, number)) in core::mem::take(&mut self.pending) {
                self.add(now, stream, node, number);
            }
        }
    }

    /// The other one lives, and is active or was.
    pub(super) fn lives(&mut self, now: Instant, master: u16, life: u32) {
        if life < self.other_life {
            return;
        }
        self.hear_life(life);
        // Of two active ones that with the lower identifier stays so.
        if self.active && self.config.me < master {
            self.alive_at = Some(now);
        } else {
            self.active = false;
            // The switches keep the grants that have to end, and report them to the active one.
            self.endings.clear();
            let wait = if self.in_step { self.config.alive * 3 } else { self.config.patience };
            self.alive_at = Some(now + wait);
            if !self.in_step {
                self.recall();
            }
        }
        self.repeat_to_other();
    }

    fn hear_life(&mut self, life: u32) {
        if life > self.other_life {
            (self.other_life, self.other_attempt) = (life, 0);
        }
    }

    /// Requests all grants from the other ACMaster.
    pub(super) fn recall(&mut self) {
        if self.config.other.is_none() {
            return self.survey();
        }
        let (master, life, attempt) = (self.config.me, self.config.life, self.attempt);
        self.send_to_other(FttMessage::Recall { master, life, attempt });
    }

    /// The other ACMaster came back and requests all grants.
    pub(super) fn recalled(&mut self, now: Instant, life: u32, attempt: u16) {
        if (life, attempt) < (self.other_life, self.other_attempt) || !self.in_step {
            return;
        }
        let is_new = (life, attempt) > (self.other_life, self.other_attempt);
        if !self.active {
            if !is_new {
                return;
            }
            self.take_over(now);
        }
        (self.other_life, self.other_attempt) = (life, attempt);
        self.alone = false;
        self.recalled = true;
        if is_new {
            self.all_is_unnotified();
        }
        self.repeat_to_other();
        self.send_complete();
    }

    /// The other ACMaster lost its state: all grants are to be sent, under a number that it has not answered.
    fn all_is_unnotified(&mut self) {
        self.number += 1;
        self.related.clear();
        for (id, entry) in &mut self.entries {
            self.unnotified.extend(entry.granted.keys().map(|consumer| ((*id, *consumer), self.number)));
            // What is being set up is acknowledged when the other one knows it.
            if let Some((consumer, _)) = entry.current.filter(|_| entry.again.is_some()) {
                self.unnotified.insert((*id, consumer), self.number);
                entry.unknown = true;
                entry.notices = 0;
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
        self.nobody_knows_what_ends();
    }

    /// Sends the other ACMaster the grants that were never confirmed.
    pub(super) fn repeat_to_other(&mut self) {
        self.send_gone();
        let Some(to) = self.config.other else { return };
        for (id, consumer) in self.unnotified.keys() {
            let Some(entry) = self.entries.get(id) else { continue };
            if let (Some(stream), Some(by)) = (entry.stream, entry.granted.get(consumer)) {
                let asked = [entry.produced.unwrap_or_default(), by.unwrap_or_default()];
                let message = replicate(stream, *consumer, (self.number, self.config.life), asked);
                self.out.push_back(AcAction::Send { to, message });
            }
        }
    }

    /// Sends an ACMaster that came back, and has acknowledged all grants, the requests and refusals, and the end mark.
    pub(super) fn send_complete(&mut self) {
        let is_notified = |(id, consumer): &(u16, u16)| {
            let entry = self.entries.get(id);
            entry.is_some_and(|entry| entry.granted.contains_key(consumer) || entry.is_notified_of(*consumer))
        };
        let goes = |leaving: &Leaving| leaving.unknown && !leaving.confirmed && leaving.is_off();
        if !self.recalled
            || !self.active
            || self.unnotified.keys().any(is_notified)
            || self.leaving.values().any(goes)
            || self.endings.values().any(Ending::is_notified)
        {
            return;
        }
        self.recalled = false;
        self.account = self.account.wrapping_add(1);
        let account = self.account;
        let mut asked = BTreeMap::new();
        for entry in self.entries.values() {
            let Some(stream) = entry.stream else { continue };
            let producer = entry.produced.filter(|_| entry.granted.is_empty());
            let nodes = producer.map(|number| (stream.producer, number)).into_iter();
            let nodes = nodes.chain(entry.asking.iter().map(|(node, number)| (*node, *number)));
            asked.extend(
                nodes.chain(entry.current).map(|(node, number)| ((stream.id, node), (stream, number))),
            );
            self.related.insert(stream.id);
        }
        let digest = self.digest(&asked);
        self.records(&asked, account).into_iter().for_each(|message| self.send_to_other(message));
        let (master, life) = (self.config.me, self.config.life);
        let (to, number) = (self.other_life, self.number);
        self.send_to_other(FttMessage::Complete { master, life, to, number, account, digest });
    }

    /// These requests, and the refusals, as messages.
    fn records(&self, asked: &BTreeMap<(u16, u16), (FttStream, u16)>, account: u16) -> Vec<FttMessage> {
        let of_asked = asked.iter().map(|((_, node), (stream, number))| (*stream, *node, *number, None));
        let of_refused =
            self.refused.iter().map(|((_, node), (stream, subject))| (*stream, *node, 0, Some(*subject)));
        let record =
            |(stream, node, number, refused)| FttMessage::Record { stream, node, number, account, refused };
        of_asked.chain(of_refused).map(record).collect()
    }

    /// Digest of all grants, of these requests and of the refusals, in the form of messages.
    fn digest(&self, asked: &BTreeMap<(u16, u16), (FttStream, u16)>) -> u64 {
        let standing = self.entries.values().flat_map(|entry| {
            let asked = entry.produced.unwrap_or_default();
            let granted = entry.stream.map(|stream| (stream, &entry.granted)).into_iter();
            granted.flat_map(move |(stream, granted)| {
                granted
                    .iter()
                    .map(move |(to, by)| replicate(stream, *to, (0, 0), [asked, by.unwrap_or_default()]))
            })
        });
        FttMessage::digest(standing.chain(self.records(asked, 0)))
    }

    /// The other ACMaster was sent a request that is refused now.
    pub(super) fn relate_refusal(&mut self, id: u16, consumer: u16) {
        if self.related.contains(&id)
            && let Some((stream, subject)) = self.refused.get(&(id, consumer)).copied()
        {
            let (number, account, refused) = (0, self.account, Some(subject));
            self.send_to_other(FttMessage::Record { stream, node: consumer, number, account, refused });
        }
    }

    /// A request that the active one has not decided, or one that it refused. A new account starts a complete list.
    pub(super) fn record(
        &mut self,
        stream: FttStream,
        (node, number): (u16, u16),
        account: u16,
        refused: Option<u16>,
    ) {
        if account != self.account {
            if self.in_step {
                return;
            }
            self.begin_account(account);
        }
        match refused {
            Some(subject) => {
                self.pending.remove(&(stream.id, node));
                self.refused.insert((stream.id, node), (stream, subject));
            }
            None => drop(self.pending.insert((stream.id, node), (stream, number))),
        }
    }

    fn begin_account(&mut self, account: u16) {
        self.account = account;
        self.pending.clear();
        self.refused.clear();
    }

    /// The active one has sent all; if the entries here differ, they are wrong.
    pub(super) fn complete(&mut self, now: Instant, [life, to, number]: [u32; 3], account: u16, digest: u64) {
        if self.in_step || self.active || to != self.config.life || life < self.other_life {
            return;
        }
        if account != self.account {
            self.begin_account(account);
        }
        if self.digest(&self.pending) != digest {
            // Records may be lost or late. Grants were acknowledged one by one, unless something came in between.
            if core::mem::replace(&mut self.doubted, true) && number >= self.number {
                self.forget();
            }
            return self.recall();
        }
        self.in_step = true;
        self.hear_life(life);
        self.number = self.number.max(number);
        self.alive_at = Some(now + self.config.alive * 3);
    }

    /// Its entries are wrong: it starts anew, as if it came back once more.
    fn forget(&mut self) {
        self.attempt = self.attempt.wrapping_add(1);
        self.doubted = false;
        self.entries.clear();
        self.heard.clear();
        self.pending.clear();
        self.refused.clear();
    }

    /// The other ACMaster acknowledges that it has a stream, or that it has removed it.
    pub(super) fn known(&mut self, id: u16, consumer: u16, installed: bool, number: u32) {
        if !installed {
            return self.forgotten(id, consumer, number);
        }
        if self.unnotified.get(&(id, consumer)).is_some_and(|since| number >= *since) {
            self.unnotified.remove(&(id, consumer));
            if let Some(entry) = self.entries.get_mut(&id) {
                entry.unknown &= !entry.is_current(consumer);
            }
            self.go_on(id);
            self.send_complete();
        }
    }

    /// The standby receives a stream with the requests of producer and consumer; or that the stream is gone.
    pub(super) fn learn(&mut self, stream: FttStream, consumer: u16, asked: Option<[u16; 2]>, number: u32) {
        self.number = self.number.max(number);
        let heard = self.heard.entry(stream.id).or_default();
        if number < *heard {
            return;
        }
        *heard = number;
        let installed = asked.is_some();
        if let Some([asked, by]) = asked {
            let entry = self.entries.entry(stream.id).or_default();
            entry.stream = Some(stream);
            entry.produced = Some(asked);
            entry.granted.insert(consumer, Some(by));
            if self.in_step {
                self.pending.retain(|(id, node), _| {
                    *id != stream.id || (*node != consumer && *node != stream.producer)
                });
            }
        } else {
            self.refused.clear();
            let by_producer = consumer == stream.producer;
            self.pending.retain(|(id, node), _| *id != stream.id || !(by_producer || *node == consumer));
            if let Some(entry) = self.entries.get_mut(&stream.id) {
                entry.granted.remove(&consumer);
                if by_producer || entry.granted.is_empty() {
                    self.entries.remove(&stream.id);
                }
            }
        }
        let stream = stream.id;
        self.send_to_other(FttMessage::Replicated { stream, consumer, installed, number });
    }

    fn send_to_other(&mut self, message: FttMessage) {
        self.out.extend(self.config.other.map(|to| AcAction::Send { to, message }));
    }
}
