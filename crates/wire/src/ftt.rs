//! Messages of FTT and HaRTES: trigger messages and the control channel of admission.
//!
//! The published evaluation names the messages (Add_Msg, Config_Msg, replies, Ack) and prints no layout: this one is
//! the project's own, under the EtherType for local experiments (IEEE Std 802, 0x88B5). One octet of version, one
//! of type, then the fields, all big endian; what follows is padding. Not here: who sends what when (`core`, `ftt`).

use alloc::vec::Vec;

use crate::EtherType;
use crate::error::{WireError, split};

/// EtherType of these messages.
pub const FTT: EtherType = EtherType(0x88b5);

const VERSION: u8 = 4;

/// What is reserved for a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FttStream {
    /// Identifier, unique in the network.
    pub id: u16,
    /// Longest frame, octets of the wire.
    pub size: u16,
    /// Period, or least distance of frames, nanoseconds.
    pub period_ns: u32,
    /// Relative deadline, nanoseconds.
    pub deadline_ns: u32,
    /// Priority.
    pub priority: u8,
    /// Its producer.
    pub producer: u16,
    /// Of a synchronous stream the offset of its first message, nanoseconds; none: it is asynchronous.
    pub offset_ns: Option<u32>,
}

/// A scheduled synchronous message of a trigger message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Polled {
    /// The stream.
    pub stream: u16,
    /// Frames of it in this cycle.
    pub frames: u8,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FttMessage {
    /// Opens an elementary cycle and says what is sent in it.
    Trigger {
        /// The master of the switch.
        master: u16,
        /// Number of the cycle.
        cycle: u32,
        /// Its synchronous messages.
        polled: Vec<Polled>,
    },
    /// Asks for a stream (Add_Msg); from the producer, or from a consumer.
    Add {
        /// The stream.
        stream: FttStream,
        /// Who asks.
        node: u16,
        /// Number of the request among those of its node; one that is said again keeps it.
        number: u16,
    },
    /// Gives a stream back.
    Remove {
        /// Its identifier.
        stream: u16,
        /// Who asks.
        node: u16,
        /// Number of the request that ends.
        number: u16,
    },
    /// Tells a switch of a stream through it to a consumer (Config_Msg), or, with `installed` false, that this is gone.
    Config {
        /// The stream.
        stream: FttStream,
        /// The consumer; the producer: all of them.
        consumer: u16,
        /// Whether it is to be carried.
        installed: bool,
        /// How many such facts there were: what is said under an earlier number is older.
        number: u32,
    },
    /// A switch has done so.
    Reply {
        /// The stream's identifier.
        stream: u16,
        /// As in the message that it answers; for a node that gave a stream back, this node.
        consumer: u16,
        /// The switch.
        switch: u16,
        /// As in the message that it answers.
        installed: bool,
        /// As in the message that it answers.
        number: u32,
    },
    /// The result, for producers and consumers (Ack).
    Ack {
        /// The stream's identifier.
        stream: u16,
        /// Whether it is granted.
        granted: bool,
        /// The stream in whose way it is, if it is refused; itself otherwise.
        subject: u16,
        /// Number of the request that it answers.
        number: u16,
    },
    /// From the ACMaster to a producer that was refused, or has no consumer any more: a consumer asks for the stream.
    Invite {
        /// The stream's identifier.
        stream: u16,
    },
    /// From the ACMaster to a producer: the last consumer leaves, so it is to send no more.
    Pause {
        /// The stream's identifier.
        stream: u16,
        /// Number of the request that was granted.
        number: u16,
    },
    /// From the producer: it does not send by that grant.
    Paused {
        /// The stream's identifier.
        stream: u16,
        /// The producer.
        node: u16,
        /// As in the message that it answers.
        number: u16,
    },
    /// From the active ACMaster to its standby: this stream stands, or stands no more.
    Replicate {
        /// The stream.
        stream: FttStream,
        /// A consumer of it.
        consumer: u16,
        /// Whether it stands.
        installed: bool,
        /// How many such facts there were: what is said under an earlier number is older.
        number: u32,
        /// The life of the one that says so.
        life: u32,
        /// Number of the producer's request.
        asked: u16,
        /// Number of the consumer's.
        by: u16,
    },
    /// From the standby: it knows.
    Replicated {
        /// The stream's identifier.
        stream: u16,
        /// The consumer.
        consumer: u16,
        /// As in the message that it answers.
        installed: bool,
        /// As in the message that it answers.
        number: u32,
    },
    /// The active ACMaster lives; from another than before: it has taken over.
    Alive {
        /// Its identifier.
        master: u16,
        /// Its life: greater than all that it had before.
        life: u32,
        /// How many facts there were.
        number: u32,
    },
    /// From an ACMaster that came back empty: it asks the other one for all that stands.
    Recall {
        /// Its identifier.
        master: u16,
        /// Its life.
        life: u32,
        /// How often in that life it found that it had been told amiss, and forgot all.
        attempt: u16,
    },
    /// From the active ACMaster to one that came back: a request without a decision, or a refusal that stands.
    Record {
        /// The stream.
        stream: FttStream,
        /// Who asks; of a refusal the consumer.
        node: u16,
        /// Number of the request.
        number: u16,
        /// With which of its accounts it is told.
        account: u16,
        /// The stream in whose way it is, if it is refused.
        refused: Option<u16>,
    },
    /// From the active ACMaster to one that came back: it knows all and may take over.
    Complete {
        /// Identifier of the active one.
        master: u16,
        /// Its life.
        life: u32,
        /// The life of the one that came back.
        to: u32,
        /// How many facts there were.
        number: u32,
        /// Which of its accounts ends.
        account: u16,
        /// Of all that stands, is asked and is refused, entry by entry.
        digest: u64,
    },
    /// From an ACMaster without another one that came back empty: it asks a switch what it carries.
    Survey {
        /// Its identifier.
        master: u16,
        /// Which of its questions this is.
        account: u16,
    },
    /// From a switch that is asked: it carries this.
    Carries {
        /// The switch.
        switch: u16,
        /// The stream.
        stream: FttStream,
        /// A consumer of it.
        consumer: u16,
        /// As in the message that it answers.
        account: u16,
    },
    /// From a switch that is asked: this was all.
    Surveyed {
        /// The switch.
        switch: u16,
        /// As in the message that it answers.
        account: u16,
        /// The greatest number under which it was told of anything.
        number: u32,
        /// Of all that it carries, entry by entry.
        digest: u64,
    },
}

impl FttMessage {
    /// Octets of MAC client data, before padding.
    #[must_use]
    pub fn octets(&self) -> usize {
        let mut octets = Vec::new();
        self.emit(&mut octets);
        octets.len()
    }

    /// A digest of messages as they are written: FNV-1a of 64 bits. Equal where every message is, down to its last field.
    pub fn digest(messages: impl Iterator<Item = Self>) -> u64 {
        let mut octets = Vec::new();
        messages.for_each(|message| message.emit(&mut octets));
        let step = |hash: u64, octet: &u8| (hash ^ u64::from(*octet)).wrapping_mul(0x0000_0100_0000_01b3);
        octets.iter().fold(0xcbf2_9ce4_8422_2325, step)
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    const STREAM: FttStream = FttStream {
        id: 7,
        size: 88,
        period_ns: 125_000,
        deadline_ns: 2_000_000,
        priority: 3,
        producer: 1,
        offset_ns: None,
    };
    const SYNCHRONOUS: FttStream = FttStream { offset_ns: Some(70_000), ..STREAM };

    fn all() -> Vec<FttMessage> {
        vec![
            FttMessage::Trigger { master: 9, cycle: 70_000, polled: vec![Polled { stream: 3, frames: 2 }] },
            FttMessage::Add { stream: STREAM, node: 2, number: 1 },
            FttMessage::Add { stream: SYNCHRONOUS, node: 2, number: 70 },
            FttMessage::Config { stream: SYNCHRONOUS, consumer: 2, installed: false, number: 3 },
            FttMessage::Replicate {
                stream: SYNCHRONOUS,
                consumer: 2,
                installed: true,
                number: 70_000,
                life: 2,
                asked: 3,
                by: 9,
            },
            FttMessage::Remove { stream: 7, node: 1, number: 2 },
            FttMessage::Config { stream: STREAM, consumer: 1, installed: true, number: 70_000 },
            FttMessage::Reply { stream: 7, consumer: 2, switch: 11, installed: false, number: 3 },
            FttMessage::Ack { stream: 7, granted: false, subject: 4, number: 9 },
            FttMessage::Replicate {
                stream: STREAM,
                consumer: 2,
                installed: true,
                number: 1,
                life: 0,
                asked: 1,
                by: 2,
            },
            FttMessage::Replicated { stream: 7, consumer: 2, installed: true, number: 1 },
            FttMessage::Alive { master: 20, life: 3, number: 70_000 },
            FttMessage::Recall { master: 20, life: 3, attempt: 1 },
            FttMessage::Record { stream: SYNCHRONOUS, node: 2, number: 5, account: 6, refused: None },
            FttMessage::Record { stream: STREAM, node: 2, number: 5, account: 6, refused: Some(4) },
            FttMessage::Complete { master: 21, life: 0, to: 3, number: 70_000, account: 2, digest: 1 << 40 },
            FttMessage::Invite { stream: 7 },
            FttMessage::Survey { master: 20, account: 3 },
            FttMessage::Carries { switch: 11, stream: SYNCHRONOUS, consumer: 2, account: 3 },
            FttMessage::Surveyed { switch: 11, account: 3, number: 70_000, digest: 1 << 40 },
            FttMessage::Pause { stream: 7, number: 2 },
            FttMessage::Paused { stream: 7, node: 1, number: 2 },
        ]
    }

    #[test]
    fn what_is_written_is_read() {
        for message in all() {
            let mut octets = Vec::new();
            message.emit(&mut octets);
            assert_eq!(octets.len(), message.octets());
            octets.extend([0xee; 3]);
            assert_eq!(FttMessage::parse(&octets), Ok((message.clone(), &[0xee; 3][..])));
            let cut = message.octets() - 1;
            assert_eq!(FttMessage::parse(&octets[..cut]), Err(WireError::Truncated), "{message:?}");
        }
    }

    #[test]
    fn the_octets_of_a_request() {
        let mut octets = Vec::new();
        FttMessage::Add { stream: STREAM, node: 2, number: 258 }.emit(&mut octets);
        let expected = [4, 1, 0, 7, 0, 88, 0, 1, 0xe8, 0x48, 0, 0x1e, 0x84, 0x80, 3, 0, 1, 0, 0, 2, 1, 2];
        assert_eq!(octets, expected);
        octets.clear();
        FttMessage::Add { stream: SYNCHRONOUS, node: 2, number: 1 }.emit(&mut octets);
        let expected = [
            4, 1, 0, 7, 0, 88, 0, 1, 0xe8, 0x48, 0, 0x1e, 0x84, 0x80, 3, 0, 1, 1, 0, 1, 0x11, 0x70, 0, 2, 0,
            1,
        ];
        assert_eq!(octets, expected);
    }

    proptest! {
        #[test]
        fn any_octets_are_read_without_a_panic(octets in proptest::collection::vec(any::<u8>(), 0..64)) {
            if let Ok((message, rest)) = FttMessage::parse(&octets) {
                let mut again = Vec::new();
                message.emit(&mut again);
                prop_assert_eq!(&octets[..octets.len() - rest.len()], &again[..]);
            }
        }
    }
}
