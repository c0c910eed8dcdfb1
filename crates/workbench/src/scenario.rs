//! A description that holds together: its name, its text, its network, and where its results go.

use std::path::{Path, PathBuf};

use tautwire_model::{Loaded, Network};
use tautwire_report::{Manifest, RunFolder};

/// A description without errors.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Name of its file without the ending.
    pub name: String,
    /// Its file, from the root.
    pub file: String,
    /// Text of the description; that of files that it names comes behind it.
    pub text: String,
    /// What it describes.
    pub network: Network,
}

/// A run folder of another description at the place of this one's results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherRun {
    /// The folder.
    pub place: PathBuf,
    /// The file that it is of.
    pub file: String,
}

impl Scenario {
    /// What was loaded from `path`, or back again if it has errors.
    ///
    /// # Errors
    /// What was loaded, unchanged, if it has no network.
    pub fn new(path: &Path, mut loaded: Loaded) -> Result<Self, Box<Loaded>> {
        let Some(network) = loaded.network.take() else { return Err(Box::new(loaded)) };
        let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let file =
            path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned());
        let file = file.to_string_lossy().into_owned();
        let text = loaded.sources.iter().map(|source| source.text.as_str()).collect();
        Ok(Self { name, file, text, network })
    }

    /// The default folder of a run's results: `runs/<scenario>-<seed>`, relative to `folder`. If a run of another file
    /// of that name is there, `runs/<scenario>-<seed>-2` and so on; and the origin of that run.
    #[must_use]
    pub fn run_folder(&self, folder: &Path) -> (PathBuf, Option<OtherRun>) {
        let (own, mut other) = (self.manifest(&[]), None);
        let name = format!("{}-{}", self.name, self.network.run.seed);
        let mut place = Path::new("runs").join(&name);
        for number in 2_u64.. {
            match RunFolder::manifest_at(&folder.join(&place)) {
                Some(found) if !found.has_file_of(&own) => {
                    let file = found.file.unwrap_or(found.scenario);
                    other.get_or_insert(OtherRun { place: place.clone(), file });
                }
                _ => break,
            }
            place = Path::new("runs").join(format!("{name}-{number}"));
        }
        (place, other)
    }

    /// The origin that a run folder records; `command` is the subcommand with its arguments.
    #[must_use]
    pub fn manifest(&self, command: &[String]) -> Manifest {
        Manifest::new(&self.name, &self.text, Some(self.network.run.seed), command).of_file(&self.file)
    }
}
