//! What a section of a mechanism sees of the network that is being made, and what it may add to it.

use super::control_frames::ControlFrames;
use super::events::Event;
use super::exclusive::{self, Exclusive};
use super::streams::Streams;
use super::topology::Topology;
use crate::network::{Node as NetworkNode, NodeIndex, Port, PortIndex, StreamIndex, TimelineAction};
use crate::parse::Draft;
use crate::section::Sections;
use crate::text::codes;
use crate::text::faults::Faults;
use crate::text::tree::{Key, Node, Place};

/// A network on its way: its nodes and ports are there, and the streams of its description.
pub struct Resolving<'d, 't, 'a> {
    input: &'a Draft<'t>,
    topology: &'d Topology<'a>,
    events: &'d [Event],
    streams: &'d mut Streams<'t, 'a>,
    /// The classes that each port keeps for frames of one mechanism.
    exclusive: &'d [Exclusive],
    faults: &'d mut Faults,
}

impl std::fmt::Debug for Resolving<'_, '_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resolving").field("nodes", &self.topology.nodes.len()).finish_non_exhaustive()
    }
}

/// Resolves the sections that the description has.
pub(crate) fn sections<'t, 'a>(
    input: &'a Draft<'t>,
    topology: &Topology<'a>,
    events: &[Event],
    streams: &mut Streams<'t, 'a>,
    faults: &mut Faults,
) -> Sections {
    let mut sections = Sections::default();
    let exclusive = &exclusive::of_ports(input, topology, streams)[..];
    for section in input.grammar.sections() {
        let key = section.key().name;
        let Some(node) = input.root.get(key) else { continue };
        let mut draft = Resolving { input, topology, events, streams, exclusive, faults };
        if let Some(value) = section.resolve(node, &mut draft) {
            sections.add(key, value);
        }
    }
    sections
}

impl Resolving<'_, '_, '_> {
    /// The nodes.
    #[must_use]
    pub fn nodes(&self) -> &[NetworkNode] {
        &self.topology.nodes
    }

    /// The ports of all nodes.
    #[must_use]
    pub fn ports(&self) -> &[Port] {
        &self.topology.ports
    }

    /// The node of a key; one that is not there is a fault.
    pub fn node(&mut self, key: &Key<'_>) -> Option<NodeIndex> {
        self.topology.node(&key.text, key.place, self.faults)
    }

    /// The port of a node; one that is not there is a fault.
    pub fn port(&mut self, node: NodeIndex, key: &Key<'_>) -> Option<PortIndex> {
        let found = self.topology.port_named(node, &key.text);
        if found.is_none() {
            let message = format!("`{}` has no port `{}`", self.topology.nodes[node.index()].name, key.text);
            self.faults.error(codes::UNKNOWN_PORT, key.place, message, "name one of its ports");
        }
        found
    }

    /// The value of another key of the description.
    #[must_use]
    pub fn other(&self, key: &str) -> Option<&Node<'_>> {
        self.input.root.get(key)
    }

    /// How often a node comes back in the run, so that what a protocol does there begins anew.
    #[must_use]
    pub fn returns(&self, node: NodeIndex) -> u64 {
        let is_return = |event: &&Event| event.timeline.action == TimelineAction::StartNode(node);
        self.events.iter().filter(is_return).count() as u64
    }

    /// Adds the stream of the frames that a port sends to its neighbour; none, and a fault at `place`, if the port
    /// shapes that priority, or keeps its class for frames of another mechanism.
    ///
    /// # Panics
    /// If the port has no cable.
    pub fn send_to_neighbour(
        &mut self,
        port: PortIndex,
        frames: &ControlFrames,
        place: Place,
    ) -> Option<StreamIndex> {
        if self.topology.shapes(port, frames.priority) {
            let message = format!(
                "the class of {} frames is shaped at {}",
                frames.protocol,
                self.topology.port_name(port)
            );
            let help =
                format!("give `{}` a `priority` whose class is `strict-priority` there", frames.protocol);
            self.faults.error(codes::CONFLICT, place, message, help);
            return None;
        }
        let class = self.topology.ports[port.index()].class_table.class_of(frames.priority, true);
        let kept = self.exclusive[port.index()];
        if !kept.is_free(class) {
            let at = self.topology.port_name(port);
            let (what, help) = if kept.has_free() {
                let help = format!("give `{}` a `priority` of a lower class there", frames.protocol);
                (format!("class {class} of {at}"), help)
            } else {
                (at, "remove one of the two".to_owned())
            };
            let message = format!(
                "frames of `{}` at {what}, which `{}` keeps for its own",
                frames.protocol, kept.owner
            );
            self.faults.error(codes::CONFLICT, place, message, help);
            return None;
        }
        let stream = StreamIndex::at(self.streams.list.len() + self.streams.protocol.len());
        self.streams.protocol.push(frames.to_neighbour(self.topology, port));
        Some(stream)
    }

    /// Adds an error: two keys exclude each other.
    pub fn conflict(&mut self, place: Place, message: String, help: &str) {
        self.faults.error(codes::CONFLICT, place, message, help);
    }

    /// Adds a warning: a key changes nothing.
    pub fn no_effect(&mut self, place: Place, message: String, help: &str) {
        self.faults.warning(codes::NO_EFFECT, place, message, help);
    }
}
