//! `summary.json`: everything that was proven and observed, in numbers.
//!
//! It holds no time, host, path or version: equal runs give equal bytes. A key names its unit;
//! a part that was not computed is absent. `bounds` gives the bounds alone, `simulate` the
//! observation alone, `verify` both and the verdicts. Schema: `docs/schema/summary.schema.json`.
//!
//! Not here: how it is computed (`summarise.rs`).

mod delays;
mod ports;
mod streams;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::as6802::NetworkTimeSummary;
use crate::gptp::ClockSummary;
use crate::srp::reservation::ReservationSummary;
use crate::tdma::slots::SlotSummary;
use crate::tdma::start_up::StartUpSummary;
use crate::verdict::Verdict;

pub use delays::{
    DelayMoments, DelaySummary, HopDelaySummary, HopSummary, IntervalSummary, LateSummary, PartsSummary,
    Quantiles, WorstFrameSummary,
};
pub use ports::{ClassBoundSummary, ClassSummary, ClassTrafficSummary, PortSummary, PortTrafficSummary};
pub use streams::{
    ApplicationDelays, ApplicationSummary, BoundSummary, FrameCounts, LimitSummary, ListenerSummary,
    ReceptionSummary, StampedSummary, StreamSummary, UnboundedSummary,
};

/// The version of this format: raised when a key changes its meaning or goes.
pub const FORMAT: u32 = 1;

/// The results of one command on one network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Version of the format, 1.
    pub format: u32,
    /// Name of the network.
    pub network: String,
    /// The run, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunSummary>,
    /// The verdict, if there are bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification: Option<VerificationSummary>,
    /// The search for the worst runs, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adversary: Option<crate::adversary::AdversarySearch>,
    /// What became of the messages of the test, if there is one and it was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<crate::test_bed::TestSummary>,
    /// Per stream, in the order of the description.
    pub streams: Vec<StreamSummary>,
    /// Per port that a link leaves from, in the order of the description.
    pub ports: Vec<PortSummary>,
    /// Per reserved stream, if there was a run of a network with stream reservation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reservations: Vec<ReservationSummary>,
    /// What a CNC or an ACMaster refused, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<crate::admission::refusal::RefusalSummary>,
    /// VLANs at ports of bridges, if there was a run of a network with MVRP.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vlan_registrations: Vec<crate::srp::vlan_registration::VlanRegistrationSummary>,
    /// Per node, if there was a run of a network with gPTP.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<ClockSummary>,
    /// Masters and nodes, if there was a run of a network with HaRTES.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harts: Option<crate::harts::HartsSummary>,
    /// Per slot, if there was a run of a network with TDMA.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<SlotSummary>,
    /// Cycle by cycle what became of the slots, if there was a run of a network with TDMA.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tdma_cycles: Option<crate::tdma::cycles::CyclesSummary>,
    /// What the takeover of the standby takes, in a network with TDMA that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takeover: Option<crate::tdma::takeover::TakeoverSummary>,
    /// What failures of the description add to bounds, by kind, in a network with TDMA; of several kinds all together last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<crate::tdma::takeover::FailureSummary>,
    /// Per station, if there was a run of a TDMA network that starts up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub start_up: Vec<StartUpSummary>,
    /// Per virtual link.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub virtual_links: Vec<crate::virtual_link::VirtualLinkSummary>,
    /// Network time, of a time-triggered network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_time: Option<NetworkTimeSummary>,
    /// Tables of what mechanisms observed, of requests that were refused and of frames of protocols that were lost, if there was a run with such.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mechanisms: Vec<crate::mechanism_tables::MechanismTable>,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunSummary {
    /// Seed.
    pub seed: u64,
    /// Simulated time.
    pub duration_ps: u64,
    /// Frames created before it count in checks and not in statistics.
    pub warm_up_ps: u64,
    /// Transmissions of a frame over a link.
    pub frame_hops: u64,
    /// Hash over all transmissions, 16 hexadecimal digits: equal runs have equal hashes.
    pub trace_hash: String,
}

/// The verdicts of all streams.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerificationSummary {
    /// The worst verdict.
    pub verdict: Verdict,
    /// Streams of each verdict.
    pub streams: BTreeMap<String, u64>,
    /// Observations above their bounds, each a sentence.
    pub contradictions: Vec<String>,
}

impl Summary {
    /// As the text of `summary.json`: keys in the order of this file, a line feed at the end.
    #[must_use]
    pub fn to_json(&self) -> String {
        crate::json::rows(self)
    }

    /// Reads `summary.json`.
    ///
    /// # Errors
    /// If it is no JSON, or not of this format.
    pub fn from_json(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// The schema of `summary.json` (JSON Schema 2020-12), a line feed at the end.
    #[must_use]
    pub fn schema() -> String {
        let mut schema = schemars::schema_for!(Self);
        schema.insert("$id".to_owned(), serde_json::json!("urn:tautwire:schema:summary"));
        let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
        text.push('\n');
        text
    }
}
