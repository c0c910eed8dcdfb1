//! The test of a test bed in results: its part of `summary.json` about messages, and its table.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tautwire_model::network::{Network, StreamIndex};
use tautwire_observe::{Moments, SignedMoments};
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
    /// Messages with a latency above `outliers-above` on any of their links, in no statistics.
    pub outliers: u64,
    /// From the sender and back to it, by all ways back.
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
    /// From sender to receiver, by their clocks: below zero where these differ by more than it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_way: Option<SpanSummary>,
    /// Octets of the messages over the sum of their latencies, bits per second, rounded down; none of a sum below zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput_bps: Option<u64>,
    /// From the message's first sender to this receiver, where they are one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<SpanSummary>,
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

/// Spans of time; below zero where two clocks differ by more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpanSummary {
    /// How many.
    pub count: u64,
    /// Least.
    pub min_ps: i64,
    /// Mean, to the nearest.
    pub mean_ps: i64,
    /// Greatest.
    pub max_ps: i64,
    /// Sample standard deviation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sd_ps: Option<u64>,
}

impl SpanSummary {
    fn of(moments: &SignedMoments) -> Option<Self> {
        Some(Self {
            count: moments.count(),
            min_ps: moments.min_ps()?,
            mean_ps: moments.mean_ps()?,
            max_ps: moments.max_ps()?,
            sd_ps: moments.standard_deviation_ps(),
        })
    }

    fn of_unsigned(moments: &Moments) -> Option<Self> {
        let signed = |span: Duration| i64::try_from(span.as_ps()).unwrap_or(i64::MAX);
        Some(Self {
            count: moments.count(),
            min_ps: signed(moments.min()?),
            mean_ps: signed(moments.mean()?),
            max_ps: signed(moments.max()?),
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
    let route = network.test_bed.as_ref().and_then(|test| test.messages().find(|(id, _)| *id == seen.id));
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
    let throughput = one_way.and_then(|span| {
        let sum_ps = u128::try_from(i128::from(span.mean_ps) * i128::from(span.count)).ok()?;
        let bits = u128::from(seen.octets) * 8;
        u64::try_from((bits * 1_000_000_000_000).checked_div(sum_ps)?).ok()
    });
    LinkSummary {
        route: of.name.clone(),
        from: name::node(network, of.talker).to_owned(),
        to: name::node(network, seen.to).to_owned(),
        received: seen.received,
        one_way,
        throughput_bps: throughput,
        round_trip: SpanSummary::of(&seen.round_trip),
        transmit_period: SpanSummary::of(&seen.transmit_period),
        receive_period: SpanSummary::of(&seen.receive_period),
    }
}

fn capture(network: &Network, seen: &CaptureObservation) -> CaptureSummary {
    CaptureSummary {
        task: seen.task,
        stream: stream(network, seen.stream),
        frames: seen.frames,
        period: SpanSummary::of_unsigned(&seen.period),
    }
}

fn clock(network: &Network, seen: &ClockOffsets) -> StationClockSummary {
    StationClockSummary {
        station: name::node(network, seen.station).to_owned(),
        offset: SpanSummary::of_unsigned(&seen.offset),
    }
}

/// The messages of a test, a line each and one for each of their links; empty without a test.
#[must_use]
pub fn table(summary: &Summary) -> String {
    let mut text = String::new();
    let Some(test) = &summary.test else { return text };
    let us = |ps: u64| microseconds(ps.into());
    let signed = |ps: i64| format!("{}{}", if ps < 0 { "-" } else { "" }, us(ps.unsigned_abs()));
    let span = |span: Option<SpanSummary>| {
        span.map_or_else(
            || "-".to_owned(),
            |span| {
                let sd = span.sd_ps.map_or_else(|| "-".to_owned(), us);
                let (least, mean, most) = (signed(span.min_ps), signed(span.mean_ps), signed(span.max_ps));
                format!("{mean} ± {sd} us ({least} to {most})")
            },
        )
    };
    for one in &test.messages {
        let lost: u64 = one.lost.values().sum();
        let reasons: Vec<String> = one.lost.iter().map(|(why, count)| format!("{why} {count}")).collect();
        let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
        text += &format!(
            "message {} by {}: {} sent, {} complete, {lost} lost{reasons}, {} open, {} misdirected, {} corrupted, {} repeated, {} outliers\n",
            one.id,
            one.route,
            one.sent,
            one.complete,
            one.open,
            one.misdirected,
            one.corrupted,
            one.repeated,
            one.outliers
        );
        let backs = one.links.iter().filter(|link| link.round_trip.is_some()).count();
        for link in &one.links {
            text += &format!(
                "  {} to {}: one way {}, transmit period {}, receive period {}\n",
                link.from,
                link.to,
                span(link.one_way),
                span(link.transmit_period),
                span(link.receive_period)
            );
            if backs > 1 && link.round_trip.is_some() {
                text += &format!("  round trip by {}: {}\n", link.route, span(link.round_trip));
            }
        }
        if one.round_trip.is_some() {
            text += &format!("  round trip {}\n", span(one.round_trip));
        }
    }
    for one in &test.captures {
        text += &format!(
            "tap of task {}, {}: {} frames, period {}\n",
            one.task,
            one.stream,
            one.frames,
            span(one.period)
        );
    }
    for one in test.clocks.iter().filter(|one| one.offset.is_some()) {
        text += &format!("clock of {}: off by {}\n", one.station, span(one.offset));
    }
    text
}
