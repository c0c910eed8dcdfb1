//! A class under strict priority, and an ATS class from eligibility on: its queueing delays by curves and frame by frame.

use super::terms::second_is_less;
use super::{Assess, Candidates, ClassTerms, FifoService, candidates};
use crate::busy_period::{Lane, in_turn, lowest_first, others_first};
use crate::contribution::Offered;
use crate::curve::{Curve, Line, MICRO};
use crate::plan::OWN_LANE;
use crate::port_plan::{ClassOrder, Selection};
use crate::queue_bound::{QueueBound, backlog};
use crate::response_time::{
    ResponseTimes, response_times, response_times_in_slots, response_times_to_end, stepwise,
};
use crate::result::Method;
use crate::stairs::Stairs;
use crate::strict_priority;

impl Assess<'_> {
    /// Strict priority, and ATS from eligibility on.
    pub(super) fn strict(&self, terms: &mut ClassTerms, offered: &Offered) {
        let port = self.port;
        let blocking = u128::from(terms.blocking_bits) * MICRO;
        let ats = port.classes[self.class].0 == Selection::Ats;
        let mut backlog_by_frames = None;
        if self.order() == ClassOrder::Fifo || self.members.len() == 1 {
            let own =
                |curve: &Curve| if ats && self.tardy > 0 { curve.widened(self.tardy) } else { curve.clone() };
            let above = |higher: &Curve, own: &Curve| {
                // A frame without a scheduler goes before all that have one.
                if self.unscheduled { higher.plus(own) } else { higher.clone() }
            };
            let bound = |higher: &Curve, offered: &Curve, frame: u64| {
                let higher = above(higher, offered);
                self.until_end(strict_priority::fifo(
                    blocking,
                    port.rate_served,
                    &higher,
                    &own(offered),
                    frame,
                ))
            };
            let largest = self.members.iter().map(|member| member.wire_max).max().unwrap_or(0);
            let plain = bound(&self.higher.plain, &offered.plain, self.frame_min());
            let shaped = bound(&self.higher.shaped, &offered.shaped, self.frame_min());
            let for_large = if largest == self.frame_min() {
                None
            } else {
                bound(&self.higher.shaped, &offered.shaped, largest)
            };
            let by_line = second_is_less(&plain, &shaped, self.frame_min());
            terms.method = match (ats, by_line) {
                (true, _) => Method::AtsContention,
                (false, true) => Method::StrictPriorityLineShaping,
                (false, false) => Method::StrictPriorityTokenBucket,
            };
            let ResponseTimes { waits, backlog } = if self.windows.is_some() && !self.unscheduled {
                self.in_windows(blocking, (&offered.stairs, &own(&offered.shaped)))
            } else if self.unscheduled {
                ResponseTimes::default()
            } else if ats && self.tardy > 0 {
                self.response_times(blocking, &offered.widened(self.tardy))
            } else {
                self.response_times(blocking, offered)
            };
            backlog_by_frames = backlog;
            let least = |bounds: &[QueueBound]| {
                bounds.iter().filter_map(|bound| bound.start_max(self.frame_min())).min()
            };
            let by_curves = candidates([plain, shaped, for_large]);
            // Committed bursts are full frames but for roundings, which are not worth a name.
            let (method, least_gain) =
                if ats { (Method::AtsFrameByFrame, 1_000) } else { (Method::ResponseTime, 1) };
            let is_less = |wait: u64| least(&by_curves).is_none_or(|curves| wait + least_gain <= curves);
            if least(&waits).is_some_and(is_less) {
                terms.method = method;
            }
            terms.lanes = vec![(OWN_LANE, by_curves.into_iter().chain(waits).collect())];
            let higher = [&self.higher.plain, &self.higher.shaped];
            let lines = higher.into_iter().flat_map(Curve::lines);
            let left = |line: &Line| Some((blocking + line.burst, port.rate_served.checked_sub(line.rate)?));
            self.in_order(terms, &offered.plain, || {
                FifoService::of(lines.filter_map(left), (1, 1), port.slack)
            });
        } else {
            terms.method = Method::BusyPeriod;
            let lanes: Vec<Lane> = self.members.iter().map(|member| self.lane(member, (1, 1), 0)).collect();
            terms.lanes = (0..lanes.len())
                .map(|own| {
                    let bound = self.strict_lane(&lanes, own, blocking);
                    (self.members[own].lane, bound)
                })
                .collect();
        }
        self.late(terms);
        let by_curves = backlog(blocking, port.rate_served, &self.higher.shaped, &offered.shaped);
        if !ats {
            let most = by_curves.into_iter().chain(backlog_by_frames).min();
            terms.bounds.backlog = most.map(|most| self.frame_bits(most));
        }
    }

    /// Frame by frame.
    fn response_times(&self, blocking: u128, offered: &Offered) -> ResponseTimes {
        let port = self.port;
        let by_slots = self.in_slots(blocking, offered);
        let higher = (&self.higher.stairs, &self.higher.shaped);
        let own = &offered.stairs;
        #[cfg(feature = "planted-faults")]
        let own = &match port.fault {
            Some(crate::PlantedFault::LaterFramesForgotten) => own.first_frames(),
            _ => own.clone(),
        };
        let own = (own, &offered.shaped);
        if self.is_cut() {
            return response_times_to_end(blocking, (port.rate_served, port.rate), higher, own);
        }
        response_times(blocking, port.rate_served, higher, own).and(by_slots)
    }

    /// The same with each frame of streams with several sizes as its largest, if there are such.
    fn in_slots(&self, blocking: u128, offered: &Offered) -> ResponseTimes {
        let higher = (self.higher.in_slots(), &self.higher.shaped);
        if self.is_cut() || (offered.slots.is_none() && self.higher.slots.is_none()) {
            return ResponseTimes::default();
        }
        let (rate, own) = (self.port.rate_served, (offered.in_slots(), &offered.shaped));
        match offered.slots {
            Some(_) => response_times_in_slots(blocking, rate, higher, own),
            None => response_times(blocking, rate, higher, own),
        }
    }

    /// Frame by frame, or in steps of the smallest frame where a stream has several sizes, together with the time taken by windows.
    fn in_windows(&self, blocking: u128, (frames, curve): (&Stairs, &Curve)) -> ResponseTimes {
        let ats = self.port.classes[self.class].0 == Selection::Ats;
        let higher = (&self.higher.stairs, &self.higher.shaped);
        if !self.by_frames {
            return ResponseTimes::default();
        }
        if !ats && frames.is_integral() {
            return response_times(blocking, self.port.rate_served, higher, (frames, curve));
        }
        stepwise(blocking, self.port.rate_served, higher, curve, self.frame_min())
    }

    /// One lane under strict priority.
    fn strict_lane(&self, lanes: &[Lane], own: usize, blocking: u128) -> Candidates {
        let port = self.port;
        let (rate, higher) = (port.rate_served, &self.higher.shaped);
        let others = || lanes.iter().enumerate().filter(move |(lane, _)| *lane != own).map(|(_, lane)| lane);
        let any = |frame| self.until_end(others_first(blocking, rate, higher, &lanes[own], others(), frame));
        let ordered = match self.order() {
            // A lane whose frame does not fit in a window may lose its turn.
            _ if self.windows.is_some() || self.is_cut() => None,
            ClassOrder::RoundRobin => {
                let largest = others().map(|lane| lane.frame_max).max().unwrap_or(0);
                let under_way =
                    if port.two_stage { blocking.max(u128::from(largest) * MICRO) } else { blocking };
                in_turn(under_way, rate, higher, &lanes[own], others())
            }
            ClassOrder::LowestLane if !port.two_stage => {
                let number = self.members[own].lane;
                // The node's own frames go before every lane.
                let is_lower = |lane: u16| lane < number || lane == OWN_LANE;
                let with_number =
                    || lanes.iter().zip(self.members).filter(move |(_, member)| member.lane != number);
                let lower = with_number().filter(|(_, member)| is_lower(member.lane)).map(|(lane, _)| lane);
                let largest = with_number()
                    .filter(|(_, member)| !is_lower(member.lane))
                    .map(|(lane, _)| lane.frame_max)
                    .max();
                lowest_first(blocking, rate, higher, &lanes[own], lower, largest.unwrap_or(0))
            }
            ClassOrder::LowestLane | ClassOrder::Fifo => None,
        };
        candidates([any(lanes[own].frame_min), any(lanes[own].frame_max), ordered])
    }
}
