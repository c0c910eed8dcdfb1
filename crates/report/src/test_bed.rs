//! The test of a test bed in results: what `summary.json` says of its messages, and its table.

use std::collections::BTreeMap;
use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tautwire_model::network::{Network, StreamIndex, Test};
use tautwire_observe::Moments;
use tautwire_sim::{CaptureObservation, ClockOffsets, LinkObservation, MessageObservation, TestObservation};
use tautwire_units::Duration;

use crate::name;
use crate::summary::Summary;
use crate::table::microseconds;

/// What a test observed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestSummary {
    /// Per transmit task.
    pub messages: Vec<MessageSummary>,
    /// Per capture task and stream.
    pub captures: Vec<CaptureSummary>,
    /// Per station whose system clock is disciplined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<StationClockSummary>,
}

/// How far a station's system clock was off at the corrections of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StationClockSummary {
    /// The station.
    pub station: String,
    /// Offsets without their signs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<SpanSummary>,
}

/// What became of the messages of a transmit task: sent = complete + lost + open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MessageSummary {
    /// Number of the task, which is their identifier.
    pub id: u32,
    /// The route by which they are sent.
    pub route: String,
    /// Messages sent.
    pub sent: u64,
    /// Messages that came to all their receivers, over all links of their way.
    pub complete: u64,
    /// Messages lost, by reason.
    pub lost: BTreeMap<String, u64>,
    /// Messages that did not come and of which nothing is known: under way at the end, or lost.
    pub open: u64,
    /// Receptions where nobody was to receive.
    pub misdirected: u64,
    /// Receptions that failed the CRC.
    pub corrupted: u64,
    /// Receptions of what had come before.
    pub repeated: u64,
    /// Latencies above `outliers-above`, in no statistics.
    pub outliers: u64,
    /// From the sender and back to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<SpanSummary>,
    /// Per route of their way and receiver.
    pub links: Vec<LinkSummary>,
}

/// What was observed of messages on one link of their way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinkSummary {
    /// The route.
    pub route: String,
    /// The sender.
    pub from: String,
    /// The receiver.
    pub to: String,
    /// Messages received.
    pub received: u64,
    /// From sender to receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_way: Option<SpanSummary>,
    /// Octets of a message over its mean latency, bits per second, rounded down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput_bps: Option<u64>,
    /// Distances between messages sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transmit_period: Option<SpanSummary>,
    /// Distances between messages received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_period: Option<SpanSummary>,
}

/// What a tap saw of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaptureSummary {
    /// Number of the task.
    pub task: u32,
    /// The stream.
    pub stream: String,
    /// Frames that passed.
    pub frames: u64,
    /// Distances of the tap's stamps; their deviation is the hardware jitter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<SpanSummary>,
}

/// Spans of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpanSummary {
    /// How many.
    pub count: u64,
    /// Least.
    pub min_ps: u64,
    /// Mean, to the nearest.
    pub mean_ps: u64,
    /// Greatest.
    pub max_ps: u64,
    /// Sample standard deviation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sd_ps: Option<u64>,
}

impl SpanSummary {
    fn of(moments: &Moments) -> Option<Self> {
        Some(Self {
            count: moments.count(),
            min_ps: moments.min()?.as_ps(),
            mean_ps: moments.mean()?.as_ps(),
            max_ps: moments.max()?.as_ps(),
            sd_ps: moments.standard_deviation().map(Duration::as_ps),
        })
    }
}

/// The test of a run.
pub(crate) fn summary(network: &Network, seen: &TestObservation) -> TestSummary {
    TestSummary {
        messages: seen.messages.iter().map(|one| message(network, one)).collect(),
        captures: seen.captures.iter().map(|one| capture(network, one)).collect(),
        clocks: seen.clocks.iter().map(|one| clock(network, one)).collect(),
    }
}

fn stream(network: &Network, route: StreamIndex) -> String {
    network.streams[route.index()].name.clone()
}

fn message(network: &Network, seen: &MessageObservation) -> MessageSummary {
    let route = network.test.as_ref().and_then(|test| test.messages().find(|(id, _)| *id == seen.id));
    MessageSummary {
        id: seen.id,
        route: route.map(|(_, route)| stream(network, route)).unwrap_or_default(),
        sent: seen.sent,
        complete: seen.complete,
        lost: seen.lost.iter().map(|(reason, count)| ((*reason).to_owned(), *count)).collect(),
        open: seen.open,
        misdirected: seen.misdirected,
        corrupted: seen.corrupted,
        repeated: seen.repeated,
        outliers: seen.outliers,
        round_trip: SpanSummary::of(&seen.round_trip),
        links: seen.links.iter().map(|one| link(network, one)).collect(),
    }
}

fn link(network: &Network, seen: &LinkObservation) -> LinkSummary {
    let of = &network.streams[seen.route.index()];
    let one_way = SpanSummary::of(&seen.one_way);
    let octets = of.payload_max.get().saturating_sub(Test::HEADERS.get());
    let throughput = one_way.filter(|span| span.mean_ps > 0).and_then(|span| {
        u64::try_from(u128::from(octets) * 8 * 1_000_000_000_000 / u128::from(span.mean_ps)).ok()
    });
    LinkSummary {
        route: of.name.clone(),
        from: name::node(network, of.talker).to_owned(),
        to: name::node(network, seen.to).to_owned(),
        received: seen.received,
        one_way,
        throughput_bps: throughput,
        transmit_period: SpanSummary::of(&seen.transmit_period),
        receive_period: SpanSummary::of(&seen.receive_period),
    }
}

fn capture(network: &Network, seen: &CaptureObservation) -> CaptureSummary {
    CaptureSummary {
        task: seen.task,
        stream: stream(network, seen.stream),
        frames: seen.frames,
        period: SpanSummary::of(&seen.period),
    }
}

fn clock(network: &Network, seen: &ClockOffsets) -> StationClockSummary {
    StationClockSummary {
        station: name::node(network, seen.station).to_owned(),
        offset: SpanSummary::of(&seen.offset),
    }
}

/// The messages of a test, a line each and one for each of their links; empty without a test.
#[must_use]
pub fn table(summary: &Summary) -> String {
    let mut text = String::new();
    let Some(test) = &summary.test else { return text };
    let us = |ps: u64| microseconds(ps.into());
    let span = |span: Option<SpanSummary>| {
        span.map_or_else(
            || "-".to_owned(),
            |span| {
                let sd = span.sd_ps.map_or_else(|| "-".to_owned(), us);
                format!("{} ± {sd} us ({} to {})", us(span.mean_ps), us(span.min_ps), us(span.max_ps))
            },
        )
    };
    for one in &test.messages {
        let lost: u64 = one.lost.values().sum();
        let reasons: Vec<String> = one.lost.iter().map(|(why, count)| format!("{why} {count}")).collect();
        let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
        write!(
            text,
            "message {} by {}: {} sent, {} complete, {lost} lost{reasons}",
            one.id, one.route, one.sent, one.complete
        )
        .and_then(|()| {
            writeln!(
                text,
                ", {} open, {} misdirected, {} corrupted, {} outliers",
                one.open, one.misdirected, one.corrupted, one.outliers
            )
        })
        .expect("a string can be written");
        for link in &one.links {
            writeln!(
                text,
                "  {} to {}: one way {}, receive period {}",
                link.from,
                link.to,
                span(link.one_way),
                span(link.receive_period)
            )
            .expect("a string can be written");
        }
        if one.round_trip.is_some() {
            writeln!(text, "  round trip {}", span(one.round_trip)).expect("a string can be written");
        }
    }
    for one in &test.captures {
        writeln!(
            text,
            "tap of task {}, {}: {} frames, period {}",
            one.task,
            one.stream,
            one.frames,
            span(one.period)
        )
        .expect("a string can be written");
    }
    for one in test.clocks.iter().filter(|one| one.offset.is_some()) {
        writeln!(text, "clock of {}: off by {}", one.station, span(one.offset))
            .expect("a string can be written");
    }
    text
}
