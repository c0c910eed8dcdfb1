//! How many elementary cycles a synchronous message waits at most, until the schedule of a switch takes it.
//!
//! With C the time of a message and W the time of a cycle's window: while a message waits, each cycle takes more than
//! W − C of those before it, since otherwise it would fit. Since the last cycle that left none of them waiting, n
//! cycles have thus taken more than n (W − C_max); so a message is taken in cycle n if those before it need no more in
//! n cycles. By deadlines, all messages keep theirs if in any n cycles those with both release and deadline inside
//! need no more; and none waits longer than n cycles if all that is released needs no more.
//!
//! A local stream releases a message every period; one that still waits at the next release is lost: a wait longer
//! than a period has no bound. Messages from another switch are released as they come, none is lost while its pool has
//! room, and earlier messages of the same stream go before: so every message of a busy period is examined. Not here:
//! how messages come from other switches (`relayed.rs`).

use tautwire_core::harts::{SchedulerPolicy, SynchronousStream};

use super::arrivals::Arrivals;

/// Most cycles of a busy period that are looked at.
const CYCLES_MAX: u64 = 20_000;

/// A stream at a switch, as its master's schedule meets it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scheduled {
    pub(super) config: SynchronousStream,
    pub(super) releases: Releases,
}

/// How messages are released.
#[derive(Clone, Copy, Debug)]
pub(super) enum Releases {
    /// One each period, by the switch's own count of cycles.
    Local,
    /// As they come from another switch: at most so many in the span of some cycles, whose length is given.
    Relayed {
        arrivals: Arrivals,
        /// Length of a cycle at most.
        cycle: u64,
        /// By how much clocks lengthen a span.
        slack: u64,
        /// Messages that may wait.
        pool: u32,
    },
}

impl Scheduled {
    /// Most messages that are released in so many cycles.
    fn released(&self, cycles: u64) -> u64 {
        match self.releases {
            Releases::Local => cycles.div_ceil(u64::from(self.config.period)),
            Releases::Relayed { arrivals, cycle, slack, .. } => {
                // What is released in these cycles came from the start of the one before them on.
                if cycles == 0 {
                    return 0;
                }
                arrivals.frames(cycles.saturating_mul(cycle).saturating_add(slack))
            }
        }
    }

    fn asks(&self, cycles: u64) -> u64 {
        self.released(cycles).saturating_mul(self.config.time.as_ps())
    }

    /// A response, if a pool holds what comes meanwhile.
    fn held(&self, response: u64) -> Option<u64> {
        match self.releases {
            Releases::Local => Some(response),
            // It came up to a cycle before it was released.
            Releases::Relayed { pool, .. } => {
                (self.released(response) <= u64::from(pool)).then_some(response)
            }
        }
    }

    /// The rank of a message: a smaller one goes first.
    fn rank(&self, policy: SchedulerPolicy) -> (u32, u16) {
        match policy {
            SchedulerPolicy::ServerBased => (u32::from(u8::MAX - self.config.priority), self.config.id),
            _ => (self.config.period, self.config.id),
        }
    }
}

/// The latest cycle, counted from one at its release, in which a message of each stream is taken; none if it may be
/// lost. All are of one switch, whose cycles have room for `window` picoseconds of messages.
pub(super) fn responses(all: &[Scheduled], window: u64, policy: SchedulerPolicy) -> Vec<Option<u64>> {
    if policy == SchedulerPolicy::EarliestDeadlineFirst {
        let busy = deadlines_kept(all, window);
        let response = |one: &Scheduled| one.held(busy?.min(u64::from(one.config.deadline)));
        return all.iter().map(response).collect();
    }
    let found: Vec<Option<u64>> = all.iter().map(|own| by_priority(all, own, window, policy)).collect();
    all.iter()
        .zip(&found)
        .map(|(own, response)| {
            // A server's second message would wait for the next cycle with the window left open.
            let lost = |(other, response): (&Scheduled, &Option<u64>)| {
                matches!(other.releases, Releases::Local)
                    && response.is_none()
                    && other.rank(policy) < own.rank(policy)
            };
            let waits = policy == SchedulerPolicy::ServerBased && all.iter().zip(&found).any(lost);
            response.filter(|_| !waits)
        })
        .collect()
}

fn by_priority(all: &[Scheduled], own: &Scheduled, window: u64, policy: SchedulerPolicy) -> Option<u64> {
    let before: Vec<&Scheduled> = all.iter().filter(|other| other.rank(policy) < own.rank(policy)).collect();
    let longest = before.iter().map(|other| other.config.time).max().unwrap_or_default().max(own.config.time);
    let sure = window.checked_sub(longest.as_ps())?;
    // Whether the messages before the `number`-th are all taken in so many cycles, and it with them.
    let taken = |cycles: u64, number: u64| {
        let earlier = (number - 1).saturating_mul(own.config.time.as_ps());
        let asked = before.iter().fold(earlier, |asked, other| asked.saturating_add(other.asks(cycles)));
        asked <= cycles.saturating_mul(sure)
    };
    if matches!(own.releases, Releases::Local) {
        return (1..=u64::from(own.config.period)).find(|cycles| taken(*cycles, 1));
    }
    let (mut cycles, mut begins, mut worst) = (1, 1, 1);
    for number in 1.. {
        while !taken(cycles, number) {
            cycles += 1;
            if cycles > CYCLES_MAX {
                return None;
            }
        }
        // The cycle in which it is released at the earliest.
        while own.released(begins) < number {
            begins += 1;
        }
        if begins > cycles {
            break;
        }
        worst = worst.max(cycles - begins + 1);
        own.held(worst)?;
    }
    own.held(worst)
}

/// If every message is taken by its deadline, the earliest first: after how many cycles none waits any more.
fn deadlines_kept(all: &[Scheduled], window: u64) -> Option<u64> {
    let longest = all.iter().map(|stream| stream.config.time.as_ps()).max().unwrap_or(0);
    let sure = window.checked_sub(longest)?;
    let is_wrong = |one: &Scheduled| {
        let is_local = matches!(one.releases, Releases::Local);
        one.config.deadline == 0 || (is_local && one.config.deadline > one.config.period)
    };
    if all.iter().any(is_wrong) {
        return None;
    }
    for cycles in 1..=CYCLES_MAX {
        // Those that are released so early that their deadlines are inside, too.
        let due = all.iter().fold(0_u64, |due, stream| {
            let early = (cycles + 1).saturating_sub(u64::from(stream.config.deadline));
            due.saturating_add(stream.asks(early))
        });
        if due > cycles.saturating_mul(sure) {
            return None;
        }
        let released = all.iter().fold(0_u64, |asked, stream| asked.saturating_add(stream.asks(cycles)));
        if released <= cycles.saturating_mul(sure) {
            return Some(cycles);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use tautwire_units::Duration;

    fn stream(id: u16, us: u64, period: u32, deadline: u32) -> Scheduled {
        let time = Duration::from_us(us);
        let config = SynchronousStream { id, time, period, offset: 0, deadline, priority: 0, budget: 1 };
        Scheduled { config, releases: Releases::Local }
    }

    /// Of a cycle of 100 us, with clocks that agree.
    fn relayed(id: u16, us: u64, period: u32, jitter_us: u64, pool: u32) -> Scheduled {
        let cycle = 100_000_000;
        let interval = cycle * u64::from(period) + 1;
        let arrivals = Arrivals::Periodic { interval, jitter: jitter_us * 1_000_000, burst: 1, extra: 0 };
        let releases = Releases::Relayed { arrivals, cycle, slack: 0, pool };
        Scheduled { releases, ..stream(id, us, period, period) }
    }

    fn found(policy: SchedulerPolicy, window_us: u64, streams: &[Scheduled]) -> Vec<Option<u64>> {
        responses(streams, window_us * 1_000_000, policy)
    }

    #[test]
    fn the_shorter_period_goes_first() {
        let streams = [stream(0, 10, 1, 1), stream(1, 10, 2, 2), stream(2, 10, 4, 4)];
        // 35 us: all three in one cycle would be polled, and the proof allows for one of 10 that does not fit.
        assert_eq!(found(SchedulerPolicy::RateMonotonic, 35, &streams), [Some(1), Some(1), Some(1)]);
        assert_eq!(found(SchedulerPolicy::RateMonotonic, 25, &streams), [Some(1), Some(1), Some(2)]);
        assert_eq!(found(SchedulerPolicy::RateMonotonic, 20, &streams), [Some(1), Some(1), None]);
    }

    #[test]
    fn deadlines_are_kept_or_nothing_is_promised() {
        let streams = [stream(0, 10, 3, 3), stream(1, 10, 4, 1)];
        assert_eq!(found(SchedulerPolicy::EarliestDeadlineFirst, 20, &streams), [Some(2), Some(1)]);
        let more = [stream(0, 10, 1, 1), stream(1, 10, 4, 1)];
        assert_eq!(found(SchedulerPolicy::EarliestDeadlineFirst, 20, &more), [None, None]);
    }

    #[test]
    fn what_comes_from_elsewhere_may_come_twice() {
        // With a deadline 40 us shorter than its period, two messages of stream 0 may go before one of stream 1.
        let streams = [relayed(0, 10, 1, 40, 4), stream(1, 10, 4, 4)];
        assert_eq!(found(SchedulerPolicy::RateMonotonic, 35, &streams), [Some(1), Some(1)]);
        assert_eq!(found(SchedulerPolicy::RateMonotonic, 30, &streams), [Some(1), Some(1)]);
        // 25 us less the longest: 15 us a cycle, three messages of 10 us are taken in two cycles; stream 0 needs 20, then 30.
        assert_eq!(found(SchedulerPolicy::RateMonotonic, 25, &streams), [Some(1), Some(2)]);
        // Stream 0 alone: the second of two that came together waits a cycle.
        assert_eq!(found(SchedulerPolicy::RateMonotonic, 19, &[relayed(0, 10, 2, 150, 4)]), [Some(2)]);
        assert_eq!(
            found(SchedulerPolicy::RateMonotonic, 19, &[relayed(0, 10, 2, 150, 1)]),
            [None],
            "no room"
        );
        assert_eq!(
            found(SchedulerPolicy::RateMonotonic, 19, &[relayed(0, 10, 1, 150, 9)]),
            [None],
            "too fast"
        );
    }

    #[test]
    fn a_local_stream_that_piles_up_spoils_those_behind_it_and_a_relayed_one_does_not() {
        let (heavy, light) = (stream(0, 20, 1, 1), stream(1, 10, 4, 4));
        let policy = SchedulerPolicy::ServerBased;
        assert_eq!(found(policy, 30, &[heavy, light]), [Some(1), None]);
        assert_eq!(found(policy, 45, &[heavy, light]), [Some(1), Some(1)]);
        let relayed = relayed(0, 10, 1, 250, 4);
        assert_eq!(found(policy, 60, &[relayed, light])[1], Some(1), "four before one");
    }
}
