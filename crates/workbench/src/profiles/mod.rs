//! `check --profile`: which rules of a published TSN profile a network keeps.
//!
//! Each profile is a table of rules, one file each: what a rule says, its source, and the requirement that decides it
//! (`requirement.rs`). What public texts leave unknown is a row of its table, too; nothing is guessed. Page:
//! `docs/guide/profiles.md`.

mod aerospace;
mod audio_video;
mod clocks;
mod in_vehicle;
mod industrial;
mod look;
mod parts;
mod paths;
mod requirement;
mod sr_classes;

use serde_json::json;
use tautwire_model::{Diagnostic, Label, Loaded, Network, Places, Severity};

use self::requirement::{Found, Requirement, Subject};

/// A profile of IEEE 802.1 TSN for a field of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name: `802.1BA`.
    pub name: &'static str,
    /// The field of use.
    pub about: &'static str,
    /// Its rules.
    pub rules: &'static [Rule],
}

/// All profiles.
pub static PROFILES: [&Profile; 4] =
    [&audio_video::PROFILE, &in_vehicle::PROFILE, &industrial::PROFILE, &aerospace::PROFILE];

impl Profile {
    /// The profile of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        PROFILES.into_iter().find(|profile| profile.name.eq_ignore_ascii_case(name))
    }
}

/// A rule of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its stable name, which is the code of its diagnostics: `802.1BA::link`.
    pub id: &'static str,
    /// What is right.
    pub says: &'static str,
    /// Where that is stated.
    pub source: Source,
    requires: Requirement,
}

/// The origin of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// What kind of text it is.
    pub kind: SourceKind,
    /// The text, with its clause where that is known.
    pub text: &'static str,
}

/// Kinds of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// A published standard, or a public text about it.
    Standard,
    /// A public draft, or its contents.
    Draft,
    /// A public specification that builds on the profile.
    Companion,
    /// A contribution to the work on the profile, or its scope.
    Contribution,
}

impl SourceKind {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Draft => "draft",
            Self::Companion => "companion",
            Self::Contribution => "contribution",
        }
    }
}

/// What became of a rule in a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleVerdict {
    /// Something breaks it.
    Broken,
    /// All of the network keeps it.
    Kept,
    /// The network has nothing that it is about.
    NotApplicable,
    /// No public text states it.
    Unknown,
}

impl RuleVerdict {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Broken => "broken",
            Self::Kept => "kept",
            Self::NotApplicable => "not applicable",
            Self::Unknown => "unknown",
        }
    }
}

/// A rule, and what became of it in a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleRow {
    /// The rule.
    pub rule: &'static Rule,
    /// Its verdict.
    pub verdict: RuleVerdict,
    /// What is missing, if it is not applicable or unknown.
    pub why: Option<&'static str>,
    /// Its breaches.
    pub breaches: Vec<Diagnostic>,
}

/// The rules of a profile in a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileCheck {
    /// The profile.
    pub profile: &'static Profile,
    /// Per rule, in the order of the profile.
    pub rows: Vec<RuleRow>,
}

impl ProfileCheck {
    /// Checks the rules of `profile` in a description that was read; its breaches become errors of the description. None if
    /// the description has errors of its own.
    #[must_use]
    pub fn of(profile: &'static Profile, loaded: &mut Loaded) -> Option<Self> {
        let network = loaded.network.as_ref()?;
        let text = loaded.sources.first().map_or("", |source| source.text.as_str());
        let (bounds, places) = (crate::bounds(network), Places::new(text));
        let rows: Vec<RuleRow> = profile
            .rules
            .iter()
            .map(|rule| {
                let (verdict, why, breaches) = match rule.requires.examine(network, &bounds) {
                    Found::Unknown(why) => (RuleVerdict::Unknown, Some(why), Vec::new()),
                    Found::Nothing(why) => (RuleVerdict::NotApplicable, Some(why), Vec::new()),
                    Found::Breaches(found) if found.is_empty() => (RuleVerdict::Kept, None, Vec::new()),
                    Found::Breaches(found) => (RuleVerdict::Broken, None, found),
                };
                let breaches = breaches
                    .into_iter()
                    .map(|(subject, message)| diagnostic(rule, message, places.of(&keys(network, subject))));
                RuleRow { rule, verdict, why, breaches: breaches.collect() }
            })
            .collect();
        let breaches = rows.iter().flat_map(|row| row.breaches.iter().cloned());
        loaded.diagnostics.extend(breaches);
        loaded
            .diagnostics
            .sort_by_key(|fault| (fault.source, fault.labels.first().map_or(0, |label| label.span.start)));
        Some(Self { profile, rows })
    }

    /// How many rules have a verdict.
    #[must_use]
    pub fn count(&self, verdict: RuleVerdict) -> usize {
        self.rows.iter().filter(|row| row.verdict == verdict).count()
    }

    /// The rules with their verdicts as JSON.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        let rules: Vec<_> = self
            .rows
            .iter()
            .map(|row| {
                let breaches: Vec<_> = row.breaches.iter().map(|breach| &breach.message).collect();
                json!({
                    "rule": row.rule.id,
                    "says": row.rule.says,
                    "source": row.rule.source.text,
                    "source_kind": row.rule.source.kind.name(),
                    "verdict": row.verdict.name(),
                    "why": row.why,
                    "breaches": breaches,
                })
            })
            .collect();
        json!({"profile": self.profile.name, "about": self.profile.about, "rules": rules})
    }
}

fn diagnostic(rule: &'static Rule, message: String, span: std::ops::Range<usize>) -> Diagnostic {
    Diagnostic {
        code: rule.id,
        severity: Severity::Error,
        message,
        help: Some(format!("{} ({})", rule.says, rule.source.text)),
        source: 0,
        labels: vec![Label { span, text: String::new() }],
    }
}

/// The keys of the description that lead to what breaks a rule.
fn keys(network: &Network, subject: Subject) -> Vec<String> {
    let own = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
    match subject {
        Subject::Network => own(&["nodes"]),
        Subject::Section(keys) => own(keys),
        Subject::Node(node, key) => own(&["nodes", &network.nodes[node.index()].name, key]),
        Subject::Port(port, key) => {
            let node = &network.nodes[network.ports[port.index()].node.index()];
            own(&["nodes", &node.name, key])
        }
        Subject::Cable(number) => own(&["links", &number.to_string(), "rate"]),
        Subject::Stream(stream, key) => own(&["streams", &network.streams[stream.index()].name, key]),
    }
}
