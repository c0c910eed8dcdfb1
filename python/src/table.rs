//! An Arrow table that Python reads through the Arrow PyCapsule interface.
//!
//! A consumer (polars, DuckDB, pyarrow, pandas) calls `__arrow_c_stream__` and takes the columns
//! over as they lie in memory. `columns` gives the same as Python lists, for use without any of them.
//!
//! Not here: which columns there are; `tautwire-report` makes the record batches.

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type, UInt8Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch, RecordBatchIterator};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};

/// A table of results, in columns.
#[pyclass(frozen, module = "tautwire._core")]
pub(crate) struct Table {
    batch: RecordBatch,
}

impl Table {
    /// Wraps a record batch.
    pub(crate) const fn new(batch: RecordBatch) -> Self {
        Self { batch }
    }
}

#[pymethods]
impl Table {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows a producer to answer with its own schema.
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }

    fn __repr__(&self) -> String {
        let names = self.column_names();
        let shown = names.iter().take(6).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = if names.len() > 6 { ", …" } else { "" };
        format!("Table({} rows of {shown}{more})", self.batch.num_rows())
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let column = self
            .batch
            .column_by_name(name)
            .ok_or_else(|| PyKeyError::new_err(format!("no column `{name}`")))?;
        list(py, column.as_ref())
    }
}

/// A column as a Python list.
fn list<'py>(py: Python<'py>, column: &dyn Array) -> PyResult<Bound<'py, PyList>> {
    use arrow_schema::DataType;
    match column.data_type() {
        DataType::Int64 => PyList::new(py, column.as_primitive::<Int64Type>()),
        DataType::UInt64 => PyList::new(py, column.as_primitive::<UInt64Type>()),
        DataType::UInt32 => PyList::new(py, column.as_primitive::<UInt32Type>()),
        DataType::UInt8 => PyList::new(py, column.as_primitive::<UInt8Type>()),
        DataType::Float64 => PyList::new(py, column.as_primitive::<Float64Type>()),
        DataType::Boolean => PyList::new(py, column.as_boolean()),
        DataType::Utf8 => PyList::new(py, column.as_string::<i32>()),
        other => Err(PyTypeError::new_err(format!("a column of {other} has no list"))),
    }
}
