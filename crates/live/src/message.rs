//! The frames of a live run: the described header, and in the data the message of a test bed with stream, number and CRC-32, which
//! carries the time of creation (64 bits, ns since the start) and the described length of the data (16 bits).

use tautwire_model::network::{Hop, Stream};
use tautwire_wire::{EtherType, EthernetHeader, TestMessage, VlanTag, WireError};

/// Time and length, in the contents of the message.
const CONTENTS: usize = 10;
/// Least octets of the data: a frame of the least size has more.
const DATA_MIN: usize = TestMessage::OCTETS + CONTENTS;
/// The smallest frame without FCS.
const FRAME_MIN: usize = 60;
/// EtherType of the frames by which readiness is checked (the second one for local experiments).
pub(crate) const PROBE: EtherType = EtherType(0x88b6);

/// What a frame states of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) stream: u32,
    pub(crate) number: u32,
    /// Nanoseconds since the start.
    pub(crate) created: u64,
    /// Described MAC client data, before padding.
    pub(crate) payload: u16,
}

impl Message {
    /// Puts the data of its frame into `to`.
    pub(crate) fn emit(&self, to: &mut Vec<u8>) {
        let mut contents = [0; CONTENTS];
        contents[..8].copy_from_slice(&self.created.to_be_bytes());
        contents[8..].copy_from_slice(&self.payload.to_be_bytes());
        let header = TestMessage { id: self.stream, sequence: self.number };
        header.emit_with(&contents, usize::from(self.payload).max(DATA_MIN), to);
    }

    /// Reads the data of a frame, and gives its octets without padding. The CRC is checked only if `is_checked`: a bridge need not.
    pub(crate) fn parse(data: &[u8], is_checked: bool) -> Result<(Self, &[u8]), WireError> {
        let [a, b, c, d, e, f, g, h, _, _, _, _, i, j, k, l, m, n, o, p, high, low, ..] = *data else {
            return Err(WireError::Truncated);
        };
        let payload = u16::from_be_bytes([high, low]);
        let own = data.get(..usize::from(payload).max(DATA_MIN)).ok_or(WireError::Truncated)?;
        if is_checked {
            TestMessage::parse(own)?;
        }
        let message = Self {
            stream: u32::from_be_bytes([a, b, c, d]),
            number: u32::from_be_bytes([e, f, g, h]),
            created: u64::from_be_bytes([i, j, k, l, m, n, o, p]),
            payload,
        };
        Ok((message, own))
    }
}

/// Puts the frame with this data into `to`, as it is on the wire behind `hop`, padded, without FCS.
pub(crate) fn frame(stream: &Stream, hop: &Hop, data: &[u8], to: &mut Vec<u8>) {
    let tag = VlanTag::new(hop.priority.number(), Some(stream.vlan)).filter(|_| hop.tagged.vlan);
    let (destination, source) = (stream.destination, stream.source);
    to.clear();
    EthernetHeader { destination, source, tag, ether_type: EtherType::LOCAL_EXPERIMENTAL }.emit(to);
    to.extend_from_slice(data);
    to.resize(to.len().max(FRAME_MIN), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_read_with_padding_and_without() {
        for payload in [1, 22, 42, 1500] {
            let message = Message { stream: 7, number: 8, created: 9_000_000_001, payload };
            let mut data = Vec::new();
            message.emit(&mut data);
            let length = data.len();
            data.resize(data.len() + 20, 0xff);
            let (read, own) = Message::parse(&data, true).expect("a message");
            assert_eq!((read, own.len()), (message, length));
            data[length - 1] ^= 1;
            assert_eq!(Message::parse(&data, true), Err(WireError::Checksum));
            assert!(Message::parse(&data, false).is_ok());
        }
        assert_eq!(Message::parse(&[0; 21], false), Err(WireError::Truncated));
    }
}
