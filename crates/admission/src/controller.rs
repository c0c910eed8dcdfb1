//! The controller: what is admitted, and how a request changes it.

use std::collections::BTreeMap;

use tautwire_model::Network;
use tautwire_model::network::StreamIndex;

use crate::decision::{Decision, Outcome, Refusal, RefusalReason};
use crate::log::{Change, Log, LogError};
use crate::request::{Mode, Operation, Request};

/// Decides whether streams may run together.
pub trait AdmissionTest {
    /// Why the last of `streams` must not join the others, which were admitted in this order; none if it
    /// may. It must not depend on anything but its arguments.
    fn refuse(&self, network: &Network, streams: &[StreamIndex]) -> Option<RefusalReason>;
}

/// Answers requests, one after the other.
#[expect(missing_debug_implementations, reason = "a test is any type")]
pub struct Controller<'network> {
    network: &'network Network,
    test: Box<dyn AdmissionTest>,
    index_of: BTreeMap<&'network str, StreamIndex>,
    /// In the order in which they were admitted.
    admitted: Vec<StreamIndex>,
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
        Self { network, test, index_of, admitted: Vec::new(), answered: BTreeMap::new(), log: None }
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
        let decision = self.decide(request);
        if request.op == Operation::WhatIf || request.op == Operation::List {
            return Ok(decision);
        }
        let change = Change {
            id: request.id.clone(),
            outcome: decision.outcome,
            admitted: decision.admitted.clone(),
            withdrawn: decision.withdrawn.clone(),
        };
        if change.is_nothing() {
            return Ok(decision);
        }
        if let Some(log) = &mut self.log {
            log.append(&change)?;
        }
        self.apply(&change).expect("a decision names streams of the network");
        if let Some(id) = &request.id {
            self.answered.insert(id.clone(), change.decision());
        }
        Ok(decision)
    }

    /// What a request comes to; changes nothing.
    fn decide(&self, request: &Request) -> Decision {
        let mut decision = Decision::empty(request.id.clone(), Outcome::Granted);
        match request.op {
            Operation::List => decision.admitted = self.names(&self.admitted),
            Operation::Withdraw => match self.all_admitted(&request.streams) {
                Ok(_) => decision.withdrawn.clone_from(&request.streams),
                Err(refused) => (decision.outcome, decision.refused) = (Outcome::Wrong, refused),
            },
            Operation::Reserve | Operation::WhatIf | Operation::Replace => self.admit(request, &mut decision),
        }
        decision
    }

    fn admit(&self, request: &Request, decision: &mut Decision) {
        let mut streams = self.admitted.clone();
        match self.all_admitted(&request.instead_of) {
            Ok(leaving) => streams.retain(|stream| !leaving.contains(stream)),
            Err(refused) => return (decision.outcome, decision.refused) = (Outcome::Wrong, refused),
        }
        for (place, name) in request.streams.iter().enumerate() {
            let refuse = |reason| Refusal { stream: name.clone(), reason };
            let wrong = match self.index_of.get(name.as_str()) {
                None => Err(RefusalReason::UnknownStream),
                Some(_) if request.streams[..place].contains(name) => Err(RefusalReason::NamedTwice),
                Some(stream) if streams.contains(stream) => Err(RefusalReason::AlreadyAdmitted),
                Some(stream) => Ok(*stream),
            };
            match wrong {
                Err(reason) => decision.refused.push(refuse(reason)),
                Ok(stream) => {
                    streams.push(stream);
                    if let Some(reason) = self.test.refuse(self.network, &streams) {
                        streams.pop();
                        decision.refused.push(refuse(reason));
                    } else {
                        decision.admitted.push(name.clone());
                    }
                }
            }
            if request.mode == Mode::AllOrNothing && !decision.refused.is_empty() {
                decision.admitted.clear();
                decision.outcome = Outcome::Refused;
                return;
            }
        }
        decision.outcome = match (decision.admitted.is_empty(), decision.refused.is_empty()) {
            (_, true) => Outcome::Granted,
            (false, false) => Outcome::Partly,
            (true, false) => Outcome::Refused,
        };
        decision.withdrawn.clone_from(&request.instead_of);
    }

    /// The streams of these names, if all of them are admitted and named once.
    fn all_admitted(&self, names: &[String]) -> Result<Vec<StreamIndex>, Vec<Refusal>> {
        let (mut found, mut refused) = (Vec::new(), Vec::new());
        for (place, name) in names.iter().enumerate() {
            let reason = match self.index_of.get(name.as_str()) {
                None => RefusalReason::UnknownStream,
                Some(_) if names[..place].contains(name) => RefusalReason::NamedTwice,
                Some(stream) if !self.admitted.contains(stream) => RefusalReason::NotAdmitted,
                Some(stream) => {
                    found.push(*stream);
                    continue;
                }
            };
            refused.push(Refusal { stream: name.clone(), reason });
        }
        if refused.is_empty() { Ok(found) } else { Err(refused) }
    }

    /// Makes a change; the name of a stream that the network has not, if there is one.
    fn apply(&mut self, change: &Change) -> Result<(), String> {
        let find = |name: &String| self.index_of.get(name.as_str()).copied().ok_or_else(|| name.clone());
        let withdrawn = change.withdrawn.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let admitted = change.admitted.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        self.admitted.retain(|stream| !withdrawn.contains(stream));
        self.admitted.extend(admitted);
        Ok(())
    }

    fn names(&self, streams: &[StreamIndex]) -> Vec<String> {
        streams.iter().map(|stream| self.network.streams[stream.index()].name.clone()).collect()
    }
}
