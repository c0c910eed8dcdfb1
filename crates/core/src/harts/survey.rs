//! How an ACMaster without a standby comes back: it surveys what the switches carry.
//!
//! Without a second ACMaster only the switches know the grants. It queries every one of them (Survey) until each has
//! sent what it carries (Carries) and an end mark (Surveyed), with a digest, by which lost and late messages are
//! found. A consumer has a grant if every switch on its path carries the stream to it, with the same attributes: every
//! notified consumer is among these. A grant that only some switches carry was being set up or released; it is
//! removed, and its nodes request it again. The producers of granted streams are invited, because switches do not know
//! the numbers of their requests. A grant that was ending because of a failed link ends. Until all switches have
//! answered nothing is decided. Not kept: refusals, which a new request tests again.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use tautwire_units::Instant;
use tautwire_wire::harts::{FttMessage, FttStream};

use super::acmaster::{AcAction, AcMaster};
use super::standby::UNNOTIFIED_MAX;

/// What switches have sent so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Survey {
    /// Switches whose answer is not complete.
    pub(super) missing: BTreeSet<u16>,
    /// The number of the survey.
    account: u16,
    /// What they carry, and whether that is broken: by switch, stream and consumer.
    carried: BTreeMap<(u16, u16, u16), (FttStream, bool)>,
}

/// What a switch carries, in the form of its answer to a survey.
pub(super) fn account_of(
    switch: u16,
    carried: impl Iterator<Item = (FttStream, u16, bool)>,
    account: u16,
) -> Vec<FttMessage> {
    let carries =
        |(stream, consumer, broken)| FttMessage::Carries { switch, stream, consumer, account, broken };
    carried.map(carries).collect()
}

impl AcMaster {
    /// Queries the switches whose answer is not complete.
    pub(super) fn survey(&mut self) {
        self.survey.account = self.survey.account.wrapping_add(1);
        let (master, account) = (self.config.me, self.survey.account);
        let missing = self.survey.missing.clone();
        self.survey.carried.retain(|(switch, ..), _| !missing.contains(switch));
        for to in missing {
            self.out.push_back(AcAction::Send { to, message: FttMessage::Survey { master, account } });
        }
    }

    /// A switch carries a stream to a consumer; over a link that failed, if that is broken.
    pub(super) fn carries(
        &mut self,
        switch: u16,
        (stream, consumer, broken): (FttStream, u16, bool),
        account: u16,
    ) {
        if account == self.survey.account && self.survey.missing.contains(&switch) {
            self.survey.carried.insert((switch, stream.id, consumer), (stream, broken));
        }
    }

    /// A switch has sent its end mark; if its answer is complete, and it was the last one, all grants are known.
    pub(super) fn surveyed(&mut self, now: Instant, (switch, account): (u16, u16), number: u32, digest: u64) {
        if account != self.survey.account || !self.survey.missing.contains(&switch) {
            return;
        }
        let of_switch = self.survey.carried.range((switch, 0, 0)..=(switch, u16::MAX, u16::MAX));
        let of_switch = of_switch.map(|((.., consumer), (stream, broken))| (*stream, *consumer, *broken));
        let reported = account_of(switch, of_switch, account);
        if FttMessage::digest(reported.into_iter()) != digest {
            // It is queried again when the patience is over.
            return;
        }
        self.number = self.number.max(number);
        self.survey.missing.remove(&switch);
        if self.survey.missing.is_empty() {
            self.resume(now);
        }
    }

    /// All switches have answered.
    fn resume(&mut self, now: Instant) {
        (self.in_step, self.alive_at) = (true, None);
        // Messages of an earlier life may still arrive: their numbers are below all new ones, and they are withdrawn with these.
        self.number = self.number.saturating_add(UNNOTIFIED_MAX);
        self.heir = true;
        let carried = core::mem::take(&mut self.survey.carried);
        let mut parts: BTreeMap<(FttStream, u16), BTreeMap<u16, bool>> = BTreeMap::new();
        for ((switch, _, consumer), (stream, broken)) in carried {
            parts.entry((stream, consumer)).or_default().insert(switch, broken);
        }
        for ((stream, consumer), reported) in parts {
            let switches: BTreeSet<u16> = reported.keys().copied().collect();
            let broken: BTreeSet<u16> =
                reported.into_iter().filter(|(_, broken)| *broken).map(|(switch, _)| switch).collect();
            let way = self.config.topology.switches(stream.producer, consumer).unwrap_or_default();
            let entry = self.entries.entry(stream.id).or_default();
            let agrees = entry.stream.is_none_or(|known| known == stream);
            if agrees && !way.is_empty() && way.iter().all(|switch| switches.contains(switch)) {
                entry.stream = Some(stream);
                entry.granted.insert(consumer, None);
            } else if !broken.is_empty() {
                // It was ending, and its consumer may not know.
                self.end_rest(now, (stream, consumer), switches, broken);
            } else {
                self.remove_rest(now, stream, consumer, switches);
            }
        }
        self.entries.retain(|_, entry| !entry.is_empty());
        let standing: Vec<u16> = self.entries.keys().copied().collect();
        for id in standing {
            self.ask_producer(now, id);
        }
    }

    /// Invites the producer of a granted stream until the number of its request is known.
    pub(super) fn ask_producer(&mut self, now: Instant, id: u16) {
        let Some(entry) = self.entries.get_mut(&id).filter(|entry| entry.produced.is_none()) else { return };
        let Some(stream) = entry.stream.filter(|_| !entry.granted.is_empty()) else { return };
        entry.again = Some(now + self.config.patience);
        let message = FttMessage::Invite { stream: id };
        self.out.push_back(AcAction::Send { to: stream.producer, message });
    }
}
