//! What a frame of a live run states of itself: the message of a test bed ([`TestMessage`]) with stream, number and CRC-32, of which the
//! contents begin with the time of creation (64 bits, ns since the start) and the described length of the data (16 bits), big endian.

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
}

impl LiveMessage {
    /// Least octets of the data: a frame of the least size has more.
    pub const OCTETS: usize = TestMessage::OCTETS + CONTENTS;

    /// Puts the data of its frame into `to`.
    pub fn emit(&self, to: &mut Vec<u8>) {
        let mut contents = [0; CONTENTS];
        contents[..8].copy_from_slice(&self.created.to_be_bytes());
        contents[8..].copy_from_slice(&self.payload.to_be_bytes());
        let header = TestMessage { id: self.stream, sequence: self.number };
        header.emit_with(&contents, usize::from(self.payload).max(Self::OCTETS), to);
    }

    /// Reads what a frame states, though its end may be missing; also gives the octets of its data, as many as it states.
    ///
    /// # Errors
    /// If it is shorter than its header.
    pub fn header(data: &[u8]) -> Result<(Self, usize), WireError> {
        let [a, b, c, d, e, f, g, h, _, _, _, _, i, j, k, l, m, n, o, p, high, low, ..] = *data else {
            return Err(WireError::Truncated);
        };
        let message = Self {
            stream: u32::from_be_bytes([a, b, c, d]),
            number: u32::from_be_bytes([e, f, g, h]),
            created: u64::from_be_bytes([i, j, k, l, m, n, o, p]),
            payload: u16::from_be_bytes([high, low]),
        };
        Ok((message, usize::from(message.payload).max(Self::OCTETS)))
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
        for payload in [1, 22, 42, 1500] {
            let message = LiveMessage { stream: 7, number: 8, created: 9_000_000_001, payload };
            let mut data = Vec::new();
            message.emit(&mut data);
            let length = data.len();
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
