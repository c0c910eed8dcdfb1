//! Nodes as the description lists them, before links give them their remaining ports.

use std::collections::HashMap;

use tautwire_units::{ClockOffset, Duration};

use super::models::Models;
use crate::network::{Clock, Learning, NodeIndex, NodeKind};
use crate::text::faults::{Faults, did_you_mean};
use crate::text::tree::{Node, Place};
use crate::text::{codes, scalar};

/// All nodes by name.
pub(crate) struct Drafts<'t, 'a> {
    /// In file order.
    pub(crate) list: Vec<Draft<'t, 'a>>,
    index: HashMap<&'a str, NodeIndex>,
}

/// A node with the values of its own entry.
pub(crate) struct Draft<'t, 'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// Its entry.
    pub(crate) node: &'a Node<'t>,
    /// Its kind.
    pub(crate) kind: NodeKind,
    /// Its clock.
    pub(crate) clock: Clock,
    /// The ports that it lists, with their settings.
    pub(crate) ports: Vec<(&'a str, Option<&'a Node<'t>>)>,
    /// Whether it lists its ports, so that links add none.
    pub(crate) listed: bool,
}

impl<'t, 'a> Drafts<'t, 'a> {
    /// The node `name`, named at `place`.
    pub(crate) fn find(&self, name: &str, place: Place, faults: &mut Faults) -> Option<NodeIndex> {
        let found = self.index.get(name).copied();
        if found.is_none() {
            unknown_node(name, self.list.iter().map(|draft| draft.name), place, faults);
        }
        found
    }
}

/// Reports that `name` is none of `known`.
pub(crate) fn unknown_node<'n>(
    name: &str,
    known: impl Iterator<Item = &'n str> + Clone,
    place: Place,
    faults: &mut Faults,
) {
    let help = did_you_mean(name, "a node", known);
    faults.error(codes::UNKNOWN_NODE, place, format!("there is no node `{name}`"), help);
}

/// Reads `nodes:`.
pub(crate) fn drafts<'t, 'a>(
    root: &'a Node<'t>,
    models: &mut Models<'t, 'a>,
    faults: &mut Faults,
) -> Drafts<'t, 'a> {
    let entries = root.get("nodes").map_or(&[][..], Node::entries);
    let defaults = root.get("defaults");
    let mut drafts = Drafts { list: Vec::with_capacity(entries.len()), index: HashMap::new() };
    for (key, node) in entries {
        let name = &*key.text;
        if drafts.index.contains_key(name) {
            continue;
        }
        drafts.index.insert(name, NodeIndex::at(drafts.list.len()));
        let ports = match node.get("ports") {
            Some(ports) if !ports.entries().is_empty() => {
                ports.entries().iter().map(|(key, settings)| (&*key.text, Some(settings))).collect()
            }
            Some(ports) => listed_ports(ports, faults),
            None => Vec::new(),
        };
        drafts.list.push(Draft {
            name,
            node,
            kind: kind(node, defaults, models, faults),
            clock: clock(node, defaults, faults),
            listed: node.get("ports").is_some(),
            ports,
        });
    }
    drafts
}

fn listed_ports<'t, 'a>(ports: &'a Node<'t>, faults: &mut Faults) -> Vec<(&'a str, Option<&'a Node<'t>>)> {
    let mut names: Vec<(&'a str, Option<&'a Node<'t>>)> = Vec::new();
    for item in ports.items() {
        let Some(name) = item.text() else { continue };
        if names.iter().any(|(other, _)| *other == name) {
            let message = format!("another port of this node has the name `{name}`");
            faults.error(codes::DUPLICATE_NAME, item.place, message, "give every port a different name");
        } else {
            names.push((name, None));
        }
    }
    names
}

fn kind<'t, 'a>(
    node: &'a Node<'t>,
    defaults: Option<&'a Node<'t>>,
    models: &mut Models<'t, 'a>,
    faults: &mut Faults,
) -> NodeKind {
    let is_bridge = node.get("type").and_then(Node::text) == Some("bridge");
    let (own, other) = if is_bridge { ("device", "host") } else { ("host", "device") };
    for key in [Some(other), (!is_bridge).then_some("learning")].into_iter().flatten() {
        if let Some(wrong) = node.get(key).filter(|_| node.get("type").is_some()) {
            let what = if is_bridge { "a bridge" } else { "an end station" };
            let message = format!("{what} has no `{key}`");
            faults.error(codes::NODE_TYPE, wrong.place, message, "remove the key, or correct `type`");
        }
    }
    let named = node.get(own).or_else(|| defaults.and_then(|defaults| defaults.get(own)));
    let (name, place) =
        named.and_then(|node| Some((node.text()?, node.place))).unwrap_or(("ideal", node.place));
    if !is_bridge {
        return NodeKind::EndStation { host: models.host(name, place, faults) };
    }
    // Bridges learn (IEEE Std 802.1Q-2022, 8.7) by default.
    let stated = node.get("learning");
    let learning = stated.is_none_or(|stated| stated.text() != Some("off")).then(|| Learning {
        table_size: stated.and_then(|stated| stated.parsed("table-size")).unwrap_or(8_192),
        ageing_time: stated.and_then(|stated| stated.parsed("ageing-time")).unwrap_or(Duration::from_s(300)),
    });
    NodeKind::Bridge { device: models.device(name, place, faults), learning }
}

fn clock(node: &Node<'_>, defaults: Option<&Node<'_>>, faults: &mut Faults) -> Clock {
    let layers: Vec<&Node<'_>> =
        [Some(node), defaults].into_iter().flatten().filter_map(|layer| layer.get("clock")).collect();
    let word = |key: &str| super::layered(&layers, key).and_then(Node::text);
    let tolerance = super::layered(&layers, "tolerance");
    let is_readable = tolerance.is_none_or(|tolerance| tolerance.text().is_some());
    let clock = Clock {
        tolerance_ppb: word("tolerance").and_then(|text| scalar::deviation(text).ok()).unwrap_or(0),
        drift_ppb: word("drift").and_then(|text| scalar::signed_deviation(text).ok()),
        offset: word("offset")
            .and_then(|text| scalar::signed_duration(text).ok())
            .unwrap_or(ClockOffset::from_ps(0)),
        granularity: word("granularity").and_then(|text| text.parse().ok()).unwrap_or(Duration::ZERO),
    };
    let is_beyond = |drift: &i32| is_readable && drift.unsigned_abs() > clock.tolerance_ppb;
    if let Some(drift) = clock.drift_ppb.filter(is_beyond) {
        let place = super::layered(&layers, "drift").map_or(node.place, |node| node.place);
        let message = format!(
            "a drift of {} is beyond the tolerance of {}",
            scalar::deviation_text(drift.into()),
            scalar::deviation_text(clock.tolerance_ppb.into())
        );
        faults.error(
            codes::CLOCK,
            place,
            message,
            "raise `tolerance`, which the bounds assume, or lower `drift`",
        );
    }
    clock
}
