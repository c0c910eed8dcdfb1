//! Datagrams of several frames in results.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tautwire_model::network::Stream;
use tautwire_sim::DatagramObservation;
use tautwire_units::Duration;

use crate::summary::Summary;
use crate::table::microseconds;

/// A stream's datagrams at a listener; delays count from the talker's application to the last piece, after the warm-up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DatagramSummary {
    /// Frames of a datagram.
    pub fragments: u32,
    /// Datagrams that the talker's application created.
    pub sent: u64,
    /// Datagrams that the listener put together.
    pub reassembled: u64,
    /// Datagrams that gave way to others before they were complete.
    pub given_up: u64,
    /// Least delay of a complete one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_min_ps: Option<u64>,
    /// Mean delay, to the nearest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_mean_ps: Option<u64>,
    /// Greatest delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_max_ps: Option<u64>,
}

/// What a listener observed of a stream's datagrams.
pub(crate) fn summary(stream: &Stream, seen: Option<&DatagramObservation>) -> Option<DatagramSummary> {
    let (cut, seen) = (stream.datagrams?, seen?);
    Some(DatagramSummary {
        fragments: cut.fragments(),
        sent: seen.sent,
        reassembled: seen.reassembled,
        given_up: seen.given_up,
        delay_min_ps: seen.delay.min().map(Duration::as_ps),
        delay_mean_ps: seen.delay.mean().map(Duration::as_ps),
        delay_max_ps: seen.delay.max().map(Duration::as_ps),
    })
}

/// A table of all datagrams, a row for each stream and listener; empty if there are none.
#[must_use]
pub fn table(summary: &Summary) -> String {
    let pairs = summary.streams.iter().flat_map(|stream| {
        stream
            .listeners
            .iter()
            .filter_map(move |listener| Some((stream, listener, listener.datagrams.as_ref()?)))
    });
    let rows: Vec<_> = pairs.collect();
    if rows.is_empty() {
        return String::new();
    }
    let width = |least: usize, names: &mut dyn Iterator<Item = usize>| names.max().unwrap_or(0).max(least);
    let first = width(9, &mut rows.iter().map(|(stream, ..)| stream.name.chars().count()));
    let second = width(8, &mut rows.iter().map(|(_, listener, _)| listener.listener.chars().count()));
    let mut text = String::new();
    let rule = |width: usize| "─".repeat(width);
    let heads = ["frames", "sent", "reassembled", "given up", "mean us", "greatest us"];
    writeln!(
        text,
        "{:first$}  {:second$}  {:>6}  {:>8}  {:>8}  {:>8}  {:>11}  {:>11}\n{}",
        "datagrams",
        "listener",
        heads[0],
        heads[1],
        heads[2],
        heads[3],
        heads[4],
        heads[5],
        [first, second, 6, 8, 8, 8, 11, 11].map(rule).join("  ")
    )
    .expect("a string can be written");
    let us = |ps: Option<u64>| ps.map_or_else(|| "-".to_owned(), |ps| microseconds(ps.into()));
    for (stream, listener, seen) in rows {
        writeln!(
            text,
            "{:first$}  {:second$}  {:>6}  {:>8}  {:>8}  {:>8}  {:>11}  {:>11}",
            stream.name,
            listener.listener,
            seen.fragments,
            seen.sent,
            seen.reassembled,
            seen.given_up,
            us(seen.delay_mean_ps),
            us(seen.delay_max_ps)
        )
        .expect("a string can be written");
    }
    text
}
