//! The admission server: requests may contain streams that the description does not have.
//!
//! Such a request is tried on a network of its own: the description, read again with the streams of all requests so
//! far and the new ones. If it is granted, that network replaces the one before; if it is refused, it is forgotten,
//! and nothing has changed. A stream that came with a request is a candidate from its admission on, as if it were in
//! the description.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tautwire_model::network::StreamIndex;
use tautwire_model::{Grammar, Loaded, Network, Severity};

use crate::choice::Test;
use crate::controller::Controller;
use crate::decision::{Decision, Outcome, Refusal, RefusalReason};
use crate::log::{Change, LogError};
use crate::request::{Mode, Operation, Request, RequestError, name_of};
use crate::state::SavedState;

/// Where requests come from and answers go.
pub trait Channel {
    /// Why it ends early.
    type Error: From<LogError>;

    /// The next request; none if there are no more.
    ///
    /// # Errors
    /// If it cannot be read.
    fn next(&mut self) -> Result<Option<Result<Request, RequestError>>, Self::Error>;

    /// The answer to the last one, and the network that it is about.
    ///
    /// # Errors
    /// If it cannot be given.
    fn reply(&mut self, network: &Network, decision: Decision) -> Result<(), Self::Error>;
}

/// A description and what of it is admitted.
#[derive(Debug)]
pub struct AdmissionServer {
    grammar: &'static Grammar,
    name: String,
    text: String,
    test: Test,
    network: Network,
    saved: SavedState,
}

impl AdmissionServer {
    /// A server for the description in `text`, read by `grammar`, whose file has the path `name`; with a folder it
    /// continues at the end of the log there, and appends to it.
    ///
    /// # Errors
    /// If the log cannot be used, or its contents do not fit the description.
    ///
    /// # Panics
    /// If the description has errors: read it before.
    pub fn open(
        grammar: &'static Grammar,
        name: &str,
        text: &str,
        test: Test,
        folder: Option<&Path>,
    ) -> Result<Self, LogError> {
        let saved = folder.map(SavedState::of_log).transpose()?.unwrap_or_default();
        let loaded = grammar.load_text_with_streams(name, text, "[]");
        assert!(!loaded.has_errors(), "a description without errors");
        let loaded = grammar.load_text_with_streams(name, text, &saved.descriptions(&[]));
        let network = network(loaded).map_err(LogError::Unfit)?;
        Ok(Self { grammar, name: name.to_owned(), text: text.to_owned(), test, network, saved })
    }

    /// Takes the contents of a folder's log as they are, whatever its checks and its anchor, so that it can be opened.
    /// Returns the path of a copy of the file, if it was damaged.
    ///
    /// # Errors
    /// If the log cannot be read or written, or is in use.
    pub fn accept_log(folder: &Path) -> Result<Option<PathBuf>, LogError> {
        SavedState::accept(folder)
    }

    /// Why what is admitted would not be admitted now: by another test, or as the description was then.
    #[must_use]
    pub fn no_longer_holds(&self) -> Option<RefusalReason> {
        let names = self.network.streams.iter().enumerate();
        let index: BTreeMap<&str, StreamIndex> =
            names.map(|(number, stream)| (stream.name.as_str(), StreamIndex::at(number))).collect();
        let known = |name: &String| index.get(name.as_str()).copied();
        let admitted: Vec<StreamIndex> = self.saved.admitted.iter().filter_map(known).collect();
        if admitted.is_empty() {
            return None;
        }
        self.test.of(&self.network).refuse(&self.network, &admitted)
    }

    /// Answers requests until there are no more.
    ///
    /// # Errors
    /// Errors of the channel, and of a log that cannot be used; only changes that are on disk are acknowledged.
    pub fn serve<A: Channel>(self, channel: &mut A) -> Result<(), A::Error> {
        let Self { grammar, name, text, test, mut network, mut saved } = self;
        loop {
            let mut controller = Controller::resume(&network, test, saved)?;
            let next = loop {
                let request = match channel.next()? {
                    None => return Ok(()),
                    Some(Ok(request)) => request,
                    Some(Err(error)) => {
                        channel.reply(&network, Decision::wrong(&error))?;
                        continue;
                    }
                };
                if request.new.is_empty() {
                    let decision = controller.answer(&request)?;
                    channel.reply(&network, decision)?;
                    continue;
                }
                if let Some(known) = controller.answer_of_before(&request) {
                    channel.reply(&network, known)?;
                    continue;
                }
                let more = controller.saved().descriptions(&request.new);
                let tried = match self::network(grammar.load_text_with_streams(&name, &text, &more)) {
                    Ok(tried) => tried,
                    Err(why) => {
                        channel.reply(&network, Decision::unfit(request.id, why))?;
                        continue;
                    }
                };
                let (decision, change) = try_on(&tried, test, controller.saved(), &request)?;
                match change {
                    None => channel.reply(&tried, decision)?,
                    Some(change) => {
                        controller.saved().change(&change)?;
                        channel.reply(&tried, decision)?;
                        break tried;
                    }
                }
            };
            saved = controller.into_saved();
            network = next;
        }
    }
}

/// What a request comes to on the network that has its streams, and what it changes.
fn try_on(
    network: &Network,
    test: Test,
    saved: &SavedState,
    request: &Request,
) -> Result<(Decision, Option<Change>), LogError> {
    let names: Vec<&str> = request.new.iter().filter_map(name_of).collect();
    let is_admitted = |name: &str| saved.admitted.iter().any(|known| known == name);
    // Whether the request changes admitted streams hypothetically.
    let if_otherwise = request.op == Operation::WhatIf && names.iter().all(|name| is_admitted(name));
    let modifies = request.op == Operation::Modify || if_otherwise;
    let reason = if modifies { RefusalReason::NotAdmitted } else { RefusalReason::AlreadyAdmitted };
    let wrong: Vec<Refusal> = names
        .iter()
        .filter(|name| is_admitted(name) != modifies)
        .map(|name| Refusal { stream: (*name).to_owned(), reason: reason.clone(), fits: None })
        .collect();
    if !wrong.is_empty() {
        let decision = Decision { refused: wrong, ..Decision::empty(request.id.clone(), Outcome::Refused) };
        return Ok((decision, None));
    }
    let stays = |name: &&String| !modifies || !names.contains(&name.as_str());
    let admitted: Vec<String> = saved.admitted.iter().filter(stays).cloned().collect();
    let mut trial = Controller::resume(network, test, SavedState { admitted, ..SavedState::default() })?;
    let mode = if modifies { Mode::AllOrNothing } else { request.mode };
    let asked = Request { new: Vec::new(), streams: request.names(), mode, ..request.clone() };
    let mut decision = trial.answer(&asked)?;
    let done = matches!(decision.outcome, Outcome::Granted | Outcome::Partly);
    if modifies && done {
        decision.withdrawn = decision.admitted.clone();
    }
    if !done || request.op == Operation::WhatIf {
        return Ok((decision, None));
    }
    let came =
        |new: &&serde_json::Value| decision.admitted.iter().any(|name| name_of(new) == Some(name.as_str()));
    let change = Change {
        id: request.id.clone(),
        outcome: decision.outcome,
        admitted: decision.admitted.clone(),
        withdrawn: decision.withdrawn.clone(),
        new: request.new.iter().filter(came).cloned().collect(),
    };
    Ok((decision, Some(change)))
}

/// The network of what was read, or its faults in a line.
fn network(mut loaded: Loaded) -> Result<Network, String> {
    loaded.network.take().ok_or_else(|| {
        let errors = loaded.diagnostics.iter().filter(|fault| fault.severity == Severity::Error);
        let texts = errors.map(|fault| match &fault.help {
            Some(help) => format!("{}; {help}", fault.message),
            None => fault.message.clone(),
        });
        texts.collect::<Vec<_>>().join(". ")
    })
}
