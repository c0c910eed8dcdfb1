//! Prints a fingerprint of what is run and proven of every scenario and of drawn networks of each kind: one line each, with the
//! hash of all transmissions and that of `summary.json`. A change that is not to change results leaves all lines as they are:
//!
//! `cargo run --release -p tautwire-workbench --example fingerprints -- 300 > before.txt`, and the same again afterwards.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::path::Path;

use tautwire_generate::KINDS;
use tautwire_workbench::{Manifest, Network, Options, Summary, bounds, load, load_text, simulate};

fn main() {
    let count = std::env::args().nth(1).map_or(300, |count| count.parse().expect("a number of networks"));
    let package = std::env::var("CARGO_MANIFEST_DIR").expect("cargo runs it");
    let folder = Path::new(&package).join("../../scenarios");
    let entries = std::fs::read_dir(folder).expect("the scenarios");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    paths.sort();
    for path in paths {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        print(&name, load(&path).expect("a file").network);
    }
    for (name, draw) in KINDS {
        for seed in 0..count {
            print(&format!("{name} {seed}"), load_text(name, &draw(seed)).network);
        }
    }
}

fn print(name: &str, network: Option<Network>) {
    let Some(network) = network else { return println!("{name}: refused") };
    let bounds = bounds(&network);
    let observation = simulate(&network, &mut Options::default());
    let summary = Summary::new(&network, Some(&bounds), Some(&observation)).to_json();
    let hash = Manifest::new(name, &summary, None, &[]).scenario_sha256;
    println!("{name}: {:016x} {}", observation.trace_hash, &hash[..16]);
}
