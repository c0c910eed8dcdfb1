//! MRPDUs of MSRP and MVRP on the links: frames of the sending port's own streams, and beside them, by their numbers, what they say.

use std::rc::Rc;

use tautwire_units::Bytes;
use tautwire_wire::EtherType;
use tautwire_wire::mrp::{AttributeValue, MrpPdu, MsrpValue, MvrpValue};

use super::said::said;
use crate::clock::SimTime;
use crate::engine::Engine;
use crate::plan::{NONE, index};
use crate::recorder::Recorder;
use crate::result::DropReason;

/// An MRPDU.
#[derive(Clone)]
pub(super) enum Pdu {
    /// Of MSRP.
    Streams(Rc<MrpPdu<MsrpValue>>),
    /// Of MVRP.
    Vlans(Rc<MrpPdu<MvrpValue>>),
}

impl Pdu {
    fn octets(&self) -> Vec<u8> {
        let mut octets = Vec::new();
        match self {
            Self::Streams(pdu) => pdu.emit(&mut octets),
            Self::Vlans(pdu) => pdu.emit(&mut octets),
        }
        octets
    }

    const fn ether_type(&self) -> EtherType {
        match self {
            Self::Streams(_) => MsrpValue::ETHER_TYPE,
            Self::Vlans(_) => MvrpValue::ETHER_TYPE,
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
    pub(super) fn send_pdu(&mut self, port: u32, pdu: Pdu) {
        let reservation = self.network.reservation.as_ref().expect("stream reservation");
        let pdus = match (&pdu, &reservation.vlan_registration) {
            (Pdu::Vlans(_), Some(vlans)) => &vlans.pdus,
            _ => &reservation.pdus,
        };
        let stream = pdus[port as usize].expect("a port with a cable has MRPDUs").0;
        let octets = pdu.octets();
        let number = self.talkers[stream as usize].number;
        self.talkers[stream as usize].number += 1;
        self.recorder.contents(stream, number, pdu.ether_type(), &octets);
        self.srp().on_line[stream as usize].push_back((number, pdu));
        let (place, aim) = self.insert(stream, number, Bytes::new(octets.len() as u64), self.now);
        match aim {
            Some(aim) => self.take_aim(place, aim),
            None => self.drop_at_talker(place, DropReason::NoRoute),
        }
    }

    /// A transmission begins; MRPDUs are told.
    #[inline]
    pub(crate) fn tell_pdu(&mut self, stream: u32, number: u32, start: SimTime) {
        if self.has_srp() {
            let srp = self.srp();
            let port = srp.senders[stream as usize];
            let found = srp.on_line[stream as usize].iter().find(|(other, _)| *other == number);
            if let Some((_, Pdu::Streams(pdu))) = found {
                let pdu = Rc::clone(pdu);
                let node = self.network.ports[port as usize].node.0;
                self.srp().say(&pdu, start, node, port, true);
            }
        }
    }

    /// Whether a delivered frame was an MRPDU; then its node has it to process.
    pub(crate) fn take_pdu(&mut self, stream: u32, number: u32, time: SimTime) -> bool {
        if !self.has_srp() || self.srp().senders[stream as usize] == NONE {
            return false;
        }
        let network = self.network;
        let reservation = network.reservation.as_ref().expect("stream reservation");
        let sender = self.srp().senders[stream as usize];
        let links = network.ports[sender as usize].links.expect("it has a cable");
        let to = network.links[links.egress.index()].to;
        let number_of_node = network.ports[to.index()].node.index();
        // A link keeps the order of frames: those before it were lost.
        let mut pdu = None;
        while let Some((first, sent)) = self.srp().on_line[stream as usize].pop_front() {
            if first == number {
                pdu = Some(sent);
                break;
            }
        }
        let pdu = pdu.expect("an MRPDU on its way");
        let srp = self.srp();
        if let Pdu::Streams(pdu) = &pdu {
            srp.say(pdu, time, index(number_of_node), to.0, false);
        }
        let node = &mut srp.nodes[number_of_node];
        let settings = &reservation.nodes[number_of_node];
        let port = node.ports.iter().position(|port| *port == to.0).expect("a port with a cable");
        let octets = pdu.octets().len() as u64 + 18;
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
        true
    }
}
