//! Why there are no bounds: each reason once, by number.

use std::cell::RefCell;

use crate::plan::index;
use crate::unbounded::Unbounded;

/// The list. Numbers stay what they are.
#[derive(Debug, Default)]
pub(crate) struct Reasons(RefCell<Vec<Unbounded>>);

impl Reasons {
    /// The number of a reason.
    pub(crate) fn number(&self, reason: Unbounded) -> u32 {
        let mut list = self.0.borrow_mut();
        if let Some(known) = list.iter().rposition(|known| *known == reason) {
            return index(known);
        }
        list.push(reason);
        index(list.len() - 1)
    }

    /// The reason of a number.
    pub(crate) fn get(&self, number: u32) -> Option<Unbounded> {
        self.0.borrow().get(number as usize).cloned()
    }
}
