//! What the classes of a port do to those below them.

use super::{Assess, Candidates, ClassTerms};
use crate::contribution::Offered;
use crate::curve::{Curve, MICRO};
use crate::passage::NO_REASON;
use crate::windows::{ClassWindows, Part};

/// The traffic that goes before a class.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Above {
    pub(crate) offered: Offered,
    /// Why more does than is known.
    pub(crate) reason: u32,
    /// Class by class, instead of all that, at a port whose classes may not always send.
    pub(crate) parts: Vec<Part>,
    /// Of all that, what classes send that may hold frames back.
    pub(crate) held: Curve,
}

impl Above {
    /// Nothing.
    pub(crate) fn nothing() -> Self {
        Self { offered: Offered::nothing(), reason: NO_REASON, parts: Vec::new(), held: Curve::zero() }
    }
}

impl Assess<'_> {
    /// What the class does to those below it at a port whose classes may not always send.
    pub(super) fn part(&self, windows: &ClassWindows, terms: &ClassTerms, out: Offered) -> Part {
        let is_credit = terms.shaper.is_some();
        let credit = terms.shaper.zip(terms.credit_max).map(|(shaper, credit)| shaper.at_any_time(credit));
        let held = self.held_max(terms);
        #[cfg(feature = "planted-faults")]
        let held = match self.port.fault {
            Some(crate::PlantedFault::WaitAboveForgotten) => Some(0),
            _ => held,
        };
        let late = match held {
            _ if is_credit => out.clone(),
            Some(held) => out.widened(held),
            None => Offered::by_curves(Curve::default(), Curve::default()),
        };
        let prompt = (windows.is_open && !is_credit).then_some(out);
        let part = self.prompt_part(terms, Offered::nothing());
        Part { late, prompt, credit, ..part }
    }

    /// The same where all classes always may.
    pub(super) fn prompt_part(&self, terms: &ClassTerms, out: Offered) -> Part {
        let unknown = self.members.iter().map(|member| member.unknown).find(|one| *one != NO_REASON);
        let credit = terms.shaper.zip(terms.credit_max).map(|(shaper, credit)| shaper.at_any_time(credit));
        Part {
            class: self.class,
            late: Offered::nothing(),
            prompt: Some(out),
            credit,
            wire_min: self.members.iter().map(|member| member.wire_min).min().unwrap_or(u64::MAX),
            reason: unknown.unwrap_or(terms.reason),
        }
    }

    /// The longest that a frame of the class is in its queue and on the line.
    pub(super) fn held_max(&self, terms: &ClassTerms) -> Option<u64> {
        let smallest = self.members.iter().map(|member| member.frame_min).min()?;
        let largest = self.members.iter().map(|member| member.wire_max).max()?;
        let bits = terms.bits(self.port, smallest);
        let wait = |bounds: &Candidates| bounds.iter().filter_map(|bound| bound.start_max(bits)).min();
        let waits = terms.lanes.iter().try_fold(0, |most: u64, (_, bounds)| Some(most.max(wait(bounds)?)));
        let sent = crate::curve::span(u128::from(largest) * MICRO, self.port.rate_served)?;
        Some(waits?.saturating_add(sent).saturating_add(self.tardy).saturating_add(self.port.slack))
    }
}
