//! What it takes until the standby has taken over, and what that costs a frame.
//!
//! In: a network with TDMA and a standby. Out: for how long no cycle is opened at most, from the master's last
//! synchronisation frame to the standby's first: a cycle and the watch of the standby by the slower of both clocks, and the
//! error of a cycle's start; and by how much the bound of each stream with a failing master exceeds the one without. Invariant:
//! the bound with that failure is at most the bound without and the stated time.
//! Not here: other failures (`failures.rs`), which slots the takeover costs (`wait.rs`).

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, TimelineAction, TimelineEvent};
use tautwire_units::Duration;

use super::Cycle;
use crate::result::{Bounds, Unbounded};

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
    let talker = |stream: tautwire_model::network::StreamIndex| network.streams[stream.index()].talker;
    let cycle = Cycle::new(network, tdma);
    let span = tdma.cycle + standby.offset;
    let (_, late) = cycle.travel_errors(tdma.synchronisation);
    let longest = cycle.deviation.stretch(span.as_ps()).saturating_add(late + cycle.drift);
    let error = Duration::from_ps(longest).saturating_sub(span);
    let whole = with_only(network, None);
    let failing = with_only(network, Some(talker(tdma.synchronisation)));
    Some(Takeover {
        standby: talker(standby.synchronisation),
        cycle: tdma.cycle,
        watch: standby.offset,
        error,
        silence: cycle.reason.map_or_else(|| Ok(span + error), Err),
        added: added(&whole, &failing),
    })
}

/// The bounds of a network in which nothing fails but a node that stops, if any.
fn with_only(network: &Network, stops: Option<NodeIndex>) -> Bounds {
    let mut alone = network.clone();
    // Late enough that the standby has heard of cycles, whatever their length.
    let stop =
        |node| TimelineEvent { at: Duration::from_ps(u64::MAX), action: TimelineAction::StopNode(node) };
    alone.events.retain(|event| matches!(event.action, TimelineAction::ChangeTraffic(..)));
    alone.events.extend(stops.map(stop));
    for link in &mut alone.links {
        (link.bit_error_rate, link.up) = (0, true);
    }
    crate::bounds(&alone)
}

fn added(whole: &Bounds, failing: &Bounds) -> Vec<Option<Duration>> {
    let pairs = whole.streams.iter().zip(&failing.streams);
    let worst = pairs.map(|(whole, failing)| {
        let listeners = whole.listeners.iter().zip(&failing.listeners);
        let more = listeners.map(|(one, other)| match (&one.delay, &other.delay) {
            (Ok(one), Ok(other)) => Some(other.saturating_sub(*one)),
            _ => None,
        });
        more.collect::<Option<Vec<Duration>>>()?.into_iter().max()
    });
    worst.collect()
}
