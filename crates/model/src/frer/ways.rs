//! From the paths of member streams to the hops of their stream.
//!
//! A copy follows the paths of which it is the copy; where they part, to one listener or to several, it is replicated, one copy for each
//! next link. At a node with a recovery function copies are one stream again, which follows all paths through the node. The hops form a
//! tree: behind such a node each copy that comes has a way of its own, and [`Step::merged`] gives those that are one passage. A node
//! distinguishes member streams by the link over which they come and by the identification that they have there; a frame does not go back over its link.

use std::collections::{BTreeSet, HashMap};

/// A link of a path, with the nodes that it joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathLink {
    pub(crate) link: u32,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// A hop to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) link: u32,
    pub(crate) previous: Option<u32>,
    /// The paths that its frames follow, a bit each.
    pub(crate) paths: u64,
    /// The first step that is the same passage.
    pub(crate) merged: u32,
    /// Whether its frames carry a sequence number.
    pub(crate) numbered: bool,
}

/// Why paths make no ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoWays {
    /// They are all the same.
    Same,
    /// They pass recovery functions in different orders.
    Circle,
    /// Copies come over one link and part behind it, where the node cannot distinguish them.
    Alike,
    /// Too many ways.
    TooMany,
    /// The numbers are given behind the node at which paths part.
    LateGeneration,
    /// Copies reach a listener that no function there eliminates.
    Copies,
}

/// Most hops of a stream with copies.
const STEPS_MAX: usize = 512;

/// The hops of paths that all lead from one node, to one listener or several. `recovers`: whether a node has a recovery function.
/// `generation`: where numbers are given, by default where paths part. `identity`: a number for the identification
/// that the frames of a step have.
///
/// # Errors
/// Why there are none.
pub(crate) fn ways(
    paths: &[Vec<PathLink>],
    recovers: &dyn Fn(usize) -> bool,
    generation: Option<usize>,
    identity: &dyn Fn(&Step) -> u32,
) -> Result<(usize, Vec<Step>), NoWays> {
    let shared = (0..).take_while(|place| {
        paths.iter().all(|path| path.get(*place).is_some_and(|link| paths[0].get(*place) == Some(link)))
    });
    let shared = shared.count();
    let listener = |path: &[PathLink]| path.last().expect("a path has links").to;
    let is_apart =
        |path: &Vec<PathLink>| paths.iter().any(|other| listener(other) == listener(path) && other != path);
    let Some(parting) = paths[0].get(shared).filter(|_| paths.iter().any(is_apart)) else {
        return Err(NoWays::Same);
    };
    let generation = generation.unwrap_or(parting.from);
    if !paths[0][..=shared].iter().any(|link| link.from == generation) {
        return Err(NoWays::LateGeneration);
    }
    let mut ways = Ways { paths, recovers, generation, steps: Vec::new(), merged: HashMap::new() };
    let all = 1_u64.checked_shl(index(paths.len())).ok_or(NoWays::TooMany)? - 1;
    ways.follow(paths[0][0].from, None, all, 0)?;
    if paths.iter().map(|path| listener(path)).any(|node| !recovers(node) && ways.copies_to(node) > 1) {
        return Err(NoWays::Copies);
    }
    if !ways.are_distinct(identity) {
        return Err(NoWays::Alike);
    }
    Ok((generation, ways.steps))
}

fn index(number: usize) -> u32 {
    u32::try_from(number).expect("few paths and steps")
}

struct Ways<'p> {
    paths: &'p [Vec<PathLink>],
    recovers: &'p dyn Fn(usize) -> bool,
    generation: usize,
    steps: Vec<Step>,
    /// The first step by the way that a copy has come since it was merged: the node, or the step before; and its link.
    merged: HashMap<(Result<usize, u32>, u32), u32>,
}

impl Ways<'_> {
    fn of(&self, set: u64) -> impl Iterator<Item = (u32, &[PathLink])> {
        (0_u32..)
            .zip(self.paths)
            .filter(move |(number, _)| set & 1 << number != 0)
            .map(|(number, path)| (number, &path[..]))
    }

    /// The first of these paths that has a link, and the place of the link there.
    fn place(&self, set: u64, link: u32) -> Option<(usize, PathLink)> {
        self.of(set).find_map(|(_, path)| {
            let place = path.iter().position(|other| other.link == link)?;
            Some((place, path[place]))
        })
    }

    /// Adds the steps of a copy from a node on.
    fn follow(&mut self, node: usize, previous: Option<u32>, set: u64, depth: usize) -> Result<(), NoWays> {
        if depth > self.paths.iter().map(Vec::len).sum() {
            return Err(NoWays::Circle);
        }
        let is_merged = previous.is_some() && (self.recovers)(node);
        let set = if is_merged { self.through(node) } else { set };
        let came_from = previous.and_then(|step| {
            let step = &self.steps[step as usize];
            self.place(step.paths, step.link).map(|(_, link)| link.from)
        });
        let mut next: Vec<(PathLink, u64)> = Vec::new();
        for (number, path) in self.of(set) {
            let Some(link) = path.iter().find(|link| link.from == node) else { continue };
            if came_from == Some(link.to) {
                return Err(NoWays::Circle);
            }
            match next.iter_mut().find(|(other, _)| other.link == link.link) {
                Some((_, set)) => *set |= 1 << number,
                None => next.push((*link, 1 << number)),
            }
        }
        for (link, set) in next {
            if self.steps.len() >= STEPS_MAX {
                return Err(NoWays::TooMany);
            }
            let number = index(self.steps.len());
            let before = if is_merged {
                Ok(node)
            } else {
                Err(previous.map_or(u32::MAX, |step| self.steps[step as usize].merged))
            };
            let merged = *self.merged.entry((before, link.link)).or_insert(number);
            let numbered = self.is_numbered(set, link.link);
            self.steps.push(Step { link: link.link, previous, paths: set, merged, numbered });
            self.follow(link.to, Some(number), set, depth + 1)?;
        }
        Ok(())
    }

    /// How many copies come to a node.
    fn copies_to(&self, node: usize) -> usize {
        let ends = |step: &Step| self.place(step.paths, step.link).is_some_and(|(_, link)| link.to == node);
        (0_u32..).zip(&self.steps).filter(|(number, step)| step.merged == *number && ends(step)).count()
    }

    /// Whether all frames that come over one link with one identification go on alike.
    fn are_distinct(&self, identity: &dyn Fn(&Step) -> u32) -> bool {
        let mut onward: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); self.steps.len()];
        for step in &self.steps {
            if let Some(previous) = step.previous {
                onward[previous as usize].insert(step.link);
            }
        }
        let mut behind: HashMap<(u32, u32), &BTreeSet<u32>> = HashMap::new();
        self.steps
            .iter()
            .zip(&onward)
            .all(|(step, onward)| *behind.entry((step.link, identity(step))).or_insert(onward) == onward)
    }

    /// The paths that pass a node.
    fn through(&self, node: usize) -> u64 {
        self.of(u64::MAX)
            .filter(|(_, path)| path.iter().any(|link| link.to == node))
            .fold(0, |set, (number, _)| set | 1 << number)
    }

    /// Whether a link of these paths lies behind the generation and before a recovery function.
    fn is_numbered(&self, set: u64, link: u32) -> bool {
        self.of(set).any(|(_, path)| {
            let Some(place) = path.iter().position(|other| other.link == link) else { return false };
            path[..=place].iter().any(|link| link.from == self.generation)
                && path[place..].iter().any(|link| (self.recovers)(link.to))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(nodes: &[usize]) -> Vec<PathLink> {
        let link = |pair: &[usize]| PathLink {
            link: u32::try_from(pair[0] * 100 + pair[1]).expect("small"),
            from: pair[0],
            to: pair[1],
        };
        nodes.windows(2).map(link).collect()
    }

    /// Ways of copies that have the identification of their stream.
    fn ways(
        paths: &[Vec<PathLink>],
        recovers: &dyn Fn(usize) -> bool,
        generation: Option<usize>,
    ) -> Result<(usize, Vec<Step>), NoWays> {
        super::ways(paths, recovers, generation, &|_| 0)
    }

    fn summary(steps: &[Step]) -> Vec<(u32, Option<u32>, u32, bool)> {
        steps.iter().map(|step| (step.link, step.previous, step.merged, step.numbered)).collect()
    }

    #[test]
    fn copies_that_meet_go_one_way_on() {
        let paths = [path(&[0, 1, 2, 4, 5]), path(&[0, 1, 3, 4, 5])];
        let (generation, steps) = ways(&paths, &|node| node == 4, None).expect("ways");
        assert_eq!(generation, 1);
        assert_eq!(
            summary(&steps),
            [
                (1, None, 0, false),
                (102, Some(0), 1, true),
                (204, Some(1), 2, true),
                (405, Some(2), 3, false),
                (103, Some(0), 4, true),
                (304, Some(4), 5, true),
                (405, Some(5), 3, false),
            ]
        );
    }

    #[test]
    fn a_copy_that_passes_is_replicated_again() {
        let paths = [path(&[0, 1, 3, 4, 6]), path(&[0, 2, 3, 5, 6])];
        let (generation, steps) = ways(&paths, &|node| node == 3 || node == 6, None).expect("ways");
        assert_eq!(generation, 0);
        assert_eq!(steps.len(), 2 * 2 + 4 * 2, "two ways to 3, and two from there for each of them");
        assert!(steps.iter().all(|step| step.numbered));
        let own: Vec<u32> = (0_u32..)
            .zip(&steps)
            .filter(|(number, step)| *number == step.merged)
            .map(|(_, step)| step.link)
            .collect();
        assert_eq!(own, [1, 103, 304, 406, 305, 506, 2, 203]);
        // Without a function at 3 each copy keeps to its path.
        let (_, steps) = ways(&paths, &|node| node == 6, None).expect("ways");
        assert_eq!(steps.len(), 8);
    }

    #[test]
    fn several_listeners_have_copies_of_their_own() {
        // Around a ring of 1, 2, 3 and 4 to the listeners 5 at 2 and 6 at 3.
        let paths =
            [path(&[0, 1, 2, 5]), path(&[0, 1, 4, 3, 2, 5]), path(&[0, 1, 2, 3, 6]), path(&[0, 1, 4, 3, 6])];
        let (generation, steps) = ways(&paths, &|node| node > 4, None).expect("ways");
        assert_eq!(generation, 1);
        let links: Vec<(u32, u64)> = steps.iter().map(|step| (step.link, step.paths)).collect();
        let expected = [
            (1, 0b1111),
            (102, 0b0101),
            (205, 0b0001),
            (203, 0b0100),
            (306, 0b0100),
            (104, 0b1010),
            (403, 0b1010),
            (302, 0b0010),
            (205, 0b0010),
            (306, 0b1000),
        ];
        assert_eq!(links, expected);
        assert!(steps.iter().all(|step| step.numbered == (step.link != 1)));
        // A function at 2 would pass on to 3 what came from there.
        assert_eq!(ways(&paths, &|node| node > 4 || node == 2, None), Err(NoWays::Circle));
        assert_eq!(ways(&paths, &|node| node == 5, None), Err(NoWays::Copies));
        // Both at one bridge: a function there is for both.
        let paths =
            [path(&[0, 1, 2, 4, 5]), path(&[0, 1, 3, 4, 5]), path(&[0, 1, 2, 4, 6]), path(&[0, 1, 3, 4, 6])];
        let (_, steps) = ways(&paths, &|node| node == 4, None).expect("ways");
        let own = (0_u32..).zip(&steps).filter(|(number, step)| step.merged == *number).count();
        assert_eq!((steps.len(), own), (9, 7));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let (one, other) = (path(&[0, 1, 2, 4, 5]), path(&[0, 1, 3, 4, 5]));
        let all = |_: usize| true;
        assert_eq!(ways(&[one.clone(), one.clone()], &all, None), Err(NoWays::Same));
        assert_eq!(ways(&[one.clone(), other.clone()], &all, Some(2)), Err(NoWays::LateGeneration));
        assert_eq!(ways(&[one.clone(), other.clone()], &|node| node == 2, None), Err(NoWays::Copies));
        assert_eq!(ways(&[one, other], &all, Some(0)).map(|(generation, _)| generation), Ok(0));
        let alike = [path(&[0, 1, 3, 4, 6, 8]), path(&[0, 2, 3, 4, 7, 8])];
        assert_eq!(ways(&alike, &|node| node == 8, None), Err(NoWays::Alike));
        assert!(ways(&alike, &|node| node == 3 || node == 8, None).is_ok());
        let own = |step: &Step| u32::try_from(step.paths).expect("few paths");
        let (_, steps) = super::ways(&alike, &|node| node == 8, None, &own).expect("copies that differ");
        let shared: Vec<u64> = steps.iter().filter(|step| step.link == 304).map(|step| step.paths).collect();
        assert_eq!((steps.len(), shared), (10, vec![0b01, 0b10]));
        let crossed = [path(&[0, 1, 2, 3, 4]), path(&[0, 2, 1, 5, 4])];
        assert_eq!(ways(&crossed, &all, None), Err(NoWays::Circle));
    }
}
