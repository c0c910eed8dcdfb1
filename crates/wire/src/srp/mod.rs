//! Frames of the Multiple Registration Protocol (IEEE Std 802.1Q-2022, 10.8) and of its applications
//! MSRP (35.2.2.8), MVRP (11.2.3.1) and MMRP (10.12.1).
//!
//! An MRPDU is a list of messages, one per attribute type; a message is a list of vectors; a vector is a first value
//! and an event for it and for each of the values that follow it. [`MrpPdu`] keeps this structure, so that a parsed
//! MRPDU is written again octet by octet; [`MrpPdu::declarations`] unpacks it and [`pack`] packs it. Not here: the
//! effects of the events (the machines of the crate `core`).

mod event;
mod mmrp;
mod msrp;
mod mvrp;
mod pack;
mod pdu;

pub use event::{AttributeEvent, ListenerDeclaration};
pub use mmrp::MmrpValue;
pub use msrp::{
    DomainValue, FailureCode, FailureInformation, MsrpType, MsrpValue, Rank, StreamId, TalkerValue,
};
pub use mvrp::MvrpValue;
pub use pack::{Entry, PDU_OCTETS_MAX, pack};
pub use pdu::{AttributeValue, Declared, Message, MrpPdu, Vector};
