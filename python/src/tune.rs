//! Parameters that prove all deadlines, as the text of a JSON document.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tautwire_workbench::{NotTuned, TUNE_RUNS, TuneKind, TuneOptions};

use crate::network::CoreNetwork;

/// Finds values of these kinds (all, if none are named) that prove all deadlines.
#[pyfunction]
#[pyo3(signature = (network, *, only=None, least=false, runs=None))]
pub(crate) fn tune(
    py: Python<'_>,
    network: &CoreNetwork,
    only: Option<Vec<String>>,
    least: bool,
    runs: Option<u64>,
) -> PyResult<String> {
    let named = |name: &String| {
        let known = || TuneKind::ALL.map(TuneKind::name).join(", ");
        TuneKind::named(name).ok_or_else(|| PyValueError::new_err(format!("`{name}` is none of {}", known())))
    };
    let kinds = match only {
        Some(names) => names.iter().map(named).collect::<PyResult<Vec<_>>>()?,
        None => TuneKind::ALL.to_vec(),
    };
    let (name, text) = &*network.source;
    let found = py.detach(|| {
        let mut options = TuneOptions { kinds, least, runs: runs.unwrap_or(TUNE_RUNS), stop: &mut || false };
        tautwire_workbench::tune(name, text, &mut options).map(|tuned| tuned.to_json().to_string())
    });
    found.map_err(|reason| {
        PyValueError::new_err(match reason {
            NotTuned::Faulty => "the description has faults",
            NotTuned::NoDeadline => "no stream has a deadline: nothing to prove",
        })
    })
}
