//! A run folder: `manifest.json`, `summary.json`, `network.json`, Parquet files and traces.
//!
//! It is written under a temporary name next to its place and renamed when all of it is there: a killed process leaves
//! nothing that looks complete. An earlier run of the same name is replaced; a folder that is no run folder never.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tautwire_analysis::Bounds;
use tautwire_model::network::Network;
use tautwire_sim::Observation;

use crate::histogram::{self, DelayHistogram};
use crate::manifest::Manifest;
use crate::partial::Partial;
use crate::summary::Summary;
use crate::topology::NetworkDocument;
use crate::{arrow, json, parquet};

pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const SUMMARY: &str = "summary.json";
pub(crate) const NETWORK: &str = "network.json";
pub(crate) const HISTOGRAM: &str = "histogram.parquet";

/// A run folder on its way.
#[derive(Debug)]
pub struct RunFolderWriter {
    place: PathBuf,
    partial: Partial,
    is_done: bool,
}

/// The contents of a run folder.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFolder {
    /// Where it comes from.
    pub manifest: Manifest,
    /// Its results.
    pub summary: Summary,
    /// Its network.
    pub network: NetworkDocument,
    /// Its histograms; empty if there was no run.
    pub histograms: Vec<DelayHistogram>,
}

impl RunFolderWriter {
    /// Begins a run folder that will be moved to `place`.
    ///
    /// # Errors
    /// If something other than a run folder or an empty folder is there, or a folder cannot be made next to it.
    pub fn create(place: &Path) -> io::Result<Self> {
        if place.exists() && !place.join(MANIFEST).is_file() && !is_empty_folder(place)? {
            let text = format!("{} exists and is not a run folder", place.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
        }
        Ok(Self { place: place.to_owned(), partial: Partial::create(place)?, is_done: false })
    }

    /// The path of the folder while it is written: to be removed if the process is to end at once.
    #[must_use]
    pub fn temporary(&self) -> &Path {
        self.partial.path()
    }

    /// A new file of this name in the folder, for a trace that is written during the run.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn file(&self, name: &str) -> io::Result<File> {
        File::create(self.temporary().join(name))
    }

    /// Writes the results and puts the folder in its place.
    ///
    /// # Errors
    /// If a file cannot be written; then the place is as it was before.
    ///
    /// # Panics
    /// If `bounds` or `observation` are not those of `network`.
    pub fn finish(
        self,
        manifest: &Manifest,
        network: &Network,
        description: &str,
        bounds: Option<&Bounds>,
        observation: Option<&Observation>,
    ) -> io::Result<RunFolder> {
        let run = RunFolder::new(manifest, network, description, bounds, observation);
        self.finish_with(&run)?;
        Ok(run)
    }

    /// As [`RunFolderWriter::finish`], with summarised results.
    ///
    /// # Errors
    /// If a file cannot be written; then the place is as it was before.
    pub fn finish_with(mut self, run: &RunFolder) -> io::Result<()> {
        let summary = &run.summary;
        fs::write(self.temporary().join(SUMMARY), summary.to_json())?;
        fs::write(self.temporary().join(NETWORK), json::rows(&run.network))?;
        for (name, batch) in [
            ("streams.parquet", arrow::streams(summary)),
            ("listeners.parquet", arrow::listeners(summary)),
            ("hops.parquet", arrow::hops(summary)),
            ("ports.parquet", arrow::ports(summary)),
            ("classes.parquet", arrow::classes(summary)),
            ("drops.parquet", arrow::drops(summary)),
            (HISTOGRAM, histogram::batch(&run.histograms)),
        ] {
            parquet::write(self.file(name)?, &batch)?;
        }
        fs::write(self.temporary().join(MANIFEST), json::pretty(&run.manifest))?;
        self.partial.put(&self.place)?;
        self.is_done = true;
        Ok(())
    }
}

impl Drop for RunFolderWriter {
    fn drop(&mut self) {
        if !self.is_done {
            self.partial.remove();
        }
    }
}

impl RunFolder {
    /// What a run folder of these results holds.
    ///
    /// # Panics
    /// If `bounds` or `observation` are not those of `network`.
    #[must_use]
    pub fn new(
        manifest: &Manifest,
        network: &Network,
        description: &str,
        bounds: Option<&Bounds>,
        observation: Option<&Observation>,
    ) -> Self {
        Self {
            manifest: manifest.clone(),
            summary: Summary::new(network, bounds, observation),
            network: NetworkDocument::new(network, description),
            histograms: observation.map(histogram::of_observation).unwrap_or_default(),
        }
    }

    /// Where the run folder at `place` comes from; none if there is none.
    #[must_use]
    pub fn manifest_at(place: &Path) -> Option<Manifest> {
        serde_json::from_slice(&fs::read(place.join(MANIFEST)).ok()?).ok()
    }

    /// Reads a run folder.
    ///
    /// # Errors
    /// If a file is missing, or holds something else; the message names it.
    pub fn read(place: &Path) -> io::Result<Self> {
        let text = |name: &str| {
            let path = place.join(name);
            fs::read_to_string(&path).map_err(|error| at(&path, &error))
        };
        let wrong = |name: &str, error: serde_json::Error| at(&place.join(name), &error.into());
        let manifest = serde_json::from_str(&text(MANIFEST)?).map_err(|error| wrong(MANIFEST, error))?;
        let summary = Summary::from_json(&text(SUMMARY)?).map_err(|error| wrong(SUMMARY, error))?;
        let network = serde_json::from_str(&text(NETWORK)?).map_err(|error| wrong(NETWORK, error))?;
        let path = place.join(HISTOGRAM);
        let batches = parquet::read(&path).map_err(|error| at(&path, &error))?;
        let histograms = histogram::from_batches(&batches)
            .ok_or_else(|| at(&path, &io::Error::other("it holds no histograms")))?;
        Ok(Self { manifest, summary, network, histograms })
    }
}

/// The error with the file at which it was.
pub(crate) fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn is_empty_folder(path: &Path) -> io::Result<bool> {
    Ok(path.is_dir() && fs::read_dir(path)?.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    /// A folder of a test's own, empty.
    fn scratch(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("tautwire-report-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a temporary folder");
        path
    }

    fn write(place: &Path, seed: u64) -> io::Result<RunFolder> {
        let (network, bounds, mut observation) = fixture::line();
        observation.seed = seed;
        let manifest = Manifest::new("line", "name: line\n", Some(seed), &["verify".to_owned()]);
        let writer = RunFolderWriter::create(place)?;
        writer.finish(&manifest, &network, "name: line\n", Some(&bounds), Some(&observation))
    }

    #[test]
    fn a_folder_is_read_as_it_is_written() {
        let scratch = scratch("read");
        let written = write(&scratch.join("run"), 1).expect("written");
        assert_eq!(RunFolder::read(&scratch.join("run")).expect("read"), written);
        assert_eq!(fs::read_dir(&scratch).expect("a folder").count(), 1, "nothing else is left");
        fs::remove_dir_all(&scratch).expect("ours");
    }

    #[test]
    fn a_second_run_replaces_the_first_and_nothing_else() {
        let scratch = scratch("replace");
        let place = scratch.join("run");
        write(&place, 1).expect("written");
        write(&place, 2).expect("written again");
        assert_eq!(RunFolder::read(&place).expect("read").manifest.seed, Some(2));
        let other = scratch.join("other");
        fs::create_dir(&other).expect("a folder");
        fs::write(other.join("thesis.txt"), "years of work").expect("a file");
        let error = write(&other, 1).expect_err("no run folder");
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert!(other.join("thesis.txt").is_file());
        fs::remove_dir_all(&scratch).expect("ours");
    }

    #[test]
    fn what_is_given_up_leaves_nothing() {
        let scratch = scratch("give-up");
        let writer = RunFolderWriter::create(&scratch.join("run")).expect("begun");
        drop(writer);
        assert_eq!(fs::read_dir(&scratch).expect("a folder").count(), 0);
        let error = RunFolder::read(&scratch.join("run")).expect_err("nothing is there");
        assert!(error.to_string().contains(MANIFEST), "{error}");
        fs::remove_dir_all(&scratch).expect("ours");
    }

    #[test]
    fn a_broken_file_is_named() {
        let scratch = scratch("broken");
        let place = scratch.join("run");
        for name in [MANIFEST, SUMMARY, NETWORK, HISTOGRAM] {
            for contents in ["", "{}", "[1, 2", "PAR1PAR1"] {
                write(&place, 1).expect("written");
                fs::write(place.join(name), contents).expect("spoilt");
                let error = RunFolder::read(&place).expect_err("it is no run folder any more");
                assert!(error.to_string().contains(name), "{name} {contents}: {error}");
            }
        }
        write(&place, 1).expect("written");
        fs::copy(place.join("drops.parquet"), place.join(HISTOGRAM)).expect("spoilt");
        let error = RunFolder::read(&place).expect_err("these are no histograms");
        assert!(error.to_string().contains(HISTOGRAM), "{error}");
        write(&place, 1).expect("written over");
        RunFolder::read(&place).expect("whole again");
        fs::remove_dir_all(&scratch).expect("ours");
    }

    #[test]
    fn equal_runs_give_equal_bytes() {
        let scratch = scratch("equal");
        let bytes = |name: &str| fs::read(scratch.join(name).join(SUMMARY)).expect("a summary");
        write(&scratch.join("a"), 1).expect("written");
        write(&scratch.join("b"), 1).expect("written");
        assert_eq!(bytes("a"), bytes("b"));
        fs::remove_dir_all(&scratch).expect("ours");
    }
}
