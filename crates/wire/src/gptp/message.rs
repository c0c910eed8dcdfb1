//! Bodies of messages (IEEE Std 802.1AS-2020, 10.6.3, 10.6.4 and 11.4).

use alloc::vec::Vec;

use super::header::{ClockIdentity, PortIdentity, PtpHeader, PtpTimestamp};
use super::tlv::PtpTlv;
use crate::error::{WireError, split};
use crate::{EtherType, MacAddress};

/// Type of the frames.
pub const PTP_ETHER_TYPE: EtherType = EtherType(0x88f7);
/// Where gPTP sends all of them: no bridge forwards it.
pub const GPTP_ADDRESS: MacAddress = MacAddress([0x01, 0x80, 0xc2, 0, 0, 0x0e]);

const SYNC: u8 = 0x0;
const PDELAY_REQ: u8 = 0x2;
const PDELAY_RESP: u8 = 0x3;
const FOLLOW_UP: u8 = 0x8;
const PDELAY_RESP_FOLLOW_UP: u8 = 0xa;
const ANNOUNCE: u8 = 0xb;
const SIGNALING: u8 = 0xc;

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PtpMessage {
    /// Header.
    pub header: PtpHeader,
    /// Body.
    pub body: PtpBody,
    /// TLVs; none behind a body that is not known.
    pub tlvs: Vec<PtpTlv>,
}

/// The body of a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PtpBody {
    /// Event: the time in the follow-up is that of this message; zero where there is one.
    Sync(PtpTimestamp),
    /// Event: requests the neighbour's times.
    PdelayReq(PtpTimestamp),
    /// Event: answers, with the time at which the request came.
    PdelayResp(RespBody),
    /// When the sync was sent by the grandmaster's time, except for the correction.
    FollowUp(PtpTimestamp),
    /// When the answer was sent.
    PdelayRespFollowUp(RespBody),
    /// The clock that the sender follows.
    Announce(AnnounceBody),
    /// To a neighbour's port; its contents are TLVs.
    Signaling(PortIdentity),
    /// A type that gPTP does not use.
    Other {
        /// Type, 0 to 15.
        message_type: u8,
        /// All behind the header.
        octets: Vec<u8>,
    },
}

/// A time, and whose request it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RespBody {
    /// The time.
    pub time: PtpTimestamp,
    /// The port that sent the request.
    pub requester: PortIdentity,
}

/// How good a clock is (8.6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClockQuality {
    /// Class; 248 by default.
    pub class: u8,
    /// Accuracy; 0xfe if it is not known.
    pub accuracy: u8,
    /// Logarithm of the variance, scaled.
    pub variance: u16,
}

/// The clock that the sender follows (10.6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AnnounceBody {
    /// Time of sending; zero in gPTP.
    pub origin: PtpTimestamp,
    /// TAI less UTC, in seconds.
    pub utc_offset: i16,
    /// First priority of the grandmaster.
    pub priority1: u8,
    /// How good it is.
    pub quality: ClockQuality,
    /// Second priority.
    pub priority2: u8,
    /// The grandmaster.
    pub grandmaster: ClockIdentity,
    /// Clocks between it and the sender.
    pub steps_removed: u16,
    /// Where its time comes from; 0xa0 is an oscillator of its own.
    pub time_source: u8,
}

impl PtpBody {
    /// Number of the message's type.
    #[must_use]
    pub const fn message_type(&self) -> u8 {
        match self {
            Self::Sync(_) => SYNC,
            Self::PdelayReq(_) => PDELAY_REQ,
            Self::PdelayResp(_) => PDELAY_RESP,
            Self::FollowUp(_) => FOLLOW_UP,
            Self::PdelayRespFollowUp(_) => PDELAY_RESP_FOLLOW_UP,
            Self::Announce(_) => ANNOUNCE,
            Self::Signaling(_) => SIGNALING,
            Self::Other { message_type, .. } => *message_type,
        }
    }

    fn emit(&self, to: &mut Vec<u8>) {
        match self {
            Self::Sync(time) | Self::FollowUp(time) => time.emit(to),
            Self::PdelayReq(time) => {
                time.emit(to);
                to.extend_from_slice(&[0; 10]);
            }
            Self::PdelayResp(body) | Self::PdelayRespFollowUp(body) => {
                body.time.emit(to);
                body.requester.emit(to);
            }
            Self::Announce(body) => body.emit(to),
            Self::Signaling(target) => target.emit(to),
            Self::Other { octets, .. } => to.extend_from_slice(octets),
        }
    }

    fn parse(message_type: u8, octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        match message_type {
            SYNC | FOLLOW_UP => {
                let (time, rest) = PtpTimestamp::parse(octets)?;
                Ok((if message_type == SYNC { Self::Sync(time) } else { Self::FollowUp(time) }, rest))
            }
            PDELAY_REQ => {
                let (time, rest) = PtpTimestamp::parse(octets)?;
                Ok((Self::PdelayReq(time), split::<10>(rest)?.1))
            }
            PDELAY_RESP | PDELAY_RESP_FOLLOW_UP => {
                let (time, rest) = PtpTimestamp::parse(octets)?;
                let (requester, rest) = PortIdentity::parse(rest)?;
                let body = RespBody { time, requester };
                let resp = message_type == PDELAY_RESP;
                Ok((if resp { Self::PdelayResp(body) } else { Self::PdelayRespFollowUp(body) }, rest))
            }
            ANNOUNCE => {
                let (body, rest) = AnnounceBody::parse(octets)?;
                Ok((Self::Announce(body), rest))
            }
            SIGNALING => {
                let (target, rest) = PortIdentity::parse(octets)?;
                Ok((Self::Signaling(target), rest))
            }
            _ => Ok((Self::Other { message_type, octets: octets.to_vec() }, &[])),
        }
    }
}

impl AnnounceBody {
    fn emit(&self, to: &mut Vec<u8>) {
        self.origin.emit(to);
        to.extend_from_slice(&self.utc_offset.to_be_bytes());
        to.extend_from_slice(&[0, self.priority1, self.quality.class, self.quality.accuracy]);
        to.extend_from_slice(&self.quality.variance.to_be_bytes());
        to.push(self.priority2);
        to.extend_from_slice(&self.grandmaster.0);
        to.extend_from_slice(&self.steps_removed.to_be_bytes());
        to.push(self.time_source);
    }

    fn parse(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (origin, rest) = PtpTimestamp::parse(octets)?;
        let (utc_offset, rest) = split::<2>(rest)?;
        let ([_, priority1, class, accuracy], rest) = split::<4>(rest)?;
        let (variance, rest) = split::<2>(rest)?;
        let ([priority2], rest) = split::<1>(rest)?;
        let (grandmaster, rest) = split::<8>(rest)?;
        let (steps_removed, rest) = split::<2>(rest)?;
        let ([time_source], rest) = split::<1>(rest)?;
        let variance = u16::from_be_bytes(*variance);
        let body = Self {
            origin,
            utc_offset: i16::from_be_bytes(*utc_offset),
            priority1: *priority1,
            quality: ClockQuality { class: *class, accuracy: *accuracy, variance },
            priority2: *priority2,
            grandmaster: ClockIdentity(*grandmaster),
            steps_removed: u16::from_be_bytes(*steps_removed),
            time_source: *time_source,
        };
        Ok((body, rest))
    }
}

impl PtpMessage {
    /// Parses a message; also gives the octets after it.
    ///
    /// # Errors
    /// If the octets end within the message, its length does not fit, its version is not 2, or a time has more
    /// nanoseconds than a second.
    pub fn parse(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (header, message_type, body) = PtpHeader::parse(octets)?;
        let rest = &octets[PtpHeader::OCTETS + body.len()..];
        let (body, tlvs) = PtpBody::parse(message_type, body)?;
        Ok((Self { header, body, tlvs: PtpTlv::parse_all(tlvs)? }, rest))
    }

    /// Appends the message to `to`.
    ///
    /// # Panics
    /// If it is longer than 65 535 octets, or has TLVs behind a body that is not known.
    pub fn emit(&self, to: &mut Vec<u8>) {
        let other = matches!(self.body, PtpBody::Other { .. });
        assert!(!other || self.tlvs.is_empty(), "the octets of an unknown body hold its TLVs");
        let mut behind = Vec::new();
        self.body.emit(&mut behind);
        for tlv in &self.tlvs {
            tlv.emit(&mut behind);
        }
        let length = u16::try_from(PtpHeader::OCTETS + behind.len()).expect("a message is within a frame");
        self.header.emit(self.body.message_type(), length, to);
        to.extend_from_slice(&behind);
    }
}
