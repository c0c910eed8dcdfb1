//! Start-up of a network with TDMA as by RTnet's RTcfg, resolved: the stations that take part, and the streams of its messages.
//!
//! Stations are the owners of slots that carry real-time frames, the master first. Each has a stream to all; each but the
//! master has one to the master and one from it. Not here: the order of messages (`tautwire-core`, `tdma/start_up.rs`).

use tautwire_core::tdma::start_up::StartUpConfig;
use tautwire_units::{Bytes, Duration};
use tautwire_wire::Ipv4Address;

use crate::network::{Network, NodeIndex, StreamIndex};

/// The start-up of a network's stations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartUp {
    /// The time after which a message without effect is repeated.
    pub interval: Duration,
    /// The configuration that the master sends to each other station.
    pub configuration: Bytes,
    /// Pieces of it that are sent before an acknowledgement is waited for.
    pub burst: u8,
    /// The interval of heartbeats, in milliseconds; none: a silent station is not detected.
    pub heartbeat: Option<Duration>,
    /// After so many of them without a sign the master takes a station for dead.
    pub silent_heartbeats: u32,
    /// Measurements of the travel time that each station makes.
    pub calibrations: u32,
    /// The stations, the master first.
    pub stations: Vec<StartUpStation>,
}

/// A station at start-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartUpStation {
    /// The node.
    pub node: NodeIndex,
    /// Its messages to all.
    pub to_all: StreamIndex,
    /// Its messages to the master, and the master's to it; none of the master itself.
    pub with_master: Option<(StreamIndex, StreamIndex)>,
}

/// Octets of a stage 2 frame before the configuration.
const STAGE_2: u64 = 12;

impl StartUp {
    /// The streams of the start-up.
    pub fn streams(&self) -> impl Iterator<Item = StreamIndex> + '_ {
        self.stations.iter().flat_map(|station| {
            let pair = station.with_master.into_iter().flat_map(|(there, back)| [there, back]);
            std::iter::once(station.to_all).chain(pair)
        })
    }

    /// The start-up with its streams at other indices; none if one of them is not there: it needs all of them.
    pub(crate) fn moved(&self, place: &[Option<StreamIndex>]) -> Option<Self> {
        let mut moved = self.clone();
        for station in &mut moved.stations {
            station.to_all = place[station.to_all.index()]?;
            if let Some((there, back)) = &mut station.with_master {
                (*there, *back) = (place[there.index()]?, place[back.index()]?);
            }
        }
        Some(moved)
    }

    /// The address of a station in the tables that the start-up makes.
    #[must_use]
    pub fn address(station: u32) -> Ipv4Address {
        let [a, b, c, d] = station.saturating_add(1).to_be_bytes();
        Ipv4Address::from([10_u8.saturating_add(a), b, c, d])
    }
}

impl Network {
    /// The machines' settings of a start-up, by station; none without one.
    #[must_use]
    pub fn start_up_stations(&self) -> Vec<StartUpConfig> {
        let Some(start_up) = self.tdma.as_ref().and_then(|tdma| tdma.start_up.as_ref()) else {
            return Vec::new();
        };
        let number = |count: u64| u32::try_from(count).expect("a checked number");
        let pieces = start_up.stations.iter().filter_map(|station| {
            let (_, from_master) = station.with_master?;
            Some(self.streams[from_master.index()].payload_max.get().saturating_sub(STAGE_2))
        });
        let piece = pieces.min().unwrap_or(1).max(1);
        let count = number(start_up.stations.len() as u64);
        let config = |own| StartUpConfig {
            stations: count,
            own,
            server: 0,
            interval: start_up.interval,
            configuration: number(start_up.configuration.get()),
            piece: number(piece),
            burst: u32::from(start_up.burst),
            heartbeat: start_up.heartbeat,
            silent_heartbeats: start_up.silent_heartbeats,
        };
        (0..count).map(config).collect()
    }
}
