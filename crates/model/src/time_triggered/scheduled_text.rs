//! A description with the dispatch points of a schedule written into it.
//!
//! Only the values of `time-triggered:` of the streams change, each to one line; all else stays as it was written.
//! Not here: finding the points (`tautwire-synthesis`).

use crate::load_text;
use crate::network::{Network, Stream};
use crate::text::faults::Faults;
use crate::text::tree::{self, Node};

/// The description `text` (whose path is `name`) with the dispatch points of `network`, which must be the described
/// network except for these. None if a link is in a form that cannot be rewritten: in a table of streams, or as an
/// alias.
#[must_use]
pub fn with_dispatch_points(name: &str, text: &str, network: &Network) -> Option<String> {
    let mut faults = Faults::default();
    let root = tree::read(0, text, &mut faults);
    let streams = root.get("streams").map_or(&[][..], Node::items);
    let mut scheduled = String::with_capacity(text.len());
    let mut copied = 0;
    for stream in network.streams.iter().filter(|stream| stream.time_triggered.is_some()) {
        let named = |node: &&Node<'_>| node.get("name").and_then(Node::text) == Some(&stream.name);
        let node = streams.iter().find(named)?.get("time-triggered")?;
        let start = node.place.start as usize;
        scheduled.push_str(text.get(copied..start)?);
        scheduled.push_str(&link(text, node, network, stream)?);
        copied = node.own_end();
    }
    scheduled.push_str(text.get(copied..)?);
    // A text that cannot be read back with the same result is not returned.
    let read = load_text(name, &scheduled).network?;
    let points = |network: &Network| {
        let links = network.streams.iter().map(|stream| stream.time_triggered.clone());
        links.map(|link| link.map(|link| link.points)).collect::<Vec<_>>()
    };
    (points(&read) == points(network)).then_some(scheduled)
}

/// The value of `time-triggered:` with the points, in one line.
fn link(text: &str, node: &Node<'_>, network: &Network, stream: &Stream) -> Option<String> {
    let points = &stream.time_triggered.as_ref()?.points;
    let mut parts = Vec::new();
    for (key, value) in node.entries().iter().filter(|(key, _)| !matches!(&*key.text, "offset" | "points")) {
        parts.push(format!("{}: {}", key.text, text.get(value.place.start as usize..value.own_end())?));
    }
    parts.extend(points.first().map(|point| format!("offset: {}", point.offset)));
    let mut behind = Vec::new();
    for (hop, point) in stream.hops.iter().zip(points) {
        if hop.previous.is_some() {
            let port = &network.ports[hop.port.index()];
            let node = &network.nodes[port.node.index()].name;
            behind.push(format!("{{at: \"{node}:{}\", offset: {}}}", port.name, point.offset));
        }
    }
    if !behind.is_empty() {
        parts.push(format!("points: [{}]", behind.join(", ")));
    }
    Some(format!("{{{}}}", parts.join(", ")))
}
