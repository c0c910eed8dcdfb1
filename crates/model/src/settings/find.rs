//! The settings of a description that is resolved: each value that counts somewhere, once.

use std::collections::{BTreeMap, HashMap};

use tautwire_core::TrafficClass;

use super::{Setting, SettingKey, Written, write};
use crate::network::{PortIndex, StreamIndex, TransmissionSelection};
use crate::resolve::Resolved;
use crate::text::tree::{Node, Place, Value};

/// Number of the description's own text.
const MAIN: u32 = 0;

pub(super) fn settings(of: &Resolved<'_, '_>, text: &str) -> Vec<Setting> {
    let mut paths = HashMap::new();
    name_places(&of.draft.root, "", &mut paths);
    let mut found = Found { text, paths, list: BTreeMap::new() };
    found.ports(of);
    found.streams(of);
    found.list.into_values().collect()
}

/// The keys that lead to each scalar.
fn name_places(node: &Node<'_>, path: &str, paths: &mut HashMap<Place, String>) {
    let under = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match &node.value {
        Value::Map(entries) => {
            entries.iter().for_each(|(key, value)| name_places(value, &under(&key.text), paths))
        }
        Value::List(items) => {
            for (number, item) in items.iter().enumerate() {
                let name = item.get("name").and_then(Node::text).map(str::to_owned);
                name_places(item, &under(&name.unwrap_or_else(|| number.to_string())), paths);
            }
        }
        // The first way to a value behind an anchor is its own.
        _ => drop(paths.entry(node.place).or_insert_with(|| path.to_owned())),
    }
}

struct Found<'a> {
    text: &'a str,
    paths: HashMap<Place, String>,
    /// By their places, and so in the order of the text.
    list: BTreeMap<(usize, SettingKey, Written), Setting>,
}

impl Found<'_> {
    fn ports(&mut self, of: &Resolved<'_, '_>) {
        for (number, (port, extra)) in of.topology.ports.iter().zip(&of.topology.extras).enumerate() {
            if port.links.is_none() {
                continue;
            }
            let node = &of.topology.nodes[port.node.index()].name;
            for class in TrafficClass::all() {
                let at = (PortIndex::at(number), class);
                let (settings, places) = (&port.classes[class.index()], &extra.places);
                if let TransmissionSelection::CreditBased { .. } = settings.selection
                    && let Some(setting) =
                        self.stated(SettingKey::IdleSlope, places.idle_slopes[class.index()])
                {
                    setting.classes.push(at);
                }
                for (key, place) in [
                    (SettingKey::QueueFrames, places.frames[class.index()]),
                    (SettingKey::QueueOctets, places.limits[class.index()]),
                ] {
                    let setting = match place.filter(|place| place.source == MAIN) {
                        Some(place) => self.stated(key, Some(place)),
                        None => self.limit_of_node(of, node, key),
                    };
                    if let Some(setting) = setting {
                        setting.classes.push(at);
                    }
                }
            }
        }
    }

    /// A limit of all queues of a node, where none is stated.
    fn limit_of_node(&mut self, of: &Resolved<'_, '_>, name: &str, key: SettingKey) -> Option<&mut Setting> {
        let node = of.draft.root.get("nodes")?.get(name)?;
        let (at, before, after) = match node.get("queue-limit") {
            Some(limit) if limit.get(key.name()).is_some() => return None,
            Some(limit) => write::place_in(self.text, limit)?,
            None => {
                let (at, before, after) = write::place_in(self.text, node)?;
                (at, format!("{before}queue-limit: {{"), format!("}}{after}"))
            }
        };
        let path = format!("nodes.{name}.queue-limit.{}", key.name());
        Some(self.kept(key, Written::Added(at, before, after), path, None))
    }

    fn streams(&mut self, of: &Resolved<'_, '_>) {
        for (number, draft) in of.streams.list.iter().enumerate() {
            // Streams that a protocol's section makes have none of their own.
            if draft.node.get("name").and_then(Node::text) != Some(&draft.stream.name) {
                continue;
            }
            let stream = StreamIndex::at(number);
            let shaper = |key: SettingKey| Some(draft.node.get("shaper")?.get(key.name())?.place);
            for key in [SettingKey::CommittedInformationRate, SettingKey::CommittedBurstSize] {
                if let Some(setting) = self.stated(key, shaper(key)) {
                    setting.streams.push(stream);
                }
            }
            let setting = match draft.node.get("priority") {
                Some(node) => self.stated(SettingKey::Priority, Some(node.place)),
                None => self.priority(draft.node, &draft.stream.name),
            };
            if let Some(setting) = setting {
                setting.streams.push(stream);
            }
        }
    }

    /// A priority of a stream, where none is stated.
    fn priority(&mut self, node: &Node<'_>, name: &str) -> Option<&mut Setting> {
        if node.place.source != MAIN {
            return None;
        }
        let (at, before, after) = write::place_in(self.text, node)?;
        let path = format!("streams.{name}.priority");
        Some(self.kept(SettingKey::Priority, Written::Added(at, before, after), path, None))
    }

    /// A value at a place of the text; none if it is not in the text (but in a table, or a trace).
    fn stated(&mut self, key: SettingKey, place: Option<Place>) -> Option<&mut Setting> {
        let place = place.filter(|place| place.source == MAIN)?;
        // The path shows that there is a key of this name; a value that was taken from elsewhere has none.
        let path = self.paths.get(&place).filter(|path| path.ends_with(key.name()))?.clone();
        let (start, end) = (place.start as usize, place.end as usize);
        let stated = self.text.get(start..end)?.to_owned();
        Some(self.kept(key, Written::Over((start, end)), path, Some(stated)))
    }

    fn kept(
        &mut self,
        key: SettingKey,
        place: Written,
        path: String,
        stated: Option<String>,
    ) -> &mut Setting {
        let (Written::Over((at, _)) | Written::Added(at, ..)) = place;
        let line = self.text[..at].matches('\n').count() + 1;
        self.list.entry((at, key, place.clone())).or_insert_with(|| Setting {
            key,
            path,
            line,
            stated,
            classes: Vec::new(),
            streams: Vec::new(),
            place,
        })
    }
}
