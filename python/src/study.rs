//! What studies need of the crates: a value changed in a text, plain values of a text, rows as Parquet files.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::table::Table;

/// The version of Tautwire.
#[pyfunction]
pub(crate) const fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The text of a description with values, YAML in one line each, at the keys that lead to them.
#[pyfunction]
pub(crate) fn with_values(text: String, values: Vec<(String, String)>) -> PyResult<String> {
    values
        .iter()
        .try_fold(text, |text, (key, value)| tautwire_workbench::with_value(&text, key, value))
        .map_err(PyValueError::new_err)
}

/// A text as plain values, JSON; none if it is no YAML.
#[pyfunction]
pub(crate) fn plain_document(text: &str) -> Option<String> {
    tautwire_workbench::well_formed_document(text).map(|document| document.to_string())
}

/// A column: its name, and values of one kind, some of which may be missing.
type Column<'py> = (String, String, Bound<'py, PyAny>);

/// Writes rows as a Parquet file that is there completely or not at all.
#[pyfunction]
pub(crate) fn write_rows(py: Python<'_>, path: &str, columns: Vec<Column<'_>>) -> PyResult<()> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::<ArrayRef>::new());
    for (name, kind, values) in columns {
        let array: ArrayRef = match kind.as_str() {
            "int" => Arc::new(Int64Array::from(values.extract::<Vec<Option<i64>>>()?)),
            "float" => Arc::new(Float64Array::from(values.extract::<Vec<Option<f64>>>()?)),
            "bool" => Arc::new(BooleanArray::from(values.extract::<Vec<Option<bool>>>()?)),
            "text" => Arc::new(StringArray::from(values.extract::<Vec<Option<String>>>()?)),
            other => return Err(PyValueError::new_err(format!("no kind `{other}`"))),
        };
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    }
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays);
    let batch = batch.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(py.detach(|| tautwire_workbench::parquet::write_atomically(Path::new(path), &batch))?)
}

/// The rows of a Parquet file, in tables one after another.
#[pyfunction]
pub(crate) fn read_rows(py: Python<'_>, path: &str) -> PyResult<Vec<Table>> {
    let batches = py.detach(|| tautwire_workbench::parquet::read(Path::new(path)))?;
    Ok(batches.into_iter().map(Table::new).collect())
}
