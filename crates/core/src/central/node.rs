//! A node of central configuration at the level of frames: its channels, its queue for the processor, its CUC and CNC
//! if it has them, and its part in MSRP and MVRP; octets in and octets out.
//!
//! A frame is acknowledged when it is received; its content waits until the driver takes it
//! ([`CentralNode::take_work`]) and processes it. A test of the CNC goes before all other waiting work, after other
//! tests. Not here: how long work takes, tests, what a configuration means for the data plane.
//!
//! Invariant: octets that cannot be parsed, that name a node to which the node has no channel, whose address does not
//! fit the frame's, or that number an unknown stream or listener, change nothing but a counter
//! ([`CentralNode::refused`]).

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use tautwire_units::Instant;
use tautwire_wire::MacAddress;
use tautwire_wire::central::{ControlFrame, Message, Pair};
use tautwire_wire::srp::FailureCode;

use super::{Channel, ChannelTiming, Controller, ControllerAction, Segment, UserConfiguration};
use crate::control::{Event, Machine, Output};
use crate::srp::SrpNode;

/// The role in which a node receives a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// As CUC.
    Users,
    /// As CNC.
    Network,
    /// As end station or bridge.
    Node,
}

/// Work that waits for a node's processor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// A message of a node.
    Heard(u32, Message, Role),
    /// The other end of a channel has restarted.
    Restarted(u32),
    /// The CNC tests a reservation.
    Test(Pair),
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CentralNode {
    number: u32,
    srp: SrpNode,
    /// By the number of the node at the other end, with its address.
    channels: BTreeMap<u32, (MacAddress, Channel<Message>)>,
    /// Listeners of each stream that a message may name.
    listeners: Vec<u32>,
    /// Frames that came in and were of no account.
    refused: u64,
    controller: Option<Controller>,
    users: Option<UserConfiguration>,
    work: VecDeque<Work>,
    /// Messages received since the last call.
    heard: VecDeque<(u32, Message)>,
    out: VecDeque<Output>,
}

impl CentralNode {
    /// A node with this number, and its parts of MSRP and MVRP. `listeners` is the number of listeners of each stream,
    /// which limits what a message may name.
    #[must_use]
    pub const fn new(number: u32, srp: SrpNode, listeners: Vec<u32>) -> Self {
        Self {
            number,
            srp,
            channels: BTreeMap::new(),
            listeners,
            refused: 0,
            controller: None,
            users: None,
            work: VecDeque::new(),
            heard: VecDeque::new(),
            out: VecDeque::new(),
        }
    }

    /// It begins its session of this number at `now`, with channels to these nodes, whose frames have these addresses.
    pub fn connect(
        &mut self,
        peers: impl Iterator<Item = (u32, MacAddress)>,
        timing: ChannelTiming,
        session: u16,
        now: Instant,
    ) {
        let channel = |(peer, address)| (peer, (address, Channel::new(timing, session, now)));
        self.channels = peers.map(channel).collect();
    }

    /// It is the CNC.
    pub fn control(&mut self, controller: Controller) {
        self.controller = Some(controller);
    }

    /// It is the CUC.
    pub fn configure_users(&mut self, users: UserConfiguration) {
        self.users = Some(users);
    }

    /// Its part in MSRP and MVRP.
    pub const fn srp_mut(&mut self) -> &mut SrpNode {
        &mut self.srp
    }

    /// Passes a message to another node's channel, or, if it is for this node, processes it in the role `own`.
    pub fn send(&mut self, to: u32, message: Message, own: Role) {
        if to == self.number {
            self.work.push_back(Work::Heard(to, message, own));
        } else if let Some((_, channel)) = self.channels.get_mut(&to) {
            channel.send(message);
        }
    }

    /// The next message received, and its sender, to be reported.
    pub fn poll_heard(&mut self) -> Option<(u32, Message)> {
        self.heard.pop_front()
    }

    /// Frames of central configuration that came in and were of no account.
    #[must_use]
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// Whether something waits for the processor.
    #[must_use]
    pub fn has_work(&self) -> bool {
        !self.work.is_empty()
    }

    /// The next that waits for the processor.
    pub fn take_work(&mut self) -> Option<Work> {
        self.work.pop_front()
    }

    /// CUC or CNC receives a message.
    pub fn hear(&mut self, from: u32, message: &Message, role: Role) {
        match (role, &mut self.controller, &mut self.users) {
            (Role::Network, Some(controller), _) => controller.hear(from, message),
            (Role::Users, _, Some(users)) => users.hear(message),
            _ => {}
        }
    }

    /// CUC and CNC are notified that a node has restarted.
    pub fn restarted(&mut self, peer: u32) {
        if let Some(controller) = &mut self.controller {
            controller.restarted(peer);
        }
        if let Some(users) = &mut self.users {
            users.restarted(peer);
        }
    }

    /// A test of the CNC has come out.
    pub fn tested(&mut self, pair: Pair, verdict: Result<(), FailureCode>) {
        if let Some(controller) = &mut self.controller {
            controller.tested(pair, verdict);
        }
    }

    /// Sends what CUC and CNC want sent, and puts tests before what waits; gives the listeners whose reservations are free.
    pub fn settle(&mut self) -> Vec<Pair> {
        let mut free = Vec::new();
        loop {
            if let Some((to, message)) = self.users.as_mut().and_then(UserConfiguration::poll) {
                let is_user =
                    matches!(message, Message::Available(..) | Message::Send(..) | Message::Verdict(..));
                self.send(to, message, if is_user { Role::Node } else { Role::Network });
                continue;
            }
            match self.controller.as_mut().and_then(Controller::poll) {
                Some(ControllerAction::Send(to, message)) => self.send(to, message, Role::Users),
                Some(ControllerAction::Test(pair)) => {
                    let place = self.work.iter().take_while(|work| matches!(work, Work::Test(_))).count();
                    self.work.insert(place, Work::Test(pair));
                }
                Some(ControllerAction::Free(pair)) => free.push(pair),
                None => return free,
            }
        }
    }

    /// The role that receives a message from another node.
    fn role(&self, message: &Message) -> Role {
        let speaks_for_users = self.users.is_some();
        match message {
            Message::Offer(_) | Message::Withdraw(_) | Message::Ask(_) | Message::Detach(_) => {
                if speaks_for_users {
                    Role::Users
                } else {
                    Role::Network
                }
            }
            Message::Configured { .. } | Message::Cable(..) => Role::Network,
            Message::Verdict(..) if speaks_for_users => Role::Users,
            _ => Role::Node,
        }
    }

    /// Whether there is what a message numbers.
    fn is_known(&self, message: &Message) -> bool {
        let listeners = message.stream().map(|stream| self.listeners.get(stream as usize));
        match (listeners, message.pair()) {
            (None, _) => true,
            (Some(listeners), None) => listeners.is_some(),
            (Some(listeners), Some(pair)) => listeners.is_some_and(|listeners| pair.listener < *listeners),
        }
    }

    fn receive(&mut self, source: MacAddress, octets: &[u8]) {
        let frame = ControlFrame::parse(octets).ok().map(|(frame, _)| frame);
        let known =
            frame.filter(|frame| frame.message.as_ref().is_none_or(|(_, payload)| self.is_known(payload)));
        let is_from = |from: &u32| self.channels.get(from).is_some_and(|(address, _)| *address == source);
        match known.filter(|frame| frame.to == self.number && is_from(&frame.from)) {
            Some(frame) => self.take(frame),
            None => self.refused += 1,
        }
    }

    fn take(&mut self, frame: ControlFrame) {
        let ControlFrame { from, session, peer_session, acknowledges, message, .. } = frame;
        let Some((_, channel)) = self.channels.get_mut(&from) else { return };
        let heard = channel.receive(&Segment { session, peer_session, message, acknowledges });
        if heard.restarted {
            self.work.push_back(Work::Restarted(from));
        }
        if let Some(message) = heard.message {
            let role = self.role(&message);
            self.work.push_back(Work::Heard(from, message.clone(), role));
            self.heard.push_back((from, message));
        }
    }

    fn send_frames(&mut self, now: Instant) {
        for (peer, (_, channel)) in &mut self.channels {
            let Some(Segment { session, peer_session, message, acknowledges }) = channel.poll(now) else {
                continue;
            };
            let frame =
                ControlFrame { from: self.number, to: *peer, session, peer_session, acknowledges, message };
            let mut octets = Vec::new();
            frame.emit(&mut octets);
            self.out.push_back(Output {
                port: 0,
                ether_type: ControlFrame::ETHER_TYPE,
                octets,
                addresses: None,
            });
        }
    }
}

impl Machine for CentralNode {
    fn handle(&mut self, now: Instant, event: Event<'_>) {
        match event {
            Event::Received { ether_type: ControlFrame::ETHER_TYPE, source, octets, .. } => {
                self.receive(source, octets);
            }
            Event::Due => {
                self.send_frames(now);
                if self.srp.deadline().is_some_and(|due| due <= now) {
                    self.srp.handle(now, event);
                }
            }
            Event::Received { .. } | Event::Sent { .. } | Event::Link { .. } => self.srp.handle(now, event),
        }
    }

    fn poll(&mut self) -> Option<Output> {
        self.out.pop_front().or_else(|| self.srp.poll())
    }

    fn deadline(&self) -> Option<Instant> {
        let frames = self.channels.values().filter_map(|(_, channel)| channel.deadline()).min();
        frames.into_iter().chain(self.srp.deadline()).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::srp::{SrpPart, VlanNode};
    use tautwire_units::Duration;
    use tautwire_wire::MacAddress;

    fn address(number: u32) -> MacAddress {
        let [.., low] = number.to_be_bytes();
        MacAddress([2, 0, 0, 0, 0, low])
    }

    /// A node that knows of eight streams of two listeners each.
    fn node(number: u32, peer: u32) -> CentralNode {
        let srp = SrpNode::new(SrpPart::None, VlanNode::none(), 1, None);
        let mut node = CentralNode::new(number, srp, alloc::vec![2; 8]);
        let timing = ChannelTiming { pace: Duration::from_ms(1), retry: Duration::from_ms(10) };
        node.connect([(peer, address(peer))].into_iter(), timing, 0, Instant::ZERO);
        node
    }

    /// Delivers a frame of a node to another.
    fn bring(from: u32, to: &mut CentralNode, output: &Output) {
        let Output { ether_type, octets, .. } = output;
        let (source, destination) = (address(from), MacAddress::default());
        let (ether_type, stamp) = (*ether_type, Instant::ZERO);
        to.handle(Instant::ZERO, Event::Received { port: 0, source, destination, ether_type, octets, stamp });
    }

    fn sent(by: &mut CentralNode) -> Vec<Output> {
        by.handle(Instant::ZERO, Event::Due);
        core::iter::from_fn(|| by.poll()).collect()
    }

    #[test]
    fn octets_carry_messages_and_acknowledgements() {
        let (mut one, mut other) = (node(1, 2), node(2, 1));
        one.send(2, Message::Offer(7), Role::Network);
        let outputs = sent(&mut one);
        assert_eq!(outputs.len(), 1);
        bring(1, &mut other, &outputs[0]);
        assert_eq!(other.poll_heard(), Some((1, Message::Offer(7))));
        assert_eq!(other.take_work(), Some(Work::Heard(1, Message::Offer(7), Role::Network)));
        let answer = sent(&mut other);
        bring(2, &mut one, &answer[0]);
        assert_eq!(one.deadline(), None, "acknowledged");
        // Of others, and for others.
        assert_eq!(other.refused(), 0);
        let before = other.clone();
        bring(2, &mut other, &answer[0]);
        let mut stranger = node(3, 2);
        stranger.send(2, Message::Offer(7), Role::Network);
        bring(3, &mut other, &sent(&mut stranger)[0]);
        assert_eq!(other, CentralNode { refused: 2, ..before });
    }

    #[test]
    fn what_there_is_not_and_a_borrowed_name_are_of_no_account() {
        let pair = |stream, listener| Pair { stream, listener };
        let crafted = [
            Message::Offer(8),
            Message::Send(u32::MAX, true),
            Message::Listeners(8, None),
            Message::Available(pair(8, 0), true),
            Message::Ask(pair(0, 2)),
            Message::Verdict(pair(7, u32::MAX), Ok(())),
            Message::Configure { pair: pair(9, 0), reserve: true, shares: Vec::new() },
        ];
        for message in crafted {
            let (mut one, mut other) = (node(1, 2), node(2, 1));
            let before = other.clone();
            one.send(2, message, Role::Network);
            bring(1, &mut other, &sent(&mut one)[0]);
            assert_eq!(other, CentralNode { refused: 1, ..before });
        }
        let (mut one, mut other) = (node(1, 2), node(2, 1));
        let before = other.clone();
        one.send(2, Message::Offer(7), Role::Network);
        let outputs = sent(&mut one);
        bring(3, &mut other, &outputs[0]);
        let octets = alloc::vec![0xff; 46];
        bring(1, &mut other, &Output { octets, ..outputs[0].clone() });
        assert_eq!(
            other,
            CentralNode { refused: 2, ..before },
            "node 3 says that it is node 1; nothing to read"
        );
        bring(1, &mut other, &outputs[0]);
        assert_eq!(other.poll_heard(), Some((1, Message::Offer(7))));
    }

    #[test]
    fn tests_go_before_what_waits_behind_other_tests() {
        let mut cnc = node(1, 2);
        let paths = alloc::vec![super::super::StreamPaths { listeners: alloc::vec![Default::default(); 2] }];
        cnc.control(Controller::new(paths, super::super::UserSide::Configuration(1)));
        let pairs = [0, 1].map(|listener| Pair { stream: 0, listener });
        cnc.send(1, Message::Cable(0, true), Role::Network);
        cnc.hear(1, &Message::Offer(0), Role::Network);
        pairs.iter().for_each(|pair| cnc.hear(1, &Message::Ask(*pair), Role::Network));
        assert!(cnc.settle().is_empty());
        let all: Vec<Work> = core::iter::from_fn(|| cnc.take_work()).collect();
        assert_eq!(all[..2], pairs.map(Work::Test));
        assert_eq!(all.len(), 3);
    }
}
