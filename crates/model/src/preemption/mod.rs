//! Frame preemption of ports, resolved (IEEE Std 802.1Q-2022, 6.7.2 and 12.30; IEEE Std 802.3-2022, clause 99 and 30.14).
//!
//! The machine is `core`'s (`preemption/`); here is what a port has of it. Links are taken to have been up before a run begins, so what a verification
//! finds is known then. Not here: what bounds make of it.

pub(crate) mod check;
pub(crate) mod codes;
pub(crate) mod language;
mod overrun;
pub(crate) mod resolve;

use tautwire_core::TrafficClass;
use tautwire_core::gates::HoldAdvances;
pub use tautwire_core::preemption::AddFragSize;
use tautwire_core::preemption::PreemptionConfig;
use tautwire_units::{Bytes, Duration};

use crate::blocks::Block;
use crate::network::{Link, Network, Port, PortIndex};

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

/// Whether the other end of a port's link takes fragments, or is not asked.
pub(crate) fn is_verified(ports: &[Port], links: &[Link], port: PortIndex) -> bool {
    let settings = &ports[port.index()];
    let disabled = settings.preemption.is_some_and(|stated| stated.verify_disabled);
    let Some(ends) = settings.links else { return false };
    let peer = &ports[links[ends.egress.index()].to.index()];
    disabled || peer.preemption.is_none_or(|stated| stated.supported)
}

impl Network {
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
        let preemptable = Some(self.preemptable(port)).filter(|classes| *classes != 0)?;
        let settings = &self.ports[port.index()];
        let stated = settings.preemption?;
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
            active: true,
        })
    }
}
