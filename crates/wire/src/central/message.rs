//! Messages between users, controllers and bridges. Streams, listeners and nodes have their numbers in the network.
//!
//! A message begins with an octet for its kind, and the stream (four octets; of a cable its number). If it is about
//! one listener, its number among those of the stream follows (four octets), then the fields of the kind: an octet
//! each for a flag, a failure code or a listener declaration, and of a configuration the number of its ports (one
//! octet) with two octets for the port, one for the class and eight for the bits in a second.

use alloc::vec::Vec;

use crate::error::{WireError, split};
use crate::srp::{FailureCode, ListenerDeclaration};

/// One listener of one stream: the unit of admission and refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// The stream.
    pub stream: u32,
    /// The listener, among those of the stream.
    pub listener: u32,
}

/// The bandwidth that a listener needs of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Share {
    /// Port of the bridge.
    pub port: u16,
    /// Place of the class among those of the domain.
    pub class: u8,
    /// Bits in a second.
    pub slope: u64,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// A talker offers a stream: user to CUC, CUC or edge bridge to CNC.
    Offer(u32),
    /// It offers it no more.
    Withdraw(u32),
    /// A listener requests a stream, on the same paths.
    Ask(Pair),
    /// It ends its request.
    Detach(Pair),
    /// A stream is offered, or not any more: CUC to its listeners, CNC to their edge bridges.
    Available(Pair, bool),
    /// CNC to a bridge: reserve for a listener on these ports, or give it back there.
    Configure {
        /// The talker and listener.
        pair: Pair,
        /// Whether to reserve; else to release.
        reserve: bool,
        /// Where and what.
        shares: Vec<Share>,
    },
    /// Bridge to CNC: done.
    Configured {
        /// The talker and listener.
        pair: Pair,
        /// Whether it is reserved; else released.
        reserve: bool,
    },
    /// Bridge to CNC: a cable at one of its ports works, or works no more.
    Cable(u32, bool),
    /// CNC to CUC or to the listener's edge bridge: the listener is served, or not and why; [`FailureCode`] 0 if it
    /// was and is not any more.
    Verdict(Pair, Result<(), FailureCode>),
    /// CNC to the talker's edge bridge: the merged declaration of its listeners.
    Listeners(u32, Option<ListenerDeclaration>),
    /// CUC to a talker: send, or stop.
    Send(u32, bool),
}

const OFFER: u8 = 1;
const WITHDRAW: u8 = 2;
const ASK: u8 = 3;
const DETACH: u8 = 4;
const AVAILABLE: u8 = 5;
const CONFIGURE: u8 = 6;
const CONFIGURED: u8 = 7;
const CABLE: u8 = 8;
const SERVED: u8 = 9;
const REFUSED: u8 = 10;
const LISTENERS: u8 = 11;
const SEND: u8 = 12;

/// The declaration of listeners without one.
const SILENT: u8 = 0xff;

impl Message {
    /// The stream that it is about.
    #[must_use]
    pub fn stream(&self) -> Option<u32> {
        match self {
            Self::Offer(stream)
            | Self::Withdraw(stream)
            | Self::Listeners(stream, _)
            | Self::Send(stream, _) => Some(*stream),
            Self::Ask(pair)
            | Self::Detach(pair)
            | Self::Available(pair, _)
            | Self::Configure { pair, .. }
            | Self::Configured { pair, .. }
            | Self::Verdict(pair, _) => Some(pair.stream),
            Self::Cable(..) => None,
        }
    }

    /// The listener that it is about, with its stream.
    #[must_use]
    pub const fn pair(&self) -> Option<Pair> {
        match self {
            Self::Ask(pair)
            | Self::Detach(pair)
            | Self::Available(pair, _)
            | Self::Configure { pair, .. }
            | Self::Configured { pair, .. }
            | Self::Verdict(pair, _) => Some(*pair),
            Self::Offer(_) | Self::Withdraw(_) | Self::Listeners(..) | Self::Send(..) | Self::Cable(..) => {
                None
            }
        }
    }

    pub(super) fn emit(&self, to: &mut Vec<u8>) {
        match self {
            Self::Offer(stream) => number(to, OFFER, *stream),
            Self::Withdraw(stream) => number(to, WITHDRAW, *stream),
            Self::Ask(asked) => pair(to, ASK, *asked),
            Self::Detach(asked) => pair(to, DETACH, *asked),
            Self::Available(offered, available) => {
                pair(to, AVAILABLE, *offered);
                to.push(u8::from(*available));
            }
            Self::Configure { pair: whom, reserve, shares } => {
                pair(to, CONFIGURE, *whom);
                let count = u8::try_from(shares.len()).expect("a way has at most 255 ports of a bridge");
                to.extend_from_slice(&[u8::from(*reserve), count]);
                for share in shares {
                    to.extend_from_slice(&share.port.to_be_bytes());
                    to.push(share.class);
                    to.extend_from_slice(&share.slope.to_be_bytes());
                }
            }
            Self::Configured { pair: whom, reserve } => {
                pair(to, CONFIGURED, *whom);
                to.push(u8::from(*reserve));
            }
            Self::Cable(cable, works) => {
                number(to, CABLE, *cable);
                to.push(u8::from(*works));
            }
            Self::Verdict(whom, Ok(())) => pair(to, SERVED, *whom),
            Self::Verdict(whom, Err(code)) => {
                pair(to, REFUSED, *whom);
                to.push(code.0);
            }
            Self::Listeners(stream, declared) => {
                number(to, LISTENERS, *stream);
                to.push(declared.map_or(SILENT, |declared| declared as u8));
            }
            Self::Send(stream, sends) => {
                number(to, SEND, *stream);
                to.push(u8::from(*sends));
            }
        }
    }

    pub(super) fn parse(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let ([kind], rest) = split::<1>(octets)?;
        let (stream, rest) = read_number(rest)?;
        if matches!(*kind, OFFER | WITHDRAW) {
            let message = if *kind == OFFER { Self::Offer(stream) } else { Self::Withdraw(stream) };
            return Ok((message, rest));
        }
        if matches!(*kind, CABLE | LISTENERS | SEND) {
            let ([octet], rest) = split::<1>(rest)?;
            let message = match *kind {
                CABLE => Self::Cable(stream, flag(*octet)?),
                LISTENERS if *octet == SILENT => Self::Listeners(stream, None),
                LISTENERS => Self::Listeners(stream, Some(declaration(*octet)?)),
                _ => Self::Send(stream, flag(*octet)?),
            };
            return Ok((message, rest));
        }
        let (listener, rest) = read_number(rest)?;
        let pair = Pair { stream, listener };
        let message = match *kind {
            ASK => Self::Ask(pair),
            DETACH => Self::Detach(pair),
            SERVED => Self::Verdict(pair, Ok(())),
            AVAILABLE | CONFIGURED | REFUSED => {
                let ([octet], rest) = split::<1>(rest)?;
                let message = match *kind {
                    AVAILABLE => Self::Available(pair, flag(*octet)?),
                    CONFIGURED => Self::Configured { pair, reserve: flag(*octet)? },
                    _ => Self::Verdict(pair, Err(FailureCode(*octet))),
                };
                return Ok((message, rest));
            }
            CONFIGURE => return configuration(pair, rest),
            _ => return Err(WireError::Unknown),
        };
        Ok((message, rest))
    }
}

fn configuration(pair: Pair, octets: &[u8]) -> Result<(Message, &[u8]), WireError> {
    let ([reserve, count], mut rest) = split::<2>(octets)?;
    let mut shares = Vec::new();
    for _ in 0..*count {
        let (port, behind) = split::<2>(rest)?;
        let ([class], behind) = split::<1>(behind)?;
        let (slope, behind) = split::<8>(behind)?;
        let (port, slope) = (u16::from_be_bytes(*port), u64::from_be_bytes(*slope));
        shares.push(Share { port, class: *class, slope });
        rest = behind;
    }
    Ok((Message::Configure { pair, reserve: flag(*reserve)?, shares }, rest))
}

fn number(to: &mut Vec<u8>, kind: u8, number: u32) {
    to.push(kind);
    to.extend_from_slice(&number.to_be_bytes());
}

fn pair(to: &mut Vec<u8>, kind: u8, pair: Pair) {
    number(to, kind, pair.stream);
    to.extend_from_slice(&pair.listener.to_be_bytes());
}

fn read_number(octets: &[u8]) -> Result<(u32, &[u8]), WireError> {
    let (number, rest) = split::<4>(octets)?;
    Ok((u32::from_be_bytes(*number), rest))
}

const fn flag(octet: u8) -> Result<bool, WireError> {
    match octet {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(WireError::Unknown),
    }
}

const fn declaration(octet: u8) -> Result<ListenerDeclaration, WireError> {
    match octet {
        0 => Ok(ListenerDeclaration::Ignore),
        1 => Ok(ListenerDeclaration::AskingFailed),
        2 => Ok(ListenerDeclaration::Ready),
        3 => Ok(ListenerDeclaration::ReadyFailed),
        _ => Err(WireError::Unknown),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    pub(in crate::central) fn any_message() -> impl Strategy<Value = Message> {
        let pair = || (any::<u32>(), any::<u32>()).prop_map(|(stream, listener)| Pair { stream, listener });
        let share = (any::<u16>(), any::<u8>(), any::<u64>());
        let share = share.prop_map(|(port, class, slope)| Share { port, class, slope });
        let shares = proptest::collection::vec(share, 0..4);
        let declared =
            proptest::option::of((0..4_u8).prop_map(|declared| declaration(declared).expect("one of four")));
        prop_oneof![
            any::<u32>().prop_map(Message::Offer),
            any::<u32>().prop_map(Message::Withdraw),
            pair().prop_map(Message::Ask),
            pair().prop_map(Message::Detach),
            (pair(), any::<bool>()).prop_map(|(pair, available)| Message::Available(pair, available)),
            (pair(), any::<bool>(), shares).prop_map(|(pair, reserve, shares)| Message::Configure {
                pair,
                reserve,
                shares
            }),
            (pair(), any::<bool>()).prop_map(|(pair, reserve)| Message::Configured { pair, reserve }),
            (any::<u32>(), any::<bool>()).prop_map(|(cable, works)| Message::Cable(cable, works)),
            pair().prop_map(|pair| Message::Verdict(pair, Ok(()))),
            (pair(), any::<u8>()).prop_map(|(pair, code)| Message::Verdict(pair, Err(FailureCode(code)))),
            (any::<u32>(), declared).prop_map(|(stream, declared)| Message::Listeners(stream, declared)),
            (any::<u32>(), any::<bool>()).prop_map(|(stream, sends)| Message::Send(stream, sends)),
        ]
    }
}
