//! Times of a participant (IEEE Std 802.1Q-2022, Table 10-7) and the rule of its transmit opportunities (10.7.4.1).

use tautwire_units::{Duration, Instant};

/// When a requested opportunity to send comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JoinRule {
    /// At once, but at most three in 1.5 join times: point-to-point links.
    AtOnce,
    /// After a delay, and at most three in 1.5 join times: as implementations with one timer do it (theirs is 100 ms).
    After(Duration),
    /// After a random part of the join time: shared media.
    Random,
}

/// Times of a participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MrpTiming {
    /// JoinTime.
    pub join: Duration,
    /// LeaveTime: from a received leave to the end of the registration.
    pub leave: Duration,
    /// LeaveAllTime; the timer runs for one to one and a half of it.
    pub leave_all: Duration,
    /// Period of periodic transmission, if there is one.
    pub periodic: Option<Duration>,
    /// When opportunities come.
    pub rule: JoinRule,
    /// How long after its last MRPDU a participant repeats its state, if nothing else requests an opportunity; zero:
    /// at the next opportunity. Point-to-point links alone.
    pub repeat: Duration,
}

impl Default for MrpTiming {
    /// 200 ms, 1 s (the longest that the table allows), 10 s; no periodic transmission; point-to-point.
    fn default() -> Self {
        Self {
            join: Duration::from_ms(200),
            leave: Duration::from_ms(1_000),
            leave_all: Duration::from_s(10),
            periodic: None,
            rule: JoinRule::AtOnce,
            repeat: Duration::ZERO,
        }
    }
}

/// The opportunities that were used lately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Opportunities {
    /// The last three, oldest first.
    last: [Option<Instant>; 3],
}

impl Opportunities {
    /// When an opportunity comes that is requested at `now`; `draw` is a random number.
    pub(super) fn next(&self, timing: &MrpTiming, now: Instant, draw: u64) -> Instant {
        let limited = match self.last[0] {
            Some(oldest) if planted!(WindowTenfold) => oldest + timing.join * 15,
            // Rounded up: not a picosecond too early.
            Some(oldest) => oldest + Duration::from_ps((timing.join.as_ps() * 3).div_ceil(2)),
            None => now,
        };
        match timing.rule {
            JoinRule::AtOnce => now.max(limited),
            JoinRule::After(delay) => (now + delay).max(limited),
            JoinRule::Random => now + Duration::from_ps(draw % timing.join.as_ps().max(1)),
        }
    }

    /// The last that was used.
    pub(super) fn last(&self) -> Option<Instant> {
        self.last[2]
    }

    pub(super) fn used(&mut self, now: Instant) {
        self.last = [self.last[1], self.last[2], Some(now)];
    }
}

/// The next number of a seeded stream (xorshift64*).
pub(super) fn draw(state: &mut u64) -> u64 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    state.wrapping_mul(0x2545_f491_4f6c_dd1d)
}
