//! Central admission of HaRTES in results: requests and answers, the ACMasters, and ladders of reservations.
//!
//! The ladder of a stream has the form of those of stream reservation, so that table, text and page show it as one.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tautwire_model::network::{Network, StreamIndex};
use tautwire_sim::{AdmissionEvent, AdmissionRung, HartsObservation, Observation};
use tautwire_units::Duration;

use crate::harts::HartsSummary;
use crate::name;
use crate::srp::reservation::{ReservationSummary, RungSummary};
use crate::table::microseconds;

/// A talker or listener that asked for a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestSummary {
    /// The stream.
    pub stream: String,
    /// Who asked.
    pub node: String,
    /// Whether that is the talker.
    pub talker: bool,
    /// When it asked, true time since the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_ps: Option<u64>,
    /// From the request to the answer at the application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ps: Option<u64>,
    /// Whether it was granted.
    pub granted: bool,
    /// The stream in whose way it was, if it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The link that was down on its way, if it was refused, or ended, for that: the switch that reported it, and its neighbour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<[String; 2]>,
}

/// A link as the master of its switch knows it at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SwitchLinkSummary {
    /// The switch.
    pub switch: String,
    /// The node at the other end.
    pub neighbour: String,
    /// Whether it is up.
    pub up: bool,
    /// What streams that were asked for have reserved of it towards that node, bit/s: the capacities of their servers, each in its period,
    /// and the messages of the schedule, each in its own.
    pub reserved_bps: u64,
}

/// An ACMaster at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AcMasterSummary {
    /// Its switch.
    pub switch: String,
    /// Whether it is the active one.
    pub active: bool,
    /// Tests that it made.
    pub tests: u64,
    /// When it took over from the other one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_over_ps: Option<u64>,
    /// Streams that stand.
    pub standing: Vec<String>,
}

fn stream_name(network: &Network, stream: StreamIndex) -> Option<String> {
    network.streams.get(stream.index()).map(|one| one.name.clone())
}

/// Requests, in the order of the description.
pub(crate) fn requests(network: &Network, seen: &HartsObservation) -> Vec<RequestSummary> {
    let summary = |request: &tautwire_sim::RequestObservation| RequestSummary {
        stream: stream_name(network, request.stream).unwrap_or_default(),
        node: name::node(network, request.node).to_owned(),
        talker: request.is_talker,
        asked_ps: request.asked_at.map(Duration::as_ps),
        latency_ps: request.latency().map(Duration::as_ps),
        granted: request.granted,
        subject: request.subject.and_then(|subject| stream_name(network, subject)),
        cut: request.cut.map(|link| link.map(|node| name::node(network, node).to_owned())),
    };
    seen.requests.iter().map(summary).collect()
}

/// The links of the switches at the end.
pub(crate) fn links(network: &Network, seen: &HartsObservation) -> Vec<SwitchLinkSummary> {
    let summary = |link: &tautwire_sim::SwitchLink| SwitchLinkSummary {
        switch: name::node(network, link.switch).to_owned(),
        neighbour: name::node(network, link.neighbour).to_owned(),
        up: link.up,
        reserved_bps: link.reserved.as_bps(),
    };
    seen.links.iter().map(summary).collect()
}

/// The ACMasters at the end.
pub(crate) fn acmasters(network: &Network, seen: &HartsObservation) -> Vec<AcMasterSummary> {
    let took_over = |master: &tautwire_sim::MasterState| {
        let of_master =
            |rung: &&AdmissionRung| rung.event == AdmissionEvent::TookOver && rung.node == master.switch;
        seen.ladder.iter().find(of_master).map(|rung| rung.at.as_ps())
    };
    let summary = |master: &tautwire_sim::MasterState| AcMasterSummary {
        switch: name::node(network, master.switch).to_owned(),
        active: master.active,
        tests: master.tests,
        took_over_ps: took_over(master),
        standing: master.standing.iter().filter_map(|one| stream_name(network, *one)).collect(),
    };
    seen.acmasters.iter().map(summary).collect()
}

/// The reservation of every requested stream, in the form of the summary of stream reservation.
pub(crate) fn reservations(network: &Network, observation: &Observation) -> Vec<ReservationSummary> {
    let Some(seen) = &observation.harts else { return Vec::new() };
    let talkers = seen.requests.iter().filter(|request| request.is_talker);
    talkers.map(|request| reservation(network, seen, request)).collect()
}

fn reservation(
    network: &Network,
    seen: &HartsObservation,
    request: &tautwire_sim::RequestObservation,
) -> ReservationSummary {
    let own = || seen.ladder.iter().filter(|rung| rung.stream == request.stream);
    let talker = || own().filter(|rung| rung.node == request.node);
    let asked = |is_talker: bool| {
        let of = move |rung: &&AdmissionRung| {
            rung.event == AdmissionEvent::Asked && (rung.node == request.node) == is_talker
        };
        own().find(of).map(|rung| rung.at)
    };
    let started = talker().find(|rung| rung.event == AdmissionEvent::Acknowledged).map(|rung| rung.at);
    let complete = asked(true).zip(asked(false)).map(|(talker, listener)| talker.max(listener));
    let is_no = |event| matches!(event, AdmissionEvent::Refused | AdmissionEvent::CutOff);
    // One that was refused before is answered already, whichever other request follows.
    let refused = talker().find(|rung| is_no(rung.event)).map(|rung| rung.at);
    let complete = complete.filter(|_| refused.is_none_or(|at| started.is_some_and(|started| started < at)));
    let mut last = talker().rev().filter_map(|rung| match rung.event {
        AdmissionEvent::Acknowledged => Some(true),
        AdmissionEvent::Released
        | AdmissionEvent::Refused
        | AdmissionEvent::Paused
        | AdmissionEvent::CutOff => Some(false),
        _ => None,
    });
    let rung = |rung: &AdmissionRung| RungSummary {
        at_ps: rung.at.as_ps(),
        node: name::node(network, rung.node).to_owned(),
        event: rung.event.name().to_owned(),
        port: None,
        declaration: rung.event.message().map(|(message, _)| message.to_owned()),
        peer: rung.event.message().map(|(_, peer)| name::node(network, peer).to_owned()),
    };
    ReservationSummary {
        stream: stream_name(network, request.stream).unwrap_or_default(),
        set_up_ps: request.latency().map(Duration::as_ps),
        admission_ps: complete.zip(started).map(|(since, until)| (until - since).as_ps()),
        admission_bound_ps: None,
        admission_unbounded: None,
        started_ps: started.map(Duration::as_ps),
        sends: last.next() == Some(true),
        lapses: 0,
        failure_code: None,
        bridges: Vec::new(),
        ladder: own().map(rung).collect(),
    }
}

/// Requests, a row for each.
pub(crate) fn table(harts: &HartsSummary) -> String {
    if harts.requests.is_empty() {
        return String::new();
    }
    let names = harts.requests.iter().flat_map(|request| [&request.stream, &request.node]);
    let widest = names.map(|name| name.chars().count()).max().unwrap_or(0).max(7);
    let rule = |width: usize| "─".repeat(width);
    let mut text = format!("{:widest$}  {:widest$}  {:>12}  answer\n", "request", "of", "latency us");
    writeln!(text, "{}", [rule(widest), rule(widest), rule(12), rule(7)].join("  "))
        .expect("a string can be written");
    for request in &harts.requests {
        let latency = request.latency_ps.map_or_else(|| "-".to_owned(), |ps| microseconds(i128::from(ps)));
        let answer = match (&request.subject, request.granted, request.latency_ps) {
            (_, true, _) => "granted".to_owned(),
            _ if let Some([switch, neighbour]) = &request.cut => {
                format!("cut off: {switch} to {neighbour} is down")
            }
            (Some(subject), ..) => format!("refused: {subject} would be late"),
            (None, _, Some(_)) => "refused".to_owned(),
            (None, _, None) => "none".to_owned(),
        };
        writeln!(text, "{:widest$}  {:widest$}  {latency:>12}  {answer}", request.stream, request.node)
            .expect("a string can be written");
    }
    text
}
