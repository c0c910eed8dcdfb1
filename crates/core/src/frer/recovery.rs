//! The base recovery function (IEEE Std 802.1CB-2017, 7.4.3): of the copies of a packet one passes.
//!
//! In: the sequence number of a packet, and when it came. Out: it passes, or why it does not. The vector algorithm (7.4.3.4)
//! keeps for the last `history_length` numbers whether they passed, and discards what lies further off; the match algorithm
//! (7.4.3.5) keeps the last number alone. When no packet has passed for `reset_timeout` all is forgotten and the next packet
//! passes, whatever its number. An individual recovery function (7.5) is the same for one member stream, but that packets which
//! it discards keep its timer from running out: a sender that is stuck at one number stays discarded. Invariant: between two resets the
//! vector algorithm passes no number twice as long as fewer than half of all numbers lie between two of its packets.

use alloc::vec;
use alloc::vec::Vec;

use tautwire_units::{Duration, Instant};

/// How copies are recognised (10.4.1.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryAlgorithm {
    /// By the numbers that passed among the last ones.
    Vector {
        /// How many numbers are kept; at least 2.
        history_length: u16,
    },
    /// By the last number alone.
    Match,
}

/// Parameters of a recovery function (10.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryParameters {
    /// How copies are recognised.
    pub algorithm: RecoveryAlgorithm,
    /// After so long without a packet that passes it begins anew; none: never.
    pub reset_timeout: Option<Duration>,
    /// Whether packets without a number pass.
    pub take_no_sequence: bool,
    /// Whether discarded packets start the timer again, too.
    pub individual: bool,
}

/// Why a packet goes no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discarded {
    /// A packet with this number has passed.
    Duplicate,
    /// Its number is too far from that of the last one.
    Rogue,
    /// It has no number.
    Tagless,
}

/// What a recovery function counts (10.8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoveryCounters {
    /// Packets that passed.
    pub passed: u64,
    /// Packets discarded as copies, or for want of a number.
    pub discarded: u64,
    /// Packets discarded because their number is too far off.
    pub rogue: u64,
    /// Packets that passed though their number does not follow the last one.
    pub out_of_order: u64,
    /// Numbers that left the history without a packet; those before the first packet are among them.
    pub lost: u64,
    /// Packets without a number.
    pub tagless: u64,
    /// How often it began anew, the first time included.
    pub resets: u64,
}

/// A recovery function.
#[derive(Clone, Debug)]
pub struct SequenceRecovery {
    parameters: RecoveryParameters,
    /// The last number (RecovSeqNum); none: any is taken (TakeAny).
    last: Option<u16>,
    /// Whether number `last - n` passed, at `(head + n) % length`.
    history: Vec<bool>,
    head: usize,
    /// When the timer runs out, if it runs.
    expires: Option<Instant>,
    counters: RecoveryCounters,
}

impl SequenceRecovery {
    /// A function that has received nothing.
    ///
    /// # Panics
    /// If a history is shorter than 2, or holds half of all numbers.
    #[must_use]
    pub fn new(parameters: RecoveryParameters) -> Self {
        let length = match parameters.algorithm {
            RecoveryAlgorithm::Vector { history_length } => usize::from(history_length),
            RecoveryAlgorithm::Match => 0,
        };
        let fits =
            matches!(parameters.algorithm, RecoveryAlgorithm::Match) || (2..=1 << 15).contains(&length);
        assert!(fits, "a history of 2 to 32768 numbers");
        let counters = RecoveryCounters { resets: 1, ..RecoveryCounters::default() };
        Self { parameters, last: None, history: vec![false; length], head: 0, expires: None, counters }
    }

    /// What it has counted so far.
    #[must_use]
    pub const fn counters(&self) -> &RecoveryCounters {
        &self.counters
    }

    /// Forgets what has passed (SequenceRecoveryReset); counters go on.
    pub fn reset(&mut self) {
        self.last = None;
        self.expires = None;
        self.counters.resets += 1;
    }

    /// Begins anew if its timer has run out.
    pub fn settle(&mut self, now: Instant) {
        if self.expires.is_some_and(|expires| expires <= now) && !planted!(RecoveryTimerForgotten) {
            self.reset();
        }
    }

    /// Takes a packet.
    ///
    /// # Errors
    /// Why it goes no further.
    pub fn receive(&mut self, now: Instant, sequence: Option<u16>) -> Result<(), Discarded> {
        self.settle(now);
        let judged = match (sequence, self.parameters.algorithm) {
            (None, _) => self.take_tagless(),
            (Some(number), RecoveryAlgorithm::Vector { .. }) => self.take_by_vector(number),
            (Some(number), RecoveryAlgorithm::Match) => self.take_by_match(number),
        };
        match judged {
            Ok(()) => self.counters.passed += 1,
            Err(Discarded::Rogue) => self.counters.rogue += 1,
            Err(Discarded::Duplicate | Discarded::Tagless) => self.counters.discarded += 1,
        }
        let is_kept_up = self.parameters.individual && judged != Err(Discarded::Tagless);
        if judged.is_ok() || is_kept_up {
            self.expires = self.parameters.reset_timeout.map(|timeout| now.saturating_add(timeout));
        }
        judged
    }

    fn take_tagless(&mut self) -> Result<(), Discarded> {
        self.counters.tagless += 1;
        if self.parameters.take_no_sequence { Ok(()) } else { Err(Discarded::Tagless) }
    }

    fn take_by_vector(&mut self, number: u16) -> Result<(), Discarded> {
        let length = self.history.len();
        let Some(last) = self.last else {
            self.history.fill(false);
            self.history[self.head] = true;
            self.last = Some(number);
            return Ok(());
        };
        let ahead = number.wrapping_sub(last).cast_signed();
        let distance = usize::from(ahead.unsigned_abs());
        if distance >= length {
            return Err(Discarded::Rogue);
        }
        if ahead == 0 && planted!(RepeatPasses) {
            return Ok(());
        }
        if ahead <= 0 {
            let place = (self.head + distance) % length;
            if self.history[place] && !planted!(CopyPasses) {
                return Err(Discarded::Duplicate);
            }
            self.history[place] = true;
            self.counters.out_of_order += 1;
            return Ok(());
        }
        self.counters.out_of_order += u64::from(distance != 1);
        for left in (0..distance).rev() {
            // What falls off the end makes room for the newest.
            self.head = (self.head + length - 1) % length;
            self.counters.lost += u64::from(!self.history[self.head]);
            self.history[self.head] = left == 0;
        }
        self.last = Some(number);
        Ok(())
    }

    fn take_by_match(&mut self, number: u16) -> Result<(), Discarded> {
        if let Some(last) = self.last {
            if number == last && !planted!(CopyPasses) {
                return Err(Discarded::Duplicate);
            }
            self.counters.out_of_order += u64::from(number != last.wrapping_add(1));
        }
        self.last = Some(number);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Discarded::{Duplicate, Rogue, Tagless};

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_us(us)
    }

    fn vector(history_length: u16) -> RecoveryParameters {
        RecoveryParameters {
            algorithm: RecoveryAlgorithm::Vector { history_length },
            reset_timeout: None,
            take_no_sequence: false,
            individual: false,
        }
    }

    fn judged(
        parameters: RecoveryParameters,
        numbers: &[u16],
    ) -> (Vec<Result<(), Discarded>>, RecoveryCounters) {
        let mut recovery = SequenceRecovery::new(parameters);
        let judged = numbers.iter().map(|number| recovery.receive(at(0), Some(*number))).collect();
        (judged, *recovery.counters())
    }

    /// Each step computed by hand.
    #[test]
    fn a_history_of_eight() {
        let numbers = [5, 6, 5, 9, 7, 8, 8, 15, 8, 6, 24, 16];
        let (judged, counters) = judged(vector(8), &numbers);
        let (pass, copy, rogue) = (Ok(()), Err(Duplicate), Err(Rogue));
        let expected = [pass, pass, copy, pass, pass, pass, copy, pass, copy, rogue, rogue, pass];
        assert_eq!(judged, expected);
        let RecoveryCounters { passed, discarded, rogue, out_of_order, tagless, resets, .. } = counters;
        assert_eq!((passed, discarded, rogue, out_of_order, tagless, resets), (7, 3, 2, 4, 0, 1));
    }

    #[test]
    fn the_shortest_history_stops_a_stream_after_one_loss() {
        let (judged, counters) = judged(vector(2), &[10, 11, 13, 14, 15]);
        assert_eq!(judged, [Ok(()), Ok(()), Err(Rogue), Err(Rogue), Err(Rogue)]);
        assert_eq!((counters.passed, counters.rogue), (2, 3));
    }

    #[test]
    fn numbers_go_round() {
        let (judged, _) = judged(vector(4), &[65_534, 65_535, 65_534, 0, 65_535, 2, 1, 0]);
        let (pass, copy) = (Ok(()), Err(Duplicate));
        assert_eq!(judged, [pass, pass, copy, pass, copy, pass, pass, copy]);
    }

    #[test]
    fn numbers_that_never_came_are_lost_when_the_history_forgets_them() {
        let (_, counters) = judged(vector(2), &[0, 1, 2, 3]);
        assert_eq!(counters.lost, 1, "the number before the first is not known to have passed");
        let mut recovery = SequenceRecovery::new(vector(3));
        for number in [0, 1, 2, 4, 5, 6, 7] {
            assert_eq!(recovery.receive(at(0), Some(number)), Ok(()));
        }
        assert_eq!(recovery.counters().lost, 2 + 1, "two before the first, and 3");
    }

    #[test]
    fn match_keeps_the_last_number_alone() {
        let parameters = RecoveryParameters { algorithm: RecoveryAlgorithm::Match, ..vector(2) };
        let (judged, counters) = judged(parameters, &[1, 1, 2, 2, 1, 2, 4, 4]);
        let (pass, copy) = (Ok(()), Err(Duplicate));
        assert_eq!(judged, [pass, copy, pass, copy, pass, pass, pass, copy]);
        assert_eq!((counters.passed, counters.discarded, counters.out_of_order), (5, 3, 2));
    }

    #[test]
    fn after_the_timeout_any_number_passes() {
        let parameters = RecoveryParameters { reset_timeout: Some(Duration::from_us(100)), ..vector(8) };
        let mut recovery = SequenceRecovery::new(parameters);
        assert_eq!(recovery.receive(at(0), Some(7)), Ok(()));
        assert_eq!(recovery.receive(at(60), Some(1_000)), Err(Rogue));
        assert_eq!(
            recovery.receive(at(99), Some(1_001)),
            Err(Rogue),
            "what is discarded does not start the timer"
        );
        assert_eq!(recovery.receive(at(100), Some(1_002)), Ok(()));
        assert_eq!(recovery.receive(at(150), Some(1_002)), Err(Duplicate));
        assert_eq!(recovery.counters().resets, 2);
    }

    #[test]
    fn a_stuck_sender_stays_discarded_by_individual_recovery_alone() {
        let timeout = Some(Duration::from_us(100));
        for (individual, passed) in [(true, 1), (false, 5)] {
            let parameters = RecoveryParameters { reset_timeout: timeout, individual, ..vector(8) };
            let mut recovery = SequenceRecovery::new(parameters);
            for time in (0..450).step_by(50) {
                let _ = recovery.receive(at(time), Some(3));
            }
            assert_eq!(recovery.counters().passed, passed);
        }
    }

    #[test]
    fn packets_without_a_number_pass_if_they_may() {
        for (take_no_sequence, expected) in [(true, Ok(())), (false, Err(Tagless))] {
            let mut recovery = SequenceRecovery::new(RecoveryParameters { take_no_sequence, ..vector(2) });
            assert_eq!(recovery.receive(at(0), None), expected);
            assert_eq!(recovery.counters().tagless, 1);
        }
    }

    proptest::proptest! {
        /// With a history that is long enough for the copies and losses, each packet that comes passes once.
        #[test]
        fn each_packet_passes_once(
            packets in proptest::collection::vec((0_u64..40, 0_u64..40, 0_u8..4), 1..600),
        ) {
            // A packet every 10; copies up to 40 apart, so 5 may start in that span; at most 3 are lost in a row.
            let mut copies = Vec::new();
            let (mut expected, mut lost_in_row) = (0, 0);
            for (number, (first, second, lost)) in packets.into_iter().enumerate() {
                let sent = number as u64 * 10;
                let lost = if lost == 3 && lost_in_row == 3 { 0 } else { lost };
                lost_in_row = if lost == 3 { lost_in_row + 1 } else { 0 };
                let number = u16::try_from(number % 65_536).expect("a number");
                copies.extend((lost & 1 == 0).then_some((sent + first, number)));
                copies.extend((lost & 2 == 0).then_some((sent + second, number)));
                expected += u64::from(lost != 3);
            }
            copies.sort_unstable();
            let mut recovery = SequenceRecovery::new(vector(5 + 3 + 1));
            for (time, number) in copies {
                let _ = recovery.receive(at(time), Some(number));
            }
            proptest::prop_assert_eq!(recovery.counters().passed, expected);
            proptest::prop_assert_eq!(recovery.counters().rogue, 0);
        }
    }
}
