//! What mutations start from: the scenarios, and networks that the generators draw, for parts to copy.

use std::path::PathBuf;

use tautwire_generate::{Grammar, KINDS, Mutator, random_traffic};
use tautwire_workbench::{MECHANISMS, description_schema};

/// Networks of a seed that generators draw, each with its kind: one of every generator and one of every mechanism.
pub(crate) fn drawn(seed: u64) -> Vec<(String, String)> {
    let kinds = KINDS.iter().map(|(name, draw)| ((*name).to_owned(), draw(seed)));
    let own = MECHANISMS.iter().map(|mechanism| (mechanism.key().name.to_owned(), mechanism.draw(seed)));
    let replayed = random_traffic(seed, &["plant/trace.csv".to_owned()]);
    kinds.chain(own).chain([("replays".to_owned(), replayed)]).collect()
}

/// The folder of the scenarios.
pub(crate) fn folder() -> PathBuf {
    PathBuf::from("../../scenarios")
}

/// All scenarios, by path.
pub(crate) fn scenarios() -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder()).expect("the scenarios");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a file");
        (path.to_string_lossy().into_owned(), text)
    };
    paths.into_iter().map(read).collect()
}

/// A mutator of the scenarios, with parts of drawn networks.
pub(crate) fn mutator() -> Mutator {
    let drawn = (0..3).flat_map(drawn).collect();
    Mutator::new(Grammar::of_schema(&description_schema()), scenarios(), drawn)
}
