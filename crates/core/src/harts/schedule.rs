//! The synchronous schedule, built cycle by cycle: the messages that a trigger message polls always fit the window.
//!
//! Messages of streams that come from another switch (`relay`) wait in a memory pool of their own, first in, first out; those
//! that are there when a cycle begins are ready in it, are scheduled among the others, and leave in the synchronous window
//! without being polled. Invariants: all messages of a cycle, local or relayed, are together no longer than the
//! window; a pool holds no more than it was given.

use alloc::vec::Vec;

use tautwire_units::Duration;
use tautwire_wire::harts::Polled;

/// Which of several messages goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SchedulerPolicy {
    /// The shorter period (rate monotonic).
    RateMonotonic,
    /// The earlier absolute deadline.
    EarliestDeadlineFirst,
    /// By priority, each within a budget of its own for every period.
    ServerBased,
}

/// A synchronous stream, times in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SynchronousStream {
    /// Its identifier.
    pub id: u16,
    /// Time of its message in the window.
    pub time: Duration,
    /// Period.
    pub period: u32,
    /// The cycle of its first message.
    pub offset: u32,
    /// Relative deadline.
    pub deadline: u32,
    /// Priority, for the server-based policy; the greater goes first.
    pub priority: u8,
    /// Messages that its server lets pass in a period, for the server-based policy.
    pub budget: u8,
}

/// A message that is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Ready {
    stream: SynchronousStream,
    released: u32,
}

/// The memory pool of a stream that comes from another switch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Pool {
    stream: SynchronousStream,
    /// Messages that it holds at most.
    size: u32,
    /// Those that it holds.
    held: u32,
    /// Those of them that came behind the start of the last cycle.
    fresh: u32,
}

/// The scheduler of a master.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SynchronousScheduler {
    policy: SchedulerPolicy,
    window: Duration,
    streams: Vec<SynchronousStream>,
    pools: Vec<Pool>,
    ready: Vec<Ready>,
    cycle: u32,
    /// Messages that were still waiting when the next of their stream came.
    missed: u32,
    /// What was polled last: streams, and the cycles in which their messages were released.
    last: Vec<(u16, u32)>,
    /// The streams of which a message leaves its pool in the last cycle, message by message.
    relayed: Vec<u16>,
    /// The time of these and of the polled ones.
    taken: Duration,
}

impl SynchronousScheduler {
    /// A scheduler for a synchronous window; cycles are numbered from 0.
    #[must_use]
    pub const fn new(policy: SchedulerPolicy, window: Duration) -> Self {
        Self {
            policy,
            window,
            streams: Vec::new(),
            pools: Vec::new(),
            ready: Vec::new(),
            cycle: 0,
            missed: 0,
            last: Vec::new(),
            relayed: Vec::new(),
            taken: Duration::ZERO,
        }
    }

    /// Adds a stream from the next cycle on; others are not disturbed. False, and nothing is changed, if it is in the
    /// schedule already, its period is zero, or its message is longer than the window.
    pub fn add(&mut self, stream: SynchronousStream) -> bool {
        if !self.takes(&stream) {
            return false;
        }
        self.streams.push(stream);
        true
    }

    /// Adds a stream whose messages come from another switch, with a pool of so many; its offset is ignored. False as
    /// in [`add`](Self::add), and for a pool of none.
    pub fn relay(&mut self, stream: SynchronousStream, pool: u32) -> bool {
        if pool == 0 || !self.takes(&stream) {
            return false;
        }
        self.pools.push(Pool { stream, size: pool, held: 0, fresh: 0 });
        true
    }

    /// Replaces a stream of the schedule from the next cycle on; its ready messages stay. False, and nothing is
    /// changed, if there is none, its period is zero, or its message is longer than the window.
    pub fn change(&mut self, stream: SynchronousStream) -> bool {
        if stream.time > self.window || stream.period == 0 {
            return false;
        }
        let ready = self.ready.iter_mut().map(|ready| &mut ready.stream);
        let pooled = self.pools.iter_mut().map(|pool| &mut pool.stream);
        let known = self.streams.iter_mut().chain(pooled).chain(ready).filter(|known| known.id == stream.id);
        known.map(|known| *known = stream).count() > 0
    }

    /// The total time of the messages of the last cycle.
    #[must_use]
    pub const fn taken(&self) -> Duration {
        self.taken
    }

    fn takes(&self, stream: &SynchronousStream) -> bool {
        let known = self.streams.iter().chain(self.pools.iter().map(|pool| &pool.stream));
        let is_new = known.into_iter().all(|known| known.id != stream.id);
        stream.time <= self.window && stream.period > 0 && is_new
    }

    /// Whether it has a pool for a stream.
    #[must_use]
    pub fn relays(&self, id: u16) -> bool {
        self.pools.iter().any(|pool| pool.stream.id == id)
    }

    /// Messages that the pool of a stream holds; none without one.
    #[must_use]
    pub fn held(&self, id: u16) -> u32 {
        self.pools.iter().find(|pool| pool.stream.id == id).map_or(0, |pool| pool.held)
    }

    /// A message of a relayed stream has come. False, and it is to be discarded, if its pool is full or there is none.
    pub fn hold(&mut self, id: u16) -> bool {
        let Some(pool) = self.pools.iter_mut().find(|pool| pool.stream.id == id) else { return false };
        if pool.held >= pool.size {
            return false;
        }
        pool.held += 1;
        pool.fresh += 1;
        true
    }

    /// All pools are emptied, as when the switch stops.
    pub fn empty_pools(&mut self) {
        for pool in &mut self.pools {
            (pool.held, pool.fresh) = (0, 0);
        }
        let pools = &self.pools;
        self.ready.retain(|ready| pools.iter().all(|pool| pool.stream.id != ready.stream.id));
    }

    /// Gives a stream up, with what its pool holds.
    pub fn remove(&mut self, id: u16) {
        self.streams.retain(|stream| stream.id != id);
        self.pools.retain(|pool| pool.stream.id != id);
        self.ready.retain(|ready| ready.stream.id != id);
    }

    /// The messages that the next cycle polls, in order: with those of [`relayed`](Self::relayed) no longer than the window.
    pub fn next_cycle(&mut self) -> Vec<Polled> {
        let cycle = self.cycle;
        self.cycle = cycle.wrapping_add(1);
        for stream in &self.streams {
            let since = cycle.checked_sub(stream.offset);
            if since.is_some_and(|since| since % stream.period == 0) {
                let old = self.ready.len();
                if self.policy != SchedulerPolicy::ServerBased {
                    self.ready.retain(|ready| ready.stream.id != stream.id);
                    self.missed += u32::from(self.ready.len() < old);
                }
                self.ready.push(Ready { stream: *stream, released: cycle });
            }
        }
        for pool in self.pools.iter_mut().filter(|_| !planted!(PoolsForgotten) || cycle.is_multiple_of(4)) {
            let fresh = core::mem::take(&mut pool.fresh);
            self.ready.extend((0..fresh).map(|_| Ready { stream: pool.stream, released: cycle }));
        }
        let policy = self.policy;
        self.ready.sort_by_key(|ready| match policy {
            SchedulerPolicy::RateMonotonic => (ready.stream.period, ready.stream.id),
            SchedulerPolicy::EarliestDeadlineFirst => {
                (ready.released.saturating_add(ready.stream.deadline), ready.stream.id)
            }
            SchedulerPolicy::ServerBased => (u32::from(u8::MAX - ready.stream.priority), ready.stream.id),
        });
        self.choose()
    }

    /// Chooses ready messages, in order, that fit the window.
    fn choose(&mut self) -> Vec<Polled> {
        let (policy, pools) = (self.policy, &mut self.pools);
        let (mut left, mut taken) = (self.window, Duration::ZERO);
        let mut polled: Vec<Polled> = Vec::new();
        let mut last = core::mem::take(&mut self.last);
        let mut relayed = core::mem::take(&mut self.relayed);
        last.clear();
        relayed.clear();
        self.ready.retain(|ready| {
            let stream = &ready.stream;
            let pool = pools.iter_mut().find(|pool| pool.stream.id == stream.id);
            let already = polled.iter_mut().find(|known| known.stream == stream.id);
            let frames = already.as_ref().map_or(0, |known| known.frames);
            // A message from another switch was charged to its budget there; its pool limits how much may have accumulated.
            let in_budget =
                policy != SchedulerPolicy::ServerBased || pool.is_some() || frames < stream.budget.max(1);
            if (stream.time > left || !in_budget) && !planted!(ScheduleOverfull) {
                return true;
            }
            left = left.saturating_sub(stream.time);
            taken += stream.time;
            if let Some(pool) = pool {
                pool.held -= 1;
                relayed.push(stream.id);
                return false;
            }
            last.push((stream.id, ready.released));
            match already {
                Some(known) => known.frames += 1,
                None => polled.push(Polled { stream: stream.id, frames: 1 }),
            }
            false
        });
        self.last = last;
        self.relayed = relayed;
        self.taken = taken;
        polled
    }

    /// The streams of which a message leaves its pool in the last cycle, in order, message by message.
    #[must_use]
    pub fn relayed(&self) -> &[u16] {
        &self.relayed
    }

    /// What the last cycle polls, message by message: the stream, and the cycle in which it was released.
    #[must_use]
    pub fn released(&self) -> &[(u16, u32)] {
        &self.last
    }

    /// The number of the next cycle.
    #[must_use]
    pub const fn cycle(&self) -> u32 {
        self.cycle
    }

    /// Messages that were not polled before the next of their stream came.
    #[must_use]
    pub const fn missed(&self) -> u32 {
        self.missed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(id: u16, us: u64, period: u32, deadline: u32) -> SynchronousStream {
        SynchronousStream {
            id,
            time: Duration::from_us(us),
            period,
            offset: 0,
            deadline,
            priority: 0,
            budget: 1,
        }
    }

    fn polled(scheduler: &mut SynchronousScheduler, cycles: usize) -> Vec<Vec<u16>> {
        let cycle = |_| scheduler.next_cycle().iter().map(|polled| polled.stream).collect();
        (0..cycles).map(cycle).collect()
    }

    #[test]
    fn what_does_not_fit_waits_for_the_next_cycle() {
        let mut scheduler = SynchronousScheduler::new(SchedulerPolicy::RateMonotonic, Duration::from_us(30));
        for (id, period) in [(1, 1), (2, 2), (3, 4)] {
            assert!(scheduler.add(stream(id, 15, period, period)));
        }
        assert_eq!(polled(&mut scheduler, 4), [vec![1, 2], vec![1, 3], vec![1, 2], vec![1]]);
        assert_eq!(scheduler.missed(), 0);
    }

    #[test]
    fn deadlines_change_the_order() {
        let run = |policy| {
            let mut scheduler = SynchronousScheduler::new(policy, Duration::from_us(15));
            assert!(scheduler.add(stream(1, 15, 3, 3)) && scheduler.add(stream(2, 15, 4, 1)));
            polled(&mut scheduler, 3)
        };
        assert_eq!(run(SchedulerPolicy::RateMonotonic), [vec![1], vec![2], vec![]]);
        assert_eq!(run(SchedulerPolicy::EarliestDeadlineFirst), [vec![2], vec![1], vec![]]);
    }

    #[test]
    fn a_budget_holds_what_piled_up() {
        let mut scheduler = SynchronousScheduler::new(SchedulerPolicy::ServerBased, Duration::from_us(30));
        let important = SynchronousStream { priority: 5, ..stream(1, 30, 4, 4) };
        assert!(scheduler.add(important) && scheduler.add(stream(2, 15, 1, 1)));
        let frames: Vec<u8> =
            (0..4).map(|_| scheduler.next_cycle().iter().map(|polled| polled.frames).sum()).collect();
        assert_eq!(
            frames,
            [1, 1, 1, 1],
            "stream 2 has one message a cycle, though one more piled up in the first"
        );
    }

    #[test]
    fn streams_come_and_go_without_disturbing_others() {
        let mut scheduler = SynchronousScheduler::new(SchedulerPolicy::RateMonotonic, Duration::from_us(30));
        assert!(scheduler.add(stream(1, 15, 1, 1)) && !scheduler.add(stream(1, 15, 1, 1)));
        assert!(!scheduler.add(stream(9, 31, 1, 1)), "longer than the window");
        assert_eq!(polled(&mut scheduler, 1), [vec![1]]);
        assert!(scheduler.add(stream(2, 15, 1, 1)));
        assert_eq!(polled(&mut scheduler, 1), [vec![1, 2]]);
        scheduler.remove(2);
        assert_eq!(polled(&mut scheduler, 1), [vec![1]]);
    }

    #[test]
    fn messages_of_other_switches_wait_for_a_cycle_and_share_its_window() {
        let mut scheduler = SynchronousScheduler::new(SchedulerPolicy::RateMonotonic, Duration::from_us(30));
        assert!(scheduler.add(stream(1, 15, 1, 1)) && scheduler.relay(stream(2, 15, 2, 2), 2));
        assert!(!scheduler.relay(stream(1, 15, 1, 1), 2) && !scheduler.relay(stream(3, 15, 1, 1), 0));
        assert!(!scheduler.hold(1) && !scheduler.hold(9), "no pools");
        assert_eq!(polled(&mut scheduler, 1), [vec![1]]);
        assert!(scheduler.relayed().is_empty(), "nothing has come");
        assert!(scheduler.hold(2) && scheduler.hold(2));
        assert!(!scheduler.hold(2), "the pool is full");
        // 15 us of 30 are left: one message of the two goes, and its place is free again.
        assert_eq!(polled(&mut scheduler, 1), [vec![1]]);
        assert_eq!(scheduler.relayed(), [2]);
        assert!(scheduler.hold(2) && !scheduler.hold(2));
        assert_eq!(polled(&mut scheduler, 1), [vec![1]]);
        assert_eq!(scheduler.relayed(), [2]);
        scheduler.empty_pools();
        assert_eq!(polled(&mut scheduler, 1), [vec![1]]);
        assert!(scheduler.relayed().is_empty(), "what was held is gone");
        scheduler.remove(2);
        assert!(!scheduler.hold(2));
    }

    #[test]
    fn what_piled_up_in_a_pool_may_leave_at_once() {
        for policy in [
            SchedulerPolicy::RateMonotonic,
            SchedulerPolicy::EarliestDeadlineFirst,
            SchedulerPolicy::ServerBased,
        ] {
            let mut scheduler = SynchronousScheduler::new(policy, Duration::from_us(30));
            assert!(scheduler.relay(stream(2, 15, 1, 1), 3));
            assert!(scheduler.hold(2) && scheduler.hold(2) && scheduler.hold(2));
            assert!(scheduler.next_cycle().is_empty(), "no node is polled for them");
            assert_eq!(scheduler.relayed(), [2, 2], "{policy:?}");
        }
    }

    use alloc::vec;
}
