//! Network time in results: how far the clocks of a time-triggered network were apart, what of that is
//! stated and what proven, and which nodes had no network time.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tautwire_analysis::Bounds;
use tautwire_model::as6802::containment::Uncontained;
use tautwire_model::network::{Network, NodeIndex, Stream, StreamIndex, TimelineAction, Traffic};
use tautwire_model::time_triggered::Release;
use tautwire_sim::{NetworkTimeObservation, Observation};
use tautwire_units::Duration;

use crate::summary::Summary;
use crate::table::microseconds;

/// Network time of a time-triggered network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkTimeSummary {
    /// The precision that the description states, which schedule and bounds use.
    pub precision_ps: u64,
    /// The precision that the synchronisation is proven to keep; none if clocks are corrected as stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision_bound_ps: Option<u64>,
    /// Greatest difference of the network times of two nodes that had it, at any instant of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision_observed_ps: Option<u64>,
    /// Greatest jitter at a listener of any time-triggered link whose application follows network time: the
    /// longest delay that was observed less the shortest, from its release to the last bit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter_observed_ps: Option<u64>,
    /// The longest that synchronisation takes once all masters and links work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resynchronisation_max_ps: Option<u64>,
    /// When the last node first had network time, true time since the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synchronised_ps: Option<u64>,
    /// Why no precision is proven: what of the synchronisation is not contained.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_contained: Vec<String>,
    /// Nodes whose protocol control frames may be under way for longer than is allowed: nothing that rests on the network
    /// time of their cluster is proven.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late_control_frames: Vec<String>,
    /// Each cluster, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<ClusterSummary>,
    /// Nodes that lost it in the run, left it for that of another cluster, or never had it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<WithoutSummary>,
}

/// A cluster of a synchronised network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterSummary {
    /// Its name.
    pub name: String,
    /// Synchronisation domain.
    pub domain: u8,
    /// Synchronisation priority.
    pub sync_priority: u8,
    /// The clusters that it gives way to, the highest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gives_way_to: Vec<String>,
    /// The precision that nodes which follow it are proven to keep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision_bound_ps: Option<u64>,
    /// Greatest difference of the network times of two nodes that followed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision_observed_ps: Option<u64>,
    /// The longest that synchronisation of its nodes takes once all works, with those it gives way to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resynchronisation_max_ps: Option<u64>,
    /// Nodes that follow it at the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes_at_end: Option<usize>,
}

/// A node that was without network time after it had it, or always.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WithoutSummary {
    /// The node.
    pub node: String,
    /// When it first had network time; none if never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synchronised_ps: Option<u64>,
    /// How often it lost it, other than by giving way.
    pub lost: u64,
    /// How often it gave way to a cluster above its own.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub gave_way: u64,
    /// The longest that it was without, from a loss until it had it again.
    pub without_max_ps: u64,
    /// Whether it is without at the end.
    pub at_end: bool,
}

/// What is known of network time; none without time-triggered traffic.
pub(crate) fn summary(
    network: &Network,
    bounds: Option<&Bounds>,
    observation: Option<&Observation>,
) -> Option<NetworkTimeSummary> {
    let settings = network.time_triggered?;
    let seen = observation.and_then(|observation| observation.network_time.as_ref());
    let nodes = seen.map_or(&[][..], |seen| &seen.nodes);
    let without = nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| node.lost + node.gave_way > 0 || node.synchronised_at.is_none());
    Some(NetworkTimeSummary {
        precision_ps: settings.precision.as_ps(),
        precision_bound_ps: bounds.and_then(|bounds| proven(network, bounds)).map(Duration::as_ps),
        precision_observed_ps: seen.map(|seen| seen.precision.as_ps()),
        jitter_observed_ps: observation.and_then(|run| jitter_observed(network, run)).map(Duration::as_ps),
        resynchronisation_max_ps: network.resynchronisation_max().map(Duration::as_ps),
        synchronised_ps: seen.and_then(|seen| seen.synchronised_at()).map(Duration::as_ps),
        not_contained: network.clusters().filter_map(|cluster| not_contained(network, cluster)).collect(),
        late_control_frames: bounds.map_or_else(Vec::new, |bounds| late(network, bounds)),
        clusters: clusters(network, bounds, seen),
        without: without
            .map(|(number, node)| WithoutSummary {
                node: network.nodes[number].name.clone(),
                synchronised_ps: node.synchronised_at.map(Duration::as_ps),
                lost: node.lost,
                gave_way: node.gave_way,
                without_max_ps: node.without_max.as_ps(),
                at_end: node.synchronised_at.is_none() || node.without_since.is_some(),
            })
            .collect(),
    })
}

/// The greatest precision of all clusters; none if that of one is not proven.
fn proven(network: &Network, bounds: &Bounds) -> Option<Duration> {
    let mut all =
        network.clusters().map(|cluster| tautwire_analysis::proven_precision(network, bounds, cluster));
    all.try_fold(None, |most, of| Some(most.max(Some(of?)))).flatten()
}

/// Whose control frames may be too late.
fn late(network: &Network, bounds: &Bounds) -> Vec<String> {
    let late = tautwire_analysis::late_control_frames(network, bounds);
    late.map(|(node, _)| network.nodes[node.index()].name.clone()).collect()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Why the network time of a cluster is not contained, if it is not.
fn not_contained(network: &Network, cluster: u16) -> Option<String> {
    let name = |node: NodeIndex| &network.nodes[node.index()].name;
    Some(match network.uncontained(cluster)? {
        Uncontained::CompressionMaster(node) => format!("faults of compression master {}", name(node)),
        Uncontained::Masters(node) => format!("faults of master {}", name(node)),
        Uncontained::Cliques => "two cliques of half of the masters".to_owned(),
    })
}

/// Each of several clusters.
fn clusters(
    network: &Network,
    bounds: Option<&Bounds>,
    seen: Option<&NetworkTimeObservation>,
) -> Vec<ClusterSummary> {
    let Some(made) = network.as6802.as_ref().filter(|made| made.clusters.len() > 1) else {
        return Vec::new();
    };
    let name = |place: u16| made.clusters[usize::from(place)].name.clone();
    let summary = |place: u16| {
        let cluster = &made.clusters[usize::from(place)];
        let followers = |seen: &NetworkTimeObservation| {
            seen.nodes.iter().filter(|node| node.cluster == Some(place)).count()
        };
        ClusterSummary {
            name: cluster.name.clone(),
            domain: cluster.domain,
            sync_priority: cluster.sync_priority,
            gives_way_to: made.above(place).into_iter().map(name).collect(),
            precision_bound_ps: bounds
                .and_then(|bounds| tautwire_analysis::proven_precision(network, bounds, place))
                .map(Duration::as_ps),
            precision_observed_ps: seen.map(|seen| seen.clusters[usize::from(place)].as_ps()),
            resynchronisation_max_ps: network.resynchronisation_max_of(place).map(Duration::as_ps),
            nodes_at_end: seen.map(followers),
        }
    };
    network.clusters().map(summary).collect()
}

/// The greatest jitter of the links that are locked to network time; none if none was received.
fn jitter_observed(network: &Network, observation: &Observation) -> Option<Duration> {
    let is_locked =
        |stream: &Stream| stream.time_triggered.as_ref().is_some_and(|link| link.release == Release::Locked);
    let seen = network.streams.iter().zip(&observation.streams).filter(|(stream, _)| is_locked(stream));
    let listeners = seen.flat_map(|(_, seen)| &seen.listeners);
    let jitters = listeners.filter_map(|one| Some(one.delay.max()?.saturating_sub(one.delay.min()?)));
    jitters.max()
}

/// After which time all nodes have network time, if a time-triggered stream may send frames before that: those are lost.
pub(crate) fn begins_without(network: &Network, stream: StreamIndex) -> Option<Duration> {
    network.as6802.as_ref()?;
    network.streams[stream.index()].time_triggered.as_ref()?;
    let until = network.resynchronisation_max()?;
    (first_frame(network, stream)? < until).then_some(until)
}

/// When the first frame of a stream is created at the earliest; none if never.
fn first_frame(network: &Network, number: StreamIndex) -> Option<Duration> {
    let stream = &network.streams[number.index()];
    if let Traffic::Response { to, .. } = stream.traffic {
        return first_frame(network, to);
    }
    let starts = network.events.iter().filter_map(|event| match event.action {
        TimelineAction::StartStream(other) if other == number => Some(event.at),
        _ => None,
    });
    let start = if stream.started { Some(Duration::ZERO) } else { starts.min() };
    let offset = match stream.traffic {
        Traffic::Periodic { offset, .. } => offset,
        _ => Duration::ZERO,
    };
    // By its own clock it may be a thousandth early.
    Some(start? + offset.saturating_sub(Duration::from_ps(offset.as_ps() / 1_000)))
}

/// A line on a node that was without network time.
fn without(node: &WithoutSummary) -> String {
    let times = |what: &str, count: u64| match count {
        0 => None,
        1 => Some(format!("{what} once")),
        count => Some(format!("{what} {count} times")),
    };
    let parts = [times("gave way to another cluster", node.gave_way), times("lost network time", node.lost)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        return format!("{} never had network time", node.node);
    }
    let most = match node.without_max_ps {
        0 => String::new(),
        most => format!(", and had none for {} us at most", microseconds(most.into())),
    };
    let end = if node.at_end { ", and has none at the end" } else { "" };
    format!("{} {}{most}{end}", node.node, parts.join(" and "))
}

/// Lines on network time; empty without synchronisation by protocol control frames.
#[must_use]
pub fn table(summary: &Summary) -> String {
    let Some(time) = summary.network_time.as_ref().filter(|time| time.resynchronisation_max_ps.is_some())
    else {
        return String::new();
    };
    let us = |ps: Option<u64>| ps.map_or_else(|| "-".to_owned(), |ps| microseconds(ps.into()));
    let mut text = String::new();
    let mut push = |line: String| writeln!(text, "{line}").expect("a string can be written");
    push(format!(
        "clock precision us: {} stated, {} proven, {} observed",
        us(Some(time.precision_ps)),
        us(time.precision_bound_ps),
        us(time.precision_observed_ps)
    ));
    if let Some(jitter) = time.jitter_observed_ps {
        push(format!("jitter of links in network time us: {} observed", us(Some(jitter))));
    }
    if let Some(at) = time.synchronised_ps {
        push(format!("all nodes synchronised after {} us", us(Some(at))));
    }
    for what in &time.not_contained {
        push(format!("not contained: {what}"));
    }
    if !time.late_control_frames.is_empty() {
        let of = time.late_control_frames.join(", ");
        push(format!(
            "protocol control frames may exceed max-transmission-delay, so nothing in network time is proven: {of}"
        ));
    }
    for cluster in &time.clusters {
        let above = match &cluster.gives_way_to[..] {
            [] => String::new(),
            above => format!(", gives way to {}", above.join(", ")),
        };
        let nodes = cluster.nodes_at_end.map_or(String::new(), |nodes| format!(", {nodes} nodes at the end"));
        push(format!(
            "cluster {} (domain {}, priority {}{above}): precision us: {} proven, {} observed{nodes}",
            cluster.name,
            cluster.domain,
            cluster.sync_priority,
            us(cluster.precision_bound_ps),
            us(cluster.precision_observed_ps),
        ));
    }
    for node in &time.without {
        push(without(node));
    }
    let frames = summary.streams.iter().filter(|stream| stream.name.starts_with("pcf:"));
    for stream in frames {
        let bound =
            stream.listeners.iter().map(|one| one.bound.as_ref().and_then(|bound| bound.delay_max_ps));
        let bound: Option<Option<u64>> = bound.reduce(|one, other| one.zip(other).map(|(a, b)| a.max(b)));
        let seen = stream.listeners.iter().filter_map(|one| one.observed.as_ref()?.delays.delay_max_ps).max();
        push(format!(
            "protocol control frames of {}: bound {} us, observed {} us, max-transmission-delay {} us",
            stream.talker,
            us(bound.flatten()),
            us(seen),
            us(stream.deadline_ps)
        ));
    }
    text
}
