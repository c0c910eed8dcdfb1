//! The egress port: queues, shapers and transmission selection of eight classes, composed
//! (IEEE Std 802.1Q-2022, 8.6.6 to 8.6.8).
//!
//! In: frames, and polls for the next one. Out: a frame, the time to poll again, or nothing. Unless frames may be cut (`started.rs`), selection is
//! non-preemptive: the highest class that has an eligible frame, whatever waits below. Invariant: the answer of
//! [`EgressPort::select`] changes only by an enqueue, by the end of the frame it gave out, or at the instant in
//! [`Selection::Wait`], which may be early, never late. Not here: eligibility times (`ats.rs`), credit (`cbs.rs`), the
//! frame itself.

use alloc::boxed::Box;
use alloc::vec::Vec;

use tautwire_units::{BitRate, Bytes, Credit, Duration, Instant};

use crate::buffer::SharedBuffer;
use crate::class::Class;
use crate::harts::servers::Servers;
use crate::queue::Waiting;
use crate::{OctetTime, TrafficClass};

mod config;
mod gated;
mod integrated;
mod merged;
mod served;
mod started;
#[cfg(test)]
mod test_frame;

pub use config::{ClassConfig, PortConfig};
use gated::Gated;
use integrated::Integrated;
pub use started::Cut;

/// The properties of a frame that a port uses; the rest is the driver's.
pub trait QueuedFrame: Copy {
    /// Octets from destination to FCS.
    fn octets(self) -> u32;
    /// The traffic class.
    fn class(self) -> TrafficClass;
}

/// Octets on the wire that servers charge in addition to a frame: preamble and the least gap.
const SERVED_OVERHEAD: u32 = Bytes::MEDIA_OVERHEAD.get() as u32;

/// Why a port does not take a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discard {
    /// The class has as many frames or octets as it may.
    QueueFull,
    /// The shared buffer has no cells left for it.
    BufferFull,
}

/// The result of a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection<F> {
    /// Send this frame, or what is left of it if it was interrupted; the port is taken until [`EgressPort::busy_until`].
    Transmit {
        /// The frame.
        frame: F,
        /// How long it was at the head of its queue with the line free: held by the credit of its class, by its gate,
        /// by its server, or by slots of time-triggered traffic. Waiting for an eligibility time is known before, and
        /// not included.
        held: Duration,
    },
    /// Poll again then.
    Wait(Instant),
    /// Poll again after an enqueue.
    Idle,
}

/// Counters of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassCounters {
    /// Frames given out.
    pub sent: u64,
    /// Frames not taken.
    pub discarded: u64,
    /// Most frames that waited.
    pub frames_max: u32,
    /// Most octets that waited.
    pub octets_max: u64,
}

/// An egress port. `F` is a small handle of a frame.
#[derive(Clone, Debug)]
pub struct EgressPort<F> {
    octet_time: OctetTime,
    rate: BitRate,
    busy_until: Instant,
    /// Time with the line taken, the frame under way included; with `busy_until` it gives the time
    /// that the line was free.
    busy: Duration,
    credit_charged_overhead: u64,
    buffer: Option<Box<SharedBuffer>>,
    /// Octets given out.
    octets: u64,
    /// Bit *n*: class *n* has frames.
    occupied: u8,
    /// Bit *n*: class *n* has a credit-based shaper.
    shaped: u8,
    /// Bit *n*: the frames of class *n* are in lanes.
    in_lanes: u8,
    two_stage: bool,
    /// Time-triggered traffic (`port/integrated.rs`).
    integrated: Option<Box<Integrated<F>>>,
    classes: [Class<F>; 8],
    arbiter: Option<Box<Arbiter<F>>>,
}

/// Arbiters other than the classes themselves; one field for all, so that a port without any tests it once.
#[derive(Clone, Debug)]
enum Arbiter<F> {
    /// Frames wait here and the classes but count.
    Servers(Servers<F>),
    /// Gates (`port/gated.rs`), and what cuts frames behind them (`port/merged.rs`).
    Gates(Box<Gated<F>>),
}

impl<F: QueuedFrame> EgressPort<F> {
    /// An idle port.
    ///
    /// # Panics
    /// If the rate is zero, or an idleSlope is zero or above the rate, or if time-triggered traffic is combined with
    /// shapers or two stages, or gates or preemption with time-triggered traffic, two stages or servers.
    #[must_use]
    pub fn new(config: PortConfig) -> Self {
        let rate = config.rate;
        let shapes = config.two_stage || config.classes.iter().any(|class| class.idle_slope.is_some());
        assert!(config.dispatcher.is_none() || !shapes, "time-triggered traffic beside strict priority");
        let gated_alone = !config.two_stage && config.dispatcher.is_none() && config.servers.is_none();
        let is_gated = config.gates.is_some() || config.preemption.is_some();
        assert!(!is_gated || gated_alone, "gates and preemption beside queues of classes");
        let mask = |is_so: &dyn Fn(&ClassConfig) -> bool| {
            let bits =
                config.classes.iter().enumerate().map(|(number, class)| u8::from(is_so(class)) << number);
            bits.fold(0, |all, bit| all | bit)
        };
        Self {
            octet_time: OctetTime::new(rate, Duration::from_ps(1)).expect("a port has a rate"),
            rate,
            busy_until: Instant::ZERO,
            busy: Duration::ZERO,
            credit_charged_overhead: config.credit_charged_overhead.get(),
            octets: 0,
            occupied: 0,
            shaped: mask(&|class| class.idle_slope.is_some()),
            in_lanes: mask(&|class| config.two_stage || class.has_several_lanes()),
            two_stage: config.two_stage,
            buffer: config.buffer.map(Box::new),
            integrated: config.dispatcher.map(|config| Box::new(Integrated::new(config))),
            arbiter: {
                let servers = config.servers.map(|servers| Arbiter::Servers(Servers::new(servers)));
                let slopes = || config.classes.each_ref().map(|class| class.idle_slope);
                let gated = || Gated::new(config.gates, slopes(), config.preemption);
                let gates = is_gated.then(gated).map(|gated| Arbiter::Gates(Box::new(gated)));
                servers.or(gates).map(Box::new)
            },
            classes: config.classes.map(|class| Class::new(class, rate)),
        }
    }

    /// Takes a frame into the queue of its class. `lane` is its reception port or scheduler group,
    /// `eligible` its assigned eligibility time, any past time for a class without ATS.
    ///
    /// # Errors
    /// Why it is not taken; then nothing has changed but a counter.
    #[inline]
    pub fn enqueue(&mut self, now: Instant, lane: u16, eligible: Instant, frame: F) -> Result<(), Discard> {
        self.take(now, lane, eligible, frame, false)
    }

    /// As [`EgressPort::enqueue`], for a frame that was not taken because the queue is full: a class that discards the
    /// oldest gives frames from the head of its queue to `lost` until there is room. Each counts as discarded.
    ///
    /// # Errors
    /// Why it is not taken: the class discards the newest, the frame alone is above the limit, all waiting frames are
    /// committed, or the buffer is full.
    #[cold]
    pub fn enqueue_over(
        &mut self,
        now: Instant,
        lane: u16,
        eligible: Instant,
        frame: F,
        mut lost: impl FnMut(F),
    ) -> Result<(), Discard> {
        let (index, octets) = (frame.class().index(), frame.octets());
        self.settle_gates(now);
        let (idle, in_lanes) = (self.idle_time(now), self.in_lanes & (1 << index) != 0);
        let class = &mut self.classes[index];
        let has_servers = matches!(self.arbiter.as_deref(), Some(Arbiter::Servers(_)));
        if has_servers || !class.may_make_room(octets) {
            return Err(Discard::QueueFull);
        }
        let mut count = 0;
        while !class.has_room(octets) || in_lanes && !class.has_room_in_lane(lane) {
            let Some(oldest) = class.evict(lane, in_lanes, idle) else {
                self.occupied &= !(u8::from(class.frames() == 0) << index);
                return Err(Discard::QueueFull);
            };
            class.forget(oldest.frame.octets());
            if let Some(buffer) = &mut self.buffer {
                buffer.give(index, oldest.frame.octets());
            }
            // The first is counted as the frame that was not taken.
            if count > 0 {
                class.discard();
            }
            count += 1;
            lost(oldest.frame);
        }
        let waited = count > 0 || class.frames() > 0;
        let taken = self.take(now, lane, eligible, frame, waited);
        self.occupied &= !(u8::from(self.classes[index].frames() == 0) << index);
        taken
    }

    /// Takes a frame and gives it out at once, as [`EgressPort::enqueue`] and [`EgressPort::select`] do one after the other if
    /// the port is idle, no other frame waits, and nothing can hold this one. Whether it did; if not, nothing has changed.
    #[inline]
    pub fn pass(&mut self, now: Instant, eligible: Instant, frame: F) -> bool {
        let (index, octets) = (frame.class().index(), frame.octets());
        let is_special = self.integrated.is_some() || self.arbiter.is_some() || self.buffer.is_some();
        let is_held = (self.shaped | self.in_lanes) & (1 << index) != 0 || eligible > now;
        if self.occupied != 0 || now < self.busy_until || is_held || is_special {
            return false;
        }
        let class = &mut self.classes[index];
        if !class.has_room(octets) {
            return false;
        }
        class.count_through(octets);
        self.octets += u64::from(octets);
        self.take_line(now, octets);
        true
    }

    /// Takes a frame if there is room; `waited`: frames waited up to now, though none may be left.
    #[inline(always)]
    fn take(
        &mut self,
        now: Instant,
        lane: u16,
        eligible: Instant,
        frame: F,
        waited: bool,
    ) -> Result<(), Discard> {
        let index = frame.class().index();
        let octets = frame.octets();
        let bit = 1 << index;
        let idle = self.idle_time(now);
        let class = &mut self.classes[index];
        if !class.has_room(octets) || self.in_lanes & bit != 0 && !class.has_room_in_lane(lane) {
            class.discard();
            return Err(Discard::QueueFull);
        }
        if self.arbiter.is_some() && !self.arbiter_admits(now, lane, octets) {
            self.classes[index].discard();
            return Err(Discard::QueueFull);
        }
        let class = &mut self.classes[index];
        if let Some(buffer) = &mut self.buffer
            && !buffer.take(index, octets)
        {
            class.discard();
            return Err(Discard::BufferFull);
        }
        if self.shaped & bit != 0 {
            let (shaper, waiting) = class.shaper();
            shaper.settle(now, waiting | waited);
        }
        let waiting = Waiting { frame, eligible, idle_at_head: idle };
        if let Some(Arbiter::Servers(servers)) = self.arbiter.as_deref_mut() {
            servers.push(now, lane, waiting, octets + SERVED_OVERHEAD);
        } else if self.in_lanes & bit == 0 {
            class.push(waiting);
        } else {
            // Frames that became eligible before are committed before.
            if self.two_stage {
                class.commit(now, idle);
            }
            class.push_to_lane(lane, waiting);
            if self.two_stage {
                class.commit(now, idle);
            }
        }
        class.count_in(octets);
        self.occupied |= bit;
        Ok(())
    }

    /// The selection at `now`.
    #[inline(always)]
    pub fn select(&mut self, now: Instant) -> Selection<F> {
        if self.integrated.is_some() {
            return self.select_integrated(now);
        }
        if self.arbiter.is_some() {
            return self.select_of_arbiter(now);
        }
        if now < self.busy_until {
            return if self.occupied == 0 { Selection::Idle } else { Selection::Wait(self.busy_until) };
        }
        let mut wake = None;
        let mut left = self.occupied;
        while left != 0 {
            let index = if planted!(LowestClassFirst) {
                left.trailing_zeros() as usize
            } else {
                (7 - left.leading_zeros()) as usize
            };
            left &= !(1 << index);
            match self.eligible(index, now) {
                Ok(lane) => return self.transmit(index, lane, now, false),
                Err(at) => wake = Some(wake.map_or(at, |wake: Instant| wake.min(at))),
            }
        }
        wake.map_or(Selection::Idle, Selection::Wait)
    }

    /// Until when the line is taken by the frame that was last given out.
    #[must_use]
    pub const fn busy_until(&self) -> Instant {
        self.busy_until
    }

    /// Keeps the port from selecting before `until`, because of a stage after it that is slower than the line.
    pub fn hold_until(&mut self, until: Instant) {
        if until > self.busy_until {
            self.busy += until.since(self.busy_until);
            self.busy_until = until;
        }
    }

    /// Whether no frame waits.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.occupied == 0
    }

    /// How long the line is taken by `octets` (media overhead not added).
    #[inline]
    #[must_use]
    pub fn wire_time(&self, octets: u64) -> Duration {
        self.octet_time.duration_ceil(Bytes::new(octets))
    }

    /// The waiting frames, class by class.
    pub fn waiting(&self) -> impl Iterator<Item = F> {
        let timed = self.integrated.iter().flat_map(|timed| timed.waiting());
        let servers = self.arbiter.as_deref().and_then(|arbiter| match arbiter {
            Arbiter::Servers(servers) => Some(servers),
            Arbiter::Gates(_) => None,
        });
        let served = servers.into_iter().flat_map(|servers| servers.iter());
        let all = self.classes.iter().flat_map(Class::iter).chain(served);
        all.map(|waiting| waiting.frame).chain(timed)
    }

    /// Throws away all waiting frames and gives them back.
    pub fn flush(&mut self, now: Instant) -> Vec<F> {
        let flushed: Vec<F> = self.waiting().collect();
        self.settle_gates(now);
        self.lose_under_way(now);
        if let Some(integrated) = &mut self.integrated {
            integrated.clear();
        }
        for (index, class) in self.classes.iter_mut().enumerate() {
            if self.shaped & (1 << index) != 0 {
                let (shaper, waiting) = class.shaper();
                shaper.settle(now, waiting);
            }
            if let Some(buffer) = &mut self.buffer {
                for waiting in class.iter() {
                    buffer.give(index, waiting.frame.octets());
                }
            }
            class.clear();
        }
        if let Some(Arbiter::Servers(servers)) = self.arbiter.as_deref_mut() {
            for frame in servers.iter().map(|waiting| waiting.frame) {
                if let Some(buffer) = &mut self.buffer {
                    buffer.give(frame.class().index(), frame.octets());
                }
            }
            servers.clear();
        }
        self.occupied = 0;
        flushed
    }

    /// Changes idleSlope of a class that has a credit-based shaper.
    ///
    /// # Panics
    /// If the class has none, or idleSlope is zero or above the rate.
    pub fn set_idle_slope(&mut self, now: Instant, class: TrafficClass, idle_slope: BitRate) {
        self.settle_gates(now);
        let idle_slope = self.gated_slope(class, idle_slope);
        let (shaper, waiting) = self.classes[class.index()].shaper();
        shaper.set_idle_slope(now, waiting, idle_slope);
    }

    /// Sets the slope that the reservations of a credit-based class need together to `target`, never above `ceiling`
    /// ([`CreditBasedShaper::reserve_idle_slope`](crate::cbs::CreditBasedShaper::reserve_idle_slope)).
    ///
    /// # Panics
    /// If the class has no such shaper, or the ceiling is zero or above the rate.
    pub fn reserve_idle_slope(
        &mut self,
        now: Instant,
        class: TrafficClass,
        target: BitRate,
        ceiling: BitRate,
    ) {
        let (shaper, waiting) = self.classes[class.index()].shaper();
        shaper.reserve_idle_slope(now, waiting, target, ceiling);
    }

    /// idleSlope of a credit-based class, as its shaper was last looked at.
    ///
    /// # Panics
    /// If the class has no such shaper.
    pub fn idle_slope(&mut self, class: TrafficClass) -> BitRate {
        self.classes[class.index()].shaper().0.idle_slope()
    }

    /// Frames of a class that wait.
    #[inline]
    #[must_use]
    pub const fn frames(&self, class: TrafficClass) -> u32 {
        self.classes[class.index()].frames()
    }

    /// Counters of a class.
    #[must_use]
    pub fn counters(&self, class: TrafficClass) -> ClassCounters {
        self.classes[class.index()].counters()
    }

    /// Greatest and least credit of a class's shaper, if it has one.
    #[must_use]
    pub fn credit_range(&self, class: TrafficClass) -> Option<(Credit, Credit)> {
        self.classes[class.index()].credit_range()
    }

    /// Octets given out so far, destination to FCS.
    #[must_use]
    pub const fn octets(&self) -> u64 {
        self.octets
    }

    /// Time for which the line is occupied so far, including the complete frame in transmission.
    #[must_use]
    pub const fn busy(&self) -> Duration {
        self.busy
    }

    /// Bits of the wire per second.
    #[must_use]
    pub const fn rate(&self) -> BitRate {
        self.rate
    }

    /// Time that the line was free until `now`, or until the frame under way ends.
    #[inline]
    fn idle_time(&self, now: Instant) -> u64 {
        now.max(self.busy_until).as_ps() - self.busy.as_ps()
    }

    /// The lane of a class that may send at `now`, or when one may at the earliest.
    #[inline]
    fn eligible(&mut self, index: usize, now: Instant) -> Result<usize, Instant> {
        let bit = 1 << index;
        let mut lane = 0;
        let class = &self.classes[index];
        if self.in_lanes & bit == 0 {
            let eligible = class.head_eligible();
            if eligible > now {
                return Err(eligible);
            }
        } else {
            lane = self.eligible_lane(index, now)?;
        }
        if self.shaped & bit != 0 {
            let (shaper, _) = self.classes[index].shaper();
            shaper.settle(now, true);
            let at = shaper.eligible_at(now);
            if at > now {
                return Err(at);
            }
        }
        Ok(lane)
    }

    fn eligible_lane(&mut self, index: usize, now: Instant) -> Result<usize, Instant> {
        let idle = self.idle_time(now);
        let class = &mut self.classes[index];
        if self.two_stage {
            class.commit(now, idle);
        }
        class.choose_lane(now)
    }

    /// Whether the arbiter lets a frame in.
    #[cold]
    fn arbiter_admits(&mut self, now: Instant, lane: u16, octets: u32) -> bool {
        match self.arbiter.as_deref() {
            Some(Arbiter::Servers(servers)) => servers.has_room(lane, octets + SERVED_OVERHEAD),
            Some(Arbiter::Gates(_)) => {
                self.settle_gates(now);
                true
            }
            None => true,
        }
    }

    /// The selection of the arbiter at `now`.
    #[cold]
    fn select_of_arbiter(&mut self, now: Instant) -> Selection<F> {
        if now < self.busy_until {
            let waits = self.occupied != 0 || self.has_more();
            return if waits { Selection::Wait(self.busy_until) } else { Selection::Idle };
        }
        match self.arbiter.as_deref() {
            Some(Arbiter::Gates(_)) => self.select_gated(now),
            _ => self.select_of_servers(now),
        }
    }

    /// Sends the first frame of a lane; `gated`: something may have kept a frame of any class from the free line.
    #[inline]
    fn transmit(&mut self, index: usize, lane: usize, now: Instant, gated: bool) -> Selection<F> {
        let bit = 1 << index;
        let idle = self.idle_time(now);
        let class = &mut self.classes[index];
        let taken = if self.in_lanes & bit == 0 { class.pop(idle) } else { class.pop_from_lane(lane, idle) };
        let octets = taken.frame.octets();
        class.count_out(octets);
        self.octets += u64::from(octets);
        if class.frames() == 0 {
            self.occupied &= !bit;
        }
        if self.two_stage {
            class.commit(now, idle);
        }
        if let Some(buffer) = &mut self.buffer {
            buffer.give(index, octets);
        }
        self.take_line(now, octets);
        // With the line free a frame waits for its own credit alone; what ATS holds is not offered before its time.
        let at_head = || Duration::from_ps(idle.saturating_sub(taken.idle_at_head));
        let mut held = if gated { at_head() } else { Duration::ZERO };
        if self.shaped & bit != 0 {
            held = at_head();
            let mut charged = u64::from(octets) + self.credit_charged_overhead;
            if planted!(FrameChargedTwice) {
                charged *= 2;
            }
            let (shaper, _) = self.classes[index].shaper();
            let charge_end = now + self.octet_time.duration_ceil(Bytes::new(charged));
            shaper.transmit(now, self.busy_until, charge_end);
        }
        Selection::Transmit { frame: taken.frame, held }
    }

    /// The line is taken by a frame from `now` on.
    #[inline]
    fn take_line(&mut self, now: Instant, octets: u32) {
        let mut wire = self.octet_time.duration_ceil(Bytes::new(u64::from(octets)) + Bytes::MEDIA_OVERHEAD);
        if planted!(LineTakenTwice) {
            wire = wire * 2;
        }
        self.busy_until = now + wire;
        self.busy += wire;
    }
}

#[cfg(test)]
#[path = "port_tests.rs"]
mod tests;
