//! What is known of a port between one analysis and the next, class by class.
//!
//! Evaluation goes from what comes (arrivals, added up per class and lane) over the terms of each class,
//! from the highest, to the passage of each entry. A step is taken again only if what it is made of has
//! changed: the terms of a class hang on what comes to it, on what goes before it and on the largest frame
//! below it; a passage hangs on the entry's arrival and on the terms of its class. So what is kept equals
//! what an evaluation from nothing would give, to the bit; with slack (`slack.rs`), passages and what classes
//! send are kept at or above it.
//!
//! Not here: which ports and entries a change reaches (`session.rs`).

use tautwire_units::Bits;

use crate::analysis::Analysis;
use crate::contribution::{Contribution, contributions};
use crate::curve::{Line, MICRO};
use crate::port::{Above, ClassTerms, Coming, assess};
use crate::port_plan::Selection;
use crate::result::Unbounded;
use crate::slack::{Slack, line_within};

/// What of a port may no longer be right.
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

/// What an evaluation changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changed {
    /// Entries whose passage is another.
    pub(crate) entries: Vec<u32>,
    /// Classes that send something else onto the link, a bit each.
    pub(crate) outputs: u8,
    /// Whether something is kept that stands above what is proven.
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
    /// What goes before the classes below it.
    below: Above,
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
            below: Above::nothing(),
        }
    }
}

impl PortState {
    /// The terms of a class.
    pub(crate) fn terms(&self, class: usize) -> &ClassTerms {
        &self.classes[class].terms
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
            // The first of those that share a scheduler stands for it.
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
        self.assess(analysis, port, if all { [true; 8] } else { added }, &mut again);
        for class in (0..8).filter(|class| again[*class]) {
            self.tell(analysis, port, class, slack, &mut changed);
        }
        self.pass(analysis, port, &again, &entries, slack, &mut changed);
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

    /// Computes the terms of the classes that have `added` up to something else, or stand below or above
    /// something else; notes which.
    fn assess(&mut self, analysis: &Analysis<'_>, port: u32, added: [bool; 8], again: &mut [bool; 8]) {
        let plan = analysis.plan.port(port);
        let mut blocking = [0; 8];
        let mut largest = 0;
        for (blocking, state) in blocking.iter_mut().zip(&self.classes) {
            *blocking = largest;
            let frames = state.members.iter().map(|member| member.wire_max);
            largest = frames.max().unwrap_or(0).max(largest);
        }
        // The class whose terms say what goes above the next, and whether that is something else.
        let (mut before, mut moved) = (None, false);
        let nothing = Above::nothing();
        for class in (0..8).rev() {
            let (lower, higher) = self.classes.split_at_mut(class + 1);
            let state = &mut lower[class];
            if state.members.is_empty() {
                if added[class] {
                    moved |= state.known;
                    *state = ClassState::default();
                    again[class] = true;
                }
                continue;
            }
            let above = before.map_or(&nothing, |before: usize| &higher[before - class - 1].below);
            before = Some(class);
            if state.known && !moved && !added[class] && blocking[class] == state.blocking_bits {
                continue;
            }
            state.blocking_bits = blocking[class];
            let coming = Coming {
                members: &state.members,
                above,
                blocking_bits: blocking[class],
                tardy: state.tardy,
                unscheduled: state.unscheduled,
            };
            let (mut terms, below) = assess(port, plan, class, coming, &analysis.reasons);
            if plan.stages_too_slow {
                let port = tautwire_model::network::PortIndex(port);
                terms.reason = analysis.reason(Unbounded::StageTooSlow { port });
                terms.lanes.iter_mut().for_each(|(_, bounds)| *bounds = [None, None, None]);
                terms.bounds.backlog = None;
            }
            moved = !state.known || below != state.below;
            state.known = true;
            state.terms = terms;
            state.below = below;
            again[class] = true;
        }
    }

    /// Tells what is new of a class, and whether it sends something else onto the link.
    fn tell(
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
        analysis.ports[port as usize][class] = terms.bounds.clone();
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

    /// The passages of the entries of classes whose terms are new, and of those that came otherwise.
    fn pass(
        &self,
        analysis: &mut Analysis<'_>,
        port: u32,
        again: &[bool; 8],
        came: &[u32],
        slack: Option<Slack>,
        changed: &mut Changed,
    ) {
        let mut touched = *again;
        for entry in came {
            touched[usize::from(analysis.plan.entries[*entry as usize].class)] = true;
        }
        for class in (0..8).filter(|class| touched[*class]) {
            let numbers = analysis.plan.of_class(port, class);
            for place in 0..numbers.len() {
                let number = analysis.plan.of_class(port, class)[place];
                if again[class] || came.binary_search(&number).is_ok() {
                    let entry = &analysis.plan.entries[number as usize];
                    let arriving = &analysis.arrivals[number as usize];
                    let timed = analysis.timed_passage(number);
                    let passage = timed.unwrap_or_else(|| analysis.pass(entry, arriving, self.terms(class)));
                    let known = &analysis.passages[number as usize];
                    if passage == *known {
                        continue;
                    }
                    let kept = match slack {
                        None => passage,
                        Some(_) if known.holds(&passage) => {
                            changed.loose = true;
                            continue;
                        }
                        Some(slack) => slack.widened(analysis, number, known, passage),
                    };
                    changed.loose |= kept != passage;
                    analysis.passages[number as usize] = kept;
                    changed.entries.push(number);
                }
            }
            if analysis.plan.port(port).classes[class].0 == Selection::Ats && self.terms(class).used {
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
