//! How frames reach their queues: from the last bit received, or from the application, through host or
//! device and, for ATS, to eligibility.
//!
//! Not here: the output of a scheduler group (`regulator.rs`), the delay in the queue (`port.rs`).

use tautwire_model::network::{PortIndex, StreamIndex};
use tautwire_units::Bytes;

use crate::analysis::Analysis;
use crate::contribution::Arriving;
use crate::curve::{Line, MICRO};
use crate::passage::{Brought, NO_REASON, Shaped, brought};
use crate::plan::{Entry, NONE, signed};
use crate::port_plan::Selection;
use crate::regulator::{GroupTerms, Origin, Regulator, choices};
use crate::shaper::{Frames, bunched, closer, lets_through, talker_wait};
use crate::unbounded::Unbounded;

/// An ATS frame on its way to eligibility.
struct Eligibility {
    from_application: Option<u64>,
    from_here: Option<u64>,
    /// Why the stream may lose frames or is not bounded.
    reason: u32,
}

impl Analysis<'_> {
    /// From the last bit here (the header, for cut-through) to arrival time and queue, greatest.
    fn ways(&self, entry: &Entry) -> (Option<u64>, Option<u64>) {
        #[cfg(feature = "planted-faults")]
        if self.plan.fault == Some(crate::PlantedFault::ProcessingMaxForgotten) {
            let before = entry.cut.map_or(0, |cut| signed(cut.before_min.0));
            let least = |ps: i64| Some(u64::try_from(ps + before).unwrap_or(0));
            return (least(entry.arrival_min), least(entry.queue_min));
        }
        let Some(reception) = self.plan.receptions.get(entry.reception as usize).and_then(Option::as_ref)
        else {
            return (Some(entry.own_latency.0), Some(entry.own_latency.1));
        };
        let work = if reception.keeps_up() { Some(None) } else { self.work(entry.reception).map(Some) };
        let Some(work) = work else { return (None, None) };
        let received_min = self.plan.entries[entry.previous as usize].frame_min;
        let (apart, rounding) = match &entry.cut {
            Some(cut) => (reception.headers_apart(cut.header, received_min), cut.rounding),
            None => (reception.wire_ps(received_min), 0),
        };
        let passage = |own, any| reception.passage_max(own, any, apart.saturating_sub(rounding), work);
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
        for number in &self.plan.received[reception as usize] {
            let entry = &self.plan.entries[*number as usize];
            if !entry.primary {
                continue;
            }
            let passage = &self.passages[entry.previous as usize];
            let shaped = passage.shaped.map(|shaped| (shaped, shaped.way_max));
            let came = brought(&self.plan, entry, passage.grows_by(), shaped, entry.here_min);
            sum = sum.and(came.least_rate()?);
        }
        let load = u128::from(sum.rate) * u128::from(ps);
        if load > u128::from(bits) * crate::clock::PS_PER_S {
            return None;
        }
        let work = (sum.burst * u128::from(ps)).div_ceil(u128::from(bits) * MICRO);
        u64::try_from(work).ok()
    }

    /// How entries of a port reach their queues, into [`Analysis::arrivals`]. Of a scheduler group all
    /// entries must be among them.
    pub(crate) fn arrive(&mut self, port: u32, entries: &[u32]) {
        let mut groups: Vec<(u32, GroupTerms)> = Vec::new();
        let mut leaders: Vec<u32> = Vec::new();
        for number in entries {
            let number = *number;
            if self.plan.carried(number).is_some() {
                // Its service determines its arrivals.
                self.arrivals[number as usize] =
                    Arriving { entry: number, reason: NO_REASON, ..Arriving::default() };
                continue;
            }
            let entry = &self.plan.entries[number as usize];
            let arriving = if entry.scheduler != NONE
                && self.plan.port(port).classes[usize::from(entry.class)].0 == Selection::Ats
            {
                if !groups.iter().any(|(group, _)| *group == entry.group) {
                    groups.push((entry.group, self.assess_group(entry)));
                }
                let terms = groups.iter().find(|(group, _)| *group == entry.group);
                let terms = &terms.expect("it was just assessed").1;
                let mut arriving = self.arrive_shaped(number, entry, terms);
                if self.plan.scheduler_users[entry.scheduler as usize] > 1 {
                    arriving.is_represented = leaders.contains(&entry.scheduler);
                    leaders.push(entry.scheduler);
                }
                arriving
            } else if entry.previous == NONE {
                self.arrive_at_talker(number, entry)
            } else {
                self.arrive_plain(number, entry)
            };
            self.arrivals[number as usize] = arriving;
        }
        if self.plan.has_ways {
            self.merge_ways(entries);
        }
    }

    /// From the application to the header of a frame that is cut through, or to its last bit, greatest.
    fn received_max(&self, entry: &Entry) -> Option<u64> {
        let latest = self.here_max(entry)?;
        let Some(cut) = &entry.cut else { return Some(latest) };
        let before = &self.plan.entries[entry.previous as usize];
        let header = before.transmission_max.1.saturating_sub(cut.before_min.1);
        let start = self.passages[entry.previous as usize].start_max;
        let begun = start.map_or(latest, |start| start.saturating_add(header));
        Some(begun.min(latest.saturating_sub(cut.before_min.0)))
    }

    /// By what part of the time from the application to the last bit here bursts have grown.
    fn grown_before(&self, entry: &Entry) -> Option<u64> {
        match entry.previous {
            NONE => Some(0),
            previous => self.passages[previous as usize].grows_by(),
        }
    }

    fn arrive_plain(&self, number: u32, entry: &Entry) -> Arriving {
        let (_, passage) = self.ways(entry);
        let received = self.received_max(entry);
        let ready_max = received.zip(passage).map(|(received, passage)| received.saturating_add(passage));
        let spread_max = self.grown_before(entry).zip(passage).zip(ready_max);
        let spread_max = spread_max.map(|((grown, passage), ready)| grown.saturating_add(passage).min(ready));
        let saved = entry.cut.map_or(0, |cut| signed(cut.before_min.0));
        let queue_max = passage.map(|passage| time(passage) - saved);
        let before = &self.passages[entry.previous as usize];
        let discards = self.policed(number, entry);
        let policed = discards.or_else(|| self.metered(entry));
        let shaped = policed.or(before.shaped).zip(queue_max);
        let by = |way: fn(&Shaped) -> u64| {
            shaped.map(|(shaped, queue)| (shaped, way(&shaped).saturating_add_signed(queue)))
        };
        let brought = brought(&self.plan, entry, spread_max, by(|shaped| shaped.spread), entry.ready_min);
        let shaped = by(|shaped| shaped.way_max);
        let share = self.share(entry, shaped);
        let mut reason = self.why_unknown(entry, passage.is_none());
        if discards.is_some() && reason == NO_REASON {
            reason = self.reason(Unbounded::MayBeDiscarded { port: PortIndex(entry.reception) });
        }
        Arriving {
            entry: number,
            brought,
            ready_max,
            spread_max,
            queue_max,
            queue_min: entry.queue_min,
            tardy: 0,
            scheduled: false,
            is_shared: false,
            is_represented: false,
            comes_by_others: false,
            reason,
            policed,
            share,
        }
    }

    /// Why the arrivals of a stream have no known bound.
    fn why_unknown(&self, entry: &Entry, stages: bool) -> u32 {
        let before = self.reason_before(entry);
        if before != NO_REASON {
            return before;
        }
        let port = PortIndex(entry.port);
        if entry.promise.is_none() && !self.plan.waits_for_its_turn(entry.stream) {
            return self.reason(Unbounded::NoArrivalCurve { stream: StreamIndex(entry.stream), port });
        }
        if stages {
            return self.reason(Unbounded::StageTooSlow { port: PortIndex(entry.reception) });
        }
        NO_REASON
    }

    fn arrive_at_talker(&self, number: u32, entry: &Entry) -> Arriving {
        let host = entry.own_latency.1;
        let unshaped = brought(&self.plan, entry, Some(host), None, entry.ready_min);
        let mut arriving = Arriving {
            entry: number,
            brought: unshaped,
            ready_max: Some(host),
            spread_max: None,
            queue_max: Some(time(host)),
            queue_min: entry.queue_min,
            tardy: 0,
            scheduled: false,
            is_shared: false,
            is_represented: false,
            comes_by_others: false,
            reason: self.why_unknown(entry, false),
            policed: None,
            share: None,
        };
        self.regulate(entry, &mut arriving);
        if let Some(range) = self.plan.talker_shapers[entry.stream as usize] {
            let plan = self.plan.port(entry.port);
            let (deviation, slack) = (plan.deviation, plan.slack);
            let line = lets_through(&range);
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
            let shaped = Some(bunched(line, slack + closer(&range, None)));
            arriving.brought = Brought { promised: regrown.promised, shaped };
            arriving.ready_max = ready;
            arriving.queue_max = ready.map(time);
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
    fn eligibility(&self, entry: &Entry, terms: &GroupTerms, arrival_max: Option<u64>) -> Eligibility {
        let mut best = self.eligibility_of(entry, terms, arrival_max);
        self.residence(entry, terms, arrival_max, self.here_max(entry), &mut best);
        best
    }

    /// The same without MaxResidenceTime.
    fn eligibility_of(&self, entry: &Entry, terms: &GroupTerms, arrival_max: Option<u64>) -> Eligibility {
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
        best
    }

    /// MaxResidenceTime and size: what may be discarded, and how long what is not may stay.
    fn residence(
        &self,
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

    /// How long frames of an entry stay at most from their arrival to eligibility, on the clock of their node; none if that has
    /// no bound.
    pub(crate) fn staying_max(&self, entry: &Entry) -> Option<u64> {
        let node = self.plan.network.ports[entry.port as usize].node;
        let recognition = self.plan.network.device(node)?.ats.arrival_recognition_delay_max.as_ps();
        let terms = self.assess_group(entry);
        let arrival_max = self.ways(entry).0.map(|way| way + recognition);
        let way = self.eligibility_of(entry, &terms, arrival_max).from_here?;
        let staying = u64::try_from(signed(way) - entry.arrival_min).unwrap_or(0);
        Some(self.plan.port(entry.port).deviation.stretch(staying))
    }

    fn arrive_shaped(&self, number: u32, entry: &Entry, terms: &GroupTerms) -> Arriving {
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
        let line = lets_through(range);
        let line = line.in_bits(self.plan.wire_per_charged(entry, ats.charged_overhead.get()));
        let line = Line { rate: deviation.fastest(line.rate), ..line };
        let closer = closer(range, ats.time_quantum);
        let shaped = (tardy < u64::MAX).then(|| bunched(line, tardy + slack + closer));
        let grown = self.grown_before(entry).zip(queue_max).zip(ready_max);
        let spread_max = grown.map(|((grown, queue), ready)| grown.saturating_add(queue).min(ready));
        let promised = brought(&self.plan, entry, spread_max, None, entry.ready_min).promised;
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
            spread_max,
            queue_max: queue_max.map(time),
            queue_min: entry.queue_min,
            tardy: if tardy == u64::MAX { 0 } else { tardy },
            scheduled: true,
            is_shared: shared,
            is_represented: false,
            comes_by_others: false,
            reason,
            policed: None,
            share: None,
        }
    }
}

/// A time, to which one before it may be added.
fn time(ps: u64) -> i64 {
    i64::try_from(ps).unwrap_or(i64::MAX / 2)
}

/// The lesser of two bounds, of which there may be none.
fn least(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
