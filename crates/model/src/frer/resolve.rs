//! From the keys of a stream to its member streams' ways and recovery functions.

use std::collections::HashSet;

use tautwire_core::frer::{LatentErrorParameters, RecoveryAlgorithm, RecoveryParameters};
use tautwire_units::Duration;

use super::members::{self, Member};
use super::paths::{Edge, disjoint};
use super::ways::{NoWays, PathLink, Step, ways};
use super::{Encapsulation, FrameReplication, Recovery};
use crate::frer::codes;
use crate::network::{LinkIndex, NodeIndex};
use crate::resolve::streams::{Route, StreamDraft};
use crate::resolve::topology::Topology;
use crate::text::faults::Faults;
use crate::text::scalar;
use crate::text::tree::{Node, Place};

/// Keys of a stream with which it cannot have copies, and why.
const EXCLUDED: [(&str, &str); 5] = [
    ("route", "its paths are stated in `paths`"),
    ("virtual-link", "a virtual link has a redundancy of its own"),
    ("time-triggered", "a time-triggered link has a redundancy of its own"),
    ("reservation", "MSRP reserves one path"),
    ("datagram", "pieces of datagrams are not put together from copies"),
];

/// Whether a stream has copies.
pub(crate) fn is_replicated(draft: &StreamDraft<'_, '_>) -> bool {
    draft.node.get("frer").is_some()
}

/// Finds the ways of a stream with copies, of the edges that its frames may use, and of which member the frames of each step alone are. None if it has none, which is reported.
pub(crate) fn find(
    topology: &Topology<'_>,
    edges: &[Edge],
    (draft, members): (&StreamDraft<'_, '_>, &[Member]),
    faults: &mut Faults,
) -> Option<(FrameReplication, Vec<Step>, Vec<Option<u32>>)> {
    let node = draft.node.get("frer")?;
    let place = node.anchor();
    if !is_possible(draft, faults) {
        return None;
    }
    let (paths, asked) = match node.get("paths") {
        Some(stated) if stated.text().is_none() => (stated_paths(topology, edges, draft, stated, faults)?, 0),
        count => {
            let count = count.and_then(Node::text).and_then(|text| text.parse().ok()).unwrap_or(2);
            (found_paths(topology, edges, draft, count, faults)?, count as usize)
        }
    };
    let numbers = (0..paths.len()).map(|path| number(&paths, path) as usize + 1).max().unwrap_or(0);
    if !members::are_as_many(node, (numbers, asked), faults) {
        return None;
    }
    let meeting = meeting(&paths);
    let recoveries = recoveries(topology, node, &paths, &meeting, faults)?;
    let generation = match node.get("sequence-generation") {
        Some(named) => Some(topology.node(named.text()?, named.place, faults)?.index()),
        None => None,
    };
    let recovers = |node: usize| {
        recoveries.iter().any(|recovery| recovery.node.index() == node && recovery.sequence.is_some())
    };
    let member = |step: &Step| members::of_step(step, &|path| number(&paths, path));
    let identity = |step: &Step| members::identity(topology, (draft, members), member(step));
    match ways(&paths, &recovers, generation, &identity) {
        Ok((generation, steps)) => {
            let replication = replication(node, &paths, generation, recoveries, &steps, topology);
            let members = steps.iter().map(member).collect();
            Some((replication, steps, members))
        }
        Err(why) => {
            refuse(why, place, faults);
            None
        }
    }
}

/// Whether the rest of the description lets a stream have copies.
fn is_possible(draft: &StreamDraft<'_, '_>, faults: &mut Faults) -> bool {
    let mut is_possible = true;
    for (key, why) in EXCLUDED {
        if let Some(other) = draft.node.get(key) {
            let message = format!("a stream with copies cannot have `{key}`: {why}");
            faults.error(codes::FRER, other.anchor(), message, "remove it, or `frer`");
            is_possible = false;
        }
    }
    if draft.route != Route::Shortest && draft.node.get("route").is_none() {
        let message = "a broadcast is flooded, so it has no paths of its own".to_owned();
        faults.error(codes::FRER, draft.place("frer"), message, "name one listener, or remove `frer`");
        is_possible = false;
    }
    is_possible
}

/// So many paths to each listener, as disjoint as can be.
fn found_paths(
    topology: &Topology<'_>,
    edges: &[Edge],
    draft: &StreamDraft<'_, '_>,
    count: u32,
    faults: &mut Faults,
) -> Option<Vec<Vec<PathLink>>> {
    let of = |link: &u32| {
        let edge = edges.iter().find(|edge| edge.link == *link).expect("one of the edges");
        PathLink { link: edge.link, from: edge.from, to: edge.to }
    };
    let mut paths = Vec::new();
    for listener in &draft.stream.listeners {
        let ends = (draft.stream.talker.index(), listener.index());
        let Some(found) = disjoint(topology.nodes.len(), edges, ends, count) else {
            let name = &topology.nodes[listener.index()].name;
            let message = format!("no path leads from the talker to `{name}`");
            let help = "connect them with links that are up and whose ports are members of the VLAN";
            faults.error(codes::UNREACHABLE, draft.name_place, message, help);
            return None;
        };
        paths.extend(found.iter().map(|path| path.iter().map(of).collect()));
    }
    Some(paths)
}

/// Stated paths: with several listeners each ends with the listener to which it leads.
fn stated_paths(
    topology: &Topology<'_>,
    edges: &[Edge],
    draft: &StreamDraft<'_, '_>,
    stated: &Node<'_>,
    faults: &mut Faults,
) -> Option<Vec<Vec<PathLink>>> {
    let listeners = &draft.stream.listeners[..];
    let name = |node: &NodeIndex| &topology.nodes[node.index()].name;
    let mut paths: Vec<Vec<PathLink>> = Vec::new();
    for path in stated.items() {
        let last = path.items().last().and_then(Node::text);
        let named = listeners.iter().find(|listener| Some(&name(listener)[..]) == last);
        let Some(listener) = named.or(listeners.first().filter(|_| listeners.len() == 1)) else {
            let message =
                "this path does not end with a listener, of which the stream has several".to_owned();
            faults.error(codes::FRER, path.anchor(), message, "add the listener to which it leads");
            return None;
        };
        paths.push(stated_path(
            topology,
            edges,
            (draft.stream.talker.index(), listener.index()),
            path,
            faults,
        )?);
    }
    let is_reached = |listener: &NodeIndex| paths.iter().any(|path| leads_to(path) == listener.index());
    if let Some(missed) = listeners.iter().find(|listener| !is_reached(listener)) {
        let message = format!("no path leads to `{}`", name(missed));
        faults.error(
            codes::FRER,
            stated.anchor(),
            message,
            "state one that ends with it, or remove the listener",
        );
        return None;
    }
    Some(paths)
}

/// The listener at the end of a path.
fn leads_to(path: &[PathLink]) -> usize {
    path.last().expect("a path has links").to
}

/// A path from its bridges, with links named where several join two nodes.
fn stated_path(
    topology: &Topology<'_>,
    edges: &[Edge],
    (talker, listener): (usize, usize),
    path: &Node<'_>,
    faults: &mut Faults,
) -> Option<Vec<PathLink>> {
    let mut links: Vec<PathLink> = Vec::new();
    let mut over: Option<u32> = None;
    let mut at = talker;
    let mut step = |at: &mut usize, to: usize, over: Option<u32>, place: Place, faults: &mut Faults| {
        let joins = |edge: &&Edge| {
            edge.from == *at && edge.to == to && over.is_none_or(|cable| edge.link / 2 == cable)
        };
        let name = |node: usize| &topology.nodes[node].name;
        let been = links.iter().any(|link| link.from == to) || to == talker;
        match edges.iter().find(joins).filter(|_| !been) {
            Some(edge) => {
                links.push(PathLink { link: edge.link, from: edge.from, to });
                *at = to;
                true
            }
            None => {
                let message = if been {
                    format!("the path comes to `{}` twice", name(to))
                } else {
                    format!("no link of the stream's VLAN leads from `{}` to `{}`", name(*at), name(to))
                };
                let help = "name the bridges of the path in their order, from the talker to the listener";
                faults.error(codes::ROUTE, place, message, help);
                false
            }
        }
    };
    for item in path.items() {
        let text = item.text()?;
        match topology.node_named(text) {
            Some(node) if node.index() == talker || node.index() == listener => {}
            Some(node) => {
                if !step(&mut at, node.index(), over.take(), item.place, faults) {
                    return None;
                }
            }
            None => over = Some(topology.cable(item, faults)?),
        }
    }
    step(&mut at, listener, over, path.anchor(), faults).then_some(links)
}

/// The nodes at which paths to one listener come together: that they enter by different links; in the order in which paths meet them.
fn meeting(paths: &[Vec<PathLink>]) -> Vec<usize> {
    let mut found = Vec::new();
    for path in paths {
        let to_it = paths.iter().filter(|other| leads_to(other) == leads_to(path));
        let others: Vec<&PathLink> = to_it.flatten().collect();
        for link in path {
            let is_met = others.iter().any(|other| other.to == link.to && other.link != link.link);
            if is_met && !found.contains(&link.to) {
                found.push(link.to);
            }
        }
    }
    found
}

/// Reads the recovery functions; none if one of them is impossible.
fn recoveries(
    topology: &Topology<'_>,
    node: &Node<'_>,
    paths: &[Vec<PathLink>],
    meeting: &[usize],
    faults: &mut Faults,
) -> Option<Vec<Recovery>> {
    let mut found: Vec<Recovery> = Vec::new();
    let mut known: HashSet<(usize, bool)> = HashSet::new();
    let entries = node.get("sequence-recovery").map_or(&[][..], Node::items);
    let stated = |entry: &&Node<'_>| entry.get("node").is_some();
    for entry in entries.iter().filter(stated).chain(entries.iter().filter(|entry| !stated(entry))) {
        let nodes = match entry.get("node") {
            Some(named) => {
                let at = topology.node(named.text()?, named.place, faults)?.index();
                if !paths.iter().flatten().any(|link| link.to == at) {
                    let message = format!("no path comes to `{}`", topology.nodes[at].name);
                    faults.error(codes::FRER, named.place, message, "name a node of the paths");
                    return None;
                }
                vec![at]
            }
            None => meeting.to_vec(),
        };
        let (parameters, latent) = recovery(entry, faults)?;
        for at in nodes {
            let is_new = known.insert((at, parameters.individual));
            if !is_new && entry.get("node").is_none() {
                continue;
            }
            if !is_new {
                let message = format!("`{}` has another function of this kind", topology.nodes[at].name);
                faults.error(codes::FRER, entry.anchor(), message, "remove one of them");
                return None;
            }
            let place = found.iter().position(|recovery| recovery.node.index() == at).unwrap_or_else(|| {
                let node = NodeIndex::at(at);
                found.push(Recovery { node, sequence: None, latent: None, individual: None });
                found.len() - 1
            });
            if parameters.individual {
                found[place].individual = Some(parameters);
            } else {
                found[place].sequence = Some(parameters);
                found[place].latent = latent;
            }
        }
    }
    let order =
        |recovery: &Recovery| paths.iter().flatten().position(|link| link.to == recovery.node.index());
    found.sort_by_key(order);
    if let Some(lone) = found.iter().find(|recovery| recovery.sequence.is_none()) {
        let message = format!(
            "`{}` has an individual recovery function and no sequence recovery function",
            topology.nodes[lone.node.index()].name
        );
        faults.error(
            codes::FRER,
            node.anchor(),
            message,
            "add an entry for it without `individual-recovery`",
        );
        return None;
    }
    Some(found)
}

/// One entry.
fn recovery(
    entry: &Node<'_>,
    faults: &mut Faults,
) -> Option<(RecoveryParameters, Option<LatentErrorParameters>)> {
    let flag = |key: &str| entry.get(key).and_then(Node::text).and_then(scalar::flag).unwrap_or(false);
    let history = entry.parsed("history-length").unwrap_or(2);
    let algorithm = match entry.get("algorithm").and_then(Node::text) {
        Some("match") => RecoveryAlgorithm::Match,
        _ => RecoveryAlgorithm::Vector { history_length: history },
    };
    let parameters = RecoveryParameters {
        algorithm,
        reset_timeout: Some(entry.parsed("reset-timeout")?),
        take_no_sequence: flag("take-no-sequence"),
        individual: flag("individual-recovery"),
    };
    let latent = flag("latent-error-detection").then(|| {
        let stated = entry.get("latent-error-detection-parameters");
        let span = |key: &str, ms| stated.and_then(|of| of.parsed(key)).unwrap_or(Duration::from_ms(ms));
        LatentErrorParameters {
            difference: stated.and_then(|of| of.parsed("difference")).unwrap_or(0),
            period: span("period", 2_000),
            // Until the ways are known.
            paths: stated.and_then(|of| of.parsed("paths")).unwrap_or(0),
            reset_period: span("reset-period", 30_000),
        }
    });
    if parameters.individual && latent.is_some() {
        let message = "an individual recovery function has no latent error detection".to_owned();
        let place = entry.get("latent-error-detection").map_or(entry.anchor(), |flag| flag.place);
        faults.error(codes::FRER, place, message, "remove one of the two keys");
        return None;
    }
    Some((parameters, latent))
}

/// The whole of a stream whose ways are known.
fn replication(
    node: &Node<'_>,
    paths: &[Vec<PathLink>],
    generation: usize,
    mut recoveries: Vec<Recovery>,
    steps: &[Step],
    topology: &Topology<'_>,
) -> FrameReplication {
    let end = |step: &Step| topology.ports[topology.links[step.link as usize].to.index()].node;
    for recovery in &mut recoveries {
        let own = (0_u32..).zip(steps).filter(|(number, step)| step.merged == *number);
        let copies = own.filter(|(_, step)| end(step) == recovery.node).count();
        if let Some(latent) = recovery.latent.as_mut().filter(|latent| latent.paths == 0) {
            latent.paths = u16::try_from(copies).expect("few copies");
        }
    }
    let at = |step: &Step| recoveries.iter().position(|recovery| recovery.node == end(step));
    let link = |link: &PathLink| LinkIndex(link.link);
    FrameReplication {
        encapsulation: match node.get("encapsulation").and_then(Node::text) {
            Some("hsr-sequence-tag") => Encapsulation::Hsr,
            Some("prp-sequence-tag") => Encapsulation::Prp,
            _ => Encapsulation::RTag,
        },
        paths: paths.iter().map(|path| path.iter().map(link).collect()).collect(),
        generation: NodeIndex::at(generation),
        recovered: steps.iter().map(|step| at(step).and_then(|at| u32::try_from(at).ok())).collect(),
        merged: steps.iter().map(|step| step.merged).collect(),
        path: steps.iter().map(|step| member(paths, step)).collect(),
        recoveries,
    }
}

/// The number of the first path that the frames of a step follow, among the paths to its listener.
fn member(paths: &[Vec<PathLink>], step: &Step) -> u32 {
    number(paths, step.paths.trailing_zeros() as usize)
}

/// The number of a path among those to its listener.
fn number(paths: &[Vec<PathLink>], path: usize) -> u32 {
    let before = paths[..path].iter().filter(|other| leads_to(other) == leads_to(&paths[path]));
    u32::try_from(before.count()).expect("few paths")
}

fn refuse(why: NoWays, place: Place, faults: &mut Faults) {
    let (message, help) = match why {
        NoWays::Same => ("all paths are the same", "add links, or state paths that part somewhere"),
        NoWays::Circle => (
            "the paths meet at recovery functions in different orders, so frames would go round",
            "let all paths pass the nodes in one order, or name the nodes of the recovery functions, such as the listeners",
        ),
        NoWays::Alike => (
            "copies that come over one link part behind it, and the node there cannot distinguish them",
            "give them different destinations or VLANs with `dmac-vlan-stream-identification`, add an entry of `sequence-recovery` for the node before the link, or choose other paths",
        ),
        NoWays::TooMany => {
            ("the paths make too many ways", "state fewer paths, or let fewer nodes have recovery functions")
        }
        NoWays::LateGeneration => (
            "frames are numbered behind the node at which paths part",
            "name that node in `sequence-generation`, or one before it that all paths pass",
        ),
        NoWays::Copies => (
            "several copies of a frame reach a listener",
            "add an entry of `sequence-recovery` for the node at which the last of them meet, or one without `node`",
        ),
    };
    faults.error(codes::FRER, place, message.to_owned(), help);
}
