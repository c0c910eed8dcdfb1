//! The tree of the queues before the last queue of a path: which streams come by which, and where they are no longer followed.
//!
//! The root is the last queue. Below a queue are those from which streams are followed to it; one that was passed already on the way to the
//! root is not entered again. The path of the observed stream is always in the tree, other queues as far as there is room, those near the
//! root first.

use std::collections::BTreeMap;

use super::Paths;
use crate::curve::Curve;
use crate::plan::OWN_LANE;
use crate::shared_link::Sum;

/// Most queues of a tree.
const QUEUES_MAX: usize = 24;
/// Most lines of the curve of a group.
const LINES_MAX: usize = 4;

/// A queue in the tree.
#[derive(Debug)]
pub(super) struct Vertex {
    /// Port and class.
    pub(super) queue: (u32, u8),
    /// The way to the queue that is nearer to the root; none for the root.
    pub(super) onward: Option<Onward>,
    /// The entry of the observed stream, on its path.
    pub(super) own: Option<u32>,
    /// The groups that pass it, by the lanes by which they come.
    pub(super) lanes: BTreeMap<u16, Vec<usize>>,
    /// How many bits longer frames may be on the links by which they come than behind it.
    pub(super) tag_bits: u64,
}

/// The way from a queue to the next one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Onward {
    /// The next queue, and the lane by which frames come to it.
    pub(super) to: usize,
    pub(super) lane: u16,
    /// Of all frames, and of the observed stream's on its path.
    pub(super) all: Way,
    pub(super) own: Option<Way>,
}

/// Times of frames from a queue to the next one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// From the start of transmission, greatest.
    pub(super) sent_max: u64,
    /// From queue to queue, least and greatest.
    pub(super) way_min: u64,
    pub(super) way_max: u64,
}

/// Streams that enter the tree at one queue by one lane, and leave it at one queue.
#[derive(Debug)]
pub(super) struct Group {
    /// The queue at which they enter.
    pub(super) enters: usize,
    /// Their arrivals there.
    pub(super) curve: Curve,
}

/// The tree; the root is first, and every queue comes behind that nearer to the root.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) vertices: Vec<Vertex>,
    pub(super) groups: Vec<Group>,
}

/// A queue whose entries are about to be followed.
struct Open {
    vertex: usize,
    /// Where the entries that go on to the next queue leave the tree; others leave it here.
    leaves: BTreeMap<u32, usize>,
}

impl Tree {
    /// The tree of the path that ends at an entry; none if the path has one queue alone.
    pub(super) fn of(paths: &Paths<'_, '_>, last: u32) -> Option<Self> {
        let plan = &paths.analysis.plan;
        let queue = |entry: u32| {
            let entry = &plan.entries[entry as usize];
            (entry.port, entry.class)
        };
        paths.queues.get(&queue(last))?;
        let root =
            Vertex { queue: queue(last), onward: None, own: Some(last), lanes: BTreeMap::new(), tag_bits: 0 };
        let mut tree = Self { vertices: vec![root], groups: Vec::new() };
        // The path first, so that it is complete whatever else there is.
        let length = paths.path(last).count();
        let room = QUEUES_MAX.saturating_sub(length);
        let mut open = vec![Open { vertex: 0, leaves: BTreeMap::new() }];
        let (mut next, mut branches) = (0, 0);
        while next < open.len() {
            let Open { vertex, leaves } =
                std::mem::replace(&mut open[next], Open { vertex: 0, leaves: BTreeMap::new() });
            next += 1;
            let (port, class) = tree.vertices[vertex].queue;
            let leaves_at = |entry: u32| leaves.get(&entry).copied().unwrap_or(vertex);
            let entries = plan.of_class(port, usize::from(class));
            let mut before: BTreeMap<(u32, u8), Vec<(u32, u32)>> = BTreeMap::new();
            for entry in entries {
                if let Some(previous) = paths.followed(*entry, vertex == 0) {
                    before.entry(queue(previous)).or_default().push((previous, *entry));
                }
            }
            let is_within = tree.way_to_root(vertex).count() < length;
            let own = tree.vertices[vertex].own.filter(|_| is_within);
            let own = own.and_then(|own| Some((paths.followed(own, vertex == 0)?, own)));
            let mut entered = Vec::new();
            for (queue, pairs) in before {
                let is_path = own.is_some_and(|own| pairs.contains(&own));
                let is_new = !tree.way_to_root(vertex).any(|known| tree.vertices[known].queue == queue);
                let has_room = branches < room;
                let Some(onward) = (is_new && (is_path || has_room))
                    .then(|| onward(paths, vertex, &pairs, own.filter(|_| is_path)))
                    .flatten()
                else {
                    continue;
                };
                branches += usize::from(!is_path);
                let number = tree.vertices.len();
                tree.vertices.push(Vertex {
                    queue,
                    onward: Some(onward),
                    own: own.filter(|_| is_path).map(|(previous, _)| previous),
                    lanes: BTreeMap::new(),
                    tag_bits: 0,
                });
                let longer = pairs.iter().map(|(previous, entry)| {
                    let octets = |entry: u32| plan.entries[entry as usize].tagged.octets();
                    (octets(*previous) - octets(*entry)).bits().get()
                });
                let tag_bits = &mut tree.vertices[vertex].tag_bits;
                *tag_bits = longer.chain([*tag_bits]).max().expect("its own");
                let leaves = pairs.iter().map(|(previous, entry)| (*previous, leaves_at(*entry))).collect();
                entered.extend(pairs.iter().map(|(_, entry)| *entry));
                open.push(Open { vertex: number, leaves });
            }
            entered.sort_unstable();
            let here = entries.iter().filter(|entry| entered.binary_search(entry).is_err());
            let here: Vec<(u32, usize)> = here.map(|entry| (*entry, leaves_at(*entry))).collect();
            tree.enter(paths, vertex, &here)?;
        }
        (tree.vertices.len() > 1).then_some(tree)
    }

    /// The entry of the observed stream at which its path begins.
    pub(super) fn first_entry(&self) -> u32 {
        let mut path = self.vertices.iter().filter_map(|vertex| vertex.own);
        path.next_back().expect("the root is on the path")
    }

    /// The number of queues of its path.
    pub(super) fn path_length(&self) -> usize {
        self.vertices.iter().filter(|vertex| vertex.own.is_some()).count()
    }

    /// A queue and those from it to the root.
    fn way_to_root(&self, vertex: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(vertex), |vertex| Some(self.vertices[*vertex].onward?.to))
    }

    /// Adds the groups that enter at a queue; each entry with the queue at which it leaves. None if arrivals are not known.
    fn enter(&mut self, paths: &Paths<'_, '_>, vertex: usize, entries: &[(u32, usize)]) -> Option<()> {
        let analysis = paths.analysis;
        let mut sums: BTreeMap<(u16, usize), Sum> = BTreeMap::new();
        for (number, leaves) in entries {
            let brought = &analysis.arrivals[*number as usize].brought;
            let lane = analysis.plan.entries[*number as usize].lane;
            let sum = sums.entry((lane, *leaves)).or_default();
            sum.add(brought.least_burst()?, brought.least_rate()?);
        }
        let of_node = paths.queues[&self.vertices[vertex].queue].control;
        let control = of_node.map(|line| ((OWN_LANE, vertex), Sum::of(line)));
        for ((lane, leaves), sum) in sums.into_iter().chain(control) {
            let group = self.groups.len();
            self.groups.push(Group { enters: vertex, curve: few_lines(&sum.curve()) });
            // The lane by which it comes to each of the queues that it passes.
            let (mut place, mut lane) = (vertex, lane);
            loop {
                self.vertices[place].lanes.entry(lane).or_default().push(group);
                if place == leaves {
                    break;
                }
                let onward = self.vertices[place].onward.expect("it leaves nearer to the root");
                (place, lane) = (onward.to, onward.lane);
            }
        }
        Some(())
    }
}

/// The least of a few lines of a curve: the steepest, the flattest, and some between.
fn few_lines(curve: &Curve) -> Curve {
    let lines = curve.lines();
    if lines.len() <= LINES_MAX {
        return curve.clone();
    }
    let place = |number: usize| lines[number * (lines.len() - 1) / (LINES_MAX - 1)];
    Curve::least_of((0..LINES_MAX).map(place))
}

/// The way to a queue for entries there with those before them; none if one of them is not bounded or comes by another lane.
fn onward(paths: &Paths<'_, '_>, to: usize, pairs: &[(u32, u32)], own: Option<(u32, u32)>) -> Option<Onward> {
    let analysis = paths.analysis;
    let lane_of = |entry: u32| analysis.plan.entries[entry as usize].lane;
    let lane = lane_of(pairs.first()?.1);
    let way = |(previous, entry): (u32, u32)| {
        let queue = u64::try_from(analysis.arrivals[entry as usize].queue_max?).ok()?;
        let before = &analysis.plan.entries[previous as usize];
        let sent = before.transmission_max.0.max(before.transmission_max.1);
        let least = before.next_min - before.ready_min + analysis.plan.entries[entry as usize].queue_min;
        let way = Way {
            sent_max: sent.checked_add(queue)?,
            way_min: u64::try_from(least).unwrap_or(0),
            way_max: analysis.passages[previous as usize].sending_max?.checked_add(queue)?,
        };
        (lane_of(entry) == lane).then_some(way)
    };
    let mut ways = pairs.iter().map(|pair| way(*pair));
    let first = ways.next()??;
    let all = ways.try_fold(first, |all, way| {
        let way = way?;
        Some(Way {
            sent_max: all.sent_max.max(way.sent_max),
            way_min: all.way_min.min(way.way_min),
            way_max: all.way_max.max(way.way_max),
        })
    })?;
    let own = match own {
        Some(own) => Some(way(own)?),
        None => None,
    };
    Some(Onward { to, lane, all, own })
}
