//! HaRTES in results: what masters polled, and what nodes received and answered.
//!
//! Central admission is in `admission.rs`, the windows of the elementary cycle in `schedule.rs`.

pub mod admission;
pub(crate) mod schedule;

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tautwire_model::network::Network;
use tautwire_sim::{CycleFrame, Observation};

use self::admission::{AcMasterSummary, RequestSummary, SwitchLinkSummary};
use crate::name;
use crate::summary::Summary;
use crate::table::microseconds;

/// Masters and nodes of a run with HaRTES.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HartsSummary {
    /// Switches that send trigger messages.
    pub masters: Vec<MasterSummary>,
    /// Their nodes.
    pub nodes: Vec<ListeningSummary>,
    /// Requests of central admission, one for each who asks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestSummary>,
    /// The ACMaster and its standby at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acmasters: Vec<AcMasterSummary>,
    /// The links of the switches at the end, as their masters know them, with central admission.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<SwitchLinkSummary>,
    /// Frames of the first elementary cycles after the warm-up, as they left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<CycleFrameSummary>,
}

/// A frame in an elementary cycle of the switch at its line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CycleFrameSummary {
    /// The port that it left from.
    pub port: String,
    /// Its stream.
    pub stream: String,
    /// Its number in it.
    pub number: u32,
    /// The cycle, from the first after the warm-up.
    pub cycle: u64,
    /// The window in which it began: trigger, turn-around, synchronous, asynchronous or guard.
    pub window: String,
    /// From the start of the cycle.
    pub begin_ps: u64,
    /// When the line was free again, from there.
    pub end_ps: u64,
}

/// A switch's master.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MasterSummary {
    /// The switch.
    pub switch: String,
    /// Elementary cycles.
    pub cycles: u64,
    /// Synchronous messages that were polled.
    pub polled: u64,
    /// Messages that were still waiting when the next of their stream was released.
    pub dropped: u64,
    /// Messages of other switches that it sent on in synchronous windows of its own.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub relayed: u64,
    /// Those that it discarded, for their pools were full.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub overflowed: u64,
    /// The most that the messages of one cycle took.
    pub longest_ps: u64,
}

/// A node at a switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListeningSummary {
    /// The node.
    pub node: String,
    /// Trigger messages that it was sent.
    pub sent: u64,
    /// Those that it decoded.
    pub heard: u64,
    /// Messages of its own that were polled.
    pub polled: u64,
    /// Those that it sent.
    pub answered: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What a run with HaRTES observed.
pub(crate) fn summary(network: &Network, observation: &Observation) -> Option<HartsSummary> {
    let seen = observation.harts.as_ref()?;
    let masters = seen.masters.iter().map(|master| MasterSummary {
        switch: name::node(network, master.switch).to_owned(),
        cycles: master.cycles,
        polled: master.polled,
        dropped: master.dropped,
        relayed: master.relayed,
        overflowed: master.overflowed,
        longest_ps: master.longest.as_ps(),
    });
    let nodes = seen.nodes.iter().map(|node| ListeningSummary {
        node: name::node(network, node.node).to_owned(),
        sent: node.sent,
        heard: node.heard,
        polled: node.polled,
        answered: node.answered,
    });
    Some(HartsSummary {
        masters: masters.collect(),
        nodes: nodes.collect(),
        requests: admission::requests(network, seen),
        acmasters: admission::acmasters(network, seen),
        links: admission::links(network, seen),
        frames: seen.frames.iter().map(|frame| cycle_frame(network, frame)).collect(),
    })
}

fn cycle_frame(network: &Network, frame: &CycleFrame) -> CycleFrameSummary {
    let windows = network.harts.iter().flat_map(schedule::windows);
    let inside = windows.into_iter().find(|(_, from, to)| (*from..*to).contains(&frame.begin));
    CycleFrameSummary {
        port: name::port(network, frame.port),
        stream: network.streams[frame.stream.index()].name.clone(),
        number: frame.number,
        cycle: frame.cycle,
        window: inside.map_or("guard", |(window, ..)| window).to_owned(),
        begin_ps: frame.begin.as_ps(),
        end_ps: frame.end.as_ps(),
    }
}

/// Tables of masters and nodes, if anything is polled, and of requests, if there are any.
#[must_use]
pub fn table(summary: &Summary) -> String {
    let Some(harts) = &summary.harts else { return String::new() };
    let mut text = polled(harts);
    text.push_str(&admission::table(harts));
    text
}

fn polled(harts: &HartsSummary) -> String {
    if harts.masters.iter().all(|master| master.polled == 0) {
        return String::new();
    }
    let names = harts.masters.iter().map(|master| &master.switch);
    let names = names.chain(harts.nodes.iter().map(|node| &node.node));
    let widest = names.map(|name| name.chars().count()).max().unwrap_or(0).max(6);
    let rule = |width: usize| "─".repeat(width);
    let rules = [rule(widest), rule(9), rule(9), rule(9), rule(10)].join("  ");
    let mut text = String::new();
    let heads = [
        ("master", "cycles", "polled", "dropped", "longest us"),
        ("node", "triggers", "heard", "polled", "answered"),
    ];
    let head = |text: &mut String, (name, a, b, c, d): (&str, &str, &str, &str, &str)| {
        let line = format!("{name:widest$}  {a:>9}  {b:>9}  {c:>9}  {d:>10}");
        writeln!(text, "{}\n{rules}", line.trim_end()).expect("a string can be written");
    };
    head(&mut text, heads[0]);
    for master in harts.masters.iter().filter(|master| master.polled + master.relayed > 0) {
        let longest = microseconds(i128::from(master.longest_ps));
        writeln!(
            text,
            "{:widest$}  {:>9}  {:>9}  {:>9}  {longest:>10}",
            master.switch, master.cycles, master.polled, master.dropped
        )
        .expect("a string can be written");
    }
    if harts.masters.iter().any(|master| master.relayed + master.overflowed > 0) {
        head(&mut text, ("master", "relayed", "discarded", "", ""));
    }
    for master in harts.masters.iter().filter(|master| master.relayed + master.overflowed > 0) {
        writeln!(text, "{:widest$}  {:>9}  {:>9}", master.switch, master.relayed, master.overflowed)
            .expect("a string can be written");
    }
    head(&mut text, heads[1]);
    for node in harts.nodes.iter().filter(|node| node.polled > 0) {
        writeln!(
            text,
            "{:widest$}  {:>9}  {:>9}  {:>9}  {:>10}",
            node.node, node.sent, node.heard, node.polled, node.answered
        )
        .expect("a string can be written");
    }
    text
}
