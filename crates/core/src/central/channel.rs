//! A reliable channel between two nodes: one message in transit at a time, repeated until it is acknowledged.
//!
//! At most one frame leaves per interval, whatever it carries; bounds rely on this. A node that has restarted
//! announces a new session number; the other end then restarts its side, too, and informs its user.

use alloc::collections::VecDeque;

use tautwire_units::{Duration, Instant};

/// Times of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChannelTiming {
    /// Least time between two frames.
    pub pace: Duration,
    /// When a message that was not acknowledged is sent again.
    pub retry: Duration,
}

/// The contents of a frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Segment<M> {
    /// Session of the sender, and that of the receiver as far as the sender knows it.
    pub session: u16,
    /// See there.
    pub peer_session: Option<u16>,
    /// A message and its number.
    pub message: Option<(u32, M)>,
    /// Number of the message that is expected next.
    pub acknowledges: u32,
}

/// The contents of a frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Heard<M> {
    /// The other end has restarted since the last frame.
    pub restarted: bool,
    /// A message that is not a repetition.
    pub message: Option<M>,
}

/// One end of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Channel<M> {
    timing: ChannelTiming,
    session: u16,
    peer_session: Option<u16>,
    /// Messages that are not acknowledged; the first may be under way.
    queue: VecDeque<M>,
    /// Number of the first of them.
    number: u32,
    /// When the first is sent again; none if it was not sent yet.
    again_at: Option<Instant>,
    /// Number of the message that is expected next.
    expects: u32,
    owes: bool,
    /// When a node that has restarted announces its session next; none once the other end has acknowledged it.
    greets_at: Option<Instant>,
    /// Before this no frame leaves.
    not_before: Instant,
}

impl<M: Clone> Channel<M> {
    /// A channel of a node's session.
    #[must_use]
    pub fn new(timing: ChannelTiming, session: u16, now: Instant) -> Self {
        Self {
            timing,
            session,
            peer_session: None,
            queue: VecDeque::new(),
            number: 0,
            again_at: None,
            expects: 0,
            owes: false,
            greets_at: (session > 0).then_some(now),
            not_before: now,
        }
    }

    /// Puts a message behind those that wait.
    pub fn send(&mut self, message: M) {
        self.queue.push_back(message);
    }

    /// A frame comes in.
    pub fn receive(&mut self, segment: &Segment<M>) -> Heard<M> {
        let restarted = self.peer_session.is_some_and(|known| known != segment.session);
        if self.peer_session != Some(segment.session) {
            // An old frame of a session before is of no account.
            if self.peer_session.is_some_and(|known| known > segment.session) {
                return Heard { restarted: false, message: None };
            }
            self.peer_session = Some(segment.session);
            if restarted {
                (self.number, self.again_at, self.expects) = (0, None, 0);
                self.owes = true;
            }
        }
        if segment.peer_session.is_some_and(|meant| meant != self.session) {
            return Heard { restarted, message: None };
        }
        if segment.peer_session.is_some() {
            self.greets_at = None;
        }
        if segment.peer_session.is_some()
            && segment.acknowledges == self.number + 1
            && self.again_at.is_some()
        {
            self.queue.pop_front();
            self.number += 1;
            self.again_at = None;
        }
        let mut message = None;
        if let Some((number, received)) = &segment.message {
            self.owes = true;
            if *number == self.expects {
                self.expects += 1;
                message = Some(received.clone());
            }
        }
        Heard { restarted, message }
    }

    /// The frame that leaves at `now`.
    pub fn poll(&mut self, now: Instant) -> Option<Segment<M>> {
        if self.deadline().is_none_or(|at| at > now) {
            return None;
        }
        let sends = self.again_at.is_none_or(|at| at <= now);
        let message = self.queue.front().filter(|_| sends).map(|message| (self.number, message.clone()));
        if message.is_some() {
            self.again_at = Some(now + self.timing.retry);
        }
        self.owes = false;
        if self.greets_at.is_some() {
            self.greets_at = Some(now + self.timing.retry);
        }
        self.not_before = now + self.timing.pace;
        Some(Segment {
            session: self.session,
            peer_session: self.peer_session,
            message,
            acknowledges: self.expects,
        })
    }

    /// When to call [`Self::poll`] next.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let message = (!self.queue.is_empty()).then(|| self.again_at.unwrap_or(self.not_before));
        let owed = self.owes.then_some(self.not_before);
        message.into_iter().chain(owed).chain(self.greets_at).min().map(|at| at.max(self.not_before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMING: ChannelTiming = ChannelTiming { pace: Duration::from_ms(1), retry: Duration::from_ms(10) };

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn what_is_lost_is_sent_again_and_heard_once() {
        let mut one = Channel::new(TIMING, 0, at(0));
        let mut other: Channel<u8> = Channel::new(TIMING, 0, at(0));
        one.send(7);
        one.send(8);
        assert!(one.poll(at(0)).is_some(), "lost");
        assert_eq!(one.deadline(), Some(at(10)));
        let again = one.poll(at(10)).expect("again");
        assert_eq!(other.receive(&again).message, Some(7));
        assert_eq!(other.receive(&again).message, None, "repeated on the way");
        let acknowledgement = other.poll(at(10)).expect("owed");
        assert_eq!(other.deadline(), None);
        assert_eq!(one.receive(&acknowledgement), Heard { restarted: false, message: None });
        let next = one.poll(at(11)).expect("the next");
        assert_eq!(other.receive(&next).message, Some(8));
    }

    #[test]
    fn a_frame_leaves_once_in_a_pace() {
        let mut one: Channel<u8> = Channel::new(TIMING, 0, at(0));
        let heard = Segment { session: 0, peer_session: Some(0), message: Some((0, 1)), acknowledges: 0 };
        one.receive(&heard);
        assert!(one.poll(at(0)).is_some());
        one.receive(&heard);
        assert_eq!(one.deadline(), Some(at(1)));
        assert!(one.poll(at(0)).is_none());
        assert!(one.poll(at(1)).is_some());
    }

    #[test]
    fn both_begin_anew_when_one_has_restarted() {
        let mut one = Channel::new(TIMING, 0, at(0));
        let mut other: Channel<u8> = Channel::new(TIMING, 0, at(0));
        one.send(1);
        let first = one.poll(at(0)).expect("sent");
        assert_eq!(other.receive(&first).message, Some(1));
        one.receive(&other.poll(at(0)).expect("owed"));
        // Messages in transit to the old session are ignored.
        one.send(2);
        let old = one.poll(at(1)).expect("sent");
        let mut other: Channel<u8> = Channel::new(TIMING, 1, at(2));
        assert_eq!(other.receive(&old).message, None);
        other.send(9);
        let heard = one.receive(&other.poll(at(2)).expect("sent"));
        assert_eq!(heard, Heard { restarted: true, message: Some(9) });
        assert_eq!(other.deadline(), Some(at(12)), "says so until it is known");
        let again = one.poll(at(2)).expect("numbered anew");
        assert_eq!(other.receive(&again).message, Some(2));
        let acknowledgement = other.poll(at(3)).expect("owed, and its message again if it is time");
        one.receive(&acknowledgement);
        assert_eq!(one.deadline(), None);
    }
}
