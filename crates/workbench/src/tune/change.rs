//! The changes of a description, in words.

use std::fmt::Write as _;

use tautwire_model::Network;
use tautwire_model::settings::{Setting, Settings};

use super::knob::{Kind, Knob};
use super::trial::State;

/// Ports or streams that are named; further ones are counted.
const NAMED: usize = 2;

/// A value that has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What it is.
    pub kind: Kind,
    /// The keys that lead to it: `nodes.bridge.classes.5.idle-slope`.
    pub path: String,
    /// Its line in the description as it was.
    pub line: usize,
    /// The ports and class, or the streams, that it holds for.
    pub at: String,
    /// The value as it was; none if it was a default.
    pub old: Option<String>,
    /// The value that counted before, in the same words as the new one.
    pub was: String,
    /// The new value.
    pub new: String,
}

impl Change {
    /// Its value before, for people.
    #[must_use]
    pub fn before(&self) -> String {
        self.old.clone().unwrap_or_else(|| format!("{} (default)", self.was))
    }
}

/// The changes of a state, in the order of the text.
pub(super) fn changes(network: &Network, settings: &Settings, knobs: &[Knob], state: &State) -> Vec<Change> {
    let mut changed: Vec<(usize, Change)> = Vec::new();
    for (knob, value) in state {
        let knob = &knobs[*knob];
        let setting = &settings.list[knob.setting];
        let change = Change {
            kind: knob.kind,
            path: setting.path.clone(),
            line: setting.line,
            at: place(network, setting),
            old: setting.stated.clone(),
            was: knob.range.unit.written(knob.range.old),
            new: knob.range.unit.written(*value),
        };
        changed.push((knob.setting, change));
    }
    changed.sort_by_key(|(setting, _)| *setting);
    changed.into_iter().map(|(_, change)| change).collect()
}

/// `bridge.p3 class 5`, `stream video`. Classes without traffic are left out.
fn place(network: &Network, setting: &Setting) -> String {
    let mut names: Vec<String> =
        setting.streams.iter().map(|stream| network.streams[stream.index()].name.clone()).collect();
    if !names.is_empty() {
        return format!("stream {}", few(&names));
    }
    for (port, class) in &setting.classes {
        let mut hops = network.streams.iter().flat_map(|stream| &stream.hops);
        if hops.any(|hop| hop.port == *port && hop.class == *class) {
            let port = &network.ports[port.index()];
            names.push(format!("{}.{} class {class}", network.nodes[port.node.index()].name, port.name));
        }
    }
    few(&names)
}

fn few(names: &[String]) -> String {
    let mut text = names[..names.len().min(NAMED)].join(", ");
    if names.len() > NAMED {
        let _ = write!(text, " and {} more", names.len() - NAMED);
    }
    text
}
