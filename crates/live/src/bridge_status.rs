//! What a bridge has counted up to now.

use tautwire_model::network::{PortIndex, StreamIndex};
use tautwire_observe::Table;
use tautwire_sim::BridgeFiltersObservation;
use tautwire_units::Duration;

use crate::floor::Spread;

/// What a bridge has counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BridgeStatus {
    /// Time since its start.
    pub uptime: Duration,
    /// Frames that came and have neither gone nor been dropped.
    pub inside: u64,
    /// Its connected ports, in order.
    pub ports: Vec<PortStatus>,
    /// Described streams of which a frame came.
    pub streams: Vec<(StreamIndex, StreamStatus)>,
    /// By how much transmissions were later than their instants.
    pub lateness: Spread,
    /// Its time, in a network with gPTP.
    pub time: Option<TimeStatus>,
    /// What its stream filters, gates and meters have counted, if it has any.
    pub filters: Option<BridgeFiltersObservation>,
    /// What its control machines know, and its stream filters.
    pub tables: Vec<Table>,
}

/// The state of a node's gPTP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeStatus {
    /// Identity of the clock that it follows, itself perhaps.
    pub grandmaster: Option<[u8; 8]>,
    /// Whether it is itself.
    pub is_grandmaster: bool,
    /// A reading of its own clock, since the start.
    pub reading_ps: u64,
    /// The grandmaster's time at that reading, since its epoch.
    pub grandmaster_ps: Option<i128>,
    /// Its ports with cables, in order.
    pub ports: Vec<TimePort>,
}

/// A port of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimePort {
    /// Its role.
    pub role: &'static str,
    /// Whether the neighbour answers, and the link is short enough (asCapable).
    pub is_capable: bool,
    /// Mean link delay.
    pub delay: Option<Duration>,
    /// By how many parts in 10⁹ the neighbour's clock is faster.
    pub neighbour_ppb: Option<i64>,
}

/// What a port has counted. Octets are from destination address to FCS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortStatus {
    /// The port.
    pub port: PortIndex,
    /// Frames that came.
    pub received: u64,
    /// Their octets.
    pub received_octets: u64,
    /// Those of them that were for the bridge itself.
    pub consumed: u64,
    /// Frames that the bridge made itself, for this port.
    pub made: u64,
    /// Frames that the interface took.
    pub sent: u64,
    /// Their octets.
    pub sent_octets: u64,
    /// Time with the described line taken.
    pub busy: Duration,
    /// Frames that came and were not read in time, as the kernel counts them.
    pub socket_lost: u64,
    /// The classes 0 to 7.
    pub classes: Vec<ClassStatus>,
    /// Frames that were dropped here.
    pub drops: Vec<Drops>,
}

/// What a class of a port has counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassStatus {
    /// Its number.
    pub class: u8,
    /// Frames that wait.
    pub waiting: u32,
    /// Most frames that have waited.
    pub waiting_max: u32,
    /// Most octets that have waited.
    pub waiting_octets_max: u64,
    /// Frames that the interface took.
    pub sent: u64,
    /// Sum of their residence times.
    pub residence_sum_ps: u128,
    /// Residence times: from the kernel's stamp of reception to the transmission.
    pub residence: Spread,
}

/// Frames that were dropped for a reason: at the port by which they came, or in a class of that by which they were to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drops {
    /// Class in which they were to go.
    pub class: Option<u8>,
    /// Why: as in a simulated run, or `malformed`, `reserved-address`, `same-port`, `not-reserved`.
    pub reason: &'static str,
    /// How many.
    pub frames: u64,
}

/// Frames of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamStatus {
    /// That came.
    pub received: u64,
    /// That went, each copy.
    pub sent: u64,
    /// That were dropped, each copy.
    pub dropped: u64,
}
