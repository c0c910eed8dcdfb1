//! Adjustable values of a description, and their places in its text: idle slopes, limits of queues, shapers, priorities.
//!
//! A [`Setting`] is one value of the text, whatever ports, classes and streams it holds for: a value of `defaults` or
//! of a device model is one, and so is one behind an anchor. A value that is not in the text but may be stated (a
//! priority, a limit of the queues of a node) is a setting, too, with the place where its key goes. [`Settings::with`]
//! writes other values into the text, and changes nothing else. Only loading shows whether the description accepts
//! them. [`with_value`] changes any value by the keys that lead to it. Not here: which values are good.

mod find;
mod value;
mod write;

use std::collections::BTreeMap;
use std::ops::Range;

use tautwire_core::TrafficClass;

pub use self::value::{shared_at, value_at, with_element, with_value};
pub(crate) use self::write::place_in;
use crate::grammar::Grammar;
use crate::network::{PortIndex, StreamIndex};
use crate::parse::{Texts, parse};
use crate::resolve::resolve;
use crate::text::faults::Faults;

/// Key of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SettingKey {
    /// `idle-slope` of a class.
    IdleSlope,
    /// `queue-limit.frames`.
    QueueFrames,
    /// `queue-limit.octets`.
    QueueOctets,
    /// `shaper.committed-information-rate` of a stream.
    CommittedInformationRate,
    /// `shaper.committed-burst-size` of a stream.
    CommittedBurstSize,
    /// `priority` of a stream.
    Priority,
}

impl SettingKey {
    /// The key itself, without those above it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IdleSlope => "idle-slope",
            Self::QueueFrames => "frames",
            Self::QueueOctets => "octets",
            Self::CommittedInformationRate => "committed-information-rate",
            Self::CommittedBurstSize => "committed-burst-size",
            Self::Priority => "priority",
        }
    }
}

/// A value of the text, or one that may be added to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its key.
    pub key: SettingKey,
    /// The keys that lead to it, with a stream's name for its number: `nodes.bridge.classes.5.idle-slope`.
    pub path: String,
    /// Its line in the text, from 1; that behind which it would be added.
    pub line: usize,
    /// The value as it is written; none if it is a default.
    pub stated: Option<String>,
    /// The classes of ports that it holds for.
    pub classes: Vec<(PortIndex, TrafficClass)>,
    /// The streams that it holds for.
    pub streams: Vec<StreamIndex>,
    /// Where it is written.
    place: Written,
}

/// How a value gets into the text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Written {
    /// In the place of another one.
    Over(Octets),
    /// With its key, at an offset where the text has neither, between these texts.
    Added(usize, String, String),
}

/// The first octet, and the one behind the last: a range that can be ordered.
type Octets = (usize, usize);

/// The settings of a description.
#[derive(Clone, Debug)]
pub struct Settings {
    text: String,
    /// In the order of the text.
    pub list: Vec<Setting>,
}

impl Grammar {
    /// The settings of the description `text` (whose path is `name`); none if it is not well formed. Values in tables
    /// of streams or in files that it names are left out.
    #[must_use]
    pub fn settings(&'static self, name: &str, text: &str) -> Option<Settings> {
        let texts = Texts::new(name, text, None);
        let mut faults = Faults::default();
        let draft = parse(self, &texts, &mut faults)?;
        let resolved = resolve(&draft, &mut faults);
        Some(Settings { list: find::settings(&resolved, text), text: text.to_owned() })
    }
}

impl Settings {
    /// The text with other values: `changes` gives them by the numbers of their settings.
    ///
    /// # Panics
    /// If there is no setting of such a number.
    #[must_use]
    pub fn with(&self, changes: &BTreeMap<usize, String>) -> String {
        let changed = changes.iter().map(|(number, value)| (&self.list[*number], value.as_str()));
        write::written(&self.text, changed.collect())
    }

    /// The text as it is.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// As a range of the text.
fn range((start, end): Octets) -> Range<usize> {
    start..end
}
