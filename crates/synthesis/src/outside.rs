//! Searches outside of this crate: what they are asked, and what they may answer.
//!
//! A search gets the same [`Problem`] as those of this crate. Room for the largest frame of other classes is a flow of its own, which any search may place
//! where it likes: so a problem that has no schedule has none with the room elsewhere either. No answer is believed: the checker compares every one.

use std::collections::BTreeMap;

use tautwire_model::network::DelayRange;
use tautwire_units::Duration;

use crate::check::check;
use crate::conflict::FlowConflict;
use crate::network::Verdict;
use crate::problem::{Flow, Hop, Problem, Room};
use crate::schedule::{Kept, Schedule};

/// What a search is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The problem.
    pub problem: Problem,
    /// How many of its flows are of streams. Those behind them are rooms, which each schedule has.
    pub streams: usize,
    /// Flows that stay where they are.
    pub kept: Kept,
}

/// What a search answers.
#[derive(Clone, Debug)]
pub struct Answer {
    /// How it ended.
    pub verdict: Verdict,
    /// The schedule; a flow of a stream may be left out of it.
    pub schedule: Schedule,
    /// Streams that find no place together, if one was left out.
    pub conflict: Option<FlowConflict>,
}

/// A search.
pub type Search<'s> = dyn FnMut(&Question) -> Answer + 's;

/// A room on each of these links, as a flow that sends nothing anywhere else.
pub(crate) fn question(problem: &Problem, kept: &Kept, rooms: &BTreeMap<usize, Room>) -> Question {
    let streams = problem.flows.len();
    let mut problem = problem.clone();
    let last = Duration::from_ps(1);
    for (link, room) in rooms {
        let hop = Hop {
            link: *link,
            previous: None,
            window: room.length,
            arrival: DelayRange::default(),
            ready: DelayRange::default(),
            queue: None,
        };
        problem.flows.push(Flow {
            name: format!("room at {}", problem.links[*link].name),
            period: room.cycle,
            deadline: None,
            start: DelayRange { min: Duration::ZERO, max: room.cycle - last },
            hops: vec![hop],
        });
    }
    Question { problem, streams, kept: kept.clone() }
}

/// An answer whose schedule the checker has compared, without the flows that are rooms.
///
/// # Errors
/// Why it is none, a sentence.
pub(crate) fn checked(question: &Question, mut answer: Answer) -> Result<Answer, String> {
    let dispatch = &answer.schedule.dispatch;
    let wrong = |why: String| Err(format!("the search gave a schedule that is none: {why}"));
    if let Some(fault) = check(&question.problem, &answer.schedule).first() {
        return wrong(fault.to_string());
    }
    if let Some(room) = dispatch.iter().skip(question.streams).position(Option::is_none)
        && dispatch.iter().any(Option::is_some)
    {
        return wrong(format!("{} is left out", question.problem.flows[question.streams + room].name));
    }
    let moved = question.kept.iter().find(|(flow, at)| dispatch[**flow].as_ref().is_some_and(|it| it != *at));
    if let Some((flow, _)) = moved {
        return wrong(format!("`{}` is moved", question.problem.flows[*flow].name));
    }
    let left_out = dispatch.iter().take(question.streams).any(Option::is_none);
    if left_out == (answer.verdict == Verdict::Scheduled) {
        return wrong("its verdict is not that of its flows".to_owned());
    }
    let beyond = answer.conflict.iter().flat_map(|conflict| &conflict.flows);
    if beyond.into_iter().any(|flow| *flow >= question.streams) {
        return wrong("its conflict names a flow that is not there".to_owned());
    }
    answer.schedule.dispatch.truncate(question.streams);
    Ok(answer)
}
