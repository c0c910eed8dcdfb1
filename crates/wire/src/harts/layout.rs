//! How messages of FTT are written and read.

use alloc::vec::Vec;

use super::{FttFurther, FttMessage, FttPolicing, FttServerKind, FttStream, FttTerms, Polled};
use crate::error::{WireError, split};

const VERSION: u8 = 6;

impl FttMessage {
    /// Puts the message behind what is in `to`.
    ///
    /// # Panics
    /// If a trigger message polls more than 65535 streams.
    pub fn emit(&self, to: &mut Vec<u8>) {
        to.push(VERSION);
        match self {
            Self::Trigger { master, cycle, polled } => {
                to.push(0);
                to.extend(master.to_be_bytes());
                to.extend(cycle.to_be_bytes());
                to.extend(u16::try_from(polled.len()).expect("a trigger message of one frame").to_be_bytes());
                for polled in polled {
                    to.extend(polled.stream.to_be_bytes());
                    to.push(polled.frames);
                }
            }
            Self::Add { stream, node, number } => {
                to.push(1);
                stream.emit(to);
                to.extend(node.to_be_bytes());
                to.extend(number.to_be_bytes());
            }
            Self::Remove { stream, node, number } => {
                to.push(2);
                to.extend(stream.to_be_bytes());
                to.extend(node.to_be_bytes());
                to.extend(number.to_be_bytes());
            }
            Self::Config { stream, consumer, between, number } => {
                to.push(3);
                stream.emit(to);
                to.extend(consumer.to_be_bytes());
                to.push(u8::from(between.is_some()));
                to.extend(number.to_be_bytes());
                to.extend(between.iter().flatten().flat_map(|one| one.to_be_bytes()));
            }
            Self::Reply { stream, consumer, switch, installed, number } => {
                to.push(4);
                to.extend(stream.to_be_bytes());
                to.extend(consumer.to_be_bytes());
                to.extend(switch.to_be_bytes());
                to.push(u8::from(*installed));
                to.extend(number.to_be_bytes());
            }
            Self::Ack { stream, granted, subject, number, cut } => {
                to.push(5);
                to.extend(stream.to_be_bytes());
                to.push(u8::from(*granted));
                to.extend(subject.to_be_bytes());
                to.extend(number.to_be_bytes());
                emit_cut(to, *cut);
            }
            Self::Replicate { stream, consumer, installed, number, life, asked, by } => {
                to.push(6);
                stream.emit(to);
                to.extend(consumer.to_be_bytes());
                to.push(u8::from(*installed));
                to.extend(number.to_be_bytes());
                to.extend(life.to_be_bytes());
                to.extend(asked.to_be_bytes());
                to.extend(by.to_be_bytes());
            }
            Self::Replicated { stream, consumer, installed, number } => {
                to.push(7);
                to.extend(stream.to_be_bytes());
                to.extend(consumer.to_be_bytes());
                to.push(u8::from(*installed));
                to.extend(number.to_be_bytes());
            }
            Self::Alive { master, life, number } => {
                to.push(8);
                to.extend(master.to_be_bytes());
                to.extend(life.to_be_bytes());
                to.extend(number.to_be_bytes());
            }
            Self::Recall { master, life, attempt } => {
                to.push(9);
                to.extend(master.to_be_bytes());
                to.extend(life.to_be_bytes());
                to.extend(attempt.to_be_bytes());
            }
            Self::Record { stream, node, number, account, refused } => {
                to.push(10);
                stream.emit(to);
                [node, number, account].into_iter().for_each(|one| to.extend(one.to_be_bytes()));
                to.push(u8::from(refused.is_some()));
                to.extend(refused.iter().flat_map(|subject| subject.to_be_bytes()));
            }
            Self::Complete { master, life, to: back, number, account, digest } => {
                to.push(11);
                to.extend(master.to_be_bytes());
                [life, back, number].into_iter().for_each(|one| to.extend(one.to_be_bytes()));
                to.extend(account.to_be_bytes());
                to.extend(digest.to_be_bytes());
            }
            Self::Survey { master, account } => {
                to.push(15);
                [master, account].into_iter().for_each(|one| to.extend(one.to_be_bytes()));
            }
            Self::Carries { switch, stream, consumer, account, broken } => {
                to.push(16);
                to.extend(switch.to_be_bytes());
                stream.emit(to);
                [consumer, account].into_iter().for_each(|one| to.extend(one.to_be_bytes()));
                to.push(u8::from(*broken));
            }
            Self::Surveyed { switch, account, number, digest } => {
                to.push(17);
                [switch, account].into_iter().for_each(|one| to.extend(one.to_be_bytes()));
                to.extend(number.to_be_bytes());
                to.extend(digest.to_be_bytes());
            }
            Self::Invite { stream } => {
                to.push(12);
                to.extend(stream.to_be_bytes());
            }
            Self::Pause { stream, number, cut } => {
                to.push(13);
                to.extend(stream.to_be_bytes());
                emit_number(to, *number);
                emit_cut(to, *cut);
            }
            Self::Paused { stream, node, number } => {
                to.push(14);
                [stream, node].into_iter().for_each(|one| to.extend(one.to_be_bytes()));
                emit_number(to, *number);
            }
            Self::Link { switch, neighbour, up, number } => {
                to.push(18);
                [switch, neighbour].into_iter().for_each(|one| to.extend(one.to_be_bytes()));
                to.push(u8::from(*up));
                to.extend(number.to_be_bytes());
            }
            Self::Linked { neighbour, number } => {
                to.push(19);
                to.extend(neighbour.to_be_bytes());
                to.extend(number.to_be_bytes());
            }
            Self::Broken { switch, neighbour, stream, consumer, number } => {
                to.push(20);
                [switch, neighbour].into_iter().for_each(|one| to.extend(one.to_be_bytes()));
                stream.emit(to);
                to.extend(consumer.to_be_bytes());
                to.extend(number.to_be_bytes());
            }
            Self::Unable { stream, consumer, switch, neighbour, link, number } => {
                to.push(21);
                let ids = [stream, consumer, switch, neighbour];
                ids.into_iter().for_each(|one| to.extend(one.to_be_bytes()));
                [link, number].into_iter().for_each(|one| to.extend(one.to_be_bytes()));
            }
        }
    }

    /// Reads a message; also gives what is behind it.
    ///
    /// # Errors
    /// If it is cut short, or of an unknown version or type.
    pub fn parse(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (&[version, kind], rest) = split::<2>(octets)?;
        if version != VERSION {
            return Err(WireError::Unknown);
        }
        match kind {
            0 => {
                let (master, rest) = u16_of(rest)?;
                let (cycle, rest) = split::<4>(rest)?;
                let (count, mut rest) = u16_of(rest)?;
                let mut polled = Vec::new();
                for _ in 0..count {
                    let (&[high, low, frames], behind) = split::<3>(rest)?;
                    polled.push(Polled { stream: u16::from_be_bytes([high, low]), frames });
                    rest = behind;
                }
                Ok((Self::Trigger { master, cycle: u32::from_be_bytes(*cycle), polled }, rest))
            }
            1 => {
                let (stream, rest) = FttStream::parse(rest)?;
                let (node, rest) = u16_of(rest)?;
                let (number, rest) = u16_of(rest)?;
                Ok((Self::Add { stream, node, number }, rest))
            }
            2 => {
                let (stream, rest) = u16_of(rest)?;
                let (node, rest) = u16_of(rest)?;
                let (number, rest) = u16_of(rest)?;
                Ok((Self::Remove { stream, node, number }, rest))
            }
            3 => {
                let (stream, rest) = FttStream::parse(rest)?;
                let (consumer, rest) = u16_of(rest)?;
                let (installed, rest) = flag(rest)?;
                let (number, rest) = u32_of(rest)?;
                let (from, rest) = present(installed, rest, u16_of)?;
                let (to, rest) = present(installed, rest, u16_of)?;
                let between = from.zip(to).map(|(from, to)| [from, to]);
                Ok((Self::Config { stream, consumer, between, number }, rest))
            }
            4 => {
                let (stream, rest) = u16_of(rest)?;
                let (consumer, rest) = u16_of(rest)?;
                let (switch, rest) = u16_of(rest)?;
                let (installed, rest) = flag(rest)?;
                let (number, rest) = u32_of(rest)?;
                Ok((Self::Reply { stream, consumer, switch, installed, number }, rest))
            }
            5 => {
                let (stream, rest) = u16_of(rest)?;
                let (granted, rest) = flag(rest)?;
                let (subject, rest) = u16_of(rest)?;
                let (number, rest) = u16_of(rest)?;
                let (cut, rest) = cut_of(rest)?;
                Ok((Self::Ack { stream, granted, subject, number, cut }, rest))
            }
            6 => {
                let (stream, rest) = FttStream::parse(rest)?;
                let (consumer, rest) = u16_of(rest)?;
                let (installed, rest) = flag(rest)?;
                let (number, rest) = u32_of(rest)?;
                let (life, rest) = u32_of(rest)?;
                let (asked, rest) = u16_of(rest)?;
                let (by, rest) = u16_of(rest)?;
                Ok((Self::Replicate { stream, consumer, installed, number, life, asked, by }, rest))
            }
            7 => {
                let (stream, rest) = u16_of(rest)?;
                let (consumer, rest) = u16_of(rest)?;
                let (installed, rest) = flag(rest)?;
                let (number, rest) = u32_of(rest)?;
                Ok((Self::Replicated { stream, consumer, installed, number }, rest))
            }
            8 => {
                let (master, rest) = u16_of(rest)?;
                let (life, rest) = u32_of(rest)?;
                let (number, rest) = u32_of(rest)?;
                Ok((Self::Alive { master, life, number }, rest))
            }
            9 => {
                let (master, rest) = u16_of(rest)?;
                let (life, rest) = u32_of(rest)?;
                let (attempt, rest) = u16_of(rest)?;
                Ok((Self::Recall { master, life, attempt }, rest))
            }
            10 => {
                let (stream, rest) = FttStream::parse(rest)?;
                let (node, rest) = u16_of(rest)?;
                let (number, rest) = u16_of(rest)?;
                let (account, rest) = u16_of(rest)?;
                let (is_refused, rest) = flag(rest)?;
                let (refused, rest) = present(is_refused, rest, u16_of)?;
                Ok((Self::Record { stream, node, number, account, refused }, rest))
            }
            11 => {
                let (master, rest) = u16_of(rest)?;
                let (life, rest) = u32_of(rest)?;
                let (to, rest) = u32_of(rest)?;
                let (number, rest) = u32_of(rest)?;
                let (account, rest) = u16_of(rest)?;
                let (digest, rest) = split::<8>(rest)?;
                let digest = u64::from_be_bytes(*digest);
                Ok((Self::Complete { master, life, to, number, account, digest }, rest))
            }
            12 => {
                let (stream, rest) = u16_of(rest)?;
                Ok((Self::Invite { stream }, rest))
            }
            13 => {
                let (stream, rest) = u16_of(rest)?;
                let (number, rest) = number_of(rest)?;
                let (cut, rest) = cut_of(rest)?;
                Ok((Self::Pause { stream, number, cut }, rest))
            }
            14 => {
                let (stream, rest) = u16_of(rest)?;
                let (node, rest) = u16_of(rest)?;
                let (number, rest) = number_of(rest)?;
                Ok((Self::Paused { stream, node, number }, rest))
            }
            15 => {
                let (master, rest) = u16_of(rest)?;
                let (account, rest) = u16_of(rest)?;
                Ok((Self::Survey { master, account }, rest))
            }
            16 => {
                let (switch, rest) = u16_of(rest)?;
                let (stream, rest) = FttStream::parse(rest)?;
                let (consumer, rest) = u16_of(rest)?;
                let (account, rest) = u16_of(rest)?;
                let (broken, rest) = flag(rest)?;
                Ok((Self::Carries { switch, stream, consumer, account, broken }, rest))
            }
            17 => {
                let (switch, rest) = u16_of(rest)?;
                let (account, rest) = u16_of(rest)?;
                let (number, rest) = u32_of(rest)?;
                let (digest, rest) = split::<8>(rest)?;
                let digest = u64::from_be_bytes(*digest);
                Ok((Self::Surveyed { switch, account, number, digest }, rest))
            }
            18 => {
                let (switch, rest) = u16_of(rest)?;
                let (neighbour, rest) = u16_of(rest)?;
                let (up, rest) = flag(rest)?;
                let (number, rest) = u32_of(rest)?;
                Ok((Self::Link { switch, neighbour, up, number }, rest))
            }
            19 => {
                let (neighbour, rest) = u16_of(rest)?;
                let (number, rest) = u32_of(rest)?;
                Ok((Self::Linked { neighbour, number }, rest))
            }
            20 => {
                let (switch, rest) = u16_of(rest)?;
                let (neighbour, rest) = u16_of(rest)?;
                let (stream, rest) = FttStream::parse(rest)?;
                let (consumer, rest) = u16_of(rest)?;
                let (number, rest) = u32_of(rest)?;
                Ok((Self::Broken { switch, neighbour, stream, consumer, number }, rest))
            }
            21 => {
                let (stream, rest) = u16_of(rest)?;
                let (consumer, rest) = u16_of(rest)?;
                let (switch, rest) = u16_of(rest)?;
                let (neighbour, rest) = u16_of(rest)?;
                let (link, rest) = u32_of(rest)?;
                let (number, rest) = u32_of(rest)?;
                Ok((Self::Unable { stream, consumer, switch, neighbour, link, number }, rest))
            }
            _ => Err(WireError::Unknown),
        }
    }
}

/// Of the octet of priority: kind of server, policing, whether the stream is synchronous.
const KIND: u32 = 3;
const POLICING: u32 = 5;
const SYNCHRONOUS: u8 = 0x80;

/// Which terms are stated, and those that are so or not.
const PARENT: u8 = 1;
const SERVER: u8 = 2;
const FRAME_MAX: u8 = 4;
const EXACT: u8 = 8;
const POOL: u8 = 0x10;
/// The bits of how switches behind the first carry it begin here.
const FURTHER: u32 = 5;
const SERVER_PRIORITY: u8 = 0x80;

impl FttStream {
    /// A priority above 7 is written as 7. Only asynchronous streams have a burst.
    fn emit(&self, to: &mut Vec<u8>) {
        let terms = &self.terms;
        to.extend(self.id.to_be_bytes());
        to.extend(self.size.to_be_bytes());
        to.extend(self.period_ns.to_be_bytes());
        to.extend(self.deadline_ns.to_be_bytes());
        let synchronous = if self.offset_ns.is_some() { SYNCHRONOUS } else { 0 };
        to.push(
            self.priority.min(7)
                | (terms.kind as u8) << KIND
                | (terms.policing as u8) << POLICING
                | synchronous,
        );
        to.extend(self.producer.to_be_bytes());
        let stated = [
            (terms.parent.is_some(), PARENT),
            (terms.server.is_some(), SERVER),
            (terms.frame_max.is_some(), FRAME_MAX),
            (terms.exact, EXACT),
            (terms.pool.is_some(), POOL),
            (terms.server_priority.is_some(), SERVER_PRIORITY),
        ];
        let stated = stated.iter().filter(|(is_so, _)| *is_so).fold(0, |all, (_, bit)| all | bit);
        to.push(stated | (terms.further as u8) << FURTHER);
        match self.offset_ns {
            Some(offset) => to.extend(offset.to_be_bytes()),
            None => to.push(terms.burst),
        }
        to.extend(terms.parent);
        if let Some((capacity, period)) = terms.server {
            to.extend(capacity.to_be_bytes());
            to.extend(period.to_be_bytes());
        }
        to.extend(terms.server_priority);
        to.extend([terms.frame_max, terms.pool].into_iter().flatten().flat_map(u16::to_be_bytes));
    }

    fn parse(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (id, rest) = u16_of(octets)?;
        let (size, rest) = u16_of(rest)?;
        let (period_ns, rest) = u32_of(rest)?;
        let (deadline_ns, rest) = u32_of(rest)?;
        let (flags, rest) = u8_of(rest)?;
        let (producer, rest) = u16_of(rest)?;
        let (stated, rest) = u8_of(rest)?;
        let further = match stated >> FURTHER & 3 {
            0 => FttFurther::Synchronous,
            1 => FttFurther::Servers,
            2 => FttFurther::Background,
            _ => return Err(WireError::Unknown),
        };
        let synchronous = flags & SYNCHRONOUS != 0;
        let kind = match flags >> KIND & 3 {
            0 => FttServerKind::Deferrable,
            1 => FttServerKind::Polling,
            2 => FttServerKind::Sporadic,
            _ => return Err(WireError::Unknown),
        };
        let policing = match flags >> POLICING & 3 {
            0 => FttPolicing::Open,
            1 => FttPolicing::Discard,
            2 => FttPolicing::Reshape,
            _ => return Err(WireError::Unknown),
        };
        let (offset_ns, rest) = present(synchronous, rest, u32_of)?;
        let (burst, rest) = present(!synchronous, rest, u8_of)?;
        let (parent, rest) = present(stated & PARENT != 0, rest, u8_of)?;
        let (capacity, rest) = present(stated & SERVER != 0, rest, u32_of)?;
        let (period, rest) = present(stated & SERVER != 0, rest, u16_of)?;
        let (server_priority, rest) = present(stated & SERVER_PRIORITY != 0, rest, u8_of)?;
        let (frame_max, rest) = present(stated & FRAME_MAX != 0, rest, u16_of)?;
        let (pool, rest) = present(stated & POOL != 0, rest, u16_of)?;
        let terms = FttTerms {
            parent,
            kind,
            server: capacity.zip(period),
            policing,
            frame_max,
            exact: stated & EXACT != 0,
            pool,
            burst: burst.unwrap_or(0),
            further,
            server_priority,
        };
        let priority = flags & 7;
        Ok((Self { id, size, period_ns, deadline_ns, priority, producer, offset_ns, terms }, rest))
    }
}

/// A link, if one is reported down.
fn emit_cut(to: &mut Vec<u8>, cut: Option<[u16; 2]>) {
    to.push(u8::from(cut.is_some()));
    to.extend(cut.iter().flatten().flat_map(|one| one.to_be_bytes()));
}

fn cut_of(octets: &[u8]) -> Result<(Option<[u16; 2]>, &[u8]), WireError> {
    let (is_cut, rest) = flag(octets)?;
    let (switch, rest) = present(is_cut, rest, u16_of)?;
    let (neighbour, rest) = present(is_cut, rest, u16_of)?;
    Ok((switch.zip(neighbour).map(|(switch, neighbour)| [switch, neighbour]), rest))
}

/// The number of a request, if one is meant.
fn emit_number(to: &mut Vec<u8>, number: Option<u16>) {
    to.push(u8::from(number.is_some()));
    to.extend(number.iter().flat_map(|number| number.to_be_bytes()));
}

fn number_of(octets: &[u8]) -> Result<(Option<u16>, &[u8]), WireError> {
    let (is_known, rest) = flag(octets)?;
    present(is_known, rest, u16_of)
}

/// A field, if it is there.
fn present<T>(
    is_there: bool,
    octets: &[u8],
    read: impl Fn(&[u8]) -> Result<(T, &[u8]), WireError>,
) -> Result<(Option<T>, &[u8]), WireError> {
    if is_there { read(octets).map(|(field, rest)| (Some(field), rest)) } else { Ok((None, octets)) }
}

fn u8_of(octets: &[u8]) -> Result<(u8, &[u8]), WireError> {
    split::<1>(octets).map(|(&[number], rest)| (number, rest))
}

fn u16_of(octets: &[u8]) -> Result<(u16, &[u8]), WireError> {
    split::<2>(octets).map(|(number, rest)| (u16::from_be_bytes(*number), rest))
}

fn u32_of(octets: &[u8]) -> Result<(u32, &[u8]), WireError> {
    split::<4>(octets).map(|(number, rest)| (u32::from_be_bytes(*number), rest))
}

fn flag(octets: &[u8]) -> Result<(bool, &[u8]), WireError> {
    match split::<1>(octets)? {
        ([0], rest) => Ok((false, rest)),
        ([1], rest) => Ok((true, rest)),
        _ => Err(WireError::Unknown),
    }
}
