//! The proof of a bound from weights of rows, in whole numbers.
//!
//! Let every row be `Σ aᵢxᵢ <= b` and have a weight of at least zero. The weighted rows add up to `Σ gᵢxᵢ <= B`, so the objective
//! `Σ cᵢxᵢ` is at most `B + Σ (cᵢ − gᵢ)xᵢ`, where every xᵢ counts with the end of its range at which the product is greatest. Source:
//! Neumaier and Shcherbina, Safe bounds in linear and mixed-integer linear programming, Mathematical Programming 99, 2004. Weights are
//! whole multiples of a power of two.

use crate::{Row, Variable};

/// Powers of two of which weights are multiples, the finest first: with large numbers only a coarser one fits.
const SHIFTS: [u32; 4] = [76, 64, 52, 40];

/// The bound, rounded up.
pub(crate) fn bound(
    variables: &[(i128, i128)],
    rows: &[&Row],
    objective: &[(Variable, i128)],
    weights: &[f64],
) -> Option<i128> {
    SHIFTS.iter().find_map(|shift| with_shift(variables, rows, objective, weights, *shift))
}

fn with_shift(
    variables: &[(i128, i128)],
    rows: &[&Row],
    objective: &[(Variable, i128)],
    weights: &[f64],
    shift: u32,
) -> Option<i128> {
    let mut left = vec![0_i128; variables.len()];
    for (variable, factor) in objective {
        let scaled = factor.checked_mul(1 << shift)?;
        let place = &mut left[variable.index()];
        *place = place.checked_add(scaled)?;
    }
    let mut sum = 0_i128;
    for (row, weight) in rows.iter().zip(weights) {
        let weight = whole(*weight, shift);
        if weight == 0 {
            continue;
        }
        sum = sum.checked_add(row.most.checked_mul(weight)?)?;
        for (variable, factor) in &row.terms {
            let place = &mut left[variable.index()];
            *place = place.checked_sub(factor.checked_mul(weight)?)?;
        }
    }
    for (left, (least, most)) in left.iter().zip(variables) {
        let greatest = if *left > 0 { most } else { least };
        sum = sum.checked_add(left.checked_mul(*greatest)?)?;
    }
    let one = 1_i128 << shift;
    Some(sum.div_euclid(one) + i128::from(sum.rem_euclid(one) != 0))
}

/// A weight as a multiple of `2^-shift`; what is not above zero is zero.
#[allow(
    clippy::cast_possible_truncation,
    reason = "a cast ends at the greatest number, and its product is checked"
)]
fn whole(weight: f64, shift: u32) -> i128 {
    let scaled = weight * (1_u128 << shift) as f64;
    if scaled > 0.0 { scaled as i128 } else { 0 }
}
