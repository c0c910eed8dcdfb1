//! Messages of central configuration on the links.

use tautwire_core::central::{Message, Segment};
use tautwire_units::Bytes;

use super::{Role, Work, settings};
use crate::clock::SimTime;
use crate::engine::Engine;
use crate::recorder::Recorder;
use crate::reservation::{ControlNote, RungEvent};
use crate::result::DropReason;
use tautwire_model::network::NodeIndex;

/// Payload of a frame that only acknowledges.
const ACKNOWLEDGEMENT: Bytes = Bytes::new(46);

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// Gives a message to another node's channel, or to the node itself.
    pub(super) fn send_control(&mut self, from: usize, to: u32, message: Message, own: Role) {
        let now = self.now;
        let clock = self.nodes[from].clock;
        let central = self.central();
        let node = &mut central.nodes[from];
        if to as usize == from {
            node.inbox.push_back(Work::Heard(to, message, own));
        } else if let Some(channel) = node.channels.get_mut(&to) {
            channel.send(message);
        }
        central.schedule(from, clock, now);
    }

    /// Sends the frames of a node that are due.
    pub(super) fn send_control_frames(&mut self, number: usize) {
        let now = self.now;
        let local = self.nodes[number].clock.local(now);
        let central = self.central();
        let mut out = Vec::new();
        for (peer, channel) in &mut central.nodes[number].channels {
            if let Some(segment) = channel.poll(local) {
                out.push((*peer, segment));
            }
        }
        for (peer, segment) in out {
            let from = u32::try_from(number).expect("fewer than 2^32 nodes");
            let stream = self.central().streams[&(from, peer)].0;
            if let Some((_, message)) = &segment.message {
                let event = RungEvent::ControlSent(NodeIndex(peer), ControlNote::of(message));
                self.control_rung(message, now, from, event);
            }
            self.send_segment(stream, segment);
        }
    }

    fn send_segment(&mut self, stream: u32, segment: Segment<Message>) {
        let number = self.talkers[stream as usize].number;
        self.talkers[stream as usize].number += 1;
        let carries = segment.message.is_some();
        let payload = if carries { settings(self.network).message_size } else { ACKNOWLEDGEMENT };
        self.central().on_line.entry(stream).or_default().push_back((number, segment));
        let (place, aim) = self.insert(stream, number, payload, self.now);
        match aim {
            Some(aim) => self.take_aim(place, aim),
            None => self.drop_at_talker(place, DropReason::NoRoute),
        }
    }

    /// Whether a delivered frame was a message of central configuration; then its node has it to process.
    pub(crate) fn take_control(&mut self, stream: u32, number: u32, time: SimTime) -> bool {
        if !self.has_central() {
            return false;
        }
        let Some((from, to)) = self.central().ends.get(&stream).copied() else { return false };
        // A link keeps the order of frames: those before it were lost.
        let waiting = self.central().on_line.entry(stream).or_default();
        let mut found = None;
        while let Some((first, segment)) = waiting.pop_front() {
            if first == number {
                found = Some(segment);
                break;
            }
        }
        let segment = found.expect("a message on its way");
        let clock = self.nodes[to as usize].clock;
        let node = &mut self.central().nodes[to as usize];
        let Some(channel) = node.channels.get_mut(&from) else { return true };
        let heard = channel.receive(&segment);
        if heard.restarted {
            node.inbox.push_back(Work::Restarted(from));
        }
        if let Some(message) = heard.message {
            let role = node.role(&message);
            let event = RungEvent::ControlReceived(NodeIndex(from), ControlNote::of(&message));
            node.inbox.push_back(Work::Heard(from, message.clone(), role));
            self.control_rung(&message, time, to, event);
        }
        let now = self.now;
        self.central().schedule(to as usize, clock, now);
        self.arm_timeline();
        true
    }

    fn control_rung(&mut self, message: &Message, at: SimTime, node: u32, event: RungEvent) {
        if let Some(stream) = message.stream() {
            self.srp().rung(stream, at, node, event);
        }
    }
}
