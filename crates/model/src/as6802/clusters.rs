//! The clusters of a synchronised network: the cluster of each node, and its role in it.
//!
//! A node is named once. All nodes that are not named belong to the only cluster, or to the one of several that lists no clients.

use super::SyncRole;
use crate::as6802::codes;
use crate::network::NodeIndex;
use crate::resolve::topology::Topology;
use crate::text::faults::Faults;
use crate::text::tree::{Node, Value};

/// Most synchronisation masters: a bit of the membership for each.
const MASTERS_MAX: usize = 32;

/// The roles of nodes.
pub(crate) struct Parts {
    /// Per node: the place of its cluster.
    pub(crate) cluster_of: Vec<u16>,
    /// Per node.
    pub(crate) roles: Vec<SyncRole>,
    /// Per cluster, in order.
    pub(crate) masters: Vec<Vec<NodeIndex>>,
    /// Per cluster, in order.
    pub(crate) compressors: Vec<Vec<NodeIndex>>,
}

/// The clusters under `synchronisation`: one, or a list.
pub(crate) fn listed<'n, 't>(node: &'n Node<'t>) -> &'n [Node<'t>] {
    match &node.value {
        Value::List(items) => items,
        _ => std::slice::from_ref(node),
    }
}

/// Reads the cluster of each node; none if the clusters are not valid.
pub(crate) fn parts(topology: &Topology<'_>, clusters: &[Node<'_>], faults: &mut Faults) -> Option<Parts> {
    let mut taken: Vec<Option<(u16, SyncRole)>> = vec![None; topology.nodes.len()];
    let mut lists = [Vec::new(), Vec::new()];
    let mut valid = true;
    for (place, cluster) in (0..).zip(clusters) {
        for (list, key) in lists.iter_mut().zip(["masters", "compression-masters"]) {
            let found = named(topology, (place, cluster), key, &mut taken, faults);
            valid &= found.is_some();
            list.push(found.unwrap_or_default());
        }
        valid &= named(topology, (place, cluster), "clients", &mut taken, faults).is_some();
    }
    let [masters, compressors] = lists;
    for ((masters, compressors), cluster) in masters.iter().zip(&compressors).zip(clusters) {
        if valid && (masters.len() < 2 || masters.len().max(compressors.len()) > MASTERS_MAX) {
            let message = format!("{} synchronisation masters", masters.len());
            let help = "name from two to 32: one alone answers no cold start";
            faults.error(codes::SYNCHRONISATION, cluster.anchor(), message, help);
            valid = false;
        }
    }
    let open: Vec<u16> = (0..)
        .zip(clusters)
        .filter(|(_, cluster)| cluster.get("clients").is_none())
        .map(|(place, _)| place)
        .collect();
    let rest = match open[..] {
        [one] => Some(one),
        _ => None,
    };
    for (number, part) in taken.iter_mut().enumerate().filter(|_| valid) {
        if part.is_none() {
            let Some(rest) = rest else {
                let message = format!("`{}` belongs to no cluster", topology.nodes[number].name);
                let help = "name it among the `clients` of one cluster, or leave out `clients` of exactly one cluster, which then has all other nodes";
                faults.error(codes::SYNCHRONISATION, clusters.first()?.anchor(), message, help);
                return None;
            };
            *part = Some((rest, SyncRole::Client));
        }
    }
    let parts: Option<Vec<(u16, SyncRole)>> = taken.into_iter().collect();
    let (cluster_of, roles) = parts.filter(|_| valid)?.into_iter().unzip();
    Some(Parts { cluster_of, roles, masters, compressors })
}

/// Per node, whether it is a command/monitor pair: masters of both kinds that their cluster names.
pub(crate) fn high_integrity(
    topology: &Topology<'_>,
    clusters: &[Node<'_>],
    parts: &Parts,
    faults: &mut Faults,
) -> Vec<bool> {
    let mut pairs = vec![false; topology.nodes.len()];
    for (place, cluster) in (0..).zip(clusters) {
        for named in cluster.get("high-integrity").map_or(&[][..], Node::items_or_self) {
            let found = named.text().and_then(|name| topology.node(name, named.place, faults));
            let Some(found) = found else { continue };
            let node = found.index();
            if parts.cluster_of[node] != place || parts.roles[node] == SyncRole::Client {
                let message = format!("`{}` is no master of this cluster", topology.nodes[node].name);
                let help = "name synchronisation masters and compression masters of the cluster";
                faults.error(codes::SYNCHRONISATION, named.place, message, help);
            }
            pairs[node] = true;
        }
    }
    pairs
}

/// The nodes under a key, each of which has no other part; none if one is wrong.
fn named(
    topology: &Topology<'_>,
    (place, cluster): (u16, &Node<'_>),
    key: &str,
    taken: &mut [Option<(u16, SyncRole)>],
    faults: &mut Faults,
) -> Option<Vec<NodeIndex>> {
    let mut list = Vec::new();
    let mut valid = true;
    for named in cluster.get(key).map_or(&[][..], Node::items_or_self) {
        let found = named.text().and_then(|name| topology.node(name, named.place, faults));
        let Some(found) = found else {
            valid = false;
            continue;
        };
        if taken[found.index()].is_some() {
            let message = format!("`{}` already has a role", topology.nodes[found.index()].name);
            let help = "name each node once: as a master, a compression master or a client of one cluster";
            faults.error(codes::SYNCHRONISATION, named.place, message, help);
            valid = false;
            continue;
        }
        let number = u8::try_from(list.len()).unwrap_or(u8::MAX);
        let role = match key {
            "masters" => SyncRole::Master(number),
            "compression-masters" => SyncRole::CompressionMaster(number),
            _ => SyncRole::Client,
        };
        taken[found.index()] = Some((place, role));
        list.push(found);
    }
    valid.then_some(list)
}
