//! The subcommands: each loads, calls the workbench, prints, and gives the exit code.

mod admit;
mod admit_socket;
#[cfg(target_os = "linux")]
mod agent;
mod analyse;
mod bounds;
#[cfg(target_os = "linux")]
mod bridge;
#[cfg(target_os = "linux")]
mod bridge_metrics;
#[cfg(target_os = "linux")]
mod bridge_publisher;
#[cfg(target_os = "linux")]
mod bridge_status;
mod check;
mod completions;
mod diff;
mod export;
mod import;
#[cfg(target_os = "linux")]
mod live;
#[cfg(target_os = "linux")]
mod live_status;
mod man;
#[cfg(target_os = "linux")]
mod master;
mod new;
mod plan;
mod report;
mod run;
mod schedule;
mod schedule_gates;
mod schema;
mod serve;
mod serve_door;
mod serve_live;
mod serve_pages;
mod study;
#[cfg(target_os = "linux")]
mod test_channel;
mod tune;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::Subcommand;
use tautwire_workbench::table::{self, TableOptions};
use tautwire_workbench::{Loaded, Network, Scenario, StreamIndex, Summary, Verdict};
use tautwire_workbench::{
    as6802, datagrams, gptp, harts, listener_frames, loss, mechanism_tables, proviso, served, srp, tdma,
    test_bed, virtual_link,
};

use crate::exit::Exit;
use crate::terminal::Terminal;
use crate::{diagnostics, nearest, output, watch};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a first description from a template
    #[command(after_help = new::HELP)]
    New(new::New),
    /// Find every fault in descriptions, with file, line and a remedy
    #[command(after_help = check::HELP)]
    Check(check::Check),
    /// Prove worst-case delay, jitter and backlog per stream and per hop
    #[command(after_help = bounds::HELP)]
    Bounds(bounds::Bounds),
    /// Run the network frame by frame: delays, loss, per-hop breakdown
    #[command(after_help = run::SIMULATE_HELP)]
    Simulate(run::Simulate),
    /// Run the network and compare the run with bounds and deadlines
    #[command(after_help = run::VERIFY_HELP)]
    Verify(run::Verify),
    /// Run the network in real time on interfaces of this machine, next to bounds and simulation
    #[cfg(target_os = "linux")]
    #[command(after_help = live::HELP)]
    Live(live::Live),
    /// Run one bridge of the description on interfaces of this machine
    #[cfg(target_os = "linux")]
    #[command(after_help = bridge::HELP)]
    Bridge(bridge::Bridge),
    /// Run a node on interfaces of this machine for a master
    #[cfg(target_os = "linux")]
    #[command(after_help = agent::HELP)]
    Agent(agent::Agent),
    /// Run the network by agents, next to bounds and simulation
    #[cfg(target_os = "linux")]
    #[command(after_help = master::HELP)]
    Master(master::Master),
    /// Find delays, losses and order of a real network in captures of it, next to bounds and simulation
    #[command(after_help = analyse::HELP)]
    Analyse(analyse::Analyse),
    /// Admit or refuse streams, request by request, with reasons
    #[command(after_help = admit::HELP)]
    Admit(admit::Admit),
    /// Find offsets and gates of scheduled traffic, and dispatch points of time-triggered virtual links
    #[command(after_help = schedule::HELP)]
    Schedule(schedule::Schedule),
    /// Plan the slots of a TDMA cycle for the least worst-case round trip
    #[command(after_help = plan::HELP)]
    Plan(plan::Plan),
    /// Find the parameters that prove all deadlines, and write them into the description
    #[command(after_help = tune::HELP)]
    Tune(tune::Tune),
    /// Write a run as one self-contained HTML file
    #[command(after_help = report::HELP)]
    Report(report::Report),
    /// Show what differs between two results or two descriptions
    #[command(after_help = diff::HELP)]
    Diff(diff::Diff),
    /// Show runs in the browser: their reports, two side by side, and those that go on
    #[command(after_help = serve::HELP)]
    Serve(serve::Serve),
    /// Write the network in the form of another tool
    #[command(after_help = export::HELP)]
    Export(export::Export),
    /// Write a description of what another tool knows of a network
    #[command(after_help = import::help())]
    Import(import::Import),
    /// Run many tasks over parameters and seeds, and go on where they were stopped
    #[command(after_help = study::HELP)]
    Study(study::Study),
    /// Print the JSON Schema of the description or of the summary
    #[command(after_help = schema::HELP)]
    Schema(schema::Schema),
    /// Print the completions for a shell
    #[command(after_help = completions::HELP)]
    Completions(completions::Completions),
    /// Write the manual pages
    #[command(after_help = man::HELP)]
    Man(man::ManualPages),
}

/// Runs a subcommand.
pub(crate) fn run(command: &Command) -> Exit {
    let ended = match command {
        Command::New(arguments) => new::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Bounds(arguments) => bounds::run(arguments),
        Command::Simulate(arguments) => run::simulate(arguments),
        Command::Verify(arguments) => run::verify(arguments),
        #[cfg(target_os = "linux")]
        Command::Live(arguments) => live::run(arguments),
        #[cfg(target_os = "linux")]
        Command::Bridge(arguments) => bridge::run(arguments),
        #[cfg(target_os = "linux")]
        Command::Agent(arguments) => agent::run(arguments),
        #[cfg(target_os = "linux")]
        Command::Master(arguments) => master::run(arguments),
        Command::Analyse(arguments) => analyse::run(arguments),
        Command::Admit(arguments) => admit::run(arguments),
        Command::Schedule(arguments) => schedule::run(arguments),
        Command::Plan(arguments) => plan::run(arguments),
        Command::Tune(arguments) => tune::run(arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::Diff(arguments) => diff::run(arguments),
        Command::Serve(arguments) => serve::run(arguments),
        Command::Export(arguments) => export::run(arguments),
        Command::Import(arguments) => import::run(arguments),
        Command::Study(arguments) => study::run(arguments),
        Command::Schema(arguments) => schema::run(arguments),
        Command::Completions(arguments) => completions::run(arguments),
        Command::Man(arguments) => man::run(arguments),
    };
    ended.unwrap_or_else(|exit| exit)
}

/// A remark that is no fault, which a quiet command does not make.
fn remark(text: &str) {
    if !output::is_quiet() {
        message(text);
    }
}

/// A remark on stderr with the command's name before it.
fn message(text: &str) {
    output::note(&format!("tautwire: {text}\n"));
}

/// Reads a description, `-` from stdin; a file that cannot be read is wrong input.
fn load(path: &Path) -> Result<Loaded, Exit> {
    if is_stdin(path) {
        return Ok(tautwire_workbench::load_text("stdin", &text(path)?));
    }
    tautwire_workbench::load(path).map_err(|error| not_read(path, &error))
}

/// The text of a description alone, without that of files that it names.
fn text(path: &Path) -> Result<String, Exit> {
    // Stdin can be read once, and is asked for by what loads it and by what changes its text.
    static STDIN: OnceLock<io::Result<String>> = OnceLock::new();
    if is_stdin(path) {
        let read = STDIN.get_or_init(|| io::read_to_string(io::stdin()));
        return read.as_ref().cloned().map_err(|error| not_read(path, error));
    }
    let octets = std::fs::read(path).map_err(|error| not_read(path, &error))?;
    String::from_utf8(octets).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|octet| **octet == b'\n').count() + 1;
        message(&format!("{}: it is not UTF-8 from line {line} on: save it as UTF-8", path.display()));
        Exit::WrongInput
    })
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The descriptions, and the files that they name, as far as they can be read.
fn files(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut files = paths.to_vec();
    for path in paths {
        let named = tautwire_workbench::load(path).map_or_else(|_| Vec::new(), |loaded| loaded.files);
        files.extend(named);
    }
    files
}

/// Runs a command once, or again and again if it is to watch its descriptions.
fn once_or_watched(
    watch: bool,
    paths: &[PathBuf],
    command: impl FnMut() -> Result<Exit, Exit>,
) -> Result<Exit, Exit> {
    let mut command = command;
    if !watch {
        return command();
    }
    if paths.iter().any(|path| is_stdin(path)) {
        message("--watch needs a file: stdin does not change");
        return Err(Exit::WrongInput);
    }
    watch::watched(|| files(paths), command)
}

fn not_read(path: &Path, error: &io::Error) -> Exit {
    message(&format!("cannot read {}: {error}", path.display()));
    Exit::WrongInput
}

/// Shows all faults; of a quiet command only those of descriptions with errors.
fn show(loaded: &Loaded) {
    if loaded.has_errors() || !output::is_quiet() {
        output::note(&diagnostics::drawn(loaded, Terminal::of_stderr()));
    }
}

/// The scenario of a description, its warnings shown; if it has errors, all faults shown.
fn scenario(path: &Path) -> Result<Scenario, Exit> {
    let loaded = load(path)?;
    let path = if is_stdin(path) { Path::new("stdin") } else { path };
    show(&loaded);
    Scenario::new(path, loaded).map_err(|loaded| {
        message(&format!("{}: {}", path.display(), diagnostics::counted(&loaded.diagnostics)));
        Exit::WrongInput
    })
}

/// The stream of a name; if there is none, the error names similar ones.
fn stream(network: &Network, name: &str) -> Result<StreamIndex, Exit> {
    let found = network.streams.iter().position(|stream| stream.name == name);
    found.map(StreamIndex::at).ok_or_else(|| {
        let names = network.streams.iter().map(|stream| stream.name.as_str());
        message(&format!("no stream `{name}`; nearest: {}", nearest::names(name, names, 5).join(", ")));
        Exit::WrongInput
    })
}

/// The tables that are a command's result, and a summary line.
fn tables(summary: &Summary) -> String {
    tables_with(summary, "")
}

/// The same, with a remark before that line.
fn tables_with(summary: &Summary, remark: &str) -> String {
    let options = TableOptions { width: Terminal::of_stdout().columns, ..TableOptions::default() };
    let mut text = format!("{}\n", table::streams(summary, options));
    let parts = [
        table::not_proven(summary),
        loss::table(summary),
        proviso::table(summary),
        served::table(summary),
        listener_frames::table(summary, options),
        table::late(summary, options),
        table::applications(summary, options),
        table::stamps(summary, options),
        table::discards(summary),
        virtual_link::table(summary, options),
        srp::reservation::table(summary),
        srp::vlan_registration::table(summary, options),
        gptp::table(summary),
        harts::table(summary),
        datagrams::table(summary),
        tdma::slots::table(summary),
        tdma::takeover::table(summary),
        tdma::start_up::table(summary),
        as6802::table(summary),
        test_bed::table(summary),
        mechanism_tables::tables(summary, options),
    ];
    for part in parts {
        if !part.is_empty() {
            text.push_str(&part);
            text.push('\n');
        }
    }
    text.push_str(remark);
    text.push_str(&table::outcome(summary));
    text.push('\n');
    text
}

/// How a command with this worst verdict ends.
fn exit(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::NoRequirement | Verdict::Proven => Exit::Holds,
        Verdict::NotProven | Verdict::MayBeLost | Verdict::Missed | Verdict::Refused => Exit::DeadlineMissed,
        Verdict::Contradiction => Exit::BoundExceeded,
    }
}
