//! The kept values of a port between one analysis and the next, class by class.
//!
//! Evaluation goes from the arrivals (added up per class and lane) over the terms of each class, from the highest, to
//! the passage of each entry. A step is repeated only if its inputs have changed: the terms of a class depend on its
//! arrivals, on the traffic that goes before it and on the largest frame below it; a passage depends on the entry's
//! arrivals and on the terms of its class. So the kept values equal those of a complete evaluation, to the bit; with
//! slack (`slack.rs`), passages, the output of classes, the traffic before lower classes and the terms by which
//! entries pass are kept at or above them.
//!
//! Not here: which ports and entries a change reaches (`session.rs`).

use tautwire_units::Bits;

use crate::accuracy::Accuracy;
use crate::all_classes::{Classes, waits};
use crate::analysis::Analysis;
use crate::contribution::{Contribution, contributions};
use crate::curve::{Line, MICRO};
use crate::passage::NO_REASON;
use crate::port::{Above, Candidates, ClassTerms, Coming, assess};
use crate::port_plan::{ClassOrder, PortPlan, Selection};
use crate::precedence::Precedence;
use crate::queue_bound::QueueBound;
use crate::slack::{Slack, line_within};
use crate::unbounded::Unbounded;

/// The order of classes where the higher goes first.
const HIGHEST_FIRST: [usize; 8] = [7, 6, 5, 4, 3, 2, 1, 0];

/// The stale parts of a port.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stale {
    /// Everything.
    pub(crate) all: bool,
    /// Classes to which other entries come than before, a bit each.
    pub(crate) classes: u8,
    /// Whether what is kept of it is to be what is proven, without slack.
    pub(crate) loose: bool,
    /// Whether its port waits for its evaluation.
    pub(crate) waits: bool,
    /// Entries that come otherwise. Of a scheduler group all are among them.
    pub(crate) entries: Vec<u32>,
}

impl Stale {
    /// Everything.
    pub(crate) const ALL: Self =
        Self { all: true, classes: 0, loose: false, waits: false, entries: Vec::new() };

    /// Whether anything is stale.
    pub(crate) fn is_any(&self) -> bool {
        self.all || self.loose || self.classes != 0 || !self.entries.is_empty()
    }
}

/// The changes of an evaluation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changed {
    /// Entries whose passage is another.
    pub(crate) entries: Vec<u32>,
    /// Classes that send something else onto the link, a bit each.
    pub(crate) outputs: u8,
    /// Whether a kept value is above the proven one.
    pub(crate) loose: bool,
}

/// A port.
#[derive(Debug, Default)]
pub(crate) struct PortState {
    /// Whether it was ever evaluated.
    known: bool,
    classes: [ClassState; 8],
    /// Memory of the contributions before the last.
    spare: Vec<Contribution>,
}

/// A class of it.
#[derive(Debug)]
struct ClassState {
    /// Whether its terms were ever computed.
    known: bool,
    members: Vec<Contribution>,
    tardy: u64,
    unscheduled: bool,
    blocking_bits: u64,
    terms: ClassTerms,
    /// The terms by which its entries pass, with so much slack, true time.
    passed: Option<(ClassTerms, u64)>,
    /// Entries whose deadlines leave less than that slack, by their numbers: they pass by the terms themselves.
    apart: Vec<u32>,
    /// The traffic that goes before the classes below it.
    below: Above,
    /// Whether that value is above the one that follows from its terms.
    is_loose: bool,
}

impl Default for ClassState {
    fn default() -> Self {
        Self {
            known: false,
            members: Vec::new(),
            tardy: 0,
            unscheduled: false,
            blocking_bits: 0,
            terms: ClassTerms::default(),
            passed: None,
            apart: Vec::new(),
            below: Above::nothing(),
            is_loose: false,
        }
    }
}

impl PortState {
    /// The terms of a class.
    pub(crate) fn terms(&self, class: usize) -> &ClassTerms {
        &self.classes[class].terms
    }

    /// The arrivals of a class, lane by lane.
    pub(crate) fn members(&self, class: usize) -> &[Contribution] {
        &self.classes[class].members
    }

    /// Evaluates what is stale, and all that hangs on it; with `slack`, what is kept may stay above it.
    pub(crate) fn refresh(
        &mut self,
        analysis: &mut Analysis<'_>,
        port: u32,
        stale: Stale,
        slack: Option<Slack>,
    ) -> Changed {
        let all = stale.all || !std::mem::replace(&mut self.known, true);
        let mut entries = if all { analysis.plan.at_port(port).to_vec() } else { stale.entries };
        if !all || analysis.plan.port(port).has_schedulers {
            // The first of those that share a scheduler represents it.
            entries.sort_unstable();
            entries.dedup();
        }
        analysis.arrive(port, &entries);
        let mut stale_classes = if all { u8::MAX } else { stale.classes };
        for entry in &entries {
            stale_classes |= 1 << analysis.plan.entries[*entry as usize].class;
        }
        let mut added = [false; 8];
        for (class, added) in added.iter_mut().enumerate() {
            *added = stale_classes & (1 << class) != 0 && self.add_up(analysis, port, class);
        }
        let mut changed = Changed::default();
        let mut again = [stale.loose; 8];
        changed.loose |= self.assess(analysis, port, if all { [true; 8] } else { added }, &mut again, slack);
        for class in (0..8).filter(|class| again[*class]) {
            self.publish(analysis, port, class, slack, &mut changed);
        }
        let mut anew = [false; 8];
        for class in (0..8).filter(|class| again[*class]) {
            anew[class] = self.classes[class].take_slack(analysis.plan.port(port), slack, all);
        }
        self.pass(analysis, port, (&again, &anew), &entries, slack, &mut changed);
        changed
    }

    /// Adds up what comes to a class; whether that is something else.
    fn add_up(&mut self, analysis: &Analysis<'_>, port: u32, class: usize) -> bool {
        let state = &mut self.classes[class];
        let entries = analysis.plan.of_class(port, class);
        let of = |number: u32| (&analysis.plan.entries[number as usize], &analysis.arrivals[number as usize]);
        let mut members = std::mem::take(&mut self.spare);
        members.clear();
        let plan = analysis.plan.port(port);
        contributions(plan, class, entries, of, |entry| analysis.upstream(entry), &mut members);
        let (mut tardy, mut scheduled, mut unscheduled) = (0, false, false);
        for arriving in entries.iter().map(|entry| &analysis.arrivals[*entry as usize]) {
            tardy = arriving.tardy.max(tardy);
            scheduled |= arriving.scheduled;
            unscheduled |= !arriving.scheduled;
        }
        unscheduled &= scheduled;
        let changed = (tardy, unscheduled) != (state.tardy, state.unscheduled) || members != state.members;
        (state.tardy, state.unscheduled) = (tardy, unscheduled);
        self.spare = std::mem::replace(&mut state.members, members);
        changed
    }

    /// Computes the terms of the classes whose arrivals (`added`) changed, or which are below or above a changed
    /// class; records which. True if a kept value is above the one that follows from them.
    fn assess(
        &mut self,
        analysis: &Analysis<'_>,
        port: u32,
        added: [bool; 8],
        again: &mut [bool; 8],
        slack: Option<Slack>,
    ) -> bool {
        let plan = analysis.plan.port(port);
        let largest =
            |state: &ClassState| state.members.iter().map(|member| member.wire_max).max().unwrap_or(0);
        let largest = self.classes.each_ref().map(largest);
        let blocks = |class: usize| (0..8).map(|other| plan.blocks((other, largest[other]), class)).max();
        let blocking: [u64; 8] = core::array::from_fn(|class| blocks(class).unwrap_or(0));
        let order = plan.precedence().map_or(HIGHEST_FIRST, Precedence::order);
        // The class whose terms limit the interference with the next one, and whether they changed.
        let (mut before, mut moved) = (None, false);
        let nothing = Above::nothing();
        for class in order {
            if self.classes[class].members.is_empty() {
                if added[class] {
                    moved |= self.classes[class].known;
                    self.classes[class] = ClassState::default();
                    again[class] = true;
                }
                continue;
            }
            let (state, above) = match before.replace(class) {
                None => (&mut self.classes[class], &nothing),
                Some(before) => {
                    let both = self.classes.get_disjoint_mut([class, before]);
                    let [state, before] = both.expect("two classes");
                    (state, &before.below)
                }
            };
            let too_much = state.is_loose && slack.is_none();
            if state.known && !moved && !added[class] && !too_much && blocking[class] == state.blocking_bits {
                continue;
            }
            state.blocking_bits = blocking[class];
            let coming = Coming {
                members: &state.members,
                above,
                blocking_bits: blocking[class],
                tardy: state.tardy,
                unscheduled: state.unscheduled,
                by_frames: analysis.accuracy != Accuracy::Curves,
                by_paths: analysis.accuracy == Accuracy::Paths,
            };
            let (mut terms, below) = assess(port, plan, class, coming, &analysis.reasons);
            if coming.by_frames && !state.unscheduled {
                let known = terms.lanes.first().map_or(&[][..], |(_, bounds)| bounds);
                let of_classes = by_links(plan, class, &self.classes, (blocking[class], known));
                of_classes.into_iter().for_each(|bounds| terms.take(bounds));
            }
            let state = &mut self.classes[class];
            if plan.stages_too_slow && plan.carries(class).is_none() {
                let port = tautwire_model::network::PortIndex(port);
                terms.reason = analysis.reason(Unbounded::StageTooSlow { port });
                terms.lanes.iter_mut().for_each(|(_, bounds)| bounds.clear());
                terms.bounds.backlog = None;
            }
            let known = std::mem::replace(&mut state.known, true);
            let kept = match slack {
                None => below.clone(),
                Some(_) if known && state.below.holds(&below) => state.below.clone(),
                Some(slack) => below.widened(slack, plan.rate_served),
            };
            moved = !known || kept != state.below;
            state.is_loose = kept != below;
            state.terms = terms;
            state.below = kept;
            again[class] = true;
        }
        self.classes.iter().any(|state| state.is_loose)
    }

    /// Publishes the changes of a class, and whether its output on the link changed.
    fn publish(
        &self,
        analysis: &mut Analysis<'_>,
        port: u32,
        class: usize,
        slack: Option<Slack>,
        changed: &mut Changed,
    ) {
        let plan = analysis.plan.port(port);
        // Two frames may leave nearer to each other than its clock should have it.
        let late = plan.slack + plan.stages_jitter;
        let terms = self.terms(class);
        let output = terms.onto_link().map(|line| {
            let line = Line { rate: plan.deviation.fastest(line.rate), ..line };
            line.after_jitter(line.rate, late)
        });
        let published = &mut analysis.ports[port as usize][class];
        let held = published.backlog.take();
        *published = terms.bounds.clone();
        if plan.is_ats(class) && terms.used {
            // Its backlog is added up as its entries pass.
            published.backlog = held;
        }
        let known = &mut analysis.outputs[port as usize][class];
        if *known == output {
            return;
        }
        let kept = match slack {
            None => output,
            Some(_) if line_within(*known, output) => *known,
            Some(slack) => slack.widened_output(*known, output),
        };
        changed.loose |= kept != output;
        if *known != kept {
            *known = kept;
            changed.outputs |= 1 << class;
        }
    }

    /// The passages of all entries of the classes of which all pass `anew`, of those with changed arrivals, and of
    /// those that have less slack than their class and are in one whose terms are new `again`.
    fn pass(
        &mut self,
        analysis: &mut Analysis<'_>,
        port: u32,
        (again, anew): (&[bool; 8], &[bool; 8]),
        came: &[u32],
        slack: Option<Slack>,
        changed: &mut Changed,
    ) {
        let mut came_to = [false; 8];
        for entry in came {
            came_to[usize::from(analysis.plan.entries[*entry as usize].class)] = true;
        }
        for class in (0..8).filter(|class| again[*class] || came_to[*class]) {
            let state = &mut self.classes[class];
            changed.loose |= state.passed.is_some();
            let numbers: Vec<u32> = if anew[class] {
                state.apart.clear();
                analysis.plan.of_class(port, class).to_vec()
            } else {
                let of_class = analysis.plan.of_class(port, class);
                state.apart.retain(|number| of_class.binary_search(number).is_ok());
                let is_of_class =
                    |number: &&u32| usize::from(analysis.plan.entries[**number as usize].class) == class;
                let came = came.iter().filter(is_of_class);
                let also = state.apart.iter().filter(|number| came.clone().all(|one| one != *number));
                came.clone().chain(also).copied().collect()
            };
            for number in &numbers {
                state.pass(analysis, *number, slack, changed);
            }
            if numbers.is_empty() {
                continue;
            }
            if analysis.plan.port(port).is_ats(class) && self.terms(class).used {
                // What a class with eligibility times holds, it holds from arrival on.
                let held = analysis.plan.of_class(port, class).iter().try_fold(0_u128, |sum, number| {
                    let entry = &analysis.plan.entries[*number as usize];
                    Some(sum + analysis.held(entry, analysis.passages[*number as usize].hop_max)?)
                });
                let bits = |held: u128| Bits::new(u64::try_from(held.div_ceil(MICRO)).unwrap_or(u64::MAX));
                analysis.ports[port as usize][class].backlog = held.map(bits);
            }
        }
    }
}

/// Bounds of a class by what it and those above it receive together.
fn by_links(
    plan: &PortPlan,
    class: usize,
    classes: &[ClassState; 8],
    (blocking_bits, known): (u64, &[QueueBound]),
) -> Option<Vec<(u16, Candidates)>> {
    let own = &classes[class].members;
    let order = plan.classes[class].1;
    let is_strict = |class: usize| plan.classes[class].0 == Selection::StrictPriority;
    let is_plain = !plan.is_in_cycle
        && plan.served.is_none()
        && is_strict(class)
        && (order == ClassOrder::Fifo || own.len() == 1);
    let above = || (class + 1..8).filter(|above| !classes[*above].members.is_empty());
    let strict = above().filter(|above| is_strict(*above)).map(|above| &classes[above].members[..]);
    let is_known = |members: &[Contribution]| members.iter().all(|member| member.unknown == NO_REASON);
    let next = above().next().filter(|_| is_plain && is_known(own))?;
    let above: Vec<_> = strict.collect();
    if !above.iter().all(|members| is_known(members)) {
        return None;
    }
    #[cfg(feature = "planted-faults")]
    let blocking_bits =
        if plan.fault == Some(crate::PlantedFault::BlockingFrameForgotten) { 0 } else { blocking_bits };
    let Above { offered, held, .. } = &classes[next].below;
    let blocking = u128::from(blocking_bits) * MICRO;
    waits(plan, &Classes { own, above, held, higher: &offered.shaped, blocking, known })
}

impl ClassState {
    /// Gives slack to the terms by which entries pass, where they are no longer within what they had; whether all
    /// entries are to pass anew.
    fn take_slack(&mut self, plan: &PortPlan, slack: Option<Slack>, all: bool) -> bool {
        let frames = self.members.iter().map(|member| (member.frame_min, member.frame_max));
        let frames = frames.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        let (Some(slack), Some(frames), false) = (slack, frames, all) else {
            self.passed = None;
            return true;
        };
        if self.passed.as_ref().is_some_and(|passed| passed.0.holds(&self.terms, plan, frames)) {
            return false;
        }
        self.passed = Some(self.terms.widened(slack, plan, frames.0));
        true
    }

    /// The passage of an entry; notes it where it is kept otherwise than before.
    fn pass(
        &mut self,
        analysis: &mut Analysis<'_>,
        number: u32,
        slack: Option<Slack>,
        changed: &mut Changed,
    ) {
        if analysis.plan.carried(number).is_some() {
            return;
        }
        let entry = &analysis.plan.entries[number as usize];
        let arriving = &analysis.arrivals[number as usize];
        let known = &analysis.passages[number as usize];
        let place = self.apart.binary_search(&number);
        if let (Some(slack), Some((terms, more))) = (slack, &self.passed) {
            let passage = analysis.pass(entry, arriving, terms);
            let kept = if known.holds(&passage) {
                Some(*known)
            } else {
                slack.with_class(analysis, number, passage, *more)
            };
            if let Some(kept) = kept {
                if let Ok(place) = place {
                    self.apart.remove(place);
                }
                if kept != *known {
                    analysis.passages[number as usize] = kept;
                    changed.entries.push(number);
                }
                return;
            }
            if let Err(place) = place {
                self.apart.insert(place, number);
            }
        }
        let passage = analysis.pass(entry, arriving, &self.terms);
        if passage == *known {
            return;
        }
        let kept = match slack {
            None => passage,
            Some(_) if known.holds(&passage) => {
                changed.loose = true;
                return;
            }
            Some(slack) => slack.widened(analysis, number, known, passage),
        };
        changed.loose |= kept != passage;
        analysis.passages[number as usize] = kept;
        changed.entries.push(number);
    }
}
