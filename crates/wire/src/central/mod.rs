//! Messages of central configuration between users, CUC, CNC and bridges (IEEE Std 802.1Q-2022, 46.1.3).
//!
//! The standard leaves their form open: managed objects are transported by NETCONF or RESTCONF, over TCP. This
//! encoding is our own and replaces those, so that captures, receivers and machines see the same octets. It uses the
//! local experimental EtherType (IEEE Std 802-2014, 9.2.3), 0x88b5, whose contents begin with a number of the protocol
//! and its version.
//!
//! | octets | field |
//! |---|---|
//! | 2 | protocol, 0x5457 |
//! | 1 | version, 1 |
//! | 1 | flags: 1 the receiver's session is known, 2 a message follows |
//! | 4, 4 | sender and receiver, as the network numbers its nodes |
//! | 2, 2 | session of the sender, and of the receiver; zero if it is not known |
//! | 4 | number of the message that is expected next |
//! | 4 | number of the message that follows; zero without one |
//! | | the message (`message.rs`) |
//!
//! Numbers are big endian; padding may follow. A message that configures one port ends at octet 46, the least payload of Ethernet.
//! Not here: when a frame is sent (`core`, `central/channel.rs`).

mod message;

use alloc::vec::Vec;

use crate::EtherType;
use crate::error::{WireError, split};

pub use message::{Message, Pair, Share};

const PROTOCOL: u16 = 0x5457;
const VERSION: u8 = 1;
const KNOWS_SESSION: u8 = 1;
const HAS_MESSAGE: u8 = 2;

/// A message from one node to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ControlFrame {
    /// The sender.
    pub from: u32,
    /// The recipient.
    pub to: u32,
    /// Session of the sender.
    pub session: u16,
    /// That of the receiver, as far as the sender knows it.
    pub peer_session: Option<u16>,
    /// Number of the message that is expected next.
    pub acknowledges: u32,
    /// A message and its number.
    pub message: Option<(u32, Message)>,
}

impl ControlFrame {
    /// Its type.
    pub const ETHER_TYPE: EtherType = EtherType::LOCAL_EXPERIMENTAL;

    /// Puts it behind what is in `to`.
    ///
    /// # Panics
    /// If a message configures more than 255 ports.
    pub fn emit(&self, to: &mut Vec<u8>) {
        let knows = if self.peer_session.is_some() { KNOWS_SESSION } else { 0 };
        let has = if self.message.is_some() { HAS_MESSAGE } else { 0 };
        to.extend_from_slice(&PROTOCOL.to_be_bytes());
        to.extend_from_slice(&[VERSION, knows | has]);
        to.extend_from_slice(&self.from.to_be_bytes());
        to.extend_from_slice(&self.to.to_be_bytes());
        to.extend_from_slice(&self.session.to_be_bytes());
        to.extend_from_slice(&self.peer_session.unwrap_or(0).to_be_bytes());
        to.extend_from_slice(&self.acknowledges.to_be_bytes());
        to.extend_from_slice(&self.message.as_ref().map_or(0, |(number, _)| *number).to_be_bytes());
        if let Some((_, message)) = &self.message {
            message.emit(to);
        }
    }

    /// Parses one; also gives the octets after it, padding included.
    ///
    /// # Errors
    /// If the octets end before it does, or it is of another protocol or version, or has an unknown field value.
    pub fn parse(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (protocol, rest) = split::<2>(octets)?;
        let ([version, flags], rest) = split::<2>(rest)?;
        let is_known = flags & !(KNOWS_SESSION | HAS_MESSAGE) == 0;
        if u16::from_be_bytes(*protocol) != PROTOCOL || *version != VERSION || !is_known {
            return Err(WireError::Unknown);
        }
        let (from, rest) = split::<4>(rest)?;
        let (to, rest) = split::<4>(rest)?;
        let (session, rest) = split::<2>(rest)?;
        let (peer, rest) = split::<2>(rest)?;
        let (acknowledges, rest) = split::<4>(rest)?;
        let (number, rest) = split::<4>(rest)?;
        let (peer, number) = (u16::from_be_bytes(*peer), u32::from_be_bytes(*number));
        let peer_session = (flags & KNOWS_SESSION != 0).then_some(peer);
        let has_message = flags & HAS_MESSAGE != 0;
        if (peer_session.is_none() && peer != 0) || (!has_message && number != 0) {
            return Err(WireError::Unknown);
        }
        let (message, rest) = if has_message {
            let (message, rest) = Message::parse(rest)?;
            (Some((number, message)), rest)
        } else {
            (None, rest)
        };
        let frame = Self {
            from: u32::from_be_bytes(*from),
            to: u32::from_be_bytes(*to),
            session: u16::from_be_bytes(*session),
            peer_session,
            acknowledges: u32::from_be_bytes(*acknowledges),
            message,
        };
        Ok((frame, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    fn any_frame() -> impl Strategy<Value = ControlFrame> {
        let numbers = (any::<u32>(), any::<u32>(), any::<u16>(), any::<Option<u16>>(), any::<u32>());
        let message = proptest::option::of((any::<u32>(), message::tests::any_message()));
        (numbers, message).prop_map(|((from, to, session, peer_session, acknowledges), message)| {
            ControlFrame { from, to, session, peer_session, acknowledges, message }
        })
    }

    proptest! {
        #[test]
        fn a_frame_is_read_as_it_is_written(frame in any_frame(), behind: Vec<u8>) {
            let mut octets = Vec::new();
            frame.emit(&mut octets);
            octets.extend_from_slice(&behind);
            prop_assert_eq!(ControlFrame::parse(&octets), Ok((frame, &behind[..])));
        }

        #[test]
        fn any_octets_give_a_frame_or_an_error(octets: Vec<u8>) {
            // Behind the header that others have, or any.
            let mut with_header = vec![0x54, 0x57, 1];
            with_header.extend_from_slice(&octets);
            for octets in [&octets, &with_header] {
                if let Ok((frame, rest)) = ControlFrame::parse(octets) {
                    let mut again = Vec::new();
                    frame.emit(&mut again);
                    prop_assert_eq!(&again[..], &octets[..octets.len() - rest.len()]);
                }
            }
        }

        #[test]
        fn frames_with_changed_octets_give_a_frame_or_an_error(frame in any_frame(), place: usize, flip: u8, cut: usize) {
            let mut octets = Vec::new();
            frame.emit(&mut octets);
            let length = octets.len();
            octets[place % length] ^= flip;
            octets.truncate(length - cut % 8);
            if let Ok((frame, rest)) = ControlFrame::parse(&octets) {
                let mut again = Vec::new();
                frame.emit(&mut again);
                prop_assert_eq!(&again[..], &octets[..octets.len() - rest.len()]);
            }
        }
    }

    #[test]
    fn a_configuration_of_one_port_fills_the_least_payload() {
        let share = Share { port: 3, class: 1, slope: 20_000_000 };
        let pair = Pair { stream: 7, listener: 2 };
        let message = Message::Configure { pair, reserve: true, shares: vec![share] };
        let frame = ControlFrame {
            from: 1,
            to: 2,
            session: 0,
            peer_session: Some(0),
            acknowledges: 5,
            message: Some((9, message)),
        };
        let mut octets = Vec::new();
        frame.emit(&mut octets);
        assert_eq!(octets.len(), 46);
    }
}
