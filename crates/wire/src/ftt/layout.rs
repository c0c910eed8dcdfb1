//! How messages of FTT are written and read.

use alloc::vec::Vec;

use super::{FttMessage, FttStream, Polled};
use crate::error::{WireError, split};

const VERSION: u8 = 4;

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
            Self::Config { stream, consumer, installed, number } => {
                to.push(3);
                stream.emit(to);
                to.extend(consumer.to_be_bytes());
                to.push(u8::from(*installed));
                to.extend(number.to_be_bytes());
            }
            Self::Reply { stream, consumer, switch, installed, number } => {
                to.push(4);
                to.extend(stream.to_be_bytes());
                to.extend(consumer.to_be_bytes());
                to.extend(switch.to_be_bytes());
                to.push(u8::from(*installed));
                to.extend(number.to_be_bytes());
            }
            Self::Ack { stream, granted, subject, number } => {
                to.push(5);
                to.extend(stream.to_be_bytes());
                to.push(u8::from(*granted));
                to.extend(subject.to_be_bytes());
                to.extend(number.to_be_bytes());
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
            Self::Carries { switch, stream, consumer, account } => {
                to.push(16);
                to.extend(switch.to_be_bytes());
                stream.emit(to);
                [consumer, account].into_iter().for_each(|one| to.extend(one.to_be_bytes()));
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
            Self::Pause { stream, number } => {
                to.push(13);
                [stream, number].into_iter().for_each(|one| to.extend(one.to_be_bytes()));
            }
            Self::Paused { stream, node, number } => {
                to.push(14);
                [stream, node, number].into_iter().for_each(|one| to.extend(one.to_be_bytes()));
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
                Ok((Self::Config { stream, consumer, installed, number }, rest))
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
                Ok((Self::Ack { stream, granted, subject, number }, rest))
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
                let (refused, rest) = if is_refused {
                    let (subject, rest) = u16_of(rest)?;
                    (Some(subject), rest)
                } else {
                    (None, rest)
                };
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
                let (number, rest) = u16_of(rest)?;
                Ok((Self::Pause { stream, number }, rest))
            }
            14 => {
                let (stream, rest) = u16_of(rest)?;
                let (node, rest) = u16_of(rest)?;
                let (number, rest) = u16_of(rest)?;
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
                Ok((Self::Carries { switch, stream, consumer, account }, rest))
            }
            17 => {
                let (switch, rest) = u16_of(rest)?;
                let (account, rest) = u16_of(rest)?;
                let (number, rest) = u32_of(rest)?;
                let (digest, rest) = split::<8>(rest)?;
                let digest = u64::from_be_bytes(*digest);
                Ok((Self::Surveyed { switch, account, number, digest }, rest))
            }
            _ => Err(WireError::Unknown),
        }
    }
}

impl FttStream {
    fn emit(&self, to: &mut Vec<u8>) {
        to.extend(self.id.to_be_bytes());
        to.extend(self.size.to_be_bytes());
        to.extend(self.period_ns.to_be_bytes());
        to.extend(self.deadline_ns.to_be_bytes());
        to.push(self.priority);
        to.extend(self.producer.to_be_bytes());
        to.push(u8::from(self.offset_ns.is_some()));
        to.extend(self.offset_ns.into_iter().flat_map(u32::to_be_bytes));
    }

    fn parse(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (id, rest) = u16_of(octets)?;
        let (size, rest) = u16_of(rest)?;
        let (period, rest) = split::<4>(rest)?;
        let (deadline, rest) = split::<4>(rest)?;
        let (&[priority], rest) = split::<1>(rest)?;
        let (producer, rest) = u16_of(rest)?;
        let (synchronous, rest) = flag(rest)?;
        let (offset_ns, rest) = if synchronous {
            let (offset, rest) = split::<4>(rest)?;
            (Some(u32::from_be_bytes(*offset)), rest)
        } else {
            (None, rest)
        };
        let (period_ns, deadline_ns) = (u32::from_be_bytes(*period), u32::from_be_bytes(*deadline));
        Ok((Self { id, size, period_ns, deadline_ns, priority, producer, offset_ns }, rest))
    }
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
