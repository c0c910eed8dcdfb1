//! Contents of messages of central configuration, as ladders show them.

use tautwire_core::central::Message;

/// The content of a message of central configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlNote {
    /// The talker offers the stream.
    Offer,
    /// The talker offers it no more.
    Withdraw,
    /// A listener requests it.
    Ask,
    /// A listener ends its request.
    Detach,
    /// It can be requested.
    Available,
    /// It cannot be requested any more.
    Gone,
    /// A bridge is to reserve.
    Configure,
    /// A bridge is to release its reservation.
    Release,
    /// A bridge has done so.
    Configured,
    /// A listener is served.
    Served,
    /// A listener is refused, with the failure code; 0 if it was served and is not any more.
    Refused(u8),
    /// The merged declaration of the listeners.
    Listeners,
    /// The talker is to send.
    Send,
    /// The talker is to stop.
    Stop,
    /// A cable works, or works no more.
    Cable,
}

impl ControlNote {
    pub(crate) fn of(message: &Message) -> Self {
        match message {
            Message::Offer(_) => Self::Offer,
            Message::Withdraw(_) => Self::Withdraw,
            Message::Ask(_) => Self::Ask,
            Message::Detach(_) => Self::Detach,
            Message::Available(_, true) => Self::Available,
            Message::Available(_, false) => Self::Gone,
            Message::Configure { reserve: true, .. } => Self::Configure,
            Message::Configure { reserve: false, .. } => Self::Release,
            Message::Configured { .. } => Self::Configured,
            Message::Cable(..) => Self::Cable,
            Message::Verdict(_, Ok(())) => Self::Served,
            Message::Verdict(_, Err(code)) => Self::Refused(code.0),
            Message::Listeners(..) => Self::Listeners,
            Message::Send(_, true) => Self::Send,
            Message::Send(_, false) => Self::Stop,
        }
    }

    /// Its name in results.
    #[must_use]
    pub fn name(self) -> String {
        let name = match self {
            Self::Offer => "offer",
            Self::Withdraw => "withdraw",
            Self::Ask => "ask",
            Self::Detach => "detach",
            Self::Available => "available",
            Self::Gone => "gone",
            Self::Configure => "configure",
            Self::Release => "release",
            Self::Configured => "configured",
            Self::Served => "served",
            Self::Refused(code) => return format!("refused({code})"),
            Self::Listeners => "listeners",
            Self::Send => "send",
            Self::Stop => "stop",
            Self::Cable => "cable",
        };
        name.to_owned()
    }
}
