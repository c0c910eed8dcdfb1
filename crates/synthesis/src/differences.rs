//! Differences of integer variables with upper limits, and whether all can hold at once.
//!
//! The closure is kept: entry (i, j) is the largest *x_j − x_i* that the limits given so far leave. It grows
//! tighter with every limit; a cycle of negative length means that no values satisfy all.

/// Largest differences between any two variables.
#[derive(Clone, Debug)]
pub(crate) struct Differences {
    variables: usize,
    /// Row by row.
    limits: Vec<i64>,
}

/// The value for no limit; far from overflow when added to.
const FREE: i64 = i64::MAX / 4;

impl Differences {
    pub(crate) fn new(variables: usize) -> Self {
        let mut limits = vec![FREE; variables * variables];
        for variable in 0..variables {
            limits[variable * variables + variable] = 0;
        }
        Self { variables, limits }
    }

    /// Most that *x_to − x_from* can be.
    pub(crate) fn most(&self, from: usize, to: usize) -> i64 {
        self.limits[from * self.variables + to]
    }

    /// Least that *x_to − x_from* can be.
    pub(crate) fn least(&self, from: usize, to: usize) -> i64 {
        -self.most(to, from)
    }

    /// Adds *lower ≤ x_to − x_from ≤ upper*; false if the limits contradict each other then.
    #[must_use]
    pub(crate) fn between(&mut self, from: usize, to: usize, lower: i64, upper: i64) -> bool {
        self.at_most(from, to, upper) && self.at_most(to, from, -lower)
    }

    /// Adds *x_to − x_from ≥ limit*; false if the limits contradict each other then.
    #[must_use]
    pub(crate) fn at_least(&mut self, from: usize, to: usize, limit: i64) -> bool {
        self.at_most(to, from, -limit)
    }

    /// Adds *x_to − x_from ≤ limit*; false if the limits contradict each other then.
    #[must_use]
    pub(crate) fn at_most(&mut self, from: usize, to: usize, limit: i64) -> bool {
        if limit >= self.most(from, to) {
            return true;
        }
        if limit < self.least(from, to) {
            return false;
        }
        for first in 0..self.variables {
            let before = self.most(first, from);
            if before == FREE {
                continue;
            }
            for last in 0..self.variables {
                let behind = self.most(to, last);
                if behind == FREE {
                    continue;
                }
                let entry = &mut self.limits[first * self.variables + last];
                *entry = (*entry).min(before + limit + behind);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_follow_from_each_other() {
        let mut differences = Differences::new(3);
        assert!(differences.between(0, 1, 2, 5));
        assert!(differences.between(1, 2, 1, 4));
        assert_eq!((differences.least(0, 2), differences.most(0, 2)), (3, 9));
        assert!(differences.between(0, 2, 9, 20), "both as large as can be");
        assert_eq!((differences.least(0, 1), differences.most(0, 1)), (5, 5));
        assert!(!differences.between(1, 2, 0, 3));
    }
}
