//! The whole network: ports in the order of their dependencies, cycles to a fixed point.
//!
//! A port's bounds follow from those of the ports before it. Where ports depend on one another the
//! bounds are sought from the least that can be, and grow until they repeat; any bounds that reproduce
//! themselves hold, since no first frame can then be later than its bound (Thomas, Le Boudec and
//! Mifdaoui, RTSS 2019, theorem 1). If they do not come to rest, nothing holds there.

use tautwire_model::Network;
use tautwire_model::network::{Network as Description, PortIndex, StreamIndex};
use tautwire_units::{Bits, Bytes, Duration};

use crate::curve::{Line, MICRO};
use crate::passage::{Brought, NO_REASON, Passage, Shaped, brought};
use crate::plan::{Entry, NONE, Plan, Selection, index, signed};
use crate::port::{Arriving, ClassTerms, Upstream, classes, contributions};
use crate::regulator::{Frames, GroupTerms, Origin, Regulator, bunched, choices, lets_through, talker_wait};
use crate::result::{Bounds, ClassBounds, HopBounds, ListenerBounds, Method, StreamBounds, Unbounded};

/// Rounds of a cycle before it is given up.
const ROUNDS_MAX: u32 = 400;
/// A delay beyond this is none: about a quarter of an hour.
const DELAY_CAP: u64 = 1_000_000_000_000_000;

/// The analysis of a network.
pub(crate) struct Analysis<'network> {
    pub(crate) plan: Plan<'network>,
    pub(crate) passages: Vec<Passage>,
    pub(crate) reasons: Vec<Unbounded>,
    ports: Vec<[ClassBounds; 8]>,
    /// What credit-based classes send onto their links, true time.
    outputs: Vec<[Option<Line>; 8]>,
}

/// An ATS frame on its way to eligibility.
struct Eligibility {
    from_application: Option<u64>,
    from_here: Option<u64>,
    /// Why the stream may lose frames or is not bounded.
    reason: u32,
}

impl<'network> Analysis<'network> {
    /// Analyses all ports.
    pub(crate) fn of(network: &'network Network) -> Self {
        Self::run(Plan::new(network))
    }

    /// Analyses all ports, with a fault.
    #[cfg(feature = "planted-faults")]
    pub(crate) fn with_fault(network: &'network Network, fault: Option<crate::PlantedFault>) -> Self {
        let mut plan = Plan::new(network);
        plan.fault = fault;
        for port in plan.ports.iter_mut().flatten() {
            port.fault = fault;
        }
        if fault == Some(crate::PlantedFault::MediaOverheadForgotten) {
            for entry in &mut plan.entries {
                let frame = entry.frame_max.get();
                let ratio = (frame, frame + Bytes::MEDIA_OVERHEAD.get());
                entry.promise = entry.promise.map(|line| line.in_bits(ratio));
            }
        }
        Self::run(plan)
    }

    fn run(plan: Plan<'network>) -> Self {
        let network = plan.network;
        let passages = plan.entries.iter().map(Passage::least).collect();
        let ports = vec![<[ClassBounds; 8]>::default(); network.ports.len()];
        let outputs = vec![[None; 8]; network.ports.len()];
        let mut analysis = Self { plan, passages, reasons: Vec::new(), ports, outputs };
        for component in std::mem::take(&mut analysis.plan.components) {
            if component.cyclic {
                analysis.settle(&component.ports);
            } else {
                for port in &component.ports {
                    analysis.evaluate(*port);
                }
            }
        }
        analysis
    }

    /// Evaluates the ports of a cycle until nothing changes.
    fn settle(&mut self, ports: &[u32]) {
        let reasons = self.reasons.len();
        let mut before = self.snapshot(ports);
        for round in 0..ROUNDS_MAX {
            self.reasons.truncate(reasons);
            for port in ports {
                self.evaluate(*port);
            }
            let now = self.snapshot(ports);
            if now == before {
                return;
            }
            if now.iter().flatten().any(|delay| *delay > DELAY_CAP) {
                break;
            }
            if round % 8 == 7 && self.leap(ports, &before, &now) {
                return;
            }
            before = now;
        }
        self.give_up(ports);
    }

    /// Tries bounds somewhat above those that are growing: if they reproduce themselves or less, they
    /// hold. Otherwise all is as before.
    fn leap(&mut self, ports: &[u32], before: &[Option<u64>], now: &[Option<u64>]) -> bool {
        let kept: Vec<Passage> = self.passages_at(ports);
        let mut slot = 0;
        for port in ports {
            for place in 0..self.plan.at_port(*port).len() {
                let entry = self.plan.at_port(*port)[place] as usize;
                let grown = |value: Option<u64>, before: Option<u64>| {
                    let (value, before) = (value?, before?);
                    Some(value.saturating_add(8 * value.saturating_sub(before) + 1_000))
                };
                let passage = &mut self.passages[entry];
                passage.next_max = grown(now[slot], before[slot]);
                passage.ready_max = grown(now[slot + 1], before[slot + 1]);
                passage.sending_max = grown(now[slot + 2], before[slot + 2]);
                if let (Some(shaped), Some(way)) =
                    (&mut passage.shaped, grown(now[slot + 3], before[slot + 3]))
                {
                    shaped.way_max = way;
                }
                slot += SNAPSHOT;
            }
        }
        let tried = self.snapshot(ports);
        for port in ports {
            self.evaluate(*port);
        }
        let reproduced = self.snapshot(ports);
        let holds = tried.iter().zip(&reproduced).all(|(tried, got)| match (tried, got) {
            (Some(tried), Some(got)) => got <= tried,
            (tried, got) => tried == got,
        });
        if !holds {
            self.restore(ports, &kept);
        }
        holds
    }

    fn passages_at(&self, ports: &[u32]) -> Vec<Passage> {
        ports
            .iter()
            .flat_map(|port| self.plan.at_port(*port))
            .map(|entry| self.passages[*entry as usize])
            .collect()
    }

    fn restore(&mut self, ports: &[u32], kept: &[Passage]) {
        let mut kept = kept.iter();
        for port in ports {
            for place in 0..self.plan.at_port(*port).len() {
                let entry = self.plan.at_port(*port)[place] as usize;
                self.passages[entry] = *kept.next().expect("as many as were kept");
            }
        }
    }

    /// What other ports take from these.
    fn snapshot(&self, ports: &[u32]) -> Vec<Option<u64>> {
        let (mut values, mut outputs) = (Vec::new(), Vec::new());
        for port in ports {
            let burst = |line: &Option<Line>| line.map(|line| u64::try_from(line.burst).unwrap_or(u64::MAX));
            outputs.extend(self.outputs[*port as usize].iter().map(burst));
            for entry in self.plan.at_port(*port) {
                let passage = &self.passages[*entry as usize];
                let shaped = passage.shaped.map(|shaped| shaped.way_max);
                let burst =
                    |line: Option<Line>| line.map(|line| u64::try_from(line.burst).unwrap_or(u64::MAX));
                values.extend([
                    passage.next_max,
                    passage.ready_max,
                    passage.sending_max,
                    shaped,
                    burst(passage.queued.promised),
                    burst(passage.queued.shaped),
                ]);
            }
        }
        values.extend(outputs);
        values
    }

    fn give_up(&mut self, ports: &[u32]) {
        let reason = self.reason(Unbounded::NoFixedPoint { port: PortIndex(ports[0]) });
        for port in ports {
            for place in 0..self.plan.at_port(*port).len() {
                let entry = self.plan.at_port(*port)[place] as usize;
                self.passages[entry] = Passage {
                    ready_max: None,
                    next_max: None,
                    hop_max: None,
                    sending_max: None,
                    queued: Brought::default(),
                    shaped: None,
                    reason,
                    hop_reason: reason,
                    method: Method::None,
                };
            }
            for class in &mut self.ports[*port as usize] {
                class.backlog = None;
            }
        }
    }

    fn reason(&mut self, reason: Unbounded) -> u32 {
        if let Some(known) = self.reasons.iter().rposition(|known| *known == reason) {
            return index(known);
        }
        self.reasons.push(reason);
        index(self.reasons.len() - 1)
    }

    /// One port: from the passages before it to its own.
    fn evaluate(&mut self, port: u32) {
        if self.plan.at_port(port).is_empty() {
            return;
        }
        let arriving = self.arriving(port);
        let terms = self.terms(port, &arriving);
        let plan = self.plan.port(port);
        // Two frames may leave nearer to each other than its clock should have it.
        let late = plan.slack + plan.stages_jitter;
        let output = |line: Line| {
            let line = Line { rate: plan.deviation.fastest(line.rate), ..line };
            line.after_jitter(line.rate, late)
        };
        for (class, terms) in terms.iter().enumerate() {
            self.ports[port as usize][class] = terms.bounds.clone();
            self.outputs[port as usize][class] = terms.onto_link().map(output);
        }
        let mut held = [Some(0_u128); 8];
        for arriving in &arriving {
            let passage = self.pass(port, arriving, &terms);
            let entry = &self.plan.entries[arriving.entry as usize];
            let held = &mut held[usize::from(entry.class)];
            *held = held.zip(self.held(entry, passage.hop_max)).map(|(sum, more)| sum + more);
            self.passages[arriving.entry as usize] = passage;
        }
        for class in 0..8 {
            // What a class with eligibility times holds, it holds from arrival on.
            if self.plan.port(port).classes[class].0 == Selection::Ats && terms[class].used {
                self.ports[port as usize][class].backlog = held[class]
                    .map(|bits| Bits::new(u64::try_from(bits.div_ceil(MICRO)).unwrap_or(u64::MAX)));
            }
        }
    }

    /// What a stream may have at a hop where it stays for at most `hop_max`, micro-bits.
    fn held(&self, entry: &Entry, hop_max: Option<u64>) -> Option<u128> {
        let here_max = self.here_max(entry)?;
        let came = brought(&self.plan, entry, Some(here_max), None, entry.here_min).promised?;
        Some(came.burst + crate::curve::volume(came.rate, hop_max?))
    }

    /// The classes of a port.
    pub(crate) fn terms(&mut self, port: u32, arriving: &[Arriving]) -> Vec<ClassTerms> {
        let plan = self.plan.port(port);
        let upstream = |entry: &Entry| {
            let reception =
                self.plan.receptions[entry.reception as usize].as_ref().expect("an entry comes by it");
            let before = &self.plan.entries[entry.previous as usize];
            Upstream {
                line_rate: reception.line_bps,
                jitter: reception.jitter,
                tagged: before.tagged,
                class: before.class,
                output: self.outputs[before.port as usize][usize::from(before.class)],
            }
        };
        let contributions = contributions(plan, &self.plan.entries, arriving, upstream);
        let mut tardy = [0; 8];
        let (mut scheduled, mut unscheduled) = ([false; 8], [false; 8]);
        for arriving in arriving {
            let class = usize::from(self.plan.entries[arriving.entry as usize].class);
            tardy[class] = arriving.tardy.max(tardy[class]);
            scheduled[class] |= arriving.scheduled;
            unscheduled[class] |= !arriving.scheduled;
        }
        for class in 0..8 {
            unscheduled[class] &= scheduled[class];
        }
        let mut terms = classes(port, plan, &contributions, tardy, unscheduled, &mut self.reasons);
        if plan.stages_too_slow {
            let reason = self.reason(Unbounded::StageTooSlow { port: PortIndex(port) });
            for class in &mut terms {
                class.lanes.iter_mut().for_each(|(_, bounds)| *bounds = [None, None, None]);
                class.reason = reason;
                class.bounds.backlog = None;
            }
        }
        terms
    }

    /// The greatest time from the application to the last bit at a port.
    fn here_max(&self, entry: &Entry) -> Option<u64> {
        match entry.previous {
            NONE => Some(0),
            previous => self.passages[previous as usize].next_max,
        }
    }

    /// Why a stream is not bounded at the last bit here.
    fn reason_before(&self, entry: &Entry) -> u32 {
        match entry.previous {
            NONE => NO_REASON,
            previous => self.passages[previous as usize].reason,
        }
    }

    /// From the last bit here to arrival time and queue, greatest.
    fn ways(&self, entry: &Entry) -> (Option<u64>, Option<u64>) {
        #[cfg(feature = "planted-faults")]
        if self.plan.fault == Some(crate::PlantedFault::ProcessingMaxForgotten) {
            let least = |ps: i64| Some(u64::try_from(ps).unwrap_or(0));
            return (least(entry.arrival_min), least(entry.queue_min));
        }
        let Some(reception) = self.plan.receptions.get(entry.reception as usize).and_then(Option::as_ref)
        else {
            return (Some(entry.own_latency.0), Some(entry.own_latency.1));
        };
        let work = if reception.keeps_up() { Some(None) } else { self.work(entry.reception).map(Some) };
        let Some(work) = work else { return (None, None) };
        let received_min = self.plan.entries[entry.previous as usize].frame_min;
        // Another copy of the same frame may have to come in whole before it passes the same stages.
        let saved = if reception.copies > 1 { 0 } else { entry.saved_min };
        let passage = |own, any| reception.passage_max(own, any, received_min, work).saturating_sub(saved);
        (
            Some(passage(entry.own_latency.0, reception.latency.0)),
            Some(passage(entry.own_latency.1, reception.latency.1)),
        )
    }

    /// How long the stages behind a reception port may be taken by what came before a frame; none if
    /// more comes than they pass.
    fn work(&self, reception: u32) -> Option<u64> {
        let (ps, bits) = self.plan.receptions[reception as usize].as_ref()?.work_per_bit();
        let mut sum = Line::default();
        for number in &self.plan.reception_entries[reception as usize] {
            let entry = &self.plan.entries[*number as usize];
            let passage = &self.passages[entry.previous as usize];
            let shaped = passage.shaped.map(|shaped| (shaped, shaped.way_max));
            let came = brought(&self.plan, entry, passage.next_max, shaped, entry.here_min);
            sum = sum.and(came.least_rate()?);
        }
        let load = u128::from(sum.rate) * u128::from(ps);
        if load > u128::from(bits) * crate::clock::PS_PER_S {
            return None;
        }
        let work = (sum.burst * u128::from(ps)).div_ceil(u128::from(bits) * MICRO);
        u64::try_from(work).ok()
    }

    /// How the entries of a port reach their queues.
    pub(crate) fn arriving(&mut self, port: u32) -> Vec<Arriving> {
        let entries = self.plan.at_port(port).to_vec();
        let mut groups: Vec<(u32, GroupTerms)> = Vec::new();
        let mut leaders: Vec<u32> = Vec::new();
        let mut all = Vec::with_capacity(entries.len());
        for number in entries {
            let entry = self.plan.entries[number as usize].clone();
            let arriving = if entry.scheduler != NONE
                && self.plan.port(port).classes[usize::from(entry.class)].0 == Selection::Ats
            {
                if !groups.iter().any(|(group, _)| *group == entry.group) {
                    groups.push((entry.group, self.assess_group(&entry)));
                }
                let terms = groups.iter().find(|(group, _)| *group == entry.group);
                let terms = terms.expect("it was just assessed").1.clone();
                let mut arriving = self.arrive_shaped(number, &entry, &terms);
                if self.plan.scheduler_users[entry.scheduler as usize] > 1 {
                    arriving.stands_behind = leaders.contains(&entry.scheduler);
                    leaders.push(entry.scheduler);
                }
                arriving
            } else if entry.previous == NONE {
                self.arrive_at_talker(number, &entry)
            } else {
                self.arrive_plain(number, &entry)
            };
            all.push(arriving);
        }
        all
    }

    fn arrive_plain(&mut self, number: u32, entry: &Entry) -> Arriving {
        let (_, queue_max) = self.ways(entry);
        let here_max = self.here_max(entry);
        let ready_max = here_max.zip(queue_max).map(|(here, queue)| here.saturating_add(queue));
        let before = &self.passages[entry.previous as usize];
        let shaped = before.shaped.zip(queue_max).map(|(shaped, queue)| (shaped, shaped.way_max + queue));
        let brought = brought(&self.plan, entry, ready_max, shaped, entry.ready_min);
        let reason = self.why_unknown(entry, queue_max.is_none());
        Arriving {
            entry: number,
            brought,
            ready_max,
            queue_max,
            queue_min: entry.queue_min,
            tardy: 0,
            scheduled: false,
            stands_behind: false,
            reason,
        }
    }

    /// Why a stream brings more than is known.
    fn why_unknown(&mut self, entry: &Entry, stages: bool) -> u32 {
        let before = self.reason_before(entry);
        if before != NO_REASON {
            return before;
        }
        let port = PortIndex(entry.port);
        if entry.promise.is_none() {
            return self.reason(Unbounded::NoArrivalCurve { stream: StreamIndex(entry.stream), port });
        }
        if stages {
            return self.reason(Unbounded::StageTooSlow { port: PortIndex(entry.reception) });
        }
        NO_REASON
    }

    fn arrive_at_talker(&mut self, number: u32, entry: &Entry) -> Arriving {
        let host = entry.own_latency.1;
        let unshaped = brought(&self.plan, entry, Some(host), None, entry.ready_min);
        let mut arriving = Arriving {
            entry: number,
            brought: unshaped,
            ready_max: Some(host),
            queue_max: Some(host),
            queue_min: entry.queue_min,
            tardy: 0,
            scheduled: false,
            stands_behind: false,
            reason: self.why_unknown(entry, false),
        };
        if let Some(range) = self.plan.talker_shapers[entry.stream as usize] {
            let plan = self.plan.port(entry.port);
            let (deviation, slack) = (plan.deviation, plan.slack);
            let line = lets_through(&range, 0);
            let line = Line { rate: deviation.fastest(line.rate), ..line };
            let overhead = Bytes::MEDIA_OVERHEAD.get();
            let frames =
                Frames { min: entry.frame_min.get() + overhead, max: entry.frame_max.get() + overhead };
            let wait = unshaped.promised.and_then(|promised| {
                let local = Line { rate: deviation.fastest(promised.rate), ..promised };
                talker_wait(&range, local, frames)
            });
            let ready = wait.map(|wait| host + deviation.stretch(wait + slack));
            if wait.is_none() && entry.promise.is_some() {
                arriving.reason = self.reason(Unbounded::ShaperTooSlow { port: PortIndex(entry.port) });
            }
            if entry.wire_max() > range.burst_min {
                arriving.reason = self.reason(Unbounded::MayBeDiscarded { port: PortIndex(entry.port) });
            }
            let regrown = brought(&self.plan, entry, ready, None, entry.ready_min);
            arriving.brought = Brought { promised: regrown.promised, shaped: Some(bunched(line, slack)) };
            arriving.ready_max = ready;
            arriving.queue_max = ready;
        }
        arriving
    }

    fn assess_group(&self, entry: &Entry) -> GroupTerms {
        let members = self.plan.in_group(entry.group);
        let node = self.plan.network.ports[entry.port as usize].node;
        let device = self.plan.network.device(node).expect("only bridges have schedulers");
        let recognition = device.ats.arrival_recognition_delay_max.as_ps();
        let arrival_max: Vec<Option<u64>> = members
            .iter()
            .map(|member| self.ways(&self.plan.entries[*member as usize]).0.map(|way| way + recognition))
            .collect();
        let choices = choices(&self.plan, &device.ats, members);
        let regulator = Regulator {
            plan: &self.plan,
            passages: &self.passages,
            ats: &device.ats,
            members,
            arrival_max: &arrival_max,
            choices: &choices,
        };
        regulator.assess()
    }

    /// The greatest times to eligibility of a frame of a group.
    fn eligibility(&mut self, entry: &Entry, terms: &GroupTerms, arrival_max: Option<u64>) -> Eligibility {
        let before = &self.plan.entries[entry.previous as usize];
        let passage = self.passages[entry.previous as usize];
        let here_max = passage.next_max;
        let here_min = u64::try_from(entry.here_min).unwrap_or(0);
        let sending_min = u64::try_from(before.next_min - before.ready_min).unwrap_or(0);
        let mut best = Eligibility { from_application: None, from_here: None, reason: NO_REASON };
        let mut take = |application: Option<u64>, here: Option<u64>| {
            best.from_application = least(best.from_application, application);
            best.from_here = least(best.from_here, here);
        };
        match terms.from_before {
            Some((Origin::Application, way)) => take(Some(way), Some(way.saturating_sub(here_min))),
            Some((Origin::QueueBefore, way)) => {
                take(
                    passage.ready_max.map(|ready| ready.saturating_add(way)),
                    Some(way.saturating_sub(sending_min)),
                );
            }
            None => {}
        }
        if let Some(way) = terms.from_talker {
            take(Some(way), Some(way.saturating_sub(here_min)));
        }
        let waited = terms.wait.zip(arrival_max).map(|(wait, arrival)| arrival.saturating_add(wait));
        take(here_max.zip(waited).map(|(here, waited)| here.saturating_add(waited)), waited);
        let all = here_max.zip(best.from_here).map(|(here, way)| here.saturating_add(way));
        best.from_application = least(best.from_application, all);
        self.residence(entry, terms, arrival_max, here_max, &mut best);
        best
    }

    /// MaxResidenceTime and size: what may be discarded, and how long what is not may stay.
    fn residence(
        &mut self,
        entry: &Entry,
        terms: &GroupTerms,
        arrival_max: Option<u64>,
        here_max: Option<u64>,
        best: &mut Eligibility,
    ) {
        let node = self.plan.network.ports[entry.port as usize].node;
        let ats = &self.plan.network.device(node).expect("only bridges have schedulers").ats;
        let charged =
            (self.plan.entries[entry.previous as usize].frame_max + ats.charged_overhead).bits().get();
        let mut may_be_discarded = charged > self.plan.schedulers[entry.scheduler as usize].burst_min;
        if best.from_here.is_none() {
            best.reason = match &terms.reason {
                Some(reason) => self.reason(reason.clone()),
                None => terms.inherited,
            };
        }
        if let Some(residence) = self.plan.groups[entry.group as usize].residence_max {
            let plan = self.plan.port(entry.port);
            let staying = best.from_here.map(|way| signed(way) - entry.arrival_min);
            may_be_discarded |=
                staying.is_none_or(|staying| staying > signed(plan.deviation.shrink(residence)));
            let most = plan.deviation.stretch(residence).saturating_add(plan.slack);
            let kept = arrival_max.map(|arrival| arrival.saturating_add(most));
            best.from_here = least(best.from_here, kept);
            let all = here_max.zip(best.from_here).map(|(here, way)| here.saturating_add(way));
            best.from_application = least(best.from_application, all);
        }
        if may_be_discarded {
            best.reason = self.reason(Unbounded::MayBeDiscarded { port: PortIndex(entry.port) });
        }
    }

    fn arrive_shaped(&mut self, number: u32, entry: &Entry, terms: &GroupTerms) -> Arriving {
        let (arrival, queue) = self.ways(entry);
        let node = self.plan.network.ports[entry.port as usize].node;
        let ats = self.plan.network.device(node).expect("only bridges have schedulers").ats;
        let arrival_max = arrival.map(|way| way + ats.arrival_recognition_delay_max.as_ps());
        let eligibility = self.eligibility(entry, terms, arrival_max);
        let plan = self.plan.port(entry.port);
        let (deviation, slack) = (plan.deviation, plan.slack);
        let hold = ats.processing_delay_max.as_ps() + ats.clock_offset_variation_max.as_ps();
        #[cfg(feature = "planted-faults")]
        let hold =
            if self.plan.fault == Some(crate::PlantedFault::ProcessingDelayMaxForgotten) { 0 } else { hold };
        let hold_max = deviation.stretch(hold) + slack;
        let later = |eligible: u64, queued: Option<u64>| {
            queued.map(|queued| eligible.saturating_add(hold_max).max(queued))
        };
        let here_max = self.here_max(entry);
        let queue_max = eligibility.from_here.and_then(|way| later(way, queue));
        let queued = here_max.zip(queue).map(|(here, queue)| here.saturating_add(queue));
        let ready_max = eligibility.from_application.and_then(|way| later(way, queued));
        let hold_min = deviation.shrink(ats.processing_delay_max.as_ps());
        let tardy = queue.map(|queue| signed(queue) - entry.arrival_min - signed(hold_min));
        let tardy = tardy.map_or(u64::MAX, |late| u64::try_from(late).unwrap_or(0));
        let range = &self.plan.schedulers[entry.scheduler as usize];
        let line = lets_through(range, ats.clock_rate_deviation_max_ppb);
        let line = line.in_bits(entry.wire_per_charged(ats.charged_overhead.get()));
        let line = Line { rate: deviation.fastest(line.rate), ..line };
        let shaped = (tardy < u64::MAX).then(|| bunched(line, tardy + slack));
        let promised = brought(&self.plan, entry, ready_max, None, entry.ready_min).promised;
        let reason = if eligibility.reason != NO_REASON {
            eligibility.reason
        } else if ready_max.is_none() {
            self.why_unknown(entry, queue.is_none())
        } else {
            NO_REASON
        };
        let shared = self.plan.scheduler_users[entry.scheduler as usize] > 1;
        Arriving {
            entry: number,
            brought: Brought { promised: if shared { None } else { promised }, shaped },
            ready_max,
            queue_max,
            queue_min: entry.queue_min,
            tardy: if tardy == u64::MAX { 0 } else { tardy },
            scheduled: true,
            stands_behind: false,
            reason,
        }
    }

    /// An entry's passage, once the classes of its port are known.
    fn pass(&self, port: u32, arriving: &Arriving, terms: &[ClassTerms]) -> Passage {
        let entry = &self.plan.entries[arriving.entry as usize];
        let plan = self.plan.port(port);
        let class = &terms[usize::from(entry.class)];
        let start =
            |frame: Bytes| class.start_max(plan, entry.lane, frame).map(|wait| plan.deviation.stretch(wait));
        let sending =
            |frame: Bytes, transmission: u64| start(frame).map(|wait| wait.saturating_add(transmission));
        let small = sending(entry.frame_min, entry.transmission_max.0);
        let large = sending(entry.frame_max, entry.transmission_max.1);
        let sending_max = small.zip(large).map(|(small, large)| small.max(large));
        let sending_max = sending_max.filter(|sending| *sending <= DELAY_CAP);
        let add = |one: Option<u64>| one.zip(sending_max).map(|(one, sending)| one.saturating_add(sending));
        let hop_max = add(arriving.queue_max);
        let next_max = add(arriving.ready_max);
        let before = self.reason_before(entry);
        let hop_reason = match (hop_max, arriving.reason) {
            (_, reason) if reason != NO_REASON && (arriving.scheduled || arriving.queue_max.is_none()) => {
                reason
            }
            (None, _) => class.reason,
            (Some(_), _) => NO_REASON,
        };
        let reason = [before, arriving.reason, hop_reason].into_iter().find(|reason| *reason != NO_REASON);
        let shaped = self.shaped_onward(entry, arriving, sending_max);
        Passage {
            ready_max: arriving.ready_max,
            next_max,
            hop_max,
            sending_max,
            queued: arriving.brought,
            shaped,
            reason: reason.unwrap_or(NO_REASON),
            hop_reason,
            method: if hop_max.is_some() { class.method } else { Method::None },
        }
    }

    /// The last shaper as the next node sees it.
    fn shaped_onward(&self, entry: &Entry, arriving: &Arriving, sending_max: Option<u64>) -> Option<Shaped> {
        let sending = sending_max?;
        let at_talker = entry.previous == NONE;
        if arriving.scheduled || at_talker {
            let line = arriving.brought.shaped?;
            return Some(Shaped {
                line,
                tagged: entry.tagged,
                way_max: sending,
                origin_min: entry.ready_min,
            });
        }
        let before = self.passages[entry.previous as usize].shaped?;
        let way_max = before.way_max.checked_add(arriving.queue_max?)?.checked_add(sending)?;
        Some(Shaped { way_max, ..before })
    }

    /// The results in their public form.
    pub(crate) fn bounds(self) -> Bounds {
        let network = self.plan.network;
        let streams = (0..network.streams.len()).map(|stream| self.stream(network, stream)).collect();
        Bounds { streams, ports: self.ports }
    }

    fn stream(&self, network: &Description, number: usize) -> StreamBounds {
        let stream = &network.streams[number];
        let first = self.plan.first_entry[number] as usize;
        let entries = first..first + stream.hops.len();
        let time = |ps: i64| Duration::from_ps(u64::try_from(ps).unwrap_or(0));
        let hops = entries
            .clone()
            .map(|entry| {
                let (entry, passage) = (&self.plan.entries[entry], &self.passages[entry]);
                let delay = match (passage.hop_max, passage.hop_reason) {
                    (Some(most), NO_REASON) => Ok(Duration::from_ps(most)),
                    (_, reason) => Err(self.told(reason, entry)),
                };
                let delay_min = time(entry.next_min - entry.here_min);
                HopBounds { delay, delay_min, method: passage.method }
            })
            .collect();
        let listeners = (0..stream.listeners.len())
            .map(|listener| {
                let hop = stream
                    .hops
                    .iter()
                    .position(|hop| hop.listener.is_some_and(|one| one as usize == listener));
                let Some(hop) = hop else {
                    // A listener that no hop reaches never sees a frame.
                    return ListenerBounds { delay: Ok(Duration::ZERO), delay_min: Duration::ZERO };
                };
                let (entry, passage) = (&self.plan.entries[first + hop], &self.passages[first + hop]);
                let delay = match (passage.next_max, passage.reason) {
                    (Some(most), NO_REASON) => Ok(Duration::from_ps(most)),
                    (_, reason) => Err(self.told(reason, entry)),
                };
                ListenerBounds { delay, delay_min: time(entry.next_min) }
            })
            .collect();
        StreamBounds { listeners, hops }
    }

    fn told(&self, reason: u32, entry: &Entry) -> Unbounded {
        let overload = || Unbounded::Overload {
            port: PortIndex(entry.port),
            class: tautwire_core::TrafficClass::new(entry.class).expect("below eight"),
        };
        self.reasons.get(reason as usize).cloned().unwrap_or_else(overload)
    }
}

/// Values per entry in a snapshot.
const SNAPSHOT: usize = 6;

/// The lesser of two bounds, of which there may be none.
fn least(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
