//! What a run shows.

use serde::Serialize;

/// What a bridge saw of a reservation, nanoseconds since the run's start; none if it did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AtBridge {
    /// The talker's declaration comes in.
    pub talker_in_ns: Option<u64>,
    /// It goes on.
    pub talker_out_ns: Option<u64>,
    /// The listener's declaration comes in.
    pub listener_in_ns: Option<u64>,
    /// It goes on.
    pub listener_out_ns: Option<u64>,
}

/// A request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RequestOutcome {
    /// The stream.
    pub name: String,
    /// Whether it was granted; false also if it was not answered.
    pub granted: bool,
    /// From the talker's request to its answer, nanoseconds; none if there was none.
    pub latency_ns: Option<u64>,
    /// HaRTES: from the request's arrival at the ACMaster that completed the pair to the end of the test.
    pub test_ns: Option<u64>,
    /// HaRTES: its place among the tests.
    pub place: Option<u64>,
    /// AVB: at the bridges, by number.
    pub bridges: Vec<AtBridge>,
}

/// A run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// Per request, in order.
    pub requests: Vec<RequestOutcome>,
    /// Admission tests that were made: by the ACMaster, or by all bridges (at the talker's declaration and at the
    /// listener's).
    pub tests: u64,
    /// AVB: most MRPDUs of a port of a station or bridge within 300 ms.
    pub pdus_in_300_ms: u64,
    /// HaRTES: messages that a standby confirmed.
    pub replicated: u64,
}
