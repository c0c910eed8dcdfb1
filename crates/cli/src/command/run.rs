//! `tautwire simulate` and `tautwire verify`: a run, its results on disk and on stdout.

use std::io::{self, BufWriter, ErrorKind, Write as _};
use std::path::Path;

use tautwire_workbench::{
    Bounds, ChoicesDocument, Duration, Network, Observation, Options, OtherRun, Progress as RunProgress,
    RunFolder, RunFolderWriter, Scenario, Summary, TraceRecorder, Verdict, adversary, bounds_in_run_by,
    judge,
};

use super::{exit, message, remark, scenario, stream, tables};
use crate::args::{BoundsMethod, Run, Simulate, Trace, Verify};
use crate::exit::Exit;
use crate::output;
use crate::progress::Progress;
use crate::signals;
use crate::terminal::Terminal;

pub(super) fn simulate(arguments: &Simulate) -> Result<Exit, Exit> {
    let scenario = with_settings(scenario(&arguments.input.path)?, &arguments.run)?;
    let explained = arguments.explain.as_deref().map(|name| stream(&scenario.network, name)).transpose()?;
    let scenario = chosen(scenario, arguments)?;
    let (observation, _, summary) = run_and_keep("simulate", &scenario, Proof::None, &arguments.run)?;
    output::result(&match explained {
        _ if arguments.input.json => summary.to_json(),
        Some(stream) => {
            let name = &scenario.network.streams[stream.index()].name;
            let mut text = tautwire_workbench::srp::reservation::ladder(&summary, name);
            if !text.is_empty() {
                text.push('\n');
            }
            match tautwire_workbench::story(&scenario.network, &observation, stream) {
                Some(story) => text + &story.to_string(),
                None => text + "no frame was delivered\n",
            }
        }
        None => tables(&summary),
    })?;
    // Nothing is proven here; the verdict only shows whether a frame was late or lost.
    let verdict = judge(&scenario.network, None, Some(&observation)).verdict;
    Ok(if verdict >= Verdict::Missed { Exit::DeadlineMissed } else { Exit::Holds })
}

pub(super) fn verify(arguments: &Verify) -> Result<Exit, Exit> {
    let scenario = with_settings(scenario(&arguments.input.path)?, &arguments.run)?;
    let proof = match arguments.adversary {
        true => Proof::WithAdversary(arguments.by.method, arguments.adversary_runs),
        false => Proof::Bounds(arguments.by.method),
    };
    let (observation, bounds, summary) = run_and_keep("verify", &scenario, proof, &arguments.run)?;
    output::result(&if arguments.input.json { summary.to_json() } else { tables(&summary) })?;
    let verification = judge(&scenario.network, bounds.as_ref(), Some(&observation));
    for contradiction in &verification.contradictions {
        message(&format!("above its bound, which is a fault of this program: {contradiction}"));
    }
    for contradiction in summary.adversary.iter().flat_map(|search| &search.contradictions) {
        message(&format!("above its bound, which is a fault of this program: {contradiction}"));
    }
    let found = summary.verification.as_ref().map_or(verification.verdict, |found| found.verdict);
    Ok(exit(verification.verdict.max(found)))
}

/// The proofs that accompany a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    None,
    Bounds(BoundsMethod),
    /// Bounds, and so many runs for each row that search for the worst.
    WithAdversary(BoundsMethod, u64),
}

/// The scenario with what an adversary chose, if its file is given.
fn chosen(mut scenario: Scenario, arguments: &Simulate) -> Result<Scenario, Exit> {
    let Some(path) = &arguments.choices else { return Ok(scenario) };
    let wrong = |why: String| {
        message(&format!("{}: {why}", path.display()));
        Exit::WrongInput
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(format!("cannot read it: {error}")))?;
    let document = ChoicesDocument::from_json(&text).map_err(wrong)?;
    let choices = document.choices(arguments.choices_of.as_deref()).map_err(wrong)?;
    scenario.network = choices.apply(&scenario.network).map_err(wrong)?;
    // Separate from the results from which it is repeated.
    scenario.name.push_str("-adversary");
    Ok(scenario)
}

/// The scenario with the settings of the command line instead of the description's.
fn with_settings(scenario: Scenario, run: &Run) -> Result<Scenario, Exit> {
    with_length(scenario, run.seed, run.duration)
}

/// The scenario with this seed and duration instead of the description's.
pub(super) fn with_length(
    mut scenario: Scenario,
    seed: Option<u64>,
    duration: Option<Duration>,
) -> Result<Scenario, Exit> {
    let network = &mut scenario.network;
    network.set_seed(seed.unwrap_or(network.run.seed));
    if let Some(duration) = duration {
        let warm_up = network.run.warm_up;
        if duration <= warm_up {
            message(&format!("--duration {duration}: not longer than the warm-up of {warm_up}"));
            return Err(Exit::WrongInput);
        }
        network.set_duration(duration);
    }
    Ok(scenario)
}

/// Runs the network, writes the results into their folder, with bounds if requested, and prints the path.
fn run_and_keep(
    command: &str,
    scenario: &Scenario,
    proof: Proof,
    run: &Run,
) -> Result<(Observation, Option<Bounds>, Summary), Exit> {
    let (place, other) = match &run.out {
        Some(place) => (place.clone(), None),
        None => scenario.run_folder(Path::new("")),
    };
    // Before the run: a place that cannot be used is known at once.
    let writer = RunFolderWriter::create(&place).map_err(|error| not_written(&place, &error))?;
    signals::remove_on_kill(writer.temporary());
    let bar = Progress::new(Terminal::of_stderr(), scenario.network.run.duration);
    let mut advance = |progress: RunProgress| bar.advance(progress.now, progress.frame_hops);
    let mut options = Options { progress: Some(&mut advance), ..Options::default() };
    let observation = observe(&scenario.network, &mut options, &run.trace, &writer);
    bar.finish();
    let observation = observation.map_err(|error| not_written(&place, &error))?;
    // After the run: streams that were refused in it are not counted.
    let method = match proof {
        Proof::None => None,
        Proof::Bounds(method) | Proof::WithAdversary(method, _) => Some(method),
    };
    let bounds = method.map(|method| bounds_in_run_by(&scenario.network, &observation, method.into()));
    let manifest = scenario.manifest(&[command.to_owned()]);
    let (network, text) = (&scenario.network, &scenario.text);
    let mut kept = RunFolder::new(&manifest, network, text, bounds.as_ref(), Some(&observation));
    if let (Proof::WithAdversary(_, runs), Some(bounds)) = (proof, &bounds) {
        let bar = Progress::of_rows(Terminal::of_stderr());
        let found = adversary(network, bounds, &observation, runs, |done, all| bar.rows(done, all));
        bar.finish();
        found.add_to(&mut kept.summary);
        let document = found.document(network, bounds).to_json();
        let written = writer.file("adversary.json").and_then(|mut file| file.write_all(document.as_bytes()));
        written.map_err(|error| not_written(&place, &error))?;
    }
    writer.finish_with(&kept).map_err(|error| not_written(&place, &error))?;
    remark(&format!("results in {}", place.display()));
    if let Some(OtherRun { place, file }) = other {
        remark(&format!("{} is kept, as it has results of {file}", place.display()));
    }
    Ok((observation, bounds, kept.summary))
}

/// Runs the network and writes the requested traces.
fn observe(
    network: &Network,
    options: &mut Options<'_>,
    traces: &[Trace],
    writer: &RunFolderWriter,
) -> io::Result<Observation> {
    if traces.is_empty() {
        return Ok(tautwire_workbench::simulate(network, options));
    }
    let file =
        |trace, name| traces.contains(&trace).then(|| writer.file(name).map(BufWriter::new)).transpose();
    let frames = file(Trace::Parquet, "frames.parquet")?;
    let capture = file(Trace::Pcapng, "frames.pcapng")?;
    let mut recorder = TraceRecorder::new(network, frames, capture)?;
    let observation = tautwire_workbench::simulate_with(network, options, &mut recorder);
    recorder.finish()?;
    Ok(observation)
}

/// The message that results cannot be written. An occupied path is wrong usage, all else a failure.
pub(super) fn not_written(place: &Path, error: &io::Error) -> Exit {
    message(&format!("cannot write results to {}: {error}", place.display()));
    if error.kind() == ErrorKind::AlreadyExists { Exit::WrongInput } else { Exit::Failure }
}
