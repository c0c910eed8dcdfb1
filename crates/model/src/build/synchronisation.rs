//! `synchronisation:` of a time-triggered network, and the streams of its protocol control frames.
//!
//! A stream goes over the fewest links, as those of the description do. What a master may send at most
//! (`burst` below): each kind of frame once at once, integration frames once a cycle that a correction
//! shortens, the others as its timeouts are apart. A compression master makes at most one of each.

use tautwire_core::Priority;
use tautwire_units::{BitRate, Bits, Duration};
use tautwire_wire::{MacAddress, VlanId};

use super::streams::Streams;
use super::topology::Topology;
use super::{Input, priority};
use crate::frame::wire_bits;
use crate::network::{
    ArrivalCurve, Hop, LinkIndex, Network, NodeIndex, PortIndex, Stream, StreamIndex, TimelineAction,
    Traffic, TransmissionSelection,
};
use crate::synchronisation::{PCF_PAYLOAD, SyncRole, Synchronisation};
use crate::text::codes;
use crate::text::faults::Faults;
use crate::text::tree::Node;
use crate::time_triggered::TimeTriggered;

/// Least distance of a babbler's frames: a run takes its time for each.
const BABBLE_MIN: Duration = Duration::from_us(1);
/// Most synchronisation masters: a bit of the membership for each.
const MASTERS_MAX: usize = 32;
/// The first four octets of the destination address of critical traffic.
const CRITICAL_TRAFFIC_MARKER: [u8; 4] = [0x03, 0x04, 0x05, 0x06];

/// Reads `synchronisation:` in `time-triggered:`. Adds the streams of its frames.
pub(crate) fn synchronisation(
    input: &Input<'_, '_>,
    topology: &Topology<'_>,
    settings: Option<&TimeTriggered>,
    streams: &mut Streams<'_, '_>,
    faults: &mut Faults,
) -> Option<Synchronisation> {
    let (settings, node) = (settings?, input.root.get("time-triggered")?.get("synchronisation")?);
    let (roles, masters, compressors) = roles(topology, node, faults)?;
    let cycle = settings.integration_cycle;
    let span = |key: &str, default: Duration| node.parsed(key).unwrap_or(default);
    let octet = |key: &str, default: u8| node.parsed(key).unwrap_or(default);
    let mut made = Synchronisation {
        domain: octet("domain", 0),
        sync_priority: octet("sync-priority", 1),
        priority: priority(node, "priority").unwrap_or(Priority::new(6).expect("below eight")),
        delay_max: node.parsed("max-transmission-delay")?,
        faulty: node.parsed("faulty-masters").unwrap_or(u32::from(masters.len() > 3)),
        listen_timeout: span("listen-timeout", cycle * 3),
        cold_start_timeout: span("cold-start-timeout", cycle * 4),
        cold_start_offset: span("cold-start-offset", cycle),
        cycles: cycles(node, settings, streams, faults)?,
        frames: vec![None; roles.len()],
        roles,
    };
    let evaluation = made.evaluation(settings.precision);
    if evaluation >= cycle {
        let message = format!(
            "frames of a cycle are looked at {evaluation} behind its start, and an integration cycle is {cycle}"
        );
        let help = "make `integration-cycle` longer, or `max-transmission-delay` shorter";
        faults.error(codes::SYNCHRONISATION, node.anchor(), message, help);
        return None;
    }
    for (key, span) in
        [("listen-timeout", made.listen_timeout), ("cold-start-timeout", made.cold_start_timeout)]
    {
        if span < cycle * 2 {
            let place = node.get(key).map_or(node.anchor(), |node| node.place);
            let message = format!("a `{key}` of {span} with integration cycles of {cycle}");
            faults.error(codes::SYNCHRONISATION, place, message, "make it at least two integration cycles");
        }
    }
    add_streams(topology, settings, &mut made, (&masters, &compressors), node, streams, faults);
    Some(made)
}

/// What every node is, and the masters of both kinds in order; none if that is no synchronisation.
fn roles(
    topology: &Topology<'_>,
    node: &Node<'_>,
    faults: &mut Faults,
) -> Option<(Vec<SyncRole>, Vec<NodeIndex>, Vec<NodeIndex>)> {
    let mut roles = vec![SyncRole::Client; topology.nodes.len()];
    let mut lists = [Vec::new(), Vec::new()];
    let mut whole = true;
    for (list, key) in lists.iter_mut().zip(["masters", "compression-masters"]) {
        for named in node.get(key).map_or(&[][..], Node::items_or_self) {
            let found = named.text().and_then(|name| topology.node(name, named.place, faults));
            let Some(found) = found else {
                whole = false;
                continue;
            };
            if roles[found.index()] != SyncRole::Client {
                let message = format!("`{}` has a part already", topology.nodes[found.index()].name);
                let help = "name a node once, as a master or as a compression master";
                faults.error(codes::SYNCHRONISATION, named.place, message, help);
                whole = false;
                continue;
            }
            let number = u8::try_from(list.len()).unwrap_or(u8::MAX);
            roles[found.index()] = match key {
                "masters" => SyncRole::Master(number),
                _ => SyncRole::CompressionMaster(number),
            };
            list.push(found);
        }
    }
    let [masters, compressors] = lists;
    if whole && (masters.len() < 2 || masters.len() > MASTERS_MAX || compressors.len() > MASTERS_MAX) {
        let message = format!("{} synchronisation masters", masters.len());
        let help = "name from two to 32: one alone answers no cold start";
        faults.error(codes::SYNCHRONISATION, node.anchor(), message, help);
        whole = false;
    }
    whole.then_some((roles, masters, compressors))
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
            "the periods of the virtual links and the integration cycle come again too late".to_owned();
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

/// The streams of all masters' frames.
fn add_streams(
    topology: &Topology<'_>,
    settings: &TimeTriggered,
    made: &mut Synchronisation,
    (masters, compressors): (&[NodeIndex], &[NodeIndex]),
    node: &Node<'_>,
    streams: &mut Streams<'_, '_>,
    faults: &mut Faults,
) {
    let curves: Vec<ArrivalCurve> =
        (0..masters.len()).map(|number| burst(made, settings, u8::try_from(number).expect("few"))).collect();
    let all = || (0..topology.nodes.len()).map(NodeIndex::at);
    let mut heard = vec![false; topology.nodes.len()];
    for (number, talker) in masters.iter().enumerate() {
        let listeners: Vec<NodeIndex> = compressors.to_vec();
        if let Some(stream) =
            stream(topology, made, *talker, listeners, curves[number], streams, node, faults)
        {
            made.frames[talker.index()] = Some(stream);
        }
    }
    // A frame of a master is passed on, or compressed with others, within so much.
    let within = made.delay_max + made.compression_delay(settings.precision) * 2;
    let none = ArrivalCurve { rate: BitRate::ZERO, burst: Bits::ZERO };
    let passed = curves.iter().fold(none, |sum, curve| ArrivalCurve {
        rate: sum.rate.saturating_add(curve.rate),
        // Policing lets through what may have been held up for the greatest delay.
        burst: sum.burst + curve.burst + curve.rate.bits_ceil(within + made.delay_max),
    });
    for talker in compressors {
        let listeners: Vec<NodeIndex> = all()
            .filter(|other| !matches!(made.roles[other.index()], SyncRole::CompressionMaster(_)))
            .collect();
        if let Some(number) = stream(topology, made, *talker, listeners, passed, streams, node, faults) {
            made.frames[talker.index()] = Some(number);
            let added = streams.protocol.last().expect("it was just added");
            added.listeners.iter().for_each(|listener| heard[listener.index()] = true);
        }
    }
    for deaf in
        all().filter(|other| matches!(made.roles[other.index()], SyncRole::Client | SyncRole::Master(_)))
    {
        if !heard[deaf.index()] {
            let message =
                format!("no compression master's frames reach `{}`", topology.nodes[deaf.index()].name);
            let help = "name a compression master of its network; end stations pass nothing on";
            faults.error(codes::SYNCHRONISATION, node.anchor(), message, help);
        }
    }
}

/// What a master sends at most.
fn burst(made: &Synchronisation, settings: &TimeTriggered, number: u8) -> ArrivalCurve {
    let frame = wire_bits(PCF_PAYLOAD, false);
    let evaluation = made.evaluation(settings.precision);
    let cycle = settings.integration_cycle;
    let answered = made.cold_start_offset + evaluation;
    let again = made.cold_start_timeout_of(number, cycle).min(answered).min(made.listen_timeout);
    let each = |span: Duration| BitRate::per_period_ceil(frame, span).unwrap_or_default();
    let rate = each(cycle.saturating_sub(settings.precision));
    ArrivalCurve { rate: rate.saturating_add(each(again)).saturating_add(each(answered)), burst: frame * 3 }
}

/// The stream of one node's frames, to those of `listeners` that it reaches; its number among all streams.
#[expect(clippy::too_many_arguments, reason = "the parts of one stream, put together once")]
fn stream(
    topology: &Topology<'_>,
    made: &Synchronisation,
    talker: NodeIndex,
    wanted: Vec<NodeIndex>,
    arrival: ArrivalCurve,
    streams: &mut Streams<'_, '_>,
    node: &Node<'_>,
    faults: &mut Faults,
) -> Option<StreamIndex> {
    let (listeners, hops) = tree(topology, made, talker, &wanted);
    let name = &topology.nodes[talker.index()].name;
    let Some(first) = hops.first() else {
        let message = format!("the frames of `{name}` reach nobody");
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
        let message =
            format!("protocol control frames would be shaped, or divided, at {}", topology.port_name(port));
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
        priority: made.priority,
        udp: None,
        payload_min: PCF_PAYLOAD,
        payload_max: PCF_PAYLOAD,
        traffic: Traffic::Protocol,
        arrival: Some(arrival),
        deadline: Some(made.delay_max),
        shaper: None,
        shaped_at_talker: false,
        started: true,
        hops,
        learned: false,
        virtual_link: None,
        time_triggered: None,
        stack: None,
        datagrams: None,
    });
    Some(number)
}

/// The tree over the fewest links to those of `wanted` that are reached over bridges, and these.
fn tree(
    topology: &Topology<'_>,
    made: &Synchronisation,
    talker: NodeIndex,
    wanted: &[NodeIndex],
) -> (Vec<NodeIndex>, Vec<Hop>) {
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
    let listeners: Vec<NodeIndex> =
        wanted.iter().copied().filter(|node| by[node.index()].is_some()).collect();
    for listener in &listeners {
        let mut node = *listener;
        while let Some(link) = by[node.index()].filter(|_| !kept[node.index()]) {
            kept[node.index()] = true;
            node = ends(link)[0];
        }
    }
    let mut hops: Vec<Hop> = Vec::new();
    let mut arrived = vec![None; topology.nodes.len()];
    // In the order of the search: a hop stands behind the one before it.
    for node in order.into_iter().filter(|node| kept[node.index()]) {
        let link = by[node.index()].expect("it was reached");
        let from = topology.links[link.index()].from;
        let listener = listeners.iter().position(|listener| *listener == node);
        hops.push(Hop {
            port: from,
            previous: arrived[ends(link)[0].index()],
            class: topology.ports[from.index()].class_table.class_of(made.priority, true),
            priority: made.priority,
            tagged: false,
            listener: listener.and_then(|listener| u32::try_from(listener).ok()),
            scheduler: None,
        });
        arrived[node.index()] = u32::try_from(hops.len() - 1).ok();
    }
    (listeners, hops)
}

/// Only masters make frames that they could make without end.
fn babblers(network: &Network, input: &Input<'_, '_>, faults: &mut Faults) {
    for event in &network.events {
        let (TimelineAction::Babble(node, _) | TimelineAction::StopBabbling(node)) = event.action else {
            continue;
        };
        let roles = network.synchronisation.as_ref().map(|synchronisation| &synchronisation.roles);
        let short = matches!(event.action, TimelineAction::Babble(_, interval) if interval < BABBLE_MIN);
        if !roles.is_some_and(|roles| matches!(roles[node.index()], SyncRole::Master(_))) || short {
            let name = &network.nodes[node.index()].name;
            let message = format!("`{name}` cannot babble so: it is no synchronisation master, or too quick");
            let help = format!("name one of `masters`, with an `interval` of at least {BABBLE_MIN}");
            let place = input.root.get("events").map_or(input.root.anchor(), Node::anchor);
            faults.error(codes::EVENT, place, message, help);
        }
    }
}

/// Holds the whole against the precision that is stated, and gives the frames their deadline.
pub(crate) fn resolve(network: &mut Network, input: &Input<'_, '_>, faults: &mut Faults) {
    babblers(network, input, faults);
    let (Some(bound), Some(settings)) = (network.precision_bound(), network.time_triggered) else { return };
    let place = input.root.get("time-triggered").map_or(input.root.anchor(), |node| {
        node.get("precision").map_or(node.anchor(), |precision| precision.place)
    });
    if bound > settings.precision {
        let message = format!(
            "clocks are kept together to {bound} by their synchronisation, and not to {}",
            settings.precision
        );
        let help = format!("make `precision` at least {bound}, or `integration-cycle` shorter");
        faults.error(codes::SYNCHRONISATION, place, message, help);
    }
    let Some(synchronisation) = network.synchronisation.clone() else { return };
    let deadline = network.transmission_deadline();
    for stream in synchronisation.frames.iter().flatten() {
        network.streams[stream.index()].deadline = deadline;
        for hop in network.streams[stream.index()].hops.clone() {
            let timed = network.time_triggered_class(hop.port);
            if timed.is_some_and(|timed| timed <= hop.class) {
                let port: PortIndex = hop.port;
                let node = &network.nodes[network.ports[port.index()].node.index()].name;
                let message = format!(
                    "protocol control frames have the class of time-triggered ones at `{node}`, or one above"
                );
                let help = "give `synchronisation` a lower `priority`";
                return faults.error(codes::SYNCHRONISATION, place, message, help);
            }
        }
    }
}
