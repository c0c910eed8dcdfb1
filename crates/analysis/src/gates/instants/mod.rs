//! Frames whose instants are known: scheduled traffic that its talkers release by the time that the gates follow.
//!
//! For every frame of a common period (`releases.rs`) the earliest and the latest instants are computed at which it
//! comes to a node, to its queue, starts and comes to the next node, port by port in the order of the flow. The bounds
//! by curves hold in any case; a port whose gates switch at known instants (`line.rs`) gives closer ones (`queue.rs`).
//! So the jitter is that of these spans, and not that of an arbitrary phase. All times are true ones, modulo the
//! period. Source: enumeration of an integer schedule, as in Craciunas, Serna Oliver, Chmelik and Steiner, RTNS 2016,
//! with spans for each instant.

mod circle;
mod counts;
mod course;
mod line;
mod positions;
mod queue;
mod releases;

use std::ops::Range;

use tautwire_model::network::PortIndex;
use tautwire_units::Duration;

use self::course::Course;
use self::line::KnownLine;
use self::queue::{Above, Member, Others, Queue, is_in_order};
use self::releases::Releases;
use super::reasons::{NEVER, OVERLOAD};
use crate::analysis::Analysis;
use crate::clock::Deviation;
use crate::passage::NO_REASON;
use crate::plan::{Entry, NONE};
use crate::port_plan::Selection;
use crate::service::{ByInstants, Terms};
use crate::unbounded::Unbounded;

/// An unknown instant.
const UNKNOWN: u64 = u64::MAX;

/// From the earliest to the latest instant, true time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    earliest: u64,
    latest: u64,
}

/// A frame at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    /// When its application hands it over.
    released: Span,
    /// Its last bit here, and when it is queued.
    here: Span,
    queued: Span,
    start: Span,
    /// Its last bit at the next node.
    next: Span,
}

impl Span {
    /// Later by at least a time, and by at most another one if that is known.
    fn later(self, least: i64, most: Option<i64>) -> Self {
        let latest = match most {
            Some(most) if self.latest != UNKNOWN => self.latest.saturating_add_signed(most),
            _ => UNKNOWN,
        };
        Self { earliest: self.earliest.saturating_add_signed(least), latest }
    }

    /// The intersection of both spans.
    fn and(self, other: Self) -> Self {
        Self { earliest: self.earliest.max(other.earliest), latest: self.latest.min(other.latest) }
    }
}

/// All frames at all ports that they pass.
struct Instants<'a, 'network> {
    analysis: &'a Analysis<'network>,
    releases: Releases,
    /// Per entry; none where instants are not known.
    frames: Vec<Vec<Frame>>,
    /// Per port, whether it gave closer instants than curves.
    lines: Vec<Option<KnownLine>>,
}

/// The instants of streams whose frames are released at known instants, by the number of the entry.
pub(super) fn by_instants(analysis: &Analysis<'_>) -> Vec<(u32, ByInstants)> {
    let instants = Instants::of(analysis);
    let entries = 0..crate::plan::index(analysis.plan.entries.len());
    entries.filter_map(|entry| Some((entry, instants.by_instants(entry)?))).collect()
}

/// Notes on a stream: when it is released and in which windows it starts, or why that is not known.
pub(super) fn notes(analysis: &Analysis<'_>, stream: u32) -> Vec<String> {
    let instants = Instants::of(analysis);
    match instants.releases.streams[stream as usize] {
        Err(why) => vec![format!("bounds by any phase: {}", why.text())],
        Ok(release) => {
            let time = Duration::from_ps;
            let (offset, interval) = (time(release.offset), time(release.interval));
            let course = instants.releases.course;
            let period = time(course.period);
            let changes = if course.count > 1 { ", before the lists change and behind that" } else { "" };
            let first = format!(
                "released at {offset} and every {interval}; all that is known comes again every {period}{changes}"
            );
            let entries = analysis.plan.entries_of(stream);
            std::iter::once(first).chain(entries.filter_map(|entry| instants.note(entry))).collect()
        }
    }
}

impl<'a, 'network> Instants<'a, 'network> {
    fn of(analysis: &'a Analysis<'network>) -> Self {
        let releases = Releases::of(&analysis.plan);
        // Streams that end long before the changes may make it too long: without their ends it may be short enough.
        let has_ends = releases.streams.iter().flatten().any(|one| one.end.is_some());
        let ways = [Some(releases.clone()), has_ends.then(|| releases.endless())];
        let over = ways.into_iter().flatten().find_map(|releases| {
            let course = Course::over_changes(analysis, &releases)?;
            let over = Self::by(analysis, Releases { course, ..releases });
            let is_steady = |(number, frames): (usize, &Vec<Frame>)| {
                course.is_steady(frames, over.present(crate::plan::index(number)))
            };
            over.frames.iter().enumerate().all(is_steady).then_some(over)
        });
        over.unwrap_or_else(|| Self::by(analysis, releases))
    }

    fn by(analysis: &'a Analysis<'network>, releases: Releases) -> Self {
        let frames = vec![Vec::new(); analysis.plan.entries.len()];
        let lines = (0..analysis.plan.ports.len()).map(|_| None).collect();
        let mut instants = Self { analysis, releases, frames, lines };
        if instants.releases.streams.iter().any(Result::is_ok) {
            for component in &analysis.plan.components {
                if component.cyclic {
                    instants.go_round(component);
                } else {
                    component.ports.iter().for_each(|port| instants.pass(*port));
                }
            }
        }
        instants
    }

    /// Those of the frames of an entry that come: its stream may start behind the first ones, and end before the last ones.
    fn present(&self, entry: u32) -> Range<usize> {
        let present = self.releases.present(self.analysis.plan.entries[entry as usize].stream);
        let count = self.frames[entry as usize].len();
        present.start.min(count)..present.end.min(count)
    }

    /// All frames at a port.
    fn pass(&mut self, port: u32) {
        let plan = &self.analysis.plan;
        for entry in plan.at_port(port) {
            self.frames[*entry as usize] = self.by_curves(*entry);
        }
        let is_known = |entry: &u32| !self.frames[*entry as usize].is_empty();
        if !plan.at_port(port).iter().any(is_known) {
            return;
        }
        // Where the order of classes is another one, or they have no bound, or mPackets verify at no known instant, curves say all.
        if plan.port(port).is_by_curves_alone() || plan.network.verification(PortIndex(port)).is_some() {
            return;
        }
        let Some(line) = KnownLine::of(plan, port, self.releases.course) else { return };
        let mut above: [Option<Above>; 8] = Default::default();
        for class in (0..8).rev().filter(|class| !plan.of_class(port, *class).is_empty()) {
            let mut members = self.members(port, &line, class);
            let others = Others::of(self.analysis, port, class, &members);
            if members.iter().any(|member| member.is_known) {
                let meets = line.above(class);
                let meets = |higher: &usize| meets & (1 << higher) != 0;
                let of_class = |higher: usize| above[higher].as_ref();
                let higher = (class + 1..8).filter(meets);
                let unknown = higher.clone().filter(|higher| of_class(*higher).is_none());
                let queue = Queue {
                    line: &line,
                    period: self.period(),
                    class,
                    unknown_above: unknown.fold(0, |all, higher| all | 1 << higher),
                    above: higher.filter_map(of_class).collect(),
                    others: &others,
                    #[cfg(feature = "planted-faults")]
                    fault: plan.fault,
                };
                queue.settle(&mut members);
                members.iter().for_each(|member| self.take(member));
            }
            above[class] = Above::of(&line, self.period(), &members, others);
        }
        self.lines[port as usize] = Some(line);
    }

    /// All of the time that is looked at.
    fn period(&self) -> u64 {
        self.releases.course.all().expect("it was not too long")
    }

    /// The frames of an entry by curves, after the known instants of the port before.
    fn by_curves(&self, number: u32) -> Vec<Frame> {
        let plan = &self.analysis.plan;
        let entry = &plan.entries[number as usize];
        let (passage, arriving) =
            (&self.analysis.passages[number as usize], &self.analysis.arrivals[number as usize]);
        let before = self.frames.get(entry.previous as usize).filter(|frames| !frames.is_empty());
        let signed = |ps: Option<u64>| ps.map(|ps| i64::try_from(ps).unwrap_or(i64::MAX));
        let released = self.releases.frames(entry.stream);
        let frame = |(number, released): (usize, Span)| {
            let here = match before {
                Some(before) => before[number].next,
                None if entry.previous == NONE => released,
                None => released.later(entry.here_min, signed(self.analysis.here_max(entry))),
            };
            let queued = released.later(entry.ready_min, signed(passage.ready_max));
            let queued = match entry.cut {
                Some(_) => queued,
                None => queued.and(here.later(entry.queue_min, arriving.queue_max)),
            };
            let next = released
                .later(entry.next_min, signed(passage.next_max))
                .and(here.later(entry.hop_min, signed(passage.hop_max)));
            let start = released.later(entry.ready_min, signed(passage.start_max));
            let start = start.and(Span { earliest: queued.earliest, latest: next.latest });
            Frame { released, here, queued, start, next }
        };
        released.into_iter().enumerate().map(frame).collect()
    }

    /// The entries of a class whose instants are known, and whether the port determines their starts.
    fn members(&self, port: u32, line: &KnownLine, class: usize) -> Vec<Member> {
        let plan = &self.analysis.plan;
        let (at, entries) = (plan.port(port), plan.of_class(port, class));
        let (selection, order) = at.classes[class];
        let count = entries.len() + usize::from(at.control.is_some_and(|(own, ..)| own == class));
        let is_plain = selection == Selection::StrictPriority
            && is_in_order(order, count)
            && at.deviation == Deviation::default();
        let course = self.releases.course;
        let member = |number: &u32| {
            let (entry, frames) = (&plan.entries[*number as usize], &self.frames[*number as usize]);
            let is_late = |frame: &Frame| frame.queued.latest == UNKNOWN;
            let is_early = |frame: &Frame| frame.queued.earliest < line.settled + course.first_begin();
            let present = self.present(*number);
            // Of the period that is as all before it.
            let of_first = course.first(frames.len());
            let of_first = of_first.start.max(present.start)..of_first.end.min(present.end);
            let is_known = is_plain
                && entry.cut.is_none()
                && entry.scheduler == NONE
                && !frames[present.clone()].iter().any(is_late)
                && !frames.get(of_first).is_some_and(|frames| frames.iter().any(is_early));
            Member {
                entry: *number,
                frames: frames[present].to_vec(),
                is_known,
                wire_min: entry.wire_min(),
                wire_max: entry.wire_max(),
            }
        };
        let has_any = |entry: &&u32| !self.present(**entry).is_empty();
        entries.iter().filter(has_any).map(member).collect()
    }

    /// Takes the instants of an entry from a port.
    fn take(&mut self, member: &Member) {
        let entry = &self.analysis.plan.entries[member.entry as usize];
        let (least, most) = sending(entry);
        let present = self.present(member.entry);
        for (known, found) in self.frames[member.entry as usize][present].iter_mut().zip(&member.frames) {
            known.start = found.start;
            if member.is_known {
                known.next = known.next.and(found.start.later(least, Some(most)));
            }
        }
    }

    /// The bounds of an entry.
    fn by_instants(&self, number: u32) -> Option<ByInstants> {
        let entry = &self.analysis.plan.entries[number as usize];
        let all = &self.frames[number as usize];
        let of_run = self.of_run(number);
        #[cfg(feature = "planted-faults")]
        let of_run = match self.analysis.plan.fault {
            Some(crate::PlantedFault::FramesAtChangeForgotten) => {
                of_run.start..of_run.start + self.releases.course.first(all.len()).len()
            }
            _ => of_run,
        };
        let frames = &all[of_run.clone()];
        let is_unknown = |frame: &Frame| frame.next.latest == UNKNOWN || frame.here.latest == UNKNOWN;
        // No frame comes that a filter before always discards: what a meter passes may be less than one frame.
        let never_comes =
            |frame: &Frame| frame.here.latest < frame.here.earliest || frame.next.latest < frame.here.latest;
        if frames.is_empty()
            || frames.iter().any(|frame| is_unknown(frame) || never_comes(frame))
            || !self.is_sure(number)
        {
            return None;
        }
        let end = |frame: &Frame| frame.next.latest - frame.released.earliest;
        let least = |from: fn(&Frame) -> u64| {
            let times = frames.iter().map(move |frame| frame.next.earliest.saturating_sub(from(frame)));
            times.min().unwrap_or(0)
        };
        let worst = frames.iter().max_by_key(|frame| frame.next.latest - frame.here.earliest)?;
        let queued = worst.queued.latest.clamp(worst.here.latest, worst.next.latest);
        let start = worst.start.latest.clamp(queued, worst.next.latest);
        let hop = Terms::of("spread of its arrival", worst.here.latest - worst.here.earliest)
            .and("processing", queued - worst.here.latest)
            .and("frames before it, and closed gates", start - queued)
            .and("transmission and cable", worst.next.latest - start);
        Some(ByInstants {
            end_min: least(|frame| frame.released.latest),
            end: frames.iter().map(end).max()?,
            waiting: self.waiting(all, of_run),
            hop_min: least(|frame| frame.here.latest),
            hop,
            method: "release-instants",
            formula: "latest instant at the next node - earliest instant here, over all frames of a common period; a frame starts behind as much time \
                      in which it, or one before it, may start as frames before it and above it take",
            source: "802.1Q-2022 8.6.8.4 and 8.6.9; Craciunas et al. 2016, with an earliest and a latest instant for each frame",
        })
        .filter(|_| entry.port != NONE)
    }

    /// The frames of an entry that come in a run.
    fn of_run(&self, number: u32) -> Range<usize> {
        let all = self.releases.course.of_run(self.frames[number as usize].len());
        let present = self.present(number);
        present.start.clamp(all.start, all.end)..present.end.clamp(all.start, all.end)
    }

    /// Most of an entry's frames that have come to their queue and not started.
    fn waiting(&self, frames: &[Frame], of_run: Range<usize>) -> u64 {
        let count = frames.len();
        let comes = |number: usize| {
            let again = u64::try_from(number / count).ok()?.checked_mul(self.period())?;
            frames[number % count].queued.earliest.checked_add(again)
        };
        let until = |number: usize| {
            let start = frames[number].start.latest;
            let there = (number..).take_while(|next| comes(*next).is_some_and(|comes| comes <= start));
            there.count() as u64
        };
        of_run.map(until).max().unwrap_or(0)
    }

    /// Whether only long waits prevent a bound by curves: no frame of it is lost on its path.
    fn is_sure(&self, number: u32) -> bool {
        let analysis = self.analysis;
        let is_wait = |reason: u32| match analysis.reasons.get(reason) {
            None => reason == NO_REASON,
            Some(Unbounded::OfService { why, .. }) => *why == OVERLOAD || *why == NEVER,
            Some(Unbounded::Overload { .. } | Unbounded::TooLong { .. } | Unbounded::NoFixedPoint { .. }) => {
                true
            }
            Some(_) => false,
        };
        let ways = std::iter::successors(Some(number), |entry| {
            let previous = analysis.plan.entries[*entry as usize].previous;
            (previous != NONE).then_some(previous)
        });
        ways.into_iter().all(|entry| {
            let passage = &analysis.passages[entry as usize];
            let of_way = [passage.reason, passage.hop_reason, analysis.arrivals[entry as usize].reason];
            of_way.into_iter().all(is_wait)
        })
    }

    /// Where and when the frames of an entry start.
    fn note(&self, number: u32) -> Option<String> {
        let (plan, frames) = (&self.analysis.plan, &self.frames[number as usize]);
        let frames = &frames[self.of_run(number)];
        let entry = &plan.entries[number as usize];
        let worst =
            frames.iter().max_by_key(|frame| frame.start.latest.saturating_sub(frame.released.earliest))?;
        let port = &plan.network.ports[entry.port as usize];
        let name = format!("{}.{}", plan.network.nodes[port.node.index()].name, port.name);
        let Some(line) = self.lines[entry.port as usize].as_ref().filter(|_| worst.start.latest != UNKNOWN)
        else {
            let (network, at) = (plan.network, PortIndex(entry.port));
            let why = if self.lines[entry.port as usize].is_some() {
                "no latest start of its frames is found"
            } else if network.preemptable(at) != 0 {
                "frames may be cut there"
            } else if network.verification(at).is_some() {
                "the link is verified in the run"
            } else if network.gates(at).is_some() {
                "its gates do not stand at known instants, or another time than true time goes there"
            } else {
                "another time than true time goes there"
            };
            return Some(format!("port {name}: by curves, {why}"));
        };
        let behind = |instant: u64| Duration::from_ps(instant.saturating_sub(worst.released.earliest));
        let span = format!("{} to {}", behind(worst.start.earliest), behind(worst.start.latest));
        let window = line.window(usize::from(entry.class), worst.start.latest).map(|(from, to)| {
            format!(
                ", in its window from {} to {} of the cycle",
                Duration::from_ps(from),
                Duration::from_ps(to)
            )
        });
        Some(format!("port {name}: starts {span} behind its release{}", window.unwrap_or_default()))
    }
}

/// From the start of a frame to its last bit at the next node, least and greatest.
fn sending(entry: &Entry) -> (i64, i64) {
    let most = entry.transmission_max.0.max(entry.transmission_max.1);
    (entry.next_min - entry.ready_min, i64::try_from(most).unwrap_or(i64::MAX))
}
