//! Requests for streams as a CUC makes them of a CNC (802.1Qcc, `ieee802-dot1q-cnc-config`): talkers and listeners by their interfaces, frames, traffic,
//! latency. `write.rs` writes those of a network, `document.rs` reads such
//! requests, and `read.rs` puts them into a description of one.
//!
//! A request has no name but its identifier: the address of the talker's port, and the number of the stream among those of its talker.
//! `max-latency` counts from the start of a frame at the talker's port to its start at the listener's, a deadline from when the talker hands the frame
//! over to its last bit: between them are the preamble at the talker and the frame on the last cable. Of a time-aware stream `max-latency` counts from the start of
//! the interval.

mod document;
mod read;
mod write;

use std::net::Ipv4Addr;

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, Stream, StreamIndex, Traffic};
use tautwire_units::Bits;
use tautwire_wire::MacAddress;

use super::names::Fraction;
use crate::{Export, Import, Scope};

pub(crate) static JSON: Export = Export {
    name: "uni",
    about: "requests for streams of a CUC to a CNC (802.1Qcc), YANG instance data in JSON",
    scope: Scope::Network(|network| {
        let (tree, mut written) = write::write(network);
        written.text = serde_json::to_string_pretty(&tree).expect("all keys are texts") + "\n";
        written
    }),
};

pub(crate) static XML: Export = Export {
    name: "uni-xml",
    about: "the same in XML",
    scope: Scope::Network(|network| {
        let (tree, mut written) = write::write(network);
        written.text = super::xml::text(&tree);
        written
    }),
};

pub(crate) static IMPORT: Import = Import {
    name: "uni",
    about: "requests for streams of a CUC to a CNC (802.1Qcc), YANG instance data in JSON or XML;\nthe network that has their end stations is named by --base",
    example: "tautwire import uni requests.json --base plant.yaml --to requested.yaml",
    has_configurations: false,
    of: |_, _| {
        Err("requests have no cables and bridges: name the description of their network with --base"
            .to_owned())
    },
    of_octets: None,
    onto: Some(read::update),
};

/// A request, in the numbers of its document.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Request {
    talker: Interface,
    listeners: Vec<Interface>,
    destination: Option<MacAddress>,
    /// Priority and VLAN, if frames have a tag.
    tag: Option<(u64, u64)>,
    ipv4: Option<Ipv4>,
    interval: Fraction,
    frames: u64,
    /// Octets of MAC client data.
    size: u64,
    /// Least and greatest offset of a time-aware stream, nanoseconds.
    offsets: Option<(u64, u64)>,
    /// Nanoseconds, for each listener; none: no requirement.
    latencies: Vec<Option<u64>>,
}

/// A port of an end station.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Interface {
    address: MacAddress,
    name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ipv4 {
    source: Ipv4Addr,
    destination: Ipv4Addr,
    dscp: u64,
    ports: (u64, u64),
}

/// The protocol of UDP.
const UDP: u64 = 17;

/// Streams of a network with their identifiers, in order. Frames of protocols are requested by nobody.
fn identified(network: &Network) -> Vec<(String, StreamIndex)> {
    let mut counts = vec![0_u32; network.nodes.len()];
    let mut found = Vec::new();
    for (number, stream) in network.streams.iter().enumerate() {
        if matches!(stream.traffic, Traffic::Protocol) {
            continue;
        }
        counts[stream.talker.index()] += 1;
        let [.., high, low] = counts[stream.talker.index()].to_be_bytes();
        let address = port_of(network, stream)
            .map_or(MacAddress::default(), |port| network.ports[port.index()].address);
        let id = format!("{}:{high:02X}-{low:02X}", super::names::address(address).to_uppercase());
        found.push((id, StreamIndex::at(number)));
    }
    found
}

/// The port at which a stream leaves its talker.
fn port_of(network: &Network, stream: &Stream) -> Option<PortIndex> {
    let own = stream.hops.iter().find(|hop| hop.previous.is_none()).map(|hop| hop.port);
    own.or_else(|| network.nodes[stream.talker.index()].ports.clone().next().map(PortIndex))
}

/// What a deadline has in addition to a latency, picoseconds, at each listener: the preamble at the talker's port, and the frame on the last cable. None if
/// it is not known where frames go.
fn around(network: &Network, stream: &Stream, octets: u64) -> Vec<Option<u64>> {
    let time = |port: PortIndex, octets: u64| {
        let link = network.ports[port.index()].links?.egress;
        Some(network.links[link.index()].rate.duration_ceil(Bits::new(8 * octets)).as_ps())
    };
    let first = port_of(network, stream).and_then(|port| time(port, 8));
    let last = |listener: usize| {
        let hop = stream.hops.iter().find(|hop| hop.listener == u32::try_from(listener).ok())?;
        let around = if hop.tagged.vlan { 22 } else { 18 };
        time(hop.port, (octets + around).max(if hop.tagged.vlan { 68 } else { 64 }))
    };
    (0..stream.listeners.len()).map(|listener| Some(first? + last(listener)?)).collect()
}

/// The end station of an address, and its port.
fn station(network: &Network, address: MacAddress) -> Option<(NodeIndex, PortIndex)> {
    let port = network.ports.iter().position(|port| port.address == address)?;
    Some((network.ports[port].node, PortIndex(u32::try_from(port).ok()?)))
}
