//! Where frames may be lost although nothing fails: limits that are not proven to be enough, as results and as text.
//!
//! Not here: how they are found (`tautwire-analysis`), what a run lost (`summary.rs`).

use std::fmt::Write;

use tautwire_analysis::Limit;
use tautwire_model::Network;

use crate::summary::{LimitSummary, StreamSummary, Summary};
use crate::verdict::Verdict;

/// A limit as it stands in results.
pub(crate) fn summary(network: &Network, limit: &Limit) -> LimitSummary {
    LimitSummary {
        kind: limit.name().to_owned(),
        place: limit.place(network),
        traffic_class: limit.class().map(|class| class.number()),
        limit: limit.limit,
        needed: limit.needed,
        unit: limit.unit().to_owned(),
        meant: limit.is_meant(),
        text: limit.told(network),
    }
}

/// Where streams with deadlines may lose frames, a line for each limit with the streams that meet it; nothing if there is none.
#[must_use]
pub fn table(summary: &Summary) -> String {
    let mut limits: Vec<(&str, Vec<&str>)> = Vec::new();
    let asks =
        |stream: &&StreamSummary| stream.verdict.is_some_and(|verdict| verdict != Verdict::NoRequirement);
    for stream in summary.streams.iter().filter(asks) {
        let each = stream.listeners.iter().flat_map(|listener| &listener.may_be_lost);
        for limit in each.filter(|limit| !limit.meant) {
            note(&mut limits, &limit.text, stream);
        }
    }
    let mut text = String::new();
    for (limit, streams) in limits {
        let shown = streams.len().min(SHOWN);
        let names = streams[..shown].join(", ");
        let more = match streams.len() - shown {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        writeln!(text, "may be lost: {names}{more} at {limit}").expect("a string can be written");
    }
    text
}

/// Streams that are named for a limit.
const SHOWN: usize = 4;

fn note<'a>(limits: &mut Vec<(&'a str, Vec<&'a str>)>, text: &'a str, stream: &'a StreamSummary) {
    let place = limits.iter().position(|(known, _)| *known == text).unwrap_or_else(|| {
        limits.push((text, Vec::new()));
        limits.len() - 1
    });
    if !limits[place].1.contains(&stream.name.as_str()) {
        limits[place].1.push(&stream.name);
    }
}
