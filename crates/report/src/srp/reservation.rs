//! Stream reservation in results: its part of `summary.json`, its table, and the ladder of one stream.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tautwire_analysis::{Bounds, admission_bounds};
use tautwire_model::network::{Network, NodeIndex, NodeKind};
use tautwire_sim::{Declaration, Observation, ReservationObservation, RungEvent};
use tautwire_units::Duration;

use crate::admission::bounds::{allowed, reason};
use crate::harts;
use crate::name;
use crate::summary::Summary;

/// The reservation of a stream in a run. Times are true ones since the start; a sent MRPDU counts from its first bit,
/// a received one from its last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReservationSummary {
    /// The stream.
    pub stream: String,
    /// From the first talker advertise on the wire at the talker to the first ready, or ready failed, received there; of
    /// central admission of HaRTES from the talker's request to its answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_up_ps: Option<u64>,
    /// From the last of the talker's offer and the first request of a listener to the talker's leave to send: comparable
    /// between the models of configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admission_ps: Option<u64>,
    /// Most that the admission may take if nobody refuses the stream and no frame of the protocol is lost; with bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admission_bound_ps: Option<u64>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admission_unbounded: Option<String>,
    /// When the talker first began to send the stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_ps: Option<u64>,
    /// Whether the talker sends it at the end of the run.
    pub sends: bool,
    /// How often the talker had to stop though nobody withdrew or detached.
    pub lapses: u32,
    /// The last failure code that a listener which asked received (802.1Q-2022 Table 46-15).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_code: Option<u8>,
    /// The time that each bridge took, in the order in which they received the declaration.
    pub bridges: Vec<BridgeSummary>,
    /// What happened, in order of time; changes alone.
    pub ladder: Vec<RungSummary>,
}

/// What a bridge took to pass a stream's declarations on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BridgeSummary {
    /// The bridge.
    pub bridge: String,
    /// From the talker advertise received to the first one sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub talker_ps: Option<u64>,
    /// From the listener's ready received to its ready sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listener_ps: Option<u64>,
    /// From the talker advertise sent to the listener's ready received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind_ps: Option<u64>,
}

/// One thing that happened to a reservation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RungSummary {
    /// When.
    pub at_ps: u64,
    /// The node.
    pub node: String,
    /// What: offered, withdrawn, asked, detached, sent, received, reserved, released, shaped, regulated, started, stopped; of central
    /// admission of HaRTES asked, sent, received, passed, failed, configured, removed, acknowledged, refused, released.
    pub event: String,
    /// At which of its ports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    /// What the MRPDU declares, or the message of central configuration or admission, or which idleSlope the class or parameters the ATS scheduler has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declaration: Option<String>,
    /// The node at the other end of the cable; of a message of central configuration or admission, whom it is for or from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
}

/// The reservations of a run.
pub(crate) fn summaries(
    network: &Network,
    bounds: Option<&Bounds>,
    observation: &Observation,
) -> Vec<ReservationSummary> {
    let reserved = observation.reservations.iter().map(|seen| summary(network, seen));
    let mut all: Vec<_> = reserved.chain(harts::admission::reservations(network, observation)).collect();
    for bound in bounds.map_or_else(Vec::new, |bounds| admission_bounds(network, bounds)) {
        let name = &network.streams[bound.stream.index()].name;
        let Some(summary) = all.iter_mut().find(|summary| summary.stream == *name) else { continue };
        match allowed(&bound, observation) {
            Ok(delay) => summary.admission_bound_ps = Some(delay.as_ps()),
            Err(why) => summary.admission_unbounded = Some(reason(network, why)),
        }
    }
    all
}

fn summary(network: &Network, seen: &ReservationObservation) -> ReservationSummary {
    let stream = &network.streams[seen.stream.index()];
    let ps = |span: Option<Duration>| span.map(Duration::as_ps);
    let is_bridge = |node: NodeIndex| matches!(network.nodes[node.index()].kind, NodeKind::Bridge { .. });
    let last = seen.ladder.iter().rev().find_map(|rung| match rung.event {
        RungEvent::Started => Some(true),
        RungEvent::Stopped => Some(false),
        _ => None,
    });
    let rung = |rung: &tautwire_sim::Rung| {
        let port = rung.event.port();
        let peer = port.filter(|_| rung.event.declaration().is_some()).and_then(|port| {
            let links = network.ports[port.index()].links?;
            let to = network.links[links.egress.index()].to;
            Some(name::node(network, network.ports[to.index()].node).to_owned())
        });
        RungSummary {
            at_ps: rung.at.as_ps(),
            node: name::node(network, rung.node).to_owned(),
            event: rung.event.name().to_owned(),
            port: port.map(|port| network.ports[port.index()].name.clone()),
            declaration: rung
                .event
                .declaration()
                .map(Declaration::name)
                .or(rung.event.control().map(|(_, note)| note.name()))
                .or(rung.event.idle_slope().map(|slope| format!("idleSlope {slope}")))
                .or(regulated(rung.event)),
            peer: peer.or(rung.event.control().map(|(node, _)| name::node(network, node).to_owned())),
        }
    };
    ReservationSummary {
        stream: stream.name.clone(),
        set_up_ps: ps(seen.set_up(stream.talker)),
        admission_ps: ps(seen.admission()),
        admission_bound_ps: None,
        admission_unbounded: None,
        started_ps: ps(seen.first(|rung| rung.event == RungEvent::Started)),
        sends: last == Some(true),
        lapses: seen.lapses(),
        failure_code: seen.failure(&stream.listeners),
        bridges: seen
            .bridges(is_bridge)
            .into_iter()
            .map(|delays| BridgeSummary {
                bridge: name::node(network, delays.bridge).to_owned(),
                talker_ps: ps(delays.talker),
                listener_ps: ps(delays.listener),
                behind_ps: ps(delays.behind),
            })
            .collect(),
        ladder: seen.ladder.iter().map(rung).collect(),
    }
}

/// Which ATS parameters a scheduler has from then on.
fn regulated(event: RungEvent) -> Option<String> {
    match event {
        RungEvent::Regulated(_, Some((rate, burst))) => Some(format!("ATS {rate}, {burst}")),
        RungEvent::Regulated(_, None) => Some("no ATS parameters".to_owned()),
        _ => None,
    }
}

/// Picoseconds as milliseconds with three decimals, to the nearest.
fn milliseconds(ps: u64) -> String {
    let us = (ps + 500_000) / 1_000_000;
    format!("{}.{:03}", us / 1_000, us % 1_000)
}

/// A table of the reservations, a row for each; empty if there are none.
#[must_use]
pub fn table(summary: &Summary) -> String {
    if summary.reservations.is_empty() {
        return String::new();
    }
    let widest =
        summary.reservations.iter().map(|seen| seen.stream.chars().count()).max().unwrap_or(0).max(11);
    let mut text = format!(
        "{:widest$}  {:>9}  {:>12}  {:>10}  {:>10}  {:>6}  {:>7}  state\n",
        "reservation", "set-up ms", "admission ms", "bound ms", "started ms", "lapses", "failure"
    );
    let rule = |width: usize| "─".repeat(width);
    let rules = [rule(widest), rule(9), rule(12), rule(10), rule(10), rule(6), rule(7), rule(8)];
    writeln!(text, "{}", rules.join("  ")).expect("a string can be written");
    for seen in &summary.reservations {
        let ms = |ps: Option<u64>| ps.map_or_else(|| "-".to_owned(), milliseconds);
        let state = if seen.sends { "reserved" } else { "silent" };
        let failure = seen.failure_code.map_or_else(|| "-".to_owned(), |code| code.to_string());
        writeln!(
            text,
            "{:widest$}  {:>9}  {:>12}  {:>10}  {:>10}  {:>6}  {failure:>7}  {state}",
            seen.stream,
            ms(seen.set_up_ps),
            ms(seen.admission_ps),
            ms(seen.admission_bound_ps),
            ms(seen.started_ps),
            seen.lapses
        )
        .expect("a string can be written");
    }
    writeln!(text, "control traffic: {} frames, counted on every link", control_frames(summary))
        .expect("a string can be written");
    text
}

/// Frames of MSRP and MVRP, of central configuration and of central admission, counted on every link that they pass.
#[must_use]
pub fn control_frames(summary: &Summary) -> u64 {
    let is_control = |name: &str| ["msrp:", "mvrp:", "control:"].iter().any(|own| name.starts_with(own));
    let streams = summary.streams.iter().filter(|stream| is_control(&stream.name));
    streams
        .flat_map(|stream| &stream.hops)
        .filter_map(|hop| hop.observed.as_ref())
        .map(|seen| seen.count)
        .sum()
}

/// The ladder of one stream, a line for each rung; empty if it is not reserved.
#[must_use]
pub fn ladder(summary: &Summary, stream: &str) -> String {
    let Some(seen) = summary.reservations.iter().find(|seen| seen.stream == stream) else {
        return String::new();
    };
    let mut text = format!("{stream}, its reservation (ms since the start)\n");
    for rung in &seen.ladder {
        write!(text, "{:>12}  {:8} {}", milliseconds(rung.at_ps), rung.node, rung.event)
            .expect("a string can be written");
        let towards = if rung.event == "sent" { "to" } else { "from" };
        match (&rung.declaration, &rung.peer, &rung.port) {
            (Some(declaration), Some(peer), _) => write!(text, " {declaration} {towards} {peer}"),
            (Some(declaration), None, Some(port)) => write!(text, " {port} to {declaration}"),
            (_, _, Some(port)) => write!(text, " on {port}"),
            _ => Ok(()),
        }
        .expect("a string can be written");
        text.push('\n');
    }
    text
}
