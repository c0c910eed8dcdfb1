//! Integrity checking and redundancy management at the receiver of a virtual link
//! (ARINC 664 part 7, 3.2.6), and of a time-triggered one (SAE AS6802), whose frames have no numbers.
//!
//! In: the sequence number of a frame, its network, and its arrival time. Out: it is the first valid copy, or why it
//! is not. Per network a frame is valid if its number is one of the two that follow the last one received there, or 0,
//! or the first of all. Of the valid copies the first one is accepted: a number that does not follow the last one
//! accepted is eliminated unless SkewMax has passed since then. Invariants: of two valid copies that come within
//! SkewMax one is accepted; numbers are accepted in order. Not here: the numbering of frames (`virtual_link.rs`).
//! Scenario: `scenarios/avionics.yaml`.

use tautwire_units::{Duration, Instant};

use crate::virtual_link::SEQUENCE_RESET;

/// One of the two networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedundantNetwork {
    /// The first.
    A,
    /// The second.
    B,
}

/// Why a frame goes no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elimination {
    /// Its number does not follow that of the frame before it on its network.
    Integrity,
    /// Another copy of it, or a later frame, was accepted before.
    Redundant,
}

/// What a receiver keeps of one virtual link.
#[derive(Clone, Debug)]
pub struct RedundancyManager {
    skew_max: Duration,
    /// The last number received on each network.
    previous: [Option<u8>; 2],
    /// The last number accepted, and when.
    accepted: Option<(u8, Instant)>,
}

/// The numbers 1 to 255 form a circle.
const CIRCLE: u16 = 255;

/// How far `to` is ahead of `from` on the circle; 0 counts as the one before 1.
const fn ahead(from: u8, to: u8) -> u16 {
    let (from, to) = (from as u16, to as u16);
    (to + CIRCLE - from) % CIRCLE
}

impl RedundancyManager {
    /// A receiver that has received nothing.
    #[must_use]
    pub const fn new(skew_max: Duration) -> Self {
        Self { skew_max, previous: [None; 2], accepted: None }
    }

    /// Forgets all received frames.
    pub fn reset(&mut self) {
        *self = Self::new(self.skew_max);
    }

    /// Takes a frame.
    ///
    /// # Errors
    /// Why it is not handed on.
    pub fn receive(
        &mut self,
        now: Instant,
        network: RedundantNetwork,
        sequence: u8,
    ) -> Result<(), Elimination> {
        let place = match network {
            RedundantNetwork::A => 0,
            RedundantNetwork::B => 1,
        };
        let before = self.previous[place].replace(sequence);
        let valid = sequence == SEQUENCE_RESET
            || before.is_none_or(|before| matches!(ahead(before, sequence), 1 | 2));
        if !valid {
            return Err(Elimination::Integrity);
        }
        if let Some((last, when)) = self.accepted {
            // Half the circle lies ahead, half behind.
            let newer = (1..=CIRCLE / 2).contains(&ahead(last, sequence)) && sequence != SEQUENCE_RESET;
            let old = now.saturating_since(when) > self.skew_max;
            if !newer && !old && !planted!(CopyAccepted) {
                return Err(Elimination::Redundant);
            }
        }
        self.accepted = Some((sequence, now));
        Ok(())
    }
}

/// State of a receiver of one time-triggered virtual link over two networks: the time at which a frame arrives
/// determines its period, and the first copy of a period is accepted.
#[derive(Clone, Debug, Default)]
pub struct PeriodRedundancy {
    /// The last period of which a frame was accepted.
    accepted: Option<u64>,
}

impl PeriodRedundancy {
    /// Takes a frame of the period of this number.
    ///
    /// # Errors
    /// That another copy of it, or a later frame, was accepted before.
    pub fn receive(&mut self, period: u64) -> Result<(), Elimination> {
        if self.accepted.is_some_and(|last| period <= last) && !planted!(CopyAccepted) {
            return Err(Elimination::Redundant);
        }
        self.accepted = Some(period);
        Ok(())
    }

    /// Forgets all received frames.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}

/// The period of a frame that comes at `now`, when frames of period zero come around `middle`: the nearest one.
///
/// # Panics
/// If `period` is zero.
#[must_use]
pub fn period_at(now: Instant, middle: Duration, period: Duration) -> u64 {
    assert!(!period.is_zero(), "a period");
    let since = u128::from(now.as_ps()) + u128::from(period.as_ps() / 2);
    let periods = since.saturating_sub(u128::from(middle.as_ps())) / u128::from(period.as_ps());
    u64::try_from(periods).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::virtual_link::sequence_after;
    use RedundantNetwork::{A, B};
    use alloc::vec::Vec;

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_us(us)
    }

    fn manager() -> RedundancyManager {
        RedundancyManager::new(Duration::from_us(500))
    }

    const REDUNDANT: Result<(), Elimination> = Err(Elimination::Redundant);
    const INTEGRITY: Result<(), Elimination> = Err(Elimination::Integrity);

    /// Time in microseconds, network, number, and what becomes of it.
    fn hold(trace: &[(u64, RedundantNetwork, u8, Result<(), Elimination>)]) {
        let mut manager = manager();
        for (time, network, sequence, expected) in trace {
            let got = manager.receive(at(*time), *network, *sequence);
            assert_eq!(got, *expected, "{sequence} on {network:?} at {time} us");
        }
    }

    #[test]
    fn the_first_valid_copy_wins() {
        hold(&[
            (1_000, A, 0, Ok(())),
            (1_100, B, 0, REDUNDANT),
            (3_000, B, 1, Ok(())),
            (3_050, A, 1, REDUNDANT),
            (5_000, A, 2, Ok(())),
            // B lost the second and goes on with the third.
            (7_000, B, 3, Ok(())),
            (7_001, A, 3, REDUNDANT),
        ]);
    }

    #[test]
    fn a_network_that_has_lost_more_than_one_frame_is_not_believed_at_once() {
        hold(&[
            (0, A, 10, Ok(())),
            (10, B, 10, REDUNDANT),
            (2_000, A, 11, Ok(())),
            (4_000, A, 12, Ok(())),
            (6_000, A, 13, Ok(())),
            (6_010, B, 13, INTEGRITY),
            (8_000, B, 14, Ok(())),
            (8_010, A, 14, REDUNDANT),
        ]);
    }

    #[test]
    fn numbers_go_round_past_the_reset() {
        hold(&[
            (0, A, 254, Ok(())),
            (2_000, A, 255, Ok(())),
            (2_010, B, 255, REDUNDANT),
            (4_000, B, 1, Ok(())),
            (4_010, A, 1, REDUNDANT),
            // A reset within SkewMax would be a copy of what is long gone; behind it, it counts.
            (4_200, A, 0, REDUNDANT),
            (6_000, B, 0, Ok(())),
            (6_010, A, 1, Ok(())),
            (6_020, B, 1, REDUNDANT),
        ]);
    }

    #[test]
    fn a_copy_beyond_the_skew_is_taken_for_a_new_frame() {
        hold(&[(0, A, 7, Ok(())), (500, B, 7, REDUNDANT), (1_000, B, 8, Ok(())), (1_501, A, 8, Ok(()))]);
    }

    #[test]
    fn a_receiver_that_begins_anew_takes_any_number() {
        let mut manager = manager();
        assert_eq!(manager.receive(at(0), A, 7), Ok(()));
        manager.reset();
        assert_eq!(manager.receive(at(1), A, 3), Ok(()));
    }

    proptest::proptest! {
        /// While one network loses nothing, every frame is accepted once and in order, whatever the other loses.
        #[test]
        fn one_intact_network_suffices(
            frames in proptest::collection::vec((0_u64..400, 0_u64..400, proptest::bool::ANY), 1..700),
        ) {
            let mut manager = manager();
            let (mut sequence, mut sent) = (SEQUENCE_RESET, 0);
            for (first, second, lost) in frames {
                sent += 1_000;
                let mut copies = alloc::vec![(sent + first, A)];
                if !lost {
                    copies.push((sent + second, B));
                }
                copies.sort_by_key(|(time, _)| *time);
                let accepted = copies
                    .into_iter()
                    .filter(|(time, network)| manager.receive(at(*time), *network, sequence).is_ok())
                    .count();
                proptest::prop_assert_eq!(accepted, 1);
                sequence = sequence_after(sequence);
            }
        }
    }

    #[test]
    fn the_first_copy_of_a_period_wins() {
        let mut manager = PeriodRedundancy::default();
        let taken: Vec<bool> =
            [0, 0, 1, 3, 2, 3, 4].iter().map(|period| manager.receive(*period).is_ok()).collect();
        assert_eq!(taken, [true, false, true, true, false, false, true], "an older frame goes no further");
        manager.reset();
        assert_eq!(manager.receive(1), Ok(()));
    }

    #[test]
    fn a_frame_is_of_the_period_that_is_nearest() {
        let (middle, period) = (Duration::from_us(2_300), Duration::from_us(1_000));
        let of = |us: u64| period_at(at(us), middle, period);
        assert_eq!([2_000, 2_300, 2_799, 2_800, 3_300, 9_301].map(of), [0, 0, 0, 1, 1, 7]);
        assert_eq!(of(100), 0, "none was sent yet");
    }
}
