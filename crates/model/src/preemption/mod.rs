//! Frame preemption of ports, resolved (IEEE Std 802.1Q-2022, 6.7.2 and 12.30; IEEE Std 802.3-2022, clause 99 and 30.14).
//!
//! The machine is `core`'s (`preemption/`); here is what a port has of it. A link that is up when a run begins is taken to have been up for long, unless a
//! port states otherwise, so what a verification finds is known then; one that comes up in the run is verified in it. Not here: what bounds make of it.

pub(crate) mod check;
pub(crate) mod codes;
pub(crate) mod language;
mod overrun;
pub(crate) mod resolve;

use tautwire_core::TrafficClass;
use tautwire_core::gates::HoldAdvances;
pub use tautwire_core::preemption::AddFragSize;
use tautwire_core::preemption::{PreemptionConfig, VERIFY_TIME};
use tautwire_units::{Bytes, Duration};

use crate::blocks::Block;
use crate::network::{Link, Network, Port, PortIndex, TimelineAction};

/// What the description's stages know of it.
pub(crate) static BLOCK: Block = Block {
    name: "frame preemption",
    is_in: |network| network.ports.iter().any(|port| port.preemption.is_some()),
    port_keys: &["frame-preemption-parameters"],
    words: &[
        "frame-preemption-parameters",
        "preemption",
        "preempt",
        "preemptable",
        "pre-emption",
        "frame-preemption",
        "express",
        "mac-merge",
        "frame-preemption-status-table",
        "add-frag-size",
    ],
    place: "frame preemption is under `frame-preemption-parameters` of a port, a node, a device or the defaults",
    check: check::check,
};

/// What a port states of frame preemption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortPreemption {
    /// Bit *n*: frames of priority *n* are preemptable.
    pub priorities: u8,
    /// Whether it preempts.
    pub enabled: bool,
    /// Whether it has a MAC merge sublayer.
    pub supported: bool,
    /// Fewest octets of its fragments.
    pub add_frag_size: AddFragSize,
    /// How long before a hold its MAC gets the request; none: as long as it may need.
    pub hold_advance: Option<Duration>,
    /// How long after a release it goes on.
    pub release_advance: Duration,
    /// Whether it preempts without verification.
    pub verify_disabled: bool,
    /// How long it waits for a response.
    pub verify_time: Duration,
    /// Whether it verifies when the run begins.
    pub verify_at_start: bool,
}

/// What a port does of verification in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortVerification {
    /// It verifies the other end of its link; an attempt takes so long.
    pub verifies: Option<Duration>,
    /// It does so when the run begins, too.
    pub at_start: bool,
    /// The other end may verify it, and it responds.
    pub responds: bool,
}

impl PortPreemption {
    /// Of a port that states nothing of it.
    pub(crate) const NOTHING: Self = Self {
        priorities: 0,
        enabled: true,
        supported: true,
        add_frag_size: match AddFragSize::new(0) {
            Some(size) => size,
            None => unreachable!(),
        },
        hold_advance: None,
        release_advance: Duration::ZERO,
        verify_disabled: false,
        verify_time: VERIFY_TIME,
        verify_at_start: false,
    };
}

impl Port {
    /// Bit *n*: class *n* is preemptable, as its priorities are; of a port that is to preempt.
    #[must_use]
    pub fn preemptable_classes(&self) -> u8 {
        let Some(stated) = self.preemption.filter(|stated| stated.enabled && stated.supported) else {
            return 0;
        };
        TrafficClass::all()
            .filter(|class| self.statuses(&stated, *class) == (true, false))
            .fold(0, |all, class| all | 1 << class.number())
    }

    /// Whether priorities of a class are preemptable, and whether some are express.
    fn statuses(&self, stated: &PortPreemption, class: TrafficClass) -> (bool, bool) {
        let of_class = tautwire_core::Priority::all()
            .filter(|priority| self.class_table.class_of(*priority, true) == class)
            .map(|priority| stated.priorities >> priority.number() & 1 == 1);
        of_class.fold((false, false), |(some, others), is| (some || is, others || !is))
    }
}

/// Whether classes of `used` go before each other by preemption as they do without it: express ones are above all preemptable ones.
#[must_use]
pub const fn keeps_order(preemptable: u8, used: u8) -> bool {
    let express = used & !preemptable;
    express == 0 || express.trailing_zeros() >= u8::BITS - (used & preemptable).leading_zeros()
}

/// Whether the other end of a port's link takes fragments, or is not asked.
pub(crate) fn is_verified(ports: &[Port], links: &[Link], port: PortIndex) -> bool {
    let settings = &ports[port.index()];
    let disabled = settings.preemption.is_some_and(|stated| stated.verify_disabled);
    let Some(ends) = settings.links else { return false };
    let peer = &ports[links[ends.egress.index()].to.index()];
    disabled || peer.preemption.is_none_or(|stated| stated.supported)
}

/// Whether a port verifies the other end of its link in a run with these events: how long an attempt takes, and whether it does so at the start.
fn verifies<'a>(
    (ports, links): (&[Port], &[Link]),
    events: impl IntoIterator<Item = &'a TimelineAction>,
    port: PortIndex,
) -> Option<(Duration, bool)> {
    let settings = &ports[port.index()];
    let stated = settings.preemption.filter(|stated| !stated.verify_disabled)?;
    let ends = settings.links?;
    if settings.preemptable_classes() == 0 {
        return None;
    }
    let nodes = [settings.node, ports[links[ends.egress.index()].to.index()].node];
    let comes_up = |action: &TimelineAction| match action {
        TimelineAction::MendCable(cable) => {
            [ends.egress, ends.ingress].iter().any(|link| link.0 / 2 == *cable)
        }
        TimelineAction::StartNode(node) => nodes.contains(node),
        _ => false,
    };
    let is_later = events.into_iter().any(comes_up);
    (stated.verify_at_start || is_later).then_some((stated.verify_time, stated.verify_at_start))
}

/// What a port does of verification in a run with these events; none if it neither verifies nor responds.
pub(crate) fn verification<'a>(
    (ports, links): (&[Port], &[Link]),
    events: impl IntoIterator<Item = &'a TimelineAction> + Clone,
    port: PortIndex,
) -> Option<PortVerification> {
    let settings = &ports[port.index()];
    let other = links[settings.links?.egress.index()].to;
    let own = verifies((ports, links), events.clone(), port);
    let can_respond = settings.preemption.is_none_or(|stated| stated.supported);
    let responds = can_respond && verifies((ports, links), events, other).is_some();
    (own.is_some() || responds).then_some(PortVerification {
        verifies: own.map(|(time, _)| time),
        at_start: own.is_some_and(|(_, at_start)| at_start),
        responds,
    })
}

impl Network {
    /// What a port does of verification in the run; none if it neither verifies nor responds.
    #[must_use]
    pub fn verification(&self, port: PortIndex) -> Option<PortVerification> {
        verification((&self.ports, &self.links), self.events.iter().map(|event| &event.action), port)
    }

    /// Whether preemption of a port that may cut frames is not active at some time of the run: until its other end has responded.
    #[must_use]
    pub fn is_unverified_at_times(&self, port: PortIndex) -> bool {
        self.verification(port).is_some_and(|port| port.verifies.is_some())
    }

    /// Whether a port sends mPackets other than whole express frames: it may cut frames, or verifies or responds in the run.
    #[must_use]
    pub fn merges(&self, port: PortIndex) -> bool {
        self.preemptable(port) != 0 || self.verification(port).is_some()
    }

    /// Whether any port does.
    #[must_use]
    pub fn has_merging(&self) -> bool {
        (0..self.ports.len()).any(|port| self.merges(PortIndex::at(port)))
    }

    /// Bit *n*: frames of class *n* of a port may be cut. None if the port preempts nothing, or its link does not let it.
    #[must_use]
    pub fn preemptable(&self, port: PortIndex) -> u8 {
        let classes = self.ports[port.index()].preemptable_classes();
        if classes != 0 && is_verified(&self.ports, &self.links, port) { classes } else { 0 }
    }

    /// Whether any port may cut frames.
    #[must_use]
    pub fn has_preemption(&self) -> bool {
        (0..self.ports.len()).any(|port| self.preemptable(PortIndex::at(port)) != 0)
    }

    /// How the MAC merge sublayer of a port is built that may cut frames.
    #[must_use]
    pub fn preemption_config(&self, port: PortIndex) -> Option<PreemptionConfig> {
        self.merge_config(port).filter(|config| config.preemptable != 0)
    }

    /// How the MAC merge sublayer of a port is built that may cut frames, or verifies or responds in the run.
    #[must_use]
    pub fn merge_config(&self, port: PortIndex) -> Option<PreemptionConfig> {
        let (preemptable, verification) = (self.preemptable(port), self.verification(port));
        if preemptable == 0 && verification.is_none() {
            return None;
        }
        let settings = &self.ports[port.index()];
        let stated = settings.preemption.unwrap_or(PortPreemption::NOTHING);
        let rate = self.links[settings.links?.egress.index()].rate;
        let most = stated.add_frag_size.blocking(u32::MAX);
        let needed = rate.duration_ceil(Bytes::new(most).bits());
        Some(PreemptionConfig {
            preemptable,
            add_frag_size: stated.add_frag_size,
            advances: HoldAdvances {
                hold: stated.hold_advance.unwrap_or(needed),
                release: stated.release_advance,
            },
            active: preemptable != 0 && !verification.is_some_and(|port| port.at_start),
        })
    }
}
