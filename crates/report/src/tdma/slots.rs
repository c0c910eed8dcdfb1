//! Slots of a TDMA cycle in results: how often each was used, passed empty, was missed; and the cycle as a picture of text.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tautwire_core::tdma::Carries;
use tautwire_model::network::Network;
use tautwire_sim::{Observation, SlotObservation};

use crate::name;
use crate::summary::Summary;
use crate::table::microseconds;

/// Characters of the picture of a cycle.
const PICTURE: u64 = 50;

/// What became of a slot: opened = used + empty + unheard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlotSummary {
    /// Its owner.
    pub owner: String,
    /// From the start of the cycle.
    pub offset_ps: u64,
    /// Its length.
    pub length_ps: u64,
    /// Used in every so many cycles.
    pub every: u32,
    /// In those whose number leaves this remainder.
    pub phase: u32,
    /// What it carries: `real-time`, `ordinary` or `both`.
    pub carries: String,
    /// Cycles in which it was due and it is known what became of it: in the last one of the run it may not be.
    pub opened: u64,
    /// Times that a frame left in it, or a message of the start-up.
    pub used: u64,
    /// Times that it passed empty.
    pub empty: u64,
    /// Times that it passed without use, empty or unheard, and a frame came too late for it, though it was created, or the
    /// request that it answers had left.
    pub missed: u64,
    /// Times that its owner was silent, because it had not received the frame that opens the cycle.
    pub unheard: u64,
}

/// The slots of a run.
pub(crate) fn summaries(network: &Network, observation: &Observation) -> Vec<SlotSummary> {
    let Some(tdma) = &network.tdma else { return Vec::new() };
    let summary = |(owned, seen): (&tautwire_model::tdma::OwnedSlot, &SlotObservation)| SlotSummary {
        owner: name::node(network, owned.owner).to_owned(),
        offset_ps: owned.slot.offset.as_ps(),
        length_ps: owned.length.as_ps(),
        every: owned.slot.period,
        phase: owned.slot.phase,
        carries: match owned.slot.carries {
            Carries::RealTime => "real-time",
            Carries::Ordinary => "ordinary",
            Carries::Both => "both",
        }
        .to_owned(),
        opened: seen.opened,
        used: seen.used,
        empty: seen.empty,
        missed: seen.missed,
        unheard: seen.opened.saturating_sub(seen.used + seen.empty),
    };
    tdma.slots.iter().zip(&observation.slots).map(summary).collect()
}

/// A table of the slots, each with its place in the cycle; empty without TDMA.
#[must_use]
pub fn table(summary: &Summary) -> String {
    let slots = &summary.slots;
    let Some(end) = slots.iter().map(|slot| slot.offset_ps + slot.length_ps).max() else {
        return String::new();
    };
    let widest = slots.iter().map(|slot| slot.owner.chars().count()).max().unwrap_or(0).max(5);
    let picture = usize::try_from(PICTURE).expect("a short line");
    let rule = |width: usize| "─".repeat(width);
    let mut text = format!(
        "{:widest$}  {:>9}  {:picture$}  {:>8}  {:>8}  {:>8}  {:>8}\n{}\n",
        "slots",
        "offset us",
        format!("0 to {} us", microseconds(end.into())),
        "used",
        "empty",
        "missed",
        "unheard",
        [widest, 9, picture, 8, 8, 8, 8].map(rule).join("  ")
    );
    for slot in slots {
        let mark = match (slot.carries.as_str(), slot.every) {
            ("ordinary", _) => '░',
            (_, 1) => '█',
            _ => '▒',
        };
        // A slot has a character at least.
        let first = (slot.offset_ps * PICTURE / end).min(PICTURE - 1);
        let behind = ((slot.offset_ps + slot.length_ps) * PICTURE).div_ceil(end).max(first + 1);
        let line: String =
            (0..PICTURE).map(|at| if (first..behind).contains(&at) { mark } else { '·' }).collect();
        let offset = microseconds(slot.offset_ps.into());
        writeln!(
            text,
            "{:widest$}  {offset:>9}  {line}  {:>8}  {:>8}  {:>8}  {:>8}",
            slot.owner, slot.used, slot.empty, slot.missed, slot.unheard
        )
        .expect("a string can be written");
    }
    text
}
