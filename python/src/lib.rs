//! The Python module `tautwire._core`: the public interface of the workbench, converted.
//!
//! Converts and never computes: every figure comes from a crate below. Simulating and computing bounds release
//! Python's global lock. The package `tautwire` of this folder is the interface for users; its stub `_core.pyi`
//! describes this module.

mod admission;
mod diff;
mod exchange;
mod explain;
mod frames;
mod machines;
mod network;
mod results;
mod schedule;
mod slots;
mod study;
mod table;
mod tune;

use pyo3::prelude::*;

/// Runs the command `tautwire`; the command's own name is the first argument.
#[pyfunction]
fn run_command(py: Python<'_>, arguments: Vec<String>) -> u8 {
    py.detach(|| tautwire_cli::run(arguments).code())
}

/// The module.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::admission::CoreAdmission;
    #[pymodule_export]
    use super::diff::diff;
    #[pymodule_export]
    use super::exchange::{export, import_network};
    #[pymodule_export]
    use super::machines::{AtsBank, ClockServo, CreditShaper, PortGates};
    #[pymodule_export]
    use super::network::{CoreNetwork, check_profile, load, load_text};
    #[pymodule_export]
    use super::results::{Results, bounds, report_html, simulate};
    #[pymodule_export]
    use super::run_command;
    #[pymodule_export]
    use super::slots::plan_slots;
    #[pymodule_export]
    use super::study::{plain_document, read_rows, version, with_values, write_rows};
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::tune::tune;
}
