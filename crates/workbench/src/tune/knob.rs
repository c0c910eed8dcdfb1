//! A knob: a setting of the description, the values that it may take, and how they are written.

use tautwire_model::Network;
use tautwire_model::settings::{Setting, SettingKey, Settings};

use super::grid;
use super::trial::{Outcome, State};

/// Kinds of parameters that can be tuned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Limits of queues.
    QueueLimit,
    /// Idle slopes of credit-based classes.
    IdleSlope,
    /// Rates and bursts of ATS schedulers.
    Ats,
    /// Priorities of streams.
    Priority,
}

impl Kind {
    /// All of them, in the order in which they are tried.
    pub const ALL: [Self; 4] = [Self::QueueLimit, Self::IdleSlope, Self::Ats, Self::Priority];

    /// Its name, by which it is chosen.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::QueueLimit => "queue-limit",
            Self::IdleSlope => "idle-slope",
            Self::Ats => "ats",
            Self::Priority => "priority",
        }
    }

    /// The kind of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    fn of(key: SettingKey) -> Self {
        match key {
            SettingKey::IdleSlope => Self::IdleSlope,
            SettingKey::QueueFrames | SettingKey::QueueOctets => Self::QueueLimit,
            SettingKey::CommittedInformationRate | SettingKey::CommittedBurstSize => Self::Ats,
            SettingKey::Priority => Self::Priority,
        }
    }

    fn tunable(self) -> &'static dyn Tunable {
        match self {
            Self::QueueLimit => &super::queue_limit::QueueLimit,
            Self::IdleSlope => &super::idle_slope::IdleSlope,
            Self::Ats => &super::ats::Ats,
            Self::Priority => &super::priority::Priority,
        }
    }
}

/// The operations of a kind of knob.
pub(super) trait Tunable: Sync {
    /// Its value as described, and the least and the most that it may be; none if it does nothing here.
    fn range(&self, network: &Network, setting: &Setting) -> Option<Range>;

    /// Values worth a trial from here, better first.
    fn tries(&self, at: &Here<'_>) -> Vec<u64>;
}

/// The values of a knob.
pub(super) struct Range {
    pub(super) old: u64,
    pub(super) least: u64,
    pub(super) most: u64,
    pub(super) unit: Unit,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Bits per second.
    Rate,
    /// Octets.
    Octets,
    /// Things that are counted.
    Count,
}

impl Unit {
    /// Digits that a person writes.
    pub(super) const fn digits(self) -> u32 {
        match self {
            Self::Rate => 3,
            Self::Octets | Self::Count => 4,
        }
    }

    pub(super) fn written(self, value: u64) -> String {
        match self {
            Self::Rate => tautwire_units::BitRate::from_bps(value).to_string(),
            Self::Octets => format!("{value} B"),
            Self::Count => value.to_string(),
        }
    }
}

/// A setting that may be changed.
pub(super) struct Knob {
    /// Number of the setting.
    pub(super) setting: usize,
    pub(super) kind: Kind,
    pub(super) range: Range,
}

impl Knob {
    pub(super) const fn digits(&self) -> u32 {
        self.range.unit.digits()
    }

    /// Values worth a trial from here: such as a person writes, within its range, and others than it has.
    pub(super) fn tries(&self, at: &Here<'_>) -> Vec<u64> {
        let mut values: Vec<u64> = Vec::new();
        for value in self.kind.tunable().tries(at) {
            if (self.range.least..=self.range.most).contains(&value)
                && value != at.now()
                && !values.contains(&value)
            {
                values.push(value);
            }
        }
        values
    }
}

/// A knob in a state of all of them.
pub(super) struct Here<'a> {
    pub(super) network: &'a Network,
    pub(super) settings: &'a Settings,
    pub(super) knobs: &'a [Knob],
    /// Number of the knob.
    pub(super) knob: usize,
    pub(super) state: &'a State,
    /// The result of the state.
    pub(super) outcome: &'a Outcome,
}

impl Here<'_> {
    /// The setting of the knob.
    pub(super) fn setting(&self) -> &Setting {
        &self.settings.list[self.knobs[self.knob].setting]
    }

    /// The knob's value now.
    pub(super) fn now(&self) -> u64 {
        self.value(self.knob)
    }

    /// A knob's value now.
    pub(super) fn value(&self, knob: usize) -> u64 {
        self.state.get(&knob).copied().unwrap_or(self.knobs[knob].range.old)
    }

    /// Rounded down, and up, to what a person writes.
    pub(super) fn floor(&self, value: u64) -> u64 {
        grid::floor(value, self.knobs[self.knob].digits())
    }

    pub(super) fn ceil(&self, value: u64) -> u64 {
        grid::ceil(value, self.knobs[self.knob].digits())
    }

    /// The value at so many parts in `of` of the way from one value to another, in steps that grow with the values.
    pub(super) fn between(&self, from: u64, to: u64, part: u64, of: u64) -> u64 {
        let digits = self.knobs[self.knob].digits();
        let (low, high) = (grid::rank(from, digits), grid::rank(to, digits));
        grid::value(
            if low <= high { low + (high - low) * part / of } else { low - (low - high) * part / of },
            digits,
        )
    }
}

/// The knobs of these kinds, in the order in which kinds are tried, then that of the text.
pub(super) fn knobs(network: &Network, settings: &Settings, kinds: &[Kind]) -> Vec<Knob> {
    let mut knobs = Vec::new();
    for kind in Kind::ALL.into_iter().filter(|kind| kinds.contains(kind)) {
        for (number, setting) in settings.list.iter().enumerate().filter(|(_, one)| Kind::of(one.key) == kind)
        {
            if let Some(range) = kind.tunable().range(network, setting) {
                knobs.push(Knob { setting: number, kind, range });
            }
        }
    }
    knobs
}
