//! The subcommands on networks that are right: what they print, keep and end with.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod changes;
#[path = "../common/mod.rs"]
mod common;
mod descriptions;
mod exchange;
mod explanations;
mod results;
mod verdicts;
mod watching;

use std::fs;
use std::path::{Path, PathBuf};

/// A control loop and a camera over one bridge; the loop's deadline is the caller's.
pub(crate) fn small(folder: &Path, deadline: &str) -> PathBuf {
    let text = format!(
        "name: small
vlans: {{1: {{tagged: all}}}}
defaults: {{ rate: 100 Mbit/s, clock: {{ tolerance: 100 ppm }} }}
nodes:
  sensor: {{ type: end-station }}
  camera: {{ type: end-station }}
  control: {{ type: end-station }}
  bridge: {{ type: bridge }}
links:
  - {{ between: [sensor, bridge], length: 10 m }}
  - {{ between: [camera, bridge], length: 10 m }}
  - {{ between: [control, bridge], length: 10 m }}
streams:
  - {{ name: loop, talker: sensor, listeners: control, priority: 6, payload: 100 B, deadline: {deadline},
      traffic: {{ type: periodic, interval: 1 ms }} }}
  - {{ name: video, talker: camera, listeners: control, priority: 4, payload: 1400 B, deadline: 2 ms,
      traffic: {{ type: periodic, interval: 1 ms, burst: 4, jitter: 20 us }} }}
run: {{ duration: 100 ms }}
"
    );
    let path = folder.join("small.yaml");
    fs::write(&path, text).unwrap();
    path
}
