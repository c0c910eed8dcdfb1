//! The contract of [`Machine`], held at every event of a run with needless wake-ups ([`crate::Driver::Spurious`]).
//!
//! Every event is given to a copy of the machine, too: both must answer alike. Then another copy must be drained by polling, have no
//! deadline that is past behind [`Event::Due`], and make nothing of a deadline that has not come. The machine itself
//! gets a needless [`Event::Due`] before its
//! events, so a run that differs from one without shows what the copies do not.

use std::any::type_name;

use tautwire_core::control::{Event, Machine};
use tautwire_units::Instant;

/// How often a machine may have something to do again at the same reading.
const AT_ONCE: usize = 1_000;

/// Gives a machine an event and holds its answer against the contract.
///
/// # Panics
/// If it breaks the contract.
pub(super) fn handle<M: Machine + Clone>(machine: &mut M, now: Instant, event: Event<'_>) {
    let mut other = machine.clone();
    machine.handle(now, event);
    other.handle(now, event);
    assert_eq!(
        machine.deadline(),
        other.deadline(),
        "equal machines have equal deadlines: {}",
        type_name::<M>()
    );
    let mut drained = machine.clone();
    loop {
        let output = drained.poll();
        assert_eq!(output, other.poll(), "equal machines send the same: {}", type_name::<M>());
        if output.is_none() {
            break;
        }
    }
    assert_eq!(drained.poll(), None, "a machine that is drained stays so");
    if event == Event::Due {
        settle(&mut drained, now);
    }
    wake(&mut drained, now);
}

/// Gives a machine [`Event::Due`] while it has more to do at once, as a runner does.
fn settle<M: Machine>(machine: &mut M, now: Instant) {
    for _ in 0..AT_ONCE {
        let next = machine.deadline();
        assert!(next.is_none_or(|next| next >= now), "{}: {next:?} is past at {now:?}", type_name::<M>());
        if next.is_none_or(|next| next > now) {
            return;
        }
        machine.handle(now, Event::Due);
        while machine.poll().is_some() {}
    }
    panic!("{}: its deadline stays {now:?}", type_name::<M>());
}

/// Gives a drained machine a needless [`Event::Due`].
///
/// # Panics
/// If something follows from it.
pub(super) fn wake<M: Machine>(machine: &mut M, now: Instant) {
    let deadline = machine.deadline();
    if deadline.is_none_or(|deadline| deadline > now) {
        machine.handle(now, Event::Due);
        assert_eq!(machine.poll(), None, "nothing follows from a needless Due: {}", type_name::<M>());
        assert_eq!(machine.deadline(), deadline, "a needless Due moves no deadline: {}", type_name::<M>());
    }
}
