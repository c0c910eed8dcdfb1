//! Planned slots of a TDMA cycle, as the text of a JSON document.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tautwire_units::Duration;
use tautwire_workbench::{NotPlanned, SlotDocument};

use crate::network::CoreNetwork;

/// Plans slots in a cycle of the description's length, of another, or (`shortest`) as short as may be.
#[pyfunction]
#[pyo3(signature = (network, *, cycle=None, shortest=false))]
pub(crate) fn plan_slots(
    py: Python<'_>,
    network: &CoreNetwork,
    cycle: Option<&str>,
    shortest: bool,
) -> PyResult<String> {
    let given = cycle.map(str::parse::<Duration>).transpose();
    let given = given.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let network = &network.network;
    let kept = given.or_else(|| network.tdma.as_ref().map(|tdma| tdma.cycle));
    let cycle = if shortest { None } else { kept };
    let document = py.detach(|| {
        let planned = tautwire_workbench::plan_slots(network, cycle)?;
        Ok(SlotDocument::new(network, &planned).to_json())
    });
    document.map_err(|reason: NotPlanned| {
        PyValueError::new_err(match reason {
            NotPlanned::NoTdma => "the description has no `tdma:`".to_owned(),
            NotPlanned::NoPairs => "no stream answers another: nothing to plan".to_owned(),
            NotPlanned::TooShort { needed } => format!("the cycle is too short: one round needs {needed}"),
        })
    })
}
