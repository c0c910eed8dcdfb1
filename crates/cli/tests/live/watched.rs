//! What a run has counted while it goes on: `status.json` in its folder, by itself and by agents, and that it goes with the run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::common::{command, folder, root, tautwire};
use crate::processes::{Running, namespace, status_of};

/// The folder in which a run of this name is on its way, once it has counted something.
pub(crate) fn running(folder: &Path, name: &str) -> PathBuf {
    let begin = format!("{name}.partial-");
    for _ in 0..1200 {
        let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
        let mut named =
            entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(&begin));
        if let Some(path) = named.find(|path| path.join("status.json").is_file()) {
            return path;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("never in 60 s");
}

/// Frames of the first stream that were sent, received, and received late or never.
pub(crate) fn counts(status: &Value) -> [u64; 3] {
    let row = &status["streams"][0];
    ["sent_frames", "received_frames", "missing_frames"].map(|key| row[key].as_u64().unwrap_or(0))
}

#[test]
fn a_run_says_what_it_has_counted_until_it_is_over() {
    let folder = folder("live-watched");
    if namespace().is_none() {
        return;
    }
    let text = fs::read_to_string(root().join("scenarios/two-stations.yaml")).unwrap();
    // A second stream without a bound, and clocks that follow each other.
    let text = text.replace("nodes:", "gptp: {}\nnodes:").replace(
        "streams:\n",
        "streams:\n  - {name: more, talker: controller, listeners: sensor, payload: 900 B, traffic: {type: poisson, mean-interval: 10 ms}}\n",
    );
    fs::write(folder.join("net.yaml"), text).unwrap();
    let arguments = ["live", "net.yaml", "--duration", "5s", "--ordinary-priority", "--out", "run"];
    let mut child = Running(command(&folder, &arguments).stdout(Stdio::null()).spawn().unwrap());
    let partial = running(&folder, "run");
    let row_of = |status: &Value, name: &str| {
        let rows = status["streams"].as_array().cloned().unwrap_or_default();
        rows.into_iter().find(|row| row["stream"] == name).unwrap_or_default()
    };
    let has_some =
        |status: &Value, least: u64| row_of(status, "samples")["received_frames"].as_u64() >= Some(least);
    let first = status_of(&partial, |status| has_some(status, 1));
    let row = row_of(&first, "samples");
    assert_eq!((&row["talker"], &row["listener"]), (&"sensor".into(), &"controller".into()));
    assert_eq!(
        (&row["deadline_ps"], &first["duration_ps"]),
        (&150_000_000.into(), &5_000_000_000_000_u64.into())
    );
    assert!(row["bound_ps"].as_u64().unwrap() > 10_000_000, "{row}");
    let [mean, p99, max] =
        ["delay_mean_ps", "delay_p99_ps", "delay_max_ps"].map(|key| row[key].as_u64().unwrap());
    assert!(mean <= max && p99 <= max && mean > 10_000_000, "{row}");
    // Of Poisson traffic there is no bound.
    assert_eq!(row_of(&first, "more")["bound_ps"], Value::Null, "{first}");
    let ports = first["ports"].as_array().unwrap();
    let names: Vec<_> = ports.iter().map(|port| port["port"].as_str().unwrap()).collect();
    assert_eq!((names, &ports[0]["rate_bps"]), (vec!["sensor.p1", "controller.p1"], &100_000_000.into()));
    let second = status_of(&partial, |status| {
        has_some(status, row["received_frames"].as_u64().unwrap() + 1)
            && !status["clocks"].as_array().unwrap().is_empty()
    });
    assert!(second["elapsed_ps"].as_u64() > first["elapsed_ps"].as_u64());
    assert!(second["ports"][0]["sent_octets"].as_u64() > first["ports"][0]["sent_octets"].as_u64());
    let network: Value = serde_json::from_slice(&fs::read(partial.join("network.json")).unwrap()).unwrap();
    assert_eq!(network["nodes"].as_array().unwrap().len(), 2);
    let code = child.wait().unwrap().code();
    assert!(matches!(code, Some(0 | 1)), "{code:?}");
    assert!(!partial.exists() && !folder.join("run/status.json").exists());
    assert_eq!(tautwire(&folder, &["report", "run"]).code, 0);
}
