//! How the ACMaster takes a stream out: switches first, then the standby, then who gave it back.
//!
//! As for a stream that joins, every message is repeated until it is answered. The standby is told when no switch carries the
//! stream any more: one that takes over before still holds it, and is asked again by the node. Invariant: who gave a
//! stream back is told so when no switch on its way carries it.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use tautwire_units::Instant;
use tautwire_wire::ftt::{FttMessage, FttStream};

use super::acmaster::{AcAction, AcMaster};

/// A stream, or one consumer of it, that is taken out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Leaving {
    stream: FttStream,
    /// Switches that have not replied.
    missing: BTreeSet<u16>,
    /// The standby has not replied.
    pub(super) unknown: bool,
    /// Under which number it went.
    number: u32,
    /// How often it was told.
    told: u8,
    /// Who gave it back knows.
    pub(super) confirmed: bool,
    pub(super) again: Option<Instant>,
}

impl AcMaster {
    /// A node gives a stream back: its producer the whole of it, a consumer its own part.
    pub(super) fn remove(&mut self, now: Instant, id: u16, node: u16) {
        if self.leaving.get(&(id, node)).is_some_and(|leaving| !leaving.confirmed) {
            return;
        }
        let (topology, other, heir) = (&self.config.topology, self.config.other, self.heir);
        let known = self.entries.get_mut(&id).and_then(|entry| Some((entry.stream?, entry)));
        let Some((stream, entry)) = known else { return self.remove_unknown(now, id, node) };
        let whole = node == stream.producer;
        // What is being decided is decided first; the node says it again.
        if entry.current.is_some_and(|current| whole || current == node) {
            return;
        }
        let gone: BTreeSet<u16> = if whole {
            core::mem::take(&mut entry.granted)
        } else {
            entry.asking.remove(&node);
            entry.granted.take(&node).or(heir.then_some(node)).into_iter().collect()
        };
        let way = |consumer: &u16| topology.switches(stream.producer, *consumer).unwrap_or_default();
        let stays: BTreeSet<u16> = entry.granted.iter().flat_map(way).collect();
        let missing: BTreeSet<u16> = gone.iter().flat_map(way).filter(|at| !stays.contains(at)).collect();
        // One that it took over from may have begun to set it up.
        let missing = if whole && heir { topology.all_switches() } else { missing };
        let missing = if planted!(NotTakenOut) { BTreeSet::new() } else { missing };
        if whole || (entry.granted.is_empty() && entry.asking.is_empty() && entry.current.is_none()) {
            self.entries.remove(&id);
        }
        self.untold.retain(|(known, consumer), _| *known != id || !(whole || *consumer == node));
        let unknown = other.is_some();
        self.number += 1;
        let number = self.number;
        let leaving = Leaving { stream, missing, unknown, number, told: 0, confirmed: false, again: None };
        self.leaving.insert((id, node), leaving);
        self.take_out(now, id, node);
    }

    /// A stream that it does not know is out, unless one that it took over from had begun to set it up.
    fn remove_unknown(&mut self, now: Instant, id: u16, node: u16) {
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
        };
        let missing = self.config.topology.all_switches();
        let (unknown, number) = (false, self.number);
        let leaving = Leaving { stream, missing, unknown, number, told: 0, confirmed: false, again: None };
        self.leaving.insert((id, node), leaving);
        self.take_out(now, id, node);
    }

    /// Says again what is not answered; whom it was said to twice in vain is not waited for.
    pub(super) fn take_out(&mut self, now: Instant, id: u16, node: u16) {
        let patience = self.config.patience;
        let Some(leaving) = self.leaving.get_mut(&(id, node)) else { return };
        let stream = leaving.stream;
        leaving.again = Some(now + patience);
        let mut said = Vec::new();
        for to in &leaving.missing {
            said.push((*to, FttMessage::Config { stream, installed: false }));
        }
        if let Some(to) = self.config.other.filter(|_| leaving.unknown && leaving.missing.is_empty()) {
            let (consumer, number, life) = (node, self.number, self.config.life);
            said.push((to, FttMessage::Replicate { stream, consumer, installed: false, number, life }));
            leaving.told = leaving.told.saturating_add(1);
        }
        self.out.extend(said.into_iter().map(|(to, message)| AcAction::Send { to, message }));
        self.is_out(id, node);
    }

    /// Tells who gave a stream back that it is out, if it is.
    pub(super) fn is_out(&mut self, id: u16, node: u16) {
        let Some(leaving) = self.leaving.get_mut(&(id, node)) else { return };
        if !leaving.missing.is_empty() || (leaving.unknown && leaving.told < 3 && !self.alone) {
            return;
        }
        leaving.again = None;
        if !core::mem::replace(&mut leaving.confirmed, true) {
            self.refused.clear();
            self.confirm(id, node);
        }
        // A standby that is not there is told when it is heard again.
        if self.leaving.get(&(id, node)).is_some_and(|leaving| !leaving.unknown) {
            self.leaving.remove(&(id, node));
        }
    }

    fn confirm(&mut self, stream: u16, to: u16) {
        let message = FttMessage::Reply { stream, switch: self.config.me, installed: false };
        self.out.push_back(AcAction::Send { to, message });
    }

    /// A switch no longer carries a stream.
    pub(super) fn taken_out(&mut self, now: Instant, id: u16, switch: u16) {
        let of_stream = self.leaving.iter_mut().filter(|((known, _), _)| *known == id);
        let last = |leaving: &mut Leaving| leaving.missing.remove(&switch) && leaving.missing.is_empty();
        let done: Vec<u16> =
            of_stream.filter_map(|((_, node), leaving)| last(leaving).then_some(*node)).collect();
        for node in done {
            self.take_out(now, id, node);
        }
    }

    /// The standby knows that a stream is out.
    pub(super) fn forgotten(&mut self, id: u16, node: u16, number: u32) {
        if let Some(leaving) = self.leaving.get_mut(&(id, node)).filter(|leaving| number >= leaving.number) {
            leaving.unknown = false;
            self.is_out(id, node);
        }
    }

    /// Whether a stream is being taken out, so that who asks for it must wait; what only an absent standby
    /// does not know yet is forgotten.
    pub(super) fn is_leaving(&mut self, id: u16) -> bool {
        self.leaving.retain(|(known, _), leaving| *known != id || !leaving.confirmed);
        self.leaving.keys().any(|(known, _)| *known == id)
    }

    /// Tells a standby that is heard again what went meanwhile.
    pub(super) fn tell_gone(&mut self) {
        let Some(to) = self.config.other else { return };
        for ((_, node), leaving) in self.leaving.iter().filter(|(_, leaving)| leaving.confirmed) {
            let (stream, consumer, number) = (leaving.stream, *node, self.number);
            let life = self.config.life;
            let message = FttMessage::Replicate { stream, consumer, installed: false, number, life };
            self.out.push_back(AcAction::Send { to, message });
        }
    }
}
