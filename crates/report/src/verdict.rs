//! Compares observations with bounds and deadlines: the verdict of every stream at every listener.
//!
//! Checked is every frame, those of the warm-up too ([`tautwire_sim::WorstFrame`]). A contradiction
//! is an observation that a bound excludes: of an end-to-end delay, of a delay at a hop, of a
//! backlog or of a credit. It is a fault of Tautwire and never of the network.
//!
//! Not here: how verdicts are shown (`summary.rs`, `table.rs`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tautwire_analysis::{Bounds, Limit, Losses, StatedFailure, Unbounded};
use tautwire_model::network::{Network, NodeIndex, Stream, StreamIndex, Traffic};
use tautwire_sim::{DropReason, ListenerObservation, Observation, StreamObservation};
use tautwire_units::Duration;

use crate::cause::Causes;
use crate::contradiction::{self, Contradiction};
use crate::first_frame::Ahead;
use crate::listener_frames;
use crate::proviso::{self, Proviso};
use crate::served::{NotServed, never_sent, not_served};

/// What is known of a stream's requirement, from best to worst.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, Default,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It has no deadline, and no observation contradicts a bound.
    #[default]
    NoRequirement,
    /// Its bound is within its deadline, no frame can be lost but by a stated failure, and none is taken twice: the copies of a
    /// redundant virtual link, and of those that share its numbers, come within SkewMax, and their listener does not begin anew.
    Proven,
    /// There is no bound, or it is above the deadline, or a frame may be taken twice; none was observed to be late.
    NotProven,
    /// Its bound is within its deadline, but a limit that it meets on its way may be too small, and a frame be discarded there.
    MayBeLost,
    /// A frame was later than the deadline, or was discarded on its way, or all were.
    Missed,
    /// The network refused the stream or forwarded nothing of it, or it was never sent.
    Refused,
    /// An observation is above its bound.
    Contradiction,
}

impl Verdict {
    /// All verdicts, from best to worst.
    pub const ALL: [Self; 7] = [
        Self::NoRequirement,
        Self::Proven,
        Self::NotProven,
        Self::MayBeLost,
        Self::Missed,
        Self::Refused,
        Self::Contradiction,
    ];

    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoRequirement => "no requirement",
            Self::Proven => "proven",
            Self::NotProven => "not proven",
            Self::MayBeLost => "may be lost",
            Self::Missed => "missed",
            Self::Refused => "refused",
            Self::Contradiction => "CONTRADICTION",
        }
    }

    /// The exit code that a command ends with: 0 all holds, 1 not proven, may be lost, missed or
    /// refused, 4 a contradiction.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::NoRequirement | Self::Proven => 0,
            Self::NotProven | Self::MayBeLost | Self::Missed | Self::Refused => 1,
            Self::Contradiction => 4,
        }
    }
}

/// The verdicts of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Verification {
    /// The worst of all.
    pub verdict: Verdict,
    /// Per stream, in the network's order.
    pub streams: Vec<StreamVerification>,
    /// Every observation above its bound.
    pub contradictions: Vec<Contradiction>,
}

/// The verdicts of one stream.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamVerification {
    /// The stream.
    pub stream: StreamIndex,
    /// The worst of its listeners.
    pub verdict: Verdict,
    /// The proviso, if it is proven with one: the worst of its listeners.
    pub proviso: Option<Proviso>,
    /// Per listener.
    pub listeners: Vec<ListenerVerification>,
    /// Copies that were lost, whatever the reason; none without an observation.
    pub lost: Option<u64>,
}

/// What is proven and observed of a stream at one listener, and the verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct ListenerVerification {
    /// The listener.
    pub listener: NodeIndex,
    /// The stream's deadline.
    pub deadline: Option<Duration>,
    /// The greatest possible delay, or why none is known; none if bounds were not requested.
    pub bound: Option<Result<Duration, Unbounded>>,
    /// The greatest difference of two delays that is possible.
    pub jitter_bound: Option<Duration>,
    /// What was seen; none if nothing was, or no run was made.
    pub observed: Option<ObservedDelay>,
    /// Frames later than the deadline.
    pub late: u64,
    /// Frames lost on the way to it, whatever the reason; none without an observation.
    pub lost: Option<u64>,
    /// Why it was not served, if it was not.
    pub not_served: Option<NotServed>,
    /// Deadline less bound in picoseconds; below zero the bound is above the deadline.
    pub margin_ps: Option<i64>,
    /// Whether both copies of a frame over two networks may be taken; its deadline is not proven then.
    pub taken_twice: bool,
    /// Limits on its path that may be too small, if bounds were requested.
    pub may_be_lost: Vec<Limit>,
    /// Failures that the description states and that may take frames on its way.
    pub stated: Vec<StatedFailure>,
    /// The proviso, if it is proven with one.
    pub proviso: Option<Proviso>,
    /// The causes of losses.
    pub(crate) causes: Causes,
    /// The verdict.
    pub verdict: Verdict,
}

/// Delays that were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObservedDelay {
    /// The greatest of all frames, those of the warm-up too.
    pub max: Duration,
    /// The least, after the warm-up.
    pub min: Option<Duration>,
    /// The mean, after the warm-up.
    pub mean: Option<Duration>,
    /// The standard deviation, after the warm-up.
    pub standard_deviation: Option<Duration>,
    /// Greatest less least, after the warm-up.
    pub jitter: Option<Duration>,
}

/// Holds every observation against its bound and its deadline.
///
/// # Panics
/// If `bounds` or `observation` are not those of `network`.
#[must_use]
pub fn verify(network: &Network, bounds: &Bounds, observation: &Observation) -> Verification {
    judge(network, Some(bounds), Some(observation))
}

/// As [`verify`], with what there is. Without bounds nothing is proven; without an observation
/// nothing is missed.
///
/// # Panics
/// If `bounds` or `observation` are not those of `network`.
#[must_use]
pub fn judge(network: &Network, bounds: Option<&Bounds>, observation: Option<&Observation>) -> Verification {
    for streams in [bounds.map(|b| b.streams.len()), observation.map(|o| o.streams.len())] {
        assert!(streams.is_none_or(|count| count == network.streams.len()), "results of another network");
    }
    let contradictions = match (bounds, observation) {
        (Some(bounds), Some(observation)) => contradiction::find(network, bounds, observation),
        _ => Vec::new(),
    };
    let twice = bounds.map(|bounds| tautwire_analysis::taken_twice(network, bounds));
    let losses = bounds.map(|bounds| tautwire_analysis::losses(network, bounds));
    let stated = tautwire_analysis::stated_failures(network);
    let causes = Causes::of_run(network, observation);
    let ahead = Ahead::of(network);
    let streams: Vec<_> = (0..network.streams.len())
        .map(|index| {
            let twice = twice.as_ref().map(|twice| &twice[index][..]);
            let known =
                Known { bounds, twice, losses: losses.as_ref(), stated: &stated[index], causes, ahead };
            judge_stream(network, index, &known, observation, &contradictions)
        })
        .collect();
    let of_streams = streams.iter().map(|stream| stream.verdict).max().unwrap_or_default();
    let verdict = if contradictions.is_empty() { of_streams } else { Verdict::Contradiction };
    Verification { verdict, streams, contradictions }
}

/// What is known of a stream without a look at its own observation.
struct Known<'a> {
    bounds: Option<&'a Bounds>,
    /// Per listener.
    twice: Option<&'a [bool]>,
    losses: Option<&'a Losses>,
    /// Per listener.
    stated: &'a [Vec<StatedFailure>],
    causes: Causes,
    ahead: Ahead,
}

fn judge_stream(
    network: &Network,
    index: usize,
    known: &Known<'_>,
    observation: Option<&Observation>,
    contradictions: &[Contradiction],
) -> StreamVerification {
    let (stream, index_of_stream) = (&network.streams[index], StreamIndex::at(index));
    let observed = observation.map(|observation| &observation.streams[index]);
    // What a faulty master makes is held to nothing: others police it, or leave it out.
    let is_faulty = stream.traffic == Traffic::Protocol && network.faulty_nodes().contains(&stream.talker);
    let listeners: Vec<_> = (0..stream.listeners.len())
        .map(|listener| {
            let bound = known.bounds.map(|bounds| &bounds.streams[index].listeners[listener]);
            let contradicted = contradictions.iter().any(|c| c.is_of(index_of_stream, listener));
            let limits = known.losses.map_or(&[][..], |losses| losses.at(index_of_stream, listener));
            let stated = &known.stated[listener];
            let causes = known.causes.at(stated, limits);
            let number = (index_of_stream, listener);
            let not_served =
                observation.and_then(|seen| not_served(network, known.ahead, seen, number, causes));
            let mut verification =
                judge_listener(stream, listener, observed, (contradicted, causes), not_served);
            if is_faulty && !contradicted {
                verification.verdict = Verdict::NoRequirement;
            }
            if let Some(bound) = bound {
                verification.bound = Some(bound.delay.clone());
                verification.jitter_bound = bound.jitter();
                verification.margin_ps = margin(stream.deadline, bound.delay.as_ref().ok().copied());
            }
            let in_time = verification.margin_ps.is_some_and(|ps| ps >= 0);
            // Copies of any sub-virtual-link that come too late, and a listener that forgets, count for all of its link.
            let once = known.twice.is_some_and(|twice| !twice[listener]);
            verification.taken_twice = known.twice.is_some_and(|twice| twice[listener]);
            verification.may_be_lost = limits.to_vec();
            verification.stated.clone_from(stated);
            let not_granted = matches!(verification.bound, Some(Err(Unbounded::NotGranted { .. })));
            // The observation of a run shows whether it was requested at all.
            if observation.is_none() {
                let refused = not_granted.then_some(NotServed::Refused(None));
                let never =
                    || never_sent(network, known.ahead, network.run.duration, index_of_stream, listener);
                verification.not_served = refused.or_else(never);
                if verification.not_served.is_some() {
                    verification.verdict = Verdict::Refused;
                }
            }
            let is_served = verification.not_served.is_none();
            if verification.verdict == Verdict::NotProven && in_time && once && is_served {
                let kept = verification.may_be_lost.iter().all(Limit::is_meant);
                verification.verdict = if kept { Verdict::Proven } else { Verdict::MayBeLost };
            }
            let seen = observed.map(|observed| &observed.listeners[listener]);
            verification.proviso = proviso::of(network, index_of_stream, &verification, seen);
            verification
        })
        .collect();
    let verdict = listeners.iter().map(|listener| listener.verdict).max().unwrap_or_default();
    let proviso = listeners.iter().filter(|_| verdict == Verdict::Proven).filter_map(|one| one.proviso).max();
    StreamVerification { stream: index_of_stream, verdict, proviso, listeners, lost: observed.map(lost) }
}

/// The verdict by observation alone: `NotProven` where only a bound could decide.
fn judge_listener(
    stream: &Stream,
    listener: usize,
    observed: Option<&StreamObservation>,
    (contradicted, causes): (bool, Causes),
    not_served: Option<NotServed>,
) -> ListenerVerification {
    let seen = observed.map(|observed| &observed.listeners[listener]);
    let delay = seen.and_then(observed_delay);
    let late = seen.map_or(0, |seen| seen.late);
    let missed = stream.deadline.is_some_and(|deadline| {
        late > 0
            || delay.is_some_and(|delay| delay.max > deadline)
            || seen.is_some_and(|seen| listener_frames::discarded(seen, causes) > 0)
    });
    let withheld = seen.is_some_and(|seen| seen.withheld > 0);
    let verdict = match (contradicted, not_served, missed, stream.deadline) {
        (true, ..) => Verdict::Contradiction,
        // A loss is more specific than that nothing came, and a frame in transit was neither lost nor refused.
        (_, Some(NotServed::NothingDelivered), true, _) => Verdict::Missed,
        (_, Some(NotServed::NothingDelivered), false, _) if !withheld => Verdict::NotProven,
        (_, Some(_), ..) => Verdict::Refused,
        (_, _, true, _) => Verdict::Missed,
        (_, _, _, Some(_)) => Verdict::NotProven,
        (_, _, _, None) => Verdict::NoRequirement,
    };
    ListenerVerification {
        listener: stream.listeners[listener],
        deadline: stream.deadline,
        bound: None,
        jitter_bound: None,
        observed: delay,
        late,
        lost: seen.map(listener_frames::lost),
        not_served,
        margin_ps: None,
        taken_twice: false,
        may_be_lost: Vec::new(),
        stated: Vec::new(),
        proviso: None,
        causes,
        verdict,
    }
}

/// The delays that a listener saw; none if it saw no frame.
pub(crate) fn observed_delay(seen: &ListenerObservation) -> Option<ObservedDelay> {
    let worst = seen.worst.map(|worst| worst.delay);
    let max = worst.max(seen.delay.max())?;
    let jitter = seen.delay.max().zip(seen.delay.min()).map(|(max, min)| max - min);
    Some(ObservedDelay {
        max,
        min: seen.delay.min(),
        mean: seen.delay.mean(),
        standard_deviation: seen.delay.standard_deviation(),
        jitter,
    })
}

/// Copies lost for any reason; a copy that was eliminated because the other had come is none.
pub(crate) fn lost(observed: &StreamObservation) -> u64 {
    let is_lost = |reason| reason != DropReason::Eliminated;
    observed.dropped.iter().filter(|(reason, _)| is_lost(*reason)).map(|(_, count)| count).sum()
}

/// Deadline less bound, held within an `i64`.
fn margin(deadline: Option<Duration>, bound: Option<Duration>) -> Option<i64> {
    let (deadline, bound) = (i128::from(deadline?.as_ps()), i128::from(bound?.as_ps()));
    let margin = (deadline - bound).clamp(i128::from(i64::MIN), i128::from(i64::MAX));
    Some(i64::try_from(margin).expect("clamped"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    /// The verdict on the control stream with this deadline, bound and greatest observed delay.
    fn verdict(deadline: Option<u64>, bound: Option<u64>, observed: u64) -> Verdict {
        let (network, mut bounds, mut observation) = fixture::line();
        let network = network.altered(|parts| parts.streams[0].deadline = deadline.map(Duration::from_us));
        let listener = &mut bounds.streams[0].listeners[0];
        listener.delay = match bound {
            Some(us) => Ok(Duration::from_us(us)),
            None => Err(Unbounded::Overload {
                port: network.streams[0].hops[0].port,
                class: network.streams[0].hops[0].class,
            }),
        };
        listener.delay_min = Duration::ZERO;
        let worst = observation.streams[0].listeners[0].worst.as_mut().expect("observed");
        worst.delay = Duration::from_us(observed);
        observation.streams[0].listeners[0].delay = tautwire_observe::Moments::default();
        verify(&network, &bounds, &observation).streams[0].verdict
    }

    #[test]
    fn every_case_has_its_verdict() {
        for (deadline, bound, observed, expected) in [
            (Some(100), Some(90), 80, Verdict::Proven),
            (Some(100), Some(100), 100, Verdict::Proven),
            (Some(100), Some(110), 80, Verdict::NotProven),
            (Some(100), None, 80, Verdict::NotProven),
            (Some(100), Some(110), 105, Verdict::Missed),
            (Some(100), None, 105, Verdict::Missed),
            (Some(100), Some(90), 95, Verdict::Contradiction),
            (Some(100), Some(110), 115, Verdict::Contradiction),
            (None, Some(90), 80, Verdict::NoRequirement),
            (None, None, 80, Verdict::NoRequirement),
            (None, Some(90), 95, Verdict::Contradiction),
        ] {
            assert_eq!(verdict(deadline, bound, observed), expected, "{deadline:?} {bound:?} {observed}");
        }
    }

    #[test]
    fn a_discarded_frame_misses_its_deadline_and_a_damaged_one_does_not() {
        for (reason, expected) in
            [(DropReason::QueueFull, Verdict::Missed), (DropReason::BitError, Verdict::Proven)]
        {
            let (network, bounds, mut observation) = fixture::line();
            observation.streams[0].dropped = vec![(reason, 1)];
            observation.streams[0].listeners[0].dropped = vec![(reason, 1)];
            let verification = verify(&network, &bounds, &observation);
            assert_eq!(verification.streams[0].verdict, expected);
            assert_eq!(verification.streams[0].lost, Some(1));
        }
    }

    #[test]
    fn copies_beyond_skew_max_are_not_proven() {
        let text = include_str!("../../../scenarios/avionics.yaml");
        for (skew_max, expected) in [("1 ms", Verdict::Proven), ("100 us", Verdict::NotProven)] {
            let set = format!("redundancy: true, skew-max: {skew_max}}}");
            let text = text.replace("redundancy: true}", &set);
            let network = tautwire_model::load_text("avionics", &text).network.expect("no errors");
            let bounds = tautwire_analysis::bounds(&network);
            assert_eq!(judge(&network, Some(&bounds), None).streams[0].verdict, expected, "{skew_max}");
            // The table contains the reason.
            let summary = crate::summary::Summary::new(&network, Some(&bounds), None);
            let table = crate::table::not_proven(&summary);
            let has_reason = table.contains("skew-max of 100.000 us");
            assert_eq!(has_reason, expected == Verdict::NotProven, "{table}");
        }
    }

    #[test]
    fn frames_that_a_recovery_function_may_pass_twice_are_not_proven() {
        let text = include_str!("../../../scenarios/frame-replication.yaml");
        let by_match = text
            .replace("algorithm: vector", "algorithm: match")
            .replace("history-length: 16", "take-no-sequence: false");
        let alone = by_match.replace(
            "        - {node: s4, individual-recovery: true, history-length: 256, reset-timeout: 20 ms}\n",
            "",
        );
        let stuck = alone.replace(
            "events:\n",
            "events:\n  - {at: 5 ms, repeat-frame: {node: s2, stream: orders, interval: 150 us}}\n",
        );
        let again = "the listener may accept a frame twice, as the last recovery function before it may pass another copy of a frame that it has passed";
        for (text, words) in
            [(&alone, None), (&stuck, Some(format!("{again}, or what a stuck sender repeats\n")))]
        {
            let network = tautwire_model::load_text("replication", text).network.expect("no errors");
            let bounds = tautwire_analysis::bounds(&network);
            let summary = crate::summary::Summary::new(&network, Some(&bounds), None);
            let table = crate::table::not_proven(&summary);
            assert_eq!(table.is_empty(), words.is_none(), "{table}");
            assert!(table.ends_with(&words.unwrap_or_default()), "{table}");
        }
        // The function begins anew between copies.
        let anew = text
            .replace("events:\n", "events:\n  - {at: 5 ms, stop-node: s4}\n  - {at: 6 ms, start-node: s4}\n");
        let network = tautwire_model::load_text("replication", &anew).network.expect("no errors");
        let bounds = tautwire_analysis::bounds(&network);
        let table = crate::table::not_proven(&crate::summary::Summary::new(&network, Some(&bounds), None));
        assert!(table.ends_with(&format!("{again}\n")), "{table}");
    }

    #[test]
    fn half_of_the_results_gives_half_of_the_verdicts() {
        let (network, bounds, observation) = fixture::line();
        assert_eq!(judge(&network, Some(&bounds), None).streams[0].verdict, Verdict::Proven);
        assert_eq!(judge(&network, None, Some(&observation)).streams[0].verdict, Verdict::NotProven);
        assert_eq!(verify(&network, &bounds, &observation).verdict, Verdict::Missed);
    }

    #[test]
    fn the_margin_is_deadline_less_bound() {
        let us = Duration::from_us;
        assert_eq!(margin(Some(us(100)), Some(us(90))), Some(10_000_000));
        assert_eq!(margin(Some(us(90)), Some(us(100))), Some(-10_000_000));
        assert_eq!(margin(Some(Duration::ZERO), Some(Duration::MAX)), Some(i64::MIN));
        assert_eq!(margin(None, Some(us(1))), None);
    }
}
