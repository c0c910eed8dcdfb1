//! MRPDUs on the links: a frame of the sending port's own stream, and beside it, by its number, what it says.

use std::rc::Rc;

use tautwire_units::Bytes;
use tautwire_wire::mrp::{AttributeValue, MrpPdu, MsrpValue};

use super::said::said;
use crate::clock::SimTime;
use crate::engine::Engine;
use crate::plan::{NONE, index};
use crate::recorder::Recorder;
use crate::result::DropReason;

impl<R: Recorder> Engine<'_, R> {
    /// Hands an MRPDU to a port.
    pub(super) fn send_pdu(&mut self, port: u32, pdu: MrpPdu<MsrpValue>) {
        let reservation = self.network.reservation.as_ref().expect("stream reservation");
        let stream = reservation.pdus[port as usize].expect("a port with a cable has MRPDUs").0;
        let mut octets = Vec::new();
        pdu.emit(&mut octets);
        let number = self.talkers[stream as usize].number;
        self.talkers[stream as usize].number += 1;
        self.recorder.contents(stream, number, MsrpValue::ETHER_TYPE, &octets);
        self.srp().on_line[stream as usize].push_back((number, Rc::new(pdu)));
        let (place, aim) = self.insert(stream, number, Bytes::new(octets.len() as u64), self.now);
        match aim {
            Some(aim) => self.take_aim(place, aim),
            None => self.drop_frame(place, DropReason::NoRoute),
        }
    }

    /// A transmission begins; MRPDUs are told.
    #[inline]
    pub(crate) fn tell_pdu(&mut self, stream: u32, number: u32, start: SimTime) {
        if self.has_srp() {
            let srp = self.srp();
            let port = srp.senders[stream as usize];
            let found = srp.on_line[stream as usize].iter().find(|(other, _)| *other == number);
            if let Some(pdu) = found.map(|(_, pdu)| Rc::clone(pdu)) {
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
        srp.say(&pdu, time, index(number_of_node), to.0, false);
        let node = &mut srp.nodes[number_of_node];
        let settings = &reservation.nodes[number_of_node];
        let port = node.ports.iter().position(|port| *port == to.0).expect("a port with a cable");
        let mut octets = Vec::new();
        pdu.emit(&mut octets);
        let octets = octets.len() as u64 + 18;
        let mut taken = node.random.delay(&settings.processing, octets);
        let types = |talker: bool| {
            let said = pdu.declarations().filter_map(|declared| said(&declared));
            said.map(|(_, said)| said.declaration()).filter(|said| said.is_talker() == talker).count() > 0
        };
        if types(true) {
            taken += node.random.delay(&settings.talker_processing, octets);
        }
        if types(false) {
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
