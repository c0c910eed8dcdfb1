//! The cycles of a TDMA network in results: when each began, which station opened it, and the use of every slot in it.
//!
//! Which cycles are kept: `tautwire-sim`, `cycles.rs`. Not here: the sums over all cycles (`slots.rs`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tautwire_model::network::Network;
use tautwire_sim::{CycleObservation, Observation, SlotFate};
use tautwire_units::Duration;

/// The cycles of a run with TDMA: the first 500, and then those in which a slot was missed or unheard, that another
/// opened than the one before, or that a time without a cycle goes before, up to 1000 with the last of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CyclesSummary {
    /// Cycles that were opened and are not among these.
    pub left_out: u64,
    /// In the order in which they were opened.
    pub cycles: Vec<CycleSummary>,
}

/// A cycle of TDMA. Times are true times since the start of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CycleSummary {
    /// How many cycles were opened before it in the run.
    pub turn: u64,
    /// Its number in the frames that open it; a master that is back without a standby counts from zero again.
    pub number: u32,
    /// When it began, by who opened it first; a standby opens a cycle later than it began.
    pub begin_ps: u64,
    /// Time without a cycle before it, from the end of the one before; absent below half a cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_ps: Option<u64>,
    /// Who opened it: `master`, `standby` or `both`.
    pub opened_by: String,
    /// When the master's synchronisation frame left, if it opened it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub master_opened_ps: Option<u64>,
    /// The same of the standby.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standby_opened_ps: Option<u64>,
    /// What became of the slots, a character for each in the order of `slots` of the summary: `u` used, `e` empty, `E` empty
    /// and missed by a frame, `x` unheard (its owner had not received the frame that opens the cycle), `X` unheard and missed
    /// by a frame,
    /// `-` not of this cycle, `?` not known, in the last cycle of the run.
    pub slots: String,
}

/// The cycles of a run; none without TDMA, and if none was opened.
pub(crate) fn summary(network: &Network, observation: &Observation) -> Option<CyclesSummary> {
    let tdma = network.tdma.as_ref()?;
    let seen = &observation.cycles;
    let cycles = seen.kept.iter().map(|cycle| cycle_summary(tdma.cycle, cycle));
    (!seen.kept.is_empty()).then(|| CyclesSummary { left_out: seen.left_out, cycles: cycles.collect() })
}

fn cycle_summary(length: Duration, seen: &CycleObservation) -> CycleSummary {
    let opened_by = match (seen.by_master, seen.by_standby) {
        (Some(_), Some(_)) => "both",
        (_, Some(_)) => "standby",
        (_, None) => "master",
    };
    CycleSummary {
        turn: seen.turn,
        number: seen.number,
        begin_ps: seen.began.as_ps(),
        gap_ps: seen.gap_before(length).map(Duration::as_ps),
        opened_by: opened_by.to_owned(),
        master_opened_ps: seen.by_master.map(Duration::as_ps),
        standby_opened_ps: seen.by_standby.map(Duration::as_ps),
        slots: seen.slots.iter().map(|fate| letter(*fate)).collect(),
    }
}

/// The character of what became of a slot.
const fn letter(fate: SlotFate) -> char {
    match fate {
        SlotFate::Elsewhere => '-',
        SlotFate::Unknown => '?',
        SlotFate::Used => 'u',
        SlotFate::Empty => 'e',
        SlotFate::EmptyMissed => 'E',
        SlotFate::Unheard => 'x',
        SlotFate::UnheardMissed => 'X',
    }
}
