//! The network in the form of the event loop: flat tables, looked up by index, made once.
//!
//! A frame carries the index of its hop; everything at the next node depends on that. Where a bridge forwards a frame
//! to several ports, the hops after it are [`Branch`]es: those of one branch pass the same device stages and reach
//! their queues at the same instant.

use tautwire_model::network::{
    Delay, NodeKind, SelectionAlgorithm, Stage, StagePosition, Stream, StreamIndex, Traffic,
};
use tautwire_model::{HEADER_AND_FCS, Network};

use crate::frame::Aim;

/// "None" for the indices of this module.
pub(crate) const NONE: u32 = u32::MAX;

/// The passage of a stream through an egress port, and what follows: half a cache line, so that the next hop often is
/// in the line that is already loaded.
#[derive(Clone, Debug)]
#[repr(C, align(32))]
pub(crate) struct HopPlan {
    /// Egress port, and with it the link behind it.
    pub(crate) port: u32,
    /// Scheduler of the node's bank, or [`NONE`].
    pub(crate) scheduler: u32,
    /// The recipient of the frame at the far end.
    pub(crate) taker: Taker,
    /// The only hop behind the bridge at the far end, if there is one only, or [`NONE`].
    pub(crate) next: u32,
    /// Port of that hop.
    pub(crate) next_port: u32,
    /// Stages before that hop's queue, as in its branch.
    pub(crate) profile: u16,
    /// As in its branch.
    pub(crate) cut_through: u16,
    /// Lane of the class's queues.
    pub(crate) lane: u16,
    /// Traffic class at the port.
    pub(crate) class: u8,
    /// Class at the next hop.
    pub(crate) next_class: u8,
    /// Octets of the frame in addition to its payload.
    pub(crate) overhead: u8,
    /// What is done to the frame in addition to queueing.
    pub(crate) flags: HopFlags,
}

const _: () = assert!(size_of::<HopPlan>() == 32, "half a cache line");

/// The recipient of a frame at the far end of a hop, in four octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taker(u32);

/// The same, as a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// By a listener, as it comes.
    Listener(u32),
    /// By a redundancy manager, or by none: none, or the number of its reception.
    Otherwise(Option<u32>),
}

impl Taker {
    /// Of a hop whose far end is no listener.
    pub(crate) const NOBODY: Self = Self(u32::MAX);
    const MANAGED: u32 = 1 << 31;

    /// A listener, by its number within the stream.
    pub(crate) fn listener(number: u32) -> Self {
        assert!(number < Self::MANAGED, "fewer than 2^31 listeners");
        Self(number)
    }

    /// A reception that a redundancy manager looks at.
    pub(crate) fn reception(number: u32) -> Self {
        assert!(number < Self::MANAGED - 1, "fewer than 2^31 receptions");
        Self(number | Self::MANAGED)
    }

    /// The recipient.
    #[inline]
    pub(crate) fn who(self) -> Taken {
        if self.0 < Self::MANAGED {
            return Taken::Listener(self.0);
        }
        Taken::Otherwise((self != Self::NOBODY).then_some(self.0 ^ Self::MANAGED))
    }
}

/// What is done to frames of a hop in addition to queueing; nothing at most hops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HopFlags(u8);

impl HopFlags {
    /// The bridge at the far end looks at the frame before anything else: it filters its VLAN, or polices its
    /// virtual link.
    pub(crate) const INSPECTED: Self = Self(1);
    /// It waits for a dispatch point at the port.
    pub(crate) const TIME_TRIGGERED: Self = Self(2);
    /// It waits in a pool of its bridge until a mechanism lets it go (`control/plane/pooling.rs`). Set in a run.
    pub(crate) const POOLED: Self = Self(4);
    /// Its port is shut to its frames, or was (`control/plane/filtering.rs`). Set in a run.
    pub(crate) const SHUT: Self = Self(8);
    /// Its port takes none of its frames: the stream was granted to others alone. Changes in a run.
    pub(crate) const PRUNED: Self = Self(32);
    /// The node at the far end is asked what becomes of the frame when its last bit is in (`reception.rs`). Set in a run.
    pub(crate) const ASKED: Self = Self(16);
    /// The frame may carry marks that count at its port (`reception.rs`). Set in a run.
    pub(crate) const MARKED: Self = Self(64);
    /// Its node may send it again (`frer/repeats.rs`). Set in a run.
    pub(crate) const REPEATED: Self = Self(128);
    /// Those that are tested before a frame is queued.
    pub(crate) const BEFORE_QUEUEING: Self = Self(
        Self::TIME_TRIGGERED.0
            | Self::POOLED.0
            | Self::SHUT.0
            | Self::PRUNED.0
            | Self::MARKED.0
            | Self::REPEATED.0,
    );

    /// Whether it has one of `others`.
    pub(crate) const fn has(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Adds `other`, or takes it away.
    pub(crate) const fn set(&mut self, other: Self, so: bool) {
        self.0 = if so { self.0 | other.0 } else { self.0 & !other.0 };
    }

    /// Adds `other`, if so.
    pub(crate) fn add(&mut self, other: Self, so: bool) {
        self.0 |= if so { other.0 } else { 0 };
    }
}

/// Hops behind a node that a frame reaches through the same stages.
#[derive(Clone, Debug)]
#[repr(align(16))]
pub(crate) struct Branch {
    /// `first..end` of [`Plan::children`].
    pub(crate) children: (u32, u32),
    /// Stages before the queues, an index of [`Plan::profiles`].
    pub(crate) profile: u16,
    /// Traffic class, for the order of frames in the stages.
    pub(crate) class: u8,
    /// Octets that must be received before the stages begin; 0 for the full frame.
    pub(crate) cut_through: u16,
}

/// Stages that frames of one selection pass in one device, before its queues.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Profile {
    /// Before the arrival is recognised.
    pub(crate) reception: Vec<StagePlan>,
    /// Between arrival and the queues.
    pub(crate) processing: Vec<StagePlan>,
}

/// A stage and the index of its state.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StagePlan {
    /// Number of the stage within the device, for its state.
    pub(crate) number: u32,
    pub(crate) latency: Delay,
    /// None where it takes no time.
    pub(crate) occupancy: Option<Delay>,
}

/// The tables.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) hops: Vec<HopPlan>,
    /// Per hop whether the port at its far end drops the frame: it is no member of the VLAN and filters.
    pub(crate) filtered: Vec<bool>,
    /// Per hop what a bridge at its far end does: `first..end` of `branches`.
    pub(crate) branches_behind: Vec<(u32, u32)>,
    pub(crate) branches: Vec<Branch>,
    pub(crate) children: Vec<u32>,
    pub(crate) profiles: Vec<Profile>,
    /// First hop of each stream; one more than there are streams.
    pub(crate) first_hop: Vec<u32>,
    /// What each talker's host does: an index of `branches`, per stream.
    pub(crate) talker_branch: Vec<u32>,
    /// Stages behind the selection, per node.
    pub(crate) transmission: Vec<Vec<StagePlan>>,
    /// Device stages per node, for the size of their state.
    pub(crate) stage_count: Vec<u32>,
    /// Whether a stream finds its way by learning.
    pub(crate) learned: Vec<bool>,
}

impl Plan {
    pub(crate) fn new(network: &Network) -> Self {
        let hop_count = network.streams.iter().map(|stream| stream.hops.len()).sum();
        let mut plan = Self {
            hops: Vec::with_capacity(hop_count),
            filtered: Vec::with_capacity(hop_count),
            branches_behind: Vec::with_capacity(hop_count),
            branches: Vec::with_capacity(hop_count),
            children: Vec::with_capacity(hop_count),
            // The first profile has no stages: end stations, and devices that have none.
            profiles: vec![Profile::default()],
            first_hop: Vec::with_capacity(network.streams.len() + 1),
            talker_branch: Vec::with_capacity(network.streams.len()),
            transmission: Vec::with_capacity(network.nodes.len()),
            stage_count: Vec::with_capacity(network.nodes.len()),
            learned: network.streams.iter().map(|stream| stream.learned).collect(),
        };
        // Per device and selection, its profile.
        let mut profile_of = Vec::with_capacity(network.devices.len() * 3);
        for device in &network.devices {
            for algorithm in
                [SelectionAlgorithm::StrictPriority, SelectionAlgorithm::CreditBased, SelectionAlgorithm::Ats]
            {
                let at = |position| stages(&device.stages, position, algorithm);
                let profile = Profile {
                    reception: at(StagePosition::Reception),
                    processing: at(StagePosition::Processing),
                };
                profile_of.push(plan.intern(profile));
            }
        }
        for node in &network.nodes {
            let (transmission, count) = match &node.kind {
                NodeKind::Bridge { device, .. } => {
                    let all = &network.devices[device.index()].stages;
                    let only = all
                        .iter()
                        .enumerate()
                        .filter(|(_, stage)| stage.position == StagePosition::Transmission);
                    (only.map(|(number, stage)| plan_of(number, stage)).collect(), all.len())
                }
                NodeKind::EndStation { .. } => (Vec::new(), 0),
            };
            plan.transmission.push(transmission);
            plan.stage_count.push(index(count));
        }
        for stream in &network.streams {
            plan.add_stream(network, stream, &profile_of);
        }
        plan.first_hop.push(index(plan.hops.len()));
        plan
    }

    /// Where a talker's host sends the frames of a stream; none if nowhere.
    pub(crate) fn talker_aim(&self, stream: usize) -> Option<Aim> {
        let number = self.talker_branch[stream];
        let branch = self.branches.get(number as usize)?;
        let children = &self.children[branch.children.0 as usize..branch.children.1 as usize];
        match children {
            [] => None,
            [hop] => Some(Aim::hop(*hop)),
            _ => Some(Aim::branch(number)),
        }
    }

    fn intern(&mut self, profile: Profile) -> u16 {
        let found = self.profiles.iter().position(|known| *known == profile);
        let number = found.unwrap_or_else(|| {
            self.profiles.push(profile);
            self.profiles.len() - 1
        });
        u16::try_from(number).expect("fewer than 2^16 ways through devices")
    }

    fn add_stream(&mut self, network: &Network, stream: &Stream, profile_of: &[u16]) {
        let first = index(self.hops.len());
        self.first_hop.push(first);
        let mut behind: Vec<Vec<u32>> = vec![Vec::new(); stream.hops.len()];
        let mut roots = Vec::new();
        for (number, hop) in stream.hops.iter().enumerate() {
            match hop.previous {
                Some(previous) => behind[previous as usize].push(index(number)),
                None => roots.push(index(number)),
            }
        }
        self.talker_branch.push(index(self.branches.len()));
        self.add_branches(network, stream, first, None, &roots, profile_of);
        // An end station has one profile: all its first hops are one branch.
        for (number, hop) in stream.hops.iter().enumerate() {
            let branches = index(self.branches.len());
            self.add_branches(network, stream, first, Some(number), &behind[number], profile_of);
            let only = match &self.branches[branches as usize..] {
                [branch] if branch.children.1 - branch.children.0 == 1 => Some(branch),
                _ => None,
            };
            let next = only.map_or(NONE, |branch| self.children[branch.children.0 as usize]);
            let port_of = |hop: u32| stream.hops[(hop - first) as usize].port.0;
            let filtered = is_filtered(network, stream, number);
            let mut flags = HopFlags::default();
            flags.add(HopFlags::INSPECTED, filtered);
            flags.add(HopFlags::TIME_TRIGGERED, stream.time_triggered.is_some());
            self.hops.push(HopPlan {
                next,
                next_port: if next == NONE { NONE } else { port_of(next) },
                profile: only.map_or(0, |branch| branch.profile),
                cut_through: only.map_or(0, |branch| branch.cut_through),
                next_class: only.map_or(0, |branch| branch.class),
                port: hop.port.0,
                lane: network
                    .server_of(StreamIndex::at(self.first_hop.len() - 1), hop.port)
                    .unwrap_or_else(|| network.lane(stream, number)),
                class: hop.class.number(),
                overhead: u8::try_from((HEADER_AND_FCS + hop.tagged.octets()).get()).expect("few tags"),
                scheduler: hop.scheduler.map_or(NONE, |scheduler| scheduler.0),
                taker: hop.listener.map_or(Taker::NOBODY, Taker::listener),
                flags,
            });
            self.filtered.push(filtered);
            self.branches_behind.push((branches, index(self.branches.len())));
        }
    }

    /// Groups the hops behind `upstream` into branches.
    fn add_branches(
        &mut self,
        network: &Network,
        stream: &Stream,
        first_hop: u32,
        upstream: Option<usize>,
        behind: &[u32],
        profile_of: &[u16],
    ) {
        let from = self.branches.len();
        let mut keys: Vec<(u16, u8, u16)> = Vec::new();
        let key_of = |hop: u32| {
            let place = hop as usize;
            let hop = &stream.hops[place];
            let port = &network.ports[hop.port.index()];
            let NodeKind::Bridge { device, .. } = &network.nodes[port.node.index()].kind else {
                return (0, 0, 0);
            };
            let selection = port.classes[hop.class.index()].selection;
            let profile = profile_of[device.index() * 3 + selection.algorithm() as usize];
            let header = network.cut_through(stream, place).map_or(0, |header| header.get());
            let cut_through = u16::try_from(header).expect("a header is short");
            (profile, hop.class.number(), cut_through)
        };
        for hop in behind {
            let key = key_of(*hop);
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        for (profile, class, cut_through) in keys {
            let start = index(self.children.len());
            let same = behind.iter().filter(|hop| key_of(**hop) == (profile, class, cut_through));
            self.children.extend(same.map(|hop| first_hop + hop));
            let children = (start, index(self.children.len()));
            self.branches.push(Branch { children, profile, class, cut_through });
        }
        debug_assert!(upstream.is_some() || self.branches.len() - from <= 1);
    }
}

/// Whether the port at the end of a hop's link drops what comes of the stream (802.1Q-2022 8.6.2).
fn is_filtered(network: &Network, stream: &Stream, hop: usize) -> bool {
    let link = network.ports[stream.hops[hop].port.index()].links.expect("a hop's port is connected");
    let port = network.links[link.egress.index()].to;
    let is_bridge = network.device(network.ports[port.index()].node).is_some();
    // Frames of control protocols are for the port itself.
    let is_data = stream.traffic != Traffic::Protocol;
    is_bridge && is_data && network.ports[port.index()].ingress_filtering && {
        let own = stream.vlan_at(&stream.hops[hop]);
        let vlan = network.vlans.iter().find(|vlan| vlan.id == own);
        vlan.is_none_or(|vlan| !vlan.members.iter().any(|member| member.port == port))
    }
}

fn stages(all: &[Stage], position: StagePosition, algorithm: SelectionAlgorithm) -> Vec<StagePlan> {
    all.iter()
        .enumerate()
        .filter(|(_, stage)| stage.position == position)
        .filter(|(_, stage)| stage.only_for.is_none_or(|only| only == algorithm))
        .map(|(number, stage)| plan_of(number, stage))
        .collect()
}

fn plan_of(number: usize, stage: &Stage) -> StagePlan {
    let occupancy = Some(stage.occupancy).filter(|occupancy| *occupancy != Delay::default());
    StagePlan { number: index(number), latency: stage.latency, occupancy }
}

/// An index as it is stored.
pub(crate) fn index(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 elements")
}
