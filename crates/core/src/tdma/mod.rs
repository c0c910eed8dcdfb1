//! Time division multiple access as in RTnet: master, standby master and slaves, and when each sends what.
//!
//! In: received synchronisation frames, frames of the applications, the node's own clock. Out: when to act next, and
//! then what to send: the synchronisation frame that opens a cycle, or the frame of a slot. The active master opens
//! every basic cycle. A station computes its slots from the last cycle of which it received the opening, by its own
//! clock, corrected by the synchronisation frame: the cycle began at the frame's arrival, less its travel time, less
//! its delay in the sender. A station that did not receive the opening of a cycle is silent in it. The standby
//! monitors: if a cycle is not opened before the standby's offset in it, it opens that cycle itself, with the start of
//! the cycle by its own clock, and all further ones. Invariants: at most one frame a slot and cycle, even if the cycle
//! is opened several times; a frame handed over after the start of a slot waits for another one, and is discarded if
//! no slot takes it in its lifetime: such a frame is lost and not late; where a slot carries both, real-time frames go
//! before ordinary ones, and messages of the start-up after all, so that a station that comes back delays no other.
//!
//! A station that is to measure the travel time of frames sends a request to the master in its first slot, and lends
//! it a slot of a later cycle for the reply; the stamps of both frames give the time (calibration). The measurement is
//! repeated, and the mean is kept.
//!
//! Not here: the frames on the wire and the tunnel of ordinary frames (`tautwire-wire`, `tdma/`), fragments (`fragment.rs`).

pub mod start_up;

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use tautwire_units::{Duration, Instant};

#[cfg(feature = "planted-faults")]
use crate::fault::{PlantedFault, is_planted};

/// Places for waiting frames that a station has from the beginning, if its limit is no lower: it may be as high as any number.
const PLACES: usize = 1_024;

/// The allowed use of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Carries {
    /// Real-time frames alone.
    RealTime,
    /// Ordinary frames alone, tunnelled.
    Ordinary,
    /// Ordinary frames where no real-time frame waits.
    Both,
}

/// The kind of a frame at its station.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TdmaTraffic {
    /// Of a real-time stream.
    RealTime,
    /// Of an ordinary one, tunnelled.
    Ordinary,
    /// Of the start-up (RTcfg): in slots that carry real-time frames, where nothing else waits for them.
    Management,
}

/// A slot of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TdmaSlot {
    /// From the start of the cycle.
    pub offset: Duration,
    /// Used in every so many cycles; at least one.
    pub period: u32,
    /// In those whose number leaves this remainder by the period.
    pub phase: u32,
    /// What it carries.
    pub carries: Carries,
}

/// The part of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TdmaRole {
    /// Opens the cycles from the start.
    Master,
    /// Opens them when the master does not.
    Standby {
        /// How long after the start of a cycle it gives the master up.
        offset: Duration,
    },
    /// Opens none.
    Slave,
}

/// The contents of a synchronisation frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Synchronisation {
    /// Number of the cycle.
    pub cycle: u32,
    /// When the frame left, by the sender's clock.
    pub transmitted: Instant,
    /// When the cycle began, by the sender's clock; not after `transmitted`.
    pub scheduled: Instant,
}

/// The action of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TdmaAction<F> {
    /// Sends the synchronisation frame.
    Synchronise(Synchronisation),
    /// Sends a frame in its slot.
    Transmit(F),
    /// Leaves a slot empty, because there is no frame.
    Pass,
    /// Gives a frame up that no slot has taken in its lifetime; the slot is still to be used.
    Expire(F),
    /// Measures the travel time of frames by a request to the master, in a slot of its own.
    Calibrate(CalibrationRequest),
    /// The master answers such a question, in the slot that it was lent.
    Reply(CalibrationReply),
}

/// A station's request to measure the travel time of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalibrationRequest {
    /// When the request leaves, by the station's clock.
    pub transmitted: Instant,
    /// The cycle in which the master is to reply.
    pub reply_cycle: u32,
    /// And when in it.
    pub reply_offset: Duration,
}

/// The reply of the master.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalibrationReply {
    /// The station that sent the request.
    pub to: u32,
    /// When the request left, by the station's clock.
    pub requested: Instant,
    /// When it came, by the master's.
    pub received: Instant,
    /// When the reply leaves, by the master's.
    pub transmitted: Instant,
}

/// A reply that the master owes.
#[derive(Clone, Copy, Debug)]
struct Owed {
    cycle: u32,
    offset: Duration,
    reply: CalibrationReply,
}

/// Measurements of the travel time.
#[derive(Clone, Copy, Debug)]
struct Calibration {
    /// Still to be made, and those that were made with the sum of their times in picoseconds.
    left: u32,
    made: u32,
    sum: u64,
    /// When the last request left, and the cycle and offset that were lent for its reply.
    asked: Option<(Instant, u32, Duration)>,
}

/// A station's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TdmaConfig {
    /// Length of the basic cycle.
    pub cycle: Duration,
    /// Its part.
    pub role: TdmaRole,
    /// Its slots, by offset, all below the length of the cycle.
    pub slots: Vec<TdmaSlot>,
    /// How long a synchronisation frame travels to it, as calibration found.
    pub travel: Duration,
    /// Most frames that wait, of each kind.
    pub limit: usize,
    /// How long a frame waits for a slot before it is lost; without end.
    pub lifetime: Option<Duration>,
}

/// One station.
#[derive(Clone, Debug)]
pub struct TdmaStation<F> {
    config: TdmaConfig,
    /// Whether it opens the cycles.
    active: bool,
    /// The current cycle; none before a slave receives the first one.
    cycle: Option<Cycle>,
    /// The first slot of this cycle that did not come yet.
    next: usize,
    /// The slot that was taken last: number of the cycle, and its place.
    taken: Option<(u32, usize)>,
    /// A fault: the slot is being used a second time.
    #[cfg(feature = "planted-faults")]
    again: bool,
    real_time: VecDeque<(Instant, F)>,
    ordinary: VecDeque<(Instant, F)>,
    management: VecDeque<(Instant, F)>,
    /// Of a station that measures the travel time of frames.
    calibration: Option<Calibration>,
    /// Of a master: in no order.
    owed: Vec<Owed>,
}

/// A cycle by a station's own clock.
#[derive(Clone, Copy, Debug)]
struct Cycle {
    number: u32,
    start: Instant,
    /// Start of the one behind it.
    end: Instant,
}

impl<F: Copy> TdmaStation<F> {
    /// A station whose clock reads `now`; a master opens its first cycle then.
    ///
    /// # Panics
    /// If slots are not in order or not within the cycle, or a period is zero.
    #[must_use]
    pub fn new(config: TdmaConfig, now: Instant) -> Self {
        assert!(config.slots.is_sorted_by_key(|slot| slot.offset), "slots in order");
        assert!(config.slots.iter().all(|slot| slot.offset < config.cycle), "slots within the cycle");
        assert!(config.slots.iter().all(|slot| slot.period > slot.phase), "a phase of the period");
        let active = config.role == TdmaRole::Master;
        let places = config.limit.min(PLACES);
        // A master's first cycle, of number zero, follows one of no length.
        let before = Cycle { number: u32::MAX, start: now, end: now };
        Self {
            next: config.slots.len(),
            taken: None,
            #[cfg(feature = "planted-faults")]
            again: false,
            cycle: active.then_some(before),
            config,
            active,
            real_time: VecDeque::with_capacity(places),
            ordinary: VecDeque::with_capacity(places),
            management: VecDeque::with_capacity(places),
            calibration: None,
            owed: Vec::new(),
        }
    }

    /// Begins to find out how long frames travel, with so many measurements; none end at once.
    pub fn calibrate(&mut self, rounds: u32) {
        self.calibration = (rounds > 0).then_some(Calibration { left: rounds, made: 0, sum: 0, asked: None });
    }

    /// The request that it made last left so much later than it was made.
    pub fn asked_late(&mut self, late: Duration) {
        if let Some((asked, ..)) =
            self.calibration.as_mut().and_then(|calibration| calibration.asked.as_mut())
        {
            *asked += late;
        }
    }

    /// Whether it still measures the travel time of frames.
    #[must_use]
    pub const fn is_calibrating(&self) -> bool {
        self.calibration.is_some()
    }

    /// How long a synchronisation frame travels to it, by its settings or as calibration found.
    #[must_use]
    pub const fn travel(&self) -> Duration {
        self.config.travel
    }

    /// The master has received a request of station `from` at `now`, and must reply, even if a standby opens the
    /// cycles meanwhile. If the cycle has begun the reply's slot already, it would be in no cycle, or the station is not the
    /// master, no reply is due.
    pub fn asked(&mut self, now: Instant, from: u32, request: CalibrationRequest) {
        let answers = self.active || self.config.role == TdmaRole::Master && self.cycle.is_some();
        if answers && self.owed.len() < self.config.limit && request.reply_offset < self.config.cycle {
            let (cycle, offset) = (request.reply_cycle, request.reply_offset);
            let reply = CalibrationReply {
                to: from,
                requested: request.transmitted,
                received: now,
                transmitted: now,
            };
            self.owed.push(Owed { cycle, offset, reply });
        }
    }

    /// The master's reply has arrived at `now`.
    pub fn hear_reply(&mut self, now: Instant, reply: CalibrationReply) {
        let Some(calibration) = &mut self.calibration else { return };
        if calibration.asked.is_none_or(|(asked, ..)| asked != reply.requested) {
            return;
        }
        calibration.asked = None;
        let travelled = travel_time(reply.requested, reply.received, reply.transmitted, now);
        calibration.sum = calibration.sum.saturating_add(travelled.as_ps());
        calibration.made += 1;
        calibration.left -= 1;
        if calibration.left == 0 {
            // Rounded down, as a single measurement is.
            let mean = calibration.sum.checked_div(u64::from(calibration.made)).unwrap_or(0);
            self.config.travel = Duration::from_ps(mean);
            self.calibration = None;
        }
    }

    /// Takes a frame that may be sent from `ready` on; times of one kind never decrease.
    ///
    /// # Errors
    /// The frame itself, if as many as the limit wait already.
    pub fn enqueue(&mut self, ready: Instant, frame: F, traffic: TdmaTraffic) -> Result<(), F> {
        let queue = match traffic {
            TdmaTraffic::RealTime => &mut self.real_time,
            TdmaTraffic::Ordinary => &mut self.ordinary,
            TdmaTraffic::Management => &mut self.management,
        };
        if queue.len() >= self.config.limit {
            return Err(frame);
        }
        queue.push_back((ready, frame));
        Ok(())
    }

    /// A synchronisation frame has arrived at `now`. A standby that has taken over becomes passive again.
    pub fn hear(&mut self, now: Instant, heard: Synchronisation) {
        if self.active && self.config.role == TdmaRole::Master {
            return;
        }
        self.active = false;
        let late = Duration::from_ps(heard.transmitted.as_ps().saturating_sub(heard.scheduled.as_ps()));
        #[cfg_attr(not(feature = "planted-faults"), expect(unused_mut, reason = "changed by planted faults"))]
        let mut ago = self.config.travel.as_ps().saturating_add(late.as_ps());
        #[cfg(feature = "planted-faults")]
        if is_planted(PlantedFault::TravelForgotten) {
            ago = late.as_ps();
        }
        #[cfg_attr(not(feature = "planted-faults"), expect(unused_mut, reason = "changed by planted faults"))]
        let mut start = Instant::from_ps(now.as_ps().saturating_sub(ago));
        #[cfg(feature = "planted-faults")]
        if let Some(before) = self.cycle
            && is_planted(PlantedFault::CorrectionForgotten)
        {
            start = before.end;
        }
        self.begin(heard.cycle, start, now);
    }

    /// When the station acts next; none if it waits for a synchronisation frame, and none of its frames can get too old.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let own = self.next_slot().or_else(|| self.next_cycle());
        own.into_iter().chain(self.next_reply().map(|(_, due)| due)).chain(self.next_expiry()).min()
    }

    /// Does what is due at `now`; none if nothing is.
    pub fn act(&mut self, now: Instant) -> Option<TdmaAction<F>> {
        let due = self.deadline()?;
        if now < due {
            return None;
        }
        if let Some((place, at)) = self.next_reply()
            && at == due
        {
            let owed = self.owed.swap_remove(place);
            return Some(TdmaAction::Reply(CalibrationReply { transmitted: now, ..owed.reply }));
        }
        if let Some(frame) = self.expire(now) {
            return Some(TdmaAction::Expire(frame));
        }
        if self.next_slot().is_some() {
            return Some(self.take_slot(now));
        }
        let before = self.cycle.expect("a station with a deadline knows the cycle");
        let (number, start) = (before.number.wrapping_add(1), before.end);
        self.active = true;
        self.begin(number, start, now);
        Some(TdmaAction::Synchronise(Synchronisation { cycle: number, transmitted: now, scheduled: start }))
    }

    /// A master that comes back at `now`, when no standby acts for it, opens cycles anew from number zero, when all
    /// slots of the last cycle that it opened have passed: two cycles from now.
    pub fn reopen(&mut self, now: Instant) {
        let end = now + self.config.cycle + self.config.cycle;
        self.active = true;
        self.cycle = Some(Cycle { number: u32::MAX, start: now, end });
    }

    /// The station has failed: it forgets its frames, which are returned, and the cycle. A master that comes back
    /// waits for a synchronisation frame like a slave, unless it [reopens](Self::reopen).
    pub fn reset(&mut self) -> impl Iterator<Item = F> + '_ {
        self.active = false;
        self.cycle = None;
        self.taken = None;
        self.owed.clear();
        self.calibration = None;
        self.next = self.config.slots.len();
        let waiting = self.real_time.drain(..).chain(self.ordinary.drain(..));
        waiting.chain(self.management.drain(..)).map(|(_, frame)| frame)
    }

    /// The slot that was acted in last: number of the cycle, and its place among the station's slots.
    #[must_use]
    pub fn slot_taken(&self) -> (u32, usize) {
        self.taken.unwrap_or_default()
    }

    /// All frames that wait.
    pub fn waiting(&self) -> impl Iterator<Item = F> + '_ {
        self.real_time.iter().chain(&self.ordinary).chain(&self.management).map(|(_, frame)| *frame)
    }

    /// Whether it opens the cycles.
    #[must_use]
    pub const fn is_active(&self) -> bool {
        self.active
    }

    /// A cycle has begun at `start`; slots that began before `now` are past.
    fn begin(&mut self, number: u32, start: Instant, now: Instant) {
        self.cycle = Some(Cycle { number, start, end: start + self.config.cycle });
        self.owed.retain(|owed| owed.cycle.wrapping_sub(number) <= u32::MAX / 2);
        self.next = self.config.slots.partition_point(|slot| start + slot.offset < now);
        // A cycle that is opened again, by another or a little later, has none of its slots twice.
        if let Some((_, place)) = self.taken.filter(|(cycle, _)| *cycle == number) {
            self.next = self.next.max(place + 1);
        }
        self.skip_other_cycles();
    }

    /// Passes over slots of other cycles than this.
    fn skip_other_cycles(&mut self) {
        let Some(Cycle { number, .. }) = self.cycle else { return };
        #[cfg(feature = "planted-faults")]
        if is_planted(PlantedFault::PhaseIgnored) {
            return;
        }
        let used = |slot: &TdmaSlot| number % slot.period == slot.phase;
        while self.config.slots.get(self.next).is_some_and(|slot| !used(slot)) {
            self.next += 1;
        }
    }

    fn next_slot(&self) -> Option<Instant> {
        let Cycle { start, .. } = self.cycle?;
        self.config.slots.get(self.next).map(|slot| start + slot.offset)
    }

    /// When it opens the next cycle, if no other station does before.
    fn next_cycle(&self) -> Option<Instant> {
        let Cycle { end, .. } = self.cycle?;
        match self.config.role {
            _ if self.active => Some(end),
            #[cfg(feature = "planted-faults")]
            TdmaRole::Standby { .. } if is_planted(PlantedFault::StandbyTooEarly) => Some(end),
            TdmaRole::Standby { offset } => Some(end + offset),
            TdmaRole::Master | TdmaRole::Slave => None,
        }
    }

    /// A frame that has waited longer than it may.
    fn expire(&mut self, now: Instant) -> Option<F> {
        #[cfg(feature = "planted-faults")]
        if is_planted(PlantedFault::LifetimeForgotten) {
            return None;
        }
        let lifetime = self.config.lifetime?;
        for queue in [&mut self.real_time, &mut self.ordinary, &mut self.management] {
            if queue.front().is_some_and(|(ready, _)| *ready + lifetime < now) {
                return queue.pop_front().map(|(_, frame)| frame);
            }
        }
        None
    }

    /// When the first frame has waited longer than it may, if none is taken.
    fn next_expiry(&self) -> Option<Instant> {
        #[cfg(feature = "planted-faults")]
        if is_planted(PlantedFault::LifetimeForgotten) {
            return None;
        }
        let lifetime = self.config.lifetime?;
        let queues = [&self.real_time, &self.ordinary, &self.management];
        let oldest = queues.into_iter().filter_map(VecDeque::front).map(|(ready, _)| *ready).min()?;
        Some(oldest + lifetime + Duration::from_ps(1))
    }

    /// The first reply that is owed in this cycle, and when.
    fn next_reply(&self) -> Option<(usize, Instant)> {
        let Cycle { number, start, .. } = self.cycle.filter(|_| !self.owed.is_empty())?;
        let due =
            |(place, owed): (usize, &Owed)| (owed.cycle == number).then_some((place, start + owed.offset));
        self.owed.iter().enumerate().filter_map(due).min_by_key(|(_, due)| *due)
    }

    /// What calibration does with a slot: a request, or nothing in a slot lent to the master; none if the slot may be used.
    fn calibrate_in(&mut self, now: Instant, slot: TdmaSlot) -> Option<TdmaAction<F>> {
        let Cycle { number, .. } = self.cycle?;
        let calibration = self.calibration.as_mut()?;
        if slot.carries == Carries::Ordinary {
            return None;
        }
        // A reply of a cycle that is past was lost.
        if let Some((_, cycle, offset)) = calibration.asked
            && cycle.wrapping_sub(number) <= u32::MAX / 2
        {
            return (cycle == number && offset == slot.offset).then_some(TdmaAction::Pass);
        }
        let reply_cycle = number.wrapping_add(slot.period);
        calibration.asked = Some((now, reply_cycle, slot.offset));
        let request = CalibrationRequest { transmitted: now, reply_cycle, reply_offset: slot.offset };
        Some(TdmaAction::Calibrate(request))
    }

    fn take_slot(&mut self, now: Instant) -> TdmaAction<F> {
        let slot = self.config.slots[self.next];
        let carries = slot.carries;
        self.taken = Some((self.cycle.map_or(0, |cycle| cycle.number), self.next));
        self.next += 1;
        self.skip_other_cycles();
        if let Some(action) = self.calibrate_in(now, slot) {
            return action;
        }
        let take = |queue: &mut VecDeque<(Instant, F)>| match queue.front() {
            Some((ready, _)) if *ready <= now => queue.pop_front().map(|(_, frame)| frame),
            _ => None,
        };
        let mut frame = None;
        #[cfg(feature = "planted-faults")]
        if is_planted(PlantedFault::ManagementFirst) && carries != Carries::Ordinary {
            frame = take(&mut self.management);
        }
        if frame.is_none() && carries != Carries::Ordinary {
            frame = take(&mut self.real_time);
        }
        if frame.is_none() && carries != Carries::RealTime {
            frame = take(&mut self.ordinary);
        }
        if frame.is_none() && carries != Carries::Ordinary {
            frame = take(&mut self.management);
        }
        #[cfg(feature = "planted-faults")]
        if is_planted(PlantedFault::SlotUsedTwice) && frame.is_some() && !self.again {
            (self.again, self.next) = (true, self.slot_taken().1);
            return frame.map_or(TdmaAction::Pass, TdmaAction::Transmit);
        }
        #[cfg(feature = "planted-faults")]
        {
            self.again = false;
        }
        frame.map_or(TdmaAction::Pass, TdmaAction::Transmit)
    }
}

/// The travel time of frames, from a calibration request and its reply (RTnet): half of the round trip less the time
/// at the master, rounded down. All times in picoseconds, the outer ones by the slave's clock, the inner ones by the
/// master's.
#[must_use]
pub fn travel_time(requested: Instant, received: Instant, replied: Instant, heard: Instant) -> Duration {
    let round_trip = heard.as_ps().saturating_sub(requested.as_ps());
    let there = replied.as_ps().saturating_sub(received.as_ps());
    Duration::from_ps(round_trip.saturating_sub(there) >> 1)
}

#[cfg(test)]
mod tests;
