//! What a frame in a capture of a simulated run states of itself: `tautwire`, index of the stream and number of the frame (32 bits each,
//! big endian).

use alloc::vec::Vec;

use crate::error::{WireError, split};

/// The mark at the beginning of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameMark {
    /// Index of the stream.
    pub stream: u32,
    /// Number of the frame within its stream, from 0.
    pub number: u32,
}

impl FrameMark {
    /// Octets of the mark.
    pub const OCTETS: usize = 16;
    const NAME: [u8; 8] = *b"tautwire";

    /// Puts the mark into `to`.
    pub fn emit(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&Self::NAME);
        to.extend_from_slice(&self.stream.to_be_bytes());
        to.extend_from_slice(&self.number.to_be_bytes());
    }

    /// Reads the mark at the beginning of a payload.
    ///
    /// # Errors
    /// If it is cut short, or there is none.
    pub fn parse(payload: &[u8]) -> Result<Self, WireError> {
        let ([name @ .., a, b, c, d, e, f, g, h], _) = split::<16>(payload)?;
        if *name != Self::NAME {
            return Err(WireError::Unknown);
        }
        let [stream, number] = [[*a, *b, *c, *d], [*e, *f, *g, *h]].map(u32::from_be_bytes);
        Ok(Self { stream, number })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_mark_is_read_as_it_is_written(stream: u32, number: u32, behind: Vec<u8>, at in 0_usize..8) {
            let mark = FrameMark { stream, number };
            let mut payload = Vec::new();
            mark.emit(&mut payload);
            prop_assert_eq!(payload.len(), FrameMark::OCTETS);
            prop_assert_eq!(FrameMark::parse(&payload[..15]), Err(WireError::Truncated));
            payload.extend(behind);
            prop_assert_eq!(FrameMark::parse(&payload), Ok(mark));
            payload[at] ^= 0x20;
            prop_assert_eq!(FrameMark::parse(&payload), Err(WireError::Unknown));
        }
    }
}
