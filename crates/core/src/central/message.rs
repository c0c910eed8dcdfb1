//! What users, controllers and bridges tell each other. Streams and listeners are numbered as the driver numbers them; nodes, too.

use alloc::vec::Vec;

use tautwire_wire::srp::{FailureCode, ListenerDeclaration};

/// One listener of one stream: what is admitted or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// The stream.
    pub stream: u32,
    /// The listener, among those of the stream.
    pub listener: u32,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// A talker offers a stream: user to CUC, CUC or edge bridge to CNC.
    Offer(u32),
    /// It offers it no more.
    Withdraw(u32),
    /// A listener asks for a stream, on the same ways.
    Ask(Pair),
    /// It asks no more.
    Detach(Pair),
    /// A stream is offered, or not any more: CUC to its listeners, CNC to their edge bridges.
    Available(Pair, bool),
    /// CNC to a bridge: reserve for a listener on these ports, or give it back there.
    Configure {
        /// For whom.
        pair: Pair,
        /// Whether to reserve; else to give back.
        reserve: bool,
        /// Port of the bridge, place of the class, bits in a second.
        shares: Vec<(usize, usize, u64)>,
    },
    /// Bridge to CNC: done.
    Configured {
        /// For whom.
        pair: Pair,
        /// Whether it is reserved; else given back.
        reserve: bool,
    },
    /// Bridge to CNC: a cable at one of its ports works, or works no more.
    Cable(u32, bool),
    /// CNC to CUC or to the listener's edge bridge: the listener is served, or not and why; [`FailureCode`] 0 if it was and is not any more.
    Verdict(Pair, Result<(), FailureCode>),
    /// CNC to the talker's edge bridge: what its listeners say.
    Listeners(u32, Option<ListenerDeclaration>),
    /// CUC to a talker: send, or stop.
    Send(u32, bool),
}

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
}
