//! Synchronous streams over several switches: the arrivals of their messages at each of them, and the delay there.
//!
//! Elementary cycles of switches are not aligned and their clocks drift, so a message may come at any place of a cycle: it is
//! ready when the next begins, at most a cycle later, and the schedule there takes it in cycle R of those from then on
//! (`synchronous.rs`). It leaves in the synchronous window, which ends O behind the start of a cycle:
//!
//! ```text
//! first switch   = (R − 1) E + O + cable          from the start of the cycle in which it was released
//! further switch = stages + R E + O + cable       from its last bit
//! ```
//!
//! It leaves no earlier than the window begins, S after the start of a cycle; so the distance of messages that were
//! released a period apart shrinks by the difference between the greatest and the least bound before. That again
//! determines how long others wait, and they may go before this one elsewhere: all responses grow from one cycle until
//! none grows any more. The least such fixed point holds, because a first message that waited longer would need one
//! before it that came nearer. A switch without a guarantee still sends no more than its pool holds in a cycle, so
//! others keep their bounds.

use std::collections::BTreeMap;

use tautwire_core::harts::SynchronousStream;
use tautwire_model::network::{NodeIndex, StreamIndex};

use super::arrivals::Arrivals;
use super::synchronous::{Releases, Scheduled, responses};
use super::{Range, Servers};

/// Rounds in which responses may grow.
const ROUNDS_MAX: usize = 2_000;

/// In which cycle each switch takes a message of a stream at the latest; none if it may be lost.
#[derive(Clone, Debug, Default)]
pub(super) struct Schedule {
    responses: BTreeMap<(StreamIndex, NodeIndex), Option<u64>>,
}

impl Schedule {
    /// Of a stream at a switch where it is synchronous.
    pub(super) fn response(&self, stream: StreamIndex, switch: NodeIndex) -> Option<u64> {
        self.responses.get(&(stream, switch)).copied().flatten()
    }
}

/// A stream at a switch.
struct Passage {
    stream: StreamIndex,
    switch: NodeIndex,
    config: SynchronousStream,
    /// Messages that may wait, behind the first switch.
    pool: Option<u32>,
}

impl Servers<'_> {
    /// The responses of all streams at all switches.
    pub(super) fn schedule(&self) -> Schedule {
        let Some(harts) = &self.network.harts else { return Schedule::default() };
        let first = harts.ftt.polled.iter().map(|polled| Passage {
            stream: polled.stream,
            switch: polled.switch,
            config: polled.config,
            pool: None,
        });
        let further = harts.ftt.relayed.iter().map(|relayed| Passage {
            stream: relayed.stream,
            switch: relayed.switch,
            config: relayed.config,
            pool: Some(relayed.pool),
        });
        let passages: Vec<Passage> = first.chain(further).collect();
        let begin = passages.iter().map(|passage| ((passage.stream, passage.switch), Some(1)));
        let mut known = Schedule { responses: begin.collect() };
        for _ in 0..ROUNDS_MAX {
            let mut next = known.clone();
            for switch in (0..self.network.nodes.len()).map(NodeIndex::at) {
                let Some(window) = harts.ftt.windows.get(switch.index()).copied().flatten() else { continue };
                let here: Vec<&Passage> =
                    passages.iter().filter(|passage| passage.switch == switch).collect();
                let scheduled: Vec<Scheduled> = here
                    .iter()
                    .map(|passage| Scheduled {
                        config: passage.config,
                        releases: self.released(passage, &known),
                    })
                    .collect();
                let found = responses(&scheduled, window.as_ps(), harts.ftt.policy);
                for (passage, response) in here.iter().zip(found) {
                    let key = (passage.stream, passage.switch);
                    // A lost message stays lost: the bounds of others may have counted on that.
                    let before = known.responses[&key];
                    next.responses.insert(key, before.and_then(|before| Some(response?.max(before))));
                }
            }
            if next.responses == known.responses {
                return known;
            }
            known = next;
        }
        // They grow without end.
        Schedule { responses: known.responses.keys().map(|key| (*key, None)).collect() }
    }

    fn released(&self, passage: &Passage, known: &Schedule) -> Releases {
        let Some(pool) = passage.pool else { return Releases::Local };
        let arrivals = self.comes(passage, known);
        let cycle = self.network.harts.as_ref().map_or(0, |harts| harts.cycle.as_ps());
        // A span of cycles, of which the last instant counts for the next.
        let cycle = self.deviation.stretch(cycle) + u64::from(self.slack > 0);
        Releases::Relayed { arrivals, cycle, slack: self.slack + 2, pool }
    }

    /// How messages of a stream come to a further switch.
    fn comes(&self, passage: &Passage, known: &Schedule) -> Arrivals {
        let stream = &self.network.streams[passage.stream.index()];
        let harts = self.network.harts.as_ref().expect("a network with HaRTES");
        let here =
            |place: &usize| self.network.ports[stream.hops[*place].port.index()].node == passage.switch;
        let place = (0..stream.hops.len()).find(here).expect("a stream passes its switches");
        let before = stream.hops[place].previous.expect("a switch behind the first") as usize;
        let (stages, _) = self.stages(stream, place);
        if let Some(left) = self.left(passage.stream, before, known) {
            let jitter = (left.max + stages.max).saturating_sub(left.min + stages.min);
            let period = harts.cycle.as_ps().saturating_mul(u64::from(passage.config.period));
            let interval = self.deviation.shrink(period).max(1);
            return Arrivals::Periodic { interval, jitter: jitter + self.slack + 2, burst: 1, extra: 0 };
        }
        // Whatever became of it: no more than the switch before sends in a cycle.
        let upstream = self.network.ports[stream.hops[before].port.index()].node;
        let most = harts.ftt.relayed(passage.stream, upstream).map_or(1, |relayed| u64::from(relayed.pool));
        let window = self.late(harts.open.as_ps() - harts.synchronous.as_ps());
        Arrivals::Periodic {
            interval: self.deviation.shrink(harts.cycle.as_ps()).max(1),
            jitter: window
                .saturating_add(stages.max - stages.min)
                .saturating_add(self.line_spread(passage, before)),
            burst: most,
            extra: 0,
        }
    }

    fn line_spread(&self, passage: &Passage, place: usize) -> u64 {
        let line = self.line(&self.network.streams[passage.stream.index()], place);
        line.max.saturating_sub(line.min) + self.slack + 2
    }

    /// When a message's last bit is at the end of a synchronous hop, from the start of the cycle in which it was
    /// released; none if a switch up to there gives no guarantee.
    pub(super) fn left(&self, number: StreamIndex, place: usize, known: &Schedule) -> Option<Range> {
        let stream = &self.network.streams[number.index()];
        let harts = self.network.harts.as_ref()?;
        let hop = &stream.hops[place];
        let switch = self.network.ports[hop.port.index()].node;
        let response = known.response(number, switch)?;
        let line = self.line(stream, place);
        let cycle = harts.cycle.as_ps();
        let begins = self.deviation.shrink(harts.synchronous.as_ps()).saturating_sub(self.slack + 2);
        let ends = |cycles: u64| self.late(cycles.saturating_mul(cycle).saturating_add(harts.open.as_ps()));
        if harts.ftt.polled(number).is_some_and(|polled| polled.switch == switch) {
            return Some(Range {
                min: begins.saturating_add(line.min),
                max: ends(response - 1).saturating_add(line.max),
            });
        }
        harts.ftt.relayed(number, switch)?;
        let before = self.left(number, hop.previous? as usize, known)?;
        let (stages, _) = self.stages(stream, place);
        Some(Range {
            min: before.min + stages.min + begins + line.min,
            max: before
                .max
                .saturating_add(stages.max)
                .saturating_add(ends(response))
                .saturating_add(line.max),
        })
    }
}
