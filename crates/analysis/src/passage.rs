//! What is known of a stream's passage through a port, once the ports before it are analysed.

use tautwire_model::Tags;

use crate::curve::Line;
use crate::plan::{Entry, Plan, signed, tag_ratio};
use crate::result::Method;

/// No reason: there is a bound.
pub(crate) const NO_REASON: u32 = u32::MAX;

/// A stream behind a shaper: what it was held to, and its way since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shaped {
    /// Bits of the wire at the shaper's port, rate in true time.
    pub(crate) line: Line,
    /// With what tags it was there.
    pub(crate) tagged: Tags,
    /// From eligible to the last bit at the next node, greatest.
    pub(crate) way_max: u64,
    /// The part of it by which bursts grow (`port/spread.rs`).
    pub(crate) spread: u64,
    /// Least time from the application to eligible.
    pub(crate) origin_min: i64,
    /// Whether all sub-virtual-links of its link pass the shaper, which lets them through as one.
    pub(crate) of_link: bool,
    /// The entry at whose far end it is, if it is a flow meter; else [`NONE`](crate::plan::NONE).
    pub(crate) meter: u32,
}

/// Greatest times, all in true time, none where there is no bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    /// From the application to the queue (to eligible, for ATS).
    pub(crate) ready_max: Option<u64>,
    /// From the application to the start of transmission.
    pub(crate) start_max: Option<u64>,
    /// From the application to the last bit at the next node.
    pub(crate) next_max: Option<u64>,
    /// The part of that by which bursts grow, if it is known (`port/spread.rs`).
    pub(crate) spread_max: Option<u64>,
    /// From the last bit here to the last bit at the next node.
    pub(crate) hop_max: Option<u64>,
    /// From the queue (eligible) to the last bit at the next node.
    pub(crate) sending_max: Option<u64>,
    /// Its arrivals at the queue.
    pub(crate) queued: Brought,
    /// The last shaper, as the next node sees it.
    pub(crate) shaped: Option<Shaped>,
    /// Why there is no bound: of the stream so far, a number of the list of reasons.
    pub(crate) reason: u32,
    /// Why there is none at this hop alone.
    pub(crate) hop_reason: u32,
    /// How this hop's was found.
    pub(crate) method: Method,
}

impl Passage {
    /// By what part of the time from the application to the last bit at the next node bursts grow at most.
    pub(crate) fn grows_by(&self) -> Option<u64> {
        let all = self.next_max?;
        Some(self.spread_max.map_or(all, |spread| spread.min(all)))
    }

    /// The least possible passage: the start of a fixed-point iteration.
    pub(crate) fn least(entry: &Entry) -> Self {
        let time = |ps: i64| Some(u64::try_from(ps).unwrap_or(0));
        Self {
            ready_max: time(entry.ready_min),
            start_max: time(entry.ready_min),
            next_max: time(entry.next_min),
            spread_max: None,
            hop_max: time(entry.hop_min),
            sending_max: time(entry.next_min - entry.ready_min),
            queued: Brought::default(),
            shaped: None,
            reason: NO_REASON,
            hop_reason: NO_REASON,
            method: Method::None,
        }
    }
}

/// The arrivals of a stream at a queue, in true time and in bits on the wire there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Brought {
    /// What its talker promised, its burst grown by the jitter of its way.
    pub(crate) promised: Option<Line>,
    /// The output of the last shaper, increased in the same way.
    pub(crate) shaped: Option<Line>,
}

impl Brought {
    /// The line with the least burst.
    pub(crate) fn least_burst(self) -> Option<Line> {
        match (self.promised, self.shaped) {
            (Some(promised), Some(shaped)) => {
                Some(if shaped.burst < promised.burst { shaped } else { promised })
            }
            (promised, shaped) => promised.or(shaped),
        }
    }

    /// The line with the least rate.
    pub(crate) fn least_rate(self) -> Option<Line> {
        match (self.promised, self.shaped) {
            (Some(promised), Some(shaped)) => {
                Some(if shaped.rate < promised.rate { shaped } else { promised })
            }
            (promised, shaped) => promised.or(shaped),
        }
    }
}

/// The arrivals of a stream when its delay so far was at most `since_talker` from the application, and `since_shaper`
/// from the last shaper, and at least `least` from the application.
pub(crate) fn brought(
    plan: &Plan<'_>,
    entry: &Entry,
    since_talker: Option<u64>,
    since_shaper: Option<(Shaped, u64)>,
    least: i64,
) -> Brought {
    #[cfg(feature = "planted-faults")]
    let (since_talker, since_shaper) = if plan.fault == Some(crate::PlantedFault::BurstNotGrown) {
        (since_talker.map(|_| 0), since_shaper.map(|(shaped, _)| (shaped, 0)))
    } else {
        (since_talker, since_shaper)
    };
    let promised = entry.promise.zip(since_talker).map(|(line, most)| {
        let jitter = signed(most) - least;
        let jitter = u64::try_from(jitter).unwrap_or(0) + entry.talker_slack;
        line.after_jitter(line.rate, jitter)
    });
    let shaped = since_shaper.map(|(shaped, most)| {
        let stream = plan.stream(entry.stream);
        let line = shaped.line.in_bits(tag_ratio(stream, shaped.tagged, entry.tagged));
        let jitter = signed(most) - (least - shaped.origin_min);
        line.after_jitter(line.rate, u64::try_from(jitter).unwrap_or(0))
    });
    Brought { promised, shaped }
}
