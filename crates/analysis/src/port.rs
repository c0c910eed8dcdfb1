//! One port: the arrivals of its classes, their queueing delays, and their output.
//!
//! [`ClassTerms`] are computed from the passages of the ports before, class by class from the highest
//! (`port_state.rs`). The order of classes, lanes and lines is fixed, so equal networks have equal bounds. The formulas are
//! in `strict_priority.rs`, `line_shaping.rs`, `busy_period.rs`, `credit_based.rs` and `regulator.rs`. Not here: the selection of a class
//! (`port/strict.rs`, `port/credit.rs`).

mod below;
mod credit;
mod spread;
mod strict;
mod terms;

use crate::busy_period::Lane;
use crate::contribution::{Contribution, Offered, offered};
use crate::curve::{Curve, Line, MICRO};
use crate::passage::NO_REASON;
use crate::plan::OWN_LANE;
use crate::port_plan::{ClassOrder, PortPlan, Selection};
use crate::queue_bound::QueueBound;
use crate::reasons::Reasons;
use crate::unbounded::Unbounded;
use crate::windows::{ClassWindows, TIME};
use tautwire_units::{Bits, Bytes};

pub(crate) use self::below::Above;
pub(crate) use self::spread::Spread;
use self::terms::candidates;
pub(crate) use self::terms::{Candidates, ClassTerms, FifoService, StartsSinceRun};

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
            windows.classes[class].above(class, &above.parts, port.rates(), port.precedence())
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
        longer: 0,
    };
    let out = assess.run(&mut terms, reasons);
    assess.run_again(&mut terms, above, reasons);
    terms.since_run = assess.since_run(above, reasons);
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
    /// What comes within so much more time counts.
    longer: u64,
}

impl Assess<'_> {
    /// Fills the terms of the class and gives what it does to lower ones.
    fn run(&self, terms: &mut ClassTerms, reasons: &Reasons) -> Offered {
        let offered = offered(self.port, self.members, self.by_frames);
        let offered = if self.longer > 0 { offered.widened(self.longer) } else { offered };
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
        if matches!(self.port.classes[self.class].0, Selection::CreditBased { .. }) {
            return;
        }
        let again = self.port.windows().map_or(&[][..], |windows| &windows.again[self.class]);
        for windows in again.iter().filter(|windows| windows.later == 0 || self.is_one_queue()) {
            let mut more = self.by(windows, 0, above, reasons);
            if windows.later > 0 {
                // What comes before these windows count waits, too.
                more.bounds.backlog = None;
            }
            terms.and(more, self.frame_min());
        }
    }

    /// Whether it is one queue. Else what other queues of the class send before windows count would count, too.
    fn is_one_queue(&self) -> bool {
        (self.order() == ClassOrder::Fifo || self.members.len() == 1) && !self.unscheduled
    }

    /// Its terms by other windows, of what comes of it within so much more time.
    fn by(&self, windows: &ClassWindows, longer: u64, above: &Above, reasons: &Reasons) -> ClassTerms {
        let here = windows.above(self.class, &above.parts, self.port.rates(), self.port.precedence());
        let served = self.port.served.as_deref().filter(|served| !served.taken.is_empty());
        let higher = match served {
            Some(served) => &here.offered.plus_curve(&served.taken_of(self.class).widened(windows.later)),
            None => &here.offered,
        };
        let (higher_reason, windows) = (here.reason, Some(windows));
        let assess = Assess { higher, higher_reason, windows, pushes: None, longer, ..*self };
        let mut terms = ClassTerms {
            used: self.members.iter().any(|member| member.lane != OWN_LANE),
            blocking_bits: windows.map_or(0, |windows| windows.blocking_bits),
            ..ClassTerms::default()
        };
        assess.run(&mut terms, reasons);
        terms
    }

    /// When its frames start since the run began (`windows.rs`).
    fn since_run(&self, above: &Above, reasons: &Reasons) -> Option<StartsSinceRun> {
        let since = self.port.windows()?.since_run[self.class].as_ref()?;
        if self.port.classes[self.class].0 != Selection::StrictPriority || !self.is_one_queue() {
            return None;
        }
        let runs = since.windows.later;
        let terms = self.by(&since.windows, runs, above, reasons);
        let mut waits: Candidates = terms.lanes.into_iter().flat_map(|(_, bounds)| bounds).collect();
        // What is later counts from the begin of the run.
        waits.iter_mut().for_each(|bound| bound.slack -= runs);
        Some(StartsSinceRun { runs, lower: since.lower, waits })
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

    fn late(&self, terms: &mut ClassTerms) {
        let is_behind = terms.shaper.is_some() || self.windows.is_some();
        let longer = if is_behind { self.cut_on_line() } else { Some(0) };
        let later = self.windows.map_or(0, |windows| windows.later);
        for (_, bounds) in &mut terms.lanes {
            let Some(longer) = longer else {
                bounds.clear();
                continue;
            };
            for bound in bounds {
                bound.slack = self.port.slack + u64::from(terms.shaper.is_some()) + longer + later;
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
