//! Faults that no single key shows: overload, paces that no run can carry out, flooding without end, events and keys without effect.
//!
//! [`check`] reads the resolved description, and changes nothing. Checks of a single mechanism are in its folder.

pub(crate) mod flooding;
mod granted;
mod idle_events;
mod loads;
mod no_bound;
pub(crate) mod pace;
mod processing;
pub(crate) mod without_effect;

use crate::blocks::BLOCKS;
use crate::resolve::Resolved;
use crate::text::faults::Faults;
use crate::{host_stacks, srp, tdma, virtual_link};

/// Reports what cannot be, or does nothing, in a network.
pub(crate) fn check(of: &Resolved<'_, '_>, faults: &mut Faults) {
    let (topology, models, streams) = (&of.topology, &of.models, &of.streams);
    let found = &of.mechanisms;
    host_stacks::resolve::check_streams(topology, models, streams, faults);
    virtual_link::resolve::check_alike(streams, faults);
    if of.is_routed {
        flooding::check(topology, streams, faults);
        tdma::resolve::check_heard(streams, faults);
    }
    for block in BLOCKS {
        (block.check)(of, faults);
    }
    granted::check(&of.events, streams, found.srp.as_ref(), found.harts.as_ref(), faults);
    let starts_up = found.tdma.as_ref().is_some_and(|tdma| tdma.start_up.is_some());
    // What an event that is left out makes is not known, nor when a run without a readable length ends.
    if of.has_all_events {
        let stated = of.draft.root.get("run").and_then(|run| run.get("duration"));
        let duration = stated.is_none_or(|stated| stated.text().is_some()).then_some(of.run.duration);
        let asked_for = (found.srp.as_ref(), found.harts.as_ref());
        idle_events::check(&of.events, (topology, streams), asked_for, (duration, starts_up), faults);
    }
    if let Some(shapers) = &of.shapers {
        let covering = of.covering().with(topology, models);
        loads::check(&covering, streams, &shapers.reserved_classes, faults);
        processing::check(&covering, streams, faults);
        loads::control_frames_fit(of.draft, topology, streams, faults);
        host_stacks::resolve::check_buffers(topology, models, streams, faults);
        virtual_link::resolve::check_routed(topology, models, streams, faults);
        srp::avb_profile::check(of.draft, topology, streams, found.srp.as_ref(), found.gptp.as_ref(), faults);
    }
    pace::check(of.draft, topology, (&of.run, &of.events), streams, found, faults);
    if of.is_routed && faults.errors() == 0 {
        no_bound::check(of, faults);
    }
}
