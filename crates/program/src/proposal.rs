//! A proposal for the weights of rows, in floating point. Nothing rests on it but the tightness of a bound.
//!
//! Variables are scaled to their ranges and rows to their greatest terms, so that times and bits of any size look alike to the solver.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, SupportedConeT};

use crate::{Row, Variable};

/// How far a row may be violated, in parts of its greatest term.
const TOLERANCE: f64 = 1e-7;

/// Weights of rows, and the point at which they were found.
pub(crate) struct Proposal {
    pub(crate) weights: Vec<f64>,
    /// Per variable, its place in its range.
    point: Vec<f64>,
}

/// A row with its variables in their ranges from 0 to 1.
struct Scaled {
    terms: Vec<(usize, f64)>,
    most: f64,
    /// What it was divided by.
    scale: f64,
}

impl Scaled {
    /// None if no point within the ranges violates it.
    fn of(row: &Row, variables: &[(i128, i128)]) -> Option<Self> {
        let mut most = row.most as f64;
        let mut terms = Vec::with_capacity(row.terms.len());
        let (mut scale, mut greatest) = (0.0_f64, 0.0);
        for (variable, factor) in &row.terms {
            let (low, high) = variables[variable.index()];
            most -= *factor as f64 * low as f64;
            let term = *factor as f64 * (high - low) as f64;
            scale = scale.max(term.abs());
            greatest += term.max(0.0);
            terms.push((variable.index(), term));
        }
        if scale == 0.0 || greatest <= most {
            return None;
        }
        terms.iter_mut().for_each(|(_, term)| *term /= scale);
        Some(Self { terms, most: most / scale, scale })
    }
}

impl Proposal {
    /// Whether its point violates a row.
    pub(crate) fn violates(&self, row: &Row, variables: &[(i128, i128)]) -> bool {
        Scaled::of(row, variables).is_some_and(|row| {
            let sum: f64 = row.terms.iter().map(|(variable, term)| term * self.point[*variable]).sum();
            sum > row.most + TOLERANCE
        })
    }
}

/// Weights for rows; none if the solver refuses the program.
pub(crate) fn propose(
    variables: &[(i128, i128)],
    rows: &[&Row],
    objective: &[(Variable, i128)],
) -> Option<Proposal> {
    let count = variables.len();
    let scaled: Vec<Option<Scaled>> = rows.iter().map(|row| Scaled::of(row, variables)).collect();
    let mut costs = vec![0.0; count];
    for (variable, factor) in objective {
        let (low, high) = variables[variable.index()];
        costs[variable.index()] -= *factor as f64 * (high - low) as f64;
    }
    let scale = costs.iter().fold(0.0_f64, |most, cost| most.max(cost.abs()));
    if scale == 0.0 || !scale.is_finite() {
        return Some(Proposal { weights: vec![0.0; rows.len()], point: vec![0.0; count] });
    }
    costs.iter_mut().for_each(|cost| *cost /= scale);
    let mut columns: Vec<Vec<(usize, f64)>> = vec![Vec::new(); count];
    let mut limits = Vec::new();
    for row in scaled.iter().flatten() {
        for (variable, term) in &row.terms {
            columns[*variable].push((limits.len(), *term));
        }
        limits.push(row.most);
    }
    for column in &mut columns {
        column.push((limits.len(), 1.0));
        limits.push(1.0);
        column.push((limits.len(), -1.0));
        limits.push(0.0);
    }
    let matrix = matrix(limits.len(), columns);
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .max_iter(80)
        .tol_gap_abs(1e-10)
        .tol_gap_rel(1e-10)
        .tol_feas(1e-10)
        .presolve_enable(false)
        .build()
        .ok()?;
    let cones = [SupportedConeT::NonnegativeConeT(limits.len())];
    let none = CscMatrix::zeros((count, count));
    let mut solver = DefaultSolver::new(&none, &costs, &matrix, &limits, &cones, settings).ok()?;
    solver.solve();
    let mut found = solver.solution.z.iter();
    let weight = |row: &Option<Scaled>| match row {
        Some(row) => found.next().map_or(0.0, |weight| weight * (scale / row.scale)),
        None => 0.0,
    };
    let weights = scaled.iter().map(weight).collect();
    Some(Proposal { weights, point: solver.solution.x.clone() })
}

/// A matrix by its columns; equal places of a column add up.
fn matrix(rows: usize, columns: Vec<Vec<(usize, f64)>>) -> CscMatrix<f64> {
    let (mut starts, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
    let count = columns.len();
    for column in columns {
        let start = places.len();
        for (row, value) in column {
            if places.len() > start && places.last() == Some(&row) {
                *values.last_mut().expect("one for each place") += value;
            } else {
                places.push(row);
                values.push(value);
            }
        }
        starts.push(places.len());
    }
    CscMatrix::new(rows, count, starts, places, values)
}
