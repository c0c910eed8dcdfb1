//! Networks in the forms of other tools, as texts, with the lines that they leave out.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tautwire_workbench::exchange::{self, Base, EXPORTS, IMPORTS, Input};

use crate::network::CoreNetwork;

/// Texts with the names of their files (that of the form, if it has none), and what is left out.
type Written = (Vec<(String, String)>, Vec<String>);

/// A description, what is left out, and files that it names with their texts.
type Read = (String, Vec<String>, Vec<(String, String)>);

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

/// The description of what files, by their names and octets, know of a network, what is left out, and the files that it names.
#[pyfunction]
pub(crate) fn import_network(
    py: Python<'_>,
    form: &str,
    files: Vec<(String, Vec<u8>)>,
    configuration: Option<&str>,
    base: Option<&CoreNetwork>,
) -> PyResult<Read> {
    let import = exchange::import(form).ok_or_else(|| unknown(form, &IMPORTS.map(|import| import.name)))?;
    let read = py
        .detach(|| match base {
            None if import.reads_octets() && configuration.is_none() => import.read_octets(&files),
            None => import.read(&texts(files)?, configuration),
            Some(_) if configuration.is_some() => {
                Err(vec!["a base and a configuration are not of one form: leave out one of them".to_owned()])
            }
            Some(base) => {
                import.read_into(&texts(files)?, &Base { text: &base.source.1, network: &base.network })
            }
        })
        .map_err(|faults| PyValueError::new_err(faults.join("\n")))?;
    Ok((read.text, read.left_out, read.files))
}

/// Files that are texts.
fn texts(files: Vec<(String, Vec<u8>)>) -> Result<Vec<Input>, Vec<String>> {
    let text = |(name, octets)| match String::from_utf8(octets) {
        Ok(text) => Ok(Input { name, text }),
        Err(_) => Err(vec![format!("{name}: no UTF-8")]),
    };
    files.into_iter().map(text).collect()
}

fn unknown(form: &str, known: &[&str]) -> PyErr {
    PyValueError::new_err(format!("`{form}` is none of {}", known.join(", ")))
}
