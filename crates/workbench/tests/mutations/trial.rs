//! One description through check, bounds, a short run, the report and an explanation.
//!
//! What passes the check holds: nothing panics, and no observation is above its bound. Runs are short by the number of
//! transmissions, not by a clock, so that a trial is the same on every machine.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Once;

use tautwire_units::Duration;
use tautwire_workbench::network::StreamIndex;
use tautwire_workbench::{
    Bounds, Network, Observation, Options, Progress, Proviso, Summary, Verdict, bounds, judge, load_text,
    simulate, story, table, verify,
};

/// Transmissions after which a run has seen enough.
const HOPS: u64 = 2_000;

/// What became of a description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The check refused it.
    Refused,
    /// It passed, and all that was promised held.
    Held,
    /// It passed, or nothing got so far, and this is wrong.
    Broken(Fault),
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// What two faults of one kind have in common: the place of a panic, the quantity of a contradiction.
    pub(crate) kind: String,
    /// All of it.
    pub(crate) message: String,
}

/// Tries a description; `name` is its path, `draw` chooses what is checked in addition to bounds and run.
pub(crate) fn attempt(name: &str, text: &str, draw: u64) -> Outcome {
    match caught(|| hold(name, text, draw)) {
        Ok(outcome) => outcome,
        Err((place, message)) => Outcome::Broken(Fault {
            kind: format!("panic at {place}"),
            message: format!("{message} at {place}"),
        }),
    }
}

fn hold(name: &str, text: &str, draw: u64) -> Outcome {
    let loaded = load_text(name, text);
    assert_eq!(loaded.network.is_none(), loaded.has_errors(), "a network or an error");
    let Some(mut network) = loaded.network else { return Outcome::Refused };
    let bounds = bounds(&network);
    let broken = |kind: &str, message: String| Outcome::Broken(Fault { kind: kind.to_owned(), message });
    let Some(observation) = short_run(&mut network) else {
        // Bounds and their report hold in any case.
        let _ = table::streams(&Summary::new(&network, Some(&bounds), None), table::TableOptions::default());
        return Outcome::Held;
    };
    let found = verify(&network, &bounds, &observation).contradictions;
    if let Some(first) = found.first() {
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        return broken(&format!("contradiction of {}", first.quantity.name()), texts.join("\n"));
    }
    if let Some(message) = proven_and_missed(&network, &bounds, &observation) {
        return broken("proven and missed", message);
    }
    let summary = Summary::new(&network, Some(&bounds), Some(&observation));
    let _ = (table::streams(&summary, table::TableOptions::default()), summary.to_json());
    if draw.is_multiple_of(4) && !network.streams.is_empty() {
        explain(&network, &bounds, &observation, draw / 4);
    }
    Outcome::Held
}

/// What bounds alone call proven is not missed in a run. What is proven once all nodes have network time may wait for that until the run
/// is over, and nothing is delivered.
fn proven_and_missed(network: &Network, bounds: &Bounds, observation: &Observation) -> Option<String> {
    let (promised, seen) = (judge(network, Some(bounds), None), judge(network, None, Some(observation)));
    let all = promised.streams.iter().zip(&seen.streams).zip(&network.streams);
    all.flat_map(|((promised, seen), stream)| {
        promised.listeners.iter().zip(&seen.listeners).map(move |(promised, seen)| (promised, seen, stream))
    })
    .filter(|(promised, seen, _)| {
        promised.proviso != Some(Proviso::OnceSynchronised) || seen.late > 0 || seen.observed.is_some()
    })
    .find(|(promised, seen, _)| promised.verdict == Verdict::Proven && seen.verdict == Verdict::Missed)
    .map(|(_, seen, stream)| format!("{}: proven by its bounds, and missed: {seen:?}", stream.name))
}

/// Explains the bounds and the worst frame of one stream.
fn explain(network: &Network, bounds: &Bounds, observation: &Observation, draw: u64) {
    let stream = usize::try_from(draw % network.streams.len() as u64).expect("an index");
    let stream = StreamIndex::at(stream);
    let _ = tautwire_workbench::explain(network, bounds, stream);
    if let Some(story) = story(network, observation, stream) {
        let _ = story.to_string();
    }
}

/// A run as long as it takes to see some thousand transmissions; none if even the shortest is too much. The network keeps
/// the duration, for stories.
fn short_run(network: &mut Network) -> Option<Observation> {
    let stated = network.run.duration;
    let mut duration = stated.min(Duration::from_ms(1));
    let mut last = None;
    loop {
        network.set_duration(duration);
        let Some(observation) = within_budget(network) else {
            // What was seen so far counts; else half a step in the other direction.
            if let Some((kept, observation)) = last {
                network.set_duration(kept);
                return Some(observation);
            }
            duration = Duration::from_ps(duration.as_ps() / 100);
            if duration < Duration::from_ns(10) {
                return None;
            }
            continue;
        };
        if duration >= stated || observation.frame_hops >= HOPS || last_is_shorter(duration, stated) {
            return Some(observation);
        }
        last = Some((duration, observation));
        duration = Duration::from_ps(duration.as_ps().saturating_mul(8)).min(stated);
    }
}

/// A run that was already found to be too long is not tried again.
const fn last_is_shorter(duration: Duration, stated: Duration) -> bool {
    duration.as_ps() < Duration::from_ms(1).as_ps() && duration.as_ps() < stated.as_ps()
}

/// A run whose end comes before the simulation reports its progress.
fn within_budget(network: &Network) -> Option<Observation> {
    struct OverBudget;
    let mut progress = |progress: Progress| {
        if progress.now < progress.end {
            resume_unwind(Box::new(OverBudget));
        }
    };
    let mut options = Options { progress: Some(&mut progress), ..Options::default() };
    match catch_unwind(AssertUnwindSafe(|| simulate(network, &mut options))) {
        Ok(observation) => Some(observation),
        Err(payload) if payload.is::<OverBudget>() => None,
        Err(payload) => resume_unwind(payload),
    }
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
    static PANIC: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// Calls `action`; a panic is its place and its message, and nothing is written of it.
fn caught<T>(action: impl FnOnce() -> T) -> Result<T, (String, String)> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                return previous(info);
            }
            let place = info.location().map_or_else(String::new, |place| {
                let file = place.file().replace('\\', "/");
                let file = file.rsplit_once("crates/").map_or(file.as_str(), |(_, file)| file).to_owned();
                format!("{file}:{}", place.line())
            });
            let text = info.payload_as_str().unwrap_or("a panic").to_owned();
            PANIC.with(|panic| *panic.borrow_mut() = Some((place, text)));
        }));
    });
    QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(action));
    QUIET.set(false);
    result.map_err(|_| PANIC.with(|panic| panic.borrow_mut().take()).unwrap_or_default())
}
