//! A node of central configuration as frames see it: its channels, what waits for its processor, CUC and CNC where they are, and its
//! part in MSRP and MVRP; octets in and octets out.
//!
//! A frame is acknowledged when it comes in; what it says waits till who drives the node takes it ([`CentralNode::take_work`]) and has
//! it done. A test of the CNC goes before all that waits, behind other tests. Octets that cannot be read, or that come from nobody with whom
//! the node has a channel, change nothing. Not here: how long work takes, tests, what a configuration means for the data plane.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use tautwire_units::Instant;
use tautwire_wire::central::{ControlFrame, Message, Pair};
use tautwire_wire::srp::FailureCode;

use super::{Channel, ChannelTiming, Controller, ControllerAction, Segment, UserConfiguration};
use crate::control::{Event, Machine, Output};
use crate::srp::SrpNode;

/// As what a node hears a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// As CUC.
    Users,
    /// As CNC.
    Network,
    /// As end station or bridge.
    Node,
}

/// What waits for a node's processor.
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
    channels: BTreeMap<u32, Channel<Message>>,
    controller: Option<Controller>,
    users: Option<UserConfiguration>,
    work: VecDeque<Work>,
    /// Messages that came in since that was asked.
    heard: VecDeque<(u32, Message)>,
    out: VecDeque<Output>,
}

impl CentralNode {
    /// A node of this number, and what it has of MSRP and MVRP.
    #[must_use]
    pub const fn new(number: u32, srp: SrpNode) -> Self {
        Self {
            number,
            srp,
            channels: BTreeMap::new(),
            controller: None,
            users: None,
            work: VecDeque::new(),
            heard: VecDeque::new(),
            out: VecDeque::new(),
        }
    }

    /// It begins its session of this number at `now`, with channels to these nodes.
    pub fn connect(
        &mut self,
        peers: impl Iterator<Item = u32>,
        timing: ChannelTiming,
        session: u16,
        now: Instant,
    ) {
        self.channels = peers.map(|peer| (peer, Channel::new(timing, session, now))).collect();
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

    /// Gives a message to another node's channel, or to the node itself as what it is heard there.
    pub fn send(&mut self, to: u32, message: Message, own: Role) {
        if to == self.number {
            self.work.push_back(Work::Heard(to, message, own));
        } else if let Some(channel) = self.channels.get_mut(&to) {
            channel.send(message);
        }
    }

    /// The next message that came in, and from where, to be told of.
    pub fn poll_heard(&mut self) -> Option<(u32, Message)> {
        self.heard.pop_front()
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

    /// CUC or CNC hear a message.
    pub fn hear(&mut self, from: u32, message: &Message, role: Role) {
        match (role, &mut self.controller, &mut self.users) {
            (Role::Network, Some(controller), _) => controller.hear(from, message),
            (Role::Users, _, Some(users)) => users.hear(message),
            _ => {}
        }
    }

    /// CUC and CNC hear that a node has restarted.
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

    /// What a message that comes from another node is heard as.
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

    fn receive(&mut self, frame: ControlFrame) {
        let ControlFrame { from, to, session, peer_session, acknowledges, message } = frame;
        let Some(channel) = self.channels.get_mut(&from).filter(|_| to == self.number) else { return };
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
        for (peer, channel) in &mut self.channels {
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
            Event::Received { ether_type: ControlFrame::ETHER_TYPE, octets, .. } => {
                if let Ok((frame, _)) = ControlFrame::parse(octets) {
                    self.receive(frame);
                }
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
        let frames = self.channels.values().filter_map(Channel::deadline).min();
        frames.into_iter().chain(self.srp.deadline()).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::srp::{SrpPart, VlanNode};
    use tautwire_units::Duration;
    use tautwire_wire::MacAddress;

    fn node(number: u32, peer: u32) -> CentralNode {
        let srp = SrpNode::new(SrpPart::None, VlanNode::none(), 1, None);
        let mut node = CentralNode::new(number, srp);
        let timing = ChannelTiming { pace: Duration::from_ms(1), retry: Duration::from_ms(10) };
        node.connect([peer].into_iter(), timing, 0, Instant::ZERO);
        node
    }

    fn bring(to: &mut CentralNode, output: &Output) {
        let Output { ether_type, octets, .. } = output;
        let (source, destination) = (MacAddress::default(), MacAddress::default());
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
        let said = sent(&mut one);
        assert_eq!(said.len(), 1);
        bring(&mut other, &said[0]);
        assert_eq!(other.poll_heard(), Some((1, Message::Offer(7))));
        assert_eq!(other.take_work(), Some(Work::Heard(1, Message::Offer(7), Role::Network)));
        let answer = sent(&mut other);
        bring(&mut one, &answer[0]);
        assert_eq!(one.deadline(), None, "acknowledged");
        // Of others, and for others.
        let before = other.clone();
        bring(&mut other, &answer[0]);
        let mut stranger = node(3, 2);
        stranger.send(2, Message::Offer(7), Role::Network);
        bring(&mut other, &sent(&mut stranger)[0]);
        assert_eq!(other, before);
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
