//! MRPDUs: messages, vectors, end marks (IEEE Std 802.1Q-2022, 10.8.1 and 10.8.2).
//!
//! A message of an attribute type that the application does not know is kept as octets if its end can be found
//! (10.8.3.5). The end of the octets replaces missing end marks after the last message (10.8.1.2). Padding after the
//! last end mark is left to the caller.

use alloc::vec::Vec;
use core::fmt::Debug;
use core::hash::Hash;

use super::event::{AttributeEvent, ListenerDeclaration};
use super::event::{emit_declarations, emit_events, parse_declarations, parse_events};
use crate::error::{WireError, split};
use crate::{EtherType, MacAddress};

/// Largest number of values of a vector: 13 bits.
pub(super) const VALUES_MAX: usize = 8_191;

/// The values of an application's attributes.
pub trait AttributeValue: Copy + Debug + Eq + Ord + Hash {
    /// Type of the application's frames.
    const ETHER_TYPE: EtherType;
    /// Group address that they are sent to.
    const GROUP: MacAddress;
    /// Attribute types, in the order in which they are sent.
    const TYPES: &'static [u8];
    /// Whether messages hold the length of their list (MSRP alone).
    const LIST_LENGTH: bool;

    /// Type of the value's attribute.
    fn attribute_type(&self) -> u8;
    /// Octets of a first value of this type, if the application knows it.
    fn length(attribute_type: u8) -> Option<u8>;
    /// Whether vectors of this type hold listener declarations.
    fn has_declarations(attribute_type: u8) -> bool;
    /// The value that a vector of no values holds.
    fn zero(attribute_type: u8) -> Self;
    /// Reads a value of a known type from exactly its length.
    ///
    /// # Errors
    /// If a field holds what it must not.
    fn parse(attribute_type: u8, octets: &[u8]) -> Result<Self, WireError>;
    /// Puts the value behind what is in `to`.
    fn emit(&self, to: &mut Vec<u8>);
    /// The value that follows this one in a vector; none behind the last.
    fn next(&self) -> Option<Self>;
}

/// An MRPDU of the application whose values are `V`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MrpPdu<V> {
    /// Protocol version; zero in all that is sent.
    pub version: u8,
    /// Messages, in their order.
    pub messages: Vec<Message<V>>,
}

/// A message: vectors of one attribute type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message<V> {
    /// A type that the application knows.
    Known {
        /// Attribute type.
        attribute_type: u8,
        /// Vectors, in their order.
        vectors: Vec<Vector<V>>,
    },
    /// Another: the octets of its list, end mark included, also where the end of the frame replaced it.
    Unknown {
        /// Attribute type.
        attribute_type: u8,
        /// Octets of a first value.
        attribute_length: u8,
        /// The list as it was.
        list: Vec<u8>,
    },
}

/// A first value, and the events of it and of those that follow it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Vector<V> {
    /// Whether all attributes of the type are left.
    pub leave_all: bool,
    /// First value; without meaning if there are no events.
    pub first: V,
    /// One event per value, at most 8191.
    pub events: Vec<AttributeEvent>,
    /// One declaration per value for listeners; empty for all others.
    pub declarations: Vec<ListenerDeclaration>,
}

/// The event of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared<V> {
    /// The value.
    pub value: V,
    /// Its event.
    pub event: AttributeEvent,
    /// The listener's declaration, for listeners.
    pub declaration: Option<ListenerDeclaration>,
}

impl<V: AttributeValue> MrpPdu<V> {
    /// Parses an MRPDU; also gives the octets after it.
    ///
    /// # Errors
    /// If the octets end within a vector, a length does not fit or an event is not known.
    pub fn parse(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (version, mut rest) = split::<1>(octets)?;
        let mut messages = Vec::new();
        loop {
            match rest {
                [] => break,
                [0, 0, behind @ ..] => {
                    rest = behind;
                    break;
                }
                _ => {
                    let (message, behind) = Message::parse(rest)?;
                    messages.push(message);
                    rest = behind;
                }
            }
        }
        Ok((Self { version: version[0], messages }, rest))
    }

    /// Appends the MRPDU to `to`, end marks included.
    ///
    /// # Panics
    /// If a vector is empty, holds more than 8191 values, or declarations where there are none.
    pub fn emit(&self, to: &mut Vec<u8>) {
        to.push(self.version);
        for message in &self.messages {
            message.emit(to);
        }
        to.extend_from_slice(&[0, 0]);
    }

    /// Whether all attributes of a type are left.
    #[must_use]
    pub fn leaves_all(&self, attribute_type: u8) -> bool {
        self.vectors().any(|(of, vector)| of == attribute_type && vector.leave_all)
    }

    /// The events, value by value, in the order of the octets. Values after the last possible one are left out, and so
    /// are the gaps of listener vectors.
    pub fn declarations(&self) -> impl Iterator<Item = Declared<V>> {
        self.vectors().flat_map(|(_, vector)| vector.declared())
    }

    fn vectors(&self) -> impl Iterator<Item = (u8, &Vector<V>)> {
        self.messages.iter().flat_map(|message| {
            let (attribute_type, vectors) = match message {
                Message::Known { attribute_type, vectors } => (*attribute_type, &vectors[..]),
                Message::Unknown { attribute_type, .. } => (*attribute_type, &[][..]),
            };
            vectors.iter().map(move |vector| (attribute_type, vector))
        })
    }
}

impl<V: AttributeValue> Message<V> {
    fn parse(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let ([attribute_type, attribute_length], behind) = split::<2>(octets)?;
        let (attribute_type, attribute_length) = (*attribute_type, *attribute_length);
        let (list, rest) = if V::LIST_LENGTH {
            let (length, behind) = split::<2>(behind)?;
            let length = usize::from(u16::from_be_bytes(*length));
            let (list, rest) = behind.split_at_checked(length).ok_or(WireError::Truncated)?;
            (list, Some(rest))
        } else {
            (behind, None)
        };
        match V::length(attribute_type) {
            Some(length) if length != attribute_length => Err(WireError::Length),
            Some(_) => {
                let (vectors, behind) = parse_vectors(attribute_type, list)?;
                if rest.is_some() && !behind.is_empty() {
                    return Err(WireError::Length);
                }
                Ok((Self::Known { attribute_type, vectors }, rest.unwrap_or(behind)))
            }
            None => {
                let (length, ended) = match rest {
                    Some(_) => (list.len(), true),
                    None => plain_list_length(list, usize::from(attribute_length))?,
                };
                let (list, behind) = list.split_at(length);
                let mut list = list.to_vec();
                if !ended {
                    list.extend_from_slice(&[0, 0]);
                }
                Ok((Self::Unknown { attribute_type, attribute_length, list }, rest.unwrap_or(behind)))
            }
        }
    }

    fn emit(&self, to: &mut Vec<u8>) {
        match self {
            Self::Known { attribute_type, vectors } => {
                let length = V::length(*attribute_type).expect("a known message is of a known type");
                to.extend_from_slice(&[*attribute_type, length]);
                let mut list = Vec::new();
                for vector in vectors {
                    assert_eq!(
                        vector.first.attribute_type(),
                        *attribute_type,
                        "a vector of the message's type"
                    );
                    vector.emit(&mut list);
                }
                list.extend_from_slice(&[0, 0]);
                emit_list::<V>(&list, to);
            }
            Self::Unknown { attribute_type, attribute_length, list } => {
                to.extend_from_slice(&[*attribute_type, *attribute_length]);
                emit_list::<V>(list, to);
            }
        }
    }
}

impl<V: AttributeValue> Vector<V> {
    /// Octets of the vector on the wire.
    #[must_use]
    pub fn length(&self) -> usize {
        let first = V::length(self.first.attribute_type()).expect("a value is of a known type");
        2 + usize::from(first) + self.events.len().div_ceil(3) + self.declarations.len().div_ceil(4)
    }

    fn emit(&self, to: &mut Vec<u8>) {
        let count = self.events.len();
        assert!(count <= VALUES_MAX, "13 bits count the values");
        assert!(count > 0 || self.leave_all, "a vector that says nothing would be an end mark");
        let declared = V::has_declarations(self.first.attribute_type());
        assert_eq!(self.declarations.len(), if declared { count } else { 0 }, "a declaration per listener");
        let count = u16::try_from(count).expect("13 bits");
        to.extend_from_slice(&(u16::from(self.leave_all) << 13 | count).to_be_bytes());
        self.first.emit(to);
        emit_events(&self.events, to);
        emit_declarations(&self.declarations, to);
    }

    fn parse(attribute_type: u8, octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (header, rest) = split::<2>(octets)?;
        let header = u16::from_be_bytes(*header);
        let leave_all = match header >> 13 {
            0 => false,
            1 => true,
            _ => return Err(WireError::Unknown),
        };
        let count = usize::from(header & 0x1fff);
        let length = V::length(attribute_type).map_or(0, usize::from);
        let (first, rest) = rest.split_at_checked(length).ok_or(WireError::Truncated)?;
        // The first value of no values is not read (10.8.2.7).
        let first = if count == 0 { V::zero(attribute_type) } else { V::parse(attribute_type, first)? };
        let (events, rest) = rest.split_at_checked(count.div_ceil(3)).ok_or(WireError::Truncated)?;
        let events = parse_events(events, count)?;
        let declared = if V::has_declarations(attribute_type) { count } else { 0 };
        let (declarations, rest) = rest.split_at_checked(declared.div_ceil(4)).ok_or(WireError::Truncated)?;
        let declarations = parse_declarations(declarations, declared);
        Ok((Self { leave_all, first, events, declarations }, rest))
    }

    fn declared(&self) -> impl Iterator<Item = Declared<V>> {
        let values = core::iter::successors(Some(self.first), V::next);
        let all = values.zip(&self.events).enumerate().map(|(place, (value, event))| Declared {
            value,
            event: *event,
            declaration: self.declarations.get(place).copied(),
        });
        all.filter(|declared| declared.declaration != Some(ListenerDeclaration::Ignore))
    }
}

fn emit_list<V: AttributeValue>(list: &[u8], to: &mut Vec<u8>) {
    if V::LIST_LENGTH {
        let length = u16::try_from(list.len()).expect("a list is within a frame");
        to.extend_from_slice(&length.to_be_bytes());
    }
    to.extend_from_slice(list);
}

/// Reads vectors up to their end mark or the end of the octets.
fn parse_vectors<V: AttributeValue>(
    attribute_type: u8,
    octets: &[u8],
) -> Result<(Vec<Vector<V>>, &[u8]), WireError> {
    let mut rest = octets;
    let mut vectors = Vec::new();
    loop {
        match rest {
            [] => return Ok((vectors, rest)),
            [0, 0, behind @ ..] => return Ok((vectors, behind)),
            _ => {
                let (vector, behind) = Vector::parse(attribute_type, rest)?;
                vectors.push(vector);
                rest = behind;
            }
        }
    }
}

/// Octets of a list without declarations, its end mark included; and whether it has one.
fn plain_list_length(octets: &[u8], attribute_length: usize) -> Result<(usize, bool), WireError> {
    let mut rest = octets;
    loop {
        match rest {
            [] => return Ok((octets.len(), false)),
            [0, 0, behind @ ..] => return Ok((octets.len() - behind.len(), true)),
            _ => {
                let (header, behind) = split::<2>(rest)?;
                let count = usize::from(u16::from_be_bytes(*header) & 0x1fff);
                rest = behind.get(attribute_length + count.div_ceil(3)..).ok_or(WireError::Truncated)?;
            }
        }
    }
}
