//! Collects the faults of a description; the same fault of the same place counts once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::codes;
use super::tree::Place;
use crate::{Diagnostic, Label, Severity, Source};

/// All faults so far.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    list: Vec<Diagnostic>,
    errors: usize,
    /// What is known already, and where in the list it is: a default that many ports have is wrong once.
    known: HashMap<(&'static str, Place), usize>,
    /// Files in which faults were found while the description was built.
    files: Vec<Source>,
    /// Number of the first of them.
    first_file: u32,
    /// Files that the description names.
    named: Vec<PathBuf>,
}

impl Faults {
    /// Adds an error.
    pub(crate) fn error(
        &mut self,
        code: &'static str,
        place: Place,
        message: String,
        help: impl Into<String>,
    ) {
        self.add(Severity::Error, code, place, message, help.into(), None);
    }

    /// Adds an error that has to do with a second place.
    pub(crate) fn error_with(
        &mut self,
        code: &'static str,
        place: Place,
        message: String,
        help: impl Into<String>,
        other: (Place, &str),
    ) {
        self.add(Severity::Error, code, place, message, help.into(), Some(other));
    }

    /// Adds a warning.
    pub(crate) fn warning(
        &mut self,
        code: &'static str,
        place: Place,
        message: String,
        help: impl Into<String>,
    ) {
        self.add(Severity::Warning, code, place, message, help.into(), None);
    }

    /// Adds a warning that has to do with a second place.
    pub(crate) fn warning_with(
        &mut self,
        code: &'static str,
        place: Place,
        message: String,
        help: impl Into<String>,
        other: (Place, &str),
    ) {
        self.add(Severity::Warning, code, place, message, help.into(), Some(other));
    }

    fn add(
        &mut self,
        severity: Severity,
        code: &'static str,
        place: Place,
        message: String,
        help: String,
        other: Option<(Place, &str)>,
    ) {
        let known = self.known.get(&(code, place)).copied();
        // An error is never left out for a warning.
        if known.is_some_and(|at| self.list[at].severity >= severity) {
            return;
        }
        let span = |place: Place| place.start as usize..place.end as usize;
        let mut labels = vec![Label { span: span(place), text: String::new() }];
        if let Some((other, text)) = other.filter(|(other, _)| other.source == place.source) {
            labels.push(Label { span: span(other), text: text.to_owned() });
        }
        self.errors += usize::from(severity == Severity::Error);
        let source = place.source as usize;
        let fault = Diagnostic { code, severity, message, help: Some(help), source, labels };
        match known {
            Some(at) => self.list[at] = fault,
            None => {
                self.known.insert((code, place), self.list.len());
                self.list.push(fault);
            }
        }
    }

    /// The reader of the faults knows the texts before number `first`.
    pub(crate) fn number_files_from(&mut self, first: u32) {
        self.first_file = first;
    }

    /// Checks the text of a file, which is kept if it has faults. The faults of one file are reported once.
    pub(crate) fn of_file<R>(
        &mut self,
        name: &str,
        text: &str,
        check: impl FnOnce(u32, &mut Self) -> R,
    ) -> R {
        let number = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let mut found = Self::default();
        let result = check(self.first_file.saturating_add(number), &mut found);
        if !found.list.is_empty() && self.files.iter().all(|file| file.name != name) {
            self.files.push(Source { name: name.to_owned(), text: text.to_owned() });
            self.append(found);
        }
        result
    }

    /// The description names this file, whether it can be read or not.
    pub(crate) fn names(&mut self, path: &Path) {
        if !self.named.iter().any(|named| named == path) {
            self.named.push(path.to_owned());
        }
    }

    /// The files that the description names, each once.
    pub(crate) fn take_named(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.named)
    }

    /// The files in which faults were found, in the order of their numbers.
    pub(crate) fn take_files(&mut self) -> Vec<Source> {
        std::mem::take(&mut self.files)
    }

    /// Adds the faults of another collection.
    pub(crate) fn append(&mut self, other: Self) {
        self.errors += other.errors;
        let before = self.list.len();
        self.list.extend(other.list);
        let shifted = other.known.into_iter().map(|(key, at)| (key, before + at));
        self.known.extend(shifted);
        other.named.iter().for_each(|path| self.names(path));
    }

    /// How many errors there are so far.
    pub(crate) fn errors(&self) -> usize {
        self.errors
    }

    /// Whether there is an error that a description cannot allow.
    pub(crate) fn forbids(&self) -> bool {
        let forbidden =
            |fault: &&Diagnostic| fault.severity == Severity::Error && !codes::ALLOWED.contains(&fault.code);
        self.list.iter().any(|fault| forbidden(&fault))
    }

    /// Makes warnings of the errors with one of `codes`.
    pub(crate) fn allow(&mut self, codes: &[&str]) {
        for fault in &mut self.list {
            if fault.severity == Severity::Error && codes.contains(&fault.code) {
                fault.severity = Severity::Warning;
                self.errors -= 1;
            }
        }
    }

    /// All faults, in order of place.
    pub(crate) fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|fault| (fault.source, fault.labels[0].span.start));
        self.list
    }
}

/// The known name that is most like `name`, if one is like it.
pub(crate) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let limit = 1 + name.chars().count() / 4;
    known
        .filter_map(|candidate| {
            let distance = strsim::osa_distance(name, candidate);
            (distance <= limit).then_some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// ``did you mean `x`?``, or the list of what is known.
pub(crate) fn did_you_mean<'n>(
    name: &str,
    what: &str,
    known: impl Iterator<Item = &'n str> + Clone,
) -> String {
    if let Some(nearest) = nearest(name, known.clone()) {
        return format!("did you mean `{nearest}`?");
    }
    let shown: Vec<&str> = known.clone().take(12).collect();
    match known.count() {
        0 => {
            let bare = what.strip_prefix("a ").or(what.strip_prefix("an ")).unwrap_or(what);
            format!("the description has no {bare}")
        }
        more if more > shown.len() => format!("{what} is one of {}, ...", shown.join(", ")),
        _ => format!("{what} is one of {}", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_replaces_a_warning_of_its_place() {
        let place = |start| Place { source: 0, start, end: start + 1 };
        let mut faults = Faults::default();
        faults.warning(codes::RANGE, place(5), "some frames".to_owned(), "");
        faults.error(codes::RANGE, place(5), "all frames".to_owned(), "");
        faults.warning(codes::RANGE, place(5), "some frames".to_owned(), "");
        let mut more = Faults::default();
        more.warning(codes::RANGE, place(7), "elsewhere".to_owned(), "");
        faults.append(more);
        faults.error(codes::RANGE, place(7), "elsewhere, too".to_owned(), "");
        assert_eq!(faults.errors(), 2);
        let found: Vec<String> = faults.into_sorted().into_iter().map(|fault| fault.message).collect();
        assert_eq!(found, ["all frames", "elsewhere, too"]);
    }

    #[test]
    fn where_nothing_is_known_the_help_is_a_sentence() {
        assert_eq!(did_you_mean("udp", "a stack", [].into_iter()), "the description has no stack");
        assert_eq!(did_you_mean("x", "an interface", [].into_iter()), "the description has no interface");
        assert_eq!(did_you_mean("x", "a stack", ["links"].into_iter()), "a stack is one of links");
    }
}
