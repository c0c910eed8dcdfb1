//! Paths that are as disjoint as a network lets them be.
//!
//! A flow of as many units as paths are wanted, of least cost (successive shortest paths, Bellman and Ford): a node that a second
//! path passes costs more than all links there are, a link that it uses again more than all nodes, and every link 1. So paths
//! share the fewest links, then the fewest nodes, and are short then. Deterministic: of equal ways that of the first edges.

/// A directed edge that frames may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    /// The caller's number of it.
    pub(crate) link: u32,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// An arc of the flow, and the arc back behind it.
struct Arc {
    to: usize,
    room: u32,
    cost: i64,
    /// Of which edge it is.
    edge: Option<usize>,
}

struct Flow {
    arcs: Vec<Arc>,
    /// Arcs that leave each vertex.
    leaving: Vec<Vec<usize>>,
}

impl Flow {
    fn add(&mut self, from: usize, to: usize, room: u32, (cost, edge): (i64, Option<usize>)) {
        self.leaving[from].push(self.arcs.len());
        self.arcs.push(Arc { to, room, cost, edge });
        self.leaving[to].push(self.arcs.len());
        self.arcs.push(Arc { to: from, room: 0, cost: -cost, edge: None });
    }

    /// Sends one unit by the cheapest way; false if there is none.
    fn send(&mut self, from: usize, to: usize) -> bool {
        let mut cost: Vec<Option<i64>> = vec![None; self.leaving.len()];
        let mut by: Vec<usize> = vec![usize::MAX; self.leaving.len()];
        cost[from] = Some(0);
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(vertex) = queue.pop_front() {
            let so_far = cost[vertex].expect("it was reached");
            for number in &self.leaving[vertex] {
                let arc = &self.arcs[*number];
                let sum = so_far + arc.cost;
                if arc.room > 0 && cost[arc.to].is_none_or(|known| sum < known) {
                    cost[arc.to] = Some(sum);
                    by[arc.to] = *number;
                    if !queue.contains(&arc.to) {
                        queue.push_back(arc.to);
                    }
                }
            }
        }
        if cost[to].is_none() {
            return false;
        }
        let mut at = to;
        while at != from {
            let number = by[at];
            self.arcs[number].room -= 1;
            self.arcs[number ^ 1].room += 1;
            at = self.arcs[number ^ 1].to;
        }
        true
    }
}

/// `count` paths from one node to another, as disjoint as can be, the shortest first; each a list of the edges' numbers. None if
/// there is no path. Paths may be the same where there is only one.
pub(crate) fn disjoint(
    nodes: usize,
    edges: &[Edge],
    (from, to): (usize, usize),
    count: u32,
) -> Option<Vec<Vec<u32>>> {
    // Vertices: where node n is entered, 2n, and where it is left, 2n + 1.
    let mut flow = Flow { arcs: Vec::new(), leaving: vec![Vec::new(); 2 * nodes] };
    let node_again = 1 + i64::from(count) * i64::try_from(edges.len()).expect("an index");
    let link_again = node_again * (1 + i64::from(count) * i64::try_from(nodes).expect("an index"));
    for node in 0..nodes {
        flow.add(2 * node, 2 * node + 1, 1, (0, None));
        flow.add(2 * node, 2 * node + 1, count - 1, (node_again, None));
    }
    for (number, edge) in edges.iter().enumerate() {
        flow.add(2 * edge.from + 1, 2 * edge.to, 1, (1, Some(number)));
        flow.add(2 * edge.from + 1, 2 * edge.to, count - 1, (1 + link_again, Some(number)));
    }
    for _ in 0..count {
        if !flow.send(2 * from + 1, 2 * to) {
            return None;
        }
    }
    let mut paths: Vec<Vec<u32>> = (0..count).map(|_| take(&mut flow, edges, from, to)).collect();
    paths.sort_by_key(|path| (path.len(), path.clone()));
    Some(paths)
}

/// Takes one unit out of the flow: its path.
fn take(flow: &mut Flow, edges: &[Edge], from: usize, to: usize) -> Vec<u32> {
    let mut path = Vec::new();
    let mut at = from;
    while at != to {
        let used = |number: &&usize| flow.arcs[**number].edge.is_some() && flow.arcs[**number ^ 1].room > 0;
        let arc = *flow.leaving[2 * at + 1].iter().find(used).expect("what enters a node leaves it");
        flow.arcs[arc ^ 1].room -= 1;
        let edge = edges[flow.arcs[arc].edge.expect("an edge's arc")];
        path.push(edge.link);
        at = edge.to;
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both directions of cables.
    fn both(cables: &[(usize, usize)]) -> Vec<Edge> {
        let mut edges = Vec::new();
        for (link, (one, other)) in (0_u32..).zip(cables) {
            edges.push(Edge { link: 2 * link, from: *one, to: *other });
            edges.push(Edge { link: 2 * link + 1, from: *other, to: *one });
        }
        edges
    }

    fn nodes_of(edges: &[Edge], paths: &[Vec<u32>]) -> Vec<Vec<usize>> {
        let to = |link: &u32| edges.iter().find(|edge| edge.link == *link).expect("an edge").to;
        paths.iter().map(|path| path.iter().map(to).collect()).collect()
    }

    #[test]
    fn a_ring_has_two_ways() {
        let edges = both(&[(0, 1), (1, 2), (2, 3), (3, 4), (4, 1), (3, 5)]);
        let paths = disjoint(6, &edges, (0, 5), 2).expect("two paths");
        assert_eq!(nodes_of(&edges, &paths), [vec![1, 2, 3, 5], vec![1, 4, 3, 5]]);
    }

    #[test]
    fn the_shortest_path_is_given_up_for_two_disjoint_ones() {
        // The shortest way 0 1 2 5 shares its ends' bridges with any other; by 1 4 5 and 3 2 5 nothing is shared.
        let edges = both(&[(0, 1), (1, 2), (2, 5), (0, 3), (3, 2), (1, 4), (4, 5)]);
        let paths = disjoint(6, &edges, (0, 5), 2).expect("two paths");
        assert_eq!(nodes_of(&edges, &paths), [vec![1, 4, 5], vec![3, 2, 5]]);
    }

    #[test]
    fn a_node_is_shared_rather_than_a_link() {
        // Two squares that meet at 3.
        let edges = both(&[(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 6), (5, 6)]);
        let paths = disjoint(7, &edges, (0, 6), 2).expect("two paths");
        let found = nodes_of(&edges, &paths);
        assert_eq!(found, [vec![1, 3, 4, 6], vec![2, 3, 5, 6]]);
        assert!(paths[0].iter().all(|link| !paths[1].contains(link)));
    }

    #[test]
    fn where_there_is_one_way_both_paths_take_it() {
        let edges = both(&[(0, 1), (1, 2)]);
        assert_eq!(disjoint(3, &edges, (0, 2), 2), Some(vec![vec![0, 2], vec![0, 2]]));
        assert_eq!(disjoint(4, &edges, (0, 3), 2), None);
    }
}
