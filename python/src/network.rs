//! A description that was read: the network, or its faults.

use std::path::Path;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tautwire_model::network::{
    AtsOrganisation, Delay, DeviceModel, Distribution, Grouping, SelectionAlgorithm, StagePosition,
};
use tautwire_model::{Loaded, Severity};
use tautwire_report::ScheduleDocument;
use tautwire_workbench::{GateOptions, PROFILES, Profile, ProfileCheck};

use crate::schedule;

/// A network without faults.
#[pyclass(frozen, module = "tautwire._core")]
pub(crate) struct CoreNetwork {
    /// The resolved network.
    pub(crate) network: Arc<tautwire_model::Network>,
    /// The description's own text, and that of files that it names behind it.
    pub(crate) text: Arc<str>,
    /// The description's name, relative to whose path it finds other files, and its text alone.
    pub(crate) source: Arc<(String, String)>,
}

/// A fault: code, severity, message, help, path, line, column.
pub(crate) type Fault = (String, String, String, Option<String>, String, usize, usize);

/// Reads a description from a file.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, path: &str) -> PyResult<(Option<CoreNetwork>, Vec<Fault>)> {
    let loaded = py.detach(|| tautwire_workbench::load(Path::new(path)))?;
    Ok(converted(loaded))
}

/// Reads a description from a text.
#[pyfunction]
pub(crate) fn load_text(py: Python<'_>, name: &str, text: &str) -> (Option<CoreNetwork>, Vec<Fault>) {
    converted(py.detach(|| tautwire_workbench::load_text(name, text)))
}

/// The rules of a profile in a description (of the file at `name`, without a text), JSON, none if it has errors of its own; and
/// all its faults, the breaches of the profile among them.
#[pyfunction]
#[pyo3(signature = (name, text, profile))]
pub(crate) fn check_profile(
    py: Python<'_>,
    name: &str,
    text: Option<&str>,
    profile: &str,
) -> PyResult<(Option<String>, Vec<Fault>)> {
    let profile = Profile::named(profile).ok_or_else(|| {
        let known = PROFILES.map(|profile| profile.name).join(", ");
        PyValueError::new_err(format!("`{profile}` is none of {known}"))
    })?;
    let (rules, loaded) = py.detach(|| -> std::io::Result<_> {
        let mut loaded = match text {
            Some(text) => tautwire_workbench::load_text(name, text),
            None => tautwire_workbench::load(Path::new(name))?,
        };
        let checked = ProfileCheck::of(profile, &mut loaded);
        Ok((checked.map(|checked| checked.to_json().to_string()), loaded))
    })?;
    Ok((rules, converted(loaded).1))
}

fn converted(loaded: Loaded) -> (Option<CoreNetwork>, Vec<Fault>) {
    let faults = loaded.diagnostics.iter().map(|diagnostic| {
        let source = &loaded.sources[diagnostic.source];
        let (line, column) =
            diagnostic.labels.first().map_or((1, 1), |label| source.line_and_column(label.span.start));
        let severity = match diagnostic.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        (
            diagnostic.code.to_owned(),
            severity.to_owned(),
            diagnostic.message.clone(),
            diagnostic.help.clone(),
            source.name.clone(),
            line,
            column,
        )
    });
    let faults = faults.collect();
    let text: String = loaded.sources.iter().map(|source| source.text.as_str()).collect();
    let source = loaded.sources.first().map(|main| (main.name.clone(), main.text.clone()));
    let source = Arc::new(source.unwrap_or_default());
    let core = |network| CoreNetwork { network: Arc::new(network), text: text.into(), source };
    (loaded.network.map(core), faults)
}

#[pymethods]
impl CoreNetwork {
    #[getter]
    fn name(&self) -> String {
        self.network.name.clone()
    }

    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// The description's own text, without that of files that it names.
    #[getter]
    fn own_text(&self) -> &str {
        &self.source.1
    }

    /// The description's own text as plain values, JSON.
    fn document(&self) -> String {
        tautwire_model::document(&self.source.1).to_string()
    }

    #[getter]
    fn nodes(&self) -> Vec<String> {
        self.network.nodes.iter().map(|node| node.name.clone()).collect()
    }

    #[getter]
    fn streams(&self) -> Vec<String> {
        self.network.streams.iter().map(|stream| stream.name.clone()).collect()
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.network.run.seed
    }

    #[getter]
    fn duration_ps(&self) -> u64 {
        self.network.run.duration.as_ps()
    }

    /// Offsets and gates of time-aware streams, or dispatch points of the time-triggered links: JSON, and the description with
    /// them if it can be written. `search` is called instead of the workbench's searches.
    #[pyo3(signature = (*, keep, precision, at, search))]
    fn schedule(
        &self,
        py: Python<'_>,
        keep: bool,
        precision: &str,
        at: Option<&str>,
        search: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(String, Option<String>)> {
        let precision =
            precision.parse().map_err(|_| PyValueError::new_err(format!("`{precision}` is no time")))?;
        let options = GateOptions { precision, keep };
        match at {
            Some(at) => schedule::change(py, self, &options, at),
            None => schedule::schedule(py, self, &options, search),
        }
    }

    /// The windows of a cycle, JSON: slots of TDMA, of time-triggered links, or of the elementary cycle of HaRTES; none if there are none.
    fn timetable(&self) -> PyResult<Option<String>> {
        let found = ScheduleDocument::new(&self.network);
        let text = found.map(|found| serde_json::to_string(&found)).transpose();
        text.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The device models in use, as mappings. A delay of a stage has a constant part, one per octet, and a random one, of which
    /// least, mean and most are given (the mean before it is cut at least and most).
    fn devices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for device in &self.network.devices {
            list.append(device_of(py, device)?)?;
        }
        Ok(list)
    }

    /// The ATS schedulers: group, rate, burst and the streams that they hold.
    fn schedulers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for (number, scheduler) in self.network.schedulers.iter().enumerate() {
            let of_it = |hop: &tautwire_model::network::Hop| {
                hop.scheduler.is_some_and(|index| index.index() == number)
            };
            let streams = self.network.streams.iter().filter(|stream| stream.hops.iter().any(of_it));
            let one = PyDict::new(py);
            one.set_item("group", scheduler.group.0)?;
            one.set_item("committed_information_rate_bps", scheduler.committed_information_rate.as_bps())?;
            one.set_item("committed_burst_size_bits", scheduler.committed_burst_size.get())?;
            one.set_item("streams", streams.map(|stream| stream.name.clone()).collect::<Vec<_>>())?;
            list.append(one)?;
        }
        Ok(list)
    }
}

fn device_of<'py>(py: Python<'py>, device: &DeviceModel) -> PyResult<Bound<'py, PyDict>> {
    let stages = PyList::empty(py);
    for stage in &device.stages {
        let one = PyDict::new(py);
        one.set_item("name", &stage.name)?;
        one.set_item("position", position_name(stage.position))?;
        one.set_item("only_for", stage.only_for.map(mechanism_name))?;
        one.set_item("latency", delay_of(py, &stage.latency)?)?;
        one.set_item("occupancy", delay_of(py, &stage.occupancy)?)?;
        stages.append(one)?;
    }
    let ats = PyDict::new(py);
    let organisation = match device.ats.organisation {
        AtsOrganisation::EligibilityOrdered => "eligibility-ordered",
        AtsOrganisation::InterleavedRegulators => "interleaved-regulators",
    };
    let grouping = match device.ats.grouping {
        Grouping::UpstreamClass => "upstream-class",
        Grouping::OwnClass => "own-class",
    };
    ats.set_item("organisation", organisation)?;
    ats.set_item("grouping", grouping)?;
    ats.set_item("charged_overhead_octets", device.ats.charged_overhead.get())?;
    ats.set_item("time_quantum_ps", device.ats.time_quantum.map(|tick| tick.as_ps()))?;
    ats.set_item("processing_delay_max_ps", device.ats.processing_delay_max.as_ps())?;
    ats.set_item("schedulers_per_group", device.ats.schedulers_per_group)?;
    let functions: Vec<_> = device.stream_identification.iter().map(|function| function.name()).collect();
    ats.set_item("stream_identification", functions)?;
    let dict = PyDict::new(py);
    dict.set_item("name", &device.name)?;
    dict.set_item("stages", stages)?;
    dict.set_item("two_stage", device.two_stage)?;
    dict.set_item("ats", ats)?;
    Ok(dict)
}

fn delay_of<'py>(py: Python<'py>, delay: &Delay) -> PyResult<Bound<'py, PyDict>> {
    let one = PyDict::new(py);
    one.set_item("constant_ps", delay.constant.as_ps())?;
    one.set_item("less_ps", delay.less.as_ps())?;
    one.set_item("per_octet_ps", delay.per_octet.as_ps())?;
    let (min, mean, max) = match delay.random {
        Distribution::Zero => (0, 0, 0),
        Distribution::Uniform { min, max } => (min.as_ps(), min.as_ps().midpoint(max.as_ps()), max.as_ps()),
        Distribution::Normal { mean, min, max, .. } => (min.as_ps(), mean.as_ps(), max.as_ps()),
    };
    one.set_item("random_min_ps", min)?;
    one.set_item("random_mean_ps", mean)?;
    one.set_item("random_max_ps", max)?;
    Ok(one)
}

const fn position_name(position: StagePosition) -> &'static str {
    match position {
        StagePosition::Reception => "reception",
        StagePosition::Processing => "processing",
        StagePosition::Transmission => "transmission",
    }
}

const fn mechanism_name(mechanism: SelectionAlgorithm) -> &'static str {
    match mechanism {
        SelectionAlgorithm::StrictPriority => "strict-priority",
        SelectionAlgorithm::CreditBased => "credit-based",
        SelectionAlgorithm::Ats => "ats",
    }
}
