//! Streams: talker, listeners, frames, way, promises.

use tautwire_core::{Priority, TrafficClass};
use tautwire_units::{BitRate, Bits, Bytes, Duration};
use tautwire_wire::{Ipv4Address, MacAddress, VlanId};

use super::{NodeIndex, PortIndex, SchedulerIndex, Traffic};
use crate::datagram::Datagrams;
use crate::frame::Tags;
use crate::frer::FrameReplication;
use crate::gates::TimeAware;
use crate::identification::Identified;
use crate::time_triggered::TimeTriggeredLink;
use crate::virtual_link::VirtualLink;

/// A stream: one talker, its listeners, its traffic and its way.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// Unique name.
    pub name: String,
    /// The talker.
    pub talker: NodeIndex,
    /// The listeners, in order.
    pub listeners: Vec<NodeIndex>,
    /// Destination address.
    pub destination: MacAddress,
    /// Source address: that of the talker's port, or of the trace from which it is taken.
    pub source: MacAddress,
    /// VLAN in which it travels.
    pub vlan: VlanId,
    /// Whether the talker tags it.
    pub tagged: bool,
    /// Priority given by the talker.
    pub priority: Priority,
    /// IPv4 and UDP header, if it has one.
    pub udp: Option<UdpFlow>,
    /// Smallest MAC client data that it ever sends, before padding.
    pub payload_min: Bytes,
    /// Largest MAC client data that it ever sends.
    pub payload_max: Bytes,
    /// Least and most MAC client data of the frames whose size its traffic does not determine: a run draws each
    /// uniformly. None: the range from `payload_min` to `payload_max`. The range is smaller where a trace or the end
    /// of a file has frames of other sizes.
    pub payload_drawn: Option<(Bytes, Bytes)>,
    /// When its frames come.
    pub traffic: Traffic,
    /// Requirements on the offset of its traffic, if a schedule may choose it.
    pub time_aware: Option<TimeAware>,
    /// Whether the description does not determine when its traffic begins: a stream of periodic frames or of a rate
    /// states no offset, or a phase that is drawn. A run without choices begins at once, or draws. Never of
    /// streams that are forwarded in cycles: their place in one is part of what they promise.
    pub open_phase: bool,
    /// What its talker promises at most, from its traffic or as stated; none: nothing is promised.
    pub arrival: Option<ArrivalCurve>,
    /// Deadline from talker MAC to listener MAC, last bit; none: no requirement.
    pub deadline: Option<Duration>,
    /// Further spans for which a run counts the frames that are later; they are no requirement.
    pub count_late: Vec<Duration>,
    /// What the ATS schedulers and the talker's own shaper hold it to.
    pub shaper: Option<ShaperSettings>,
    /// Whether the talker shapes it, by [`Stream::shaper`], before its class (802.1Q-2022 34.6.1).
    pub shaped_at_talker: bool,
    /// Whether it runs from the start.
    pub started: bool,
    /// Its tree; a hop comes after the hop before it. For learned forwarding: its VLAN flooded.
    pub hops: Vec<Hop>,
    /// Whether bridges find its way by learning instead of by this tree.
    pub learned: bool,
    /// Its parameters as a virtual link of ARINC 664 part 7, if it is one. Over both networks its tree has two roots:
    /// the talker's first port, and its second.
    pub virtual_link: Option<VirtualLink>,
    /// When it is sent as a time-triggered virtual link, if it is one.
    pub time_triggered: Option<TimeTriggeredLink>,
    /// How copies of its frames go over several paths, if they do.
    pub replication: Option<Box<FrameReplication>>,
    /// Name of the protocol stack that it uses at its stations; the first of a host that has none of this
    /// name. See [`HostStacks::stack_of`](super::HostStacks::stack_of).
    pub stack: Option<String>,
    /// How its datagrams are cut, if each makes several frames: those of one are created at once.
    pub datagrams: Option<Datagrams>,
}

impl Stream {
    /// Least and most MAC client data of the frames whose size its traffic leaves open.
    #[must_use]
    pub fn drawn(&self) -> (Bytes, Bytes) {
        self.payload_drawn.unwrap_or((self.payload_min, self.payload_max))
    }

    /// Whether a hop is the first of those that are one passage: frames behind a recovery function take one of them.
    #[must_use]
    pub fn is_own_passage(&self, hop: usize) -> bool {
        self.replication.as_deref().is_none_or(|replication| replication.merged[hop] as usize == hop)
    }

    /// Frames that the talker of a periodic stream declares for a class measurement interval (802.1Q-2022,
    /// 35.2.2.8.4): as many as may come in it. None for other traffic, whose number is not known.
    #[must_use]
    pub fn interval_frames(&self, interval: Duration) -> Option<u64> {
        let Traffic::Periodic { interval: period, jitter, burst, .. } = self.traffic else { return None };
        let frames = interval.as_ps().div_ceil(period.as_ps().max(1)) + u64::from(!jitter.is_zero());
        Some(frames.saturating_mul(u64::from(burst)))
    }
}

/// IPv4 and UDP addresses of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpFlow {
    /// Source address.
    pub source: Ipv4Address,
    /// Destination address.
    pub destination: Ipv4Address,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Differentiated services code point of the IPv4 header, 0 to 63.
    pub dscp: u8,
}

impl UdpFlow {
    /// Whether addresses and ports are the same.
    #[must_use]
    pub fn is_alike(&self, other: Self) -> bool {
        Self { dscp: 0, ..*self } == Self { dscp: 0, ..other }
    }
}

/// The passage of a stream through one egress port and the link behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Egress port.
    pub port: PortIndex,
    /// The hop before, as an index of the stream's hops; none at the talker.
    pub previous: Option<u32>,
    /// Traffic class at this port.
    pub class: TrafficClass,
    /// Priority on the wire behind this port.
    pub priority: Priority,
    /// With what tags the frame is on the wire behind this port.
    pub tagged: Tags,
    /// What active stream identification wrote into frames that are on the wire behind this port, if it did.
    pub written: Option<Written>,
    /// Which listener (index of the stream's listeners) is at the end of the link, if one is.
    pub listener: Option<u32>,
    /// The ATS scheduler instance before this port, if its class is ATS.
    pub scheduler: Option<SchedulerIndex>,
    /// Of which stream the stream filters of the node at the end of the link take the frame.
    pub identified: Identified,
}

/// What active destination MAC and VLAN stream identification writes into a frame (802.1CB-2017, 6.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Destination address; none: that of the stream.
    pub destination: Option<MacAddress>,
    /// VLAN.
    pub vlan: VlanId,
}

/// A token bucket over bits of the wire (media overhead included), as the talker's host hands
/// frames to its port, at a perfect clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivalCurve {
    /// Rate.
    pub rate: BitRate,
    /// Burst.
    pub burst: Bits,
}

/// Parameters of a stream's shapers, in charged bits (see [`super::AtsDevice::charged_overhead`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShaperSettings {
    /// CommittedInformationRate.
    pub committed_information_rate: BitRate,
    /// CommittedBurstSize.
    pub committed_burst_size: Bits,
}
