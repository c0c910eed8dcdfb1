//! A plan of slots as a document: for people as YAML of the description, for programs as JSON.
//!
//! In addition to the slots it contains the proof: for each pair and round when the response is ready at the latest
//! and when its slot begins, and the proven round trips with the present slots and with the planned ones.

use std::fmt::Write;

use serde::Serialize;
use tautwire_analysis::{Bounds, bounds};
use tautwire_core::tdma::Carries;
use tautwire_model::Network;
use tautwire_model::network::StreamIndex;
use tautwire_units::Duration;

use crate::slots::PlannedSlots;

/// A plan with its proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SlotDocument {
    /// Length of the cycle.
    pub cycle_ps: u64,
    /// Rounds in it.
    pub rounds: u64,
    /// Slots by offset.
    pub slots: Vec<SlotLine>,
    /// Requests and responses.
    pub pairs: Vec<PairLine>,
}

/// A slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SlotLine {
    /// The owner.
    pub owner: String,
    /// From the start of the cycle.
    pub offset_ps: u64,
    /// Its length.
    pub length_ps: u64,
    /// `real-time` or `ordinary`.
    pub carries: &'static str,
    /// Used in every so many cycles.
    pub every: u32,
    /// In those whose number leaves this remainder.
    pub phase: u32,
}

/// A request and its response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PairLine {
    /// Stream of the request.
    pub request: String,
    /// Stream of the response.
    pub response: String,
    /// The proven round trip with the slots of the description; none if there is none.
    pub round_trip_before_ps: Option<u64>,
    /// With the planned ones.
    pub round_trip_ps: Option<u64>,
    /// Per round of the cycle.
    pub answers: Vec<AnswerLine>,
}

/// A response that meets its request in one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AnswerLine {
    /// The last slot that the request may have.
    pub request_ps: u64,
    /// When the response is ready at the latest.
    pub ready_ps: u64,
    /// Its slot.
    pub response_ps: u64,
}

/// The greatest proven delay over all listeners.
fn proven(bounds: &Bounds, stream: StreamIndex) -> Option<u64> {
    let listeners = bounds.streams[stream.index()].listeners.iter();
    listeners.map(|listener| listener.delay.as_ref().ok().map(|delay| delay.as_ps())).max()?
}

impl SlotDocument {
    /// The document of slots that were planned for `network`; proves both.
    #[must_use]
    pub fn new(network: &Network, planned: &PlannedSlots) -> Self {
        let (before, after) = (bounds(network), bounds(&planned.network));
        let line = |slot: &tautwire_synthesis::tdma_slots::PlannedSlot| SlotLine {
            owner: network.nodes[slot.owner as usize].name.clone(),
            offset_ps: slot.offset.as_ps(),
            length_ps: slot.length.as_ps(),
            carries: if slot.carries == Carries::Ordinary { "ordinary" } else { "real-time" },
            every: slot.every,
            phase: slot.phase,
        };
        let answers = |pair: usize| {
            let own = planned.plan.answers.iter().filter(move |answer| answer.pair == pair);
            let line = |answer: &tautwire_synthesis::tdma_slots::Answer| AnswerLine {
                request_ps: answer.request.as_ps(),
                ready_ps: answer.ready.as_ps(),
                response_ps: answer.response.as_ps(),
            };
            own.map(line).collect()
        };
        let pair = |(number, (request, response)): (usize, &(StreamIndex, StreamIndex))| PairLine {
            request: network.streams[request.index()].name.clone(),
            response: network.streams[response.index()].name.clone(),
            round_trip_before_ps: proven(&before, *response),
            round_trip_ps: proven(&after, *response),
            answers: answers(number),
        };
        Self {
            cycle_ps: planned.plan.cycle.as_ps(),
            rounds: planned.plan.rounds,
            slots: planned.plan.slots.iter().map(line).collect(),
            pairs: planned.pairs.iter().enumerate().map(pair).collect(),
        }
    }

    /// Whether every round trip is proven.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.pairs.iter().all(|pair| pair.round_trip_ps.is_some())
    }

    /// As JSON with a line feed at the end.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("texts and numbers are JSON");
        text.push('\n');
        text
    }

    /// Keys of `tdma:` for a description; the proof is in comments.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        let time = Duration::from_ps;
        let mut text = format!("tdma:\n  cycle: {}\n  slots:\n", time(self.cycle_ps));
        let mut line = |words: std::fmt::Arguments<'_>| {
            text.write_fmt(words).expect("a text takes all");
            text.push('\n');
        };
        for slot in &self.slots {
            let (offset, length) = (time(slot.offset_ps), time(slot.length_ps));
            let SlotLine { owner, carries, .. } = slot;
            let turn = if slot.every > 1 {
                format!(", every: {}, phase: {}", slot.every, slot.phase)
            } else {
                String::new()
            };
            line(format_args!(
                "    - {{owner: {owner}, offset: {offset}, length: {length}, carries: {carries}{turn}}}"
            ));
        }
        for pair in &self.pairs {
            let text = |bound: Option<u64>| bound.map_or("unbounded".to_owned(), |ps| time(ps).to_string());
            let (before, now) = (text(pair.round_trip_before_ps), text(pair.round_trip_ps));
            line(format_args!(
                "# {} to {}: round trip at most {now}, was {before}",
                pair.request, pair.response
            ));
            for answer in &pair.answers {
                let (request, ready) = (time(answer.request_ps), time(answer.ready_ps));
                let slot = time(answer.response_ps);
                line(format_args!("#   asked at {request}, ready until {ready}, answered at {slot}"));
            }
        }
        text
    }
}
