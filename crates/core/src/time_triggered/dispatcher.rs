//! The time-triggered side of an egress port: the newest frame of every virtual link, released at its dispatch point,
//! and the times at which other traffic must leave the line free (SAE AS6802).
//!
//! In: frames, readings of the node's clock, and its correction to network time. Out: frames whose point has come, and
//! until when another frame may begin or must have ended. Invariants: a link's place holds one frame, the newest; a
//! frame is released at the first point after its arrival and at no other; without synchronisation no frame is held
//! and none is released. Not here: the line (`port.rs`), the schedule (`tautwire-model`). Scenario:
//! `scenarios/time-triggered.yaml`.

use alloc::collections::{BinaryHeap, VecDeque};
use alloc::vec::Vec;
use core::cmp::Reverse;

use tautwire_units::{Duration, Instant};

use crate::TrafficClass;
use crate::time_triggered::{EmptySlot, Integration};

/// A slot of a port, once a period of network time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// Distance of two points, above zero.
    pub period: Duration,
    /// The first point.
    pub offset: Duration,
    /// How long the line is meant for it.
    pub length: Duration,
    /// Whether other traffic may use it if no frame is there.
    pub empty: EmptySlot,
}

/// How a port is built for time-triggered traffic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DispatcherConfig {
    /// The class of its frames: that of no other frame.
    pub class: TrafficClass,
    /// How other traffic makes room.
    pub integration: Integration,
    /// Its slots, those of links and those that are only kept free.
    pub slots: Vec<Slot>,
}

/// The result for a frame that was handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held<F> {
    /// It waits for its point.
    Waiting,
    /// It waits in place of this one, which is lost.
    Overwrote(F),
    /// The node has no network time: it is lost.
    Unsynchronised,
    /// The limits of its class do not let it in: it is lost.
    Full,
}

/// The limits for other frames now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// None may begin before this reading of the clock.
    Shut(Instant),
    /// One may begin that ends by this reading, or whatever it takes.
    Until(Option<Instant>),
}

/// The time-triggered side of a port.
#[derive(Clone, Debug)]
pub struct Dispatcher<F> {
    class: TrafficClass,
    integration: Integration,
    slots: Vec<(Slot, Option<F>)>,
    /// The next point of every slot, network time.
    due: BinaryHeap<Reverse<(Instant, u32)>>,
    ready: VecDeque<F>,
    /// Until when a kept slot lasts, network time.
    kept_until: Instant,
    /// Network time less the clock's reading, in picoseconds; none without synchronisation.
    correction: Option<i64>,
    held: u32,
}

impl<F: Copy> Dispatcher<F> {
    /// Without synchronisation, and empty.
    ///
    /// # Panics
    /// If a period is zero.
    #[must_use]
    pub fn new(config: DispatcherConfig) -> Self {
        assert!(config.slots.iter().all(|slot| !slot.period.is_zero()), "slots come back");
        Self {
            class: config.class,
            integration: config.integration,
            due: BinaryHeap::with_capacity(config.slots.len()),
            slots: config.slots.into_iter().map(|slot| (slot, None)).collect(),
            ready: VecDeque::new(),
            kept_until: Instant::ZERO,
            correction: None,
            held: 0,
        }
    }

    /// The class of its frames.
    #[must_use]
    pub const fn class(&self) -> TrafficClass {
        self.class
    }

    /// How other traffic makes room.
    #[must_use]
    pub const fn integration(&self) -> Integration {
        self.integration
    }

    /// Whether frames wait for their points, or for the line.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.held == 0 && self.ready.is_empty()
    }

    /// The clock that reads `now` is `correction` picoseconds behind network time. Points in the past when
    /// synchronisation begins are skipped.
    pub fn synchronise(&mut self, now: Instant, correction: i64) {
        let begins = self.correction.replace(correction).is_none();
        if begins {
            let network = self.network(now).as_ps();
            self.due.clear();
            for (number, (slot, _)) in (0..).zip(&self.slots) {
                let (offset, period) = (slot.offset.as_ps() % slot.period.as_ps(), slot.period.as_ps());
                let passed = network.saturating_sub(offset).div_ceil(period);
                let next = Instant::from_ps(offset.saturating_add(passed.saturating_mul(period)));
                self.due.push(Reverse((next, number)));
            }
            self.kept_until = Instant::ZERO;
        }
    }

    /// Synchronisation is lost: what waits is lost, and given out.
    pub fn desynchronise(&mut self) -> Vec<F> {
        self.correction = None;
        self.clear()
    }

    /// Takes all frames out.
    pub fn clear(&mut self) -> Vec<F> {
        self.held = 0;
        let held = self.slots.iter_mut().filter_map(|(_, held)| held.take());
        held.chain(self.ready.drain(..)).collect()
    }

    /// All frames that wait.
    pub fn waiting(&self) -> impl Iterator<Item = F> + '_ {
        self.slots.iter().filter_map(|(_, held)| *held).chain(self.ready.iter().copied())
    }

    /// The frame in the place of a slot, after the frames due at `now` have been released.
    pub(crate) fn held_in(&mut self, now: Instant, slot: u32) -> Option<F> {
        self.correction?;
        self.settle(now);
        self.slots[slot as usize].1
    }

    /// Puts a frame into the place of a slot. Frames due at `now` have been released before.
    pub fn hold(&mut self, now: Instant, slot: u32, frame: F) -> Held<F> {
        if self.correction.is_none() {
            return Held::Unsynchronised;
        }
        self.settle(now);
        let place = &mut self.slots[slot as usize].1;
        if planted!(FirstMessageKept) && place.is_some() {
            return Held::Overwrote(frame);
        }
        match place.replace(frame) {
            Some(old) => Held::Overwrote(old),
            None => {
                self.held += 1;
                Held::Waiting
            }
        }
    }

    /// Releases all frames whose point has come.
    pub(crate) fn settle(&mut self, now: Instant) {
        let network = self.network(now);
        while let Some(Reverse((point, number))) = self.due.peek().copied() {
            if point > network || self.correction.is_none() {
                return;
            }
            self.due.pop();
            let (slot, held) = &mut self.slots[number as usize];
            if let Some(frame) = held.take() {
                self.held -= 1;
                self.ready.push_back(frame);
            }
            if slot.empty == EmptySlot::Kept {
                self.kept_until = self.kept_until.max(point + slot.length);
            }
            self.due.push(Reverse((point + slot.period, number)));
        }
    }

    /// A frame whose point has come.
    pub(crate) fn take_ready(&mut self) -> Option<F> {
        self.ready.pop_front()
    }

    /// Whether a frame's point has come.
    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// What frames of other classes may do at `now`, which is settled.
    pub(crate) fn room(&self, now: Instant) -> Room {
        if self.correction.is_none() {
            return Room::Until(None);
        }
        if self.network(now) < self.kept_until && !planted!(GuardForgotten) {
            return Room::Shut(self.local(self.kept_until));
        }
        let guarded = self.integration == Integration::TimelyBlock && !planted!(GuardForgotten);
        Room::Until(self.next_point().filter(|_| guarded))
    }

    /// When to look again, if a frame waits for its point: not later than that.
    pub(crate) fn next_look(&self) -> Option<Instant> {
        if self.held == 0 { None } else { self.next_point() }
    }

    /// The next point of any slot, by the node's clock.
    fn next_point(&self) -> Option<Instant> {
        self.due.peek().map(|Reverse((point, _))| self.local(*point))
    }

    fn network(&self, now: Instant) -> Instant {
        Instant::from_ps(now.as_ps().saturating_add_signed(self.correction.unwrap_or(0)))
    }

    /// The first reading at which network time has come to `network`.
    fn local(&self, network: Instant) -> Instant {
        let behind = self.correction.unwrap_or(0);
        Instant::from_ps(network.as_ps().saturating_add_signed(behind.saturating_neg()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Instant {
        Instant::ZERO + Duration::from_us(us)
    }

    fn slot(period: u64, offset: u64, empty: EmptySlot) -> Slot {
        let [period, offset, length] = [period, offset, 10].map(Duration::from_us);
        Slot { period, offset, length, empty }
    }

    fn dispatcher(integration: Integration, empty: EmptySlot) -> Dispatcher<u32> {
        let slots = [slot(100, 30, empty), slot(200, 60, empty)].to_vec();
        let class = TrafficClass::new(7).expect("below eight");
        Dispatcher::new(DispatcherConfig { class, integration, slots })
    }

    fn due(dispatcher: &mut Dispatcher<u32>, now: u64) -> Vec<u32> {
        dispatcher.settle(us(now));
        core::iter::from_fn(|| dispatcher.take_ready()).collect()
    }

    #[test]
    fn the_newest_frame_leaves_at_its_point_and_only_then() {
        let mut one = dispatcher(Integration::TimelyBlock, EmptySlot::Kept);
        one.synchronise(us(0), 0);
        assert_eq!(one.hold(us(1), 0, 1), Held::Waiting);
        assert_eq!(one.hold(us(2), 0, 2), Held::Overwrote(1));
        assert_eq!(one.next_look(), Some(us(30)));
        assert_eq!(due(&mut one, 29), []);
        assert_eq!(due(&mut one, 30), [2]);
        assert_eq!(one.hold(us(31), 0, 3), Held::Waiting);
        assert_eq!(due(&mut one, 129), [], "its point of this period has passed");
        assert_eq!(due(&mut one, 140), [3], "called late");
        assert_eq!((due(&mut one, 1_000), one.is_empty(), one.next_look()), (Vec::new(), true, None));
    }

    #[test]
    fn points_are_those_of_network_time() {
        let mut one = dispatcher(Integration::TimelyBlock, EmptySlot::Kept);
        one.synchronise(us(500), -5_000_000);
        one.hold(us(500), 0, 1);
        assert_eq!(one.next_look(), Some(us(535)), "five microseconds behind");
        one.synchronise(us(520), 2_000_000);
        assert_eq!(one.next_look(), Some(us(528)));
        assert_eq!(due(&mut one, 528), [1]);
        one.hold(us(530), 1, 2);
        one.synchronise(us(540), -60_000_000);
        assert_eq!(due(&mut one, 605), [], "set back behind a point, it does not come again");
        assert_eq!(one.next_look(), Some(us(690)), "the other link's next point");
        assert_eq!(due(&mut one, 720), [2]);
    }

    #[test]
    fn without_synchronisation_frames_are_lost_and_not_late() {
        let mut one = dispatcher(Integration::TimelyBlock, EmptySlot::Kept);
        assert_eq!(one.hold(us(0), 0, 1), Held::Unsynchronised);
        assert_eq!(one.room(us(0)), Room::Until(None));
        one.synchronise(us(10), 0);
        one.hold(us(10), 0, 2);
        one.hold(us(10), 1, 3);
        assert_eq!(due(&mut one, 35), [2]);
        assert_eq!(one.desynchronise(), [3]);
        assert_eq!((due(&mut one, 100), one.is_empty()), (Vec::new(), true));
        one.synchronise(us(777), 0);
        one.hold(us(777), 0, 4);
        assert_eq!(one.next_look(), Some(us(830)), "what was missed is not made up for");
    }

    #[test]
    fn other_frames_keep_clear_of_slots() {
        let mut kept = dispatcher(Integration::TimelyBlock, EmptySlot::Kept);
        kept.synchronise(us(0), 0);
        assert_eq!(kept.room(us(5)), Room::Until(Some(us(30))));
        kept.settle(us(30));
        assert_eq!(kept.room(us(30)), Room::Shut(us(40)), "though no frame is there");
        kept.settle(us(40));
        assert_eq!(kept.room(us(40)), Room::Until(Some(us(60))));
        let mut released = dispatcher(Integration::TimelyBlock, EmptySlot::Released);
        released.synchronise(us(0), 0);
        released.settle(us(30));
        assert_eq!(released.room(us(30)), Room::Until(Some(us(60))));
        let mut shuffled = dispatcher(Integration::Shuffling, EmptySlot::Released);
        shuffled.synchronise(us(0), 0);
        assert_eq!(shuffled.room(us(29)), Room::Until(None));
    }
}
