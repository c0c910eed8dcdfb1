//! Ways of a stream behind a recovery function, which are one passage: what they bring together.

use crate::analysis::Analysis;
use crate::curve::Line;
use crate::passage::{Brought, NO_REASON};
use crate::plan::{Plan, signed};
use crate::port_plan::ClassOrder;

/// Whether copies of the frames of an entry were eliminated before it, so that they may have changed their order.
pub(crate) fn is_reordered(plan: &Plan<'_>, number: u32) -> bool {
    let entry = &plan.entries[number as usize];
    let stream = plan.stream(entry.stream);
    let Some(replication) = stream.replication.as_deref() else { return false };
    let mut at = stream.hops[(number - plan.first_entry[entry.stream as usize]) as usize].previous;
    while let Some(hop) = at {
        if replication.recovered[hop as usize].is_some() {
            return true;
        }
        at = stream.hops[hop as usize].previous;
    }
    false
}

impl Analysis<'_> {
    /// Ways that are one passage bring what one of them does, grown by the gap of copies: the first represents all.
    pub(crate) fn merge_ways(&mut self, entries: &[u32]) {
        for number in entries {
            let entry = &self.plan.entries[*number as usize];
            let stream = self.plan.stream(entry.stream);
            let Some(replication) = stream.replication.as_deref() else { continue };
            let first = self.plan.first_entry[entry.stream as usize];
            let place = number - first;
            if replication.merged[place as usize] != place {
                continue;
            }
            let same = (0_u32..).zip(&replication.merged).filter(|(_, merged)| **merged == place);
            let all: Vec<u32> =
                same.map(|(hop, _)| first + hop).filter(|other| self.is_like(*number, *other)).collect();
            if let Some((brought, is_wide)) = self.brought_by_all(*number, &all) {
                for other in &all {
                    self.arrivals[*other as usize].is_represented = other != number;
                }
                let leader = &mut self.arrivals[*number as usize];
                (leader.brought, leader.comes_by_others) = (brought, is_wide);
            }
        }
    }

    /// Whether frames of two ways wait in one queue.
    fn is_like(&self, number: u32, other: u32) -> bool {
        let (one, other) = (&self.plan.entries[number as usize], &self.plan.entries[other as usize]);
        one.class == other.class && one.scheduler == other.scheduler
    }

    /// What ways that are one bring together, and whether they come by several links; none if that is not less than they bring apart.
    fn brought_by_all(&self, number: u32, all: &[u32]) -> Option<(Brought, bool)> {
        if all.len() < 2 || all.iter().any(|one| self.plan.carried(*one).is_some()) {
            return None;
        }
        let entry = &self.plan.entries[number as usize];
        let is_wide = all.iter().any(|one| self.plan.entries[*one as usize].reception != entry.reception);
        let order = self.plan.port(entry.port).classes[usize::from(entry.class)].1;
        if (is_wide && order != ClassOrder::Fifo) || !self.are_eliminated(number) {
            return None;
        }
        let (mut most, mut least, mut apart) = (0, i64::MAX, Line::default());
        for one in all {
            let (of, arriving) = (&self.plan.entries[*one as usize], &self.arrivals[*one as usize]);
            if arriving.scheduled || arriving.reason != NO_REASON {
                return None;
            }
            most = most.max(arriving.ready_max?);
            least = least.min(of.ready_min);
            apart = apart.and(arriving.brought.promised?);
        }
        #[cfg(feature = "planted-faults")]
        if self.plan.fault == Some(crate::PlantedFault::GapOfCopiesForgotten) {
            least = signed(most);
        }
        let line = entry.promise?;
        let jitter = u64::try_from(signed(most) - least).unwrap_or(0).saturating_add(entry.talker_slack);
        Some((Brought { promised: Some(line.after_jitter(line.rate, jitter)), shaped: Some(apart) }, is_wide))
    }

    /// Whether the last recovery function before an entry passes no copy twice.
    fn are_eliminated(&self, number: u32) -> bool {
        let entry = &self.plan.entries[number as usize];
        let stream = self.plan.stream(entry.stream);
        let Some(replication) = stream.replication.as_deref() else { return false };
        let first = self.plan.first_entry[entry.stream as usize];
        let before = |hop: u32| stream.hops[hop as usize].previous;
        let mut way = std::iter::successors(before(number - first), |hop| before(*hop));
        let last = way.find_map(|hop| replication.recovered[hop as usize]);
        last.is_some_and(|recovery| self.passes_once(entry.stream, recovery))
    }
}
