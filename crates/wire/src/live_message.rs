//! What a frame of a live run states of itself: the message of a test bed ([`TestMessage`]) with stream, number and CRC-32, of which the
//! contents begin with the time of creation (64 bits, ns since the start) and the described length of the data (16 bits), big endian.
//!
//! In a frame of a program the first bit of the time is set, and the data of the described length follows all that: the program's
//! packet, padded. Such a frame is longer than described by what it states of itself.

use alloc::vec::Vec;

use crate::error::WireError;
use crate::test_bed::TestMessage;

/// Time and length, in the contents of the message.
const CONTENTS: usize = 10;

/// A message of a live run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveMessage {
    /// Index of the stream.
    pub stream: u32,
    /// Number of the frame within its stream, from 0.
    pub number: u32,
    /// Nanoseconds since the start.
    pub created: u64,
    /// Described MAC client data, before padding.
    pub payload: u16,
    /// Whether the packet of a program follows.
    pub is_of_program: bool,
}

/// Marks the time of a program's frame.
const OF_PROGRAM: u64 = 1 << 63;

impl LiveMessage {
    /// Least octets of the data: a frame of the least size has more.
    pub const OCTETS: usize = TestMessage::OCTETS + CONTENTS;

    /// Puts the data of its frame into `to`, with the packet of a program if it is of one.
    pub fn emit(&self, packet: &[u8], to: &mut Vec<u8>) {
        let mark = if self.is_of_program { OF_PROGRAM } else { 0 };
        let mut contents = Vec::with_capacity(CONTENTS + packet.len());
        contents.extend_from_slice(&(self.created | mark).to_be_bytes());
        contents.extend_from_slice(&self.payload.to_be_bytes());
        if self.is_of_program {
            contents.extend_from_slice(packet);
        }
        let header = TestMessage { id: self.stream, sequence: self.number };
        header.emit_with(&contents, self.octets(), to);
    }

    /// Octets of the data of its frame, before padding.
    fn octets(&self) -> usize {
        let payload = usize::from(self.payload);
        if self.is_of_program { Self::OCTETS + payload } else { payload.max(Self::OCTETS) }
    }

    /// Reads what a frame states, though its end may be missing; also gives the octets of its data, as many as it states.
    ///
    /// # Errors
    /// If it is shorter than its header.
    pub fn header(data: &[u8]) -> Result<(Self, usize), WireError> {
        let [a, b, c, d, e, f, g, h, _, _, _, _, i, j, k, l, m, n, o, p, high, low, ..] = *data else {
            return Err(WireError::Truncated);
        };
        let created = u64::from_be_bytes([i, j, k, l, m, n, o, p]);
        let message = Self {
            stream: u32::from_be_bytes([a, b, c, d]),
            number: u32::from_be_bytes([e, f, g, h]),
            created: created & !OF_PROGRAM,
            payload: u16::from_be_bytes([high, low]),
            is_of_program: created & OF_PROGRAM != 0,
        };
        Ok((message, message.octets()))
    }

    /// Reads the data of a frame, and gives its octets without padding. The CRC is checked only if `is_checked`: a bridge need not.
    ///
    /// # Errors
    /// If it is cut short, or is checked and does not fit its CRC.
    pub fn parse(data: &[u8], is_checked: bool) -> Result<(Self, &[u8]), WireError> {
        let (message, octets) = Self::header(data)?;
        let own = data.get(..octets).ok_or(WireError::Truncated)?;
        if is_checked {
            TestMessage::parse(own)?;
        }
        Ok((message, own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_sent_is_read_with_padding_and_without() {
        for (payload, packet) in
            [(1, None), (22, None), (42, None), (1500, None), (28, Some([9; 28])), (100, Some([9; 28]))]
        {
            let (created, is_of_program) = (9_000_000_001, packet.is_some());
            let message = LiveMessage { stream: 7, number: 8, created, payload, is_of_program };
            let mut data = Vec::new();
            message.emit(&packet.unwrap_or_default(), &mut data);
            let length = data.len();
            if let Some(packet) = packet {
                assert_eq!(length, LiveMessage::OCTETS + usize::from(payload));
                assert_eq!(data[LiveMessage::OCTETS..][..28], packet);
            }
            data.resize(data.len() + 20, 0xff);
            let (read, own) = LiveMessage::parse(&data, true).expect("a message");
            assert_eq!((read, own.len()), (message, length));
            assert_eq!(LiveMessage::header(&data[..LiveMessage::OCTETS]), Ok((message, length)));
            data[length - 1] ^= 1;
            assert_eq!(LiveMessage::parse(&data, true), Err(WireError::Checksum));
            assert!(LiveMessage::parse(&data, false).is_ok());
        }
    }

    proptest! {
        #[test]
        fn any_octets_give_a_message_or_an_error(octets: Vec<u8>) {
            if let Ok((_, own)) = LiveMessage::parse(&octets, true) {
                prop_assert!(own.len() >= LiveMessage::OCTETS && own.len() <= octets.len());
            }
        }
    }
}
