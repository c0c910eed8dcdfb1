//! Of which described stream a bridge on real ports takes a frame, by its octets (IEEE Std 802.1CB-2017, clause 6; IEEE Std 802.1Q-2022, 8.6.5.3).
//!
//! A frame goes the way of a stream whose destination, VLAN and priority it has at the port. Among streams that share these its source
//! decides, and then the functions of the port, which are the network's. Its stream handle is that of the first function that it
//! matches, as in a run; a stream without a function is identified by itself. The machine of the functions is `core`'s.

use std::collections::HashMap;

use tautwire_core::Priority;
use tautwire_core::identification::{Header, IpHeader, StreamIdentification};
use tautwire_model::Network;
use tautwire_model::network::{Identity, Layer, PortIndex, StreamIndex};
use tautwire_wire::{EtherType, MacAddress, VlanId};

use crate::bridge_frame::Passing;
use crate::plan::Plan;

/// How frames of a stream are known at a port: destination, and VLAN and priority of its tag if it has one.
type Mark = (PortIndex, MacAddress, Option<(VlanId, u8)>);

/// A stream that comes to a port.
#[derive(Clone, Debug)]
struct Known {
    stream: u32,
    hop: u32,
    source: MacAddress,
    /// Its function there, if the network has one for it.
    function: Option<StreamIdentification>,
}

/// The streams that come to a bridge.
#[derive(Debug)]
pub(crate) struct Streams<'n> {
    known: HashMap<Mark, Vec<Known>>,
    /// By port: the functions that give the stream handle.
    functions: HashMap<PortIndex, &'n [Identity]>,
}

impl<'n> Streams<'n> {
    /// Those that come to these ports.
    pub(crate) fn new(
        network: &'n Network,
        plan: &Plan,
        ports: impl Iterator<Item = PortIndex> + Clone,
    ) -> Self {
        let mut known: HashMap<Mark, Vec<Known>> = HashMap::new();
        let functions: HashMap<PortIndex, &[Identity]> =
            ports.clone().filter_map(|port| Some((port, network.identities(port, Layer::Relay)?))).collect();
        for (number, stream) in network.streams.iter().enumerate() {
            let number = StreamIndex::at(number);
            for port in ports.clone() {
                let Some(hop) = plan.hop_to(number.0, port) else { continue };
                let came_by = &stream.hops[hop as usize];
                let tag = came_by.tagged.vlan.then(|| (stream.vlan, came_by.priority.number()));
                let row = functions.get(&port).and_then(|list| list.iter().find(|row| row.stream == number));
                known.entry((port, stream.destination, tag)).or_default().push(Known {
                    stream: number.0,
                    hop,
                    source: stream.source,
                    function: row.and_then(|row| row.function.clone()),
                });
            }
        }
        Self { known, functions }
    }

    /// The described stream whose way a frame goes, and the hop by which it came; `vlan` is the one in which it is.
    pub(crate) fn of(
        &self,
        port: PortIndex,
        passing: &Passing,
        vlan: VlanId,
        data: &[u8],
    ) -> Option<(u32, u32)> {
        let mark = passing.tag.map(|tag| (vlan, tag.priority_code_point()));
        let all = self.known.get(&(port, passing.destination, mark))?;
        let [first, others @ ..] = &all[..] else { return None };
        if others.is_empty() {
            return Some((first.stream, first.hop));
        }
        let is_from = all.iter().any(|one| one.source == passing.source);
        let mut pool = all.iter().filter(|one| !is_from || one.source == passing.source);
        let header = header(passing, data);
        let matches = |one: &&Known| one.function.as_ref().is_some_and(|of| of.matches(&header));
        let found = pool.clone().find(matches);
        let found = found.or_else(|| pool.clone().find(|one| one.function.is_none()));
        found.or_else(|| pool.next()).map(|one| (one.stream, one.hop))
    }

    /// The stream handle of a frame that goes the way of `stream`, or of none; none: no function identifies it.
    pub(crate) fn handle(
        &self,
        port: PortIndex,
        passing: &Passing,
        stream: Option<u32>,
        data: &[u8],
    ) -> Option<StreamIndex> {
        let own = stream.map(StreamIndex);
        let Some(list) = self.functions.get(&port) else { return own };
        let header = header(passing, data);
        let is_of = |row: &&Identity| match &row.function {
            Some(function) => function.matches(&header),
            None => Some(row.stream) == own,
        };
        list.iter().find(is_of).map(|row| row.stream)
    }
}

/// The fields of a frame that functions use; `data` begins with the type.
fn header<'f>(passing: &Passing, data: &'f [u8]) -> Header<'f> {
    let ip = data
        .split_first_chunk()
        .filter(|(of, _)| u16::from_be_bytes(**of) == EtherType::IPV4.0)
        .and_then(|(_, packet)| IpHeader::read(packet));
    Header {
        destination: passing.destination,
        source: passing.source,
        tag: passing.tag.and_then(|tag| Some((tag.vlan?, Priority::new(tag.priority_code_point())?))),
        ip,
        data,
    }
}
