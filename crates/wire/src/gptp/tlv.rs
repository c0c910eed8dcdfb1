//! TLVs of gPTP (IEEE Std 802.1AS-2020, 10.6.3.3, 10.6.4.4, 11.4.4.3).

use alloc::vec::Vec;

use super::header::ClockIdentity;
use crate::error::{WireError, split};

const ORGANIZATION_EXTENSION: u16 = 0x0003;
const PATH_TRACE: u16 = 0x0008;
const ORGANIZATION_EXTENSION_ALONE: u16 = 0x8000;
const IEEE_802_1: [u8; 3] = [0x00, 0x80, 0xc2];

/// What a grandmaster's time and rate are to those of the clocks on the way (11.4.4.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FollowUpInformation {
    /// Rate of the grandmaster to that of the sender, less one, times 2⁴¹.
    pub cumulative_scaled_rate_offset: i32,
    /// Counts the changes of the grandmaster's time base.
    pub time_base_indicator: u16,
    /// Last change of phase, in nanoseconds times 2¹⁶; 96 bits.
    pub last_phase_change: i128,
    /// Last change of frequency, a fraction times 2⁴¹.
    pub last_frequency_change: i32,
}

/// A TLV.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PtpTlv {
    /// Behind the times of a follow-up.
    FollowUpInformation(FollowUpInformation),
    /// The clocks that an announce came through.
    PathTrace(Vec<ClockIdentity>),
    /// Requests other intervals of the neighbour, as logarithms to the base 2 (10.6.4.3).
    MessageIntervalRequest {
        /// Interval of peer delay requests.
        link_delay: i8,
        /// Interval of syncs.
        time_sync: i8,
        /// Interval of announces.
        announce: i8,
        /// Bit 0: compute the neighbour's rate ratio; bit 1: compute the mean link delay.
        flags: u8,
    },
    /// The sender runs gPTP (10.6.4.4).
    GptpCapable {
        /// Logarithm of the interval of these messages.
        log_interval: i8,
        /// Flags.
        flags: u8,
    },
    /// Another.
    Other {
        /// Type.
        kind: u16,
        /// Value.
        value: Vec<u8>,
    },
}

impl PtpTlv {
    /// Puts the TLV behind what is in `to`.
    ///
    /// # Panics
    /// If the phase change has more than 96 bits, or the value more than 65 535 octets.
    pub fn emit(&self, to: &mut Vec<u8>) {
        let mut value = Vec::new();
        let kind = match self {
            Self::FollowUpInformation(information) => {
                organization(1, &mut value);
                value.extend_from_slice(&information.cumulative_scaled_rate_offset.to_be_bytes());
                value.extend_from_slice(&information.time_base_indicator.to_be_bytes());
                let phase = information.last_phase_change;
                assert!((-(1_i128 << 95)..1 << 95).contains(&phase), "96 bits");
                value.extend_from_slice(&phase.to_be_bytes()[4..]);
                value.extend_from_slice(&information.last_frequency_change.to_be_bytes());
                ORGANIZATION_EXTENSION
            }
            Self::PathTrace(clocks) => {
                value.extend(clocks.iter().flat_map(|clock| clock.0));
                PATH_TRACE
            }
            Self::MessageIntervalRequest { link_delay, time_sync, announce, flags } => {
                organization(2, &mut value);
                value.extend([*link_delay, *time_sync, *announce].map(|log| log.to_be_bytes()[0]));
                value.extend_from_slice(&[*flags, 0, 0]);
                ORGANIZATION_EXTENSION
            }
            Self::GptpCapable { log_interval, flags } => {
                organization(4, &mut value);
                value.extend_from_slice(&[log_interval.to_be_bytes()[0], *flags, 0, 0, 0, 0]);
                ORGANIZATION_EXTENSION_ALONE
            }
            Self::Other { kind, value: octets } => {
                value.extend_from_slice(octets);
                *kind
            }
        };
        let length = u16::try_from(value.len()).expect("a short value");
        to.extend_from_slice(&kind.to_be_bytes());
        to.extend_from_slice(&length.to_be_bytes());
        to.extend_from_slice(&value);
    }

    /// Reads TLVs up to the end of the octets.
    pub(super) fn parse_all(octets: &[u8]) -> Result<Vec<Self>, WireError> {
        let mut rest = octets;
        let mut found = Vec::new();
        while !rest.is_empty() {
            let (kind, behind) = split::<2>(rest)?;
            let (length, behind) = split::<2>(behind)?;
            let length = usize::from(u16::from_be_bytes(*length));
            let (value, behind) = behind.split_at_checked(length).ok_or(WireError::Truncated)?;
            found.push(Self::parse(u16::from_be_bytes(*kind), value));
            rest = behind;
        }
        Ok(found)
    }

    /// A TLV of a known type and length is read; of its reserved octets nothing is.
    fn parse(kind: u16, value: &[u8]) -> Self {
        let other = || Self::Other { kind, value: value.to_vec() };
        match (kind, value.len()) {
            (PATH_TRACE, length) if length % 8 == 0 => {
                let clock = |octets: &[u8]| ClockIdentity(octets.try_into().expect("eight octets"));
                Self::PathTrace(value.chunks(8).map(clock).collect())
            }
            (ORGANIZATION_EXTENSION, 28) if value.starts_with(&[0, 0x80, 0xc2, 0, 0, 1]) => {
                Self::information(value).unwrap_or_else(|_| other())
            }
            (ORGANIZATION_EXTENSION, 12) if value.starts_with(&[0, 0x80, 0xc2, 0, 0, 2]) => {
                let log = |place: usize| i8::from_be_bytes([value[place]]);
                let (link_delay, time_sync, announce) = (log(6), log(7), log(8));
                Self::MessageIntervalRequest { link_delay, time_sync, announce, flags: value[9] }
            }
            (ORGANIZATION_EXTENSION_ALONE, 12) if value.starts_with(&[0, 0x80, 0xc2, 0, 0, 4]) => {
                Self::GptpCapable { log_interval: i8::from_be_bytes([value[6]]), flags: value[7] }
            }
            _ => other(),
        }
    }

    fn information(value: &[u8]) -> Result<Self, WireError> {
        let (_, rest) = split::<6>(value)?;
        let (rate, rest) = split::<4>(rest)?;
        let (indicator, rest) = split::<2>(rest)?;
        let (phase, rest) = split::<12>(rest)?;
        let (frequency, _) = split::<4>(rest)?;
        // Signed in 96 bits: the sign goes on above them.
        let high = if phase[0] & 0x80 == 0 { 0 } else { 0xff };
        let mut octets = [high; 16];
        octets[4..].copy_from_slice(phase);
        Ok(Self::FollowUpInformation(FollowUpInformation {
            cumulative_scaled_rate_offset: i32::from_be_bytes(*rate),
            time_base_indicator: u16::from_be_bytes(*indicator),
            last_phase_change: i128::from_be_bytes(octets),
            last_frequency_change: i32::from_be_bytes(*frequency),
        }))
    }
}

fn organization(subtype: u8, to: &mut Vec<u8>) {
    to.extend_from_slice(&IEEE_802_1);
    to.extend_from_slice(&[0, 0, subtype]);
}
