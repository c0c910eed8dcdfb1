//! The run folders that there are: where each comes from and its verdicts, newest first; of a damaged one what is wrong.
//!
//! A folder that is looked into may be a run folder itself, or have run folders in it. Of `summary.json` little is read, and nothing
//! again that has not changed. A folder on its way (`partial.rs`) whose process lives is a running one.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::manifest::Manifest;
use crate::partial;
use crate::run_folder::{HISTOGRAM, MANIFEST, NETWORK, SUMMARY, at};
use crate::summary::{RunSummary, VerificationSummary};

/// The counts of a run that goes on, or of a bridge.
const STATUS: &str = "status.json";

/// A run folder in a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListedRun {
    /// Name of its folder.
    pub name: String,
    /// Where it is.
    #[serde(skip)]
    pub path: PathBuf,
    /// When it was written, in seconds since 1970.
    pub written_s: u64,
    /// Where it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<Manifest>,
    /// Its run and its verdicts.
    #[serde(flatten)]
    pub brief: Brief,
    /// Why it cannot be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// What a list shows of `summary.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Brief {
    /// The run, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunSummary>,
    /// The verdicts, if there are bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<VerificationSummary>,
}

/// A folder on its way, whose process lives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunningRun {
    /// Name of the folder while it is on its way.
    pub name: String,
    /// Where it is.
    #[serde(skip)]
    pub path: PathBuf,
    /// Name that it will have.
    pub becomes: String,
    /// Whether it says what it has counted up to now.
    pub live: bool,
}

/// A folder in which a bridge keeps what it has counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedBridge {
    /// Name of the folder.
    pub name: String,
    /// Where it is.
    #[serde(skip)]
    pub path: PathBuf,
    /// When it was written last, in seconds since 1970.
    pub written_s: u64,
}

/// What is in a folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FolderList {
    /// Complete ones and damaged ones, the newest first.
    pub runs: Vec<ListedRun>,
    /// Those on their way, by name.
    pub running: Vec<RunningRun>,
    /// Counts of bridges, by name.
    pub bridges: Vec<ListedBridge>,
}

/// When files were written, and their lengths.
type Seen = Vec<Option<(SystemTime, u64)>>;

/// What is known of run folders; reads again what has changed.
#[derive(Debug, Default)]
pub struct RunList {
    known: BTreeMap<PathBuf, (Seen, ListedRun)>,
}

impl RunList {
    /// What is in a folder now.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn look(&mut self, folder: &Path) -> io::Result<FolderList> {
        let mut list = FolderList::default();
        if is_run_folder(folder) {
            list.runs.push(self.listed(folder));
            return Ok(list);
        }
        list.bridges.extend(bridge(folder));
        for entry in fs::read_dir(folder)? {
            let Ok(path) = entry.map(|entry| entry.path()) else { continue };
            // Names that are no text have no place in an address.
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            if let Some(becomes) = partial::running(&path) {
                let (name, becomes) = (name.to_owned(), becomes.to_owned());
                list.running.push(RunningRun { name, becomes, live: path.join(STATUS).is_file(), path });
            } else if partial::is_partial(name) {
                // A killed process left it.
            } else if is_run_folder(&path) {
                list.runs.push(self.listed(&path));
            } else {
                list.bridges.extend(bridge(&path));
            }
        }
        list.runs.sort_by(|one, other| (other.written_s, &one.name).cmp(&(one.written_s, &other.name)));
        list.bridges.sort_by(|one, other| one.name.cmp(&other.name));
        list.running.sort_by(|one, other| one.name.cmp(&other.name));
        // Folders that have gone are forgotten.
        let is_there =
            |path: &PathBuf| path.parent() != Some(folder) || list.runs.iter().any(|run| run.path == *path);
        self.known.retain(|path, _| is_there(path));
        Ok(list)
    }

    fn listed(&mut self, path: &Path) -> ListedRun {
        let seen: Seen = [MANIFEST, SUMMARY, NETWORK, HISTOGRAM]
            .iter()
            .map(|name| {
                fs::metadata(path.join(name)).and_then(|file| Ok((file.modified()?, file.len()))).ok()
            })
            .collect();
        if let Some((before, known)) = self.known.get(path)
            && *before == seen
        {
            return known.clone();
        }
        let listed = read(path, &seen);
        self.known.insert(path.to_owned(), (seen, listed.clone()));
        listed
    }
}

/// Whether it has one of the files by which a run folder is known.
fn is_run_folder(path: &Path) -> bool {
    [MANIFEST, SUMMARY].iter().any(|name| path.join(name).is_file())
}

/// The folder, if a bridge keeps its counts there.
fn bridge(path: &Path) -> Option<ListedBridge> {
    let file = fs::metadata(path.join(STATUS)).ok().filter(fs::Metadata::is_file)?;
    Some(ListedBridge {
        name: name_of(path),
        path: path.to_owned(),
        written_s: seconds(file.modified().ok()),
    })
}

/// The name of a folder; that of `.` is the name of the folder itself.
fn name_of(path: &Path) -> String {
    let named = path.file_name().map(ToOwned::to_owned);
    let named = named.or_else(|| Some(path.canonicalize().ok()?.file_name()?.to_owned()));
    named.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn seconds(time: Option<SystemTime>) -> u64 {
    time.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |since| since.as_secs())
}

fn read(path: &Path, seen: &Seen) -> ListedRun {
    let written = seen.iter().flatten().map(|(time, _)| *time).max();
    let manifest = document::<Manifest>(path, MANIFEST);
    let brief = document::<Brief>(path, SUMMARY);
    let others = [NETWORK, HISTOGRAM].map(|name| {
        let file = path.join(name);
        fs::File::open(&file).map(drop).map_err(|error| at(&file, &error).to_string())
    });
    let [network, histogram] = others.map(Result::err);
    let faults = [manifest.as_ref().err(), brief.as_ref().err(), network.as_ref(), histogram.as_ref()];
    let fault = faults.into_iter().flatten().next().cloned();
    ListedRun {
        name: name_of(path),
        path: path.to_owned(),
        written_s: seconds(written),
        manifest: manifest.ok(),
        brief: brief.unwrap_or_default(),
        fault,
    }
}

/// A file of a run folder; the error names it.
fn document<T: for<'d> Deserialize<'d>>(path: &Path, name: &str) -> Result<T, String> {
    let file = path.join(name);
    let no = |error: io::Error| at(&file, &error).to_string();
    let text = fs::read_to_string(&file).map_err(no)?;
    serde_json::from_str(&text).map_err(|error| no(error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run_folder::RunFolderWriter;

    fn write(place: &Path, command: &str) {
        let (network, bounds, observation) = fixture::line();
        let manifest = Manifest::new("line", "text", Some(1), &[command.to_owned()]);
        let writer = RunFolderWriter::create(place).expect("begun");
        writer.finish(&manifest, &network, "text", Some(&bounds), Some(&observation)).expect("written");
    }

    fn set_age(place: &Path, seconds: u64) {
        for name in [MANIFEST, SUMMARY, NETWORK, HISTOGRAM] {
            let file = fs::File::options().append(true).open(place.join(name)).expect("a file");
            let time = SystemTime::now() - std::time::Duration::from_secs(seconds);
            file.set_modified(time).expect("its time is set");
        }
    }

    #[test]
    fn runs_are_listed_newest_first_and_damaged_ones_say_why() {
        let folder = std::env::temp_dir().join(format!("tautwire-run-list-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        for (name, age) in [("old", 300), ("new", 100), ("damaged", 200), ("half", 400), ("cut", 500)] {
            write(&folder.join(name), name);
            set_age(&folder.join(name), age);
        }
        fs::create_dir(folder.join("else")).expect("a folder");
        fs::write(folder.join("damaged").join(SUMMARY), "{\"format\": 1,").expect("a file");
        set_age(&folder.join("damaged"), 200);
        fs::remove_file(folder.join("half").join(HISTOGRAM)).expect("a file");
        fs::remove_file(folder.join("cut").join(MANIFEST)).expect("a file");
        let writer = RunFolderWriter::create(&folder.join("next")).expect("begun");
        fs::create_dir(folder.join("sw1")).expect("a folder");
        for place in [&folder.join("sw1"), writer.temporary()] {
            fs::write(place.join(STATUS), "{}").expect("a file");
        }
        let mut runs = RunList::default();
        let list = runs.look(&folder).expect("a folder");
        let names: Vec<_> = list.runs.iter().map(|run| run.name.as_str()).collect();
        assert_eq!(names, ["new", "damaged", "old", "half", "cut"]);
        let of = |name: &str| list.runs.iter().find(|run| run.name == name).expect("a run");
        assert_eq!(of("new").manifest.as_ref().expect("it is there").command, ["new"]);
        let counts = &of("new").brief.verification.as_ref().expect("bounds").streams;
        assert_eq!(counts.values().sum::<u64>(), fixture::line().0.streams.len() as u64);
        assert_eq!(of("new").fault, None);
        for (name, file) in [("damaged", SUMMARY), ("half", HISTOGRAM), ("cut", MANIFEST)] {
            let fault = of(name).fault.as_deref().expect("it is damaged");
            assert!(fault.contains(file), "{fault}");
        }
        let running: Vec<_> = list.running.iter().map(|run| (run.becomes.as_str(), run.live)).collect();
        assert_eq!(running, [("next", true)]);
        let bridges: Vec<_> = list.bridges.iter().map(|bridge| bridge.name.as_str()).collect();
        assert_eq!(bridges, ["sw1"]);
        drop(writer);
        fs::remove_dir_all(folder.join("old")).expect("ours");
        write(&folder.join("damaged"), "mended");
        let list = runs.look(&folder).expect("a folder");
        let names: Vec<_> = list.runs.iter().map(|run| run.name.as_str()).collect();
        assert_eq!(names, ["damaged", "new", "half", "cut"]);
        assert_eq!((list.runs[0].fault.as_ref(), list.running.len()), (None, 0));
        assert_eq!(runs.known.len(), 4);
        let list = runs.look(&folder.join("new")).expect("a folder");
        assert_eq!(list.runs.len(), 1);
        assert!(runs.look(&folder.join("none")).is_err());
        fs::remove_dir_all(&folder).expect("ours");
    }

    /// A folder that a killed process left is neither a run nor a running one.
    #[test]
    fn what_a_killed_process_left_is_not_listed() {
        let folder = std::env::temp_dir().join(format!("tautwire-run-list-left-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let left = folder.join("run.partial-4999999-0");
        fs::create_dir_all(&left).expect("a folder");
        for name in [SUMMARY, STATUS, ".lock"] {
            fs::write(left.join(name), "{}").expect("a file");
        }
        assert_eq!(RunList::default().look(&folder).expect("a folder"), FolderList::default());
        fs::remove_dir_all(&folder).expect("ours");
    }
}
