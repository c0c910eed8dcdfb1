//! One port: the arrivals of its classes, their queueing delays, and their output.
//!
//! [`ClassTerms`] are computed from the passages of the ports before, class by class from the highest
//! (`port_state.rs`), and contain all terms of a stream's bound at the port; per stream only its own frame is
//! subtracted. The order of classes, lanes and lines is fixed, so equal networks have equal bounds. The formulas are
//! in `strict_priority.rs`, `line_shaping.rs`, `busy_period.rs`, `credit_based.rs` and `regulator.rs`.

mod credit;

use crate::busy_period::{Lane, in_turn, lowest_first, others_first};
use crate::contribution::{Contribution, Offered, offered};
use crate::credit_based::Shaper;
use crate::curve::{Curve, Line, MICRO};
use crate::passage::NO_REASON;
use crate::plan::OWN_LANE;
use crate::port_plan::{ClassOrder, PortPlan, Selection};
use crate::queue_bound::{QueueBound, backlog};
use crate::reasons::Reasons;
use crate::response_time::{ResponseTimes, response_times, response_times_to_end, stepwise};
use crate::result::{ClassBounds, Method};
use crate::stairs::Stairs;
use crate::strict_priority;
use crate::unbounded::Unbounded;
use crate::windows::{ClassWindows, Part, TIME};
use tautwire_units::{Bits, Bytes};

/// Bounds of a queue that all hold; which is least depends on the frame.
pub(crate) type Candidates = Vec<QueueBound>;

/// The applicable ones.
fn candidates(bounds: impl IntoIterator<Item = Option<QueueBound>>) -> Candidates {
    bounds.into_iter().flatten().collect()
}

/// A class of a port.
#[derive(Clone, Debug)]
pub(crate) struct ClassTerms {
    pub(crate) used: bool,
    /// Per lane; a FIFO class has one bound for all, with lane [`OWN_LANE`].
    pub(crate) lanes: Vec<(u16, Candidates)>,
    pub(crate) method: Method,
    /// Why there is no bound.
    pub(crate) reason: u32,
    /// The largest frame below, bits of the wire.
    pub(crate) blocking_bits: u64,
    pub(crate) credit_max: Option<u128>,
    pub(crate) shaper: Option<Shaper>,
    /// The output of windows on the link.
    pub(crate) sent: Option<Line>,
    /// Its service in the order of arrival, if it is asked for and the class has one.
    pub(crate) fifo: Option<FifoService>,
    pub(crate) bounds: ClassBounds,
}

/// The service of a class whose frames go in the order in which they come: by each of `lines`, a frame that starts *w* after the last
/// instant at which none was waiting has `rate·w <= latency + own`, where `own` are the bits of the class that came since and go before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FifoService {
    /// Latencies in micro-bits, and rates on the clock of the node.
    pub(crate) lines: Vec<(u128, u64)>,
    /// Bits as they are served, to one of the wire: at most.
    pub(crate) ratio: (u64, u64),
    /// How late a start may be in addition.
    pub(crate) slack: u64,
}

impl Default for ClassTerms {
    /// Of a class without arrivals.
    fn default() -> Self {
        Self {
            used: false,
            lanes: Vec::new(),
            method: Method::None,
            reason: NO_REASON,
            blocking_bits: 0,
            credit_max: None,
            shaper: None,
            sent: None,
            fifo: None,
            bounds: ClassBounds::default(),
        }
    }
}

/// The traffic that goes before a class.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Above {
    pub(crate) offered: Offered,
    /// Why more does than is known.
    pub(crate) reason: u32,
    /// Class by class, instead of all that, at a port whose classes may not always send.
    pub(crate) parts: Vec<Part>,
    /// Of all that, what classes send that may hold frames back.
    pub(crate) held: Curve,
}

impl Above {
    /// Nothing.
    pub(crate) fn nothing() -> Self {
        Self { offered: Offered::nothing(), reason: NO_REASON, parts: Vec::new(), held: Curve::zero() }
    }
}

/// The arrivals of a class of a port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coming<'a> {
    pub(crate) members: &'a [Contribution],
    pub(crate) above: &'a Above,
    /// The largest frame below, bits of the wire.
    pub(crate) blocking_bits: u64,
    /// How much later than its eligibility time a frame may come.
    pub(crate) tardy: u64,
    /// Whether some frames go by eligibility times and some do not.
    pub(crate) unscheduled: bool,
    /// Whether frames are examined one by one, in addition to curves.
    pub(crate) by_frames: bool,
    /// Whether the service of the class in the order of arrival is asked for.
    pub(crate) by_paths: bool,
}

/// A class of a port to which something comes: its terms, and what goes before the classes below it.
pub(crate) fn assess(
    number: u32,
    port: &PortPlan,
    class: usize,
    coming: Coming<'_>,
    reasons: &Reasons,
) -> (ClassTerms, Above) {
    let Coming { members, above, blocking_bits, tardy, unscheduled, by_frames, by_paths } = coming;
    let blocking_bits = port.windows().map_or(blocking_bits, |windows| windows.classes[class].blocking_bits);
    #[cfg(feature = "planted-faults")]
    let blocking_bits =
        if port.fault == Some(crate::PlantedFault::BlockingFrameForgotten) { 0 } else { blocking_bits };
    let mut terms = ClassTerms {
        used: members.iter().any(|member| member.lane != OWN_LANE),
        blocking_bits,
        ..ClassTerms::default()
    };
    if let Some(bounds) = port.carries(class) {
        // Its frames have bounds of their own.
        (terms.used, terms.bounds) = (bounds.used, bounds.clone());
        return (terms, above.clone());
    }
    let windows = port.windows();
    let by_windows = windows.map(|windows| match port.classes[class].0 {
        Selection::CreditBased { .. } => {
            windows.above_credit(class, &above.parts, port.rates(), port.precedence())
        }
        Selection::StrictPriority | Selection::Ats => {
            windows.above(class, &above.parts, port.rates(), port.precedence())
        }
    });
    let pushes = windows.zip(port.precedence());
    let pushes = pushes
        .and_then(|(windows, precedence)| windows.pushes(class, &above.parts, port.rates(), precedence));
    let here =
        by_windows.or_else(|| port.precedence().map(|precedence| precedence.above(class, &above.parts)));
    let here = here.as_ref().unwrap_or(above);
    let (higher, higher_reason) = (&here.offered, here.reason);
    let served = port.served.as_deref().filter(|served| !served.taken.is_empty());
    let with_served = served.map(|served| higher.plus_curve(&served.taken_of(class)));
    // What a service takes it also takes of a frame that has begun.
    let pushes = pushes.map(|pushes| match served {
        Some(served) => Above { offered: pushes.offered.plus_curve(&served.taken_of(class)), ..pushes },
        None => pushes,
    });
    let higher = with_served.as_ref().unwrap_or(higher);
    let windows = windows.map(|windows| &windows.classes[class]);
    if let Some(windows) = windows {
        terms.sent = windows.sent.map(|time| time.in_bits((port.rate, TIME)));
    }
    let assess = Assess {
        number,
        port,
        class,
        members,
        higher,
        higher_reason,
        tardy,
        unscheduled,
        by_frames,
        by_paths,
        windows,
        pushes,
    };
    let out = assess.run(&mut terms, reasons);
    assess.run_again(&mut terms, above, reasons);
    if let Some(windows) = windows {
        let mut below = above.clone();
        below.parts.push(assess.part(windows, &terms, out));
        return (terms, below);
    }
    if port.precedence().is_some() {
        let mut below = above.clone();
        below.parts.push(assess.prompt_part(&terms, out));
        return (terms, below);
    }
    let held = match port.classes[class].0 {
        Selection::StrictPriority => above.held.clone(),
        Selection::CreditBased { .. } | Selection::Ats => above.held.plus(&out.shaped),
    };
    let mut below =
        Above { offered: above.offered.plus(&out), reason: higher_reason, parts: Vec::new(), held };
    if !out.shaped.is_known() && higher_reason == NO_REASON {
        let unknown = members.iter().map(|member| member.unknown).find(|one| *one != NO_REASON);
        below.reason = unknown.unwrap_or(terms.reason);
    }
    #[cfg(feature = "planted-faults")]
    if port.fault == Some(crate::PlantedFault::HigherRateNotSubtracted) {
        below.offered.plain = below.offered.plain.without_rate();
        below.offered.shaped = below.offered.shaped.without_rate();
    }
    (terms, below)
}

/// A class about to be assessed.
struct Assess<'a> {
    number: u32,
    port: &'a PortPlan,
    class: usize,
    members: &'a [Contribution],
    higher: &'a Offered,
    higher_reason: u32,
    tardy: u64,
    unscheduled: bool,
    by_frames: bool,
    by_paths: bool,
    windows: Option<&'a ClassWindows>,
    /// What keeps its frames on the line behind their start, at a port with windows.
    pushes: Option<Above>,
}

impl Assess<'_> {
    /// Fills the terms of the class and gives what it does to lower ones.
    fn run(&self, terms: &mut ClassTerms, reasons: &Reasons) -> Offered {
        let offered = offered(self.port, self.members, self.by_frames);
        #[cfg(feature = "planted-faults")]
        let sent = offered.clone();
        #[cfg(feature = "planted-faults")]
        let offered = if self.port.fault == Some(crate::PlantedFault::SameClassBurstForgotten) {
            let most =
                u128::from(self.members.iter().map(|member| member.wire_max).max().unwrap_or(0)) * MICRO;
            Offered::by_curves(offered.plain.with_burst(most), offered.shaped.with_burst(most))
        } else {
            offered
        };
        let unknown = self.members.iter().map(|member| member.unknown).find(|one| *one != NO_REASON);
        terms.bounds.used = terms.used;
        terms.bounds.utilisation_ppm = offered.plain.rate().map(|rate| {
            let ppm = (u128::from(rate) * 1_000_000).div_ceil(u128::from(self.port.rate));
            u32::try_from(ppm).unwrap_or(u32::MAX)
        });
        let rates = [&offered.plain, &offered.shaped].map(Curve::rate);
        if let Some(why) = self.unbounded() {
            (terms.lanes, terms.reason) = (vec![(OWN_LANE, Candidates::new())], reasons.number(why));
            return offered;
        }
        let out = match self.port.classes[self.class].0 {
            Selection::CreditBased { slope_min, slope_max } => {
                let reserved = self.port.reserved.iter().find(|reserved| reserved.class == self.class);
                let of_streams = self.members.iter().filter_map(|member| member.slope_min).min();
                let slope_min = reserved.map_or(slope_min, |reserved| reserved.slope_min(of_streams));
                self.credit_based(terms, &offered, slope_min, slope_max)
            }
            Selection::StrictPriority | Selection::Ats => {
                self.strict(terms, &offered);
                #[cfg(feature = "planted-faults")]
                let offered = sent;
                offered
            }
        };
        let bounded = terms.lanes.iter().all(|(_, bounds)| !bounds.is_empty());
        if !bounded {
            terms.reason = if self.higher_reason != NO_REASON {
                self.higher_reason
            } else if let Some(unknown) = unknown {
                unknown
            } else {
                reasons.number(self.overload(rates))
            };
        }
        out
    }

    /// Adds the bounds by other windows of the class to its terms, if there are some.
    fn run_again(&self, terms: &mut ClassTerms, above: &Above, reasons: &Reasons) {
        let again = self.port.windows().and_then(|windows| windows.again.as_deref());
        let Some(windows) = again.map(|again| &again[self.class]) else { return };
        if matches!(self.port.classes[self.class].0, Selection::CreditBased { .. }) {
            return;
        }
        let here = windows.above(self.class, &above.parts, self.port.rates(), self.port.precedence());
        let assess = Assess {
            higher: &here.offered,
            higher_reason: here.reason,
            windows: Some(windows),
            pushes: None,
            ..*self
        };
        let mut more =
            ClassTerms { used: terms.used, blocking_bits: windows.blocking_bits, ..ClassTerms::default() };
        assess.run(&mut more, reasons);
        terms.and(more, self.frame_min());
    }

    /// Why there is no bound, whatever comes.
    fn unbounded(&self) -> Option<Unbounded> {
        let of_port = self.port.served.as_deref().and_then(|served| served.unbounded.clone());
        of_port.or_else(|| self.windows?.unbounded.clone())
    }

    /// Why more comes than can leave: than the line carries, or than it does with a step of the clock for every frame.
    fn overload(&self, own: [Option<u64>; 2]) -> Unbounded {
        if let Some(windows) = self.windows {
            return windows.overload.clone();
        }
        let port = tautwire_model::network::PortIndex(self.number);
        let class = u8::try_from(self.class).expect("below eight");
        let class = tautwire_core::TrafficClass::new(class).expect("below eight");
        let higher = [&self.higher.plain, &self.higher.shaped].map(Curve::rate);
        let all = own.iter().zip(&higher).filter_map(|(own, higher)| own.zip(*higher));
        let least = all.map(|(own, higher)| own.saturating_add(higher)).min();
        let fits = |line: u64| least.is_some_and(|least| least <= line);
        let by_step = self.port.steps && fits(self.port.rate) && !fits(self.port.rate_served);
        if by_step { Unbounded::ClockTooCoarse { port, class } } else { Unbounded::Overload { port, class } }
    }

    /// Whether its service in the order of arrival is asked for, and is one: nothing of it or of others depends on windows or on a
    /// precedence, and no frame has a time of eligibility that it may miss.
    fn is_in_order(&self) -> bool {
        self.by_paths
            && self.windows.is_none()
            && self.tardy == 0
            && !self.unscheduled
            && !self.port.two_stage
            && self.port.served.is_none()
            && self.members.iter().all(|member| member.unknown == NO_REASON)
    }

    fn frame_min(&self) -> u64 {
        self.members.iter().map(|member| member.wire_min).min().unwrap_or(0)
    }

    fn order(&self) -> ClassOrder {
        self.port.classes[self.class].1
    }

    /// Strict priority, and ATS from eligibility on.
    fn strict(&self, terms: &mut ClassTerms, offered: &Offered) {
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
            } else if ats || self.unscheduled {
                ResponseTimes::default()
            } else {
                self.response_times(blocking, offered)
            };
            backlog_by_frames = backlog;
            let least = |bounds: &[QueueBound]| {
                bounds.iter().filter_map(|bound| bound.start_max(self.frame_min())).min()
            };
            let by_curves = candidates([plain, shaped, for_large]);
            if least(&waits).is_some_and(|wait| least(&by_curves).is_none_or(|curves| wait < curves)) {
                terms.method = Method::ResponseTime;
            }
            terms.lanes = vec![(OWN_LANE, by_curves.into_iter().chain(waits).collect())];
            if self.is_in_order() {
                let higher = [&self.higher.plain, &self.higher.shaped];
                let lines = higher.into_iter().flat_map(Curve::lines);
                let left =
                    |line: &Line| Some((blocking + line.burst, port.rate_served.checked_sub(line.rate)?));
                terms.fifo = FifoService::of(lines.filter_map(left), (1, 1), port.slack);
            }
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
        response_times(blocking, port.rate_served, higher, own)
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

    /// A member as the others see it, in other bits than those of the wire.
    fn lane(&self, member: &Contribution, charged: (u64, u64), overhead: u64) -> Lane {
        let curve = member.curve(self.port);
        if charged == (1, 1) && overhead == 0 {
            return Lane { curve, frame_min: member.wire_min, frame_max: member.wire_max };
        }
        let bits = |frame: Bytes| (frame.get() + overhead) * 8;
        Lane {
            curve: curve.in_bits(charged),
            frame_min: bits(member.frame_min),
            frame_max: bits(member.frame_max),
        }
    }

    /// What the class does to those below it at a port whose classes may not always send.
    fn part(&self, windows: &ClassWindows, terms: &ClassTerms, out: Offered) -> Part {
        let is_credit = terms.shaper.is_some();
        let credit = terms.shaper.zip(terms.credit_max).map(|(shaper, credit)| shaper.at_any_time(credit));
        let held = self.held_max(terms);
        #[cfg(feature = "planted-faults")]
        let held = match self.port.fault {
            Some(crate::PlantedFault::WaitAboveForgotten) => Some(0),
            _ => held,
        };
        let late = match held {
            _ if is_credit => out.clone(),
            Some(held) => out.widened(held),
            None => Offered::by_curves(Curve::default(), Curve::default()),
        };
        let prompt = (windows.is_open && !is_credit).then_some(out);
        let part = self.prompt_part(terms, Offered::nothing());
        Part { late, prompt, credit, ..part }
    }

    /// The same where all classes always may.
    fn prompt_part(&self, terms: &ClassTerms, out: Offered) -> Part {
        let unknown = self.members.iter().map(|member| member.unknown).find(|one| *one != NO_REASON);
        let credit = terms.shaper.zip(terms.credit_max).map(|(shaper, credit)| shaper.at_any_time(credit));
        Part {
            class: self.class,
            late: Offered::nothing(),
            prompt: Some(out),
            credit,
            wire_min: self.members.iter().map(|member| member.wire_min).min().unwrap_or(u64::MAX),
            reason: unknown.unwrap_or(terms.reason),
        }
    }

    /// Whether frames of the class are cut on their way.
    fn is_cut(&self) -> bool {
        self.port.precedence().is_some_and(|precedence| precedence.is_cut(self.class) && precedence.until_end)
    }

    /// A bound of the wait for the start as one for the end, less the frame's own time, of a class whose frames are cut until then.
    fn until_end(&self, bound: Option<QueueBound>) -> Option<QueueBound> {
        let bound = bound?;
        Some(if self.is_cut() && self.windows.is_none() {
            QueueBound { weight: (bound.rate, self.port.rate), ..bound }
        } else {
            bound
        })
    }

    /// How much longer frames of a credit-based class are on the line, as they are cut there: none if that has no end.
    fn cut_on_line(&self) -> Option<u64> {
        let cutting = match (self.windows, &self.pushes) {
            _ if !self.is_cut() => return Some(0),
            (Some(_), None) => return Some(0),
            (Some(_), Some(pushes)) => &pushes.offered,
            (None, _) => self.higher,
        };
        let largest =
            u128::from(self.members.iter().map(|member| member.wire_max).max().unwrap_or(0)) * MICRO;
        let by = |line: &Line| {
            let left = self.port.rate_served.checked_sub(line.rate).filter(|left| *left > 0)?;
            crate::curve::span(largest + line.burst, left)
        };
        let ends = cutting.plain.lines().iter().chain(cutting.shaped.lines()).filter_map(by).min()?;
        Some(ends.saturating_sub(crate::curve::span_floor(largest, self.port.rate)))
    }

    /// The longest that a frame of the class is in its queue and on the line.
    fn held_max(&self, terms: &ClassTerms) -> Option<u64> {
        let smallest = self.members.iter().map(|member| member.frame_min).min()?;
        let largest = self.members.iter().map(|member| member.wire_max).max()?;
        let bits = terms.bits(self.port, smallest);
        let wait = |bounds: &Candidates| bounds.iter().filter_map(|bound| bound.start_max(bits)).min();
        let waits = terms.lanes.iter().try_fold(0, |most: u64, (_, bounds)| Some(most.max(wait(bounds)?)));
        let sent = crate::curve::span(u128::from(largest) * MICRO, self.port.rate_served)?;
        Some(waits?.saturating_add(sent).saturating_add(self.tardy).saturating_add(self.port.slack))
    }

    fn late(&self, terms: &mut ClassTerms) {
        let is_behind = terms.shaper.is_some() || self.windows.is_some();
        let longer = if is_behind { self.cut_on_line() } else { Some(0) };
        for (_, bounds) in &mut terms.lanes {
            let Some(longer) = longer else {
                bounds.clear();
                continue;
            };
            for bound in bounds {
                bound.slack = self.port.slack + u64::from(terms.shaper.is_some()) + longer;
            }
        }
    }

    /// Bits of frames, destination to FCS, in so many of the wire, and the frame that is being sent.
    fn frame_bits(&self, wire_micro: u128) -> Bits {
        let frame_max = self.members.iter().map(|member| member.frame_max).max().expect("a used class");
        let (num, den) = (frame_max.get(), frame_max.get() + Bytes::MEDIA_OVERHEAD.get());
        let bits =
            crate::curve::scaled(wire_micro, num, den).div_ceil(MICRO) + u128::from(frame_max.bits().get());
        Bits::new(u64::try_from(bits).unwrap_or(u64::MAX))
    }
}

impl FifoService {
    /// Of latencies and rates; none if all rates are zero.
    pub(crate) fn of(
        lines: impl IntoIterator<Item = (u128, u64)>,
        ratio: (u64, u64),
        slack: u64,
    ) -> Option<Self> {
        let mut lines: Vec<_> = lines.into_iter().filter(|(_, rate)| *rate > 0).collect();
        lines.sort_unstable_by_key(|(latency, rate)| (*latency, core::cmp::Reverse(*rate)));
        // One with more latency matters if it is faster.
        let mut fastest = 0;
        lines.retain(|(_, rate)| {
            let is_faster = *rate > fastest;
            fastest = fastest.max(*rate);
            is_faster
        });
        (!lines.is_empty()).then_some(Self { lines, ratio, slack })
    }
}

/// Whether the second of two bounds is less for a frame of so many bits.
fn second_is_less(one: &Option<QueueBound>, other: &Option<QueueBound>, bits: u64) -> bool {
    let wait = |bound: &Option<QueueBound>| bound.as_ref().and_then(|bound| bound.start_max(bits));
    match (wait(one), wait(other)) {
        (Some(first), Some(second)) => second < first,
        (first, second) => first.is_none() && second.is_some(),
    }
}

impl ClassTerms {
    /// And others that hold as well; `bits` are of the frame whose bounds are compared.
    fn and(&mut self, other: Self, bits: u64) {
        let is_bounded = |terms: &Self| terms.lanes.iter().all(|(_, bounds)| !bounds.is_empty());
        if !is_bounded(&other) {
            return;
        }
        if !is_bounded(self) {
            *self = Self { sent: self.sent, ..other };
            return;
        }
        let least = |terms: &Self| {
            let bounds = terms.lanes.iter().flat_map(|(_, bounds)| bounds);
            bounds.filter_map(|bound| bound.start_max(bits)).min()
        };
        if least(&other) < least(self) {
            (self.method, self.blocking_bits) = (other.method, other.blocking_bits);
        }
        self.bounds.backlog = self.bounds.backlog.into_iter().chain(other.bounds.backlog).min();
        for ((lane, bounds), (same, more)) in self.lanes.iter_mut().zip(other.lanes) {
            debug_assert_eq!(*lane, same, "lanes of one class");
            bounds.extend(more);
        }
    }

    /// What a credit-based class sends onto the link, on the clock of the node.
    pub(crate) fn onto_link(&self) -> Option<Line> {
        self.sent
            .or_else(|| self.shaper.zip(self.credit_max).map(|(shaper, credit)| shaper.onto_link(credit)))
    }

    /// The bounds of an entry's lane.
    fn candidates(&self, lane: u16) -> Option<&Candidates> {
        let only = self.lanes.len() == 1;
        self.lanes.iter().find(|(known, _)| only || *known == lane).map(|(_, bounds)| bounds)
    }

    /// The bound of an entry's lane that is least for a frame.
    pub(crate) fn bound(&self, port: &PortPlan, lane: u16, frame: Bytes) -> Option<&QueueBound> {
        let bits = self.bits(port, frame);
        let bounds = self.candidates(lane)?.iter();
        bounds.filter(|bound| bound.start_max(bits).is_some()).min_by_key(|bound| bound.start_max(bits))
    }

    /// Further bounds of a class with one queue, lane by lane.
    pub(crate) fn take(&mut self, bounds: Vec<(u16, Candidates)>) {
        let common: Candidates = self.lanes.drain(..).flat_map(|(_, bounds)| bounds).collect();
        self.lanes = bounds;
        self.lanes.iter_mut().for_each(|(_, bounds)| bounds.extend_from_slice(&common));
    }

    /// The method of the least bound of an entry's lane for a frame.
    pub(crate) fn method_of(&self, port: &PortPlan, lane: u16, frame: Bytes) -> Method {
        let has_by_links = |bounds: &Candidates| bounds.iter().any(|bound| bound.is_by_links);
        match self.candidates(lane).filter(|bounds| has_by_links(bounds)).and(self.bound(port, lane, frame)) {
            Some(bound) if bound.is_by_links => Method::StrictPriorityByLinks,
            _ => self.method,
        }
    }

    /// From the queue to the start of transmission, on the clock of the node.
    pub(crate) fn start_max(&self, port: &PortPlan, lane: u16, frame: Bytes) -> Option<u64> {
        let bits = self.bits(port, frame);
        self.candidates(lane)?.iter().filter_map(|bound| bound.start_max(bits)).min()
    }

    /// Bits of a frame as its class is served: charged, or of the wire.
    pub(crate) fn bits(&self, port: &PortPlan, frame: Bytes) -> u64 {
        let overhead = if self.shaper.is_some() { port.credit_charged } else { Bytes::MEDIA_OVERHEAD.get() };
        (frame.get() + overhead) * 8
    }
}
