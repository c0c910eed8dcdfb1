//! FIFO queues of one traffic class: one, or one per lane (reception port or scheduler group).
//!
//! A lane keeps its order, except for the eligibility-ordered queue of ATS, which keeps the order of eligibility times
//! and, among equal ones, of arrival. Not here: limits (`buffer.rs`), shapers (`cbs.rs`, `ats.rs`), the order between
//! classes (`port.rs`).

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use tautwire_units::Instant;

/// How frames of one class from different lanes are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneOrder {
    /// One queue in the order of arrival; the lane is not looked at.
    Arrival,
    /// One queue in the order of eligibility times; the lane is not looked at (802.1Q-2022 8.6.8.5).
    Eligibility,
    /// A queue per lane, the head with the earliest eligibility time first, among equals the lowest lane.
    EligibilityOfHeads,
    /// A queue per lane, served in turn.
    RoundRobin,
    /// A queue per lane, the lowest lane first.
    LowestLane,
}

impl LaneOrder {
    /// Whether the lane of a frame is looked at.
    pub(crate) const fn has_lanes(self) -> bool {
        match self {
            Self::Arrival | Self::Eligibility => false,
            Self::EligibilityOfHeads | Self::RoundRobin | Self::LowestLane => true,
        }
    }
}

/// A waiting frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting<F> {
    pub(crate) frame: F,
    /// When its own shaper lets it go; a time in the past for a class without one.
    pub(crate) eligible: Instant,
    /// Idle time of the line when it became the head of its lane.
    pub(crate) idle_at_head: u64,
}

/// The queues of one class.
///
/// The first lane, which for most classes is the only one, is stored inline.
#[derive(Clone, Debug)]
pub(crate) struct Lanes<F> {
    first: VecDeque<Waiting<F>>,
    order: LaneOrder,
    /// The other lanes.
    others: Option<Box<Others<F>>>,
}

/// Lanes 1 and up.
#[derive(Clone, Debug)]
struct Others<F> {
    lanes: Vec<VecDeque<Waiting<F>>>,
    /// Where the next turn begins.
    turn: usize,
}

impl<F: Copy> Lanes<F> {
    pub(crate) fn new(order: LaneOrder, lanes: usize) -> Self {
        let others = if order.has_lanes() { lanes.saturating_sub(1) } else { 0 };
        let others = (others > 0)
            .then(|| Box::new(Others { lanes: (0..others).map(|_| VecDeque::new()).collect(), turn: 0 }));
        Self { first: VecDeque::new(), order, others }
    }

    /// How frames are ordered.
    #[inline]
    pub(crate) const fn order(&self) -> LaneOrder {
        self.order
    }

    /// Appends a frame.
    #[inline]
    pub(crate) fn push(&mut self, lane: u16, waiting: Waiting<F>) {
        let eligible = waiting.eligible;
        let queue = match (&mut self.others, lane) {
            (Some(others), 1..) => &mut others.lanes[usize::from(lane) - 1],
            _ => &mut self.first,
        };
        if self.order == LaneOrder::Eligibility {
            let after = queue.iter().rev().take_while(|other| other.eligible > eligible).count();
            let place = queue.len() - after;
            queue.insert(place, waiting);
        } else {
            queue.push_back(waiting);
        }
    }

    /// The lane to be served at `now`, or the earliest time at which one can be; none if all are empty.
    #[inline]
    pub(crate) fn choose(&self, now: Instant) -> Option<Result<usize, Instant>> {
        match &self.others {
            None => {
                let head = self.first.front()?;
                Some(if head.eligible <= now { Ok(0) } else { Err(head.eligible) })
            }
            Some(others) => self.choose_of_several(others, now),
        }
    }

    fn choose_of_several(&self, others: &Others<F>, now: Instant) -> Option<Result<usize, Instant>> {
        let count = others.lanes.len() + 1;
        let mut wait = None;
        let mut best: Option<(Instant, usize)> = None;
        for step in 0..count {
            let lane = match self.order {
                LaneOrder::RoundRobin => (others.turn + step) % count,
                _ => step,
            };
            let queue = if lane == 0 { &self.first } else { &others.lanes[lane - 1] };
            let Some(head) = queue.front() else { continue };
            if head.eligible > now {
                wait = Some(wait.map_or(head.eligible, |wait: Instant| wait.min(head.eligible)));
            } else if self.order != LaneOrder::EligibilityOfHeads {
                return Some(Ok(lane));
            } else if best.is_none_or(|(eligible, _)| head.eligible < eligible) {
                best = Some((head.eligible, lane));
            }
        }
        best.map(|(_, lane)| Ok(lane)).or(wait.map(Err))
    }

    /// Takes the head of the only lane, if it has one.
    #[inline]
    pub(crate) fn take_first(&mut self) -> Option<Waiting<F>> {
        self.first.pop_front()
    }

    /// Takes the head of a lane; `idle` is the line's idle time now.
    #[inline]
    pub(crate) fn pop(&mut self, lane: usize, idle: u64) -> Waiting<F> {
        let queue = match &mut self.others {
            Some(others) => {
                others.turn = if lane == others.lanes.len() { 0 } else { lane + 1 };
                if lane == 0 { &mut self.first } else { &mut others.lanes[lane - 1] }
            }
            None => &mut self.first,
        };
        let taken = queue.pop_front().expect("the lane that was chosen has a head");
        if let Some(head) = queue.front_mut() {
            head.idle_at_head = idle;
        }
        taken
    }

    /// Takes the head of a lane, or of the first lane that has one if it is empty, in place of a newer frame: the
    /// turns of the lanes do not change.
    #[cold]
    pub(crate) fn evict(&mut self, lane: u16, idle: u64) -> Option<Waiting<F>> {
        let mut others = self.others.iter_mut().flat_map(|others| others.lanes.iter_mut());
        let own = match lane.checked_sub(1) {
            Some(place) => others.nth(usize::from(place)).filter(|queue| !queue.is_empty()),
            None => None,
        };
        let queue = match own {
            Some(queue) => queue,
            None if !self.first.is_empty() => &mut self.first,
            None => {
                let mut others = self.others.iter_mut().flat_map(|others| others.lanes.iter_mut());
                others.find(|queue| !queue.is_empty())?
            }
        };
        let taken = queue.pop_front();
        if let Some(head) = queue.front_mut() {
            head.idle_at_head = idle;
        }
        taken
    }

    /// Frames that wait in a lane.
    pub(crate) fn waiting_in(&self, lane: u16) -> usize {
        match (&self.others, lane) {
            (Some(others), 1..) => others.lanes[usize::from(lane) - 1].len(),
            _ => self.first.len(),
        }
    }

    /// The first frame of a lane.
    pub(crate) fn head(&self, lane: usize) -> Option<&Waiting<F>> {
        match (&self.others, lane) {
            (Some(others), 1..) => others.lanes[lane - 1].front(),
            _ => self.first.front(),
        }
    }

    /// Puts a frame before all others of its lane, whose turn it is then.
    pub(crate) fn push_front(&mut self, lane: usize, waiting: Waiting<F>) {
        match (&mut self.others, lane) {
            (Some(others), 1..) => {
                others.turn = lane;
                others.lanes[lane - 1].push_front(waiting);
            }
            (others, _) => {
                if let Some(others) = others {
                    others.turn = 0;
                }
                self.first.push_front(waiting);
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Waiting<F>> {
        self.first.iter().chain(self.others.iter().flat_map(|others| others.lanes.iter().flatten()))
    }

    pub(crate) fn clear(&mut self) {
        self.first.clear();
        for lane in self.others.iter_mut().flat_map(|others| others.lanes.iter_mut()) {
            lane.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ps: u64) -> Instant {
        Instant::from_ps(ps)
    }

    fn drain(lanes: &mut Lanes<u8>, now: u64) -> Vec<u8> {
        let mut out = Vec::new();
        while let Some(Ok(lane)) = lanes.choose(at(now)) {
            out.push(lanes.pop(lane, 0).frame);
        }
        out
    }

    fn filled(order: LaneOrder) -> Lanes<u8> {
        let mut lanes = Lanes::new(order, 3);
        for (lane, frame, eligible) in [(2, 1, 30), (0, 2, 40), (2, 3, 35), (1, 4, 10), (0, 5, 50)] {
            lanes.push(lane, Waiting { frame, eligible: at(eligible), idle_at_head: 0 });
        }
        lanes
    }

    #[test]
    fn every_order_is_its_own() {
        for (order, frames) in [
            (LaneOrder::Arrival, [1, 2, 3, 4, 5]),
            (LaneOrder::Eligibility, [4, 1, 3, 2, 5]),
            (LaneOrder::EligibilityOfHeads, [4, 1, 3, 2, 5]),
            (LaneOrder::RoundRobin, [2, 4, 1, 5, 3]),
            (LaneOrder::LowestLane, [2, 5, 4, 1, 3]),
        ] {
            assert_eq!(drain(&mut filled(order), 100), frames, "{order:?}");
        }
    }

    #[test]
    fn a_head_that_must_wait_has_a_time() {
        let lanes = filled(LaneOrder::RoundRobin);
        assert_eq!(lanes.choose(at(5)), Some(Err(at(10))));
        assert_eq!(lanes.choose(at(10)), Some(Ok(1)));
        let one = filled(LaneOrder::Arrival);
        assert_eq!(one.choose(at(5)), Some(Err(at(30))), "the head, not the earliest");
        assert_eq!(Lanes::<u8>::new(LaneOrder::Arrival, 1).choose(at(0)), None);
    }
}
