//! When a talker's frames come.

use tautwire_units::{BitRate, Bytes, Duration};

use super::StreamIndex;

/// When a talker's frames come.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// `burst` frames back to back every `interval`; the *k*-th comes at `offset + k·interval` plus
    /// a delay drawn uniformly up to `jitter`. With a drawn phase all of them come later by the same time, less than an interval.
    Periodic {
        /// Period.
        interval: Duration,
        /// Time of the first.
        offset: Duration,
        /// Most delay.
        jitter: Duration,
        /// Frames at once.
        burst: u32,
        /// Whether a run draws by its seed how much later than `offset` the first comes.
        drawn: bool,
    },
    /// Frames spaced so that their wire bits make `rate`, whatever their sizes.
    ConstantRate {
        /// Wire bits per second.
        rate: BitRate,
        /// Time of the first.
        offset: Duration,
    },
    /// Frames at exponentially distributed distances.
    Poisson {
        /// Mean distance.
        mean_interval: Duration,
    },
    /// Periodic frames during `on`, none during `off`, again and again.
    OnOff {
        /// Time with frames.
        on: Duration,
        /// Time without.
        off: Duration,
        /// Period while on.
        interval: Duration,
        /// Start of the first `on`.
        offset: Duration,
    },
    /// All that [`super::Stream::arrival`] allows, as early as it allows: the adversary of the bounds.
    Greedy {
        /// Time of the first.
        offset: Duration,
    },
    /// Frames at given times.
    Replay {
        /// Time since the start and MAC client data of each frame, in order of time.
        frames: Vec<(Duration, Bytes)>,
    },
    /// The synchronisation frames of a TDMA cycle, when its machine sends them.
    Synchronisation {
        /// Length of the cycle.
        cycle: Duration,
    },
    /// A frame for every frame of another stream that the talker receives. Delay, bound and deadline of such a stream
    /// count from the request's hand-over: they cover the full round trip.
    Response {
        /// The requests.
        to: StreamIndex,
        /// From the request at the application to the response's hand-over.
        turn_around: Duration,
    },
    /// The frames of a control protocol from one port to the next, when a machine sends them.
    Protocol,
    /// A frame when the trigger message of the talker's switch polls it (`harts`). Delays count from the start of the
    /// elementary cycle in which the master released the message.
    Polled,
    /// Bursts of several threads. Each sends `burst` frames at once and sleeps until all threads together keep
    /// `interval` a frame, and then a random `overhead` longer; its first burst is drawn within a sleep.
    Injected {
        /// Threads.
        threads: u32,
        /// Frames of a burst.
        burst: u32,
        /// Distance of frames over all threads.
        interval: Duration,
        /// Least and most that a sleep is too long.
        overhead: (Duration, Duration),
    },
    /// A file, in frames as large as they may be, as fast as the line of the talker's port takes them.
    File {
        /// Octets of MAC client data in all.
        octets: Bytes,
        /// When.
        at: Duration,
    },
}

impl Traffic {
    /// Whether machines of the network's protocols send the frames: they run whatever streams are requested.
    #[must_use]
    pub const fn is_control(&self) -> bool {
        matches!(self, Self::Synchronisation { .. } | Self::Protocol)
    }
}
