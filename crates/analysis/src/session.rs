//! Bounds of a network whose streams come, change and go: after each step only what it can affect is analysed again.
//!
//! A step changes the tables of the stream's own ports and of what it shares with others (`plan/`). From there a
//! change propagates port by port in the order of dependencies (`graph.rs`): an entry with a changed passage makes its
//! next ones stale, and with them the scheduler group, the overloaded stages and the policed virtual link to which
//! they belong; a port evaluates what is stale and what depends on it (`port_state.rs`); where the results equal the
//! earlier ones, the change ends. Invariant: the bounds are those of [`bounds`](crate::bounds) of the network with the
//! running streams alone, to the bit.
//!
//! With slack (`slack.rs`, [`Session::allow_slack`]) a kept passage may be above the one that follows from those
//! before it: a change that stays below it ends there, and the removal of a stream is first evaluated when the next
//! one comes. All bounds are then upper bounds; [`Session::tighten`] makes them those of the complete analysis.
//!
//! Always analysed completely: cycles of ports, each one that is affected; and a network in which a mechanism serves
//! ports (`services.rs`), with protocol stacks in hosts or with responses; responses to streams that do not run never
//! come ([`Session::why_not_stepwise`] gives the reason).

use std::collections::BTreeSet;

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, Stream, StreamIndex, Traffic};

use tautwire_units::Duration;

use crate::accuracy::Accuracy;
use crate::analysis::Analysis;
use crate::graph::PortGraph;
use crate::loss::{Fill, Limit, at_listener, is_oversized};
use crate::passage::Passage;
use crate::plan::{NONE, Plan, Touched};
use crate::port_state::{PortState, Stale};
use crate::result::{Bounds, ClassBounds, StreamBounds};
use crate::services;
use crate::slack::Slack;

/// From so many streams at once on, all ports are evaluated anew.
const MANY: usize = 32;

/// A solved network. Its streams are known by their numbers; at first none runs.
pub struct Session<'network> {
    analysis: Analysis<'network>,
    graph: PortGraph,
    states: Vec<PortState>,
    stale: Vec<Stale>,
    /// Places in the order that have stale ports.
    waiting: BTreeSet<u32>,
    runs: Vec<bool>,
    /// Streams whose bounds the last step may have changed, in order once it is taken.
    disturbed: Vec<u32>,
    /// Ports evaluated by the last step.
    evaluated: usize,
    /// Where steps cannot be taken one by one.
    complete: Option<Bounds>,
    /// None: what is kept is what is proven.
    slack: Option<Slack>,
    /// Per port whether a kept value is above the proven one, and the list of such ports.
    is_loose: Vec<bool>,
    loose: Vec<u32>,
    /// The limits that may be too small.
    fill: Fill,
    /// Whether a stream has frames that a port on its way does not take.
    has_oversized: bool,
    /// The version of the graph's order that `waiting` uses.
    orders: u64,
    /// Whether a step goes to a port; empty where it goes to all.
    reach: Vec<bool>,
}

impl std::fmt::Debug for Session<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("runs", &self.runs).finish_non_exhaustive()
    }
}

impl<'network> Session<'network> {
    /// A session in which no stream of the network runs yet.
    #[must_use]
    pub fn new(network: &'network Network) -> Self {
        let plan = Plan::empty(network);
        let edges: Vec<_> =
            (0..plan.entries.len()).filter_map(|entry| plan.edge(crate::plan::index(entry))).collect();
        let ports = plan.ports.len();
        let analysis = Analysis::begin(plan, Accuracy::Curves);
        let nothing = || Bounds {
            streams: Vec::new(),
            ports: vec![<[ClassBounds; 8]>::default(); ports],
            overflows: Vec::new(),
            recoveries: Vec::new(),
            accuracy: Accuracy::Curves,
        };
        Self {
            analysis,
            graph: PortGraph::new(ports, &edges),
            states: (0..ports).map(|_| PortState::default()).collect(),
            stale: vec![Stale::default(); ports],
            waiting: BTreeSet::new(),
            runs: vec![false; network.streams.len()],
            disturbed: Vec::new(),
            evaluated: 0,
            complete: why_not_stepwise(network).map(|_| nothing()),
            slack: None,
            is_loose: vec![false; ports],
            loose: Vec::new(),
            fill: Fill::default(),
            has_oversized: network.streams.iter().any(|stream| is_oversized(network, stream)),
            orders: 0,
            reach: Vec::new(),
        }
    }

    /// From now on a kept value may be above the proven one, by a part of `2^-shift` of each time, so that a step
    /// seldom propagates beyond the ports of its stream; without a shift no longer, for what is evaluated.
    ///
    /// Nothing has slack where every step analyses the network completely, where streams share virtual links (the
    /// proven bound of one may rise when another leaves), and while ports depend on each other in a cycle (there the
    /// result is not always the least set of bounds that reproduce themselves).
    pub fn allow_slack(&mut self, shift: Option<u32>) {
        let can = self.complete.is_none() && self.analysis.plan.policers.is_empty();
        self.slack = shift.filter(|_| can).map(|shift| Slack { shift: shift.min(63) });
        if self.slack.is_none() {
            self.tighten();
        }
    }

    /// Whether all bounds are those of the complete analysis.
    #[must_use]
    pub fn is_tight(&self) -> bool {
        self.loose.is_empty() && self.waiting.is_empty()
    }

    /// Makes all bounds those of the complete analysis, once; the next steps may give slack again.
    pub fn tighten(&mut self) {
        self.begin_step();
        let slack = self.slack.take();
        self.take_step(Touched::default(), Vec::new());
        self.slack = slack;
    }

    /// Makes the bounds of running streams, and of all on which their ports depend, those of the complete analysis.
    /// Bounds that depend on these stay as they are, at or above the proven ones.
    ///
    /// # Panics
    /// If one of them does not run.
    pub fn tighten_for(&mut self, streams: &[StreamIndex]) {
        assert!(streams.iter().all(|stream| self.is_running(*stream)), "only what runs has bounds");
        self.begin_step();
        if self.is_tight() {
            return;
        }
        let slack = self.slack.take();
        self.reach = self.on_which_depend(streams);
        let beyond: Vec<u32> = self
            .waiting
            .iter()
            .copied()
            .filter(|place| !self.reaches(self.graph.component(*place).ports[0]))
            .collect();
        self.waiting.retain(|place| beyond.binary_search(place).is_err());
        self.evaluate_all();
        self.reach = Vec::new();
        self.waiting.extend(beyond);
        self.slack = slack;
    }

    /// The ports of streams, and all on which they depend.
    fn on_which_depend(&self, streams: &[StreamIndex]) -> Vec<bool> {
        let plan = &self.analysis.plan;
        let mut found = vec![false; plan.ports.len()];
        let entries = streams.iter().flat_map(|stream| plan.entries_of(stream.0));
        let mut next: Vec<u32> = entries.map(|entry| plan.entries[entry as usize].port).collect();
        while let Some(port) = next.pop() {
            if !std::mem::replace(&mut found[port as usize], true) {
                let edges = plan.at_port(port).iter().filter_map(|entry| plan.edge(*entry));
                next.extend(edges.map(|(before, _)| before).filter(|before| !found[*before as usize]));
            }
        }
        found
    }

    /// Whether the step goes to a port.
    fn reaches(&self, port: u32) -> bool {
        self.reach.is_empty() || self.reach[port as usize]
    }

    /// Slack, where there may be any.
    fn slack(&self) -> Option<Slack> {
        self.slack.filter(|_| !self.graph.is_cyclic)
    }

    /// Why every step analyses the network completely, if it does.
    #[must_use]
    pub fn why_not_stepwise(&self) -> Option<&'static str> {
        why_not_stepwise(self.analysis.plan.network)
    }

    /// Whether a stream runs.
    #[must_use]
    pub fn is_running(&self, stream: StreamIndex) -> bool {
        self.runs[stream.index()]
    }

    /// Lets a stream run.
    ///
    /// # Panics
    /// If it runs already.
    pub fn start(&mut self, stream: StreamIndex) {
        self.start_all(&[stream]);
    }

    /// Lets many streams run, in one step.
    ///
    /// # Panics
    /// If one of them runs already.
    pub fn start_all(&mut self, streams: &[StreamIndex]) {
        for stream in streams {
            assert!(!std::mem::replace(&mut self.runs[stream.index()], true), "it runs already");
            self.fill.note_talker(self.analysis.plan.stream(stream.0).talker.0);
        }
        if self.complete.is_some() {
            return self.solve_complete();
        }
        self.begin_step();
        let (mut touched, mut edges) = (Touched::default(), Vec::new());
        let at_once = streams.len() > MANY;
        let slack = if at_once { self.slack.take() } else { self.slack };
        for stream in streams {
            let plan = &mut self.analysis.plan;
            for entry in plan.entries_of(stream.0) {
                self.analysis.passages[entry as usize] = Passage::least(&plan.entries[entry as usize]);
            }
            edges.extend(plan.entries_of(stream.0).filter_map(|entry| plan.edge(entry)));
            self.disturbed.push(stream.0);
            if !at_once {
                let own = plan.start(stream.0);
                touched.entries.extend(own.entries.into_iter().chain(plan.entries_of(stream.0)));
                touched.ports.extend(own.ports);
                touched.classes.extend(own.classes);
            }
        }
        if at_once {
            let plan = &mut self.analysis.plan;
            plan.start_many(&streams.iter().map(|stream| stream.0).collect::<Vec<_>>());
            let used = |port: &u32| !plan.at_port(*port).is_empty();
            touched.ports.extend((0..crate::plan::index(plan.ports.len())).filter(used));
        }
        let moved = self.graph.add(&edges);
        self.take_step(touched, moved);
        self.slack = slack;
    }

    /// Lets a stream go. With slack, what that changes is evaluated with the next step.
    ///
    /// # Panics
    /// If it does not run.
    pub fn stop(&mut self, stream: StreamIndex) {
        assert!(std::mem::replace(&mut self.runs[stream.index()], false), "it runs");
        self.fill.note_talker(self.analysis.plan.stream(stream.0).talker.0);
        if self.complete.is_some() {
            return self.solve_complete();
        }
        let plan = &mut self.analysis.plan;
        let touched = plan.stop(stream.0);
        let edges: Vec<_> = plan.entries_of(stream.0).filter_map(|entry| plan.edge(entry)).collect();
        let moved = self.graph.remove(&edges);
        self.begin_step();
        self.note(touched, moved);
        if self.slack().is_none() {
            self.evaluate_all();
        }
    }

    /// The running streams whose bounds the last step may have changed, in order.
    pub fn disturbed(&self) -> impl Iterator<Item = StreamIndex> {
        self.disturbed.iter().map(|stream| StreamIndex(*stream))
    }

    /// How many ports the last step evaluated.
    #[must_use]
    pub fn evaluated_ports(&self) -> usize {
        self.evaluated
    }

    /// What is proven of a running stream.
    ///
    /// # Panics
    /// If it does not run.
    #[must_use]
    pub fn stream(&self, stream: StreamIndex) -> StreamBounds {
        assert!(self.is_running(stream), "only what runs has bounds");
        match &self.complete {
            None => self.analysis.stream(stream.0),
            Some(bounds) => {
                let place = self.runs[..stream.index()].iter().filter(|runs| **runs).count();
                bounds.streams[place].clone()
            }
        }
    }

    /// The greatest delay of a running stream at any of its listeners; none if one has no bound.
    ///
    /// # Panics
    /// If it does not run.
    #[must_use]
    pub fn delay_max(&self, stream: StreamIndex) -> Option<Duration> {
        if self.complete.is_none() {
            return self.analysis.delay_max(stream.0);
        }
        let proven = self.stream(stream);
        let mut each = proven.listeners.iter().map(|listener| listener.delay.as_ref().ok().copied());
        each.try_fold(Duration::ZERO, |most, delay| Some(most.max(delay?)))
    }

    /// What is proven of the running streams, in order, and of all ports. Streams in reasons are numbered
    /// as in this session.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        if let Some(bounds) = &self.complete {
            return bounds.clone();
        }
        let streams = self.running().map(|stream| self.analysis.stream(stream.0)).collect();
        Bounds {
            streams,
            ports: self.analysis.ports.clone(),
            overflows: self.analysis.overflows(),
            recoveries: self.analysis.recoveries(),
            accuracy: Accuracy::Curves,
        }
    }

    /// The first running stream, of those selected by `asks`, of which a frame may be lost without a failure, the
    /// listener, and the limit that may be too small. Examined are the changes since the last call, and the limits
    /// that were too small then.
    pub fn may_be_lost(&mut self, asks: impl Fn(&Stream) -> bool) -> Option<(StreamIndex, usize, Limit)> {
        let overflows = match &self.complete {
            Some(bounds) => bounds.overflows.clone(),
            None => self.fill.look(&self.analysis),
        };
        let plan = &self.analysis.plan;
        if overflows.is_empty() && !self.has_oversized {
            return None;
        }
        let running = self.running().filter(|stream| asks(plan.stream(stream.0)));
        let mut each = running.flat_map(|number| {
            let listeners = plan.stream(number.0).listeners.len();
            (0..listeners).map(move |listener| (number, listener))
        });
        each.find_map(|(number, listener)| {
            let limits = at_listener(plan.network, &overflows, (number, plan.stream(number.0)), listener);
            let limit = limits.into_iter().find(|limit| !limit.is_meant())?;
            Some((number, listener, limit))
        })
    }

    fn running(&self) -> impl Iterator<Item = StreamIndex> {
        (0..self.runs.len()).filter(|number| self.runs[*number]).map(StreamIndex::at)
    }

    fn solve_complete(&mut self) {
        let running: Vec<StreamIndex> = self.running().collect();
        let network = self.analysis.plan.network.with_only(&running);
        self.disturbed = running.iter().map(|stream| stream.0).collect();
        let mut bounds = crate::bounds_by(&network, Accuracy::Curves);
        bounds.number_anew(&running);
        self.complete = Some(bounds);
    }

    fn begin_step(&mut self) {
        self.disturbed.clear();
        self.evaluated = 0;
    }

    /// Evaluates what a step has touched, and what that changes.
    fn take_step(&mut self, touched: Touched, moved: Vec<u32>) {
        self.note(touched, moved);
        self.evaluate_all();
    }

    /// Notes what a step has touched.
    fn note(&mut self, touched: Touched, moved: Vec<u32>) {
        if std::mem::replace(&mut self.orders, self.graph.orders) != self.graph.orders {
            // The waiting ports have other positions.
            let ports = self.waiting_ports();
            self.waiting = ports.iter().map(|port| self.graph.place(*port)).collect();
        }
        self.mark(&touched.entries);
        for (port, class) in touched.classes {
            self.stale[port as usize].classes |= 1 << class;
            self.wait(port);
        }
        for port in touched.ports.into_iter().chain(moved) {
            self.stale[port as usize].all = true;
            self.wait(port);
        }
    }

    /// Ports of which something is stale.
    fn waiting_ports(&self) -> Vec<u32> {
        let ports = (0..).zip(&self.stale);
        ports.filter(|(_, stale)| stale.is_any()).map(|(port, _)| port).collect()
    }

    /// Evaluates what is stale, and what that changes.
    fn evaluate_all(&mut self) {
        if self.slack().is_none() {
            for port in std::mem::take(&mut self.loose) {
                if !self.reaches(port) {
                    self.loose.push(port);
                    continue;
                }
                self.is_loose[port as usize] = false;
                self.stale[port as usize].loose = true;
                self.wait(port);
            }
        }
        while let Some(place) = self.waiting.pop_first() {
            if self.graph.component(place).cyclic {
                self.settle(place);
            } else {
                let port = self.graph.component(place).ports[0];
                let stale = std::mem::take(&mut self.stale[port as usize]);
                self.evaluate(port, stale);
            }
        }
        self.disturbed.sort_unstable();
        self.disturbed.dedup();
    }

    /// Something of a port is stale. It waits for its evaluation; where the step does not go it keeps what it has.
    fn wait(&mut self, port: u32) {
        if self.reaches(port) {
            self.stale[port as usize].waits = true;
            self.waiting.insert(self.graph.place(port));
        } else {
            self.loosen(port);
        }
    }

    /// A kept value of a port is above the proven one.
    fn loosen(&mut self, port: u32) {
        if !std::mem::replace(&mut self.is_loose[port as usize], true) {
            self.loose.push(port);
        }
    }

    /// Entries come otherwise, and with them what has part in how they come.
    fn mark(&mut self, entries: &[u32]) {
        let (mut groups, mut receptions, mut links) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for number in entries {
            let plan = &self.analysis.plan;
            let entry = &plan.entries[*number as usize];
            let port = entry.port;
            if entry.group != NONE {
                groups.insert((entry.reception, entry.group));
            }
            let reception = plan.receptions.get(entry.reception as usize).copied().flatten();
            if reception.is_some_and(|reception| !reception.keeps_up()) {
                receptions.insert(entry.reception);
            }
            if plan.policers.get(*number as usize).is_some_and(Option::is_some) {
                let place = number - plan.first_entry[entry.stream as usize];
                // Protocol control frames are policed, too, and are no virtual link.
                links.extend(
                    plan.links[entry.stream as usize].as_ref().map(|link| (link.streams()[0], place)),
                );
            }
            let stale = &mut self.stale[port as usize];
            stale.entries.push(*number);
            if !stale.waits {
                self.wait(port);
            }
        }
        let plan = &self.analysis.plan;
        let mut others: Vec<u32> = Vec::new();
        for (reception, group) in groups {
            let received = plan.received[reception as usize].iter().copied();
            others.extend(received.filter(|other| plan.entries[*other as usize].group == group));
        }
        for reception in receptions {
            others.extend(&plan.received[reception as usize]);
        }
        for (stream, place) in links {
            let link = plan.links[stream as usize].as_ref().expect("it runs");
            others.extend(link.streams().iter().map(|stream| plan.first_entry[*stream as usize] + place));
        }
        for other in others {
            let port = self.analysis.plan.entries[other as usize].port;
            self.stale[port as usize].entries.push(other);
            self.wait(port);
        }
    }

    /// Evaluates one port, which depends on none after it.
    fn evaluate(&mut self, port: u32, mut stale: Stale) {
        self.evaluated += 1;
        self.fill.note_port(port);
        // Streams may have gone since they were noted.
        let (runs, entries) = (&self.runs, &self.analysis.plan.entries);
        stale.entries.retain(|entry| runs[entries[*entry as usize].stream as usize]);
        if self.analysis.plan.at_port(port).is_empty() {
            self.states[port as usize] = PortState::default();
            self.analysis.forget(&[port]);
            return;
        }
        let slack = self.slack();
        let changed = self.states[port as usize].refresh(&mut self.analysis, port, stale, slack);
        if changed.loose {
            self.loosen(port);
        }
        self.spread(&changed.entries);
        if changed.outputs != 0 {
            let of_classes = (0..8).filter(|class| changed.outputs & (1 << class) != 0);
            let entries: Vec<u32> =
                of_classes.flat_map(|class| self.analysis.plan.of_class(port, class).to_vec()).collect();
            self.spread(&entries);
        }
    }

    /// All ports of a cycle.
    fn settle(&mut self, place: u32) {
        let ports = self.graph.component(place).ports.clone();
        self.evaluated += ports.len();
        let plan = &self.analysis.plan;
        let all: Vec<u32> = ports.iter().flat_map(|port| plan.at_port(*port)).copied().collect();
        for port in &ports {
            self.fill.note_port(*port);
            self.stale[*port as usize] = Stale::default();
            // Nothing of it is kept: it is evaluated anew if it ever leaves the cycle.
            self.states[*port as usize] = PortState::default();
        }
        self.analysis.forget(&ports);
        self.analysis.settle(&ports);
        self.spread(&all);
        for port in &ports {
            self.stale[*port as usize] = Stale::default();
        }
        self.waiting.remove(&place);
    }

    /// Marks what hangs on the passages of entries.
    fn spread(&mut self, entries: &[u32]) {
        let plan = &self.analysis.plan;
        let mut next = Vec::new();
        for number in entries {
            let stream = plan.entries[*number as usize].stream;
            self.disturbed.push(stream);
            let behind = *number + 1..plan.entries_of(stream).end;
            next.extend(behind.filter(|next| plan.entries[*next as usize].previous == *number));
        }
        self.mark(&next);
    }
}

/// Why a network is analysed completely.
fn why_not_stepwise(network: &Network) -> Option<&'static str> {
    if let Some(why) = services::why_not_stepwise(network) {
        return Some(why);
    }
    if (0..network.nodes.len()).any(|node| network.has_stacks(NodeIndex::at(node))) {
        return Some("protocol stacks of hosts: their bounds are of all streams at once");
    }
    let answers = network.streams.iter().any(|stream| matches!(stream.traffic, Traffic::Response { .. }));
    answers.then_some("responses: they come as what they answer does, or never")
}
