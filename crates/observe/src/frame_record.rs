//! One event in the life of one frame: the record of traces, one format for simulation and live.
//!
//! Not here: how it is written (`tautwire-report`: Parquet, pcapng).

use tautwire_units::{Bytes, Duration};

/// Something that happened to a frame, or to a copy of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRecord {
    /// When, in true time since the start of the run.
    pub time: Duration,
    /// Index of the stream in the network.
    pub stream: u32,
    /// Number of the frame in its stream, from 0; all copies have the same.
    pub number: u32,
    /// Index of the hop in the stream's hops; for a delivered copy, the hop it came by.
    pub hop: u32,
    /// Index of the port in the network: of egress, or of reception for a delivered copy and one that
    /// is dropped on reception.
    pub port: u32,
    /// The event.
    pub event: FrameEvent,
    /// Length, destination to FCS; zero where it is not known.
    pub length: Bytes,
}

/// An event of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameEvent {
    /// The talker's application handed it to its host.
    Created,
    /// It joined a queue of the egress port.
    Queued,
    /// Its first bit went onto the wire.
    Transmitted,
    /// Its last bit reached a listener.
    Delivered,
    /// It was lost.
    Dropped {
        /// Why, as results name it: `queue-full`.
        reason: &'static str,
    },
}

impl FrameEvent {
    /// Its name in traces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Queued => "queued",
            Self::Transmitted => "transmitted",
            Self::Delivered => "delivered",
            Self::Dropped { .. } => "dropped",
        }
    }

    /// Why it was lost; none if it was not.
    #[must_use]
    pub const fn drop_reason(self) -> Option<&'static str> {
        match self {
            Self::Dropped { reason } => Some(reason),
            Self::Created | Self::Queued | Self::Transmitted | Self::Delivered => None,
        }
    }
}
