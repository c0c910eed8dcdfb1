//! Delays in `summary.json`: moments, quantiles, intervals, worst frames; and hops with the parts of their delays.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::BoundSummary;

/// Delays of frames, and the distances of their arrivals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DelayMoments {
    /// Frames that count here: those after the warm-up.
    pub count: u64,
    /// Least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_min_ps: Option<u64>,
    /// Mean, to the nearest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_mean_ps: Option<u64>,
    /// Greatest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_max_ps: Option<u64>,
    /// Sample standard deviation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_sd_ps: Option<u64>,
    /// Quantiles, each rounded up to within 1/128 and never above the greatest; absent without histogram.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantiles: Option<Quantiles>,
    /// Distances between arrivals; absent below two frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<IntervalSummary>,
}

/// Delays seen by a listener, from the talker's application to the last bit at the listener's MAC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DelaySummary {
    /// After the warm-up.
    #[serde(flatten)]
    pub delays: DelayMoments,
    /// Half the width of the 95 % confidence interval of the mean, frames taken for independent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_mean_ci95_ps: Option<u64>,
    /// Greatest less least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter_ps: Option<u64>,
    /// Sum of the delays, in decimal digits (it may exceed 64 bits).
    pub delay_sum_ps: String,
    /// Sum of their squares, in decimal digits.
    pub delay_sum_squares_ps2: String,
    /// Greatest delay of all frames, those of the warm-up too: what tables and page call the observed max.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_max_ps: Option<u64>,
    /// Frames later than the deadline, those of the warm-up too.
    pub late: u64,
    /// For each further span that the stream counts (`count-late`): frames that took longer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late_at: Vec<LateSummary>,
    /// The frame with the greatest delay, those of the warm-up too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<WorstFrameSummary>,
}

/// How many frames took longer than a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LateSummary {
    /// The span.
    pub deadline_ps: u64,
    /// Frames that took longer, those of the warm-up too.
    pub late: u64,
}

/// Delays that a share of the frames does not exceed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Quantiles {
    /// Half of them.
    pub delay_p50_ps: u64,
    /// 90 %.
    pub delay_p90_ps: u64,
    /// 99 %.
    pub delay_p99_ps: u64,
    /// 99.9 %.
    pub delay_p99_9_ps: u64,
    /// 99.99 %.
    pub delay_p99_99_ps: u64,
}

/// Distances between the arrivals of a stream's frames at a listener.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalSummary {
    /// Distances.
    pub count: u64,
    /// Least.
    pub interval_min_ps: u64,
    /// Mean.
    pub interval_mean_ps: u64,
    /// Greatest.
    pub interval_max_ps: u64,
    /// Sample standard deviation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_sd_ps: Option<u64>,
}

/// The frame with the greatest delay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorstFrameSummary {
    /// Its number in the stream, from 0.
    pub number: u32,
    /// When it was created, since the start of the run.
    pub created_ps: u64,
    /// Its delay.
    pub delay_ps: u64,
}

/// A stream at one egress port and on its link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HopSummary {
    /// Egress port: node, point, name.
    pub port: String,
    /// The node at the other end of the link.
    pub to: String,
    /// The hop before, as an index of this list; absent at the talker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<u32>,
    /// Traffic class at this port.
    pub traffic_class: u8,
    /// What was observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<HopDelaySummary>,
    /// What is proven.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<BoundSummary>,
    /// The method that gave the greatest delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
}

/// Delays of a stream at one hop, from the last bit received (the application, at the talker) to the
/// last bit at the next node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HopDelaySummary {
    /// Frames that passed it.
    pub count: u64,
    /// The greatest delay.
    pub delay_max_ps: u64,
    /// Sums of the parts of the delays; they add up exactly.
    pub sum: PartsSummary,
    /// Means of the parts, each to the nearest.
    pub mean: PartsSummary,
}

/// The parts of a delay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartsSummary {
    /// In the stages of the device or host.
    pub processing_ps: u64,
    /// Held by its own shaper, by the wait for a slot, or by the BAG of its virtual link.
    pub shaping_ps: u64,
    /// The rest of the waiting.
    pub queueing_ps: u64,
    /// Onto the wire, first bit to last.
    pub transmission_ps: u64,
    /// On the wire and in the PHYs.
    pub propagation_ps: u64,
}
