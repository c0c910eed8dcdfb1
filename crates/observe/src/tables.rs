//! Observations of a mechanism in a run, by their type, and the tables that show them.
//!
//! A mechanism that is a plug-in keeps its observations in a type of its own, which the run carries without knowing
//! it. For users they are tables: summary, page, command and Python show them as they are, without code of the
//! mechanism.

use core::any::Any;
use core::fmt;
use std::sync::Arc;

/// A table of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name for programs: lower case and `_`.
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// The meaning of a row, in a sentence.
    pub about: &'static str,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, a cell for each column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// By which programs know it: lower case and `_`; the name of a time ends in `_ps`.
    pub name: &'static str,
    /// Its heading; of a time, without its unit.
    pub title: &'static str,
}

/// The contents of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Nothing.
    None,
    /// A text.
    Text(String),
    /// A number; of picoseconds, if the name of its column shows it.
    Number(u64),
}

/// The observations of a mechanism.
pub trait Shown: Any + fmt::Debug + Send + Sync {
    /// The tables that show it.
    fn tables(&self) -> Vec<Table>;

    /// The same of the nodes of both, which have no node in common.
    #[must_use]
    fn join(&self, other: &Self) -> Self
    where
        Self: Sized;
}

/// As [`Shown`], compared with others: any that can be.
trait Kept: Shown {
    fn is_same(&self, other: &dyn Any) -> bool;

    /// Both as one; none if the other is of another type.
    fn joined(&self, other: &dyn Any) -> Option<Arc<dyn Kept>>;
}

impl<T: Shown + PartialEq> Kept for T {
    fn is_same(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<T>().is_some_and(|other| other == self)
    }

    fn joined(&self, other: &dyn Any) -> Option<Arc<dyn Kept>> {
        let joined = self.join(other.downcast_ref::<T>()?);
        Some(Arc::new(joined))
    }
}

/// The observations of all mechanisms of a run, each by its type.
#[derive(Clone, Debug, Default)]
pub struct Observed(Vec<Arc<dyn Kept>>);

impl Observed {
    /// Adds what one of them observed.
    pub fn add<T: Shown + PartialEq>(&mut self, seen: T) {
        self.0.push(Arc::new(seen));
    }

    /// Adds what the same mechanisms observed at other nodes.
    pub fn join(&mut self, other: Self) {
        for seen in other.0 {
            let as_any: &dyn Any = &*seen;
            let known = self.0.iter_mut().find_map(|own| {
                let joined = own.joined(as_any)?;
                Some((own, joined))
            });
            match known {
                Some((own, joined)) => *own = joined,
                None => self.0.push(seen),
            }
        }
    }

    /// The observations of this type.
    #[must_use]
    pub fn of<T: Shown>(&self) -> Option<&T> {
        self.0.iter().find_map(|seen| {
            let seen: &dyn Any = &**seen;
            seen.downcast_ref()
        })
    }

    /// All tables.
    #[must_use]
    pub fn tables(&self) -> Vec<Table> {
        self.0.iter().flat_map(|seen| seen.tables()).collect()
    }
}

impl PartialEq for Observed {
    fn eq(&self, other: &Self) -> bool {
        let same = |(one, other): (&Arc<dyn Kept>, &Arc<dyn Kept>)| {
            let other: &dyn Any = &**other;
            one.is_same(other)
        };
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(same)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Seen(u64);

    impl Shown for Seen {
        fn tables(&self) -> Vec<Table> {
            vec![Table {
                name: "seen",
                title: "Seen",
                about: "What was seen.",
                columns: vec![Column { name: "count", title: "count" }],
                rows: vec![vec![Cell::Number(self.0)]],
            }]
        }

        fn join(&self, other: &Self) -> Self {
            Self(self.0 + other.0)
        }
    }

    #[test]
    fn what_was_observed_is_found_by_its_type_and_compared_by_value() {
        let [mut one, mut same, mut other] = [Observed::default(), Observed::default(), Observed::default()];
        one.add(Seen(3));
        same.add(Seen(3));
        other.add(Seen(4));
        assert_eq!(one.of::<Seen>(), Some(&Seen(3)));
        assert!(one == same && one != other && one != Observed::default());
        assert_eq!(one.tables()[0].rows, [[Cell::Number(3)]]);
        one.join(other);
        assert_eq!((one.of::<Seen>(), one.tables().len()), (Some(&Seen(7)), 1));
        let mut none = Observed::default();
        none.join(one);
        assert_eq!(none.of::<Seen>(), Some(&Seen(7)));
    }
}
