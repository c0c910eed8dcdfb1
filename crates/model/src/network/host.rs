//! Host models: how an end station hands frames over, takes and stamps them.

use tautwire_units::{Bytes, Duration};

use super::{Delay, HostStacks};

/// How an end station hands frames to its port and takes them from it.
#[derive(Clone, Debug, PartialEq)]
pub struct HostModel {
    /// Unique name.
    pub name: String,
    /// From the application to the port's queue; keeps order.
    pub transmit: Delay,
    /// From the last bit received to the application, in a stream's order; not part of a stream's delay, but of what its
    /// application sees.
    pub receive: Delay,
    /// Most frames between application and port.
    pub queue_limit: u32,
    /// Datagrams that it puts together at a time.
    pub reassembly_buffers: u32,
    /// Octets that the port's credit-based shapers charge in addition to the frame.
    pub credit_charged_overhead: Bytes,
    /// How frames are stamped; none if they are not.
    pub time_stamp: Option<TimeStamp>,
    /// Whether its ports have one queue for all classes.
    pub is_class_blind: bool,
    /// Its protocol stacks, if it has any: then `transmit`, `receive` and `queue_limit` are not used.
    pub stacks: HostStacks,
}

/// How a station stamps frames, by its own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeStamp {
    /// What is stamped.
    pub point: StampPoint,
    /// Step of the stamps, which are rounded down; zero for none.
    pub quantum: Duration,
    /// By how much a stamp is late.
    pub jitter: Delay,
}

/// The instant of a time stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StampPoint {
    /// The first bit behind the start delimiter (the message timestamp point of IEEE Std 802.1AS).
    StartOfFrame,
    /// The last bit of the frame.
    EndOfFrame,
    /// The application's hand-over of the frame, or the hand-over to it.
    Software,
}
