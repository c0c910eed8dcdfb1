//! Networks in the forms of other tools, as texts, with the lines that they leave out.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tautwire_workbench::exchange::{self, Base, EXPORTS, IMPORTS, Input};

use crate::network::CoreNetwork;

/// Texts with the names of their files (that of the form, if it has none), and what is left out.
type Written = (Vec<(String, String)>, Vec<String>);

/// Writes a network, or one of its bridges, in a form.
#[pyfunction]
#[pyo3(signature = (network, form, *, node=None))]
pub(crate) fn export(
    py: Python<'_>,
    network: &CoreNetwork,
    form: &str,
    node: Option<&str>,
) -> PyResult<Written> {
    let export = exchange::export(form).ok_or_else(|| unknown(form, &EXPORTS.map(|export| export.name)))?;
    let texts = py.detach(|| export.write(&network.network, node)).map_err(PyValueError::new_err)?;
    let (mut files, mut left_out) = (Vec::new(), Vec::new());
    for text in texts {
        files.push((text.file.unwrap_or_else(|| form.to_owned()), text.converted.text));
        for line in text.converted.left_out {
            if !left_out.contains(&line) {
                left_out.push(line);
            }
        }
    }
    Ok((files, left_out))
}

/// The description of what files, by their names and texts, know of a network, and what is left out.
#[pyfunction]
pub(crate) fn import_network(
    py: Python<'_>,
    form: &str,
    files: Vec<(String, String)>,
    configuration: Option<&str>,
    base: Option<&CoreNetwork>,
) -> PyResult<(String, Vec<String>)> {
    let import = exchange::import(form).ok_or_else(|| unknown(form, &IMPORTS.map(|import| import.name)))?;
    let inputs: Vec<Input> = files.into_iter().map(|(name, text)| Input { name, text }).collect();
    let read = py
        .detach(|| match base {
            None => import.read(&inputs, configuration),
            Some(_) if configuration.is_some() => {
                Err(vec!["a base and a configuration are not of one form: leave out one of them".to_owned()])
            }
            Some(base) => import.read_into(&inputs, &Base { text: &base.source.1, network: &base.network }),
        })
        .map_err(|faults| PyValueError::new_err(faults.join("\n")))?;
    Ok((read.text, read.left_out))
}

fn unknown(form: &str, known: &[&str]) -> PyErr {
    PyValueError::new_err(format!("`{form}` is none of {}", known.join(", ")))
}
