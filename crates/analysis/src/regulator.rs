//! Asynchronous traffic shaping: how long a frame may wait for its eligibility
//! (IEEE Std 802.1Q-2022, 8.6.5.6 and 8.6.11).
//!
//! A scheduler group is an interleaved regulator: a FIFO whose head waits until its stream's bucket
//! holds enough. On the clock of its node, in charged bits:
//!
//! - **Shaping for free.** If all streams of a group come through one FIFO system and keep within their
//!   schedulers' CommittedBurstSize and CommittedInformationRate where they enter it, regulator and
//!   system together delay no frame longer than the system alone delays some frame of the group (Le
//!   Boudec, A Theory of Traffic Regulators, 2018, theorem 5). The system is the port before, from its
//!   queue on (from eligibility, if that port shapes too), or all the way from a common talker.
//!   Rates are compared at the fastest clock of what enters and the slowest of the regulator: between
//!   clocks that drift, equal rates do not suffice (Thomas and Le Boudec, SIGMETRICS 2020).
//! - **Finite wait.** Where only the promises of the talkers are covered (grown by the jitter of their
//!   way: `b'`, `r`): the eligibility of a frame is the arrival of an earlier one plus segments, in
//!   each of which one stream empties its bucket, `(bits − CBS)/CIR`. Over all segments a stream sends
//!   at most `b' + r·t`. So, if `Σ r/CIR <= 1` over the group, no frame waits longer than
//!   `Σ (b' − CBS)⁺/CIR`; and if no `b'` exceeds its CBS and no `r` its CIR, none waits at all.
//! - Else nothing holds: an interleaved regulator may then fall behind without end.
//!
//! MaxResidenceTime bounds the wait of every frame that is not discarded, but then a frame may be.
//! Not here: what one scheduler passes (`shaper.rs`), the wait from eligibility to transmission (`port.rs`).

use tautwire_model::network::{AtsDevice, PortIndex};

use crate::clock::Deviation;
use crate::curve::{Line, span};
use crate::frer;
use crate::passage::{NO_REASON, Passage};
use crate::plan::{Entry, NONE, Plan, signed, tag_ratio};
use crate::port_plan::{ClassOrder, Selection};
use crate::shaper::{Choice, Frames, lets_through, slowest};
use crate::timeline::ShaperRange;
use crate::unbounded::Unbounded;

mod sharers;

/// Parts per billion in one.
const PPB: u128 = 1_000_000_000;

/// Where the system begins that a group and the port before it make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// At the application, of a talker that does not shape.
    Application,
    /// At the queue of the port before (at eligibility, if it shapes).
    QueueBefore,
}

/// The values of a group.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupTerms {
    /// Shaping for free behind the port before: from there to eligibility.
    pub(crate) from_before: Option<(Origin, u64)>,
    /// Shaping for free behind a common talker: from its application to eligibility.
    pub(crate) from_talker: Option<u64>,
    /// Finite wait: from the arrival time to eligibility.
    pub(crate) wait: Option<u64>,
    /// Why there is none of these.
    pub(crate) reason: Option<Unbounded>,
    /// A number of the list of reasons instead: of a stream of the group.
    pub(crate) inherited: u32,
}

/// A group about to be assessed.
pub(crate) struct Regulator<'a> {
    pub(crate) plan: &'a Plan<'a>,
    pub(crate) passages: &'a [Passage],
    pub(crate) ats: &'a AtsDevice,
    /// Its entries, one for each frame.
    pub(crate) members: &'a [u32],
    /// From the last bit received to the arrival time, greatest, per member.
    pub(crate) arrival_max: &'a [Option<u64>],
    /// The guaranteed output of its scheduler, per member.
    pub(crate) choices: &'a [Choice],
}

/// The guaranteed output of the scheduler of each member of a group.
pub(crate) fn choices(plan: &Plan<'_>, ats: &AtsDevice, members: &[u32]) -> Vec<Choice> {
    let overhead = ats.charged_overhead.get();
    // The frame is charged as it came in.
    let of = |member: &u32| {
        let before = &plan.entries[plan.entries[*member as usize].previous as usize];
        Frames { min: before.frame_min.get() + overhead, max: before.frame_max.get() + overhead }
    };
    let choice = |member: &u32| {
        let scheduler = plan.entries[*member as usize].scheduler;
        let mut frames = of(member);
        if plan.scheduler_users[scheduler as usize] > 1 {
            for other in members.iter().filter(|other| plan.entries[**other as usize].scheduler == scheduler)
            {
                let other = of(other);
                frames = Frames { min: frames.min.min(other.min), max: frames.max.max(other.max) };
            }
        }
        slowest(&plan.schedulers[scheduler as usize], ats.time_quantum, frames)
    };
    members.iter().map(choice).collect()
}

impl Regulator<'_> {
    pub(crate) fn assess(&self) -> GroupTerms {
        let mut terms = GroupTerms { inherited: NO_REASON, ..GroupTerms::default() };
        let first = self.entry(0);
        let port = PortIndex(first.port);
        if self.members.iter().any(|member| frer::is_reordered(self.plan, *member)) {
            terms.reason = Some(frer::REORDERED.at(port));
            return terms;
        }
        let deviation = self.plan.port(first.port).deviation;
        let late = self.late();
        let fifo = self.fifo_before();
        let origin = self.origin();
        let longest = |origin| {
            let mut ways = (0..self.members.len()).map(|member| self.way(member, origin));
            let longest = ways.try_fold(0, |most: u64, way| Some(most.max(way?)));
            longest.map(|way| deviation.stretch(deviation.stretch(way)).saturating_add(late))
        };
        if fifo && self.covers_entering(origin) {
            terms.from_before = longest(origin).map(|way| (origin, way));
        }
        if self.one_way()
            && let Some(held) = self.held(|member| self.entry(member).promise)
        {
            terms.from_talker =
                longest(Origin::Application).map(|way| way.saturating_add(deviation.stretch(held)));
        }
        terms.wait = self.finite_wait(deviation).map(|wait| deviation.stretch(wait).saturating_add(late));
        if terms.from_before.is_none() && terms.from_talker.is_none() && terms.wait.is_none() {
            self.explain_failure(&mut terms, fifo.then_some(origin), port);
        }
        terms
    }

    /// `fifo`: where the system begins, if the port before keeps the order.
    fn explain_failure(&self, terms: &mut GroupTerms, fifo: Option<Origin>, port: PortIndex) {
        let upstream = |member: usize| &self.passages[self.entry(member).previous as usize];
        for member in 0..self.members.len() {
            let entry = self.entry(member);
            if entry.promise.is_none() {
                let stream = tautwire_model::network::StreamIndex(entry.stream);
                terms.reason = Some(Unbounded::NoArrivalCurve { stream, port });
                return;
            }
        }
        if let Some(member) = (0..self.members.len()).find(|member| upstream(*member).reason != NO_REASON) {
            terms.inherited = upstream(member).reason;
            return;
        }
        terms.reason = Some(match fifo {
            None => Unbounded::NotFifoUpstream { port },
            Some(origin) => match self.sharers(origin) {
                Some(streams) => Unbounded::SharedShaper { port, streams },
                None => Unbounded::ShaperTooSlow { port },
            },
        });
    }

    fn entry(&self, member: usize) -> &Entry {
        &self.plan.entries[self.members[member] as usize]
    }

    fn before(&self, member: usize) -> &Entry {
        &self.plan.entries[self.entry(member).previous as usize]
    }

    fn range(&self, entry: &Entry) -> Option<&ShaperRange> {
        self.plan.schedulers.get(entry.scheduler as usize)
    }

    /// Whether the scheduler of a member surely passes a bucket, in charged bits on its clock.
    fn passes(&self, member: usize, line: Line) -> bool {
        self.choices[member].iter().any(|slowest| line.rate <= slowest.rate && line.burst <= slowest.burst)
    }

    /// By how much ticks, steps of the clock and roundings may delay.
    fn late(&self) -> u64 {
        let slack = self.plan.port(self.entry(0).port).slack;
        let schedulers = self.choices.iter().flatten().map(|slowest| slowest.late);
        let talker = (0..self.members.len()).map(|member| self.before(member).talker_slack.max(slack));
        schedulers.max().unwrap_or(0) + slack + talker.max().unwrap_or(0)
    }

    /// Whether the port before keeps the order of the group: one queue, or one lane of it, in the order of
    /// eligibility, with no frame later than its eligibility.
    fn fifo_before(&self) -> bool {
        let (first, before) = (self.entry(0), self.before(0));
        let same = (0..self.members.len()).all(|member| {
            self.before(member).class == before.class && self.entry(member).class == first.class
        });
        if !same {
            return false;
        }
        let one_lane = (0..self.members.len()).all(|member| self.before(member).lane == before.lane);
        let port = self.plan.port(before.port);
        let (selection, order) = port.classes[usize::from(before.class)];
        let tardy =
            selection == Selection::Ats && (0..self.members.len()).any(|member| self.tardy_before(member));
        one_lane || (order == ClassOrder::Fifo && !tardy)
    }

    /// Whether a frame may reach the queue of the port before later than it is eligible there.
    fn tardy_before(&self, member: usize) -> bool {
        let before = self.before(member);
        let Some(device) = self.plan.network.device(self.plan.network.ports[before.port as usize].node)
        else {
            return false;
        };
        let held = device.ats.processing_delay_max.as_ps();
        let reception = &self.plan.receptions[before.reception as usize];
        let most = reception.as_ref().map_or(0, |reception| {
            if reception.keeps_up() {
                let apart = reception.wire_ps(before.frame_min);
                reception.passage_max(before.own_latency.1, reception.latency.1, apart, None)
            } else {
                u64::MAX
            }
        });
        signed(most.min(i64::MAX as u64)) - before.arrival_min
            > signed(self.plan.port(before.port).deviation.shrink(held))
    }

    /// Whether all come from one talker by one way, and the talker does not shape them: then they come in the order in which the
    /// application gave them, as those of one stream do anyway.
    fn one_way(&self) -> bool {
        if self.members.len() == 1 {
            return true;
        }
        let mut path: Vec<u32> =
            self.members.iter().map(|member| self.plan.entries[*member as usize].previous).collect();
        let class = self.entry(0).class;
        if (0..self.members.len())
            .any(|member| self.entry(member).class != class || self.shaped_at_talker(member))
        {
            return false;
        }
        loop {
            let first = &self.plan.entries[path[0] as usize];
            let alike = path.iter().all(|entry| {
                let entry = &self.plan.entries[*entry as usize];
                (entry.port, entry.class, entry.group, entry.lane)
                    == (first.port, first.class, first.group, first.lane)
                    && (entry.previous == NONE) == (first.previous == NONE)
            });
            if !alike {
                return false;
            }
            if first.previous == NONE {
                return true;
            }
            for entry in &mut path {
                *entry = self.plan.entries[*entry as usize].previous;
            }
        }
    }

    fn shaped_at_talker(&self, member: usize) -> bool {
        self.plan.talker_shapers[self.entry(member).stream as usize].is_some()
    }

    fn origin(&self) -> Origin {
        let at_talker = self.before(0).previous == NONE;
        let shaped = (0..self.members.len()).any(|member| self.shaped_at_talker(member));
        if at_talker && !shaped { Origin::Application } else { Origin::QueueBefore }
    }

    /// The arrivals of a member with a scheduler of its own at the start of the system, in charged bits on the clock of the node.
    fn entering(&self, member: usize, origin: Origin) -> Option<Line> {
        let (entry, before) = (self.entry(member), self.before(member));
        if origin == Origin::Application {
            return Some(self.charged_promise(member, entry.promise?));
        }
        let stream = self.plan.stream(entry.stream);
        let ratio = tag_ratio(stream, before.tagged, entry.tagged);
        let passage = &self.passages[entry.previous as usize];
        let promised = passage.queued.promised.map(|line| self.charged_promise(member, line.in_bits(ratio)));
        if let Some(line) = self.same_regulator(member) {
            return Some(self.charged(entry, line));
        }
        if let Some(range) = self.range(before).filter(|_| !self.tardy_before(member)) {
            let node = self.plan.network.ports[before.port as usize].node;
            let device = self.plan.network.device(node).expect("only bridges have schedulers");
            let line = lets_through(range);
            let line = line.in_bits(self.plan.wire_per_charged(before, device.ats.charged_overhead.get()));
            let rate = self.plan.port(before.port).deviation.fastest(line.rate);
            let shaped = Line { rate, ..line }.in_bits(ratio);
            return Some(match promised {
                Some(promised) if self.passes(member, promised) => promised,
                _ => self.charged(entry, shaped),
            });
        }
        let shaped = passage.queued.shaped.map(|line| self.charged(entry, line.in_bits(ratio)));
        let mut fitting = [promised, shaped].into_iter().flatten().filter(|line| self.passes(member, *line));
        fitting.next().or(promised)
    }

    /// A regulator with the parameters of the one before, on a clock that never differs, passes the output of that
    /// one: both round alike. It then covers as much as it passes.
    fn same_regulator(&self, member: usize) -> Option<Line> {
        let (entry, before) = (self.entry(member), self.before(member));
        let network = self.plan.network;
        let (range, other) = (self.range(entry)?, self.range(before)?);
        let device = network.device(network.ports[before.port as usize].node)?;
        let alone = |entry: &Entry| self.plan.scheduler_users[entry.scheduler as usize] == 1;
        let perfect = |entry: &Entry| self.plan.port(entry.port).deviation == Deviation::default();
        let earlier =
            before.previous != NONE && self.plan.entries[before.previous as usize].tagged == before.tagged;
        let alike = range == other
            && range.constant
            && range.burst_min == range.burst_sum
            && alone(entry)
            && alone(before)
            && perfect(entry)
            && perfect(before)
            && earlier
            && device.ats.time_quantum == self.ats.time_quantum
            && device.ats.charged_overhead == self.ats.charged_overhead
            && range.deviation_ppb == 0;
        if !alike || self.tardy_before(member) {
            return None;
        }
        let slowest = self.choices[member][0];
        let (charged, wire) = self.plan.charged_per_wire(entry, self.ats.charged_overhead.get());
        // In bits of the wire, rounded down, so that it counts as covered.
        let rate = u128::from(slowest.rate) * u128::from(wire) / u128::from(charged);
        let burst = slowest.burst * u128::from(wire) / u128::from(charged);
        Some(Line { burst, rate: u64::try_from(rate).unwrap_or(u64::MAX) })
    }

    /// A line in charged bits on the clock of the node.
    fn charged(&self, entry: &Entry, line: Line) -> Line {
        let local = Line { rate: self.plan.port(entry.port).deviation.fastest(line.rate), ..line };
        local.in_bits(self.plan.charged_per_wire(entry, self.ats.charged_overhead.get()))
    }

    /// Per scheduler of the group (its first member), the sum of what its members promise; none if that
    /// is unknown.
    fn per_scheduler(&self, line: impl Fn(usize) -> Option<Line>) -> Option<Vec<(usize, Line)>> {
        let mut sums: Vec<(usize, Line)> = Vec::with_capacity(self.members.len());
        for member in 0..self.members.len() {
            let entry = self.entry(member);
            let line = self.charged_promise(member, line(member)?);
            if self.plan.scheduler_users[entry.scheduler as usize] == 1 {
                sums.push((member, line));
                continue;
            }
            let known = sums.iter_mut().find(|(first, _)| self.entry(*first).scheduler == entry.scheduler);
            match known {
                Some((_, sum)) => *sum = sum.and(line),
                None => sums.push((member, line)),
            }
        }
        Some(sums)
    }

    /// From where the system begins to the arrival time at the group, greatest.
    fn way(&self, member: usize, origin: Origin) -> Option<u64> {
        let before = &self.passages[self.entry(member).previous as usize];
        let sent = match origin {
            Origin::Application => before.next_max,
            Origin::QueueBefore => before.sending_max,
        };
        Some(sent?.saturating_add(self.arrival_max[member]?))
    }

    /// The finite wait, on the clock of the node.
    fn finite_wait(&self, deviation: Deviation) -> Option<u64> {
        debug_assert!(deviation == self.plan.port(self.entry(0).port).deviation, "one node");
        let arriving = |member: usize| {
            let entry = self.entry(member);
            let before = &self.passages[entry.previous as usize];
            let most = before.grows_by()?.checked_add(self.arrival_max[member]?)?;
            let least = entry.here_min + entry.arrival_min;
            crate::passage::brought(self.plan, entry, Some(most), None, least).promised
        };
        self.held(arriving)
    }

    /// How long the group holds frames that keep to these lines, on the clock of the node: each scheduler what is above its
    /// bucket; none if that has no end.
    fn held(&self, line: impl Fn(usize) -> Option<Line>) -> Option<u64> {
        let (mut held, mut load) = (0_u64, 0_u128);
        for (member, sum) in self.per_scheduler(line)? {
            let passing = self.choices[member].iter().filter(|slowest| sum.rate <= slowest.rate);
            let waits = passing.filter_map(|slowest| {
                let excess = sum.burst.saturating_sub(slowest.burst);
                Some((span(excess, slowest.rate)?, slowest.rate))
            });
            let (excess, rate) = waits.min()?;
            held = held.checked_add(excess)?;
            load += (u128::from(sum.rate) * PPB * PPB).div_ceil(u128::from(rate));
        }
        #[cfg(feature = "planted-faults")]
        let held = if self.plan.fault == Some(crate::PlantedFault::BucketExcessForgotten) { 0 } else { held };
        (held == 0 || load <= PPB * PPB).then_some(held)
    }
}
