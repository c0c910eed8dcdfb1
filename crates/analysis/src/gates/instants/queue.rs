//! One class of a port: the latest start of each of its frames, given the frames before it and those above.
//!
//! A frame that comes to its queue at the latest instant of its span waits for the frame in transmission, for frames
//! of its class that may have come before it and not left, and for frames above that may be sent before it starts. All
//! of these take time in which the frame, or one before it, could start; the frame starts after the sum of that time.
//! Which frames may be there depends on their starts in turn: the iteration begins with the least possible starts,
//! which grow until they converge. Then they hold: the first frame to start later would have met others that started
//! in time. The start by curves is never exceeded.

use super::counts::Counts;
use super::line::{KnownLine, Starts};
use super::{Frame, UNKNOWN};
use crate::analysis::Analysis;
use crate::curve::{Line, volume};
use crate::port_plan::ClassOrder;

/// Rounds in which starts grow.
const ROUNDS_MAX: usize = 64;

/// Frames of a stream at a port whose instants are known.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) entry: u32,
    pub(super) frames: Vec<Frame>,
    /// Whether the port itself determines their starts; otherwise curves do.
    pub(super) is_known: bool,
    /// Bits on the wire of its smallest and its largest frame.
    pub(super) wire_min: u64,
    pub(super) wire_max: u64,
}

/// Streams of a class for which only curves are known.
#[derive(Clone, Debug, Default)]
pub(super) struct Others {
    /// The arrivals of each, and how long a frame of it stays at most.
    streams: Vec<(Vec<Line>, u64)>,
    /// Whether not even that is known of one of them.
    pub(super) unknown: bool,
}

/// A class that has been evaluated, from the view of those below it.
#[derive(Debug)]
pub(super) struct Above {
    begins: Counts,
    ends: Counts,
    others: Others,
}

impl Others {
    /// Of the entries of a class at a port that are not among those with known instants.
    pub(super) fn of(analysis: &Analysis<'_>, port: u32, class: usize, members: &[Member]) -> Self {
        let plan = &analysis.plan;
        let control = plan.port(port).control.is_some_and(|(own, ..)| own == class);
        let mut others = Self { unknown: control, ..Self::default() };
        for entry in plan.of_class(port, class) {
            if members.iter().any(|member| member.entry == *entry) {
                continue;
            }
            let passage = &analysis.passages[*entry as usize];
            let lines: Vec<Line> =
                [passage.queued.promised, passage.queued.shaped].into_iter().flatten().collect();
            match passage.sending_max {
                Some(staying) if !lines.is_empty() => others.streams.push((lines, staying)),
                _ => others.unknown = true,
            }
        }
        others
    }

    /// Time of the line for all frames that may be there at some instant of a window of this length.
    fn within(&self, line: &KnownLine, window: u64) -> u64 {
        let one = |(lines, staying): &(Vec<Line>, u64)| {
            let window = window.saturating_add(*staying);
            let bits = lines.iter().map(|line| line.burst + volume(line.rate, window)).min().unwrap_or(0);
            line.time_of(bits)
        };
        self.streams.iter().map(one).fold(0, u64::saturating_add)
    }
}

impl Above {
    /// Of members that have been evaluated; none if one of them may stay for ever.
    pub(super) fn of(line: &KnownLine, period: u64, members: &[Member], others: Others) -> Option<Self> {
        let frames =
            || members.iter().flat_map(|member| member.frames.iter().map(move |frame| (member, frame)));
        if others.unknown || frames().any(|(_, frame)| frame.start.latest == UNKNOWN) {
            return None;
        }
        let weight = |member: &Member| line.time(member.wire_max);
        Some(Self {
            begins: Counts::of(
                period,
                frames().map(|(member, frame)| (frame.start.earliest, weight(member))),
            ),
            ends: Counts::of(
                period,
                frames().map(|(member, frame)| (frame.start.latest + weight(member), weight(member))),
            ),
            others,
        })
    }

    /// Time of the line for all of its frames that may be there between two instants.
    pub(super) fn between(&self, line: &KnownLine, from: u64, to: u64) -> u64 {
        let known = self.begins.up_to(to) - self.ends.up_to(from);
        let known = u64::try_from(known.max(0)).unwrap_or(UNKNOWN);
        known.saturating_add(self.others.within(line, to - from))
    }
}

/// A class that is evaluated.
pub(super) struct Queue<'a> {
    pub(super) line: &'a KnownLine,
    pub(super) period: u64,
    pub(super) class: usize,
    /// Classes above that may be on the line when this one may send, if their frames are known; bits of those with unknown frames.
    pub(super) above: Vec<&'a Above>,
    pub(super) unknown_above: u8,
    pub(super) others: &'a Others,
    #[cfg(feature = "planted-faults")]
    pub(super) fault: Option<crate::PlantedFault>,
}

impl Queue<'_> {
    /// Finds the starts of frames, for the members whose starts are known here; the values by curves remain for all
    /// others, and for all if the starts do not converge.
    pub(super) fn settle(&self, members: &mut [Member]) {
        let by_curves = members.to_vec();
        let fixed = |member: &Member| member.frames.iter().any(|frame| frame.start.latest == UNKNOWN);
        let is_lost = self.others.unknown || members.iter().any(|member| !member.is_known && fixed(member));
        if is_lost || !self.grow(members, &by_curves) {
            members.clone_from_slice(&by_curves);
            members.iter_mut().for_each(|member| member.is_known = false);
        }
    }

    /// Whether the starts converge.
    fn grow(&self, members: &mut [Member], by_curves: &[Member]) -> bool {
        let sets: Vec<Starts> = members.iter().map(|member| self.starts(member.wire_max)).collect();
        let largest = members.iter().map(|member| member.wire_max).max().unwrap_or(0);
        let all = self.starts(self.line.largest(self.class).unwrap_or(largest));
        let beside = self.others.within(self.line, 0);
        for member in members.iter_mut().filter(|member| member.is_known) {
            let earliest = self.line.earliest(self.class, member.wire_min);
            for frame in &mut member.frames {
                let first = self.line.first(&earliest, frame.queued.earliest);
                frame.start.earliest = first.unwrap_or(frame.queued.earliest).max(frame.start.earliest);
                frame.start.latest = frame.queued.latest;
            }
        }
        for _ in 0..ROUNDS_MAX {
            let (came, left) = self.counts(members);
            let mut grew = false;
            for (place, known) in by_curves.iter().enumerate().filter(|(_, known)| known.is_known) {
                for number in 0..known.frames.len() {
                    let frame = &members[place].frames[number];
                    let own = self.before(&members[place], number, (&came, &left), beside);
                    let set = if own == 0 { &sets[place] } else { &all };
                    // Once all frames before it are gone, no other of its class is left.
                    let gone = if beside == 0 { self.gone(members, (place, number)) } else { UNKNOWN };
                    let by_work = self.start(set, frame, (0, own));
                    let by_order = self.start(&sets[place], frame, (gone, 0));
                    let most = known.frames[number].start.latest;
                    let start = by_work.min(by_order).min(most);
                    if start == UNKNOWN {
                        return false;
                    }
                    let latest = &mut members[place].frames[number].start.latest;
                    grew |= start > *latest;
                    *latest = start.max(*latest);
                }
            }
            if !grew {
                return true;
            }
        }
        false
    }

    fn starts(&self, wire_max: u64) -> Starts {
        self.line.starts(self.class, wire_max, self.unknown_above)
    }

    /// Frames as they come, and as they leave the line.
    fn counts(&self, members: &[Member]) -> (Counts, Counts) {
        let frames = || {
            let of = |member: &'_ Member| self.line.time(member.wire_max);
            members.iter().flat_map(move |member| member.frames.iter().map(move |frame| (of(member), frame)))
        };
        let came = Counts::of(self.period, frames().map(|(time, frame)| (frame.queued.earliest, time)));
        let left = Counts::of(self.period, frames().map(|(time, frame)| (frame.start.latest + time, time)));
        (came, left)
    }

    /// Time of the line of all frames of the class that may be before one in its queue.
    fn before(&self, member: &Member, number: usize, (came, left): (&Counts, &Counts), beside: u64) -> u64 {
        #[cfg(feature = "planted-faults")]
        if self.fault == Some(crate::PlantedFault::FramesBeforeForgotten) {
            return 0;
        }
        let frame = &member.frames[number];
        let all = came.up_to(frame.queued.latest) - left.up_to(frame.queued.earliest);
        // Later ones of the same stream, and the frame itself, are not before it.
        let count = member.frames.len();
        let later = (number..).map_while(|next| {
            let again = u64::try_from(next / count).ok()?.checked_mul(self.period)?;
            let earliest = member.frames[next % count].queued.earliest.checked_add(again)?;
            (earliest <= frame.queued.latest).then_some(())
        });
        let own = i128::from(self.line.time(member.wire_max)) * later.count() as i128;
        u64::try_from((all - own).max(0)).unwrap_or(UNKNOWN).saturating_add(beside)
    }

    /// When all frames of the class that may be before one have left the line: the last one of each stream.
    fn gone(&self, members: &[Member], (place, number): (usize, usize)) -> u64 {
        let frame = &members[place].frames[number];
        let last = |(other, member): (usize, &Member)| {
            let count = member.frames.len();
            let (index, rounds) = if other == place {
                ((number + count - 1) % count, if number == 0 { -1 } else { 0 })
            } else {
                let first = member.frames[0].queued.earliest;
                let since = i128::from(frame.queued.latest) - i128::from(first);
                let within = since.rem_euclid(i128::from(self.period));
                let comes = |one: &Frame| i128::from(one.queued.earliest) - i128::from(first) <= within;
                (member.frames.partition_point(comes).max(1) - 1, since.div_euclid(i128::from(self.period)))
            };
            let left = member.frames[index].start.latest.saturating_add(self.line.time(member.wire_max));
            let left = i128::from(left) + rounds * i128::from(self.period);
            u64::try_from(left.max(0)).unwrap_or(UNKNOWN)
        };
        members.iter().enumerate().map(last).max().unwrap_or(0)
    }

    /// The latest start of a frame that does not start before `gone`, and then has this amount before it; unknown if there is none.
    fn start(&self, set: &Starts, frame: &Frame, (gone, own): (u64, u64)) -> u64 {
        let comes = frame.queued.latest;
        #[cfg(feature = "planted-faults")]
        let comes = if self.fault == Some(crate::PlantedFault::ArrivalSpreadForgotten) {
            frame.queued.earliest
        } else {
            comes
        };
        if gone == UNKNOWN {
            return UNKNOWN;
        }
        let free = self.line.free_from(self.class, comes);
        #[cfg(feature = "planted-faults")]
        let free = if self.fault == Some(crate::PlantedFault::FrameUnderWayForgotten) { comes } else { free };
        let free = free.max(gone);
        let above = |start: u64| {
            let all = self.above.iter().map(|above| above.between(self.line, frame.queued.earliest, start));
            all.fold(0, u64::saturating_add)
        };
        self.line.latest(set, free, own, above).unwrap_or(UNKNOWN)
    }
}

/// Whether a class keeps the order of its frames.
pub(super) fn is_in_order(order: ClassOrder, entries: usize) -> bool {
    order == ClassOrder::Fifo || entries == 1
}
