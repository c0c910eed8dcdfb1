//! The kept scenarios are what the generator makes.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::path::Path;

use tautwire_generate::Backbone;

/// With `TAUTWIRE_BLESS` set, writes them.
#[test]
fn the_kept_scenarios_are_generated() {
    let folder = Path::new("../../scenarios/generated");
    for (name, backbone) in [("line-20.yaml", Backbone::LINE_20), ("mesh-100.yaml", Backbone::MESH_100)] {
        let text = backbone.describe();
        let path = folder.join(name);
        if std::env::var_os("TAUTWIRE_BLESS").is_some() {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        assert!(
            std::fs::read_to_string(&path).unwrap() == text,
            "{name} differs; TAUTWIRE_BLESS=1 writes it"
        );
    }
}
