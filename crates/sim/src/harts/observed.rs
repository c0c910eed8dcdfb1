//! What a run observed of HaRTES: what masters polled, what nodes received and answered, and the results of requests.

use tautwire_model::network::{NodeIndex, StreamIndex};
use tautwire_units::{BitRate, Duration};

use crate::control::CycleFrame;

/// Observations of masters and nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HartsObservation {
    /// Switches that send trigger messages.
    pub masters: Vec<MasterObservation>,
    /// Their nodes.
    pub nodes: Vec<ListeningObservation>,
    /// Requests of central admission, one for each talker and listener.
    pub requests: Vec<RequestObservation>,
    /// Events of the requests, in order of time.
    pub ladder: Vec<AdmissionRung>,
    /// The ACMaster and its standby at the end.
    pub acmasters: Vec<MasterState>,
    /// The links databases of the switches at the end, with central admission.
    pub links: Vec<SwitchLink>,
    /// Frames of the first cycles behind the warm-up.
    pub frames: Vec<CycleFrame>,
}

/// A talker or listener that requested a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestObservation {
    /// The stream.
    pub stream: StreamIndex,
    /// The requesting node.
    pub node: NodeIndex,
    /// Whether that is the talker.
    pub is_talker: bool,
    /// When it sent its request, true time since the start.
    pub asked_at: Option<Duration>,
    /// When its application knew the answer.
    pub answered_at: Option<Duration>,
    /// Answers that changed what it knew.
    pub answers: u32,
    /// Whether it was granted.
    pub granted: bool,
    /// The stream in whose way it was, if it was refused.
    pub subject: Option<StreamIndex>,
    /// The link that was down on its path, if it was refused or ended because of that: the switch that reported it, and its neighbour.
    pub cut: Option<[NodeIndex; 2]>,
}

/// A link as the master of its switch knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchLink {
    /// The switch.
    pub switch: NodeIndex,
    /// The node at the other end.
    pub neighbour: NodeIndex,
    /// Whether it is up.
    pub up: bool,
    /// What streams have reserved of it towards that node, by their servers and in the schedule.
    pub reserved: BitRate,
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdmissionRung {
    /// When, true time since the start.
    pub at: Duration,
    /// Where.
    pub node: NodeIndex,
    /// The stream; of what is about none, a number that no stream has.
    pub stream: StreamIndex,
    /// The event.
    pub event: AdmissionEvent,
}

/// An event of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdmissionEvent {
    /// An application sends a request.
    Asked,
    /// The ACMaster has tested it.
    Tested {
        /// With which result.
        passed: bool,
    },
    /// A switch has its server.
    Configured,
    /// A switch has given that back.
    Removed,
    /// An application knows that it is granted.
    Acknowledged,
    /// An application knows that it is not.
    Refused,
    /// The talker gives it back, or a listener its part.
    Released,
    /// The talker stops sending: no consumer with a grant is left.
    Paused,
    /// An application is notified that its grant ends, or is refused, because of a link on its path that is down.
    CutOff,
    /// A switch sees that a link of it is down, or up.
    Link {
        /// Whether it is up.
        up: bool,
        /// The node at the other end.
        to: NodeIndex,
    },
    /// The standby has become the active ACMaster.
    TookOver,
    /// A control message leaves its node.
    Sent {
        /// Its content.
        message: &'static str,
        /// Its recipient.
        to: NodeIndex,
    },
    /// A control message has come to the node that it is for.
    Received {
        /// Its content.
        message: &'static str,
        /// The sender.
        from: NodeIndex,
    },
}

impl AdmissionEvent {
    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Tested { passed: true } => "passed",
            Self::Tested { passed: false } => "failed",
            Self::Configured => "configured",
            Self::Removed => "removed",
            Self::Acknowledged => "acknowledged",
            Self::Refused => "refused",
            Self::Released => "released",
            Self::Paused => "paused",
            Self::CutOff => "cut-off",
            Self::Link { up: true, .. } => "link-up",
            Self::Link { up: false, .. } => "link-down",
            Self::TookOver => "took-over",
            Self::Sent { .. } => "sent",
            Self::Received { .. } => "received",
        }
    }

    /// The content of a control message, and the node at its other end.
    #[must_use]
    pub const fn message(self) -> Option<(&'static str, NodeIndex)> {
        match self {
            Self::Sent { message, to: peer } | Self::Received { message, from: peer } => {
                Some((message, peer))
            }
            _ => None,
        }
    }
}

/// An ACMaster at the end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MasterState {
    /// Its switch.
    pub switch: NodeIndex,
    /// Whether it is the active one.
    pub active: bool,
    /// Tests that it made.
    pub tests: u64,
    /// Streams that are granted.
    pub standing: Vec<StreamIndex>,
}

impl RequestObservation {
    pub(crate) fn of(stream: StreamIndex, node: NodeIndex, is_talker: bool) -> Self {
        Self {
            stream,
            node,
            is_talker,
            asked_at: None,
            answered_at: None,
            answers: 0,
            granted: false,
            subject: None,
            cut: None,
        }
    }

    /// From the request to the answer.
    #[must_use]
    pub fn latency(&self) -> Option<Duration> {
        Some(self.answered_at? - self.asked_at?)
    }
}

/// A switch's master.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MasterObservation {
    /// The switch.
    pub switch: NodeIndex,
    /// Elementary cycles.
    pub cycles: u64,
    /// Synchronous messages that were polled.
    pub polled: u64,
    /// Messages that were still waiting when the next of their stream was released.
    pub dropped: u64,
    /// Messages of other switches that it sent on in synchronous windows of its own.
    pub relayed: u64,
    /// Those that it discarded, for their pools were full.
    pub overflowed: u64,
    /// The most that the messages of one cycle took.
    pub longest: Duration,
}

/// A node at a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListeningObservation {
    /// The node.
    pub node: NodeIndex,
    /// Trigger messages that it was sent.
    pub sent: u64,
    /// Those that it decoded.
    pub heard: u64,
    /// Messages of its own that were polled.
    pub polled: u64,
    /// Those that it sent: in a cycle whose trigger message it missed it is silent.
    pub answered: u64,
}

impl MasterObservation {
    pub(crate) fn of(switch: NodeIndex) -> Self {
        Self { switch, cycles: 0, polled: 0, dropped: 0, relayed: 0, overflowed: 0, longest: Duration::ZERO }
    }
}

impl ListeningObservation {
    pub(crate) fn of(node: NodeIndex) -> Self {
        Self { node, sent: 0, heard: 0, polled: 0, answered: 0 }
    }
}
