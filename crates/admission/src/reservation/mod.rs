//! Runs of the protocols that carry reservations: the machines of `core`, their messages on lines, and the
//! processors that take their time over them.
//!
//! ```text
//!  Scenario ─► harts.rs  FttNode, SwitchMaster, AcMaster   ─► Outcome: per request its latency and
//!  scenario.rs avb.rs    SrpStation, SrpBridge                outcome.rs  what happened on the way
//! ```
//!
//! Every message goes through octets. A node has one processor: what comes in waits for it, first in, first out, and
//! takes effect when it is through. Frames of the streams themselves are not sent: what they do to control messages is an
//! elementary cycle that is not open, a frame under way that blocks, and packets that a bridge's processor has to
//! handle. A run is its scenario and its seed, nothing else. Not here: the simulation of frames (`tautwire-sim`).

mod avb;
mod harts;
mod outcome;
mod random;
mod scenario;

pub use outcome::{AtBridge, Outcome, RequestOutcome};
pub use scenario::{
    Architecture, AvbTimes, HartsTimes, JoinKind, Load, Place, Scenario, Spread, StreamRequest, TestTime,
};

/// Runs a scenario.
///
/// # Errors
/// What is wrong with it.
pub fn run(scenario: &Scenario) -> Result<Outcome, String> {
    scenario.check()?;
    match scenario.architecture {
        Architecture::Harts => Ok(harts::run(scenario)),
        Architecture::Avb => Ok(avb::run(scenario)),
    }
}

/// Runs a scenario that is written as JSON; the outcome is JSON too.
///
/// # Errors
/// What is wrong with the text or the scenario.
pub fn run_json(text: &str) -> Result<String, String> {
    let scenario: Scenario = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let outcome = run(&scenario)?;
    serde_json::to_string(&outcome).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
