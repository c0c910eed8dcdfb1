//! The egress port: queues, shapers and transmission selection of eight classes, composed
//! (IEEE Std 802.1Q-2022, 8.6.6 to 8.6.8).
//!
//! In: frames, and the question what to send. Out: a frame, the time to ask again, or nothing.
//! Selection is non-preemptive: the highest class that has an eligible frame, whatever waits below.
//! Invariant: the answer of [`EgressPort::select`] changes only by an enqueue, by the end of the
//! frame it gave out, or at the instant in [`Selection::Wait`], which may be early, never late.
//! Not here: eligibility times (`ats.rs`), credit (`cbs.rs`), the frame itself.

use alloc::boxed::Box;
use alloc::vec::Vec;

use tautwire_units::{BitRate, Bytes, Credit, Duration, Instant};

use crate::buffer::{QueueLimit, SharedBuffer};
use crate::cbs::CreditBasedShaper;
use crate::queue::{LaneOrder, Lanes, Waiting};
use crate::{OctetTime, TrafficClass};

/// What a port knows of a frame; the rest is the driver's.
pub trait QueuedFrame: Copy {
    /// Octets from destination to FCS.
    fn octets(self) -> u32;
    /// The traffic class.
    fn class(self) -> TrafficClass;
}

/// How a class is built.
#[derive(Clone, Debug)]
pub struct ClassConfig {
    /// Its shaper; none: strict priority, or ATS, whose frames bring their eligibility times.
    pub idle_slope: Option<BitRate>,
    /// Order between frames of several lanes.
    pub order: LaneOrder,
    /// Lanes (reception ports, or scheduler groups).
    pub lanes: usize,
    /// Limits.
    pub limit: QueueLimit,
}

impl Default for ClassConfig {
    fn default() -> Self {
        Self { idle_slope: None, order: LaneOrder::Arrival, lanes: 1, limit: QueueLimit::NONE }
    }
}

/// How a port is built.
#[derive(Clone, Debug)]
pub struct PortConfig {
    /// Bits of the wire per second.
    pub rate: BitRate,
    /// The classes 0 to 7.
    pub classes: [ClassConfig; 8],
    /// Buffer shared by the classes.
    pub buffer: Option<SharedBuffer>,
    /// Whether a class commits one frame before the classes compete.
    pub two_stage: bool,
    /// Octets beside the frame that credit-based shapers charge.
    pub credit_charged_overhead: Bytes,
}

/// Why a port does not take a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discard {
    /// The class has as many frames or octets as it may.
    QueueFull,
    /// The shared buffer has no cells left for it.
    BufferFull,
}

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection<F> {
    /// Send this frame; the port is taken until [`EgressPort::busy_until`].
    Transmit {
        /// The frame.
        frame: F,
        /// How long it stood at the head of its queue with the line free: held by its own shaper.
        held: Duration,
    },
    /// Ask again then.
    Wait(Instant),
    /// Ask again after an enqueue.
    Idle,
}

/// What a class has counted.
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

/// One class. What every frame touches stands first, in one cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Class<F> {
    lanes: Lanes<F>,
    shaper: Option<Box<CreditBasedShaper>>,
    frames: u32,
    limit_frames: u32,
    octets: u64,
    limit_octets: u64,
    counters: ClassCounters,
    /// The frame that the class has committed to send next, if the port has two stages.
    committed: Option<Waiting<F>>,
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
    /// Bit *n*: class *n* has frames.
    occupied: u8,
    two_stage: bool,
    credit_charged_overhead: u64,
    buffer: Option<SharedBuffer>,
    classes: [Class<F>; 8],
}

impl<F: QueuedFrame> EgressPort<F> {
    /// An idle port.
    ///
    /// # Panics
    /// If the rate is zero, or an idleSlope is zero or above the rate.
    #[must_use]
    pub fn new(config: PortConfig) -> Self {
        let rate = config.rate;
        Self {
            octet_time: OctetTime::new(rate, Duration::from_ps(1)).expect("a port has a rate"),
            rate,
            busy_until: Instant::ZERO,
            busy: Duration::ZERO,
            occupied: 0,
            two_stage: config.two_stage,
            credit_charged_overhead: config.credit_charged_overhead.get(),
            buffer: config.buffer,
            classes: config.classes.map(|class| Class {
                lanes: Lanes::new(class.order, class.lanes),
                shaper: class.idle_slope.map(|slope| Box::new(CreditBasedShaper::new(slope, rate))),
                frames: 0,
                limit_frames: class.limit.frames,
                octets: 0,
                limit_octets: class.limit.octets,
                counters: ClassCounters::default(),
                committed: None,
            }),
        }
    }

    /// Takes a frame into the queue of its class. `lane` is its reception port or scheduler group,
    /// `eligible` its assigned eligibility time, any past time for a class without ATS.
    ///
    /// # Errors
    /// Why it is not taken; then nothing has changed but a counter.
    #[inline]
    pub fn enqueue(&mut self, now: Instant, lane: u16, eligible: Instant, frame: F) -> Result<(), Discard> {
        let index = frame.class().index();
        let octets = frame.octets();
        let idle = self.idle_time(now);
        let class = &mut self.classes[index];
        if class.frames >= class.limit_frames || class.octets + u64::from(octets) > class.limit_octets {
            class.counters.discarded += 1;
            return Err(Discard::QueueFull);
        }
        if let Some(buffer) = &mut self.buffer
            && !buffer.take(index, octets)
        {
            class.counters.discarded += 1;
            return Err(Discard::BufferFull);
        }
        if let Some(shaper) = &mut class.shaper {
            shaper.settle(now, class.frames > 0);
        }
        if self.two_stage {
            class.commit(now, idle);
        }
        class.lanes.push(lane, frame, eligible, idle);
        class.frames += 1;
        class.octets += u64::from(octets);
        class.counters.frames_max = class.counters.frames_max.max(class.frames);
        class.counters.octets_max = class.counters.octets_max.max(class.octets);
        self.occupied |= 1 << index;
        if self.two_stage {
            class.commit(now, idle);
        }
        Ok(())
    }

    /// What to do at `now`.
    #[inline]
    pub fn select(&mut self, now: Instant) -> Selection<F> {
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
                Ok(lane) => return self.transmit(index, lane, now),
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

    /// Keeps the port from selecting before `until`, for a stage behind it that is slower than the line.
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
        self.classes
            .iter()
            .flat_map(|class| class.committed.iter().chain(class.lanes.iter()))
            .map(|waiting| waiting.frame)
    }

    /// Throws away all waiting frames and gives them back.
    pub fn flush(&mut self, now: Instant) -> Vec<F> {
        let flushed: Vec<F> = self.waiting().collect();
        for (index, class) in self.classes.iter_mut().enumerate() {
            if let Some(shaper) = &mut class.shaper {
                shaper.settle(now, class.frames > 0);
            }
            if let Some(buffer) = &mut self.buffer {
                for waiting in class.committed.iter().chain(class.lanes.iter()) {
                    buffer.give(index, waiting.frame.octets());
                }
            }
            class.lanes.clear();
            class.committed = None;
            class.frames = 0;
            class.octets = 0;
        }
        self.occupied = 0;
        flushed
    }

    /// Changes idleSlope of a class that has a credit-based shaper.
    ///
    /// # Panics
    /// If the class has none, or idleSlope is zero or above the rate.
    pub fn set_idle_slope(&mut self, now: Instant, class: TrafficClass, idle_slope: BitRate) {
        let class = &mut self.classes[class.index()];
        let waiting = class.frames > 0;
        class.shaper.as_mut().expect("a credit-based class").set_idle_slope(now, waiting, idle_slope);
    }

    /// What a class has counted.
    #[must_use]
    pub const fn counters(&self, class: TrafficClass) -> ClassCounters {
        self.classes[class.index()].counters
    }

    /// Greatest and least credit of a class's shaper, if it has one.
    #[must_use]
    pub fn credit_range(&self, class: TrafficClass) -> Option<(Credit, Credit)> {
        let shaper = self.classes[class.index()].shaper.as_deref()?;
        Some((shaper.hi_credit(), shaper.lo_credit()))
    }

    /// Time with the line taken so far, the frame under way whole.
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
        let idle = self.idle_time(now);
        let two_stage = self.two_stage;
        let class = &mut self.classes[index];
        if two_stage {
            class.commit(now, idle);
        }
        let lane = if class.committed.is_some() {
            0
        } else {
            class.lanes.choose(now).expect("an occupied class has a head")?
        };
        let Some(shaper) = &mut class.shaper else { return Ok(lane) };
        shaper.settle(now, true);
        let at = shaper.eligible_at(now);
        if at <= now { Ok(lane) } else { Err(at) }
    }

    #[inline]
    fn transmit(&mut self, index: usize, lane: usize, now: Instant) -> Selection<F> {
        let idle = self.idle_time(now);
        let class = &mut self.classes[index];
        let taken = match class.committed.take() {
            Some(committed) => committed,
            None => class.lanes.pop(lane, idle),
        };
        let octets = taken.frame.octets();
        class.frames -= 1;
        class.octets -= u64::from(octets);
        class.counters.sent += 1;
        if class.frames == 0 {
            self.occupied &= !(1 << index);
        }
        if self.two_stage {
            class.commit(now, idle);
        }
        if let Some(shaper) = &mut class.shaper {
            let mut charged = u64::from(octets) + self.credit_charged_overhead;
            if planted!(FrameChargedTwice) {
                charged *= 2;
            }
            shaper.transmit(now, now + self.octet_time.duration_ceil(Bytes::new(charged)));
        }
        if let Some(buffer) = &mut self.buffer {
            buffer.give(index, octets);
        }
        let mut wire = self.octet_time.duration_ceil(Bytes::new(u64::from(octets)) + Bytes::MEDIA_OVERHEAD);
        if planted!(LineTakenTwice) {
            wire = wire * 2;
        }
        self.busy_until = now + wire;
        self.busy += wire;
        Selection::Transmit {
            frame: taken.frame,
            held: Duration::from_ps(idle.saturating_sub(taken.idle_at_head)),
        }
    }
}

impl<F: QueuedFrame> Class<F> {
    /// First stage: moves the first frame that became eligible to the class's output.
    #[inline]
    fn commit(&mut self, now: Instant, idle: u64) {
        if self.committed.is_none()
            && let Some(Ok(lane)) = self.lanes.choose(now)
        {
            self.committed = Some(self.lanes.pop(lane, idle));
        }
    }
}

#[cfg(test)]
#[path = "port_tests.rs"]
mod tests;
