//! Every scenario as it is shipped: what is observed in its run is never above what is proven.

use std::path::Path;

use tautwire_workbench::{Options, load, simulate, verify};

#[test]
fn no_scenario_contradicts_its_bounds() {
    let folder = Path::new("../../scenarios");
    let mut count = 0;
    let table = std::fs::read_to_string(folder.join("README.md")).expect("a table of them");
    for entry in std::fs::read_dir(folder).expect("the scenarios") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name of letters");
        assert!(table.contains(&format!("({name})")), "scenarios/README.md does not name {name}");
        let loaded = load(&path).expect("a file");
        assert!(!loaded.has_errors(), "{}: {:#?}", path.display(), loaded.diagnostics);
        let network = loaded.network.expect("no errors");
        let bounds = tautwire_analysis::bounds(&network);
        let observation = simulate(&network, &mut Options::default());
        let found = verify(&network, &bounds, &observation).contradictions;
        assert!(found.is_empty(), "{}: {found:#?}", path.display());
        count += 1;
    }
    assert!(count >= 40, "{count} scenarios");
}
