//! mPackets of frame preemption (IEEE Std 802.3-2022, 99.3): the head of a frame or of a part of one, and the check behind it.
//!
//! An mPacket begins with a preamble and a start delimiter that says what it is; a continuation has a fragment count besides. The last part of a frame ends with
//! its FCS, every other with the CRC of all octets of the frame so far, with the first two octets inverted.

use alloc::vec::Vec;

use crate::error::WireError;

/// An octet of preamble.
const PREAMBLE: u8 = 0x55;
/// Octets before the contents.
const HEAD: usize = 8;
/// SMD-E, which is the start frame delimiter.
const EXPRESS: u8 = 0xd5;
/// SMD-S0 to SMD-S3, which are fragment counts, too.
const STARTS: [u8; 4] = [0xe6, 0x4c, 0x7f, 0xb3];
/// SMD-C0 to SMD-C3.
const CONTINUATIONS: [u8; 4] = [0x61, 0x52, 0x9e, 0x2a];
/// SMD-V and SMD-R.
const VERIFY: u8 = 0x07;
const RESPOND: u8 = 0x19;
/// The difference between the check of a part that is not the last and an FCS.
const MORE: u32 = 0x0000_ffff;

/// The head of an mPacket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MPacket {
    /// An express frame (SMD-E).
    Express,
    /// A preemptable frame, or its first fragment (SMD-S), with the frame's number modulo four.
    Start(u8),
    /// What follows of one that was cut (SMD-C), with its frame's number, and the fragment's, modulo four.
    Continuation(u8, u8),
    /// A request to verify (SMD-V).
    Verify,
    /// A response to that (SMD-R).
    Respond,
}

impl MPacket {
    /// Writes the head.
    pub fn emit(self, to: &mut Vec<u8>) {
        let of = |all: [u8; 4], number: u8| all[usize::from(number % 4)];
        let (delimiter, count) = match self {
            Self::Express => (EXPRESS, None),
            Self::Start(number) => (of(STARTS, number), None),
            Self::Continuation(number, fragment) => (of(CONTINUATIONS, number), Some(of(STARTS, fragment))),
            Self::Verify => (VERIFY, None),
            Self::Respond => (RESPOND, None),
        };
        let preamble = HEAD - 1 - usize::from(count.is_some());
        to.resize(to.len() + preamble, PREAMBLE);
        to.push(delimiter);
        to.extend(count);
    }

    /// The head and what is behind it.
    ///
    /// # Errors
    /// If the octets are no mPacket.
    pub fn parse(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (head, rest) = crate::error::split::<HEAD>(octets)?;
        let place = |all: [u8; 4], octet: u8| {
            let place = all.iter().position(|one| *one == octet)?;
            u8::try_from(place).ok()
        };
        let [begin @ .., before, last] = *head;
        if begin.iter().any(|octet| *octet != PREAMBLE) {
            return Err(WireError::Unknown);
        }
        if before != PREAMBLE {
            let both = place(CONTINUATIONS, before).zip(place(STARTS, last));
            let (number, fragment) = both.ok_or(WireError::Unknown)?;
            return Ok((Self::Continuation(number, fragment), rest));
        }
        let kind = match last {
            EXPRESS => Self::Express,
            VERIFY => Self::Verify,
            RESPOND => Self::Respond,
            other => Self::Start(place(STARTS, other).ok_or(WireError::Unknown)?),
        };
        Ok((kind, rest))
    }
}

/// The frame check sequence of octets, as it is sent (IEEE Std 802.3, 3.2.9).
#[must_use]
pub fn frame_check(octets: &[u8]) -> [u8; 4] {
    crc_32(octets).to_le_bytes()
}

/// The check of a part of a frame that is not its last: of all octets of the frame up to there.
#[must_use]
pub fn part_check(octets: &[u8]) -> [u8; 4] {
    (crc_32(octets) ^ MORE).to_le_bytes()
}

fn crc_32(octets: &[u8]) -> u32 {
    let bit = |sum: u32| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
    !octets.iter().fold(u32::MAX, |sum, octet| (0..8).fold(sum ^ u32::from(*octet), |sum, _| bit(sum)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_those_of_the_standard() {
        let emitted = |mpacket: MPacket| {
            let mut octets = Vec::new();
            mpacket.emit(&mut octets);
            assert_eq!(MPacket::parse(&octets), Ok((mpacket, &[][..])));
            [octets[6], octets[7]]
        };
        assert_eq!(emitted(MPacket::Express), [0x55, 0xd5]);
        let starts = [0, 1, 2, 3].map(|number| emitted(MPacket::Start(number))[1]);
        assert_eq!(starts, [0xe6, 0x4c, 0x7f, 0xb3]);
        assert_eq!(emitted(MPacket::Continuation(0, 0)), [0x61, 0xe6]);
        assert_eq!(emitted(MPacket::Continuation(3, 1)), [0x2a, 0x4c]);
        assert_eq!((emitted(MPacket::Verify)[1], emitted(MPacket::Respond)[1]), (0x07, 0x19));
    }

    #[test]
    fn other_octets_are_none() {
        assert_eq!(MPacket::parse(&[0x55; 7]), Err(WireError::Truncated));
        assert_eq!(MPacket::parse(&[0x55; 8]), Err(WireError::Unknown));
        assert_eq!(
            MPacket::parse(&[0x55, 0x55, 0x55, 0x55, 0x55, 0x54, 0x55, 0xd5]),
            Err(WireError::Unknown)
        );
        assert_eq!(
            MPacket::parse(&[0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x61, 0xd5]),
            Err(WireError::Unknown)
        );
    }

    #[test]
    fn checks_are_those_that_others_compute() {
        assert_eq!(frame_check(b"123456789"), 0xcbf4_3926_u32.to_le_bytes());
        let [a, b, c, d] = frame_check(b"123456789");
        assert_eq!(part_check(b"123456789"), [!a, !b, c, d]);
    }
}
