//! All messages that may be in transit while one request is decided, and their total time.
//!
//! Requests and releases cause messages, each processed within a bound L after its cause. So a request that is
//! complete at `c` and answered within L meets no message whose cause ended before `c - 2 L`, and none whose cause
//! begins after `c + L`. L is the least number that is consistent with itself: the first message to exceed it would
//! need an earlier one that exceeds it.

use std::collections::BTreeMap;

use super::NoAdmissionBound;

/// No admission is waited for longer, in picoseconds: 1000 s.
const LONGEST: u64 = 1_000_000_000_000_000;
/// Steps towards a bound that is consistent with itself.
const STEPS: usize = 1_000;

/// A message that is taken by `taker` after `work` picoseconds, and how often it may come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message<T> {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) taker: T,
    pub(crate) work: u64,
    pub(crate) count: u64,
}

/// Messages with common causes: the first and the last of them, true time since the start.
#[derive(Clone, Debug)]
pub(crate) struct Item<T> {
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) messages: Vec<Message<T>>,
}

/// Work and messages of a window.
#[derive(Clone, Debug)]
pub(crate) struct Load<T> {
    /// Per entity, picoseconds.
    pub(crate) work: BTreeMap<T, u64>,
    /// Per direction between two nodes.
    pub(crate) messages: BTreeMap<(u32, u32), u64>,
}

/// What may meet a request that is complete at `at`, if none takes longer than `longest`.
pub(crate) fn load<T: Copy + Ord>(items: &[Item<T>], at: u64, longest: u64) -> Load<T> {
    let mut load = Load { work: BTreeMap::new(), messages: BTreeMap::new() };
    let meets = |item: &&Item<T>| {
        item.first <= at.saturating_add(longest) && item.last.saturating_add(longest.saturating_mul(2)) >= at
    };
    for message in items.iter().filter(meets).flat_map(|item| &item.messages) {
        load.add(message);
    }
    load
}

impl<T: Copy + Ord> Load<T> {
    pub(crate) fn add(&mut self, message: &Message<T>) {
        let work = self.work.entry(message.taker).or_default();
        *work = work.saturating_add(message.work.saturating_mul(message.count));
        *self.messages.entry((message.from, message.to)).or_default() += message.count;
    }

    /// The work of some entities, each counted once.
    pub(crate) fn work_of(&self, takers: impl Iterator<Item = T>) -> u64 {
        let takers: std::collections::BTreeSet<T> = takers.collect();
        takers.iter().filter_map(|taker| self.work.get(taker)).fold(0, |sum, work| sum.saturating_add(*work))
    }
}

/// The least bound that `of` reproduces when it is assumed; none above [`LONGEST`].
pub(crate) fn consistent(
    of: impl Fn(u64) -> Result<u64, NoAdmissionBound>,
) -> Result<Option<u64>, NoAdmissionBound> {
    let mut assumed = 0;
    for _ in 0..STEPS {
        let next = of(assumed)?;
        if next <= assumed {
            return Ok(Some(assumed));
        }
        if next > LONGEST {
            break;
        }
        assumed = next;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(first: u64, last: u64) -> Item<u8> {
        let message = Message { from: 1, to: 2, taker: 7, work: 10, count: 2 };
        Item { first, last, messages: vec![message] }
    }

    #[test]
    fn what_ended_long_before_does_not_count() {
        let items = [item(0, 0), item(100, 100), item(500, 900)];
        let met = |at, longest| load(&items, at, longest).work_of([7, 7].into_iter());
        assert_eq!(met(100, 10), 20, "its own alone");
        assert_eq!(met(100, 50), 40, "what was asked two bounds before may be there yet");
        assert_eq!(met(100, 400), 60);
        assert_eq!(load(&items, 600, 1).messages[&(1, 2)], 2);
    }

    #[test]
    fn a_bound_is_consistent_with_itself_or_there_is_none() {
        assert_eq!(consistent(|assumed| Ok(assumed / 2 + 50)), Ok(Some(99)));
        assert_eq!(consistent(|assumed| Ok(assumed * 2 + 1)), Ok(None));
    }
}
