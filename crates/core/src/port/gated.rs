//! An egress port whose classes have gates (IEEE Std 802.1Q-2022, 8.6.8.4), and their effect on credit (8.6.8.2).
//!
//! A frame starts while its gate is open, if its last bit is out when the gate closes; one that does not fit blocks
//! its queue and not the port. Strict priority holds among those that may start. Invariants: gates and shapers are
//! updated edge by edge, so between two edges each credit-based class has one slope; a class waits for the instant at
//! which its frame may start, and for edges while its credit is below zero. Not here: which gates are open (`gates/`).

use alloc::boxed::Box;

use tautwire_units::{BitRate, Duration, Instant};

use super::{Arbiter, EgressPort, QueuedFrame, Selection};
use crate::TrafficClass;
use crate::gates::{Fit, GateParameters, GateTime, GatedCredit, Gates, GatesConfig, GuardPolicy};
use crate::preemption::{Merge, PreemptionConfig};

/// Octets of preamble and start delimiter.
const PREAMBLE: u64 = 8;

/// The state of a port with gates: without a list they are always open.
#[derive(Clone, Debug)]
pub(super) struct Gated<F> {
    pub(super) gates: Gates,
    /// Its MAC merge sublayer.
    pub(super) merge: Option<Box<Merge<F>>>,
    guard: GuardPolicy,
    frame_max: [u32; 8],
    payload_max: [u32; 8],
    credit: GatedCredit,
    /// idleSlope of each credit-based class, on average.
    slopes: [Option<BitRate>; 8],
    pub(super) counters: [GateCounters; 8],
}

/// Counters of the gate of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GateCounters {
    /// Frames that were being sent when their gate closed (802.1Q-2022, 12.29.1.1.2).
    pub transmission_overrun: u64,
    /// Frames that were larger than queueMaxSDU.
    pub max_sdu_exceeded: u64,
}

impl<F: Copy> Gated<F> {
    pub(super) fn new(
        config: Option<GatesConfig>,
        slopes: [Option<BitRate>; 8],
        preemption: Option<PreemptionConfig>,
    ) -> Self {
        let merge = preemption.map(|config| Box::new(Merge::new(config)));
        let open = Self {
            gates: Gates::without_list(u8::MAX),
            merge,
            guard: GuardPolicy::None,
            frame_max: [0; 8],
            payload_max: [u32::MAX; 8],
            credit: GatedCredit::STANDARD,
            slopes,
            counters: [GateCounters::default(); 8],
        };
        let Some(config) = config else { return open };
        Self {
            gates: Gates::new(config.admin_gate_states, config.parameters, config.tick),
            guard: config.guard,
            frame_max: config.frame_max,
            payload_max: config.payload_max,
            credit: config.credit,
            ..open
        }
    }

    /// idleSlope of a class while its gate is open, in the current list.
    fn slope(&self, class: usize, idle_slope: BitRate) -> BitRate {
        let list = self.gates.oper().filter(|_| self.credit.slope_is_average);
        list.and_then(|list| list.oper_idle_slope(class, idle_slope)).unwrap_or(idle_slope)
    }

    /// How long the gate must stay open for a frame, by the time of its last bit.
    pub(super) fn octets_needed(&self, class: usize, octets: u32) -> u64 {
        match self.guard {
            _ if planted!(LookAheadForgotten) => 0,
            GuardPolicy::LookAhead => PREAMBLE + u64::from(octets),
            GuardPolicy::MaxSdu => PREAMBLE + u64::from(octets.max(self.frame_max[class])),
            GuardPolicy::None => 0,
        }
    }

    /// Whether an interrupted frame of a class lets it earn credit.
    fn earns(&self, class: usize) -> bool {
        self.merge.as_ref().is_some_and(|merge| merge.earns(class))
    }
}

impl<F: QueuedFrame> EgressPort<F> {
    /// Whether it has gates.
    #[must_use]
    pub fn is_gated(&self) -> bool {
        self.gates().is_some()
    }

    /// Its gates, as they were last settled.
    #[must_use]
    pub fn gates(&self) -> Option<&Gates> {
        self.gated().map(|gated| &gated.gates).filter(|gates| gates.has_list())
    }

    /// Counters of the gate of a class; zero without gates.
    #[must_use]
    pub fn gate_counters(&self, class: TrafficClass) -> GateCounters {
        self.gated().map_or(GateCounters::default(), |gated| gated.counters[class.index()])
    }

    /// Whether a frame with so much MAC client data is larger than queueMaxSDU of its class: it is not to be queued, and is counted.
    #[cold]
    pub fn exceeds_max_sdu(&mut self, class: TrafficClass, payload: u32) -> bool {
        let Some(gated) = self.gated_mut() else { return false };
        let exceeds = payload > gated.payload_max[class.index()];
        gated.counters[class.index()].max_sdu_exceeded += u64::from(exceeds);
        exceeds
    }

    /// The node starts when its clock reads `now`: its gates begin with their list anew.
    pub fn start_gates(&mut self, now: Instant) {
        if let Some(gated) = self.gated_mut() {
            gated.gates.start(now);
        }
    }

    /// The gates follow this time from `now` on. The port must be polled after that.
    pub fn follow(&mut self, now: Instant, time: GateTime) {
        self.settle_gates(now);
        if let Some(gated) = self.gated_mut() {
            gated.gates.follow(now, time);
        }
    }

    /// Sets a new list at `now`. The port must be polled after that.
    ///
    /// # Panics
    /// If the list has no entry.
    pub fn change_gates(&mut self, now: Instant, parameters: GateParameters) {
        self.settle_gates(now);
        if let Some(gated) = self.gated_mut() {
            gated.gates.change(now, parameters);
        }
    }

    /// Updates the gates, and the credit behind them, to `now`.
    #[cold]
    pub fn settle_gates(&mut self, now: Instant) {
        let Some(mut arbiter) = self.arbiter.take() else { return };
        if let Arbiter::Gates(gated) = &mut *arbiter {
            self.settle_gated(gated, now);
        }
        self.arbiter = Some(arbiter);
    }

    /// idleSlope of a class that is to be so much on average.
    pub(super) fn gated_slope(&mut self, class: TrafficClass, idle_slope: BitRate) -> BitRate {
        let rate = self.rate;
        let Some(gated) = self.gated_mut() else { return idle_slope };
        gated.slopes[class.index()] = Some(idle_slope);
        gated.slope(class.index(), idle_slope).min(rate)
    }

    /// The selection at `now`, with the line free.
    pub(super) fn select_gated(&mut self, now: Instant) -> Selection<F> {
        let Some(mut arbiter) = self.arbiter.take() else { return Selection::Idle };
        let selection = match &mut *arbiter {
            Arbiter::Gates(gated) => self.select_behind(gated, now),
            Arbiter::Servers(_) => Selection::Idle,
        };
        self.arbiter = Some(arbiter);
        selection
    }

    pub(super) fn gated(&self) -> Option<&Gated<F>> {
        match self.arbiter.as_deref()? {
            Arbiter::Gates(gated) => Some(gated),
            Arbiter::Servers(_) => None,
        }
    }

    pub(super) fn gated_mut(&mut self) -> Option<&mut Gated<F>> {
        match self.arbiter.as_deref_mut()? {
            Arbiter::Gates(gated) => Some(gated),
            Arbiter::Servers(_) => None,
        }
    }

    pub(super) fn settle_gated(&mut self, gated: &mut Gated<F>, now: Instant) {
        // Who holds frames counts how often.
        let counts = gated.merge.is_some() && gated.gates.has_operations();
        if !counts && self.shapers_rest(gated, now) {
            gated.gates.skip_to(now);
        }
        loop {
            let edge = gated.gates.edge();
            if edge > now {
                break;
            }
            self.settle_credits(gated, edge);
            if gated.gates.cross() {
                self.scale_slopes(gated, edge);
            }
        }
        self.settle_credits(gated, now);
    }

    /// Whether no credit changes before a frame comes.
    fn shapers_rest(&mut self, gated: &Gated<F>, now: Instant) -> bool {
        let mut left = self.shaped;
        while left != 0 {
            let class = left.trailing_zeros() as usize;
            let (shaper, waiting) = self.classes[class].shaper();
            if waiting || gated.earns(class) || !shaper.is_at_rest(now) {
                return false;
            }
            left &= left - 1;
        }
        true
    }

    /// Another list runs: its gates are open for another part of the time.
    fn scale_slopes(&mut self, gated: &Gated<F>, now: Instant) {
        for (class, slope) in gated.slopes.iter().enumerate() {
            let Some(slope) = *slope else { continue };
            let slope = gated.slope(class, slope).min(self.rate);
            let (shaper, waiting) = self.classes[class].shaper();
            shaper.set_idle_slope(now, waiting, slope);
        }
    }

    /// Updates all credit to `until`, before which no gate changes.
    fn settle_credits(&mut self, gated: &mut Gated<F>, until: Instant) {
        let mut left = self.shaped;
        while left != 0 {
            let class = left.trailing_zeros() as usize;
            left &= left - 1;
            let line_end = self.busy_until;
            if let Some(charge) = gated.merge.as_mut().and_then(|merge| merge.charge(class, until, line_end))
            {
                self.settle_credit(gated, class, charge.from, true);
                self.classes[class].shaper().0.resume(charge.line_end, charge.end);
            }
            self.settle_credit(gated, class, until, gated.earns(class));
        }
    }

    /// Brings the credit of a class up to `until`; `earns`: as if a frame waited.
    fn settle_credit(&mut self, gated: &Gated<F>, class: usize, until: Instant, earns: bool) {
        let guard = self.guard_band(gated, class, until);
        let (shaper, waiting) = self.classes[class].shaper();
        let waiting = waiting || earns;
        let frozen = gated.credit.frozen_when_closed && !planted!(CreditNotFrozen);
        if frozen && !gated.gates.is_open(class) {
            shaper.stand_still(until);
        } else if let Some(from) = guard {
            shaper.settle(until.min(from), waiting);
            shaper.stand_still(until);
        } else {
            shaper.settle(until, waiting);
        }
    }

    /// From when on the head of a class does not fit any more, if credit is frozen then and that is before `until`.
    fn guard_band(&self, gated: &Gated<F>, class: usize, until: Instant) -> Option<Instant> {
        let own = &self.classes[class];
        if !gated.credit.frozen_in_guard_band || own.frames() == 0 || !gated.gates.is_open(class) {
            return None;
        }
        let lane = if self.in_lanes & (1 << class) == 0 { 0 } else { own.choose_lane(until).ok()? };
        let need = self.wire_time(gated.octets_needed(class, own.peek(lane).frame.octets()));
        let close = gated.gates.close_by(class, until.saturating_add(need));
        let from = Instant::from_ps(close.as_ps().saturating_sub(need.as_ps()));
        (from < until).then_some(from)
    }

    /// When to check again the credit of a class that would be enough at `at`: it may be frozen before. None if its
    /// gate does not open any more.
    fn credit_next(&self, gated: &Gated<F>, class: usize, now: Instant, at: Instant) -> Option<Instant> {
        let gates = &gated.gates;
        if !gates.is_open(class) && gated.credit.frozen_when_closed {
            return match gates.fit(class, now, Duration::ZERO) {
                Fit::At(opens) => Some(opens),
                Fit::Now | Fit::Never => None,
            };
        }
        // Another list has another slope.
        let at = at.min(gates.change_at());
        if !gates.is_open(class) {
            return Some(at);
        }
        let close = gates.close_by(class, at);
        // In the guard band it is frozen until the close.
        if gated.credit.frozen_in_guard_band
            && self.guard_band(gated, class, at).is_some_and(|from| from <= now)
        {
            let far = now.saturating_add(self.wire_time(PREAMBLE + u64::from(u16::MAX)));
            return Some(gates.close_by(class, far));
        }
        Some(at.min(close))
    }

    /// Whether the first frame of a class may start now and, if something is cut for it first, at `start`: its lane; else when to look again, if at all.
    pub(super) fn starts(
        &mut self,
        gated: &Gated<F>,
        class: usize,
        (now, start): (Instant, Instant),
    ) -> Result<usize, Option<Instant>> {
        match self.eligible(class, now) {
            Ok(lane) => {
                let octets = self.classes[class].peek(lane).frame.octets();
                let need = self.wire_time(gated.octets_needed(class, octets));
                let fit = match gated.gates.fit(class, now, need) {
                    Fit::Now if start > now => gated.gates.fit_later(class, start, need),
                    fit => fit,
                };
                match fit {
                    Fit::Now => Ok(lane),
                    Fit::At(at) => Err(Some(at)),
                    Fit::Never => Err(None),
                }
            }
            Err(at) if self.shaped & (1 << class) == 0 => Err(Some(at)),
            Err(at) => Err(self.credit_next(gated, class, now, at)),
        }
    }

    /// Sends the first frame of a lane, which fits.
    fn transmit_gated(
        &mut self,
        gated: &mut Gated<F>,
        (class, lane): (usize, usize),
        now: Instant,
    ) -> Selection<F> {
        let waiting = *self.classes[class].peek(lane);
        let octets = waiting.frame.octets();
        let need = self.wire_time(gated.octets_needed(class, octets));
        let sent = self.wire_time(PREAMBLE + u64::from(octets));
        let end = now.saturating_add(sent);
        let overruns = sent > need && gated.gates.close_by(class, end) < end;
        gated.counters[class].transmission_overrun += u64::from(overruns);
        // What ATS held is not held by the gate.
        let most = now.saturating_since(waiting.eligible);
        held_at_most(self.transmit(class, lane, now, true), most)
    }

    /// What the highest of some classes sends whose frame may start, or when to look again.
    pub(super) fn select_of(
        &mut self,
        gated: &mut Gated<F>,
        classes: u8,
        now: Instant,
    ) -> Result<(usize, Selection<F>), Option<Instant>> {
        let mut wake: Option<Instant> = None;
        let mut left = self.occupied & classes;
        while left != 0 {
            let class = (7 - left.leading_zeros()) as usize;
            left &= !(1 << class);
            match self.starts(gated, class, (now, now)) {
                Ok(lane) => return Ok((class, self.transmit_gated(gated, (class, lane), now))),
                Err(Some(at)) => wake = Some(wake.map_or(at, |wake| wake.min(at))),
                Err(None) => {}
            }
        }
        Err(wake)
    }

    fn select_behind(&mut self, gated: &mut Gated<F>, now: Instant) -> Selection<F> {
        self.settle_gated(gated, now);
        if gated.merge.is_some() {
            return self.select_merged(gated, now);
        }
        match self.select_of(gated, u8::MAX, now) {
            Ok((_, selection)) => selection,
            Err(wake) => wake.map_or(Selection::Idle, Selection::Wait),
        }
    }
}

fn held_at_most<F>(selection: Selection<F>, most: Duration) -> Selection<F> {
    match selection {
        Selection::Transmit { frame, held } => Selection::Transmit { frame, held: held.min(most) },
        other => other,
    }
}

#[cfg(test)]
#[path = "gated_tests.rs"]
mod tests;
