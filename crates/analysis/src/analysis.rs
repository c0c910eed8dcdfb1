//! The analysis of the network: ports in the order of their dependencies, cycles to a fixed point.
//!
//! A port's bounds follow from those of the ports before it. Where ports depend on one another, the bounds start from
//! the least possible values, and grow until they repeat; any bounds that reproduce themselves hold, since no first
//! frame can then be later than its bound (Thomas, Le Boudec and Mifdaoui, RTSS 2019, theorem 1). If they do not
//! converge, nothing is proven there.

use tautwire_model::Network;
use tautwire_model::network::PortIndex;
use tautwire_units::Bytes;

use crate::accuracy::Accuracy;
use crate::answers::{Asked, Learned};
use crate::contribution::{Arriving, Upstream};
use crate::curve::Line;
use crate::passage::{Brought, NO_REASON, Passage, Shaped, brought};
use crate::paths::PathBound;
use crate::plan::{Entry, NONE, Plan, index};
use crate::port::ClassTerms;
use crate::port_state::{PortState, Stale};
use crate::reasons::Reasons;
use crate::result::{ClassBounds, Method};
use crate::service::ByInstants;
use crate::unbounded::Unbounded;

/// Rounds of a cycle before it is given up.
const ROUNDS_MAX: u32 = 400;
/// A delay beyond this is none: 1000 s.
const DELAY_CAP: u64 = 1_000_000_000_000_000;

/// The analysis of a network.
pub(crate) struct Analysis<'network> {
    pub(crate) plan: Plan<'network>,
    /// The accuracy of the bounds.
    pub(crate) accuracy: Accuracy,
    /// Per entry, how it reaches its queue.
    pub(crate) arrivals: Vec<Arriving>,
    pub(crate) passages: Vec<Passage>,
    pub(crate) reasons: Reasons,
    pub(crate) ports: Vec<[ClassBounds; 8]>,
    /// The output of credit-based classes on their links, true time.
    pub(crate) outputs: Vec<[Option<Line>; 8]>,
    /// Per entry, what is known by the instants of its frames; empty without any.
    by_instants: Vec<Option<ByInstants>>,
    /// Per entry, what the linear program of its path says; empty without any.
    pub(crate) by_paths: Vec<Option<PathBound>>,
}

impl<'network> Analysis<'network> {
    /// Analyses all ports, with what is known of what comes back.
    pub(crate) fn with(network: &'network Network, learned: Learned, asked: Asked) -> Self {
        let mut plan = Plan::new(network, learned);
        #[cfg(feature = "planted-faults")]
        plan.plant(asked.planted);
        plan.serve();
        let mut analysis = Self::run(plan, asked.accuracy);
        analysis.take_instants();
        analysis.take_paths();
        analysis
    }

    /// Takes what services know of instants.
    fn take_instants(&mut self) {
        let all: Vec<_> = self.plan.services.iter().flat_map(|service| service.by_instants(self)).collect();
        if !all.is_empty() {
            self.by_instants.resize(self.plan.entries.len(), None);
        }
        for (entry, by_instants) in all {
            self.by_instants[entry as usize] = Some(by_instants);
        }
    }

    /// What is known of an entry by the instants of its frames.
    pub(crate) fn by_instants(&self, entry: usize) -> Option<&ByInstants> {
        self.by_instants.get(entry)?.as_ref()
    }

    /// Whether a linear program gave the bound up to the node behind an entry, or up to one before it.
    pub(crate) fn is_by_path(&self, entry: usize) -> bool {
        let way = std::iter::successors(Some(entry), |entry| match self.plan.entries[*entry].previous {
            NONE => None,
            previous => Some(previous as usize),
        });
        way.into_iter().any(|entry| self.is_given_by_path(entry))
    }

    /// Whether a linear program gave the bound up to the node behind an entry.
    pub(crate) fn is_given_by_path(&self, entry: usize) -> bool {
        self.by_path(entry).is_some_and(|path| self.passages[entry].next_max == Some(path.end))
    }

    /// What the linear program of the path to an entry says.
    pub(crate) fn by_path(&self, entry: usize) -> Option<&PathBound> {
        self.by_paths.get(entry)?.as_ref()
    }

    /// Nothing is analysed yet.
    pub(crate) fn begin(plan: Plan<'network>, accuracy: Accuracy) -> Self {
        let reasons = Reasons::default();
        let first = |number: usize| match plan.carried(index(number)) {
            Some(carried) => carried.passage(&reasons),
            None => Passage::least(&plan.entries[number]),
        };
        let passages: Vec<Passage> = (0..plan.entries.len()).map(first).collect();
        let ports = vec![<[ClassBounds; 8]>::default(); plan.ports.len()];
        let outputs = vec![[None; 8]; plan.ports.len()];
        let arrivals = vec![Arriving::default(); plan.entries.len()];
        Self {
            plan,
            accuracy,
            arrivals,
            passages,
            reasons,
            ports,
            outputs,
            by_instants: Vec::new(),
            by_paths: Vec::new(),
        }
    }

    /// Analyses all ports of a plan.
    pub(crate) fn run(plan: Plan<'network>, accuracy: Accuracy) -> Self {
        let mut analysis = Self::begin(plan, accuracy);
        let mut state = PortState::default();
        let components = std::mem::take(&mut analysis.plan.components);
        for component in &components {
            if component.cyclic {
                analysis.settle(&component.ports);
            } else {
                for port in &component.ports {
                    analysis.evaluate(*port, &mut state);
                }
            }
        }
        analysis.plan.components = components;
        analysis
    }

    /// One port: from the passages before it to its own. `state` is overwritten.
    pub(crate) fn evaluate(&mut self, port: u32, state: &mut PortState) {
        if !self.plan.at_port(port).is_empty() {
            state.refresh(self, port, Stale::ALL, None);
        }
    }

    /// Evaluates the ports of a cycle, of which nothing is known yet, until nothing changes.
    pub(crate) fn settle(&mut self, ports: &[u32]) {
        let mut state = PortState::default();
        let mut before = self.snapshot(ports);
        for round in 0..ROUNDS_MAX {
            for port in ports {
                self.evaluate(*port, &mut state);
            }
            let now = self.snapshot(ports);
            if now == before {
                return;
            }
            if now.iter().flatten().any(|delay| *delay > DELAY_CAP) {
                break;
            }
            if round % 8 == 7 && self.leap(ports, &before, &now) {
                return;
            }
            before = now;
        }
        self.give_up(ports);
    }

    /// Forgets what is known of ports.
    pub(crate) fn forget(&mut self, ports: &[u32]) {
        for port in ports {
            for place in 0..self.plan.at_port(*port).len() {
                let Some(entry) = self.by_class(*port, place) else { continue };
                self.passages[entry] = Passage::least(&self.plan.entries[entry]);
            }
            self.ports[*port as usize] = <[ClassBounds; 8]>::default();
            self.outputs[*port as usize] = [None; 8];
        }
    }

    /// Tries bounds somewhat above those that are growing: if they reproduce themselves or less, they
    /// hold. Otherwise all is as before.
    fn leap(&mut self, ports: &[u32], before: &[Option<u64>], now: &[Option<u64>]) -> bool {
        let kept: Vec<Passage> = self.passages_at(ports);
        let mut slot = 0;
        for port in ports {
            for place in 0..self.plan.at_port(*port).len() {
                let Some(entry) = self.by_class(*port, place) else { continue };
                let grown = |value: Option<u64>, before: Option<u64>| {
                    let (value, before) = (value?, before?);
                    Some(value.saturating_add(8 * value.saturating_sub(before) + 1_000))
                };
                let passage = &mut self.passages[entry];
                passage.next_max = grown(now[slot], before[slot]);
                passage.ready_max = grown(now[slot + 1], before[slot + 1]);
                passage.start_max = grown(now[slot + 6], before[slot + 6]);
                passage.sending_max = grown(now[slot + 2], before[slot + 2]);
                if let (Some(shaped), Some(way)) =
                    (&mut passage.shaped, grown(now[slot + 3], before[slot + 3]))
                {
                    // In a cycle both grow by the same.
                    shaped.spread = shaped.spread.saturating_add(way.saturating_sub(shaped.way_max));
                    shaped.way_max = way;
                }
                slot += SNAPSHOT;
            }
        }
        let tried = self.snapshot(ports);
        let mut state = PortState::default();
        for port in ports {
            self.evaluate(*port, &mut state);
        }
        let reproduced = self.snapshot(ports);
        let holds = tried.iter().zip(&reproduced).all(|(tried, got)| match (tried, got) {
            (Some(tried), Some(got)) => got <= tried,
            (tried, got) => tried == got,
        });
        if !holds {
            self.restore(ports, &kept);
        }
        holds
    }

    fn passages_at(&self, ports: &[u32]) -> Vec<Passage> {
        ports
            .iter()
            .flat_map(|port| self.plan.at_port(*port))
            .map(|entry| self.passages[*entry as usize])
            .collect()
    }

    fn restore(&mut self, ports: &[u32], kept: &[Passage]) {
        let mut kept = kept.iter();
        for port in ports {
            for place in 0..self.plan.at_port(*port).len() {
                let entry = self.plan.at_port(*port)[place] as usize;
                self.passages[entry] = *kept.next().expect("as many as were kept");
            }
        }
    }

    /// The values that other ports use of these.
    fn snapshot(&self, ports: &[u32]) -> Vec<Option<u64>> {
        let (mut values, mut outputs) = (Vec::new(), Vec::new());
        for port in ports {
            let burst = |line: &Option<Line>| line.map(|line| u64::try_from(line.burst).unwrap_or(u64::MAX));
            outputs.extend(self.outputs[*port as usize].iter().map(burst));
            for place in 0..self.plan.at_port(*port).len() {
                let Some(entry) = self.by_class(*port, place) else { continue };
                let passage = &self.passages[entry];
                let shaped = passage.shaped.map(|shaped| shaped.way_max);
                let burst =
                    |line: Option<Line>| line.map(|line| u64::try_from(line.burst).unwrap_or(u64::MAX));
                values.extend([
                    passage.next_max,
                    passage.ready_max,
                    passage.sending_max,
                    shaped,
                    burst(passage.queued.promised),
                    burst(passage.queued.shaped),
                    passage.start_max,
                ]);
            }
        }
        values.extend(outputs);
        values
    }

    /// An entry of a port by its place, if its class serves it: what a service carries is in no cycle.
    fn by_class(&self, port: u32, place: usize) -> Option<usize> {
        let number = self.plan.at_port(port)[place];
        self.plan.carried(number).is_none().then_some(number as usize)
    }

    fn give_up(&mut self, ports: &[u32]) {
        let reason = self.reason(Unbounded::NoFixedPoint { port: PortIndex(ports[0]) });
        for port in ports {
            for place in 0..self.plan.at_port(*port).len() {
                let Some(entry) = self.by_class(*port, place) else { continue };
                self.passages[entry] = Passage {
                    ready_max: None,
                    start_max: None,
                    next_max: None,
                    spread_max: None,
                    hop_max: None,
                    sending_max: None,
                    queued: Brought::default(),
                    shaped: None,
                    reason,
                    hop_reason: reason,
                    method: Method::None,
                };
            }
            for class in &mut self.ports[*port as usize] {
                class.backlog = None;
            }
        }
    }

    pub(crate) fn reason(&self, reason: Unbounded) -> u32 {
        self.reasons.number(reason)
    }

    /// What a stream may have at a hop where it stays for at most `hop_max`, micro-bits.
    pub(crate) fn held(&self, entry: &Entry, hop_max: Option<u64>) -> Option<u128> {
        let here_max = self.here_max(entry)?;
        let came = brought(&self.plan, entry, Some(here_max), None, entry.here_min).promised?;
        Some(came.burst + crate::curve::volume(came.rate, hop_max?))
    }

    /// The passage at the port before an entry.
    pub(crate) fn upstream(&self, entry: &Entry) -> Upstream {
        let reception =
            self.plan.receptions[entry.reception as usize].as_ref().expect("an entry comes by it");
        let before = &self.plan.entries[entry.previous as usize];
        Upstream {
            line_rate: reception.line_bps,
            jitter: reception.jitter,
            tagged: before.tagged,
            class: before.class,
            output: self.outputs[before.port as usize][usize::from(before.class)],
            overlaps: self.plan.port(before.port).precedence().is_some(),
        }
    }

    /// The greatest time from the application to the last bit at a port.
    pub(crate) fn here_max(&self, entry: &Entry) -> Option<u64> {
        match entry.previous {
            NONE => Some(0),
            previous => self.passages[previous as usize].next_max,
        }
    }

    /// Why a stream is not bounded at the last bit here.
    pub(crate) fn reason_before(&self, entry: &Entry) -> u32 {
        match entry.previous {
            NONE => NO_REASON,
            previous => self.passages[previous as usize].reason,
        }
    }

    /// An entry's passage, once the classes of its port are known.
    pub(crate) fn pass(&self, entry: &Entry, arriving: &Arriving, class: &ClassTerms) -> Passage {
        let plan = self.plan.port(entry.port);
        let start =
            |frame: Bytes| class.start_max(plan, entry.lane, frame).map(|wait| plan.deviation.stretch(wait));
        let sending =
            |frame: Bytes, transmission: u64| start(frame).map(|wait| wait.saturating_add(transmission));
        let small = sending(entry.frame_min, entry.transmission_max.0);
        let sending_max = if entry.frame_min == entry.frame_max {
            small
        } else {
            let large = sending(entry.frame_max, entry.transmission_max.1);
            small.zip(large).map(|(small, large)| small.max(large))
        };
        let too_long = sending_max.is_some_and(|sending| sending > DELAY_CAP);
        let sending_max = sending_max.filter(|_| !too_long);
        let add = |one: Option<u64>| one.zip(sending_max).map(|(one, sending)| one.saturating_add(sending));
        let by_path = self.by_path(arriving.entry as usize).map_or(u64::MAX, |path| path.end);
        let since_run = self.since_run(entry, arriving, class);
        let end_since_run = since_run.map_or(u64::MAX, |(_, end)| end);
        let next_max = add(arriving.ready_max).map(|end| end.min(by_path).min(end_since_run));
        // The smallest frame waits longest.
        let waiting = sending_max.and_then(|_| start(entry.frame_min));
        let start_since_run = since_run.map_or(u64::MAX, |(start, _)| start);
        let start_max = arriving.ready_max.zip(waiting);
        let start_max = start_max.map(|(ready, wait)| ready.saturating_add(wait).min(start_since_run));
        let hop_max = self.hop_max(entry, arriving.queue_max, sending_max, waiting);
        let before = self.reason_before(entry);
        let hop_reason = match (hop_max, arriving.reason) {
            (_, reason) if reason != NO_REASON && (arriving.scheduled || arriving.queue_max.is_none()) => {
                reason
            }
            (None, _) if too_long => self.reason(Unbounded::TooLong { port: PortIndex(entry.port) }),
            (None, _) => class.reason,
            (Some(_), _) => NO_REASON,
        };
        let reason = [before, arriving.reason, hop_reason].into_iter().find(|reason| *reason != NO_REASON);
        let spread = self.spread_of(entry, arriving, class, sending_max);
        let spread_max = spread.zip(arriving.spread_max.or(arriving.ready_max));
        let spread_max = spread_max.map(|(sending, ready)| ready.saturating_add(sending));
        let shaped = self.shaped_onward(entry, arriving, sending_max.map(|all| (all, spread.unwrap_or(all))));
        Passage {
            ready_max: arriving.ready_max,
            start_max,
            next_max,
            spread_max,
            hop_max,
            sending_max,
            queued: arriving.brought,
            shaped,
            reason: reason.unwrap_or(NO_REASON),
            hop_reason,
            method: if hop_max.is_some() {
                class.method_of(plan, entry.lane, entry.frame_min)
            } else {
                Method::None
            },
        }
    }

    /// The part of the time from the queue to the last bit at the next node by which bursts grow, if it is known to be less than all.
    fn spread_of(
        &self,
        entry: &Entry,
        arriving: &Arriving,
        class: &ClassTerms,
        sending_max: Option<u64>,
    ) -> Option<u64> {
        let plan = self.plan.port(entry.port);
        // In a cycle, and where copies are one stream, all of it counts.
        let spread = class.spread.as_ref().filter(|_| !plan.is_in_cycle && !self.plan.has_ways)?;
        let local = |line: Line| Line { rate: plan.deviation.fastest(line.rate), ..line };
        let (steep, flat) = (local(arriving.brought.least_burst()?), local(arriving.brought.least_rate()?));
        let is_apart = !arriving.is_shared
            && !arriving.is_represented
            && !arriving.comes_by_others
            && arriving.share.is_none();
        let own = if is_apart { [steep, flat] } else { [Line::default(); 2] };
        let wait = plan.deviation.stretch(spread.wait_max(own, steep.rate.max(flat.rate))?);
        let transmission = entry.transmission_max.0.max(entry.transmission_max.1);
        Some(wait.saturating_add(transmission).min(sending_max?))
    }

    /// From the application to the start of transmission and to the last bit at the next node, as far as that is known by the time since the run began.
    fn since_run(&self, entry: &Entry, arriving: &Arriving, class: &ClassTerms) -> Option<(u64, u64)> {
        let (plan, ready) = (self.plan.port(entry.port), arriving.ready_max?);
        let start = |frame: Bytes| class.start_since_run(plan, frame, ready);
        let (small, large) = (start(entry.frame_min)?, start(entry.frame_max)?);
        let end = |start: u64, transmission: u64| start.saturating_add(transmission);
        let (first, second) = entry.transmission_max;
        Some((small.max(large), end(small, first).max(end(large, second))))
    }

    /// The greatest time from the last bit here to the last bit at the next node: of a cut-through frame from its
    /// header to the last bit behind it, plus the octets before the header, whatever the length of the frame.
    fn hop_max(
        &self,
        entry: &Entry,
        queue_max: Option<i64>,
        sending_max: Option<u64>,
        waiting: Option<u64>,
    ) -> Option<u64> {
        let (queue, sending) = queue_max.zip(sending_max)?;
        let most = sent_later(queue, sending);
        let (Some(cut), Some(waiting)) = (&entry.cut, waiting) else { return Some(most) };
        // A frame that is padded when its tag goes leaves as long as it came, a larger one is shorter then.
        let largest = entry.transmission_max.1.saturating_sub(cut.before_min.1);
        let header = entry.transmission_max.0.saturating_sub(cut.before_min.0).max(largest);
        let through = entry.since_header(queue)?.saturating_add(waiting).saturating_add(header);
        Some(most.min(through))
    }

    /// The last shaper as the next node sees it.
    fn shaped_onward(
        &self,
        entry: &Entry,
        arriving: &Arriving,
        sending: Option<(u64, u64)>,
    ) -> Option<Shaped> {
        let (sending, spread) = sending?;
        let at_talker = entry.previous == NONE;
        if arriving.scheduled || at_talker {
            let line = arriving.brought.shaped?;
            return Some(Shaped {
                line,
                tagged: entry.tagged,
                way_max: sending,
                spread,
                origin_min: entry.ready_min,
                of_link: arriving.share.is_some(),
                meter: NONE,
            });
        }
        let before = arriving.policed.or(self.passages[entry.previous as usize].shaped)?;
        let later = |way: u64, sending: u64| Some(sent_later(arriving.queue_max?, way.checked_add(sending)?));
        let (way_max, spread) = (later(before.way_max, sending)?, later(before.spread, spread)?);
        Some(Shaped { way_max, spread, ..before })
    }
}

/// A time with one that may be below zero added.
fn sent_later(queue: i64, time: u64) -> u64 {
    time.saturating_add_signed(queue)
}

/// Values per entry in a snapshot.
const SNAPSHOT: usize = 7;
