//! Every scenario loads without an error, and satisfies the schema that is published.

use std::path::{Path, PathBuf};

use tautwire_workbench::{description_schema, load};

fn scenarios() -> Vec<PathBuf> {
    let folder = Path::new("../../scenarios");
    let entries =
        std::fs::read_dir(folder).expect("the scenarios").map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "yaml")).collect();
    paths.sort();
    assert!(paths.len() > 50, "{}", paths.len());
    paths
}

#[test]
fn every_scenario_loads() {
    for path in scenarios() {
        let loaded = load(&path).expect("a file");
        assert!(!loaded.has_errors(), "{}: {:#?}", path.display(), loaded.diagnostics);
        let network = loaded.network.expect("a network without errors");
        assert!(network.streams.iter().all(|stream| !stream.hops.is_empty()), "{}", path.display());
    }
}

/// A scalar as YAML's core schema takes it; a description keeps the texts.
fn with_scalars(value: serde_json::Value) -> serde_json::Value {
    use serde_json::{Value, json};
    match value {
        Value::String(text) => match (&*text, text.parse::<i64>(), text.parse::<f64>()) {
            ("true", ..) => json!(true),
            ("false", ..) => json!(false),
            (_, Ok(number), _) => json!(number),
            (_, _, Ok(number)) => json!(number),
            _ => json!(text),
        },
        Value::Array(items) => items.into_iter().map(with_scalars).collect(),
        Value::Object(entries) => {
            entries.into_iter().map(|(key, value)| (key, with_scalars(value))).collect()
        }
        other => other,
    }
}

#[test]
fn every_scenario_satisfies_the_schema() {
    let schema = serde_json::from_str(&description_schema()).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for path in scenarios() {
        let text = std::fs::read_to_string(&path).expect("a file");
        let value = with_scalars(tautwire_model::document(&text));
        let faults: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(faults.is_empty(), "{}: {faults:?}", path.display());
    }
}
