//! A description with gates and offsets of a schedule written into it.
//!
//! [`Grammar::with_gates`] writes them for the start of a run, [`Grammar::with_change`] as `events` of one.
//! Only `gate-parameter-table` of ports whose gates are other ones and `offset` of traffic change, and ports that links
//! make are listed where one of them needs gates; all else stays as it was written. Not here: finding the schedule
//! (`tautwire-synthesis`).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tautwire_units::{Duration, Instant};

use super::{GateParameters, Operation, PortGates};
use crate::grammar::Grammar;
use crate::network::{Network, NodeIndex, Port, PortIndex, Stream, StreamIndex, Traffic};
use crate::settings::place_in;
use crate::text::faults::Faults;
use crate::text::tree::{self, Node, Value};

/// Keys of a table of gates that a schedule writes.
const WRITTEN: [&str; 4] = ["gate-enabled", "admin-base-time", "admin-cycle-time", "admin-control-list"];

/// A change of lists in a run, for streams that start behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateChange {
    /// When the lists are set.
    pub at: Duration,
    /// The list of each port that gets another one; its base time is when it begins, on the clock of the node.
    pub lists: Vec<(PortIndex, GateParameters)>,
    /// When the talkers of the streams start.
    pub start: Duration,
    /// The streams, with their offsets.
    pub streams: Vec<(StreamIndex, Duration)>,
}

/// Texts by the octets that they replace; at one place there is one.
#[derive(Default)]
struct Edits(BTreeMap<(usize, usize), String>);

impl Edits {
    fn over(&mut self, (start, end): (usize, usize), text: String) -> Option<()> {
        match self.0.insert((start, end), text.clone()) {
            // A value behind an anchor has one text.
            Some(other) if other != text => None,
            _ => Some(()),
        }
    }

    /// Adds a key to a mapping.
    fn add(&mut self, text: &str, mapping: &Node<'_>, key: &str) -> Option<()> {
        let (at, before, after) = place_in(text, mapping)?;
        self.over((at, at), format!("{before}{key}{after}"))
    }

    fn made(&self, text: &str) -> Option<String> {
        let (mut made, mut copied) = (String::with_capacity(text.len()), 0);
        for ((start, end), new) in &self.0 {
            made.push_str(text.get(copied..*start)?);
            made.push_str(new);
            copied = *end;
        }
        made.push_str(text.get(copied..)?);
        Some(made)
    }
}

impl Grammar {
    /// The description `text` (whose path is `name`) with the gates and offsets of `network`, which must be the
    /// described network except for these. None if a part is in a form that cannot be rewritten: in a table of streams,
    /// or as an alias that others share.
    #[must_use]
    pub fn with_gates(&'static self, name: &str, text: &str, network: &Network) -> Option<String> {
        let described = self.load_text(name, text).network?;
        let mut faults = Faults::default();
        let root = tree::read(0, text, &mut faults);
        let mut edits = Edits::default();
        for number in 0..network.nodes.len() {
            edits.node(text, &root, (&described, network), NodeIndex::at(number))?;
        }
        let listed = root.get("streams").map_or(&[][..], Node::items);
        let nodes: BTreeMap<&str, &Node<'_>> =
            listed.iter().filter_map(|node| Some((node.get("name")?.text()?, node))).collect();
        for (before, after) in described.streams.iter().zip(&network.streams) {
            if before.traffic != after.traffic || before.open_phase != after.open_phase {
                edits.offset(text, nodes.get(after.name.as_str())?, after)?;
            }
        }
        let made = edits.made(text)?;
        // A text that cannot be read back with the same result is not returned.
        (self.load_text(name, &made).network? == *network).then_some(made)
    }
}

impl Grammar {
    /// The description `text` (whose path is `name`) of a network with a change of lists in its events: streams that start behind it do
    /// not run before. None if a part is in a form that cannot be rewritten.
    #[must_use]
    pub fn with_change(
        &'static self,
        name: &str,
        text: &str,
        network: &Network,
        change: &GateChange,
    ) -> Option<String> {
        let mut faults = Faults::default();
        let root = tree::read(0, text, &mut faults);
        let mut edits = Edits::default();
        let listed = root.get("streams").map_or(&[][..], Node::items);
        let stream_of =
            |named: &str| listed.iter().find(|node| node.get("name").and_then(Node::text) == Some(named));
        let mut events = Vec::new();
        for (port, parameters) in &change.lists {
            let port = &network.ports[port.index()];
            let node = &network.nodes[port.node.index()].name;
            let list = list(parameters, "          ");
            events.push(format!(
                "{{at: {}, change-gates: {{port: \"{node}:{}\", {list}}}}}",
                change.at, port.name
            ));
        }
        for (stream, offset) in &change.streams {
            let stream = &network.streams[stream.index()];
            let place = stream_of(&stream.name)?;
            edits.offset_of(text, place, *offset)?;
            match place.get("started").map(Node::text) {
                None => edits.add(text, place, "started: false")?,
                Some(Some("false")) => (),
                Some(_) => return None,
            }
            events.push(format!("{{at: {}, start-stream: {}}}", change.start, stream.name));
        }
        edits.events(text, &root, &events)?;
        let made = edits.made(text)?;
        let again = self.load_text(name, &made).network?;
        (again.events.len() == network.events.len() + events.len()).then_some(made)
    }
}

impl Edits {
    /// Further events.
    fn events(&mut self, text: &str, root: &Node<'_>, events: &[String]) -> Option<()> {
        let lines =
            |indent: &str| -> String { events.iter().map(|event| format!("{indent}- {event}\n")).collect() };
        let Some(first) = root.get("events").map(Node::items).and_then(<[Node<'_>]>::first) else {
            let end = text.len();
            let before = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            return root
                .get("events")
                .is_none()
                .then(|| format!("{before}events:\n{}", lines("  ")))
                .and_then(|all| self.over((end, end), all));
        };
        let start = first.place.start as usize;
        let line = text.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
        let before = text.get(line..start)?;
        if before.trim() == "-" {
            let indent = &before[..before.find('-')?];
            self.over((line, line), lines(indent))
        } else {
            // In brackets.
            self.over((start, start), events.iter().map(|event| format!("{event}, ")).collect())
        }
    }

    /// The gates of the ports of a node.
    fn node(
        &mut self,
        text: &str,
        root: &Node<'_>,
        (described, network): (&Network, &Network),
        number: NodeIndex,
    ) -> Option<()> {
        let node = &network.nodes[number.index()];
        let range = node.ports.start as usize..node.ports.end as usize;
        let (before, after) = (&described.ports[range.clone()], &network.ports[range]);
        let changed = |(before, after): &(&Port, &Port)| before.gates != after.gates;
        if !before.iter().zip(after).any(|pair| changed(&pair)) {
            return Some(());
        }
        let place = root.get("nodes")?.get(&node.name)?;
        let ports = place.get("ports");
        if let Some(Node { value: Value::Map(_), .. }) = ports {
            for (_, port) in before.iter().zip(after).filter(changed) {
                self.port(text, ports?.get(&port.name)?, port)?;
            }
            return Some(());
        }
        // All of them in order, as links make them or a list names them.
        let mut all = Vec::new();
        let indent = indent(text, place.anchor().start as usize);
        for (before, after) in before.iter().zip(after) {
            let table = match &after.gates {
                Some(gates) if before.gates != after.gates => {
                    format!("{{gate-parameter-table: {}}}", table(gates, "", &indent))
                }
                _ => "{}".to_owned(),
            };
            all.push(format!("{}: {table}", after.name));
        }
        let all = format!("{{\n{indent}{}}}", all.join(&format!(",\n{indent}")));
        match ports {
            Some(list) => self.over((list.place.start as usize, list.own_end()), all),
            None => self.add(text, place, &format!("ports: {all}")),
        }
    }

    /// The gates of a port that has an entry.
    fn port(&mut self, text: &str, place: &Node<'_>, port: &Port) -> Option<()> {
        let gates = port.gates.as_deref()?;
        let indent = indent(text, place.anchor().start as usize);
        let Some(stated) = place.get("gate-parameter-table") else {
            let key = format!("gate-parameter-table: {}", table(gates, "", &indent));
            return match &place.value {
                Value::Map(entries) if !entries.is_empty() => self.add(text, place, &key),
                Value::Map(_) => {
                    self.over((place.place.start as usize, place.own_end()), format!("{{{key}}}"))
                }
                _ => None,
            };
        };
        let mut kept = String::new();
        for (key, value) in stated.entries().iter().filter(|(key, _)| !WRITTEN.contains(&&*key.text)) {
            let value = text.get(value.place.start as usize..value.own_end())?;
            // A value in lines of its own does not go into brackets.
            let is_in_line = !value.contains('\n') || value.starts_with(['{', '[']);
            let _ = write!(kept, "{}: {}, ", key.text, is_in_line.then_some(value)?);
        }
        let new = table(gates, &kept, &indent);
        self.over((stated.place.start as usize, stated.own_end()), new)
    }

    fn offset(&mut self, text: &str, place: &Node<'_>, stream: &Stream) -> Option<()> {
        let Traffic::Periodic { offset, .. } = stream.traffic else { return None };
        self.offset_of(text, place, offset)
    }

    fn offset_of(&mut self, text: &str, place: &Node<'_>, offset: Duration) -> Option<()> {
        let traffic = place.get("traffic")?;
        match traffic.get("offset") {
            Some(stated) => {
                self.over((stated.place.start as usize, stated.place.end as usize), offset.to_string())
            }
            None => self.add(text, traffic, &format!("offset: {offset}")),
        }
    }
}

/// The white space before what continues a line.
fn indent(text: &str, at: usize) -> String {
    let line = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let spaces = text[line..].chars().take_while(|one| matches!(one, ' ' | '-')).count();
    " ".repeat(spaces + 4)
}

/// A table of gates, an entry of the list a line.
fn table(gates: &PortGates, kept: &str, indent: &str) -> String {
    format!("{{{kept}gate-enabled: true, {}}}", list(&gates.parameters, indent))
}

/// The keys of a list, an entry a line.
fn list(parameters: &GateParameters, indent: &str) -> String {
    let mut text = format!(
        "admin-base-time: {}, admin-cycle-time: {},\n{indent}admin-control-list: [",
        parameters.base_time.since(Instant::ZERO),
        parameters.cycle_time.floor()
    );
    for (number, entry) in parameters.control_list.iter().enumerate() {
        let open: Vec<String> = (0..8)
            .filter(|class| entry.gate_states >> class & 1 == 1)
            .map(|class| class.to_string())
            .collect();
        let operation = match entry.operation {
            Operation::SetGateStates => "",
            Operation::SetAndHoldMac => "operation: set-and-hold-mac, ",
            Operation::SetAndReleaseMac => "operation: set-and-release-mac, ",
        };
        let comma = if number == 0 { "" } else { "," };
        let _ = write!(
            text,
            "{comma}\n{indent}  {{{operation}gate-states: [{}], time-interval: {}}}",
            open.join(", "),
            entry.time_interval
        );
    }
    text.push(']');
    text
}
