//! Every key of the schema is drawn by a random search, or is in `not_drawn.txt` with the reason why not.
//!
//! Drawn is what a generator's networks have, and what a mutation gives a value in a description that passes the check.

use tautwire_generate::{KeyIndex, Mutator, Tree};
use tautwire_workbench::load_text;

use crate::exempt::listed;
use crate::material::{drawn as networks, mutator};

/// Networks of each generator that are looked at.
const NETWORKS: u64 = 60;

/// Mutants of a key that are tried: one that none of them gets through the check is not drawn.
const MUTANTS: u64 = 120;

#[test]
fn every_key_is_drawn_or_has_a_reason() {
    let mutator = mutator();
    let grammar = mutator.grammar();
    let mut drawn = vec![false; grammar.len()];
    for (name, text) in (0..NETWORKS).flat_map(networks) {
        let tree = Tree::read(&text).unwrap_or_else(|| panic!("a network of {name} is no YAML"));
        grammar.keys_of(&tree).into_iter().for_each(|key| drawn[key] = true);
    }
    for key in 0..grammar.len() {
        if !drawn[key] {
            passing(&mutator, key).into_iter().for_each(|key| drawn[key] = true);
        }
    }
    let not_drawn = listed("not_drawn.txt");
    let is_listed = |key: KeyIndex| not_drawn.iter().any(|(name, _)| *name == grammar.name(key));
    let named = |keys: &mut dyn Iterator<Item = KeyIndex>| {
        keys.map(|key| grammar.name(key)).collect::<Vec<_>>().join("\n  ")
    };
    let missing = named(&mut (0..grammar.len()).filter(|key| !drawn[*key] && !is_listed(*key)));
    assert!(missing.is_empty(), "no search draws these, and no reason is given:\n  {missing}");
    let needless = named(&mut (0..grammar.len()).filter(|key| drawn[*key] && is_listed(*key)));
    assert!(needless.is_empty(), "these are drawn and need no reason:\n  {needless}");
    for (name, _) in &not_drawn {
        assert!((0..grammar.len()).any(|key| grammar.name(key) == *name), "there is no key {name}");
    }
}

/// Keys of the first mutant with a value for `key` that passes the check; none if none does.
fn passing(mutator: &Mutator, key: KeyIndex) -> Vec<KeyIndex> {
    (0..MUTANTS)
        .filter_map(|seed| mutator.mutant_with(key, seed))
        .find(|mutant| {
            // What a later mutation took away, or gave another type, is not there.
            let tree = mutant.tree();
            mutator.grammar().keys_of(&tree).contains(&key)
                && !load_text(&mutant.origin, &tree.write()).has_errors()
        })
        .map_or_else(Vec::new, |mutant| mutant.keys)
}
