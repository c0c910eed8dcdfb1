//! Linear programs of whole numbers, and proven upper bounds of their maxima.
//!
//! A solver in floating point (`proposal.rs`) proposes how much each row counts; the proof (`proof.rs`) takes these weights as they are,
//! whatever they are, and adds the rows up in whole numbers. By weak duality the sum is an upper bound for any weights of at least zero:
//! with poor ones it is a poor bound, never a wrong one. What the weighted rows leave of the objective counts with the least or greatest
//! value of each variable, so every variable has both.
//!
//! Not here: what the variables mean (`analysis`).

mod proof;
mod proposal;

/// Rounds in which violated rows are added.
const ROUNDS_MAX: usize = 8;

/// A variable of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Variable(u32);

impl Variable {
    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A row: the sum of its terms is at most a value.
#[derive(Clone, Debug)]
struct Row {
    terms: Vec<(Variable, i128)>,
    most: i128,
    /// Whether it counts from the beginning, and not only once a proposal violates it.
    first: bool,
}

impl Row {
    /// Divided by the common factor of its terms; its limit is rounded up.
    fn of(mut terms: Vec<(Variable, i128)>, most: i128, first: bool) -> Self {
        let common = terms.iter().fold(0, |common, (_, factor)| common_factor(common, factor.unsigned_abs()));
        let Some(common) = i128::try_from(common).ok().filter(|common| *common > 1) else {
            return Self { terms, most, first };
        };
        terms.iter_mut().for_each(|(_, factor)| *factor /= common);
        let most = most.div_euclid(common) + i128::from(most.rem_euclid(common) != 0);
        Self { terms, most, first }
    }
}

/// The greatest common factor.
const fn common_factor(mut one: u128, mut other: u128) -> u128 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// A linear program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Least and greatest value of each variable.
    variables: Vec<(i128, i128)>,
    rows: Vec<Row>,
}

impl Program {
    /// A program without variables.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A variable between two values.
    ///
    /// # Panics
    /// If the least is above the greatest value, or there are 2³² variables.
    pub fn variable(&mut self, least: i128, most: i128) -> Variable {
        assert!(least <= most, "a variable has a value");
        self.variables.push((least, most));
        Variable(u32::try_from(self.variables.len() - 1).expect("fewer than 2^32 variables"))
    }

    /// The values between which a variable is.
    #[must_use]
    pub fn range(&self, variable: Variable) -> (i128, i128) {
        self.variables[variable.index()]
    }

    /// Adds a row: the sum of `terms` is at most `most`.
    pub fn at_most(&mut self, terms: Vec<(Variable, i128)>, most: i128) {
        self.rows.push(Row::of(terms, most, true));
    }

    /// The same, of a row that may be left out until a proposal violates it: there are many, and few of them matter.
    pub fn at_most_if_violated(&mut self, terms: Vec<(Variable, i128)>, most: i128) {
        self.rows.push(Row::of(terms, most, false));
    }

    /// The number of its variables and of its rows.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        (self.variables.len(), self.rows.len())
    }

    /// A proven upper bound of the sum of `objective`, rounded up; none if numbers become too large.
    #[must_use]
    pub fn bound(&self, objective: &[(Variable, i128)]) -> Option<i128> {
        let mut counts: Vec<bool> = self.rows.iter().map(|row| row.first).collect();
        let mut least: Option<i128> = None;
        for _ in 0..ROUNDS_MAX {
            let rows: Vec<&Row> =
                self.rows.iter().zip(&counts).filter(|(_, counts)| **counts).map(|(row, _)| row).collect();
            let Some(proposal) = proposal::propose(&self.variables, &rows, objective) else { break };
            let proven = proof::bound(&self.variables, &rows, objective, &proposal.weights);
            least = least.into_iter().chain(proven).min();
            let mut more = false;
            for (row, counts) in self.rows.iter().zip(&mut counts).filter(|(_, counts)| !**counts) {
                if proposal.violates(row, &self.variables) {
                    *counts = true;
                    more = true;
                }
            }
            if !more {
                break;
            }
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two products from three materials; the maximum 36 at (2, 6) is that of the textbook (Hillier and Lieberman).
    #[test]
    fn a_bound_is_the_maximum_of_a_small_program() {
        let mut program = Program::new();
        let (x, y) = (program.variable(0, 1_000), program.variable(0, 1_000));
        program.at_most(vec![(x, 1)], 4);
        program.at_most(vec![(y, 2)], 12);
        program.at_most_if_violated(vec![(x, 3), (y, 2)], 18);
        // A millionth of the objective's unit is below what is asked of a proposal.
        let bound = program.bound(&[(x, 3_000_000), (y, 5_000_000)]).expect("a bound");
        assert!((36_000_000..=36_000_001).contains(&bound), "{bound}");
    }

    #[test]
    fn variables_alone_bound_a_program_without_rows() {
        let mut program = Program::new();
        let (x, y) = (program.variable(-5, 7), program.variable(-5, 7));
        assert_eq!(program.bound(&[(x, 2), (y, -3)]), Some(29));
    }

    /// Many small programs of which the maximum is found by trying all whole points.
    #[test]
    fn no_whole_point_is_above_the_bound() {
        let mut state = 1_u64;
        let mut next = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            i128::from((state >> 33) % (most + 1))
        };
        for _ in 0..200 {
            let mut program = Program::new();
            let variables: Vec<Variable> = (0..3).map(|_| program.variable(-3, 6)).collect();
            let rows: Vec<(Vec<i128>, i128)> =
                (0..4).map(|_| ((0..3).map(|_| next(8) - 4).collect(), next(12))).collect();
            for (number, (factors, most)) in rows.iter().enumerate() {
                let terms = variables.iter().copied().zip(factors.iter().copied()).collect();
                if number % 2 == 0 {
                    program.at_most(terms, *most);
                } else {
                    program.at_most_if_violated(terms, *most);
                }
            }
            let objective: Vec<(Variable, i128)> =
                variables.iter().map(|variable| (*variable, next(10) - 5)).collect();
            let bound = program.bound(&objective).expect("a bound");
            for point in 0..1_000_i128 {
                let at = [point % 10 - 3, point / 10 % 10 - 3, point / 100 - 3];
                let sum =
                    |factors: &[i128]| factors.iter().zip(at).map(|(factor, at)| factor * at).sum::<i128>();
                if rows.iter().all(|(factors, most)| sum(factors) <= *most) {
                    let factors: Vec<i128> = objective.iter().map(|(_, factor)| *factor).collect();
                    assert!(sum(&factors) <= bound, "{at:?} is above {bound} in {program:?}");
                }
            }
        }
    }

    #[test]
    fn numbers_that_are_too_large_give_no_wrong_bound() {
        let mut program = Program::new();
        let x = program.variable(0, i128::MAX / 2);
        program.at_most(vec![(x, i128::MAX / 2)], i128::MAX);
        assert!(program.bound(&[(x, i128::MAX / 2)]).is_none());
    }
}
