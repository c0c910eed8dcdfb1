//! Verification that the other end of a link takes mPackets (IEEE Std 802.3-2022, 99.4.3 and 99.4.7).
//!
//! In: the link comes up or goes down, the mPacket that verifies is on the line, the other end has responded, the deadline has passed. Out: whether to send
//! such an mPacket, and whether preemption is active. Up to [`VERIFY_LIMIT`] attempts are made; the time of each begins when its mPacket is sent. An end
//! that is asked responds, whether it has verified the other itself or not: that needs no machine.

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
    pub fn begin(&mut self) -> bool {
        (self.attempts, self.deadline) = (0, None);
        if self.disabled {
            self.status = VerifyStatus::Disabled;
            return false;
        }
        (self.status, self.attempts) = (VerifyStatus::Verifying, 1);
        true
    }

    /// The mPacket of this attempt leaves now.
    pub fn sent(&mut self, now: Instant) {
        if self.status == VerifyStatus::Verifying {
            self.deadline = Some(now.saturating_add(self.time));
        }
    }

    /// The link goes down.
    pub fn reset(&mut self) {
        (self.status, self.deadline) = (VerifyStatus::Initial, None);
    }

    /// The deadline has passed: whether to send another one.
    pub fn expire(&mut self, now: Instant) -> bool {
        if self.status != VerifyStatus::Verifying || self.deadline.is_none_or(|deadline| deadline > now) {
            return false;
        }
        self.deadline = None;
        if self.attempts < VERIFY_LIMIT {
            self.attempts += 1;
            return true;
        }
        self.status = VerifyStatus::Failed;
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
        assert!(port.begin() && !port.is_active());
        assert_eq!(port.deadline(), None, "it has not left yet");
        port.sent(ms(1));
        assert!(!port.expire(ms(10)), "not yet");
        assert!(port.expire(ms(11)) && !port.expire(ms(30)));
        port.sent(ms(12));
        assert!(port.expire(ms(22)));
        port.sent(ms(22));
        assert_eq!(port.status(), VerifyStatus::Verifying);
        assert!(!port.expire(ms(32)));
        assert_eq!((port.status(), port.deadline()), (VerifyStatus::Failed, None));
        port.respond();
        assert!(!port.is_active(), "too late");
        assert!(port.begin());
        port.respond();
        assert!(port.is_active());
        port.reset();
        assert!(!port.is_active());
    }

    #[test]
    fn what_is_not_to_be_verified_is_active_at_once() {
        let mut port = Verification::new(true, Duration::from_ms(10));
        assert!(!port.begin() && port.is_active());
        assert_eq!(port.status(), VerifyStatus::Disabled);
    }
}
