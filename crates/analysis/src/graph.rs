//! The dependencies between ports, as streams come and go, and an order of analysis that respects them.
//!
//! The order is kept while every dependency points forward in it; a new one that does not, and the end of one within a
//! cycle, make a new order.

use crate::order::{Component, components};

/// Ports, their dependencies and their order.
#[derive(Debug, Default)]
pub(crate) struct PortGraph {
    /// Per port, the ports that depend on it, in order, and by how many entries.
    next: Vec<Vec<(u32, u32)>>,
    components: Vec<Component>,
    /// Per port, its component.
    place: Vec<u32>,
    /// How often the order was made anew.
    pub(crate) orders: u64,
    /// Whether ports depend on each other in a cycle.
    pub(crate) is_cyclic: bool,
}

impl PortGraph {
    /// Of so many ports without dependencies, in an order that holds for all of `foreseen` if these are
    /// without cycles.
    pub(crate) fn new(ports: usize, foreseen: &[(u32, u32)]) -> Self {
        let mut graph = Self { next: vec![Vec::new(); ports], ..Self::default() };
        let order = components(ports, foreseen);
        let free = order.iter().all(|component| !component.cyclic);
        graph.take(if free { order } else { components(ports, &[]) });
        graph
    }

    fn take(&mut self, components: Vec<Component>) {
        self.place = vec![0; self.next.len()];
        for (number, component) in (0..).zip(&components) {
            for port in &component.ports {
                self.place[*port as usize] = number;
            }
        }
        self.is_cyclic = components.iter().any(|component| component.cyclic);
        self.components = components;
    }

    /// Ports that are analysed together, by their place in the order.
    pub(crate) fn component(&self, place: u32) -> &Component {
        &self.components[place as usize]
    }

    /// The position of a port in the order.
    pub(crate) fn place(&self, port: u32) -> u32 {
        self.place[port as usize]
    }

    /// Adds dependencies; the ports that are no longer analysed with the same others.
    pub(crate) fn add(&mut self, edges: &[(u32, u32)]) -> Vec<u32> {
        let mut holds = true;
        for (from, to) in edges {
            let list = &mut self.next[*from as usize];
            match list.binary_search_by_key(to, |(port, _)| *port) {
                Ok(known) => list[known].1 += 1,
                Err(place) => {
                    list.insert(place, (*to, 1));
                    let (before, after) = (self.place(*from), self.place(*to));
                    // A further one within a cycle changes the order of its ports.
                    holds &= before < after;
                }
            }
        }
        if holds { Vec::new() } else { self.order_anew() }
    }

    /// Takes dependencies off; the ports that are no longer analysed with the same others.
    pub(crate) fn remove(&mut self, edges: &[(u32, u32)]) -> Vec<u32> {
        let mut holds = true;
        for (from, to) in edges {
            let list = &mut self.next[*from as usize];
            let place = list.binary_search_by_key(to, |(port, _)| *port).expect("it was added");
            list[place].1 -= 1;
            if list[place].1 == 0 {
                list.remove(place);
                holds &= self.place(*from) != self.place(*to);
            }
        }
        if holds { Vec::new() } else { self.order_anew() }
    }

    /// A new order; the ports of cycles before and now.
    fn order_anew(&mut self) -> Vec<u32> {
        self.orders += 1;
        let cyclic = |components: &[Component]| -> Vec<u32> {
            let cycles = components.iter().filter(|component| component.cyclic);
            cycles.flat_map(|component| component.ports.iter().copied()).collect()
        };
        let mut moved = cyclic(&self.components);
        let edges: Vec<_> = (0..)
            .zip(&self.next)
            .flat_map(|(from, list)| list.iter().map(move |(to, _)| (from, *to)))
            .collect();
        self.take(components(self.next.len(), &edges));
        moved.extend(cyclic(&self.components));
        moved
    }
}
