//! An egress port with time-triggered traffic in addition to that of its classes (SAE AS6802).
//!
//! Frames whose point has come go before all others. With timely block no other frame begins that would not end before
//! the next point; with shuffling the time-triggered frame waits for the one in transmission; with preemption it cuts
//! that one, which goes back to the head of its queue. Invariants: a frame that is cut is the next of its lane; a
//! lower class may go where a higher one's frame does not fit before a point, because its frame ends before the point
//! too.

use tautwire_units::{Bytes, Duration, Instant};

use super::{EgressPort, QueuedFrame, Selection};
use crate::gates::GateTime;
use crate::queue::Waiting;
use crate::time_triggered::Integration;
use crate::time_triggered::dispatcher::{Dispatcher, DispatcherConfig, Held, Room};

/// Octets of the gap behind a frame (IEEE Std 802.3, 4.4.2).
const INTER_PACKET_GAP: Bytes = Bytes::new(12);

/// The state of a port with time-triggered traffic.
#[derive(Clone, Debug)]
pub(super) struct Integrated<F> {
    dispatcher: Dispatcher<F>,
    /// The frame of another class that is under way, and its lane, if it may be cut.
    under_way: Option<(Waiting<F>, usize)>,
}

impl<F: Copy> Integrated<F> {
    pub(super) fn new(config: DispatcherConfig) -> Self {
        Self { dispatcher: Dispatcher::new(config), under_way: None }
    }

    pub(super) fn waiting(&self) -> impl Iterator<Item = F> + '_ {
        self.dispatcher.waiting()
    }

    pub(super) fn clear(&mut self) {
        self.dispatcher.clear();
    }

    /// Whether the frame under way may be given up.
    pub(super) const fn may_cut(&self) -> bool {
        self.under_way.is_some()
    }

    /// When to look again.
    pub(super) fn next_look(&self) -> Option<Instant> {
        self.dispatcher.next_look()
    }

    /// Forgets the frame under way; whether there was one.
    pub(super) fn forget(&mut self) -> bool {
        self.under_way.take().is_some()
    }
}

impl<F: QueuedFrame> EgressPort<F> {
    /// Takes a time-triggered frame into the place of its slot, if the limits of its class allow it.
    ///
    /// # Panics
    /// If the port has no such slot.
    pub fn hold(&mut self, now: Instant, slot: u32, frame: F) -> Held<F> {
        let integrated = self.integrated.as_mut().expect("a port for time-triggered traffic");
        let number = integrated.dispatcher.class().index();
        let class = &mut self.classes[number];
        let older = integrated.dispatcher.held_in(now, slot).map(QueuedFrame::octets);
        if !class.has_room_instead(frame.octets(), older) {
            class.discard();
            return Held::Full;
        }
        let held = integrated.dispatcher.hold(now, slot, frame);
        // The newer message takes the place of the older one.
        if let Held::Overwrote(old) = held {
            class.forget(old.octets());
        }
        if !matches!(held, Held::Unsynchronised) {
            class.count_in(frame.octets());
            self.occupied |= 1 << number;
        }
        held
    }

    /// The node's clock, which reads `now`, is `correction` picoseconds behind network time. The port must be polled
    /// after that. No effect at a port without time-triggered traffic and without gates.
    pub fn synchronise(&mut self, now: Instant, correction: i64) {
        if let Some(integrated) = &mut self.integrated {
            integrated.dispatcher.synchronise(now, correction);
        }
        self.follow(now, GateTime::Ahead(correction));
    }

    /// The node has lost network time: time-triggered frames that wait are lost, and given out.
    pub fn desynchronise(&mut self) -> alloc::vec::Vec<F> {
        let Some(integrated) = &mut self.integrated else { return alloc::vec::Vec::new() };
        let lost = integrated.dispatcher.desynchronise();
        let class = integrated.dispatcher.class().index();
        for frame in &lost {
            self.classes[class].forget(frame.octets());
        }
        self.occupied &= !(1 << class);
        lost
    }

    /// Whether it has time-triggered traffic.
    #[must_use]
    pub const fn is_integrated(&self) -> bool {
        self.integrated.is_some()
    }

    /// Cuts the frame in transmission if a time-triggered one needs the line: it is returned, and is at the head of
    /// its lane again. The line is occupied by the octet that is being sent and the gap.
    pub(super) fn cut_integrated(&mut self, now: Instant) -> Option<F> {
        let gap = self.octet_time.duration_ceil(INTER_PACKET_GAP);
        let integrated = self.integrated.as_mut()?;
        integrated.dispatcher.settle(now);
        if !integrated.dispatcher.has_ready() || now.saturating_add(gap) >= self.busy_until {
            return None;
        }
        let (waiting, lane) = integrated.under_way.take()?;
        let (class, octets) = (waiting.frame.class().index(), waiting.frame.octets());
        self.free_line(now);
        self.octets -= u64::from(octets);
        let in_lanes = self.in_lanes & (1 << class) != 0;
        self.classes[class].put_back(lane, waiting, octets, in_lanes);
        self.occupied |= 1 << class;
        Some(waiting.frame)
    }

    /// The selection at `now`.
    pub(super) fn select_integrated(&mut self, now: Instant) -> Selection<F> {
        let Some(mut integrated) = self.integrated.take() else { return Selection::Idle };
        let selection = self.select_other(now, &mut integrated);
        self.integrated = Some(integrated);
        selection
    }

    fn select_other(&mut self, now: Instant, integrated: &mut Integrated<F>) -> Selection<F> {
        let dispatcher = &mut integrated.dispatcher;
        dispatcher.settle(now);
        if now < self.busy_until {
            return if self.occupied == 0 { Selection::Idle } else { Selection::Wait(self.busy_until) };
        }
        integrated.under_way = None;
        let others = self.occupied & !(1 << dispatcher.class().index());
        let is_behind =
            others != 0 && dispatcher.integration() == Integration::Shuffling && planted!(ShuffledBehind);
        if let Some(frame) = (!is_behind).then(|| dispatcher.take_ready()).flatten() {
            let class = &mut self.classes[dispatcher.class().index()];
            class.count_out(frame.octets());
            if class.frames() == 0 {
                self.occupied &= !(1 << dispatcher.class().index());
            }
            self.octets += u64::from(frame.octets());
            self.take_line(now, frame.octets());
            return Selection::Transmit { frame, held: Duration::ZERO };
        }
        let mut wake = dispatcher.next_look();
        let mut left = others;
        let end = match dispatcher.room(now) {
            Room::Shut(until) => {
                let look = (left != 0).then_some(until);
                return wake.into_iter().chain(look).min().map_or(Selection::Idle, Selection::Wait);
            }
            Room::Until(end) => end,
        };
        while left != 0 {
            let index = (7 - left.leading_zeros()) as usize;
            left &= !(1 << index);
            let at = match self.eligible(index, now) {
                Ok(lane) => {
                    let waiting = *self.classes[index].peek(lane);
                    let wire =
                        self.wire_time(u64::from(waiting.frame.octets()) + Bytes::MEDIA_OVERHEAD.get());
                    match end.filter(|end| now + wire > *end) {
                        Some(end) => end,
                        None => {
                            if dispatcher.integration() == Integration::Preemption {
                                integrated.under_way = Some((waiting, lane));
                            }
                            return self.transmit(index, lane, now, true);
                        }
                    }
                }
                Err(at) => at,
            };
            wake = Some(wake.map_or(at, |wake| wake.min(at)));
        }
        wake.map_or(Selection::Idle, Selection::Wait)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::TrafficClass;
    use crate::buffer::QueueLimit;
    use crate::port::test_frame::Frame;
    use crate::port::{ClassConfig, Cut, PortConfig};
    use crate::time_triggered::EmptySlot;
    use crate::time_triggered::dispatcher::Slot;
    use tautwire_units::BitRate;

    const TIMED: Frame = Frame(105, 7);
    /// 1 000 octets of the wire: 80 us at 100 Mbit/s.
    const LONG: Frame = Frame(980, 3);
    /// 100 octets: 8 us.
    const SHORT: Frame = Frame(80, 1);

    fn us(us: u64) -> Instant {
        Instant::ZERO + Duration::from_us(us)
    }

    /// A slot of 10 us every 200 us, from 100 us on.
    fn port(integration: Integration, empty: EmptySlot) -> EgressPort<Frame> {
        port_of(integration, empty, u32::MAX)
    }

    /// The same with so many frames in each class at most, of which new ones replace the oldest.
    fn port_of(integration: Integration, empty: EmptySlot, frames: u32) -> EgressPort<Frame> {
        let limit = QueueLimit { frames, ..QueueLimit::NONE };
        let classes = ClassConfig { limit, discards_oldest: true, ..ClassConfig::default() };
        let [period, offset, length] = [200, 100, 10].map(Duration::from_us);
        let slots = [Slot { period, offset, length, empty }].to_vec();
        let class = TrafficClass::new(7).expect("below eight");
        let mut port = EgressPort::new(PortConfig {
            classes: core::array::from_fn(|_| classes.clone()),
            dispatcher: Some(DispatcherConfig { class, integration, slots }),
            ..PortConfig::plain(BitRate::from_mbps(100))
        });
        port.synchronise(us(0), 0);
        port
    }

    fn sends(port: &mut EgressPort<Frame>, now: u64) -> Option<Frame> {
        match port.select(us(now)) {
            Selection::Transmit { frame, .. } => Some(frame),
            Selection::Wait(_) | Selection::Idle => None,
        }
    }

    #[test]
    fn by_timely_block_nothing_begins_that_would_not_end_before_the_slot() {
        let mut port = port(Integration::TimelyBlock, EmptySlot::Kept);
        assert_eq!(port.hold(us(0), 0, TIMED), Held::Waiting);
        port.enqueue(us(30), 0, Instant::ZERO, LONG).expect("room");
        assert_eq!(port.select(us(30)), Selection::Wait(us(100)), "it would end at 110 us");
        port.enqueue(us(40), 0, Instant::ZERO, SHORT).expect("room");
        assert_eq!(sends(&mut port, 40), Some(SHORT), "a lower frame that fits");
        assert_eq!(sends(&mut port, 99), None);
        assert_eq!(sends(&mut port, 100), Some(TIMED));
        assert_eq!(port.busy_until(), us(110));
        assert_eq!(sends(&mut port, 110), Some(LONG));
    }

    #[test]
    fn an_empty_slot_is_kept_or_released() {
        let mut kept = port(Integration::TimelyBlock, EmptySlot::Kept);
        kept.enqueue(us(90), 0, Instant::ZERO, LONG).expect("room");
        assert_eq!(kept.select(us(100)), Selection::Wait(us(110)));
        assert_eq!(sends(&mut kept, 110), Some(LONG));
        let mut released = port(Integration::TimelyBlock, EmptySlot::Released);
        released.enqueue(us(90), 0, Instant::ZERO, LONG).expect("room");
        assert_eq!(sends(&mut released, 100), Some(LONG));
    }

    #[test]
    fn by_shuffling_the_frame_waits_for_the_one_under_way() {
        let mut port = port(Integration::Shuffling, EmptySlot::Released);
        port.hold(us(0), 0, TIMED);
        port.enqueue(us(60), 0, Instant::ZERO, LONG).expect("room");
        port.enqueue(us(60), 0, Instant::ZERO, SHORT).expect("room");
        assert_eq!(sends(&mut port, 60), Some(LONG));
        assert_eq!(port.cut(us(100)), Cut::No);
        assert_eq!(port.select(us(100)), Selection::Wait(us(140)));
        assert_eq!(sends(&mut port, 140), Some(TIMED), "before all others");
        assert_eq!(sends(&mut port, 150), Some(SHORT));
    }

    #[test]
    fn by_preemption_the_frame_under_way_is_cut_and_sent_again() {
        let mut port = port(Integration::Preemption, EmptySlot::Released);
        port.hold(us(0), 0, TIMED);
        port.enqueue(us(60), 0, Instant::ZERO, LONG).expect("room");
        port.enqueue(us(61), 0, Instant::ZERO, LONG).expect("room");
        assert_eq!(sends(&mut port, 60), Some(LONG));
        assert_eq!((port.may_change(), port.next_look(us(0))), (true, Some(us(100))));
        assert_eq!(port.cut(us(99)), Cut::No, "nobody wants the line yet");
        assert_eq!(port.cut(us(100)), Cut::GivenUp(LONG));
        assert_eq!(port.busy_until(), us(100) + Duration::from_ns(13 * 80));
        assert_eq!(port.counters(LONG.class()).sent, 0);
        assert_eq!(sends(&mut port, 100), None);
        assert_eq!(sends(&mut port, 102), Some(TIMED));
        assert_eq!(port.cut(us(103)), Cut::No, "a time-triggered frame is not cut");
        assert_eq!(sends(&mut port, 112), Some(LONG));
        assert_eq!(sends(&mut port, 192), Some(LONG));
        assert_eq!(sends(&mut port, 272), None);
        assert_eq!((port.octets(), port.is_empty()), (2 * 980 + 105, true));
        assert_eq!(port.busy(), Duration::from_us(40 + 10 + 160) + Duration::from_ns(13 * 80));
    }

    #[test]
    fn a_flush_takes_the_frame_under_way_and_frees_the_line() {
        let mut port = port(Integration::Preemption, EmptySlot::Released);
        port.enqueue(us(60), 0, Instant::ZERO, LONG).expect("room");
        assert_eq!(sends(&mut port, 60), Some(LONG));
        assert_eq!(port.flush(us(90)), []);
        assert_eq!(port.busy_until(), us(90) + Duration::from_ns(13 * 80));
        port.hold(us(95), 0, TIMED);
        assert_eq!(port.cut(us(100)), Cut::No, "it is not there any more");
        assert_eq!(sends(&mut port, 100), Some(TIMED));
    }

    #[test]
    fn a_frame_in_its_gap_is_not_cut() {
        let mut port = port(Integration::Preemption, EmptySlot::Released);
        port.hold(us(0), 0, TIMED);
        port.enqueue(us(0), 0, Instant::ZERO, LONG).expect("room");
        // Its last bit is out at 100 us, the gap lasts until 100.96 us.
        let start = us(100) + Duration::from_ns(960);
        let start = Instant::from_ps(start.as_ps() - Duration::from_us(80).as_ps());
        assert!(matches!(port.select(start), Selection::Transmit { .. }));
        assert_eq!(port.cut(us(100)), Cut::No);
    }

    /// Frames that wait for a point count in their class, and were taken for frames in its queue.
    #[test]
    fn an_evicted_frame_leaves_those_that_wait_for_a_point() {
        let mut port = port_of(Integration::TimelyBlock, EmptySlot::Kept, 2);
        port.hold(us(0), 0, TIMED);
        let [first, second] = [Frame(200, 7), Frame(300, 7)];
        port.enqueue(us(1), 0, Instant::ZERO, first).expect("room");
        assert!(port.enqueue(us(2), 0, Instant::ZERO, second).is_err());
        let mut lost = Vec::new();
        assert_eq!(port.enqueue_over(us(2), 0, Instant::ZERO, second, |frame| lost.push(frame)), Ok(()));
        assert_eq!((lost, port.frames(TIMED.class())), ([first].to_vec(), 2));
        // A queue of which all frames wait for a point gives up none of them.
        let mut full = port_of(Integration::TimelyBlock, EmptySlot::Kept, 1);
        full.hold(us(0), 0, TIMED);
        assert!(full.enqueue(us(1), 0, Instant::ZERO, first).is_err());
        let taken = full.enqueue_over(us(1), 0, Instant::ZERO, first, |_| panic!("none is lost"));
        assert_eq!(taken, Err(crate::port::Discard::QueueFull));
        assert_eq!(sends(&mut full, 100), Some(TIMED));
        assert!(full.is_empty());
    }

    #[test]
    fn the_last_message_of_a_period_wins_and_a_flush_takes_all() {
        let mut port = port(Integration::TimelyBlock, EmptySlot::Kept);
        port.hold(us(0), 0, Frame(200, 7));
        assert_eq!(port.hold(us(1), 0, TIMED), Held::Overwrote(Frame(200, 7)));
        assert_eq!(port.frames(TIMED.class()), 1);
        assert_eq!((port.waiting().count(), port.flush(us(2))), (1, [TIMED].to_vec()));
        assert!(port.is_empty());
        port.hold(us(3), 0, TIMED);
        assert_eq!((port.desynchronise(), port.is_empty()), ([TIMED].to_vec(), true));
        assert_eq!(port.hold(us(4), 0, TIMED), Held::Unsynchronised);
    }
}
