//! Values and events packed in as few vectors as their order allows (IEEE Std 802.1Q-2022, 10.8.2.8).
//!
//! Values that follow each other share a vector. An entry that need not be sent is sent only where it joins two that
//! must be: it costs a third of an octet (less than one with a declaration), a new vector costs its first value. What
//! does not fit in one MRPDU goes into the next; the leave-all events are in the first.

use alloc::vec;
use alloc::vec::Vec;

use super::event::{AttributeEvent, ListenerDeclaration};
use super::pdu::{AttributeValue, Message, MrpPdu, VALUES_MAX, Vector};

/// Octets of the longest MRPDU: the client data of a basic frame.
pub const PDU_OCTETS_MAX: usize = 1_500;

/// A value and the event to be sent of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<V> {
    /// The value.
    pub value: V,
    /// Its event.
    pub event: AttributeEvent,
    /// The listener's declaration, for listeners.
    pub declaration: Option<ListenerDeclaration>,
    /// Sent only if it joins two others.
    pub optional: bool,
}

/// MRPDUs with the events of the entries, and leave-all events of the types in `leave_all`. None if there is nothing
/// to send. The order of the entries does not matter; a value must not occur twice.
#[must_use]
pub fn pack<V: AttributeValue>(entries: &[Entry<V>], leave_all: &[u8]) -> Vec<MrpPdu<V>> {
    let mut sorted = entries.to_vec();
    sorted.sort_by_key(|entry| (entry.value.attribute_type(), entry.value));
    let mut packed = Packed::new();
    for attribute_type in V::TYPES {
        let of_type: Vec<_> =
            sorted.iter().filter(|entry| entry.value.attribute_type() == *attribute_type).copied().collect();
        let mut vectors = runs(&of_type);
        if leave_all.contains(attribute_type) {
            match vectors.first_mut() {
                Some(first) => first.leave_all = true,
                None => vectors.push(left(*attribute_type)),
            }
        }
        for vector in vectors {
            packed.push(*attribute_type, vector);
        }
    }
    packed.finish()
}

/// MRPDUs as they fill.
struct Packed<V> {
    done: Vec<MrpPdu<V>>,
    open: Vec<Message<V>>,
    /// Octets of the open MRPDU with its end mark.
    length: usize,
}

impl<V: AttributeValue> Packed<V> {
    /// Version and end mark.
    const FRAME: usize = 3;

    fn new() -> Self {
        Self { done: Vec::new(), open: Vec::new(), length: Self::FRAME }
    }

    fn push(&mut self, of: u8, vector: Vector<V>) {
        // Type, length, list length and end mark of a message.
        let header = if V::LIST_LENGTH { 6 } else { 4 };
        let same =
            matches!(self.open.last(), Some(Message::Known { attribute_type, .. }) if *attribute_type == of);
        let cost = vector.length() + if same { 0 } else { header };
        if self.length + cost > PDU_OCTETS_MAX {
            self.close();
            self.length += header + vector.length();
            self.open.push(Message::Known { attribute_type: of, vectors: vec![vector] });
            return;
        }
        self.length += cost;
        match self.open.last_mut() {
            Some(Message::Known { attribute_type, vectors }) if *attribute_type == of => vectors.push(vector),
            _ => self.open.push(Message::Known { attribute_type: of, vectors: vec![vector] }),
        }
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            self.done.push(MrpPdu { version: 0, messages: core::mem::take(&mut self.open) });
        }
        self.length = Self::FRAME;
    }

    fn finish(mut self) -> Vec<MrpPdu<V>> {
        self.close();
        self.done
    }
}

/// A leave-all event of a type, with no value.
fn left<V: AttributeValue>(attribute_type: u8) -> Vector<V> {
    Vector { leave_all: true, first: V::zero(attribute_type), events: Vec::new(), declarations: Vec::new() }
}

/// Vectors of entries of one type that follow each other.
fn runs<V: AttributeValue>(entries: &[Entry<V>]) -> Vec<Vector<V>> {
    let Some(attribute_type) = entries.first().map(|entry| entry.value.attribute_type()) else {
        return Vec::new();
    };
    let limit = values_max::<V>(attribute_type);
    let mut runs: Vec<Vec<Entry<V>>> = Vec::new();
    // Entries that follow the last run and each other, and need not be sent.
    let mut held: Vec<Entry<V>> = Vec::new();
    for entry in entries {
        let before = held.last().or_else(|| runs.last().and_then(|run| run.last()));
        let follows = before.is_some_and(|before| before.value.next() == Some(entry.value));
        if entry.optional {
            if follows {
                held.push(*entry);
            } else {
                held.clear();
            }
            continue;
        }
        match runs.last_mut() {
            Some(run) if follows && run.len() + held.len() < limit => {
                run.append(&mut held);
                run.push(*entry);
            }
            _ => runs.push(vec![*entry]),
        }
        held.clear();
    }
    runs.iter().map(|run| vector(run)).collect()
}

/// Most values of a vector that an MRPDU of its own can hold.
fn values_max<V: AttributeValue>(attribute_type: u8) -> usize {
    let first = usize::from(V::length(attribute_type).expect("a known type"));
    let room = PDU_OCTETS_MAX - Packed::<V>::FRAME - 6 - 2 - first;
    // Rounded down: a twelfth of seven octets each, or a third of one; two octets for vectors that are not full.
    let values = if V::has_declarations(attribute_type) { (room - 2) * 12 / 7 } else { room * 3 };
    values.min(VALUES_MAX)
}

fn vector<V: AttributeValue>(run: &[Entry<V>]) -> Vector<V> {
    Vector {
        leave_all: false,
        first: run[0].value,
        events: run.iter().map(|entry| entry.event).collect(),
        declarations: run.iter().filter_map(|entry| entry.declaration).collect(),
    }
}
