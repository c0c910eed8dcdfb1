//! Descriptions that no person wrote: every scenario mutated by structure, and every scenario with other defaults,
//! through check, bounds, a short run and explanations. And that searches draw every key of a description.
//!
//! `TAUTWIRE_CASES` sets how many mutants are tried, `TAUTWIRE_TIMES` multiplies the test's own number, `TAUTWIRE_SEED` tries one.

mod defaults;
mod exempt;
mod keys;
mod material;
mod matrix;
mod search;
mod shrink;
mod trial;
