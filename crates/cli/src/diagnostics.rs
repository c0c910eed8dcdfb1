//! Faults of a description, drawn for people (miette) and written as JSON for programs.

use std::fmt::{self, Write};

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};
use serde_json::{Value, json};
use tautwire_workbench::{Diagnostic, Loaded, Severity};

use crate::terminal::Terminal;

/// All faults as they are shown to people, one after the other, with the lines that they point at.
pub(crate) fn drawn(loaded: &Loaded, terminal: Terminal) -> String {
    let theme = match (terminal.unicode, terminal.colour) {
        (true, true) => GraphicalTheme::unicode(),
        (true, false) => GraphicalTheme::unicode_nocolor(),
        (false, true) => {
            GraphicalTheme { characters: GraphicalTheme::ascii().characters, ..GraphicalTheme::unicode() }
        }
        (false, false) => GraphicalTheme {
            characters: GraphicalTheme::ascii().characters,
            ..GraphicalTheme::unicode_nocolor()
        },
    };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(terminal.columns).with_links(false);
    let sources: Vec<_> = loaded
        .sources
        .iter()
        .map(|source| NamedSource::new(&source.name, source.text.clone()).with_language("yaml"))
        .collect();
    let mut text = String::new();
    for diagnostic in &loaded.diagnostics {
        let fault = Drawn { diagnostic, source: sources.get(diagnostic.source) };
        handler.render_report(&mut text, &fault).expect("writing to a String does not fail");
        text.push('\n');
    }
    text
}

/// `2 errors, 1 warning`, or `no faults`.
pub(crate) fn counted(diagnostics: &[Diagnostic]) -> String {
    let count = |severity| diagnostics.iter().filter(|d| d.severity == severity).count();
    let mut text = String::new();
    for (number, name) in [(count(Severity::Error), "error"), (count(Severity::Warning), "warning")] {
        if number > 0 {
            let comma = if text.is_empty() { "" } else { ", " };
            let plural = if number == 1 { "" } else { "s" };
            write!(text, "{comma}{number} {name}{plural}").expect("writing to a String does not fail");
        }
    }
    if text.is_empty() { "no faults".to_owned() } else { text }
}

/// The errors, each as one line with its place and the remedy.
#[cfg(target_os = "linux")]
pub(crate) fn lines(loaded: &Loaded) -> Vec<String> {
    let errors = loaded.diagnostics.iter().filter(|fault| fault.severity == Severity::Error);
    errors
        .map(|fault| {
            let mut text = String::new();
            if let Some(source) = loaded.sources.get(fault.source) {
                let offset = fault.labels.first().map_or(0, |label| label.span.start);
                let (line, column) = source.line_and_column(offset);
                write!(text, "{}:{line}:{column}: ", source.name).expect("writing to a String does not fail");
            }
            text.push_str(&fault.message);
            if let Some(help) = &fault.help {
                write!(text, "; {help}").expect("writing to a String does not fail");
            }
            text
        })
        .collect()
}

/// All faults for programs: an array in order of place, lines and columns from 1.
pub(crate) fn json(loaded: &Loaded) -> Value {
    loaded.diagnostics.iter().map(|diagnostic| one_as_json(loaded, diagnostic)).collect()
}

fn one_as_json(loaded: &Loaded, diagnostic: &Diagnostic) -> Value {
    let source = loaded.sources.get(diagnostic.source);
    let place = |offset: usize| source.map_or((1, 1), |source| source.line_and_column(offset));
    let labels: Vec<Value> = diagnostic
        .labels
        .iter()
        .map(|label| {
            let ((line, column), (end_line, end_column)) = (place(label.span.start), place(label.span.end));
            json!({"line": line, "column": column, "end_line": end_line, "end_column": end_column, "text": label.text})
        })
        .collect();
    let (line, column) = diagnostic.labels.first().map_or((1, 1), |label| place(label.span.start));
    json!({
        "code": diagnostic.code,
        "severity": severity(diagnostic.severity),
        "message": diagnostic.message,
        "help": diagnostic.help,
        "file": source.map(|source| &source.name),
        "line": line,
        "column": column,
        "labels": labels,
    })
}

const fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// One fault as miette sees it.
#[derive(Debug)]
struct Drawn<'a> {
    diagnostic: &'a Diagnostic,
    source: Option<&'a NamedSource<String>>,
}

impl fmt::Display for Drawn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.diagnostic.message)
    }
}

impl std::error::Error for Drawn<'_> {}

impl miette::Diagnostic for Drawn<'_> {
    fn code(&self) -> Option<Box<dyn fmt::Display + '_>> {
        Some(Box::new(self.diagnostic.code))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.diagnostic.severity {
            Severity::Warning => miette::Severity::Warning,
            Severity::Error => miette::Severity::Error,
        })
    }

    fn help(&self) -> Option<Box<dyn fmt::Display + '_>> {
        self.diagnostic.help.as_ref().map(|help| Box::new(help) as _)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.map(|source| source as _)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let labels = self.diagnostic.labels.iter().enumerate().map(|(index, label)| {
            let text = (!label.text.is_empty()).then(|| label.text.clone());
            let span = label.span.start..label.span.end.max(label.span.start);
            if index == 0 {
                LabeledSpan::new_primary_with_span(text, span)
            } else {
                LabeledSpan::new_with_span(text, span)
            }
        });
        Some(Box::new(labels))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tautwire_workbench::{Label, Source};

    const PLAIN: Terminal = Terminal { interactive: false, colour: false, unicode: false, columns: 80 };

    fn faulty() -> Loaded {
        let text = "links:\n  - rate: 10 parsecs\n".to_owned();
        let fault = |code, severity, label: &str, span| Diagnostic {
            code,
            severity,
            message: format!("{label} is wrong"),
            help: Some("write a rate, such as 100 Mbit/s".to_owned()),
            source: 0,
            labels: vec![Label { span, text: label.to_owned() }],
        };
        Loaded {
            network: None,
            sources: vec![Source { name: "net.yaml".to_owned(), text }],
            files: Vec::new(),
            diagnostics: vec![
                fault("value::range", Severity::Error, "this rate", 17..27),
                fault("link::length", Severity::Warning, "this link", 11..27),
            ],
        }
    }

    #[test]
    fn a_fault_is_drawn_with_its_line_and_remedy() {
        let text = drawn(&faulty(), PLAIN);
        for part in [
            "value::range",
            "this rate is wrong",
            "net.yaml:2:11",
            "rate: 10 parsecs",
            "100 Mbit/s",
            "this link",
        ] {
            assert!(text.contains(part), "{part} is missing from\n{text}");
        }
        assert!(text.is_ascii(), "{text}");
    }

    #[test]
    fn colours_come_only_when_wanted() {
        assert!(!drawn(&faulty(), PLAIN).contains('\u{1b}'));
        assert!(drawn(&faulty(), Terminal { colour: true, ..PLAIN }).contains('\u{1b}'));
    }

    #[test]
    fn programs_get_the_same_places() {
        let value = json(&faulty());
        assert_eq!(value[0]["line"], 2);
        assert_eq!(value[0]["column"], 11);
        assert_eq!(value[0]["labels"][0]["end_column"], 21);
        assert_eq!(value[1]["severity"], "warning");
        assert_eq!(counted(&faulty().diagnostics), "1 error, 1 warning");
    }

    #[test]
    fn a_label_outside_its_text_is_no_panic() {
        let mut loaded = faulty();
        loaded.diagnostics[0].labels[0].span = 1_000..2_000;
        loaded.diagnostics[1].source = 7;
        assert!(drawn(&loaded, PLAIN).contains("this rate is wrong"));
        assert_eq!(json(&loaded)[1]["line"], 1);
    }
}
