//! Questions to a search outside of the workbench, and its answers, as JSON: times in picoseconds, flows and links by their numbers.

use serde_json::{Value, json};
use tautwire_synthesis::{Answer, FlowConflict, Hop, Question, Schedule, Verdict};
use tautwire_units::Duration;

/// A question. Flows from `streams` on are rooms for other traffic; `tail_ps` is from the dispatch at a hop to the last bit behind it.
#[must_use]
pub fn question_json(question: &Question) -> Value {
    let problem = &question.problem;
    let precision = problem.precision;
    let ps = Duration::as_ps;
    let hop = |hop: &Hop| {
        let clocks = if hop.previous.is_some() { precision } else { Duration::ZERO };
        json!({
            "link": hop.link,
            "previous": hop.previous,
            "window_ps": ps(hop.window),
            "ready_min_ps": ps(hop.ready.min),
            "ready_max_ps": ps(hop.ready.max),
            "tail_ps": ps(hop.arrival.max + clocks),
            "queue": hop.queue.map(|queue| json!({
                "queue": queue.queue,
                "before_ps": ps(queue.before),
                "until_ps": ps(queue.until),
            })),
        })
    };
    let flows = problem.flows.iter().map(|flow| {
        json!({
            "name": flow.name,
            "period_ps": ps(flow.period),
            "deadline_ps": flow.deadline.map(ps),
            "start_min_ps": ps(flow.start.min),
            "start_max_ps": ps(flow.start.max),
            "hops": flow.hops.iter().map(hop).collect::<Vec<_>>(),
        })
    });
    let links = problem.links.iter().map(|link| {
        let room = link.room.filter(|room| !room.length.is_zero());
        json!({
            "name": link.name,
            "room": room.map(|room| json!({"cycle_ps": ps(room.cycle), "length_ps": ps(room.length)})),
        })
    });
    let kept = question.kept.iter().map(
        |(flow, at)| json!({"flow": flow, "dispatch_ps": at.iter().copied().map(ps).collect::<Vec<_>>()}),
    );
    json!({
        "precision_ps": ps(precision),
        "links": links.collect::<Vec<_>>(),
        "flows": flows.collect::<Vec<_>>(),
        "streams": question.streams,
        "kept": kept.collect::<Vec<_>>(),
    })
}

/// An answer: `verdict`, `dispatch_ps` (for each flow the instants of its hops, or null), and `conflict` (null, or `flows` and `proven`).
///
/// # Errors
/// What of it is not as it must be.
pub fn answer_of(text: &str) -> Result<Answer, String> {
    let answer: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let verdict = match answer["verdict"].as_str() {
        Some("scheduled") => Verdict::Scheduled,
        Some("impossible") => Verdict::Impossible,
        Some("left out") => Verdict::LeftOut,
        _ => return Err(format!("a verdict {}", answer["verdict"])),
    };
    let instants = |flow: &Value| match flow.as_array() {
        None if flow.is_null() => Some(None),
        None => None,
        Some(at) => {
            at.iter().map(|at| at.as_u64().map(Duration::from_ps)).collect::<Option<Vec<_>>>().map(Some)
        }
    };
    let dispatch = answer["dispatch_ps"].as_array().and_then(|flows| flows.iter().map(instants).collect());
    let dispatch = dispatch.ok_or("its `dispatch_ps` are no lists of picoseconds")?;
    let conflict = match &answer["conflict"] {
        Value::Null => None,
        conflict => {
            let flows = conflict["flows"].as_array().and_then(|flows| {
                flows.iter().map(|flow| usize::try_from(flow.as_u64()?).ok()).collect::<Option<Vec<_>>>()
            });
            let (Some(flows), Some(is_proven)) = (flows, conflict["proven"].as_bool()) else {
                return Err("its `conflict` has no `flows` or no `proven`".to_owned());
            };
            Some(FlowConflict { flows, is_proven })
        }
    };
    Ok(Answer { verdict, schedule: Schedule { dispatch }, conflict })
}
