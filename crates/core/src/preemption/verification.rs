//! Verification that the other end of a link takes mPackets (IEEE Std 802.3-2022, 99.4.3 and 99.4.7).
//!
//! In: the link comes up or goes down, an mPacket that verifies or responds has come, the deadline has passed. Out: what to send, and whether preemption is
//! active. Up to [`VERIFY_LIMIT`] attempts are made. An end that is asked responds, whether it has verified the other itself or not.

use tautwire_units::{Duration, Instant};

/// Attempts of a verification.
pub const VERIFY_LIMIT: u8 = 3;

/// How far a verification is (aMACMergeStatusVerify, 30.14.1.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum VerifyStatus {
    /// The link is down.
    #[default]
    Initial,
    /// It is under way.
    Verifying,
    /// The other end has responded.
    Succeeded,
    /// It has not.
    Failed,
    /// It is not to be verified (aMACMergeVerifyDisableTx).
    Disabled,
}

/// The verification of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verification {
    /// Whether the other end is not asked.
    disabled: bool,
    time: Duration,
    status: VerifyStatus,
    attempts: u8,
    deadline: Option<Instant>,
}

impl Verification {
    /// Of a link that is down. `time` is that of an attempt.
    #[must_use]
    pub const fn new(disabled: bool, time: Duration) -> Self {
        Self { disabled, time, status: VerifyStatus::Initial, attempts: 0, deadline: None }
    }

    /// The same of a link that has been up for long: with this result.
    #[must_use]
    pub const fn settled(self, responds: bool) -> Self {
        let status = match (self.disabled, responds) {
            (true, _) => VerifyStatus::Disabled,
            (false, true) => VerifyStatus::Succeeded,
            (false, false) => VerifyStatus::Failed,
        };
        Self { status, ..self }
    }

    /// The link comes up: whether to send an mPacket that verifies.
    pub fn begin(&mut self, now: Instant) -> bool {
        (self.attempts, self.deadline) = (0, None);
        if self.disabled {
            self.status = VerifyStatus::Disabled;
            return false;
        }
        self.status = VerifyStatus::Verifying;
        self.attempt(now);
        true
    }

    /// The link goes down.
    pub fn reset(&mut self) {
        (self.status, self.deadline) = (VerifyStatus::Initial, None);
    }

    fn attempt(&mut self, now: Instant) {
        self.attempts += 1;
        self.deadline = Some(now.saturating_add(self.time));
    }

    /// The deadline has passed: whether to send another one.
    pub fn expire(&mut self, now: Instant) -> bool {
        if self.status != VerifyStatus::Verifying || self.deadline.is_none_or(|deadline| deadline > now) {
            return false;
        }
        if self.attempts < VERIFY_LIMIT {
            self.attempt(now);
            return true;
        }
        (self.status, self.deadline) = (VerifyStatus::Failed, None);
        false
    }

    /// The other end has responded.
    pub fn respond(&mut self) {
        if self.status == VerifyStatus::Verifying {
            (self.status, self.deadline) = (VerifyStatus::Succeeded, None);
        }
    }

    /// How far it is.
    #[must_use]
    pub const fn status(&self) -> VerifyStatus {
        self.status
    }

    /// Whether frames may be preempted (aMACMergeStatusTx).
    #[must_use]
    pub const fn is_active(&self) -> bool {
        matches!(self.status, VerifyStatus::Succeeded | VerifyStatus::Disabled)
    }

    /// When an attempt is over.
    #[must_use]
    pub const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn three_attempts_are_made() {
        let mut port = Verification::new(false, Duration::from_ms(10));
        assert!(port.begin(ms(1)) && !port.is_active());
        assert!(!port.expire(ms(10)), "not yet");
        assert!(port.expire(ms(11)) && port.expire(ms(21)));
        assert_eq!(port.status(), VerifyStatus::Verifying);
        assert!(!port.expire(ms(31)));
        assert_eq!((port.status(), port.deadline()), (VerifyStatus::Failed, None));
        port.respond();
        assert!(!port.is_active(), "too late");
        assert!(port.begin(ms(50)));
        port.respond();
        assert!(port.is_active());
        port.reset();
        assert!(!port.is_active());
    }

    #[test]
    fn what_is_not_to_be_verified_is_active_at_once() {
        let mut port = Verification::new(true, Duration::from_ms(10));
        assert!(!port.begin(ms(1)) && port.is_active());
        assert_eq!(port.status(), VerifyStatus::Disabled);
    }
}
