//! How many elementary cycles a synchronous message waits at most, until a trigger message polls it.
//!
//! With C the time of a message and W what a cycle polls: while a message waits, each cycle polls more than W − C of those
//! before it, for else it would fit. From the last cycle on that left none of them waiting, n cycles have thus polled more
//! than n (W − C_max); so a message is polled in cycle n if those before it ask for no more in n cycles.
//! By deadlines, all messages keep theirs if in any n cycles those with both release and deadline inside ask for no more.
//! A message that waits when the next of its stream is released is lost: who waits longer than a period has no bound.

use tautwire_core::ftt::{SchedulerPolicy, SynchronousStream};
use tautwire_model::ftt::{Ftt, PolledStream};

/// Most cycles of a busy period that are looked at.
const CYCLES_MAX: u64 = 100_000;

/// In which cycle, counted from one at its release, a message is polled at the latest; none if it may be lost.
pub(super) fn response(ftt: &Ftt, polled: &PolledStream) -> Option<u64> {
    let window = ftt.windows.get(polled.switch.index()).copied().flatten()?.as_ps();
    let all: Vec<SynchronousStream> =
        ftt.polled.iter().filter(|other| other.switch == polled.switch).map(|other| other.config).collect();
    match ftt.policy {
        SchedulerPolicy::EarliestDeadlineFirst => {
            deadlines_kept(&all, window).then_some(u64::from(polled.config.deadline))
        }
        policy => by_priority(&all, &polled.config, window, policy),
    }
}

/// Who goes first is smaller.
fn rank(stream: &SynchronousStream, policy: SchedulerPolicy) -> (u32, u16) {
    match policy {
        SchedulerPolicy::ServerBased => (u32::from(u8::MAX - stream.priority), stream.id),
        _ => (stream.period, stream.id),
    }
}

fn by_priority(
    all: &[SynchronousStream],
    own: &SynchronousStream,
    window: u64,
    policy: SchedulerPolicy,
) -> Option<u64> {
    let before: Vec<&SynchronousStream> =
        all.iter().filter(|other| rank(other, policy) < rank(own, policy)).collect();
    // A server's second message would wait for the next cycle with the window left open.
    if policy == SchedulerPolicy::ServerBased
        && before.iter().any(|other| by_priority(all, other, window, policy).is_none())
    {
        return None;
    }
    let longest = before.iter().map(|other| other.time.as_ps()).max().unwrap_or(0).max(own.time.as_ps());
    let sure = window.checked_sub(longest)?;
    (1..=u64::from(own.period)).find(|cycles| {
        let asked = before.iter().fold(0_u64, |asked, other| {
            let releases = cycles.div_ceil(u64::from(other.period));
            asked.saturating_add(releases.saturating_mul(other.time.as_ps()))
        });
        asked <= cycles.saturating_mul(sure)
    })
}

/// Whether every message is polled by its deadline, if the earliest goes first.
fn deadlines_kept(all: &[SynchronousStream], window: u64) -> bool {
    let longest = all.iter().map(|stream| stream.time.as_ps()).max().unwrap_or(0);
    let Some(sure) = window.checked_sub(longest) else { return false };
    if all.iter().any(|stream| stream.deadline > stream.period || stream.deadline == 0) {
        return false;
    }
    for cycles in 1..=CYCLES_MAX {
        let asked = |counted: &dyn Fn(&SynchronousStream) -> u64| {
            all.iter().fold(0_u64, |asked, stream| {
                asked.saturating_add(counted(stream).saturating_mul(stream.time.as_ps()))
            })
        };
        let due = asked(&|stream| {
            let after = cycles.checked_sub(u64::from(stream.deadline));
            after.map_or(0, |after| after / u64::from(stream.period) + 1)
        });
        if due > cycles.saturating_mul(sure) {
            return false;
        }
        let released = asked(&|stream| cycles.div_ceil(u64::from(stream.period)));
        if released <= cycles.saturating_mul(sure) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use tautwire_model::network::{NodeIndex, StreamIndex};
    use tautwire_units::Duration;

    fn stream(id: u16, us: u64, period: u32, deadline: u32) -> SynchronousStream {
        let time = Duration::from_us(us);
        SynchronousStream { id, time, period, offset: 0, deadline, priority: 0, budget: 1 }
    }

    fn responses(policy: SchedulerPolicy, window_us: u64, streams: &[SynchronousStream]) -> Vec<Option<u64>> {
        let polled = streams.iter().map(|config| PolledStream {
            stream: StreamIndex(u32::from(config.id)),
            switch: NodeIndex(0),
            config: *config,
        });
        let windows = vec![Some(Duration::from_us(window_us))];
        let ftt =
            Ftt { policy, windows, triggers: Vec::new(), polled: polled.collect(), has_admission: false };
        ftt.polled.iter().map(|polled| response(&ftt, polled)).collect()
    }

    #[test]
    fn the_shorter_period_goes_first() {
        let streams = [stream(0, 10, 1, 1), stream(1, 10, 2, 2), stream(2, 10, 4, 4)];
        // 35 us: all three in one cycle would be polled, and the proof allows for one of 10 that does not fit.
        assert_eq!(responses(SchedulerPolicy::RateMonotonic, 35, &streams), [Some(1), Some(1), Some(1)]);
        assert_eq!(responses(SchedulerPolicy::RateMonotonic, 25, &streams), [Some(1), Some(1), Some(2)]);
        assert_eq!(responses(SchedulerPolicy::RateMonotonic, 20, &streams), [Some(1), Some(1), None]);
    }

    #[test]
    fn deadlines_are_kept_or_nothing_is_promised() {
        let streams = [stream(0, 10, 3, 3), stream(1, 10, 4, 1)];
        assert_eq!(responses(SchedulerPolicy::EarliestDeadlineFirst, 20, &streams), [Some(3), Some(1)]);
        let more = [stream(0, 10, 1, 1), stream(1, 10, 4, 1)];
        assert_eq!(responses(SchedulerPolicy::EarliestDeadlineFirst, 20, &more), [None, None]);
    }
}
