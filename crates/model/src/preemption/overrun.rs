//! Preemptable frames of which a rest goes on behind the close of their gate (IEEE Std 802.1Q-2022, 8.6.8.4 and 6.7.2).
//!
//! A frame begins if it fits whole before its gate shuts. Two things push its rest on: express frames while their gates are open, and a hold up to its release.
//! Whatever pushed it, the rest is out within the time of one frame from then on. So a gate shuts in peace if nothing pushes frames so shortly before, or if the MAC
//! holds by then and releases what is left while the gate is open again. Times are those of a cycle without ticks and errors of clocks.

use tautwire_core::TrafficClass;
use tautwire_core::gates::{GateParameters, Openings, Operation};

/// What the check knows of a port, in picoseconds.
pub(super) struct Pushing<'a> {
    pub(super) parameters: &'a GateParameters,
    /// Bit *n*: frames of class *n* are preemptable.
    pub(super) preemptable: u8,
    /// Bit *n*: some of them are long enough to be cut.
    pub(super) cut: u8,
    /// The largest frame of each class that passes, with its head and what a cut adds; none of a class without frames.
    pub(super) frames: [Option<u64>; 8],
    /// What of a frame is not cut any more, at most.
    pub(super) uncut: u64,
    /// How long before its entry a hold begins, and how long after its entry a release has effect.
    pub(super) advances: (u64, u64),
}

/// Why a rest goes on behind the close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// This express class may cut frames less than a frame before the close.
    Cut(usize),
    /// The same, and the hold of the entry that shuts the gate begins too late.
    CutBeforeHold(usize),
    /// The release comes while the gate is shut.
    ReleasedShut,
    /// The release comes less than a frame before the close.
    ReleasedLate,
}

/// From when to when, the end excluded. Beyond the first cycle times go on.
type Span = (i128, i128);

impl Pushing<'_> {
    /// The first class whose frames overrun, and why.
    pub(super) fn overrun(&self) -> Option<(usize, Cause)> {
        TrafficClass::all().map(TrafficClass::index).find_map(|class| {
            let frame = i128::from(self.frames[class].filter(|_| self.cut >> class & 1 == 1)?);
            Some((class, self.of_class(class, frame)?))
        })
    }

    fn of_class(&self, class: usize, frame: i128) -> Option<Cause> {
        let Openings::In(_) = self.parameters.openings(class) else { return None };
        let open = self.open(class);
        let pushed = |window: &Span| self.express(window).filter(|(until, _)| *until > window.1 - frame);
        // A hold that begins with the close alone finds nothing on the line that was not pushed there.
        let holds_something = |hold: &Span, window: &Span| {
            let begins = hold.0 > window.0 && hold.0 < window.1;
            begins || hold.0 == window.1 && pushed(window).is_some()
        };
        let holds = self.holds().into_iter().filter_map(|(from, to)| {
            let cycles = |by: i128| (from + by * self.cycle(), to + by * self.cycle());
            let begins = |hold: &Span| open.iter().any(|window| holds_something(hold, window));
            // A window may reach into the next cycle, and a hold begin before its own.
            [-1, 0, 1].map(cycles).into_iter().find(begins)
        });
        let holds: Vec<Span> = holds.collect();
        let any = |spans: &[Span], is: &dyn Fn(&Span) -> bool| {
            let all = |span: &Span| {
                (-2..=2)
                    .map(|by| by * self.cycle())
                    .map(move |by| (span.0 + by, span.1 + by))
                    .collect::<Vec<_>>()
            };
            spans.iter().flat_map(all).any(|span| is(&span))
        };
        if holds.iter().any(|(_, to)| !any(&open, &|window| window.0 <= *to && *to < window.1)) {
            return Some(Cause::ReleasedShut);
        }
        open.iter().find_map(|window| {
            let close = window.1;
            if any(&holds, &|(_, to)| window.0 <= *to && *to <= close && *to > close - frame) {
                return Some(Cause::ReleasedLate);
            }
            let (_, express) = pushed(window)?;
            let covers = |advance: i128| any(&holds, &|(from, to)| from + advance <= close && close < *to);
            match (covers(i128::from(self.uncut)), covers(0)) {
                (true, _) => None,
                (_, true) => Some(Cause::CutBeforeHold(express)),
                _ => Some(Cause::Cut(express)),
            }
        })
    }

    fn cycle(&self) -> i128 {
        i128::from(self.parameters.cycle_time.floor().as_ps())
    }

    /// When the gate of a class is open.
    fn open(&self, class: usize) -> Vec<Span> {
        match self.parameters.openings(class) {
            Openings::Always => [(0, self.cycle())].to_vec(),
            Openings::Never => Vec::new(),
            Openings::In(open) => {
                open.iter().map(|one| (i128::from(one.open.as_ps()), i128::from(one.close.as_ps()))).collect()
            }
        }
    }

    /// Until when an express class may cut in a window, and the class that may do so last.
    fn express(&self, window: &Span) -> Option<(i128, usize)> {
        let of_class = |class: usize| {
            let spans = self.open(class).into_iter().flat_map(|(from, to)| {
                (-2..=2).map(move |by: i128| (from + by * self.cycle(), to + by * self.cycle()))
            });
            let meet = spans.filter(|(from, to)| *from < window.1 && window.0 < *to);
            Some((meet.map(|(_, to)| to.min(window.1)).max()?, class))
        };
        let express = |class: &usize| self.preemptable >> class & 1 == 0 && self.frames[*class].is_some();
        // Of classes that cut as late, the lowest is named.
        (0..8).rev().filter(express).filter_map(of_class).max_by_key(|(until, _)| *until)
    }

    /// When the MAC holds, from a hold that changes something to its release; nothing if it never releases.
    fn holds(&self) -> Vec<Span> {
        let mut entries: Vec<(i128, bool)> = Vec::new();
        let mut at = 0;
        for entry in &self.parameters.control_list {
            if at >= self.cycle() {
                break;
            }
            match entry.operation {
                Operation::SetGateStates => {}
                Operation::SetAndHoldMac => entries.push((at, true)),
                Operation::SetAndReleaseMac => entries.push((at, false)),
            }
            at += i128::from(entry.time_interval.as_ps());
        }
        let Some(release) = entries.iter().position(|(_, is_hold)| !is_hold) else { return Vec::new() };
        let (first, rest) = entries.split_at(release);
        let next = first.iter().chain(&entries[release..=release]);
        let next = next.map(|(at, is_hold)| (at + self.cycle(), *is_hold));
        let (mut begun, mut found) = (None, Vec::new());
        let (hold, release) = (i128::from(self.advances.0), i128::from(self.advances.1));
        for (at, is_hold) in rest.iter().copied().chain(next) {
            if is_hold {
                begun = begun.or(Some(at));
            } else if let Some(from) = begun.take() {
                found.push((from - hold, at + release));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use tautwire_core::gates::{CycleTime, Entry};
    use tautwire_units::{Duration, Instant};

    use super::*;

    /// Classes 0 and 1 are preemptable with frames of 100 us, of which 12 us are not cut; 5 and 7 are express.
    fn overrun(advances: (u64, u64), list: &[(char, &[u8], u64)]) -> Option<(usize, Cause)> {
        const US: u64 = 1_000_000;
        let entry = |&(operation, open, us): &(char, &[u8], u64)| Entry {
            operation: match operation {
                'h' => Operation::SetAndHoldMac,
                'r' => Operation::SetAndReleaseMac,
                _ => Operation::SetGateStates,
            },
            gate_states: open.iter().fold(0, |all, class| all | 1 << class),
            time_interval: Duration::from_us(us),
        };
        let cycle: u64 = list.iter().map(|(.., us)| us * US).sum();
        let parameters = GateParameters {
            control_list: list.iter().map(entry).collect(),
            base_time: Instant::ZERO,
            cycle_time: CycleTime::new(cycle, 1).expect("a cycle"),
            cycle_time_extension: Duration::ZERO,
        };
        let frame = |class: usize| [0, 1, 5, 7].contains(&class).then_some(100 * US);
        let advances = (advances.0 * US, advances.1 * US);
        let frames = std::array::from_fn(frame);
        let pushing =
            Pushing { parameters: &parameters, preemptable: 3, cut: 3, frames, uncut: 12 * US, advances };
        pushing.overrun()
    }

    #[test]
    fn express_windows_of_the_same_run_push_frames_if_they_end_less_than_a_frame_before_the_close() {
        let cut = Some((0, Cause::Cut(5)));
        let list = |gap| overrun((12, 0), &[(' ', &[0, 5], 500), (' ', &[0], gap), (' ', &[7], 100)]);
        assert_eq!((list(0), list(99), list(100)), (cut, cut, None));
        // The run goes over the end of the cycle.
        let around = |gap| overrun((12, 0), &[(' ', &[0], gap), (' ', &[7], 100), (' ', &[0, 5], 300)]);
        assert_eq!((around(99), around(100)), (cut, None));
        // Before and behind the run class 5 pushes nothing, and what always is open, or of another class, is not pushed.
        assert_eq!(overrun((12, 0), &[(' ', &[5], 300), (' ', &[0], 110), (' ', &[5], 200)]), None);
        assert_eq!(overrun((12, 0), &[(' ', &[0, 1, 5], 300), (' ', &[0, 1, 7], 100)]), None);
        assert_eq!(overrun((12, 0), &[(' ', &[0, 3], 300), (' ', &[7], 100)]), None);
        let of_class_1 = [(' ', &[0, 7][..], 300), (' ', &[0, 1, 5], 300), (' ', &[0], 90)];
        assert_eq!(overrun((12, 0), &of_class_1), Some((1, Cause::Cut(5))));
    }

    #[test]
    fn a_hold_counts_if_its_release_opens_the_class_again() {
        let list = |advance, behind: &[(char, &[u8], u64)]| {
            let mut list = vec![('r', &[0, 5][..], 500), ('h', &[7], 100)];
            list.extend(behind);
            overrun(advance, &list)
        };
        assert_eq!(list((12, 0), &[]), None);
        assert_eq!(list((12, 0), &[(' ', &[5], 50)]), None);
        assert_eq!(list((12, 0), &[('r', &[5], 50)]), Some((0, Cause::ReleasedShut)));
        assert_eq!(list((12, 0), &[('r', &[0], 50), (' ', &[7], 50)]), Some((0, Cause::ReleasedLate)));
        // A frame that was pushed is on the line when a hold of no advance begins.
        assert_eq!(list((0, 0), &[]), Some((0, Cause::CutBeforeHold(5))));
        // What has effect when the gate is shut again is no release in time.
        let late = [('r', &[0][..], 200), ('h', &[7], 300)];
        assert_eq!(overrun((12, 50), &late), None);
        assert_eq!(overrun((12, 150), &late), Some((0, Cause::ReleasedLate)));
        assert_eq!(overrun((12, 250), &late), Some((0, Cause::ReleasedShut)));
    }

    #[test]
    fn a_hold_alone_leaves_a_rest_if_it_begins_while_the_gate_is_open() {
        let list = [(' ', &[0][..], 500), ('h', &[7], 100), ('r', &[7], 100)];
        assert_eq!(overrun((12, 0), &list), Some((0, Cause::ReleasedShut)));
        assert_eq!(overrun((0, 0), &list), None, "what began is out");
        let within = [(' ', &[0][..], 300), ('h', &[0, 7], 100), ('r', &[0], 50), (' ', &[7], 50)];
        assert_eq!(overrun((12, 0), &within), Some((0, Cause::ReleasedLate)));
        let shut = [(' ', &[0][..], 500), (' ', &[7], 100), ('h', &[7], 50), ('r', &[7], 50)];
        assert_eq!(overrun((12, 0), &shut), None, "nothing is left to be held");
        let never = [(' ', &[0][..], 500), ('h', &[7], 100)];
        assert_eq!(overrun((12, 0), &never), None, "it never goes on");
    }
}
