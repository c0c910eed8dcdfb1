//! The input of the planner of slots: senders, travel times, and pairs of request and response.
//!
//! All times are counted from the start of a frame's slot and hold the margins of the devices that they pass:
//! earliest times rounded down, latest up. Not here: where the slots go (`round.rs`, `plan.rs`).

use tautwire_core::tdma::Carries;
use tautwire_units::Duration;

/// A port that a frame passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotPassage {
    /// The port.
    pub port: u32,
    /// The frame is not in its queue before.
    pub from: Duration,
    /// The port is free of it from here on.
    pub until: Duration,
}

/// The frames that a station may send in one of its slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The station.
    pub owner: u32,
    /// The kind of its traffic.
    pub carries: Carries,
    /// How long its longest frame takes on the wire, gap included: the least length of a slot.
    pub length: Duration,
    /// When it has received the opening of a cycle, at the latest: no slot begins before.
    pub heard: Duration,
    /// Ports of all its frames, each once.
    pub passages: Vec<SlotPassage>,
}

/// A response to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The transfer of the request, an index.
    pub request: usize,
    /// The transfer of the response.
    pub response: usize,
    /// From the start of the request's slot until the response may be sent, at the latest.
    pub ready: Duration,
    /// From the start of the response's slot to the last bit at the requester, at most.
    pub way: Duration,
    /// How long a round trip may take by its deadline, counted as [`SlotPlan::round_trips`](super::SlotPlan::round_trips).
    pub within: Option<Duration>,
}

impl Pair {
    /// Whether a round trip of this length is behind its deadline.
    pub(super) fn is_late(&self, round_trip: Duration) -> bool {
        self.within.is_some_and(|within| round_trip > within)
    }
}

/// What makes one plan better than another: the less, the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cost {
    /// Pairs whose round trip may take longer than its deadline.
    pub(super) late: usize,
    /// The worst round trip.
    pub(super) round_trip: Duration,
}

impl Cost {
    /// Of round trips of pairs.
    pub(super) fn of(round_trips: impl Iterator<Item = (Pair, Duration)>) -> Self {
        round_trips.fold(Self { late: 0, round_trip: Duration::ZERO }, |cost, (pair, round_trip)| Self {
            late: cost.late + usize::from(pair.is_late(round_trip)),
            round_trip: cost.round_trip.max(round_trip),
        })
    }
}

/// A synchronisation frame, of the master or of the standby.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// When in the cycle it is sent.
    pub start: Duration,
    /// Ports that it passes.
    pub passages: Vec<SlotPassage>,
}

/// A stream that is neither a request nor a response, and needs a slot of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alone {
    /// Its transfer.
    pub transfer: usize,
    /// How far apart its slots may be, so that its deadline holds; none: every cycle has one.
    pub apart_max: Option<Duration>,
}

/// The input of the planner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotProblem {
    /// Step of all offsets and of the cycle.
    pub quantum: Duration,
    /// By how much the starts of two slots may err against each other.
    pub error: Duration,
    /// Synchronisation frames of a cycle, and of the one behind it.
    pub openings: Vec<Opening>,
    /// The messages, with their senders.
    pub transfers: Vec<Transfer>,
    /// Requests and responses.
    pub pairs: Vec<Pair>,
    /// Streams that are neither requests nor responses, each once.
    pub alone: Vec<Alone>,
}

impl SlotProblem {
    /// From the start of one frame's slot to that of another at least, so that they meet at no port.
    pub(super) fn apart(&self, one: &[SlotPassage], other: &[SlotPassage]) -> Duration {
        let shared = |first: &SlotPassage| {
            let same = other.iter().filter(move |second| second.port == first.port);
            let until = first.until + self.error;
            same.map(move |second| until.saturating_sub(second.from)).max()
        };
        one.iter().filter_map(shared).max().unwrap_or_default()
    }

    /// The same for slots, which share no time.
    pub(super) fn slots_apart(&self, one: usize, other: usize) -> Duration {
        let (one, other) = (&self.transfers[one], &self.transfers[other]);
        self.apart(&one.passages, &other.passages).max(self.up(one.length))
    }

    /// From the start of a cycle to a slot behind all that open it.
    pub(super) fn behind_openings(&self, transfer: usize) -> Duration {
        let own = &self.transfers[transfer];
        let behind = self.openings.iter().map(|one| one.start + self.apart(&one.passages, &own.passages));
        behind.max().unwrap_or_default().max(own.heard)
    }

    /// From a slot to the start of the next cycle at least.
    pub(super) fn before_openings(&self, transfer: usize) -> Duration {
        let own = &self.transfers[transfer];
        let before = self
            .openings
            .iter()
            .map(|one| self.apart(&own.passages, &one.passages).saturating_sub(one.start));
        before.max().unwrap_or_default().max(self.up(own.length))
    }

    /// To the next step.
    pub(super) fn up(&self, time: Duration) -> Duration {
        Duration::from_ps(time.as_ps().div_ceil(self.quantum.as_ps()) * self.quantum.as_ps())
    }

    /// To the step before.
    pub(super) fn down(&self, time: Duration) -> Duration {
        Duration::from_ps(time.as_ps() / self.quantum.as_ps() * self.quantum.as_ps())
    }
}
