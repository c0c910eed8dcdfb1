//! `manifest.json`: what a run folder was made from.
//!
//! Apart from `summary.json`, which is equal for equal runs whoever made them with what.

use serde::{Deserialize, Serialize};

use crate::sha256::sha256;

/// Where results come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Name of the scenario.
    pub scenario: String,
    /// The file of its description; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// SHA-256 of the text of its description.
    pub scenario_sha256: String,
    /// Seed of the run; absent if none was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Version of Tautwire.
    pub version: String,
    /// The command: `verify`, `simulate`, `bounds` and its arguments.
    pub command: Vec<String>,
}

impl Manifest {
    /// Of a scenario with this name and text.
    #[must_use]
    pub fn new(scenario: &str, text: &str, seed: Option<u64>, command: &[String]) -> Self {
        Self {
            scenario: scenario.to_owned(),
            file: None,
            scenario_sha256: sha256(text.as_bytes()),
            seed,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: command.to_vec(),
        }
    }
    /// The same, of the description in this file.
    #[must_use]
    pub fn of_file(self, file: &str) -> Self {
        Self { file: Some(file.to_owned()), ..self }
    }

    /// Whether two runs are of the same file; where a manifest names none, of the same text.
    #[must_use]
    pub fn has_file_of(&self, other: &Self) -> bool {
        match (&self.file, &other.file) {
            (Some(one), Some(two)) => one == two,
            _ => self.scenario_sha256 == other.scenario_sha256,
        }
    }
}
