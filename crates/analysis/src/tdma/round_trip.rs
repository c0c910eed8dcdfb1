//! Round trips: a request, and the response that its listener sends in a slot of its own.
//!
//! In: waits and paths of both. Out: the time from the request's hand-over to the response's slot (equations 3 and 4
//! of the published evaluation of RTnet, with the middle case corrected). Not here: the response's path.

use tautwire_model::network::StreamIndex;
use tautwire_units::Duration;

use super::Cycle;
use super::arrivals::Arrivals;
use super::way::Range;
use crate::service::Terms;

/// Most cycles in which the slot of a response is looked for; one that takes longer waits like any frame.
const LOOKED_AT_MAX: u64 = 100_000;

impl Cycle<'_> {
    /// From the hand-over of a request to the start of its response's slot: least, and what the greatest is made of.
    pub(super) fn response(
        &self,
        number: StreamIndex,
        to: StreamIndex,
        turn_around: Duration,
    ) -> Option<(u64, Terms)> {
        let ready = self.ready(number, to, turn_around)?;
        let (begin_min, begin) = self.begin(to)?;
        let apart = match self.same_cycle(number, to, ready) {
            Some(apart) => apart,
            None => ready.max.checked_add(self.wait(number)?)?,
        };
        begin.total().checked_add(apart)?;
        let most = Terms::of("host and slot of its request", begin.total());
        Some((begin_min + ready.min, most.and("from that slot to its own", apart)))
    }

    /// Upper bound from the slot of a request to that of its response, if every request finds a slot for its response
    /// that no other needs; the offsets of the slots then determine their distance. Slots of requests may share the
    /// response's slot if they are nearer to each other than two requests.
    pub(super) fn same_cycle(&self, number: StreamIndex, to: StreamIndex, ready: Range) -> Option<u64> {
        let response = &self.network.streams[number.index()];
        let alone = self.network.streams.iter().enumerate().all(|(other, stream)| {
            other == number.index() || stream.talker != response.talker || stream.traffic.is_control()
        });
        let alone = alone && self.network.frames_a_message(number) == 1;
        if !alone || self.lost > 0 || self.lifetime.is_some() {
            return None;
        }
        let least = self.requests_apart(to);
        let near =
            |one: u64, other: u64| self.deviation.stretch(other - one) + self.early + self.late < least;
        let cycle_ps = self.cycles * self.tdma.cycle.as_ps();
        let requests = self.starts(to, self.cycles);
        let looked_at = 2 * self.cycles + self.cycles_of(ready.max) + 1;
        if looked_at > LOOKED_AT_MAX {
            return None;
        }
        let slots = self.starts(number, looked_at);
        // The slot of the response, and the first of the requests that have it.
        let (mut first, mut before, mut most) = (None, None, 0);
        for request in requests {
            let latest = request + self.deviation.stretch(ready.max) + self.early + self.late;
            let slot = *slots.iter().find(|slot| **slot >= latest)?;
            before = match before {
                Some((known, since)) if known == slot && !near(since, request) => return None,
                Some((known, since)) if known == slot => Some((known, since)),
                _ => Some((slot, request)),
            };
            first = first.or(Some(slot));
            most = most.max(slot - request);
        }
        // The first request of the next round finds its slot behind the last one's.
        if before?.0 >= first? + cycle_ps {
            return None;
        }
        Some(self.deviation.stretch(most) + self.early + self.late)
    }

    /// From the slot of a request to that of the next one of its stream at least.
    fn requests_apart(&self, number: StreamIndex) -> u64 {
        match (self.arrivals(number), self.wait(number)) {
            (Some(Arrivals::Periodic { interval, jitter, burst: 1 }), Some(wait)) => {
                interval.saturating_sub(jitter).saturating_sub(wait)
            }
            _ => 0,
        }
    }

    /// The number of cycles that a span may take, rounded down, and one more.
    pub(super) fn cycles_of(&self, span: u64) -> u64 {
        (self.deviation.stretch(span) + self.early + self.late) / self.tdma.cycle.as_ps().max(1) + 1
    }
}
