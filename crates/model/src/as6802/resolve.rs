//! `synchronisation:` of a time-triggered network, and the streams of its protocol control frames. The cluster of each
//! node: `clusters.rs`.
//!
//! A stream uses the fewest links, like those of the description. Most frames of a master (`burst` below): each kind
//! of frame once at once, integration frames once a cycle that a correction shortens, the others at the intervals of
//! its timeouts. A compression master makes at most one of each.

use tautwire_core::Priority;
use tautwire_units::{BitRate, Bits, Duration};
use tautwire_wire::{MacAddress, VlanId};

use super::clusters;
use super::containment::Uncontained;
use super::{PCF_PAYLOAD, SyncCluster, SyncRole, Synchronisation};
use crate::as6802::codes;
use crate::frame::wire_bits;
use crate::network::{
    ArrivalCurve, Hop, Identified, LinkIndex, Network, NodeIndex, PortIndex, Stream, StreamIndex,
    TimelineAction, Traffic, TransmissionSelection,
};
use crate::parse::Draft;
use crate::resolve::priority;
use crate::resolve::streams::Streams;
use crate::resolve::topology::Topology;
use crate::text::faults::Faults;
use crate::text::tree::{Node, Place};
use crate::time_triggered::TimeTriggered;

/// The first four octets of the destination address of critical traffic.
const CRITICAL_TRAFFIC_MARKER: [u8; 4] = [0x03, 0x04, 0x05, 0x06];

/// Reads `synchronisation:` in `time-triggered:`. Adds the streams of its frames.
pub(crate) fn synchronisation(
    input: &Draft<'_>,
    topology: &Topology<'_>,
    settings: Option<&TimeTriggered>,
    streams: &mut Streams<'_, '_>,
    faults: &mut Faults,
) -> Option<Synchronisation> {
    let (settings, node) = (settings?, input.root.get("time-triggered")?.get("synchronisation")?);
    let listed = clusters::listed(node);
    let parts = clusters::parts(topology, listed, faults)?;
    let read = |(place, node): (usize, &Node<'_>)| {
        cluster(node, settings, place, [&parts.masters[place], &parts.compressors[place]])
    };
    let mut made = Synchronisation {
        clusters: listed.iter().enumerate().map(read).collect::<Option<_>>()?,
        cycles: cycles(node, settings, streams, faults)?,
        high_integrity: clusters::high_integrity(topology, listed, &parts, faults),
        frames: vec![None; parts.roles.len()],
        cluster_of: parts.cluster_of,
        roles: parts.roles,
    };
    for (place, node) in listed.iter().enumerate() {
        if !suits(&made, place, node, settings, faults) {
            return None;
        }
    }
    for (place, node) in (0..).zip(listed) {
        let masters = [&parts.masters[usize::from(place)][..], &parts.compressors[usize::from(place)]];
        add_streams(topology, settings, &mut made, (place, masters), node, streams, faults);
    }
    Some(made)
}

/// The settings of a cluster.
fn cluster(
    node: &Node<'_>,
    settings: &TimeTriggered,
    place: usize,
    [masters, compressors]: [&Vec<NodeIndex>; 2],
) -> Option<SyncCluster> {
    let cycle = settings.integration_cycle;
    let span = |key: &str, default: Duration| node.parsed(key).unwrap_or(default);
    let octet = |key: &str, default: u8| node.parsed(key).unwrap_or(default);
    let count = |list: &[NodeIndex]| u32::try_from(list.len()).expect("at most 32");
    Some(SyncCluster {
        name: node
            .get("name")
            .and_then(Node::text)
            .map_or_else(|| format!("cluster-{}", place + 1), str::to_owned),
        domain: octet("domain", 0),
        sync_priority: octet("sync-priority", 1),
        priority: priority(node, "priority").unwrap_or(Priority::new(6).expect("below eight")),
        delay_max: node.parsed("max-transmission-delay")?,
        faulty: node.parsed("faulty-masters").unwrap_or(u32::from(masters.len() > 3)),
        listen_timeout: span("listen-timeout", cycle * 3),
        cold_start_timeout: span("cold-start-timeout", cycle * 4),
        cold_start_offset: span("cold-start-offset", cycle),
        masters: count(masters),
        compression_masters: count(compressors),
        members_min: node.parsed("members-min").unwrap_or(count(masters) / 2 + 1),
    })
}

/// Whether a cluster can be: it is alone in its domain and priority, and its times are long enough.
fn suits(
    made: &Synchronisation,
    place: usize,
    node: &Node<'_>,
    settings: &TimeTriggered,
    faults: &mut Faults,
) -> bool {
    let (own, cycle) = (&made.clusters[place], settings.integration_cycle);
    let same = |other: &SyncCluster| {
        (other.domain, other.sync_priority) == (own.domain, own.sync_priority) || other.name == own.name
    };
    if let Some(other) = made.clusters[..place].iter().find(|other| same(other)) {
        let message =
            format!("`{}` has the same name as `{}`, or the same domain and priority", own.name, other.name);
        let help = "give clusters with separate network times different `domain`s, and a cluster that gives way a lower `sync-priority`";
        faults.error(codes::SYNCHRONISATION, node.anchor(), message, help);
        return false;
    }
    if own.members_min > own.masters {
        let place = node.get("members-min").map_or(node.anchor(), |node| node.place);
        let message =
            format!("`members-min` of {} is more than the {} masters", own.members_min, own.masters);
        faults.error(
            codes::SYNCHRONISATION,
            place,
            message,
            "set `members-min` to the number of masters at most",
        );
        return false;
    }
    if own.faulty > 0 && own.masters <= 2 * own.faulty {
        let place = node.get("faulty-masters").map_or(node.anchor(), |node| node.place);
        let message = format!(
            "with {} faulty ones, {} masters have no majority of correct ones",
            own.faulty, own.masters
        );
        let help = format!("write {} at most, or name more `masters`", (own.masters.max(1) - 1) / 2);
        faults.error(codes::SYNCHRONISATION, place, message, help);
        return false;
    }
    let evaluation = own.evaluation(settings.precision);
    if evaluation >= cycle {
        let message = format!(
            "the frames of a cycle are evaluated {evaluation} after its start, which is not within the integration cycle of {cycle}"
        );
        let help = "make `integration-cycle` longer, or `max-transmission-delay` shorter";
        faults.error(codes::SYNCHRONISATION, node.anchor(), message, help);
        return false;
    }
    for (key, span) in
        [("listen-timeout", own.listen_timeout), ("cold-start-timeout", own.cold_start_timeout)]
    {
        if span < cycle * 2 {
            let place = node.get(key).map_or(node.anchor(), |node| node.place);
            let message = format!("a `{key}` of {span} is shorter than two integration cycles of {cycle}");
            faults.error(codes::SYNCHRONISATION, place, message, "make it two integration cycles at least");
        }
    }
    true
}

/// Integration cycles after which all periods, and the raster's, come again.
fn cycles(
    node: &Node<'_>,
    settings: &TimeTriggered,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) -> Option<u32> {
    let links = streams.list.iter().filter_map(|draft| draft.stream.time_triggered.as_ref());
    let periods = links.map(|link| link.period).chain(settings.raster.map(|raster| raster.cycle));
    let cycle = u128::from(settings.integration_cycle.as_ps()).max(1);
    let common = periods.map(|period| u128::from(period.as_ps()).max(1)).try_fold(cycle, |all, period| {
        let common = all / gcd(all, period) * period;
        (common / cycle <= 1 << 20 && common <= 1 << 60).then_some(common)
    });
    if common.is_none() {
        let message =
            "the periods of the virtual links and the integration cycle have too long a common multiple"
                .to_owned();
        let help = "make them multiples of one another";
        faults.error(codes::SYNCHRONISATION, node.anchor(), message, help);
    }
    u32::try_from(common? / cycle).ok()
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The streams of the frames of a cluster's masters.
fn add_streams(
    topology: &Topology<'_>,
    settings: &TimeTriggered,
    made: &mut Synchronisation,
    (place, [masters, compressors]): (u16, [&[NodeIndex]; 2]),
    node: &Node<'_>,
    streams: &mut Streams<'_, '_>,
    faults: &mut Faults,
) {
    let cluster = &made.clusters[usize::from(place)];
    let count = 0..u32::try_from(masters.len()).expect("at most 32");
    let curves: Vec<ArrivalCurve> = count.map(|number| burst(cluster, settings, number)).collect();
    let all = || (0..topology.nodes.len()).map(NodeIndex::at);
    let mut heard = vec![false; topology.nodes.len()];
    // A frame of a master is passed on, or compressed with others, within so much.
    let delay_max = cluster.delay_max;
    let within = delay_max + cluster.compression_delay(settings.precision) * 2;
    for (number, talker) in masters.iter().enumerate() {
        let ends = (place, *talker, compressors.to_vec());
        if let Some(stream) = stream(topology, made, ends, curves[number], streams, node, faults) {
            made.frames[talker.index()] = Some(stream);
        }
    }
    let none = ArrivalCurve { rate: BitRate::ZERO, burst: Bits::ZERO };
    let passed = curves.iter().fold(none, |sum, curve| ArrivalCurve {
        rate: sum.rate.saturating_add(curve.rate),
        // Policing lets through what may have been held up for the greatest delay.
        burst: sum.burst + curve.burst + curve.rate.bits_ceil(within + delay_max),
    });
    let is_client = |other: NodeIndex| {
        let of = made.cluster_of[other.index()];
        let compresses = matches!(made.roles[other.index()], SyncRole::CompressionMaster(_));
        of == place && !compresses || made.above(of).contains(&place)
    };
    let clients: Vec<NodeIndex> = all().filter(|other| is_client(*other)).collect();
    for talker in compressors {
        let ends = (place, *talker, clients.clone());
        if let Some(number) = stream(topology, made, ends, passed, streams, node, faults) {
            made.frames[talker.index()] = Some(number);
            let added = streams.protocol.last().expect("it was just added");
            added.listeners.iter().for_each(|listener| heard[listener.index()] = true);
        }
    }
    for deaf in clients.into_iter().filter(|other| made.cluster_of[other.index()] == place) {
        if !heard[deaf.index()] {
            let message =
                format!("frames of no compression master reach `{}`", topology.nodes[deaf.index()].name);
            let help = "name a compression master that is connected with it; end stations forward no frames";
            faults.error(codes::SYNCHRONISATION, node.anchor(), message, help);
        }
    }
}

/// The greatest burst of a master.
fn burst(made: &SyncCluster, settings: &TimeTriggered, number: u32) -> ArrivalCurve {
    let frame = wire_bits(PCF_PAYLOAD, false);
    let evaluation = made.evaluation(settings.precision);
    let cycle = settings.integration_cycle;
    let answered = made.cold_start_offset + evaluation;
    let again = made.cold_start_timeout_of(number, cycle).min(answered).min(made.listen_timeout);
    let each = |span: Duration| BitRate::per_period_ceil(frame, span).unwrap_or_default();
    let rate = each(cycle.saturating_sub(settings.precision));
    ArrivalCurve { rate: rate.saturating_add(each(again)).saturating_add(each(answered)), burst: frame * 3 }
}

/// The stream of the frames of a cluster's node, to those of the nodes wanted that it reaches; its number among
/// all streams.
fn stream(
    topology: &Topology<'_>,
    made: &Synchronisation,
    (place, talker, wanted): (u16, NodeIndex, Vec<NodeIndex>),
    arrival: ArrivalCurve,
    streams: &mut Streams<'_, '_>,
    node: &Node<'_>,
    faults: &mut Faults,
) -> Option<StreamIndex> {
    let cluster = &made.clusters[usize::from(place)];
    let (listeners, hops) = tree(topology, made, place, talker, wanted);
    let name = &topology.nodes[talker.index()].name;
    let Some(first) = hops.first() else {
        let message = format!("the frames of `{name}` reach no other node");
        let help = "connect every master with a compression master by links that are up";
        faults.error(codes::SYNCHRONISATION, node.anchor(), message, help);
        return None;
    };
    let number = StreamIndex::at(streams.list.len() + streams.protocol.len());
    let shaped = hops.iter().find(|hop| {
        topology.ports[hop.port.index()].classes[hop.class.index()].selection
            != TransmissionSelection::StrictPriority
    });
    let same = hops.iter().filter(|hop| hop.previous.is_none()).all(|hop| hop.class == first.class);
    if let Some(port) = shaped.map(|hop| hop.port).or((!same).then_some(first.port)) {
        let message = format!(
            "the class of protocol control frames is shaped, or differs between ports, at {}",
            topology.port_name(port)
        );
        let help = "give `synchronisation` a `priority` whose class is `strict-priority`, and the same at all ports of a node";
        faults.error(codes::SYNCHRONISATION, node.anchor(), message, help);
        return None;
    }
    let [a, b, c, d] = CRITICAL_TRAFFIC_MARKER;
    // Identifiers from the top: those of links are from the bottom.
    let [high, low] = (u16::MAX - u16::try_from(talker.index()).unwrap_or(u16::MAX)).to_be_bytes();
    streams.protocol.push(Stream {
        name: format!("pcf:{name}"),
        talker,
        source: topology.ports[first.port.index()].address,
        destination: MacAddress([a, b, c, d, high, low]),
        listeners,
        vlan: VlanId::DEFAULT,
        tagged: false,
        priority: cluster.priority,
        udp: None,
        payload_min: PCF_PAYLOAD,
        payload_max: PCF_PAYLOAD,
        payload_drawn: None,
        traffic: Traffic::Protocol,
        open_phase: false,
        arrival: Some(arrival),
        deadline: Some(cluster.delay_max),
        count_late: Vec::new(),
        shaper: None,
        shaped_at_talker: false,
        started: true,
        hops,
        learned: false,
        virtual_link: None,
        time_triggered: None,
        replication: None,
        stack: None,
        time_aware: None,
        datagrams: None,
    });
    Some(number)
}

/// The tree with the fewest links to those of `wanted` that are reached over bridges, and these; bridges of other
/// clusters on the path receive the frames that they forward.
fn tree(
    topology: &Topology<'_>,
    made: &Synchronisation,
    place: u16,
    talker: NodeIndex,
    wanted: Vec<NodeIndex>,
) -> (Vec<NodeIndex>, Vec<Hop>) {
    let priority = made.clusters[usize::from(place)].priority;
    let mut by: Vec<Option<LinkIndex>> = vec![None; topology.nodes.len()];
    let mut order = vec![talker];
    let mut next = 0;
    let ends = |link: LinkIndex| {
        let link = &topology.links[link.index()];
        [link.from, link.to].map(|port| topology.ports[port.index()].node)
    };
    while let Some(node) = order.get(next).copied() {
        next += 1;
        if node != talker && !topology.is_bridge(node) {
            continue;
        }
        for port in topology.ports_of(node) {
            let Some(links) = topology.ports[port.index()].links else { continue };
            let to = ends(links.egress)[1];
            if topology.links[links.egress.index()].up && to != talker && by[to.index()].is_none() {
                by[to.index()] = Some(links.egress);
                order.push(to);
            }
        }
    }
    let mut kept = vec![false; topology.nodes.len()];
    let mut listeners = wanted;
    listeners.retain(|node| by[node.index()].is_some());
    for listener in &listeners {
        let mut node = *listener;
        while let Some(link) = by[node.index()].filter(|_| !kept[node.index()]) {
            kept[node.index()] = true;
            node = ends(link)[0];
        }
    }
    let others = (0..kept.len()).filter(|node| kept[*node] && made.cluster_of[*node] != place);
    let others: Vec<NodeIndex> = others.map(NodeIndex::at).filter(|node| !listeners.contains(node)).collect();
    listeners.extend(others);
    let mut hops: Vec<Hop> = Vec::new();
    let mut arrived = vec![None; topology.nodes.len()];
    // In the order of the search: a hop comes after the one before it.
    for node in order.into_iter().filter(|node| kept[node.index()]) {
        let link = by[node.index()].expect("it was reached");
        let from = topology.links[link.index()].from;
        let listener = listeners.iter().position(|listener| *listener == node);
        hops.push(Hop {
            port: from,
            previous: arrived[ends(link)[0].index()],
            class: topology.ports[from.index()].class_table.class_of(priority, true),
            priority,
            tagged: false.into(),
            listener: listener.and_then(|listener| u32::try_from(listener).ok()),
            written: None,
            scheduler: None,
            identified: Identified::Own,
        });
        arrived[node.index()] = u32::try_from(hops.len() - 1).ok();
    }
    (listeners, hops)
}

/// Only masters, of both kinds, make frames that are wrong.
fn babblers(network: &Network, input: &Draft<'_>, faults: &mut Faults) {
    for event in &network.events {
        let (TimelineAction::Babble(node, _)
        | TimelineAction::StopBabbling(node)
        | TimelineAction::Mistime(node, _)) = event.action
        else {
            continue;
        };
        let roles = network.as6802.as_ref().map(|synchronisation| &synchronisation.roles);
        if roles.is_none_or(|roles| roles[node.index()] == SyncRole::Client) {
            let name = &network.nodes[node.index()].name;
            let message = format!(
                "`{name}` cannot babble or be at the wrong time, as it is neither a synchronisation nor a compression master"
            );
            let help = "name a master";
            let place = input.root.get("events").map_or(input.root.anchor(), Node::anchor);
            faults.error(codes::EVENT, place, message, help);
        }
    }
}

/// Reports faults that are not contained.
fn contained(network: &Network, place: Place, faults: &mut Faults) {
    let Some(made) = &network.as6802 else { return };
    for (number, cluster) in (0..).zip(&made.clusters) {
        let Some(why) = network.uncontained(number) else { continue };
        let name = |node: NodeIndex| &network.nodes[node.index()].name;
        let (message, help) = match why {
            Uncontained::CompressionMaster(node) => (
                format!(
                    "the synchronisation does not contain faults of the compression master `{}`",
                    name(node)
                ),
                "name it under `high-integrity`",
            ),
            Uncontained::Masters(node) => (
                format!(
                    "the averages of {} masters do not exclude the faulty `{}`",
                    cluster.masters,
                    name(node)
                ),
                "raise `faulty-masters`, with more than twice as many masters, or name it under `high-integrity`",
            ),
            Uncontained::Cliques => (
                format!(
                    "{} of {} masters suffice for network time, so two cliques may form",
                    cluster.members_min, cluster.masters
                ),
                "raise `members-min` above half of the masters",
            ),
        };
        let message =
            format!("{message}; cluster `{}` has no proven precision, and links no bounds", cluster.name);
        faults.warning(codes::NOT_CONTAINED, place, message, help);
    }
}

/// A time-triggered link has one time: it is of nodes of one domain.
fn across(network: &Network, input: &Draft<'_>, faults: &mut Faults) {
    let Some(made) = &network.as6802 else { return };
    let nodes = input.root.get("streams").map_or(&[][..], Node::items);
    for (number, stream) in network.streams.iter().enumerate() {
        if stream.time_triggered.is_some() && made.cluster_of_way(network.nodes_of(stream)).is_none() {
            let place = nodes.get(number).map_or(input.root.anchor(), Node::anchor);
            let message =
                format!("the path of `{}` has nodes of several synchronisation domains", stream.name);
            let help = "send it as a `virtual-link`, or give the clusters one `domain` and different `sync-priority`";
            faults.error(codes::SYNCHRONISATION, place, message, help);
        }
    }
}

/// No control frame may need more time on the lines alone than it is given.
fn too_far(network: &Network, made: &Synchronisation, input: &Draft<'_>, faults: &mut Faults) {
    let node = input.root.get("time-triggered").and_then(|node| node.get("synchronisation"));
    let listed = node.map_or(&[][..], clusters::listed);
    for ((number, cluster), node) in (0..).zip(&made.clusters).zip(listed) {
        let own = made.frames.iter().zip(&made.cluster_of).filter(|(_, of)| **of == number);
        let ways = own.filter_map(|(stream, _)| *stream).flat_map(|index| {
            let stream = &network.streams[index.index()];
            let ends = (0..).zip(&stream.listeners);
            ends.map(move |(listener, to)| (network.least_way(stream, listener), stream.talker, *to))
        });
        let Some((least, from, to)) = ways.max_by_key(|(least, ..)| *least) else { continue };
        if least > cluster.delay_max {
            let place = node.get("max-transmission-delay").map_or(node.anchor(), |node| node.place);
            let name = |node: NodeIndex| &network.nodes[node.index()].name;
            let message = format!(
                "protocol control frames from `{}` to `{}` take {least} for transmission and propagation alone, more than {}",
                name(from),
                name(to),
                cluster.delay_max
            );
            let help = "raise `max-transmission-delay`; `tautwire bounds` then shows how long they take";
            faults.error(codes::SYNCHRONISATION, place, message, help);
        }
    }
}

/// Compares the resulting precision with the stated one, and gives the frames their deadline.
pub(crate) fn resolve(network: &mut Network, input: &Draft<'_>, faults: &mut Faults) {
    babblers(network, input, faults);
    let Some(settings) = network.time_triggered else { return };
    let place = input.root.get("time-triggered").map_or(input.root.anchor(), |node| {
        node.get("precision").map_or(node.anchor(), |precision| precision.place)
    });
    contained(network, place, faults);
    if let Some(bound) = network.precision_bound().filter(|bound| *bound > settings.precision) {
        let message = format!(
            "the synchronisation keeps the clocks within {bound} and not within {}",
            settings.precision
        );
        let help = format!("raise `precision` to {bound} at least, or shorten `integration-cycle`");
        faults.error(codes::SYNCHRONISATION, place, message, help);
    }
    let Some(synchronisation) = network.as6802.clone() else { return };
    across(network, input, faults);
    too_far(network, &synchronisation, input, faults);
    for (stream, cluster) in synchronisation.frames.iter().zip(&synchronisation.cluster_of) {
        let Some(stream) = stream else { continue };
        let deadline = network.transmission_deadline_of(*cluster);
        network.parts.streams[stream.index()].deadline = deadline;
        for hop in network.streams[stream.index()].hops.clone() {
            let timed = network.time_triggered_class(hop.port);
            if timed.is_some_and(|timed| timed <= hop.class) {
                let port: PortIndex = hop.port;
                let node = &network.nodes[network.ports[port.index()].node.index()].name;
                let message = format!(
                    "at `{node}` protocol control frames have the class of time-triggered frames, or a higher one"
                );
                let help = "give `synchronisation` a lower `priority`";
                return faults.error(codes::SYNCHRONISATION, place, message, help);
            }
        }
    }
}
