//! Descriptions mutated by structure: values at their limits, keys added, removed, copied from elsewhere.
//!
//! The grammar is that of the JSON Schema, the material are given descriptions: scenarios, and those of generators.
//! The result is a description that need not pass the check; a search keeps those that do. Same material, same seed,
//! same text.

mod grammar;
mod names;
mod tree;
mod values;

pub use grammar::{Grammar, KeyIndex};
pub use tree::{Path, Step, Tree};

use std::fmt;

use crate::Dice;
use grammar::{Kind, Place};
use names::Names;

/// A description that mutations start from, or copy parts of.
#[derive(Clone, Debug)]
struct Material {
    name: String,
    tree: Tree,
    names: Names,
}

/// Mutates descriptions.
#[derive(Clone, Debug)]
pub struct Mutator {
    grammar: Grammar,
    /// The first ones are mutated; parts are copied from all.
    material: Vec<Material>,
    mutated: usize,
    /// For every key its places in the material.
    found: Vec<Vec<(usize, Path)>>,
    /// For every shape the descriptions to be mutated that have such an object.
    with_shape: Vec<Vec<usize>>,
}

/// One change of a description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutation {
    /// Where.
    pub path: Path,
    /// Its new value; none if it was removed.
    pub value: Option<Tree>,
}

/// A mutated description.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Name of the description that it was.
    pub origin: String,
    /// That description.
    pub before: Tree,
    /// What was changed, in order.
    pub mutations: Vec<Mutation>,
    /// Keys that the mutations gave a value, each once.
    pub keys: Vec<KeyIndex>,
}

impl Mutant {
    /// The description.
    #[must_use]
    pub fn tree(&self) -> Tree {
        with(&self.before, &self.mutations)
    }
}

/// A description with mutations; one that has no place any more is left out.
#[must_use]
pub fn with(description: &Tree, mutations: &[Mutation]) -> Tree {
    let mut tree = description.clone();
    for mutation in mutations {
        mutation.apply(&mut tree);
    }
    tree
}

impl Mutation {
    fn apply(&self, tree: &mut Tree) {
        match &self.value {
            Some(value) => tree.set(&self.path, value.clone()),
            None => tree.remove(&self.path),
        };
    }
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.path {
            match step {
                Step::Key(key) => write!(f, "/{key}")?,
                Step::Item(place) => write!(f, "/{place}")?,
            }
        }
        match &self.value {
            Some(value) => write!(f, ": {}", value.write().trim_end()),
            None => write!(f, ": removed"),
        }
    }
}

impl Mutator {
    /// A mutator of `mutated`, that copies from `further` as well: pairs of name and text.
    ///
    /// # Panics
    /// If a text is no YAML.
    #[must_use]
    pub fn new(grammar: Grammar, mutated: Vec<(String, String)>, further: Vec<(String, String)>) -> Self {
        let count = mutated.len();
        let material: Vec<Material> = mutated
            .into_iter()
            .chain(further)
            .map(|(name, text)| {
                let tree = Tree::read(&text).unwrap_or_else(|| panic!("{name} is no YAML"));
                Material { names: Names::of(&tree), name, tree }
            })
            .collect();
        let mut found = vec![Vec::new(); grammar.len()];
        let mut with_shape = vec![Vec::new(); grammar.shapes.len()];
        for (index, material) in material.iter().enumerate() {
            for place in grammar.places(&material.tree) {
                if let (Some(key), Some(Step::Key(name))) = (place.key, place.path.last())
                    && grammar.keys[key].name == *name
                {
                    found[key].push((index, place.path.clone()));
                }
                if let Some(shape) = place.shape.filter(|_| index < count)
                    && with_shape[shape].last() != Some(&index)
                {
                    with_shape[shape].push(index);
                }
            }
        }
        Self { grammar, material, mutated: count, found, with_shape }
    }

    /// The grammar.
    #[must_use]
    pub const fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// The mutant of a seed: any description with one to three mutations.
    #[must_use]
    pub fn mutant(&self, seed: u64) -> Mutant {
        let mut dice = Dice::new(seed ^ 0x6d75_7461_7465);
        if dice.chance(40) {
            let key = index(&mut dice, self.grammar.len());
            if let Some(mutant) = self.mutant_of_key(key, &mut dice) {
                return mutant;
            }
        }
        let which = index(&mut dice, self.mutated);
        let mut mutant = self.begin(which);
        for _ in 0..*dice.one_of(&[1, 1, 1, 2, 2, 3]) {
            self.mutate(&mut mutant, which, &mut dice);
        }
        mutant
    }

    /// A mutant in which `key` is given a value; none if no description has a place for it.
    #[must_use]
    pub fn mutant_with(&self, key: KeyIndex, seed: u64) -> Option<Mutant> {
        self.mutant_of_key(key, &mut Dice::new(seed ^ 0x6b65_7973))
    }

    fn begin(&self, which: usize) -> Mutant {
        let origin = &self.material[which];
        Mutant {
            origin: origin.name.clone(),
            before: origin.tree.clone(),
            mutations: Vec::new(),
            keys: Vec::new(),
        }
    }

    fn mutant_of_key(&self, key: KeyIndex, dice: &mut Dice) -> Option<Mutant> {
        // A description that has it already also has what it requires.
        let there: Vec<&(usize, Path)> =
            self.found[key].iter().filter(|(which, _)| *which < self.mutated).collect();
        if !there.is_empty() && dice.chance(50) {
            let (which, path) = dice.one_of(&there);
            let mut mutant = self.begin(*which);
            self.give(&mut mutant, *which, &path[..path.len() - 1], key, dice);
            return Some(mutant);
        }
        let shape = self.grammar.keys[key].shape;
        let having = &self.with_shape[shape];
        if having.is_empty() {
            // Its object comes with a key that holds one.
            let holds = (0..self.grammar.len()).filter(|other| {
                let kind = &self.grammar.keys[*other].kind;
                leads_to(kind, shape) && !self.with_shape[self.grammar.keys[*other].shape].is_empty()
            });
            let holders: Vec<KeyIndex> = holds.collect();
            if holders.is_empty() {
                return None;
            }
            let holder = *dice.one_of(&holders);
            return self.mutant_of_key(holder, dice).filter(|mutant| mutant.keys.contains(&key));
        }
        let which = *dice.one_of(having);
        let mut mutant = self.begin(which);
        let tree = &self.material[which].tree;
        let places = self.grammar.places(tree);
        let objects: Vec<&Place<'_>> = places.iter().filter(|place| place.shape == Some(shape)).collect();
        self.give(&mut mutant, which, &objects.get(index(dice, objects.len()))?.path, key, dice);
        if dice.chance(30) {
            self.mutate(&mut mutant, which, dice);
        }
        Some(mutant)
    }

    /// Gives a key of the object at `path` a value.
    fn give(&self, mutant: &mut Mutant, which: usize, path: &[Step], key: KeyIndex, dice: &mut Dice) {
        let tree = mutant.tree();
        let mut path = path.to_vec();
        path.push(Step::Key(self.grammar.keys[key].name.clone()));
        let kind = &self.grammar.keys[key].kind;
        let here = tree.at(&path).and_then(Tree::text);
        let value = match here.filter(|_| dice.chance(50)).and_then(|text| values::near(text, kind, dice)) {
            Some(text) => Tree::Scalar(text),
            None => self.value(which, key, kind, dice),
        };
        self.put(mutant, path, kind, Some(key), value);
    }

    /// A value for a key: copied from elsewhere, or drawn.
    fn value(&self, which: usize, key: KeyIndex, kind: &Kind, dice: &mut Dice) -> Tree {
        let names = &self.material[which].names;
        let copies = &self.found[key];
        let by_name = matches!(kind, Kind::Text | Kind::Names(_));
        if copies.is_empty() || dice.chance(if by_name { 10 } else { 40 }) {
            return values::draw(&self.grammar, kind, names, dice, 0);
        }
        let (from, path) = dice.one_of(copies);
        let mut copy = self.material[*from].tree.at(path).cloned().unwrap_or(Tree::Nothing);
        if from != &which || by_name {
            names::rename(&mut copy, &self.material[*from].names, names, dice);
        }
        copy
    }

    fn put(&self, mutant: &mut Mutant, path: Path, kind: &Kind, key: Option<KeyIndex>, value: Tree) {
        let below = self.grammar.places_below(&value, kind).into_iter().filter_map(|place| place.key);
        mutant.keys.extend(key.into_iter().chain(below));
        mutant.keys.sort_unstable();
        mutant.keys.dedup();
        mutant.mutations.push(Mutation { path, value: Some(value) });
    }

    fn mutate(&self, mutant: &mut Mutant, which: usize, dice: &mut Dice) {
        let tree = mutant.tree();
        let places = self.grammar.places(&tree);
        match dice.between(0, 99) {
            0..35 => self.change(mutant, &tree, which, &places, dice),
            35..47 => {
                if let Some(place) = places.get(1 + index(dice, places.len().saturating_sub(1).max(1))) {
                    mutant.mutations.push(Mutation { path: place.path.clone(), value: None });
                }
            }
            47..80 => self.add(mutant, which, &places, dice),
            80..90 => self.copy(mutant, which, &places, dice),
            _ => self.lengthen(mutant, &tree, which, &places, dice),
        }
    }

    /// Another value in place of a scalar.
    fn change(&self, mutant: &mut Mutant, tree: &Tree, which: usize, places: &[Place<'_>], dice: &mut Dice) {
        let scalars: Vec<(&Place<'_>, &str)> =
            places.iter().filter_map(|place| Some((place, tree.at(&place.path)?.text()?))).collect();
        let Some((place, text)) = scalars.get(index(dice, scalars.len())) else { return };
        let value = match values::near(text, place.kind, dice).filter(|_| dice.chance(50)) {
            Some(text) => Tree::Scalar(text),
            None => values::draw(&self.grammar, place.kind, &self.material[which].names, dice, 0),
        };
        self.put(mutant, place.path.clone(), place.kind, place.key, value);
    }

    /// A key that an object has not, of a shape that is drawn first: what there is once comes as often as streams.
    fn add(&self, mutant: &mut Mutant, which: usize, places: &[Place<'_>], dice: &mut Dice) {
        let mut shapes: Vec<usize> = places.iter().filter_map(|place| place.shape).collect();
        shapes.sort_unstable();
        shapes.dedup();
        let Some(shape) = shapes.get(index(dice, shapes.len())) else { return };
        let objects: Vec<&Place<'_>> = places.iter().filter(|place| place.shape == Some(*shape)).collect();
        let keys = &self.grammar.shapes[*shape].keys;
        if let (Some(object), false) = (objects.get(index(dice, objects.len())), keys.is_empty()) {
            self.give(mutant, which, &object.path, *dice.one_of(keys), dice);
        }
    }

    /// A part of another description in place of one of the same key.
    fn copy(&self, mutant: &mut Mutant, which: usize, places: &[Place<'_>], dice: &mut Dice) {
        let keyed: Vec<(&Place<'_>, KeyIndex)> = places
            .iter()
            .filter(|place| matches!(place.path.last(), Some(Step::Key(_))))
            .filter_map(|place| Some((place, place.key?)))
            .collect();
        let Some((place, key)) = keyed.get(index(dice, keyed.len())) else { return };
        if matches!(place.path.last(), Some(Step::Key(name)) if *name == self.grammar.keys[*key].name) {
            let kind = &self.grammar.keys[*key].kind;
            let value = self.value(which, *key, kind, dice);
            self.put(mutant, place.path.clone(), kind, Some(*key), value);
        }
    }

    /// One more element of a list or a mapping of names: a copy of one that is there, under a name of its own.
    fn lengthen(
        &self,
        mutant: &mut Mutant,
        tree: &Tree,
        which: usize,
        places: &[Place<'_>],
        dice: &mut Dice,
    ) {
        let many: Vec<&Place<'_>> = places
            .iter()
            .filter(|place| matches!(place.kind, Kind::List(..) | Kind::Names(_) | Kind::Numbers(..)))
            .collect();
        let Some(place) = many.get(index(dice, many.len())) else { return };
        let Some(node) = tree.at(&place.path) else { return };
        let (inner, step, copy) = match (node, place.kind) {
            (Tree::List(items), Kind::List(_, inner)) => {
                (inner, Step::Item(items.len()), items.get(index(dice, items.len())).cloned())
            }
            (Tree::Map(entries), Kind::Names(inner)) => {
                let step = Step::Key(format!("{}-2", entries.first().map_or("x", |(name, _)| name.as_str())));
                (inner, step, entries.get(index(dice, entries.len())).map(|(_, value)| value.clone()))
            }
            (Tree::Map(entries), Kind::Numbers(most, inner)) => {
                let step = Step::Key(dice.between(0, (*most).min(7)).to_string());
                (inner, step, entries.get(index(dice, entries.len())).map(|(_, value)| value.clone()))
            }
            _ => return,
        };
        let names = &self.material[which].names;
        let mut value = copy
            .filter(|_| dice.chance(80))
            .unwrap_or_else(|| values::draw(&self.grammar, inner, names, dice, 0));
        if let Some(Tree::Scalar(name)) = value.at_mut(&[Step::Key("name".to_owned())]) {
            name.push_str("-2");
        }
        let mut path = place.path.clone();
        path.push(step);
        self.put(mutant, path, inner, place.key, value);
    }
}

/// Whether a value of this kind has an object of `shape` without another object around it.
fn leads_to(kind: &Kind, shape: usize) -> bool {
    match kind {
        Kind::Object(other) => *other == shape,
        Kind::Tagged(shapes) => shapes.iter().any(|(_, other)| *other == shape),
        Kind::Names(inner) | Kind::Numbers(_, inner) | Kind::List(_, inner) => leads_to(inner, shape),
        Kind::OneOf(kinds) => kinds.iter().any(|kind| leads_to(kind, shape)),
        _ => false,
    }
}

/// A place in a list of this length; 0 if it is empty.
fn index(dice: &mut Dice, length: usize) -> usize {
    if length == 0 { 0 } else { usize::try_from(dice.between(0, length as u64 - 1)).expect("an index") }
}
