//! A class with a credit-based shaper at a port: its credit, its queueing delays, its output. The formulas are in `credit_based.rs` and
//! `credit_earning.rs`, those of reserved classes in `reserved.rs`.

use tautwire_units::Bytes;

use super::terms::second_is_less;
use super::{Assess, Candidates, ClassTerms, FifoService, candidates};
use crate::busy_period::{Lane, in_turn, others_first};
use crate::contribution::{Contribution, Offered};
use crate::credit_based::Shaper;
use crate::credit_earning::earning_max;
use crate::curve::{Curve, MICRO};
use crate::passage::NO_REASON;
use crate::plan::OWN_LANE;
use crate::port_plan::ClassOrder;
use crate::queue_bound::{QueueBound, backlog};
use crate::reserved::{self, ReservedPort};
use crate::response_time::{ResponseTimes, response_times, response_times_in_slots, stepwise};
use crate::result::Method;
use crate::stairs::Stairs;
use crate::windows::Taken;

impl Assess<'_> {
    pub(super) fn credit_based(
        &self,
        terms: &mut ClassTerms,
        offered: &Offered,
        slope_min: u64,
        slope_max: u64,
    ) -> Offered {
        let port = self.port;
        let overhead = port.credit_charged;
        let frame_min = self.members.iter().map(|member| member.frame_min).min().expect("a used class");
        let frame_max = self.members.iter().map(|member| member.frame_max).max().expect("a used class");
        // Beyond what the line takes for a frame nothing more is charged surely: the next one may start, or the charge ends with
        // positive credit.
        let charged_surely = overhead.min(Bytes::MEDIA_OVERHEAD.get());
        let ratio = |above: u64, below: u64| {
            let frame = if above >= below { frame_min } else { frame_max };
            (frame.get() + above, frame.get() + below)
        };
        let shaper = Shaper {
            slope_min,
            slope_max,
            slope_floor: if self.windows.is_some_and(|windows| windows.credit.starts_slower) {
                0
            } else {
                slope_min
            },
            rate: port.rate,
            rate_charged: port.rate_charged,
            charged_max: (frame_max.get() + overhead) * 8,
            wire_per_charged: ratio(Bytes::MEDIA_OVERHEAD.get(), charged_surely),
            slack: port.slack + 1,
        };
        let charged = ratio(overhead, Bytes::MEDIA_OVERHEAD.get());
        let blocking = u128::from(terms.blocking_bits) * MICRO;
        let held = |higher: &Curve| shaper.held_max(port.rate_served, blocking, higher);
        let higher = (&self.higher.stairs, &self.higher.shaped);
        let in_slots = self.higher.slots.as_ref().map(|slots| (slots, higher.1));
        let earned = [Some(higher), in_slots].into_iter().flatten().filter_map(|higher| {
            let earned = earning_max(blocking, port.rate_served, higher, slope_max, shaper.wire_per_charged)?;
            Some(earned.saturating_add(shaper.slack))
        });
        let earned = if self.by_frames && self.windows.is_none() { earned.min() } else { None };
        let all = [held(&self.higher.plain), held(&self.higher.shaped), earned];
        let held = all.into_iter().flatten().min();
        let credit_max = held.map(|held| shaper.credit_in(held));
        if let Some(windows) = self.windows {
            let sent = credit_max.map(|credit| windows.credit.in_time(shaper.onto_link(credit)));
            terms.sent = sent.and_then(|sent| sent.lines().last().copied());
        }
        if self.is_cut() {
            // Frames whose last bits leave within a time may have begun so much earlier.
            let sent = credit_max.zip(self.cut_on_line());
            terms.sent = sent.map(|(credit, longer)| {
                let line = shaper.onto_link(credit);
                line.after_jitter(line.rate, longer)
            });
        }
        terms.credit_max = credit_max;
        terms.shaper = Some(shaper);
        terms.bounds.hi_credit_bits = credit_max.map(Shaper::hi_credit_bits);
        terms.bounds.lo_credit_bits = Some(shaper.lo_credit_bits());
        let served = credit_max.map(|credit| shaper.service(credit));
        let charged_min = (frame_min.get() + overhead) * 8;
        let idle = self.windows.map_or_else(Taken::nothing, |windows| windows.credit.unearned.clone());
        let rate = served.map_or(0, |(rate, _)| rate);
        let idle = (idle.bits(rate), idle.jumps);
        let zero = &idle.0;
        let mut backlog_by_frames = None;
        if let Some(reserved) = port.reserved.iter().find(|reserved| reserved.class == self.class) {
            self.reserved(terms, reserved, held, charged);
            let granted = self.members.iter().flat_map(|member| member.granted.iter().copied());
            let is_bounded = terms.lanes.iter().any(|(_, bounds)| !bounds.is_empty());
            terms.bounds.backlog = held.filter(|_| is_bounded).map(|held| {
                let charged_bits = reserved::backlog(granted, reserved.ceiling, charged, held);
                let (num, den) = shaper.wire_per_charged;
                self.frame_bits(crate::curve::scaled(charged_bits, num, den))
            });
            self.late(terms);
            return self.output(terms, &shaper, offered, charged_min);
        }
        if self.order() == ClassOrder::Fifo || self.members.len() == 1 {
            let bound = |curve: &Curve| {
                let (rate, latency) = served?;
                crate::queue_bound::queue_bound(latency, rate, zero, &curve.in_bits(charged), charged_min)
            };
            let (plain, shaped) = (bound(&offered.plain), bound(&offered.shaped));
            let by_line = second_is_less(&plain, &shaped, charged_min);
            let own = (&offered.stairs.charged(overhead, charged), &offered.shaped.in_bits(charged));
            let nothing = (&Stairs::of_taken(idle.1.as_ref(), zero, rate), zero);
            let by_steps = self.by_frames && self.windows.is_some() && !own.0.is_integral();
            let slots = offered.slots.as_ref().filter(|_| self.windows.is_none() && !self.is_cut());
            let slots = slots.map(|slots| slots.charged(overhead, charged));
            let waits = served.map(|(rate, latency)| match (by_steps, &slots) {
                (true, _) => stepwise(latency, rate, nothing, own.1, charged_min),
                (false, None) => response_times(latency, rate, nothing, own),
                (false, Some(slots)) => response_times_in_slots(latency, rate, nothing, (slots, own.1)),
            });
            let ResponseTimes { waits, backlog } = waits.unwrap_or_default();
            backlog_by_frames = backlog;
            let least =
                |bounds: &[QueueBound]| bounds.iter().filter_map(|bound| bound.start_max(charged_min)).min();
            let by_curves = candidates([plain, shaped]);
            terms.method = match least(&waits).is_some_and(|wait| Some(wait) < least(&by_curves)) {
                true => Method::CreditBasedFrameByFrame,
                false if by_line => Method::CreditBasedLineShaping,
                false => Method::CreditBased,
            };
            terms.lanes = vec![(OWN_LANE, by_curves.into_iter().chain(waits).collect())];
            let line = served.map(|(rate, latency)| (latency, rate));
            self.in_order(terms, &offered.plain, || FifoService::of(line, charged, port.slack + 1));
        } else {
            terms.method = Method::BusyPeriod;
            let lanes: Vec<Lane> =
                self.members.iter().map(|member| self.lane(member, charged, overhead)).collect();
            let bound = |own: usize| {
                let Some((rate, latency)) = served else { return Candidates::new() };
                let others =
                    || lanes.iter().enumerate().filter(move |(lane, _)| *lane != own).map(|(_, lane)| lane);
                let any = |frame| others_first(latency, rate, zero, &lanes[own], others(), frame);
                let takes_turns =
                    self.order() == ClassOrder::RoundRobin && self.windows.is_none() && !self.is_cut();
                let turns = takes_turns.then(|| {
                    let largest = others().map(|lane| lane.frame_max).max().unwrap_or(0);
                    let committed = if port.two_stage { u128::from(largest) * MICRO } else { 0 };
                    let latency = latency + shaper.debt_max() + committed;
                    in_turn(latency, rate, zero, &lanes[own], others())
                });
                candidates([any(lanes[own].frame_min), any(lanes[own].frame_max), turns.flatten()])
            };
            terms.lanes = (0..lanes.len()).map(|own| (self.members[own].lane, bound(own))).collect();
        }
        self.late(terms);
        terms.bounds.backlog = served.and_then(|(rate, latency)| {
            let own = offered.shaped.in_bits(charged);
            let charged_bits =
                backlog(latency, rate, zero, &own).into_iter().chain(backlog_by_frames).min()?;
            let (num, den) = shaper.wire_per_charged;
            Some(self.frame_bits(crate::curve::scaled(charged_bits, num, den)))
        });
        self.output(terms, &shaper, offered, charged_min)
    }

    /// The bound of a class that reservations shape, which sends nothing for `held` at most.
    fn reserved(
        &self,
        terms: &mut ClassTerms,
        reserved: &ReservedPort,
        held: Option<u64>,
        charged: (u64, u64),
    ) {
        let (port, ceiling) = (self.port, reserved.ceiling);
        let in_order = self.order() == ClassOrder::Fifo || self.members.len() == 1;
        let is_known = |member: &Contribution| !member.has_strangers && member.unknown == NO_REASON;
        let known = in_order && self.members.iter().all(is_known);
        let granted = self.members.iter().flat_map(|member| member.granted.iter().copied());
        let bound = held.filter(|_| known).and_then(|held| {
            let wait = reserved::wait_max(granted, (ceiling, reserved.tested), charged, port.credit_charged)?;
            Some(reserved::queue_bound(held, wait, ceiling))
        });
        terms.method = Method::CreditBased;
        terms.lanes = vec![(OWN_LANE, candidates([bound]))];
    }

    /// The output of a credit-based class, which lower classes count.
    fn output(&self, terms: &ClassTerms, shaper: &Shaper, offered: &Offered, charged_min: u64) -> Offered {
        if let Some(windows) = self.windows {
            let sent = terms.credit_max.map(|credit| windows.credit.in_time(shaper.at_any_time(credit)));
            let held = self.held_max(terms);
            let out = |offered: &Curve| {
                let late = held.map_or_else(Curve::default, |held| offered.widened(held));
                let sent = sent.iter().flat_map(|sent| sent.lines().iter().copied());
                Curve::least_of(late.lines().iter().copied().chain(sent))
            };
            return Offered::by_curves(out(&offered.plain), out(&offered.shaped));
        }
        let line = shaper.output();
        #[cfg(feature = "planted-faults")]
        let line = if self.port.fault == Some(crate::PlantedFault::CreditDebtForgotten) {
            crate::curve::Line { burst: 0, ..line }
        } else {
            line
        };
        let longest =
            |bounds: &Candidates| bounds.iter().filter_map(|bound| bound.start_max(charged_min)).min();
        let wait = terms
            .lanes
            .iter()
            .try_fold(0, |most: u64, (_, bounds)| longest(bounds).map(|wait| most.max(wait)));
        let out = |offered: &Curve| match wait {
            Some(wait) => {
                let late = offered.widened(wait);
                Curve::least_of(late.lines().iter().copied().chain([line]))
            }
            None => Curve::least_of([line]),
        };
        Offered::by_curves(out(&offered.plain), out(&offered.shaped))
    }
}
