//! What a controller saves, by names: it outlasts the network that it decides about.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::decision::Decision;
use crate::log::{Change, Contents, Log, LogError, State};
use crate::request::name_of;

/// Answers that outlast a compaction: a request that is sent again comes soon.
const ANSWERS_MAX: usize = 4_096;

/// What is admitted, what was answered, and the log of both.
#[derive(Debug, Default)]
pub(crate) struct SavedState {
    /// In the order in which they were admitted.
    pub(crate) admitted: Vec<String>,
    /// Answers to requests that had an id and changed something.
    pub(crate) answered: BTreeMap<String, Decision>,
    /// The ids of these requests, in the order in which they were answered.
    pub(crate) ids: Vec<String>,
    /// Streams that requests have described, by name in the order in which they came; the last description of each.
    pub(crate) new: Vec<(String, Value)>,
    pub(crate) log: Option<Log>,
}

impl SavedState {
    /// The state by the log of a folder.
    pub(crate) fn of_log(folder: &Path) -> Result<Self, LogError> {
        let (log, contents) = Log::open(folder)?;
        let mut saved = Self::of_contents(&contents);
        saved.log = Some(log);
        saved.compact_if_grown()?;
        Ok(saved)
    }

    /// Takes the contents of a folder's log as they are, and anchors them anew; returns the path of a copy of a log that was damaged.
    pub(crate) fn accept(folder: &Path) -> Result<Option<PathBuf>, LogError> {
        let (log, contents, copy) = Log::accept(folder)?;
        let mut saved = Self::of_contents(&contents);
        saved.log = Some(log);
        saved.compact()?;
        Ok(copy)
    }

    fn of_contents(contents: &Contents) -> Self {
        let mut saved = Self { admitted: contents.state.admitted.clone(), ..Self::default() };
        let named = |new: &Value| (name_of(new).unwrap_or_default().to_owned(), new.clone());
        saved.new = contents.state.new.iter().map(named).collect();
        for answered in &contents.state.answered {
            saved.answer(answered);
        }
        for change in &contents.changes {
            saved.apply(change);
        }
        saved
    }

    /// Writes a change to disk, if there is a log, and makes it.
    pub(crate) fn change(&mut self, change: &Change) -> Result<(), LogError> {
        if let Some(log) = &mut self.log {
            log.append(change)?;
        }
        self.apply(change);
        // The change is on disk: a log that cannot be compacted now is compacted another time.
        let _ = self.compact_if_grown();
        Ok(())
    }

    fn compact_if_grown(&mut self) -> Result<(), LogError> {
        let entries = self.admitted.len() + self.new.len() + self.ids.len().min(ANSWERS_MAX);
        if self.log.as_ref().is_some_and(|log| log.has_grown(entries)) {
            self.compact()?;
        }
        Ok(())
    }

    fn compact(&mut self) -> Result<(), LogError> {
        let forgotten = self.ids.len().saturating_sub(ANSWERS_MAX);
        for id in self.ids.drain(..forgotten) {
            self.answered.remove(&id);
        }
        let answer = |id: &String| {
            let Decision { outcome, admitted, withdrawn, .. } = self.answered.get(id)?.clone();
            Some(Change { id: Some(id.clone()), outcome, admitted, withdrawn, new: Vec::new() })
        };
        let state = State {
            admitted: self.admitted.clone(),
            new: self.new.iter().map(|(_, new)| new.clone()).collect(),
            answered: self.ids.iter().filter_map(answer).collect(),
            ..State::default()
        };
        self.log.as_mut().map_or(Ok(()), |log| log.compact(state))
    }

    fn apply(&mut self, change: &Change) {
        self.admitted.retain(|name| !change.withdrawn.contains(name));
        self.admitted.extend_from_slice(&change.admitted);
        for new in &change.new {
            let name = name_of(new).unwrap_or_default().to_owned();
            self.new.retain(|(known, _)| *known != name);
            self.new.push((name, new.clone()));
        }
        self.answer(change);
    }

    fn answer(&mut self, change: &Change) {
        if let Some(id) = &change.id
            && self.answered.insert(id.clone(), change.decision()).is_none()
        {
            self.ids.push(id.clone());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Outcome;

    /// A folder of a test's own, empty.
    fn scratch(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("tautwire-state-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a temporary folder");
        path
    }

    fn log(folder: &Path) -> PathBuf {
        folder.join("reservations.jsonl")
    }

    fn change(number: usize) -> Change {
        let name = vec![format!("s{}", number % 3)];
        let (admitted, withdrawn) =
            if number.is_multiple_of(2) { (name, Vec::new()) } else { (Vec::new(), name) };
        let new = serde_json::json!({"name": format!("n{}", number % 5), "payload": number});
        Change {
            id: Some(format!("id {number}")),
            outcome: Outcome::Granted,
            admitted,
            withdrawn,
            new: vec![new],
        }
    }

    /// The state by a folder's log, without the log.
    fn read(folder: &Path) -> Result<SavedState, String> {
        SavedState::of_log(folder)
            .map(|saved| SavedState { log: None, ..saved })
            .map_err(|error| error.to_string())
    }

    fn same(one: &SavedState, other: &SavedState) {
        assert_eq!((&one.admitted, &one.new), (&other.admitted, &other.new));
        assert_eq!((&one.ids, &one.answered), (&other.ids, &other.answered));
    }

    #[test]
    fn lines_that_are_cut_off_are_noticed_however_many() {
        let folder = scratch("cut");
        let mut saved = SavedState::of_log(&folder).expect("opened");
        for number in 0..4 {
            saved.change(&change(number)).expect("saved");
        }
        drop(saved);
        let written = std::fs::read(log(&folder)).expect("a log");
        for length in 0..written.len() {
            std::fs::write(log(&folder), &written[..length]).expect("cut");
            let error = read(&folder).expect_err("a cut");
            assert!(error.contains("at least 4 were written"), "{length}: {error}");
        }
        std::fs::remove_file(log(&folder)).expect("removed");
        assert!(read(&folder).expect_err("nothing is there").contains("has 0 lines, and at least 4"));
        // A line more than the anchor knows was on disk when the process was killed, and counts.
        std::fs::write(log(&folder), &written).expect("restored");
        let anchor = crate::log::anchor::Anchor::path(&folder);
        let before = std::fs::read(&anchor).expect("an anchor");
        SavedState::of_log(&folder).expect("opened").change(&change(4)).expect("saved");
        std::fs::write(&anchor, before).expect("written");
        assert_eq!(read(&folder).expect("whole").ids.len(), 5);
        std::fs::remove_file(&anchor).expect("removed");
        assert!(read(&folder).expect_err("no anchor").contains("reservations.anchor does not exist"));
        std::fs::remove_dir_all(&folder).expect("ours");
    }

    #[test]
    fn a_changed_log_can_be_accepted() {
        let folder = scratch("accepted");
        let mut saved = SavedState::of_log(&folder).expect("opened");
        for number in 0..4 {
            saved.change(&change(number)).expect("saved");
        }
        drop(saved);
        assert_eq!(SavedState::accept(&folder).expect("accepted"), None, "nothing was wrong");
        let text = std::fs::read_to_string(log(&folder)).expect("a log");
        let spoilt = text.replace("\"s1\"", "\"s7\"") + "{\"change\": what\n";
        std::fs::write(log(&folder), &spoilt).expect("spoilt");
        read(&folder).expect_err("damaged");
        let copy = SavedState::accept(&folder).expect("accepted").expect("a copy");
        assert_eq!(std::fs::read_to_string(copy).expect("a copy"), spoilt);
        let saved = read(&folder).expect("accepted");
        assert_eq!((saved.ids.len(), saved.new.len()), (4, 4));
        std::fs::write(log(&folder), "").expect("emptied");
        read(&folder).expect_err("emptied");
        SavedState::accept(&folder).expect("accepted");
        assert!(read(&folder).expect("accepted").admitted.is_empty());
        // Both are emptied: an anchor has a record as soon as it has a name.
        let anchor = crate::log::anchor::Anchor::path(&folder);
        for file in [log(&folder), anchor] {
            std::fs::write(file, "").expect("emptied");
        }
        assert!(
            read(&folder)
                .expect_err("both are empty")
                .contains("reservations.anchor does not exist or is not")
        );
        SavedState::accept(&folder).expect("accepted");
        assert!(read(&folder).expect("accepted").admitted.is_empty());
        std::fs::remove_dir_all(&folder).expect("ours");
    }

    #[test]
    fn a_log_that_grows_is_compacted_without_change() {
        let folder = scratch("grows");
        let mut saved = SavedState::of_log(&folder).expect("opened");
        // Without ids only the result of a change is saved.
        let (mut generations, mut plain) = (std::collections::BTreeSet::new(), SavedState::default());
        for number in 0..700 {
            let change = Change { id: (number < 20).then(|| format!("id {number}")), ..change(number) };
            let anchor = std::fs::read(crate::log::anchor::Anchor::path(&folder)).expect("an anchor");
            saved.change(&change).expect("saved");
            plain.change(&change).expect("no log");
            let text = std::fs::read_to_string(log(&folder)).expect("a log");
            if text.starts_with("{\"state\"") && generations.insert(text.lines().next().map(str::to_owned)) {
                assert_eq!(text.lines().count(), 1);
                // Killed before the anchor is set: it is that of the log before.
                let now = std::fs::read(crate::log::anchor::Anchor::path(&folder)).expect("an anchor");
                assert_ne!(anchor, now);
            }
        }
        assert_eq!(generations.len(), 2);
        drop(saved);
        same(&read(&folder).expect("whole"), &plain);
        let text = std::fs::read_to_string(log(&folder)).expect("a log");
        for cut in [text.lines().next().unwrap_or_default().len() + 1, text.len() - 1, 0] {
            std::fs::write(log(&folder), &text[..cut]).expect("cut");
            assert!(read(&folder).is_err(), "{cut}");
        }
        std::fs::remove_dir_all(&folder).expect("ours");
    }

    #[test]
    fn killed_behind_a_compaction_and_before_its_anchor_nothing_is_lost() {
        let folder = scratch("between");
        let mut saved = SavedState::of_log(&folder).expect("opened");
        for number in 0..6 {
            saved.change(&change(number)).expect("saved");
        }
        let anchor = crate::log::anchor::Anchor::path(&folder);
        let before = std::fs::read(&anchor).expect("an anchor");
        saved.compact().expect("compacted");
        saved.log = None;
        let expected = saved;
        std::fs::write(&anchor, before).expect("written");
        same(&read(&folder).expect("the new log, and the anchor of the one before"), &expected);
        same(&read(&folder).expect("anchored"), &expected);
        std::fs::remove_dir_all(&folder).expect("ours");
    }
}
