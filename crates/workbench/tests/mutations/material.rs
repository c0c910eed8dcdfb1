//! What mutations start from: the scenarios, and networks that the generators draw, for parts to copy.

use std::path::{Path, PathBuf};

use tautwire_generate::{
    Failures, Grammar, Mutator, Relation, TdmaFailure, random_admission, random_answers, random_as6802,
    random_avionics, random_clusters, random_gptp, random_halves, random_harts, random_harts_admission,
    random_host_stacks, random_network, random_reserved, random_resets, random_servo, random_slot_pairs,
    random_tdma, random_thirds, random_time_triggered, random_traffic, random_vlans,
};
use tautwire_workbench::description_schema;

/// A kind of drawn network, and what draws one.
type Kind = (&'static str, fn(u64) -> String);

/// What all generators draw.
pub(crate) const KINDS: [Kind; 20] = [
    ("admission", random_admission),
    ("answers", random_answers),
    ("as6802", |seed| random_as6802(seed, Failures::None)),
    ("avionics", random_avionics),
    ("clusters", |seed| random_clusters(seed, Relation::Domains, false)),
    ("gptp", |seed| random_gptp(seed).0),
    ("halves", random_halves),
    ("harts", random_harts),
    ("harts-admission", random_harts_admission),
    ("host-stacks", random_host_stacks),
    ("network", random_network),
    ("reserved", random_reserved),
    ("resets", random_resets),
    ("servo", |seed| random_servo(seed, false)),
    ("slot-pairs", random_slot_pairs),
    ("tdma", |seed| random_tdma(seed, TdmaFailure::ALL[usize::try_from(seed).expect("few") % 14])),
    ("thirds", random_thirds),
    ("time-triggered", |seed| random_time_triggered(seed, false)),
    ("traffic", |seed| random_traffic(seed, &["plant/trace.csv".to_owned()])),
    ("vlans", random_vlans),
];

/// Where the scenarios stand.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
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
    let drawn =
        KINDS.iter().flat_map(|(name, draw)| (0..3).map(move |seed| ((*name).to_owned(), draw(seed))));
    Mutator::new(Grammar::of_schema(&description_schema()), scenarios(), drawn.collect())
}
