//! Nodes: end stations and bridges, their clocks.

use tautwire_units::{ClockOffset, Duration};

use super::{DeviceIndex, HostIndex};

/// An end station or a bridge.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Unique name.
    pub name: String,
    /// Its kind.
    pub kind: NodeKind,
    /// Its ports: `first..end` of [`super::Parts::ports`].
    pub ports: core::ops::Range<u32>,
    /// Its clock.
    pub clock: Clock,
}

/// The kind of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// A talker and listener, which never forwards.
    EndStation {
        /// How its host hands frames to the port and takes them from it.
        host: HostIndex,
    },
    /// A VLAN bridge.
    Bridge {
        /// Its delays and choices.
        device: DeviceIndex,
        /// Its learned addresses; none if all its forwarding is static.
        learning: Option<Learning>,
    },
}

/// Learning of source addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Learning {
    /// Most addresses in the table; a further one is not learned.
    pub table_size: u32,
    /// The time after which an address without frames is removed.
    pub ageing_time: Duration,
}

/// A node's clock. Bounds use its tolerance and its granularity, a run uses all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Largest deviation of its rate from true time, parts in 10⁹.
    pub tolerance_ppb: u32,
    /// Its rate's deviation in a run, parts in 10⁹, within the tolerance; none: drawn by the seed.
    pub drift_ppb: Option<i32>,
    /// Its reading at the start of the run.
    pub offset: ClockOffset,
    /// Step of its readings; zero for a picosecond.
    pub granularity: Duration,
}

impl Clock {
    /// By how much what is timed by it may be early or late for its readings come in steps: nothing if those are picoseconds.
    #[must_use]
    pub fn step(&self) -> Duration {
        if self.granularity.as_ps() > 1 { self.granularity } else { Duration::ZERO }
    }
}
