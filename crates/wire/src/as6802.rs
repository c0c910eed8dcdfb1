//! Protocol control frames of SAE AS6802, after EtherType 0x891d.
//!
//! 28 octets in big endian, padded by Ethernet: integration cycle and membership (32 bits each), four reserved octets,
//! synchronisation priority and domain (8 bits each), type (the lower half of an octet), five reserved octets,
//! transparent clock (64 bits, in 2⁻¹⁶ ns). Every node adds its residence time to the transparent clock. Not here:
//! when frames are sent, and their effects.

use alloc::vec::Vec;

use crate::error::{WireError, split};

/// The purpose of a protocol control frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PcfType {
    /// Keeps clocks together: of a synchronisation master, or compressed.
    Integration,
    /// A synchronisation master wants to begin.
    ColdStart,
    /// It is answered.
    ColdStartAcknowledge,
}

impl PcfType {
    const fn number(self) -> u8 {
        match self {
            Self::Integration => 2,
            Self::ColdStart => 4,
            Self::ColdStartAcknowledge => 8,
        }
    }
}

/// A protocol control frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProtocolControlFrame {
    /// Number of the integration cycle in the cluster cycle.
    pub integration_cycle: u32,
    /// A bit for each synchronisation master whose frame it includes.
    pub membership_new: u32,
    /// Synchronisation priority: of several, nodes follow the highest.
    pub sync_priority: u8,
    /// Synchronisation domain: nodes of others take no notice.
    pub sync_domain: u8,
    /// Its purpose.
    pub kind: PcfType,
    /// How long it is under way, in 2⁻¹⁶ ns.
    pub transparent_clock: u64,
}

impl ProtocolControlFrame {
    /// Octets of the frame behind the Ethernet header.
    pub const LENGTH: usize = 28;

    /// Synchronisation domain and priority: whose frame it is.
    #[must_use]
    pub const fn domain_and_priority(&self) -> (u8, u8) {
        (self.sync_domain, self.sync_priority)
    }

    /// Puts the frame behind what is in `to`.
    pub fn emit(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.integration_cycle.to_be_bytes());
        to.extend_from_slice(&self.membership_new.to_be_bytes());
        to.extend_from_slice(&[0; 4]);
        to.extend_from_slice(&[self.sync_priority, self.sync_domain, self.kind.number()]);
        to.extend_from_slice(&[0; 5]);
        to.extend_from_slice(&self.transparent_clock.to_be_bytes());
    }

    /// Parses a frame; also gives the octets after it, which are padding. Reserved fields are ignored.
    ///
    /// # Errors
    /// If it is cut short, or of an unknown type.
    pub fn parse(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (integration_cycle, rest) = split::<4>(octets)?;
        let (membership_new, rest) = split::<4>(rest)?;
        let (_, rest) = split::<4>(rest)?;
        let ([sync_priority, sync_domain, kind], rest) = split::<3>(rest)?;
        let (_, rest) = split::<5>(rest)?;
        let (transparent_clock, rest) = split::<8>(rest)?;
        let kind = match kind & 0x0f {
            2 => PcfType::Integration,
            4 => PcfType::ColdStart,
            8 => PcfType::ColdStartAcknowledge,
            _ => return Err(WireError::Unknown),
        };
        let frame = Self {
            integration_cycle: u32::from_be_bytes(*integration_cycle),
            membership_new: u32::from_be_bytes(*membership_new),
            sync_priority: *sync_priority,
            sync_domain: *sync_domain,
            kind,
            transparent_clock: u64::from_be_bytes(*transparent_clock),
        };
        Ok((frame, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_frame() -> impl Strategy<Value = ProtocolControlFrame> {
        (any::<[u32; 2]>(), any::<[u8; 2]>(), 0_u8..3, any::<u64>()).prop_map(
            |([integration_cycle, membership_new], [sync_priority, sync_domain], kind, transparent_clock)| {
                let kind = match kind {
                    0 => PcfType::Integration,
                    1 => PcfType::ColdStart,
                    _ => PcfType::ColdStartAcknowledge,
                };
                ProtocolControlFrame {
                    integration_cycle,
                    membership_new,
                    sync_priority,
                    sync_domain,
                    kind,
                    transparent_clock,
                }
            },
        )
    }

    proptest! {
        #[test]
        fn a_frame_is_read_as_it_is_written(frame in any_frame(), padding: Vec<u8>) {
            let mut octets = Vec::new();
            frame.emit(&mut octets);
            prop_assert_eq!(octets.len(), ProtocolControlFrame::LENGTH);
            for short in 0..octets.len() {
                prop_assert_eq!(ProtocolControlFrame::parse(&octets[..short]), Err(WireError::Truncated));
            }
            octets.extend_from_slice(&padding);
            prop_assert_eq!(ProtocolControlFrame::parse(&octets), Ok((frame, &padding[..])));
        }

        #[test]
        fn any_octets_are_a_frame_or_an_error(octets: Vec<u8>) {
            if let Ok((frame, rest)) = ProtocolControlFrame::parse(&octets) {
                let mut again = Vec::new();
                frame.emit(&mut again);
                prop_assert_eq!(again.len() + rest.len(), octets.len());
                prop_assert_eq!(ProtocolControlFrame::parse(&again), Ok((frame, &[][..])));
            }
        }
    }

    #[test]
    fn the_octets_of_a_cold_start() {
        let mut octets = Vec::new();
        let frame = ProtocolControlFrame {
            integration_cycle: 0x0102_0304,
            membership_new: 0x8000_0001,
            sync_priority: 5,
            sync_domain: 6,
            kind: PcfType::ColdStart,
            transparent_clock: 0x1122,
        };
        frame.emit(&mut octets);
        let expected =
            [1, 2, 3, 4, 0x80, 0, 0, 1, 0, 0, 0, 0, 5, 6, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x22];
        assert_eq!(octets, expected);
        octets[14] = 3;
        assert_eq!(ProtocolControlFrame::parse(&octets), Err(WireError::Unknown));
    }
}
