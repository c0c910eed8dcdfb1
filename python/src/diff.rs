//! What differs between two results, as the texts of a JSON document and of tables.

use std::path::Path;

use pyo3::prelude::*;
use tautwire_workbench::table::TableOptions;
use tautwire_workbench::{Compared, RunFolder, Scenario};

use crate::network::CoreNetwork;
use crate::results::Results;

/// One of two things to compare.
#[derive(FromPyObject)]
pub(crate) enum Side<'py> {
    /// Results.
    #[pyo3(transparent)]
    Results(Bound<'py, Results>),
    /// A network whose results are computed.
    #[pyo3(transparent)]
    Network(Bound<'py, CoreNetwork>),
    /// The folder of a run.
    #[pyo3(transparent)]
    Folder(String),
}

impl Side<'_> {
    fn compared(self) -> std::io::Result<Compared> {
        Ok(match self {
            Self::Results(results) => Compared::Run(Box::new(results.get().folder())),
            Self::Network(of) => {
                let of = of.get();
                Compared::Scenario(Box::new(Scenario {
                    name: of.network.name.clone(),
                    file: of.source.0.clone(),
                    text: of.text.to_string(),
                    network: (*of.network).clone(),
                }))
            }
            Self::Folder(folder) => Compared::Run(Box::new(RunFolder::read(Path::new(&folder))?)),
        })
    }
}

/// The JSON document, the tables, and whether anything differs.
#[pyfunction]
pub(crate) fn diff(py: Python<'_>, before: Side<'_>, after: Side<'_>) -> PyResult<(String, String, bool)> {
    let (before, after) = (before.compared()?, after.compared()?);
    let found = py.detach(|| tautwire_workbench::difference(&before, &after));
    Ok((found.to_json(), found.to_text(TableOptions::default()), !found.is_empty()))
}
