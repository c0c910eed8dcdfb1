//! The public interface: load, check, bounds, simulate, verify, admit, schedule, report; and the adversary of bounds.
//!
//! Thin functions over `model`, `sim`, `analysis` and `report`; the command and the Python package
//! call these and compute nothing of their own.
//!
//! ```no_run
//! use std::path::Path;
//! use tautwire_workbench as tautwire;
//!
//! let path = Path::new("scenarios/in-vehicle.yaml");
//! let scenario = tautwire::Scenario::new(path, tautwire::load(path)?).expect("a description without errors");
//! let bounds = tautwire::bounds(&scenario.network);
//! let observation = tautwire::simulate(&scenario.network, &mut tautwire::Options::default());
//! let verification = tautwire::verify(&scenario.network, &bounds, &observation);
//! assert!(verification.contradictions.is_empty());
//! # Ok::<(), std::io::Error>(())
//! ```

mod adversary;
mod central;
mod compare;
mod gate_change;
mod gate_schedule;
mod granted;
mod harts_test;
mod late;
mod mechanisms;
mod outside_search;
mod profiles;
mod scenario;
mod schedule;
mod slot_document;
mod slots;
mod story;
mod tune;

pub use adversary::{
    ADVERSARY_RUNS, Adversary, Choices, ChoicesDocument, ClockChoice, FoundRow, RowDocument, StreamChoice,
    adversary,
};
pub use compare::{Compared, difference};
pub use gate_change::ScheduledChange;
pub use gate_schedule::{ScheduledGates, ScheduledPort, ScheduledStream, Unproven};
pub use outside_search::{answer_of, question_json};
pub use profiles::{
    PROFILES, Profile, ProfileCheck, Rule, RuleRow, RuleVerdict, Source as RuleSource, SourceKind,
};
pub use scenario::{OtherRun, Scenario};
pub use schedule::{Scheduled, ScheduledLink};
pub use slot_document::{AnswerLine, PairLine, SlotDocument, SlotLine};
pub use slots::{NotPlanned, PlannedSlots, plan_slots};
pub use story::{Reason, Story, StoryHop, WaitedFor, stories, story};
pub use tune::{
    Change, Conflict, InConflict, NotTuned, TUNE_RUNS, TuneKind, TuneOptions, Tuned, TunedRow, tune,
};

pub use granted::{bounds, bounds_by, bounds_in_run, bounds_in_run_by};
pub use mechanisms::{MECHANISMS, Mechanism, grammar, in_runs, load, load_text};
pub use tautwire_admission as admission;
pub use tautwire_analysis::{
    Accuracy, Bounds, CYCLES, Explanation, Limit, LimitKind, LimitPlace, Losses, StatedFailure, explain,
    limits, losses,
};
pub use tautwire_model::network::{self, StreamIndex};
pub use tautwire_model::settings::with_value;
/// Networks in the forms of other tools.
pub mod exchange {
    pub use tautwire_exchange::{
        Base, Converted, EXPORTS, Export, IMPORTS, Import, Input, Scope, Text, export, import,
    };
}
/// Captures of a real network.
pub mod captures {
    pub use tautwire_captures::{
        CaptureFile, Captured, Captures, ForeignFrames, LossPlace, Point, Row, Stamps, StatedClock,
        StatedPlace, analyse,
    };
    pub use tautwire_model::capture::octets_of;
}
pub use tautwire_model::{Diagnostic, Grammar, Label, Loaded, Network, Severity, Source};
pub use tautwire_model::{well_formed_document, with_dispatch_points};
pub use tautwire_report::{
    Brief, Contradiction, Difference, FolderList, ListedBridge, ListedRun, Manifest, NetworkDocument, Page,
    PcapngWriter, Proviso, RunFolder, RunFolderWriter, RunList, RunningRun, SideBySide, Summary,
    TraceRecorder, Verdict, Verification, arrow, as6802, captured, content_security_policy, datagrams, gptp,
    harts, html, judge, listener_frames, live, loss, mechanism_tables, network_control, page, parquet,
    port_name, proviso, refusal, served, served_html, srp, table, tdma, test_bed, verify, virtual_link,
};
pub use tautwire_sim::{Driver, HartsTest, Observation, Options, Progress, StreamPart};
pub use tautwire_synthesis::{
    Answer as SearchAnswer, GateOptions, Question as SearchQuestion, Schedule, Search,
    Verdict as ScheduleVerdict,
};
pub use tautwire_units::{Duration, ParseUnitError};

/// Runs a network.
#[must_use]
pub fn simulate(network: &Network, options: &mut Options<'_>) -> Observation {
    if tautwire_sim::is_plain(network) {
        return tautwire_sim::run(network, options);
    }
    simulate_with(network, options, &mut tautwire_sim::NoRecorder)
}

/// Runs a network and passes its events to `recorder`. A CNC that tests bounds has them; an ACMaster tests with equation 3 by default.
#[must_use]
pub fn simulate_with(
    network: &Network,
    options: &mut Options<'_>,
    recorder: &mut dyn tautwire_sim::Recorder,
) -> Observation {
    central::give_admission(network, options);
    options.harts_test.get_or_insert(harts_test::test);
    if options.mechanisms.is_empty() {
        options.mechanisms = mechanisms::in_runs();
    }
    tautwire_sim::run_with(network, options, recorder)
}

/// The JSON Schema of the description.
#[must_use]
pub fn description_schema() -> String {
    format!("{:#}\n", grammar().schema())
}

/// The JSON Schema of `summary.json`.
#[must_use]
pub fn summary_schema() -> String {
    Summary::schema()
}
