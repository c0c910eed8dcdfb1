//! Ports and their classes in `summary.json`: traffic, backlogs, credits and their bounds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An egress port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PortSummary {
    /// Node, point, name.
    pub port: String,
    /// The node at the other end of the link.
    pub to: String,
    /// Rate of the link.
    pub rate_bps: u64,
    /// What was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<PortTrafficSummary>,
    /// Classes that are used, the highest first.
    pub classes: Vec<ClassSummary>,
}

/// What an egress port sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PortTrafficSummary {
    /// Frames sent.
    pub frames: u64,
    /// Octets sent, destination to FCS.
    pub octets: u64,
    /// Time with the line taken, media overhead included.
    pub busy_ps: u64,
    /// Share of the run with the line taken, parts per million, to the nearest.
    pub utilisation_ppm: u64,
    /// Frames discarded by its queues.
    pub dropped: u64,
    /// Frames received here that the ATS schedulers of this port discarded; absent if none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub scheduler_discarded: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A traffic class of an egress port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClassSummary {
    /// Number, 0 to 7; a higher one is served first.
    pub traffic_class: u8,
    /// Transmission selection algorithm.
    pub selection: String,
    /// idleSlope of a credit-based shaper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_slope_bps: Option<u64>,
    /// What was observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<ClassTrafficSummary>,
    /// What is proven.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<ClassBoundSummary>,
}

/// What was observed of a class of a port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClassTrafficSummary {
    /// Frames sent.
    pub frames: u64,
    /// Frames discarded.
    pub dropped: u64,
    /// Most frames that waited.
    pub backlog_max_frames: u32,
    /// Most octets that waited, destination to FCS.
    pub backlog_max_octets: u64,
    /// Greatest credit of a credit-based shaper, away from zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hi_credit_bits: Option<i64>,
    /// Least credit of a credit-based shaper, away from zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lo_credit_bits: Option<i64>,
}

/// What is proven of a class of a port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClassBoundSummary {
    /// Most octets that wait or are being sent, destination to FCS, rounded up; absent if there is no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backlog_max_octets: Option<u64>,
    /// Greatest credit, rounded up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hi_credit_bits: Option<i64>,
    /// Least credit, rounded down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lo_credit_bits: Option<i64>,
    /// Sustained rate, parts per million of the line's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilisation_ppm: Option<u32>,
}
