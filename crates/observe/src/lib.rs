//! Observations of frames: moments, histograms and the parts of a delay; and observations of mechanisms, as tables.
//!
//! All integers: two equal runs give equal bytes, and results of several runs can be merged.

mod frame_record;
mod histogram;
mod moments;
mod parts;
mod signed_moments;
mod tables;

pub use frame_record::{FrameEvent, FrameRecord};
pub use histogram::Histogram;
pub use moments::Moments;
pub use parts::{DelayParts, Part};
pub use signed_moments::SignedMoments;
pub use tables::{Cell, Column, Observed, Shown, Table};
