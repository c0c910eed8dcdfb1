//! Where frames may be lost without a failure: limits that are not proven to be enough, as results and as text.
//!
//! Not here: how they are found (`tautwire-analysis`), the losses of a run (`summary.rs`).

use std::collections::BTreeMap;
use std::fmt::Write;

use tautwire_analysis::Limit;
use tautwire_model::Network;

use crate::summary::{LimitSummary, ListenerSummary, StreamSummary, Summary};
use crate::table::described;
use crate::verdict::Verdict;

/// A limit in the form of results.
pub(crate) fn summary(network: &Network, limit: &Limit) -> LimitSummary {
    LimitSummary {
        kind: limit.kind.name.to_owned(),
        place: limit.place(network),
        traffic_class: limit.class().map(|class| class.number()),
        limit: limit.limit,
        needed: limit.needed,
        unit: limit.kind.unit.to_owned(),
        meant: limit.is_meant(),
        text: limit.text(network),
    }
}

/// Where streams with deadlines may lose frames, a line for each limit with the streams that meet it; nothing if there is none.
#[must_use]
pub fn table(summary: &Summary) -> String {
    let limits = |listener: &ListenerSummary| {
        let all = listener.may_be_lost.iter().filter(|limit| !limit.meant);
        all.map(|limit| limit.text.clone()).collect()
    };
    let mut text = String::new();
    for (limit, streams) in grouped(summary, limits) {
        writeln!(text, "may be lost: {streams} at {limit}").expect("a string can be written");
    }
    text
}

/// Streams that are named for a limit.
const SHOWN: usize = 4;

/// The texts about listeners of streams with deadlines, each with the names of its streams.
pub(crate) fn grouped(
    summary: &Summary,
    texts: impl Fn(&ListenerSummary) -> Vec<String>,
) -> Vec<(String, String)> {
    let mut all: Vec<(String, Vec<&str>)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let asks =
        |stream: &&StreamSummary| stream.verdict.is_some_and(|verdict| verdict != Verdict::NoRequirement);
    for stream in described(summary).filter(asks) {
        for text in stream.listeners.iter().flat_map(&texts) {
            let place = *places.entry(text.clone()).or_insert(all.len());
            if place == all.len() {
                all.push((text, Vec::new()));
            }
            // Listeners of one stream are adjacent.
            if all[place].1.last() != Some(&stream.name.as_str()) {
                all[place].1.push(&stream.name);
            }
        }
    }
    let names = |streams: Vec<&str>| {
        let shown = streams.len().min(SHOWN);
        let more = match streams.len() - shown {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{}{more}", streams[..shown].join(", "))
    };
    all.into_iter().map(|(text, streams)| (text, names(streams))).collect()
}
