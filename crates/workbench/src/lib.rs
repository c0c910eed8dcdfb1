//! The public interface: load, check, bounds, simulate, verify, report.
//!
//! Thin functions over `model`, `sim`, `analysis` and `report`; the command and the Python package
//! call these and compute nothing of their own.

mod scenario;
mod story;

pub use scenario::Scenario;
pub use story::{Reason, Story, StoryHop, WaitedFor, story};
pub use tautwire_analysis::Bounds;
pub use tautwire_model::network::{self, StreamIndex};
pub use tautwire_model::{Diagnostic, Label, Loaded, Network, Severity, Source, load, load_text};
pub use tautwire_report::{
    Manifest, RunFolder, RunFolderWriter, Summary, Verdict, Verification, arrow, html, judge, table, verify,
};
pub use tautwire_sim::{Observation, Options, Progress, run as simulate};
pub use tautwire_units::{Duration, ParseUnitError};
