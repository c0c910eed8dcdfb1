//! What a controller keeps, by names: it outlasts the network that it decides about.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::decision::Decision;
use crate::log::{Change, Log, LogError};
use crate::request::name_of;

/// What is admitted, what was answered, and the log of both.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// In the order in which they were admitted.
    pub(crate) admitted: Vec<String>,
    /// Answers to requests that had an id and changed something.
    pub(crate) answered: BTreeMap<String, Decision>,
    /// Streams that requests have described, by name in the order in which they came; the last description of each.
    pub(crate) new: Vec<(String, Value)>,
    pub(crate) log: Option<Log>,
}

impl Kept {
    /// What the log of a folder says.
    pub(crate) fn of_log(folder: &std::path::Path) -> Result<Self, LogError> {
        let (log, changes) = Log::open(folder)?;
        let mut kept = Self { log: Some(log), ..Self::default() };
        for change in &changes {
            kept.apply(change);
        }
        Ok(kept)
    }

    /// Writes a change to disk, if there is a log, and makes it.
    pub(crate) fn change(&mut self, change: &Change) -> Result<(), LogError> {
        if let Some(log) = &mut self.log {
            log.append(change)?;
        }
        self.apply(change);
        Ok(())
    }

    fn apply(&mut self, change: &Change) {
        self.admitted.retain(|name| !change.withdrawn.contains(name));
        self.admitted.extend_from_slice(&change.admitted);
        for new in &change.new {
            let name = name_of(new).unwrap_or_default().to_owned();
            self.new.retain(|(known, _)| *known != name);
            self.new.push((name, new.clone()));
        }
        if let Some(id) = &change.id {
            self.answered.insert(id.clone(), change.decision());
        }
    }

    /// The described streams, with these in the place of those of the same name, as a list in JSON.
    pub(crate) fn descriptions(&self, further: &[Value]) -> String {
        let replaced = |name: &String| further.iter().any(|new| name_of(new) == Some(name.as_str()));
        let mut all: Vec<&Value> =
            self.new.iter().filter(|(name, _)| !replaced(name)).map(|(_, new)| new).collect();
        all.extend(further);
        serde_json::to_string(&all).expect("values are JSON")
    }
}
