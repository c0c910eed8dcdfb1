//! The control machines of a node on its interfaces, and the frames that carry what they say.
//!
//! Their frames go by the ports of their streams and wait in the queues like any other. Not here: the machines and what they observe
//! (`tautwire_sim::Hosted`); gPTP, whose frames pass no queue (`gptp.rs`).

use std::collections::BTreeMap;

use tautwire_core::control::Addresses;
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};
use tautwire_sim::{Frame, Hosted, InCommon, PlugIn};
use tautwire_units::{Bytes, Duration, Instant};
use tautwire_wire::{EtherType, MacAddress};

use crate::plan::Plan;

/// Mechanisms that are plug-ins.
pub(crate) type PlugIns = &'static [&'static dyn PlugIn];

/// Those of a node.
#[derive(Debug)]
pub(crate) struct Control<'n> {
    pub(crate) hosted: Hosted<'n>,
    /// By port of reception, source, destination and type: stream and hop by which their frames come from a described node.
    streams: BTreeMap<(PortIndex, MacAddress, MacAddress, u16), (u32, u32)>,
    /// Per stream: whether it carries their frames.
    carried: Vec<bool>,
    /// Frames that they hold: places of their own making, and how many of all.
    made: BTreeMap<u32, u32>,
    pub(crate) held: usize,
}

impl<'n> Control<'n> {
    /// None if a node has none.
    pub(crate) fn new(
        network: &'n Network,
        plan: &Plan,
        (node, seed, plug_ins): (NodeIndex, u64, PlugIns),
        common: &InCommon,
    ) -> Option<Self> {
        let hosted = Hosted::new(network, node, seed, plug_ins, common)?;
        let (mut streams, mut carried) = (BTreeMap::new(), vec![false; network.streams.len()]);
        let ports = || network.nodes[node.index()].ports.clone().map(PortIndex);
        for (stream, ether_type) in hosted.carried() {
            carried[stream.index()] = true;
            let own = &network.streams[stream.index()];
            for port in ports() {
                if let Some(hop) = plan.hop_to(stream.0, port) {
                    streams.insert((port, own.source, own.destination, ether_type.0), (stream.0, hop));
                }
            }
        }
        Some(Self { hosted, streams, carried, made: BTreeMap::new(), held: 0 })
    }

    /// Whether a stream carries their frames.
    pub(crate) fn carries(&self, stream: u32) -> bool {
        self.carried[stream as usize]
    }

    /// Stream and hop of a frame of a described node. In a stream to all a frame may be for one station.
    pub(crate) fn stream(
        &self,
        port: PortIndex,
        Addresses { source, destination }: Addresses,
        ether_type: EtherType,
    ) -> Option<(u32, u32)> {
        let of = |destination: MacAddress| self.streams.get(&(port, source, destination, ether_type.0));
        of(destination).or_else(|| of(MacAddress::BROADCAST)).copied()
    }

    /// A frame of their own making is at this place until they let it go.
    pub(crate) fn hold(&mut self, number: u32, place: u32) {
        self.made.insert(number, place);
        self.held += 1;
    }

    /// Where a frame is that they let go.
    pub(crate) fn let_go(&mut self, number: u32) -> u32 {
        self.held -= 1;
        self.made.remove(&number).unwrap_or(number)
    }

    /// Whether a frame that comes to a bridge is for these machines.
    pub(crate) fn is_theirs(&self, destination: MacAddress, ether_type: EtherType) -> bool {
        let is_reserved = matches!(destination.0, [0x01, 0x80, 0xc2, 0, 0, 0..=0x0f | 0x20..=0x2f]);
        is_reserved && self.hosted.reads(ether_type)
    }

    /// A frame of such a type has come, of this stream if it is of a described node; `data` begins with the type.
    pub(crate) fn received(
        &mut self,
        now: Instant,
        (port, stream): (PortIndex, Option<u32>),
        data: &[u8],
        addresses: Addresses,
    ) {
        if let Some((ether_type, octets)) = typed(data) {
            self.hosted.received(now, port, (stream.map(StreamIndex), ether_type), (octets, addresses));
        }
    }

    /// A frame of theirs that was made here leaves so much later than it was to; `data` begins with the type.
    pub(crate) fn leaves_late(&mut self, port: PortIndex, data: &mut [u8], late: Duration) {
        if let Some((ether_type, octets)) = data.split_first_chunk_mut::<2>() {
            let ether_type = EtherType(u16::from_be_bytes(*ether_type));
            self.hosted.leaves_late(port, ether_type, octets, late);
        }
    }

    /// A frame of theirs begins to leave; `data` begins with the type.
    pub(crate) fn left(&mut self, now: Instant, stream: u32, port: PortIndex, data: &[u8]) {
        if let Some((ether_type, octets)) = typed(data) {
            self.hosted.left(now, (StreamIndex(stream), port), ether_type, octets);
        }
    }
}

/// Type and what follows it.
pub(crate) fn typed(data: &[u8]) -> Option<(EtherType, &[u8])> {
    let (ether_type, octets) = data.split_first_chunk::<2>()?;
    Some((EtherType(u16::from_be_bytes(*ether_type)), octets))
}

/// A frame's type and what follows it, padded to its payload.
pub(crate) fn with_type(frame: &Frame, payload: Bytes, to: &mut Vec<u8>) {
    to.extend_from_slice(&frame.ether_type.0.to_be_bytes());
    to.extend_from_slice(&frame.octets);
    to.resize(to.len().max(2 + payload.get() as usize), 0);
}
