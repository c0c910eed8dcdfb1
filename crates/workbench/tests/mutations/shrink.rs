//! A broken description made small: mutations are undone, and parts taken away, as long as the fault stays.

use tautwire_generate::{Mutant, Path, Step, Tree, with};

use crate::trial::{Fault, Outcome, attempt};

/// Most trials of one shrinking.
const TRIALS: usize = 600;

/// The smallest description found with a fault of the same kind, and the mutations that it still has.
pub(crate) fn shrink(mutant: &Mutant, draw: u64, fault: &Fault) -> (Tree, Fault) {
    let mut mutations = mutant.mutations.clone();
    let mut shrinking = Shrinking { name: &mutant.origin, draw, fault: fault.clone(), trials: 0 };
    let mut place = 0;
    while place < mutations.len() {
        let mut fewer = mutations.clone();
        fewer.remove(place);
        if shrinking.stays(&with(&mutant.before, &fewer)) {
            mutations = fewer;
        } else {
            place += 1;
        }
    }
    let mut tree = with(&mutant.before, &mutations);
    while shrinking.take_away(&mut tree) {}
    (tree, shrinking.fault)
}

struct Shrinking<'a> {
    name: &'a str,
    draw: u64,
    fault: Fault,
    trials: usize,
}

impl Shrinking<'_> {
    fn stays(&mut self, tree: &Tree) -> bool {
        self.trials += 1;
        match attempt(self.name, &tree.write(), self.draw) {
            Outcome::Broken(fault) if fault.kind == self.fault.kind => {
                self.fault = fault;
                true
            }
            _ => false,
        }
    }

    /// Takes away every part that can be, the largest first; false if none could.
    fn take_away(&mut self, tree: &mut Tree) -> bool {
        let mut paths = Vec::new();
        collect(tree, &mut Vec::new(), &mut paths);
        // Later elements first, so that the places of those before stay.
        paths.sort_by_key(Vec::len);
        paths.reverse();
        paths.sort_by_key(Vec::len);
        let mut any = false;
        for path in paths {
            if self.trials >= TRIALS {
                return false;
            }
            let mut smaller = tree.clone();
            if smaller.remove(&path) && self.stays(&smaller) {
                *tree = smaller;
                any = true;
            }
        }
        any
    }
}

fn collect(tree: &Tree, path: &mut Path, found: &mut Vec<Path>) {
    let mut below = |step: Step, node: &Tree| {
        path.push(step);
        found.push(path.clone());
        collect(node, path, found);
        path.pop();
    };
    match tree {
        Tree::List(items) => {
            items.iter().enumerate().for_each(|(place, item)| below(Step::Item(place), item))
        }
        Tree::Map(entries) => entries.iter().for_each(|(key, value)| below(Step::Key(key.clone()), value)),
        _ => {}
    }
}
