//! Frames of RTnet's TDMA discipline, version 2.1, after the RTmac header.
//!
//! The master opens every cycle with a synchronisation frame, broadcast; a slave measures the travel time of a frame
//! once, at start-up, by a request to the master (calibration), and the master replies in a slot that the slave names.
//! Version 0x0201 and a message (16 bits each), then numbers in big endian; times are nanoseconds of the sender's
//! clock. Not here: when frames are sent (`tautwire-core`, `tdma`).

mod rtmac;
mod start_up;

pub use rtmac::RtmacHeader;
pub use start_up::{Announcement, RtcfgFrame};

use alloc::vec::Vec;

use crate::error::{WireError, split};

/// A frame of the discipline. All times in nanoseconds of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TdmaFrame {
    /// Opens a cycle; from the master to all.
    Synchronisation {
        /// Number of the cycle.
        cycle: u32,
        /// When it left, by the master's clock.
        transmitted_ns: u64,
        /// When it should have left: the start of the cycle.
        scheduled_ns: u64,
    },
    /// Requests a measurement of the travel time of a frame; from a slave to the master.
    CalibrationRequest {
        /// When it left, by the slave's clock.
        transmitted_ns: u64,
        /// Cycle in which the reply shall come.
        reply_cycle: u32,
        /// Offset in that cycle at which it shall come.
        reply_offset_ns: u64,
    },
    /// The reply to it.
    CalibrationReply {
        /// When the request left, by the slave's clock.
        requested_ns: u64,
        /// When the request was received, by the master's clock.
        received_ns: u64,
        /// When the reply left, by the master's clock.
        transmitted_ns: u64,
    },
}

impl TdmaFrame {
    const VERSION: [u8; 2] = [2, 1];
    const SYNCHRONISATION: u16 = 0x0000;
    const REQUEST: u16 = 0x0010;
    const REPLY: u16 = 0x0011;

    /// Octets of the frame behind the RTmac header.
    #[must_use]
    pub const fn length(&self) -> usize {
        match self {
            Self::Synchronisation { .. } | Self::CalibrationRequest { .. } => 24,
            Self::CalibrationReply { .. } => 28,
        }
    }

    /// Puts the frame behind what is in `to`.
    pub fn emit(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&Self::VERSION);
        match *self {
            Self::Synchronisation { cycle, transmitted_ns, scheduled_ns } => {
                to.extend_from_slice(&Self::SYNCHRONISATION.to_be_bytes());
                to.extend_from_slice(&cycle.to_be_bytes());
                to.extend_from_slice(&transmitted_ns.to_be_bytes());
                to.extend_from_slice(&scheduled_ns.to_be_bytes());
            }
            Self::CalibrationRequest { transmitted_ns, reply_cycle, reply_offset_ns } => {
                to.extend_from_slice(&Self::REQUEST.to_be_bytes());
                to.extend_from_slice(&transmitted_ns.to_be_bytes());
                to.extend_from_slice(&reply_cycle.to_be_bytes());
                to.extend_from_slice(&reply_offset_ns.to_be_bytes());
            }
            Self::CalibrationReply { requested_ns, received_ns, transmitted_ns } => {
                to.extend_from_slice(&Self::REPLY.to_be_bytes());
                to.extend_from_slice(&requested_ns.to_be_bytes());
                to.extend_from_slice(&received_ns.to_be_bytes());
                to.extend_from_slice(&transmitted_ns.to_be_bytes());
            }
        }
    }

    /// Parses a frame; also gives the octets after it, which are padding.
    ///
    /// # Errors
    /// If it is cut short, or of another version or an unknown message.
    pub fn parse(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (version, rest) = split::<2>(octets)?;
        let (message, rest) = split::<2>(rest)?;
        if *version != Self::VERSION {
            return Err(WireError::Unknown);
        }
        match u16::from_be_bytes(*message) {
            Self::SYNCHRONISATION => {
                let (cycle, rest) = number32(rest)?;
                let (transmitted_ns, rest) = number64(rest)?;
                let (scheduled_ns, rest) = number64(rest)?;
                Ok((Self::Synchronisation { cycle, transmitted_ns, scheduled_ns }, rest))
            }
            Self::REQUEST => {
                let (transmitted_ns, rest) = number64(rest)?;
                let (reply_cycle, rest) = number32(rest)?;
                let (reply_offset_ns, rest) = number64(rest)?;
                Ok((Self::CalibrationRequest { transmitted_ns, reply_cycle, reply_offset_ns }, rest))
            }
            Self::REPLY => {
                let (requested_ns, rest) = number64(rest)?;
                let (received_ns, rest) = number64(rest)?;
                let (transmitted_ns, rest) = number64(rest)?;
                Ok((Self::CalibrationReply { requested_ns, received_ns, transmitted_ns }, rest))
            }
            _ => Err(WireError::Unknown),
        }
    }
}

fn number32(octets: &[u8]) -> Result<(u32, &[u8]), WireError> {
    split::<4>(octets).map(|(number, rest)| (u32::from_be_bytes(*number), rest))
}

fn number64(octets: &[u8]) -> Result<(u64, &[u8]), WireError> {
    split::<8>(octets).map(|(number, rest)| (u64::from_be_bytes(*number), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_frame() -> impl Strategy<Value = TdmaFrame> {
        (0_u8..3, any::<u32>(), any::<[u64; 3]>()).prop_map(|(kind, cycle, [a, b, c])| match kind {
            0 => TdmaFrame::Synchronisation { cycle, transmitted_ns: a, scheduled_ns: b },
            1 => TdmaFrame::CalibrationRequest { transmitted_ns: a, reply_cycle: cycle, reply_offset_ns: b },
            _ => TdmaFrame::CalibrationReply { requested_ns: a, received_ns: b, transmitted_ns: c },
        })
    }

    proptest! {
        #[test]
        fn a_frame_is_read_as_it_is_written(frame in any_frame(), padding: Vec<u8>) {
            let mut octets = Vec::new();
            frame.emit(&mut octets);
            prop_assert_eq!(octets.len(), frame.length());
            for short in 0..octets.len() {
                prop_assert_eq!(TdmaFrame::parse(&octets[..short]), Err(WireError::Truncated));
            }
            octets.extend_from_slice(&padding);
            prop_assert_eq!(TdmaFrame::parse(&octets), Ok((frame, &padding[..])));
        }

        #[test]
        fn any_octets_give_a_frame_or_an_error(message in 0_usize..4, tail: Vec<u8>) {
            let mut octets = Vec::from([2, 1, 0, [0, 0x10, 0x11, 0x12][message]]);
            octets.extend_from_slice(&tail);
            if let Ok((frame, rest)) = TdmaFrame::parse(&octets) {
                let mut again = Vec::new();
                frame.emit(&mut again);
                prop_assert_eq!(&again[..], &octets[..octets.len() - rest.len()]);
            }
            let _ = TdmaFrame::parse(&tail);
        }
    }

    #[test]
    fn another_version_or_message_is_an_error() {
        let mut octets = [0_u8; 28];
        assert_eq!(TdmaFrame::parse(&octets), Err(WireError::Unknown));
        octets[..4].copy_from_slice(&[2, 1, 0, 0x12]);
        assert_eq!(TdmaFrame::parse(&octets), Err(WireError::Unknown));
    }
}
