//! Every scenario with every entry of a small matrix of defaults, compared with its bounds.
//!
//! A run tries a third of the entries with each scenario, another third by `TAUTWIRE_SEED`, and all of them with `TAUTWIRE_TIMES`.

use tautwire_generate::{Step, Tree, number};

use crate::exempt::Known;
use crate::material::scenarios;
use crate::trial::{Outcome, attempt};

/// A name, and what it changes in a description.
type Entry = (&'static str, fn(&mut Tree));

const ENTRIES: [Entry; 18] = [
    ("granularity 100 ns", |tree| put(tree, &["defaults", "clock", "granularity"], "100 ns")),
    ("granularity 8 ns", |tree| put(tree, &["defaults", "clock", "granularity"], "8 ns")),
    ("tolerance", |tree| put(tree, &["defaults", "clock", "tolerance"], "100 ppm")),
    ("drift", |tree| {
        put(tree, &["defaults", "clock", "tolerance"], "100 ppm");
        put(tree, &["defaults", "clock", "drift"], "-100 ppm");
    }),
    ("coarse and fast", |tree| {
        put(tree, &["defaults", "clock", "granularity"], "1 us");
        put(tree, &["defaults", "clock", "tolerance"], "50 ppm");
        put(tree, &["defaults", "clock", "drift"], "50 ppm");
    }),
    ("PHY delay", phy_delay),
    ("quantum", |tree| with_devices(tree, &[(&["ats", "time-quantum"], "40 ns")])),
    ("few frames", |tree| put(tree, &["defaults", "queue-limit", "frames"], "3")),
    ("few octets", |tree| put(tree, &["defaults", "queue-limit", "octets"], "4000 B")),
    ("charged overhead", |tree| {
        with_devices(tree, &[(&["credit-charged-overhead"], "42 B"), (&["ats", "charged-overhead"], "24 B")]);
    }),
    ("no overhead", |tree| {
        with_devices(tree, &[(&["credit-charged-overhead"], "0 B"), (&["ats", "charged-overhead"], "0 B")]);
    }),
    ("tagged", |tree| put(tree, &["vlans", "1", "tagged"], "all")),
    ("untagged", |tree| {
        tree.remove(&[Step::Key("vlans".to_owned())]);
        put(tree, &["vlans", "1", "untagged"], "all");
    }),
    ("cut-through", |tree| with_devices(tree, &[(&["switching"], "cut-through")])),
    ("early cut-through", |tree| {
        with_devices(tree, &[(&["switching"], "cut-through"), (&["cut-through-header"], "14 B")]);
    }),
    ("two-stage", |tree| with_devices(tree, &[(&["two-stage"], "true")])),
    ("round-robin", |tree| with_devices(tree, &[(&["tie-rule"], "round-robin")])),
    ("classes", |tree| put(tree, &["defaults", "traffic-class-table"], "identity")),
];

#[test]
fn scenarios_keep_their_bounds_with_other_defaults() {
    let all = number("TAUTWIRE_TIMES").is_some_and(|times| times > 1);
    let shift = usize::try_from(number("TAUTWIRE_SEED").unwrap_or(0) % 3).expect("a third");
    let known = Known::read();
    let (mut tried, mut passed, mut broken) = (0, 0, Vec::new());
    for (row, (path, text)) in scenarios().into_iter().enumerate() {
        let scenario = Tree::read(&text).expect("YAML");
        for (column, (entry, change)) in ENTRIES.iter().enumerate() {
            if !all && (row + column + shift) % 3 != 0 {
                continue;
            }
            tried += 1;
            let mut tree = scenario.clone();
            change(&mut tree);
            match attempt(&path, &tree.write(), row as u64) {
                Outcome::Refused => {}
                Outcome::Held => passed += 1,
                Outcome::Broken(fault) => {
                    passed += 1;
                    if !known.is(&path, &fault) {
                        broken.push(format!("{path} with {entry}: {}: {}", fault.kind, fault.message));
                    }
                }
            }
        }
    }
    assert!(broken.is_empty(), "{} of {tried} are broken\n{}", broken.len(), broken.join("\n"));
    assert!(passed * 2 > tried, "only {passed} of {tried} pass the check");
}

/// Sets a value, with the mappings on its way.
fn put(tree: &mut Tree, keys: &[&str], value: &str) {
    let path: Vec<Step> = keys.iter().map(|key| Step::Key((*key).to_owned())).collect();
    for length in 1..path.len() {
        if !matches!(tree.at(&path[..length]), Some(Tree::Map(_))) {
            tree.set(&path[..length], Tree::Map(Vec::new()));
        }
    }
    tree.set(&path, Tree::Scalar(value.to_owned()));
}

/// Every cable takes a time that is drawn.
fn phy_delay(tree: &mut Tree) {
    let count = tree.get("links").map_or(0, |links| links.items().len());
    let delay = Tree::read("{min: 50 ns, max: 1 us}").expect("YAML");
    for link in 0..count {
        let path = ["links", "phy-delay"].map(|key| Step::Key(key.to_owned()));
        tree.set(&[path[0].clone(), Step::Item(link), path[1].clone()], delay.clone());
    }
}

/// Every device model that a bridge has gets these values; one that is not the description's own becomes the base of one.
fn with_devices(tree: &mut Tree, values: &[(&[&str], &str)]) {
    let text = |node: Option<&Tree>| node.and_then(Tree::text).map(str::to_owned);
    let general = text(tree.get("defaults").and_then(|defaults| defaults.get("device")));
    let general = general.unwrap_or_else(|| "ideal".to_owned());
    let own: Vec<String> =
        tree.get("devices").map_or(&[][..], Tree::entries).iter().map(|(name, _)| name.clone()).collect();
    let nodes: Vec<(String, String)> = tree
        .get("nodes")
        .map_or(&[][..], Tree::entries)
        .iter()
        .filter_map(|(name, node)| Some((name.clone(), text(node.get("device"))?)))
        .collect();
    let mut models = own.clone();
    let mut renamed = |tree: &mut Tree, at: &[&str], device: &str| {
        if own.iter().any(|name| name == device) {
            return;
        }
        let name = format!("other-{device}");
        put(tree, at, &name);
        if !models.contains(&name) {
            put(tree, &["devices", &name, "based-on"], device);
            models.push(name);
        }
    };
    renamed(tree, &["defaults", "device"], &general);
    for (node, device) in &nodes {
        renamed(tree, &["nodes", node, "device"], device);
    }
    for model in &models {
        for (keys, value) in values {
            put(tree, &[&["devices", model.as_str()], *keys].concat(), value);
        }
    }
}
