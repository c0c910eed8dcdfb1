//! A node of HaRTES: repeats its requests until they are answered, and is silent in a cycle whose trigger message it missed.
//!
//! A frame that a trigger message polls is sent once, over however many cables the trigger comes. A consumer's request
//! is for its own part; a producer's is an offer. The offer stays valid until the producer releases it: when it is
//! notified that no consumer may have the stream, or that the last one left, the producer sends nothing, and repeats
//! its request when the ACMaster invites it. A consumer that is notified of a failed link on the path repeats its
//! request, under a new number, until the link is back, or it releases its part; so a mistaken notification is soon
//! corrected. Every request has a number, and an answer refers to that one number: a late answer changes nothing.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use tautwire_units::{Duration, Instant};
use tautwire_wire::harts::{FttMessage, FttStream, Polled};

/// The state of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestState {
    /// Sent, not answered.
    Asked,
    /// The stream may be used.
    Granted,
    /// Refused: the stream with this number, another one or the requested one, would be late. A producer: refused for all consumers.
    Refused(u16),
    /// Of a producer: it was granted, and the last consumer left. Nothing is sent until another one is granted.
    Offered,
    /// This link on the path is or was down: a switch, and its neighbour. A consumer requests again, and a producer
    /// when it is invited.
    Cut([u16; 2]),
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Request {
    stream: FttStream,
    state: RequestState,
    number: u16,
    again: Option<Instant>,
}

/// A node: producer and consumer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FttNode {
    node: u16,
    /// The master of its switch.
    master: u16,
    /// How long it waits for an answer before it repeats a request.
    patience: Duration,
    requests: BTreeMap<u16, Request>,
    /// Requests so far.
    number: u16,
    /// Streams that it released and whose removal is not confirmed: when it repeats the release, and the number of the request.
    releasing: BTreeMap<u16, (Instant, u16)>,
    /// Per master: the cycle of the last trigger message received.
    cycles: BTreeMap<u16, u32>,
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
            number: 0,
            releasing: BTreeMap::new(),
            cycles: BTreeMap::new(),
            out: VecDeque::new(),
        }
    }

    /// Requests a stream, as its producer or as a consumer. An earlier release is completed first.
    pub fn request(&mut self, now: Instant, stream: FttStream) {
        let waits = self.releasing.contains_key(&stream.id);
        // One that waits has a number that is not answered.
        self.number = self.number.wrapping_add(u16::from(waits));
        let (state, number) = (RequestState::Asked, self.number);
        self.requests.insert(stream.id, Request { stream, state, number, again: None });
        if !waits {
            self.ask_anew(now, stream.id);
        }
    }

    /// Holds a stream that was granted before: no request is sent.
    pub fn hold(&mut self, stream: FttStream) {
        let (state, number) = (RequestState::Granted, self.number);
        self.requests.insert(stream.id, Request { stream, state, number, again: None });
    }

    /// Releases a stream, and repeats the release until its removal is confirmed.
    pub fn release(&mut self, now: Instant, stream: u16) {
        let Some(Request { number, .. }) = self.requests.remove(&stream) else { return };
        if !self.releasing.contains_key(&stream) {
            self.releasing.insert(stream, (now + self.patience, number));
            self.out.push_back((self.master, FttMessage::Remove { stream, node: self.node, number }));
        }
    }

    /// A message comes in; what its trigger message polls of its own streams is sent at once.
    pub fn receive(&mut self, now: Instant, message: &FttMessage) -> Vec<Polled> {
        match message {
            FttMessage::Ack { stream, granted: false, number, cut: Some(link), .. }
                if self.requests.get(stream).is_some_and(|request| request.number == *number) =>
            {
                self.cut_off(now, *stream, *link, false);
            }
            FttMessage::Ack { stream, granted, subject, number, .. } => {
                self.answered(now, *stream, *number, granted.then_some(()).ok_or(*subject));
            }
            FttMessage::Reply { stream, installed: false, .. } if self.releasing.remove(stream).is_some() => {
                self.ask_anew(now, *stream);
            }
            FttMessage::Invite { stream } => {
                let invited =
                    self.requests.get_mut(stream).filter(|known| known.stream.producer == self.node);
                let Some(request) = invited else { return Vec::new() };
                // A node with a grant sends on: the ACMaster may have forgotten.
                if matches!(
                    request.state,
                    RequestState::Refused(_) | RequestState::Offered | RequestState::Cut(_)
                ) {
                    request.state = RequestState::Asked;
                }
                self.ask_anew(now, *stream);
            }
            FttMessage::Pause { stream, number, cut } => {
                let request = self.requests.get_mut(stream);
                let meant = request.filter(|known| number.is_none_or(|number| known.number == number));
                match (meant, cut) {
                    (Some(request), None) => {
                        request.state = RequestState::Offered;
                        request.again = None;
                    }
                    // A producer with an open request was not granted it by an unknown notification.
                    (Some(request), Some(link))
                        if number.is_some()
                            || request.stream.producer != self.node
                            || request.state == RequestState::Granted =>
                    {
                        self.cut_off(now, *stream, *link, true);
                    }
                    _ => {}
                }
                let paused = FttMessage::Paused { stream: *stream, node: self.node, number: *number };
                self.out.push_back((self.master, paused));
            }
            FttMessage::Trigger { master, cycle, polled } => {
                // It comes several times over several cables to a switch.
                if self.cycles.insert(*master, *cycle) == Some(*cycle) {
                    return Vec::new();
                }
                let own = |polled: &&Polled| {
                    self.requests.get(&polled.stream).is_some_and(|request| {
                        request.stream.producer == self.node && request.state == RequestState::Granted
                    })
                };
                return polled.iter().filter(own).copied().collect();
            }
            _ => {}
        }
        Vec::new()
    }

    /// A link on the path is down. A consumer repeats its request, under a new number if it may have been granted under this one.
    fn cut_off(&mut self, now: Instant, stream: u16, link: [u16; 2], ends: bool) {
        let Some(request) = self.requests.get_mut(&stream) else { return };
        let asks = request.stream.producer != self.node;
        if asks && (ends || !matches!(request.state, RequestState::Cut(_))) {
            // What comes late of the request that ended is none to this one.
            self.number = self.number.wrapping_add(1);
            request.number = self.number;
        }
        request.state = RequestState::Cut(link);
        request.again = asks.then(|| now + self.patience);
    }

    /// An answer; one to an earlier request is none.
    fn answered(&mut self, now: Instant, stream: u16, number: u16, result: Result<(), u16>) {
        let Some(request) = self.requests.get_mut(&stream) else {
            // It wants no such stream: an Add that came late was taken for a request.
            if result.is_ok() && !self.releasing.contains_key(&stream) {
                self.releasing.insert(stream, (now + self.patience, number));
                self.out.push_back((self.master, FttMessage::Remove { stream, node: self.node, number }));
            }
            return;
        };
        if request.number != number {
            return;
        }
        let is_producer = request.stream.producer == self.node;
        if request.state == RequestState::Offered
            || (is_producer && matches!(request.state, RequestState::Cut(_)))
        {
            // It is from before the last consumer left; or its sender does not know that it left.
            if result.is_ok() {
                request.state = RequestState::Asked;
                self.ask_anew(now, stream);
            }
            return;
        }
        request.state = result.map_or_else(RequestState::Refused, |()| RequestState::Granted);
        request.again = None;
    }

    /// Requests under a new number, if it wants the stream.
    fn ask_anew(&mut self, now: Instant, stream: u16) {
        let Some(request) = self.requests.get_mut(&stream) else { return };
        self.number = self.number.wrapping_add(1);
        (request.number, request.again) = (self.number, Some(now + self.patience));
        let (stream, number) = (request.stream, request.number);
        self.out.push_back((self.master, FttMessage::Add { stream, node: self.node, number }));
    }

    /// Lets time pass: unanswered requests are repeated.
    pub fn advance(&mut self, now: Instant) {
        for request in self.requests.values_mut() {
            if request.again.is_some_and(|at| at <= now) {
                request.again = Some(now + self.patience);
                let (stream, number) = (request.stream, request.number);
                self.out.push_back((self.master, FttMessage::Add { stream, node: self.node, number }));
            }
        }
        for (stream, (again, number)) in self.releasing.iter_mut().filter(|(_, (again, _))| *again <= now) {
            *again = now + self.patience;
            let (stream, number) = (*stream, *number);
            self.out.push_back((self.master, FttMessage::Remove { stream, node: self.node, number }));
        }
    }

    /// When it repeats a request.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let releasing = self.releasing.values().map(|(again, _)| *again);
        self.requests.values().filter_map(|request| request.again).chain(releasing).min()
    }

    /// The next message to send, and its recipient.
    pub fn poll(&mut self) -> Option<(u16, FttMessage)> {
        self.out.pop_front()
    }

    /// Whether it released a stream and has no confirmation of its removal.
    #[must_use]
    pub fn is_releasing(&self, stream: u16) -> bool {
        self.releasing.contains_key(&stream)
    }

    /// The state of a request.
    #[must_use]
    pub fn state(&self, stream: u16) -> Option<RequestState> {
        self.requests.get(&stream).map(|request| request.state)
    }

    /// Whether it received the trigger message of a cycle of its switch: if not, it is silent in it.
    #[must_use]
    pub fn heard(&self, cycle: u32) -> bool {
        self.cycles.get(&self.master) == Some(&cycle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use tautwire_wire::harts::FttTerms;

    const STREAM: FttStream = FttStream {
        id: 7,
        size: 88,
        period_ns: 125_000,
        deadline_ns: 2_000_000,
        priority: 3,
        producer: 1,
        offset_ns: None,
        terms: FttTerms::NONE,
    };

    #[test]
    fn a_node_sends_what_is_polled_once_it_is_granted() {
        let mut node = FttNode::new(1, 11, Duration::from_ms(100));
        let now = Instant::ZERO;
        node.request(now, STREAM);
        let trigger =
            |cycle| FttMessage::Trigger { master: 11, cycle, polled: vec![Polled { stream: 7, frames: 1 }] };
        assert!(node.receive(now, &trigger(1)).is_empty(), "not granted");
        node.receive(now, &FttMessage::Ack { stream: 7, granted: true, subject: 7, number: 1, cut: None });
        assert_eq!(node.receive(now, &trigger(2)), [Polled { stream: 7, frames: 1 }]);
        assert!(node.heard(2) && !node.heard(3), "silent in a cycle that it did not hear opened");
        assert!(node.receive(now, &trigger(2)).is_empty(), "over a second cable");
        assert_eq!(node.receive(now, &trigger(3)), [Polled { stream: 7, frames: 1 }]);
        assert_eq!(node.deadline(), None);
    }

    #[test]
    fn what_is_not_answered_is_asked_again() {
        let mut node = FttNode::new(1, 11, Duration::from_ms(100));
        node.request(Instant::ZERO, STREAM);
        assert!(node.poll().is_some() && node.poll().is_none());
        let later = node.deadline().expect("it waits for an answer");
        node.advance(later);
        assert_eq!(node.poll(), Some((11, FttMessage::Add { stream: STREAM, node: 1, number: 1 })));
        node.receive(later, &FttMessage::Ack { stream: 7, granted: false, subject: 4, number: 1, cut: None });
        assert_eq!(node.state(7), Some(RequestState::Refused(4)));
    }

    /// A producer's offer stays valid: refused or without a consumer, it repeats its request when it is invited.
    #[test]
    fn a_producer_is_asked_for_its_offer() {
        let mut node = FttNode::new(1, 11, Duration::from_ms(100));
        let now = Instant::ZERO;
        let ack = |granted, number| FttMessage::Ack { stream: 7, granted, subject: 4, number, cut: None };
        let add = |number| Some((11, FttMessage::Add { stream: STREAM, node: 1, number }));
        node.request(now, STREAM);
        assert_eq!(node.poll(), add(1));
        node.receive(now, &ack(false, 1));
        node.receive(now, &FttMessage::Invite { stream: 7 });
        assert_eq!((node.poll(), node.state(7)), (add(2), Some(RequestState::Asked)));
        node.receive(now, &ack(true, 1));
        assert_eq!(node.state(7), Some(RequestState::Asked), "an answer to the request before");
        node.receive(now, &ack(true, 2));
        node.receive(now, &ack(false, 1));
        assert_eq!(node.state(7), Some(RequestState::Granted));
        node.receive(now, &FttMessage::Pause { stream: 7, number: Some(1), cut: None });
        assert_eq!(node.state(7), Some(RequestState::Granted), "of a grant before");
        assert_eq!(node.poll(), Some((11, FttMessage::Paused { stream: 7, node: 1, number: Some(1) })));
        node.receive(now, &FttMessage::Pause { stream: 7, number: Some(2), cut: None });
        assert_eq!(node.state(7), Some(RequestState::Offered));
        assert_eq!(node.poll(), Some((11, FttMessage::Paused { stream: 7, node: 1, number: Some(2) })));
        node.receive(now, &ack(true, 2));
        assert_eq!((node.poll(), node.state(7)), (add(3), Some(RequestState::Asked)), "it was told amiss");
        node.receive(now, &FttMessage::Invite { stream: 9 });
        assert_eq!(node.poll(), None, "it offers no such stream");
    }

    /// A consumer that is cut off requests under a new number, and no answer to the old one grants it anything.
    #[test]
    fn a_consumer_that_is_cut_off_asks_on() {
        let mut node = FttNode::new(2, 11, Duration::from_ms(100));
        let ack = |granted, number, cut| FttMessage::Ack { stream: 7, granted, subject: 7, number, cut };
        let cut = Some(RequestState::Cut([11, 12]));
        node.request(Instant::ZERO, STREAM);
        node.poll();
        node.receive(Instant::ZERO, &ack(true, 1, None));
        let pause = |number| FttMessage::Pause { stream: 7, number, cut: Some([11, 12]) };
        node.receive(Instant::ZERO, &pause(Some(0)));
        assert_eq!(node.state(7), Some(RequestState::Granted), "of a grant before");
        assert_eq!(node.poll(), Some((11, FttMessage::Paused { stream: 7, node: 2, number: Some(0) })));
        node.receive(Instant::ZERO, &pause(Some(1)));
        assert_eq!(node.state(7), cut);
        assert_eq!(node.poll(), Some((11, FttMessage::Paused { stream: 7, node: 2, number: Some(1) })));
        node.receive(Instant::ZERO, &ack(true, 1, None));
        assert_eq!(node.state(7), cut, "an answer to the request that ended");
        for _ in 0..2 {
            let later = node.deadline().expect("it asks on");
            node.advance(later);
            assert_eq!(node.poll(), Some((11, FttMessage::Add { stream: STREAM, node: 2, number: 2 })));
            node.receive(later, &ack(false, 2, Some([11, 12])));
            assert_eq!((node.state(7), node.poll()), (cut, None));
        }
        node.receive(Instant::ZERO, &ack(true, 2, None));
        assert_eq!((node.state(7), node.deadline()), (Some(RequestState::Granted), None));
        node.receive(Instant::ZERO, &pause(None));
        assert_eq!(node.state(7), cut, "whatever its number");
    }

    /// A producer that is cut off waits until it is invited.
    #[test]
    fn a_producer_that_is_cut_off_is_invited() {
        let mut node = FttNode::new(1, 11, Duration::from_ms(100));
        let now = Instant::ZERO;
        node.request(now, STREAM);
        node.poll();
        node.receive(now, &FttMessage::Ack { stream: 7, granted: true, subject: 7, number: 1, cut: None });
        node.receive(now, &FttMessage::Pause { stream: 7, number: Some(1), cut: Some([11, 12]) });
        assert_eq!((node.state(7), node.deadline()), (Some(RequestState::Cut([11, 12])), None));
        node.poll();
        node.receive(now, &FttMessage::Invite { stream: 7 });
        assert_eq!(node.poll(), Some((11, FttMessage::Add { stream: STREAM, node: 1, number: 2 })));
    }
}
