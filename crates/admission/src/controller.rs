//! The controller: what is admitted, and how a request changes it.

use std::collections::BTreeMap;

use tautwire_model::Network;
use tautwire_model::network::{StreamIndex, Traffic};

use crate::choice::Test;
use crate::decision::{Decision, Outcome, Refusal, RefusalReason};
use crate::log::{Change, LogError};
use crate::request::{Mode, Operation, Request};
use crate::state::SavedState;
use crate::suggest::fits;
use crate::test::{AdmissionTest, TestSession};

/// The effect of a request, one stream after the other.
#[derive(Clone, Copy, Debug)]
enum Step {
    Joined(StreamIndex),
    Left(StreamIndex),
}

/// Answers requests, one after the other.
#[expect(missing_debug_implementations, reason = "a test is any type")]
pub struct Controller<'network> {
    network: &'network Network,
    test: Box<dyn TestSession + 'network>,
    index_of: BTreeMap<&'network str, StreamIndex>,
    /// In the order in which they were admitted.
    admitted: Vec<StreamIndex>,
    is_admitted: Vec<bool>,
    saved: SavedState,
    /// For suggestions: the test once more.
    suggesting: Option<Box<dyn AdmissionTest>>,
}

impl<'network> Controller<'network> {
    /// A controller that has admitted nothing and forgets all when it ends.
    #[must_use]
    pub fn new(network: &'network Network, test: Box<dyn AdmissionTest>) -> Self {
        // Frames of the network's own protocols are not requested.
        let names = network.streams.iter().enumerate().filter(|(_, stream)| !stream.traffic.is_control());
        let index_of =
            names.map(|(number, stream)| (stream.name.as_str(), StreamIndex::at(number))).collect();
        Self {
            network,
            test: test.begin(network),
            index_of,
            admitted: Vec::new(),
            is_admitted: vec![false; network.streams.len()],
            saved: SavedState::default(),
            suggesting: None,
        }
    }

    /// A controller that goes on from what another one has saved.
    ///
    /// # Errors
    /// If that names a stream that the network has not.
    pub(crate) fn resume(
        network: &'network Network,
        test: Test,
        saved: SavedState,
    ) -> Result<Self, LogError> {
        let controller = Self::new(network, test.of(network));
        let suggesting = Some(test.of(network));
        Self { suggesting, ..controller }.go_on(saved)
    }

    /// A controller that continues at the end of a folder's log, and appends to it.
    ///
    /// # Errors
    /// If the log cannot be read or written, is damaged, in use, or names a stream that the description
    /// no longer has.
    pub fn with_log(
        network: &'network Network,
        test: Box<dyn AdmissionTest>,
        folder: &std::path::Path,
    ) -> Result<Self, LogError> {
        Self::new(network, test).go_on(SavedState::of_log(folder)?)
    }

    fn go_on(mut self, saved: SavedState) -> Result<Self, LogError> {
        for name in &saved.admitted {
            let known = self.index_of.get(name.as_str()).copied();
            let stream = known.ok_or_else(|| LogError::UnknownStream(name.clone()))?;
            self.is_admitted[stream.index()] = true;
            self.admitted.push(stream);
        }
        self.test.rejoin(self.network, &self.admitted);
        self.saved = saved;
        Ok(self)
    }

    /// Its saved state, from which another one can continue.
    pub(crate) fn into_saved(self) -> SavedState {
        self.saved
    }

    /// Its saved state so far.
    pub(crate) fn saved(&mut self) -> &mut SavedState {
        &mut self.saved
    }

    /// The answer to a request that was answered before.
    pub(crate) fn answer_of_before(&self, request: &Request) -> Option<Decision> {
        let known = self.saved.answered.get(request.id.as_ref()?)?;
        Some(Decision { repeated: true, ..known.clone() })
    }

    /// The admitted streams, in the order in which they were admitted.
    #[must_use]
    pub fn admitted(&self) -> &[StreamIndex] {
        &self.admitted
    }

    /// Answers a request. Its changes are on disk when this returns.
    ///
    /// # Errors
    /// If the log cannot be written: then nothing has changed.
    pub fn answer(&mut self, request: &Request) -> Result<Decision, LogError> {
        if let Some(known) = self.answer_of_before(request) {
            return Ok(known);
        }
        let mut steps = Vec::new();
        let decision = self.decide(request, &mut steps);
        let change = Change {
            id: request.id.clone(),
            outcome: decision.outcome,
            admitted: decision.admitted.clone(),
            withdrawn: decision.withdrawn.clone(),
            new: Vec::new(),
        };
        if steps.is_empty() || request.op == Operation::WhatIf {
            self.undo(steps);
            return Ok(decision);
        }
        if let Err(error) = self.saved.change(&change) {
            self.undo(steps);
            return Err(error);
        }
        self.take(&steps);
        Ok(decision)
    }

    /// What a request comes to. Its steps are taken in the test, and noted; nothing else changes.
    fn decide(&mut self, request: &Request, steps: &mut Vec<Step>) -> Decision {
        let mut decision = Decision::empty(request.id.clone(), Outcome::Granted);
        let (asked, leaving) = match (self.named(&request.names()), self.named(&request.instead_of)) {
            (Ok(asked), Ok(leaving)) => (asked, leaving),
            (asked, leaving) => {
                decision.outcome = Outcome::Wrong;
                decision.refused = [asked, leaving].into_iter().filter_map(Result::err).flatten().collect();
                return decision;
            }
        };
        match request.op {
            Operation::List => decision.admitted = self.names(&self.admitted),
            Operation::Withdraw => self.withdraw(&asked, &mut decision, steps),
            Operation::Reserve | Operation::WhatIf => {
                self.admit(&asked, &[], request, &mut decision, steps);
            }
            // Modified streams are described anew in another network (`server.rs`), and join there.
            Operation::Replace | Operation::Modify => {
                self.withdraw(&leaving, &mut decision, steps);
                if decision.outcome == Outcome::Granted {
                    self.admit(&asked, &leaving, request, &mut decision, steps);
                }
            }
        }
        decision
    }

    /// Takes steps back, the last first.
    fn undo(&mut self, steps: Vec<Step>) {
        for step in steps.into_iter().rev() {
            match step {
                Step::Joined(stream) => self.test.leave(self.network, stream),
                Step::Left(stream) => self.test.rejoin(self.network, &[stream]),
            }
        }
    }

    /// The streams of these names, if they exist and each is named once; otherwise all faults.
    fn named(&self, names: &[String]) -> Result<Vec<StreamIndex>, Vec<Refusal>> {
        let (mut found, mut wrong) = (Vec::new(), Vec::new());
        for (place, name) in names.iter().enumerate() {
            let reason = match self.index_of.get(name.as_str()) {
                None => RefusalReason::UnknownStream,
                Some(_) if names[..place].contains(name) => RefusalReason::NamedTwice,
                Some(stream) => {
                    found.push(*stream);
                    continue;
                }
            };
            wrong.push(Refusal { stream: name.clone(), reason, fits: None });
        }
        if wrong.is_empty() { Ok(found) } else { Err(wrong) }
    }

    /// Takes back streams, if all of them are admitted.
    fn withdraw(&mut self, asked: &[StreamIndex], decision: &mut Decision, steps: &mut Vec<Step>) {
        let missing = asked.iter().filter(|stream| !self.is_admitted[stream.index()]);
        decision.refused = missing.map(|stream| self.refusal(*stream, RefusalReason::NotAdmitted)).collect();
        if !decision.refused.is_empty() {
            decision.outcome = Outcome::Refused;
            return;
        }
        for stream in asked {
            self.test.leave(self.network, *stream);
            steps.push(Step::Left(*stream));
        }
        decision.withdrawn = self.names(asked);
    }

    /// Admits streams, with those that leave already gone.
    fn admit(
        &mut self,
        asked: &[StreamIndex],
        leaving: &[StreamIndex],
        request: &Request,
        decision: &mut Decision,
        steps: &mut Vec<Step>,
    ) {
        let mut joined: Vec<StreamIndex> = Vec::new();
        // What answers comes behind what it answers, without which it promises nothing.
        let answers = |stream: &&StreamIndex| {
            matches!(self.network.streams[stream.index()].traffic, Traffic::Response { .. })
        };
        let (behind, first): (Vec<&StreamIndex>, Vec<&StreamIndex>) = asked.iter().partition(answers);
        for stream in first.into_iter().chain(behind) {
            let reason = if self.is_admitted[stream.index()] && !leaving.contains(stream) {
                Some(RefusalReason::AlreadyAdmitted)
            } else {
                self.test.join(self.network, *stream)
            };
            match reason {
                None => {
                    joined.push(*stream);
                    steps.push(Step::Joined(*stream));
                    decision.admitted.extend(self.names(&[*stream]));
                }
                Some(reason) => {
                    let mut refusal = self.refusal(*stream, reason);
                    if request.suggest && refusal.reason != RefusalReason::AlreadyAdmitted {
                        refusal.fits = self.suggest(*stream, leaving, &joined);
                    }
                    decision.refused.push(refusal);
                }
            }
            if request.mode == Mode::AllOrNothing && !decision.refused.is_empty() {
                self.undo(std::mem::take(steps));
                decision.admitted.clear();
                decision.withdrawn.clear();
                decision.outcome = Outcome::Refused;
                return;
            }
        }
        decision.outcome = match (decision.admitted.is_empty(), decision.refused.is_empty()) {
            (_, true) => Outcome::Granted,
            (false, false) => Outcome::Partly,
            (true, false) => Outcome::Refused,
        };
    }

    fn refusal(&self, stream: StreamIndex, reason: RefusalReason) -> Refusal {
        Refusal { stream: self.network.streams[stream.index()].name.clone(), reason, fits: None }
    }

    /// The variant of a refused stream that would have fitted with the admitted streams, less those that leave, and
    /// with those that have joined by this request.
    fn suggest(
        &self,
        stream: StreamIndex,
        leaving: &[StreamIndex],
        joined: &[StreamIndex],
    ) -> Option<crate::decision::Fits> {
        let stay = self.admitted.iter().filter(|one| !leaving.contains(one));
        let streams: Vec<StreamIndex> = stay.chain(joined).copied().chain([stream]).collect();
        Some(fits(self.suggesting.as_deref()?, self.network, &streams))
    }

    /// Steps that were taken in the test become what is admitted.
    fn take(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Joined(stream) => {
                    self.is_admitted[stream.index()] = true;
                    self.admitted.push(*stream);
                }
                Step::Left(stream) => {
                    self.is_admitted[stream.index()] = false;
                    self.admitted.retain(|one| one != stream);
                }
            }
        }
    }

    fn names(&self, streams: &[StreamIndex]) -> Vec<String> {
        streams.iter().map(|stream| self.network.streams[stream.index()].name.clone()).collect()
    }
}
