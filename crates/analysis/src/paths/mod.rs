//! Bounds of paths by linear programs: a burst counts once on a path, and not again at every port.
//!
//! The delay of one frame over several FIFO queues is bounded as a whole. Unknown are instants (when the frame, and those that decide how
//! long it waits, come to each queue) and how many bits of each group of streams come between two of them. What curves, links and
//! services of the queues say about them is linear, so the greatest delay is the maximum of a linear program (`cuts.rs`), over the tree of
//! the queues before the last one (`tree.rs`). Everything is in frames and not in bits: a frame goes on when its last bit has come.
//! Sources: Bouillard and Stea, Exact worst-case delay in FIFO-multiplexing feed-forward networks, IEEE/ACM Transactions on Networking 23,
//! 2015; Bouillard, Trade-off between accuracy and tractability of network calculus in FIFO networks, Performance Evaluation 153, 2022.
//!
//! A program is solved in floating point, and its bound is proven in whole numbers (`tautwire-program`).
//!
//! Streams are followed from queue to queue only if none of their frames is lost, turned aside or overtaken there. All others count with
//! their curves where they come in. Not here: bounds of one port (`port.rs`).

mod cuts;
mod queue;
mod tree;

use std::collections::BTreeMap;

use tautwire_model::network::StreamIndex;
use tautwire_units::Duration;

use self::queue::Queue;
use self::tree::Tree;
use crate::accuracy::Accuracy;
use crate::analysis::Analysis;
use crate::loss::{losses, stated_failures};
use crate::plan::NONE;
use crate::port_state::PortState;

/// The formula of the bound, and where it is from.
const FORMULA: &str = "every burst counts once, at most what links and queues let through";
const SOURCE: &str = "Bouillard and Stea 2015; Bouillard 2022; with frames kept whole";

/// What the program of a path says of the stream that takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathBound {
    /// From the application to the last bit at the node behind the path, greatest.
    pub(crate) end: u64,
    /// The entry at which the path begins, and how long after the application the stream comes to its queue there, greatest.
    pub(crate) first: u32,
    pub(crate) ready: u64,
    /// From there to the start of transmission at its last port.
    pub(crate) start: u64,
    /// Queues of the tree, variables, rows.
    pub(crate) queues: u32,
    pub(crate) variables: u32,
    pub(crate) rows: u32,
}

/// What all programs have in common.
struct Paths<'a, 'network> {
    analysis: &'a Analysis<'network>,
    /// Per port and class, the queues that serve in the order of arrival.
    queues: BTreeMap<(u32, u8), Queue>,
    /// Per stream, whether all its frames come to all its listeners by its tree.
    whole: Vec<bool>,
}

impl Analysis<'_> {
    /// Bounds the paths of all streams to their listeners, if that is asked for.
    pub(crate) fn take_paths(&mut self) {
        let network = self.plan.network;
        let is_plain = self.plan.services.is_empty() && !self.plan.has_ways && network.srp.is_none();
        if self.accuracy != Accuracy::Paths || !is_plain {
            return;
        }
        let queues = self.queues();
        let whole = self.whole_streams();
        let paths = Paths { analysis: self, queues, whole };
        let mut found = vec![None; self.plan.entries.len()];
        for (number, stream) in network.streams.iter().enumerate() {
            let first = self.plan.first_entry[number] as usize;
            let ends = stream.hops.iter().enumerate().filter(|(_, hop)| hop.listener.is_some());
            for entry in ends.map(|(hop, _)| first + hop) {
                found[entry] = paths.bound(crate::plan::index(entry));
            }
        }
        self.by_paths = found;
    }

    /// The queues that serve in the order of arrival.
    fn queues(&mut self) -> BTreeMap<(u32, u8), Queue> {
        let mut queues = BTreeMap::new();
        for port in 0..crate::plan::index(self.plan.ports.len()) {
            if self.plan.at_port(port).is_empty() {
                continue;
            }
            let mut state = PortState::default();
            self.evaluate(port, &mut state);
            for class in 0..8_u8 {
                if let Some(queue) = Queue::of(self, &state, port, class) {
                    queues.insert((port, class), queue);
                }
            }
        }
        queues
    }

    /// Per stream, whether all its frames come to all its listeners by its tree.
    fn whole_streams(&self) -> Vec<bool> {
        let network = self.plan.network;
        let (losses, failures) = (losses(network, &self.bounds()), stated_failures(network));
        let is_whole = |number: usize| {
            let stream = &network.streams[number];
            !stream.learned
                && stream.virtual_link.is_none()
                && (0..stream.listeners.len())
                    .all(|listener| losses.at(StreamIndex::at(number), listener).is_empty())
                && failures[number].iter().all(Vec::is_empty)
        };
        (0..network.streams.len()).map(is_whole).collect()
    }
}

impl Analysis<'_> {
    /// What programs say of the paths of a stream to its listeners, in words.
    pub(crate) fn path_notes(&self, stream: u32) -> Vec<String> {
        let (network, described) = (self.plan.network, self.plan.stream(stream));
        let first = self.plan.first_entry[stream as usize] as usize;
        let ends = described.hops.iter().enumerate();
        let ends = ends.filter_map(|(hop, end)| Some((hop, end.listener?, self.by_path(first + hop)?)));
        let time = |ps: u64| Duration::from_ps(ps);
        let note = |(hop, listener, path): (usize, u32, &PathBound)| {
            let name = |entry: usize| {
                let port = &network.ports[self.plan.entries[entry].port as usize];
                format!("{}.{}", network.nodes[port.node.index()].name, port.name)
            };
            format!(
                "to {}: {} by the linear program of its path: {} to the queue of {}, {} to the start at {}, {} on the line; {} queues, \
                 {} variables, {} rows ({FORMULA}; {SOURCE})",
                network.nodes[described.listeners[listener as usize].index()].name,
                time(path.end),
                time(path.ready),
                name(path.first as usize),
                time(path.start),
                name(first + hop),
                time(path.end - path.ready - path.start),
                path.queues,
                path.variables,
                path.rows,
            )
        };
        ends.map(note).collect()
    }
}

impl Paths<'_, '_> {
    /// The bound of the longest path that ends at an entry; none if it has one queue alone.
    fn bound(&self, last: u32) -> Option<PathBound> {
        let tree = Tree::of(self, last)?;
        let first = tree.first_entry();
        let ready = self.analysis.arrivals[first as usize].ready_max?;
        let (start, variables, rows) = cuts::start_max(self, &tree)?;
        let entry = &self.analysis.plan.entries[last as usize];
        let sent = entry.transmission_max.0.max(entry.transmission_max.1);
        let size = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Some(PathBound {
            end: ready.checked_add(start)?.checked_add(sent)?,
            first,
            ready,
            start,
            queues: size(tree.vertices.len()),
            variables: size(variables),
            rows: size(rows),
        })
    }

    /// The entry before one, if its stream can be followed from there: none of its frames is lost on the way, changed, held by a
    /// scheduler or sent on before its last bit.
    fn followed(&self, number: u32) -> Option<u32> {
        let analysis = self.analysis;
        let entry = &analysis.plan.entries[number as usize];
        if entry.previous == NONE || !self.whole[entry.stream as usize] {
            return None;
        }
        let (before, arriving) =
            (&analysis.plan.entries[entry.previous as usize], &analysis.arrivals[number as usize]);
        let is_same = (before.tagged, before.frame_min, before.frame_max)
            == (entry.tagged, entry.frame_min, entry.frame_max);
        let is_plain = !arriving.scheduled && arriving.policed.is_none() && entry.cut.is_none();
        let is_known = arriving.queue_max.is_some()
            && analysis.passages[entry.previous as usize].sending_max.is_some()
            && self.queues.contains_key(&(before.port, before.class));
        (is_same && is_plain && is_known).then_some(entry.previous)
    }
}
