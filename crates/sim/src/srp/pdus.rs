//! MRPDUs of MSRP and MVRP on the links: frames of the sending port's own streams.

use tautwire_units::Bytes;
use tautwire_wire::EtherType;
use tautwire_wire::srp::{AttributeValue, MrpPdu, MsrpValue, MvrpValue};

use super::said::said;
use crate::clock::SimTime;
use crate::control::contents::Frame;
use crate::engine::Engine;
use crate::plan::{NONE, index};
use crate::recorder::Recorder;

/// Type of the frames of MSRP.
pub(crate) const MSRP: EtherType = MsrpValue::ETHER_TYPE;
/// Type of the frames of MVRP.
pub(crate) const MVRP: EtherType = MvrpValue::ETHER_TYPE;

/// An MRPDU.
pub(super) enum Pdu {
    /// Of MSRP.
    Streams(MrpPdu<MsrpValue>),
    /// Of MVRP.
    Vlans(MrpPdu<MvrpValue>),
}

impl Pdu {
    fn frame(&self) -> Frame {
        let mut octets = Vec::new();
        match self {
            Self::Streams(pdu) => pdu.emit(&mut octets),
            Self::Vlans(pdu) => pdu.emit(&mut octets),
        }
        let ether_type = match self {
            Self::Streams(_) => MSRP,
            Self::Vlans(_) => MVRP,
        };
        Frame::new(ether_type, octets)
    }

    /// The MRPDU of a frame; none if it cannot be read.
    fn of(frame: &Frame) -> Option<Self> {
        match frame.ether_type {
            MSRP => MrpPdu::parse(&frame.octets).ok().map(|(pdu, _)| Self::Streams(pdu)),
            MVRP => MrpPdu::parse(&frame.octets).ok().map(|(pdu, _)| Self::Vlans(pdu)),
            _ => None,
        }
    }

    /// Whether it declares talkers, and listeners.
    fn declares(&self) -> [bool; 2] {
        let Self::Streams(pdu) = self else { return [false; 2] };
        [true, false].map(|talker| {
            let said = pdu.declarations().filter_map(|declared| said(&declared));
            said.map(|(_, said)| said.declaration()).any(|said| said.is_talker() == talker)
        })
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// Hands an MRPDU to a port.
    pub(super) fn send_pdu(&mut self, port: u32, pdu: &Pdu) {
        let reservation = self.network.srp.as_ref().expect("stream reservation");
        let pdus = match (pdu, &reservation.vlan_registration) {
            (Pdu::Vlans(_), Some(vlans)) => &vlans.pdus,
            _ => &reservation.pdus,
        };
        let stream = pdus[port as usize].expect("a port with a cable has MRPDUs").0;
        let frame = pdu.frame();
        let payload = Bytes::new(frame.octets.len() as u64);
        self.send_frame(stream, frame, payload);
    }

    /// The transmission of a frame of MSRP begins: what it says is noted.
    pub(crate) fn tell_pdu(&mut self, stream: u32, frame: &Frame, start: SimTime) {
        let port = self.srp().senders[stream as usize];
        if let Some(Pdu::Streams(pdu)) = Pdu::of(frame) {
            let node = self.network.ports[port as usize].node.0;
            self.srp().say(&pdu, start, node, port, true);
        }
    }

    /// An MRPDU was delivered: its node has it to process.
    pub(crate) fn take_pdu(&mut self, stream: u32, frame: &Frame, time: SimTime) {
        let network = self.network;
        let reservation = network.srp.as_ref().expect("stream reservation");
        let sender = self.srp().senders[stream as usize];
        debug_assert_ne!(sender, NONE, "a port's own stream");
        let links = network.ports[sender as usize].links.expect("it has a cable");
        let to = network.links[links.egress.index()].to;
        let number_of_node = network.ports[to.index()].node.index();
        let Some(pdu) = Pdu::of(frame) else { return };
        let srp = self.srp();
        if let Pdu::Streams(pdu) = &pdu {
            srp.say(pdu, time, index(number_of_node), to.0, false);
        }
        let node = &mut srp.nodes[number_of_node];
        let settings = &reservation.nodes[number_of_node];
        let port = node.ports.iter().position(|port| *port == to.0).expect("a port with a cable");
        let octets = frame.octets.len() as u64 + 18;
        let mut taken = node.random.delay(&settings.processing, octets);
        let [talkers, listeners] = pdu.declares();
        if talkers {
            taken += node.random.delay(&settings.talker_processing, octets);
        }
        if listeners {
            taken += node.random.delay(&settings.listener_processing, octets);
        }
        node.busy_until = node.busy_until.max(time) + taken;
        node.inbox.push_back((node.busy_until, port, pdu));
        let clock = self.nodes[number_of_node].clock;
        let now = self.now;
        self.srp().schedule(network, number_of_node, clock, now);
        self.arm_timeline();
    }
}
