//! `tautwire simulate` and `tautwire verify`: a run, its results on disk and on stdout.

use std::io::{self, BufWriter, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use tautwire_workbench::{
    ADVERSARY_RUNS, Bounds, ChoicesDocument, Duration, Network, Observation, Options, OtherRun,
    Progress as RunProgress, RunFolder, RunFolderWriter, Scenario, Summary, TraceRecorder, Verdict,
    adversary, bounds_in_run_by, judge,
};

use super::{exit, message, once_or_watched, remark, scenario, stream, tables};
use crate::args::{Again, BoundsMethod, By, Input, duration};
use crate::exit::Exit;
use crate::output;
use crate::progress::Progress;
use crate::signals;
use crate::terminal::Terminal;

pub(super) const SIMULATE_HELP: &str = "\
Examples:
  tautwire simulate scenarios/in-vehicle.yaml
  tautwire simulate scenarios/in-vehicle.yaml --seed 7 --duration 10s --out runs/seven
  tautwire simulate scenarios/in-vehicle.yaml --explain view-front
  tautwire simulate scenarios/in-vehicle.yaml --trace pcapng
  tautwire simulate scenarios/in-vehicle.yaml --choices runs/in-vehicle-1/adversary.json

Exit codes: 0 every stream with a deadline met it, 1 at least one did not, 2 wrong input, 3 failure.";

pub(super) const VERIFY_HELP: &str = "\
Examples:
  tautwire verify scenarios/in-vehicle.yaml
  tautwire verify scenarios/in-vehicle.yaml --seed 7 --json > summary.json
  tautwire verify scenarios/in-vehicle.yaml --out runs/demo && tautwire report runs/demo
  tautwire verify scenarios/in-vehicle.yaml --adversary
  tautwire verify net.yaml --watch

Verdicts of each stream at each listener:
  proven         the bound is within the deadline, and no frame can be lost
  not proven     the bound is above the deadline, or there is none
  may be lost    a limit on the path may be too small
  missed         a frame was late or lost
  refused        the network refused the stream, or it was never sent
  contradiction  an observation exceeds its bound

Exit codes: 0 every deadline is proven, 1 at least one is not, or a stream is refused,
2 wrong input, 3 failure, 4 a contradiction.";

/// How a run is made and where its results go.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Seed of the random numbers, instead of the description's
    #[arg(long, value_name = "NUMBER")]
    pub(super) seed: Option<u64>,
    /// Simulated time, with its unit (250ms, 10s), instead of the description's
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(super) duration: Option<Duration>,
    /// Processors that the run may use, where the network allows it; the result is the same [default: those there are, 4 at most]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) processors: Option<u16>,
    /// Also write every frame at every hop; may be repeated
    #[arg(long, value_name = "FORMAT")]
    pub(super) trace: Vec<Trace>,
    /// Folder for the results [default: runs/<scenario>-<seed>]
    #[arg(long, value_name = "FOLDER")]
    pub(super) out: Option<PathBuf>,
}

/// Format of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Trace {
    /// frames.parquet, a row per frame and hop
    Parquet,
    /// frames.pcapng, nanosecond time stamps, for Wireshark
    Pcapng,
}

#[derive(Debug, Args)]
pub(crate) struct Simulate {
    #[command(flatten)]
    pub(super) input: Input,
    #[command(flatten)]
    pub(super) run: Run,
    /// Show what the frame of this stream with the greatest delay waited for at each hop
    #[arg(long, value_name = "STREAM")]
    pub(super) explain: Option<String>,
    /// Repeat a run of the adversary, from the adversary.json of its results
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seed", "duration"])]
    pub(super) choices: Option<PathBuf>,
    /// Repeat the run in which this stream is latest [default: the first run of the file]
    #[arg(long, value_name = "STREAM", requires = "choices")]
    pub(super) choices_of: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    #[command(flatten)]
    pub(super) input: Input,
    #[command(flatten)]
    pub(super) run: Run,
    #[command(flatten)]
    pub(super) by: By,
    /// Search for the worst run of each stream among those that the description allows
    #[arg(long)]
    pub(super) adversary: bool,
    /// Most runs of that search for each stream and listener
    #[arg(long, value_name = "NUMBER", default_value_t = ADVERSARY_RUNS, requires = "adversary")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(super) adversary_runs: u64,
    #[command(flatten)]
    pub(super) again: Again,
}

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
    let path = &arguments.input.path;
    once_or_watched(arguments.again.watch, std::slice::from_ref(path), || verify_once(arguments))
}

fn verify_once(arguments: &Verify) -> Result<Exit, Exit> {
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
    let processors = run.processors.map_or_else(processors, usize::from);
    let mut options = Options { progress: Some(&mut advance), processors, ..Options::default() };
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

/// Processors that a run may use if nothing is said: each takes memory for the whole network.
fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, |there| there.get().min(4))
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
