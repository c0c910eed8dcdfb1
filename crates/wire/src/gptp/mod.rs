//! Messages of the generalized precision time protocol (IEEE Std 802.1AS-2020, clauses 10 and 11; the common header is that of
//! IEEE Std 1588-2019, 13.3).
//!
//! A [`PtpMessage`] is a header, a body and TLVs. Messages and TLVs that gPTP does not use are kept as octets.
//! Reserved octets are written as zero and not read. Not here: the effects of the messages (the machines of the crate
//! `core`).

mod header;
mod message;
mod tlv;

pub use header::{ClockIdentity, PortIdentity, PtpHeader, PtpTimestamp, flags};
pub use message::{AnnounceBody, ClockQuality, GPTP_ADDRESS, PTP_ETHER_TYPE, PtpBody, PtpMessage, RespBody};
pub use tlv::{FollowUpInformation, PtpTlv};
