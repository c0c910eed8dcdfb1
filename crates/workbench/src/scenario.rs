//! A description that holds together: its name, its text, its network, and where its results go.

use std::path::{Path, PathBuf};

use tautwire_model::{Loaded, Network};
use tautwire_report::Manifest;

/// A description without errors.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Name of its file without the ending.
    pub name: String,
    /// Text of the description; that of files that it names comes behind it.
    pub text: String,
    /// What it describes.
    pub network: Network,
}

impl Scenario {
    /// What was loaded from `path`, or back again if it has errors.
    ///
    /// # Errors
    /// What was loaded, unchanged, if it has no network.
    pub fn new(path: &Path, mut loaded: Loaded) -> Result<Self, Box<Loaded>> {
        let Some(network) = loaded.network.take() else { return Err(Box::new(loaded)) };
        let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let text = loaded.sources.iter().map(|source| source.text.as_str()).collect();
        Ok(Self { name, text, network })
    }

    /// Where the results of a run go unless something else is said: `runs/<scenario>-<seed>`.
    #[must_use]
    pub fn run_folder(&self) -> PathBuf {
        Path::new("runs").join(format!("{}-{}", self.name, self.network.run.seed))
    }

    /// What a run folder says about its origin; `command` is the subcommand with its arguments.
    #[must_use]
    pub fn manifest(&self, command: &[String]) -> Manifest {
        Manifest::new(&self.name, &self.text, Some(self.network.run.seed), command)
    }
}
