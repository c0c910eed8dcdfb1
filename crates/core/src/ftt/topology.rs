//! The master's picture of the network: which switch a node is at, and which switches are linked.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

/// Nodes and switches, by their identifiers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Topology {
    at: BTreeMap<u16, u16>,
    links: BTreeSet<(u16, u16)>,
}

impl Topology {
    /// Puts a node at a switch.
    pub fn attach(&mut self, node: u16, switch: u16) {
        self.at.insert(node, switch);
    }

    /// Links two switches.
    pub fn link(&mut self, one: u16, other: u16) {
        self.links.insert((one, other));
        self.links.insert((other, one));
    }

    /// Every switch that has a node or a link.
    #[must_use]
    pub fn all_switches(&self) -> BTreeSet<u16> {
        self.at.values().copied().chain(self.links.iter().map(|(one, _)| *one)).collect()
    }

    /// The switch of a node.
    #[must_use]
    pub fn switch_of(&self, node: u16) -> Option<u16> {
        self.at.get(&node).copied()
    }

    /// The neighbours of a switch on the way from one node to another: before it and behind it; none if it is not on it.
    #[must_use]
    pub fn between(&self, from: u16, to: u16, switch: u16) -> Option<[u16; 2]> {
        let way = self.switches(from, to)?;
        let place = way.iter().position(|on| *on == switch)?;
        let before = place.checked_sub(1).map_or(from, |before| way[before]);
        Some([before, way.get(place + 1).copied().unwrap_or(to)])
    }

    /// The switches from one node to another, in order; fewest, and among equals those with the lowest identifiers.
    #[must_use]
    pub fn switches(&self, from: u16, to: u16) -> Option<Vec<u16>> {
        let (first, last) = (self.switch_of(from)?, self.switch_of(to)?);
        let mut before: BTreeMap<u16, u16> = BTreeMap::new();
        let mut next = VecDeque::from([first]);
        while let Some(here) = next.pop_front() {
            if here == last {
                let mut way = Vec::from([last]);
                while let Some(previous) = way.last().and_then(|at| before.get(at)) {
                    way.push(*previous);
                }
                way.reverse();
                return Some(way);
            }
            for (_, other) in self.links.range((here, 0)..=(here, u16::MAX)) {
                if *other != first && !before.contains_key(other) {
                    before.insert(*other, here);
                    next.push_back(*other);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_way_is_found() {
        let mut topology = Topology::default();
        for (one, other) in [(11, 12), (12, 13), (13, 14), (14, 11)] {
            topology.link(one, other);
        }
        for (node, switch) in [(1, 11), (2, 13), (3, 11), (4, 15)] {
            topology.attach(node, switch);
        }
        assert_eq!(topology.switches(1, 2).as_deref(), Some(&[11, 12, 13][..]));
        assert_eq!([11, 12, 13].map(|at| topology.between(1, 2, at)), [[1, 12], [11, 13], [12, 2]].map(Some));
        assert_eq!((topology.between(1, 2, 14), topology.between(1, 3, 11)), (None, Some([1, 3])));
        assert_eq!(topology.switches(1, 3).as_deref(), Some(&[11][..]));
        assert_eq!(topology.switches(1, 4), None);
        assert_eq!(topology.switches(1, 9), None);
    }
}
