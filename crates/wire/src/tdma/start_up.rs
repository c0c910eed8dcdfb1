//! RTcfg, the start-up of an RTnet (EtherType 0x9022): the stations that take part, their addresses, and the configuration of each.
//!
//! A server invites every known client (stage 1); a client announces itself and is answered, so that all know each
//! other's addresses and no station needs a request at run time; the server sends the rest (stage 2, in fragments that
//! are acknowledged); all announce when they are ready; heartbeats follow, and the server announces stations that have
//! fallen silent. First octet: version (three bits, zero) and message. Numbers are big endian. Not here: the order of
//! the messages (`tautwire-core`, `rtcfg`).

use alloc::vec::Vec;

use crate::error::{WireError, split};
use crate::{Ipv4Address, MacAddress};

/// A message, with the configuration data that it carries, which RTcfg does not look into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtcfgFrame<'a> {
    /// From the server to a client that it knows by name: the first configuration.
    Stage1 {
        /// Addresses of client and server; none if stations are known by their MAC addresses.
        addresses: Option<(Ipv4Address, Ipv4Address)>,
        /// Stage 2 fragments that the server sends between two acknowledgements.
        burst_rate: u8,
        /// First configuration, at most 65 535 octets.
        data: &'a [u8],
    },
    /// From a new client to all.
    AnnounceNew(Announcement),
    /// The answer of those that are there already.
    AnnounceReply(Announcement),
    /// From the server to a client: the second configuration, or its first fragment.
    Stage2 {
        /// Whether the server is ready already.
        ready: bool,
        /// Stations that the client must find.
        stations: u32,
        /// Milliseconds between heartbeats; zero for none.
        heartbeat_ms: u16,
        /// Octets of the configuration in all.
        length: u32,
        /// Its first octets, at most `length`.
        data: &'a [u8],
    },
    /// A further fragment of the second configuration.
    Stage2Fragment {
        /// Its place in the configuration.
        offset: u32,
        /// Its octets, with the padding of a short frame.
        data: &'a [u8],
    },
    /// From a client: so many octets of the second configuration are here.
    Acknowledge {
        /// Octets.
        length: u32,
    },
    /// A station has all that it needs.
    Ready,
    /// A client is alive.
    Heartbeat,
    /// From the server: a station has fallen silent.
    DeadStation {
        /// Its address, if stations are known by such.
        address: Option<Ipv4Address>,
        /// Its MAC address.
        physical: MacAddress,
    },
}

/// How a station introduces itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// Its address, if stations are known by such.
    pub address: Option<Ipv4Address>,
    /// Whether it requests a second configuration.
    pub stage_2: bool,
    /// Whether it has all that it needs.
    pub ready: bool,
    /// Stage 2 fragments that it takes between two acknowledgements; padding in a reply.
    pub burst_rate: u8,
}

const BY_MAC: u8 = 0;
const BY_IPV4: u8 = 1;
const STAGE_2: u8 = 1;
const READY: u8 = 2;
/// Octets of the field of a physical address.
const PHYSICAL: usize = 32;

impl<'a> RtcfgFrame<'a> {
    /// Appends the frame to `to`.
    ///
    /// # Panics
    /// If a first configuration is longer than 65 535 octets, or a second one than its stated length.
    pub fn emit(&self, to: &mut Vec<u8>) {
        to.push(self.message());
        match *self {
            Self::Stage1 { addresses, burst_rate, data } => {
                to.push(if addresses.is_some() { BY_IPV4 } else { BY_MAC });
                if let Some((client, server)) = addresses {
                    to.extend_from_slice(&client.octets());
                    to.extend_from_slice(&server.octets());
                }
                to.push(burst_rate);
                let length = u16::try_from(data.len()).expect("a configuration of at most 65 535 octets");
                to.extend_from_slice(&length.to_be_bytes());
                to.extend_from_slice(data);
            }
            Self::AnnounceNew(station) | Self::AnnounceReply(station) => station.emit(to),
            Self::Stage2 { ready, stations, heartbeat_ms, length, data } => {
                assert!(data.len() <= length as usize, "a fragment of the whole");
                to.push(if ready { READY } else { 0 });
                to.extend_from_slice(&stations.to_be_bytes());
                to.extend_from_slice(&heartbeat_ms.to_be_bytes());
                to.extend_from_slice(&length.to_be_bytes());
                to.extend_from_slice(data);
            }
            Self::Stage2Fragment { offset, data } => {
                to.extend_from_slice(&offset.to_be_bytes());
                to.extend_from_slice(data);
            }
            Self::Acknowledge { length } => to.extend_from_slice(&length.to_be_bytes()),
            Self::Ready | Self::Heartbeat => {}
            Self::DeadStation { address, physical } => {
                emit_address(address, to);
                to.extend_from_slice(&physical.0);
                to.extend_from_slice(&[0; PHYSICAL - 6]);
            }
        }
    }

    /// Reads a frame. Octets behind it are padding, except behind a fragment, which has no length.
    ///
    /// # Errors
    /// If it is cut short, or of another version, message or kind of address.
    pub fn parse(octets: &'a [u8]) -> Result<Self, WireError> {
        let (&[message], rest) = split::<1>(octets)?;
        match message {
            0 => parse_stage_1(rest),
            1 => Announcement::parse(rest).map(Self::AnnounceNew),
            2 => Announcement::parse(rest).map(Self::AnnounceReply),
            3 => parse_stage_2(rest),
            4 => split::<4>(rest)
                .map(|(offset, data)| Self::Stage2Fragment { offset: u32::from_be_bytes(*offset), data }),
            5 => {
                split::<4>(rest).map(|(length, _)| Self::Acknowledge { length: u32::from_be_bytes(*length) })
            }
            6 => Ok(Self::Ready),
            7 => Ok(Self::Heartbeat),
            8 => {
                let (address, rest) = parse_address(rest)?;
                let (physical, _) = split::<PHYSICAL>(rest)?;
                let (mac, _) = split::<6>(physical)?;
                Ok(Self::DeadStation { address, physical: MacAddress(*mac) })
            }
            _ => Err(WireError::Unknown),
        }
    }

    /// Number of the message; the version in the upper bits is zero.
    const fn message(&self) -> u8 {
        match self {
            Self::Stage1 { .. } => 0,
            Self::AnnounceNew(_) => 1,
            Self::AnnounceReply(_) => 2,
            Self::Stage2 { .. } => 3,
            Self::Stage2Fragment { .. } => 4,
            Self::Acknowledge { .. } => 5,
            Self::Ready => 6,
            Self::Heartbeat => 7,
            Self::DeadStation { .. } => 8,
        }
    }
}

impl Announcement {
    fn emit(&self, to: &mut Vec<u8>) {
        emit_address(self.address, to);
        to.push(if self.stage_2 { STAGE_2 } else { 0 } | if self.ready { READY } else { 0 });
        to.push(self.burst_rate);
    }

    fn parse(octets: &[u8]) -> Result<Self, WireError> {
        let (address, rest) = parse_address(octets)?;
        let (&[flags, burst_rate], _) = split::<2>(rest)?;
        Ok(Self { address, stage_2: flags & STAGE_2 != 0, ready: flags & READY != 0, burst_rate })
    }
}

fn emit_address(address: Option<Ipv4Address>, to: &mut Vec<u8>) {
    match address {
        Some(address) => {
            to.push(BY_IPV4);
            to.extend_from_slice(&address.octets());
        }
        None => to.push(BY_MAC),
    }
}

fn parse_address(octets: &[u8]) -> Result<(Option<Ipv4Address>, &[u8]), WireError> {
    let (&[kind], rest) = split::<1>(octets)?;
    match kind {
        BY_MAC => Ok((None, rest)),
        BY_IPV4 => split::<4>(rest).map(|(address, rest)| (Some(Ipv4Address::from(*address)), rest)),
        _ => Err(WireError::Unknown),
    }
}

fn parse_stage_1(octets: &[u8]) -> Result<RtcfgFrame<'_>, WireError> {
    let (client, mut rest) = parse_address(octets)?;
    let mut addresses = None;
    if let Some(client) = client {
        let (server, behind) = split::<4>(rest)?;
        addresses = Some((client, Ipv4Address::from(*server)));
        rest = behind;
    }
    let (&[burst_rate, high, low], rest) = split::<3>(rest)?;
    let length = usize::from(u16::from_be_bytes([high, low]));
    let data = rest.get(..length).ok_or(WireError::Truncated)?;
    Ok(RtcfgFrame::Stage1 { addresses, burst_rate, data })
}

fn parse_stage_2(octets: &[u8]) -> Result<RtcfgFrame<'_>, WireError> {
    let (&[flags], rest) = split::<1>(octets)?;
    let (stations, rest) = split::<4>(rest)?;
    let (heartbeat, rest) = split::<2>(rest)?;
    let (length, rest) = split::<4>(rest)?;
    let length = u32::from_be_bytes(*length);
    let data = &rest[..rest.len().min(length as usize)];
    Ok(RtcfgFrame::Stage2 {
        ready: flags & READY != 0,
        stations: u32::from_be_bytes(*stations),
        heartbeat_ms: u16::from_be_bytes(*heartbeat),
        length,
        data,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_octets_give_a_frame_or_an_error(message in 0_u8..10, kind in 0_u8..3, tail: Vec<u8>) {
            let mut octets = Vec::from([message, kind]);
            octets.extend_from_slice(&tail);
            if let Ok(frame) = RtcfgFrame::parse(&octets) {
                let mut again = Vec::new();
                frame.emit(&mut again);
                prop_assert_eq!(RtcfgFrame::parse(&again), Ok(frame));
            }
            let _ = RtcfgFrame::parse(&tail);
        }
    }

    #[test]
    fn what_is_cut_or_unknown_is_an_error() {
        assert_eq!(RtcfgFrame::parse(&[]), Err(WireError::Truncated));
        assert_eq!(RtcfgFrame::parse(&[9]), Err(WireError::Unknown));
        assert_eq!(RtcfgFrame::parse(&[0x20 | 6]), Err(WireError::Unknown), "another version");
        assert_eq!(RtcfgFrame::parse(&[1, 2, 0, 0]), Err(WireError::Unknown), "another kind of address");
        assert_eq!(RtcfgFrame::parse(&[0, 0, 1, 0, 5, 0]), Err(WireError::Truncated), "data of a length");
    }
}
