//! Which stream a handle of a document is: that whose frames its functions identify at the ports where they come in. And how streams are identified.

use std::collections::{BTreeMap, BTreeSet};

use tautwire_core::identification::{Header, StreamIdentification, Tagged};
use tautwire_model::Network;
use tautwire_model::network::{Layer, SeenFrames};
use tautwire_model::network::{PortIndex, StreamIndex, Traffic};
use tautwire_wire::{MacAddress, VlanId};

use super::super::read::{Identity, Side, StreamParts};
use super::{Edits, Sides};
use crate::Converted;

/// The streams of handles. A number that may be that of the base is taken for it where several streams' frames match.
pub(super) fn streams(
    sides: &Sides<'_>,
    parts: &StreamParts,
    converted: &mut Converted,
) -> BTreeMap<u64, StreamIndex> {
    let mut candidates: BTreeMap<u64, Vec<StreamIndex>> = BTreeMap::new();
    for row in &parts.identities {
        let own = candidates.entry(row.handle).or_default();
        for stream in matched(sides, row) {
            if !own.contains(&stream) {
                own.push(stream);
            }
        }
    }
    let mut found = BTreeMap::new();
    for (handle, own) in &candidates {
        let same = own.iter().find(|stream| u64::from(stream.0) + 1 == *handle);
        found.extend(same.map(|stream| (*handle, *stream)));
    }
    // Streams that the base names at the bridge are likelier than others with the same addresses.
    let named: BTreeSet<u64> = sides.ours.streams.identities.iter().map(|row| row.handle).collect();
    for (handle, own) in &candidates {
        if found.contains_key(handle) {
            continue;
        }
        let is_free = |stream: &&StreamIndex| found.values().all(|taken| taken != *stream);
        let is_named = |stream: &&StreamIndex| named.contains(&(u64::from(stream.0) + 1));
        let likely = own.iter().filter(is_named).find(is_free);
        match likely.or(own.iter().find(is_free)).or(own.first()) {
            Some(stream) => {
                found.insert(*handle, *stream);
            }
            None => {
                for row in parts.identities.iter().filter(|row| row.handle == *handle) {
                    converted.lacks(format!(
                        "{}: handle {handle}, as frames of no stream of the base match it at {}",
                        row.place,
                        if row.ports.is_empty() { "no port".to_owned() } else { row.ports.join(", ") }
                    ));
                }
            }
        }
    }
    found
}

/// The streams whose frames a function identifies, in the order of the description.
fn matched(sides: &Sides<'_>, row: &Identity) -> Vec<StreamIndex> {
    let ports: Vec<PortIndex> = row.ports.iter().filter_map(|port| sides.port(port)).collect();
    let streams = sides.network.streams.iter().enumerate();
    let streams = streams.filter(|(_, stream)| stream.traffic != Traffic::Protocol);
    let is_matched = |stream: &tautwire_model::network::Stream| {
        stream.hops.iter().any(|hop| match row.side {
            Side::Out => {
                let (node, port) = sides.network.far_end(hop);
                node == sides.number && ports.contains(&port) && {
                    let seen = SeenFrames::new(stream, hop, node, Layer::Relay);
                    let is_it = |frame: &Vec<u8>| {
                        Header::read(frame).is_some_and(|header| row.function.matches(&header))
                    };
                    seen.frames().iter().all(is_it)
                }
            }
            // Frames as the relay brings them to a port where they leave.
            Side::In => {
                hop.previous.is_some()
                    && ports.contains(&hop.port)
                    && matches!(&row.function, StreamIdentification::Null { destination, vlan, .. }
                        if *destination == stream.destination && vlan.is_none_or(|vlan| vlan == stream.vlan))
            }
        })
    };
    streams.filter(|(_, stream)| is_matched(stream)).map(|(number, _)| StreamIndex::at(number)).collect()
}

/// Functions of streams that are not those of the base.
#[derive(Default)]
pub(super) struct Identified {
    changed: BTreeMap<StreamIndex, Vec<(String, StreamIdentification)>>,
}

impl Identified {
    /// Notes what a bridge identifies otherwise.
    pub(super) fn add(&mut self, sides: &Sides<'_>, converted: &mut Converted) {
        let parts = &sides.theirs.streams;
        let used: BTreeSet<u64> = (parts.functions.iter().map(|function| function.handle))
            .chain(parts.encodings.iter().map(|encoding| encoding.0))
            .collect();
        let places = |parts: &StreamParts, streams: &BTreeMap<u64, StreamIndex>| {
            let mut found: Vec<(StreamIndex, String, StreamIdentification, String)> = Vec::new();
            for row in parts.identities.iter().filter(|row| row.side == Side::Out) {
                let Some(stream) = streams.get(&row.handle) else { continue };
                let rows = row
                    .ports
                    .iter()
                    .map(|port| (*stream, port.clone(), row.function.clone(), row.place.clone()));
                found.extend(rows);
            }
            found
        };
        for row in parts.identities.iter().filter(|row| row.side == Side::In && !used.contains(&row.handle)) {
            converted.lacks(format!(
                "{}: a function for frames that the relay brings, which no function of replication uses",
                row.place
            ));
        }
        let ours = places(&sides.ours.streams, &sides.our_streams);
        for (stream, port, function, place) in places(parts, &sides.their_streams) {
            let is_ours =
                ours.iter().any(|(own, at, known, _)| *own == stream && *at == port && *known == function);
            if is_ours || default_of(sides, stream, &port).contains(&function) {
                continue;
            }
            self.changed.entry(stream).or_default().push((place, function));
        }
    }

    /// Writes the functions of streams that have one in all documents.
    pub(super) fn write(&self, network: &Network, edits: &mut Edits, converted: &mut Converted) {
        for (stream, rows) in &self.changed {
            let stream = &network.streams[stream.index()];
            let texts: BTreeSet<String> =
                rows.iter().map(|(_, function)| text(function, stream.destination)).collect();
            match texts.first().filter(|_| texts.len() == 1) {
                Some(text) => edits.set(&["streams", &stream.name, "identification"], text, converted),
                None => {
                    for (place, function) in rows {
                        converted.lacks(format!(
                            "{place}: {}, as other bridges identify stream {} otherwise; what the base has stays",
                            text(function, stream.destination),
                            stream.name
                        ));
                    }
                }
            }
        }
    }
}

/// How frames of a stream may be identified at a port though the base says nothing: by their own addresses.
fn default_of(sides: &Sides<'_>, number: StreamIndex, port: &str) -> Vec<StreamIdentification> {
    let stream = &sides.network.streams[number.index()];
    let Some(port) = sides.port(port) else { return Vec::new() };
    if sides.network.identities(port, Layer::Relay).is_some() {
        return Vec::new();
    }
    let hops = stream.hops.iter().filter(|hop| sides.network.far_end(hop).1 == port);
    hops.map(|hop| StreamIdentification::Null {
        destination: stream.destination_at(hop),
        tagged: if hop.tagged.vlan { Tagged::Tagged } else { Tagged::Priority },
        vlan: hop.tagged.vlan.then(|| stream.vlan_at(hop)),
    })
    .collect()
}

/// A function as a stream of a description has it.
fn text(function: &StreamIdentification, destination: MacAddress) -> String {
    let tags = |tagged: &Tagged| match tagged {
        Tagged::Tagged => "tagged",
        Tagged::Priority => "priority",
        Tagged::All => "all",
    };
    let number = |vlan: &Option<VlanId>| vlan.map_or("any".to_owned(), |vlan| vlan.number().to_string());
    match function {
        StreamIdentification::Null { tagged, vlan, .. } => {
            format!("{{type: null-stream-identification, tagged: {}, vlan: {}}}", tags(tagged), number(vlan))
        }
        StreamIdentification::Source { tagged, vlan, .. } => format!(
            "{{type: smac-vlan-stream-identification, tagged: {}, vlan: {}}}",
            tags(tagged),
            number(vlan)
        ),
        StreamIdentification::Ip {
            destination,
            vlan,
            ip_source,
            ip_destination,
            dscp,
            protocol,
            source_port,
            destination_port,
        } => {
            let fields = [
                ("destination-mac", destination.is_some()),
                ("vlan", vlan.is_some()),
                ("ip-source", ip_source.is_some()),
                ("ip-destination", ip_destination.is_some()),
                ("dscp", dscp.is_some()),
                ("next-protocol", protocol.is_some()),
                ("source-port", source_port.is_some()),
                ("destination-port", destination_port.is_some()),
            ];
            let fields: Vec<&str> = fields.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
            let vlan = vlan.map_or(String::new(), |vlan| format!(", vlan: {}", vlan.number()));
            format!("{{type: ip-stream-identification, fields: [{}]{vlan}}}", fields.join(", "))
        }
        StreamIdentification::MaskAndMatch { destination: (mask, value), source, data } => {
            let _ = destination;
            let hex = |octets: &mut dyn Iterator<Item = u8>| {
                octets.map(|octet| format!("{octet:02x}")).collect::<String>()
            };
            let mut keys = vec!["type: mask-and-match-stream-identification".to_owned()];
            for (name, (mask, value)) in [("destination", (mask, value)), ("source", (&source.0, &source.1))]
            {
                if *mask != [0; 6] {
                    keys.push(format!("{name}-mac-mask: \"{}\"", MacAddress(*mask)));
                    keys.push(format!("{name}-mac-match: \"{}\"", MacAddress(*value)));
                }
            }
            if !data.is_empty() {
                keys.push(format!("msdu-mask: \"{}\"", hex(&mut data.iter().map(|octet| octet.0))));
                keys.push(format!("msdu-match: \"{}\"", hex(&mut data.iter().map(|octet| octet.1))));
            }
            format!("{{{}}}", keys.join(", "))
        }
    }
}
