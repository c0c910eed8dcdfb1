//! The test by proven bounds: a request is admitted if every deadline is proven with it, its own and the others',
//! together with the frames of the network's own protocols, which run whatever is admitted.

use std::collections::BTreeSet;

use tautwire_analysis::{Accuracy, Bounds, Limit, Session, StreamBounds, bounds_by, losses};
use tautwire_model::Network;
use tautwire_model::network::{Stream, StreamIndex, Traffic};
use tautwire_report::{port_name, unbounded_text};
use tautwire_units::Duration;

use crate::decision::RefusalReason;
use crate::test::{AdmissionTest, TestSession};

/// Compares end-to-end bounds of the network with the admitted streams and the new one with all deadlines (the bounds
/// are those of `tautwire bounds`). A stream without a deadline requests no bound, and is admitted if all others keep
/// theirs; but a synchronous one requests that no message of it is lost.
#[derive(Clone, Copy, Debug, Default)]
pub struct EndToEndBounds;

impl AdmissionTest for EndToEndBounds {
    fn refuse(&self, network: &Network, streams: &[StreamIndex]) -> Option<RefusalReason> {
        let running: Vec<StreamIndex> = streams.iter().copied().chain(control(network)).collect();
        let network = network.with_only(&running);
        // As in a session.
        let proven = bounds_by(&network, Accuracy::Curves);
        let mut pairs = network.streams.iter().zip(&proven.streams);
        pairs
            .find_map(|(stream, proven)| missed(&network, stream, wanted(stream)?, proven, None))
            .or_else(|| lost(&network, &proven))
    }

    fn begin<'network>(self: Box<Self>, network: &'network Network) -> Box<dyn TestSession + 'network>
    where
        Self: 'network,
    {
        let mut session = Session::new(network);
        session.start_all(&control(network).collect::<Vec<_>>());
        session.allow_slack(Some(SLACK_MOST));
        Box::new(BoundsSession { session, late: BTreeSet::new(), shift: SLACK_MOST, calm: 0 })
    }
}

/// Streams that run whatever is admitted.
fn control(network: &Network) -> impl Iterator<Item = StreamIndex> + '_ {
    let all = (0..network.streams.len()).map(StreamIndex::at);
    all.filter(|stream| network.streams[stream.index()].traffic.is_control())
}

/// Slack that what is kept of a time may have, as a shift of it to the right: an eighth, and next to nothing.
const SLACK_MOST: u32 = 3;
const SLACK_LEAST: u32 = 12;
/// After so many decisions in which slack was in no one's way, there is more of it.
const CALM: u32 = 256;

/// The bounds of the admitted streams, kept from one decision to the next: with slack, so that most decisions end at
/// the ports of their stream, and without where a deadline is not proven with it. So the decisions are those of the
/// bounds without slack.
struct BoundsSession<'network> {
    session: Session<'network>,
    /// Admitted streams of which a deadline is not proven.
    late: BTreeSet<StreamIndex>,
    /// Slack, as a shift.
    shift: u32,
    /// Decisions since slack was changed.
    calm: u32,
}

impl TestSession for BoundsSession<'_> {
    fn join(&mut self, network: &Network, stream: StreamIndex) -> Option<RefusalReason> {
        self.session.start(stream);
        self.look(network);
        let Some(first) = self.hold_exactly(network) else {
            let reason = self.full(network)?;
            self.leave(network, stream);
            return Some(reason);
        };
        let with = self.session.stream(first);
        self.leave(network, stream);
        let is_other = self.session.is_running(first);
        let of: Vec<StreamIndex> = self.late.iter().copied().chain(is_other.then_some(first)).collect();
        self.look_exactly(network, &of);
        let without = is_other.then(|| self.session.stream(first));
        let late = &network.streams[first.index()];
        missed(network, late, wanted(late)?, &with, without.as_ref())
    }

    fn leave(&mut self, network: &Network, stream: StreamIndex) {
        self.session.stop(stream);
        self.late.remove(&stream);
        self.look(network);
    }

    fn rejoin(&mut self, network: &Network, streams: &[StreamIndex]) {
        self.session.start_all(streams);
        self.look(network);
    }
}

impl BoundsSession<'_> {
    /// For a stream whose deadline is not proven: without slack it may be. Gives the first for which it is not, if
    /// there is one. Slack that often requires this is reduced.
    fn hold_exactly(&mut self, network: &Network) -> Option<StreamIndex> {
        self.calm += 1;
        if self.late.is_empty() {
            if self.calm >= CALM && self.shift > SLACK_MOST {
                self.give(self.shift - 1);
            }
            return None;
        }
        let candidates: Vec<StreamIndex> = self.late.iter().copied().collect();
        // Often the first one is late indeed, and the others need not be looked at.
        for of in [&candidates[..1], &candidates[1..]] {
            self.look_exactly(network, of);
            let late = of.iter().find(|stream| self.late.contains(stream));
            if late.is_some() {
                return late.copied();
            }
        }
        if self.shift < SLACK_LEAST {
            self.give(self.shift + 1);
        }
        None
    }

    /// Where a frame of a stream that has a deadline may be lost. With slack more may wait than is proven.
    fn full(&mut self, network: &Network) -> Option<RefusalReason> {
        let mut found = self.session.may_be_lost(asks)?;
        if !self.session.is_tight() {
            self.session.tighten();
            self.look(network);
            found = self.session.may_be_lost(asks)?;
        }
        let (stream, listener, limit) = found;
        Some(may_be_lost(network, &network.streams[stream.index()], listener, &limit))
    }

    /// Holds the bounds of streams without slack against their deadlines.
    fn look_exactly(&mut self, network: &Network, streams: &[StreamIndex]) {
        self.session.tighten_for(streams);
        self.look(network);
    }

    fn give(&mut self, shift: u32) {
        (self.shift, self.calm) = (shift, 0);
        self.session.allow_slack(Some(shift));
    }

    /// Looks at the deadlines of the streams that the last step may have disturbed.
    fn look(&mut self, network: &Network) {
        for index in self.session.disturbed() {
            let stream = &network.streams[index.index()];
            let Some(deadline) = wanted(stream) else { continue };
            let proven = self.session.delay_max(index).is_some_and(|most| most <= deadline);
            if proven {
                self.late.remove(&index)
            } else {
                self.late.insert(index)
            };
        }
    }
}

/// The requirement of a stream: its deadline; a protocol's own stream has none. A message of a synchronous one that
/// has no bound may be lost.
#[must_use]
pub fn wanted(stream: &Stream) -> Option<Duration> {
    if stream.traffic.is_control() {
        return None;
    }
    let lossless = (stream.traffic == Traffic::Polled).then_some(Duration::from_ps(u64::MAX));
    stream.deadline.or(lossless)
}

/// Whether frames of a stream must not be lost.
fn asks(stream: &Stream) -> bool {
    wanted(stream).is_some()
}

/// Where a frame of a stream that has a deadline may be lost, at the first of all.
pub(crate) fn lost(network: &Network, bounds: &Bounds) -> Option<RefusalReason> {
    first_lost(network, bounds, |_| true)
}

/// Where a frame of a stream that has a deadline may be lost, at the first of those that count.
#[must_use]
pub fn first_lost(
    network: &Network,
    bounds: &Bounds,
    counts: impl Fn(&Stream) -> bool,
) -> Option<RefusalReason> {
    let losses = losses(network, bounds);
    let all = network.streams.iter().enumerate().filter(|(_, stream)| asks(stream) && counts(stream));
    let mut each =
        all.flat_map(|(number, stream)| (0..stream.listeners.len()).map(move |one| (number, stream, one)));
    each.find_map(|(number, stream, listener)| {
        let mut limits = losses.at(StreamIndex::at(number), listener).iter();
        let limit = limits.find(|limit| !limit.is_meant())?;
        Some(may_be_lost(network, stream, listener, limit))
    })
}

/// That a frame of a stream may be lost at a limit on its way to a listener.
#[must_use]
pub fn may_be_lost(network: &Network, stream: &Stream, listener: usize, limit: &Limit) -> RefusalReason {
    RefusalReason::MayBeLost {
        stream: stream.name.clone(),
        listener: network.nodes[stream.listeners[listener].index()].name.clone(),
        kind: limit.kind.name.to_owned(),
        place: limit.place(network),
        class: limit.class().map(|class| class.number()),
        allowed: limit.limit,
        needed: limit.needed,
        why: limit.text(network),
    }
}

/// Where a deadline of a stream is not proven, at its first such listener. The port is the one with the greatest part
/// of its delay, or with the greatest increase over its bounds `without` the new stream.
#[must_use]
pub fn missed(
    network: &Network,
    stream: &Stream,
    deadline: Duration,
    proven: &StreamBounds,
    without: Option<&StreamBounds>,
) -> Option<RefusalReason> {
    for (listener, bounds) in stream.listeners.iter().zip(&proven.listeners) {
        let (name, listener) = (stream.name.clone(), network.nodes[listener.index()].name.clone());
        match &bounds.delay {
            Ok(bound) if *bound <= deadline => {}
            Ok(bound) => {
                let (deadline_ps, bound_ps) = (deadline.as_ps(), bound.as_ps());
                let port = worst_port(network, stream, proven, without);
                return Some(RefusalReason::Deadline { stream: name, listener, port, deadline_ps, bound_ps });
            }
            Err(why) => {
                let why = unbounded_text(network, why);
                return Some(RefusalReason::Unbounded { stream: name, listener, why });
            }
        }
    }
    None
}

/// Where a stream loses most.
fn worst_port(
    network: &Network,
    stream: &Stream,
    proven: &StreamBounds,
    without: Option<&StreamBounds>,
) -> String {
    let delay = |bounds: &StreamBounds, hop: usize| {
        bounds.hops.get(hop).and_then(|hop| hop.delay.as_ref().ok()).map_or(0, |delay| delay.as_ps())
    };
    let grown = |hop: &usize| {
        let before = without.map_or(0, |before| delay(before, *hop));
        delay(proven, *hop).saturating_sub(before)
    };
    // The first of several alike.
    let hop = (0..stream.hops.len()).rev().max_by_key(grown);
    hop.map_or_else(String::new, |hop| port_name(network, stream.hops[hop].port))
}
