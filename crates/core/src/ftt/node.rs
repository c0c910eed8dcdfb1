//! A node of HaRTES: asks for streams until it is answered, and is silent where it missed the trigger message.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use tautwire_units::{Duration, Instant};
use tautwire_wire::ftt::{FttMessage, FttStream, Polled};

/// How a request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestState {
    /// Asked, not answered.
    Asked,
    /// The stream may be used.
    Granted,
    /// It may not; this stream would be late, or it itself.
    Refused(u16),
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Request {
    stream: FttStream,
    state: RequestState,
    again: Option<Instant>,
}

/// A node: producer and consumer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FttNode {
    node: u16,
    /// The master of its switch.
    master: u16,
    /// How long it waits for an answer before it asks again.
    patience: Duration,
    requests: BTreeMap<u16, Request>,
    /// Streams that it gave back and was not told are out, and when it says so again.
    releasing: BTreeMap<u16, Instant>,
    /// The cycle whose trigger message it heard last.
    cycle: Option<u32>,
    out: VecDeque<(u16, FttMessage)>,
}

impl FttNode {
    /// A node at the switch of `master`.
    #[must_use]
    pub fn new(node: u16, master: u16, patience: Duration) -> Self {
        Self {
            node,
            master,
            patience,
            requests: BTreeMap::new(),
            releasing: BTreeMap::new(),
            cycle: None,
            out: VecDeque::new(),
        }
    }

    /// Asks for a stream, as its producer or as a consumer.
    pub fn request(&mut self, now: Instant, stream: FttStream) {
        let request = Request { stream, state: RequestState::Asked, again: Some(now + self.patience) };
        self.releasing.remove(&stream.id);
        self.requests.insert(stream.id, request);
        self.out.push_back((self.master, FttMessage::Add { stream, node: self.node }));
    }

    /// Holds a stream that was granted before: nothing is asked.
    pub fn hold(&mut self, stream: FttStream) {
        self.requests.insert(stream.id, Request { stream, state: RequestState::Granted, again: None });
    }

    /// Gives a stream back, and says so until it is told that it is out.
    pub fn release(&mut self, now: Instant, stream: u16) {
        if self.requests.remove(&stream).is_some() {
            self.releasing.insert(stream, now + self.patience);
            self.out.push_back((self.master, FttMessage::Remove { stream, node: self.node }));
        }
    }

    /// A message comes in; what its trigger message polls of its own streams is sent at once.
    pub fn receive(&mut self, message: &FttMessage) -> Vec<Polled> {
        match message {
            FttMessage::Ack { stream, granted, subject } => {
                if let Some(request) = self.requests.get_mut(stream) {
                    request.state =
                        if *granted { RequestState::Granted } else { RequestState::Refused(*subject) };
                    request.again = None;
                }
                Vec::new()
            }
            FttMessage::Reply { stream, installed: false, .. } => {
                self.releasing.remove(stream);
                Vec::new()
            }
            FttMessage::Trigger { cycle, polled, .. } => {
                self.cycle = Some(*cycle);
                let own = |polled: &&Polled| {
                    self.requests.get(&polled.stream).is_some_and(|request| {
                        request.stream.producer == self.node && request.state == RequestState::Granted
                    })
                };
                polled.iter().filter(own).copied().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Lets time pass: what was not answered is asked again.
    pub fn advance(&mut self, now: Instant) {
        for request in self.requests.values_mut() {
            if request.again.is_some_and(|at| at <= now) {
                request.again = Some(now + self.patience);
                self.out
                    .push_back((self.master, FttMessage::Add { stream: request.stream, node: self.node }));
            }
        }
        for (stream, again) in self.releasing.iter_mut().filter(|(_, again)| **again <= now) {
            *again = now + self.patience;
            self.out.push_back((self.master, FttMessage::Remove { stream: *stream, node: self.node }));
        }
    }

    /// When it asks again.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let releasing = self.releasing.values().copied();
        self.requests.values().filter_map(|request| request.again).chain(releasing).min()
    }

    /// What it sends next, and to whom.
    pub fn poll(&mut self) -> Option<(u16, FttMessage)> {
        self.out.pop_front()
    }

    /// Whether it gave a stream back and was not told that it is out.
    #[must_use]
    pub fn is_releasing(&self, stream: u16) -> bool {
        self.releasing.contains_key(&stream)
    }

    /// How a request stands.
    #[must_use]
    pub fn state(&self, stream: u16) -> Option<RequestState> {
        self.requests.get(&stream).map(|request| request.state)
    }

    /// Whether it heard the trigger message of a cycle: if not, it is silent in it.
    #[must_use]
    pub fn heard(&self, cycle: u32) -> bool {
        self.cycle == Some(cycle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const STREAM: FttStream = FttStream {
        id: 7,
        size: 88,
        period_ns: 125_000,
        deadline_ns: 2_000_000,
        priority: 3,
        producer: 1,
        offset_ns: None,
    };

    #[test]
    fn a_node_sends_what_is_polled_once_it_is_granted() {
        let mut node = FttNode::new(1, 11, Duration::from_ms(100));
        let now = Instant::ZERO;
        node.request(now, STREAM);
        let trigger =
            |cycle| FttMessage::Trigger { master: 11, cycle, polled: vec![Polled { stream: 7, frames: 1 }] };
        assert!(node.receive(&trigger(1)).is_empty(), "not granted");
        node.receive(&FttMessage::Ack { stream: 7, granted: true, subject: 7 });
        assert_eq!(node.receive(&trigger(2)), [Polled { stream: 7, frames: 1 }]);
        assert!(node.heard(2) && !node.heard(3), "silent in a cycle that it did not hear opened");
        assert_eq!(node.deadline(), None);
    }

    #[test]
    fn what_is_not_answered_is_asked_again() {
        let mut node = FttNode::new(1, 11, Duration::from_ms(100));
        node.request(Instant::ZERO, STREAM);
        assert!(node.poll().is_some() && node.poll().is_none());
        let later = node.deadline().expect("it waits for an answer");
        node.advance(later);
        assert_eq!(node.poll(), Some((11, FttMessage::Add { stream: STREAM, node: 1 })));
        node.receive(&FttMessage::Ack { stream: 7, granted: false, subject: 4 });
        assert_eq!(node.state(7), Some(RequestState::Refused(4)));
    }
}
