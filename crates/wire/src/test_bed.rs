//! Messages of a test bed: a header in the payload with identifier, sequence number and a CRC-32 of its own.
//!
//! In order, big endian: identifier (32 bits), sequence number (32 bits), CRC-32 (that of IEEE Std 802.3, 3.2.9,
//! over identifier, sequence number and contents), contents to the end. The contents are made from identifier and
//! sequence number, so that a receiver needs nothing to check them with.

use alloc::vec::Vec;

use crate::error::{WireError, split};

/// The contents of a message after its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PayloadType {
    /// Octets that count up.
    Sequential,
    /// Octets as if drawn, the same for the same message.
    Random,
}

/// The header of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TestMessage {
    /// Which message of the test it is.
    pub id: u32,
    /// How often it was sent before.
    pub sequence: u32,
}

impl TestMessage {
    /// Octets of the header.
    pub const OCTETS: usize = 12;

    /// Puts the message into `to`, with contents up to `payload` octets in all.
    pub fn emit(&self, kind: PayloadType, payload: usize, to: &mut Vec<u8>) {
        let first = to.len();
        to.extend_from_slice(&self.id.to_be_bytes());
        to.extend_from_slice(&self.sequence.to_be_bytes());
        to.extend_from_slice(&[0; 4]);
        let mut state = (u64::from(self.id) << 32) | u64::from(self.sequence);
        for place in 0..payload.saturating_sub(Self::OCTETS) {
            to.push(match kind {
                PayloadType::Sequential => (place & 0xff) as u8,
                PayloadType::Random => {
                    // A linear congruential generator; its high octet (Knuth's MMIX constants).
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    state.to_be_bytes()[0]
                }
            });
        }
        let sum = Crc::NEW.over(&to[first..first + 8]).over(&to[first + Self::OCTETS..]).finish();
        to[first + 8..first + Self::OCTETS].copy_from_slice(&sum.to_be_bytes());
    }

    /// Puts the message into `to`, with these contents and octets that count up behind them, `payload` octets in all.
    pub fn emit_with(&self, contents: &[u8], payload: usize, to: &mut Vec<u8>) {
        let first = to.len();
        to.extend_from_slice(&self.id.to_be_bytes());
        to.extend_from_slice(&self.sequence.to_be_bytes());
        to.extend_from_slice(&[0; 4]);
        to.extend_from_slice(contents);
        let left = payload.saturating_sub(to.len() - first);
        to.extend((0..left).map(|place| (place & 0xff) as u8));
        let sum = Crc::NEW.over(&to[first..first + 8]).over(&to[first + Self::OCTETS..]).finish();
        to[first + 8..first + Self::OCTETS].copy_from_slice(&sum.to_be_bytes());
    }

    /// Parses a message; also gives its contents.
    ///
    /// # Errors
    /// If it is cut short, or its octets do not fit the sender's CRC.
    pub fn parse(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (header, contents) = split::<12>(octets)?;
        let [a, b, c, d, e, f, g, h, sum @ ..] = *header;
        if Crc::NEW.over(&header[..8]).over(contents).finish() != u32::from_be_bytes(sum) {
            return Err(WireError::Checksum);
        }
        let id = u32::from_be_bytes([a, b, c, d]);
        Ok((Self { id, sequence: u32::from_be_bytes([e, f, g, h]) }, contents))
    }
}

/// CRC-32 of IEEE Std 802.3, reflected.
#[derive(Clone, Copy)]
struct Crc(u32);

impl Crc {
    const NEW: Self = Self(u32::MAX);

    /// What each octet adds.
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut octet = 0;
        while octet < 256 {
            let mut sum = octet as u32;
            let mut bit = 0;
            while bit < 8 {
                sum = if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 };
                bit += 1;
            }
            table[octet] = sum;
            octet += 1;
        }
        table
    };

    fn over(self, octets: &[u8]) -> Self {
        let step = |sum: u32, octet: &u8| (sum >> 8) ^ Self::TABLE[usize::from(sum.to_le_bytes()[0] ^ octet)];
        Self(octets.iter().fold(self.0, step))
    }

    const fn finish(self) -> u32 {
        !self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_crc_is_that_of_ethernet() {
        // The check value of CRC-32 in every catalogue of cyclic redundancy checks.
        assert_eq!(Crc::NEW.over(b"123456789").finish(), 0xcbf4_3926);
    }

    proptest! {
        #[test]
        fn what_is_emitted_is_read(id: u32, sequence: u32, random: bool, payload in 0_usize..1_600) {
            let kind = if random { PayloadType::Random } else { PayloadType::Sequential };
            let mut octets = Vec::new();
            TestMessage { id, sequence }.emit(kind, payload, &mut octets);
            prop_assert_eq!(octets.len(), payload.max(TestMessage::OCTETS));
            let (read, contents) = TestMessage::parse(&octets).expect("a message");
            prop_assert_eq!((read.id, read.sequence, contents.len()), (id, sequence, octets.len() - 12));
        }

        #[test]
        fn a_burst_of_wrong_bits_is_found(id: u32, sequence: u32, at in 0_usize..200, wrong in 1_u8..) {
            let mut octets = Vec::new();
            TestMessage { id, sequence }.emit(PayloadType::Random, 200, &mut octets);
            octets[at] ^= wrong;
            prop_assert_eq!(TestMessage::parse(&octets), Err(WireError::Checksum));
        }

        #[test]
        fn any_octets_give_a_message_or_an_error(octets: Vec<u8>) {
            if TestMessage::parse(&octets).is_ok() {
                prop_assert!(octets.len() >= TestMessage::OCTETS);
            }
        }
    }
}
