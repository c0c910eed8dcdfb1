//! Time division multiple access (RTnet) of a network, resolved.

pub(crate) mod codes;
pub(crate) mod language;
mod lifetime;
pub(crate) mod resolve;
pub mod standby;
pub mod start_up;

use tautwire_core::tdma::{Carries, TdmaConfig, TdmaRole, TdmaSlot};
use tautwire_units::{BitRate, Duration};

use crate::check::pace::Recurring;
use crate::frame::wire_bits;
use crate::network::{ArrivalCurve, Network, NodeIndex, NodeKind, StreamIndex, Traffic};
use crate::tdma::start_up::StartUp;

/// The assignment of slots to stations. Every talker of the network is one of its stations.
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
    /// How long a frame waits for a slot before it is lost, stated or derived; without end.
    pub lifetime: Option<Duration>,
    /// How its stations find together; none if they know all from the start.
    pub start_up: Option<StartUp>,
}

impl Tdma {
    /// Its recurring events in a run.
    pub(crate) fn recurring(&self) -> Vec<Recurring> {
        let mut all = vec![Recurring::new("a slot of `tdma` begins", self.cycle, self.slots.len() + 2)];
        if let Some(start_up) = &self.start_up {
            let stations = start_up.stations.len();
            let invited = "a start-up of `tdma` invites a station";
            all.push(Recurring::new(invited, start_up.interval, stations));
            let beat = |period| Recurring::new("a station of `tdma` sends a heartbeat", period, stations);
            all.extend(start_up.heartbeat.map(beat));
        }
        all
    }
}

/// The standby master.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standby {
    /// Its synchronisation frames; the stream's talker is the standby.
    pub synchronisation: StreamIndex,
    /// How long after the start of a cycle it gives the master up.
    pub offset: Duration,
    /// How many frames of a living master it misses in a row at most; none: not limited.
    pub lost_in_a_row: Option<u32>,
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

impl OwnedSlot {
    /// Whether two slots share time in a cycle that both are used in.
    #[must_use]
    pub fn shares_time_with(&self, other: &Self) -> bool {
        let apart = self.slot.offset + self.length <= other.slot.offset
            || other.slot.offset + other.length <= self.slot.offset;
        let (mut a, mut b) = (self.slot.period, other.slot.period);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        !apart && self.slot.phase % a.max(1) == other.slot.phase % a.max(1)
    }
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
            // With a start-up it is measured by calibration.
            travel: if tdma.start_up.is_some() { Duration::ZERO } else { tdma.travel[node.index()] },
            limit: self.hosts[host.index()].queue_limit as usize,
            lifetime: tdma.lifetime,
        })
    }

    /// The same network with another cycle and other slots, which are ordered by offset.
    ///
    /// # Panics
    /// If there is no TDMA, slots share time or leave the cycle, or a stream has no slot that holds its frame.
    #[must_use]
    pub fn with_slots(&self, cycle: Duration, slots: Vec<OwnedSlot>) -> Self {
        let mut changed = self.clone();
        let tdma = changed.parts.tdma.as_mut().expect("slots are those of TDMA");
        let clash = |one: &OwnedSlot| slots.iter().any(|other| one != other && one.shares_time_with(other));
        assert!(slots.is_sorted_by_key(|slot| slot.slot.offset), "slots by offset");
        assert!(!slots.iter().any(clash), "no two slots share time");
        assert!(slots.iter().all(|slot| slot.slot.offset + slot.length <= cycle), "within the cycle");
        assert!(
            tdma.standby.is_none_or(|standby| standby.offset < cycle),
            "the standby's watch is in the cycle"
        );
        (tdma.cycle, tdma.slots) = (cycle, slots);
        let slots = tdma.slots.clone();
        for number in 0..changed.streams.len() {
            let carried = |slot: &&OwnedSlot| self.is_carried(slot, StreamIndex::at(number));
            let length = slots.iter().filter(carried).map(|slot| slot.length).min();
            let line = self.first_line(StreamIndex::at(number));
            let stream = &mut changed.parts.streams[number];
            let bits = wire_bits(stream.payload_max, stream.tagged);
            if let Traffic::Synchronisation { cycle: of } = &mut stream.traffic {
                *of = cycle;
                let rate =
                    BitRate::per_period_ceil(bits, cycle).expect("a cycle that holds slots holds a frame");
                stream.arrival = Some(ArrivalCurve { rate, burst: bits });
            } else if let Some(line) = line.filter(|_| stream.traffic != Traffic::Protocol) {
                assert!(length.is_some_and(|length| length >= line.duration_ceil(bits)), "{}", stream.name);
            }
        }
        changed
    }

    /// Whether a slot carries frames of a stream.
    #[must_use]
    pub fn is_carried(&self, slot: &OwnedSlot, stream: StreamIndex) -> bool {
        let other = if self.is_real_time(stream) { Carries::Ordinary } else { Carries::RealTime };
        slot.owner == self.streams[stream.index()].talker && slot.slot.carries != other
    }

    /// The rate of the line at a stream's talker.
    pub(crate) fn first_line(&self, stream: StreamIndex) -> Option<BitRate> {
        let hop = self.streams[stream.index()].hops.first()?;
        let links = self.ports[hop.port.index()].links?;
        Some(self.links[links.egress.index()].rate)
    }

    /// Whether a stream is real-time traffic of its TDMA station: all but those of priority 0.
    #[must_use]
    pub fn is_real_time(&self, stream: StreamIndex) -> bool {
        self.streams[stream.index()].priority.number() > 0
    }
}
