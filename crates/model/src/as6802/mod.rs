//! Synchronisation of a time-triggered network (SAE AS6802), resolved: the role of each node, the routes of its
//! frames, and the precision that follows.
//!
//! Nodes belong to clusters, mostly to a single one. Every synchronisation master and every compression master has a
//! stream of its protocol control frames: a master's goes to the compression masters of its cluster, a compression
//! master's to all other nodes and to the clusters of lower priority; bridges of other clusters receive the frames
//! that they forward. The deadline of these streams is what `max-transmission-delay` leaves, so a verification shows
//! whether frames are always accepted. Not here: the machines (`tautwire_core::as6802`), how the streams are made
//! (`resolve.rs`).
//!
//! [`Network::precision_bound`] is derived by hand, for a network in which a node that misses a cycle's frames is not
//! synchronised (one unstable cycle): all nodes are set by frames of the same compression. See
//! `docs/mechanisms/as6802.md`.

mod clusters;
pub(crate) mod codes;
pub mod containment;
pub(crate) mod language;
pub(crate) mod resolve;

use tautwire_core::Priority;
use tautwire_core::as6802::{CompressionConfig, MasterConfig, PartConfig, Thresholds};
use tautwire_core::policing::{Account, PolicingParameters};
use tautwire_units::{Bytes, Duration};

use crate::frame::{frame_length, wire_bits};
use crate::network::{Network, NodeIndex, NodeKind, Stream, StreamIndex, TimelineAction, Traffic};
use crate::virtual_link::least_bag;

/// The role of a node in the network time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncRole {
    /// A synchronisation master of this number, which is its bit of the membership.
    Master(u8),
    /// A compression master, the channel of this number.
    CompressionMaster(u8),
    /// Follows.
    Client,
}

/// A cluster: nodes of one synchronisation domain and priority, which keep one network time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncCluster {
    /// Its name.
    pub name: String,
    /// Synchronisation domain: frames of other domains are ignored.
    pub domain: u8,
    /// Synchronisation priority: in one domain nodes of the lower one follow the higher one.
    pub sync_priority: u8,
    /// Priority that determines the traffic class of protocol control frames at every port; they have no tag.
    pub priority: Priority,
    /// Greatest transmission delay: frames are made permanent by it, and later ones are not taken.
    pub delay_max: Duration,
    /// Synchronisation masters that may be faulty.
    pub faulty: u32,
    /// How long a node listens before it starts the network.
    pub listen_timeout: Duration,
    /// Distance of cold start frames of the first master; a cycle more of each further one.
    pub cold_start_timeout: Duration,
    /// From a cold start frame to its acknowledgement.
    pub cold_start_offset: Duration,
    /// How many synchronisation masters there are.
    pub masters: u32,
    /// How many compression masters there are.
    pub compression_masters: u32,
    /// Least number of members for synchronisation; by default more than half, so that no two cliques have them.
    pub members_min: u32,
}

/// Synchronisation of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Synchronisation {
    /// Clusters, in the order of the description; mostly one.
    pub clusters: Vec<SyncCluster>,
    /// Integration cycles after which all periods come again.
    pub cycles: u32,
    /// Per node: the place of its cluster.
    pub cluster_of: Vec<u16>,
    /// Per node.
    pub roles: Vec<SyncRole>,
    /// Per node: whether it is a command/monitor pair.
    pub high_integrity: Vec<bool>,
    /// Per node: the stream of the frames that it makes; none of a client.
    pub frames: Vec<Option<StreamIndex>>,
}

impl SyncCluster {
    /// From the first point at a compression master to the compressed one, windows of `precision`.
    #[must_use]
    pub fn compression_delay(&self, precision: Duration) -> Duration {
        precision * u64::from(self.faulty + 1)
    }

    /// From the start of a cycle to the look at its frames.
    #[must_use]
    pub fn evaluation(&self, precision: Duration) -> Duration {
        self.delay_max * 2 + self.compression_delay(precision) + precision * 2
    }

    /// Distance of the cold start frames of a master.
    #[must_use]
    pub fn cold_start_timeout_of(&self, number: u32, integration_cycle: Duration) -> Duration {
        self.cold_start_timeout + integration_cycle * u64::from(number)
    }
}

impl Synchronisation {
    /// The cluster of a node.
    #[must_use]
    pub fn cluster(&self, node: NodeIndex) -> &SyncCluster {
        &self.clusters[usize::from(self.cluster_of[node.index()])]
    }

    /// The indices of the clusters with a higher priority in the same domain, the highest first.
    #[must_use]
    pub fn above(&self, cluster: u16) -> Vec<u16> {
        let own = &self.clusters[usize::from(cluster)];
        let higher =
            |other: &SyncCluster| other.domain == own.domain && other.sync_priority > own.sync_priority;
        let mut above: Vec<u16> =
            (0..).zip(&self.clusters).filter(|(_, other)| higher(other)).map(|(place, _)| place).collect();
        above.sort_by_key(|place| std::cmp::Reverse(self.clusters[usize::from(*place)].sync_priority));
        above
    }

    /// The cluster whose time the nodes of a stream's way have in common: the highest of theirs. None if they
    /// are of several domains.
    #[must_use]
    pub fn cluster_of_way(&self, nodes: impl Iterator<Item = NodeIndex>) -> Option<u16> {
        let places = nodes.map(|node| self.cluster_of[node.index()]);
        let at = |place: u16| &self.clusters[usize::from(place)];
        places.map(Some).reduce(|one, other| {
            let (one, other) = (one?, other?);
            let same = at(one).domain == at(other).domain;
            let higher = if at(other).sync_priority > at(one).sync_priority { other } else { one };
            same.then_some(higher)
        })?
    }
}

/// Octets of the data of a protocol control frame, padded.
pub const PCF_PAYLOAD: Bytes = Bytes::new(46);

impl Network {
    /// Time after which network time counts from the beginning: all periods come again with it. None without
    /// synchronisation.
    #[must_use]
    pub fn cluster_cycle(&self) -> Option<Duration> {
        let synchronisation = self.as6802.as_ref()?;
        Some(self.time_triggered?.integration_cycle * u64::from(synchronisation.cycles))
    }

    /// A node's part in its cluster, and what it is as a client of the clusters above that, the highest first. None
    /// without synchronisation.
    #[must_use]
    pub fn synchronised_node(&self, node: NodeIndex) -> Option<(PartConfig, Vec<MasterConfig>)> {
        let synchronisation = self.as6802.as_ref()?;
        let own = synchronisation.cluster_of[node.index()];
        let above = synchronisation.above(own).into_iter();
        let above = above.filter_map(|place| self.member_of(place, None)).collect();
        let high_integrity = synchronisation.high_integrity[node.index()];
        let own_part =
            |number| self.member_of(own, number).map(|part| MasterConfig { high_integrity, ..part });
        let part = match synchronisation.roles[node.index()] {
            SyncRole::Master(number) => PartConfig::Master(own_part(Some(number))?),
            SyncRole::Client => PartConfig::Master(own_part(None)?),
            SyncRole::CompressionMaster(_) => PartConfig::Compression(self.compression_of(own)?),
        };
        Some((part, above))
    }

    /// The settings of the synchronisation master of this number in a cluster, or of a client.
    fn member_of(&self, cluster: u16, number: Option<u8>) -> Option<MasterConfig> {
        let (settings, synchronisation) = (self.time_triggered?, self.as6802.as_ref()?);
        let cluster = &synchronisation.clusters[usize::from(cluster)];
        let members = cluster.members_min;
        Some(MasterConfig {
            member: number.map(|number| 1 << number),
            domain: cluster.domain,
            priority: cluster.sync_priority,
            delay_max: cluster.delay_max,
            compression_delay: cluster.compression_delay(settings.precision),
            integration_cycle: settings.integration_cycle,
            cycles: synchronisation.cycles,
            acceptance: settings.precision,
            listen_timeout: cluster.listen_timeout,
            cold_start_timeout: cluster
                .cold_start_timeout_of(number.unwrap_or(0).into(), settings.integration_cycle),
            cold_start_offset: cluster.cold_start_offset,
            acknowledge_offset: cluster.delay_max,
            faulty: cluster.faulty,
            high_integrity: false,
            thresholds: Thresholds {
                to_sync: members,
                to_tentative: 1,
                stay: members,
                stable_cycles: 10,
                unstable_cycles: 1,
            },
        })
    }

    /// The settings of the compression masters of a cluster.
    fn compression_of(&self, cluster: u16) -> Option<CompressionConfig> {
        let (settings, synchronisation) = (self.time_triggered?, self.as6802.as_ref()?);
        let cluster = &synchronisation.clusters[usize::from(cluster)];
        Some(CompressionConfig {
            domain: cluster.domain,
            priority: cluster.sync_priority,
            delay_max: cluster.delay_max,
            window: settings.precision,
            faulty: cluster.faulty,
            integration_cycle: settings.integration_cycle,
            cycles: synchronisation.cycles,
            members_min: cluster.members_min,
        })
    }

    /// The cluster whose time a time-triggered link follows if its nodes are of several; none if they are of one, or
    /// without synchronisation.
    #[must_use]
    pub fn cluster_of_link(&self, stream: &Stream) -> Option<u16> {
        let synchronisation = self.as6802.as_ref().filter(|made| made.clusters.len() > 1)?;
        stream.time_triggered.as_ref()?;
        let first = synchronisation.cluster_of[stream.talker.index()];
        let nodes = || self.nodes_of(stream);
        let several = nodes().any(|node| synchronisation.cluster_of[node.index()] != first);
        synchronisation.cluster_of_way(nodes()).filter(|_| several)
    }

    /// Talker, bridges and listeners of a stream.
    pub(crate) fn nodes_of<'a>(&'a self, stream: &'a Stream) -> impl Iterator<Item = NodeIndex> + 'a {
        let senders = stream.hops.iter().map(|hop| self.ports[hop.port.index()].node);
        senders.chain(stream.listeners.iter().copied())
    }

    /// The policing of a master's protocol control frames, of either kind, by the switch next to it; none of other
    /// streams and hops. A master sends no more, and frames that were in transit for longer than the greatest
    /// transmission delay are not accepted anyway.
    pub(crate) fn control_frame_policing(&self, stream: &Stream, hop: usize) -> Option<PolicingParameters> {
        let synchronisation = self.as6802.as_ref()?;
        let at = &stream.hops[hop];
        if synchronisation.roles[stream.talker.index()] == SyncRole::Client
            || stream.traffic != Traffic::Protocol
            || at.previous.is_some()
        {
            return None;
        }
        let cable = self.ports[at.port.index()].links?.egress;
        let bridge = self.ports[self.links[cable.index()].to.index()].node;
        if !matches!(self.nodes[bridge.index()].kind, NodeKind::Bridge { .. }) {
            return None;
        }
        let curve = stream.arrival?;
        let frame = wire_bits(PCF_PAYLOAD, false);
        let gap = curve.rate.duration_floor(frame);
        let frames = curve.burst.get() / frame.get();
        let delay_max = synchronisation.cluster(stream.talker).delay_max;
        let octets = frame_length(PCF_PAYLOAD, false).get();
        Some(PolicingParameters {
            bag: least_bag(self, gap, stream.talker, bridge),
            jitter: gap * (frames - 1) + delay_max,
            account: Account::Frames,
            octets_min: octets,
            octets_max: octets,
        })
    }

    /// The most by which the network times of two nodes that follow one cluster may differ, in any cluster; none
    /// without synchronisation by protocol control frames.
    #[must_use]
    pub fn precision_bound(&self) -> Option<Duration> {
        self.clusters().filter_map(|cluster| self.precision_bound_of(cluster)).max()
    }

    /// The places of all clusters.
    pub fn clusters(&self) -> impl Iterator<Item = u16> + use<> {
        0..self.as6802.as_ref().map_or(0, |made| u16::try_from(made.clusters.len()).expect("few"))
    }

    /// The most by which the network times of two nodes that follow a cluster may differ; none if a fault of it is not
    /// contained.
    #[must_use]
    pub fn precision_bound_of(&self, cluster: u16) -> Option<Duration> {
        let settings = self.time_triggered?;
        if self.uncontained(cluster).is_some() {
            return None;
        }
        let parts = self.precision_parts(cluster)?;
        let PrecisionParts { drift, error, compression, step, channels } = parts;
        let cluster = &self.as6802.as_ref()?.clusters[usize::from(cluster)];
        let delay = cluster.delay_max.as_ps();
        let compressed = cluster.compression_delay(settings.precision).as_ps();
        let acceptance = settings.precision.as_ps();
        // From the frame that set a clock to the next one that does: a cycle, and all that a frame may be late.
        let span = settings.integration_cycle.as_ps() + 2 * delay + compressed + 6 * acceptance;
        let (apart, between) = match channels {
            Channels::One => (2 * error + 2 * drift(span) + 4 * step, 0),
            Channels::Equal => {
                (4 * error + 2 * compression + 2 * drift(span) + 4 * step, 2 * error + 2 * compression)
            }
            // Averages without and with one master are half of the masters' distance apart.
            Channels::OneMissing => {
                let apart = 2 * (4 * error + 2 * compression + 2 * drift(span) + 4 * step);
                (apart, apart / 2 + 2 * error + 2 * compression)
            }
        };
        // What a node is set by: how far the masters are apart, and both ways of their frames.
        let set_by = apart + 2 * error + compression + 2 * drift(2 * delay + compressed) + 2 * step;
        // One node is synchronised already, the other is not yet.
        let most = set_by + 2 * error + between + 2 * drift(6 * acceptance + delay) + 2 * step;
        Some(Duration::from_ps(most))
    }

    /// The longest that synchronisation of all takes from when all masters, compression masters and links work, by
    /// the slowest clock.
    #[must_use]
    pub fn resynchronisation_max(&self) -> Option<Duration> {
        self.clusters().filter_map(|cluster| self.resynchronisation_max_of(cluster)).max()
    }

    /// The longest time until the nodes of a cluster are synchronised: two cycles until cliques are detected,
    /// listening, a cold start that collides with others once, its acknowledgement and the first cycles. For a cluster
    /// that follows another one: the time until the cluster above is synchronised, two cycles without network time,
    /// one for the first frame and one for its evaluation.
    #[must_use]
    pub fn resynchronisation_max_of(&self, cluster: u16) -> Option<Duration> {
        let settings = self.time_triggered?;
        let synchronisation = self.as6802.as_ref()?;
        let cycle = settings.integration_cycle;
        let start = |place: u16| {
            let cluster = &synchronisation.clusters[usize::from(place)];
            let cold_start = cluster.cold_start_timeout_of(cluster.masters, cycle);
            cluster.listen_timeout
                + cold_start * 2
                + cluster.cold_start_offset * 2
                + cluster.evaluation(settings.precision) * 5
                + cycle * 6
        };
        let above = synchronisation.above(cluster).into_iter();
        let above = above.map(|place| start(place) + cycle * 4).max();
        let all = start(cluster).max(above.unwrap_or_default());
        Some(all.stretched_ceil(self.worst_ppb()))
    }

    /// How much of the greatest transmission delay is left to a frame when clocks are off, in any cluster.
    #[must_use]
    pub fn transmission_deadline(&self) -> Option<Duration> {
        self.clusters().filter_map(|cluster| self.transmission_deadline_of(cluster)).min()
    }

    /// How much of the greatest transmission delay of a cluster is left to a frame when clocks are off.
    #[must_use]
    pub fn transmission_deadline_of(&self, cluster: u16) -> Option<Duration> {
        let delay = self.as6802.as_ref()?.clusters[usize::from(cluster)].delay_max;
        Some(Duration::from_ps(delay.as_ps().saturating_sub(self.precision_parts(cluster)?.error)))
    }

    fn worst_ppb(&self) -> u64 {
        self.nodes.iter().map(|node| u64::from(node.clock.tolerance_ppb)).max().unwrap_or(0)
    }

    fn precision_parts(&self, place: u16) -> Option<PrecisionParts<impl Fn(u64) -> u64 + use<>>> {
        let settings = self.time_triggered?;
        let synchronisation = self.as6802.as_ref()?;
        let cluster = &synchronisation.clusters[usize::from(place)];
        let worst = u128::from(self.worst_ppb());
        // Of a span on a clock, in true time: rounded up, and some for the product of two deviations.
        let ppb = worst + (worst * worst).div_ceil(1_000_000_000 - worst.min(999_999_999));
        let drift = move |ps: u64| {
            u64::try_from((u128::from(ps) * ppb).div_ceil(1_000_000_000)).expect("less than the span")
        };
        let step = self.nodes.iter().map(|node| node.clock.granularity.as_ps()).max().unwrap_or(0).max(1);
        let phy = self.links.iter().map(|link| (link.phy_delay.max - link.phy_delay.min).as_ps());
        let depth = |stream: &StreamIndex| {
            let hops = &self.streams[stream.index()].hops;
            let mut depths: Vec<u64> = Vec::with_capacity(hops.len());
            for hop in hops {
                depths.push(1 + hop.previous.map_or(0, |previous| depths[previous as usize]));
            }
            depths.into_iter().max().unwrap_or(0)
        };
        let own = synchronisation.frames.iter().zip(&synchronisation.cluster_of);
        let own = own.filter(|(_, of)| **of == place).filter_map(|(stream, _)| stream.as_ref());
        let hops = own.map(depth).max().unwrap_or(0);
        let compressed = cluster.compression_delay(settings.precision).as_ps();
        Some(PrecisionParts {
            // Every node reads its clock twice; the delay of the cable is known, except for the variation of the PHYs.
            error: drift(cluster.delay_max.as_ps())
                + hops * (2 * step + phy.max().unwrap_or(0) + 4)
                + 2 * step
                + 8,
            compression: 2 * drift(compressed) + 4 * step + 8,
            step,
            channels: match cluster.compression_masters {
                0 | 1 => Channels::One,
                _ if self.may_lose_frames() => Channels::OneMissing,
                _ => Channels::Equal,
            },
            drift,
        })
    }

    /// Whether a frame may be lost by what the description lets fail.
    #[must_use]
    pub fn may_lose_frames(&self) -> bool {
        let fails = |action: &TimelineAction| {
            matches!(
                action,
                TimelineAction::CutCable(_)
                    | TimelineAction::StopNode(_)
                    | TimelineAction::ChangeBitErrorRate(..)
                    | TimelineAction::Babble(..)
                    | TimelineAction::Mistime(..)
            )
        };
        self.links.iter().any(|link| link.bit_error_rate > 0 || !link.up)
            || self.events.iter().any(|event| fails(&event.action))
    }
}

/// The compression masters whose frames nodes follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Channels {
    /// A single compression master.
    One,
    /// Of several compression masters that receive the same masters' frames.
    Equal,
    /// Of several, of which one may miss a master whose frames the others receive.
    OneMissing,
}

/// The parts of the precision, picoseconds.
struct PrecisionParts<D> {
    /// How far a clock is off after a span.
    drift: D,
    /// The error of a frame's permanence point.
    error: u64,
    /// The error of a compressed frame.
    compression: u64,
    /// A step of the clock.
    step: u64,
    channels: Channels,
}
