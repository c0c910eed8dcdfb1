//! Streams that take turns in one slot: each has it in every n-th cycle, as its deadline allows.
//!
//! In: the problem and the length of the cycle. Out: a problem in which streams that share are one transfer, which
//! passes all that one of them passes; and the owner of a slot in each cycle. A period is a power of two, so that all
//! slots repeat after the longest of them. A stream that does not share keeps its slot in every cycle.

use tautwire_units::Duration;

use super::problem::{Alone, SlotProblem, Transfer};

/// Longest period of a slot, cycles.
const PERIOD_MAX: u64 = 64;

/// Those that share a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// Cycles from one use of the slot to the next by the same.
    pub(super) period: u32,
    /// Transfers, by phase.
    pub(super) members: Vec<usize>,
}

/// A problem with streams that share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shared {
    pub(super) problem: SlotProblem,
    /// The streams that the transfers after those of the given problem represent.
    pub(super) turns: Vec<Turn>,
}

/// Lets streams share slots in a cycle of this length; none if none can.
pub(super) fn share(problem: &SlotProblem, cycle: Duration) -> Option<Shared> {
    let mut shared = Shared { problem: problem.clone(), turns: Vec::new() };
    let mut able: Vec<(u32, usize)> =
        problem.alone.iter().filter_map(|alone| Some((period(alone, cycle)?, alone.transfer))).collect();
    shared.problem.alone.retain(|alone| period(alone, cycle).is_none());
    able.sort_unstable();
    let mut rest = &able[..];
    while let Some((least, _)) = rest.first() {
        let count = rest.len().min(*least as usize);
        let (here, behind) = rest.split_at(count);
        rest = behind;
        let members: Vec<usize> = here.iter().map(|(_, transfer)| *transfer).collect();
        if let [transfer] = members[..] {
            shared.problem.alone.push(Alone { transfer, apart_max: None });
            continue;
        }
        let transfer = shared.problem.transfers.len();
        shared.problem.transfers.push(together(problem, &members));
        shared.problem.alone.push(Alone { transfer, apart_max: None });
        // No more turns than there are members, as a power of two.
        let turns = u32::try_from(members.len()).unwrap_or(*least).next_power_of_two();
        shared.turns.push(Turn { period: turns.min(*least), members });
    }
    (!shared.turns.is_empty()).then_some(shared)
}

/// The longest period that the stream's deadline allows; none below two.
fn period(alone: &Alone, cycle: Duration) -> Option<u32> {
    let cycles = alone.apart_max?.as_ps().checked_div(cycle.as_ps())?.min(PERIOD_MAX);
    let power = cycles.checked_ilog2()?;
    (power > 0).then_some(1 << power)
}

/// What any of several is sent as: as long as the longest, in all ports of all.
fn together(problem: &SlotProblem, members: &[usize]) -> Transfer {
    let mut merged = problem.transfers[members[0]].clone();
    for member in &members[1..] {
        let own = &problem.transfers[*member];
        merged.length = merged.length.max(own.length);
        merged.heard = merged.heard.max(own.heard);
        for passage in &own.passages {
            match merged.passages.iter_mut().find(|known| known.port == passage.port) {
                Some(known) => {
                    known.from = known.from.min(passage.from);
                    known.until = known.until.max(passage.until);
                }
                None => merged.passages.push(*passage),
            }
        }
    }
    merged
}
