//! Routes: the shortest, a stated one, or the VLAN flooded.
//!
//! The shortest way has the fewest links; of several, the one that a breadth first search from the
//! talker finds first with ports in their order. A tree to several listeners is the union of the shortest
//! ways. Streams with static routes may use every link whose ports are members of their VLAN, unless its
//! active topology is stated; flooded ones (broadcast, learned) keep to the active topology.

use std::collections::{HashMap, HashSet, VecDeque};

use super::streams::{Route, StreamDraft, Streams};
use super::topology::Topology;
use super::vlans::{VlanDraft, Vlans};
use crate::frame::Tags;
use crate::frer::members::Member;
use crate::frer::{self, paths};
use crate::network::{Hop, Identified, LinkIndex, NodeIndex, PortIndex, Stream, StreamIndex};
use crate::text::codes;
use crate::text::faults::Faults;

/// The link by which a search first reached each node; none where it did not.
type Reached = Vec<Option<LinkIndex>>;

/// The links that are up, by the node that they leave, small enough to stay in the cache.
struct Graph {
    /// The edges of node *n* are `first[n]..first[n + 1]`.
    first: Vec<u32>,
    edges: Vec<Edge>,
    is_bridge: Vec<bool>,
    /// The node that each link leaves.
    from: Vec<NodeIndex>,
}

#[derive(Clone, Copy)]
struct Edge {
    link: LinkIndex,
    egress: PortIndex,
    reception: PortIndex,
    to: NodeIndex,
    /// Whether the port at the other end drops frames of VLANs that it is no member of.
    filtering: bool,
}

impl Graph {
    fn new(topology: &Topology<'_>) -> Self {
        let nodes = || (0..topology.nodes.len()).map(NodeIndex::at);
        let mut graph = Self {
            first: vec![0],
            edges: Vec::with_capacity(topology.links.len()),
            is_bridge: nodes().map(|node| topology.is_bridge(node)).collect(),
            from: topology.links.iter().map(|link| topology.ports[link.from.index()].node).collect(),
        };
        for node in nodes() {
            for egress in topology.ports_of(node) {
                let Some(links) = topology.ports[egress.index()].links else { continue };
                let link = &topology.links[links.egress.index()];
                let reception = &topology.ports[link.to.index()];
                if link.up {
                    graph.edges.push(Edge {
                        link: links.egress,
                        egress,
                        reception: link.to,
                        to: reception.node,
                        filtering: reception.ingress_filtering,
                    });
                }
            }
            graph.first.push(LinkIndex::at(graph.edges.len()).0);
        }
        graph
    }

    fn edges_of(&self, node: NodeIndex) -> &[Edge] {
        &self.edges[self.first[node.index()] as usize..self.first[node.index() + 1] as usize]
    }
}

/// Finds the hops of every stream.
pub(crate) fn find(
    topology: &Topology<'_>,
    vlans: &Vlans,
    streams: &mut Streams<'_, '_>,
    faults: &mut Faults,
) {
    let graph = Graph::new(topology);
    let mut searches: HashMap<(NodeIndex, Option<PortIndex>, usize, bool), Reached> = HashMap::new();
    let mut lost_at = HashSet::new();
    for (number, draft) in streams.list.iter_mut().enumerate() {
        let vlan = vlans.at(draft.vlan);
        let flooded = draft.route.is_flooded();
        if flooded && let Some(place) = vlan.loop_at {
            let message = "frames that are flooded here would circulate without end".to_owned();
            let help = "write `active-topology: spanning-tree`, or list links without a loop";
            let other = (draft.route_place, "flooded by this stream");
            faults.error_with(codes::LOOP, place, message, help, other);
            continue;
        }
        let tree_steps = |links: Vec<LinkIndex>| steps(topology, &links);
        let mut members: Vec<Member> = Vec::new();
        let found = match &draft.route {
            _ if frer::resolve::is_replicated(draft) => {
                let Some(stated) = frer::members::members(draft, vlans, faults) else { continue };
                members = stated;
                let mut edges = usable(&graph, vlan, draft);
                for member in &members {
                    let more = usable(&graph, vlans.at(member.vlan), draft);
                    edges.extend(more.into_iter().filter(|edge| !edges.contains(edge)).collect::<Vec<_>>());
                }
                let Some((replication, steps, of)) =
                    frer::resolve::find(topology, &edges, (draft, &members), faults)
                else {
                    continue;
                };
                draft.stream.replication = Some(Box::new(replication));
                let step = |(step, member): (&frer::ways::Step, &Option<u32>)| Step {
                    link: LinkIndex(step.link),
                    previous: step.previous,
                    numbered: step.numbered,
                    member: member.filter(|_| !members.is_empty()),
                };
                Some(steps.iter().zip(&of).map(step).collect())
            }
            _ if is_redundant(&draft.stream) => {
                over_both(topology, &graph, vlan, draft, faults).map(tree_steps)
            }
            Route::Over(cables, nodes) => {
                let allowed = |link: LinkIndex| allowed(topology, draft, cables, nodes, link);
                let reached = search(&graph, vlan, draft.stream.talker, draft.talker_port, &allowed);
                stated(topology, &graph, draft, &reached, cables, nodes, faults).map(tree_steps)
            }
            Route::Shortest | Route::Learned | Route::Broadcast => {
                // A flooded frame leaves its talker once.
                let first_port = || graph.edges_of(draft.stream.talker).first().map(|edge| edge.egress);
                let port = draft.talker_port.or_else(|| first_port().filter(|_| flooded));
                let talker = (draft.stream.talker, port, draft.vlan, flooded);
                let reached = searches.entry(talker).or_insert_with(|| {
                    let keeps = flooded || vlan.binding;
                    let allowed = |link: LinkIndex| !keeps || vlan.active(link.0 / 2);
                    search(&graph, vlan, draft.stream.talker, port, &allowed)
                });
                if draft.route == Route::Broadcast {
                    draft.stream.listeners = others(topology, reached, draft.stream.talker);
                }
                let links = tree(topology, &graph, draft, reached, faults);
                let copied =
                    |links| if flooded { with_other_copies(&graph, vlan, reached, links) } else { links };
                links.map(copied).map(tree_steps)
            }
        };
        let Some(steps) = found else { continue };
        draft.stream.hops =
            hops(topology, (vlans, &members), (StreamIndex::at(number), draft), &steps, faults);
        frer::members::keep_to_vlans(topology, (vlans, &members), draft, faults);
        warn_of_lost_priority(topology, draft, &mut lost_at, faults);
        let first = draft.stream.hops.first().map(|hop| hop.port);
        if let Some(port) = first {
            // Taken from a trace, or the port's.
            let taken = draft.node.parsed("source");
            draft.stream.source = taken.unwrap_or(topology.ports[port.index()].address);
        }
        if let (None, [listener]) = (draft.destination, &draft.stream.listeners[..])
            && let Some(hop) = draft.stream.hops.iter().find(|hop| hop.listener.is_some())
            && draft.route != Route::Broadcast
        {
            let links = topology.ports[hop.port.index()].links.expect("a hop's port has a cable");
            let arrival = topology.links[links.egress.index()].to;
            debug_assert_eq!(topology.ports[arrival.index()].node, *listener);
            draft.stream.destination = topology.ports[arrival.index()].address;
        }
    }
}

/// Whether a stream goes over both networks.
fn is_redundant(stream: &Stream) -> bool {
    stream.virtual_link.is_some_and(|link| link.skew_max.is_some())
        || stream.time_triggered.as_ref().is_some_and(|link| link.redundant)
}

/// The trees of a virtual link over both networks, that of the talker's first port before that of its
/// second; none if a listener is not reached over one of them, or if they have a bridge in common.
fn over_both(
    topology: &Topology<'_>,
    graph: &Graph,
    vlan: &VlanDraft,
    draft: &StreamDraft<'_, '_>,
    faults: &mut Faults,
) -> Option<Vec<LinkIndex>> {
    let timed = draft.stream.time_triggered.is_some();
    let place = draft.place(if timed { "time-triggered" } else { "virtual-link" });
    let fault = |faults: &mut Faults, message: String, help: &str| {
        faults.error(crate::virtual_link::codes::LINK_REDUNDANCY, place, message, help);
    };
    if draft.route != Route::Shortest || draft.talker_port.is_some() {
        let message =
            "a redundant virtual link takes the shortest paths from the talker's first two ports, so it has no stated route".to_owned();
        fault(faults, message, "remove `route`, and the port from `talker`");
        return None;
    }
    let [first, second] = graph.edges_of(draft.stream.talker) else {
        let name = &topology.nodes[draft.stream.talker.index()].name;
        let message = format!("`{name}` does not have two connected ports, one for each network");
        fault(faults, message, "connect its first port with network A and its second with network B");
        return None;
    };
    let mut over = |port: PortIndex| {
        let reached = search(graph, vlan, draft.stream.talker, Some(port), &|_| true);
        tree(topology, graph, draft, &reached, faults)
    };
    let (a, b) = (over(first.egress), over(second.egress));
    let (mut a, b) = (a?, b?);
    let node_of = |port: PortIndex| topology.ports[port.index()].node;
    let entered = |links: &[LinkIndex]| -> HashSet<NodeIndex> {
        let to = |link: &LinkIndex| node_of(topology.links[link.index()].to);
        links.iter().map(to).filter(|node| topology.is_bridge(*node)).collect()
    };
    let both = entered(&a);
    if let Some(bridge) =
        b.iter().map(|link| node_of(topology.links[link.index()].to)).find(|to| both.contains(to))
    {
        let message = format!("the paths in both networks pass `{}`", topology.nodes[bridge.index()].name);
        fault(faults, message, "connect the networks A and B by no bridge");
        return None;
    }
    a.extend(b);
    Some(a)
}

/// All end stations that were reached.
fn others(topology: &Topology<'_>, reached: &Reached, talker: NodeIndex) -> Vec<NodeIndex> {
    let nodes = (0..reached.len()).map(NodeIndex::at);
    nodes
        .filter(|node| *node != talker && !topology.is_bridge(*node) && reached[node.index()].is_some())
        .collect()
}

/// Whether a stated route has this link: a cable of the route, a step from one of its nodes to the next,
/// or one from the talker to its first and from any of them to a listener.
fn allowed(
    topology: &Topology<'_>,
    draft: &StreamDraft<'_, '_>,
    cables: &[u32],
    nodes: &[NodeIndex],
    link: LinkIndex,
) -> bool {
    let ends = &topology.links[link.index()];
    let [from, to] = [ends.from, ends.to].map(|port| topology.ports[port.index()].node);
    let begins = from == draft.stream.talker && (!cables.is_empty() || nodes.first() == Some(&to));
    let ends = draft.stream.listeners.contains(&to) && nodes.contains(&from);
    cables.contains(&(link.0 / 2))
        || nodes.windows(2).any(|step| step == [from, to])
        || (begins && nodes.contains(&to))
        || ends
}

/// Breadth first from the talker over member ports.
fn search(
    graph: &Graph,
    vlan: &VlanDraft,
    talker: NodeIndex,
    port: Option<PortIndex>,
    allowed: &dyn Fn(LinkIndex) -> bool,
) -> Reached {
    let mut reached: Reached = vec![None; graph.is_bridge.len()];
    let mut queue = VecDeque::from([talker]);
    while let Some(node) = queue.pop_front() {
        let bridge = graph.is_bridge[node.index()];
        if !bridge && node != talker {
            continue;
        }
        for edge in graph.edges_of(node) {
            let port_is_wrong = node == talker && port.is_some_and(|port| port != edge.egress);
            if edge.to == talker || reached[edge.to.index()].is_some() || port_is_wrong {
                continue;
            }
            let leaves = !bridge || vlan.member(edge.egress).is_some();
            let enters = !edge.filtering || vlan.member(edge.reception).is_some();
            if leaves && enters && allowed(edge.link) {
                reached[edge.to.index()] = Some(edge.link);
                queue.push_back(edge.to);
            }
        }
    }
    reached
}

/// The way back from `node` to the talker, links in the order of travel.
fn way(graph: &Graph, reached: &Reached, node: NodeIndex) -> Option<Vec<LinkIndex>> {
    let mut way = vec![reached[node.index()]?];
    while let Some(link) = reached[graph.from[way[way.len() - 1].index()].index()] {
        way.push(link);
    }
    way.reverse();
    Some(way)
}

/// The links of a tree, each behind the one before it; none if a listener is not reached.
fn tree(
    topology: &Topology<'_>,
    graph: &Graph,
    draft: &StreamDraft<'_, '_>,
    reached: &Reached,
    faults: &mut Faults,
) -> Option<Vec<LinkIndex>> {
    let mut links: Vec<LinkIndex> = Vec::new();
    let mut taken: HashSet<LinkIndex> = HashSet::new();
    let mut is_complete = true;
    for (listener, place) in draft.listeners_with_places() {
        let Some(way) = way(graph, reached, listener) else {
            let name = &topology.nodes[listener.index()].name;
            let message = format!("no path leads from the talker to `{name}`");
            let help = match draft.route {
                Route::Over(..) => "the links of `route` must connect the talker with every listener",
                _ => "connect them with links that are up and whose ports are members of the VLAN",
            };
            let code = if matches!(draft.route, Route::Over(..)) { codes::ROUTE } else { codes::UNREACHABLE };
            faults.error(code, place, message, help);
            is_complete = false;
            continue;
        };
        join(&mut links, &mut taken, way);
    }
    if draft.route.is_flooded() {
        // Flooded: every node that is reached gets a copy until the bridges know better.
        for node in (0..reached.len()).map(NodeIndex::at) {
            join(&mut links, &mut taken, way(graph, reached, node).unwrap_or_default());
        }
    }
    is_complete.then_some(links)
}

/// What flooding adds to the tree: stations with several ports get a copy at each.
fn with_other_copies(
    graph: &Graph,
    vlan: &VlanDraft,
    reached: &Reached,
    mut links: Vec<LinkIndex>,
) -> Vec<LinkIndex> {
    let taken: HashSet<LinkIndex> = links.iter().copied().collect();
    let bridges = (0..reached.len())
        .map(NodeIndex::at)
        .filter(|node| graph.is_bridge[node.index()] && reached[node.index()].is_some());
    for edge in bridges.flat_map(|node| graph.edges_of(node)) {
        let back =
            reached[graph.from[edge.link.index()].index()].is_some_and(|link| link.0 / 2 == edge.link.0 / 2);
        let to_station = !graph.is_bridge[edge.to.index()];
        let member = vlan.member(edge.egress).is_some() && vlan.active(edge.link.0 / 2);
        if to_station && member && !back && !taken.contains(&edge.link) {
            links.push(edge.link);
        }
    }
    links
}

/// Adds the new links of a path to the links of a tree; all links of the first path are new.
fn join(links: &mut Vec<LinkIndex>, taken: &mut HashSet<LinkIndex>, way: Vec<LinkIndex>) {
    if links.is_empty() {
        *links = way;
        return;
    }
    if taken.is_empty() {
        taken.extend(links.iter().copied());
    }
    links.extend(way.into_iter().filter(|link| taken.insert(*link)));
}

/// The tree of a stated route, in which every stated link and node has its part.
fn stated(
    topology: &Topology<'_>,
    graph: &Graph,
    draft: &StreamDraft<'_, '_>,
    reached: &Reached,
    cables: &[u32],
    nodes: &[NodeIndex],
    faults: &mut Faults,
) -> Option<Vec<LinkIndex>> {
    let links = tree(topology, graph, draft, reached, faults)?;
    let touches = |node: NodeIndex| {
        links.iter().any(|link| {
            let link = &topology.links[link.index()];
            [link.from, link.to].iter().any(|port| topology.ports[port.index()].node == node)
        })
    };
    let unused = cables.iter().any(|cable| !links.iter().any(|link| link.0 / 2 == *cable))
        || nodes.iter().any(|node| !touches(*node));
    if unused {
        let message = "a part of this route is not between the talker and its listeners".to_owned();
        let help = "remove what is not on the path, and loops";
        faults.error(codes::ROUTE, draft.route_place, message, help);
        return None;
    }
    Some(links)
}

/// Warns where a stream loses its priority with its tag, once for each port.
fn warn_of_lost_priority(
    topology: &Topology<'_>,
    draft: &StreamDraft<'_, '_>,
    reported: &mut HashSet<PortIndex>,
    faults: &mut Faults,
) {
    for hop in &draft.stream.hops {
        let Some(before) = hop.previous.map(|previous| &draft.stream.hops[previous as usize]) else {
            continue;
        };
        let node = topology.ports[hop.port.index()].node;
        let came = before.previous.is_none()
            || before.tagged.vlan
            || hop.priority == before.priority
            || draft.stream.is_put_back(before, node);
        if came || !draft.stream.tagged || !reported.insert(before.port) {
            continue;
        }
        let message = format!(
            "frames leave {} untagged, and their priority {} becomes {} at `{}`",
            topology.port_name(before.port),
            before.priority,
            hop.priority,
            topology.nodes[topology.ports[hop.port.index()].node.index()].name,
        );
        let help = format!(
            "write `vlans: {{{}: {{tagged: trunks}}}}`, which tags all frames between bridges, or set `default-priority`",
            draft.vlan_id
        );
        faults.warning(codes::PRIORITY_LOST, draft.name_place, message, help);
    }
}

/// A hop to be.
struct Step {
    link: LinkIndex,
    /// The step before, if the talker is not.
    previous: Option<u32>,
    /// Whether frames carry a sequence number there.
    numbered: bool,
    /// The member stream whose identification they have.
    member: Option<u32>,
}

/// The steps of a tree, each behind the one that leads to its node.
fn steps(topology: &Topology<'_>, links: &[LinkIndex]) -> Vec<Step> {
    let mut arrived_by: HashMap<NodeIndex, u32> = HashMap::with_capacity(links.len());
    let node_of = |port: PortIndex| topology.ports[port.index()].node;
    let step = |(number, link): (u32, &LinkIndex)| {
        let ends = &topology.links[link.index()];
        let previous = arrived_by.get(&node_of(ends.from)).copied();
        arrived_by.insert(node_of(ends.to), number);
        Step { link: *link, previous, numbered: false, member: None }
    };
    (0_u32..).zip(links).map(step).collect()
}

/// The links that frames of a stream may use.
fn usable(graph: &Graph, vlan: &VlanDraft, draft: &StreamDraft<'_, '_>) -> Vec<paths::Edge> {
    let mut edges = Vec::new();
    let listens = |node: NodeIndex| draft.stream.listeners.contains(&node);
    for from in (0..graph.is_bridge.len()).map(NodeIndex::at) {
        let is_talker = from == draft.stream.talker;
        if !is_talker && !graph.is_bridge[from.index()] {
            continue;
        }
        for edge in graph.edges_of(from) {
            let leaves = if is_talker {
                draft.talker_port.is_none_or(|port| port == edge.egress)
            } else {
                vlan.member(edge.egress).is_some()
            };
            let enters = !edge.filtering || vlan.member(edge.reception).is_some();
            let is_active = !vlan.binding || vlan.active(edge.link.0 / 2);
            let leads_on = listens(edge.to) || graph.is_bridge[edge.to.index()];
            if leaves && enters && is_active && leads_on {
                edges.push(paths::Edge { link: edge.link.0, from: from.index(), to: edge.to.index() });
            }
        }
    }
    edges
}

/// Class, priority and tag at every hop.
fn hops(
    topology: &Topology<'_>,
    (vlans, members): (&Vlans, &[Member]),
    (number, draft): (StreamIndex, &StreamDraft<'_, '_>),
    steps: &[Step],
    faults: &mut Faults,
) -> Vec<Hop> {
    let stream = &draft.stream;
    let mut hops: Vec<Hop> = Vec::with_capacity(steps.len());
    for step in steps {
        let link = &topology.links[step.link.index()];
        let egress = &topology.ports[link.from.index()];
        let member = step.member.map(|member| &members[member as usize]);
        let vlan = vlans.at(member.map_or(draft.vlan, |member| member.vlan));
        let previous = step.previous.map(|previous| (&steps[previous as usize], &hops[previous as usize]));
        let is_put_back = previous.is_some_and(|(_, before)| stream.is_put_back(before, egress.node));
        let is_written = previous.is_none_or(|(before, _)| is_put_back || before.member != step.member);
        let (priority, came_tagged, tagged) = match step.previous {
            // A switch has the priority of a virtual link in its table.
            _ if stream.virtual_link.is_some() || stream.time_triggered.is_some() => {
                (stream.priority, true, false)
            }
            None => {
                if !stream.tagged && member.is_some_and(|member| member.is_tagged) {
                    let message = "the talker sends frames without a tag, and copies are to have a VLAN or a priority there".to_owned();
                    let help = "remove `tagged: false`, or state neither for the copies";
                    faults.error(frer::codes::FRER, draft.place("frer"), message, help);
                }
                (stream.priority, stream.tagged, stream.tagged)
            }
            Some(previous) => {
                let before = &hops[previous as usize];
                let links_before =
                    topology.ports[before.port.index()].links.expect("a hop's port has a cable");
                let reception = &topology.ports[topology.links[links_before.egress.index()].to.index()];
                let vlan_id = stream.vlan_at(before);
                if !before.tagged.vlan && reception.pvid != vlan_id {
                    let message = format!(
                        "the frame arrives untagged at {}, whose `pvid` is VLAN {}",
                        topology.port_name(topology.links[links_before.egress.index()].to),
                        reception.pvid
                    );
                    let help =
                        format!("tag the VLAN at the sending port, or set that port's `pvid` to {vlan_id}");
                    faults.error(codes::VLAN_CHANGE, draft.name_place, message, help);
                }
                let priority = if is_put_back {
                    stream.priority
                } else if before.tagged.vlan {
                    reception.priority_regeneration[before.priority.index()]
                } else {
                    reception.default_priority
                };
                (priority, before.tagged.vlan, vlan.member(link.from).unwrap_or(true))
            }
        };
        let internal =
            step.previous.and_then(|_| topology.filters.fixed(egress.node, Some(number), priority));
        let next = topology.ports[link.to.index()].node;
        let listener = stream.listeners.iter().position(|listener| *listener == next);
        hops.push(Hop {
            port: link.from,
            previous: step.previous,
            class: internal.map_or_else(
                || egress.class_table.class_of(priority, came_tagged),
                |internal| egress.class_table.of_priority[internal.index()],
            ),
            priority: member.filter(|_| is_written).and_then(|member| member.priority).unwrap_or(priority),
            tagged: Tags { vlan: tagged, sequence: step.numbered },
            written: member.map(|member| member.written),
            listener: listener.and_then(|listener| u32::try_from(listener).ok()),
            scheduler: None,
            identified: Identified::Own,
        });
    }
    hops
}
