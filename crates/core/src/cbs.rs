//! Credit-based shaper transmission selection (IEEE Std 802.1Q-2022, 8.6.8.2 and Annex L).
//!
//! In: whether frames wait, transmission started. Out: eligible or not, and when it will be. Invariant: credit is
//! exact; a frame starts only at credit >= 0; where no frame waits and none is on the line, credit is not positive. A
//! device may charge a frame for longer than the line takes: the rest of its charge after the frame is charged if
//! frames wait or the credit is negative, and ends with the credit if not. Not here: when gates are shut
//! (`port/gated.rs`), order between queues (`port.rs`). Scenario: `scenarios/credit-based.yaml`.

use tautwire_units::{BitRate, Credit, Instant};

/// What is left of an idleSlope when nothing is reserved: credit is earned at a rate above zero.
const SLOPE_MIN: BitRate = BitRate::from_bps(1);

/// One credit-based shaper.
#[derive(Clone, Debug)]
pub struct CreditBasedShaper {
    idle_slope: BitRate,
    /// The idleSlope that it is to have: reached at once from below, from above when nothing of the class is left.
    target: BitRate,
    /// portTransmitRate.
    rate: BitRate,
    credit: Credit,
    /// Until when `credit` is settled.
    settled: Instant,
    /// End of the charged part of the transmission that is under way or was last.
    transmit_end: Instant,
    /// When the line was done with that frame.
    line_end: Instant,
    hi_credit: Credit,
    lo_credit: Credit,
}

impl CreditBasedShaper {
    /// A shaper at a port of `rate`.
    ///
    /// # Panics
    /// If idleSlope is zero or above the rate.
    #[must_use]
    pub fn new(idle_slope: BitRate, rate: BitRate) -> Self {
        assert!(idle_slope > BitRate::ZERO && idle_slope <= rate, "0 < idleSlope <= portTransmitRate");
        Self {
            idle_slope,
            target: idle_slope,
            rate,
            credit: Credit::ZERO,
            settled: Instant::ZERO,
            transmit_end: Instant::ZERO,
            line_end: Instant::ZERO,
            hi_credit: Credit::ZERO,
            lo_credit: Credit::ZERO,
        }
    }

    /// Updates the credit to `now`. Between two calls the queue must have been empty or non-empty throughout;
    /// `waiting` is true if it was non-empty.
    #[inline]
    pub fn settle(&mut self, now: Instant, waiting: bool) {
        if now <= self.settled {
            return;
        }
        if !waiting && self.line_end < self.transmit_end && self.line_end <= now {
            self.end_charge();
        }
        self.spend(self.transmit_end.min(now));
        if now < self.transmit_end {
            return;
        }
        let mut earned = Credit::earned(self.idle_slope, now.since(self.settled));
        if planted!(HalfIdleSlope) {
            earned = Credit::from_pico_bits(earned.as_pico_bits() / 2);
        }
        self.credit = if waiting {
            self.credit + earned
        } else if self.credit < Credit::ZERO {
            if planted!(DebtKeptWhenEmpty) { self.credit } else { (self.credit + earned).min(Credit::ZERO) }
        } else if planted!(CreditKeptWhenEmpty) {
            self.credit
        } else {
            Credit::ZERO
        };
        self.hi_credit = self.hi_credit.max(self.credit);
        self.settled = now;
        if !waiting && self.credit == Credit::ZERO {
            self.lower();
        }
    }

    /// Updates the credit to `now` with the gate of its class closed: what was started is charged, and nothing else changes (8.6.8.2).
    pub fn stand_still(&mut self, now: Instant) {
        if now > self.settled {
            self.spend(self.transmit_end.min(now));
            self.settled = now;
        }
    }

    /// Whether it stays as it is while no frame comes.
    #[must_use]
    pub fn is_at_rest(&self, now: Instant) -> bool {
        self.credit == Credit::ZERO && self.settled >= self.transmit_end && self.transmit_end <= now
    }

    /// Charges the frame that is sent until `until`, which is no later than the end of its charge.
    #[inline]
    fn spend(&mut self, until: Instant) {
        if self.settled < until {
            let span = until.since(self.settled);
            self.credit += Credit::earned(self.idle_slope, span) - Credit::earned(self.rate, span);
            self.lo_credit = self.lo_credit.min(self.credit);
            self.settled = until;
        }
    }

    /// The line has finished a frame that is charged for longer, and no frame waits: no frame of the queue is being
    /// transmitted any more, so positive credit is lost, and the rest of the charge with it.
    #[cold]
    fn end_charge(&mut self) {
        self.spend(self.line_end);
        if self.credit > Credit::ZERO && !planted!(CreditKeptWhenEmpty) {
            self.credit = Credit::ZERO;
            self.transmit_end = self.settled;
        }
    }

    /// No frame of the class is left: the excess slope is removed.
    fn lower(&mut self) {
        self.idle_slope = self.target.max(SLOPE_MIN);
    }

    /// When a waiting frame may start, if the shaper was just settled: `now` itself or later.
    #[inline]
    #[must_use]
    pub fn eligible_at(&self, now: Instant) -> Instant {
        let mut debt = self.credit.debt_paid_after(self.idle_slope);
        if planted!(HalfIdleSlope) {
            debt = debt * 2;
        }
        now.saturating_add(debt)
    }

    /// A frame starts at `now`, just settled; it has the line until `line_end` and is charged until `charge_end`.
    #[inline]
    pub fn transmit(&mut self, now: Instant, line_end: Instant, charge_end: Instant) {
        debug_assert!(self.settled == now && self.credit >= Credit::ZERO, "a frame starts at credit >= 0");
        (self.line_end, self.transmit_end) = (line_end, charge_end);
    }

    /// Until when the frame is charged that was started last.
    #[must_use]
    pub const fn charged_until(&self) -> Instant {
        self.transmit_end
    }

    /// The frame that is sent is interrupted at `until`, at or after `settled`: it is charged up to there.
    pub fn interrupt(&mut self, until: Instant) {
        self.transmit_end = self.transmit_end.min(until);
    }

    /// The rest of a frame is charged from `now` on, just settled, whatever the credit; it has the line until `line_end`.
    pub fn resume(&mut self, line_end: Instant, charge_end: Instant) {
        (self.line_end, self.transmit_end) = (line_end, charge_end);
    }

    /// Changes idleSlope at `now`.
    ///
    /// # Panics
    /// If idleSlope is zero or above the rate.
    pub fn set_idle_slope(&mut self, now: Instant, waiting: bool, idle_slope: BitRate) {
        assert!(idle_slope > BitRate::ZERO && idle_slope <= self.rate, "0 < idleSlope <= portTransmitRate");
        self.settle(now, waiting);
        (self.idle_slope, self.target) = (idle_slope, idle_slope);
    }

    /// The reservations of the class together need the idleSlope `target` from `now` on. An increase takes effect at
    /// once, added to the present slope, up to `ceiling`. A decrease takes effect when no frame waits and the credit
    /// is not negative: until then frames of a stream that was withdrawn may be ahead of others in the queue.
    ///
    /// # Panics
    /// If the ceiling is zero or above the rate.
    pub fn reserve_idle_slope(&mut self, now: Instant, waiting: bool, target: BitRate, ceiling: BitRate) {
        assert!(ceiling > BitRate::ZERO && ceiling <= self.rate, "0 < ceiling <= portTransmitRate");
        self.settle(now, waiting);
        let target = target.min(ceiling);
        if let Some(more) = target.as_bps().checked_sub(self.target.as_bps()) {
            let held = if self.target == BitRate::ZERO && self.idle_slope == SLOPE_MIN {
                BitRate::ZERO
            } else {
                self.idle_slope
            };
            self.idle_slope = held.saturating_add(BitRate::from_bps(more)).min(ceiling).max(SLOPE_MIN);
        }
        self.target = target;
        let idle = !waiting && self.credit == Credit::ZERO && now >= self.transmit_end;
        if idle || planted!(SlopeLoweredAtOnce) {
            self.lower();
        }
    }

    /// The idleSlope as of the last call.
    #[must_use]
    pub const fn idle_slope(&self) -> BitRate {
        self.idle_slope
    }

    /// The credit as of the last call.
    #[must_use]
    pub const fn credit(&self) -> Credit {
        self.credit
    }

    /// Greatest credit so far.
    #[must_use]
    pub const fn hi_credit(&self) -> Credit {
        self.hi_credit
    }

    /// Least credit so far.
    #[must_use]
    pub const fn lo_credit(&self) -> Credit {
        self.lo_credit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tautwire_units::{Bits, Duration};

    fn us(us: u64) -> Instant {
        Instant::ZERO + Duration::from_us(us)
    }

    fn bits(bits: i64) -> Credit {
        let credit = Credit::of_bits(Bits::new(bits.unsigned_abs()));
        if bits < 0 { -credit } else { credit }
    }

    #[test]
    fn credit_follows_the_standards_example() {
        // 75 Mbit/s of 100: waiting 40 us earns 3000 bits, a frame of 100 us costs 2500.
        let mut shaper = CreditBasedShaper::new(BitRate::from_mbps(75), BitRate::from_mbps(100));
        shaper.settle(us(10), false);
        assert_eq!(shaper.credit(), Credit::ZERO, "an empty queue earns nothing");
        shaper.settle(us(50), true);
        assert_eq!(shaper.credit(), bits(3_000));
        shaper.transmit(us(50), us(150), us(150));
        shaper.settle(us(150), true);
        assert_eq!(shaper.credit(), bits(500));
        shaper.transmit(us(150), us(250), us(250));
        shaper.settle(us(200), true);
        assert_eq!(shaper.credit(), bits(-750), "settled in the middle of a transmission");
        shaper.settle(us(250), true);
        assert_eq!(shaper.credit(), bits(-2_000));
        assert_eq!(shaper.eligible_at(us(250)).as_ps(), us(250).as_ps() + 26_666_667, "rounded up");
        assert_eq!((shaper.hi_credit(), shaper.lo_credit()), (bits(3_000), bits(-2_000)));
    }

    #[test]
    fn an_empty_queue_gives_up_its_credit_and_pays_its_debt() {
        let mut shaper = CreditBasedShaper::new(BitRate::from_mbps(50), BitRate::from_mbps(100));
        shaper.settle(us(100), true);
        shaper.transmit(us(100), us(150), us(150));
        shaper.settle(us(151), false);
        assert_eq!(shaper.credit(), Credit::ZERO, "positive credit is lost at once");
        shaper.transmit(us(151), us(251), us(251));
        shaper.settle(us(300), false);
        assert_eq!(shaper.credit(), bits(-5_000) + bits(2_450));
        shaper.settle(us(1_000), false);
        assert_eq!(shaper.credit(), Credit::ZERO, "a debt is paid, no more");
    }

    /// 50 Mbit/s of 100: a frame has the line for 100 us and is charged for 104.
    #[test]
    fn a_charge_beyond_the_line_keeps_no_credit() {
        let start = |earned: u64| {
            let mut shaper = CreditBasedShaper::new(BitRate::from_mbps(50), BitRate::from_mbps(100));
            shaper.settle(us(1_000 - earned), false);
            shaper.settle(us(1_000), true);
            shaper.transmit(us(1_000), us(1_100), us(1_104));
            shaper
        };
        // 200 us of waiting earn 10 000 bits, of which the line leaves 5 000: lost with an empty queue, charge and all.
        for seen in [1_100, 1_102, 1_104, 1_200] {
            let mut shaper = start(200);
            shaper.settle(us(seen), false);
            assert_eq!(shaper.credit(), Credit::ZERO, "at {seen} us");
            shaper.settle(us(seen + 1), true);
            assert_eq!(shaper.credit(), bits(50), "it earns again at once");
        }
        let mut shaper = start(200);
        shaper.settle(us(1_050), false);
        assert_eq!(shaper.credit(), bits(7_500), "while the frame is on the line its credit is kept");
        shaper.settle(us(1_104), true);
        assert_eq!(shaper.credit(), bits(4_800), "frames wait: the whole charge counts");
        // The line leaves a debt of 2 500 bits: the charge goes on, and is paid with it.
        let mut shaper = start(50);
        shaper.settle(us(1_100), false);
        assert_eq!(shaper.credit(), bits(-2_500));
        shaper.settle(us(1_104), false);
        assert_eq!(shaper.credit(), bits(-2_700));
    }

    #[test]
    fn a_reserved_slope_rises_at_once_and_falls_when_nothing_is_left() {
        let (rate, mbps) = (BitRate::from_mbps(100), BitRate::from_mbps);
        let mut shaper = CreditBasedShaper::new(mbps(50), rate);
        shaper.reserve_idle_slope(us(0), false, BitRate::ZERO, mbps(50));
        assert_eq!(shaper.idle_slope(), BitRate::from_bps(1), "nothing is reserved");
        shaper.reserve_idle_slope(us(1), false, mbps(20), mbps(50));
        assert_eq!(shaper.idle_slope(), mbps(20));
        shaper.reserve_idle_slope(us(2), true, mbps(30), mbps(50));
        assert_eq!(shaper.idle_slope(), mbps(30), "at once, while a frame waits");
        // One stream of 20 leaves, one of 15 comes: the frames of the first may still wait.
        shaper.reserve_idle_slope(us(3), true, mbps(10), mbps(50));
        assert_eq!(shaper.idle_slope(), mbps(30));
        shaper.reserve_idle_slope(us(4), true, mbps(25), mbps(50));
        assert_eq!(shaper.idle_slope(), mbps(45));
        shaper.reserve_idle_slope(us(5), true, mbps(45), mbps(50));
        assert_eq!(shaper.idle_slope(), mbps(50), "not above the ceiling");
        shaper.reserve_idle_slope(us(6), true, mbps(10), mbps(50));
        shaper.transmit(us(6), us(106), us(106));
        shaper.settle(us(107), false);
        assert_eq!(shaper.idle_slope(), mbps(50), "a debt is left");
        shaper.settle(us(1_000), false);
        assert_eq!(shaper.idle_slope(), mbps(10));
    }

    #[test]
    fn settling_more_often_changes_nothing() {
        let slope = BitRate::from_bps(33_333_333);
        let (mut once, mut often) = (
            CreditBasedShaper::new(slope, BitRate::from_mbps(100)),
            CreditBasedShaper::new(slope, BitRate::from_mbps(100)),
        );
        for shaper in [&mut once, &mut often] {
            shaper.settle(us(3), true);
            shaper.transmit(us(3), us(126), us(126));
        }
        for step in 3..200 {
            often.settle(us(step), true);
        }
        once.settle(us(199), true);
        assert_eq!(once.credit(), often.credit());
    }
}
