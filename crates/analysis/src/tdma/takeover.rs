//! The time until the standby has taken over, and its cost to a frame.
//!
//! In: a network with TDMA and a standby. Out: for how long no cycle is opened at most, from the master's last
//! synchronisation frame to the standby's first: a cycle and the watch of the standby by the slower of both clocks, and the
//! error of a cycle's start; and by how much the bound of each stream with a failing master exceeds the one without. Invariant:
//! the bound with that failure is at most the bound without and the stated time.
//!
//! The same for every kind of failure that is described, alone and together: cables and bridges, bits received wrong,
//! stations that stop, talkers that babble. The rule is that of `failures.rs`: slots of a cycle, or a lifetime. Not
//! here: which slots the takeover costs (`wait.rs`).

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, NodeKind, StreamIndex, TimelineAction, TimelineEvent};
use tautwire_units::Duration;

use super::Cycle;
use crate::result::Bounds;
use crate::unbounded::Unbounded;

/// The kinds of failures in a network with TDMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Stations stop, or come back.
    Stations,
    /// Cables are cut or bridges stop, permanently or not.
    Links,
    /// Bits are received wrong, so that synchronisation frames are lost.
    Frames,
    /// Talkers babble: they send more than the slots of their stations take.
    Talkers,
    /// All of the description together, if it is of several kinds.
    All,
}

/// The rule by which a failure's cost is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostRule {
    /// It costs no station a slot.
    Nothing,
    /// It costs each station slots of one cycle, or all of one: a frame waits for as many more.
    Slots,
    /// It costs any number of slots: a frame waits for its lifetime at most, and is lost then.
    Lifetime,
}

/// The cost of a described kind of failure in bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureCost {
    /// Its kind.
    pub failure: Failure,
    /// The rule for the cost; or why nothing is proven with such a failure.
    pub rule: Result<CostRule, Unbounded>,
    /// Per stream: by how much its bound with these failures alone exceeds that of the network in which nothing fails, at
    /// its worst listener; none if one of both is none.
    pub added: Vec<Option<Duration>>,
}

/// The cost of a description's failures in bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct FailureCosts {
    /// The bounds of the network in which nothing fails.
    pub without: Bounds,
    /// One for each kind that is described, and of several all together last.
    pub kinds: Vec<FailureCost>,
}

impl FailureCost {
    /// The takeover time of this failure: the greatest of what is added to a bound; none if no stream has one.
    #[must_use]
    pub fn added_max(&self) -> Option<Duration> {
        self.added.iter().flatten().copied().max()
    }
}

impl Failure {
    /// The kind of an event; none if it is about traffic.
    fn of(network: &Network, action: &TimelineAction) -> Option<Self> {
        match action {
            TimelineAction::CutCable(_) | TimelineAction::MendCable(_) => Some(Self::Links),
            TimelineAction::StopNode(node) | TimelineAction::StartNode(node) => {
                match network.nodes[node.index()].kind {
                    NodeKind::Bridge { .. } => Some(Self::Links),
                    NodeKind::EndStation { .. } => Some(Self::Stations),
                }
            }
            TimelineAction::ChangeBitErrorRate(..) => Some(Self::Frames),
            action => network.is_babbling(action).then_some(Self::Talkers),
        }
    }

    /// Whether failures of this kind have those of another one among them.
    fn has(self, other: Self) -> bool {
        self == other || self == Self::All
    }

    fn is_described(self, network: &Network) -> bool {
        let of = |event: &TimelineEvent| Self::of(network, &event.action) == Some(self);
        network.events.iter().any(of)
            || match self {
                Self::Links => network.links.iter().any(|link| !link.up),
                Self::Frames => network.links.iter().any(|link| link.bit_error_rate > 0),
                Self::Stations | Self::Talkers | Self::All => false,
            }
    }
}

/// The takeover of a standby master.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Takeover {
    /// The standby.
    pub standby: NodeIndex,
    /// Nominal length of the cycle that the master does not open any more.
    pub cycle: Duration,
    /// How long the standby watches for the frame that does not come.
    pub watch: Duration,
    /// By how much both may be longer in true time, and the cycle taken for begun too late; rounded up.
    pub error: Duration,
    /// From the start of the last cycle that the master opens to the first synchronisation frame of the standby, at most:
    /// the sum of the three; or why nothing is proven of this network, with all that fails in it.
    pub silence: Result<Duration, Unbounded>,
    /// Per stream: by how much its bound with a failing master exceeds that of the network in which nothing fails, at its
    /// worst listener; none if one of both is none.
    pub added: Vec<Option<Duration>>,
}

impl Takeover {
    /// The takeover time: the greatest of what is added to a bound; none if no stream has one.
    #[must_use]
    pub fn added_max(&self) -> Option<Duration> {
        self.added.iter().flatten().copied().max()
    }
}

/// The takeover of a network with TDMA; none without a standby.
#[must_use]
pub fn takeover(network: &Network) -> Option<Takeover> {
    let tdma = network.tdma.as_ref()?;
    let standby = tdma.standby?;
    let talker = |stream: StreamIndex| network.streams[stream.index()].talker;
    let cycle = Cycle::new(network, tdma);
    let span = tdma.cycle + standby.offset;
    let (_, late) = cycle.travel_errors(tdma.synchronisation);
    let longest = cycle.deviation.stretch(span.as_ps()).saturating_add(late + cycle.drift);
    let error = Duration::from_ps(longest).saturating_sub(span);
    let undisturbed = crate::bounds(&with_only(network, None));
    // Late enough that the standby has received cycles, whatever their length.
    let action = TimelineAction::StopNode(talker(tdma.synchronisation));
    let event = TimelineEvent { at: Duration::from_ps(u64::MAX), action };
    let stops = with_only(network, None).altered(|parts| parts.events.push(event));
    Some(Takeover {
        standby: talker(standby.synchronisation),
        cycle: tdma.cycle,
        watch: standby.offset,
        error,
        silence: cycle.reason.map_or_else(|| Ok(span + error), Err),
        added: added(&undisturbed, &crate::bounds(&stops)),
    })
}

/// What the failures of the description add to the bounds of a network with TDMA, by kind; none without TDMA and if nothing
/// fails.
#[must_use]
pub fn failure_costs(network: &Network) -> Option<FailureCosts> {
    let tdma = network.tdma.as_ref()?;
    let kinds = [Failure::Stations, Failure::Links, Failure::Frames, Failure::Talkers].into_iter();
    let mut kinds: Vec<Failure> = kinds.filter(|kind| kind.is_described(network)).collect();
    if kinds.len() > 1 {
        kinds.push(Failure::All);
    }
    if kinds.is_empty() {
        return None;
    }
    let undisturbed = crate::bounds(&with_only(network, None));
    let cost = |failure: Failure| {
        let failing = with_only(network, Some(failure));
        let mut cycle = Cycle::new(&failing, tdma);
        cycle.settle_waits();
        let mut streams = (0..failing.streams.len()).map(StreamIndex::at);
        let rule = match (&cycle.reason, cycle.lifetime) {
            (Some(reason), _) => Err(reason.clone()),
            (None, Some(_)) => Ok(CostRule::Lifetime),
            (None, None)
                if failure.has(Failure::Talkers) && streams.any(|number| cycle.is_crowded_out(number)) =>
            {
                Ok(CostRule::Lifetime)
            }
            (None, None) if cycle.lost > 0 => Ok(CostRule::Slots),
            (None, None) => Ok(CostRule::Nothing),
        };
        FailureCost { failure, rule, added: added(&undisturbed, &crate::bounds(&failing)) }
    };
    let kinds = kinds.into_iter().map(cost).collect();
    Some(FailureCosts { without: undisturbed, kinds })
}

/// A network in which nothing fails but what is of a kind, if any.
fn with_only(network: &Network, failure: Option<Failure>) -> Network {
    let stays = |kind: Failure| failure.is_some_and(|failure| failure.has(kind));
    network.clone().altered(|parts| {
        parts.events.retain(|event| Failure::of(network, &event.action).is_none_or(stays));
        for link in &mut parts.links {
            if !stays(Failure::Frames) {
                link.bit_error_rate = 0;
            }
            link.up |= !stays(Failure::Links);
        }
    })
}

fn added(undisturbed: &Bounds, failing: &Bounds) -> Vec<Option<Duration>> {
    let pairs = undisturbed.streams.iter().zip(&failing.streams);
    let worst = pairs.map(|(undisturbed, failing)| {
        let listeners = undisturbed.listeners.iter().zip(&failing.listeners);
        let more = listeners.map(|(one, other)| match (&one.delay, &other.delay) {
            (Ok(one), Ok(other)) => Some(other.saturating_sub(*one)),
            _ => None,
        });
        more.collect::<Option<Vec<Duration>>>()?.into_iter().max()
    });
    worst.collect()
}
