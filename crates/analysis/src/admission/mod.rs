//! How long an admission takes at most: from a complete request, the talker's and a listener's, to the talker's answer.
//!
//! The bound is made of timers of the protocol, of the bounds of its frames on the links, and of the stated times of
//! processors. It holds for a stream that is not refused on the path (with HaRTES: for a refusal, too), while no frame
//! of the protocol is lost; the caller that compares must check both. Three ways to admit, three ways to bound:
//! bridges that decide among themselves (`msrp.rs`), a CNC (`central.rs`), an ACMaster (`../harts/admission.rs`).
//!
//! Where one entity decides, its bound adds up **all possible work**: on its path a request waits for every message at
//! an entity at most once, because a message that was processed before is not processed again; so its total wait is at
//! most the processing time of all messages that may be in transit at all (`totals.rs`). Invariant: no machine is
//! called. Not here: observations (`tautwire-report`).

mod central;
mod msrp;
pub(crate) mod totals;

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex, TimelineAction};
use tautwire_units::Duration;

use self::msrp::Msrp;
use crate::clock::{Deviation, slack_ps};
use crate::harts;
use crate::result::Bounds;

/// How long the admission of a stream takes at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdmissionBound {
    /// The stream.
    pub stream: StreamIndex,
    /// From the last of the talker's request, the first of a listener's, and [`Self::ready`], to the talker's answer; or why there
    /// is no bound.
    pub delay: Result<Duration, NoAdmissionBound>,
    /// When the protocol has found itself, true time since the start: neighbours know each other's domains.
    pub ready: Duration,
}

/// Why there is no bound of an admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAdmissionBound {
    /// Frames may be lost: by bit errors, or because cables or nodes fail.
    Losses,
    /// Frames of the protocol, those of this stream, have no bound.
    Frames(StreamIndex),
    /// Messages may come faster than this node can take them.
    Processor(NodeIndex),
    /// An unanswered message is repeated after this time: the bound is above it.
    Repeated(Duration),
    /// The shared medium's rule sets no least time between messages.
    NoLimit(NodeIndex),
}

/// The admission bounds of all streams that are reserved, or requested, in a run; `bounds` are the network's.
///
/// # Panics
/// If `bounds` are those of another network.
#[must_use]
pub fn admission_bounds(network: &Network, bounds: &Bounds) -> Vec<AdmissionBound> {
    assert_eq!(bounds.streams.len(), network.streams.len(), "bounds of another network");
    let context = Context::of(network, bounds);
    if network.harts.as_ref().is_some_and(|harts| harts.admission.is_some()) {
        return harts::admission_bounds(&context);
    }
    let Some(reservation) = &network.srp else { return Vec::new() };
    let streams = reservation.streams.iter().map(|reserved| reserved.stream);
    if loses(network) {
        return streams.map(|stream| AdmissionBound::none(stream, NoAdmissionBound::Losses)).collect();
    }
    let msrp = Msrp::new(&context);
    match &reservation.central {
        Some(settings) => central::bounds(&context, &msrp, settings),
        None => streams.map(|stream| msrp.bound(stream)).collect(),
    }
}

impl AdmissionBound {
    pub(crate) fn none(stream: StreamIndex, reason: NoAdmissionBound) -> Self {
        Self { stream, delay: Err(reason), ready: Duration::ZERO }
    }
}

/// The network, the bounds of its frames, and its worst clock.
pub(crate) struct Context<'a> {
    pub(crate) network: &'a Network,
    bounds: &'a Bounds,
    pub(crate) deviation: Deviation,
    /// What one timed step may come late by the step of a clock's readings.
    pub(crate) slack: u64,
}

impl<'a> Context<'a> {
    fn of(network: &'a Network, bounds: &'a Bounds) -> Self {
        let worst = network.nodes.iter().map(|node| &node.clock).max_by_key(|clock| clock.tolerance_ppb);
        let slack = network.nodes.iter().map(|node| slack_ps(&node.clock)).max().unwrap_or(0);
        Self { network, bounds, deviation: worst.map(Deviation::of).unwrap_or_default(), slack }
    }

    /// A span of a node's clock, in true time at most.
    pub(crate) fn late(&self, span: u64) -> u64 {
        self.deviation.stretch(span).saturating_add(self.slack + 2)
    }

    /// Greatest delay of a frame of the protocol.
    pub(crate) fn frame(&self, stream: StreamIndex) -> Result<u64, NoAdmissionBound> {
        let listeners = &self.bounds.streams[stream.index()].listeners;
        let found = listeners.first().and_then(|listener| listener.delay.as_ref().ok());
        found.map(|delay| delay.as_ps()).ok_or(NoAdmissionBound::Frames(stream))
    }

    /// The port at the other end of a port's cable.
    pub(crate) fn far(&self, port: PortIndex) -> PortIndex {
        let links = self.network.ports[port.index()].links.expect("a port of a protocol has a cable");
        self.network.links[links.egress.index()].to
    }
}

/// Whether frames may be lost: a bit error, a cable or a node that fails.
pub(crate) fn loses(network: &Network) -> bool {
    let fails = |action: &TimelineAction| {
        matches!(
            action,
            TimelineAction::CutCable(_)
                | TimelineAction::StopNode(_)
                | TimelineAction::ChangeBitErrorRate(..)
                | TimelineAction::Babble(..)
        )
    };
    network.links.iter().any(|link| link.bit_error_rate > 0)
        || network.events.iter().any(|event| fails(&event.action))
}
