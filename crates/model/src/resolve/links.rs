//! Cables as the description lists them: their ends, rates and delays.

use std::collections::{HashMap, HashSet};

use tautwire_units::{BitRate, Duration};

use super::nodes::Drafts;
use crate::network::{DelayRange, NodeIndex};
use crate::text::faults::Faults;
use crate::text::tree::{Node, Place};
use crate::text::{codes, scalar};

/// The rate of the fastest lines.
const RATE_MAX: BitRate = BitRate::from_gbps(100);

/// A cable.
pub(crate) struct Cable<'a> {
    /// Its two ends.
    pub(crate) ends: [End<'a>; 2],
    /// Its name, if it has one.
    pub(crate) name: Option<&'a str>,
    /// Bits per second.
    pub(crate) rate: BitRate,
    /// The place of the rate.
    pub(crate) rate_place: Place,
    /// First end to second, and back.
    pub(crate) directions: [Direction; 2],
    /// Whether it is up at the start.
    pub(crate) up: bool,
}

/// An end of a cable.
pub(crate) struct End<'a> {
    /// The node.
    pub(crate) node: NodeIndex,
    /// Its port, if it is named.
    pub(crate) port: Option<&'a str>,
    /// Its place in the text.
    pub(crate) place: Place,
}

/// One direction of a cable.
#[derive(Clone, Copy)]
pub(crate) struct Direction {
    /// Delay on the cable.
    pub(crate) propagation: Duration,
    /// Delay of the PHYs.
    pub(crate) phy_delay: DelayRange,
    /// Chance of an error, in 10⁻¹⁸.
    pub(crate) bit_error_rate: u64,
}

/// What a description calls a link that is left out for its faults: what names it is no further fault.
#[derive(Default)]
pub(crate) struct LeftOut<'a> {
    names: HashSet<&'a str>,
    /// Nodes at its ends, which may lack a port for it.
    nodes: HashSet<&'a str>,
}

impl<'a> LeftOut<'a> {
    pub(crate) fn add(&mut self, name: Option<&'a str>, ends: impl Iterator<Item = &'a str>) {
        self.names.extend(name);
        self.nodes.extend(ends.map(|end| end.split_once(':').map_or(end, |(node, _)| node)));
    }

    /// Whether a link may be one of these, by its name or by `node:port`.
    pub(crate) fn has(&self, text: &str) -> bool {
        self.names.contains(text) || text.split_once(':').is_some_and(|(node, _)| self.nodes.contains(node))
    }

    /// Whether a node may have more ports.
    pub(crate) fn is_at(&self, node: &str) -> bool {
        self.nodes.contains(node)
    }
}

/// Reads `links:`.
pub(crate) fn cables<'t, 'a>(
    root: &'a Node<'t>,
    drafts: &Drafts<'t, 'a>,
    faults: &mut Faults,
) -> (Vec<Cable<'a>>, LeftOut<'a>) {
    let default_rate = root.get("defaults").and_then(|defaults| defaults.get("rate"));
    let mut names: HashMap<&str, Place> = HashMap::new();
    let (mut cables, mut left_out) = (Vec::new(), LeftOut::default());
    for node in root.get("links").map_or(&[][..], Node::items) {
        must_be_off(node, faults);
        let name = node.get("name").and_then(|name| Some((name.text()?, name.place)));
        if let Some((name, place)) = name
            && let Some(first) = names.insert(name, place)
        {
            let message = format!("another link has the name `{name}`");
            let help = "give every link a different name";
            faults.error_with(codes::DUPLICATE_NAME, place, message, help, (first, "first here"));
        }
        let (rate, rate_place) = rate(node, default_rate, faults);
        let between = node.get("between").map_or(&[][..], Node::items);
        let ends: Vec<End<'a>> = between.iter().filter_map(|end| end_of(end, drafts, faults)).collect();
        let name = name.map(|(name, _)| name);
        let forward = direction(node, "forward", faults);
        let backward = direction(node, "backward", faults);
        let Ok(ends) = <[End<'a>; 2]>::try_from(ends) else {
            left_out.add(name, between.iter().filter_map(Node::text));
            continue;
        };
        if ends[0].node == ends[1].node {
            let message = format!("both ends are at `{}`", drafts.list[ends[0].node.index()].name);
            faults.error(codes::LINK_TO_ITSELF, ends[1].place, message, "name two different nodes");
            left_out.add(name, between.iter().filter_map(Node::text));
            continue;
        }
        cables.push(Cable {
            ends,
            name,
            rate,
            rate_place,
            directions: [forward, backward],
            up: node.get("up").and_then(Node::text).and_then(scalar::flag).unwrap_or(true),
        });
    }
    (cables, left_out)
}

fn must_be_off(node: &Node<'_>, faults: &mut Faults) {
    if let Some(duplex) = node.get("duplex").filter(|duplex| duplex.text() == Some("half")) {
        let message = "half duplex has collisions, so no delay has a bound".to_owned();
        faults.error(codes::HALF_DUPLEX, duplex.place, message, "write `duplex: full`, or remove the key");
    }
    for (key, what) in [
        ("pause", "PAUSE stops a port"),
        ("pfc", "priority-based flow control stops a class of the neighbour's port"),
        ("eee", "Energy-Efficient Ethernet adds wake-up times to a link"),
    ] {
        let on = |node: &&Node<'_>| node.text().and_then(scalar::flag) == Some(true);
        if let Some(node) = node.get(key).filter(on) {
            let message = format!("{what}, which is not modelled");
            faults.error(
                codes::FLOW_CONTROL,
                node.place,
                message,
                format!("write `{key}: off`, or remove the key"),
            );
        }
    }
}

/// The rate of a link, and its place. A link whose rate is wrong has the highest: it stays, for what names it, and is too slow for nothing.
fn rate(node: &Node<'_>, default: Option<&Node<'_>>, faults: &mut Faults) -> (BitRate, Place) {
    let Some(found) = node.get("rate").or(default) else {
        let message = "a link needs a rate".to_owned();
        let help = "add `rate: 1 Gbit/s` here or in `defaults`";
        faults.error(codes::MISSING_KEY, node.anchor(), message, help);
        return (RATE_MAX, node.anchor());
    };
    let rate = found.text().and_then(|text| text.parse().ok()).unwrap_or(RATE_MAX);
    (rate, if node.get("rate").is_some() { found.place } else { node.anchor() })
}

fn end_of<'t, 'a>(end: &'a Node<'t>, drafts: &Drafts<'t, 'a>, faults: &mut Faults) -> Option<End<'a>> {
    let text = end.text()?;
    let (name, port) = match text.split_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (text, None),
    };
    let node = drafts.find(name, end.place, faults)?;
    let draft = &drafts.list[node.index()];
    if let Some(port) = port
        && draft.listed
        && !draft.ports.iter().any(|(known, _)| *known == port)
    {
        let known = draft.ports.iter().map(|(known, _)| *known);
        let help = crate::text::faults::did_you_mean(port, "a port of this node", known);
        let message = format!("`{port}` is not one of the listed ports of `{name}`");
        faults.error(codes::UNKNOWN_PORT, end.place, message, help);
        return None;
    }
    Some(End { node, port, place: end.place })
}

fn direction(link: &Node<'_>, key: &str, faults: &mut Faults) -> Direction {
    let layers: Vec<&Node<'_>> = [link.get(key), Some(link)].into_iter().flatten().collect();
    let length = link.get("length").and_then(Node::text).and_then(|text| scalar::length(text).ok());
    let stated = super::layered(&layers, "propagation-delay");
    if let (Some(stated), Some(length)) = (stated, link.get("length")) {
        let message =
            "`length` and `propagation-delay` exclude each other: both state the delay of the cable"
                .to_owned();
        let other = (length.place, "and here");
        faults.error_with(codes::CONFLICT, stated.place, message, "remove one of them", other);
    }
    let phy_delay = super::layered(&layers, "phy-delay").map_or(DelayRange::default(), |node| {
        if let Some(fixed) = node.text().and_then(|text| text.parse().ok()) {
            return DelayRange { min: fixed, max: fixed };
        }
        let range = DelayRange {
            min: node.parsed("min").unwrap_or_default(),
            max: node.parsed("max").unwrap_or_default(),
        };
        if range.min > range.max && node.parsed::<Duration>("max").is_some() {
            let message = format!("`min` of {} is above `max` of {}", range.min, range.max);
            faults.error(codes::DELAY_RANGE, node.anchor(), message, "make `min` at most `max`");
        }
        range
    });
    Direction {
        propagation: stated.and_then(|node| node.text()?.parse().ok()).or(length).unwrap_or_default(),
        phy_delay,
        bit_error_rate: super::layered(&layers, "bit-error-rate")
            .and_then(|node| scalar::chance(node.text()?).ok())
            .unwrap_or(0),
    }
}
