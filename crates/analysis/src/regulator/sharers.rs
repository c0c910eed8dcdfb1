//! Whether the schedulers of a group cover the arrivals of its system, shared schedulers included.
//!
//! Streams that share a scheduler are one flow to it. Their common arrivals are at most the sum of each one's; and
//! streams that shared one at the bridge before, too, have together at most the output of that one, counted once.
//! Rates of talkers' promises are those of full frames in their intervals, in charged bits, where the description
//! states these: a promise in bits on the wire is rounded up, which a scheduler at exactly the stream's rate would not
//! cover.

use tautwire_model::network::{StreamIndex, Traffic};

use super::{Origin, Regulator};
use crate::clock::PS_PER_S;
use crate::curve::Line;
use crate::plan::{Entry, NONE, tag_ratio};
use crate::shaper::lets_through;

impl Regulator<'_> {
    /// Whether every scheduler covers what enters the system that begins at `origin`.
    pub(super) fn covers_entering(&self, origin: Origin) -> bool {
        self.schedulers().all(|users| match users[..] {
            [member] => self.entering(member, origin).is_some_and(|line| self.passes(member, line)),
            _ => {
                self.covers_promises(&users, |member| self.promised(member, origin))
                    || (origin == Origin::QueueBefore && self.covers_shared(&users))
            }
        })
    }

    /// The streams of a shared scheduler that may be too slow; none if one is that has a single stream.
    pub(super) fn sharers(&self, origin: Origin) -> Option<Vec<StreamIndex>> {
        let is_slow = |users: &Vec<usize>| match users[..] {
            [member] => !self.entering(member, origin).is_some_and(|line| self.passes(member, line)),
            _ => {
                !(self.covers_promises(users, |member| self.promised(member, origin))
                    || (origin == Origin::QueueBefore && self.covers_shared(users)))
            }
        };
        let users = self.schedulers().find(is_slow).filter(|users| users.len() > 1)?;
        let mut streams: Vec<u32> = users.iter().map(|member| self.entry(*member).stream).collect();
        streams.sort_unstable();
        streams.dedup();
        (streams.len() > 1).then(|| streams.into_iter().map(StreamIndex).collect())
    }

    /// The members of each scheduler of the group.
    fn schedulers(&self) -> impl Iterator<Item = Vec<usize>> + '_ {
        let scheduler = |member: usize| self.entry(member).scheduler;
        let is_first = move |member: &usize| {
            self.is_alone(*member) || (0..*member).all(|before| scheduler(before) != scheduler(*member))
        };
        (0..self.members.len()).filter(is_first).map(move |first| {
            if self.is_alone(first) {
                return vec![first];
            }
            (first..self.members.len()).filter(|member| scheduler(*member) == scheduler(first)).collect()
        })
    }

    fn is_alone(&self, member: usize) -> bool {
        self.plan.scheduler_users[self.entry(member).scheduler as usize] == 1
    }

    fn covers_promises(&self, users: &[usize], line: impl Fn(usize) -> Option<Line>) -> bool {
        let sum = users.iter().try_fold(Line::new(0, 0), |sum: Line, member| Some(sum.and(line(*member)?)));
        sum.is_some_and(|sum| self.passes(users[0], sum))
    }

    /// What a talker promises, grown by its way to where the system begins; charged bits on the clock of the node.
    fn promised(&self, member: usize, origin: Origin) -> Option<Line> {
        let (entry, before) = (self.entry(member), self.before(member));
        let line = match origin {
            Origin::Application => entry.promise?,
            Origin::QueueBefore => {
                let ratio = tag_ratio(self.plan.stream(entry.stream), before.tagged, entry.tagged);
                self.passages[entry.previous as usize].queued.promised?.in_bits(ratio)
            }
        };
        Some(self.charged_promise(member, line))
    }

    /// What a talker promises, in charged bits on the clock of the node.
    pub(super) fn charged_promise(&self, member: usize, line: Line) -> Line {
        let entry = self.entry(member);
        let charged = self.charged(entry, line);
        let exact = self.rate_of_frames(entry).unwrap_or(u64::MAX);
        Line { rate: charged.rate.min(exact), ..charged }
    }

    /// The charged rate of a periodic stream whose frames have one size, on the clock of the node, rounded up once.
    fn rate_of_frames(&self, entry: &Entry) -> Option<u64> {
        let stream = self.plan.stream(entry.stream);
        let before = &self.plan.entries[entry.previous as usize];
        let Traffic::Periodic { interval, burst, .. } = &stream.traffic else { return None };
        let network = self.plan.network;
        // Where traffic restarts or becomes faster, the promise determines the rate.
        if !network.events.is_empty() || network.gptp.is_some() || interval.is_zero() {
            return None;
        }
        let octets = before.frame_max.get() + self.ats.charged_overhead.get();
        let bits = u128::from(octets) * 8 * u128::from(*burst);
        let rate = (bits * PS_PER_S).div_ceil(u128::from(interval.as_ps()));
        let talker = crate::clock::Deviation::of(&network.nodes[stream.talker.index()].clock);
        let here = self.plan.port(entry.port).deviation;
        Some(here.fastest(talker.fastest(u64::try_from(rate).ok()?)))
    }

    /// Whether a shared scheduler covers what schedulers of the bridge before let through, each once for all its streams here.
    fn covers_shared(&self, users: &[usize]) -> bool {
        let mut sum = Line::new(0, 0);
        for (place, member) in users.iter().enumerate() {
            let before = self.before(*member);
            if before.scheduler == NONE || self.tardy_before(*member) {
                return false;
            }
            let same = |other: &&usize| self.before(**other).scheduler == before.scheduler;
            if users[..place].iter().any(|other| same(&other)) {
                continue;
            }
            let together: Vec<usize> = users[place..].iter().filter(same).copied().collect();
            let through = self.through_before(&together);
            let promised = together.iter().try_fold(Line::new(0, 0), |sum: Line, one| {
                Some(sum.and(self.promised(*one, Origin::QueueBefore)?))
            });
            sum = sum.and(match promised {
                Some(promised) if promised.burst <= through.burst && promised.rate <= through.rate => {
                    promised
                }
                _ => through,
            });
        }
        self.passes(users[0], sum)
    }

    /// What the scheduler that members share before lets through of them, in charged bits on the clock of this node.
    fn through_before(&self, members: &[usize]) -> Line {
        let before = self.before(members[0]);
        let network = self.plan.network;
        let node = network.ports[before.port as usize].node;
        let ats = network.device(node).expect("only bridges have schedulers").ats;
        let line = lets_through(self.range(before).expect("a scheduler"));
        let line = Line { rate: self.plan.port(before.port).deviation.fastest(line.rate), ..line };
        let here = self.plan.port(self.entry(members[0]).port).deviation;
        let charged = |member: &usize| {
            let (entry, before) = (self.entry(*member), self.before(*member));
            let came = &self.plan.entries[before.previous as usize];
            if ats.charged_overhead == self.ats.charged_overhead && came.tagged == before.tagged {
                return Line { rate: here.fastest(line.rate), ..line };
            }
            let ratio = tag_ratio(self.plan.stream(entry.stream), before.tagged, entry.tagged);
            let wire =
                line.in_bits(self.plan.wire_per_charged(before, ats.charged_overhead.get())).in_bits(ratio);
            self.charged(entry, wire)
        };
        let lines = members.iter().map(charged);
        lines.fold(Line::new(0, 0), |most, line| Line {
            burst: most.burst.max(line.burst),
            rate: most.rate.max(line.rate),
        })
    }
}
