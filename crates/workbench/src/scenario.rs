//! A description that holds together: its name, its text, its network, and where its results go.

use std::path::{Path, PathBuf};

use tautwire_model::{Loaded, Network};
use tautwire_report::{Manifest, RunFolder};

/// A description without errors.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Name of its file without the ending.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
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
        Ok(Self { name, path: path.to_owned(), text, network })
    }

    /// Where the results of a run go unless something else is said: `runs/<scenario>-<seed>`; if a run of another file of this
    /// name stands there, with `-2` or the next number behind it that is free or this file's own.
    #[must_use]
    pub fn run_folder(&self) -> PathBuf {
        let first = format!("{}-{}", self.name, self.network.run.seed);
        let names = (2..).map(|number| format!("{first}-{number}"));
        let mut places = std::iter::once(first.clone()).chain(names).map(|name| Path::new("runs").join(name));
        let is_free = |place: &PathBuf| !RunFolder::is_of_another_file(place, &self.path);
        places.find(is_free).expect("there is always one more number")
    }

    /// What a run folder says about its origin; `command` is the subcommand with its arguments.
    #[must_use]
    pub fn manifest(&self, command: &[String]) -> Manifest {
        Manifest::new(&self.name, &self.text, Some(self.network.run.seed), command).of_file(&self.path)
    }
}
