//! Traffic policing of virtual links at a switch's reception (ARINC 664 part 7, 4.1.1.1).
//!
//! In: arrival time and length of a frame of a virtual link. Out: it passes, or the reason for which it is discarded.
//! The token bucket fills within one BAG, and is larger by the share of the jitter: it is charged with frames, or with
//! octets on the wire. Invariants: a discarded frame charges nothing; frames of a regulator that keeps the BAG and
//! that came with at most the jitter always pass. Not here: the regulator of the end system (`virtual_link.rs`), the
//! jitter of frames (`tautwire-analysis`). Scenario: `scenarios/avionics.yaml`.

use tautwire_units::{Duration, Instant};

/// The unit in which a token bucket is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Account {
    /// Frames: one a BAG.
    Frames,
    /// Octets of the wire: those of a largest frame a BAG.
    Octets,
}

/// The entry of a virtual link in a switch's policing table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicingParameters {
    /// Bandwidth allocation gap, as the switch's clock may see it at the least.
    pub bag: Duration,
    /// Jitter with which frames may come.
    pub jitter: Duration,
    /// The unit in which it is charged.
    pub account: Account,
    /// Octets of its shortest frame, destination to FCS.
    pub octets_min: u64,
    /// Octets of its longest frame, destination to FCS.
    pub octets_max: u64,
}

impl PolicingParameters {
    /// Time that an octet of the wire is charged with; rounded down, so that a conforming frame passes.
    #[must_use]
    pub fn octet_time(&self) -> Duration {
        Duration::from_ps(self.bag.as_ps() / (self.octets_max + MEDIA_OVERHEAD))
    }
}

/// Why a frame is discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicingDiscard {
    /// It is shorter or longer than the frames of its virtual link.
    Length,
    /// It came before its bucket held enough.
    Rate,
}

/// Octets of preamble, start delimiter and gap.
const MEDIA_OVERHEAD: u64 = 20;

/// The token bucket of a virtual link at a reception port.
#[derive(Clone, Debug)]
pub struct Policer {
    parameters: PolicingParameters,
    /// When the bucket is full again.
    full_at: Instant,
    /// Discarded for their length, and for their rate.
    discarded: [u64; 2],
}

impl Policer {
    /// A policer with a full bucket.
    #[must_use]
    pub const fn new(parameters: PolicingParameters) -> Self {
        Self { parameters, full_at: Instant::ZERO, discarded: [0; 2] }
    }

    /// Judges a frame of `octets` (destination to FCS) whose last bit came at `now`.
    ///
    /// # Errors
    /// The reason for which it is discarded.
    pub fn police(&mut self, now: Instant, octets: u64) -> Result<(), PolicingDiscard> {
        let table = &self.parameters;
        if octets < table.octets_min || octets > table.octets_max {
            self.discarded[0] += 1;
            return Err(PolicingDiscard::Length);
        }
        let charge = match table.account {
            Account::Frames => table.bag,
            Account::Octets => Duration::from_ps(table.octet_time().as_ps() * (octets + MEDIA_OVERHEAD)),
        };
        let charge = if planted!(PolicedTwice) { charge * 2 } else { charge };
        let full_at = self.full_at.max(now) + charge;
        if planted!(PolicingOpen) {
            return Ok(());
        }
        if full_at.since(now) > table.bag + table.jitter {
            self.discarded[1] += 1;
            return Err(PolicingDiscard::Rate);
        }
        self.full_at = full_at;
        Ok(())
    }

    /// Frames discarded for a reason.
    #[must_use]
    pub const fn discarded(&self, reason: PolicingDiscard) -> u64 {
        match reason {
            PolicingDiscard::Length => self.discarded[0],
            PolicingDiscard::Rate => self.discarded[1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_us(us)
    }

    fn policer(account: Account) -> Policer {
        Policer::new(PolicingParameters {
            bag: Duration::from_ms(2),
            jitter: Duration::from_us(500),
            account,
            octets_min: 64,
            octets_max: 480,
        })
    }

    fn judge(policer: &mut Policer, frames: &[(u64, u64)]) -> Vec<bool> {
        frames.iter().map(|(time, octets)| policer.police(at(*time), *octets).is_ok()).collect()
    }

    #[test]
    fn a_frame_may_come_early_by_the_jitter_and_no_more() {
        let mut policer = policer(Account::Frames);
        // The second is early by all of the jitter, the third by a microsecond more than is left.
        let frames = [(10_000, 480), (11_500, 64), (13_499, 64), (13_500, 64), (16_000, 64)];
        assert_eq!(judge(&mut policer, &frames), [true, true, false, true, true]);
        assert_eq!(policer.discarded(PolicingDiscard::Rate), 1);
    }

    #[test]
    fn octets_are_charged_by_their_share_of_the_longest_frame() {
        let mut policer = policer(Account::Octets);
        // A bucket of 500 octets of the wire and a quarter more: 625. Five frames of 125 fill it.
        let short = [(10_000, 105); 6];
        assert_eq!(judge(&mut policer, &short), [true, true, true, true, true, false]);
        // 125 octets are earned in half a millisecond.
        assert_eq!(judge(&mut policer, &[(10_499, 105), (10_500, 105)]), [false, true]);
        // The account of frames lets but one of them pass.
        assert_eq!(judge(&mut super::tests::policer(Account::Frames), &short)[..2], [true, false]);
    }

    #[test]
    fn a_frame_of_the_wrong_length_is_discarded_and_charges_nothing() {
        let mut policer = policer(Account::Frames);
        assert_eq!(policer.police(at(1), 481), Err(PolicingDiscard::Length));
        assert_eq!(policer.police(at(1), 63), Err(PolicingDiscard::Length));
        assert_eq!(policer.police(at(1), 480), Ok(()));
        assert_eq!(policer.discarded(PolicingDiscard::Length), 2);
    }

    #[test]
    fn a_babbling_talker_gets_what_its_table_grants() {
        for account in [Account::Frames, Account::Octets] {
            let mut policer = policer(account);
            let passed = (0..100_000_u64).filter(|us| policer.police(at(*us), 480).is_ok()).count();
            assert_eq!(passed, 51, "a bucket of 1.25 frames and one a BAG of 2 ms in 100 ms");
        }
    }

    proptest::proptest! {
        /// What was a BAG apart and is late by at most the jitter passes, whatever its lengths.
        #[test]
        fn conforming_frames_pass(
            frames in proptest::collection::vec((0_u64..3_000, 0_u64..=500, 64_u64..=480), 1..80),
            octets in proptest::bool::ANY,
        ) {
            let mut policer = policer(if octets { Account::Octets } else { Account::Frames });
            let (mut sent, mut last) = (0, 0);
            for (apart, late, length) in frames {
                sent += 2_000 + apart;
                last = (sent + late).max(last);
                proptest::prop_assert_eq!(policer.police(at(last), length), Ok(()));
            }
        }
    }
}
