//! Arguments of the command and of every subcommand, with examples and exit codes in their help.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use tautwire_workbench::{ADVERSARY_RUNS, Accuracy, Duration};

/// Workbench for deterministic Ethernet: proves bounds and simulates frame by frame from one
/// description, and compares the two.
#[derive(Debug, Parser)]
#[command(name = "tautwire", bin_name = "tautwire", version, arg_required_else_help = true)]
#[command(subcommand_required = true, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print nothing but faults; the exit code gives the result
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  every requirement is met
  1  a deadline is missed or not proven, frames may be lost, or a request is refused;
     of `diff`: something differs
  2  wrong input or usage
  3  failure: a file cannot be written, or a fault of the program
  4  an observation exceeds a bound: a fault of the program

Results go to stdout, everything else to stderr. Colours and the progress bar appear only on a
terminal; NO_COLOR=1 turns colours off.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a first description from a template
    #[command(after_help = NEW_HELP)]
    New(New),
    /// Find every fault in descriptions, with file, line and a remedy
    #[command(after_help = CHECK_HELP)]
    Check(Check),
    /// Prove worst-case delay, jitter and backlog per stream and per hop
    #[command(after_help = BOUNDS_HELP)]
    Bounds(Bounds),
    /// Run the network frame by frame: delays, loss, per-hop breakdown
    #[command(after_help = SIMULATE_HELP)]
    Simulate(Simulate),
    /// Run the network and compare the run with bounds and deadlines
    #[command(after_help = VERIFY_HELP)]
    Verify(Verify),
    /// Run the network in real time on interfaces of this machine, next to bounds and simulation
    #[cfg(target_os = "linux")]
    #[command(after_help = LIVE_HELP)]
    Live(Live),
    /// Find delays, losses and order of a real network in captures of it, next to bounds and simulation
    #[command(after_help = ANALYSE_HELP)]
    Analyse(Analyse),
    /// Admit or refuse streams, request by request, with reasons
    #[command(after_help = ADMIT_HELP)]
    Admit(Admit),
    /// Find offsets and gates of scheduled traffic, and dispatch points of time-triggered virtual links
    #[command(after_help = SCHEDULE_HELP)]
    Schedule(Schedule),
    /// Plan the slots of a TDMA cycle for the least worst-case round trip
    #[command(after_help = PLAN_HELP)]
    Plan(Plan),
    /// Find the parameters that prove all deadlines, and write them into the description
    #[command(after_help = TUNE_HELP)]
    Tune(Tune),
    /// Write a run as one self-contained HTML file
    #[command(after_help = REPORT_HELP)]
    Report(Report),
    /// Show what differs between two results or two descriptions
    #[command(after_help = DIFF_HELP)]
    Diff(Diff),
    /// Run many tasks over parameters and seeds, and go on where they were stopped
    #[command(after_help = STUDY_HELP)]
    Study(Study),
    /// Print the JSON Schema of the description or of the summary
    #[command(after_help = SCHEMA_HELP)]
    Schema(Schema),
    /// Print the completions for a shell
    #[command(after_help = COMPLETIONS_HELP)]
    Completions(Completions),
}

const NEW_HELP: &str = "\
Examples:
  tautwire new
  tautwire new factory-cell cell.yaml && tautwire verify cell.yaml
  tautwire new audio --name studio | tautwire bounds -

Without a template the templates are listed. A file that is there is never overwritten.

Exit codes: 0 written, 2 no such template, or the file is there, 3 failure.";

#[derive(Debug, Args)]
pub(crate) struct New {
    /// Template
    #[arg(value_enum)]
    pub(crate) template: Option<Template>,
    /// File to write [default: stdout]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Name of the network [default: the file's, or the template's]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// What a first description is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Template {
    /// A car: two zones, a computer, a camera, control loops, audio
    AutomotiveZone,
    /// A factory: a controller, drives and sensors in a line of switches, a camera
    FactoryCell,
    /// An aircraft: virtual links with their gaps over two switches
    Avionics,
    /// A stage: audio and video under credit-based shapers
    Audio,
}

const CHECK_HELP: &str = "\
Examples:
  tautwire check scenarios/in-vehicle.yaml
  tautwire check scenarios/in-vehicle.yaml --json | jq '.diagnostics[].message'
  tautwire check scenarios/avb.yaml --profile 802.1BA
  tautwire check --quiet scenarios/*.yaml || echo 'some have errors'
  tautwire new audio | tautwire check -

A breach of a profile's rule is an error, with the rule and its source. The table lists all rules:
kept, broken, not applicable, and unknown where no public text states them.

Exit codes: 0 no errors (warnings are shown), 2 errors or an unreadable file, 3 failure.";

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Descriptions of networks (YAML); `-` is stdin
    #[arg(value_name = "NETWORK", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Print the result as JSON, for several files as a list
    #[arg(long)]
    pub(crate) json: bool,
    /// Also check the rules of this TSN profile, as far as public texts state them
    #[arg(long, value_name = "PROFILE", value_parser = PROFILE_NAMES, ignore_case = true)]
    pub(crate) profile: Option<String>,
}

const PROFILE_NAMES: [&str; 4] = ["802.1BA", "802.1DG", "60802", "802.1DP"];

/// What every subcommand on a network takes.
#[derive(Debug, Args)]
pub(crate) struct Input {
    /// Description of the network (YAML); `-` is stdin
    #[arg(value_name = "NETWORK")]
    pub(crate) path: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const BOUNDS_HELP: &str = "\
Examples:
  tautwire bounds scenarios/in-vehicle.yaml
  tautwire bounds scenarios/in-vehicle.yaml --explain view-front
  tautwire bounds scenarios/in-vehicle.yaml --json > bounds.json
  tautwire bounds scenarios/in-vehicle.yaml --out runs/bounds
  tautwire bounds scenarios/in-vehicle.yaml --method tight

Exit codes: 0 every deadline is proven, 1 at least one is not, or frames may be lost, 2 wrong input,
3 failure.";

#[derive(Debug, Args)]
pub(crate) struct Bounds {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) by: By,
    /// Show hop by hop how the bound of this stream is computed
    #[arg(long, value_name = "STREAM")]
    pub(crate) explain: Option<String>,
    /// Also write the results to this folder, for `report` and for other programs
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
}

/// How bounds are found.
#[derive(Debug, Args)]
pub(crate) struct By {
    /// How bounds are found; the tightest of all methods holds
    #[arg(long, value_enum, default_value_t = BoundsMethod::Fast)]
    pub(crate) method: BoundsMethod,
}

/// Methods of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BoundsMethod {
    /// Port by port: arrival curves, and frame by frame
    Fast,
    /// In addition linear programs of paths, in which a burst counts once; takes longer
    Tight,
}

impl From<BoundsMethod> for Accuracy {
    fn from(method: BoundsMethod) -> Self {
        match method {
            BoundsMethod::Fast => Self::Frames,
            BoundsMethod::Tight => Self::Paths,
        }
    }
}

/// How a run is made and where its results go.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Seed of the random numbers, instead of the description's
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
    /// Simulated time, with its unit (250ms, 10s), instead of the description's
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) duration: Option<Duration>,
    /// Also write every frame at every hop; may be repeated
    #[arg(long, value_name = "FORMAT")]
    pub(crate) trace: Vec<Trace>,
    /// Folder for the results [default: runs/<scenario>-<seed>]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
}

/// Format of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Trace {
    /// frames.parquet, a row per frame and hop
    Parquet,
    /// frames.pcapng, nanosecond time stamps, for Wireshark
    Pcapng,
}

const SIMULATE_HELP: &str = "\
Examples:
  tautwire simulate scenarios/in-vehicle.yaml
  tautwire simulate scenarios/in-vehicle.yaml --seed 7 --duration 10s --out runs/seven
  tautwire simulate scenarios/in-vehicle.yaml --explain view-front
  tautwire simulate scenarios/in-vehicle.yaml --trace pcapng
  tautwire simulate scenarios/in-vehicle.yaml --choices runs/in-vehicle-1/adversary.json

Exit codes: 0 every stream with a deadline met it, 1 at least one did not, 2 wrong input, 3 failure.";

#[derive(Debug, Args)]
pub(crate) struct Simulate {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) run: Run,
    /// Show what the frame of this stream with the greatest delay waited for at each hop
    #[arg(long, value_name = "STREAM")]
    pub(crate) explain: Option<String>,
    /// Repeat a run of the adversary, from the adversary.json of its results
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seed", "duration"])]
    pub(crate) choices: Option<PathBuf>,
    /// Repeat the run in which this stream is latest [default: the first run of the file]
    #[arg(long, value_name = "STREAM", requires = "choices")]
    pub(crate) choices_of: Option<String>,
}

const VERIFY_HELP: &str = "\
Examples:
  tautwire verify scenarios/in-vehicle.yaml
  tautwire verify scenarios/in-vehicle.yaml --seed 7 --json > summary.json
  tautwire verify scenarios/in-vehicle.yaml --out runs/demo && tautwire report runs/demo
  tautwire verify scenarios/in-vehicle.yaml --adversary

Verdicts of each stream at each listener:
  proven         the bound is within the deadline, and no frame can be lost
  not proven     the bound is above the deadline, or there is none
  may be lost    a limit on the path may be too small
  missed         a frame was late or lost
  refused        the network refused the stream, or it was never sent
  contradiction  an observation exceeds its bound

Exit codes: 0 every deadline is proven, 1 at least one is not, or a stream is refused,
2 wrong input, 3 failure, 4 a contradiction.";

#[derive(Debug, Args)]
pub(crate) struct Verify {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) run: Run,
    #[command(flatten)]
    pub(crate) by: By,
    /// Search for the worst run of each stream among those that the description allows
    #[arg(long)]
    pub(crate) adversary: bool,
    /// Most runs of that search for each stream and listener
    #[arg(long, value_name = "NUMBER", default_value_t = ADVERSARY_RUNS, requires = "adversary")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) adversary_runs: u64,
}

#[cfg(target_os = "linux")]
const LIVE_HELP: &str = "\
Examples:
  tautwire live scenarios/shaped-line.yaml
  tautwire live scenarios/shaped-line.yaml --duration 2s --out runs/live

Each node gets a network namespace, each cable a pair of virtual interfaces; all of it goes with the
process. That takes root (or unshare --map-root-user --net). Delays contain what the machine adds,
which is shown below the table: no verdict rests on them.

Exit codes: 0 every frame arrived once and in order, 1 at least one did not, 2 wrong input, or a part
of the description that is not run live, 3 failure.";

/// A run in real time.
#[cfg(target_os = "linux")]
#[derive(Debug, Args)]
pub(crate) struct Live {
    #[command(flatten)]
    pub(crate) input: Input,
    /// Seed of the random numbers, instead of the description's
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
    /// Time of the run, with its unit (250ms, 10s), instead of the description's
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) duration: Option<Duration>,
    /// Threads that run the nodes [default: one for each processor]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) threads: Option<usize>,
    /// Do not ask for real-time priority
    #[arg(long)]
    pub(crate) ordinary_priority: bool,
    /// Also write the frames that every port received (frames.pcapng), for Wireshark and `analyse`
    #[arg(long)]
    pub(crate) capture: bool,
    /// Folder for the results [default: runs/<scenario>-<seed>]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
}

const ANALYSE_HELP: &str = "\
Examples:
  tautwire analyse all.pcapng --against scenarios/shaped-line.yaml
  tautwire analyse --at a.p1=talker.pcapng --at x.p1=listener.pcapng --one-clock --against net.yaml
  tautwire analyse a.p1.pcap x.p1.pcap --clock a.p1.pcap=0ns --clock x.p1.pcap=-12us,500ns --against net.yaml
  tautwire analyse --at s1.p2=tap.pcapng:eth1 --at s2.p1=tap.pcapng:eth2 --against net.yaml

A capture (pcap, pcapng) is of a talker, a listener, a mirror port or a tap. An interface, or a file
with one, that is named like a port of the network needs no --at. Interfaces of one file have one
clock; stamps of two files are compared only if their clocks are stated.

Delays count from the first bit that was captured, so what the talker's host took before is no part
of them.

Exit codes: 0 every frame came once, in order, in time and within its bound, 1 at least one did not,
2 wrong input, 3 failure.";

/// Captures of a real network.
#[derive(Debug, Args)]
pub(crate) struct Analyse {
    /// Captures (pcap, pcapng)
    #[arg(value_name = "CAPTURE")]
    pub(crate) captures: Vec<PathBuf>,
    /// Description of the network (YAML)
    #[arg(long, value_name = "NETWORK")]
    pub(crate) against: PathBuf,
    /// Where a file, or an interface of it, captured: NODE.PORT=FILE[:INTERFACE]; may be repeated
    #[arg(long, value_name = "PLACE=FILE")]
    pub(crate) at: Vec<String>,
    /// By how much the clock of a file is ahead of the common one, with its unit, and how sure this is: FILE=OFFSET[,PRECISION]; may
    /// be repeated
    #[arg(long, value_name = "FILE=OFFSET")]
    pub(crate) clock: Vec<String>,
    /// All files have one clock
    #[arg(long)]
    pub(crate) one_clock: bool,
    /// What a stamp is of
    #[arg(long, value_enum, default_value_t = StampsOf::Side)]
    pub(crate) stamps: StampsOf,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Folder for the results [default: runs/<scenario>-<seed>]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
}

/// The moment of a frame that a stamp is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StampsOf {
    /// The first bit where a port sends, the last bit where it receives, as interfaces of hosts stamp
    Side,
    /// The first bit everywhere
    FirstBit,
    /// The last bit everywhere
    LastBit,
}

const ADMIT_HELP: &str = "\
Examples:
  tautwire admit scenarios/in-vehicle.yaml --all
  echo '{\"op\": \"reserve\", \"streams\": [\"view-front\"]}' | tautwire admit scenarios/in-vehicle.yaml
  tautwire admit scenarios/in-vehicle.yaml --state reservations --json < requests.jsonl
  tautwire admit scenarios/in-vehicle.yaml --state reservations --listen admission.socket

Each line is a request: {\"op\": OP, \"streams\": [NAME, ...]}. OP is reserve, what-if, withdraw,
replace (with \"instead_of\": [NAME, ...]), modify or list. By default all streams of a request are
admitted or none; \"mode\": \"best-effort\" admits each one that fits. A repeated request with the
same \"id\" gets the first answer again. With \"suggest\": true a refusal says what would have fitted.

A request can name streams of the description or bring new ones:
{\"op\": \"reserve\", \"new\": [{\"name\": \"x\", \"talker\": ..., and the other keys of a stream}]}.
modify replaces admitted streams by those in \"new\", or changes nothing.

Exit codes: 0 all requests were granted, 1 one was refused, 2 wrong input or a wrong request,
3 failure.";

#[derive(Debug, Args)]
pub(crate) struct Admit {
    #[command(flatten)]
    pub(crate) input: Input,
    /// Admission test
    #[arg(long, value_enum, default_value_t = Test::Bounds)]
    pub(crate) test: Test,
    /// Keep the admitted streams in this folder, and continue from it
    #[arg(long, value_name = "FOLDER")]
    pub(crate) state: Option<PathBuf>,
    /// Accept a log with missing or changed lines as it is; a copy is kept
    #[arg(long, requires = "state")]
    pub(crate) accept_log: bool,
    /// Read the requests from this file [default: stdin]
    #[arg(long, value_name = "FILE")]
    pub(crate) requests: Option<PathBuf>,
    /// Serve clients on this Unix socket until stopped; decisions are JSON
    #[arg(long, value_name = "SOCKET", conflicts_with = "requests")]
    pub(crate) listen: Option<PathBuf>,
    /// Most clients at a time; further ones get an error and are disconnected
    #[arg(long, value_name = "NUMBER", default_value_t = 64, requires = "listen")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) connections: u32,
    /// Longest time that a client may take to send a request or to read its answer
    #[arg(long, value_name = "TIME", default_value = "300s", requires = "listen", value_parser = positive)]
    pub(crate) idle_timeout: Duration,
    /// Request all streams of the description in order, and admit each one that fits
    #[arg(long, conflicts_with_all = ["requests", "listen"])]
    pub(crate) all: bool,
}

/// An admission test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Test {
    /// Proven end-to-end bounds by arrival curves: every deadline is met and no frame is lost; `tautwire bounds` also counts
    /// frame by frame and may prove more
    Bounds,
    /// Bandwidth per port and class (IEEE Std 802.1Q, 34.3); proves no deadline
    Bandwidth,
    /// Response times of HaRTES (equation 3 of its published evaluation); needs `harts`
    ResponseTime,
}

impl From<Test> for tautwire_workbench::admission::Test {
    fn from(test: Test) -> Self {
        match test {
            Test::Bounds => Self::Bounds,
            Test::Bandwidth => Self::Bandwidth,
            Test::ResponseTime => Self::ResponseTime,
        }
    }
}

const SCHEDULE_HELP: &str = "\
Examples:
  tautwire schedule scenarios/to-be-scheduled.yaml
  tautwire schedule scenarios/to-be-scheduled.yaml --json | jq '.links[].points[0].offset_ps'
  tautwire schedule scenarios/to-be-scheduled.yaml --out scheduled.yaml

Time-triggered virtual links get dispatch points. Time-aware streams get offsets, and the ports on
their paths lists of gates; the bounds of the network with them are shown.

Offsets in the description are ignored. Large sets are scheduled link by link. For small sets a
complete search finds a schedule or proves that there is none. A checker with separate code verifies
the margins of every schedule.

Exit codes: 0 all are scheduled, and gates proven, 1 some are not, 2 wrong input, 3 failure.";

#[derive(Debug, Args)]
pub(crate) struct Schedule {
    #[command(flatten)]
    pub(crate) input: Input,
    /// Write the description with the found offsets, and gates, to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Keep offsets that time-aware streams state, and their windows
    #[arg(long)]
    pub(crate) keep: bool,
    /// Greatest difference of two clocks for which windows of gates leave time, with its unit
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) precision: Option<Duration>,
}

const PLAN_HELP: &str = "\
Examples:
  tautwire plan scenarios/tdma.yaml
  tautwire plan scenarios/tdma.yaml --shortest
  tautwire plan scenarios/tdma.yaml --cycle 2ms --json

The result belongs under `tdma:` of the description. Its comments give the proven round trips and,
for each pair and round, when the response is ready at the latest and when its slot begins.

Exit codes: 0 every round trip is proven, 1 at least one is not, 2 wrong input or no room in the
cycle, 3 failure.";

#[derive(Debug, Args)]
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) input: Input,
    /// Length of the cycle, with its unit [default: the description's]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) cycle: Option<Duration>,
    /// Plan the shortest cycle that has room for one round
    #[arg(long, conflicts_with = "cycle")]
    pub(crate) shortest: bool,
}

const TUNE_HELP: &str = "\
Examples:
  tautwire tune slow.yaml --out tuned.yaml
  tautwire tune slow.yaml --only idle-slope,queue-limit > tuned.yaml
  tautwire tune scenarios/in-vehicle.yaml --least --only idle-slope --out least.yaml

Changes as few values as it can, each by as little as proves all deadlines. Comments and layout of
the description stay. Streams without a deadline keep their bounds. What is written is loaded again
and must have the bounds that are told. If nothing is found, nothing is written, and a smallest set
of streams is named that the search cannot prove together.

Exit codes: 0 every deadline is proven, 1 no such values are found, 2 wrong input, 3 failure.";

#[derive(Debug, Args)]
pub(crate) struct Tune {
    #[command(flatten)]
    pub(crate) input: Input,
    /// Change values of these kinds alone, separated by commas
    #[arg(long, value_name = "KINDS", value_enum, value_delimiter = ',')]
    pub(crate) only: Vec<TuneKind>,
    /// Also lower every stated rate, burst and limit to the least that proves all deadlines
    #[arg(long)]
    pub(crate) least: bool,
    /// Most runs of bounds, or the longest time, with its unit [default: 5000 runs]
    #[arg(long, value_name = "RUNS|TIME", value_parser = budget)]
    pub(crate) budget: Option<Budget>,
    /// Write the description to this file, and what has changed to stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// Kinds of values that can be tuned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TuneKind {
    /// Idle slopes of credit-based classes
    IdleSlope,
    /// Committed information rates and burst sizes of ATS schedulers
    #[value(alias = "shaper")]
    Ats,
    /// Limits of queues, frames and octets
    QueueLimit,
    /// Priorities of streams
    Priority,
}

/// How long a search may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Budget {
    /// Runs of bounds.
    Runs(u64),
    /// Time.
    Time(Duration),
}

const REPORT_HELP: &str = "\
Examples:
  tautwire report runs/in-vehicle-1
  tautwire report runs/in-vehicle-1 --out in-vehicle.html

Exit codes: 0 written, 2 no run folder, 3 failure.";

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Folder of a run
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// File to write [default: report.html in the run's folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print the path of the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const DIFF_HELP: &str = "\
Examples:
  tautwire diff runs/before runs/after
  tautwire diff first.yaml second.yaml
  tautwire diff runs/first-1 first.yaml --json | jq '.listeners[].change'

Compared are the values of the descriptions, and for each stream at each listener verdict, deadline,
bound, delays and losses. The most important rows come first: worse verdicts, then what is there on
one side alone, better verdicts, losses, bounds, delays. Two descriptions are verified as `verify`
does. A description next to a folder is computed with the parts, the seed and the time of that run.

Exit codes: 0 nothing differs, 1 something differs, 2 wrong input, 3 failure.";

#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// Folder of a run, or a description
    #[arg(value_name = "BEFORE")]
    pub(crate) before: PathBuf,
    /// Folder of a run, or a description
    #[arg(value_name = "AFTER")]
    pub(crate) after: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const STUDY_HELP: &str = "\
Examples:
  tautwire study load.yaml
  tautwire study load.yaml --executor dask --cluster tcp://head:8786
  tautwire study load.results
  tautwire study load.results --repeat 17

A study file names a description, the values of it that are varied, and the seeds. Rows are written
to Parquet files piece by piece. The same command goes on where it was stopped, and counts no task
twice. Options: `--out FOLDER`, `--executor serial|processes|dask|ray`, `--workers N`, `--cluster
ADDRESS`, `--share I/N`, `--anew`, `--repeat TASK`, `--quiet`, `--json`. It needs the Python package.

Exit codes: 0 all tasks are done, 1 some failed, 2 wrong input, 3 failure.";

/// What the Python package reads.
#[derive(Debug, Args)]
pub(crate) struct Study {
    /// Study file (YAML) or folder of a study, and options
    #[arg(value_name = "STUDY", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<String>,
}

const SCHEMA_HELP: &str = "\
Examples:
  tautwire schema > tautwire.schema.json
  tautwire schema summary

Exit codes: 0 printed, 2 wrong usage, 3 failure.";

#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// What the schema describes
    #[arg(value_enum, default_value_t = SchemaOf::Description)]
    pub(crate) of: SchemaOf,
}

/// What a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaOf {
    /// The description of a network
    Description,
    /// The file summary.json of a run
    Summary,
}

const COMPLETIONS_HELP: &str = "\
Examples:
  tautwire completions bash > ~/.local/share/bash-completion/completions/tautwire
  tautwire completions zsh > ~/.zfunc/_tautwire
  tautwire completions fish > ~/.config/fish/completions/tautwire.fish

Exit codes: 0 printed, 2 wrong usage, 3 failure.";

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: Shell,
}

/// A duration with its unit.
fn duration(text: &str) -> Result<Duration, String> {
    text.parse().map_err(|error: tautwire_workbench::ParseUnitError| error.to_string())
}

/// A number of runs, or a duration with its unit.
fn budget(text: &str) -> Result<Budget, String> {
    text.parse().map(Budget::Runs).or_else(|_| positive(text).map(Budget::Time))
}

/// A duration that is not zero.
fn positive(text: &str) -> Result<Duration, String> {
    duration(text).and_then(|span| {
        if span.is_zero() { Err("the time must be above zero".to_owned()) } else { Ok(span) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_subcommand_has_examples_and_exit_codes() {
        for command in Arguments::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Examples:") && help.contains("Exit codes:"), "{}", command.get_name());
            assert!(help.contains(&format!("tautwire {}", command.get_name())), "{}", command.get_name());
        }
    }

    #[test]
    fn every_profile_has_a_name_here() {
        assert_eq!(tautwire_workbench::PROFILES.map(|profile| profile.name), PROFILE_NAMES);
    }

    #[test]
    fn a_duration_needs_its_unit() {
        assert_eq!(duration("250ms"), Ok(Duration::from_ms(250)));
        assert!(duration("250").unwrap_err().contains("unit"));
        assert_eq!(budget("250"), Ok(Budget::Runs(250)));
        assert_eq!(budget("10s"), Ok(Budget::Time(Duration::from_s(10))));
    }
}
