//! FTT of a network with HaRTES, resolved: trigger messages, synchronous streams, and policing where streams enter.
//!
//! Every port of a bridge to an end station sends trigger messages as frames of a stream of its own: they go no further
//! than their switch. A synchronous stream is polled by the master of its talker's switch and leaves that switch in its
//! synchronous window. Switches behind it keep its messages in a pool each, and their masters schedule them into synchronous
//! windows of their own; or the stream is carried there as any other, by its reservation. Not here: the bound of the
//! schedule (`analysis`), the scheduler (`core`, `harts`).

use tautwire_core::harts::{SchedulerPolicy, StreamPolicer, SynchronousStream, Violator};
use tautwire_units::{Bytes, Duration};

use crate::network::{NodeIndex, PortIndex, StreamIndex};

/// Masters, trigger messages and synchronous streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ftt {
    /// How masters choose among synchronous messages.
    pub policy: SchedulerPolicy,
    /// Per node: the total time of the messages of one cycle at a switch, such that all of them are complete when its
    /// synchronous window ends; none where nothing is polled.
    pub windows: Vec<Option<Duration>>,
    /// Per port: the stream of its trigger messages, if it sends such.
    pub triggers: Vec<Option<StreamIndex>>,
    /// The synchronous streams; in messages, a stream is named by its number in the network.
    pub polled: Vec<PolledStream>,
    /// Those of them that are synchronous in switches behind the first, too: one for each such switch, in the order of
    /// their ways.
    pub relayed: Vec<RelayedStream>,
    /// Whether streams are admitted, so that there are control messages.
    pub has_admission: bool,
}

/// A synchronous stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolledStream {
    /// The stream.
    pub stream: StreamIndex,
    /// The switch whose master polls it.
    pub switch: NodeIndex,
    /// Its configuration at the scheduler.
    pub config: SynchronousStream,
}

/// A synchronous stream at a switch behind its first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelayedStream {
    /// The stream.
    pub stream: StreamIndex,
    /// The switch whose master schedules what comes of it.
    pub switch: NodeIndex,
    /// Its configuration at the scheduler there.
    pub config: SynchronousStream,
    /// Messages that may wait there.
    pub pool: u32,
}

/// The policing of a reserved stream by the switch where it enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Police {
    /// Longest frame, destination to FCS.
    pub frame_max: Bytes,
    /// Least distance of its frames as they are received, on the switch's clock.
    pub distance: Duration,
    /// The action on a frame that comes too early.
    pub violator: Violator,
    /// Frames of the stream that may wait for their time, if early ones are reshaped.
    pub pool: u32,
    /// Whether the description states the distance.
    pub stated: bool,
}

impl Police {
    /// The machine.
    #[must_use]
    pub fn policer(&self) -> StreamPolicer {
        let size = u32::try_from(self.frame_max.get()).unwrap_or(u32::MAX);
        StreamPolicer::new(size, self.distance, self.violator, self.pool)
    }
}

impl Ftt {
    /// The synchronous stream that a stream is.
    #[must_use]
    pub fn polled(&self, stream: StreamIndex) -> Option<&PolledStream> {
        self.polled.iter().find(|polled| polled.stream == stream)
    }

    /// A synchronous stream at a switch behind its first; none where it is carried otherwise.
    #[must_use]
    pub fn relayed(&self, stream: StreamIndex, switch: NodeIndex) -> Option<&RelayedStream> {
        self.relayed.iter().find(|relayed| relayed.stream == stream && relayed.switch == switch)
    }

    /// Whether a stream leaves a switch in its synchronous window.
    #[must_use]
    pub fn is_synchronous_at(&self, stream: StreamIndex, switch: NodeIndex) -> bool {
        self.polled(stream).is_some_and(|polled| polled.switch == switch)
            || self.relayed(stream, switch).is_some()
    }

    /// Whether these are trigger messages of a port.
    #[must_use]
    pub fn is_trigger(&self, stream: StreamIndex, port: PortIndex) -> bool {
        self.triggers.get(port.index()).copied().flatten() == Some(stream)
    }

    /// As if only some streams were there; `place` gives their new indices.
    pub(crate) fn keep(&mut self, place: &[Option<StreamIndex>]) {
        for trigger in &mut self.triggers {
            *trigger = trigger.and_then(|stream| place[stream.index()]);
        }
        self.polled.retain_mut(|polled| match place[polled.stream.index()] {
            Some(stream) => {
                (polled.stream, polled.config.id) = (stream, number(stream));
                true
            }
            None => false,
        });
        self.relayed.retain_mut(|relayed| match place[relayed.stream.index()] {
            Some(stream) => {
                (relayed.stream, relayed.config.id) = (stream, number(stream));
                true
            }
            None => false,
        });
    }
}

/// A stream as messages name it; networks in which that is used have fewer than 2^16.
fn number(stream: StreamIndex) -> u16 {
    u16::try_from(stream.index()).unwrap_or(u16::MAX)
}
