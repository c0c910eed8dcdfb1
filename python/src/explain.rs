//! What a bound is made of and what the worst frame of a run waited for, as mappings and as text.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tautwire_analysis::{Bounds, Explanation, HopExplanation, Part, explain};
use tautwire_model::Network;
use tautwire_model::network::StreamIndex;

/// The explanation of a stream's bound.
pub(crate) fn bound_of<'py>(
    py: Python<'py>,
    network: &Network,
    bounds: &Bounds,
    stream: StreamIndex,
) -> PyResult<Bound<'py, PyDict>> {
    let Explanation { stream, hops, notes, .. } = &explain(network, bounds, stream);
    let explanation = PyDict::new(py);
    explanation.set_item("stream", stream)?;
    let list = PyList::empty(py);
    for hop in hops {
        list.append(hop_of(py, hop)?)?;
    }
    explanation.set_item("hops", list)?;
    explanation.set_item("notes", notes)?;
    Ok(explanation)
}

fn hop_of<'py>(py: Python<'py>, hop: &HopExplanation) -> PyResult<Bound<'py, PyDict>> {
    let one = PyDict::new(py);
    one.set_item("port", &hop.port)?;
    one.set_item("traffic_class", hop.class.number())?;
    one.set_item("delay_max_ps", hop.bounds.delay.as_ref().ok().map(|delay| delay.as_ps()))?;
    one.set_item("formula", hop.formula)?;
    one.set_item("source", hop.source)?;
    one.set_item("line_rate_bps", hop.line_rate.as_bps())?;
    one.set_item("rate_left_bps", hop.rate_left.map(|rate| rate.as_bps()))?;
    one.set_item("blocking", hop.blocking.as_ref().map(|part| part_of(py, part)).transpose()?)?;
    one.set_item("higher", parts_of(py, &hop.higher)?)?;
    one.set_item("same", parts_of(py, &hop.same)?)?;
    let times: Vec<_> = hop.times.iter().map(|(name, time)| (*name, time.as_ps())).collect();
    one.set_item("times_ps", times)?;
    Ok(one)
}

fn parts_of<'py>(py: Python<'py>, parts: &[Part]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for part in parts {
        list.append(part_of(py, part)?)?;
    }
    Ok(list)
}

fn part_of<'py>(py: Python<'py>, part: &Part) -> PyResult<Bound<'py, PyDict>> {
    let one = PyDict::new(py);
    one.set_item("name", &part.name)?;
    one.set_item("bits", part.bits.map(|bits| bits.get()))?;
    one.set_item("rate_bps", part.rate.map(|rate| rate.as_bps()))?;
    Ok(one)
}
