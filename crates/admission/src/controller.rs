//! The controller: what is admitted, and how a request changes it.

use std::collections::BTreeMap;

use tautwire_model::Network;
use tautwire_model::network::StreamIndex;

use crate::decision::{Decision, Outcome, Refusal, RefusalReason};
use crate::log::{Change, Log, LogError};
use crate::request::{Mode, Operation, Request};
use crate::test::{AdmissionTest, Standing};

/// What a request does, one stream after the other.
#[derive(Clone, Copy, Debug)]
enum Step {
    Joined(StreamIndex),
    Left(StreamIndex),
}

/// Answers requests, one after the other.
#[expect(missing_debug_implementations, reason = "a test is any type")]
pub struct Controller<'network> {
    network: &'network Network,
    test: Box<dyn Standing + 'network>,
    index_of: BTreeMap<&'network str, StreamIndex>,
    /// In the order in which they were admitted.
    admitted: Vec<StreamIndex>,
    is_admitted: Vec<bool>,
    /// Answers to requests that had an id and changed something.
    answered: BTreeMap<String, Decision>,
    log: Option<Log>,
}

impl<'network> Controller<'network> {
    /// A controller that has admitted nothing and forgets all when it ends.
    #[must_use]
    pub fn new(network: &'network Network, test: Box<dyn AdmissionTest>) -> Self {
        let names = network.streams.iter().enumerate();
        let index_of =
            names.map(|(number, stream)| (stream.name.as_str(), StreamIndex::at(number))).collect();
        Self {
            network,
            test: test.begin(network),
            index_of,
            admitted: Vec::new(),
            is_admitted: vec![false; network.streams.len()],
            answered: BTreeMap::new(),
            log: None,
        }
    }

    /// A controller that goes on where the log of a folder ends, and keeps it.
    ///
    /// # Errors
    /// If the log cannot be read or written, is damaged, in use, or names a stream that the description
    /// no longer has.
    pub fn with_log(
        network: &'network Network,
        test: Box<dyn AdmissionTest>,
        folder: &std::path::Path,
    ) -> Result<Self, LogError> {
        let mut controller = Self::new(network, test);
        let (log, changes) = Log::open(folder)?;
        for change in changes {
            controller.apply(&change).map_err(LogError::UnknownStream)?;
            if let Some(id) = &change.id {
                controller.answered.insert(id.clone(), change.decision());
            }
        }
        controller.test.rejoin(network, &controller.admitted);
        controller.log = Some(log);
        Ok(controller)
    }

    /// The admitted streams, in the order in which they were admitted.
    #[must_use]
    pub fn admitted(&self) -> &[StreamIndex] {
        &self.admitted
    }

    /// Answers a request. What it changes is on disk when this returns.
    ///
    /// # Errors
    /// If the log cannot be written: then nothing has changed.
    pub fn answer(&mut self, request: &Request) -> Result<Decision, LogError> {
        if let Some(known) = request.id.as_ref().and_then(|id| self.answered.get(id)) {
            return Ok(Decision { repeated: true, ..known.clone() });
        }
        let mut steps = Vec::new();
        let decision = self.decide(request, &mut steps);
        let change = Change {
            id: request.id.clone(),
            outcome: decision.outcome,
            admitted: decision.admitted.clone(),
            withdrawn: decision.withdrawn.clone(),
        };
        if steps.is_empty() || request.op == Operation::WhatIf {
            self.undo(steps);
            return Ok(decision);
        }
        if let Some(log) = &mut self.log
            && let Err(error) = log.append(&change)
        {
            self.undo(steps);
            return Err(error);
        }
        self.apply(&change).expect("a decision names streams of the network");
        if let Some(id) = &request.id {
            self.answered.insert(id.clone(), change.decision());
        }
        Ok(decision)
    }

    /// What a request comes to. Its steps are taken in the test, and noted; nothing else changes.
    fn decide(&mut self, request: &Request, steps: &mut Vec<Step>) -> Decision {
        let mut decision = Decision::empty(request.id.clone(), Outcome::Granted);
        let (asked, leaving) = match (self.named(&request.streams), self.named(&request.instead_of)) {
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
                self.admit(&asked, &[], request.mode, &mut decision, steps);
            }
            Operation::Replace => {
                self.withdraw(&leaving, &mut decision, steps);
                if decision.outcome == Outcome::Granted {
                    self.admit(&asked, &leaving, Mode::AllOrNothing, &mut decision, steps);
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

    /// The streams of these names, if there are such and each stands once; otherwise all faults.
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
            wrong.push(Refusal { stream: name.clone(), reason });
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
        mode: Mode,
        decision: &mut Decision,
        steps: &mut Vec<Step>,
    ) {
        for stream in asked {
            let reason = if self.is_admitted[stream.index()] && !leaving.contains(stream) {
                Some(RefusalReason::AlreadyAdmitted)
            } else {
                self.test.join(self.network, *stream)
            };
            match reason {
                None => {
                    steps.push(Step::Joined(*stream));
                    decision.admitted.extend(self.names(&[*stream]));
                }
                Some(reason) => decision.refused.push(self.refusal(*stream, reason)),
            }
            if mode == Mode::AllOrNothing && !decision.refused.is_empty() {
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
        Refusal { stream: self.network.streams[stream.index()].name.clone(), reason }
    }

    /// Makes a change; the name of a stream that the network has not, if there is one.
    fn apply(&mut self, change: &Change) -> Result<(), String> {
        let find = |name: &String| self.index_of.get(name.as_str()).copied().ok_or_else(|| name.clone());
        let withdrawn = change.withdrawn.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let admitted = change.admitted.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        for stream in &withdrawn {
            self.is_admitted[stream.index()] = false;
        }
        if !withdrawn.is_empty() {
            let is_admitted = &self.is_admitted;
            self.admitted.retain(|stream| is_admitted[stream.index()]);
        }
        for stream in &admitted {
            self.is_admitted[stream.index()] = true;
        }
        self.admitted.extend(admitted);
        Ok(())
    }

    fn names(&self, streams: &[StreamIndex]) -> Vec<String> {
        streams.iter().map(|stream| self.network.streams[stream.index()].name.clone()).collect()
    }
}
