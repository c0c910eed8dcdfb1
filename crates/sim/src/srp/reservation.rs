//! What a run observed of stream reservation: for each reserved stream the ladder of its events, in order of time.
//!
//! A ladder contains changes alone: an MRPDU whose declaration of a stream equals the earlier one at its port is no
//! rung. Times are true ones: a sent MRPDU counts from its first bit, a received one from its last, before its node
//! has processed it.

use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};
use tautwire_units::{BitRate, Bits, Duration};

use crate::central::ControlNote;

/// Observations of one reserved stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservationObservation {
    /// The stream.
    pub stream: StreamIndex,
    /// Events, in order of time.
    pub ladder: Vec<Rung>,
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rung {
    /// When, true time since the start.
    pub at: Duration,
    /// Where.
    pub node: NodeIndex,
    /// The event.
    pub event: RungEvent,
}

/// An event of a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RungEvent {
    /// The talker's application offers the stream.
    Offered,
    /// The talker's application withdraws it.
    Withdrawn,
    /// A listener's application requests it.
    Asked,
    /// A listener's application ends its request.
    Detached,
    /// A port sends an MRPDU with this declaration of it.
    Sent(PortIndex, Declaration),
    /// A port receives one.
    Received(PortIndex, Declaration),
    /// A node of central configuration hands a message for this node to its port, once more if it was not acknowledged.
    ControlSent(NodeIndex, ControlNote),
    /// A node receives a message from this one.
    ControlReceived(NodeIndex, ControlNote),
    /// A bridge locks bandwidth for it on an egress port.
    Reserved(PortIndex),
    /// A bridge gives that bandwidth back.
    Released(PortIndex),
    /// The idleSlope of the stream's class at a port becomes this: more at once, less when nothing is left of the class.
    Shaped(PortIndex, BitRate),
    /// The ATS scheduler of the stream behind which a port is has these parameters from now on, committed rate and burst; or
    /// none any more.
    Regulated(PortIndex, Option<(BitRate, Bits)>),
    /// The talker begins to send it: a listener is ready.
    Started,
    /// The talker sends it no more.
    Stopped,
}

/// The declaration of a stream in an MRPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declaration {
    /// Talker advertise.
    TalkerAdvertise,
    /// Talker failed, with the failure code.
    TalkerFailed(u8),
    /// The talker is left.
    TalkerLeave,
    /// Listener ready.
    ListenerReady,
    /// Some listeners ready, some failed.
    ListenerReadyFailed,
    /// Listener asking failed.
    ListenerAskingFailed,
    /// The listener is left.
    ListenerLeave,
}

impl Declaration {
    /// Its name in results.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::TalkerAdvertise => "talker-advertise".to_owned(),
            Self::TalkerFailed(code) => format!("talker-failed({code})"),
            Self::TalkerLeave => "talker-leave".to_owned(),
            Self::ListenerReady => "listener-ready".to_owned(),
            Self::ListenerReadyFailed => "listener-ready-failed".to_owned(),
            Self::ListenerAskingFailed => "listener-asking-failed".to_owned(),
            Self::ListenerLeave => "listener-leave".to_owned(),
        }
    }

    /// Whether it is of the talker; else of listeners.
    #[must_use]
    pub const fn is_talker(self) -> bool {
        matches!(self, Self::TalkerAdvertise | Self::TalkerFailed(_) | Self::TalkerLeave)
    }
}

impl RungEvent {
    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Offered => "offered",
            Self::Withdrawn => "withdrawn",
            Self::Asked => "asked",
            Self::Detached => "detached",
            Self::Sent(..) | Self::ControlSent(..) => "sent",
            Self::Received(..) | Self::ControlReceived(..) => "received",
            Self::Reserved(_) => "reserved",
            Self::Released(_) => "released",
            Self::Shaped(..) => "shaped",
            Self::Regulated(..) => "regulated",
            Self::Started => "started",
            Self::Stopped => "stopped",
        }
    }

    /// The port, of what happens at one.
    #[must_use]
    pub const fn port(self) -> Option<PortIndex> {
        match self {
            Self::Sent(port, _)
            | Self::Received(port, _)
            | Self::Reserved(port)
            | Self::Released(port)
            | Self::Shaped(port, _)
            | Self::Regulated(port, _) => Some(port),
            Self::Offered
            | Self::Withdrawn
            | Self::Asked
            | Self::Detached
            | Self::ControlSent(..)
            | Self::ControlReceived(..)
            | Self::Started
            | Self::Stopped => None,
        }
    }

    /// The other node and the content, of a message of central configuration.
    #[must_use]
    pub const fn control(self) -> Option<(NodeIndex, ControlNote)> {
        match self {
            Self::ControlSent(peer, note) | Self::ControlReceived(peer, note) => Some((peer, note)),
            _ => None,
        }
    }

    /// The idleSlope that a reservation set.
    #[must_use]
    pub const fn idle_slope(self) -> Option<BitRate> {
        match self {
            Self::Shaped(_, slope) => Some(slope),
            _ => None,
        }
    }

    /// The declaration in an MRPDU.
    #[must_use]
    pub const fn declaration(self) -> Option<Declaration> {
        match self {
            Self::Sent(_, declaration) | Self::Received(_, declaration) => Some(declaration),
            _ => None,
        }
    }
}

/// The time of a bridge to pass a stream's declarations on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BridgeDelays {
    /// The bridge.
    pub bridge: NodeIndex,
    /// From the talker advertise received to the first one sent: the test of admission.
    pub talker: Option<Duration>,
    /// From the listener's ready received to its ready sent: the second test, and the lock.
    pub listener: Option<Duration>,
    /// From the talker advertise sent to the listener's ready received: all that is behind it.
    pub behind: Option<Duration>,
}

impl ReservationObservation {
    /// When something happened first.
    pub fn first(&self, holds: impl Fn(&Rung) -> bool) -> Option<Duration> {
        self.ladder.iter().find(|rung| holds(rung)).map(|rung| rung.at)
    }

    /// From the first talker advertise on the wire at the talker to the first ready (or ready failed) received there.
    #[must_use]
    pub fn set_up(&self, talker: NodeIndex) -> Option<Duration> {
        let sent = self.first(|rung| {
            rung.node == talker && matches!(rung.event, RungEvent::Sent(_, Declaration::TalkerAdvertise))
        })?;
        let ready = self.first(|rung| {
            rung.node == talker
                && rung.at >= sent
                && matches!(
                    rung.event,
                    RungEvent::Received(_, Declaration::ListenerReady | Declaration::ListenerReadyFailed)
                )
        })?;
        Some(ready - sent)
    }

    /// From the last missing request, the talker's offer or a listener's, until the first frame may leave: the
    /// duration of the admission, whatever entity decided.
    #[must_use]
    pub fn admission(&self) -> Option<Duration> {
        let started = self.first(|rung| rung.event == RungEvent::Started)?;
        let offered = self.first(|rung| rung.event == RungEvent::Offered)?;
        let asked = self.first(|rung| rung.event == RungEvent::Asked)?;
        Some(started - offered.max(asked).min(started))
    }

    /// How often the talker had to stop although neither side withdrew.
    #[must_use]
    pub fn lapses(&self) -> u32 {
        let mut lapses = 0;
        let mut wanted = true;
        for rung in &self.ladder {
            match rung.event {
                RungEvent::Withdrawn | RungEvent::Detached => wanted = false,
                RungEvent::Offered | RungEvent::Asked => wanted = true,
                RungEvent::Stopped if wanted => lapses += 1,
                _ => {}
            }
        }
        lapses
    }

    /// The delays of each bridge, in the order in which they received the stream's declaration. `is_bridge` is true for bridges.
    pub fn bridges(&self, is_bridge: impl Fn(NodeIndex) -> bool) -> Vec<BridgeDelays> {
        let mut found: Vec<NodeIndex> = Vec::new();
        for rung in &self.ladder {
            if is_bridge(rung.node)
                && !found.contains(&rung.node)
                && matches!(rung.event, RungEvent::Received(_, Declaration::TalkerAdvertise))
            {
                found.push(rung.node);
            }
        }
        let delays = |bridge: NodeIndex| {
            let at = |wanted: fn(&RungEvent) -> bool, after: Duration| {
                self.first(|rung| rung.node == bridge && rung.at >= after && wanted(&rung.event))
            };
            let received =
                at(|e| matches!(e, RungEvent::Received(_, Declaration::TalkerAdvertise)), Duration::ZERO);
            let passed = received.and_then(|received| {
                at(|e| matches!(e, RungEvent::Sent(_, Declaration::TalkerAdvertise)), received)
            });
            let ready = passed.and_then(|passed| {
                at(|e| matches!(e, RungEvent::Received(_, Declaration::ListenerReady)), passed)
            });
            let answered = ready
                .and_then(|ready| at(|e| matches!(e, RungEvent::Sent(_, Declaration::ListenerReady)), ready));
            BridgeDelays {
                bridge,
                talker: passed.zip(received).map(|(passed, received)| passed - received),
                listener: answered.zip(ready).map(|(answered, ready)| answered - ready),
                behind: ready.zip(passed).map(|(ready, passed)| ready - passed),
            }
        };
        found.into_iter().map(delays).collect()
    }
}
