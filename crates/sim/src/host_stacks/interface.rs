//! An interface of a host in a run: received frames that wait to be brought into memory, and when software is notified of them.
//!
//! Not here: software that looks at them (`way.rs`), drivers and their time (`host.rs`).

use std::collections::VecDeque;

use tautwire_model::network::{self as model, Moderation, Pace, ReceptionOrder};
use tautwire_units::{Duration, Instant};

use super::Taken;
use crate::clock::{LocalClock, SimTime};
use crate::random::Random;

/// One interface.
pub(super) struct Interface {
    pub(super) model: model::HostInterface,
    pub(super) sent_at: SimTime,
    /// Received frames that wait, per class; the first queue for all where it knows no classes.
    pub(super) queues: [VecDeque<Taken>; 8],
    /// The frame that is being transferred.
    pub(super) coming: Option<Taken>,
    /// In memory, untold.
    pub(super) untold: Vec<Taken>,
    pub(super) armed: bool,
    pub(super) interrupted: Option<SimTime>,
    /// Software looks at frames from the first time on, until the second.
    pub(super) looking: (SimTime, SimTime),
    /// Octets since the last interrupt.
    pub(super) octets_since_interrupt: u64,
    pub(super) bulk: bool,
    pub(super) phase: Duration,
}

impl Interface {
    /// An idle one; `random` gives software that polls its phase.
    pub(super) fn new(model: &model::HostInterface, random: &mut Random) -> Self {
        Self {
            model: model.clone(),
            sent_at: SimTime::ZERO,
            queues: Default::default(),
            coming: None,
            untold: Vec::new(),
            armed: false,
            interrupted: None,
            looking: (SimTime::ZERO, SimTime::ZERO),
            octets_since_interrupt: 0,
            bulk: false,
            phase: match model.moderation {
                Moderation::Polled { interval } => random.span_up_to(interval),
                _ => Duration::ZERO,
            },
        }
    }

    /// Takes a frame that its port received, if there is room.
    pub(super) fn accept(&mut self, taken: Taken) -> bool {
        let queue = match self.model.reception_order {
            ReceptionOrder::Fifo => 0,
            ReceptionOrder::Classes => usize::from(taken.class),
        };
        let queue = &mut self.queues[queue];
        let ring = self.model.receive_ring as usize;
        if queue.len() >= ring {
            let before: u64 = queue.range(ring..).map(|frame| u64::from(frame.octets)).sum();
            if before + u64::from(taken.octets) > self.model.receive_fifo.get() {
                return false;
            }
        }
        queue.push_back(taken);
        true
    }

    /// The frame to be brought in next.
    pub(super) fn next(&mut self) -> Option<Taken> {
        self.queues.iter_mut().rev().find_map(VecDeque::pop_front)
    }

    /// When software is to be notified of a frame that is in memory since `now`.
    pub(super) fn interrupt_at(&self, now: SimTime, clock: &LocalClock, random: &mut Random) -> SimTime {
        let interval = |pace: Pace| match pace.bulk {
            Some(bulk) if self.bulk => bulk.interval,
            _ => pace.interval,
        };
        match self.model.moderation {
            Moderation::None => now,
            Moderation::Delayed(pace) => now + interval(pace),
            Moderation::Throttled(pace) => {
                self.interrupted.map_or(now, |last| now.max(last + interval(pace)))
            }
            Moderation::Drawn { interval } => now + random.span_up_to(interval),
            Moderation::Polled { interval } => {
                let local = clock.local(now).as_ps();
                let step = interval.as_ps();
                let phase = self.phase.as_ps() % step;
                let over = (local + step - phase) % step;
                let wait = if over == 0 { 0 } else { step - over };
                clock.true_at(Instant::from_ps(local + wait)).max(now)
            }
        }
    }

    /// Adapts the pace to the number of frames of the last interrupt.
    pub(super) fn adapt(&mut self) {
        let (Moderation::Delayed(Pace { bulk: Some(bulk), .. })
        | Moderation::Throttled(Pace { bulk: Some(bulk), .. })) = self.model.moderation
        else {
            return;
        };
        if self.octets_since_interrupt > bulk.above.get() {
            self.bulk = true;
        } else if self.octets_since_interrupt < bulk.below.get() {
            self.bulk = false;
        }
    }
}
