//! The default that the grammar prints is the one that is applied: stated everywhere it gives the network that there is without the key.
//!
//! Compared is the network that a description resolves to. A default that is not compared anywhere, or that a layer
//! above replaces (a device for its node, all for one), is in `defaults.txt` with the reason.

use tautwire_generate::Tree;
use tautwire_workbench::{Network, load_text};

use crate::exempt::listed;
use crate::material::{drawn, mutator, scenarios};

/// Descriptions in which a default is stated and compared.
const COMPARED: usize = 2;

/// Descriptions that are drawn of each kind.
const DRAWN: u64 = 8;

fn network(name: &str, text: &str) -> Option<Network> {
    let loaded = load_text(name, text);
    loaded.network.filter(|_| loaded.diagnostics.iter().all(|one| one.code != "form::no-effect"))
}

#[test]
fn what_the_grammar_prints_as_default_is_applied() {
    let mutator = mutator();
    let grammar = mutator.grammar();
    let all: Vec<(String, Tree)> = scenarios()
        .into_iter()
        .chain((0..DRAWN).flat_map(drawn))
        .map(|(name, text)| (name, Tree::read(&text).expect("a description is YAML")))
        .collect();
    let listed = listed("defaults.txt");
    let is_listed = |name: &str| listed.iter().any(|(known, _)| *known == name);
    let (mut compared, mut wrong) = (0, Vec::new());
    for key in (0..grammar.len()).filter(|key| grammar.has_default(*key)) {
        let name = grammar.name(key);
        let (mut same, mut other) = (0, None);
        for (file, tree) in &all {
            let Some(pair) = grammar.without_and_stated(key, tree) else { continue };
            let [Some(without), Some(stated)] = pair.map(|tree| network(file, &tree.write())) else {
                continue;
            };
            if without == stated {
                same += 1;
            } else {
                other.get_or_insert_with(|| file.clone());
            }
            if same == COMPARED || other.is_some() {
                break;
            }
        }
        compared += usize::from(same > 0);
        match (other, same) {
            (Some(file), _) if !is_listed(&name) => wrong.push(format!("{name}: another one in {file}")),
            (None, 0) if !is_listed(&name) => wrong.push(format!("{name}: nowhere compared")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 100, "{compared}");
}
