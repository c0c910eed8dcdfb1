//! Schedules: offsets and gates of time-aware streams, or dispatch points of time-triggered links.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tautwire_workbench::{
    GateOptions, Schedule, ScheduleVerdict, Scheduled, ScheduledChange, ScheduledGates, SearchAnswer,
    SearchQuestion, answer_of, question_json, with_dispatch_points,
};

use crate::network::CoreNetwork;

/// A schedule as JSON, and the description with it if it can be written.
type Found = PyResult<(String, Option<String>)>;

fn because(reasons: &[String]) -> PyErr {
    PyValueError::new_err(reasons.join("; "))
}

/// Streams without an offset are added at an instant of the run.
pub(crate) fn change(py: Python<'_>, core: &CoreNetwork, options: &GateOptions, at: &str) -> Found {
    let at = at.parse().map_err(|_| PyValueError::new_err(format!("`{at}` is no time")))?;
    let found = py.detach(|| ScheduledChange::find("schedule", &core.text, options, at));
    let found = found.ok_or_else(|| PyValueError::new_err("no stream to add"))?;
    let found = found.map_err(|reasons| because(&reasons))?;
    let text = found.holds().then(|| found.text.clone());
    Ok((found.to_json().to_string(), text))
}

/// By the searches of the workbench, or by a callable that gets a question as JSON and gives an answer as JSON.
pub(crate) fn schedule(
    py: Python<'_>,
    core: &CoreNetwork,
    options: &GateOptions,
    search: Option<&Bound<'_, PyAny>>,
) -> Found {
    let network = &core.network;
    let mut asked = Asked { search, error: None };
    let gates = match search {
        None => py.detach(|| ScheduledGates::find(network, options)),
        Some(_) => ScheduledGates::find_by(network, options, &mut |question| asked.answer(question)),
    };
    if let Some(found) = gates {
        asked.raised()?;
        let found = found.map_err(|reasons| because(&reasons))?;
        return Ok((found.to_json().to_string(), found.written("schedule", &core.text)));
    }
    let links = match search {
        None => py.detach(|| Scheduled::find(network)),
        Some(_) => Scheduled::find_by(network, &mut |question| asked.answer(question)),
    };
    asked.raised()?;
    let found = links.ok_or_else(|| PyValueError::new_err("nothing to schedule"))?;
    let found = found.map_err(|reasons| because(&reasons))?;
    let text = with_dispatch_points("schedule", &core.text, &found.network);
    Ok((found.to_json().to_string(), text))
}

/// A search in Python, and the error that it ended with.
struct Asked<'a, 'py> {
    search: Option<&'a Bound<'py, PyAny>>,
    error: Option<PyErr>,
}

impl Asked<'_, '_> {
    fn answer(&mut self, question: &SearchQuestion) -> SearchAnswer {
        let search = self.search.expect("it is asked if there is one");
        let answer = search
            .call1((question_json(question).to_string(),))
            .and_then(|answer| answer.extract::<String>());
        let answer = answer.and_then(|text| answer_of(&text).map_err(PyValueError::new_err));
        answer.unwrap_or_else(|error| {
            self.error = Some(error);
            let schedule = Schedule { dispatch: vec![None; question.problem.flows.len()] };
            SearchAnswer { verdict: ScheduleVerdict::LeftOut, schedule, conflict: None }
        })
    }

    fn raised(&mut self) -> PyResult<()> {
        self.error.take().map_or(Ok(()), Err)
    }
}
