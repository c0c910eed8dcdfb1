//! Time division multiple access (RTnet) of a network, resolved.

use tautwire_core::tdma::{TdmaConfig, TdmaRole, TdmaSlot};
use tautwire_units::Duration;

use crate::network::{Network, NodeIndex, NodeKind, StreamIndex};

/// Who may send when. Every talker of the network is one of its stations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tdma {
    /// Length of the basic cycle.
    pub cycle: Duration,
    /// The master's synchronisation frames; the stream's talker is the master.
    pub synchronisation: StreamIndex,
    /// The standby master, if there is one.
    pub standby: Option<Standby>,
    /// All slots, by offset.
    pub slots: Vec<OwnedSlot>,
    /// Per node: how long a synchronisation frame travels to it at least, as calibration finds.
    pub travel: Vec<Duration>,
}

/// The standby master.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standby {
    /// Its synchronisation frames; the stream's talker is the standby.
    pub synchronisation: StreamIndex,
    /// How long after the start of a cycle it gives the master up.
    pub offset: Duration,
}

/// A slot and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnedSlot {
    /// The station.
    pub owner: NodeIndex,
    /// The slot.
    pub slot: TdmaSlot,
    /// Its length.
    pub length: Duration,
}

impl Network {
    /// The settings of a node's TDMA station; none for a bridge, and without TDMA.
    #[must_use]
    pub fn tdma_station(&self, node: NodeIndex) -> Option<TdmaConfig> {
        let tdma = self.tdma.as_ref()?;
        let NodeKind::EndStation { host } = &self.nodes[node.index()].kind else { return None };
        let talks = |stream: StreamIndex| self.streams[stream.index()].talker == node;
        let standby = tdma.standby.filter(|standby| talks(standby.synchronisation));
        let role = match standby {
            _ if talks(tdma.synchronisation) => TdmaRole::Master,
            Some(standby) => TdmaRole::Standby { offset: standby.offset },
            None => TdmaRole::Slave,
        };
        let slots = tdma.slots.iter().filter(|slot| slot.owner == node).map(|slot| slot.slot).collect();
        Some(TdmaConfig {
            cycle: tdma.cycle,
            role,
            slots,
            travel: tdma.travel[node.index()],
            limit: self.hosts[host.index()].queue_limit as usize,
        })
    }

    /// Whether a stream is real-time traffic of its TDMA station: all but those of priority 0.
    #[must_use]
    pub fn is_real_time(&self, stream: StreamIndex) -> bool {
        self.streams[stream.index()].priority.number() > 0
    }
}
