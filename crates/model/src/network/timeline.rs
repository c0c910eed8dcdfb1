//! The events of a run.

use tautwire_core::TrafficClass;
use tautwire_core::gates::GateParameters;
use tautwire_units::{BitRate, Duration};

use crate::psfp::FilterChange;

use super::{ArrivalCurve, NodeIndex, PortIndex, ShaperSettings, StreamIndex, Traffic};

/// A step of the run's timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelineEvent {
    /// When, in true time since the start.
    pub at: Duration,
    /// The action.
    pub action: TimelineAction,
}

/// An action of the timeline.
#[derive(Clone, Debug, PartialEq)]
pub enum TimelineAction {
    /// A stream begins (its traffic's times count from here).
    StartStream(StreamIndex),
    /// A stream ends; frames on their way go on.
    StopStream(StreamIndex),
    /// A cable (links 2*n* and 2*n*+1) is cut; frames on it are lost.
    CutCable(u32),
    /// A cable is repaired.
    MendCable(u32),
    /// A node stops; its frames are lost.
    StopNode(NodeIndex),
    /// A node comes back, empty.
    StartNode(NodeIndex),
    /// A synchronisation or compression master makes protocol control frames without end, one every so long.
    Babble(NodeIndex, Duration),
    /// It ends.
    StopBabbling(NodeIndex),
    /// A synchronisation or compression master sends its frames later by this time than their contents state; not any more, if zero.
    Mistime(NodeIndex, Duration),
    /// A node sends its last frame of a stream with copies again, once every so long.
    RepeatFrame(NodeIndex, StreamIndex, Duration),
    /// It ends.
    StopRepeating(NodeIndex, StreamIndex),
    /// A stream's traffic and arrival curve change.
    ChangeTraffic(StreamIndex, Traffic, Option<ArrivalCurve>),
    /// A class of a port gets another idleSlope.
    ChangeIdleSlope(PortIndex, TrafficClass, BitRate),
    /// The gates of a port get another list.
    ChangeGates(PortIndex, Box<GateParameters>),
    /// Management changes stream filters, stream gates or flow meters of a bridge.
    ChangeFilters(NodeIndex, Box<FilterChange>),
    /// An ATS scheduler gets other parameters.
    ChangeShaper(StreamIndex, ShaperSettings),
    /// Both directions of a cable get another bit error rate, in 10⁻¹⁸.
    ChangeBitErrorRate(u32, u64),
}

impl TimelineAction {
    /// The stream that it is about, if it is about one.
    pub(crate) const fn stream_mut(&mut self) -> Option<&mut StreamIndex> {
        match self {
            Self::StartStream(stream)
            | Self::StopStream(stream)
            | Self::RepeatFrame(_, stream, _)
            | Self::StopRepeating(_, stream)
            | Self::ChangeTraffic(stream, ..)
            | Self::ChangeShaper(stream, _) => Some(stream),
            Self::CutCable(_)
            | Self::MendCable(_)
            | Self::StopNode(_)
            | Self::StartNode(_)
            | Self::Babble(..)
            | Self::StopBabbling(_)
            | Self::Mistime(..)
            | Self::ChangeIdleSlope(..)
            | Self::ChangeGates(..)
            | Self::ChangeFilters(..)
            | Self::ChangeBitErrorRate(..) => None,
        }
    }
}
