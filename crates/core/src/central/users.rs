//! The central user configuration (CUC): requests and offers streams for end stations that have no reservation protocol.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;

use super::{Message, Pair};

/// The end stations of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UserStream {
    /// Node of its talker.
    pub talker: u32,
    /// Nodes of its listeners.
    pub listeners: Vec<u32>,
}

/// The central user configuration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UserConfiguration {
    streams: Vec<UserStream>,
    controller: u32,
    offered: BTreeSet<u32>,
    asked: BTreeSet<Pair>,
    served: BTreeSet<Pair>,
    /// Streams whose talkers were configured to send.
    sent: BTreeSet<u32>,
    out: VecDeque<(u32, Message)>,
}

impl UserConfiguration {
    /// One that knows these streams, and the node of the CNC.
    #[must_use]
    pub fn new(streams: Vec<UserStream>, controller: u32) -> Self {
        Self {
            streams,
            controller,
            offered: BTreeSet::new(),
            asked: BTreeSet::new(),
            served: BTreeSet::new(),
            sent: BTreeSet::new(),
            out: VecDeque::new(),
        }
    }

    /// A message comes.
    pub fn hear(&mut self, message: &Message) {
        let controller = self.controller;
        match message {
            Message::Offer(stream) if self.offered.insert(*stream) => {
                self.out.push_back((controller, message.clone()));
                self.notify_listeners(*stream, true);
            }
            Message::Withdraw(stream) if self.offered.remove(stream) => {
                self.out.push_back((controller, message.clone()));
                self.notify_listeners(*stream, false);
            }
            Message::Ask(pair) if self.asked.insert(*pair) => {
                self.out.push_back((controller, message.clone()));
            }
            Message::Detach(pair) if self.asked.remove(pair) => {
                self.out.push_back((controller, message.clone()));
            }
            Message::Verdict(pair, verdict) => {
                if verdict.is_ok() {
                    self.served.insert(*pair);
                } else {
                    self.served.remove(pair);
                }
                if let Some(listener) = self.listener(*pair) {
                    self.out.push_back((listener, message.clone()));
                }
                self.settle(pair.stream);
            }
            _ => {}
        }
    }

    /// A node has restarted: an end station requests nothing any more, a CNC needs all requests again.
    pub fn restarted(&mut self, node: u32) {
        if node == self.controller {
            let offers = self.offered.iter().map(|stream| Message::Offer(*stream));
            let asks = self.asked.iter().map(|pair| Message::Ask(*pair));
            let all: Vec<Message> = offers.chain(asks).collect();
            self.out.extend(all.into_iter().map(|message| (node, message)));
            return;
        }
        let streams: Vec<UserStream> = self.streams.clone();
        for (stream, users) in (0..).zip(&streams) {
            if users.talker == node {
                self.sent.remove(&stream);
                self.hear(&Message::Withdraw(stream));
            }
            for (listener, _) in (0..).zip(&users.listeners).filter(|(_, listener)| **listener == node) {
                let pair = Pair { stream, listener };
                self.hear(&Message::Detach(pair));
                if self.offered.contains(&stream) {
                    self.out.push_back((node, Message::Available(pair, true)));
                }
            }
        }
    }

    /// The next message and the node that it is for.
    pub fn poll(&mut self) -> Option<(u32, Message)> {
        self.out.pop_front()
    }

    fn listener(&self, pair: Pair) -> Option<u32> {
        self.streams.get(pair.stream as usize)?.listeners.get(pair.listener as usize).copied()
    }

    fn notify_listeners(&mut self, stream: u32, available: bool) {
        let listeners = self.streams.get(stream as usize).map_or(&[][..], |users| &users.listeners);
        let messages = (0..).zip(listeners);
        self.out.extend(
            messages
                .map(|(listener, node)| (*node, Message::Available(Pair { stream, listener }, available))),
        );
    }

    /// A talker sends while a listener is served.
    fn settle(&mut self, stream: u32) {
        let sends = self.served.iter().any(|pair| pair.stream == stream);
        let changed = if sends { self.sent.insert(stream) } else { self.sent.remove(&stream) };
        if let (true, Some(users)) = (changed, self.streams.get(stream as usize)) {
            self.out.push_back((users.talker, Message::Send(stream, sends)));
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn a_talker_sends_while_one_of_its_listeners_is_served() {
        let stream = UserStream { talker: 1, listeners: vec![2, 3] };
        let mut users = UserConfiguration::new(vec![stream], 9);
        let pair = |listener| Pair { stream: 0, listener };
        let messages = |users: &mut UserConfiguration| -> Vec<(u32, Message)> {
            core::iter::from_fn(|| users.poll()).collect()
        };
        users.hear(&Message::Offer(0));
        users.hear(&Message::Offer(0));
        let out = messages(&mut users);
        assert_eq!(out.len(), 3, "the controller and both listeners, once: {out:?}");
        users.hear(&Message::Ask(pair(0)));
        users.hear(&Message::Ask(pair(1)));
        users.hear(&Message::Verdict(pair(0), Ok(())));
        users.hear(&Message::Verdict(pair(1), Ok(())));
        let starts = |out: &[(u32, Message)]| {
            out.iter().filter(|(to, message)| *to == 1 && matches!(message, Message::Send(0, true))).count()
        };
        assert_eq!(starts(&messages(&mut users)), 1);
        let gone = Err(tautwire_wire::srp::FailureCode(0));
        users.hear(&Message::Verdict(pair(0), gone));
        assert!(!messages(&mut users).contains(&(1, Message::Send(0, false))));
        users.restarted(3);
        users.hear(&Message::Verdict(pair(1), gone));
        assert!(messages(&mut users).contains(&(1, Message::Send(0, false))));
    }
}
