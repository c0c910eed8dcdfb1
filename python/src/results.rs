//! Bounds and runs, and what they give: a summary, tables, a run folder.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tautwire_analysis::{Accuracy, Bounds};
use tautwire_model::network::StreamIndex;
use tautwire_report::{Manifest, NetworkDocument, RunFolder, RunFolderWriter, Summary, arrow, histogram};
use tautwire_sim::{Observation, Options};
use tautwire_units::Duration;

use crate::explain;
use crate::frames::Frames;
use crate::network::CoreNetwork;
use crate::table::Table;

/// Bounds, an observation, or both.
#[pyclass(frozen, module = "tautwire._core")]
pub(crate) struct Results {
    network: Arc<tautwire_model::Network>,
    text: Arc<str>,
    bounds: Option<Bounds>,
    observation: Option<Observation>,
    frames: Option<Frames>,
    summary: Summary,
    /// The text of adversary.json, if there was a search.
    choices: Option<String>,
}

impl Results {
    fn new(
        of: &CoreNetwork,
        bounds: Option<Bounds>,
        observation: Option<Observation>,
        frames: Option<Frames>,
    ) -> Self {
        let network = Arc::clone(&of.network);
        let summary = Summary::new(&network, bounds.as_ref(), observation.as_ref());
        Self { network, text: Arc::clone(&of.text), bounds, observation, frames, summary, choices: None }
    }

    /// Searches for the worst runs, if there are bounds and a run; with the usual number of runs for zero.
    fn search(mut self, runs: u64) -> Self {
        let (Some(bounds), Some(observation)) = (&self.bounds, &self.observation) else { return self };
        let runs = if runs == 0 { tautwire_workbench::ADVERSARY_RUNS } else { runs };
        let mut network = (*self.network).clone();
        network.set_seed(observation.seed);
        let found = tautwire_workbench::adversary(&network, bounds, observation, runs, |_, _| {});
        found.add_to(&mut self.summary);
        self.choices = Some(found.document(&network, bounds).to_json());
        self
    }

    /// What a run folder of it holds.
    pub(crate) fn folder(&self) -> RunFolder {
        let command = match (&self.bounds, &self.observation) {
            (Some(_), Some(_)) => "verify",
            (None, Some(_)) => "simulate",
            _ => "bounds",
        };
        let seed = self.observation.as_ref().map(|observation| observation.seed);
        let command = ["python".to_owned(), command.to_owned()];
        RunFolder {
            manifest: Manifest::new(&self.network.name, &self.text, seed, &command),
            summary: self.summary.clone(),
            network: NetworkDocument::new(&self.network, &self.text),
            histograms: self.observation.as_ref().map(histogram::of_observation).unwrap_or_default(),
        }
    }
}

#[pymethods]
impl Results {
    /// The text of summary.json.
    fn summary_json(&self) -> String {
        self.summary.to_json()
    }

    fn table(&self, name: &str) -> PyResult<Table> {
        let batch = match name {
            "streams" => arrow::streams(&self.summary),
            "listeners" => arrow::listeners(&self.summary),
            "hops" => arrow::hops(&self.summary),
            "ports" => arrow::ports(&self.summary),
            "classes" => arrow::classes(&self.summary),
            "drops" => arrow::drops(&self.summary),
            "histograms" => {
                let histograms = self.observation.as_ref().map(histogram::of_observation);
                histogram::batch(&histograms.unwrap_or_default())
            }
            other => return Err(PyKeyError::new_err(format!("no table `{other}`"))),
        };
        Ok(Table::new(batch))
    }

    /// What applications received of the streams that were asked for, and what their hosts lost.
    fn messages(&self) -> Option<Table> {
        self.frames.as_ref().map(|frames| Table::new(frames.messages(&self.network)))
    }

    /// The transmissions that were asked for.
    fn frames(&self) -> Option<Table> {
        self.frames.as_ref().map(|frames| Table::new(frames.batch(&self.network)))
    }

    /// Writes a run folder.
    fn save(&self, py: Python<'_>, folder: &str) -> PyResult<()> {
        Ok(py.detach(|| {
            let writer = RunFolderWriter::create(Path::new(folder))?;
            if let Some(choices) = &self.choices {
                writer.file("adversary.json")?.write_all(choices.as_bytes())?;
            }
            writer.finish_with(&self.folder())
        })?)
    }

    /// The page of these results, as HTML.
    fn html(&self, py: Python<'_>) -> String {
        py.detach(|| tautwire_report::html(&self.folder()))
    }

    fn has_bounds(&self) -> bool {
        self.bounds.is_some()
    }

    /// What the bound of a stream is made of; none without bounds.
    fn explain_bound<'py>(&self, py: Python<'py>, stream: &str) -> PyResult<Option<Bound<'py, PyDict>>> {
        let index = index_of(&self.network, stream)?;
        self.bounds.as_ref().map(|bounds| explain::bound_of(py, &self.network, bounds, index)).transpose()
    }

    /// The same as text.
    fn explain_bound_text(&self, stream: &str) -> PyResult<Option<String>> {
        let index = index_of(&self.network, stream)?;
        let text = |bounds| tautwire_analysis::explain(&self.network, bounds, index).to_string();
        Ok(self.bounds.as_ref().map(text))
    }

    /// The story of the stream's frame with the greatest delay, as text; none if there is none.
    fn explain_run_text(&self, py: Python<'_>, stream: &str) -> PyResult<Option<String>> {
        let index = index_of(&self.network, stream)?;
        Ok(py.detach(|| {
            let observation = self.observation.as_ref()?;
            tautwire_workbench::story(&self.network, observation, index).map(|story| story.to_string())
        }))
    }
}

/// Bounds of all streams.
#[pyfunction]
#[pyo3(signature = (network, *, method="fast"))]
pub(crate) fn bounds(py: Python<'_>, network: &CoreNetwork, method: &str) -> PyResult<Results> {
    let accuracy = accuracy(method)?;
    Ok(py.detach(|| {
        let bounds = tautwire_workbench::bounds_by(&network.network, accuracy);
        Results::new(network, Some(bounds), None, None)
    }))
}

/// The accuracy by the name of a method.
fn accuracy(method: &str) -> PyResult<Accuracy> {
    match method {
        "fast" => Ok(Accuracy::Frames),
        "tight" => Ok(Accuracy::Paths),
        _ => Err(PyValueError::new_err(format!("no method `{method}`: there are fast, tight"))),
    }
}

/// A run, and its bounds if their method is given; with so many runs of an adversary for each listener, if there is a number.
#[pyfunction]
#[pyo3(signature = (network, *, seed=None, duration=None, frames=None, bounds=None, adversary=None, processors=1))]
#[expect(clippy::too_many_arguments, reason = "one for each keyword of Python")]
pub(crate) fn simulate(
    py: Python<'_>,
    network: &CoreNetwork,
    seed: Option<u64>,
    duration: Option<&str>,
    frames: Option<Vec<String>>,
    bounds: Option<&str>,
    adversary: Option<u64>,
    processors: u16,
) -> PyResult<Results> {
    let accuracy = bounds.map(accuracy).transpose()?;
    let duration = duration.map(str::parse::<Duration>).transpose();
    let duration = duration.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let chosen = frames.map(|names| chosen(&network.network, &names)).transpose()?;
    Ok(py.detach(|| {
        let bounds = |seen: &Observation| {
            accuracy.map(|by| tautwire_workbench::bounds_in_run_by(&network.network, seen, by))
        };
        let processors = usize::from(processors);
        let mut options = Options { seed, duration, processors, ..Options::default() };
        let results = match chosen {
            Some(chosen) => {
                let mut frames = Frames::new(chosen);
                let observation =
                    tautwire_workbench::simulate_with(&network.network, &mut options, &mut frames);
                Results::new(network, bounds(&observation), Some(observation), Some(frames))
            }
            None => {
                let observation = tautwire_workbench::simulate(&network.network, &mut options);
                Results::new(network, bounds(&observation), Some(observation), None)
            }
        };
        match adversary {
            Some(runs) => results.search(runs),
            None => results,
        }
    }))
}

fn index_of(network: &tautwire_model::Network, name: &str) -> PyResult<StreamIndex> {
    let found = network.streams.iter().position(|stream| stream.name == name);
    found.map(StreamIndex::at).ok_or_else(|| PyKeyError::new_err(format!("no stream `{name}`")))
}

fn chosen(network: &tautwire_model::Network, names: &[String]) -> PyResult<Vec<bool>> {
    let known = |name: &&String| !network.streams.iter().any(|stream| stream.name == **name);
    if let Some(unknown) = names.iter().find(known) {
        return Err(PyValueError::new_err(format!("no stream `{unknown}`")));
    }
    Ok(network.streams.iter().map(|stream| names.contains(&stream.name)).collect())
}

/// The page of a run folder, as HTML.
#[pyfunction]
pub(crate) fn report_html(py: Python<'_>, folder: &str) -> PyResult<String> {
    Ok(py.detach(|| RunFolder::read(Path::new(folder)).map(|run| tautwire_report::html(&run)))?)
}
