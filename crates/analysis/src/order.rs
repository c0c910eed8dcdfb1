//! The order in which ports are analysed: after all on which they depend, cycles together.
//!
//! A port depends on the ports from which its streams come. Strongly connected components in
//! topological order (Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1972),
//! without recursion, so that a long line of bridges needs no deep stack.

/// Ports that are analysed together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Component {
    /// The ports.
    pub(crate) ports: Vec<u32>,
    /// Whether they depend on one another.
    pub(crate) cyclic: bool,
}

/// Components of the graph of `nodes` nodes with `edges` from what comes first, in that order.
pub(crate) fn components(nodes: usize, edges: &[(u32, u32)]) -> Vec<Component> {
    let mut first = vec![0_u32; nodes + 1];
    for (from, _) in edges {
        first[*from as usize + 1] += 1;
    }
    for node in 0..nodes {
        first[node + 1] += first[node];
    }
    let mut fill = first.clone();
    let mut targets = vec![0_u32; edges.len()];
    for (from, to) in edges {
        let place = &mut fill[*from as usize];
        targets[*place as usize] = *to;
        *place += 1;
    }
    Search::new(&first, &targets).run()
}

struct Search<'a> {
    first: &'a [u32],
    targets: &'a [u32],
    /// Number of the visit; 0 before it.
    number: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
    stack: Vec<u32>,
    found: Vec<Component>,
}

impl<'a> Search<'a> {
    fn new(first: &'a [u32], targets: &'a [u32]) -> Self {
        let nodes = first.len() - 1;
        Self {
            first,
            targets,
            number: vec![0; nodes],
            low: vec![0; nodes],
            on_stack: vec![false; nodes],
            stack: Vec::new(),
            found: Vec::new(),
        }
    }

    fn run(mut self) -> Vec<Component> {
        let mut visits = 0;
        let mut path: Vec<(u32, u32)> = Vec::new();
        for root in 0..self.number.len() {
            if self.number[root] != 0 {
                continue;
            }
            visits += 1;
            self.enter(root, visits);
            path.push((index(root), self.first[root]));
            while let Some((node, next)) = path.last_mut() {
                let at = *node as usize;
                if *next < self.first[at + 1] {
                    let target = self.targets[*next as usize] as usize;
                    *next += 1;
                    if self.number[target] == 0 {
                        visits += 1;
                        self.enter(target, visits);
                        path.push((index(target), self.first[target]));
                    } else if self.on_stack[target] {
                        self.low[at] = self.low[at].min(self.number[target]);
                    }
                } else {
                    path.pop();
                    if let Some((parent, _)) = path.last() {
                        let parent = *parent as usize;
                        self.low[parent] = self.low[parent].min(self.low[at]);
                    }
                    self.leave(at);
                }
            }
        }
        self.found.reverse();
        self.found
    }

    fn enter(&mut self, node: usize, visit: u32) {
        self.number[node] = visit;
        self.low[node] = visit;
        self.on_stack[node] = true;
        self.stack.push(index(node));
    }

    fn leave(&mut self, node: usize) {
        if self.low[node] != self.number[node] {
            return;
        }
        let mut ports = Vec::new();
        while let Some(member) = self.stack.pop() {
            self.on_stack[member as usize] = false;
            ports.push(member);
            if member as usize == node {
                break;
            }
        }
        let own = self.first[node] as usize..self.first[node + 1] as usize;
        let cyclic = ports.len() > 1 || self.targets[own].contains(&index(node));
        if ports.len() > 1 {
            ports = self.in_order(ports);
        }
        self.found.push(Component { ports, cyclic });
    }

    /// The nodes of a cycle in the order in which a search from the lowest first meets them, lower ones
    /// first: it hangs on the cycle alone.
    fn in_order(&self, mut nodes: Vec<u32>) -> Vec<u32> {
        nodes.sort_unstable();
        let mut met = vec![false; nodes.len()];
        let mut order = Vec::with_capacity(nodes.len());
        let mut path = vec![nodes[0]];
        while let Some(node) = path.pop() {
            let place = nodes.binary_search(&node).expect("a node of the cycle");
            if std::mem::replace(&mut met[place], true) {
                continue;
            }
            order.push(node);
            let own = self.first[node as usize] as usize..self.first[node as usize + 1] as usize;
            let mut next: Vec<u32> =
                self.targets[own].iter().copied().filter(|to| nodes.binary_search(to).is_ok()).collect();
            next.sort_unstable();
            path.extend(next.into_iter().rev());
        }
        debug_assert_eq!(order.len(), nodes.len(), "each is reached from each");
        order
    }
}

fn index(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 elements")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_frames_are_first() {
        let found = components(5, &[(3, 1), (1, 0), (3, 4), (4, 0)]);
        let place = |node: u32| found.iter().position(|component| component.ports == [node]);
        assert!(found.iter().all(|component| !component.cyclic));
        for (from, to) in [(3, 1), (1, 0), (3, 4), (4, 0)] {
            assert!(place(from) < place(to), "{from} before {to}");
        }
    }

    #[test]
    fn a_cycle_is_one_component() {
        let found = components(6, &[(0, 1), (1, 2), (2, 3), (3, 1), (3, 4)]);
        let cycle = found.iter().find(|component| component.cyclic).expect("one cycle");
        let mut ports = cycle.ports.clone();
        ports.sort_unstable();
        assert_eq!(ports, [1, 2, 3]);
        assert_eq!(found.iter().filter(|component| component.cyclic).count(), 1);
        let place = |node: u32| found.iter().position(|component| component.ports.contains(&node));
        assert!(place(0) < place(1) && place(3) < place(4));
    }

    #[test]
    fn a_long_line_needs_no_deep_stack() {
        let edges: Vec<_> = (0..200_000).map(|node| (node, node + 1)).collect();
        assert_eq!(components(200_001, &edges).len(), 200_001);
    }
}
