//! Of which stream a node takes a frame, for ATS schedulers, stream filters and recovery functions: the first one whose function its header
//! matches (functions of IEEE Std 802.1CB-2017 and 802.1CBdb-2021, clause 6; IEEE Std 802.1Q-2022, 8.6.5.3).
//!
//! Computed here once for every stream, so that no driver needs time for it per frame. Every stream of a list adds
//! one function: of those that it states, or else of the device's, the first one that identifies it; without either it
//! is identified by itself. Equal functions are one. A group of schedulers has a list of its own streams, up to the device's limit
//! ([`filters`]); for the rest a reception port has one of all streams that come there ([`identify`]). Invariants: a
//! stream matches its own function with all of its frames, and any other with all or none; else an error is reported.

use std::collections::{BTreeMap, HashSet};

use tautwire_core::identification::{IpHeader, StreamIdentification, Tagged};
use tautwire_wire::{Ipv4Address, MacAddress, VlanId};

use super::models::Models;
use super::streams::{StreamDraft, Streams};
use super::topology::Topology;
use crate::frer;
use crate::identification::{
    IdentificationFunction, Identified, Identity, Layer, PortIdentities, SeenFrames as Seen,
};
use crate::network::{DeviceModel, Hop, NodeIndex, NodeKind, PortIndex, StreamIndex, Traffic};
use crate::psfp::received_priority;
use crate::text::codes;
use crate::text::faults::Faults;
use crate::text::tree::{Node, Value};

/// The fields that identify frames.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Filter {
    /// The stream itself, as if every frame carried its number.
    Stream(usize),
    /// Its header.
    Header(StreamIdentification),
}

/// Why a stream cannot be identified as stated.
struct Impossible {
    message: String,
    help: String,
}

fn impossible<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, Impossible> {
    Err(Impossible { message: message.into(), help: help.into() })
}

/// The filters of one group, and whose frames find which.
pub(crate) struct Filters {
    /// Each with the first stream that has it.
    filters: Vec<(Filter, usize)>,
    /// Per use of the group, the filter that its frames find; none for the default.
    pub(crate) found: Vec<Option<usize>>,
    /// Per use, whether it has no filter of its own.
    pub(crate) unknown: Vec<bool>,
}

impl Filters {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.filters.len()
    }
}

/// The filters of a group: `uses` are its streams, each with its hop before the reception port. Each stream's
/// impossible filter is reported once; `told` keeps those that were.
pub(crate) fn filters(
    uses: &[(usize, Hop)],
    device: &DeviceModel,
    topology: &Topology<'_>,
    streams: &Streams<'_, '_>,
    reported: &mut HashSet<usize>,
    faults: &mut Faults,
) -> Filters {
    let limit = device.ats.schedulers_per_group.map_or(usize::MAX, |limit| limit as usize);
    let states = |stream: usize| streams.list[stream].node.get("identification").is_some();
    if device.stream_identification.is_empty() && !uses.iter().any(|(stream, _)| states(*stream)) {
        // Every stream by itself.
        let own = uses.len().min(limit);
        return Filters {
            filters: uses[..own].iter().map(|(stream, _)| (Filter::Stream(*stream), *stream)).collect(),
            found: (0..uses.len()).map(|number| (number < own).then_some(number)).collect(),
            unknown: vec![false; uses.len()],
        };
    }
    let list = List { topology, streams, device: Some(device), layer: Layer::Relay };
    list.filters(uses, limit, reported, faults)
}

/// Frames that come to a port, and the functions by which it identifies them.
struct List<'l, 't, 'a> {
    topology: &'l Topology<'a>,
    streams: &'l Streams<'t, 'a>,
    /// None at an end station, which has all functions.
    device: Option<&'l DeviceModel>,
    layer: Layer,
}

impl List<'_, '_, '_> {
    fn filters(
        &self,
        uses: &[(usize, Hop)],
        limit: usize,
        reported: &mut HashSet<usize>,
        faults: &mut Faults,
    ) -> Filters {
        let Self { topology, streams, .. } = *self;
        let mut filters: Vec<(Filter, usize)> = Vec::new();
        let mut unknown = Vec::with_capacity(uses.len());
        let seen: Vec<Seen> = uses.iter().map(|(stream, before)| self.seen(*stream, before)).collect();
        for ((stream, before), seen) in uses.iter().zip(&seen) {
            let draft = &streams.list[*stream];
            let own = match self.own(*stream, before, seen) {
                Ok(own) => own,
                Err(Impossible { message, help }) => {
                    if reported.insert(*stream) {
                        let at = topology.port_name(far_port(topology, before));
                        let message = format!("at {at}: {message}");
                        faults.error(codes::IDENTIFICATION, draft.place("identification"), message, help);
                    }
                    None
                }
            };
            unknown.push(own.is_none());
            if let Some(own) = own
                && filters.len() < limit
                && filters.iter().all(|(other, _)| *other != own)
            {
                filters.push((own, *stream));
            }
        }
        let mut found = Vec::with_capacity(uses.len());
        for ((stream, _), seen) in uses.iter().zip(&seen) {
            let mut first = None;
            for (number, (filter, _)) in filters.iter().enumerate() {
                let matches = match filter {
                    Filter::Stream(other) => Some(other == stream),
                    Filter::Header(function) => seen.matches(function),
                };
                if matches.is_none() && reported.insert(*stream) {
                    let message =
                        "some of its frames match the identification of another stream, and others do not";
                    let help = "identify that one by fields and octets that all frames of a stream have, whatever their size";
                    let place = streams.list[*stream].name_place;
                    faults.error(codes::IDENTIFICATION, place, message.to_owned(), help);
                }
                if matches != Some(false) {
                    first = Some(number);
                    break;
                }
            }
            found.push(first);
        }
        Filters { filters, found, unknown }
    }

    fn seen(&self, stream: usize, before: &Hop) -> Seen {
        let node = self.topology.ports[far_port(self.topology, before).index()].node;
        Seen::new(&self.streams.list[stream].stream, before, node, self.layer)
    }

    /// The function of a stream; none if the device has none for it.
    fn own(&self, number: usize, before: &Hop, seen: &Seen) -> Result<Option<Filter>, Impossible> {
        let draft = &self.streams.list[number];
        if self.layer == Layer::Wire && before.written.is_some() {
            // Active identification wrote its frames, and nothing else has their address and VLAN.
            let (tagged, vlan) = tag(&nothing(draft), seen.vlan, before);
            let active = StreamIdentification::Null { destination: seen.destination, tagged, vlan };
            return Ok(Some(Filter::Header(active)));
        }
        let functions = self.device.map_or(&[][..], |device| &device.stream_identification);
        let Some(stated) = draft.node.get("identification") else {
            if functions.is_empty() {
                return Ok(Some(Filter::Stream(number)));
            }
            let identifies = |function: &IdentificationFunction| match function {
                // It matches nothing without a mask and a value.
                IdentificationFunction::MaskAndMatch => None,
                _ => filter(*function, &nothing(draft), before, seen)
                    .ok()
                    .filter(|filter| seen.matches(filter) == Some(true)),
            };
            return Ok(functions.iter().find_map(identifies).map(Filter::Header));
        };
        let mut why = None;
        let list = if stated.items().is_empty() { std::slice::from_ref(stated) } else { stated.items() };
        for node in list {
            match stated_filter(node, before, seen, self.device) {
                Ok(filter) => return Ok(filter),
                Err(other) => why = why.or(Some(other)),
            }
        }
        why.map_or(Ok(None), Err)
    }
}

/// Parameters that state nothing.
fn nothing(draft: &StreamDraft<'_, '_>) -> Node<'static> {
    Node { place: draft.name_place, value: Value::Nothing }
}

/// The port at the far end of a hop.
fn far_port(topology: &Topology<'_>, hop: &Hop) -> PortIndex {
    let links = topology.ports[hop.port.index()].links.expect("a hop's port has a cable");
    topology.links[links.egress.index()].to
}

/// What one of a stream's stated functions looks for.
fn stated_filter(
    node: &Node<'_>,
    before: &Hop,
    seen: &Seen,
    device: Option<&DeviceModel>,
) -> Result<Option<Filter>, Impossible> {
    let Some(function) = node.get("type").and_then(Node::text).and_then(IdentificationFunction::named) else {
        return Ok(None);
    };
    if let Some(device) = device.filter(|device| !device.stream_identification.is_empty())
        && !device.stream_identification.contains(&function)
    {
        let known: Vec<_> = device.stream_identification.iter().map(|function| function.name()).collect();
        return impossible(
            format!("`{}` has no {}", device.name, function.name()),
            format!("it has {}", known.join(", ")),
        );
    }
    let filter = filter(function, node, before, seen)?;
    if seen.matches(&filter) != Some(true) {
        return impossible(
            "not all frames of the stream match its identification",
            "identify it only by fields that all its frames have, with the same value",
        );
    }
    Ok(Some(Filter::Header(filter)))
}

/// Finds of which stream each port takes frames, where bridges filter streams and where copies are numbered or eliminated. Frames of
/// another stream have the class that its filter gives them.
pub(crate) fn identify(
    topology: &mut Topology<'_>,
    models: &Models<'_, '_>,
    streams: &mut Streams<'_, '_>,
    faults: &mut Faults,
) {
    let is_stated = |draft: &StreamDraft<'_, '_>| draft.node.get("identification").is_some();
    if !streams.list.iter().any(is_stated) && !models.identify() {
        return;
    }
    let mut reported = HashSet::new();
    let mut identities = Vec::new();
    for ((port, layer), uses) in receptions(topology, streams) {
        let device = match topology.nodes[topology.ports[port.index()].node.index()].kind {
            NodeKind::Bridge { device, .. } => Some(models.device_at(device)),
            NodeKind::EndStation { .. } => None,
        };
        let has_functions = device.is_some_and(|device| !device.stream_identification.is_empty());
        if !has_functions && !uses.iter().any(|(stream, _)| is_stated(&streams.list[*stream])) {
            continue;
        }
        let hops: Vec<(usize, Hop)> =
            uses.iter().map(|(stream, hop)| (*stream, streams.list[*stream].stream.hops[*hop])).collect();
        let list = List { topology, streams, device, layer };
        let filters = list.filters(&hops, usize::MAX, &mut reported, faults);
        let identified: Vec<Identified> = uses
            .iter()
            .zip(&filters.found)
            .map(|((stream, _), filter)| match filter.map(|filter| filters.filters[filter].1) {
                Some(other) if other == *stream => Identified::Own,
                Some(other) => Identified::Other(StreamIndex::at(other)),
                None => Identified::Nothing,
            })
            .collect();
        match layer {
            Layer::Wire => copies(topology, streams, (port, &uses, &identified), &reported, faults),
            Layer::Relay => {
                report_filtered(topology, streams, (port, &uses, &identified), faults);
                for ((stream, hop), identified) in uses.iter().zip(&identified) {
                    select_class(topology, streams, (*stream, *hop), *identified);
                }
            }
        }
        let row = |(filter, stream): (Filter, usize)| Identity {
            stream: StreamIndex::at(stream),
            function: match filter {
                Filter::Stream(_) => None,
                Filter::Header(function) => Some(function),
            },
        };
        identities.push(PortIdentities { port, layer, list: filters.filters.into_iter().map(row).collect() });
    }
    topology.identities = identities;
}

/// By port and what it looks at: the streams that come there, each with the hop by which it comes.
type Receptions = BTreeMap<(PortIndex, Layer), Vec<(usize, usize)>>;

/// Where frames are identified for stream filters and for copies.
fn receptions(topology: &Topology<'_>, streams: &Streams<'_, '_>) -> Receptions {
    let mut functions = vec![[false; 2]; topology.nodes.len()];
    for filters in &topology.filters.bridges {
        functions[filters.node.index()][Layer::Relay as usize] = true;
    }
    for draft in &streams.list {
        for node in functions_of(draft) {
            functions[node.index()][Layer::Wire as usize] = true;
        }
    }
    let mut found = Receptions::new();
    for (number, draft) in streams.list.iter().enumerate() {
        for (place, hop) in draft.stream.hops.iter().enumerate() {
            let port = far_port(topology, hop);
            let node = topology.ports[port.index()].node;
            for layer in [Layer::Wire, Layer::Relay] {
                let is_looked_at =
                    functions[node.index()][layer as usize] && draft.stream.traffic != Traffic::Protocol;
                if is_looked_at {
                    found.entry((port, layer)).or_default().push((number, place));
                }
            }
        }
    }
    found
}

/// The nodes with functions of a stream with copies where its frames come in.
fn functions_of(draft: &StreamDraft<'_, '_>) -> impl Iterator<Item = NodeIndex> {
    let replication = draft.stream.replication.as_deref();
    let nodes = replication.map(|of| of.recoveries.iter().map(|one| one.node).chain([of.generation]));
    nodes.into_iter().flatten()
}

/// Reports frames of a stream with copies that are not taken for its own where it has a function, and others that are.
fn copies(
    topology: &Topology<'_>,
    streams: &Streams<'_, '_>,
    (port, uses, identified): (PortIndex, &[(usize, usize)], &[Identified]),
    reported: &HashSet<usize>,
    faults: &mut Faults,
) {
    let node = topology.ports[port.index()].node;
    let has = |stream: usize| functions_of(&streams.list[stream]).any(|of| of == node);
    let at = topology.port_name(port);
    for ((stream, _), identified) in uses.iter().zip(identified) {
        let draft = &streams.list[*stream];
        let (message, help) = match identified {
            Identified::Other(other) if has(*stream) || has(other.index()) => (
                format!(
                    "at {at} frames of `{}` match the identification of `{}` first, and one of them has copies",
                    draft.stream.name,
                    streams.list[other.index()].stream.name
                ),
                "identify both by fields in which they differ, or give them other addresses",
            ),
            Identified::Nothing if has(*stream) && !reported.contains(stream) => (
                format!("at {at} no function identifies frames of `{}`, which has copies", draft.stream.name),
                "state one in `identification` that its frames match there: a sequence tag before the EtherType hides the IP header",
            ),
            _ => continue,
        };
        let place = if draft.node.get("identification").is_some() {
            draft.place("identification")
        } else {
            draft.name_place
        };
        faults.error(frer::codes::FRER, place, message, help);
        return;
    }
}

/// Warns of streams that a bridge filters by their names, and does not find.
fn report_filtered(
    topology: &Topology<'_>,
    streams: &Streams<'_, '_>,
    (port, uses, identified): (PortIndex, &[(usize, usize)], &[Identified]),
    faults: &mut Faults,
) {
    let node = topology.ports[port.index()].node;
    let rows = topology.filters.bridges.iter().filter(|filters| filters.node == node);
    let named: Vec<_> =
        rows.flat_map(|filters| &filters.filters).filter_map(|row| row.streams.as_ref()).collect();
    for ((stream, _), identified) in uses.iter().zip(identified) {
        let is_named = named.iter().any(|streams| streams.contains(&StreamIndex::at(*stream)));
        let at = topology.port_name(port);
        let draft = &streams.list[*stream];
        let (what, help) = match identified {
            Identified::Other(other) if is_named => (
                format!("match the identification of `{}` first", streams.list[other.index()].stream.name),
                "name that stream in the filter, or separate them by another address, VLAN or `identification`",
            ),
            Identified::Nothing if is_named => (
                "match none of the bridge's stream identification functions".to_owned(),
                "give the stream an `identification` that the bridge has, or let the filter take all streams",
            ),
            _ => continue,
        };
        let message = format!("at {at} its frames {what}, so stream filters that name it do not take them");
        faults.warning(codes::SHARED_FILTER, draft.name_place, message, help);
    }
}

/// Takes frames of a stream that come by a hop for those of another, whose filter gives the class behind it.
fn select_class(
    topology: &Topology<'_>,
    streams: &mut Streams<'_, '_>,
    (number, place): (usize, usize),
    identified: Identified,
) {
    if identified == Identified::Own {
        return;
    }
    let stream = &mut streams.list[number].stream;
    stream.hops[place].identified = identified;
    let before = stream.hops[place];
    let reception = &topology.ports[far_port(topology, &before).index()];
    let priority = received_priority(stream, &before, reception);
    let handle = identified.handle(StreamIndex::at(number));
    let internal = topology.filters.fixed(reception.node, handle, priority);
    let is_tagged = before.tagged.vlan || stream.virtual_link.is_some() || stream.time_triggered.is_some();
    for hop in stream.hops.iter_mut().filter(|hop| hop.previous.is_some_and(|of| of as usize == place)) {
        let table = &topology.ports[hop.port.index()].class_table;
        hop.class = internal.map_or_else(
            || table.class_of(priority, is_tagged),
            |internal| table.of_priority[internal.index()],
        );
    }
}

/// The function of a stream with the parameters that `node` states and, for the rest, the stream's own.
fn filter(
    function: IdentificationFunction,
    node: &Node<'_>,
    before: &Hop,
    seen: &Seen,
) -> Result<StreamIdentification, Impossible> {
    let (tagged, vlan) = tag(node, seen.vlan, before);
    Ok(match function {
        IdentificationFunction::NullStream => {
            StreamIdentification::Null { destination: seen.destination, tagged, vlan }
        }
        IdentificationFunction::SmacVlan => {
            StreamIdentification::Source { source: seen.source, tagged, vlan }
        }
        IdentificationFunction::Ip => ip(node, seen, vlan)?,
        IdentificationFunction::MaskAndMatch => mask_and_match(node, seen)?,
    })
}

/// Which tags and which VLAN: by default those of the stream as it comes.
fn tag(node: &Node<'_>, vlan: Option<VlanId>, before: &Hop) -> (Tagged, Option<VlanId>) {
    let tagged = match node.get("tagged").and_then(Node::text) {
        Some("tagged") => Tagged::Tagged,
        Some("priority") => Tagged::Priority,
        Some(_) => Tagged::All,
        None if before.tagged.vlan => Tagged::Tagged,
        None => Tagged::Priority,
    };
    let vlan = match node.get("vlan").and_then(Node::text) {
        Some(text) => text.parse().ok().and_then(VlanId::new),
        None => vlan.filter(|_| before.tagged.vlan),
    };
    (tagged, vlan)
}

fn ip(node: &Node<'_>, seen: &Seen, vlan: Option<VlanId>) -> Result<StreamIdentification, Impossible> {
    let first = seen.headers().next().and_then(|header| header.ip);
    let Some(IpHeader { source, destination, dscp, protocol, ports: Some((from, to)) }) = first else {
        return impossible(
            "its frames carry no IPv4 header behind their addresses, which ip-stream-identification needs",
            "give it addresses with `udp:`, or another function; a sequence tag before the EtherType hides the header",
        );
    };
    let stated = node.get("fields");
    let has = |field: &str, by_default: bool| match stated {
        Some(fields) => fields.items().iter().any(|item| item.text() == Some(field)),
        None => by_default,
    };
    let every = Ipv4Address::new(255, 255, 255, 255);
    Ok(StreamIdentification::Ip {
        destination: Some(seen.destination).filter(|_| has("destination-mac", false)),
        vlan: vlan.filter(|_| has("vlan", false)),
        ip_source: Some((source, every)).filter(|_| has("ip-source", true)),
        ip_destination: Some((destination, every)).filter(|_| has("ip-destination", true)),
        dscp: Some(dscp).filter(|_| has("dscp", false)),
        protocol: Some(protocol).filter(|_| has("next-protocol", true)),
        source_port: Some(from).filter(|_| has("source-port", true)),
        destination_port: Some(to).filter(|_| has("destination-port", true)),
    })
}

/// Masks from the description; what must be left is the stream's own, unless stated.
fn mask_and_match(node: &Node<'_>, seen: &Seen) -> Result<StreamIdentification, Impossible> {
    let address = |mask: &str, left: &str, own: MacAddress| {
        let mask = node.parsed::<MacAddress>(mask).map_or([0; 6], |mask| mask.0);
        let left = node.parsed::<MacAddress>(left).unwrap_or(own).0;
        (mask, core::array::from_fn(|octet| left[octet] & mask[octet]))
    };
    let octets = |key: &str| match node.get(key).and_then(Node::text) {
        None => Ok(None),
        Some(text) => match hexadecimal(text) {
            Some(octets) => Ok(Some(octets)),
            None => impossible(
                format!("`{key}` is not a sequence of octets"),
                "write two hexadecimal digits for each octet, in quotes: \"ffff\"",
            ),
        },
    };
    let mask = octets("msdu-mask")?.unwrap_or_default();
    let left =
        octets("msdu-match")?.unwrap_or_else(|| (0..mask.len()).map(|octet| seen.octet(octet)).collect());
    if left.len() != mask.len() {
        return impossible(
            "`msdu-match` and `msdu-mask` differ in length",
            "write the same number of octets in both",
        );
    }
    if let Some(octet) = (0..mask.len()).find(|octet| mask[*octet] != 0 && seen.varies(*octet)) {
        return impossible(
            format!("octet {octet} of `msdu-mask` selects bits that differ between the frames of the stream"),
            "mask the EtherType and the constant parts of the IPv4 and UDP headers",
        );
    }
    Ok(StreamIdentification::MaskAndMatch {
        destination: address("destination-mac-mask", "destination-mac-match", seen.destination),
        source: address("source-mac-mask", "source-mac-match", seen.source),
        data: mask.iter().zip(left).map(|(mask, left)| (*mask, left & mask)).collect(),
    })
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}
