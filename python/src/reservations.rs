//! Runs of reservation protocols.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Runs a scenario of reservations, written as JSON, and gives its outcome as JSON.
///
/// Raises ``ValueError`` with what is wrong in the scenario.
#[pyfunction]
pub(crate) fn reservations(py: Python<'_>, scenario: &str) -> PyResult<String> {
    py.detach(|| tautwire_workbench::reservations(scenario)).map_err(PyValueError::new_err)
}
