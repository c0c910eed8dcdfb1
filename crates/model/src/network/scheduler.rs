//! ATS scheduler instances and groups of bridges (802.1Q-2022 8.6.5.6).

use tautwire_core::TrafficClass;
use tautwire_units::{BitRate, Bits, Duration};

use super::{PortIndex, SchedulerGroupIndex};

/// An ATS scheduler instance of a bridge (802.1Q-2022 8.6.5.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduler {
    /// Its group.
    pub group: SchedulerGroupIndex,
    /// CommittedInformationRate, in charged bits per second.
    pub committed_information_rate: BitRate,
    /// CommittedBurstSize, in charged bits.
    pub committed_burst_size: Bits,
    /// The first of the ports to which its frames go.
    pub transmission_port: PortIndex,
    /// ClockRateDeviationMax, parts in 10⁹: the greatest of its pairs of reception and transmission port.
    pub clock_rate_deviation_max_ppb: u32,
}

/// An ATS scheduler group of a bridge (802.1Q-2022 8.6.5.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchedulerGroup {
    /// The reception port.
    pub reception_port: PortIndex,
    /// The class that its frames had at the port before, or have at this bridge: [`super::Grouping`].
    pub class: TrafficClass,
    /// MaxResidenceTime; none: no frame is discarded for it.
    pub max_residence_time: Option<Duration>,
}
