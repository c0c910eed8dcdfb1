//! The master's view of the network: the switch of each node, the links between switches, and which links are down.
//!
//! The switches at the ends of a link report whether it is up (`links.rs`), each under numbers of its own: a late
//! report counts as old. The link is down while one of them reports it down.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

/// Nodes and switches, by their identifiers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Topology {
    at: BTreeMap<u16, u16>,
    links: BTreeSet<(u16, u16)>,
    /// The last report of a switch about its link to a neighbour: whether it is up, and the number of the report.
    reported: BTreeMap<(u16, u16), (bool, u32)>,
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

    fn is_switch(&self, number: u16) -> bool {
        self.links.range((number, 0)..=(number, u16::MAX)).next().is_some()
            || self.at.values().any(|switch| *switch == number)
    }

    /// The neighbours of a switch on the way from one node to another: before it and behind it; none if it is not on it.
    #[must_use]
    pub fn between(&self, from: u16, to: u16, switch: u16) -> Option<[u16; 2]> {
        let way = self.switches(from, to)?;
        let place = way.iter().position(|on| *on == switch)?;
        let before = place.checked_sub(1).map_or(from, |before| way[before]);
        Some([before, way.get(place + 1).copied().unwrap_or(to)])
    }

    /// A switch reports whether its link to a neighbour is up. False if that is older than its last report.
    pub fn report(&mut self, switch: u16, neighbour: u16, up: bool, number: u32) -> bool {
        let known = self.reported.get(&(switch, neighbour)).map_or(0, |(_, known)| *known);
        let is_new = number >= known;
        if is_new {
            self.reported.insert((switch, neighbour), (up, number));
        }
        is_new
    }

    /// Forgets all reports: all links are up.
    pub fn forget_links(&mut self) {
        self.reported.clear();
    }

    /// The first link that is down on the way from one node or switch to another.
    #[must_use]
    pub fn cut(&self, from: u16, to: u16) -> Option<[u16; 2]> {
        if self.reported.values().all(|(up, _)| *up) {
            return None;
        }
        let switches = self.switches(from, to)?;
        let ends = [from, to].map(|end| Some(end).filter(|end| self.at.contains_key(end)));
        let way = ends[0].into_iter().chain(switches).chain(ends[1]);
        let way: Vec<u16> = way.collect();
        let down = |one: u16, other: u16| self.reported.get(&(one, other)).is_some_and(|(up, _)| !*up);
        way.windows(2).find_map(|pair| {
            let [one, other] = [pair[0], pair[1]];
            // As the switch that reports it names it.
            if down(one, other) {
                return Some([one, other]);
            }
            down(other, one).then_some([other, one])
        })
    }

    /// The switches from one node or switch to another, in order; fewest, and among equals those with the lowest identifiers.
    #[must_use]
    pub fn switches(&self, from: u16, to: u16) -> Option<Vec<u16>> {
        let switch = |end: u16| self.switch_of(end).or_else(|| self.is_switch(end).then_some(end));
        let (first, last) = (switch(from)?, switch(to)?);
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
        assert_eq!(topology.switches(12, 2).as_deref(), Some(&[12, 13][..]), "from a switch");
    }

    #[test]
    fn a_link_is_down_while_one_of_its_ends_reports_it() {
        let mut topology = Topology::default();
        topology.link(11, 12);
        topology.link(12, 13);
        for (node, switch) in [(1, 11), (2, 13), (3, 12)] {
            topology.attach(node, switch);
        }
        assert_eq!(topology.cut(1, 2), None);
        assert!(topology.report(12, 13, false, 1));
        assert_eq!((topology.cut(1, 2), topology.cut(2, 3)), (Some([12, 13]), Some([12, 13])));
        assert_eq!(
            (topology.cut(1, 3), topology.cut(1, 12), topology.cut(11, 13)),
            (None, None, Some([12, 13]))
        );
        assert!(topology.report(13, 12, false, 1) && topology.report(12, 13, true, 2));
        assert_eq!(topology.cut(1, 2), Some([13, 12]), "the other end has not said that it is up");
        assert!(topology.report(13, 12, true, 2) && !topology.report(12, 13, false, 1), "late");
        assert_eq!(topology.cut(1, 2), None);
        assert!(topology.report(13, 2, false, 1));
        assert_eq!((topology.cut(1, 2), topology.cut(1, 13)), (Some([13, 2]), None), "that of a node");
        topology.forget_links();
        assert_eq!(topology.cut(1, 2), None);
    }
}
