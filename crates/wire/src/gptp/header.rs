//! Identities, time stamps and the common header (IEEE Std 802.1AS-2020, 10.6.2 and 6.4.3).

use alloc::vec::Vec;
use core::fmt;

use crate::MacAddress;
use crate::error::{WireError, split};

/// Flags of the common header, by bit (first octet high).
pub mod flags {
    /// A follow-up comes behind the message.
    pub const TWO_STEP: u16 = 0x0200;
    /// The timescale is that of PTP.
    pub const PTP_TIMESCALE: u16 = 0x0008;
}

/// Identity of a clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClockIdentity(pub [u8; 8]);

/// A port of a clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortIdentity {
    /// The clock.
    pub clock: ClockIdentity,
    /// Number of the port, from 1.
    pub port: u16,
}

/// A time: seconds in 48 bits, and nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PtpTimestamp {
    seconds: u64,
    nanoseconds: u32,
}

/// The header that all messages begin with, without type and length, which follow from the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PtpHeader {
    /// 1 for gPTP, 2 for its common mean link delay service.
    pub major_sdo: u8,
    /// 1 in 802.1AS-2020, 0 in 802.1AS-2011.
    pub minor_version: u8,
    /// Domain.
    pub domain: u8,
    /// Second part of the profile's number: 0.
    pub minor_sdo: u8,
    /// Flags: [`flags`].
    pub flags: u16,
    /// Correction in nanoseconds times 2¹⁶.
    pub correction: i64,
    /// Octets for the message's type alone.
    pub specific: u32,
    /// The sender.
    pub source: PortIdentity,
    /// Number of the message.
    pub sequence: u16,
    /// Kept from the first version; 802.1AS-2020 sends 0.
    pub control: u8,
    /// Logarithm to the base 2 of the interval in seconds; 127 where there is none.
    pub log_interval: i8,
}

impl ClockIdentity {
    /// The identity made of a MAC address (7.4.2 of IEEE Std 1588-2019, as EUI-64).
    #[must_use]
    pub const fn of(address: MacAddress) -> Self {
        let [a, b, c, d, e, f] = address.0;
        Self([a, b, c, 0xff, 0xfe, d, e, f])
    }
}

impl fmt::Display for ClockIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for octet in self.0 {
            write!(f, "{octet:02x}")?;
        }
        Ok(())
    }
}

impl PtpTimestamp {
    /// The time of these seconds and nanoseconds; none above 48 bits or a second.
    #[must_use]
    pub const fn new(seconds: u64, nanoseconds: u32) -> Option<Self> {
        if seconds < 1 << 48 && nanoseconds < 1_000_000_000 {
            Some(Self { seconds, nanoseconds })
        } else {
            None
        }
    }

    /// Seconds, rounded down.
    #[must_use]
    pub const fn seconds(self) -> u64 {
        self.seconds
    }

    /// Nanoseconds of the second.
    #[must_use]
    pub const fn nanoseconds(self) -> u32 {
        self.nanoseconds
    }

    /// Nanoseconds since the epoch.
    #[must_use]
    pub fn as_ns(self) -> u128 {
        u128::from(self.seconds) * 1_000_000_000 + u128::from(self.nanoseconds)
    }

    pub(super) fn emit(self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.seconds.to_be_bytes()[2..]);
        to.extend_from_slice(&self.nanoseconds.to_be_bytes());
    }

    pub(super) fn parse(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let ([a, b, c, d, e, f, g, h, i, j], rest) = split::<10>(octets)?;
        let seconds = u64::from_be_bytes([0, 0, *a, *b, *c, *d, *e, *f]);
        let nanoseconds = u32::from_be_bytes([*g, *h, *i, *j]);
        let time = Self::new(seconds, nanoseconds).ok_or(WireError::Unknown)?;
        Ok((time, rest))
    }
}

impl PortIdentity {
    pub(super) fn emit(self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.clock.0);
        to.extend_from_slice(&self.port.to_be_bytes());
    }

    pub(super) fn parse(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (clock, rest) = split::<8>(octets)?;
        let (port, rest) = split::<2>(rest)?;
        Ok((Self { clock: ClockIdentity(*clock), port: u16::from_be_bytes(*port) }, rest))
    }
}

impl PtpHeader {
    /// Octets of the header.
    pub const OCTETS: usize = 34;

    pub(super) fn emit(&self, message_type: u8, length: u16, to: &mut Vec<u8>) {
        assert!(self.major_sdo < 16 && self.minor_version < 16 && message_type < 16, "four bits");
        to.push(self.major_sdo << 4 | message_type);
        to.push(self.minor_version << 4 | 2);
        to.extend_from_slice(&length.to_be_bytes());
        to.extend_from_slice(&[self.domain, self.minor_sdo]);
        to.extend_from_slice(&self.flags.to_be_bytes());
        to.extend_from_slice(&self.correction.to_be_bytes());
        to.extend_from_slice(&self.specific.to_be_bytes());
        self.source.emit(to);
        to.extend_from_slice(&self.sequence.to_be_bytes());
        to.push(self.control);
        to.extend_from_slice(&self.log_interval.to_be_bytes());
    }

    /// Reads a header; also gives the message's type and what is behind the header.
    pub(super) fn parse(octets: &[u8]) -> Result<(Self, u8, &[u8]), WireError> {
        let ([kind, version], rest) = split::<2>(octets)?;
        if version & 0x0f != 2 {
            return Err(WireError::Unknown);
        }
        let (length, rest) = split::<2>(rest)?;
        let ([domain, minor_sdo], rest) = split::<2>(rest)?;
        let (flags, rest) = split::<2>(rest)?;
        let (correction, rest) = split::<8>(rest)?;
        let (specific, rest) = split::<4>(rest)?;
        let (source, rest) = PortIdentity::parse(rest)?;
        let (sequence, rest) = split::<2>(rest)?;
        let ([control, log_interval], rest) = split::<2>(rest)?;
        let behind = usize::from(u16::from_be_bytes(*length)).checked_sub(Self::OCTETS);
        let body = behind.and_then(|behind| rest.get(..behind)).ok_or(WireError::Length)?;
        let header = Self {
            major_sdo: kind >> 4,
            minor_version: version >> 4,
            domain: *domain,
            minor_sdo: *minor_sdo,
            flags: u16::from_be_bytes(*flags),
            correction: i64::from_be_bytes(*correction),
            specific: u32::from_be_bytes(*specific),
            source,
            sequence: u16::from_be_bytes(*sequence),
            control: *control,
            log_interval: i8::from_be_bytes([*log_interval]),
        };
        Ok((header, kind & 0x0f, body))
    }
}
