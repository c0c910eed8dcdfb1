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
            Operation::Withdraw => self.withdraw(&asked, &mut decision),
            Operation::Reserve | Operation::WhatIf => self.admit(&asked, &[], request.mode, &mut decision),
            Operation::Replace => {
                self.withdraw(&leaving, &mut decision);
                if decision.outcome == Outcome::Granted {
                    self.admit(&asked, &leaving, Mode::AllOrNothing, &mut decision);
                }
            }
        }
        decision
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
    fn withdraw(&self, asked: &[StreamIndex], decision: &mut Decision) {
        let missing = asked.iter().filter(|stream| !self.admitted.contains(stream));
        decision.refused = missing.map(|stream| self.refusal(*stream, RefusalReason::NotAdmitted)).collect();
        if decision.refused.is_empty() {
            decision.withdrawn = self.names(asked);
        } else {
            decision.outcome = Outcome::Refused;
        }
    }

    /// Admits streams, with those that leave already gone.
    fn admit(&self, asked: &[StreamIndex], leaving: &[StreamIndex], mode: Mode, decision: &mut Decision) {
        let stays = |stream: &&StreamIndex| !leaving.contains(stream);
        let mut streams: Vec<StreamIndex> = self.admitted.iter().filter(stays).copied().collect();
        for stream in asked {
            let reason = if streams.contains(stream) {
                Some(RefusalReason::AlreadyAdmitted)
            } else {
                streams.push(*stream);
                let reason = self.test.refuse(self.network, &streams);
                if reason.is_some() {
                    streams.pop();
                }
                reason
            };
            match reason {
                None => decision.admitted.extend(self.names(&[*stream])),
                Some(reason) => decision.refused.push(self.refusal(*stream, reason)),
            }
            if mode == Mode::AllOrNothing && !decision.refused.is_empty() {
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
        self.admitted.retain(|stream| !withdrawn.contains(stream));
        self.admitted.extend(admitted);
        Ok(())
    }

    fn names(&self, streams: &[StreamIndex]) -> Vec<String> {
        streams.iter().map(|stream| self.network.streams[stream.index()].name.clone()).collect()
    }
}
