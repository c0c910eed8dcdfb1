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

/// Most queues of a path; a longer one begins behind them, where its stream comes no later than its other bounds say.
const PATH_MAX: usize = 8;
/// Most rows of all programs of a network; those beyond are left out, and other bounds hold.
const ROWS_MAX: usize = 200_000;
/// Passages of streams through ports from which on only those to listeners have programs.
const PASSAGES_MAX: usize = 3_000;

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
    pub(crate) found: Found,
}

/// What a program says of all streams that take its path alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// From the first queue to the start of transmission at the last port.
    start: u64,
    /// Queues of the path that are in the tree.
    length: usize,
    /// Queues of the tree, variables, rows.
    size: (u32, u32, u32),
}

/// What a path is to its program, at a queue: port, class, smallest frame; least times to the queue and from it to the next node; greatest
/// ones of transmissions, from the queue to the next node and to the queue.
type OnPath = (u32, u8, u64, (i64, i64), ((u64, u64), Option<u64>, Option<i64>));

/// What all programs have in common.
struct Paths<'a, 'network> {
    analysis: &'a Analysis<'network>,
    /// Per port and class, the queues that serve in the order of arrival.
    queues: &'a BTreeMap<(u32, u8), Queue>,
    /// Per stream, whether all its frames come to all its listeners by its tree.
    whole: &'a [bool],
}

impl Analysis<'_> {
    /// Bounds the paths of all streams to each of their hops, if that is asked for, and all ports anew: a stream that comes sooner brings
    /// less at once. Ports come in the order in which they depend on one another; those of a cycle take what is known of the others.
    pub(crate) fn take_paths(&mut self) {
        let network = self.plan.network;
        let is_plain = self.plan.services.is_empty() && !self.plan.has_ways && network.srp.is_none();
        if self.accuracy != Accuracy::Paths || !is_plain {
            return;
        }
        let whole = self.whole_streams();
        let mut queues = BTreeMap::new();
        self.by_paths = vec![None; self.plan.entries.len()];
        let are_few = self.plan.entries.len() <= PASSAGES_MAX;
        let mut left = ROWS_MAX;
        let components = std::mem::take(&mut self.plan.components);
        for component in &components {
            for port in &component.ports {
                self.take_queues(*port, &mut queues);
            }
            let paths = Paths { analysis: self, queues: &queues, whole: &whole };
            let mut known = BTreeMap::new();
            let is_asked = |entry: &&u32| are_few || self.is_end(**entry);
            let entries = component.ports.iter().flat_map(|port| self.plan.at_port(*port)).filter(is_asked);
            let found: Vec<_> =
                entries.map(|entry| (*entry, paths.bound(*entry, &mut known, &mut left))).collect();
            for (entry, bound) in found {
                let Some(bound) = bound else { continue };
                let passage = &mut self.passages[entry as usize];
                passage.next_max = passage.next_max.map(|end| end.min(bound.end));
                self.by_paths[entry as usize] = Some(bound);
            }
        }
        self.plan.components = components;
    }

    /// Whether a listener is behind an entry.
    fn is_end(&self, number: u32) -> bool {
        let stream = self.plan.entries[number as usize].stream;
        let hop = (number - self.plan.first_entry[stream as usize]) as usize;
        self.plan.stream(stream).hops[hop].listener.is_some()
    }

    /// Bounds a port anew, and takes its queues that serve in the order of arrival.
    fn take_queues(&mut self, port: u32, queues: &mut BTreeMap<(u32, u8), Queue>) {
        if self.plan.at_port(port).is_empty() {
            return;
        }
        let mut state = PortState::default();
        self.evaluate(port, &mut state);
        for class in 0..8_u8 {
            if let Some(queue) = Queue::of(self, &state, port, class) {
                queues.insert((port, class), queue);
            }
        }
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
    /// What programs say of a stream, in words: at each hop up to which one gave the bound.
    pub(crate) fn path_notes(&self, stream: u32) -> Vec<String> {
        let network = self.plan.network;
        let time = |ps: u64| Duration::from_ps(ps);
        let name = |entry: u32| {
            let port = &network.ports[self.plan.entries[entry as usize].port as usize];
            format!("{}.{}", network.nodes[port.node.index()].name, port.name)
        };
        let note = |entry: u32| {
            let path = self.by_path(entry as usize).filter(|_| self.is_given_by_path(entry as usize))?;
            let (queues, variables, rows) = path.found.size;
            Some(format!(
                "up to the end of {}: {} by the linear program of its path: {} to the queue of {}, {} to the start, {} on the line; \
                 {queues} queues, {variables} variables, {rows} rows ({FORMULA}; {SOURCE})",
                name(entry),
                time(path.end),
                time(path.ready),
                name(path.first),
                time(path.found.start),
                time(path.end - path.ready - path.found.start),
            ))
        };
        self.plan.entries_of(stream).filter_map(note).collect()
    }
}

impl Paths<'_, '_> {
    /// The bound of the longest path that ends at an entry; none if it has one queue alone. `known` are those of other paths there,
    /// `left` the rows that programs may still have.
    fn bound(
        &self,
        last: u32,
        known: &mut BTreeMap<Vec<OnPath>, Option<Found>>,
        left: &mut usize,
    ) -> Option<PathBound> {
        let plan = &self.analysis.plan;
        let path: Vec<u32> = self.path(last).collect();
        if path.len() == 1 {
            return None;
        }
        let on_path = |number: &u32| {
            let entry = &plan.entries[*number as usize];
            let (passage, arriving) =
                (&self.analysis.passages[*number as usize], &self.analysis.arrivals[*number as usize]);
            let least = (entry.queue_min, entry.next_min - entry.ready_min);
            let most = (entry.transmission_max, passage.sending_max, arriving.queue_max);
            (entry.port, entry.class, entry.wire_min(), least, most)
        };
        let found = *known.entry(path.iter().map(on_path).collect()).or_insert_with(|| {
            let tree = Tree::of(self, last)?;
            let (start, variables, rows) = cuts::start_max(self, &tree, left)?;
            let size = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
            Some(Found {
                start,
                length: tree.path_length(),
                size: (size(tree.vertices.len()), size(variables), size(rows)),
            })
        });
        let found = found?;
        let first = path[found.length - 1];
        let ready = self.analysis.arrivals[first as usize].ready_max?;
        let (small, large) = plan.entries[last as usize].transmission_max;
        let end = ready.checked_add(found.start)?.checked_add(small.max(large))?;
        Some(PathBound { end, first, ready, found })
    }

    /// The entries of the longest path that ends at one, the last first.
    fn path(&self, last: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(last), move |entry| self.followed(*entry, *entry == last)).take(PATH_MAX)
    }

    /// The entry before one, if its stream can be followed from there: none of its frames is lost on the way, held by a scheduler or sent
    /// on before its last bit, and none is changed; at the last queue of a path (`is_last`) a tag may go.
    fn followed(&self, number: u32, is_last: bool) -> Option<u32> {
        let analysis = self.analysis;
        let entry = &analysis.plan.entries[number as usize];
        if entry.previous == NONE || !self.whole[entry.stream as usize] {
            return None;
        }
        let (before, arriving) =
            (&analysis.plan.entries[entry.previous as usize], &analysis.arrivals[number as usize]);
        let is_same =
            entry.tagged == before.tagged || (is_last && entry.tagged.octets() <= before.tagged.octets());
        let is_plain = !arriving.scheduled && arriving.policed.is_none() && entry.cut.is_none();
        let is_known = arriving.queue_max.is_some()
            && analysis.passages[entry.previous as usize].sending_max.is_some()
            && self.queues.contains_key(&(before.port, before.class));
        (is_same && is_plain && is_known).then_some(entry.previous)
    }
}
