//! Networks: scenarios, and drawn ones of every kind.

use std::path::Path;

use tautwire_exchange::Converted;
use tautwire_generate::{KINDS, seeds};
use tautwire_workbench::Network;

/// All scenarios, and networks of every kind by some seeds, with their names.
pub(crate) fn networks(count: u64) -> Vec<(String, Network)> {
    let folder = Path::new("../../scenarios");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "yaml"));
    files.sort();
    let mut found: Vec<(String, Network)> = Vec::new();
    for file in files {
        // A scenario that is to be scheduled may have faults that a schedule mends.
        let loaded = tautwire_workbench::load(&file).unwrap();
        found.extend(loaded.network.map(|network| (file.display().to_string(), network)));
    }
    assert!(found.len() > 50);
    for seed in seeds(count) {
        for (kind, draw) in KINDS {
            let text = draw(seed);
            let loaded = tautwire_workbench::load_text(kind, &text);
            found.extend(loaded.network.map(|network| (format!("{kind} {seed}"), network)));
        }
    }
    found
}

/// Descriptions with their networks, by the same choice, of those that need no other file.
pub(crate) fn descriptions(count: u64) -> Vec<(String, String, Network)> {
    let mut texts: Vec<(String, String)> = Vec::new();
    for entry in std::fs::read_dir("../../scenarios").unwrap() {
        let file = entry.unwrap().path();
        if file.extension().is_some_and(|ending| ending == "yaml") {
            texts.push((file.display().to_string(), std::fs::read_to_string(&file).unwrap()));
        }
    }
    texts.sort();
    for seed in seeds(count) {
        texts.extend(KINDS.iter().map(|(kind, draw)| (format!("{kind} {seed}"), draw(seed))));
    }
    let loaded = texts.into_iter().filter_map(|(name, text)| {
        let network = tautwire_workbench::load_text("net.yaml", &text).network?;
        Some((name, text, network))
    });
    loaded.collect()
}

/// A network in a form.
pub(crate) fn written(form: &str, network: &Network) -> Converted {
    let mut texts = tautwire_exchange::export(form).unwrap().write(network, None).unwrap();
    assert_eq!(texts.len(), 1);
    texts.remove(0).converted
}

/// The network of a description.
pub(crate) fn network(text: &str) -> Network {
    let loaded = tautwire_workbench::load_text("net.yaml", text);
    loaded.network.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}
